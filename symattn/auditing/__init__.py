"""The audit: what a document prints, held against what is true.

A document's :mod:`figures` are judged by its :mod:`standard`, its
:mod:`statements` are decided, its :mod:`arithmetic` is done again.

Why a figure is wrong is asked twice. The :mod:`recipes` say what every entry is
computed as, in scalar :mod:`terms`; with them a figure is recomputed from what
the document :mod:`prints`, which tells the :mod:`causes` of single figures: it
repeats a wrong one, or is propagated from it. The slips behind many figures at once are
looked for on one :mod:`graph` of operations, run in floats by a :mod:`model`:
:mod:`edits` are the usual mistakes, :mod:`sites` the steps they are made at,
:mod:`rederiving` takes the gradients with them. Figures are :mod:`weights` for
an edit or against it; the :mod:`search` weighs them against chance, what wins is
confirmed :mod:`exactly`, and :mod:`naming` says it in words (:mod:`pen`: what a
single figure may be a miswriting of).

:mod:`audit` does it all, :mod:`reports` write it down.
"""
