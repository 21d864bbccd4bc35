"""The catalogue: every kind of slip, how it is said, how rare it is, and what it makes of a step.

A kind is a row. Its rules are written in the language of steps: ``M / s`` is ``M`` where a
scale is left out. In them ``M`` is a matrix or a row, ``s`` a number, ``r`` one that is no
root, any other letter whatever stands there; ``n`` is each of the sizes of a program, ``m``
each neighbour of the whole number ``r``. Audits, exercises and marks find the steps that a
rule fits (:class:`~symattn.slips.graph.Recipe`), derivations undo them in lines by
:func:`fits`; what is computed in place of a call stands in a table of its own,
:data:`OF_CALLS`. Kinds without rules are made where their values are known.

Prices are a code: all kinds together have a chance of at most 1 (J. Rissanen, Modeling by
shortest data description, 1978).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations, product
from math import log10
from string import ascii_lowercase
from typing import Any, TypeVar

from flint import arb, fmpq

from symattn.errors import Malformed
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.languages.sentence import Sentence, joined
from symattn.numbers.rationals import PrintedNumber
from symattn.programs.functions import FUNCTIONS
from symattn.programs.functions.arranging import counted
from symattn.programs.functions.calls import as_written
from symattn.programs.nodes import Node
from symattn.programs.program import Program
from symattn.programs.tables import number


@dataclass(frozen=True)
class Rule:
    """A step, what a slip makes of it, and the words of that: parts of the step, or texts."""

    step: str
    instead: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Slip:
    """A kind of slip: its price in bits, its phrase with letters for words, its rules.

    ``a`` is where it is made, and first in the phrases of those that are made ``by_hand``:
    what a student is told is the rest. ``once`` where nobody makes it in all steps that are
    alike.
    """

    price: float
    phrase: str
    rules: tuple[Rule, ...] = ()
    by_hand: bool = False
    once: bool = False


_BY, _TIMES = Sentence("division by"), Sentence("factor")
TURNED, NOT_TURNED = Sentence("transposed"), Sentence("not transposed")

#: All kinds, by name; the names are stable. Of two that make the same the first is told.
KINDS: Mapping[str, Slip] = {
    "scale-dropped": Slip(3.5, "{a} without the {b} {c}", (
        Rule("M / s", "M", (_BY, "s")), Rule("M * s", "M", (_TIMES, "s"))), by_hand=True),
    "scale-not-rooted": Slip(4.5, "{a} with {b} itself instead of its square root", (
        Rule("M / sqrt(s)", "M / s", ("s",)), Rule("M * sqrt(s)", "M * s", ("s",))), by_hand=True),
    "scaled-twice": Slip(5.5, "{a} with the {b} {c} twice", (
        Rule("M / s", "M / s / s", (_BY, "s")), Rule("M * s", "M * s * s", (_TIMES, "s")))),
    "scale-inverted": Slip(8.0, "{a} {b} {c}, not {d}", (
        Rule("M / s", "M * s", (Sentence("multiplied by"), "s", Sentence("divided"))),
        Rule("M * s", "M / s", (Sentence("divided by"), "s", Sentence("multiplied")))),
        by_hand=True),
    "off-by-one": Slip(6.0, "{a} divided by {b} instead of {c}", (
        Rule("M / r", "M / m", ("m", "r")),)),
    "other-scale": Slip(5.5, "{a} with {b} instead of {c}", (
        Rule("M / sqrt(s)", "M / sqrt(n)", ("sqrt(n)", "sqrt(s)")),
        Rule("M * sqrt(s)", "M * sqrt(n)", ("sqrt(n)", "sqrt(s)")),
        Rule("M / r", "M / n", ("n", "r")), Rule("M * r", "M * n", ("n", "r")),
        Rule("M * r", "M * m", ("m", "r")))),
    "not-normalised": Slip(4.5, "{a} without the division by the sums of the exponentials", (
        Rule("softmax(X)", "exp(X)"),), by_hand=True),
    "softmax-columns": Slip(4.5, "{a} with the softmax down the columns", (
        Rule("softmax(X)", "softmax(X.T).T"),), by_hand=True),
    "softmax-all": Slip(6.5, "{a} with the softmax over all entries at once", (
        Rule("softmax(X)", "exp(X) / sum(exp(X))"),)),
    "mask-after": Slip(5.0, "{a} with the mask after the softmax instead of before it", (
        Rule("softmax(mask(X, K))", "softmax(X) * K"),), by_hand=True),
    "mask-forgotten": Slip(4.5, "{a} without the mask", (Rule("mask(X, K)", "X"),), by_hand=True),
    "mask-as-zero": Slip(5.0, "{a} with 0 for a masked score instead of minus infinity", (
        Rule("mask(X, K)", "X * K"),), by_hand=True),
    "mask-transposed": Slip(6.0, "{a} with the mask transposed", (
        Rule("mask(X, K)", "mask(X, K.T)"),), by_hand=True),
    "mask-negated": Slip(8.5,
        "{a} with the mask negated: what should be hidden is seen, and nothing else", (
        Rule("mask(X, K)", "mask(X, 1 - K)"),), by_hand=True),
    "transposed": Slip(4.5, "{a} with {b} {c}", (
        Rule("X.T @ Y", "X @ Y", ("X", NOT_TURNED)), Rule("X @ Y", "X.T @ Y", ("X", TURNED)),
        Rule("X @ Y.T", "X @ Y", ("Y", NOT_TURNED)), Rule("X @ Y", "X @ Y.T", ("Y", TURNED))),
        by_hand=True),
    "product-swapped": Slip(5.5, "{a} with the factors of the product in the wrong order", (
        Rule("X @ Y", "Y @ X"),), by_hand=True),
    "term-dropped": Slip(4.5, "{a} without the term {b}", (
        Rule("X - Y", "X", ("Y",)), Rule("X - Y", "-Y", ("X",)), Rule("X + Y", "X", ("Y",))),
        by_hand=True),
    "term-sign": Slip(5.5, "{a} with the wrong sign of {b}", (
        Rule("X - Y", "X + Y", ("Y",)), Rule("X + Y", "X - Y", ("Y",))), by_hand=True),
    "other-base": Slip(6.0, "{a} to base {b}", (
        Rule("exp(X)", "exp(X * log(2))", ("2",)), Rule("exp(X)", "exp(X * log(10))", ("10",)),
        Rule("log(X)", "log(X) / log(2)", ("2",)), Rule("log(X)", "log(X) / log(10)", ("10",)))),
    "function-dropped": Slip(8.5, "{a} without {b}", by_hand=True),
    "other-function": Slip(8.0, "{a} with {b} instead of {c}", by_hand=True),
    "operand-ignored": Slip(5.5, "{a} replaced by {b}", (
        Rule("X @ Y", "X", ("X",)), Rule("X @ Y", "Y", ("Y",)), Rule("X * Y", "X", ("X",))),
        once=True),
    "heads-exchanged": Slip(6.0, "{a} with parts {b} and {c} swapped, counted from 0", once=True),
    "other-quantity": Slip(5.5, "{a} replaced by {b}", once=True),
    "other-matrix": Slip(5.0, "{a} with {b} instead of {c}", once=True),
    "sign-flipped": Slip(6.0, "{a} with the wrong sign", (
        Rule("mask(X, K)", "mask(-X, K)"), Rule("X", "-X")), by_hand=True),
    "rounded": Slip(4.0, "{a} rounded to {b} before it was used"),
    "held-in": Slip(7.0, "{a} stored as {b}"),
    "result-transposed": Slip(5.5, "{a} transposed"),
    "mirrored": Slip(6.0, "{a} with its {b} triangle mirrored"),
    "row-reused": Slip(5.0, "{a} with row {b} used for row {c}, counted from 0"),
    "column-reused": Slip(5.5, "{a} with column {b} used for column {c}, counted from 0"),
    "rows-swapped": Slip(5.5, "{a} with rows {b} and {c} swapped, counted from 0"),
    "columns-swapped": Slip(8.0, "{a} with columns {b} and {c} swapped, counted from 0"),
    "entry-reused": Slip(4.5, "{a} used instead of {b}"),
    "entry-of-column": Slip(8.0, "{a} used instead of {b}"),
    "entries-swapped": Slip(6.0, "{a} and {b} swapped"),
    "product-dropped": Slip(5.5, "{a} without the part {b} of its sum"),
    "product-sign": Slip(6.5, "{a} with the wrong sign of {b} in its sum"),
    "wrong-number": Slip(5.0, "{a} instead of {b} for {c}"),
}  # fmt: skip


#: Kinds that only kernels show, whose arrays :mod:`symattn.testing` makes, by name.
OF_KERNELS: Mapping[str, str] = {
    "mask-reversed": "{a} with the mask counted from the last key",
    "mask-of-row": "{a} with the first query's mask for all",
    "mask-as-number": "{a} with the mask added as 1 and 0",
    "mask-finite": "masked entries of {a} {b} {c}, not minus infinity",
    "mask-added": "{a} with a causal mask that was not asked for",
    "window-moved": "{a} with a window that {b}",
    "mask-shifted": "{a} with the mask shifted by one key: each query attends to {b}",
    "mask-aligned": "{a} with the causal mask aligned {b} instead of {c}",
    "cap-forgotten": "{a} without soft capping",
    "capped-after": "{a} capped after {b} instead of before",
    "derivative-dropped": "{a} without the derivative of {b}",
    "bias-scaled": "{a} with the bias scaled as well",
    "empty-row": "a fully masked row giving {a} instead of {b}",
    "sums-in": "{a} accumulated in {b}",
    "sum-down": "{a} with {b} summed down the columns",
    "maximum": "the exponentials {a}",
    "keys-dropped": "{a} without {b}",
    "keys-added": "{a} with {b} of zeros beyond the last",
    "rows-moved": "{a} with its rows {b}",
    "head-dropped": "{a} from {b} only",
    "stale": "{a} of all keys but the last {b}",
    "not-rescaled": "{a} computed in blocks of {b} keys without rescaling when the maximum grows",
}

_SCORES, _WEIGHTS, _SUMS = "the scores", "the weights", "the sums of the exponentials"
_LSE, _SCALE = "the log-sum-exp", ("factor", "scale")
#: Slips of kernels that are other steps of attention (:mod:`symattn.testing.attention_steps`): the
#: kind, the words of its phrase, what steps are instead, and what it needs: a ``cap``, a gradient
#: ``dY``, ``columns`` of scores that are those of one head, and ``square`` ones. It is none where
#: the first of the steps stays what it is, as where a mask hides nothing or the scale is 1.
OF_ATTENTION: Sequence[tuple[str, tuple[str, ...], Mapping[str, str], str]] = (
    ("scale-dropped", (_SCORES, *_SCALE), {"scale": "1"}, ""),
    ("scaled-twice", (_SCORES, *_SCALE), {"scale": "scale * scale"}, ""),
    ("mask-after", (_WEIGHTS,), {"seen": "1", "A": "A * keep"}, ""),
    ("mask-as-zero", (_SCORES,), {"seen": "1", "B": "B * keep"}, ""),
    ("mask-as-number", (_SCORES,), {"seen": "1", "B": "B + keep"}, ""),
    ("capped-after", (_SCORES, "the mask"),
     {"seen": "1", "C": "softcap(mask(S, keep), cap)"}, "cap"),
    ("capped-after", (_SCORES, "the bias"),
     {"C": "softcap(S + bias, cap)", "B": "C * live"}, "cap"),
    ("cap-forgotten", (_SCORES,), {"cap": "1 / 0", "C": "S", "slope": "1"}, "cap"),
    ("derivative-dropped", ("dS", "the capping"), {"slope": "1"}, "cap"),
    ("term-dropped", (_SCORES, "bias"), {"bias": "0"}, ""),
    ("bias-scaled", (_SCORES,), {"bias": "bias * scale"}, ""),
    ("term-dropped", (_SUMS, "sink"),
     {"sink": "sink - 1 / 0", "live": "maximum(live, counted)"}, ""),
    ("softmax-columns", (_WEIGHTS,), {"A": "softmax(M.T).T * used"}, "columns"),
    ("other-base", (_LSE, "2"), {"lse": "lse / log(2)"}, ""),
    ("term-dropped", (_LSE, "maximum"), {"lse": "log(sums)"}, ""),
    ("scaled-twice", (f"the maximum in {_LSE}", *_SCALE), {"lse": "top * scale + log(sums)"}, ""),
    ("scale-dropped", (f"the maximum in {_LSE}", *_SCALE), {"lse": "top / scale + log(sums)"}, ""),
    ("transposed", ("dK", "dS", NOT_TURNED), {"dS_T": "dS"}, "columns square dY"),
    ("transposed", ("dV", "A", NOT_TURNED), {"A_T": "A"}, "columns square dY"),
    ("scale-dropped", ("dQ", *_SCALE), {"scale_Q": "1"}, "dY"),
    ("scale-dropped", ("dK", *_SCALE), {"scale_K": "1"}, "dY"),
    ("scale-dropped", ("dQ and dK", *_SCALE), {"scale_Q": "1", "scale_K": "1"}, "dY"),
    ("term-dropped", ("dS", "rowsum(A * dA)"), {"D": "0"}, "dY"),
    ("sum-down", ("dS", "A * dA"), {"D": "colsum(A * dA)"}, "columns dY"),
)  # fmt: skip
#: What is made of rows that see no key, likewise.
OF_EMPTY_ROWS: Mapping[str, Mapping[str, str]] = {
    "zero": {"used": "live"},
    "the mean of the values": {"used": "1"},
    "NaN": {"Y": "Y / used", "used": "live"},
}


#: Kinds that only lines of derivations show, by name; what undoes them is said. ``i`` to ``l`` are
#: indices, ``u`` one that is summed over, ``A`` an array, ``D`` a delta.
OF_LINES: Mapping[str, Slip] = {
    name: Slip(price, "", tuple(Rule(*rule.partition(" -> ")[::2]) for rule in rules.split("; ")))
    for name, price, rules in (
        ("wrong-index", 2.0,
         "X[i, k] -> X[k, i]; X[i] -> X[j]; X[i, k] -> X[j, k]; X[k, i] -> X[k, j]; "
         "X[i, k, l] -> X[j, k, l]; X[k, i, l] -> X[k, j, l]; X[k, l, i] -> X[k, l, j]"),
        ("array-transposed", 3.0, "A.T -> A"),
        ("sum-lost", 4.0, "sum(u, X) -> X"),
        ("delta-lost", 4.0, "D -> 1; M * D -> M"),
        ("other-axis", 4.5, "rowsum(X) -> colsum(X); logsumexp(X) -> logsumexp(X.T).T"),
        ("product-transposed", 6.0,
         "X @ Y -> Y.T @ X.T; X @ Y -> X.T @ Y.T; X @ Y -> Y @ X.T; X @ Y -> Y.T @ X"),
        ("delta-term-lost", 5.5, "X + D -> X; X - D -> X; X + Y * D -> X; X - Y * D -> X"),
        ("row-not-centred", 10.0, "X * (Y - rowsum(X * Y)) -> X * Y"),
    )
}  # fmt: skip


def phrase(kind: str, words: Sequence[str]) -> Sentence:
    """A slip of that kind in words.

    >>> phrase("other-scale", ["T", "sqrt(3)", "sqrt(d_k)"])
    'T with sqrt(3) instead of sqrt(d_k)'
    """
    said = KINDS[kind].phrase if kind in KINDS else OF_KERNELS[kind]
    return Sentence(said, **dict(zip(ascii_lowercase, words, strict=False)))


def together(words: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The words of a slip that is made in several places, from those of each.

    >>> together([("T_0", "d_k"), ("T_1", "d_k")])
    ('T_0, T_1', 'd_k')
    """
    each = (tuple(dict.fromkeys(alike)) for alike in zip(*words, strict=True))
    return tuple(alike[0] if len(alike) == 1 else joined(alike, ", ") for alike in each)


#: A word of a slip: a part of the step, or a text.
Word = Node | str
#: A slip of a step: its kind, the step that it is instead, and the words behind that.
MadeSlip = tuple[str, Node, tuple[Word, ...]]


@cache
def formula(text: str) -> Tree:
    """A part of a rule as a tree.

    >>> formula("X.T")
    Transposed(operand=Name(name='X'))
    """
    return syntax.parse(text, letters=True)


Axes = tuple[tuple[int, ...], tuple[int, ...]]


def arrangements(node: Node) -> Iterator[tuple[str, Axes, tuple[str, ...]]]:
    """The slips of who takes a row, or a column, for another one: the rows and the columns that
    stand there instead, and the words."""
    every = tuple(map(tuple, map(range, node.grid)))
    for axis, word in enumerate(("row", "column")):
        for a, b in permutations(every[axis], 2):
            for kind, moved in (("-reused", {b: a}), ("s-swapped", {a: b, b: a})):
                if len(moved) == 1 or a < b:
                    order = tuple(moved.get(k, k) for k in every[axis])
                    axes = (order, every[1]) if axis == 0 else (every[0], order)
                    yield f"{word}{kind}", axes, (str(a), str(b))


#: What a step is rounded to: to no places, to one, or to more.
_ROUNDED = {0: "whole numbers", 1: "1 place", 2: "{places} places"}


def rounded_to(places: int) -> Sentence:
    """The words for so many places.

    >>> rounded_to(1), rounded_to(2)
    ('1 place', '2 places')
    """
    return Sentence(_ROUNDED[min(places, 2)], places=places)


N = TypeVar("N", Node, Tree)


def fits(
    pattern: N,
    part: N,
    new: Tree,
    may_be: Callable[[str, N], bool],
    stand_ins: Callable[[str, Mapping[str, N]], Iterable[N]],
) -> Iterator[Mapping[str, N]]:
    """Yield what the letters of a rule are where its pattern fits a node or a tree; those that only
    the ``new`` tree has are all their ``stand_ins``.

    >>> trees = map(formula, ("X / s", "x.T / 2", "X / n"))
    >>> [known] = fits(*trees, lambda letter, part: True, lambda letter, known: [formula("d")])
    >>> [(letter, syntax.text(part)) for letter, part in known.items()]
    [('X', 'x.T'), ('s', '2'), ('n', 'd')]
    """
    for bound in _matched(pattern, part, may_be, {}):
        missing = [x for x in dict.fromkeys(syntax.names(new)) if x not in bound]
        for each in product(*(stand_ins(letter, bound) for letter in missing)):
            yield {**bound, **dict(zip(missing, each, strict=True))}


def _matched(
    pattern: N, part: N, may_be: Callable[[str, N], bool], bound: Mapping[str, N]
) -> Iterator[Mapping[str, N]]:
    letter, is_kind, operands = _made(pattern)
    _, kind, others = _made(part)
    if letter:
        if bound[letter] == part if letter in bound else may_be(letter, part):
            yield {**bound, letter: part}
    elif kind == is_kind and len(operands) == len(others):
        for each in permutations(others) if kind in _EITHER else (others,):
            known = [bound]
            for pair in zip(operands, each, strict=True):
                known = [more for x in known for more in _matched(*pair, may_be, x)]
            yield from known


def _made(part: Node | Tree) -> tuple[str, object, Sequence[Any]]:
    """The letter that a node or a tree is in a pattern, or else its kind and what it is made of."""
    if isinstance(part, Node):
        return str(part.extra) if part.op == "given" else "", part.op, part.operands
    letter = part.name if isinstance(part, syntax.Name) else ""
    return letter, syntax.mapped(part, lambda _: _ANY), syntax.inside(part)


_ANY = syntax.Name("")
#: What is the same of two in either order.
_EITHER = ("add", "multiply", *(syntax.Binary(op, _ANY, _ANY) for op in "+*"))


def pen_slips(number: PrintedNumber, off: int, right: arb) -> Iterator[Sentence]:
    """Ways to write a wrong figure, so many units off, in place of the right one, in words.

    One of them is never a cause that can be named: too many figures could have
    come out like this by chance.

    >>> from symattn.numbers.rationals import read_printed
    >>> [*pen_slips(read_printed("0.567"), -9, arb("0.576"))]
    ['two neighbouring digits are swapped']
    """
    printed = number.count
    correct = printed - off
    if not correct:
        return
    if printed == -correct:
        yield Sentence("the sign is wrong")
    if _is_shifted(number, correct, right):
        yield Sentence("the decimal point is misplaced")
    if (printed < 0) == (correct < 0):
        a, b = str(abs(printed)), str(abs(correct))
        width = max(len(a), len(b))
        a, b = a.zfill(width), b.zfill(width)
        swapped = (b[:k] + b[k + 1] + b[k] + b[k + 2 :] for k in range(width - 1))
        if a != b and a in swapped:
            yield Sentence("two neighbouring digits are swapped")
        elif sum(x != y for x, y in zip(a, b, strict=True)) == 1 and len(b.strip("0")) > 1:
            # Of a figure of one digit this would say nothing.
            yield Sentence("one digit is another")


def _is_shifted(printed: PrintedNumber, correct: int, right: arb) -> bool:
    """Return whether a power of ten other than 1 takes a figure to the right one, at the places
    that it then has: to all of it, or to more of its digits than one, which says nothing."""
    if printed.count * correct <= 0:
        return False
    power = round(log10(abs(correct)) - log10(abs(printed.count)))
    moved = fmpq(10) ** power
    unit, off = printed.unit * moved, right - printed.value * moved
    shows = unit <= 1 and abs(printed.count) > 9 and not abs(off) * 2 > unit
    return power != 0 and (shows or printed.count * moved == correct)


# -- calls ---------------------------------------------------------------------------------
# What people compute in place of a function of steps.

_ERF, _TANH = Sentence("the erf form"), Sentence("the tanh form")
_COUNT, _LESS = Sentence("the count"), Sentence("the count less one")
_NEAR, _APART = Sentence("neighbouring columns"), Sentence("columns half apart")
_SUM, _MEAN, _ROOT = Sentence("the sum"), Sentence("the mean"), Sentence("its square root")
_VARIANCE, _SQUARES = Sentence("the variance"), Sentence("the sum of squares")
_MORE, _OF_WINDOW = Sentence("one more key"), Sentence("those of the window")
#: The losses, and how many numbers each is the mean of.
_LOSSES = {"cross_entropy": "rows", "nll": "rows", "binary_cross_entropy": "count", "mse": "count"}

#: Rules of calls, by kind: parameters stand for themselves, ``y`` for the result, and other names
#: for numbers that :func:`_called` knows; a call with options only is otherwise as it was. The
#: words are the two functions unless others are said.
OF_CALLS: Mapping[str, tuple[Rule, ...]] = {
    "not-normalised": (Rule("softmax(sink=sink)", "exp(x)"),),
    "function-dropped": tuple(
        Rule(f"{f}()", "x", (f,))
        for f in ("relu", "gelu", "silu", "sigmoid", "softplus", "abs", "clip", "softmax",
                  "log_softmax", "layernorm", "rmsnorm", "l2norm", "rope", "alibi", "softcap",
                  "window", "padding", "cumsum")
    ),
    "term-dropped": tuple(
        Rule(f"{f}({term}={term})", f"{f}({term}=None)", (term,))
        for f, term in (("layernorm", "gamma"), ("layernorm", "beta"), ("rmsnorm", "gamma"),
                        ("softmax", "sink"), ("cross_entropy", "label_smoothing"))
    ),
    "other-function": (
        Rule("gelu(approximate='none')", "gelu(approximate='tanh')", (_TANH, _ERF)),
        Rule("gelu(approximate='tanh')", "gelu(approximate='none')", (_ERF, _TANH)),
        Rule("sigmoid()", "tanh(x)"),
        Rule("sigmoid()", "sigmoid(-x)", ("exp(x)", "exp(-x)")),
        Rule("logsumexp()", "exp(y)",
             (Sentence("the sum of the exponentials"), Sentence("its logarithm"))),
        *(Rule(f"{f}({of})", f"{f}(axis={k})",
               (Sentence("axis {axis}", axis=k), Sentence("axis {axis}", axis=1 - k)))
          for f in ("softmax", "cumsum") for of, k in (("", 0), ("axis=0", 1))),
        *(Rule(f"{f}({of})", f"{f}(ddof={k})", words)
          for f in ("var", "std")
          for of, k, words in (("", 0, (_COUNT, _LESS)), ("ddof=0", 1, (_LESS, _COUNT)))),
        Rule("mean()", "sum()", (_SUM, _MEAN)),
        Rule("layernorm()", "(x - mean(x, along)) / sqrt(var(x, along, 1) + eps) * gamma + beta",
             (Sentence("the variance by one less than the count"), _VARIANCE)),
        Rule("layernorm()", "(x - mean(x, along)) / (var(x, along) + eps) * gamma + beta",
             (_VARIANCE, _ROOT)),
        Rule("layernorm()", "(x - mean(x, along)) * gamma + beta",
             (Sentence("the distance from the mean"), Sentence("that divided by the deviation"))),
        Rule("layernorm()", "rmsnorm(x, gamma, eps=eps) + beta"),
        Rule("rmsnorm()", "l2norm(x) * gamma", (_SQUARES, Sentence("their mean"))),
        Rule("norm()", "y * y", (_SQUARES, _ROOT)),
        Rule("rope(interleaved=True)", "rope(interleaved=False)", (_APART, _NEAR)),
        Rule("rope(interleaved=False)", "rope(interleaved=True)", (_NEAR, _APART)),
        Rule("rope()", "rope(positions=-positions)",
             (Sentence("the angles reversed"), Sentence("their own sign"))),
        Rule("rope()", "rope(positions=positions + 1)",
             (Sentence("positions from 1"), Sentence("positions from 0"))),
        Rule("alibi()", "alibi(slope=-slope)",
             (Sentence("the distance added"), Sentence("it subtracted"))),
        Rule("window()", "window(left=more)", (_MORE, _OF_WINDOW)),
        Rule("window()", "window(left=fewer)", (Sentence("one key fewer"), _OF_WINDOW)),
        Rule("padding()", "padding(lengths=lengths + 1)", (_MORE, Sentence("those of the length"))),
        *(Rule(f"{f}()", f"y * {count}", (_SUM, _MEAN)) for f, count in _LOSSES.items()),
        Rule("mse()", "y / 2", (Sentence("half of the mean"), _MEAN)),
        *(Rule(f"{f}()", "-y", (Sentence("the other sign"), Sentence("its own"))) for f in _LOSSES),
        *(Rule(f"{f}()", f"{other}()")
          for f, other in (("silu", "sigmoid"), ("log_softmax", "softmax"), ("var", "std"),
                           ("std", "var"), ("max", "min"), ("min", "max"), ("rowmin", "rowmax"),
                           ("rmsnorm", "layernorm"))),
        Rule("relu()", "gelu(x)"), Rule("gelu()", "relu(x)"),
    ),
}  # fmt: skip


def mistaken_calls(node: Node) -> Iterator[MadeSlip]:
    """The slips of a call, as nodes of the program.

    >>> from symattn.programs.program import program
    >>> p = program({"X": (2, 3)}, {"H": "gelu(X)"})
    >>> [kind for kind, _, _ in mistaken_calls(p.quantities["H"])]
    ['function-dropped', 'other-function', 'other-function']
    """
    call = node.written
    if call is None:
        return
    if call.is_own and call.operands and call.operands[0].shape == node.shape:
        yield "function-dropped", call.operands[0], (call.function,)
    for kind, rules in OF_CALLS.items():
        for rule in rules:
            if rule.step.startswith(f"{call.function}(") and not call.is_own:
                words = rule.words
                if kind == "other-function" and not words:
                    words = rule.instead.partition("(")[0], call.function
                yield from ((kind, instead, words) for instead in _called(rule, node, call.given))


def _called(rule: Rule, node: Node, given: Mapping[str, Any]) -> Iterator[Node]:
    """Yield what a rule makes of a call of its function, if it fits and makes it another."""
    step, instead = formula(rule.step), formula(rule.instead)
    assert isinstance(step, syntax.Call)
    parameters = FUNCTIONS[step.function].parameters
    given = {name: given.get(name, parameter.default) for name, parameter in parameters.items()}
    quantities = {name: x for name, x in given.items() if isinstance(x, Node)}
    own = {
        name: syntax.Name(name) if name in quantities else as_written(x)
        for name, x in given.items()
    }

    def whole(tree: Tree) -> Tree:
        if isinstance(tree, syntax.Call) and not tree.arguments:
            return replace(tree, options=tuple({**own, **dict(tree.options)}.items()))
        return tree

    x, left = given["x"], given.get("left", 0)
    rows, columns = x.grid
    # An axis is taken for the other one where it is as long.
    is_other = "axis=" not in rule.instead or rows == columns
    if is_other and whole(step) == whole(replace(step, options=())) != whole(instead):
        numbers = {
            # What these are where they are not given.
            "gamma": 1, "beta": 0,
            # Steps don't reckon whole numbers of options.
            "more": left + 1, "fewer": left - 1, "along": 2 * len(x.shape) - 3,
            "rows": rows, "count": rows * columns,
        }  # fmt: skip
        known = {name: number(value) for name, value in numbers.items()}
        known |= {"positions": counted(rows), "y": node, **quantities}
        # Numbers that don't fit: nobody makes the slip here.
        with suppress(Malformed):
            yield Program(known, (), ()).lower_tree(whole(instead))
