"""Jupyter notebooks: cells to blocks, each character with its place in the file.

JSON whose strings know where each of their characters stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from symattn.documents import markdown
from symattn.documents.article import Block, Contents
from symattn.documents.listings import listing
from symattn.documents.text import Text
from symattn.errors import Fault, Faults, Malformed, short

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)"|[\[\]{},:]|[^\s\[\]{},:"]++')
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
        """What it says; a character that is escaped has the place of its escape.

        >>> node = _read_quoted(Text.whole('["a\\\\nb"]'))
        >>> node[0].text.span(1, 2)
        Span(start=3, end=5)
        """
        return self.source[self.start : self.end].sub(_ESCAPE, _unescaped)


def _unescaped(escape: re.Match[str]) -> str:
    character: str = json.loads(f'"{escape[0]}"')
    return _LONE.sub("\ufffd", character)


#: A value of a JSON text; numbers and constants are left as they are written.
Node = dict[str, "Node"] | list["Node"] | Quoted | str


def _read_quoted(source: Text) -> Node:
    """The value of a JSON text. Raises :class:`Malformed` with the line of what is wrong.

    >>> _read_quoted(Text.whole('{"a": [1, true]}'))
    {'a': ['1', 'true']}
    """
    try:
        json.loads(source.string, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg.lower()} at column {error.colno}"
        raise Malformed(Fault("", message, error.lineno)) from None
    except RecursionError:
        raise Malformed("JSON nested too deeply to be read") from None
    return _value(source)


def _value(source: Text) -> Node:
    """The value of a text that is JSON: one pass over its tokens."""
    top: list[Node] = []
    open_: list[dict[str, Node] | list[Node]] = [top]
    keys: list[str | None] = [None]
    for token in _TOKEN.finditer(source.string):
        sign = token[0]
        node: Node
        if sign in "]}":
            open_.pop()
            keys.pop()
            continue
        if sign in ",:":
            continue
        if sign == "[":
            node = []
        elif sign == "{":
            node = {}
        elif sign[0] == '"':
            node = Quoted(source, token.start(1), token.end(1))
            if isinstance(open_[-1], dict) and keys[-1] is None:
                keys[-1] = str(node)
                continue
        else:
            node = sign
        holder = open_[-1]
        if isinstance(holder, dict):
            key = keys[-1]
            assert key is not None
            holder[key] = node
            keys[-1] = None
        else:
            holder.append(node)
        if isinstance(node, dict | list):
            open_.append(node)
            keys.append(None)
    return top[0]


#: Colours of a terminal.
_COLOURS = re.compile(r"\x1b\[[0-9;]*+[A-Za-z]")
_MAGIC = re.compile(r"%%(\w++)[^\n]*+\n")
#: Languages that cells may be switched to.
_SWITCHED = {"r": "r", "julia": "julia", "bash": "bash", "sh": "bash", "html": "html"}


def read(source: Text) -> Contents:
    """What is in a notebook. Raises :class:`Malformed` where it is none, with every fault.

    >>> cell = '{"cell_type": "markdown", "source": ["# Scores"], "metadata": {}}'
    >>> read(Text.whole('{"cells": [%s], "nbformat": 4}' % cell)).blocks[0].text
    <Text 'Scores'>
    """
    notebook = _read_quoted(source)
    faults = Faults()
    language = _language(notebook)
    blocks = [
        block
        for where, cell in _cells(notebook, faults)
        for block in _blocks(where, cell, language, faults)
    ]
    faults.raise_all()
    return Contents(tuple(blocks))


def _cells(notebook: Node, faults: Faults) -> Iterator[tuple[str, dict[str, Node]]]:
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
            yield f"cells[{i}]", cell
        else:
            faults.append(Fault(f"cells[{i}]", f"expected an object, found {_kind(cell)}"))


def _kind(node: Node) -> str:
    """What a value is, for messages."""
    if isinstance(node, Quoted):
        return f"the text {short(str(node), 30)!r}"
    return {dict: "an object", list: "a list"}.get(type(node), str(node))


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


def _blocks(where: str, cell: dict[str, Node], language: str, faults: Faults) -> Iterator[Block]:
    kind = str(_get(cell, "cell_type"))
    if kind not in ("markdown", "code", "raw"):
        actual = repr(short(kind, 30)) if kind else "nothing"
        message = f"expected 'markdown', 'code' or 'raw', found {actual}"
        faults.append(Fault(f"{where}.cell_type", message))
        return
    if "source" not in cell:
        faults.append(Fault(f"{where}.source", "missing: expected text, or a list of lines"))
        return
    tags = _tags(cell)
    text = _text(f"{where}.source", cell["source"], faults)
    if kind == "markdown":
        yield from (replace(block, tags=tags) for block in markdown.blocks(text))
    elif kind == "code":
        if magic := _MAGIC.match(text.string):
            language = _SWITCHED.get(magic[1].lower(), language)
            text = text[magic.end() :]
        yield from listing(text, language, tags=tags)
        outputs = _get(cell, "outputs")
        for i, output in enumerate(outputs if isinstance(outputs, list) else ()):
            for block in _output(f"{where}.outputs[{i}]", output, faults):
                yield replace(block, tags=tags)


def _tags(cell: dict[str, Node]) -> tuple[str, ...]:
    tags = _get(_get(cell, "metadata"), "tags")
    return (
        tuple(str(tag) for tag in tags if isinstance(tag, Quoted)) if isinstance(tags, list) else ()
    )


def _text(where: str, node: Node, faults: Faults) -> Text:
    """A text, or the lines of one."""
    parts = node if isinstance(node, list) else [node]
    wrong = [part for part in parts if not isinstance(part, Quoted)]
    if wrong:
        message = f"expected text, or a list of lines, found {_kind(wrong[0])}"
        faults.append(Fault(where, message))
    whole = Text.joined([part.text for part in parts if isinstance(part, Quoted)])
    return whole.with_plain_ends()


def _output(where: str, output: Node, faults: Faults) -> Iterator[Block]:
    """What a cell printed, or what it left; pictures and errors are no figures."""
    kind = str(_get(output, "output_type"))
    if kind == "stream" and str(_get(output, "name")) != "stderr":
        node: Node = _get(output, "text")
        yield from _printed(_text(f"{where}.text", node, faults))
    data = _get(output, "data")
    if kind not in ("execute_result", "display_data") or not isinstance(data, dict):
        return
    for form in ("text/latex", "text/markdown"):
        if form in data:
            yield from markdown.blocks(_text(f"{where}.data.{form}", data[form], faults))
            return
    for form, node in data.items():
        if form == "text/plain":
            yield from _printed(_text(f"{where}.data.{form}", node, faults))
        elif form == "text/html":
            yield from _tables(_text(f"{where}.data.{form}", node, faults))


def _tables(text: Text) -> tuple[Block, ...]:
    """The tables that a cell shows; the rest of its page is dress."""
    if "<table" not in text.string:
        return ()
    from symattn.documents import html

    return tuple(block for block in html.read(text).blocks if block.kind == "table")


def _printed(text: Text) -> Iterator[Block]:
    bare = text.sub(_COLOURS, "")
    yield from (replace(block, language="") for block in listing(bare, "output"))
