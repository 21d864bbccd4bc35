"""Formulas as they are printed in papers: stage by stage, as one expression, or entry by entry.

Steps and gradients are those of the sheets (:mod:`symattn.programs.display`); entries are
SymPy's, with a general index where one definition gives them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, combinations

import sympy
from sympy.printing.latex import LatexPrinter

from symattn import formulas as f
from symattn import typesetting as t
from symattn.numbers.reading import Masked
from symattn.printers.layout import TEXT, broken_row, width
from symattn.programs.display import formula as step_formula
from symattn.programs.display import names, symbol
from symattn.programs.nodes import ancestors, arguments
from symattn.programs.program import Program
from symattn.shapes import Shape, keys
from symattn.solution.stages import Expr, Stage, Stages

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


# -- formula lines -----------------------------------------------------------------------

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
    named: dict[int, f.Formula] = {program.quantities[each].serial: symbol(each) for each in kept}
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
        return f.latex(f.Entry(symbol(name), tuple(self._place(x) for x in places)))

    def _place(self, index: sympy.Basic) -> str:
        return index.name if isinstance(index, sympy.Symbol) else str(index)

    def _print_Symbol(self, letter: sympy.Symbol, style: str = "") -> str:
        return f.latex(symbol(letter.name))

    _print_Dummy = _print_Symbol

    def _print_Heaviside(self, jump: sympy.Heaviside, exp: str | None = None) -> str:
        bracket = rf"\left[{self._print(jump.args[0])} > 0\right]"
        return bracket if exp is None else f"{bracket}^{{{exp}}}"
