"""Kernels are judged with NumPy, python-flint and pytest, and nothing else installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import symattn

ALONE = """
import sys

KNOWN = {*sys.stdlib_module_names, "symattn", "numpy", "flint", "kernels", "test_kernel"}
#: pytest, and what it needs.
KNOWN |= {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"}


class Others:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in KNOWN:
            raise ModuleNotFoundError(f"not installed: {name}", name=name)


sys.meta_path.insert(0, Others())
"""

KERNELS = """
import numpy as np


def turned(x):
    return np.swapaxes(x, -1, -2)


def weights(q, k):
    s = q @ turned(k) / np.sqrt(q.shape[-1], dtype=q.dtype)
    powers = np.exp(s - s.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(q, k, v):
    return weights(q, k) @ v


def backward(q, k, v, upstream):
    a, da = weights(q, k), upstream @ turned(v)
    ds = a * (da - (a * da).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1], dtype=q.dtype)
    return ds @ k, turned(ds) @ q, turned(a) @ upstream
"""

CALLS = """
import numpy as np

from kernels import attention, backward
from symattn import attention as exact, from_floats
from symattn.testing import assert_close, check_attention

q, k, v, upstream = np.random.default_rng(0).normal(size=(4, 5, 4)).astype("float32")
truth = exact(*map(from_floats, (q, k, v))).output
assert_close(attention(q, k, v), truth)
check_attention(attention, backward=backward, q=q, k=k, v=v, upstream=upstream)
try:
    assert_close(attention(2 * q, k, v), truth)
except AssertionError as error:
    assert "the factor scale" in str(error), error
else:
    raise SystemExit("a wrong kernel passed")
"""

#: As in the documentation.
FIVE_LINES = """
import pytest
from kernels import attention, backward


@pytest.mark.attention(dtypes=["float32", "float64"], kinds=["ordinary", "saturated"], seeds=1)
def test_attention(attention_case):
    attention_case.check(attention, backward)
"""

PYTEST = """
import pytest

raise SystemExit(pytest.main(["-q", "-p", "symattn.testing.plugin", "test_kernel.py"]))
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("script", [CALLS, PYTEST])
def test_three_packages_are_enough(script: str, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "test_kernel.py").write_text(FIVE_LINES)
    home = str(Path(symattn.__file__).parents[1])
    code = f"{ALONE}\nsys.path[:0] = [{home!r}, {str(tmp_path)!r}]\n{script}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_else_is_refused() -> None:
    code = f"{ALONE}\nimport sympy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "not installed: sympy" in done.stderr
