"""Public kernel bugs are caught, and called what their threads say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from symattn import Verdict
from symattn.testing import check_attention
from symattn.testing.attention_steps import steps_of
from symattn.testing.faults import injected
from symattn.testing.precision import Precision
from symattn.testing.samples import KINDS, sample

from . import kernels
from .museum import MUSEUM, Exhibit, F, Kernel, ahead, seeing

PAGE = Path(__file__).parent.parent.parent / "docs" / "kernels.md"


def wrong_parts(found):
    return {name for name, report in found.reports.items() if report.wrong}


@pytest.mark.sampled(2, 19)
@pytest.mark.parametrize("exhibit", MUSEUM, ids=lambda exhibit: exhibit.thread)
def test_it_would_have_been_found(exhibit) -> None:
    """The faulty kernel is wrong, for that cause and no other; the same kernel without the
    fault is right."""
    found = exhibit.judged()
    assert found.verdict is Verdict.REFUTED
    assert [cause.phrase for cause in found.causes] == [exhibit.said] * bool(exhibit.said)
    assert not exhibit.said or {*found.causes[0].parts} == wrong_parts(found)
    right = exhibit.judged(is_right=True)
    assert right.verdict is Verdict.HOLDS
    assert not right.causes


def test_the_documentation_shows_the_museum() -> None:
    """Its table has a row for each exhibit, in the museum's order."""
    head = ["| thread | what was wrong | found by | what is said |", "|---|---|---|---|"]
    assert "\n".join([*head, *(exhibit.row for exhibit in MUSEUM)]) in PAGE.read_text("utf-8")
    assert len({exhibit.thread for exhibit in MUSEUM}) == len(MUSEUM) >= 25


def ends(many):
    """Scores of which the last are masked."""
    return seeing(lambda kernel, s: np.arange(s.shape[-1]) < s.shape[-1] - many)


def order(*places):
    return {"read": lambda kernel, v: v[..., list(places), :]}


def before_last(many):
    """The log-sum-exp from before the last keys came, which weights are made from again."""

    def stale(kernel, s):
        return Kernel.softmax(kernel, s)[0], Kernel.softmax(kernel, s[..., :-many])[1]

    again = {"weights_again": lambda kernel, s: np.exp(s - kernel.softmax(s)[1])}
    return {"softmax": stale, **again}


def from_output(kernel, a, s, da):
    """D of the output, whose weights are right."""
    return (Kernel.softmax(kernel, s)[0] * da).sum(axis=-1, keepdims=True)


LSE = "the log-sum-exp "
V = "V with its rows "
WINDOW = "the scores with a window that "
#: Faults without a thread.
MORE = [
    ("few-keys", {"masked": ends(1)}, "the scores without the last key"),
    ("below-tile", {"masked": ends(63)}, "the scores without the last 63 keys"),
    ("padded", {"masked": lambda k, s: np.where(k.keep[..., ::-1], s, -np.inf)},
     "the scores with the mask counted from the last key"),
    ("ordinary", order(1, 0, 3, 2, 5, 4, 7, 6), V + "swapped in pairs"),
    ("ordinary", order(7, 6, 5, 4, 3, 2, 1, 0), V + "in reverse order"),
    ("ordinary", order(7, 0, 1, 2, 3, 4, 5, 6), V + "one place on"),
    ("narrow-values", before_last(2) | {"rest": from_output}, LSE + "of all keys but the last 2"),
    ("ordinary", before_last(2), LSE + "of all keys but the last 2"),
    ("ordinary", {"lse": lambda k, top, sums: np.log(sums)}, LSE + "without the term maximum"),
    ("ordinary", {"lse": lambda k, top, sums: top * np.sqrt(F(8)) + np.log(sums)},
     "the maximum in the log-sum-exp without the factor scale"),
    ("windowed", {"masked": seeing(lambda k, s: (ahead(s) >= -3) & (ahead(s) <= 0))},
     WINDOW + "starts one key early"),
    ("windowed", {"masked": seeing(lambda k, s: ahead(s) >= -2)}, WINDOW + "has no end"),
    ("mask-reached", {"masked": lambda k, s: s + np.where(k.keep, F(0), F(-1e4))},
     "masked entries of the scores lowered by 10000, not minus infinity"),
    ("grouped", {"gathered": lambda k, x, group: x[1::group]},
     "dK and dV from head 1 of each group, counted from 0 only"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "steps", "said"), MORE, ids=[f"{kind}: {said}" for kind, _, said in MORE]
)
def test_more_faults_are_named(kind, steps, said) -> None:
    """As those of the museum are."""
    found = Exhibit("", "", kind, said, steps).judged()
    assert [cause.phrase for cause in found.causes] == [said]
    assert {*found.causes[0].parts} == wrong_parts(found)


def test_a_group_of_more_heads() -> None:
    """One that is left out, or the only one that is not, is told."""
    rng = np.random.default_rng(1)
    q, do = (rng.normal(size=(6, 5, 4)) for _ in range(2))
    k, v = (rng.normal(size=(2, 7, 4)) for _ in range(2))
    for taken, told in (([0, 2], "0 and 2"), ([1], "1")):

        def part(kernel, x, group, taken=taken):
            return x.reshape(-1, group, *x.shape[-2:])[:, taken].sum(axis=1)

        kernel = Kernel(sample("grouped"), gathered=part)
        found = check_attention(
            kernel, q=q, k=k, v=v, upstream=do, backward=kernel.backward, raises=False
        )
        said = f"dK and dV from head {told} of each group, counted from 0 only"
        assert [cause.phrase for cause in found.causes] == [said]


@pytest.mark.sampled(13)
@pytest.mark.parametrize("kind", KINDS)
def test_the_right_kernel_is_right(kind) -> None:
    """Of every kind of samples."""
    found = Exhibit("", "", kind, "", {}).judged()
    assert found.verdict is Verdict.HOLDS


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("online", [0, 16])
@pytest.mark.parametrize("kind", ["far-below", "few-keys", "below-tile", "above-tile"])
def test_no_false_alarms_beside_tiles(kind, online, dtype) -> None:
    """Right kernels with or without blocks, fused and not, in two formats."""
    given = sample(kind, np.dtype(dtype).name)
    for unfused in (False, True):
        kernel = kernels.Kernel(dtype=dtype, online=online, unfused=unfused)
        check_attention(
            kernel,
            q=given.q,
            k=given.k,
            v=given.v,
            upstream=given.upstream,
            backward=kernel.backward,
            dtype=dtype,
            level="unfused" if unfused else "fused",
        )


def test_the_cause_comes_first() -> None:
    """Then the worst entries, and in the end ten lines of arrays at most."""
    exhibit = next(one for one in MUSEUM if one.kind == "above-tile")
    lines = exhibit.judged().message.strip().split("\n")
    assert lines[0] == f"Likely cause: output, lse, dQ, dK, dV: {exhibit.said}"
    assert lines[1].startswith("Not what a correct float32 kernel may give")
    assert lines[2].startswith("output: mismatched elements: ")
    shown = next(k for k, line in enumerate(lines) if line.startswith(" ACTUAL: "))
    assert len(lines) - shown <= 10
    assert sum("ACTUAL: " in line for line in lines) == 1
    assert any(line.startswith("dV: mismatched") for line in lines[:shown])


def test_what_can_not_be_told_apart_is_told_together() -> None:
    """By its output alone, a maximum begun at 0 is as likely as zeros beyond the last key, of
    whatever number: one stands for all."""
    exhibit = next(one for one in MUSEUM if one.kind == "far-below")
    given = sample(exhibit.kind)
    kernel = Kernel(given, **exhibit.steps)
    found = check_attention(lambda *x: kernel(*x)[0], q=given.q, k=given.k, v=given.v, raises=False)
    zeros = "the sums of the exponentials with 8 keys of zeros beyond the last (or the like)"
    assert [cause.phrase for cause in found.causes] == [f"{zeros}, or {exhibit.said}"]


def test_a_log_sum_exp_that_overflows_is_no_fault() -> None:
    """float16 has none of the size that it has here, and what is infinite would explain all."""
    exact = sample("mask-reached").exact()
    found = [*injected(steps_of(exact), Precision("float32"))]
    of_sums = [fault.words for fault in found if fault.words[0] == "the log-sum-exp"]
    assert ("the log-sum-exp", "bfloat16") in of_sums
    assert ("the log-sum-exp", "float16") not in of_sums
