"""A program followed statement by statement: what it assigns and what it shows.

Names stand for themselves; a function of the program's own is followed where it is
called, its parameters standing for the arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod

from symattn import syntax
from symattn.documents.python import library
from symattn.documents.python.expressions import Reader
from symattn.documents.python.loops import filled, rounds, take
from symattn.documents.python.showing import (
    SHOWN,
    first_argument,
    last_name,
    member,
    mention,
    shown,
)
from symattn.documents.python.source import Source
from symattn.documents.python.values import (
    HIDDEN,
    UNKNOWN,
    Applied,
    Items,
    Scope,
    Unread,
    Value,
    is_expressible,
    number,
)
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Labelled, Link, Member, Named, Opaque, Words
from symattn.limits import FOLLOWED

#: Functions whose arrays are there to be filled.
_EMPTY = frozenset({"zeros", "empty", "zeros_like", "empty_like"})
#: How deep functions are followed into each other.
_CALLS = 6


@dataclass(frozen=True)
class Event:
    """What a statement says: chains it assigns, or words and values it shows."""

    source: Source
    node: ast.stmt
    pieces: tuple[Words | Chain, ...]


@dataclass(frozen=True)
class Definition:
    """A function of the program."""

    source: Source
    node: ast.FunctionDef


@dataclass(frozen=True)
class Frame:
    """Where statements are followed: at the top, in a function, in a loop.

    ``own`` are the names that its assignments are known by outside, so far; None
    where nothing of it is: its names stand for what they are assigned.
    """

    scope: Scope
    own: set[str] | None
    depth: int = 0


class _Returned(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


@dataclass
class Program:
    """The programs of an article so far: what later ones may name."""

    scope: Scope = field(default_factory=Scope)
    functions: dict[str, Definition] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    #: Where names were assigned arrays to be filled, and those that were filled since.
    empty: dict[str, Event] = field(default_factory=dict)
    refilled: list[Event] = field(default_factory=list)

    def follow(self, source: Source) -> list[Event]:
        """What the statements of a piece say, in the order in which they run."""
        follower = _Follower(self)
        with suppress(_Returned):
            follower.statements(source, source.body, Frame(self.scope, self.names))
        return follower.events


class _Follower:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.events: list[Event] = []
        self.silent = False

    def reader(self, source: Source, frame: Frame) -> Reader:
        def called(name: str, values: list[Value], named: dict[str, Value]) -> Value:
            return self.call(self.program.functions[name], frame, values, named)

        return Reader(source, frame.scope, self.program.functions.keys(), called)

    def statements(self, source: Source, body: Iterable[ast.stmt], frame: Frame) -> None:
        for node in body:
            frame.scope.spent.followed += 1
            if frame.scope.spent.followed > FOLLOWED.most:
                return
            self.statement(source, node, frame)

    def statement(self, source: Source, node: ast.stmt, frame: Frame) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Lambda(args=given, body=body)):
                made = ast.FunctionDef(name, given, [ast.Return(body)], decorator_list=[])
                made = ast.fix_missing_locations(ast.copy_location(made, node))
                self.program.functions[name] = Definition(source, made)
            case ast.Assign(targets=targets, value=value):
                self.assign(source, node, targets, value, frame)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(source, node, [target], value, frame)
            case ast.AugAssign(target=target, op=op, value=value):
                changed = ast.copy_location(ast.BinOp(target, op, value), node)
                self.assign(source, node, [target], changed, frame)
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.expression(source, node, value, frame)
            case ast.FunctionDef(name=name):
                self.program.functions[name] = Definition(source, node)
            case ast.If():
                self.branch(source, node, frame)
            case ast.For():
                self.loop(source, node, frame)
            case ast.With(body=body) | ast.Try(body=body):
                self.statements(source, body, frame)
            case ast.Assert(test=test):
                self.asserted(source, node, test, frame)
            case ast.Return(value=value):
                raise _Returned(None if value is None else self.reader(source, frame).value(value))

    def tell(self, source: Source, node: ast.stmt, pieces: Iterable[Words | Chain]) -> None:
        said = tuple(pieces)
        if said and not self.silent:
            self.events.append(Event(source, node, said))

    # -- assignments ------------------------------------------------------------------

    def assign(
        self,
        source: Source,
        node: ast.stmt,
        targets: Sequence[ast.expr],
        value: ast.expr,
        frame: Frame,
    ) -> None:
        reader = self.reader(source, frame)
        *first, last = targets
        if isinstance(last, ast.Subscript) and not first:
            self._set(source, node, last, value, frame)
            return
        if isinstance(last, ast.Tuple | ast.List) and not first:
            self.tell(source, node, self._unpacked(reader, last.elts, value, frame))
            return
        try:
            found: Value = reader.value(value)
        except Unread:
            found = UNKNOWN
        places = [target for target in targets if isinstance(target, ast.Name | ast.Subscript)]
        chain = self._chain(reader, places, value, found, frame)
        self.tell(source, node, [chain] if chain else [])
        if isinstance(value, ast.Call) and last_name(value.func) in _EMPTY and self.events:
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            self.program.empty.update(dict.fromkeys(names, self.events[-1]))

    def _set(
        self, source: Source, node: ast.stmt, target: ast.Subscript, value: ast.expr, frame: Frame
    ) -> None:
        """``S[i, j] = value``; ``S[mask == 0] = -inf`` gives all of S anew."""
        reader = self.reader(source, frame)
        found = reader.tried(value)
        if (made := self.program.empty.pop(_owner(target), None)) is not None:
            self.program.refilled.append(made)
        places: list[ast.Name | ast.Subscript] = [target]
        if isinstance(target.value, ast.Name) and not _is_entry(target.slice, found):
            places = [target.value]
            try:
                hidden = reader.tree(target.slice)
                scores = reader.tree(target.value)
                found = library.masked(scores, library.negated(hidden), found)
            except Unread:
                found = UNKNOWN
        chain = self._chain(reader, places, value, found, frame)
        self.tell(source, node, [chain] if chain else [])

    def _unpacked(
        self, reader: Reader, targets: Sequence[ast.expr], value: ast.expr, frame: Frame
    ) -> list[Chain]:
        try:
            found = reader.value(value)
        except Unread:
            found = UNKNOWN
        values: Sequence[Value] = [UNKNOWN] * len(targets)
        if isinstance(found, Items) and len(found.items) == len(targets):
            values = found.items
        elif isinstance(value, ast.Tuple) and len(value.elts) == len(targets):
            values = [reader.tried(one) for one in value.elts]
        written = (
            value.elts
            if isinstance(value, ast.Tuple) and len(value.elts) == len(targets)
            else [value] * len(targets)
        )
        chains = [
            self._chain(reader, [target], one, held, frame)
            for target, one, held in zip(targets, written, values, strict=True)
            if isinstance(target, ast.Name | ast.Subscript)
        ]
        return [chain for chain in chains if chain]

    def _chain(
        self,
        reader: Reader,
        targets: Sequence[ast.expr],
        value: ast.expr,
        found: Value,
        frame: Frame,
    ) -> Chain | None:
        """``targets = value``, and what is then known of the names."""
        said = member(reader, value, found)
        members: list[Member] = []
        spans: list[Span] = []
        for target in targets:
            if isinstance(target, ast.Name):
                if self._bind(target.id, found, frame) and said != Named(target.id):
                    members.append(Named(target.id, reader.span(target)))
                    spans.append(reader.span(target))
            elif isinstance(entry := self._entry(reader, target, frame), syntax.Indexed):
                members.append(entry)
                spans.append(reader.span(target))
        if not members or said is None:
            return None
        equal: Link = "="
        links = (equal,) * len(members)
        return Chain((*members, said), links, (*spans, reader.span(value)), is_code=True)

    def _entry(self, reader: Reader, target: ast.expr, frame: Frame) -> Member | None:
        """What an assignment to an entry sets."""
        try:
            entry = reader.tree(target)
        except Unread:
            return None
        name = entry
        while isinstance(name, syntax.Indexed):
            name = name.operand
        if isinstance(name, syntax.Name):
            frame.scope.known.pop(name.name, None)
        return entry

    def _bind(self, name: str, found: Value, frame: Frame) -> bool:
        """Let a name stand for what it is assigned; whether it is a quantity's own."""
        scope, own = frame.scope, frame.own
        is_named = own is not None and (
            frame.depth == 0 or name in own or name not in self.program.names
        )
        if not is_named or self.silent:
            scope.stands_for[name] = found
            return False
        assert own is not None
        own.add(name)
        self.program.names.add(name)
        scope.stands_for.pop(name, None)
        scope.known.pop(name, None)
        scope.shapes.pop(name, None)
        if frame.depth:
            scope.stands_for[name] = Named(name)
        try:
            tree = scope.tree(found)
        except Unread:
            if isinstance(found, Items | str | Applied):
                scope.known[name] = found
            return True
        if not is_expressible(tree):
            scope.stands_for[name] = tree
            return True
        if (shape := scope.shape(tree)) is not None:
            scope.shapes[name] = shape
        if isinstance(found, Items):
            scope.known[name] = found
        elif isinstance(tree, Labelled | syntax.Literal):
            scope.known[name] = tree
        elif shape == ():
            with suppress(Unread):
                scope.known[name] = number(str(scope.whole(tree)))
        return True

    # -- what is shown ----------------------------------------------------------------

    def expression(self, source: Source, node: ast.stmt, value: ast.expr, frame: Frame) -> None:
        reader = self.reader(source, frame)
        match value:
            case ast.Call(func=ast.Name(id="print" | "display" | "pprint"), args=arguments):
                pieces = [piece for argument in arguments for piece in shown(reader, argument)]
                self.tell(source, node, pieces)
                return
            case ast.Call(
                func=ast.Attribute(value=of, attr="masked_fill_" | "fill_" | "div_" | "mul_")
            ):
                self.assign(source, node, [of], value, frame)
                return
            case ast.Call(func=ast.Attribute(attr="append" | "extend", value=ast.Name(id=name))):
                frame.scope.known.pop(name, None)
                return
        if self._compared(source, node, value, reader):
            return
        inner: ast.expr = value
        while isinstance(inner, ast.Call) and last_name(inner.func) in SHOWN:
            deeper = first_argument(inner)
            if deeper is None:
                break
            inner = deeper
        found = reader.tried(inner)
        if isinstance(inner, ast.Tuple) and isinstance(found, Items):
            pieces = [piece for one in inner.elts for piece in shown(reader, one)]
            self.tell(source, node, pieces)
            return
        said = member(reader, inner, found)
        # A call that gives nothing back shows nothing, though it may print.
        if said is not None and not (isinstance(said, Opaque) and isinstance(value, ast.Call)):
            self.tell(source, node, [mention(said, reader.span(value))])

    def asserted(self, source: Source, node: ast.stmt, test: ast.expr, frame: Frame) -> None:
        self._compared(source, node, test, self.reader(source, frame))

    def _compared(self, source: Source, node: ast.stmt, value: ast.expr, reader: Reader) -> bool:
        """``a == b`` and ``np.allclose(a, b)`` as the claims that they are."""
        link: Link
        match value:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                link = "="
            case ast.Call(func=function, args=[left, right, *_]) if "close" in last_name(function):
                link = "≈"
            case _:
                return False
        members: list[Member] = []
        for one in (left, right):
            try:
                members.append(reader.tree(one))
            except Unread:
                members.append(reader.opaque(one))
        spans = (reader.span(left), reader.span(right))
        if all(isinstance(member, Opaque) for member in members):
            return True
        self.tell(source, node, [Chain(tuple(members), (link,), spans, is_code=True)])
        return True

    # -- branches, loops, functions ---------------------------------------------------

    def branch(self, source: Source, node: ast.If, frame: Frame) -> None:
        try:
            holds = self.reader(source, frame).truth(node.test)
        except Unread:
            for name in _assigned(node):
                if frame.own is None or frame.depth:
                    frame.scope.stands_for[name] = UNKNOWN
                else:
                    frame.scope.known.pop(name, None)
            return
        self.statements(source, node.body if holds else node.orelse, frame)

    def loop(self, source: Source, node: ast.For, frame: Frame) -> None:
        scope, start = frame.scope, len(self.events)
        names = _assigned(node)
        before = {name: scope.stands_for[name] for name in names if name in scope.stands_for}
        try:
            turns = list(rounds(self.reader(source, frame), node.iter))
            inner = replace(frame, own=None)
            for values in turns:
                take(node.target, values, scope)
                self.statements(source, node.body, inner)
        except Unread:
            pass
        for name in names:
            scope.stands_for.pop(name, None)
            scope.known.pop(name, None)
            scope.shapes.pop(name, None)
            if frame.depth:
                scope.stands_for[name] = UNKNOWN
        scope.stands_for.update(before)
        if frame.own is not None:
            self._fill(frame, start)

    def _fill(self, frame: Frame, start: int) -> None:
        """Tell of arrays that a loop has filled as a whole what fills them."""
        entries: dict[str, dict[tuple[int, ...], syntax.Tree]] = {}
        for event in self.events[start:]:
            match event.pieces:
                case (Chain(members=(syntax.Indexed(syntax.Name(name), keys), value)),) if not (
                    isinstance(value, Opaque)
                ):
                    whole = tuple(key for key in keys if isinstance(key, int))
                    entries.setdefault(name, {})[whole] = value
        for name, found in entries.items():
            shape = frame.scope.shapes.get(name, ())
            count = prod(shape[: len(next(iter(found)))])
            if len(found) != count or (tree := filled(found)) is None:
                continue
            place = next(k for k, one in enumerate(self.events[start:], start) if _fills(one, name))
            first = self.events[place]
            (chain,) = first.pieces
            assert isinstance(chain, Chain)
            members = (Named(name, chain.spans[0]), tree)
            whole_chain = replace(chain, members=members)
            after = [event for event in self.events[place:] if not _fills(event, name)]
            self.events[place:] = [replace(first, pieces=(whole_chain,)), *after]

    def call(
        self, definition: Definition, frame: Frame, values: list[Value], named: dict[str, Value]
    ) -> Value:
        if frame.depth >= _CALLS:
            raise Unread
        bound = self._arguments(definition, frame, values, named)
        was_silent, events = self.silent, len(self.events)
        self.silent = True
        found: Value = UNKNOWN
        try:
            found = self._result(definition, frame, dict(bound), None)
        except Unread:
            pass
        finally:
            self.silent = was_silent
            del self.events[events:]
        if was_silent or _is_plain(definition.node, found):
            if found is UNKNOWN:
                raise Unread
            return found
        return self._result(definition, frame, dict(bound), set())

    def _result(
        self, definition: Definition, frame: Frame, bound: dict[str, Value], own: set[str] | None
    ) -> Value:
        scope = replace(frame.scope, stands_for=bound)
        inner = Frame(scope, own, frame.depth + 1)
        try:
            self.statements(definition.source, definition.node.body, inner)
        except _Returned as returned:
            return returned.value
        return None

    def _arguments(
        self, definition: Definition, frame: Frame, values: list[Value], named: dict[str, Value]
    ) -> dict[str, Value]:
        takes = definition.node.args
        if takes.vararg or takes.kwarg:
            raise Unread
        parameters = [one.arg for one in (*takes.posonlyargs, *takes.args)]
        if len(values) > len(parameters):
            raise Unread
        reader = self.reader(definition.source, frame)
        bound: dict[str, Value] = {}
        defaults = [None] * (len(parameters) - len(takes.defaults)) + list(takes.defaults)
        every = [*zip(parameters, defaults, strict=True)]
        every += [
            (one.arg, default)
            for one, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
        ]
        for name, default in every:
            if default is not None:
                bound[name] = reader.tried(default)
        bound.update(zip(parameters, values, strict=False))
        if named.keys() - {name for name, _ in every}:
            raise Unread
        bound.update(named)
        if len(bound) < len(every):
            raise Unread
        return bound


def _is_plain(node: ast.FunctionDef, found: Value) -> bool:
    """Whether a function's value says all of it: it is a single return, or a softmax."""
    body = [
        one
        for one in node.body
        if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    if len(body) == 1:
        return True
    match found:
        case syntax.Call("softmax") | syntax.Transposed(syntax.Call("softmax")):
            return not any(isinstance(one, ast.Expr) for one in body)
    return False


def _owner(target: ast.expr) -> str:
    """The name of what an entry is an entry of."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _is_entry(key: ast.expr, found: Value) -> bool:
    """Whether a key is that of an entry or a row, not of all that a mask names."""
    if isinstance(key, ast.Tuple):
        return not any(isinstance(one, ast.Slice) for one in key.elts)
    if isinstance(key, ast.Name):
        return found != HIDDEN
    return isinstance(key, ast.Constant | ast.BinOp) or (
        isinstance(key, ast.UnaryOp) and not isinstance(key.op, ast.Invert | ast.Not)
    )


def _fills(event: Event, name: str) -> bool:
    """Whether an event is the assignment of an entry of that name."""
    match event.pieces:
        case (Chain(members=(syntax.Indexed(syntax.Name(owner), _), _)),):
            return owner == name
    return False


def _assigned(node: ast.stmt) -> set[str]:
    """The names that a statement may assign."""
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
