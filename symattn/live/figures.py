"""Live figures: what an author writes in the place of digits, and what stands there then.

A live figure is an expression in the quantities of a case, and after a colon how it is
printed: ``A[0, 1]``, ``A[0, 1]:.6f``, ``100 * A[0, 1]:.1f``, ``A[0, 1]:.1%``, ``A:exact``.
Every document system gets the same pieces of text, mathematics and pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from symattn.errors import Malformed, expected, short
from symattn.escaping import visible
from symattn.expressions import formulas as f
from symattn.expressions import typesetting as t
from symattn.expressions.shapes import rows_of, show
from symattn.live.names import Kind
from symattn.numbers.reading import Masked
from symattn.printers import blocks as b
from symattn.printers.web import mathml

if TYPE_CHECKING:
    from symattn.numbers.values import Value
    from symattn.solution.quantity import Quantity
    from symattn.solution.solution import Solution


#: Decimal places where a figure doesn't say how many, as on sheets.
PLACES = 4
#: What continues a line is set in.
_INDENT = t.row(t.Space(18))
#: No figure has more places.
_MOST = 1000

_FORM = re.compile(r"\s*:\s*(?:\.([0-9]+)([f%])|(exact))\s*\Z")
#: A live figure inside mathematics.
IN_MATHEMATICS = re.compile(r"\\symattn\{([^{}]*)\}")


class Text(NamedTuple):
    """Text as it is."""

    text: str


class Mathematics(NamedTuple):
    """A formula; ``display``: on a line of its own."""

    row: t.Row
    display: bool = False

    @property
    def latex(self) -> str:
        """The formula as LaTeX that MathJax, KaTeX and pandoc know."""
        # Where lines stand among others is for paper: pandoc and KaTeX would print it.
        return t.latex(self.row).replace(r"\begin{aligned}[t]", r"\begin{aligned}")

    @property
    def mathml(self) -> str:
        """The formula as an element of MathML."""
        return mathml(self.row, self.display)


class Picture(NamedTuple):
    """A drawing as SVG, and what it shows in words."""

    svg: str
    words: str


Piece = Text | Mathematics | Picture
#: What stands in one paragraph.
Paragraph = tuple[Piece, ...]


@dataclass(frozen=True)
class Wanted:
    """The request of a live figure: an expression, and how it is printed: to so many ``places``, in
    percent, or in closed form."""

    expression: str
    places: int = PLACES
    percent: bool = False
    exact: bool = False

    @classmethod
    def read(cls, text: str) -> Wanted:
        """The reading of a live figure. Raises :class:`Malformed` for an empty one, and for
        more places than anybody prints.

        >>> Wanted.read("A[0, 1]:.6f")
        Wanted(expression='A[0, 1]', places=6, percent=False, exact=False)
        >>> Wanted.read("sum(A[0:2])").expression
        'sum(A[0:2])'
        """
        known = _FORM.search(text)
        expression = (text[: known.start()] if known else text).strip()
        if not expression:
            raise Malformed("expected an expression such as A[0, 1] or A[0, 1]:.4f, found none")
        if known is None:
            before, colon, form = text.rpartition(":")
            # Inside brackets it is a slice.
            if colon and before.count("[") == before.count("]"):
                found = short(f":{form.strip()}")
                raise Malformed(f"expected :.4f, :.1% or :exact behind it, found {found}")
            return cls(expression)
        places, sign, exact = known.groups()
        # Of a longer number nobody needs the value.
        if len(places or "") > len(str(_MOST)) or int(places or 0) > _MOST:
            raise Malformed(f"expected at most {_MOST} places, found {short(places)}")
        return cls(expression, int(places or PLACES), sign == "%", bool(exact))

    def __str__(self) -> str:
        if self.exact:
            return f"{self.expression}:exact"
        return f"{self.expression}:.{self.places}{'%' if self.percent else 'f'}"


class Figures:
    """Computes the live figures of one document.

    Every method raises :class:`~symattn.errors.SymattnError` where there is no certain answer: for
    a name that isn't known, a quantity that is not defined, digits that stay undecided.
    """

    def __init__(self, solution: Solution) -> None:
        self._solution = solution

    def paragraphs(self, kind: Kind, text: str) -> list[Paragraph]:
        """A live figure as paragraphs; one inside a line has a single one.

        >>> from symattn.solution.solution import solve
        >>> Figures(solve("cat-sat-mat")).paragraphs("number", "A[0, 1]:.6f")
        [(Text(text='0.186324'),)]
        """
        match kind:
            case "number":
                return [(self.number(text),)]
            case "matrix":
                return [(Mathematics(self.row(text), display=True),)]
            case "step":
                return [*self._step(text)]
            case "heatmap":
                return [(self._picture(text),)]

    def inline(self, kind: Kind, text: str) -> Paragraph:
        """A live figure inside a line. Raises :class:`Malformed` for a step, which has
        lines of its own."""
        if kind == "step":
            raise Malformed("a worked step has lines of its own: expected a directive")
        return (
            (Mathematics(self.row(text)),) if kind == "matrix" else self.paragraphs(kind, text)[0]
        )

    def number(self, text: str) -> Text | Mathematics:
        """One number: its digits, or its closed form. Raises :class:`Malformed` for what is
        a matrix."""
        wanted = Wanted.read(text)
        quantity = self._quantity(wanted)
        if quantity.shape:
            size = show(quantity.shape)
            raise Malformed(
                f"{short(wanted.expression)} is {size}: expected one number, such as "
                f"{short(wanted.expression)}[{', '.join('0' for _ in quantity.shape)}], or "
                "symattn:matrix"
            )
        if wanted.exact:
            return Mathematics(self.row(text))
        number = quantity.decimal(wanted.places)
        if number.is_infinite():
            return Text("-\N{INFINITY}")
        return Text(format(number, "f") + "%" * wanted.percent)

    def row(self, text: str) -> t.Row:
        """A number or a matrix as mathematics."""
        wanted = Wanted.read(text)
        if wanted.percent:
            x = short(wanted.expression)
            raise Malformed(f"percent are for text: expected 100 * ({x}):.{wanted.places}f")
        quantity = self._quantity(wanted)
        if len(quantity.shape) > 2:
            raise Malformed(f"{short(wanted.expression)} has {len(quantity.shape)} axes")
        if wanted.exact:
            cells = [[*map(_closed, row)] for row in quantity.rows]
        else:
            cells = [[*map(_decimal, row)] for row in rows_of(quantity.decimal(wanted.places))]
        return t.matrix(cells) if quantity.shape else cells[0][0]

    def mathematics(self, latex: str) -> str:
        r"""LaTeX with its live figures computed.

        >>> from symattn.solution.solution import solve
        >>> Figures(solve("cat-sat-mat")).mathematics(r"A_{01} = \symattn{A[0, 1]:.3f}")
        'A_{01} = 0.186'
        """
        return IN_MATHEMATICS.sub(lambda match: t.latex(self.row(match[1])), latex)

    def _quantity(self, wanted: Wanted) -> Quantity:
        expression = f"100 * ({wanted.expression})" if wanted.percent else wanted.expression
        quantity = self._solution[expression]
        if not wanted.exact and (symbols := quantity.symbols):
            names = short(", ".join(symbols))
            raise Malformed(f"it has no digits, with {names} in it: expected :exact behind it")
        return quantity

    def _step(self, text: str) -> Iterator[Paragraph]:
        from symattn.cases.settings import settings
        from symattn.sheets.case_sheet import step
        from symattn.sheets.steps import Steps

        wanted = Wanted.read(text)
        known = self._solution.program.steps
        if wanted.expression not in known:
            raise Malformed(
                f"unknown step {short(wanted.expression)!r}: {expected(wanted.expression, known)}"
            )
        changes = {"backward": False, "jacobian": False, "places": wanted.places}
        steps = Steps(self._solution, settings(self._solution.case.sheet, changes))
        node = self._solution.program.quantities[wanted.expression]
        _, *work = step(steps, wanted.expression)
        name = f.typeset_name(wanted.expression)
        yield (Mathematics(steps.formula(name, node), display=True),)
        for block in work:
            yield from _paragraphs(block)

    def _picture(self, text: str) -> Picture:
        from symattn.drawing.picture import draw_quantity

        wanted = Wanted.read(text)
        places = wanted.places if _FORM.search(text) else None
        svg = draw_quantity(self._solution, wanted.expression, places)
        return Picture(svg, visible(wanted.expression))


def _paragraphs(block: b.Block) -> Iterator[Paragraph]:
    """A block of a sheet; its heat maps and hints are for sheets."""
    match block:
        case b.Equations(lines):
            # What continues a line is set in behind its relation.
            cells = tuple((left, (relation or _INDENT) + right) for left, relation, right in lines)
            aligned = t.CellGrid("aligned", cells)
            yield (Mathematics(t.row(aligned), display=True),)
        case b.Matrices(matrices):
            for matrix in matrices:
                after = t.matrix(matrix.cells) if matrix.cells else t.Row()
                yield (Mathematics(matrix.before + after, display=True),)
        case b.Beside(items):
            for item in items:
                yield from _paragraphs(item)
        case b.Paragraph(line):
            yield tuple(_pieces(line))


def _pieces(line: b.Line) -> Iterator[Piece]:
    for piece in line:
        match piece:
            case b.Math(row):
                yield Mathematics(row)
            case str():
                yield Text(piece)
            case _:
                yield Text(piece.text)


def _closed(value: Value | Masked) -> t.Row:
    return f.typeset(f.MINUS_INFINITY if isinstance(value, Masked) else value.formula())


def _decimal(number: Decimal) -> t.Row:
    if number.is_infinite():
        return f.typeset(f.MINUS_INFINITY)
    return t.number(format(number, "f"))
