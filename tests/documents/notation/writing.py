r"""Expressions that are generated, and how authors write them: in LaTeX and in plain text.

A written expression is a triple: LaTeX, plain text, and the one grammar's text, whose
products are those that the notation says.
"""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st


class Written(NamedTuple):
    """One expression in three notations, and the figures in it, in order."""

    latex: str
    plain: str
    tree: str
    figures: tuple[str, ...] = ()


def _figure(text: str) -> Written:
    return Written(text, text, text, (text,))


def _name(letter: str, latex: str, plain: str, tree: str) -> Written:
    return Written(letter + latex, letter + plain, letter + tree)


numbers = st.one_of(
    st.integers(0, 99).map(str),
    st.decimals(0, 10, places=2).map(str),
    st.decimals(0, 1, places=4).map(str),
).map(_figure)

signed = st.one_of(numbers, numbers.map(lambda w: _figure(f"-{w.tree}")))

names = st.builds(
    lambda letter, scripts: _name(letter, *scripts),
    st.sampled_from("QKVXWAMSZ"),
    st.sampled_from(
        [
            ("", "", ""),
            ("_Q", "_Q", "_Q"),
            ("^{(K)}", "_K", "_K"),
            (r"_{\text{scaled}}", "_scaled", "_scaled"),
            (r"^\top", "ᵀ", ".T"),
            (r"_V^{\mathsf{T}}", "_V^T", "_V.T"),
        ]
    ),
)

entries = st.builds(
    lambda letter, key: _name(letter, f"_{{{key}}}", f"[{key}]", f"[{key}]"),
    st.sampled_from("QKVA"),
    st.sampled_from(["1, 2", "0, 1", "2, :"]),
)


@st.composite
def arrays(draw: st.DrawFn) -> Written:
    """A matrix of signed numbers."""
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    held = [[draw(signed) for _ in range(columns)] for _ in range(rows)]
    kind = draw(st.sampled_from(["pmatrix", "bmatrix", "array"]))
    cells = r" \\ ".join(" & ".join(one.latex for one in row) for row in held)
    latex = rf"\begin{{{kind}}}{cells}\end{{{kind}}}"
    if kind == "array":
        body = rf"\begin{{array}}{{{'c' * columns}}}{cells}\end{{array}}"
        latex = rf"\left[{body}\right]"
    comma = draw(st.sampled_from([", ", ",", " "])) if columns > 1 else ", "
    lists = ["[" + comma.join(one.plain for one in row) + "]" for row in held]
    tree = "[" + ", ".join("[" + ", ".join(w.tree for w in row) + "]" for row in held) + "]"
    figures = tuple(one.tree for row in held for one in row)
    return Written(latex, "[" + ", ".join(lists) + "]", tree, figures)


def _sum(sign: str, left: Written, right: Written) -> Written:
    return _joined(left, right, (f" {sign} ", f" {sign} "), f" {sign} ")


def _joined(left: Written, right: Written, signs: tuple[str, str], tree: str) -> Written:
    latex, plain = signs
    return Written(
        f"{left.latex}{latex}{right.latex}",
        f"{left.plain}{plain}{right.plain}",
        f"{left.tree}{tree}{right.tree}",
        left.figures + right.figures,
    )


def _around(
    w: Written, latex: tuple[str, str], plain: tuple[str, str], tree: tuple[str, str]
) -> Written:
    return Written(
        latex[0] + w.latex + latex[1],
        plain[0] + w.plain + plain[1],
        tree[0] + w.tree + tree[1],
        w.figures,
    )


def _grouped(w: Written) -> Written:
    return _around(w, (r"\left(", r"\right)"), ("(", ")"), ("(", ")"))


def _fraction(above: Written, below: Written) -> Written:
    return Written(
        rf"\frac{{{above.latex}}}{{{below.latex}}}",
        f"({above.plain})/({below.plain})",
        f"({above.tree}) / ({below.tree})",
        above.figures + below.figures,
    )


_FUNCTIONS = [
    ((r"\sqrt{", "}"), ("√(", ")"), ("sqrt(", ")")),
    ((r"\exp(", ")"), ("exp(", ")"), ("exp(", ")")),
    (("e^{", "}"), ("e^(", ")"), ("exp(", ")")),
    ((r"\operatorname{softmax}\left(", r"\right)"), ("softmax(", ")"), ("softmax(", ")")),
    ((r"\text{softmax}\bigl(", r"\bigr)"), ("softmax(", ")"), ("softmax(", ")")),
]


def _further(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    times = st.sampled_from([(r" \cdot ", " · "), (r" \times ", " × "), (r"\cdot", "*")])
    return st.one_of(
        st.builds(_sum, st.sampled_from("+-"), inner.map(_grouped), inner.map(_grouped)),
        st.builds(_fraction, inner, inner),
        st.builds(lambda w, f: _around(w, *f), inner, st.sampled_from(_FUNCTIONS)),
        # A number and anything, numbers among themselves, names side by side.
        st.builds(lambda n, w, t: _joined(n, _grouped(w), t, " * "), numbers, inner, times),
        st.builds(lambda n, m, t: _joined(n, m, t, " * "), numbers, numbers, times),
        st.builds(lambda a, b: _joined(a, b, (" ", " "), " @ "), names, names),
        st.builds(lambda n, a: _joined(n, a, (r"\,", " "), " * "), numbers, names),
    )


expressions = st.recursive(st.one_of(numbers, names, entries, arrays()), _further, max_leaves=6)

#: Relations: LaTeX, plain text, and the link of a chain.
relations = st.sampled_from([("=", "=", "="), (r"\approx", "≈", "≈"), ("&=", "=", "=")])
