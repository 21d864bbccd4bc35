"""Tables of keys and values, as files and callers write them: what may stand in one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from symattn.errors import Fault, Faults, Malformed, expected, short

#: What a user calls the kinds of values.
KINDS: Mapping[type, str] = {
    bool: "true or false", int: "a number", Decimal: "a number", str: "text",
    list: "a list", tuple: "a list", dict: "a table", type(None): "nothing",
}  # fmt: skip


def kind(value: object) -> str:
    """What a value is, as messages say it.

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
