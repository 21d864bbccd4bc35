"""Every operation in every shape, on sheets and in the reports of audits."""

from __future__ import annotations

import json
from itertools import product

import pytest

from symattn.auditing import reports
from symattn.auditing.audit import audit
from symattn.auditing.reports import errata
from symattn.cases.case import make
from symattn.errors import Malformed
from symattn.printers.latex import document
from symattn.sheets import redpen
from symattn.sheets.case_sheet import sheet
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict

OPERANDS = {
    "s": "1/3",
    "v": [2, "-1/2"],
    "r": [["1/3", -1]],
    "c": [["1/2"], [3]],
    "A": [[1, "2/3"], ["-1/4", 2]],
    "o": [["1/7"]],
}
MASKS = {
    "m": 1,
    "n": [1, 0],
    "R": [[0, 1]],
    "C": [[1], [1]],
    "M": [[1, 0], [1, 1]],
    "N": [[1]],
}
STEPS = (
    *("-{x}", "{x}.T", "exp({x})", "sqrt({x} * {x})", "log({x} * {x})", "tanh({x})"),
    *("softmax({x})", "causal({x})", "rowsum({x})", "colsum({x})", "total({x})", "{x}[0]"),
    *("{x}[0:1]", "rows({x}) * {x}", "concat({x}, {x})", "{x} @ {x}.T", "softmax(causal({x}))"),
    *("{x} / sqrt(2)", "{x} + A", "v * {x}", "{x} / c", "s - {x}", "A @ {x}", "{x} @ r.T"),
)
MASKINGS = ("{m}", "{m}[0]", "1 * {m}", "{m}.T", "rowsum(softmax(A))", "1")
"""What a masking step may be given for its mask."""


def printed(shape):
    """A figure for each entry, most of them wrong."""
    if not shape:
        return "0.50"
    return [printed(shape[1:]) for _ in range(shape[0])]


def reported(given, steps, places=2):
    """A case of these steps, all of it claimed, on every sheet and in every report."""
    bare = make("shapes", given, steps)
    claims = [
        {"of": name, "printed": printed(bare.program.quantities[name].shape)} for name in steps
    ]
    held = Solution(make("shapes", given, steps, claims=claims))
    for detail in ("brief", "full"):
        assert r"\begin{document}" in document(sheet(held, detail=detail, places=places))
    judged = audit(held)
    assert r"\begin{document}" in document(redpen.sheet(judged))
    json.dumps(reports.as_dict(judged), allow_nan=False)
    json.loads(reports.sarif([judged], "0"))
    assert errata(judged)
    assert bool(reports.github([judged])) == bool(judged.count(Verdict.REFUTED))


@pytest.mark.sampled(1, 13)
@pytest.mark.parametrize("step", STEPS)
def test_every_step_in_every_shape(step) -> None:
    """What has a value has its sheets, its red pen and its reports."""
    defined = 0
    for name in OPERANDS:
        steps = {"y": step.format(x=name), "z": f"({step.format(x=name)}) * 1"}
        try:
            make("shapes", OPERANDS, steps)
        except Malformed:
            # Shapes that don't fit, as make tells at once.
            continue
        reported(OPERANDS, steps)
        defined += 1
    assert defined >= 2


@pytest.mark.sampled(0, 2)
@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("form", ["named", "inner", "weights", "gradient"])
def test_every_mask_in_every_shape(masking, form) -> None:
    """A mask of any shape that fits: given, a step, a part or a sum of weights."""
    forms = {
        "named": {"T": "mask({x}, {m})", "A2": "exp(T)"},
        "inner": {"Y": "exp(mask({x}, {m}) / 2) * 2"},
        "weights": {"K": "{m}", "W": "softmax(mask({x} * 2, K))", "Y": "W * 3"},
        "gradient": {"T": "mask({x}, {m}) * exp({x})", "Y": "exp(T)"},
    }
    defined = 0
    for name, mask in product(OPERANDS, MASKS):
        keep = masking.format(m=mask)
        steps = {k: text.format(x=name, m=keep) for k, text in forms[form].items()}
        given = {name: OPERANDS[name], "A": OPERANDS["A"], mask: MASKS[mask]}
        try:
            Solution(make("shapes", given, steps))
        except Malformed:
            # A mask that doesn't fit, or one that leaves a row nothing to attend to.
            continue
        reported(given, steps)
        defined += 1
    assert defined >= 4


@pytest.mark.parametrize("step", ["mask(X @ X.T, M)", "mask(X @ X.T, M[0:2])", "mask(X @ X.T, 1)"])
@pytest.mark.parametrize("loss", [{}, {"upstream": [["g1", 2], [0, "g2 - 1"]]}])
def test_masked_scores_as_the_output(step, loss) -> None:
    """A padding mask given as a vector, where the loss's output holds -inf."""
    given = {"X": [[1, "1/2"], [0, 1]], "M": [1, 0]}
    held = Solution(make("output", given, {"S": step}, loss))
    for detail in ("brief", "full"):
        assert r"-\infty" in document(sheet(held, detail=detail)) or "M" not in step


def test_weights_of_one_entry_as_a_mask() -> None:
    """Each is exactly 1; the heat map shades what the exact value tells."""
    given = {"X": [["1/3"], ["2/7"]]}
    steps = {"A": "softmax(X)", "T": "mask(A, A)", "B": "softmax(T)"}
    held = Solution(make("one", given, steps))
    shown = document(sheet(held, detail="full", audience="author"))
    assert shown.count("heat!100!white") == 4
    assert "the mask is 0 or 1 only up to rounding" in shown


def test_what_floats_leave_open_is_named() -> None:
    """The sheet is written, with the quantities that floats could not check and why."""
    case = make("open", {"x": [800, 2]}, {"y": "exp(x) / exp(x + 1)", "z": "x * x"})
    shown = document(sheet(Solution(case), audience="author"))
    assert (
        r"\textbf{Not decided by floats:} $y$: in y a number is beyond the range of 64-bit floats."
        in shown
    )
    assert "undecided" in shown
    case = make("settled", {"x": [8, 2]}, {"y": "exp(x)"})
    settled = document(sheet(Solution(case), audience="author"))
    assert "ulp" in settled
    assert "Not decided" not in settled
