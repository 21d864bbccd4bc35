"""Random walkthroughs that are valid by construction.

Every expression is drawn together with its value in mpmath, so that only what
is defined is written down: no division by zero, no logarithm of what is not
above 0, no row masked whole. What comes out is a valid walkthrough whatever
symattn thinks of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np

from ..oracle import DIGITS, FUNCTIONS, each, entry

#: What is nearer to zero than this is taken for zero, and never divided by.
NEAR_ZERO = mpmath.mpf(10) ** -12
#: Largest numbers that an exponential and a root are taken of, and of all.
STEEP, LARGE, HUGE = 900, mpmath.mpf(10) ** 20, mpmath.mpf(10) ** 400
#: Most entries of a quantity.
MOST = 16

NUMBERS = (
    *("0", "1", "1", "1", "2", "3", "-1", "-2", "0.5", "-0.25", "0.1", "1/3", "-2/7", "22/7"),
    *("sqrt(2)", "1 - sqrt(3)", "exp(1)", "-exp(1/2)/3", "0.5060", "1e-3", "7.25", "12"),
)
RARE_NUMBERS = ("800", "-1000", "1e30", "1e-30", "1e200", "1e-200", "123456789.123", "1e300")
NAMES = ("X", "Q", "K", "V", "W_Q", "W_K", "M", "S", "T", "A", "Y", "d_k", "b", "H", "scores")
TOKENS = ("the", "cat", "sat", "down")


@dataclass(frozen=True)
class Drawn:
    """An expression and what it is worth; ``plain`` needs no brackets."""

    text: str
    value: Any
    plain: bool = True

    @property
    def shape(self):
        return self.value.shape

    @property
    def inner(self):
        """The text as an operand."""
        return self.text if self.plain else f"({self.text})"


class NotDefined(Exception):
    """The operation has no value for these operands."""


def need(condition):
    if not condition:
        raise NotDefined


def entries(value):
    return value.reshape(-1).tolist()


def masked(value):
    """Which entries are masked scores."""
    return np.array([x == -mpmath.inf for x in entries(value)], dtype=bool).reshape(value.shape)


def finite(*values):
    need(not any(masked(value).any() for value in values))


def positive(value):
    need(all(x > NEAR_ZERO for x in entries(value)))


def as_array(value):
    return np.array(value, dtype=object)


def worth(raw):
    """Given numbers, nested as files have them, as an array of mpmath's."""
    return as_array(
        each(lambda x: -mpmath.inf if x == "-inf" else entry(x))(np.array(raw, dtype=object))
    )


@dataclass
class Walkthrough:
    """A valid walkthrough: its tables, and the values of its quantities."""

    given: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, str] = field(default_factory=dict)
    loss: dict[str, Any] | None = None
    tokens: tuple[str, ...] = ()
    claims: list[dict[str, Any]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    masks: dict[str, Any] = field(default_factory=dict)

    def content(self):
        """The tables of its file."""
        made: dict[str, Any] = {"title": "Drawn at random"}
        made |= {"given": self.given, "steps": self.steps}
        if self.tokens:
            made["tokens"] = list(self.tokens)
        if self.loss is not None:
            made["loss"] = self.loss
        if self.claims:
            made["claims"] = self.claims
        return made


class Author:
    """Writes a walkthrough, by the numbers of a :class:`random.Random`."""

    def __init__(self, random, *, most_steps=6, largest=4):
        self.random = random
        self.made = Walkthrough()
        self.lengths = random.choices(range(1, largest + 1), k=2)
        self.names = random.sample(NAMES, k=len(NAMES))
        self.most_steps = most_steps

    def walkthrough(self):
        """A walkthrough with given quantities, steps and perhaps a loss."""
        with mpmath.workdps(DIGITS):
            for _ in range(self.random.randint(1, 4)):
                self.give()
            for _ in range(self.random.randint(1, self.most_steps)):
                self.step()
            self.loss()
        first = next(iter(self.made.values.values())).shape
        if len(first) == 2 and first[0] <= len(TOKENS) and self.random.random() < 0.3:
            self.made.tokens = TOKENS[: first[0]]
        return self.made

    # -- given quantities ---------------------------------------------------------------------

    def shape(self):
        n, d = self.lengths
        return self.random.choice([(), (n,), (d,), (1, n), (n, 1), (n, n), (n, d), (n, d), (d, n)])

    def number(self):
        if self.random.random() < 0.01:
            return self.random.choice(RARE_NUMBERS)
        return self.random.choice(NUMBERS)

    def nested(self, shape, entry):
        if not shape:
            return entry()
        return [self.nested(shape[1:], entry) for _ in range(shape[0])]

    def give(self):
        name = self.names.pop()
        kind = self.random.random()
        if kind < 0.25:
            raw = self.nested(self.shape(), lambda: self.random.choice([0, 1, 1]))
            self.made.masks[name] = worth(raw)
        elif kind < 0.3:
            raw = self.nested(self.shape(), lambda: self.random.choice(["-inf", 0, 0]))
        else:
            raw = self.nested(self.shape(), self.number)
        self.made.given[name] = raw
        self.made.values[name] = worth(raw)

    # -- steps ----------------------------------------------------------------------------------

    def step(self):
        name = self.names.pop()
        drawn = self.expression(self.random.choice([1, 1, 2, 3]))
        self.made.steps[name] = drawn.text
        self.made.values[name] = drawn.value
        if drawn.text in self.made.masks:
            self.made.masks[name] = drawn.value

    def quantity(self):
        name = self.random.choice(list(self.made.values))
        return Drawn(name, self.made.values[name])

    def literal(self):
        text = self.random.choice(["2", "1", "0.5", "1/3", "4", "1e-2", "-1", "sqrt(2)"])
        plain = text[0] != "-" and "/" not in text
        return Drawn(text, worth(text), plain)

    def operand(self, depth):
        return self.expression(depth - 1) if depth > 1 else self.quantity()

    def expression(self, depth):
        """An expression that is defined."""
        for _ in range(12):
            try:
                drawn = self.random.choice(_OPERATIONS)(self, depth)
                need(drawn.value.size <= MOST and len(drawn.text) < 200)
                numbers = [x for x in entries(drawn.value) if x != -mpmath.inf]
                need(all(abs(x) < HUGE for x in numbers))
            except (NotDefined, ValueError, IndexError):
                # Shapes that don't fit are NumPy's to refuse.
                continue
            return drawn
        return self.quantity()

    def added(self, depth):
        x, y = self.operand(depth), self.either(depth)
        return Drawn(f"{x.text} + {y.inner}", as_array(x.value + y.value), False)

    def subtracted(self, depth):
        x, y = self.operand(depth), self.either(depth)
        finite(y.value)
        return Drawn(f"{x.text} - {y.inner}", as_array(x.value - y.value), False)

    def either(self, depth):
        return self.literal() if self.random.random() < 0.3 else self.operand(depth)

    def multiplied(self, depth):
        x, y = self.operand(depth), self.either(depth)
        for one, other in ((x, y), (y, x)):
            if masked(one.value).any():
                positive(other.value)
        return Drawn(f"{x.inner} * {y.inner}", as_array(x.value * y.value), False)

    def divided(self, depth):
        x, y = self.operand(depth), self.either(depth)
        finite(y.value)
        need(all(abs(v) > NEAR_ZERO for v in entries(y.value)))
        if masked(x.value).any():
            positive(y.value)
        return Drawn(f"{x.inner} / {y.inner}", as_array(x.value / y.value), False)

    def scaled(self, depth):
        x, d = self.operand(depth), self.quantity()
        finite(d.value)
        need(not d.shape)
        positive(d.value)
        value = x.value / each(mpmath.sqrt)(d.value)
        return Drawn(f"{x.inner} / sqrt({d.text})", as_array(value), False)

    def product(self, depth):
        x, y = self.operand(depth), self.operand(depth)
        finite(x.value, y.value)
        need(x.shape and y.shape)
        return Drawn(f"{x.inner} @ {y.inner}", as_array(x.value @ y.value), False)

    def scores(self, depth):
        x, y = self.operand(depth), self.operand(depth)
        finite(x.value, y.value)
        need(x.shape and y.shape)
        return Drawn(f"{x.inner} @ {y.inner}.T", as_array(x.value @ y.value.T), False)

    def negated(self, depth):
        x = self.operand(depth)
        finite(x.value)
        return Drawn(f"-{x.inner}", as_array(-x.value), False)

    def transposed(self, depth):
        x = self.operand(depth)
        return Drawn(f"{x.inner}.T", x.value.T)

    def called(self, name, *operands):
        arguments = ", ".join(x.text for x in operands)
        value = as_array(FUNCTIONS[name](*(x.value for x in operands)))
        return Drawn(f"{name}({arguments})", value)

    def root(self, depth):
        x = self.operand(depth)
        finite(x.value)
        positive(x.value)
        need(all(v < LARGE for v in entries(x.value)))
        return self.called(self.random.choice(["sqrt", "sqrt", "log"]), x)

    def need_gentle(self, x):
        """Exponentials stay within what is printed."""
        need(all(abs(v) < STEEP for v in entries(x.value) if v != -mpmath.inf))

    def power(self, depth):
        x = self.operand(depth)
        self.need_gentle(x)
        return self.called("exp", x)

    def tanh(self, depth):
        x = self.operand(depth)
        finite(x.value)
        self.need_gentle(x)
        return self.called("tanh", x)

    def softmax(self, depth):
        x = self.operand(depth)
        need(x.shape)
        need(not masked(x.value).all(axis=-1).any())
        self.need_gentle(x)
        return self.called("softmax", x)

    def causal(self, depth):
        x = self.operand(depth)
        need(len(x.shape) == 2)
        return self.called("causal", x)

    def mask(self, depth):
        x, keep = self.operand(depth), self.keeping()
        need(np.broadcast_shapes(x.shape, keep.shape) == x.shape)
        kept = np.broadcast_to(keep.value, x.shape) if x.shape else keep.value
        flat = [
            v if k != 0 else -mpmath.inf
            for v, k in zip(entries(x.value), entries(as_array(kept)), strict=True)
        ]
        value = np.empty(len(flat), dtype=object)
        value[:] = flat
        return Drawn(f"mask({x.text}, {keep.text})", value.reshape(x.shape))

    def keeping(self):
        """A mask: zeros and ones, given or computed."""
        if not self.made.masks or self.random.random() < 0.1:
            return Drawn(one := self.random.choice(["0", "1"]), worth(one))
        name = self.random.choice(sorted(self.made.masks))
        held = Drawn(name, self.made.masks[name])
        match self.random.choice(["held", "held", "held", "turned", "other", "row", "product"]):
            case "turned":
                return Drawn(f"{name}.T", held.value.T)
            case "other":
                return Drawn(f"1 - {name}", as_array(1 - held.value), False)
            case "row":
                need(held.shape)
                return Drawn(f"{name}[0]", as_array(held.value[0]))
            case "product":
                return Drawn(f"{name} * {name}", held.value, False)
        return held

    def weights_sum(self, depth):
        """Rows of weights sum to 1: a mask that floats can't see."""
        x = self.softmax(depth)
        need(len(x.shape) == 2)
        made = self.called("rowsum", x)
        ones = as_array([[mpmath.mpf(1)]] * x.shape[0])
        self.made.masks[made.text] = ones
        return Drawn(made.text, ones)

    def summed(self, depth):
        x = self.operand(depth)
        finite(x.value)
        name = self.random.choice(["rowsum", "colsum", "total"])
        need(name == "total" or len(x.shape) == 2)
        return self.called(name, x)

    def size(self, depth):
        x = self.quantity()
        need(x.shape)
        return self.called(self.random.choice(["rows", "cols"]), x)

    def concat(self, depth):
        parts = [self.operand(depth) for _ in range(self.random.choice([1, 2, 2, 3]))]
        need(all(len(x.shape) == len(parts[0].shape) > 0 for x in parts))
        return self.called("concat", *parts)

    def indexed(self, depth):
        x = self.operand(depth)
        need(x.shape)
        count = self.random.randint(1, len(x.shape))
        keys = [self.key(length) for length in x.shape[:count]]
        value = as_array(eval(f"v[{', '.join(keys)}]", {"v": x.value}))
        need(value.size)
        return Drawn(f"{x.inner}[{', '.join(keys)}]", value)

    def key(self, length):
        if self.random.random() < 0.5:
            return str(self.random.randrange(-length, length))
        bounds = [self.random.choice(["", str(self.random.randint(-length, length))]) for _ in "ab"]
        step = self.random.choice(["", "", ":-1", ":2"])
        return ":".join(bounds) + step

    # -- the loss -------------------------------------------------------------------------------

    def loss(self):
        """No loss, or one with numbers or symbols from above."""
        if self.random.random() < 0.4:
            return
        loss = {}
        steps = list(self.made.steps)
        if self.random.random() < 0.5:
            loss["output"] = self.random.choice(steps)
        shape = self.made.values[loss.get("output", steps[-1])].shape
        kind = self.random.random()
        if kind < 0.5:
            symbols = ["g1", "2*g1 - 1", "g1 + g2/3", "0", "1", "-1/2", "sqrt(2)*g2"]
            entry = self.number if kind < 0.25 else lambda: self.random.choice(symbols)
            loss["upstream"] = self.nested(shape, entry)
        self.made.loss = loss


_OPERATIONS = (
    *(Author.product, Author.scores, Author.scores, Author.softmax, Author.softmax),
    *(Author.mask, Author.mask, Author.causal, Author.scaled, Author.added, Author.subtracted),
    *(Author.multiplied, Author.divided, Author.negated, Author.transposed, Author.root),
    *(Author.power, Author.tanh, Author.summed, Author.size, Author.concat, Author.indexed),
    *(Author.weights_sum,),
)
