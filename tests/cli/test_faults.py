"""Bad input: one message with every fault and its place, exit 2, nothing half-written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = "[given]\nX = [[1, 0], [0, 1]]\n[steps]\nA = 'softmax(X)'\n"

# A file's text and what its message must say.
FAULTS: dict[str, tuple[str, list[str]]] = {
    "broken TOML": ("[given\nX = 1", ["not valid TOML"]),
    "unknown key": (f"titel = 'x'\n{GOOD}", ["titel", "unknown key"]),
    "missing tables": ("title = 'x'", ["given: missing", "steps: missing"]),
    "ragged": ("[given]\nX = [[1, 2], [3]]\n[steps]\nA = 'X'", ["given.X[1]", "found 1"]),
    "shapes": (
        "[given]\nQ = [[1, 2]]\nK = [[1, 2]]\n[steps]\nS = 'Q @ K'",
        ["steps.S", "1x2 @ 1x2", "Q is 1x2", "K is 1x2"],
    ),
    "undefined name": (GOOD + "B = 'A @ C'", ["steps.B", "unknown name 'C'"]),
    "name twice": (GOOD + "X = 'A'", ["steps.X", "'X'"]),
    "nan": ("[given]\nX = [[nan]]\n[steps]\nA = 'X'", ["given.X[0][0]", "finite"]),
    "unknown function": (GOOD + "B = 'relu(A)'", ["steps.B", "unknown function 'relu'"]),
    "code": (GOOD + "B = '().__class__'", ["steps.B", "expected a value"]),
    "import": (GOOD + "B = '__import__(1)'", ["steps.B", "unknown function"]),
    "lambda": (GOOD + "B = 'lambda: 1'", ["steps.B"]),
    "power of ten": ("[given]\nX = '1e999999999'\n[steps]\nA = 'X'", ["given.X", "power of ten"]),
    "decimal power": ("[given]\nX = 1e999999999\n[steps]\nA = 'X'", ["given.X", "power of ten"]),
    "tower": ("[given]\nX = '9**9**9'\n[steps]\nA = 'X'", ["given.X", "no power operator"]),
    "million digits": (f"[given]\nX = '{'9' * 10**6}'\n[steps]\nA = 'X'", ["given.X"]),
    "million digit number": (f"[given]\nX = {'9' * 10**6}\n[steps]\nA = 'X'", [""]),
    "too large": (
        "[given]\nX = [" + ",".join(["[" + "1," * 300 + "]"] * 300) + "]\n[steps]\nA = 'X'",
        ["given.X", "beyond 65536 entries"],
    ),
    "masked whole": (
        "[given]\nX = [[1, 2]]\nP = [[0, 0]]\n[steps]\nA = 'softmax(mask(X, P))'",
        ["steps.A", "row 0 is masked whole"],
    ),
    "division by zero": ("[given]\nX = 0\n[steps]\nA = '1 / X'", ["steps.A", "division by zero"]),
    "negative root": ("[given]\nX = -1\n[steps]\nA = 'sqrt(X)'", ["steps.A", "negative"]),
    "extends itself": ("extends = 'case.toml'\n" + GOOD, ["extends"]),
    "claim's shape": (
        GOOD + "[[claims]]\nwhere = 'x'\nof = 'A'\nprinted = [1, 2]",
        ["claims[0].printed", "2x2"],
    ),
    "claim's name": (GOOD + "[[claims]]\nwhere = 'x'\nof = 'B'\nprinted = 1", ["claims[0].of"]),
    "two faults": (
        "[given]\nX = [[nan, 1], [2]]\n[steps]\nA = 'foo(1)'\nB = 'Z'",
        ["given.X[1]", "steps.A", "steps.B"],
    ),
}


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "symattn", *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("label", FAULTS)
def test_bad_file(label: str, tmp_path: Path) -> None:
    """The message names the file and every fault's place; no sheet is begun."""
    text, said = FAULTS[label]
    (tmp_path / "case.toml").write_text(text, "utf-8")
    done = run(tmp_path, "sheet", "case.toml", "--format", "tex", "-o", "out")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "case.toml" in done.stderr
    assert len(done.stderr) < 3000
    for piece in said:
        assert piece in done.stderr
    assert not list(tmp_path.glob("out/*"))


def test_all_cases_are_checked_before_anything_is_written(tmp_path: Path) -> None:
    """One bad case among good ones leaves earlier files as they were."""
    (tmp_path / "bad.toml").write_text("[given]\n", "utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "cat-sat-mat.tex").write_text("mine", "utf-8")
    done = run(tmp_path, "sheet", "cat-sat-mat", "bad.toml", "--format", "tex", "-o", "out")
    assert done.returncode == 2
    assert (tmp_path / "out" / "cat-sat-mat.tex").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "no-such-case", "A"], "unknown case"),
        (["show", "cat-sat-mat", "A", "--at", "9,9"], "outside"),
        (["show", "cat-sat-mat", "A", "--at", "x"], "--at"),
        (["show", "cat-sat-mat", "A", "--places", "-1"], "places"),
        (["show", "cat-sat-mat", "A", "--places", "1000000000"], "places"),
        (["show", "cat-sat-mat", "A", "--rounding", "nearly"], "rounding"),
        (["show", "cat-sat-mat", "().__class__"], "expected a value"),
        (["show", "cat-sat-mat", "grad(d_j)"], "unknown name"),
        (["sheet", "cat-sat-mat", "-o", "/proc/nowhere"], "can't be written to"),
        (["derive", "softmax-jacobi"], "did you mean softmax-jacobian"),
        (["verify", "."], "unknown case"),
    ],
)
def test_bad_use(words: list[str], said: str, tmp_path: Path) -> None:
    """Bad usage ends with exit 2 and one message."""
    done = run(tmp_path, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_an_engine(tmp_path: Path) -> None:
    """Without TeX the LaTeX is written and fine; asking for PDF is an error."""
    nothing = str(tmp_path / "nothing")
    done = run(tmp_path, "sheet", "cat-sat-mat", "-o", "out", PATH=nothing)
    assert done.returncode == 0
    assert "apt-get install" in done.stderr
    assert (tmp_path / "out" / "cat-sat-mat.tex").is_file()
    done = run(tmp_path, "sheet", "cat-sat-mat", "-o", "out", "--format", "pdf", PATH=nothing)
    assert done.returncode == 2


def test_a_failing_engine(tmp_path: Path) -> None:
    """An engine that fails is reported, and leaves no PDF."""
    fake = tmp_path / "bin" / "pdflatex"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho '! It broke.'\nexit 1\n", "utf-8")
    fake.chmod(0o755)
    path = f"{fake.parent}:/bin:/usr/bin"
    done = run(tmp_path, "sheet", "cat-sat-mat", "-o", "out", PATH=path)
    assert done.returncode == 2
    assert "It broke." in done.stderr
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["cat-sat-mat.tex"]


def test_json_of_show_and_verify(tmp_path: Path) -> None:
    """Machines get the documented keys, entries as nested lists of text."""
    shown = json.loads(run(tmp_path, "show", "cat-sat-mat", "A", "--format", "json").stdout)
    assert list(shown) == [
        "case", "quantity", "at", "shape", "exact", "latex", "decimal", "places", "rounding",
    ]  # fmt: skip
    assert shown["exact"][0][0] == "e/(1 + sqrt(e) + e)"
    assert shown["decimal"][2] == ["0.274069", "0.274069", "0.451863"]
    found = json.loads(run(tmp_path, "verify", "cat-sat-mat", "--format", "json").stdout)
    assert set(found["cat-sat-mat"]["dL/dV"]) == {"max_ulp", "scaled_ulp", "verdict"}
    assert {check["verdict"] for check in found["cat-sat-mat"].values()} == {"holds"}


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_quick_words_load_nothing_heavy(word: str) -> None:
    """Asking for the version or for help imports neither SymPy nor NumPy."""
    code = (
        "import sys\nfrom symattn.cli import main\n"
        f"sys.argv = ['symattn', {word!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'sympy', 'numpy', 'flint', 'latexify'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
