"""The kernel, which decides if a line is proved: terms, rules with obligations, their replay.

Nothing here comes from the prover, from SymPy or from numbers in balls.
"""
