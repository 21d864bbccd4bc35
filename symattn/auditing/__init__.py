"""The audit: what a document prints, held against what is true.

:mod:`figures` reads printed numbers, :mod:`statements` decides statements,
:mod:`dependence` recomputes figures from a document's own printed inputs,
:mod:`slips` knows the usual mistakes, :mod:`judgement` puts it together and
:mod:`reports` writes it down.
"""
