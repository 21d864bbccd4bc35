"""Programs of articles, run exactly: what they print, beside what the article says they print.

Nothing is executed by Python. Expressions and statements are walked
(:mod:`~symattn.documents.running.machine`) over whole numbers and balls
(:mod:`~symattn.documents.running.numbers`) by what the functions of NumPy, PyTorch and their kin
mean (:mod:`~symattn.documents.running.library`). What isn't known, and what is random, is a number
that nobody knows; it becomes known where it is printed, within its rounding. What is printed is
told from what stands behind the program, or in its comments, by its words and its lines
(:mod:`~symattn.documents.running.outputs`).
"""
