"""Programs run statement by statement, and what they show.

A statement that needs to know what nobody knows is lost: what it may have assigned or changed is
unknown from then on, and the program goes on behind it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running.evaluation import (
    SHOWING,
    Broken,
    Class,
    Continued,
    Evaluation,
    Function,
    Module,
    Returned,
)
from symattn.documents.running.formulas import with_formula
from symattn.documents.running.library import LIBRARY
from symattn.documents.running.numbers import (
    NOBODY_KNOWS,
    Array,
    Lost,
    Scope,
    Thing,
    Unknown,
    array,
    lose,
    truth,
)
from symattn.documents.running.own import key_of
from symattn.documents.running.source import ProgramSource
from symattn.documents.running.streams import is_still, may_draw
from symattn.documents.running.telling import (
    CHANGING,
    At,
    StatementMeaning,
    is_quantity,
    printed_value,
    rooted,
    stored,
)
from symattn.documents.running.texts import (
    How,
    Part,
    Shown,
    bare,
    tokens,
)
from symattn.documents.text import Text
from symattn.documents.trees import Chain, Opaque, Words
from symattn.expressions import syntax
from symattn.numbers.balls import Exhausted, charge

#: What a text calls that can't be read as a program.
_CALLED = re.compile(r"(?<![\w.])\.?[A-Za-z_][\w.]*+(?=\()")
#: No line shows more numbers.
_FIGURES = 400


@dataclass(eq=False)
class Machine(Evaluation):
    """Runs the pieces of a program one after the other; with a ``telling``, tells what statements
    say."""

    def run(self, source: ProgramSource) -> None:
        """Run the statements of a piece."""
        self.pieces.append(source)
        self._piece = len(self.pieces) - 1
        self._globals.tells = self.telling is not None
        with suppress(Lost, Returned, Broken, Continued):
            self.statements(source.body, self._globals)

    def follow(self, source: ProgramSource) -> Sequence[StatementMeaning]:
        """Run the statements of a piece; return what they tell."""
        assert self.telling is not None
        start = len(self.telling.events)
        self._quiet = self._depth = 0
        try:
            self.run(source)
        except Exhausted:
            self._unsure()
            for node in source.body:
                self._lose(node, self._globals)
                self._sweep(node, self._globals)
        return self.telling.events[start:]

    def _sweep(self, node: ast.stmt, scope: Scope, start: int | None = None) -> None:
        """Tell what a statement has made of names."""
        if self.telling is not None and scope.tells and not self._quiet:
            self.telling.sweep(At(node, self._source, scope), start)

    def forget(self, names: Iterable[str], text: Text) -> None:
        """Forget what names mean that something unread has assigned to."""
        if not all(map(is_still, _CALLED.findall(text.string))):
            self._unsure()
        for name in names:
            self._globals.names[name] = Unknown()

    def lose(self, names: Collection[str], text: Text) -> list[Chain]:
        """Forget names of the program that something unread has assigned to; return what tells
        so."""
        lost = sorted(set(names).intersection(self._formulas.told))
        self.forget(lost, text)
        assert self.telling is not None
        return [self.telling.lose(name, text, self._globals) for name in lost]

    def know(self, name: str, value: syntax.Tree) -> None:
        """Take what was printed of a name that nothing else is known of."""
        assert self.telling is not None
        if isinstance(self._globals.names.get(name), Unknown):
            self.telling.know(name, array(printed_value(value)), self._globals)

    # -- statements ----------------------------------------------------------------------

    def statements(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        """Run statements one after the other."""
        for node in body:
            charge(1)
            self._node = node if scope is self._globals else self._node
            try:
                self.statement(node, scope)
                self._sweep(node, scope)
            except (Returned, Broken, Continued, Exhausted):
                raise
            except Exception:
                self._losses += 1
                if may_draw(node):
                    self._unsure()
                if any(isinstance(part, ast.Call) for part in ast.walk(node)):
                    self._unknown_lines()
                self._lose(node, scope)
                self._sweep(node, scope)
                if any(
                    isinstance(part, ast.Return | ast.Break | ast.Continue)
                    for part in ast.walk(node)
                ) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
                    raise Lost from None

    def _lose(self, node: ast.stmt, scope: Scope) -> None:
        """Forget what a statement may have assigned or changed; what it assigns may change what it
        names from then on, as an optimizer does."""
        known: list[Any] = []
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                with suppress(KeyError):
                    known.append(scope.find(part.id))
        spoiled: list[Any] = []
        for part in ast.walk(node):
            changed: Sequence[ast.expr] = ()
            match part:
                case ast.Call(func=function) if SHOWING.search(ast.unparse(function)):
                    pass
                case ast.Global(names) | ast.Nonlocal(names):
                    for name in names:
                        scope.set(name, Unknown())
                case ast.Attribute(of, _, ast.Store()) | ast.Subscript(of, _, ast.Store()):
                    changed = [of]
                case ast.Call(func=ast.Attribute(of, name), args=given):
                    is_alone = isinstance(node, ast.Expr) and node.value is part
                    is_changing = self.telling is None or CHANGING.fullmatch(name)
                    changed = [of, *given] if is_alone else [of] if is_changing else []
                case ast.Call(args=given):
                    is_alone = isinstance(node, ast.Expr) and node.value is part
                    changed = given if is_alone or self.telling is None else []
                case ast.For(iter=of) if any(map(_is_change, ast.walk(part))):
                    # Items share their entries with what they are of.
                    changed = [one for one in ast.walk(of) if isinstance(one, ast.Name)]
            for one in changed:
                with suppress(KeyError):
                    spoiled.append(scope.find(rooted(one)))
        for value in spoiled:
            self._spoil(value)
        for name in stored(node)[0]:
            scope.set(name, Unknown(known))

    def statement(self, node: ast.stmt, scope: Scope) -> None:
        """Run a statement; raises any :class:`Exception` where it needs what isn't known."""
        match node:
            case ast.Expr(value):
                self.show(node, value, scope)
            case ast.Assign(targets, value):
                found = self.value(value, scope)
                for target in targets:
                    self.assign(target, found, scope)
                self._compute(node, targets[0], found)
            case ast.AnnAssign(target, _, ast.expr() as value):
                self.assign(target, found := self.value(value, scope), scope)
                self._compute(node, target, found)
            case ast.AugAssign(target, op, value):
                self._augment(target, op, self.value(value, scope), scope)
            case ast.Assert(test):
                self._claim(node, test, scope)
            case ast.FunctionDef():
                scope.set(node.name, self._function(node, scope))
            case ast.ClassDef(name, bases):
                made_from = [self.value(base, scope) for base in bases]
                inner = Scope({}, scope)
                self.statements(node.body, inner)
                kind = Class(name, made_from, inner.names)
                for one in inner.names.values():
                    if isinstance(one, Function):
                        one.of, one.scope = kind, scope
                scope.set(name, kind)
            case ast.Return(value) if scope is self._globals:
                # It stands outside of the function that it was taken from.
                if value is not None:
                    self.show(ast.copy_location(ast.Expr(value), node), value, scope)
            case ast.Return(value):
                raise Returned(None if value is None else self.value(value, scope))
            case ast.If(test, body, orelse):
                self.statements(body if truth(self.value(test, scope)) else orelse, scope)
            case ast.For() | ast.While():
                self._quiet += 1
                start = len(self.telling.events) if self.telling is not None else 0
                try:
                    self._loop(node, scope)
                finally:
                    self._quiet -= 1
                self._sweep(node, scope, start)
            case ast.With(items, body):
                found = None
                for item in items:
                    found = self.value(item.context_expr, scope)
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, found, scope)
                # What nobody knows may set a device, and give back the state that was before.
                for part in (body, ()):
                    if isinstance(found, Unknown):
                        self._unsure()
                    self.statements(part, scope)
            case ast.Try():
                losses = self._losses
                self.statements([*node.body, *node.orelse], scope)
                if self._losses > losses:
                    # Something went otherwise, maybe.
                    self._lose(node, scope)
                    self._sweep(node, scope)
                self.statements(node.finalbody, scope)
            case ast.Import(names):
                for alias in names:
                    path = alias.name if alias.asname else alias.name.partition(".")[0]
                    scope.set(alias.asname or path, Module(path))
            case ast.ImportFrom(module, names):
                for alias in names:
                    scope.set(alias.asname or alias.name, Module(f"{module}.{alias.name}"))
            case ast.Break():
                raise Broken
            case ast.Continue():
                raise Continued
            case ast.Global(names) | ast.Nonlocal(names):
                scope.shared.update(names)
            case ast.Pass():
                pass
            case _:
                raise Lost

    def _loop(self, node: ast.For | ast.While, scope: Scope) -> None:
        match node:
            case ast.For(target, of, body):
                for item in self.items(self.value(of, scope)):
                    charge(1)
                    self.assign(target, item, scope)
                    if self._is_left(body, scope):
                        return
            case ast.While(test, body):
                while truth(self.value(test, scope)):
                    charge(1)
                    if self._is_left(body, scope):
                        return
        self.statements(node.orelse, scope)

    def _is_left(self, body: Sequence[ast.stmt], scope: Scope) -> bool:
        """Run one turn of a loop; return whether it is the last."""
        try:
            self.statements(body, scope)
        except Broken:
            return True
        except Continued:
            return False
        return False

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Give a value to a name, an entry, an attribute, or its parts to several."""
        match target:
            case ast.Name(name):
                scope.set(name, value)
            case ast.Tuple(parts) | ast.List(parts):
                self._unpack(parts, value, scope)
            case ast.Attribute(of, name):
                owner = self.value(of, scope)
                if isinstance(owner, Thing):
                    owner.attributes[name] = value
                elif isinstance(owner, Array) and name == "data":
                    owner.set(..., value)
                else:
                    raise Lost
            case ast.Subscript(of, key):
                owner = self.value(of, scope)
                if isinstance(owner, Array | Unknown):
                    self._set(target, owner, value, scope)
                elif isinstance(owner, list | dict):
                    owner[key_of(self.value(key, scope))] = value
                else:
                    raise Lost
            case _:
                raise Lost

    def _set(self, target: ast.Subscript, owner: Array | Unknown, value: Any, scope: Scope) -> None:
        """Set entries of an array: one, or a row, of one that is being filled; all that a mask
        names, which gives all of it anew."""
        hidden = mask = None
        if isinstance(target.slice, ast.Slice | ast.Tuple):
            keys = self._keys(target.slice, scope)
        else:
            mask = self.value(target.slice, scope)
            keys = self._place(mask)
        if self.telling is not None:
            formulas = self._formulas
            hidden = formulas.formula(lambda: formulas.hidden(owner, keys, mask, value))
        places = keys if isinstance(keys, tuple) else (keys,)
        is_entry = all(isinstance(one, int) and not isinstance(one, bool) for one in places)
        if isinstance(owner, Unknown):
            if self.telling is not None and is_entry and self.telling.is_free(owner):
                at = At(self._node, self._source, scope)
                self.telling.entry(at, target, owner, keys, value)
                return
            lose(owner)
            if hidden is None or not isinstance(target.value, ast.Name):
                return
            scope.set(target.value.id, with_formula(Unknown(), hidden))
            return
        if self.telling is not None:
            value = self._formulas.spread(value, np.shape(owner.data[keys]))
        owner.set(keys, NOBODY_KNOWS if isinstance(value, Unknown) else value)
        if hidden is not None and isinstance(target.value, ast.Name):
            scope.set(target.value.id, with_formula(owner, hidden))

    def _unpack(self, parts: Sequence[ast.expr], value: Any, scope: Scope) -> None:
        if isinstance(value, Unknown):
            raise Lost
        items = [*self.items(value)]
        starred = [k for k, part in enumerate(parts) if isinstance(part, ast.Starred)]
        if starred:
            k, more = starred[0], len(items) - len(parts) + 1
            items[k : k + more] = [items[k : k + more]]
        for part, item in zip(parts, items, strict=True):
            self.assign(part.value if isinstance(part, ast.Starred) else part, item, scope)

    def _augment(self, target: ast.expr, op: ast.operator, value: Any, scope: Scope) -> None:
        before = self.value(_loaded(target), scope)
        after = self._combined(op, before, value)
        if isinstance(target, ast.Subscript) and isinstance(self.value(target.value, scope), Array):
            self.assign(target, after, scope)
        elif isinstance(before, Array):
            # It changes for all that share it.
            before.set(..., NOBODY_KNOWS if isinstance(after, Unknown) else after)
            if isinstance(target, ast.Name):
                formula = after.formula if isinstance(after, Array) else None
                scope.set(target.id, before if formula is None else with_formula(before, formula))
        elif isinstance(before, list) and isinstance(op, ast.Add):
            before.extend(self.items(value))
        else:
            if isinstance(before, Unknown):
                lose(before)
            self.assign(target, after, scope)

    # -- what is shown -------------------------------------------------------------------

    def show(self, node: ast.stmt, value: ast.expr, scope: Scope) -> None:
        """Run an expression that stands by itself."""
        match value:
            case ast.Call(func=ast.Name("print" | "pprint" | "display"), args=given):
                self._print(node, given, value.keywords, scope)
            case ast.Constant(EllipsisType()):
                # Something is left out.
                self._unsure()
            case ast.Constant():
                pass
            case _ if self.telling is not None and self._is_claimed(value):
                self._claim(node, value, scope)
            case ast.Call(func=ast.Attribute(ast.Name(name), method)) if (
                self.telling is not None
                and method.endswith("_")
                and isinstance(scope.names.get(name, Unknown()), Array | Unknown)
                and not method.endswith("__")
                and not isinstance(self._name(name, scope), Module)
            ):
                # It changes what it is a method of.
                before = self._name(name, scope)
                found = self.value(value, scope)
                if isinstance(found, Array | Unknown) and found.formula is not before.formula:
                    scope.set(name, found)
                lose(before) if isinstance(before, Unknown) else None
            case ast.Call(func=ast.Name(name)) if not self._is_given(name, scope) and (
                self.telling is None or name not in LIBRARY
            ):
                # It is no function that is known by its name: it is called for what it does.
                if not is_still(name):
                    self._unsure()
                self.call(Unknown(), [*self._items(value.args, scope)], {}, name)
            case _:
                self._effect = value
                found = self.value(value, scope)
                self._mention(node, value, found, scope)
                if isinstance(found, Unknown) and found.formula is None:
                    lose(found)
                if found is not None and scope is self._globals:
                    self._tell(node, [*tokens(found, value)], "valued")

    @staticmethod
    def _is_claimed(test: ast.expr) -> bool:
        match test:
            case ast.Compare(ops=[ast.Eq()]):
                return True
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=[_, _, *_]):
                return "close" in name
        return False

    def _claim(self, node: ast.stmt, test: ast.expr, scope: Scope) -> None:
        """``a == b`` and ``np.allclose(a, b)`` as the claims that they are."""
        if self.telling is None or not self._is_claimed(test):
            return
        match test:
            case ast.Compare(left, _, [right]) | ast.Call(args=[left, right, *_]):
                sides = [left, right]
        values: list[Any] = []
        for side in sides:
            try:
                values.append(self.value(side, scope))
            except Exhausted:
                raise
            except Exception:
                values.append(Unknown())
        at, is_close = At(node, self._source, scope), isinstance(test, ast.Call)
        self.telling.claimed([*zip(sides, values, strict=True)], is_close, at)

    def _mention(self, node: ast.stmt, value: ast.expr, found: Any, scope: Scope) -> None:
        """Tell what an expression that stands by itself shows."""
        if self.telling is None:
            return
        inner = value
        while (deeper := bare(inner)) is not inner:
            inner = deeper
        if isinstance(inner, ast.Tuple) and isinstance(found, tuple):
            shown = [*zip(inner.elts, found, strict=True)]
        elif is_quantity(found) or isinstance(found, tuple):
            shown = [(value, found)]
        else:
            return
        at = At(node, self._source, scope)
        pieces = [one for part, each_ in shown for one in self.telling.shown(each_, part, at)]
        # A call that gives nothing back shows nothing, though it may print.
        if not (isinstance(value, ast.Call) and all(_is_opaque(one) for one in pieces)):
            self.telling.note(at, pieces)

    def _print(
        self,
        node: ast.stmt,
        given: Sequence[ast.expr],
        options: Sequence[ast.keyword],
        scope: Scope,
    ) -> None:
        settings = {option.arg: self.value(option.value, scope) for option in options}
        if "file" in settings:
            # It is printed elsewhere.
            return
        end = settings.get("end", "\n")
        ends = isinstance(end, str) and "\n" in end
        line = self._line
        pieces: list[Words | Chain] = []
        at = At(self._node, self._source, scope)
        for one in given:
            parts = [one]
            values = [self.value(one.value if isinstance(one, ast.Starred) else one, scope)]
            if isinstance(one, ast.Starred) and not isinstance(values[0], Unknown):
                values = [*self.items(values[0])]
                parts = [one.value] * len(values)
            for part, value in zip(parts, values, strict=True):
                line.extend(tokens(value, bare(part)))
            if self.telling is not None:
                for part, value in zip(parts, values, strict=True):
                    pieces += self.telling.shown(value, part, at)
        if self.telling is not None:
            self.telling.note(at, pieces)
        if ends:
            self._tell(self._node, line, "printed")
            line.clear()

    def _tell(self, node: ast.stmt, line: Sequence[Part], how: How) -> None:
        if line and len(line) <= _FIGURES:
            self.shown.append(Shown(node, self._piece, tuple(line), how))

    def _compute(self, node: ast.stmt, target: ast.expr, value: Any) -> None:
        """A value that a comment behind its statement may say."""
        is_shown = isinstance(value, Array | int | arb | list | tuple)
        if isinstance(target, ast.Name) and is_shown and not self._depth:
            self._tell(node, [*tokens(value, target)], "named")


def _loaded(target: ast.expr) -> ast.expr:
    """A target as the value that it has before."""
    match target:
        case ast.Name(name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value, name):
            return ast.copy_location(ast.Attribute(value, name, ast.Load()), target)
        case ast.Subscript(value, key):
            return ast.copy_location(ast.Subscript(value, key, ast.Load()), target)
    raise Lost


def _is_opaque(piece: Any) -> bool:
    return isinstance(piece, Chain) and isinstance(piece.members[0], Opaque)


def _is_change(part: ast.AST) -> bool:
    """Return whether it changes something in its place."""
    match part:
        case ast.AugAssign() | ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            return True
        case ast.Call(func=ast.Attribute(_, name)):
            return CHANGING.fullmatch(name) is not None
    return False
