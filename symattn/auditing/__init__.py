"""The audit: what a document prints, held against what is true.

A document's :mod:`figures` are judged by its :mod:`standard`, its
:mod:`statements` are decided. The :mod:`recipes` say what every entry is
computed as, in scalar :mod:`terms`; with them a figure is recomputed from what
the document :mod:`prints` before it, which tells the :mod:`causes` of wrong
figures. Those wrong in themselves are the :mod:`roots`: the usual :mod:`slips`
are tried on them. :mod:`audit` does it all, :mod:`reports` write it down.
"""
