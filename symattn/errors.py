"""What symattn says when it can't go on.

Bad input is one exception that lists every fault with its place; a wrong
published figure is not an error but a :class:`~symattn.verdicts.Verdict`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


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
    where the input has no parts; ``line`` the line of a file, 0 where there is none.

    >>> print(Fault("given.X[1]", "expected 3 numbers, found 2"))
    given.X[1]: expected 3 numbers, found 2
    """

    where: str
    message: str
    line: int = 0

    def __str__(self) -> str:
        return visible(f"{self.where}: {self.message}" if self.where else self.message)

    def inside(self, prefix: str) -> Fault:
        """The same fault seen from the outside of ``prefix``.

        >>> print(Fault("[0]", "not a number").inside("upstream"))
        upstream[0]: not a number
        """
        joint = "." if self.where and not self.where.startswith("[") else ""
        return replace(self, where=f"{prefix}{joint}{self.where}")

    def at(self, source: str) -> str:
        """The fault as a line that editors and terminals can follow.

        >>> Fault("steps.S", "unknown name 'R'", 9).at("post.toml")
        "post.toml:9: steps.S: unknown name 'R'"
        """
        place = f"{source}:{self.line}" if source and self.line else source
        if self.line and not source:
            place = f"line {self.line}"
        return visible(f"{place}: {self}" if place else str(self))


class SymattnError(Exception):
    """Everything symattn raises on purpose."""


class Malformed(SymattnError, ValueError):
    """The input can't be understood; ``faults`` lists all that is wrong.

    It is a ``ValueError`` too, as Python users expect of bad values.

    >>> print(Malformed([Fault("a", "missing"), Fault("b", "unknown", 3)], source="x.toml"))
    x.toml: 2 faults
      a: missing
      line 3: b: unknown
    >>> print(Malformed(Fault("b", "unknown", 3), source="x.toml"))
    x.toml:3: b: unknown
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
        if len(self.faults) == 1:
            return self.faults[0].at(self.source)
        head = f"{visible(self.source)}: " if self.source else ""
        lines = [f"{head}{len(self.faults)} faults"]
        lines += [f"  {fault.at('')}" for fault in self.faults]
        return "\n".join(lines)


class Faults(list[Fault]):
    """Faults being gathered, so that all are told at once.

    >>> faults = Faults()
    >>> with faults.inside("given.x"):
    ...     raise Malformed("not a number")
    >>> faults.raise_all("post.toml")
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: post.toml: given.x: not a number
    """

    def inside(self, prefix: str) -> _Gathering:
        """A context that gathers what is raised in it, seen from the outside of ``prefix``."""
        return _Gathering(self, prefix)

    def raise_all(self, source: str = "") -> None:
        """Raise :class:`Malformed` with all that was gathered, if anything was."""
        if self:
            raise Malformed(self, source)


class _Gathering:
    """What :meth:`Faults.inside` gives."""

    def __init__(self, faults: Faults, prefix: str) -> None:
        self._faults = faults
        self._prefix = prefix

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, SymattnError):
            return False
        found = error.faults if isinstance(error, Malformed) else (Fault("", str(error)),)
        self._faults.extend(fault.inside(self._prefix) for fault in found)
        return True


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


class NoClosedForm(SymattnError):
    """A number whose closed form is beyond what is worked out and shown; its
    digits are certain all the same. See :mod:`symattn.numbers.budgets`."""


class Refuted(SymattnError):
    """A check refutes figures that were to be printed as checked."""


class EngineFailure(SymattnError):
    """A TeX engine is missing, failed or ran out of time."""
