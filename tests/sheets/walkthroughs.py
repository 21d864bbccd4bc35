"""Small walkthroughs with what the bundled ones lack, as the text of their files."""

from __future__ import annotations

#: Parts of quantities, forwards and backwards, side by side; constants with signs.
PARTS = """
title = "Parts"
tokens = ["a", "b", "c"]
[given]
X = [[1, -2, 0.5, 3], [0, "1/3", -1, 2], ["-1/2", 1, 4, 0]]
[steps]
R = "X[2::-1]"
H = "X[:, 1:3]"
v = "X[1, ::2]"
c = "X[2, 1]"
B = "concat(R / 4, -0.5 * H, H)"
S = "(B @ B.T - 2) / 7"
N = "-S + 0.25"
T = "N - (-3) * c"
A = "softmax(T)"
Y = "A @ H + v"
"""

#: A mask as data; symbols above, with numbers beside them.
SYMBOLS = """
title = "Symbols"
tokens = ["p", "q", "r"]
[given]
X = [[1, 0.5], [-1, 2], [0, "2/3"]]
P = [[1, 0, 1], [0, 1, 0], [1, 1, 1]]
[steps]
S = "X @ X.T"
M = "mask(S, P)"
A = "softmax(M)"
Y = "A @ X"
[loss]
upstream = [["u1", "2*u2 - 1/3"], [0, "u1 - u2"], ["-u2/7 + 1", 5]]
wrt = ["X", "A"]
"""

#: Several softmaxes, one inside a step and one of a row; heads; words for names.
HEADS = """
title = "Heads"
tokens = ["one", "two"]
[given]
X = [[1, 2, 0], [0.5, -1, 1]]
W_out = [[1, -1], [0, 2], [1, 1], [0.5, 0]]
bias = [0.1, -0.2]
[steps]
scores = "X @ X.T"
A1 = "softmax(scores / sqrt(3))"
head1 = "A1 @ X[:, 0:2]"
head2 = "softmax(-scores) @ X[:, 1:]"
both = "concat(head1, head2)"
mean = "softmax(bias)"
Y = "both @ W_out + bias * mean"
"""

#: Sums, roots and logarithms, of vectors and numbers; the last step is a number.
SCALARS = """
title = "Numbers and rows"
[given]
x = [2, 3, 0.25]
w = [[1], [0], ["-3/4"]]
k = "2/5"
[steps]
n = "total(x * x)"
r = "sqrt(n)"
u = "x / r"
t = "exp(u * k) - 1"
l = "log(t + 2)"
W = "w @ w.T + 1"
s = "rowsum(W) / colsum(W)"
y = "u @ s"
z = "total(l) + total(y) - k / 3"
"""

#: Numbers that fixed places can't show, and some that they show exactly.
SIZES = """
title = "Sizes"
[given]
X = [["1e-9", 40], [-300, "1/7"], ["123456789012", "-0.00005"]]
[steps]
E = "exp(X[0:2])"
F = "-E * 1000"
G = "X * 1e4"
H = "X / 3"
I = "exp(X[0:2]) - E"
Y = "softmax(X[0:2] / 10)"
"""

#: Sums that need many lines, with signs and brackets to break before.
WIDE = """
title = "Wide"
tokens = ["k", "l", "m"]
[given]
X = [
  ["sqrt(2)", -1, "1/3", "-sqrt(5)"],
  [1, "sqrt(3)", "-2/3", 1],
  ["-1/11", 2, 1, "1/13"],
]
[steps]
S = "X @ X.T"
T = "S / 8"
A = "softmax(T)"
D = "A - T * 0.1"
Y = "2 - (A @ X - X)"
[loss]
output = "Y"
wrt = ["A", "X"]
"""

#: A quantity called Z and one called N; rounded towards zero.
NAMES = """
title = "Names"
rounding = "down"
[given]
Z = [[1, 0.5], [-0.25, 2]]
[steps]
N_0 = "Z @ Z.T"
P = "softmax(N_0)"
Y = "P @ Z"
O = "Y + Z"
"""

#: Quantities turned and put in another order before they are used.
TURNED = """
title = "Turned"
tokens = ["x", "y", "z"]
[given]
X = [[1, 0.5], [0, 2], ["-1/3", 1]]
K = [[1, 2], [0.5, -1]]
[steps]
R = "X[::-1]"
Kt = "K.T"
S = "R @ Kt"
A = "softmax(S.T)"
B = "A.T / sqrt(2)"
C = "B @ K"
D = "C.T @ R"
Y = "R @ D"
"""

#: Fewer tokens than keys, more keys than fit beside figures.
KEYS = """
title = "Keys"
tokens = ["first", "second"]
[given]
Q = [[1, 0], [0.5, -1]]
K = [[1, 1], [0, 1], [2, 1], [1, 0], [-1, 0], [0, 0], [1, -1], [0.5, 0.5], [3, 0]]
[steps]
S = "Q @ K.T"
A = "softmax(S / 2)"
Y = "A @ K"
"""

#: A step whose formula is too wide for a heading.
COMPUTED = f"exp({' + '.join(f'total(some_given_matrix) / {k}' for k in range(3, 11))})"
LONG = f"""
title = "Long"
[given]
some_given_matrix = [[1, 0.5], [2, 1]]
[steps]
Y = "{COMPUTED}"
"""


def _rows(rows: int, columns: int) -> str:
    """Rows of small decimals, hardly two of them alike."""
    return str([[((7 * i + 3 * j) % 11 - 5) / 10 for j in range(columns)] for i in range(rows)])


#: So many features that sums are shown in part.
LARGE = f"""
title = "Large"
tokens = ["t0", "t1", "t2", "t3", "t4", "t5"]
[given]
X = {_rows(6, 110)}
W = {_rows(110, 2)}
[steps]
Q = "X @ W"
S = "Q @ Q.T / 100"
A = "softmax(S)"
Y = "A @ Q"
[loss]
wrt = ["W"]
"""

#: More rows than are shown, of matrices and of shades.
MANY = f"""
title = "Many"
tokens = {[f"t{i}" for i in range(26)]}
[given]
Q = {_rows(26, 1)}
K = {_rows(10, 1)}
[steps]
S = "Q @ K.T"
A = "softmax(S)"
Y = "A @ K"
"""

#: What a variant changes: shapes, masks, single entries.
BASE = """
title = "Base"
tokens = ["x", "y"]
[given]
X = [[1, 2], [0, 1]]
W = [[1, 0], [0, 1]]
[steps]
Q = "X @ W"
S = "Q @ X.T"
M = "causal(S)"
A = "softmax(M)"
Y = "A @ X"
"""

VARIANT = """
extends = "base.toml"
title = "Variant"
[given]
W = [[1, 0, 1], [0, 1, 1]]
P = [[1, 1], [1, 1]]
[steps]
S = "X @ X.T + 0 * total(Q)"
M = "mask(S, P)"
"""

ALL = {
    name.lower(): text
    for name, text in list(globals().items())
    if name.isupper() and isinstance(text, str) and "[given]" in text
}
