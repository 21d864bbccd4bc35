"""Programs run statement by statement, and what they show.

A statement that needs to know what nobody knows is lost: what it may have assigned or changed is
unknown from then on, and the program goes on behind it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running import library, own
from symattn.documents.running.library import LIBRARY, Pair, call, run_layer
from symattn.documents.running.numbers import (
    NOBODY_KNOWS,
    OPERATORS,
    Array,
    Lost,
    Thing,
    Unknown,
    array,
    ball,
    each,
    is_unknown,
    lose,
    made,
    near,
    number,
    product,
    small,
    truth,
    whole,
)
from symattn.documents.running.own import key_of
from symattn.documents.running.texts import (
    How,
    Said,
    Shown,
    Slot,
    bare,
    filled,
    formatted,
    joined,
    tokens,
)
from symattn.numbers.balls import Exhausted, charge

# -- what names mean ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Module:
    """A module, or a name in one."""

    path: str

    @property
    def name(self) -> str:
        """Return its last name."""
        return self.path.rsplit(".", 1)[-1]


@dataclass(eq=False)
class _Scope:
    names: dict[str, Any]
    around: _Scope | None = None
    shared: set[str] = field(default_factory=set)

    def find(self, name: str) -> Any:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.around
        raise KeyError(name)

    def set(self, name: str, value: Any) -> None:
        scope = self
        if name in self.shared:
            while scope.around is not None and name not in scope.around.names:
                scope = scope.around
            scope = scope.around or scope
        scope.names[name] = value


@dataclass(eq=False)
class _Function:
    node: ast.FunctionDef | ast.Lambda
    scope: _Scope
    defaults: Mapping[str, Any]
    of: _Class | None = None
    is_property: bool = False


@dataclass(eq=False)
class _Class:
    name: str
    bases: Sequence[Any]
    names: dict[str, Any]

    def find(self, name: str) -> Any:
        """A name of the class, or of one that it is made from."""
        if name in self.names:
            return self.names[name]
        for base in self.bases:
            if isinstance(base, _Class):
                with suppress(KeyError):
                    return base.find(name)
        raise KeyError(name)


@dataclass(frozen=True)
class _Super:
    of: _Class
    thing: Thing


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Broken(Exception):
    pass


class _Continued(Exception):
    pass


#: Libraries whose functions are known, and others, which change nothing.
_KNOWN = re.compile(r"(?:numpy|torch|math|jax|tensorflow|scipy|cupy|cmath)\b")
_HARMLESS = re.compile(
    r"(?:matplotlib|seaborn|pandas|sklearn|time|sys|os|typing|IPython|plotly|tqdm|warnings|copy"
    r"|collections|itertools|functools|dataclasses|transformers)\b"
)
#: What authors call libraries, also without importing them.
_USUAL = {
    "np": "numpy", "numpy": "numpy", "torch": "torch", "nn": "torch.nn", "math": "math",
    "F": "torch.nn.functional", "jnp": "jax.numpy", "jax": "jax", "tf": "tensorflow",
    "plt": "matplotlib.pyplot", "sns": "seaborn", "random": "random",
}  # fmt: skip
_CONSTANTS = {
    "pi": arb.pi, "e": lambda: arb(1).exp(), "inf": lambda: arb("inf"), "nan": lambda: NOBODY_KNOWS,
    "newaxis": lambda: None, "Inf": lambda: arb("inf"),
}  # fmt: skip
#: Functions call each other no deeper, and no line shows more numbers.
_DEEPEST, _FIGURES = 24, 400
_RANDOM = re.compile(r"\brandom\b")
_SEED = ("numpy.random.seed", "numpy.random.RandomState")
#: Functions that draw numbers: how many arguments stand before the sizes.
_DRAWS = {
    **dict.fromkeys(("rand", "randn", "random", "random_sample", "standard_normal"), 0),
    **dict.fromkeys(("normal", "uniform", "randint"), 2),
}


@dataclass(eq=False)
class Machine:
    """Runs the pieces of a program one after the other.

    ``known`` are random arrays, by their births, that were printed later.
    """

    known: Mapping[int, np.ndarray[Any, Any]] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)
    #: Whether all names that it uses have been given a meaning, and its numbers may be rounded.
    is_whole: bool = True
    is_rounded: bool = False
    _piece: int = 0
    _node: ast.stmt = field(default_factory=ast.Pass)
    _globals: _Scope = field(default_factory=lambda: _Scope({"__name__": "__main__"}))
    _line: list[str | Slot | None] = field(default_factory=list)
    _births: int = 0
    _depth: int = 0
    _is_evaluated: bool = False
    _random: np.random.RandomState | None = None

    def run(self, body: Iterable[ast.stmt], piece: int) -> None:
        """Run the statements of a piece, of that number."""
        self._piece = piece
        with suppress(Lost, _Returned, _Broken, _Continued):
            self.statements(body, self._globals)

    def forget(self, names: Iterable[str]) -> None:
        """Forget what names mean that something unread has assigned to."""
        for name in names:
            self._globals.names[name] = Unknown()

    # -- statements ----------------------------------------------------------------------

    def statements(self, body: Iterable[ast.stmt], scope: _Scope) -> None:
        """Run statements one after the other."""
        for node in body:
            charge(1)
            self._node = node if scope is self._globals else self._node
            try:
                self.statement(node, scope)
            except (_Returned, _Broken, _Continued, Exhausted):
                raise
            except Exception:
                if any(isinstance(part, ast.Call) for part in ast.walk(node)):
                    self._unknown_lines()
                self._lose(node, scope)
                if any(
                    isinstance(part, ast.Return | ast.Break | ast.Continue)
                    for part in ast.walk(node)
                ) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
                    raise Lost from None

    def _unknown_lines(self) -> None:
        """Nobody knows what else is printed here."""
        self._line.clear()
        self.shown.append(Shown(self._node, self._piece, (None,), "printed"))

    def _lose(self, node: ast.stmt, scope: _Scope) -> None:
        """Forget what a statement may have assigned or changed; what it assigns may change what it
        names from then on, as an optimizer does."""
        known: list[Any] = []
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                with suppress(KeyError):
                    known.append(scope.find(part.id))
        for part in ast.walk(node):
            changed: Sequence[ast.expr] = ()
            match part:
                case ast.Name(name, ast.Store() | ast.Del()):
                    scope.set(name, Unknown(known))
                case ast.FunctionDef(name) | ast.ClassDef(name):
                    scope.set(name, Unknown())
                case ast.Attribute(of, _, ast.Store()) | ast.Subscript(of, _, ast.Store()):
                    changed = [of]
                case ast.Call(func=ast.Attribute(of), args=given):
                    is_alone = isinstance(node, ast.Expr) and node.value is part
                    changed = [of, *given] if is_alone else [of]
                case ast.Call(args=given):
                    changed = given
            for one in changed:
                with suppress(KeyError):
                    self._spoil(scope.find(_root(one)))

    @staticmethod
    def _spoil(value: Any) -> None:
        if isinstance(value, Array | list | dict | Thing | Unknown):
            lose(value)

    def statement(self, node: ast.stmt, scope: _Scope) -> None:
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
            case ast.FunctionDef():
                scope.set(node.name, self._function(node, scope))
            case ast.ClassDef(name, bases):
                made_from = [self.value(base, scope) for base in bases]
                inner = _Scope({}, scope)
                self.statements(node.body, inner)
                kind = _Class(name, made_from, inner.names)
                for one in inner.names.values():
                    if isinstance(one, _Function):
                        one.of, one.scope = kind, scope
                scope.set(name, kind)
            case ast.Return(value):
                raise _Returned(None if value is None else self.value(value, scope))
            case ast.If(test, body, orelse):
                self.statements(body if truth(self.value(test, scope)) else orelse, scope)
            case ast.For(target, of, body):
                for item in self.items(self.value(of, scope)):
                    charge(1)
                    self.assign(target, item, scope)
                    if self._is_left(body, scope):
                        return
                self.statements(node.orelse, scope)
            case ast.While(test, body):
                while truth(self.value(test, scope)):
                    charge(1)
                    if self._is_left(body, scope):
                        return
            case ast.With(items, body):
                for item in items:
                    found = self.value(item.context_expr, scope)
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, found, scope)
                self.statements(body, scope)
            case ast.Try():
                self.statements([*node.body, *node.orelse, *node.finalbody], scope)
            case ast.Import(names):
                for alias in names:
                    path = alias.name if alias.asname else alias.name.partition(".")[0]
                    scope.set(alias.asname or path, _Module(path))
            case ast.ImportFrom(module, names):
                for alias in names:
                    scope.set(alias.asname or alias.name, _Module(f"{module}.{alias.name}"))
            case ast.Break():
                raise _Broken
            case ast.Continue():
                raise _Continued
            case ast.Global(names) | ast.Nonlocal(names):
                scope.shared.update(names)
            case ast.Pass() | ast.Assert() | ast.Delete():
                pass
            case _:
                raise Lost

    def _is_left(self, body: Sequence[ast.stmt], scope: _Scope) -> bool:
        """Run one turn of a loop; return whether it is the last."""
        try:
            self.statements(body, scope)
        except _Broken:
            return True
        except _Continued:
            return False
        return False

    def assign(self, target: ast.expr, value: Any, scope: _Scope) -> None:
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
                if isinstance(owner, Array):
                    owner.set(self._keys(key, scope), value)
                elif isinstance(owner, list | dict):
                    owner[key_of(self.value(key, scope))] = value
                else:
                    raise Lost
            case _:
                raise Lost

    def _unpack(self, parts: Sequence[ast.expr], value: Any, scope: _Scope) -> None:
        items = [*self.items(value)]
        starred = [k for k, part in enumerate(parts) if isinstance(part, ast.Starred)]
        if starred:
            k, more = starred[0], len(items) - len(parts) + 1
            items[k : k + more] = [items[k : k + more]]
        for part, item in zip(parts, items, strict=True):
            self.assign(part.value if isinstance(part, ast.Starred) else part, item, scope)

    def _augment(self, target: ast.expr, op: ast.operator, value: Any, scope: _Scope) -> None:
        before = self.value(_loaded(target), scope)
        after = self.binary(op, before, value)
        if isinstance(before, Array):
            # It changes for all that share it.
            before.set(..., NOBODY_KNOWS if isinstance(after, Unknown) else after)
        elif isinstance(before, list) and isinstance(op, ast.Add):
            before.extend(self.items(value))
        else:
            self.assign(target, after, scope)

    # -- what is shown -------------------------------------------------------------------

    def show(self, node: ast.stmt, value: ast.expr, scope: _Scope) -> None:
        """Run an expression that stands by itself."""
        match value:
            case ast.Call(func=ast.Name("print" | "pprint" | "display"), args=given):
                self._print(node, given, value.keywords, scope)
            case ast.Constant():
                pass
            case ast.Call(func=ast.Name(name)) if not self._is_given(name, scope):
                # It is no function that is known by its name: it is called for what it does.
                self.call(Unknown(), [*self._items(value.args, scope)], {})
            case _:
                found = self.value(value, scope)
                if isinstance(found, Unknown):
                    lose(found)
                if found is not None and scope is self._globals:
                    self._tell(node, [*tokens(found, value)], "valued")

    def _print(
        self,
        node: ast.stmt,
        given: Sequence[ast.expr],
        options: Sequence[ast.keyword],
        scope: _Scope,
    ) -> None:
        told = {option.arg: self.value(option.value, scope) for option in options}
        if "file" in told:
            # It is printed elsewhere.
            return
        end = told.get("end", "\n")
        ends = isinstance(end, str) and "\n" in end
        line = self._line
        for one in given:
            parts = [one]
            values = [self.value(one.value if isinstance(one, ast.Starred) else one, scope)]
            if isinstance(one, ast.Starred):
                values = [*self.items(values[0])]
                parts = [one.value] * len(values)
            for part, value in zip(parts, values, strict=True):
                line.extend(tokens(value, bare(part)))
        if ends:
            self._tell(self._node, line, "printed")
            line.clear()

    def _tell(self, node: ast.stmt, line: Sequence[str | Slot | None], how: How) -> None:
        if line and len(line) <= _FIGURES:
            self.shown.append(Shown(node, self._piece, tuple(line), how))

    def _compute(self, node: ast.stmt, target: ast.expr, value: Any) -> None:
        """A value that a comment behind its statement may say."""
        is_shown = isinstance(value, Array | int | arb | list | tuple)
        if isinstance(target, ast.Name) and is_shown and not self._depth:
            self._tell(node, [*tokens(value, target)], "named")

    # -- expressions ---------------------------------------------------------------------

    def value(self, node: ast.expr, scope: _Scope) -> Any:
        """Return the value of an expression; :class:`Unknown` of one that isn't known."""
        charge(1)
        match node:
            case ast.Constant(bool() | None | str() | int() as value):
                return value
            case ast.Constant(float() as value):
                return near(str(value)) if self.is_rounded else number(value)
            case ast.Name(name):
                return self._name(name, scope)
            case ast.List(parts):
                return [*self._items(parts, scope)]
            case ast.Tuple(parts):
                return (*self._items(parts, scope),)
            case ast.Set(parts):
                return {key_of(one) for one in self._items(parts, scope)}
            case ast.Dict(keys, values):
                pairs = zip(keys, values, strict=True)
                table: dict[Any, Any] = {}
                for key, value in pairs:
                    if key is None:
                        raise Lost
                    table[key_of(self.value(key, scope))] = self.value(value, scope)
                return table
            case ast.BinOp(left, op, right):
                return self.binary(op, self.value(left, scope), self.value(right, scope))
            case ast.UnaryOp(op, operand):
                return self._unary(op, self.value(operand, scope))
            case ast.BoolOp(op, parts):
                last: Any = None
                for part in parts:
                    last = self.value(part, scope)
                    if truth(last) is isinstance(op, ast.Or):
                        break
                return last
            case ast.Compare(left, ops, rights):
                return self._compare(left, ops, rights, scope)
            case ast.IfExp(test, body, orelse):
                return self.value(body if truth(self.value(test, scope)) else orelse, scope)
            case ast.Call():
                return self._call(node, scope)
            case ast.Attribute(of, name):
                return self._attribute(self.value(of, scope), name)
            case ast.Subscript(of, key):
                return self._entry(self.value(of, scope), key, scope)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                found = [
                    self.value(node.elt, inner) for inner in self._turns(node.generators, scope)
                ]
                return {key_of(one) for one in found} if isinstance(node, ast.SetComp) else found
            case ast.DictComp(key, value):
                return {
                    key_of(self.value(key, inner)): self.value(value, inner)
                    for inner in self._turns(node.generators, scope)
                }
            case ast.Lambda():
                return self._function(node, scope)
            case ast.JoinedStr(parts):
                return joined([*(self.value(part, scope) for part in parts)])
            case ast.FormattedValue(value, _, spec):
                form = "" if spec is None else self.value(spec, scope)
                return formatted(self.value(value, scope), form, bare(value))
            case ast.NamedExpr(target, value):
                self.assign(target, found := self.value(value, scope), scope)
                return found
        raise Lost

    def _name(self, name: str, scope: _Scope) -> Any:
        try:
            return scope.find(name)
        except KeyError:
            if name in _USUAL:
                return _Module(_USUAL[name])
            if name in own.CALLS:
                return _Module(f"builtins.{name}")
            if name in LIBRARY:
                # What everybody knows by its name needs no definition.
                return _Module(f"numpy.{name}")
            self.is_whole = False
            return Unknown()

    @staticmethod
    def _is_given(name: str, scope: _Scope) -> bool:
        with suppress(KeyError):
            scope.find(name)
            return True
        return name in own.CALLS

    def _items(self, parts: Sequence[ast.expr], scope: _Scope) -> Iterator[Any]:
        for part in parts:
            if isinstance(part, ast.Starred):
                yield from self.items(self.value(part.value, scope))
            else:
                yield self.value(part, scope)

    def items(self, value: Any) -> Iterable[Any]:
        """Yield what a loop goes through; raises :class:`Lost` where that isn't known."""
        match value:
            case Array():
                return [made(one, value) for one in value.data]
            # In which order a set is gone through nobody knows.
            case list() | tuple() | str() | range():
                charge(len(value))
                return [*value]
            case dict():
                return [*value]
            case Thing("Sequential"):
                return [*value.attributes["layers"]]
        raise Lost

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        """Return what a sign makes of two values."""
        name = type(op).__name__
        match left, right:
            case (Unknown(), _) | (_, Unknown()):
                return Unknown()
            case (str() | Said(), str() | Said()) if name == "Add":
                return joined([left, right])
            case (str(), _) if name == "Mod":
                return filled(left, right if isinstance(right, tuple) else (right,))
            case (str(), int()) | (int(), str()) | (list() | tuple(), int()) | (int(), list()) if (
                name == "Mult"
            ):
                times, what = (left, right) if isinstance(left, int) else (right, left)
                if times * len(what) > own.LONGEST:
                    raise Lost
                charge(times * len(what))
                return what * times
            case (list(), list()) | (tuple(), tuple()) if name == "Add":
                if len(left) + len(right) > own.LONGEST:
                    raise Lost
                charge(len(left) + len(right))
                return left + right
        if name == "MatMult":
            return product(array(left), array(right))
        left, right = (_as_numbers(left, right), _as_numbers(right, left))
        return each(OPERATORS[name], left, right)

    def _unary(self, op: ast.unaryop, value: Any) -> Any:
        if isinstance(value, Unknown):
            return value
        match op:
            case ast.Not():
                return not truth(value)
            case ast.USub():
                return each(operator.neg, value)
            case ast.UAdd():
                return value
        if isinstance(value, int) and not isinstance(value, bool):
            return ~value
        return each(lambda one: one if is_unknown(one) else not truth(one), value)

    def _compare(
        self, left: ast.expr, ops: Sequence[ast.cmpop], rights: Sequence[ast.expr], scope: _Scope
    ) -> Any:
        found: Any = True
        before = self.value(left, scope)
        for op, right in zip(ops, rights, strict=True):
            after = self.value(right, scope)
            found = self._compared(op, before, after)
            if len(ops) > 1 and not truth(found):
                return False
            before = after
        return found

    @staticmethod
    def _compared(op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            if isinstance(left, Unknown) or isinstance(right, Unknown):
                raise Lost
            return (left is right) is isinstance(op, ast.Is)
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return Unknown()
        if isinstance(op, ast.In | ast.NotIn):
            return (key_of(left) in right) is isinstance(op, ast.In)
        if isinstance(left, Array | arb | int) and isinstance(right, Array | arb | int):
            return each(OPERATORS[type(op).__name__], left, right)
        if isinstance(op, ast.Eq | ast.NotEq) and all(
            isinstance(one, str | None) for one in (left, right)
        ):
            return (left == right) is isinstance(op, ast.Eq)
        raise Lost

    def _turns(self, loops: Sequence[ast.comprehension], scope: _Scope) -> Iterator[_Scope]:
        if not loops:
            yield scope
            return
        first, *rest = loops
        inner = _Scope({}, scope)
        for item in self.items(self.value(first.iter, scope)):
            charge(1)
            self.assign(first.target, item, inner)
            if all(truth(self.value(test, inner)) for test in first.ifs):
                yield from self._turns(rest, inner)

    # -- entries and attributes ------------------------------------------------------------

    def _entry(self, owner: Any, key: ast.expr, scope: _Scope) -> Any:
        match owner:
            case Unknown():
                return owner
            case Array():
                return made(owner.data[self._keys(key, scope)], owner)
            case _Module():
                return owner
        place = (
            self.value(key, scope) if not isinstance(key, ast.Slice) else self._slice(key, scope)
        )
        if isinstance(owner, list | tuple | str | dict | range):
            return owner[key_of(place)] if not isinstance(place, slice) else owner[place]
        if isinstance(owner, Thing) and owner.kind == "Sequential":
            return owner.attributes["layers"][whole(place)]
        raise Lost

    def _slice(self, key: ast.Slice, scope: _Scope) -> slice:
        def bound(part: ast.expr | None) -> int | None:
            found = None if part is None else self.value(part, scope)
            return None if found is None else whole(found)

        return slice(bound(key.lower), bound(key.upper), bound(key.step))

    def _keys(self, key: ast.expr, scope: _Scope) -> Any:
        if isinstance(key, ast.Tuple):
            return tuple(self._keys(part, scope) for part in key.elts)
        if isinstance(key, ast.Slice):
            return self._slice(key, scope)
        found = self.value(key, scope)
        match found:
            case None | slice():
                return found
            case bool() | int() | arb():
                return whole(found)
            case tuple():
                return tuple(map(whole, found))
            case Array() | list():
                entries = array(found).data
                if all(isinstance(one, bool) for one in entries.flat):
                    return entries.astype(bool)
                return np.array([whole(one) for one in entries.flat], dtype=int).reshape(
                    entries.shape
                )
        if found is ...:
            return found
        raise Lost

    def _attribute(self, owner: Any, name: str) -> Any:
        match owner:
            case Unknown():
                return Unknown(owner.holds)
            case _Module():
                if name in _CONSTANTS and _KNOWN.match(owner.path):
                    constant: Any = _CONSTANTS[name]
                    return constant()
                return _Module(f"{owner.path}.{name}")
            case Array():
                if name in ("grad", "dtype", "device"):
                    return Unknown()
                return library.attribute(owner, name)
            case int() | arb():
                if name in ("item", "tolist", "numpy", "detach"):
                    return lambda *_: owner
                data = np.empty((), dtype=object)
                data[()] = owner
                return self._attribute(Array(data), name)
            case Pair() if name in ("values", "indices"):
                return getattr(owner, name)
            case Thing():
                return self._of_thing(owner, name)
            case _Class():
                return owner.find(name)
            case _Super():
                for base in owner.of.bases:
                    if isinstance(base, _Class):
                        with suppress(KeyError):
                            return self._bound(owner.thing, base.find(name))
                return lambda *_, **__: None
        if name in own.METHODS.get(type(owner), ()):
            return own.method(owner, name)
        if isinstance(owner, str) and name == "format":
            return lambda *given, **keys: filled(owner, given, keys)
        if isinstance(owner, Said) and name in ("ljust", "rjust", "center", "strip"):
            return lambda *_: owner
        raise Lost

    def _of_thing(self, thing: Thing, name: str) -> Any:
        if name in thing.attributes:
            return thing.attributes[name]
        if isinstance(thing.kind, _Class):
            with suppress(KeyError):
                return self._bound(thing, thing.kind.find(name))
        if name in ("eval", "train", "to", "cpu", "cuda", "requires_grad_", "float", "double"):
            self._is_evaluated = (self._is_evaluated or name == "eval") and name != "train"
            return lambda *_, **__: thing
        if name == "register_buffer":
            return lambda key, value, *_, **__: thing.attributes.__setitem__(key, value)
        return Unknown((thing,))

    def _bound(self, thing: Thing, found: Any) -> Any:
        if not isinstance(found, _Function):
            return found
        if found.is_property:
            return self.call(found, [thing], {})
        return lambda *given, **keys: self.call(found, [thing, *given], keys)

    # -- calls ---------------------------------------------------------------------------

    def _function(self, node: ast.FunctionDef | ast.Lambda, scope: _Scope) -> Any:
        takes = node.args
        named = [*takes.posonlyargs, *takes.args]
        late = named[len(named) - len(takes.defaults) :]
        pairs: list[tuple[ast.arg, ast.expr | None]] = [*zip(late, takes.defaults, strict=True)]
        pairs += zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
        given = [(one.arg, value) for one, value in pairs if value is not None]
        defaults = {name: self.value(value, scope) for name, value in given}
        marks = [_root(one) for one in getattr(node, "decorator_list", ())]
        if set(marks) - {"property", "staticmethod", "torch"}:
            return Unknown()
        return _Function(node, scope, defaults, is_property="property" in marks)

    def _call(self, node: ast.Call, scope: _Scope) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            thing = scope.find("self")
            return _Super(scope.find("__class__"), thing)
        function = self.value(node.func, scope)
        given = [*self._items(node.args, scope)]
        keys: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                keys[keyword.arg] = value
            elif isinstance(value, dict):
                keys |= value
            else:
                raise Lost
        if isinstance(function, _Module) and function.path == "builtins.print":
            return None
        return self.call(function, given, keys)

    def call(self, function: Any, given: Sequence[Any], keys: Mapping[str, Any]) -> Any:
        """Return what a function gives; what it may have changed, without being known, is lost."""
        match function:
            case _Function():
                return self._run(function, given, keys)
            case _Class():
                thing = Thing(function)
                with suppress(KeyError):
                    begin = function.find("__init__")
                    self._run(begin, [thing, *given], keys)
                return thing
            case Thing(kind=_Class() as kind):
                for name in ("__call__", "forward", "call"):
                    with suppress(KeyError):
                        return self._run(kind.find(name), [function, *given], keys)
            case Thing(kind="Dropout") if self._is_evaluated:
                return given[0]
            case Thing():
                return run_layer(function, given, lambda one, some: self.call(one, some, {}))
            case _Module():
                return self._of_library(function, given, keys)
            case Unknown():
                lose(function)
                self._unknown_lines()
                for one in (*given, *keys.values()):
                    self._spoil(one)
                return Unknown((*given, *keys.values()))
        if callable(function):
            return function(*given, **keys)
        raise Lost

    def _run(self, function: _Function, given: Sequence[Any], keys: Mapping[str, Any]) -> Any:
        takes = function.node.args
        named = [one.arg for one in (*takes.posonlyargs, *takes.args)]
        bound = dict(function.defaults) | dict(zip(named, given, strict=False))
        extra = {
            k: v for k, v in keys.items() if k not in named + [o.arg for o in takes.kwonlyargs]
        }
        bound |= {k: v for k, v in keys.items() if k not in extra}
        if takes.vararg:
            bound[takes.vararg.arg] = (*given[len(named) :],)
        if takes.kwarg:
            bound[takes.kwarg.arg] = extra
        elif extra:
            raise Lost
        if self._depth > _DEEPEST or not {*named} <= bound.keys():
            raise Lost
        if function.of is not None:
            bound["__class__"] = function.of
        scope = _Scope(bound, function.scope)
        self._depth += 1
        try:
            if isinstance(function.node, ast.Lambda):
                return self.value(function.node.body, scope)
            self.statements(function.node.body, scope)
        except _Returned as returned:
            return returned.value
        except Lost:
            for one in (*given, *keys.values()):
                self._spoil(one)
            return Unknown()
        finally:
            self._depth -= 1
        return None

    def _of_library(self, function: _Module, given: Sequence[Any], keys: Mapping[str, Any]) -> Any:
        path, name = function.path, function.name
        if path.startswith("builtins."):
            return own.CALLS[name](self, *given, **keys)
        if _RANDOM.search(path) or (path.startswith("torch") and name.startswith("rand")):
            return self._drawn(path, name, given, keys)
        if not _KNOWN.match(path):
            if _HARMLESS.match(path):
                return Unknown()
            lose(tuple(given))
            return Unknown((*given, *keys.values()))
        if ".init." in path:
            if name.startswith(("constant", "ones", "zeros")):
                return library.attribute(given[0], name)(*given[1:])
            self._spoil(given[0])
            return given[0]
        if name in ("no_grad", "set_printoptions", "manual_seed", "inference_mode"):
            return None
        if name == "Module":
            raise Lost
        if (path.startswith("torch.nn.") and name[:1].isupper()) or name == "Parameter":
            return library.layer(name, given, keys, lambda shape: self._born(shape, is_torch=True))
        if isinstance(keys.get("out"), Array):
            keys["out"].lose()
        if name not in LIBRARY:
            return Unknown((*given, *keys.values()))
        if any(isinstance(one, Unknown) for one in (*given, *keys.values())):
            return Unknown()
        if (
            path.startswith("scipy")
            and name == "softmax"
            and len(given) == 1
            and "axis" not in keys
        ):
            flat = each(arb.exp, each(ball, given[0]))
            return each(OPERATORS["Div"], flat, library.reduce(flat, "Add"))
        found = call(name, given, keys)
        if isinstance(found, Array) and path.startswith("torch"):
            found.is_torch = True
        return found

    # -- random numbers --------------------------------------------------------------------

    def _drawn(self, path: str, name: str, given: Sequence[Any], keys: Mapping[str, Any]) -> Any:
        """Random numbers: those of NumPy's old generator are known by their seed, which is frozen
        (NEP 19)."""
        if path in _SEED:
            self._random = np.random.RandomState(whole(given[0])) if given else None
            return Unknown()
        is_alike = name in ("rand_like", "randn_like")
        if name not in _DRAWS and not is_alike:
            # What else is drawn changes what comes next, and "shuffle" what it is given.
            self._random = None if path.startswith("numpy") else self._random
            lose(tuple(given))
            return Unknown()
        sizes = array(given[0]).shape if is_alike else given[_DRAWS[name] :]
        told = library.plain(library.spread(sizes) if sizes else keys.get("size", ()))
        shape = (told,) if isinstance(told, int) else told
        small(prod(shape))
        if self._random is None or path != f"numpy.random.{name}":
            return self._born(shape, path.startswith("torch")) if shape else NOBODY_KNOWS
        before = [_plain(one) for one in given[: _DRAWS[name]]]
        before += [_plain(keys[key]) for key in ("low", "high", "loc", "scale") if key in keys]
        draw = getattr(self._random, name)
        found = draw(*shape) if name in ("rand", "randn") else draw(*before, size=shape or None)
        charge(np.size(found))
        each_ = np.frompyfunc(int if name == "randint" else lambda x: number(repr(float(x))), 1, 1)
        return made(np.asarray(each_(found), dtype=object))

    def _born(self, shape: Sequence[Any], is_torch: bool = False) -> Array:
        birth, self._births = self._births, self._births + 1
        known = self.known.get(birth)
        found = library.filled(tuple(shape), NOBODY_KNOWS, is_torch)
        if known is not None and known.size == found.data.size:
            found.data = known.reshape(found.shape).copy()
        found.birth = birth
        return found


# -- Python's own ------------------------------------------------------------------------


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


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


def _plain(value: Any) -> Any:
    """An argument of a generator as a float."""
    return float(value.mid()) if isinstance(value, arb) else library.plain(value)


def _as_numbers(value: Any, beside: Any) -> Any:
    """A list beside an array as one."""
    if isinstance(value, list | tuple) and isinstance(beside, Array):
        return array(value)
    if not isinstance(value, int | arb | Array):
        raise Lost
    return value
