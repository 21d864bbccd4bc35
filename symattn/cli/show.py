"""``symattn show``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.errors import Malformed
from symattn.escaping import json_text, visible
from symattn.expressions import syntax
from symattn.workers import Asker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from symattn.numbers.reading import Masked
    from symattn.numbers.values import Value
    from symattn.solution.quantity import Quantity

#: What stands for an entry whose closed form nobody would read.
_NO_FORM = "(long)"
#: A quantity of more entries is large: of those the closed forms are shown that are as
#: short as figures. A line is at most so wide.
_MANY, _SHORT, _WIDE = 64, 12, 160
#: So many symbols are named.
_FEW = 20
#: Entries beyond which closed forms are worked out where they are asked for only.
_MOST = 1 << 12


@click.command("show")
@click.argument("case")
@click.argument("quantity")
@click.option("--at", metavar="I,J", help="Show a single entry; indices count from 0.")
@click.option("--places", default=6, show_default=True, help="Decimal places.")
@click.option(
    "--put",
    "numbers",
    metavar="NAME=NUMBER",
    multiple=True,
    help="Put an exact number in the place of a symbol.",
)
@click.option("--rounding", help="half-even, half-up, half-down, down, up, floor or ceiling.")
@options.form("text", "latex", "json")
@options.paced()
def command(
    case: str,
    quantity: str,
    at: str | None,
    places: int,
    numbers: tuple[str, ...],
    rounding: str | None,
    form: str,
    pace: options.Pace,
) -> None:
    """Show a QUANTITY of a CASE, exactly and correctly rounded.

    A QUANTITY is a step (A), a gradient (dL/dQ, grad(Q) or dQ), a Jacobian (dA[0]/dT[0]) or
    an expression in them. For large ones only decimals are shown; --at shows both for a
    single entry. What has symbols in it has no decimals; --put a=1/2 gives them numbers.

    \b
      symattn show cat-sat-mat A --places 10
      symattn show cat-sat-mat "A[0] @ V"
      symattn show length-4-causal dL/dQ --at 3,0 --format latex
      symattn show cat-sat-mat "grad(V)[0, 1] - Y[0, 1]" --format json
    """
    place = None if at is None else _indices(at)
    known = _numbers(numbers)
    texts = case_arguments.of_each(
        [case], pace, _report, quantity, place, known, places, rounding, form
    )
    for text in texts.whole():
        click.echo(text)


def _report(
    asker: Asker,
    case: case_arguments.CaseArgument,
    quantity: str,
    place: list[int] | None,
    numbers: dict[str, object],
    places: int,
    rounding: str | None,
    form: str,
) -> str:
    from symattn.numbers.rounding import rounding_mode
    from symattn.solution.solution import solve

    asker.stage("reading")
    read = case.to_build(asker)
    asker.stage("computing")
    solution = solve(read)
    if numbers:
        solution = solution.at(**numbers)
    result = solution[quantity]
    if place is not None:
        result.at(*place)
        result = solution[f"({quantity})[{', '.join(map(str, place))}]"]
    mode = solution.case.rounding if rounding is None else rounding_mode(rounding)
    is_lettered = result.is_lettered and bool(result.symbols)
    decimal = None if is_lettered else _texts(result.decimal(places, mode))
    if form == "json":
        exact, latex = _nested(result, _exact), _nested(result, _latex)
        content = {
            "case": solution.case.name,
            "quantity": quantity,
            "at": place,
            "shape": list(result.shape),
            "exact": exact,
            "latex": latex,
            "decimal": decimal,
            "places": places,
            "rounding": mode,
        }
        return json_text(content)
    if form == "latex":
        return result.latex()
    name = quantity
    if place is not None:
        name = syntax.entry_text(quantity, syntax.parse(quantity), place)
    return "\n".join(_lines(visible(name), result, decimal, f"{places} places, {mode}"))


def _numbers(texts: tuple[str, ...]) -> dict[str, object]:
    numbers: dict[str, object] = {}
    for text in texts:
        name, sign, number = text.partition("=")
        if not sign:
            raise Malformed(
                f"--put: expected a symbol and its number such as a=1/2, found {text[:40]!r}"
            )
        numbers[name.strip()] = number.strip()
    return numbers


def _indices(at: str) -> list[int]:
    try:
        return [int(part) for part in at.split(",")]
    except ValueError:
        raise Malformed(f"--at: expected indices such as 0,1, found {at[:40]!r}") from None


def _nested(quantity: Quantity, convert: Callable[[Value | Masked], str | None]) -> Any:
    """``convert`` of every exact entry, nested as JSON has it."""
    from symattn.expressions.shapes import nested

    table = [[convert(entry) for entry in row] for row in quantity.rows]
    return nested(quantity.shape, table)


def _exact(entry: Value | Masked) -> str | None:
    """The closed form as text; None where there is no short one."""
    from symattn.numbers.reading import Masked

    closed = isinstance(entry, Masked) or entry.is_closed
    return str(entry) if closed else None


def _latex(entry: Value | Masked) -> str | None:
    from symattn.expressions import formulas
    from symattn.numbers.reading import Masked

    if isinstance(entry, Masked):
        return r"-\infty"
    return formulas.latex(entry.formula()) if entry.is_closed else None


def _texts(decimals: Any) -> Any:
    if isinstance(decimals, tuple):
        return [_texts(item) for item in decimals]
    if isinstance(decimals, str):
        return decimals
    return "-inf" if decimals.is_infinite() else format(decimals, "f")


def _lines(name: str, quantity: Quantity, decimal: Any, how: str) -> Iterator[str]:
    """Closed forms above decimals; where those fit in no table, the decimals first."""
    from symattn.expressions.shapes import show

    rows, columns = quantity.grid
    if decimal is None:
        yield from _formulas(name, quantity)
        return
    if not quantity.shape:
        exact = _exact(quantity.rows[0][0])
        nearly = "" if exact == decimal else f" \N{ALMOST EQUAL TO} {decimal}"
        yield f"{name}{'' if exact is None else f' = {exact}'}{nearly}"
        return
    shape = show(quantity.shape)
    figures = decimal if len(quantity.shape) == 2 else [decimal]
    above = f"{name}, {shape} \N{ALMOST EQUAL TO} {how}:"
    if rows * columns > _MANY and not _all_short(quantity):
        yield above
        yield from _columns(figures)
        yield "The closed forms are too wide for a table; --at I,J shows one entry"
        return
    table = [[_exact(entry) for entry in row] for row in quantity.rows]
    forms = [[_NO_FORM if x is None else x for x in row] for row in table]
    has_none = all(entry is None for row in table for entry in row)
    if has_none or _fits(forms):
        yield f"{name}, {shape}" + (": no short closed form" if has_none else ", exact:")
        yield from () if has_none else _columns(forms)
        yield f"\N{ALMOST EQUAL TO} {how}:"
        yield from _columns(figures)
    else:
        yield above
        yield from _columns(figures)
        yield "exact:"
        yield from _columns(forms)


def _formulas(name: str, quantity: Quantity) -> Iterator[str]:
    """Yield what has symbols in it, of which there are no decimals."""
    from symattn.expressions.shapes import keys, show

    table = [[_exact(entry) or _NO_FORM for entry in row] for row in quantity.rows]
    if not quantity.shape:
        yield f"{name} = {table[0][0]}"
        return
    names = quantity.symbols
    said = ", ".join(names) if len(names) <= _FEW else f"{len(names)} symbols"
    yield f"{name}, {show(quantity.shape)}, in {said}:"
    if _fits(table):
        yield from _columns(table)
        return
    for i, row in enumerate(table):
        for j, entry in enumerate(row):
            yield f"  {name}{[*keys(quantity.shape, i, j)]} = {entry}"


def _all_short(quantity: Quantity) -> bool:
    """Return whether the closed forms of a large quantity are as short as figures; the first that
    is not ends the search. Those of a very large one are not looked at."""
    rows, columns = quantity.grid
    if rows * columns > _MOST:
        return False
    entries = (quantity.entry(i, j) for i in range(rows) for j in range(columns))
    return all((form := _exact(entry)) is not None and len(form) <= _SHORT for entry in entries)


def _fits(table: list[list[str]]) -> bool:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return sum(widths) + 2 * len(widths) <= _WIDE


def _columns(table: list[list[str]]) -> Iterator[str]:
    """Rows with their columns lined up; very wide entries one on a line."""
    if not _fits(table):
        for i, row in enumerate(table):
            for j, entry in enumerate(row):
                yield f"  [{i}, {j}] {entry}"
        return
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (entry.rjust(size) for entry, size in zip(row, widths, strict=True))
        yield "  " + "  ".join(cells)
