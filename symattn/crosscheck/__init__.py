"""The independent recomputation of a case, in floating point.

Nothing here knows of SymPy or of the programs of symattn: the steps' text is read anew
(:mod:`.reader`), laid out as a tape (:mod:`.tape`) by what its functions write there
(:mod:`.calls`), and every entry is computed by its index-style definition (:mod:`.definitions`,
:mod:`.evaluation`) in numbers of several kinds (:mod:`.scalars`), forwards, backwards and by
complex steps (:mod:`.passes`, :mod:`.recomputation`). What floats can't decide is worked out in
fractions (:mod:`.evaluation`), or left open with its reason (:mod:`.recomputation`).
"""
