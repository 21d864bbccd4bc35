"""Counterexamples to a line in words: sizes, indices, numbers and both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from symattn.calculus import language as term
from symattn.calculus.language import Array, Expr
from symattn.calculus.sampling import LOSS, SamplePoint
from symattn.calculus.tensors import ParsedLine

_SHOWN = 24
_DIGITS = 12
"""So many entries of an array are told, so many digits of each."""


@dataclass(frozen=True)
class Counterexample:
    """A point at which the sides of a line differ: sizes, indices, numbers given, both sides."""

    sizes: dict[str, int]
    indices: dict[str, int]
    values: dict[str, str]
    left: str
    right: str

    def __str__(self) -> str:
        where = [f"{name} = {size}" for name, size in (*self.sizes.items(), *self.indices.items())]
        where += [f"{name} = {value}" for name, value in _grids(self.values).items()]
        return f"{', '.join(where) or 'always'}: {self.left} is not {self.right}"

    def to_dict(self) -> dict[str, Any]:
        """The counterexample as plain data."""
        return asdict(self)


def _grids(values: Mapping[str, str]) -> dict[str, str]:
    """Entries put together to matrices and vectors: ``S = [[0, 1], [2, 0]]``."""
    rows: dict[str, dict[str, list[str]]] = {}
    for name, value in values.items():
        array, _, at = name.rpartition("[") if name.endswith("]") else (name, "", "")
        rows.setdefault(array, {}).setdefault(at.rpartition(",")[0], []).append(value)
    grids = {}
    for array, entries in rows.items():
        if array in values:
            grids[array] = values[array]
        elif all("," not in before for before in entries):
            inner = [f"[{', '.join(row)}]" for row in entries.values()]
            grids[array] = inner[0] if "" in entries else f"[{', '.join(inner)}]"
        else:
            grids |= {name: value for name, value in values.items() if name.startswith(f"{array}[")}
    return grids


def counterexample(
    line: ParsedLine,
    point: SamplePoint,
    at: Sequence[int],
    sides: tuple[arb, arb],
    names: Set[str],
) -> Counterexample:
    """Return where two sides of a line differ, in words; the sizes are those of these names."""
    values = {name: _digits(value) for name, value in _numbers(line, point)}
    bodies = [array.body for array in term.arrays(*line.sides) if array.body]
    parts = [at for part in term.walk(*line.sides, *bodies) for at in term.places(part)]
    for name in sorted({image for part in parts for image in part.images}):
        values[name] = str(list(point.images[name]))
    free = {index.name: number for index, number in zip(line.free, at, strict=True)}
    sizes = {name: size for name, size in point.sizes.items() if name in names}
    return Counterexample(sizes, free, values, *_apart(*sides))


def _numbers(line: ParsedLine, point: SamplePoint) -> Iterator[tuple[str, Any]]:
    """The entries that a line speaks of; of a loss that is a plain sum, its gradient."""
    named = {array for side in line.sides for array in _free(side)}
    for array in sorted(named & point.values.keys(), key=lambda each: each.name):
        entries = point.values[array]
        if array.of is None:
            for where, value in list(entries.items())[:_SHOWN]:
                yield _entry(array.name, where), value
        elif all(value == 0 for where, value in entries.items() if where[0]):
            name = _gradient(array, named) or f"diff({array.name}, {array.of.name})"
            for where, value in list(entries.items())[: min(len(entries) // LOSS, _SHOWN)]:
                yield _entry(name, where[1:]), value


def _free(value: Expr) -> frozenset[Array]:
    """The arrays that an expression speaks of; what a limit runs through is none of them."""
    match value:
        case term.Limit(body, variable, _):
            return _free(body) - {variable}
    inner = frozenset[Array]().union(*map(_free, term.inside(value)))
    return inner.union(*({array, *array.uses} for array in term.named(value)))


def _entry(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def _gradient(loss: Array, named: set[Array]) -> str:
    """Return what a line calls the gradient of a loss in what it is a function of."""
    for candidate in named:
        match candidate.body:
            case term.Partial(term.Entry(of, ()), array, at) if of is loss and array is loss.of:
                if at == tuple(map(term.AxisPlace, candidate.params)):
                    return candidate.name
    return ""


def _apart(left: arb, right: arb) -> tuple[str, str]:
    """Both sides in as many digits as show that they differ."""
    texts = ("", "")
    for digits in (6, 12, 25, 60, 400):
        texts = _decimal(left, digits), _decimal(right, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _decimal(value: arb, digits: int) -> str:
    """A ball by its middle; 0 where that is all that can be told."""
    if value.contains(0):
        return "0"
    text = str(value.str(digits, radius=False))
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _digits(value: Any) -> str:
    """A number in full where it is a short fraction; one that is cut off ends in dots."""
    exact = value.fmpq() if isinstance(value, arb) and value.is_exact() else value
    if not isinstance(exact, arb):
        whole = Fraction(int(fmpq(exact).p), int(fmpq(exact).q))
        short = Decimal(whole.numerator) / whole.denominator
        if whole == short and abs(short.adjusted()) < _DIGITS:
            return f"{short.normalize():f}"
        if whole.denominator < 10**_DIGITS > abs(whole.numerator):
            return str(whole)
    return f"{arb(value).str(_DIGITS, radius=False)}…"
