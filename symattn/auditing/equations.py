"""Equations that an article prints: what stands in them, and what follows from that.

An equation that is true as it is printed comes first: ``e^{0.71} = 2.034`` is, though the
score is 0.7071, and its exponential 2.028. Such a figure holds as printed, with the exact
value beside it, and so does what repeats it, and what is computed from it in turn.
That goes as far as rounding on the way does: the exact value must be one that the operands
may have come to. What a wrong operand leads to is as wrong as that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from math import inf

import numpy as np
from flint import arb, arb_mat

from symattn.auditing.figures import Cause, Figure, Slip
from symattn.cases.claims import Claim
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.evidence import information
from symattn.documents.reading import ArticleNumber, Reading
from symattn.documents.text import Span
from symattn.errors import SymattnError, short
from symattn.expressions import syntax
from symattn.expressions.shapes import rows_of
from symattn.languages.sentence import Sentence
from symattn.numbers.balls import FIRST, precision
from symattn.programs import nodes
from symattn.programs.enclosures import FloatOperations, Matrix
from symattn.programs.nodes import Node, Run, ancestors
from symattn.programs.operands import Operands, exact_ones, literals
from symattn.programs.program import Program
from symattn.slips.catalogue import KINDS, phrase
from symattn.slips.graph import Recipe
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution
from symattn.spelling import written
from symattn.verdicts import Verdict

_ANYTHING = arb(0, arb("inf"))
_SIGNS = "+-\N{MINUS SIGN}"

#: What is printed at a place, if it is a figure of a quantity that is known.
EntryAt = Callable[[Span], EntryValue | None]


class OperandPlaces:
    """The places at which an article prints its operands."""

    def __init__(self, reading: Reading | None) -> None:
        self._numbers = reading.numbers if reading else ()
        self._starts = [number.span.start for number in self._numbers]
        self._at = {number.span.start: number for number in self._numbers}
        given = reading.given.values() if reading else ()
        self._rounded = [one.span for one in given if one.is_rounded and one.span]
        #: Where the results of mere numbers stand.
        self._worked: set[Span] = set()
        for claim in reading.claims if reading else ():
            if claim.key == "as_printed" and claim.spans is not None:
                rows: Sequence[Sequence[Span]] = rows_of(claim.spans)
                self._worked.update(*rows)

    def result(self, number: ArticleNumber) -> ArticleNumber | None:
        """Return where the result that a number is was printed: there, or what says the same
        before."""
        if self._is_result(number):
            return number
        return None if number.status == "given" else self._at.get(number.source)

    def is_known(self, number: ArticleNumber) -> bool:
        """Return whether something says of which quantity a number is: more than a single digit
        that it has in common with one."""
        if number.status in ("bound", "given"):
            return True
        figure = written(number.text)
        is_long = len((figure.whole + figure.part).lstrip("0")) > 1
        first = self.result(number) if is_long else None
        return first is not None and first.status in ("bound", "given")

    def is_rounded(self, text: str) -> bool:
        """Return whether an input that is shown rounded is printed so."""
        return text in self._shown

    @cached_property
    def _shown(self) -> Container[str]:
        """The texts of inputs that are shown rounded."""
        given = (one for one in self._numbers if one.status == "given")
        return {one.text.lstrip(_SIGNS) for one in given if self._is_result(one)}

    def _is_result(self, number: ArticleNumber) -> bool:
        is_rounded = any(span.start <= number.span.start < span.end for span in self._rounded)
        return (
            number.status == "bound"
            or number.span in self._worked
            or (number.status == "given" and is_rounded)
        )

    def of(self, claim: Claim) -> Sequence[ArticleNumber]:
        """Return what is printed where the numbers of a claim stand: right before its value;
        nothing where that reads otherwise."""
        texts = [literal.text for literal in literals(claim.tree)]
        if not claim.spans or not texts or claim.stated is not None:
            return ()
        end = bisect_left(self._starts, claim.spans[0][0].start)
        before = self._numbers[max(end - len(texts), 0) : end]
        return before if [number.text.lstrip(_SIGNS) for number in before] == texts else ()


def _is_negative(number: ArticleNumber) -> bool:
    return number.text.startswith(("-", "\N{MINUS SIGN}"))


class Equations:
    """The arithmetic of an article, and what its operands are."""

    def __init__(self, reading: Reading | None, operands: Operands, entry_at: EntryAt) -> None:
        self.places = OperandPlaces(reading)
        self._operands = operands
        self._entry_at = entry_at
        #: What the arithmetic of claims may come to.
        self._reached: dict[tuple[int, str], arb_mat | None] = {}

    def reach(self, claim: Claim, i: int, j: int) -> arb | None:
        """All that a figure of numbers may be, as these may have been rounded."""
        asked = claim.number, claim.key
        if asked not in self._reached:
            known: list[arb | None] = [self.known(number) for number in self.places.of(claim)]
            if claim.stated is not None:
                known = exact_ones(claim.tree, claim.stated.exact)
            self._reached[asked] = self._operands.enclosure(claim.tree, known or None)
        reached = self._reached[asked]
        return None if reached is None else reached[i, j]

    def known(self, number: ArticleNumber) -> arb | None:
        """Return what an operand may be, for what it is the value of; None where that isn't
        known."""
        text = number.text.lstrip(_SIGNS)
        near = self._operands.rounded(text)
        if near is None:
            return None
        if number.is_exact:
            return near.mid()
        result = self.places.result(number)
        if result is not None and _is_negative(result) != _is_negative(number):
            # The negative of a result may be another number, that was rounded.
            return near
        if result is None:
            return near.mid() if number.status == "given" else None
        entry = self._entry_at(result.span)
        if entry is None:
            return near if result.status == "given" else None
        is_exact = abs(entry.ball(FIRST)).contains(near.mid()) and not self.places.is_rounded(text)
        return near.mid() if is_exact else near

    def enclosed(self, claim: Claim, i: int, j: int, known: Sequence[arb | None]) -> arb | None:
        """All that a figure of numbers may be, as those may be that are ``known``."""
        enclosure = self._operands.enclosure(claim.tree, known or None)
        return None if enclosure is None else enclosure[i, j]

    def vouch_for(self, chains: Sequence[Figure], doubted: Container[Span]) -> bool:
        """Return whether equations are true, of numbers that nobody surely knows what they are:
        then what they give may be of something else than it was taken for."""
        operands = [number for chain in chains for number in self.places.of(chain.claim)]
        return all(map(_is_true, chains)) and any(
            number.span in doubted or not self.places.is_known(number) for number in operands
        )

    # -- what holds as printed ---------------------------------------------------------------

    def settle(self, figures: Sequence[Figure], doubted: Container[Span]) -> list[Figure]:
        """Let the refuted figures hold that the article's own equations give as printed. Those
        that such equations give of numbers that are ``doubted``, or that nobody knows what they
        are: they may be of something else."""
        with precision(FIRST):
            left = _Settling(self, self._operands, figures).settle()
        return [figure for figure, chains in left if self.vouch_for(chains, doubted)]


class _Settling:
    """Figures that hold as printed, one after the other, as one leads to the next."""

    def __init__(self, equations: Equations, operands: Operands, figures: Sequence[Figure]) -> None:
        self._equations = equations
        self._operands = operands
        self._chains: dict[object, list[Figure]] = defaultdict(list)
        self._at: dict[Span, list[Figure]] = defaultdict(list)
        self._rows: dict[int, list[Figure]] = defaultdict(list)
        for figure in figures:
            self._rows[figure.claim.number].append(figure)
            if figure.claim.is_arithmetic:
                self._chains[_place(figure)].append(figure)
            if figure.span is not None:
                self._at[figure.span].append(figure)
        self._open = [
            figure
            for figure in figures
            if figure.verdict is Verdict.REFUTED
            and not figure.claim.is_arithmetic
            and figure.printed is not None
            and figure.off is not None
        ]
        #: What figures may be that hold as printed; and these by what they are of.
        self._reached: dict[Figure, arb] = {}
        self._earlier: dict[str, list[Figure]] = defaultdict(list)

    def settle(self) -> list[tuple[Figure, Sequence[Figure]]]:
        """Until no more follows; what is left, with the equations that give it."""
        while settled := {figure for figure in self._open if self._settled(figure)}:
            self._open = [figure for figure in self._open if figure not in settled]
        return [(figure, self._chains[_place(figure)]) for figure in self._open]

    def _settled(self, figure: Figure) -> bool:
        reach = self._repeated(figure)
        if reach is None:
            reach = self._given(figure)
        if reach is None and self._says_results_again(figure):
            reach = figure.rounded
        if reach is None:
            return False
        self._reached[figure] = reach
        self._earlier[figure.term.key].append(figure)
        figure.verdict, figure.as_printed = Verdict.HOLDS, True
        return True

    def _repeated(self, figure: Figure) -> arb | None:
        """Return what an earlier figure may be that this one repeats, maybe with fewer digits."""
        for first in self._earlier[figure.term.key]:
            if figure.rounds_from(first.number):
                return self._reached[first]
        return None

    def _says_results_again(self, figure: Figure) -> bool:
        """Return whether a figure is off by a unit in a row of which each figure is the result of
        an equation before it: rounding on the way makes no more of it."""
        row = self._rows[figure.claim.number]
        return abs(figure.off or 0) == 1 and len(row) > 1 and all(map(self._is_result, row))

    def _is_result(self, figure: Figure) -> bool:
        """Return whether an equation before a figure that holds comes to it."""
        return figure.span is not None and any(
            chain.claim.is_arithmetic and _is_true(chain) and figure.rounds_from(chain.number)
            for span, figures in self._at.items()
            if span < figure.span
            for chain in figures
        )

    def _given(self, figure: Figure) -> arb | None:
        """Return what the equation that gives a figure may come to, if that may be the exact
        value."""
        chains = self._chains[_place(figure)]
        if not chains or any(not _is_true(chain) for chain in chains):
            return None
        exact, reach = figure.entry.ball(FIRST), figure.number
        for chain in chains:
            near = self._reach(chain)
            if near is None or not near.is_finite() or not near.overlaps(exact):
                return None
            reach = reach.union(near)
        return reach

    def _reach(self, chain: Figure) -> arb | None:
        """Return what an equation may come to, as its operands may be: anything where one is wrong
        that it depends on."""
        known: list[arb | None] = []
        for number in self._equations.places.of(chain.claim):
            beside = self._at[number.span]
            is_wrong = any(figure.verdict is Verdict.REFUTED for figure in beside)
            held = (self._reached[figure] for figure in beside if figure in self._reached)
            wider = _ANYTHING if is_wrong else next(held, None)
            known.append(self._equations.known(number) if wider is None else wider)
        return self._equations.enclosed(chain.claim, chain.entry.i, chain.entry.j, known)


def _is_true(chain: Figure) -> bool:
    """Return whether an equation holds, and says something."""
    return chain.verdict is Verdict.HOLDS and not chain.vacuous


def _place(figure: Figure) -> object:
    """Return where a figure stands, in an article or in a table."""
    return figure.span or (figure.claim.number, figure.at)


# -- causes of what is stated ------------------------------------------------------------------
# Causes of blocks that do not come to what is stated of them.
#
# A closed statement is a little program: its operands are what is printed, its one step what is
# said. A slip of the catalogue in that step that gives all figures of the block is its cause. A
# block that is wrong throughout is one finding, at its first figure.

#: A slip is named from so many bits on, and this part of a block makes it one that is wrong
#: throughout.
_GATE, _MOST = 8.0, 0.5
#: So many characters of it are said.
_SAID = 80
_OPERANDS = Operands()


def causes(figures: Sequence[Figure], solution: Solution) -> tuple[dict[Figure, Cause], list[Slip]]:
    """The causes of figures that are stated to be something else, and the slips among these."""
    found: dict[Figure, Cause] = {}
    slips: list[Slip] = []
    for _, alike in groupby(figures, lambda figure: id(figure.claim)):
        block = [*alike]
        claim = block[0].claim
        wrong = [figure for figure in block if figure.verdict is Verdict.REFUTED]
        stated = claim.stated
        # Entries of an array that are worked one by one are as many statements.
        is_run = stated is not None and stated.is_run
        is_one = claim.is_arithmetic and (is_run or not isinstance(claim.tree, syntax.Array))
        if not is_one or len(wrong) < 2 or (stated is not None and stated.follows):
            continue
        first, *others = wrong
        slip = None if stated is None else _slip(claim, block, wrong, solution)
        if slip is not None:
            slips.append(slip)
            found[first] = Cause("root", slip.sentence, slip=slip)
        elif len(wrong) > _MOST * len(block):
            formula = claim.tree
            if stated is not None:
                formula = stated.said if is_run else stated.formula
            said = short(syntax.text(formula), _SAID)
            reason = Sentence("{formula} does not come to this", formula=said)
            found[first] = Cause("root", reason)
        else:
            continue
        same = Sentence("follows from the same mistake as {figure}", figure=first.description)
        found |= dict.fromkeys(others, Cause("carried", same, (first,), slip))
    return found, slips


def _slip(
    claim: Claim, block: Sequence[Figure], wrong: Sequence[Figure], solution: Solution
) -> Slip | None:
    """The likeliest slip that gives all figures of a block."""
    bits = sum({figure.text: information(figure.text) for figure in wrong}.values())
    ends = [interval(figure.text) for figure in block]
    if any(one is None for one in ends):
        return None
    low, high = np.array([one for one in ends if one is not None]).T

    def is_that(values: Matrix) -> bool:
        # What goes into it is rounded, as it is itself.
        with np.errstate(invalid="ignore"):
            off = abs(2 * values - low - high) if values.size == len(block) else inf
            return bool(np.all(off <= 3 * (high - low)))

    made = [
        (KINDS[kind].price, kind, said)
        for kind, said, values in (*_slipped(claim), *_others(claim, solution))
        if is_that(values)
    ]
    right = [-inf if x.entry.is_masked else float(x.entry.ball(FIRST).mid()) for x in block]
    if not made or is_that(np.array(right)):
        return None
    price, kind, said = min(made, key=lambda one: one[0])
    if bits - price < _GATE:
        return None
    sentence = Sentence(
        "All {count} wrong figures follow from {slip}; no correct figure contradicts it.",
        count=len(wrong), slip=said,
    )  # fmt: skip
    rivals = tuple(
        dict.fromkeys(other for cost, _, other in made if other != said and cost <= price)
    )
    return Slip(
        kind, sentence, round(bits - price, 1), 1.0, tuple(wrong), rivals=rivals, phrase=said
    )


def _slipped(claim: Claim) -> Iterator[tuple[str, Sentence, Matrix]]:
    """The values of a statement by each slip in it."""
    assert claim.stated is not None
    operands: dict[str, syntax.Tree] = {}
    tree = _named(claim.stated.formula, claim.tree, operands)
    known = {name: _OPERANDS.middles(one) for name, one in operands.items()}
    empty = Program({}, (), ())
    try:
        shapes = {name: empty.lower_tree(one).shape for name, one in operands.items()}
        quantities = {name: nodes.given(name, shape) for name, shape in shapes.items()}
        program = Program(quantities, tuple(quantities), ())
        result = program.lower_tree(tree)
    except SymattnError:
        return
    matrices: dict[str, Matrix] = {}
    for name, node in quantities.items():
        numbers = known[name]
        if numbers is None:
            return
        matrices[name] = np.array([float(x) for x in numbers]).reshape(node.grid)
    run = Run(FloatOperations(), lambda node: matrices[node.extra] if node.op == "given" else None)
    recipe = Recipe(program)
    for node in ancestors([result]):
        for kind, instead, words in recipe.slips(node, lambda x: _number(run, x)):
            try:
                with np.errstate(all="ignore"):
                    values = np.asarray(run[nodes.replaced(result, {node.serial: instead})])
            except SymattnError:
                continue
            said = (x if isinstance(x, str) else recipe.text(x) for x in words)
            yield kind, phrase(kind, (recipe.text(node), *said)), values.reshape(-1)


def _others(claim: Claim, solution: Solution) -> Iterator[tuple[str, Sentence, Matrix]]:
    """The other quantities of the article that are of the shape of a block."""
    assert claim.node is not None
    rows, columns = claim.node.grid
    given = solution.case.reading.given if solution.case.reading else {}
    # As an input it is what it is.
    own = {name for name, one in given.items() if _is_in(claim.span, one.span)}
    for name, node in solution.program.named.items():
        quantity = solution.quantity(node)
        if name in own:
            continue
        if node.shape == claim.node.shape and node.shape and not quantity.symbols:
            entries = (EntryValue(quantity, i, j) for i in range(rows) for j in range(columns))
            found = (-inf if one.is_masked else float(one.ball(FIRST).mid()) for one in entries)
            yield "other-quantity", phrase("other-quantity", (claim.text, name)), np.array([*found])


def _is_in(part: Span | None, whole: Span | None) -> bool:
    if part is None or whole is None:
        return False
    return whole.start <= part.start <= part.end <= whole.end


def _number(run: Run[Matrix], node: Node) -> float | None:
    return float(run[node][0, 0]) if node.grid == (1, 1) else None


def _named(
    formula: syntax.Tree, tree: syntax.Tree, operands: dict[str, syntax.Tree]
) -> syntax.Tree:
    """The tree of a statement with the names of its formula, as far as both go together."""
    if isinstance(formula, syntax.Name) and formula.name.isidentifier():
        operands[formula.name] = tree
        return syntax.Name(formula.name)
    inside = syntax.inside(formula), syntax.inside(tree)
    is_same = type(formula) is type(tree) and len(inside[0]) == len(inside[1])
    if not is_same or isinstance(formula, syntax.Array | syntax.Literal):
        return tree
    parts: Iterator[syntax.Tree] = (_named(x, y, operands) for x, y in zip(*inside, strict=True))
    return syntax.mapped(tree, lambda _: next(parts))
