"""The CommonMark parser, with rules that keep formulas from its own.

It gives the lines of blocks; who reads them finds the characters there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from symattn.documents.environments import is_formula

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
_HIGHLIGHT = re.compile(r"\{%-?+[ ]*+highlight[ ]++([\w+-]++)[^{}%\n]*+%\}[ ]*+")
_END_OF_HIGHLIGHT = re.compile(r"\{%-?+[ ]*+endhighlight[ ]*+-?+%\}")
MATH_DIRECTIVE = re.compile(r"(:{3,}+)[ \t]*+\{math\}[^\n]*+")


def tokens(string: str) -> list[Token]:
    """The tokens of the blocks of a Markdown text.

    Beside the parser's own there are ``display``, lines that a formula goes on over,
    and ``deep``, what is nested too deep to be told apart; that of a table's row says
    in ``meta["row"]`` where it begins and ends.

    >>> [token.type for token in tokens("$$\\nx\\n=\\n1\\n$$")]
    ['display']
    """
    parser = _parser()
    block_tokens: list[Token] = []
    parser.block.parse(string, parser, {}, block_tokens)
    return block_tokens


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
    return parser


def _deep(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """What is nested too deep to be told apart is one paragraph."""
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
    """What closes the formula that is still open at the end of a line, if one is;
    ``closer`` is what closes the one that was open at its beginning."""
    if not closer and (directive := MATH_DIRECTIVE.fullmatch(line)):
        return directive[1]
    if closer.startswith(":::"):
        return "" if line.strip() == closer else closer
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


def _table(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """The parser's own rule for tables, which tells where its rows begin."""
    from markdown_it.rules_block import table

    count = len(state.tokens)
    if not table(state, first, last, silent):
        return False
    for token in state.tokens[count:]:
        if token.type == "tr_open" and token.map:
            line = token.map[0]
            token.meta["row"] = state.bMarks[line] + state.tShift[line], state.eMarks[line]
    return True
