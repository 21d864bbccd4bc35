"""QTI: exercises as packages that learning platforms import.

The names of two versions of the standard (:mod:`vocabulary`), what answers are worth
(:mod:`processing`), and the packages (:mod:`package`); Canvas has its own dialect (:mod:`canvas`).
"""
