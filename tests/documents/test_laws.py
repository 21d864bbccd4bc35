"""What holds of every reading: of the worked examples, of pieces of them, of any that is made."""

from __future__ import annotations

import html
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.cases.article import case_of
from symattn.documents.binding import binder
from symattn.documents.files import article, is_article
from symattn.errors import Malformed
from tests.documents import marks
from tests.documents.promises import figures_of, holds_its_promises
from tests.strategies import few

CORPUS = {
    path.stem: marks.read(path.read_text("utf-8"))[0]
    for path in sorted((Path(__file__).parent / "corpus").glob("*.marked"))
    if is_article(path.stem)
}


def reading_of(name, text):
    """The reading of an article of that name and text."""
    return binder.read(article(Path(name), text.encode()))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CORPUS)
def test_numbers_stand_where_they_are_said_to(name):
    """At its place each number is printed, but for how signs are written; so is each claim's."""
    reading = reading_of(name, CORPUS[name])
    holds_its_promises(reading)
    source = reading.article.source
    figures = [one for claim in reading.claims for one in figures_of(claim)]
    said = [*((one.text, one.span) for one in reading.numbers), *figures]
    assert said
    assert [
        (text, source[span.start : span.end])
        for text, span in said
        if _digits(text) != _digits(html.unescape(source[span.start : span.end]))
    ] == []


def _digits(text):
    return re.sub("[^0-9.]", "", text)


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["bees-love-thyme.md", "masked-lecture.tex"])
def test_reading_is_deterministic(name):
    """The same bytes give the same reading."""
    first, second = reading_of(name, CORPUS[name]), reading_of(name, CORPUS[name])
    assert first.numbers == second.numbers
    assert first.claims == second.claims
    assert (first.given, first.steps, first.open) == (second.given, second.steps, second.open)


def mutant(name, seed):
    """A piece of a worked example, with some pieces cut, doubled, moved or put in."""
    drawn = random.Random(f"{name} {seed}")
    text = CORPUS[name]
    start = drawn.randrange(len(text))
    text = text[start : start + 2500]
    for _ in range(drawn.randrange(1, 8)):
        i = drawn.randrange(len(text) + 1)
        j = min(len(text), i + drawn.choice([1, 1, 2, 5, 20, 80, 300]))
        at = drawn.randrange(len(text) + 1)
        piece, rest = text[i:j], text[:i] + text[j:]
        match drawn.randrange(4):
            case 0:
                text = rest
            case 1:
                text = text[:at] + piece + text[at:]
            case 2:
                text = rest[:at] + piece + rest[at:]
            case _:
                text = text[:i] + drawn.choice(_PUT_IN) + text[i:]
        if drawn.random() < 0.3:
            sign = drawn.choice("[](){}$&\\=<>|`,.")
            text = text.replace(sign, "", drawn.choice([1, 1, 1000]))
    return text


_PUT_IN = (
    *("$", "$$", "```\n", "[[", "]]", "\\begin{bmatrix}", "\\end{bmatrix}", "\\\\", "&", "|"),
    *("\0", "\u202e", "\n\n", "%", "-", "−", "=", "1e999", "0.5", "\\frac", "<td>"),
)


@pytest.mark.sampled(0, 7)
@pytest.mark.parametrize("name", CORPUS)
def test_mutants_are_read_or_refused(name):
    """A piece of an article, however it is mangled, is refused with a message or read; that
    there is something amiss in it is seldom a reason to refuse."""
    read = 0
    for seed in range(MUTANTS):
        text = mutant(name, seed)
        try:
            reading = reading_of(name, text)
            holds_its_promises(reading)
            read += 1
            case_of(reading)
        except Malformed:
            continue
        except Exception as error:
            error.add_note(f"seed {seed}: {text!r}")
            raise
    assert read > MUTANTS / 2 or is_one_whole(name)


def is_one_whole(name):
    """Whether a piece of an article is none: of a notebook, which is one piece of JSON."""
    return name.endswith(".ipynb")


#: So many mutants of each worked example are read.
MUTANTS = 12


def test_numbers_beyond_all_limits_are_no_accident():
    """Powers of ten that no expression and no float takes are printed numbers like others."""
    text = "So 1e999 + 1 = 2, 0.5 * 1e-999 = 0.5, 1 + 1 = 1e999 and 1e300 * 1e300 = 7.\n"
    reading = reading_of("made.txt", text)
    holds_its_promises(reading)
    case_of(reading)
    assert len(reading.numbers) == 12


decimals = st.from_regex(r"-?[0-9]{1,3}\.[0-9]{1,4}", fullmatch=True)
rows = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(decimals, min_size=n, max_size=n), min_size=1, max_size=3)
)
words = st.sampled_from(["So", "weights of", "and the scores are", "about", "which is", "In all,"])


def _matrix(entries):
    body = r" \\ ".join(" & ".join(row) for row in entries)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


pieces = st.one_of(
    st.builds(lambda said, one: (f"{said} {one} it is.", [one]), words, decimals),
    st.builds(lambda a, b: (f"Here $x = {a} + {b}$ holds.", [a, b]), decimals, decimals),
    st.builds(
        lambda made: (f"$$A = {_matrix(made)}$$", [one for row in made for one in row]), rows
    ),
    st.builds(
        lambda made: (
            f"```\n[{', '.join('[' + ', '.join(row) + ']' for row in made)}]\n```",
            [one for row in made for one in row],
        ),
        rows,
    ),
    st.builds(
        lambda one, other: (f"| a | b |\n|---|---|\n| {one} | {other} |", [one, other]),
        decimals,
        decimals,
    ),
)


@few
@given(st.lists(pieces, min_size=1, max_size=6))
def test_no_number_is_lost(made):
    """Each decimal of prose, formulas, output and tables is one number, in its order."""
    text = "\n\n".join(piece for piece, _ in made) + "\n"
    reading = reading_of("made.md", text)
    holds_its_promises(reading)
    printed = [one.lstrip("-") for _, numbers in made for one in numbers]
    assert [one.text.lstrip("-+") for one in reading.numbers if "." in one.text] == printed
