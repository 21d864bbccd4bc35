"""Steps and gradients as formulas that SymPy derived, and the case's numbers put in.

Loads SymPy: :attr:`symattn.solution.solution.Solution.symbolic` is the door.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import sympy
from sympy.printing.latex import LatexPrinter

from symattn.cases.case import Case
from symattn.errors import Fault, Faults, Malformed, NoClosedForm, UnknownName, expected, short
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.shapes import Shape, chosen, grid, keys, rows_at, show
from symattn.expressions.syntax import gradient_name
from symattn.limits import ARGUMENT, DERIVED, EXPANDED, FORMULA, NO_CLOSED_FORM, QUICK_BITS, Limit
from symattn.numbers.arrays import FloatEntries, as_array
from symattn.numbers.reading import MASKED, Masked, read_entry
from symattn.numbers.rows import read_each, shape_of
from symattn.numbers.sympy_bridge import from_sympy, to_sympy
from symattn.numbers.values import Value
from symattn.printers.layout import TEXT, broken_row, width
from symattn.programs.display import formula as step_formula
from symattn.programs.display import names, symbol
from symattn.programs.enclosures import FloatOperations, applied
from symattn.programs.entrywise import Keeps
from symattn.programs.jacobians import Jacobian
from symattn.programs.nodes import Node, Run, ancestors, arguments
from symattn.programs.program import Program, uses
from symattn.solution.quantity import Quantity
from symattn.solution.stages import Expr, Largest, Sizes, Stage, Stages, letters_of
from symattn.verdicts import Verdict

# -- the general entry of a stage --------------------------------------------------------
# One definition with indices for all of its entries.
#
# The definition of one entry is the pattern: terms that differ in an index alone become a sum
# over it, and the place of the entry becomes indices. What comes out is put to the proof: it must
# give the definition of every entry.

#: So many entries are tried as patterns, and a sum is over so many axes of letters at most.
_PATTERNS, _AXES = 6, 6


def shapes_of(stages: Iterable[Stage]) -> dict[str, Shape]:
    """The lengths of the axes of all arrays of letters.

    >>> from symattn.solution.solution import solve
    >>> shapes_of(solve("cat-sat-mat").symbolic.derived.up_to("S"))
    {'X': (3, 4), 'Q': (3, 4), 'K': (3, 4), 'S': (3, 3)}
    """
    letters = [x for stage in stages for x in chain(*stage.letters) if isinstance(x, sympy.Indexed)]
    shapes: dict[str, Shape] = {}
    for letter in letters:
        before = shapes.get(letter.base.name, (0,) * len(letter.indices))
        shapes[letter.base.name] = tuple(
            max(length, int(place) + 1)
            for length, place in zip(before, letter.indices, strict=True)
        )
    return shapes


def general_entry(
    stage: Stage, shapes: Mapping[str, Shape], names: Iterable[str]
) -> tuple[Expr, Expr] | None:
    """A letter with indices, called by ``names``, and its definition in such letters; None where
    no definition gives all entries. ``shapes`` are those of all letters in it.

    >>> from symattn.solution.solution import solve
    >>> stages = solve("cat-sat-mat").symbolic.derived
    >>> general_entry(stages["S"], shapes_of(stages.up_to("S")), "ijk")
    (S[_i, _j], Sum(K[_j, _k]*Q[_i, _k], (_k, 0, 3)))
    """
    defined = stage.defined
    if any(entry not in defined for entry in chain(*stage.letters)):
        return None
    dummies = [*map(sympy.Dummy, names)]
    # An axis of length 1 needs no index.
    axes = [axis for axis, length in enumerate(shapes.get(stage.name, ())) if length > 1]
    indices, summed = dict(zip(axes, dummies, strict=False)), dummies[len(axes) :]
    for pattern in _patterns(defined, axes):
        places = {pattern.indices[axis]: index for axis, index in indices.items()}
        letter, definition = (
            _indexed(part, places, shapes) for part in (pattern, _folded(defined[pattern], summed))
        )
        if all(
            _spelled_out(definition.xreplace({indices[axis]: entry.indices[axis] for axis in axes}))
            == wanted
            for entry, wanted in defined.items()
        ):
            return letter, definition
    return None


def _patterns(letters: Iterable[Expr], axes: Sequence[int]) -> list[Expr]:
    """Entries with as many places as indices, the last ones first: 0 may mean much."""
    apart = [x for x in letters if len({x.indices[axis] for axis in axes}) == len(axes)]
    return apart[: -_PATTERNS - 1 : -1]


def _indexed(expression: Expr, places: Mapping[Expr, Expr], shapes: Mapping[str, Shape]) -> Expr:
    """An expression with indices for places."""

    def at(letter: sympy.Indexed) -> Expr:
        lengths = zip(letter.indices, shapes[letter.base.name], strict=True)
        return letter.base[*(places.get(p, p) if length > 1 else p for p, length in lengths)]

    return expression.xreplace({x: at(x) for x in expression.atoms(sympy.Indexed)})


def _folded(expression: Expr, summed: Sequence[Expr]) -> Expr:
    """Terms that differ in an index alone as sums."""
    if not expression.args or isinstance(expression, sympy.Indexed):
        return expression
    parts = [_folded(part, summed) for part in expression.args]
    if not isinstance(expression, sympy.Add):
        return expression.func(*parts)
    alike: dict[Expr, list[Expr]] = {}
    for part in parts:
        form = part.xreplace({x: x.base.label for x in part.atoms(sympy.Indexed)})
        alike.setdefault(form, []).append(part)
    return sympy.Add(*chain.from_iterable(_summed(terms, summed) for terms in alike.values()))


def _summed(terms: list[Expr], summed: Sequence[Expr]) -> list[Expr]:
    """Terms of one form as a sum, or a sum of sums, where they are one."""
    inner = {limit[0] for term in terms for x in term.atoms(sympy.Sum) for limit in x.limits}
    free = [index for index in summed if index not in inner]
    if len(terms) > 1 and free:
        axes = {
            (x.base, axis)
            for x in terms[0].atoms(sympy.Indexed)
            for axis, place in enumerate(x.indices)
            if place.is_Integer
        }
        for count in range(min(len(axes), _AXES), 0, -1):
            for chosen in combinations(sorted(axes, key=str), count):
                if sums := _summed_over(terms, chosen, free[0]):
                    return _summed(sums, summed)
    return terms


def _summed_over(terms: list[Expr], axes: Sequence[tuple[Expr, int]], index: Expr) -> list[Expr]:
    """Terms as sums over one index, at the same axes of the same letters; none where they
    aren't."""
    runs: dict[Expr, set[Expr]] = {}
    for term in terms:
        letters = term.atoms(sympy.Indexed)
        at = {x: [axis for base, axis in axes if base == x.base] for x in letters}
        places = {x.indices[axis] for x in letters for axis in at[x]}
        general = {
            x: x.base[*(index if k in at[x] else place for k, place in enumerate(x.indices))]
            for x in letters
        }
        if len(places) != 1:
            return []
        runs.setdefault(term.xreplace(general), set()).update(places)
    count = len(terms) // len(runs)
    if count < 2 or any(run != {*map(sympy.Integer, range(count))} for run in runs.values()):
        return []
    signs = ((-1 if term.could_extract_minus_sign() else 1, term) for term in runs)
    return [sign * sympy.Sum(sign * term, (index, 0, count - 1)) for sign, term in signs]


def _spelled_out(expression: Expr) -> Expr:
    """An expression with its sums written out."""
    if not expression.has(sympy.Sum):
        return expression
    if not isinstance(expression, sympy.Sum):
        return expression.func(*map(_spelled_out, expression.args))
    whole = _spelled_out(expression.function)
    for index, first, last in expression.limits:
        places = range(int(first), int(last) + 1)
        whole = sympy.Add(*(whole.xreplace({index: sympy.Integer(k)}) for k in places))
    return whole


# -- formulas as they are printed in papers ----------------------------------------------
# Stage by stage, as one expression, or entry by entry.
#
# Steps and gradients are those of the sheets (:mod:`symattn.programs.display`); entries are
# SymPy's, with a general index where one definition gives them all.

#: Operations that one expression has at most: each time that a step is used it is written anew.
_OPERATIONS = 500
#: What indices are called; quantities of the case have their names to themselves.
_INDICES = "ijklmnpqrstuvwxyz"


def align(lines: Iterable[tuple[str, str]]) -> str:
    r"""Equations under one another, as LaTeX and MathJax read them.

    >>> print(align([("a", "b + c")]))
    \begin{align*}
    a &= b + c
    \end{align*}
    """
    body = " \\\\\n".join(f"{left} &= {right}" for left, right in lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def stage_lines(program: Program, name: str) -> Iterator[tuple[str, str]]:
    r"""The steps and gradients up to one, each in those before, as the sheets have them.

    >>> from symattn.cases.library import load
    >>> for line in stage_lines(load("cat-sat-mat").program, "S"):
    ...     print(*line)
    Q X
    K X
    S Q\,K^{\top}
    """
    node, named = program.named[name], names(program)
    for each in ancestors([node], through=arguments):
        if each.serial in named and each.op != "given":
            left = f.typeset(named[each.serial])
            lines = broken_row(f.slashed(step_formula(each, named)), TEXT - width(left) - 1.5)
            yield t.latex(left), " \\\\\n&\\quad ".join(map(t.latex, lines))
    # A gradient that flows on as it came is called by the later step.
    if symbol(name) != named[node.serial]:
        yield f.latex(symbol(name)), f.latex(named[node.serial])


def expression(program: Program, name: str) -> str:
    r"""A step in what is given, a gradient in that and steps, as one expression of matrices; ''
    where it would be too long.

    >>> from symattn.cases.library import load
    >>> expression(load("cat-sat-mat").program, "T")
    'X\\,X^{\\top}/\\sqrt{d_{k}}'
    """
    node = program.named[name]
    if node.op == "given":
        return f.latex(symbol(name))
    kept = program.given if name in program.quantities else program.quantities
    named: dict[int, syntax.Tree] = {program.quantities[each].serial: symbol(each) for each in kept}
    if program.upstream is not None:
        named[program.upstream.serial] = names(program)[program.upstream.serial]
    named.pop(node.serial, None)
    sizes = dict.fromkeys(named, 1)
    for each in ancestors([node], stop=lambda x: x.serial in named, through=arguments):
        sizes[each.serial] = 1 + sum(sizes[x.serial] for x in arguments(each))
    if sizes[node.serial] > _OPERATIONS:
        return ""
    return t.latex(f.slashed(step_formula(node, named)))


class Entries:
    """Entries of stages in LaTeX. What is no quantity of the case and has one column, as the sums
    Z of a softmax, has no index for that."""

    def __init__(self, program: Program, stages: Stages, name: str) -> None:
        self._program = program
        self._stages = [*stages.up_to(name)]
        self._shapes = shapes_of(self._stages)
        columns = {x for x, shape in self._shapes.items() if len(shape) == 2 and shape[1] == 1}
        self._printer = _Printer(columns - program.named.keys())

    def lines(self) -> Iterator[tuple[str, str]]:
        """Every stage: its general entry, or else entry by entry."""
        free = [index for index in _INDICES if index not in self._program.quantities]
        for stage in self._stages:
            if stage.is_given:
                continue
            if (general := general_entry(stage, self._shapes, free)) is not None:
                yield self.written(general[0]), self.written(general[1])
                continue
            shape = self._shapes.get(stage.name, ())
            for i, row in enumerate(stage.letters):
                for j, entry in enumerate(row):
                    # What is masked, or a number that needs no letter, has its place.
                    letter = entry
                    if entry not in stage.defined:
                        letter = sympy.IndexedBase(stage.name)[keys(shape, i, j)]
                    if isinstance(entry, Masked):
                        entry = -sympy.oo
                    yield self.written(letter), self.written(stage.defined.get(entry, entry))

    def written(self, expression: sympy.Basic) -> str:
        """An expression, or a matrix of them, in letters."""
        latex: str = self._printer.doprint(expression)
        return latex


class _Printer(LatexPrinter):  # type: ignore[misc]
    """SymPy's formulas with letters as the sheets have them."""

    def __init__(self, columns: Set[str]) -> None:
        super().__init__()
        self._columns = columns

    def _print_Indexed(self, letter: sympy.Indexed) -> str:
        name = letter.base.name
        places = letter.indices[:-1] if name in self._columns else letter.indices
        texts = (x.name if isinstance(x, sympy.Symbol) else str(x) for x in places)
        return f.latex(syntax.Cell(symbol(name), tuple(map(syntax.Name, texts))))

    def _print_Symbol(self, letter: sympy.Symbol, style: str = "") -> str:
        return f.latex(symbol(letter.name))

    _print_Dummy = _print_Symbol

    def _print_Heaviside(self, jump: sympy.Heaviside, exp: str | None = None) -> str:
        bracket = rf"\left[{self._print(jump.args[0])} > 0\right]"
        return bracket if exp is None else f"{bracket}^{{{exp}}}"


# -- quantities as functions of NumPy arrays ---------------------------------------------

Floats: TypeAlias = npt.NDArray[np.float64]


class _Unguarded(FloatOperations):
    """Floats with whose overflow NumPy's own warnings go."""

    def apply(self, node: Node, operands: list[Floats]) -> Floats:
        return applied(node, operands)


class FloatFunction:
    """A step or a gradient as a function of floats; made by ``formula.lambdify()``.

    Takes arrays of the shapes of what is given, by keywords, the upstream gradient dL/dY
    as ``dY``; what isn't passed has the numbers of the case, and masks keep what they keep there.
    Raises :class:`Malformed` for other names and shapes, and for what are no real numbers.

    >>> from symattn.solution.solution import solve
    >>> f = solve("cat-sat-mat").symbolic["T"].lambdify()
    >>> f
    <FloatFunction of T: X, d_k>
    >>> f(X=np.eye(3, 4)).tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
    """

    def __init__(self, among: Symbolic, name: str) -> None:
        self.name = name
        self.given = among[name].given
        self._node = among.program.named[name]
        self._givens = among.givens
        self._numbers = among.case_numbers
        of_node = {among.program.named[x].serial: x for x in among.givens.given}
        #: All that is given on the way to the quantity, by its node.
        self._inputs = {
            node.serial: among.givens.given[of_node[node.serial]]
            for node in ancestors([self._node])
            if node.serial in of_node
        }

    def __repr__(self) -> str:
        return f"<FloatFunction of {self.name}: {', '.join(self.given)}>"

    def __call__(self, **arrays: Any) -> Floats:
        """The floats of the quantity, in its shape."""
        passed = self._givens.floats(arrays)
        faults, inputs = Faults(), dict[int, Floats]()
        for serial, given in self._inputs.items():
            values = self._defaults
            if given.name in self.given:
                values = values | passed
                if any(letter not in values for letter in given.all):
                    faults.append(Fault(given.name, "has symbols in the case: pass its numbers"))
            inputs[serial] = np.array(
                [
                    [-np.inf if isinstance(x, Masked) else values.get(x, 0.0) for x in row]
                    for row in given.letters
                ]
            )
        faults.raise_all()
        found = Run(_Unguarded(), lambda node: inputs.get(node.serial))[self._node]
        return found.reshape(self._node.shape)

    @cached_property
    def _defaults(self) -> dict[Expr, float]:
        """The numbers of the case, but for those with symbols."""
        numbers = self._numbers.items()
        return {letter: number.nearest() for letter, number in numbers if not number.has_symbols}


# -- what is put in for letters ----------------------------------------------------------
# Arrays by the name of what is given, entries by their place.

_ARRAYS = (sympy.MatrixExpr, sympy.IndexedBase)
#: What is no real number.
_NOT_FINITE = (sympy.oo, -sympy.oo, sympy.zoo, sympy.nan)
NOT_REAL = (*_NOT_FINITE, sympy.I)


@dataclass(frozen=True)
class GivenLetters:
    """A given quantity, or the upstream gradient, and its letters by rows of the grid;
    a masked score has none."""

    name: str
    shape: Shape
    letters: tuple[tuple[Expr | Masked, ...], ...]

    @property
    def all(self) -> Iterator[Expr]:
        """Every letter."""
        return (letter for letter in chain(*self.letters) if not isinstance(letter, Masked))

    def paired(self, rows: Any) -> Iterator[tuple[Expr, Any]]:
        """Each letter with the entry of ``rows`` in its place."""
        entries = zip(chain(*self.letters), chain(*rows), strict=True)
        return (pair for pair in entries if not isinstance(pair[0], Masked))

    def need(self, shape: Shape) -> None:
        """Raise :class:`Malformed` for another shape; a vector may be a matrix of one row."""
        is_other = len(shape) > 2 or grid(shape) != grid(self.shape)
        if shape != self.shape and is_other:
            raise Malformed(f"expected {show(self.shape)}, found {show(shape)}")

    def need_masks(self, is_masked: npt.NDArray[np.bool_]) -> None:
        """Raise :class:`Malformed` where other scores are masked than those of the case."""
        known = np.array([[isinstance(x, Masked) for x in row] for row in self.letters])
        for i, j in np.argwhere(known != is_masked.reshape(known.shape)).tolist():
            found = "-inf, which masks a score that the case does not mask"
            if known[i, j]:
                found = "a number, but the case masks this score with -inf"
            raise Malformed(f"entry {i}, {j}: found {found}")

    def read(self, values: Any) -> Iterator[tuple[Expr, Expr]]:
        """Return what an array of exact numbers and expressions puts in for the letters."""
        self.need(shape_of(values))
        _, rows = read_each(values, as_expression)
        self.need_masks(np.array([[isinstance(x, Masked) for x in row] for row in rows]))
        return self.paired(rows)

    def floats(self, values: Any) -> Iterator[tuple[Expr, float]]:
        """Return what an array of real numbers puts in for the letters."""
        floats = _floats(values)
        self.need(floats.shape)
        if not (np.isfinite(floats) | np.isneginf(floats)).all():
            raise Malformed("expected finite numbers, found infinity or NaN")
        self.need_masks(np.isneginf(floats))
        return self.paired(floats.reshape(grid(self.shape)).tolist())

    def letter(self, keys: tuple[syntax.Key, ...]) -> Expr:
        """The letter at a place."""
        numbers = [key for key in keys if isinstance(key, int)]
        if len(numbers) != len(keys) or len(keys) != len(self.shape):
            example = ", ".join("0" * len(self.shape))
            place = f"{self.name}[{example}]" if example else self.name
            raise Malformed(f"expected the place of one entry, such as {place}")
        _, places = chosen(self.shape, numbers)
        letter = self.letters[rows_at(self.shape, places)[0]][places[-1][0]]
        if isinstance(letter, Masked):
            raise Malformed("the case masks this score with -inf")
        return letter


def _floats(values: Any) -> npt.NDArray[np.float64]:
    """An array of real numbers in double precision."""
    try:
        array = values.array if isinstance(values, FloatEntries) else as_array(values)
        array = np.asarray(values) if array is None else array
        if array.dtype.kind in "iuf":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise Malformed(f"expected an array of real numbers, found {short(repr(values))}")


@dataclass(frozen=True)
class Givens:
    """Givens that can be put in; ``known`` tells the name that results have of any other one, None
    for what is no name."""

    given: Mapping[str, GivenLetters]
    known: Callable[[str], str | None]

    def called(self, name: str) -> GivenLetters:
        """Return what has that name, else :class:`Malformed`.

        >>> d_k = GivenLetters("d_k", (), ((sympy.Symbol("d_k"),),))
        >>> Givens({"d_k": d_k}, {"S": "S"}.get).called("S")
        Traceback (most recent call last):
        ...
        symattn.errors.Malformed: S is computed: expected one of d_k
        """
        known = self.known(name)
        if known is None:
            raise Malformed(f"unknown name {short(name)!r}: {expected(name, self.given)}")
        if known not in self.given:
            raise Malformed(f"{known} is computed: {expected('', self.given)}")
        return self.given[known]

    def put(self, values: Iterable[tuple[Any, Any]]) -> dict[Expr, Expr]:
        """Return what is put in for which letter: arrays by a name, entries by a place, ``"Q[0,
        1]"`` or SymPy's letter of it. :class:`Malformed` with every fault."""
        faults, found = Faults(), dict[Expr, Expr]()
        for key, value in values:
            with faults.inside(short(str(key))):
                for letter, entry in self._read(key, value):
                    if letter in found:
                        raise Malformed(f"{letter} is put in twice")
                    found[letter] = entry
        faults.raise_all()
        return found

    def _read(self, key: object, value: object) -> Iterator[tuple[Expr, Expr]]:
        if not isinstance(key, str | sympy.Basic):
            raise Malformed("expected a name such as 'Q', or a place such as 'Q[0, 1]'")
        name = str(key)
        tree = None if self.known(name) else syntax.parse(name)
        if not isinstance(tree, syntax.Indexed):
            return self.called(name).read(value)
        letter = self.called(syntax.text(tree.operand)).letter(tree.keys)
        entry = as_expression(value)
        if isinstance(entry, Masked):
            raise Malformed("-inf masks a score that the case does not mask")
        return iter([(letter, entry)])

    def floats(self, values: Mapping[str, Any]) -> dict[Expr, float]:
        """Floats that are put in for letters, by the names of arrays; :class:`Malformed`
        with every fault."""
        faults, found = Faults(), dict[Expr, float]()
        for name, value in values.items():
            with faults.inside(short(str(name))):
                given = self.called(str(name))
                if any(x in found for x in chain(*given.letters)):
                    raise Malformed(f"{given.name} is put in twice")
                found |= given.floats(value)
        faults.raise_all()
        return found


def as_expression(entry: Any) -> Expr | Masked:
    """An exact number, or text of one, as SymPy's; an expression of SymPy's as it is.
    :class:`Malformed` for the rest, floats and expressions with floats among it.

    >>> as_expression("sqrt(2) / 4"), as_expression(sympy.Symbol("a") + 1)
    (sqrt(2)/4, a + 1)
    """
    if not isinstance(entry, sympy.Basic):
        value = read_entry(entry, symbols=True)
        return value if isinstance(value, Masked) else to_sympy(value)
    if entry == -sympy.oo:
        return MASKED
    if not isinstance(entry, sympy.Expr) or isinstance(entry, _ARRAYS):
        raise Malformed(f"expected a number or an expression, found {type(entry).__name__}")
    for number in entry.atoms(sympy.Float):
        raise Malformed(f"{number} is a float, not an exact number: write a Rational")
    if entry.has(*_NOT_FINITE):
        raise Malformed(f"expected a finite number, found {entry}")
    return entry


# -- symbolic ----------------------------------------------------------------------------

#: How a formula is printed.
FormulaStyle: TypeAlias = Literal["stages", "matrix", "entry"]
_STYLES = get_args(FormulaStyle)


class Symbolic(Mapping[str, "_DerivedFormula"]):
    """The formula of every given quantity, step and gradient, by name.

    Raises :class:`NoClosedForm` for a program beyond
    :data:`~symattn.limits.DERIVED`.

    >>> from symattn.solution.solution import solve
    >>> formulas = solve("cat-sat-mat").symbolic
    >>> formulas["A"].substitute()[0, 0]
    E/(1 + exp(1/2) + E)
    >>> formulas["Z"]
    Traceback (most recent call last):
    ...
    symattn.errors.UnknownName: unknown name 'Z': expected one of X, d_k, Q, K, V, S, T, A, ...
    """

    def __init__(self, case: Case, keeps: Keeps[Expr]) -> None:
        self.program = case.program
        if (count := uses(self.program)) > DERIVED.most:
            raise NoClosedForm(DERIVED.said(count))
        self.derived = Stages(case.program, case.output, case.given, keeps)
        rows = {**case.given, gradient_name(case.output): case.upstream}
        given = {
            stage.name: GivenLetters(
                stage.name, self.program.named[stage.name].shape, stage.letters
            )
            for stage in self.derived.given
        }
        self.givens = Givens(given, self.program.known)
        #: The case's numbers for the letters of what is given.
        self.case_numbers: dict[Expr, Value] = {
            letter: number
            for name, letters in given.items()
            for letter, number in letters.paired(rows[name])
        }
        #: What letters stand for, in letters of what is given, and in numbers.
        self.letters = _Written(self.derived, lambda stage: {}, EXPANDED)
        self.numbers = _Written(self.derived, self._numbers, FORMULA)
        #: The exact values of the letters, and of the parts of formulas that were read before.
        self._values: dict[sympy.Basic, Value] = {**self.case_numbers}
        self._formulas: dict[str, _DerivedFormula] = {}

    def __getitem__(self, name: str) -> _DerivedFormula:
        """The formula of ``"A"``, ``"dL/dQ"`` (also ``"grad(Q)"``, ``"dQ"``);
        :class:`UnknownName` for what is no step and no gradient, and
        :class:`NoClosedForm` for gradients of an output with masked scores."""
        known = self._name(name)
        if known not in self.program.quantities and not self.derived.has_gradients:
            raise NoClosedForm("the output has masked scores (-inf): there are no gradients")
        if known not in self._formulas:
            self._formulas[known] = _DerivedFormula(self, known)
        return self._formulas[known]

    def jacobian(self, found: Jacobian) -> DerivedJacobian:
        """The Jacobian, differentiated by SymPy in letters of what it is by.

        :class:`NoClosedForm` beyond :data:`~symattn.limits.EXPANDED`.
        """
        of, by = self.derived[self._name(found.of.name)], self.derived[self._name(found.by.name)]
        kept = _Written(self.derived, lambda stage: {}, EXPANDED, by.name)
        entries = of.matrix(kept.up_to(of.name))
        letters = by.matrix({})
        columns = [letters[place] for place in found.by.places]
        if not all(isinstance(letter, sympy.Indexed | sympy.Symbol) for letter in columns):
            raise NoClosedForm(f"{found.name}: SymPy has no letters for {by.name}")
        # None flows through a masked score.
        slopes = [
            [0 if x == -sympy.oo else sympy.diff(x, letter) for letter in columns]
            for x in (entries[place] for place in found.of.places)
        ]
        return DerivedJacobian(found.name, sympy.ImmutableDenseMatrix(slopes))

    def __repr__(self) -> str:
        return f"<Symbolic: {short(', '.join(self), 100)}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self.program.named)

    def __len__(self) -> int:
        return len(self.program.named)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.program.known(name) is not None

    def exact(self, name: str) -> dict[sympy.Basic, Value]:
        """The exact values of the letters of a stage and of all that it needs: SymPy's
        definitions by our arithmetic, whose work is bounded, as SymPy's on numbers isn't."""
        for stage in self.derived.up_to(name):
            for letter, definition in stage.defined.items():
                if letter not in self._values:
                    plain = definition.replace(Largest, sympy.Max)
                    self._values[letter] = from_sympy(plain, known=self._values)
        return self._values

    def _name(self, name: str) -> str:
        named = self.program.named
        if name in named:
            return name
        node = self.program.lower(name)
        match = next((known for known, other in named.items() if other is node), None)
        if match is None:
            raise UnknownName(f"{short(name)!r} is the name of no step and no gradient")
        return match

    def _numbers(self, stage: Stage) -> dict[Expr, Expr]:
        """The case's numbers for the letters of a given stage."""
        letters = self.givens.given[stage.name].all
        return {letter: to_sympy(self.case_numbers[letter]) for letter in letters}


class _DerivedFormula:
    """A step or a gradient as SymPy derived it; made by :class:`Symbolic`.

    A vector is a matrix of one row, a number one of one entry, as everywhere in
    ``exact``; a masked score is ``-oo``.
    """

    def __init__(self, among: Symbolic, name: str) -> None:
        self.name = name
        self._among = among
        self._stage = among.derived[name]

    @cached_property
    def matrix(self) -> sympy.ImmutableDenseMatrix:
        """The entries in letters of what is given: ``Q[0, 1]``, ``d_k``, and
        ``dL/dY[0, 1]`` for the upstream gradient.

        :class:`NoClosedForm` beyond :data:`~symattn.limits.EXPANDED`.

        >>> from symattn.solution.solution import solve
        >>> solve("please-study-man").symbolic["Q"].matrix[0, 0]
        W_Q[0, 0]*X[0, 0] + W_Q[1, 0]*X[0, 1]
        """
        return self._stage.matrix(self._among.letters.up_to(self.name))

    @cached_property
    def stages(self) -> dict[str, sympy.ImmutableDenseMatrix]:
        """Return what the formula is written in, in order, itself last: each stage in
        letters of earlier ones and of what is given.

        Exponentials are called E, their sums over rows Z, parts of a step Y_1, ...

        >>> from symattn.solution.solution import solve
        >>> stages = solve("cat-sat-mat").symbolic["dL/dT"].stages
        >>> [*stages][-5:], stages["dL/dE"][0, 1]
        (['Z', 'dL/dA', 'dL/dZ', 'dL/dE', 'dL/dT'], dL/dZ[0, 0] + dL/dA[0, 1]/Z[0, 0])
        """
        stages = self._among.derived.up_to(self.name)
        return {stage.name: stage.matrix(stage.defined) for stage in stages if not stage.is_given}

    @property
    def given(self) -> tuple[str, ...]:
        """The names of what is put in: given quantities, and the upstream gradient."""
        stages = self._among.derived.up_to(self.name)
        return tuple(stage.name for stage in stages if stage.is_given)

    def substitute(self) -> sympy.ImmutableDenseMatrix:
        """The closed forms, unsimplified, with the case's exact numbers put in,
        stage by stage; symbols of the upstream gradient stay.

        :class:`NoClosedForm` beyond :data:`~symattn.limits.FORMULA`.

        >>> from symattn.solution.solution import solve
        >>> solve("length-4-causal").symbolic["dL/dV"].substitute()[3, 0].free_symbols
        {g1}
        """
        return self._stage.matrix(self._among.numbers.up_to(self.name))

    def subs(
        self, values: Mapping[Any, object] | None = None, /, **arrays: object
    ) -> sympy.ImmutableDenseMatrix:
        """The formula with exact numbers, or expressions of SymPy's, put in for what is given,
        stage by stage; what isn't put in stays a letter.

        Whole arrays by their names, ``Q=[[a, 1], [0, "1/2"]]`` or ``{"dL/dY": ...}``, nested
        lists, SymPy's matrices or NumPy's arrays of integers; entries by their places,
        ``{"Q[0, 0]": a}``. What the formula doesn't depend on changes nothing. Text names
        symbols, as in the upstream gradient of a case.

        Raises :class:`Malformed` with every fault: names that are not given, places outside,
        other shapes, floats, what is put in twice, scores masked otherwise than in the case;
        and where a stage is no real number with what is put in. :class:`NoClosedForm` beyond
        :data:`~symattn.limits.EXPANDED`.

        >>> from symattn.solution.solution import solve
        >>> formula, a = solve("cat-sat-mat").symbolic["T"], sympy.Symbol("a")
        >>> formula.subs({"X[0, 1]": a}, d_k=4).row(0)[1]
        a*X[1, 1]/2 + X[0, 0]*X[1, 0]/2 + X[0, 2]*X[1, 2]/2 + X[0, 3]*X[1, 3]/2
        """
        put = self._among.givens.put([*(values or {}).items(), *arrays.items()])
        entries = _Written(self._among.derived, lambda stage: put, EXPANDED).up_to(self.name)
        for letter, entry in entries.items():
            if entry.has(*NOT_REAL):
                why = "with what is put in this is no real number"
                raise Malformed(Fault(str(letter), why))
        return self._stage.matrix(entries)

    def lambdify(self) -> FloatFunction:
        """The step or gradient as a function of NumPy arrays: the program in floats.

        Takes what is given by keywords, the upstream gradient dL/dY as ``dY``; what isn't
        passed has the case's numbers. A softmax takes the largest score of its row from all,
        so that its exponentials don't overflow.

        With M the largest number in size among the quantities and gradients of the case, 1 at
        least, entries are within 1e-13 M of ``nearest("float64")`` where steps are sums,
        products and softmax of numbers that aren't large; as with all floats, exponentials of
        large numbers, differences of what is nearly equal and quotients by what is nearly 0
        lose more. Other exponentials may overflow, and NumPy warns of it.

        >>> from symattn.solution.solution import solve
        >>> s = solve("cat-sat-mat")
        >>> weights = s.symbolic["A"].lambdify()
        >>> weights()[0].round(4).tolist()
        [0.5065, 0.1863, 0.3072]
        >>> weights(X=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 900]])[2].tolist()
        [0.0, 0.0, 1.0]
        """
        return FloatFunction(self._among, self.name)

    def equals(self, quantity: Quantity) -> Verdict:
        """Tell whether the formula with exact numbers gives the quantity, entry by entry, exactly.

        :class:`NoClosedForm` where one has no short closed form.

        >>> from symattn.solution.solution import solve
        >>> s = solve("cat-sat-mat")
        >>> s.symbolic["dL/dQ"].equals(s["dL/dQ"]), s.symbolic["Q"].equals(s["K"])
        (<Verdict.HOLDS: 'holds'>, <Verdict.HOLDS: 'holds'>)
        """
        letters = self._stage.letters
        if (len(letters), len(letters[0])) != quantity.grid:
            return Verdict.REFUTED
        values = self._among.exact(self.name)
        return Verdict.all(
            _same(letter if isinstance(letter, Masked) else from_sympy(letter, known=values), value)
            for row, exact in zip(letters, quantity.rows, strict=True)
            for letter, value in zip(row, exact, strict=True)
        )

    def latex(self, style: FormulaStyle = "stages") -> str:
        r"""The formula as LaTeX for a paper.

        ``"stages"`` are the steps and gradients that it takes, one line of an ``align*`` each, as
        on the sheets; ``"entry"`` are SymPy's stages, one line each for the general entry, or a
        line for every entry where none holds for all; ``"matrix"`` is one expression: a step in
        what is given, a gradient in that and steps; where that would be too long, the matrix of
        entries in letters of what is given, which may be beyond EXPANDED. Sums run over the
        sizes of the case.

        >>> from symattn.solution.solution import solve
        >>> formulas = solve("cat-sat-mat").symbolic
        >>> print(formulas["S"].latex())
        \begin{align*}
        Q &= X \\
        K &= X \\
        S &= Q\,K^{\top}
        \end{align*}
        >>> print(formulas["S"].latex("matrix"))
        X\,X^{\top}
        >>> formulas["A"].latex("entry").splitlines()[-2]
        'A_{i,j} &= \\frac{E_{i,j}}{Z_{i}}'
        """
        program, name = self._among.program, self.name
        if style not in _STYLES:
            raise Malformed(f"style={style!r}: {expected(style, _STYLES)}")
        if style == "entry" and not self._stage.is_given:
            return align(Entries(program, self._among.derived, name).lines())
        if style == "matrix" and (whole := expression(program, name)):
            return whole
        lines = [*stage_lines(program, name)] if style == "stages" else []
        if lines:
            return align(lines)
        entries = Entries(program, self._among.derived, name).written(self.matrix)
        return entries if style == "matrix" else align([(f.latex(symbol(name)), entries)])

    def _repr_latex_(self) -> str:
        return self.latex()

    def __repr__(self) -> str:
        stages = ", ".join(self.stages)
        return f"<Formula of {self.name}: {stages}>"


def _same(ours: Value | Masked, exact: Value | Masked) -> Verdict:
    if isinstance(ours, Masked) or isinstance(exact, Masked):
        return Verdict.HOLDS if ours is exact else Verdict.REFUTED
    for each in (exact, ours):
        if each.form() is None:
            raise NoClosedForm(NO_CLOSED_FORM.format(found=repr(each)))
    return (ours - exact).is_zero(bits=QUICK_BITS)


@dataclass(frozen=True)
class DerivedJacobian:
    """A Jacobian as SymPy derived it, ``matrix`` in letters of what it is by."""

    name: str
    matrix: sympy.ImmutableDenseMatrix

    def latex(self) -> str:
        """The matrix as LaTeX."""
        return str(sympy.latex(self.matrix))

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def __repr__(self) -> str:
        rows, columns = self.matrix.shape
        return f"<Formula of {self.name}: {rows}x{columns}>"


class _Written:
    """What the letters of stages stand for, all the way down to what is given.

    ``given`` says what is put for the letters of a given stage; ``most`` limits
    the operations of one entry, ARGUMENT those of numbers under a root or in a function. The
    letters of the stage ``kept`` stay.
    """

    def __init__(
        self,
        stages: Stages,
        given: Callable[[Stage], Mapping[Expr, Expr]],
        most: Limit,
        kept: str = "",
    ) -> None:
        self._stages = stages
        self._given = given
        self._most = most
        self._kept = kept
        self._entries: dict[Expr, Expr] = {}
        self._sizes = Sizes()
        self._done: set[str] = set()

    def up_to(self, name: str) -> Mapping[Expr, Expr]:
        """Return what to put for the letters of a stage and of all that it needs."""
        for stage in self._stages.up_to(name):
            if stage.name not in self._done:
                self._write(stage)
                self._done.add(stage.name)
        return self._entries

    def _write(self, stage: Stage) -> None:
        if stage.name == self._kept:
            return
        if stage.is_given:
            self._entries |= self._given(stage)
        for letter, definition in stage.defined.items():
            # Told before it is made: making it may take very long.
            if (size := self._size_with(definition)) > self._most.most:
                raise NoClosedForm(f"{letter}: {self._most.said(size)}")
            for part in definition.atoms(sympy.Function, sympy.Pow):
                is_power = isinstance(part, sympy.Pow) and part.exp.is_Integer
                if not is_power and (size := self._size_with(part, False)) > ARGUMENT.most:
                    raise NoClosedForm(f"{letter}: {ARGUMENT.said(size)}")
            self._entries[letter] = definition.xreplace(self._entries)

    def _size_with(self, part: Expr, with_letters: bool = True) -> int:
        """The size of what is to be put into a definition, or into a part of it; or of the
        numbers among that."""
        put = [self._entries.get(used, used) for used in letters_of(part)]
        kept = (entry for entry in put if with_letters or not entry.free_symbols)
        return sum(map(self._sizes.of, kept))
