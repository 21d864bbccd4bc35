"""Claims: what a document prints, read against the program that it is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from symattn import syntax
from symattn.cases.rows import read_each
from symattn.cases.statements import Comparison, lower_statement
from symattn.errors import Fault, Faults, Malformed, short
from symattn.limits import CLAIMS
from symattn.numbers.printed import Printed, read_printed
from symattn.programs.nodes import Node
from symattn.programs.program import Program
from symattn.shapes import Shape, show
from symattn.tables.entries import table, texts, unknown

#: Rows of printed figures; None is a masked score, printed as minus infinity.
Figures = tuple[tuple[Printed | None, ...], ...]

_CLAIM_KEYS = ("where", "of", "printed", "holds")
_UNCHECKED_KEYS = ("where", "what", "reason")


@dataclass(frozen=True, repr=False)
class Claim:
    """What a document says: figures of an expression, or a statement.

    ``text`` is the expression or the statement as written, ``tree`` its syntax
    tree and ``line`` where the claim begins in its file (0: in none). Figures
    have the program's ``node`` of the expression and ``printed``, the rows of
    its grid; a statement has no node, but ``comparisons`` that must all hold.
    """

    where: str
    text: str
    tree: syntax.Tree
    node: Node | None = None
    printed: Figures = ()
    comparisons: tuple[Comparison, ...] = ()
    line: int = 0

    @property
    def of(self) -> str:
        """The expression whose figures are printed; '' for a statement."""
        return "" if self.node is None else self.text

    @property
    def holds(self) -> str:
        """The statement; '' for figures."""
        return self.text if self.node is None else ""

    def __repr__(self) -> str:
        what = f"{show(self.node.shape)} printed" if self.node else "a statement"
        return f"<Claim {short(self.where)!r}: {short(self.text)!r}, {what}>"


@dataclass(frozen=True)
class Unchecked:
    """Something a document says that can't be put as a claim, and why."""

    where: str
    what: str
    reason: str


def read_claims(
    program: Program, entries: Sequence[object], passed_over: Collection[str] = ()
) -> tuple[Claim, ...]:
    """The claims of tables with ``of`` and ``printed``, or with ``holds``.

    ``where`` says where the document prints it: the claim's position if it is
    left out. Raises :class:`Malformed` with every fault of every claim, each at
    its position; claims that mention a name that is ``passed_over`` are not held
    against the program.

    >>> from symattn.programs.program import program
    >>> made = program({"X": (2, 2)}, {"A": "softmax(X)"})
    >>> read_claims(made, [{"where": "3.4", "of": "A[0]", "printed": ["0.50", "0.50"]}])
    (<Claim '3.4': 'A[0]', a vector of 2 printed>,)
    >>> read_claims(made, [{"holds": "A[0, 0] == B"}, {"of": "A[0]", "printed": [1, "x"]}])
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      [0].holds: unknown name 'B': expected one of X, A
      [1].printed[1]: expected a printed number, found 'x'
    """
    if len(entries) > CLAIMS.most:
        raise Malformed(CLAIMS.said(len(entries)))
    reader = _Reader(program, passed_over)
    faults = Faults()
    claims: list[Claim] = []
    for number, entry in enumerate(entries):
        with faults.inside(f"[{number}]"):
            claim = reader.read(entry, f"claims[{number}]")
            claims += [] if claim is None else [claim]
    faults.raise_all()
    return tuple(claims)


class _Reader:
    """Reads claims about one program; what is said twice is parsed and lowered once."""

    def __init__(self, program: Program, passed_over: Collection[str]) -> None:
        self.program = program
        self.passed_over = passed_over
        self._trees: dict[str, syntax.Tree] = {}
        self._nodes: dict[str, Node] = {}
        self._comparisons: dict[str, tuple[Comparison, ...]] = {}

    def read(self, entry: object, place: str) -> Claim | None:
        """The claim of a table; None where it is passed over."""
        entry = table(entry)
        faults = unknown(entry, _CLAIM_KEYS)
        faults += _form(entry)
        where, of, holds = (_text(entry, key) for key in ("where", "of", "holds"))
        claim: Claim | None = None
        figures: tuple[Shape, Figures] | None = None
        node: Node | None = None
        if holds:
            with faults.inside("holds"):
                claim = self._statement(where or place, holds)
        if "printed" in entry:
            with faults.inside("printed"):
                figures = read_each(entry["printed"], read_printed)
        if of:
            with faults.inside("of"):
                node = self._node(of)
        if figures and node:
            shape, printed = figures
            if shape != node.shape:
                faults.append(Fault("printed", f"{of} is {show(node.shape)}, found {show(shape)}"))
            claim = Claim(where or place, of, self._trees[of], node, printed)
        faults.raise_all()
        return claim

    def _statement(self, where: str, text: str) -> Claim | None:
        if not self._sound(text):
            return None
        if text not in self._comparisons:
            self._comparisons[text] = lower_statement(self.program, self._trees[text])
        return Claim(where, text, self._trees[text], comparisons=self._comparisons[text])

    def _sound(self, text: str) -> bool:
        """Whether all that the text names can be held against the program."""
        if text not in self._trees:
            self._trees[text] = syntax.parse(text)
        passed_over = self.passed_over
        return not (passed_over and any(n in passed_over for n in syntax.names(self._trees[text])))

    def _node(self, text: str) -> Node | None:
        if text not in self._nodes and self._sound(text):
            self._nodes[text] = self.program.lower_tree(self._trees[text])
        return self._nodes.get(text)


def _form(entry: Mapping[str, object]) -> Iterator[Fault]:
    """What keeps a table from being a claim, whatever the program."""
    yield from texts(entry, [key for key in ("where", "of", "holds") if key in entry])
    figures = {"of", "printed"} & entry.keys()
    if ("holds" in entry) == bool(figures):
        yield Fault("", "expected either 'holds' or both 'of' and 'printed'")
    elif len(figures) == 1:
        yield Fault("", "expected both 'of' and 'printed'")


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def read_unchecked(entries: Iterable[object]) -> tuple[Unchecked, ...]:
    """What tables with ``where``, ``what`` and ``reason`` say can't be checked.

    Raises :class:`Malformed` with every fault, each at its position.

    >>> read_unchecked([{"where": "3.5", "what": "a plot", "reason": "no figures"}])
    (Unchecked(where='3.5', what='a plot', reason='no figures'),)
    """
    faults = Faults()
    found: list[Unchecked] = []
    for number, entry in enumerate(entries):
        with faults.inside(f"[{number}]"):
            entry = table(entry)
            wrong = unknown(entry, _UNCHECKED_KEYS)
            wrong += [Fault(key, "missing") for key in _UNCHECKED_KEYS if key not in entry]
            wrong += texts(entry, [key for key in _UNCHECKED_KEYS if key in entry])
            wrong.raise_all()
            found.append(Unchecked(**entry))
    faults.raise_all()
    return tuple(found)
