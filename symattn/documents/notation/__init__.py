r"""Notation to trees: LaTeX and Unicode mathematics, every number at its place.

A text becomes tokens (:mod:`~symattn.documents.notation.tokens`), these trees of
the one grammar (:mod:`~symattn.documents.notation.grammar`), and trees chains of
equalities, in formulas (:func:`read_formula`) and among words (:func:`read_parts`).
What isn't understood is :class:`~symattn.documents.trees.Opaque`, never guessed, and
no number is lost.
"""

from __future__ import annotations

from symattn.documents.notation.chains import read_formula, read_parts
from symattn.documents.notation.vocabulary import plain_name

__all__ = ["plain_name", "read_formula", "read_parts"]
