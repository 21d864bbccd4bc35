"""Attention with random options, by its plain definition in Arb: masks, sinks, rows that see no
key, single keys and columns, heads that share keys; forward and backward."""

from __future__ import annotations

import os
import random
import time
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

from symattn import attention
from symattn.errors import Malformed

from .definitions import q, total
from .test_functions import BITS, STEP, Campaign, Wrong, as_text, bits, in_arb


class Head:
    """The inputs of one head of keys, and the heads of queries that share it."""

    def __init__(self, numbers, sees, scale, cap, uniform):
        self.numbers, self.sees = numbers, sees
        self.scale, self.cap, self.uniform = scale, cap, uniform

    def output(self, moved=None):
        """For each head of queries the rows of the output; ``moved`` is one number by how much:
        (name, place, by)."""

        def at(name, *place):
            number = self.numbers[name]
            for k in place:
                number = number[k]
            found = in_arb(number)
            return found + moved[2] if moved and moved[:2] == (name, place) else found

        keys, values = self.numbers["K"], self.numbers["V"]
        outputs = []
        for h, queries in enumerate(self.numbers["Q"]):
            rows = []
            for i, query in enumerate(queries):
                scores = []
                for j in range(len(keys)):
                    s = total(at("Q", h, i, c) * at("K", j, c) for c in range(len(query)))
                    s *= self.scale
                    if self.cap is not None:
                        s = self.cap * (s / self.cap).tanh()
                    if "bias" in self.numbers:
                        s += at("bias", i, j)
                    scores.append(s)
                seen = [j for j in range(len(keys)) if self.sees(i, j)]
                weights = {j: scores[j].exp() for j in seen}
                below = total(weights.values())
                if "sink" in self.numbers:
                    below += at("sink", h).exp()
                elif not seen and self.uniform:
                    weights, below = dict.fromkeys(range(len(keys)), arb(1)), arb(len(keys))
                rows.append(
                    [
                        total(w / below * at("V", j, c) for j, w in weights.items())
                        for c in range(len(values[0]))
                    ]
                )
            outputs.append(rows)
        return outputs


class Attentions(Campaign):
    """Inputs and options drawn one after the other."""

    def one(self, seed, place):
        chance = random.Random(seed)
        n, m, d, v, group, heads = (chance.choice((1, 1, 2, 3)) for _ in range(6))
        size = chance.choice((1, 1, 6, 40))

        def number():
            return Fraction(chance.randint(-6, 6) * size, chance.choice((1, 2, 4)))

        def table(*shape):
            return [table(*shape[1:]) for _ in range(shape[0])] if shape else number()

        numbers = {
            "Q": [table(group, n, d) for _ in range(heads)],
            "K": table(heads, m, d),
            "V": table(heads, m, v),
        }
        options: dict[str, Any] = {}
        if chance.random() < 0.5:
            options["scale"] = Fraction(chance.randint(1, 6), 4)
        if chance.random() < 0.3:
            options["softcap"] = Fraction(chance.randint(1, 20))
        if chance.random() < 0.4:
            options["bias"] = table(n, m)
        if chance.random() < 0.4:
            options["sink"] = table(heads * group)
        if chance.random() < 0.5:
            options["mask"] = [[chance.random() < 0.6 for _ in range(m)] for _ in range(n)]
        if chance.random() < 0.4:
            options["causal"] = chance.choice(("top-left", "bottom-right"))
        if chance.random() < 0.3 and (n == m or "causal" in options):
            options["window"] = chance.randint(0, 2), chance.randint(0, 2)
        if chance.random() < 0.3:
            options["lengths"] = chance.randint(0, m)
        empty = options["on_empty_row"] = chance.choice(("error", "zero", "mean"))
        last = options.get("lengths", m)
        shift = 0 if options.get("causal") == "top-left" else last - n

        def sees(i, j):
            ahead = j - i - shift
            left, right = options.get("window", (m + n, m + n))
            return (
                options.get("mask", [[True] * m] * n)[i][j]
                and ("causal" not in options or ahead <= 0)
                and -left <= ahead <= right
                and j < options.get("lengths", m)
            )

        self.counts["attentions"] += 1
        try:
            self._attention(numbers, options, (n, m, group, heads), sees, empty, chance)
        except Exception as error:
            said = {name: str(as_text(x)) for name, x in {**numbers, **options}.items()}
            self.wrong.append(f"{seed}: {said}\n  {type(error).__name__}: {error}")

    def _attention(self, numbers, options, sizes, sees, empty, chance):
        n, m, group, heads = sizes
        queries = [head for part in numbers["Q"] for head in part]
        is_empty = "sink" not in options and any(
            not any(sees(i, j) for j in range(m)) for i in range(n)
        )
        try:
            made = attention(queries, numbers["K"], numbers["V"], **options)
        except Malformed:
            if empty == "error" and is_empty:
                self.counts["empty rows refused"] += 1
                return
            raise
        if empty == "error" and is_empty:
            raise Wrong("a row that sees no key was accepted")
        with bits(BITS):
            scale = options.get("scale")
            scale = in_arb(scale) if scale else arb(len(queries[0][0])).rsqrt()
            cap = in_arb(options["softcap"]) if "softcap" in options else None
            parts = []
            for h in range(heads):
                own = {"Q": numbers["Q"][h], "K": numbers["K"][h], "V": numbers["V"][h]}
                if "bias" in options:
                    own["bias"] = options["bias"]
                if "sink" in options:
                    own["sink"] = options["sink"][h * group : (h + 1) * group]
                parts.append(Head(own, sees, scale, cap, empty == "mean"))
            outputs = [rows for part in parts for head in part.output() for rows in head]
        columns = len(outputs[0])
        truth = q((len(outputs), columns), lambda i, j: outputs[i][j])
        self._quantity("output", made.output, truth, chance, is_grid=True)
        above = [[Fraction(chance.randint(-4, 4), 2) for _ in range(columns)] for _ in outputs]
        upstream = [above[k : k + n] for k in range(0, len(above), n)]
        back = made.backward(upstream)
        found = {"Q": back.dQ, "K": back.dK, "V": back.dV}
        for name, quantity in found.items():
            flat = [
                self._by(part, name, place, above[h * group * n : (h + 1) * group * n])
                for h, part in enumerate(parts)
                for place in places(part.numbers[name])
            ]
            across = quantity.grid[1]
            slopes = q(
                (len(flat) // across, across),
                lambda i, j, flat=flat, across=across: flat[i * across + j],
            )
            self._quantity(f"d{name}", quantity, slopes, chance, is_slope=True, is_grid=True)

    @staticmethod
    def _by(part, name, place, above):
        with bits(BITS):
            step = arb(2) ** -int(STEP * ctx.prec)
            ends = []
            for way in (step, -step):
                rows = [row for head in part.output((name, place, way)) for row in head]
                pairs = zip(rows, above, strict=True)
                ends.append(
                    total(
                        x * in_arb(g) for row, flow in pairs for x, g in zip(row, flow, strict=True)
                    )
                )
            return (ends[0] - ends[1]) / (2 * step)


def places(table):
    """The places of all numbers of nested lists, in order."""
    if not isinstance(table, list):
        return [()]
    return [(k, *rest) for k, part in enumerate(table) for rest in places(part)]


def test_a_sample_of_attentions():
    campaign = Attentions("sample")
    campaign.run(lambda place: place < 6)
    assert not campaign.wrong, "\n".join(campaign.wrong)
    assert campaign.counts["slopes"] > 30


@pytest.mark.campaign
def test_attentions():
    ends = time.monotonic() + 60 * float(os.environ.get("SYMATTN_CAMPAIGN_MINUTES", "15"))
    campaign = Attentions(os.environ.get("SYMATTN_CAMPAIGN_SEED", "0"))
    campaign.run(lambda place: time.monotonic() < ends)
    print(*sorted(campaign.counts.items()), sep="\n")
    assert not campaign.wrong, "\n".join(campaign.wrong)
