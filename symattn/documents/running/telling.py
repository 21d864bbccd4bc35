"""Statements of a program, and what they tell: what they assign, show and claim.

Behind every statement, each name that means something else than it was last told is told anew:
by its formula, or as something that nobody knows.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running.formulas import (
    Formulas,
    Unread,
    is_expressible,
    shown,
    simplified,
    with_formula,
)
from symattn.documents.running.numbers import (
    Array,
    Formula,
    Meaning,
    Scope,
    Unknown,
    leaves,
    near,
)
from symattn.documents.running.source import ProgramSource, statement_head
from symattn.documents.running.texts import Hidden, Said, Slot
from symattn.documents.text import Span, Text
from symattn.documents.trees import Chain, Member, Named, Opaque, PrintedFigure, Words
from symattn.expressions import syntax
from symattn.limits import NESTING

#: Numbers as programs print them.
_NUMBER = re.compile(r"(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][+-]?[0-9]+)?")
#: Functions whose arguments are sizes.
_SIZED = re.compile(r"\b(?:random|rand\w*|normal\w*|uniform\w*|Linear|Embedding|default_rng)\Z")
_SAID = 400


@dataclass(frozen=True)
class StatementMeaning:
    """The meaning of a statement: chains it assigns, or words and values it shows."""

    source: ProgramSource
    node: ast.stmt
    pieces: tuple[Words | Chain, ...]


@dataclass(frozen=True)
class At:
    """A statement where it runs: in which piece, and in which scope."""

    node: ast.stmt
    source: ProgramSource
    scope: Scope


@dataclass
class Telling:
    """All that the statements of a program have told so far."""

    formulas: Formulas = field(default_factory=Formulas)
    events: list[StatementMeaning] = field(default_factory=list)

    # -- names ---------------------------------------------------------------------------

    def free(self, name: str, scope: Scope) -> Unknown:
        """A name that the program doesn't define: the article does, or nobody."""
        meaning = Meaning(name, None, None, scope.names, is_free=True)
        found = Unknown(formula=Formula(Named(name), {name: meaning}))
        self._mean(meaning, found)
        scope.names[name] = found
        return found

    def _mean(self, meaning: Meaning, value: Any) -> None:
        meaning.value, meaning.leaves = value, leaves(value)
        self.formulas.told[meaning.name] = meaning

    def sweep(self, at: At, start: int | None = None) -> None:
        """Tell all names of a scope that mean something else now; of arrays that a loop has
        filled, where it starts."""
        assigned, bound = stored(at.node)
        told, scope = self.formulas.told, at.scope
        changed = [
            name
            for name, meaning in told.items()
            if meaning.scope is scope.names
            and (scope.names.get(name) is not meaning.value or not meaning.is_same())
        ]
        new = [
            name
            for name in assigned
            if name not in told and name not in bound and name in scope.names
        ]
        if scope.around is not None:
            new = [name for name in new if not getattr(scope.names[name], "is_blank", False)]
        names = self._in_order([*dict.fromkeys((*changed, *new))], scope)
        targets = _targets(at.node)
        places = {name: k for k, name in enumerate(targets)}
        names.sort(key=lambda name: places.get(name, -1))
        alone, together = list[Chain](), list[Chain]()
        for name in names:
            for one in self._tell(name, at, targets.get(name)):
                is_entry = isinstance(one.members[0], syntax.Indexed)
                (alone if is_entry or start is not None else together).append(one)
        place = len(self.events) if start is None else start
        self.events[place:place] = [StatementMeaning(at.source, at.node, (one,)) for one in alone]
        self.note(at, together)

    def _in_order(self, names: list[str], scope: Scope) -> list[str]:
        """Names with what they become: last those that others are made of."""
        ordered, seen = list[str](), set[str]()
        made_of = {
            name: getattr(getattr(scope.names.get(name), "formula", None), "names", ())
            for name in names
        }
        waiting = [(name, False) for name in names]
        while waiting:
            name, is_done = waiting.pop()
            if is_done:
                ordered.append(name)
            elif name not in seen:
                seen.add(name)
                waiting.append((name, True))
                waiting += [(other, False) for other in made_of[name] if other in made_of]
        return ordered[::-1]

    def _tell(self, name: str, at: At, target: tuple[ast.expr, ast.expr] | None) -> Iterator[Chain]:
        """Yield what a name is from here on."""
        scope, source = at.scope, at.source
        value = scope.names.get(name, Unknown())
        place = statement_head(at.node) if target is None else target[1]
        spans = (source.span(place if target is None else target[0]), source.span(place))
        before = self.formulas.told.get(name)
        meaning = Meaning(name, None, None, scope.names)
        said = Named(name, spans[0])
        if before is not None and before.is_free and target is None and before.value is value:
            before.leaves, before.checked = leaves(value), -1
            return
        if not is_quantity(value):
            if before is not None:
                yield Chain((said, self.opaque(place, source, ())), ("=",), spans, is_code=True)
                self._mean(meaning, value)
            return
        is_changed = before is not None and before.value is value
        formula = self._formula(name, value, is_changed)
        if isinstance(value, Array) and value.is_blank:
            if not is_changed:
                yield Chain((said, self.opaque(place, source, ())), ("=",), spans, is_code=True)
                self._mean(meaning, value)
                return
            if formula is None:
                right = self.opaque(place, source)
                yield from self._entries(value, said, right, spans)
                return
        is_own = formula is not None and is_expressible(formula.tree)
        if is_own:
            meaning.formula = formula
        member: Member = formula.tree if formula and is_own else self.opaque(place, source)
        if member != said:
            yield Chain((said, member), ("=",), spans, is_code=True)
        if (formula is None or is_own) and not isinstance(value, list | tuple | dict):
            value = with_formula(value, Formula(Named(name), {name: meaning}))
        scope.names[name] = value
        self._mean(meaning, value)

    def _formula(self, name: str, value: Any, is_changed: bool) -> Formula | None:
        """The formula of what a name is from here on, which may be made of what it was, unless
        that has been changed itself."""
        before, of = self.formulas.told.get(name), self.formulas.of
        if is_changed and before is not None:
            formula = self.formulas.formula(lambda: of(value))
            return None if formula is None or name in formula.names else formula
        if before is None or isinstance(value, list | tuple | dict):
            return self.formulas.formula(lambda: of(value))
        kept, before.leaves = before.leaves, leaves(before.value)
        try:
            return self.formulas.formula(lambda: of(value))
        finally:
            before.leaves, before.checked = kept, -1

    def _entries(
        self, array: Array, said: Named, otherwise: Opaque, spans: tuple[Span, Span]
    ) -> Iterator[Chain]:
        """Yield what the entries are that have been set of an array that is being filled."""
        told = self.formulas.told[said.name]
        before = np.array([*told.leaves, None], dtype=object)[:-1].reshape(array.shape)
        waiting: list[tuple[int, ...]] = [(k,) for k in range(len(array.data))]
        while waiting:
            at = waiting.pop(0)
            part, old = array.data[at], before[at]
            is_row = isinstance(part, np.ndarray)
            value = Array(part) if is_row else part
            if not any(x is y for x, y in zip(leaves(value), np.ravel(old), strict=True)):
                formula = self.formulas.formula(lambda value=value: self.formulas.of(value))  # type: ignore[misc]
                known = formula is not None and is_expressible(formula.tree)
                if known or not is_row:
                    right = formula.tree if formula and known else otherwise
                    yield Chain((syntax.Indexed(said, at), right), ("=",), spans, is_code=True)
                    continue
            if is_row:
                waiting[:0] = [(*at, k) for k in range(len(part))]
        meaning = Meaning(said.name, None, None, told.scope)
        formula = Formula(Named(said.name), {said.name: meaning})
        told.scope[said.name] = replace(array, formula=formula)
        self._mean(meaning, told.scope[said.name])

    def lose(self, name: str, text: Text, scope: Scope) -> Chain:
        """Tell that nobody knows what a name is."""
        self.know(name, scope.names[name], scope)
        span = text.span()
        members = (Named(name, span), Opaque(text.string.partition("\n")[0][:_SAID], span))
        return Chain(members, ("=",), (span, span), is_code=True)

    def know(self, name: str, value: Any, scope: Scope) -> None:
        """Let a name have a value from here on."""
        meaning = Meaning(name, None, None, scope.names)
        scope.names[name] = with_formula(value, Formula(Named(name), {name: meaning}))
        self._mean(meaning, scope.names[name])

    def inlined(self, value: Any, own: Sequence[str]) -> Any:
        """A value whose formula has, for names of a function's own, what they are."""
        if isinstance(value, tuple):
            return tuple(self.inlined(one, own) for one in value)
        formula = getattr(value, "formula", None)
        if formula is None or not set(own) & {*formula.names}:
            return value

        outside: dict[str, Meaning] = {}

        def inside(tree: syntax.Tree, names: Mapping[str, Meaning]) -> syntax.Tree:
            if isinstance(tree, syntax.Name) and tree.name in names:
                meaning = names[tree.name]
                if tree.name not in own:
                    outside[tree.name] = meaning
                elif meaning.formula is None:
                    raise Unread
                else:
                    return inside(meaning.formula.tree, meaning.formula.names)
            if isinstance(tree, syntax.Literal | syntax.Name | syntax.Array):
                return tree
            return simplified(syntax.mapped(tree, lambda part: inside(part, names)))

        found = self.formulas.formula(lambda: inside(formula.tree, formula.names))
        definitions = [self.formulas.told[name].formula for name in own]
        depth = formula.depth + sum(one.depth for one in definitions if one is not None)
        is_known = found is not None and depth < NESTING.most
        known = Formula(found.tree, outside, formula.size, depth) if found and is_known else None
        return with_formula(value, known)

    def is_free(self, value: Unknown) -> bool:
        """Return whether a value is that of a name that the program doesn't define."""
        name = value.formula.tree if value.formula is not None else None
        meaning = self.formulas.told.get(name.name) if isinstance(name, syntax.Name) else None
        return meaning is not None and meaning.is_free and meaning.value is value

    def entry(self, at: At, target: ast.Subscript, owner: Unknown, keys: Any, value: Any) -> None:
        """Tell what an entry is of something that the program doesn't define."""
        formulas, source = self.formulas, at.source
        whole, right = formulas.of(owner), formulas.formula(lambda: formulas.of(value))
        entry = syntax.Indexed(whole, keys if isinstance(keys, tuple) else (keys,))
        _, place = _targets(at.node).get(rooted(target), (target, target))
        member: Member = self.opaque(place, source) if right is None else right.tree
        spans = source.span(target), source.span(place)
        self.note(at, [Chain((entry, member), ("=",), spans, is_code=True)])

    # -- what is shown ---------------------------------------------------------------------

    def note(self, at: At, pieces: Iterable[Words | Chain]) -> None:
        """Take what a statement says."""
        if parts := tuple(pieces):
            self.events.append(StatementMeaning(at.source, at.node, parts))

    def shown(self, value: Any, node: ast.expr, at: At) -> Iterator[Words | Chain]:
        """Yield the words and the values of what is shown."""
        span = at.source.span(node)
        match value:
            case None | bool():
                return
            case str():
                if value.strip():
                    yield Words(value, span)
            case Said(parts):
                for _, run in groupby(parts, lambda part: id(getattr(part, "of", part))):
                    first = next(run)
                    if isinstance(first, Slot | Hidden):
                        yield self._mention(first.of, first.said, node, at)
                    elif first.strip():
                        yield Words(first, span)
            case _:
                yield self._mention(value, node, node, at)

    def _mention(self, value: Any, said: ast.expr, node: ast.expr, at: At) -> Chain:
        """A chain of what is shown, which stands inside of a node, or is all of it."""
        formula = self.formulas.formula(lambda: self.formulas.of(value))
        tree = self._named(said, at.scope)
        if tree is None and formula is not None:
            tree = shown(formula.tree)
        span, member = at.source.span(node), self.opaque(node, at.source)
        if said is not node:
            member = Opaque(ast.unparse(said)[:_SAID], span)
        known = tree is not None and is_expressible(tree)
        return Chain((tree if tree and known else member,), (), (span,), is_code=True)

    def _named(self, node: ast.expr, scope: Scope) -> syntax.Tree | None:
        """A name that is shown, or an entry of it, whatever its value is now."""

        def is_told(name: str) -> bool:
            meaning = self.formulas.told.get(name)
            return meaning is not None and meaning.value is scope.names.get(name)

        match node:
            case ast.Name(name) if is_told(name):
                return Named(name)
            case ast.Subscript(ast.Name(name), ast.Constant(int() as key)) if is_told(name):
                return syntax.Indexed(Named(name), (key,))
            case ast.Subscript(ast.Name(name), ast.Name(key)) if is_told(name):
                if isinstance(place := scope.names.get(key), int):
                    return syntax.Indexed(Named(name), (int(place),))
        return None

    def claimed(self, sides: Sequence[tuple[ast.expr, Any]], is_close: bool, at: At) -> None:
        """Take what a program compares as the claim that it is."""
        said = [self._mention(value, side, side, at) for side, value in sides]
        members = tuple(one.members[0] for one in said)
        if not all(isinstance(one, Opaque) for one in members):
            spans = tuple(one.span for one in said)
            self.note(at, [Chain(members, ("≈" if is_close else "=",), spans, is_code=True)])

    @staticmethod
    def opaque(
        node: ast.AST, source: ProgramSource, figures: tuple[PrintedFigure, ...] | None = None
    ) -> Opaque:
        """An expression that is not understood, with its numbers, or those given."""
        assert isinstance(node, ast.expr | ast.stmt)
        is_head = isinstance(node, ast.stmt)
        numbers = () if is_head else figures_of(node, source)
        text = source.string(node).partition("\n")[0] if is_head else source.string(node)
        return Opaque(text[:_SAID], source.span(node), numbers if figures is None else figures)


def is_quantity(value: Any) -> bool:
    """Return whether a value is a quantity, known or not."""
    if isinstance(value, bool):
        return False
    return isinstance(value, Array | Unknown | int | arb | list | tuple | dict)


def figures_of(node: ast.AST, source: ProgramSource) -> tuple[PrintedFigure, ...]:
    """The numbers that an expression prints: not those of sizes, axes and indices."""
    figures: list[PrintedFigure] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        match part:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as operand):
                figures += printed(operand, source, part)
            case ast.Constant():
                figures += printed(part, source)
            case ast.Subscript(value=value):
                waiting.append(value)
            case ast.Call(func=function, args=arguments):
                drawn = _SIZED.search(ast.unparse(function))
                waiting += [function, *([] if drawn else arguments)]
            case ast.JoinedStr():
                pass
            case _:
                waiting.extend(ast.iter_child_nodes(part))
    return tuple(sorted(figures, key=lambda figure: figure.span))


def printed(
    node: ast.Constant, source: ProgramSource, signed: ast.expr | None = None
) -> list[PrintedFigure]:
    """A number of a program as a figure, with the sign before it."""
    text = source.string(node)
    if not _NUMBER.fullmatch(text):
        return []
    sign = "" if signed is None else "-"
    return [PrintedFigure(sign + text.replace("_", ""), source.span(signed or node))]


def printed_value(tree: syntax.Tree) -> Any:
    """A printed array as numbers: whole ones where it is a mask, else all that rounds to them."""
    texts = [one.text for one in syntax.walk(tree) if isinstance(one, syntax.Literal)]
    is_mask = all(text in ("0", "1") for text in texts)

    def value(part: syntax.Tree) -> Any:
        match part:
            case syntax.Array(items):
                return [value(item) for item in items]
            case syntax.Negative(operand):
                return -value(operand)
            case syntax.Literal(text):
                return int(text) if is_mask else near(text)
        raise Unread

    return value(tree)


def stored(node: ast.stmt) -> tuple[list[str], set[str]]:
    """Return the names that a statement assigns to, and those of them that loops and definitions
    bind."""
    assigned, bound = list[str](), set[str]()
    waiting: deque[ast.AST] = deque([node])
    while waiting:
        part = waiting.popleft()
        match part:
            case ast.Name(name, ast.Store() | ast.Del()):
                assigned.append(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                assigned.append(name)
                bound.add(name)
                continue
            case ast.Lambda() | ast.AnnAssign(value=None):
                continue
            case ast.comprehension(iter=of, ifs=tests):
                waiting += [of, *tests]
                continue
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
                assigned.append(other or name.partition(".")[0])
            case (
                ast.For(target=target)
                | ast.AsyncFor(target=target)
                | ast.withitem(optional_vars=ast.expr() as target)
            ):
                bound |= {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                bound.add(name)
                assigned.append(name)
        waiting += ast.iter_child_nodes(part)
    return assigned, bound


#: Methods that change what they are methods of, beside those of PyTorch that end in ``_``.
CHANGING = re.compile(
    r"append|clear|extend|fill|insert|itemset|partition|pop|popitem|put|remove|resize|reverse"
    r"|setdefault|sort|update|shuffle|copyto|fill_diagonal|\w*[^_]_"
)


def changed_in(node: ast.AST) -> set[str]:
    """Return the names that a function may change the values of, besides giving them others."""
    names = set[str]()
    for part in ast.walk(node):
        match part:
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                names.add(rooted(part))
            case ast.AugAssign(target=target):
                names.add(rooted(target))
            case ast.Call(func=ast.Attribute(of, name)) if CHANGING.fullmatch(name):
                names.add(rooted(of))
            case ast.Expr(value=ast.Call(func=ast.Name(name))) if name != "print":
                names.add("")
    return names


def _targets(node: ast.stmt) -> dict[str, tuple[ast.expr, ast.expr]]:
    """By name: where a plain assignment assigns to it, and what."""
    match node:
        case ast.Assign(targets, value):
            pairs = [(target, value) for target in targets]
        case ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
            pairs = [(node.target, node.value or node.target)]
        case _:
            return {}
    found: dict[str, tuple[ast.expr, ast.expr]] = {}
    pairs.reverse()
    while pairs:
        target, value = pairs.pop()
        match target:
            case ast.Tuple(parts) | ast.List(parts):
                values = value.elts if isinstance(value, ast.Tuple) else []
                values = values if len(values) == len(parts) else [value] * len(parts)
                pairs += [*zip(parts, values, strict=True)][::-1]
            case ast.Starred(inner):
                pairs.append((inner, value))
            case ast.Name(name):
                found[name] = target, value
            case _ if root := rooted(target):
                found[root] = target, value
    return found


def rooted(node: ast.AST) -> str:
    """Return the name that an entry, an attribute or a method is of."""
    match node:
        case ast.Call(func=inner) | ast.Attribute(value=inner) | ast.Subscript(value=inner):
            return rooted(inner)
        case ast.Name(name):
            return name
    return ""


def is_plain(node: ast.FunctionDef | ast.Lambda, result: Any) -> bool:
    """Return whether a function's value says all of it: it is a single return, or a softmax."""
    if isinstance(node, ast.Lambda):
        return True
    body = [
        statement
        for statement in node.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]
    if len(body) == 1:
        return True
    formula = getattr(result, "formula", None)
    match formula and formula.tree:
        case syntax.Call("softmax") | syntax.Transposed(syntax.Call("softmax")):
            return not any(isinstance(statement, ast.Expr) for statement in body)
    return False


#: Names of functions that say what they do, where nothing else does.
is_softmax: Callable[[str], object] = re.compile(
    r"_?(?:stable_|row_|numpy_|np_|my_)?softmax(?:_\w+)?"
).fullmatch
