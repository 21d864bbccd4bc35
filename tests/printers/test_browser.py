"""Pages as a browser shows them: nothing runs over, no letter is missing, nothing is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from pathlib import Path

import pytest

from symattn.languages.language import ENGLISH
from symattn.printers import blocks as b
from symattn.printers import source
from symattn.printers.html import card, document, index_page, page
from symattn.printers.source import LineKind, SourceLine, SourceList, SourceMark, SourcePage

from ..browser import Browser, browser
from ..scripts import unscripted
from .test_html import PAGES, blocks, inside

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.heavy]

#: Widths of a telephone, a tablet and a screen; large pages are tried in the first and last.
WIDTHS = (360, 800, 1400)
LINE_KINDS: tuple[LineKind, ...] = ("words", "heading", "code")
KINDS = ("sheet", "audit", "derivation", "file")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all pages."""
    with browser() as made:
        yield made


def written(folder: Path, name: str, text: str) -> Path:
    """A page on the disk."""
    path = folder / f"{name}.html"
    path.write_text(text, "utf-8")
    return path


def assert_fits(chromium: Browser, name: str, widths: Sequence[int] = WIDTHS) -> None:
    """The page that is open is as wide as the window, whose width it has."""
    for width in widths:
        chromium.resize(width)
        shown = chromium.run(
            "(({scrollWidth, clientWidth}) => [scrollWidth, clientWidth])(document.documentElement)"
        )
        assert shown[0] <= shown[1] <= width, (name, width, shown)


@pytest.mark.parametrize(("kind", "name"), [page for page in PAGES if page[0] in KINDS])
@pytest.mark.sampled(0, 3)
def test_nothing_runs_over(kind: str, name: str, chromium: Browser, tmp_path: Path) -> None:
    """Every page fits, with all its parts open, and loads nothing but itself."""
    path = written(tmp_path, name, document(blocks(kind, name)))
    chromium.open(path)
    chromium.run("document.querySelectorAll('details').forEach(x => { x.open = true })")
    assert_fits(chromium, name, (WIDTHS[0], WIDTHS[-1]))
    loaded = chromium.loaded()
    assert loaded[0] == path.as_uri()
    assert all(address.startswith("data:font/woff2;") for address in loaded[1:])


def test_the_list_fits(chromium: Browser, tmp_path: Path) -> None:
    """So does the list of all sheets."""
    cards = [
        (card(blocks("sheet", name)), [(f"{name}.html", "HTML"), (f"{name}.pdf", "PDF")])
        for kind, name in PAGES
        if kind == "sheet"
    ]
    chromium.open(written(tmp_path, "index", index_page(cards, [("a" * 90, "b" * 90)], ENGLISH)))
    assert_fits(chromium, "index")


def test_articles_fit(chromium: Browser, tmp_path: Path) -> None:
    """So does an article with lines that are too long for any window, every note beside its
    line or below, and what is told of a figure is shown while the pointer is on it."""
    figure = SourceMark("0.5066", "wrong", "A[0, 1]", "0.5065", 1)
    pieces = ("x" * 400, figure, " & 0.25" * 60, SourceMark("17", "unread", "no name"))
    note = (b.Code("A[0, 1]" * 30), " repeats " + "another figure " * 20)
    lines = tuple(SourceLine(k, kind, pieces, (note,)) for k, kind in enumerate(LINE_KINDS, 1))
    items = ((b.Link("line 1", "line-1"), " says " + "y" * 200),)
    lists = (SourceList("Assumed", items, is_open=True),)
    made = SourcePage(
        "x", "A title " * 30, "z" * 300, items, items, lists, (figure,), lines, ENGLISH
    )
    chromium.open(written(tmp_path, "article", source.document(made)))
    assert_fits(chromium, "article")
    told = "getComputedStyle(document.querySelector('main small')).display"
    for width in WIDTHS:
        chromium.resize(width)
        assert chromium.run(told) == "none"
        box = chromium.run(
            "(mark = document.querySelector('main .wrong'), mark.scrollIntoView(),"
            " mark.getBoundingClientRect().toJSON())"
        )
        chromium.point(box["x"] + 2, box["y"] + 2)
        assert chromium.run(told) == "block"
        chromium.point(0, 0)
        beside = chromium.run(
            "((line) => line.querySelector('aside').getBoundingClientRect().left >"
            " line.querySelector('div').getBoundingClientRect().left)"
            "(document.querySelector('main > div'))"
        )
        assert beside == (width > 1000)


TOKEN = re.compile(r"<(mi|mo|mn|mtext)\b([^>]*)>([^<]*)</\1>")


def test_every_letter_is_in_the_fonts(chromium: Browser, tmp_path: Path) -> None:
    """What stands in the mathematics and the words of any page is drawn with the fonts inside."""
    tokens: set[tuple[str, str, str]] = set()
    letters: set[str] = set()
    for kind, name in PAGES:
        text = unscripted(document(blocks(kind, name)))
        text = text[text.index("<body>") :]
        tokens.update(TOKEN.findall(text))
        words = re.sub(r"<code>.*?</code>|<pre>.*?</pre>|<math.*?</math>", "", text, flags=re.S)
        letters.update(unescape(re.sub(r"<[^>]*>", "", words)))
    signs = "".join(f"<p><math><{t}{a}>{x}</{t}></math></p>" for t, a, x in sorted(tokens) if x)
    plain = "".join(f"<p>{escape(x)}</p>" for x in sorted(letters) if not x.isspace())
    chromium.open(written(tmp_path, "signs", page("signs", "", signs, ENGLISH)))
    found = chromium.fonts("math > *")
    assert len(found) == signs.count("<p>") > 100
    wrong = [sign for sign, fonts in zip(re.findall("<p>.*?</p>", signs), found, strict=True)
             if fonts != {"page"}]  # fmt: skip
    assert wrong == []
    chromium.open(written(tmp_path, "letters", page("letters", "", plain, ENGLISH)))
    assert chromium.fonts("p") == [{"page"}] * plain.count("<p>")


SHOWN = """[...document.querySelectorAll('[role=tooltip]')]
  .filter(hint => getComputedStyle(hint).display != 'none')
  .map(hint => [hint.id, hint.getBoundingClientRect().toJSON()])"""


@pytest.mark.parametrize("width", WIDTHS)
def test_hints(width: int, chromium: Browser, tmp_path: Path) -> None:
    """A figure that has the focus or the pointer, which goes before, shows its own hint,
    inside the window and not over the figure; any other hint is hidden."""
    chromium.resize(width)
    chromium.open(written(tmp_path, "page", document(blocks("sheet", "cat-sat-mat"))))
    chromium.point(0, 0)
    assert chromium.run(SHOWN) == []
    count = chromium.run("(cells = [...document.querySelectorAll('td[tabindex]')]).length")
    assert count > 50
    for place, other in ((0, 1), (count // 2, 0), (count - 1, 2)):
        cell = chromium.run(
            f"cells[{place}].focus({{preventScroll: true}}),"
            f"cells[{place}].scrollIntoView({{block: 'center'}}),"
            f"{{...cells[{place}].getBoundingClientRect().toJSON(),"
            f" name: cells[{place}].getAttribute('aria-describedby')}}"
        )
        ((name, hint),) = chromium.run(SHOWN)
        assert name == cell["name"]
        assert hint["left"] >= 0
        assert hint["right"] <= width
        assert hint["bottom"] <= 900
        assert hint["top"] >= cell["bottom"] - 1 or hint["bottom"] <= cell["top"] + 1
        there = chromium.run(
            f"cells[{other}].scrollIntoView({{block: 'center'}}),"
            f"{{...cells[{other}].getBoundingClientRect().toJSON(),"
            f" name: cells[{other}].getAttribute('aria-describedby')}}"
        )
        chromium.point((there["left"] + there["right"]) / 2, (there["top"] + there["bottom"]) / 2)
        ((name, _),) = chromium.run(SHOWN)
        assert name == there["name"]
        chromium.point(0, 0)


def test_parts_fold(chromium: Browser, tmp_path: Path) -> None:
    """A part that is folded is not shown, and opens for a link into it; on paper all are open."""
    chromium.resize(800)
    chromium.open(written(tmp_path, "page", document(blocks("sheet", "length-4-causal"))))
    height = "document.documentElement.scrollHeight"
    whole = chromium.run(height)
    chromium.run("document.querySelectorAll('main details').forEach(x => { x.open = false })")
    folded = chromium.run(height)
    assert folded < whole / 4
    chromium.run("document.querySelector('nav details').open = true")
    chromium.run("document.querySelector('nav ol ol a').click()")
    assert chromium.run("document.querySelectorAll('main details[open]').length") == 1
    chromium.ask("Emulation.setEmulatedMedia", media="print")
    printed = chromium.run(height)
    chromium.ask("Emulation.setEmulatedMedia", media="")
    assert printed > whole / 3


def test_struck_figures_are_told(chromium: Browser, tmp_path: Path) -> None:
    """Who listens to a red-pen page hears which figures are struck, and which are put in."""
    text = document(blocks("audit", "please-study-man"))
    chromium.open(written(tmp_path, "page", text))
    nodes = chromium.ask("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in nodes if "role" in node]
    struck = inside(text, "main").count('class="struck"')
    assert roles.count("deletion") == struck > 50
    assert roles.count("insertion") >= struck
