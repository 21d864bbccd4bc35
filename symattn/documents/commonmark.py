"""Markdown by the CommonMark parser, with rules that keep formulas from its own: it gives the
lines of blocks, and who reads them finds the characters there. Inside a block words, formulas
and code are told apart on the raw text.

Text is repaired before it is read, and each repaired character keeps its place. Copies of
articles come mis-decoded (``Ξ£`` for ``Σ``) and with formulas whose backslashes were doubled
or halved by a converter on the way.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import unescape
from itertools import groupby
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote_to_bytes

from symattn.documents.article import Block, BlockPart, ParagraphBuilder, PartKind
from symattn.documents.text import DISPLAYS, INNER, Span, Text, is_formula

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

#: Containers in containers; what is nested deeper is one paragraph.
_NESTING = 60
#: What opens and closes a formula that may go on over lines.
_DISPLAY = re.compile(
    r"\\\\?[\[\]]|\$\$|\\(?:begin|end)\{([A-Za-z]{1,12}\*?)\}|\\.|(?<!`)`++[^`\n]*+`++", re.DOTALL
)
#: The marks of a quotation.
_QUOTED = re.compile(r" {0,3}+(?:>[ \t]?+)++")
#: A line of a sum, with the sign that a list's item may begin with.
_SUM = re.compile(r"\+[ ]++[(\[]?[0-9$\\]")
_OPERATION = re.compile(r"[=×·*]|\\(?:times|cdot)")
_HIGHLIGHT = re.compile(r"\{%-?+[ ]*+highlight[ ]++([\w+-]++)[^{}%\n]*+%\}[ ]*+")
_END_OF_HIGHLIGHT = re.compile(r"\{%-?+[ ]*+endhighlight[ ]*+-?+%\}")
MATH_DIRECTIVE = re.compile(r"(:{3,}+)[ \t]*+\{math\}[^\n]*+")


def tokens(string: str) -> list[Token]:
    """The tokens of the blocks of a Markdown text.

    Beside the parser's own there are ``display``, lines that a formula goes on over,
    and ``deep``, what is nested too deep to be told apart; that of a table's row says
    in ``meta["length"]`` how long it is, without the marks before it.

    >>> [token.type for token in tokens("$$\\nx\\n=\\n1\\n$$")]
    ['display']
    """
    parser = _parser()
    block_tokens: list[Token] = []
    parser.block.parse(_quoted(string), parser, {}, block_tokens)
    return block_tokens


def _quoted(string: str) -> str:
    """With the marks of quotations before the lines of formulas in them that lack these."""
    lines = string.split("\n")
    at = 0
    while at < len(lines):
        quotation = _QUOTED.match(lines[at])
        at, first = at + 1, at
        if quotation is None:
            continue
        closer = _open(lines[first][quotation.end() :], "")
        without: list[int] = []
        while closer and at < len(lines) and lines[at].strip():
            marks = _QUOTED.match(lines[at])
            closer = _open(lines[at][marks.end() if marks else 0 :], closer)
            if marks is None:
                without.append(at)
            at += 1
        for line in without if not closer else ():
            lines[line] = quotation[0] + lines[line]
    return "\n".join(lines)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _NESTING + 2}).enable("table")
    # Definitions of links are found by us: the rule reads its paragraph again for each.
    parser.disable("reference")
    ruler = parser.block.ruler
    ruler.before("table", "deep", _deep)
    ruler.before("lheading", "display", _display, {"alt": ["paragraph", "blockquote", "list"]})
    ruler.before("fence", "highlight", _highlight, {"alt": ["paragraph", "blockquote", "list"]})
    ruler.at("table", _table, {"alt": ["paragraph"]})
    ruler.at("list", _list, {"alt": ["paragraph", "blockquote"]})
    return parser


def _deep(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Return what is nested too deep to be told apart is one paragraph."""
    if state.level < _NESTING or silent:
        return False
    state.line = last
    _push(state, "deep", first, last)
    return True


def _display(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Lines that belong together because a formula goes on over them."""
    if state.is_code_block(first):
        return False
    closer = _open(_content(state, first), "")
    if not closer:
        return False
    # Blank lines may stand in what was opened on a line of its own.
    is_bare = not closer.startswith("$") or _content(state, first).strip() == closer
    opened = first
    #: What is known to be closed nowhere between two lines.
    unclosed: dict[str, tuple[int, int]] = state.env.setdefault("unclosed", {})
    for line in range(first + 1, last):
        start, end = unclosed.get(closer, (last, last))
        if start <= opened < end:
            return False
        content = _content(state, line)
        ends = state.sCount[line] < state.blkIndent if content else not is_bare
        if ends:
            unclosed[closer] = opened, line
            return False
        after = _open(content, closer)
        if not after:
            if not silent:
                state.line = line + 1
                _push(state, "display", first, line + 1)
            return True
        if after != closer:
            closer, opened = after, line
    unclosed[closer] = opened, last
    return False


def _highlight(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Jekyll's fences of code."""
    opened = _HIGHLIGHT.fullmatch(_content(state, first))
    if not opened or silent:
        return opened is not None
    line = first + 1
    while line < last and not _END_OF_HIGHLIGHT.match(_content(state, line)):
        line += 1
    token = state.push("fence", "code", 0)
    token.info = opened[1]
    token.content = state.getLines(first + 1, line, state.sCount[first], True)
    state.line = min(line + 1, last)
    token.map = [first, state.line]
    return True


def _content(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _push(state: StateBlock, kind: str, first: int, last: int) -> None:
    token = state.push(kind, "", 0)
    token.content = state.getLines(first, last, state.blkIndent, False)
    token.map = [first, last]


def _open(line: str, closer: str) -> str:
    """Return what closes the formula that is still open at the end of a line, if one is;
    ``closer`` is what closes the one that was open at its beginning."""
    if not closer and (directive := MATH_DIRECTIVE.fullmatch(line)):
        return directive[1]
    if closer.startswith(":::"):
        return "" if line.strip() == closer else closer
    if closer == "]" or (not closer and line.strip() == "["):
        return "" if line.rstrip(" \t.,;") == closer else "]"
    for mark in _DISPLAY.finditer(line):
        sign = mark[0]
        if closer:
            closer = "" if sign == closer else closer
        elif sign == "$$":
            closer = sign
        elif sign in ("\\[", "\\\\["):
            closer = sign[:-1] + "]"
        elif sign.startswith("\\begin") and is_formula(mark[1]):
            closer = f"\\end{{{mark[1]}}}"
    return closer


def _list(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """The parser's own rule for lists; a sum that goes on in a paragraph begins none."""
    from markdown_it.rules_block import list_block

    above = _content(state, first - 1) if silent else ""
    goes_on = _SUM.match(_content(state, first)) and _OPERATION.search(above)
    return not goes_on and list_block(state, first, last, silent)


def _table(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """The parser's own rule for tables, which tells where its rows begin."""
    from markdown_it.rules_block import table

    count = len(state.tokens)
    if not table(state, first, last, silent):
        return False
    for token in state.tokens[count:]:
        if token.type == "tr_open" and token.map:
            line = token.map[0]
            token.meta["length"] = len(_content(state, line))
    return True


#: Code pages that UTF-8 is read as by mistake, the commonest first.
_CODE_PAGES = ("cp1252", "cp1253", "cp1250", "cp1251", "latin-1", "cp437")
#: Runs that may be mis-decoded: letters and signs beyond ASCII, side by side.
_RUN = re.compile(r"[^\x00-\x7f]{2,}+")
#: How bytes that a code page leaves undefined are shown: as another does, or as they are.
_KEPT = {chr(byte): bytes([byte]) for byte in range(0x80, 0xA0)} | {
    bytes([byte]).decode("cp1252", "ignore"): bytes([byte]) for byte in range(0x80, 0xA0)
}


def decoded(text: Text) -> Text:
    """The text with its mis-decoded runs repaired, each character of one with the
    place of the whole run.

    Only where a document's runs all say so: proper Greek or Cyrillic does not
    decode, and one chance hit among many words changes nothing.

    >>> str(decoded(Text.whole("Ξ£ 2Γ—3")))
    'Σ 2×3'
    """
    # A text may have gone through it twice.
    return _decoded(_decoded(text))


def _decoded(text: Text) -> Text:
    counts = Counter(_RUN.findall(text.string))

    def hits(repaired: dict[str, str]) -> int:
        return sum(counts[word] for word in repaired)

    pages = [{word: good for word in counts if (good := _back(word, page))} for page in _CODE_PAGES]
    repaired = max(pages, key=hits)
    if 2 * hits(repaired) <= counts.total():
        return text
    return text.sub(_RUN, lambda run: repaired.get(run[0]))


def _back(word: str, page: str) -> str:
    """Return what the bytes of a run are in UTF-8, if they were read in that code page; else ''."""
    try:
        good = _bytes(word, page).decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return ""
    is_text = all(unicodedata.category(sign) != "Cc" for sign in good)
    return good if len(good) < len(word) and is_text else ""


def _bytes(word: str, page: str) -> bytes:
    try:
        return word.encode(page)
    except UnicodeEncodeError:
        return b"".join(sign.encode(page, "ignore") or _KEPT.get(sign, b"\xff") for sign in word)


# -- formulas -----------------------------------------------------------------------

_TWICE = re.compile(r"\s*+\\(?:\((.*)\\\)|\[(.*)\\\])\s*+", re.DOTALL)
_SLASHES = re.compile(r"\\++")
#: Environments of rows.
_ROWS = re.compile(rf"\\begin\{{((?:align|{'|'.join(sorted(INNER))})\*?)\}}")
#: What is left of a row's end where one of its two backslashes was lost.
_LOST = re.compile(r"\\(?=[ \t\n\d.+&-]|\Z)")


def formula(text: Text) -> Text:
    """The LaTeX of a formula, as it was before a Markdown converter's needs or losses.

    >>> str(formula(Text.whole(r"W\\_Q = \\begin{bmatrix} 1 & 0\\ 0 & 1 \\end{bmatrix}")))
    'W_Q = \\\\begin{bmatrix} 1 & 0\\\\\\\\ 0 & 1 \\\\end{bmatrix}'
    """
    if "\\" not in text.string:
        return text
    if twice := _TWICE.fullmatch(text.string):
        # "$\\(x\\)$": one pair of marks was meant.
        text = text.group(twice, twice.lastindex or 0)
    return _rows(_single(text))


def _single(text: Text) -> Text:
    """Backslashes that were doubled for a converter, single again."""
    string = text.string
    all_doubled = all(len(run) % 2 == 0 for run in _SLASHES.findall(string)) and (
        re.search(r"\\\\(?:begin|frac|text|sqrt|mathrm|left|cdot|times|approx)\b", string)
    )

    def single(run: re.Match[str]) -> str | Text | None:
        start, count = run.start(), len(run[0])
        if count % 4 == 0 or (all_doubled and count % 2 == 0):
            return text[start : start + count // 2]
        return "" if count == 1 and string[run.end() : run.end() + 1] == "_" else None

    return text.sub(_SLASHES, single)


def _rows(text: Text) -> Text:
    """Ends of rows that lost one of their two backslashes, whole again."""
    string = text.string
    parts, last = [], 0
    for opened in _ROWS.finditer(string):
        start = opened.end()
        end = string.find(f"\\end{{{opened[1]}}}", start)
        if start < last or end < 0 or "\\\\" in string[start:end]:
            continue
        for lost in _LOST.finditer(string, start, end):
            if lost.end() < end:
                parts += [
                    text[last : lost.start()],
                    Text.at("\\\\", text.span(lost.start(), lost.end())),
                ]
                last = lost.end()
    return Text.joined([*parts, text[last:]]) if parts else text


class Closers:
    """The next place of a fixed text: looked for once, however often it is asked."""

    def __init__(self, string: str) -> None:
        self._string = string
        self._next: dict[str, int] = {}

    def after(self, closer: str, at: int) -> int:
        """The first place from ``at`` on, or -1; ``at`` never goes back."""
        place = self._next.get(closer, 0)
        if place >= 0 and (place < at or closer not in self._next):
            place = self._next[closer] = self._string.find(closer, at)
        return place


_NOTE = re.compile(r"\s*+symattn:(.*+)", re.DOTALL)


def note(comment: Text) -> Text | None:
    """Return what a comment says to symattn, if it does.

    >>> str(note(Text.whole(" symattn: ignore ")))
    'ignore'
    """
    match = _NOTE.fullmatch(comment.string)
    return comment.group(match, 1).stripped() if match else None


# -- images whose address is a formula ---------------------------------------------------

#: Addresses of images that draw a formula.
_DRAWING = re.compile(r"latex|math|tex|codecogs|zhihu", re.IGNORECASE)
_QUERY = re.compile(r"(?:[a-z]++=[^&=\\]*+&)*?(?:math|tex|latex|eq|from)=", re.IGNORECASE)
_FOLLOWING = re.compile(r"&[a-z]++=", re.IGNORECASE)
_DRESSING = re.compile(
    r"\\(?:inline|large|Large|small|huge|fn_[a-z]++|bg_[a-z]++|dpi\{[0-9]*+\}"
    r"|bg\{[a-z]*+\}|color\{[A-Za-z]*+\})(?![A-Za-z])"
)
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})++|\+|&(?:space|plus|amp);")


def drawn(address: Text) -> Text | None:
    """The formula that an image's address draws, if it does.

    >>> url = "https://latex.codecogs.com/svg.latex?\\\\frac%7B1%7D%7B2%7D"
    >>> str(drawn(Text.whole(url)))
    '\\\\frac{1}{2}'
    """
    at, _, query = address.string.partition("?")
    if not at.startswith("http") or _DRAWING.search(at) is None:
        return None
    named = _QUERY.match(query)
    start = named.end() if named else 0
    # What else is asked for by name; without a name, all of it is the formula.
    following = _FOLLOWING.search(query, start) if named else None
    end = following.start() if following else len(query)
    rest = address[len(at) + 1 + start : len(at) + 1 + end]
    tex = rest.sub(_ENCODED, _character).sub(_DRESSING, "").stripped()
    if re.search(r"[\\=^_]", tex.string) is None:
        return None
    return formula(tex)


def _character(code: re.Match[str]) -> str:
    named = {"+": " ", "&space;": " ", "&plus;": "+", "&amp;": "&"}.get(code[0])
    return unquote_to_bytes(code[0]).decode(errors="replace") if named is None else named


# -- inside a block ----------------------------------------------------------------------
# Parsers of Markdown give no places inside a block; here every character keeps its own. One
# pass over the marks that mean something; what closes a mark is looked up, never searched
# twice, so that time is linear.

#: Beside the kinds of parts: a formula on lines of its own, and what the author
#: says to symattn in a comment.
_PieceKind = PartKind | Literal["display", "note"]


@dataclass(frozen=True)
class Piece:
    """A piece of a block."""

    kind: _PieceKind
    text: Text


#: A bracket whose backslash was lost, if what is in it is a formula.
_BARE = r"(?<![^\s(])\((?=[^()\n\\]*+\\[A-Za-z])|\["
_FORMULAS = re.compile(rf"\\|`|\$++|{_BARE}")
_MARK = re.compile(rf"\\|`|\$++|\*++|_++|~~|!\[|{_BARE}|\]|<|&|\{{")
#: Marks of formulas in pages, whose displays may stand in a line.
_DOLLARS, _DISPLAYS = re.compile(r"\\|\$++"), re.compile(r"\\|\$\$")
_CODE = re.compile(r"(\\*+)(`++)")
_DOLLAR = re.compile(r"\\[\s\S]|\$")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
#: Words that are no letters of a formula, and how long a formula among words is.
_PHRASE = re.compile(r"(?<![\\{A-Za-z])[A-Za-z]{3,}+ [A-Za-z]{2}")
_LONGEST = 400
_COMMAND = re.compile(r"\\[A-Za-z]")
_BEGIN = re.compile(r"\\begin\{([a-zA-Z]{1,12}\*?)\}")
_TEX = re.compile(r"\\[A-Za-z]|(?<!\\)[\^_&{]")
_TARGET = re.compile(
    r"""\([ \t\n]*+(<[^<>\n]*+>|(?:[^\s()<]|\([^\s()]*+\))*+)"""
    r"""(?:[ \t\n]++(?:"[^"\n]*+"|'[^'\n]*+'))?+[ \t\n]*+\)"""
)
_LABEL = re.compile(r"\[([^\[\]\n]{0,200}+)\]")
_VANISHING = re.compile(r"\[(?:\^[^\[\]\s]++|-?+@[^\[\]\n]++)\]")
_TAG = re.compile(r"</?+[A-Za-z][A-Za-z0-9-]*+(?:[\s/][^<>]*+)?+>|<https?+:[^<>\s]*+>")
_RAISED = re.compile(r"<(sub|sup)>([^<>\n]*+)</\1>", re.IGNORECASE)
_SOURCE = re.compile(r"""\ssrc[ ]*+=[ ]*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++))""", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
#: Attributes of Pandoc and kramdown, and what Liquid and Hugo put in their place.
_ATTRIBUTES = re.compile(
    r"\{(?:=|:?+[ ]*+[#.])[A-Za-z][^{}\n]*+\}|\{%[^{}%\n]*+%\}|\{\{[<%][^{}\n]*+\}\}"
)
_TEX_ATTRIBUTE = re.compile(r"\{=(?:la)?tex\}")
_ROLE = re.compile(r"\{([a-z][a-z:-]*+)\}(?=`)")


def pieces(text: Text, labels: Container[str] = frozenset()) -> list[Piece]:
    """Return what a block of Markdown consists of; ``labels`` are those of its links, in lower
    case.

    Marks of emphasis and escapes are gone, addresses of links too; line breaks stay.

    >>> [(piece.kind, str(piece.text)) for piece in pieces(Text.whole("**So** $x$ costs $5."))]
    [('text', 'So '), ('math', 'x'), ('text', ' costs $5.')]
    """
    return _Scan(text, labels, _MARK).pieces()


def formulas(text: Text) -> list[Piece]:
    """The same of plain text, in which only formulas and code have marks.

    >>> [(piece.kind, str(piece.text)) for piece in formulas(Text.whole("2 * $W_q$ * 3"))]
    [('text', '2 * '), ('math', 'W_q'), ('text', ' * 3')]
    """
    return _Scan(text, frozenset(), _FORMULAS).pieces()


def page_formulas(text: Text, dollars: bool) -> list[Piece]:
    """The words and the formulas of a page that MathJax or KaTeX render where it is read;
    ``dollars`` where a single one is a mark too.

    >>> [(one.kind, str(one.text)) for one in page_formulas(Text.whole(r"so \\(x\\): $5"), False)]
    [('text', 'so '), ('math', 'x'), ('text', ': $5')]
    """
    return _Scan(text, frozenset(), _DOLLARS if dollars else _DISPLAYS).pieces()


def paragraphs(pieces: Iterable[Piece]) -> Iterator[Block]:
    """Pieces as blocks: words with what stands among them, and what stands by itself."""
    for are_alone, run in groupby(pieces, key=lambda piece: piece.kind in ("display", "note")):
        if are_alone:
            for piece in run:
                yield Block.of("note" if piece.kind == "note" else "formula", piece.text)
        elif parts := together(run):
            yield Block("prose", parts)


def together(pieces: Iterable[Piece]) -> tuple[BlockPart, ...]:
    """Pieces as parts of one block: a formula on lines of its own is one among words."""
    paragraph = ParagraphBuilder()
    for piece in pieces:
        if piece.kind != "note":
            paragraph.add(piece.text, "math" if piece.kind == "display" else piece.kind)
    return paragraph.end()


def notes(pieces: Iterable[Piece]) -> list[Block]:
    """Return what the author says to symattn among pieces."""
    return [Block.of("note", piece.text) for piece in pieces if piece.kind == "note"]


def script(name: str, opening: Span, inside: Text, closing: Span) -> Text:
    """Return what the element ``sub`` or ``sup`` sets lower or higher, as formulas have it."""
    mark = "_" if name == "sub" else "^"
    if len(inside) == 1:
        return Text.joined([Text.at(mark, opening), inside])
    return Text.joined([Text.at(f"{mark}{{", opening), inside, Text.at("}", closing)])


class _Scan:
    def __init__(self, text: Text, labels: Container[str], marks: re.Pattern[str]) -> None:
        self.text = text
        self.marks = marks
        self.is_page = marks in (_DOLLARS, _DISPLAYS)
        self.string = text.string
        self.labels = labels
        #: Pieces; of words only where they begin and end.
        self.out: list[Piece | tuple[int, int] | None] = []
        #: Marks of emphasis that are open: where in ``out``.
        self.emphasis: dict[str, list[int]] = {"*": [], "_": [], "~": []}
        #: Brackets that are open: where in ``out``, where in the text, of an image?
        self.brackets: list[tuple[int, int, bool]] = []
        self.closers = Closers(self.string)

    def pieces(self) -> list[Piece]:
        string, at, last = self.string, 0, 0
        read = {
            "\\": self._backslash,
            "`": self._code,
            "$": self._dollar,
            **dict.fromkeys("*_~", self._emphasis),
            **dict.fromkeys("![", self._bracket),
            "(": self._round,
            "]": self._closed,
            "<": self._html,
            "&": self._entity,
            "{": self._attributes,
        }
        out, search = self.out, self.marks.search
        if search(string) is None:
            return [Piece("text", self.text)] if string else []
        while mark := search(string, at):
            start = mark.start()
            if last < start:
                out.append((last, start))
            last = at = read[string[start]](mark)
        if last < len(string):
            out.append((last, len(string)))
        return self._joined()

    def _joined(self) -> list[Piece]:
        """The pieces, words that stand side by side as one."""
        joined: list[Piece] = []
        for are_words, run in groupby(self._cut(), key=lambda piece: piece.kind == "text"):
            if not are_words:
                joined += run
            elif text := Text.joined([piece.text for piece in run if piece.text.string]):
                joined.append(Piece("text", text))
        return joined

    def _cut(self) -> Iterator[Piece]:
        first = last = 0
        for piece in [*self.out, Piece("text", self.text[:0])]:
            if isinstance(piece, tuple) and piece[0] == last:
                last = piece[1]
            elif piece is not None:
                yield Piece("text", self.text[first:last])
                first, last = piece if isinstance(piece, tuple) else (last, last)
                if isinstance(piece, Piece):
                    yield piece

    def _plain(self, mark: re.Match[str]) -> int:
        """The mark is a word like others."""
        self.out.append(mark.span())
        return mark.end()

    # -- code --------------------------------------------------------------------

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        """Return where spans of code begin: the length of their marks, and their end."""
        runs = [
            (run.start(2), len(run[2]), len(run[1]) % 2 == 1) for run in _CODE.finditer(self.string)
        ]
        later: dict[int, deque[int]] = defaultdict(deque)
        for start, length, _ in runs:
            later[length].append(start)
        spans: dict[int, tuple[int, int]] = {}
        at = 0
        for start, length, is_escaped in runs:
            if start < at or is_escaped:
                continue
            same = later[length]
            while same and same[0] <= start:
                same.popleft()
            if same:
                spans[start] = length, (at := same[0] + length)
        return spans

    def _code(self, mark: re.Match[str]) -> int:
        start = mark.start()
        if start not in self._spans:
            end = start + 1
            while self.string[end : end + 1] == "`":
                end += 1
            self.out.append((start, end))
            return end
        length, end = self._spans[start]
        first, last = start + length, end - length
        inside = self.string[first:last]
        if inside.strip() and inside[0] == inside[-1] == " ":
            first, last = first + 1, last - 1
        if tex := _TEX_ATTRIBUTE.match(self.string, end):
            # Pandoc's own mark of what is raw TeX.
            self.out.append(Piece("math", formula(self.text[first:last])))
            return tex.end()
        self.out.append(Piece("code", self.text[first:last]))
        return end

    # -- formulas ----------------------------------------------------------------

    def _formula(self, start: int, end: int, opened: int, closed: int) -> None:
        text = formula(self.text[start:end].stripped())
        is_display = self.is_page or self._is_alone(opened, closed)
        self.out.append(Piece("display" if is_display else "math", text))

    def _is_alone(self, opened: int, closed: int) -> bool:
        """Return whether nothing but a stop stands beside it, on one side of its lines."""
        string = self.string
        while opened and string[opened - 1] in " \t":
            opened -= 1
        while closed < len(string) and string[closed] in " \t.,;:":
            closed += 1
        return (
            opened == 0 or string[opened - 1] == "\n" or string[closed : closed + 1] in ("", "\n")
        )

    @cached_property
    def _dollars(self) -> list[int]:
        """Return where dollars stand that no backslash and no code hides."""
        dollars = [m.start() for m in _DOLLAR.finditer(self.string) if m[0] == "$"]
        spans = [(start, end) for start, (_, end) in self._spans.items()]
        kept, k = [], 0
        for at in dollars:
            while k < len(spans) and spans[k][1] <= at:
                k += 1
            if k == len(spans) or at < spans[k][0]:
                kept.append(at)
        return kept

    def _dollar(self, mark: re.Match[str]) -> int:
        start, end, string = mark.start(), mark.end(), self.string
        if end - start == 1 and end in self._spans:
            # GitHub's $`...`$
            length, closed = self._spans[end]
            if string[closed : closed + 1] == "$":
                text = self.text[end + length : closed - length].stripped()
                self.out.append(Piece("math", formula(text)))
                return closed + 1
        if end - start == 2:
            closed = self.closers.after("$$", end)
            if closed > end and string[end:closed].strip():
                self._formula(end, closed, start, closed + 2)
                return closed + 2
        if end - start != 1:
            return self._plain(mark)
        k = bisect_right(self._dollars, start)
        closed = self._dollars[k] if k < len(self._dollars) else -1
        # A sum of money is followed by blanks or digits where a formula would end.
        if (
            closed <= end
            or string[end].isspace()
            or string[closed - 1].isspace()
            or string[closed + 1 : closed + 2].isdigit()
        ):
            return self._plain(mark)
        self.out.append(Piece("math", formula(self.text[end:closed])))
        return closed + 1

    def _backslash(self, mark: re.Match[str]) -> int:
        start, string = mark.start(), self.string
        opened = start + 2 if string.startswith("\\\\", start) else start + 1
        sign = string[opened : opened + 1]
        if sign and sign in "([":
            closer = string[start:opened] + {"(": ")", "[": "]"}[sign]
            closed = self.closers.after(closer, opened + 1)
            if closed > opened + 1 and (
                sign == "(" or self.is_page or self._is_tex(opened + 1, closed)
            ):
                end = closed + len(closer)
                if sign == "[":
                    self._formula(opened + 1, closed, start, end)
                else:
                    text = self.text[opened + 1 : closed].stripped()
                    self.out.append(Piece("math", formula(text)))
                return end
        if (begun := _BEGIN.match(string, start)) and is_formula(begun[1]):
            closer = f"\\end{{{begun[1]}}}"
            closed = self.closers.after(closer, begun.end())
            if closed >= 0:
                end = closed + len(closer)
                # In a page only what lays matrices out has a meaning in a formula.
                is_bare = self.is_page and begun[1].rstrip("*") in DISPLAYS
                first, last = (begun.end(), closed) if is_bare else (start, end)
                self._formula(first, last, start, end)
                return end
        after = string[start + 1 : start + 2] if self.marks is _MARK else ""
        if after == "\n":
            return start + 1
        if self.marks is not _MARK and string[start + 1 : start + 2] in ("\\", "$"):
            self.out.append((start, start + 2))
            return start + 2
        if after and after in _PUNCTUATION:
            self.out.append((start + 1, start + 2))
            return start + 2
        return self._plain(mark)

    def _is_tex(self, start: int, end: int) -> bool:
        """Return whether brackets hold a formula: else they are escaped ones, of words."""
        place = self._tex_from(start)
        if 0 <= place < end:
            return True
        alone = self._is_alone(start - 2, end + 2)
        return alone and 0 <= self.closers.after("=", start) < end

    def _tex_from(self, at: int) -> int:
        k = bisect_right(self._tex, at - 1)
        return self._tex[k] if k < len(self._tex) else -1

    @cached_property
    def _tex(self) -> list[int]:
        return [match.start() for match in _TEX.finditer(self.string)]

    # -- formulas whose backslashes were lost ------------------------------------

    def _round(self, mark: re.Match[str]) -> int:
        """``(x)`` that was ``\\(x\\)``, if it has commands, and no words but in these."""
        depth, end = 0, mark.start()
        for sign in self.string[mark.start() : mark.start() + _LONGEST]:
            depth += (sign == "(") - (sign == ")")
            end += 1
            if not depth or sign == "\n":
                break
        inside = self.text[mark.end() : end - 1].stripped()
        if depth or _PHRASE.search(inside.string):
            return self._plain(mark)
        self.out += [mark.span(), Piece("math", formula(inside)), (end - 1, end)]
        return end

    def _square(self, start: int) -> int:
        """The end of a ``[x]`` that was ``\\[x\\]``: its brackets stand on lines of their own,
        or it has commands and is all of its line; 0 where it is none."""
        string, at = self.string, start + 1
        if string[string.rfind("\n", 0, start) + 1 : start].strip():
            return 0
        line = string.find("\n", at) if "\n" in string[at:] else len(string)
        if string[at:line].strip():
            closed = at + len(string[at:line].rstrip(" \t.,;:")) - 1
            is_lost = string[at] == " " and string[closed] == "]"
            is_lost = is_lost and _COMMAND.search(string, at, closed) is not None
        else:
            closed = self.closers.after("\n]", at) + 1
            end = self.closers.after("=", at)
            is_lost = closed > 0 and (0 <= self._tex_from(at) < closed or 0 <= end < closed)
        if not is_lost:
            return 0
        self._formula(at, closed, start, closed + 1)
        return closed + 1

    # -- emphasis ----------------------------------------------------------------

    def _emphasis(self, mark: re.Match[str]) -> int:
        start, end, string = mark.start(), mark.end(), self.string
        sign = string[start]
        before, after = string[start - 1 : start], string[end : end + 1]
        is_inside = bool(before) and (before.isalnum() or before in ")]}")
        opens = bool(after) and not after.isspace() and not is_inside
        closes = bool(before) and not before.isspace() and not (sign == "_" and after.isalnum())
        count = end - start
        opened = self.emphasis[sign]
        if closes:
            while count and opened:
                place = opened[-1]
                run = self.out[place]
                assert isinstance(run, tuple)
                first, last = run
                taken = min(2, count, last - first)
                count -= taken
                self.out[place] = (first, last - taken) if taken < last - first else None
                if taken == last - first:
                    opened.pop()
        if count:
            if opens:
                opened.append(len(self.out))
            self.out.append((end - count, end))
        return end

    # -- links, images, tags -----------------------------------------------------

    def _bracket(self, mark: re.Match[str]) -> int:
        if mark[0] == "[" and (end := self._square(mark.start())):
            return end
        if self.marks is _FORMULAS:
            return self._plain(mark)
        if gone := _VANISHING.match(self.string, mark.start()):
            return gone.end()
        self.brackets.append((len(self.out), mark.end(), mark[0] == "!["))
        return self._plain(mark)

    def _closed(self, mark: re.Match[str]) -> int:
        end = mark.end()
        if not self.brackets:
            return self._plain(mark)
        place, start, is_image = self.brackets.pop()
        following = self.string[end : end + 1]
        target = _TARGET.match(self.string, end) if following == "(" else None
        if target is None:
            label = _LABEL.match(self.string, end) if following == "[" else None
            key = (label[1] if label else "") or self.string[start : min(mark.start(), start + 200)]
            if key.lower() not in self.labels:
                return self._plain(mark)
            end = label.end() if label else end
        if is_image:
            del self.out[place:]
            for opened in self.emphasis.values():
                while opened and opened[-1] >= place:
                    opened.pop()
            if target and (tex := drawn(self.text.group(target, 1))):
                self.out.append(Piece("math", tex))
        else:
            self.out[place] = None
        return target.end() if target else end

    def _html(self, mark: re.Match[str]) -> int:
        start, string = mark.start(), self.string
        if string.startswith("<!--", start):
            closed = self.closers.after("-->", start + 4)
            if closed < 0:
                return self._plain(mark)
            if (message := note(self.text[start + 4 : closed])) is not None:
                self.out.append(Piece("note", message))
            return closed + 3
        if raised := _RAISED.match(string, start):
            self._raised(raised)
            return raised.end()
        tag = _TAG.match(string, start)
        if tag is None:
            return self._plain(mark)
        name = tag[0][1:4].lower()
        if name.startswith("br"):
            self.out.append(Piece("text", Text.at("\n", self.text.span(start, tag.end()))))
        elif name == "img" and (source := _SOURCE.search(tag[0])):
            first, last = source.span(source.lastindex or 0)
            if tex := drawn(self.text[start + first : start + last]):
                self.out.append(Piece("math", tex))
        return tag.end()

    def _raised(self, raised: re.Match[str]) -> None:
        opening = self.text.span(raised.start(), raised.start(2))
        closing = self.text.span(raised.end(2), raised.end())
        text = script(raised[1].lower(), opening, self.text.group(raised, 2), closing)
        self.out.append(Piece("text", text))

    def _entity(self, mark: re.Match[str]) -> int:
        entity = _ENTITY.match(self.string, mark.start())
        if entity is None:
            return self._plain(mark)
        sign = unescape(entity[0])
        self.out.append(Piece("text", Text.at(sign, self.text.span(*entity.span()))))
        return entity.end()

    def _attributes(self, mark: re.Match[str]) -> int:
        start = mark.start()
        if gone := _ATTRIBUTES.match(self.string, start):
            return gone.end()
        role = _ROLE.match(self.string, start)
        if role is None or role.end() not in self._spans:
            return self._plain(mark)
        length, end = self._spans[role.end()]
        inside = self.text[role.end() + length : end - length]
        is_math = role[1] in ("math", "eq:math")
        self.out.append(Piece("math", formula(inside)) if is_math else Piece("text", inside))
        return end
