"""Ways to write a formula that people use, and ways to dress it."""

from __future__ import annotations

#: A text with a line that is proved, and a place before and behind.
FRAME = """\
# A homework
S, y: n x m
L: function of A
A = softmax(S)
{before}
rowsum(A) = ones(n)
{behind}
"""

#: Around a formula with two sides, ``{}``, as people do.
AROUND = [
    *("{}", "{}.", "{},", "{};", "  {}  ", "\t{}", "({})", "[{}]", "{{{}}}", "(({}))", "({})."),
    *("a) {}", "(a) {}", "(i) {}", "i) {}", "1) {}", "1. {}", "(1) {}", "1.2. {}", "iv. {}"),
    *("a. {}", "3a) {}", "Q1. {}", "A) {}", "• {}", "◦ {}", "— {}", "\n* {}", "\n+ {}", "> {}"),
    *("1) a) {}", "\n* `{}`", "- `{}`", "- ${}$", "> ${}$", "- so {}", "- [x] so {}"),
    *("`{}`", "``{}``", "`{}`.", "${}$", "$ {} $", "$${}$$", "$$ {} $$", r"\({}\)", r"\( {} \)"),
    *(r"\[{}\]", r"\[ {} \]", "$$\n{}\n$$", "\\[\n{}\n\\]", "```\n{}\n```", "~~~\n{}\n~~~"),
    "\\begin{{equation}}\n{}\n\\end{{equation}}",
    "\\begin{{equation*}} {} \\end{{equation*}}",
    "\\begin{{align}}\n{}\n\\end{{align}}",
    "\\begin{{align*}}\n{} \\\\\n\\end{{align*}}",
    "\\begin{{gather}}\n{}\n\\end{{gather}}",
    "\\begin{{itemize}}\n\\item {}\n\\end{{itemize}}",
    "\\[\n\\begin{{aligned}}\n{}\n\\end{{aligned}}\n\\]",
    *(r"{} \tag{{1}}", r"{} \label{{eq:a}}", "{}   (1)", r"{} \\", r"\item {}", r"\quad {}"),
    *("**{}**", "__{}__", "*{}*", "_{}_", r"\textbf{{{}}}", r"\boxed{{{}}}", r"$\boxed{{{}}}$"),
    *(r"\text{{so }} {}", "<b>{}</b>", '"{}"', "“{}”", "« {} »", "| {} |", "{} \\qed", "\ufeff{}"),
    *("**Claim.** {}", "**Claim:** ${}$", "*Claim.* {}", "Claim: {}", "Claim 2: {}", "Lemma 3. {}"),
    *("Step 2: {}", "Part (b): {}", "Weights: {}", "Answer: `{}`", "Proof. {}", "x: {}"),
    *("so {}", "So {}", "Hence {}", "hence, {}", "Thus: {}", "therefore {}", "We get {}"),
    *("we have that {}", "It follows that {}", "and so {}", "Finally, {}", "Then we obtain {}."),
    *("⇒ {}", "=> {}", "∴ {}", r"\Rightarrow {}", r"\therefore {}", r"$\implies {}$", "i.e. {}"),
    *("Note that {}", "Clearly {}", "By the chain rule, {}", "By the chain rule, ${}$."),
    *("Using the product rule we get {}", "{} by the chain rule", "{}, by the chain rule"),
    *("{} because it is", "{}, since it is so.", "{} # easy", "{}  // easy", "{} % easy"),
    *("{} (easy to see)", "{} [chain rule]", "{}, as told", "{} ∎", "{} □", "{} ✓"),
    *("{} for all i", "{}, for all i and j", "{} for i = 1, ..., n", r"{} \quad \forall i"),
    *("Here `{}` by rows.", "We see `{}`, as told.", r"Hence \({}\) holds.", "see `{}` above"),
    *("`{}` and `1 = 1`", "`1 = 1` and `{}`", "{} and 1 = 1", "1 = 1, {}", "1 = 1; {}"),
    *("1 = 1 ⇒ {}", "Now ${}$ and so on."),
]  # fmt: skip
#: Between two sides, ``{}`` each, as people do.
BETWEEN = [
    *("{} == {}", "{} === {}", "{} ≡ {}", "{} equals {}", "{} is equal to {}", "({}) = ({})"),
    *(r"\({} \equiv {}\)", "{}\n= {}", "{} =\n{}", "{}\n== {}", "`{}` = `{}`", "${}$ = ${}$"),
    "\\begin{{align}}\n{} &= {}\n\\end{{align}}",
    "\\begin{{align}}\n{} \\\\\n&= {}\n\\end{{align}}",
    "$$\\begin{{aligned}} {} &= {} \\end{{aligned}}$$",
    "\\begin{{eqnarray}}\n{} &=& {}\n\\end{{eqnarray}}",
    *("\\[\n{}\n= {}\n\\]", "{} is the same as {}", "{} is identical to {}", "[{}] = {}"),
    *("{} = {} +\n0", "{} = {}\n+ 0", "{} = (\n{}\n)", "{} = {}\n  - 0", "{} = {}\n≡ 0 + {}"),
]  # fmt: skip
#: What claims something else, or can't be told: around an equation where there is one ``{}``.
ODD = [
    *("* {}", "+ {}", "- {}", "– {}", "− {}", "1. - {}", "- [ ] {}", "(2) {}", "{}!", "{}?"),
    *("({}", "{})", "[{}", "`{}", "${}", "{}$", "\\({}", "$${}", "\\[{}", "## {}", "### Result {}"),
    *("{{{}", "twice {}", "not {}", "minus {}", "half {}", "If {}", "if {} then", "unless {}"),
    *("{} or so", "{} maybe", "{} if n = 1", "{} (wrong)", "{} (see 3)", "{} \\text{{ok}}"),
    *("~~{}~~", "=={}==", "\u200b{}", "{} \\", "\\{}", "&{}", "{} &", "| {} | = 1 |"),
    *("Exercise 4 {}", "(c) {}", "{} | = {}", "{} = {} | easy"),
    *("{} + 0 = 0", "a: {}", "wrong: {}", "where {} + 5", "`{}` + 5", "5 + `{}`", "- 2 `{}`"),
    *("{} := {}", "{} ≔ {}", "{} =: {}", "{} ≈ {}", "{} ≃ {}", "{} ~ {}", "{} → {}", "{} -> {}"),
    *("{} ⇒ {}", "{} <= {}", "{} ≤ {}", "{} >= {}", "{} < {}", "{} > {}", "{} ≠ {}", "{} != {}"),
    *("{} ∝ {}", "{} ⇔ {}", "{} <=> {}", "{} ↦ {}", "{} |-> {}", r"\({} \approx {}\)"),
    *(r"${} \to {}$", r"${} \le {}$", r"${} \coloneqq {}$", "{} is {}", "{}: {}", "{} ; = {}"),
    *("{} equal {}", "({} = {}", "{} = {})", "{} = ({}", "{} = {} +"),
    *("| {} | = | {} |", "{}=\\\n{}", "{}\n≡ {}", "`{}`\n= `{}`", "{} = {}\n  * 1"),
    *("{} becomes {}", "{} gives {}", "{}\n{}", "{} minus {} vanishes", "{} = {} ± 0"),
]  # fmt: skip
#: Sides that differ, and sides that are equal.
FALSE = [
    ("dS", "A * (dA + rowsum(A * dA))"),
    ("-A", "A"),
    (r"\sum_j A_{ij}", "2"),
]
TRUE = [
    ("dS", "A * (dA - rowsum(A * dA))"),
    ("rowsum(A)", "ones(n)"),
    (r"\sum_j A_{ij}", "1"),
]

NUMBERS = "t, c: number\nu = t**2\nu = u\n"
SCORES = "x: n\nS: n x m\nA = softmax(S)\nrowsum(A) = ones(n)\n"
LOSS = "z, y: n\np = softmax(z)\n{} = -sum(i, y[i]*log(p[i]))\nsum(p) = 1\n"
#: What follows a text that is proved, and makes something false of it or can't be told.
HIDING = {
    # A formula goes on with a bare name, whatever the sign before it.
    NUMBERS + "u = t*t": [
        *("\n+ t", "\n- t", "\n* t", "\n+ u", "\n− t", "\n– t", "\n÷ t", "\n⊗ t", "\n∙ t"),
        *("\n∗ t", "\n∕ t", "\n± t", "\n— t", "\n+ t c", "\nplus t", "\ntimes t", "\nt"),
        *(",\n+ t", ".\n+ t", "...\n+ t", " \\\\\n+ t", "\n\n+ t", "\n$+ t$", "\n`- t`"),
        "\n+ t\n+ c",
    ],
    # What follows from what is assumed is not assumed, nor is another sentence.
    NUMBERS + "u = t * t\n": [
        *(f"Assume c > 0{sign} u = 5*t" for sign in (" =>", " ⇒", r" \Rightarrow", " ∴", ".", ";")),
        *("We assume c > 0. u = 5*t", "Suppose c > 0 and t > 0. u = 5*t", "Assume c > 0, so u = c"),
        *("Assume `c > 0`. `u = 5*t`", "Suppose c > 0. Then u = 5*t"),
    ],
    # Whatever a gradient is called, it is no definition.
    LOSS.format("CE"): [
        *("dCE_dz = p + y", "dCEdz = p+y", "dCE_dz_i = p_i+y_i", "dCE_dz[i] = p[i]+y[i]"),
        *("dL_dz = p + y", "gz = p + y", "g_z = p + y"),
    ],
    LOSS.format("L"): [
        *("dloss_dz = p + y", "grad_z = p + y", "L_z = p + y", r"\bar{z} = p + y", "d_z = p + y"),
        *("Dz = p + y", "dZ = p + y", "δz = p + y", "δ_z = p + y", r"\nabla_z = p + y"),
        *("gradz = p + y", "z_grad = p + y", "z_bar = p + y", "nabla_z = 5"),
    ],
    LOSS.format("f"): ["f_z = p + y"],
    **{
        f"S, V, {upstream}: n x n\nA = softmax(S)\nY = A V\nrowsum(A) = ones(n)\n": [odd]
        for upstream, odd in (
            *(("dL_dY", "dL_dA = dL_dY V"), ("gY", "gA = gY V"), ("grad_Y", "grad_A = grad_Y V")),
            *(("dLdY", "dLdA = dLdY V"), ("dY", "dL_dA = dY V"), ("dL_dY", "dA = dL_dY V")),
        )
    },
    # What means something already is no new name.
    NUMBERS + "u = t*t\n": [
        *(r"\log_2 t = log(t)", "log_2 t = log(t)", "log_2 = 5", "log2 = 5", "e = 3", "i = 1"),
        *("∞ = 5", r"\infty = 5", "tc = t + c"),
    ],
    "x, y: n\nA, B: n x n\nC = A B\nC = A @ B\n": ["AB = B A", "AB = BA", "xy = x^T y", "BA = B*A"],
    # Each sum has its own limits; an exponent behind an exponent can't be told.
    "x, y: n\nK: n x d\nx = x\n": [
        r"\sum_{i=1}^{d} x_i - \sum_{i=1}^{n} x_i = 0",
        "Σ_{i=1}^d x_i + Σ_{i=1}^n y_i = sum(x) + sum(y)",
        r"mean_{i=1}^d x_i = mean(x)",
    ],
    NUMBERS + "t^(2) = t * t\n": [
        *("e^-t^2 = (e^(-t))^2", "t^2^3 = t^6", "e^t^2 = (e^t)^2", "t²^3 = t^6", "t^2**3 = t^6"),
        *("t**2^3 = t^6", "u^{2}^{3} = u^6", "e^-t**2 = (e^(-t))^2", "e^(t)^2 = e^(2t)"),
    ],
    # An entry of what is known is no new name.
    SCORES + "p = softmax(x)\ndiff(p, x) = diff(p, x)\n": [
        *("A_{12} = 5", "A_12 = 5", "A_{11} = A_{12}", "A_i = 5", "A_1 = 5", "A_{i'j} = 5"),
        *("A_{iJ} = 5", "A_{IJ} = 5", "A_n = 5", "S_{12} = 5", "p_{12} = 5", "p_I = 5", "p_m = 7"),
    ],
    "x: N\np = softmax(x)\nsum(p) = 1\n": ["p_N = 7", "x_N = 7", "p_K = 7", "x_1 = 7"],
    # Commands of a document don't swallow formulas.
    NUMBERS + "u = t*t\n\\section{Words}\n\\usepackage[top=1in]{geometry}\nu = u \\tag{1}\n": [
        *(rf"\{command}{{u = 5}}" for command in ("section", "subsection*", "title", "label")),
        *(rf"\{command}{{u = 5}}" for command in ("author", "date", "usepackage", "begin")),
        *(r"\tag{u = 5} u = t**2", r"u = t**2 \label{u = 5}", r"\section{Claim} \label{u = 5}"),
    ],
    # Beside a quoted formula stands what makes another one of it.
    NUMBERS: [
        *("`u = t**2` + 5", "`u = t**2` - 5", "$u = t^2$ * 5", "$u = t^2$ + t c", "$u = t^2$ − t"),
        *("$u = t^2$ $+ t*c$", "$$u = t^2$$ + t c", "\\[u = t^2\\]\n+ t c", "`u = t**2` - `t`"),
        *("minus `u = t**2`", "not `u = t**2`", "2 `u = t**2`", "`u = t**2` times t"),
        *("`u = t**2` plus 5", "`u = t**2` t", "`u = t**2` · t", "`u = t**2` ÷ 2"),
        *("- `u = t**2` + 5", "`u = t**2` is wrong", "`u = t**2` – t"),
    ],
    # Unknown signs relate names, and numbers may be words.
    SCORES + "so the rows of softmax(S) sum to one\n": [
        *(f"{way.format(sign)}" for sign in "═˭꓿゠⹀ᐩ|" for way in ("A {} S", "so A {} S holds")),
        *("total(A) is zero", "total(A) is five", "dS is zero"),
    ],
    SCORES: ["+ S", "- x", "* n"],
}


def ways(left: str, right: str, *kinds: list[str]) -> list[str]:
    """Ways to write that two sides are equal."""
    return [
        way.format(left, right, right) if way.count("{}") > 1 else way.format(f"{left} = {right}")
        for kind in kinds
        for way in kind
    ]
