"""A program in SymPy's letters, stage by stage, and its derivatives by SymPy.

Every step is a matrix of letters, each defined by a small expression in letters of earlier stages;
a softmax is written in three: exponentials E, the sum Z of each row, their quotient. SymPy
differentiates these small expressions, and the chain rule puts the derivatives together, from the
output back. The expanded attention expression never occurs, nor does SymPy's matrix calculus, which
loses terms of a softmax, nor a rule of :mod:`symattn.programs.program`: what comes out is compared
with those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, count
from typing import TypeAlias

import sympy
from sympy.printing.latex import LatexPrinter

from symattn.cases.case import Rows
from symattn.errors import Malformed, NoClosedForm, Undecided
from symattn.expressions.elementary import ELEMENTWISE, Elementwise
from symattn.expressions.shapes import Shape, keys
from symattn.expressions.syntax import gradient_name
from symattn.limits import ARGUMENT, EXPANDED
from symattn.numbers.balls import FIRST
from symattn.numbers.reading import MASKED, Masked
from symattn.numbers.sympy_bridge import from_sympy, to_sympy
from symattn.numbers.values import Value
from symattn.programs import entrywise, nodes
from symattn.programs.entrywise import Entrywise, Keeps, LazyGrid, Scalars
from symattn.programs.nodes import Node, ancestors
from symattn.programs.program import Program

Expr: TypeAlias = sympy.Expr

#: Bits of a number that count like one operation.
_BITS = 4
#: Operations that only move entries about: no stage of its own without a name.
_MOVING = ("copy", "reshape", "transpose", "negate", "hide", "concat", "pick")
#: What a softmax is written in: exponentials, and their sums over rows.
POWERS, SUMS = "E", "Z"


@dataclass(frozen=True, eq=False)
class Stage:
    """A matrix of letters, and what each of them stands for.

    ``letters`` are the rows of its grid: letters, numbers that need none, and HIDDEN for masked
    scores. ``defined`` gives each in letters of earlier stages, unless the stage ``is_given``.
    """

    name: str
    letters: tuple[tuple[Expr | Masked, ...], ...]
    defined: Mapping[Expr, Expr]
    is_given: bool = False

    def matrix(self, put: Mapping[Expr, Expr]) -> sympy.ImmutableDenseMatrix:
        """The grid with what is put for its letters; a masked score is ``-oo``."""
        return sympy.ImmutableDenseMatrix(
            [
                [-sympy.oo if isinstance(x, Masked) else put.get(x, x) for x in row]
                for row in self.letters
            ]
        )

    @cached_property
    def uses(self) -> frozenset[Expr]:
        """The letters in the definitions."""
        return frozenset(chain.from_iterable(map(letters_of, self.defined.values())))


class Stages:
    """The stages of a program and of the gradients of its loss, in order.

    ``given`` are its numbers, of which only masked scores matter here; ``keeps``
    tells what masks keep. Where the output is '' or has masked scores it has no loss,
    and there are no gradients: ``has_gradients`` is false.
    """

    def __init__(
        self, program: Program, output: str, given: Mapping[str, Rows], keeps: Keeps[Expr]
    ) -> None:
        self._names = {node.serial: name for name, node in program.quantities.items()}
        self._arithmetic: Entrywise[Expr] = Entrywise(_Letters(), keeps)
        self._grids: dict[int, LazyGrid[Expr]] = {}
        self._stages: dict[str, Stage] = {}
        self._owners: dict[Expr, Stage] = {}
        for name in program.given:
            node = program.quantities[name]
            self._grids[node.serial] = self._given(name, node.shape, given[name])
        for name in program.steps:
            # What has no name is a part of the step that needs it first.
            for node in ancestors(
                [program.quantities[name]], stop=lambda x: x.serial in self._grids
            ):
                operands = [self._grids[operand.serial] for operand in node.operands]
                self._grids[node.serial] = self._forward(node, operands, name)
        outputs = self._stages[output].letters if output else ()
        self.has_gradients = bool(outputs) and MASKED not in chain.from_iterable(outputs)
        if self.has_gradients:
            self._backward(output)

    def __getitem__(self, name: str) -> Stage:
        return self._stages[name]

    @property
    def given(self) -> Iterator[Stage]:
        """The stages that aren't computed: given quantities, and the upstream gradient."""
        return (stage for stage in self._stages.values() if stage.is_given)

    def up_to(self, name: str) -> Iterator[Stage]:
        """The stages that one of them needs, in order, itself last."""
        needed: set[str] = set()
        waiting = [self._stages[name]]
        while waiting:
            stage = waiting.pop()
            if stage.name not in needed:
                needed.add(stage.name)
                waiting += {self._owners[letter] for letter in stage.uses}
        return (stage for stage in self._stages.values() if stage.name in needed)

    def _add(self, stage: Stage) -> LazyGrid[Expr]:
        self._stages[stage.name] = stage
        for row in stage.letters:
            self._owners |= {entry: stage for entry in row if isinstance(entry, _LETTERS)}
        return entrywise.grid(stage.letters)

    # -- forward ------------------------------------------------------------------

    def _given(self, name: str, shape: Shape, rows: Rows) -> LazyGrid[Expr]:
        letters = tuple(
            tuple(
                number if isinstance(number, Masked) else _letter(name, keys(shape, i, j))
                for j, number in enumerate(row)
            )
            for i, row in enumerate(rows)
        )
        return self._add(Stage(name, letters, {}, is_given=True))

    def _forward(self, node: Node, operands: list[LazyGrid[Expr]], step: str) -> LazyGrid[Expr]:
        name = self._names.get(node.serial)
        if node.op == "softmax":
            powers = nodes.apply("exp", node.operands[0])
            sums = Node("rowsum", (powers,), (node.grid[0], 1))
            above = self._stage(self._free(POWERS), powers, operands, is_step=False)
            below = self._stage(self._free(SUMS), sums, [above], is_step=False)
            node, operands = Node("divide", (powers, sums), node.shape), [above, below]
        if name is not None:
            return self._stage(name, node, operands, is_step=True)
        is_of_one_entry = node.op in ELEMENTWISE and not node.shape
        if is_of_one_entry or node.op in _MOVING or not node.operands:
            return self._arithmetic.apply(node, operands)
        return self._stage(self._free(f"{step}_", 1), node, operands, is_step=False)

    def _stage(
        self, name: str, node: Node, operands: list[LazyGrid[Expr]], is_step: bool
    ) -> LazyGrid[Expr]:
        """The stage of a node; where it is no step, numbers in it have no letters."""
        grid = self._arithmetic.apply(node, operands)
        defined: dict[Expr, Expr] = {}

        def letter(i: int, j: int) -> Expr | Masked:
            entry = grid.at(i, j)
            if isinstance(entry, Masked) or (entry.is_number and not is_step):
                return entry
            symbol = _letter(name, keys(node.shape, i, j))
            defined[symbol] = entry
            return symbol

        rows, columns = map(range, node.grid)
        letters = tuple(tuple(letter(i, j) for j in columns) for i in rows)
        return self._add(Stage(name, letters, defined))

    def _free(self, stem: str, first: int = 0) -> str:
        """A name that no stage and no quantity has: E, or else E1, E2, ..."""
        taken = {*self._stages, *self._names.values()}
        names = (f"{stem}{k or ''}" for k in count(first))
        return next(name for name in names if name not in taken)

    # -- backward -----------------------------------------------------------------

    def _backward(self, output: str) -> None:
        """The gradient of every stage: what arrives from the stages that use it."""
        arrived: dict[Expr, list[Expr]] = {}

        def gradient(stage: Stage, letter: Expr | Masked, defined: dict[Expr, Expr]) -> Expr:
            total = sympy.Add(*arrived.get(letter, ()))
            if stage.name != output and total == 0:
                return total
            name = gradient_name(stage.name)
            indices = letter.indices if isinstance(letter, sympy.Indexed) else ()
            symbol = _letter(name, indices)
            if stage.name != output:
                defined[symbol] = total
            for used, partial in _partials(letter, stage.defined.get(letter, letter)):
                arrived.setdefault(used, []).append(symbol * partial)
            return symbol

        for stage in reversed([*self._stages.values()]):
            defined: dict[Expr, Expr] = {}
            letters = tuple(
                tuple(gradient(stage, letter, defined) for letter in row) for row in stage.letters
            )
            self._add(Stage(gradient_name(stage.name), letters, defined, stage.name == output))


class Sizes:
    """Sizes of SymPy's expressions, in operations, letters and numbers; long numbers, and
    exponentials of large ones, count for more: so many bits SymPy may come to work with."""

    def __init__(self) -> None:
        self._known: dict[sympy.Basic, int] = {}
        self._values: dict[sympy.Basic, Value] = {}

    def of(self, entry: sympy.Basic) -> int:
        """The size of an expression, with each part as often as it stands there."""
        if isinstance(entry, sympy.Rational):
            return 1 + (int(entry.p).bit_length() + int(entry.q).bit_length()) // _BITS
        if isinstance(entry, sympy.Indexed):
            return 1
        size = self._known.get(entry)
        if size is None:
            size = 1 + sum(map(self.of, entry.args))
            if isinstance(entry, sympy.exp) and entry.is_number:
                size += self._bits(entry.args[0]) // _BITS
            self._known[entry] = size
        return size

    def _bits(self, exponent: sympy.Basic) -> int:
        """Bits before or after the point of an exponential, where its exponent can be told."""
        try:
            ball = from_sympy(exponent, known=self._values).enclosure(FIRST)
        except (Malformed, Undecided):
            return EXPANDED.most * _BITS
        return int(min(float(ball.abs_upper()), EXPANDED.most * _BITS))


class _Letters(Scalars[Expr]):
    """SymPy's expressions as the scalars of a program; :class:`NoClosedForm` for functions of
    numbers beyond :data:`~symattn.limits.ARGUMENT`."""

    def __init__(self) -> None:
        self._sizes = Sizes()

    def _need_short(self, *items: Expr) -> None:
        for x in items:
            if x.is_number and (size := self._sizes.of(x)) > ARGUMENT.most:
                raise NoClosedForm(ARGUMENT.said(size))

    def constant(self, value: Value) -> Expr:
        return to_sympy(value)

    def total(self, items: Iterable[Expr]) -> Expr:
        return sympy.Add(*items)

    def sum_of_products(self, pairs: Iterable[tuple[Expr, Expr]]) -> Expr:
        return sympy.Add(*(sympy.Mul(x, y) for x, y in pairs))

    def negative(self, x: Expr) -> Expr:
        return -x

    def divisor(self, y: Expr) -> Expr:
        self._need_short(y)
        return sympy.Pow(y, -1)

    def quotient(self, x: Expr, divisor: Expr) -> Expr:
        return x * divisor

    def function(self, name: Elementwise, x: Expr) -> Expr:
        self._need_short(x)
        return getattr(sympy, name)(x)

    def largest(self, items: Sequence[Expr], *, to_first: bool) -> Expr:
        self._need_short(*items)
        return (FirstLargest if to_first else Largest)(*items)

    def above(self, x: Expr, y: Expr) -> Expr:
        self._need_short(x, y)
        return _above(x, y)


class Largest(sympy.Function):  # type: ignore[misc]
    """The largest of its arguments; what flows back is shared by those that are equal.

    SymPy's own ``Max`` differentiates to a half for each of two, whatever the function's
    convention, and to a half for each of three as well.
    """

    @classmethod
    def eval(cls, *items: Expr) -> Expr | None:
        """Of numbers it is one of them, where SymPy can tell which: not of log(6) - log(2) - log(3)
        and 0."""
        if not all(x.is_number for x in items):
            return None
        with suppress(ValueError):
            return sympy.Max(*items)
        return None

    def _eval_rewrite_as_Max(self, *items: Expr, **kwargs: object) -> Expr:
        return sympy.Max(*items)

    def _latex(self, printer: LatexPrinter) -> str:
        latex: str = printer.doprint(self.rewrite(sympy.Max))
        return latex

    def fdiff(self, argindex: int = 1) -> Expr:
        """The share of one argument."""
        shares = [1 - _above(sympy.Max(*self.args), x) for x in self.args]
        return sympy.Mul(shares[argindex - 1], sympy.Pow(sympy.Add(*shares), -1))


class FirstLargest(Largest):
    """The larger one of two, the first where they are equal."""

    def fdiff(self, argindex: int = 1) -> Expr:
        """1 for the one that is taken."""
        second = _above(*reversed(self.args))
        return second if argindex == 2 else 1 - second


def _above(x: Expr, y: Expr) -> Expr:
    """1 where x is the larger, else 0."""
    return sympy.Heaviside(x - y, 0)


# What a letter is: an entry of a matrix or a vector, or a number by its name.
_LETTERS = (sympy.Indexed, sympy.Symbol)


def _letter(name: str, indices: Iterable[object]) -> Expr:
    """``Q[0, 1]``, ``x[1]``; of a number ``d_k``."""
    places = tuple(indices)
    return sympy.IndexedBase(name)[places] if places else sympy.Symbol(name)


def letters_of(entry: Expr) -> Iterator[Expr]:
    """The letters of a definition, from left to right, each once."""
    seen: set[Expr] = set()
    waiting = [entry]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, _LETTERS):
            waiting += reversed(part.args)
        elif part not in seen:
            seen.add(part)
            yield part


def _partials(letter: Expr, entry: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The letters of the definition of ``letter``, each with the derivative by it.

    SymPy differentiates the form of the definition, in dummy letters: entries of one form share
    their derivatives. Where the definition itself stands in them, as with exp, the letter does.
    """
    if entry is letter:
        return
    form, letters, dummies = _form_of(entry)
    back = dict(zip([form, *dummies], [letter, *letters], strict=True))
    for used, derivative in zip(letters, _derivatives(form, len(letters)), strict=True):
        yield used, derivative.xreplace(back)


def _form_of(entry: Expr) -> tuple[Expr, list[Expr], list[Expr]]:
    """A definition with dummies for its letters, which entries of one form share; its letters,
    and the dummies."""
    letters = [*letters_of(entry)]
    dummies = [_dummy(k) for k in range(len(letters))]
    return entry.xreplace(dict(zip(letters, dummies, strict=True))), letters, dummies


@cache
def _dummy(k: int) -> sympy.Dummy:
    return sympy.Dummy(f"x{k}")


@lru_cache(maxsize=1 << 10)
def _derivatives(form: Expr, letters: int) -> tuple[Expr, ...]:
    """The derivatives of an expression by its first dummy letters. What is 1 or 0 by a comparison
    is flat; where it jumps it has no slope."""
    slopes = (sympy.diff(form, _dummy(k)) for k in range(letters))
    return tuple(x.replace(sympy.DiracDelta, lambda *_: sympy.S.Zero) for x in slopes)
