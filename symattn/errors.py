"""Errors, which symattn raises when it can't go on.

Bad input is one exception that lists every fault with its place; a wrong
published figure is not an error but a :class:`~symattn.verdicts.Verdict`.
"""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Self, TypeVar

from symattn.escaping import visible, without_secrets
from symattn.limits import FAULTS_KEPT, FAULTS_PRINTED

T = TypeVar("T")

#: So many known names are compared with an unknown one, and so many are listed.
_LOOKED_AT, _LISTED = 200, 40
#: Longest place and longest message of a fault that are printed.
_PLACE, _MESSAGE = 200, 1000


def alike(name: object, known: Iterable[str]) -> str:
    """The known name that one which nothing has may have meant, as a question; or ''.

    >>> alike("sofmax", ["softmax", "exp"]), alike("Z", ["Q", "K"])
    ('did you mean softmax?', '')
    """
    lower = {candidate.lower(): candidate for candidate in islice(known, _LOOKED_AT)}
    close = get_close_matches(str(name)[:60].lower(), lower, n=1)
    return f"did you mean {lower[close[0]]}?" if close else ""


def expected(name: object, known: Iterable[str]) -> str:
    """Return what a name that nothing has may have meant: the closest that is known, or which are.

    >>> expected("sofmax", ["softmax", "exp"]), expected("Z", ["Q", "K"])
    ('did you mean softmax?', 'expected one of Q, K')
    """
    first = list(islice(known, _LOOKED_AT))
    listed = [*first[:_LISTED], "..."] if len(first) > _LISTED else first
    return alike(name, first) or f"expected one of {', '.join(listed)}"


def short(text: str, length: int = 60) -> str:
    """The beginning of a text that is too long to be printed.

    >>> short("softmax(Q @ K.T)", 10)
    'softmax...'
    """
    # Cut off, an address would not show any more what in it is secret.
    text = without_secrets(text)
    return text if len(text) <= length else f"{text[: length - 3]}..."


#: Where that is set, what nobody has foreseen comes out with its traceback.
_TRACEBACK = "SYMATTN_TRACEBACK"
_PACKAGE = Path(__file__).parent


def shows_tracebacks() -> bool:
    """Return whether who runs symattn asked for the tracebacks of its own faults: readers then
    let them pass, and commands print them."""
    return os.environ.get(_TRACEBACK, "0") not in ("", "0")


def lacks_memory(error: BaseException) -> bool:
    """Return whether an exception says, in its own way, that there was no memory.

    >>> lacks_memory(MemoryError()), lacks_memory(KeyError())
    (True, False)
    """
    match error:
        case MemoryError():
            return True
        case OSError():
            return error.errno == errno.ENOMEM
        case ImportError():
            # Libraries that get no memory can't be loaded, and say so in many ways.
            text = f"{error} {error.__cause__}"
            return "map segment" in text or "allocate memory" in text
        case SystemError():
            # Python itself may get no memory for a call, and then no exception either.
            return str(error).endswith(("without exception set", "without setting an exception"))
    return False


def unforeseen(error: BaseException) -> str:
    """Return what is told of an exception that nobody has foreseen: a fault of symattn's, and
    where.

    >>> try:
    ...     short("text", None)
    ... except TypeError as error:
    ...     print(unforeseen(error))  # doctest: +ELLIPSIS
    internal error: TypeError in errors.py, line ...
    """
    kind = type(error).__name__
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        place = Path(frame.filename)
        if place.is_relative_to(_PACKAGE):
            where = place.relative_to(_PACKAGE).as_posix()
            return f"internal error: {kind} in {where}, line {frame.lineno}"
    return f"internal error: {kind}"


def reported(why: str, trace: str) -> tuple[str, str]:
    """Return what is told of internal error that ends the work: the message, and the
    traceback where it was asked for.

    >>> reported("a fault", "")[0]
    'a fault; please report it, with the input and what SYMATTN_TRACEBACK=1 prints'
    """
    trace = "\n".join(map(_told, trace.split("\n"))) if shows_tracebacks() else ""
    return f"{why}; please report it, with the input and what {_TRACEBACK}=1 prints", trace


def _told(text: str) -> str:
    """A line of a message, harmless and without what is nobody's business."""
    return visible(without_secrets(text))


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
        message = short(self.message, _MESSAGE)
        return _told(f"{short(self.where, _PLACE)}: {message}" if self.where else message)

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
        return _told(f"{place}: {self}" if place else str(self))


class SymattnError(Exception):
    """Everything symattn raises on purpose."""

    def __str__(self) -> str:
        return _told(super().__str__())


class Faulty(SymattnError):
    """An error that tells every fault with its place; ``faults`` lists them: all,
    or the first, and ``more`` counts the rest.

    >>> print(Faulty([Fault("a", "missing"), Fault("b", "unknown", 3)], source="x.toml"))
    x.toml: 2 faults
      x.toml: a: missing
      x.toml:3: b: unknown
    """

    #: What many faults are called.
    called = "faults"

    def __init__(
        self, faults: str | Fault | Iterable[Fault], source: str = "", more: int = 0
    ) -> None:
        if isinstance(faults, str):
            faults = Fault("", faults)
        gathered = Faults([faults] if isinstance(faults, Fault) else faults)
        self.faults: tuple[Fault, ...] = tuple(gathered)
        self.more = gathered.more + more
        self.source = source
        super().__init__(self.faults, source, self.more)

    def __str__(self) -> str:
        count = len(self.faults) + self.more
        if count == 1:
            return self.faults[0].at(self.source)
        head = f"{_told(self.source)}: " if self.source else ""
        lines = [f"{head}{count} {self.called}"]
        lines += [f"  {fault.at(self.source)}" for fault in self.faults[: FAULTS_PRINTED.most]]
        if count > FAULTS_PRINTED.most:
            lines.append(f"  {FAULTS_PRINTED.said(count - FAULTS_PRINTED.most)}")
        return "\n".join(lines)


class Malformed(Faulty, ValueError):
    """The input can't be understood; ``faults`` lists what is wrong.

    It is a ``ValueError`` too, as Python users expect of bad values.

    >>> print(Malformed(Fault("b", "unknown", 3), source="x.toml"))
    x.toml:3: b: unknown
    >>> print(Malformed("not a number"))
    not a number
    """


class Undecided(Faulty):
    """The largest precision allowed does not settle a digit or a sign; ``faults`` lists
    what of an array is not settled, with the digits that are certain.

    Only values outside the field of quotients of exponential sums (``log``, ``erf``, pi,
    nested roots, an exponential of an exponential) and entries whose proof is too long
    can end here; see :mod:`symattn.numbers.values` and :mod:`symattn.numbers.zero_test`.

    >>> print(Undecided([Fault("dV[0, 0]", "may be 0"), Fault("dV[1, 0]", "may be 0")]))
    2 undecided
      dV[0, 0]: may be 0
      dV[1, 0]: may be 0
    """

    called = "undecided"


@contextmanager
def blamed_on(source: object) -> Iterator[None]:
    """A context whose faults are those of ``source``, unless they name another.

    >>> with blamed_on("post.toml"):
    ...     raise Malformed("not a number")
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: post.toml: not a number
    """
    try:
        yield
    except Faulty as error:
        raise Malformed(error.faults, error.source or str(source), error.more) from None


class Faults(list[Fault]):
    """Faults being gathered, so that all are told at once; where there are very
    many, the first are kept and ``more`` counts the rest.

    >>> faults = Faults()
    >>> with faults.inside("given.x"):
    ...     raise Malformed("not a number")
    >>> faults.raise_all("post.toml")
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: post.toml: given.x: not a number
    """

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        super().__init__()
        self.more = 0
        self.extend(faults)

    @classmethod
    def of(cls, items: Sequence[T], fault: Callable[[T], Fault]) -> Self:
        """A fault of each item; those that are only counted are not made."""
        faults = cls(map(fault, items[: FAULTS_KEPT.most]))
        faults.more = len(items) - len(faults)
        return faults

    def append(self, fault: Fault, /) -> None:
        """Gather one fault."""
        self.extend([fault])

    def extend(self, faults: Iterable[Fault], /) -> None:
        """Gather faults; of others that were gathered, also what those count."""
        rest = iter(faults)
        super().extend(islice(rest, FAULTS_KEPT.most - len(self)))
        self.more += sum(1 for _ in rest) + (faults.more if isinstance(faults, Faults) else 0)

    def __iadd__(self, faults: Iterable[Fault], /) -> Self:  # type: ignore[misc, override]
        self.extend(faults)
        return self

    @contextmanager
    def inside(self, prefix: str) -> Iterator[None]:
        """A context that gathers what is raised in it, seen from the outside of ``prefix``."""
        try:
            yield
        except SymattnError as error:
            faulty = error if isinstance(error, Faulty) else Malformed(str(error))
            self.extend(fault.inside(prefix) for fault in faulty.faults)
            self.more += faulty.more

    def raise_all(self, source: str = "") -> None:
        """Raise :class:`Malformed` with all that was gathered, if anything was."""
        if self:
            raise Malformed(self, source)


class UnknownName(Malformed, KeyError):
    """A name that nothing has: a quantity, a case, a derivation. A ``KeyError`` too.

    >>> print(UnknownName("unknown name 'B'"))
    unknown name 'B'
    """


class OutOfRange(Malformed, IndexError):
    """An index outside a quantity, or too many of them. An ``IndexError`` too."""


class NoClosedForm(SymattnError):
    """A number whose closed form is beyond what is worked out and shown; its
    digits are certain all the same. See :mod:`symattn.numbers.balls`."""


class Refuted(SymattnError):
    """A check refutes figures that were to be printed as checked."""


class Unsound(SymattnError):
    """The process computes with floats in a way for which no bound holds."""


class EngineFailure(SymattnError):
    """A TeX engine is missing, failed or ran out of time."""
