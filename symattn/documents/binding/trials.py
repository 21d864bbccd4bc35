"""What attention and its neighbours make of printed blocks: what is tried of them for others.

Blocks of the same shapes are worked out together, and expressions are written of those alone
that are found to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from symattn import syntax
from symattn.programs.enclosures import Matrix

#: So many numbers are worked out together, as many times as there are ways to try.
AT_ONCE = 1 << 14


class Measured(NamedTuple):
    """Values, and how far each may be off as printed numbers are rounded."""

    middle: Matrix
    off: Matrix


Made = tuple[syntax.Tree, Measured]
#: The expression that something is, over those that it is made of.
Form = Callable[..., syntax.Tree]
#: The same made of several blocks of a shape at once: its form, and along the first axis values.
Trial = tuple[Form, Measured]


def _operand(place: int) -> Form:
    return lambda *of: of[place]


def _called(name: str, form: Form) -> Form:
    return lambda *of: syntax.Call(name, (form(*of),))


def _joined(op: str, one: Form, other: Form) -> Form:
    return lambda *of: syntax.Binary(op, one(*of), other(*of))


def _product(a: Trial, b: Trial) -> Trial:
    (x, dx), (y, dy) = a[1], b[1]
    shape = (*x.shape[:-1], *y.shape[2:])
    if x.ndim == 2:
        x, dx = x[:, None], dx[:, None]
    if y.ndim == 2:
        y, dy = y[..., None], dy[..., None]
    off = dx @ abs(y) + abs(x) @ dy + dx @ dy
    return _joined("@", a[0], b[0]), Measured((x @ y).reshape(shape), off.reshape(shape))


def _outer(a: Trial, b: Trial) -> Trial:
    (x, dx), (y, dy) = (a[1], b[1])
    x, dx, y, dy = x[:, :, None], dx[:, :, None], y[:, None], dy[:, None]
    form, other = a[0], b[0]
    return (
        lambda *of: syntax.Call("outer", (form(*of), other(*of))),
        Measured(x * y, dx * abs(y) + abs(x) * dy),
    )


def _turned(a: Trial) -> Trial:
    form, (x, dx) = a
    return lambda *of: syntax.Transposed(form(*of)), Measured(x.swapaxes(1, 2), dx.swapaxes(1, 2))


def _softmax(a: Trial) -> Trial:
    x, dx = a[1]
    power = np.exp(x - x.max(axis=-1, keepdims=True))
    share = power / power.sum(axis=-1, keepdims=True)
    off = share * (dx + (share * dx).sum(axis=-1, keepdims=True))
    return _called("softmax", a[0]), Measured(share, off)


def _causal(a: Trial) -> Trial:
    x, dx = a[1]
    kept = np.tri(x.shape[-1], dtype=bool)
    return _called("causal", a[0]), Measured(np.where(kept, x, -1e30), np.where(kept, dx, 0.0))


def _over_root(a: Trial, size: int) -> Trial:
    form, (x, dx) = a

    def divided(*of: syntax.Tree) -> syntax.Tree:
        root = syntax.Call("sqrt", (syntax.Literal(str(size)),))
        return syntax.Binary("/", form(*of), root)

    return divided, Measured(x / size**0.5, dx / size**0.5)


_ENTRYWISE: Mapping[str, Callable[[Matrix], Matrix]] = {
    "exp": lambda x: np.exp(np.minimum(x, 50)),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
}


def _of_two(op: str, a: Trial, b: Trial) -> Trial:
    (x, dx), (y, dy) = a[1], b[1]
    form = _joined(op, a[0], b[0])
    match op:
        case "+":
            return form, Measured(x + y, dx + dy)
        case "-":
            return form, Measured(x - y, dx + dy)
    return form, Measured(x * y, dx * abs(y) + abs(x) * dy)


def _is_square(a: Trial) -> bool:
    return a[1].middle.ndim == 3 and a[1].middle.shape[1] == a[1].middle.shape[2]


def _unary(a: Trial, sizes: Iterable[int]) -> Iterator[Trial]:
    """What is made of one block."""
    scaled = [a, *(_over_root(a, size) for size in sizes)]
    yield from scaled[1:]
    for one in scaled:
        yield _softmax(one)
        if _is_square(one):
            yield _softmax(_causal(one))
    if a[1].middle.ndim == 3:
        yield _turned(a)
        yield _turned(_softmax(_turned(a)))
    x, dx = a[1]
    for name, of in _ENTRYWISE.items():
        yield _called(name, a[0]), Measured(of(x), (of(x + dx) - of(x - dx)) / 2)


def _scores(a: Trial, size: int) -> Iterator[Trial]:
    """A product of rows of a size as it is, scaled, and both as weights."""
    for one in (a, _over_root(a, size)):
        yield one
        yield _softmax(one)
        if _is_square(one) and a[1].middle.shape[1] > 1:
            yield _softmax(_causal(one))


def _products(a: Trial, b: Trial, shape: tuple[int, ...]) -> Iterator[tuple[int, Trial]]:
    """The products of two blocks that have a shape, each with the size that it sums over."""
    for x in (a, _turned(a)) if a[1].middle.ndim == 3 else (a,):
        for y in (b, _turned(b)) if b[1].middle.ndim == 3 else (b,):
            one, other = x[1].middle.shape[1:], y[1].middle.shape[1:]
            if one[-1:] == other[:1] and one[:-1] + other[1:] == shape:
                yield one[-1], _product(x, y)


class Tried(NamedTuple):
    """What was made of some blocks: of each its form, and along the first axis its values."""

    of: tuple[syntax.Tree, ...]
    forms: tuple[Form, ...]
    values: Measured


class Trials:
    """What is tried of blocks for others, each made once: many ask for the same."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        #: By the first block; that is kept, so that no other gets its number.
        self._made: dict[int, tuple[Made, dict[object, Tried | None]]] = {}

    def of(self, before: Sequence[Made], shape: tuple[int, ...]) -> Iterator[Tried]:
        """All that is tried of some blocks for one of a shape, the simplest first."""
        alike = [a for a in before if a[1].middle.shape in (shape, shape[::-1])]
        for tree, (middle, off) in alike:
            if middle.shape == shape:
                yield Tried((tree,), (_operand(0),), Measured(middle[None], off[None]))
        yield from self._kept([(a,) for a in alike], shape)
        # A bias stands right behind the weights that it goes with.
        behind = [*(b if _is_bias(b, shape) else None for b in before[1:]), None]
        pairs = [(a, b, bias) for a in before for b, bias in zip(before, behind, strict=True)]
        yield from self._kept(pairs, shape)

    def forget(self, before: Sequence[Made]) -> None:
        """Keep only what is made of these."""
        wanted = set(map(id, before))
        self._made = {key: held for key, held in self._made.items() if key in wanted}

    def _kept(
        self, groups: Sequence[tuple[Made | None, ...]], shape: tuple[int, ...]
    ) -> Iterator[Tried]:
        """What is tried of each of some groups of blocks, in their order."""
        wanted = [self._place(group, shape) for group in groups]
        missing: dict[object, list[int]] = {}
        for place, (held, key) in enumerate(wanted):
            if key not in held:
                shapes = tuple(one and one[1].middle.shape for one in groups[place])
                missing.setdefault(shapes, []).append(place)
        for places in missing.values():
            for k in range(0, len(places), most := max(1, AT_ONCE // prod(shape))):
                some = places[k : k + most]
                tried = self._tried([groups[place] for place in some], shape)
                for place, one in zip(some, tried, strict=True):
                    held, key = wanted[place]
                    held[key] = one
        return (one for held, key in wanted if (one := held[key]) is not None)

    def _place(
        self, group: tuple[Made | None, ...], shape: tuple[int, ...]
    ) -> tuple[dict[object, Tried | None], object]:
        """Where it is kept what is tried of a group."""
        first = group[0]
        assert first is not None
        _, held = self._made.setdefault(id(first), (first, {}))
        return held, (shape, *map(id, group[1:]))

    def _tried(
        self, groups: Sequence[tuple[Made | None, ...]], shape: tuple[int, ...]
    ) -> Sequence[Tried | None]:
        """What is tried of groups whose blocks have the same shapes, worked out together."""
        operands = [
            (_operand(k), Measured(*map(np.array, zip(*(one[1] for one in column), strict=True))))
            for k, column in enumerate(zip(*groups, strict=True))
            if column[0] is not None
        ]
        make = self._of_one if len(groups[0]) == 1 else self._of_several
        made = [one for one in make(shape, *operands) if one[1].middle.shape[1:] == shape]
        if not made:
            return [None] * len(groups)
        forms = tuple(form for form, _ in made)
        stacks = (np.stack(many, axis=1) for many in zip(*(one for _, one in made), strict=True))
        trees = (tuple(one[0] for one in group if one is not None) for group in groups)
        return [
            Tried(of, forms, Measured(middle, off))
            for of, middle, off in zip(trees, *stacks, strict=True)
        ]

    def _of_one(self, _shape: tuple[int, ...], a: Trial) -> Iterator[Trial]:
        return _unary(a, self._sizes)

    def _of_several(
        self, shape: tuple[int, ...], a: Trial, b: Trial, bias: Trial | None = None
    ) -> Iterator[Trial]:
        one, other = a[1].middle.shape[1:], b[1].middle.shape[1:]
        if one == shape == other:
            yield from (_of_two(op, a, b) for op in "+-*")
        if (*one, *other) == shape:
            yield _outer(a, b)
        for size, product in _products(a, b, shape):
            yield from _scores(product, size)
            if bias:
                along = Measured(*(of[:, None] for of in bias[1]))
                yield _of_two("+", product, (bias[0], along))


def _is_bias(a: Made, shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and a[1].middle.shape == shape[-1:]
