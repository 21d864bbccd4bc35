"""Hostile text, code, notebooks and pages."""

from __future__ import annotations

import json

from tests.documents import word_files
from tests.documents.kinds import DEEP, EITHER, REFUSED, WRONG_TEX, document, texts

# Plain text

texts(
    ".txt",
    nested_lists=lambda: "X = " + "[" * DEEP + "1" + "]" * DEEP + "\n",
    open_lists=lambda: "X = [[1, 2],\n" * 50_000,
    closed_lists_only=lambda: "]" * 1_000_000,
    cells_in_lists=lambda: "X = [" + ("[" + "1, " * 999 + "1],\n") * 1000 + "]\n",
    columns_by_the_thousand=lambda: "\n".join(
        " ".join(f"{(i * j) % 7}.25" for j in range(10_000)) for i in range(4)
    ),
    columns_that_never_agree=lambda: "\n".join("  1.5" * (n % 50) for n in range(20_000)),
    numbers_and_spaces=lambda: "1 " * 1_000_000 + "x",
    dots=lambda: "0." * 500_000,
    commas=lambda: "1," * 1_000_000,
    minus_signs=lambda: "-" * 1_000_000 + "1 = 2",
    minus_signs_of_unicode=lambda: "\u2212 \u2013 " * 300_000 + "1 = 2",
    equal_signs=lambda: "=" * 1_000_000,
    arrows=lambda: "\u2192 " * 500_000 + "1",
    bars=lambda: "| " * 500_000,
    roots=lambda: "\u221a" * 500_000 + "2 = 1.4",
    superscripts=lambda: "x" + "\u00b2\u1d40" * 300_000 + " = 1",
    subscripts=lambda: "x" + "\u2081\u2c7c" * 300_000 + " = 1",
    marks_above=lambda: "x" + "\u0302" * 500_000 + " = 1",
    spaces_before_a_letter=lambda: "0.5" + " " * 1_000_000 + "x",
    lines_with_numbers=lambda: "".join(f"{n}x = {n}\n" for n in range(1, 100_000)),
    lines_that_are_numbers=lambda: "".join(f"{n}\n" for n in range(200_000)),
    signs_read_wrongly=lambda: "0.5 \u0393\u2014 0.5 = 0.25 " * 50_000,
    signs_read_wrongly_many_times=lambda: "\u00c3\u0192\u00c6\u2019" * 200_000,
    words_of_a_formula=lambda: "softmax(" * DEEP + "1" + ")" * DEEP + " = 1",
    python_prompt=lambda: ">>> " * 100_000,
    python_lines=lambda: (
        "x = __import__('os').system('touch owned')\nX = np.zeros((10**6, 10**6))\n"
        "Y = [0] * 10**12\nZ = 10**10**10\nW = eval('1')\nopen('owned', 'w')\nwhile True: pass\n"
    ),
)


# Code in Markdown: parsed, never run


def fenced(code):
    """Code in a block of Markdown."""
    return f"```python\n{code}\n```\n"


texts(
    ".md",
    code_that_acts=lambda: fenced(
        "import os\nos.system('touch owned')\n__import__('pathlib').Path('owned').touch()\n"
        "X = np.array([[1, 0], [0, 1]])\nX.tofile('owned')\nexec('X = 1')\nA = softmax(X)"
    ),
    code_that_never_ends=lambda: fenced("while True:\n    pass\nX = 10**10**10\nY = [0] * 10**12"),
    code_of_many_parentheses=lambda: fenced("x = " + "(" * DEEP + "1" + ")" * DEEP),
    code_of_many_lists=lambda: fenced("x = " + "[" * 90 + "1" + "]" * 90),
    code_of_many_signs=lambda: fenced("x = " + "-" * DEEP + "1"),
    code_of_many_terms=lambda: fenced("x = " + "1 + " * DEEP + "1"),
    code_of_many_attributes=lambda: fenced("x = x" + ".T" * DEEP),
    code_of_many_calls=lambda: fenced("x = x" + "()" * DEEP),
    code_of_many_digits=lambda: fenced("x = " + "9" * DEEP),
    code_of_many_strings=lambda: fenced("x = f'{" * 200 + "1" + "}'" * 200),
    code_of_many_lines=lambda: fenced("x = 1\n" * DEEP),
    code_of_many_levels=lambda: fenced(
        "\n".join(" " * n + "if 1:" for n in range(2000)) + "\n" + " " * 2000 + "x = 1"
    ),
    code_with_nulls=lambda: fenced("x = 1\0\ny = np.array([[1, 2]])"),
    code_that_is_none=lambda: fenced("x = = 1\n  y = [1, 2\nz := 3 \u201cquoted\u201d"),
    directive_that_acts=lambda: (
        "<!-- symattn: X = __import__('os').system('touch owned') -->\n"
        "<!-- symattn: include /etc/passwd -->\n<!-- symattn: " + "(" * DEEP + " -->\n$x = 1$\n"
    ),
)


# Notebooks


def notebook(cells):
    """A notebook's text."""
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def cell(source, kind="markdown", **more):
    """A cell of a notebook."""
    return {"cell_type": kind, "metadata": {}, "source": source, **more}


texts(
    ".ipynb",
    REFUSED,
    notebook_that_is_no_json=lambda: "{'cells': []}",
    notebook_cut_off=lambda: notebook([cell("$x = 1$")] * 100)[:-20],
    notebook_that_is_a_list=lambda: "[]",
    notebook_that_is_a_number=lambda: "1e999999",
    notebook_without_cells=lambda: '{"nbformat": 4}',
    notebook_of_one_cell_that_is_no_list=lambda: notebook({"0": cell("$x = 1$")}),
    notebook_nested_deep=lambda: "[" * DEEP + "]" * DEEP,
    notebook_of_the_old_kind=lambda: '{"worksheets": [{"cells": 1}], "nbformat": 2}',
)

texts(
    ".ipynb",
    EITHER,
    notebook_of_odd_cells=lambda: notebook(
        [
            None,
            1,
            [],
            "text",
            {},
            {"cell_type": ["code"], "source": "x = 1"},
            cell([["$x = 1$"]]),
            cell([1, None, {"a": 1}]),
            cell(17),
            cell(None),
            cell("x = 1", "code", outputs=None),
            cell("x = 1", "code", outputs={"0": 1}),
            cell("x = 1", "code", outputs=[None, 1, [], {}, {"output_type": 1}]),
            cell("x", "code", outputs=[{"output_type": "stream", "text": {"a": 1}}]),
            cell("x", "code", outputs=[{"output_type": "execute_result", "data": [1]}]),
            cell(
                "x",
                "code",
                outputs=[{"output_type": "execute_result", "data": {"text/plain": [1, ["2"]]}}],
            ),
            cell("x", "unknown"),
            {**cell("$x = 1$"), "metadata": {"tags": "symattn"}},
            {**cell("$x = 1$"), "metadata": {"tags": [{"symattn": []}, 1]}},
        ]
    ),
    notebook_nested_deep_in_cells=lambda: (
        '{"nbformat": 4, "cells": ' + '[{"source": ' * 50_000 + "1" + "}]" * 50_000 + "}"
    ),
    notebook_of_many_cells=lambda: notebook([cell("$0.5 + 0.5 = 1$")] * 50_000),
    notebook_of_many_lines=lambda: notebook([cell(["$0.5 + 0.5 = 1$\n"] * 100_000)]),
    notebook_of_letters=lambda: notebook([cell(list("$0.5 + 0.5 = 1$" * 20_000))]),
    notebook_with_an_image=lambda: notebook(
        [
            cell(
                "x",
                "code",
                outputs=[
                    {"output_type": "display_data", "data": {"image/png": "iVBORw0K" * 700_000}}
                ],
            )
        ]
    ),
    notebook_with_surrogates=lambda: notebook([cell("\ud800 $x = 1$ \udfff")]),
    notebook_with_keys_twice=lambda: (
        '{"cells": [], "cells": [{"cell_type": "markdown", "source": "$1 = 2$"}], "nbformat": 4}'
    ),
    notebook_with_large_numbers=lambda: (
        '{"nbformat": 1e999999, "nbformat_minor": ' + "9" * 100_000 + ', "cells": [NaN, Infinity]}'
    ),
    notebook_in_escapes=lambda: (
        '{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "'
        + "".join(f"\\u{ord(c):04x}" for c in f"$${WRONG_TEX}$$")
        + '"}]}'
    ),
)


# Pages of HTML

texts(
    ".html",
    nested_tags=lambda: "<div>" * DEEP + "$x = 1$" + "</div>" * DEEP,
    nested_tags_of_many_names=lambda: "<b><i><p><td><span>" * 20_000 + "1",
    closed_tags_only=lambda: "</div></table></math>" * 50_000,
    nested_tables=lambda: "<table><tr><td>" * 20_000 + "0.5" + "</td></tr></table>" * 20_000,
    nested_mathml=lambda: (
        "<math>" + "<mrow><msup>" * 20_000 + "<mn>2</mn>" + "</msup></mrow>" * 20_000 + "</math>"
    ),
    nested_math=lambda: "<math><mn>1</mn>" * 20_000,
    table_that_spans=lambda: (
        '<table><tr><td colspan="999999999" rowspan="999999999">0.5</td><td colspan="-1">1</td>'
        '<td rowspan="0">2</td><td colspan="x">3</td></tr><tr><td>4</td></tr></table>'
    ),
    wide_table=lambda: "<table>" + ("<tr>" + "<td>0.5" * 10_000 + "</tr>") * 4 + "</table>",
    table_without_end=lambda: "<table><tr><td>A = <tr><td>0.5" * 20_000,
    less_than_signs=lambda: "<" * 1_000_000,
    open_tag=lambda: "<p " + "a=1 " * 200_000,
    open_attribute=lambda: '<p a="' + "x" * 1_000_000,
    open_comments=lambda: "<!-- " * 200_000,
    open_comment_with_dashes=lambda: "<!--" + "-" * 1_000_000,
    open_script=lambda: "<script>var A = [[0.5, 0.5]];" + "</scrip" * 100_000,
    open_declaration=lambda: "<!DOCTYPE [" + "<!ENTITY a 'b'" * 50_000,
    entities_that_grow=lambda: (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "0.5">'
        + "".join(f'<!ENTITY {"a" * (n + 1)} "{("&" + "a" * n + ";") * 10}">' for n in range(1, 12))
        + "]><p>&aaaaaaaaaaaa; = 1</p>"
    ),
    odd_entities=lambda: (
        "<p>&#xFFFFFFFFF; &#0; &#xD800; &#128; &notanentity; &minus &#8722;0.5 &#"
        + "9" * 100_000
        + "; = 0.5</p>"
    ),
    many_entities=lambda: "&minus;" * 200_000 + "1 = 1",
    many_ampersands_in_text=lambda: "&" * 1_000_000,
    many_annotations=lambda: '<annotation encoding="application/x-tex">x = 1</annotation>' * 20_000,
    annotation_without_end=lambda: (
        '<math><semantics><annotation encoding="application/x-tex">x = 1' * 5000
    ),
    formula_in_an_attribute=lambda: '<mjx-math data-latex="' + "{" * DEEP + '">x</mjx-math>',
    script_that_acts=lambda: (
        "<script>alert(1)</script><img src=x onerror=alert(1)><p>softmax([1, 0]) = [0.7311, 0.2698]"
        '<iframe src="file:///etc/passwd"></iframe><base href="http://evil.example/">'
        '<meta http-equiv="refresh" content="0; url=http://evil.example/"></p>'
    ),
    marked_section=lambda: "<![CDATA[" * 50_000 + "x = 1",
)


# Word documents


def word_paragraphs(*texts):
    """A Word document with these paragraphs."""
    return word_files.made("".join(word_files.line(word_files.run(text)) for text in texts))


@document(".docx", expected=REFUSED)
def word_bomb():
    """Some kilobytes that unpack to thirty megabytes."""
    return word_paragraphs("0" * 30_000_000)


@document(".docx", expected=REFUSED)
def word_without_end():
    """Elements by the million, with nothing in them."""
    return word_files.made("<w:p/>" * 1_000_000)


@document(".docx", expected=REFUSED)
def word_laughs():
    """Entities that are made of entities."""
    laughs = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10 if k else "ha"}">' for k in range(12))
    document = f"<!DOCTYPE w [{laughs}]><w>&l11;</w>"
    return word_files.packed(word_files.parts("") | {"word/document.xml": document})


@document(".docx", expected=REFUSED)
def word_of_old():
    """How files of Word began before 2007, and those with a password begin."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(3000)


@document(".docx")
def word_of_many_numbers():
    """More numbers than are read."""
    return word_paragraphs("0.5 " * 100_000)


@document(".docx")
def word_in_pieces():
    """Each character in a run of its own."""
    runs = "".join(map(word_files.run, "softmax([1, 0]) = [0.7311, 0.2698] " * 300))
    return word_files.made(word_files.line(runs))
