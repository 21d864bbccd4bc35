"""What symattn says when it can't go on.

Bad input is one exception that lists every fault with its place; a wrong
published figure is not an error but a :class:`~symattn.verdicts.Verdict`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


def visible(text: str) -> str:
    r"""Text as one line that can't steer a terminal: control characters by their codes.

    >>> print(visible("red \x1b[31m"))
    red \x1b[31m
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with an input, and where.

    ``where`` is a path inside the input (``given.X[1]``, ``steps.S``), empty
    where the input has no parts.

    >>> print(Fault("given.X[1]", "expected 3 numbers, found 2"))
    given.X[1]: expected 3 numbers, found 2
    """

    where: str
    message: str

    def __str__(self) -> str:
        return visible(f"{self.where}: {self.message}" if self.where else self.message)

    def inside(self, prefix: str) -> Fault:
        """The same fault seen from the outside of ``prefix``.

        >>> print(Fault("[0]", "not a number").inside("upstream"))
        upstream[0]: not a number
        """
        joint = "." if self.where and not self.where.startswith("[") else ""
        return Fault(f"{prefix}{joint}{self.where}", self.message)


class SymattnError(Exception):
    """Everything symattn raises on purpose."""


class Malformed(SymattnError, ValueError):
    """The input can't be understood; ``faults`` lists all that is wrong.

    It is a ``ValueError`` too, as Python users expect of bad values.

    >>> print(Malformed([Fault("a", "missing"), Fault("b", "unknown")], source="x.toml"))
    x.toml: 2 faults
      a: missing
      b: unknown
    >>> print(Malformed("not a number"))
    not a number
    """

    def __init__(self, faults: str | Fault | Iterable[Fault], source: str = "") -> None:
        if isinstance(faults, str):
            faults = Fault("", faults)
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        self.source = source
        super().__init__(self.faults, source)

    def __str__(self) -> str:
        head = f"{visible(self.source)}: " if self.source else ""
        if len(self.faults) == 1:
            return f"{head}{self.faults[0]}"
        lines = [f"{head}{len(self.faults)} faults"]
        lines += [f"  {fault}" for fault in self.faults]
        return "\n".join(lines)


class UnknownName(Malformed, KeyError):
    """A name that nothing has: a quantity, a case, a derivation. A ``KeyError`` too.

    >>> print(UnknownName("unknown name 'B'"))
    unknown name 'B'
    """


class OutOfRange(Malformed, IndexError):
    """An index outside a quantity, or too many of them. An ``IndexError`` too."""


class Undecided(SymattnError):
    """The largest precision allowed does not settle a digit or a sign.

    Only values outside the field of quotients of exponential sums (``log``,
    nested roots, an exponential of an exponential) can end here; see
    :mod:`symattn.numbers.values`.
    """


class Refuted(SymattnError):
    """A check refutes figures that were to be printed as checked."""


class EngineFailure(SymattnError):
    """A TeX engine is missing, failed or ran out of time."""
