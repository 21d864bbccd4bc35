r"""Places of live figures in the text of an article, in MyST's spelling and in pandoc's.

In a line of text ``{symattn}`A[0, 1]` `` or ```A[0, 1]`{.symattn}``; in mathematics
``\symattn{A[0, 1]}``; on lines of its own a fence with ``{symattn:matrix} A``, or one with
``{.symattn-matrix}`` and ``A`` in it.

What stands in another fence, or in code with more than one backtick, is shown, not meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from symattn.documents.editing import TextEdit, applied
from symattn.documents.text import Span
from symattn.live.names import CASE, NAMES

#: How a document system spells live figures.
Spelling = Literal["myst", "pandoc"]
#: How a live figure stands: in a line of text, in mathematics, or as a block.
How = Literal["line", "mathematics", "block"]

_NAME = r"symattn(?:[:-][a-z]+)?"
_FENCE = re.compile(r"[ ]{0,3}(?P<fence>`{3,}|~{3,}|:{3,})(?P<info>[^\r\n]*)")
_DIRECTIVE = re.compile(rf"\s*\{{(?P<name>{_NAME})\}}(?P<text>[^\r\n]*)")
_CLASS = re.compile(rf"\s*\{{\.(?P<name>{_NAME})\}}\s*\Z")
#: Code with more than one backtick comes first: what is in it is shown as it is.
_INLINE = re.compile(
    r"(?P<shown>``+)(?!`).*?(?<!`)(?P=shown)(?!`)"
    rf"|\{{(?P<role>{_NAME})\}}`(?P<one>[^`\r\n]+)`"
    rf"|`(?P<two>[^`\r\n]+)`\{{\.(?P<class>{_NAME})\}}"
    r"|`[^`\r\n]+`"
    r"|\\symattn\{(?P<three>[^{}\r\n]*)\}"
)
#: The line of a front matter that names the file.
_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\r?\n(?P<lines>.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_FILE = re.compile(
    r"^symattn:[ \t]*(?P<quote>[\"']?)(?P<file>[^\"'#\r\n]+?)(?P=quote)"
    r"[ \t]*(?:[ \t]#[^\r\n]*)?\r?$",
    re.MULTILINE,
)


class LiveFigure(NamedTuple):
    """A live figure in a text: all that it takes there, its name such as ``symattn:matrix``,
    what it says, and how it stands."""

    span: Span
    name: str
    text: str
    how: How


def found(source: str) -> Iterator[LiveFigure]:
    r"""The live figures of a text, in order; and what names its file, as ``symattn:case``.

    >>> [(one.text, one.how) for one in found("{symattn}`A[0]` $\\symattn{B}$ `{symattn}`")]
    [('A[0]', 'line'), ('B', 'mathematics')]
    """
    opened: re.Match[str] | None = None
    start = begin = 0
    at = 0
    for line in source.splitlines(keepends=True):
        fence = _FENCE.match(line)
        if opened is None and fence and not (fence["fence"][0] == "`" and "`" in fence["info"]):
            yield from _in_lines(source, begin, at)
            opened, start = fence, at
        elif opened is not None and fence and _closes(fence, opened):
            yield from _block(source, Span(start, at + len(line.rstrip("\r\n"))), opened)
            opened, begin = None, at + len(line)
        at += len(line)
    if opened is None:
        yield from _in_lines(source, begin, at)


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    return fence["fence"].startswith(opened["fence"]) and not fence["info"].strip()


def _block(source: str, span: Span, opened: re.Match[str]) -> Iterator[LiveFigure]:
    """The live figure of a fence, if it is one; colons hold what is no code."""
    info = opened["info"]
    if directive := _DIRECTIVE.fullmatch(info):
        name, text = directive["name"], directive["text"].strip()
    elif written := _CLASS.fullmatch(info):
        name, text = written["name"], "".join(source[slice(*span)].splitlines()[1:-1]).strip()
    else:
        if opened["fence"].startswith(":"):
            start = span.start + opened.end()
            for one in found(source[start : span.end]):
                yield one._replace(span=Span(start + one.span.start, start + one.span.end))
        return
    if (known := spelled(name)) is not None:
        yield LiveFigure(span, known, text, "block")


def _in_lines(source: str, start: int, end: int) -> Iterator[LiveFigure]:
    for match in _INLINE.finditer(source, start, end):
        span = Span(*match.span())
        if match["three"] is not None:
            yield LiveFigure(span, "symattn", match["three"], "mathematics")
        elif (name := match["role"] or match["class"]) and (known := spelled(name)):
            yield LiveFigure(span, known, match["one"] or match["two"], "line")


def spelled(name: str) -> str | None:
    """A name as MyST has it, of pandoc's class ``symattn-matrix`` too; None for no name of
    a live figure."""
    myst = name.replace("-", ":")
    return myst if myst in NAMES or myst == CASE else None


def written(expression: str, how: How, spelling: Spelling) -> str:
    """A number that is computed, as an author writes it.

    >>> written("A[0]:.2f", "line", "myst"), written("A[0]:.2f", "line", "pandoc")
    ('{symattn}`A[0]:.2f`', '`A[0]:.2f`{.symattn}')
    """
    if how == "mathematics":
        return rf"\symattn{{{expression}}}"
    return f"{{symattn}}`{expression}`" if spelling == "myst" else f"`{expression}`{{.symattn}}"


def without(source: str) -> str:
    r"""The text with blanks in the place of its live figures: what is left says where they
    are computed from, and every line stays where it is.

    >>> without("A is {symattn}`A[0]`.")
    'A is                .'
    """
    blank = [
        TextEdit(one.span, re.sub(r"[^\r\n]", " ", source[slice(*one.span)]))
        for one in found(source)
    ]
    return applied(source, blank)


def file_named(source: str) -> str | None:
    """The file that a text names for its figures, in a block or in its front matter; None
    where it names none.

    >>> file_named("---\\nsymattn: post.toml\\n---\\n"), file_named("# Post\\n")
    ('post.toml', None)
    """
    for one in found(source):
        if one.name == CASE and one.text:
            return one.text
    matter = _FRONT_MATTER.match(source)
    named = _FILE.search(matter["lines"]) if matter else None
    return named["file"] if named else None


def ending(source: str, name: str, spelling: Spelling) -> str:
    """The text with a block at its end that names the file of its figures;
    :func:`without_ending` takes it away again, to the last character."""
    line = "\r\n" if "\r\n" in source else "\n"
    is_ended = source.endswith("\n")
    if spelling == "myst":
        block = f"```{{{CASE}}} {name}{line}```"
    else:
        block = f"```{{.symattn-case}}{line}{name}{line}```"
    return f"{source}{line}{block}{line}" if is_ended else f"{source}{line}{line}{block}"


def without_ending(source: str) -> str:
    r"""The text without the block that :func:`ending` adds.

    >>> [without_ending(ending(text, "a.md", "myst")) for text in ("x", "x\n", "x\r\n")]
    ['x', 'x\n', 'x\r\n']
    """
    blocks = [one for one in found(source) if one.name == CASE and one.how == "block"]
    if not blocks or source[blocks[-1].span.end :] not in ("", "\n", "\r\n"):
        return source
    line = "\r\n" if "\r\n" in source[slice(*blocks[-1].span)] else "\n"
    is_ended = source.endswith("\n")
    before = source[: blocks[-1].span.start]
    return before.removesuffix(line if is_ended else 2 * line)
