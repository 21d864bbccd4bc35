"""``symattn seal``: the theorems that it writes, what it says of them, and how it ends."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from symattn.errors import EngineFailure
from symattn.escaping import json_text
from symattn.seal import seals, theorems
from symattn.seal.seals import Checked, without_proofs
from symattn.seal.theorems import Theorem

CASE = "cat-sat-mat-causal"
FILES = ["Symattn.v", "cat_sat_mat_causal.seal.json", "cat_sat_mat_causal.v"]
ARTICLE = """# Attention

$$T = \\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}$$

$$A = \\operatorname{softmax}(T)
    = \\begin{pmatrix} 0.7311 & 0.2698 \\\\ 0.2689 & 0.7311 \\end{pmatrix}$$
"""


@pytest.fixture
def kernel(monkeypatch):
    """A kernel that takes all but what it is told to refuse."""

    class Taking:
        refused: dict[str, str] = {}  # noqa: RUF012 - the test's own
        axioms = tuple(sorted(seals.AXIOMS))

        def __init__(self, seconds):
            self.seconds = seconds

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def check(self, file):
            return Checked(
                without_proofs(file, self.refused), "8.16.1", 1.0, self.axioms, self.refused
            )

    monkeypatch.setattr(seals, "Kernel", Taking)
    return Taking


def names(folder):
    """What is in a folder, but for symattn's own record."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_figures_are_stated(tmp_path, symattn) -> None:
    done = symattn("seal", CASE)
    assert (done.code, done.out) == (
        0,
        f"{CASE}: 173 of 173 figures stated (seals/cat_sat_mat_causal.v)\n",
    )
    assert names(tmp_path / "seals") == ["Symattn.v", "cat_sat_mat_causal.v"]
    text = (tmp_path / "seals" / "cat_sat_mat_causal.v").read_text("utf-8")
    assert "Definition M_keeps (i j : nat) : bool := causal i j." in text
    assert "Theorem A_1_0_printed : Rabs (A 1 0 - 2689 / 10000) <= 1 / 20000.\n" in text
    assert text.endswith("Print Assumptions all_of_it.\n")
    library = (tmp_path / "seals" / "Symattn.v").read_text("utf-8")
    assert library == theorems.library()


def test_an_article(tmp_path, symattn) -> None:
    """What is refuted in it is a theorem, too: that it is wrong, and what is right."""
    (tmp_path / "a.md").write_text(ARTICLE, "utf-8")
    done = symattn("seal", "a.md", "--output", "out")
    assert done.code == 0
    text = (tmp_path / "out" / "a_md.v").read_text("utf-8")
    wrong = (
        "~ Rabs (A 0 1 - 2698 / 10000) <= 1 / 20000 /\\ Rabs (A 0 1 - 2689 / 10000) <= 1 / 20000"
    )
    assert wrong in text
    assert ": wrong, it is 0.2689 *)" in text


def test_json(tmp_path, symattn) -> None:
    done = symattn("seal", CASE, "-o", "out", "--format", "json")
    assert done.code == 0
    (found,) = json.loads(done.out)
    assert (found["stated"], found["count"], found["unsealed"]) == (173, 173, [])


def test_text(symattn) -> None:
    assert symattn("seal", CASE, "--format", "text").out == symattn("seal", CASE).out


def test_checked(tmp_path, symattn, kernel) -> None:
    done = symattn("seal", CASE, "--check", "-o", "out")
    said = f"{CASE}: sealed: 173 of 173 figures, by Coq 8.16.1, in 1 s (out/cat_sat_mat_causal.v)\n"
    assert (done.code, done.out) == (0, said)
    assert names(tmp_path / "out") == FILES
    kept = json.loads((tmp_path / "out" / FILES[1]).read_text("utf-8"))
    assert (kept["sealed"], kept["count"], len(kept["theorems"])) == (173, 173, 173)


def test_what_is_not_proved_is_stated_and_told(tmp_path, symattn, kernel) -> None:
    kernel.refused = {"A_1_0_printed": "Tactic failure."}
    done = symattn("seal", CASE, "--check", "-o", "out")
    assert done.code == 1
    assert done.out.splitlines()[1] == "  A[1, 0] = 0.2689: not proved: Tactic failure."
    text = (tmp_path / "out" / "cat_sat_mat_causal.v").read_text("utf-8")
    assert "Definition A_1_0_printed : Prop := Rabs (A 1 0 - 2689 / 10000) <= 1 / 20000." in text
    kept = json.loads((tmp_path / "out" / FILES[1]).read_text("utf-8"))
    assert (kept["sealed"], kept["count"]) == (172, 173)


def test_nothing_is_sealed_by_other_axioms(symattn, kernel) -> None:
    kernel.axioms = (*kernel.axioms, "easy")
    done = symattn("seal", CASE, "--check")
    assert "sealed: 0 of 173 figures" in done.out
    assert "rests on more than the real numbers" in done.out


def test_without_coq(monkeypatch, symattn) -> None:
    def missing(seconds):
        raise EngineFailure("coqc is not installed: Debian's packages coq have it")

    monkeypatch.setattr(seals, "Kernel", missing)
    done = symattn("seal", CASE, "--check")
    assert (done.code, done.err) == (
        2, "symattn: coqc is not installed: Debian's packages coq have it\n"
    )  # fmt: skip


def test_a_sheet_tells_its_seal(tmp_path, symattn, kernel) -> None:
    assert symattn("seal", CASE, "--check", "-o", "seals").code == 0
    done = symattn("sheet", CASE, "--sealed", "seals", "--format", "md", "-o", "out")
    assert done.code == 0
    text = (tmp_path / "out" / f"{CASE}.md").read_text("utf-8")
    said = "Sealed: 173 of 173 figures, by Coq 8.16.1, according to seals. The theorems are in"
    assert f"{said} `cat_sat_mat_causal.v`." in text.replace("\n", " ")
    assert {"Symattn.v", "cat_sat_mat_causal.v"} < {*names(tmp_path / "out")}


FORGED = [
    {"file": "../../elsewhere.v"},
    {"sealed": 174},
    {"sealed": 172},
    {"sealed": "<b>"},
    {"defined": 3},
    {"coq": "8.16 <script>"},
    {"coq": None},
    {"count": 1},
    {"kind": "lines"},
    {"name": "other"},
    {"axioms": []},
    {"axioms": ["easy"]},
    {"axioms": "easy"},
    {"refused": {"A_1_0_printed": "so"}},
    {"refused": {"nothing": "so"}},
    {"refused": []},
    {"theorems": []},
    {"unsealed": [{"said": "A", "why": "so"}]},
    {"format": "symattn seal 1"},
    {"more": 1},
]


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_a_seal_that_somebody_wrote(forged, tmp_path, symattn, kernel) -> None:
    """Nothing in it is believed that can be known, and nothing of it comes beside a page."""
    assert symattn("seal", CASE, "--check", "-o", "seals").code == 0
    kept = tmp_path / "seals" / FILES[1]
    kept.write_text(json_text(json.loads(kept.read_text("utf-8")) | forged) + "\n", "utf-8")
    done = symattn("sheet", CASE, "--sealed", "seals", "--format", "md", "-o", "out")
    if forged == {"axioms": []}:
        # What Coq says of axioms is one of the things that only the seal tells.
        assert done.code == 0
        return
    assert (done.code, done.err.startswith("symattn: seals/")) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", ["nothing", "an axiom", "one letter"])
def test_files_that_somebody_wrote(name, change, tmp_path, symattn, kernel) -> None:
    """Library, theorems and seal are those that symattn writes, byte for byte: what differs is
    told, and nothing is copied beside a page."""
    assert symattn("seal", CASE, "--check", "-o", "seals").code == 0
    path = tmp_path / "seals" / name
    text = path.read_text("utf-8")
    forged = {
        "nothing": "(* nothing *)\n",
        "an axiom": text + "Axiom cheat : False.\n",
        "one letter": text.replace("e", "a", 1),
    }[change]
    path.write_text(forged, "utf-8")
    for words in (["sheet", CASE, "--format", "md"], ["sheet", CASE, "--format", "html"]):
        done = symattn(*words, "--sealed", "seals", "-o", "out")
        assert (done.code, done.err.startswith(f"symattn: seals/{name}: ")) == (2, True)
        assert not (tmp_path / "out").exists()
    if change != "nothing" and name != FILES[1]:
        number = next(
            at
            for at, pair in enumerate(zip(text.split("\n"), forged.split("\n"), strict=False), 1)
            if pair[0] != pair[1]
        )
        assert f": line {number} is '" in done.err
        assert "seal it again" in done.err


def test_beside_a_page_stands_what_is_stated(tmp_path, symattn, kernel, monkeypatch) -> None:
    """Not what lies in the folder of seals, which may change after it was read."""
    assert symattn("seal", CASE, "--check", "-o", "seals").code == 0
    wanted = {name: (tmp_path / "seals" / name).read_bytes() for name in (FILES[0], FILES[2])}
    of = seals.found

    def found(*given):
        made = of(*given)
        for name in wanted:
            (tmp_path / "seals" / name).write_text("Axiom cheat : False.\n", "utf-8")
        return made

    monkeypatch.setattr(seals, "found", found)
    assert symattn("sheet", CASE, "--sealed", "seals", "--format", "md", "-o", "out").code == 0
    assert {name: (tmp_path / "out" / name).read_bytes() for name in wanted} == wanted


def test_theorems_that_are_gone(tmp_path, symattn, kernel) -> None:
    assert symattn("seal", CASE, "--check", "-o", "seals").code == 0
    (tmp_path / "seals" / FILES[2]).unlink()
    done = symattn("sheet", CASE, "--sealed", "seals", "--format", "md", "-o", "out")
    assert done.code == 2
    assert done.err.startswith(f"symattn: seals/{FILES[2]}: the file can't be read")


def test_places(tmp_path, symattn, kernel) -> None:
    """A seal is of so many places as the sheet that it stands on."""
    assert symattn("seal", CASE, "--check", "--places", "6", "-o", "seals").code == 0
    text = (tmp_path / "seals" / "cat_sat_mat_causal.v").read_text("utf-8")
    assert "A_1_0_printed : Rabs (A 1 0 - 268941 / 1000000) <= 1 / 2000000." in text
    words = ["sheet", CASE, "--sealed", "seals", "--format", "md", "-o", "out"]
    assert symattn(*words).code == 2
    assert symattn(*words, "--places", "6").code == 0


def test_a_seal_of_something_else_is_refused(tmp_path, symattn, kernel) -> None:
    """A seal is of statements: who changes a number has to seal again."""
    assert symattn("seal", CASE, "--check", "-o", "seals").code == 0
    (tmp_path / f"{CASE}.toml").write_text(f'extends = "{CASE}"\n[given]\nd_k = 5\n', "utf-8")
    done = symattn("sheet", f"{CASE}.toml", "--sealed", "seals", "--format", "md", "-o", "out")
    assert done.code == 2
    assert "is stated now" in done.err
    done = symattn("sheet", "cat-sat-mat", "--sealed", "seals", "--format", "md", "-o", "out")
    assert done.code == 2
    assert "symattn seal NAME --check -o DIR makes one" in done.err


def test_lines(tmp_path, symattn, kernel) -> None:
    """Of a derivation all lines, for all sizes; those without a proof say why."""
    done = symattn("seal", "masking", "--check")
    assert (done.code, done.out.splitlines()[:2]) == (0, [
        "masking: sealed: 12 of 14 lines, by Coq 8.16.1, in 1 s (seals/masking.v)",
        "  line 1 of Masking by minus infinity: lim(b → −∞) exp(S_ij + (1 − M_ij) b) = E_ij: "
        "limits",
    ])  # fmt: skip


def test_lines_of_ones_own(tmp_path, symattn) -> None:
    (tmp_path / "own.txt").write_text("S: n\nA = softmax(S)\nsum(i, A[i]) = 1\n", "utf-8")
    done = symattn("seal", "--lines", "own.txt")
    assert (done.code, done.out) == (0, "own: 1 of 1 lines stated (seals/own.v)\n")
    text = (tmp_path / "seals" / "own.v").read_text("utf-8")
    assert "Theorem line_1 : sum n (fun i => A i) = 1." in text


def test_a_derivation_tells_its_seal(tmp_path, symattn, kernel) -> None:
    assert symattn("seal", "softmax-backward", "--check", "-o", "seals").code == 0
    done = symattn("derive", "softmax-backward", "--sealed", "seals")
    assert done.code == 0
    end = "\nSealed: 10 of 10 lines, by Coq 8.16.1, according to seals"
    assert done.out.rstrip().endswith(end)
    done = symattn("derive", "softmax-backward", "--sealed", "seals", "-o", "out", "--format", "md")
    text = (tmp_path / "out" / "softmax-backward.md").read_text("utf-8")
    said = "Sealed: 10 of 10 lines, by Coq 8.16.1, according to seals. The theorems are in"
    assert f"{said} `softmax_backward.v`." in text.replace("\n", " ")


LINES = "x: n\nx[i]/n = x[i]/n\nsum(i, x[i]) = sum(x)\nx[i] + x[i] = 2*x[i]\n"


def test_what_holds_by_definition_is_counted_apart(tmp_path, symattn, kernel) -> None:
    """Both sides are the same term."""
    (tmp_path / "own.txt").write_text(LINES, "utf-8")
    done = symattn("seal", "--lines", "own.txt", "--check")
    said = "own: sealed: 1 of 3 lines, by Coq 8.16.1; 2 more hold by definition, in 1 s"
    assert (done.code, done.out) == (0, f"{said} (seals/own.v)\n")
    kept = json.loads((tmp_path / "seals" / "own.seal.json").read_text("utf-8"))
    assert (kept["sealed"], kept["defined"], kept["count"]) == (1, 2, 3)
    assert [x.get("by_definition", False) for x in kept["theorems"]] == [True, True, False]
    done = symattn("derive", "own.txt", "--sealed", "seals", "-o", "out", "--format", "md")
    text = (tmp_path / "out" / "own.md").read_text("utf-8").replace("\n", " ")
    assert "The theorems are in `own.v`. By definition hold 2 more." in text


def test_derivatives_that_are_not_said_to_exist(tmp_path, symattn) -> None:
    """Where one stands within a line, that is told."""
    (tmp_path / "own.txt").write_text("x: n\nx[i]*diff(x[i]^2, x[i]) = 2*x[i]^2\n", "utf-8")
    done = symattn("seal", "--lines", "own.txt")
    assert done.code == 0
    assert done.out.rstrip().endswith(": it does not say that the derivatives within it exist")


def test_a_number_beyond_all_bounds(tmp_path, symattn) -> None:
    """It costs itself only; FLINT would give up on it."""
    (tmp_path / "a.toml").write_text(
        '[given]\nX = [[1, 2]]\n[steps]\nY = "exp(-exp(X * 1e30))"\nZ = "X + X"\n', "utf-8"
    )
    done = symattn("seal", "a.toml")
    assert done.code == 0
    assert done.out.startswith("a: 5 of 7 figures stated (seals/a.v)\n")
    assert "is no number below 2^320" in done.out


def test_names_that_coq_has_taken(tmp_path, symattn) -> None:
    """Quantities are renamed that are called as something in Coq is."""
    (tmp_path / "a.toml").write_text(
        '[given]\nR = [[1, 2]]\nsum = 2\n[steps]\nfun = "R * sum"\nexp_ = "exp(fun)"\n', "utf-8"
    )
    assert symattn("seal", "a.toml").code == 0
    text = (tmp_path / "seals" / "a.v").read_text("utf-8")
    assert "Definition R_1 (i j : nat) : R := by_rows" in text
    assert "Definition fun_1 (i j : nat) : R := R_1 0 j * sum_1." in text


def test_what_has_no_statement_costs_itself_only(tmp_path, symattn) -> None:
    """Numbers without end, and of too many digits."""
    (tmp_path / "a.toml").write_text(
        '[given]\nQ = [["10**400", 1]]\nW = [["sqrt(2)"]]\nB = [["-inf", 0.5]]\n[steps]\n'
        'T = "Q * 2"\nD = "W * 2"\nC = "softmax(B)"\n',
        "utf-8",
    )
    done = symattn("seal", "a.toml", "--format", "json")
    assert done.code == 0
    (found,) = json.loads(done.out)
    why = {one["said"]: one["why"] for one in found["unsealed"]}
    assert why["T[0, 0]"] == "a number of so many digits has no statement"
    assert why["W"] == why["D"] == "an input that is no rational number has no statement"
    assert found["stated"] >= 3


def test_comments_are_harmless(tmp_path, symattn) -> None:
    """What a file says ends no comment, and states nothing."""
    (tmp_path / "a.toml").write_text(
        'title = "a *) Axiom easy : 1 = 2. (*"\n[given]\nQ = [[1]]\n[steps]\nT = "2 * Q"\n'
        '[[claims]]\nwhere = "*) Axiom easy : 1 = 2. (*"\nof = "T"\nprinted = [[2]]\n',
        "utf-8",
    )
    assert symattn("seal", "a.toml").code == 0
    text = (tmp_path / "seals" / "a.v").read_text("utf-8")
    assert "*) Axiom" not in text
    assert text.count("(*") == text.count("*)")


def test_faults(tmp_path, symattn) -> None:
    done = symattn("seal", "no-such-case")
    assert done.code == 2
    assert "unknown case 'no-such-case'" in done.err
    (tmp_path / "own.toml").write_text('sizes = ["n"]\n[[lines]]\nline = "1 == 1"\n', "utf-8")
    done = symattn("seal", "own.toml")
    said = "symattn: own.toml: it is a derivation: symattn seal --lines own.toml\n"
    assert (done.code, done.err) == (2, said)
    done = symattn("sheet", CASE, "--sealed", "nowhere")
    missing = "symattn: nowhere/cat_sat_mat_causal.seal.json: the file can't be read"
    assert (done.code, done.err.startswith(missing)) == (2, True)
    assert symattn("seal", CASE, CASE).code == 2


def test_what_has_no_figures(tmp_path, symattn) -> None:
    (tmp_path / "a.md").write_text("Nothing is here.\n", "utf-8")
    done = symattn("seal", "a.md")
    assert done.code == 0
    assert done.out.startswith("a.md: there is no figure in it: symattn audit says")


def test_a_statement_is_a_definition_where_it_has_no_proof() -> None:
    theorem = Theorem("one", "1 = 1", "reflexivity.", "line 1")
    assert replace(theorem, proof=None).text() == "(** line 1 *)\nDefinition one : Prop := 1 = 1."
