"""What decides whether a line is proved: terms, rules with obligations, and their replay.

Nothing here comes from the prover, from SymPy or from numbers in balls.
"""
