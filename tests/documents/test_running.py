"""Programs of articles, run: what they print, beside what articles say that they print."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symattn.auditing.fixing import fixed
from symattn.documents.binding import values
from symattn.documents.binding.binder import read
from symattn.documents.binding.equalities import Outputs
from symattn.documents.binding.ledger import Ledger
from symattn.documents.files import article
from symattn.documents.outputs import ran
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Labelled, Named, Opaque, PrintedFigure
from symattn.expressions import syntax
from symattn.printers.latex import document
from symattn.sheets.redpen import sheet
from symattn.verdicts import Verdict
from tests.documents.test_scientific import notebook
from tests.documents.test_stated import code
from tests.documents.test_statements import audited, refuted, softmax
from tests.strategies import some

#: Programs that Python and NumPy run as well.
PROGRAMS = {
    "vector": """
x = np.array([1.0, 2.0, 3.0])
print(x.mean(), x.std(), x.var(ddof=1))
print(np.exp(x) / np.exp(x).sum())
""",
    "seeded": """
def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
np.random.seed(42)
Q = np.random.randn(3, 4)
K = np.random.randn(3, 4)
V = np.random.rand(3, 2)
A = softmax(Q @ K.T / np.sqrt(K.shape[-1]))
print("Weights:")
print(A)
print("Output:\\n", (A @ V).round(3))
print(f"sum {A.sum(axis=1)} max {A.max():.4f} at {A.argmax()}")
""",
    "classes": """
class Layer:
    \"""A layer.\"""
    scale = 2.0
    def __init__(self, w, b=0.5):
        self.w, self.b = np.array(w), b
    def __call__(self, x):
        return self.forward(x) * self.scale
    def forward(self, x):
        return np.maximum(0, x @ self.w + self.b)
class Deep(Layer):
    def __init__(self, w):
        super().__init__(w, b=-1)
        self.calls = []
    def forward(self, x):
        self.calls.append(len(self.calls))
        return super().forward(x) + 1
net = Deep([[1.5, -0.5], [0.25, 2.0]])
for k in range(3):
    print(f"turn {k}: {net(np.array([k, 1.0]))}")
print("calls", net.calls, net.scale)
""",
    "cosine": """
vectors = {"cat": [1.0, 0.5, 0.2], "dog": [0.9, 0.6, 0.1], "car": [0.1, 0.2, 1.0]}
def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b))
    return dot / (sum(x ** 2 for x in a) ** 0.5 * math.sqrt(sum(y * y for y in b)))
pairs = [(a, b) for i, a in enumerate(vectors) for b in list(vectors)[i + 1:]]
for a, b in pairs:
    print("%s and %s: %.3f" % (a, b, cosine(vectors[a], vectors[b])))
best = max(pairs, key=lambda pair: cosine(vectors[pair[0]], vectors[pair[1]]))
print("best: {} and {}".format(*best))
print(sorted([3, 1, 2], reverse=True), [round(v, 2) for v in vectors["dog"]][::-1])
""",
    "masks": """
mask = np.tril(np.ones((3, 3)))
S = np.arange(9).reshape(3, 3) / 4
S = np.where(mask == 0, -np.inf, S)
e = np.exp(S)
print(e / e.sum(axis=-1, keepdims=True))
S[S < 0] = 0
print(S.T[1:, ::2], S.sum(), S[-1].tolist())
print(np.einsum("ij,kj->ik", S, S)[0], np.outer([1, 2], [3, 4]).ravel())
""",
    "descent": """
w, b, lr = 0.0, 0.0, 0.1
data = [(1.0, 2.0), (2.0, 4.1), (3.0, 6.2)]
for epoch in range(5):
    dw = db = loss = 0
    for x, y in data:
        error = w * x + b - y
        loss += error ** 2 / len(data)
        dw += 2 * error * x / len(data)
        db += 2 * error / len(data)
    w -= lr * dw
    b -= lr * db
    if epoch % 2 == 0:
        print(f"Epoch {epoch}: loss={loss:.4f}, w={w:.3f}, b={b:.3f}")
""",
    "views": """
x = np.array([[1, 2, 3], [4, 5, 6.0]])
a = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
print(a)
y = x
y += 1
x[0, 0] *= 10
print(y, x.shape, x.size)
print(np.concatenate([x, y[:1]], axis=0).shape, np.linalg.norm(x), np.dot([1, 2], [3, 4]))
z = np.array([1, 2, 3])
z[1] = 7.9
print(z, np.clip(z, 2, 5), np.cumsum(z), z / 2, z // 2, z % 2)
""",
    "encoding": """
rates = [1 / 10000 ** (2 * i / 8) for i in range(4)]
pe = np.zeros((3, 8))
for pos in range(3):
    for i, rate in enumerate(rates):
        pe[pos, 2 * i] = np.sin(pos * rate)
        pe[pos, 2 * i + 1] = math.cos(pos * rate)
print(np.round(pe, 4))
total, n = 0.0, 0
while total < 2:
    total += pe[1, n % 8]
    n += 1
print(f"{total:.6f} after {n} steps, {n > 3}, {0.1234:.1%}")
words = "the cat sat on the mat".split()
counts = {}
for word in words:
    counts[word] = counts.get(word, 0) + 1
print(counts, len(set(words)), " ".join(f"{v / len(words):.2f}" for v in counts.values()))
""",
    "heads": """
p = np.array([0.7, 0.2, 0.1])
t = np.array([1, 0, 0])
print("CE", -np.sum(t * np.log(p)), "H", -(p * np.log2(p)).sum(), "log", math.log10(1000))
print("BCE", -(0.3 * np.log(0.4) + 0.7 * np.log(0.6)), "sig", 1 / (1 + np.exp(-p)), np.tanh(p))
heads = np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2)
print(heads.shape, heads[0] / 3)
q, *rest = np.split(np.arange(6.0), 3)
print(q, rest[0] * 1.5, sum(len(r) for r in rest), -7 // 2, 7 % 3, 2 ** 10, abs(-2.5))
print(int(3.7), float("1e-3"), [3, 1][0] if len(rest) > 5 else min(4, 2.5))
""",
}

HEAD = "import math\nimport numpy as np\n"
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d*)?")


@cache
def printed(name):
    """Return what Python prints."""
    command = [sys.executable, "-c", HEAD + PROGRAMS[name]]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def told(program, output):
    """An article with a program and what it is said to print."""
    return f"# An example\n\n```python\n{program}\n```\n\nOutput:\n\n```\n{output}\n```\n"


def figures(text):
    """Count the figures of outputs that are held against programs."""
    runs = ran(article(Path("post.md"), text.encode()))
    return sum(len(values.texts(one.value)) for one in runs.figures)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_python_prints_is_right(name):
    """Every number of it is judged, and none refuted."""
    text = told(HEAD + PROGRAMS[name], printed(name))
    assert figures(text) == len(NUMBER.findall(printed(name)))
    assert refuted(text) == {}


@some
@given(st.sampled_from(sorted(PROGRAMS)), st.integers(0, 99), st.integers(1, 9))
def test_a_wrong_digit_of_an_output_is_refuted(name, place, off):
    """And what the program prints is said instead; nothing else is."""
    output = printed(name)
    found = [one for one in NUMBER.finditer(output) if "." in one[0].rstrip(".")]
    number = found[place % len(found)]
    digit = next(k for k, x in enumerate(number[0]) if x == "." or k == len(number[0]) - 1)
    digit = digit + 1 if number[0][digit] == "." else digit
    assume(digit < len(number[0]))
    other = str((int(number[0][digit]) + off) % 10)
    wrong = number[0][:digit] + other + number[0][digit + 1 :]
    text = told(HEAD + PROGRAMS[name], output[: number.start()] + wrong + output[number.end() :])
    right = refuted(text)
    assert [one.lstrip("-") for one in right] == [wrong]
    assert abs(float(right.popitem()[1])) == pytest.approx(float(number[0]), abs=1e-4)


# -- what PyTorch means ------------------------------------------------------------------

ATTENTION = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class SelfAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.query = nn.Linear(d, d, bias=False)
        self.scale = d ** 0.5
        with torch.no_grad():
            self.query.weight.copy_(torch.tensor([[1.0, 0.5], [0.0, 2.0]]))

    def forward(self, x, mask=None):
        scores = self.query(x) @ x.transpose(-2, -1) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        return weights @ x, weights

x = torch.tensor([[1.0, 0.0], [0.5, 1.0]])
out, weights = SelfAttention(2)(x, torch.tril(torch.ones(2, 2)))
print(weights)
print("Output:", out)
print(f"std {x[1].std():.4f} {x[1].std(unbiased=False):.4f}, max {x.max(dim=1).values}")
print(nn.LayerNorm(2)(x))
"""


def tensor(matrix):
    """A matrix as PyTorch prints it."""
    return f"tensor({code(np.array(matrix))})".replace("\n", "\n       ")


def test_modules_of_pytorch_are_run():
    """Layers, masks, deviations and normalizations mean what they mean there."""
    x = np.array([[1.0, 0.0], [0.5, 1.0]])
    scores = x @ np.array([[1.0, 0.5], [0.0, 2.0]]).T @ x.T / np.sqrt(2)
    weights = softmax(np.where(np.tri(2) > 0, scores, -np.inf))
    normal = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    output = (
        f"{tensor(weights)[:-1]}, grad_fn=<SoftmaxBackward0>)\nOutput: {tensor(weights @ x)}\n"
        "std 0.3536 0.2500, max tensor([1., 1.])\n" + tensor(normal)
    )
    text = told(ATTENTION, output)
    assert figures(text) == 4 + 4 + 4 + 4
    assert refuted(text) == {}
    assert refuted(text.replace("std 0.3536 0.2500", "std 0.2500 0.2500")) == {"0.2500": "0.3536"}


def test_what_is_random_is_known_where_it_is_printed():
    """Within its rounding: what comes of that is right or wrong."""
    program = (
        "import torch\nq = torch.randn(2)\nk = torch.randn(2)\n"
        'print("q", q)\nprint("k", k)\nprint("score", q @ k)'
    )
    output = "q tensor([0.5123, -1.2031])\nk tensor([1.1000, 0.2500])\nscore tensor({})"
    assert refuted(told(program, output.format("0.2628"))) == {}
    assert figures(told(program, output.format("0.2628"))) == 1
    assert refuted(told(program, output.format("0.2629"))) == {}
    assert [*refuted(told(program, output.format("0.8628")))] == ["0.8628"]


@pytest.mark.parametrize(
    "lines",
    [
        "opt = torch.optim.SGD([w], lr=0.1)\nopt.step()",
        "with torch.no_grad():\n    w -= 0.1 * w.grad",
        "w.data = w - rate",
        "nn.init.normal_(w)",
        "import mylib\ny = mylib.scale(w)",
        "opt = {'sgd': torch.optim.SGD}[kind]([w])\nopt.step()",
        "train(w)",
        "torch.nn.utils.clip_grad_norm_(w, 1)",
        "w = nn.Dropout(0.5)(w)",
        "for x in loader:\n    w += x",
        "if torch.cuda.is_available():\n    w = w * 2",
        "import random\nrandom.shuffle(w)",
        "w = torch.empty(2)",
        "if 0.1 + 0.2 - 0.3:\n    w = w * 2",
        "w = [*{1.5: 1.5, 2.5: 2.5}, *set('ab')]",
        "exec('w -= 1')",
        "v = w.numpy()\nu = torch.from_numpy(v)\nu += rate",
        "w = torch.rand(2)\nv = w[:1]\nv += 1\nprint('w', w)\nw = w * 1",
        "e = []\nif w[0] == mystery:\n    e.append(2)\nw = w * sum([1 for x in e])",
    ],
)
def test_what_may_have_changed_is_not_known(lines):
    """Nothing is said of what is printed then."""
    program = f"import torch\nimport torch.nn as nn\nw = torch.tensor([1.5, 2.5])\n{lines}\n"
    for show in ("print('w', w)", "print(w)"):
        assert refuted(told(program + show, "w tensor([1.4000, 2.4000])")) == {}


def test_arrays_that_share_their_entries_change_together():
    """As NumPy and PyTorch share them; a tensor of an array is its own."""
    for share, right in (("torch.from_numpy(a)", "9"), ("torch.tensor(a)", "1")):
        program = f"import torch\na = np.array([1, 2])\nt = {share}\na[0] = 9\nprint('t', t)\n"
        for first in ("9", "1"):
            found = refuted(told(program, f"t tensor([{first}, 2])"))
            assert found == ({} if first == right else {first: right})


def test_lines_that_may_be_of_other_prints_refute_nothing():
    """A value without words is told by what stands beside it."""
    program = "a, b = [1.5, 2.0], [3.0, 4.0]\n"
    assert refuted(told(program + "print(a)\nprint(b)", "[3.0, 4.1]")) == {}
    assert refuted(told(program + "print(a)", "[3.0, 4.1]")) == {"3.0": "1.5", "4.1": "2.0"}
    beside = told(program + "print('A:')\nprint(a)\nprint(b)", "A:\n[1.5, 2.1]")
    assert refuted(beside) == {"2.1": "2.0"}
    assert refuted(told(program + "print(a)\nshow(b)\nprint(b)", "[3.0, 4.1]")) == {}
    assert refuted(told(program + "if c:\n    print(b)\nprint(a)", "[3.0, 4.1]")) == {}


@pytest.mark.parametrize(
    ("remark", "found"),
    [
        ("y = x @ [3.0, 4.0]  # 11.5", {"11.5": "11.0"}),
        ("y = x @ [3.0, 4.0]  # -> 11.5", {"11.5": "11.0"}),
        ("print(x * 2)  # Output: [2.0, 4.1]", {"4.1": "4.0"}),
        ("print(x * 2)\n# Output:\n# [2.0, 4.1]\n# which is twice as much", {"4.1": "4.0"}),
        ("y = x * 2\n# y = [2.0, 4.1]", {"4.1": "4.0"}),
        ("y = np.ones((2, 3))  # (2, 3)", {}),
        ("y = np.ones((2, 1))  # (2, 1)", {}),
        ("y = x * 2  # 2 times", {}),
        ("y = softmax(x) = [0.27, 0.83]", {"0.83": "0.73"}),
        ("y = softmax(x) + 0.1 = [0.40, 0.80]", {}),
        ("s = [\n    sim(x) = 0.8,  # high\n    sim(y) = 0.2\n]\nw = sum(s) = 1.2", {"1.2": "1.0"}),
    ],
)
def test_comments_say_what_statements_give(remark, found):
    """Behind them, below them, or behind another sign of equality."""
    text = f"```python\nimport numpy as np\nx = np.array([1.0, 2.0])\n{remark}\n```\n"
    assert refuted(text) == found


def test_loops_that_double_expressions_are_read_in_no_time():
    """Each turn makes the next entry of those before, all of which a function takes again."""
    program = (
        "def slope(x, y):\n    return np.array([2 * x - y + 1, 4 * y - x - 1])\n\n"
        "def descent(start, rate=0.1, turns=100):\n    point = np.array(start, dtype=float)\n"
        "    path = [point.copy()]\n    for _ in range(turns):\n"
        "        point = point - rate * slope(point[0], point[1])\n"
        "        path.append(point.copy())\n    return np.array(path)\n\n"
        "path = descent([2, 2])\nprint(f'end: {path[-1][0]:.4f}, {path[-1][1]:.4f}')"
    )
    text = told(f"import numpy as np\n{program}", "end: -0.4286, 0.1429")
    assert refuted(text) == {}
    assert refuted(text.replace("0.4286", "0.4826")) == {"-0.4826": "-0.4286"}


def test_notebooks_that_lack_cells_are_not_refuted():
    """A lost cell may have changed what is printed."""
    cells = ("x = [1.5, 2.0]", ""), ("y = lost * 2", ""), ("print(x)", "[1.5, 3.0]\n")
    assert audited(notebook(*cells), "ipynb").count(Verdict.REFUTED) == 0
    assert audited(notebook(cells[0], cells[2]), "ipynb").count(Verdict.REFUTED) == 1
    assert audited(notebook(cells[0], cells[1], ("print(x)", "[1.5, 2.0]\n")), "ipynb").figures


def test_a_value_that_is_wrong_throughout_is_one_finding_and_corrected_by_hand():
    """The program says what it is."""
    text = told("x = [1.5, 2.0, 3.0]\nprint('x:', x)", "x: [4.5, 5.0, 7.0]")
    found = audited(text)
    assert [one.cause for one in found.figures] == ["root", "carried", "carried"]
    assert found.figures[0].reason == "x does not come to this"
    one = audited(text.replace("4.5, 5.0", "1.5, 2.0"))
    assert [x.reason for x in one.figures if x.reason] == ["the program gives 3.0"]
    assert fixed(found, audited).text == text


@pytest.mark.parametrize(
    "program",
    [
        "while True:\n    x = 1",
        "x = [1]\nwhile True:\n    x = x + x",
        "print(10 ** 10 ** 10)",
        "x = 2.5\nfor i in range(10000):\n    x = x * x\nprint(x)",
        "print('a' * 10 ** 9, [0] * 10 ** 9, 'a'.rjust(10 ** 9), '%1000000000d' % 3)",
        "s = 'ab'\nfor i in range(100):\n    s = s + s\nprint(s.replace('a', s))",
        "print(sum(range(10 ** 12)), list(range(10 ** 9)))",
        "import numpy as np\nprint(np.zeros((10 ** 5, 10 ** 5)), np.eye(10 ** 5))",
        "import numpy as np\nnp.random.seed(0)\nprint(np.random.randn(10 ** 5, 10 ** 5))",
        "import numpy as np\nx = np.ones(9999)\nprint(x[:, None] + x, np.tile(x, 10 ** 9))",
        "def f(n):\n    return f(n + 1) + f(n + 2)\nprint(f(0))",
        "x = []\nx.append(x)\nprint(x)\nfor i in range(5000):\n    x = [x]\nprint(x)",
        "print(round(0.5, 10 ** 9), 1 << 10 ** 9, 1 / 0, 1e308 * 1e308, 2.0 ** 1e300)",
        "class A(A):\n    pass\nprint(A().x)\nfor i in range(100000):\n    print(i)",
        "print(x.__class__.__mro__, ().__class__, open('/etc/passwd').read())",
        "import os\nos.system('touch /tmp/x')\nprint(__import__('os').getcwd(), eval('1'))",
    ],
)
def test_hostile_programs_end(program):
    """Work is bounded, and nothing is executed."""
    ran(article(Path("post.md"), told(program, "1.0\n" * 200).encode()))


def test_values_of_cells_that_are_not_run_are_not_those_before():
    """A cell that only names a value shows that one."""
    cells = ("x = [1.5, 2.5]\nx", ""), ("y", "[1.5, 3.5]\n")
    assert audited(notebook(*cells), "ipynb").count(Verdict.REFUTED) == 0
    assert audited(notebook((cells[0][0], cells[1][1])), "ipynb").count(Verdict.REFUTED) == 1


def test_programs_of_other_languages_are_not_run():
    """Julia counts from 1, and in R an arrow assigns."""
    program = "x = [1.5, 2.5, 3.5]\nprint(x[1])"
    assert refuted(told(program, "1.5")) == {"1.5": "2.5"}
    assert refuted(told(program, "1.5").replace("python", "julia")) == {}


def test_masks_of_truth_stay_what_they_are():
    """Entries that are set in one are true or false, and choose as such."""
    program = (
        "import numpy as np\nx = np.array([1.5, 2.5, 3.5])\nm = x > 2\nm[0] = True\n"
        "m[1] = False\nn = np.array([1, 2])\nn[0] = -1.5\nprint('x:', x[m], n)"
    )
    assert refuted(told(program, "x: [1.5 3.5] [-1 2]")) == {}
    assert refuted(told(program, "x: [1.5 2.5] [-2 2]")) == {"2.5": "3.5", "-2": "-1"}


def test_places_of_powers_of_ten_are_those_of_the_figure():
    """A figure of five digits is right to five."""
    program = "x = 0.49809\nprint('x:', x)"
    assert refuted(told(program, "x: 4.9809e-01")) == {}
    assert refuted(told(program, "x: 4.9810e-01")) == {"4.9810e-01": "4.9809e-01"}


def test_programs_that_are_too_long_are_told():
    """They are open, and not passed over in silence."""
    long = read(article(Path("post.md"), told("while True:\n    x = 1", "x: 1.6").encode()))
    assert [one.what for one in long.open] == ["programs"]
    short = read(article(Path("post.md"), told("print('x:', 1.5)", "x: 1.6").encode()))
    assert short.open == ()


def test_pages_show_the_code_that_prints():
    """And not the numbers that come of it, to thirty places."""
    program = "x = [1 / 3, 2 / 3, 1 / 7]\nprint('x:', x[2] + 1)"
    page = document(sheet(audited(told(program, "x: 1.1528"))))
    marked = page.partition("As printed")[2]
    assert "x[2] + 1" in marked.replace("{", "").replace("}", "")
    assert not re.search(r"[0-9]{12}", marked)


def test_what_code_shows_and_nobody_knows_is_nothing_that_is_spoken_of():
    """An output behind it is of that, whatever the words around it speak of."""
    ledger = cast(Ledger, SimpleNamespace(fits=lambda tree, value: True))
    outputs = Outputs(ledger)
    value = Chain((Labelled((PrintedFigure("0.5"),)),), (), (Span(9, 12),))
    for shown, is_hidden in ((Opaque("mystery(S)"), True), (Named("S"), False)):
        mention = Chain((shown,), (), (Span(0, 1),), is_code=True)
        outputs.enter("code")
        outputs.target(mention, "", None if is_hidden else syntax.Name("S"))
        outputs.enter("output")
        outputs.target(value, "", None)
        assert outputs.is_hidden is is_hidden
