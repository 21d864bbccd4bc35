"""The plugin for pytest: which samples a test gets, what it is told, and the report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

# Tests that run in this process forget what they load, and not all can be loaded twice.
from symattn import ownership
from symattn.testing import faults, kernels, plugin

LOADED = ownership, faults, kernels

ROOT = Path(__file__).parent.parent.parent

#: A kernel in NumPy with its gradients, and one that is wrong.
KERNELS = """
import numpy as np


def weights(q, k, mask):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(np.asarray(q.shape[-1], q.dtype))
    scores = np.where(True if mask is None else mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def widened(q, k, v):
    group = q.shape[0] // k.shape[0] if q.ndim > 2 else 1
    return group, *((np.repeat(x, group, 0) if group > 1 else x) for x in (k, v))


def attention(q, k, v, mask=None):
    _, k, v = widened(q, k, v)
    return weights(q, k, mask) @ v


def backward(q, k, v, upstream, mask=None):
    group, wide_k, wide_v = widened(q, k, v)
    a = weights(q, wide_k, mask)
    da = upstream @ wide_v.swapaxes(-1, -2)
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True))
    ds = ds / np.sqrt(np.asarray(q.shape[-1], q.dtype))
    dk, dv = ds.swapaxes(-1, -2) @ q, a.swapaxes(-1, -2) @ upstream
    if group > 1:
        dk, dv = (x.reshape(-1, group, *x.shape[1:]).sum(axis=1) for x in (dk, dv))
    return ds @ wide_k, dk, dv


def unscaled(q, k, v):
    return attention(q * np.asarray(q.shape[-1], q.dtype) ** 0.5, k, v)
"""

PAGE = (ROOT / "docs" / "kernels.md").read_text("utf-8")
#: The test file that the documentation shows.
(FIVE_LINES,) = re.findall(r"^```py\n(import pytest.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs tests beside the kernels with this plugin, xdist and no other."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(kernels=KERNELS)
    pytester.syspathinsert()

    def run(test, *words):
        pytester.makepyfile(test)
        return pytester.runpytest_inprocess("-p", "symattn.testing.plugin", "-p", "xdist", *words)

    return run


def test_the_entry_point_names_the_plugin():
    """Whoever installs symattn has the plugin."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"symattn": "symattn.testing.plugin"}


def test_it_costs_nothing_unused():
    """Neither the plugin nor its options load NumPy, SymPy, flint or the rest of symattn."""
    code = (
        "import pytest, sys; before = {*sys.modules}; import symattn.testing.plugin; "
        "print(*sorted({*sys.modules} - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"symattn", "symattn.testing", "symattn.testing.plugin"}


@pytest.mark.heavy
def test_what_a_kernel_needs_is_numpy_and_flint(tmp_path):
    """A test of a kernel, and of one that is wrong, loads of all that symattn depends on no more
    than these two, and nothing that reads documents."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (tmp_path / "kernels.py").write_text(KERNELS, "utf-8")
    test = """
import pytest
from kernels import attention, backward, unscaled


@pytest.mark.attention(kinds="ordinary", dtypes=["float16", "float32"])
def test_attention(attention_case):
    attention_case.check(attention, backward)
    with pytest.raises(AssertionError, match="without the factor scale"):
        attention_case.check(unscaled)
"""
    (tmp_path / "test_kernels.py").write_text(test, "utf-8")
    code = (
        "import pytest, sys; words = ['-q', '-p', 'symattn.testing.plugin']; "
        "print(int(pytest.main(words)), *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    status, *loaded = done.stdout.splitlines()[-1].split()
    assert status == "0", done.stdout
    names = {re.split("[>=; ]", line)[0] for line in project["dependencies"]}
    modules = {"markdown-it-py": "markdown_it", "python-flint": "flint"}
    packages = {modules.get(name, name.replace("-", "_")) for name in names}
    assert packages & {*loaded} == {"numpy", "flint"}
    assert not {"mpmath", "latexify"} & {*loaded}
    assert not {"symattn.documents.binding", "symattn.documents.reading"} & {*loaded}


@pytest.mark.heavy
def test_five_lines(run):
    """The test file in docs/ is five lines; a right kernel passes every kind, in two formats
    and for two seeds."""
    assert len([line for line in FIVE_LINES.splitlines() if line]) == 5
    done = run(FIVE_LINES, "-v")
    done.assert_outcomes(passed=60)
    done.stdout.fnmatch_lines(
        [
            "*::test_attention?equal-keys-float64-1? PASSED*",
            "*attention: largest error over the bound, above 1 is wrong*",
            "test *kind *dtype *samples *output *dQ *dK *dV",
            "*::test_attention *cancelling *float32 * 2 *",
        ]
    )


@pytest.mark.heavy
def test_float8_in_and_bfloat16_out(run):
    """Samples of float8 are handed over as such; results have their own format, those of the
    marker's test or of their arrays."""
    done = run(
        """
        import ml_dtypes
        import numpy as np
        import pytest
        from kernels import attention, backward

        def wide(x):
            return x.astype("float32")

        @pytest.mark.attention(dtypes=["float8_e4m3fn", "float8_e5m2fnuz"])
        def test_attention(attention_case):
            def kernel(q, k, v, mask=None):
                assert q.dtype == getattr(ml_dtypes, attention_case.sample.dtype)
                output = attention(wide(q), wide(k), wide(v), mask)
                return output.astype("bfloat16")

            found = attention_case.check(kernel, dtype="float32", formats={"output": "bfloat16"})
            assert found.reports["output"].format == "bfloat16"
            found = attention_case.check(kernel)
        """,
        "-W", "error",
    )  # fmt: skip
    done.assert_outcomes(passed=30)


def test_samples_in_the_axes_of_a_kernel(run):
    """Inputs, upstream gradients and results of s x h x d; a layout of other axes is refused."""
    result = run(
        """
        import pytest
        from kernels import attention, backward


        def moved(function):
            def kernel(*arrays, **options):
                found = function(*(x.swapaxes(0, 1) for x in arrays), **options)
                is_one = not isinstance(found, tuple)
                return found.swapaxes(0, 1) if is_one else [x.swapaxes(0, 1) for x in found]

            return lambda *arrays, mask=None: kernel(*arrays, mask=mask)


        @pytest.mark.attention(kinds=["ordinary", "grouped", "masked"], lead=(2,), n=3, d=4)
        def test_moved(attention_case):
            attention_case.check(moved(attention), moved(backward), layout="shd")


        @pytest.mark.attention(kinds="ordinary")
        def test_other(attention_case):
            attention_case.check(attention, layout="bshd")
        """
    )
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*layout: bshd has 4 axes, the sample 8x8: lead= of the marker*"])


def test_a_wrong_kernel_is_told_how(run):
    """The failure shows the case and the worst entries, not the code that judged them."""
    done = run(
        """
        import pytest
        from kernels import unscaled

        @pytest.mark.attention(kinds="ordinary")
        def test_attention(attention_case):
            attention_case.check(unscaled)
        """
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "E *AssertionError: <ordinary-float32-0: numbers below 2>",
            "E *Not what a correct float32 kernel may give*",
            "E *output: mismatched elements: * / 64*",
        ]
    )
    said = done.stdout.str()
    assert "symattn/testing" not in said
    assert "check_attention(" not in said


def test_what_a_kernel_lacks(run):
    """A kernel without a mask is spared what needs one, unless its test asks for that."""
    test = """
        import pytest
        from kernels import attention

        {mark}
        def test_attention(attention_case):
            attention_case.check(lambda q, k, v: attention(q, k, v))
        """
    done = run(test.format(mark=""), "-rs")
    done.assert_outcomes(passed=12, skipped=3)
    done.stdout.fnmatch_lines(["*the kernel takes no mask, which masked-float32-0 needs"])
    done = run(test.format(mark="@pytest.mark.attention(kinds=['masked', 'causal'])"))
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(
        ["the kernel takes no mask, which causal-float32-0 needs: leave the kind out of the *"]
    )


@pytest.mark.heavy
def test_options_go_by_their_names(run):
    """A kernel gets what it takes: its own words for order and window, or one mask for all."""
    done = run(
        """
        import pytest

        @pytest.mark.attention(kinds="all")
        def test_all(attention_case):
            told = {}

            def takes_all(q, k, v, **options):
                told.update(options)
                return attention_case.sample.exact().output.nearest("float32")

            def takes_masks(q, k, v, mask=None, bias=None, softcap=None, sink=None):
                told.update(mask=mask)
                return attention_case.sample.exact().output.nearest("float32")

            attention_case.check(takes_all)
            names = {*attention_case.options} - {"on_empty_row"}
            assert {*told} == names
            attention_case.check(takes_masks)
            visible = attention_case.sample.visible
            assert (told["mask"] is None) == (visible is None)
            assert visible is None or (told["mask"] == visible).all()
        """
    )
    done.assert_outcomes(passed=23)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_report(run, pytester, workers):
    """The same file, whoever ran the tests: each check with what it found."""
    test = FIVE_LINES.replace("seeds=2", "kinds=['ordinary', 'one-key']")
    done = run(test, "--symattn-report=found.json", "-n", workers)
    done.assert_outcomes(passed=4)
    done.stdout.fnmatch_lines(["*all of it in found.json"])
    checks = json.loads((pytester.path / "found.json").read_text("utf-8"))["checks"]
    assert [check["case"] for check in checks] == [
        f"{kind}-{dtype}-0" for kind in ("one-key", "ordinary") for dtype in ("float32", "float64")
    ]
    assert {check["verdict"] for check in checks} == {"holds"}
    assert {*checks[0]["parts"]} == {"output", "dQ", "dK", "dV"}


def test_a_report_that_can_not_be_written_is_told_first(run):
    """No test is run for a report that would be lost."""
    done = run(FIVE_LINES, "--symattn-report=nowhere/found.json")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "--symattn-report: nowhere/found.json can't be written: no such file" in str(done.stderr)


def options() -> list[str]:
    """The options of the plugin that take a value, as it declares them."""
    parser = pytest.Parser(_ispytest=True)
    plugin.pytest_addoption(parser)
    (group,) = (group for group in parser._groups if group.name == "symattn")
    return [one.names()[-1] for one in group.options if one.attrs().get("action") is None]


@pytest.mark.parametrize("option", options())
@pytest.mark.parametrize("name", ["test_it.py", "notes.json", "link.json"])
def test_no_option_replaces_a_file(option, name, run, pytester):
    """What symattn has not written stays as it is, the tests above all, whatever names it; its
    own reports are replaced until somebody changes them."""
    (pytester.path / "notes.json").write_text("mine")
    (pytester.path / "link.json").symlink_to("notes.json")
    pytester.makepyfile(test_it=FIVE_LINES)
    before = (pytester.path / name).read_bytes()
    done = run(FIVE_LINES, f"{option}={name}")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    said = f"{option}: {name} already exists and was not written by symattn: choose another file"
    assert said in str(done.stderr)
    assert (pytester.path / name).read_bytes() == before


def test_a_report_of_its_own_is_replaced(run, pytester):
    """Until somebody has changed it."""
    test = FIVE_LINES.replace("seeds=2", "kinds=['one-key']")
    for _ in range(2):
        run(test, "--symattn-report=found.json").assert_outcomes(passed=2)
    (pytester.path / "found.json").write_text("mine")
    done = run(test, "--symattn-report=found.json")
    assert "found.json was changed since symattn wrote it: choose another file" in str(done.stderr)
    assert (pytester.path / "found.json").read_text() == "mine"


@pytest.mark.heavy
def test_a_marker_is_read_whole(run):
    """Every fault of a marker is told, at the test that has it; nearer ones count."""
    done = run(
        """
        import pytest

        @pytest.mark.attention(kinds=["ordinry"], dtypes="int8", sed=1)
        def test_unknown_word(attention_case):
            pass
        """
    )
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*attention: sed: unknown word: did you mean seeds?"])
    done = run(
        """
        import pytest

        @pytest.mark.attention(kinds=["ordinry"], dtypes="int8")
        def test_unknown_names(attention_case):
            pass
        """
    )
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["*unknown kind 'ordinry': did you mean ordinary?", "*unknown dtype 'int8'*"]
    )
    done = run(
        """
        import pytest

        @pytest.mark.attention(kinds="sink", dtypes="float64", n=4)
        class TestKernels:
            @pytest.mark.attention(kinds="causal", seeds=[5])
            def test_one(self, attention_case):
                assert attention_case.name == "causal-float64-5-4x8"
        """
    )
    done.assert_outcomes(passed=1)
