"""Seeds: what NumPy and PyTorch draw from them, as they printed it.

The outputs of :data:`RECORDED` were printed by ``python -W ignore -c PROGRAM``, behind the lines of
:data:`HEAD`, on a CPU with PyTorch 2.14.1 and NumPy 2.4.6.
"""

from __future__ import annotations

import re

import pytest

from symattn.documents.running.machine import Machine
from symattn.documents.running.numbers import ball
from symattn.documents.running.source import parsed
from symattn.documents.running.texts import Slot
from symattn.documents.text import Text
from symattn.numbers.balls import precision
from symattn.verdicts import Verdict
from tests.documents.test_running import NUMBER, figures, told
from tests.documents.test_scientific import notebook
from tests.documents.test_statements import audited, refuted

HEAD = (
    "import numpy as np\nimport torch\nimport torch.nn as nn\n"
    "import torch.nn.functional as F\nimport matplotlib.pyplot as plt\n"
)

RECORDED = {
    "sizes": (
        """
torch.manual_seed(3)
print("one", torch.randn(1))
print("share", torch.rand(2))
print("two", torch.randn(2), torch.rand(1))
for n in (15, 16, 17, 24, 33):
    print("normal", n, torch.randn(n))
    print("even", n, torch.rand(3), torch.randn(()).item())
""",
        """
one tensor([0.8033])
share tensor([0.4716, 0.0601])
two tensor([0.1748, 0.7625]) tensor([0.4510])
normal 15 tensor([ 1.4948, -0.5475,  0.4196, -0.6073, -1.1964,  1.5912, -0.0115,  0.9684,
         0.6749,  0.6594, -2.1392, -0.9621,  0.3713,  0.2601,  0.0524])
even 15 tensor([0.5096, 0.5824, 0.4283]) -0.3042903542518616
normal 16 tensor([ 0.2539, -0.6924, -0.4554,  2.2124, -0.3770, -0.1437,  0.6480, -2.3256,
        -0.5290, -0.6895,  0.9578, -1.2890, -1.6483,  0.8290, -0.8373, -0.5296])
even 16 tensor([0.1302, 0.2784, 0.1255]) -0.09143860638141632
normal 17 tensor([-0.4233, -0.0914, -0.7349,  1.9859,  0.3625, -1.3898, -0.1593,  0.3174,
         0.1450,  0.3025, -0.9812,  1.1038, -0.0127, -0.6851, -0.3094,  0.5161,
        -0.8823])
even 17 tensor([0.3833, 0.2512, 0.5850]) -0.6914685368537903
normal 24 tensor([ 0.6229,  0.4463,  0.7688,  1.5659,  0.5320, -1.4387,  1.6551, -0.3815,
         0.3114,  2.4667, -1.0854,  1.6575, -0.9762, -0.5116, -0.7036, -0.7658,
        -1.1900,  0.4634,  0.4795,  0.1908, -0.0376, -0.0714, -1.1518,  1.4263])
even 24 tensor([0.4270, 0.6227, 0.0157]) -1.165000319480896
normal 33 tensor([ 1.1809, -2.8450, -0.3903, -1.2372,  1.0634, -3.0921, -1.5128,  0.0035,
        -1.1601, -0.3069, -0.3988,  2.6923,  0.7647, -0.9587, -1.8078, -0.3863,
         0.3982, -1.2889,  2.3588,  1.4993,  0.2594, -1.2482, -0.6160,  0.2159,
        -0.2933, -0.0255, -0.3332,  1.9830,  1.2885, -0.4255, -1.3260, -1.8426,
        -0.0525])
even 33 tensor([0.6179, 0.2734, 0.9737]) -0.4028051793575287
""",
    ),
    "kinds": (
        """
torch.manual_seed(2024)
x = torch.randn(3, 6, requires_grad=True)
print("x", x)
print("whole", torch.randint(10, (4,)), torch.randint(-3, 3, (2, 3)))
print("named", torch.randint(low=0, high=5, size=(2,)), torch.randint(9, size=[2]))
print("order", torch.randperm(7), torch.randperm(1))
print("even", torch.rand_like(x[:1]))
print("alike", torch.randn_like(x))
print("normal", torch.normal(2.0, 0.5, size=(4,)))
print("sixteen", torch.normal(mean=-1.0, std=3.0, size=(2, 8)))
torch.manual_seed(-7)
print("again", torch.rand(2, 2))
""",
        """
x tensor([[-1.2262, -0.0093,  0.3700,  0.4144,  1.8567,  1.9776],
        [-0.4322,  1.3667,  0.7131, -0.3869,  1.6579, -1.3085],
        [ 0.9962,  0.9391,  1.4148,  0.6343, -0.0776, -1.1175]],
       requires_grad=True)
whole tensor([2, 6, 2, 0]) tensor([[-2,  0, -3],
        [ 0, -3,  0]])
named tensor([4, 0]) tensor([6, 5])
order tensor([1, 5, 6, 0, 4, 3, 2]) tensor([0])
even tensor([[0.2735, 0.4980, 0.9732, 0.4558, 0.7026, 0.8392]])
alike tensor([[ 0.2406, -0.9548, -1.0931,  0.6910, -1.2415, -0.1413],
        [-0.5798, -0.3694, -1.1544,  1.1677,  1.4115, -0.3798],
        [ 0.1845,  1.2366,  0.9801,  0.1697, -0.9945,  1.1160]])
normal tensor([1.9870, 1.7408, 2.7156, 2.4657])
sixteen tensor([[-3.4694, -3.3858,  0.5495,  2.3878, -0.9231,  4.0641,  5.1936,  0.1213],
        [ 1.0770, -1.9457, -1.6270,  2.3326, -3.9210,  1.8217, -5.5702, -4.7746]])
again tensor([[0.2533, 0.6774],
        [0.2534, 0.6064]])
""",
    ),
    "modules": (
        """
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.query = nn.Linear(d, d, bias=False)
        self.key = nn.Linear(d, d)
        self.scale = nn.Parameter(torch.randn(3))
        self.value = nn.Linear(d, 2)
        self.drop = nn.Dropout(0.0)
    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / x.shape[-1] ** 0.5
        weights = self.drop(F.softmax(scores * self.scale, dim=-1))
        return weights @ self.value(x), weights
torch.manual_seed(42)
words = nn.Embedding(7, 4, padding_idx=0)
net = Attention(4)
out, weights = net(words(torch.tensor([3, 0, 5])))
print("rows", words.weight[:2])
print("weights", weights)
print("out", out)
print("key", net.key.bias.detach())
mlp = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1)).eval()
print("mlp", mlp(torch.ones(2, 4)))
""",
        """
rows tensor([[ 0.0000,  0.0000,  0.0000,  0.0000],
        [ 0.6784, -1.2345, -0.0431, -1.6047]], grad_fn=<SliceBackward0>)
weights tensor([[0.2703, 0.3500, 0.3798],
        [0.3333, 0.3333, 0.3333],
        [0.2990, 0.3442, 0.3568]], grad_fn=<SoftmaxBackward0>)
out tensor([[ 0.4824, -0.0017],
        [ 0.4868,  0.0354],
        [ 0.4844,  0.0152]], grad_fn=<MmBackward0>)
key tensor([-0.3363,  0.2025,  0.1790,  0.4155])
mlp tensor([[0.3603],
        [0.3603]], grad_fn=<AddmmBackward0>)
""",
    ),
    "generator": (
        """
g = torch.Generator().manual_seed(2147483647)
print("own", torch.randn(2, 9, generator=g), torch.randint(0, 27, (5,), generator=g))
torch.manual_seed(1)
print("other", torch.rand(2), torch.rand(2, generator=g))
""",
        """
own tensor([[ 1.5674, -0.2373,  0.6772, -0.8404,  0.9849, -0.1484, -1.4795,  0.4483,
         -2.1921],
        [-0.7814,  2.4448, -0.6701, -1.2199,  0.3031, -1.0725,  0.7276,  2.2497,
         -0.4755]]) tensor([ 0, 14,  6, 22,  1])
other tensor([0.7576, 0.2793]) tensor([0.5705, 0.7584])
""",
    ),
    "numpy": (
        """
rng = np.random.default_rng(42)
print("even", rng.random(3), rng.random())
print("whole", rng.integers(0, 10, size=7), rng.integers(5), rng.integers(1, 7, 2))
print("normal", rng.standard_normal((2, 2)), rng.normal(1.5, 0.1, size=3), rng.uniform(-1, 1, 2))
old = np.random.RandomState(0)
print("old", old.randn(2), old.randint(0, 9, 3), old.normal(scale=2.0, size=2))
np.random.seed(2)
print("oldest", np.random.rand(2), np.random.uniform(high=3.0, size=2))
""",
        """
even [0.77395605 0.43887844 0.85859792] 0.6973680290593639
whole [2 0 5 9 7 7 7] 3 [4 1]
normal [[-0.85304393  0.87939797]
 [ 0.77779194  0.0660307 ]] [1.61272412 1.54675093 1.41407075] [ 0.10916957 -0.87236549]
old [1.76405235 0.40015721] [3 3 7] [ 3.73511598 -1.95455576]
oldest [0.4359949  0.02592623] [1.64898743 1.30596718]
""",
    ),
}


def numbers(output):
    """The numbers of an output, without those in the name of what they were computed by."""
    return NUMBER.findall(re.sub(r"grad_fn=<\w+>", "", output))


def recorded(name):
    """An article with a program and what it printed."""
    program, output = RECORDED[name]
    return told(HEAD + program, output)


@pytest.mark.parametrize("name", RECORDED)
def test_what_was_printed_holds(name):
    """Every number of it is judged, and none refuted."""
    assert figures(recorded(name)) == len(numbers(RECORDED[name][1]))
    assert refuted(recorded(name)) == {}


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("sizes", "0.4716", "0.4726"),
        ("sizes", "0.7625", "0.7652"),
        ("sizes", "-2.1392", "-2.1932"),
        ("sizes", "1.4263", "1.4623"),
        ("sizes", "0.9737", "0.9773"),
        ("kinds", "1.9776", "1.9676"),
        ("kinds", "[2, 6, 2, 0]", "[2, 6, 3, 0]"),
        ("kinds", "0, 4, 3, 2]", "0, 4, 3, 7]"),
        ("kinds", "-0.3798", "-0.3789"),
        ("kinds", "2.7156", "2.7516"),
        ("kinds", "-5.5702", "-5.7502"),
        ("modules", "-1.2345", "-1.2435"),
        ("modules", "0.3442", "0.3424"),
        ("modules", "0.4824", "0.4842"),
        ("modules", "0.2025", "0.2052"),
        ("generator", "-2.1921", "-2.1912"),
        ("generator", "0.7584", "0.7548"),
        ("numpy", "0.85859792", "0.85895792"),
        ("numpy", "7 7 7", "7 1 7"),
        ("numpy", "1.41407075", "1.41470075"),
        ("numpy", "3.73511598", "3.75311598"),
        ("numpy", "0.4359949", "0.4395949"),
    ],
)
def test_a_wrong_digit_is_refuted(name, right, wrong):
    """And the right one is said instead; nothing else is."""
    assert recorded(name).count(right) == 1
    found = refuted(recorded(name).replace(right, wrong))
    pairs = zip(NUMBER.findall(wrong), NUMBER.findall(right), strict=True)
    expected = {one: other for one, other in pairs if one != other}
    assert {one.lstrip("-"): other.lstrip("-") for one, other in found.items()} == expected


def is_known(program):
    """Return whether the numbers that a program prints last are known."""
    machine = Machine(are_seeded=True)
    source = parsed(Text.whole(program))
    assert source is not None
    with precision(160):
        machine.run(source)
    slots = [one for one in machine.shown[-1].tokens if isinstance(one, Slot)]
    return bool(slots) and all(ball(one.value).is_finite() for one in slots)


#: A seed, and what PyTorch draws next.
SEEDED = "torch.manual_seed(0)\n{}\nx = torch.rand(3)\nprint('x', x)"
NEXT = "x tensor([0.4963, 0.7682, 0.0885])"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "a = 2.5 * np.ones(3)",
        "b = np.random.rand(2)",
        "import random\nrandom.seed(0)\nrandom.shuffle(names)",
        "fig, ax = plt.subplots()\nax.plot([1, 2])\nplt.show()",
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'",
        "if torch.cuda.is_available():\n    torch.cuda.manual_seed_all(0)",
        "torch.backends.cudnn.deterministic = True\ntorch.use_deterministic_algorithms(True)",
        "m = nn.Sequential(nn.ReLU(), nn.Dropout(0.5)).eval()\nprint(m(torch.ones(2)))",
        "print('a', 1 / mystery)\nx = mystery.mean()",
        "def drawn():\n    return torch.rand(5)",
        "with torch.no_grad():\n    pass",
        "v = np.random.default_rng(1).permutation(3)",
        "g = torch.Generator().manual_seed(1)\ny = torch.rand(2, generator=g)",
        "torch.manual_seed(1)\ny = torch.rand(2)\ntorch.random.manual_seed(0)",
        "torch.manual_seed(1)\nm = nn.Linear(2, 2)\ntorch.manual_seed(0)",
        "def seed_all(n):\n    torch.manual_seed(n)\nseed_all(0)",
    ],
)
def test_what_draws_nothing_keeps_a_stream(line):
    """A wrong digit behind it is refuted."""
    program = HEAD + SEEDED.format(line)
    assert is_known(program)
    assert refuted(told(program, NEXT)) == {}
    assert refuted(told(program, NEXT.replace("0.7682", "0.7628"))) == {"0.7628": "0.7682"}


@pytest.mark.parametrize(
    "line",
    [
        "y = nn.Dropout(0.5)(torch.ones(2))",
        "y = nn.Dropout()(torch.ones(2))",
        "y = F.dropout(torch.ones(2), 0.5)",
        "y = torch.multinomial(torch.ones(3), 2)",
        "y = torch.bernoulli(torch.ones(3))",
        "y = torch.rand(mystery)",
        "y = torch.rand(2, device='cuda')",
        "y = torch.rand(2, device=device)",
        "y = torch.rand(2, dtype=torch.float64)",
        "y = torch.randint(0, 2 ** 40, (2,))",
        "y = torch.randn_like(torch.ones(2, 3).T)",
        "y = torch.ones(3).normal_()",
        "y = torch.empty(2).exponential_()",
        "m = nn.Conv1d(1, 2, 3)",
        "m = nn.Linear(2, 2, device=device)",
        "m = nn.LSTM(2, 2)",
        "m = nn.Linear(2, 2)\nnn.init.xavier_uniform_(m.weight)",
        "m = nn.Linear(300, 300)",
        "y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)",
        "o = torch.ones(1, 2)\ny = F.scaled_dot_product_attention(o, o, o, dropout_p=0.1)",
        "y = helper(3)",
        "helper.run()",
        "y = helper.run(3)",
        "for batch in loader:\n    pass",
        "batches = list(loader)",
        "batches = [one for one in loader]",
        "y = list(map(helper, [1, 2]))",
        "if helper:\n    y = torch.rand(2)",
        "if helper:\n    for batch in loader:\n        pass",
        "while helper:\n    y = torch.rand(2)",
        "def drawn():\n    if helper:\n        return 1\n    return torch.rand(2)\ndrawn()",
        "with helper:\n    pass",
        "with torch.random.fork_rng():\n    torch.manual_seed(0)",
        "with torch.device('cuda'):\n    y = torch.rand(2)",
        "torch.set_default_device('cuda')\ntorch.manual_seed(0)",
        "torch.set_default_dtype(torch.float64)\ntorch.manual_seed(0)",
        "torch.set_rng_state(state)",
        "torch.seed()",
        "set_seed(0)",
        "torch.manual_seed(seed)",
        "...",
        "y = torch.rand(2, generator=torch.Generator('cuda'))",
        "g = torch.Generator().manual_seed(1)\ny = torch.randperm(3, generator=g)",
    ],
)
def test_what_may_draw_loses_a_stream(line):
    """A draw behind it is unknown, and known where it is printed."""
    program = HEAD + SEEDED.format(line)
    assert not is_known(program)
    sums = f"{program}\nprint('sum', x.sum())", "x tensor([0.5, 1.5, 2.5])\nsum tensor({})"
    assert refuted(told(sums[0], sums[1].format("4.5000"))) == {}
    assert refuted(told(sums[0], sums[1].format("4.9000"))) == {"4.9000": "4.5000"}


@pytest.mark.parametrize(
    "line",
    [
        "rng.shuffle(names)",
        "y = rng.choice(3)",
        "y = rng.standard_normal(2, dtype=np.float32)",
        "y = rng.integers(0, 9, 2, dtype=np.uint8)",
        "y = helper(rng)",
        "y = helper(3)",
    ],
)
def test_generators_of_numpy_are_lost_alike(line):
    """By methods whose streams have changed, and by what may draw from them."""
    program = HEAD + "rng = np.random.default_rng(0)\n{}\nx = rng.random(2)\nprint('x', x)"
    assert is_known(program.format("np.random.shuffle(names)"))
    assert not is_known(program.format(line))
    output = "x [0.63696169 0.27678671]"
    assert refuted(told(program.format(""), output)) == {"0.27678671": "0.26978671"}


def test_numbers_of_a_device_are_unknown():
    """And those of what nobody knows."""
    program = HEAD + "torch.manual_seed(0)\nwith {}:\n    x = torch.rand(3)\nprint('x', x)"
    assert is_known(program.format("torch.no_grad()"))
    assert not is_known(program.format("torch.device('cuda')"))


def test_what_is_no_program_may_draw_as_well():
    """By what it calls."""
    for line, found in (
        ("y = mean(2) gives 3.5", {"0.7628": "0.7682"}),
        ("y = f(2) gives 3.5", {}),
    ):
        text = told(HEAD + SEEDED.format(line), NEXT.replace("0.7682", "0.7628"))
        assert refuted(text) == found


def test_lines_far_from_their_seed_are_of_another_stream():
    """Their prints are what was drawn: something was left out, or it ran elsewhere."""
    program = HEAD + SEEDED.format("") + "\nprint('sum', x.sum())"
    other = "x tensor([0.1117, 0.8158, 0.2626])\nsum tensor({})"
    assert refuted(told(program, other.format("1.1901"))) == {}
    assert refuted(told(program, other.format("1.9901"))) == {"1.9901": "1.1901"}
    alone = HEAD + "torch.manual_seed(0)\nx = torch.rand(3)\nprint('sum', x.sum())"
    assert refuted(told(alone, "sum tensor(1.3530)")) == {}
    assert refuted(told(alone, "sum tensor(1.3630)")) == {"1.3630": "1.3530"}
    assert refuted(told(alone, "sum tensor(2.4181)")) == {}
    coins = HEAD + "torch.manual_seed(0)\nprint('coins', torch.randint(2, (8,)))"
    assert refuted(told(coins, "coins tensor([0, 1, 1, 0, 1, 1, 1, 0])")) == {"0": "1"}
    assert refuted(told(coins, "coins tensor([1, 1, 0, 0, 0, 1, 1, 1])")) == {}


def test_cells_that_only_draw_are_run():
    """One that seeds, and one that shows what it drew."""
    cells = [
        (HEAD, ""),
        ("torch.manual_seed(0)", ""),
        ("torch.rand(2)", ""),
        ("x = torch.rand(2)", ""),
    ]
    right = notebook(*cells, ("print(x)", "tensor([0.0885, 0.1320])\n"))
    assert audited(right, "ipynb").count(Verdict.HOLDS) == 2
    wrong = notebook(*cells, ("print(x)", "tensor([0.0885, 0.1420])\n"))
    assert audited(wrong, "ipynb").count(Verdict.REFUTED) == 1
