"""Programs of articles, read as their text and run as what they are: NumPy has the last word."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.solution.solution import solve

GIVEN = """X = np.array([[1, 2, 0.5], [0, -1, 3]])
K = np.array([[1, 1, 0], [2, 0, 1]])
v = np.array([1, 2, 4])
M = np.array([[1, 0], [1, 1]])
"""
X = np.array([[1, 2, 0.5], [0, -1, 3]])
K = np.array([[1, 1, 0], [2, 0, 1]])
v = np.array([1, 2, 4])
M = np.array([[1, 0], [1, 1]])


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def final(program: str) -> np.ndarray | None:
    """What is read of a program's result, None where that is left open."""
    text = f"```python\n{GIVEN}{program}\nfinal = result * 1\n```\n"
    reading = read(article(Path("post.md"), text.encode()))
    if "final" not in reading.steps:
        return None
    return np.asarray(solve(case_of(reading))["final"].nearest("float64"))


def computed(program: str) -> np.ndarray:
    """What Python and NumPy make of it."""
    known = {"np": np, "softmax": softmax, "X": X.copy(), "K": K.copy(), "v": v, "M": M}
    exec(program, known)
    return np.asarray(known["result"], dtype=float)


@pytest.mark.sampled(21)
@pytest.mark.parametrize("text", READ := [
    "X[..., 0]", "X[0, ...]", "X[..., :2]", "X[::-1]", "X[:, ::2]", "X[:, -1]", "X[-1, -2]",
    "X[1:][0]", "X[0][1:]", "X.T[0]", "v[1:]", "v[-1] * X", "v.T @ v",
    "X.T.T", "np.swapaxes(X, 0, 1)", "X.transpose(1, 0)",
    "np.transpose(X, (0, 1))", "np.transpose(X, axes=(1, 0))", "np.transpose(X, axes=(0, 1))",
    "X @ v", "v @ X.T", "np.dot(v, v) * X", "np.matmul(X, v)", "X * v", "X + v",
    "np.einsum('ij,kj->ki', X, K)", "np.einsum('ji,kj->ik', X, M)",
    "sum(X)", "sum(v)", "sum(X[0])", "np.sum(X, 1)", "X.sum(0)", "X.sum(axis=-2)",
    "X.sum(axis=(1,))", "v.sum(0)", "v.mean()", "X.mean(0)",
    "len(v) * X", "np.size(X) * v", "v.shape[0] * X", "np.shape(v)[0] * X", "X.shape[0] * v",
    "np.shape(X)[1] * X",
    "np.where(X > 0, X, 0)", "np.where(X == 0, X, 5)", "np.where(X <= 0.5, 1, 2) * X",
    "np.where(M, M, 0)", "np.array([0, -np.inf]) > 0",
    "X * (X > 0)", "(X != 1) * X", "(X @ K.T) * (M == 1)", "(X @ K.T) * (1 - M)",
    "softmax(np.where(M == 0, -np.inf, X @ K.T))", "np.where(M, X @ K.T, 0)",
    "np.where(M == 0, -1e9, X @ K.T)", "softmax(X @ K.T + np.where(M == 0, -np.inf, 0))",
    "softmax(X @ K.T + np.where(~(M == 1), -np.inf, 0))",
    "softmax(np.where(np.logical_not(M), -np.inf, X @ K.T))",
    "softmax(np.where(np.tril(np.ones((2, 2))).astype(bool), X @ K.T, -np.inf))",
    "np.array([[1, 2], [3, 4]]).astype(int) * M", "np.array([1, 0], dtype=int) * M",
    "np.zeros((2, 3), float) + X", "np.array([1, 2, 3], np.float64) * v",
    "np.diag([1, 2, 3]) * v", "np.full((2, 2), 0.5) * M", "np.full(3, 2) * v",
    "np.full((2, 3), fill_value=2.0) * X", "np.ones(shape=(2, 3)) + X", "np.arange(1, 4) * v",
    "np.arange(0, 6, 2) + v", "np.arange(6).reshape(2, -1) + X", "X.reshape(2, 3)",
    "np.zeros_like(v) + v", "np.array([v, v])", "np.vstack([v, v])", "np.hstack([v, v])",
    "np.tril(np.ones((2, 2)), -1) * M", "np.triu(np.array([[1, 2], [3, 4]])) * M",
    "np.concatenate([X, K], 1)", "7 // 2 * X", "2 ** 3 * X", "1_000 * X", "float(2) * X",
    "X[0] ** 2", "np.array(X.tolist()) * 2", "(X, K)[1]", "[X, K][-1]", "{'a': X}['a']",
    "X if len(X) > 1 else K", "X if not len(X) else K", "X if X is None else K",
    "np.array([x * 2 for x in v])", "np.array([softmax(row) for row in X])",
    "np.array([x for x in {'a': [1, 2], 'b': [3, 4]}.values()])",
    "np.exp(v) / np.exp(v).sum()", "np.exp(X) / np.sum(np.exp(X))",
    "np.exp(X) / np.sum(np.exp(X), axis=0)", "np.exp(v - v.max()) / np.exp(v - v.max()).sum()",
    "X / X.sum(axis=1)[:, None]", "X / X.sum(axis=1)[:, np.newaxis]",
    "X / X.sum(axis=1).reshape(-1, 1)", "np.exp(1) * X", "np.e * X",
    "K ** 2 * (X + 2) ** -2", "len([1, 2]) * X", "np.array([-x for x in v])",
    "np.array([x - v[0] for x in v])", "np.array([[True, False], [True, True]]) * M",
    "X if X is not None and K is not None else K", "X if X is None or M is None else K",
    "X if not (X is None) else K", "np.full((2, 2), 0.5) * 2 * M", "np.ones((2, 3)) / 2 * X",
    "-len(X) * X", "X[-len(X)]", "len(M.T) * X", "X - X.sum(axis=0)", "X.max()",
    "(M == 1).astype(int) * M", "M.astype(int) * 2", "np.where(np.array([1, 0, 1]), 1, 2) * X",
    "np.tri(2) * M", "np.tri(2, k=-1) * M", "np.eye(2, k=1) * M",
    "np.where(np.tri(2) == 1, X @ K.T, -1e9)",
    "np.array([0.5, 2, 1e1]) * (np.array([0.5, 2, 1e1]) >= 2)",
    # The functions of steps, by the names that libraries have for them.
    "np.maximum(X, 0)", "np.minimum(X, K)", "np.clip(X, 0, 1)", "np.clip(X, None, 1)",
    "np.sin(X) + np.cos(X)", "np.sign(X)", "np.outer(v, v)", "X.var(axis=1)", "np.var(X)",
    "np.std(X, axis=0, ddof=1)", "X.std(axis=1, keepdims=True)", "np.linalg.norm(X)",
    "np.linalg.norm(X, axis=1, keepdims=True)", "np.linalg.norm(v)",
    # What is put together, and other shapes.
    "np.stack([v, v], axis=1)", "np.vstack([X, K])", "np.vstack([v, X[0]])",
    "np.column_stack([v, X[0]])", "np.concatenate([X, K])", "np.concatenate([v, X[0]])",
    "np.array([v[0] + 1, 2])", "np.array([X @ row for row in K])", "X.flatten()",
    "X.reshape(3, 2)", "X.reshape(-1)", "np.reshape(X, (6, 1))", "np.expand_dims(v, 0)",
    "np.expand_dims(v, axis=-1)", "v[:, None] * v[None, :]", "v[np.newaxis] @ X.T",
], ids=READ)  # fmt: skip
def test_expressions_are_what_numpy_computes(text):
    """What is read of an expression has NumPy's value, and NumPy's shape."""
    found, expected = final(f"result = {text}"), computed(f"result = {text}")
    assert found is not None
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("text", OPEN := [
    # What a function is given beside what is understood changes what it computes.
    "np.average(X, axis=1, weights=v)", "np.sum(X, axis=1, where=X > 0)", "np.eye(2, 3)",
    "np.matmul(X, v, X)", "softmax(X, temperature=2)",
    "F.scaled_dot_product_attention(X, K, K, scale=1.0)", "torch.add(X, K, alpha=2)",
    "F.scaled_dot_product_attention(X, K, K, dropout_p=0.5)",
    "F.scaled_dot_product_attention(X, K, K, M)", "nn.Softmax(2.5)(X)",
    # Fractions are lost.
    "X.astype(int)", "np.array([0.5, 1.7], dtype=int)", "X.astype('int64')", "X.astype(bool)",
    # A score is no mask.
    "np.where(X @ K.T == 0, -np.inf, X @ K.T)", "(X @ K.T) * (X @ K.T > 0)",
    # Lists of Python are joined and repeated.
    "[1, 2] + [3, 4]", "[1, 2] * 2", "2 * [1, 2]",
    # Neither the grammar nor any rule has these.
    "sum(v, 1)", "max(1, 2) * X", "max(X)", "np.vdot(M, M)", "X % 2",
    "X // 2", "7 // 0", "np.round(X)", "0x10 * X",
    "X * 1j", "X and K", "X[[1, 0]]", "X[::0]", "(X, K)[2]", "X[:, None]",
    "np.arange(4).reshape(3, -1)", "np.arange(1, 4, 0)", "np.arange()", "np.zeros(())",
    "np.ones((2, 2, 2))", "np.full((2, 2), X)", "np.diag(M)", "np.tril(v)", "np.zeros_like(Z)",
    "np.einsum('ij->ji', X)", "np.einsum('ij,ij->ij', X, K)", "np.einsum(X, K)",
    "np.einsum('ij,jk->il', X, M)", "np.concatenate(X, axis=1)",
    "np.swapaxes(X, 0, 0)", "X.reshape(4, -1)", "X.reshape(-1, -1)",
    "np.linalg.norm(X, 1)", "X.var()", "np.expand_dims(X, 0)", "np.stack([X, K])",
    "np.transpose(X, (0, 2, 1))", "X.sum(axis=2)", "X.size(3)",
    "float('nan')", "float('0.5')", "-float('inf')", "np.pi * X", "X.unknown", "X.unknown()",
    "np.dot(X)", "X @ Unknown(K)", "X(K)", "f(*X)", "f(**X)", "{1: X}[1]", "{**X}", "[*X]",
    "[x for x in X if x]", "np.where(X > 0, np.inf, X)", "X ** 9", "X ** v", "2 ** X", "X ** 0",
    "X < K", "X < v < K", "np.inf * X", "f'{X}'", "lambda x: x", "~X @ K", "X if M else K",
    "[row / sum(row) for row in X]", "[x @ y for x, y in zip(X, Z)]", "[x for x, y in v]",
    "np.random.randn(2, 3)", "np.array([X, K])", "np.array([[1], 2])",
    "np.array([])", "'text'", "None", "...", "{'a': X}['b']", "{'a': X}",
    "np.where(v[0] > 0, X, K)", "np.array(X)(K)", "[x * v for x in v]", "[0 for x in range(9**9)]",
    "[x for x, y in X.items()]", "[-x @ K for x in X]", "np.array([Z, [1, 2, 3]])",
    "np.where(K @ X.T, 1, 2)", "(X @ K.T).astype(int)",
    "np.zeros((2, 3))(1)", "[[1, 2], [3, 4]] + [[1, 2]]", "np.exp(-np.inf) * X",
], ids=OPEN)  # fmt: skip
def test_what_is_not_understood_is_left_open(text):
    """Nothing is made of an expression whose meaning is not known to the letter."""
    is_open_or_right(f"result = {text}")


def is_open_or_right(program: str) -> None:
    """A program's result is left open, or read as what Python makes of it."""
    found = final(program)
    if found is not None:
        np.testing.assert_allclose(found, computed(program), rtol=1e-12, atol=1e-12)


def adds_in_a_loop():
    result = X
    for _ in range(3):
        result = result + K
    return result


def adds_in_place_in_a_loop():
    result = X.copy()
    for _ in range(2):
        result = result * 2
    return result + K


def numbers_decide():
    result = X
    if len(X) == 2:
        result = K
    return result


def numbers_decide_otherwise():
    result = X.copy()
    if X.shape[1] < 3:
        result = K
    else:
        result *= 2
        result += K
    return result


def a_try_goes_on():
    try:
        result = X
    except ValueError:
        result = K
    else:
        result = result + 1
    finally:
        result = result * 2
    return result


def items_with_names():
    words = {"cat": [1, 2], "sat": [3, 4]}
    rows = [words[name] for name in ["sat", "cat"]]
    return np.array(rows)


def values_of_names():
    words = {"cat": 1, "sat": 2, "mat": 3}
    return np.array([x for x, y in zip(words.values(), v, strict=False)])


def items_of_names():
    words = {"cat": [1, 2], "sat": [3, 4]}
    return np.array([row for name, row in words.items()])


def names_by_number():
    result = X
    for i, row in enumerate(K, start=1):
        result = result + i * row
    return result


def columns_by_rows():
    result = np.zeros((2, 2))
    for i in range(2):
        result[i] = softmax(X[i] @ K.T)
    return result * 1 if False else softmax(X @ K.T)


def rows_of_sums():
    result = np.zeros((2, 3))
    for i in range(2):
        result[i] = -X[i] * 2 + K[i]
    return result


def rows_by_a_matrix():
    W = np.array([[1, 0], [2, 1], [0, 1]])
    result = np.zeros((2, 2))
    for i in range(2):
        result[i] = np.exp(X[i] @ W)
    return result


def function_with_defaults():
    def f(a, b=2, *, c=1):
        return a * b + c

    return f(X, c=3)


def function_by_names():
    def f(a, k):
        with np.errstate(all="ignore"):
            return a @ k.T

    return f(k=K, a=X)


def function_of_itself():
    def f(n):
        if n == 0:
            return X
        return f(n - 1) + K

    return f(2)


def function_with_a_loop():
    def f(a):
        for _ in range(2):
            a = a + K
        return a

    return f(X)


def function_that_shadows():
    def f(a):
        x = a * 2
        return x

    x = X
    y = f(K)
    return x + y


def function_that_fills():
    def rows(a):
        out = np.zeros((2, 3))
        for i in range(2):
            out[i] = softmax(a[i])
        return out

    def twice(a):
        return rows(a)

    return twice(X) * 2


def one_name_for_two():
    a = b = X
    a = a + 1
    return a * b


def two_in_a_row():
    q, k = X * 2, K
    return q @ k.T


def hides_by_numbers():
    s = X @ K.T
    s[M == 0] = -np.inf
    return softmax(s)


def hides_what_a_mask_leaves():
    s = X @ K.T
    s[~M.astype(bool)] = -np.inf
    return softmax(s)


def adds_what_hides():
    hides = np.triu(np.full((2, 2), -np.inf), k=1)
    return softmax(X @ K.T + hides)


def hides_where_a_triangle_is():
    hides = np.triu(np.ones((2, 2)), k=1).astype(bool)
    s = X @ K.T
    s[hides] = -np.inf
    return softmax(s)


def joins_what_it_appends():
    parts = []
    for h in range(1, 3):
        half = X * h
        parts.append(half)
    return np.hstack(parts)


def leaves_a_loop():
    result = X
    for i in range(3):
        if i == 0:
            continue
        if i == 2:
            break
        result = result + K
    return result


def a_function_called_twice():
    def rows(a):
        out = a * 2
        for _ in range(2):
            out = out + a
        return out

    return rows(X) + rows(K)


def a_number_of_a_list():
    sizes = [2, 3]
    rows, columns = sizes
    return np.ones((rows, columns)) * X


def a_sum_of_a_starred_list():
    first = [1, 2]
    row = [*first, 3]
    return np.array(row) * v


PROGRAMS: list[Callable[[], object]] = [
    adds_in_a_loop, adds_in_place_in_a_loop, numbers_decide, numbers_decide_otherwise,
    a_try_goes_on, items_with_names, values_of_names, items_of_names, names_by_number,
    columns_by_rows, rows_of_sums, rows_by_a_matrix, function_with_defaults, function_by_names,
    function_of_itself, function_with_a_loop, function_that_shadows, function_that_fills,
    one_name_for_two, two_in_a_row, hides_by_numbers, hides_what_a_mask_leaves, 
    a_number_of_a_list, a_sum_of_a_starred_list, adds_what_hides, hides_where_a_triangle_is,
    joins_what_it_appends, leaves_a_loop, a_function_called_twice,
]  # fmt: skip


@pytest.mark.sampled(18)
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_are_what_they_compute(program):
    """A program that is run and one that is read come to the same numbers."""
    lines = inspect.getsource(program).split("\n", 1)[1]
    text = dedent(lines).replace("\nreturn ", "\nresult = ")
    found, expected = final(text), np.asarray(program())
    assert found is not None
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("text", CHANGED := [
    "result = X @ K.T\nresult[0, 1] += 5",
    "result = X.copy()\nresult[0] = v",
    "result = X.copy()\nresult[:, 0] = 0",
    "result = X @ K.T\nresult[result < 1] = 0",
    "result = X\nresult = np.round(result)",
    "result = X\nif v[0] > 0:\n    result = K",
    "result = X.copy()\nif v[0] > 0:\n    result[0, 0] = 2",
    "result = np.zeros((2, 2))\nif v[0] > 0:\n    result[0, 0] = 2",
    "result = X\nn = 3\nwhile n:\n    result = result + K\n    n -= 1",
    "result = X\nfor _ in range(int(v[0])):\n    result = K",
    "result = np.zeros((2, 2))\nfor i in range(int(v[0])):\n    result[i] = 1",
    "result = X\nmatch v[0]:\n    case 1:\n        result = K",
    "x, y = X, K\nx, y = y, x\nresult = y",
    "x = X\nx, y = x + 1, x * 2\nresult = y",
    "def f(a):\n    while True:\n        a = a + 1\n        break\n    return a\nresult = f(X)",
    "def f(a):\n    if v[0] > 0:\n        a = a + 1\n    return a\nresult = f(X)",
    "def f(a):\n    b = a.copy()\n    b[0, 0] = 7\n    return b\nresult = f(X)",
    "def f(a, *b):\n    return a\nresult = f(X, K)",
    "def f(a):\n    if v[0] > 0:\n        return a * 2\n    return a\nresult = f(X)",
    "result = X\nfor i in range(2):\n    if v[0] > 0:\n        break\n    result = K",
    "result = X @ K.T\nresult.sort()", "result = X @ K.T\nnp.fill_diagonal(result, 0)",
    "result = X @ K.T\nrow = result[0]\nrow += 1",
    "result = X @ K.T\ndef f(a):\n    a -= 1\nf(result)",
    "result = X\nfor k in range(2):\n    for i in range(2):\n        result[i] = result[i] * 2",
], ids=CHANGED)  # fmt: skip
def test_what_nobody_knows_any_more_is_left_open(text):
    """A name that a program may have changed is not what it was before."""
    computed(text)
    is_open_or_right(text)


@pytest.mark.parametrize("program", [
    "m = np.tril(np.ones((2, 2)))\nm[m == 0] = -np.inf\nm[m == 1] = 0\n"
    "result = softmax(X @ K.T + m)",
    "m = np.full((2, 2), -np.inf)\nm = np.triu(m, 1)\nresult = softmax(X @ K.T + m)",
    "e = np.exp(X @ K.T)\nresult = (e.T / np.sum(e, axis=-1)).T",
])  # fmt: skip
def test_masks_are_followed_that_are_set_by_themselves(program):
    assert final(program) == pytest.approx(computed(program))


def notebook_of(*cells: tuple[str, str]) -> bytes:
    """A notebook of code and what it printed, which stands before it in the file."""
    written: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": printed}],
            "source": source,
        }
        for source, printed in cells
    ]
    return json.dumps({"cells": written, "metadata": {}, "nbformat": 4}).encode()


def bound_in(*cells: tuple[str, str]) -> dict[str, object]:
    """What is read of a notebook: what was printed, by what it is of."""
    reading = read(article(Path("post.ipynb"), notebook_of(*cells)))
    return {claim.text: claim.printed for claim in reading.claims}


SALES = (
    "sales = load('shop.xlsx')\nprices = load('prices.xlsx')\nprint(sales)\nprint(prices)",
    "[[ 3. 14.]\n [ 7.  2.]]\n[2.5 6.5]\n",
)


def test_what_is_printed_of_a_name_is_its_value_from_there_on():
    shares = (
        "def scaled(x):\n    return (x - x.min()) / (x.max() - x.min())\n\n"
        "print(scaled(sales))\nprint(prices @ sales)",
        "[[0.0833 1.    ]\n [0.4167 0.    ]]\n[53.  48. ]\n",
    )
    assert bound_in(SALES, shares) == {
        "(sales - min(sales)) / (max(sales) - min(sales))": (("0.0833", "1."), ("0.4167", "0.")),
        "prices @ sales": ("53.", "48."),
    }


def test_a_name_that_is_given_anew_is_no_longer_what_was_printed():
    again = ("sales = load('other.xlsx')\nprint(prices @ sales)", "[53.  48. ]\n")
    assert not bound_in(SALES, again)


def test_what_is_shown_better_than_it_can_be_computed_is_taken_as_shown():
    bound = bound_in(
        ("x = load()\nw = load()\nprint(x)\nprint(w)", "[[0.3 1.2]\n [2.1 0.4]]\n[0.7 1.6]\n"),
        ("s = x @ w\nprint(s)", "[2.18364215 2.07718231]\n"),
        ("t = s / 4\nprint(t)", "[0.54591054 0.51929558]\n"),
    )
    assert bound == {"t[0]": "0.54591054", "t[1]": "0.51929558"}


def test_the_result_of_each_call_is_its_own():
    """One function called with a mask, without, and once more with its own result."""
    drawn = "[[0.6 1.3]\n [0.2 0.9]]\n[[1.1 0.4]\n [0.3 0.8]]\n"
    calls = (
        "def mixed(a, b, mask=None):\n    s = a @ b.T\n    if mask is not None:\n"
        "        s = s + mask\n    return s @ b, s\n\n"
        "one, s_one = mixed(q, k, mask=np.ones((2, 2)))\nother, s_other = mixed(q, k)\n"
        "q = other\nlast, s_last = mixed(q, k)\nprint(one)\nprint(other)\nprint(last)",
        "[[3.064 2.648]\n [2.272 2.056]]\n[[1.664 1.448]\n [0.872 0.856]]\n"
        "[[3.148 2.29 ]\n [1.716 1.278]]\n",
    )
    assert bound_in(("q = draw()\nk = draw()\nprint(q)\nprint(k)", drawn), calls) == {
        "one": (("3.064", "2.648"), ("2.272", "2.056")),
        "other": (("1.664", "1.448"), ("0.872", "0.856")),
        "last": (("3.148", "2.29"), ("1.716", "1.278")),
    }


def test_what_a_program_computes_otherwise_is_no_product_of_its_neighbours():
    """The weights are a softmax that nobody can work out; by chance they are the mask of
    the table above."""
    bound = bound_in(
        ("s = model()\nw = softmax(s, axis=1)\nm = pattern()", ""),
        ("print(m)\nprint(table())", "[[1 0]\n [1 1]]\n[[1.     0.2417]\n [0.3813 0.6187]]\n"),
        ("w = softmax(s / 2, axis=1)\nprint(w)", "[[1.     0.    ]\n [0.3813 0.6187]]\n"),
    )
    assert not bound


def test_an_array_that_only_names_its_entries_leaves_its_numbers():
    text = """```python
K = np.array([[0.6, 1.3], [0.2, 0.9]])
v = np.array([2, 1])
```

$$K = \\begin{bmatrix} K_{1,1} & K_{1,2} \\\\ K_{2,1} & K_{2,2} \\end{bmatrix}$$

```python
y = K @ v
y = y / 2
print(y)
```

```output
[1.25 0.65]
```
"""
    claims = read(article(Path("post.md"), text.encode())).claims
    assert [(claim.text, claim.printed) for claim in claims] == [("y_2", ("1.25", "0.65"))]


def test_a_name_that_a_program_leaves_unknown_is_not_taken_for_another():
    bound = bound_in(
        ("S = np.array([[0.5, 1.5], [2.0, 1.0]])\nattn = softmax(S, axis=1)\nprint(attn)",
         "[[0.2689 0.7311]\n [0.7311 0.2689]]\n"),
        ("outer_attention_weights = model(S)\nprint(outer_attention_weights.sum())", "2.0\n"),
    )  # fmt: skip
    assert bound == {"attn": (("0.2689", "0.7311"), ("0.7311", "0.2689"))}


def test_what_is_computed_of_what_was_changed_is_not_what_it_was():
    """W is changed at a place that is not followed: the same lines give something else then."""
    passed = "y = sigmoid(W @ x)\nprint('y:', y)"
    bound = bound_in(
        ("def sigmoid(x):\n    return 1.0 / (1.0 + np.exp(-x))\n\n"
         "W = np.array([[0.5, -1.2], [0.8, 0.3]])\nx = np.array([1.5, -0.5])\n"
         f"{passed}", "y: [0.794130 0.740775]\n"),
        ("k = int(np.argmin(y))\nW[k, 1] = W[k, 1] + step * x[1]", ""),
        (passed, "y: [0.794130 0.742444]\n"),
    )  # fmt: skip
    assert bound == {"y": ("0.794130", "0.740775")}


@pytest.mark.parametrize("label", ["", "Result: ", "→ ", "Salida: "])
def test_a_value_alone_in_a_comment_is_what_the_statement_before_it_is_of(label):
    """Behind a word for it or none, wrong figures and all; behind other words it may be
    anything."""
    text = """```python
x = np.array([5.9, 4.8, 4.1])
w = softmax(x)
# {}[0.6675, 0.2222, 0.1203]
y = w * 2
```
"""

    def bound(said):
        claims = read(article(Path("post.md"), text.format(said).encode())).claims
        return [(claim.text, claim.printed) for claim in claims]

    assert bound(label) == [("w", ("0.6675", "0.2222", "0.1203"))]
    assert bound("unlike the older ") == []
