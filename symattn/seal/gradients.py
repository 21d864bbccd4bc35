"""Gradients as derivatives: the loss as a function of a quantity, and what its slopes are.

The chain rule is followed back from the loss, a step at a time, by the lemmas of the library.
Nothing of the gradient program is used: the definitions that come of it are proved to be the
derivatives of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, pairwise
from operator import add, neg, sub, truediv

from flint import arb, fmpq

from symattn.expressions.elementary import Arithmetic
from symattn.programs import nodes
from symattn.programs.nodes import Node, ancestors
from symattn.seal.bounds import Bounds, precise
from symattn.seal.definitions import (
    OWN,
    Definition,
    Definitions,
    I,
    J,
    Rows,
    Unstated,
    moved,
    spread,
)
from symattn.seal.terms import (
    BY_COQ,
    FUNCTIONS,
    ONE,
    ZERO,
    Choice,
    Entry,
    Function,
    Index,
    Moved,
    Number,
    Operation,
    Places,
    Sum,
    Term,
    free,
    local,
    parts,
    placed,
    replaced,
    shifted,
    side,
    text,
)
from symattn.seal.theorems import Theorem

# -- what flows back through terms -------------------------------------------------------
# Into the entries of an operand, of what flows into the result: as the lemmas of the library say
# it. A gradient is a function of the places of its entries.

#: What one entry of a gradient is, at a place.
Gradient = Callable[[Index, Index], Term]

#: What flows into a result, and the result itself: no quantity has a name with a stroke.
FLOW, RESULT = "G'", "Y'"
_TERMS: Arithmetic[Term] = Arithmetic(
    lambda number: Number(fmpq(number)), lambda: Entry("PI"), add, sub,
    lambda x, y: y if x == ONE else x * y, truediv, neg,
    lambda name, x: Function(FUNCTIONS[name], x),
)  # fmt: skip
#: Functions that have a slope of positive numbers only.
NEED_POSITIVE = frozenset({"log", "sqrt"})
#: The lemma of each operation through which gradients are followed.
LEMMAS = {
    **dict.fromkeys(("copy", "reshape", "hide", "spread"), "copy_back"),
    **dict.fromkeys(FUNCTIONS, "map_back"),
    "pick": "pick_back", "concat": "concat_back", "softmax": "softmax_back",
    "transpose": "transpose_back", "rowsum": "rowsum_back", "colsum": "colsum_back",
    "total": "total_back", "matmul": "matmul_back", "negate": "opp_back", "add": "plus_back",
    "subtract": "minus_back", "multiply": "mult_back", "divide": "div_back",
}  # fmt: skip


def slope_at(function: Function) -> Term:
    """The slope of a function by what it is of.

    >>> text(slope_at(Function("sqrt", Entry("x"))))
    '1 / (2 * sqrt x)'
    """
    flow: Term = BY_COQ[function.name].flow(_TERMS, ONE, function.operand, function)
    return flow


@dataclass(frozen=True)
class Use:
    """An entry of an operand in a term: at which ``indices``, what ``flow`` gets there, and the
    sizes of the variables that sums around it bind."""

    indices: tuple[Index, ...]
    flow: Term
    bound: Mapping[str, int]


def uses(
    term: Term, name: str, flow: Term, bound: Mapping[str, int] | None = None
) -> Iterator[Use]:
    """The uses of an operand in a term, by the rules of differentiation.

    >>> X, W = Entry("X", (I, Moved("k"))), Entry("W", (Moved("k"), J))
    >>> [use] = uses(Sum(3, "k", X * W), "W", Entry("G", (I, J)))
    >>> use.bound, text(use.flow)
    ({'k': 3}, 'X i k * G i j')
    """
    bound = bound or {}
    into: list[tuple[Term, Term]] = []
    match term:
        case Entry(own, indices) if own == name:
            yield Use(indices, flow, bound)
        case Operation("-", (x,)):
            into = [(x, -flow)]
        case Operation("+", (x, y)):
            into = [(x, flow), (y, flow)]
        case Operation("-", (x, y)):
            into = [(x, flow), (y, -flow)]
        case Operation("*", (x, y)):
            into = [(x, flow * y), (y, x * flow)]
        case Operation("/", (x, y)):
            into = [(x, flow / y), (y, -(flow * (x / y) / y))]
        case Function(_, x):
            into = [(x, flow * slope_at(term))]
        case Sum(int(size), variable, body):
            bound, into = {**bound, variable: size}, [(body, flow)]
        case Choice("Nat.ltb", _, then, other):
            # Of parts side by side: each has its own places.
            into = [(then, flow), (other, flow)]
        case Choice(condition, indices, then, other):
            into = [
                (then, Choice(condition, indices, flow, ZERO)),
                (other, Choice(condition, indices, ZERO, flow)),
            ]
    for part, flowing in into:
        yield from uses(part, name, flowing, bound)


def gathered(use: Use, term: Term, grid: tuple[int, int], own: tuple[int, int], at: Places) -> Term:
    """Return what flows into an operand at a place by a use of it in a term of ``i`` and ``j``,
    as far as a grid reaches: the indices of the use are solved for the place, and all that is
    left of them is summed; nothing flows where the use has no such place. The operand has an
    ``own`` grid."""
    named = {x.name for part in parts(term) for x in _indices(part) if isinstance(x, Moved)}
    sizes = {"i": grid[0], "j": grid[1], **use.bound}
    known: dict[str, Index] = {}
    asked: list[tuple[Index, ...]] = []
    for index, place, size, variable in zip(use.indices, at, own, "ij", strict=True):
        if isinstance(index, int):
            first, count = index, 1
            if size == sizes[variable] == 1 and variable not in named:
                known[variable] = place
        elif index.step != 1:
            raise Unstated("the gradient of what was picked in steps has no statement")
        else:
            first, count = index.start, sizes[index.name]
            known[index.name] = shifted(place, -first)
        if first > 0 or first + count < size:
            asked.append((first, count, place))
    summed: list[tuple[Moved, int]] = []
    for variable, size in sizes.items():
        if variable in known:
            continue
        if size == 1 and variable not in named:
            known[variable] = 0
        else:
            known[variable] = index = free(*at, *(x for x, _ in summed))
            summed.append((index, size))
    flow = placed(use.flow, known)
    for index, size in reversed(summed):
        flow = Sum(size, index.name, flow)
    for condition in reversed(asked):
        flow = Choice("within", condition, flow, ZERO)
    return flow


def _indices(term: Term) -> tuple[Index, ...]:
    return term.indices if isinstance(term, (Entry, Choice)) else ()


class Flows:
    """The flows into the operands of the operations of a program."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def of(self, node: Node, g: Gradient) -> Iterator[tuple[Node, Gradient]]:
        """Yield what flows into each operand. Raises :class:`Unstated`."""
        if node.op not in LEMMAS:
            raise Unstated(f"the gradient of {node.op} has no statement")
        for number, x in enumerate(node.operands):
            yield x, partial(self._into, node, number, g)

    def _into(self, node: Node, number: int, g: Gradient, *at: Index) -> Term:
        entries: dict[str, Gradient] = {
            FLOW: g,
            RESULT: lambda *at: self._definitions.of(node).at(*at),
            **{
                _operand(k): partial(self._definitions.entry, x)
                for k, x in enumerate(node.operands)
            },
        }

        def filled(term: Term) -> Term | None:
            match term:
                case Entry(name, (i, j)):
                    return entries[name](i, j)
            return None

        i, j = at
        return replaced(self.skeleton(node, number, (i, j)), filled)

    def skeleton(self, node: Node, number: int, at: Places) -> Term:
        """Return what flows into an operand at a place, in terms of :data:`FLOW`,
        :data:`RESULT` and operands by their numbers."""
        if node.op == "softmax":
            return _scores(node, *at)
        term = self._definitions.made_of(node, I, J, lambda k, *at: Entry(_operand(k), at))
        found = uses(term, _operand(number), Entry(FLOW, (I, J)))
        own = node.operands[number].grid
        return reduce(add, (gathered(use, term, node.grid, own, at) for use in found))


def _operand(number: int) -> str:
    return f"{number}'"


def _scores(node: Node, i: Index, j: Index) -> Term:
    """Return what flows into the scores of weights."""
    k = free(i, j)
    mean = Sum(node.grid[1], k.name, Entry(FLOW, (i, k)) * Entry(RESULT, (i, k)))
    return Entry(RESULT, (i, j)) * (Entry(FLOW, (i, j)) - mean)


def added(one: Gradient, other: Gradient) -> Gradient:
    """Return what flows in from two uses."""
    return lambda i, j: one(i, j) + other(i, j)


# -- gradients ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Derivative:
    """The gradient by a quantity: its definition, and the theorem that it is the derivative
    of the loss, which is a definition too."""

    by: str
    gradient: Definition
    loss_name: str
    loss: str
    theorem: Theorem


class Derivatives:
    """The derivatives of a loss that is linear in its output, with the entries of the
    ``upstream`` gradient before those of the output; ``letter`` is the one of which these are
    the coefficients, '' for none."""

    def __init__(
        self,
        bounds: Bounds,
        definitions: Definitions,
        output: Node,
        upstream: Rows,
        letter: str = "",
    ) -> None:
        self._bounds = bounds
        self._definitions = definitions
        self._names = definitions.names
        self._flows = Flows(definitions)
        self._output = output
        self._signs: dict[str, Theorem] = {}
        self._after = f"_{letter}" if letter else ""
        name = f"d{definitions.of(output).name}{self._after}"
        said = f"What flows into the output{f', before {letter}' if letter else ''}"
        self._upstream = definitions.given(name, upstream, output, said)
        self._flowing: dict[int, Definition] = {output.serial: self._upstream}

    def by(self, by: Node) -> Derivative:
        """The derivative by a quantity. Raises :class:`Unstated`."""
        if len(by.shape) == 0:
            raise Unstated("the derivative by a single number has no statement")
        moving = self._moving(by)
        if self._output.serial not in moving:
            raise Unstated("the loss does not depend on it")
        of = self._definitions.of(by)
        gradient = self._gradient(by, moving)
        loss = self._names.fresh(f"loss_by_{of.name}{self._after}")
        lets = self._lets([node for node in moving.values() if self._is_defined(node, by)], of.name)
        proof = "\n".join(self._proof(by, moving))
        flow = self._upstream.at(I, J) * self._definitions.of(self._output).at(I, J)
        rows, columns = self._output.grid
        whole = Sum(rows, "i", Sum(columns, "j", flow)) if self._output.shape else flow
        words = f"Definition {loss} ({of.name} : nat -> nat -> R) : R :={lets}\n  {text(whole)}."
        m, n = of.grid
        theorem = Theorem(
            self._names.fresh(f"{gradient.name}_is_derivative"),
            f"forall i j, (i < {m})%nat -> (j < {n})%nat ->\n"
            f"  {slope(loss, of.name, I, J)} ({gradient.name} i j)",
            proof,
            f"{gradient.name} is the gradient by {of.name}",
        )
        return Derivative(of.name, gradient, loss, words, theorem)

    def _moving(self, by: Node) -> dict[int, Node]:
        """The nodes that depend on a quantity, itself among them, in order."""
        moving = {by.serial: by}
        for node in ancestors([self._output], stop=lambda x: x.serial == by.serial):
            if any(x.serial in moving for x in node.operands):
                moving[node.serial] = node
        return moving

    def _is_defined(self, node: Node, by: Node) -> bool:
        return node is not by and (node.op in OWN or self._definitions.is_named(node))

    def _lets(self, nodes: list[Node], by: str) -> str:
        """Return what depends on a quantity, as a loss defines it again."""
        words, names = "", {by}
        for made in map(self._definitions.of, nodes):
            assert made.term is not None
            indices = "" if made.is_number else " (i j : nat)"
            words += f"\n  let {made.name}{indices} := {text(local(made.term, names))} in"
            names.add(made.name)
        return words

    # -- what flows back ---------------------------------------------------------------------

    def _gradient(self, by: Node, moving: Mapping[int, Node]) -> Definition:
        """The definition of the gradient by a quantity, and of those on the way to it: of what
        has a definition of its own, and of what is used several times, into which as much flows
        as comes from all its uses."""
        flowing: list[tuple[Node, Gradient]] = [(self._output, self._upstream.at)]
        named = self._output
        for node in reversed([*moving.values()]):
            own = [gradient for x, gradient in flowing if x is node]
            if len(own) == 1:
                first = next(at for at, (x, _) in enumerate(flowing) if x is node)
            else:
                # The proof brings them together at the front.
                first = 0
            others = [(x, gradient) for x, gradient in flowing if x is not node]
            gradient = reduce(added, own)
            if node is by or self._definitions.is_named(node):
                named = node
            if self._is_called(node, by, len(own)):
                gradient = self._named(node, named, gradient).at
            if node is not by:
                flows = [x for x in self._flows.of(node, gradient) if x[0].serial in moving]
                flowing = [*others[:first], *flows, *others[first:]]
        return self._flowing[by.serial]

    def _is_called(self, node: Node, by: Node, uses: int) -> bool:
        """Return whether what flows into a node has a name."""
        return node is by or uses > 1 or self._is_defined(node, by)

    def _named(self, node: Node, named: Node, gradient: Gradient) -> Definition:
        if node.serial not in self._flowing:
            part = "" if node is named or node.op in OWN else "_part"
            of = self._definitions.of(node if not part else named)
            name = self._names.fresh(f"d{of.name}{part}{self._after}")
            indices = (I, J) if node.shape else (0, 0)
            made = Definition(name, node.grid, gradient(*indices), is_number=not node.shape)
            self._flowing[node.serial] = self._definitions.by_name[name] = made
        return self._flowing[node.serial]

    # -- the proof ---------------------------------------------------------------------------

    def _proof(self, by: Node, moving: Mapping[int, Node]) -> Iterator[str]:
        """The steps of a proof: how each node moves, then what the gradient makes of it."""
        m, n = by.grid
        # No quantity has a name with a stroke.
        yield f"apply (gradient2_put2 {m} {n}). intros p' x' D0' H0'."
        names = {by.serial: "0"}
        steps: dict[int, list[str]] = {by.serial: []}
        uses = dict.fromkeys(moving, 0)
        uses[self._output.serial] = 1
        for node in list(moving.values())[1:]:
            number = str(len(names))
            made: list[str] = []

            def fresh(lemma: str, made: list[str] = made, number: str = number) -> str:
                name = f"{number}_{len(made)}"
                made.append(name)
                return f"destruct ({lemma}) as (D{name}' & H{name}' & E{name}')."

            operands: list[str] = []
            for place, x in enumerate(node.operands[:1] if node.op == "hide" else node.operands):
                if x.serial not in moving:
                    operands.append(self._still(node, place))
                    continue
                uses[x.serial] += 1
                operands.append(f"H{names[x.serial]}'")
                if node.op in _SPREADING and x.grid != node.grid:
                    yield fresh(self._pick(operands.pop(), nodes.spread(x, node.shape)))
                    operands.append(f"H{made[-1]}'")
            if node.op == "concat":
                whole = operands[0]
                widths = [0, *(x.grid[1] for x in node.operands)]
                for part, (start, width) in enumerate(pairwise(accumulate(widths))):
                    if part:
                        sizes = f"{width} {width - start} eq_refl"
                        yield fresh(f"concat_back {whole} {sizes} {operands[part]}")
                        whole = f"H{made[-1]}'"
            elif node.op != "spread" or not made:
                yield fresh(self._lemma(node, operands))
            names[node.serial] = made[-1]
            steps[node.serial] = made[::-1]
        lemma = "number_back" if self._upstream.is_number else "upstream_back"
        loss = f"{lemma} {self._upstream.name} H{names[self._output.serial]}'"
        yield f"eapply slope_eq; [exact ({loss}) |]."
        for node in reversed([*moving.values()]):
            name = names[node.serial]
            if uses[node.serial] > 1:
                yield f"gathered D{name}'."
            if self._is_called(node, by, uses[node.serial]):
                flowing = self._flowing[node.serial]
                called = f"(fun _ _ : nat => {flowing.name})" if flowing.is_number else flowing.name
                yield f"called D{name}' {called}."
            yield from (f"back E{step}'." for step in steps[node.serial])
        yield "reflexivity."

    def _still(self, node: Node, place: int) -> str:
        """Return what an operand that does not move is, for a lemma."""
        x = node.operands[place]
        a, b = Moved("a'"), Moved("b'")
        if node.op in _SPREADING:
            (m, n), term = node.grid, self._definitions.entry(x, *spread(x, a, b))
        else:
            (m, n), term = x.grid, self._definitions.entry(x, a, b)
        return f"(still {m} {n} x' (fun a' b' => {text(term)}))"

    def _lemma(self, node: Node, operands: list[str]) -> str:
        """The lemma of an operation, applied to how its operands move."""
        given = " ".join(operands)
        match node.op:
            case "divide":
                below = node.operands[1]
                divisor = self._definitions.entry(below, *spread(below, I, J))
                given += f" {self._sign(divisor, node.grid, '<> 0')}"
            case "softmax":
                given += f" {self._keep(node)}"
            case "pick":
                return self._pick(operands[0], node)
            case op if op in FUNCTIONS:
                name, why = FUNCTIONS[op], "own_slope"
                if op in NEED_POSITIVE:
                    x = node.operands[0]
                    sign = self._sign(self._definitions.entry(x, I, J), x.grid, "> 0")
                    why = f"pose proof ({sign} i j Hi Hj); {why}"
                slope_of = f"(fun t => {text(slope_at(Function(name, Entry('t'))))})"
                given += f" {name} {slope_of} ltac:(intros i j Hi Hj; {why})"
        return f"{LEMMAS[node.op]} {given}"

    def _pick(self, operand: str, node: Node) -> str:
        """The lemma of what is picked, or repeated."""
        (x,), (a, b) = node.operands, (Moved("a'"), Moved("b'"))
        rows, columns = node.extra if node.op == "pick" else map(range, x.grid)
        flow = text(local(self._flows.skeleton(node, 0, (a, b)), {FLOW}))

        def places(axis: range) -> str:
            index = moved(axis, a)
            return f"(fun a' => {index if isinstance(index, Moved) else f'{index}%nat'})"

        sizes = " ".join(map(str, node.grid))
        given = f"{places(rows)} {places(columns)} (fun {FLOW} a' b' => {flow})"
        return f"pick_back {operand} {sizes} {given} ltac:(placed) ltac:(placed) ltac:(picked)"

    def _sign(self, term: Term, grid: tuple[int, int], sign: str) -> str:
        """The lemma that a term is positive, or not 0, at all places of a grid: by its bounds."""
        said = f"0 < {side(term)}" if sign == "> 0" else f"{side(term)} <> 0"
        statement = f"forall i j, (i < {grid[0]})%nat -> (j < {grid[1]})%nat -> {said}"
        if statement not in self._signs:
            rows = [
                _by_place("j", [self._place(term, {"i": i, "j": j}, sign) for j in range(grid[1])])
                for i in range(grid[0])
            ]
            proof = f"intros i j Hi Hj. {_by_place('i', rows)}"
            name = self._names.fresh("is_positive" if sign == "> 0" else "is_not_0")
            self._signs[statement] = self._bounds.add(Theorem(name, statement, proof))
        return self._signs[statement].name

    def _place(self, term: Term, env: Mapping[str, int], sign: str) -> str:
        """The proof that a term has a sign at a place."""
        at = placed(term, env)
        with precise():
            value = arb(self._bounds.numbers.value(at, {}))
        if not (value > 0 or (value < 0 and sign == "<> 0")):
            raise Unstated(f"{text(at)} is not known to be {sign}")
        reason = "" if sign == "> 0" else f"apply {'Rgt' if value > 0 else 'Rlt'}_not_eq. "
        return f"{reason}{self._bounds.preparation(at)} bounded."

    def _keep(self, node: Node) -> str:
        kept = self._definitions.kept(node.operands[0])
        m = node.grid[0]
        if kept is None:
            return "(fun _ _ => true) ltac:(intros; exists 0%nat; split; [lia | reflexivity])"
        condition = self._definitions.condition(node.operands[0], I, J)
        assert condition is not None
        first = [row.index(True) for row in kept]
        steps = " ".join(
            f"destruct a as [|a]; [exists {key}%nat; split; [lia | reflexivity] |" for key in first
        )
        return f"{condition[0]} ltac:(intros a Ha; {steps} lia{']' * m})"


_SPREADING = frozenset({"add", "subtract", "multiply", "divide", "spread"})


def slope(loss: str, of: str, i: Index, j: Index) -> str:
    """State that a loss has a slope by an entry, which is to follow.

    >>> slope("loss", "W", I, J)
    'is_derive (fun x => loss (put2 W i j x)) (W i j)'
    """
    x = "x" if of != "x" else "x'"
    return f"is_derive (fun {x} => {loss} (put2 {of} {i} {j} {x})) ({of} {i} {j})"


def _by_place(index: str, proofs: list[str]) -> str:
    """A proof for each place of an index."""
    words = "lia."
    for proof in reversed(proofs):
        words = f"destruct {index} as [|{index}]. {{ {proof} }} {words}"
    return words
