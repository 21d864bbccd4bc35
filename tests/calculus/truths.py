"""Lines that are true by construction, of many families.

A rule of ``truths.toml`` is an identity with holes. Random expressions fill them,
both sides are put into the same surroundings, and rewritten step by step into
others of the same value.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from symattn.expressions import syntax
from symattn.expressions.syntax import (
    Binary,
    Call,
    Cell,
    Comparison,
    Literal,
    Name,
    Negative,
    Power,
    Tree,
)

Draw = random.Random
#: Places of holes: what the indices of the rule are called there.
HOLE = re.compile(r"<(\w)([^<>]*)>")
#: The axes of what stands in a hole of each letter, what it must not depend on, and
#: whether it is above 0.
KINDS: dict[str, tuple[tuple[str, ...], str, bool]] = {
    **dict.fromkeys("fgs", (("n",), "", False)),
    "o": (("n",), "x", False),
    "h": (("m",), "", False),
    "w": (("m",), "z", False),
    "F": (("n", "m"), "", False),
    "p": (("n",), "", True),
    "q": (("n",), "", True),
    "P": (("n", "m"), "", True),
    "c": ((), "", False),
    "e": ((), "", False),
    "r": ((), "", True),
}
#: Numbers that tend to a limit.
MOVING = "tv"
NUMBERS = ("2", "3", "5", "(1/2)", "(2/3)", "(-1)", "7")
TWO = ("{} + {}", "{} - {}", "{} * {}", "{} / (1 + ({})**2)", "({})**2 * {}")
EACH = ("exp(({})/3)", "sin({})", "tanh({})", "({})**2", "log(1 + ({})**2)", "-({})", "2*({})")
ABOVE = ("exp({})", "1 + ({})**2", "3 + sin({})", "sqrt(2 + ({})**2)")
AROUND = ("{}", "{}", "{}", "<c> + {}", "<e> * {}", "{} - <c>", "{} / 3")


@cache
def tables() -> dict[str, Any]:
    """The rules by family, and the documents that they speak of."""
    path = Path(__file__).with_name("truths.toml")
    return tomllib.loads(path.read_text("utf-8"))


@dataclass(frozen=True)
class Truth:
    """A true line of a family, and the document in which it is true."""

    family: str
    line: str

    @property
    def document(self) -> dict[str, Any]:
        """Everything that the line stands on."""
        held: dict[str, Any] = tables()["documents"][tables()["families"][self.family]["document"]]
        return held


def truths(each: int, seed: int = 0) -> Iterator[Truth]:
    """So many lines of each rule, all different."""
    for family, entry in tables()["families"].items():
        document = tables()["documents"][entry["document"]]
        for rule in entry["rules"]:
            rng = random.Random(crc32(f"{seed}{family}{rule}".encode()))
            lines = {"": None}
            for _ in range(4 * each):
                if len(lines) <= each:
                    lines[instance(rule, document, rng)] = None
            yield from (Truth(family, line) for line in list(lines)[1:])


def instance(rule: str, document: dict[str, Any], rng: Draw) -> str:
    """A rule with its holes filled, in the midst of more, and rewritten."""
    around = "{}" if "diff(L" in rule else rng.choice(AROUND)
    sides = [around.format(f"({side})") for side in rule.split(" == ")]
    fillings: dict[str, Callable[[list[str]], str]] = {}

    def filled(hole: re.Match[str]) -> str:
        letter, places = hole[1], hole[2].split()
        if letter not in fillings:
            fillings[letter] = filling(letter, document, rng)
        return f"({fillings[letter](places)})"

    line = HOLE.sub(filled, " == ".join(sides[:: rng.choice((1, -1))]))
    tree = syntax.parse(line, letters=True)
    assert isinstance(tree, Comparison)
    operands = list(tree.operands)
    for _ in range(rng.randint(0, 4)):
        side = rng.randrange(len(operands))
        operands[side] = rewritten(operands[side], rng)
    return syntax.text(Comparison(tuple(operands), tree.relations))


def filling(letter: str, document: dict[str, Any], rng: Draw) -> Callable[[list[str]], str]:
    """A random expression of places."""
    axes, without, above = KINDS[letter]
    plain = written(axes, document, without, rng.randint(0, 2), rng)
    if not all(f"@{at}" in plain for at in range(len(axes))):
        # How far an index runs is known by an array that it indexes.
        shapes = document["shapes"].items()
        whole = [name for name, shape in shapes if tuple(shape) == axes and name != without]
        plain = f"{plain} + {rng.choice(whole)}[{', '.join(f'@{at}' for at in range(len(axes)))}]"
    if above:
        plain = rng.choice(ABOVE).format(plain)
    return lambda places: re.sub(r"@(\d)", lambda at: places[int(at[1])], plain)


def written(axes: tuple[str, ...], document: Any, without: str, depth: int, rng: Draw) -> str:
    """An expression in which ``@0``, ``@1`` stand for places along axes."""
    if depth == 0:
        return rng.choice(atoms(axes, document, without))
    if rng.random() < 0.5:
        return rng.choice(EACH).format(written(axes, document, without, depth - 1, rng))
    parts = [written(axes, document, without, rng.randint(0, depth - 1), rng) for _ in "ab"]
    return rng.choice(TWO).format(*(f"({part})" for part in parts))


def atoms(axes: tuple[str, ...], document: Any, without: str) -> list[str]:
    """What expressions with places along axes are made of."""
    entries = []
    for name, shape in document["shapes"].items():
        if name == without or name in MOVING or not shape:
            continue
        if all(axis in axes for axis in shape) and len(set(shape)) == len(shape):
            places = ", ".join(f"@{axes.index(axis)}" for axis in shape)
            entries += [f"{name}[{places}]"] * (2 if len(shape) == len(axes) else 1)
        elif len(shape) == 2 and len(set(shape)) == 1 and shape[0] in axes:
            place = f"@{axes.index(shape[0])}"
            entries.append(f"{name}[{place}, {place}]")
        elif len(shape) == 2 and shape[0] in axes and "d" in shape:
            entries.append(f"sum(h, {name}[@{axes.index(shape[0])}, h])")
    numbers = [name for name, shape in document["shapes"].items() if not shape]
    numbers = [name for name in numbers if name not in MOVING]
    return [*entries, *entries, *numbers, NUMBERS[len(entries) % len(NUMBERS)]]


# -- rewriting ---------------------------------------------------------------------


def _commuted(tree: Tree, rng: Draw) -> Tree | None:
    match tree:
        case Binary("+" | "*" as op, left, right):
            return Binary(op, right, left)
    return None


def _subtracted(tree: Tree, rng: Draw) -> Tree | None:
    match tree:
        case Binary("-", left, right):
            turned = Negative(Binary("-", right, left))
            return rng.choice((turned, Binary("+", left, Negative(right))))
    return None


def _distributed(tree: Tree, rng: Draw) -> Tree | None:
    match tree:
        case Binary("*", factor, Binary("+" | "-" as op, left, right)):
            return Binary(op, Binary("*", factor, left), Binary("*", factor, right))
        case Binary("/", Binary("+" | "-" as op, left, right), below):
            return Binary(op, Binary("/", left, below), Binary("/", right, below))
    return None


def _multiplied(tree: Tree, rng: Draw) -> Tree | None:
    match tree:
        case Power(base, Literal("2")):
            return Binary("*", base, base)
        case Power(base, Literal("3")):
            return Binary("*", base, Power(base, Literal("2")))
    return None


def _inverted(tree: Tree, rng: Draw) -> Tree | None:
    match tree:
        case Binary("/", left, right) if left != Literal("1"):
            return Binary("*", left, Binary("/", Literal("1"), right))
    return None


def _summed_by(tree: Tree, rng: Draw) -> Tree | None:
    match tree:
        case Call("sum" | "mean", (Name(index), body)):
            letter = rng.choice([one for one in "ijklr" if one not in set(syntax.names(tree))])
            renamed = syntax.replaced(
                body, lambda part: Name(letter) if part == Name(index) else None
            )
            return Call(tree.function, (Name(letter), renamed))
    return None


REWRITES = (_commuted, _subtracted, _distributed, _multiplied, _inverted, _summed_by)
"""Ways to write the same value otherwise; None where there is nothing to rewrite."""


def rewritten(tree: Tree, rng: Draw) -> Tree:
    """A tree of the same value, rewritten in one place where it can be."""
    ways = [
        (part, put, other)
        for part, put in parts(tree)
        for rewrite in REWRITES
        if (other := rewrite(part, rng)) is not None
    ]
    if not ways:
        return tree
    _, put, other = rng.choice(ways)
    return put(other)


def parts(tree: Tree) -> Iterator[tuple[Tree, Callable[[Tree], Tree]]]:
    """The values that a tree is made of, each with what puts another in its place."""
    yield tree, lambda new: new
    for at, child in enumerate(syntax.inside(tree)):
        match tree:
            case Cell() | Comparison():
                continue
            case Power() if at:
                continue
            case Call("delta" | "step" | "eye" | "ones"):
                continue
            case Call("diff") if at:
                continue
            case Call("limit" | "sum" | "mean") if at < len(tree.arguments) - 1:
                continue
        for part, put in parts(child):
            yield part, _into(tree, at, put)


def _into(tree: Tree, at: int, put: Callable[[Tree], Tree]) -> Callable[[Tree], Tree]:
    def function(new: Tree) -> Tree:
        places = iter(range(len(syntax.inside(tree))))
        return syntax.mapped(tree, lambda each: put(new) if next(places) == at else each)

    return function
