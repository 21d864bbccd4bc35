"""The table of all rules that need a choice.

A rule is given the product that it is applied to and what it is applied with; it raises
:class:`Unproved` where it does not apply. What it needs it notes (:meth:`Signs.need`), so that a
line that is proved by it holds where that is so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symattn.calculus.kernel.computing import Computing
from symattn.calculus.kernel.terms import Atom, Exponent, Mono, Poly, Unproved

MOST_WRITTEN = 12
"""Sums over axes of fixed length are written out up to this, and places shifted."""

Rule = Callable[[Computing, Mono, Any], Poly]
RULES: dict[str, Rule] = {}
"""All rules by name."""


def rule(each: Rule) -> Rule:
    """Put a rule into the table."""
    RULES[each.__name__.rstrip("_")] = each
    return each


def only(mono: Mono, kinds: str) -> tuple[Atom, Exponent]:
    """The one power of an atom that a product is."""
    if len(mono) != 1 or mono[0][0].kind not in kinds:
        raise Unproved("this rule is for another kind of term")
    return mono[0]


def check(condition: bool, what: str = "this rule does not apply") -> None:
    """Refuse a rule where a condition does not hold."""
    if not condition:
        raise Unproved(what)
