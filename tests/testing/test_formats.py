"""Formats: inputs, what is multiplied, and each result have their own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn import Malformed, Verdict, attention, from_blocks, from_floats
from symattn.testing import Precision, check_attention, report
from symattn.testing.bounds import bounds

from ..strategies import few
from .kernels import Kernel

E4M3, E5M2, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16


def arrays(seed, n_q=5, n_k=20, d=6):
    rng = np.random.default_rng(seed)
    q, k, v, do = (rng.normal(size=(n, d)) for n in (n_q, n_k, n_k, n_q))
    return {"q": q, "k": k, "v": v, "upstream": do}


def name(dtype):
    return np.dtype(dtype).name


types = st.sampled_from([np.float16, BF16, np.float32, E4M3])


@few
@given(
    types, types, types, types, st.booleans(), st.sampled_from([0, 16]), st.booleans(),
    st.integers(0, 99),
)  # fmt: skip
def test_correct_kernels_of_mixed_formats_keep_their_bound(
    dtype, result, lse, narrow, unfused, online, from_output, seed
):
    """Whatever the formats of what is stored, of P and dS, of output, lse and gradients are,
    no entry is off by more than its bound."""
    kernel = Kernel(
        dtype=dtype, result=result, lse=lse, narrow=narrow, unfused=unfused, online=online,
        from_output=from_output,
    )  # fmt: skip
    found = check_attention(
        kernel,
        **arrays(seed),
        backward=kernel.backward,
        dtype=dtype,
        level="unfused" if unfused else "fused",
        formats={
            "inputs": E5M2,
            "output": result,
            "gradients": result,
            "lse": lse,
            "weights": narrow,
            "dS": narrow,
        },
    )
    assert [found.reports[part].format for part in ("output", "lse", "dK")] == [
        *map(name, (result, lse, result))
    ]


@pytest.mark.parametrize(("dtype", "wide"), [("float16", "float32"), ("float8_e4m3fn", "bfloat16")])
@pytest.mark.parametrize("level", ["fused", "unfused"])
def test_results_of_more_digits_have_the_format_of_their_array(dtype, wide, level):
    """A float32 log-sum-exp of a float16 kernel, and bfloat16 results from float8, as right
    kernels have them, are judged as what they are without a word."""
    own, wide = np.dtype(getattr(ml_dtypes, dtype, dtype)), getattr(ml_dtypes, wide, wide)
    result = wide if dtype.startswith("float8") else None
    kernel = Kernel(dtype=own, result=result, lse=wide, unfused=False, online=16)
    for seed in range(3):
        found = check_attention(kernel, **arrays(seed), dtype=dtype, level=level)
        assert found.reports["lse"].format == name(wide)
        assert found.reports["output"].format == (name(wide) if result else dtype)


def test_a_wide_log_sum_exp_is_held_to_its_own_format():
    """What was rounded to float16 on the way, and is then no longer a number of it, is wrong
    in a float32 array of a fused kernel."""

    def kernel(q, k, v):
        output, lse = Kernel(dtype=np.float16, lse=np.float32, unfused=False)(q, k, v)
        return output, lse.astype(np.float16).astype(np.float32) * np.float32(1 + 2.0**-20)

    found = check_attention(kernel, **arrays(0), dtype="float16", level="fused", raises=False)
    assert found.reports["output"].verdict is Verdict.HOLDS
    assert found.reports["lse"].verdict is Verdict.REFUTED
    assert "lse in float32: mismatched" in found.message


def test_weights_may_be_narrow_only_where_that_is_said():
    """P in float8 is wrong of a bfloat16 kernel, and part of the bound by its name."""
    kernel = Kernel(dtype=BF16, narrow=E4M3, unfused=False)
    given: dict[str, Any] = {"dtype": "bfloat16", "level": "fused", "raises": False, **arrays(1)}
    assert check_attention(kernel, **given).reports["output"].verdict is Verdict.REFUTED
    named = check_attention(kernel, **given, formats={"weights": E4M3})
    assert named.reports["output"].verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("named", "parts"),
    [
        ("weights", {"output", "dV", "dQ", "dK"}),
        ("dS", {"dQ", "dK"}),
        ("output", {"output", "dQ", "dK"}),
        ("lse", {"lse"}),
        ("dV", {"dV"}),
    ],
)
def test_a_narrow_format_widens_what_it_flows_into(named, parts):
    """The bounds of a part grow with a narrower format of what it is made from, D's output
    included, and no other bound does."""
    q, k, v, do = (from_floats(x.astype(np.float16)) for x in arrays(4).values())
    exact = attention(q, k, v)
    back = exact.backward(do)
    plain = Precision("float32", level="fused")
    for part in (exact.output, exact.lse, back.dQ, back.dK, back.dV):
        name = part.role.part if part.role else ""
        narrow = Precision("float32", level="fused", formats=((named, "bfloat16"),))
        before, after = (bounds(part, precision).bound for precision in (plain, narrow))
        assert (after.max() > 100 * before.max()) == (name in parts)
        assert (after == before).all() == (name not in parts)


def test_narrower_results_must_be_named():
    """An output that a float32 kernel stores in float16 is wrong, unless it is asked for."""
    kernel = Kernel(result=np.float16)
    given: dict[str, Any] = {"raises": False, **arrays(2)}
    assert check_attention(kernel, **given).reports["output"].verdict is Verdict.REFUTED
    named = check_attention(kernel, **given, formats={"output": "float16", "lse": "float32"})
    assert named.verdict is Verdict.HOLDS


def test_one_array_has_a_format_beside_that_of_the_inputs():
    """``report`` holds a float32 array to the bound of a float16 kernel, and to its own."""
    q, k, v, _ = (x.astype(np.float16) for x in arrays(3).values())
    exact = attention(from_floats(q), from_floats(k), from_floats(v))
    output, lse = Kernel(dtype=np.float16, result=np.float32, lse=np.float32)(q, k, v)
    for array, truth in ((output, exact.output), (lse, exact.lse)):
        assert report(array, truth).verdict is Verdict.REFUTED
        found = report(array, truth, inputs="float16")
        assert (found.verdict, found.format) == (Verdict.HOLDS, "float32")


def test_names_of_formats_are_read_whole():
    """Every fault of ``formats`` is told."""
    with pytest.raises(Malformed) as caught:
        check_attention(Kernel(), **arrays(0), formats={"ouput": "float32", "lse": "flot32"})
    said = str(caught.value)
    assert "formats['ouput']: unknown name: did you mean output?" in said
    assert "formats['lse']: unknown format 'flot32'" in said


@pytest.mark.parametrize("dtype", [E4M3, E5M2])
def test_float8_may_end_at_its_largest_number(dtype):
    """What overflows 8 bits is the largest number, or none; another number is wrong."""
    largest = float(ml_dtypes.finfo(dtype).max)
    exact = attention([[1]], [[1]], [[-(10**6)]]).output
    for found, verdict in ((-largest, "holds"), (np.nan, "holds"), (largest, "refuted")):
        assert str(report(np.array([[found]], dtype), exact).verdict) == verdict
    assert report(np.array([[-largest / 2]], dtype), exact).verdict is Verdict.REFUTED


BLOCKS = {
    "MXFP8": (E4M3, ml_dtypes.float8_e8m0fnu, 32, 1.0),
    "MXFP4": (ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu, 32, 1.0),
    "NVFP4": (ml_dtypes.float4_e2m1fn, E4M3, 16, float(np.float32(0.0137))),
}


def quantised(form, shape, axis, seed):
    """Numbers and scales of a format."""
    values, scales, block, scale = BLOCKS[form]
    rng = np.random.default_rng(seed)
    wide = list(shape)
    wide[axis] = -(-shape[axis] // block)
    factors = 2.0 ** rng.integers(-3, 3, wide) * (1 if scale == 1 else rng.uniform(1, 2, wide))
    return rng.normal(size=shape).astype(values), factors.astype(scales), block, scale


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", BLOCKS)
@pytest.mark.parametrize("axis", [-1, 0])
def test_blocks_are_the_products_that_they_stand_for(form, axis):
    """Every number is its value by its scale, exactly; the last block may be short."""
    values, scales, block, scale = quantised(form, (70, 70), axis, 0)
    found = from_blocks(values, scales, block, axis=axis, scale=scale)
    for (i, j), value in np.ndenumerate(values.astype(float)):
        place = (i // block, j) if axis == 0 else (i, j // block)
        exact = Fraction(float(value)) * Fraction(float(scales[place])) * Fraction(scale)
        assert found[i, j] == exact


@pytest.mark.parametrize("form", BLOCKS)
def test_quantised_inputs_are_taken_as_they_are(form):
    """The truth is that of the numbers that are meant, though no number of the working format
    is one of them, and a kernel that reads them right is right."""
    parts = {name: quantised(form, (40, 32), -1, seed) for seed, name in enumerate("qkv")}
    exact: dict[str, Any] = {
        name: from_blocks(*part[:3], scale=part[3]) for name, part in parts.items()
    }

    def kernel(q, k, v):
        assert q.dtype == np.float64
        given = (np.float32(x) for x in (q, k, v))
        return Kernel(unfused=False)(*given)[0].astype(BF16)

    found = check_attention(
        kernel, **exact, dtype="float32", level="fused", formats={"output": "bfloat16"}
    )
    assert found.reports["output"].correctly_rounded > 0.99


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scales": np.ones((2, 2))}, "scales: expected 2x1, one for each 32 along axis -1, found"),
        ({"scales": np.ones((2, 1), np.uint8)}, r"scales: uint8 may be bits: view them .*e8m0fnu"),
        ({"values": np.full((2, 5), np.nan)}, r"values\[0\]\[0\]: expected a finite float"),
        ({"scales": np.full((2, 1), -np.inf)}, "scales: expected finite numbers"),
        ({"axis": 2}, "axis, block: expected an axis of 2x5"),
        ({"block": 0}, "axis, block: "),
        ({"values": np.full((2, 5), 1 / 3), "scales": np.full((2, 1), 0.1)}, "64 bits hold"),
        ({"values": "x"}, "values: expected floats"),
    ],
)
def test_blocks_that_do_not_fit_are_told(change, message):
    """Shapes, what is no number, and what no float holds."""
    given: dict[str, Any] = {"values": np.ones((2, 5)), "scales": np.ones((2, 1))} | change
    with pytest.raises(Malformed, match=message):
        from_blocks(**given)
