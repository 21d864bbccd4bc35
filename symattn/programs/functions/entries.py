"""Functions of every entry by itself, and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from flint import fmpq

from symattn.errors import Malformed
from symattn.expressions.elementary import ELEMENTARY, Elementwise
from symattn.languages.sentence import Sentence
from symattn.limits import POWER
from symattn.numbers.reading import Masked
from symattn.programs import nodes
from symattn.programs.backward import above, halves, larger, minus, over, pi, plus, times
from symattn.programs.functions.calls import CallRule, Domain, Flows, StepFunction, function
from symattn.programs.nodes import Node
from symattn.programs.tables import number


def sloped(slope: Callable[[Node, Node], Node]) -> CallRule:
    """The rule of a function of one operand, by its slope: (operand, result) -> slope."""
    return lambda node, g, x, *options: [times(g, slope(x, node))]


def _of_entries(name: Elementwise, says: str) -> StepFunction:
    def build(x: Node) -> Node:
        return nodes.apply(name, x)

    build.__doc__ = says
    return StepFunction(name, build)


ELEMENTARY_STEPS: Mapping[str, StepFunction] = {
    row.name: _of_entries(row.name, row.says) for row in ELEMENTARY.values()
}


# -- comparisons -------------------------------------------------------------------------


def _comparison(sign: str) -> StepFunction:
    def build(x: Node, y: Node) -> Node:
        match sign:
            case ">":
                return above(x, y)
            case "<":
                return above(y, x)
            case ">=":
                return minus(1, above(y, x))
            case "<=":
                return minus(1, above(x, y))
        apart = plus(above(x, y), above(y, x))
        return minus(1, apart) if sign == "==" else apart

    return StepFunction(sign, build, lambda node, g, x, y: [None, None])


#: 1 where a comparison holds, else 0, by its sign.
COMPARISONS = {sign: _comparison(sign) for sign in (">", ">=", "<", "<=", "==", "!=")}


# -- kinks -------------------------------------------------------------------------------


@function(sloped(lambda x, y: COMPARISONS[">"](x, number(0))), kink=Sentence("0 at 0"))
def relu(x: Node) -> Node:
    """x where it is above 0, else 0."""
    return larger(0, x, to_first=True)


def _abs_slope(x: Node, y: Node) -> Node:
    return sign(x)


@function(sloped(_abs_slope), name="abs", kink=Sentence("0 at 0"))
def absolute(x: Node) -> Node:
    """The magnitude of every entry."""
    return larger(x, nodes.negate(x))


@function(lambda node, g, x: [None], kink=Sentence("0 everywhere"))
def sign(x: Node) -> Node:
    """1, 0 or -1: the sign of every entry."""
    return minus(above(x, 0), above(0, x))


@function(kink=Sentence("a half for each of two that are equal"))
def maximum(x: Node, y: Node) -> Node:
    """The larger one, entry by entry."""
    return larger(x, y)


@function(
    lambda node, g, x, y: halves(x, y, g, COMPARISONS["<"](x, y), COMPARISONS[">"](x, y)),
    kink=Sentence("a half for each of two that are equal"),
)
def minimum(x: Node, y: Node) -> Node:
    """The smaller one, entry by entry."""
    return nodes.negate(larger(nodes.negate(x), nodes.negate(y)))


def _clip_back(node: Node, g: Node, x: Node, low: Node, high: Node) -> Flows:
    inside = times(COMPARISONS["<="](low, x), COMPARISONS["<="](x, high))
    return [times(g, inside), None, None]


@function(_clip_back, kink=Sentence("1 at the bounds"))
def clip(x: Node, low: Node, high: Node) -> Node:
    """Every entry, or the bound that it lies beyond."""
    if nodes.elementwise("add", nodes.elementwise("add", x, low), high).shape != x.shape:
        raise Malformed("the bounds of clip have more entries than what is clipped")
    above_low = larger(x, low, to_first=True)
    return nodes.negate(larger(nodes.negate(above_low), nodes.negate(high), to_first=True))


@function(name="where", domains={"M": Domain(0, 1, whole=True)})
def where(M: Node, x: Node, y: Node) -> Node:
    """x where M is 1, y where it is 0; -inf for y hides scores."""
    if y.op == "table" and all(isinstance(entry, Masked) for row in y.extra for entry in row):
        return nodes.mask(x, M)
    # Nothing flows into what chooses, a comparison that is a step neither: it is made again.
    compared = M.written if M.written and M.written.function in COMPARISONS else None
    sign, operands = (compared.function, compared.operands) if compared else ("!=", (M, number(0)))
    kept = COMPARISONS[sign](*operands)
    return plus(times(kept, x), times(minus(1, kept), y))


# -- powers ------------------------------------------------------------------------------


def _power_back(node: Node, g: Node, x: Node, exponent: Node) -> Flows:
    k = exponent.extra.number
    if k.q != 1:
        return [over(g, times(2, node)), None]
    k = int(k)
    if k in (0, 1):
        # Where x is 0 or masked, no power below is asked for: it is flat, or x itself.
        return [g if k else None, None]
    return [times(g, times(exponent, x if k == 2 else power(x, number(k - 1)))), None]


def _power(x: Node, exponent: Node) -> Node:
    """Every entry to the power of a whole number; ``x**0.5`` is sqrt(x)."""
    value = exponent.extra if exponent.op == "constant" else None
    k = None if value is None else value.number
    if k is not None and 2 * k == 1:
        return nodes.apply("sqrt", x)
    if k is None or k.q != 1:
        raise Malformed("a power takes a whole number written out, or 1/2 for the square root")
    if abs(k) > POWER.most:
        raise Malformed(POWER.said(str(k)))
    return over(1, _times(x, -int(k))) if k < 0 else _times(x, int(k))


def _times(x: Node, k: int) -> Node:
    """x multiplied with itself, by squares."""
    if k == 0:
        return plus(times(x, 0), 1)
    if k == 1:
        return x
    half = _times(x, k // 2)
    return times(times(half, half), x) if k % 2 else times(half, half)


power = StepFunction("**", _power, _power_back)


# -- gates -------------------------------------------------------------------------------


@function(sloped(lambda x, y: times(y, minus(1, y))))
def sigmoid(x: Node) -> Node:
    """1 / (1 + exp(-x)), the logistic function."""
    return over(1, plus(1, nodes.apply("exp", nodes.negate(x))))


def _silu_slope(x: Node, y: Node) -> Node:
    share = sigmoid(x)
    return times(share, plus(1, times(x, minus(1, share))))


@function(sloped(_silu_slope))
def silu(x: Node) -> Node:
    """x sigmoid(x), which is called swish too."""
    return times(x, sigmoid(x))


@function(sloped(lambda x, y: sigmoid(x)))
def softplus(x: Node) -> Node:
    """log(1 + exp(x))."""
    return nodes.apply("log", plus(1, nodes.apply("exp", x)))


def _share(x: Node) -> Node:
    """Return how much of a normal distribution is below x."""
    return over(plus(1, nodes.apply("erf", over(x, nodes.apply("sqrt", number(2))))), 2)


def _gelu_back(node: Node, g: Node, x: Node, approximate: str) -> Flows:
    if approximate == "tanh":
        inner = _inner(x)
        level = nodes.apply("tanh", inner)
        cubic = times(number(fmpq(134145, 1000000)), times(x, x))
        slope = times(nodes.apply("sqrt", over(2, pi())), plus(1, cubic))
        steep = times(times(x, minus(1, times(level, level))), slope)
        return [times(g, over(plus(plus(1, level), steep), 2))]
    density = over(
        nodes.apply("exp", over(nodes.negate(times(x, x)), 2)),
        nodes.apply("sqrt", times(2, pi())),
    )
    return [times(g, plus(_share(x), times(x, density)))]


def _inner(x: Node) -> Node:
    cubic = times(number(fmpq(44715, 1000000)), power(x, number(3)))
    return times(nodes.apply("sqrt", over(2, pi())), plus(x, cubic))


@function(_gelu_back)
def gelu(x: Node, approximate: Literal["none", "tanh"] = "none") -> Node:
    """x times the share of a normal distribution below x, by erf, or by its form in tanh."""
    if approximate == "none":
        return times(x, _share(x))
    return over(times(x, plus(1, nodes.apply("tanh", _inner(x)))), 2)
