"""Random programs of two to four functions of steps, forward and backward, with operands that
broadcast and masked scores, against their plain definitions in Arb.

A sample runs with the other tests; the campaign is ``pytest -n 0 -m campaign tests/campaigns``,
with ``SYMATTN_CAMPAIGN_MINUTES`` (15) and ``SYMATTN_CAMPAIGN_SEED`` (0).
"""

from __future__ import annotations

import math
import os
import random
import time
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from symattn.cases.case import make
from symattn.errors import Malformed, Undecided
from symattn.numbers.balls import precision
from symattn.numbers.reading import Masked
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict
from symattn.verification import verify

from .definitions import CALLS, KINDS, TIES, NoFit, Undefined, number, q

BITS = 1600
#: Definitions are differentiated by central differences: what is left out is the square of this
#: part of all bits.
STEP = 0.25
#: How far those may be off, of a number of size 1; less than any enclosure here.
CLOSE = arb(2) ** -300


@contextmanager
def bits(count):
    before, ctx.prec = ctx.prec, count
    try:
        yield
    finally:
        ctx.prec = before


def in_arb(fraction):
    return arb(fmpq(fraction.numerator, fraction.denominator))


class Wrong(AssertionError):
    """Something is not what its definition says."""


class Program:
    """Given quantities, steps by their text and by definition, and one that the loss is of."""

    def __init__(self, chance):
        self.chance = chance
        self.given = self._drawn()
        self.steps = {}
        #: By name: the expression, and what it is.
        self.known = {name: (name, self._quantity(raw)) for name, raw in self.given.items()}
        self.trees = {}
        self.undefined = False

    # -- what is given -------------------------------------------------------------------

    def _drawn(self):
        chance = self.chance
        n, m = (chance.choice((1, 1, 2, 2, 3, 4)) for _ in range(2))
        scale = chance.choice((1, 1, 1, 40, 300))

        def entry():
            if chance.random() < 0.1:
                return Fraction(0)
            return Fraction(chance.randint(-6, 6) * scale, chance.choice((1, 1, 2, 4, 8)))

        def share():
            return Fraction(chance.randint(0, 8), 8)

        def masked():
            return "-inf" if chance.random() < 0.35 else entry()

        def bit():
            return Fraction(chance.random() < 0.7)

        def matrix(rows, columns, of):
            return [[of() for _ in range(columns)] for _ in range(rows)]

        def narrow(of):
            rows, columns = chance.choice(((1, m), (n, 1), (1, 1)))
            return matrix(rows, columns, of)

        return {
            "A": matrix(n, m, entry),
            "B": matrix(n, m, entry),
            "r": matrix(1, m, entry),
            "c": matrix(n, 1, entry),
            "o": matrix(1, 1, entry),
            "s": entry(),
            "v": [entry() for _ in range(m)],
            "T": matrix(m, n, entry),
            "H": matrix(n, m, masked),
            "h": narrow(masked),
            "P": matrix(n, m, share),
            "p": share(),
            "M": matrix(n, m, bit),
            "k": narrow(bit),
            "t": [Fraction(chance.randint(0, m - 1)) for _ in range(n)],
            "l": Fraction(chance.randint(0, m)),
        }

    @staticmethod
    def _quantity(raw, moved=None):
        def at(i, j):
            found = raw
            if isinstance(raw, list):
                found = raw[i][j] if isinstance(raw[0], list) else raw[j]
            if found == "-inf":
                return None
            return in_arb(found) + (moved[1] if moved and moved[0] == (i, j) else 0)

        return q(np.shape(np.array(raw, dtype=object)), at)

    # -- steps ---------------------------------------------------------------------------

    def grow(self, name):
        """One more function of what there is; False where none was found that fits."""
        chance = self.chance
        for _ in range(60):
            call = chance.choice(CALLS)
            steps = [key for key in self.trees if key in self.known]
            operands = []
            for kind in call.kinds:
                names = list(self.known)
                if chance.random() < 0.92:
                    names = [key for key in names if KINDS[kind](self.known[key][1])] or names
                fresh = [key for key in names if key in steps]
                if fresh and chance.random() < 0.6:
                    names = fresh
                if kind == "whole":
                    # The cross-check takes a length that is written out or given.
                    names = ["l"]
                operands.append(chance.choice(names))
            if steps and not set(steps[-1:]) & set(operands) and chance.random() < 0.8:
                continue
            try:
                made = call.define(*(self.known[key][1] for key in operands))
            except NoFit:
                continue
            except Undefined:
                if chance.random() < 0.97:
                    continue
                made = None
            text = call.text.format(*(self.known[key][0] for key in operands))
            if len(text) > 300 or (made and made.grid[0] * made.grid[1] > 30):
                continue
            self.trees[name] = (call, operands)
            if made is None:
                self.steps[name] = text
                self.undefined = True
                return False
            inline = chance.random() < 0.4
            self.known[name] = (f"({text})" if inline else name, made)
            self.steps[name] = text
            return True
        return False

    def value(self, name, moved=None):
        """A step by definition; ``moved`` is what of which given entry (name, place, by)."""
        found = {}

        def of(key):
            if key not in found:
                if key in self.given:
                    by = moved[1:] if moved and moved[0] == key else None
                    found[key] = self._quantity(self.given[key], by)
                else:
                    call, operands = self.trees[key]
                    found[key] = call.define(*map(of, operands))
            return found[key]

        return of(name)

    def used(self):
        """The given quantities that steps take."""
        return {key for _, operands in self.trees.values() for key in operands} & {*self.given}


def as_text(raw):
    return [*map(as_text, raw)] if isinstance(raw, list) else str(raw)


class Campaign:
    """Programs drawn one after the other; what was compared is counted."""

    def __init__(self, seed):
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self.wrong = []

    def run(self, until):
        place = 0
        while until(place):
            self.one(f"{self.seed}.{place}", place)
            place += 1

    def one(self, seed, place):
        chance = random.Random(seed)
        with bits(BITS):
            program = Program(chance)
            wanted = chance.randint(2, 4)
            while len(program.steps) < wanted and program.grow(f"Y{len(program.steps)}"):
                pass
        if not program.steps:
            return
        self.counts["programs"] += 1
        try:
            self._check(program, chance, place)
        except Exception as error:
            self.counts["wrong"] += 1
            given = {name: as_text(program.given[name]) for name in sorted(program.used())}
            self.wrong.append(
                f"{seed}: {given}\n  {program.steps}\n  {type(error).__name__}: {error}"
            )

    def _check(self, program, chance, place):
        given = {name: as_text(program.given[name]) for name in program.used()}
        output = list(program.steps)[-1]
        if program.undefined:
            self.counts["undefined"] += 1
            try:
                Solution(make("t", given, program.steps))
            except Malformed:
                return
            raise Wrong("what has no value was accepted")
        truth = {name: program.known[name][1] for name in program.steps}
        smooth = [name for name in program.used() if name not in ("M", "k", "t", "l")]
        loss = None
        result = truth[output]
        if smooth and None not in result.flat and self._depends(program, output, smooth):
            above = q(result.shape, lambda i, j: Fraction(chance.randint(-4, 4), 3))
            upstream = as_text(self._raw(above))
            loss = {"output": output, "upstream": upstream}
        solution = Solution(make("t", given, program.steps, loss))
        for name, value in truth.items():
            self._quantity(name, solution[name], value, chance)
        if loss:
            self._gradients(program, solution, output, above, smooth, chance)
        try:
            found = verify(solution, symbolic=place % 50 == 49)
        except Malformed as error:
            if not self._has_no_slope(error):
                raise
            return
        verdict = Verdict.all(check.verdict for check in found.checks)
        self.counts[f"verified: {verdict}"] += 1
        if Verdict.REFUTED in (verdict, found.verdict):
            raise Wrong(f"the cross-check refutes: {found.checks}")

    def _has_no_slope(self, error):
        """Whether a gradient is asked for where its rule divides by 0, a root at 0, say, or
        by the weight of a logarithm that is minus infinity."""
        if "division by zero" in str(error) or "is a masked score" in str(error):
            self.counts["no slope by rule"] += 1
            return True
        return False

    @staticmethod
    def _raw(x):
        if not x.shape:
            return x.rows[0][0]
        return x.rows[0] if len(x.shape) == 1 else x.rows

    @staticmethod
    def _depends(program, output, names):
        waiting, seen = [output], set()
        while waiting:
            key = waiting.pop()
            seen.add(key)
            waiting += program.trees[key][1] if key in program.trees else ()
        return bool(seen & {*names})

    def _gradients(self, program, solution, output, above, names, chance):
        with bits(BITS):
            TIES.clear()
            program.value(output)
            if TIES:
                self.counts["ties"] += 1
                return
        for name in names:
            slopes = self._slopes(program, output, above, name)
            if None in slopes.flat:
                self.counts["edges"] += 1
                continue
            try:
                if name in solution.program.gradients:
                    found = solution.gradient(name)
                    self._quantity(f"d{name}", found, slopes, chance, is_slope=True)
                    continue
                with bits(BITS):
                    if not all(abs(x) < CLOSE for x in slopes.flat):
                        raise Wrong(f"d{name}: none, by definition {slopes.rows}")
            except Malformed as error:
                if not self._has_no_slope(error):
                    raise
            except Wrong:
                # Unless the function bends within the step: then a smaller one says otherwise.
                closer = self._slopes(program, output, above, name, 8 * BITS)
                with bits(BITS):
                    pairs = zip(slopes.flat, closer.flat, strict=True)
                    if all(y is not None and abs(x - y) < CLOSE * (1 + abs(y)) for x, y in pairs):
                        raise
                self.counts["bends"] += 1

    def _slopes(self, program, output, above, name, count=BITS):
        known = program.known[name][1]
        slope = partial(self._slope, program, output, above, name, count=count)
        return q(known.shape, slope)

    def _slope(self, program, output, above, name, i, j, count):
        """A derivative by definition; None at the edge of where there is one."""
        if program.known[name][1].rows[i][j] is None:
            # Nothing flows into a masked score.
            return arb(0)
        with bits(count):
            ends = []
            step = arb(2) ** -int(STEP * ctx.prec)
            for way in (step, -step):
                try:
                    moved = program.value(output, (name, (i, j), way))
                except (Undefined, NoFit):
                    return None
                pairs = zip(moved.flat, above.flat, strict=True)
                ends.append(
                    sum(
                        (number(x) * in_arb(g) for x, g in pairs),
                        arb(0),
                    )
                )
            return (ends[0] - ends[1]) / (2 * step)

    def _quantity(self, name, quantity, truth, chance, is_slope=False, is_grid=False):
        shape = quantity.grid if is_grid else quantity.shape
        if shape != truth.shape:
            raise Wrong(f"{name}: {shape}, by definition {truth.shape}")
        kind = "slopes" if is_slope else "entries"
        with bits(BITS):
            wanted = []
            for x in truth.flat:
                reach = CLOSE * (1 + abs(x)) if is_slope and x is not None else 0
                wanted.append(x if x is None or not is_slope else arb(x.mid(), x.rad() + reach))
        _, columns = truth.grid
        for k, x in enumerate(wanted):
            self.counts[kind] += 1
            i, j = divmod(k, columns)
            where = f"{name}[{i}, {j}]"
            if quantity.is_masked(i, j) != (x is None):
                raise Wrong(f"{where}: masked or not")
            if x is None:
                continue
            self._enclosed(where, quantity, i, j, k, x, chance)
        if not any(x is None for x in wanted):
            self._nearest(name, quantity, wanted, is_slope)

    def _enclosed(self, where, quantity, i, j, k, x, chance):
        for count in (128, 512):
            for kind in ("balls", "point"):
                with precision(count):
                    held = quantity.source.balls(count)
                    ball = held[k] if kind == "balls" else quantity.source.point(i, j, count)
                if ball is not None and ball.is_finite():
                    with bits(BITS):
                        if not ball.overlaps(x):
                            raise Wrong(
                                f"{where}: {kind} {ball.str(20)}, by definition {x.str(20)}"
                            )
        pairs = quantity.source.pairs()
        if pairs is not None and np.isfinite(pairs.error.flat[k]):
            parts = (part.flat[k] for part in (pairs.high, pairs.low, pairs.error))
            high, low, error = (arb(float(part)) for part in parts)
            with bits(BITS):
                if abs(x - high - low) > error:
                    raise Wrong(
                        f"{where}: pair {high} + {low} +/- {error}, by definition {x.str(20)}"
                    )
        if chance.random() < 0.2:
            value = quantity.entry(i, j)
            if isinstance(value, Masked):
                raise Wrong(f"{where}: exactly masked")
            ball = value.ball(300)
            with bits(BITS):
                if not ball.overlaps(x):
                    raise Wrong(f"{where}: exactly {value}, by definition {x.str(20)}")
            self.counts["closed forms"] += 1

    def _nearest(self, name, quantity, wanted, is_slope):
        form = ("float64", np.float64) if self.counts["floats"] % 2 else ("float32", np.float32)
        try:
            found = quantity.nearest(form[0])
        except Undecided:
            self.counts["undecided floats"] += 1
            return
        with bits(BITS):
            for entry, x in zip(np.ravel(found), wanted, strict=True):
                self.counts["floats"] += 1
                near = form[1](entry)
                if not np.isfinite(near):
                    if abs(x) < float(np.finfo(form[1]).max):
                        raise Wrong(f"{name}: float {near}, by definition {x.str(20)}")
                    continue
                up, down = (np.nextafter(near, form[1](way)) for way in (math.inf, -math.inf))
                above, below = (
                    (arb(float(near)) + arb(float(end))) / 2 if np.isfinite(end) else arb(end)
                    for end in (up, down)
                )
                if x > above or x < below:
                    raise Wrong(f"{name}: float {near!r}, by definition {x.str(20)}")


def report(campaign):
    print(*sorted(campaign.counts.items()), sep="\n")
    print(*campaign.wrong, sep="\n")


def test_a_sample_of_programs():
    """Every function, with every kind of operands, over many nights; some of them each time."""
    campaign = Campaign("sample")
    campaign.run(lambda place: place < 25)
    assert not campaign.wrong, "\n".join(campaign.wrong)
    assert campaign.counts["entries"] > 100


@pytest.mark.campaign
def test_programs():
    ends = time.monotonic() + 60 * float(os.environ.get("SYMATTN_CAMPAIGN_MINUTES", "15"))
    campaign = Campaign(os.environ.get("SYMATTN_CAMPAIGN_SEED", "0"))
    campaign.run(lambda place: time.monotonic() < ends)
    report(campaign)
    assert not campaign.wrong
