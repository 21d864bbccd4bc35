"""Known slips: the usual mistakes, as small edits of a step.

A slip says what a step would have been computed as. It is named only when it
gives the printed figures again; which ones it must give is decided in
:mod:`symattn.auditing.roots`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from symattn.auditing.recipes import Recipes
from symattn.auditing.terms import Term, add, negative
from symattn.errors import Malformed
from symattn.programs import nodes
from symattn.programs.nodes import ELEMENTWISE, Node

#: What each slip is, in a sentence; ``{}`` is what the search fills in.
SENTENCES = {
    "scale-dropped": "the scaling {} was left out",
    "scale-not-rooted": "the scores were divided by {} itself, not by its square root",
    "scaled-twice": "the scaling was applied twice",
    "mask-forgotten": "the mask was left out",
    "mask-transposed": "the mask was applied the wrong way round: earlier positions are hidden",
    "softmax-columns": "softmax was taken down the columns instead of along the rows",
    "not-normalised": "the exponentials were not divided by their sum",
    "transposed": "{} was used in place of its transpose, or the other way round",
    "product-swapped": "the factors of the product were swapped",
    "result-transposed": "the result was written down transposed",
    "other-matrix": "{} was used",
    "matrix-reused": "the figures are those of {}",
    "sign-flipped": "the sign is wrong",
    "score-copied": "{} was used",
    "entry-copied": "this is the figure that belongs to {}",
    "entries-swapped": "this figure and that of {} were swapped",
    "term-dropped": "a term of the sum was left out: {}",
    "term-sign": "a term of the sum has the wrong sign: {}",
    "digits-transposed": "two neighbouring digits were swapped",
    "decimal-misplaced": "the decimal point is misplaced",
    "last-digit": "off by one unit in the last place",
}


@dataclass(frozen=True)
class Slip:
    """A candidate: what entry (i, j) of the step would be; None where the
    slip says nothing of it. ``detail`` fills the sentence."""

    name: str
    detail: str
    term: Callable[[int, int], Term | None]

    @property
    def sentence(self) -> str:
        """The slip in words."""
        return " ".join(SENTENCES[self.name].format(self.detail).split())


# -- a whole step -----------------------------------------------------------------


def step_slips(recipes: Recipes, node: Node) -> Iterator[Slip]:
    """Slips that change a whole step."""
    for slip, detail, changed in _edits(recipes, node):
        if changed.grid == node.grid:
            yield Slip(slip, detail, partial(recipes.work, _top(changed)))
    for other, candidate in _others(recipes, node, node.serial):
        yield Slip("matrix-reused", other, partial(recipes.at, candidate))
    if len(node.shape) == 2 and node.shape[0] == node.shape[1]:
        yield Slip("result-transposed", "", lambda i, j: recipes.work(node, j, i))
    yield Slip("sign-flipped", "", lambda i, j: negative(recipes.work(node, i, j)))


def _top(node: Node) -> Node:
    """A node that is certainly unnamed, so that its operation is worked."""
    return nodes.copy(node)


def _edits(recipes: Recipes, node: Node) -> Iterator[tuple[str, str, Node]]:
    """A node with one thing changed, here or in an unnamed part of it."""
    yield from _local(recipes, node)
    for place, operand in enumerate(node.operands):
        if node.op == "hide" and place == 1:
            continue  # what hides is no quantity like the others
        if operand.serial not in recipes.names:
            for slip, detail, changed in _edits(recipes, operand):
                if changed.grid == operand.grid:
                    yield slip, detail, _with(node, place, changed)
            continue
        for slip, detail, changed in _passed_over(recipes, operand):
            yield slip, detail, _with(node, place, changed)
        for other, candidate in _others(recipes, operand, node.serial):
            detail = f"{other} in place of {recipes.text(operand)}"
            yield "other-matrix", detail, _with(node, place, candidate)


def _passed_over(recipes: Recipes, node: Node) -> Iterator[tuple[str, str, Node]]:
    """A named quantity as it would be if a step on the way to it were left out."""
    if node.op not in ("divide", "multiply", "hide"):
        return
    inner = node.operands[0]
    if node.op == "hide":
        yield "mask-forgotten", "", inner
    elif node.operands[1].grid == (1, 1):
        yield "scale-dropped", recipes.text(node.operands[1]), inner
    for slip, detail, changed in _passed_over(recipes, inner):
        yield slip, detail, _with(node, 0, changed)


def _others(recipes: Recipes, node: Node, before: int) -> Iterator[tuple[str, Node]]:
    """Named quantities of the same shape that are known before a step; for a
    gradient other gradients too."""
    gradients = recipes.gradients
    backward = node.serial in gradients
    for name, candidate in recipes.nodes.items():
        own = recipes.names.get(candidate.serial) == name and candidate.op != "copy"
        known = candidate.serial < before and candidate is not node
        if candidate.serial in gradients and not backward:
            continue
        if own and known and candidate.shape == node.shape != ():
            yield recipes.text(candidate), candidate


def _local(recipes: Recipes, node: Node) -> Iterator[tuple[str, str, Node]]:
    x = node.operands
    match node.op:
        case "divide" | "multiply" if x[1].grid == (1, 1):
            yield "scale-dropped", recipes.text(x[1]), x[0]
            if x[1].op == "sqrt":
                below = x[1].operands[0]
                yield "scale-not-rooted", recipes.text(below), _with(node, 1, below)
            yield "scaled-twice", "", Node(node.op, (_with(node, 0, x[0]), x[1]), node.shape)
        case "add" | "subtract":
            other: nodes.Arithmetic = "subtract" if node.op == "add" else "add"
            yield "term-sign", recipes.text(x[1]), Node(other, x, node.shape)
            yield "term-dropped", recipes.text(x[1]), x[0]
            yield "term-dropped", recipes.text(x[0]), nodes.negate(x[1]) if other == "add" else x[1]
        case "hide":
            yield "mask-forgotten", "", x[0]
            if len(node.shape) == 2 and x[1].shape == node.shape == node.shape[::-1]:
                flipped = nodes.transpose(x[1])
                yield "mask-transposed", "", Node("hide", (x[0], flipped), node.shape)
        case "softmax" if len(node.shape) == 2:
            yield "softmax-columns", "", nodes.transpose(nodes.softmax(nodes.transpose(x[0])))
            yield "not-normalised", "", nodes.apply("exp", x[0])
        case "matmul":
            for place in (0, 1):
                turned = [nodes.transpose(o) if k == place else o for k, o in enumerate(x)]
                side = x[place].operands[0] if x[place].op == "transpose" else x[place]
                yield from _if_fits("transposed", recipes.text(side), turned[0], turned[1])
            yield from _if_fits("product-swapped", "", x[1], x[0])


def _if_fits(slip: str, detail: str, x: Node, y: Node) -> Iterator[tuple[str, str, Node]]:
    try:
        yield slip, detail, nodes.matmul(x, y)
    except Malformed:
        return


def _with(node: Node, place: int, operand: Node) -> Node:
    operands = tuple(operand if k == place else o for k, o in enumerate(node.operands))
    return Node(node.op, operands, node.shape, node.extra)


# -- single entries ---------------------------------------------------------------


def row_slips(recipes: Recipes, node: Node, i: int, j: int) -> Iterator[Slip]:
    """Another entry of a matrix used in place of the right one, all along a row."""
    for leaf in dict.fromkeys(_leaves(recipes.work(node, i, j))):
        name, a, b = leaf.parts
        source = recipes.nodes[name]
        if not source.operands:
            continue
        rows, columns = source.grid
        others = [(a, c) for c in range(columns) if c != b] + [
            (r, b) for r in range(rows) if r != a
        ]
        for place in others:
            exact = recipes.exact(source, *place)
            if exact.is_zero() or not exact.is_finite():
                continue  # that would only drop what the right entry stands in
            other, right = (recipes.entry_text(name, *at) for at in (place, (a, b)))
            detail = f"{other} in place of {right}"
            instead = recipes.entry(name, *place)
            yield Slip("score-copied", detail, partial(_copied, recipes, node, i, leaf, instead))


def _copied(
    recipes: Recipes, node: Node, i: int, leaf: Term, instead: Term, row: int, column: int
) -> Term | None:
    return _replaced(recipes.work(node, row, column), leaf, instead) if row == i else None


def entry_slips(recipes: Recipes, node: Node, i: int, j: int) -> Iterator[Slip]:
    """Slips of one entry."""
    rows, columns = node.grid
    right = recipes.work(node, i, j)

    def only(term: Term) -> Callable[[int, int], Term | None]:
        return lambda row, column: term if (row, column) == (i, j) else None

    base = recipes.text(node) if node.serial in recipes.names else f"({recipes.text(node)})"
    near = [(i, c) for c in range(columns) if c != j] + [(r, j) for r in range(rows) if r != i]
    for a, b in near:
        place = f"[{a}, {b}]" if len(node.shape) == 2 else f"[{b}]"
        yield Slip("entry-copied", base + place, only(recipes.work(node, a, b)))
    for path, term in _sums(right):
        for k, part in enumerate(term.parts):
            rest = [*term.parts[:k], *term.parts[k + 1 :]]
            text = _term_text(recipes, part)
            yield Slip("term-dropped", text, only(_at_path(right, path, add(rest))))
            flipped = add([*rest, negative(part)])
            yield Slip("term-sign", text, only(_at_path(right, path, flipped)))


def pen_slips(printed: int, correct: int) -> Iterator[tuple[str, int]]:
    """Slips of the pen between two figures in units of the last place, each
    with the number of figures that such a slip could have made of the right one."""
    if printed == -correct and correct:
        yield "sign-flipped", 1
    shifts = (10, 100, 1000)
    if any(correct and _is_shifted(printed, correct, shift) for shift in shifts):
        yield "decimal-misplaced", 2 * len(shifts)
    a, b = str(abs(printed)), str(abs(correct))
    width = max(len(a), len(b))
    a, b = a.zfill(width), b.zfill(width)
    for k in range(width - 1):
        swapped = b[:k] + b[k + 1] + b[k] + b[k + 2 :]
        if swapped == a != b and (printed < 0) == (correct < 0):
            yield "digits-transposed", width - 1


def _is_shifted(printed: int, correct: int, shift: int) -> bool:
    """Whether the right figure stands ``shift`` times too large or too small,
    as far as its places show."""
    return printed == correct * shift or abs(printed * shift - correct) * 2 <= shift


def _term_text(recipes: Recipes, term: Term) -> str:
    match term.op, term.parts:
        case "entry", (name, i, j):
            return recipes.entry_text(name, i, j)
        case "number", (known,):
            return f"{known:g}"
        case "neg", (part,):
            inner = _term_text(recipes, part)
            return f"-({inner})" if part.op == "+" else f"-{inner}"
        case function, (part,) if function in ELEMENTWISE:
            return f"{function}({_term_text(recipes, part)})"
    parts = [
        f"({_term_text(recipes, part)})" if part.op == "+" else _term_text(recipes, part)
        for part in term.parts
    ]
    return {"+": " + ", "*": " * ", "/": " / "}[term.op].join(parts)


def _leaves(term: Term) -> Iterator[Term]:
    return (part for part in term.inside() if part.op == "entry")


def _replaced(term: Term, leaf: Term, instead: Term) -> Term:
    if term is leaf:
        return instead
    if term.op in ("entry", "number"):
        return term
    return Term(term.op, tuple(_replaced(part, leaf, instead) for part in term.parts))


def _sums(term: Term, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Term]]:
    """Every sum inside a term, and the way to it."""
    if term.op in ("entry", "number"):
        return
    if term.op == "+":
        yield path, term
    for k, part in enumerate(term.parts):
        yield from _sums(part, (*path, k))


def _at_path(term: Term, path: tuple[int, ...], instead: Term) -> Term:
    if not path:
        return instead
    parts = list(term.parts)
    parts[path[0]] = _at_path(parts[path[0]], path[1:], instead)
    return Term(term.op, tuple(parts))
