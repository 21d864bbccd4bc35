"""Derivations as they are written by hand: what each line of a text is taken for."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.calculus.library import derive, find
from symattn.calculus.manuscript import read_text
from symattn.errors import Malformed
from symattn.limits import CHARACTERS
from tests.effort import effort

from .files import theory_document

HOMEWORK = """\
# Softmax backward
S: n x m
L: function of A

A = softmax(S)
The weights of a row add up to 1:
rowsum(A) = ones(n)

## In matrix form
dS = A * (dA - rowsum(A * dA))     # by the chain rule
dS = A * (dA + rowsum(A * dA))
## By entries
dS[i, j] = sum(l, dA[i, l] * diff(A[i, l], S[i, j]))
         = sum(l, dA[i, l] * A[i, l] * (delta(l, j) - A[i, j]))
         = A[i, j] * dA[i, j]
"""


def tables(text):
    return read_text(Path("-"), text.encode()).document


def lines(text):
    return [one["line"] for one in tables(text)["lines"]]


@pytest.mark.heavy
def test_a_homework() -> None:
    """Definitions, claims and gradients are told apart; each line is judged by itself."""
    found = derive(HOMEWORK)
    assert found.faults == ()
    assert found.draft.title == "Softmax backward"
    assert found.parts == ("", "In matrix form", "By entries")
    assert [one.key for one in found.draft.definitions] == ["A", "dS", "dA"]
    assert [(one.status, one.said.at) for one in found.lines] == [
        *(("proved", 7), ("proved", 10), ("refuted", 11)),
        *(("proved", 13), ("proved", 14), ("refuted", 15)),
    ]
    assert found.lines[0].said.because == "The weights of a row add up to 1:"
    assert found.lines[1].said.because == "by the chain rule"
    wrong = found.lines[2]
    assert "'-' for '+'" in wrong.hint
    assert wrong.counterexample is not None
    assert wrong.counterexample.sizes == {"n": 1, "m": 1}
    told = str(wrong.counterexample)
    assert "dA = [[1]], S = [[0]]: 0 is not 2" in told
    assert "REFUTED (line 11)" in found.to_text()


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        *((line, ["n", "m"]) for line in ("S: n x m", "S (n × m)", "S: (n, m)", "S in R^(n x m)")),
        *((line, ["n", "m"]) for line in ("S ∈ ℝ^{n×m}", "S: n by m", "- S is a matrix n x m.")),
        *((line, ["n"]) for line in ("S: n", "S: vector of n", "S in R^n", "`S`: n entries")),
        *((line, []) for line in ("S: number", "S: a real number", "S ()", "S in R", "S: scalar")),
        *((line, ["n", 2]) for line in ("S: n x 2", "S (n, 2)")),
    ],
)
def test_shapes(line, shape) -> None:
    """The usual ways to say what is given; sizes are what is named in shapes."""
    found = tables(f"{line.replace('`', '')}\n1 = 1")
    assert found["shapes"] == {"S": shape}
    assert found["sizes"] == [one for one in shape if isinstance(one, str)]


@pytest.mark.parametrize(
    ("text", "table", "held"),
    [
        ("L: function of Y", "losses", {"L": "Y"}),
        ("L is any differentiable function of Y.", "losses", {"L": "Y"}),
        ("L: loss of Y", "losses", {"L": "Y"}),
        ("$A = x$. $L$ is a function of $A$.", "losses", {"L": "A"}),
        ("pi: permutation of n", "permutations", {"pi": "n"}),
        ("Q, K: n x d", "shapes", {"Q": ["n", "d"], "K": ["n", "d"]}),
        ("assume eps > 0", "hypotheses", ["eps > 0"]),
        ("We assume $\\sum_j y_j = 1$.", "hypotheses", ["sum(j, y_j) == 1"]),
        ("Assume a = 1, let b = 2.\nb = 2", "hypotheses", ["a == 1"]),
        ("where eps ≥ 0", "hypotheses", ["eps >= 0"]),
        ("where A = softmax(S)", "define", {"A": "softmax(S)"}),
        ("assume a = 1 and t > 0", "hypotheses", ["a == 1", "t > 0"]),
        ("assume that eps >= 0,", "hypotheses", ["eps >= 0"]),
        ("Suppose sum(j, y[j]) = 1", "hypotheses", ["sum(j, y[j]) == 1"]),
        ("Let A = softmax(S).", "define", {"A": "softmax(S)"}),
        ("G[i, k] := x[i] * x[k]", "define", {"G[i, k]": "x[i] * x[k]"}),
        ("1. A = x\n2) Then A[i] = 1", "define", {"A": "x"}),
    ],
)
def test_what_is_given_assumed_and_defined(text, table, held) -> None:
    """Each goes into its table."""
    assert tables(f"{text}\n1 = 1")[table] == held


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("A = x\nA = y", ["A == y"]),
        (
            "Let A = x, B = y and C = z.\nWeights: A = y, C = y; B = z",
            ["A == y", "C == y", "B == z"],
        ),
        ("A = x\nA = y ⊙ z^T ∘ yᵀ + z² + x^2", ["A == y * z.T * y.T + z**2 + x**2"]),
        ("A = x\nf(A, x) = 1, as told", ["f(A, x) == 1"]),
        ("A: n x n\nA[i, j] = A[j, i]", ["A[i, j] == A[j, i]"]),
        ("A == y", ["A == y"]),
        ("A = x = y", ["A == y"]),
        ("x[i] + 1 = y[i] = z[i]", ["x[i] + 1 == y[i] == z[i]"]),
        ("A = x\nA = y\n= z\n  = w", ["A == y", "y == z", "z == w"]),
        ("A = x\n⇒ A = y", ["A == y"]),
        ("A = x\n- so `A = y` and `A[i] = 2`, as told", ["A == y", "A[i] == 2"]),
        ("```\nA = x\nA = y\n```\n---", ["A == y"]),
        ("A = x\nA = y, by the definition of A", ["A == y"]),
        ("A = x\nA = y   // since it is", ["A == y"]),
        ("x: n\nA = x\ndA = A", []),
        ("x: n\nL: function of A\nA = x\ndA = A", ["dA == A"]),
        ("x, dx: n\nL: function of x\ndx = x\ndx = 2 * x", ["dx == x", "dx == 2 * x"]),
        ("x: n\nA = x\nA[i] = 1\n+ x[i]\n  - 2 *\n 3", ["A[i] == 1 + x[i] - 2 * 3"]),
        ("x: n\nA = x\nsum(j,\n  A[j]) = 1", ["sum(j, A[j]) == 1"]),
        ("x: n\nsum(j, x[j])\n= 1", ["sum(j, x[j]) == 1"]),
        ("x: n\nx[i] = x[j]   (i ≠ j)", ["(1 - delta(i, j)) * x[i] == (1 - delta(i, j)) * x[j]"]),
        (
            "x: n\n$x_i = x_j \\quad (i \\ne j)$",
            ["(1 - delta(i, j)) * x[i] == (1 - delta(i, j)) * x[j]"],
        ),
        ("A = x\n- `A = y`\n- A = z", ["A == y", "A == z"]),
        ("x: n\n-x = x", ["-x == x"]),
    ],
)
def test_claims(text, claims) -> None:
    """The first equation of a name defines it, but for gradients; signs in brackets stay."""
    if claims:
        assert lines(text) == claims
    else:
        with pytest.raises(Malformed, match="nothing is claimed"):
            tables(text)


def test_words_are_kept() -> None:
    """What stands before definitions is the statement, before a claim its reason."""
    found = derive("Softmax by rows.\nx: n\np = softmax(x)\nThey add up\nto one:\nsum(p) = 1")
    assert found.draft.statement == "Softmax by rows."
    assert [one.said.because for one in found.lines] == ["They add up to one:"]
    found = derive("x: n\np = softmax(x)\nHere `sum(p) = 1` by rows.")
    assert [one.said.because for one in found.lines] == ["Here `sum(p) == 1` by rows."]
    assert "Here sum(p) = 1 by rows.\n" in found.to_text()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("S: n x m\nA = softmax(B)\nA = S", "line 2: define.A: unknown name 'B'; define"),
        ("A = softmax(S)\nS: n x m\nA = S", ""),
        ("L: function of Y\nx: n\nx = x", "line 1: losses.L: 'Y' is neither given nor defined"),
        ("t: number\nassume t > foo\nt = 1\nt = 1", "line 2: hypotheses[0]: unknown name"),
        ("", "nothing is claimed"),
        ("S: n x m\nY: n x n\nY = S @ S.T * S\nY = S", "line 3: define.Y: '*': an array of"),
        ("S: n x m\nY: n x m\nY = S @ S.T\nY = S", "line 2: shapes.Y: an array of n x n by its"),
        ("x" * (CHARACTERS.most + 1), f"line 1: expression of {CHARACTERS.most + 1} characters"),
    ],
)
def test_faults(text, told) -> None:
    """Each is told with the line of the text."""
    found = derive(text)
    assert [one.at("").startswith(told) for one in found.faults] == [True] * bool(told)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("dS = A @ dA", "don't fit"),
        ("dS = A * B", "unknown name 'B'; define it on a line before, or give its shape"),
        ("dS[i] = 0", "dS has 2 axes, found 1 in brackets"),
        ("dS^n = 0 * B", "unknown name 'B'"),
        ("dS = softmx(A)", "did you mean softmax?"),
        ("dS = A * dA", ""),
    ],
)
def test_lines_that_cannot_be_read(line, told) -> None:
    """They are undecided, and say why and where; the others are judged all the same."""
    found = derive(f"{HOMEWORK}{line}\ndS = dS")
    wrong, right = found.lines[-2:]
    assert (wrong.said.at, right.status) == (16, "proved")
    assert told in wrong.why
    assert wrong.status == ("undecided" if told else "refuted")


@pytest.mark.heavy
def test_files(tmp_path) -> None:
    """A text by any suffix but that of TOML; tables are told by their headings."""
    path = tmp_path / "homework.md"
    path.write_text(HOMEWORK, "utf-8")
    found = find(str(path))
    assert (found.name, found.file) == ("homework", "homework.md")
    assert found.counts == derive(HOMEWORK).counts
    path.write_bytes(b"A = \xff")
    with pytest.raises(Malformed, match="not UTF-8"):
        find(str(path))
    path.write_text('sizes = ["n"]\n[shapes]\nx = ["n"]\n[[lines]]\nline = "x == x"\n', "utf-8")
    assert find(str(path)).proved


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["softmax-backward", "layer-norm-backward", "permutation"])
def test_bundled_derivations_written_by_hand(name) -> None:
    """The same file as a text is the same derivation."""
    held = theory_document(name)
    text = [f"# {held['title']}"]
    text += [
        f"{one}: {' x '.join(map(str, axes)) or 'number'}" for one, axes in held["shapes"].items()
    ]
    text += [f"{one}: function of {of}" for one, of in held.get("losses", {}).items()]
    text += [f"{one}: permutation of {of}" for one, of in held.get("permutations", {}).items()]
    text += [f"assume {one}" for one in held.get("hypotheses", [])]
    text += [f"{key} := {said}" for key, said in held["define"].items()]
    text += [one["line"].replace("==", "=") for one in held["lines"]]
    found = derive("\n".join(text))
    assert found.faults == ()
    assert [one.text for one in found.lines] == [one["line"] for one in held["lines"]]
    assert found.proved


LONG = "\n".join([*(f"x{k} := {k}" for k in range(800)), *["x = x"] * 800])


#: What goes as deep as it is long.
DEEP = ("e^", "√", "-(", "AB", "x**", "Σ_j ", "\\sqrt{", "lim(", "∂/∂x ", "x_", "exp ", "(easy ")


@pytest.mark.heavy
def test_long_texts_are_read_in_no_time() -> None:
    """Work grows with the length, whatever stands in a line."""
    most = CHARACTERS.most - 10
    hard = ["a" + " " * most + "b", "1. " * (most // 3), "S, " * (most // 3), "a:" * (most // 2)]
    hard += [
        "((" * (most // 2) + "=",
        "a = 1, " * (most // 7),
        "any " * (most // 4),
        "x and " * 500,
        "- " * (most // 2),
        "$" * most,
        "\\[" * (most // 2),
        "a_" * (most // 2) + " = 1",
        "d" * most + "/d = x^" + "^" * 9,
        "so " * (most // 3) + "= 1",
        *(f"x = {unit * (most // len(unit) - 9)}" for unit in DEEP),
    ]

    def long() -> None:
        found = read_text(Path("-"), LONG.encode())
        places = [found.line(f"lines[{k}]") for k in range(len(found.document["lines"]))]
        assert places[-1] == len(LONG.splitlines())

    def twice(line: str) -> None:
        with suppress(Malformed):
            read_text(Path("-"), "\n".join([line] * 2).encode())

    assert effort(long) < 10_000
    for line in hard:
        assert effort(partial(twice, line)) < 4_000, line[:20]


PIECES = (
    *("\\frac", "\\sum_", "{", "}", "_", "^", "dp_j", "/", "dz_k", "=", "∂", "A", "(", ")", "lim"),
    *("e^", "δ_ij", "I_", "1_", "\\begin{align}", "\\end{align}", "$$", "\n", "A, p: n x m\n", "p"),
    *(
        "assume ",
        "where ",
        "- ",
        "a) ",
        " and ",
        ", ",
        "L: function of A\n",
        "dA",
        "\\hat{",
        "d/dA",
    ),
)


@given(
    st.text(alphabet="AdSx=:[]()`#*-, \n\t1>'by", max_size=60)
    | st.text(alphabet="AdL x=≈_^{}[]()$\\∂Σ√/&|+-.,\n1i²ᵀ", max_size=60)
    | st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
)
def test_any_text_is_read_or_refused(text) -> None:
    """No text raises anything but :class:`Malformed`; claims have their lines."""
    try:
        found = read_text(Path("-"), text.encode())
    except Malformed:
        return
    for place, _ in enumerate(found.document["lines"]):
        assert 1 <= found.line(f"lines[{place}]") <= len(text.splitlines())


@pytest.mark.parametrize(
    "claim", ["δ_ij = 0", r"\delta_{ij} = 0", "sum_i = 5", "I_n = 5", "oo = 5"]
)
def test_what_has_a_meaning_is_not_defined(claim) -> None:
    """It is no name of the writer's own."""
    assert derive(f"x: n\nS: n x n\nsum(i, x[i]) = sum(k, x[k])\n{claim}").faults
