"""Cases in letters at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scripts import unscripted

FILE = """
title = "In letters"
[symbols]
a = "real"
t = "positive"
[given]
Q = [["a", 1], [0, "t"], ["a", "t"]]
K = [["t", "a"], [2, 1]]
V = [[1, 2], ["sqrt(t)", 1]]
[steps]
S = "Q @ K.T"
A = "softmax(S)"
Y = "A @ V"
[loss]
output = "Y"
upstream = [["g*a", 1], [0, 1], [1, 1]]
"""


@pytest.fixture
def path(tmp_path):
    """A file in letters."""
    made = tmp_path / "letters.toml"
    made.write_text(FILE, "utf-8")
    return str(made)


def test_show_prints_formulas_and_no_decimals(path, symattn):
    """In which symbols they are is said; in JSON there are no decimals."""
    done = symattn("show", path, "A[1]")
    assert done.code == 0
    assert done.out.splitlines() == [
        "A[1], a vector of 2, in a, t:",
        "  e^(t*(a - 1))/(1 + e^(t*(a - 1)))  1/(1 + e^(t*(a - 1)))",
    ]
    assert symattn("show", path, "S", "--at", "0,0").out == "S[0, 0] = a + a*t\n"
    found = json.loads(symattn("show", path, "V", "--format", "json").out)
    assert found["decimal"] is None
    assert found["exact"] == [["1", "2"], ["sqrt(t)", "1"]]


def test_show_puts_numbers_in(path, symattn):
    """All that a quantity has, or some; what is no number of a symbol is said."""
    done = symattn("show", path, "A", "--at", "1,0", "--put", "a=1", "--put", "t = 1/2")
    assert done.out == "A[1, 0] = 1/2 ≈ 0.500000\n"
    assert symattn("show", path, "S[1]", "--put", "a=3").out.endswith("  3*t  t\n")
    for put, said in [
        ("a", "--put: expected a symbol and its number such as a=1/2, found 'a'"),
        ("z=1", "z: unknown symbol 'z': expected one of a, g, t"),
        ("t=-1", "t: t is positive, found -1"),
        ("a=x", "'x' is not an exact number"),
    ]:
        done = symattn("show", path, "A", "--put", put)
        assert done.code == 2
        assert said in done.err


@pytest.mark.heavy
def test_verify_says_at_how_many_points(path, symattn):
    """By NumPy there, by SymPy in letters."""
    done = symattn("verify", path, "--strict")
    assert done.code == 0
    assert "in letters, by NumPy at 5 exact points" in done.out
    assert [row[0] for row in done.table[2:]][-4:] == ["dL/dV", "dL/dS", "dL/dA", "dL/dY"]


@pytest.mark.heavy
@pytest.mark.parametrize("form", ["tex", "html", "md"])
def test_sheets_in_letters_round_nothing(path, form, symattn, tmp_path):
    """Every entry is a formula, sums of exponentials have their names."""
    done = symattn(
        "sheet", path, "--format", form, "--strict", "--detail", "full", "-o", str(tmp_path)
    )
    assert done.code == 0
    text = (tmp_path / f"letters.{form}").read_text("utf-8")
    assert "checked at 5 points" in " ".join(text.split())
    about = {"tex": r"\approx", "html": "≈", "md": r"\approx"}[form]
    # But where it is said what it means.
    assert (unscripted(text) if form == "html" else text).count(about) == 1
    assert "Z_{0}" in text.replace(" ", "") or form == "html"


def test_files_that_extend_others_may_declare_more(path, symattn, tmp_path):
    """Symbols of the file that is extended are known."""
    more = tmp_path / "more.toml"
    more.write_text(
        'extends = "letters.toml"\n[symbols]\nc = "real"\n[given]\nK = [["c", "a"], [2, 1]]\n',
        "utf-8",
    )
    assert symattn("show", str(more), "S", "--at", "0,0").out == "S[0, 0] = a + a*c\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('a = "real"', 'a = "complex"', "letters.toml:4: symbols.a: unknown domain 'complex'"),
        ('a = "real"', "", "letters.toml:7: given.Q[0][0]: unknown name 'a' in 'a'"),
        ("[symbols]", "symbols = 3\n[other]", "symbols: expected a table of symbols"),
        ('a = "real"', 'Q = "real"\na = "real"', ""),
    ],
)
def test_faults_of_declarations(old, new, said, path, symattn):
    """With their lines."""
    Path(path).write_text(FILE.replace(old, new, 1), "utf-8")
    done = symattn("show", path, "A")
    assert said in done.err
    assert done.code == (2 if said else 0)


def test_drawings_in_letters_have_no_shades(path, symattn, tmp_path):
    """Cells say their formulas where these are short; nothing stands for how large they are."""
    done = symattn("draw", path, "--what", "flow", "-o", str(tmp_path / "flow.svg"))
    assert done.code == 0
    text = (tmp_path / "flow.svg").read_text("utf-8")
    assert "a + a·t" in text
    assert "coefficient" not in text


def test_exercises_ask_for_numbers(path, symattn, tmp_path):
    """What is given in letters can't be answered with digits."""
    done = symattn("exercise", path, "-o", str(tmp_path / "out"))
    assert done.code == 2
    assert "Q, K, V has symbols, but answers must be numbers" in done.err.replace("K, Q", "Q, K")
    assert not (tmp_path / "out").exists()


def test_statements_that_letters_decide(path, symattn):
    """What holds whatever they are is so; what depends on them is undecided."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write('[[claims]]\nholds = "A[0, 0] + A[0, 1] == 1"\n')
        file.write('[[claims]]\nholds = "A[0, 0] > A[0, 1]"\n[[claims]]\nholds = "A > 0"\n')
    done = symattn("audit", path, "--format", "json")
    found = json.loads(done.out)
    verdicts = [claim["verdict"] for claim in found["claims"]]
    assert verdicts == ["holds", "undecided", "holds"]


@pytest.mark.parametrize(
    ("upstream", "said"),
    [
        ("g", ""),
        ("g / g", ""),
        ("h * g / g", ""),
        ("0 * g * g", ""),
        ("g * g", ""),
        ("-inf", "loss.upstream[0]: expected a finite number, found -inf"),
        ("Y / Y", "loss.upstream[0]: the symbol 'Y' is a quantity's name"),
        ("Y - Y + 1", "loss.upstream[0]: the symbol 'Y' is a quantity's name"),
        ("exp(X)", "loss.upstream[0]: the symbol 'X' is a quantity's name"),
    ],
)
def test_every_command_takes_the_same_upstream_gradients(upstream, said, tmp_path, symattn):
    """Symbols that cancel are symbols: of quantities they are no names, and others are no fault."""
    tables = "symbols = ['c']\n[given]\nX = [['c / c', 2]]\n[steps]\nY = 'X[0] * X[0]'\n"
    path = tmp_path / "case.toml"
    path.write_text(f"{tables}[loss]\nupstream = ['{upstream}', 1]\n", "utf-8")
    for words in (
        ["show", "dL/dX"],
        ["verify"],
        ["audit"],
        ["sheet", "--format", "md"],
        ["draw"],
        ["exercise", "--level", "backward", "--versions", "2", "--seed", "1"],
    ):
        out = () if words[0] in ("show", "verify", "audit") else ("-o", str(tmp_path / words[0]))
        done = symattn(words[0], str(path), *words[1:], *out)
        assert (done.code, said in done.err) == (2 if said else 0, True), (words, done.err)
