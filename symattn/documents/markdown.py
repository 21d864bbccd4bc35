"""Markdown and its dialects (GitHub, Quarto, R Markdown, MyST): containers by a
CommonMark parser, the mathematics inside on the raw text.

The parser gives the lines of blocks (:mod:`~symattn.documents.commonmark`); the
characters are found in these lines again, so that each keeps its place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from symattn.documents import commonmark
from symattn.documents.article import Block, Contents, TableCell, listing
from symattn.documents.commonmark import (
    MATH_DIRECTIVE,
    Closers,
    notes,
    paragraphs,
    pieces,
    together,
)
from symattn.documents.text import Text
from symattn.spelling import words

if TYPE_CHECKING:
    from markdown_it.token import Token

#: Directives in directives whose content is Markdown again.
_DIRECTIVES = 8

_FRONT = re.compile(
    r"(---|\+\+\+)[ \t]*+\n((?:(?!\1|\.\.\.)[^\n]*+\n)*+)(?:\1|\.\.\.)[ \t]*+(?:\n|\Z)"
)
_TITLE = re.compile(r"(?m)^title[ \t]*+[:=][ \t]*+(.*+)$")
_DEFINITION = re.compile(
    r"(?m)^ {0,3}+\[([^\[\]\n^][^\[\]\n]*+)\]:[ \t]*+[^\s]++[ \t]*+(?:[\"'(][^\n]*+)?$"
)
_HEADING_END = re.compile(r"[ \t]++#++[ \t]++\{:?+[ ]*+[#.][^{}\n]*+\}\Z")
_TASK = re.compile(r"\[[ xX]\][ \t]++")
_OPTION = re.compile(r":[a-z][a-z0-9_-]*+:(?:[ \t][^\n]*+)?\n|\n")
_ESCAPED_BAR = re.compile(r"\\\|")
_COLON_LINES = re.compile(r"(?m)^:{3,}+[^\n]*+$")
#: Elements that mean something beside their text.
_STRUCTURE = re.compile(
    r"<(?:table|pre|math|script|style|svg|iframe|[uod]l|h[1-6]|annotation|t[rhd])\b|katex|mathjax",
    re.IGNORECASE,
)
_ENGINES = words(
    "python python3 ipython3 r julia bash sh sql js javascript ojs c cpp rust matlab octave"
)
_CODE_DIRECTIVES = words("code code-block code-cell sourcecode literalinclude")
_NO_TEXT = words("image bibliography toctree mermaid raw eval-rst dot include index")


def read(source: Text) -> Contents:
    """The blocks of a Markdown text, whose line ends are ``\\n``, and the title in its
    front matter.

    >>> contents = read(Text.whole("---\\ntitle: By hand\\n---\\nSo\\n$$x = 1$$"))
    >>> contents.title, [block.kind for block in contents.blocks]
    ('By hand', ['prose', 'formula'])
    """
    front = _FRONT.match(source.string)
    match = _TITLE.search(front[2]) if front else None
    title = match[1].strip().strip("\"'").strip() if match else ""
    body = source[front.end() :] if front else source
    return Contents(tuple(_MarkdownReader(body).blocks()), title)


def blocks(source: Text) -> tuple[Block, ...]:
    """The blocks alone."""
    return read(source).blocks


# -- from tokens to blocks --------------------------------------------------------------


class _MarkdownReader:
    def __init__(self, text: Text, depth: int = 0) -> None:
        self.text = text
        self.string = text.string
        self.depth = depth
        self.labels = {match[1].lower() for match in _DEFINITION.finditer(self.string)}
        self.closers = Closers(self.string)
        self.found: list[Block] = []
        self.starts = [0]
        for line in self.string.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    def blocks(self) -> list[Block]:
        tokens = commonmark.tokens(self.string)
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "heading_open":
                self._heading(token, tokens[at + 1])
                at += 3
            elif token.type == "paragraph_open":
                self._paragraph(tokens[at + 1])
                at += 3
            elif token.type == "table_open":
                at = self._table(tokens, at)
            elif token.type == "html_block":
                at = self._html(tokens, at)
            else:
                self._other(token)
                at += 1
        return self.found

    def _placed(self, token: Token) -> Text:
        """The content of a token, found in its lines again.

        The parser takes marks of containers and blanks off both ends of lines, so
        what is left ends where its line does.
        """
        assert token.map is not None
        first = token.map[0] + (token.type == "fence")
        parts = []
        for k, line in enumerate(token.content.split("\n")):
            if first + k + 1 >= len(self.starts):
                break
            start, end = self.starts[first + k], self.starts[first + k + 1] - 1
            core = line.strip()
            stop = start + len(self.string[start:end].rstrip())
            at = stop - len(core)
            lead = line[: len(line) - len(line.lstrip())] if core else ""
            while lead and at > start and self.string[at - 1] == lead[-1]:
                lead, at = lead[:-1], at - 1
            # Blanks that are left are of a tab, part of which belonged to the container.
            parts += [Text.at(lead, self.text.span(at, at)), self.text[at:stop]]
            parts.append(self.text[end : end + 1])
        text = Text.joined(parts)
        return text[: len(text.string.rstrip("\n"))]

    # -- words --------------------------------------------------------------------

    def _heading(self, token: Token, inline: Token) -> None:
        if token.markup.startswith("#") and inline.map:
            start, end = self.starts[inline.map[0]], self.starts[inline.map[0] + 1] - 1
            marks = self.string.index(token.markup, start, end) + len(token.markup)
            at = self.string.index(inline.content, marks, end)
            text = self.text[at : at + len(_HEADING_END.sub("", inline.content))]
        else:
            text = self._placed(inline)
        content = pieces(text, self.labels)
        self.found.append(Block("heading", together(content), level=int(token.tag[1])))
        self.found += notes(content)

    def _paragraph(self, inline: Token) -> None:
        text = self._placed(inline).sub(_DEFINITION, "").sub(_COLON_LINES, "")
        if task := _TASK.match(text.string):
            text = text[task.end() :]
        self._words(text)

    def _words(self, text: Text) -> None:
        self.found += paragraphs(pieces(text, self.labels))

    # -- formulas, code, tables ------------------------------------------------------

    def _formula(self, text: Text) -> None:
        stripped = text.stripped()
        if stripped:
            self.found.append(Block.of("formula", commonmark.formula(stripped)))

    def _other(self, token: Token) -> None:
        if token.type == "display":
            text = self._placed(token)
            if directive := MATH_DIRECTIVE.match(text.string):
                last = text.string.rstrip().rfind("\n")
                self._formula(_without_options(text[directive.end() + 1 : last]))
            else:
                self._words(text)
        elif token.type == "deep":
            self._words(self._placed(token))
        elif token.type == "code_block":
            text = self._placed(token)
            if text.string.strip().startswith(("$$", "\\[", "\\begin{")):
                self._words(text)
            else:
                self.found += listing(text, before=self.found)
        elif token.type == "fence":
            self._fence(token)

    def _html(self, tokens: list[Token], at: int) -> int:
        """A block of tags: words and formulas between them, or what only HTML has."""
        token = tokens[at]
        text = self._placed(token)
        at += 1
        if _STRUCTURE.search(text.string) is None:
            self._words(text)
            return at
        # The parser ends a block at a blank line, in the midst of a table too.
        string = text.string.lower()
        if token.map and token.level == 0 and string.rfind("<table") > string.rfind("</table"):
            end = self.closers.after("</table", self.starts[token.map[1]])
            if end >= 0:
                last = bisect_right(self.starts, end)
                text = self.text[self.starts[token.map[0]] : self.starts[last] - 1]
                while at < len(tokens) and (tokens[at].map or [0])[0] < last:
                    at += 1
        from symattn.documents import html

        self.found += html.read(text).blocks
        return at

    def _fence(self, token: Token) -> None:
        text = self._placed(token)
        directive, language = _info(token.info)
        if directive == "math":
            self._formula(_without_options(text))
        elif directive in ("=latex", "=tex"):
            from symattn.documents import latex

            self.found += latex.read(text).blocks
        elif directive == "=html":
            from symattn.documents import html

            self.found += html.read(text).blocks
        elif directive in _NO_TEXT:
            return
        elif directive and self.depth < _DIRECTIVES:
            inner = _MarkdownReader(_without_options(text), self.depth + 1)
            inner.labels |= self.labels
            self.found += inner.blocks()
        else:
            self.found += listing(text, language, before=self.found)

    def _table(self, tokens: list[Token], at: int) -> int:
        rows: list[tuple[TableCell, ...]] = []
        said: list[Block] = []
        row: list[TableCell] = []
        while tokens[at].type != "table_close":
            token = tokens[at]
            if token.type == "tr_open":
                end = self.starts[token.map[1] if token.map else 0] - 1
                cells = self._cells(end - token.meta["length"], end)
                row = []
            elif token.type in ("th_open", "td_open"):
                text = cells[len(row)] if len(row) < len(cells) else self.text[:0]
                content = pieces(text, self.labels)
                row.append(TableCell(together(content), token.type == "th_open"))
                said += notes(content)
            elif token.type == "tr_close":
                rows.append(tuple(row))
            at += 1
        self.found += [Block("table", rows=tuple(rows)), *said]
        return at + 1

    def _cells(self, start: int, end: int) -> list[Text]:
        """The cells of a row, as GitHub divides it; a bar behind a backslash is none."""
        row = self.text[start:end]
        bars = [bar.start() for bar in re.finditer(r"(?<!\\)\|", row.string)]
        cells = [
            row[first + 1 : last].sub(_ESCAPED_BAR, "|").stripped()
            for first, last in pairwise([-1, *bars, len(row)])
        ]
        if not cells[0]:
            del cells[0]
        if cells and not cells[-1]:
            del cells[-1]
        return cells


def _without_options(text: Text) -> Text:
    """The content of a directive, without the options at its beginning."""
    at = 0
    while option := _OPTION.match(text.string, at):
        at = option.end()
    return text[at:]


def _info(info: str) -> tuple[str, str]:
    """The directive and the language that a fence names, each '' where it names none.

    >>> _info("{code-cell} ipython3"), _info("{.python .x}"), _info("{math}"), _info("math")
    (('', 'ipython3'), ('', 'python'), ('math', ''), ('math', ''))
    """
    info = info.strip()
    if not info.startswith("{"):
        word = re.split(r"[\s{,:]", info, maxsplit=1)[0].lower()
        return ("math", "") if word == "math" else ("", word)
    inside, _, rest = info[1:].partition("}")
    word = (re.split(r"[\s,]", inside.strip(), maxsplit=1)[0]).lower()
    if word.startswith("="):
        return word, ""
    if word.startswith((".", "#")):
        classes = re.findall(r"\.([\w+-]++)", inside)
        return "", classes[0].lower() if classes else ""
    if word in _CODE_DIRECTIVES:
        return "", rest.strip().split(" ")[0].lower()
    if word in _ENGINES:
        return "", word
    return word, ""
