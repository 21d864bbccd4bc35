"""The CommonMark parser, with rules that keep formulas from its own: it gives the lines of
blocks; who reads them finds the characters there.

Text is repaired before it is read, and each repaired character keeps its place. Copies of
articles come mis-decoded (``Ξ£`` for ``Σ``) and with formulas whose backslashes were doubled
or halved by a converter on the way.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from symattn.documents.text import INNER, Text, is_formula

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
