"""QTI: exercises as packages that learning platforms import.

The names of two versions of the standard (:mod:`vocabulary`), arithmetic on answers
(:mod:`expressions`), what answers are worth (:mod:`processing`), a question (:mod:`item`),
and the packages (:mod:`package`); Canvas has its own dialect of an older version
(:mod:`canvas`).
"""
