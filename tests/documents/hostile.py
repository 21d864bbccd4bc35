"""Articles that nobody means well with, or that were cut, mixed up or saved by the wrong program.

``DOCUMENTS`` holds each as a generator of its bytes, so that none lies in the repository. What a
command may do with it is its ``expected``: refuse it with a message of one or few lines
(:class:`~symattn.errors.Malformed` in Python), or read it in bounded time and memory. Some are
only awkward: what they print is to be read all the same, and ``slips`` says which wrong figures
stand in them, and where.
"""

from __future__ import annotations

from tests.documents import containers, formulas
from tests.documents.kinds import (
    DOCUMENTS,
    EITHER,
    READ,
    REFUSED,
    WRONG,
    WRONG_TEX,
    Hostile,
    document,
    texts,
)

__all__ = ["DOCUMENTS", "EITHER", "READ", "REFUSED", "Hostile", "containers", "formulas"]

# Bytes that are no text, or text in another encoding


@document(".md", ".tex", ".html", ".ipynb", ".txt", expected=REFUSED)
def binary():
    """Every byte, many times: no encoding of text."""
    return bytes(range(256)) * 4096


@document(".md", expected=REFUSED)
def image_by_another_name():
    """The beginning of a PNG file."""
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + b"\x00\xff" * 5000


@document(".txt", ".tex")
def nulls():
    """Nothing but NUL: UTF-8 by the letter."""
    return b"\0" * 1_000_000


@document(".md")
def nulls_between():
    """A formula with NULs between its characters."""
    return "\0".join(f"$${WRONG_TEX}$$\n").encode()


@document(".md", ".tex", ".html", ".txt")
def two_byte_letters():
    """UTF-16 with its mark, as some editors save."""
    return f"Weights\n\n{WRONG}\n".encode("utf-16")


@document(".txt")
def two_byte_letters_unmarked():
    """UTF-16 without a mark: every other byte is NUL."""
    return f"Weights\n\n{WRONG}\n".encode("utf-16-le")


@document(".txt")
def half_a_letter():
    """UTF-8 that was cut within a letter."""
    return "weights of the caf\u00e9".encode()[:-1]


@document(".txt", ".md")
def western_letters():
    """Latin-1: a lone byte for each accented letter."""
    return f"Pr\xe9cis\n\n{WRONG}\n".encode("latin-1")


@document(".txt")
def lone_surrogates():
    """Surrogates written as UTF-8, which forbids them."""
    return "\ud800\udfff weights \udc80\n" * 1000


@document(".html")
def encoding_that_lies():
    """A page that calls itself UTF-16 in ASCII letters."""
    return f'<meta charset="utf-16"><p>{WRONG}</p>'


# Awkward only: to be read


@document(".txt", expected=READ, slips=[(1, 28, "0.2698")])
def no_last_newline():
    """A file that ends with its last figure."""
    return WRONG


@document(".txt", expected=READ, slips=[(1, 28, "0.2698")])
def byte_order_mark():
    """A mark before the first letter; it is not counted as a column."""
    return "\ufeff" + WRONG + "\n"


@document(".txt", expected=READ, slips=[(5, 28, "0.2698")])
def mixed_newlines():
    """Lines that end as on one system and as on the other."""
    return f"Weights\r\n\nof two tokens\n\r\n{WRONG}\r\nend"


@document(".txt", expected=READ)
def returns_only():
    """Lines that end as they did on old machines, and some with two returns."""
    return f"Weights\r\rof two tokens\r{WRONG}\r\r\nend\r"


@document(".txt", expected=READ, slips=[(3, 28, "0.2698")])
def newlines_of_unicode():
    """What ends a line for some readers but no line of a file."""
    return f"one\u2028still one\x0bone\x0cone\x85one\n\n{WRONG}\n"


@document(".md", expected=READ, slips=[(3, 29, "0.2698")])
def wide_letters_before():
    """Letters that take two UTF-16 units or two columns, or none, before a figure."""
    return f"\U0001f600 \u5168\u89d2 e\u0301\n\n`{WRONG}` \U0001f600\n"


@document(".txt", ".md", ".tex", ".html", expected=READ)
def empty():
    """An empty file."""
    return b""


@document(".ipynb", expected=REFUSED)
def empty_notebook_file():
    """An empty file is no notebook."""
    return b""


texts(
    ".txt",
    READ,
    only_spaces=lambda: " " * 1_000_000,
    only_newlines=lambda: "\n" * 1_000_000,
    only_a_byte_order_mark=lambda: "\ufeff",
    only_tabs_and_a_figure=lambda: "\t" * 500_000 + "0.5\n",
)


# Size


@document(".md", ".tex", ".html", ".txt")
def ten_megabytes():
    """Ten million bytes of lines that each print an equation."""
    return "so that $0.42 \\cdot 1 + 0.31 \\cdot 0.5 = 0.575$ and on.\n" * 182_000


@document(".txt", ".md", ".html")
def one_long_line():
    """Three million characters without a newline."""
    return "0.25 + 0.25 = 0.5, " * 160_000


@document(".md", ".tex")
def one_long_formula():
    """A formula of a million terms."""
    return "$" + "1 + " * 1_000_000 + "1 = 1000001$\n"


@document(".md", ".tex")
def one_long_chain():
    """A hundred thousand equalities in one chain."""
    return "$a" + " = 0.5" * 100_000 + "$\n"


texts(
    ".md",
    many_headings=lambda: "# 1.5\n" * 100_000,
    many_formulas=lambda: "$x = 1$ " * 200_000,
    many_quotes_in_quotes=lambda: ">" * 50_000 + " $x = 1$\n",
    many_lists_in_lists=lambda: "- " * 50_000 + "$x = 1$\n",
    many_open_emphases=lambda: "*a **b " * 50_000,
    many_open_links=lambda: "[" * 100_000 + "1" + "](" * 50_000,
    many_open_images=lambda: "![x](" * 50_000,
    many_open_comments=lambda: "<!-- symattn: " * 50_000,
    many_backticks=lambda: " ".join("`" * n for n in range(1, 1500)),
    many_fences=lambda: "```python\n" * 50_001 + "x = 1\n",
    many_directives=lambda: "<!-- symattn: ignore -->\n" * 50_000,
    notes_of_brackets=lambda: f"<!-- symattn: X = {'[' * 500_000} -->\n",
    notes_of_commas=lambda: f"<!-- symattn: of {',' * 500_000} -->\n",
    notes_that_nest=lambda: f"<!-- symattn: T = {'(' * 1500}S{')' * 1500} -->\n",
    notes_that_never_end=lambda: "<!-- symattn: ignore begin -->\nx\n\n" * 900,
    notes_of_phrases=lambda: (
        "".join(f'<!-- symattn: "(a+)+{n}$" = [1, 2] -->\n' for n in range(99)) + "a" * 100_000
    ),
    notes_of_headings=lambda: "<!-- symattn: under scores -->\n\n$[0.5, 0.25]$\n\n" * 900,
    open_fence=lambda: "~~~math\nA = \\begin{bmatrix} 1 & 2\n",
    open_front_matter=lambda: "---\ntitle: [1, 2\n" * 20_000,
    table_of_many_columns=lambda: "\n".join(
        ["|" + cell * 10_000 for cell in (" a |", " --- |", " 0.5 |")]
    ),
    table_of_many_rows=lambda: "| a | b |\n|---|---|\n" + "| 0.5 | 0.25 |\n" * 100_000,
    table_of_no_columns=lambda: "|\n|-\n|\n" * 1000,
    link_definitions=lambda: "".join(f"[{n}]: x{n}\n" for n in range(50_000)),
)


# Characters that steer a terminal or turn the direction of text, where a report may quote them


@document(".md", ".tex", ".html", ".txt")
def steering_characters():
    """Escapes, controls and marks of direction around a figure that is wrong."""
    return (
        "# \x1b]0;owned\x07\x1b[31mred \x9b2J\x08\x7f ::error file=x::forged\r\x1b[1A\x1b[2K\n\n"
        "\u202e\u2066 \u200b\u2028 \U000e0041\U000e0100 \ufff9 x\u0338 \x1b[8m\n\n"
        f"$${WRONG_TEX}$$ \u202e\x1b[0m {WRONG}\n\n$A\u202eB = 0.5 + 0.5 = 1.5$\n"
    )


@document(".md")
def markup_in_a_line():
    """A wrong figure beside what is live in HTML, LaTeX and Markdown."""
    return (
        f"`{WRONG}` <script>alert(1)</script> \\input{{x}} ]]> --> | # **b** & % $ ~ ^ _ {{}}"
        " ![i](http://evil.example/i.png) {{ 7*7 }} ${x} %s %n {0}\n"
    )
