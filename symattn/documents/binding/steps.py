"""Steps: what lists and labels say was done to the block before them.

"Subtract the max: [0, -1]", "Exponentiate: [1, 0.37]", "Sum: 1.37" are steps one after another,
and so are lines that print a number for each of some words, and below "After softmax" another
for each of the same words. Their words alone say what each is: whatever its digits are, it is
what the step makes of a block before it, as printed or as computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

from symattn.documents.binding import joining, roles, values
from symattn.documents.trees import Member, PrintedFigure, Words
from symattn.expressions import syntax
from symattn.spelling import written

#: What a step makes of a block, by its words: of several forms, one is meant.
_STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"exponentia\w+|exps?|e\^x", ("exp(x)",)),
    (r"softmax(?:ed)?", ("softmax(x)", "x / sum(x)")),
    (r"normali[sz]\w+|divi\w+ by (?:the |its |their )?(?:sum|total)", ("x / sum(x)",)),
    (r"(?:subtract\w*|minus|shift\w*)(?: by)?(?: the)?(?: row)?(?: max\w*)?", ("x - max(x)",)),
    (r"sum\w*(?: up)?|total|denominator|add(?: up)?", ("sum(x)",)),
    (r"max\w*", ("max(x)",)),
)
_READ = [
    (re.compile(rf"\b(?:{words})(?!\w)", re.I), tuple(map(syntax.parse, forms)))
    for words, forms in _STEPS
]
_SOFTMAX, _SOFTMAX_OF = re.compile("softmax", re.I), syntax.parse("softmax(x)")
#: Words that say what it is of.
_OF = re.compile(r"\b(?:of|from|other\w*|without)\b", re.I)
#: What else its words may say.
_BESIDE = re.compile(
    r"(?:(?:step|the|all|each|every|of|by|find|compute|calculate|take|apply|applying|after|get|then"
    r"|now|next|finally|them|it|its|this|we|would|will|values?|entry|entries|elements?|scores?"
    r"|numbers?|rows?|results?|yields?|gives?|becomes?|produces?|is|are|for|from|function|numerical"
    r"|stability|everything|up|to|and|raw|logits?|weights?|attention|probabilit(?:y|ies))\b"
    r"|[^A-Za-z])*+",
    re.I,
)
#: A step is of one of so many blocks before it, as printed or computed; fewer steps than that in
#: a row may be none. Of a matrix, a step may be by rows or not.
_BEFORE, _FEWEST = 6, 2
_BY_ROWS = ("exp", "softmax")
#: What a softmax may be of, and so many decimals that tell it at least.
_SCORES = frozenset({"scores", "scaled", "masked"})
_SHARES = frozenset({"weights", "masked", "sums"})
_DECIMALS = 2
#: So many blocks are held against a softmax at most.
_TRIES = 1000
#: A line that prints a number for some words, and what may follow it.
_LABEL = (
    r"[\s\-*•|]*(?P<label>[^\W\d][^:=|,\n]{0,40}?|\([.,!?]\))[\s*`]*(?:[:=：]|→|->)[\s*`]*"
    r"(?P<figure>[+-]?[0-9]+(?:\.[0-9]+)?%?)[\s*`]*"
)
_LINE = re.compile(rf"{_LABEL}(?:[(（←#].*)?\s*")
#: Several of them in one line.
_ENTRY = re.compile(rf"(?:\A|[,;])(?:{_LABEL}|[\s,;]*\Z)")


class Step(NamedTuple):
    """A value, and what is said that it is; ``order`` counts chains."""

    order: int
    said: syntax.Tree
    value: syntax.Tree
    where: str


@dataclass(frozen=True)
class _Block:
    """A printed block with the labels of its entries, and what it is said to be made of."""

    value: syntax.Tree
    labels: tuple[str, ...] = ()
    made: syntax.Tree | None = None
    #: The parts in attention that its words name.
    roles: Set[roles.About] = frozenset()
    #: Whether a formula beside it says what it is.
    is_worked: bool = False

    @property
    def readings(self) -> Iterator[syntax.Tree]:
        """It as printed, and as computed."""
        yield self.value
        if self.made is not None:
            yield self.made


@dataclass
class Steps:
    """Follows the blocks of an article, and what steps make of them.

    >>> steps, figures = Steps(), (PrintedFigure("1"), PrintedFigure("2"))
    >>> steps.enter(0, "")
    >>> for words in ("", "Exponentiate:"):
    ...     steps.words(Words(words, PrintedFigure("1").span))
    ...     steps.read([syntax.Array(figures)])
    >>> steps.words(Words("Sum:", PrintedFigure("1").span))
    >>> steps.read([PrintedFigure("3")])
    >>> [syntax.text(step.said) for step in steps.end()]
    ['exp([1, 2])', 'sum([1, 2])', 'sum(exp([1, 2]))', 'sum([1, 2])']
    """

    _order: int = 0
    _where: str = ""
    _words: str = ""
    #: Whether the passage has begun with something else.
    _is_begun: bool = False
    #: The blocks that steps one after another may be of, and the steps.
    _blocks: list[_Block] = field(default_factory=list)
    _row: list[list[Step]] = field(default_factory=list)
    #: Lines that print numbers for words, and what stands above them.
    _lines: list[tuple[str, PrintedFigure]] = field(default_factory=list)
    _above: str = ""
    #: All blocks before, and whether a softmax was spoken of since the last.
    _recent: list[_Block] = field(default_factory=list)
    _is_softmax: bool = False
    _tries: int = 0
    _found: list[Step] = field(default_factory=list)

    def enter(self, order: int, where: str) -> None:
        """A passage begins, behind so many chains."""
        self._order, self._where, self._is_begun = order, where, False

    def words(self, piece: Words) -> None:
        """Take words: a line of a number with its label, or what is said of what follows."""
        lines = [*_lines(piece)]
        self._is_softmax |= bool(_SOFTMAX.search(piece.text))
        if lines:
            for label, figure in lines:
                if _step(label):
                    self._end_lines()
                    self._take(_Block(figure), label)
                else:
                    self._line(label, figure)
        elif any(map(str.isalpha, piece.text)) and not (self._lines and self._is_begun):
            self._end_lines()
            self._words = piece.text
        if not lines and len(piece.figures) > 1:
            # A block, it may be, which is not read.
            self._lines.clear()
            self._end_row()
            self._recent.clear()
        self._is_begun = True

    def read(self, members: Sequence[Member], is_code: bool = False) -> None:
        """Take a chain: a line with its label, a block with what its words say, or something
        that ends a list of steps, as all code is."""
        self._order += 1
        self._is_begun = True
        if is_code:
            self._end_lines()
            self._end_row()
            self._recent.clear()
            self._is_softmax |= any(map(_is_softmax, members))
            return
        value, said = members[-1], self._words
        match members:
            case (syntax.Name(name), PrintedFigure() as figure) if not _step(name):
                self._line(name, figure)
                return
            case (syntax.Name(name), _):
                said = f"{said} {name.replace('_', ' ')}" if len(said) < len(name) else name
        self._end_lines()
        self._words = ""
        is_formula = not isinstance(members[0], syntax.Name | syntax.Array | PrintedFigure)
        if values.is_value(value) and len(members) < 3:
            self._take(_Block(value, is_worked=is_formula), said)
        elif not values.is_numeric(value):
            self._end_row()
            self._is_softmax |= any(map(_is_softmax, members))

    def end(self) -> list[Step]:
        """Return all steps; the article has ended."""
        self._end_lines()
        self._end_row()
        return self._found

    def _line(self, label: str, figure: PrintedFigure) -> None:
        label = label.strip(" *_`\"'").lower()
        if not self._lines:
            self._above, self._words = self._words, ""
        elif any(label == other for other, _ in self._lines):
            self._end_lines()
        self._lines.append((label, figure))

    def _end_lines(self) -> None:
        lines, self._lines = self._lines, []
        if len(lines) > 1:
            labels, figures = zip(*lines, strict=True)
            self._take(_Block(syntax.Array(figures), labels), self._above)

    def _end_row(self) -> None:
        if len(self._row) >= _FEWEST:
            self._found += (step for steps in self._row for step in steps)
        self._row, self._blocks = [], []

    def _take(self, block: _Block, said: str) -> None:
        """Take a block that words call what a step makes of one before it, or the first of some."""
        forms = _step(said)
        block = replace(block, roles=_roles(said))
        like = [one for one in self._recent if one.labels == block.labels != ()][-1:]
        before = like or self._recent[-1:]
        if (
            before
            and len(values.shape(before[0].value)) == 2
            and len(values.shape(block.value)) == 1
        ):
            # A row may be of one of a matrix, the only one whose order it keeps.
            of_row = [replace(before[0], value=row) for row in syntax.inside(before[0].value)]
            before = [one for one in of_row if self._is_softmax_of(one, block, said)]
            before = before if len(before) == 1 else []
        is_softmax = any(map(_is_softmax, forms)) if forms else self._is_softmax
        if is_softmax and any(self._is_softmax_of(one, block, said) for one in before):
            steps = self._steps((_SOFTMAX_OF,), before, block)
            self._found += steps
        elif forms and like and not is_softmax:
            steps = self._steps(forms, like, block)
            self._found += steps
        elif forms and self._blocks:
            steps = self._steps(forms, self._blocks[: -_BEFORE - 1 : -1], block)
            self._row.append(steps)
        else:
            self._end_row()
            steps = []
        made = replace(block, made=steps[0].said if steps else None)
        if values.shape(block.value):
            self._blocks.append(made)
            self._recent.append(made)
            self._is_softmax &= not (is_softmax and steps)

    def _is_softmax_of(self, before: _Block, block: _Block, said: str) -> bool:
        """Return whether a block can only be the softmax of one before, by what they are called
        and by what it keeps of it whatever its digits are: scores may have been scaled or masked
        in silence."""
        self._tries += 1
        is_said = bool(_step(said))
        softmax = syntax.Call("softmax", (before.value,))
        is_called = is_said or bool(block.roles or (before.roles and not _OF.search(said)))
        return (
            is_called
            and self._tries < _TRIES
            and not block.is_worked
            and before.roles <= _SCORES
            and block.roles <= _SHARES
            and values.shape(before.value) == values.shape(block.value) != ()
            and max(map(_decimals, values.texts(block.value))) >= _DECIMALS
            and joining.is_softmax(
                softmax, before.value, block.value, is_plain=is_said and "scaled" in before.roles
            )
        )

    def _steps(
        self, forms: Sequence[syntax.Tree], operands: Sequence[_Block], block: _Block
    ) -> list[Step]:
        size = len(values.shape(block.value))
        trees = (tree for operand in operands for tree in operand.readings)
        return [
            Step(self._order, _over(form, tree), block.value, self._where)
            for tree, form in product(trees, forms)
            if size < 2 or (isinstance(form, syntax.Call) and form.function in _BY_ROWS)
        ]


def _lines(piece: Words) -> Iterator[tuple[str, PrintedFigure]]:
    """The numbers of words that are nothing but these, each with its label."""
    text, figures = piece.text, {one.text: one for one in piece.figures}
    line = _LINE.fullmatch(text)
    found = [line] if line else [*_ENTRY.finditer(text)]
    is_all = line is not None or "".join(one[0] for one in found) == text
    if is_all and all(one["figure"] is None or one["figure"] in figures for one in found):
        yield from ((x["label"], figures[x["figure"]]) for x in found if x["figure"] is not None)


def _decimals(text: str) -> int:
    return written(text).decimals + 2 * text.endswith("%")


def _roles(said: str) -> Set[roles.About]:
    """Return what words, or the last of them as a name, call the block behind them."""
    *_, last = said.split() or [""]
    named = roles.named(last.rstrip(":")) if last.isidentifier() else None
    spoken = roles.spoken(_SOFTMAX.sub("", said))
    return {one.role for one in spoken} | ({named} if named else set())


def _is_softmax(member: Member) -> bool:
    match member:
        case syntax.Call("softmax") | syntax.Name("softmax"):
            return True
    return False


def _step(said: str) -> Sequence[syntax.Tree]:
    """The forms of what words say is done to a block x, if that is a step and all they say."""
    for pattern, forms in _READ:
        if (match := pattern.search(said)) is not None:
            rest = said[: match.start()] + said[match.end() :]
            return forms if _BESIDE.fullmatch(rest) else ()
    return ()


def _over(form: syntax.Tree, operand: syntax.Tree) -> syntax.Tree:
    return syntax.renamed(form, lambda _: operand)
