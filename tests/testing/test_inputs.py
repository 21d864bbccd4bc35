"""Samples: numbers of their formats, the same on every machine, that are what they are for."""

from __future__ import annotations

from hashlib import sha256

import ml_dtypes
import numpy as np
import pytest

from symattn import from_floats
from symattn.errors import Malformed
from symattn.numbers.float_formats import FORMATS
from symattn.testing.samples import DTYPES, KINDS, STANDARD, sample

ARRAYS = ("q", "k", "v", "upstream")


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_number_is_one_of_its_format(kind, dtype):
    """Nothing is lost in the format, and nothing is infinite or not a number."""
    found = sample(kind, dtype, seed=1)
    form = getattr(ml_dtypes, dtype, dtype)
    floats = [getattr(found, name) for name in ARRAYS]
    floats += [x for x in found.options.values() if isinstance(x, np.ndarray) and x.dtype != bool]
    for array in floats:
        assert np.isfinite(array).all()
        assert array.dtype == (dtype if form is dtype else "float32")
        np.testing.assert_array_equal(array.astype(form).astype("float64"), array.astype("float64"))


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([*KINDS][:18], "0fbf9e923ac5c6dc904d2b1b7c2d160cb6af6e5b43f4e240f056ae90fd0144e7"),
        ([*KINDS][18:], "1d17c2178b987c6201a07b21d7450f08e6a2e38640503ba7a458cb5782887abf"),
    ],
)
def test_the_numbers_are_the_same_everywhere(kinds, expected):
    """All samples of a seed have a digest that was written down, the lowest byte first."""
    digest = sha256()
    for kind in kinds:
        for dtype in DTYPES:
            found = sample(kind, dtype, seed=7)
            for name in ARRAYS:
                array = getattr(found, name)
                digest.update(array.astype(array.dtype.newbyteorder("<")).tobytes())
    assert digest.hexdigest() == expected


def test_formats_hold_the_same_numbers():
    """A narrower format's numbers are the wider one's, cut to its digits."""
    wide = sample("ordinary", "float64", seed=2)
    for dtype, digits in (("float32", 24), ("float16", 11), ("bfloat16", 8)):
        narrow = sample("ordinary", dtype, seed=2)
        assert abs(narrow.q - wide.q).max() <= 2.0 ** (1 - digits)
    assert (sample("ordinary", seed=2).q != sample("ordinary", seed=3).q).all()


@pytest.mark.sampled(28)
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_sample_has_exact_results(kind, dtype):
    """Outputs and gradients of every kind are finite in its format."""
    found = sample(kind, dtype)
    exact = found.exact()
    back = exact.backward(from_floats(found.upstream))
    for quantity in (exact.output, back.dQ, back.dK, back.dV):
        assert np.isfinite(quantity.nearest(dtype)).all()


def test_kinds_are_what_they_say():
    """Saturated weights, cancelling terms, equal weights, zeros, subnormals, groups."""

    def made(kind, dtype="float32"):
        found = sample(kind, dtype)
        exact = found.exact()
        return found, exact, exact.backward(from_floats(found.upstream))

    _, exact, _ = made("saturated")
    assert (exact.weights.nearest().max(axis=1) > 0.999).sum() >= 4
    found, exact, _ = made("cancelling")
    terms = exact.weights.nearest() @ abs(found.v.astype(float))
    assert (abs(exact.output.nearest()) < terms / 1000)[:, :4].all()
    _, exact, back = made("equal-keys")
    assert set(exact.weights.nearest().ravel()) == {1 / 7}
    assert not back.dQ.nearest().any()
    found, exact, back = made("one-key")
    np.testing.assert_array_equal(exact.output.nearest("float32"), found.v.repeat(8, 0))
    assert not back.dQ.nearest().any()
    assert not back.dK.nearest().any()
    for dtype in ("float16", "float32", "float64"):
        _, exact, _ = made("tiny", dtype)
        size = abs(exact.output.nearest(dtype))
        assert ((size > 0) & (size < np.finfo(dtype).smallest_normal)).any()
    assert abs(made("huge")[2].dK.nearest()).max() > 1e33
    assert sample("grouped", lead=(3, 2)).k.shape == (3, 2, 8, 8)
    assert sample("grouped", lead=(3, 2)).upstream.shape == (3, 4, 8, 8)
    assert {kind: sample(kind).visible is None for kind in STANDARD} == {
        kind: kind not in ("masked", "rectangular", "mask-reached") for kind in STANDARD
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 8, 32])
def test_scores_far_below(dtype, d):
    """All of a row are so low that their exponentials vanish in the format; those that are
    seen lie further below masked ones than -1e4 goes, and nothing overflows before scaling."""
    found = sample("far-below", dtype, d=d)
    scores = found.exact().scores.nearest()
    assert (scores[0::3].max(axis=1) < -104).all()
    assert (scores[1::3].max(axis=1) < -745).all()
    assert (scores[2::3].min(axis=1) > 710).all()
    found = sample("mask-reached", dtype, d=d)
    raw = found.q.astype(float) @ found.k.astype(float).T
    assert abs(raw).max() < 65504 or dtype != "float16"
    scaled, seen = raw[::3] / np.sqrt(d), found.options["mask"][0]
    assert (scaled[:, seen].max(axis=1) + 1e4 < scaled[:, ~seen].max(axis=1)).all()


def test_lengths_beside_tiles():
    """One more and one less than what 16, 32, 64 and 128 divide, and fewer than any of them."""
    shapes = {kind: sample(kind).k.shape[0] for kind in ("few-keys", "below-tile", "above-tile")}
    assert shapes == {"few-keys": 3, "below-tile": 127, "above-tile": 129}
    assert [sample(f"{side}-tile").q.shape[0] for side in ("below", "above")] == [15, 17]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 9])
def test_every_length_will_do(kind, n):
    """Every query sees a key, but for the kind that is about those that don't."""
    found = sample(kind, n=n, d=n, lead=(2,))
    seen = True if found.visible is None else found.visible.any(axis=-1)
    assert np.all(seen) == (kind != "empty-row")
    assert found.exact().output.shape == found.upstream.shape


def test_all_faults_are_told_at_once():
    """What there is not is refused with what there is."""
    with pytest.raises(Malformed) as refused:
        sample("ordinry", "int8", -1, n=1, d=3000, lead=(0,))
    told = str(refused.value)
    assert "6 faults" in told
    for said in (
        "kind: unknown kind 'ordinry': did you mean ordinary?",
        "dtype: unknown dtype 'int8': expected one of float64, float32, float16, bfloat16, ",
        "seed: expected a whole number from 0 on, found -1",
        "n: expected 2 to 1024, found 1",
        "d: expected 2 to 1024, found 3000",
        "lead: expected lengths from 1 on, found (0,)",
    ):
        assert said in told
