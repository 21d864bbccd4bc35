"""Inputs of attention that find faults, the same on every machine.

A sample's numbers are odd integers times powers of two, so each is a number of its format
exactly, with all its digits. The integers are cut from the stream of SHAKE-256 (FIPS 202)
over a text that names the array, ``"ordinary 0 q"`` say: 64 bits each, the lowest byte
first, of which the highest are taken. Samples of one kind and seed are so the same
numbers in every format, but for the digits that a narrower one lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import shake_256
from math import prod, sqrt
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from symattn.errors import Fault, Faults, expected
from symattn.expressions.shapes import Shape, show
from symattn.numbers.arrays import from_floats
from symattn.numbers.float_formats import FORMATS, BinaryFormat, FloatFormat

if TYPE_CHECKING:
    from symattn.solution.attention import Attention

#: The formats that vectors are made in; NumPy holds bfloat16, exactly, in float32. Samples are
#: made in any format.
Dtype = Literal["float16", "bfloat16", "float32", "float64"]
DTYPES: tuple[Dtype, ...] = get_args(Dtype)

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Sample:
    """Inputs of attention: queries, keys, values, the upstream gradient, and the options of
    :func:`symattn.attention` that go with them (without what is as usual)."""

    kind: str
    dtype: FloatFormat
    seed: int
    q: Array
    k: Array
    v: Array
    upstream: Array
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return what it is called: ``ordinary-float32-0``."""
        return f"{self.kind}-{self.dtype}-{self.seed}"

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {show(getattr(self, name).shape)}" for name in "qkv")
        return f"<{self.name}: {', '.join((shapes, *self.options))}>"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`symattn.attention`, exact.

        >>> sorted(sample("capped", "float32").arguments)
        ['causal', 'k', 'q', 'softcap', 'v']
        """
        given = {"q": self.q, "k": self.k, "v": self.v, **self.options}
        return {name: _exactly(value) for name, value in given.items()}

    def exact(self) -> Attention:
        """The exact attention of these inputs.

        >>> sample("one-key", "float16").exact().weights.decimal(1)[0]
        (Decimal('1.0'),)
        """
        from symattn.solution.attention import attention

        return attention(**self.arguments)

    @property
    def visible(self) -> npt.NDArray[np.bool_] | None:
        """Return which keys each query sees, whatever option says it: a mask for kernels that take
        no other; None where all see all.

        >>> sample("rectangular", n=5).visible.astype(int).tolist()
        [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
        """
        from symattn.solution.layouts import seen

        options = {name: self.options.get(name) for name in ("mask", "causal", "window", "lengths")}
        return seen(self.q.shape[:-2], self.q.shape[-2], self.k.shape[-2], **options)


def _exactly(value: Any) -> Any:
    is_array = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return from_floats(value) if is_array or isinstance(value, float) else value


@dataclass(frozen=True)
class SampleDraw:
    """The draw that the numbers of a sample come from: its lengths, its format, and its name.

    There are ``n_q`` queries and ``n_k`` keys of ``d_k`` columns, values of ``d_v``; ``lead``
    are the leading axes of keys, ``group`` heads of queries share one of keys.
    """

    kind: str
    form: BinaryFormat
    seed: int
    n_q: int
    n_k: int
    d_k: int
    d_v: int
    lead: Shape = ()
    group: int = 1

    def all(self, q: int = 1, k: int = 1, v: int = 1, upstream: int = 0) -> dict[str, Array]:
        """All arrays; each number is below 2 to the array's power."""
        heads = (*self.lead[:-1], self.lead[-1] * self.group) if self.lead else ()
        return {
            "q": self.numbers("q", (*heads, self.n_q, self.d_k), q),
            "k": self.numbers("k", (*self.lead, self.n_k, self.d_k), k),
            "v": self.numbers("v", (*self.lead, self.n_k, self.d_v), v),
            "upstream": self.numbers("upstream", (*heads, self.n_q, self.d_v), upstream),
        }

    def numbers(self, name: str, shape: Shape, power: int, digits: int = 0) -> Array:
        """Numbers between plus and minus ``2**power``, of so many digits, or of all that the
        format has."""
        digits = digits or self.form.digits
        stream = shake_256(f"{self.kind} {self.seed} {name}".encode()).digest(8 * prod(shape))
        highest = np.frombuffer(stream, "<u8") >> np.uint64(64 - digits)
        odd = 2 * highest.astype(np.int64) + 1 - (1 << digits)
        return np.ldexp(odd.astype(np.float64), power - digits).reshape(shape)

    def keep(self) -> npt.NDArray[np.bool_]:
        """A mask that hides half of the keys, of each row another half, but not all."""
        kept = self.numbers("mask", (self.n_q, self.n_k), 0) > 0
        rows = np.arange(self.n_q)
        kept[rows, rows % self.n_k] = True
        return kept


#: The arrays of a sample, and its options.
Made = tuple[dict[str, Array], dict[str, Any]]


def _given(**options: Any) -> Callable[[SampleDraw], Made]:
    """Ordinary numbers, with these options."""
    return lambda draw: (draw.all(), {**options})


def _cancelling(draw: SampleDraw) -> Made:
    """Keys and values in pairs: of the first columns of values one is nearly the other's
    negative; the last are nearly constant, so that what flows into the scores is too."""
    arrays = draw.all()
    half = max(draw.form.digits // 2 - 1, 1)
    first = draw.d_v // 2
    of_pairs = slice(0, 2 * (draw.n_k // 2), 2)
    arrays["k"][..., 1::2, :] = arrays["k"][..., of_pairs, :]
    v = draw.numbers("v", arrays["v"].shape, 0, half)
    v[..., 1::2, :first] = -v[..., of_pairs, :first] * (1 - 2.0**-half)
    v[..., first:] = 1 + v[..., first:] * 2.0**-half
    arrays["upstream"][..., :first] *= 2.0**-half
    return {**arrays, "v": v}, {}


def _huge(draw: SampleDraw) -> Made:
    top = draw.form.highest
    return draw.all(q=top - 6, k=6 - top, v=top - 8, upstream=8 - top), {}


def _equal_keys(draw: SampleDraw) -> Made:
    arrays = draw.all()
    arrays["k"][...] = arrays["k"][..., :1, :]
    return arrays, {}


def _empty_row(draw: SampleDraw) -> Made:
    kept = draw.keep()
    kept[0] = False
    return draw.all(), {"mask": kept, "on_empty_row": "zero"}


def _sunk(arrays: dict[str, Array], queries: Array | float, keys: Array | float) -> None:
    """Let first columns add, to the scores before scaling, minus a product: exact in all
    formats, and far more than the other columns add."""
    arrays["q"][..., 0] = queries
    arrays["k"][..., 0] = np.negative(keys)


#: Digits of float8, at most.
_NARROW = 4


def _far_below(draw: SampleDraw) -> Made:
    arrays = draw.all()
    times = np.array([1, 8, -8])[np.arange(draw.n_q) % 3]
    # What float8 has, and 8 times that.
    least = 16 if draw.form.digits <= _NARROW else round(8 * sqrt(draw.d_k))
    _sunk(arrays, times * least, 16)
    return arrays, {}


def _mask_reached(draw: SampleDraw) -> Made:
    arrays = draw.all()
    is_seen = np.arange(draw.n_k) % 2 == 0
    # What is not scaled yet must be no overflow in float16.
    q, k = (8, 7680) if draw.form.highest < 16 else (round(8 * sqrt(draw.d_k)), 30720)
    if draw.form.digits <= _NARROW:
        q, k = 192, 192
    signs = np.where(np.arange(draw.n_q) % 3 == 2, -1, 1)
    _sunk(arrays, signs * q, np.where(is_seen, k, 0))
    return arrays, {"mask": np.tile(is_seen, (draw.n_q, 1))}


@dataclass(frozen=True)
class SampleKind:
    """A kind of samples: what it is, how it is made, and the lengths of its axes, which
    are those that are asked for unless changed here."""

    what: str
    make: Callable[[SampleDraw], Made]
    lengths: Callable[[int, int], dict[str, int]] = lambda n, d: {}
    grouped: bool = False


#: The kinds that every kernel should be tried on, and those that try one option.
KINDS: Mapping[str, SampleKind] = {
    "ordinary": SampleKind("numbers below 2", _given()),
    "saturated": SampleKind("scores so far apart that one key takes nearly all weight",
        lambda draw: (draw.all(q=4, k=4), {})),
    "cancelling": SampleKind("outputs and gradients whose terms cancel", _cancelling),
    "masked": SampleKind("a boolean mask, another half of the keys in each row",
        lambda draw: (draw.all(), {"mask": draw.keep()})),
    "rectangular": SampleKind("fewer queries than keys, the last of them causal (bottom-right)",
        _given(causal="bottom-right"), lambda n, d: {"n_q": (n - 1) // 2 or 1}),
    "grouped": SampleKind("two heads of queries for each of keys", _given(), grouped=True),
    "equal-keys": SampleKind("keys that are all equal: weights are equal, dQ is 0",
        _equal_keys, lambda n, d: {"n_k": n - 1 | 1}),
    "huge": SampleKind("queries and values near overflow, products that are not", _huge),
    "tiny": SampleKind("queries and values that underflow, subnormal results",
        lambda draw: (draw.all(q=draw.form.lowest + 1, v=draw.form.lowest + 1), {})),
    "one-key": SampleKind("one key: outputs are its value, dQ and dK are 0",
        _given(), lambda n, d: {"n_k": 1}),
    "causal": SampleKind("as many queries as keys, each sees those up to its own",
        _given(causal="top-left")),
    "windowed": SampleKind("two keys to the left of each query's own", _given(window=(2, 0))),
    "padded": SampleKind("the last third of the keys masked by a length",
        lambda draw: (draw.all(), {"lengths": draw.n_k - draw.n_k // 3})),
    "biased": SampleKind("a bias added to the scores",
        lambda draw: (draw.all(), {"bias": draw.numbers("bias", (draw.n_q, draw.n_k), 1)})),
    "capped": SampleKind("large scores, capped before the causal mask",
        lambda draw: (draw.all(q=2, k=2), {"causal": "top-left", "softcap": 2.0})),
    "sink": SampleKind("a sink that takes weight and gives no value", _given(sink=0.5)),
    "narrow-values": SampleKind("values of half as many columns as keys",
        _given(), lambda n, d: {"d_v": d // 2}),
    "empty-row": SampleKind("the first query fully masked: its output is 0", _empty_row),
    "far-below": SampleKind(
        "all scores of a row near -128, -1024 or 1024: a maximum begun at 0 is none", _far_below),
    "mask-reached": SampleKind("keys that are seen score far less than masked ones, but in each "
        "third row: adding -1e4 hides nothing", _mask_reached),
    "few-keys": SampleKind("three keys, fewer than a tile has", _given(), lambda n, d: {"n_k": 3}),
    "below-tile": SampleKind("15 queries and 127 keys: one less than tiles have",
        _given(), lambda n, d: {"n_q": 15, "n_k": 127}),
    "above-tile": SampleKind("17 queries and 129 keys: one more than tiles have",
        _given(), lambda n, d: {"n_q": 17, "n_k": 129}),
}  # fmt: skip
#: What needs no option but a mask, and the causal order: the first ten, and the last five.
STANDARD: tuple[str, ...] = (*(*KINDS,)[:10], *(*KINDS,)[-5:])

#: Lengths that samples can have.
_LENGTHS = range(2, 1025)


def sample(
    kind: str, dtype: str = "float32", seed: int = 0, *, n: int = 8, d: int = 8, lead: Shape = ()
) -> Sample:
    """The sample of a kind (:data:`KINDS`), a format and a seed: n queries and keys of d
    columns, but for kinds that say otherwise, along the leading axes ``lead``.

    The same on every machine. Raises :class:`Malformed` for what there is not.

    >>> sample("rectangular", "bfloat16", seed=3)
    <rectangular-bfloat16-3: q 3x8, k 8x8, v 8x8, causal>
    >>> sample("grouped", lead=(2, 3)).q.shape, float(sample("ordinary").q[0, 0]).hex()
    ((2, 6, 8, 8), '0x1.3b26f80000000p-2')
    """
    faults = Faults()
    for where, name, known in (("kind", kind, (*KINDS,)), ("dtype", dtype, (*FORMATS,))):
        if name not in known:
            faults.append(Fault(where, f"unknown {where} {name!r}: {expected(name, known)}"))
    if not isinstance(seed, int) or seed < 0:
        faults.append(Fault("seed", f"expected a whole number from 0 on, found {seed!r}"))
    for where, length in (("n", n), ("d", d)):
        if length not in _LENGTHS:
            wanted = f"expected {_LENGTHS[0]} to {_LENGTHS[-1]}"
            faults.append(Fault(where, f"{wanted}, found {length!r}"))
    if any(not isinstance(length, int) or length < 1 for length in lead):
        faults.append(Fault("lead", f"expected lengths from 1 on, found {lead!r}"))
    faults.raise_all()
    recipe = KINDS[kind]
    form = FORMATS[dtype]  # type: ignore[index]
    lengths = {"n_q": n, "n_k": n, "d_k": d, "d_v": d, **recipe.lengths(n, d)}
    group = 2 if recipe.grouped else 1
    lead = (*lead,) or ((2,) if recipe.grouped else ())
    numbers, options = recipe.make(SampleDraw(kind, form, seed, **lengths, lead=lead, group=group))
    stored = np.dtype(dtype if dtype in ("float16", "float32", "float64") else "float32")
    arrays = {name: array.astype(stored) for name, array in numbers.items()}
    if "bias" in options:
        options["bias"] = options["bias"].astype(stored)
    return Sample(kind, form.name, seed, **arrays, options=options)
