"""Gradients as derivatives: the loss as a function of a quantity, and what its slopes are.

The chain rule is followed back from the loss, a step at a time, by the lemmas of the library.
Nothing of the gradient program is used: the definitions that come of it are proved to be the
derivatives of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, pairwise

from flint import arb, fmpq

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
    starts,
)
from symattn.seal.terms import (
    FUNCTIONS,
    ONE,
    ZERO,
    Choice,
    Entry,
    Function,
    Moved,
    Number,
    Operation,
    Sum,
    Term,
    free,
    local,
    placed,
    shifted,
    side,
    text,
)
from symattn.seal.theorems import Theorem

# -- what flows back through each operation ----------------------------------------------
# Into its operands, of what flows into its result.
#
# As the lemmas of the library say it; a gradient is a function of the places of its entries.

Index = int | Moved
#: What one entry of a gradient is, at a place.
Gradient = Callable[[Index, Index], Term]


@dataclass(frozen=True)
class Slope:
    """The slope of a function of every entry: ``of`` an entry, and why it is that; those that
    have one of positive numbers only ``need_positive`` entries."""

    of: Callable[[Term], Term]
    why: str
    need_positive: bool = False


def _over(below: Term) -> Term:
    return Operation("/", (ONE, below))


SLOPES: Mapping[str, Slope] = {
    "exp": Slope(lambda x: Function("exp", x), "apply is_derive_exp"),
    "sin": Slope(lambda x: Function("cos", x), "apply is_derive_sin"),
    "cos": Slope(lambda x: Operation("-", (Function("sin", x),)), "apply is_derive_cos"),
    "negate": Slope(lambda x: Number(fmpq(-1)), "apply (slope_opp (fun t => t)); apply slope_id"),
    "log": Slope(
        _over, "apply (slope_ln (fun t => t)); [assumption | apply slope_id]", need_positive=True
    ),
    "sqrt": Slope(
        lambda x: _over(Operation("*", (Number(fmpq(2)), Function("sqrt", x)))),
        "apply (slope_sqrt (fun t => t)); [assumption | apply slope_id]",
        need_positive=True,
    ),
}


class Flows:
    """The flows into the operands of the operations of a program."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def of(self, node: Node, g: Gradient) -> Iterator[tuple[Node, Gradient]]:
        """Yield what flows into each operand: as the lemma of the operation says it."""
        x = node.operands

        def entry(number: int) -> Gradient:
            return lambda i, j: self._definitions.entry(x[number], i, j)

        def times(one: Gradient, other: Gradient) -> Gradient:
            return lambda i, j: Operation("*", (one(i, j), other(i, j)))

        def over(one: Gradient, other: Gradient) -> Gradient:
            return lambda i, j: Operation("/", (one(i, j), other(i, j)))

        def minus(one: Gradient) -> Gradient:
            return lambda i, j: Operation("-", (one(i, j),))

        def spread(number: int) -> Gradient:
            return lambda i, j: self._definitions.spread(node, number, i, j)

        def back(number: int, flow: Gradient) -> Gradient:
            return self._gathered(x[number], node, flow)

        match node.op:
            case "copy" | "reshape" | "hide":
                yield x[0], g
            case "transpose":
                yield x[0], lambda i, j: g(j, i)
            case "add" | "subtract":
                yield x[0], back(0, g)
                yield x[1], back(1, g if node.op == "add" else minus(g))
            case "multiply":
                yield x[0], back(0, times(g, spread(1)))
                yield x[1], back(1, times(g, spread(0)))
            case "divide":
                yield x[0], back(0, over(g, spread(1)))
                quotient = over(spread(0), spread(1))
                yield x[1], back(1, minus(over(times(g, quotient), spread(1))))
            case "matmul":
                yield x[0], self._left(node, g)
                yield x[1], self._right(node, g)
            case "softmax":
                yield x[0], self._scores(node, g)
            case "rowsum":
                yield x[0], lambda i, j: g(i, 0)
            case "colsum":
                yield x[0], lambda i, j: g(0, j)
            case "total":
                yield x[0], lambda i, j: g(0, 0)
            case "pick":
                rows, columns = node.extra
                yield x[0], picked(x[0].grid, rows, columns, g)
            case "spread":
                yield x[0], back(0, g)
            case "concat":
                for part, start in zip(x, starts(node), strict=True):
                    yield part, _shifted(g, start)
            case _ if node.op in SLOPES:
                slope = SLOPES[node.op].of
                yield x[0], times(g, lambda i, j: slope(entry(0)(i, j)))
            case _:
                raise Unstated(f"the gradient of {node.op} has no statement")

    def _left(self, node: Node, g: Gradient) -> Gradient:
        right = node.operands[1]

        def entry(i: Index, k: Index) -> Term:
            j = free(i, k)
            factors = g(i, j), self._definitions.entry(right, k, j)
            return Sum(node.grid[1], j.name, Operation("*", factors))

        return entry

    def _right(self, node: Node, g: Gradient) -> Gradient:
        left = node.operands[0]

        def entry(k: Index, j: Index) -> Term:
            i = free(k, j)
            factors = self._definitions.entry(left, i, k), g(i, j)
            return Sum(node.grid[0], i.name, Operation("*", factors))

        return entry

    def _scores(self, node: Node, g: Gradient) -> Gradient:
        def entry(i: Index, j: Index) -> Term:
            k = free(i, j)
            weight = self._definitions.of(node).at
            mean = Sum(node.grid[1], k.name, Operation("*", (g(i, k), weight(i, k))))
            return Operation("*", (weight(i, j), Operation("-", (g(i, j), mean))))

        return entry

    @staticmethod
    def _gathered(x: Node, node: Node, flow: Gradient) -> Gradient:
        """Return what flows into an operand that is repeated: a sum over its places."""
        if x.grid == node.grid:
            return flow
        return summed(x.grid, node.grid, flow)


def added(one: Gradient, other: Gradient) -> Gradient:
    """Return what flows in from two uses."""
    return lambda i, j: Operation("+", (one(i, j), other(i, j)))


def _shifted(g: Gradient, start: int) -> Gradient:
    return lambda i, j: g(i, shifted(j, start))


def summed(inner: tuple[int, int], outer: tuple[int, int], g: Gradient) -> Gradient:
    """Return what flows into what is repeated: the sum of it over its places."""

    def entry(a: Index, b: Index) -> Term:
        i = free(a, b) if inner[0] < outer[0] else a
        j = free(a, b, i) if inner[1] < outer[1] else b
        flow = g(i, j)
        if isinstance(j, Moved) and inner[1] < outer[1]:
            flow = Sum(outer[1], j.name, flow)
        if isinstance(i, Moved) and inner[0] < outer[0]:
            flow = Sum(outer[0], i.name, flow)
        return flow

    return entry


def picked(inner: tuple[int, int], rows: range, columns: range, g: Gradient) -> Gradient:
    """Return what flows into what rows and columns were taken of: nothing where they were not."""

    def entry(a: Index, b: Index) -> Term:
        row, flow_row = _taken(rows, inner[0], a)
        column, flow_column = _taken(columns, inner[1], b)
        flow = g(row, column)
        for condition in filter(None, (flow_column, flow_row)):
            flow = Choice("within", condition, flow, ZERO)
        return flow

    return entry


def _taken(
    places: range, size: int, index: Index
) -> tuple[Index, tuple[Index, Index, Index] | None]:
    """Return where a place of what was picked from lies in what was picked, and what to ask
    first."""
    if places == range(size):
        return index, None
    if places.step != 1 and len(places) > 1:
        raise Unstated("the gradient of what was picked in steps has no statement")
    inside = shifted(index, -places.start) if len(places) > 1 else 0
    return inside, (places.start, len(places), index)


# -- gradients ---------------------------------------------------------------------------

_CALLED = {**FUNCTIONS, "negate": "Ropp"}


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
        body = self._loss_text()
        words = f"Definition {loss} ({of.name} : nat -> nat -> R) : R :={lets}\n  {body}."
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

    def _loss_text(self) -> str:
        m, n = self._output.grid
        of = self._definitions.of(self._output)
        flow = Operation("*", (self._upstream.at(I, J), of.at(I, J)))
        return text(flow if of.is_number else Sum(m, "i", Sum(n, "j", flow)))

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
                    yield fresh(self._pick(operands.pop(), x, node))
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
        yield f"eapply slope_eq; [exact ({self._start} H{names[self._output.serial]}') |]."
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

    @property
    def _start(self) -> str:
        """The lemma of the loss."""
        lemma = "number_back" if self._upstream.is_number else "upstream_back"
        return f"{lemma} {self._upstream.name}"

    def _still(self, node: Node, place: int) -> str:
        """Return what an operand that does not move is, for a lemma."""
        x = node.operands[place]
        a, b = Moved("a'"), Moved("b'")
        if node.op in _SPREADING:
            (m, n), term = node.grid, self._definitions.spread(node, place, a, b)
        else:
            (m, n), term = x.grid, self._definitions.entry(x, a, b)
        return f"(still {m} {n} x' (fun a' b' => {text(term)}))"

    def _lemma(self, node: Node, operands: list[str]) -> str:
        """The lemma of an operation, applied to how its operands move."""
        given = " ".join(operands)
        match node.op:
            case "copy" | "reshape" | "hide" | "spread":
                return f"copy_back {given}"
            case "transpose" | "rowsum" | "colsum" | "total" | "matmul":
                return f"{node.op}_back {given}"
            case "add" | "subtract" | "multiply":
                name = {"add": "plus", "subtract": "minus", "multiply": "mult"}[node.op]
                return f"{name}_back {given}"
            case "divide":
                divisor = self._definitions.spread(node, 1, I, J)
                return f"div_back {given} {self._sign(divisor, node.grid, '<> 0')}"
            case "softmax":
                return f"softmax_back {given} {self._keep(node)}"
            case "pick":
                return self._pick(operands[0], node.operands[0], node)
            case _ if node.op in SLOPES:
                slope, x = SLOPES[node.op], node.operands[0]
                of = f"(fun t => {text(slope.of(Entry('t')))})"
                why = f"intros; {slope.why}"
                if slope.need_positive:
                    sign = self._sign(self._definitions.entry(x, I, J), x.grid, "> 0")
                    why = f"intros i j Hi Hj; pose proof ({sign} i j Hi Hj); {slope.why}"
                return f"map_back {given} {_CALLED[node.op]} {of} ltac:({why})"
        raise Unstated(f"the gradient of {node.op} has no statement")

    @staticmethod
    def _pick(operand: str, x: Node, node: Node) -> str:
        """The lemma of what is picked, or repeated."""
        flow: Gradient = lambda i, j: Entry("G'", (i, j))  # noqa: E731
        if node.op == "pick":
            rows, columns = node.extra
            flow = picked(x.grid, rows, columns, flow)
        else:
            rows, columns = map(range, x.grid)
            flow = summed(x.grid, node.grid, flow)
        gathered = text(local(flow(Moved("a'"), Moved("b'")), {"G'"}))

        def places(axis: range) -> str:
            index = moved(axis, Moved("a'"))
            return f"(fun a' => {index if isinstance(index, Moved) else f'{index}%nat'})"

        sizes = " ".join(map(str, node.grid))
        given = f"{places(rows)} {places(columns)} (fun G' a' b' => {gathered})"
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
