"""A program followed statement by statement: what it assigns and what it shows.

Names stand for themselves; a function of the program's own is followed where it is
called, its parameters standing for the arguments. Whatever a statement may have stored
to without being followed there is told as something that nobody knows.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod

from symattn.documents.python import library
from symattn.documents.python.code_values import (
    UNKNOWN,
    Applied,
    CodeScope,
    FollowedFunction,
    Items,
    UnreadCode,
    Value,
    is_expressible,
    number,
    value_names,
)
from symattn.documents.python.expressions import (
    ExpressionReader,
    filled,
    is_entry,
    is_of_integers,
    rounds,
    take,
)
from symattn.documents.python.source import ProgramSource, statement_head
from symattn.documents.python.stores import (
    SHOWN,
    FunctionEffects,
    Sharing,
    effects_of,
    is_library,
    last_name,
    stores,
)
from symattn.documents.text import Span, Text
from symattn.documents.trees import Chain, Labelled, Link, Member, Named, Opaque, Words
from symattn.expressions import syntax

# -- what a program shows ----------------------------------------------------------------
# The words and the values of ``print``, and values by themselves.

#: How deep expressions that are shown are looked into.
_DEEPEST = 50


def member(reader: ExpressionReader, node: ast.expr, value: Value) -> Member | None:
    """A value as the member of a chain; None of what is no quantity."""
    if value is None or isinstance(value, bool | Applied | FollowedFunction):
        return None
    try:
        tree = reader.scope.tree(value)
    except UnreadCode:
        return reader.opaque(node)
    return tree if is_expressible(tree) else reader.opaque(node)


def mention(quantity: Member, span: Span) -> Chain:
    """A chain that only mentions something."""
    return Chain((quantity,), (), (span,), is_code=True)


def shown(reader: ExpressionReader, node: ast.expr, depth: int = 0) -> Iterator[Words | Chain]:
    """The words and the values that an argument of ``print`` shows."""
    match node:
        case _ if depth > _DEEPEST:
            return
        case ast.Constant(value=str() as text):
            if text.strip():
                yield Words(text, reader.span(node))
            return
        case ast.Starred(value=ast.GeneratorExp(element, [loop]) | ast.ListComp(element, [loop])):
            yield from _each(reader, element, loop, depth + 1)
            return
    if (parts := _parts(node)) is not None:
        with reader.within(node if isinstance(node, ast.JoinedStr) else None):
            for part in parts:
                yield from shown(reader, part, depth + 1)
        return
    meaning = reader.tried(node)
    if isinstance(meaning, str):
        yield Words(meaning, reader.span(node))
    elif (quantity := member(reader, node, meaning)) is not None:
        yield mention(quantity, reader.span(node))


def _parts(node: ast.expr) -> Sequence[ast.expr] | None:
    """Return what is shown, in its order, where an expression is shown; None of a value."""
    match node:
        case ast.JoinedStr(values=parts):
            return parts
        case ast.FormattedValue(value=value) | ast.Starred(value=value):
            return [value]
        case ast.ListComp(element, turns) if (inner := _formatted(element)) is not element:
            return [ast.copy_location(ast.ListComp(inner, turns), node)]
        case ast.BinOp(left=left, op=ast.Add(), right=right) if _is_text(left) or _is_text(right):
            return [left, right]
        case ast.BinOp(left=ast.Constant(value=str()) as text, op=ast.Mod(), right=right):
            return [text, *(right.elts if isinstance(right, ast.Tuple) else [right])]
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str()) as text, attr="format"), args=given
        ):
            return [text, *given]
        case ast.Call() if (inner := bare(node)) is not node:
            return [inner]
    return None


def _each(
    reader: ExpressionReader, element: ast.expr, loop: ast.comprehension, depth: int
) -> Iterator[Words | Chain]:
    """Yield what each turn of a comprehension shows: ``print(*(f"{a:.2f}" for a in row))``."""
    with reader.scope.restored():
        try:
            if loop.ifs:
                raise UnreadCode
            for turn in rounds(reader, loop.iter):
                reader.scope.follow()
                take(loop.target, turn, reader.scope)
                yield from shown(reader, element, depth)
        except UnreadCode:
            # Something is shown here that isn't known.
            yield mention(reader.opaque(element), reader.span(element))


def _formatted(element: ast.expr) -> ast.expr:
    """Return what ``f"{c:.2f}"`` or ``round(c, 2)`` is of, for each ``c``; others themselves."""
    match element:
        case ast.JoinedStr(values=[ast.FormattedValue(value=value)]):
            return value
    return bare(element)


def bare(node: ast.expr) -> ast.expr:
    """Return what a call that shows a value, as it is or rounded, is of; others themselves."""
    match node:
        case ast.Call(func=function) if last_name(function) not in SHOWN:
            return node
        case ast.Call(func=ast.Attribute(value=value), args=[]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="round")) if not (
            isinstance(value, ast.Name) and value.id in ("np", "torch", "jnp", "numpy")
        ):
            return value
        case ast.Call(args=[first, *_]):
            return first
    return node


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id="str" | "repr")):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_text(left) or _is_text(right)
    return False


def compared(reader: ExpressionReader, value: ast.expr) -> Sequence[Chain] | None:
    """``a == b`` and ``np.allclose(a, b)`` as the claims that they are; None of others."""
    link: Link
    match value:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            link = "="
        case ast.Call(func=function, args=[left, right, *_]) if "close" in last_name(function):
            link = "≈"
        case _:
            return None
    members = [
        member(reader, side, reader.tried(side)) or reader.opaque(side) for side in (left, right)
    ]
    if all(isinstance(side, Opaque) for side in members):
        return ()
    spans = (reader.span(left), reader.span(right))
    return [Chain(tuple(members), (link,), spans, is_code=True)]


# -- what names mean where statements are followed ---------------------------------------
# At the top, in a function, in a loop.


@dataclass(frozen=True)
class Frame:
    """The frame in which statements are followed: at the top, in a function, in a loop.

    ``own`` are the names of this frame that were told, so far; None where nothing of it is:
    its names stand for what they are assigned. Entries of the arrays ``filling`` are set
    for the first time. A silent frame tells nothing of what it follows.
    """

    scope: CodeScope
    own: set[str] | None
    filling: set[str] = field(default_factory=set)
    sharing: Sharing = field(default_factory=Sharing)
    depth: int = 0
    is_silent: bool = False

    def is_own(self, name: str) -> bool:
        """Return whether a name that is assigned is that of a quantity, by which it is told."""
        if self.own is None:
            return False
        return self.depth == 0 or name in self.own or name not in self.scope.names

    def bind(self, name: str, meaning: Value) -> bool:
        """Let a name stand for what it is assigned; whether it is a quantity's own."""
        scope = self.scope
        self.filling.discard(name)
        if not self.is_own(name):
            scope.stands_for[name] = meaning
            return False
        assert self.own is not None
        tree, shape, whole, are_integers = None, None, None, False
        with suppress(UnreadCode):
            tree = scope.tree(meaning)
            if is_expressible(tree):
                shape = scope.shape(tree)
                are_integers = library.are_integers(tree, scope)
                whole = number(str(scope.whole(tree))) if shape == () else None
        self.own.add(name)
        scope.names.add(name)
        scope.drop(name)
        if tree is None:
            if meaning is not UNKNOWN:
                # It is no longer what it was told to be, and nobody knows what it is.
                scope.stand(name, meaning)
        elif not is_expressible(tree):
            scope.stand(name, tree)
        else:
            if are_integers:
                scope.integers.add(name)
            if shape is not None:
                scope.shapes[name] = shape
            if isinstance(meaning, Items):
                scope.stand(name, meaning)
            elif isinstance(tree, Labelled | syntax.Literal) or whole is not None:
                scope.known[name] = whole or tree
        return True

    def know(self, name: str, value: syntax.Tree) -> None:
        """Take what was printed of a name that nothing else is known of: its shape, and its
        numbers where it is a mask, which is never rounded."""
        scope = self.scope
        if name in scope.stands_for or name in scope.known:
            return
        if (shape := scope.shape(value)) is not None:
            scope.shapes[name] = shape
        if library.is_mask(value, scope):
            scope.known[name] = scope.each(value)


def in_order(values: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Names with what they become: first those that others are not made of."""
    waiting = sorted(values.items())
    ordered: list[tuple[str, Value]] = []
    while waiting:
        names = [value_names(value) for _, value in waiting]
        free = [
            k
            for k, (name, _) in enumerate(waiting)
            if not any(name in other for j, other in enumerate(names) if j != k)
        ]
        ordered.append(waiting.pop(free[0] if free else 0))
    return ordered


def bound_arguments(
    reader: ExpressionReader,
    takes: ast.arguments,
    values: list[Value],
    named: dict[str, Value],
) -> dict[str, Value]:
    """Return what the parameters of a function stand for where it is called."""
    parameters = [parameter.arg for parameter in (*takes.posonlyargs, *takes.args)]
    if takes.vararg or takes.kwarg or len(values) > len(parameters):
        raise UnreadCode
    every = [*parameters, *(parameter.arg for parameter in takes.kwonlyargs)]
    first = len(parameters) - len(takes.defaults)
    defaults = dict(zip(every[first:], [*takes.defaults, *takes.kw_defaults], strict=True))
    bound = {name: reader.tried(node) for name, node in defaults.items() if node is not None}
    bound |= dict(zip(parameters, values, strict=False)) | named
    if bound.keys() != set(every):
        raise UnreadCode
    return bound


def is_plain(node: ast.FunctionDef, result: Value) -> bool:
    """Return whether a function's value says all of it: it is a single return, or a softmax."""
    body = [
        statement
        for statement in node.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]
    if len(body) == 1:
        return True
    match result:
        case syntax.Call("softmax") | syntax.Transposed(syntax.Call("softmax")):
            return not any(isinstance(statement, ast.Expr) for statement in body)
    return False


# -- following ---------------------------------------------------------------------------

#: Functions whose arrays are there to be filled.
_EMPTY = frozenset({"zeros", "empty", "zeros_like", "empty_like"})
#: How deep functions are followed into each other.
_CALLS = 6
#: How deep calls are looked through for what they store to, which needs Python to go as deep.
_DEEPEST_CALLS = 50
#: What is there to be filled, and has no numbers yet.
_NOTHING = Items(())


@dataclass(frozen=True)
class StatementMeaning:
    """The meaning of a statement: chains it assigns, or words and values it shows."""

    source: ProgramSource
    node: ast.stmt
    pieces: tuple[Words | Chain, ...]


class _Returned(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class _LeftLoop(Exception):
    """``break``, or ``continue`` where the loop goes on."""

    def __init__(self, goes_on: bool) -> None:
        self.goes_on = goes_on


@dataclass
class FollowedProgram:
    """The programs of an article so far: what later ones may name."""

    frame: Frame = field(default_factory=lambda: Frame(CodeScope(), set()))
    effects: dict[int, FunctionEffects | None] = field(default_factory=dict)
    unread: int = 0

    def follow(self, source: ProgramSource) -> list[StatementMeaning]:
        """Return what the statements of a piece say, in the order in which they run."""
        follower = _Follower(self, source, self.frame)
        follower.statements(source.body)
        return follower.events

    def lose(self, names: Collection[str], text: Text) -> list[Chain]:
        """Tell of names of the program that something unread has assigned to."""
        lost = sorted(self.frame.scope.names.intersection(names))
        for name in lost:
            self.frame.bind(name, UNKNOWN)
        return [_unknown(name, text.string, text.span()) for name in lost]


@dataclass(frozen=True)
class _Follower:
    """Follows the statements of a piece in a frame; all add to the same events."""

    program: FollowedProgram
    source: ProgramSource
    frame: Frame
    events: list[StatementMeaning] = field(default_factory=list)

    @property
    def scope(self) -> CodeScope:
        return self.frame.scope

    @property
    def reader(self) -> ExpressionReader:
        """One that has read nothing yet."""
        return ExpressionReader(self.source, self.scope, self.call)

    def statements(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            try:
                self.scope.follow()
                self.statement(node)
            except (UnreadCode, _LeftLoop):
                if self.frame.depth or self.frame.own is None:
                    raise
                self.forget(node, node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.If(test=test):
                self.forget(node, test)
                self.branch(node)
            case ast.For(iter=of):
                self.forget(node, of)
                self.loop(node)
            case ast.With(items=items, body=body):
                self.forget(node, *items)
                self.statements(body)
            case ast.Try():
                unread = self.program.unread
                self.statements([*node.body, *node.orelse])
                if self.program.unread > unread:
                    # Something went otherwise, maybe.
                    self.forget(node, node)
                self.statements(node.finalbody)
            case ast.Return(value=value) if not self.frame.depth:
                # It stands outside of the function that it was taken from.
                if value is not None:
                    self.expression(node, value)
            case ast.Return(value=value):
                raise _Returned(None if value is None else self.reader.value(value))
            case ast.Break() | ast.Continue():
                raise _LeftLoop(isinstance(node, ast.Continue))
            case _:
                self.forget(node, node, followed=self.simple(node))

    def simple(self, node: ast.stmt) -> set[str]:
        """Follow a statement that has no others in it; the names that it surely gives a
        meaning, known or not."""
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Lambda(args=given, body=body)):
                function = ast.FunctionDef(name, given, [ast.Return(body)], decorator_list=[])
                return self.define(ast.fix_missing_locations(ast.copy_location(function, node)))
            case ast.Assign(targets=targets, value=value):
                return self.assign(node, targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return self.assign(node, [target], value)
            case ast.AugAssign(target=target, op=op, value=value):
                changed = ast.copy_location(ast.BinOp(target, op, value), node)
                return self.assign(node, [target], changed)
            case ast.FunctionDef():
                return self.define(node)
            case ast.Expr(value=value) if not isinstance(value, ast.Constant):
                return self.expression(node, value)
            case ast.Assert(test=test):
                self.tell(node, compared(self.reader, test) or ())
        return set()

    def tell(self, node: ast.stmt, pieces: Iterable[Words | Chain]) -> None:
        parts = tuple(pieces)
        if parts and not self.frame.is_silent:
            self.events.append(StatementMeaning(self.source, node, parts))

    # -- what names mean --------------------------------------------------------------

    def change(
        self, node: ast.stmt, values: Mapping[str, Value], assigned: Collection[str]
    ) -> None:
        """Tell what a statement has made of names; of those that nothing was told of, only
        where they are ``assigned``."""
        told: set[str] = set()
        for name, value in in_order(values):
            if value_names(value) & told:
                # It was made of what had that name before.
                value = UNKNOWN
            if not self.frame.is_own(name) or not (name in self.scope.names or name in assigned):
                self.frame.filling.discard(name)
                self.scope.stands_for[name] = value
                continue
            self.frame.bind(name, value)
            told.add(name)
            place = statement_head(node)
            right: Member | None = None
            if value is UNKNOWN:
                self.program.unread += 1
            elif isinstance(place, ast.expr):
                right = member(self.reader, place, value)
            chain = _unknown(name, self.source.string(place), span := self.source.span(place))
            if right is not None and not isinstance(right, Opaque):
                chain = replace(chain, members=(Named(name, span), right))
            self.tell(node, [chain])

    def forget(self, node: ast.stmt, *parts: ast.AST, followed: Collection[str] = ()) -> None:
        """Tell what a statement, or parts of it, may have stored to that was not followed."""
        to, sharing = stores(*parts), self.frame.sharing
        names = {
            name
            for name in sharing.names(sharing.changed(to, self._effects))
            if self.scope.shapes.get(name) != ()
            and not isinstance(self.scope.stands_for.get(name), syntax.Literal)
        }
        for name in to.imported - self.scope.names:
            self.scope.drop(name)
        names |= to.assigned | to.bound | (to.imported & self.scope.names)
        is_certain = isinstance(node, ast.Assign | ast.AnnAssign)
        sharing.share(to, self._effects, is_certain)
        self.change(node, dict.fromkeys(names.difference(followed), UNKNOWN), to.assigned)

    def _effects(self, name: str) -> FunctionEffects | None:
        function = self.scope.stands_for.get(name)
        if not isinstance(function, FollowedFunction):
            return None
        key = id(function.node)
        if key not in self.program.effects:
            if [*self.program.effects.values()].count(None) == _DEEPEST_CALLS:
                return None
            self.program.effects[key] = None
            self.program.effects[key] = effects_of(function.node, self._effects)
        return self.program.effects[key]

    def define(self, function: ast.FunctionDef) -> set[str]:
        """A function is known by its name, which stands for nothing else from then on."""
        name = function.name
        if name in self.scope.names:
            self.change(function, {name: UNKNOWN}, ())
        known = FollowedFunction(self.source, function, self.scope.stands_for)
        self.scope.stands_for[name] = known
        return {name}

    # -- assignments ------------------------------------------------------------------

    def assign(self, node: ast.stmt, targets: Sequence[ast.expr], value: ast.expr) -> set[str]:
        """``targets = value`` as chains, one for each part where values are unpacked; the
        names that were given a meaning."""
        values: Sequence[Value] = []
        written: Sequence[ast.expr] = [value]
        each: Sequence[Sequence[ast.expr]] = [targets]
        match targets:
            case [ast.Subscript() as target]:
                return self._set(node, target, value)
            case [ast.Tuple(elts=parts) | ast.List(elts=parts)]:
                each, written = [[part] for part in parts], [value] * len(parts)
                if isinstance(value, ast.Tuple) and len(value.elts) == len(parts):
                    written = value.elts
                    values = [self.reader.tried(expression) for expression in written]
                elif isinstance(unpacked := self.reader.tried(value), Items):
                    values = unpacked.items if len(unpacked.items) == len(parts) else ()
                values = values or [UNKNOWN] * len(parts)
            case _:
                values = [self.reader.tried(value)]
        chains: list[Chain] = []
        followed: set[str] = set()
        for places, expression, meaning in zip(each, written, values, strict=True):
            if followed & {part.id for part in ast.walk(expression) if isinstance(part, ast.Name)}:
                # One after the other only where no part needs what another has changed.
                meaning = UNKNOWN
            chains += self._chain(places, expression, meaning)
            followed |= {place.id for place in places if isinstance(place, ast.Name)}
        self.tell(node, chains)
        return followed

    def _chain(
        self, targets: Sequence[ast.expr], value: ast.expr, meaning: Value
    ) -> Iterator[Chain]:
        """``targets = value``, and what is then known of the names."""
        reader, scope = self.reader, self.scope
        right = member(reader, value, meaning)
        zeros = right if isinstance(value, ast.Call) and last_name(value.func) in _EMPTY else None
        if isinstance(zeros, Labelled):
            right = reader.opaque(value, ())
        members: list[Named] = []
        for target in targets:
            if not isinstance(target, ast.Name):
                continue
            name, was_told = target.id, target.id in scope.names
            if not self.frame.bind(name, meaning):
                continue
            if isinstance(zeros, Labelled):
                # It is there to be filled; where it is used as it is, its zeros stand there.
                scope.stand(name, _NOTHING if "empty" in reader.written(value) else zeros)
                if not is_of_integers(reader, value):
                    self.frame.filling.add(name)
            if (drawn := reader.drawn_shape(value)) is not None and meaning is UNKNOWN:
                scope.shapes[name] = drawn
            if right != Named(name) and (right is not None or was_told):
                members.append(Named(name, reader.span(target)))
        if isinstance(right, Opaque):
            self.program.unread += 1
        if members:
            right = reader.opaque(value, ()) if right is None else right
            spans = (*(one.span for one in members), reader.span(value))
            equal: Link = "="
            yield Chain((*members, right), (equal,) * len(members), spans, is_code=True)

    def _set(self, node: ast.stmt, target: ast.Subscript, value: ast.expr) -> set[str]:
        """``S[i, j] = value`` of an array that is being filled; ``S[mask == 0] = -inf``, which
        gives all of S anew."""
        reader, scope = self.reader, self.scope
        meaning, whole = reader.tried(value), target.value
        while isinstance(whole, ast.Subscript):
            whole = whole.value
        if not isinstance(whole, ast.Name):
            return set()
        name, entry = whole.id, None
        if whole is target.value and not is_entry(target.slice, meaning):
            try:
                hidden, scores = reader.tree(target.slice), reader.tree(whole)
                meaning = library.masked(scores, library.negated(hidden), meaning, scope)
            except UnreadCode:
                meaning = UNKNOWN
            self.tell(node, self._chain([whole], value, meaning))
            return {name}
        is_new = name not in scope.names and name not in scope.stands_for
        is_loop = self.frame.own is None and scope.shape(Named(name)) is not None
        if (name in self.frame.filling and scope.stands_for.get(name) is not UNKNOWN) or (
            name not in scope.stands_for and (is_new or is_loop)
        ):
            scope.stands_for.pop(name, None)
            scope.known.pop(name, None)
            with suppress(UnreadCode):
                entry = reader.tree(target)
        right = member(reader, value, meaning)
        is_of_itself = self.frame.own is not None and name in value_names(meaning)
        if entry is None or right is None or is_of_itself:
            self.tell(node, self._chain([whole], value, UNKNOWN))
            return {name}
        spans = (reader.span(target), reader.span(value))
        self.tell(node, [Chain((entry, right), ("=",), spans, is_code=True)])
        return {name}

    # -- what is shown ----------------------------------------------------------------

    def expression(self, node: ast.stmt, value: ast.expr) -> set[str]:
        """Return what an expression shows; the names that it gives a meaning by a method."""
        reader = self.reader
        match value:
            case ast.Call(func=ast.Name(id="print" | "display" | "pprint"), args=arguments):
                self.tell(node, (piece for given in arguments for piece in shown(reader, given)))
                return set()
            case ast.Call(func=ast.Attribute(value=ast.Name() as of, attr=method)) if (
                method.endswith("_") and not method.endswith("__") and not is_library(of)
            ):
                return self.assign(node, [of], value)
            case ast.Call(func=ast.Attribute(ast.Name(id=name), "append"), args=[item]) if (
                isinstance(items := self.scope.stands_for.get(name), Items) and not items.keys
            ):
                longer = Items((*items.items, reader.tried(item)))
                self.change(node, {name: longer}, ())
                return {name}
        if (claim := compared(reader, value)) is not None:
            self.tell(node, claim)
            return set()
        inner = value
        while (deeper := bare(inner)) is not inner:
            inner = deeper
        meaning = reader.tried(inner)
        if isinstance(inner, ast.Tuple) and isinstance(meaning, Items):
            self.tell(node, (piece for item in inner.elts for piece in shown(reader, item)))
            return set()
        quantity = member(reader, inner, meaning)
        # A call that gives nothing back shows nothing, though it may print.
        if quantity is not None and not (
            isinstance(quantity, Opaque) and isinstance(value, ast.Call)
        ):
            self.tell(node, [mention(quantity, reader.span(value))])
        return set()

    # -- branches, loops, functions ---------------------------------------------------

    def branch(self, node: ast.If) -> None:
        try:
            holds = self.reader.truth(node.test)
        except UnreadCode:
            self.forget(node, node)
            if any(
                isinstance(part, ast.Return | ast.Break | ast.Continue) for part in ast.walk(node)
            ):
                # Nobody knows whether the statements behind it run.
                raise
            return
        self.statements(node.body if holds else node.orelse)

    def loop(self, node: ast.For) -> None:
        scope, start = self.scope, len(self.events)
        self.frame.sharing.share(stores(node), self._effects, is_certain=False)
        inner = replace(self, frame=replace(self.frame, own=None))
        changes: dict[str, Value] = {}
        is_read = False
        with suppress(UnreadCode), scope.restored() as before:
            inner.turns(node)
            after, is_read = dict(scope.stands_for), True
        if is_read:
            changes = {n: value for n, value in after.items() if before.get(n, ...) is not value}
            for name in before.keys() - after.keys():
                # It is told by its entries.
                del scope.stands_for[name]
        entered = self._fill(start) if self.frame.own is not None else set()
        for name, value in changes.items():
            if value_names(value) & entered:
                changes[name] = UNKNOWN
        targets = stores(node.target).assigned
        self.change(node, changes, stores(*node.body).assigned - targets)
        if not is_read:
            self.forget(node, node)

    def turns(self, node: ast.For) -> None:
        """Follow a loop turn by turn."""
        for values in list(rounds(self.reader, node.iter)):
            take(node.target, values, self.scope)
            try:
                self.statements(node.body)
            except _LeftLoop as left:
                if not left.goes_on:
                    return
        self.statements(node.orelse)

    def _fill(self, start: int) -> set[str]:
        """Tell of arrays that a loop has filled as a whole what fills them; the names of all
        that it has set entries of."""
        entered: dict[str, list[tuple[StatementMeaning, tuple[syntax.Key, ...], Member]]] = {}
        for event in self.events[start:]:
            match event.pieces:
                case (Chain(members=(syntax.Indexed(syntax.Name(name), keys), value)),):
                    entered.setdefault(name, []).append((event, keys, value))
        for name, entries in entered.items():
            trees = {keys: value for _, keys, value in entries}
            is_of_itself = any(name in value_names(value) for value in trees.values())
            is_whole = len(trees) == prod(self.scope.shapes.get(name, ())[: len(entries[0][1])])
            is_once = len(trees) == len(entries) or not is_of_itself
            tree = filled(trees) if is_whole and is_once else None
            if tree is None and name in self.frame.filling and not is_of_itself:
                continue
            first = entries[0][0]
            (chain,) = first.pieces
            assert isinstance(chain, Chain)
            self.frame.bind(name, UNKNOWN if tree is None else tree)
            unread = Opaque(self.source.string(first.node)[:400], chain.span)
            right = unread if tree is None else tree
            whole = replace(chain, members=(Named(name, chain.spans[0]), right))
            gone = {id(event) for event, _, _ in entries}
            self.events[start:] = [
                replace(first, pieces=(whole,)) if event is first else event
                for event in self.events[start:]
                if event is first or id(event) not in gone
            ]
        return {*entered}

    def call(
        self, function: FollowedFunction, values: list[Value], named: dict[str, Value]
    ) -> Value:
        """Return what a function of the program gives."""
        if self.frame.depth >= _CALLS:
            raise UnreadCode
        inner = replace(self, source=function.source)
        bound = bound_arguments(inner.reader, function.node.args, values, named)
        result: Value = UNKNOWN
        with suppress(UnreadCode):
            result = inner._result(function, bound, own=None)
        if result is not UNKNOWN and (self.frame.is_silent or is_plain(function.node, result)):
            return result
        if self.frame.is_silent:
            raise UnreadCode
        return inner._result(function, bound, own=set())

    def _result(
        self, function: FollowedFunction, bound: Mapping[str, Value], own: set[str] | None
    ) -> Value:
        """Return what a function gives; nothing is told of one without names of its own."""
        scope = replace(self.scope, stands_for={**function.around, **bound})
        frame = Frame(scope, own, depth=self.frame.depth + 1, is_silent=own is None)
        try:
            replace(self, frame=frame).statements(function.node.body)
        except _Returned as returned:
            return returned.value
        except _LeftLoop:
            raise UnreadCode from None
        return None


def _unknown(name: str, text: str, span: Span) -> Chain:
    """Says of a name that nobody knows what it is."""
    members = (Named(name, span), Opaque(text.partition("\n")[0][:400], span))
    return Chain(members, ("=",), (span, span), is_code=True)
