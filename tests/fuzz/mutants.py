"""Mutants of the bundled cases: as tables, as text and as bytes."""

from __future__ import annotations

import copy
import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from .files import toml
from .grammar import Scribe

FILES = sorted((Path(__file__).parents[2] / "derivations").glob("*.toml"))

_NUMBERS = (
    *("0", "-1", "1e400", "-1e400", "1e-400", "nan", "inf", "-inf", "0x1F", "1_000", "0.1", "007"),
    *("99999999999999999999", "1979-05-27", "true", '"1/3"', '"sqrt(-1)"', '"1/0"', '""', "[]"),
    *('"exp(1000)"', '"0.5 0"', "[[1]]", '"-inf"', "{}", '"π"', '"1e9999"', '"½"', '"٣"'),
)
_VALUES: tuple[Any, ...] = (
    *(0, 1, -1, True, "", "x", [], [[]], {}, [1, [2]], [[1, 2], [3]], "softmax(X)", "1/3", None),
    *(
        Decimal("0.5060"),
        Decimal("1e400"),
        ["a", "b"],
        {"a": 1},
        [{}],
        "X" * 300,
        "\x1b[2J",
        "-inf",
    ),
)
_KEYS = (
    *("given", "steps", "loss", "claims", "title", "source", "tokens", "extends", "note", "X", "A"),
    *("where", "of", "as_printed", "printed", "holds", "output", "upstream", "wrt", "unchecked"),
    *("tolerance", "rounding", "softmax", "e", "a b", "", "\u202e", "ü", "dL"),
)
_PIECES = ("\x00", "\x1b[31m", "\ufeff", "\u202e", "é", '"""', "'", '"', "[", "]", "=", "\\", "#")


def mutant(random):
    """The bytes of a file: a bundled case with a few things changed."""
    source = random.choice(FILES).read_text("utf-8")
    if random.random() < 0.5:
        tree = tomllib.loads(source, parse_float=Decimal)
        for _ in range(random.choice([1, 1, 2, 3])):
            tree = _changed_tree(random, tree)
        text = toml(tree)
    else:
        text = source
        for _ in range(random.choice([1, 1, 2, 3])):
            text = _changed_text(random, text)
    return _encoded(random, text)


def _encoded(random, text):
    held = text.encode("utf-8", "replace")
    kind = random.random()
    if kind < 0.01:
        return text.encode("utf-16")
    if kind < 0.02:
        return b"\xef\xbb\xbf" + held
    if kind < 0.03:
        place = random.randrange(len(held) + 1)
        return held[:place] + bytes([random.randrange(128, 256)]) + held[place:]
    if kind < 0.04:
        return held.replace(b"\n", b"\r\n")
    if kind < 0.05:
        return held[: random.randrange(len(held) + 1)]
    return held


# -- text ---------------------------------------------------------------------------------------


def _changed_text(random, text):
    return random.choice(_TEXT_CHANGES)(random, text)


def _lines_changed(random, text):
    lines = text.split("\n")
    i, j = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.choice(["delete", "duplicate", "swap", "move"])
    if kind == "delete":
        del lines[i]
    elif kind == "duplicate":
        lines.insert(j, lines[i])
    elif kind == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines.insert(j, lines.pop(i))
    return "\n".join(lines)


def _number_changed(random, text):
    found = list(re.finditer(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", text))
    if not found:
        return text
    place = random.choice(found)
    if random.random() < 0.5:
        digits = list(place[0])
        digits[random.randrange(len(digits))] = random.choice("0123456789")
        new = "".join(digits)
    else:
        new = random.choice(_NUMBERS)
    return text[: place.start()] + new + text[place.end() :]


def _piece_put_in(random, text):
    place = random.randrange(len(text) + 1)
    return text[:place] + random.choice(_PIECES) + text[place + random.choice([0, 1]) :]


def _word_changed(random, text):
    found = list(re.finditer(r"[A-Za-z_]\w*", text))
    if not found:
        return text
    place = random.choice(found)
    new = random.choice([*_KEYS, random.choice(found)[0], place[0][:-1], place[0] + "_"])
    return text[: place.start()] + new + text[place.end() :]


_TEXT_CHANGES = (_lines_changed, _number_changed, _number_changed, _piece_put_in, _word_changed)


# -- tables -------------------------------------------------------------------------------------


def _changed_tree(random, tree):
    """The tables with one of their parts changed."""
    tree = copy.deepcopy(tree)
    holder, key = random.choice(list(_places(tree)))
    kind = random.random()
    if kind < 0.15:
        del holder[key]
    elif kind < 0.3:
        other, place = random.choice(list(_places(tree)))
        holder[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(holder[key])
    elif kind < 0.4:
        holder[key] = [holder[key]] if random.random() < 0.7 else {"x": holder[key]}
    elif kind < 0.5 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind < 0.6 and isinstance(holder, dict):
        holder[random.choice(_KEYS)] = holder.pop(key)
    elif kind < 0.75 and isinstance(holder[key], str):
        names = list(tree.get("given", {})) if isinstance(tree.get("given"), dict) else []
        holder[key] = Scribe(random, names or ["X"]).step()
    else:
        value = random.choice(_VALUES)
        holder[key] = holder[key] if value is None else copy.deepcopy(value)
    return tree


def _places(tree):
    """Every part that can be changed, as what holds it and where."""
    yield from _inside(tree)
    if not tree:
        tree["title"] = ""
        yield tree, "title"


def _inside(holder):
    items = holder.items() if isinstance(holder, dict) else enumerate(holder)
    for key, value in list(items):
        yield holder, key
        if isinstance(value, dict | list):
            yield from _inside(value)
