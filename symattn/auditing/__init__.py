"""The audit: what a document prints, held against what is true.

A document's :mod:`figures` and statements are judged by its :mod:`standard`, its
arithmetic is done again.

Why a figure is wrong is asked twice. The :mod:`standard` knows what every entry is
computed as, in scalar :mod:`terms`; with them a figure is recomputed from what
the document :mod:`prints`, which tells the :mod:`causes` of single figures: it
repeats a wrong one, or is propagated from it. The slips behind many figures at once are
looked for on one graph of operations, run in floats by a :mod:`model`:
:mod:`edits` are the usual mistakes, :mod:`sites` the steps they are made at,
gradients go with them. Figures are evidence in bits for an edit or against it; the
:mod:`search` weighs them against chance, what wins is confirmed exactly, and
:mod:`naming` says it in words. :mod:`prints` knows what a single figure may be a
miswriting of.

:mod:`audit` does it all, :mod:`reports` write it down.
"""
