"""``symattn derive``: derivations listed and written out, and what is done with unproved ones."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from symattn import proofs
from symattn.proofs.checking import Report
from symattn.proofs.derivation import Derivation
from symattn.verdicts import Verdict

NAMES = list(proofs.THEORY)


def open_ended(derivation: Derivation) -> Derivation:
    """The derivation with its last step left undecided."""
    *before, last = derivation.steps
    return replace(derivation, steps=(*before, replace(last, how="undecided")))


def contradicted(derivation: Derivation) -> Derivation:
    """The derivation with numbers against it."""
    return replace(derivation, numeric=lambda *_: [("the weights", 1.0, 2.0)])


def false(derivation: Derivation) -> Derivation:
    """The derivation with its first two right sides exchanged."""
    first, second, *rest = derivation.steps
    wrong = (replace(first, rhs=second.rhs), replace(second, rhs=first.rhs))
    return replace(derivation, steps=(*wrong, *rest))


class Reopened(Derivation):
    """A derivation whose lines are left undecided when they are checked again."""

    def check(self, *_, **__) -> Report:
        return Report(self.name, (), (("the weights", Verdict.UNDECIDED),))


@pytest.fixture
def theory(monkeypatch):
    """Puts another derivation in the place of softmax-jacobian, beside softmax-backward."""

    def put(change):
        held = {
            "softmax-backward": proofs.THEORY["softmax-backward"],
            "softmax-jacobian": change(proofs.THEORY["softmax-jacobian"]),
        }
        monkeypatch.setattr(proofs, "THEORY", held)

    return put


# -- exit codes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "tex"])
@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["softmax-jacobian"], 1),
        (["softmax-backward", "softmax-jacobian"], 1),
        (["softmax-backward"], 0),
    ],
)
def test_a_derivation_that_is_not_proved(names, code, form, theory, symattn) -> None:
    """A line that was left undecided is exit code 1 in every format; it is written all the same."""
    theory(open_ended)
    done = symattn("derive", *names, "--format", form, "-o", "out")
    assert (done.code, done.err) == (code, "")


def test_pages_of_a_derivation_that_is_not_proved(theory, engine, tmp_path, symattn) -> None:
    """The page is made, and says so; the exit code is 1."""
    theory(open_ended)
    engine()
    done = symattn("derive", "softmax-jacobian", "--format", "pdf")
    assert (done.code, done.out) == (1, "1 sheet in derivations-out: LaTeX and PDF\n")
    assert "UNDECIDED" in (tmp_path / "derivations-out" / "softmax-jacobian.tex").read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "code", "checked"),
    [
        (lambda derivation: derivation, 0, "holds: 15 lines: 15 for all sizes"),
        (open_ended, 1, "holds: 15 lines: 14 for all sizes, 1 UNDECIDED"),
        (contradicted, 1, "refuted: 15 lines: 15 for all sizes"),
        (false, 1, "refuted: 15 lines: 15 for all sizes"),
        (lambda held: Reopened(**vars(held)), 1, "undecided: 15 lines: 15 for all sizes"),
    ],
    ids=["proved", "open", "contradicted", "false", "reopened"],
)
def test_the_list_checks_again(change, code, checked, theory, symattn) -> None:
    """Without a name every derivation is checked again; one that fails is exit code 1."""
    theory(change)
    done = symattn("derive")
    assert done.code == code
    assert done.table[0] == ["name", "statement", "checked"]
    rows = {row[0]: row[-1] for row in done.table if row[0].startswith("softmax")}
    assert list(rows) == ["softmax-backward", "softmax-jacobian"]
    assert rows["softmax-backward"] == "holds: 9 lines: 9 for all sizes"
    assert rows["softmax-jacobian"] == checked


@pytest.mark.parametrize(
    ("log", "words", "code"),
    [
        (r"Overfull \hbox (20.0pt too wide) in paragraph at lines 1--2", [], 0),
        (r"Overfull \hbox (20.0pt too wide) in paragraph at lines 1--2", ["--strict"], 1),
        ("Missing character: There is no x in font y", ["--strict"], 1),
        ("", ["--strict"], 0),
    ],
)
def test_strict(log, words, code, engine, symattn) -> None:
    """What the engine complains of is exit code 1 with --strict."""
    engine(log)
    done = symattn("derive", "softmax-jacobian", "--format", "pdf", *words)
    assert (done.code, done.out) == (code, "1 sheet in derivations-out: LaTeX and PDF\n")
    assert done.err.startswith("symattn: derivations-out/softmax-jacobian.pdf: ") == bool(log)


def test_a_failing_engine_counts_for_more(theory, engine, symattn) -> None:
    """An engine that fails is exit code 2, even where a derivation isn't proved."""
    theory(open_ended)
    engine("! Emergency stop.", code=1)
    done = symattn("derive", "softmax-jacobian", "--format", "pdf", "--strict")
    assert (done.code, done.out) == (2, "1 sheet in derivations-out: LaTeX\n")
    assert "Emergency stop." in done.err


# -- what is written ------------------------------------------------------------------------------


def test_list(symattn) -> None:
    """Every derivation with its statement and what confirmed its lines."""
    done = symattn("derive")
    assert done.code == 0
    assert [row[0] for row in done.table if row and row[0] in NAMES] == NAMES
    for name in NAMES:
        derivation = proofs.THEORY[name]
        (row,) = (row for row in done.table if row and row[0] == name)
        assert row[-1] == f"holds: {derivation.summary()}"
        assert derivation.statement.startswith(row[1][:20])
    # The first column stands at the left edge.
    assert all(f"\n{name} " in done.out for name in NAMES)


def test_colours_of_the_list(theory, terminal, symattn) -> None:
    """On a terminal names have a colour and are whole; what is checked is green, else red."""
    theory(contradicted)
    out = symattn("derive").out
    assert out.startswith("\x1b[1mname")
    assert "\x1b[36msoftmax-backward" in out
    assert "\x1b[32mholds" in out
    assert "\x1b[31mrefuted" in out


def test_text(symattn) -> None:
    """The derivations named, in their order, one blank line after each."""
    names = ["softmax-backward", "softmax-jacobian"]
    for words in ([], ["--format", "text"]):
        done = symattn("derive", *names, *words)
        assert (done.code, done.err) == (0, "")
        assert done.out == "".join(f"{proofs.THEORY[name].to_text()}\n\n" for name in names)
    assert "\n    5.      = (δ_ik E_i Z − E_i E_k) / Z²   [insert both derivatives]\n" in done.out


def test_json(symattn) -> None:
    """The derivations as a list, whole, its letters as they are."""
    done = symattn("derive", "masking", "pair-form", "--format", "json")
    assert done.code == 0
    shown = json.loads(done.out)
    assert shown == [proofs.THEORY[name].to_dict() for name in ("masking", "pair-form")]
    assert set(shown[0]) == {
        "name", "statement", "assumptions", "source", "definitions", "steps", "conclusion",
        "confirmed", "sizes",
    }  # fmt: skip
    assert [step["number"] for step in shown[0]["steps"]] == list(
        range(1, len(shown[0]["steps"]) + 1)
    )
    assert done.out.startswith('[\n  {\n    "name": "masking",\n')
    assert "\u2202" in done.out


def test_every_derivation_without_a_name(tmp_path, symattn) -> None:
    """Without a NAME, where data or files are asked for, all derivations are written out."""
    done = symattn("derive", "--format", "json")
    assert done.code == 0
    assert [item["name"] for item in json.loads(done.out)] == NAMES
    done = symattn("derive", "--format", "text", "-o", "out")
    assert (done.code, done.out) == (0, "")
    files = {path.name: path.read_text("utf-8") for path in (tmp_path / "out").iterdir()}
    assert files == {f"{name}.txt": proofs.THEORY[name].to_text() + "\n" for name in NAMES}


@pytest.mark.parametrize("option", ["-o", "--output"])
def test_json_in_a_folder(option, tmp_path, symattn) -> None:
    """JSON goes into one file of the folder, which is made."""
    printed = symattn("derive", "masking", "--format", "json").out
    done = symattn("derive", "masking", "--format", "json", option, "a/b")
    assert (done.code, done.out) == (0, "")
    (path,) = (tmp_path / "a" / "b").iterdir()
    assert path.name == "derivations.json"
    assert path.read_text("utf-8") == printed


@pytest.mark.parametrize(
    ("words", "folder"), [([], "derivations-out"), (["--output", "a/b"], "a/b")]
)
def test_pages(words, folder, engine, tmp_path, symattn) -> None:
    """LaTeX alone, or LaTeX and PDF, in ``derivations-out`` unless another folder is given."""
    engine()
    names = ["masking", "pair-form"]
    done = symattn("derive", *names, "--format", "tex", *words)
    assert (done.code, done.out) == (0, f"2 sheets in {folder}: LaTeX\n")
    assert {path.name for path in (tmp_path / folder).iterdir()} == {f"{n}.tex" for n in names}
    done = symattn("derive", *names, "--format", "pdf", *words)
    assert (done.code, done.out) == (0, f"2 sheets in {folder}: LaTeX and PDF\n")
    for name in names:
        assert (tmp_path / folder / f"{name}.pdf").read_bytes() == b"%PDF-1.5\n%%EOF\n"
        tex = (tmp_path / folder / f"{name}.tex").read_text("utf-8")
        assert tex.count("\\begin{document}") == 1
        title = name.replace("-", " ").title().partition(" ")[0]
        assert title in tex
