"""A program in SymPy's letters, stage by stage, and its derivatives by SymPy.

Every step is a matrix of letters, each defined by a small expression in letters
of earlier stages; a softmax is written in three: exponentials E, the sum Z of
each row, their quotient. SymPy differentiates these small expressions, and the
chain rule puts the derivatives together, from the output back. The expanded
attention expression never occurs, nor does SymPy's matrix calculus, which loses
terms of a softmax, nor a rule of :mod:`symattn.programs.program`: what comes
out is compared with those.

Which keys a query sees: masks, causal order, windows and lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, count
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import sympy
from sympy.printing.latex import LatexPrinter

from symattn.cases.case import Rows
from symattn.errors import Faults, Malformed, expected
from symattn.numbers.arrays import FloatEntries, as_array
from symattn.numbers.reading import MASKED, Masked, read
from symattn.numbers.sympy_bridge import to_sympy
from symattn.numbers.values import ONE, ZERO, Value, compare
from symattn.programs import entrywise, nodes
from symattn.programs.entrywise import Entrywise, Keeps, LazyGrid
from symattn.programs.nodes import ELEMENTWISE, Elementwise, Node, ancestors
from symattn.programs.program import Program
from symattn.shapes import Shape, keys, show
from symattn.syntax import gradient_name
from symattn.verdicts import Verdict

Expr: TypeAlias = sympy.Expr

#: Operations that only move entries about: no stage of its own without a name.
_MOVING = ("copy", "reshape", "transpose", "negate", "hide", "concat", "pick")
#: What a softmax is written in: exponentials, and their sums over rows.
POWERS, SUMS = "E", "Z"


@dataclass(frozen=True, eq=False)
class Stage:
    """A matrix of letters, and what each of them stands for.

    ``letters`` are the rows of its grid: letters, numbers that need none, and
    HIDDEN for masked scores. ``defined`` gives each in letters of earlier
    stages, unless the stage ``is_given``.
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
            for node in ancestors([program.quantities[name]], stop=self._is_known):
                operands = [self._grids[operand.serial] for operand in node.operands]
                self._grids[node.serial] = self._forward(node, operands, name)
        outputs = self._stages[output].letters if output else ()
        self.has_gradients = bool(outputs) and MASKED not in chain.from_iterable(outputs)
        if self.has_gradients:
            self._backward(output)

    def __getitem__(self, name: str) -> Stage:
        return self._stages[name]

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

    def _is_known(self, node: Node) -> bool:
        return node.serial in self._grids

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


class _Letters:
    """SymPy's expressions as the scalars of a program."""

    def constant(self, value: Value) -> Expr:
        return to_sympy(value)

    def total(self, items: Iterable[Expr]) -> Expr:
        return sympy.Add(*items)

    def sum_of_products(self, pairs: Iterable[tuple[Expr, Expr]]) -> Expr:
        return sympy.Add(*(sympy.Mul(x, y) for x, y in pairs))

    def negative(self, x: Expr) -> Expr:
        return -x

    def divisor(self, y: Expr) -> Expr:
        return sympy.Pow(y, -1)

    def quotient(self, x: Expr, divisor: Expr) -> Expr:
        return x * divisor

    def function(self, name: Elementwise, x: Expr) -> Expr:
        return getattr(sympy, name)(x)

    def largest(self, items: Sequence[Expr], *, to_first: bool) -> Expr:
        return (FirstLargest if to_first else Largest)(*items)

    def above(self, x: Expr, y: Expr) -> Expr:
        return _above(x, y)

    def is_positive(self, x: Expr) -> bool:
        # What scales a masked score: of the case's numbers that was found out before.
        return True


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

    SymPy differentiates the form of the definition, in dummy letters: entries of
    one form share their derivatives. Where the definition itself stands in
    them, as with exp, the letter does.
    """
    if entry is letter:
        return
    letters = [*letters_of(entry)]
    dummies = [_dummy(k) for k in range(len(letters))]
    form = entry.xreplace(dict(zip(letters, dummies, strict=True)))
    back = dict(zip([form, *dummies], [letter, *letters], strict=True))
    for used, derivative in zip(letters, _derivatives(form, len(letters)), strict=True):
        yield used, derivative.xreplace(back)


@cache
def _dummy(k: int) -> sympy.Dummy:
    return sympy.Dummy(f"x{k}")


@lru_cache(maxsize=1 << 10)
def _derivatives(form: Expr, letters: int) -> tuple[Expr, ...]:
    """The derivatives of an expression by its first dummy letters."""
    return tuple(_flat(sympy.diff(form, _dummy(k))) for k in range(letters))


def _flat(derivative: Expr) -> Expr:
    """What is 1 or 0 by a comparison is flat; where it jumps it has no slope."""
    return derivative.replace(sympy.DiracDelta, lambda *_: sympy.S.Zero)


#: Which positions queries have among the keys: the first ones, or the last.
Alignment = Literal["top-left", "bottom-right"]
_ALIGNMENTS: tuple[Alignment, ...] = get_args(Alignment)

Seen = npt.NDArray[np.bool_]


def seen(
    lead: Shape,
    n_q: int,
    n_k: int,
    mask: object = None,
    causal: Alignment | bool | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    lengths: object = None,
) -> Seen | None:
    """Whether each query sees each key, lead x n_q x n_k; None where all see all. The options
    are those of :func:`symattn.solution.attention.attention`.

    Raises :class:`Malformed` for a mask or lengths of another shape, and for what is
    neither a mask nor an order.

    >>> seen((), 2, 3, causal="bottom-right").astype(int).tolist()
    [[1, 1, 0], [1, 1, 1]]
    >>> seen((), 3, 3, window=(1, 0)).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """
    parts = [
        _masked(mask, lead, n_q, n_k),
        _ordered(causal, window, n_q, n_k),
        _within(lengths, lead, n_k),
    ]
    if all(part is None for part in parts):
        return None
    whole = np.ones((*lead, n_q, n_k), dtype=bool)
    for part in parts:
        whole &= True if part is None else part
    return whole


def _masked(mask: object, lead: Shape, n_q: int, n_k: int) -> Seen | None:
    if mask is None:
        return None
    array = mask.array if isinstance(mask, FloatEntries) else as_array(mask)
    if array is None:
        array = _plain(mask)
    if array.ndim < 2 or array.shape[-2:] != (n_q, n_k):
        raise Malformed(
            f"mask: expected {show((n_q, n_k))}, or that along leading axes, found "
            f"{show(array.shape)}: keys that are padding are told by lengths"
        )
    try:
        np.broadcast_to(array, (*lead, n_q, n_k))
    except ValueError:
        raise Malformed(
            f"mask: expected leading axes that fit those of Q, found {show(array.shape)}"
        ) from None
    if array.dtype == bool or (array.dtype.kind in "iu" and np.isin(array, (0, 1)).all()):
        return np.asarray(array, dtype=bool)
    if array.dtype.kind == "f" and ((array == 0) | np.isneginf(array)).all():
        return np.asarray(array == 0)
    raise Malformed(
        "mask: expected booleans, or 1 (keep) and 0 (hide) as integers, or 0 and -inf as floats "
        "that are added; other numbers that are added to scores are a bias"
    )


def _plain(mask: Any) -> npt.NDArray[Any]:
    """A mask in lists, or of an exact package: 1 and 0, or 0 and -inf as text."""
    nested = mask.tolist() if hasattr(mask, "tolist") else mask
    try:
        array = np.array(nested, dtype=object)
    except ValueError:
        raise Malformed("mask: expected rows of one length") from None
    if any(isinstance(entry, list | tuple) for entry in array.ravel()):
        raise Malformed("mask: expected rows of one length")
    texts = {str(entry) for entry in array.ravel()}
    if texts <= {"0", "0.0", "-inf"} and "-inf" in texts:
        return ~np.isin(array.astype(str), ("-inf",))
    if texts <= {"True", "False", "0", "1"}:
        return np.isin(array.astype(str), ("1", "True"))
    faults = Faults()
    kept = np.zeros(array.shape, dtype=bool)
    for place, entry in np.ndenumerate(array):
        with faults.inside("mask" + "".join(f"[{k}]" for k in place)):
            kept[place] = _keeps(entry)
    faults.raise_all()
    return kept


def _keeps(entry: object) -> bool:
    """Whether an exact number is 1, not 0."""
    value = read(entry)
    for whole in (ZERO, ONE):
        if compare(value, whole) is Verdict.HOLDS:
            return whole is ONE
    raise Malformed(f"a mask holds 0 (hide) and 1 (keep), found {value}")


def _ordered(alignment: Alignment | bool | None, window: object, n_q: int, n_k: int) -> Seen | None:
    """The causal order and the window, by positions of the queries among the keys."""
    if alignment in (None, False) and window is None:
        return None
    if alignment is True:
        if n_q != n_k:
            raise Malformed(
                f"causal: {n_q} queries and {n_k} keys can be aligned in two ways: write "
                'causal="top-left" or, as in a decoder step, causal="bottom-right"'
            )
        alignment = "top-left"
    if alignment not in (None, False, *_ALIGNMENTS):
        raise Malformed(
            f"causal: unknown order {alignment!r}: {expected(str(alignment), _ALIGNMENTS)}"
        )
    shift = 0 if alignment == "top-left" else n_k - n_q
    ahead = np.arange(n_k)[None, :] - (np.arange(n_q)[:, None] + shift)
    left, right = _window(window)
    if alignment:
        right = 0 if right is None else min(right, 0)
    kept = np.ones((n_q, n_k), dtype=bool)
    if left is not None:
        kept &= ahead >= -left
    if right is not None:
        kept &= ahead <= right
    return kept


def _window(window: object) -> tuple[int | None, int | None]:
    if window is None:
        return None, None
    pair = (window, window) if isinstance(window, int) else window
    if (
        not isinstance(pair, tuple | list)
        or len(pair) != 2
        or any(not (side is None or (isinstance(side, int) and side >= 0)) for side in pair)
    ):
        raise Malformed(
            f"window: expected how many keys to the left and to the right are seen, as in "
            f"window=(2, 0), None for all; found {window!r}"
        )
    return pair[0], pair[1]


def _within(lengths: object, lead: Shape, n_k: int) -> Seen | None:
    """Keys before the length of each sequence: of the first leading axes."""
    if lengths is None:
        return None
    counts = np.asarray(lengths)
    if counts.dtype.kind not in "iu" or not ((counts >= 0) & (counts <= n_k)).all():
        raise Malformed(f"lengths: expected whole numbers from 0 to {n_k}, found {lengths!r}")
    if counts.shape != lead[: counts.ndim]:
        wanted = f"a number, or numbers along the leading axes {show(lead)}"
        raise Malformed(f"lengths: expected {wanted}, found {show(counts.shape)}")
    wide = counts.reshape(*counts.shape, *([1] * (len(lead) - counts.ndim)), 1, 1)
    kept: Seen = np.arange(n_k) < wide
    return kept
