"""What printed blocks are of each other, by their figures alone.

Whatever an article calls its quantities, in whatever language or program: a matrix whose
sixteen figures are those of a product of two matrices above it is that product. Each block
is held against all that attention and its neighbours make of the blocks before it; a
relation is found where its digits say more than so many tries can by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log2, prod
from typing import NamedTuple

import numpy as np

from symattn import syntax
from symattn.documents.binding import rows as row_runs
from symattn.documents.binding import tables, values
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.evidence import is_bare, telling
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Passage, ReadTable, of_table
from symattn.programs.enclosures import Matrix

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
#: So many decimals are written of a number that isn't rounded.
_EXACT = 1


class Measured(NamedTuple):
    """Values, and how far each may be off as printed numbers are rounded."""

    middle: Matrix
    off: Matrix


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
        """Whether it may show less digits than it has."""
        return bool((self.measured.off > 0).any())

    @property
    def span(self) -> Span:
        """Where it begins."""
        return next(values.figures(self.value)).span

    @property
    def value_span(self) -> Span:
        """From its first figure to its last."""
        figures = list(values.figures(self.value))
        return figures[0].span.to(figures[-1].span)

    @property
    def tree(self) -> syntax.Tree:
        """What stands for it in relations."""
        return syntax.Name(f"block_{self.number}")


@dataclass(frozen=True)
class Relation:
    """What a block is of others: an expression over these, by how many bits it leads what
    else is tried, and chance, and how many figures agree."""

    block: Block
    tree: syntax.Tree
    lead: float
    agreeing: int

    @property
    def is_certain(self) -> bool:
        """Whether a figure that disagrees can only be wrong."""
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
    exact = [is_bare(text) or len(text.partition(".")[2]) <= _EXACT for text in texts]
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


# -- what is made of blocks ------------------------------------------------------------------

Made = tuple[syntax.Tree, Measured]


def _product(a: Made, b: Made) -> Made:
    (x, dx), (y, dy) = a[1], b[1]
    return syntax.Binary("@", a[0], b[0]), Measured(x @ y, dx @ abs(y) + abs(x) @ dy + dx @ dy)


def _outer(a: Made, b: Made) -> Made:
    (x, dx), (y, dy) = a[1], b[1]
    off = np.outer(dx, abs(y)) + np.outer(abs(x), dy)
    return syntax.Call("outer", (a[0], b[0])), Measured(np.outer(x, y), off)


def _turned(a: Made) -> Made:
    return syntax.Transposed(a[0]), Measured(a[1].middle.T, a[1].off.T)


def _softmax(a: Made) -> Made:
    x, dx = a[1]
    power = np.exp(x - x.max(axis=-1, keepdims=True))
    share = power / power.sum(axis=-1, keepdims=True)
    off = share * (dx + (share * dx).sum(axis=-1, keepdims=True))
    return syntax.Call("softmax", (a[0],)), Measured(share, off)


def _causal(a: Made) -> Made:
    x, dx = a[1]
    kept = np.tril(np.ones(x.shape, bool))
    shown = np.where(kept, x, -1e30)
    return syntax.Call("causal", (a[0],)), Measured(shown, np.where(kept, dx, 0.0))


def _over_root(a: Made, size: int) -> Made:
    root = syntax.Call("sqrt", (syntax.Literal(str(size)),))
    return syntax.Binary("/", a[0], root), Measured(a[1].middle / size**0.5, a[1].off / size**0.5)


def _entrywise(name: str, of: Callable[[Matrix], Matrix]) -> Callable[[Made], Made]:
    def made(a: Made) -> Made:
        x, dx = a[1]
        return syntax.Call(name, (a[0],)), Measured(of(x), (of(x + dx) - of(x - dx)) / 2)

    return made


_ENTRYWISE = (
    _entrywise("exp", lambda x: np.exp(np.minimum(x, 50))),
    _entrywise("tanh", np.tanh),
    _entrywise("relu", lambda x: np.maximum(x, 0)),
)


def _of_two(op: str, a: Made, b: Made) -> Made:
    (x, dx), (y, dy) = a[1], b[1]
    made = syntax.Binary(op, a[0], b[0])
    match op:
        case "+":
            return made, Measured(x + y, dx + dy)
        case "-":
            return made, Measured(x - y, dx + dy)
    return made, Measured(x * y, dx * abs(y) + abs(x) * dy)


def _unary(a: Made, sizes: Iterable[int]) -> Iterator[Made]:
    """What is made of one block."""
    shape = np.shape(a[1].middle)
    scaled = [a, *(_over_root(a, size) for size in sizes)]
    yield from scaled[1:]
    for one in scaled:
        yield _softmax(one)
        if len(shape) == 2 and shape[0] == shape[1]:
            yield _softmax(_causal(one))
    if len(shape) == 2:
        yield _turned(a)
        yield _turned(_softmax(_turned(a)))
    for of in _ENTRYWISE:
        yield of(a)


def _scores(a: Made, size: int) -> Iterator[Made]:
    """A product of rows of a size as it is, scaled, and both as weights."""
    shape = np.shape(a[1].middle)
    for one in (a, _over_root(a, size)):
        yield one
        yield _softmax(one)
        if len(shape) == 2 and shape[0] == shape[1] > 1:
            yield _softmax(_causal(one))


def _products(a: Made, b: Made, shape: tuple[int, ...]) -> Iterator[tuple[int, Made]]:
    """The products of two blocks that have a shape, each with the size that it sums over."""
    for x in (a, _turned(a)) if np.ndim(a[1].middle) == 2 else (a,):
        for y in (b, _turned(b)) if np.ndim(b[1].middle) == 2 else (b,):
            one, other = np.shape(x[1].middle), np.shape(y[1].middle)
            if one[-1:] == other[:1] and one[:-1] + other[1:] == shape:
                yield one[-1], _product(x, y)


class Trials:
    """What is tried of blocks for others, each made once: many ask for the same."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        #: By the first block; that is kept, so that no other gets its number.
        self._made: dict[int, tuple[Made, dict[object, list[Made]]]] = {}

    def of(self, before: Sequence[Made], shape: tuple[int, ...]) -> Iterator[Made]:
        """All that is tried of some blocks for one of a shape, the simplest first."""
        yield from (a for a in before if np.shape(a[1].middle) == shape)
        for a in before:
            own = np.shape(a[1].middle)
            if own == shape or own == shape[::-1]:
                yield from self._kept(a, shape, self._of_one)
        for a in before:
            for number, b in enumerate(before):
                # A bias stands right behind the weights that it goes with.
                bias = before[number + 1] if number + 1 < len(before) else None
                yield from self._kept(a, shape, self._of_several, b, bias)

    def forget(self, before: Sequence[Made]) -> None:
        """Keep only what is made of these."""
        wanted = set(map(id, before))
        self._made = {key: held for key, held in self._made.items() if key in wanted}

    def _kept(
        self,
        a: Made,
        shape: tuple[int, ...],
        make: Callable[..., Iterator[Made]],
        *others: Made | None,
    ) -> list[Made]:
        _, held = self._made.setdefault(id(a), (a, {}))
        key = (shape, *map(id, others))
        if key not in held:
            held[key] = list(make(a, shape, *others))
        return held[key]

    def _of_one(self, a: Made, shape: tuple[int, ...]) -> Iterator[Made]:
        return (one for one in _unary(a, self._sizes) if np.shape(one[1].middle) == shape)

    def _of_several(
        self, a: Made, shape: tuple[int, ...], b: Made, bias: Made | None
    ) -> Iterator[Made]:
        if np.shape(a[1].middle) == shape == np.shape(b[1].middle):
            yield from (_of_two(op, a, b) for op in "+-*")
        if (*np.shape(a[1].middle), *np.shape(b[1].middle)) == shape != ():
            yield _outer(a, b)
        for size, product in _products(a, b, shape):
            yield from _scores(product, size)
            if bias and np.shape(bias[1].middle) == shape[-1:] and len(shape) == 2:
                yield _of_two("+", product, bias)


# -- what fits -----------------------------------------------------------------------------


def found(blocks: Sequence[Block]) -> list[Relation]:
    """What blocks are of those before them, in their order.

    >>> from symattn.syntax import parse
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
        """What passages print."""
        blocks = collected(passages)
        return cls(blocks, found(blocks))


def _best(target: Block, before: Sequence[Made], trials: Trials) -> Relation | None:
    shape = np.shape(target.measured.middle)
    if target.information < _SURE + 3:
        return None
    best: tuple[float, Made, int] | None = None
    rival = 0.0
    tries = 0
    with np.errstate(all="ignore"):
        for one in trials.of(before, shape):
            tries += 1
            bits, agreeing = _bits(target, one[1])
            if agreeing < _MOST * target.half.size or bits <= rival:
                continue
            if best is None or bits > best[0] + 0.5:
                if best is not None and not _alike(best[1], one):
                    rival = best[0]
                best = bits, one, agreeing
            elif not _alike(best[1], one):
                rival = bits
    if best is None or best[0] - log2(tries) < _SURE:
        return None
    lead = best[0] - max(rival, log2(tries))
    return Relation(target, best[1][0], lead, best[2])


def _alike(one: Made, other: Made) -> bool:
    """Whether two expressions come to the same."""
    return bool(np.allclose(one[1].middle, other[1].middle, rtol=1e-9, atol=1e-12))


def _bits(target: Block, made: Measured) -> tuple[float, int]:
    """What a block's figures say for values that it may be of, and how many agree."""
    room = target.half + made.off
    agree = abs(target.measured.middle - made.middle) <= room * (1 + 1e-6)
    agreeing = int(agree.sum())
    if agreeing < _MOST * agree.size:
        return 0.0, agreeing
    # What is only known within wide bounds says as much less.
    said = np.maximum(target.bits - np.log2(1 + made.off / np.maximum(target.half, 1e-9)), 0.0)
    figures = zip(target.measured.middle[agree], said[agree], strict=True)
    seen = {float(figure): float(bits) for figure, bits in figures}
    return sum(seen.values()) - _MISS * float((~agree).sum()), agreeing
