"""``symattn new``: a case file that is right as it is."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

import symattn as package
from symattn.solution import template
from symattn.verdicts import Verdict

from ..hostile import CASE, steering


def test_the_example_is_right(tmp_path: Path, symattn) -> None:
    """It has a claim for every step; audit and sheet accept it as it is."""
    done = symattn("new", "post.toml")
    assert (done.code, done.err) == (0, "")
    assert (
        done.out == "post.toml: now try 'symattn audit post.toml' and 'symattn sheet post.toml'\n"
    )
    case = package.load(tmp_path / "post.toml")
    assert set(case.steps) <= {claim.of for claim in case.claims}
    assert any(claim.holds for claim in case.claims)
    found = package.audit(case)
    assert found.summary["refuted"] == found.summary["undecided"] == 0
    assert found.summary["figures"] > 20
    assert symattn("audit", "post.toml", "--strict").code == 0
    assert symattn("sheet", "post.toml", "--format", "tex").code == 0
    assert symattn("verify", "post.toml").code == 0


def test_the_example_teaches_every_table(tmp_path: Path, symattn) -> None:
    """Each table and key of a file is in it, if only in a comment."""
    symattn("new", "post.toml")
    text = (tmp_path / "post.toml").read_text("utf-8")
    words = "title source tokens [given] [steps] [loss] upstream wrt [[claims]] where of printed"
    for word in (*words.split(), "as_printed", "holds", "[[unchecked]]", "what", "reason"):
        assert word in text


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", package.names())
def test_from_a_bundled_case(name: str, tmp_path: Path, symattn) -> None:
    """Numbers, steps and loss are the case's; each step is claimed with its rounded figures."""
    assert symattn("new", "mine.toml", "--from", name).code == 0
    base, made = package.load(name), package.load(tmp_path / "mine.toml")
    assert dict(made.steps) == dict(base.steps)
    assert str(made.given) == str(base.given)
    assert (made.output, made.wrt, made.tokens) == (base.output, base.wrt, base.tokens)
    assert str(made.upstream) == str(base.upstream)
    assert (made.states_loss, made.rounding) == (base.states_loss, base.rounding)
    assert [claim.of for claim in made.claims] == list(base.steps)
    solution = package.solve(base)
    written = tomllib.loads((tmp_path / "mine.toml").read_text("utf-8"), parse_float=Decimal)
    for claim in written["claims"]:
        wanted = solution[claim["of"]].decimal(4)
        assert str(claim["printed"]) == str(plain(wanted))
    assert package.audit(made).count(Verdict.HOLDS) == len(package.audit(made).figures)


def plain(decimals):
    """Nested tuples as TOML gives them, masked scores as text."""
    if isinstance(decimals, tuple):
        return [plain(item) for item in decimals]
    return "-inf" if decimals == "-inf" or Decimal(decimals).is_infinite() else decimals


def test_from_a_file(tmp_path: Path, symattn) -> None:
    """Also from one in which every text is hostile: it stays text."""
    (tmp_path / "bad.toml").write_text(CASE, "utf-8")
    assert symattn("new", "mine.toml", "--from", "bad.toml").code == 0
    base, made = package.load(tmp_path / "bad.toml"), package.load(tmp_path / "mine.toml")
    assert (made.title, made.tokens, dict(made.steps)) == (base.title, base.tokens, base.steps)
    assert steering((tmp_path / "mine.toml").read_text("utf-8")) == set()


def test_numbers_stay_as_they_were_written(tmp_path: Path, symattn) -> None:
    """Text, decimals with their zeros, powers of ten, masked scores, symbols."""
    given = "[given]\nX = [['1/3', 0.50], [1e-3, 'sqrt(2)']]\nM = [-inf, 1]\n"
    loss = "[loss]\nupstream = [['g', 0.10], ['-1/2', 1]]\n"
    text = f"rounding = 'up'\n{given}[steps]\nA = 'X + 1'\nB = 'softmax(M)'\nC = 'A'\n{loss}"
    (tmp_path / "base.toml").write_text(text, "utf-8")
    assert symattn("new", "mine.toml", "--from", "base.toml").code == 0
    base, made = package.load(tmp_path / "base.toml"), package.load(tmp_path / "mine.toml")
    assert str(made.given) == str(base.given)
    assert str(made.upstream) == str(base.upstream)
    assert made.raw["X"] == base.raw["X"]
    assert symattn("audit", "mine.toml").code == 0


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_nothing_is_overwritten(kind: str, tmp_path: Path, symattn) -> None:
    """What is there stays, whatever it is."""
    path = tmp_path / "post.toml"
    match kind:
        case "file":
            path.write_text("mine")
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("nowhere")
    done = symattn("new", "post.toml")
    assert (done.code, done.out) == (2, "")
    assert done.err == "symattn: post.toml already exists and is not overwritten\n"
    assert not (tmp_path / "nowhere").exists()
    assert kind != "file" or path.read_text() == "mine"


def test_what_came_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, symattn
) -> None:
    """Nor what has come while the case was worked on."""

    def made(solution) -> str:
        (tmp_path / "post.toml").write_text("mine")
        return template.EXAMPLE

    monkeypatch.setattr(template, "template", made)
    done = symattn("new", "post.toml", "--from", "cat-sat-mat")
    assert (done.code, done.out) == (2, "")
    assert done.err == "symattn: post.toml already exists and is not overwritten\n"
    assert (tmp_path / "post.toml").read_text() == "mine"


def test_what_can_not_be_started(tmp_path: Path, symattn) -> None:
    """Names that no command would read, folders that aren't there, cases that aren't."""
    for words, said in [
        (["post.md"], "post.md: expected a name ending in .toml, as in post.toml"),
        (["no/post.toml"], "no/post.toml can't be written: no such file or directory"),
        (["post.toml", "--from", "cat-sat-matt"], "did you mean cat-sat-mat?"),
    ]:
        done = symattn("new", *words)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
    assert list(tmp_path.iterdir()) == []
