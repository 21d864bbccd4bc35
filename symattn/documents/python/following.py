"""A program followed statement by statement: what it assigns and what it shows.

Names stand for themselves; a function of the program's own is followed where it is
called, its parameters standing for the arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from symattn import syntax
from symattn.documents.python.expressions import Reader
from symattn.documents.python.source import Source
from symattn.documents.python.values import (
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

#: How deep functions are followed into each other.
_CALLS = 6

#: What shows a value as it is, or rounded.
_SHOWN = frozenset(
    {"str", "repr", "display", "round", "around", "array2string", "array_repr", "array_str",
     "set_precision", "DataFrame", "tolist", "pprint", "item", "numpy", "detach"}
)  # fmt: skip


@dataclass(frozen=True)
class Event:
    """What a statement says: chains it assigns, or words and values it shows."""

    source: Source
    node: ast.stmt
    pieces: tuple[Words | Chain, ...]
    is_shown: bool = False


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
            case ast.Assign(targets=targets, value=value):
                self.assign(source, node, targets, value, frame)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(source, node, [target], value, frame)
            case ast.AugAssign(target=target, op=op, value=value):
                made = ast.copy_location(ast.BinOp(target, op, value), node)
                self.assign(source, node, [target], made, frame)
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

    def tell(
        self, source: Source, node: ast.stmt, pieces: Iterable[Words | Chain], shown: bool = False
    ) -> None:
        said = tuple(pieces)
        if said and not self.silent:
            self.events.append(Event(source, node, said, shown))

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
            values = [self._tried(reader, one) for one in value.elts]
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

    def _tried(self, reader: Reader, node: ast.expr) -> Value:
        try:
            return reader.value(node)
        except Unread:
            return UNKNOWN

    def _chain(
        self,
        reader: Reader,
        targets: Sequence[ast.expr],
        value: ast.expr,
        found: Value,
        frame: Frame,
    ) -> Chain | None:
        """``targets = value``, and what is then known of the names."""
        member = self._member(reader, value, found)
        members: list[Member] = []
        spans: list[Span] = []
        for target in targets:
            if isinstance(target, ast.Name):
                if self._bind(target.id, found, frame) and member != Named(target.id):
                    members.append(Named(target.id, reader.span(target)))
                    spans.append(reader.span(target))
            elif isinstance(entry := self._entry(reader, target, frame), syntax.Indexed):
                members.append(entry)
                spans.append(reader.span(target))
        if not members or member is None:
            return None
        equal: Link = "="
        links = (equal,) * len(members)
        return Chain((*members, member), links, (*spans, reader.span(value)), is_code=True)

    def _member(self, reader: Reader, node: ast.expr, found: Value) -> Member | None:
        """A value as the member of a chain; None of what is no quantity."""
        if found is None or isinstance(found, bool | Applied):
            return None
        try:
            tree = reader.scope.tree(found)
        except Unread:
            return reader.opaque(node)
        if is_expressible(tree):
            return tree
        return reader.opaque(node)

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
                pieces = [
                    piece for argument in arguments for piece in self._shown(reader, argument)
                ]
                self.tell(source, node, pieces, shown=True)
                return
            case ast.Call(
                func=ast.Attribute(value=inner, attr="masked_fill_" | "fill_" | "div_" | "mul_")
            ):
                in_place = ast.copy_location(ast.Assign([inner], value), node)
                self.assign(source, node, [inner], in_place.value, frame)
                return
            case ast.Call(func=ast.Attribute(attr="append" | "extend", value=ast.Name(id=name))):
                frame.scope.known.pop(name, None)
                return
        if self._compared(source, node, value, reader):
            return
        shown: ast.expr = value
        while isinstance(shown, ast.Call) and _name(shown.func) in _SHOWN:
            inner_value = _first(shown)
            if inner_value is None:
                break
            shown = inner_value
        try:
            found = reader.value(shown)
        except Unread:
            found = UNKNOWN
        if isinstance(shown, ast.Tuple) and isinstance(found, Items):
            pieces = [piece for one in shown.elts for piece in self._shown(reader, one)]
            self.tell(source, node, pieces, shown=True)
            return
        member = self._member(reader, shown, found)
        # A call that gives nothing back shows nothing, though it may print.
        if member is not None and not (isinstance(member, Opaque) and isinstance(value, ast.Call)):
            self.tell(source, node, [_mention(member, reader.span(value))], shown=True)

    def asserted(self, source: Source, node: ast.stmt, test: ast.expr, frame: Frame) -> None:
        self._compared(source, node, test, self.reader(source, frame))

    def _compared(self, source: Source, node: ast.stmt, value: ast.expr, reader: Reader) -> bool:
        """``a == b`` and ``np.allclose(a, b)`` as the claims that they are."""
        link: Link
        match value:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                link = "="
            case ast.Call(func=function, args=[left, right, *_]) if "close" in _name(function):
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

    def _shown(self, reader: Reader, node: ast.expr, depth: int = 0) -> Iterator[Words | Chain]:
        """The words and the values that an argument of ``print`` shows."""
        if depth > 50:
            return
        depth += 1
        match node:
            case ast.Constant(value=str() as text):
                if text.strip():
                    yield Words(text, reader.span(node))
                return
            case ast.JoinedStr(values=parts):
                with reader.within(node):
                    for part in parts:
                        yield from self._shown(reader, part, depth)
                return
            case ast.FormattedValue(value=value):
                yield from self._shown(reader, value, depth)
                return
            case ast.Starred(value=value):
                yield from self._shown(reader, value, depth)
                return
            case ast.BinOp(left=left, op=ast.Add(), right=right) if _is_text(left) or _is_text(
                right
            ):
                yield from self._shown(reader, left, depth)
                yield from self._shown(reader, right, depth)
                return
            case ast.BinOp(left=ast.Constant(value=str()) as left, op=ast.Mod(), right=right):
                yield from self._shown(reader, left, depth)
                for one in right.elts if isinstance(right, ast.Tuple) else [right]:
                    yield from self._shown(reader, one, depth)
                return
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str()) as text_node, attr="format"),
                args=arguments,
            ):
                yield from self._shown(reader, text_node, depth)
                for one in arguments:
                    yield from self._shown(reader, one, depth)
                return
            case ast.Call(func=function) if (
                _name(function) in _SHOWN and (inner := _first(node)) is not None
            ):
                yield from self._shown(reader, inner, depth)
                return
        found = self._tried(reader, node)
        if isinstance(found, str):
            yield Words(found, reader.span(node))
        elif (member := self._member(reader, node, found)) is not None:
            yield _mention(member, reader.span(node))

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
        scope = frame.scope
        names = _assigned(node)
        before = {name: scope.stands_for[name] for name in names if name in scope.stands_for}
        try:
            rounds = list(self._rounds(self.reader(source, frame), node.iter))
            inner = replace(frame, own=None)
            for values in rounds:
                self._take(node.target, values, scope)
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

    def _take(self, target: ast.expr, value: Value, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.stands_for[name] = value
            case ast.Tuple(elts=targets) if isinstance(value, Items) and len(targets) == len(
                value.items
            ):
                for one, held in zip(targets, value.items, strict=True):
                    self._take(one, held, scope)
            case _:
                raise Unread

    def _rounds(self, reader: Reader, node: ast.expr) -> Iterator[Value]:
        match node:
            case ast.Call(func=ast.Name(id="enumerate"), args=[of, *start]):
                first = reader.scope.whole(reader.value(start[0])) if start else 0
                for place, value in enumerate(self._rounds(reader, of), first):
                    yield Items((number(str(place)), value))
                return
            case ast.Call(func=ast.Name(id="zip"), args=parts):
                for values in zip(
                    *(list(self._rounds(reader, part)) for part in parts), strict=False
                ):
                    yield Items(values)
                return
            case ast.Call(func=ast.Attribute(value=of, attr="items")):
                found = reader.value(of)
                if not isinstance(found, Items):
                    raise Unread
                for key, value in zip(found.keys, found.items, strict=True):
                    yield Items((key, value))
                return
        found = reader.value(node)
        if isinstance(found, Items):
            yield from found.keys or found.items
            return
        tree = reader.scope.tree(found)
        shape = reader.scope.shape(tree)
        if not shape:
            raise Unread
        for i in range(min(shape[0], FOLLOWED.most)):
            yield tree.items[i] if isinstance(tree, syntax.Array) else syntax.Indexed(tree, (i,))

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
                bound[name] = self._tried(reader, default)
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


def _mention(member: Member, span: Span) -> Chain:
    return Chain((member,), (), (span,), is_code=True)


def _assigned(node: ast.stmt) -> set[str]:
    """The names that a statement may assign."""
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _first(node: ast.Call) -> ast.expr | None:
    """What a function that shows a value shows."""
    match node:
        case ast.Call(func=ast.Attribute(value=value), args=[]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="round")) if not (
            isinstance(value, ast.Name) and value.id in ("np", "torch", "jnp", "numpy")
        ):
            return value
        case ast.Call(args=[first, *_]):
            return first
    return None


def _is_text(node: ast.expr) -> bool:
    match node:
        case (
            ast.Constant(value=str()) | ast.JoinedStr() | ast.Call(func=ast.Name(id="str" | "repr"))
        ):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_text(left) or _is_text(right)
    return False
