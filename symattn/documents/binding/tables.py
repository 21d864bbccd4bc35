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
from symattn.documents.binding.subjects import subject
from symattn.documents.trees import Chain, Labelled, Piece, ReadTable, Words, of_table

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
) -> Labelled | None:
    """Claim the figures of a table: as a whole of what is ``spoken`` of, where it has that
    shape, else column by column. The matrix that it is, if it is one."""
    whole = of_table(table)
    if whole is not None and spoken is not None and ledger.claim(spoken, whole, "around", "labels"):
        return whole
    if whole is not None and claim_only(whole, ledger, tokens):
        return whole
    for places, head in _groups(table):
        _column(table, places, head, ledger, standard, resolve, tokens)
    return whole


def claim_only(whole: Labelled, ledger: Ledger, tokens: Sequence[str]) -> bool:
    """Claim a matrix with all its labels of the only quantity that most of its figures
    agree with; by rows, where it has only those of some tokens."""
    if not (whole.rows_said and whole.columns_said):
        return False
    recipe = ledger.recipe
    quantities: list[tuple[float, str, list[tuple[syntax.Tree, syntax.Tree]]]] = []
    for name in (*recipe.given, *recipe.steps):
        split = parts(whole, syntax.Name(name), ledger, tokens)
        agreeing = sum(ledger.agreement(*part) for part in split) / max(len(split), 1)
        if agreeing >= 2 / 3:
            quantities.append((agreeing, name, split))
    if not quantities:
        return False
    most, first, split = max(quantities, key=lambda quantity: quantity[0])
    value = recipe.floats(syntax.Name(first))
    size = len(whole.rows_said) * len(whole.columns_said)
    for agreeing, name, _ in quantities:
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
        if len(rows) == len(table.rows) > 1 and [len(shape) for shape in sizes] == [1]:
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
) -> None:
    """A column whose head names a quantity, its rows by the tokens that begin them."""
    whole = _named(head, standard, resolve, tokens)
    if not isinstance(whole, syntax.Name | syntax.Gradient):
        # What stands above columns of weights may be keys: k_1, k_2.
        return
    for row in table.rows:
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


def _named(
    head: tuple[Words | Chain, ...], standard: Standard, resolve: Resolve, tokens: Sequence[str]
) -> syntax.Tree | None:
    for piece in head:
        if isinstance(piece, Chain) and isinstance(piece.members[0], syntax.Name):
            return resolve(piece.members[0])
    words = _words(head)
    if _NAME.fullmatch(words) and (quantity := resolve(syntax.Name(words))) is not None:
        return quantity
    # "scaled" above a column is said of scores.
    role = subject(words, tokens, phrases=standard.phrases).role or named(words.strip().lower())
    return None if role is None else standard.of(role)


def _value(cell: tuple[Piece, ...]) -> syntax.Tree | None:
    """The printed value that a cell consists of."""
    trees: list[syntax.Tree] = []
    for piece in cell:
        match piece:
            case Chain((member,)) if values.is_value(member):
                trees.append(member)
            case Words(_, _, figures) if figures:
                trees += figures
            case Words(text) if not text.strip():
                continue
            case _:
                return None
    return trees[0] if len(trees) == 1 else None


def _words(cell: tuple[Piece, ...]) -> str:
    """The words of a cell, names in formulas among them."""
    words = []
    for piece in cell:
        match piece:
            case Words(text):
                words.append(text)
            case Chain((syntax.Name(name),)):
                words.append(name)
    return " ".join(words).strip()
