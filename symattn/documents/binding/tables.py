"""Tables: a matrix with its labels, or columns of quantities with a row for each token."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from symattn import syntax
from symattn.documents.binding import values, workings
from symattn.documents.binding.ledger import Ledger
from symattn.documents.binding.recipe import same
from symattn.documents.binding.roles import named
from symattn.documents.binding.rows import plain
from symattn.documents.binding.standard import Standard
from symattn.documents.binding.subjects import Subject, subject
from symattn.documents.trees import (
    Chain,
    Labelled,
    Piece,
    PrintedFigure,
    ReadTable,
    Words,
    of_table,
)

_NAME = re.compile(r"[A-Za-z]\w{0,3}")
#: So many more figures agree with a quantity than with any other.
_APART = 1.5
#: What a name in a heading means, or None.
Resolve = Callable[[syntax.Tree], syntax.Tree | None]


def bind(
    table: ReadTable,
    ledger: Ledger,
    standard: Standard,
    resolve: Resolve,
    tokens: Sequence[str],
    spoken: syntax.Tree | None,
    about: Subject,
) -> Labelled | None:
    """Claim the figures of a table: as a whole of what is ``spoken`` of, where it has that
    shape, else row by row of the token that it is ``about``, or column by column. The
    matrix that it is, if it is one."""
    whole = of_table(table)
    if whole is not None and spoken is not None and ledger.claim(spoken, whole, "around", "labels"):
        return whole
    if whole is not None and claim_only(whole, ledger, tokens):
        return whole
    if about.mentions and whole is not None:
        _rows(whole, ledger, standard, tokens, about)
    row = next((one.place for one in about.mentions if not (one.across or one.counted)), None)
    for places, head in _groups(table):
        _column(table, places, head, ledger, standard, resolve, tokens, row)
    return whole


def claim_only(whole: Labelled, ledger: Ledger, tokens: Sequence[str]) -> bool:
    """Claim a matrix with all its labels of the only quantity that most of its figures
    agree with; by rows, where it has only those of some tokens."""
    if not (whole.rows_said and whole.columns_said):
        return False
    recipe = ledger.recipe
    found: list[tuple[float, str, list[tuple[syntax.Tree, syntax.Tree]]]] = []
    for name in (*recipe.given, *recipe.steps):
        split = parts(whole, syntax.Name(name), ledger, tokens)
        agreeing = sum(ledger.agreement(*part) for part in split) / max(len(split), 1)
        if agreeing >= 2 / 3:
            found.append((agreeing, name, split))
    if not found:
        return False
    most, first, split = max(found, key=lambda one: one[0])
    value = recipe.floats(syntax.Name(first))
    size = len(whole.rows_said) * len(whole.columns_said)
    for agreeing, name, _ in found:
        other = recipe.floats(syntax.Name(name))
        alike = value is not None and other is not None and same(value, other)
        if not alike and (most - agreeing) * size < _APART and not most == 1 > agreeing:
            return False
    claimed = [ledger.claim(*part, "labels") for part in split]
    return all(claimed)


def parts(
    whole: Labelled, name: syntax.Tree, ledger: Ledger, tokens: Sequence[str]
) -> list[tuple[syntax.Tree, syntax.Tree]]:
    """A matrix, or its rows by their tokens, with what they would be of a quantity."""
    if ledger.fits(name, whole):
        return [(name, whole)]
    labels = [plain(said) for said in whole.rows_said]
    shape = ledger.recipe.shape(name) or ()
    if len(shape) != 2 or shape[0] != len(tokens) or not set(labels) <= set(tokens):
        return []
    if len(labels) != len(whole.items):
        # Only its columns have labels.
        return []
    rows = zip(labels, whole.items, strict=True)
    return [(workings.indexed(name, tokens.index(label)), row) for label, row in rows]


def _rows(
    whole: Labelled, ledger: Ledger, standard: Standard, tokens: Sequence[str], about: Subject
) -> None:
    """Rows that are named by what is worked out for one token, columns by the tokens."""
    if not whole.rows_said or tuple(map(plain, whole.columns_said)) != tuple(tokens):
        return
    row = about.mentions[0].place
    for said, value in zip(whole.rows_said, whole.items, strict=True):
        role = subject(said, tokens).role
        of = standard.of(role) if role != "exponentials" and role is not None else None
        if role == "exponentials":
            weights = standard.of("weights")
            made = (
                ledger.recipe.trees.get(weights.name) if isinstance(weights, syntax.Name) else None
            )
            if isinstance(made, syntax.Call) and made.function == "softmax":
                of = syntax.Call("exp", made.arguments)
        if of is not None and ledger.recipe.shape(of) is not None:
            ledger.claim(workings.indexed(of, row), value, "labels", "row")


def inputs(table: ReadTable) -> Iterator[tuple[str, tuple[str, ...], syntax.Tree]]:
    """The matrices that the columns of a table hold, row by row, with what stands above
    them and the labels of their rows."""
    labels = tuple(plain(_words(row[0])) for row in table.rows if row)
    for places, head in _groups(table):
        rows: list[syntax.Tree] = []
        for row in table.rows:
            cells = [_value(row[place]) for place in places if place < len(row)]
            found = [cell for cell in cells if cell is not None]
            if found and len(found) == len(places):
                rows.append(found[0] if len(found) == 1 else syntax.Array(tuple(found)))
        sizes = {values.shape(row) for row in rows}
        if len(rows) == len(table.rows) > 1 and [len(one) for one in sizes] == [1]:
            yield _words(head), labels, syntax.Array(tuple(rows))


def _groups(table: ReadTable) -> Iterator[tuple[range, tuple[Words | Chain, ...]]]:
    """The columns behind the first that one heading stands above."""
    begun = [place for place, head in enumerate(table.head) if head and place]
    for place, end in zip(begun, [*begun[1:], len(table.head)], strict=False):
        yield range(place, end), table.head[place]


def _column(
    table: ReadTable,
    places: range,
    head: tuple[Words | Chain, ...],
    ledger: Ledger,
    standard: Standard,
    resolve: Resolve,
    tokens: Sequence[str],
    of_row: int | None,
) -> None:
    """A column whose head names a quantity, its rows by the tokens that begin them; of
    numbers in the row of the quantity that is spoken of, or in its only one."""
    entries = _numbers(table, places, tokens)
    if entries:
        figures = tuple(figure for _, figure in entries)
        shown = _row_of(head, figures, ledger, standard, resolve, tokens, of_row)
        if shown is not None:
            for place, figure in entries:
                ledger.claim(_at(shown, place), figure, "labels", "suggested")
        return
    whole = _named(head, standard, resolve, tokens)
    if not isinstance(whole, syntax.Name | syntax.Gradient):
        # What stands above columns of weights may be keys: k_1, k_2.
        return
    for number, row in enumerate(table.rows):
        cells = [_value(row[place]) for place in places if place < len(row)]
        found = [cell for cell in cells if cell is not None]
        if not found or len(found) < len(places):
            continue
        value = found[0] if len(found) == 1 else syntax.Array(tuple(found))
        label = plain(_words(row[0]))
        if ledger.fits(whole, value) and len(table.rows) == 1:
            ledger.claim(whole, value, "labels", "suggested")
        elif label in tokens:
            ledger.claim(workings.indexed(whole, tokens.index(label)), value, "labels", "suggested")
        elif not tokens or label.isdigit():
            _counted(whole, number, len(table.rows), value, ledger)


def _numbers(
    table: ReadTable, places: range, tokens: Sequence[str]
) -> list[tuple[int, PrintedFigure]]:
    """The numbers of a column with a row for each of several tokens, and which these are; nothing
    of another column."""
    labels = [plain(_words(row[0])) for row in table.rows if row]
    if len(places) != 1 or len(labels) < 2 or not set(labels) <= set(tokens):
        return []
    cells = [_value(row[places[0]]) if len(row) > places[0] else None for row in table.rows]
    figures = [cell for cell in cells if isinstance(cell, PrintedFigure)]
    if len(figures) < len(labels):
        return []
    return list(zip(map(tokens.index, labels), figures, strict=True))


def _row_of(
    head: tuple[Words | Chain, ...],
    figures: tuple[syntax.Tree, ...],
    ledger: Ledger,
    standard: Standard,
    resolve: Resolve,
    tokens: Sequence[str],
    of_row: int | None,
) -> syntax.Tree | None:
    """The row of numbers that a column shows, by its head; of exponentials those of the
    scores, or of these less their largest, whichever more figures agree with."""
    recipe = ledger.recipe
    if not _is_of_exponentials(head, tokens):
        whole = _named(head, standard, resolve, tokens)
        shape = None if whole is None else recipe.shape(whole)
        if whole is None or shape is None or (len(shape) == 2 and shape[0] > 1 and of_row is None):
            return None
        return whole if len(shape) == 1 else workings.indexed(whole, of_row or 0)
    weights = standard.of("weights")
    made = recipe.trees.get(weights.name) if isinstance(weights, syntax.Name) else None
    match made:
        case syntax.Call("softmax", (scores,), ()):
            shape = recipe.shape(scores) or ()
        case _:
            return None
    if len(shape) == 2 and of_row is None:
        return None
    row = scores if len(shape) == 1 else workings.indexed(scores, of_row or 0)
    forms = [one for one in (row, workings.shifted(recipe, row)) if one is not None]
    value = syntax.Array(figures)
    best = max(forms, key=lambda one: ledger.agreement(syntax.Call("exp", (one,)), value))
    return syntax.Call("exp", (best,))


def _is_of_exponentials(head: tuple[Words | Chain, ...], tokens: Sequence[str]) -> bool:
    match head:
        case (Chain((syntax.Call("exp"),)),):
            return True
    return subject(_words(head), tokens).role == "exponentials"


def _at(row: syntax.Tree, place: int) -> syntax.Tree:
    match row:
        case syntax.Call("exp", (scores,)):
            return syntax.Call("exp", (workings.entry(scores, place),))
    return workings.indexed(row, place)


def _counted(
    whole: syntax.Tree, number: int, count: int, value: syntax.Tree, ledger: Ledger
) -> None:
    """A row by its number, where the table has all of them."""
    shape = ledger.recipe.shape(whole)
    if shape and shape[0] == count:
        ledger.claim(workings.indexed(whole, number), value, "labels", "suggested")


def _named(
    head: tuple[Words | Chain, ...], standard: Standard, resolve: Resolve, tokens: Sequence[str]
) -> syntax.Tree | None:
    for piece in head:
        if isinstance(piece, Chain) and isinstance(piece.members[0], syntax.Name):
            return resolve(piece.members[0])
    said = _words(head)
    if _NAME.fullmatch(said) and (found := resolve(syntax.Name(said))) is not None:
        return found
    # "scaled" above a column is said of scores.
    role = subject(said, tokens, phrases=standard.phrases).role or named(said.strip().lower())
    return None if role is None else standard.of(role)


def _value(cell: tuple[Piece, ...]) -> syntax.Tree | None:
    """The printed value that a cell consists of."""
    found: list[syntax.Tree] = []
    for piece in cell:
        match piece:
            case Chain((member,)) if values.is_value(member):
                found.append(member)
            case Words(_, _, figures) if figures:
                found += figures
            case Words(text) if not text.strip():
                continue
            case _:
                return None
    return found[0] if len(found) == 1 else None


def _words(cell: tuple[Piece, ...]) -> str:
    """The words of a cell, names in formulas among them."""
    said = []
    for piece in cell:
        match piece:
            case Words(text):
                said.append(text)
            case Chain((syntax.Name(name),)):
                said.append(name)
    return " ".join(said).strip()
