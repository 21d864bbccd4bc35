"""Definitions and inputs of an article: names with expressions or printed values, by version.

A name may get another meaning further down (``scores = scores / sqrt(d_k)``, a second
example with other inputs): each meaning is a version, and what depended on the older
one is there in a newer version as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import nan
from typing import TypeGuard

from symattn.documents.binding import values
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.evidence import agreement
from symattn.documents.help import Help
from symattn.documents.text import Span
from symattn.documents.trees import (
    NOWHERE,
    Chain,
    Link,
    Member,
    Named,
    Opaque,
    PrintedFigure,
    walk,
)
from symattn.expressions import syntax
from symattn.limits import STEPS

# -- definitions of one row --------------------------------------------------------------


def by_letters(head: Member, body: Member) -> tuple[str, syntax.Tree] | None:
    """Return what an entry or a row in letters defines as a whole, or None: every index of the
    left side stands on the right where rows and columns are, others are summed over.

    >>> head = syntax.parse("S[i, j]", letters=True)
    >>> name, tree = by_letters(head, syntax.parse("q[i] @ k[j] / sqrt(d)", letters=True))
    >>> name, syntax.text(tree)
    ('S', 'q @ k.T / sqrt(d)')
    """
    match head:
        case syntax.Cell(syntax.Name(name), places):
            letters = [place.name for place in places if isinstance(place, syntax.Name)]
            if len(letters) != len(places) or len(set(letters)) != len(letters):
                return None
            whole = _whole(body, letters)
            return None if whole is None else (name, whole)
        case syntax.Name(name):
            match body:
                case syntax.Cell(syntax.Name() as operand, places) if all(_letters(places)):
                    # E = (e_ij)
                    return name, operand
    return None


def _whole(tree: Member, letters: list[str]) -> syntax.Tree | None:
    """A matrix whose entry, or row, at the letters the tree is."""
    match tree:
        case syntax.Literal() | syntax.Name():
            return tree
        case syntax.Cell(operand, places) if _letters(places) == letters:
            return operand
        case syntax.Binary("@" | "*", left, right) if (
            whole := _product(left, right, letters)
        ) is not None:
            return whole
        case syntax.Binary(op, left, right):
            return _exponentials(tree, letters) or _pair(op, left, right, letters)
        case syntax.Call("sum", (syntax.Binary("@" | "*", left, right), syntax.Name(over))):
            return _summed(left, right, over, letters)
        case syntax.Call("softmax", (scores, *_)) if len(letters) == 2:
            whole = _whole(scores, letters)
            return None if whole is None else syntax.Call("softmax", (whole,))
        case syntax.Call(function, (operand,)) if function in ("exp", "sqrt", "tanh"):
            whole = _whole(operand, letters)
            return None if whole is None else syntax.Call(function, (whole,))
        case syntax.Call("kept", (entry, syntax.Comparison(sides, (relation,)))):
            whole = _whole(entry, letters)
            return (
                None
                if whole is None or not _is_causal(sides, relation, letters)
                else _causal(whole)
            )
        case syntax.Negative(operand):
            whole = _whole(operand, letters)
            return None if whole is None else syntax.Negative(whole)
    return None


def _is_causal(sides: tuple[syntax.Tree, ...], relation: str, letters: list[str]) -> bool:
    """Return whether a condition holds on and below the diagonal."""
    compared = _letters(sides)
    return (compared, relation) in ((letters, ">="), (letters[::-1], "<="))


def _causal(tree: syntax.Tree) -> syntax.Tree:
    return syntax.Call("causal", (tree,))


def _letters(places: tuple[syntax.Tree, ...]) -> list[str]:
    return [place.name if isinstance(place, syntax.Name) else "" for place in places]


def _pair(op: str, left: syntax.Tree, right: syntax.Tree, letters: list[str]) -> syntax.Tree | None:
    parts = _whole(left, letters), _whole(right, letters)
    if parts[0] is None or parts[1] is None:
        return None
    return syntax.Binary(op, parts[0], parts[1])


def _product(left: syntax.Tree, right: syntax.Tree, letters: list[str]) -> syntax.Tree | None:
    """Rows of two matrices multiplied, or a row by a matrix."""
    match _untransposed(left), _untransposed(right), letters:
        case syntax.Cell(x, rows), syntax.Cell(y, others), [i, j]:
            if (_letters(rows), _letters(others)) == ([i], [j]):
                return syntax.Binary("@", x, syntax.Transposed(y))
        case syntax.Cell(x, rows), syntax.Name(), [i] if _letters(rows) == [i]:
            return syntax.Binary("@", x, right)
    return None


def _untransposed(tree: syntax.Tree) -> syntax.Tree:
    """A row, also where it is written as the transpose of a column."""
    match tree:
        case syntax.Transposed(syntax.Cell(_, (_,)) as row):
            return row
    return tree


def _summed(
    left: syntax.Tree, right: syntax.Tree, over: str, letters: list[str]
) -> syntax.Tree | None:
    """A sum of products over an index: a product of matrices."""
    match left, right:
        case syntax.Cell(x, first), syntax.Cell(y, second):
            match letters, _letters(first), _letters(second):
                case [i], [a, b], [c] if (a, b, c) == (i, over, over):
                    return syntax.Binary("@", x, y)
                case [i, j], [a, b], [c, d] if (a, b) == (i, over) and (c, d) == (over, j):
                    return syntax.Binary("@", x, y)
                case [i, j], [a, b], [c, d] if (a, b) == (i, over) and (c, d) == (j, over):
                    return syntax.Binary("@", x, syntax.Transposed(y))
    return None


def _exponentials(tree: syntax.Binary, letters: list[str]) -> syntax.Tree | None:
    """An exponential over the sum of those of its row: a softmax."""
    match tree:
        case syntax.Binary(
            "/",
            syntax.Call("exp", (above,)),
            syntax.Call("sum", (syntax.Call("exp", (below,)), syntax.Name(over))),
        ) if len(letters) == 2:
            made, other = _whole(above, letters), _whole(below, [letters[0], over])
            if made is not None and made == other:
                return syntax.Call("softmax", (made,))
    return None


#: A row by its number: q_1, k2.
_ROW = re.compile(r"(?P<base>[a-z]+)_?(?P<number>[0-9]{1,3})\Z")
#: What there is one of for each head, by a letter or a number: Q_i, W_Q_1.
_EACH = re.compile(r"(?P<base>[A-Za-z]\w*)_(?P<number>[hijlmn])\Z")
_ONE = re.compile(r"(?P<base>[A-Za-z]\w*)_(?P<number>[0-9]{1,2})\Z")
#: The letters that stand for the numbers of rows and columns.
_LETTERS = (syntax.Name("i"), syntax.Name("j"))
#: More heads than that are not written out.
_HEADS = 16


def by_numbers(head: Member, body: Member) -> tuple[str, syntax.Tree] | None:
    """Return what a row or an entry by its number shows of the whole, or None: on the right stand
    the rows of the same numbers, and what has none.

    >>> name, tree = by_numbers(syntax.parse("y_2"), syntax.parse("x_2 + o_2"))
    >>> name, syntax.text(tree)
    ('y', 'x + o')
    >>> by_numbers(syntax.parse("x_2"), syntax.parse("x_1 + o_1"))
    """
    if isinstance(body, syntax.Name):
        # The first row of an output may happen to be that of the values.
        return None
    match head:
        case syntax.Name(name) if match := _ROW.match(name):
            base, numbers = match["base"], [int(match["number"])]
        case syntax.Indexed(syntax.Name(base), (int() as row, int() as column)):
            numbers = [row, column]
        case _:
            return None
    letters = list(_LETTERS[: len(numbers)])
    lettered = _lettered(body, numbers, letters)
    if lettered is None or not any(isinstance(part, syntax.Cell) for part in walk(lettered)):
        return None
    return by_letters(syntax.Cell(syntax.Name(base), tuple(letters)), lettered)


def _lettered(tree: Member, numbers: list[int], letters: list[syntax.Name]) -> syntax.Tree | None:
    """An expression with letters for the numbers of its rows; None where it has others, or
    works with numbers of its own."""
    match tree:
        case syntax.Name(name) if match := _ROW.match(name):
            if numbers != [int(match["number"])]:
                return None
            return syntax.Cell(syntax.Name(match["base"]), (letters[0],))
        case syntax.Name(name):
            # What has a number otherwise may be that of a head.
            return None if _ONE.match(name) else tree
        case syntax.Transposed(operand):
            of = _lettered(operand, numbers, letters)
            return None if of is None else syntax.Transposed(of)
        case syntax.Binary("/", left, syntax.Literal() | syntax.Call("sqrt") as below):
            above = _lettered(left, numbers, letters)
            return None if above is None else syntax.Binary("/", above, below)
        case syntax.Binary("@" | "*" as op, left, right) if len(numbers) == 2:
            # The first of two rows that are multiplied is that of the row.
            first = _lettered(left, numbers[:1], letters[:1])
            second = _lettered(right, numbers[1:], letters[1:])
        case syntax.Binary("@" | "+" as op, left, right):
            first = _lettered(left, numbers, letters)
            second = _lettered(right, numbers, letters)
        case _:
            return None
    return None if first is None or second is None else syntax.Binary(op, first, second)


def heads(chains: Sequence[Chain]) -> list[dict[str, str]]:
    """For each head that the article has something with the number of: what names in the
    letter of a head are called there, ``Q_i`` and ``W_i`` in ``Q_i = X @ W_i``.

    >>> from symattn.documents.text import Span
    >>> def chain(*said): return Chain(tuple(map(syntax.parse, said)), ("=",), (Span(0, 0),) * 2)
    >>> heads([chain("W_1", "2"), chain("W_2", "3"), chain("Q_i", "X @ W_i")])
    [{'Q_i': 'Q_1', 'W_i': 'W_1'}, {'Q_i': 'Q_2', 'W_i': 'W_2'}]
    """
    general: set[str] = set()
    numbers: dict[str, set[int]] = {}
    for chain in chains:
        names = {
            name
            for member in chain.members
            if not isinstance(member, Opaque)
            for name in syntax.names(member)
        }
        match chain.members[0]:
            case syntax.Name(name) if (each := _EACH.match(name)) and len(chain.members) > 1:
                general |= {
                    other for other in names if (of := _EACH.match(other)) and of[2] == each[2]
                }
        for name in names:
            if match := _ONE.match(name):
                numbers.setdefault(match[1], set()).add(int(match[2]))
    bases = {name: name[:-2] for name in sorted(general)}
    known = set().union(*(numbers.get(base, set()) for base in bases.values()))
    if not bases or len(known) < 2:
        return []
    return [
        {name: f"{base}_{number}" for name, base in bases.items()}
        for number in sorted(known)[:_HEADS]
    ]


def in_letters(chains: Sequence[Chain]) -> list[Chain]:
    """The chains with ``Q_i`` for ``Q[i]``, where each is the matrix of a head and no row:
    where Q_1 is printed as one, or Q_i is computed from such matrices."""
    matrices = {
        match[1]
        for chain in chains
        if (match := _ONE.match(_name(chain.members[0]))) and any(map(_is_matrix, chain.members))
    }
    if not matrices:
        return list(chains)
    known = 0
    while known < len(matrices):
        known = len(matrices)
        for chain in chains:
            head, *bodies = chain.members
            if isinstance(head, syntax.Cell) and any(
                _base(part) in matrices for body in bodies for part in walk(body)
            ):
                matrices |= {_base(head)} - {""}
    return [
        replace(chain, members=tuple(_without_cells(member, matrices) for member in chain.members))
        for chain in chains
    ]


def _name(tree: Member) -> str:
    return tree.name if isinstance(tree, syntax.Name) else ""


def _is_matrix(member: Member) -> bool:
    return values.is_value(member) and len(values.shape(member)) == 2


def _base(tree: Member) -> str:
    """The name that one letter stands below, or ''."""
    match tree:
        case syntax.Cell(syntax.Name(name), (syntax.Name(letter),)) if _EACH.match(
            f"{name}_{letter}"
        ):
            return name
    return ""


def _without_cells(tree: Member, matrices: set[str]) -> Member:
    if isinstance(tree, Opaque):
        return tree
    return syntax.replaced(tree, lambda part: _each_of(part) if _base(part) in matrices else None)


def _each_of(tree: syntax.Tree) -> syntax.Tree:
    assert isinstance(tree, syntax.Cell)
    return syntax.Name(f"{_base(tree)}_{_name(tree.places[0])}")


# -- definitions -------------------------------------------------------------------------


@dataclass(frozen=True)
class Definition:
    """A version of a name: an expression over versions of names, or a printed value.

    ``order`` counts the chains before it; ``again`` where it stands for an older one
    over newer inputs, ``is_lost`` where it means no longer what it did, ``is_opaque`` where
    a program makes it in a way that isn't understood: it is only what is shown of it.
    """

    key: str
    name: str
    span: Span | None
    order: int
    tree: syntax.Tree | None = None
    value: syntax.Tree | None = None
    again: bool = False
    is_lost: bool = False
    is_opaque: bool = False

    @property
    def is_unknown(self) -> bool:
        """Return whether nothing is said of what it is."""
        return self.tree is None and self.value is None


class Definitions:
    """The definitions of an article, in its order."""

    def __init__(self) -> None:
        self.found: dict[str, Definition] = {}
        self.fixed: set[str] = set()
        self._latest: dict[str, str] = {}
        self._changes: list[tuple[int, str, str]] = []
        #: The name that was defined last, and in which chain.
        self._last = "", -1

    def versions(self, order: int) -> Mapping[str, str]:
        """The version of each name that is meant in the chain of that number: the last
        before it, or the first of all."""
        meant: dict[str, str] = {}
        for place, name, key in self._changes:
            if place <= order or name not in meant:
                meant[name] = key
        return meant

    def fix(
        self,
        name: str,
        span: Span | None,
        tree: syntax.Tree | None = None,
        value: syntax.Tree | None = None,
    ) -> None:
        """Take what the author says that a name is; the article says nothing else of it."""
        self.fixed.add(name)
        self._add(Definition(name, name, span, -1, tree=tree, value=value))

    def define(self, name: str, tree: syntax.Tree, span: Span, order: int) -> None:
        """Take ``name = expression``; said again in the same words it is nothing new."""
        if name in self.fixed or _only_calls(name, tree):
            return
        meant = _renamed(tree, self._latest)
        known = self.found.get(self._latest.get(name, ""))
        depends = name in syntax.names(tree)
        is_next, self._last = self._last == (name, order - 1), (name, order)
        if known is None or known.is_unknown:
            if not depends:
                self._add(Definition(self._next(name), name, span, order, tree=meant))
        elif known.tree is None and not depends:
            # The value was printed before the formula: it is a claim about it.
            self.found[known.key] = replace(known, tree=meant)
        elif is_next and _is_normalised(name, tree, known.tree):
            # Exponentials that the next line divides are only on the way to the weights.
            assert known.tree is not None
            over = syntax.Binary("/", known.tree, syntax.Call("rowsum", (known.tree,)))
            self.found[known.key] = replace(known, tree=over, span=span)
        elif known.tree != meant:
            self._add(Definition(self._next(name), name, span, order, tree=meant))

    def give(
        self,
        name: str,
        value: syntax.Tree,
        span: Span,
        order: int,
        is_code: bool = False,
        printed: bool = False,
    ) -> None:
        """Take ``name = printed value``, unless the name has a meaning already; what a
        program assigns, it has from there on."""
        if name in self.fixed:
            return
        known = self.found.get(self._latest.get(name, ""))
        if known is None:
            self._add(Definition(name, name, span, order, value=value))
        elif known.is_unknown and (printed or not (is_code or known.is_lost)):
            # It is what is shown of it.
            self.found[known.key] = replace(known, value=value, span=span)
        elif is_code and known.value is None and (known.is_unknown or not printed):
            self._add(Definition(self._next(name), name, span, order, value=value))
        elif known.value is None:
            return
        elif len(values.shape(known.value)) != len(values.shape(value)):
            # Of "X: [3, 4]" and the matrix itself the one with the numbers.
            if len(values.shape(value)) == 2:
                self.found[known.key] = replace(known, value=value, span=span)
        elif not _alike(known.value, value, exactly=is_code and not printed):
            added = Definition(self._next(name), name, span, order, value=value)
            self._add(added)
            self._follow(known.key, added)

    def lose(self, name: str, span: Span, order: int) -> None:
        """A program gives a name another meaning, which isn't known: what it meant before
        it means no longer."""
        if name not in self.fixed:
            is_lost = name in self._latest
            key = self._next(name)
            self._add(Definition(key, name, span, order, is_lost=is_lost, is_opaque=True))

    def has_whole(self, row: str) -> bool:
        """Return whether the matrix of the rows of a letter has a meaning."""
        return row in self._latest or row.upper() in self._latest

    def _next(self, name: str) -> str:
        key, number = name, 2
        while key in self.found:
            key, number = f"{name}#{number}", number + 1
        return key

    def _add(self, definition: Definition) -> None:
        if len(self.found) < STEPS.most:
            self.found[definition.key] = definition
            self._latest[definition.name] = definition.key
            self._changes.append((definition.order, definition.name, definition.key))

    def _follow(self, old: str, new: Definition) -> None:
        """Everything that depends on the older version, over the newer one."""
        changed = {old: new.key}
        for definition in list(self.found.values()):
            if definition.tree is None or definition.key != self._latest.get(definition.name):
                continue
            if any(name in changed for name in syntax.names(definition.tree)):
                tree = _renamed(definition.tree, changed)
                key = self._next(definition.name)
                changed[definition.key] = key
                self._add(replace(definition, key=key, tree=tree, order=new.order, again=True))


def _only_calls(name: str, tree: syntax.Tree) -> bool:
    """Return whether an array only says what the rows or entries of a name are called."""
    names = set(syntax.names(tree))
    return (
        isinstance(tree, syntax.Array)
        and bool(names)
        and all(one == name or one.rpartition("_")[0] == name for one in names)
    )


def _is_normalised(name: str, tree: syntax.Tree, before: syntax.Tree | None) -> bool:
    """Return whether it is what the name was, exponentials, over the sums of their rows."""
    match tree, before:
        case syntax.Binary("/", syntax.Name(above), below), syntax.Call("exp"):
            return above == name and syntax.text(below) == f"rowsum({name})"
    return False


def _renamed(tree: syntax.Tree, keys: Mapping[str, str]) -> syntax.Tree:
    return syntax.renamed(tree, lambda name: syntax.Name(keys.get(name, name)))


def _alike(one: syntax.Tree, other: syntax.Tree, exactly: bool = False) -> bool:
    """Return whether two printed values are meant to be the same: of one shape, and what figures of
    the second agree with the first outweighs those that don't, or these are all."""
    if values.shape(one) != values.shape(other):
        return False
    numbers = map(_number, values.texts(one))
    said = agreement(zip(values.texts(other), numbers, strict=True))
    is_near = said.share >= 0.5 and said.support > said.against and not exactly
    return said.share == 1 or is_near


def _number(text: str) -> float:
    return sum(interval(text) or (nan, nan)) / 2


def is_symbolic(tree: Member) -> TypeGuard[syntax.Tree]:
    """Return whether it is an expression over names: no name by itself, nothing unknown in it."""
    if isinstance(tree, Opaque | syntax.Name | syntax.Gradient | syntax.Cell | syntax.Indexed):
        return False
    return any(isinstance(part, syntax.Name) for part in walk(tree)) and not any(
        isinstance(part, Opaque | syntax.Cell | syntax.Sequence | syntax.Comparison)
        for part in walk(tree)
    )


def _has_array(tree: Member) -> bool:
    return any(isinstance(part, syntax.Array) for part in walk(tree))


def collected(chains: list[Chain], notes: Help) -> Definitions:
    """The definitions that chains make, in their order; first those of the author."""
    definitions = Definitions()
    for name, value in notes.given.items():
        definitions.fix(name, value.said.span, value=values.of_texts(value.entries))
    for name, step in notes.steps.items():
        definitions.fix(name, step.said.span, tree=step.tree)
    chains = in_letters(chains)
    each = heads(chains)
    for order, chain in enumerate(chains):
        match chain:
            case Chain((syntax.Name(name), Opaque()), is_code=True):
                definitions.lose(name, chain.span, order)
        for name, tree, span in _of_each(_said(chain), each):
            if values.is_value(tree):
                # What a program printed of a name stands without it.
                printed = chain.members[0] == Named(name) and chain.spans[0] == chain.spans[-1]
                definitions.give(name, tree, span, order, chain.is_code, printed)
            else:
                definitions.define(name, tree, span, order)
    for order, chain in enumerate(chains):
        for body in chain.members[1:]:
            made = by_numbers(chain.members[0], body)
            if made is not None and not definitions.has_whole(made[0]):
                definitions.define(*made, chain.span, order)
    return definitions


def _of_each(
    stated: Iterable[tuple[str, syntax.Tree, Span]], each: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, syntax.Tree, Span]]:
    """Yield what is said, of every head where it is said in the letter of one."""
    for name, tree, span in stated:
        if not (each and name in each[0]):
            yield name, tree, span
            continue
        for called in each:
            of = syntax.renamed(tree, lambda one, called=called: syntax.Name(called.get(one, one)))  # type: ignore[misc]
            yield called[name], of, span


def is_worked(tree: syntax.Tree) -> bool:
    """Return whether an expression has values put in: ``0.63 * V[0] + 0.23 * V[1]`` works
    something out, and defines nothing."""
    return sum("." in figure.text for figure in values.figures(tree)) > 1


def _gives(members: Sequence[Member], links: Sequence[Link]) -> bool:
    """Return whether a chain may give its name a printed value: nothing that it is computed
    from stands between them, and the value isn't only about right."""
    plain = all(isinstance(one, syntax.Name) or values.is_value(one) for one in members)
    return plain and "≈" not in links


def _said(chain: Chain) -> Iterator[tuple[str, syntax.Tree, Span]]:
    """The names that a chain gives a meaning to, each with what it is: the first
    expression, else another name, else the first printed value."""
    members = chain.members
    if "→" in chain.links and not any(map(values.is_value, members)):
        # "Logits z → softmax p" says what comes next, and not what z is.
        return
    if len(members) > 2 and chain.links[0] == ":" and isinstance(members[0], syntax.Name):
        # What stands before a colon is a label of the chain.
        members = members[1:]
    for head, body in pairwise(members):
        if (made := by_letters(head, body)) is not None:
            yield *made, chain.span
            return
    if len(members) > 2 and any(isinstance(one, syntax.Gradient) for one in members[:2]):
        # dL/dY = G = [matrix] says what G is, and so does G = dL/dY = [matrix].
        members = tuple(one for one in members if not isinstance(one, syntax.Gradient))
    heads = [k for k, one in enumerate(members) if isinstance(one, syntax.Name)]
    if not heads or heads[0] != 0:
        return
    bodies = [
        member
        for member in members
        if not isinstance(member, Opaque)
        and (is_symbolic(member) or (chain.is_code and isinstance(member, syntax.Indexed)))
        and (chain.is_code or not is_worked(member))
    ]
    printed = [one for one in members if values.is_value(one)]
    if not _gives(members, chain.links):
        printed = []
    numeric = [
        one
        for one in members
        if chain.is_code and not printed and values.is_numeric(one) and _has_array(one)
    ]
    last = members[heads[-1]]
    assert isinstance(last, syntax.Name)
    names = [members[k] for k in heads]
    if bodies or numeric or printed:
        body = [*bodies, *numeric, *printed][0]
        assert not isinstance(body, Opaque)
        if isinstance(body, PrintedFigure) and body.span == NOWHERE:
            return
        yield last.name, body, chain.span
        names.pop()
    elif len(heads) == len(members):
        names.pop()
    else:
        return
    for one in names:
        assert isinstance(one, syntax.Name)
        if one.name != last.name:
            yield one.name, syntax.Name(last.name), chain.span
