"""``symattn show``: what it prints of a quantity is what other arithmetics make of it."""

from __future__ import annotations

import decimal
import json
import re
import tomllib
from decimal import Decimal
from pathlib import Path

import mpmath
import numpy as np
import pytest

from symattn.cases import library
from symattn.cli import show

from ..oracle import DIGITS, evaluate, run

E = {"e": mpmath.e}
MODES = {
    "half-even": decimal.ROUND_HALF_EVEN,
    "half-up": decimal.ROUND_HALF_UP,
    "half-down": decimal.ROUND_HALF_DOWN,
    "down": decimal.ROUND_DOWN,
    "up": decimal.ROUND_UP,
    "floor": decimal.ROUND_FLOOR,
    "ceiling": decimal.ROUND_CEILING,
}
KEYS = ["case", "quantity", "at", "shape", "exact", "latex", "decimal", "places", "rounding"]
EIGHTHS = (
    "rounding = 'half-up'\n[given]\nx = [['1/8', '-1/8'], ['3/8', '-inf']]\n[steps]\ny = '2 * x'\n"
)


def truth(name):
    """Every quantity of a bundled case by the oracle, and the gradient of the
    sum of its output in V."""
    case = tomllib.loads(library.find(name).read_text("utf-8"), parse_float=Decimal)
    found = run(case["given"], case["steps"])
    found["dL/dV"] = found["A"].T @ np.full(found["Y"].shape, mpmath.mpf(1), dtype=object)
    return found


def rounded(value, places, mode):
    """A value of the oracle in decimal digits, by Python's own rounding."""
    if mpmath.isinf(value):
        return "-inf"
    with decimal.localcontext(prec=DIGITS):
        digits = Decimal(mpmath.nstr(value, DIGITS - 10, min_fixed=-99, max_fixed=99))
        return format(digits.quantize(Decimal(1).scaleb(-places), MODES[mode]), "f")


def read_latex(text):
    """The value of a closed form in LaTeX: fractions, roots, powers of e, logarithms."""
    tokens = re.findall(r"\\left\(|\\right\)|\\[a-z]+|\\,|\d+|[-+/e^{}]", text)
    assert "".join(tokens) == text.replace(" ", "")
    tokens.append("")

    def group():
        assert tokens.pop(0) in ("{", r"\left(")
        found = total()
        assert tokens.pop(0) in ("}", r"\right)")
        return found

    def factor():
        if tokens[0] == r"\left(":
            return group()
        match tokens.pop(0):
            case r"\frac":
                return group() / group()
            case r"\sqrt":
                return mpmath.sqrt(group())
            case r"\log":
                return mpmath.log(group())
            case r"\infty":
                return mpmath.inf
            case "e":
                if tokens[0] != "^":
                    return +mpmath.e
                tokens.pop(0)
                return mpmath.exp(group())
            case digits:
                return mpmath.mpf(digits)

    def product():
        found = factor()
        while tokens[0] in (r"\,", "/"):
            found = found * factor() if tokens.pop(0) == r"\," else found / factor()
        return found

    def total():
        sign = -1 if tokens[0] == "-" and tokens.pop(0) else 1
        found = sign * product()
        while tokens[0] in ("+", "-"):
            found += product() if tokens.pop(0) == "+" else -product()
        return found

    found = total()
    assert tokens == [""]
    return found


def near(value, expected):
    """Whether two values agree far beyond what is printed."""
    if mpmath.isinf(expected):
        return value == expected
    return abs(value - expected) < mpmath.mpf(10) ** (20 - DIGITS)


def exact(text):
    """The value of a closed form as it is printed."""
    return -mpmath.inf if text == "-inf" else evaluate(text, E)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("case", "quantity"),
    [
        ("cat-sat-mat", "A"),
        ("cat-sat-mat", "dL/dV"),
        ("the-cat-sleeps", "Q"),
        ("the-cat-sleeps", "Y"),
        ("length-4-causal", "M"),
        ("length-4-causal", "A"),
    ],
)
def test_json_against_the_oracle(case, quantity, symattn) -> None:
    """Closed forms, LaTeX and decimals of every entry are the value that mpmath finds."""
    done = symattn("show", case, quantity, "--format", "json", "--places", "9")
    assert done.code == 0
    shown = json.loads(done.out)
    assert list(shown) == KEYS
    with mpmath.workdps(DIGITS):
        expected = truth(case)[quantity]
        assert shown["shape"] == list(expected.shape)
        for at in np.ndindex(*expected.shape):
            value = expected[at]
            i, j = at
            assert near(exact(shown["exact"][i][j]), value)
            assert near(read_latex(shown["latex"][i][j]), value)
            assert shown["decimal"][i][j] == rounded(value, 9, "half-even")
    assert shown["case"] == case
    assert shown["quantity"] == quantity
    assert shown["at"] is None
    assert shown["places"] == 9
    assert shown["rounding"] == "half-even"


@pytest.mark.parametrize("mode", MODES)
def test_rounding(mode, symattn) -> None:
    """Every mode that the help names rounds as Python's decimals do."""
    assert mode in " ".join(symattn("show", "--help").out.split())
    done = symattn(
        "show", "the-cat-sleeps", "A - 1/3", "--rounding", mode, "--places", "3", "--format", "json"
    )
    shown = json.loads(done.out)
    with mpmath.workdps(DIGITS):
        expected = truth("the-cat-sleeps")["A"] - mpmath.mpf(1) / 3
        assert shown["decimal"] == [[rounded(x, 3, mode) for x in row] for row in expected]
    assert shown["rounding"] == mode
    text = symattn("show", "the-cat-sleeps", "A", "--rounding", mode).out
    assert f"\u2248 6 places, {mode}:\n" in text


def test_a_case_may_say_how_it_rounds(tmp_path, symattn) -> None:
    """Without --rounding a case's own mode is used."""
    (tmp_path / "eighths.toml").write_text(EIGHTHS, "utf-8")
    words = ["show", "eighths.toml", "x", "--places", "2", "--format", "json"]
    shown = json.loads(symattn(*words).out)
    assert shown["rounding"] == "half-up"
    assert shown["decimal"] == [["0.13", "-0.13"], ["0.38", "-inf"]]
    shown = json.loads(symattn(*words, "--rounding", "half-down").out)
    assert shown["rounding"] == "half-down"
    assert shown["decimal"] == [["0.12", "-0.12"], ["0.37", "-inf"]]


@pytest.mark.parametrize("places", [0, 1, 30])
def test_places(places, symattn) -> None:
    """As many places as are asked for, in text and in JSON."""
    words = ["show", "cat-sat-mat", "A[2, 2]", "--places", str(places)]
    with mpmath.workdps(DIGITS):
        expected = rounded(truth("cat-sat-mat")["A"][2, 2], places, "half-even")
    assert symattn(*words).out == f"A[2, 2] = sqrt(e)/(2 + sqrt(e)) \u2248 {expected}\n"
    shown = json.loads(symattn(*words, "--format", "json").out)
    assert (shown["decimal"], shown["places"], shown["shape"]) == (expected, places, [])


def test_text_of_a_matrix(symattn) -> None:
    """A matrix is shown twice, exactly and in decimals, its columns lined up on the right."""
    done = symattn("show", "length-4-causal", "M", "--format", "text")
    assert done.out == symattn("show", "length-4-causal", "M").out
    assert done.out.splitlines() == [
        "M, 4x4, exact:",
        "  39/800    -inf    -inf   -inf",
        "       0    3/80    -inf   -inf",
        "  -1/400   1/800  31/800   -inf",
        "   1/400  -3/400   1/400  1/200",
        "\u2248 6 places, half-even:",
        "   0.048750       -inf      -inf      -inf",
        "   0.000000   0.037500      -inf      -inf",
        "  -0.002500   0.001250  0.038750      -inf",
        "   0.002500  -0.007500  0.002500  0.005000",
    ]


def test_text_of_a_vector(symattn) -> None:
    """A vector is one line."""
    assert symattn("show", "cat-sat-mat", "T[2]", "--places", "1").out.splitlines() == [
        "T[2], a vector of 3, exact:",
        "  1/2  1/2  1",
        "\u2248 1 places, half-even:",
        "  0.5  0.5  1.0",
    ]


def test_text_of_wide_entries(symattn) -> None:
    """Rows of more than 160 letters are written entry by entry, with their places, below the
    decimals."""
    done = symattn("show", "cat-sat-mat", "dL/dV")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[4] == "exact:"
    assert lines[5].startswith("  [0, 0] 1/(2 + sqrt(e)) + ")
    wide = re.findall(r"^  \[(\d), (\d)\] (.*)$", done.out, re.M)
    assert [(int(i), int(j)) for i, j, _ in wide] == list(np.ndindex(3, 4))
    with mpmath.workdps(DIGITS):
        expected = truth("cat-sat-mat")["dL/dV"]
        for i, j, text in wide:
            assert near(exact(text), expected[int(i), int(j)])
    assert "\n  1.186324  1.186324  1.186324  1.186324\n" not in done.out
    assert lines[:4] == [
        "dL/dV, 3x4 \u2248 6 places, half-even:",
        *(f"  {'  '.join([rounded(row[0], 6, 'half-even')] * 4)}" for row in expected),
    ]


@pytest.mark.parametrize(("letters", "entry_by_entry"), [(78, False), (79, True)])
def test_a_line_of_160_letters_is_whole(letters, entry_by_entry, tmp_path, symattn) -> None:
    """Two blanks go before each column; what is wider than 160 is written entry by entry."""
    wide = "1" * letters
    text = f"[given]\nx = [['{wide}', '{'2' * 78}']]\n[steps]\ny = 'x'\n"
    (tmp_path / "wide.toml").write_text(text, "utf-8")
    lines = symattn("show", "wide.toml", "x", "--places", "0").out.splitlines()
    whole = [f"  {wide}  {'2' * 78}"]
    by_entry = [f"  [0, 0] {wide}", f"  [0, 1] {'2' * 78}"]
    assert lines[1:] == (
        [*by_entry, "exact:", *by_entry]
        if entry_by_entry
        else [*whole, "\u2248 0 places, half-even:", *whole]
    )


def test_a_large_quantity(tmp_path, symattn) -> None:
    """Of more than 64 entries the decimals come first; closed forms where all are short."""
    head = "[given]\nx = " + str([[i + j for j in range(9)] for i in range(9)])
    (tmp_path / "large.toml").write_text(f"{head}\n[steps]\nA = 'softmax(x)'\n", "utf-8")
    for name in ("A", "A + 0 * x"):
        lines = symattn("show", "large.toml", name, "--places", "2").out.splitlines()
        assert lines[0] == f"{name}, 9x9 \u2248 2 places, half-even:"
        assert [len(line.split()) for line in lines[1:-1]] == [9] * 9
        assert lines[-1] == ("The closed forms are too wide for a table; --at I,J shows one entry")
    assert symattn("show", "large.toml", "x").out.startswith("x, 9x9, exact:\n  0  1   2")
    one = symattn("show", "large.toml", "A", "--at", "0,0").out
    assert re.fullmatch(r"A\[0, 0\] = 1/\(1 \+ e \+ .*\) \u2248 0\.\d{6}\n", one)


@pytest.mark.parametrize("spelling", ["dL/dV", "grad(V)", "dV", "grad( V )"])
def test_a_gradient_in_each_spelling(spelling, symattn) -> None:
    """The gradient is understood however it is written."""
    shown = symattn("show", "cat-sat-mat", f"{spelling}[0, 1]").out
    assert shown.startswith(f"{spelling}[0, 1] = 1/(2 + sqrt(e)) + ")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["d_k"], "d_k = 4 \u2248 4.000000"),
        (["d_k", "--places", "0"], "d_k = 4"),
        (["total(A)", "--places", "0"], "total(A) = 3"),
        (["T[2]", "--at", "1"], "T[2][1] = 1/2 \u2248 0.500000"),
        (["A", "--at", " -1, 0 "], "A[-1, 0] = 1/(2 + sqrt(e)) \u2248 0.274069"),
        (["dL/dA", "--at", "0,1"], "dL/dA[0, 1] = 2 \u2248 2.000000"),
    ],
)
def test_text_of_a_number(words, shown, symattn) -> None:
    """A number is one line that can be asked for again; decimals that say the same are left out."""
    done = symattn("show", "cat-sat-mat", *words)
    assert (done.code, done.out) == (0, f"{shown}\n")


def test_at_is_the_entry_of_the_whole(symattn) -> None:
    """--at picks an entry: its forms are those in the matrix, its indices are given back."""
    words = ["show", "length-4-causal", "A", "--format", "json"]
    whole = json.loads(symattn(*words).out)
    entry = json.loads(symattn(*words, "--at", "3,1").out)
    assert entry["at"] == [3, 1]
    assert entry["shape"] == []
    for key in ("exact", "latex", "decimal"):
        assert entry[key] == whole[key][3][1]
    assert entry["exact"] != whole["exact"][1][3]


@pytest.mark.parametrize(("case", "quantity"), [("cat-sat-mat", "A"), ("length-4-causal", "M")])
def test_latex_of_a_matrix(case, quantity, symattn) -> None:
    """LaTeX of a matrix is its entries in brackets, row by row."""
    done = symattn("show", case, quantity, "--format", "latex")
    assert done.code == 0
    inside = re.fullmatch(r"\\begin\{bmatrix\} (.*) \\end\{bmatrix\}\n", done.out)
    assert inside
    rows = [row.split(" & ") for row in inside[1].split(r" \\ ")]
    with mpmath.workdps(DIGITS):
        expected = truth(case)[quantity]
        assert [len(row) for row in rows] == [expected.shape[1]] * expected.shape[0]
        for at in np.ndindex(*expected.shape):
            assert near(read_latex(rows[at[0]][at[1]]), expected[at])


def test_latex_of_a_number(symattn) -> None:
    """LaTeX of one entry is its formula alone."""
    words = ["show", "cat-sat-mat", "log(2) * A", "--format", "latex", "--at", "2,1"]
    done = symattn(*words)
    with mpmath.workdps(DIGITS):
        expected = mpmath.log(2) * truth("cat-sat-mat")["A"][2, 1]
        assert near(read_latex(done.out.removesuffix("\n")), expected)


SYMBOLS = """\
[given]
X = [[1, 0], [0, 1]]
[steps]
A = "softmax(X)"
Y = "A @ X"
[loss]
output = "Y"
upstream = [["g1", 0], [1, "g2"]]
wrt = ["A", "X"]
"""


def test_forms_in_symbols(tmp_path, symattn) -> None:
    """A gradient in symbols has decimals for its coefficients."""
    (tmp_path / "symbols.toml").write_text(SYMBOLS, "utf-8")
    shown = json.loads(symattn("show", "symbols.toml", "dL/dA", "--format", "json").out)
    # The upstream gradient times X, which is the identity.
    assert shown["exact"] == [["g1", "0"], ["1", "g2"]]
    assert shown["latex"] == [["g_{1}", "0"], ["1", "g_{2}"]]
    assert shown["decimal"] == [["1.000000*g1", "0.000000"], ["1.000000", "1.000000*g2"]]
    entry = symattn("show", "symbols.toml", "dL/dA", "--at", "0,0", "--places", "1")
    assert entry.out == "dL/dA[0, 0] = g1 \u2248 1.0*g1\n"
    whole = symattn("show", "symbols.toml", "dL/dA").out.splitlines()
    assert whole[1:3] == ["  g1   0", "   1  g2"]
    assert whole[4:] == ["  1.000000*g1     0.000000", "     1.000000  1.000000*g2"]


def test_a_very_large_quantity_is_shown_by_its_digits(symattn, monkeypatch) -> None:
    """No closed form of it is worked out but that of an entry that is asked for."""
    asked: list[object] = []
    exact = show._exact

    def counting(entry):
        asked.append(entry)
        return exact(entry)

    monkeypatch.setattr(show, "_exact", counting)
    Path("large.toml").write_text("[given]\nx = [[1, 2]]\n[steps]\nY = 'ones(70, 70) * x[0, 1]'\n")
    done = symattn("show", "large.toml", "Y", "--places", "1")
    assert (done.code, asked) == (0, [])
    assert "--at I,J shows one entry" in done.out
    assert symattn("show", "large.toml", "Y", "--at", "69,0").out.startswith("Y[69, 0] = 2")
    assert len(asked) == 1
