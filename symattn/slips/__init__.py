"""Slips: what people get wrong in a step, as one catalogue.

The :mod:`catalogue` has a row for each kind: how it is said, how rare it is in bits, and
the rules by which it makes another step of a step, written in the language of steps. They
are applied to the steps of a program, or to its :mod:`graph`, in which equal parts meet.
"""
