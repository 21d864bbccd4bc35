"""TOML documents drawn at random, which know where each of their values is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from hypothesis import strategies as st

Path = tuple[str | int, ...]


class Headed(dict[str, object]):
    """A table with a header of its own."""


class Repeated(list[dict[str, object]]):
    """Tables under headers in double brackets."""


SCALARS = st.sampled_from(
    ["0", "-17", "+1_000", "0xDEAD_beef", "0o17", "0b101", "1.0", "-0.50", "6.02e23", "1e-5",
     "inf", "-inf", "nan", "true", "false", "1979-05-27", "07:32:00", "1979-05-27 07:32:00.5Z",
     "1979-05-27T00:32:00-07:00", "''", "'a\\b'", '""', '"#"', "']'", '"\\u00e9\\n\\\\"', '"= 1"',
     "'''\nx'y\n'''", '"""a"" b"""', '""""a"""""', '"""\n  two\n  lines \\\n   end"""', "''''x'''",
     '"""a\\  \n\n  b"""', '"é🦊\u2028"']
)  # fmt: skip
KEYS = st.sampled_from(
    ["a", "b", "X", "W_Q", "1", "-", "2.5", "a.b", "a b", "", "é", "claims", "[0]", '"', "#", "'"]
)
_plain = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])
_strings = st.text(_plain, max_size=6).map(lambda text: json.dumps(text, ensure_ascii=False))
_values = st.recursive(
    SCALARS | _strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
_tables = st.recursive(
    st.dictionaries(KEYS, _values, max_size=4),
    lambda inner: st.dictionaries(
        KEYS,
        _values | inner.map(Headed) | st.lists(inner, min_size=1, max_size=3).map(Repeated),
        max_size=4,
    ),
    max_leaves=5,
)


class Document:
    """The TOML text of a table. ``starts`` has every path: where its value begins, or
    what names it first. ``values`` has those that are written as one piece, with that."""

    def __init__(self, table: dict[str, object], random: Random) -> None:
        self.random = random
        self.newline = random.choice(["\n", "\n", "\r\n"])
        self.text = ""
        self.starts: dict[Path, int] = {}
        self.values: dict[Path, str] = {}
        self.end_line()
        self.body((), table)

    def place(self, path: Path) -> tuple[int, int]:
        """Line and column, from 1."""
        before = self.text[: self.starts[path]]
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1

    def put(self, *choices: str) -> None:
        self.text += self.random.choice(choices)

    def space(self) -> None:
        self.put("", "", " ", "\t ")

    def end_line(self) -> None:
        self.space()
        self.put("", "", "# [a]", "# é = 1", "#")
        self.put(self.newline, self.newline, 2 * self.newline)
        self.space()

    def gap(self) -> None:
        """What may stand between the values of an array."""
        if self.random.random() < 0.3:
            self.end_line()
        self.space()

    def key(self, names: list[str]) -> None:
        for k, name in enumerate(names):
            if k:
                self.space()
                self.put(".")
                self.space()
            bare = name.isascii() and name.replace("_", "").replace("-", "x").isalnum()
            literal = [] if "'" in name else [f"'{name}'"]
            self.put(json.dumps(name, ensure_ascii=False), *literal, *[name] * 3 * bare)

    def value(self, path: Path, value: object) -> None:
        start = self.starts[path] = len(self.text)
        if isinstance(value, str):
            self.put(value.replace("\n", self.newline))
        elif isinstance(value, list):
            self.put("[")
            for k, item in enumerate(value):
                self.gap()
                self.value((*path, k), item)
                self.gap()
                self.put(*("," if k + 1 < len(value) else ["", ","]))
            self.gap()
            self.put("]")
        else:
            assert isinstance(value, dict)
            self.put("{")
            for k, (names, item) in enumerate(self.pairs(value)):
                self.put("," if k else "")
                self.space()
                self.pair(path, names, item)
                self.space()
            self.put("}")
        self.values[path] = self.text[start:]

    def pairs(self, table: dict[str, object]) -> list[tuple[list[str], object]]:
        """Keys and values, some tables by the dotted keys of what they hold."""

        def spread(names: list[str], value: object) -> Iterator[tuple[list[str], object]]:
            if isinstance(value, dict) and value and self.random.random() < 0.4:
                for name, item in value.items():
                    yield from spread([*names, name], item)
            else:
                yield names, value

        found = [pair for name, value in table.items() for pair in spread([name], value)]
        self.random.shuffle(found)
        return found

    def pair(self, above: Path, names: list[str], value: object) -> None:
        start = len(self.text)
        self.key(names)
        for k in range(1, len(names)):
            self.starts.setdefault((*above, *names[:k]), start)
        self.space()
        self.put("=")
        self.space()
        self.value((*above, *names), value)

    def body(self, path: Path, table: dict[str, object]) -> None:
        """The pairs of a table, then the tables in it under their own headers."""
        plain = {k: v for k, v in table.items() if not isinstance(v, Headed | Repeated)}
        for names, value in self.pairs(plain):
            self.pair(path, names, value)
            self.end_line()
        for name, inner in table.items():
            if isinstance(inner, Headed):
                self.header((*path, name), "[", "]", (*path, name))
                self.body((*path, name), inner)
            elif isinstance(inner, Repeated):
                for k, entry in enumerate(inner):
                    self.header((*path, name), "[[", "]]", (*path, name, k))
                    self.body((*path, name, k), entry)

    def header(self, path: Path, opening: str, closing: str, opened: Path) -> None:
        start = len(self.text)
        self.put(opening)
        self.space()
        self.key([name for name in path if isinstance(name, str)])
        self.space()
        self.put(closing)
        for named in (path, opened):
            self.starts.setdefault(named, start)
        self.end_line()


documents = st.builds(Document, _tables, st.randoms(use_true_random=False))
