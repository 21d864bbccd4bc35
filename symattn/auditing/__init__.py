"""The audit: what a document prints, held against what is true.

A document's :mod:`figures` and statements are judged by its :mod:`standard`, its
arithmetic is done again.

Why a figure is wrong is asked twice. The :mod:`standard` knows what every entry is computed
as, in scalar terms; with them a figure is recomputed from what the document prints,
which tells the causes of single figures: it repeats a wrong one, or is propagated from it.
The slips behind many figures at once are looked for on one graph of operations, run in
floats: :mod:`edits` are the slips of the catalogue (:mod:`symattn.slips`) at the steps where
they are made, gradients go with them. Figures are evidence in bits for an edit or against it;
the :mod:`search` weighs them against chance, confirms what wins exactly, and says it in words.
The catalogue also knows what a single figure may be a miswriting of.

:mod:`audit` does it all, :mod:`reports` write it down.
"""
