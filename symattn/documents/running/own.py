"""Functions and methods that Python has by itself, over values of a program that is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from flint import arb

from symattn.documents.running.library import cast
from symattn.documents.running.numbers import (
    NOBODY_KNOWS,
    OPERATORS,
    Array,
    Lost,
    ball,
    counted,
    each,
    number,
    rounded,
    small,
    truth,
    whole,
)
from symattn.documents.running.texts import Said, formatted, joined

#: No text or list is longer.
LONGEST = 4096
_BLANK = ast.Name("_", ast.Load())


class Caller(Protocol):
    """The machine that runs a program, as far as its functions need it."""

    def items(self, value: Any) -> Iterable[Any]:
        """Yield what a loop goes through."""

    def call(self, function: Any, given: Sequence[Any], keys: Mapping[str, Any]) -> Any:
        """Return what a function gives."""

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        """Return what a sign makes of two values."""


_OF_TEXTS = frozenset(
    re.findall(
        r"\w+",
        "split lower upper strip lstrip rstrip join replace count startswith endswith find index"
        " title capitalize center ljust rjust zfill isalpha isdigit casefold",
    )
)
#: Methods of Python's own values that change nothing but them.
METHODS: Mapping[type, frozenset[str]] = {
    str: _OF_TEXTS,
    list: frozenset(
        ["append", "extend", "insert", "pop", "index", "count", "reverse", "copy", "clear"]
    ),
    dict: frozenset(["get", "items", "keys", "values", "update", "setdefault", "pop", "copy"]),
    tuple: frozenset({"index", "count"}),
    set: frozenset({"add", "union", "intersection", "discard"}),
}


def key_of(value: Any) -> Any:
    """A value as the key of a dictionary, or the place in a list."""
    match value:
        case str() | bool() | int() | None:
            return value
        case arb() | Array():
            return whole(value)
        case tuple():
            return tuple(map(key_of, value))
    raise Lost


def method(owner: Any, name: str) -> Callable[..., Any]:
    """A method of Python's own values."""

    def called(*given: Any, **keys: Any) -> Any:
        if name == "join":
            items = [*given[0]]
            spaced = [one for item in items for one in (owner, item)][1:]
            if len(spaced) * len(owner) > LONGEST:
                raise Lost
            return joined(spaced)
        if isinstance(owner, str) and any(isinstance(one, Said) for one in given):
            raise Lost
        if isinstance(owner, list) and name in ("index", "count") and not isinstance(given[0], str):
            raise Lost
        for one in given:
            if isinstance(one, int):
                small(one)
        if name == "replace" and len(owner) * len(given[1]) > LONGEST:
            raise Lost
        found = getattr(owner, name)(*given, **keys)
        if name in ("items", "keys", "values"):
            found = [*found]
        if isinstance(found, str) and len(found) > LONGEST:
            raise Lost
        return found

    return called


def _total(machine: Caller, values: Any, start: Any = 0) -> Any:
    for one in machine.items(values):
        start = machine.binary(ast.Add(), start, one)
    return start


def _best(sign: str) -> Callable[..., Any]:
    def found(machine: Caller, *values: Any, key: Any = None, default: Any = None) -> Any:
        items = [*machine.items(values[0])] if len(values) == 1 else [*values]
        if not items:
            return default
        if key is None and all(isinstance(one, int | arb) for one in items):
            name = "maximum" if sign == "Gt" else "minimum"
            best = items[0]
            for one in items[1:]:
                best = OPERATORS[name](best, one)
            return best
        keys = [one if key is None else machine.call(key, [one], {}) for one in items]
        place = 0
        for k in range(1, len(keys)):
            if truth(OPERATORS[sign](keys[k], keys[place])):
                place = k
        return items[place]

    return found


def _sorted(machine: Caller, values: Any, key: Any = None, reverse: Any = False) -> list[Any]:
    items = [*values] if isinstance(values, set) else [*machine.items(values)]
    keys = [one if key is None else machine.call(key, [one], {}) for one in items]
    if not all(isinstance(one, str | int) for one in keys):
        for k, one in enumerate(keys):
            for other in keys[:k]:
                truth(OPERATORS["NotEq"](one, other))
        keys = [float(ball(one).mid()) for one in keys]
    order = sorted(range(len(items)), key=lambda k: keys[k], reverse=truth(reverse))
    return [items[k] for k in order]


def _zip(machine: Caller, *values: Any, **_: Any) -> list[Any]:
    return [*zip(*(machine.items(one) for one in values), strict=False)]


def _range(machine: Caller, *bounds: Any) -> range:
    found = range(*map(whole, bounds))
    if len(found) > 1 << 20:
        raise Lost
    return found


def _length(machine: Caller, value: Any) -> int:
    match counted(value):
        case Array():
            return int(value.shape[0])
        case list() | tuple() | str() | dict() | range() | set():
            return len(value)
    raise Lost


def _rounded(machine: Caller, value: Any, places: Any = None) -> Any:
    found = each(lambda one: rounded(one, 0 if places is None else small(places)), value)
    return found if places is not None or isinstance(found, Array) else (
        whole(found) if isinstance(found, int) or found.is_exact() else NOBODY_KNOWS
    )  # fmt: skip


def _text(machine: Caller, value: Any = "") -> str | Said:
    return formatted(value, "", _BLANK) if not isinstance(value, int) else str(value)


def _float(machine: Caller, value: Any) -> Any:
    if isinstance(value, str):
        return number(value.lower().replace("infinity", "inf"))
    return ball(value) if isinstance(value, int | arb) else each(ball, value)


#: Functions that Python has by itself.
CALLS: Mapping[str, Callable[..., Any]] = {
    "len": _length, "range": _range, "zip": _zip, "sum": _total, "round": _rounded, "str": _text,
    "max": _best("Gt"), "min": _best("Lt"), "sorted": _sorted, "float": _float, "repr": _text,
    "enumerate": lambda machine, values, start=0: [*enumerate(machine.items(values), start)],
    "abs": lambda machine, value: each(abs, value),
    "list": lambda machine, values=(): [*machine.items(values)],
    "tuple": lambda machine, values=(): (*machine.items(values),),
    "set": lambda machine, values=(): {key_of(one) for one in machine.items(values)},
    "dict": lambda machine, pairs=(), **keys: dict(
        pairs.items() if isinstance(pairs, dict) else [(key_of(k), v) for k, v in pairs]) | keys,
    "reversed": lambda machine, values: [*machine.items(values)][::-1],
    "int": lambda machine, value: int(value) if isinstance(value, str) else cast(value, "int"),
    "bool": lambda machine, value: truth(value),
    "any": lambda machine, values: any(map(truth, machine.items(values))),
    "all": lambda machine, values: all(map(truth, machine.items(values))),
    "map": lambda machine, of, *values: [
        machine.call(of, [*each_], {}) for each_ in zip(*map(machine.items, values), strict=False)],
    "filter": lambda machine, of, values: [
        one for one in machine.items(values) if truth(machine.call(of, [one], {}))],
    "pow": lambda machine, x, y: each(OPERATORS["Pow"], x, y),
    "slice": lambda machine, *bounds: slice(*bounds),
    "ord": lambda machine, value: ord(value),
    "chr": lambda machine, value: chr(value),
    "print": lambda machine, *_, **__: None,
}  # fmt: skip
