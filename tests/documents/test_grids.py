"""Arrays printed over several lines are read back, every figure at its place."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from symattn.documents import grids
from symattn.documents.files import article
from symattn.documents.grids import FlatLine, flattened
from symattn.documents.passages import passages
from symattn.documents.text import Span, Text
from symattn.documents.trees import (
    Chain,
    Labelled,
    Opaque,
    PrintedFigure,
    ReadTable,
    Words,
    of_table,
    walk,
)
from symattn.expressions import syntax
from tests.effort import effort

NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|-inf")


def lines(string: str, are_printed: bool = False) -> list[FlatLine]:
    return list(flattened(list(Text.whole(string).lines()), are_printed))


def texts(string: str, are_printed: bool = False) -> list[str]:
    return [str(line.text).strip() for line in lines(string, are_printed)]


def value(line: str) -> list[list[float]]:
    """An array of numbers as it stands on one line."""
    rows = [part.split(",") for part in re.findall(r"\[([^][]+)\]", line)]
    return [[float(entry) for entry in row] for row in rows]


floats = st.floats(-1e6, 1e6).map(lambda x: x + 0.0)
matrices = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(2, 6)),
    elements=st.one_of(floats, st.just(-np.inf), st.integers(-9, 9).map(float)),
)
widths = st.sampled_from([20, 40, 75])


@given(matrices, widths, st.booleans())
def test_what_numpy_prints_is_read_back_exactly(matrix, width, with_name):
    """Whatever NumPy does to lines and digits, the figures are those of the array."""
    with np.printoptions(linewidth=width, floatmode="unique"):
        printed = repr(matrix) if with_name else str(matrix)
    (line,) = texts(printed, True)
    assert np.array_equal(value(line), matrix)


@given(matrices, widths, st.integers(1, 6), st.booleans())
def test_figures_of_prints_know_their_places(matrix, width, precision, suppress):
    """At its place in the file stands what each character of the line stands for."""
    with np.printoptions(linewidth=width, precision=precision, suppress=suppress):
        printed = f"Scores:\n{matrix}\nend"
    first, line, last = lines(printed, True)
    assert (str(first.text), str(last.text)) == ("Scores:", "end")
    found = [(m[0], line.text.span(m.start(), m.end())) for m in NUMBER.finditer(str(line.text))]
    assert [text for text, _ in found] == NUMBER.findall(str(matrix_text(printed)))
    assert [printed[span.start : span.end] for _, span in found] == [text for text, _ in found]


def matrix_text(printed: str) -> str:
    return printed.removeprefix("Scores:\n").removesuffix("\nend")


@given(arrays.arrays(np.float64, st.integers(2, 30), elements=st.floats(-100, 100)), widths)
def test_a_long_vector_is_one(vector, width):
    """A vector that is printed over several lines is one all the same."""
    with np.printoptions(linewidth=width, floatmode="unique"):
        (line,) = texts(str(vector), True)
    assert value(line) == [vector.tolist()]


def torch_print(rows, tail: str) -> str:
    """As PyTorch prints a matrix: columns of one width, commas, what belongs to it behind."""
    cells = [[f"{entry:.4f}" if np.isfinite(entry) else "-inf" for entry in row] for row in rows]
    width = max(len(cell) for row in cells for cell in row)
    shown = [", ".join(cell.rjust(width) for cell in row) for row in cells]
    return "tensor([[" + "],\n        [".join(shown) + "]]" + tail + ")"


@given(
    matrices,
    st.sampled_from(["", ", grad_fn=<SoftmaxBackward0>", ", device='cuda:0', dtype=torch.float64"]),
)
def test_what_pytorch_prints_is_read_back(matrix, tail):
    """The figures in the print of a tensor are those of the line, and nothing else is."""
    printed = torch_print(matrix, tail)
    (line,) = texts(printed, True)
    assert value(line) == [[float(f"{entry:.4f}") for entry in row] for row in matrix]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (
            "Array([[1., 2.],\n       [3., 4.]], dtype=float32)",
            ["[[1., 2.], [3., 4.]]"],
        ),
        (
            "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)",
            ["[[1., 2.], [3., 4.]]"],
        ),
        (
            "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\n"
            "array([[1., 2.],\n       [3., 4.]], dtype=float32)>",
            ["[[1., 2.], [3., 4.]]"],
        ),
        (
            "q = tensor([[1., 2.],\n        [3., 4.]])\nk = tensor([[5., 6.],\n        [7., 8.]])",
            ["q = [[1., 2.], [3., 4.]]", "k = [[5., 6.], [7., 8.]]"],
        ),
        ("[[0.1 ... 0.3]\n ...\n [0.4 ... 0.6]]", ["[[0.1, ..., 0.3], ..., [0.4, ..., 0.6]]"]),
        ("[[2.0/2, 0.0/2],\n  [exp(1), sqrt(2)]]", ["[[2.0/2, 0.0/2], [exp(1), sqrt(2)]]"]),
        ("A = | 1.000  0     |\n    | 0.489  0.511 |", ["A =  [[1.000, 0], [0.489, 0.511]]"]),
        ("[[1e−3 NaN]\n [0 ∞]]", ["[[1e−3, NaN], [0, ∞]]"]),
        ("M = | True False |\n    | True True  |", ["M =  [[True, False], [True, True]]"]),
        ("⎡ 1 0 ⎤\n⎢ 0 1 ⎥\n⎣ 2 2 ⎦", ["[[1, 0], [0, 1], [2, 2]]"]),
        (
            "Wq = [[1, 0], Wk = [[1, 1], Wv = [[2, 0],\n[0, 1]] [0, 1]] [0, 3]]",
            ["Wq =  [[1, 0], [0, 1]]", "Wk =  [[1, 1], [0, 1]]", "Wv =  [[2, 0], [0, 3]]"],
        ),
        ("tf.Tensor([[0\\. 1\\. 0.5]], shape=(1, 3))", ["[[0., 1., 0.5]]"]),
        ("R = [[1.5,\xa0 2.5],\n\xa0[3.5,\u2009 4.5]]", ["R = [[1.5, 2.5], [3.5, 4.5]]"]),
        ("R = tensor([1.5, 2.5]", ["R = [1.5, 2.5]"]),
        (
            "    [1 0]   [1 2]   [1 2]\nQ = [0 1] @ [3 4] = [3 4]",
            ["Q =  [[1, 0], [0, 1]]  @  [[1, 2], [3, 4]]  =  [[1, 2], [3, 4]]"],
        ),
    ],
)
def test_arrays_become_one_line(printed, expected):
    """Brackets, bars and pieces of brackets; beside each other, with what stands between."""
    assert [re.sub(r" +", " ", text) for text in texts(printed)] == [
        re.sub(r" +", " ", text) for text in expected
    ]


@pytest.mark.parametrize(
    ("printed", "array", "rows", "columns"),
    [
        (
            "       I       will  \nI   |  0.39   -0.04 |\nwill| -0.04    0.30 |",
            "[[0.39, -0.04], [-0.04, 0.30]]",
            ("I", "will"),
            ("I", "will"),
        ),
        (
            "dim1 dim2\nplease [ 1.576, 0.732 ]\nman [ 1.788, 1.000 ]",
            "[[1.576, 0.732], [1.788, 1.000]]",
            ("please", "man"),
            ("dim1", "dim2"),
        ),
        (
            "          0         1\n0  0.622459  0.377541\n1  0.377541  0.622459",
            "[[0.622459, 0.377541], [0.377541, 0.622459]]",
            ("0", "1"),
            ("0", "1"),
        ),
        (
            "       cat   sat\ncat  0.60  0.40\nsat  0.40  0.60",
            "[[0.60, 0.40], [0.40, 0.60]]",
            ("cat", "sat"),
            ("cat", "sat"),
        ),
        (
            "         owl   elk\n owl:  [0.21  0.79]\n elk:  [0.36  0.64]",
            "[[0.21, 0.79], [0.36, 0.64]]",
            ("owl", "elk"),
            ("owl", "elk"),
        ),
        ("Head 0: 0.21 ▇▇\nHead 1: 0.79 ▇▇▇▇▇", "[0.21, 0.79]", ("Head 0", "Head 1"), ()),
        (
            "X = [[1, 0],  # cat\n     [0, 1]]  # sat",
            "X = [[1, 0], [0, 1]]",
            ("cat", "sat"),
            (),
        ),
    ],
)
def test_labels_of_rows_and_columns_are_kept(printed, array, rows, columns):
    """Words before numbers and above them are the labels of rows and columns."""
    (line,) = lines(printed)
    assert str(line.text).strip() == array
    ((span, (said, above)),) = line.labels.items()
    assert (said, above) == (rows, columns)
    assert printed[span.start] in "[0123456789"


@pytest.mark.parametrize(
    "prose",
    [
        "please → [1, 0]\nstudy → [0, 2]",
        "scores[0][0] = [1,0] · [1,0] = 1\nscores[0][1] = [1,0] · [0,1] = 0",
        "exp(1.0) = 2.7183\nexp(0.0) = 1.0000",
        "dim 1: 0.422 + 0 = 0.422\ndim 2: 0 + 0.310 = 0.310",
        "Chapter 2\n20 min read\nSection 10 of 75",
        "0.422 × [1, 0] = [0.422, 0]\n0.155 × [0, 2] = [0, 0.310]",
        "Chapter 1\nChapter 2",
        "Head 0: 2\nHead 1: 3",
        "row 2\nloop: [0.21, 0.79]\nfold: [0.21, 0.79]",
    ],
)
def test_lines_that_are_no_array_stay_lines(prose):
    """Vectors with names, equations and numbered headings are not rows of one array."""
    assert texts(prose) == prose.split("\n")


def test_printed_vectors_are_several():
    """A program that prints vectors one after the other prints no matrix; a person who
    writes them under each other does."""
    assert texts("[1. 0.]\n[0. 1.]", True) == ["[1., 0.]", "[0., 1.]"]
    assert texts("[1. 0.]\n[0. 1.]", False) == ["[[1., 0.], [0., 1.]]"]


def cell(text: str):
    figure = PrintedFigure(text, Span(0, len(text)))
    return (Chain((figure,), (), (figure.span,)),)


def word(text: str):
    return (Words(text, Span(0, 0)),)


def test_a_table_of_figures_is_an_array():
    """With labels of rows and columns; a table with other things in it is none."""
    head = (word(""), word("cat"), word("sat"))
    table = ReadTable(head, ((word("cat"), cell("0.6"), cell("0.4")),), Span(0, 9))
    array = of_table(table)
    assert array is not None
    assert (array.rows_said, array.columns_said) == (("cat",), ("cat", "sat"))
    other = ReadTable(head, ((word("cat"), cell("0.6"), word("none")),), Span(0, 9))
    assert of_table(other) is None


@pytest.mark.heavy
def test_hostile_lines_take_no_time():
    """Brackets that never close, rows without end, and labels alone are passed over."""
    for string in (
        "[" * 3_000,
        "[[1, " * 3_000,
        "[1\n" * 3_000,
        "[[1, 0], [[1, 0],\n" * 2_000,
        "[[1, 0], x = [[1, 0],\n[1, 0] [1, 0]\n" * 2_000,
        "| 1 0\n" * 3_000,
        "[1 0]\n" * 2_000,
        "(1 0) a\n" * 2_000,
        "a 1.0 2.0\n" * 2_000 + "a 1.0 x",
        "1 " * 3_000,
        "array(" * 3_000 + "[1, 2]",
        "[1 2]" + ", a=b" * 3_000,
        "⎡1 0⎤\n" * 2_000,
        "-" * 3_000,
        "|" * 3_000,
    ):
        for are_printed in (False, True):
            lines = list(Text.whole(string).lines())
            assert (
                effort(partial(lambda *given: list(flattened(*given)), lines, are_printed)) < 10_000
            )


RULED = "       cat   dog\n----------------\ncat   0.62  0.38\n----------------\ndog   0.39  0.61\n"
NAMED = "word   cat   dog\ncat   0.62  0.38\ndog   0.39  0.61\n"


@pytest.mark.parametrize("printed", [RULED, NAMED])
def test_rules_and_the_name_of_the_labels_are_no_rows(printed):
    """Lines between rows say nothing, nor does what stands above the labels of rows."""
    (line,) = lines(printed, True)
    assert value(str(line.text)) == [[0.62, 0.38], [0.39, 0.61]]
    assert [*line.labels.values()] == [(("cat", "dog"),) * 2]


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("cat [0.62, 0.38]\ndog [0.38]", ["cat [0.62, 0.38]", "dog [0.38]"]),
        ("[0.5 +\n 0.5, 1.5]", ["[0.5 +  0.5, 1.5]"]),
        ("[[1, 2],\n [3, 4] 5]", ["[[1, 2],", "[3, 4] 5]"]),
        ("[a,\n b]", ["[a,", "b]"]),
        ("[[1.5, 2],\n ...,\n [3, 4.5]]", ["[[1.5, 2], ..., [3, 4.5]]"]),
    ],
)
def test_what_is_no_array_stays_in_its_lines(printed, found):
    """Rows that differ, lists with something beside them, and lists without figures."""
    assert texts(printed) == found


def test_words_in_round_brackets_behind_rows_are_their_labels():
    """A row may be followed by its token; round brackets with numbers in them are no label."""
    (line,) = lines("K = [[1, 0],      (salt)\n     [0, 1]]      (pepper)\n")
    assert str(line.text).strip() == "K = [[1, 0], [0, 1]]"
    assert [rows for rows, _ in line.labels.values()] == [("salt", "pepper")]


@pytest.mark.parametrize(
    ("printed", "planes"),
    [
        ("[[[1.5 2.5]\n  [3.5 4.5]]]", ["[[1.5, 2.5], [3.5, 4.5]]"]),
        ("[[[1.5 2.5]]\n\n [[3.5 4.5]]]", ["[[1.5, 2.5], [3.5, 4.5]]"]),
        (
            "[[[1.5 2.5]\n  [3.5 4.5]]\n\n [[5.5 6]\n  [7 8]]]",
            ["[[1.5, 2.5], [3.5, 4.5]]", "[[5.5, 6], [7, 8]]"],
        ),
        (
            "H = [[[[1.5 2.5]\n  [3.5 4.5]],\n\n [[5.5 6]\n  [7 8]]]]",
            ["H[0] = [[1.5, 2.5], [3.5, 4.5]]", "H[1] = [[5.5, 6], [7, 8]]"],
        ),
    ],
)
def test_arrays_of_matrices_are_matrices(printed, planes):
    """Each by its index, where the array has a name; axes of one place are none."""
    source = article(Path("print.md"), f"```output\n{printed}\n```\n".encode())
    pieces = [piece for passage in passages(source) for piece in passage.pieces]
    chains = [piece.members for piece in pieces if isinstance(piece, Chain)]
    trees = [[one for one in chain if not isinstance(one, Opaque)] for chain in chains]
    assert [" = ".join(map(syntax.text, chain)) for chain in trees] == planes


def test_remarks_behind_lines_that_go_on_are_no_part_of_them():
    lines = Text.whole(
        'y = 0.5 * [1, 0] +  # "a"\n    0.5 * [0, 1]    # "b"\n  = [0.5, 0.5]'
    ).lines()
    ((*_, chain),) = (one.pieces for one in grids.passages(list(lines), "code"))
    assert isinstance(chain, Chain)
    assert [syntax.text(one) for one in chain.members[1:] if not isinstance(one, Opaque)] == [
        "0.5 * [1, 0] + 0.5 * [0, 1]", "[0.5, 0.5]",
    ]  # fmt: skip


def test_a_row_of_figures_may_have_a_remark():
    (line,) = flattened(list(Text.whole("cat:  0.3  0.2  0.5  (sum=1)").lines()))
    assert str(line.text) == "cat:  [0.3, 0.2, 0.5]  (sum=1)"


def test_remarks_behind_rows_stay_with_their_numbers():
    """What is said of a row is read after all of them."""
    printed = "owl: [0.21  0.79]  ← elk by 79%\nelk: [0.36  0.64]"
    assert texts("     owl elk\n" + printed) == ["[[0.21, 0.79], [0.36, 0.64]]", "← elk by 79%"]


def test_arrays_keep_their_labels_wherever_they_stand_in_a_formula():
    """In a transpose too, and in the arguments of a function."""
    printed = "K = softmax(-[[1, 0],  # cat\n [0, 1]].T)"
    (passage,) = grids.passages(list(Text.whole(printed).lines()), "code")
    chain = passage.pieces[0]
    assert isinstance(chain, Chain)
    labels = [part.rows_said for part in walk(chain.members[1]) if isinstance(part, Labelled)]
    assert labels == [("cat", ""), (), ()]
