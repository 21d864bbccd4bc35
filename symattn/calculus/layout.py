"""A text as lines, each a formula's or words: displays and what goes on over several lines put
together, scaffolds of documents left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from symattn.calculus.relations import RELATION, related
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
    """Whether a line has nothing but commands of a document, without a formula in them."""
    return bool(_SCAFFOLD.fullmatch(line)) and not any(
        map(related, re.findall(r"\{([^{}]*)\}", line))
    )


def _closing(opening: str) -> re.Pattern[str]:
    """What closes a display that is opened so."""
    if opening.startswith("\\begin"):
        return re.compile(re.escape(opening.partition("}")[0].replace("begin", "end") + "}"))
    return re.compile(r"\$\$" if opening == "$$" else r"(?<!\\)\\\]")


def open_brackets(text: str) -> int:
    """How many brackets stay open, marks of lists left out."""
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
    """Whether what stands apart in a row is a formula, and not what one is of: ``i ≠ j``."""
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
