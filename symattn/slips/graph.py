"""Steps and the slips that can be made in them: of a program as it stands, or of its graph.

One graph of operations is what steps, gradients and claims are made of, each once.

Nodes are put into a form in which equal parts meet: a softmax is exponentials,
their sums, a quotient; indices are taken last, copies and ``+ 0`` and ``* 1``
are gone. ``exp(S[1])[2]`` is then an entry of what ``softmax(S)`` divides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from typing import Any

from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.expressions.elementary import ELEMENTWISE
from symattn.expressions.syntax import Tree
from symattn.languages.sentence import Sentence
from symattn.numbers.values import rational
from symattn.programs import display, nodes
from symattn.programs.nodes import SUMS, Node, ancestors
from symattn.programs.program import Program, program
from symattn.slips.catalogue import KINDS, MadeSlip, Rule, Word, fits, formula, mistaken_calls

Place = tuple[Node, int, int]
"""An entry of a node."""

_ENTRYWISE = ("negate", "add", "subtract", "multiply", "divide", "maximum", "above")
_FIRST = range(1)


class Graph:
    """Nodes in their form, all with grids as shapes; the same operation on the same is one node.

    ``numbers`` are the values of nodes that are numbers: 0 and 1 are left out.
    """

    def __init__(self) -> None:
        self._made: dict[Any, Node] = {}
        self._of: dict[int, Node] = {}
        self.origin: dict[int, Node] = {}
        """The node, a part of a program, that a form was found as: the first one, or a call."""

    def __getitem__(self, node: Node) -> Node:
        """A program's node in its form."""
        for part in self._taken(node):
            form = self._of[part.serial]
            if part.written or form.serial not in self.origin:
                self.origin[form.serial] = part
        return self._of[node.serial]

    def form(self, node: Node) -> Node:
        """The form of a node that is no program's own, made of forms and others."""
        list(self._taken(node))
        return self._of[node.serial]

    def _taken(self, node: Node) -> Iterator[Node]:
        # Operands first: a program is too deep for recursion.
        for part in ancestors([node], stop=lambda x: x.serial in self._of):
            self._of[part.serial] = self.apply(part, [self._of[x.serial] for x in part.operands])
            yield part

    def place(self, node: Node, i: int, j: int) -> Place:
        """Return where an entry of a node stands first: not behind indices and transposes."""
        while node.op in ("pick", "transpose"):
            if node.op == "pick":
                rows, columns = node.extra
                i, j = rows[i], columns[j]
            else:
                i, j = j, i
            (node,) = node.operands
        return node, i, j

    def apply(self, node: Node, operands: Sequence[Node]) -> Node:
        """An operation of a program on nodes in their form."""
        match node.op:
            case "given" | "table" | "triangle":
                return self._leaf(node)
            case "constant":
                return self._made.setdefault(("constant", str(node.extra)), node)
            case "copy" | "reshape":
                return operands[0]
            case "transpose":
                return self.transpose(operands[0])
            case "softmax":
                return self.divide(*self.powers(operands[0]))
            case "matmul":
                return self.matmul(*operands)
            case "pick":
                return self.pick(operands[0], *node.extra)
        return self.node(node.op, operands, node.grid, node.extra)

    def _leaf(self, node: Node) -> Node:
        """Leaves stay what they are: a program's inputs are known by them."""
        key = (node.op, node.grid if node.op == "triangle" else node.serial)
        return self._made.setdefault(key, node)

    def node(
        self, op: Any, operands: Sequence[Node], grid: tuple[int, int], extra: Any = None
    ) -> Node:
        """Any other operation, its indices taken last."""
        if op in ("add", "subtract") and (kept := _without(0, op, operands, grid)):
            return kept
        if op in ("multiply", "divide") and (kept := _without(1, op, operands, grid)):
            return kept
        if op == "negate" and operands[0].op == "negate":
            return operands[0].operands[0]
        if op in ELEMENTWISE or op in _ENTRYWISE:
            if (outer := self._behind(op, operands, grid, extra)) is not None:
                return outer
        elif op == "total" and operands[0].grid[0] == 1:
            return self.node("rowsum", operands, grid)
        elif op == "rowsum" and _has_all(operands[0], 1):
            (inner,) = operands[0].operands
            summed = self.node("rowsum", [inner], (inner.grid[0], 1))
            return self.pick(summed, operands[0].extra[0], _FIRST)
        if op in ("add", "multiply") or (op == "maximum" and extra is None):
            operands = sorted(operands, key=lambda x: x.serial)
        return self._once(op, operands, grid, extra)

    def _once(
        self, op: Any, operands: Sequence[Node], grid: tuple[int, int], extra: Any = None
    ) -> Node:
        key = (op, *(x.serial for x in operands), grid, extra)
        if key not in self._made:
            self._made[key] = made = Node(op, tuple(operands), grid, extra)
            self._of[made.serial] = made
        return self._made[key]

    def powers(self, scores: Node) -> tuple[Node, Node]:
        """Return what a softmax divides: exponentials, and their sums by rows."""
        above = self.node("exp", [scores], scores.grid)
        return above, self.node("rowsum", [above], (scores.grid[0], 1))

    def divide(self, above: Node, below: Node) -> Node:
        """A quotient, entry by entry."""
        return self.node("divide", [above, below], above.grid)

    def transpose(self, x: Node) -> Node:
        """A matrix turned."""
        if x.grid == (1, 1):
            return x
        if x.op == "transpose":
            return x.operands[0]
        if x.op == "pick":
            rows, columns = x.extra
            return self.pick(self.transpose(x.operands[0]), columns, rows)
        return self._once("transpose", [x], x.grid[::-1])

    def matmul(self, x: Node, y: Node) -> Node:
        """A product; of it and its transpose one is made of the other."""
        rows, columns = x.grid[0], y.grid[1]
        if _has_all(x, 1):
            inner = self.matmul(x.operands[0], y)
            return self.pick(inner, x.extra[0], range(columns))
        if _has_all(y, 0):
            inner = self.matmul(x, y.operands[0])
            return self.pick(inner, range(rows), y.extra[1])
        turned = "matmul", self.transpose(y).serial, self.transpose(x).serial, (columns, rows), None
        if turned in self._made:
            return self.transpose(self._made[turned])
        return self._once("matmul", [x, y], (rows, columns))

    def pick(self, x: Node, rows: range, columns: range) -> Node:
        """Some rows and columns; of what is picked already those of the first."""
        if x.op == "pick":
            rows, columns = (_among(*two) for two in zip(x.extra, (rows, columns), strict=True))
            (x,) = x.operands
        if (rows, columns) == (range(x.grid[0]), range(x.grid[1])):
            return x
        return self._once("pick", [x], (len(rows), len(columns)), (rows, columns))

    def _behind(
        self, op: Any, operands: Sequence[Node], grid: tuple[int, int], extra: Any
    ) -> Node | None:
        """The same operation on whole matrices, the indices taken of its result."""
        picked = [x for x in operands if x.op == "pick"]
        if not picked:
            return None
        rows, columns = picked[0].extra
        whole = picked[0].operands[0].grid
        inner = []
        # The same places of a matrix, or the same rows of a column beside it.
        alike = (((rows, columns), whole), ((rows, _FIRST), (whole[0], 1)))
        for x in operands:
            if x.op == "pick" and (x.extra, x.operands[0].grid) in alike:
                inner.append(x.operands[0])
            elif x.grid == (1, 1) and x.op != "pick":
                inner.append(x)
            else:
                return None
        if grid != (len(rows), len(columns)):
            return None
        return self.pick(self.node(op, inner, whole, extra), rows, columns)


def _has_all(x: Node, axis: int) -> bool:
    """Return whether all rows, or all columns, are picked."""
    return x.op == "pick" and x.extra[axis] == range(x.operands[0].grid[axis])


def _among(before: range, places: range) -> range:
    """Return what places are among those picked before."""
    first, last = before[places[0]], before[places[-1]]
    step = before.step * places.step
    return range(first, last + (1 if step > 0 else -1), step)


def _without(number: int, op: str, operands: Sequence[Node], grid: tuple[int, int]) -> Node | None:
    """The other operand, where one is a number that changes nothing."""
    x, y = operands
    if y.op == "constant" and y.extra == number and x.grid == grid:
        return x
    if op in ("add", "multiply") and x.op == "constant" and x.extra == number and y.grid == grid:
        return y
    return None


Bound = Mapping[str, Node]
Values = Callable[[Node], float | None]
#: Operations that leave all entries what they are.
_STILL = ("copy", "reshape", "transpose")


class Recipe:
    """The named steps of a program, or of its graph, and the slips that can be made in them.

    >>> from symattn.programs.program import program
    >>> p = program({"S": (2, 2)}, {"T": "S / sqrt(2)"})
    >>> steps = Recipe(p)
    >>> [kind for kind, _, _ in steps.slips(p.quantities["T"], lambda number: 2**0.5)][:3]
    ['scale-dropped', 'scale-not-rooted', 'scaled-twice']
    """

    def __init__(self, program: Program, graph: Graph | None = None) -> None:
        self._graph = graph
        self._upstream = program.upstream
        self._formulas = display.names(program)
        self.names: dict[int, Tree] = dict(self._formulas) if graph is None else {}
        self.named: dict[str, Node] = {}
        for name, node in program.named.items():
            self.named[name] = form = node if graph is None else graph[node]
            self.names.setdefault(form.serial, self._formulas[node.serial])
        self._sizes = sorted({x for node in self.named.values() for x in node.grid} - {1})
        self._texts: dict[int, str] = {}
        self._above: dict[int, frozenset[int]] = {}

    def depends(self, node: Node, on: Node) -> bool:
        """Return whether a node is computed from another, or is that."""
        if node.serial not in self._above:
            self._above[node.serial] = frozenset(part.serial for part in ancestors([node]))
        return on.serial in self._above[node.serial]

    def is_backward(self, node: Node) -> bool:
        """Return whether a node is computed from the upstream gradient."""
        return self._upstream is not None and self.depends(node, self._upstream)

    def text(self, node: Node) -> str:
        """A node as text: its name, or its expression down to names."""
        if node.serial not in self._texts:
            self._texts[node.serial] = syntax.shown(self.formula(node))
        return self._texts[node.serial]

    def formula(self, node: Node) -> Tree:
        """Return the name of a node, or what it computes: as a call where it was written as one."""
        return self.names.get(node.serial) or self.computed(node)

    def computed(self, node: Node) -> Tree:
        """Return what a node computes, named or not."""
        origin = None if self._graph is None else self._graph.origin.get(node.serial)
        if origin is not None and origin.written:
            return display.formula(origin, self._formulas)
        return display.formula(node, self.names)

    def key(self, kind: str, node: Node, instead: Node) -> object:
        """Return what a slip has in common with the same one in steps that are alike."""
        return kind, self._form(node), self._form(instead, is_inside=True)

    def _form(self, node: Node, is_inside: bool = False) -> object:
        """Return what a step computes, of whatever quantities."""
        if is_inside and node.serial in self.names:
            # Sizes, such as d_k, are the same for all.
            return node.serial if node.grid == (1, 1) else ""
        inside = tuple(self._form(x, is_inside=True) for x in node.operands)
        # Heads are the same columns of other quantities, or other columns of the same.
        extra = "" if node.op == "pick" else str(node.extra)
        return node.op, inside, node.serial if node.op == "given" else extra

    def slips(self, node: Node, value: Values) -> Iterator[MadeSlip]:
        """The slips that are another operation in the place of a node, each step once; ``value``
        tells what a number is."""
        made = {node.serial}
        origin = node if self._graph is None else self._graph.origin.get(node.serial)
        calls = [] if origin is None else [*mistaken_calls(origin)]
        for kind, slip in KINDS.items():
            of_rules = (found for rule in slip.rules for found in self._by_rule(rule, node, value))
            of_calls = ((self._in_form(x), words) for of, x, words in calls if of == kind)
            for instead, words in (*of_rules, *of_calls):
                if instead.grid == node.grid and instead.serial not in made:
                    made.add(instead.serial)
                    yield kind, instead, words
        if node.op == "concat":
            for a, b in combinations(range(len(node.operands)), 2):
                order = [*node.operands]
                order[a], order[b] = order[b], order[a]
                yield "heads-exchanged", self._again(node, order), (str(a), str(b))
        yield from self._others(node) if node.operands else ()

    def _others(self, node: Node) -> Iterator[MadeSlip]:
        """The slips of who takes another named quantity for a step, or for an operand of it."""
        at_hand = [(name, x) for name, x in self.named.items() if self._is_at_hand(x, node)]
        serials = {x.serial for x in self.named.values()}
        if node.serial in serials:
            for name, other in at_hand:
                if other.grid == node.grid:
                    yield "other-quantity", other, (name,)
        for place, operand in enumerate(node.operands if node.op != "transpose" else ()):
            inner = operand.operands[0] if operand.op == "transpose" else operand
            if inner.serial not in serials or inner.grid == (1, 1):
                continue
            for name, other in at_hand:
                if other is not inner and other.grid == inner.grid:
                    is_plain = inner is operand
                    instead = other if is_plain else Node("transpose", (other,), operand.shape)
                    operands = [instead if k == place else x for k, x in enumerate(node.operands)]
                    yield "other-matrix", self._again(node, operands), (name, inner)

    def _is_at_hand(self, other: Node, node: Node) -> bool:
        """Return whether a quantity is known where a step is made: it is not computed from that,
        and no gradient where there are none yet."""
        is_early = not self.is_backward(node) and self.is_backward(other)
        return not is_early and not self.depends(other, node)

    def _again(self, node: Node, operands: Sequence[Node]) -> Node:
        return self._in_form(Node(node.op, tuple(operands), node.shape, node.extra))

    def _in_form(self, node: Node) -> Node:
        """A node that was put together, in its form."""
        return node if self._graph is None else self._graph.form(node)

    def _by_rule(
        self, rule: Rule, node: Node, value: Values
    ) -> Iterator[tuple[Node, tuple[Word, ...]]]:
        """Yield what a rule makes of a node, and the words of that."""
        if rule.step == "X":
            # Nobody loses a sign in what only moves numbers.
            if not node.operands or node.op in _STILL:
                return
            # What is made of the step has it in itself.
            node = Node(node.op, node.operands, node.shape, node.extra)
        tree = formula(rule.instead)
        pattern = _pattern(rule.step, self._graph is not None)
        for known in fits(pattern, node, tree, _may_be, partial(self._numbers, value)):
            try:
                of_words = (
                    word if isinstance(word, Sentence) else self._lowered(word, known)
                    for word in rule.words
                )
                yield self._lowered(rule.instead, known), tuple(of_words)
            except Malformed:
                # Shapes that don't fit: nobody makes the slip here.
                continue

    def _lowered(self, text: str, known: Bound) -> Node:
        return self._in_form(Program(known, (), ()).lower_tree(formula(text)))

    def _numbers(self, value: Values, letter: str, bound: Bound) -> Iterable[Node]:
        """The sizes, or the whole numbers beside one; nothing is scaled by 1."""
        sizes = self._sizes
        if letter == "m":
            own = value(bound["r"])
            beside = (int(own) - 1, int(own) + 1) if own is not None and own.is_integer() else ()
            sizes = [x for x in beside if x > 1]
        return [nodes.constant(rational(size)) for size in sizes]


@cache
def _pattern(text: str, is_form: bool) -> Node:
    """A step of a rule; a matrix of any size may stand for one of two rows."""
    letters = {name: () if name.islower() else (2, 2) for name in syntax.names(formula(text))}
    step = program(letters, {}).lower(text)
    return Graph()[step] if is_form else step


def _may_be(letter: str, node: Node) -> bool:
    is_number = node.grid == (1, 1)
    if letter == "M":
        return not is_number
    # The sums of a softmax are no scale, be it of a single row.
    is_scale = is_number and node.op not in SUMS
    return not letter.islower() or (is_scale and (letter != "r" or node.op != "sqrt"))
