"""A derivation as it is written by hand: a text with a definition or a claim on each line.

.. code-block:: text

    # Softmax backward
    S: n x m
    L: function of A
    A = softmax(S)
    The weights of a row add up to 1:
    rowsum(A) = ones(n)
    dS = A * (dA - rowsum(A * dA))     # by the chain rule

Every line is a heading, words (what has no relation sign, or stands behind ``#``), a shape, a
loss or a permutation, a definition (the first ``NAME = ...``), a hypothesis (``assume ...``),
or a claim. Anything else is a fault. The text becomes the tables of a derivation file, in
which every line has its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from symattn.calculus import layout
from symattn.calculus.equations import Equations
from symattn.calculus.gradients import Equation, Given, Kind
from symattn.calculus.layout import DOUBTFUL, Layout, Line, Peeled
from symattn.calculus.names import head
from symattn.calculus.wording import (
    DEFINITION,
    EQUALITY,
    RELATION,
    Wording,
    begins,
    concluded,
    framed,
    is_quoted,
    quoted,
    related,
    unquoted,
)
from symattn.errors import Fault, Faults, Malformed, short
from symattn.limits import CHARACTERS
from symattn.tables.file import File, decoded

_NOTHING = (
    "nothing is claimed: the first 'A = ...' defines A, and what is equated after it is judged,"
    " as in 'rowsum(A) = ones(n)'"
)
#: A table of a derivation file has its name in brackets on a line of its own.
_TABLE = re.compile(r"^\s*\[\[?\w+\]\]?\s*(?:#.*)?$", re.MULTILINE)
_REFUSED = (
    (
        re.compile(r"[≤≥<>≠≪≫]|[<>!]=|\\(?:leq?|geq?|lt|gt|neq?)|than|most|least|exceeds"),
        "an inequality is not judged; 'assume ...' takes it for granted",
    ),
    (
        re.compile(r"[≈≃≅∼≐∝~]|\\(?:approx|sim|cong|doteq|propto)"),
        "only what is exactly equal is judged: write '='",
    ),
    (
        re.compile(r"→|->|⟶|↦|\\(?:to|mapsto|\w*arrow)"),
        "an arrow claims nothing that is judged: write '=', and limits as limit(x, 0, ...) = ...",
    ),
)
"""Relations that are no claims, and what to write."""
_STRANGE = (
    "is not known to leave it what it is: write each formula on a line of its own, words behind '#'"
)
#: A line that begins an exercise, or a case of one, is a heading of the lowest levels.
_BEGINNINGS = (
    r"\W*(?:exercise|problem|question|task|aufgabe|exercice)\s+\d",
    r"\W*(?:(?:case|part|fall|scenario|cas)\s+(?:\d|[a-z]\b|[ivx]+\b)"
    r"|(?:first|second|third|next|last|other)\s+case\b)",
)
_DEEPEST = 9
#: Words beside a formula that may say of what it is, or how: of less than all, along which axis.
_LIMITING = re.compile(
    r"\b(?:but|except|only|first|second|third|last|next|following|final|above|below|before|after"
    r"|left|right|main|off|place|step|for now|case|part|partial|over|summ(?:ed|ing)|the sum"
    r"|(?:row|column|element|entry)(?:-?wise)?|rows|columns|elements|entries|entrywise|index"
    r"|diagonal|along|each|mask)\b",
    re.IGNORECASE,
)
#: Words before a formula that may say how it is meant, unless they are set off by a colon.
_AXES = re.compile(
    r"\b(?:along|(?:each|every)(?! \$?[a-z]\b)|(?:row|column|element|entry)(?:-?wise)?"
    r"|elementwise|entrywise|but|except|only)\b",
    re.IGNORECASE,
)
_BY_ROWS = re.compile(
    r"\b(?:softmax|log_softmax|logsumexp|mean|sum|total|max|min|norm|\w+norm|cross_entropy|cumsum)"
    r"\}?\s*\((?!.*axis)"
)
_REASONED = re.compile(
    r"\b(?:by|since|because|as|using|via|due to|thanks to|according to|see"
    r"|from(?! the (?:first|second|third|last|next)))\b|#",
    re.IGNORECASE,
)
_FINAL = (".", "!", "?")


@dataclass(frozen=True)
class Manuscript(File):
    """A text, the tables that it stands for, the line of each place in them; what was taken for
    words, and the definitions that no claim speaks of, with the line of each."""

    at: Mapping[str, int] = field(default_factory=dict)
    words: tuple[tuple[int, str], ...] = ()
    unused: tuple[tuple[int, str], ...] = ()

    def line(self, where: str) -> int:
        """The line of the nearest that is known about a place in the tables."""
        if where in self.at:
            return self.at[where]
        known = [key for key in self.at if where.startswith(key)]
        return self.at[max(known, key=len)] if known else 0


def is_by_hand(text: str) -> bool:
    """Return whether a derivation is written by hand, not in the tables of a TOML file.

    >>> is_by_hand("A = softmax(S)"), is_by_hand("[shapes]")
    (True, False)
    """
    return _TABLE.search(text) is None


def read_text(path: Path, content: bytes) -> Manuscript:
    """The text of these bytes, as tables. Raises :class:`Malformed` with its faults.

    >>> read_text(Path("-"), b"t: number\\nu = t * t\\nu = t**2").document["lines"]
    [{'line': 'u == t**2', 'because': '', 'part': ''}]
    """
    text = decoded(content)
    reader = _Reader()
    reader.read(text)
    tables = Equations(reader.given)
    tables.read(reader.equations)
    faults = Faults(reader.faults)
    faults += tables.faults
    if not tables.lines and not faults:
        faults.append(Fault("", _NOTHING))
    if faults:
        raise Malformed(sorted(faults, key=lambda fault: fault.line), str(path), faults.more)
    document = {"title": reader.title, **tables.document()}
    return Manuscript(path, text, document, tables.at, tuple(reader.words), tables.unused())


class _Reader:
    """Reads what the lines of a text are."""

    def __init__(self) -> None:
        self.title = self._part = ""
        self.given = Given()
        self.equations: list[Equation] = []
        self.words: list[tuple[int, str]] = []
        self.faults = Faults()
        self._wording = Wording()
        self._heads: dict[str, int] = {}
        self._counted: set[str] = set()
        self._beside: dict[int, str] = {}
        self._before: dict[int, str] = {}
        self._behind: dict[int, str] = {}
        self._display = 0
        self._item = ""

    def _fault(self, at: int, message: str) -> None:
        if (fault := Fault("", message, at)) not in self.faults:
            self.faults.append(fault)

    def read(self, text: str) -> None:
        """All of a text."""
        kept = []
        for at, line in enumerate(text.splitlines(), 1):
            length = len(" ".join(line.split()))
            if length > CHARACTERS.most:
                self._fault(at, CHARACTERS.said(length))
            kept.append(line if length <= CHARACTERS.most else "")
        laid_out = Layout(kept)
        lines = laid_out.read()
        for at, message in laid_out.unclosed:
            self._fault(at, message)
        self._foresee(lines)
        lines = [
            replace(line, text=line.text if line.kind else self._wording.spelled_out(line.text))
            for line in self._unlisted(lines)
        ]
        joined = [*self._joined(lines)]
        self._attach(joined)
        for each in joined:
            self._line(each)

    def _foresee(self, lines: Sequence[Line]) -> None:
        """What is given, and the names that will be defined."""
        for line in lines:
            if line.kind in ("", "formula") and not self._given(line) and related(line.text):
                formulas = [formula for formula, _, _ in quoted(line.text) if related(formula)]
                for formula in (layout.undressed(line.text, self._wording), *formulas):
                    for text in filter(related, re.split(r"[,;]\s+|\s+and\s+", formula)):
                        self._foresee_head(layout.undressed(text, self._wording), line.at)
        self._wording.sizes |= {
            size for shape in self.given.shapes.values() for size in shape if isinstance(size, str)
        }
        self._wording.names |= {*self.given.shapes, *self.given.losses, *self.given.permutations}

    def _foresee_head(self, text: str, at: int) -> None:
        if names := head(re.split(r":?=|≔|≡", text, maxsplit=1)[0]):
            name = "_".join(names[:1] + names[1]) if len(names[1]) == 1 else names[0]
            self._heads.setdefault(name, at)
            self._wording.names |= {name, names[0]}

    # -- lines that go on, and marks of lists ----------------------------------------------

    def _unlisted(self, lines: Sequence[Line]) -> Iterator[Line]:
        """Lines without marks of lists that might be signs; who can't tell says so.

        Marks that follow one another are those of one list, which is one as soon as any of
        them can't be a sign.
        """
        at = 0
        while at < len(lines):
            first = _doubtful(lines[at])
            end = at + 1
            while first and end < len(lines) and (
                lines[end].kind == "gap" or _doubtful(lines[end]) == first
            ):  # fmt: skip
                end += 1
            marked = [line for line in lines[at:end] if _doubtful(line)]
            is_list = any(self._surely_listed(line) for line in marked)
            before = lines[at - 1] if at else None
            follows = before is not None and before.kind != "gap" and related(before.text)
            for line in lines[at:end]:
                if not (first and line in marked):
                    yield line
                elif is_list or (
                    related(line.text[1:]) and first in "+*>" and not (follows and first != ">")
                ):
                    yield replace(line, text=line.text[1:].lstrip())
                elif not related(line.text[1:]):
                    yield line
                else:
                    self._fault(line.at, _UNCLEAR[first])
            at = end

    def _surely_listed(self, line: Line) -> bool:
        """Return whether the mark before a line can only be that of a list."""
        text = line.text[1:].lstrip()
        if not related(text):
            return not (self._wording.is_formula(text) or self._wording.is_quantity(text))
        if is_quoted(text) or layout.undressed(text, self._wording) != text or self._given(line):
            return True
        names = head(re.split(r":?=", text, maxsplit=1)[0])
        name = "_".join((names[0], *names[1])) if names else ""
        return self._heads.get(name) == line.at and name not in self.given.shapes

    def _joined(self, lines: Sequence[Line]) -> Iterator[Line]:
        """Lines with those that go on with them."""
        last: Line | None = None
        for line in lines:
            plain = unquoted(line.text).strip()
            is_begun = line.is_more or layout.CONTINUES.match(plain) is not None
            is_begun = is_begun or re.match(r"[-−–]", plain) is not None
            goes_on = line.is_more or (
                is_begun
                and line.kind == ""
                and not related(line.text)
                and (self._wording.is_formula(line.text) or self._wording.is_quantity(line.text))
            )
            if last and line.kind in ("", "formula") and begins(line.text):
                # What is claimed of a formula on the line before.
                goes_on = not related(last.text) and (
                    last.kind == "formula"
                    or line.is_more
                    or self._wording.is_formula(last.text)
                    or self._wording.is_name(last.text)
                )
            if not goes_on:
                if last:
                    yield last
                last = line
            elif (
                last and last.kind in ("", "formula") and (related(last.text) or begins(line.text))
            ):
                remarks = tuple(filter(None, (*last.remarks, *line.remarks)))
                last = replace(last, text=f"{last.text} {line.text}", remarks=remarks)
            else:
                self._fault(
                    line.at,
                    f"{short(line.text)!r} begins with an operator, and there is no formula right"
                    " before it that it goes on with",
                )
        if last:
            yield last

    def _attach(self, lines: Sequence[Line]) -> None:
        """What is strange of words that are of one sentence with a formula before or behind."""
        kinds = [self._kind(line) for line in lines]
        attached: set[int] = set()
        leading: set[int] = set()
        for step in (1, -1):
            for at in range(len(lines))[::step]:
                near = at - step
                if 0 <= near < len(lines) and kinds[near] == "gap" and near - step >= 0:
                    # A display goes on with the sentence around it.
                    is_display = lines[near - step : near - step + 1]
                    near -= step if is_display and is_display[0].kind == "formula" else 0
                is_near = 0 <= near < len(lines) and (kinds[near] == "formula" or near in attached)
                if not is_near or kinds[at] != "words":
                    continue
                text, before = lines[at].text.rstrip("*_ "), lines[near].text.rstrip("*_ ")
                goes_on = text[:1].islower() or not text[:1].isalnum()
                if step > 0 and kinds[near] == "words":
                    goes_on = before[-1:] not in (*_FINAL, ":")
                if goes_on if step > 0 else text[-1:] not in _FINAL:
                    attached.add(at)
                    leading |= {at} if step < 0 else set()
        sentence: list[Line] = []
        last = -1
        for at in [*sorted(attached), len(lines) + 1]:
            if sentence and at - 1 not in attached:
                words = layout.unmarked(" ".join(line.text for line in sentence))
                ahead = " \0" if last in leading else ""
                self._note_beside(lines, last + 1 - len(sentence), last, words, last in leading)
                if strange := self._wording.strange(framed(words) + ahead):
                    self._beside |= dict.fromkeys((line.at for line in sentence), strange)
                sentence = []
            sentence, last = [*sentence, *lines[at : at + 1]], at

    def _note_beside(
        self, lines: Sequence[Line], first: int, last: int, words: str, is_before: bool
    ) -> None:
        """Keep the words before a formula, and those behind one, with its line."""
        behind = next((line for line in lines[last + 1 :] if line.kind != "gap"), None)
        before = next((line for line in lines[:first][::-1] if line.kind != "gap"), None)
        if is_before and behind:
            self._before[behind.at] = f"{words} "
        elif before:
            self._behind[before.at] = f" {words}"

    def _kind(self, line: Line) -> str:
        if line.kind in ("gap", "heading", "remark") or self._given(line):
            return line.kind or "given"
        if re.match(r"\|\s", line.text) and not related(line.text):
            return "row"
        return "formula" if line.kind == "formula" or related(line.text) else "words"

    # -- one line ------------------------------------------------------------------------

    def _line(self, line: Line) -> None:
        is_claim = related(line.text) or self._wording.states(line.text)
        if line.kind == "heading":  # Nothing goes on from before it.
            self.equations.append(Equation(line.at, level=line.level))
            self._item = ""
        for depth, beginning in enumerate(_BEGINNINGS):
            if line.kind != "heading" and re.match(beginning, line.text, re.IGNORECASE):
                self.equations.append(Equation(line.at, level=_DEEPEST + depth))
                self._item = ""
        if line.kind == "heading" and not is_claim:
            if self.title or len(self.equations) > 1:
                self._part = line.text
            else:
                self.title = line.text
        elif line.kind == "heading" and line.level > 1:
            self._fault(line.at, "a heading with a formula: write that on a line of its own")
        elif line.kind in ("heading", "remark"):
            self.words.append((line.at, line.text))
        elif line.kind != "gap" and not self._given(line):
            self._statement(line)

    def _statement(self, line: Line) -> None:
        """One line that is words or formulas."""
        peeled = layout.peeled(line.text, self._wording)
        if line.kind == "formula" and not peeled.formulas:
            peeled = Peeled(formulas=(line.text,))
        remarks = [remark for remark in line.remarks if self._wording.is_quantity(remark)]
        peeled.remarks += line.remarks
        self.words += [(line.at, words) for words in (*peeled.words, *peeled.remarks)]
        if not peeled.formulas:
            if self._wording.is_formula(line.text) or self._wording.is_quantity(line.text):
                self._fault(
                    line.at,
                    f"{short(line.text)!r} is a formula of which nothing is claimed: write what it"
                    " is equal to, or '#' before it",
                )
            elif self._wording.states(layout.unmarked(line.text)):
                self._fault(
                    line.at,
                    f"{short(line.text)!r}: write '=' between what is equal, or '#' before words",
                )
            elif strange := self._beside.get(line.at, ""):
                self._fault(line.at, f"{short(strange)!r} beside a formula {_STRANGE}")
            else:
                self.equations.append(Equation(line.at, because=line.text, part=self._part))
            return
        if strange := peeled.strange or next(iter(remarks), ""):
            self._fault(line.at, f"{short(strange.strip())!r} beside a formula {_STRANGE}")
            return
        if peeled.is_unclear:
            self._fault(line.at, _UNCLEAR["-"])
            return
        if mark := next((mark for mark in peeled.marks if not self._may_count(mark)), ""):
            self._fault(line.at, f"{mark!r} may count, or multiply: write"
                        f" '{mark.strip('().')}:' or '{mark.strip('().')} *'")  # fmt: skip
            return
        if self._is_limited(line, peeled):
            return
        if line.kind == "formula" and not line.is_more:
            self._display = len(self.equations)
        if line.is_more and (peeled.apart or peeled.ranges):
            # What stands behind the last row of a display is said of all of them.
            self.equations[self._display :] = [
                replace(equation, apart=peeled.apart, ranges=peeled.ranges)
                for equation in self.equations[self._display :]
            ]
        because = " ".join((*peeled.words, *peeled.remarks))
        around = self._before.get(line.at, "") + line.text
        peeled.quantity = self._wording.quantity(
            around.partition(peeled.formulas[0])[0].rstrip(" $`")
        )
        peeled.around = around + self._behind.get(line.at, "")
        for formula in peeled.formulas:
            self._related(line.at, formula, peeled, because)
            because = peeled.quantity = ""

    def _is_limited(self, line: Line, peeled: Peeled) -> bool:
        """Return whether it is not clear of what, or up to where, something is assumed."""
        if not peeled.assumed and re.search(r"(?i)\b(?:assum|suppos)\w*\b", line.text):
            self._fault(line.at, "say 'assume' right before what is assumed, as in 'assume t > 0'")
            return True
        for formula in peeled.formulas:
            if formula not in line.text:
                continue
            before, _, behind = line.text.rpartition(formula)
            behind = _REASONED.split(behind, 1)[0]
            word = _LIMITING.search(behind) or (
                _AXES.search(before)
                if _BY_ROWS.search(formula) and not before.rstrip(" $`(").endswith(":")
                else None
            )
            if word:
                self._fault(
                    line.at,
                    f"{word[0]!r} beside {short(formula)!r} may say of what it is, or how it is"
                    " meant: write that in the formula, as A[i, j] or softmax(S, axis=0), and"
                    " words behind '#'",
                )
                return True
        if peeled.assumed and peeled.marks:
            before, self._item = self._item, peeled.marks[0]
            if before:
                self._fault(
                    line.at,
                    f"does what {before!r} assumes hold here, too? Write 'Case 2' on a line of its"
                    " own where it doesn't, or all that is assumed in one place",
                )
                return True
        return False

    def _may_count(self, mark: str) -> bool:
        """Return whether a letter or number before a formula is one of a list, and no factor."""
        plain = mark.strip("().")
        self._counted |= {plain, "1"} & {"1", "a", "A", "i", "I"} if plain in "1aAiI" else {plain}
        is_factor = plain in self._wording.names or (mark[0] == "(" and plain[0].isdigit())
        before = "1" if plain[0].isdigit() else chr(ord(plain[0]) - 1)
        return not is_factor or plain in "1aAiI" or before in self._counted

    def _related(self, at: int, formula: str, peeled: Peeled, because: str) -> None:
        """A formula with its sides apart."""
        plain = DEFINITION.sub(" = ", formula)
        signs = [sign[0] for sign in layout.outside(plain, RELATION)]
        others = [sign for sign in signs if not EQUALITY.fullmatch(sign)]
        assumed = peeled.assumed.get(formula, "")
        if assumed and (assumed != "where" or others):
            ranges = peeled.ranges
            self.equations.append(Equation(at, (plain,), "assumed", peeled.apart, ranges, because))
            return
        if others or not signs:
            why = next((why for sign, why in _REFUSED if others and sign.search(others[0])), "")
            why = why or "write '=' between its sides, or '#' before words"
            self._fault(at, f"{short(formula)!r}: {why}")
            return
        sides = layout.apart(plain, EQUALITY)
        if not all(sides[1:]):
            self._fault(at, f"{short(formula)!r}: a side is missing beside '='")
            return
        is_defined = DEFINITION.search(formula) is not None
        kind: Kind = "defines" if is_defined else "" if signs[0] == "=" else "claims"
        word = "" if assumed else concluded(peeled.around, formula, peeled.formulas, is_defined)
        how = peeled.apart, peeled.ranges, because, self._part, word, peeled.quantity
        self.equations.append(Equation(at, tuple(sides), kind, *how))

    def _given(self, line: Line) -> bool:
        """Return whether a line says what something is: a shape, a loss, a permutation."""
        if line.kind == "formula" and "\\in" not in line.text and "∈" not in line.text:
            return False
        try:
            # "Let $z \\in R^n$ and $p = softmax(z)$."
            quotes = [quote for quote, _, _ in quoted(line.text) if not related(quote)]
            quotes = [quote for quote in quotes if re.search(r":|∈|\\in(?![A-Za-z])", quote)]
            self._wording.given |= {quote for quote in quotes if self.given.read(quote, line.at)}
            return self.given.read(line.text, line.at)
        except Malformed as error:
            self._fault(line.at, error.faults[0].message)
            return True


def _doubtful(line: Line) -> str:
    """The sign before a line that may be the mark of a list."""
    match = DOUBTFUL.match(line.text) if line.kind == "" else None
    return match[1] if match else ""


_UNCLEAR = {
    **dict.fromkeys(
        "-−–—",
        "'-' with a blank behind it may be the mark of a list, or a minus: write '1.' or '•' for a"
        " list, and a minus right before what it belongs to",
    ),
    **dict.fromkeys(
        "+*", "a sign with a blank behind it may be the mark of a list, or go on with the formula"
        " on the line before: leave an empty line between them, or write them on one line",
    ),
}  # fmt: skip
