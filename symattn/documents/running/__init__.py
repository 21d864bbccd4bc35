"""Programs of articles, run exactly: what they compute, print and say.

Nothing is executed by Python. A text is split into statements
(:mod:`~symattn.documents.running.source`); these are walked
(:mod:`~symattn.documents.running.machine`, :mod:`~symattn.documents.running.evaluation`) over
whole numbers and balls (:mod:`~symattn.documents.running.numbers`) by what the functions of NumPy,
PyTorch and their kin mean (:mod:`~symattn.documents.running.library`). Values know the expression
that they were computed by (:mod:`~symattn.documents.running.formulas`,
:mod:`~symattn.documents.running.meanings`), so that statements tell what names stand for
(:mod:`~symattn.documents.running.telling`). Something that isn't known, or is random, is a number
that nobody knows; it becomes known where it is printed, within its rounding.
"""
