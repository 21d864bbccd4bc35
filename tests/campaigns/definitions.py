"""Every function of steps by its plain definition: loops over indices, in balls of Arb.

An entry is a ball, or None for a masked score, minus infinity. What a definition has no number
for is :class:`Undefined`, arguments that it isn't of are :class:`NoFit`. Nothing here is shared
with symattn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import arb, fmpq


class Undefined(Exception):
    """There is no number."""


class NoFit(Exception):
    """The shapes don't fit."""


class Ties(list[arb]):
    """Where two numbers were equal that were asked which of them is larger: what flows back
    there is a convention, not a derivative."""


TIES = Ties()


@dataclass(frozen=True)
class Q:
    """A scalar (), a vector (m,) or a matrix (n, m), by rows."""

    shape: tuple[int, ...]
    rows: list[list[arb | None]]

    @property
    def grid(self):
        return len(self.rows), len(self.rows[0])

    @property
    def flat(self):
        return [x for row in self.rows for x in row]


def q(shape, entry):
    """The quantity of that shape with that entry in each row and column."""
    n, m = (1, 1) if not shape else (1, shape[0]) if len(shape) == 1 else shape
    return Q(shape, [[entry(i, j) for j in range(m)] for i in range(n)])


def number(x):
    if x is None:
        raise Undefined("a masked score")
    return x


def fit(ok):
    if not ok:
        raise NoFit


def scalar(x):
    fit(x.shape == ())
    return number(x.rows[0][0])


def sign_of(x):
    """1, 0 or -1 of a number; one whose ball doesn't tell it is passed over."""
    if x > 0:
        return 1
    if x < 0:
        return -1
    fit(x.is_zero())
    TIES.append(x)
    return 0


def side(a, b):
    """The sign of a - b; a masked score is less than every number."""
    if a is None or b is None:
        return (b is None) - (a is None)
    return sign_of(a - b)


def larger(a, b):
    return a if side(a, b) >= 0 else b


def total(items):
    found = arb(0)
    for x in items:
        found += number(x)
    return found


# -- entries -----------------------------------------------------------------------------


def each(f, masked=None):
    """A function of every entry; ``hidden`` is what it makes of a masked score."""

    def made(x):
        return q(
            x.shape,
            lambda i, j: (
                masked if x.rows[i][j] is None and masked is not None else f(number(x.rows[i][j]))
            ),
        )

    return made


def spread(shapes):
    longest = max(map(len, shapes))
    found = []
    for axis in range(longest):
        sizes = {((1,) * (longest - len(shape)) + shape)[axis] for shape in shapes}
        fit(len(sizes - {1}) <= 1)
        found.append(max(sizes))
    return tuple(found)


def entrywise(f):
    """A function of entries in the same place, of operands that are broadcast."""

    def made(*operands):
        def at(x, i, j):
            return x.rows[i if len(x.rows) > 1 else 0][j if len(x.rows[0]) > 1 else 0]

        shape = spread([x.shape for x in operands])
        return q(shape, lambda i, j: f(*(at(x, i, j) for x in operands)))

    return made


def _add(a, b):
    return None if a is None or b is None else a + b


def _subtract(a, b):
    b = number(b)
    return None if a is None else a - b


def _positive(factor):
    if factor is None or sign_of(factor) <= 0:
        raise Undefined("a masked score is scaled")


def _times(a, b):
    if a is None or b is None:
        _positive(b if a is None else a)
        return None
    return a * b


def _over(a, b):
    if number(b).is_zero() or not sign_of(b):
        raise Undefined("a division by 0")
    if a is None:
        _positive(b)
        return None
    return a / b


def _where(m, x, y):
    kept = bit(m)
    # Of what isn't chosen nothing is asked but that it is a number.
    if (x is None and not kept) or (y is None and kept):
        raise Undefined("a masked score that isn't chosen")
    return x if kept else y


def bit(x):
    if x is None or not (x == 0 or x == 1):
        raise Undefined("no mask")
    return x == 1


def whole(x, count):
    k = number(x).unique_fmpz()
    if not x.is_exact() or k is None or k != x or not 0 <= k < count:
        raise Undefined("no class")
    return int(k)


def _log(x):
    if x.is_zero() or sign_of(x) < 0:
        raise Undefined("a logarithm")
    return x.log()


def _sqrt(x):
    if x.is_zero():
        return x
    if sign_of(x) < 0:
        raise Undefined("a root")
    return x.sqrt()


def _power(k):
    def made(x):
        if x is None and k == 1:
            return None
        found = arb(1)
        for _ in range(abs(k)):
            found *= number(x)
        if k == 0:
            number(x)
        return found if k >= 0 else _over(arb(1), found)

    return lambda x: q(x.shape, lambda i, j: made(x.rows[i][j]))


def _sigmoid(x):
    return 1 / (1 + (-x).exp())


def _gelu(x):
    return x * (1 + (x / arb(2).sqrt()).erf()) / 2


def _gelu_tanh(x):
    inner = (2 / arb.pi()).sqrt() * (x + arb(fmpq(44715, 1000000)) * x * x * x)
    return x * (1 + inner.tanh()) / 2


def _clip(x, low, high):
    # What is beyond both bounds is the higher one.
    above = larger(number(x), number(low))
    return above if side(above, number(high)) <= 0 else high


def comparison(holds):
    return entrywise(lambda a, b: arb(int(holds(side(a, b)))))


# -- rows ----------------------------------------------------------------------------------


def turned(x):
    fit(len(x.shape) == 2)
    return Q(x.shape[::-1], [list(column) for column in zip(*x.rows, strict=True)])


def along(axis, of_row):
    """A function from each row to a row, of rows (-1 or 1) or columns (0)."""

    def made(x):
        fit(x.shape and (axis != 1 or len(x.shape) == 2))
        if axis == 0 and len(x.shape) == 2:
            return turned(along(-1, of_row)(turned(x)))
        return Q(x.shape, [of_row(row) for row in x.rows])

    return made


def reduced(axis, of_items):
    """A function from many entries to a number: all (None), each row or each column."""

    def made(x):
        if axis is None:
            return Q((), [[of_items(x.flat)]])
        fit(x.shape and (axis != 1 or len(x.shape) == 2))
        if len(x.shape) == 1:
            return Q((), [[of_items(x.rows[0])]])
        if axis == 0:
            return turned(reduced(-1, of_items)(turned(x)))
        return Q((x.shape[0], 1), [[of_items(row)] for row in x.rows])

    return made


def of_matrix(f):
    def made(x, *rest):
        fit(len(x.shape) == 2)
        return f(x, *rest)

    return made


def _powers(row):
    if all(x is None for x in row):
        raise Undefined("a row is masked whole")
    return [arb(0) if x is None else x.exp() for x in row]


def softmax_row(row, sink=None):
    powers = _powers(row) if sink is None else [arb(0) if x is None else x.exp() for x in row]
    below = total(powers) + (arb(0) if sink is None else number(sink).exp())
    return [x / below for x in powers]


def log_softmax_row(row):
    below = total(_powers(row)).log()
    return [None if x is None else x - below for x in row]


def sunk(axis):
    """softmax with a sink: a number, or one for each row."""

    def made(x, sink):
        fit(x.shape and (axis != 1 or len(x.shape) == 2))
        if axis == 0 and len(x.shape) == 2:
            return turned(sunk(-1)(turned(x), sink))
        n = x.grid[0]
        fit(sink.grid in ((1, 1), (n, 1)))
        scores = [sink.rows[i if len(sink.rows) > 1 else 0][0] for i in range(n)]
        return Q(x.shape, [softmax_row(row, y) for row, y in zip(x.rows, scores, strict=True)])

    return made


def _mean(items):
    return total(items) / len(items)


def _square(x):
    return x * x


def _variance(ddof, items):
    fit(len(items) > ddof)
    middle = _mean(items)
    return total(_square(number(x) - middle) for x in items) / (len(items) - ddof)


def _extreme(way, items):
    best = items[0]
    for x in items[1:]:
        if way * side(x, best) > 0:
            best = x
    return best


def _least(items):
    for x in items:
        number(x)
    return _extreme(-1, items)


def _entropy(items):
    found = arb(0)
    for x in items:
        if sign_of(number(x)) < 0:
            raise Undefined("a negative weight")
        if not x.is_zero():
            found -= x * x.log()
    return found


def _sums(row):
    return [total(row[: j + 1]) for j in range(len(row))]


def _length(items):
    return _sqrt(total(number(x) * number(x) for x in items))


def _affine(unit, gamma, beta):
    for one in (gamma, beta):
        m = unit.shape[-1]
        fit(one is None or one.shape in ((), (m,), (1, m)))

    def at(one, j, default):
        return default if one is None else number(one.rows[0][j if one.grid[1] > 1 else 0])

    return Q(
        unit.shape,
        [
            [x * at(gamma, j, arb(1)) + at(beta, j, arb(0)) for j, x in enumerate(row)]
            for row in unit.rows
        ],
    )


def layernorm(eps):
    def made(x, gamma=None, beta=None):
        def of_row(row):
            middle, below = _mean(row), _sqrt(_variance(0, row) + arb(eps))
            return [_over(number(y) - middle, below) for y in row]

        return _affine(along(-1, of_row)(x), gamma, beta)

    return made


def rmsnorm(eps):
    def made(x, gamma=None):
        def of_row(row):
            below = _sqrt(_mean([number(y) * number(y) for y in row]) + arb(eps))
            return [_over(y, below) for y in row]

        return _affine(along(-1, of_row)(x), gamma, None)

    return made


def _unit(row):
    below = _length(row)
    return [_over(x, below) for x in row]


# -- products and places -------------------------------------------------------------------


def matmul(x, y):
    fit(x.shape and y.shape)
    left = x.rows
    right = [[entry] for entry in y.rows[0]] if len(y.shape) == 1 else y.rows
    fit(len(left[0]) == len(right))

    def entry(i, j):
        return total(number(left[i][k]) * number(right[k][j]) for k in range(len(right)))

    rows = [[entry(i, j) for j in range(len(right[0]))] for i in range(len(left))]
    shape = x.shape[:-1] + y.shape[1:]
    if len(x.shape) == 2 and len(y.shape) == 1:
        rows = [[row[0] for row in rows]]
    return Q(shape, rows)


def transposed(x):
    return turned(x) if len(x.shape) == 2 else x


def concat(axis):
    def made(*parts):
        fit(all(part.shape for part in parts))
        if axis == 0:
            fit(len({part.grid[1] for part in parts}) == 1)
            rows = [row for part in parts for row in part.rows]
            return Q((len(rows), len(rows[0])), rows)
        fit(len({part.shape[:-1] for part in parts}) == 1)
        together = zip(*(part.rows for part in parts), strict=True)
        rows = [[x for row in rows for x in row] for rows in together]
        return Q((*parts[0].shape[:-1], len(rows[0])), rows)

    return made


def stack(*parts):
    fit(all(len(part.shape) == 1 for part in parts))
    return concat(0)(*parts)


def reshaped(x, *sizes):
    flat = x.flat
    count = sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
    fit(count == len(flat))
    width = sizes[-1]
    return Q(sizes, [flat[k : k + width] for k in range(0, count, width)])


def outer(x, y):
    fit(len(x.shape) == len(y.shape) == 1)
    a, b = x.rows[0], y.rows[0]
    return q((len(a), len(b)), lambda i, j: number(a[i]) * number(b[j]))


def diag(x):
    fit(x.shape)
    if len(x.shape) == 1:
        for entry in x.rows[0]:
            number(entry)
        return q(x.shape * 2, lambda i, j: x.rows[0][i] if i == j else arb(0))
    fit(x.shape[0] == x.shape[1])
    for entry in x.flat:
        number(entry)
    return Q(x.shape[:1], [[x.rows[i][i] for i in range(x.shape[0])]])


def repeat(times, axis):
    def made(x):
        fit(x.shape)
        if axis == 0 and len(x.shape) == 2:
            rows = [row for row in x.rows for _ in range(times)]
            return Q((len(rows), x.shape[1]), rows)
        rows = [[entry for entry in row for _ in range(times)] for row in x.rows]
        return Q((*x.shape[:-1], len(rows[0])), rows)

    return made


def onehot(n):
    def made(ids):
        fit(len(ids.shape) == 1)
        classes = [whole(x, n) for x in ids.rows[0]]
        return q((len(classes), n), lambda i, j: arb(int(classes[i] == j)))

    return made


def embedding(ids, table):
    fit(len(ids.shape) == 1 and len(table.shape) == 2)
    for x in table.flat:
        number(x)
    classes = [whole(x, table.shape[0]) for x in ids.rows[0]]
    return q((len(classes), table.shape[1]), lambda i, j: table.rows[classes[i]][j])


def head(k, heads):
    def made(x):
        fit(x.shape[1] % heads == 0)
        width = x.shape[1] // heads
        return q((x.shape[0], width), lambda i, j: x.rows[i][k * width + j])

    return of_matrix(made)


def sliced(rows, columns):
    def made(x):
        picked = [row[columns] for row in x.rows[rows]]
        fit(picked and picked[0])
        return Q((len(picked), len(picked[0])), picked)

    return of_matrix(made)


def row_of(x):
    fit(len(x.shape) == 2)
    return Q(x.shape[1:], [x.rows[-1]])


# -- scores --------------------------------------------------------------------------------


def kept(sees):
    """Scores hidden of keys that a query doesn't see: (query, key, queries, keys)."""

    def made(x):
        n, m = x.shape
        return q(x.shape, lambda i, j: x.rows[i][j] if sees(i, j, n, m) else None)

    return of_matrix(made)


def mask(x, keep):
    fit(spread([x.shape, keep.shape]) == x.shape)
    chosen = entrywise(lambda _, m: arb(int(bit(m))))(x, keep)
    return q(x.shape, lambda i, j: x.rows[i][j] if chosen.rows[i][j] == 1 else None)


def padding(x, length):
    fit(len(x.shape) == 2)
    count = whole(scalar(length), x.shape[1] + 1)
    return q(x.shape, lambda i, j: x.rows[i][j] if j < count else None)


def alibi(x, slope):
    fit(len(x.shape) == 2)
    by = scalar(slope)
    return q(x.shape, lambda i, j: _subtract(x.rows[i][j], by * abs(i - j)))


def softcap(x, cap):
    c = scalar(cap)
    return each(lambda a: c * _over(a, c).tanh())(x)


def additive(queries, keys, v):
    fit(len(queries.shape) == len(keys.shape) == 2 and len(v.shape) == 1)
    fit(queries.shape[1] == keys.shape[1] == v.shape[0])

    def entry(i, j):
        return total(
            number(v.rows[0][c]) * (number(queries.rows[i][c]) + number(keys.rows[j][c])).tanh()
            for c in range(v.shape[0])
        )

    return q((queries.shape[0], keys.shape[0]), entry)


def rope(base, interleaved=True):
    def made(x, at=None):
        fit(len(x.shape) == 2 and x.shape[1] % 2 == 0)
        n, d = x.shape
        fit(at is None or at.shape in ((), (n,)))

        def position(i):
            if at is None:
                return arb(i)
            return number(at.rows[0][i if at.shape else 0])

        def entry(i, j):
            c = j // 2 if interleaved else j % (d // 2)
            first, second = (2 * c, 2 * c + 1) if interleaved else (c, c + d // 2)
            angle = position(i) * arb(base) ** arb(fmpq(-2 * c, d))
            a, b = number(x.rows[i][first]), number(x.rows[i][second])
            if j == first:
                return a * angle.cos() - b * angle.sin()
            return a * angle.sin() + b * angle.cos()

        for entry_ in x.flat:
            number(entry_)
        return q(x.shape, entry)

    return made


def positions(n, d, base):
    def entry(i, j):
        angle = i * arb(base) ** arb(fmpq(-2 * (j // 2), d))
        return angle.cos() if j % 2 else angle.sin()

    return lambda: q((n, d), entry)


# -- losses --------------------------------------------------------------------------------


def _weights(x, targets):
    """Of every row of logits a weight for each class."""
    fit(x.shape)
    n, m = x.grid
    if targets.shape == x.shape:
        for t in targets.flat:
            if sign_of(number(t)) < 0:
                raise Undefined("a negative weight")
        return targets.rows
    fit(targets.shape == x.shape[:-1])
    classes = [whole(t, m) for t in targets.flat]
    return [[arb(int(classes[i] == j)) for j in range(m)] for i in range(n)]


def _weighed(weights, levels):
    found = arb(0)
    for t, level in zip(weights, levels, strict=True):
        if level is None:
            if not t.is_zero():
                raise Undefined("an infinite loss")
        else:
            found -= t * level
    return found


def cross_entropy(x, targets, smoothing=None):
    weights = _weights(x, targets)
    m = x.grid[1]
    if smoothing is not None:
        a = scalar(smoothing)
        if sign_of(a) < 0 or sign_of(1 - a) < 0:
            raise Undefined("no share")
        if not a.is_zero():
            weights = [[(1 - a) * t + a / m for t in row] for row in weights]
    pairs = zip(weights, x.rows, strict=True)
    losses = [_weighed(t, log_softmax_row(row)) for t, row in pairs]
    return Q((), [[_mean(losses)]])


def nll(x, targets):
    pairs = zip(_weights(x, targets), x.rows, strict=True)
    return Q((), [[_mean([_weighed(t, row) for t, row in pairs])]])


def binary_cross_entropy(x, targets):
    fit(x.shape == targets.shape)

    def loss(p, t):
        t = number(t)
        if sign_of(t) < 0 or sign_of(1 - t) < 0:
            raise Undefined("no share")
        return -(t * _log(number(p)) + (1 - t) * _log(1 - number(p)))

    return Q((), [[_mean([loss(p, t) for p, t in zip(x.flat, targets.flat, strict=True)])]])


def mse(x, targets):
    fit(x.shape == targets.shape)
    pairs = zip(x.flat, targets.flat, strict=True)
    return Q((), [[_mean([_square(number(a) - number(b)) for a, b in pairs])]])


# -- the table -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """How a function is written, with ``{0}``, ``{1}`` for its operands, its definition, and
    what its operands have to be for it to have a value, where not all will do."""

    text: str
    define: Callable[..., Q]
    kinds: tuple[str, ...] = ("x",)


def _calls() -> Iterator[Call]:
    f: Any
    holds: Callable[[int], bool]
    two = ("x", "x")
    for name, f in {
        "sqrt": _sqrt, "log": _log, "tanh": arb.tanh, "sin": arb.sin, "cos": arb.cos,
        "erf": arb.erf, "relu": lambda x: larger(x, arb(0)), "abs": lambda x: larger(x, -x),
        "sign": lambda x: arb(sign_of(x)), "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x),
        "softplus": lambda x: (1 + x.exp()).log(), "gelu": _gelu,
    }.items():  # fmt: skip
        masked = {"relu": arb(0), "softplus": arb(0), "sign": arb(-1)}.get(name)
        kind = {"sqrt": "weights", "log": "above"}.get(name, "x")
        yield Call(f"{name}({{0}})", each(f, masked), (kind,))
    yield Call("exp({0})", each(arb.exp, masked=arb(0)))
    yield Call('gelu({0}, approximate="tanh")', each(_gelu_tanh))
    yield Call("-({0})", each(lambda x: -x))
    for k in (-2, -1, 0, 1, 2, 3):
        yield Call(f"({{0}}) ** {k}", _power(k))
    yield Call("({0}) ** 0.5", each(_sqrt), ("weights",))
    for sign, f in {"+": _add, "-": _subtract, "*": _times, "/": _over}.items():
        yield Call(f"({{0}}) {sign} ({{1}})", entrywise(f), two)
    for sign, holds in {
        ">": lambda s: s > 0, ">=": lambda s: s >= 0, "<": lambda s: s < 0,
        "<=": lambda s: s <= 0, "==": lambda s: s == 0, "!=": lambda s: s != 0,
    }.items():  # fmt: skip
        yield Call(f"(({{0}}) {sign} ({{1}}))", comparison(holds), two)
    yield Call("maximum({0}, {1})", entrywise(larger), two)
    yield Call(
        "minimum({0}, {1})",
        entrywise(lambda a, b: number(b) if side(number(a), number(b)) > 0 else a),
        two,
    )
    yield Call("clip({0}, {1}, {2})", _clipped, ("x", "x", "x"))
    yield Call("where({0}, {1}, {2})", entrywise(_where), ("mask", "x", "x"))
    yield Call(
        "where({0}, {1}, -inf)",
        lambda m, x: mask(x, m),
        ("mask", "x"),
    )
    for name, f in {
        "rowsum": reduced(1, total), "colsum": reduced(0, total),
        "rowmax": reduced(1, partial(_extreme, 1)), "rowmin": reduced(1, _least),
    }.items():  # fmt: skip
        yield Call(f"{name}({{0}})", of_matrix(f))
    yield Call("total({0})", reduced(None, total))
    for axis in (None, 0, 1, -1):
        for name, f in {
            "sum": total, "mean": _mean, "max": partial(_extreme, 1), "min": _least,
            "var": partial(_variance, 0), "norm": _length,
        }.items():  # fmt: skip
            yield Call(f"{name}({{0}}, axis={axis})", reduced(axis, f))
        yield Call(f"var({{0}}, axis={axis}, ddof=1)", reduced(axis, partial(_variance, 1)))
        yield Call(
            f"std({{0}}, axis={axis})",
            reduced(axis, lambda items: _sqrt(_variance(0, items))),
        )
        if axis is not None:
            yield Call(
                f"logsumexp({{0}}, axis={axis})",
                reduced(axis, lambda items: total(_powers(items)).log()),
            )
            yield Call(f"entropy({{0}}, axis={axis})", reduced(axis, _entropy), ("weights",))
            yield Call(f"softmax({{0}}, axis={axis})", along(axis, softmax_row))
            yield Call(f"log_softmax({{0}}, axis={axis})", along(axis, log_softmax_row))
            yield Call(f"cumsum({{0}}, axis={axis})", along(axis, _sums))
            yield Call(f"softmax({{0}}, axis={axis}, sink={{1}})", sunk(axis), two)
    yield Call("softmax({0})", along(-1, softmax_row))
    yield Call("{1} - rowsum(softmax({0}) * {1})", _less_mean, two)
    yield Call("{1} - rowsum({1} * softmax({0}))", _less_mean, two)
    yield Call("softmax({0}) * ({1} - rowsum(softmax({0}) * {1}))", _flowing, two)
    yield Call("softmax({0}).T @ {1}", _mixed, two)
    for eps in ("0", "1/7"):
        made = layernorm(fmpq(*map(int, f"{eps}/1".split("/")[:2])))
        yield Call(f"layernorm({{0}}, eps={eps})", made)
        yield Call(f"layernorm({{0}}, {{1}}, {{2}}, eps={eps})", made, ("x", "x", "x"))
        made = rmsnorm(fmpq(*map(int, f"{eps}/1".split("/")[:2])))
        yield Call(f"rmsnorm({{0}}, eps={eps})", made)
        yield Call(f"rmsnorm({{0}}, {{1}}, eps={eps})", made, two)
    yield Call("l2norm({0})", along(-1, _unit))
    yield Call("({0}) @ ({1})", matmul, two)
    yield Call("({0}).T", transposed)
    for axis in (-1, 0):
        yield Call(f"concat({{0}}, {{1}}, axis={axis})", concat(axis), two)
        yield Call(f"repeat({{0}}, 2, axis={axis % 2})", repeat(2, axis % 2))
    yield Call("stack({0}, {1})", stack, two)
    for sizes in ((2,), (4,), (6,), (2, 2), (1, 4), (3, 2), (6, 1), (1, 3)):
        shown = ", ".join(map(str, sizes))
        yield Call(f"reshape({{0}}, {shown})", lambda x, sizes=sizes: reshaped(x, *sizes))
    yield Call("outer({0}, {1})", outer, two)
    yield Call("diag({0})", diag)
    yield Call("onehot({0}, 3)", onehot(3), ("ids",))
    yield Call("embedding({0}, {1})", embedding, ("ids", "x"))
    yield Call("head({0}, 1, 2)", head(1, 2))
    yield Call("({0})[::-1, 0:1]", sliced(slice(None, None, -1), slice(0, 1)))
    yield Call("({0})[-1]", row_of)
    yield Call("causal({0})", kept(lambda i, j, n, m: j <= i))
    yield Call('causal({0}, align="bottom-right")', kept(lambda i, j, n, m: j <= i + m - n))
    yield Call("window({0}, 1)", kept(lambda i, j, n, m: i - 1 <= j <= i))
    yield Call("window({0}, 0, 1)", kept(lambda i, j, n, m: i <= j <= i + 1))
    yield Call("mask({0}, {1})", mask, ("x", "mask"))
    yield Call("padding({0}, {1})", padding, ("x", "whole"))
    yield Call("alibi({0}, {1})", alibi, two)
    yield Call("softcap({0}, {1})", softcap, two)
    yield Call("additive({0}, {1}, {2})", additive, ("x", "x", "x"))
    yield Call("rope({0})", rope(10000))
    yield Call("rope({0}, positions={1}, base=3)", rope(3), two)
    yield Call("rope({0}, positions={1}, base=3, interleaved=False)", rope(3, False), two)
    yield Call("positions(2, 4, base=5)", positions(2, 4, 5), ())
    yield Call("cross_entropy({0}, {1})", cross_entropy, ("x", "targets"))
    yield Call(
        "cross_entropy({0}, {1}, label_smoothing={2})", cross_entropy, ("x", "targets", "share")
    )
    yield Call("nll({0}, {1})", nll, ("x", "targets"))
    yield Call("binary_cross_entropy({0}, {1})", binary_cross_entropy, ("share", "share"))
    yield Call("mse({0}, {1})", mse, two)


def _clipped(x, low, high):
    fit(spread([x.shape, low.shape, high.shape]) == x.shape)
    return entrywise(_clip)(x, low, high)


def _less_mean(c, x):
    weights = along(-1, softmax_row)(c)
    mean = of_matrix(reduced(1, total))(entrywise(_times)(weights, x))
    return entrywise(_subtract)(x, mean)


def _flowing(c, x):
    return entrywise(_times)(along(-1, softmax_row)(c), _less_mean(c, x))


def _mixed(c, x):
    return matmul(transposed(along(-1, softmax_row)(c)), x)


CALLS = tuple(_calls())


def _all(test):
    return lambda x: all(entry is not None and test(entry) for entry in x.flat)


#: What operands have to be.
KINDS = {
    "x": lambda x: True,
    "above": _all(lambda x: x > 0),
    "weights": _all(lambda x: x >= 0),
    "share": _all(lambda x: 0 < x < 1),
    "mask": _all(lambda x: x == 0 or x == 1),
    "whole": _all(lambda x: x.is_integer() and 0 <= x <= 3),
    "ids": _all(lambda x: x.is_integer() and 0 <= x <= 2),
    "targets": _all(lambda x: x >= 0),
}
