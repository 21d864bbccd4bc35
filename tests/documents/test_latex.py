"""LaTeX to blocks: what each construct becomes, and where it stands."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents import latex
from symattn.documents.article import Block
from symattn.documents.latex import Stream
from symattn.documents.text import Text
from symattn.limits import MACROS


def read(source):
    return latex.read(Text.whole(source))


def seen(source):
    """Blocks as kinds and texts, for comparison."""
    return [(block.kind, [(part.kind, part.text.string) for part in block.parts])
            for block in read(source).blocks]  # fmt: skip


def texts(block: Block):
    parts = [*block.parts, *(part for row in block.rows for cell in row for part in cell.parts)]
    return [part.text for part in parts]


def math(source):
    """The formulas of a source, wherever they stand."""
    return [
        part.text.string
        for block in read(source).blocks
        for part in block.parts
        if part.kind == "math"
    ]


@pytest.mark.parametrize(
    ("source", "formula"),
    [
        ("$x = 1$", "x = 1"),
        (r"\(x = 1\)", "x = 1"),
        (r"\begin{math}x\end{math}", "x"),
        ("$$x$$", "x"),
        (r"\[ x \]", "x"),
        (r"\begin{displaymath}x\end{displaymath}", "x"),
        (r"\begin{equation}\label{eq:x} x \tag{3} \end{equation}", "x"),
        (r"\begin{align*} x &= 1 \nonumber \\ &= 2 \end{align*}", r"x &= 1  \\ &= 2"),
        (r"\begin{alignat}{2} x &= 1 \end{alignat}", "x &= 1"),
        (r"\begin{gather} x \notag\end{gather}", "x"),
        (r"\begin{eqnarray} x &=& 1 \end{eqnarray}", "x &=& 1"),
        (r"\begin{multline*} x \\ y \end{multline*}", r"x \\ y"),
        (r"\begin{pmatrix} 1 \end{pmatrix}", r"\begin{pmatrix} 1 \end{pmatrix}"),
        (r"$$ y = \text{if $x$ is \$5} $$", r"y = \text{if $x$ is \$5}"),
        ("$x % not $y$\n= 1$", "x = 1"),
        (r"\ensuremath{x}", "x"),
        (r"$\ensuremath{x}$", "x"),
        ("\\begin{align} x % symattn: ignore\n\\end{align}", "x"),
        (r"\textcolor{red}{$\color{blue}x$}", "x"),
    ],
)
def test_formula(source, formula):
    """Every way to set a formula gives its source, without labels and comments."""
    assert math(source) == [formula]


@pytest.mark.parametrize(
    ("definition", "call", "formula"),
    [
        (r"\newcommand{\W}{W^{Q}}", r"\W x", "W^{Q} x"),
        (r"\newcommand\R{\mathbb{R}}", r"\R^n", r"\mathbb{R}^n"),
        (r"\renewcommand*{\vec}[1]{\mathbf#1}", r"\vec x", r"\mathbf x"),
        (r"\newcommand{\mat}[2]{\begin{#1}#2\end{#1}}", r"\mat{bmatrix}{1&2}",
         r"\begin{bmatrix}1&2\end{bmatrix}"),
        (r"\newcommand{\s}[2][Q]{S_{#1}#2}", r"\s{x}\s[K]y", "S_{Q}xS_{K}y"),
        (r"\def\f#1#2{\frac{#1}{#2}}", r"\f12", r"\frac{1}{2}"),
        (r"\DeclareMathOperator*{\soft}{soft\,max}", r"\soft(S)", r"\operatorname{soft\,max}(S)"),
        (r"\DeclarePairedDelimiter{\norm}{\lVert}{\rVert}", r"\norm*{x}", r"\lVert x\rVert"),
        (r"\newenvironment{eq}{\begin{equation}}{\end{equation}}", r"$\begin{eq}x\end{eq}$", None),
        (r"\let\old\vec\renewcommand{\vec}[1]{\old{\mathbf{#1}}}", r"\vec{x}",
         r"\vec{\mathbf{x}}"),
        (r"\NewDocumentCommand{\p}{m m}{#2^#1}", r"\p2x", "x^2"),
        (r"\NewDocumentCommand{\p}{O{3} m}{#2^#1}", r"\p", r"\p"),
        (r"\def\f(#1){#1}", r"\f(2)", r"\f(2)"),
        (r"\let\a=\alpha", r"\a x", r"\alpha x"),
        (r"\let\a=b", r"\a", r"\a"),
        (r"\newcommand{\section}{5}\newcommand{x}{5}", "x", "x"),
        (r"\newcommand{\a}{\b}\newcommand{\b}{0.5}", r"\a", "0.5"),
    ],
)  # fmt: skip
def test_macros(definition, call, formula):
    """Macros of simple kinds are expanded, with their arguments and defaults."""
    if formula is None:
        assert math(definition + call[1:-1]) == ["x"]
    else:
        assert math(f"{definition} ${call}$") == [formula]


def test_places_of_an_expansion():
    """An argument stands where it was written; what the body adds, where the call is."""
    source = r"\newcommand{\half}[1]{\frac{#1}{2}} $y=\half{0.50}+1$"
    part = read(source).blocks[0].parts[0]
    string, call = part.text.string, source.index(r"\half{0.50}")
    at = string.index("0.50")
    assert source[slice(*part.text.span(at, at + 4))] == "0.50"
    assert part.text.span(string.index(r"\frac"), at) == (call, call + len(r"\half{0.50}"))
    assert source[slice(*part.text.span(string.index("+1")))] == "+1"


def test_intertext_of_an_environment_with_an_argument():
    """What comes behind words is read like what was before them."""
    source = r"\begin{alignat}{2} a &= 1 \intertext{b} c &= 2 \end{alignat}"
    assert math(source) == ["a &= 1", "c &= 2"]


@pytest.mark.parametrize(
    "source",
    [
        r"\def\a{\a}$\a$ then $x$",
        r"\def\a{xx}" + "".join(f"\\def\\{chr(98 + i)}{{\\{chr(97 + i)}\\{chr(97 + i)}}}"
                                for i in range(25)) + "$\\z$",
        r"\newcommand{\a}[1]{\a{#1#1}}$\a{x}$",
    ],
)  # fmt: skip
def test_growth_of_macros_is_bounded_and_told(source, monkeypatch):
    """Macros that call themselves or grow exponentially end, and the article says so."""
    bound = replace(MACROS, most=20_000)
    monkeypatch.setattr("symattn.documents.latex.MACROS", bound)
    contents = read(source)
    assert contents.notes == (bound.said(1),)
    assert sum(len(text) for block in contents.blocks for text in texts(block)) < 2 * bound.most


def test_preamble():
    """Of the preamble the title, the macros and what is said to symattn are kept."""
    source = (
        "\\documentclass[12pt]{article}\nwords 3\n% symattn: S = scores\n"
        "\\title[short]{Attention\\\\ by \\emph{hand}\\thanks{5}}\n\\def\\x{7}\n"
        "\\begin{document}\nSo $\\x$.\n\\end{document}\n8"
    )
    assert read(source).title == "Attention by hand"
    assert seen(source) == [
        ("note", [("text", "S = scores")]),
        ("prose", [("text", "So "), ("math", "7"), ("text", ".")]),
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"50\% of \{a\_b\} \& c\#1", "50% of {a_b} & c#1"),
        ("a % b\nc", "a c"),
        (r"\textbf{bold} \emph{it \textit{in}} {\small x}", "bold it in x"),
        (r"Gr\"o\ss e, \'{e}t\'e, \v{S}, na\"\i ve", "Größe, été, Š, naïve"),
        ("1--2 --- ``x''", "1–2 — “x”"),
        (r"a~b\,c\ d\quad e", "a b\u2009c d e"),
        (r"\'{\ae} \'{} \texttt x \footnote y", "ǽ  x  y"),
        (r"\cmidrule x \cmidrule(lr x \cmidrule(lr){1-2}", "lr x"),
        (r"\begin{frame}{x}\end{frame}", "x"),
        (r"\begin{tabular}{c}\end{tabular} x \midrule & y", "x  & y"),
        (r"see \cite[p.~5]{x}, \ref{fig:3}\label{y 5}\vspace{3mm}", "see ,"),
        (r"\href{http://x.org/5}{there} \url{http://y.org/6}", "there"),
        (r"\iffalse 5 \ifx a\fi 6 \fi x", "x"),
        (r"W\textsubscript{Q} and 10\textsuperscript{-3}", "W_{Q} and 10^{-3}"),
        (r"\includegraphics[width=0.5\textwidth]{a5.png} x", "x"),
        ("\\begin{tikzpicture}\\node at (0,1) {5};\\end{tikzpicture} x", "x"),
        ("\\begin{comment}\n 5 $x$ \n\\end{comment} x", "x"),
        ("\\begin{thebibliography}{9} 1999 \\end{thebibliography} x", "x"),
        (r"\begin{minipage}[t]{0.5\textwidth}x\end{minipage}", "x"),
    ],
)
def test_words(source, text):
    """Marks are taken off, characters written as commands put in."""
    blocks = read(source).blocks
    assert ["".join(part.text.string for part in block.parts) for block in blocks] == [text]


def test_code():
    """Code in lines and in environments is taken as it stands, with its language."""
    source = (
        "\\texttt{a\\_b} and \\verb|$x_1$| or \\lstinline[language=C]{y}\n"
        "\\begin{lstlisting}[language=Python, caption={3}]\nx = 1 % 2\n\\end{lstlisting}\n"
        "\\begin{minted}[linenos]{python}\n  y = \\x{}\n\\end{minted}\\begin{verbatim}\n$z$\n"
        "\\end{verbatim}"
    )
    blocks = read(source).blocks
    assert seen(source) == [
        ("prose", [("code", "a_b"), ("text", " and "), ("code", "$x_1$"), ("text", " or "),
                   ("code", "y")]),
        ("code", [("code", "x = 1 % 2")]),
        ("code", [("code", "  y = \\x{}")]),
        ("code", [("code", "$z$")]),
    ]  # fmt: skip
    assert [block.language for block in blocks] == ["", "python", "python", ""]


def test_code_of_own_environments():
    """Environments that a document defines for code are read like those that it knows."""
    source = (
        "\\lstnewenvironment{python}[1][]{\\lstset{#1}}{}\n"
        "\\begin{python}[caption={x}]\na = [1, 2] % $\n\\end{python}\nso"
    )
    assert seen(source) == [("code", [("code", "a = [1, 2] % $")]), ("prose", [("text", "so")])]


def test_structure():
    """Headings have levels; items, footnotes and captions are paragraphs of their own."""
    source = r"""\section*{One $x$}
    a\footnote{b} c
    \subsection[short]{Two}
    \begin{itemize} \item d \item[e] f \end{itemize}
    \begin{figure}\caption{g}\end{figure}
    % symattn: ignore
    h"""
    blocks = read(source).blocks
    assert [(b.kind, b.level, " ".join(b.text.string.split())) for b in blocks] == [
        ("heading", 2, "One x"),
        ("prose", 0, "a c"),
        ("prose", 0, "b"),
        ("heading", 3, "Two"),
        ("prose", 0, "d"),
        ("prose", 0, "e f"),
        ("prose", 0, "g"),
        ("note", 0, "ignore"),
        ("prose", 0, "h"),
    ]


def test_intertext():
    """Words between the lines of a formula cut it in two."""
    source = r"\begin{align} a &= 1 \intertext{and $b$} c &= 2 \end{align}"
    assert seen(source) == [
        ("formula", [("math", "a &= 1")]),
        ("prose", [("text", "and "), ("math", "b")]),
        ("formula", [("math", "c &= 2")]),
    ]


def test_table():
    """Cells with their formulas; what is above the first rule is the head."""
    source = r"""\begin{tabular}{l|cc}
    \toprule & \multicolumn{2}{c}{keys} \\ \cmidrule(lr){2-3} \midrule
    cat & $0.5$ & \textbf{0.3} {a & b} \\[2pt]
    sat & \begin{tabular}{c}1 \\ 2\end{tabular} & \\ \bottomrule
    \end{tabular}"""
    (table,) = read(source).blocks
    cells = [[" ".join(str(p.text) for p in cell.parts) for cell in row] for row in table.rows]
    assert cells == [["", "keys", ""], ["cat", "0.5", "0.3 a   b"], ["sat", "1   2", ""]]
    assert [{cell.is_head for cell in row} for row in table.rows] == [{True}, {False}, {False}]
    assert table.rows[1][1].parts[0].kind == "math"


@pytest.mark.parametrize("rows", [r"0.5&0.1\\ \hline 1&2\\ \hline", r"a&b\\ 1&2\\ \hline"])
def test_no_head(rows):
    """A row of numbers is no head, however the table is ruled, nor are all rows one."""
    source = rf"\begin{{tabular}}{{cc}}\hline {rows}\end{{tabular}}"
    (table,) = read(source).blocks
    assert not any(cell.is_head for row in table.rows for cell in row)


def test_files_are_not_followed():
    """What a source asks for is told, not read."""
    assert read(r"\input{chapter} x").notes == (r"\input{chapter} is not followed",)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("$x\n\nwords $y$", [["x"], ["words ", "y"]]),
        (r"\begin{equation} x \section{a} b", [["x"], ["a"], ["b"]]),
        (r"\[ x", [["x"]]),
        (r"} a \end{align} b }", [["a"], ["b"]]),
        (r"\footnote{a $x$", [["a ", "x"]]),
        ("\\textcolor{red}{a\n\nb", [["a"], ["b"]]),
        (r"\begin{tabular}{c} a & b", [["a"], ["b"]]),
        ("\\verb|a\nb", [["|a\nb"]]),
        ("\\begin{tikzpicture} a \\end{document}", []),
        ("\\title b", [["b"]]),
        ("\\begin{tabular}{c} a \n\n b", [["a  b"]]),
        ("\\", []),
        ("", []),
    ],
)
def test_broken(source, expected):
    """What is not closed is read as far as it goes."""
    found = [
        [[t.string for t in texts(block)]] if not block.rows else [[t.string] for t in texts(block)]
        for block in read(source).blocks
    ]
    assert [list(item) for items in found for item in items] == expected


LATEX = r"""\begin{ \end{ align} tabular}{c} document} verbatim} { } $ $$ \[ \] \( \) & \\ #1 % 0.50
x \def\a \a
\newcommand{\a} \section{ \footnote{ \texttt{ [ ] \verb| | \item \let \multicolumn {2} \'
\textcolor \intertext{ \iffalse \fi -- ~ \, * = \title{ \ensuremath"""
PIECES = st.sampled_from(["\n\n", "\n", "\r\n", " ", "\\ ", *LATEX.split()])


@given(st.lists(PIECES, max_size=60).map("".join))
def test_law_of_places(source):
    """Of whatever source: a character that stands for one of the file is that one,
    and places are inside of the file."""
    for block in read(source).blocks:
        for text in texts(block):
            assert len(text.starts) == len(text.ends) == len(text.string)
            for character, start, end in zip(text.string, text.starts, text.ends, strict=True):
                assert 0 <= start <= end <= len(source)
                assert end - start != 1 or character == source[start] or source[start] in "~`\\"


def test_untranslated_text_is_the_source():
    """Without macros, accents and marks, each part is the source at its place."""
    source = "\\section{A 1}\nlet $x = \\frac{1}{2}$ be\n\\[ 0.5066 \\\\ 2 \\]\n\\verb|a|"
    parts = [text for block in read(source).blocks for text in texts(block)]
    assert len(parts) == 6
    assert [source[slice(*text.span())] for text in parts] == [text.string for text in parts]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "piece",
    ["{", "}", "$ ", r"\begin{equation}", r"\begin{tabular}{c}&", r"\verb|", r"\textbf{",
     r"\footnote{", r"\label{", r"\href{a}{", r"\section{", r"\item[", r"\foo[", "\n\n", "%\n",
     r"\newcommand{\a}[", r"\iffalse ", r"\intertext{", r"\multicolumn{50}{c}{x}&", "\\"],
)  # fmt: skip
def test_depth(piece):
    """Whatever is nested or unclosed a great many times is read, in bounded steps."""
    assert read(r"\begin{align}x\end{align}" + piece * 5_000).blocks[0].text.string == "x"


def test_known_macros_take_what_they_write():
    """No macro that is always known writes an argument that it doesn't take."""
    known = Stream(Text.whole("")).macros
    wrong = {
        name
        for name, macro in known.items()
        for token in macro.body
        if token.string[0] == "#" and int(token.string[1]) > len(macro.signature.strip("s"))
    }
    assert len(known) > 100
    assert wrong == set()
