"""Lines that a program shows: words and numbers, each with the expression that is shown."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from flint import arb

from symattn.documents.running.numbers import OPERATORS, Array, each
from symattn.numbers.balls import charge

#: Names of libraries, whose functions round what they are given.
_LIBRARIES = {"np", "numpy", "torch", "jnp", "tf"}


@dataclass(frozen=True)
class Slot:
    """A number in what is shown: its value, the expression that is shown, where in it, and of
    what value it is."""

    value: int | arb
    said: ast.expr
    keys: tuple[int, ...] = ()
    birth: int | None = None
    of: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Hidden:
    """Something that is shown and that nobody knows: the expression, and its value."""

    said: ast.expr
    of: Any = field(default=None, compare=False)


#: A word, a number, or what nobody knows.
Part = str | Slot | Hidden


#: How a line is shown.
How = Literal["printed", "valued", "named"]


@dataclass(frozen=True)
class Shown:
    """A line that is shown, from its beginning to its end: words and numbers, or what
    nobody knows; ``node`` is the statement, in the piece of that number: it prints a line,
    has a value, which sessions show, or gives one to a name."""

    node: ast.stmt
    piece: int
    tokens: tuple[Part, ...]
    how: How


_BLANK = ast.Name("_", ast.Load())
#: So deep are values nested that are shown.
_DEEPEST = 8
#: Words and numbers of a text that is shown; signs between them don't tell.
TOKEN = re.compile(
    r"(?P<number>(?<![\w.])[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w]|\.\d))"
    r"|(?P<word>[^\W\d_]\w*|\w+)"
)


@dataclass(frozen=True)
class Said:
    """A text with numbers in it that were computed."""

    parts: tuple[Part, ...]


def tokens(
    value: object, said: ast.expr, keys: tuple[int, ...] = (), of: object = None
) -> Iterator[Part]:
    """Yield the words and numbers that a value is shown as."""
    of = value if of is None else of
    match value:
        case _ if len(keys) > _DEEPEST:
            yield Hidden(said, of)
        case str():
            yield from (mark[0] for mark in TOKEN.finditer(value.casefold()))
        case Said(parts):
            for part in parts:
                yield from (part,) if not isinstance(part, str) else tokens(part, said)
        case bool() | None:
            yield str(value).casefold()
        case int() | arb():
            yield Slot(value, said, keys, None, of)
        case Array(data):
            charge(data.size)
            birth = value.born
            for place in np.ndindex(data.shape):
                entry: Any = data[place]
                if isinstance(entry, bool):
                    yield str(entry).casefold()
                else:
                    yield Slot(entry, said, (*keys, *place), birth, of)
        case list() | tuple():
            for k, part in enumerate(value):
                yield from tokens(part, said, (*keys, k), of)
        case dict():
            for k, (key, part) in enumerate(value.items()):
                yield from tokens(key, said)
                yield from tokens(part, said, (*keys, k), of)
        case _:
            yield Hidden(said, of)


#: Fields of formats: the type, and the conversion of percents.
_FIELD = re.compile(r"%[-+ 0#]*\d*(?:\.\d+)?([sdfgeri%])|\{(\w*)(?:![rs])?(?::([^{}]*))?\}")


def bare(node: ast.expr) -> ast.expr:
    """Return what is shown, without what only rounds it or sets it as text."""
    match node:
        case ast.Call(
            func=ast.Attribute(inner, "round" | "item" | "tolist" | "numpy" | "detach")
        ) if not isinstance(inner, ast.Name) or inner.id not in _LIBRARIES:
            return bare(inner)
        case (
            ast.Call(func=ast.Name("round" | "float" | "str"), args=[inner, *_])
            | ast.Call(func=ast.Attribute(attr="round" | "around"), args=[inner, *_])
        ):
            return bare(inner)
    return node


def joined(parts: Iterable[Any]) -> str | Said:
    """A text of parts, plain where none of them was computed."""
    every: list[Part] = []
    for part in parts:
        every += (
            part.parts
            if isinstance(part, Said)
            else [part if isinstance(part, str) else Hidden(_BLANK, part)]
        )
    charge(len(every))
    if all(isinstance(part, str) for part in every):
        text = "".join(part for part in every if isinstance(part, str))
        charge(len(text))
        return text
    return Said(tuple(every))


def formatted(value: Any, form: Any, said: ast.expr) -> str | Said:
    """A value as a field of a text."""
    if isinstance(value, str | Said):
        return value
    if isinstance(form, str) and form.endswith("%"):
        value = each(OPERATORS["Mult"], value, 100)
    return Said(tuple(tokens(value, said)))


def filled(text: str, given: Sequence[Any], keys: Mapping[str, Any] | None = None) -> str | Said:
    """A text with values in its fields, those of ``%`` or of ``format``."""
    parts: list[Any] = []
    at = count = 0
    is_percent = keys is None
    for mark in _FIELD.finditer(text):
        if (mark[1] is not None) is not is_percent:
            continue
        parts.append(text[at : mark.start()])
        at = mark.end()
        if mark[1] == "%":
            continue
        name = mark[2] or str(count)
        count += 1
        value = given[int(name)] if name.isdigit() else (keys or {})[name]
        parts.append(formatted(value, mark[3] or "", _BLANK))
    return joined([*parts, text[at:]])
