"""Edits of a recipe: in floats and exactly they are the same, and each kind says what it is."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
import pytest

from symattn.auditing.edits import AuditedGraph, Exactly, Model, Site
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.languages.language import fields
from symattn.numbers.balls import FIRST, precision
from symattn.programs.nodes import ancestors
from symattn.programs.program import program
from symattn.slips.catalogue import KINDS, OF_CALLS, mistaken_calls
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution

from .papers import GIVEN, LOSS, STEPS

BIAS = [["0.3", "-0.7", "0.2", "0.6"], ["0.1", "0.5", "-0.4", "0.8"]] * 2
#: Programs in which every kind of edit has its place.
PROGRAMS = {
    "attention": (STEPS, LOSS),
    "bias and heads": (
        {"S": "X @ W_Q + B", "H": "concat(S, X @ W_K)", "R": "rowsum(S) / 4", "Y": "log(exp(S))"},
        None,
    ),
    "functions": (
        {
            "N": "layernorm(B, eps=1/10)",
            "G": "gelu(N)",
            "D": "relu(B)",
            "O": "rope(B)",
            "F": "window(alibi(B, 1/2), 1)",
            "C": "softmax(B, axis=0)",
            "E": "log_softmax(B) * logsumexp(B) * var(B, axis=1) * mean(B, axis=1)",
            "I": "rmsnorm(silu(B), eps=1) + sigmoid(B) * norm(B, axis=1)",
            "J": "max(B, axis=1) * min(B, axis=0) + softplus(l2norm(B))",
            "L": "mse(B, B.T) + cross_entropy(B, [0, 1, 2, 0])",
        },
        None,
    ),
    "difference": ({"S": "X - B", "T": "2 * S", "A": "softmax(mask(T, P))"}, None),
}
PADDING = [["1", "0", "1", "1"], ["1", "1", "0", "1"], ["0", "1", "1", "1"], ["1", "1", "1", "0"]]


def recipe(name):
    """The recipe of a program that prints all its steps."""
    steps, loss = PROGRAMS[name]
    given = {**GIVEN, "B": BIAS, "P": PADDING}
    solution = Solution(make(name, given, steps, loss))
    found = AuditedGraph(solution, [])
    found.places = [
        (node, i, j) for node in found.named.values() for i, j in np.ndindex(*node.grid)
    ]
    found.needed = ancestors(found.named.values())
    return found


def edits(name):
    """All edits of all steps of a program."""
    found = recipe(name)
    model = Model(found)
    with np.errstate(all="ignore"):
        for node in found.needed:
            if node.op not in ("pick", "transpose"):
                site = Site(found, model, node, in_use=False)
                yield from ((found, edit) for edit in site.steps())
                yield from ((found, edit) for edit in site.entries(np.ones(node.grid, bool)))


def value(quantity, i, j):
    """An exact entry as a float; of a masked score whose sign is wrong there is none."""
    with precision(FIRST):
        try:
            masked = quantity.is_masked(i, j)
            return -np.inf if masked else float(EntryValue(quantity, i, j).ball(FIRST))
        except Malformed:
            return np.inf


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("name", PROGRAMS)
def test_floats_and_exact_numbers_agree(name) -> None:
    """What the search tries in floats is what is confirmed exactly, entry by entry."""
    seen = set()
    for found, edit in edits(name):
        key = edit.kind, edit.node.serial
        if key in seen:
            continue
        seen.add(key)
        node = edit.exactly(Exactly(Model(found), in_use=False).made)
        assert node.grid == edit.node.grid
        quantity = found.solution.quantity(node)
        for i, j in np.ndindex(*node.grid):
            near = edit.value[i, j]
            assert near == pytest.approx(value(quantity, i, j), rel=1e-9, nan_ok=True), edit.phrase


#: Calls that every rule of calls finds its own among, of a square X, a row v and a number s.
CALLS = (
    *("relu(X)", "gelu(X)", "gelu(X, approximate='tanh')", "silu(X)", "sigmoid(X)", "softplus(X)"),
    *("abs(X)", "clip(X, 0, 1)", "softmax(X, sink=s)", "softmax(X, axis=0)", "log_softmax(X)"),
    *("layernorm(X, v, v, eps=1)", "rmsnorm(X, v, eps=1)", "l2norm(X)", "norm(X)", "rope(X)"),
    *(
        "rope(X, interleaved=False)",
        "alibi(X, 2)",
        "softcap(X, 2)",
        "window(X, 1)",
        "padding(X, 1)",
    ),
    *("cumsum(X)", "cumsum(X, axis=0)", "logsumexp(X)", "var(X)", "var(X, ddof=1)", "std(X)"),
    *("std(X, ddof=1)", "mean(X)", "max(X)", "min(X)", "rowmin(X)", "mse(X, X)", "nll(X, X)"),
    *("binary_cross_entropy(X, X)", "cross_entropy(X, X, s)"),
)


def test_every_rule_of_a_call_makes_something() -> None:
    """No row is passed over because its text can't be read."""
    given = {"X": (4, 4), "v": (4,), "s": ()}
    made = [
        (kind, call.partition("(")[0], words)
        for call in CALLS
        for kind, _, words in mistaken_calls(program(given, {"Y": call}).quantities["Y"])
    ]
    functions = [
        (kind, rule, rule.step.partition("(")[0])
        for kind, rules in OF_CALLS.items()
        for rule in rules
    ]
    for kind, rule, function in functions:
        functions_of = (rule.instead.partition("(")[0], function)
        words = rule.words or (functions_of if kind == "other-function" else ())
        assert (kind, function, words) in made, rule


@pytest.mark.heavy
def test_every_kind_has_its_place() -> None:
    """No kind is without an edit; a wrong number is solved for, and no step of its own."""
    kinds = {edit.kind for name in PROGRAMS for _, edit in edits(name)}
    assert kinds == {*KINDS} - {"wrong-number"}


@pytest.mark.sampled(0, 2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_another_operation_gives_other_values(name) -> None:
    """What comes to the same as before is no edit."""
    for found, edit in edits(name):
        assert edit.value.shape == edit.node.grid
        if edit.instead is not None or edit.kind in ("rounded", "held-in"):
            before = Model(found).made(edit.node)
            assert not np.array_equal(edit.value, before, equal_nan=True), edit.phrase


def test_all_kinds_together_are_a_code() -> None:
    """The prices are those of a code that can be told apart (L. Kraft, 1949), so that what an
    edit gains beyond its price is not gained by chance."""
    assert sum(2.0**-kind.price for kind in KINDS.values()) <= 1


@pytest.mark.heavy
def test_every_phrase_takes_its_words() -> None:
    """No kind is said with a gap or with words left over."""
    for name in PROGRAMS:
        for _, edit in edits(name):
            assert edit.phrase.count("{") == 0
            assert sorted(fields(KINDS[edit.kind].phrase)) == [*ascii_lowercase[: len(edit.words)]]
            assert all(edit.words)
