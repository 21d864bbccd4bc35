"""JSON whose strings know where each of their characters stands."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from symattn.documents.text import Text
from symattn.errors import Fault, Malformed

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

        >>> node = read(Text.whole('["a\\\\nb"]'))
        >>> node[0].text.span(1, 2)
        Span(start=3, end=5)
        """
        return self.source[self.start : self.end].sub(_ESCAPE, _unescaped)


def _unescaped(escape: re.Match[str]) -> str:
    character: str = json.loads(f'"{escape[0]}"')
    return _LONE.sub("\ufffd", character)


#: A value of a JSON text; numbers and constants are left as they are written.
Node = dict[str, "Node"] | list["Node"] | Quoted | str


def read(source: Text) -> Node:
    """The value of a JSON text. Raises :class:`Malformed` with the line of what is wrong.

    >>> read(Text.whole('{"a": [1, true]}'))
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
