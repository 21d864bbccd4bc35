"""What mypy says of calls: right ones pass, wrong ones are refused where they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

mypy = pytest.importorskip("mypy", reason="types are checked by mypy")

#: Lines that mypy accepts; those that end in ``# no`` it must refuse.
CALLS = """
from decimal import Decimal
from fractions import Fraction

import numpy as np

import symattn
from symattn import attention, draw, from_floats, sheet, solve

q, k, v = [[1, "1/2"]], [[Fraction(1, 3), Decimal("0.5")]], ((1,),)
floats = from_floats(np.zeros((2, 3, 4), dtype=np.float32))
a = attention(q, k, v, scale="1/2", causal="bottom-right", on_empty_row="zero")
attention(floats, floats, floats, np.ones((3, 3), dtype=bool), 0.5, bias=floats)
attention(q, k, v, [[True]], window=(1, None), lengths=[1], softcap=Fraction(50), sink=[0])
attention(q, k, v, "causal", causal=True).backward([["g1"]]).dQ.coefficient("g1")
a.output.nearest("bfloat16")
a.lse.decimal(4, "half-up")
a.weights.significant(3, rounding="floor")
a.backward(np.ones((1, 1), dtype=int))["dL/dQ"].nearest("float8_e4m3fn")
solve("cat-sat-mat")["A"][0].decimal(2)
symattn.case("mine", {"x": [1]}, {"y": "2 * x"}, rounding="half-up", tolerance="0.001")
draw("cat-sat-mat", "pattern")
sheet("cat-sat-mat", audience="author", paper="letter", places=3)
symattn.audit("cat-sat-mat").figures[0].verdict
a.output.nearest("flot32")  # no
a.output.decimal(4, rounding="halfeven")  # no
a.output.significant(4, "up or down")  # no
attention(q, k, v, causal="top")  # no
attention(q, k, v, mask="causl")  # no
attention(q, k, v, on_empty_row="nil")  # no
attention("q", k, v)  # no
attention(1, k, v)  # no
attention(q, k, v, scale=[1])  # no
attention(q, k, v, window="2")  # no
a.backward("g1")  # no
from_floats("0.5")  # no
symattn.case("mine", {"x": [1]}, {"y": "2 * x"}, rounding="halfeven")  # no
draw("cat-sat-mat", "flaw")  # no
sheet("cat-sat-mat", audience="anybody")  # no
sheet("cat-sat-mat", colour="red")  # no
solve(3)  # no
"""


def test_calls(tmp_path: Path) -> None:
    """mypy refuses exactly the calls that are wrong, in its strict mode."""
    lines = CALLS.splitlines()
    file = tmp_path / "calls.py"
    file.write_text(CALLS, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    done = subprocess.run(
        [*command, "--cache-dir", str(tmp_path / "cache"), str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert not done.stderr
    told = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert told == {n for n, line in enumerate(lines, start=1) if line.endswith("# no")}, (
        done.stdout
    )
