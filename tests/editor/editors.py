"""An editor under test: it opens texts, changes them, and keeps what the server tells it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from lsprotocol import types as lsp
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient

ROOT = Path(__file__).parents[2]
#: A post with a wrong figure behind letters of one, two and three units.
POST = """# One head

The queries are

$$Q = \\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix},
K = \\begin{bmatrix} 1 & 1 \\\\ 0 & 1 \\end{bmatrix}$$

and the scores $S = Q K^T / \\sqrt{2}$ come to

$$S = \\begin{bmatrix} 0.7071 & 0 \\\\ 0.7071 & 0.7071 \\end{bmatrix}.$$

😀 With 𝐀 for the weights, $A = \\text{softmax}(S)$: the rows are

$$A = \\begin{bmatrix} 0.6698 & 0.3302 \\\\ 0.5000 & 0.5000 \\end{bmatrix}$$

😀 𝟙 so $A_{1,1} = 0.6689$, which is two thirds.
"""
WRONG, RIGHT = "0.6689", "0.6698"


class Editor(LanguageClient):
    """A client that knows what it has open, and keeps everything that it is told."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        #: What was last told of each text.
        self.told: dict[str, lsp.PublishDiagnosticsParams] = {}

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def hear(told: lsp.PublishDiagnosticsParams) -> None:
            before = self.told.get(told.uri)
            if before is not None and before.version and told.version:
                assert before.version <= told.version
            self.told[told.uri] = told

    async def start(self) -> None:
        """Say hello."""
        encodings = [lsp.PositionEncodingKind.Utf16]
        general = lsp.GeneralClientCapabilities(position_encodings=encodings)
        notebooks = lsp.NotebookDocumentClientCapabilities(
            lsp.NotebookDocumentSyncClientCapabilities()
        )
        capabilities = lsp.ClientCapabilities(general=general, notebook_document=notebooks)
        await self.initialize_session(lsp.InitializeParams(capabilities))

    def open(self, uri: str, text: str, language: str = "markdown") -> None:
        """Open a text."""
        self.texts[uri], self.versions[uri] = text, 1
        self.told.pop(uri, None)
        item = lsp.TextDocumentItem(uri, language, 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def close(self, uri: str) -> None:
        """Close a text."""
        self.text_document_did_close(
            lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri))
        )

    def edit(self, uri: str, start: int, end: int, new: str) -> None:
        """Put other characters in the place of some."""
        text = self.texts[uri]
        change = lsp.TextDocumentContentChangePartial(place(text, start, end), new)
        self.texts[uri] = text[:start] + new + text[end:]
        self.versions[uri] += 1
        which = lsp.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(which, [change]))

    async def lens(self, uri: str) -> str:
        """The coverage of a text as it is now; then everything is told of it, too."""
        asked = lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))
        # A server that says nothing is a failure, not a wait.
        lenses = await asyncio.wait_for(self.text_document_code_lens_async(asked), 120)
        return "".join(lens.command.title for lens in lenses or () if lens.command)

    async def findings(self, uri: str) -> list[tuple[str, lsp.Diagnostic]]:
        """What is told of a text as it is now, each with the characters that it is about."""
        await self.lens(uri)
        told = self.told[uri]
        assert told.version == self.versions[uri]
        return [(covered(self.texts[uri], one.range), one) for one in told.diagnostics]

    async def hovers(self, uri: str, start: int) -> str:
        """What is shown where somebody points at a character."""
        position = place(self.texts[uri], start, start).start
        hover = await self.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(uri), position)
        )
        return "" if hover is None else hover.contents.value  # type: ignore[union-attr]

    async def actions(
        self, uri: str, start: int, end: int, only: str | None = None
    ) -> list[lsp.CodeAction]:
        """What can be done about some characters."""
        context = lsp.CodeActionContext([], only and [only])
        where = place(self.texts[uri], start, end)
        found = await self.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), where, context)
        )
        return [one for one in found or () if isinstance(one, lsp.CodeAction)]

    def after(self, action: lsp.CodeAction) -> dict[str, str]:
        """The texts that an action changes, as they are then."""
        assert action.edit is not None
        texts = {}
        for change in action.edit.document_changes or ():
            assert isinstance(change, lsp.TextDocumentEdit)
            uri = change.text_document.uri
            assert change.text_document.version == self.versions[uri]
            text = self.texts[uri]
            edits = [(span(text, one.range), one.new_text) for one in change.edits]  # type: ignore
            for (start, end), new in sorted(edits, reverse=True):
                text = text[:start] + new + text[end:]
            texts[uri] = text
        return texts


CONFIG = ClientServerConfig(
    server_command=[sys.executable, "-m", "symattn", "lsp"],
    client_factory=Editor,
    server_env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
)


def _bytes(line: str) -> bytes:
    return line.encode("utf-16-le")


def place(text: str, start: int, end: int) -> lsp.Range:
    """The range of some characters, by the bytes before them."""
    return lsp.Range(_at(text, start), _at(text, end))


def _at(text: str, offset: int) -> lsp.Position:
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lsp.Position(len(before) - 1, len(_bytes(before[-1])) // 2)


def span(text: str, where: lsp.Range) -> tuple[int, int]:
    """The characters of a range."""
    return _offset(text, where.start), _offset(text, where.end)


def _offset(text: str, position: lsp.Position) -> int:
    lines = text.replace("\r\n", "\0\n").replace("\r", "\n").split("\n")
    before = _bytes(lines[position.line])[: 2 * position.character].decode("utf-16-le")
    return sum(len(line) + 1 for line in lines[: position.line]) + len(before)


def covered(text: str, where: lsp.Range) -> str:
    """The characters of a range themselves."""
    start, end = span(text, where)
    return text[start:end]
