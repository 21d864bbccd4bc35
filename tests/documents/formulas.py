"""Hostile mathematics: LaTeX never closed or nested without end, macros, numbers and sizes."""

from __future__ import annotations

from tests.documents.kinds import DEEP, texts

# Mathematics that is never closed, or nested without end

texts(
    ".tex",
    open_dollars=lambda: "$ x = 1 \n\n" * 10_001,
    open_double_dollars=lambda: "$$" * 10_001 + "x",
    open_brackets_of_display=lambda: "\\[ x = 1 " * 20_000,
    nested_braces=lambda: "$" + "{" * DEEP + "1" + "}" * DEEP + " = 1$",
    open_braces=lambda: "$x = " + "{" * DEEP,
    closed_braces_only=lambda: "$x = " + "}" * DEEP + "$",
    nested_parentheses=lambda: "$x = " + "(" * DEEP + "1" + ")" * DEEP + "$",
    nested_left_and_right=lambda: "$" + "\\left(" * 30_000 + "1" + "\\right)" * 30_000 + "= 1$",
    nested_fractions=lambda: "$x = " + "\\frac{1}{" * 50_000 + "2" + "}" * 50_000 + "$",
    nested_roots=lambda: "$x = " + "\\sqrt{" * 50_000 + "2" + "}" * 50_000 + "$",
    nested_powers=lambda: "$x = 2" + "^{2" * 50_000 + "}" * 50_000 + "$",
    nested_indices=lambda: "$x" + "_{1" * 50_000 + "}" * 50_000 + " = 1$",
    nested_accents=lambda: "$" + "\\hat{" * 50_000 + "y" + "}" * 50_000 + " = 1$",
    nested_texts=lambda: "$" + "\\text{$" * 20_000 + "y" + "$}" * 20_000 + " = 1$",
    nested_matrices=lambda: (
        "$A = " + "\\begin{bmatrix}" * 10_000 + "1" + "\\end{bmatrix}" * 10_000 + "$"
    ),
    open_matrix=lambda: "$$A = \\begin{bmatrix} 1 & 2 \\\\ 3 & 4\n$$\nand $B = 1$.\n" * 3000,
    open_environments=lambda: "\\begin{align}\n A &= 1 \\\\\n" * 20_000,
    closed_environments_only=lambda: "\\end{pmatrix}\n\\end{align}\n" * 20_000,
    environments_that_cross=lambda: (
        "\\begin{align} A = \\begin{pmatrix} 1 \\end{align} \\end{pmatrix}\n" * 5000
    ),
    many_signs=lambda: "$x = " + "-" * DEEP + "1$",
    many_primes=lambda: "$x" + "'" * DEEP + " = 1$",
    many_transposes=lambda: "$X" + "^\\top" * DEEP + " = 1$",
    many_powers_in_a_row=lambda: "$x = 2" + "^2" * DEEP + "$",
    many_backslashes=lambda: "$x = " + "\\" * 1_000_001 + "$",
    many_ampersands=lambda: "\\begin{align}" + "&" * 1_000_000 + "= 1\\end{align}",
    many_relations=lambda: "$x " + "= \\approx " * DEEP + "1$",
    many_comments=lambda: "%\n" * 300_000 + "$x = 1$\n",
    long_command=lambda: "$\\" + "a" * 1_000_000 + " = 1$",
    long_name=lambda: "$\\mathrm{" + "a" * 1_000_000 + "} = 1$",
    verbatim_without_end=lambda: "\\begin{verbatim}\n" + "x = [[1, 2],\n" * 50_000,
)


# Macros


texts(
    ".tex",
    macro_of_itself=lambda: "\\newcommand{\\x}{\\x} $\\x = 1$\n",
    macro_of_itself_with_argument=lambda: "\\newcommand{\\x}[1]{\\x{\\x{#1}}} $\\x{1} = 1$\n",
    macros_of_each_other=lambda: "\\def\\a{\\b}\\def\\b{1 + \\a} $\\a = 1$\n",
    macro_of_its_argument=lambda: "\\newcommand{\\x}[1]{#1{#1}} $\\x{\\x{\\x}} = 1$\n",
    macros_that_double=lambda: (
        "\\newcommand{\\xa}{0.5 + 0.5}\n"
        + "".join(
            f"\\newcommand{{\\x{chr(98 + n)}}}{{\\x{chr(97 + n)} + \\x{chr(97 + n)}}}\n"
            for n in range(24)
        )
        + "$\\xy = 16777216$\n"
    ),
    macro_that_doubles_its_argument=lambda: (
        "\\newcommand{\\x}[1]{#1#1} $" + "\\x{" * 60 + "1" + "}" * 60 + "$\n"
    ),
    macro_that_redefines=lambda: (
        "\\newcommand{\\x}{\\renewcommand{\\x}{\\x\\x}\\x} $\\x$ \\renewcommand{\\frac}[2]{#2}\n"
        "\\renewcommand{\\begin}{\\end}\\renewcommand{\\newcommand}{}\n$\\frac{1}{2} = 0.5$\n"
    ),
    macro_without_end=lambda: "\\newcommand{\\x}[1]{ $x = 1$\n" * 2000,
    macro_of_many_arguments=lambda: "\\newcommand{\\x}[99999999999]{#99999999999} $\\x1 = 1$\n",
    macro_of_odd_arguments=lambda: (
        "\\newcommand{\\x}[-1]{#0##1#} \\newcommand\\y[1][1=2]{#1} \\def\\z#1#{#1} $\\x\\y\\z$\n"
    ),
    many_macros=lambda: (
        "".join(
            f"\\newcommand{{\\m{'i' * (n % 300)}v{'x' * (n // 300)}}}{{{n}}}\n"
            for n in range(30_000)
        )
        + "$\\mv = 0$\n"
    ),
    many_uses_of_a_macro=lambda: "\\newcommand{\\x}{0.5} $" + "\\x + " * 100_000 + "1$\n",
    files_asked_for=lambda: (
        '\\input{/etc/passwd}\\include{hostile}\\input|"id" \\write18{touch owned}\n'
        "\\openin5=/etc/passwd \\usepackage{../../x} \\catcode`\\$=12 $x = 1$\n"
    ),
)


# Numbers, sizes and expressions

texts(
    ".md",
    number_of_many_digits=lambda: f"$x = {'7' * 100_000}$ and $y = 0.{'3' * 100_000} = 1/3$\n",
    numbers_without_end=lambda: "$x = " + "1.2." * 100_000 + "$\n",
    groups_of_digits=lambda: "$x = 1" + "{,}000" * 100_000 + "$ and $y = 1" + "\\,000" * DEEP + "$",
    large_exponents=lambda: (
        "$x = 1e999999$, $1e-999999 = 0$, $x = 2 \\times 10^{999999}$, $10^{-999999} = 0.0$,\n"
        "$2^{1000000} = 1$, $9^{9^{9^{9}}} = 1$, $e^{1000000} = 1$, $e^{e^{e^{10}}} = 1$,\n"
        "$\\text{softmax}([1e999999, 0]) = [1.00, 0.00]$, $1e999999\\% = 1$.\n"
    ),
    no_values=lambda: (
        "$1/0 = 0.5$, $\\frac{0}{0} = 1$, $\\sqrt{-1} = 1.0$, $\\log 0 = -1.0$, $0^{-1} = 2$,\n"
        "$\\text{softmax}([]) = []$, $\\text{softmax}([-\\infty, -\\infty]) = [0.5, 0.5]$,\n"
        "$\\infty - \\infty = 0.0$, $NaN = 0.5$, $1/(1 - 1) = \\infty$.\n"
    ),
    sums_without_end=lambda: (
        "$\\sum_{i=1}^{1000000000} i = 0.5$ and $\\sum_{i=1}^{\\infty} 2^{-i} = 1.5$\n"
    ),
    indices_out_of_range=lambda: (
        "$X = \\begin{bmatrix} 1 & 2 \\end{bmatrix}$, $X_{999999999999, 1} = 0.5$,\n"
        "$X_{0, -7} = 1$, $X_{10^{99}} = 2$, $X_{1.5} = 3$\n"
    ),
    ragged_matrix=lambda: "$$X = \\begin{bmatrix} 1 & 2 \\\\ 3 \\\\ 4 & 5 & 6 \\end{bmatrix}$$\n",
    matrix_of_nothing=lambda: (
        "$$X = \\begin{bmatrix} & \\\\ \\\\ & \\end{bmatrix} = []= [[], []]$$\n"
    ),
    matrices_that_do_not_fit=lambda: (
        "$X = [[1, 2], [3, 4]]$, $W = [[1, 2, 3]]$, $Q = X W = [[0.5, 0.5]]$, $X = X + 1 = 2.5$,\n"
        "$A = B$, $B = A$, $C = \\text{softmax}(C)$\n"
    ),
    cells_by_the_million=lambda: (
        "$$X = \\begin{bmatrix}" + ("0.5 & " * 999 + "0.5 \\\\\n") * 1000 + "\\end{bmatrix}$$\n"
    ),
    million_in_a_row=lambda: "$x = [" + "0.5, " * 1_000_000 + "1]$\n",
    million_in_a_column=lambda: (
        "$$x = \\begin{bmatrix}" + "0.5 \\\\" * 1_000_000 + "\\end{bmatrix}$$\n"
    ),
    costly_product=lambda: (
        "$$X = \\begin{bmatrix}"
        + ("0.25 & " * 199 + "1 \\\\\n") * 200
        + "\\end{bmatrix}$$\n\n$$Y = \\operatorname{softmax}(XXXXXXXX) = \\begin{bmatrix}"
        + ("0.01 & " * 199 + "0 \\\\\n") * 200
        + "\\end{bmatrix}$$\n"
    ),
    long_recipe=lambda: (
        "$x_0 = 0.5$\n\n" + "".join(f"$x_{{{n + 1}}} = x_{{{n}}} + 1$\n\n" for n in range(20_000))
    ),
    doubling_recipe=lambda: (
        "$x_0 = 0.5$\n\n"
        + "".join(f"$x_{{{n + 1}}} = x_{{{n}}} \\cdot x_{{{n}}}$\n\n" for n in range(200))
        + "$x_{200} = 0.0$\n"
    ),
    many_names=lambda: "".join(f"$n_{{{n}}} = {n}$\n\n" for n in range(50_000)),
    many_ellipses=lambda: "$$X = [" + "\\ldots, \\cdots, " * 50_000 + "]$$\n",
)
