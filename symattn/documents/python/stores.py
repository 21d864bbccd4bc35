"""Stores of statements, by their text alone: names, and arrays that names share.

What a statement may store to and is not followed in has no meaning after it. Several
names may stand for one array (``T = S``, ``row = S[0]``, ``for row in S``): what is done
to it under one of them is done under all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest

from symattn.documents.python.library import FUNCTIONS, LIBRARIES

#: Methods that change what they are methods of, beside those of PyTorch that end in ``_``.
_CHANGING = re.compile(
    r"(?:append|clear|extend|fill|insert|itemset|partition|pop|popitem|put|remove|resize|reverse"
    r"|setdefault|sort|update|__setitem__|\w*[^_]_)\Z"
)
#: Functions that change what they are called with first.
_FILLING = re.compile(r"(?:fill_diagonal|copyto|put\w*|place|shuffle|setattr|heap\w+|\w*[^_]_)\Z")
#: What shows a value as it is, or rounded.
SHOWN = frozenset(
    {"str", "repr", "display", "round", "around", "array2string", "array_repr", "array_str",
     "set_precision", "DataFrame", "tolist", "pprint", "item", "numpy", "detach"}
)  # fmt: skip
#: Functions that are called for nothing that they give, and change nothing.
_SHOWING = re.compile(
    r"\A(?:plt|sns|ax\w*|fig\w*|px|st|log\w*|warnings|os|sys|time|json|super|exit|input|open)\b"
    r"|plot|show|draw|print|heat_?map|check|assert|test|save|write|visuali[sz]e|summar|info"
    r"|describe|seed|verify|compare|close|report|markdown|latex|html|math|display|help",
    re.IGNORECASE,
)
#: What gives the same array again, or a part of it.
_VIEWS = frozenset(
    {"T", "mT", "H", "data", "real", "flat", "reshape", "view", "transpose", "squeeze", "numpy",
     "unsqueeze", "detach", "ravel", "permute", "asarray", "from_numpy", "t", "swapaxes", "items",
     "expand_dims", "diagonal", "as_tensor", "to_numpy", "contiguous", "values", "zip", "to",
     "flip", "fliplr", "flipud", "rot90", "moveaxis", "broadcast_to", "atleast_2d", "diag",
     "enumerate", "reversed", "iter", "list", "tuple", "float", "cpu", "chunk", "split"}
)  # fmt: skip
_Names = frozenset[str]
#: Stands for what a function gives.
_RESULT = "return"


@dataclass(frozen=True)
class _CallEffects:
    """A call by its function's name: of what its arguments are views, by place and name,
    and what it changes where nobody knows what it does."""

    name: str
    places: tuple[_Names, ...]
    named: tuple[tuple[str, _Names], ...]
    otherwise: _Names

    def given(self, parameters: Sequence[str], wanted: _Names) -> _Names:
        """The names whose arrays are given for the ``wanted`` parameters."""
        every = dict(zip(parameters, self.places, strict=False)) | dict(self.named)
        return frozenset().union(*(every.get(name, ()) for name in wanted))


@dataclass
class Stores:
    """The names that a piece of a program may store to.

    Names that assignments give another meaning are ``assigned``, targets of loops and names
    of definitions ``bound``, others ``imported``; those of other scopes are ``outside``. The
    arrays of ``changed`` names are changed. Of what is ``shared``, the first names stand for
    what the second do, or for what the calls give.
    """

    assigned: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    calls: list[_CallEffects] = field(default_factory=list)
    shared: list[tuple[set[str], _Names, tuple[_CallEffects, ...]]] = field(default_factory=list)

    def share(self, target: ast.AST, value: ast.AST) -> None:
        """Take what a target, or several in a row, may share with a value."""
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        calls = tuple(_called(part, False) for part in parts if isinstance(part, ast.Call))
        self.shared.append((stores(target).assigned, _views(value), calls))


@lru_cache(maxsize=1 << 12)
def stores(*nodes: ast.AST) -> Stores:
    """Return what statements and expressions may store to.

    >>> sorted(stores(ast.parse("a, (b, *c) = d[[e for e in f]]")).assigned)
    ['a', 'b', 'c']
    >>> sorted(stores(ast.parse("x.T[0] = 1; y.sort(); np.exp(z, out=u[:1])")).changed)
    ['u', 'x', 'y']
    """
    to = Stores()
    for part in _inside(nodes):
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                to.assigned.add(name)
            case ast.Subscript() | ast.Attribute() if not isinstance(part.ctx, ast.Load):
                to.changed |= _views(part, deep=True)
            case ast.For(target=target, iter=of) | ast.AsyncFor(target=target, iter=of):
                to.bound |= stores(target).assigned
                to.share(target, of)
            case ast.withitem(optional_vars=ast.expr() as target):
                to.bound |= stores(target).assigned
            case ast.Assign(targets=targets, value=value):
                again = [] if isinstance(value, ast.Constant) else targets
                for target, of in zip_longest(targets, [value, *again[:-1]], fillvalue=value):
                    to.share(target, of)
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                to.share(target, value)
            case ast.AugAssign(target=ast.Name(id=name)):
                to.changed.add(name)
            case ast.Expr(value=ast.Call() as call):
                to.calls.append(_called(call, is_for_effect=True))
            case ast.Call():
                to.calls.append(_called(part, is_for_effect=False))
                to.changed |= _changed_by(part)
            case ast.alias(name=name, asname=other):
                to.imported.add(other or name.partition(".")[0])
            case ast.Global(names=listed) | ast.Nonlocal(names=listed):
                to.outside.update(listed)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                to.bound.add(part.name)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if part.name:
                to.bound.add(part.name)
            case ast.MatchMapping(rest=str(name)):
                to.bound.add(name)
    to.assigned -= to.bound
    return to


def _inside(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Nodes and all inside them that runs with them and stores outside: no bodies of
    functions, no targets of comprehensions."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                pass
            case ast.AnnAssign(value=None):
                pass
            case ast.comprehension(iter=of, ifs=tests):
                waiting += [of, *tests]
            case _:
                waiting += ast.iter_child_nodes(node)


def _views(*nodes: ast.AST, deep: bool = False) -> _Names:
    """The names of the arrays that expressions may give, whole or in part; ``deep`` also
    of what any attribute is of."""
    names: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name):
                names.add(name)
            case ast.Subscript() | ast.Starred() | ast.NamedExpr():
                waiting.append(node.value)
            case ast.Attribute(value=value, attr=attribute) if deep or attribute in _VIEWS:
                waiting.append(value)
            case ast.Call(func=function, args=given) if last_name(function) in _VIEWS:
                waiting += [function, *given] if isinstance(function, ast.Attribute) else given
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                waiting += parts
            case ast.IfExp(body=body, orelse=other):
                waiting += [body, other]
    return frozenset(names)


def last_name(node: ast.expr) -> str:
    """The last part of a name with points."""
    return dotted(node).rpartition(".")[2]


def dotted(node: ast.expr) -> str:
    """``np.linalg.norm``; of what is no name, ``.norm``."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    names.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(names))


def _called(call: ast.Call, is_for_effect: bool) -> _CallEffects:
    path, otherwise = dotted(call.func), frozenset[str]()
    name = last_name(call.func)
    is_known = name in FUNCTIONS or name in SHOWN or _CHANGING.match(name) or _FILLING.match(name)
    if is_for_effect and not (is_known or _SHOWING.search(path)):
        # What nobody takes the value of does something to what it is called with.
        is_method = isinstance(call.func, ast.Attribute) and not is_library(call.func)
        otherwise = _views(*([call.func] if is_method else call.args), deep=is_method)
    named = ((word.arg or "", _views(word.value)) for word in call.keywords)
    return _CallEffects(path, tuple(map(_views, call.args)), tuple(named), otherwise)


def is_library(node: ast.expr) -> bool:
    """Return whether an expression is a library, or a part of one."""
    return dotted(node).partition(".")[0] in LIBRARIES


def _changed_by(call: ast.Call) -> set[str]:
    """The names of the arrays that a call surely changes."""
    name, changed = last_name(call.func), set[str]()
    for word in call.keywords:
        if word.arg == "out":
            changed |= _views(word.value)
    if _FILLING.match(name) and call.args:
        changed |= _views(call.args[0])
    if _CHANGING.match(name) and isinstance(call.func, ast.Attribute) and not is_library(call.func):
        changed |= _views(call.func.value, deep=True)
    return changed


@dataclass(frozen=True)
class FunctionEffects:
    """The parameters of a function in order, those whose arrays it may change, those that it
    may give back, and the names outside of it that it may store to."""

    parameters: tuple[str, ...]
    changed: _Names
    returned: _Names
    outside: _Names


#: Gives what a function of the program does, by its name; None of others.
Effects = Callable[[str], FunctionEffects | None]


@dataclass
class Sharing:
    """Names that stand for the same arrays: each for those of some origins, at first for one that
    is called as it is."""

    origins: dict[str, frozenset[object]] = field(default_factory=dict)

    def _of(self, names: Iterable[str]) -> frozenset[object]:
        return frozenset().union(*(self.origins.get(name, {name}) for name in names))

    def changed(self, to: Stores, effects: Effects) -> frozenset[object]:
        """The origins of arrays that are changed."""
        names = set(to.changed)
        for call in to.calls:
            if (does := effects(call.name)) is None:
                names |= call.otherwise
            else:
                names |= does.outside | call.given(does.parameters, does.changed)
        return self._of(names)

    def names(self, origins: frozenset[object]) -> set[str]:
        """All names of such arrays."""
        names = {origin for origin in origins if isinstance(origin, str)}
        names -= self.origins.keys()
        return names | {name for name, own in self.origins.items() if own & origins}

    def share(self, to: Stores, effects: Effects, is_certain: bool) -> None:
        """Let names stand for what they are assigned; besides what they stood for, unless
        that is certain."""
        for names, of, calls in to.shared:
            origins = self._of(of)
            for call in calls:
                if (does := effects(call.name)) is not None:
                    origins |= self._of(call.given(does.parameters, does.returned))
                elif call.name.rpartition(".")[2] not in FUNCTIONS:
                    origins |= self._of(frozenset().union(*call.places))
            for name in names:
                before = frozenset() if is_certain else self._of([name])
                self.origins[name] = (origins or frozenset({object()})) | before


def effects_of(function: ast.FunctionDef, effects: Effects) -> FunctionEffects:
    """Return what a function may do beyond giving a value.

    >>> (function,) = ast.parse("def f(a, b):\\n    a = a + 1\\n    b[0] = a").body
    >>> sorted(effects_of(function, lambda name: None).changed)
    ['b']
    """
    takes = function.args
    parameters = [one.arg for one in (*takes.posonlyargs, *takes.args, *takes.kwonlyargs)]
    sharing, changed = Sharing(), set[object]()
    for statement in function.body:
        to = stores(statement)
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            # What is shared inside comes before what is changed inside, or after it.
            sharing.share(to, effects, is_certain=False)
        changed |= sharing.changed(to, effects)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            sharing.share(to, effects, is_certain=True)
        for part in ast.walk(statement):
            if isinstance(part, ast.Return) and part.value is not None:
                to = Stores()
                to.share(ast.Name(_RESULT, ast.Store()), part.value)
                sharing.share(to, effects, is_certain=False)
    result = sharing.origins.get(_RESULT, frozenset())
    whole = stores(*function.body)
    names = {origin for origin in changed if isinstance(origin, str)}
    local = whole.assigned | whole.bound | whole.imported
    return FunctionEffects(
        tuple(parameters),
        changed=frozenset(names & {*parameters}),
        returned=frozenset(parameters) & result,
        outside=frozenset((names - local - {*parameters}) | whole.outside),
    )
