"""The language server from end to end: what an editor is told while somebody writes."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
import pytest_lsp
from lsprotocol import types as lsp

from symattn.auditing.audit import audit
from symattn.auditing.fixing import fixed
from symattn.cases import library
from tests.cli.test_lsp import children

from .editors import CONFIG, POST, RIGHT, WRONG, Editor, place

pytestmark = pytest.mark.asyncio(loop_scope="module")
URI = "file:///nowhere/post.md"
CASE = """[given]
Q = [[1, 0], [0, 1]]
K = [[1, 1], [0, 1]]

[steps]
S = "Q @ K.T / sqrt(2)"
A = "softmax(S)"

[[claims]]
where = "😀 the weights"
of = "A"
printed = [["0.6698", "0.3302"], ["0.4000", "0.5000"]]

[[claims]]
where = "the end"
holds = "A[0, 0] < A[0, 1]"
"""


@pytest_lsp.fixture(config=CONFIG, scope="module")  # type: ignore[untyped-decorator]
async def editor(lsp_client: Editor):
    await lsp_client.start()
    yield
    await lsp_client.shutdown_session()


def errors(found):
    return [(text, one) for text, one in found if one.severity == lsp.DiagnosticSeverity.Error]


async def test_a_wrong_figure_is_marked_while_it_is_there(editor):
    """Behind letters of two units, exactly it, with the right one; and no longer than it is."""
    editor.open(URI, POST)
    ((text, told),) = await editor.findings(URI)
    assert (text, told.code, told.source) == (WRONG, "root", "symattn")
    assert "A[0, 0]" in told.message
    assert RIGHT in told.message
    assert "bound by: its name" in told.message
    start = POST.index(WRONG)
    editor.edit(URI, start, start + len(WRONG), RIGHT)
    assert await editor.findings(URI) == []
    editor.edit(URI, start, start + len(RIGHT), "0.6699")
    ((text, told),) = await editor.findings(URI)
    assert (text, told.code) == ("0.6699", "last-digit")
    editor.close(URI)


async def test_the_lens_counts_every_number(editor):
    editor.open(URI, POST + "\nNobody knows what 0.777 is.\n")
    lens = await editor.lens(URI)
    assert lens == "symattn: 20 numbers: 8 hold, 1 refuted, 8 given, 2 no claims, 1 not read"
    editor.close(URI)


async def test_what_is_not_known_is_a_hint_at_most(editor):
    text = "$B = A C = 0.5$, and $D = 3 E = 0.25$. Nobody knows what 0.777 is.\n"
    editor.open(URI, text)
    found = await editor.findings(URI)
    assert {covered for covered, _ in found} >= {"0.777"}
    assert {one.severity for _, one in found} == {lsp.DiagnosticSeverity.Hint}
    editor.close(URI)


async def test_the_hover_of_a_figure(editor):
    editor.open(URI, POST)
    shown = await editor.hovers(URI, POST.index(WRONG) + 2)
    assert "A[0, 0] = 0.6689" in shown
    assert "the correct value is **0.6698**" in shown
    assert "bound by: its name" in shown
    assert "exactly `e^(sqrt(2)/2)/(1 + e^(sqrt(2)/2))`" in shown
    assert "to 12 digits `0.669761549327`" in shown
    assert "an input" in await editor.hovers(URI, POST.index("1 & 0"))
    assert await editor.hovers(URI, POST.index("queries")) == ""
    editor.close(URI)


async def test_corrections_are_those_of_the_command(editor):
    """One by one and all together; after them nothing is wrong."""
    wrong = POST.replace("0.3302 ", "0.3320 ").replace("0.5000 &", "0.5500 &")
    editor.open(URI, wrong)
    whole = await editor.actions(URI, 0, 0, "source.fixAll")
    (correct_all,) = whole
    assert correct_all.kind == "source.fixAll.symattn"
    found = audit(library.load("post.md", data=wrong.encode()))
    again = fixed(found, lambda text: audit(library.load("post.md", data=text.encode())))
    assert editor.after(correct_all) == {URI: again.text}
    assert again.text != wrong
    for fix in again.fixes:
        (one,) = await editor.actions(URI, fix.span.start, fix.span.start, "quickfix")
        text = wrong[: fix.span.start] + fix.correct + wrong[fix.span.end :]
        assert editor.after(one) == {URI: text}
    start = wrong.index("queries")
    assert await editor.actions(URI, start, start, "quickfix") == []
    editor.close(URI)


@pytest.mark.parametrize(
    ("name", "language", "before", "after"),
    [
        ("a.md", "markdown", "# Odd\n\nOnly\n0.777 is odd.\n", "<!-- symattn: ignore -->\nOnly\n"),
        ("a.md", "markdown", "# Odd\n\n```\n0.777 0.1\n```\n", "<!-- symattn: ignore -->\n```\n"),
        ("a.tex", "latex", "Odd:\n\nOnly\n0.777 is odd.\n", "% symattn: ignore\n0.777"),
    ],
)
async def test_a_note_opens_what_is_not_read(editor, name, language, before, after):
    """The note stands where it is read, and then the number is accounted for."""
    uri = f"file:///nowhere/{name}"
    editor.open(uri, before, language)
    assert "not read" in await editor.lens(uri)
    start = before.index("0.777")
    (action,) = await editor.actions(uri, start, start, "quickfix")
    text = editor.after(action)[uri]
    assert after in text
    assert [line for line in text.split("\n") if "symattn" not in line] == before.split("\n")
    editor.edit(uri, 0, len(before), text)
    assert "not read" not in await editor.lens(uri)
    editor.close(uri)


async def test_only_the_last_version_is_answered(editor):
    """Whoever types is answered on what stands there in the end."""
    editor.open(URI, POST)
    start = POST.index(WRONG)
    for digits in ("0.6", "0.66", "0.669", "0.6698", "0.66981", "0.6689"):
        end = start + len(editor.texts[URI][start:].partition("$")[0])
        editor.edit(URI, start, end, digits)
    ((text, _),) = await editor.findings(URI)
    assert text == "0.6689"
    assert editor.told[URI].version == 7
    editor.close(URI)


async def test_a_side_file_counts_as_it_is_saved(editor, tmp_path):
    """What it says of an open article is heard when it is saved."""
    post, side = tmp_path / "post.md", tmp_path / "post.symattn.toml"
    editor.open(post.as_uri(), POST)
    assert "1 refuted" in await editor.lens(post.as_uri())
    side.write_text('document = "post.md"\nignore = [16]\n', "utf-8")
    post.write_text(POST, "utf-8")
    editor.text_document_did_save(
        lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(side.as_uri()))
    )
    assert "refuted" not in await editor.lens(post.as_uri())
    editor.close(post.as_uri())


async def test_what_was_closed_is_told_of_no_more(editor):
    editor.open(URI, POST)
    await editor.lens(URI)
    editor.close(URI)
    for _ in range(100):
        if not editor.told[URI].diagnostics:
            break
        await asyncio.sleep(0.02)
    assert not editor.told[URI].diagnostics


async def test_a_note_that_says_nothing_is_an_error_at_its_line(editor):
    editor.open(URI, "# A\n\n<!-- symattn: ignore end -->\n")
    ((text, told),) = await editor.findings(URI)
    assert text == "<!-- symattn: ignore end -->"
    assert "no 'ignore begin' comes before it" in told.message
    editor.close(URI)


async def test_a_worker_that_is_killed_costs_nothing(editor):
    """Whatever becomes of the processes that work, the server goes on and answers."""
    editor.open(URI, POST)
    await editor.lens(URI)
    for worker in children(editor._server.pid):
        os.kill(worker, signal.SIGKILL)
    editor.edit(URI, 0, 0, "\n")
    assert [text for text, _ in errors(await editor.findings(URI))] == [WRONG]
    editor.close(URI)


# -- walkthroughs ------------------------------------------------------------------------

CASE_URI = "file:///nowhere/case.toml"


async def test_claims_of_a_walkthrough(editor):
    editor.open(CASE_URI, CASE, "toml")
    found = errors(await editor.findings(CASE_URI))
    assert [text for text, _ in found] == ["0.4000", "A[0, 0] < A[0, 1]"]
    assert "the correct value is 0.5000" in found[0][1].message
    assert "5 statements" not in await editor.lens(CASE_URI)
    assert "to 12 digits `0.500000000000`" in await editor.hovers(
        CASE_URI, CASE.index("0.4000") + 1
    )
    editor.close(CASE_URI)


@pytest.mark.parametrize(
    ("old", "new", "text", "message"),
    [
        ("softmax(S)", "softmax(R)", "softmax(R)", "unknown name 'R'"),
        ("[steps]", "[steps", "[steps", "not valid TOML"),
        ("[[1, 0], [0, 1]]", "[[1, 0], [0]]", "[0]", "expected 2 numbers"),
    ],
)
async def test_faults_of_a_walkthrough(editor, old, new, text, message):
    editor.open(CASE_URI, CASE.replace(old, new), "toml")
    found = await editor.findings(CASE_URI)
    assert text in [covered for covered, _ in found]
    assert any(message in one.message for _, one in found)
    editor.close(CASE_URI)


async def test_names_in_a_walkthrough(editor):
    """Steps and functions are completed where an expression stands, with what they are."""
    text = CASE.replace('"softmax(S)"', '"softm')
    editor.open(CASE_URI, text, "toml")
    start = text.index('"softm') + len('"softm')
    offered = await completed(editor, start)
    assert offered["softmax"].detail == "softmax(x, axis=-1, sink=None)"
    assert "exp(x) over the sum" in offered["softmax"].documentation
    assert offered["S"].detail == "Q @ K.T / sqrt(2)"
    assert {"Q", "K", "logsumexp", "clamp"} <= offered.keys()
    assert await completed(editor, text.index("[given]")) == {}
    editor.edit(CASE_URI, start, start, 'ax(S)"')
    text = editor.texts[CASE_URI]
    shown = await editor.hovers(CASE_URI, text.index("softmax") + 2)
    assert "`softmax(x, axis=-1, sink=None)`" in shown
    await editor.lens(CASE_URI)
    assert "`S`" in await editor.hovers(CASE_URI, text.index("softmax(S") + len("softmax("))
    editor.close(CASE_URI)


async def completed(editor, start):
    position = place(editor.texts[CASE_URI], start, start).start
    found = await editor.text_document_completion_async(
        lsp.CompletionParams(lsp.TextDocumentIdentifier(CASE_URI), position)
    )
    return {item.label: item for item in found or ()}


# -- notebooks ---------------------------------------------------------------------------


async def test_cells_of_a_notebook(editor):
    """A figure is marked in its cell, also after cells have moved."""
    book, cells = "file:///nowhere/post.ipynb", POST.split("\n\n")
    uris = [f"vscode-notebook-cell:/nowhere/post.ipynb#{k}" for k in range(len(cells))]
    for uri, cell in zip(uris, cells, strict=True):
        editor.texts[uri], editor.versions[uri] = cell, 1
    markup = lsp.NotebookCellKind.Markup
    document = lsp.NotebookDocument(
        book, "jupyter-notebook", 1, [lsp.NotebookCell(markup, uri) for uri in uris]
    )
    items = [lsp.TextDocumentItem(uri, "markdown", 1, editor.texts[uri]) for uri in uris]
    editor.notebook_document_did_open(lsp.DidOpenNotebookDocumentParams(document, items))
    assert "1 refuted" in await editor.lens(uris[0])
    assert await editor.lens(uris[1]) == ""
    last = uris[-1]
    ((text, _),) = await editor.findings(last)
    assert text == WRONG
    assert not any(editor.told[uri].diagnostics for uri in uris[:-1])
    assert RIGHT in await editor.hovers(last, cells[-1].index(WRONG))
    (fix,) = await editor.actions(last, 0, len(cells[-1]), "quickfix")
    assert editor.after(fix) == {last: cells[-1].replace(WRONG, RIGHT)}
    added = lsp.NotebookCell(markup, "vscode-notebook-cell:/nowhere/post.ipynb#new")
    change = lsp.NotebookDocumentCellChanges(
        lsp.NotebookDocumentCellChangeStructure(
            lsp.NotebookCellArrayChange(0, 0, [added]),
            [lsp.TextDocumentItem(added.document, "markdown", 1, "A 'quoted' \\ \"text\" 😀\n\n")],
        )
    )
    which = lsp.VersionedNotebookDocumentIdentifier(2, book)
    editor.told.clear()
    editor.notebook_document_did_change(
        lsp.DidChangeNotebookDocumentParams(which, lsp.NotebookDocumentChangeEvent(cells=change))
    )
    assert "1 refuted" in await editor.lens(added.document)
    ((text, _),) = await editor.findings(last)
    assert text == WRONG


async def test_a_faulty_note_of_a_notebook(editor):
    """It is an error at its line, in its cell."""
    book, cell = "file:///nowhere/notes.ipynb", "vscode-notebook-cell:/nowhere/notes.ipynb#1"
    text = 'Say "this":\n\n<!-- symattn: ignore end -->\n\nand more\n'
    editor.texts[cell], editor.versions[cell] = text, 1
    cells = [lsp.NotebookCell(lsp.NotebookCellKind.Markup, cell)]
    editor.notebook_document_did_open(
        lsp.DidOpenNotebookDocumentParams(
            lsp.NotebookDocument(book, "jupyter-notebook", 1, cells),
            [lsp.TextDocumentItem(cell, "markdown", 1, text)],
        )
    )
    ((covered, told),) = await editor.findings(cell)
    assert "no 'ignore begin' comes before it" in told.message
    assert covered == "<!-- symattn: ignore end -->"
