"""Listings: code, what it printed, or a session of both.

Lines of plain text that are headings: by their number, their words, how they end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Literal

from symattn.documents.article import Block, BlockKind, BlockPart
from symattn.documents.text import Text
from symattn.spelling import ENTRY

#: What a piece of a session is.
_Turn = Literal["code", "output"]

#: Languages of listings whose author says that they were printed, or says nothing.
_PRINTED = frozenset(("output", "stdout", "out", "result", "console-output"))
_UNSAID = frozenset(("", "text", "txt", "plain", "plaintext", "none", "console", "text-output"))
_ASSIGNMENT = re.compile(
    r"(?m)^[ \t]*+[^\W\d]\w*+(?:,[ \t]*+[^\W\d]\w*+|\.\w++|\[[^\]\n]*+\])*+[ \t]*+=(?!=)"
)
#: Arrays as NumPy and its like print them: numbers without commas between them.
_ARRAY = re.compile(rf"\[[ \t]*+{ENTRY}[ \t]++{ENTRY}")
_TENSOR = re.compile(r"(?m)^[ \t]*+(?:tensor|array|Array|<tf\.Tensor)\(")
#: Prompts of interactive Python: of a statement, of a line that goes on with it.
_PROMPT = re.compile(r"[ \t]*+(?:>>>(?: |$)|In ?\[[0-9 ]*+\]: ?)")
_MORE = re.compile(r"[ \t]*+(?:\.\.\.(?: |$)|\.\.\.: ?)")
_RESULT = re.compile(r"[ \t]*+Out ?\[[0-9 ]*+\]: ?")
#: What R's sessions have before what was printed.
_ANSWER = re.compile(r"#> ?")


def listing(
    text: Text, language: str = "", tags: tuple[str, ...] = (), before: Sequence[Block] = ()
) -> list[Block]:
    """The blocks of a listing: code, output, or both where it is a session.

    ``before`` are the blocks that stand before it: what follows code was printed by it.

    >>> [block.kind for block in listing(Text.whole(">>> 1 + 1\\n2"))]
    ['code', 'output']
    """
    language = language.lower()
    if turns := session(text):
        blocks = [_block(kind, typed, language, tags) for kind, typed in turns]
        return [block for block in blocks if block.text.string.strip()]
    lines = list(text.lines(keepends=True))
    kind: BlockKind = "code"
    if language in _PRINTED or (language in _UNSAID and _is_printed(text.string, before)):
        kind = "output"
        lines = _without_marks(lines)
    block = _block(kind, Text.joined(lines), language, tags)
    return [block] if block.text.string.strip() else []


def _block(kind: BlockKind, text: Text, language: str, tags: tuple[str, ...]) -> Block:
    return Block(kind, (BlockPart("code", text.rstripped()),), language=language, tags=tags)


def _is_printed(string: str, before: Sequence[Block]) -> bool:
    """Return whether a listing of no language is what code printed."""
    if _ARRAY.search(string):
        return True
    after_code = bool(before) and before[-1].kind == "code"
    has_assignment = _ASSIGNMENT.search(string) is not None
    return not has_assignment and (after_code or _TENSOR.search(string) is not None)


def _without_marks(lines: list[Text]) -> list[Text]:
    """Without the ``##`` that knitr sets before what code prints."""
    if all(line.string.startswith("##") or not line.string.strip() for line in lines):
        return [line[2:] if line.string.startswith("##") else line for line in lines]
    return lines


def session(text: Text) -> list[tuple[_Turn, Text]]:
    """Return what was typed and what was printed in turn, without prompts; none of what is no
    session.

    >>> [(kind, str(turn)) for kind, turn in session(Text.whole(">>> 1 + 1\\n2"))]
    [('code', '1 + 1\\n'), ('output', '2')]
    """
    lines = list(text.lines(keepends=True))
    has_prompts = any(_PROMPT.match(line.string) for line in lines)
    if not has_prompts and not any(_ANSWER.match(line.string) for line in lines):
        return []
    turns: list[tuple[_Turn, Text]] = []
    for line in lines:
        marker = (_RESULT if has_prompts else _ANSWER).match(line.string)
        kind: _Turn = "code" if marker is None and not has_prompts else "output"
        if has_prompts:
            goes_on = turns and turns[-1][0] == "code" and _MORE.match(line.string)
            if prompt := _PROMPT.match(line.string) or goes_on:
                kind, marker = "code", prompt
        turns.append((kind, line[marker.end() :] if marker else line))
    groups = groupby(turns, key=lambda turn: turn[0])
    return [(kind, Text.joined(line for _, line in group)) for kind, group in groups]


UNDERLINE = re.compile(r"[ \t]*+(?:={3,}+|-{3,}+|~{3,}+)[ \t]*+")
NUMBERED = re.compile(r"(?:§[ ]*+)?([0-9]{1,2}(?:\.[0-9]{1,2})+)\.?+[ \t]++(?=[^\W\d])")
STEP = re.compile(r"(?:Step|Part|Section|Chapter|Phase|Stage|Exercise|Example)[ ]++[0-9IVX]{1,4}\b")
VALUE = re.compile(r":[ \t]*+[-+.0-9\[(]")
LINK = re.compile(r"[ \t]++[#¶🔗][ \t]*+\Z")
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,3}\Z")
_WORD = re.compile(r"[^\W\d_]{2,}+")
LONGEST_HEADING = 90
_LONGEST_NAME = 14
#: Words that a sentence goes on after.
_CUT = re.compile(
    r"\b(?:a|an|and|are|as|at|be|becomes|by|for|from|gets?|gives?|has|have|in|is|it|of|on|or"
    r"|so|that|the|then|to|was|we|with|yields?)\Z",
    re.IGNORECASE,
)
#: Blanks that set what stands in columns apart.
GAP = re.compile(r"[^\s.?!](?: {2,}+|\t)\S|\S {3,}+\S|\|[ \t]++[-+]?[0-9]")


def titled(string: str) -> str:
    """Return what a line says, without the link that pages set behind headings; '' where it is
    too long for a heading, or ends as none does.

    >>> titled("Motivation #"), titled("The sum:")
    ('Motivation', '')
    """
    title = string.strip()
    if len(title) > LONGEST_HEADING:
        return ""
    title = LINK.sub("", title)
    return title if len(title) > 1 and title[-1] not in ".,;:!-–—" and "$" not in title else ""


def is_name(title: str) -> bool:
    """Return whether it is words that name something, rather than numbers or a sentence cut off.

    >>> is_name("Attention scores"), is_name("1.0 0.5"), is_name("The sum is")
    (True, False, False)
    """
    letters = sum(len(word) for word in _WORD.findall(title))
    return (
        2 * letters >= len(title.replace(" ", ""))
        and len(title.split()) <= _LONGEST_NAME
        and not any(sign in title for sign in "=≈→|")
        and not (_FILE.search(title) or GAP.search(title) or _CUT.search(title))
    )


def is_title(title: str) -> bool:
    """Return whether its words are written as those of a title.

    >>> is_title("The Final Output Matrix"), is_title("The final output")
    (True, False)
    """
    words = [word for word in _WORD.findall(title) if len(word) > 3]
    return (
        2 <= len(title.split()) <= 10
        and len(words) > 1
        and all(word[0].isupper() for word in words)
    )
