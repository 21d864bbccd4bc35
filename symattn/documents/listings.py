"""What is shown in a listing: code, what it printed, or a session of both."""

from __future__ import annotations

import re
from itertools import groupby

from symattn.documents.article import Block, BlockKind, Part
from symattn.documents.text import Text
from symattn.spelling import ENTRY

#: Languages of listings whose author says that they were printed, or says nothing.
_PRINTED = frozenset(("output", "stdout", "out", "result", "console-output"))
_UNSAID = frozenset(("", "text", "txt", "plain", "plaintext", "none", "console", "text-output"))
_ASSIGNMENT = re.compile(r"(?m)^[ \t]*+(?:[^\W\d]\w*+)(?:\.\w++|\[[^\]\n]*+\])*+[ \t]*+=(?!=)")
#: Arrays as NumPy and its like print them: numbers without commas between them.
_ARRAY = re.compile(rf"\[[ \t]*+{ENTRY}[ \t]++{ENTRY}")
_TENSOR = re.compile(r"(?m)^[ \t]*+(?:tensor|array|Array|<tf\.Tensor)\(")
_PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |\Z)|In ?\[[0-9]*\]: ?")
_ANSWER = re.compile(r"#> ?|Out\[[0-9]*\]:")


def listing(
    text: Text, language: str = "", after_code: bool = False, tags: tuple[str, ...] = ()
) -> list[Block]:
    """The blocks of a listing: code, output, or both where it is a session.

    ``after_code`` says that code stands right before it.

    >>> [block.kind for block in listing(Text.whole(">>> 1 + 1\\n2"))]
    ['code', 'output']
    """
    language = language.lower()
    lines = list(text.lines(keepends=True))
    if any(line.string.startswith(">>> ") for line in lines) or any(
        line.string.startswith("#>") for line in lines
    ):
        return _session(lines, language, tags)
    kind: BlockKind = "code"
    if language in _PRINTED or (language in _UNSAID and _is_printed(text.string, after_code)):
        kind = "output"
        lines = _without_marks(lines)
    block = _block(kind, lines, language, tags)
    return [block] if block.text.string.strip() else []


def _block(kind: BlockKind, lines: list[Text], language: str, tags: tuple[str, ...]) -> Block:
    text = Text.joined(lines).rstripped()
    return Block(kind, (Part("code", text),), language=language, tags=tags)


def _is_printed(string: str, after_code: bool) -> bool:
    """Whether a listing of no language is what code printed."""
    if _ARRAY.search(string):
        return True
    has_assignment = _ASSIGNMENT.search(string) is not None
    return not has_assignment and (after_code or _TENSOR.search(string) is not None)


def _without_marks(lines: list[Text]) -> list[Text]:
    """Without the ``##`` that knitr sets before what code prints."""
    if all(line.string.startswith("##") or not line.string.strip() for line in lines):
        return [line[2:] if line.string.startswith("##") else line for line in lines]
    return lines


def _session(lines: list[Text], language: str, tags: tuple[str, ...]) -> list[Block]:
    """A session: its prompts taken off, what was typed and what was printed told apart."""
    has_prompts = any(line.string.startswith(">>> ") for line in lines)

    def said(line: Text) -> tuple[BlockKind, Text]:
        if has_prompts:
            prompt = _PROMPT.match(line.string)
            return ("code", line[prompt.end() :]) if prompt else ("output", line)
        answer = _ANSWER.match(line.string)
        return ("output", line[answer.end() :]) if answer else ("code", line)

    pairs = [said(line) for line in lines]
    blocks = [
        _block(kind, [line for _, line in group], language, tags)
        for kind, group in groupby(pairs, key=lambda pair: pair[0])
    ]
    return [block for block in blocks if block.text.string.strip()]
