"""Expressions of a program and their values: names, operations, entries, attributes, calls.

Functions of the program itself are run where they are called; random numbers are born unknown,
unless they are of a stream that is sure.
"""

from __future__ import annotations

import ast
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any

import numpy as np
from flint import arb

from symattn.documents.running import library, own
from symattn.documents.running.formulas import Formulas, with_formula
from symattn.documents.running.library import LIBRARY, call, run_layer
from symattn.documents.running.meanings import called
from symattn.documents.running.numbers import (
    NOBODY_KNOWS,
    OPERATORS,
    Array,
    Ball,
    Formula,
    Listed,
    Lost,
    Pair,
    Scope,
    Thing,
    Unknown,
    Whole,
    array,
    ball,
    counted,
    each,
    is_unknown,
    leaves,
    lose,
    made,
    near,
    number,
    product,
    truth,
    whole,
)
from symattn.documents.running.own import key_of
from symattn.documents.running.source import ProgramSource
from symattn.documents.running.streams import DRAWS, SEEDED, Draw, asked, is_still, may_draw
from symattn.documents.running.telling import (
    Telling,
    changed_in,
    is_plain,
    is_softmax,
    printed,
    rooted,
)
from symattn.documents.running.texts import (
    Hidden,
    Part,
    Said,
    Shown,
    bare,
    filled,
    formatted,
    joined,
)
from symattn.expressions import syntax
from symattn.numbers.balls import charge

# -- what names mean ---------------------------------------------------------------------


@dataclass(frozen=True)
class Module:
    """A module, or a name in one."""

    path: str

    @property
    def name(self) -> str:
        """Return its last name."""
        return self.path.rsplit(".", 1)[-1]


@dataclass(eq=False)
class Function:
    """A function of the program, in the piece of that number."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    defaults: Mapping[str, Any]
    piece: int
    of: Class | None = None
    is_property: bool = False


@dataclass(eq=False)
class Class:
    """A class of the program: its bases and its names."""

    name: str
    bases: Sequence[Any]
    names: dict[str, Any]

    def find(self, name: str) -> Any:
        """A name of the class, or of one that it is made from."""
        if name in self.names:
            return self.names[name]
        for base in self.bases:
            if isinstance(base, Class):
                with suppress(KeyError):
                    return base.find(name)
        raise KeyError(name)


@dataclass(frozen=True)
class Super:
    """A thing as one of the bases of a class."""

    of: Class
    thing: Thing


class Returned(Exception):
    """A function gives a value back."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Broken(Exception):
    """A loop ends."""


class Continued(Exception):
    """A turn of a loop ends."""


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
    "scipy": "scipy", "special": "scipy.special", "sp": "scipy", "lax": "jax.lax",
    "linalg": "numpy.linalg", "cp": "cupy", "tensorflow": "tensorflow", "pd": "pandas",
    "functional": "torch.nn.functional", "plt": "matplotlib.pyplot", "sns": "seaborn",
    "random": "random",
}  # fmt: skip
_CONSTANTS = {
    "pi": arb.pi, "e": lambda: arb(1).exp(), "inf": lambda: arb("inf"), "nan": lambda: NOBODY_KNOWS,
    "newaxis": lambda: None, **dict.fromkeys(("Inf", "infty", "Infinity"), lambda: arb("inf")),
}  # fmt: skip
BLANK = ast.Name("_", ast.Load())
#: Functions call each other no deeper.
_DEEPEST = 24
#: So deep are functions told of.
_TOLD = 6
_RANDOM = re.compile(r"\brandom\b")
#: Functions that are called for nothing that they give, and change nothing.
SHOWING = re.compile(
    r"\A(?:plt|sns|ax\w*|fig\w*|px|st|log\w*|warnings|os|sys|time|json|super|exit|input|open)\b"
    r"|plot|show|draw|print|heat_?map|check|assert|test|save|write|visuali[sz]e|summar|info"
    r"|describe|seed|verify|compare|close|report|markdown|latex|html|math|display|help",
    re.I,
)
#: Functions whose arrays are there to be filled.
_BLANKS = frozenset({"zeros", "empty", "zeros_like", "empty_like"})
#: The stream that no version changes, what calls others, and what changes all that PyTorch draws.
_FROZEN = "numpy.random.seed"
_CALLING = {"map", "filter", "sorted", "max", "min"}
_DEFAULTS = {"set_default_device", "set_default_dtype", "set_default_tensor_type"}


@dataclass(eq=False)
class Evaluation(ABC):
    """The evaluation of expressions; ``known`` are random arrays, by their births, that were
    printed later. With a ``telling``, values have their formulas. Streams that are not frozen are
    known only where they ``are_seeded``."""

    telling: Telling | None = None
    known: Mapping[int, np.ndarray[Any, Any]] = field(default_factory=dict)
    are_seeded: bool = False
    #: Whether numbers of a stream were taken for known.
    has_drawn: bool = False
    shown: list[Shown] = field(default_factory=list)
    #: Whether all names that it uses have been given a meaning, and its numbers may be rounded.
    is_whole: bool = True
    is_rounded: bool = False
    pieces: list[ProgramSource] = field(default_factory=list)
    _piece: int = 0
    _node: ast.stmt = field(default_factory=ast.Pass)
    _globals: Scope = field(default_factory=lambda: Scope({"__name__": "__main__"}))
    _line: list[Part] = field(default_factory=list)
    #: In how many loops it is, of which nothing is told, and how many statements were lost.
    _quiet: int = 0
    _losses: int = 0
    #: The call that is made for nothing that it gives.
    _effect: ast.expr | None = None
    _births: int = 0
    _depth: int = 0
    _is_evaluated: bool = False
    #: The generators that libraries have by themselves.
    _generators: dict[str, Thing] = field(default_factory=dict)

    @property
    def _formulas(self) -> Formulas:
        assert self.telling is not None
        return self.telling.formulas

    @property
    def _source(self) -> ProgramSource:
        return self.pieces[self._piece]

    def _noted(self, found: Any, build: Callable[[], syntax.Tree]) -> Any:
        """A value with its formula, where formulas are wanted."""
        return found if self.telling is None else self._formulas.noted(found, build)

    @abstractmethod
    def statements(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        """Run statements one after the other."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Give a value to a name, an entry, an attribute, or its parts to several."""

    def _unknown_lines(self) -> None:
        """Nobody knows what else is printed here."""
        self._line.clear()
        self.shown.append(Shown(self._node, self._piece, (Hidden(BLANK),), "printed"))

    @staticmethod
    def _spoil(value: Any) -> None:
        if isinstance(value, Array | list | dict | Thing | Unknown):
            lose(value)

    # -- expressions ---------------------------------------------------------------------

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """Return the value of an expression; :class:`Unknown` of one that isn't known."""
        charge(1)
        match node:
            case ast.Constant(bool() | None | str() | EllipsisType() as value):
                return value
            case ast.Constant(int() | float() as value):
                return self._constant(node, value)
            case ast.Name(name):
                return self._name(name, scope)
            case ast.List(parts) if self.telling is not None:
                items = [*self._items(parts, scope)]
                return Listed(items, self._source.span(node), self._labels(parts))
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
                return self._combined(op, self.value(left, scope), self.value(right, scope))
            case ast.UnaryOp(op, operand):
                return self._negated(op, operand, node, self.value(operand, scope))
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
            case ast.Attribute(
                ast.Call(func=ast.Attribute(attr="finfo") | ast.Name("finfo")), "min"
            ):
                return arb("-inf")
            case ast.Attribute(of, name):
                return self._part(self.value(of, scope), name)
            case ast.Subscript(of, key):
                return self._entry(self.value(of, scope), key, scope)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                found = self._listed(node, scope)
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

    def _name(self, name: str, scope: Scope, is_called: bool = False) -> Any:
        try:
            return scope.find(name)
        except KeyError:
            if name == "inf":
                return arb("inf")
            if name in _USUAL:
                return Module(_USUAL[name])
            if name in own.CALLS:
                return Module(f"builtins.{name}")
            if name in LIBRARY:
                # What everybody knows by its name needs no definition.
                return Module(f"numpy.{name}")
            self.is_whole = False
            if self.telling is None or is_called:
                return Unknown()
            return self.telling.free(name, self._globals)

    def _constant(self, node: ast.Constant, value: Any) -> Any:
        found: Any = value
        if isinstance(value, float):
            found = near(str(value)) if self.is_rounded else number(value)
        if self.telling is None or not (figures := printed(node, self._source)):
            return found
        return with_formula(found, Formula(figures[0], {}))

    def _labels(self, parts: Sequence[ast.expr]) -> Sequence[str]:
        """The comments behind items, where each has a line of its own."""
        comments, lines = self._source.comments, [part.end_lineno or 0 for part in parts]
        if not len(set(lines)) == len(lines) > 1 or not all(
            isinstance(part, ast.List | ast.Tuple) for part in parts
        ):
            return ()
        labels = [comments[line].string.strip() if line in comments else "" for line in lines]
        return labels if any(labels) else ()

    def _listed(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope
    ) -> list[Any]:
        """The items of a comprehension; what is done to each of an array, done to the array."""
        self._quiet += 1
        try:
            found = [self.value(node.elt, inner) for inner in self._turns(node.generators, scope)]
        finally:
            self._quiet -= 1
        return found if self.telling is None else self._formulas.listed(found)

    def _combined(self, op: ast.operator, left: Any, right: Any) -> Any:
        found = self.binary(op, left, right)
        return self._noted(found, lambda: self._formulas.binary(op, left, right, found))

    def _negated(self, op: ast.unaryop, operand: ast.expr, node: ast.expr, value: Any) -> Any:
        span = self._source.span(node) if isinstance(operand, ast.Constant) else None
        return self._noted(self._unary(op, value), lambda: self._formulas.unary(op, value, span))

    @staticmethod
    def _is_given(name: str, scope: Scope) -> bool:
        with suppress(KeyError):
            scope.find(name)
            return True
        return name in own.CALLS

    def _items(self, parts: Sequence[ast.expr], scope: Scope) -> Iterator[Any]:
        for part in parts:
            if isinstance(part, ast.Starred):
                yield from self.items(self.value(part.value, scope))
            else:
                yield self.value(part, scope)

    def items(self, value: Any) -> Iterable[Any]:
        """Yield what a loop goes through; raises :class:`Lost` where that isn't known."""
        match value:
            case Array():
                items = [made(one, value) for one in value.data]
                return items if self.telling is None else self._formulas.rows(value, items)
            # In which order a set is gone through nobody knows.
            case list() | tuple() | str() | range():
                charge(len(value))
                return [*counted(value)]
            case dict():
                return [*value]
            case Thing("Sequential"):
                return [*value.attributes["layers"]]
        # To go through data may be to shuffle it.
        self._unsure()
        raise Lost

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        """Return what a sign makes of two values."""
        name = type(op).__name__
        match left, right:
            case (str(), _) if name == "Mod":
                return filled(left, right if isinstance(right, tuple) else (right,))
            case (Unknown(), _) | (_, Unknown()):
                return Unknown()
            case (str() | Said(), str() | Said()) if name == "Add":
                return joined([left, right])
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
            return Unknown(value.holds)
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
        self, left: ast.expr, ops: Sequence[ast.cmpop], rights: Sequence[ast.expr], scope: Scope
    ) -> Any:
        found: Any = True
        before = self.value(left, scope)
        for op, right in zip(ops, rights, strict=True):
            after = self.value(right, scope)
            found = self._held(op, before, after)
            if len(ops) > 1 and not truth(found):
                return False
            before = after
        return found

    def _held(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        found = self._compared(op, left, right)
        return self._noted(found, lambda: self._formulas.compared(op, left, right, found))

    @staticmethod
    def _compared(op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            if any(isinstance(one, Unknown) and one.formula is None for one in (left, right)):
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

    def _turns(self, loops: Sequence[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        if not loops:
            yield scope
            return
        first, *rest = loops
        inner = Scope({}, scope)
        over = self.value(first.iter, scope)
        items = self.items(over)
        if self.telling is not None and isinstance(over, list):
            items = self._formulas.singles(over)
        for item in items:
            charge(1)
            self.assign(first.target, item, inner)
            if all(truth(self.value(test, inner)) for test in first.ifs):
                yield from self._turns(rest, inner)

    # -- entries and attributes ------------------------------------------------------------

    def _entry(self, owner: Any, key: ast.expr, scope: Scope) -> Any:
        match owner:
            case Unknown() if self.telling is None:
                return owner
            case Unknown() | Array():
                keys = self._keys(key, scope)
                found = (
                    Unknown((owner,))
                    if isinstance(owner, Unknown)
                    else made(owner.data[keys], owner)
                )
                return self._noted(found, lambda: self._formulas.entry(owner, keys))
            case Module():
                return owner
        place = (
            self.value(key, scope) if not isinstance(key, ast.Slice) else self._slice(key, scope)
        )
        if isinstance(owner, list | tuple | str | dict | range):
            counted(owner)
            return owner[key_of(place)] if not isinstance(place, slice) else owner[place]
        if isinstance(owner, Thing) and owner.kind == "Sequential":
            return owner.attributes["layers"][whole(place)]
        raise Lost

    def _slice(self, key: ast.Slice, scope: Scope) -> slice:
        def bound(part: ast.expr | None) -> int | None:
            found = None if part is None else self.value(part, scope)
            return None if found is None else whole(found)

        return slice(bound(key.lower), bound(key.upper), bound(key.step))

    def _keys(self, key: ast.expr, scope: Scope) -> Any:
        if isinstance(key, ast.Tuple):
            return tuple(self._keys(part, scope) for part in key.elts)
        if isinstance(key, ast.Slice):
            return self._slice(key, scope)
        return self._place(self.value(key, scope))

    def _place(self, found: Any) -> Any:
        match found:
            case None | slice() | EllipsisType():
                return found
            case bool() | int() | arb():
                return whole(found)
            case tuple():
                return tuple(map(self._place, found))
            case Array() | list():
                entries = array(found).data
                if all(isinstance(one, bool) for one in entries.flat):
                    return entries.astype(bool)
                return np.frompyfunc(whole, 1, 1)(entries).astype(int)
            case Unknown() if self.telling is not None:
                return found
        raise Lost

    def _part(self, owner: Any, name: str) -> Any:
        """An attribute, with its formula."""
        if isinstance(owner, Listed) and name in library.ATTRIBUTES:
            # Authors write lists where they mean arrays.
            owner = self._noted(array(owner), lambda: self._formulas.of(owner))
        is_array = isinstance(owner, Array | Unknown)
        if self.telling is not None and is_array and name == "shape":
            return self._formulas.sizes(owner)
        found = self._attribute(owner, name)
        if is_array and isinstance(found, Array | Unknown):
            return self._noted(found, lambda: self._formulas.attribute(owner, name))
        return found

    def _attribute(self, owner: Any, name: str) -> Any:
        match owner:
            case Unknown():
                return Unknown((owner,))
            case Module():
                if name in _CONSTANTS and _KNOWN.match(owner.path):
                    constant: Any = _CONSTANTS[name]
                    is_e = name == "e"
                    one = syntax.Call("exp", (syntax.Literal("1"),))
                    return self._noted(constant(), lambda: one) if is_e else constant()
                return Module(f"{owner.path}.{name}")
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
            case Class():
                return owner.find(name)
            case Super():
                for base in owner.of.bases:
                    if isinstance(base, Class):
                        with suppress(KeyError):
                            return self._bound(owner.thing, base.find(name))
                return lambda *_, **__: None
        if any(isinstance(owner, kind) and name in names for kind, names in own.METHODS.items()):
            return own.method(owner, name)
        if isinstance(owner, str) and name == "format":
            return lambda *given, **keys: filled(owner, given, keys)
        if isinstance(owner, Said) and name in ("ljust", "rjust", "center", "strip"):
            return lambda *_: owner
        raise Lost

    def _of_thing(self, thing: Thing, name: str) -> Any:
        if name in thing.attributes:
            return thing.attributes[name]
        if isinstance(thing.kind, Class):
            with suppress(KeyError):
                return self._bound(thing, thing.kind.find(name))
        if name in ("eval", "train", "to", "cpu", "cuda", "requires_grad_", "float", "double"):
            self._is_evaluated = (self._is_evaluated or name == "eval") and name != "train"
            return lambda *_, **__: thing
        if name == "register_buffer":
            return lambda key, value, *_, **__: thing.attributes.__setitem__(key, value)
        return Unknown((thing,))

    def _bound(self, thing: Thing, found: Any) -> Any:
        if not isinstance(found, Function):
            return found
        if found.is_property:
            return self.call(found, [thing], {})
        return lambda *given, **keys: self.call(found, [thing, *given], keys)

    # -- calls ---------------------------------------------------------------------------

    def _function(self, node: ast.FunctionDef | ast.Lambda, scope: Scope) -> Any:
        takes = node.args
        named = [*takes.posonlyargs, *takes.args]
        late = named[len(named) - len(takes.defaults) :]
        pairs: list[tuple[ast.arg, ast.expr | None]] = [*zip(late, takes.defaults, strict=True)]
        pairs += zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
        given = [(one.arg, value) for one, value in pairs if value is not None]
        defaults = {name: self.value(value, scope) for name, value in given}
        marks = [rooted(one) for one in getattr(node, "decorator_list", ())]
        if set(marks) - {"property", "staticmethod", "torch"}:
            return Unknown()
        return Function(node, scope, defaults, self._piece, is_property="property" in marks)

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            thing = scope.find("self")
            return Super(scope.find("__class__"), thing)
        owner: Any = None
        match node.func:
            case ast.Name(name):
                function = self._name(name, scope, is_called=True)
            case ast.Attribute(of, name):
                owner = self.value(of, scope)
                is_size = name == "size" and isinstance(owner, Array)
                function = (
                    library.ATTRIBUTES[name](owner) if is_size else self._attribute(owner, name)
                )
            case _:
                name = ""
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
        if isinstance(function, Module) and function.path == "builtins.print":
            return None
        if _is_generator(owner):
            return self._drawn(owner, f"{owner.kind}.{name}", given, keys)
        if isinstance(function, Unknown) and not is_still(ast.unparse(node.func)):
            self._unsure()
        if isinstance(owner, Unknown) and name in DRAWS:
            return self._drawn(Thing(""), name, given, keys)
        effect = ast.unparse(node.func) if node is self._effect else ""
        if self.telling is None:
            return self.call(function, given, keys, effect)
        return self._told(function, owner, name, given, keys, effect)

    def _told(
        self,
        function: Any,
        owner: Any,
        name: str,
        given: Sequence[Any],
        keys: Mapping[str, Any],
        effect: str,
    ) -> Any:
        """Return what a function gives, with its formula."""
        values, path, options = given, name, keys
        match function:
            case Module():
                path = function.path
            case Thing("Softmax"):
                path, options = "softmax", {**function.attributes, **keys}
            case Thing("Linear", {"weight": weight, "bias": bias}):
                path, values = "linear", [*given, weight, bias]
            case Function() if is_softmax(name):
                path = "softmax"
            case _ if isinstance(owner, Array | Unknown | Ball | Whole):
                values = [owner, *given]
            case _:
                return self.call(function, given, keys, effect)
        found: Any = Unknown()
        formula = None
        is_open = any(isinstance(one, Unknown) for one in values)
        if is_open and not isinstance(function, Function):
            if name in ("shape", "size") and len(values) == 1:
                return self._formulas.sizes(values[0])
            formula = self._formulas.formula(
                lambda: called(self._formulas, path, values, options, found)
            )
        if formula is None:
            found = self.call(function, given, keys, effect)
            if isinstance(found, tuple) and name in ("shape", "size"):
                return self._formulas.sizes(values[0])
            is_read = isinstance(function, Function) and self._formulas.is_read(found)
            formula = (
                None
                if is_read
                else self._formulas.formula(
                    lambda: called(self._formulas, path, values, options, found)
                )
            )
        found = found if formula is None else with_formula(found, formula)
        if isinstance(found, Array):
            # One of whole numbers has no room for fractions.
            is_whole = any(isinstance(one, int) for one in found.data.flat)
            found.is_blank = name in _BLANKS and not is_whole
        return found

    def call(
        self, function: Any, given: Sequence[Any], keys: Mapping[str, Any], effect: str = ""
    ) -> Any:
        """Return what a function gives; what it may have changed, without being known, is lost.
        One that is called for its ``effect``, by that name, may be known to change nothing."""
        match function:
            case Function():
                return self._run(function, given, keys)
            case Class():
                thing = Thing(function)
                with suppress(KeyError):
                    begin = function.find("__init__")
                    self._run(begin, [thing, *given], keys)
                return thing
            case Thing(kind=Class() as kind):
                for name in ("__call__", "forward", "call"):
                    with suppress(KeyError):
                        return self._run(kind.find(name), [function, *given], keys)
            case Thing(kind="Dropout") if self._is_evaluated:
                return given[0]
            case Thing():
                if function.kind == "Dropout" and function.attributes.get("p", 1) != 0:
                    self._unsure()
                return run_layer(function, given, lambda one, some: self.call(one, some, {}))
            case Module():
                return self._of_library(function, given, keys)
            case Unknown() if effect == "exec":
                # A text that is run may change anything.
                self._unknown_lines()
                for value in [*self._globals.names.values()]:
                    self._spoil(value)
                return None
            case Unknown() if SHOWING.search(effect):
                self._unknown_lines()
                return Unknown()
            case Unknown() if self.telling is not None and not effect:
                self._losses += 1
                return Unknown((*given, *keys.values()))
            case Unknown():
                lose(function)
                self._unknown_lines()
                for one in (*given, *keys.values()):
                    self._spoil(one)
                return Unknown((*given, *keys.values()))
        if callable(function):
            return function(*given, **keys)
        raise Lost

    def _run(self, function: Function, given: Sequence[Any], keys: Mapping[str, Any]) -> Any:
        takes = function.node.args
        named = [one.arg for one in (*takes.posonlyargs, *takes.args)]
        bound = dict(function.defaults) | dict(zip(named, given, strict=False))
        extra = {
            k: v for k, v in keys.items() if k not in named + [o.arg for o in takes.kwonlyargs]
        }
        bound |= {k: v for k, v in keys.items() if k not in extra}
        if len(given) > len(named) and not takes.vararg:
            raise Lost
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
        tells = self.telling is not None and not self._quiet and self._depth < _TOLD
        scope = Scope(bound, function.scope, tells=tells and function.of is None)
        self._depth += 1
        piece, self._piece = self._piece, function.piece
        names = {*self._formulas.told} if scope.tells else set()
        start = len(self.telling.events) if self.telling is not None else 0
        try:
            if isinstance(function.node, ast.Lambda):
                return self.value(function.node.body, scope)
            self.statements(function.node.body, scope)
        except Returned as returned:
            return self._given_back(function, returned.value, scope, names, start)
        except Lost:
            if may_draw(function.node):
                self._unsure()
            roots = changed_in(function.node)
            for name, one in bound.items():
                if name in roots or not roots <= bound.keys():
                    self._spoil(one)
            return Unknown()
        finally:
            self._depth -= 1
            self._piece = piece
        return None

    def _given_back(
        self, function: Function, value: Any, scope: Scope, names: set[str], start: int
    ) -> Any:
        """Return what a function gives; where that says all of it, nothing is told of names of its
        own."""
        if self.telling is None or not scope.tells:
            return value
        told = self._formulas.told
        own = [name for name, one in told.items() if name not in names and one.scope is scope.names]
        whole_ = self.telling.inlined(value, own)
        if not is_plain(function.node, whole_):
            return value
        for name in own:
            del told[name]
        del self.telling.events[start:]
        return whole_

    def _of_library(self, function: Module, given: Sequence[Any], keys: Mapping[str, Any]) -> Any:
        path, name = function.path, function.name
        if path.startswith("builtins."):
            if name in _CALLING and Unknown in map(type, (*given, *keys.values())):
                self._unsure()
            return own.CALLS[name](self, *given, **keys)
        library_ = path.partition(".")[0]
        is_drawn = library_ == "torch" and (name in DRAWS or name.startswith("rand"))
        if is_drawn or _RANDOM.search(path) or path in SEEDED:
            return self._drawn(self._generator(library_), path, given, keys)
        if path == "torch.Generator" and [*given, *keys.values()] in ([], ["cpu"]):
            return Thing(path)
        self.are_seeded &= name not in _DEFAULTS
        is_open = any(isinstance(one, Unknown) for one in (*given, *keys.values()))
        if not _KNOWN.match(path):
            if not is_still(path):
                self._unsure()
            if _HARMLESS.match(path):
                return Unknown()
            lose(tuple(given))
            return Unknown((*given, *keys.values()))
        if ".init." in path:
            if name.startswith(("constant", "ones", "zeros")):
                return library.attribute(given[0], name)(*given[1:])
            self._spoil(given[0])
            self._unsure()
            return given[0]
        if name in ("no_grad", "set_printoptions", "manual_seed", "inference_mode"):
            return None
        if name == "Module":
            raise Lost
        if (path.startswith("torch.nn.") and name[:1].isupper()) or name == "Parameter":
            if keys.keys() & {"device", "dtype", "max_norm", "_weight"}:
                self._unsure()
            return library.layer(name, given, keys, self._layer_drawn)
        if kinds := [one for one in given if isinstance(one, Module)]:
            keys, given = {**keys, "dtype": kinds[0]}, [one for one in given if one not in kinds]
        if isinstance(keys.get("out"), Array):
            keys["out"].lose()
        if (name not in LIBRARY or is_open) and not is_still(path):
            self._unsure()
        if name not in LIBRARY:
            return Unknown((*given, *keys.values()))
        if is_open:
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

    def _generator(self, name: str) -> Thing:
        """The generator that a library has by itself."""
        return self._generators.setdefault(name, Thing(f"{name}.Generator"))

    def _unsure(self) -> None:
        """Lose all streams: something may have drawn from them."""
        for one in (*self._generators.values(), *self._globals.names.values()):
            if _is_generator(one):
                lose(one)

    def _drawn(
        self, source: Thing, path: str, given: Sequence[Any], keys: Mapping[str, Any]
    ) -> Any:
        """Random numbers of a generator; the generator itself where it is given a seed."""
        library_, name = path.partition(".")[0], path.rsplit(".", 1)[-1]
        if name != "randperm" and isinstance(keys.get("generator"), Thing):
            source, keys = keys["generator"], {k: keys[k] for k in keys if k != "generator"}
        stream = source.attributes.pop("stream", None)
        if path in SEEDED:
            source = source if name.endswith("seed") else Thing("numpy.Generator")
            seeds = [*given, *keys.values()]
            if seeds and (self.are_seeded or path == _FROZEN):
                source.attributes["stream"] = SEEDED[path](whole(seeds[0]))
            return source
        if name not in DRAWS:
            # What else is drawn changes what comes next, and "shuffle" what it is given.
            lose((*given,))
            return Unknown()
        return self._numbers(source, stream, asked(name, given, keys, library_))

    def _layer_drawn(self, kind: str, shape: tuple[int, ...], bound: Any = None) -> Any:
        low, source = None if bound is None else -bound, self._generator("torch")
        draw = Draw(kind, shape, low, bound, is_torch=True)
        return self._numbers(source, source.attributes.pop("stream", None), draw)

    def _numbers(self, source: Thing, stream: Any, draw: Draw) -> Any:
        """The numbers of a stream, which goes on, where they are sure, or such as nobody knows."""
        if callable(stream):
            with suppress(Lost, ValueError, TypeError, AttributeError):
                found = draw.of(stream)
                source.attributes["stream"], self.has_drawn = stream, True
                return found
        return self._born(draw.shape, draw.is_torch) if draw.shape else NOBODY_KNOWS

    def _born(self, shape: Sequence[Any], is_torch: bool = False) -> Array:
        birth, self._births = self._births, self._births + 1
        known = self.known.get(birth)
        found = library.filled(tuple(shape), arb("nan"), is_torch)
        if known is not None and known.size == found.data.size:
            found.data = known.reshape(found.shape).copy()
        found.birth = birth, leaves(found)
        return found


def _is_generator(value: Any) -> bool:
    kind = value.kind if isinstance(value, Thing) else ""
    return isinstance(kind, str) and kind.endswith("Generator")


def _as_numbers(value: Any, beside: Any) -> Any:
    """A list beside an array as one."""
    if isinstance(value, list | tuple) and isinstance(beside, Array):
        return array(value)
    if not isinstance(value, int | arb | Array):
        raise Lost
    return value
