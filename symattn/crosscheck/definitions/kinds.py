"""How a definition takes its operands: what the types of its parameters say.

The kinds of scalar (float, :class:`~symattn.crosscheck.scalars.Tracked`, complex
vector) share their operators, not a base class. An ``int`` is a size or an index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

#: A number: an operand's one entry, or a size that is computed with.
Scalar: TypeAlias = Any
#: The entries of an operand that is one row, or one column.
Row: TypeAlias = Sequence[Any]
Column: TypeAlias = Sequence[Any]
#: The rows of an operand.
Matrix: TypeAlias = Sequence[Sequence[Any]]
#: The rows of an operand that holds 0 and 1, as plain numbers.
Mask: TypeAlias = Sequence[Sequence[float]]
#: The entries of one row that holds whole numbers.
Whole: TypeAlias = Sequence[int]

#: For each operation the letter of its result in formulas, and the gradient by each
#: of its operands, which come first among its parameters; None: none flows.
Rules: TypeAlias = Mapping[str, tuple[str, tuple[str | None, ...]]]
