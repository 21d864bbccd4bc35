"""Programs: named steps over given quantities, with inferred, checked shapes.

The gradient of a program is a program: :mod:`~symattn.programs.backward` by name.

How much there is to derive in a program, told from its shapes alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial, reduce
from math import prod

from symattn.advice import of_word
from symattn.errors import Fault, Malformed, UnknownName, expected, short
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape, show
from symattn.expressions.syntax import WORDS
from symattn.limits import STEPS
from symattn.numbers.reading import MASKED, Masked, evaluate, read_tree
from symattn.numbers.values import Value
from symattn.programs import jacobians, nodes
from symattn.programs.backward import flows, pi, times
from symattn.programs.functions import ALIASES, COMPARISONS, FUNCTIONS, StepFunction
from symattn.programs.functions.entries import power
from symattn.programs.functions.own import OwnFunction, calls, need_short
from symattn.programs.jacobians import Jacobian
from symattn.programs.nodes import Node, WrittenCall, ancestors
from symattn.programs.tables import number

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

_OPERATORS: Mapping[str, nodes.Arithmetic] = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide",
}  # fmt: skip

#: What a quantity is computed as: an expression, or its tree.
Step = str | syntax.Tree
#: The node of a call that only some expressions know, or None.
Special = Callable[[syntax.Call], Node | None]

_EULER = "'e' is reserved for Euler's number: call it E or e1"
#: Names that quantities can't have: what each is for, and what to write where
#: it stands for a quantity.
RESERVED: Mapping[str, tuple[str, str]] = {
    "grad": ("gradients", "write grad(Q) of a quantity Q"),
    "dL": ("gradients", "write dL/dQ or grad(Q)"),
    "and": ("statements", "it joins two statements"),
    "inf": ("what is not finite", 'masked scores are given as "-inf"'),
    "nan": ("what is no number", "expected a number or a name"),
    **dict.fromkeys(WORDS, ("options of functions", "it has no value")),
    "upstream": ("the gradient that flows into the output", "write dL/dY of the output Y"),
}


@dataclass(frozen=True)
class Program:
    """Named quantities, each a node; ``given`` ones come from outside. ``loss`` is the step
    whose gradient ``grad(W)`` is in other steps, ``functions`` are those of one's own, by name.

    >>> p = program({"Q": (2, 3), "K": (4, 3)}, {"S": "Q @ K.T", "A": "softmax(S)"})
    >>> p.shapes()
    {'Q': (2, 3), 'K': (4, 3), 'S': (2, 4), 'A': (2, 4)}
    """

    quantities: Mapping[str, Node]
    given: tuple[str, ...]
    steps: tuple[str, ...]
    gradients: Mapping[str, Node] = field(default_factory=dict)
    upstream: Node | None = None
    loss: str = ""
    functions: Mapping[str, OwnFunction] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Program: {short(', '.join(self.quantities), 100)}>"

    @cached_property
    def named(self) -> Mapping[str, Node]:
        """The quantities and the gradients, these as ``dL/dQ``."""
        gradients = {syntax.gradient_name(name): node for name, node in self.gradients.items()}
        return {**self.quantities, **gradients}

    def known(self, name: str) -> str | None:
        """A quantity or a gradient by the name that results have: ``dL/dQ`` also for ``dQ``
        and ``grad(Q)``. None for anything else.

        >>> p = program({"Q": (2, 3)}, {"A": "softmax(Q)"})
        >>> p.known("A"), p.known("dQ")
        ('A', None)
        """
        if name in self.named:
            return name
        of = syntax.gradient_of(name)
        gradient = None if of is None else syntax.gradient_name(of)
        return gradient if gradient in self.named else None

    def shapes(self) -> dict[str, Shape]:
        """The shape of every given quantity and step."""
        return {name: node.shape for name, node in self.quantities.items()}

    def lower(self, text: str) -> Node:
        """The node of an expression over this program's quantities.

        ``dL/dQ`` and ``grad(Q)`` are the gradient with respect to ``Q``, and so is ``dQ`` where no
        quantity has that name. Raises :class:`Malformed` for functions and shapes that don't fit,
        :class:`UnknownName` for names.
        """
        return self.lower_tree(syntax.parse(text))

    def lower_tree(self, tree: syntax.Tree, special: Special = lambda call: None) -> Node:
        """The node of a parsed expression; ``special`` may give the node of a
        call that steps don't know."""
        need_short(tree, self.functions)
        return self.lowered(tree, special)

    def lowered(self, tree: syntax.Tree, special: Special) -> Node:
        """The node of an expression, or of a part of one, that isn't too long."""

        def lower(part: syntax.Tree) -> Node:
            return self.lowered(part, special)

        if isinstance(tree, syntax.Call) and (node := special(tree)) is not None:
            return node
        if self.upstream and (found := self.jacobian(tree)) is not None:
            return found.node
        match tree:
            case syntax.Literal():
                return nodes.constant(evaluate(tree, tree.text))
            case syntax.Array():
                return _array(tree)
            case syntax.Name(name):
                return self._quantity(name)
            case syntax.Negative(syntax.Name("inf")):
                return nodes.table(((MASKED,),), ())
            case syntax.Negative(operand):
                return nodes.negate(lower(operand))
            case syntax.Power(base, exponent):
                return power(lower(base), _exponent(exponent))
            case syntax.Comparison(operands, relations):
                return self._compared([*map(lower, operands)], relations)
            case syntax.Binary(op, left, right):
                x, y = lower(left), lower(right)
                try:
                    if op == "@":
                        return nodes.matmul(x, y)
                    return nodes.elementwise(_OPERATORS[op], x, y)
                except Malformed as error:
                    raise Malformed(f"{error}{self._bindings(tree)}") from None
            case syntax.Transposed(operand):
                return nodes.transpose(lower(operand))
            case syntax.Indexed(operand, keys):
                return nodes.index(lower(operand), keys)
            case syntax.Gradient(name):
                return self._gradient(name)
            case syntax.Call("grad", (syntax.Name(of), syntax.Name(by)), ()):
                return self._slope(of, by)
            case syntax.Call(name) if name in self.functions:
                return self.functions[name].called(tree, lower, self._within)
            case syntax.Call(name):
                return self._function(name).called(tree, lower)
        raise Malformed("a list in brackets and statements joined by 'and' are no quantities")

    def jacobian(self, tree: syntax.Tree) -> Jacobian | None:
        """The Jacobian that an expression is, if it is one."""
        return jacobians.read(tree, self.quantities.get, self.lower_tree)

    def _quantity(self, name: str) -> Node:
        if name in self.quantities:
            return self.quantities[name]
        if name == "pi":
            return pi()
        if name[0] == "d" and name[1:] in self.quantities:
            return self._gradient(name[1:])
        raise UnknownName(no_quantity(name, self.quantities, self.functions))

    def definition(self, call: WrittenCall) -> Node:
        """Return what a function of one's own makes of parameters in the shapes of a call.

        Raises :class:`Malformed` where that is not to be said in letters alone.
        """
        return self.functions[call.function].in_letters(call, self._within)

    def _within(self, operands: Mapping[str, Node], body: syntax.Tree) -> Node:
        """The node of the body of a function, which knows its operands and nothing else."""
        known = Program(operands, tuple(operands), (), functions=self.functions)
        return known.lowered(body, lambda call: None)

    def _function(self, name: str) -> StepFunction:
        """The function of that name."""
        function = FUNCTIONS.get(ALIASES.get(name, name))
        if function is not None:
            return function
        if name in self.quantities:
            of = f"{name} is a quantity, no function"
            raise Malformed(f"{of}: write '{name} @ (...)' or '{name} * (...)'")
        if name == "grad":
            raise Malformed("grad takes names of quantities, as in grad(Q) or grad(L, Q)")
        raise UnknownName(no_function(name, self.functions))

    @staticmethod
    def _compared(operands: list[Node], relations: tuple[str, ...]) -> Node:
        """1 where all relations hold, else 0."""
        pairs = zip(operands, relations, operands[1:], strict=False)
        return reduce(times, (COMPARISONS[sign](x, y) for x, sign, y in pairs))

    def _slope(self, of: str, by: str) -> Node:
        """The gradient of a number with respect to a quantity, in a step."""
        loss, variable = self._quantity(of), self._quantity(by)
        if loss.shape:
            raise Malformed(
                f"expected a number to take the gradient of, {of} is {show(loss.shape)}"
            )
        if loss.serial not in self._slopes:
            self._slopes[loss.serial] = flows(loss, number(1))
        gradient = self._slopes[loss.serial].get(variable.serial)
        if gradient is None:
            raise UnknownName(f"grad({of}, {by}): {of} does not depend on {by}")
        return replace(
            nodes.copy(gradient), written=WrittenCall("grad", (loss, variable), ("", ""))
        )

    @cached_property
    def derivatives(self) -> dict[str, Program]:
        """Return what :func:`differentiate` has made, by the output."""
        return {}

    @cached_property
    def _slopes(self) -> dict[int, dict[int, Node]]:
        """The gradients that steps have asked for, by what they are of."""
        return {}

    def _gradient(self, name: str) -> Node:
        self._quantity(name)
        if self.loss and not self.upstream:
            if self.loss not in self.quantities:
                message = f"expected the step {self.loss} before"
                raise Malformed(f"{syntax.gradient_name(name)}: {message}, the output of the loss")
            return self._slope(self.loss, name)
        if not self.upstream:
            raise UnknownName(
                f"{syntax.gradient_name(name)}: say of which number, as in grad(L, {name}), "
                "or name it as output under [loss]"
            )
        if name not in self.gradients:
            raise UnknownName(f"{syntax.gradient_name(name)}: the loss does not depend on {name}")
        return self.gradients[name]

    def _bindings(self, tree: syntax.Binary) -> str:
        """``(Q is 3x4, K is 3x4)``: what the names in a tree are bound to."""
        bound = {
            name: self.quantities.get(name) or self._quantity(name) for name in syntax.names(tree)
        }
        bindings = [f"{name} is {show(node.shape)}" for name, node in bound.items()]
        return f" ({', '.join(bindings)})" if bindings else ""


def no_quantity(name: str, known: Iterable[str], functions: Collection[str] = ()) -> str:
    """Return what is said of a name that no quantity has.

    >>> no_quantity("Z", ["Q", "K"])
    "unknown name 'Z': expected one of Q, K"
    """
    if name in RESERVED:
        return f"{name!r} is no quantity; {RESERVED[name][1]}"
    if name in FUNCTIONS or name in functions:
        return f"{name!r} is no quantity; as a function it needs brackets"
    if name == "e":
        return "'e' is no quantity; write exp(1) for Euler's number"
    return f"unknown name {short(name)!r}: {expected(name, known)}"


def no_function(name: str, own: Iterable[str] = ()) -> str:
    """Return what is said of a name that no function has.

    >>> no_function("sofmax")
    "unknown function 'sofmax': did you mean softmax?"
    """
    known = sorted([*FUNCTIONS, *own, "grad", "heads", "merge"])
    return f"unknown function {short(name)!r}: {of_word(name) or expected(name, known)}"


def _exponent(tree: syntax.Tree) -> Node:
    """The number that an exponent is, which is no quantity."""
    if any(syntax.names(tree)):
        raise Malformed("a power takes a whole number written out, found a quantity")
    try:
        return nodes.constant(evaluate(tree, syntax.text(tree)))
    except Malformed:
        written = short(syntax.text(tree), 40)
        raise Malformed(f"a power takes a whole number written out, found {written}") from None


def _array(tree: syntax.Array) -> Node:
    """The node of numbers in brackets; raises :class:`Malformed` where rows differ in length
    or something is no number."""
    is_matrix = isinstance(tree.items[0], syntax.Array)
    rows = tree.items if is_matrix else (tree,)
    entries: list[tuple[Value | Masked, ...]] = []
    for row in rows:
        if not isinstance(row, syntax.Array):
            raise Malformed("expected rows in brackets, as in [[1, 2], [3, 4]]")
        entries.append(tuple(map(_entry, row.items)))
    widths = sorted({len(row) for row in entries})
    if len(widths) > 1:
        raise Malformed(f"expected rows of one length, found {widths[0]} and {widths[-1]} numbers")
    return nodes.table(tuple(entries), (len(rows), widths[0]) if is_matrix else (widths[0],))


def _entry(tree: syntax.Tree) -> Value | Masked:
    if isinstance(tree, syntax.Array):
        raise Malformed("an array has rows and columns, no more: found brackets in a row")
    if named := [name for name in syntax.names(tree) if name != "inf"]:
        raise Malformed(f"an array written in a step holds numbers, found {short(named[0])!r}")
    return read_tree(tree)


def name_fault(name: str) -> str:
    """Return what is wrong with a quantity's name; '' for a good one.

    >>> name_fault("grad"), name_fault("W_Q")
    ("'grad' is reserved for gradients: call it grad1", '')
    """
    if not _NAME.match(name):
        return f"{short(name, 40)!r} is no name: expected a letter, then letters, digits and _"
    if name not in RESERVED:
        return ""
    other = f"{name.upper()} or {name}1" if len(name) == 1 else f"{name}1"
    return f"{name!r} is reserved for {RESERVED[name][0]}: call it {other}"


def symbol_fault(name: str) -> str:
    """Return what is wrong with a symbol's name, which stands in numbers beside e and functions.

    >>> symbol_fault("e"), symbol_fault("g1")
    ("'e' is reserved for Euler's number: call it E or e1", '')
    """
    if name == "e":
        return _EULER
    if name == "pi":
        return "'pi' is reserved for the number pi: call it Pi or pi1"
    if name in FUNCTIONS:
        return f"{name!r} is reserved for the function of that name: call it {name}1"
    return name_fault(name)


def program(given: Mapping[str, Shape], steps: Mapping[str, Step]) -> Program:
    """The program of the steps, in order; :class:`Malformed` lists all faults. Steps that use a
    faulty step are passed over: they are no faults of their own.

    >>> program({"Q": (3, 4), "K": (3, 4)}, {"S": "Q @ K"})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: steps.S: shapes don't fit: 3x4 @ 3x4 needs the 4 columns on the \
left to meet as many rows on the right, found 3; the right side transposed (.T) would fit \
(Q is 3x4, K is 3x4)
    """
    sound, faults = sound_part(given, steps)
    if faults:
        raise Malformed(faults)
    return sound


def sound_part(
    given: Mapping[str, Shape],
    steps: Mapping[str, Step],
    unreadable: Iterable[str] = (),
    loss: str = "",
    functions: Mapping[str, OwnFunction] | None = None,
) -> tuple[Program, list[Fault]]:
    """Like :func:`program`: the program of what has no fault, and the faults. ``loss`` is the
    step that ``grad(W)`` is of, ``functions`` are those of one's own; steps that use what is
    ``unreadable``, a quantity or such a function, are passed over as well.

    >>> made, faults = sound_part({"Q": (3, 4)}, {"S": "Q + R", "T": "Q @ Q.T"})
    >>> list(made.quantities), [fault.where for fault in faults]
    (['Q', 'T'], ['steps.S'])
    """
    parts = tuple(given.items()), tuple(steps.items()), frozenset(unreadable), loss
    sound, faults = _sound_part(*parts, functions) if functions else _known_part(*parts)
    return sound, [*faults]


def _sound_part(
    given: tuple[tuple[str, Shape], ...],
    steps: tuple[tuple[str, Step], ...],
    unreadable: frozenset[str],
    loss: str,
    functions: Mapping[str, OwnFunction] | None = None,
) -> tuple[Program, list[Fault]]:
    faults: list[Fault] = []
    quantities: dict[str, Node] = {}
    for name, shape in given:
        _collect(faults, f"given.{name}", partial(_add_given, quantities, name, shape))
    if len(steps) > STEPS.most:
        faults.append(Fault("steps", STEPS.said(len(steps))))
        steps = ()
    names = tuple(name for name, _ in given)
    broken: set[str] = {name for name in names if name not in quantities} | unreadable
    program = Program(quantities, names, (), loss=loss, functions=functions or {})
    for name, step in steps:
        _collect(faults, f"steps.{name}", partial(_add_step, program, name, step, broken))
        if name not in quantities:
            broken.add(name)
    sound = tuple(name for name, _ in steps if name not in broken)
    return replace(program, steps=sound), faults


# Attention is computed again and again with other numbers of the same shapes.
_known_part = lru_cache(maxsize=64)(_sound_part)


def _collect(faults: list[Fault], where: str, act: Callable[[], None]) -> None:
    try:
        act()
    except Malformed as error:
        faults.extend(Fault(where, fault.message) for fault in error.faults)


def _add_given(quantities: dict[str, Node], name: str, shape: Shape) -> None:
    if fault := name_fault(name):
        raise Malformed(fault)
    if name == "e" and not shape:
        raise Malformed(_EULER)
    quantities[name] = nodes.given(name, shape)


def _add_step(so_far: Program, name: str, step: Step, broken: set[str]) -> None:
    if fault := name_fault(name):
        raise Malformed(fault)
    if name in so_far.quantities:
        raise Malformed(f"the name {name!r} is given already")
    tree = syntax.parse(step) if isinstance(step, str) else step
    if broken & {*syntax.names(tree), *calls(tree)}:
        return
    node = so_far.lower_tree(tree)
    if any(node is known for known in so_far.quantities.values()):
        node = nodes.copy(node)
    if name == "e" and not node.shape:
        raise Malformed(_EULER)
    assert isinstance(so_far.quantities, dict)
    so_far.quantities[name] = node


def differentiate(forward: Program, output: str) -> Program:
    """``forward`` with ``grad(name)`` for every quantity that ``output`` depends on.

    The loss is ``L = total(upstream * output)``; ``upstream`` is a new given
    quantity of the output's shape. The gradient with respect to a step is
    taken as if the step were an input: through its uses only.

    >>> p = program({"Q": (2, 3), "K": (4, 3)}, {"S": "Q @ K.T", "A": "softmax(S)"})
    >>> sorted(differentiate(p, "A").gradients)
    ['A', 'K', 'Q', 'S']
    """
    if output not in forward.derivatives:
        target = forward.quantities[output]
        upstream = nodes.given("upstream", target.shape)
        gradients = flows(target, upstream)
        named = {
            name: gradients[node.serial]
            for name, node in forward.quantities.items()
            if node.serial in gradients
        }
        forward.derivatives[output] = replace(forward, gradients=named, upstream=upstream)
    return forward.derivatives[output]


def uses(program: Program) -> int:
    """Return how often steps use an entry in making another, and once more for each two
    that one entry is made of: what there is to differentiate.

    >>> uses(program({"Q": (2, 3), "K": (3, 4)}, {"S": "Q @ K"})) == 8 * 6 + 6 * 6
    True
    """
    return sum(map(_uses, ancestors(program.quantities[name] for name in program.steps)))


def _uses(node: Node) -> int:
    if not node.operands:
        return 0
    lengths = node.operands[0].grid
    each = {
        "matmul": 2 * lengths[-1],
        "softmax": lengths[-1],
        **{op: prod(lengths[axis] for axis in axes) for op, axes in nodes.SUMS.items()},
    }.get(node.op, len(node.operands))
    return prod(node.grid) * each + each**2
