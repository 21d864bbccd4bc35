"""The functions of steps mean in derivations what they compute in walkthroughs, and a case's
gradients are lines that are proved."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from flint import arb

from symattn.calculus import draft as drafts
from symattn.calculus import line_reading
from symattn.calculus.library import derive
from symattn.calculus.manuscript import read_text
from symattn.calculus.refuting import Sampler
from symattn.calculus.sampling import SamplePoint
from symattn.case_derivation import as_text, derive_case, tables
from symattn.cases import library
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.numbers.balls import precision
from symattn.sheets.derivation import sheet
from symattn.solution.entries import EntryValue
from symattn.solution.solution import Solution

from .programs.test_operations import GIVEN, STEPS

BITS = 200

#: What can't be said for any size, and why.
REFUSED = {
    "cross_entropy, shares": "whole numbers that are computed name places",
    "rope": "an array is written out in numbers, 2, 5: give it a name and a shape",
}
#: 0 log 0 is 0 in steps, and so is 0 > 0; a line says nothing of it.
WITHOUT_VALUE = ("entropy", "minimum", "where, hidden", "comparisons", "rowmax")
#: What these say otherwise.
MORE = {
    "cross_entropy, matrices": "cross_entropy(Q, softmax(P))",
    "cross_entropy, vectors": "cross_entropy(v, K[0], label_smoothing=1/3)",
    "cross_entropy, masked": "cross_entropy(causal(P @ P.T), eye(2))",
    "rope, positions": "rope(R, positions=v[0:2], base=100)",
    "minimum, apart": "minimum(P, v + 1/7)",
    "where, apart": "exp(where(K > 1/2, Q, -inf)) + where(P <= Q, P, Q)",
    "comparisons, apart": "(P >= 9/5) * (Q < 2/7) * (P <= 5/2) * (Q != 1/9) * (Q == 1/9) * P",
    "entropy, positive": "entropy(softmax(Q)) * entropy(softmax(v))",
    "window, square": "softmax(window(P @ P.T, 0, 1)) @ P",
    "causal, square": "logsumexp(causal(P @ P.T) / sqrt(c)) + rowmax(causal(P @ P.T))",
    "causal, columns": "softmax(causal(P @ P.T) + 1, axis=0)",
    "transposed product": "(P @ K.T).T",
    "alibi, hidden": "softmax(alibi(causal(P @ P.T), c))",
    "sink, hidden": "softmax(causal(P @ P.T), sink=rowsum(Q))",
    "padding, computed": "exp(padding(Q, i[1]))",
    "log_softmax, hidden": "exp(log_softmax(causal(P @ P.T)))",
}


def balls(quantity):
    """All entries, row by row; None for hidden scores."""
    rows, columns = quantity.grid
    return [
        None if quantity.is_masked(i, j) else EntryValue(quantity, i, j).ball(BITS)
        for i, j in product(range(rows), range(columns))
    ]


def read(document, solution):
    """A derivation that states a case, and the numbers of the case: whole numbers that name
    places as rows of 0 and 1."""
    stated = {key: value for key, value in document.items() if key != "notes"}
    draft = drafts.read(stated)
    values: dict[Any, Any] = {}
    sizes: dict[Any, Any] = {}
    # Whole numbers last: how many places they name is known then.
    for array in sorted(
        draft.ground.given, key=lambda x: len(x.axes) > len(solution[x.name].shape)
    ):
        shape, entries = solution[array.name].shape, balls(solution[array.name])
        if len(array.axes) > len(shape):
            count = sizes.get(array.axes[-1], array.axes[-1])
            shape = (*shape, count)
            entries = [arb(int(entry == c)) for entry in entries for c in range(count)]
        sizes |= zip(array.axes, shape, strict=True)
        places = product(*(range(1, length + 1) for length in shape))
        values[array] = dict(zip(places, entries, strict=True))
    return draft, SamplePoint(sizes, values, {})


@pytest.mark.sampled(33)
@pytest.mark.parametrize("name", [*STEPS, *MORE])
def test_a_step_means_in_a_derivation_what_it_computes(name):
    case = make("one-step", GIVEN, {"y": {**STEPS, **MORE}[name]})
    solution = Solution(case)
    if name in REFUSED:
        with pytest.raises(Malformed, match=REFUSED[name]):
            tables(case)
        return
    document = tables(case)
    with precision(BITS):
        draft, point = read(document, solution)
        array = draft.scope.arrays["y"]
        mine = [arb(point.entry(array, at)) for at in point.places(array.axes)]
        for x, y in zip(mine, balls(solution["y"]), strict=True):
            assert (x - y).contains(0), (document["define"], x, y)
            assert (x - y).rad() < 1e-30 or name in WITHOUT_VALUE


@pytest.mark.sampled(3, 39)
@pytest.mark.parametrize("name", [*STEPS, *MORE])
def test_no_gradient_that_a_program_computes_is_refuted(name):
    """The lines of every form of the grammar hold at random numbers and sizes, or can't be
    read, and say why."""
    if name in REFUSED:
        return
    document = tables(make("one-step", GIVEN, {"y": {**STEPS, **MORE}[name]}))
    document.pop("notes")
    draft = drafts.read(document)
    trials = Sampler(draft.ground)
    unread = 0
    for said in draft.lines:
        try:
            line = line_reading.line(said.line, draft.scope)
        except Malformed:
            unread += 1
        else:
            assert trials.of(line).verdict != "refuted", said.line
    assert unread == UNREADABLE.get(name, 0)


#: Gradients through a largest score that may be hidden, or into what scales hidden scores.
UNREADABLE = {"rowmax": 1, "causal, square": 2, "entropy, positive": 1}


@pytest.mark.parametrize(
    ("formulas", "why"),
    [
        ("causal(S) = S", "minus infinity, no number"),
        ("softmax(t * causal(S)) = S", "scale before they are masked"),
        ("M = causal(S)\ntotal(M) = 1", "minus infinity, no number"),
        ("M = causal(S)\nM[1, 2] = 0", "minus infinity, no number"),
        ("M = causal(S)\ndiff(M[i, j], S[k, l]) = 0", "minus infinity, no number"),
        ("sum(j, causal(S)[i, j]) = 1", "minus infinity, no number"),
        ("M[i, j] = causal(S)[i, j]\nM = S", "minus infinity, no number"),
        ("-causal(S) = S", "minus infinity, no number"),
        ("causal(S) @ S = S", "minus infinity, no number"),
        ("softmax(S - causal(S)) = S", "minus infinity, no number"),
        ("softmax(causal(X)) = X", "as many rows as columns"),
        ("window(X, 1) = X", "as many rows as columns"),
        ("onehot(x, 3) = X", "give a row of 0 and 1 for each"),
        ("embedding(x, X) = X", "and write T @ E"),
        ("cross_entropy(X, x) = t", "expected targets of the shape"),
        ("heads(X, 2) = X", "give heads an axis of their own"),
        ("rope(X) = X", "give pairs an axis of their own"),
        ("positions(n, m) = X", "are not told apart for any m"),
        ("concat(X, X) = X", "are not told apart for any m"),
        ("X[:, 0:2] = X", "are not told apart for any m"),
        ("F[:, 2:6] = F", "F ends at 4, found the slice 2:6"),
        ("layernorm(X) = X", "needs eps"),
        ("softmax(X, axis=2) = X", "-1 or 1, along rows, or 0, down columns"),
        ("softmax(X, axis=n) = X", "or 0, down columns, found n"),
        ("window(S, n) = S", "window: left: expected a whole number, found n"),
        ("eye(n * m) = X", "expected a whole number above 0, or rows(X) or cols(X)"),
        ("zeros(9999, 9999) = X", "9999x9999 is beyond 262144 entries"),
        ("rmsnorm(X, eps=x) = X", "expected a number for eps, found a vector of n"),
        ('causal(F, align="bottom-right") = F', "as many rows as columns, found an array of n x 4"),
        ("softmax(T, axis=0) = T", "there is no axis 0 of n x m x 2"),
        ("softmax(T, axis=0, sink=t) = T", "there is no axis 0 of n x m x 2"),
        ("sum(T, axis=1) = T", "there is no axis 1 of n x m x 2"),
        ("mean(T, axis=0) = T", "there is no axis 0 of n x m x 2"),
        ("colsum(T) = T", "colsum takes a matrix, found n x m x 2"),
        ("max(T) = t", "expected a matrix, or a row, found n x m x 2"),
        ("softmax(X, dims=0) = X", "softmax has no option 'dims'"),
        ("delta(1, 2, axis=0) = 1", "delta has no options"),
        ("sum(j, x[j], axis=0) = 1", "sum over an index has no options"),
        ('gelu(X, approximate="sin") = X', 'expected "none" or "tanh"'),
    ],
)
def test_what_cannot_be_said_for_any_size_says_why(formulas, why):
    """It is never read as something else."""
    text = f"S: n x n\nX: n x m\nx: n\nF: n x 4\nT: n x m x 2\nt: number\n{formulas}"
    derivation = derive(text)
    messages = [line.why for line in derivation.lines] + [str(f) for f in derivation.faults]
    assert not any(line.proved for line in derivation.lines)
    assert any(why in message for message in messages), messages


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "text",
    [
        """
        S: n x n
        L: function of A
        M = causal(S)
        A = softmax(M)
        A[i, j] = exp(S[i, j]) * step(j <= i) / sum(k, exp(S[i, k]) * step(k <= i))
        dM = A * (dA - rowsum(A * dA))
        dS = tril(dM)
        exp(M[i, j]) = exp(S[i, j]) * step(j <= i)
        softmax(M.T, axis=0) = A.T
        logsumexp(M)[i, 1] = log(sum(k, exp(S[i, k]) * step(k <= i)))
        """,
        """
        S: n x m
        M: n x m
        L: function of A
        A = softmax(mask(S, M))
        A[i, j] = M[i, j] * exp(S[i, j]) / sum(k, M[i, k] * exp(S[i, k]))
        M * A = A
        dS = A * (dA - rowsum(A * dA))
        (1 - M) * dS = zeros(n, m)
        """,
        """
        X: n x d
        gamma: d
        beta: d
        eps: number
        assume eps > 0
        L: function of Y
        N = layernorm(X, eps=eps)
        std = sqrt(var(X, axis=-1) + eps)
        Y = layernorm(X, gamma, beta, eps=eps)
        Y = gamma.T * N + beta.T
        g = dY * gamma.T
        dX = (g - mean(g, axis=1) - N * mean(g * N, axis=1)) / std
        dgamma = colsum(dY * N).T
        """,
        """
        X: n x d
        gamma: d
        eps: number
        assume eps > 0
        L: function of Y
        N = rmsnorm(X, eps=eps)
        Y = rmsnorm(X, gamma, eps=eps)
        g = dY * gamma.T
        dX = (g - N * mean(g * N, axis=1)) / sqrt(mean(X**2, axis=1) + eps)
        """,
        """
        Z: n x m
        T: n x m
        assume sum(j, T[i, j]) = 1
        E = cross_entropy(Z, T)
        diff(E, Z) = (softmax(Z) - T) / n
        """,
        """
        X: n x p x 2
        L: function of R
        R = rope(X)
        t[i, c] = (i - 1) * exp(-(c - 1) / p * log(10000)) + 0 * X[i, c, 1]
        dX[i, c, 1] = cos(t[i, c]) * dR[i, c, 1] + sin(t[i, c]) * dR[i, c, 2]
        dX[i, c, 2] = cos(t[i, c]) * dR[i, c, 2] - sin(t[i, c]) * dR[i, c, 1]
        """,
        """
        Q: n x h x d
        K: n x h x d
        S[i, j] = sum(c, Q[i, 1, c] * K[j, 1, c])
        A = softmax(causal(Q[:, 1, :] @ K[:, 1, :].T))
        A[i, j] = step(j <= i) * exp(S[i, j]) / sum(k, step(k <= i) * exp(S[i, k]))
        """,
        """
        F: n x 4
        concat(F[:, 0:2], F[:, 2:4]) = F
        concat(F[:, 2:4], F[:, 0:2])[i, 1] = F[i, 3]
        head(F, 1, 2) = F[:, 2:]
        reshape(F[1, :], 2, 2)[2, 1] = F[1, 3]
        """,
        """
        x: n
        sum(j, 1) = n
        sum(j, -1) = -n
        mean(x, 0) * n = sum(x, 0)
        """,
        """
        X: n x m
        Y: k x m
        G = (X @ Y.T).T
        G = Y @ X.T
        """,
    ],
    ids=[
        "causal",
        "mask",
        "layernorm",
        "rmsnorm",
        "cross_entropy",
        "rope",
        "heads",
        "slices",
        "axes",
        "transposed",
    ],
)
def test_gradients_through_functions_of_steps_are_proved(text):
    derivation = derive(text)
    assert derivation.proved, derivation.to_text()


#: What hides scores and is not 0 or 1 for certain.
NO_MASKS = {
    "multiple": (
        "exp(mask(S, 2 * M)) = 2 * exp(mask(S, M))",
        "mask takes a given array of 0 and 1",
    ),
    "negative": ("exp(mask(S, -M)) = -M * exp(S)", "mask takes a given array of 0 and 1"),
    "product": (
        "exp(mask(S, X @ X.T)) = X @ X.T * exp(S)",
        "or a comparison: write mask(S, X != 0)",
    ),
    "defined": (
        "A = softmax(S)\nexp(mask(S, A)) = A * exp(S)",
        "define|mask takes a given array of 0 and 1",
    ),
    "where": ("2 * S - M = where(2 * X, S, M)", "where takes a given array of 0 and 1"),
    "twice": ("exp(mask(S, eye(n) + eye(n))) = 2 * eye(n) * exp(S)", "mask takes a given array"),
    "both": (
        "exp(mask(S, step(0 < X) + step(0 < M))) = (step(0 < X) + step(0 < M)) * exp(S)",
        "mask takes a given array",
    ),
    "rest": ("exp(mask(S, 1 - M)) = (1 - M) * exp(S)", "'assume M * M = M' of an array M"),
    "diagonal": (
        "assume M[i, i] * M[i, i] = M[i, i]\nexp(mask(S, 1 - M)) = (1 - M) * exp(S)",
        "'assume M * M = M' of an array M",
    ),
}


@pytest.mark.parametrize(("formulas", "why"), NO_MASKS.values(), ids=NO_MASKS)
def test_what_hides_scores_is_0_or_1(formulas, why):
    """Steps hide scores where a mask is 0, and take no other than 0 and 1."""
    derivation = derive(f"S: n x n\nM: n x n\nX: n x n\n{formulas}")
    messages = [line.why for line in derivation.lines] + [str(f) for f in derivation.faults]
    assert not any(line.proved for line in derivation.lines)
    assert any(part in message for part in why.split("|") for message in messages), messages


@pytest.mark.parametrize(
    "formulas",
    [
        "exp(mask(S, X > 0)) = exp(where(X > 0, S, -inf))",
        "exp(mask(S, X == 0)) = (1 - step(0 < X) - step(X < 0)) * exp(S)",
        "exp(mask(S, X + S != 0)) = exp(where(S + X != 0, S, -inf))",
        "exp(mask(S, step(X < 0) + step(0 < X))) = (step(0 < X) + step(X < 0)) * exp(S)",
        "exp(mask(S, tril(ones(n, n)))) = exp(causal(S))",
        "exp(mask(S, exp(causal(zeros(n, n))))) = exp(causal(S))",
        "K = eye(n)\nexp(mask(S, K)) = K * exp(S)",
        "K[i, j] = step(j <= i)\nK * S + (1 - K) * X = where(K, S, X)",
        "assume M * M = M\nexp(mask(S, 1 - M)) = (1 - M) * exp(S)",
        "assume M[i, j] * M[i, j] = M[i, j]\nexp(mask(S, M * eye(n))) = M * eye(n) * exp(S)",
        "exp(mask(S, M.T)) = M.T * exp(S)",
    ],
)
def test_what_is_0_or_1_by_its_form_or_by_assumption_hides_scores(formulas):
    derivation = derive(f"S: n x n\nM: n x n\nX: n x n\n{formulas}")
    assert derivation.proved, derivation.to_text()


#: A mask that stands for something else, too, and where.
OTHERWISE = {
    "a claim about it, before it hides": (
        "M * M = M\nexp(mask(S, M)) = M * exp(S)",
        "lines[0]",
        "M",
    ),
    "its power": ("exp(mask(S, M)) = M * exp(S)\nM**3 = M", "lines[1]", "M"),
    "its exponential": ("B = exp(mask(S, M))\nexp(M) = 1 + M * (exp(1) - 1)", "lines[0]", "M"),
    "scores": ("exp(mask(S, S)) = S * exp(S)", "lines[0]", "S"),
    "scaled scores": ("A = softmax(mask(2 * M, M))\nM * A = A", "define.A", "M"),
    "values": ("S = where(S, S, M)", "lines[0]", "S"),
    "an entry": ("E = M[1, 1]\nexp(mask(S, M)) = M * exp(S)", "define.E", "M"),
    "an assumption": ("assume M > 0\nexp(mask(S, M)) = exp(S)", "hypotheses[0]", "M"),
    "a loss": ("L: function of M\nexp(mask(S, M)) = M * exp(S)", "losses.L", "M"),
}


@pytest.mark.parametrize(("formulas", "where", "name"), OTHERWISE.values(), ids=OTHERWISE)
def test_a_mask_that_is_used_otherwise_has_to_be_assumed_to_be_one(formulas, where, name):
    text = f"S: n x n\nM: n x n\n{formulas}"
    derivation = derive(text)
    (fault,) = derivation.faults
    assert fault.where == where
    assert f"'assume {name} * {name} = {name}'" in fault.message
    assert not any(line.proved for line in derivation.lines)
    again = derive(f"S: n x n\nM: n x n\nassume {name} * {name} = {name}\n{formulas}")
    assert not again.faults
    assert f"{name} * {name} == {name}" in again.draft.hypotheses


@pytest.mark.parametrize(
    ("shape", "formula", "assumed", "printed"),
    [
        (
            "n x m",
            "exp(mask(S, M)) = M * exp(S)",
            "M[i, j] * M[i, j] == M[i, j]",
            "M_ij M_ij = M_ij",
        ),
        ("n", "exp(mask(S, M)) = M * exp(S)", "M[i] * M[i] == M[i]", "M_i M_i = M_i"),
        ("number", "M * S = where(M, S, 0)", "M * M == M", "M M = M"),
    ],
)
def test_what_is_taken_of_a_mask_is_said(shape, formula, assumed, printed):
    """In the text, in JSON and on the sheet."""
    derivation = derive(f"S: n x m\nM: {shape}\n{formula}")
    assert derivation.proved
    assert derivation.to_dict()["hypotheses"] == [assumed]
    given = derivation.to_text().partition("Lines")[0]
    assert printed in [line.strip() for line in given.splitlines()]
    assert "It is assumed that" in str(sheet(derivation).blocks)


@pytest.mark.parametrize(
    "loss",
    [
        "nll(causal(S), M)",
        "cross_entropy(causal(S), M)",
        "cross_entropy(causal(S), tril(M), label_smoothing=1/10)",
        "nll(causal(S), tril(M).T)",
        "nll(window(S, 1), tril(M))",
        "nll(mask(S, X), M)",
        "nll(mask(S, X), X.T * M)",
        "nll(mask(S, later), later.T * M)",
    ],
)
def test_a_loss_of_hidden_levels_needs_targets_that_are_0_there(loss):
    """It is infinite elsewhere."""
    later = "later[i, j] = step(0 < t * (2 * j - i))"
    derivation = derive(f"S: n x n\nM: n x n\nX: n x n\nt: number\n{later}\n{loss} = t")
    assert derivation.lines[0].status == "undecided"
    assert "infinite where a level is hidden" in derivation.lines[0].why


@pytest.mark.parametrize(
    "formulas",
    [
        "nll(causal(S), tril(M)) = -sum(tril(M) * S) / n",
        "nll(mask(S, X), X * M) = -sum(X * M * S) / n",
        "nll(causal(S), eye(n)) = -trace(S) / n",
        "nll(window(S, 1), eye(n)) = -trace(S) / n",
        "T = tril(M)\nnll(causal(S), T) = -sum(tril(M) * S) / n",
        "T[i, j] = M[j, i] * step(j <= i)\nnll(causal(S), T) = -sum(T * S) / n",
    ],
)
def test_targets_that_are_0_where_levels_are_hidden(formulas):
    derivation = derive(f"S: n x n\nM: n x n\nX: n x n\n{formulas}")
    assert derivation.proved, derivation.to_text()


def claims(lines):
    """Lines that say more than what a gradient is."""
    return [line for line in lines if " == diff(" not in line]


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("name", ["cat-sat-mat", "cat-sat-mat-padding", "adam"])
def test_what_a_case_is_as_text_reads_back(name):
    """A student can edit it: as it stands it says the same, and all of it is proved."""
    text, stated = as_text(name), derive_case(name)
    again = derive(text)
    assert [line.text for line in stated.lines] == claims(line.text for line in again.lines)
    assert stated.proved
    assert again.proved
    assert stated.draft.hypotheses == again.draft.hypotheses


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", library.names())
def test_every_bundled_case_is_read_back_from_its_text(name):
    document = tables(library.load(name))
    again = read_text(Path("-"), as_text(name).encode()).document
    for table in ("shapes", "losses", "sizes"):
        assert again[table] == document[table], table
    stated = [line["line"] for line in document["lines"]]
    assert claims(line["line"] for line in again["lines"]) == stated
    assert document["define"].items() >= again["define"].items()
    assert not document["notes"]


#: Their lines are long sums over axes of four places, or of a feed-forward layer without a name.
LONG = {"rope", "pre-norm-block"}


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("name", sorted({*library.names()} - LONG))
def test_no_gradient_of_a_bundled_case_is_refuted(name):
    assert {line.status for line in derive_case(name).lines} <= {"proved", "checked", "undecided"}


@pytest.mark.heavy
def test_a_slip_in_the_text_is_refuted():
    text = as_text("cat-sat-mat-causal").replace("dV = A.T @ dY", "dV = A @ dY")
    assert [line.text for line in derive(text).lines if line.status == "refuted"] == [
        "dV == A @ dY"
    ]


def test_a_step_that_cannot_be_said_is_named():
    case = make("rows", {"i": [0, 1], "X": [[1, 2], [3, 4]]}, {"Y": "nll(X, i + 0)"})
    with pytest.raises(Malformed, match=r"steps\.Y: nll: whole numbers that are computed"):
        derive_case(case)


def test_letters_that_a_case_uses_are_no_indices() -> None:
    """However many of them it has."""
    given = {**dict.fromkeys("abcdfghijklopqrstuvwxyz", 1), "k2": [0, 1]}
    given |= {"X": [[1, 2], [3, 4]]}
    case = make("letters", given, {"Y": "cross_entropy(X, onehot(k2, 2))"})
    assert derive_case(case).proved
