"""Vectors: what other languages read is what was computed, whoever computed it."""

from __future__ import annotations

import json
import multiprocessing
import os
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from hashlib import sha256

import ml_dtypes
import numpy as np
import pytest
import safetensors

from symattn.errors import Malformed
from symattn.testing import vectors
from symattn.testing.samples import KINDS
from symattn.testing.vectors import (
    FORMS,
    SampleRequest,
    StoredTensor,
    made,
    packed,
    samples_of,
    write,
)
from tests.folders import written

NAMES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"}

FEW = [SampleRequest(kind, "bfloat16", 0) for kind in ("ordinary", "masked", "one-key", "tiny")]


def unpacked(content):
    """The arrays of a file, read by the reference implementation, as float64 or bool."""
    found = {}
    for name, part in safetensors.deserialize(content):
        form = NAMES[part["dtype"]]
        bits = np.frombuffer(bytes(part["data"]), getattr(ml_dtypes, form, form))
        wide = bits.astype(bool if form == "bool" else "float64")
        found[name] = form, wide.reshape(part["shape"])
    return found


def told(content):
    """The arrays of a file in JSON, its numbers read by Python's own ``float.fromhex``."""
    found = {}
    for name, part in json.loads(content)["arrays"].items():
        numbers = [x if isinstance(x, bool) else float.fromhex(x) for x in part["data"]]
        found[name] = part["dtype"], np.array(numbers).reshape(part["shape"])
    return found


def same(left, right):
    """Whether two arrays are the same number by number, down to the signs of zeros."""
    return np.array_equal(left, right, equal_nan=True) and np.array_equal(
        np.signbit(left), np.signbit(right)
    )


@pytest.mark.sampled(14)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_both_forms_hold_the_same_numbers(kind, dtype):
    """What safetensors' own reader finds is what the hexadecimal floats say, and the sample."""
    wanted = SampleRequest(kind, dtype, 4)
    found = made(wanted)
    packed_file, json_file = found.files.values()
    assert int.from_bytes(packed_file[:8], "little") % 8 == 0
    one, other = unpacked(packed_file), told(json_file)
    assert {name: part[0] for name, part in one.items()} == {
        name: part[0] for name, part in other.items()
    }
    assert {name: list(part[1].shape) for name, part in one.items()} == found.line["shapes"]
    for name, (form, array) in one.items():
        assert form == ("float64" if "." in name else "bool" if name == "mask" else dtype)
        assert same(array.astype(float), other[name][1].astype(float))
    sample = wanted.sample()
    for name in ("q", "k", "v", "upstream"):
        assert same(one[name][1], getattr(sample, name).astype(float))


def attention(x, options):
    """What the manifest's conventions say, in NumPy, for a matrix."""
    q, k, v, do = (x[name] for name in ("q", "k", "v", "upstream"))
    scaled = q @ k.T * k.shape[1] ** -0.5
    slope = np.ones_like(scaled)
    scores = scaled
    if "softcap" in options:
        cap = float.fromhex(options["softcap"])
        scores = cap * np.tanh(scaled / cap)
        slope = 1 - np.tanh(scaled / cap) ** 2
    scores = scores + x.get("bias", 0)
    scores = np.where(x.get("mask", np.ones_like(scores)), scores, -np.inf)
    top = np.maximum(scores.max(axis=1, keepdims=True), np.finfo(float).min)
    powers = np.exp(scores - top)
    total = powers.sum(axis=1, keepdims=True)
    if "sink" in options:
        total = total + np.exp(float.fromhex(options["sink"]) - top)
    weights = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    da = do @ v.T
    ds = weights * (da - (weights * da).sum(axis=1, keepdims=True)) * slope * k.shape[1] ** -0.5
    with np.errstate(divide="ignore"):
        lse = (np.log(total) + top)[:, 0]
    return {"output": weights @ v, "lse": lse, "dq": ds @ k, "dk": ds.T @ q, "dv": weights.T @ do}


@pytest.mark.sampled(14)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "grouped"])
def test_who_follows_the_conventions_gets_the_results(kind):
    """NumPy comes as close to every result as its bound says, from what stands in the file."""
    content = made(SampleRequest(kind, "float64", 5)).files[f"float64/{kind}-float64-5.json"]
    arrays = {name: array for name, (_, array) in told(content).items()}
    for name, mine in attention(arrays, json.loads(content)["options"]).items():
        exact, bound = arrays[name], arrays[f"{name}.bound"]
        # What is rounded to float64 is off by as much again, at most.
        off = np.subtract(exact, mine, out=np.zeros_like(exact), where=exact != mine)
        assert (abs(off) <= 2 * bound).all()
        if kind not in ("huge", "tiny", "mask-reached"):
            # There what is lost below the smallest normal number counts, or large scores' digits.
            assert (bound <= 1e-11 * arrays[f"{name}.condition"] + 1e-290)[np.isfinite(bound)].all()


def digest(folder):
    """What a folder holds, all of it."""
    whole = sha256()
    for path in written(folder, "**/*.*"):
        whole.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return whole.hexdigest()


def test_the_bytes_are_the_same_whoever_works(tmp_path, eager_switching):
    """One after the other, by threads, in chunks of any size."""
    assert write(tmp_path / "one", FEW) == []
    with ThreadPoolExecutor(3) as threads:
        for size in (1, 3, 100):
            assert write(tmp_path / str(size), FEW, threads, size) == []
            assert digest(tmp_path / str(size)) == digest(tmp_path / "one")
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text("utf-8"))
    assert [line["name"] for line in manifest["cases"]] == [one.name for one in FEW]
    for line in manifest["cases"]:
        for path, expected in line["sha256"].items():
            assert sha256((tmp_path / "one" / path).read_bytes()).hexdigest() == expected


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([*KINDS][:18], "cc38022413e4b29750dd74cbe4af2f875bc293f582a76ff9ff7ab40005a7e5e0"),
        ([*KINDS][18:], "c27e0e61ad862fbf96ee455c092d3fc93a1a474a007a0256301094ed6f090c6b"),
    ],
)
def test_the_numbers_are_those_that_were_written_down(kinds, expected):
    """Every machine makes these inputs and results: their digest was taken on one."""
    whole = sha256()
    for kind in kinds:
        packed_file = made(SampleRequest(kind, "bfloat16", 9), ["safetensors"]).files.popitem()[1]
        for name, part in sorted(safetensors.deserialize(packed_file)):
            if not name.endswith((".condition", ".bound")):
                whole.update(name.encode() + bytes(part["data"]))
    assert whole.hexdigest() == expected


class Losing(Executor):
    """Works here, and loses every second task."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, task, /, *arguments, **named):
        future: Future[object] = Future()
        self.tasks += 1
        if self.tasks % 2:
            future.set_result(task(*arguments, **named))
        else:
            future.set_exception(OSError("the machine\x1b is gone"))
        return future


def test_what_fails_is_a_line(tmp_path):
    """A sample that can't be costs itself only; what a lost machine had is done here."""
    bad = SampleRequest("ordinary", "int8", 0)
    assert write(tmp_path, [FEW[0], bad, *FEW[1:]], Losing(), 2) == ["ordinary-int8-0"]
    lines = json.loads((tmp_path / "manifest.json").read_text("utf-8"))["cases"]
    assert [line.get("failure") for line in lines] == [
        None,
        "dtype: unknown dtype 'int8': expected one of float16, bfloat16, float32, float64",
        None,
        None,
        None,
    ]
    names = {path.name for path in tmp_path.rglob("*.json")}
    assert names == {"manifest.json", *(f"{one.name}.json" for one in FEW)}


def test_processes_that_were_killed_lose_nothing(tmp_path):
    """A pool that is broken takes no more: all is done here, the same."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as pool:
        with pytest.raises(BrokenExecutor):
            pool.submit(os._exit, 1).result()
        assert write(tmp_path / "broken", FEW, pool, 1) == []
    assert write(tmp_path / "here", FEW) == []
    for one in (tmp_path / "here").rglob("*.*"):
        assert (tmp_path / "broken" / one.relative_to(tmp_path / "here")).read_bytes() == (
            one.read_bytes()
        )


def test_no_manifest_speaks_of_what_is_not_there(tmp_path):
    """The old one goes before the first file is written, the new one comes last."""
    write(tmp_path, FEW[:1])
    counts = []

    def watch(done, count):
        counts.append((done, count, (tmp_path / "manifest.json").exists()))
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, FEW, watch=watch)
    assert counts == [(1, 4, False), (2, 4, False)]
    assert not (tmp_path / "manifest.json").exists()


def test_suites():
    """A suite has samples of each of its kinds and formats; what there is not is refused."""
    assert len(samples_of("quick")) == 60
    assert len(samples_of("standard", ["float64", "float64"], 2)) == 2 * len(KINDS)
    assert {one.n for one in samples_of("blocks")} == {130}
    for name in vectors.SUITES:
        names = [one.name for one in samples_of(name)]
        assert len(set(names)) == len(names)
    with pytest.raises(Malformed) as refused:
        samples_of("standart", ["int8"], 0)
    assert "suite: unknown suite 'standart': did you mean standard?" in str(refused.value)
    assert "dtypes: unknown dtype 'int8'" in str(refused.value)
    assert "seeds: expected how many seeds, from 1 on, found 0" in str(refused.value)


def test_what_a_type_has_not_is_not_stored():
    """No number is rounded on its way into a file; infinities and NaN are numbers there."""
    for dtype in ("float32", "float16", "bfloat16"):
        with pytest.raises(Malformed, match=f"no {dtype} can't be stored"):
            StoredTensor(dtype, np.array([0.1])).bits()
    strange = np.array([np.inf, -np.inf, np.nan, -0.0])
    for dtype in ("float64", "float32", "float16", "bfloat16"):
        ((form, read),) = unpacked(packed({"x": StoredTensor(dtype, strange)}, {})).values()
        assert form == dtype
        assert same(read, strange)


def test_the_formats_are_those_there_are():
    """One form alone is written where it is asked for."""
    for form in FORMS:
        (path,) = made(FEW[2], [form]).files
        assert path == f"bfloat16/one-key-bfloat16-0.{form}"
