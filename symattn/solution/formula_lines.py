"""Formulas as they are printed in papers: stage by stage, as one expression, or entry by entry.

Steps and gradients are those of the sheets (:mod:`symattn.programs.display`); entries are
SymPy's, with a general index where one definition gives them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

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
from symattn.shapes import keys
from symattn.solution.general_entries import general_entry, shapes_of
from symattn.solution.stages import Stages

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
