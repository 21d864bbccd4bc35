"""What Coq's kernel says of files of theorems: what is true goes through, what is not does not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from symattn.errors import EngineFailure
from symattn.seal import seals
from symattn.seal.terms import FUNCTIONS
from symattn.seal.theorems import File, Theorem
from symattn.seal.walkthroughs import sealed

pytestmark = [pytest.mark.needs("coqc"), pytest.mark.heavy]

#: Walkthroughs that are checked whole: with a mask and gradients, with what is refuted.
WHOLE = (
    "cat-sat-mat-causal", pytest.param("please-study-man", marks=pytest.mark.campaign),
)  # fmt: skip
#: How many false theorems are tried of each.
FALSE = 100


@pytest.fixture(scope="module")
def kernel():
    with seals.Kernel(600) as made:
        yield made


@pytest.fixture(scope="module")
def files():
    """The files of whole walkthroughs."""
    return cache(sealed)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_walkthroughs_are_sealed(name, kernel, files) -> None:
    """Every figure, forward and backward; nothing is believed but the real numbers."""
    sealing = files(name)
    checked = kernel.check(sealing.file)
    assert checked.refused == {}
    assert checked.is_sound
    assert len(checked.file.sealing()) == sealing.count > 150


def test_what_is_wrong_does_not_go_through(kernel) -> None:
    file = File(
        "some", "Some", (
            Theorem("right", "1 + 1 = 2", "lra.", "right"),
            Theorem("wrong", "1 + 1 = 3", "lra.", "wrong"),
            Theorem("on_wrong", "3 = 1 + 1", "rewrite wrong. reflexivity.", "rests on wrong"),
            Theorem("also_right", "2 = 1 + 1", "rewrite right. reflexivity.", "rests on right"),
        ),
    )  # fmt: skip
    checked = kernel.check(file)
    assert [*checked.refused] == ["wrong", "on_wrong"]
    assert checked.refused["wrong"] == "Tactic failure: Cannot find witness."
    assert {x.name: x.proof is not None for x in checked.file.sealing()} == {
        "right": True, "wrong": False, "on_wrong": False, "also_right": True,
    }  # fmt: skip


def test_coq_leaves_nothing_in_the_package(kernel) -> None:
    """It works in a folder of its own, also where it keeps what lia has found."""
    folder = Path(seals.__file__).parent
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}
    proof = "intros i j H. lia."
    stated = Theorem("some", "forall i j, (i < j)%nat -> (i + 1 <= j)%nat", proof, "some")
    assert not kernel.check(File("some", "Some", (stated,))).refused
    after = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}
    assert after == before


def test_what_rests_on_an_axiom_is_told(kernel) -> None:
    parts = ("Axiom easy : 1 = 2.", Theorem("taken", "1 = 2", "exact easy.", "taken"))
    checked = kernel.check(File("easy", "Easy", parts))
    assert not checked.is_sound
    assert "easy" in checked.axioms


def falsified(theorem: Theorem, seed: random.Random) -> str | None:
    """A statement with one figure a unit or more off, so that it is false."""
    within = re.search(r"(- |\+ |= )(\d+) / (10+)(\) <= 1 / (\d+))?", theorem.statement)
    if within is None or theorem.statement.startswith("~"):
        return None
    off = seed.choice((-3, -2, 2, 3))
    count = int(within[2]) + off
    if count < 0:
        count = int(within[2]) + abs(off)
    start, end = within.span(2)
    return theorem.statement[:start] + str(count) + theorem.statement[end:]


def only(file: File, wanted: Callable[[Theorem], bool]) -> File:
    """A file with some of its theorems, and all lemmas and definitions."""
    parts = tuple(x for x in file.parts if isinstance(x, str) or not x.seals or wanted(x))
    return replace(file, parts=parts)


@pytest.mark.parametrize("name", WHOLE)
def test_false_figures_do_not_go_through(name, kernel, files) -> None:
    """Figures, gradients among them, that are two or three units off."""
    seed = random.Random(name)
    file = files(name).file
    of = [x for x in file.sealing() if falsified(x, random.Random(0))]
    chosen = {x.name for x in seed.sample(of, FALSE)}
    parts = tuple(
        replace(part, statement=falsified(part, seed) or "")
        if isinstance(part, Theorem) and part.name in chosen
        else part
        for part in only(file, lambda x: x.name in chosen or "forall" in x.statement).parts
    )
    assert set(kernel.refused(replace(file, parts=parts))) == chosen


#: Definitions that are no longer what the walkthrough says: a scale, a product, a mask, a key or
#: the values changed. The figures that were printed must not come of them.
CHANGED = {
    "no scale": ("S i j / sqrt d_k", "S i j"),
    "not transposed": ("Q i k * K j k", "Q i k * K k j"),
    "no mask": ("causal i j", "causal j i"),
    "a key left out": ("sum 3 (fun k => if", "sum 2 (fun k => if"),
    "values transposed": ("A i k * V k j", "A k i * V k j"),
}


@pytest.mark.parametrize("change", CHANGED)
def test_other_definitions_do_not_give_the_figures(change, kernel, files) -> None:
    old, new = CHANGED[change]
    file = files("cat-sat-mat-causal").file
    last = next(k for k, x in enumerate(file.parts) if isinstance(x, str) and "dY" in x)
    parts = file.parts[:last]
    assert any(isinstance(part, str) and old in part for part in parts)
    changed = tuple(x.replace(old, new) if isinstance(x, str) else x for x in parts)
    assert any(x.endswith("_printed") for x in kernel.refused(replace(file, parts=changed)))


def test_false_gradients_do_not_go_through(kernel, files) -> None:
    """A definition that is no gradient of the loss is not proved to be its derivative."""
    file = files("cat-sat-mat-causal").file
    gradients = [x for x in file.parts if isinstance(x, str) and re.match(r"Definition d[A-Z]", x)]
    assert len(gradients) > 5
    stated = {x.name for x in file.sealing() if "forall" in x.statement}
    for part in gradients[1:]:
        head, _, said = part.rstrip(".").partition(" := ")
        wrong = f"{head} := 2 * ({said})."
        kept = tuple(
            wrong if x == part else x
            for x in file.parts
            if isinstance(x, str) or x.name in stated
        )  # fmt: skip
        assert f"{part.split()[1]}_is_derivative" in kernel.refused(replace(file, parts=kept))


def test_functions_have_the_slopes_of_their_rows(kernel, tmp_path) -> None:
    """All that Coq has, at one place: the derivative of their sum, and its figures."""
    functions = " + ".join(f"{name}(X)" for name in FUNCTIONS)
    (tmp_path / "functions.toml").write_text(
        f'given.X = [["1/2", 3]]\nsteps.Y = "{functions}"\n'
        '[loss]\noutput = "Y"\nupstream = [[1, "-1/3"]]\nwrt = ["X"]\n',
        "utf-8",
    )
    sealing = sealed(tmp_path / "functions.toml")
    checked = kernel.check(sealing.file)
    assert not sealing.unsealed
    assert checked.refused == {}
    assert {"dX_0_0", "dX_0_1"} <= {x.name for x in checked.file.sealing()}


def test_without_coq(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineFailure, match="coqc is not installed: Debian's packages coq"):
        seals.Kernel()
