"""Claims: what a document prints, read against the program that it is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Literal

from symattn.cases.statements import LoweredComparison, lower_statement
from symattn.errors import Fault, Faults, Malformed, short
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape, grid, show
from symattn.limits import CLAIMS
from symattn.numbers.rationals import PrintedNumber, read_printed
from symattn.numbers.rows import read_each
from symattn.programs.functions.own import calls
from symattn.programs.nodes import Node
from symattn.programs.program import Program
from symattn.tables.places import table, texts, unknown

if TYPE_CHECKING:
    from symattn.documents.reading import Stated
    from symattn.documents.text import Span

#: Rows of printed figures; None is a masked score, printed as minus infinity.
Figures = tuple[tuple[PrintedNumber | None, ...], ...]

#: The key that says what a claim is about.
Key = Literal["as_printed", "of", "holds"]

_CLAIM_KEYS = ("where", "of", "as_printed", "printed", "holds")
#: The keys of expressions whose figures are printed, in the order of their claims.
_EXPRESSIONS: tuple[Key, ...] = ("as_printed", "of")
_UNCHECKED_KEYS = ("where", "what", "reason")


@dataclass(frozen=True, repr=False)
class Claim:
    """A claim of a document: figures of an expression, or a statement.

    ``text`` is the expression or the statement as written, ``tree`` its syntax tree; ``key`` is the
    one that it stands under in the table of that ``number``, which begins on ``line`` of its file
    (0: in none). Figures have the program's ``node`` of the expression and ``printed``, the rows of
    its grid; a statement has no node, but ``comparisons`` that must all hold. Of a claim that an
    article prints, ``span`` is where it does, and ``spans`` where each figure stands, ``basis``
    what says what it is; ``doubt`` why it refutes nothing, '' where that is sure; ``trust`` the
    bits that say that it is that, and wrong; ``reach`` how far it may be off, as inputs are shown
    rounded; ``stated`` is of a closed statement, whose tree has the numbers that are printed of its
    operands.
    """

    where: str
    text: str
    tree: syntax.Tree
    node: Node | None = None
    printed: Figures = ()
    comparisons: tuple[LoweredComparison, ...] = ()
    key: Key = "of"
    number: int = 0
    line: int = 0
    span: Span | None = None
    spans: tuple[tuple[Span, ...], ...] = ()
    doubt: str = ""
    basis: str = ""
    trust: float = inf
    reach: float = 0.0
    stated: Stated | None = None

    @cached_property
    def is_arithmetic(self) -> bool:
        """Return whether the figures are of an expression of numbers only: that says
        what these come to, and nothing of any quantity."""
        return self.node is not None and self.is_local

    @cached_property
    def is_local(self) -> bool:
        """Return whether the figures or the statement are of numbers only, which are all there."""
        return all(name == "inf" for name in syntax.names(self.tree))

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

    def __repr__(self) -> str:
        return f"<Unchecked {short(self.where)!r}: {short(self.what)!r}>"


def read_claims(
    program: Program, entries: Sequence[object], passed_over: Collection[str] = ()
) -> tuple[Claim, ...]:
    """The claims of tables with ``of`` and ``printed``, or with ``holds``.

    Beside ``of`` or in its place may stand ``as_printed``, the numbers that the
    document computes with there: whether they come to the printed figure is a
    claim of its own, before that about the quantity. ``where`` says where the
    document prints it: the claim's position if it is left out. Raises
    :class:`Malformed` with every fault of every claim, each at its position;
    claims that mention a name that is ``passed_over`` are not held against the
    program.

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
    reader = _ClaimReader(program, passed_over)
    faults = Faults()
    claims: list[Claim] = []
    for number, entry in enumerate(entries):
        with faults.inside(f"[{number}]"):
            claims += reader.read(entry, number)
    faults.raise_all()
    return tuple(claims)


class _ClaimReader:
    """Reads claims about one program; what is said twice is parsed and lowered once.

    What stands under a key is text, or the tree that a reading made of it.
    """

    def __init__(self, program: Program, passed_over: Collection[str]) -> None:
        self.program = program
        self.passed_over = frozenset(passed_over)
        self._trees: dict[str, syntax.Tree] = {}
        self._nodes: dict[str, Node] = {}
        self._comparisons: dict[str, tuple[LoweredComparison, ...]] = {}

    def read(self, entry: object, number: int) -> list[Claim]:
        """The claims of a table, without those that are passed over."""
        entry = table(entry)
        faults = unknown(entry, _CLAIM_KEYS)
        faults += _form(entry)
        where = self._text(entry, "where") or f"claims[{number}]"
        claims: list[Claim] = []
        figures: tuple[Shape, Figures] | None = None
        if holds := self._text(entry, "holds"):
            with faults.inside("holds"):
                if self._sound(holds):
                    tree = self._trees[holds]
                    if holds not in self._comparisons:
                        self._comparisons[holds] = lower_statement(self.program, tree)
                    sides = self._comparisons[holds]
                    claim = Claim(where, holds, tree, comparisons=sides, key="holds", number=number)
                    claims.append(claim)
        if "printed" in entry:
            with faults.inside("printed"):
                figures = read_each(entry["printed"], read_printed)
        for key in _EXPRESSIONS:
            text, node = self._text(entry, key), None
            if text:
                with faults.inside(key):
                    node = self._node(text) if key == "of" else self._arithmetic(text)
            if figures and node:
                shape, printed = figures
                if grid(shape) != node.grid:
                    message = f"{text} is {show(node.shape)}, found {show(shape)}"
                    faults.append(Fault("printed", message))
                tree = self._trees[text]
                claims.append(Claim(where, text, tree, node, printed, key=key, number=number))
        faults.raise_all()
        return claims

    def _text(self, entry: Mapping[str, object], key: str) -> str:
        """Return what stands under a key, as text; '' where there is none."""
        value = entry.get(key)
        if isinstance(value, syntax.Tree):
            text = syntax.text(value)
            self._trees[text] = value
            return text
        return value if isinstance(value, str) else ""

    def _tree(self, text: str) -> syntax.Tree:
        if text not in self._trees:
            self._trees[text] = syntax.parse(text)
        return self._trees[text]

    def _sound(self, text: str) -> bool:
        """Return whether all that the text names can be held against the program."""
        tree = self._tree(text)
        return self.passed_over.isdisjoint((*syntax.names(tree), *calls(tree)))

    def _arithmetic(self, text: str) -> Node | None:
        """The node of an expression that names nothing."""
        if name := next((x for x in syntax.names(self._tree(text)) if x != "inf"), ""):
            raise Malformed(f"expected numbers only, found {name}: quantities are named in 'of'")
        return self._node(text)

    def _node(self, text: str) -> Node | None:
        if text not in self._nodes and self._sound(text):
            if isinstance(self._trees[text], syntax.Comparison):
                raise Malformed("a comparison states something: write it under 'holds'")
            self._nodes[text] = self.program.lower_tree(self._trees[text])
        return self._nodes.get(text)


def _form(entry: Mapping[str, object]) -> Iterator[Fault]:
    """Yield what keeps a table from being a claim, whatever the program."""
    keys = [key for key in ("where", *_EXPRESSIONS, "holds") if key in entry]
    yield from texts(entry, [key for key in keys if not isinstance(entry[key], syntax.Tree)])
    about = [key for key in ("of", "as_printed") if key in entry]
    if ("holds" in entry) == bool(about or "printed" in entry):
        yield Fault("", "expected either 'holds' or both 'of' and 'printed'")
    elif "holds" not in entry and not (about and "printed" in entry):
        yield Fault("", f"expected both '{(*about, 'of')[0]}' and 'printed'")


def read_unchecked(entries: Iterable[object]) -> tuple[Unchecked, ...]:
    """Return what tables with ``where``, ``what`` and ``reason`` say can't be checked.

    Raises :class:`Malformed` with every fault, each at its position.

    >>> read_unchecked([{"where": "3.5", "what": "a plot", "reason": "no figures"}])
    (<Unchecked '3.5': 'a plot'>,)
    """
    faults = Faults()
    unchecked: list[Unchecked] = []
    for number, entry in enumerate(entries):
        with faults.inside(f"[{number}]"):
            entry = table(entry)
            wrong = unknown(entry, _UNCHECKED_KEYS)
            wrong += [Fault(key, "missing") for key in _UNCHECKED_KEYS if key not in entry]
            wrong += texts(entry, [key for key in _UNCHECKED_KEYS if key in entry])
            wrong.raise_all()
            unchecked.append(Unchecked(**entry))
    faults.raise_all()
    return tuple(unchecked)
