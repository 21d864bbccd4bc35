"""Gradients as derivatives: the loss as a function of a quantity, and what its slopes are.

The chain rule is followed back from the loss, a step at a time, by the lemmas of the library.
Nothing of the gradient program is used: the definitions that come of it are proved to be the
derivatives of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from flint import fmpq

from symattn.programs.nodes import Node, ancestors
from symattn.seal.definitions import FUNCTIONS, OWN, I, J, Definition, Definitions, Rows, Unstated, moved
from symattn.seal.terms import (
    Entry, Function, Moved, Number, Operation, Same, Sum, Term, free, parts, text,
)  # fmt: skip
from symattn.seal.theorems import Theorem

Index = int | Moved
#: What one entry of a gradient is, at a place.
Gradient = Callable[[Index, Index], Term]
#: Slopes of functions of every entry: of an entry, as a function of Coq's, and why it is that.
_SLOPES: Mapping[str, tuple[Callable[[Term], Term], str, str]] = {
    "exp": (lambda x: Function("exp", x), "exp", "intros; apply is_derive_exp"),
    "sin": (lambda x: Function("cos", x), "cos", "intros; apply is_derive_sin"),
    "cos": (
        lambda x: Operation("-", (Function("sin", x),)), "(fun t => - sin t)",
        "intros; apply is_derive_cos",
    ),
    "negate": (
        lambda x: Number(fmpq(-1)), "(fun _ => - 1)",
        "intros; apply (slope_opp (fun t => t)); apply slope_id",
    ),
}  # fmt: skip
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
        self, definitions: Definitions, output: Node, upstream: Rows, letter: str = ""
    ) -> None:
        self._definitions = definitions
        self._output = output
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
        loss = f"loss_by_{of.name}{self._after}"
        lets = "".join(self._let(node) for node in moving.values() if self._is_defined(node, by))
        body = self._loss_text()
        words = f"Definition {loss} ({of.name} : nat -> nat -> R) : R :={lets}\n  {body}."
        m, n = of.grid
        theorem = Theorem(
            f"{gradient.name}_is_derivative",
            f"forall i j, (i < {m})%nat -> (j < {n})%nat ->\n"
            f"  is_derive (fun x => {loss} (put2 {of.name} i j x)) ({of.name} i j) ({gradient.name} i j)",
            "\n".join(self._proof(by, moving)),
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

    def _let(self, node: Node) -> str:
        made = self._definitions.of(node)
        assert made.term is not None
        indices = "" if made.is_number else " (i j : nat)"
        return f"\n  let {made.name}{indices} := {text(made.term)} in"

    def _loss_text(self) -> str:
        made = self._definitions.of(self._output)
        if made.is_number:
            return made.name
        m, n = made.grid
        flow = Operation("*", (self._upstream.at(I, J), made.at(I, J)))
        return text(Sum(m, "i", Sum(n, "j", flow)))

    # -- what flows back ---------------------------------------------------------------------

    def _gradient(self, by: Node, moving: Mapping[int, Node]) -> Definition:
        """The definition of the gradient by a quantity, and of those on the way to it."""
        seen: set[int] = set()

        def expanded(node: Node, gradient: Gradient) -> Gradient:
            if node is by:
                return gradient
            if node.serial in seen:
                raise Unstated("what is used twice on the way has no statement")
            seen.add(node.serial)
            if self._is_defined(node, by):
                gradient = self._named(node, gradient).at
            found = [
                expanded(operand, flow)
                for operand, flow in self._flows(node, gradient)
                if operand.serial in moving
            ]
            return found[0] if len(found) == 1 else _added(found)

        return self._named(by, expanded(self._output, self._start))

    @property
    def _start(self) -> Gradient:
        return self._upstream.at

    def _named(self, node: Node, gradient: Gradient) -> Definition:
        if node.serial not in self._flowing:
            of = self._definitions.of(node)
            name = self._definitions.name(f"d{of.name}{self._after}")
            made = Definition(name, of.grid, gradient(I, J), is_number=False)
            self._flowing[node.serial] = self._definitions.by_name[name] = made
        return self._flowing[node.serial]

    def _flows(self, node: Node, g: Gradient) -> Iterator[tuple[Node, Gradient]]:
        """What flows into each operand: as the lemma of the operation says it."""
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
                yield x[0], _picked(node.grid, rows, columns, g)
            case "exp" | "sin" | "cos" | "negate":
                slope = _SLOPES[node.op][0]
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
        """What flows into an operand that is repeated: a sum over its places."""
        if x.grid == node.grid:
            return flow
        return _picked(node.grid, *_repeated(x, node), flow)

    # -- the proof ---------------------------------------------------------------------------

    def _proof(self, by: Node, moving: Mapping[int, Node]) -> Iterator[str]:
        """The steps of a proof: how each node moves, then what the gradient makes of it."""
        m, n = by.grid
        of = self._definitions.of(by).name
        yield "intros i j Hi Hj."
        yield f"pose proof (put2_moves {m} {n} {of} i j) as H0."
        names = {by.serial: "H0"}
        equations: list[str] = []

        def fresh(lemma: str, number: str) -> str:
            equations.append(f"E{number}")
            return f"destruct ({lemma}) as (D{number} & H{number} & E{number})."

        for node in list(moving.values())[1:]:
            number = str(len(names))
            operands: list[str] = []
            for place, x in enumerate(node.operands[:1] if node.op == "hide" else node.operands):
                if x.serial not in moving:
                    operands.append(self._still(node, place))
                elif node.op in _SPREADING and x.grid != node.grid:
                    inner = f"{number}_{place}"
                    yield fresh(self._pick(names[x.serial], node.grid, *_repeated(x, node)), inner)
                    operands.append(f"H{inner}")
                else:
                    operands.append(names[x.serial])
            if node.op in ("copy", "reshape", "hide"):
                names[node.serial] = operands[0]
                continue
            yield fresh(self._lemma(node, operands), number)
            names[node.serial] = f"H{number}"
        last = names[self._output.serial]
        upstream = self._upstream.name
        if self._upstream.is_number:
            raise Unstated("a loss of one number has no statement")
        yield f"eapply slope_eq; [exact (upstream_back {upstream} {last}) |]."
        for equation in reversed(equations):
            yield f"rewrite !{equation}; rewrite ?paired2_still, ?Rplus_0_r, ?Rplus_0_l."
        yield "rewrite !paired2_unit by assumption. reflexivity."

    def _still(self, node: Node, place: int) -> str:
        """What an operand that does not move is, for a lemma."""
        x = node.operands[place]
        a, b = Moved("a"), Moved("b")
        if node.op in _SPREADING:
            (m, n), term = node.grid, self._definitions.spread(node, place, a, b)
        else:
            (m, n), term = x.grid, self._definitions.entry(x, a, b)
        return f"(still {m} {n} (fun a b => {text(term)}))"

    def _lemma(self, node: Node, operands: list[str]) -> str:
        """The lemma of an operation, applied to how its operands move."""
        given = " ".join(operands)
        match node.op:
            case "transpose" | "rowsum" | "colsum" | "total" | "matmul":
                return f"{node.op}_back {given}"
            case "add" | "subtract" | "multiply":
                name = {"add": "plus", "subtract": "minus", "multiply": "mult"}[node.op]
                return f"{name}_back {given}"
            case "divide":
                return f"div_back {given} ltac:({self._not_zero(node)})"
            case "softmax":
                return f"softmax_back {given} {self._keep(node)}"
            case "pick":
                return self._pick(operands[0], node.grid, *node.extra)
            case "exp" | "sin" | "cos" | "negate":
                _, slope, proof = _SLOPES[node.op]
                return f"map_back {given} {_CALLED[node.op]} {slope} ltac:({proof})"
        raise Unstated(f"the gradient of {node.op} has no statement")

    @staticmethod
    def _pick(operand: str, grid: tuple[int, int], rows: range, columns: range) -> str:
        def places(axis: range) -> str:
            index = moved(axis, Moved("a"))
            return f"(fun a => {str(index).strip('()')})"

        sizes = " ".join(map(str, grid))
        return f"pick_back {operand} {sizes} {places(rows)} {places(columns)} ltac:(intros; lia) ltac:(intros; lia)"

    def _not_zero(self, node: Node) -> str:
        """Why a divisor that does not move is not 0: it is one number, or interval sees it."""
        divisor = node.operands[1]
        if divisor.grid != (1, 1):
            raise Unstated("a quotient by what is not one number has no statement")
        term = self._definitions.entry(divisor, 0, 0)
        if isinstance(term, Entry):
            opened = f"unfold {term.name}; "
        else:
            names = {part.name for part in _entries(term)}
            opened = f"unfold {', '.join(sorted(names))}; " if names else ""
        return f"intros; {opened}apply Rgt_not_eq; bounded"

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


_SPREADING = frozenset({"add", "subtract", "multiply", "divide"})


def _added(gradients: list[Gradient]) -> Gradient:
    first, second = gradients
    return lambda i, j: Operation("+", (first(i, j), second(i, j)))


def _repeated(x: Node, node: Node) -> tuple[range, range]:
    """The places of an operand that a result with more entries takes: its one row, or all."""
    rows, columns = (range(size) for size in x.grid)
    return rows, columns


def _picked(grid: tuple[int, int], rows: range, columns: range, g: Gradient) -> Gradient:
    """What flows into what rows and columns were taken of: as often as they were."""

    def entry(a: Index, b: Index) -> Term:
        i = free(a, b)
        j = free(a, b, i)
        at = Operation("*", (Same(moved(rows, i), a), Same(moved(columns, j), b)))
        flow = Operation("*", (at, g(i, j)))
        return Sum(grid[0], i.name, Sum(grid[1], j.name, flow))

    return entry


def _entries(term: Term) -> Iterator[Entry]:
    return (part for part in parts(term) if isinstance(part, Entry))
