"""Markdown to blocks: every construct, and every character with its place."""

from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents import commonmark, markdown
from symattn.documents.text import Text
from tests.documents.places import texts, untrue


def read(source):
    """The blocks of a text: kind, and the parts as (kind, string)."""
    return [
        (block.kind, [(part.kind, str(part.text)) for part in block.parts])
        for block in markdown.blocks(Text.whole(source))
    ]


def said(source):
    """All parts of a text, in order."""
    return [part for _, parts in read(source) for part in parts]


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("So $x = 1$.", [("text", "So "), ("math", "x = 1"), ("text", ".")]),
        (
            r"So \(x\) and \\(y\\)",
            [("text", "So "), ("math", "x"), ("text", " and "), ("math", "y")],
        ),
        ("Pay $5 and $10.", [("text", "Pay $5 and $10.")]),
        ("Pay $5-$10 or \\$3\\$", [("text", "Pay $5-$10 or $3$")]),
        ("It is $5 or 6 $ now", [("text", "It is $5 or 6 $ now")]),
        ("\\`$x$`", [("text", "`"), ("math", "x"), ("text", "`")]),
        ("x `` `a` `` y", [("text", "x "), ("code", "`a`"), ("text", " y")]),
        ("_a_b c", [("text", "_a_b c")]),
        ("```{note}\n[it][a]\n```\n\n[a]: http://b/1", [("text", "it")]),
        ("`$x$` is $y$", [("code", "$x$"), ("text", " is "), ("math", "y")]),
        ("It is $`y`$", [("text", "It is "), ("math", "y")]),
        ("{math}`q_1` of {ref}`here`", [("math", "q_1"), ("text", " of here")]),
        ("**Row 0:** *a* _b_ __c__ ~~d~~", [("text", "Row 0: a b c d")]),
        ("2*3 + 4*5, a_1 and W_q_x", [("text", "2*3 + 4*5, a_1 and W_q_x")]),
        ("a [link *x*](http://b/1_2 'T 3') end", [("text", "a link x end")]),
        ("![alt 5](http://b/6.png) end[^7]", [("text", " end".strip())]),
        ("A<sup>-1</sup>", [("text", "A^{-1}")]),
        ("{% raw %}x{% endraw %} {{< ref >}}y{: .c}", [("text", "x y")]),
        ("x<sub>1</sub> &times; 2<br>3<span>4</span>", [("text", "x_1 × 2\n34")]),
        (r"X = \[\[1, 0\], \[0, 1\]\]", [("text", "X = [[1, 0], [0, 1]]")]),
        ("a <http://b/1> c", [("text", "a  c")]),
        ("- [ ] do $x$", [("text", "do "), ("math", "x")]),
        ("[a]: http://b/1\n\nsee [it][a] and [A]", [("text", "see it and A")]),
        ("see [1][0]", [("text", "see [1][0]")]),
    ],
)
def test_parts_of_prose(source, parts):
    """Formulas, code and words are told apart; what renderers don't show is gone."""
    assert said(source) == parts


@pytest.mark.parametrize(
    "source",
    [
        "$$\nx\n=\n1\n$$",
        "$$x\n=\n1$$",
        "\\[\nx\n=\n1\n\\]",
        "```math\nx\n=\n1\n```",
        "```{math}\n:label: a\n\nx\n=\n1\n```",
        ":::{math}\n:label: a\nx\n=\n1\n:::",
        "> $$\n> x\n> =\n> 1\n> $$",
        "1. $$\n   x\n   =\n   1\n   $$",
        "<!-- no -->\n$$\nx\n=\n1\n$$ {#eq:1}",
    ],
)
def test_displayed_formulas(source):
    """A formula on lines of its own is a block, in whatever it stands."""
    assert read(source) == [("formula", [("math", "x\n=\n1")])]


def test_formulas_end_with_their_container():
    """A formula that an item of a list opens is not closed outside of it."""
    assert [kind for kind, _ in read("- \\[ x\n\nout\n\n\\] y")] == ["prose"] * 3


def test_formulas_of_quotations_may_lack_their_marks():
    """As long as they are closed before the quotation ends; tables behind keep their cells."""
    table = "> | a | b |\n> |---|---|\n> | 5 | 6 |"
    assert read("> So\n> $$\n x\n = \\begin{matrix} 1 \\end{matrix}\n $$\n>\n" + table) == [
        ("prose", [("text", "So")]),
        ("formula", [("math", "x\n = \\begin{matrix} 1 \\end{matrix}")]),
        ("table", []),
    ]
    assert read("> $$\n> x\n\ny $$") == [
        ("prose", [("text", "$$\nx")]),
        ("prose", [("text", "y $$")]),
    ]


def test_what_is_nested_deep_is_read():
    """Nothing is lost in however many containers."""
    for nested in ("> " * 300, "- " * 300, "> - " * 200):
        assert any("1.50" in text for _, text in said(f"{nested}1.50"))


@pytest.mark.parametrize("source", ["\\[a\n", "> \\[a\n", "\\begin{align}\n", ":::{math}\n"])
def test_formulas_that_never_end_are_looked_for_once(source, monkeypatch):
    """Lines are looked at a bounded number of times, however many formulas stay open."""
    looked = Mock(wraps=commonmark._open)
    monkeypatch.setattr(commonmark, "_open", looked)
    markdown.blocks(Text.whole(source * 400))
    assert 400 <= looked.call_count <= 400 * 8


def test_environments_stand_for_themselves():
    """An environment of rows is a formula with its marks, blank lines and all."""
    source = "\\begin{align}\na &= 1 \\\\\n\nb &= 2\n\\end{align}"
    assert read(f"So\n{source}\nand") == [
        ("prose", [("text", "So")]),
        ("formula", [("math", source)]),
        ("prose", [("text", "and")]),
    ]


def test_a_formula_in_a_sentence_stays_in_it():
    """Two dollars within a line are part of it; at its end they are a block."""
    assert said("the $$x$$ of") == [("text", "the "), ("math", "x"), ("text", " of")]
    assert [kind for kind, _ in read("the\n$$x$$ of $y$")] == ["prose", "formula", "prose"]


@pytest.mark.parametrize(
    ("info", "kind", "language"),
    [
        ("python", "code", "python"),
        ("{python}", "code", "python"),
        ("{r, echo=FALSE}", "code", "r"),
        ("{.python .numberLines}", "code", "python"),
        ("{code-cell} ipython3", "code", "ipython3"),
        ("", "code", ""),
        ("output", "output", "output"),
    ],
)
def test_code(info, kind, language):
    """A fence is code in its language, or what was printed."""
    (block,) = markdown.blocks(Text.whole(f"```{info}\nx = [1,\n     2]\n```\n"))
    assert (block.kind, block.language) == (kind, language)
    assert str(block.text) == "x = [1,\n     2]"


def test_what_follows_code_without_a_language_was_printed():
    """An unnamed fence after code is its output, unless it assigns; an array without
    commas is output anywhere."""
    code = "```python\nprint(x)\n```\n"
    assert [kind for kind, _ in read(f"{code}```\n0.5\n```")] == ["code", "output"]
    assert [kind for kind, _ in read(f"{code}```\ny = 0.5\n```")] == ["code", "code"]
    assert [kind for kind, _ in read("```\n[[1. 2.]]\n```")] == ["output"]
    assert read("```r\nx\n#> 0.5\n```") == [
        ("code", [("code", "x")]),
        ("output", [("code", "0.5")]),
    ]


def test_tables():
    """Cells hold parts; a bar behind a backslash divides none."""
    source = "> | A | $x$ |\n> |---|:-:|\n> | 1 | \\|y\\| |\n> | 2\n"
    (table,) = markdown.blocks(Text.whole(source))
    rows = [[[(p.kind, str(p.text)) for p in cell.parts] for cell in row] for row in table.rows]
    assert rows == [
        [[("text", "A")], [("math", "x")]],
        [[("text", "1")], [("text", "|y|")]],
        [[("text", "2")], []],
    ]
    assert [cell.is_head for cell in table.rows[0]] == [True, True]
    assert table.rows[1][0].parts[0].text.span().start == source.index("1")


def test_tables_in_html():
    """A table of HTML is a table, blank lines in it or not; other tags only vanish."""
    source = "<table>\n<tr><td>1</td></tr>\n\n    <tr><td>2</td></tr>\n\n</table>\n\nb\n"
    blocks = markdown.blocks(Text.whole(source))
    assert [block.kind for block in blocks] == ["table", "prose"]
    assert [str(row[0].parts[0].text) for row in blocks[0].rows] == ["1", "2"]
    assert read("<details>\n<summary>So **it** is $x$</summary>\n\n$$y$$\n</details>") == [
        ("prose", [("text", "So it is "), ("math", "x")]),
        ("formula", [("math", "y")]),
    ]


def test_highlighted_code():
    """Jekyll's tags mark code as fences do."""
    (block,) = markdown.blocks(Text.whole("{% highlight python %}\nx = 1\n\ny\n{% endhighlight %}"))
    assert (block.kind, block.language, str(block.text)) == ("code", "python", "x = 1\n\ny")


def test_notes_are_what_comments_say_to_symattn():
    """A comment for symattn is a note, within a line too; others are gone."""
    assert read("<!-- symattn: S = Q -->\n\na <!-- symattn: ignore --> b <!-- c -->") == [
        ("note", [("text", "S = Q")]),
        ("prose", [("text", "a")]),
        ("note", [("text", "ignore")]),
        ("prose", [("text", "b")]),
    ]


def test_front_matter_is_no_text():
    """The front matter gives the title and nothing else."""
    source = "---\ntitle: By hand\nx: 5\n---\n# A\n"
    assert markdown.read(Text.whole(source)).title == "By hand"
    assert read(source) == [("heading", [("text", "A")])]


def test_images_that_are_formulas():
    """An image whose address is a formula is that formula, at the place of the address."""
    source = "![x](https://latex.codecogs.com/svg.latex?%5Cinline%20A%3D%5Cfrac%7B1%7D%7B2%7D)"
    (block,) = markdown.blocks(Text.whole(source))
    text = block.parts[0].text
    assert (block.parts[0].kind, str(text)) == ("math", r"A=\frac{1}{2}")
    (block,) = markdown.blocks(Text.whole(f'<img alt="x" src="{source[5:-1]}">'))
    assert str(block.text) == str(text)
    one = text.string.index("1")
    assert text.span(one, one + 1).start == source.index("1%7D")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"W\_q = 1", "W_q = 1"),
        (r"\begin{matrix} 1 \\\\ 2 \end{matrix}", r"\begin{matrix} 1 \\ 2 \end{matrix}"),
        (r"\\begin{matrix} 1 \\\\ 2 \\end{matrix}", r"\begin{matrix} 1 \\ 2 \end{matrix}"),
        ("\\begin{matrix} 1 \\ 2 \\end{matrix}", r"\begin{matrix} 1 \\ 2 \end{matrix}"),
        (r"\begin{matrix} 1 \\ 2\ \end{matrix}", r"\begin{matrix} 1 \\ 2\ \end{matrix}"),
    ],
)
def test_backslashes_that_converters_need_or_lose(written, meant):
    """Formulas have the backslashes that their author meant."""
    assert said(f"so ${written}$") == [("text", "so "), ("math", meant)]


def test_headings_have_levels():
    """Both kinds of headings; attributes are gone."""
    found = markdown.blocks(Text.whole("## A $x$ ## {#a}\n\nB\n===\n"))
    assert [(block.level, str(block.text)) for block in found] == [(2, "A x"), (1, "B")]


_MARKS = st.sampled_from(
    [
        "$",
        "$$",
        "`",
        "```",
        "*",
        "_",
        "~~",
        "[",
        "]",
        "(",
        ")",
        "\\",
        "\\\\",
        "\\[",
        "\\]",
        "\\begin{align}",
        "\\end{align}",
        "<",
        ">",
        "<!--",
        "-->",
        "<br>",
        "&amp;",
        "{math}",
        ":::",
        "x",
        "1.50",
        "α",
        "![",
        "](",
        "$x$",
        "=",
        "|---|",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "# ",
        "| ",
        "    ",
        "\t",
        " ",
    ]
)


@given(st.lists(_MARKS, max_size=40).map("".join))
def test_every_character_knows_its_place(source):
    """What is read of any text is the file's own, at its place, in order."""
    blocks = markdown.blocks(Text.whole(source))
    assert untrue(source, blocks) == []
    starts = [text.span().start for text in texts(blocks)]
    assert starts == sorted(starts)


_TAGS = st.sampled_from(
    [
        "<table>",
        "</table>",
        "<td>",
        "<pre>",
        "<p>",
        "\n",
        "\n\n",
        "    ",
        "> ",
        "1.50 ",
        "$x$",
        "\\(",
    ]
)


@given(st.lists(_TAGS, max_size=20).map("".join))
def test_characters_in_tags_know_their_places(source):
    """What stands between tags, closed or not, is the file's own, at its place."""
    assert untrue(source, markdown.blocks(Text.whole(source))) == []
