"""Articles read as they are: what they compute, what they print, and where.

A file becomes an :class:`~symattn.documents.article.Article` of blocks, every
character with its place; blocks become passages, words and chains of
equalities (:mod:`~symattn.documents.passages`); these are bound to the names
of a recipe (:mod:`~symattn.documents.reading`), from which
:mod:`symattn.cases` makes an ordinary case.
"""
