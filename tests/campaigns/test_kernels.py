"""Results of attention of floats, rounded to every format, beside its plain definition in Arb.

SYMATTN_CAMPAIGN=1e7 pytest -n 0 -m campaign tests/campaigns/test_kernels.py

Masks, windows, lengths, biases, soft caps, sinks, queries that share keys, and queries that see
no key; heads solved whole and in blocks; ties and zeros.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb, ctx

from symattn import from_floats
from symattn.numbers.balls import precision
from symattn.solution.arguments import AttentionOptions, heads_of
from symattn.solution.attention import Attention, attention
from symattn.solution.blocks import BlockedSolution

from .rounding import FORMATS as KNOWN
from .rounding import float_of, same

Array = npt.NDArray[Any]
BITS = 600
FORMATS = tuple(KNOWN)


@dataclass
class Call:
    """Attention of one head of keys, which ``q`` (group x n_q x d) shares."""

    q: Array
    k: Array
    v: Array
    upstream: Array
    sees: npt.NDArray[np.bool_]
    rows: int | None
    options: dict[str, Any] = field(default_factory=dict)

    def quantities(self) -> dict[str, Any]:
        """The results of symattn, by name."""
        several = len(self.q) > 1
        queries, upstream = (x if several else x[0] for x in (self.q, self.upstream))
        k, v = (x[None] if several else x for x in (self.k, self.v))
        options = dict(self.options)
        if "bias" in options:
            options["bias"] = from_floats(options["bias"])
        if "sink" in options:
            options["sink"] = [Fraction(x) for x in options["sink"]]
            options["sink"] = options["sink"] if several else options["sink"][0]
        given: list[Any] = [*map(from_floats, (queries, k, v))]
        if self.rows is None:
            exact = attention(given[0], given[1], given[2], **options)
        else:
            heads, layout = heads_of(given[0], given[1], given[2], AttentionOptions(**options))
            exact = Attention([BlockedSolution(head, rows=self.rows) for head in heads], layout)
        back = exact.backward(from_floats(upstream))
        return {
            "output": exact.output, "lse": exact.lse, "dQ": back.dQ, "dK": back.dK, "dV": back.dV,
        }  # fmt: skip


def drawn(seed: int) -> Call:
    """A call with options drawn at random."""
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    group, n, m = chance.choice((1, 1, 1, 2)), chance.randint(1, 12), chance.randint(1, 12)
    d, columns = chance.choice((1, 2, 4, 5, 8)), chance.randint(1, 6)
    dtype = chance.choice(("float64", "float32", "float16"))
    size = chance.choice((1, 1, 1, 8, 1e-3))
    whole = chance.random() < 0.3

    def numbers(*shape: int) -> Array:
        drawn = rng.normal(size=shape) * size
        return (np.rint(2 * drawn) / 2 if whole else drawn).astype(dtype)

    q, k, v = numbers(group, n, d), numbers(m, d), numbers(m, columns)
    upstream = numbers(group, n, columns)
    if chance.random() < 0.15:
        k[:] = k[0]
    if chance.random() < 0.1:
        v[:] = v[0]
    if chance.random() < 0.1:
        q[chance.randrange(group)] = 0
    options: dict[str, Any] = {"on_empty_row": chance.choice(("zero", "mean"))}
    if chance.random() < 0.3:
        options["scale"] = Fraction(chance.randint(1, 8), 8)
    if chance.random() < 0.25:
        options["softcap"] = chance.randint(1, 20)
    if chance.random() < 0.25:
        options["bias"] = numbers(n, m)
    if chance.random() < 0.25:
        options["sink"] = numbers(group).astype(float).tolist()
    i, j = np.arange(n)[:, None], np.arange(m)
    sees = np.ones((n, m), dtype=bool)
    if chance.random() < 0.2:
        options["lengths"] = chance.randint(0, m)
        sees &= j < options["lengths"]
    # Counted from the last key that there is, unless it is said otherwise.
    shift = options.get("lengths", m) - n
    if chance.random() < 0.4:
        options["causal"] = chance.choice(("top-left", "bottom-right"))
        shift = 0 if options["causal"] == "top-left" else shift
        sees &= j <= i + shift
    if chance.random() < 0.3:
        left, right = options["window"] = chance.randint(0, 3), chance.randint(0, 3)
        sees &= (j >= i + shift - left) & (j <= i + shift + right)
    if chance.random() < 0.3:
        options["mask"] = rng.random((n, m)) < 0.6
        sees &= options["mask"]
    rows = chance.choice((None, None, 3, 5))
    return Call(q, k, v, upstream, np.tile(sees, (group, 1)), rows, options)


def truth(call: Call) -> dict[str, list[list[arb]]]:
    """Attention as it is written down, entry by entry."""

    def table(x: Array) -> list[list[arb]]:
        return [[arb(y) for y in row] for row in x.astype(float).tolist()]

    q, k, v, upstream = map(
        table, (np.concatenate(call.q), call.k, call.v, np.concatenate(call.upstream))
    )
    o, n = call.options, call.q.shape[1]
    scale = exactly(o["scale"]) if "scale" in o else arb(len(k[0])).rsqrt()
    bias = table(o["bias"]) if "bias" in o else None
    d, columns, keys = range(len(k[0])), range(len(v[0])), range(len(k))
    found: dict[str, list[list[arb]]] = {"output": [], "lse": [], "dQ": []}
    dk, dv = ([[arb(0)] * len(width) for _ in keys] for width in (d, columns))
    for i, row in enumerate(q):
        seen = [j for j in keys if call.sees[i, j]]
        scores, slopes = {}, {}
        for j in seen:
            s = sum((row[c] * k[j][c] for c in d), arb(0)) * scale
            slopes[j] = scale
            if "softcap" in o:
                t = (s / o["softcap"]).tanh()
                s, slopes[j] = t * o["softcap"], scale * (1 - t * t)
            scores[j] = s if bias is None else s + bias[i % n][j]
        powers = {j: s.exp() for j, s in scores.items()}
        below = sum(powers.values(), arb(0))
        if "sink" in o:
            below += arb(o["sink"][i // n]).exp()
        weights = {j: x / below for j, x in powers.items()}
        if not seen and "sink" not in o:
            weights = {j: arb(1) / len(k) for j in keys} if o["on_empty_row"] == "mean" else {}
        found["lse"].append([below.log() if seen or "sink" in o else arb("-inf")])
        output = [sum((w * v[j][c] for j, w in weights.items()), arb(0)) for c in columns]
        found["output"].append(output)
        above = upstream[i]
        flows = {j: sum((above[c] * v[j][c] for c in columns), arb(0)) for j in weights}
        mean = sum((w * flows[j] for j, w in weights.items()), arb(0))
        into = {j: weights[j] * (flows[j] - mean) * slopes[j] for j in seen}
        found["dQ"].append([sum((x * k[j][c] for j, x in into.items()), arb(0)) for c in d])
        for j, w in weights.items():
            dv[j] = [x + w * above[c] for c, x in zip(columns, dv[j], strict=True)]
        for j, x in into.items():
            dk[j] = [y + x * row[c] for c, y in zip(d, dk[j], strict=True)]
    return found | {"dK": dk, "dV": dv}


def exactly(x: Fraction) -> arb:
    return arb(x.numerator) / x.denominator


def bracket(x: arb) -> Callable[[str], float | None]:
    """The nearest number of a format; where the ball holds a tie, or 0, it is taken for that."""
    low, high = (Fraction(int(y.p), int(y.q)) for y in (x.lower().fmpq(), x.upper().fmpq()))
    if x.contains(0):
        low = high = Fraction(0)

    def rounded(form: str) -> float | None:
        to = float_of(form)
        ends = [to(y.numerator, y.denominator) for y in (low, high)]
        if same(*ends):
            return ends[0]
        # A tie has few more bits than the format: the middle of the ball, cut to so many.
        middle = (low + high) / 2
        size = abs(middle.numerator).bit_length() - middle.denominator.bit_length()
        place = KNOWN[form][0] + 2 - size
        unit = Fraction(2) ** -place
        tie = round(middle / unit) * unit
        return to(tie.numerator, tie.denominator) if low <= tie <= high else None

    return rounded


def brackets(call: Call, bits: int) -> dict[str, list[Callable[[str], float | None] | None]]:
    """What rounds each result to a format, by the name of its part; None for no key at all."""
    with precision(bits):
        assert ctx.prec == bits
        return {
            name: [bracket(x) if x.is_finite() else None for row in rows for x in row]
            for name, rows in truth(call).items()
        }


def judged(seed: int) -> Iterator[str | None]:
    """None for each float that is right, and what is said of one that is not, however closely
    one looks: what is left where nearly all cancels may be less than the first look tells."""
    call = drawn(seed)
    looks = [brackets(call, BITS)]
    for name, quantity in call.quantities().items():
        for form in FORMATS:
            found = quantity.nearest(form, undecided="nan").ravel().astype(float).tolist()
            for place, x in enumerate(found):
                right = _right(looks[0][name][place], form)
                if right is None or not same(x, right):
                    if len(looks) == 1:
                        looks.append(brackets(call, 10 * BITS))
                    right = _right(looks[1][name][place], form)
                if math.isnan(x) and right is not None and "softcap" in call.options:
                    # What cancels exactly in tanh may stay undecided, which is not wrong.
                    continue
                wrong = right is None or not same(x, right)
                yield f"seed {seed}: {name}[{place}] {form}: {x}, not {right}" if wrong else None


def _right(of: Callable[[str], float | None] | None, form: str) -> float | None:
    if of is None:
        # What is masked, minus infinity, is NaN in a format without infinity.
        return math.nan if form == "float8_e4m3fn" else -math.inf
    return of(form)


def campaign(wanted: float) -> tuple[int, list[str]]:
    """How many floats were judged, and those that are wrong."""
    many, wrong = 0, []
    for seed in count():
        for said in judged(seed):
            many += 1
            if said:
                wrong.append(said)
        if many >= wanted:
            return many, wrong
    raise AssertionError


def test_a_sample_of_kernels_floats_is_right() -> None:
    many, wrong = campaign(10_000)
    assert many >= 10_000
    assert wrong == []


def test_a_wrong_float_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    quantities = Call.quantities

    def with_another_key(call: Call) -> dict[str, Any]:
        return quantities(replace(call, k=np.concatenate([call.k[:-1], call.k[-1:] + 1])))

    monkeypatch.setattr(Call, "quantities", with_another_key)
    assert any(said for seed in range(3) for said in judged(seed))


@pytest.mark.campaign
def test_many_floats_of_kernels_are_right() -> None:
    """Ten million, or as many as SYMATTN_CAMPAIGN says."""
    many, wrong = campaign(float(Fraction(os.environ.get("SYMATTN_CAMPAIGN", "1e7"))))
    print(f"{many} floats, {len(wrong)} wrong", *wrong[:20], sep="\n")
    assert wrong == []
