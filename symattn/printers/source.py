"""Articles as pages: their own text, line by line, with marks in it and notes beside it.

Like all pages they are one file each, that loads nothing; they run nothing either.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from symattn.escaping import html_attribute, html_text
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.printers.html import line, page

#: What a mark says: struck through, with what is right beside it; holds, but a finer figure is
#: beside it; not decided; right; right, though only its value says what it is; not read.
MarkKind = Literal["wrong", "coarse", "open", "holds", "confirmed", "unread"]

#: How a line is shown: as words, as a heading, or letter by letter.
LineKind = Literal["words", "heading", "code"]


@dataclass(frozen=True)
class SourceMark:
    """A piece of a line that is marked: ``told`` is shown where a reader asks for it,
    ``correct`` beside it, with the number of its ``cause``."""

    text: str
    kind: MarkKind
    told: str = ""
    correct: str = ""
    cause: int = 0


@dataclass(frozen=True)
class SourceLine:
    """A line of the article by its number, from 1, and the notes beside it; 0 is the
    number of a blank between what is not side by side in the file."""

    number: int
    kind: LineKind
    pieces: tuple[str | SourceMark, ...]
    notes: tuple[b.Line, ...] = ()


@dataclass(frozen=True)
class SourceList:
    """Sentences above an article under a heading, unfolded or not."""

    heading: str
    items: tuple[b.Line, ...]
    is_open: bool = False


@dataclass(frozen=True)
class SourcePage:
    """An article: what stands above it, and its lines.

    The ``causes`` are numbered as marks name them.
    """

    name: str
    title: str
    subtitle: str
    summary: tuple[b.Line, ...]
    causes: tuple[b.Line, ...]
    lists: tuple[SourceList, ...]
    legend: tuple[SourceMark, ...]
    lines: tuple[SourceLine, ...]
    say: Language
    paper: str = "a4"


def document(source: SourcePage) -> str:
    """The page of an article.

    >>> from symattn.languages.language import ENGLISH
    >>> line = SourceLine(7, "words", ("A < ", SourceMark("0.51", "wrong", "A", "0.52")))
    >>> made = document(SourcePage("x", "X", "x.md", (), (), (), (), (line,), ENGLISH))
    >>> "A &lt; <span class=\\"wrong\\" tabindex=\\"0\\"><del>0.51</del><ins> 0.52</ins>" in made
    True
    """
    say = source.say
    parts = [f"<p>{line(sentence)}</p>" for sentence in source.summary]
    if source.causes:
        items = "".join(f'<li id="cause-{k}">{line(sentence)}</li>'
                        for k, sentence in enumerate(source.causes, 1))  # fmt: skip
        parts.append(f"<h2>{html_text(say.text('Causes'))}</h2><ol>{items}</ol>")
    for item in source.lists:
        items = "".join(f"<li>{line(sentence)}</li>" for sentence in item.items)
        content = f"<summary><h2>{html_text(item.heading)}</h2></summary><ul>{items}</ul>"
        state = ' open=""' if item.is_open else ""
        parts.append(f'<details class="part"{state}>{content}</details>')
    legend = " ".join(f"<span>{_piece(mark)} {html_text(mark.told)}</span>"
                      for mark in source.legend)  # fmt: skip
    parts.append(f'<p class="legend">{legend}</p>')
    numbers = [0, *(item.number for item in source.lines)]
    lines = "\n".join(map(_line, source.lines, numbers))
    body = (
        f'<section class="about">{"".join(parts)}</section>\n'
        f'<main class="source">\n{lines}\n</main>'
    )
    head = f"<h1>{html_text(source.title)}</h1><p>{html_text(source.subtitle)}</p>"
    style = Path(__file__).with_name("source.css").read_text("utf-8")
    style += f"@page {{ size: {source.paper}; }}\n"
    return page(source.title or source.name, head, body, say, style)


def _line(row: SourceLine, before: int) -> str:
    """A line; one with the number of that before has none of its own."""
    content = "".join(map(_piece, row.pieces))
    notes = "".join(f"<p>{line(note)}</p>" for note in row.notes)
    aside = f"<aside>{notes}</aside>" if notes else ""
    n = row.number
    number = f'<a id="line-{n}" href="#line-{n}">{n}</a>' if n not in (0, before) else ""
    return f'<div class="{row.kind}">{number}<div>{content}</div>{aside}</div>'


def _piece(piece: str | SourceMark) -> str:
    """A piece of a line; its blanks stay as they are."""
    if isinstance(piece, str):
        return _text(piece)
    asked = f"<small>{html_text(piece.told)}</small>" if piece.told else ""
    beside = f"<ins> {html_text(piece.correct)}</ins>" if piece.correct else ""
    text = _text(piece.text)
    if piece.kind == "wrong":
        text = f"<del>{text}</del>"
    if piece.kind == "open":
        beside = "<ins> ?</ins>"
    if number := piece.cause:
        beside += f'<a class="cause" href="#cause-{number}">{number}</a>'
    focus = ' tabindex="0"' if asked else ""
    return f'<span class="{html_attribute(piece.kind)}"{focus}>{text}{beside}{asked}</span>'


def _text(text: str) -> str:
    return html_text(text.replace("\t", "    "))
