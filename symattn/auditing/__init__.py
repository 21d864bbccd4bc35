"""The audit: what a document prints, held against what is true.

:mod:`figures` reads printed numbers, :mod:`statements` decides statements,
:mod:`dependence` recomputes figures from a document's own printed inputs,
:mod:`causes` tells why a figure is wrong, :mod:`slips` knows the usual
mistakes and :mod:`diagnosis` names them; :mod:`judgement` puts it together as
:mod:`findings`, and :mod:`reports` writes them down.
"""
