"""Scalar terms: what a figure is the value of.

A term is an expression over entries of named quantities, with a normal form
by which equal ones are recognised.

What people compute in place of a function of steps: the slips of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import inf, isfinite
from typing import Any

from flint import fmpq

from symattn.expressions.elementary import Elementwise
from symattn.languages.sentence import Sentence
from symattn.numbers.balls import FIRST
from symattn.numbers.values import Value
from symattn.programs import nodes
from symattn.programs.backward import minus, over, plus, times
from symattn.programs.functions import FUNCTIONS
from symattn.programs.nodes import Node
from symattn.programs.tables import number

#: Terms without terms in them.
LEAVES = ("entry", "number", "constant")


@dataclass(frozen=True, eq=False)
class Term:
    """A scalar expression: an operation on terms, or a leaf.

    Operations are ``+ * / neg`` and the functions taken of entries; leaves are
    ``entry`` (quantity, i, j), ``number`` (a float) and ``constant`` (a number that no float
    is, exactly). Sums and products are flat; terms that are
    equal up to their order have equal keys. Leaves are made once each, zero
    and one too, and compared by identity.
    """

    op: str
    parts: tuple[Any, ...]

    @cached_property
    def key(self) -> str:
        """The normal form as text."""
        if self.op in LEAVES:
            return f"{self.op}{self.parts}"
        keys = [part.key for part in self.parts]
        if self.op in "+*":
            keys.sort()
        return f"{self.op}({', '.join(keys)})"

    def inside(self) -> Iterator[Term]:
        """This term and all its parts."""
        yield self
        if self.op not in LEAVES:
            for part in self.parts:
                yield from part.inside()


ZERO, ONE = Term("number", (0.0,)), Term("number", (1.0,))
MASKED = Term("number", (-inf,))


def term_number(value: float) -> Term:
    """A number as a term."""
    for known in (ZERO, ONE, MASKED):
        if known.parts[0] == value:
            return known
    return Term("number", (value,))


def add(terms: list[Term]) -> Term:
    """A flat sum without zeros."""
    return _flat("+", terms, ZERO)


def multiply(left: Term, right: Term) -> Term:
    """A flat product; a product by 0 is 0, by 1 the other factor."""
    return ZERO if left is ZERO or right is ZERO else _flat("*", (left, right), ONE)


def _flat(op: str, terms: Iterable[Term], neutral: Term) -> Term:
    flat: list[Term] = []
    for term in terms:
        flat += term.parts if term.op == op else [term] if term is not neutral else []
    return Term(op, tuple(flat)) if len(flat) > 1 else flat[0] if flat else neutral


def negative(term: Term) -> Term:
    """``-term``."""
    if term.op == "number":
        return term_number(-term.parts[0] + 0.0)
    return term.parts[0] if term.op == "neg" else Term("neg", (term,))


def divide(left: Term, right: Term) -> Term:
    """``left / right``."""
    return left if right is ONE or left is ZERO else Term("/", (left, right))


class TermScalars:
    """Terms as the scalars of :class:`~symattn.programs.entrywise.Entrywise`."""

    def constant(self, value: Value) -> Term:
        """A number of the program."""
        near = float(value.ball(FIRST))
        known = value.number is not None and isfinite(near)
        is_exact = known and value.number == fmpq(*near.as_integer_ratio())
        return term_number(near) if is_exact else Term("constant", (value,))

    def total(self, items: Iterable[Term]) -> Term:
        """A sum; of a term and its own negative 0."""
        match list(items):
            case [term, Term("neg", (other,))] if term.key == other.key:
                return ZERO
            case terms:
                return add(terms)

    def sum_of_products(self, pairs: Iterable[tuple[Term, Term]]) -> Term:
        """A sum of products."""
        return add([multiply(left, right) for left, right in pairs])

    def negative(self, x: Term) -> Term:
        """``-x``."""
        return negative(x)

    def divisor(self, y: Term) -> Term:
        """Nothing is to be made ready."""
        return y

    def quotient(self, x: Term, divisor: Term) -> Term:
        """``x / divisor``."""
        return divide(x, divisor)

    def function(self, name: Elementwise, x: Term) -> Term:
        """``exp(x)`` and the like."""
        return Term(name, (x,))

    def largest(self, items: Sequence[Term], *, to_first: bool) -> Term:
        """The largest."""
        first, *rest = items
        return reduce(lambda x, y: Term("maximum", (x, y)), rest, first)

    def above(self, x: Term, y: Term) -> Term:
        """1 where x is the larger, else 0."""
        return Term("above", (x, y))

    def is_positive(self, x: Term) -> bool:
        """The exact run has seen to that."""
        return True


#: A kind of edit, what is computed, and the words of its phrase behind the step.
Slip = tuple[str, Node, tuple[str | Sentence, ...]]


def mistaken_calls(node: Node) -> Iterator[Slip]:
    """The slips of a call, as nodes of the program.

    >>> from symattn.programs.program import program
    >>> p = program({"X": (2, 3)}, {"H": "gelu(X)"})
    >>> [kind for kind, _, _ in mistaken_calls(p.quantities["H"])]
    ['function-dropped', 'other-function']
    """
    written = node.written
    if written is None:
        return
    first = written.operands[0] if written.operands else None
    is_forgotten = written.is_own or written.function in _LEFT_OUT
    if first is not None and first.shape == node.shape and is_forgotten:
        yield "function-dropped", first, (written.function,)
    for name in ("gamma", "beta", "sink", "label_smoothing"):
        if written.given.get(name) is not None:
            changed = FUNCTIONS[written.function].again(node, **{name: None})
            yield "term-dropped", changed, (name,)
    others = _INSTEAD.get(written.function)
    for instead, other, own in others(node) if others else ():
        yield "other-function", instead, (other, own)
    if alike := _OTHER.get(written.function):
        yield "other-function", _call(alike, **written.given), (alike, written.function)


#: Functions that are forgotten whole.
_LEFT_OUT = frozenset(
    (
        "relu", "gelu", "silu", "sigmoid", "softplus", "abs", "clip", "softmax", "log_softmax",
        "layernorm", "rmsnorm", "l2norm", "rope", "alibi", "softcap", "window", "padding", "cumsum",
    )
)  # fmt: skip
#: Functions that are taken for another one of the same arguments.
_OTHER = {
    "silu": "sigmoid", "log_softmax": "softmax", "var": "std", "std": "var", "max": "min",
    "min": "max", "rowmin": "rowmax", "rmsnorm": "layernorm",
}  # fmt: skip
#: What is computed instead, what that is called, and what it stands for.
_Other = tuple[Node, str | Sentence, str | Sentence]


def _given(node: Node) -> Mapping[str, object]:
    return node.written.given if node.written else {}


def _call(name: str, *operands: Node, **options: object) -> Node:
    return FUNCTIONS[name](*operands, **options)


def _again(node: Node, **changes: object) -> Node:
    assert node.written is not None
    return FUNCTIONS[node.written.function].again(node, **changes)


def _gelu(node: Node) -> Iterator[_Other]:
    exact, near = Sentence("the erf form"), Sentence("the tanh form")
    if _given(node).get("approximate") == "tanh":
        yield _again(node, approximate="none"), exact, near
    else:
        yield _again(node, approximate="tanh"), near, exact


def _sigmoid(node: Node) -> Iterator[_Other]:
    (x,) = nodes.arguments(node)
    yield nodes.apply("tanh", x), "tanh", "sigmoid"
    yield _call("sigmoid", nodes.negate(x)), "exp(x)", "exp(-x)"


def _logsumexp(node: Node) -> Iterator[_Other]:
    powers = nodes.apply("exp", node)
    yield powers, Sentence("the sum of the exponentials"), Sentence("its logarithm")


def _axis(node: Node) -> Iterator[_Other]:
    """The other axis, where the shape stays."""
    (x, *_) = nodes.arguments(node)
    if len(x.shape) == 2 and x.shape[0] == x.shape[1]:
        axis = 0 if _given(node).get("axis", -1) else 1
        words = (Sentence("axis {axis}", axis=axis), Sentence("axis {axis}", axis=1 - axis))
        yield _again(node, axis=axis), *words


def _variance(node: Node) -> Iterator[_Other]:
    ddof = _given(node).get("ddof", 0)
    by = (Sentence("the count"), Sentence("the count less one"))
    (x, *_) = nodes.arguments(node)
    # How many entries one of the reduced quantity is of.
    count = x.grid[0] * x.grid[1] // (node.grid[0] * node.grid[1])
    if ddof or count > 1:
        yield _again(node, ddof=0 if ddof else 1), by[not ddof], by[bool(ddof)]


def _layernorm(node: Node) -> Iterator[_Other]:
    given = _given(node)
    x, eps = given["x"], given["eps"]
    assert isinstance(x, Node)
    assert isinstance(eps, Node)
    axis = len(x.shape) * 2 - 3
    apart = minus(x, _call("mean", x, axis=axis))
    rest = {name: given[name] for name in ("gamma", "beta") if given.get(name) is not None}
    if x.shape[-1] > 1:
        spread = nodes.apply("sqrt", plus(_call("var", x, axis=axis, ddof=1), eps))
        words = Sentence("the variance by one less than the count"), Sentence("the variance")
        yield _affine(over(apart, spread), rest), *words
    plain = _affine(over(apart, plus(_call("var", x, axis=axis), eps)), rest)
    yield plain, Sentence("the variance"), Sentence("its square root")
    words = Sentence("the distance from the mean"), Sentence("that divided by the deviation")
    yield _affine(apart, rest), *words
    yield _affine(_call("rmsnorm", x, eps=eps), rest), "rmsnorm", "layernorm"


def _affine(x: Node, rest: Mapping[str, object]) -> Node:
    gamma, beta = rest.get("gamma"), rest.get("beta")
    scaled = times(x, gamma) if isinstance(gamma, Node) else x
    return plus(scaled, beta) if isinstance(beta, Node) else scaled


def _rmsnorm(node: Node) -> Iterator[_Other]:
    given = _given(node)
    x = given["x"]
    assert isinstance(x, Node)
    yield _affine(_call("l2norm", x), given), Sentence("the sum of squares"), Sentence("their mean")


def _norm(node: Node) -> Iterator[_Other]:
    yield times(node, node), Sentence("the sum of squares"), Sentence("its square root")


def _mean(node: Node) -> Iterator[_Other]:
    yield _call("sum", **_given(node)), Sentence("the sum"), Sentence("the mean")


def _loss(node: Node) -> Iterator[_Other]:
    """Sums in place of means."""
    x = nodes.arguments(node)[0]
    function = node.written.function if node.written else ""
    rows = x.grid[0]
    count = rows * x.grid[1] if function in ("mse", "binary_cross_entropy") else rows
    if count > 1:
        yield times(node, number(count)), Sentence("the sum"), Sentence("the mean")
    if function == "mse":
        yield over(node, number(2)), Sentence("half of the mean"), Sentence("the mean")
    yield nodes.negate(node), Sentence("the other sign"), Sentence("its own")


def _rope(node: Node) -> Iterator[_Other]:
    given = _given(node)
    pairs = Sentence("neighbouring columns"), Sentence("columns half apart")
    other = not given.get("interleaved", True)
    if node.shape[1] > 2:
        yield _again(node, interleaved=other), pairs[not other], pairs[other]
    counted = tuple(number(k).extra for k in range(node.shape[0]))
    at = given.get("positions") or nodes.table((counted,), node.shape[:1])
    assert isinstance(at, Node)
    reversed_ = _again(node, positions=nodes.negate(at))
    yield reversed_, Sentence("the angles reversed"), Sentence("their own sign")
    later = _again(node, positions=plus(at, 1))
    yield later, Sentence("positions from 1"), Sentence("positions from 0")


def _alibi(node: Node) -> Iterator[_Other]:
    slope = _given(node)["slope"]
    assert isinstance(slope, Node)
    added = _again(node, slope=nodes.negate(slope))
    yield added, Sentence("the distance added"), Sentence("it subtracted")


def _window(node: Node) -> Iterator[_Other]:
    left = _given(node)["left"]
    assert isinstance(left, int)
    own = Sentence("those of the window")
    yield _again(node, left=left + 1), Sentence("one more key"), own
    if left:
        yield _again(node, left=left - 1), Sentence("one key fewer"), own


def _padding(node: Node) -> Iterator[_Other]:
    lengths = _given(node)["lengths"]
    assert isinstance(lengths, Node)
    longer = _again(node, lengths=plus(lengths, 1))
    yield longer, Sentence("one more key"), Sentence("those of the length")


_INSTEAD: Mapping[str, Callable[[Node], Iterator[_Other]]] = {
    "gelu": _gelu,
    "sigmoid": _sigmoid,
    "softmax": _axis,
    "cumsum": _axis,
    "logsumexp": _logsumexp,
    "var": _variance,
    "std": _variance,
    "mean": _mean,
    "layernorm": _layernorm,
    "rmsnorm": _rmsnorm,
    "norm": _norm,
    "rope": _rope,
    "alibi": _alibi,
    "window": _window,
    "padding": _padding,
    "cross_entropy": _loss,
    "nll": _loss,
    "binary_cross_entropy": _loss,
    "mse": _loss,
}
