"""Tables written as TOML: text and numbers as ``tomllib`` reads them back."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from unicodedata import category

from symattn.escaping import is_hidden


def written(data: Any) -> str:
    """A number, text, or nested lists of them, one row of a matrix on a line;
    what TOML has no number for as text.

    >>> from fractions import Fraction
    >>> written([1, Decimal("0.50"), Fraction(1, 3), Decimal("-Infinity")])
    '[1, 0.50, "1/3", "-inf"]'
    """
    if isinstance(data, str):
        return text(data)
    if isinstance(data, Decimal):
        return '"-inf"' if data.is_infinite() else str(data)
    if isinstance(data, int):
        return str(data)
    data = data.tolist() if hasattr(data, "tolist") else data
    if not isinstance(data, Sequence):
        return text(str(data))
    if any(isinstance(row, Sequence) and not isinstance(row, str) for row in data):
        return "\n".join(["[", *(f"    {written(row)}," for row in data), "]"])
    return f"[{', '.join(map(written, data))}]"


def text(content: str) -> str:
    r"""Text in quotes, what is hidden in it by its code.

    >>> print(text('a "b"\x1b'))
    "a \"b\"\U0000001b"
    """
    return f'"{"".join(map(_letter, content))}"'


def _letter(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if category(c) == "Cs":
        # Half of a pair, from the name of a file: no text that TOML could hold.
        return "\N{REPLACEMENT CHARACTER}"
    return rf"\U{ord(c):08x}" if is_hidden(c) else c
