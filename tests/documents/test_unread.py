"""What a reader did not expect is kept to the piece that it was reading, and told there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from symattn.documents import code, grids, passages
from symattn.documents.article import Block, BlockPart
from symattn.documents.binding import (
    binder,
    construction,
    definitions,
    equalities,
    subjects,
    values,
)
from symattn.documents.binding import tables as bound_tables
from symattn.documents.binding.coverage import figures
from symattn.documents.files import article
from symattn.documents.notation import chains
from symattn.documents.running.formulas import Unread
from symattn.documents.running.machine import Machine
from symattn.documents.running.source import ProgramSource
from symattn.documents.text import Text
from symattn.documents.trees import Chain, Opaque, Passage, ReadTable, Words
from symattn.errors import Malformed
from symattn.expressions import syntax

GOOD = """# Attention

$X = \\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix}$

$A = softmax(X) = \\begin{bmatrix} 0.7311 & 0.2689 \\\\ 0.2689 & 0.7311 \\end{bmatrix}$
"""
#: A number that only the pieces have that readers fail with.
MARK = "71.5"
FORMULA = f"\n\nso that $B = {MARK}$\n"
DISPLAY = f"\n\n$$C = {MARK}$$\n"
SENTENCE = f"\n\nThe weight of it is {MARK}.\n"
TABLE = f"\n\n| token | weight |\n|---|---|\n| cat | {MARK} |\n"
CODE = f"\n\n```python\nd = {MARK}\n```\n"
OUTPUT = f"\n\n```text\nd = {MARK}\n```\n"

#: Each reader of a piece, and a piece that it fails with.
READERS = {
    "block": (passages, "_of_block", SENTENCE),
    "table": (passages, "_table", TABLE),
    "cell": (passages, "_pieces", TABLE),
    "display": (passages, "read_formula", DISPLAY),
    "formula": (chains, "formula_drafts", FORMULA),
    "line": (chains._Prose, "read", SENTENCE),
    "code": (code.Codes, "_code", CODE),
    "statement": (Machine, "follow", CODE),
    "events": (code.Codes, "_program", CODE),
    "output": (grids, "read_parts", OUTPUT),
    "signs": (binder, "_signed", DISPLAY),
    "definition": (definitions, "_said", DISPLAY),
    "gift": (construction, "_are_shares", f"\n\n$$M = [[{MARK}, 1], [2, 3]]$$\n"),
    "columns": (bound_tables, "inputs", TABLE),
    "chain": (equalities.Equalities, "read", DISPLAY),
    "bound table": (bound_tables, "bind", TABLE),
    "sentence": (subjects.Sentences, "read", SENTENCE),
}
ERRORS = (
    *(KeyError("lost"), IndexError(3), ValueError("math"), TypeError(), AttributeError("x")),
    *(AssertionError(), RecursionError("too deep"), ZeroDivisionError(), OverflowError()),
    *(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"), NotImplementedError(), RuntimeError()),
    *(StopIteration(), OSError(5, "x"), Malformed("not foreseen here"), Unread(), Exception()),
)


def _text(part: object) -> str:
    """All that a reader's argument has in it."""
    match part:
        case Text():
            return part.string
        case ProgramSource() | BlockPart() | chains._Prose():
            return part.text.string
        case syntax.Array():
            return " ".join(one.text for one in values.figures(part))
        case Block():
            cells = [one for row in part.rows for cell in row for one in cell.parts]
            return " ".join(one.text.string for one in (*part.parts, *cells))
        case Chain(members=(Opaque(),)):
            return ""
        case Words() | Chain() | ReadTable():
            return " ".join(one.text for one in figures(part))
        case Passage():
            return " ".join(map(_text, part.pieces))
        case list() | tuple():
            return " ".join(map(_text, part))
    return part if isinstance(part, str) else ""


def fail(monkeypatch, owner, name, error):
    """Let a reader fail with a piece that has the mark in it."""
    reader = getattr(owner, name)

    def failing(*arguments, **named):
        if any(MARK in _text(one) for one in arguments):
            raise error
        return reader(*arguments, **named)

    monkeypatch.setattr(owner, name, failing)


def reading_of(text, name="post.md"):
    return binder.read(article(Path(name), text.encode()))


@pytest.fixture
def kept(monkeypatch):
    """Nobody asked for tracebacks."""
    monkeypatch.delenv("SYMATTN_TRACEBACK")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("boundary", READERS)
def test_a_piece_that_a_reader_fails_with_is_not_read(boundary, monkeypatch, kept):
    """Its number is counted as not read, once; what is left open says where and why; all the
    rest is read as if the piece were not there."""
    owner, name, piece = READERS[boundary]
    alone = reading_of(GOOD)
    for error in ERRORS:
        with monkeypatch.context() as patched:
            fail(patched, owner, name, error)
            reading = reading_of(GOOD + piece)
        is_kept(reading, alone)


def is_kept(reading, alone):
    """Whether only the piece with the mark isn't read."""
    source = reading.article.source
    assert [one.status for one in reading.numbers if one.text == MARK] == ["unread"]
    mine = [one for one in reading.open if "internal error" in one.why]
    assert len(mine) == 1
    assert MARK in source[mine[0].span.start : mine[0].span.end]
    assert mine[0].span.start >= len(GOOD)
    assert reading.claims == alone.claims
    assert reading.steps == alone.steps
    assert reading.numbers[: len(alone.numbers)] == alone.numbers


def test_the_reason_names_the_place_of_the_fault(monkeypatch, kept):
    """What was raised, and the line of symattn that it came from."""
    monkeypatch.setattr(values, "is_closed", lambda tree: dict[object, bool]()[tree])
    (mine,) = reading_of(f"$B = 2 + {MARK}$").open
    assert re.fullmatch(r"internal error: KeyError in documents/binding/.*", mine.why)


def test_every_piece_that_fails_is_kept_apart(monkeypatch, kept):
    """Several pieces that readers of the whole fail with are each left unread."""
    fail(monkeypatch, equalities.Equalities, "read", KeyError("lost"))
    reading = reading_of(DISPLAY + GOOD + DISPLAY + SENTENCE + DISPLAY)
    assert [one.status for one in reading.numbers if one.text == MARK] == ["unread"] * 4
    assert sum("KeyError" in one.why for one in reading.open) == 3
    assert [claim.text for claim in reading.claims] == ["A"]


def test_what_no_piece_is_to_blame_for_is_no_reading(monkeypatch, kept):
    """A reader that fails with everything fails."""
    monkeypatch.setattr(binder.Binder, "reading", lambda self: dict[str, str]()["lost"])
    with pytest.raises(KeyError):
        reading_of(GOOD)


def test_a_fault_of_the_author_is_told_all_the_same(monkeypatch, kept):
    """What is wrong in a note isn't lost where a reader fails elsewhere."""
    fail(monkeypatch, equalities.Equalities, "read", KeyError("lost"))
    text = f"{GOOD}{DISPLAY}\n<!-- symattn: A[7, 7] -->\n\n0.5\n"
    from symattn.documents.help import help_of

    read = article(Path("post.md"), text.encode())
    with pytest.raises(Malformed) as refused:
        binder.read(read, help_of(read))
    assert "post.md:10: index 7" in str(refused.value)


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(), SystemExit(), MemoryError(), GeneratorExit(),
        SystemError("error return without exception set"),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("boundary", ["formula", "statement", "table", "chain"])
def test_what_ends_the_work_is_never_kept(boundary, error, monkeypatch, kept):
    """An interruption, an exit and a memory that is full are no faults of a reader."""
    owner, name, piece = READERS[boundary]
    fail(monkeypatch, owner, name, error)
    with pytest.raises(type(error)):
        reading_of(GOOD + piece)


@pytest.mark.parametrize("boundary", READERS)
def test_who_asks_for_tracebacks_gets_the_exception(boundary, monkeypatch):
    """So that tests find what readers fail with."""
    owner, name, piece = READERS[boundary]
    fail(monkeypatch, owner, name, KeyError("lost"))
    with pytest.raises(KeyError, match="lost"):
        reading_of(GOOD + piece)


NAMES = {
    "é": "é = np.array([[1, 0], [0, 1]])",
    "decomposed": "e\u0301 = np.array([[1, 0], [0, 1]])",
    "ß": "größe = np.array([[1, 0], [0, 1]])",
    "σ": "σ = np.eye(2)",
    "名": "名 = np.array([[1, 0], [0, 1]])",
    "𝐐": "𝐐 = np.array([[1, 0], [0, 1]])",
}


@pytest.mark.parametrize("said", NAMES)
def test_names_that_are_not_ascii_are_names(said):
    """They are read, and what is computed from them is judged."""
    statement = NAMES[said]
    name = statement.partition(" ")[0].partition("=")[0]
    more = f"{statement}\nweights = softmax({name} + 0)\nprint(weights)"
    shown = "[[0.7311 0.2689]\n [0.2689 0.7310]]"
    reading = reading_of(f"```python\n{more}\n```\n\n```\n{shown}\n```\n")
    assert [one.status for one in reading.numbers if one.text == "0.7310"] == ["bound"]
    assert len(reading.given) == 1


def test_names_that_only_marks_tell_apart_stay_apart():
    """e and é are two names, however the second is written; é is é in both normal forms."""
    given = "e = np.array([[1, 2], [3, 4]])\né = np.array([[5, 6], [7, 8]])\n"
    text = f"```python\n{given}y = e @ e\u0301\n```\n"
    reading = reading_of(text)
    assert len(reading.given) == 2
    # e is Euler's number in a case file.
    assert reading.steps["y"].expression == "e1 @ e_acute"


def test_short_programs_of_odd_names_end():
    """Thirty bytes that once never did."""
    for text in ("é=[[1,0],[0,1]]", "größe = x @ x", "σ = [1, 2]", "ª = [[1]]", "ﬁ = [[1]]"):
        reading_of(f"```python\n{text}\n```\n")
        reading_of(f"```\n{text}\n```\n")


ENDLESS = (
    *("x = [x, x]", "a = [b]\nb = [a]", "x = (x,)\nx = [x]", "n = n + 1\nx = np.zeros(n)"),
    *(
        "A = np.eye(-1)",
        "A = np.zeros((2, -3))",
        "A = np.ones(0)",
        "def f(x):\n    return f(x)\nf(1)",
    ),
)


@pytest.mark.parametrize("statements", ENDLESS)
def test_statements_that_never_end_are_read(statements):
    """A list in itself, arrays of negative sizes, functions that call themselves."""
    reading_of(f"```python\n{statements}\n```\n")
    book = {"cell_type": "code", "source": statements, "metadata": {}, "outputs": []}
    reading_of(json.dumps({"cells": [book], "nbformat": 4}), "post.ipynb")


def test_sizes_are_spent_once():
    """Arrays of negative sizes give back nothing of what may be made."""
    text = "np.zeros((2, -3))\n" * 3 + "A = np.eye(2000)"
    assert not reading_of(f"```python\n{text}\n```\n").given


RETURNS = (
    "```python\nS = [[1, 0], [0, 1]]\nreturn foo(S) * 0.5\n```\n",
    "```python\nreturn\n```\n0.5\n",
    "\\begin{lstlisting}[language=Python]\nreturn foo(S) * 0.5\n\\end{lstlisting}",
)


@pytest.mark.parametrize("text", RETURNS)
def test_a_return_outside_of_a_function_is_read(text):
    """Its numbers are counted."""
    name = "post.tex" if text.startswith("\\") else "post.md"
    assert "0.5" in [one.text for one in reading_of(text, name).numbers]


ARTICLES = {
    "row.html": "<p>Row 1 is</p><table><tr><td>1<td>2</tr><tr><td>3<td>4</tr></table>",
    "row.tex": "Row 1 is\n\n\\begin{tabular}{cc}\n1 & 2 \\\\\n3 & 4 \\\\\n\\end{tabular}\n",
    "cell.md": "| a | b |\n|---|---|\n| $\\begin{pmatrix}1 & \\cdots\\end{pmatrix}$ | 2 |\n",
    "above.md": "$(X)_²$ and $A_²$, $X_{²}$, $x_٣$, $(X)_{" + "1" * 4400 + "}$",
    "digits.md": f"| n | a | b |\n|---|---|---|\n| {'1' * 4301} | 2 | 3 |\n| 2 | 3 | 4 |\n",
}


@pytest.mark.parametrize("name", ARTICLES)
def test_ordinary_articles_are_no_accident(name):
    """Each once ended a command."""
    reading_of(ARTICLES[name], name)


def test_an_array_made_by_name_prints_no_number():
    """The entries of an identity stand nowhere, and at no other number's place."""
    for text in ("W = 0.5 * np.eye(2)\ny = W @ W", "0.25\nW = 0.5 * np.eye(2)\nprint(W @ W)"):
        reading = reading_of(f"```python\n{text}\n```\n")
        assert "y" in reading.steps or reading.given
        assert all(one.span.start < one.span.end for one in reading.numbers)


def test_rows_are_counted_however_many_digits_they_have():
    """A first column of 1, 2, ... is no part of the figures; as text 01 is 1."""
    for first in ("1", "01"):
        head = "| n | a | b |\n|---|---|---|\n"
        table = f"{head}| {first} | 0.5 | 0.25 |\n| 2 | 0.75 | 0.125 |\n"
        reading = reading_of(f"$M = [[0.5, 0.25], [0.75, 0.125]]$\n\n$N = M + 0$\n\n{table}")
        assert [one.of for one in reading.numbers if one.text == "0.125"][1:] == ["N[1, 1]"]
