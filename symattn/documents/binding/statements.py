"""Statements: equations of an article over what it prints of their operands.

``S_scaled = S / sqrt(2) = [...]`` states something of figures. Where every operand is printed,
given or itself stated, it is closed: true or false as printed, whatever its figures may be
besides. Notation alone says what stands there. A customary reading is each that the notation
allows: of a product of vectors, of a softmax by rows or by columns, of an index from 0 or 1;
and of an operand what is printed of it, or what it is said to be computed as: where it is wrong
in itself, what follows from it may be right.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import islice, product
from types import MappingProxyType
from typing import TypeGuard

from symattn.documents.binding import joining, roles, values, workings
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.copies import Copies, Exact, Result, Source
from symattn.documents.binding.definitions import by_letters
from symattn.documents.binding.evidence import information, is_bare
from symattn.documents.binding.ledger import Entry, Ledger
from symattn.documents.binding.names import is_count, is_size
from symattn.documents.binding.readings import (
    OF_TWO,
    called,
    entry_of,
    fitted,
    has_forms,
    operations,
    over,
    raised,
    rank,
    shape_of,
)
from symattn.documents.binding.stated import (
    OPERANDS,
    Corrections,
    StatedBlock,
    Statement,
    begin,
    begins,
    is_telling,
    numbers,
    size,
)
from symattn.documents.binding.steps import Steps, is_by_rows, put, step
from symattn.documents.binding.tables import Columns, inputs, of_rows
from symattn.documents.notation.vocabulary import THOUSANDS
from symattn.documents.outputs import Runs
from symattn.documents.reading import Claimed
from symattn.documents.text import Span
from symattn.documents.trees import (
    Chain,
    Labelled,
    Link,
    Member,
    Named,
    Opaque,
    PrintedFigure,
    ReadTable,
    Words,
    of_table,
)
from symattn.expressions import syntax
from symattn.expressions.shapes import Nested, rows_of
from symattn.limits import CLOSED
from symattn.numbers.balls import Exhausted, charge, task
from symattn.numbers.rationals import MINUS_INFINITY
from symattn.programs.operands import ExactNumber
from symattn.spelling import written

#: Of one expression no more readings are taken, of a name no more of its last meanings, and names
#: are unfolded no deeper: work is bounded, whatever an article defines by what.
_READINGS, _MEANINGS, _DEEPEST = 32, 4, 4
#: What is only proposed is borne out by more bits of the figures that come.
_BORNE_OUT = 6.0
#: Numbers with so many decimals were seldom chosen.
_FINE = 3
#: What has more figures is not closed over.
_FIGURES = 1024
#: The names of an entry or a row by its number.
_ROW = re.compile(r"([A-Za-z]+?)_?([0-9]{1,2})")
#: A name alone, and one that begins a title of rows.
_CALLED = re.compile(r"\W*([A-Za-z]\w{0,3})\W*")
_TITLE = re.compile(r"\W*([A-Z])\b[^:=]*:?\s*\Z")
#: The parts in attention that are results, which words and names may call the same; names of
#: words; names with the number of a row or of a head.
_RESULTS = ("query", "key", "value", "scores", "scaled", "masked", "weights", "output")
_LETTERS = {"S": "scores", "P": "weights", "O": "output"}
_WORD, _NUMBERED = re.compile(r"[A-Za-z_]{3,}"), re.compile(r"[0-9]|_[a-z]\Z")
_SOFTMAX = re.compile(r"(?:\w+\s*=\s*)?(?:[\w.]+\.)?softmax\(([^(),]*)(?:,[^()]*)?\)", re.I)
#: What parts in attention are of each other, where an article that names them doesn't say so.
_OF_SCORES = ("query @ key.T", "query @ key.T / sqrt(d_k)")
_USUALLY: Mapping[str, Sequence[syntax.Tree]] = {
    role: [*map(syntax.parse, forms)]
    for role, forms in {
        "scores": _OF_SCORES,
        "scaled": (_OF_SCORES[1], "scores / sqrt(d_k)"),
        "weights": ("softmax(masked)", "softmax(scaled)", "softmax(scores)"),
        "output": ("weights @ value",),
    }.items()
}
#: A label of so many characters says what a block is, and its words beside that no more.
_LABEL = 60
_NEUTRAL = re.compile(
    r"(?:(?:the|our|final|step|matrix|result|so|now|then|this|is|are|becomes?|gives?|get|we|comput\w+"
    r"|row-?wise|(?:per|by|(?:for|of|over|to) each|along) rows?)\b"
    r"|[^A-Za-z])*+",
    re.I,
)
#: What is spoken of follows, and what scores are divided by.
_OF = re.compile(r"\b(?:of|from|for)\W*\Z", re.I)
_DIVIDED = re.compile(r"\b(?:scal|scor)\w+\b.*\bdivid\w+ by\W*\Z", re.I | re.S)
#: Words that say that figures are not what a formula beside them says.
_OTHERWISE = re.compile(
    r"\b(?:without|before|unscaled|unmasked|instead|mask\w*|causal\w*|ohne|vor|sans|avant"
    r"|sin (?:el|la)|antes)\b",
    re.I,
)
#: Words above pairs of whole numbers that are no values: "Shapes:", and then "V: (3, 4)".
_AXES = 4
_SIZES = re.compile(r"\b(?:shape|size|dim(?:ension)?)s?\b|形状|尺寸|维度", re.I)
#: Words of a comment that say that it has the result of the statement before it.
_RESULT = re.compile(
    r"\W*(?:(?:the|results?|outputs?|gives?|returns?|prints?|becomes?|value|now|is|are|approx"
    r"(?:imately)?)\b\W*)*+",
    re.I,
)
#: Signs between operands.
_OPERATORS = tuple("*+/=^×·⋅")
#: Matrices whose columns the size of a key counts.
_KEYS = ("K", "k", "Q", "q", "W_K", "W_k")


@dataclass(frozen=True)
class _Meaning:
    """A name's meaning from a chain on: a printed value, an expression, or neither known;
    ``is_label`` where a colon stands behind it."""

    order: int
    value: syntax.Tree | None = None
    tree: syntax.Tree | None = None
    is_label: bool = False
    is_code: bool = False
    #: The name, or what words call it.
    said: syntax.Tree | None = None
    section: int = 0


@dataclass(frozen=True)
class _Stated:
    """Figures, and what is said of them in a chain."""

    order: int
    said: syntax.Tree
    value: syntax.Tree
    where: str
    is_code: bool = False
    section: int = 0
    #: Whether it is given to a name that was computed: it may be what came of it.
    is_anew: bool = False


@dataclass
class Statements:
    """Collects what an article states, chain by chain, and closes it."""

    _source: str = ""
    #: What it says that its programs print.
    runs: Runs = field(default_factory=Runs)
    #: Matrices whose rows are printed one by one, by where the last begins.
    rows: Mapping[int, syntax.Array] = field(default_factory=dict)
    _order: int = 0
    _meanings: dict[str, list[_Meaning]] = field(default_factory=lambda: defaultdict(list))
    #: What was printed of expressions, each with its place among the chains.
    _formulas: dict[syntax.Tree, list[tuple[int, syntax.Tree]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _stated: list[_Stated] = field(default_factory=list)
    #: Expressions, each with the numbers that it is worked out with.
    _workings: list[_Stated] = field(default_factory=list)
    #: The labels of rows by their numbers, and the rows.
    _tokens: dict[str, int] = field(default_factory=dict)
    _rows: list[syntax.Tree] = field(default_factory=list)
    #: What code shows, and the outputs behind it, each with its place among the chains.
    _shown: list[tuple[str, syntax.Tree | None]] = field(default_factory=list)
    _outputs: list[tuple[str, int, syntax.Tree, str]] = field(default_factory=list)
    _words: str = ""
    _above: str = ""
    _kind: str = ""
    _is_program: bool = False
    #: What the last statement of code assigns to: a comment may say its value.
    _assigned: syntax.Tree | None = None
    #: The name that words before rows with labels give the matrix of these.
    _title: str = ""
    _steps: Steps = field(default_factory=Steps)
    _columns: Columns = field(default_factory=Columns)
    #: Arrays by what they print, where that tells them from others.
    _arrays: dict[Nested[str], syntax.Tree] = field(default_factory=dict)
    #: Where sections begin, and which is closed.
    _headings: list[int] = field(default_factory=list)
    _section: int = 0
    #: Whether the words right before go on in a formula that was not read as one.
    _is_broken: bool = False
    #: Whether a sentence has a formula.
    _is_formula: bool = False
    #: Whether what is announced are shapes.
    _are_sizes: bool = False
    #: The formula that a heading or a label gives of the next block, and the part that it is.
    _announced: tuple[syntax.Tree, str] | None = None
    #: How much was stated before the last chain.
    _before_last: int = 0
    #: Whether the article has ended: who reads it again has nothing to add.
    is_ended: bool = False
    #: Whether work was too much to close all.
    is_cut: bool = False
    #: The readings of names, by where these stand.
    _closings: dict[tuple[str, int, bool, int], list[syntax.Tree]] = field(default_factory=dict)

    def enter(self, where: str) -> None:
        """A passage begins: until it has words of its own those before it stand for them."""
        has_words = any(map(str.isalpha, self._words))
        self._above, self._words = self._words if has_words else self._above, ""
        # "With H = softmax(2 S) the weights become" speaks of H.
        self._above, self._is_formula = "" if self._is_formula else self._above, False
        self._steps.enter(self._order, where)

    def words(self, piece: Words, kind: str) -> None:
        """Take words: they may be a part of a chain beside them, or say that it is none."""
        if self.is_ended:
            return
        text = piece.text
        if kind == "heading":
            self._headings.append(piece.span.start)
        if kind == "heading" or text.rstrip().endswith((":", "：")):
            self._are_sizes = bool(_SIZES.search(text))
        self._steps.words(piece)
        self._is_program = self._is_program and kind == "code"
        said = text.strip(" *_`\n")
        has_words = any(map(str.isalpha, said))
        if has_words and kind != "heading":
            self._announced = None
        # "Scores (Q K^T):" has its colon behind the formula.
        self._words = said if has_words or said[-1:] not in (":", "：") else f"{self._words}{said}"
        if text.lstrip()[:1] in _OPERATORS and kind != "heading":
            del self._stated[self._before_last :]
        self._is_broken = text.rstrip()[-1:] in _OPERATORS
        if match := _TITLE.match(text):
            self._title, self._rows = match[1], []

    def table(self, table: ReadTable, where: str) -> None:
        """Take a table, before what stands in its cells: as a matrix, if it may be one."""
        if self.is_ended:
            return
        self._columns.table(table, self._order)
        for head, _, matrix in inputs(table):
            if match := _CALLED.fullmatch(head):
                chain = Chain((Named(match[1]), matrix), ("=",), (table.span, table.span))
                self._read(chain, "prose", where)
        self._order, self._kind = self._order + 1, "table"
        for label, beside, formula, cell in of_rows(table):
            if not isinstance(formula, Opaque) and _is_formula(formula):
                # It is of the cells beside it, and of the rows that have its label elsewhere.
                said = self._of_row(formula, label, beside)
                if said != formula:
                    self._state(said, cell, where)
        whole = of_table(table)
        if whole is None or not _is_matrix(whole):
            self._steps.table(table)
            return
        match = _CALLED.fullmatch(self._words or self._above)
        if match and match[1] in self._meanings:
            chain = Chain((Named(match[1]), whole), ("=",), (whole.span, whole.span))
        else:
            chain = Chain((whole,), (), (whole.span,))
        self._read(chain, "prose", where)

    def read(self, chain: Chain, kind: str, where: str) -> None:
        """Take a chain of a passage of that kind, unless all have been closed."""
        if not self.is_ended:
            for part in _apart(chain):
                self._read(part, kind, where)
            if whole := self.rows.get(chain.span.start):
                # Steps have had its rows.
                self._order += 1
                self._alone(whole, Chain((whole,), (), (chain.span,)), "prose", where)
                self._note(whole)

    def _read(self, chain: Chain, kind: str, where: str) -> None:
        self._order += 1
        self._before_last = len(self._stated)
        is_broken, self._is_broken = self._is_broken, False
        if self._kind == "output" and kind != "output":
            self._pair()
        self._is_program = kind == "code" and (chain.is_code or self._is_program)
        self._kind = kind
        members = [_understood(values.signed(one)) for one in chain.members]
        if self._words and not chain.is_code and isinstance(members[0], syntax.Name):
            # "Scaled scores" is one name.
            members[0] = _label(f"{self._words} {members[0].name}") or members[0]
        line = self._source.rfind("\n", 0, chain.span.start) + 1
        is_comment = (
            self._is_program and not chain.is_code and "#" in self._source[line : chain.span.start]
        )
        if is_comment and chain.links == (":",) and _is_result(members[0]):
            del members[:-1]
        head, *rest = members
        if kind in ("heading", "prose") and not chain.is_code:
            self._is_formula |= any(map(_is_formula, rest))
            self._announce(members)
        self._steps.read(members, chain.is_code)
        if is_broken or (_is_pair(members[-1]) and self._is_shape(members[-1], chain)):
            return
        if not rest:
            self._alone(head, chain, kind, where)
        self._note(members[-1])
        if not rest:
            return
        if kind == "output" and self._shown:
            if values.is_value(rest[-1]):
                self._outputs.append((self._words, self._order, rest[-1], where))
        elif not chain.is_code:
            self._equal(members, chain.links, where)
        if is_comment:
            if head == self._assigned and values.is_value(rest[-1]):
                # A comment says the value of what a program assigned.
                last = self._meanings[_key(head)][-1]
                self._mean(head, replace(last, order=self._order, value=rest[-1]))
            # What stands behind it is of something else.
            self._assigned = None
        is_letters = isinstance(head, syntax.Cell)
        if (
            (_is_name(head) or is_letters)
            and not is_comment
            and not (kind == "output" and self._shown)
        ):
            self._define(head, rest, chain, kind, where)
        elif not chain.is_code:
            if not isinstance(head, Opaque) and values.is_value(rest[-1]):
                self._formulas[head].append((self._order, rest[-1]))
            self._label(rest[-1], head)
        if isinstance(head, syntax.Array) and values.is_value(rest[-1]):
            # [x_0, x_1] = [1, 2] says what the names are.
            for name, value in zip(head.items, values.leaves(rest[-1]), strict=False):
                if _is_name(name):
                    self._meanings[_key(name)].append(_Meaning(self._order, value))

    def _note(self, value: Member) -> None:
        """Note an array and its rows: they may be printed again."""
        if not values.is_value(value):
            return
        self._columns.matrix(value, self._order)
        for array in (value, *syntax.inside(value)):
            if isinstance(array, syntax.Array) and is_telling(array):
                self._arrays.setdefault(values.printed(array), array)

    def _is_shape(self, pair: Member, chain: Chain) -> bool:
        """Return whether a pair is a shape by the words before it, or as it stands in parentheses
        behind a colon."""
        words = self._words + self._above
        is_announced = self._words.endswith((":", "：")) or ":" in chain.links[-1:]
        start = chain.spans[-1].start
        return (
            self._are_sizes
            or bool(_SIZES.search(words))
            or (
                is_announced
                and isinstance(pair, syntax.Array)
                and self._source[start : start + 1] == "("
            )
        )

    def _equal(self, members: Sequence[Member], links: Sequence[Link], where: str) -> None:
        """Take the members of a chain: each says of the values behind it what they are, and of the
        numbers in a working what they stand for."""
        for k, value in enumerate(members):
            match members[max(k - 2, 0) : k + 1], links[max(k - 2, 0) : k]:
                case (before, syntax.Name(name), _), ("→", "→") if values.is_value(
                    before
                ) and values.is_value(value):
                    # [2, 1] → softmax → [0.73, 0.27]
                    for form in step(name):
                        self._state(put(form, {"x": before}), value, where)
            for j, said in enumerate(members[:k]):
                is_own = self._is_program and said == self._assigned
                if not _is_formula(said):
                    # What is not read may say something else of the name.
                    is_clear = not any(isinstance(one, Opaque) for one in members[:k])
                    is_said = is_clear and (is_own or not self._is_program)
                else:
                    # What an arrow leads to is worked out, or another array beside the first.
                    is_said = "→" not in links[j:k] or (
                        j == k - 1 and values.is_closed(said) and not isinstance(said, syntax.Array)
                    )
                if is_said and values.is_value(value):
                    self._state(said, value, where, is_own)
                elif (
                    is_said
                    and not isinstance(said, Opaque)
                    and values.is_numeric(value)
                    and (j == k - 1 or not values.is_closed(said))
                ):
                    section = len(self._headings)
                    self._workings.append(_Stated(self._order, said, value, where, False, section))

    def _alone(self, member: Member, chain: Chain, kind: str, where: str) -> None:
        """Take a chain of one member: what is shown or spoken of, or a block."""
        if chain.is_code:
            # A comment behind it says what it shows.
            self._assigned = member if _is_name(member) else None
        if isinstance(member, Opaque):
            if chain.is_code:
                self._shown.append((self._words, None))
        elif not values.is_value(member):
            if chain.is_code:
                self._shown.append((self._words, member))
        elif chain.is_code:
            return
        elif self._is_program and self._assigned is not None and _RESULT.fullmatch(self._words):
            self._state(self._assigned, member, where, is_code=True)
            self._assigned = None
        elif kind == "output" and self._shown:
            self._outputs.append((self._words, self._order, member, where))
        elif again := self._arrays.get(values.printed(member)):
            self._stated.append(_Stated(self._order, again, member, where))
        else:
            if self._announced and values.shape(member):
                formula, said = self._announced[0], syntax.Name(self._announced[1])
                self._state(formula, member, where)
                self._state(said, member, where)
                meaning = _Meaning(self._order, member, is_label=True, said=said)
                self._meanings[said.name].append(meaning)
                self._announced = None
            elif label := self._label(member):
                self._state(label, member, where)

    def _announce(self, members: Sequence[Member]) -> None:
        """Take the formula, or the divisor, that a heading or a label gives of what it calls a part
        in attention, for that of the next block."""
        spoken = {str(one.role) for one in roles.spoken(self._words) if one.role in _RESULTS}
        if isinstance(members[0], syntax.Name):
            spoken = spoken.union({_role(members[0])} - {""})
        formula = members[-1]
        if _OF.search(self._words):
            return
        if _DIVIDED.search(self._words) and not isinstance(members[0], Opaque):
            formula = syntax.Binary("/", syntax.Name("scores"), members[0])
        if len(spoken) != 1 or isinstance(formula, Opaque) or values.is_numeric(formula):
            return
        if _is_formula(formula):
            self._announced = formula, spoken.pop()

    def _label(self, value: Member, said: Member | None = None) -> syntax.Name | None:
        """Return what the words right before a block, or its formula, call it: "Attention
        weights:"; and take it for that from here on."""
        role = "" if said is None or isinstance(said, Opaque) else _role(said)
        label = _label(role or self._words or self._above)
        if label is None or not (values.is_value(value) and values.shape(value)):
            return None
        self._meanings[label.name].append(_Meaning(self._order, value, is_label=True, said=label))
        return label

    def _define(
        self, head: Member, rest: Sequence[Member], chain: Chain, kind: str, where: str
    ) -> None:
        if (made := by_letters(head, rest[0])) is not None:
            # S_ij = q_i k_j defines S.
            head, rest = syntax.Name(made[0]), [made[1], *rest[1:]]
        if not _is_name(head):
            return
        results = [one for one in rest if values.is_value(one)]
        # Numbers that are worked out are those of one place, and define nothing; in code they do,
        # and in an array that no value follows.
        trees = [
            one
            for one in rest
            if _is_formula(one)
            and (
                chain.is_code
                or not values.is_closed(one)
                or (isinstance(one, syntax.Array) and not results)
            )
        ]
        value = results[-1] if results else None
        if value is not None and chain.is_code and kind == "code" and not trees:
            section = len(self._headings)
            self._stated.append(_Stated(self._order, head, value, where, True, section, True))
            value = syntax.replaced(value, _exact)
        names = [one for one in rest if _is_name(one)]
        if len(names) == len(rest):
            # "Q = K = V = X" says of each what it is.
            trees = [*names[-1:]]
            section = len(self._headings)
            for name in names[:-1]:
                self._mean(name, _Meaning(self._order, tree=names[-1], said=name, section=section))
        tree = None if not trees or isinstance(trees[0], Opaque) else trees[0]
        is_label = chain.links[0] == ":"
        self._mean(
            head,
            _Meaning(self._order, value, tree, is_label, chain.is_code, head, len(self._headings)),
        )
        self._assigned = head if chain.is_code else None
        if is_label and value is not None and self._title:
            self._row(head, value)

    def _mean(self, head: syntax.Tree, meaning: _Meaning) -> None:
        """Take what a name, and the part that it says it has in attention, means from here on."""
        for key in dict.fromkeys((_key(head), _role(head))):
            if key:
                self._meanings[key].append(meaning)

    def _row(self, head: syntax.Tree, value: syntax.Tree) -> None:
        """Take a row with its label, of the matrix that the words before name."""
        if self._rows and values.shape(self._rows[0]) != values.shape(value):
            self._title = ""
            return
        self._tokens.setdefault(_key(head), len(self._rows))
        self._rows.append(value)
        whole = _Meaning(self._order, syntax.Array(tuple(self._rows)))
        known = self._meanings[self._title]
        if len(self._rows) > 1 and known and known[-1].value is not None:
            known.pop()
        known.append(whole)

    def _pair(self) -> None:
        """Outputs with what the code before them shows, if there are as many, behind the same
        words."""
        pairs = [*zip(self._outputs, self._shown, strict=False)]
        labels = {label for label, *_ in self._outputs} - {""}
        if len(self._outputs) == len(self._shown) and all(
            label == words or words not in labels for (label, *_), (words, _) in pairs
        ):
            for (_, order, value, where), (_, shown) in pairs:
                if shown is not None and not values.is_value(shown):
                    self._stated.append(_Stated(order, shown, value, where, True))
        self._outputs.clear()
        self._shown.clear()

    def _state(self, said: Member, value: syntax.Tree, where: str, is_code: bool = False) -> None:
        if values.is_value(said) or (not is_code and _OTHERWISE.search(self._words or self._above)):
            return
        is_names = isinstance(said, syntax.Array) and all(map(_is_name, said.items))
        if not isinstance(said, Opaque) and not is_names:
            # Each row of a table may be of another example.
            section = -1 if self._kind == "table" else len(self._headings)
            self._stated.append(_Stated(self._order, said, value, where, is_code, section))

    # -- what does not come out ------------------------------------------------------------------

    def claims(self, ledger: Ledger, entries: list[Entry]) -> Iterator[Claimed]:
        """The closed statements whose figures no reading gives, and those that are all that is
        known of figures that hold; they stand in place of doubtful ``entries``."""
        blocks, sources = self._close(ledger, entries)
        corrections = Corrections(sources)
        wrong = set(_wrong(ledger, entries))
        worked = {
            start
            for one in entries
            # Numbers of an array are seldom read amiss.
            if one.key == "as_printed" and not (one.doubt and isinstance(one.value, syntax.Array))
            for start in begins(one.value)
        }
        sure = {
            start
            for one in entries
            if one.key == "of" and not one.doubt
            for start in begins(one.value)
        }
        named = {x for one in entries if one.is_named for x in begins(one.value)} & sure
        right = Exact(sources, sure - wrong)
        for block in blocks:
            assert block.best is not None
            known, begun = ledger.held(block.statements[0].value), begins(block.statements[0].value)
            is_part = known is None and named.issuperset(begun)
            # Of what is surely known a part is as well.
            claims = [] if is_part or block.is_known(known, worked) else [*block.claims(right)]
            is_told = not wrong.isdisjoint(begins(block.best[1]))
            if is_told:
                # What it is computed from is wrong, and that is told there.
                claims = []
            elif not is_part and (known is None or known.agreement.share < 1):
                corrections.correct(block, {one.span for one in claims if one.doubt})
            follows = [*corrections.following(block)]
            claims = follows or claims
            pairs = zip(begins(block.statements[0].value), block.best[3], strict=True)
            right.add(start for start, comes in pairs if comes and not claims)
            if claims and known is not None:
                for start in _otherwise(ledger, known, block.come_to):
                    ledger.coverage.restate(start)
            for claim in claims:
                assert claim.spans is not None
                rows: Sequence[Sequence[Span]] = rows_of(claim.spans)
                places = {span for row in rows for span in row}
                ledger.settle(places)
                if isinstance(claim.spans, Span) and not claim.doubt and not follows:
                    ledger.coverage.restate(claim.spans.start)
                entries[:] = [y for x in entries for y in _without(x, places, bool(follows))]
                yield claim
        doubted = {start for one in entries if one.doubt for start in begins(one.value)}
        for number in ledger.coverage.numbers():
            is_percent = number.status == "ignored" and number.text.endswith("%")
            is_open = number.of.partition("[")[0] in ledger.recipe.given
            is_open = is_open or number.span.start in doubted or is_percent
            if is_open or number.status in ("unread", "given", "local"):
                for claim in corrections.copied(number):
                    ledger.settle({number.span})
                    entries[:] = [y for x in entries for y in _without(x, {number.span}, True)]
                    yield claim

    # -- closing -------------------------------------------------------------------------------

    def _close(
        self, ledger: Ledger, entries: Sequence[Entry]
    ) -> tuple[Sequence[StatedBlock], Mapping[int, Source]]:
        """The blocks of which closed statements say what they are, in their order, and which
        results the article's numbers copy."""
        self._pair()
        self._stated += (_Stated(*step) for step in self._steps.end())
        found: list[StatedBlock] = []
        sources: Mapping[int, Source] = {}
        try:
            with task(CLOSED.most):
                self._stated += [*self._worked()]
                self._stated += [*self._by_name()]
                self._stated += [*self._by_role()]
                self._stated += [*self._by_analogy()]
                blocks = [*self._blocks()]
                numbers = ledger.coverage.numbers()
                sources = Copies(numbers, _results(entries, blocks)).sources
                exact = Exact(sources, ledger.chosen())
                for block in blocks:
                    # They are worked out here, as long as there is work left.
                    one = replace(block, exact=exact)
                    if one.best is not None:
                        found.append(one)
                        if one.is_exact:
                            exact.add(begins(one.statements[0].value))
                ledger.coverage.keep(exact, sources)
        except Exhausted:
            self.is_cut = True
        return found, sources

    def _worked(self) -> Iterator[_Stated]:
        """Yield what the numbers of workings stand for."""
        for one in self._workings:
            for tree in self._said(one)[:_MEANINGS]:
                charge(size(tree) * size(one.value))
                if bound := workings.operands(tree, one.value):
                    for value, said in bound:
                        yield replace(one, said=said, value=value)
                    break

    def _by_name(self) -> Iterator[_Stated]:
        """Yield what names say that matrices are of others, as ``normalized_X`` does, where figures
        bear that out."""
        for one in self._stated:
            if not isinstance(one.said, syntax.Name) or len(values.shape(one.value)) < 2:
                continue
            word, _, operand = one.said.name.partition("_")
            for form in step(word) if operand else ():
                said = put(form, {"x": syntax.Name(operand)})
                stated = replace(one, said=said, is_code=False, is_anew=False)
                if is_by_rows(form) and self._told([stated])[1] > _BORNE_OUT:
                    yield stated

    def _by_role(self) -> Iterator[_Stated]:
        """Yield what blocks are as parts in attention that they are called by, where nothing is
        said of them and most of their figures bear it out."""
        by_place: dict[int, list[_Stated]] = defaultdict(list)
        for one in self._stated:
            by_place[begin(one.value)].append(one)
        for one in self._stated:
            usual = _USUALLY.get(_role(one.said)) if isinstance(one.said, syntax.Name) else None
            if usual is None or one.is_code or len(values.shape(one.value)) < 2:
                continue
            is_said = any(map(self._said, by_place[begin(one.value)]))
            if is_said or MINUS_INFINITY in values.texts(one.value):
                # A mask hides some, or something is said of it.
                continue
            proposed = [replace(one, said=form) for form in usual]
            (share, bits), best = max(((self._told([x]), x) for x in proposed), key=lambda x: x[0])
            if 3 * share >= 2 and bits > _BORNE_OUT:
                yield best

    def _by_analogy(self) -> Iterator[_Stated]:
        """Yield for the other rows of a table what is said of one, where most of their figures come
        of it."""
        for one in self._stated:
            for cells in self._columns.alike(one.said, one.value):
                alike = [
                    replace(one, order=max(x.order, one.order), said=x.said, value=x.value)
                    for x in cells
                    # Nothing comes of what stands behind it.
                    if max(begins(x.said), default=-1) < begin(x.value)
                ]
                share, bits = self._told(alike)
                if 3 * share >= 2 and bits > _BORNE_OUT:
                    yield from alike

    def _told(self, alike: Iterable[_Stated]) -> tuple[float, float]:
        """The part of some figures that come of what is said of them, and their bits."""
        told: list[tuple[str, bool]] = []
        for one in alike:
            texts = values.texts(one.value)
            forms = self._closed(one.said, one.order, one.is_code, 0)[:_MEANINGS]
            charge(len(texts) * sum(map(size, forms)))
            found = (OPERANDS.coming(numbers(form), texts) for form in forms)
            came = max((x for x in found if x is not None), key=sum, default=[False] * len(texts))
            told += zip(texts, came, strict=True)
        right = [information(text) for text, comes in told if comes]
        return len(right) / max(len(told), 1), sum(right)

    def _blocks(self) -> Iterator[StatedBlock]:
        # A matrix begins where its first row does.
        blocks: dict[tuple[Span, int], list[_Stated]] = defaultdict(list)
        printed = {
            tuple(begins(one.value)): (
                Statement(one.said, one.value, (one.numbers,), "", is_run=True),
            )
            for one in self.runs.figures
        }
        for one in sorted(self._stated, key=lambda one: (one.order, begin(one.value))):
            places = [*islice(values.figures(one.value), _FIGURES + 1)]
            if 0 < len(places) <= _FIGURES:
                blocks[places[0].span, len(places)].append(one)
        for alike in blocks.values():
            statements = []
            for one in alike:
                readings = self._said(one)
                if any(values.is_of_shapes(tree, one.value) for tree in readings):
                    continue
                shaped = (form for tree in readings for form in fitted(tree, one.value))
                if forms := tuple(dict.fromkeys(islice(shaped, _READINGS))):
                    statements.append(Statement(one.said, one.value, forms, one.where))
            # What its program prints is another statement of the same figures.
            statements += printed.pop(tuple(begins(alike[0].value)), ())
            if statements:
                yield StatedBlock(tuple(statements), self._names)
        yield from (StatedBlock(statements, {}) for statements in printed.values())

    @cached_property
    def _names(self) -> Mapping[tuple[int, int], syntax.Tree]:
        """The names of printed values, by where these begin and how many numbers they have."""
        return {
            (begin(one.value), len(values.texts(one.value))): syntax.Name(
                one.said.name if isinstance(one.said, syntax.Name) else name
            )
            for name, meanings in self._meanings.items()
            for one in meanings
            if one.value is not None and name.isidentifier()
        }

    def _said(self, stated: _Stated) -> Sequence[syntax.Tree]:
        """The readings of what is said of figures: of a name what was said of it before."""
        said, order, self._section = stated.said, stated.order, stated.section
        if isinstance(said, syntax.Binary) and (
            self._is_value_of(said.right, stated) or _is_equation(said)
        ):
            # "0.8 + top_p = 0.95" may be a list, "2x = 6" is solved for x.
            return ()
        if isinstance(said, syntax.Indexed) and not stated.is_code:
            # An entry that is printed elsewhere may be that of another example.
            known = self._before(said.operand, order)
            if known and known[-1].section != stated.section:
                return ()
        if not _is_name(said):
            return self._closed(said, order, stated.is_code, 0)
        before = self._before(said, order)
        if not before and isinstance(said, syntax.Name) and not stated.is_code:
            return self._of_label(said.name, order)
        last = before[-1] if before else _Meaning(0)
        if last.value is not None and values.texts(last.value) == values.texts(stated.value):
            # It says again what it said.
            return [last.value]
        is_here = last.section == stated.section and bool(values.shape(stated.value))
        is_near = is_here if stated.is_anew else stated.is_code or not last.is_code or is_here
        if last.tree is None or (not stated.is_code and last.value) or not is_near:
            # A value that was printed for it already may be given anew.
            return self._anew(before, stated)
        is_weights = isinstance(last.tree, syntax.Call) and last.tree.function == "softmax"
        is_given = values.is_closed(last.tree) or any(one.value is not None for one in before)
        if last.section != stated.section and is_given:
            return self._anew(before, stated)
        if is_count(syntax.text(said)):
            # A size is given anew for each example.
            return ()
        if is_weights and not (isinstance(said, Named) or joining.has_shares(stated.value)):
            # What words call weights, and no name, may be scores.
            return ()
        is_again = _key(said) in syntax.names(last.tree)
        if is_again and not values.shape(stated.value):
            return ()
        at = last.order if stated.is_code or is_again else order
        closed = self._closed(last.tree, at, stated.is_code, 1)
        if _is_setting(stated.value) and not stated.is_code:
            # "s = 32768, h = 4096" gives anew what was worked out for others.
            closed = [one for one in closed if _is_about(one, stated.value)]
        # What came of numbers has more decimals than these, or many.
        fine = _decimals(stated.value)
        least = fine - (fine < _FINE)
        return [one for one in closed if not stated.is_anew or _decimals(one) <= least]

    def _of_label(self, name: str, order: int) -> Sequence[syntax.Tree]:
        """The readings of a row with a label, ``k_3``, by the formula of all, ``k = x W``, over the
        rows that have its label."""
        base, _, label = name.rpartition("_")
        known = self._before(syntax.Name(base), order) if base else []
        formula = next((one.tree for one in known[::-1] if one.tree is not None), None)
        of_row = formula and self._of_row(formula, label)
        return self._closed(of_row, order, False, 1) if of_row and of_row != formula else ()

    def _of_row(
        self,
        formula: syntax.Tree,
        label: str,
        beside: Mapping[str, syntax.Tree] = MappingProxyType({}),
    ) -> syntax.Tree:
        """A formula over what stands beside it, and over the rows that have a label."""

        def of_row(part: syntax.Tree) -> syntax.Tree | None:
            if not isinstance(part, syntax.Name):
                return None
            row = syntax.Name(f"{part.name}_{label}")
            return beside.get(part.name, row if _key(row) in self._meanings else None)

        return syntax.replaced(formula, of_row)

    def _anew(self, before: Sequence[_Meaning], stated: _Stated) -> Sequence[syntax.Tree]:
        """The readings of a name by its formula over operands all of which are given anew since the
        name was last printed: another example of the same."""
        formula = next((one.tree for one in before[::-1] if one.tree is not None), None)
        last = next((begin(one.value) for one in before[::-1] if one.value is not None), -1)
        if stated.is_code or formula is None or last < 0 or not values.shape(stated.value):
            return ()
        numbers, closed = {*begins(formula)}, self._closed(formula, stated.order, False, 1)
        found = ((one, {*begins(one)} - numbers) for one in closed)
        return [one for one, operands in found if operands and min(operands) > last]

    def _is_value_of(self, name: syntax.Tree, stated: _Stated) -> bool:
        """Return whether a name has elsewhere just the value that is stated."""
        known = self._meanings.get(_key(name), ()) if _is_name(name) else ()
        texts = values.texts(stated.value)
        return any(one.value is not None and values.texts(one.value) == texts for one in known)

    def _before(self, name: syntax.Tree, order: int) -> list[_Meaning]:
        """The meanings of a name before a chain; where no value was printed of it, of the part in
        attention that it says it has, if one name alone has that."""
        exact, role = _key(name), _role(name)
        found: list[list[_Meaning]] = []
        for key in (exact, role):
            known = self._meanings.get(key, [])
            before = known[: bisect_left(known, order, key=lambda one: one.order)]
            named = {_key(one.said) for one in before if one.said is not None} - {role}
            if before and (key == exact or len(named) < 2):
                found.append(before)
        printed = (before for before in found if before[-1].value is not None)
        return next(printed, found[0] if found else [])

    def _closed(self, tree: Member, order: int, is_code: bool, depth: int) -> list[syntax.Tree]:
        """The readings of an expression as one of numbers, the plainest first."""
        return self._all_closed(tree, order, is_code, depth)[:_READINGS]

    def _all_closed(self, tree: Member, order: int, is_code: bool, depth: int) -> list[syntax.Tree]:
        if depth > _DEEPEST or isinstance(tree, Opaque | syntax.Cell | syntax.Sequence):
            return []
        if values.is_closed(tree) and not has_forms(tree):
            return [tree]
        if _is_name(tree):
            key = _key(tree), order, is_code, depth
            if key not in self._closings:
                self._closings[key] = self._named(tree, order, is_code, depth)[:_READINGS]
            return self._closings[key]

        def closed(part: syntax.Tree) -> list[syntax.Tree]:
            # An expression that was printed with a value is that first.
            known = self._formulas.get(part, ()) if not is_code else ()
            printed = [value for before, value in known if before < order]
            return [*printed[-1:], *self._closed(part, order, is_code, depth)]

        match tree:
            case syntax.Array():
                # "(B, T, 16)" is a shape, unless vectors are called so.
                return self._of_vectors(tree, order, is_code, depth)
            case syntax.Binary("*", PrintedFigure(), syntax.Name(unit)) if unit in THOUSANDS:
                # Of "67M" the letter is no quantity.
                return []
            case syntax.Transposed(operand):
                parts = closed(operand)
                return [syntax.Transposed(one) if rank(one) == 2 else one for one in parts]
            case syntax.Binary(op, left, right):
                turned = isinstance(left, syntax.Transposed), isinstance(right, syntax.Transposed)
                pairs = product(closed(left), closed(right))
                made = (one for x, y in pairs for one in operations(op, x, y, is_code, turned))
                return [*islice(made, _READINGS)]
            case syntax.Call("softmax", (operand,), ()):
                rows = closed(operand)
                columns = [] if is_code else [x for x in rows if rank(x) == 2]
                return [
                    *(syntax.Call("softmax", (values.flat(x),)) for x in rows),
                    *(
                        syntax.Transposed(syntax.Call("softmax", (syntax.Transposed(x),)))
                        for x in columns
                    ),
                ]
            case syntax.Power(base, exponent) if not is_code:
                return [x for one in closed(base) for x in raised(one, exponent)]
            case syntax.Call(function, (left, right), ()) if function.lower() in OF_TWO:
                form = syntax.parse(OF_TWO[function.lower()])
                pairs = product(closed(left), closed(right))
                return [put(form, {"x": x, "y": y}) for x, y in islice(pairs, _READINGS)]
            case syntax.Call(function, (operand,), ()) if not is_code:
                return [x for one in closed(operand) for x in called(function, one)]
        inside = syntax.inside(tree)
        choices = [closed(one) for one in inside]
        if not inside or not all(choices):
            return []
        return [over(tree, parts) for parts in islice(product(*choices), _READINGS)]

    def _of_vectors(
        self, array: syntax.Array, order: int, is_code: bool, depth: int
    ) -> list[syntax.Tree]:
        """The matrix whose rows are vectors that are called by name."""
        vectors: list[syntax.Tree] = []
        for item in values.leaves(array):
            vectors += map(values.flat, self._closed(item, order, is_code, depth + 1)[:1])
            if (
                not vectors
                or rank(vectors[-1]) != 1
                or shape_of(vectors[-1]) != shape_of(vectors[0])
            ):
                return []
        return [syntax.Array(tuple(vectors))]

    def _named(self, tree: syntax.Tree, order: int, is_code: bool, depth: int) -> list[syntax.Tree]:
        """The readings of a name: the value that was printed last, then those before, then what it
        is said to be."""
        before = self._before(tree, order)
        known = before[-1:] if is_code else before[: -_MEANINGS - 1 : -1]
        if sum(one.is_label for one in known) > 1 or not (is_code or self._is_here(tree, known)):
            return []
        found: list[syntax.Tree] = []
        computed: list[syntax.Tree] = []
        for one in known:
            forms = self._closed(one.tree, one.order, is_code, depth + 1) if one.tree else []
            # A comment behind a statement of a program tells of what it computes.
            if one.value is not None and not (forms and one.is_code):
                found.append(one.value)
            computed += forms
            if not (found or computed):
                return []
        if not is_code:
            computed += self._of_rows(tree, order, depth)
        if not (found or computed) and isinstance(tree, syntax.Name) and is_size(tree.name):
            computed += self._sizes(order)
        if isinstance(tree, syntax.Name) and tree.name == "e":
            # A quantity may be called as Euler's number is.
            computed.append(syntax.Call("exp", (syntax.Literal("1"),)))
        return [*dict.fromkeys((*found, *computed))]

    def _is_here(self, name: syntax.Tree, known: Sequence[_Meaning]) -> bool:
        """Return whether a number that a name stands for is given in the section, or the same
        everywhere: of other sections it may be that of another example."""
        values_of = {
            values.texts(one.value)[0]
            for one in self._meanings.get(_key(name), ())
            if one.value is not None and not values.shape(one.value)
        }
        return len(values_of) < 2 or not known or known[0].section == self._section

    def _sizes(self, order: int) -> Iterator[syntax.Tree]:
        for name in _KEYS:
            for one in self._before(syntax.Name(name), order)[::-1]:
                if one.value is not None and (size := values.shape(one.value)):
                    yield syntax.Literal(str(size[-1]))

    def _of_rows(self, tree: syntax.Tree, order: int, depth: int) -> Iterator[syntax.Tree]:
        """An entry or a row of a printed matrix, counted from 1 or from 0."""
        match tree:
            case syntax.Indexed(operand, keys) if all(isinstance(key, int) for key in keys):
                counted = [key for key in keys if isinstance(key, int)]
                bases = [operand]
            case syntax.Name(name) if name.partition("_")[2] in self._tokens:
                # V_cat is the row of V with that label.
                base, _, label = name.partition("_")
                for whole in self._closed(syntax.Name(base), order, False, depth + 1):
                    if self._tokens[label] < (shape_of(whole) or (0,))[0]:
                        yield entry_of(whole, [self._tokens[label]])
                return
            case syntax.Name(name) if match := _ROW.fullmatch(name):
                counted = [int(match[2])]
                bases = [syntax.Name(base) for base in (match[1], match[1].upper())]
            case _:
                return
        wholes = (whole for base in bases for whole in self._closed(base, order, False, depth + 1))
        for whole, first in product(wholes, (1, 0)):
            shape, places = shape_of(whole) or (), [number - first for number in counted]
            if len(shape) >= len(places) and all(
                0 <= k < size for k, size in zip(places, shape, strict=False)
            ):
                yield entry_of(whole, places)


def _results(entries: Iterable[Entry], blocks: Iterable[StatedBlock]) -> Sequence[Result]:
    """The figures of which it is said what they come to."""
    said = [(one.value, False) for one in entries if one.key == "of"]
    said += [(block.statements[0].value, True) for block in blocks]
    found = {
        figure.span.start: Result(figure.span.start, figure.text, begin(value), is_worked)
        for value, is_worked in said
        for figure in values.figures(value)
    }
    return [*found.values()]


def _wrong(ledger: Ledger, entries: Iterable[Entry]) -> Iterator[int]:
    """The places of figures that surely are of a quantity, and wrong."""
    for entry in entries:
        if entry.key == "of" and not entry.doubt and entry.agreement.share < 1:
            for figure, keys in values.entries(entry.value):
                tree = workings.entry_at(ledger.recipe, entry.tree, keys)
                if ledger.said(tree, figure).share < 1:
                    yield figure.span.start


def _otherwise(ledger: Ledger, known: Entry, numbers: Sequence[str]) -> Iterator[int]:
    """Yield where figures begin that are not what they were taken for: they come to other numbers,
    or a program prints these."""
    for (figure, keys), text in zip(values.entries(known.value), numbers, strict=False):
        right = f"{Decimal(text):.{written(figure.text).decimals}f}"
        tree = workings.entry_at(ledger.recipe, known.tree, keys)
        if ledger.recipe.floats(tree) is None or is_bare(figure.text):
            continue
        if ledger.said(tree, replace(figure, text=right)).share < 1:
            yield figure.span.start


def _without(entry: Entry, places: Set[Span], are_worked: bool) -> Iterable[Entry]:
    """An entry without the figures at some places; what is worked out there stays, unless it is not
    ``are_worked``."""
    if entry.key == "as_printed" and not are_worked:
        return [entry]
    figures = [*values.entries(entry.value)]
    left = [(figure, keys) for figure, keys in figures if figure.span not in places]
    if len(left) == len(figures):
        return [entry]
    return [
        replace(entry, tree=syntax.Indexed(entry.tree, keys), value=figure) for figure, keys in left
    ]


def _apart(chain: Chain) -> Iterator[Chain]:
    """A chain, and each ``name = value`` by itself that stands behind an arrow in it, or the first
    of a list: "probs: A = 0.6"."""
    begin = 0
    match chain.members, chain.links:
        case (syntax.Name(), syntax.Name(), PrintedFigure()), (":", "=" | "≈"):
            yield _part(chain, 0, 1)
            begin = 1
    for k, link in enumerate(chain.links):
        is_named = _is_name(chain.members[k + 1]) and chain.links[k + 1 : k + 2] in (("=",), ("≈",))
        if link == "→" and is_named:
            yield _part(chain, begin, k + 1)
            begin = k + 1
    yield _part(chain, begin, len(chain.members)) if begin else chain


def _part(chain: Chain, begin: int, end: int) -> Chain:
    return replace(
        chain,
        members=chain.members[begin:end],
        links=chain.links[begin : end - 1],
        spans=chain.spans[begin:end],
    )


def _is_name(tree: Member) -> TypeGuard[syntax.Tree]:
    return isinstance(tree, syntax.Name | syntax.Gradient) or (
        isinstance(tree, syntax.Indexed) and isinstance(tree.operand, syntax.Name)
    )


def _is_result(head: Member) -> bool:
    """Return whether a name is the label of a result in a comment."""
    return isinstance(head, syntax.Name) and bool(_RESULT.fullmatch(head.name))


def _is_matrix(table: Labelled) -> bool:
    """Return whether a table of figures is one matrix, by its columns: what these are called is
    neither a step nor a part in attention."""
    said = table.columns_said
    return len(values.shape(table)) == 2 and not any(step(x) or roles.spoken(x) for x in said)


def _is_pair(tree: Member) -> bool:
    """Return whether it is a short row of whole numbers, as a shape is."""
    return (
        isinstance(tree, syntax.Array)
        and len(tree.items) <= _AXES
        and all(isinstance(one, syntax.Literal) and one.text.isdigit() for one in tree.items)
    )


def _is_equation(said: syntax.Binary) -> bool:
    """Return whether it is a number with a name behind it."""
    return said.op in "*@+-" and isinstance(said.left, syntax.Literal) and _is_name(said.right)


def _is_formula(tree: Member) -> bool:
    return isinstance(tree, Opaque) or not (values.is_value(tree) or _is_name(tree))


def _key(tree: syntax.Tree) -> str:
    """Return what is the same of names that differ in capitals only, words at least."""
    text = syntax.text(tree)
    return text.replace("_", "").lower() if _WORD.fullmatch(text) else text


def _role(name: syntax.Tree) -> str:
    """Return the part in attention that a name says it has, if that is one of results; ''
    otherwise."""
    match name:
        case syntax.Name(text) if not _NUMBERED.search(text):
            role = text if text in _RESULTS else _LETTERS.get(text) or roles.named(text)
            return role if role in _RESULTS else ""
        case syntax.Binary("@" | "*", syntax.Name("Q"), syntax.Transposed(syntax.Name("K"))):
            return "scores"
    return ""


def _understood(member: Member) -> Member:
    """Return a member, the softmax of what words call a result as that of the name."""
    if isinstance(member, Opaque) and (match := _SOFTMAX.fullmatch(member.text)):
        # A program that isn't followed says it as words do.
        of = match[1].strip()
        label = syntax.Name(of) if of.isidentifier() else _label(of)
        return member if label is None else syntax.Call("softmax", (label,))
    return member


def _label(words: str) -> syntax.Name | None:
    """Return the part in attention that a label is of, as a name, if it says nothing else."""
    spoken = roles.spoken(words) if len(words) <= _LABEL else []
    named = {str(one.role) for one in spoken}
    rest = words
    for one in spoken[::-1]:
        rest = rest[: one.start] + rest[one.end :]
    if len(named) != 1 or named.isdisjoint(_RESULTS) or not _NEUTRAL.fullmatch(rest):
        return None
    return syntax.Name(named.pop())


def _exact(part: syntax.Tree) -> syntax.Tree | None:
    """A number of a program, which is all of it."""
    match part:
        case PrintedFigure(text, span) if text != MINUS_INFINITY:
            return ExactNumber(text.removeprefix("+"), span)
    return None


def _is_setting(value: syntax.Tree) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(value, PrintedFigure) and not written(value.text).part


def _is_about(tree: syntax.Tree, value: syntax.Tree) -> bool:
    """Return whether an expression comes to no more than twice a number, and no less than half."""
    (found, *_), ends = OPERANDS.middles(numbers(tree)) or ["0"], interval(values.texts(value)[0])
    sizes = abs(float(found)), abs(sum(ends or (0, 0))) / 2
    return max(sizes) <= 2 * min(sizes)


def _decimals(tree: syntax.Tree) -> int:
    """Return how many decimals the numbers of an expression have at most."""
    numbers = (part for part in syntax.walk(tree) if isinstance(part, syntax.Literal))
    return max((written(one.text).decimals for one in numbers), default=0)
