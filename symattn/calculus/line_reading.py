"""From the text of a line to what it says, entry by entry.

Matrix forms are read as entries at indices of their own, so that
``dS == A * (dA - rowsum(A * dA))`` and
``dS[i, j] == A[i, j] * (dA[i, j] - sum(l, A[i, l] * dA[i, l]))`` are the same
line. How far an index runs follows from the places where it stands.

Functions of steps are read by the signatures that steps have, and mean what their programs
compute (:mod:`symattn.calculus.functions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from functools import partial
from typing import cast

from symattn.calculus import language as term
from symattn.calculus.functions import (
    BY_ROWS,
    called,
    given,
    length_of,
    refused_hidden,
    scaled,
    sliced,
    told,
)
from symattn.calculus.language import Array, AxisPlace, Entry, Expr, Index, Number
from symattn.calculus.matrix_forms import Forms
from symattn.calculus.tensors import (
    FUNCTIONS,
    OTHERS,
    LineScope,
    ParsedLine,
    Tensor,
    before,
    constant,
    described,
    exp,
    lettered,
    letters_of,
    matched,
    minus,
    misplaced,
    plus,
    rational,
    times,
    whole,
)
from symattn.errors import Malformed, alike
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.numbers.reading import MASKED
from symattn.programs import functions as steps
from symattn.programs import nodes
from symattn.programs.nodes import Node
from symattn.programs.tables import number as number_of

# -- lines -------------------------------------------------------------------------------

UNSAYABLE: Mapping[str, str] = {
    "onehot": f"{BY_ROWS}, and write T",
    "embedding": f"{BY_ROWS}, and write T @ E",
    "heads": "write the columns of each head, Q[:, 0:2], or give heads an axis of their own: "
    "'Q: n x h x d' and Q[:, a, :]",
    "merge": "write the heads side by side: concat(Y_0, Y_1)",
}
"""Functions that can't be said for any size: why, and what to write instead."""


INFINITE = ("oo", "inf")
RESERVED = (
    *FUNCTIONS,
    *("sigmoid", "softplus", "silu", "relu", "gelu"),
    *("softmax", "logsumexp", "sum", "mean", "rowsum", "colsum", "total", "diag", "ones", "zeros"),
    "eye",
)
"""Functions of steps whose names nothing else has."""
_FEW = 8
"""A line speaks of each place by itself along axes that are no longer."""
PLAIN = ("i", "j", "k", "l")
"""Letters that are indices also where they stand as numbers only."""


def line(text: str, scope: LineScope) -> ParsedLine:
    """Return what a line says. Raises :class:`Malformed` with what is wrong, and what to write."""
    return _Reader(scope).line(syntax.written(text).tree, ("==",))


def hypothesis(text: str, scope: LineScope) -> ParsedLine:
    """Return what is assumed: an equation, ``x > y`` or ``x >= y``; raises :class:`Malformed`."""
    return _Reader(scope).line(syntax.written(text).tree, ("==", ">", ">=", "<", "<="))


def definition(key: str, text: str, scope: LineScope) -> Array:
    """The array that ``key = "text"`` defines: ``A`` in matrix form, ``A[i, j]`` by entries.

    Raises :class:`Malformed`.
    """
    head = syntax.written(key).tree
    reader = _Reader(scope)
    match head:
        case syntax.Name(name):
            params: tuple[Index, ...] | None = None
        case syntax.Cell(syntax.Name(name), places):
            params = tuple(reader.parameter(place) for place in places)
        case _:
            raise Malformed(
                f"expected a name, or a name with indices such as 'G[i, k]', found {key!r}"
            )
    if name in (*scope.known(), *RESERVED, *OTHERS, "pi"):
        raise Malformed(f"{name!r} is already in use; choose another name")
    tree = syntax.written(text).tree
    reader.letters = frozenset((*reader.free, *letters_of(tree)))
    tensor = reader.scores(tree)
    if params is None:
        if tensor.keep is not None:
            scope.hidden[name] = tensor.keep
        if tensor.is_row:
            scope.rows.add(name)
        params = tuple(Index(letter, axis) for letter, axis in lettered(tensor.axes))
        at = tuple(map(AxisPlace, params))
        body = tensor.entry(at)
        if isinstance(body, Entry) and "." in body.array.name and body.at == at:
            # What stood for itself has its name now.
            assert body.array.body is not None
            params, body = body.array.params, body.array.body
    else:
        if tensor.axes:
            raise Malformed("expected a number for each entry, found a matrix")
        refused_hidden(tensor)
        body = tensor.entry(())
    reader.settle([index for index in reader.free.values() if index not in params])
    axes = tuple(index.size for index in params)
    return Array(name, axes, params, body, uses=term.arrays(body), along=tuple(reader.laid))


class _Reader(Forms):
    """Reads one text: its indices, and how far they run."""

    # -- lines -----------------------------------------------------------------

    def line(self, tree: Tree, relations: tuple[str, ...]) -> ParsedLine:
        match tree:
            case syntax.Comparison(operands, (relation, *rest)) if set(rest) <= {relation}:
                pass
            case _:
                raise Malformed("expected two sides with '==' between them")
        if relation not in relations or (relation != "==" and len(operands) > 2):
            raise Malformed("expected '==' between the sides of a line")
        if relation in ("<", "<="):
            operands, relation = operands[::-1], relation.replace("<", ">")
        self.letters = frozenset(letters_of(tree))
        tensors = [self.tensor(side) for side in operands]
        whole = tensors[0]
        for tensor in tensors[1:]:
            whole = self.pairwise(whole, tensor, lambda x, _: x, "the sides")
        words = {1: ["entry"], 2: ["row", "column"]}.get(len(whole.axes))
        words = words or [f"axis{place}" for place in range(1, len(whole.axes) + 1)]
        own = [Index(word, axis) for word, axis in zip(words, whole.axes, strict=True)]
        at = tuple(map(AxisPlace, own))
        spread = [x.repeated(whole.axes, matched(x.axes, whole.axes)) for x in tensors]
        picked = [
            range(axis) if isinstance(axis, int) and axis <= _FEW else slice(None)
            for axis in whole.axes
        ]
        sides = tuple(told(picked, at, (), tensor.entry) for tensor in spread)
        self.settle([])
        return ParsedLine(sides, (*self.free.values(), *own), relation, tuple(self.laid))

    # -- values ----------------------------------------------------------------

    def number(self, tree: Tree) -> Expr:
        tensor = self.tensor(tree)
        if tensor.axes:
            raise Malformed(f"expected a number, found {described(tensor.axes)}")
        return tensor.entry(())

    def tensor(self, tree: Tree) -> Tensor:
        return refused_hidden(self.scores(tree))

    def scores(self, tree: Tree) -> Tensor:
        match tree:
            case syntax.Literal(text):
                return constant(Number(Fraction(text)))
            case syntax.Name(name):
                return self._named(name)
            case syntax.Negative(operand):
                negated = self.tensor(operand)
                return replace(negated, entry=lambda at: term.Neg(negated.entry(at)))
            case syntax.Binary("@", left, right):
                return self.product(self.tensor(left), self.tensor(right))
            case syntax.Binary("*" | "/" as op, left, right):
                return scaled(self, self.scores(left), self.scores(right), op)
            case syntax.Binary("+", left, right):
                return self.pairwise(self.scores(left), self.scores(right), plus, "'+'")
            case syntax.Binary(op, left, right):
                return self.pairwise(self.scores(left), self.tensor(right), minus, f"'{op}'")
            case syntax.Power(base, exponent):
                return self._power(self.tensor(base), exponent)
            case syntax.Transposed(operand):
                inner = self.scores(operand)
                if not inner.axes and isinstance(operand, syntax.Cell):
                    raise Malformed("an entry has no transpose: write the entry of one, X.T[i, j]")
                is_column = len(inner.axes) == 1 or inner.axes[1:] == (1,)
                return replace(self.transposed(inner), is_row=is_column)
            case syntax.Cell(operand, places):
                return self._cell(operand, places)
            case syntax.Call():
                return self._call(tree)
            case syntax.Gradient(of):
                raise Malformed(
                    f"write diff(L, {of}), and which quantity the loss L is a function of"
                    ' under [losses], such as L = "Y"'
                )
            case syntax.Comparison():
                raise Malformed(
                    "expected a value, found a comparison: step(j <= i) is 1 where it holds"
                )
        raise Malformed("expected a value")

    def _named(self, name: str) -> Tensor:
        if name in self.bound:
            return constant(term.Position(self.bound[name]))
        if name in self.scope.arrays:
            array = whole(self.scope.arrays[name])
            is_row = name in self.scope.rows
            return replace(array, keep=self.scope.hidden.get(name), is_row=is_row)
        if name in self.scope.sizes:
            return constant(term.Size(name))
        if name in self.scope.permutations:
            raise Malformed(f"{name} is a permutation: write where it sends an index, {name}[i]")
        if name == "pi":
            return constant(term.Constant("pi"))
        # Where there is one size only, it is clear how far a plain index runs.
        alone = name in PLAIN and len(self.scope.sizes) == 1
        if name in self.letters or alone:
            return constant(term.Position(self.free.get(name) or self.index(name, self.free)))
        close = get_close_matches(name, self.scope.known(), n=1)
        hint = f"did you mean {close[0]}?" if close else self.scope.advice
        raise Malformed(f"unknown name {name!r}; {hint}")

    def _power(self, base: Tensor, exponent: Tree) -> Tensor:
        fixed = rational(exponent)
        if len(base.axes) == 2 and base.axes[0] == base.axes[1] != 1 and fixed != 1:
            raise Malformed(
                f"a power of {described(base.axes)} may be one of matrices, or entry by entry:"
                " write A @ A for the one, A * A for the other, or A[i, j]**2"
            )
        if fixed is not None:
            return replace(base, entry=lambda at: term.Power(base.entry(at), fixed))

        def raised(x: Expr, y: Expr) -> Expr:
            return exp(times(y, term.Apply("log", x)))

        return self.pairwise(base, self.tensor(exponent), raised, "'**'")

    def _cell(self, operand: Tree, places: tuple[Tree, ...]) -> Tensor:
        if isinstance(operand, syntax.Name) and operand.name in self.scope.permutations:
            raise Malformed(
                f"{operand.name}[...] is a place: write it in brackets, x[{operand.name}[i]]"
            )
        tensor = self.scores(operand)
        name = operand.name if isinstance(operand, syntax.Name) else "what is before the bracket"
        if len(places) != len(tensor.axes):
            raise Malformed(misplaced(name, len(tensor.axes), len(places)))
        keys = [key if isinstance(key, syntax.Slice) else self.place(key) for key in places]
        for key, axis in zip(keys, tensor.axes, strict=True):
            if isinstance(key, AxisPlace):
                self.along(key, axis, name)
        return sliced(tensor, keys, name)

    # -- functions -------------------------------------------------------------

    def _call(self, call: syntax.Call) -> Tensor:
        name, arguments = call.function, call.arguments
        if name in ("sum", "mean") and self._has_letters(call):
            if call.options:
                raise Malformed(f"{name} over an index has no options")
            return self._sum(name, arguments)
        if name in UNSAYABLE or name in {**steps.ALIASES, **steps.FUNCTIONS}:
            return self.step_call(call)
        if call.options:
            raise Malformed(f"{name} has no options")
        if name in ("delta", "step"):
            return self._indicator(name, arguments)
        if name == "diff":
            return self._derivative(arguments)
        if name == "limit":
            return self._limit(arguments)
        if name == "operations":
            return self._operations(arguments)
        if name in OTHERS:
            if len(arguments) != 1:
                raise Malformed(f"{name} takes one argument, found {len(arguments)}")
            return self.reduced(name, self.tensor(arguments[0]))
        every = [*(each for each in steps.FUNCTIONS if each not in UNSAYABLE), *OTHERS]
        hint = alike(name, every) or f"there are {', '.join(every)}"
        raise Malformed(f"there is no function {name!r}; {hint}")

    def _has_letters(self, call: syntax.Call) -> bool:
        """Return whether a sum is over indices, not of all entries or along an axis."""
        match call.arguments:
            case (syntax.Name(name), syntax.Literal() | syntax.Negative()):
                return name not in self.scope.arrays
            case (_, syntax.Literal() | syntax.Negative()) | (_,):
                return False
        return bool(call.arguments)

    def _sum(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        first, *rest, body = arguments
        if not isinstance(first, syntax.Name):
            raise Malformed(f"{name} takes indices before what is summed, as in {name}(j, x[j])")
        array = self.scope.arrays.get(first.name)
        if array is not None and not (array.axes and first.name in letters_of(body)):
            raise Malformed(f"{name}: {first.name} is given, expected an index such as j")
        if first.name in self.scope.sizes:
            raise Malformed(f"{name}: {first.name} is a size, expected an index such as j")
        with self.binding(first.name) as index:
            inner = self._sum(name, (*rest, body)) if rest else self.tensor(body)

        def entry(at: tuple[AxisPlace, ...]) -> Expr:
            total: Expr = term.Sum(index, inner.entry(at))
            return term.Div(total, term.Size(index)) if name == "mean" else total

        return Tensor(inner.axes, entry)

    def _indicator(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        build: Callable[[AxisPlace, AxisPlace], Expr] = term.Delta
        match name, arguments:
            case "delta", (left, right):
                first, second = self.place(left), self.place(right)
            case "step", (syntax.Comparison((left, right), (relation,)),) if relation != "==":
                if relation in (">", ">="):
                    left, right, relation = right, left, relation.replace(">", "<")
                if not self._are_places(left, right):
                    return self._step_of_values(left, right, relation)
                first, second = self.place(left), self.place(right)
                build = term.AtMost if relation == "<=" else before
            case "delta", _:
                raise Malformed("delta takes two places, as in delta(i, j)")
            case _:
                raise Malformed("step takes a comparison of two places, as in step(j <= i)")
        self.meet(first, second, name)
        return Tensor((), lambda _: build(first, second))

    def _are_places(self, *sides: Tree) -> bool:
        arrays = self.scope.arrays.keys() - self.bound.keys()
        parts = [part for side in sides for part in syntax.walk(side)]
        return not any(
            isinstance(part, syntax.Call) or (isinstance(part, syntax.Name) and part.name in arrays)
            for part in parts
        )

    def _step_of_values(self, left: Tree, right: Tree, relation: str) -> Tensor:
        if relation == "<=":
            raise Malformed("step of values is 1 where one is below the other: write step(x < y)")
        return self.pairwise(
            self.tensor(right),
            self.tensor(left),
            lambda x, y: term.Apply("positive", plus(x, term.Neg(y))),
            "step",
        )

    def _derivative(self, arguments: tuple[Tree, ...]) -> Tensor:
        match arguments:
            case (of, syntax.Name(name)):
                places: tuple[Tree, ...] | None = None
            case (of, syntax.Cell(syntax.Name(name), indices)):
                places = indices
            case _:
                raise Malformed(
                    "diff takes what is differentiated and an entry, as in diff(A[i], S[k])"
                )
        if name not in self.scope.arrays:
            raise Malformed(f"diff: {name!r} is neither given nor defined")
        array, body = self.scope.arrays[name], self.tensor(of)
        self._need_built(body, array)
        if places is not None:
            at = tuple(map(self.place, places))
            if len(at) != len(array.axes):
                raise Malformed(misplaced(name, len(array.axes), len(at)))
            for place, axis in zip(at, array.axes, strict=True):
                self.along(place, axis, name)
            return Tensor(body.axes, lambda here: term.Partial(body.entry(here), array, at))
        own = len(body.axes)
        return Tensor(
            (*body.axes, *array.axes),
            lambda here: term.Partial(body.entry(here[:own]), array, here[own:]),
        )

    def _need_built(self, body: Tensor, array: Array) -> None:
        """Check that what is differentiated by a definition is built of it, or shares none."""
        if array.body is None:
            return
        params = tuple(AxisPlace(Index(letter, axis)) for letter, axis in lettered(body.axes))
        named = term.arrays(body.entry(params))
        if array not in named and (shared := named & array.uses):
            names = ", ".join(sorted(each.name for each in shared if "." not in each.name))
            raise Malformed(
                f"diff by {array.name} of what is not built of it: both depend on {names}; what is"
                " to vary must be given, or stand in what is differentiated"
            )

    def _limit(self, arguments: tuple[Tree, ...]) -> Tensor:
        match arguments:
            case (syntax.Name(name), target, body) if name in self.scope.arrays:
                variable = self.scope.arrays[name]
            case _:
                raise Malformed(
                    "limit takes a given number, where it goes, and what tends: limit(x, 0, ...)"
                )
        if variable.axes or variable.body is not None:
            raise Malformed(f"limit: expected a given number, found {name}")
        goal: Fraction | str | None
        match target:
            case syntax.Name(word) if word in INFINITE:
                goal = "oo"
            case syntax.Negative(syntax.Name(word)) if word in INFINITE:
                goal = "-oo"
            case _:
                goal = rational(target)
        if goal is None:
            raise Malformed("limit: expected a number, oo or -oo as where it goes")
        inner = self.tensor(body)
        return Tensor(
            inner.axes,
            lambda at: term.Limit(inner.entry(at), variable, cast("Fraction", goal)),
        )

    def _operations(self, arguments: tuple[Tree, ...]) -> Tensor:
        arrays = []
        for argument in arguments:
            if not isinstance(argument, syntax.Name) or argument.name not in self.scope.arrays:
                raise Malformed("operations takes the names of what is defined")
            array = self.scope.arrays[argument.name]
            if array.body is None:
                raise Malformed(f"operations: {argument.name} is given, not computed")
            arrays.append(array)
        return constant(term.Operations(tuple(arrays)))

    # -- functions of steps --------------------------------------------------------------

    def step_call(self, call: syntax.Call) -> Tensor:
        """Return what a function of steps gives."""
        name = steps.ALIASES.get(call.function, call.function)
        if name in UNSAYABLE:
            raise Malformed(f"{call.function}: {UNSAYABLE[name]}")
        function = steps.FUNCTIONS[name]
        if name in ("max", "min") and len(call.arguments) > 1:
            raise Malformed(
                f"{name}: write axis={syntax.text(call.arguments[1])} for an axis; the larger of"
                " two numbers is maximum(x, y), the smaller minimum(x, y)"
            )
        known: dict[int, Tensor] = {}
        lower = partial(self._lowered, known, name)
        parts = [*map(lower, call.arguments)] if function.takes_parts else []
        return called(self, function, parts, function.read(call, lower), known)

    def _lowered(self, known: dict[int, Tensor], function: str, tree: Tree) -> Node:
        """Return an argument as a node: a number, a size, or something that is ``known``."""
        lower = partial(self._lowered, known, function)
        match tree:
            case syntax.Literal(text) if text.isdigit():
                return number_of(int(text))
            case syntax.Negative(syntax.Literal(text)) if text.isdigit():
                return nodes.negate(number_of(int(text)))
            case syntax.Negative(syntax.Name("inf")):
                return nodes.table(((MASKED,),), ())
            case syntax.Name(name) if name in self.scope.sizes and name not in self.bound:
                return number_of(length_of(name))
            case syntax.Call("rows" | "cols" as side, (of,), ()) if axes := self.scores(of).axes:
                return number_of(length_of(axes[0 if side == "rows" else -1]))
            case syntax.Comparison((left, right), (sign,)) if function in ("mask", "where"):
                sides = {"x": lower(left), "y": lower(right)}
                return given(called(self, steps.COMPARISONS[sign], (), sides, known), known)
            case syntax.Comparison() if function in ("mask", "where"):
                raise Malformed("expected one comparison, such as X > 0")
        return given(self.scores(tree), known)
