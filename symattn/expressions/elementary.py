"""Elementary functions of one number: a row for each, with what all rooms know of it.

What is known of no function by itself follows from its row: its enclosures are Arb's, its floats
NumPy's, and how a gradient flows through it says the chain rule in every arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

#: Functions that are taken of every entry by itself.
Elementwise = Literal["sqrt", "exp", "log", "sin", "cos", "tanh", "erf"]
ELEMENTWISE: tuple[Elementwise, ...] = get_args(Elementwise)

T = TypeVar("T")


@dataclass(frozen=True)
class Arithmetic(Generic[T]):
    """Numbers, their sums and products and elementary functions, with which a flow is written."""

    number: Callable[[int], T]
    pi: Callable[[], T]
    plus: Callable[[T, T], T]
    minus: Callable[[T, T], T]
    times: Callable[[T, T], T]
    over: Callable[[T, T], T]
    negative: Callable[[T], T]
    function: Callable[[Elementwise, T], T]


#: In an arithmetic: what flows out of a function, what it is of, what it is -> what flows into it.
Flow = Callable[[Any, Any, Any, Any], Any]


@dataclass(frozen=True)
class ElementaryFunction:
    """A function and its names: its own is that of Arb and SymPy, ``coq`` that in Coq's reals
    and ``qti`` in QTI, '' where it is none there, ``numpy`` that in NumPy where it differs; ``em``
    is the room of its own command in LaTeX, 0 where it has none here. At the whole number
    ``exact[0]`` it is ``exact[1]``. With ``parity`` f(-x) is f(x) or -f(x)."""

    name: Elementwise
    says: str
    flow: Flow
    parity: Literal["", "even", "odd"] = ""
    coq: str = ""
    qti: str = ""
    em: float = 0
    exact: tuple[int, int] | None = None
    numpy: str = ""

    def at(self, number: object) -> int | None:
        """Return what it is at a number, where that is a whole number by the row."""
        return None if self.exact is None or number != self.exact[0] else self.exact[1]


def _bell(c: Arithmetic[T], x: T) -> T:
    """The slope of the error function."""
    factor = c.over(c.number(2), c.function("sqrt", c.pi()))
    return c.times(factor, c.function("exp", c.negative(c.times(x, x))))


_TABLE = (
    ("sqrt", "The square root of every entry.",
     lambda c, g, x, y: c.over(g, c.times(c.number(2), y)), "", "sqrt"),
    ("exp", "e to the power of every entry; of a masked score 0.",
     lambda c, g, x, y: c.times(g, y), "", "exp", "exp", 1.8, (0, 1)),
    ("log", "The natural logarithm of every entry.",
     lambda c, g, x, y: c.over(g, x), "", "ln", "ln", 1.6, (1, 0)),
    ("sin", "The sine of every entry, an angle in radians.",
     lambda c, g, x, y: c.times(g, c.function("cos", x)), "odd", "sin", "sin", 0.55, (0, 0)),
    ("cos", "The cosine of every entry, an angle in radians.",
     lambda c, g, x, y: c.negative(c.times(g, c.function("sin", x))),
     "even", "cos", "cos", 0.55, (0, 1)),
    ("tanh", "The hyperbolic tangent of every entry.",
     lambda c, g, x, y: c.times(g, c.minus(c.number(1), c.times(y, y))),
     "odd", "tanh", "tanh", 0, (0, 0)),
    ("erf", "The error function, 2/sqrt(pi) times the integral of exp(-t^2) from 0.",
     lambda c, g, x, y: c.times(g, _bell(c, x)), "odd", "", "", 0, (0, 0)),
)  # fmt: skip
ELEMENTARY = {row[0]: ElementaryFunction(*row) for row in _TABLE}
