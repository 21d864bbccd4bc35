"""Single promises of the sheets: what is said of a step where it is so, and only there."""

from __future__ import annotations

import pytest

import symattn
from symattn.auditing.audit import audit
from symattn.calculus.judging import derived
from symattn.cases.case import Case
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.printers import blocks as b
from symattn.sheets import case_sheet, derivation, marked, redpen
from symattn.sheets.presentation import Presentation
from symattn.sheets.steps import hints
from symattn.solution.solution import solve

from .pages import of, paragraphs, plain


def said(case: Case | str) -> str:
    """The paragraphs of a walkthrough."""
    return "\n".join(paragraphs(case_sheet.sheet(solve(case))))


def test_own_functions_are_defined_where_they_are_called_first() -> None:
    """Once, with those that they call; as it is written where letters can't say it."""
    own = {
        "mish(x)": "x * tanh(softplus(x))",
        "raised(x, n)": "gated(mish(x), how='tanh')**n",
        "gated(x, how='none')": "gelu(x, approximate=how)",
        "attend(Q, K)": "softmax(mish(Q) @ K.T)",
    }
    steps = {"A": "attend(X, X)", "H": "mish(A) + raised(X, 2)"}
    case = symattn.case("own", {"X": [[1, 2], [0, 1]]}, steps, functions=own)
    defined = [line for line in paragraphs(case_sheet.sheet(solve(case))) if "Defined" in line]
    assert len(defined) == 2
    mish = r"\operatorname{mish}\left(x\right) = x \odot \operatorname{tanh}"
    assert r"\operatorname{attend}\left(Q, K\right) = \operatorname{softmax}" in defined[0]
    assert mish in defined[0]
    assert mish not in defined[1]
    assert "raised(x, n) = gated(mish(x), how='tanh')**n" in defined[1]
    assert 'gated(x, how="none") = gelu(x, approximate=how)' in defined[1]


def test_a_kink_inside_of_an_own_function_is_told() -> None:
    """The case's function has none of its own."""
    own = {"cut(x)": "2 * relu(x)"}
    text = said(symattn.case("cut", {"X": [[1, -2], [0, 1]]}, {"Y": "cut(X)"}, functions=own))
    assert "Where relu has no derivative, its gradient is taken to be 0 at 0." in text


def test_equal_sums_say_whether_their_exponentials_are_the_same() -> None:
    """Of two rows, in whichever order, or by chance of others."""
    steps = {"S": "log(X)", "A": "softmax(S)"}
    for row, words in (
        ([3, 1], "both rows hold the same exponentials"),
        ([2, 2], "equal, from other exponentials"),
        ([2, 3], ""),
    ):
        text = said(symattn.case("sums", {"X": [[1, 3], row]}, steps))
        sentences = ("both rows hold the same exponentials", "equal, from other exponentials")
        assert [sentence for sentence in sentences if sentence in text] == (
            [words] if words else []
        )


@pytest.mark.parametrize(("step", "is_taken"), [("X[0] * 2", True), ("X * 2", False)])
def test_the_gradient_of_an_index_is_explained_where_there_is_one(step, is_taken) -> None:
    """What scatter means is said before it is written."""
    case = symattn.case("index", {"X": [[1, 2], [3, 4]]}, {"Y": step})
    assert ("where it was taken from, and 0 elsewhere" in said(case)) == is_taken


def test_what_is_0_because_a_gradient_is_stands_in_one_sentence() -> None:
    """All that flows on from it, each once."""
    (sentence,) = (
        x
        for x in said("cat-sat-mat-padding").split("\n")
        if "is 0, so is every entry of these:" in x
    )
    for name in "TSKQ":
        assert sentence.count(rf"\mathrm{{d}}{name} = ") == 1
    doubled = symattn.case("doubled", {"X": [[1, 2]]}, {"S": "X * 2", "Y": "S * S"})
    assert "is 0, so is every entry of these:" not in said(doubled)


def test_a_number_has_its_name_without_indices() -> None:
    """Of a number nothing is taken; of what has a subscript entries stand beside brackets."""
    solution = solve(symattn.case("names", {"W_Q": [[1, 2]], "d_k": 4}, {"Y": "W_Q / sqrt(d_k)"}))
    shown, quantities = Presentation(solution, 4), solution.program.quantities
    number, entry = (shown.entry_name(quantities[name], 0, 1) for name in ("d_k", "W_Q"))
    assert (syntax.shown(number), f.latex(number)) == ("d_k", "d_{k}")
    assert (syntax.shown(entry), f.latex(entry)) == ("W_Q[0, 1]", "(W_{Q})_{0,1}")


def test_figures_that_are_worked_out_have_hints() -> None:
    """Each entry of the rows that are shown has one; given numbers need none."""
    solution = solve("cat-sat-mat")
    shown, quantities = Presentation(solution, 4), solution.program.quantities
    assert hints(shown, quantities["X"], 3) == ()
    for name in ("S", "A"):
        for count in (2, 3, 1):
            made = hints(shown, quantities[name], count)
            assert [len(row) for row in made] == [3] * count
            assert all(hint.lines for row in made for hint in row)


def test_reasons_are_told_apart() -> None:
    """Definitions, assumptions and lines, each kind by its word, with a semicolon between."""
    tables = {
        "sizes": ["n"],
        "shapes": {"x": ["n"], "t": [], "a": []},
        "hypotheses": ["a == t"],
        "define": {"y": "x * t"},
        "lines": [
            {"line": "t * a == t * t", "by": ["a == t"]},
            {"line": "y[i] * a == x[i] * t * a", "by": ["y", "a == t", "1"]},
        ],
    }
    made = derivation.sheet(derived("reasons", tables))
    (table,) = (table for table in of(made, b.Table) if plain(table.header[1]) == "line")
    first, second = (plain(row[2]) for row in table.rows)
    assert first.startswith(" (assumption a = t)")
    assert second.startswith(" (definition of y; assumption a = t; line 1)")


def test_what_a_derivation_shows_stands_above_it() -> None:
    """Short equations side by side, long ones each by itself; what is no equation as it is."""
    tables = {"sizes": ["n"], "shapes": {"x": ["n"], "t": []}}
    long = " + ".join(f"t**{k} * exp(x[i])" for k in range(2, 7))
    for line, are_beside in (
        ("t == t", [True]),
        (f"{long} == {long.replace('**2', ' * t')}", [False, False]),
    ):
        texts = [line, line.replace("t", "2 * t", 1)]
        lines = [{"line": text} for text in texts]
        document = {**tables, "lines": lines, "conclusions": texts}
        made = derivation.sheet(derived("shows", document))
        before = made.blocks[: made.blocks.index(of(made, b.Heading)[0])]
        assert [x.columns > 1 for x in before if isinstance(x, b.Equations)] == are_beside
    document = {**tables, "lines": [{"line": "t * t"}], "conclusions": ["t * t"]}
    made = derivation.sheet(derived("no equation", document))
    assert of(made, b.Equations)[0].lines == (("", "", r"t\,t"),)


def test_the_sign_of_an_expected_value_is_explained() -> None:
    """In the table of what signs mean, where it is written."""
    tables = {"sizes": ["n"], "shapes": {"u": ["n"], "t": []}, "random": ["u"]}
    for line, is_explained in (("expect(t) == t", True), ("t == t", False)):
        made = derivation.sheet(derived("signs", {**tables, "lines": [{"line": line}]}))
        meanings = [plain(row[3]) for table in of(made, b.Table)
                    for row in table.rows if len(row) == 4]  # fmt: skip
        assert ("expected value" in meanings) == is_explained


POST = r"""# Head

Some words.

$$X = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}$$

$$Y = X X^\top = \begin{bmatrix} 5 & 11 \\ 11 & 25 \end{bmatrix}$$
"""


def test_an_article_that_is_read_whole_leaves_nothing_open(tmp_path) -> None:
    """Its sheet says how it was read, and has no table of what is left."""
    path = tmp_path / "post.md"
    path.write_text(POST)
    made = redpen.sheet(audit(path))
    assert "How the article was read" in [plain(x.text) for x in of(made, b.Heading)]
    assert all(table.rows for table in of(made, b.Table))


def test_lines_of_an_article_look_like_what_they_are(tmp_path) -> None:
    """Headings and words are set as such, all else as it is typed."""
    path = tmp_path / "post.md"
    path.write_text(POST)
    kinds = [line.kind for line in marked.page(audit(path)).lines]
    assert kinds == ["heading", "code", "words", "code", "code", "code", "code"]


def test_weights_without_a_closed_form_have_names() -> None:
    """Each exponential of a row, and their sum, may have a closed form that their quotient lacks:
    the sheet was refused."""
    case = symattn.case(
        "drawn",
        {"b": ["7.25", "exp(1)", "12", "0.1"]},
        {
            "T": "softmax(tanh(b) - (b @ b.T))",
            "Q": "concat(T) / 0.5",
            "W": "concat(softmax(T), -Q)",
        },
    )
    assert case_sheet.sheet(case, detail="full").blocks
