"""Small articles in which every figure is right: nothing in them is refuted.

Each shows what once had right figures of public articles refuted, with other words and
other numbers.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.auditing.fixing import fixed
from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.files import article
from symattn.verdicts import Verdict

ADDED_POSITIONS = r"""# Hens in a row

$$X = \begin{bmatrix} 1.2 & 0.4 \\ 0.3 & 1.1 \\ 0.7 & 0.9 \end{bmatrix}, \quad
W = \begin{bmatrix} 0.5 & 1.3 \\ 0.8 & 0.2 \end{bmatrix}$$

$$Q = X W = \begin{bmatrix} 0.92 & 1.64 \\ 1.03 & 0.61 \\ 1.07 & 1.09 \end{bmatrix}$$

Now the places are added to the queries, and they become

$$Q = \begin{bmatrix} 0.92 & 2.64 \\ 1.87 & 1.15 \\ 1.98 & 0.67 \end{bmatrix}$$
"""

UPDATED_WEIGHTS = r"""# One step downhill

$$x = \begin{bmatrix} 0.6 \\ 1.4 \end{bmatrix}, \quad
W_1 = \begin{bmatrix} 0.2 & 0.5 \\ 0.7 & 0.1 \end{bmatrix}$$

$$z_1 = W_1 x = \begin{bmatrix} 0.82 \\ 0.56 \end{bmatrix}$$

The gradient is $\begin{bmatrix} 0.0572 & 0.1334 \\ -0.1745 & -0.4072 \end{bmatrix}$. With a
learning rate of 0.1 the weights are updated:

$$W_1 = \begin{bmatrix} 0.1943 & 0.4867 \\ 0.7175 & 0.1407 \end{bmatrix}$$

The next pass gives $z_1 = \begin{bmatrix} 0.7979 \\ 0.6275 \end{bmatrix}$.
"""

ANOTHER_EXAMPLE = r"""# How wide are heads?

Our toy model has $d_{model} = 6$ and $h = 3$ heads, so

$$d_k = d_{model} / h = 2$$

## In earnest

A model that is used has $d_{model} = 768$, $h = 12$ and $d_k = 64$. Imagine $d_k = 256$ for a
moment: then scores are divided by 16. For $N = 50000$ words there are more than for $N = 1000$.
"""

MASKED = r"""# Looking back only

$$Q = \begin{bmatrix} 1.3 & 0.4 \\ 0.6 & 1.1 \end{bmatrix}, \quad
K = \begin{bmatrix} 0.9 & 0.5 \\ 0.2 & 1.7 \end{bmatrix}$$

The scores are

$$S = Q K^T = \begin{bmatrix} 1.37 & 0.94 \\ 1.09 & 1.99 \end{bmatrix}$$

What comes later is out of sight, so the scores S are

$$S = \begin{bmatrix} 1.37 & -\infty \\ 1.09 & 1.99 \end{bmatrix}$$

Their exponentials are $e^S = \begin{bmatrix} 3.935 & 2.560 \\ 2.974 & 7.316 \end{bmatrix}$.
"""

NEW_EMBEDDINGS = """# What comes out goes in again

X = [[0.2, 0.5, 0.9], [0.4, 0.1, 0.3], [0.8, 0.6, 0.7]]

| word | embedding |
|------|-----------|
| we   | [0.2, 0.5, 0.9] |
| row  | [0.4, 0.1, 0.3] |
| home | [0.8, 0.6, 0.7] |

After the block every word has a new embedding:

| word | embedding |
|------|-----------|
| we   | [0.4713, 0.3928, 0.6241] |
| row  | [0.4598, 0.3871, 0.6114] |
| home | [0.4902, 0.4117, 0.6359] |
"""

ILLUSTRATION = """# A first idea

Say "rivers run deep" is read. For example the word "run" may look

- 10% at "rivers"
- 75% at "run"
- 15% at "deep"

## With numbers

Q = [[0.3, 0.1], [0.2, 0.4], [0.5, 0.2]]
K = [[0.1, 0.2], [0.3, 0.1], [0.2, 0.2]]

S = Q @ K.T

Attention weights: A = softmax(S)
"""

SUM_OVER_LINES = """# Entry by entry

```
q1 = (0.15 × 0.08)
   + (0.35 × 0.22)
   + (0.45 × 0.06)

   = 0.0120
   + 0.0770
   + 0.0270

   = 0.1160
```

```
q2 = (0.15 × 0.34)
   + (0.35 × 0.12)

   = 0.0510
   + 0.0420

   = 0.0930
```
"""

DERIVATIVE = r"""# Backwards through tanh

$$x = \begin{bmatrix} 0.6 \\ 1.4 \end{bmatrix}, \quad
W = \begin{bmatrix} 0.2 & 0.5 \\ 0.7 & 0.1 \end{bmatrix}$$

$$z = W x = \begin{bmatrix} 0.82 \\ 0.56 \end{bmatrix}$$

$$f(z) = \tanh(z) = \begin{bmatrix} 0.6751 \\ 0.5080 \end{bmatrix}$$

f'(z) = $\begin{bmatrix} 0.5443 \\ 0.7420 \end{bmatrix}$
"""

LOOPS = """# In C

With d_k = 4 and h = 2 heads of seq_len = 3 words:

```c
for (int h = 0; h < 2; h++) {
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int dk = 0; dk < 4; dk++) sum += Q[i][dk] * K[i][dk];
        S[h][i] = sum / 2.0f;
    }
}
```
"""

ARROWS = """# From logits to shares

Q = [[0.4, 1.2], [0.9, 0.3]]
K = [[1.1, 0.5], [0.2, 0.8]]

S = Q @ K.T

Logits z -> Softmax p -> Loss

z = [1.7, 0.6, -0.4] → p = [0.687, 0.229, 0.084]

exponentials of row 1

1.04
↓
2.829

1.04
↓
2.829

Their sum is 5.658.
"""

GRADIENTS = """# A list of what comes out

```python
import numpy as np
x1 = [0.6, 1.4]
W = np.array([[0.2, 0.5], [0.7, 0.1]])
z = W @ x1
```

The gradients for the two weights are

[-0.35, 0.15]

so both move a little.
"""

TWO_HEADS = """# Two heads

Head 1: the queries are [[0, 2], [2, 1]] and the keys are [[1, 0], [0, 1]].

Scores: [[0, 2], [2, 1]]

Head 2: queries

[[1, 1], [0, 3]]

and keys

[[2, 0], [1, 0]]

Scores: [[2, 1], [0, 0]]
"""

AS_PRINTED = r"""# Rounded on the way

$$X = \begin{bmatrix} 0.52 & 0.61 \\ 0.33 & 0.97 \end{bmatrix}$$

$$S = X X^\top = \begin{bmatrix} 0.64 & 0.76 \\ 0.76 & 1.05 \end{bmatrix}$$

For the second word $e^{0.76} \approx 2.138$ and $e^{1.05} \approx 2.858$, so its weights are
$2.138 / (2.138 + 2.858) \approx 0.4279$ and $2.858 / (2.138 + 2.858) \approx 0.5721$.
"""


def notebook(*cells):
    """A notebook of code cells, each with what it printed."""
    made = [
        {
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": text}] if text else [],
        }
        for source, text in cells
    ]
    return json.dumps({"cells": made, "nbformat": 4})


SINGLE_PRECISION = notebook(
    (
        "import tensorflow as tf\n"
        "a = tf.constant([[0.31, 0.72, 0.15], [0.44, 0.18, 0.93]])\n"
        "b = tf.constant([[0.52, 0.61], [0.27, 0.34], [0.85, 0.09]])\n"
        "s = tf.matmul(a, b)\n"
        "print(s)",
        "[[0.48310003 0.44740003]\n [1.0679001  0.4133    ]]\n",
    ),
    (
        "w = tf.nn.softmax(s / tf.sqrt(2.0))\nprint(w)",
        "[[0.50631064 0.49368942]\n [0.6136953  0.3863047 ]]\n",
    ),
)

SHOWN_ROUNDED = notebook(
    ("scores = q @ k\nprint(scores)", "[1.87 2.44 0.93]\n"),
    ("scaled = scores / np.sqrt(8)\nprint(scaled)", "[0.66 0.86 0.33]\n"),
    ("print(scaled * 10)", "[6.62 8.61 3.28]\n"),
)

TRAINED = notebook(
    (
        "import numpy as np\n"
        "x = np.array([0.6, 1.4])\nW = np.array([[0.2, 0.5], [0.7, 0.1]])\n"
        "z = W @ x\nprint(z)",
        "[0.82 0.56]\n",
    ),
    (
        "for step in range(1):\n    W = W - 0.1 * gradient(W, x)\nz = W @ x\nprint(z)",
        "[0.7979 0.6275]\n",
    ),
)

#: An input that is printed with a wrong figure: what is computed from it is right.
PRINTED_AMISS = notebook(
    (
        "x = load()\nW = np.array([[1.3, 0.7], [0.4, 2.1]])\nprint(x)",
        "[[0.31 1.24]\n [2.13 0.94]\n [1.12 0.55]\n [0.47 1.91]]\n",
    ),
    (
        "y = x @ W\nprint(y)",
        "[[0.899 2.821]\n [3.113 3.297]\n [1.676 1.939]\n [1.375 4.34 ]]\n",
    ),
)

HAND_SOFTMAX = """# A softmax by hand

e^1 = 2.7, e^2 = 7.4 and e^3 = 20.1, which is 30.2 together:

```
2.7 / 30.2 = 0.09
7.4 / 30.2 = 0.24
20.1 / 30.2 = 0.67
```

In percent that is 9.0 + 24.5 + 66.5 = 100%.
"""

DOUBLES = notebook(
    ("import numpy as np\nP = np.array([[0.9, 0.1], [0.5, 0.5]])\np = np.array([1, 0])", ""),
    ("p = p @ P\nprint(p.tolist())\np = p @ P\nprint(p.tolist())",
     "[0.9, 0.1]\n[0.8600000000000001, 0.14]\n"),
    ("print((np.array([0.9, 0.1]) @ P).tolist())", "[0.8600000000000001, 0.14]\n"),
)  # fmt: skip

IN_CIRCLES = """# What rests on itself

$$A = B + C$$

$$B = A - C$$

so $A = 3$ and $B = 2$.
"""

BEHIND_NAMES = notebook(
    (
        "print('Q ', Q)",
        "Q  tensor([[[-0.1392,  0.5523],\n         [ 0.2970,  0.8269]]], "
        "grad_fn=<UnsafeViewBackward0>)\n",
    ),
)

SIZE_OF_AN_EXERCISE = """K = [1, 0, 1, 0]
√d_k = √4 = 2
scaled = [2/2, 0/2, 1/2] = [1, 0, 0.5]
exp([1, 0, 0.5]) = [2.72, 1, 1.65]
softmax = [0.51, 0.19, 0.31]

Now it is your turn.

d_k = 2, √d_k = √2 ≈ 1.41
1. QK^T:
"""

A_SCORE_OF_LOST_KEYS = notebook(
    (
        "hens = torch.tensor([[0.41, 0.25, 0.83], [0.52, 0.91, 0.63], [0.62, 0.81, 0.58],\n"
        "    [0.27, 0.54, 0.35], [0.73, 0.21, 0.16], [0.09, 0.77, 0.51]])\n"
        "query = hens[1]\n"
        "attn_scores_2 = torch.empty(hens.shape[0])\n"
        "for i, hen in enumerate(hens):\n"
        "    attn_scores_2[i] = torch.dot(hen, query)",
        "tensor([0.9636, 1.4954, 1.4249, 0.8523, 0.6715, 1.0688])\n",
    ),
    (
        "attn_weights_2_temp = attn_scores_2 / attn_scores_2.sum()",
        "Weights: tensor([0.1488, 0.2309, 0.2200, 0.1316, 0.1037, 0.1650])\nSum:  tensor(1.0000)\n",
    ),
    (
        "",
        "Row 2 sum: 1.0\nAll row sums: tensor([1.0000, 1.0000, 1.0000, 1.0000, 1.0000, 1.0000])\n",
    ),
    ("W_key = torch.nn.Parameter(torch.rand(d_in, d_out))\nkeys = hens @ W_key", ""),
    (
        "keys_2 = keys[1]\nattn_score_22 = query_2.dot(keys_2)\nprint(attn_score_22)",
        "tensor(1.8524)\n",
    ),
    ("print(attn_scores_2)", "tensor([1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440])\n"),
    ("print(attn_weights_2)", "tensor([0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820])\n"),
)

SINGLE_BESIDE_NUMBERS = r"""# Checked by hand

$q = \begin{bmatrix} 1 & 1 & 0 \\ 0 & 0 & 1 \end{bmatrix}$ and
$k = \begin{bmatrix} 1 & 1 & 0 \\ 1 & 0 & 1 \end{bmatrix}$ give

$$q k^T = \begin{bmatrix} 2 & 1 \\ 0 & 1 \end{bmatrix}$$

$$\frac{q k^T}{\sqrt{3}} = \frac{\begin{bmatrix} 2 & 1 \\ 0 & 1 \end{bmatrix}}{\sqrt{3}}
= \begin{bmatrix} 1.1547005 & 0.57735026 \\ 0 & 0.57735026 \end{bmatrix}$$
"""

POWERS = r"""# Steps to the end

$$F = \begin{bmatrix} 1/2 & -1/4 \\ 0 & 1/5 \end{bmatrix}^{-1}
= \begin{bmatrix} 2 & 2.5 \\ 0 & 5 \end{bmatrix}$$

$$P = \begin{bmatrix} 0.5 & 0.25 \\ 0.5 & 0.75 \end{bmatrix}, \quad
P^{-1} = \begin{bmatrix} 3 & -1 \\ -2 & 2 \end{bmatrix}$$

$$\begin{bmatrix} 0.5 & 0.25 \\ 0.5 & 0.75 \end{bmatrix}^5 = P^5
= \begin{bmatrix} 0.3340 & 0.3330 \\ 0.6660 & 0.6670 \end{bmatrix}$$
"""

THOUSANDS = """# How many pairs of words

A vocabulary has $50.000$ words. Weights such as 0.25, 0.5 and 0.125 are shares of them, and
$0.25 + 0.5 + 0.125 = 0.875$ with $0.5^2 = 0.25$.

- Pairs: $50.000^2 = 2.5 \\times 10^9$
- Three of them: $50.000^3 = 1.25 \\times 10^{14}$
- Words and signs: $12.500 \\cdot 3 = 37500$
"""

COMMAS_IN_LINES = r"""# Seed for hens

$$W = \begin{bmatrix} 0.104 & 0.171 \\ 0.209 & 0.342 \end{bmatrix}, \quad
b = \begin{bmatrix} 15.0 \\ 20.0 \end{bmatrix}$$

$$W b = \begin{bmatrix} 4.98 \\ 9.975 \end{bmatrix}$$

A sack weighs $0.5 \cdot 40.5 = 20.25$ pounds, all of them $20.25 \cdot 35 = 708.75$.

Of corn there are $0,1\cdot15=1,5$ sacks, of wheat $0,17\cdot20\approx3,4$, and both are worth
$5,23\cdot15+8,57\cdot20\approx250$.
"""

NEGATIVE = r"""# Two slopes

The first is $\alpha = -0.86 \cdot 0.25 = -0.215$, so that $0.5 \cdot (-0.215) = -0.1075$.

In the second example $(-0.975) \cdot 0.215 = -0.209$ with a slope of about a fifth.
"""

ARTICLES = {
    "the negative of another result": ("slopes.md", NEGATIVE),
    "points that part thousands": ("pairs.md", THOUSANDS),
    "decimal commas beside points": ("seed.md", COMMAS_IN_LINES),
    "powers of matrices": ("steps.md", POWERS),
    "the size of an exercise": ("yours.md", SIZE_OF_AN_EXERCISE),
    "a score of keys that are lost": ("lost.ipynb", A_SCORE_OF_LOST_KEYS),
    "single precision beside numbers": ("checked.md", SINGLE_BESIDE_NUMBERS),
    "sums of rounded powers": ("softmax.md", HAND_SOFTMAX),
    "all digits of a float": ("chain.ipynb", DOUBLES),
    "names that rest on each other": ("circles.md", IN_CIRCLES),
    "tensors behind names": ("tensors.ipynb", BEHIND_NAMES),
    "an input that is printed amiss": ("load.ipynb", PRINTED_AMISS),
    "scores that a mask hides": ("back.md", MASKED),
    "a variable that is computed again": ("hens.md", ADDED_POSITIONS),
    "weights that are updated": ("downhill.md", UPDATED_WEIGHTS),
    "sizes of another example, and supposed ones": ("heads.md", ANOTHER_EXAMPLE),
    "a table of new embeddings": ("again.md", NEW_EMBEDDINGS),
    "shares that only illustrate": ("idea.md", ILLUSTRATION),
    "a sum over several lines": ("lines.md", SUM_OVER_LINES),
    "a derivative under its own label": ("backwards.md", DERIVATIVE),
    "variables of loops": ("loops.md", LOOPS),
    "arrows in prose, and what stands above arrows": ("arrows.md", ARROWS),
    "a list of results without a name": ("gradients.md", GRADIENTS),
    "the keys of another head": ("two.md", TWO_HEADS),
    "what is true by the numbers around it": ("way.md", AS_PRINTED),
    "single precision of a program": ("single.ipynb", SINGLE_PRECISION),
    "results of what is shown rounded": ("shown.ipynb", SHOWN_ROUNDED),
    "a variable that a loop trains": ("trained.ipynb", TRAINED),
}


@pytest.mark.sampled(11)
@pytest.mark.parametrize("what", ARTICLES)
def test_nothing_that_is_right_is_refuted(what):
    """And nothing of it would be corrected."""
    name, text = ARTICLES[what]

    def judged(source):
        return audit(case_of(read(article(Path(name), source.encode()))))

    found = judged(text)
    refuted = [one for one in (*found.figures, *found.statements) if one.verdict is Verdict.REFUTED]
    assert [str(one) for one in refuted] == []
    assert fixed(found, judged).text == text
