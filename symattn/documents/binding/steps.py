"""Steps: what lists and labels say was done to the block before them.

"Subtract the max: [0, -1]", "Exponentiate: [1, 0.37]", "Sum: 1.37" are steps one after another,
and so are lines that print a number for each of some words, and below "After softmax" another
for each of the same words. Their words alone say what each is: whatever its digits are, it is
what the step makes of a block before it, as printed or as computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

from symattn.documents.binding import joining, roles, values
from symattn.documents.binding.bounds import coming, interval
from symattn.documents.binding.evidence import information
from symattn.documents.binding.subjects import placed
from symattn.documents.binding.tables import columns, plain
from symattn.documents.trees import Labelled, Member, Opaque, PrintedFigure, ReadTable, Words
from symattn.expressions import syntax
from symattn.spelling import written

#: What a step makes of a block x, by its words: of several forms, one is meant. The ``mean``, the
#: ``var`` and the ``std`` of it are those that were printed, where they were.
_STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"standard deviation|std(?:[ .]?dev)?|σ", ("std(x)", "sqrt(var)")),
    (r"variance|var|σ²", ("var(x)", "mean(x)", "mean(x**2)")),
    (r"squared?(?: (?:deviation|difference)s?)?", ("x**2", "(x - mean(x))**2", "(x - mean)**2")),
    (
        r"(?:subtract\w*|minus)(?: the)? (?:mean|average)|deviations?|cent(?:er|re)d?|centering",
        ("x - mean(x)", "x - mean"),
    ),
    (r"mse|mean squared error", ("mean(x**2)",)),
    (r"rmse", ("sqrt(mean(x**2))",)),
    (r"mean|average|μ|µ", ("mean(x)",)),
    (r"range", ("max(x) - min(x)",)),
    (r"exponentia\w+|exps?|e\^x", ("exp(x)",)),
    (r"softmax(?:ed)?", ("softmax(x)", "x / sum(x)")),
    (r"divi\w+ by (?:the |its |their )?(?:sum|total)", ("x / sum(x)",)),
    (
        r"normali[sz]\w+|standardi[sz]\w+",
        ("x / sum(x)", "layernorm(x)", "(x - mean) / std", "(x - mean) / sqrt(var)"),
    ),
    (r"(?:subtract\w*|minus|shift\w*)(?: by)?(?: the)?(?: row)?(?: max\w*)?", ("x - max(x)",)),
    (r"sum\w*(?: up)?|somme|soma|total|denominator|add(?: up)?", ("sum(x)",)),
    (r"max\w*", ("max(x)",)),
)
_READ = [
    (re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.I), tuple(map(syntax.parse, forms)))
    for words, forms in _STEPS
]
#: Functions of vectors: of a matrix, they may be of its rows.
_OF_VECTORS = {"mean", "var", "std", "layernorm"}
#: What is done with an operand that follows: "Scale by sqrt(2)".
_BY = [
    (re.compile(rf"(?:{words})\s*\Z", re.I), tuple(map(syntax.parse, forms)))
    for words, forms in (
        (r"\bscal(?:e|ed|ing) by", ("x / y", "x * y")),
        (r"\bdivid(?:e|ed|ing) by|÷", ("x / y",)),
        (r"\bmultipl(?:y|ied|ying) by|×", ("x * y", "x @ y")),
    )
]
_TEMPERATURE = re.compile(r"temperatur|\bτ\b|温度", re.I)
#: Of scores, and of shares.
_TEMPERED, _SHARPENED = map(syntax.parse, ("softmax(x / y)", "softmax(log(x) / y)"))
_TEMPERATURES = ("t", "tau", "temp", "temperature")
_MASK = re.compile("mask", re.I)
_AT = re.compile(r"(?i:temp(?:erature)?(?!\w))|(?<!\w)[Tτ](?!\w)|温度")
_KINDS = frozenset({"mean", "var", "std"})
#: What a row is called by its label.
_ROW = ("",)
#: What ends a label, and how long a word is that is none by chance.
_LABELS, _WORD = re.compile(r"[:：]\s*\Z"), 3
_SOFTMAX, _SOFTMAX_OF = re.compile("softmax", re.I), syntax.parse("softmax(x)")
_PARTS_OF, _SUM_OF = map(syntax.parse, ("x / sum(x)", "sum(x)"))
#: What ends a clause, and the part of a sum that it may be off.
_CLAUSE, _SUM_OFF = re.compile(r"[.,;:!?()\n]"), 0.25
#: Words that speak of one.
_SPOKEN = re.compile("softmax|logit", re.I)
#: Words that say what it is of.
_OF = re.compile(r"\b(?:of|from|other\w*|without)\b", re.I)
#: What else its words may say.
_BESIDE = re.compile(
    r"(?:(?:step|the|all|each|every|of|by|find|compute|calculate|take|apply|applying|after|get|then"
    r"|now|next|finally|them|it|its|this|we|would|will|values?|entry|entries|elements?|scores?"
    r"|numbers?|rows?|results?|yields?|gives?|becomes?|produces?|is|are|for|from|function|numerical"
    r"|stability|everything|up|to|and|raw|logits?|weights?|attention|probabilit(?:y|ies)|two|three"
    r"|four|five|six|these|those|their|exponentials?|so|hence|thus|together|comes?|equals?)\b"
    r"|[^A-Za-z])*+",
    re.I,
)
#: A step is of one of so many blocks before it, as printed or computed; fewer steps than that in
#: a row may be none. Of a matrix, a step may be by rows or not.
_BEFORE, _FEWEST = 6, 2
#: What is done with an operand is known by more than this part of the figures.
_MOST = 0.5
_BY_ROWS = ("exp", "softmax", "layernorm")
#: What a softmax may be of, and so many decimals that tell it at least.
_SCORES = frozenset({"scores", "scaled", "masked"})
_SHARES = frozenset({"weights", "masked", "sums"})
_DECIMALS = 2
#: So many blocks are held against a softmax at most.
_TRIES = 1000
#: A line that prints a number for some words, and what may follow it.
_LABEL = (
    r"[\s\-*•|#]*(?P<label>[^\W\d][^:=|,\n]{0,40}?|\([.,!?]\))[\s*`]*(?:[:=：]|→|->)[\s*`]*[~≈]?"
    r"(?P<figure>[+-]?[0-9]+(?:\.[0-9]+)?%?)[\s*`]*"
)
_LINE = re.compile(rf"{_LABEL}(?:[(（←#].*|,\s*[^\W\d][^:=→]*)?\s*")
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
    #: The label that it has itself, as a row.
    name: str = ""
    made: syntax.Tree | None = None
    #: The parts in attention that its words name.
    roles: Set[roles.About] = frozenset()
    #: Whether a formula beside it says what it is.
    is_worked: bool = False
    #: Whether its name and that of the block before say that it is the softmax of that.
    is_told: bool = False
    #: Whether its words say that it is exponentials.
    is_exp: bool = False

    @property
    def readings(self) -> Iterator[syntax.Tree]:
        """It as printed, and as computed."""
        yield self.value
        if self.made is not None:
            yield self.made


@dataclass
class Steps:
    """Follows the blocks of an article, and what steps make of them.

    >>> steps = Steps()
    >>> steps.enter(0, "")
    >>> for words, figures in (("", "01"), ("Exponentiate:", "13")):
    ...     steps.words(Words(words, PrintedFigure("1").span))
    ...     steps.read([syntax.Array(tuple(map(PrintedFigure, figures)))])
    >>> steps.words(Words("Sum:", PrintedFigure("1").span))
    >>> steps.read([PrintedFigure("4")])
    >>> [syntax.text(step.said) for step in steps.end()]
    ['exp([0, 1])', 'sum([1, 3])', 'sum(exp([0, 1]))', 'sum([0, 1])']
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
    #: Whether it ever was.
    _is_spoken: bool = False
    #: Whether a mask was spoken of since then.
    _is_masked: bool = False
    _tries: int = 0
    #: The mean, the variance and the deviation that were printed of what steps are of.
    _known: dict[str, syntax.Tree] = field(default_factory=dict)
    #: What is done with an operand to the next block, by what was said right before.
    _by: list[syntax.Tree] = field(default_factory=list)
    #: The last block of the passage, until there are other numbers than what it is said of it.
    _beside: list[_Block] = field(default_factory=list)
    #: Whether temperatures were spoken of.
    _is_tempered: bool = False
    #: Rows of matrices by their labels.
    _rows: dict[str, syntax.Tree] = field(default_factory=dict)
    #: Exponentials of single numbers that were printed one after another.
    _powers: list[PrintedFigure] = field(default_factory=list)
    _found: list[Step] = field(default_factory=list)

    def enter(self, order: int, where: str) -> None:
        """A passage begins, behind so many chains."""
        self._order, self._where, self._is_begun = order, where, False
        self._beside = []

    def words(self, piece: Words) -> None:
        """Take words: a line of a number with its label, or what is said of what follows."""
        lines = [*_lines(piece)]
        if not lines and piece.figures:
            self._beside = []
            for figure, clause in _clauses(piece):
                if _SUM_OF in step(clause):
                    self._sum(figure)
        self._subject(piece.text)
        self._is_tempered |= bool(_TEMPERATURE.search(piece.text))
        self._is_softmax |= bool(_SOFTMAX.search(piece.text))
        self._is_spoken |= bool(_SPOKEN.search(piece.text))
        self._is_masked |= bool(_MASK.search(piece.text))
        if lines:
            for label, figure in lines:
                if step(label):
                    self._end_lines()
                    self._take(_Block(figure), label)
                else:
                    self._line(label, figure)
        elif re.search(r"[^\W\d_]|[÷×]", piece.text) and not (self._lines and self._is_begun):
            self._end_lines()
            self._words = piece.text
            self._by = self._by if self._is_begun else []
        if not lines and len(piece.figures) > _FEWEST:
            # A block, it may be, which is not read.
            self._lines.clear()
            self._end_row()
            self._recent.clear()
        self._is_begun = True

    def _subject(self, text: str) -> None:
        """Take a label in front: what follows may be said of the row that has it."""
        label = plain(text) if _LABELS.search(text) else ""
        row = self._rows.get(label)
        is_of_other = any(one.labels == _ROW for one in self._blocks) and not step(label)
        if label and (row is not None or is_of_other):
            self._end_row()
        if row is not None:
            self._blocks = [_Block(row, _ROW)]

    def table(self, table: ReadTable) -> None:
        """Take the columns of numbers of a table, each with its head and the labels of its rows."""
        self._end_lines()
        for head, labels, cells in columns(table):
            figures = tuple(one for one in cells if isinstance(one, PrintedFigure))
            if head and len(figures) == len(cells) > _FEWEST:
                self._take(_Block(syntax.Array(figures), labels), head)

    def read(self, members: Sequence[Member], is_code: bool = False) -> None:
        """Take a chain: a line with its label, a block with what its words say, or something
        that ends a list of steps, as all code is that gives no array to a name."""
        self._read(members, is_code)
        match members:
            case (head, PrintedFigure() as figure) if _is_of(head, "exp") and not is_code:
                self._powers.append(figure)
            case (*_, value) if values.is_value(value):
                self._powers = []

    def _read(self, members: Sequence[Member], is_code: bool) -> None:
        self._order += 1
        self._is_begun = True
        if not (
            len(members) == 2 and isinstance(members[0], syntax.Name) and step(members[0].name)
        ):
            self._beside = []
        match members:
            case (syntax.Name(name), *_):
                self._is_spoken |= bool(_SPOKEN.search(name))
        for one in members:
            if isinstance(one, Labelled):
                self._rows |= zip(map(plain, one.rows_said), one.items, strict=False)
        is_block = len(members) == 2 and bool(values.shape(members[1]))
        match members:
            case (syntax.Name(name), PrintedFigure() as figure) if is_code and _SUM_OF in step(
                name
            ):
                self._sum(figure)
        if is_code and not is_block:
            self._end_lines()
            self._end_row()
            self._recent.clear()
            self._is_softmax |= any(map(_is_softmax, members))
            return
        if isinstance(members[0], syntax.Array) and not any(map(values.is_numeric, members[1:])):
            # An arrow behind it says what it shows.
            members = members[:1]
        value, said = members[-1], self._words
        for words, forms in _BY:
            if words.search(said):
                is_whole = len(members) > 1 and bool(values.shape(value))
                operands = [x for x in members[: -is_whole or None] if not isinstance(x, Opaque)]
                self._by = [put(form, {"y": y}) for form, y in product(forms, operands)]
                self._words = said = f"{said} that"
                if not is_whole:
                    return
        is_step = bool(step(said))
        match members:
            case (syntax.Name(name), PrintedFigure() as figure) if (
                self._is_tempered and name.lower() in _TEMPERATURES
            ):
                self._by = [put(_TEMPERED, {"y": figure}), put(_SHARPENED, {"y": figure})]
                return
            case (syntax.Name(name), PrintedFigure() as figure) if not (is_step or step(name)):
                self._line(name, figure)
                return
            case (syntax.Name(name), _) if not is_step or step(name):
                said = f"{said} {name.replace('_', ' ')}" if len(said) < len(name) else name
        self._end_lines()
        is_formula = not isinstance(members[0], syntax.Name | syntax.Array | PrintedFigure)
        if again := self._again(value):
            # "Before: [1, 2]" repeats what a step is of: the words are of what follows.
            said, is_step = "", False
        elif len(members) > 1 or values.is_value(value):
            self._words = ""
        if values.is_value(value) and (len(members) < 3 or is_step):
            roles = again.roles if again else frozenset()
            match members[0]:
                case syntax.Name(name) if values.shape(value) and not (step(name) or _roles(name)):
                    block = _Block(value, name=name, roles=roles)
                case _:
                    block = _Block(value, is_worked=is_formula, roles=roles)
            self._take(block, said)
        elif not values.is_numeric(value):
            self._end_row()
            self._is_softmax |= any(map(_is_softmax, members))
            if isinstance(value, syntax.Name) and len(members) == 1:
                self._words = value.name
            elif isinstance(value, syntax.Binary) and value.op == "/":
                # What is divided is called the same: "logits / T: [2, 1]".
                self._words = syntax.text(value.left)

    def _again(self, value: Member) -> _Block | None:
        """The block before that is printed again."""
        if not (values.is_value(value) and values.shape(value)):
            return None
        recent = ((values.printed(one.value), one) for one in self._recent[: -_BEFORE - 1 : -1])
        return next((one for shown, one in recent if shown == values.printed(value)), None)

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
        self._row, self._blocks, self._known = [], [], {}

    def _take(self, block: _Block, said: str) -> None:
        """Take a block that words call what a step makes of one before it, or the first of some."""
        like = [
            one
            for one in self._recent
            if one.labels == block.labels != () or one.name == block.name != ""
        ][-1:]
        before = like or self._recent[-1:]
        rows: Sequence[syntax.Tree] = ()
        if (
            before
            and len(values.shape(before[0].value)) == 2
            and len(values.shape(block.value)) == 1
        ):
            # A row may be of one of a matrix: that of its label, the only one whose order it keeps.
            rows, said = _rows_said(before[0].value, said)
        forms = step(said)
        if _SUM_OF in forms and isinstance(block.value, PrintedFigure):
            self._sum(block.value)
        block = replace(block, roles=_roles(said) or block.roles)
        if rows:
            of_row = [replace(before[0], value=row) for row in rows]
            before = [one for one in of_row if self._is_softmax_of(one, block, said)]
            before = before if len(before) == 1 else []
        if self._are_shares_of(block, before):
            # "Raw scores: [2, 8], Attention scores: [0.1, 0.9]" are a softmax.
            block = replace(block, roles={"weights"}, is_told=True)
            forms = forms or (_SOFTMAX_OF,)
        elif not forms and before and before[0].is_exp and _are_named_shares(block):
            # "Exponentials: [7.4, 2.7], weights: [0.73, 0.27]" are divided by their sum.
            forms, like = (_PARTS_OF,), before
        is_softmax = any(map(_is_softmax, forms)) if forms else self._is_softmax
        by, self._by = self._by if before else [], []
        is_tempered = bool(by) and _is_softmax(by[0])
        before = self._recent[: -_BEFORE - 1 : -1] if by else before
        if is_tempered:
            # Others follow of the same scores, or of others before these; or of the first shares.
            like = [x for x in before if values.shape(x.value) == values.shape(block.value)]
            scores = [one for one in before if not joining.has_shares(one.value)]
            by, before = (by[:1], scores) if scores else (by[1:] if like else [], like[-1:])
            is_tempered = bool(by)
        if is_tempered and not all(
            self._is_softmax_of(one, block, said, by[0]) for one in before[:1]
        ):
            if joining.has_shares(block.value):
                return
            by = []
        if by:
            steps = self._steps(by, before, block)
            self._found += steps if is_tempered or any(map(_is_mostly, steps)) else ()
            if is_tempered:
                return
        elif self._is_tempered and _AT.search(said):
            return
        elif is_softmax and any(self._is_softmax_of(one, block, said) for one in before):
            steps = self._steps((_SOFTMAX_OF,), before, block)
            self._found += steps
        elif forms and like and not is_softmax:
            steps = self._steps(forms, like, block)
            self._found += steps
        elif forms and self._beside and not is_softmax and not values.shape(block.value):
            steps = self._steps(forms, self._beside, block)
            self._found += steps
        elif forms and self._blocks:
            steps = self._steps(forms, self._blocks[: -_BEFORE - 1 : -1], block)
            self._row.append(steps)
        else:
            self._end_row()
            steps = []
        is_exp = any(_is_of(form, "exp") for form in forms)
        made = replace(block, made=steps[0].said if steps else None, is_exp=is_exp)
        match forms:
            case (syntax.Call(("mean" | "var" | "std") as name), *_) if not block.labels:
                self._known[name] = block.value
        if values.shape(block.value):
            self._blocks.append(made)
            self._beside = [made]
            self._recent.append(made)
            self._is_masked = False
            self._is_softmax &= not (is_softmax and steps)

    def _sum(self, figure: PrintedFigure) -> None:
        """Take a number that is called a sum: it may be that of the exponentials before it."""
        ends = [interval(one.text) for one in (figure, *self._powers)]
        known = [sum(one) / 2 for one in ends if one is not None]
        if not _FEWEST < len(known) == len(ends):
            return
        if abs(known[0] - sum(known[1:])) <= _SUM_OFF * sum(known[1:]):
            said = put(_SUM_OF, {"x": syntax.Array(tuple(self._powers))})
            self._found.append(Step(self._order, said, figure, self._where))
            self._powers = []

    def _are_shares_of(self, block: _Block, before: Sequence[_Block]) -> bool:
        """Return whether a block of shares has the name of weights or of scores, right behind one
        of scores that are none, in an article that speaks of softmax."""
        return (
            self._is_spoken
            and bool(before and before[0].roles)
            and before[0].roles <= _SCORES
            and _are_named_shares(block, "scores")
            and not joining.has_shares(before[0].value)
        )

    def _is_softmax_of(
        self, before: _Block, block: _Block, said: str, form: syntax.Tree | None = None
    ) -> bool:
        """Return whether a block can only be the softmax of one before, or that ``form`` of it, by
        what they are called and by what it keeps of it whatever its digits are: scores may have
        been scaled or masked in silence."""
        self._tries += 1
        is_said = bool(step(said)) or form is not None or block.is_told
        softmax = put(form or _SOFTMAX_OF, {"x": before.value})
        is_called = is_said or bool(block.roles or (before.roles and not _OF.search(said)))
        return (
            is_called
            and self._tries < _TRIES
            and not block.is_worked
            and not (self._is_masked and all(x.strip("0.%") for x in values.texts(block.value)))
            and before.roles <= (_SCORES if form is None else _SCORES | _SHARES)
            and block.roles <= _SHARES
            and values.shape(before.value) == values.shape(block.value) != ()
            and max(map(_decimals, values.texts(block.value))) >= _DECIMALS
            and joining.is_softmax(
                softmax, before.value, block.value, is_said and "scaled" in before.roles, is_said
            )
        )

    def _steps(
        self, forms: Sequence[syntax.Tree], operands: Sequence[_Block], block: _Block
    ) -> list[Step]:
        size = len(values.shape(block.value))
        trees = [tree for operand in operands for tree in operand.readings]
        pairs = [*product(trees, forms)]
        if any(map(_is_of_vectors, forms)):
            # Statistics are of what was given first; a mean of 0, a variance of 1 are about so.
            is_telling = max(map(information, values.texts(block.value))) > 1
            pairs = [(tree, form) for form, tree in product(forms, trees[::-1]) if is_telling]
        return [
            Step(self._order, said, block.value, self._where)
            for tree, form in pairs
            if (size < 2 or is_by_rows(form))
            and (len(values.shape(tree)) < 2 or not _is_of_vectors(form))
            and (said := self._over(form, tree)) is not None
        ]

    def _over(self, form: syntax.Tree, operand: syntax.Tree) -> syntax.Tree | None:
        """A form of an operand, and of what was printed of it; None where that wasn't."""
        known = {**self._known, "x": operand}
        return put(form, known) if known.keys() >= {*syntax.names(form)} & _KINDS else None


def _are_named_shares(block: _Block, *others: roles.About) -> bool:
    """Return whether a block is shares by its figures, and by its name weights or something else
    that these are called."""
    is_named = bool(block.roles) and block.roles <= _SHARES.union(others)
    return is_named and joining.has_shares(block.value)


def _clauses(piece: Words) -> Iterator[tuple[PrintedFigure, str]]:
    """The numbers among words, each with the clause that goes on to it."""
    begin = 0
    for one in placed(piece):
        yield one.figure, _CLAUSE.split(piece.text[begin : one.start])[-1]
        begin = one.end


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
    *_, last = said.rstrip(": ").split() or [""]
    named = roles.named(last) if last.isidentifier() else None
    spoken = roles.spoken(_SOFTMAX.sub("", said))
    return {one.role for one in spoken} | ({named} if named else set())


def _is_of(member: Member, function: str) -> bool:
    match member:
        case syntax.Call(name) | syntax.Name(name):
            return name.lower() == function
    return False


def _is_softmax(member: Member) -> bool:
    return _is_of(member, "softmax")


def _rows_said(matrix: syntax.Tree, said: str) -> tuple[Sequence[syntax.Tree], str]:
    """Return the rows of a matrix that words may be of, the one with a label that they say, and
    the words without it."""
    rows = syntax.inside(matrix)
    labels = [plain(label) for label in getattr(matrix, "rows_said", ())]
    found = [
        (row, match)
        for row, label in zip(rows, labels, strict=False)
        if label and (match := re.search(rf"(?<!\w){re.escape(label)}(?!\w)", said, re.I))
    ]
    if len(found) != 1 or (len(found[0][1][0]) < _WORD and plain(said) != found[0][1][0]):
        return rows, said
    ((row, match),) = found
    return [row], said[: match.start()] + said[match.end() :]


def put(form: syntax.Tree, operands: Mapping[str, syntax.Tree]) -> syntax.Tree:
    """A form with operands for its names, as far as there are some."""
    return syntax.renamed(form, lambda name: operands.get(name, syntax.Name(name)))


def _is_mostly(step: Step) -> bool:
    """Return whether most figures come of what is said, where that is all in numbers."""
    came = coming(step.said, step.value) if values.is_closed(step.said) else None
    return came is not None and bool(came.mean() > _MOST)


def is_by_rows(form: syntax.Tree) -> bool:
    """Return whether of a matrix it is what it is of each row."""
    calls = (one for one in syntax.walk(form) if isinstance(one, syntax.Call))
    return all(one.function in _BY_ROWS or "x" not in syntax.names(one) for one in calls)


def _is_of_vectors(form: syntax.Tree) -> bool:
    """Return whether of a matrix it may be meant by rows."""
    return any(
        isinstance(part, syntax.Call) and part.function in _OF_VECTORS for part in syntax.walk(form)
    ) or not _KINDS.isdisjoint(syntax.names(form))


def step(said: str) -> Sequence[syntax.Tree]:
    """The forms of what words say is done to a block x, if that is a step and all they say."""
    for pattern, forms in _READ:
        if (match := pattern.search(said)) is not None:
            rest = said[: match.start()] + said[match.end() :]
            return forms if _BESIDE.fullmatch(rest) else ()
    return ()
