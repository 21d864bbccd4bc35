"""Operands as they may have been before they were rounded to what is printed.

A document that computes on with more digits than it prints gives ``0.5066 * 2 = 1.0133``: the
numbers as printed come to 1.0132, but what rounds to 0.5066 may well come to 1.0133. So an
operand with digits behind a decimal point is taken for all that rounds to it, unless it is
known what it is: where an article computes with an input, or with a figure that is all there is
of its quantity, nothing was rounded. Nor do hand sums have hidden digits, ``0.1 * 0.3 + 0.5 *
0.7``: of what nothing else is known, one digit behind the point is exact, as a bare whole
number is, and ``2.``. Balls carry that through the arithmetic: what comes out holds all that
the document may have got.

The worst case is asked of all operands together. Three deviations of their sum, as if they were
rounded independently, are no less for the few operands of a hand sum; of long ones they would
find some more mistakes, and refute a right figure for every twenty.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flint import arb, arb_mat

from symattn.errors import Malformed, SymattnError
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape, grid
from symattn.numbers.balls import FIRST, charge, precision
from symattn.numbers.rationals import HIDDEN, PrintedNumber, read_printed
from symattn.numbers.rounding import RoundingMode
from symattn.programs import nodes
from symattn.programs.backward import RULES, flows
from symattn.programs.enclosures import BallMatrices, Enclosure
from symattn.programs.nodes import Node, Run
from symattn.programs.program import Program, Special
from symattn.spelling import written


def rounded(tree: syntax.Tree) -> Iterator[PrintedNumber]:
    """The numbers in an expression that may have been rounded.

    >>> from symattn.expressions.syntax import parse
    >>> [found.text for found in rounded(parse("0.5 * 2 + 2. * sqrt(3) - 1.50e-3"))]
    ['0.5', '1.50e-3']
    """
    if isinstance(tree, syntax.Literal) and (printed := _rounded(tree.text)):
        yield printed
    for part in syntax.inside(tree):
        yield from rounded(part)


def _rounded(digits: str) -> PrintedNumber | None:
    """A number that may have been rounded, as it is printed; None for others, and for one
    that is longer than any that is rounded."""
    if not written(digits).part:
        return None
    try:
        return read_printed(digits)
    except Malformed:
        return None


def literals(tree: syntax.Tree) -> Iterator[syntax.Literal]:
    """The numbers in an expression, in their order."""
    return (part for part in syntax.walk(tree) if isinstance(part, syntax.Literal))


@dataclass(frozen=True)
class ExactNumber(syntax.Literal):
    """A number that is no rounding, whatever its digits: of a program, in which it is all.
    It may stand at a ``place``."""

    place: object = field(default=None, compare=False)


def exact_ones(tree: syntax.Tree, exact: Sequence[bool] = ()) -> list[arb | None]:
    """Of each number in an expression what it is, if that is known: it is said which, or they
    are such."""
    found = [*literals(tree)]
    known = exact or [isinstance(one, ExactNumber) for one in found]
    printed = [
        read_printed(one.text) if is_exact else None
        for one, is_exact in zip(found, known, strict=True)
    ]
    return [None if one is None else arb(one.value) for one in printed]


class Operands:
    """Expressions of numbers only, with all that their operands may be.

    >>> from symattn.expressions.syntax import parse
    >>> found = Operands().enclosure(parse("0.5066 * 2"))
    >>> found[0, 0].contains(arb("1.0133")), found[0, 0].contains(arb("1.014"))
    (True, False)
    >>> exact = found[0, 0].mid() / 2
    >>> Operands().enclosure(parse("0.5066 * 2"), [exact.mid(), None]) is None
    True
    """

    def __init__(self, mode: RoundingMode = "half-even") -> None:
        #: Directed roundings are off by up to a whole unit, to one side.
        self._part = 2 if mode.startswith("half") else 1

    def rounded(self, digits: str) -> arb | None:
        """All that rounds to a number as it is printed; None where it can't be rounded."""
        printed = _rounded(digits)
        return None if printed is None else _ball(printed, self._part)

    def enclosure(
        self, tree: syntax.Tree, known: Sequence[arb | None] | None = None
    ) -> arb_mat | None:
        """All that the expression may come to, by rows of its grid; None where its
        operands are exact, or where only a statement has a value. ``known`` is of each
        number in it what that may be, None where nothing else says so."""
        texts = [literal.text for literal in literals(tree)]
        balls = known or [None] * len(texts)
        balls = [self._unknown(x) if y is None else y for x, y in zip(texts, balls, strict=True)]
        if all(ball is None or ball.is_exact() for ball in balls):
            return None
        # The same number is one unknown wherever it stands; one of few digits in a sum of products
        # may be there twice by chance.
        is_sum = all(map(_is_sum, syntax.walk(tree)))
        keys = [
            (text, y is None, k if is_sum and len(written(text).digits) < _TELLING else 0)
            for k, (text, y) in enumerate(zip(texts, known or balls, strict=True))
        ]
        names = [f"operand_{keys.index(key)}" for key in keys]
        given = dict(zip(names, balls, strict=True))
        return self._enclosed(_named(tree, zip(names, balls, strict=True)), given)

    def coming(self, tree: syntax.Tree, figures: Sequence[str]) -> list[bool] | None:
        """Return which printed figures the expression may come to, by rows of its grid; None where
        it has no value, or so many.

        >>> from symattn.expressions.syntax import parse
        >>> Operands().coming(parse("softmax([0.71, 0.00])"), ["0.67", "0.32"])
        [True, False]
        """
        entries = self._entries(tree)
        if len(entries) != len(figures):
            return None
        try:
            printed = [read_printed(text) for text in figures]
        except Malformed:
            return None
        return [
            near < HIDDEN if figure is None else self._may_be(figure, near)
            for figure, near in zip(printed, entries, strict=True)
        ]

    def may_vanish(self, tree: syntax.Tree) -> bool:
        """Return whether an expression may come to zero, or to nothing that is known.

        >>> from symattn.expressions.syntax import parse
        >>> [Operands().may_vanish(parse(text)) for text in ("1/3 - 0.33", "0.3 - 0.4", "1/0")]
        [True, False, True]
        """
        return all(not x.is_finite() or x.contains(0) for x in self._entries(tree))

    def _entries(self, tree: syntax.Tree) -> list[arb]:
        """All that the entries of an expression may be; nothing where it has no value."""
        matrix = self.enclosure(tree, exact_ones(tree))
        if matrix is None:
            # Where nothing is rounded, no number stands for what it may have been.
            matrix = self._enclosed(tree, {"": None})
        return [] if matrix is None else matrix.entries()

    def middles(self, tree: syntax.Tree) -> list[str] | None:
        """The values of an expression, as its numbers are printed, by rows of its grid."""
        matrix = self._enclosed(tree, {"": None})
        if matrix is None or not all(entry.is_finite() for entry in matrix.entries()):
            return None
        return [entry.mid().str(_DIGITS, radius=False) for entry in matrix.entries()]

    def _may_be(self, figure: PrintedNumber, near: arb) -> bool:
        return not near.is_nan() and bool(_ball(figure, self._part).overlaps(near))

    def _unknown(self, digits: str) -> arb | None:
        """Return what a number may be of which nothing is known: one digit is exact."""
        printed = _rounded(digits)
        if printed is None or written(digits).is_exact:
            return None
        return _ball(printed, self._part)

    def _enclosed(
        self, tree: syntax.Tree, given: Mapping[str, arb | None] | None = None
    ) -> arb_mat | None:
        try:
            with precision(FIRST):
                rounded = _Rounded({}, (), (), part=self._part, by_name=given or {})
                return rounded.enclosed(rounded.lower_tree(tree)).filled(arb("-inf"))
        except SymattnError:
            return None

    def may_hold(self, tree: syntax.Tree) -> bool:
        """Return whether a statement may have been true of its operands before they were rounded.

        >>> from symattn.expressions.syntax import parse
        >>> Operands().may_hold(parse("0.51 + 0.18 + 0.30 == 1"))
        True
        >>> Operands().may_hold(parse("0.51 + 0.18 + 0.40 == 1"))
        False
        """
        if isinstance(tree, syntax.Conjunction):
            return all(map(self.may_hold, tree.parts))
        if not isinstance(tree, syntax.Comparison):
            return False
        sides = zip(tree.operands, tree.relations, tree.operands[1:], strict=False)
        return all(self._may(left, relation, right) for left, relation, right in sides)

    def _may(self, left: syntax.Tree, relation: str, right: syntax.Tree) -> bool:
        difference = self._enclosed(syntax.Binary("-", left, right))
        return difference is not None and all(
            _may_be(entry, relation) for entry in difference.entries()
        )


#: So many digits tell a number from others.
_TELLING = 3
#: With so many digits a number goes into what is computed from it.
_DIGITS = 30


def _is_sum(part: syntax.Tree) -> bool:
    return not isinstance(part, syntax.Call | syntax.Power) and getattr(part, "op", "") != "/"


def _may_be(difference: arb, relation: str) -> bool:
    """Return whether something in a ball stands so to zero."""
    if relation == "==":
        return bool(difference.contains(0))
    if relation.startswith(">"):
        difference = -difference
    return not (difference > 0 if relation.endswith("=") else difference >= 0)


def _named(tree: syntax.Tree, given: Iterable[tuple[str, arb | None]]) -> syntax.Tree:
    """An expression whose numbers have names, but those that are what they say."""
    rest = iter(given)

    def by(part: syntax.Tree) -> syntax.Tree | None:
        if not isinstance(part, syntax.Literal):
            return None
        name, ball = next(rest)
        return part if ball is None else syntax.Name(name)

    return syntax.replaced(tree, by)


def _ball(printed: PrintedNumber, part: int) -> arb:
    """All that a number that is printed so may have been rounded from."""
    return arb(printed.value) + arb(0, arb(printed.unit / part))


#: Of so many entries slopes are taken, through these operations.
_CENTRED = 64
_SMOOTH = frozenset(RULES) - {"maximum", "above", "rowmax", "hide"}


@dataclass(frozen=True)
class _Rounded(Program):
    """A program without quantities, whose rounded numbers are inputs: balls.

    ``part``: which part of a unit they may be off by, a half or a whole one; numbers may
    stand ``by_name``.
    """

    part: int = 2
    by_name: Mapping[str, arb | None] = field(default_factory=dict)
    balls: dict[int, Enclosure] = field(default_factory=dict)
    #: The inputs by what stands there.
    inputs: dict[syntax.Tree, Node] = field(default_factory=dict)

    @property
    def run(self) -> Run[Enclosure]:
        """A run with these balls."""
        return Run(_Wide(), lambda node: self.balls.get(node.serial))

    def enclosed(self, node: Node) -> Enclosure:
        """All that a node may come to. An input that stands in several places, as in ``e^0.7 /
        (e^0.7 + 1)``, is one unknown, which balls count as many: of what is smooth, the middle and
        the slopes tell more (the mean value form of R. E. Moore, 1966)."""
        forward, size = self.run, node.grid[0] * node.grid[1]
        found = forward[node]
        graph = nodes.ancestors([node])
        often = Counter(operand.serial for one in graph for operand in one.operands)
        again = [one for one in graph if one.serial in self.balls and often[one.serial] > 1]
        leaves = {one.serial: self.balls[one.serial] for one in graph if one.serial in self.balls}
        is_smooth = {one.op for one in graph if one.operands} <= _SMOOTH
        is_known = not any(ball.masked for ball in leaves.values())
        if not again or size > _CENTRED or not (is_smooth and is_known):
            return found
        middles = {
            at: Enclosure(arb_mat(*ball.shape, [x.mid() for x in ball.matrix.entries()]))
            for at, ball in leaves.items()
        }
        middle = replace(self, balls=middles).run[node].matrix.entries()
        start, entries = nodes.given("upstream", node.shape), found.matrix.entries()
        slopes = flows(node, start)
        for k, wide in enumerate(entries):
            charge(sum(one.grid[0] * one.grid[1] for one in graph))
            run, near = self.run, middle[k]
            run.keep(start, Enclosure(arb_mat(*node.grid, [int(k == j) for j in range(size)])))
            for one in graph:
                run.keep(one, forward[one])
            for at, ball in leaves.items():
                slope = run[slopes[at]].matrix.entries() if at in slopes else []
                offs = (ball.matrix - middles[at].matrix).entries()
                near += sum(map(operator.mul, slope, offs), arb(0))
            if near.is_finite() and wide.overlaps(near):
                entries[k] = wide.intersection(near) if wide.is_finite() else near
        return Enclosure(arb_mat(*node.grid, entries))

    def lowered(self, tree: syntax.Tree, special: Special) -> Node:
        match tree:
            case syntax.Name(name) if (ball := self.by_name.get(name)) is not None:
                return self._input(tree, (), [ball])
            case syntax.Literal(digits) if not self.by_name and (printed := _rounded(digits)):
                return self._input(tree, (), [_ball(printed, self.part)])
            case syntax.Array((syntax.Array(first), *_) as rows):
                entries = [entry for row in rows for entry in syntax.inside(row)]
                return self._input(tree, (len(rows), len(first)), map(self._entry, entries))
            case syntax.Array(entries):
                return self._input(tree, (len(entries),), map(self._entry, entries))
        return super().lowered(tree, special)

    def _input(self, tree: syntax.Tree, shape: Shape, balls: Iterable[arb | None]) -> Node:
        # The sides of a comparison may be two of the same digits.
        if tree not in self.inputs or not self.by_name:
            node, entries = nodes.given("operand", shape), [*balls]
            masked = frozenset(k for k, entry in enumerate(entries) if entry is None)
            flat = [arb(0) if entry is None else entry for entry in entries]
            self.balls[node.serial] = Enclosure(arb_mat(*grid(shape), flat), masked)
            self.inputs[tree] = node
        return self.inputs[tree]

    def _entry(self, tree: syntax.Tree) -> arb | None:
        """An entry of an array; None of a masked score."""
        match tree:
            case syntax.Negative(syntax.Name("inf")):
                return None
            case syntax.Negative(operand):
                entry = self._entry(operand)
                return None if entry is None else -entry
        return self.run[self.lower_tree(tree)].matrix[0, 0]


class _Wide(BallMatrices):
    """Balls as wide as printed numbers are unknown."""

    def _softmax(self, node: Node, x: Enclosure) -> arb_mat:
        """Row by row ``1 / sum_k exp(x_k - x_j)``: each score occurs once with each sign, so
        that no width is counted twice."""
        rows, columns = x.shape
        scores, flat = x.matrix.entries(), [arb(0)] * (rows * columns)
        for start in range(0, rows * columns, columns):
            seen = [k for k in range(start, start + columns) if k not in x.masked]
            for j in seen:
                powers = ((scores[k] - scores[j]).exp() for k in seen if k != j)
                flat[j] = 1 / sum(powers, arb(1))
        return arb_mat(rows, columns, flat)
