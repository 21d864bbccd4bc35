"""Notes in an article: what stands behind ``symattn:`` in its comments.

Each line of a note says one thing::

    S_scaled = S / sqrt(d_k)        a step
    X = [[1, 0], [0, 1]]            numbers that are given
    dL/dY = [[1, 0], [0, 1]]        the upstream gradient
    "context vectors" = Y           what a phrase means
    tokens = cat, sat, mat          what the rows are called
    count from 0                    what subscripts count from
    A[0], A[1]                      what the values that come next are of
    0.507 = A[0, 0]                 what the next figure that is written so is of
    under "scaled scores"           what is read as if under that heading
    ignore                          the block that comes next claims nothing
    ignore begin, ignore end        what stands between them claims nothing
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from symattn import syntax
from symattn.documents.article import Article, Block
from symattn.documents.help.draft import HelpDraft, HelpExpression, Origin, lines, listed, numbers
from symattn.documents.text import Span
from symattn.errors import Malformed, alike, short
from symattn.limits import CHARACTERS, NOTES
from symattn.spelling import is_figure

#: The tag of a notebook's cell that claims nothing.
IGNORED = "symattn-ignore"

_EQUALS = re.compile(r"(?<![=<>!])=(?!=)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+\Z")
_QUOTED = re.compile(r"""(["'“])([^"'“”]*+)["'”]\Z""")
_GRADIENT = re.compile(r"dL\s*+/\s*+d([A-Za-z_][A-Za-z0-9_]*+)\Z")
_COUNT = re.compile(r"count(?:ing)?\s++from\s++(\S++)\Z")
_UNDER = re.compile(r"under\b\s*+(.*+)\Z", re.DOTALL)
_OF = re.compile(r"of\s++(?=\S)")
#: What notes say besides definitions and quantities.
_WORDS = ("ignore", "ignore begin", "ignore end", "count from 0", "count from 1", "under", "tokens")


@dataclass(frozen=True)
class _Note:
    text: str
    said: Origin
    block: int


def take_notes(article: Article, draft: HelpDraft) -> None:
    """Take what the notes of an article say, and the tags of its cells."""
    _Notes(article, draft).take()


class _Notes:
    def __init__(self, article: Article, draft: HelpDraft) -> None:
        self.article = article
        self.draft = draft
        self.open: _Note | None = None
        self.spans = [block.span for block in article.blocks]
        self.following = _next(article.blocks, lambda kind: kind != "note")
        self.headings = _next(article.blocks, lambda kind: kind == "heading")

    def take(self) -> None:
        for block, where in zip(self.article.blocks, self.spans, strict=True):
            if IGNORED in block.tags and block.kind != "note":
                self.draft.ignore(where)
        for number, note in enumerate(self._lines()):
            if number == NOTES.most:
                self.draft.fault(note.said, NOTES.said(f"more than {number}"))
                break
            if len(note.text) > CHARACTERS.most:
                self.draft.fault(note.said, CHARACTERS.said(len(note.text)))
            else:
                self._take(note)
        if self.open is not None:
            self.draft.fault(self.open.said, "no 'ignore end' follows")

    def _lines(self) -> Iterator[_Note]:
        for number, block in enumerate(self.article.blocks):
            if block.kind != "note":
                continue
            text = block.text
            for start, end in lines(text.string):
                piece = text[start:end].stripped()
                if len(piece):
                    where = piece.span()
                    line = self.article.place(where.start).line
                    origin = Origin(self.article.path, line, span=where)
                    yield _Note(piece.string, origin, number)

    def _take(self, note: _Note) -> None:
        text, origin = " ".join(note.text.split()), note.said
        if text in ("ignore", "ignore begin", "ignore end"):
            self._ignore(text.partition(" ")[2], note)
        elif counted := _COUNT.match(text):
            self.draft.count(int(counted[1]) if counted[1] in "01" else counted[1], origin)
        elif (equals := _EQUALS.search(text)) is not None:
            left, right = text[: equals.start()].strip(), text[equals.end() :].strip()
            self._define(left, right, note)
        elif heading := _UNDER.match(text):
            self.draft.read_under(self._section(note), _plain(heading[1]), origin)
        else:
            self._figures(_OF.sub("", text, count=1), note)

    def _ignore(self, which: str, note: _Note) -> None:
        if which == "begin":
            if self.open is not None:
                self.draft.fault(
                    note.said, f"'ignore begin' in line {self.open.said.line} is still open"
                )
            else:
                self.open = note
        elif which == "end":
            if self.open is None:
                self.draft.fault(note.said, "no 'ignore begin' comes before it")
            else:
                self.draft.ignore(Span(_end(self.open), _end(note)))
            self.open = None
        elif (following := self.following[note.block]) is None:
            self.draft.fault(note.said, "nothing follows it to ignore")
        else:
            self.draft.ignore(self.spans[following])

    def _define(self, left: str, right: str, note: _Note) -> None:
        draft, origin = self.draft, note.said
        if left.lower() == "tokens":
            inner = right[1:-1] if right[:1] == "[" and right[-1:] == "]" else right
            draft.label([_plain(token) for token in listed(inner)], origin)
        elif quoted := _QUOTED.match(left):
            draft.alias(quoted[2], right, origin)
        elif gradient := _GRADIENT.match(left):
            self._upstream(gradient[1], right, origin)
        elif is_figure(left):
            draft.print(self._ahead(note), listed(right), origin, left)
        elif not _NAME.match(left):
            draft.fault(
                origin, f"expected a name, or a phrase in quotes, before '=', found {short(left)!r}"
            )
        elif (tree := _parsed(right)) is None:
            # Whoever takes the step says what is wrong with it.
            draft.step(left, right, origin)
        elif (data := numbers(tree)) is not None:
            draft.give(left, data, origin)
        else:
            draft.step(left, HelpExpression(right, tree, origin), origin)

    def _upstream(self, output: str, right: str, origin: Origin) -> None:
        tree = _parsed(right)
        data = None if tree is None else numbers(tree)
        if data is None:
            self.draft.fault(origin, f"expected numbers for dL/d{output}, found {short(right)!r}")
        else:
            self.draft.lose("output", output, origin)
            self.draft.lose("upstream", data, origin)

    def _figures(self, text: str, note: _Note) -> None:
        try:
            parts = [HelpExpression(part, syntax.parse(part), note.said) for part in listed(text)]
        except Malformed as error:
            meant = alike(text, _WORDS)
            self.draft.fault(note.said, (meant and f"unknown: {short(text)!r}; {meant}") or error)
            return
        self.draft.print(self._ahead(note), parts, note.said)

    def _ahead(self, note: _Note) -> Span:
        return Span(_end(note), len(self.article.source))

    def _section(self, note: _Note) -> Span:
        """From behind a note to the next heading."""
        head = self.headings[note.block]
        end = len(self.article.source) if head is None else self.spans[head].start
        return Span(_end(note), max(end, _end(note)))


def _parsed(text: str) -> syntax.Tree | None:
    try:
        return syntax.parse(text)
    except Malformed:
        return None


def _end(note: _Note) -> int:
    assert note.said.span is not None
    return note.said.span.end


def _plain(text: str) -> str:
    quoted = _QUOTED.match(text.strip())
    return quoted[2] if quoted else text.strip()


def _next(blocks: Sequence[Block], wanted: Callable[[str], bool]) -> list[int | None]:
    """Of each block, the next one behind it whose kind is ``wanted``."""
    following: list[int | None] = []
    last: int | None = None
    for k in reversed(range(len(blocks))):
        following.append(last)
        if wanted(blocks[k].kind):
            last = k
    return following[::-1]
