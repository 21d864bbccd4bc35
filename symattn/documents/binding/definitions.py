"""What an article defines and gives: names with expressions or printed values, by version.

A name may get another meaning further down (``scores = scores / sqrt(d_k)``, a second
example with other inputs): each meaning is a version, and what depended on the older
one is there in a newer version as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import nan
from typing import TypeGuard

from symattn import syntax
from symattn.documents.binding import values
from symattn.documents.binding.bounds import interval
from symattn.documents.binding.evidence import agreement
from symattn.documents.binding.numbered import by_letters, by_numbers, heads, in_letters
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
from symattn.limits import STEPS


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
        """Whether nothing is said of what it is."""
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
        """Whether the matrix of the rows of a letter has a meaning."""
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
    """Whether an array only says what the rows or entries of a name are called."""
    names = set(syntax.names(tree))
    return (
        isinstance(tree, syntax.Array)
        and bool(names)
        and all(one == name or one.rpartition("_")[0] == name for one in names)
    )


def _is_normalised(name: str, tree: syntax.Tree, before: syntax.Tree | None) -> bool:
    """Whether it is what the name was, exponentials, over the sums of their rows."""
    match tree, before:
        case syntax.Binary("/", syntax.Name(above), below), syntax.Call("exp"):
            return above == name and syntax.text(below) == f"rowsum({name})"
    return False


def _renamed(tree: syntax.Tree, keys: Mapping[str, str]) -> syntax.Tree:
    return syntax.renamed(tree, lambda name: syntax.Name(keys.get(name, name)))


def _alike(one: syntax.Tree, other: syntax.Tree, exactly: bool = False) -> bool:
    """Whether two printed values are meant to be the same: of one shape, and what figures of
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
    """Whether it is an expression over names: no name by itself, nothing unknown in it."""
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
    """What is said, of every head where it is said in the letter of one."""
    for name, tree, span in stated:
        if not (each and name in each[0]):
            yield name, tree, span
            continue
        for called in each:
            of = syntax.renamed(tree, lambda one, called=called: syntax.Name(called.get(one, one)))  # type: ignore[misc]
            yield called[name], of, span


def is_worked(tree: syntax.Tree) -> bool:
    """Whether an expression has values put in: ``0.63 * V[0] + 0.23 * V[1]`` works
    something out, and defines nothing."""
    return sum("." in figure.text for figure in values.figures(tree)) > 1


def _gives(members: Sequence[Member], links: Sequence[Link]) -> bool:
    """Whether a chain may give its name a printed value: nothing that it is computed
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
