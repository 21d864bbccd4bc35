"""Every sentence of a sheet goes through its language, and the German ones are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from symattn.auditing.audit import audit
from symattn.cases.library import load
from symattn.escaping import visible
from symattn.languages.language import fields, language
from symattn.printers import blocks as b
from symattn.sheets import case_sheet, redpen
from symattn.slips.catalogue import KINDS, OF_KERNELS
from symattn.solution.solution import Solution, solve

from ..notation import in_latex
from .catalogue import said

#: Cases that are compared with others, masked, audited with causes, and with symbols.
CASES = ("cat-sat-mat-identical", "cat-sat-mat-padding", "please-study-man", "length-4-causal")

#: Where the sentences of a table are said, or joined ones.
TABLES = {
    "exercises/faults.py",
    "languages/sentence.py",
    "slips/catalogue.py",
}


@cache
def catalogue() -> frozenset[str]:
    """Every sentence that the code says."""
    kinds = {kind.phrase for kind in KINDS.values()} | {*OF_KERNELS.values()}
    return frozenset(kinds | {one.sentence for one in said() if one.sentence is not None})


@pytest.mark.heavy
def test_sentences_are_texts_of_the_source() -> None:
    """What is said can be collected: it is written where it is said."""
    assert {one.file for one in said() if one.sentence is None} == TABLES
    assert len(catalogue()) > 100


@pytest.mark.heavy
def test_every_sentence_can_be_filled_in() -> None:
    """A sentence has names in its braces, and no blank at its ends."""
    for sentence in catalogue():
        assert all(name.isidentifier() for name in fields(sentence)), sentence
        assert sentence == sentence.strip()


@pytest.mark.heavy
def test_german_is_complete() -> None:
    """Each sentence has a German one, and none is superfluous; the language file's
    reader has seen to their names."""
    assert sorted(language("de").sentences) == sorted(catalogue())


def written(path: Path, sentences: dict[str, str]) -> str:
    """A language file of these sentences."""
    lines = (f"{_toml(key)} = {_toml(value)}\n" for key, value in sentences.items())
    path.write_text("".join(lines), "utf-8")
    return str(path)


def _toml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A language that says everything in English, between marks."""
    path = tmp_path_factory.mktemp("words") / "marked.toml"
    return written(path, {sentence: f"⟦{sentence}⟧" for sentence in catalogue()})


@cache
def nameless(name: str) -> Solution:
    """A bundled case that says nothing of its own: numbers stand for all its texts."""
    case = load(name)
    claims = tuple(replace(claim, where="0") for claim in case.claims)
    unchecked = tuple(replace(x, where="0", what="0", reason="0") for x in case.unchecked)
    tokens = tuple(map(str, range(len(case.tokens))))
    return solve(
        replace(case, name="0", title="0", source="0", note="0", tokens=tokens, claims=claims,
                unchecked=unchecked)
    )  # fmt: skip


def sheets(name: str, settings: dict[str, Any]) -> Iterator[b.Sheet]:
    """Both sheets of a case."""
    solution = nameless(name)
    yield case_sheet.sheet(solution, audience="author", detail="full", **settings)
    if solution.case.claims:
        yield redpen.sheet(audit(solution), **settings)


def words(item: object) -> Iterator[str]:
    """All plain words of a block: no mathematics, no code."""
    match item:
        case b.Math() | b.Code() | b.Listing() | b.Equations():
            return
        case b.Heading(text) | b.Paragraph(text):
            yield "".join(line_words(text))
        case b.Strong(text) | str(text):
            yield text
        case b.Table(header, rows):
            yield from ("".join(line_words(cell)) for row in (header, *rows) for cell in row)
        case b.Matrices(items) | b.HeatMaps(items) | b.Beside(items):
            for one in items:
                yield from words(one)
        case b.Matrix(before, _, labels):
            yield from (re.sub(r"\\text\{(.*?)\}|.", r"\1", in_latex(before)), *labels)
        case b.HeatMap(title):
            yield from ("".join(line_words(title)), *item.rows, *item.columns)
        case b.Picture(svg):
            shown = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
            yield from map(unescape, re.findall(r">([^<>\n]+)<", shown))
        case b.RedPen(where, matrix, notes):
            yield where
            yield from words(matrix)
            yield from ("".join(line_words(note)) for note in notes)
        case _:
            raise AssertionError(item)


def line_words(line: b.Line | str) -> Iterator[str]:
    """The plain words of a line."""
    for piece in line:
        match piece:
            case b.Strong(text) | str(text):
                yield text
            case _:
                yield " "


def texts(sheet: b.Sheet) -> Iterator[str]:
    """All plain words of a sheet."""
    yield sheet.title if isinstance(sheet.title, str) else "".join(line_words(sheet.title))
    yield "".join(line_words(sheet.subtitle))
    for block in sheet.blocks:
        yield from words(block)


@pytest.mark.sampled(0, 3)
@pytest.mark.parametrize("name", CASES)
def test_every_word_goes_through_the_language(name, marked) -> None:
    """Outside of the marks that the language sets there are no words: names of
    quantities stand there, and numbers."""
    named = {part for x in nameless(name).program.quantities for part in x.split("_")}
    for sheet in sheets(name, {"language": marked}):
        for text in texts(sheet):
            rest, inner = text, ""
            while rest != inner:
                inner, rest = rest, re.sub(r"⟦[^⟦⟧]*⟧", "", rest)
            # Names of functions in drawings stay.
            found = re.findall(r"[a-z]{4,}(?![a-z(])", rest)
            assert not set(found) - named, text


@pytest.mark.sampled(0, 3)
@pytest.mark.parametrize("name", CASES)
def test_a_german_sheet_has_no_english_sentence(name) -> None:
    """None of the sentences that are another in German stands on it in English."""
    german = language("de")
    plain = {
        pattern(sentence)
        for sentence in catalogue()
        if german.sentences[sentence] != sentence and len(re.sub(r"\{\w+\}|\W", "", sentence)) > 3
    }
    for sheet in sheets(name, {"language": "de"}):
        assert sheet.say is german
        for text in texts(sheet):
            for english in plain:
                assert not english.search(visible(text)), (english.pattern, text)


def pattern(sentence: str) -> re.Pattern[str]:
    """What a sentence looks like, whatever is filled in."""
    words = ".+".join(map(re.escape, re.split(r"\{\w+\}", sentence)))
    return re.compile(rf"(?<!\w){words}(?!\w)")
