"""Expressions with one slip: the ways in which a line of a proof goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symattn.errors import Malformed
from symattn.proofs import language as term
from symattn.proofs import matrices as matrix
from symattn.proofs.language import Expr
from symattn.proofs.matrices import Matrix


def slips(value: Expr) -> Iterator[Expr]:
    """A sign changed; a delta, term, factor or denominator dropped; indices exchanged."""
    match value:
        case term.Delta() | term.AtMost():
            yield term.expression(1)
        case term.Add(terms):
            for place, one in enumerate(terms):
                rest = terms[:place] + terms[place + 1 :]
                flipped = one.body if isinstance(one, term.Neg) else term.Neg(one)
                yield term.Add((*rest, flipped))
                yield term.Add(rest)
        case term.Neg(body):
            yield body
        case term.Mul(factors):
            yield from (term.Mul(factors[:p] + factors[p + 1 :]) for p in range(len(factors)))
        case term.Div(above, below):
            yield from (above, above * below)
        case term.Power(base, exponent):
            yield base ** (exponent + 1)
        case term.Entry(array, (first, second)) if array.axes[0] == array.axes[1]:
            yield array[second, first]
    yield from _inside(value, Expr, slips) if not isinstance(value, term.Partial) else ()


def matrix_slips(value: Matrix) -> Iterator[Matrix]:
    """A scale, transpose or row sum dropped; a sign changed; factors exchanged."""
    match value:
        case matrix.Scaled(_, body) | matrix.Transpose(body) | matrix.RowSums(body):
            yield body
        case matrix.Minus(left, right):
            yield from (left + right, right - left, left)
        case matrix.Plus(left, right):
            yield from (left - right, left, right)
        case matrix.Entrywise(left, right):
            yield from (left + right, left, right)
        case matrix.Product(left, right):
            for swap in (lambda: right @ left, lambda: left @ right.T, lambda: left.T @ right):
                try:
                    yield swap()
                except Malformed:
                    continue  # Rectangular sizes refuse it outright.
        case matrix.Diagonal(body) | matrix.RowSoftmax(body):
            yield body
        case matrix.Constant(number, rows, columns):
            yield matrix.Constant(1 - number, rows, columns)
    yield from _inside(value, Matrix, matrix_slips)


def _inside(value: Any, kind: type, slip: Any) -> Iterator[Any]:
    """The slips of each part, put in its place."""
    fields = {name: getattr(value, name) for name in type(value).__dataclass_fields__}
    for name, part in fields.items():
        if name == "body" and isinstance(value, matrix.Array):
            continue
        if isinstance(part, kind):
            changes = ((name, new) for new in slip(part))
        elif isinstance(part, tuple) and part and isinstance(part[0], kind):
            changes = (
                (name, (*part[:place], new, *part[place + 1 :]))
                for place, one in enumerate(part)
                for new in slip(one)
            )
        else:
            continue
        for changed, new in changes:
            try:
                yield type(value)(**{**fields, changed: new})
            except Malformed:
                continue
