"""The functions that a case defines: heads and bodies as text, checked.

A body knows its parameters and the functions of steps, and nothing else of its case.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from symattn.cases import statements
from symattn.errors import Fault, Faults, Malformed, short
from symattn.expressions import syntax
from symattn.limits import FUNCTIONS as MOST
from symattn.programs.functions import ALIASES, FUNCTIONS
from symattn.programs.functions.own import OwnFunction, calls, is_plain, need_short
from symattn.programs.program import RESERVED, name_fault, no_function, no_quantity
from symattn.tables.places import kind

#: Functions that stand in steps and statements, not in other functions.
_OUTSIDE = ("heads", "merge", "shape", *statements.FUNCTIONS)
#: Names that are no parameters, as they have a value by themselves.
_VALUES = ("pi", "inf")


def function(head: str, body: str) -> OwnFunction:
    """A function of one's own, for ``symattn.case(..., functions=[...])``.

    ``head`` has the parameters, of which the last may have numbers or words as
    defaults: ``"lrelu(x, slope=0.01)"``. Where it is a name alone, they are the names in
    ``body``, an expression as steps have it, in the order in which they appear there.

    Raises :class:`Malformed` with every fault.

    >>> mish = function("mish", "x * tanh(softplus(x))")
    >>> mish, mish.head
    (<OwnFunction: mish(x) = x * tanh(softplus(x))>, 'mish(x)')
    >>> function("mish(x)", "x * tanh(softplus(y))")
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: mish(x): unknown name 'y': expected one of x
    """
    faults = Faults()
    with faults.inside(short(str(head))):
        made = _read(head, body)
    faults.raise_all()
    return made


def _read(head: object, body: object) -> OwnFunction:
    """A function by itself; raises :class:`Malformed` with all its faults."""
    if not isinstance(head, str):
        raise Malformed(f"expected the function's name as text, found {kind(head)}")
    if not isinstance(body, str):
        raise Malformed(f"expected an expression as text, found {kind(body)}")
    faults = Faults()
    with faults.inside(""):
        called = _head(head)
    with faults.inside(""):
        tree = syntax.parse(body)
    faults.raise_all()
    Faults(Fault("", message) for message in dict.fromkeys(_foreign(tree))).raise_all()
    name, parameters = called
    named = [*dict.fromkeys(part for part in syntax.names(tree) if part not in _VALUES)]
    if parameters is None:
        parameters = dict.fromkeys(part for part in named if part not in FUNCTIONS)
    messages = [*_name_faults(name, "function")]
    for parameter in parameters:
        messages += _name_faults(parameter, "parameter")
    messages += (no_quantity(part, parameters) for part in named if part not in parameters)
    if unused := [part for part in parameters if part not in named]:
        messages.append(f"{' and '.join(unused)} is not in the body: leave it out of the head")
    if not parameters:
        messages.append("expected a parameter: a number is given, or a step")
    Faults(Fault("", message) for message in messages).raise_all()
    return OwnFunction(name, parameters, tree, head, body)


def _foreign(body: syntax.Tree) -> Iterator[str]:
    """Yield what has no meaning in a function."""
    for part in syntax.walk(body):
        match part:
            case syntax.Gradient() | syntax.Call("grad"):
                yield "gradients stand in steps, not in functions"
            case syntax.Conjunction() | syntax.Sequence():
                yield "a list in brackets and statements joined by 'and' have no value"
            case syntax.Call(function) if function in _OUTSIDE:
                yield f"{function} stands in steps and statements, not in functions"


def _head(head: str) -> tuple[str, dict[str, syntax.Tree | None] | None]:
    """The name and the parameters with their defaults, None where they are not told."""
    try:
        tree = syntax.parse(head)
    except Malformed:
        tree = syntax.Literal("")
    match tree:
        case syntax.Name(name):
            return name, None
        case syntax.Gradient(of):
            raise Malformed(f"{RESERVED['grad'][0]} of {of}: expected another name")
        case syntax.Call(name, arguments, options):
            told = [part.name for part in arguments if isinstance(part, syntax.Name)]
            names = [*told, *(option for option, _ in options)]
            if len(told) == len(arguments) and all(is_plain(default) for _, default in options):
                if twice := [part for part in told if names.count(part) > 1]:
                    raise Malformed(f"{twice[0]} is a parameter twice")
                return name, {**dict.fromkeys(told), **dict(options)}
    raise Malformed(
        "expected a name with parameters, as in mish(x), or with defaults that are numbers or "
        f"quoted words, as in lrelu(x, slope=0.01), found {short(head)!r}"
    )


def _name_faults(name: str, what: str) -> Iterator[str]:
    """Yield what keeps a name from being that of a function or a parameter."""
    if name in FUNCTIONS or name in ALIASES or name in _OUTSIDE:
        yield f"{name} is a function already: call the {what} {name}1"
    elif name in _VALUES or name == "e":
        yield f"{name} has a value of its own: call the {what} {name}1"
    elif bad := name_fault(name):
        yield bad


@dataclass(frozen=True)
class OwnFunctions:
    """The functions of a case that have no fault, by name, and the names of the others."""

    sound: Mapping[str, OwnFunction] = field(default_factory=dict)
    unsound: frozenset[str] = frozenset()


def read_functions(raw: object, taken: Collection[str], faults: Faults) -> OwnFunctions:
    """The functions of a table of heads and bodies, or of a list of what :func:`function`
    gives; ``taken`` are the names of quantities. Faults go to ``faults``.

    >>> found = Faults()
    >>> read_functions({"f(x)": "2 * g(x)", "g(x)": "f(x)", "h(x)": "x**2"}, (), found).sound
    {'h': <OwnFunction: h(x) = x**2>}
    >>> print(found[0])
    functions.f(x): made of itself: f calls g calls f
    """
    pairs: list[tuple[str, object]] = []
    with faults.inside("functions"):
        pairs = written(raw)
    reader = _Reader(pairs, taken, faults)
    if len(pairs) > MOST.most:
        faults.append(Fault("functions", MOST.said(len(pairs))))
        return OwnFunctions(unsound=frozenset(reader.names))
    return reader.functions()


def written(raw: object) -> list[tuple[str, object]]:
    """Heads and bodies as they were written; raises :class:`Malformed` for anything else."""
    if isinstance(raw, Mapping):
        return [*raw.items()]
    items = [raw] if isinstance(raw, OwnFunction) or not isinstance(raw, Iterable) else [*raw]
    if other := [item for item in items if not isinstance(item, OwnFunction)]:
        advice = 'symattn.function("mish(x)", "x * tanh(softplus(x))")'
        raise Malformed(f"expected functions as {advice} makes them, found {kind(other[0])}")
    return [(item.key, item.text) for item in items if isinstance(item, OwnFunction)]


def own_name(head: str) -> str:
    """The name in a head.

    >>> own_name("mish(x)"), own_name("mish")
    ('mish', 'mish')
    """
    return str(head).partition("(")[0].strip()


class _Reader:
    """Reads functions that may call each other."""

    def __init__(
        self, pairs: Iterable[tuple[str, object]], taken: Collection[str], faults: Faults
    ) -> None:
        self.pairs, self.taken, self.faults = [*pairs], taken, faults
        self.names = {own_name(head) for head, _ in self.pairs}
        self.read: dict[str, OwnFunction] = {}

    def functions(self) -> OwnFunctions:
        for head, body in self.pairs:
            with self.inside(head):
                own = _read(head, body)
                Faults(Fault("", message) for message in self._misfits(own)).raise_all()
                self.read[own.name] = own
        for name, own in self.read.items():
            if circle := self._circle(name):
                made = f"made of itself: {' calls '.join(circle)}"
                self.faults.append(Fault(f"functions.{own.key}", made))
        # What calls a function with a fault can't be judged, and has none of its own.
        sound: dict[str, OwnFunction] = {}
        waiting = dict(self.read)
        while ready := [
            own
            for own in waiting.values()
            if sound.keys() >= self.names.intersection(calls(own.body))
        ]:
            for own in ready:
                del waiting[own.name]
                with self.inside(own.key):
                    need_short(own.body, sound)
                    sound[own.name] = own
        return OwnFunctions(sound, frozenset(self.names - sound.keys()))

    def inside(self, head: str) -> AbstractContextManager[None]:
        return self.faults.inside(f"functions.{head}")

    def _misfits(self, own: OwnFunction) -> Iterator[str]:
        """Yield what keeps a function from standing beside the others."""
        if own.name in self.taken:
            yield f"{own.name} is a quantity, too: give one of them another name"
        if own.name in self.read:
            yield f"{own.name} is defined twice"
        for name in self.names.intersection(own.parameters):
            yield f"{name} is a function already: call the parameter {name}1"
        for name in dict.fromkeys(calls(own.body)):
            if not (name in FUNCTIONS or name in ALIASES or name in self.names):
                yield no_function(name, self.names)

    def _circle(self, name: str) -> list[str]:
        """The way from a function back to itself, by what each calls; none where there is no
        such way."""
        ways, seen = [[name]], {name}
        while ways:
            way = ways.pop()
            for called in calls(self.read[way[-1]].body):
                if called == name:
                    return [*way, name]
                if called in self.read and called not in seen:
                    seen.add(called)
                    ways.append([*way, called])
        return []
