"""Known slips: the usual mistakes, as small edits of a step.

A slip says what a step would have been computed as. It is named only when it
gives the printed figures again; which ones it must give is decided in
:mod:`symattn.auditing.judgement`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from symattn.auditing.dependence import Term, Terms, add, negative
from symattn.errors import Malformed
from symattn.programs import nodes
from symattn.programs.nodes import Node

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
        return SENTENCES[self.name].format(self.detail)


def step_slips(terms: Terms, name: str) -> Iterator[Slip]:
    """Slips that change a whole step."""
    node = terms.nodes[name]
    for slip, detail, changed in _edits(terms, node):
        if changed.grid == node.grid:
            yield Slip(slip, detail, partial(terms.work, _top(changed)))
    for other, candidate in _others(terms, node, node.serial):
        yield Slip("matrix-reused", other, partial(terms.at, candidate))
    if len(node.shape) == 2 and node.shape[0] == node.shape[1]:
        yield Slip("result-transposed", "", lambda i, j: terms.at(node, j, i))
    yield Slip("sign-flipped", "", lambda i, j: negative(terms.work(node, i, j)))


def _top(node: Node) -> Node:
    """A node that is certainly unnamed, so that its operation is worked."""
    return nodes.copy(node)


def _edits(terms: Terms, node: Node) -> Iterator[tuple[str, str, Node]]:
    """A node with one thing changed, here or in an unnamed part of it."""
    yield from _local(terms, node)
    for place, operand in enumerate(node.operands):
        if operand.serial not in terms.names:
            for slip, detail, changed in _edits(terms, operand):
                if changed.grid == operand.grid:
                    yield slip, detail, _with(node, place, changed)
            continue
        if operand.op in ("divide", "multiply") and operand.operands[1].grid == (1, 1):
            yield "scale-dropped", "", _with(node, place, operand.operands[0])
        if operand.op == "hide":
            yield "mask-forgotten", "", _with(node, place, operand.operands[0])
        for other, candidate in _others(terms, operand, node.serial):
            detail = f"{other} in place of {terms.names[operand.serial]}"
            yield "other-matrix", detail, _with(node, place, candidate)


def _others(terms: Terms, node: Node, before: int) -> Iterator[tuple[str, Node]]:
    """Named quantities of the same shape that are known before a step."""
    for name, candidate in terms.nodes.items():
        own = terms.names.get(candidate.serial) == name and candidate.op != "copy"
        known = candidate.serial < before and candidate is not node
        if own and known and candidate.shape == node.shape != ():
            yield name, candidate


def _local(terms: Terms, node: Node) -> Iterator[tuple[str, str, Node]]:
    x = node.operands
    match node.op:
        case "divide" | "multiply" if x[1].grid == (1, 1):
            shown = terms.names.get(x[1].serial, "")
            yield "scale-dropped", shown, x[0]
            yield "scaled-twice", "", Node(node.op, (node, x[1]), node.shape)
            if x[1].op == "sqrt":
                below = x[1].operands[0]
                detail = terms.names.get(below.serial, "the number")
                yield "scale-not-rooted", detail, Node(node.op, (x[0], below), node.shape)
        case "hide":
            yield "mask-forgotten", "", x[0]
            if len(node.shape) == 2 and node.shape[0] == node.shape[1]:
                flipped = nodes.transpose(x[1])
                yield "mask-transposed", "", Node("hide", (x[0], flipped), node.shape)
        case "softmax" if len(node.shape) == 2:
            yield "softmax-columns", "", nodes.transpose(nodes.softmax(nodes.transpose(x[0])))
            yield "not-normalised", "", nodes.apply("exp", x[0])
        case "matmul":
            for place in (0, 1):
                turned = [nodes.transpose(o) if k == place else o for k, o in enumerate(x)]
                side = x[place].operands[0] if x[place].op == "transpose" else x[place]
                detail = terms.names.get(side.serial, "a factor")
                yield from _if_fits("transposed", detail, turned[0], turned[1])
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


def row_slips(terms: Terms, base: Callable[[int, int], Term], i: int, j: int) -> Iterator[Slip]:
    """Another entry of a matrix used in place of the right one, all along a
    row: ``base`` gives the right terms."""
    for leaf in dict.fromkeys(_leaves(base(i, j))):
        name, a, b = leaf.parts
        node = terms.nodes[name]
        if not node.operands:
            continue
        rows, columns = node.grid
        others = [(a, c) for c in range(columns) if c != b] + [
            (r, b) for r in range(rows) if r != a
        ]
        for place in others:
            instead = Term("entry", (name, *place))
            detail = f"{_shown(instead)} in place of {_shown(leaf)}"
            yield Slip("score-copied", detail, partial(_in_row, base, i, leaf, instead))


def _in_row(
    base: Callable[[int, int], Term], i: int, leaf: Term, instead: Term, row: int, column: int
) -> Term | None:
    return _replaced(base(row, column), leaf, instead) if row == i else None


def entry_slips(
    terms: Terms, base: Callable[[int, int], Term], grid: tuple[int, int], i: int, j: int
) -> Iterator[Slip]:
    """Slips of one entry."""
    rows, columns = grid

    def only(term: Term) -> Callable[[int, int], Term | None]:
        return lambda row, column: term if (row, column) == (i, j) else None

    near = [(i, c) for c in range(columns) if c != j] + [(r, j) for r in range(rows) if r != i]
    for a, b in near:
        yield Slip("entry-copied", f"[{a}, {b}]", only(base(a, b)))
    right = base(i, j)
    for path, term in _sums(right):
        for k, part in enumerate(term.parts):
            rest = term.parts[:k] + term.parts[k + 1 :]
            shown = _term_text(part)
            yield Slip("term-dropped", shown, only(_at_path(right, path, add(list(rest)))))
            flipped = add([*rest, negative(part)])
            yield Slip("term-sign", shown, only(_at_path(right, path, flipped)))


def digit_slips(printed: int, correct: int) -> str:
    """The slip of the pen between two figures in units of the last place."""
    if printed == -correct and correct:
        return "sign-flipped"
    for shift in (10, 100, 1000):
        smaller = bool(printed) and abs(printed * shift - correct) <= shift // 2
        if correct and (printed == correct * shift or smaller):
            return "decimal-misplaced"
    a, b = str(abs(printed)), str(abs(correct))
    width = max(len(a), len(b))
    a, b = a.zfill(width), b.zfill(width)
    for k in range(width - 1):
        swapped = b[:k] + b[k + 1] + b[k] + b[k + 2 :]
        if swapped == a and (printed < 0) == (correct < 0) and b[k] != b[k + 1]:
            return "digits-transposed"
    return ""


def _shown(leaf: Term) -> str:
    name, i, j = leaf.parts
    return f"{name}[{i}, {j}]"


def _term_text(term: Term) -> str:
    match term.op, term.parts:
        case "entry", _:
            return _shown(term)
        case "number", (number,):
            return f"{number:g}"
        case "neg", (part,):
            return f"-{_term_text(part)}"
        case (("exp" | "sqrt" | "log"), (part,)):
            return f"{term.op}({_term_text(part)})"
    sign = {"+": " + ", "*": " * ", "/": " / "}[term.op]
    return sign.join(map(_term_text, term.parts))


def _leaves(term: Term) -> Iterator[Term]:
    if term.op == "entry":
        yield term
    elif term.op != "number":
        for part in term.parts:
            yield from _leaves(part)


def _replaced(term: Term, leaf: Term, instead: Term) -> Term:
    if term == leaf:
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
