"""Trees of frozen dataclasses: what one is made of, and trees with other parts.

The one grammar's trees, lines of derivations and terms of theorems say different things, and are
walked alike: a field holds parts, alone or in tuples, where its type names what all kinds are
(``Tree``, ``Expr``, ``Term``); each of these has its :class:`Walk`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache, partial
from typing import Any, Generic, TypeVar, cast

N = TypeVar("N")

#: How a field holds parts: not, one, in a tuple, or in tuples of tuples.
_NONE, _ONE, _MANY, _NESTED = range(4)
_HELD = dict.fromkeys(("Tree", "Expr", "Term"), _ONE)
_HELD |= {f"tuple[{union}, ...]": _MANY for union in _HELD}


@cache
def _fields(kind: type) -> tuple[tuple[str, int], ...]:
    """The fields of a kind of node, each with how it holds parts; none of a leaf."""
    types = {x.name: str(x.type) for x in fields(kind)}
    nested = re.compile(r"\b(Tree|Expr|Term)\b")
    held = {x: _HELD.get(y, _NESTED if nested.search(y) else _NONE) for x, y in types.items()}
    return tuple(held.items()) if any(held.values()) else ()


class Walk(Generic[N]):
    """Ways through the trees whose nodes are of the union ``N``."""

    def parts(self, tree: N) -> tuple[N, ...]:
        """Return what a node is directly made of, in the order of its fields.

        >>> from symattn.expressions.syntax import inside, parse
        >>> inside(parse("x + 2")), inside(parse("x"))
        ((Name(name='x'), Literal(text='2')), ())
        """
        found: tuple[N, ...] = ()
        kind: type = type(tree)
        for name, how in _fields(kind):
            if how:
                held = getattr(tree, name)
                found += (held,) if how == _ONE else held if how == _MANY else tuple(_flat(held))
        return found

    def walk(self, tree: N, into: Callable[[N], bool] = lambda part: True) -> Iterator[N]:
        """A tree and all that it is made of, in the order in which it is written; nothing inside
        of what isn't gone ``into``.

        >>> from symattn.expressions.syntax import parse, walk
        >>> [type(part).__name__ for part in walk(parse("-x + 2"))]
        ['Binary', 'Negative', 'Name', 'Literal']
        """
        waiting = [tree]
        while waiting:
            part = waiting.pop()
            yield part
            if into(part):
                waiting.extend(reversed(self.parts(part)))

    def mapped(self, tree: N, change: Callable[[N], N]) -> N:
        """A tree with the parts that it is directly made of changed; a leaf as it is.

        >>> from symattn.expressions.syntax import Negative, mapped, parse, text
        >>> text(mapped(parse("x + y.T"), lambda part: Negative(part)))
        '-x + -y.T'
        """

        kind: type[N] = type(tree)
        if not (named := _fields(cast("type", kind))):
            return tree
        made: list[Any] = []
        for name, how in named:
            held = getattr(tree, name)
            if how == _ONE:
                held = change(held)
            elif how:
                held = tuple(map(change if how == _MANY else partial(_changed, change), held))
            made.append(held)
        return kind(*made)

    def replaced(self, tree: N, by: Callable[[N], N | None]) -> N:
        """A tree with each part replaced that ``by`` gives another tree for.

        >>> from symattn.expressions.syntax import parse, replaced, text
        >>> doubled = {parse("2"): parse("4")}
        >>> text(replaced(parse("softmax(x / 2, axis=0)"), doubled.get))
        'softmax(x / 4, axis=0)'
        """
        other = by(tree)
        if other is not None:
            return other
        return self.mapped(tree, lambda part: self.replaced(part, by))


def _flat(held: tuple[Any, ...]) -> Iterator[Any]:
    """The nodes in tuples, beside which names of options stand."""
    for each in held:
        if isinstance(each, tuple):
            yield from _flat(each)
        elif not isinstance(each, str):
            yield each


def _changed(change: Callable[[Any], Any], held: Any) -> Any:
    if isinstance(held, tuple):
        return tuple(_changed(change, each) for each in held)
    return held if isinstance(held, str) else change(held)


# -- how tightly what is written binds ---------------------------------------------------
# One scale for text, LaTeX, Coq and Python: a choice or words, comparisons, sums, products entry
# by entry, products, signs, functions without brackets, powers and what else comes after a value,
# values themselves.

CHOICE, COMPARISON, SUM, ENTRYWISE, PRODUCT, SIGN, APPLIED, POSTFIX, ATOM = range(9)

#: How tightly the operators of the grammar bind.
OPERATORS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "@": PRODUCT}

S = TypeVar("S")


def bracketed(written: tuple[S, int], level: int, around: Callable[[S], S]) -> S:
    """Return what is written, in brackets where it binds less tightly than ``level``.

    >>> [bracketed(("x + 1", SUM), level, "({})".format) for level in (SUM, PRODUCT)]
    ['x + 1', '(x + 1)']
    """
    words, binding = written
    return words if binding >= level else around(words)
