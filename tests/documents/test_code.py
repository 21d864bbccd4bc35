"""What Python in articles computes and prints: read, never run."""

from functools import partial

import pytest

from symattn.documents.article import Block, BlockPart
from symattn.documents.code import Codes
from symattn.documents.text import Text
from symattn.documents.trees import Chain, Labelled, Opaque, Passage, PrintedFigure, Words
from symattn.expressions import syntax
from tests.effort import effort


def read(string: str, language: str = "python", codes: Codes | None = None) -> list[Passage]:
    block = Block("code", (BlockPart("code", Text.whole(string)),), language=language)
    return list((codes or Codes()).passages(block))


def written(passage: Passage) -> str:
    """A passage in short: words as they are, members in the one grammar."""
    shown = []
    for piece in passage.pieces:
        if isinstance(piece, Chain):
            members = (
                f"?{m.text}" if isinstance(m, Opaque) else syntax.text(m) for m in piece.members
            )
            shown.append(" = ".join(members))
        else:
            assert isinstance(piece, Words)
            shown.append(f"'{piece.text}'")
    return "; ".join(shown)


def lines(string: str, language: str = "python", codes: Codes | None = None) -> list[str]:
    return [written(passage) for passage in read(string, language, codes)]


def test_steps_of_attention_are_read_as_steps():
    """Assignments become chains in the one grammar, whatever library they are written with."""
    expected = ["S = Q @ K.T / sqrt(d_k)", "A = softmax(S)", "Y = A @ V"]
    for program in (
        "S = Q @ K.T / np.sqrt(d_k)\nA = scipy.special.softmax(S, axis=-1)\nY = A @ V",
        "S = np.dot(Q, K.transpose()) / d_k ** 0.5\n"
        "A = np.exp(S) / np.sum(np.exp(S), axis=1, keepdims=True)\nY = A.dot(V)",
        "S = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(d_k)\n"
        "A = F.softmax(S, dim=-1)\nY = torch.matmul(A, V)",
        "S = np.matmul(Q, np.transpose(K)) / (d_k ** (1/2))\n"
        "A = torch.softmax(S, dim=1)\nY = np.einsum('ij,jk->ik', A, V)",
        "S = jnp.einsum('qd,kd->qk', Q, K) / jnp.sqrt(d_k)\nA = jax.nn.softmax(S)\nY = A @ V",
    ):
        assert lines(program) == expected


def test_a_stable_softmax_is_a_softmax():
    """A shift of whole rows is no difference, in a function or in several steps."""
    inside = (
        "def soft(z, axis=-1):\n    e = np.exp(z - np.max(z, axis=axis, keepdims=True))\n"
        "    return e / e.sum(axis=axis, keepdims=True)\nA = soft(S)"
    )
    assert lines(inside) == ["A = softmax(S)"]
    apart = "E = np.exp(S - S.max(axis=1, keepdims=True))\nA = E / E.sum(axis=1, keepdims=True)"
    assert lines(apart)[-1] == "A = softmax(S)"


def test_a_softmax_over_the_wrong_axis_is_read_as_it_is():
    """What a function is called doesn't hide what its body computes."""
    program = "def softmax(x):\n    return np.exp(x) / np.sum(np.exp(x), axis=0)\nA = softmax(S)"
    assert lines(program) == ["A = exp(S) / colsum(exp(S))[0]"]


def test_a_function_is_followed_where_it_is_called():
    """Its parameters are the arguments, its own names those of steps, what it prints in order."""
    program = (
        "def attention(q, k, v, mask=None):\n"
        "    d_k = q.shape[-1]\n"
        "    s = q @ k.T / np.sqrt(d_k)\n"
        "    if mask is not None:\n"
        "        s = s.masked_fill(mask == 0, float('-inf'))\n"
        "    w = F.softmax(s, dim=-1)\n"
        "    print('Weights:', w)\n"
        "    return w @ v, w\n"
        "out, weights = attention(Q, K, V)\n"
        "masked, _ = attention(Q, K, V, mask=M)\n"
    )
    assert lines(program) == [
        "d_k = cols(Q)",
        "s = Q @ K.T / sqrt(d_k)",
        "w = softmax(s)",
        "'Weights:'; w",
        "out = w @ V; weights = w",
        "'Weights:'; softmax(mask(Q @ K.T / sqrt(cols(Q)), M))",
        "masked = softmax(mask(Q @ K.T / sqrt(cols(Q)), M)) @ V"
        "; _ = softmax(mask(Q @ K.T / sqrt(cols(Q)), M))",
    ]


def test_functions_are_known_in_later_blocks():
    """A notebook defines in one cell what it calls in another."""
    codes = Codes()
    read("def project(x, w):\n    return x @ w", codes=codes)
    assert lines("Q = project(X, W)", codes=codes) == ["Q = X @ W"]


def test_figures_know_where_they_stand():
    """Every figure of an array has its place, in a file with letters of several bytes too."""
    program = 'name = "é√"; X = np.array([[0.50, -1], [2e-3, .5]])  # ✓\n'
    (chain,) = [p for p in read(program)[-1].pieces if isinstance(p, Chain)]
    array = chain.members[1]
    assert isinstance(array, Labelled)
    figures = [f for row in array.items for f in syntax.inside(row) if isinstance(f, PrintedFigure)]
    assert [program[f.span.start : f.span.end] for f in figures] == ["0.50", "-1", "2e-3", ".5"]
    assert [f.text for f in figures] == ["0.50", "-1", "2e-3", ".5"]


def test_comments_behind_rows_are_their_labels():
    """``# cat`` behind a row says whose row it is."""
    (passage,) = read("X = np.array([\n    [1, 0],  # cat\n    [0, 1],  # sat\n])\n")
    (chain,) = passage.pieces
    assert isinstance(chain, Chain)
    array = chain.members[1]
    assert isinstance(array, Labelled)
    assert array.rows_said == ("cat", "sat")


def test_what_is_random_is_unknown():
    """Numbers that nobody knows are no quantities, and no figures."""
    (passage,) = read("W = np.random.randn(4, 4)")
    (chain,) = passage.pieces
    assert isinstance(chain, Chain)
    member = chain.members[1]
    assert isinstance(member, Opaque)
    assert member.figures == ()


def test_transcripts_have_code_and_output():
    """Prompts tell statements from what they print."""
    texts = read(">>> A = np.array([[1, 2],\n...               [3, 4]])\n>>> A @ A.T\narray([[5]])")
    assert [passage.kind for passage in texts] == ["code", "code", "output"]
    assert [written(p) for p in texts[:2]] == ["A = [[1, 2], [3, 4]]", "A @ A.T"]


def test_what_is_no_python_goes_by_lines():
    """Notation that Python happens to read is not Python for that."""
    for line in ("Q = X  [3, 4]", "Shape: [3, 4] = [seq_len, d_model]", "QK^T = Q @ K^T", "√4 = 2"):
        chains = [piece for p in read(line, "") for piece in p.pieces if isinstance(piece, Chain)]
        assert chains
        assert not any(chain.is_code for chain in chains)


def test_comments_of_what_is_no_python_hold_arrays():
    """Their marks are no part of the rows, whatever stands between these."""
    program = "# w = tensor([[0.5, 1.5],\n\n  # [2.5, 3.5]])\n\n  w.fill_(u: int"
    assert lines(program) == ["w = [[0.5, 1.5], [2.5, 3.5]]", "'w.fill_(u: int'"]


def test_results_in_comments_go_on_with_their_statement():
    """``# -> 0.5``, ``# [0.5, 0.5]`` and ``#> 0.5`` behind a statement say what it gives; a size
    says nothing of the kind."""
    assert lines("w = A[0, 1]  # -> 0.1863") == ["w = A[0, 1] = 0.1863"]
    assert lines("w = softmax(x)  # [0.62, 0.38]") == ["w = softmax(x) = [0.62, 0.38]"]
    assert lines("S = Q @ K.T  # (3, 3)")[0].startswith("S = Q @ K.T; ")


def test_a_function_that_lost_its_indentation_is_one():
    """Copies of pages lose the blanks before lines."""
    program = (
        "def softmax(x):\ne = np.exp(x)\nreturn e / e.sum(axis=1, keepdims=True)\nA = softmax(S)"
    )
    assert lines(program) == ["A = softmax(S)"]


@pytest.mark.heavy
def test_hostile_programs_are_read_in_no_time():
    """Deep, long and unclosed code is passed over."""
    for program in (
        "x = " + "(" * 50_000,
        "x = " + "-" * 50_000 + "1",
        "x = " + "1 + " * 50_000 + "1",
        "x = y" + ".T" * 50_000,
        '"""' * 20_001,
        "x = [" * 20_000,
        "def f(x):\n    return f(f(x)) + f(x)\ny = f(f(f(1)))",
        "".join(f"x{i + 1} = x{i} + x{i}\n" for i in range(3000)),
        "def f(x):\n" + "    x = x + x\n" * 300 + "    return x\ny = f(z)",
        "".join(f"def f{i}(x):\n    y = f{i - 1}(x)\n    return f{i - 1}(y)\n" for i in range(300))
        + "f299(1)",
        "x = np.ones((1000, 1000))\n" * 500,
        "for i in range(10**9):\n    print(i)\n" * 100,
        "X = np.eye(2)\nfor i in range(5000):\n    X = X @ X + X",
        "x = 3\nfor i in range(3000):\n    x = x * x",
        "x = [1]\n" + "x = [x, x]\n" * 40 + "y = np.array(x)",
        "x = [1]\nx.append(x)\ny = np.array(x)",
        "i = np.triu_indices(16000, 1)\nS[i] = 0",
        "a = " + "1 x " * 20_000 + "1",
        ", ".join(f"v{i}" for i in range(1500)) + " = " + ", ".join(map(str, range(1500))),
    ):
        assert effort(partial(Codes().passages, _block(program))) < 20_000


def _block(program: str) -> Block:
    return Block("code", (BlockPart("code", Text.whole(program)),), language="python")


def test_loops_that_fill_an_array_are_one_step():
    """Entry by entry or row by row, what a loop computes is said of the whole."""
    program = (
        "X = np.array([[1, 0], [0, 1.5]])\n"
        "n = len(X)\n"
        "S = np.zeros((n, n))\n"
        "for i in range(n):\n"
        "    for j in range(n):\n"
        "        S[i, j] = np.dot(X[i], X[j]) / math.sqrt(2)\n"
        "A = np.zeros_like(S)\n"
        "for i, row in enumerate(S):\n"
        "    A[i] = softmax(S[i])\n"
        "    print(f'row {i}:', A[i])\n"
    )
    assert lines(program)[2:] == [
        "S = ?np.zeros((n, n))",
        "S = X @ X.T / sqrt(2)",
        "A = ?np.zeros_like(S)",
        "A = softmax(S)",
        "'row '; 0; ':'; A[0]",
        "'row '; 1; ':'; A[1]",
    ]


def test_a_loop_that_fills_differently_is_not_one_step():
    """Entries that are computed in two ways are told one by one."""
    program = (
        "S = np.zeros((2, 2))\nfor i in range(2):\n    for j in range(2):\n"
        "        S[i, j] = Q[i] @ K[i]\n"
    )
    assert lines(program)[:2] == ["S = ?np.zeros((2, 2))", "S[0, 0] = Q[0] @ K[0]"]
    assert len(lines(program)) == 5


def test_comprehensions_do_to_all_what_they_do_to_each():
    """A softmax without any library is one."""
    program = (
        "def softmax(xs):\n    exps = [math.exp(x - max(xs)) for x in xs]\n"
        "    total = sum(exps)\n    return [e / total for e in exps]\n"
        "w = softmax([1.0, 0.5])\n"
        "words = {'cat': [1, 0], 'sat': [0, 1]}\n"
        "X = np.array([words[name] for name in ['sat', 'cat']])\n"
    )
    assert lines(program)[0] == "w = softmax([1.0, 0.5])"
    assert lines(program)[-1] == "X = [[0, 1], [1, 0]]"


def test_masks_hide_scores():
    """Filled, chosen, added or set in place: what hides scores is a mask of the grammar."""
    for program, expected in (
        ("S = S.masked_fill(M == 0, float('-inf'))", "S = mask(S, M)"),
        ("S = np.where(M, S, -np.inf)", "S = mask(S, M)"),
        ("S = torch.where(M == 1, -torch.inf, S)", "S = mask(S, 1 - M)"),
        ("S[M == 0] = -np.inf", "S = mask(S, M)"),
        ("S[np.triu_indices(4, k=1)] = -np.inf", "S = causal(S)"),
        ("m = torch.tril(torch.ones(T, T))\nS = S.masked_fill(m == 0, -inf)", "S = causal(S)"),
        ("S = S + (1 - M) * -1e9", "S = S + (1 - M) * -1e9"),
    ):
        assert lines(program)[-1] == expected
    assert lines("m = np.triu(np.full((2, 2), -np.inf), k=1)") == ["m = [[0, -inf], [0, 0]]"]


def test_entries_that_are_set_leave_no_old_array():
    """An array that is made to be filled is not what it was made of, unless it stays so."""
    assert lines("S = np.zeros((1, 2))\nS[0, 1] = 2") == ["S = ?np.zeros((1, 2))", "S[0, 1] = 2"]
    assert lines("b = np.zeros((1, 2))\nY = X + b")[1] == "Y = X + [[0, 0]]"
    assert lines("b = np.empty((1, 2))\nY = X + b")[1] == "Y = ?X + b"
    (line,) = lines("S[:, 1] = -np.inf")
    assert line.startswith("S = ?")


def test_shapes_are_sizes_of_quantities():
    """``shape``, ``size`` and ``len`` are rows and columns, whatever their numbers are."""
    assert lines("n, d = X.shape") == ["n = rows(X); d = cols(X)"]
    assert lines("S = Q @ K.T / K.size(-1) ** 0.5") == ["S = Q @ K.T / sqrt(cols(K))"]
    assert lines(
        "S = tf.matmul(Q, K, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(K)[-1], tf.float32))"
    ) == ["S = Q @ K.T / sqrt(cols(K))"]


def test_claims_of_programs_are_chains():
    """What a program asserts is said of its quantities."""
    assert lines("assert np.allclose(A.sum(axis=1), 1.0)") == ["rowsum(A)[:, 0] = 1.0"]
    assert lines("np.testing.assert_allclose(Y, [[1, 2]], atol=1e-3)") == ["Y = [[1, 2]]"]


def test_arrays_filled_in_functions_hide_nothing_else():
    """What a function fills for itself leaves the statements before its call as they are."""
    program = (
        "def rows(x):\n    out = np.zeros((2, 2))\n    out[0] = softmax(x[0])\n    return out\n"
        "def head(x):\n    q = x @ W\n    return rows(q) @ x\n"
        "Y = head(X)\n"
    )
    assert lines(program)[0] == "q = X @ W"


def test_names_in_nested_targets_are_no_longer_what_they_were():
    """``(a, b), c = ...`` assigns a and b too, though what is not followed."""
    for program in ("n = 4\n(n, m), k = f(X)\nS = X[:n]", "n = 4\nn, *m = f(X)\nS = X[:n]"):
        assert "X[:4]" not in lines(program)[-1]
    assert lines("n = 4\nS = X[:n]")[-1] == "S = X[:4]"


def test_calls_in_a_tuple_are_followed_once():
    """``a, b = f(x), g`` shows what f prints a single time."""
    program = "def f(x):\n    print('input', x)\n    y = x @ W\n    return y\na, b = f(X), Z[q]\n"
    assert [line for line in lines(program) if "input" in line] == ["'input'; X"]


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("print('A:', A)", "'A:'; A"),
        ("print(f'A: {A:.3f} and {B!r}')", "'A: '; A; ' and '; B"),
        ("print('A: ' + str(A))", "'A: '; A"),
        ("print('A: ' + str(A) + ' of ' + repr(B))", "'A: '; A; ' of '; B"),
        ("print('%.2f of %s' % (A, B))", "A; ' of '; B"),
        ("print('%.2f' % A)", "A"),
        ("print('{} of {}'.format(A, B))", "A; ' of '; B"),
        ("print(*A)", "A"),
        ("print(np.round(A, 2))", "A"),
        ("print(A.round(2))", "A"),
        ("print(round(A[0, 1], 2))", "A[0, 1]"),
        ("print(np.array2string(A, precision=3))", "A"),
        ("print(A.detach().numpy())", "A"),
        ("print(A.tolist(), A.item())", "A; A"),
        ("print(pd.DataFrame(A, index=words))", "A"),
        ("print(np.around(A @ V, decimals=3))", "A @ V"),
        ("display(A)", "A"),
        ("pprint(A)", "A"),
        ("A.round(3)", "A"),
        ("A, B", "A; B"),
        ("A @ V", "A @ V"),
        ("print(mystery(A))", "?mystery(A)"),
        ("name = 'A'\nprint(name, A)", "'A'; A"),
    ],
)
def test_what_a_program_shows(program, shown):
    """Words and values in the order in which they are printed, rounded or not."""
    assert lines(program)[-1] == shown


@pytest.mark.parametrize(
    "program",
    ["print()", "print(' ')", "print(None)", "plot(A)", "import numpy as np",
     "'words'", "rows.append(A)", "softmax = nn.Softmax(dim=-1)", "class A:\n    x = 1"],
)  # fmt: skip
def test_what_shows_nothing(program):
    """Blanks, truth values, what gives nothing back, and what only names a thing."""
    assert lines(program) == []


@pytest.mark.parametrize(
    ("program", "chain"),
    [
        ("assert A == B", "A = B"),
        ("assert A.sum() == 1", "total(A) = 1"),
        ("torch.allclose(A, B)", "A = B"),
        ("A == B", "A = B"),
        ("np.isclose(A[0, 0], 0.5)", "A[0, 0] = 0.5"),
        ("assert np.allclose(A, mystery(B))", "A = ?mystery(B)"),
    ],
)
def test_what_a_program_compares(program, chain):
    """Two sides of which one is known are a claim."""
    assert lines(program) == [chain]


def test_what_is_compared_and_unknown_claims_nothing():
    """Of two unknown sides neither says anything of the other."""
    assert lines("assert mystery(A) == secret(B)") == []
    assert lines("assert A > 0") == []


@pytest.mark.parametrize(
    ("program", "last"),
    [
        ("S.masked_fill_(M == 0, float('-inf'))", "S = mask(S, M)"),
        ("S.masked_fill_(~M, -torch.inf)", "S = mask(S, M)"),
        ("S = S.masked_fill(M == 0, torch.finfo(S.dtype).min)", "S = mask(S, M)"),
        ("S = S.masked_fill(M.bool(), -1e9)", "S = S * (1 - M) + M * -1e9"),
        ("S = torch.where(M.logical_not(), -torch.inf, S)", "S = mask(S, M)"),
        ("S[np.tril_indices(3, k=-1)] = -np.inf", "S = ?-np.inf"),
        ("m = np.triu(np.ones_like(S), k=1)\nS = np.where(m == 1, -np.inf, S)", "S = causal(S)"),
        ("m = torch.ones(T, T).tril()\nS = S.masked_fill(m[:T, :T] == 0, -inf)", "S = ?"),
        ("q = nn.Softmax(dim=-1)\nA = q(S)", "A = softmax(S)"),
        ("A = nn.Softmax(dim=0)(S)", "A = softmax(S.T).T"),
        ("A = nn.Softmax(0)(S)", "A = softmax(S.T).T"),
        ("Y = F.scaled_dot_product_attention(Q, K, V, is_causal=True)",
         "Y = softmax(causal(Q @ K.T / sqrt(cols(Q)))) @ V"),
        ("S = tf.matmul(Q, K, transpose_a=True)", "S = Q.T @ K"),
        ("S = tf.transpose(Q, perm=[1, 0])", "S = Q.T"),
        ("S = Q.permute(0, 1)", "S = Q"),
        ("Y = x.T if flag else x", "Y = ?x.T if flag else x"),
        ("Y = my_softmax(mystery(S), 1)", "Y = ?my_softmax(mystery(S), 1)"),
        ("def my_softmax(x):\n    return secret(x)\nA = my_softmax(S)", "A = softmax(S)"),
        ("def other(x):\n    return secret(x)\nA = other(S)", "A = ?other(S)"),
        ("B: list = [1, 2]\nC: int", "B = [1, 2]"),
        ("d = dict(a=1)\nA = S[d]", "A = ?S[d]"),
        ("A = S.max(dim=1)[0]", "A = ?S.max(dim=1)[0]"),
        ("E = np.exp(S - S.max(1)[:, None])\nA = E / E.sum(1)[:, None]", "A = softmax(S)"),
        ("m = S.max(dim=-1, keepdim=True)[0]\nE = torch.exp(S - m)\n"
         "A = E / E.sum(-1, keepdim=True)", "A = softmax(S)"),
    ],
)  # fmt: skip
def test_what_only_some_libraries_write(program, last):
    """Functions that NumPy lacks, or calls otherwise, mean what their manuals say."""
    assert lines(program)[-1].startswith(last)


@pytest.mark.parametrize(
    "program",
    [
        "def f(a):\n    return a\nB = f(X, K)",
        "def f(a):\n    return a\nB = f(b=X)",
        "def f(a, b):\n    return a\nB = f(X)",
        "def f(a):\n    return f(a)\nB = f(X)",
        "B = X.items()",
        "B = mystery[K] + 1",
    ],
)
def test_calls_that_fail_come_to_nothing(program):
    """What Python would refuse, or what gives nothing back, is no value."""
    assert all(line.startswith("B = ?") for line in lines(program))


def test_the_program_of_a_module_is_followed():
    """What stands behind the question for its name runs; entries of what is unknown don't."""
    assert lines("if __name__ == '__main__':\n    S = Q @ K.T") == ["S = Q @ K.T"]
    assert lines("S = frame.values @ K.data") == ["S = frame @ K"]
    assert lines("mystery(S)[0] = 1") == []


def test_comments_apart_are_read_apart():
    """Comments on neighbouring lines go together, others don't; an empty one says nothing."""
    program = "# [[1, 2],\n#  [3, 4]]\nA = B @ C  #\n\n# 0.5\n\n\n# 0.25\n"
    assert lines(program) == ["[[1, 2], [3, 4]]", "A = B @ C", "0.5", "0.25"]


def test_a_name_that_is_made_of_itself_keeps_its_shape():
    """Loops run over the rows of scores that are masked, or divided, under their old name."""
    program = (
        "S = np.array([[1, 0], [0, 2]])\nkeep = np.array([True, False])\n"
        "S = S.masked_fill(~keep, -np.inf)\nfor row in S:\n    print([round(c, 2) for c in row])"
    )
    assert lines(program)[-2:] == ["S[0]", "S[1]"]


def test_a_comprehension_in_a_print_shows_what_each_turn_does():
    """Its words and values one after the other; of what a condition chooses as well."""
    shown = "print(*(f'{t} {S[i, 0]:.2f}' for i, t in enumerate(['x', 'y'])))"
    assert lines(f"S = np.eye(2)\n{shown}")[-1] == "'x'; S[0, 0]; 'y'; S[1, 0]"
    chosen = shown.replace("['x', 'y'])", "['x', 'y']) if i")
    assert lines(f"S = np.eye(2)\n{chosen}")[-1] == "'y'; S[1, 0]"


def test_a_loop_of_different_rows_is_told_row_by_row():
    """Rows that are computed differently have no one expression."""
    program = (
        "X = np.array([[1, 2], [3, 4]])\nS = np.zeros((2, 2))\n"
        "for i in range(2):\n    S[i] = X[i] * i\n"
    )
    assert lines(program)[2:] == ["S[0] = X[0] * 0", "S[1] = X[1] * 1"]


def test_very_long_sums_of_words_end():
    """Words joined by the hundred are shown as far as they are followed."""
    assert 0 < len(read("print(" + " + ".join(["'a'"] * 90) + ")")) < 90


def test_numbers_that_are_drawn_have_a_shape():
    """A loop over random rows is followed; their numbers are known once they are printed."""
    program = "X = rng.normal(0, 1, (2, 2))\ng = np.array([x @ x for x in X])"
    entries = "concat(reshape(X[0] @ X[0], 1), reshape(X[1] @ X[1], 1))"
    assert lines(program)[-1] == f"g = {entries}"
    for other in ("rng.multivariate_normal(m, C, (2, 2))", "f(rng.normal(0, 1, (2, 2)))"):
        assert "?" in lines(f"X = {other}\ng = np.array([x @ x for x in X])")[-1]


@pytest.mark.parametrize(
    ("program", "last"),
    [
        ("n = 3\nX = np.array([[1, 2]])\nY = X\nwhile n > 1:\n    Y = Y + X\n    n -= 1",
         "Y = Y + X + X"),
        ("X = np.array([[1, 2]])\nif X[0, 1] > 1:\n    Y = X * 2\nelse:\n    Y = X", "Y = X * 2"),
        ("X = np.array([[1, 2], [3, 4]])\nm = np.tril(np.ones((len(X), len(X))))\n"
         "S = np.where(m == 0, -np.inf, X)", "S = causal(X)"),
        ("X = np.array([[1, 2], [3, 4]])\nX[:, 1] = -np.inf", "X = mask(X, [[1, 0], [1, 0]])"),
        ("look = nn.Embedding(2, 2)\nlook.weight.data.copy_(torch.tensor([[1., 2.], [3., 4.]]))\n"
         "x = look(torch.tensor([1, 0]))", "x = [[3., 4.], [1., 2.]]"),
        ("lin = nn.Linear(2, 1)\nwith torch.no_grad():\n"
         "    lin.weight.copy_(torch.tensor([[1., 2.]]))\n    lin.bias.zero_()\n"
         "X = torch.tensor([[1., 2.], [3., 4.]])\ny = lin(X)", "y = X @ [[1., 2.]].T"),
        ("class Head:\n    def __init__(self, W):\n        self.W = W\n    def forward(self, x):\n"
         "        return x @ self.W\nh = Head(W)\nq = h.forward(X)", "q = X @ W"),
        ("X = np.array([[1, 2], [3, 4]])\nT = np.zeros((2, 2))\n"
         "for i in range(2):\n    T[i] = softmax(X[i] @ X.T)", "T = softmax(X @ X.T)"),
        ("ax.plot(S)\nT = S * 2", "T = S * 2"),
        ("def look(x):\n    return mystery(x) + 1\nT = look(S)\nY = S * 2", "Y = S * 2"),
    ],
)  # fmt: skip
def test_what_only_a_run_tells(program, last):
    """Branches that numbers decide, layers whose weights are set, masks as large as the program
    knows, and methods of classes; what only looks at a value leaves it."""
    assert lines(program)[-1].startswith(last)


def test_expressions_that_are_too_deep_are_no_formulas():
    """An expression that loops nest beyond what readers go into is one that nobody knows."""
    lines_of = [f"x = X\nfor i in range({turns}):\n    x = -(x * 2)\ny = x" for turns in (9, 900)]
    assert [lines(program)[-2].startswith("x = ?") for program in lines_of] == [False, True]
    inside = "def f(x):\n" + "    x = -(x * 2)\n" * 300 + "    return softmax(x)\ny = f(X)"
    assert lines(inside)[-1] == "y = softmax(x)"
