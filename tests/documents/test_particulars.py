"""Single promises of the reader of articles: of formulas, of paragraphs and of code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from symattn.documents import files
from symattn.documents.article import ParagraphBuilder
from symattn.documents.binding.names import usual_role
from symattn.documents.files import article
from symattn.documents.latex import Macro, Stream
from symattn.documents.notation.tokens import latex_tokens
from symattn.documents.passages import passages
from symattn.documents.reading import ArticleNumber
from symattn.documents.text import Span, Text
from symattn.documents.trees import Words
from symattn.errors import Malformed
from symattn.limits import LINES

from .test_code import lines


def texts(formula):
    return [token.text for token in latex_tokens(formula)]


@pytest.mark.parametrize(
    ("formula", "tokens"),
    [
        ("a{=}b", ["a", "=", "b"]),
        ("{W}_Q", ["W", "_", "Q"]),
        ("a{}b", ["a", "b"]),
        ("{+}2", ["+", "2"]),
        ("{ab}_Q", ["{", "a", "b", "}", "_", "Q"]),
        ("W_{Q}", ["W", "_", "{", "Q", "}"]),
    ],
)
def test_braces_around_one_sign_group_nothing(formula, tokens) -> None:
    """They only say how wide the room beside it is; around more, and of an index, they count."""
    assert texts(formula) == tokens


@pytest.mark.parametrize("room", [r"\,", r"\;", " "])
@pytest.mark.parametrize("fraction", [r"\frac12", r"\dfrac{1}{2}", "y"])
def test_room_is_seen_before_whatever_follows(room, fraction) -> None:
    """Factors stand apart: a fraction as well as a letter."""
    before, after = latex_tokens(f"x{room}{fraction}")[:2]
    assert (before.spaced, after.spaced) == (False, True)
    assert not latex_tokens(f"x{{}}{fraction}")[1].spaced


@pytest.mark.parametrize(
    ("suffix", "page"),
    [
        (".md", "$$%s$$"),
        (".txt", "So $%s$"),
        (".html", "<p>$$%s$$</p>"),
        (".html", '<span class="math display">%s</span>'),
        (".html", '<script type="math/tex">%s</script>'),
    ],
)
def test_rows_that_markdown_has_eaten_a_backslash_of(suffix, page) -> None:
    """Where a matrix has no other breaks, a backslash and a blank is one."""

    def kinds(formula: str) -> list[str]:
        source = formula.replace("&", "&amp;") if suffix == ".html" else formula
        read = article(Path(f"x{suffix}"), (page % source).encode())
        (text,) = (part.text for part in read.blocks[0].parts if part.kind == "math")
        return [token.kind for token in latex_tokens(text.string)]

    matrix = kinds("\\begin{bmatrix} 1 \\ 3 \\end{bmatrix}")
    assert matrix == ["open", "number", "row", "number", "close"]
    assert kinds("\\begin{bmatrix} 1 \\ 2 \\\\ 3 \\end{bmatrix}").count("row") == 1
    assert "row" not in kinds("1 \\ 2")


def test_a_command_that_is_kept_means_what_it_meant() -> None:
    """Documents may define their own commands, and nothing but commands."""
    stream = Stream(Text.whole(""), [r"\kept"])
    macro = Macro()
    for name in (r"\own", r"\kept", "word"):
        stream.define(name, macro)
    assert stream.macros.get(r"\own") is macro
    assert stream.macros.get(r"\kept") is not macro
    assert "word" not in stream.macros


# -- paragraphs -----------------------------------------------------------------------------


def test_an_empty_text_leaves_a_paragraph_as_it_is() -> None:
    """It neither is a part nor parts what stands around it."""
    paragraph = ParagraphBuilder()
    paragraph.add(Text.whole("so "))
    paragraph.add(Text.whole(""), "math")
    paragraph.add(Text.whole("it is"))
    assert [(part.kind, part.text.string) for part in paragraph.end()] == [("text", "so it is")]


def words(text, name="a.md"):
    """The words in the passages of an article."""
    return [
        [piece.text for piece in passage.pieces if isinstance(piece, Words)]
        for passage in passages(article(Path(name), text.encode()))
    ]


def test_a_bracket_that_is_never_closed_swallows_nothing() -> None:
    """The lines behind it belong to it, but they are read."""
    assert "end" in str(words("It begins [here,\ngoes on\nand has no end"))


def test_lines_are_counted_without_those_that_are_empty(monkeypatch) -> None:
    """So many are read, one more is told with how many there are."""
    monkeypatch.setattr(files, "LINES", replace(LINES, most=3))
    assert article(Path("a.md"), b"one\n\ntwo\n \nthree\n").blocks
    with pytest.raises(Malformed, match="4 lines; at most 3"):
        article(Path("a.md"), b"one\ntwo\n\nthree\nfour\n")


def test_a_statement_goes_on_until_its_brackets_are_closed() -> None:
    """In plain text what follows them is words again."""
    text = "Words.\n\nimport numpy as np\nS = np.array([[1, 2],\n  [3, 4]])\n{}\n\nMore words.\n"
    for follows, kinds in (
        ("[5] of them are of no use.", ["prose", "code", "prose", "prose"]),
        ("A = softmax(S)", ["prose", "code", "prose"]),
        ("T = np.float64(\n  3)", ["prose", "code", "prose"]),
    ):
        blocks = article(Path("a.txt"), text.format(follows).encode()).blocks
        assert [block.kind for block in blocks] == kinds


# -- code -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print(A)", ["A"]),
        ("print(round(A, 2))", ["A"]),
        ("display(A)", ["A"]),
        ("pprint(A)", ["A"]),
        ("display()", []),
        ("repr()", []),
        ("B = A ** 1", ["B = A"]),
        ("B = A ** 2", ["B = A * A"]),
        ("B = A ** -1", ["B = 1 / A"]),
        ("B = A ** -0.5", ["B = 1 / sqrt(A)"]),
    ],
)
def test_a_statement_says_one_thing_once(code, said) -> None:
    """What is shown is mentioned, what is computed is one chain."""
    assert lines(f"A = Q @ K\n{code}") == ["A = Q @ K", *said]


# -- names and signs ------------------------------------------------------------------------


@pytest.mark.parametrize("sign", ["·", "⋅", "•", "∙", r"\cdot", r"\bullet"])
def test_every_dot_is_the_same_sign(sign) -> None:
    """Whichever a keyboard has, it multiplies."""
    token = latex_tokens(f"2 {sign} 3")[1]
    assert (token.kind, token.text) == ("operator", "·")


@pytest.mark.parametrize(
    ("role", "letters"),
    [("output", "z o y c O Z"), ("weights", "a w p P alpha"), ("scores", "s e")],
)
def test_letters_have_their_usual_roles(role, letters) -> None:
    """Where an article says nothing else, the letter of a row tells what it is of."""
    assert {usual_role(letter) for letter in letters.split()} == {role}


def test_what_is_said_plainly_is_not_confirmed_by_its_value() -> None:
    """Only what is bound because its value agrees is marked so."""
    found = ArticleNumber("0.5", Span(0, 3), "given")
    assert (found.confirmed, found.of, found.why) == (False, "", "")
