"""Jupyter notebooks: cells to blocks, each character with its place in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]

from symattn.documents import markdown
from symattn.documents.article import Block, CellText, Contents, listing
from symattn.documents.text import Text
from symattn.errors import Fault, Faults, Malformed, short

_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
)
_LONE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True)
class Quoted:
    """A string of a JSON text: where it stands, without its quotes."""

    source: Text
    start: int
    end: int

    def __str__(self) -> str:
        return self.text.string

    @property
    def text(self) -> Text:
        """Return what it says; a character that is escaped has the place of its escape.

        >>> node = _read_quoted(Text.whole('["a\\\\nb"]'))
        >>> node[0].text.span(1, 2)
        Span(start=3, end=5)
        """
        return self.source[self.start : self.end].sub(_ESCAPE, _unescaped)


def _unescaped(escape: re.Match[str]) -> str:
    character: str = json.loads(f'"{escape[0]}"')
    return _LONE.sub("\ufffd", character)


#: A value of a JSON text; numbers are left as they are written.
Node = dict[str, "Node"] | list["Node"] | Quoted | str | bool | None


def _read_quoted(source: Text) -> Node:
    """The value of a JSON text. Raises :class:`Malformed` with the line of what is wrong.

    >>> _read_quoted(Text.whole('{"a": [1, true]}'))
    {'a': ['1', True]}
    """
    try:
        node: Node = _Decoder(source).decode(source.string)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg.lower()} at column {error.colno}"
        raise Malformed(Fault("", message, error.lineno)) from None
    except RecursionError:
        raise Malformed("JSON nested too deeply to be read") from None
    return node


class _Decoder(json.JSONDecoder):
    """The library's decoder, whose strings know where they stand."""

    def __init__(self, source: Text) -> None:
        super().__init__(parse_int=str, parse_float=str, parse_constant=str)
        self._source = source
        self.parse_string = self._quoted
        self.scan_once = py_make_scanner(self)

    def _quoted(self, string: str, start: int, strict: bool) -> tuple[Quoted, int]:
        end = scanstring(string, start, strict)[1]
        return Quoted(self._source, start, end - 1), end


#: Colours of a terminal.
_COLOURS = re.compile(r"\x1b\[[0-9;]*+[A-Za-z]")
_MAGIC = re.compile(r"%%(\w++)[^\n]*+\n")
#: Languages that cells may be switched to.
_SWITCHED = {"r": "r", "julia": "julia", "bash": "bash", "sh": "bash", "html": "html"}


def read(source: Text) -> Contents:
    """Return what is in a notebook. Raises :class:`Malformed` where it is none, with every fault.

    >>> cell = '{"cell_type": "markdown", "source": ["# Scores"], "metadata": {}}'
    >>> read(Text.whole('{"cells": [%s], "nbformat": 4}' % cell)).blocks[0].text
    <Text 'Scores'>
    """
    notebook = _read_quoted(source)
    reader = _CellReader(_language(notebook))
    blocks = [
        block
        for number, cell in _cells(notebook, reader.faults)
        for block in reader.blocks(number, cell)
    ]
    reader.faults.raise_all()
    texts = sorted(reader.texts, key=lambda cell: cell.text.span().start)
    return Contents(tuple(blocks), cells=tuple(texts))


def _cells(notebook: Node, faults: Faults) -> Iterator[tuple[int, dict[str, Node]]]:
    if not isinstance(notebook, dict):
        faults.append(Fault("", f"not a notebook: expected an object, found {_kind(notebook)}"))
        return
    cells = notebook.get("cells")
    if cells is None and "worksheets" in notebook:
        advice = "'jupyter nbconvert --to notebook FILE' writes it in format 4"
        faults.append(Fault("worksheets", f"a notebook of format 3 is not read; {advice}"))
        return
    if not isinstance(cells, list):
        actual = "nothing" if cells is None else _kind(cells)
        faults.append(Fault("cells", f"not a notebook: expected a list of cells, found {actual}"))
        return
    for i, cell in enumerate(cells):
        if isinstance(cell, dict):
            yield i, cell
        else:
            faults.append(Fault(f"cells[{i}]", f"expected an object, found {_kind(cell)}"))


def _kind(node: Node) -> str:
    match node:
        case Quoted():
            return f"the text {short(str(node), 30)!r}"
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return node
    return json.dumps(node)


def _language(notebook: Node) -> str:
    for keys in (("language_info", "name"), ("kernelspec", "language")):
        node: Node = _get(notebook, "metadata")
        for key in keys:
            node = _get(node, key)
        if isinstance(node, Quoted):
            return str(node).lower()
    return "python"


def _get(node: Node, key: str) -> Node:
    return node.get(key, "") if isinstance(node, dict) else ""


class _CellReader:
    """Reads cells one after the other, with what is wrong in them, and their texts."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.faults = Faults()
        self.texts: list[CellText] = []
        self.number = 0

    def blocks(self, number: int, cell: dict[str, Node]) -> Iterator[Block]:
        """The blocks of a cell, counted from 0, and of what it printed."""
        self.number, where = number, f"cells[{number}]"
        kind = str(_get(cell, "cell_type"))
        if kind not in ("markdown", "code", "raw"):
            actual = repr(short(kind, 30)) if kind else "nothing"
            message = f"expected 'markdown', 'code' or 'raw', found {actual}"
            self.faults.append(Fault(f"{where}.cell_type", message))
            return
        if "source" not in cell:
            message = "missing: expected text, or a list of lines"
            self.faults.append(Fault(f"{where}.source", message))
            return
        tags = _tags(cell)
        text = self._text(f"{where}.source", cell["source"])
        if kind == "markdown":
            yield from (replace(block, tags=tags) for block in markdown.blocks(text))
        elif kind == "code":
            language = self.language
            if magic := _MAGIC.match(text.string):
                language = _SWITCHED.get(magic[1].lower(), language)
                text = text[magic.end() :]
            yield from listing(text, language, tags=tags)
            outputs = _get(cell, "outputs")
            for i, output in enumerate(outputs if isinstance(outputs, list) else ()):
                for block in self._output(f"{where}.outputs[{i}]", output):
                    yield replace(block, tags=tags)

    def _text(self, where: str, node: Node, is_output: bool = False) -> Text:
        """A text, or the lines of one."""
        parts = node if isinstance(node, list) else [node]
        wrong = [part for part in parts if not isinstance(part, Quoted)]
        if wrong:
            message = f"expected text, or a list of lines, found {_kind(wrong[0])}"
            self.faults.append(Fault(where, message))
        whole = Text.joined([part.text for part in parts if isinstance(part, Quoted)])
        text = whole.with_plain_ends()
        if len(text):
            self.texts.append(CellText(self.number + 1, is_output, text))
        return text

    def _output(self, where: str, output: Node) -> Iterator[Block]:
        """Yield what a cell printed, or what it left; pictures and errors are no figures."""
        kind = str(_get(output, "output_type"))
        if kind == "stream" and str(_get(output, "name")) != "stderr":
            yield from _printed(self._text(f"{where}.text", _get(output, "text"), is_output=True))
        data = _get(output, "data")
        if kind not in ("execute_result", "display_data") or not isinstance(data, dict):
            return
        rich = [form for form in ("text/latex", "text/markdown") if form in data][:1]
        for form in rich or data:
            if reads := _FORMS.get(form):
                yield from reads(self._text(f"{where}.data.{form}", data[form], is_output=True))


def _tags(cell: dict[str, Node]) -> tuple[str, ...]:
    tags = _get(_get(cell, "metadata"), "tags")
    listed = tags if isinstance(tags, list) else ()
    return tuple(str(tag) for tag in listed if isinstance(tag, Quoted))


def _tables(text: Text) -> tuple[Block, ...]:
    """The tables that a cell shows; the rest of its page is dress."""
    if "<table" not in text.string:
        return ()
    from symattn.documents import html

    return tuple(block for block in html.read(text).blocks if block.kind == "table")


def _printed(text: Text) -> Iterator[Block]:
    bare = text.sub(_COLOURS, "")
    yield from (replace(block, language="") for block in listing(bare, "output"))


#: How the forms of an output are read.
_FORMS: Mapping[str, Callable[[Text], Iterable[Block]]] = {
    "text/latex": markdown.blocks,
    "text/markdown": markdown.blocks,
    "text/plain": _printed,
    "text/html": _tables,
}
