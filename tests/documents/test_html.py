"""HTML to blocks: what each way to write a formula becomes, and where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents import html
from symattn.documents.text import Text
from symattn.limits import MACROS

KATEX = (
    '<span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/'
    'MathML"{}><semantics><mrow><mi>x</mi><mo>&lt;</mo><mn>0.50</mn></mrow>'
    '<annotation encoding="application/x-tex">x &lt; 0.50</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span class="mord">x</span><span>&lt;</span>'
    "<span>0.50</span></span></span>"
)
MATHJAX_3 = (
    '<mjx-container class="MathJax" jax="CHTML"{}><mjx-math class="MJX-TEX"><mjx-mi><mjx-c>x'
    "</mjx-c></mjx-mi></mjx-math><mjx-assistive-mml><math><mi>x</mi><mo>&lt;</mo><mn>0.50</mn>"
    "</math></mjx-assistive-mml></mjx-container>"
)
MATHJAX_4 = (
    '<mjx-container class="MathJax" jax="CHTML"{}><mjx-math data-latex="x &lt; 0.50">'
    '<mjx-mi data-latex="x"><mjx-c>x</mjx-c></mjx-mi></mjx-math></mjx-container>'
)
WIKIPEDIA = (
    '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;">'
    '<math alttext="{\\displaystyle x&lt;0.50}"><semantics><mi>x</mi><annotation encoding="appli'
    'cation/x-tex">{\\displaystyle x&lt;0.50}</annotation></semantics></math></span><img src="a.s'
    'vg" class="mwe-math-fallback-image-inline" alt="{\\displaystyle x&lt;0.50}"></span>'
)


def read(source):
    return html.read(Text.whole(source))


def seen(source):
    return [
        (block.kind, [(part.kind, part.text.string) for part in block.parts])
        for block in read(source).blocks
    ]


def texts(source):
    return [
        part.text
        for block in read(source).blocks
        for part in (*block.parts, *(p for row in block.rows for cell in row for p in cell.parts))
    ]


def mathml(source):
    (text,) = texts(f"<math>{source}</math>")
    return text.string


@pytest.mark.parametrize(
    ("source", "formula"),
    [
        (KATEX.format(""), "x < 0.50"),
        (MATHJAX_3.format(""), "x<0.50"),
        (MATHJAX_4.format(""), "x < 0.50"),
        (WIKIPEDIA, "x<0.50"),
        ('<span class="MathJax_Preview">x</span><span class="MathJax"><math><mi>y</mi></math>'
         '</span><script type="math/tex">x < 0.50</script>', "x < 0.50"),
        (r"\(x &lt; 0.50\)", "x < 0.50"),
        ("<script>inlineMath: [['$', '$']]</script>$x$", "x"),
        ('<script>{left: "$", right: "$", display: false}</script>$x$', "x"),
        ('<span class="math inline">x &lt; 0.50</span>', "x < 0.50"),
        (r'<span class="math inline">\(x\)</span>', "x"),
        ('<span class="math notranslate">\\(x \\tag{3}\\)</span>', "x"),
        ("<math-renderer>$x$</math-renderer>", "x"),
        ('<img src="https://s0.wp.com/latex.php?latex=x%5E2+%3D+%CE%B1&amp;bg=fff" class="latex">',
         "x^2 = α"),
        (r'<img src="https://latex.codecogs.com/svg.latex?\inline&space;\dpi{150}&space;x=1">',
         "x=1"),
        ('<img class="ql-img-inline-formula" alt="x &lt; 0.50" src="a.png">', "x < 0.50"),
    ],
)  # fmt: skip
def test_formula(source, formula):
    """Every way to write a formula gives its source once, and nothing of what it looks like."""
    assert seen(f"<p>Let {source} be.</p>") == [
        ("prose", [("text", "Let "), ("math", formula), ("text", " be.")])
    ]


@pytest.mark.parametrize(
    "source",
    [
        f'<span class="katex-display">{KATEX.format("")}</span>',
        KATEX.format(' display="block"'),
        MATHJAX_3.format(' display="true"'),
        MATHJAX_4.format(' display="true"'),
        '<script type="math/tex; mode=display">x < 0.50</script>',
        r"\[ x &lt; 0.50 \]",
        "$$x &lt; 0.50$$",
        r"\begin{equation}\label{a} x &lt; 0.50\end{equation}",
        r'<span class="math display">\[x &lt; 0.50\]</span>',
        '<span class="math display">x &lt; 0.50</span>',
    ],
)
def test_display(source):
    """A formula that stands by itself is a block, also inside of a paragraph."""
    ((_, before), (kind, [(part, text)]), (_, after)) = seen(f"<p>Let {source} be.</p>")
    assert (before, after) == ([("text", "Let")], [("text", "be.")])
    assert (kind, part, text.replace(" ", "")) == ("formula", "math", "x<0.50")


@pytest.mark.parametrize(
    ("source", "formula"),
    [
        ("<mi>x</mi><mo>=</mo><mn>0.50</mn>", "x=0.50"),
        ("<mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac>", r"\frac{a}{b+1}"),
        ("<mover><mi>y</mi><mi>n</mi></mover>", "y^{n}"),
        ("<mi>x</mi></mrow><mrow><mi>y</mi><mfrac>", "xy"),
        ("<msqrt><mn>2</mn></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>", r"\sqrt{2}\sqrt[3]{x}"),
        ("<msub><mi>W</mi><mi>Q</mi></msub>", "W_{Q}"),
        ("<msup><mi>K</mi><mi>⊤</mi></msup>", "K^{⊤}"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_{i}^{2}"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>", "∑_{i}^{n}"),
        ("<mover><mi>y</mi><mo>^</mo></mover>", r"\hat{y}"),
        ("<mi>softmax</mi><mo>\u2061</mo><mo>(</mo><mi>S</mi><mo>)</mo>",
         r"\operatorname{softmax}(S)"),
        ("<mtext>so it is</mtext><mo>−</mo><mn>5</mn><mo>%</mo>", r"\text{so it is}-5\%"),
        ("<mo>[</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mo>&#x2212;</mo><mn>2</mn></mtd></mtr>"
         "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>]</mo>",
         r"\left[ \begin{matrix} 1 & -2 \\ 3 & 4 \end{matrix} \right]"),
        ("<mfenced open='[' close=']'><mn>1</mn><mn>2</mn></mfenced>", r"\left[ 1,2 \right]"),
        ("<mi>α</mi><mspace width='1em'/><mphantom><mn>9</mn></mphantom><mi>x</mi>", "αx"),
    ],
)  # fmt: skip
def test_mathml(source, formula):
    """MathML becomes the source that LaTeX would have."""
    assert mathml(source) == formula


def test_places():
    """A figure stands where the file has it: in an annotation, an attribute, an address."""
    for formula in (KATEX.format(""), MATHJAX_3.format(""), MATHJAX_4.format("")):
        source = f"<p>é &amp; {formula}</p>"
        text = texts(source)[-1]
        span = text.span(text.string.index("0.50"), len(text))
        assert source[slice(*span)] == "0.50"
    source = "<p>a&minus;b<sub>12</sub> <img src='https://x.org/latex?latex=x%5E2%3D0.5'>"
    words, formula = texts(source)
    assert words.string == "a−b_{12} "
    assert source[slice(*words.span(1, 2))] == "&minus;"
    assert source[slice(*words.span(5, 7))] == "12"
    assert source[slice(*formula.span(1, 2))] == "%5E"
    assert source[slice(*formula.span(4, 7))] == "0.5"


def test_macros():
    """Macros that one formula defines hold in those after it."""
    source = r"<p>$$\newcommand{\W}[1]{W^{#1}}$$ So \(\W{Q} = 1\) and \(\W K\).</p>"
    assert [t.string for t in texts(source)] == ["So ", "W^{Q} = 1", " and ", "W^{K}", "."]


@pytest.mark.heavy
def test_growth_of_macros_is_bounded_and_told():
    """What macros write on a page is bounded, and the article says where it ended."""
    assert read("<p>a\n" + r"\(\def\a{\a\a}\a\)").notes == (MACROS.said(2),)


@pytest.mark.parametrize(
    "source",
    [
        '<span class="katex"><span class="katex-html">x</span></span>',
        "<mjx-container><mjx-math><mjx-c>x</mjx-c></mjx-math></mjx-container>",
    ],
)
def test_formulas_without_sources_are_told(source):
    """Of a formula that only has looks left, the article says that it wasn't read."""
    contents = read(f"<p>a {source}</p>")
    assert [block.text.string for block in contents.blocks] == ["a"]
    assert contents.notes == ("formulas without a source, not read: 1",)


def test_dollars():
    """Between prices there is no formula, nor between one and its mark of a formula."""
    source = "<script>[['$','$']]</script><p>$5 and $6, $ x$, $y$"
    assert [text.string for text in texts(source)] == ["$5 and $6, $ x$, ", "y"]


def test_title_of_a_page_without_one():
    """The first heading of the highest level is the title, where the page says none."""
    assert read("<h1>A \\(x\\) \\[y\\]</h1>").title == "A x y"


def test_notes_in_what_is_skipped():
    """What an author says to symattn counts wherever it stands."""
    for outer in ("nav", "pre", "mjx-container", "main"):
        source = f"<{outer}>a<!-- symattn: ignore --></{outer}>"
        assert [b.text.string for b in read(source).blocks if b.kind == "note"] == ["ignore"]


def test_structure():
    """Headings, items, lines and notes, without what is no part of the article."""
    source = """<!DOCTYPE html><html><head><title>A &amp;
      B</title><style>p { width: 5px }</style></head><body>
    <nav>1</nav><script>var x = 2;</script><noscript>3</noscript><!-- 4 -->
    <h2 id="s1">One \\(x\\) <a class="headerlink" href="#s1">5</a></h2>
    <p>a <b>b</b><br>c<sup><a href="#fn1">6</a></sup><sup>T</sup>
    <ul><li>d<li>e</ul>
    <!-- symattn: ignore -->
    <div>f <span hidden>7</span></div>
    <footer>8</footer>"""
    contents = read(source)
    assert contents.title == "A & B"
    assert [(b.kind, b.level, b.text.string) for b in contents.blocks] == [
        ("heading", 2, "One x"),
        ("prose", 0, "a b\nc^T"),
        ("prose", 0, "d"),
        ("prose", 0, "e"),
        ("note", 0, "ignore"),
        ("prose", 0, "f"),
    ]


def test_main_part():
    """Where a page has a main part, what is around it is not read; notes are."""
    source = "<p>1</p><!-- symattn: a --><main><p>2</p></main><p>3</p>"
    assert seen(source) == [("note", [("text", "a")]), ("prose", [("text", "2")])]
    assert seen("<article>1</article><article>2</article>") == [
        ("prose", [("text", "1")]), ("prose", [("text", "2")])
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "kind", "language", "text"),
    [
        ("<pre>\n  a = 1\n\nb &lt; 2\n</pre>", "code", "", "  a = 1\n\nb < 2"),
        ('<pre><code class="language-Python hljs">a</code></pre>', "code", "python", "a"),
        ('<div class="highlight-python notranslate"><pre>a</pre></div>', "code", "python", "a"),
        ('<div class="highlight hl-ipython3"><pre>a</pre></div>', "code", "ipython3", "a"),
        ('<pre class="sourceCode r cell-code"><code>a</code></pre>', "code", "r", "a"),
        ('<div class="jp-OutputArea-output"><pre>[1.0]</pre></div>', "output", "", "[1.0]"),
        ('<div class="cell-output cell-output-stdout"><pre><code>1</code></pre></div>',
         "output", "", "1"),
        ('<div class="output_subarea output_text"><pre>1</pre></div>', "output", "", "1"),
        ('<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
         "<td><pre>a\nb</pre></td></tr></table>", "code", "", "a\nb"),
        ('<pre><span class="lineno">1</span>a<button>copy</button></pre>', "code", "", "a"),
        ("<pre>a<br>b</pre>", "code", "", "a\nb"),
    ],
)  # fmt: skip
def test_code(source, kind, language, text):
    """Code and what it printed, without numbers of lines and buttons."""
    (block,) = read(source).blocks
    assert (block.kind, block.language, block.text.string) == (kind, language, text)


def test_table():
    """Cells with formulas; cells that span several leave empty ones."""
    source = r"""<table><caption>Scores</caption>
    <thead><tr><th rowspan="2"></th><td colspan="2">key</td></tr><tr><td>a</td><td>b</td></thead>
    <tbody><tr><th>cat<td>&minus;0.50<td>\(x\) <code>y</code></tbody></table>"""
    caption, table = read(source).blocks
    assert (caption.kind, caption.text.string) == ("prose", "Scores")
    cells = [[[p.text.string for p in cell.parts] for cell in row] for row in table.rows]
    assert cells == [[[], ["key"], []], [[], ["a"], ["b"]], [["cat"], ["−0.50"], ["x", " ", "y"]]]
    assert [[cell.is_head for cell in row] for row in table.rows] == [
        [True, True, True], [False, True, True], [True, False, False]
    ]  # fmt: skip


def test_what_only_decorates():
    """The brackets of a matrix that is a table are none of its cells."""
    bracket = '<td rowspan="2" aria-hidden="true">[</td>'
    source = f"<table><tr>{bracket}<td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>"
    (table,) = read(source).blocks
    cells = [[[p.text.string for p in cell.parts] for cell in row] for row in table.rows]
    assert cells == [[["1"], ["2"]], [["3"], ["4"]]]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>a < 1 and b<2", ["a < 1 and b<2"]),
        ("<pre>x", ["x"]),
        ("<table><tr><td>1<td>2", ["1", "2"]),
        ("<h2>a<p>b", ["a", "b"]),
        ("<math><mfrac><mi>x", ["x"]),
        (r"<p>\(x", [r"\(x"]),
        ("</p></table></td>a", ["a"]),
        ("<!-- a", []),
        ("<a href='b", []),
        ("<p>&bogus; &#x110000; &", ["&bogus; \ufffd &"]),
        ("", []),
    ],
)
def test_broken(source, expected):
    """What is not closed is read as far as it goes."""
    assert [text.string for text in texts(source)] == expected


HTML = r"""<p> </p> <table> <td> <tr> <th> </table> <sub> </sub> <sup> </sup> <a_href='#x'> </a>
<math> </math> <mi> </mi> <mfrac> </mfrac> <mtable> <pre> </pre> <code> </code> x 0.50 &lt; &minus;
\( \) $$ \[ \] <!--_symattn:_a_--> <h2> </h2> <br> <img_src='http://x/latex?x%5E2'> <span_class=
katex> </span> <annotation_encoding=latex> </annotation> <caption> < & " ' \begin{align} \end{align}
<mjx-container> </mjx-container> <title> </title> <main> \def\a{x} \a"""
PIECES = st.sampled_from(["\n", "\r\n", " ", *(p.replace("_", " ") for p in HTML.split())])


@given(st.lists(PIECES, max_size=60).map("".join))
def test_law_of_places(source):
    """Of whatever source: a character that stands for one of the file is that one, and
    places are inside of the file."""
    for text in texts(source):
        assert len(text.starts) == len(text.ends) == len(text.string)
        for character, start, end in zip(text.string, text.starts, text.ends, strict=True):
            assert 0 <= start <= end <= len(source)
            assert end - start != 1 or character == source[start]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "piece",
    ["<", "<div>", "</div>", "<p>", '<a ="<a" ', "<!--", "&", "<sub>x", "<sup><a href='#'>",
     "<table>", "<td>", "<td rowspan=50 colspan=50>x<tr>", "<math>", "<math><mrow>", "<pre>",
     r"\(", "$$ x", r"\begin{align}", "<code>", "<nav>", "<mjx-container>", "<h1>", "<title>"],
)  # fmt: skip
def test_depth(piece):
    """Whatever is nested or unclosed a great many times is read, in bounded steps."""
    for prefix in ("", "<math>", "<table>"):
        assert read("<p>x</p>" + prefix + piece * 3_000).blocks[0].text.string == "x"
