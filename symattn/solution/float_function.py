"""Formulas as functions of NumPy arrays, stage by stage.

Entries of a stage that have one form are worked out together: SymPy's expression is walked
with arrays for its letters, so that no code is written and run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy

from symattn.errors import Fault, Faults
from symattn.numbers.reading import Masked
from symattn.numbers.sympy_bridge import from_sympy
from symattn.numbers.values import Value
from symattn.shapes import Shape
from symattn.solution.stages import Expr, Largest, Stage, Stages, form_of
from symattn.solution.substitution import Givens

Floats: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.intp]

_FUNCTIONS: Mapping[Any, Any] = {
    sympy.exp: np.exp,
    sympy.log: np.log,
    sympy.tanh: np.tanh,
    sympy.cos: np.cos,
    sympy.sin: np.sin,
    sympy.erf: np.vectorize(math.erf, otypes=[np.float64]),
    sympy.Heaviside: np.heaviside,
}
#: Powers that NumPy has functions for.
_POWERS: Mapping[Expr, Any] = {
    sympy.Integer(-1): np.reciprocal,
    sympy.Rational(1, 2): np.sqrt,
    sympy.Rational(-1, 2): lambda x: np.reciprocal(np.sqrt(x)),
}


@dataclass(frozen=True)
class _Entries:
    """Entries of one form: where each has its letters, by the dummy of the form, and where they
    stand themselves, among all letters."""

    form: Expr
    dummies: list[Expr]
    taken: Places
    put: Places

    def work_out(self, letters: Floats) -> None:
        values = dict(zip(self.dummies, letters[self.taken].T, strict=True))
        letters[self.put] = _worked_out(self.form, values)


@dataclass(frozen=True)
class _Exponentials:
    """The exponentials of a row of scores, which stand where these do, all divided by the
    largest: it cancels in weights and in what flows back through them."""

    row: Places

    def work_out(self, letters: Floats) -> None:
        scores = letters[self.row]
        letters[self.row] = np.exp(scores - scores.max())


class FloatFunction:
    """A formula as a function of floats; made by ``formula.lambdify()``.

    Takes arrays of the shapes of what is given, by keywords, the upstream gradient dL/dY
    as ``dY``; what isn't passed has the numbers of the case. Raises :class:`Malformed` for
    other names and shapes, and for what are no real numbers.

    >>> from symattn.solution.solution import solve
    >>> f = solve("cat-sat-mat").symbolic["T"].lambdify()
    >>> f
    <FloatFunction of T: X, d_k>
    >>> f(X=np.eye(3, 4)).tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
    """

    def __init__(
        self,
        name: str,
        shape: Shape,
        stages: Stages,
        givens: Givens,
        numbers: Mapping[Expr, Value],
    ) -> None:
        self.name = name
        self._shape = shape
        self._entries = [*chain(*stages[name].letters)]
        self._givens = givens
        self._numbers = numbers
        #: Where each letter stands among all.
        self._places: dict[Expr, int] = {}
        self._work: list[_Entries | _Exponentials] = []
        given = (stage for stage in stages.up_to(name) if stage.is_given)
        self.given = tuple(stage.name for stage in given)
        for stage in stages.up_to(name):
            letters = givens.given[stage.name].all if stage.is_given else stage.defined
            for letter in letters:
                self._places[letter] = len(self._places)
            self._work += self._of_stage(stage, stage.name in stages.powers)

    def _of_stage(self, stage: Stage, is_powers: bool) -> Iterator[_Entries | _Exponentials]:
        """How the entries of a stage are worked out."""
        rows = [[x for x in row if x in stage.defined] for row in stage.letters]
        defined = dict(stage.defined)
        # A row with another entry, a number that needs no letter, is as it is.
        rows = [
            row
            for row, letters in zip(rows, stage.letters, strict=True)
            if is_powers and all(isinstance(defined.get(x), sympy.exp) or x == 0 for x in letters)
        ]
        defined |= {letter: defined[letter].args[0] for letter in chain(*rows)}
        forms: dict[Expr, list[tuple[Expr, list[Expr]]]] = {}
        dummies_of: dict[Expr, list[Expr]] = {}
        for letter, definition in defined.items():
            form, letters, dummies_of[form] = form_of(definition)
            forms.setdefault(form, []).append((letter, letters))
        for form, entries in forms.items():
            taken = [[self._places[x] for x in letters] for _, letters in entries]
            put = [self._places[letter] for letter, _ in entries]
            yield _Entries(form, dummies_of[form], np.array(taken, dtype=np.intp), np.array(put))
        for row in filter(None, rows):
            yield _Exponentials(np.array([self._places[letter] for letter in row]))

    def __repr__(self) -> str:
        return f"<FloatFunction of {self.name}: {', '.join(self.given)}>"

    def __call__(self, **arrays: Any) -> Floats:
        """The floats of the quantity, in its shape."""
        values = self._defaults | self._givens.floats(arrays)
        faults = Faults()
        for name in self.given:
            if any(letter not in values for letter in self._givens.given[name].all):
                faults.append(Fault(name, "has symbols in the case: pass its numbers"))
        faults.raise_all()
        letters = np.empty(len(self._places))
        for letter, place in self._places.items():
            letters[place] = values.get(letter, 0.0)
        for work in self._work:
            work.work_out(letters)
        entries = [self._entry(entry, letters) for entry in self._entries]
        return np.array(entries).reshape(self._shape)

    @cached_property
    def _defaults(self) -> dict[Expr, float]:
        numbers = self._numbers.items()
        return {
            letter: number.nearest()
            for letter, number in numbers
            if letter in self._places and not number.has_symbols
        }

    def _entry(self, entry: Expr | Masked, letters: Floats) -> np.float64:
        if isinstance(entry, Masked):
            return -np.float64(np.inf)
        place = self._places.get(entry)
        return _number(entry) if place is None else letters[place]


@lru_cache(maxsize=1 << 10)
def _number(number: Expr) -> np.float64:
    return np.float64(from_sympy(number).nearest())


def _worked_out(form: Expr, letters: Mapping[Expr, Floats]) -> Any:
    """A form with arrays, or numbers, for its letters."""
    if form in letters:
        return letters[form]
    if not form.args:
        return _number(form)
    parts = [_worked_out(part, letters) for part in form.args]
    match form:
        case sympy.Add():
            return reduce(np.add, parts)
        case sympy.Mul():
            return reduce(np.multiply, parts)
        case Largest() | sympy.Max():
            return reduce(np.maximum, parts)
        case sympy.Pow(args=(_, power)) if power in _POWERS:
            return _POWERS[power](parts[0])
        case sympy.Pow():
            return np.power(*parts)
    return _FUNCTIONS[form.func](*parts)
