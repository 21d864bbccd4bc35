"""Elementary functions of one number: a row for each, with what other languages know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

#: Functions that are taken of every entry by itself.
Elementwise = Literal["sqrt", "exp", "log", "sin", "cos", "tanh", "erf"]
ELEMENTWISE: tuple[Elementwise, ...] = get_args(Elementwise)


@dataclass(frozen=True)
class ElementaryFunction:
    """A function and its names: ``coq`` in Coq's reals and ``qti`` in QTI, '' where it is none
    there; ``em`` is the room of its own command in LaTeX, 0 where it has none here. At the whole
    number ``exact[0]`` it is ``exact[1]``."""

    name: Elementwise
    says: str
    coq: str = ""
    qti: str = ""
    em: float = 0
    exact: tuple[int, int] | None = None


_TABLE = (
    ("sqrt", "The square root of every entry.", "sqrt"),
    ("exp", "e to the power of every entry; of a masked score 0.", "exp", "exp", 1.8, (0, 1)),
    ("log", "The natural logarithm of every entry.", "ln", "ln", 1.6, (1, 0)),
    ("sin", "The sine of every entry, an angle in radians.", "sin", "sin", 0.55, (0, 0)),
    ("cos", "The cosine of every entry, an angle in radians.", "cos", "cos", 0.55, (0, 1)),
    ("tanh", "The hyperbolic tangent of every entry.", "tanh", "tanh", 0, (0, 0)),
    ("erf", "The error function, 2/sqrt(pi) times the integral of exp(-t^2) from 0."),
)
ELEMENTARY = {row[0]: ElementaryFunction(*row) for row in _TABLE}
