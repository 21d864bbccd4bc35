"""Attention of packed, padded and biased arrays beside loops over one sequence at a time.

    SYMATTN_CAMPAIGN=1e6 pytest -n 0 -m campaign tests/campaigns/test_layouts.py

rounds so many results to floats and so many to decimals, of each kind of layout. The loops are
the definition, number by number in MPFR: they know no padding, no leading axes and no blocks.
Sequences have no tokens, one, or several; what stands in padding is drawn like the rest, minus
infinities of a bias among it.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, count, product
from typing import Any

import gmpy2
import numpy as np
import pytest

from symattn import from_floats, from_pages
from symattn.errors import Malformed
from symattn.numbers.rounding import RoundingMode
from symattn.solution.arguments import AttentionOptions, heads_of
from symattn.solution.attention import Attention, attention
from symattn.solution.blocks import BlockedSolution

from .rounding import FORMATS, MODES, Bracket, by_mpfr, counts, float_of, same

KINDS = ("packed", "padded", "biased")
EMPTY = ("error", "zero", "nan", "mean")
#: Bits that are computed with, and those behind the point that are right.
BITS, RIGHT = 2600, 2300
PLACES = (0, 2, 7, 20, 60)
#: Ways of rounding to decimals that a call is tried with.
WAYS = 3
HIDES = -math.inf

#: A result: a bracket, or what is no number.
Result = Bracket | float
Table = dict[tuple[int, ...], Result]


@dataclass
class Call:
    """Sequences with arrays of their own, tokens x heads x features, and what symattn is asked."""

    q: list[Any]
    k: list[Any]
    v: list[Any]
    upstream: list[Any]
    #: Of the keys of each sequence so many are no padding.
    lengths: list[int]
    #: Batch x heads x longest x longest.
    bias: Any
    mask: Any
    sink: list[Any] | None
    options: dict[str, Any]
    layout: dict[str, Any] = field(default_factory=dict)
    form: str = "packed"
    rows: int | None = None
    is_float: bool = True


def drawn(seed: str, kind: str, is_float: bool) -> Call:
    """A call of one kind with options drawn at random."""
    chance = random.Random(f"{seed} {kind} {is_float}")
    form = chance.choice(
        {"packed": ["packed", "packed", "ragged"], "padded": ["padded", "paged", "ragged"]}.get(
            kind, ["packed", "padded", "paged", "ragged", "packed"]
        )
    )
    most = chance.choice((2, 3, 5)) if is_float else chance.choice((1, 2, 3))
    batch, group, heads = (chance.choice((1, 2, 3)), *chance.choices((1, 1, 2), k=2))
    d, columns = chance.choice((1, 2, 4)), chance.choice((1, 2, 3))
    size, whole = chance.choice((1, 1, 4, 1e-3)), chance.random() < 0.3
    dtype = np.dtype(chance.choice(("float64", "float32", "float16")))

    def number() -> Any:
        if not is_float:
            below = chance.choice((1, 2, 3, 10))
            return Fraction(chance.randint(-9, 9), below)
        x = chance.gauss(0, 1) * size
        return float(dtype.type(round(2 * x) / 2 if whole else x))

    def table(*shape: int) -> Any:
        made = np.empty(shape, dtype=object)
        for place in np.ndindex(*shape):
            made[place] = number()
        return made

    def lengths() -> list[int]:
        found = [chance.choice((0, 1, *range(most + 1))) for _ in range(batch)]
        found[chance.randrange(batch)] = most
        return found

    n_q = lengths() if form in ("packed", "ragged") else [most] * batch
    n_k = n_q if form == "packed" and chance.random() < 0.3 else lengths()
    is_padded = form != "packed"
    width = [max(n_k)] * batch if is_padded else n_k
    long_q, long_k = max(n_q), max(width)
    options: dict[str, Any] = {"on_empty_row": chance.choice(EMPTY)}
    if chance.random() < 0.4:
        options["scale"] = Fraction(chance.randint(1, 8), 8)
    if chance.random() < 0.25:
        options["softcap"] = chance.randint(1, 20)
    if chance.random() < 0.5:
        options["causal"] = chance.choice(("top-left", "bottom-right"))
    if chance.random() < 0.3:
        options["window"] = tuple(chance.choice((None, 0, 1, 2)) for _ in range(2))
    k, v = ([table(m, heads, wide) for m in width] for wide in (d, columns))
    if form == "paged":
        for pad, x in product(range(batch), (k, v)):
            x[pad][n_k[pad] :] = number() * 0
    shape = (
        (long_q, long_k)
        if chance.random() < 0.3
        else (chance.choice((1, batch)), chance.choice((1, group * heads)), long_q, long_k)
    )
    bias = mask = None
    if kind == "biased" or chance.random() < 0.15:
        bias = table(*shape)
        if chance.random() < 0.3:
            slopes = [Fraction(1, 2**h) for h in range(1, group * heads + 1)]
            far = np.arange(long_k)[None, :] - np.arange(long_q)[:, None]
            bias = np.array([[[[s * int(x) for x in row] for row in far] for s in slopes]], object)
            bias = bias.astype(float).astype(object) if is_float else bias
        for place in np.ndindex(*bias.shape):
            if chance.random() < 0.25:
                bias[place] = HIDES
        if chance.random() < 0.4:
            bias[..., chance.randrange(long_q), :] = HIDES
        if bias.ndim == 4 and bias.shape[0] == batch and chance.random() < 0.5:
            # As an additive mask of a padded batch has it.
            for n, (rows, keys) in enumerate(zip(n_q, n_k, strict=True)):
                bias[n, :, rows:], bias[n, :, :, keys:] = HIDES, HIDES
    if chance.random() < 0.3:
        mask = np.array([chance.random() < 0.6 for _ in range(math.prod(shape))]).reshape(shape)
    sink = [number() for _ in range(group * heads)] if chance.random() < 0.2 else None
    layout: dict[str, Any] = {}
    if form in ("packed", "ragged"):
        layout["layout"] = chance.choice(("thd", "htd", "tdh"))
        layout["cu_seqlens_q"] = [0, *accumulate(n_q)]
    else:
        layout["layout"] = chance.choice(("bshd", "sbhd", "bhsd")) if form == "padded" else "bshd"
    if is_padded:
        layout["lengths"] = n_k
    elif n_k is not n_q or chance.random() < 0.5:
        layout["cu_seqlens_k"] = [0, *accumulate(n_k)]
    return Call(
        [table(n, group * heads, d) for n in n_q], k, v,
        [table(n, group * heads, columns) for n in n_q],
        n_k if is_padded else width, bias, mask, sink, options, layout, form,
        chance.choice((None, None, 1, 2)) if is_float else None, is_float,
    )  # fmt: skip


# -- what symattn is handed, and what it gives ---------------------------------------------


def joined(call: Call, parts: list[Any], of_keys: bool = False) -> Any:
    """The arrays of all sequences as one, in the axes of the layout."""
    letters = call.layout["layout"]
    if "t" in letters and not (of_keys and call.form == "ragged"):
        axes, whole = "thd", np.concatenate(parts)
    else:
        axes, whole = "bshd", np.stack(parts)
        letters = letters.replace("t", "bs")
    return whole.transpose([axes.index(x) for x in letters])


def parted(call: Call, name: str, whole: Any) -> Any:
    """The entry of a result at (sequence, head, token, column)."""
    letters, starts = call.layout["layout"], [0, *accumulate(map(len, call.q))]
    of_keys = name in ("dK", "dV")
    if name == "lse":
        letters = "".join(x for x in ("ht" if "t" in letters else "bhs"))
    elif of_keys and call.form == "ragged":
        letters = letters.replace("t", "bs")
    elif of_keys:
        starts = [0, *accumulate(map(len, call.k))]

    def at(place: tuple[int, ...]) -> Any:
        n, head, token, *column = place
        known = {"b": n, "h": head, "s": token, "t": starts[n] + token, "d": (column or [0])[0]}
        return whole[tuple(known[x] for x in letters)]

    return at


def given(call: Call, whole: Any) -> Any:
    return from_floats(whole.astype(float)) if call.is_float else whole.tolist()


def asked(call: Call) -> dict[str, Any]:
    """The results of symattn, by name."""
    options = call.options | call.layout
    if call.bias is not None:
        plain = np.vectorize(lambda x: "-inf" if x == HIDES else x, otypes=[object])(call.bias)
        options["bias"] = given(call, call.bias) if call.is_float else plain.tolist()
    if call.mask is not None:
        options["mask"] = call.mask
    if call.sink is not None:
        options["sink"] = [Fraction(x) for x in call.sink]
    q = given(call, joined(call, call.q))
    k, v = (given(call, joined(call, x, of_keys=True)) for x in (call.k, call.v))
    if call.form == "paged" and call.is_float:
        k, v = (paged(x, call.lengths) for x in (call.k, call.v))
    if call.rows is None:
        exact = attention(q, k, v, **options)
    else:
        heads, layout = heads_of(q, k, v, AttentionOptions(**options))
        is_none = options["on_empty_row"] == "nan" and bool(layout.empty.any())
        blocks = [BlockedSolution(head, rows=call.rows) for head in heads]
        exact = Attention(blocks, layout, is_none)
    back = exact.backward(given(call, joined(call, call.upstream)))
    return {"output": exact.output, "lse": exact.lse, "dQ": back.dQ, "dK": back.dK, "dV": back.dV}


def paged(parts: list[Any], lengths: list[int]) -> Any:
    """The same keys in pages of two tokens, in reverse order."""
    tokens = 2 * max(1, -(-max(lengths) // 2))
    whole = np.full((len(parts), tokens, *parts[0].shape[1:]), 7.0)
    for n, part in enumerate(parts):
        whole[n, : lengths[n]] = part[: lengths[n]]
    pages = whole.reshape(-1, 2, *whole.shape[2:])[::-1]
    table = np.arange(len(pages))[::-1].reshape(len(parts), -1)
    return from_pages(pages, table, lengths)


# -- the loops -----------------------------------------------------------------------------


def high(x: Any) -> Any:
    return gmpy2.mpfr(gmpy2.mpq(Fraction(x)))


def sees(call: Call, n: int, head: int, i: int, j: int) -> bool:
    """Whether a query of a sequence sees a key of its own."""

    def at(table: Any) -> Any:
        if table.ndim == 2:
            return table[i, j]
        return table[n % table.shape[0], head % table.shape[1], i, j]

    ahead = j - i
    if call.options.get("causal") != "top-left":
        ahead -= call.lengths[n] - len(call.q[n])
    left, right = call.options.get("window", (None, None))
    return bool(
        j < call.lengths[n]
        and (call.mask is None or at(call.mask))
        and (call.bias is None or at(call.bias) != HIDES)
        and ("causal" not in call.options or ahead <= 0)
        and (left is None or ahead >= -left)
        and (right is None or ahead <= right)
    )


def truth(call: Call) -> tuple[dict[str, Table], bool]:
    """All results by their places, and whether a query sees no key."""
    found: dict[str, Table] = {name: {} for name in ("output", "lse", "dQ", "dK", "dV")}
    has_empty = False
    for n in range(len(call.q)):
        shared = call.q[n].shape[1] // call.k[n].shape[1]
        for head in range(call.k[n].shape[1]):
            flows = Flows(call, n, head)
            for each in range(head * shared, (head + 1) * shared):
                for i in range(len(call.q[n])):
                    has_empty |= flows.row(each, i, found)
            flows.end(found)
    return found, has_empty


class Flows:
    """What flows into the keys and values of one head of a sequence."""

    def __init__(self, call: Call, n: int, head: int) -> None:
        self.call, self.n, self.head = call, n, head
        self.k, self.v = ([list(map(high, row)) for row in x[n][:, head]] for x in (call.k, call.v))
        self.dk = [[gmpy2.mpfr(0)] * call.k[n].shape[2] for _ in self.k]
        self.dv = [[gmpy2.mpfr(0)] * call.v[n].shape[2] for _ in self.v]
        self.is_none = False

    def row(self, each: int, i: int, found: dict[str, Table]) -> bool:
        """One query; whether it sees no key."""
        call, n, o = self.call, self.n, self.call.options
        q = list(map(high, call.q[n][i, each]))
        above = list(map(high, call.upstream[n][i, each]))
        scale = high(o["scale"]) if "scale" in o else 1 / gmpy2.sqrt(gmpy2.mpfr(len(q)))
        powers, slopes = {}, {}
        for j, key in enumerate(self.k):
            if not sees(call, n, each, i, j):
                continue
            s, slopes[j] = dot(q, key) * scale, scale
            if "softcap" in o:
                t = gmpy2.tanh(s / o["softcap"])
                s, slopes[j] = t * o["softcap"], scale * (1 - t * t)
            if call.bias is not None:
                b = call.bias
                s += high(b[i, j] if b.ndim == 2 else b[n % len(b), each % b.shape[1], i, j])
            powers[j] = gmpy2.exp(s)
        below = sum(powers.values(), gmpy2.mpfr(0))
        if call.sink is not None:
            below += gmpy2.exp(high(call.sink[each]))
        is_empty = not powers and call.sink is None
        weights = {j: x / below for j, x in powers.items()}
        if is_empty and o["on_empty_row"] == "mean":
            weights = {j: 1 / gmpy2.mpfr(len(self.k)) for j in range(len(self.k))}
        is_none = is_empty and o["on_empty_row"] == "nan"
        self.is_none |= is_none
        nothing = math.nan if is_none else HIDES
        found["lse"][n, each, i] = nothing if is_empty else settled(gmpy2.log(below))
        for c in range(len(above)):
            y = sum((w * self.v[j][c] for j, w in weights.items()), gmpy2.mpfr(0))
            found["output"][n, each, i, c] = math.nan if is_none else settled(y)
        into = {j: dot(above, self.v[j]) for j in weights}
        mean = sum((w * into[j] for j, w in weights.items()), gmpy2.mpfr(0))
        ds = {j: weights[j] * (into[j] - mean) * slopes[j] for j in powers}
        for c in range(len(q)):
            x = sum((ds[j] * self.k[j][c] for j in ds), gmpy2.mpfr(0))
            found["dQ"][n, each, i, c] = math.nan if is_none else settled(x)
        for j, w in weights.items():
            self.dv[j] = [x + w * y for x, y in zip(self.dv[j], above, strict=True)]
        for j, x in ds.items():
            self.dk[j] = [y + x * z for y, z in zip(self.dk[j], q, strict=True)]
        return is_empty

    def end(self, found: dict[str, Table]) -> None:
        for name, sums in (("dK", self.dk), ("dV", self.dv)):
            for j, row in enumerate(sums):
                for c, x in enumerate(row):
                    at = self.n, self.head, j, c
                    found[name][at] = math.nan if self.is_none else settled(x)


def dot(a: list[Any], b: list[Any]) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True)), gmpy2.mpfr(0))


def settled(x: Any) -> Bracket:
    return by_mpfr(x, RIGHT)


# -- the two side by side --------------------------------------------------------------------


def judged(seed: str, kind: str, is_float: bool) -> Iterator[str | None]:
    """None for each result that is right as a float or decimal, and what is said of others."""
    call = drawn(seed, kind, is_float)
    with gmpy2.context(gmpy2.get_context(), precision=BITS):
        right, has_empty = truth(call)
    is_refused = has_empty and call.options["on_empty_row"] == "error"
    try:
        made = asked(call)
    except Malformed as error:
        is_told = is_refused and "nothing is left to attend to" in str(error)
        yield None if is_told else f"{seed}: {error}"
        return
    if is_refused:
        yield f"{seed}: a query that sees no key was accepted"
        return
    for name, quantity in made.items():
        if not right[name]:
            continue
        chosen = random.Random(f"{seed} {name}").sample([*product(PLACES, MODES)], WAYS)
        each = in_floats(quantity) if is_float else in_decimals(quantity, right[name], chosen)
        for how, of, wanted in each:
            at = parted(call, name, of)
            for place, result in right[name].items():
                found, best = at(place), wanted(result)
                is_right = same(float(found), best) if is_float else found == best
                told = f"{seed}: {name}{list(place)} {how}: {found}, not {best}"
                yield None if is_right else told


Wanted = tuple[str, Any, Callable[[Result], Any]]


def in_floats(quantity: Any) -> Iterator[Wanted]:
    for form in FORMATS:

        def wanted(result: Result, form: str = form) -> float:
            if isinstance(result, Bracket):
                return float(result.settled(float_of(form)))
            # What is masked is minus infinity, which this format lacks.
            return result if form != "float8_e4m3fn" else math.nan

        yield form, quantity.nearest(form), wanted


def in_decimals(
    quantity: Any, right: Table, ways: list[tuple[int, RoundingMode]]
) -> Iterator[Wanted]:
    if any(isinstance(x, float) and math.isnan(x) for x in right.values()):
        with pytest.raises(Malformed, match="not numbers: they have no digits"):
            quantity.decimal()
        return
    for places, mode in ways:

        def wanted(result: Result, places: int = places, k: int = MODES.index(mode)) -> Decimal:
            if not isinstance(result, Bracket):
                return Decimal("-Infinity")
            whole = result.settled(lambda *x: counts(*x)[k], Fraction(10**places))
            return Decimal(f"{whole}e-{places}")

        found = np.array(quantity.decimal(places, mode), dtype=object)
        yield f"{places} {mode}", found, wanted


def campaign(wanted: float, kind: str, is_float: bool, seed: str = "") -> tuple[int, list[str]]:
    """How many results were judged, and those that are wrong."""
    many, wrong = 0, []
    for k in count():
        for said in judged(f"{seed}{k}", kind, is_float):
            many += 1
            if said:
                wrong.append(said)
        if many >= wanted:
            return many, wrong
    raise AssertionError


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_float", [True, False], ids=["floats", "decimals"])
def test_a_sample_of_layouts_is_right(kind: str, is_float: bool) -> None:
    wanted = 10_000 if is_float else 4_000
    many, wrong = campaign(wanted, kind, is_float)
    assert many >= wanted
    assert wrong == []


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_float", [True, False], ids=["floats", "decimals"])
def test_many_results_of_layouts_are_right(kind: str, is_float: bool) -> None:
    """A million, or as many as SYMATTN_CAMPAIGN says."""
    wanted = float(Fraction(os.environ.get("SYMATTN_CAMPAIGN", "1e6")))
    many, wrong = campaign(wanted, kind, is_float, os.environ.get("SYMATTN_CAMPAIGN_SEED", ""))
    name = "floats" if is_float else "decimals"
    print(f"{kind}: {many} {name}, {len(wrong)} wrong", *wrong[:20], sep="\n")
    assert wrong == []
