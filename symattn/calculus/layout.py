"""A text as lines, each a formula's or words: displays and what goes on over several lines put
together, scaffolds of documents left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from symattn.calculus.wording import (
    RELATION,
    Wording,
    assumed,
    begins,
    framed,
    is_quoted,
    quoted,
    related,
    unquoted,
)
from symattn.documents.text import DISPLAYS, INNER
from symattn.limits import CHARACTERS

NUMBERED = re.compile(
    r"\((?P<both>\d{1,3}(?:\.\d{1,3})*[a-z]?|[A-Za-z]|[ivx]{1,5})\)\s+"
    r"|(?:\d{1,3}(?:\.\d{1,3})*[a-z]?|[A-Za-z]|[ivx]{1,5}|Q\d+)\)\s+"
    r"|(?:\d{1,3}(?:\.\d{1,3})*[a-z]?|[a-z]|[ivx]{1,5}|Q\d+)\.\s+"
)
#: What may stand behind a formula.
_REMARK = re.compile(r"(?<=\S)\s+(?:#|//|%|<!--)\s+")
_COUNTED = re.compile(
    r"\s{2,}\(\d{1,3}\)\s*\Z|\\tag\*?\{\(?(?:[\d.]{1,8}[a-z']?|[A-Za-z*†])\)?\}"
    r"|\\label\{[\w:. -]+\}|\\(?:tag|label)\*?\{(?P<mark>[^{}]*)\}"
)
#: Characters without a width, where they stand in a word or beside one: what they keep apart in
#: a formula would be read as one name. Tags of HTML that only say how words look.
_WIDTHLESS = "[\u200b\u200c\u200d\u2060\ufeff\u00ad]+"
_UNSEEN = re.compile(
    rf"(?<=[^\W\d_][^\W\d_]){_WIDTHLESS}(?=[^\W\d_]{{2}})"
    rf"|(?<![\w)\]}}]){_WIDTHLESS}|{_WIDTHLESS}(?![\w(\[{{\\])"
)
_TAGS = re.compile(r"</?(?:b|i|u|em|strong|p|br|code|span|div|li|ul|ol|center|pre)\s*/?>")
_UNEQUAL = re.compile(r"≠|!=|\\neq?(?![A-Za-z])")
_WIDE = re.compile(r"(?:\\(?:quad|qquad)(?![A-Za-z])\s*)+")
_SPACING = re.compile(
    r"\\(?:quad|qquad|displaystyle|noindent|hfill|nonumber|notag|qed|qedhere)(?![A-Za-z])|\\[,;:!]"
    r"|\\(?:eq|auto|page|c)?ref\{[\w:. -]*\}|\\cite[a-z]*\{[\w:, -]*\}"
    r"|\$\\(?:square|blacksquare|Box)\$"
)
_ENVIRONMENT = "|".join(sorted(DISPLAYS | (INNER & {"aligned", "gathered", "split", "multlined"})))
_OPENS = re.compile(rf"(?<!\\)\\\[|\$\$|\\begin\{{(?:{_ENVIRONMENT})\*?\}}(?:\{{\d+\}})?")
_LAID = re.compile(rf"\\(?:begin|end)\{{(?:{_ENVIRONMENT})\*?\}}(?:\{{\d+\}})?")
#: Commands of a document that say nothing.
_SCAFFOLD = re.compile(
    r"(?:\\(?:documentclass|usepackage|begin|end|maketitle|label|noindent|newpage|clearpage|title"
    r"|author|date|bigskip|medskip|smallskip|qed|centering|par)\b\*?(?:\[[^\]]*\])*(?:\{[^{}]*\})*\s*)+"
)
_SECTION = re.compile(r"\\((?:sub)*)(?:section|paragraph|title)\*?\{(.*)\}\s*")
_HEADING = re.compile(r"(#+)\s+(\S.*?)[\s#]*")
_FENCE = re.compile(r"(?:```+|~~~+)\s*[\w.+-]*|-{3,}|\*{3,}|={3,}|_{3,}|\|[\s|:-]+\|")
_GOES_ON = re.compile(r"(?:[-+*/@=⊙∘·×−]|\\(?:cdot|odot|circ|times|left|approx|equiv))\s*\Z")
_FORMULA = re.compile(rf"{RELATION.pattern}|^[-+*/−]", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of a text: ``kind`` is a heading, a formula that is set as one, any other, or the
    gap after a paragraph. ``level`` is that of a heading; ``is_more`` where it surely goes on
    with the line before; ``remarks`` stand behind it."""

    at: int
    text: str
    kind: str = ""
    level: int = 0
    is_more: bool = False
    remarks: tuple[str, ...] = ()


class Layout:
    """The lines of a text, displays and what stands in open brackets put together; ``unclosed``
    is what is opened without being closed."""

    def __init__(self, physical: Sequence[str]) -> None:
        self.lines: list[Line] = []
        self.unclosed: list[tuple[int, str]] = []
        self._physical = physical

    def read(self) -> list[Line]:
        """All lines."""
        opened: list[tuple[int, str]] | None = None
        begun, closing = 0, _OPENS
        for at, whole in enumerate(self._physical, 1):
            rest = " ".join(_TAGS.sub(" ", _uncounted(_UNSEEN.sub("", whole))).split())
            if not rest and opened is None:
                self.lines.append(Line(at, "", "gap"))
            while rest:
                if opened is None:
                    start = _OPENS.search(rest)
                    if start is None or rest.startswith(("#", "%")):
                        self._plain(at, rest)
                        break
                    if before := rest[: start.start()].strip():
                        self._plain(at, before)
                    opened, begun, rest = [], at, rest[start.end() :].strip()
                    closing = _closing(start[0])
                end = closing.search(rest)
                # An environment within a display says nothing more.
                opened.append((at, _LAID.sub(" ", rest[: end.start()] if end else rest)))
                if end is None:
                    break
                rest = rest[end.end() :].strip(" .,;")
                self._display(opened)
                opened = None
        if opened is not None:
            self.unclosed.append((begun, "a display that begins here is not closed"))
        return [*self._together()]

    def _plain(self, at: int, line: str) -> None:
        if section := _SECTION.fullmatch(line):
            self.lines.append(Line(at, section[2], "heading", 2 + len(section[1])))
        elif heading := _HEADING.fullmatch(line):
            self.lines.append(Line(at, heading[2], "heading", len(heading[1])))
        elif line.startswith(("#", "%", "//", "<!--")):
            self.lines.append(Line(at, line.lstrip("#%/ "), "remark"))
        elif not _FENCE.fullmatch(line) and not _is_scaffold(line):
            text, remark = _split_remark(line)
            self.lines.append(Line(at, text, remarks=(remark,) if remark else ()))

    def _display(self, rows: list[tuple[int, str]]) -> None:
        """The rows of a display: those that an ``&`` or a sign begins go on."""
        parts: list[tuple[int, str]] = []
        for at, text in rows:
            first, *more = re.split(r"\\\\(?:\[[^\]]*\])?", text)
            if parts:
                parts[-1] = (parts[-1][0], f"{parts[-1][1]} {first}".strip())
            else:
                parts = [(at, first)]
            parts += [(at, row) for row in more]
        for place, (at, row) in enumerate(parts):
            plain = " ".join(unspaced(_uncounted(row)).split())
            is_more = place > 0 and bool(re.match(r"&|[+*/]", plain))
            for column in _columns(plain):
                self.lines.append(Line(at, column, "formula", is_more=is_more))
                is_more = False

    def _together(self) -> Iterator[Line]:
        """The lines with those put together that brackets or an operator at the end join."""
        at = 0
        while at < len(self.lines):
            line, at = self.lines[at], at + 1
            if line.kind not in ("", "formula"):
                yield line
                continue
            text, behind, remarks = line.text, at, line.remarks
            depth = open_brackets(text)
            while behind < len(self.lines) and self.lines[behind].kind == line.kind:
                is_open = depth > 0
                if len(text) > CHARACTERS.most or (
                    is_open and open_brackets(self.lines[behind].text) > 9
                ):
                    break
                if not is_open and not (_GOES_ON.search(text) and _FORMULA.search(text)):
                    break
                if not is_open and not re.search(r"(?:\s[*-]|[^*-])\Z", text):
                    break
                remarks += self.lines[behind].remarks
                depth += open_brackets(self.lines[behind].text)
                text, behind = f"{text} {self.lines[behind].text}", behind + 1
            if depth > 0:
                if RELATION.search(text):
                    self.unclosed.append((line.at, "a bracket that is opened here is not closed"))
                    continue
                text, behind, remarks = line.text, at, line.remarks
            at = behind
            yield replace(line, text=text, remarks=remarks)


def _uncounted(text: str) -> str:
    """A line without what counts it, unless that is a formula itself."""
    return _COUNTED.sub(lambda part: f" {part['mark'] or ''} ", text)


def _is_scaffold(line: str) -> bool:
    """Return whether a line has nothing but commands of a document, without a formula in them."""
    return bool(_SCAFFOLD.fullmatch(line)) and not any(
        map(related, re.findall(r"\{([^{}]*)\}", line))
    )


def _closing(opening: str) -> re.Pattern[str]:
    """Return what closes a display that is opened so."""
    if opening.startswith("\\begin"):
        return re.compile(re.escape(opening.partition("}")[0].replace("begin", "end") + "}"))
    return re.compile(r"\$\$" if opening == "$$" else r"(?<!\\)\\\]")


def open_brackets(text: str) -> int:
    """Return how many brackets stay open, marks of lists left out."""
    plain = re.sub(r"\\[{}]", "", text)
    if numbered := NUMBERED.match(plain):
        plain = plain[numbered.end() :]
    return sum((sign in "([{") - (sign in ")]}") for sign in plain)


def _columns(row: str) -> list[str]:
    """The formulas of a row of a display: between two of them stands every second ``&``."""
    cells = [cell.strip() for cell in row.split("&")]
    columns: list[str] = []
    for pair in zip(cells[::2], [*cells[1::2], ""], strict=False):
        text = " ".join(pair).strip()
        if columns and not _is_formula(text):
            columns[-1] = f"{columns[-1]} {text}".strip()
        elif text:
            columns.append(text)
    return columns


def _is_formula(text: str) -> bool:
    """Return whether what stands apart in a row is a formula, and not what one is of: ``i ≠ j``."""
    return related(text) and not _UNEQUAL.search(text)


def unspaced(text: str) -> str:
    """A line without signs of how far things are apart: between two formulas they are a comma."""
    pieces = _WIDE.split(text)
    between = ", " if len(pieces) > 1 and all(map(_is_formula, pieces)) else " "
    return _SPACING.sub(" ", between.join(pieces))


def _split_remark(text: str) -> tuple[str, str]:
    """A line and the remark behind it."""
    match = _REMARK.search(text)
    return (
        (text[: match.start()].rstrip(), text[match.end() :].strip(" ->")) if match else (text, "")
    )


# -- what stands around the formulas of a text -------------------------------------------
# Taken off, never a reason to pass one over.
#
# What only dresses a line is peeled off: marks of lists, quotes, brackets around all of it, words
# such as "hence", the reason behind it.

_ARROW = re.compile(r"(?:=>|⇒|⟹|∴|\\(?:Rightarrow|implies|therefore)(?![A-Za-z]))")
#: Marks of lists; those that may be signs of a formula are told apart by what stands around.
_BULLET = re.compile(r"(?:[•◦▪‣●○]|\\item(?![A-Za-z]))\s*")
DOUBTFUL = re.compile(r"([-−–—+*>])\s+")
_CHECKBOX = re.compile(r"\[(?P<box>[ xX])\]\s+")
_REASON = re.compile(
    r",?\s+(?=(?:because|since|by|as|using|from|due to|via|thanks to|according to)\b)"
)
_ALL = re.compile(
    r",?\s*(?:\bfor|∀|\\forall)\s*(?:all\b|every\b|each\b|any\b)?\s*"
    r"(?P<letters>[a-z](?:\s*(?:,|and)\s*[a-z])*)"
    r"(?:\s*=\s*1\s*,\s*(?:\.\.\.|…|\\l?dots)\s*,\s*(?P<last>\w+))?\s*\Z"
)
_APART = re.compile(
    r"(?:,|\s)\s*(?:\(|\b(?:for|if|where|when)\s+|(?<=,\s))\s*(?P<i>[\w\[\]()π\\]{1,12}?)\s*"
    r"(?:≠|!=|\\neq?(?![A-Za-z]))\s*(?P<j>[\w\[\]()π\\]{1,12}?)\s*\)?\s*\Z"
)
#: What encloses a line: brackets, and signs that no formula begins and ends with.
_FENCES = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("**", "**"), ("__", "__"), ("*", "*"), ("_", "_")),
    *(('"', '"'), ("'", "'"), ("“", "”"), ("„", "“"), ("«", "»"), ("‘", "’")),
)
_ITALIC = re.compile(r"([*_])(?=\w)([\w .:-]+)(?<=\S)\1\s+(?=\S)")
_ENDING = " .,;:∎□■◻✓✔\\"
_EMPHASIS = re.compile(r"(?<![\w)\]*])(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?![\w(\[*])")
_DRESS = re.compile(
    r"\\(?:text|textbf|textit|emph|mbox|boxed|fbox|underline)\{((?:[^{}]|\{[^{}]*\})*)\}"
)
#: Signs that a formula does not begin with.
CONTINUES = re.compile(r"(?:\*(?!\*)|[+/@⊙∘·×]|\\(?:cdot|odot|circ|times)(?![A-Za-z]))\s*(?=\S)")


@dataclass
class Peeled:
    """The parts of a line: its formulas; the words around them, and remarks behind them; the word
    by which formulas are assumed; all words around them, and what those before the first say that
    it is of; whether a sign behind the words may be a dash; the places that differ where it holds
    off the diagonal; the letters that it says to run to some end, with that; its mark in a list, in
    brackets or not; what of the words is not known to say nothing."""

    formulas: tuple[str, ...] = ()
    words: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    assumed: dict[str, str] = field(default_factory=dict)
    around: str = ""
    quantity: str = ""
    is_unclear: bool = False
    apart: tuple[str, str] | None = None
    ranges: tuple[tuple[str, str], ...] = ()
    marks: list[str] = field(default_factory=list)
    strange: str = ""


def _emphasised(match: re.Match[str]) -> str:
    """Return what stands between two marks: words, or a whole formula; else they are powers."""
    inner = match[2]
    is_plain = related(inner) or not re.search(r"[-+*/^=\d]", inner)
    return inner if is_plain else match[0]


def _ranges(match: re.Match[str]) -> tuple[tuple[str, str], ...]:
    """The letters that a quantifier says to run from 1 to some end."""
    letters = re.findall(r"\b[a-z]\b", re.sub(r"\band\b", ",", match["letters"]))
    return tuple((letter, match["last"]) for letter in letters) if match["last"] else ()


def peeled(line: str, wording: Wording) -> Peeled:
    """A line without what dresses it.

    >>> peeled("**(A = B)**, by the chain rule", Wording()).formulas
    ('A = B',)
    >>> peeled("twice A = B", Wording()).formulas, peeled("twice $A = B$", Wording()).strange
    (('twice A = B',), 'twice')
    """
    return _Peeler(wording).line(line)


def undressed(text: str, wording: Wording) -> str:
    """A line without what surely stands before its formula, and without quotes."""
    return _Peeler(wording).lead(" ".join(unquoted(text).split()))


def unmarked(text: str) -> str:
    """Words without marks of lists, and signs of how they look."""
    plain = _EMPHASIS.sub(r"\2", _DRESS.sub(r"\1", unspaced(text))).strip()
    for mark in (DOUBTFUL, _BULLET, NUMBERED):
        if match := mark.match(plain):
            plain = plain[match.end() :]
    return _ITALIC.sub(r"\2 ", plain).rstrip(" ∎□■◻✓✔")


class _Peeler:
    """Takes off a line what dresses it, as far as it is known to say nothing."""

    def __init__(self, wording: Wording) -> None:
        self._wording = wording
        self._result = Peeled()
        self._assumed = ""

    def line(self, line: str) -> Peeled:
        """Return what a whole line says."""
        result = self._result
        text = unspaced(line).strip()
        text = _EMPHASIS.sub(_emphasised, text) if related(unquoted(text)) else text
        around = framed(text)
        if "\0" in around and not related(around):
            self._among_words(text, around)
            return result
        if is_quoted(text) and (related(around) or not around.strip(f"\0{_ENDING}")):
            text = " ".join(unquoted(text).split())
        text = _EMPHASIS.sub(_emphasised, _DRESS.sub(r"\1", text)) if related(text) else text
        if related(text):
            self._unwrap(text)
        else:
            result.words.append(line)
        return result

    def _among_words(self, text: str, around: str) -> None:
        """Formulas between quotes, with words around them."""
        result = self._result
        formulas = [
            _DRESS.sub(r"\1", formula) for formula, _, _ in quoted(text) if related(formula)
        ]
        word = ""
        around = self._unmarked(around.lstrip())
        row = self._row(around)
        around = row or around
        pieces = [_DRESS.sub(r"\1", piece) for piece in around.split("\0")]
        for formula, before in zip(formulas, pieces, strict=False):
            inner = _Peeler(self._wording)
            inner._unwrap(formula)
            is_more = before.strip(" ,") in ("", "and")
            word = inner._assumed or assumed(before) or (word if is_more else "")
            if word and not inner._result.assumed:
                inner._result.assumed = dict.fromkeys(inner._result.formulas[:1], word)
            result.formulas += inner._result.formulas
            result.words += inner._result.words
            result.assumed |= inner._result.assumed
            result.is_unclear |= inner._result.is_unclear
            result.strange = result.strange or inner._result.strange
            result.apart = inner._result.apart if len(formulas) == 1 else None
            result.ranges += inner._result.ranges
        words = "\0".join(pieces).rstrip(_ENDING)
        before, _, behind = words.rpartition("\0")
        plain = behind.replace("\1", "")
        for pattern in (_APART, _ALL):
            if match := pattern.search(plain):
                if pattern is _APART:
                    result.apart = match["i"], match["j"]
                else:
                    result.ranges += _ranges(match)
                words = f"{before}\0{plain[: match.start()]}"
                break
        result.strange = result.strange or self._wording.strange(words)
        if re.search(r"[^\W\d_]{2}", words):
            result.words.append(text)

    def _unwrap(self, text: str) -> None:
        """Take off layer after layer until nothing but formulas is left."""
        result = self._result
        more: list[str] = []
        while True:
            before = text
            text = self.lead(text.strip())
            if text != before.strip() and re.match(r"[-−–]\s", text):
                result.is_unclear = True
            text = text.strip().rstrip(_ENDING) if not text.endswith("\\}") else text
            for opening, closing in _FENCES:
                inner = text[len(opening) : -len(closing)]
                is_around = text.startswith(opening) and text.endswith(closing) and related(inner)
                if is_around and (opening not in "([{" or _encloses(text, opening, closing)):
                    text = inner
            text = self._row(text) or text
            if apart := _APART.search(text):
                result.apart = apart["i"], apart["j"]
                text = text[: apart.start()]
            if quantified := _ALL.search(text):
                result.ranges += _ranges(quantified)
                text = text[: quantified.start()]
            end = self._wording.reason(text)
            if words := text[end:].strip():
                result.words.append(words)
                result.strange = result.strange or self._wording.stated(words)
                text = text[:end].rstrip(" ,")
            text, reason = _without_reason(text)
            if related(reason):
                behind = _Peeler(self._wording)
                behind._unwrap(reason)
                more += behind._result.formulas
                result.words.append(reason)
                result.strange = result.strange or behind._result.strange
            elif reason:
                result.strange = result.strange or reason
            if text == before:
                break
        formulas: list[str] = []
        word = self._assumed
        for sign, piece in _parts(text):
            self._assumed = ""
            formula = self.lead(piece)
            # What follows from it, or stands in another sentence, is no longer assumed, nor is
            # what words lead to: "assume x = 1, then y = 2".
            word = word if sign[:1] in ("", ",", "a") and formula == piece else ""
            word = self._assumed or word
            formulas.append(formula)
            if word:
                result.assumed[formula] = word
        result.formulas = (*formulas, *more)
        self._assumed = word

    def _row(self, text: str) -> str:
        """The formula among the cells of a table's row; '' if that is no row."""
        if not re.fullmatch(r"\|\s.*\s\|", text):
            return ""
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        if not all(cells) or sum("\0" in cell or related(cell) for cell in cells) != 1:
            return ""
        row = [cell for cell in cells if "\0" in cell or related(cell)]
        words = [cell for cell in cells[cells[0].isdigit() :] if cell not in row]
        if begins(row[0]) or any(map(self._wording.strange, words)):
            return ""
        self._result.words += words
        return row[0]

    def lead(self, text: str) -> str:
        """A line without what stands before its formula, that says nothing of it."""
        while True:
            before = text
            while (unmarked := self._unmarked(text)) != text:
                text = unmarked
            if end := self._wording.lead(text):
                words = text[:end].strip()
                result = self._result
                result.strange = result.strange or self._wording.stated(f"{words} \0")
                if not CONTINUES.match(text[end:]):
                    self._assumed = assumed(words) or ("" if text[end:] else self._assumed)
                    if len(words.split()) > 2 or ":" in words:
                        self._result.words.append(words)
                    text = text[end:]
            if text == before:
                return text

    def _unmarked(self, text: str) -> str:
        """A line without marks of lists, and arrows before it."""
        for pattern in (_BULLET, _CHECKBOX, _ITALIC, NUMBERED, _ARROW):
            match = pattern.match(text)
            rest = text[match.end() :].lstrip() if match else ""
            if match is None or CONTINUES.match(rest) or begins(rest):
                continue
            is_word = pattern is _ITALIC and not self._wording.strange(match[2])
            is_box = pattern is _CHECKBOX and not self._wording.is_known(match["box"])
            if pattern in (_ITALIC, _CHECKBOX) and not (is_word or is_box):
                continue
            if pattern is NUMBERED:
                self._result.marks.append(match[0].strip())
            if pattern is _ARROW:
                self._assumed = ""
            return rest
        return text


def _without_reason(text: str) -> tuple[str, str]:
    """A line without the reason behind it, and that."""
    for match in _REASON.finditer(text):
        before = text[: match.start()]
        if open_brackets(before) <= 0 and related(before):
            return before, text[match.end() :]
    return text, ""


def _encloses(text: str, opening: str, closing: str) -> bool:
    """Return whether a bracket at the beginning closes at the end."""
    depths = [*accumulate((sign == opening) - (sign == closing) for sign in text)]
    return 0 not in depths[:-1]


_BETWEEN = re.compile(r"[,;.]\s+(?:and\s+)?|;|\s+and\s+|\s+(?=(?:so|hence|then)\s)")


def _parts(text: str, sign: str = "") -> Iterator[tuple[str, str]]:
    """Formulas with commas, "and" or arrows of logic between them, where each relates two sides;
    each with what stands before it."""
    for pattern in (_ARROW, _BETWEEN):
        signs = [sign, *(match[0].strip() for match in outside(text, pattern))]
        pieces = [
            (before, piece)
            for before, piece in zip(signs, apart(text, pattern), strict=True)
            if piece
        ]
        if len(pieces) > 1 and all(related(piece) for _, piece in pieces):
            for before, piece in pieces:
                yield from _parts(piece, before)
            return
    yield sign, text


def outside(formula: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Return where a pattern is found outside of brackets: who reads formulas looks inside."""
    depths = [0, *accumulate((sign in "([{") - (sign in ")]}") for sign in formula)]
    return (piece for piece in pattern.finditer(formula) if depths[piece.start()] == 0)


def apart(formula: str, pattern: re.Pattern[str]) -> list[str]:
    """Return what stands between the places where a pattern is found."""
    pieces, start = [], 0
    for separator in outside(formula, pattern):
        pieces.append(formula[start : separator.start()].strip())
        start = separator.end()
    return [*pieces, formula[start:].strip()]
