"""Programs: named steps over given quantities, with inferred, checked shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from symattn import syntax
from symattn.errors import Fault, Malformed
from symattn.numbers.reading import evaluate
from symattn.numbers.values import rational
from symattn.programs import nodes
from symattn.programs.nodes import Node
from symattn.shapes import Shape, show

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

#: Functions of one operand, by the name they have in steps.
_UNARY: Mapping[str, Callable[[Node], Node]] = {
    "sqrt": lambda x: nodes.apply("sqrt", x),
    "exp": lambda x: nodes.apply("exp", x),
    "log": lambda x: nodes.apply("log", x),
    "softmax": nodes.softmax,
    "causal": nodes.causal,
    "rowsum": nodes.rowsum,
    "colsum": nodes.colsum,
    "total": nodes.total,
    "rows": lambda x: nodes.constant(rational(_size(x, 0))),
    "cols": lambda x: nodes.constant(rational(_size(x, -1))),
}
_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}

#: The node of a call that only some expressions know, or None.
Special = Callable[[syntax.Call], Node | None]

#: Names that quantities can't have.
RESERVED = frozenset(
    {*_UNARY, "mask", "concat", "grad", "and", "e", "inf", "nan", "upstream"}
    | {"argmax", "shape", "max", "min", "abs"}
)

#: Most steps of one program.
MAX_STEPS = 100


def _size(x: Node, axis: int) -> int:
    if not x.shape:
        raise Malformed("a scalar has no rows and columns")
    return x.shape[axis]


@dataclass(frozen=True)
class Program:
    """Named quantities, each a node; ``given`` ones come from outside.

    >>> p = program({"Q": (2, 3), "K": (4, 3)}, {"S": "Q @ K.T", "A": "softmax(S)"})
    >>> p.shapes()
    {'Q': (2, 3), 'K': (4, 3), 'S': (2, 4), 'A': (2, 4)}
    """

    quantities: Mapping[str, Node]
    given: tuple[str, ...]
    steps: tuple[str, ...]
    gradients: Mapping[str, Node] = field(default_factory=dict)
    upstream: Node | None = None

    def shapes(self) -> dict[str, Shape]:
        """The shape of every given quantity and step."""
        return {name: node.shape for name, node in self.quantities.items()}

    def lower(self, text: str) -> Node:
        """The node of an expression over this program's quantities.

        ``grad(Q)`` is the gradient with respect to ``Q``. Raises
        :class:`Malformed` for names, functions and shapes that don't fit.
        """
        return self.lower_tree(syntax.parse(text))

    def lower_tree(self, tree: syntax.Tree, special: Special = lambda call: None) -> Node:
        """The node of a parsed expression; ``special`` may give the node of a
        call that steps don't know."""

        def lower(part: syntax.Tree) -> Node:
            return self.lower_tree(part, special)

        if isinstance(tree, syntax.Call) and (made := special(tree)) is not None:
            return made
        match tree:
            case syntax.Literal():
                return nodes.constant(evaluate(tree, tree.text))
            case syntax.Name(name):
                return self._quantity(name)
            case syntax.Negative(operand):
                return nodes.negate(lower(operand))
            case syntax.Binary(op, left, right):
                x, y = lower(left), lower(right)
                try:
                    return nodes.matmul(x, y) if op == "@" else _elementwise(op, x, y)
                except Malformed as error:
                    raise Malformed(f"{error}{self._bindings(tree)}") from None
            case syntax.Transposed(operand):
                return nodes.transpose(lower(operand))
            case syntax.Indexed(operand, keys):
                return nodes.index(lower(operand), keys)
            case syntax.Call("grad", (syntax.Name(name),)):
                return self._gradient(name)
            case syntax.Call("mask", (scores, keep)):
                return nodes.mask(lower(scores), lower(keep))
            case syntax.Call("concat", arguments):
                return nodes.concat(tuple(lower(item) for item in arguments))
            case syntax.Call(function, (operand,)) if function in _UNARY:
                return _UNARY[function](lower(operand))
            case syntax.Call(function, arguments):
                raise Malformed(_call_fault(function, len(arguments)))
        raise Malformed("a comparison or a list in brackets is no quantity: it has no value here")

    def _quantity(self, name: str) -> Node:
        if name in self.quantities:
            return self.quantities[name]
        if name in RESERVED:
            raise Malformed(f"{name!r} is no quantity; as a function it needs brackets")
        raise Malformed(f"unknown name {name!r}: expected one of {', '.join(self.quantities)}")

    def _gradient(self, name: str) -> Node:
        self._quantity(name)
        if name not in self.gradients:
            raise Malformed(f"grad({name}): the loss does not depend on {name}")
        return self.gradients[name]

    def _bindings(self, tree: syntax.Binary) -> str:
        """``(Q is 3x4, K is 3x4)``: what the names in a tree are bound to."""
        names = dict.fromkeys(_names(tree))
        known = [f"{n} is {show(self.quantities[n].shape)}" for n in names]
        return f" ({', '.join(known)})" if known else ""


def _elementwise(op: str, x: Node, y: Node) -> Node:
    return nodes.elementwise(_OPERATORS[op], x, y)


def _call_fault(function: str, count: int) -> str:
    if function in _UNARY or function in ("mask", "grad"):
        wanted = {"mask": "two arguments", "grad": "the name of one quantity"}
        return f"{function} takes {wanted.get(function, 'one argument')}, found {count}"
    known = ", ".join(sorted([*_UNARY, "mask", "concat", "grad"]))
    return f"unknown function {function!r}: expected one of {known}"


def _names(tree: syntax.Tree) -> Iterator[str]:
    match tree:
        case syntax.Name(name):
            yield name
        case syntax.Negative(operand) | syntax.Transposed(operand) | syntax.Indexed(operand, _):
            yield from _names(operand)
        case syntax.Binary(_, left, right):
            yield from _names(left)
            yield from _names(right)
        case syntax.Call(_, arguments):
            for argument in arguments:
                yield from _names(argument)


def name_fault(name: str) -> str:
    """What is wrong with a quantity's name; '' for a good one.

    >>> name_fault("softmax"), name_fault("W_Q")
    ("'softmax' is reserved", '')
    """
    if not _NAME.match(name):
        shown = name if len(name) <= 40 else name[:37] + "..."
        return f"{shown!r} is no name: expected a letter, then letters, digits and _"
    return f"{name!r} is reserved" if name in RESERVED else ""


def program(
    given: Mapping[str, Shape], steps: Mapping[str, str], unreadable: Iterable[str] = ()
) -> Program:
    """The program of the steps, in order; :class:`Malformed` lists all faults.

    Steps that use an ``unreadable`` quantity, or a faulty step, are passed
    over: they are no faults of their own.

    >>> program({"Q": (3, 4), "K": (3, 4)}, {"S": "Q @ K"})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: steps.S: shapes don't fit: 3x4 @ 3x4 needs the 4 columns on the \
left to meet as many rows on the right, found 3; the right side transposed (.T) would fit \
(Q is 3x4, K is 3x4)
    """
    faults: list[Fault] = []
    quantities: dict[str, Node] = {}
    for name, shape in given.items():
        _collect(faults, f"given.{name}", partial(_add_given, quantities, name, shape))
    if len(steps) > MAX_STEPS:
        faults.append(Fault("steps", f"{len(steps)} steps; at most {MAX_STEPS} are read"))
        steps = {}
    broken: set[str] = {name for name in given if name not in quantities} | set(unreadable)
    for name, text in steps.items():
        made = Program(quantities, tuple(given), ())
        _collect(faults, f"steps.{name}", partial(_add_step, made, name, text, broken))
        if name not in quantities:
            broken.add(name)
    if faults:
        raise Malformed(faults)
    return Program(quantities, tuple(given), tuple(steps))


def _collect(faults: list[Fault], where: str, act: Callable[[], None]) -> None:
    try:
        act()
    except Malformed as error:
        faults.extend(Fault(where, fault.message) for fault in error.faults)


def _add_given(quantities: dict[str, Node], name: str, shape: Shape) -> None:
    if fault := name_fault(name):
        raise Malformed(fault)
    quantities[name] = nodes.given(name, shape)


def _add_step(so_far: Program, name: str, text: str, broken: set[str]) -> None:
    if fault := name_fault(name):
        raise Malformed(fault)
    if name in so_far.quantities:
        raise Malformed(f"the name {name!r} is given already")
    tree = syntax.parse(text)
    if broken & set(_names(tree)):
        return
    node = so_far.lower_tree(tree)
    if any(node is known for known in so_far.quantities.values()):
        node = nodes.copy(node)
    assert isinstance(so_far.quantities, dict)
    so_far.quantities[name] = node


def ancestors(targets: Iterable[Node], stop: Container[int] = ()) -> list[Node]:
    """All nodes that the targets need, themselves included, in order; not
    those whose serial is in ``stop``, nor what only they need."""
    found: dict[int, Node] = {}
    waiting = list(targets)
    while waiting:
        node = waiting.pop()
        if node.serial not in found and node.serial not in stop:
            found[node.serial] = node
            waiting.extend(node.operands)
    return [found[serial] for serial in sorted(found)]
