"""What people write beside formulas: what leaves them what they are, and what does not."""

from __future__ import annotations

NUMBERS = "s, t, c: number\nu = t**2\n"
ARRAYS = "x, y: n\nA, S: n x n\np = softmax(x)\nsum(p) = 1\nv, eta: number\n"
#: What must not be read as ``u = t*t``, or as words, by what is given.
CHANGED = {
    NUMBERS + "u = u\n": [
        # Between bars and in cells.
        *("|t| s = s |s|", "|c| u = t*t |s|", "| derivative of u | 5t | u = t*t |"),
        *("| u = t*t | 5 |", "| u | 5t | u = t*t |", "| u = t*t | false |"),
        # Formulas beside a quoted one.
        *(r"$u = t*t$ $\cdot s$", "$u = t*t$, hence $5t$.", "$u = t*t$, i.e. $5t$"),
        *("$u = t*t$, which gives $5t$", r"$\frac{d}{dt}$ $u = t*t$", r"$\log$ $u = t*t$"),
        *("$2$ $u = t*t$", "$-$ $u = t*t$", "$u = t*t$ $s$", r"$u = t*t$ $\pm s$"),
        *("$u = t*t$ $^2$", "$u = t*t$ $(s+1)$", r"$u = t*t$ $\ll 5t$", r"$u = t*t$ $\in \{5\}$"),
        *("`u = t*t` `(s)`", "-$u = t*t$", "$u = t*t$ by $s$", "$s$, $u = t*t$"),
        # Names as marks, labels and remarks.
        *("*c* u = t*t", "*2* u = t*t", "c: u = t*t", "[c] u = t*t", "c) u = t*t", "s) u = t*t"),
        *("u = t*t (c)", "u = t*t (s c)", "u = t*t [c]", "_c_ u = t*t"),
        *("u = t // 2\nu = t*t", "v = t // 2\nv = t", "v = t % 2\nv = t"),
        # Marks that say something.
        *(r"\item[u = 5] u = t*t", r"\item[not] u = t*t", r"\item[$-$] u = t*t"),
        *(r"u = t*t \tag{false}", r"u = t*t \tag*{+ t}", r"u = t*t \label{+ t}"),
        # Relations by any other name.
        *(
            rf"$u \{sign} s$"
            for sign in (
                *("perp", "parallel", "ll", "gg", "prec", "subset", "subseteq", "notin", "ni"),
                *("mid", "asymp", "eqsim", "leqq", "lesssim", "nless", "gets", "leftarrow"),
                *("Leftarrow", "Leftrightarrow", "leadsto", "longmapsto", "models", "vdash"),
                *("bowtie", "defeq", "eqdef", "colonequals", "coloneq", "circeq", "bumpeq"),
            )
        ),
        "u &eq; 5",
        # Words that turn a claim.
        *(
            f"{word} u = t*t"
            for word in (
                *("Wrong:", "Not true:", "False:", "minus:", "no:", "For no t,", "In no case,"),
                *("By mistake,", "On average,", "*not*", "—", "Up to sign,", "Except at 0,"),
            )
        ),
        *(
            f"$u = t*t$ {words}"
            for words in (
                *("never holds.", "doesn't hold.", "fails.", "holds for no $t$", "up to sign"),
                *("mod 3", "raised to $3$", "to the power of $3$", "less $3$", "increased by $3$"),
                *("with $t$ replaced by $3$", "or $t$", "is wrong", "to the power of $t$", "half"),
                *("over $s$", "product $s$", ", squared", "with $c$", "from $s$", "if $t$"),
            )
        ),
        *("It would be wrong to say that $u = t*t$", "We disprove $u = t*t$"),
        *("The negative of $u = t*t$", "**Not** $u = t*t$", "The square root of $u = t*t$"),
        *("The derivative of $u = t*t$", "u = t*t (times two)", "u = t*t (up to sign)"),
        *("u = t*t (not true)", "u = t*t [wrong]", "u = t*t by a factor of two", "u = t*t ✗"),
        *("u = t*t as opposed to t", "u = t*t is wrong", "At $t = 0$ the value is $u = 0$."),
        *("It is not the case that\nu = t*t", "u = t*t\nis wrong.", "u = t*t, \nsquared."),
        *("The square root of\n$$u=t*t$$", "The square root of\n\n$$u = t*t$$", "Wrong:\nu = t*t"),
        *("Half of\n$u = t*t$", "u = t*t\nhalf", "$$u = t*t$$\n\nis wrong.", "Never\nu = t*t"),
        # Claims in words.
        *("The derivative of $u$ is $5t$.", "$u$ is $3t$", "u is 3t", "The value of $u$ is $5$."),
        *("The gradient is $0$.", "So the answer is $t + s$.", "Answer: t + s", "log t is 5"),
        *(
            "We obtain $t + s$.",
            "u amounts to 5",
            "u comes to 5",
            "u evaluates to 5",
            "u tends to 0",
        ),
        *("$u$ ist gleich $5t$", "u ist 5t", "u vaut 5t", "u es igual a 5t", "∇u is zero"),
        *("Der Gradient ist $t + s$.", "So $u = t*t$, whose derivative is $5t$."),
        *("u = t*t and so u is 5.", "Since $u = t*t$, the mean of $u$ is $s$."),
    ],
    ARRAYS: [
        *("w = 3 v\nw = 3 v (eta)", "w = 3 v\nw = 3 v [eta]", "w = 3 v\n_eta_ w = 3 v"),
        *("w = 3 v\neta: w = 3 v", "$||x|| v = v ||y||$", "dx is p + y", "$dx$ is $p+y$"),
        *("$dx$: $p+y$", "The gradient of $x$ is $p$.", "p sums to 2", "A' is A", "A A is A"),
        *("The entries of $p$ add up to $2$", "the trace of A is n", "A is A.T"),
        "Since $\\sum_i p_i = 1$, the mean of $p$ is $n$.",
    ],
    "": [
        "x: a vector of length 1\nsum(x)^2 = x^T x",
        *("A: matrix of size n\nA^T = A", "Let A be a real matrix of size n.\nA^T = A"),
        *(
            "t ∈ {1, 2}\nu = t^2\nu = t*t",
            "t in (0, 1)\nu = t^2\nu = t*t",
            "k ∈ Z\nu = k^2\nu = k*k",
        ),
        "x: an array of n vectors\nsum(x) = sum(x)",
        "x, y: n\nM: n x n\nwhere(M, x, 0*x) = M*y",
    ],
    # An assumption holds from where it stands on, and in its exercise.
    "z, y: n\np = softmax(z)\nL = -\\sum_i y_i log p_i\n": [
        "∂L/∂z = p - y\nb) Now assume \\sum_i y_i = 1.",
    ],
    "t: number\nu = t**2\n": [
        "# Exercise 1\nAssume t > 0\nsqrt(u) = t\n# Exercise 2\nsqrt(u) = t",
        "Exercise 1. Assume t = 2.\nu = 4\n## Exercise 2\nLet t be arbitrary again.\nt = 2",
    ],
}
_RIGHT = r"""# Homework 3
Let $z \in \mathbb{R}^n$ and let $p = softmax(z)$ be the vector of probabilities.

We first show that the entries of $p$ sum to one. Indeed,
$$\sum_i p_i = 1.$$
Now differentiate with respect to $z$. By the quotient rule, we obtain
$$\frac{\partial p_i}{\partial z_j} = p_i(\delta_{ij} - p_j).$$
---
S: n x m
L: function of A
A = softmax(S)
The rows of A sum to one, hence
rowsum(A) = ones(n)
Using the chain rule, we arrive at
dS = A * (dA - rowsum(A * dA))
---
X: n x d
w: d
y: n
The residual is defined by
r = X w - y
and the squared loss is
L = r^T r
Taking the gradient with respect to w yields
dL/dw = 2 X^T r
---
X: n x d
W: d x k
b: k
T: n x k
Forward pass
H = X W
L = sum(H * T)
Backward pass
dW = X^T T
---
t: number
Problem 1. Let $u = t^2$. Compute the derivative.
Solution. By the power rule, $du/dt = 2t$.
---
t: number
Given: u = t^2
To show: u = t*t
Proof: u = t*t by definition of u. QED
---
z, y: n
assume sum(y) = 1
p = softmax(z)
L = -\sum_i y_i \log p_i
Daraus folgt: dL/dz_k = p_k - y_k
Was zu zeigen war.
---
Sei $z \in \mathbb{R}^n$.
p = softmax(z)
Es gilt: sum(p) = 1
---
Soit $z \in \mathbb{R}^n$.
p = softmax(z)
On obtient : sum(p) = 1
---
Q, K: n x d
The attention scores are
$$S = Q K^T$$
and the attention weights are
$$A = softmax(S)$$
Each row of $A$ sums to one:
$$\sum_j A_{ij} = 1$$
---
t: number
(a) Let u = t^2.
(b) Then du/dt = 2 t.
(c) Therefore the second derivative is diff(diff(u, t), t) = 2.
---
x: n
1. We set p = softmax(x).
2. As the probabilities add up to one, sum(p) = 1.
3. It follows that sum(i, diff(p[i], x[k])) = 0.
---
S: n x m
A = softmax(S)

**Claim.** Every row of $A$ sums to one, i.e. $rowsum(A) = ones(n)$.

**Proof.** This follows from the definition of $A$. ∎
---
t: number
u = t**2
Here is my solution:
u = t*t
I am done.
---
t: number
u = t**2
Our final answer is therefore $du/dt = 2t$.
---
t: number
u = exp(t)
Since the exponential is its own derivative, $du/dt = u$.
---
t, s: number
u = t*s
Product rule: diff(u*s, t) = s*s
Hence the claim.
---
A, B: n x n
The transpose of a product reverses the order:
(A B)^T = B^T A^T
---
A, B: n x n
The trace is cyclic, so $trace(A B) = trace(B A)$ holds for all square matrices.
---
x: n
p = softmax(x)
The Jacobian of the softmax reads
\begin{align}
\frac{\partial p_i}{\partial x_j} &= p_i (0 - p_j) \\ &= -p_i p_j \quad \text{for } i \neq j
\end{align}
---
# Task 2
x: n
y: n
L = \frac{1}{n}\sum_i (x_i - y_i)^2
Differentiating the loss gives us
\frac{\partial L}{\partial x_k} = \frac{2}{n}(x_k - y_k)
which is the desired result.
---
t: number
u = t^2
Step 1: expand. $(t+1)^2 = u + 2t + 1$
Step 2: simplify, $(t+1)^2 - u = 2t + 1$.
---
t: number
assume t > 0
u = log(t)
The derivative of the logarithm is well known: du/dt = 1/t
---
S: n x n
M: n x n
The masked scores are
X = S + M
and so are the weights
A = softmax(X)
We verify the normalization:
rowsum(A) = ones(n)
---
x: n
gamma, beta: n
Layer normalization
m = mean(x)
v = mean((x - m)**2)
Then mean(x - m) = 0
and v = mean(x * x) - m**2
---
x, w: n
b: number
The neuron computes
z = w^T x + b
its output is
a = sigmoid(z)
and by the chain rule
∂a/∂b = a (1 - a)
---
x, w: n
z = w^T x
a = sigmoid(z)
L = a
For every $i$ we have $∂L/∂w_i = a (1 - a) x_i$.
---
x: n
The norm of $x$ is
r = sqrt(sum(i, x_i^2))
so that
r^2 = x^T x
---
A: n x n
B = A + A^T
B is symmetric, as
B^T = B
---
V: n x d
S: n x n
A = softmax(S)
Y = A V
L: function of Y
The gradients of the loss are
dV = A^T dY
dA = dY V^T
---
t: number
u = t^2
> Hint: use the binomial formula.

u - 1 = (t - 1)(t + 1)
---
x: n
p = softmax(x)
- First, the entries sum to one: `sum(p) = 1`.
- Second, the derivative is `diff(p[i], x[k]) = p[i]*(delta(i,k) - p[k])`.
---
t: number
u = t^2
Wir leiten nach t ab und erhalten mit der Kettenregel:
du/dt = 2 t
---
t: number
u = t^2
Par la règle de la chaîne, on obtient du/dt = 2 t
---
t: number
u = t^2
Equation (1) follows from the definition of $u$:
$$u = t \cdot t \tag{1}$$
By (1), we get $u - t \cdot t = 0$.
---
t: number
u = t^2
Substituting the definition of $u$ into the left-hand side, we find $u + 1 = t^2 + 1$.
---
t: number
u = sigmoid(t)
It is well known that the derivative of the sigmoid is $du/dt = u (1 - u)$.
We use this fact below."""
#: Texts of homeworks that are right, and read.
RIGHT = [text.strip() for text in _RIGHT.split("---")]
