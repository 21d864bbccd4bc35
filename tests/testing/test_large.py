"""Kernels of any length: bounds by blocks of queries, and samples of queries."""

from __future__ import annotations

import numpy as np
import pytest

from symattn import attention, from_floats
from symattn.errors import Malformed
from symattn.programs import enclosures
from symattn.testing import Precision, check_attention
from symattn.testing.attention_steps import exactly
from symattn.testing.bounds import all_bounds, bounds
from symattn.verdicts import Verdict

OPTIONS = {
    "plain": {},
    "causal": {"causal": "bottom-right"},
    "capped": {"softcap": 2, "sink": 1, "causal": "bottom-right"},
    "empty rows": {"lengths": np.array([3, 0]), "window": (4, 4), "on_empty_row": "zero"},
    "means": {"lengths": np.array([3, 0]), "window": (4, 4), "on_empty_row": "mean"},
}


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("layout", [None, "bshd"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_bounds_of_blocks_are_those_of_all(options, layout):
    """What is judged by blocks of queries has the bounds that all queries together have."""
    rng = np.random.default_rng(1)
    q, do = (rng.normal(size=(2, 4, 260, 3)).astype("float32") for _ in range(2))
    k, v = (rng.normal(size=(2, 2, 270, 3)).astype("float32") for _ in range(2))
    arrays = [q, k, v, do]
    if layout:
        arrays = [x.transpose(0, 2, 1, 3) for x in arrays]
    exact = [from_floats(x) for x in arrays]
    forward = attention(exact[0], exact[1], exact[2], layout=layout, **options)
    backward = forward.backward(exact[3])
    precision = Precision("float16", formats=(("lse", "float32"),))
    whole = all_bounds(exactly(forward, backward), precision)
    parts = {"output": forward.output, "lse": forward.lse, "weights": forward.weights}
    parts |= {name: backward[name] for name in ("dQ", "dK", "dV")}
    for name, part in parts.items():
        found = bounds(part, precision)
        for got, wanted in (
            (found.bound, whole[name].bound),
            (found.condition, whole[name].condition),
        ):
            assert got.shape == part.shape
            assert np.allclose(got, wanted, rtol=1e-9, atol=1e-30)


class Kernel:
    """Attention of float32 with its backward pass; ``fault`` is what is wrong with it."""

    def __init__(self, fault: str = "", causal: bool = False) -> None:
        self.fault, self.causal = fault, causal

    def weights(self, q, k):
        scores = q @ np.swapaxes(k, -1, -2)
        if self.fault != "scale":
            scores = scores / np.sqrt(np.float32(q.shape[-1]))
        if self.causal and self.fault != "mask":
            scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
        if self.fault == "last tile":
            scores[..., 256:, :] *= 2
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    def __call__(self, q, k, v):
        return self.weights(q, k) @ v

    def backward(self, q, k, v, do):
        a = self.weights(q, k)
        da = do @ np.swapaxes(v, -1, -2)
        rest = 0 if self.fault == "rest" else (a * da).sum(-1, keepdims=True)
        ds = a * (da - rest) / np.sqrt(np.float32(q.shape[-1]))
        return ds @ k, np.swapaxes(ds, -1, -2) @ q, np.swapaxes(a, -1, -2) @ do


def inputs(n=300, d=4, lead=()):
    rng = np.random.default_rng(7)
    names = "q", "k", "v", "upstream"
    return {name: rng.normal(size=(*lead, n, d)).astype("float32") for name in names}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rows", [None, "sample", 5, [0, 17, 299]])
def test_right_kernels_pass(rows):
    """A right kernel of 300 queries passes, judged as a whole and by samples."""
    kernel = Kernel(causal=True)
    found = check_attention(
        kernel, backward=kernel.backward, rows=rows, causal=True, **inputs(lead=(2,))
    )
    assert [*found.reports] == ["output", "dQ", "dK", "dV"]
    count = {None: 300, "sample": 64}.get(rows, rows) if not isinstance(rows, list) else 3
    assert found.reports["output"].shape == (2, count, 4)
    assert found.reports["dK"].shape == (2, 300, 4)
    said = "" if rows is None else f"{count} of 300 queries"
    assert {report.queries for report in found.reports.values()} == {said}


def test_a_right_kernel_needs_no_pass_in_balls(monkeypatch):
    """Pairs of floats tell all that is said of it: balls around all keys took most of the time."""
    monkeypatch.setattr(enclosures, "enclose", None)
    kernel, arrays = Kernel(), inputs()
    arrays["k"][1::2] = arrays["k"][::2]
    arrays["v"][1::2] = np.float32(1e-5) - arrays["v"][::2]
    found = check_attention(kernel, backward=kernel.backward, **arrays)
    for report in found.reports.values():
        assert report.worst is not None
        assert len(report.worst.truth.strip("-0.").replace(".", "")) > 9


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize("rows", [None, "sample"])
@pytest.mark.parametrize(
    ("fault", "words"),
    [("mask", "without the mask"), ("scale", "without the factor scale"), ("rest", "rowsum")],
)
def test_causes_of_large_kernels_are_named(fault, words, rows):
    """The cause of a fault is named where all queries are judged, and where some are."""
    kernel = Kernel(fault, causal=True)
    found = check_attention(
        kernel, backward=kernel.backward, rows=rows, causal=True, raises=False, **inputs()
    )
    assert found.verdict is Verdict.REFUTED
    assert any(words in cause.phrase for cause in found.causes)


@pytest.mark.heavy
def test_samples_say_where_an_entry_is():
    """What is wrong in the last tile alone is found in its place among all queries."""
    found = check_attention(Kernel("last tile"), rows="sample", raises=False, **inputs())
    report = found.reports["output"]
    assert 0 < report.wrong < report.entries
    assert all(miss.index[0] >= 256 for miss in report.misses)
    assert "64 of 300 queries" in found.message


def test_samples_follow_the_axes_of_a_layout():
    """Queries are sampled along the axis that they have in a layout."""
    kernel = Kernel()
    given = {name: x.transpose(1, 0, 2) for name, x in inputs(n=80, lead=(2,)).items()}

    def turned(function):
        def call(*arrays):
            results = function(*(x.transpose(1, 0, 2) for x in arrays))
            whole = results if isinstance(results, tuple) else (results,)
            whole = tuple(x.transpose(1, 0, 2) for x in whole)
            return whole if isinstance(results, tuple) else whole[0]

        return call

    found = check_attention(
        turned(kernel), backward=turned(kernel.backward), rows=3, layout="shd", **given
    )
    assert found.reports["output"].shape == (3, 2, 4)


def test_queries_are_those_of_the_whole():
    """Some queries are exactly as among all, and all parts of a loss add up."""
    rng = np.random.default_rng(2)
    q, k, v, do = (rng.normal(size=(9, 2)) for _ in range(4))
    exact = [from_floats(x) for x in (q, k, v)]
    whole = attention(exact[0], exact[1], exact[2], causal=True)
    some = attention(exact[0], exact[1], exact[2], causal=True, queries=[1, 4, 8])
    assert np.array_equal(some.output.nearest(), whole.output.nearest()[[1, 4, 8]])
    alone = np.zeros_like(do)
    alone[[1, 4, 8]] = do[[1, 4, 8]]
    one, other = whole.backward(from_floats(alone)), some.backward(from_floats(do[[1, 4, 8]]))
    for name in ("dK", "dV"):
        assert np.array_equal(one[name].nearest(), other[name].nearest())


@pytest.mark.parametrize("queries", [[], [3, 1], [1, 1], [9], [-1], [0.5], [[0]]])
def test_queries_that_there_are_not_are_refused(queries):
    """Numbers of queries are within, and rise."""
    x = [[1]] * 3
    with pytest.raises(Malformed, match="queries: expected numbers of queries from 0 to 2"):
        attention(x, x, x, queries=queries)


def test_samples_need_a_backward_pass_that_is_called():
    """A kernel that gives gradients itself has not seen the upstream gradient of a sample."""
    kernel = Kernel()
    given = inputs()

    def whole(q, k, v):
        names = ("dQ", "dK", "dV")
        gradients = kernel.backward(q, k, v, given["upstream"])
        return {"output": kernel(q, k, v), **dict(zip(names, gradients, strict=True))}

    with pytest.raises(Malformed, match="rows: expected gradients from backward="):
        check_attention(whole, rows="sample", **given)
    with pytest.raises(Malformed, match='rows: expected "sample"'):
        check_attention(kernel, rows="some", **given)  # type: ignore[arg-type]
