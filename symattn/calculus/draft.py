"""A derivation file: what it says, before any of its lines is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from symattn.calculus import line_reading, masks
from symattn.calculus.language import Array, Axis, number_anew
from symattn.calculus.names import free_letters
from symattn.calculus.sample_points import Ground
from symattn.calculus.tensors import LineScope, described
from symattn.errors import Fault, Faults, Malformed
from symattn.expressions import syntax
from symattn.tables.places import kind, misfits, table, text, unknown

SHAPE = "give it a shape, [] for a number"
"""What to do about a name of which nothing is known."""
_TEXTS = ("title", "statement", "source", "note")
_LISTS = ("sizes", "hypotheses", "random", "lines", "assumptions", "conclusions")
_TABLES = ("shapes", "define", "losses", "permutations")
KEYS: Mapping[str, type] = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(_LISTS, list),
    **dict.fromkeys(_TABLES, dict),
}
"""The keys of a derivation file, and the kinds of their values."""
_LINE_KEYS: Mapping[str, type] = {
    "line": str,
    "because": str,
    "by": list,
    "part": str,
    "label": str,
    "first": str,
    "without": list,
}


@dataclass(frozen=True)
class Said:
    """A line as it stands in a file."""

    line: str
    because: str = ""
    by: tuple[str, ...] | None = None
    part: str = ""
    label: str = ""
    at: int = 0
    """The line of the file where it stands."""
    first: str = ""
    """The first member of the chain that it goes on with."""
    without: tuple[int, ...] = ()
    """The places of hypotheses that do not hold where it stands."""


@dataclass(frozen=True)
class Defined:
    """A definition as it stands in a file, and the array that it makes."""

    key: str
    text: str
    array: Array

    @property
    def line(self) -> syntax.Written:
        """The definition as an equation."""
        return syntax.equated(self.key, self.text)


@dataclass(frozen=True)
class DerivationDraft:
    """All that a derivation file says but whether its lines hold."""

    title: str = ""
    statement: str = ""
    source: str = ""
    note: str = ""
    assumptions: tuple[str, ...] = ()
    scope: LineScope = field(default_factory=LineScope)
    ground: Ground = field(default_factory=Ground)
    hypotheses: tuple[str, ...] = ()
    definitions: tuple[Defined, ...] = ()
    lines: tuple[Said, ...] = ()
    conclusions: tuple[str, ...] = ()
    """The lines that the statement says, as the file names them."""

    @property
    def concluded(self) -> tuple[str, ...]:
        """The conclusions; the last line where none are named."""
        return self.conclusions or tuple(line.line for line in self.lines[-1:])

    def given(self) -> list[str]:
        """Return what is given, with its shape: ``S (n × m)``."""
        groups: dict[str, list[str]] = {}
        for array in self.ground.given:
            shape = " × ".join(map(str, array.axes))
            groups.setdefault(f"({shape})" if shape else "", []).append(array.name)
        return [f"{', '.join(names)} {shape}".strip() for shape, names in groups.items()]

    def ground_of(self, without: Sequence[int]) -> Ground:
        """Return what is given, without the hypotheses at some places."""
        kept = [line for k, line in enumerate(self.ground.hypotheses) if k not in without]
        return replace(self.ground, hypotheses=tuple(kept)) if without else self.ground

    @property
    def shapes(self) -> dict[str, int]:
        """Return how many axes each array and permutation has, as the printers want to know."""
        axes = {name: len(array.axes) for name, array in self.scope.arrays.items()}
        return axes | dict.fromkeys(self.scope.permutations, 0)


def read(
    document: Mapping[str, Any],
    line_of: Callable[[str], int] = lambda _: 0,
    advice: str = SHAPE,
) -> DerivationDraft:
    """The draft in a file's tables; ``line_of`` tells the line of a path inside it,
    ``advice`` what to do about a name of which nothing is known.

    Raises :class:`Malformed` with every fault but those of its lines, which are judged one by one.
    """
    faults = unknown(document, KEYS)
    faults += misfits(document, KEYS)
    good = {key: document[key] for key, of in KEYS.items() if isinstance(document.get(key), of)}
    good |= _written(good)
    sizes = list(_names(good.get("sizes", []), "sizes", faults))
    number_anew()
    scope = LineScope(sizes, advice=advice, is_random=bool(good.get("random")))
    shapes = list(_shapes(good.get("shapes", {}), sizes, faults))
    defined = {key.partition("[")[0].strip() for key in good.get("define", {})}
    given = [array for array in shapes if array.name not in defined]
    scope.arrays |= {array.name: array for array in given}
    permutations = {}
    taken = {*sizes, *(array.name for array in given)}
    for name, axis in good.get("permutations", {}).items():
        if name in taken:
            faults.append(Fault(f"permutations.{name}", f"{name!r} is already in use"))
        elif (isinstance(axis, str) and axis in sizes) or (type(axis) is int and axis > 0):
            permutations[name] = axis
        else:
            faults.append(Fault(f"permutations.{name}", "expected one of the sizes"))
    scope.permutations = permutations
    losses = {}
    for name, of in good.get("losses", {}).items():
        if not isinstance(of, str):
            faults.append(Fault(f"losses.{name}", f"expected a name, found {kind(of)}"))
        elif name in taken or not name.isidentifier():
            faults.append(Fault(f"losses.{name}", f"{name!r} is already in use"))
        else:
            losses[name] = of
    masked = _masks(good, given, scope, faults)
    definitions = list(_defined(good.get("define", {}), losses, scope, faults))
    faults += _misshapen(shapes, scope)
    faults += [
        Fault(f"losses.{name}", f"{of!r} is neither given nor defined")
        for name, of in losses.items()
        if name not in scope.arrays
    ]
    random = []
    for place, name in enumerate(good.get("random", [])):
        if isinstance(name, str) and scope.arrays.get(name) in given:
            random.append(scope.arrays[name])
        else:
            faults.append(Fault(f"random[{place}]", "expected the name of what is given"))
    assumptions, hypotheses = [], []
    for place, item in enumerate(good.get("assumptions", [])):
        with faults.inside(f"assumptions[{place}]"):
            assumptions.append(text(item))
    for place, item in enumerate(good.get("hypotheses", [])):
        with faults.inside(f"hypotheses[{place}]"):
            hypotheses.append(line_reading.hypothesis(text(item), scope))
    hypotheses += [line_reading.hypothesis(line, scope) for line in masked]
    lines = [
        replace(statement, at=line_of(f"lines[{place}]"))
        for place, statement in _lines(good.get("lines", []), faults)
    ]
    conclusions = good.get("conclusions", [])
    said_lines = [item.line for item in lines]
    for place, item in enumerate(conclusions):
        if item not in said_lines:
            faults.append(Fault(f"conclusions[{place}]", "expected one of the lines"))
    if conclusions and not faults and said_lines[-1] not in conclusions:
        faults.append(Fault("conclusions", "the last line is not among them"))
    if not lines and not faults:
        faults.append(Fault("lines", "missing: expected at least one [[lines]] table"))
    faults.raise_all()
    ground = Ground(
        tuple(given),
        tuple(array for array in scope.arrays.values() if array.of is not None),
        permutations,
        tuple(random),
        tuple(hypotheses),
    )
    texts = {key: good.get(key, "") for key in _TEXTS}
    return DerivationDraft(
        **texts,
        assumptions=tuple(assumptions),
        scope=scope,
        ground=ground,
        hypotheses=(*good.get("hypotheses", []), *masked),
        definitions=tuple(definitions),
        lines=tuple(lines),
        conclusions=tuple(conclusions),
    )


def _written(good: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of formulas with each formula as one, to be read once."""

    def formula(value: Any) -> Any:
        return syntax.written(value) if isinstance(value, str) else value

    def line(entry: Any) -> Any:
        is_line = isinstance(entry, dict) and "line" in entry
        return {**entry, "line": formula(entry["line"])} if is_line else entry

    define = {formula(key): formula(value) for key, value in good.get("define", {}).items()}
    lists = {"lines": line, "hypotheses": formula}
    return {"define": define} | {
        name: [*map(each, good.get(name, []))] for name, each in lists.items()
    }


def _names(names: list[Any], where: str, faults: Faults) -> Iterator[str]:
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name.isidentifier():
            faults.append(Fault(f"{where}[{place}]", "expected a name such as n or d_k"))
        elif name in names[:place] or name == "pi":
            faults.append(Fault(f"{where}[{place}]", f"{name!r} is already in use"))
        else:
            yield name


def _shapes(shapes: Mapping[str, Any], sizes: Sequence[str], faults: Faults) -> Iterator[Array]:
    """Yield what has a shape: what is given, and definitions whose shape is said."""
    for name, shape in shapes.items():
        where = f"shapes.{name}"
        if not name.isidentifier():
            faults.append(Fault(where, "expected a name of letters, digits and _"))
        elif name in sizes:
            faults.append(Fault(where, f"{name} is a size already"))
        elif not isinstance(shape, list):
            faults.append(Fault(where, f"expected a list of sizes, found {kind(shape)}"))
        else:
            axes: list[Axis] = []
            for place, axis in enumerate(shape):
                if axis in sizes or (type(axis) is int and 0 < axis <= 64):
                    axes.append(axis)
                else:
                    wanted = f"expected one of the sizes ({', '.join(sizes) or 'none'})"
                    faults.append(Fault(f"{where}[{place}]", f"{wanted}, found {axis!r}"))
            yield Array(name, tuple(axes))


def _misshapen(shapes: Sequence[Array], scope: LineScope) -> Iterator[Fault]:
    """Definitions that have another shape than is said of them."""
    for array in shapes:
        defined = scope.arrays.get(array.name, array)
        if defined.axes != array.axes:
            message = (
                f"{described(defined.axes)} by its definition, said to be {described(array.axes)}"
            )
            yield Fault(f"shapes.{array.name}", message)


def _defined(
    define: Mapping[str, Any], losses: Mapping[str, Any], scope: LineScope, faults: Faults
) -> Iterator[Defined]:
    """The definitions in order; a loss is known as soon as what it is a function of is."""
    scope.learn_losses(losses)
    for key, formula in define.items():
        with faults.inside(f"define.{key}"):
            array = line_reading.definition(key, text(formula), scope)
            scope.arrays[array.name] = array
            yield Defined(key, formula, array)
        scope.learn_losses(losses)


def _masks(
    good: Mapping[str, Any], given: Sequence[Array], scope: LineScope, faults: Faults
) -> list[str]:
    """Return what is assumed of given arrays that hide scores: each of their entries is 0 or 1.

    That has to be said of one that is used as something else, too.
    """
    trees = dict(_formulas(good))
    held = {
        name
        for where, tree in trees.items()
        if where.startswith("hypotheses") and (name := masks.assumed(tree, scope.sizes))
    }
    hiding = {name for tree in trees.values() for name in masks.hiding(tree)} - held
    hiding &= {array.name for array in given}
    scope.masks = frozenset(held | hiding)
    for name in sorted(hiding):
        otherwise = [where for where, tree in trees.items() if masks.is_used_otherwise(name, tree)]
        otherwise += [f"losses.{loss}" for loss, of in good.get("losses", {}).items() if of == name]
        if otherwise:
            message = f"{name} hides scores and is used otherwise here: say that it holds 0 and 1"
            faults.append(Fault(otherwise[0], f"{message}, 'assume {name} * {name} = {name}'"))
    taken = {*scope.arrays, *scope.sizes, *scope.permutations}
    entries = [
        f"{array.name}[{', '.join(free_letters(len(array.axes), taken, 'ijk'))}]"
        if array.axes
        else array.name
        for array in given
        if array.name in hiding
    ]
    return [syntax.Written(f"{entry} * {entry} == {entry}") for entry in entries]


def _formulas(good: Mapping[str, Any]) -> Iterator[tuple[str, syntax.Tree]]:
    """All that a file writes in formulas, each by where it stands, but what can't be read."""
    texts = {f"define.{key}": formula for key, formula in good.get("define", {}).items()}
    for place, entry in enumerate(good.get("lines", [])):
        texts[f"lines[{place}]"] = entry.get("line") if isinstance(entry, dict) else None
    texts |= {f"hypotheses[{place}]": x for place, x in enumerate(good.get("hypotheses", []))}
    for where, formula in texts.items():
        with suppress(Malformed):
            if isinstance(formula, syntax.Written):
                yield where, formula.tree


def _lines(entries: list[Any], faults: Faults) -> Iterator[tuple[int, Said]]:
    part = ""
    for place, entry in enumerate(entries):
        with faults.inside(f"lines[{place}]"):
            problems = unknown(table(entry), _LINE_KEYS)
            problems += misfits(entry, _LINE_KEYS)
            if "line" not in entry:
                problems.append(Fault("line", "missing"))
            problems.raise_all()
            part = entry.get("part", part)
            by = tuple(map(str, entry["by"])) if "by" in entry else None
            texts = {x: entry[x] for x in ("line", "because", "label", "first") if x in entry}
            without = tuple(place for place in entry.get("without", ()) if type(place) is int)
            yield place, Said(**texts, by=by, part=part, without=without)
