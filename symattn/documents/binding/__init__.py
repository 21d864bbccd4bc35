"""Articles bound to their recipes: what each printed number is the value of.

The order of reading, all of it steered by :mod:`binder`, once for each usual form of
attention that the article may leave out (``masks``, ``standard``); the best is kept.

1. ``outline``: what holds for all of them. ``joining``, ``context``: values go to the names
   before them, what is only supposed goes.
2. ``definitions``, ``numbered``: what names mean, by version; ``names`` looks them up.
3. ``discovery``, ``trials``, ``findings``: what blocks are of others by their figures alone.
4. ``construction``, ``upstream``: a ``recipe`` of inputs, steps and the gradient.
5. ``author``: the author's notes, which come before all that is read.
6. ``equalities``, ``tables``, ``prose``, passage by passage, propose candidates for a block:
   by name, by what words speak of (``roles``, ``subjects``) and by ``workings``.
7. ``ledger`` weighs them by ``evidence`` in bits and claims the best; ``coverage`` keeps book.
8. ``confidence``: of what disagrees, which is refuted, and which stays open.
"""
