"""The independent recomputation of a walkthrough, in floating point.

Nothing here knows of SymPy or of the programs of symattn: the steps' text is
read anew (:mod:`.reader`), laid out as a tape (:mod:`.tape`), and every entry
is computed by its index-style definition (:mod:`.definitions`), forwards,
backwards and by complex steps (:mod:`.passes`, :mod:`.recomputation`).
"""
