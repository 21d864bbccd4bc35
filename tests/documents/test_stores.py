"""What a program does that is not followed leaves no older meaning of a name standing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symattn.documents.article import Block, BlockPart
from symattn.documents.code import Codes
from symattn.documents.running.machine import Machine
from symattn.documents.text import Text
from symattn.documents.trees import Chain, Opaque
from symattn.expressions import syntax

START = """import numpy as np
X = np.array([[1.0, 2.0], [3.0, 0.5]])
S = np.array([[2.0, 1.0], [0.0, 4.0]])
T = np.array([[0.25, 3.0], [1.0, 2.0]])
def double(m):
    return m * 2
def shifted(m):
    m -= m.max()
    return m
def spoil(m):
    view = m.T
    view[0] = 9
def around(m):
    spoil(m)
    return m + 1
def fresh(m):
    m = m.copy()
    m[0] = 3
    return m
def filled(m):
    out = np.zeros((2, 2))
    for i in range(2):
        out[i] = m[i] * 2
    return out
def outer(m):
    global S
    S = m * 3
def early(m):
    if m[0, 0] > 1:
        return m + 1
    return m * 2
"""

#: Statements that are followed, or partly, or not at all, about any three names.
STATEMENTS = [
    "{a} = {b} @ {c}", "{a} = {b} + {c}", "{a} += {b}", "{a} = {b}", "{a} = {b}.copy()",
    "{a} = {b}.T", "{a} = double({b})", "{a} = shifted({b})", "{a} = filled({b})",
    "{a} = fresh({b})", "{a} = around({b})", "{a} = early({b})", "spoil({a})", "outer({a})",
    "{a} = {b} * 2 if len({b}) == 2 else {c}", "{a} = {b} * 2 if {b}[0, 0] > 1 else {c}",
    "for i in range(2):\n    {a}[i] = {b}[i] * 2", "for i in range(2):\n    {a} = {a} + {b}",
    "for i in range(2):\n    {a} = {a} + 1\n    {b} = {a} * 2",
    "for i in range(2):\n    {a} = {b} * i\n    {b} = {c} + 1",
    "for row in {a}:\n    row += 1", "for row in {a}:\n    row = row + 1",
    "{a} = np.zeros((2, 2))\nfor i in range(2):\n    for j in range(2):\n"
    "        {a}[i, j] = {b}[i] @ {c}[j]",
    "{a} = np.zeros((2, 2))\nfor i in range(2):\n    {a}[i] = {b}[i] * 2\n{a}[0] = 5",
    "{a} = np.zeros((2, 2))\nfor i in range(2):\n    for k in range(2):\n"
    "        {a}[i] += {b}[i] * 2",
    "for k in range(2):\n    for i in range(2):\n        {a}[i] = {a}[i] * 2",
    "for i in range(2):\n    {a}[i] = {a}[i - 1] * 2", "{a} = np.zeros((2, 2))\n{a}[1, 0] = 3",
    "for i in range(2):\n    {a}[i] = {b}[i] * 2\n    {c} = {a} + 1",
    "for i in range(2):\n    if i == 1:\n        break\n    {a} = {b} + 1",
    "for i in range(2):\n    if {b}[0, 0] > 1:\n        break\n    {a} = {b} + 1",
    "for i in range(2):\n    if i == 0:\n        continue\n    {a} = {a} + {b}",
    "{a} = np.array([[1, 2], [3, 4]])\n{b} = {a} @ {a}.T\n{c} = np.zeros_like({b})\n"
    "for i in range(2):\n    {c}[i] = {b}[i] / 4",
    "{a} = np.zeros((2, 2), dtype=int)\nfor i in range(2):\n    {a}[i] = {b}[i] / 4",
    "{a} = np.zeros_like({b})\nfor i in range(2):\n    {a}[i] = {b}[i] / 4",
    "{a}[0] = 5", "{a}[:, 0] = 3", "{a}.T[0] = 3", "{a}[0][1] = 3", "{a}[...] = {b}",
    "{a}[{b} > 1] = 0", "{a}[{a} < 1] = -2", "{a}.sort()", "{a}.fill(3)", "{a}[0].sort()",
    "np.fill_diagonal({a}, 7)", "np.copyto({a}, {b})", "np.exp({b}, out={a})",
    "np.add({b}, {c}, out={a}[:])", "{a} = np.round({b})", "{a} = np.flip({b})",
    "if {b}[0, 0] > 1:\n    {a} = {c}", "if {b}[0, 0] > 1:\n    {a}.sort()",
    "if {b}[0, 0] > 1:\n    {a}[0] = 1\nelse:\n    {c} = {a} + 1",
    "if len({b}) == 2:\n    {a} = {c}", "while {a}[0, 0] < 3:\n    {a} = {a} + 4",
    "with np.errstate(all='ignore'):\n    {a} = np.flip({b})",
    "with np.errstate(all='ignore'):\n    {a} = {b} + {c}",
    "try:\n    {a} = np.flip({b})\n    {a}[7] = 1\nexcept IndexError:\n    {c} = {b} * 2",
    "match len({b}):\n    case 2:\n        {a} = {c}", "[{b} for {b} in {a}]",
    "{a}, {b} = {b}, {a}", "{a}, {b} = {b} + 1, {c} * 2", "{a} = {b} = {c} + 1",
    "({a}, *rest), {b} = ({c}, 1), {c}", "np.flip({a} := {b} + 1)", "{a} = ({b} := {c} + 1) * 2",
    "{a} = np.random.default_rng(1).random((2, 2))", "np.random.default_rng(1).shuffle({a})",
    "m = {a} > 1\n{a} = {a} + 2\n{b} = np.where(m, {c}, 0)",
    "m = {a}.max(axis=1, keepdims=True)\n{a} = {a} + 1\n{b} = {a} - m",
    "pair = [{a}, {b}]\n{a} = {a} + 1\n{c} = pair[0] * 2",
    "rows = []\nfor row in {a}:\n    rows.append(row * 2)\n{b} = np.array(rows)",
    "double = spoil\ndouble({a})\ndef double(m):\n    return m * 2",
]  # fmt: skip


def chains(program: str) -> list[Chain]:
    """What is read of a program."""
    block = Block("code", (BlockPart("code", Text.whole(program)),), language="python")
    passages = Codes().passages(block)
    return [piece for one in passages for piece in one.pieces if isinstance(piece, Chain)]


def value(tree, known):
    """The value of a tree over names; None where nobody knows it."""
    if isinstance(tree, Opaque):
        return None
    parts = [value(part, known) for part in syntax.inside(tree)]
    if any(part is None for part in parts):
        return None
    match tree:
        case syntax.Name(name):
            return known.get(name)
        case syntax.Literal(text):
            return np.float64(text)
        case syntax.Array():
            return np.array(parts)
        case syntax.Negative():
            return -parts[0]
        case syntax.Transposed():
            return parts[0].T
        case syntax.Indexed(_, keys):
            return parts[0][keys] if all(isinstance(key, int) for key in keys) else None
        case syntax.Binary("@"):
            return parts[0] @ parts[1]
        case syntax.Binary(op):
            x, y = parts
            return x + y if op == "+" else x - y if op == "-" else x * y if op == "*" else x / y
        case syntax.Call("max"):
            return parts[0].max()
    return None


def told(program):
    """What the chains of a program, one after the other, say that its names are."""
    known: dict[str, Any] = {}
    for chain in chains(program):
        match chain.members:
            case (syntax.Indexed(), _):
                continue
            case (*names, last) if names:
                known |= dict.fromkeys(
                    (getattr(one, "name", "") for one in names), value(last, known)
                )
    return known


@given(
    st.lists(
        st.tuples(
            st.sampled_from(STATEMENTS),
            st.permutations("XST"),
        ),
        min_size=1, max_size=4,
    )
)  # fmt: skip
@example([("{a} = {b}", "STX"), ("{a} += {b}", "SXT")])
@example([("{a} = filled({b})", "SXT"), ("{a} = filled({b})", "TSX")])
def test_what_is_told_of_a_program_is_what_it_computes(statements):
    """Whatever its statements do to names, to arrays that they share, and to arguments of
    functions: a name that is said to have a meaning at the end has it."""
    lines = [text.format(**dict(zip("abc", names, strict=True))) for text, names in statements]
    agrees(START + "\n".join(lines) + "\n")


def agrees(program):
    """Whether what is told of a program is what Python makes of it."""
    real: dict[str, Any] = {}
    with np.errstate(all="ignore"):
        try:
            exec(program, real)
        except (ValueError, IndexError, TypeError):
            return
        for name, array in told(program).items():
            if name in "XST" and array is not None:
                np.testing.assert_allclose(array, real[name], rtol=1e-9, err_msg=program)


@pytest.mark.sampled(42)
@pytest.mark.parametrize("names", ["XST", "STX", "TXS", "SXT"])
@pytest.mark.parametrize("text", STATEMENTS)
def test_what_is_told_of_a_statement_is_what_it_computes(text, names):
    """The same of each statement by itself."""
    agrees(START + text.format(**dict(zip("abc", names, strict=True))))


#: Statements after which nobody knows what S is.
UNFOLLOWED = [
    "S = mystery(X)", "S += mystery(X)", "S = np.empty((2, 2))\nfor i in n:\n    S[i] = X[i]",
    "S[i] = 3", "S.sort()", "S.zero_()", "S.mul_(mystery())", 
    "np.fill_diagonal(S, 0)", "torch.exp_(S)", "nn.init.ones_(S)", "random.shuffle(S)",
    "np.copyto(S, X)", "mystery(S)", "np.exp(X, out=S)", "T = S.pop()", "S.x = 3", "del S",
    "def f(a):\n    a[0] = 5\nf(S)", "def f(a):\n    b = a\n    b += 5\n    return a\nT = f(S)",
    "def f():\n    S[0] = 1\nT = f()",
    "if flag:\n    S = X", "for x in mystery():\n    S = S + 1", "for S in mystery():\n    pass",
    "while n:\n    S = S + 1", "with mystery() as S:\n    pass",
    "try:\n    T = load()\nexcept ValueError as S:\n    pass",
    "match n:\n    case S:\n        pass", "S = np.random.randn(2, 2)",
    "torch.manual_seed(0)\nS = torch.randn(2, 2)",
    "S = np.tril(mystery(2))", "S = pd.read_csv('x')", "S: list = mystery()",
    "T = (S := mystery(X)) + 1", "(S, *T), U = mystery()", "S.T[0] = 1", "S = None", "S = 'text'",
    "S = nn.Linear(2, 2)", "S = lambda x: x", "def S(x): return x", "class S: pass",
    "import mystery as S", "T = S\nT[0] = 5", "T = S[0]\nT += mystery()",
    "for r in S:\n    r[0] = 1",
    "S = np.dot(Q, K).T)", "x = 1\nS[0] = <your code>\ny = 2",
    "async def g(): pass\nasync def S(): pass", "S = S.masked_fill(M, X)",
]  # fmt: skip


@pytest.mark.sampled(52)
@pytest.mark.parametrize("text", UNFOLLOWED)
@pytest.mark.parametrize("is_later", [False, True])
def test_what_is_not_followed_is_told_as_unknown(text, is_later):
    """The last chain about a name says so, in the same block and in a later cell."""
    start, codes = "X = np.array([[1, 2], [3, 4]])\nS = X @ X.T\n", Codes()
    pieces = [start, text] if is_later else [start + text]
    said = []
    for piece in pieces:
        block = Block("code", (BlockPart("code", Text.whole(piece)),), language="python")
        said += [part for passage in codes.passages(block) for part in passage.pieces]
    about = [
        one.members[-1] for one in said
        if isinstance(one, Chain) and len(one.members) > 1
        and any(isinstance(part, syntax.Name) and part.name == "S" for part in one.members[:-1])
    ]  # fmt: skip
    assert isinstance(about[-1], Opaque)


def test_what_a_reader_fails_with_is_not_followed(monkeypatch):
    """A statement that ends in an error of the reader's leaves no meaning either."""
    monkeypatch.delenv("SYMATTN_TRACEBACK")
    follow = Machine.follow

    def failing(self, source):
        if "mystery" in source.text.string:
            raise KeyError("lost")
        return follow(self, source)

    monkeypatch.setattr(Machine, "follow", failing)
    *_, chain = chains("S = X @ X.T\nS = mystery(X)\n")
    assert isinstance(chain.members[0], syntax.Name)
    assert chain.members[0].name == "S"
    assert isinstance(chain.members[1], Opaque)


@pytest.mark.parametrize(
    "text",
    ["plt.imshow(S)", "sns.heatmap(S)", "print(S)", "S.round(2)", "T = mystery(S)", "len(S)",
     "T = S.copy()\nT[0] = 5", "def f(a):\n    a = a + 1\n    a[0] = 1\n    return a\nT = f(S)",
     "def f(S):\n    S = S * 2\n    return S\nT = f(X)", "[S for S in X]", "S.shape", "plot_it(S)",
     "if True:\n    T = S\nelse:\n    S = T", "try:\n    T = S\nexcept ValueError:\n    S = T"],
)  # fmt: skip
def test_what_only_looks_at_a_name_leaves_it(text):
    """Plots, copies, functions with names of their own and branches that don't run."""
    assert all(
        not (isinstance(one.members[0], syntax.Name) and one.members[0].name == "S")
        or not isinstance(one.members[-1], Opaque)
        for one in chains("X = np.array([[1, 2], [3, 4]])\nS = X @ X.T\n" + text)
        if len(one.members) > 1
    )


@pytest.mark.parametrize(
    "body", ["row += 1", "row[0] = 1", "r = row\n    r += 1", "row.fill_(0)", "row.data = r"]
)
@pytest.mark.parametrize("of", ["X", "enumerate(X)", "zip(X, S)"])
def test_a_loop_over_what_nobody_knows_may_change_what_it_is_of(body, of):
    """X is one of several, and its rows are rows of that."""
    unknown = "match len(S):\n    case 2:\n        X = T\n"
    assert told(f"{START}{unknown}for row in {of}:\n    {body}\n")["T"] is None
    assert told(f"{START}{unknown}for row in {of}:\n    print(row)\n")["T"] is not None
