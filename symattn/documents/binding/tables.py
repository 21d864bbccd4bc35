"""Tables: a matrix with its labels, or columns of quantities with a row for each token."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

from symattn.documents.binding import values, workings
from symattn.documents.binding.bounds import coming, same
from symattn.documents.binding.evidence import information
from symattn.documents.binding.ledger import Ledger
from symattn.documents.binding.names import Names
from symattn.documents.binding.roles import named
from symattn.documents.binding.standard import Standard
from symattn.documents.binding.subjects import subject
from symattn.documents.trees import (
    Chain,
    Labelled,
    Member,
    Opaque,
    Passage,
    Piece,
    PrintedFigure,
    ReadTable,
    Words,
    of_table,
)
from symattn.expressions import syntax
from symattn.spelling import is_figure

# -- rows that are printed one by one under each other -----------------------------------

_QUOTES = "\"'“”‘’«»„`*"
_QUOTED = re.compile(r"[\"“‘«„`']([^\"“”‘’«»„`'\n]{1,40})[\"”’»“`']")
#: What stands between a label and its row, where rows follow each other on one line.
_ANNOUNCED = (":", "=", "→", "|", "(")
_COUNTED = re.compile(r"(?:token|row|word|position)\s*#?[0-9]+", re.I)
#: Labels longer than that are sentences.
_LONGEST = 40


@dataclass(frozen=True)
class Rows:
    """Labelled rows that follow each other; ``chains`` are those that print them."""

    tree: Labelled
    chains: tuple[Chain, ...]


def found(passages: Sequence[Passage]) -> Iterator[Rows]:
    """All runs of two or more labelled rows of one length, each label another."""
    run: list[tuple[str, syntax.Tree, Chain]] = []
    for row in _labelled(passages):
        if row is not None and run and _goes_on(run, row):
            run.append(row)
            continue
        if len(run) > 1:
            yield _together(run)
        run = [] if row is None else [row]
    if len(run) > 1:
        yield _together(run)


def _goes_on(
    run: list[tuple[str, syntax.Tree, Chain]], row: tuple[str, syntax.Tree, Chain]
) -> bool:
    same = values.shape(run[-1][1]) == values.shape(row[1])
    return same and all(label != row[0] for label, _, _ in run)


def _together(run: list[tuple[str, syntax.Tree, Chain]]) -> Rows:
    chains = tuple(chain for _, _, chain in run)
    labels = tuple(label for label, _, _ in run)
    span = chains[0].span.to(chains[-1].span)
    rows = tuple(value for _, value, _ in run)
    return Rows(Labelled(rows, rows_said=labels, span=span), chains)


def _labelled(
    passages: Sequence[Passage],
) -> Iterator[tuple[str, syntax.Tree, Chain] | None]:
    """The labelled rows in their order; None for all that stands between."""
    for passage in passages:
        if passage.kind == "note":
            continue
        before, is_line = "", False
        if all(isinstance(one, Words) for one in passage.pieces):
            # Words between rows begin something new, unless they are marks only.
            words = "".join(one.text for one in passage.pieces if isinstance(one, Words))
            if any(map(str.isalnum, words)):
                yield None
            continue
        for piece in passage.pieces:
            match piece:
                case Words(text):
                    before = text
                    if _is_sentence(text) or (is_line and not _is_label(text)):
                        yield None
                case Chain(members) if (
                    passage.kind != "heading" and (row := _row(before, members)) is not None
                ):
                    yield row[0], row[1], piece
                    before, is_line = "", True
                case _:
                    before, is_line = "", False
                    yield None


def _is_sentence(text: str) -> bool:
    return len(text.strip()) > _LONGEST or text.count("\n\n") > 0


def _is_label(words: str) -> bool:
    """Return whether words between two rows are the label of the second, and no sentence that
    goes from one to the other."""
    return "\n" in words or words.rstrip(" *_`").endswith(_ANNOUNCED)


def _row(before: str, members: tuple[object, ...]) -> tuple[str, syntax.Tree] | None:
    match members:
        case (syntax.Name(label), syntax.Array() as value) if not before.strip(" \n-*•,;|"):
            words = label
        case (syntax.Array() as value,) if before.strip():
            words = before
        case _:
            return None
    if not values.is_value(value) or len(values.shape(value)) != 1:
        return None
    label = plain(words)
    return (label, value) if label and len(label) <= _LONGEST else None


def plain(label: str) -> str:
    """A label without what is around it: what is quoted in it, or its words.

    >>> plain('Token 0 ("cat"): '), plain("- sleeps ="), plain("**man** →")
    ('cat', 'sleeps', 'man')
    """
    if match := _QUOTED.search(label):
        return match[1].strip()
    return label.strip(f" \n\t-*•:=→|()[],.#{_QUOTES}")


def without_letter(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels without a letter that all of them begin with: those of x_cat, x_sat.

    >>> without_letter(["x_cat", "x_sat"]), without_letter(["cat", "sat"])
    (('cat', 'sat'), ('cat', 'sat'))
    """
    begun = {label[:2] for label in labels}
    if len(begun) == 1 and re.fullmatch("[A-Za-z]_", begun.pop()):
        return tuple(label[2:] for label in labels)
    return tuple(labels)


def are_tokens(labels: Sequence[str]) -> bool:
    """Return whether labels can be tokens: different, and none of them counts or is empty."""
    return (
        len(set(labels)) == len(labels)
        and all(labels)
        and not all(map(named, labels))
        and not any(_COUNTED.fullmatch(label) or label.isdigit() for label in labels)
        and not any(re.fullmatch(r"[A-Za-z]_?[0-9]+|[A-Z]", label) for label in labels)
        and max(map(len, labels)) <= 24
        and all(len(label.split()) <= 2 for label in labels)
    )


def note_tokens(value: syntax.Tree, names: Names) -> None:
    """Take the labels of a block's rows for the tokens, where there are none yet."""
    if isinstance(value, Labelled) and not names.tokens:
        labels = tuple(map(plain, value.rows_said))
        if labels and are_tokens(labels):
            names.tokens = labels


# -- tables ------------------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z]\w{0,3}")
#: So many more figures agree with a quantity than with any other.
_APART = 1.5
Row = tuple[tuple[Words | Chain, ...], ...]
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


#: A column: its head, the labels of its rows, and the values of its cells.
TableColumn = tuple[str, tuple[str, ...], Sequence[syntax.Tree | None]]


def columns(table: ReadTable) -> Iterator[TableColumn]:
    """The columns behind the first of a table, whose rows have labels of their own there."""
    labels = tuple(plain(_words(row[0])).casefold() if row else "" for row in table.rows)
    if "" not in labels and len({*labels}) == len(labels):
        for place in range(1, min(map(len, table.rows), default=0)):
            head = _words(table.head[place]) if place < len(table.head) else ""
            yield head, labels, [_value(row[place]) for row in table.rows]


#: A cell under a formula: the label of its row, the cells beside it by the names above these, the
#: formula, and what it shows.
WorkedCell = tuple[str, Mapping[str, syntax.Tree], Member, syntax.Tree]


def of_rows(table: ReadTable) -> Iterator[WorkedCell]:
    """Yield the cells of columns that have a formula above them."""
    heads = [_head(head) for head in table.head]
    names = [one.name if isinstance(one, syntax.Name) else "" for one, _ in heads]
    for row in table.rows:
        cells = [_value(cell) for cell in row]
        pairs = zip(names, cells, strict=False)
        beside = {name: cell for name, cell in pairs if name and cell is not None}
        for (_, formula), cell in zip(heads, cells, strict=False):
            if formula is not None and cell is not None:
                yield plain(_words(row[0])), beside, formula, cell


def _head(cell: Sequence[Piece]) -> tuple[Member, Member | None]:
    """Return what stands above a column: its name, and its formula if it has one."""
    for piece in cell:
        if isinstance(piece, Chain):
            return piece.members[0], piece.members[-1]
    return syntax.Name(_words(tuple(cell))), None


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


# -- columns that work out others ---------------------------------------------------------------

_SIGNS = {"×": "*", "·": "*", "*": "*", "x": "*", "÷": "/", "/": "/", "+": "+", "-": "-", "−": "-"}
#: An operation with its second number, "÷ 8".
_BY = re.compile(r"(?P<sign>[×·*÷/]|[+−-](?=\s))\s*+[0-9][0-9.]*+")
_SUM = re.compile(r"\W*+(?:(?:row|column)\s)?(?:sums?|Σ|∑)(?![^\W\d])\W*+[0-9.]*+\W*+", re.I)
_EXP = re.compile(r"e\s?\^\W?\w++|exps?\b.*+|exponentials?", re.I)
_TEMPERATURE = re.compile(r"\W*+(?:temperatur\w*+|temp|T|τ|\\?tau|温度)(?!\w)", re.I)
_SHARES = re.compile(r"softmax|\b(?:prob|p_?\{?[0-9i])|概率", re.I)
#: This part of a column has to come out, where only its head says how.
_COMES_OUT = 0.66
#: Cells are worked out in those before them if those that are tell so many bits for each.
_TOLD = 4.0


def equations(table: ReadTable, vectors: Sequence[syntax.Tree]) -> Iterator[Chain]:
    """Yield what a table works out: rows that read "0.2 | × | 3 | = | 0.6", columns of what their
    head does to the number before, sums, and rows of shares at a temperature, of one of the
    ``vectors`` that stand before it."""
    yield from _tempered(table, vectors)
    for row in table.rows:
        yield from _across(row)
    for place, head in enumerate(table.head):
        column = list(_of_head(table, place, _words(head), head))
        agreeing = [coming(*one) for one in column]
        share = sum(one is not None and bool(one.all()) for one in agreeing)
        if len(column) > 1 and share >= _COMES_OUT * len(column):
            yield from (_equation(*one) for one in column)
        yield from _below(table, place)


def coming_out(pieces: Sequence[Piece]) -> Sequence[Chain]:
    """The equations of numbers among pieces, if those that are true tell enough: then all are
    meant."""
    chains: list[Chain] = []
    told = 0.0
    for piece in pieces:
        match piece:
            case Chain((numbers, value)) if values.is_closed(numbers) and values.is_value(value):
                chains.append(piece)
                came = coming(numbers, value)
                if came is not None and came.all():
                    told += sum(information(text) for text in values.texts(value))
    return chains if told > _TOLD * len(chains) else ()


def _equation(numbers: syntax.Tree, value: syntax.Tree) -> Chain:
    start, *_ = figures = list(values.figures(value))
    span = start.span.to(figures[-1].span)
    return Chain((numbers, value), ("=",), (span, span))


def _across(row: Row) -> Iterator[Chain]:
    """The equation that the cells of a row are."""
    for place, cell in enumerate(row[:-1]):
        if _words(cell) != "=" or place < 3:
            continue
        numbers, at = [_shown(row[place - 1])], place - 2
        signs: list[str] = []
        while at > 0 and (sign := _SIGNS.get(_words(row[at]))):
            signs.insert(0, sign)
            numbers.insert(0, _shown(row[at - 1]))
            at -= 2
        numbers.append(_shown(row[place + 1]))
        known = [one for one in numbers if one is not None]
        gaps = {gap for _, gap in known} - {None}
        if len(known) < len(numbers) or len(gaps) > 1 or len({one in "+-" for one in signs}) != 1:
            continue
        tree, *others = [one for one, _ in known]
        for sign, other in zip(signs, others, strict=False):
            tree = syntax.Binary(sign, tree, other)
        yield _equation(tree, others[-1])


def _tempered(table: ReadTable, vectors: Sequence[syntax.Tree]) -> Iterator[Chain]:
    """Rows that are the softmax of a vector at the temperature that they begin with."""
    heads = " ".join(_said(cell) for cell in table.head)
    if not (_TEMPERATURE.match(heads) and _SHARES.search(heads)):
        return
    for is_rounded, vector in product((False, True), reversed(vectors)):
        size = values.shape(vector)[0]
        rows: list[tuple[syntax.Tree, syntax.Tree]] = []
        for first, *cells in filter(None, table.rows):
            by, shares = _result(first), [_value(cell) for cell in cells[:size]]
            known = [one for one in shares if one is not None]
            value = known[0] if known and values.shape(known[0]) else syntax.Array(tuple(known))
            if isinstance(by, PrintedFigure) and values.shape(value) == (size,):
                scaled = syntax.Binary("/", vector, by)
                rows.append((syntax.Call("softmax", (scaled,)), value))
        # Shares of 0 and 1 are those of any vector at a low temperature.
        agreeing = [coming(*one, rounded=is_rounded) for one in rows if _tells(one[1])]
        if len(rows) > 1 and any(one is not None and one.all() for one in agreeing):
            yield from (_equation(*one) for one in rows)
            return


def _tells(shares: syntax.Tree) -> bool:
    return all(figure.text.strip("0.") not in ("", "1") for figure in values.figures(shares))


def _of_head(
    table: ReadTable, place: int, words: str, head: Sequence[Words | Chain]
) -> Iterator[tuple[syntax.Tree, syntax.Tree]]:
    """Yield what a column shows, and what its head says that it is of the numbers before."""
    is_power = any(isinstance(one, Chain) and _is_exp(one.members[0]) for one in head)
    is_power = is_power or bool(_EXP.fullmatch(words))
    for row in table.rows:
        if len(row) != len(table.head) or not 2 <= place < len(row):
            continue
        value, last = _value(row[place]), _value(row[place - 1])
        by = _BY.fullmatch(_words(row[place]))
        if by and last and place + 1 < len(row) and (after := _value(row[place + 1])):
            # The operation has a column of its own, and its result the next.
            yield syntax.Binary(_SIGNS[by["sign"]], last, _only(row[place])), after
        elif value is not None and last is not None and is_power:
            yield syntax.Call("exp", (last,)), value
        elif value is not None and _SUM.fullmatch(words):
            numbers = [one for cell in row[1:place] if (one := _value(cell)) is not None]
            if len(numbers) == place - 1 > 1:
                yield syntax.Call("total", (syntax.Array(tuple(numbers)),)), value


def _below(table: ReadTable, place: int) -> Iterator[Chain]:
    """The sum that the last row says that a column has."""
    *rows, last = table.rows or ((),)
    if not place < len(last) or not rows or any(len(row) != len(last) for row in rows):
        return
    value, numbers = _result(last[place]), [_result(row[place]) for row in rows]
    known = [one for one in numbers if isinstance(one, PrintedFigure)]
    is_sum = any(_SUM.fullmatch(_said(cell)) for cell in (last[0], last[place]))
    if is_sum and isinstance(value, PrintedFigure) and len(known) == len(numbers) > 1:
        yield _equation(syntax.Call("total", (syntax.Array(tuple(known)),)), value)


def _is_exp(tree: Member) -> bool:
    return isinstance(tree, syntax.Call) and tree.function == "exp"


def _only(cell: tuple[Piece, ...]) -> syntax.Tree:
    return next(figure for piece in cell if isinstance(piece, Words) for figure in piece.figures)


def _said(cell: tuple[Piece, ...]) -> str:
    """Return what a cell says before its value."""
    match cell[:1]:
        case (Chain((syntax.Name(name) | syntax.Indexed(syntax.Name(name)), *_)),):
            return name
    return _words(cell)


def _result(cell: tuple[Piece, ...]) -> syntax.Tree | None:
    """The value that a cell consists of, or that stands behind an equals sign or a label."""
    match list(cell):
        case [Chain((*_, member))] if values.is_value(member):
            return member
        case [Words(_, _, (figure,))]:
            return figure
    return None


def _shown(cell: tuple[Piece, ...]) -> tuple[syntax.Tree, int | None] | None:
    """The value of a cell, of "[0.2, ..., 0.5]" what is shown, and where the gap is."""
    match list(cell):
        case [Chain((syntax.Array(items),))]:
            gaps = [k for k, one in enumerate(items) if isinstance(one, Opaque)]
            shown = tuple(one for one in items if not isinstance(one, Opaque))
            if len(gaps) == 1 and shown and values.is_value(whole := syntax.Array(shown)):
                return whole, gaps[0]
    value = _value(cell)
    return None if value is None else (value, None)


def _value(cell: tuple[Piece, ...]) -> syntax.Tree | None:
    """The printed value that a cell consists of."""
    trees: list[syntax.Tree] = []
    for piece in cell:
        match piece:
            case Chain((member,)) if values.is_value(member):
                trees.append(member)
            case Words(text, _, (figure,)) if is_figure(text):
                trees.append(figure)
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


# -- analogies ---------------------------------------------------------------------------
# "V_coffee = [0, 0, 1, 1] W_V = [1, 1, 1]" works the cell of *coffee* under *V* from its cell under
# *Embedding*, or a row of V from that row of X: so each other cell or row comes of the one beside
# it. That is known if most of them do.

#: Fewer rows say nothing, more are not compared; so many columns are, and parts of expressions.
_FEWEST, _MOST, _COLUMNS, _PARTS = 3, 64, 64, 64


class Alike(NamedTuple):
    """A cell, what it is by analogy, and how much was stated before it."""

    order: int
    said: syntax.Tree
    value: syntax.Tree


@dataclass(frozen=True)
class _Column:
    order: int
    cells: Mapping[str, syntax.Tree]

    @cached_property
    def labels(self) -> Mapping[tuple[str, ...], str]:
        """By the numbers of a cell that no other has: its label."""
        texts = [(*values.texts(cell),) for cell in self.cells.values()]
        pairs = zip(texts, self.cells, strict=True)
        return {numbers: label for numbers, label in pairs if texts.count(numbers) == 1}


@dataclass
class Columns:
    """The columns of the tables of an article whose rows have labels, and its matrices, whose rows
    are counted."""

    _columns: list[_Column] = field(default_factory=list)

    def table(self, table: ReadTable, order: int) -> None:
        """Take a table that stands behind so many chains."""
        for _, labels, cells in columns(table):
            self._take(labels, cells, order)

    def matrix(self, value: syntax.Tree, order: int) -> None:
        """Take a printed matrix."""
        if len(values.shape(value)) == 2:
            rows = [*syntax.inside(value)]
            self._take([*map(str, range(len(rows)))], rows, order)

    def _take(self, labels: Sequence[str], cells: Sequence[syntax.Tree | None], order: int) -> None:
        found = {x: y for x, y in zip(labels, cells, strict=True) if y is not None}
        is_small = _FEWEST <= len(found) == len(labels) <= _MOST
        if is_small and len(self._columns) < _COLUMNS:
            self._columns.append(_Column(order, found))

    def alike(self, said: syntax.Tree, value: syntax.Tree) -> Iterator[Sequence[Alike]]:
        """Yield what other cells are by what is said of a value, column by column."""
        numbers = (*values.texts(value),)
        columns = [one for one in self._columns if numbers in one.labels]
        parts = [*islice(syntax.walk(said), _PARTS)] if columns else []
        operands = [(part, (*values.texts(part),)) for part in parts if values.is_value(part)]
        for column in columns:
            label = column.labels[numbers]
            for other in self._columns:
                found = [x for x, texts in operands if other.labels.get(texts) == label]
                if other is column or len(found) != 1 or column.cells.keys() != other.cells.keys():
                    continue
                yield [
                    Alike(column.order, _put(said, found[0], other.cells[name]), cell)
                    for name, cell in column.cells.items()
                    if name != label
                ]


def _put(tree: syntax.Tree, old: syntax.Tree, new: syntax.Tree) -> syntax.Tree:
    return syntax.replaced(tree, lambda part: new if part is old else None)
