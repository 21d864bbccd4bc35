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
        *("We obtain $t + s$.", "u amounts to 5", "u comes to 5", "u evaluates to 5", "u tends to 0"),
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
        *("t ∈ {1, 2}\nu = t^2\nu = t*t", "t in (0, 1)\nu = t^2\nu = t*t", "k ∈ Z\nu = k^2\nu = k*k"),
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
