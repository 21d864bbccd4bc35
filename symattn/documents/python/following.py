"""A program followed statement by statement: what it assigns and what it shows.

Names stand for themselves; a function of the program's own is followed where it is
called, its parameters standing for the arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod

from symattn import syntax
from symattn.documents.python.assignments import (
    SHOWN,
    Frame,
    assigned,
    changed,
    first_argument,
    last_name,
    member,
    mention,
    owner,
    reassigned,
    shown,
    stored,
)
from symattn.documents.python.code_values import UNKNOWN, CodeScope, Items, UnreadCode, Value
from symattn.documents.python.expressions import ExpressionReader
from symattn.documents.python.loops import filled, rounds, take
from symattn.documents.python.source import ProgramSource
from symattn.documents.trees import Chain, Link, Member, Named, Opaque, Words
from symattn.limits import FOLLOWED

#: Functions whose arrays are there to be filled.
_EMPTY = frozenset({"zeros", "empty", "zeros_like", "empty_like"})
#: How deep functions are followed into each other.
_CALLS = 6


@dataclass(frozen=True)
class StatementMeaning:
    """What a statement says: chains it assigns, or words and values it shows."""

    source: ProgramSource
    node: ast.stmt
    pieces: tuple[Words | Chain, ...]


@dataclass(frozen=True)
class FollowedFunction:
    """A function of the program."""

    source: ProgramSource
    node: ast.FunctionDef


class _Returned(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


@dataclass
class FollowedProgram:
    """The programs of an article so far: what later ones may name."""

    scope: CodeScope = field(default_factory=CodeScope)
    functions: dict[str, FollowedFunction] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    #: Where names were assigned arrays to be filled, and those that were filled since.
    empty: dict[str, StatementMeaning] = field(default_factory=dict)
    filling: set[str] = field(default_factory=set)
    refilled: list[StatementMeaning] = field(default_factory=list)

    def follow(self, source: ProgramSource) -> list[StatementMeaning]:
        """What the statements of a piece say, in the order in which they run."""
        frame = Frame(self.scope, self.names, self.filling, self.names)
        follower = _Follower(self, source, frame)
        with suppress(_Returned):
            follower.statements(source.body)
        return follower.events


@dataclass(frozen=True)
class _Follower:
    """Follows the statements of a piece in a frame; all add to the same events."""

    program: FollowedProgram
    source: ProgramSource
    frame: Frame
    events: list[StatementMeaning] = field(default_factory=list)

    @property
    def reader(self) -> ExpressionReader:
        """One that has read nothing yet."""

        def called(name: str, values: list[Value], named: dict[str, Value]) -> Value:
            return self.call(self.program.functions[name], values, named)

        return ExpressionReader(
            self.source, self.frame.scope, self.program.functions.keys(), called
        )

    def statements(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            self.frame.scope.spent.followed += 1
            if self.frame.scope.spent.followed > FOLLOWED.most:
                return
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Lambda(args=given, body=body)):
                function = ast.FunctionDef(name, given, [ast.Return(body)], decorator_list=[])
                function = ast.fix_missing_locations(ast.copy_location(function, node))
                self.program.functions[name] = FollowedFunction(self.source, function)
            case ast.Assign(targets=targets, value=value):
                self.assign(node, targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(node, [target], value)
            case ast.AugAssign(target=target, op=op, value=value):
                changed = ast.copy_location(ast.BinOp(target, op, value), node)
                self.assign(node, [target], changed)
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.expression(node, value)
            case ast.FunctionDef(name=name):
                self.program.functions[name] = FollowedFunction(self.source, node)
            case ast.If():
                self.branch(node)
            case ast.For():
                self.loop(node)
            case ast.With(body=body):
                self.statements(body)
            case ast.Try():
                self.statements([*node.body, *node.orelse, *node.finalbody])
            case ast.While(test=at) | ast.Match(subject=at):
                self.change(node, at, dict.fromkeys(reassigned(node), UNKNOWN))
            case ast.Assert(test=test):
                self._compared(node, test)
            case ast.Return(value=ast.expr() as value) if not self.frame.depth:
                # It stands outside of the function that it was taken from.
                self.expression(node, value)
            case ast.Return(value=value):
                raise _Returned(None if value is None else self.reader.value(value))

    def tell(self, node: ast.stmt, pieces: Iterable[Words | Chain]) -> StatementMeaning | None:
        parts = tuple(pieces)
        if not parts or self.frame.is_silent:
            return None
        event = StatementMeaning(self.source, node, parts)
        self.events.append(event)
        return event

    # -- assignments ------------------------------------------------------------------

    def assign(
        self,
        node: ast.stmt,
        targets: Sequence[ast.expr],
        value: ast.expr,
    ) -> None:
        event = self.tell(node, assigned(self.reader, targets, value, self.frame))
        if isinstance(targets[-1], ast.Subscript):
            self._filled([owner(targets[-1])])
            return
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if event:
            self.program.filling.difference_update(names)
        if event and isinstance(value, ast.Call) and last_name(value.func) in _EMPTY:
            self.program.empty.update(dict.fromkeys(names, event))
            self.program.filling.update(names)

    def _filled(self, names: Iterable[str]) -> None:
        """Arrays are no longer what they were before they were filled."""
        for name in names:
            if (event := self.program.empty.pop(name, None)) is not None:
                self.program.refilled.append(event)

    def change(
        self,
        node: ast.stmt,
        at: ast.expr,
        values: Mapping[str, Value],
    ) -> None:
        """Tell what a statement has made of names, which nobody may know."""
        self._filled(name for name, value in values.items() if value is UNKNOWN)
        self.tell(node, changed(self.reader, at, values, self.frame))

    # -- what is shown ----------------------------------------------------------------

    def expression(self, node: ast.stmt, value: ast.expr) -> None:
        reader = self.reader
        match value:
            case ast.Call(func=ast.Name(id="print" | "display" | "pprint"), args=arguments):
                pieces = [piece for argument in arguments for piece in shown(reader, argument)]
                self.tell(node, pieces)
                return
            case ast.Call(
                func=ast.Attribute(value=of, attr="masked_fill_" | "fill_" | "div_" | "mul_")
            ):
                self.assign(node, [of], value)
                return
            case ast.Call(func=ast.Attribute(attr="append" | "extend", value=ast.Name(id=name))):
                self.frame.scope.known.pop(name, None)
                return
        if self._compared(node, value):
            return
        inner: ast.expr = value
        while isinstance(inner, ast.Call) and last_name(inner.func) in SHOWN:
            deeper = first_argument(inner)
            if deeper is None:
                break
            inner = deeper
        meaning = reader.tried(inner)
        if isinstance(inner, ast.Tuple) and isinstance(meaning, Items):
            pieces = [piece for item in inner.elts for piece in shown(reader, item)]
            self.tell(node, pieces)
            return
        quantity = member(reader, inner, meaning)
        # A call that gives nothing back shows nothing, though it may print.
        if quantity is not None and not (
            isinstance(quantity, Opaque) and isinstance(value, ast.Call)
        ):
            self.tell(node, [mention(quantity, reader.span(value))])

    def _compared(self, node: ast.stmt, value: ast.expr) -> bool:
        """``a == b`` and ``np.allclose(a, b)`` as the claims that they are."""
        reader = self.reader
        link: Link
        match value:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                link = "="
            case ast.Call(func=function, args=[left, right, *_]) if "close" in last_name(function):
                link = "≈"
            case _:
                return False
        members: list[Member] = []
        for side in (left, right):
            try:
                members.append(reader.tree(side))
            except UnreadCode:
                members.append(reader.opaque(side))
        spans = (reader.span(left), reader.span(right))
        if all(isinstance(member, Opaque) for member in members):
            return True
        self.tell(node, [Chain(tuple(members), (link,), spans, is_code=True)])
        return True

    # -- branches, loops, functions ---------------------------------------------------

    def branch(self, node: ast.If) -> None:
        try:
            holds = self.reader.truth(node.test)
        except UnreadCode:
            unknown = dict.fromkeys(reassigned(node), UNKNOWN)
            self.change(node, node.test, unknown)
            return
        self.statements(node.body if holds else node.orelse)

    def loop(self, node: ast.For) -> None:
        scope, start = self.frame.scope, len(self.events)
        names = stored(node)
        before = {name: scope.stands_for[name] for name in names if name in scope.stands_for}
        changes: dict[str, Value] = {}
        try:
            turns = list(rounds(self.reader, node.iter))
            inner = replace(self, frame=replace(self.frame, own=None))
            for values in turns:
                take(node.target, values, scope)
                inner.statements(node.body)
            changes = {name: scope.stands_for.get(name, UNKNOWN) for name in names}
        except UnreadCode:
            changes = dict.fromkeys(reassigned(node), UNKNOWN)
        for name in names:
            scope.stands_for.pop(name, None)
        scope.stands_for.update(before)
        self.change(node, node.iter, changes)
        if self.frame.own is not None:
            self._fill(start)

    def _fill(self, start: int) -> None:
        """Tell of arrays that a loop has filled as a whole what fills them."""
        entries: dict[str, dict[tuple[int, ...], syntax.Tree]] = {}
        for event in self.events[start:]:
            match event.pieces:
                case (Chain(members=(syntax.Indexed(syntax.Name(name), keys), value)),) if not (
                    isinstance(value, Opaque)
                ):
                    whole = tuple(key for key in keys if isinstance(key, int))
                    entries.setdefault(name, {})[whole] = value
        for name, trees in entries.items():
            shape = self.frame.scope.shapes.get(name, ())
            count = prod(shape[: len(next(iter(trees)))])
            if len(trees) != count or (tree := filled(trees)) is None:
                continue
            place = next(
                k
                for k, candidate in enumerate(self.events[start:], start)
                if _fills(candidate, name)
            )
            first = self.events[place]
            (chain,) = first.pieces
            assert isinstance(chain, Chain)
            members = (Named(name, chain.spans[0]), tree)
            whole_chain = replace(chain, members=members)
            after = [event for event in self.events[place:] if not _fills(event, name)]
            self.events[place:] = [replace(first, pieces=(whole_chain,)), *after]

    def call(
        self, definition: FollowedFunction, values: list[Value], named: dict[str, Value]
    ) -> Value:
        if self.frame.depth >= _CALLS:
            raise UnreadCode
        inner = replace(self, source=definition.source)
        bound = inner._arguments(definition.node.args, values, named)
        result: Value = UNKNOWN
        with suppress(UnreadCode):
            result = inner._result(definition.node, bound, own=None)
        if result is not UNKNOWN and (self.frame.is_silent or _is_plain(definition.node, result)):
            return result
        if self.frame.is_silent:
            raise UnreadCode
        return inner._result(definition.node, bound, own=set())

    def _result(
        self, node: ast.FunctionDef, bound: Mapping[str, Value], own: set[str] | None
    ) -> Value:
        """What a function gives; nothing is told of one without names of its own."""
        scope = replace(self.frame.scope, stands_for=dict(bound))
        depth = self.frame.depth + 1
        frame = replace(self.frame, scope=scope, depth=depth, own=own, is_silent=own is None)
        try:
            replace(self, frame=frame).statements(node.body)
        except _Returned as returned:
            return returned.value
        return None

    def _arguments(
        self, takes: ast.arguments, values: list[Value], named: dict[str, Value]
    ) -> dict[str, Value]:
        if takes.vararg or takes.kwarg:
            raise UnreadCode
        parameters = [parameter.arg for parameter in (*takes.posonlyargs, *takes.args)]
        if len(values) > len(parameters):
            raise UnreadCode
        reader = self.reader
        bound: dict[str, Value] = {}
        defaults = [None] * (len(parameters) - len(takes.defaults)) + list(takes.defaults)
        every = [*zip(parameters, defaults, strict=True)]
        every += [
            (parameter.arg, default)
            for parameter, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
        ]
        for name, default in every:
            if default is not None:
                bound[name] = reader.tried(default)
        bound.update(zip(parameters, values, strict=False))
        if named.keys() - {name for name, _ in every}:
            raise UnreadCode
        bound.update(named)
        if len(bound) < len(every):
            raise UnreadCode
        return bound


def _is_plain(node: ast.FunctionDef, result: Value) -> bool:
    """Whether a function's value says all of it: it is a single return, or a softmax."""
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


def _fills(event: StatementMeaning, name: str) -> bool:
    """Whether an event is the assignment of an entry of that name."""
    match event.pieces:
        case (Chain(members=(syntax.Indexed(syntax.Name(owner), _), _)),):
            return owner == name
    return False
