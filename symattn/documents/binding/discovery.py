"""Relations between printed blocks, by their figures alone.

Whatever an article calls its quantities, in whatever language or program: a matrix whose
sixteen figures are those of a product of two matrices above it is that product. Each block
is held against all that attention and its neighbours make of the blocks before it; a
relation is found where its digits say more than so many tries can by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log2, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from symattn.documents.binding import tables, values
from symattn.documents.binding import tables as row_runs
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.evidence import is_bare, telling
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Passage, ReadTable, of_table
from symattn.expressions import syntax
from symattn.programs.enclosures import Matrix
from symattn.spelling import written

# -- what attention and its neighbours make of printed blocks ----------------------------
# What is tried of them for others.
#
# Blocks of the same shapes are worked out together, and expressions are written of those alone
# that are found to be right.

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
    """Yield what is made of one block."""
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
    """An attempt on some blocks: of each its form, and along the first axis its values."""

    of: tuple[syntax.Tree, ...]
    forms: tuple[Form, ...]
    values: Measured


class Trials:
    """Attempts on blocks for others, each made once: many ask for the same."""

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
        """Return what is tried of each of some groups of blocks, in their order."""
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
        """Return where it is kept what is tried of a group."""
        first = group[0]
        assert first is not None
        _, held = self._made.setdefault(id(first), (first, {}))
        return held, (shape, *map(id, group[1:]))

    def _tried(
        self, groups: Sequence[tuple[Made | None, ...]], shape: tuple[int, ...]
    ) -> Sequence[Tried | None]:
        """Return what is tried of groups whose blocks have the same shapes, worked out together."""
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


# -- discovery ---------------------------------------------------------------------------

#: A block is held against so many before it, and larger ones against none.
_BEFORE, _ENTRIES = 24, 1024
#: So many bits beyond those that the tries may bring by chance make a relation.
_SURE = 9.0
#: This part of a block's figures has to agree.
_MOST = 0.66
#: And this part, of one that has wrong figures.
_NEARLY = 0.7
#: What a figure that disagrees takes off.
_MISS = 4.6


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Block:
    """A printed matrix or vector: its place among all, its figures as numbers; what each
    tells, and all together."""

    number: int
    value: syntax.Tree
    measured: Measured
    half: Matrix
    bits: Matrix
    information: float
    name: str = ""
    is_output: bool = False

    @property
    def is_rounded(self) -> bool:
        """Return whether it may show less digits than it has."""
        return bool((self.measured.off > 0).any())

    @property
    def span(self) -> Span:
        """Return where it begins."""
        return next(values.figures(self.value)).span

    @property
    def value_span(self) -> Span:
        """From its first figure to its last."""
        figures = list(values.figures(self.value))
        return figures[0].span.to(figures[-1].span)

    @property
    def tree(self) -> syntax.Tree:
        """Return what stands for it in relations."""
        return syntax.Name(f"block_{self.number}")


@dataclass(frozen=True)
class Relation:
    """A relation of a block to others: an expression over these, by how many bits it leads what
    else is tried, and chance, and how many figures agree."""

    block: Block
    tree: syntax.Tree
    lead: float
    agreeing: int

    @property
    def is_certain(self) -> bool:
        """Return whether a figure that disagrees can only be wrong."""
        size = self.block.half.size
        if isinstance(self.tree, syntax.Name):
            # What is printed again with another figure may have been worked out again.
            return False
        return self.agreeing == size or (self.lead > _SURE and self.agreeing >= _NEARLY * size)


def block(number: int, value: syntax.Tree, name: str = "", is_output: bool = False) -> Block | None:
    """A printed value as a block; None of one that is too large, or has a masked entry."""
    texts = values.texts(value)
    ends = [interval(text) for text in texts]
    known = [one for one in ends if one is not None and np.isfinite(one[0])]
    if not 1 < len(texts) <= _ENTRIES or len(known) < len(texts) or not any(values.figures(value)):
        return None
    shape = values.shape(value)
    if prod(shape) != len(texts):
        # Arrays of matrices are none.
        return None
    middle = np.array([(low + high) / 2 for low, high in known]).reshape(shape)
    half = np.array([(high - low) / 2 for low, high in known]).reshape(shape)
    exact = [written(text).is_exact for text in texts]
    off = np.where(np.array(exact).reshape(shape), 0.0, half)
    half = np.where([is_bare(text) for text in texts], 1e-6, half.reshape(-1)).reshape(shape)
    each = telling(texts)
    bits = np.array([each[text] for text in texts]).reshape(shape)
    whole = sum(each.values())
    return Block(number, value, Measured(middle, off), half, bits, whole, name, is_output)


def collected(passages: Sequence[Passage]) -> list[Block]:
    """The blocks of an article in their order: printed vectors and matrices, tables, rows
    that follow each other, and vectors of one length, one after the other, as a matrix."""
    printed: list[tuple[syntax.Tree, str]] = []
    outputs: set[int] = set()
    for passage in passages:
        if passage.kind == "note":
            continue
        before = len(printed)
        for piece in passage.pieces:
            match piece:
                case Chain(members):
                    head = members[0]
                    name = head.name if isinstance(head, syntax.Name) else ""
                    held = (one for one in members if values.is_value(one))
                    printed += [(part, name) for one in held for part in _matrices(one)]
                case ReadTable():
                    table = of_table(piece)
                    columns = [(matrix, "") for _, _, matrix in tables.inputs(piece)]
                    printed += columns if table is None else [(table, "")]
        if passage.kind == "output":
            outputs.update(
                figure.span.start for one, _ in printed[before:] for figure in values.figures(one)
            )
    printed += [(run.tree, "") for run in row_runs.found(passages)]
    printed = [(one, name) for one, name in printed if any(values.figures(one))]
    printed.sort(key=lambda one: (_start(one[0]), len(values.shape(one[0]))))
    blocks: list[Block] = []
    for value, name in [*_with_stacks(printed)]:
        is_output = next(values.figures(value)).span.start in outputs
        if (one := block(len(blocks), value, name, is_output)) is not None:
            blocks.append(one)
    return blocks


def _matrices(value: syntax.Tree) -> Iterator[syntax.Tree]:
    """A value, or the matrices of an array of several."""
    match value:
        case syntax.Array((syntax.Array((syntax.Array(), *_)), *_) as items):
            for item in items:
                yield from _matrices(item)
        case _:
            yield value


def _with_stacks(
    printed: Sequence[tuple[syntax.Tree, str]],
) -> Iterator[tuple[syntax.Tree, str]]:
    """Values, and behind several vectors of one length the matrix of which they are rows."""
    run: list[syntax.Tree] = []
    for value, name in printed:
        vector = values.flat(value)
        size = values.shape(vector)
        is_next = len(size) == 1 and bool(run) and values.shape(run[0]) == size
        if not is_next and len(run) > 1:
            yield syntax.Array(tuple(run)), ""
        begun = run if is_next else []
        run = [*begun, vector] if len(size) == 1 else []
        yield vector if size else value, name
    if len(run) > 1:
        yield syntax.Array(tuple(run)), ""


def _start(value: syntax.Tree) -> int:
    return next(values.figures(value)).span.start


# -- what fits -----------------------------------------------------------------------------


def found(blocks: Sequence[Block]) -> list[Relation]:
    """Return what blocks are of those before them, in their order.

    >>> from symattn.expressions.syntax import parse
    >>> from symattn.documents.trees import PrintedFigure
    >>> def printed(number, rows):
    ...     at = iter(range(100 * number, 100 * number + 99))
    ...     row = lambda one: syntax.Array(tuple(
    ...         PrintedFigure(text, Span(place := next(at), place + 1)) for text in one.split()))
    ...     return block(number, syntax.Array(tuple(map(row, rows))))
    >>> x = printed(0, ["1 0.5", "0.2 2"])
    >>> w = printed(1, ["0.3 1", "2 0.7"])
    >>> [syntax.text(one.tree) for one in found([x, w, printed(2, ["1.30 1.35", "4.06 1.60"])])]
    ['block_0 @ block_1']
    """
    relations: list[Relation] = []
    ends = [one.value_span.end for one in blocks]
    # Scores are divided by a size that only what follows may show.
    trials = Trials(sorted({size for one in blocks for size in one.half.shape} - {1}))
    given: list[Made] = [(one.tree, one.measured) for one in blocks]
    for place, target in enumerate(blocks):
        # What shares figures with a block says nothing of it.
        start, first = target.span.start, max(0, place - _BEFORE)
        near = [given[k] for k in range(first, place) if ends[k] <= start]
        trials.forget(given[first:place])
        if (one := _best(target, near, trials)) is not None:
            relations.append(one)
    return relations


class Found(NamedTuple):
    """The blocks of an article, and what they are of each other."""

    blocks: Sequence[Block]
    relations: Sequence[Relation]

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> Found:
        """Return what passages print."""
        blocks = collected(passages)
        return cls(blocks, found(blocks))


def _best(target: Block, before: Sequence[Made], trials: Trials) -> Relation | None:
    if target.information < _SURE + 3:
        return None
    size = target.half.size
    best: tuple[float, Attempt] | None = None
    agreeing = 0
    rival = 0.0
    tries = 0
    with np.errstate(all="ignore"):
        for attempts, made in _together(trials.of(before, target.half.shape), size):
            tries += len(attempts)
            agree = _agree(target, made)
            counts = np.count_nonzero(agree.reshape(len(agree), -1), axis=1)
            for k in np.flatnonzero(counts >= _MOST * size).tolist():
                bits = _bits(target, made.off[k], agree[k])
                if bits <= rival:
                    continue
                is_other = best is not None and not _alike(best[1], attempts[k])
                if best is None or bits > best[0] + 0.5:
                    if best is not None and is_other:
                        rival = best[0]
                    best, agreeing = (bits, attempts[k]), int(counts[k])
                elif is_other:
                    rival = bits
    if best is None or best[0] - log2(tries) < _SURE:
        return None
    bits, (tried, k) = best
    return Relation(target, tried.forms[k](*tried.of), bits - max(rival, log2(tries)), agreeing)


#: One of what was tried.
Attempt = tuple[Tried, int]


def _together(tried: Iterable[Tried], size: int) -> Iterator[tuple[Sequence[Attempt], Measured]]:
    """Yield what was tried with all its values in a row, as much as is held at once."""
    waiting = iter(tried)
    while some := [*islice(waiting, max(1, AT_ONCE // size))]:
        attempts = [(one, k) for one in some for k in range(len(one.forms))]
        stacks = zip(*(one.values for one in some), strict=True)
        yield attempts, Measured(*map(np.concatenate, stacks))


def _alike(one: Attempt, other: Attempt) -> bool:
    """Return whether two expressions come to the same."""
    first, second = (tried.values.middle[k] for tried, k in (one, other))
    return bool(np.allclose(first, second, rtol=1e-9, atol=1e-12))


def _agree(target: Block, made: Measured) -> Flags:
    """Return which of a block's figures may be of values, for each along the first axis."""
    room = target.half + made.off
    near = abs(target.measured.middle - made.middle) <= room * (1 + 1e-6)
    return np.asarray(near)


def _bits(target: Block, off: Matrix, agree: Flags) -> float:
    """Return what a block's figures say for values that are known so well, where these agree."""
    # What is only known within wide bounds says as much less.
    said = np.maximum(target.bits - np.log2(1 + off / np.maximum(target.half, 1e-9)), 0.0)
    figures = zip(target.measured.middle[agree], said[agree], strict=True)
    seen = {float(figure): float(bits) for figure, bits in figures}
    return sum(seen.values()) - _MISS * float((~agree).sum())
