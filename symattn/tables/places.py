"""Places of all values of a TOML text.

``tomllib`` judges a text and gives its values, but not their places; tree-sitter
reads the same text for those.

Tables of keys and values, as files and callers write them: what may stand in one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from symattn.errors import Fault, Faults, Malformed, expected, short

if TYPE_CHECKING:
    from tree_sitter import Node

#: A key of a table, or the position in an array.
Key = str | int

#: So much of a fault's path is looked up.
_LONGEST = 400

_POSITION = re.compile(r"\[([0-9]+)\]")
_ENDS = re.compile(r"[.\[]|\Z")


class Place(NamedTuple):
    """A line and a column, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class _Item:
    node: Node

    @cached_property
    def parts(self) -> dict[Key, _Item]:
        """Return what a table or an array holds, by key or position.

        Only values written in one piece are opened here; tables that headers
        spread over the text are filled by :class:`_Reader`.
        """
        items: dict[Key, _Item] = {}
        if self.node.type == "array":
            values = [node for node in self.node.named_children if node.type != "comment"]
            items.update(enumerate(map(_Item, values)))
        elif self.node.type == "inline_table":
            _add_pairs(items, self.node)
        return items


class TomlPlaces:
    """The places of all values of a TOML text that ``tomllib`` reads.

    A value in a table is placed where it is written, a table or an entry of an
    array of tables at its header.

    >>> places = TomlPlaces("[given]\\nx = [1,\\n  2]\\n[[claims]]\\nof = 'A'\\n")
    >>> places.at("given", "x", 1)
    Place(line=3, column=3)
    >>> places.line("claims[0].of[7]"), places.line("steps")
    (5, 0)
    """

    def __init__(self, text: str) -> None:
        import tree_sitter_toml
        from tree_sitter import Language, Parser

        self._source = text.encode()
        tree = Parser(Language(tree_sitter_toml.language())).parse(self._source)
        self._root = _Item(tree.root_node)
        for node in tree.root_node.named_children:
            if node.type == "pair":
                _add_pair(self._root.parts, node)
            elif node.type in ("table", "table_array_element"):
                _add_pairs(_opened(self._root.parts, node), node)

    def at(self, *path: Key) -> Place:
        """The place of the value at ``path``: keys, and positions in arrays.

        Raises ``KeyError`` where there is none.
        """
        item = self._root
        for key in path:
            item = item.parts[key]
        row, column = item.node.start_point
        start = item.node.start_byte
        return Place(row + 1, len(self._source[start - column : start].decode()) + 1)

    def line(self, where: str) -> int:
        """The line of a fault's path, or of the longest part of it that is known; else 0.

        >>> TomlPlaces('[steps]\\n"a.b" = "X"\\n').line("steps.a.b[1]")
        2
        """
        item = self._found(where)
        return 0 if item is None else item.node.start_point.row + 1

    def characters(self, where: str) -> tuple[int, int] | None:
        """From which character of the text to before which the value at a fault's path stands,
        without its quotes, or that of the longest part that is known; of a table its first
        line. None where nothing of it is known.

        >>> text = '[steps]\\nS = "Q @ K.T"\\n'
        >>> start, end = TomlPlaces(text).characters("steps.S")
        >>> text[start:end]
        'Q @ K.T'
        """
        if (item := self._found(where)) is None:
            return None
        before = self._source[: item.node.start_byte].decode()
        text = self._source[item.node.start_byte : item.node.end_byte].decode()
        start = len(before)
        if item.node.type == "string":
            quotes = 3 if text[:3] in ('"""', "'''") else 1
            return start + quotes, start + len(text) - quotes
        if item.node.type in ("table", "table_array_element"):
            text = text.partition("\n")[0].rstrip("\r")
        return start, start + len(text)

    def _found(self, where: str) -> _Item | None:
        """The value at a fault's path, or at the longest part of it that is known."""
        item, found = self._root, None
        rest = where[:_LONGEST]
        while rest:
            for key, end in _beginnings(rest):
                if key in item.parts:
                    item = found = item.parts[key]
                    rest = rest[end:]
                    break
            else:
                break
        return found


def _beginnings(path: str) -> Iterator[tuple[Key, int]]:
    """The keys that a path may start with, and where each ends: a key may hold
    points and brackets of its own."""
    if position := _POSITION.match(path):
        yield int(position[1]), position.end()
    start = 1 if path.startswith(".") else 0
    for end in _ENDS.finditer(path, start):
        yield path[start : end.start()], end.start()


def _opened(parts: dict[Key, _Item], header: Node) -> dict[Key, _Item]:
    *above, last = _keys(header.named_children[0])
    for key in above:
        parts = _table(parts.setdefault(key, _Item(header)))
    item = parts.setdefault(last, _Item(header))
    if header.type == "table_array_element":
        item.parts[len(item.parts)] = item = _Item(header)
    return item.parts


def _table(item: _Item) -> dict[Key, _Item]:
    """Return what a table holds; of an array of tables, what its last one does."""
    is_array = item.node.type == "table_array_element" and 0 in item.parts
    return item.parts[len(item.parts) - 1].parts if is_array else item.parts


def _add_pairs(parts: dict[Key, _Item], table: Node) -> None:
    for node in table.named_children:
        if node.type == "pair":
            _add_pair(parts, node)


def _add_pair(parts: dict[Key, _Item], pair: Node) -> None:
    key, value, *_ = pair.named_children
    *above, last = _keys(key)
    for name in above:
        parts = parts.setdefault(name, _Item(key)).parts
    parts[last] = _Item(value)


def _keys(key: Node) -> Iterator[str]:
    """The keys that ``a."b.c"`` names, as ``tomllib`` reads them."""
    assert key.text is not None
    text = key.text.decode()
    if key.type == "bare_key":
        yield text
        return
    value = tomllib.loads(f"{text} = 0")
    while isinstance(value, dict):
        ((name, value),) = value.items()
        yield name


#: What a user calls the kinds of values.
KINDS: Mapping[type, str] = {
    bool: "true or false", int: "a number", Decimal: "a number", str: "text",
    list: "a list", tuple: "a list", dict: "a table", type(None): "nothing",
}  # fmt: skip


def kind(value: object) -> str:
    """Return what a value is, as messages say it.

    >>> kind("x"), kind([1]), kind(0.5)
    ('text', 'a list', 'a float')
    """
    return KINDS.get(type(value), f"a {type(value).__name__}")


def unknown(entry: Mapping[str, object], known: Collection[str]) -> Faults:
    """A fault for each key that is not known.

    >>> print(*unknown({"wher": "3.1", "of": "A"}, ("where", "of")))
    wher: unknown key 'wher': did you mean where?
    """
    keys = [key for key in entry if key not in known]
    return Faults.of(
        keys, lambda key: Fault(key[:80], f"unknown key {short(key, 40)!r}: {expected(key, known)}")
    )


def misfits(entry: Mapping[str, object], kinds: Mapping[str, type]) -> list[Fault]:
    """A fault for each key whose value is of another kind than ``kinds`` says.

    >>> print(*misfits({"title": 3, "lines": []}, {"title": str, "lines": list, "note": str}))
    title: expected text, found a number
    """
    return [
        Fault(key, f"expected {KINDS[of]}, found {kind(entry[key])}")
        for key, of in kinds.items()
        if key in entry and not isinstance(entry[key], of)
    ]


#: The form of plain data: its types; a set or a range that it is in; a list of one form,
#: ``[str]``; a list of several, ``(str, int)``; a table with at least these keys, of which those
#: with ``?`` may be missing.
Form = Any


def check(value: object, form: Form, where: str = "") -> None:
    """Raise :class:`Malformed`, with its place, for the first value that is of another form.

    >>> check({"t": "Code", "c": [["a", 3], ""]}, {"t": str, "d?": str, "c": ([str], str)})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: c[0][1]: expected text, found a number
    """
    if isinstance(form, frozenset | range):
        check(value, int if isinstance(form, range) else str, where)
        if value not in form:
            raise Malformed(Fault(where, f"expected another value, found {short(str(value))!r}"))
        return
    kinds: Any = list if isinstance(form, list | tuple) else form
    kinds = dict if isinstance(form, dict) else kinds
    # To Python true is a number.
    if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is int):
        wanted = " or ".join(KINDS[of] for of in getattr(kinds, "__args__", (kinds,)))
        raise Malformed(Fault(where, f"expected {wanted}, found {kind(value)}"))
    if isinstance(form, dict):
        assert isinstance(value, dict)
        for key, inner in form.items():
            name = key.removesuffix("?")
            if name != key and value.get(name) is None:
                continue
            if name not in value:
                raise Malformed(Fault(where, f"expected a table with the key {name!r}"))
            check(value[name], inner, f"{where}.{name}".lstrip("."))
    elif isinstance(form, list | tuple):
        assert isinstance(value, list)
        if isinstance(form, tuple) and len(form) != len(value):
            raise Malformed(Fault(where, f"expected {len(form)} entries, found {len(value)}"))
        inners = form if isinstance(form, tuple) else form * len(value)
        for place, (item, inner) in enumerate(zip(value, inners, strict=True)):
            check(item, inner, f"{where}[{place}]")


def text(value: object) -> str:
    """A value that is text. Raises :class:`Malformed` where it is none.

    >>> text(3)
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: expected text, found a number
    """
    if not isinstance(value, str):
        raise Malformed(f"expected text, found {kind(value)}")
    return value


def table(value: object) -> Mapping[str, Any]:
    """A value that is a table. Raises :class:`Malformed` where it is none.

    >>> table([])
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: expected a table, found a list
    """
    if not isinstance(value, Mapping):
        raise Malformed(f"expected a table, found {kind(value)}")
    return value


def texts(entry: Mapping[str, object], keys: Iterable[str]) -> Iterator[Fault]:
    """A fault for each of the keys whose value is no text, or an empty one.

    >>> print(*texts({"where": 3, "what": ""}, ("where", "what")), sep="; ")
    where: expected text, found a number; what: expected text, found nothing
    """
    for key in keys:
        if not (entry[key] and isinstance(entry[key], str)):
            actual = "nothing" if entry[key] == "" else kind(entry[key])
            yield Fault(key, f"expected text, found {actual}")
