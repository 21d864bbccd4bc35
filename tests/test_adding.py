"""A function is added in two places, a program's and the cross-check's, and all the rest has it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import atan, exp, pi
from pathlib import Path

import pytest

import symattn
from symattn.tables import file

HOME = Path(symattn.__file__).parent
FUNCTIONS, CROSSCHECK = "programs/functions", "crosscheck"


@dataclass(frozen=True)
class Added:
    """A function, as texts behind others in modules, and what it gives."""

    step: str
    exact: str
    of_row: Callable[[list[float]], list[float]]
    theorem: str
    written: dict[str, list[tuple[str, str]]] = field(repr=False)


ADDED = {
    "a norm": Added(
        step="squarenorm(X, eps=1/100)",
        exact="300/1403",
        of_row=lambda x: [each / (sum(y * y for y in x) / len(x) + 0.01) for each in x],
        theorem="X i j / (Y_part i 0 / 3 + 1 / 100)",
        written={
            f"{FUNCTIONS}/rows.py": [
                (
                    "# -- norms -",
                    '''
@function()
def squarenorm(x: Node, *, eps: Node) -> Node:
    """x / (mean of x^2 + eps), row by row."""
    return over(x, plus(mean(times(x, x), _of_rows(x)), eps))

''',
                )
            ],
            f"{CROSSCHECK}/definitions.py": [
                (
                    "# -- norms and losses -",
                    '''
def square_norm(X: Matrix, v: Column, epsilon: Scalar, i: int, j: int) -> Scalar:
    """Entry of ``C = squarenorm(X, eps)``, by the mean squares of the rows."""
    return X[i][j] / (v[i] + epsilon)

''',
                ),
            ],
            f"{CROSSCHECK}/calls.py": [
                (
                    "def _l2norm(",
                    """
def _squarenorm(w: TapeLines, X: Place, eps: Place) -> Place:
    square = w.reduced("mean_square", row(w, X, "squarenorm"))
    return w.add("square_norm", (X, square, w.scalar(eps, "eps")), w.shape(X))

""",
                ),
                (
                    "FUNCTIONS: Mapping[str, Callable[..., Place]] = {",
                    '    "squarenorm": _squarenorm,',
                ),
            ],
        },
    ),
    "a function of entries": Added(
        step="ratiogate(X)",
        exact="1/2",
        of_row=lambda x: [each / (1 + each * each) for each in x],
        theorem="X i j / (1 + X i j * X i j)",
        written={
            f"{FUNCTIONS}/entries.py": [
                (
                    "# -- gates -",
                    '''
@function()
def ratiogate(x: Node) -> Node:
    """x / (1 + x^2)."""
    return over(x, plus(1, times(x, x)))

''',
                )
            ],
            f"{CROSSCHECK}/definitions.py": [
                (
                    "def softplus(",
                    '''
def ratiogate(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = ratiogate(A)``."""
    return A[i][j] / (1 + A[i][j] * A[i][j])

''',
                ),
            ],
            f"{CROSSCHECK}/calls.py": [
                (
                    '            "sigmoid": "sigmoid",',
                    '            "ratiogate": "ratiogate",',
                )
            ],
        },
    ),
    "an elementary function": Added(
        step="atan(X)",
        exact="pi/4",
        of_row=lambda x: [*map(atan, x)],
        theorem="Definition Y (i j : nat) : R := atan (X i j).",
        written={
            "expressions/elementary.py": [
                ("Elementwise = Literal[", '    "atan",'),
                (
                    "_TABLE = (",
                    """    ("atan", "The arc tangent of every entry.",
     lambda c, g, x, y: c.over(g, c.plus(c.number(1), c.times(x, x))),
     "odd", "atan", "arctan", 0, (0, 0), "arctan"),""",
                ),
            ],
            f"{CROSSCHECK}/scalars.py": [
                (
                    "    def sin(self) -> Tracked:",
                    """
    def atan(self) -> Tracked:
        return self._by_slope(math.atan, lambda x: 1.0 / (1.0 + x * x))

""",
                ),
                (
                    "    erf = _chained(",
                    "    atan = _chained(atan, lambda g, x, y: g / (x * x + 1.0))",
                ),
                (
                    "def ln(",
                    """
def atan(x: Any) -> Any:
    if isinstance(x, Tracked):
        return x.atan()
    return np.arctan(x) if isinstance(x, np.ndarray) else math.atan(x)

""",
                ),
            ],
            f"{CROSSCHECK}/definitions.py": [
                ("from symattn.crosscheck.scalars import sign", "from .scalars import atan"),
                (
                    "def softplus(",
                    '''
def arc_tangent(A: Matrix, i: int, j: int) -> Scalar:
    """Entry of ``C = atan(A)``."""
    return atan(A[i][j])

''',
                ),
            ],
            f"{CROSSCHECK}/calls.py": [
                ('            "sqrt": "square_root",', '            "atan": "arc_tangent",')
            ],
        },
    ),
}

#: The first row, by which the first weight is the loss.
ROW = [1.0, 2.0, 3.0]
CASE = """title = "One step"

[given]
X = [["1", "2", "3"], ["2", "-1", "1/2"]]

[steps]
Y = "{step}"
A = "softmax(Y)"

[loss]
output = "A"
upstream = [["1", "0", "0"], ["0", "0", "0"]]
"""

#: What a reader of such a case asks for, in a process that knows the package of this folder only.
ASKED = """
import json, sys
import symattn

path = sys.argv[1]
solution = symattn.solve(path)
lines = symattn.derive_case(path).lines
print(json.dumps({
    "from": symattn.__file__,
    "exact": str(solution["Y"].exact[0, 0]),
    "gradient": float(solution["dL/dX"].nearest("float64")[0][0]),
    "float": float(solution["Y"].nearest("float64")[0][0]),
    "verified": symattn.verify(path).verdict,
    "derivation": [line.status for line in lines],
}, default=str))
"""


def put(text: str, written: list[tuple[str, str]]) -> str:
    """A module with texts before lines that begin so, or behind one that opens brackets."""
    lines = text.splitlines()
    for mark, more in written:
        (at,) = [k for k, line in enumerate(lines) if line.startswith(mark)]
        if mark.endswith("["):
            lines[at] = lines[at].replace("[", "[" + more.strip() + " ", 1)
        else:
            lines.insert(at + mark.endswith((" = {", " = (")), more)
    return "\n".join(lines) + "\n"


def run(folder: Path, *arguments: str) -> str:
    """Return what a process prints that runs the package in a folder."""
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.heavy
@pytest.mark.parametrize("name", ADDED)
def test_a_function_is_added_in_two_places(name, tmp_path):
    """Exact values, gradients, floats, the cross-check, sheets, derivations for any size and
    theorems have it from these."""
    added = ADDED[name]
    ours = {Path(path).parent.as_posix() for path in added.written} - {CROSSCHECK}
    assert ours in ({FUNCTIONS}, {"expressions"})
    shutil.copytree(HOME, tmp_path / "symattn", ignore=shutil.ignore_patterns("__pycache__"))
    if not (bundled := file.folder()).is_relative_to(HOME):
        shutil.copytree(bundled, tmp_path / bundled.name)
    for path, written in added.written.items():
        module = tmp_path / "symattn" / path
        module.write_text(put(module.read_text("utf-8"), written), "utf-8")
    (tmp_path / "one.toml").write_text(CASE.format(step=added.step), "utf-8")
    found = json.loads(run(tmp_path, "-c", ASKED, "one.toml"))
    assert Path(found["from"]).is_relative_to(tmp_path)
    assert found["exact"] == added.exact
    assert found["float"] == pytest.approx(added.of_row(ROW)[0]) == eval(added.exact, {"pi": pi})
    moved = [added.of_row([ROW[0] + step, *ROW[1:]]) for step in (1e-5, -1e-5)]
    above, below = (exp(row[0]) / sum(map(exp, row)) for row in moved)
    assert found["gradient"] == pytest.approx((above - below) / 2e-5, abs=1e-8)
    assert found["verified"] == "holds"
    assert found["derivation"] == ["proved", "proved"]
    main = ("-m", "symattn")
    run(tmp_path, *main, "sheet", "one.toml", "--format", "md", "-o", "sheets")
    sheet = (tmp_path / "sheets" / "one.md").read_text("utf-8")
    assert added.step.partition("(")[0] in sheet
    assert f"{found['float']:.4f}".rstrip("0") in sheet
    run(tmp_path, *main, "seal", "one.toml", "-o", "seals")
    assert added.theorem in (tmp_path / "seals" / "one.v").read_text("utf-8")
