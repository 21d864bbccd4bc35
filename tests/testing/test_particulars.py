"""Single promises of the checks of kernels: slips that are named, what is shown and refused."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from symattn import attention, from_floats
from symattn.errors import Malformed
from symattn.slips.catalogue import OF_ATTENTION, phrase
from symattn.testing import Precision, assert_close, check_attention
from symattn.testing.attention_steps import exactly, steps_of
from symattn.testing.bounds import all_bounds
from symattn.testing.cases import choices
from symattn.testing.frameworks import framework_of
from symattn.testing.judged import error_of
from symattn.testing.samples import DTYPES, KINDS, sample

from .test_causes import ALL, N_K, Kernel, given, hiding, softmax

CAUSAL = np.tri(N_K, N_K, dtype=np.float32)


class MixedUp(Kernel):
    """A kernel that has A in place of its transpose in dV."""

    def backward(self, q, k, v, do):
        dq, dk, _ = super().backward(q, k, v, do)
        return dq, dk, self.weights(q, k) @ do


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kernel", "options", "said", "parts"),
    [
        (
            Kernel(scores=hiding(lambda n_q, n_k: np.tri(n_k, n_q, dtype=bool).T)),
            {"causal": "top-left"},
            "the scores with the mask transposed",
            ALL,
        ),
        (
            Kernel(softmax=lambda scores: softmax(scores) * CAUSAL),
            {"causal": "top-left"},
            "the weights with the mask after the softmax instead of before it",
            ALL,
        ),
        (
            Kernel(scores=lambda scores: scores * CAUSAL),
            {"causal": "top-left"},
            "the scores with 0 for a masked score instead of minus infinity",
            ALL,
        ),
        (MixedUp(), {}, "dV with A not transposed", {"dV"}),
        (
            Kernel(dq=lambda ds, q, k: ds @ k, dk=lambda ds, q, k: np.swapaxes(ds, -1, -2) @ q),
            {},
            "dQ and dK without the factor scale",
            {"dQ", "dK"},
        ),
    ],
)
def test_a_slip_of_as_many_queries_as_keys_is_named(kernel, options, said, parts) -> None:
    """It is the only cause that is named, of the parts that it makes wrong."""
    arrays = given(n_q=N_K)
    found = check_attention(kernel, **arrays, backward=kernel.backward, raises=False, **options)
    assert [(cause.phrase, set(cause.parts)) for cause in found.causes] == [(said, parts)]


@pytest.mark.parametrize(
    ("dtype", "shown"),
    [
        (np.float16, "dtype=float16"),
        (np.float32, "dtype=float32"),
        (np.float64, "])\n"),
        (ml_dtypes.bfloat16, "dtype=float32"),
    ],
)
def test_numbers_are_shown_in_their_own_format(dtype, shown) -> None:
    """NumPy's own formats as they are, others by the shortest that shows all of them."""
    output = attention([[1, 2], [3, 4]], [[1, 0], [0, 1]], [[1], [0]]).output
    with pytest.raises(AssertionError) as told:
        assert_close(np.ones((2, 1), dtype), output)
    ours = f"{told.value}\n".partition(" ACTUAL: ")[2].partition("EXACT:")[0]
    assert shown in ours
    assert ("dtype" in shown) == ("dtype" in ours)


def test_the_distance_to_what_lies_between_floats() -> None:
    """The exact value is a float and a rest; what is above both is less far from the sum."""
    high, low = np.array([1.0, 1.0]), np.array([2.0**-60, -(2.0**-60)])
    actual = np.array([1 + 2.0**-52, 1 + 2.0**-52])
    assert error_of(actual, high, low).tolist() == [2.0**-52 - 2.0**-60, 2.0**-52 + 2.0**-60]


def test_a_sink_far_above_all_scores_overflows_nothing() -> None:
    """It takes nearly all weight, and the logarithm of the sum is the sink's score."""
    made = attention([[1]], [[0], [1]], [[1], [3]], sink=2000)
    steps = steps_of(made)
    assert steps.part("lse").tolist() == [2000.0]
    assert steps.part("output").tolist() == [[0.0]]


PARTS = ("output", "dQ", "dK", "dV")


@pytest.mark.sampled(20)
@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_computes_attention(kind) -> None:
    """It is a correct kernel of float64 itself, with every option: within its own bounds."""
    made = sample(kind, "float32", n=5, d=4)
    exact = made.exact()
    back = exact.backward(from_floats(made.upstream))
    steps, limits = steps_of(exact, back), all_bounds(exactly(exact, back), Precision("float64"))
    for name in PARTS:
        truth = (exact.output if name == "output" else back[name]).nearest("float64")
        assert (abs(steps.part(name) - truth) <= limits[name].bound).all()


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({"causal": "top-left"}, {"seen": np.ones((1, 4, 4))}),
        ({"scale": "1/3"}, {"scale": np.full((1, 1), 0.5)}),
        ({"sink": 1}, {"sink": np.full((1, 4, 1), -np.inf)}),
        ({"softcap": 2}, {"C": lambda s: s["S"], "slope": np.ones((1, 1))}),
        ({"causal": "top-left"}, {"keep": "1"}),
        ({"scale": "1/3"}, {"scale": "scale * 3 / 2"}),
        ({"sink": 1}, {"sink": "sink - 1 / 0"}),
        ({"softcap": 2}, {"C": "S", "slope": "1"}),
    ],
)
def test_an_edited_graph_is_that_of_attention_without_the_option(options, changes) -> None:
    """Whatever has been computed before: all that a changed step flows into is anew, all else
    is kept."""
    rng = np.random.default_rng(4)
    q, k, v, do = (from_floats(rng.normal(size=(4, 4))) for _ in range(4))
    plain, other = attention(q, k, v), attention(q, k, v, **options)
    wanted, steps = (steps_of(made, made.backward(do)) for made in (plain, other))
    before = {name: steps.part(name) for name in PARTS}
    edited = steps.edited(changes)
    for name in PARTS:
        assert edited.part(name) == pytest.approx(wanted.part(name), rel=1e-12, abs=1e-15)
        assert steps.part(name) is not edited.part(name)
        assert np.array_equal(steps.part(name), before[name])
    assert edited["dA"] is steps["dA"]


def test_every_slip_of_the_catalogue_is_another_attention() -> None:
    """Its first step becomes another, and so does a part that can be judged."""
    rng = np.random.default_rng(4)
    q, k, v, do, bias = (from_floats(rng.normal(size=(4, 4))) for _ in range(5))
    exact = attention(q, k, v, causal="top-left", bias=bias, softcap=2, sink=1, scale="1/3")
    steps = steps_of(exact, exact.backward(do))
    for kind, words, changes, _ in OF_ATTENTION:
        edited, first = steps.edited(changes), next(iter(changes))
        assert not np.array_equal(edited[first], steps[first])
        parts = [name for name in (*PARTS, "lse") if (edited.part(name) != steps.part(name)).any()]
        assert parts, phrase(kind, words)


# -- what markers choose ----------------------------------------------------------------------


def test_all_formats_may_be_chosen_by_one_word() -> None:
    """``"all"`` is every format there is; a name by itself is that one."""
    found = choices([((), {"kinds": "sink", "dtypes": "all"})])
    assert [choice.wanted.dtype for choice in found] == [*DTYPES]
    (choice,) = choices([((), {"kinds": "sink", "dtypes": "float16"})])
    assert choice.wanted.dtype == "float16"


def test_what_there_is_not_is_told_before_a_test_is_run() -> None:
    """Every kind and format that nothing has, each once."""
    words = {"kinds": ["sink", "snik"], "dtypes": ["float32", "float31"], "seeds": 3}
    with pytest.raises(Malformed) as told:
        choices([((), words)])
    messages = [str(fault) for fault in told.value.faults]
    assert len(messages) == len({*messages})
    assert any("snik" in message for message in messages)
    assert any("float31" in message for message in messages)


@pytest.mark.parametrize("is_wide", [True, False])
def test_jax_is_asked_whether_it_has_float64(is_wide, monkeypatch) -> None:
    """Where it would make float32 of it unasked, that is told; narrower formats it has."""
    jax = ModuleType("jax")
    numpy = ModuleType("jax.numpy")
    numpy.__dict__.update(
        asarray=np.asarray, float64=np.dtype("float64"), float32=np.dtype("float32")
    )
    jax.__dict__.update(config=SimpleNamespace(jax_enable_x64=is_wide), numpy=numpy)
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.setitem(sys.modules, "jax.numpy", numpy)
    values = np.array([0.5])
    assert framework_of("jax").array(values, "float32").dtype == np.float32
    if is_wide:
        assert framework_of("jax").array(values, "float64").dtype == np.float64
    else:
        with pytest.raises(Malformed, match="jax_enable_x64"):
            framework_of("jax").array(values, "float64")
