"""Sessions of random edits: nothing ends the server, and what it tells is of what stands there.

The oracle for places counts bytes of UTF-16; that for what is told audits the same text anew.
"""

from __future__ import annotations

import random

import pytest
import pytest_lsp
from lsprotocol import types as lsp

from symattn.auditing.audit import audit
from symattn.cases import library
from symattn.errors import Faulty
from symattn.verdicts import Verdict

from .editors import CONFIG, POST, RIGHT, WRONG, Editor, span

pytestmark = pytest.mark.asyncio(loop_scope="module")
URI = "file:///nowhere/session.md"
CASE_URI = "file:///nowhere/session.toml"
CASE = """[given]
Q = [[1, 0], [0, 1]]

[steps]
A = "softmax(Q)"

[[claims]]
where = "😀 𝐀"
of = "A"
printed = [["0.7311", "0.2689"], ["0.2698", "0.7311"]]
"""
#: What is put into texts: figures, marks of every form, letters of every width, line ends.
PIECES = (
    *("0.6698", "0.3302", "0.5", "1", "-", ".", "7071", "A_{1,2} = 0.3303", "e^{0.7071} = 2.03"),
    *("$", "$$", "\\begin{bmatrix}", "\\end{bmatrix}", "&", "\\\\", "_", "^", "{", "}", "\\frac12"),
    *("```", "\n\n", "\n", "\r\n", "\r", "\u2028", "\x0c", "\x85", "| 0.5 | 0.25 |", "    ", "\t"),
    *("😀", "𝐀", "∞", "ä", "\ufeff", "\u200b", "e\u0301", "text", " so ", '"', "'", "[", "]", "#"),
    *("<!-- symattn: ignore -->", "<!-- symattn: A = ... -->", "-->", "<p>", "\\(x\\)", "= 2"),
)
#: An edit in so many is told of at once; the others come in a burst.
BURST = 5


@pytest_lsp.fixture(config=CONFIG, scope="module")  # type: ignore[untyped-decorator]
async def editor(lsp_client: Editor):
    await lsp_client.start()
    yield
    await lsp_client.shutdown_session()


def edited(text, draw):
    """A random edit: from where to where, and what comes there."""
    start = draw.randint(0, len(text))
    end = min(len(text), start + draw.choice((0, 0, 1, 1, 2, 5, 20)))
    whole = draw.choice((draw.choice(PIECES), draw.choice(PIECES), ""))
    for at in (start, end):
        # No editor parts what ends a line.
        if text[at - 1 : at + 1] == "\r\n":
            return at - 1, at + 1, whole
    return start, end, whole


def expected(name, text):
    """The places of what is refuted, by an audit of its own; None of what can't be read."""
    try:
        found = audit(library.load(name, data=text.encode()))
    except Faulty:
        return None
    places = {one.span for one in found.figures if one.verdict is Verdict.REFUTED}
    claims = {one.claim.span for one in found.statements if one.verdict is Verdict.REFUTED}
    return places | claims


def refuted(editor, uri):
    """The places of what the editor is told that is wrong."""
    severe = (lsp.DiagnosticSeverity.Error, lsp.DiagnosticSeverity.Warning)
    text = editor.texts[uri]
    return {
        span(text, one.range)
        for one in editor.told[uri].diagnostics
        if one.severity in severe and one.code != "fault"
    }


@pytest.mark.parametrize(
    ("edits", "seed"),
    [
        (50, 0),
        pytest.param(1000, 1, marks=pytest.mark.heavy),
        *(pytest.param(1000, seed, marks=pytest.mark.campaign) for seed in range(2, 11)),
    ],
)
async def test_a_session_of_random_edits(edits, seed, editor):
    """No crash, no wrong place, and what is told is what holds of the last version."""
    draw = random.Random(seed)
    text = POST
    editor.open(URI, text)
    for number in range(edits):
        if draw.random() < 0.02:
            # Somebody undoes it all.
            editor.edit(URI, 0, len(editor.texts[URI]), POST.replace(RIGHT, WRONG, 1))
        start, end, new = edited(editor.texts[URI], draw)
        editor.edit(URI, start, end, new)
        if number % BURST == BURST - 1:
            await editor.findings(URI)
            wrong = expected("session.md", editor.texts[URI])
            told = refuted(editor, URI)
            assert told == (wrong or set()), editor.texts[URI]
            where = draw.randint(0, len(editor.texts[URI]))
            await editor.hovers(URI, where)
            for action in await editor.actions(URI, where, where):
                assert editor.after(action)
    editor.close(URI)


@pytest.mark.parametrize(
    ("edits", "seed"), [(20, 0), pytest.param(500, 1, marks=pytest.mark.heavy)]
)
async def test_a_session_with_a_walkthrough(edits, seed, editor):
    """Whatever stands in a walkthrough, all that is told is told of places in it."""
    draw = random.Random(seed)
    editor.open(CASE_URI, CASE, "toml")
    for number in range(edits):
        start, end, new = edited(editor.texts[CASE_URI], draw)
        editor.edit(CASE_URI, start, end, new)
        if draw.random() < 0.2:
            editor.edit(CASE_URI, 0, len(editor.texts[CASE_URI]), CASE)
        if number % BURST == BURST - 1:
            await editor.lens(CASE_URI)
            assert CASE_URI not in editor.told or all(
                span(editor.texts[CASE_URI], one.range) for one in editor.told[CASE_URI].diagnostics
            )
            where = draw.randint(0, len(editor.texts[CASE_URI]))
            await editor.hovers(CASE_URI, where)
    editor.edit(CASE_URI, 0, len(editor.texts[CASE_URI]), CASE)
    found = await editor.findings(CASE_URI)
    assert [covered for covered, _ in found] == ["0.2698"]
    editor.close(CASE_URI)
