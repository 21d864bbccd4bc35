"""From the text of a line to what it says, entry by entry.

Matrix forms are read as entries at indices of their own, so that
``dS == A * (dA - rowsum(A * dA))`` and
``dS[i, j] == A[i, j] * (dA[i, j] - sum(l, A[i, l] * dA[i, l]))`` are the same
line. How far an index runs follows from the places where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from typing import cast

from symattn import syntax
from symattn.calculus import language as term
from symattn.calculus.language import Array, Axis, Entry, Expr, Index, Number, Place
from symattn.errors import Malformed
from symattn.syntax import Tree

FUNCTIONS: Mapping[str, Callable[[Expr], Expr]] = {
    "exp": lambda x: term.Apply("exp", x),
    "log": lambda x: term.Apply("log", x),
    "sin": lambda x: term.Apply("sin", x),
    "cos": lambda x: term.Apply("cos", x),
    "erf": lambda x: term.Apply("erf", x),
    "sqrt": lambda x: term.Power(x, Fraction(1, 2)),
    "sigmoid": lambda x: term.Div(term.ONE, term.Add((term.ONE, _exp(term.Neg(x))))),
    "tanh": lambda x: _tanh(x),
    "softplus": lambda x: term.Apply("log", term.Add((term.ONE, _exp(x)))),
    "silu": lambda x: term.Div(x, term.Add((term.ONE, _exp(term.Neg(x))))),
    "relu": lambda x: term.Mul((x, term.Apply("positive", x))),
    "gelu": lambda x: _gelu(x),
}
"""Functions of one number, which work entry by entry."""

ROWWISE = ("softmax", "logsumexp")
OTHERS = (
    *("sum", "mean", "delta", "step", "diff", "limit", "expect", "operations", "rowsum"),
    *("colsum", "total", "diag", "ones", "zeros", "eye", "trace"),
)
INFINITE = ("oo", "inf")
PLAIN = ("i", "j", "k", "l")
"""Letters that are indices also where they stand as numbers only."""
_ALPHABET = "ijklabcdefgh"
FARTHEST = 1000
"""Numbers as places are at most so large."""


def _exp(x: Expr) -> Expr:
    return term.Apply("exp", x)


def _tanh(x: Expr) -> Expr:
    twice = _exp(term.Mul((Number(Fraction(2)), x)))
    return term.Div(term.Add((twice, term.Neg(term.ONE))), term.Add((twice, term.ONE)))


def _gelu(x: Expr) -> Expr:
    half = term.Power(Number(Fraction(2)), Fraction(-1, 2))
    inner = term.Add((term.ONE, term.Apply("erf", term.Mul((x, half)))))
    return term.Mul((Number(Fraction(1, 2)), x, inner))


@dataclass(frozen=True)
class Tensor:
    """A number for every place along some axes; ``letters`` are the indices it depends on."""

    axes: tuple[Axis, ...]
    entry: Callable[[tuple[Place, ...]], Expr]
    letters: bool = False


@dataclass
class Scope:
    """The names that lines may use."""

    sizes: Sequence[str] = ()
    arrays: dict[str, Array] = field(default_factory=dict)
    permutations: Mapping[str, Axis] = field(default_factory=dict)
    unnamed: int = 0
    """So many parts of lines stand for themselves without a name."""

    def known(self) -> list[str]:
        """All names with a meaning."""
        return [*self.sizes, *self.arrays, *self.permutations]


@dataclass(frozen=True)
class Line:
    """The sides of ``a == b == ...`` at the same free indices; of a hypothesis such as
    ``x > 0`` the one that is larger comes first."""

    sides: tuple[Expr, ...]
    free: tuple[Index, ...]
    relation: str = "=="


def line(text: str, scope: Scope) -> Line:
    """What a line says. Raises :class:`Malformed` with what is wrong, and what to write."""
    return _Reader(scope).line(syntax.parse(text, letters=True), ("==",))


def hypothesis(text: str, scope: Scope) -> Line:
    """What is assumed: an equation, or ``x > y`` or ``x >= y``. Raises :class:`Malformed`."""
    return _Reader(scope).line(syntax.parse(text, letters=True), ("==", ">", ">=", "<", "<="))


def definition(key: str, text: str, scope: Scope) -> Array:
    """The array that ``key = "text"`` defines: ``A`` in matrix form, ``A[i, j]`` by entries.

    Raises :class:`Malformed`.
    """
    head = syntax.parse(key, letters=True)
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
    taken = [*scope.known(), *FUNCTIONS, *ROWWISE, *OTHERS, "pi"]
    if name in taken:
        raise Malformed(f"{name!r} has a meaning already; choose another name")
    tree = syntax.parse(text, letters=True)
    reader.letters = frozenset((*reader.free, *_letters(tree)))
    found = reader.tensor(tree)
    if params is None:
        params = tuple(Index(letter, axis) for letter, axis in _lettered(found.axes))
        body = found.entry(tuple(map(Place, params)))
        if isinstance(body, Entry) and "." in body.array.name and body.array.body is not None:
            # What stood for itself has its name now.
            params, body = body.array.params, body.array.body
    else:
        if found.axes:
            raise Malformed("expected a number for each entry, found a matrix")
        body = found.entry(())
    reader.settle([index for index in reader.free.values() if index not in params])
    axes = tuple(index.size for index in params)
    return Array(name, axes, params, body, uses=term.arrays(body))


class _Reader:
    """Reads one text: its indices, and how far they run."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.free: dict[str, Index] = {}
        self.bound: dict[str, Index] = {}
        self.letters: frozenset[str] = frozenset()
        self._every: list[Index] = []
        self._same: dict[Index, Index] = {}

    # -- lines -----------------------------------------------------------------

    def line(self, tree: Tree, relations: tuple[str, ...]) -> Line:
        match tree:
            case syntax.Comparison(operands, (relation, *rest)) if set(rest) <= {relation}:
                pass
            case _:
                raise Malformed("expected two sides with '==' between them")
        if relation not in relations or (relation != "==" and len(operands) > 2):
            raise Malformed("expected '==' between the sides of a line")
        if relation in ("<", "<="):
            operands, relation = operands[::-1], relation.replace("<", ">")
        self.letters = frozenset(_letters(tree))
        tensors = [self.tensor(side) for side in operands]
        whole = tensors[0]
        for one in tensors[1:]:
            whole = self.pairwise(whole, one, lambda x, _: x, "the sides")
        words = {1: ["entry"], 2: ["row", "column"]}.get(len(whole.axes))
        words = words or [f"axis{place}" for place in range(1, len(whole.axes) + 1)]
        own = [Index(word, axis) for word, axis in zip(words, whole.axes, strict=True)]
        at = tuple(map(Place, own))
        sides = tuple(self._spread(one, whole.axes)(at) for one in tensors)
        self.settle([])
        return Line(sides, (*self.free.values(), *own), relation)

    def _spread(
        self, tensor: Tensor, axes: tuple[Axis, ...]
    ) -> Callable[[tuple[Place, ...]], Expr]:
        """The entries of a tensor repeated along the axes of a larger one."""
        kept = _matched(tensor.axes, axes)

        def entry(at: tuple[Place, ...]) -> Expr:
            return tensor.entry(
                tuple(
                    Place(offset=1) if axis == 1 else at[where]
                    for axis, where in zip(tensor.axes, kept, strict=True)
                )
            )

        return entry

    def settle(self, unwanted: Sequence[Index]) -> None:
        """Tell every index how far it runs."""
        for index in unwanted:
            raise Malformed(
                f"the index {index.name} is not bound: it stands in no sum and not on the left"
            )
        for index in self._every:
            root = self._root(index)
            if not root.size and len(self.scope.sizes) == 1:
                root.size = self.scope.sizes[0]
            if not root.size:
                raise Malformed(
                    f"nothing says how far the index {index.name} runs: no array has it as a place"
                )
            index.size = root.size

    def parameter(self, place: Tree) -> Index:
        if not isinstance(place, syntax.Name) or place.name in self.free:
            raise Malformed("expected different letters as indices of what is defined")
        return self._index(place.name, self.free)

    # -- indices ---------------------------------------------------------------

    def _index(self, name: str, among: dict[str, Index]) -> Index:
        found = Index(name)
        self._every.append(found)
        among[name] = found
        return found

    def _root(self, index: Index) -> Index:
        while index in self._same:
            index = self._same[index]
        return index

    def _runs(self, index: Index, axis: Axis, where: str) -> None:
        root = self._root(index)
        if not root.size:
            root.size = axis
        elif root.size != axis:
            raise Malformed(
                f"the index {index.name} runs to {root.size} elsewhere, but to {axis} in {where}"
            )

    def _alike(self, first: Index, second: Index, where: str) -> None:
        one, other = self._root(first), self._root(second)
        if one is other:
            return
        if one.size and other.size:
            self._runs(first, other.size, where)
        if not one.size:
            one, other = other, one
        self._same[other] = one

    @contextmanager
    def _binding(self, name: str) -> Iterator[Index]:
        outer = self.bound.get(name)
        found = self._index(name, self.bound)
        try:
            yield found
        finally:
            if outer is None:
                del self.bound[name]
            else:
                self.bound[name] = outer

    def place(self, tree: Tree) -> Place:
        """A place in brackets: an index, a number, a size, these with a number added."""
        match tree:
            case syntax.Name(name):
                if name not in self.bound and name in self.scope.sizes:
                    return Place(size=name)
                if name in self.scope.permutations:
                    raise Malformed(
                        f"{name} is a permutation: write where it sends an index, {name}[i]"
                    )
                if index := self.bound.get(name) or self.free.get(name):
                    return Place(index)
                return Place(self._index(name, self.free))
            case syntax.Literal(text) if text.isdigit():
                return Place(offset=_within(int(text)))
            case syntax.Binary("+" | "-" as op, left, syntax.Literal(text)) if text.isdigit():
                inner = self.place(left)
                if inner.images:
                    raise Malformed("nothing can be added to where a permutation sends an index")
                step = int(text) if op == "+" else -int(text)
                return Place(inner.index, inner.size, _within(inner.offset + step))
            case syntax.Binary("+", syntax.Literal(_) as left, right):
                return self.place(syntax.Binary("+", right, left))
            case syntax.Cell(syntax.Name(name), (inside,)) if name in self.scope.permutations:
                inner = self.place(inside)
                self._along(inner, self.scope.permutations[name], f"{name}[...]")
                return Place(inner.index, inner.size, inner.offset, (*inner.images, name))
        raise Malformed("expected an index, a number or a size as a place")

    def _along(self, place: Place, axis: Axis, where: str) -> None:
        """See to it that a place lies along an axis."""
        if place.images and self.scope.permutations[place.images[-1]] != axis:
            raise Malformed(f"{place.images[-1]} does not permute an axis of {where}")
        if place.index:
            self._runs(place.index, axis, where)
        elif place.size and place.size != axis:
            raise Malformed(f"{where} ends at {axis}, not at {place.size}")
        elif not place.size and isinstance(axis, int) and place.offset > axis:
            raise Malformed(f"{where} ends at {axis}, found the place {place.offset}")
        elif not place.size and place.offset < 1:
            raise Malformed(f"{where}: places are counted from 1, found {place.offset}")

    def _meet(self, first: Place, second: Place, where: str) -> None:
        """Two places of one axis."""
        if first.index and second.index:
            self._alike(first.index, second.index, where)
        for one, other in ((first, second), (second, first)):
            if one.index and other.size:
                self._runs(one.index, other.size, where)

    # -- values ----------------------------------------------------------------

    def number(self, tree: Tree) -> Expr:
        found = self.tensor(tree)
        if found.axes:
            raise Malformed(f"expected a number, found {_shown(found.axes)}")
        return found.entry(())

    def tensor(self, tree: Tree) -> Tensor:
        match tree:
            case syntax.Literal(text):
                return _number(Number(Fraction(text)))
            case syntax.Name(name):
                return self._named(name)
            case syntax.Negative(operand):
                return self._each(operand, term.Neg)
            case syntax.Binary("@", left, right):
                return self._product(self.tensor(left), self.tensor(right))
            case syntax.Binary(op, left, right):
                combine = {
                    "+": _plus,
                    "-": lambda x, y: _plus(x, term.Neg(y)),
                    "*": _times,
                    "/": term.Div,
                }[op]
                return self.pairwise(self.tensor(left), self.tensor(right), combine, f"'{op}'")
            case syntax.Power(base, exponent):
                return self._power(self.tensor(base), exponent)
            case syntax.Transposed(operand):
                return self._transposed(self.tensor(operand))
            case syntax.Cell(operand, places):
                return self._cell(operand, places)
            case syntax.Call(function, arguments):
                return self._call(function, arguments)
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
            return _position(self.bound[name])
        if name in self.scope.arrays:
            return _whole(self.scope.arrays[name])
        if name in self.scope.sizes:
            return _number(term.Size(name))
        if name in self.scope.permutations:
            raise Malformed(f"{name} is a permutation: write where it sends an index, {name}[i]")
        if name == "pi":
            return _number(term.Constant("pi"))
        # Where there is one size only, it is clear how far a plain index runs.
        alone = name in PLAIN and len(self.scope.sizes) == 1
        if name in self.letters or alone:
            return _position(self.free.get(name) or self._index(name, self.free))
        close = get_close_matches(name, self.scope.known(), n=1)
        hint = f"did you mean {close[0]}?" if close else "give it a shape, [] for a number"
        raise Malformed(f"nothing is known of {name!r}; {hint}")

    def _each(self, operand: Tree, function: Callable[[Expr], Expr]) -> Tensor:
        inner = self.tensor(operand)
        return Tensor(inner.axes, lambda at: function(inner.entry(at)), inner.letters)

    def _power(self, base: Tensor, exponent: Tree) -> Tensor:
        fixed = _constant(exponent)
        if fixed is not None:
            return Tensor(base.axes, lambda at: term.Power(base.entry(at), fixed), base.letters)

        def raised(x: Expr, y: Expr) -> Expr:
            return _exp(_times(y, term.Apply("log", x)))

        return self.pairwise(base, self.tensor(exponent), raised, "'**'")

    def pairwise(
        self, left: Tensor, right: Tensor, combine: Callable[[Expr, Expr], Expr], what: str
    ) -> Tensor:
        """Two tensors combined entry by entry; axes of length one are repeated."""
        axes = _common(left.axes, right.axes)
        if axes is None:
            raise Malformed(
                f"{what}: {_shown(left.axes)} and {_shown(right.axes)} don't fit entry by entry"
            )
        first, second = self._spread(left, axes), self._spread(right, axes)
        return Tensor(
            axes, lambda at: combine(first(at), second(at)), left.letters or right.letters
        )

    def _product(self, left: Tensor, right: Tensor) -> Tensor:
        a, b = left.axes, right.axes
        if not a or not b:
            raise Malformed("'@' is the matrix product; for a number write '*'")
        column = len(b) == 2 and b[0] == 1 and len(a) == 1
        inner, other = (1, 1) if column else (a[-1], b[-2] if len(b) > 1 else b[0])
        if inner != other:
            raise Malformed(
                f"'@': {_shown(a)} and {_shown(b)} don't fit, {inner} columns meet {other} rows"
            )
        front = a if column else a[:-1]
        batch = b[:-2]
        if batch and batch != front[: len(batch)]:
            raise Malformed(f"'@': {_shown(a)} and {_shown(b)} don't fit")
        tail = (b[-1],) if len(b) > 1 else ()
        axes = (*front, *tail)
        ahead = len(front)

        def entry(at: tuple[Place, ...]) -> Expr:
            index = Index("r", inner)
            via = Place(index) if inner != 1 else Place(offset=1)
            mine = at[:ahead] if column else (*at[:ahead], via)
            theirs = (*at[: len(batch)], via, *at[ahead:])
            body = _times(left.entry(mine), right.entry(theirs))
            return body if inner == 1 else term.Sum(index, body)

        found = self._kept("product", Tensor(axes, entry, left.letters or right.letters))
        if axes == (1,):
            return Tensor((), lambda _: found.entry((Place(offset=1),)), found.letters)
        return found

    def _transposed(self, tensor: Tensor) -> Tensor:
        match tensor.axes:
            case ():
                return tensor
            case (axis,):
                return Tensor((1, axis), lambda at: tensor.entry(at[1:]), tensor.letters)
            case (rows, columns):
                return Tensor((columns, rows), lambda at: tensor.entry(at[::-1]), tensor.letters)
        raise Malformed(
            "'.T' is the transpose of a matrix; here are three axes: write it by entries"
        )

    def _cell(self, operand: Tree, places: tuple[Tree, ...]) -> Tensor:
        if isinstance(operand, syntax.Name) and operand.name in self.scope.permutations:
            raise Malformed(
                f"{operand.name}[...] is a place: write it in brackets, x[{operand.name}[i]]"
            )
        tensor = self.tensor(operand)
        name = operand.name if isinstance(operand, syntax.Name) else "what is before the bracket"
        if len(places) != len(tensor.axes):
            raise Malformed(_misplaced(name, len(tensor.axes), len(places)))
        at = tuple(map(self.place, places))
        for place, axis in zip(at, tensor.axes, strict=True):
            self._along(place, axis, name)
        return Tensor((), lambda _: tensor.entry(at), True)

    # -- functions -------------------------------------------------------------

    def _call(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        if name in FUNCTIONS:
            return self._each(self._only(name, arguments), FUNCTIONS[name])
        if name in ("sum", "mean"):
            return self._sum(name, arguments)
        if name in ("delta", "step"):
            return self._indicator(name, arguments)
        if name == "diff":
            return self._derivative(arguments)
        if name == "limit":
            return self._limit(arguments)
        if name == "operations":
            return self._operations(arguments)
        if name in ("ones", "zeros", "eye"):
            return self._filled(name, arguments)
        if name in (*ROWWISE, *OTHERS):
            return self._reduced(name, self.tensor(self._only(name, arguments)))
        close = get_close_matches(name, [*FUNCTIONS, *ROWWISE, *OTHERS], n=1)
        hint = (
            f"did you mean {close[0]}?"
            if close
            else f"there are {', '.join([*FUNCTIONS, *ROWWISE, *OTHERS])}"
        )
        raise Malformed(f"there is no function {name!r}; {hint}")

    def _only(self, name: str, arguments: tuple[Tree, ...]) -> Tree:
        if len(arguments) != 1:
            raise Malformed(f"{name} takes one argument, found {len(arguments)}")
        return arguments[0]

    def _sum(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        if not arguments:
            raise Malformed(f"{name} takes indices and what is summed, as in {name}(j, x[j])")
        if len(arguments) == 1:
            return self._reduced("total" if name == "sum" else "average", self.tensor(arguments[0]))
        first, *rest, body = arguments
        if not isinstance(first, syntax.Name):
            raise Malformed(f"{name} takes indices before what is summed, as in {name}(j, x[j])")
        if first.name in self.scope.arrays and first.name not in self.letters:
            raise Malformed(f"{name}: {first.name} is an array, expected an index such as j")
        with self._binding(first.name) as index:
            inner = self._sum(name, (*rest, body)) if rest else self.tensor(body)

        def entry(at: tuple[Place, ...]) -> Expr:
            found: Expr = term.Sum(index, inner.entry(at))
            return term.Div(found, term.Size(index)) if name == "mean" else found

        return Tensor(inner.axes, entry, True)

    def _indicator(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        made: Callable[[Place, Place], Expr] = term.Delta
        match name, arguments:
            case "delta", (left, right):
                first, second = self.place(left), self.place(right)
            case "step", (syntax.Comparison((left, right), (relation,)),) if relation != "==":
                if not self._are_places(left, right):
                    return self._step_of_values(left, right, relation)
                if relation in (">", ">="):
                    left, right, relation = right, left, relation.replace(">", "<")
                first, second = self.place(left), self.place(right)
                made = term.AtMost if relation == "<=" else _before
            case "delta", _:
                raise Malformed("delta takes two places, as in delta(i, j)")
            case _:
                raise Malformed("step takes a comparison of two places, as in step(j <= i)")
        self._meet(first, second, name)
        return Tensor((), lambda _: made(first, second), True)

    def _are_places(self, *sides: Tree) -> bool:
        names = [name for side in sides for name in syntax.names(side)]
        return not any(name in self.scope.arrays and name not in self.bound for name in names)

    def _step_of_values(self, left: Tree, right: Tree, relation: str) -> Tensor:
        if relation in (">", ">="):
            left, right, relation = right, left, relation.replace(">", "<")
        if relation == "<=":
            raise Malformed("step of values is 1 where one is below the other: write step(x < y)")
        return self.pairwise(
            self.tensor(right),
            self.tensor(left),
            lambda x, y: term.Apply("positive", _plus(x, term.Neg(y))),
            "step",
        )

    def _derivative(self, arguments: tuple[Tree, ...]) -> Tensor:
        match arguments:
            case (of, syntax.Name(name)):
                places: tuple[Tree, ...] | None = None
            case (of, syntax.Cell(syntax.Name(name), found)):
                places = found
            case _:
                raise Malformed(
                    "diff takes what is differentiated and an entry, as in diff(A[i], S[k])"
                )
        if name not in self.scope.arrays:
            raise Malformed(f"diff: {name!r} is neither given nor defined")
        array, body = self.scope.arrays[name], self.tensor(of)
        if places is not None:
            at = tuple(map(self.place, places))
            if len(at) != len(array.axes):
                raise Malformed(_misplaced(name, len(array.axes), len(at)))
            for place, axis in zip(at, array.axes, strict=True):
                self._along(place, axis, name)
            return Tensor(body.axes, lambda here: term.Partial(body.entry(here), array, at), True)
        own = len(body.axes)
        return Tensor(
            (*body.axes, *array.axes),
            lambda here: term.Partial(body.entry(here[:own]), array, here[own:]),
            body.letters,
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
                goal = _constant(target)
        if goal is None:
            raise Malformed("limit: expected a number, oo or -oo as where it goes")
        inner = self.tensor(body)
        return Tensor(
            inner.axes,
            lambda at: term.Limit(inner.entry(at), variable, cast("Fraction", goal)),
            inner.letters,
        )

    def _operations(self, arguments: tuple[Tree, ...]) -> Tensor:
        found = []
        for one in arguments:
            if not isinstance(one, syntax.Name) or one.name not in self.scope.arrays:
                raise Malformed("operations takes the names of what is defined")
            array = self.scope.arrays[one.name]
            if array.body is None:
                raise Malformed(f"operations: {one.name} is given, not computed")
            found.append(array)
        return _number(term.Operations(tuple(found)))

    def _filled(self, name: str, arguments: tuple[Tree, ...]) -> Tensor:
        axes: list[Axis] = []
        for one in arguments:
            match one:
                case syntax.Name(size) if size in self.scope.sizes:
                    axes.append(size)
                case syntax.Literal(text) if text.isdigit() and int(text):
                    axes.append(int(text))
                case _:
                    raise Malformed(f"{name} takes sizes")
        if name == "eye" and len(axes) == 1:
            return Tensor((axes[0], axes[0]), lambda at: term.Delta(*at))
        if name == "eye" or not 1 <= len(axes) <= 2:
            raise Malformed(f"{name} takes {'one size' if name == 'eye' else 'one or two sizes'}")
        value = term.ONE if name == "ones" else term.ZERO
        return Tensor(tuple(axes), lambda _: value)

    def _reduced(self, name: str, tensor: Tensor) -> Tensor:
        """Functions of rows, columns, or all entries."""
        axes, entry = tensor.axes, tensor.entry
        if name == "expect":
            return Tensor(axes, lambda at: term.Expectation(entry(at)), tensor.letters)
        if name == "diag" and len(axes) == 1:
            return Tensor(
                (axes[0], axes[0]),
                lambda at: term.Mul((term.Delta(*at), entry(at[:1]))),
                tensor.letters,
            )
        if name == "diag" and len(axes) == 2 and axes[0] == axes[1]:
            return Tensor(axes[:1], lambda at: entry((at[0], at[0])), tensor.letters)
        if name == "trace" and len(axes) == 2 and axes[0] == axes[1]:
            index = Index("r", axes[0])
            return Tensor((), lambda _: term.Sum(index, entry((Place(index),) * 2)), tensor.letters)
        if name in ("total", "average"):
            return self._total(name, tensor)
        if name in ("rowsum", "colsum") and len(axes) == 2:
            along = 1 if name == "rowsum" else 0

            def summed(at: tuple[Place, ...]) -> Expr:
                index = Index("r", axes[along])
                places = [*at]
                places[along] = Place(index)
                return term.Sum(index, entry(tuple(places)))

            shape = (axes[0], 1) if along else (1, axes[1])
            return self._kept(name, Tensor(shape, summed, tensor.letters))
        if name in ROWWISE and axes:
            return self._rowwise(name, tensor)
        raise Malformed(f"{name}: found {_shown(axes)}")

    def _total(self, name: str, tensor: Tensor) -> Tensor:
        every = [Index(letter, axis) for letter, axis in _lettered(tensor.axes)]

        def whole(_: tuple[Place, ...]) -> Expr:
            found = tensor.entry(tuple(map(Place, every)))
            for index in reversed(every):
                found = term.Sum(index, found)
                if name == "average":
                    found = term.Div(found, term.Size(index))
            return found

        return self._kept(name, Tensor((), whole, tensor.letters))

    def _rowwise(self, name: str, tensor: Tensor) -> Tensor:
        *front, last = tensor.axes

        def powers(at: tuple[Place, ...]) -> Expr:
            index = Index("r", last)
            return term.Sum(index, _exp(tensor.entry((*at, Place(index)))))

        # The normaliser is one named thing: its derivative is taken once.
        normaliser = self._kept("sum", Tensor((*front,), powers, tensor.letters))

        def weight(at: tuple[Place, ...]) -> Expr:
            return term.Div(_exp(tensor.entry(at)), normaliser.entry(at[: len(front)]))

        if name == "softmax":
            return self._kept(name, Tensor(tensor.axes, weight, tensor.letters))
        axes = (*front, 1) if front else ()

        def logarithm(at: tuple[Place, ...]) -> Expr:
            return term.Apply("log", normaliser.entry(at[: len(front)]))

        return self._kept(name, Tensor(axes, logarithm, tensor.letters))

    def _kept(self, name: str, tensor: Tensor) -> Tensor:
        """A tensor that stands for itself, so that it is evaluated once."""
        if tensor.letters:
            return tensor
        letters = _lettered(tensor.axes)
        params = tuple(Index(letter, axis) for letter, axis in letters)
        body = tensor.entry(tuple(map(Place, params)))
        self.scope.unnamed += 1
        array = Array(
            f"{name}.{self.scope.unnamed}", tensor.axes, params, body, uses=term.arrays(body)
        )
        return _whole(array)


def _lettered(axes: tuple[Axis, ...]) -> Iterator[tuple[str, Axis]]:
    """Axes with a letter each."""
    if len(axes) > len(_ALPHABET):
        raise Malformed(f"more than {len(_ALPHABET)} axes")
    return zip(_ALPHABET, axes, strict=False)


def _letters(tree: Tree) -> Iterator[str]:
    """The names that stand as places."""
    match tree:
        case syntax.Cell(operand, places):
            yield from _letters(operand)
            for place in places:
                yield from _leaves(place)
        case syntax.Call("delta", sides) | syntax.Call("step", (syntax.Comparison(sides, _),)):
            for side in sides:
                yield from _leaves(side)
        case syntax.Call("sum" | "mean", (*letters, body)):
            for letter in letters:
                yield from _leaves(letter)
            yield from _letters(body)
        case syntax.Call(_, parts) | syntax.Comparison(parts, _) | syntax.Sequence(parts):
            for part in parts:
                yield from _letters(part)
        case syntax.Binary(_, left, right) | syntax.Power(left, right):
            yield from _letters(left)
            yield from _letters(right)
        case syntax.Negative(operand) | syntax.Transposed(operand):
            yield from _letters(operand)


def _leaves(place: Tree) -> Iterator[str]:
    match place:
        case syntax.Name(name):
            yield name
        case syntax.Binary(_, left, right):
            yield from _leaves(left)
            yield from _leaves(right)
        case syntax.Cell(_, places):
            for one in places:
                yield from _leaves(one)


def _number(value: Expr) -> Tensor:
    return Tensor((), lambda _: value)


def _position(index: Index) -> Tensor:
    return Tensor((), lambda _: term.Position(index), True)


def _whole(array: Array) -> Tensor:
    return Tensor(array.axes, lambda at: Entry(array, at))


def _plus(x: Expr, y: Expr) -> Expr:
    left = x.terms if isinstance(x, term.Add) else (x,)
    return term.Add((*left, y))


def _times(x: Expr, y: Expr) -> Expr:
    left = x.factors if isinstance(x, term.Mul) else (x,)
    return term.Mul((*left, y))


def _before(first: Place, second: Place) -> Expr:
    """1 where the first place comes before the second."""
    return term.Add((term.ONE, term.Neg(term.AtMost(second, first))))


def _constant(tree: Tree) -> Fraction | None:
    """The rational number that a tree of digits stands for; else None."""
    match tree:
        case syntax.Literal(text):
            return Fraction(text)
        case syntax.Negative(operand):
            inner = _constant(operand)
            return None if inner is None else -inner
        case syntax.Binary("/", left, right):
            above, below = _constant(left), _constant(right)
            return above / below if above is not None and below else None
    return None


def _within(offset: int) -> int:
    if abs(offset) > FARTHEST:
        raise Malformed(f"a place as far as {offset} is beyond what is checked, {FARTHEST}")
    return offset


def _matched(axes: tuple[Axis, ...], whole: tuple[Axis, ...]) -> list[int]:
    """Which axis of a larger tensor each axis of a smaller one lies along."""
    if len(axes) == 1 and len(whole) == 2 and whole[0] == axes[0]:
        return [0]
    return [*range(len(whole) - len(axes), len(whole))]


def _common(left: tuple[Axis, ...], right: tuple[Axis, ...]) -> tuple[Axis, ...] | None:
    """The axes of both, those of length one repeated; None where they don't fit.

    A vector is a column, and stands for a row as well where only that fits.
    """
    if len(left) < len(right):
        left, right = right, left
    if len(right) == 1 and len(left) == 2:
        rows, columns = left
        (axis,) = right
        if rows == axis:
            return left
        if columns == axis or columns == 1 == rows:
            return (rows, axis)
        return None
    lead = len(left) - len(right)
    found = [*left[:lead]]
    for one, other in zip(left[lead:], right, strict=True):
        if one != other and 1 not in (one, other):
            return None
        found.append(other if one == 1 else one)
    return tuple(found)


def _shown(axes: tuple[Axis, ...]) -> str:
    match axes:
        case ():
            return "a number"
        case (axis,):
            return f"a vector of {axis}"
    return f"an array of {' x '.join(map(str, axes))}"


def _misplaced(name: str, axes: int, places: int) -> str:
    return f"{name} has {axes} {'axis' if axes == 1 else 'axes'}, found {places} in brackets"
