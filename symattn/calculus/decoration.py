r"""What stands around the formulas of a text: taken off, never a reason to pass one over.

A text becomes lines, each a formula's or words, with displays and what goes on over several
lines put together; then what only dresses a line is peeled off: marks of lists, quotes,
brackets around all of it, words such as "hence", the reason behind it.

>>> peeled("3) Hence $A = B$.").formulas
('A = B',)
>>> peeled("**(A = B)**, by the chain rule").formulas, peeled("twice A = B").formulas
(('A = B',), ('twice A = B',))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from symattn.calculus.relations import RELATION, begins, related
from symattn.documents.text import DISPLAYS, INNER
from symattn.limits import CHARACTERS
from symattn.spelling import words as vocabulary

_ARROW = re.compile(r"(?:=>|⇒|⟹|∴|\\(?:Rightarrow|implies|therefore)(?![A-Za-z]))")
#: Words that may stand before a formula, and say nothing of what it means.
_LEADS = vocabulary(
    "so hence then thus therefore now and also next finally first second third again indeed"
    " consequently accordingly similarly likewise clearly obviously we get have find obtain see"
    " know note observe recall conclude write define set let put denote that it follows gives"
    " yields giving yielding this which here where thereby since because as because i.e. e.g. ie"
    " namely claim proof show prove verify check answer solution in particular also moreover"
    " furthermore but however means says states implies know, by definition i.e., of course"
)
_ASSUME = re.compile(
    r"(?:assum(?:e|ing)|suppos(?:e|ing)|where)\b[,:]?\s*(?:that\b\s*)?", re.IGNORECASE
)
_ASSUMING = re.compile(r"\b(assume|assuming|suppose|where)[,:]?(?:\s+that)?\s*\Z", re.IGNORECASE)
#: A phrase before a formula, up to its comma or to what goes on.
_PHRASE = re.compile(
    r"(?:by|from|using|with|for|in|after|due to|applying|differentiating|substituting|inserting"
    r"|taking|multiplying|summing|at|on|if we|when we|as)\s[^=<>≤≥≠≡≈→*/+^_\[\]{}\\$`@]*?"
    r"(?:[,:]\s+|\s(?:we (?:get|have|find|obtain)|gives|yields)\s+)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[A-Za-z][\w.’' -]*(?:\([\w .-]*\))?[.:](?<=:)\s+(?=\S)(?!=)")
_TITLED = re.compile(
    r"(?:exercise|problem|question|task|part|step|claim|lemma|theorem|proposition|corollary|proof"
    r"|remark|answer|solution|equation|eq)\b\.?\s*(?:\(?[\w.]{1,6}\)?)?\s*[.:)]\s+",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"\((?P<both>\d{1,3}(?:\.\d{1,3})*[a-z]?|[A-Za-z]|[ivx]{1,5})\)\s+"
    r"|(?:\d{1,3}(?:\.\d{1,3})*[a-z]?|[A-Za-z]|[ivx]{1,5}|Q\d+)\)\s+"
    r"|(?:\d{1,3}(?:\.\d{1,3})*[a-z]?|[a-z]|[ivx]{1,5}|Q\d+)\.\s+"
)
#: Marks of lists; those that may be signs of a formula are told apart by what stands around.
_BULLET = re.compile(r"(?:[•◦▪‣●○—]|\\item(?:\[[^\]]*\])?)\s*")
DOUBTFUL = re.compile(r"([-−–+*>])\s+")
_CHECKBOX = re.compile(r"\[[ xX]\]\s+")
#: What may stand behind a formula.
_REMARK = re.compile(r"(?<=\S)\s+(?:#|//|%|<!--)\s+")
_REASON = re.compile(
    r",?\s+(?=(?:because|since|by|as|using|from|due to|via|thanks to|according to)\b)"
)
_ALL = re.compile(
    r",?\s*(?:\bfor|∀|\\forall)\s*(?:all\b|every\b|each\b|any\b)?\s*[a-z](?:\s*(?:,|and)\s*[a-z])*"
    r"(?:\s*=\s*1\s*,\s*(?:\.\.\.|…|\\l?dots)\s*,\s*\w+)?\s*\Z"
)
_APART = re.compile(
    r"(?:,|\s)\s*(?:\(|\b(?:for|if|where|when)\s+|(?<=,\s))\s*(?P<i>[\w\[\]()π\\]{1,12}?)\s*"
    r"(?:≠|!=|\\neq?(?![A-Za-z]))\s*(?P<j>[\w\[\]()π\\]{1,12}?)\s*\)?\s*\Z"
)
_COUNTED = re.compile(r"\s{2,}\(\d{1,3}\)\s*\Z|\\(?:tag|label)\*?\{(?P<mark>[^{}]*)\}")
#: What encloses a line: brackets, and signs that no formula begins and ends with.
_FENCES = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("**", "**"), ("__", "__"), ("*", "*"), ("_", "_")),
    *(('"', '"'), ("'", "'"), ("“", "”"), ("„", "“"), ("«", "»"), ("‘", "’")),
)
_ITALIC = re.compile(r"([*_])(?=\w)([\w .:-]+)(?<=\S)\1\s+(?=\S)")
_BRACKETED_WORDS = re.compile(
    r"\s+[(\[]([A-Za-z][a-z’'-]+(?:[\s,.]+[a-z][a-z’'-]+){0,11}[\s,.]*)[)\]]\s*\Z"
)
_ENDING = " .,;:∎□■◻✓✔✗\\"
_QUOTED = re.compile(r"`+([^`]+)`+|\$\$?([^$]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]")
_EMPHASIS = re.compile(r"(?<![\w)\]*])(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?![\w(\[*])")
_SIGNS_BESIDE = re.compile(r"[+*/@^_\\{}|~−÷·×±∓∕∖∗∘∙⊕⊖⊗⊘⊙⋅⋆]|\s-\s|-\s*\Z")
#: Characters without a width, and tags of HTML that only say how words look.
_UNSEEN = dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD))
_TAGS = re.compile(r"</?(?:b|i|u|em|strong|p|br|code|span|div|li|ul|ol|center|pre)\s*/?>")
_SPACING = re.compile(
    r"\\(?:quad|qquad|displaystyle|noindent|hfill|nonumber|notag|qed|qedhere)(?![A-Za-z])|\\[,;:!]"
)
_DRESS = re.compile(
    r"\\(?:text|textbf|textit|emph|mbox|boxed|fbox|underline)\{((?:[^{}]|\{[^{}]*\})*)\}"
)
_ENVIRONMENT = "|".join(sorted(DISPLAYS | (INNER & {"aligned", "gathered", "split", "multlined"})))
_OPENS = re.compile(rf"(?<!\\)\\\[|\$\$|\\begin\{{(?:{_ENVIRONMENT})\*?\}}(?:\{{\d+\}})?")
_LAID = re.compile(rf"\\(?:begin|end)\{{(?:{_ENVIRONMENT})\*?\}}(?:\{{\d+\}})?")
#: Commands of a document that say nothing.
_SCAFFOLD = re.compile(
    r"(?:\\(?:documentclass|usepackage|begin|end|maketitle|label|noindent|newpage|clearpage|title"
    r"|author|date|bigskip|medskip|smallskip|qed|centering|par)\b\*?(?:\[[^\]]*\])*(?:\{[^{}]*\})*\s*)+"
)
_SECTION = re.compile(r"\\(?:sub)*(?:section|paragraph|title)\*?\{(.*)\}\s*")
_HEADING = re.compile(r"(#+)\s+(\S.*?)[\s#]*")
_FENCE = re.compile(r"(?:```+|~~~+)\s*[\w.+-]*|-{3,}|\*{3,}|={3,}|_{3,}")
_GOES_ON = re.compile(r"(?:[-+*/@=⊙∘·×−]|\\(?:cdot|odot|circ|times|left|approx|equiv))\s*\Z")
_FORMULA = re.compile(rf"{RELATION.pattern}|^[-+*/−]", re.IGNORECASE)
#: Signs that a formula does not begin with.
CONTINUES = re.compile(r"(?:\*(?!\*)|[+/@⊙∘·×]|\\(?:cdot|odot|circ|times)(?![A-Za-z]))\s*(?=\S)")


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


def laid_out(lines: Sequence[str]) -> tuple[list[Line], list[tuple[int, str]]]:
    """The lines of a text, displays and what stands in open brackets put together; and what is
    opened without being closed."""
    layout = _Layout(lines)
    return layout.read(), layout.unclosed


class _Layout:
    """The lines of a text, displays and what stands in open brackets put together."""

    def __init__(self, physical: Sequence[str]) -> None:
        self.lines: list[Line] = []
        self.unclosed: list[tuple[int, str]] = []
        self._physical = physical

    def read(self) -> list[Line]:
        """All lines."""
        opened: list[tuple[int, str]] | None = None
        begun, closing = 0, _OPENS
        for at, whole in enumerate(self._physical, 1):
            rest = " ".join(_TAGS.sub(" ", _uncounted(whole.translate(_UNSEEN))).split())
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
            self.lines.append(Line(at, section[1], "heading", 2))
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
            plain = " ".join(_SPACING.sub(" ", _uncounted(row)).split())
            is_more = place > 0 and bool(re.match(r"&|[+*/]", plain))
            plain = plain.replace("&", " ").strip()
            if plain:
                self.lines.append(Line(at, plain, "formula", is_more=is_more))

    def _together(self) -> Iterator[Line]:
        """The lines with those put together that brackets or an operator at the end join."""
        at = 0
        while at < len(self.lines):
            line, at = self.lines[at], at + 1
            if line.kind not in ("", "formula"):
                yield line
                continue
            text, behind, remarks = line.text, at, line.remarks
            depth = _depth(text)
            while behind < len(self.lines) and self.lines[behind].kind == line.kind:
                is_open = depth > 0
                if len(text) > CHARACTERS.most or (is_open and _depth(self.lines[behind].text) > 9):
                    break
                if not is_open and not (_GOES_ON.search(text) and _FORMULA.search(text)):
                    break
                if not is_open and not re.search(r"(?:\s[*-]|[^*-])\Z", text):
                    break
                remarks += self.lines[behind].remarks
                depth += _depth(self.lines[behind].text)
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
    return _COUNTED.sub(
        lambda part: f" {mark} " if related(mark := part["mark"] or "") else "", text
    )


def _is_scaffold(line: str) -> bool:
    """Whether a line has nothing but commands of a document, without a formula in them."""
    return bool(_SCAFFOLD.fullmatch(line)) and not any(
        map(related, re.findall(r"\{([^{}]*)\}", line))
    )


def _closing(opening: str) -> re.Pattern[str]:
    """What closes a display that is opened so."""
    if opening.startswith("\\begin"):
        return re.compile(re.escape(opening.partition("}")[0].replace("begin", "end") + "}"))
    return re.compile(r"\$\$" if opening == "$$" else r"(?<!\\)\\\]")


def _depth(text: str) -> int:
    """How many brackets stay open, marks of lists left out."""
    plain = re.sub(r"\\[{}]", "", text)
    if numbered := _NUMBERED.match(plain):
        plain = plain[numbered.end() :]
    return sum((sign in "([{") - (sign in ")]}") for sign in plain)


@dataclass
class Peeled:
    """What a line says: its formulas; the words around them, and remarks behind them; the word
    by which formulas are assumed; whether a sign behind the words may be a dash; the places
    that differ where it holds off the diagonal."""

    formulas: tuple[str, ...] = ()
    words: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    assumed: dict[str, str] = field(default_factory=dict)
    is_unclear: bool = False
    apart: tuple[str, str] | None = None
    numbered: str = ""


def peeled(line: str) -> Peeled:
    """A line without what dresses it."""
    result = Peeled()
    text = _SPACING.sub(" ", line).strip()
    text = _EMPHASIS.sub(r"\2", text) if related(text) else text
    quoted = [*_QUOTED.finditer(text)]
    outside = _QUOTED.sub(" ", text)
    if any(related(_content(part)) for part in quoted) and not related(outside):
        return _among_words(result, text, quoted)
    if quoted and (related(outside) or len(outside.strip(_ENDING)) == 0):
        text = _QUOTED.sub(lambda part: f" {_content(part)} ", text)
        text = " ".join(text.split())
    text = _EMPHASIS.sub(r"\2", _DRESS.sub(r"\1", text)) if related(text) else text
    if not related(text):
        result.words.append(line)
        return result
    _unwrap(result, text)
    return result


def _split_remark(text: str) -> tuple[str, str]:
    """A line and the remark behind it."""
    match = _REMARK.search(text)
    return (
        (text[: match.start()].rstrip(), text[match.end() :].strip(" ->")) if match else (text, "")
    )


def is_quoted(text: str) -> bool:
    """Whether formulas stand between quotes in a line."""
    return _QUOTED.search(text) is not None


def quotes(text: str) -> list[str]:
    """The formulas that stand between quotes in a line."""
    return [_content(part) for part in _QUOTED.finditer(text)]


def beside_quotes(text: str) -> list[str]:
    """What stands before, between and behind formulas between quotes, without marks of lists."""
    first, *more = _QUOTED.sub("\0", text).split("\0")
    return [_leads(Peeled(), first.lstrip())[0], *more]


def around_quotes(text: str) -> str:
    """The words of a line without the formulas that stand between quotes."""
    return _QUOTED.sub(" ", text)


def unquoted(text: str) -> str:
    """A line without quotes around its formulas."""
    return _QUOTED.sub(lambda part: f" {_content(part)} ", text)


def undressed(text: str) -> str:
    """A line without what surely stands before its formula, and without quotes."""
    return _leads(Peeled(), " ".join(unquoted(text).split()))[0]


def _content(part: re.Match[str]) -> str:
    return next(group for group in part.groups() if group is not None).strip()


def _among_words(result: Peeled, text: str, quoted: list[re.Match[str]]) -> Peeled:
    """Formulas between quotes, with words around them."""
    formulas: list[str] = []
    end = 0
    for part in quoted:
        if related(_content(part)):
            inner = Peeled()
            _unwrap(inner, _DRESS.sub(r"\1", _content(part)))
            formulas, result.words = [*formulas, *inner.formulas], result.words + inner.words
            result.is_unclear |= inner.is_unclear
            result.assumed |= inner.assumed
            result.apart = inner.apart if len(quoted) == 1 else None
            if assumed := _ASSUMING.search(text[end : part.start()]):
                result.assumed |= dict.fromkeys(inner.formulas, assumed[1].lower())
        end = part.end()
    result.formulas = tuple(formulas)
    outside = _QUOTED.sub(" ", text)
    mark = DOUBTFUL.match(outside)
    if _SIGNS_BESIDE.search(outside, mark.end() if mark else 0):
        # More than words stands beside them: all of it is read, or refused, as a formula.
        result.formulas = (_QUOTED.sub(lambda part: _content(part), text),)
    if {word.lower() for word in re.findall(r"[A-Za-z]{2,}", outside)} - _LEADS:
        result.words.append(text)
    return result


def _unwrap(result: Peeled, text: str) -> None:
    """Take off layer after layer until nothing but formulas is left."""
    assumed = ""
    more: list[str] = []
    while True:
        before = text
        text, word = _leads(result, text.strip())
        assumed = assumed or word
        if text != before.strip() and re.match(r"[-−–]\s", text):
            result.is_unclear = True
        text = text.strip().rstrip(_ENDING) if not text.endswith("\\}") else text
        for opening, closing in _FENCES:
            inner = text[len(opening) : -len(closing)]
            is_around = text.startswith(opening) and text.endswith(closing) and related(inner)
            if is_around and (opening not in "([{" or _encloses(text, opening, closing)):
                text = inner
        if text.startswith("|") and text.endswith("|"):
            # The row of a table.
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if sum(map(related, cells)) == 1 and not any(map(begins, cells)):
                result.words += [cell for cell in cells if cell and not related(cell)]
                text = next(filter(related, cells))
        if apart := _APART.search(text):
            result.apart = apart["i"], apart["j"]
            text = text[: apart.start()]
        if quantified := _ALL.search(text):
            text = text[: quantified.start()]
        if aside := _BRACKETED_WORDS.search(text):
            result.words.append(aside[1])
            text = text[: aside.start()]
        text, reason = _without_reason(text)
        if reason:
            result.words.append(reason)
            behind = Peeled()
            if related(reason):
                _unwrap(behind, reason)
            more += behind.formulas
        if text == before:
            break
    formulas: list[str] = []
    for sign, piece in _parts(text):
        formula, word = _leads(result, piece)
        # What follows from it, or stands in another sentence, is no longer assumed.
        assumed = assumed if sign[:1] in ("", ",", "a") else ""
        # "Assume x = 1, then y = 2": what goes on so is no longer assumed.
        assumed = word or ("" if formula != piece else assumed)
        formulas.append(formula)
        if assumed:
            result.assumed[formula] = assumed
    result.formulas = (*formulas, *more)


def _without_reason(text: str) -> tuple[str, str]:
    """A line without the reason behind it, and that."""
    for match in _REASON.finditer(text):
        before = text[: match.start()]
        if _depth(before) <= 0 and related(before):
            return before, text[match.end() :]
    return text, ""


def _leads(result: Peeled, text: str) -> tuple[str, str]:
    """A line without what stands before its formula, and the word by which it is assumed."""
    word = ""
    while True:
        for pattern in (_BULLET, _CHECKBOX, _ITALIC, _TITLED, _NUMBERED, _ARROW, _PHRASE):
            match = pattern.match(text)
            if (
                match
                and not CONTINUES.match(text[match.end() :])
                and not begins(text[match.end() :])
            ):
                if pattern is _NUMBERED:
                    result.numbered = match["both"] or "1"
                elif pattern is _ITALIC:
                    result.words.append(match[2])
                elif pattern is _PHRASE:
                    result.words.append(match[0].strip())
                text = text[match.end() :].lstrip()
                break
        else:
            if assumed := _ASSUME.match(text):
                word = assumed[0].split()[0].lower().strip(",:")
                text = text[assumed.end() :]
            elif label := _LABEL.match(text):
                if related(label[0]):
                    return text, word
                result.words.append(label[0].strip())
                text = text[label.end() :]
            else:
                first, _, rest = text.partition(" ")
                if first.strip(",:;").lower() not in _LEADS or not rest or begins(rest):
                    return text, word
                text = rest.lstrip()


def _encloses(text: str, opening: str, closing: str) -> bool:
    """Whether a bracket at the beginning closes at the end."""
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
    """Where a pattern is found outside of brackets; what is within is for who reads formulas."""
    depths = [0, *accumulate((sign in "([{") - (sign in ")]}") for sign in formula)]
    return (piece for piece in pattern.finditer(formula) if depths[piece.start()] == 0)


def apart(formula: str, pattern: re.Pattern[str]) -> list[str]:
    """What stands between the places where a pattern is found."""
    pieces, start = [], 0
    for separator in outside(formula, pattern):
        pieces.append(formula[start : separator.start()].strip())
        start = separator.end()
    return [*pieces, formula[start:].strip()]
