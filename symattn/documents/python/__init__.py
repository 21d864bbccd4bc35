"""Python in articles, read and never run: what its statements compute and print.

The text is split into statements (:mod:`~symattn.documents.python.source`), whose
expressions become trees of the grammar (:mod:`~symattn.documents.python.expressions`)
by what the functions of NumPy, PyTorch and their kin mean
(:mod:`~symattn.documents.python.library`); statements are followed one after the
other, into functions too (:mod:`~symattn.documents.python.following`). What they may
change without being followed there (:mod:`~symattn.documents.python.stores`) is told as
something that nobody knows.
"""
