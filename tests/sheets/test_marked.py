"""The red pen in the article: all of its text, every figure marked as it is judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.documents.files import article
from symattn.documents.reading import ArticleNumber, Claimed, OpenQuestion
from symattn.documents.text import Span
from symattn.escaping import visible
from symattn.expressions import syntax
from symattn.printers.source import document
from symattn.sheets.marked import page
from tests.documents import marks
from tests.documents.skeletons import loaded, skeleton

from ..hostile import steering

FOLDER = Path(__file__).parents[1] / "documents" / "corpus"
READABLE = (".md", ".qmd", ".tex", ".txt", ".ipynb")
CORPUS = [path for path in marks.documents(FOLDER) if path.with_suffix("").suffix in READABLE]
CORPUS = [
    path for path in CORPUS if all(one.expression for one in marks.load(path).marks if one.is_slip)
]


def with_blocks(reading):
    """A reading whose article has the blocks of the file itself."""
    held = reading.article
    return replace(reading, article=article(held.path, held.source.encode()))


def shown(document_, change=with_blocks, **wanted):
    """The page of a document as a tree."""
    made = replace(document_, change=change)
    return tree(document(page(made.audit(made.printed), **wanted)))


def tree(text):
    """A page as a tree: it is as well formed as XML, but for its empty elements."""
    body = text[text.index("<body>") : text.index("</body>") + len("</body>")]
    return ElementTree.fromstring(body)


def lines(body):
    """The lines of an article on its page: number, and text without what was written in."""
    for row in body.iterfind("main/div"):
        for mark in row.iterfind("div/span"):
            for written in [*mark.iterfind("ins"), *mark.iterfind("small"), *mark.iterfind("a")]:
                mark.remove(written)
        number = row.find("a")
        yield number.text if number is not None else "", "".join(row.find("div").itertext())


def as_shown(line):
    """A line as pages show text: what is hidden by its code, blanks as blanks."""
    plain = line.replace("\t", "    ")
    return visible("".join(" " if c.isspace() else c for c in plain))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_wrong_figures_are_struck_where_they_stand(path):
    """Every planted slip is struck through on its line, with what its author meant beside
    it and a note on the line, and nothing else is."""
    document_ = loaded(path)
    found = []
    for row in shown(document_).iterfind("main/div"):
        struck = row.findall("div/span[@class='wrong']")
        assert row.find("aside") is not None or not struck
        found += [(mark.find("del").text, mark.find("ins").text.strip()) for mark in struck]
    wanted = [(one.printed, one.correct) for one in document_.figures if one.is_slip]
    assert sorted(found) == sorted(wanted)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_nothing_of_an_article_is_left_out(path):
    """Without what was written into it, the page has the lines of the file by their
    numbers; of a notebook every figure."""
    document_ = loaded(path)
    body = shown(document_)
    if document_.form == "notebook":
        marked = [mark for row in body.iterfind("main/div") for mark in row.iterfind("div/span")]
        held = {one.printed for one in document_.figures if one.expression and not one.is_given}
        assert held <= {
            "".join(mark.itertext()).split()[0][: len(p)] for mark in marked for p in held
        }
        return
    wanted = [as_shown(line) for line in document_.printed.removesuffix("\n").split("\n")]
    assert [*lines(body)] == [(str(k), line) for k, line in enumerate(wanted, 1)]


SMALL = """
[given]
X = [[1, 0], [0, 1]]
[steps]
A = "softmax(X)"
"""


@pytest.mark.heavy
@settings(max_examples=40, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="⟦⟧|"), max_size=60),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_text_is_only_text(small, text, end):
    """Whatever an article says is shown as it stands, makes no element and steers nothing."""
    before = text.replace("\r", "").replace("\n", end)
    made = skeleton(f"{before}{end}A is ⟦A[0, 1]|0.2698⟧ {before}", small)
    made = replace(made, form="text")
    written = document(page(made.audit(made.printed)))
    assert steering(written) == set()
    body = tree(written)
    wanted = made.printed.split(end) if end in made.printed else [made.printed]
    wanted = wanted[:-1] if wanted[-1] == "" else wanted
    assert [line for _, line in lines(body)] == [as_shown(line) for line in wanted]
    assert {element.tag for element in body.find("main").iter()} <= ALLOWED


ALLOWED = {"main", "div", "a", "span", "del", "ins", "small", "aside", "p", "code"}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The file of a small walkthrough."""
    path = tmp_path_factory.mktemp("truth") / "small.toml"
    path.write_text(SMALL)
    return path


def test_links_lead_somewhere(small):
    """Every link leads to a line or a cause of the page, and no name is given twice."""
    made = skeleton("A is ⟦A[0, 1]|0.2698⟧, 17\n\nand ⟦A[1, 0]|0.2698⟧", small)

    def change(reading):
        span = Span(13, 15)
        return replace(
            reading,
            numbers=(*reading.numbers, ArticleNumber("17", span, "unread", why="no name")),
            open=(OpenQuestion("17", "it may be a size", span),),
            assumptions=("softmax is row by row",),
        )

    body = shown(made, change)
    names = [element.get("id") for element in body.iter() if element.get("id")]
    links = [element.get("href") for element in body.iter("a")]
    assert len(names) == len({*names})
    assert {link.removeprefix("#") for link in links} <= {*names}
    above = "".join(body.find("section").itertext())
    for said in (
        "2 refuted",
        "softmax is row by row",
        "it may be a size",
        "3 numbers: 2 bound, 1 not read (line 1)",
    ):
        assert said in above
    (unread,) = body.findall("main/div/div/span[@class='unread']")
    assert unread.text == "17"


def test_statements_have_their_note(small):
    """A statement that does not hold is told beside its line."""
    made = skeleton("Look: A[0, 0] < A[0, 1]\nIt is ⟦A[0, 1]|0.2689⟧", small)

    def change(reading):
        claim = Claimed("holds", syntax.parse("A[0, 0] < A[0, 1]"), "", Span(6, 23))
        return replace(reading, claims=(*reading.claims, claim))

    (note,) = shown(made, change).findall("main/div/aside/p")
    assert "".join(note.itertext()) == "A[0, 0] < A[0, 1] does not hold"


def test_what_is_coarse_or_confirmed_is_told_apart(small):
    """A coarse figure has a finer one beside it; one that only its value says is marked so."""
    made = skeleton("⟦A[0, 1]|0⟧ and ⟦A[0, 0]|0.73⟧", small)

    def change(reading):
        first, last = reading.claims
        return replace(reading, claims=(first, replace(last, doubt="only its value suggests so")))

    coarse, confirmed = shown(made, change).findall("main/div/div/span")
    assert (coarse.get("class"), coarse.find("ins").text) == ("coarse", " 0.3")
    assert (confirmed.get("class"), confirmed.find("ins")) == ("confirmed", None)


def test_the_page_is_in_the_language_that_is_asked_for(small):
    """All that symattn says is German, all that the article says stays."""
    made = skeleton("A is ⟦A[0, 1]|0.2698⟧", small)
    text = document(page(made.audit(made.printed), language="de"))
    assert '<html lang="de">' in text
    assert "1 widerlegt" in text
    assert "A is" in text
