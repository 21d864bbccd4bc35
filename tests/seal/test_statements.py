"""What theorems state, read by a reader of its own: what the walkthrough has, and true."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from symattn.cases import library
from symattn.limits import SEALED
from symattn.seal.walkthroughs import sealed

from .reader import read

FOLDER = Path(library.find("cat-sat-mat")).parent


@pytest.fixture(scope="module")
def stated():
    """What is stated of a case, once for all tests."""
    known = {}

    def of(name):
        if name not in known:
            sealing = sealed(name)
            known[name] = sealing, [*read(sealing.file.text())]
        return known[name]

    return of


CASES = library.names()


@pytest.mark.sampled(3, 6)
@pytest.mark.parametrize("name", CASES)
def test_given_numbers_are_those_of_the_file(name, stated) -> None:
    table = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    definitions = {which: made for kind, which, made in stated(name)[1] if kind == "definition"}
    for quantity, rows in table.get("given", {}).items():
        if quantity not in definitions:
            continue
        made = definitions[quantity]
        if not isinstance(rows, list):
            assert float(Fraction(rows)) == pytest.approx(made, abs=1e-12)
            continue
        rows = rows if isinstance(rows[0], list) else [rows]
        for i, row in enumerate(rows):
            for j, number in enumerate(row):
                if number != "-inf":
                    assert made(i, j) == pytest.approx(float(Fraction(number)), abs=1e-12)


@pytest.mark.sampled(3, 6)
@pytest.mark.parametrize("name", CASES)
def test_all_that_is_stated_is_true(name, stated) -> None:
    sealing, read_back = stated(name)
    theorems = {which: holds for kind, which, holds in read_back if kind == "theorem"}
    wanted = [x.name for x in sealing.file.sealing() if "forall" not in x.statement]
    assert [*theorems] == wanted
    wrong = [which for which, holds in theorems.items() if not holds()]
    assert not wrong


#: What has no statement yet, in which walkthroughs.
LEFT = {
    "flash-attention": {"the gradient of maximum has no statement"},
    "pre-norm-block": {"the operation erf has no statement"},
}


@pytest.mark.sampled(3, 6)
@pytest.mark.parametrize("name", CASES)
def test_all_is_stated_but_what_is_known_to_be_left(name, stated) -> None:
    assert {left.why for left in stated(name)[0].unsealed} == LEFT.get(name, set())


#: A figure in a statement: what is taken off, or stands behind the first sign of equality.
FIGURE = re.compile(r"(?:Rabs \(.* ([+-]) |= (- )?)(\d+)(?: / (\d+))?(?:%nat)?(?:\) <=|$| /\\)")


def printed(statement: str) -> tuple[Fraction, int] | str:
    """The figure that a statement is about, and its decimal places, as a reader finds it."""
    if statement.endswith("= false"):
        return "-inf"
    first = statement.removeprefix("~ ").split(" /\\ ")[0]
    found = FIGURE.search(first)
    assert found, statement
    sign = -1 if found[1] == "+" or found[2] else 1
    below = found[4] or "1"
    return Fraction(sign * int(found[3]), int(below)), len(below) - 1


def figures(rows):
    """The numbers of a claim in order, as they are written in its file."""
    for row in rows if isinstance(rows, list) else [rows]:
        if isinstance(row, list):
            yield from figures(row)
        else:
            yield row


@pytest.mark.parametrize(
    "name",
    ["cat-sat-mat", "length-4-causal", "please-study-man", "the-cat-sleeps", "the-fox-jumps"],
)
def test_figures_are_those_of_the_file(name, stated) -> None:
    """Each figure that a walkthrough claims has a theorem of its own, with its digits."""
    text = (FOLDER / f"{name}.toml").read_text("utf-8")
    claims = tomllib.loads(text, parse_float=str)["claims"]
    wanted = [str(one) for claim in claims for one in figures(claim.get("printed", []))]
    of = [x for x in stated(name)[0].file.sealing() if x.name.startswith("figure_")]
    assert len(of) == len(wanted)
    for theorem, digits in zip(of, wanted, strict=True):
        found = printed(theorem.statement)
        if digits == "-inf" or isinstance(found, str):
            assert found == digits
            continue
        assert found == (Fraction(digits), len(digits.partition(".")[2])), theorem


def test_each_theorem_has_a_name_of_its_own(tmp_path) -> None:
    """Terms that differ in signs alone, too."""
    (tmp_path / "a.toml").write_text(
        '[given]\nT = [[1, 2]]\n[steps]\nE = "exp(T)"\n[[claims]]\nwhere = "x"\nof = "exp(0.35)"\n'
        'printed = 1.419\n[[claims]]\nwhere = "x"\nof = "exp(-0.35)"\nprinted = 0.705\n',
        "utf-8",
    )
    names = [x.name for x in sealed(tmp_path / "a.toml").file.theorems()]
    assert len(names) == len(set(names)) > 8


def test_what_doubles_with_each_use_is_bounded(tmp_path) -> None:
    """Nested calls of a function that uses its argument twice have no statement, and say so; a
    term that is short has."""
    path = tmp_path / "nested.toml"
    nested = "X"
    for depth in range(1, 25):
        nested = f"silu({nested})"
        path.write_text(f"given.X = [[1]]\nsteps.B = '{nested}'\nclaims = []\n", "utf-8")
        if depth in (2, 24):
            reasons = {left.why for left in sealed(path).unsealed}
            assert reasons == (
                set() if depth == 2 else {"a term of more than 2000 operations has no statement"}
            )


def test_numbers_beyond_the_bounds_cost_their_own_figures(tmp_path) -> None:
    """What is too large for bounds has no statement; the given numbers beside it have."""
    path = tmp_path / "large.toml"
    path.write_text("given.X = [[1, 2]]\nsteps.Y = 'softmax(1e30 * X)'\n", "utf-8")
    sealing = sealed(path)
    assert {left.said for left in sealing.unsealed} == {"Y[0, 0]", "Y[0, 1]"}
    assert all("is no number below 2^" in left.why for left in sealing.unsealed)


def test_the_work_on_all_theorems_of_a_file_is_bounded(monkeypatch) -> None:
    """Figures after the limit are told by their places; those before it are stated as ever."""
    whole = sealed("cat-sat-mat")
    limit = replace(SEALED, most=500)
    monkeypatch.setattr("symattn.seal.walkthroughs.SEALED", limit)
    made = sealed("cat-sat-mat")
    assert set(made.file.sealing()) < set(whole.file.sealing())
    assert len(made.file.sealing()) > 100
    left = [each.said for each in made.unsealed if each.why == limit.said()]
    assert len(left) == len(set(left)) == len(made.unsealed) > 5
    assert any(said.startswith("the gradient by ") for said in left)
