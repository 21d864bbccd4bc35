"""What is said of an array: as data, and as NumPy would say it."""

from __future__ import annotations

import json
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import symattn
from symattn import Malformed, Verdict, attention, from_floats
from symattn.testing import assert_close, check_attention, report

from .kernels import Kernel


def exact(dtype="float32", seed=0, **options):
    rng = np.random.default_rng(seed)
    q, k, v = (from_floats(rng.normal(size=(n, 4)).astype(dtype)) for n in (3, 5, 5))
    return attention(q, k, v, **options)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e5m2"])
def test_the_nearest_numbers_are_right_in_every_format(dtype):
    """Correctly rounded arrays are within half a unit, and all correctly rounded."""
    output = exact().output
    found = report(output.nearest(dtype), output, dtype=dtype)
    assert found.verdict is Verdict.HOLDS
    assert found.correctly_rounded == 1
    assert found.max_ulp <= 0.5
    assert found.max_over_bound < 1


def test_the_format_is_that_of_the_array():
    """bfloat16 of ml_dtypes is told by the array; a list is taken for float64."""
    output = exact().output
    found = report(output.nearest("bfloat16").astype(ml_dtypes.bfloat16), output)
    assert (found.format, found.correctly_rounded) == ("bfloat16", 1)
    assert report(output.nearest().tolist(), output).format == "float64"
    with pytest.raises(Malformed, match="dtype: expected the format of int64: one of float64, "):
        report(np.ones((3, 4), dtype=np.int64), output)


def test_numbers_of_another_format_are_a_mismatch():
    """What has more digits than its format was not computed in it."""
    output = exact().output
    found = report(output.nearest("float64"), output, dtype="float16")
    assert found.verdict is Verdict.REFUTED
    assert "no float16" in found.mismatch


def test_the_worst_entry_is_told():
    """Its index, what was found, the exact digits, and the error in units."""
    output = exact().output
    array = output.nearest("float32")
    array[1, 2] = np.nextafter(array[1, 2], np.float32(9)) + np.float32(1e-3)
    found = report(array, output)
    assert found.worst is not None
    assert found.worst.index == (1, 2)
    assert found.worst.got == float(array[1, 2])
    assert found.worst.truth == str(output.significant(20)[1][2])
    assert found.worst.ulp == found.max_ulp > 1000
    assert (found.wrong, found.entries, len(found.misses)) == (1, 12, 1)
    message = "mismatched elements: 1 / 12 (8.33%)\nWorst of them:\n [1, 2]: "
    with pytest.raises(AssertionError) as raised:
        assert_close(array, output)
    assert message in str(raised.value)
    assert "(EXACT)" in str(raised.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_wrong(bad):
    """NaN and infinities are counted, and JSON has them as null."""
    output = exact().output
    array = output.nearest("float32")
    array[0, 0] = bad
    found = report(array, output)
    assert (found.wrong, found.nans + found.infinities) == (1, 1)
    assert found.max_over_bound == math.inf
    data = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (data["verdict"], data["max_over_bound"]) == ("refuted", None)


def test_rows_that_are_not_a_number_must_be_that():
    """With on_empty_row="nan" NaN is right, and a number is wrong."""
    mask = np.ones((3, 5), dtype=bool)
    mask[1] = False
    output = exact(mask=mask, on_empty_row="nan").output
    array = output.nearest("float32")
    assert report(array, output).verdict is Verdict.HOLDS
    array[1] = 0
    found = report(array, output)
    assert found.wrong == 4
    assert found.misses[0].truth == "nan"


def test_the_log_sum_exp_of_a_row_that_sees_nothing_is_not_judged():
    """Minus infinity, infinity or anything: it is convention."""
    mask = np.ones((3, 5), dtype=bool)
    mask[1] = False
    lse = exact(mask=mask, on_empty_row="zero").lse
    for convention in (-np.inf, np.inf, 0.0):
        array = lse.nearest("float32")
        array[1] = convention
        assert report(array, lse).verdict is Verdict.HOLDS
    array[0] += np.float32(1)
    assert report(array, lse).wrong == 1


def test_a_slice_is_judged_as_its_part():
    """What is taken of a quantity is a part of attention too."""
    output = exact().output
    array = output.nearest("float32")[1:, 2]
    assert_close(array, output[1:, 2])
    with pytest.raises(AssertionError):
        assert_close(array + np.float32(0.01), output[1:, 2])


def test_other_quantities_need_a_tolerance():
    """Where no bound is known one is asked for, in unit roundoffs."""
    weights = symattn.solve("cat-sat-mat")["A"]
    array = weights.nearest("float32")
    with pytest.raises(Malformed, match="tolerance: A is no part of symattn"):
        report(array, weights)
    assert_close(array, weights, tolerance=1)
    with pytest.raises(AssertionError, match="tolerance=1"):
        assert_close(array * np.float32(1.00001), weights, tolerance=1)


def test_a_tolerance_replaces_the_bound():
    """Also of parts of attention, in unit roundoffs of the condition."""
    output = exact().output
    array = output.nearest("float32")
    off = array + np.float32(1e-6)
    assert report(off, output).verdict is Verdict.HOLDS
    assert report(off, output, tolerance=1).verdict is Verdict.REFUTED


ARRAYS: dict[str, Any] = {"q": [[1.0, 2.0]], "k": [[1.0, 0.0], [0.0, 1.0]], "v": [[1.0], [0.0]]}


@pytest.mark.parametrize(
    ("give", "parts"),
    [
        (lambda o, lse: o, ["output"]),
        (lambda o, lse: (o, lse), ["output", "lse"]),
        (lambda o, lse: {"out": o, "logsumexp": lse}, ["output", "lse"]),
    ],
)
def test_kernels_return_what_they_have(give, parts):
    """An output, a pair, or a mapping."""
    found = check_attention(lambda *x: give(*Kernel()(*x)), **ARRAYS)
    assert [*found.reports] == parts
    assert str(found).count("right") == len(parts)
    assert found.as_dict()["verdict"] == "holds"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"function": lambda q, k, v: (q, k, v)}, "function: expected the output, or it and the"),
        ({"function": lambda q, k, v: {"x": q}}, "function: expected some of output, lse, dQ"),
        ({"function": lambda q, k, v: {"dq": q}}, "upstream: expected one, the kernel gave dQ"),
        ({"backward": lambda q, k, v, do: (q, k)}, "backward: expected dQ, dK, dV, found 2"),
        ({"framework": "torhc"}, "framework: unknown 'torhc'"),
        ({"dtype": "flot32"}, "unknown format 'flot32'"),
        ({"q": [["x"]]}, "Q: expected an array of numbers"),
    ],
)
def test_what_can_not_be_judged_is_told(changes, message):
    """Results of another kind, and arguments that are none."""
    arguments: dict[str, Any] = {"function": lambda q, k, v: q @ k.T @ v, **ARRAYS, **changes}
    with pytest.raises(Malformed, match=message):
        check_attention(**arguments)


def test_shapes_are_told_apart():
    """A result of another shape is told as such, with those of the others."""
    with pytest.raises(AssertionError, match=r"output: shapes differ: \(1,\) \(ACTUAL\), \(1, 1\)"):
        check_attention(lambda q, k, v: Kernel()(q, k, v)[0][0], **ARRAYS)


def test_bounds_are_reached():
    """A bound that no kernel comes near would let slips pass: of float16, what is stored
    counts for most, and some kernel uses a third of the bound."""
    rng = np.random.default_rng(0)
    kernel = Kernel(dtype=np.float16, unfused=False)
    worst = dict.fromkeys(("output", "dQ", "dK", "dV"), 0.0)
    for _ in range(20):
        q, k, v, do = (rng.normal(size=(2, 3)) for _ in range(4))
        found = check_attention(
            kernel, q=q, k=k, v=v, upstream=do, backward=kernel.backward, dtype="float16",
            level="fused",
        )  # fmt: skip
        for name in worst:
            worst[name] = max(worst[name], found.reports[name].max_over_bound)
    assert min(worst.values()) > 0.2
