"""The language server: what an editor says, and what it is told."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cattrs import transform_error
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcMethodNotFound
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from symattn import __version__, workers
from symattn.documents.text import Span
from symattn.editor import jobs, replies
from symattn.editor.answers import Answer, Finding, FunctionHelp
from symattn.editor.crew import Crew, Desk
from symattn.editor.held import Cell, Change, Held, OpenDocuments, OpenNotebook, OpenText, Piece
from symattn.editor.positions import Encoding, Position
from symattn.editor.replies import Walkthrough
from symattn.errors import short, shows_tracebacks
from symattn.escaping import visible
from symattn.workers import WorkLimits

_CELLS = [lsp.NotebookCellLanguage(language) for language in ("python", "markdown")]
_NOTEBOOKS = lsp.NotebookDocumentSyncOptions(
    [lsp.NotebookDocumentFilterWithCells(cells=_CELLS, notebook="jupyter-notebook")]
)
_ACTIONS = lsp.CodeActionOptions([replies.FIX, replies.FIX_ALL])


def serve(limits: WorkLimits) -> None:
    """Serve the editor at the other end of standard input and output until it ends."""
    if not shows_tracebacks():
        # What the library can't read it tells with the places in itself.
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
    session = Session(limits)
    # The library closes what it writes to.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        try:
            session.server.start_io(stdout=output)
        finally:
            session.crew.stop()


class _Protocol(LanguageServerProtocol):
    """The session keeps the texts: what the library has of its own takes other signs for line
    ends too, and moves positions that it is given."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as the library has it; what asks for something and is none is answered."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            number, method = data.get("id"), data.get("method")
            if isinstance(number, int | str) and isinstance(method, str):
                refusal: JsonRpcException = JsonRpcMethodNotFound.of(method)
                if self.get_message_type(method) is not None:
                    why = "; ".join(transform_error(error.__cause__ or error, path="message"))
                    refusal = JsonRpcInvalidParams(visible(short(f"Invalid Params: {why}", 1000)))
                self._send_response(number, error=refusal.to_response_error())
            raise

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Any) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: Any) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.NOTEBOOK_DOCUMENT_DID_CHANGE], (params,), None


class Session:
    """All that an editor has open, and what it is told of it."""

    def __init__(self, limits: WorkLimits) -> None:
        self.server = LanguageServer(
            "symattn", __version__, notebook_document_sync=_NOTEBOOKS, protocol_cls=_Protocol
        )
        self.crew = Crew(limits)
        self.limits = limits
        self._open = OpenDocuments()
        self._desk = Desk(self.crew, self._publish)
        #: Of walkthroughs, the quantities as they were when the text could last be read.
        self._names: dict[str, dict[str, str]] = {}
        self._functions: dict[str, FunctionHelp] = {}
        handlers: dict[str, Callable[[Any], Any]] = {
            lsp.INITIALIZE: lambda _: self.crew.prepare(),
            lsp.TEXT_DOCUMENT_DID_OPEN: self._opened,
            lsp.TEXT_DOCUMENT_DID_CHANGE: self._changed,
            lsp.TEXT_DOCUMENT_DID_SAVE: self._saved,
            lsp.TEXT_DOCUMENT_DID_CLOSE: self._closed,
            lsp.NOTEBOOK_DOCUMENT_DID_OPEN: self._notebook_opened,
            lsp.NOTEBOOK_DOCUMENT_DID_CHANGE: self._notebook_changed,
            lsp.NOTEBOOK_DOCUMENT_DID_CLOSE: self._notebook_closed,
            lsp.TEXT_DOCUMENT_HOVER: self._hover,
            lsp.TEXT_DOCUMENT_CODE_LENS: self._lenses,
            lsp.TEXT_DOCUMENT_COMPLETION: self._completions,
        }
        for method, handler in handlers.items():
            # What is registered is marked, which methods can't be.
            self.server.feature(method)(partial(handler))
        self.server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, _ACTIONS)(partial(self._actions))

    # -- what is open ----------------------------------------------------------------

    @property
    def _encoding(self) -> Encoding:
        chosen = self.server.workspace.position_encoding or "utf-16"
        return str(getattr(chosen, "value", chosen))  # type: ignore[return-value]

    def _text(self, item: lsp.TextDocumentItem) -> None:
        self._open.texts[item.uri] = OpenText(
            item.uri, str(item.language_id), item.version, item.text, self._encoding
        )

    def _judge(self, uri: str, at_once: bool = False) -> None:
        """Judge a text or a notebook, or tell nothing of it any more."""
        if (held := self._open.held(uri)) is None:
            if self._desk.take(uri):
                self._tell(uri, None, [])
        else:
            self._desk.put(held, at_once)

    def _opened(self, said: lsp.DidOpenTextDocumentParams) -> None:
        self._text(said.text_document)
        self._judge(said.text_document.uri, at_once=True)

    def _changed(self, said: lsp.DidChangeTextDocumentParams) -> None:
        document = said.text_document
        self._change(document, said.content_changes)
        self._judge(document.uri)

    def _change(
        self,
        document: lsp.VersionedTextDocumentIdentifier,
        changes: Sequence[lsp.TextDocumentContentChangeEvent],
    ) -> None:
        if (text := self._open.texts.get(document.uri)) is not None:
            text.change(document.version, map(_change, changes))

    def _saved(self, said: lsp.DidSaveTextDocumentParams) -> None:
        """A side file may say something of an article, and a walkthrough extend another."""
        if said.text_document.uri.endswith(".toml"):
            for uri in {self._open.owner(uri) for uri in self._open.texts}:
                self._judge(uri, at_once=True)

    def _closed(self, said: lsp.DidCloseTextDocumentParams) -> None:
        uri = said.text_document.uri
        self._open.texts.pop(uri, None)
        self._names.pop(uri, None)
        self._judge(uri)

    def _notebook_opened(self, said: lsp.DidOpenNotebookDocumentParams) -> None:
        notebook = said.notebook_document
        for item in said.cell_text_documents:
            self._text(item)
        cells = [*map(_cell, notebook.cells)]
        self._open.notebooks[notebook.uri] = OpenNotebook(notebook.uri, cells)
        self._judge(notebook.uri, at_once=True)

    def _notebook_changed(self, said: lsp.DidChangeNotebookDocumentParams) -> None:
        uri, change = said.notebook_document.uri, said.change.cells
        notebook = self._open.notebooks.get(uri)
        if notebook is None or change is None:
            return
        if change.structure is not None:
            array = change.structure.array
            end = array.start + array.delete_count
            notebook.cells[array.start : end] = [*map(_cell, array.cells or ())]
            for item in change.structure.did_open or ():
                self._text(item)
            for closed in change.structure.did_close or ():
                self._forget(closed.uri)
        for data in change.data or ():
            notebook.cells = [
                _cell(data) if cell.uri == data.document else cell for cell in notebook.cells
            ]
        for content in change.text_content or ():
            self._change(content.document, content.changes)
        self._judge(uri)

    def _notebook_closed(self, said: lsp.DidCloseNotebookDocumentParams) -> None:
        uri = said.notebook_document.uri
        self._desk.take(uri)
        self._open.notebooks.pop(uri, None)
        for cell in said.cell_text_documents:
            self._forget(cell.uri)

    def _forget(self, uri: str) -> None:
        """A cell is there no more."""
        self._open.texts.pop(uri, None)
        self._tell(uri, None, [])

    # -- what is told ----------------------------------------------------------------

    def _publish(self, held: Held, outcome: Answer | Exception) -> Answer:
        """Tell what is known of a version now, and what became of the work on it."""
        answer = outcome if isinstance(outcome, Answer) else self._failed(outcome)
        if answer.names:
            self._names[held.uri] = dict(answer.names)
        for piece, told in replies.diagnostics(held, answer):
            self._tell(piece.uri, piece.version, told)
        return answer

    def _failed(self, outcome: Exception) -> Answer:
        """Return what is told of a text that could not be judged."""
        why = f"not judged: {workers.told(outcome, self.limits)}"
        return Answer((Finding(Span(0, 0), "information", "stopped", why),), "not judged")

    def _tell(self, uri: str, version: int | None, told: list[lsp.Diagnostic]) -> None:
        self.server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, told, version)
        )

    # -- what is asked ---------------------------------------------------------------

    async def _known(self, uri: str) -> tuple[Held, Piece, Answer] | None:
        """The last version of what a text belongs to, its piece, and what is told of it."""
        found = await self._desk.answer(self._open.owner(uri))
        if found is None or (piece := found[0].piece(uri)) is None:
            return None
        return found[0], piece, found[1]

    async def _hover(self, said: lsp.HoverParams) -> lsp.Hover | None:
        uri = said.text_document.uri
        if (draft := self._walkthrough(uri)) is not None:
            piece, walkthrough = draft
            offset = piece.lines.offset(_position(said.position))
            functions = await self._known_functions()
            names = self._names.get(uri, {})
            if help_ := replies.name_help(piece, walkthrough, offset, names, functions):
                return help_
        if (known := await self._known(uri)) is None:
            return None
        held, piece, _ = known
        offset = piece.starts[piece.lines.offset(_position(said.position))]
        found = await self._desk.asked(held, "explain", held.name, held.source, offset)
        return None if found is None else replies.hover(held, found)

    async def _lenses(self, said: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        known = await self._known(said.text_document.uri)
        if known is None or known[1] is not known[0].pieces[0]:
            return []
        return [replies.lens(known[1], known[2].coverage)]

    async def _actions(self, said: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        if (known := await self._known(said.text_document.uri)) is None:
            return []
        held, piece, answer = known
        start, end = (
            piece.lines.offset(_position(place)) for place in (said.range.start, said.range.end)
        )
        asked, actions = (piece, Span(start, end)), list[lsp.CodeAction]()
        wanted = [
            kind
            for kind in (replies.FIX, replies.FIX_ALL)
            if replies.is_wanted(kind, said.context.only)
        ]
        if wanted and any(one.severity in ("error", "warning") for one in answer.findings):
            found = await self._desk.asked(held, "corrections", held.name, held.source)
            for kind in wanted:
                actions += replies.fixes(held, found or (), asked, kind == replies.FIX_ALL)
        if replies.FIX in wanted and piece.takes_notes:
            name = f"{held.name}.md" if held.is_notebook else held.name
            for note, place in replies.notes(held, answer, asked).items():
                put = "note_place", name, piece.text, place, note
                if (at := await self._desk.asked(held, *put)) is not None:
                    actions.append(replies.noted(piece, note, at))
        return actions

    async def _completions(self, said: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        uri = said.text_document.uri
        if (draft := self._walkthrough(uri)) is None:
            return []
        piece, walkthrough = draft
        if not walkthrough.takes_names(piece.lines.offset(_position(said.position))):
            return []
        functions = await self._known_functions()
        return replies.completions(walkthrough, self._names.get(uri, {}), functions)

    def _walkthrough(self, uri: str) -> tuple[Piece, Walkthrough] | None:
        """A walkthrough as it is typed; None of what is none."""
        held = self._open.held(uri)
        if held is None or Path(held.name).suffix != ".toml":
            return None
        return held.pieces[0], Walkthrough(held.source)

    async def _known_functions(self) -> dict[str, FunctionHelp]:
        if not self._functions:
            found: Any = await self.crew.ask("functions", (jobs.functions, ()))
            self._functions = found if isinstance(found, dict) else {}
        return self._functions


def _position(place: lsp.Position) -> Position:
    return Position(place.line, place.character)


def _change(change: lsp.TextDocumentContentChangeEvent) -> Change:
    if isinstance(change, lsp.TextDocumentContentChangePartial):
        where = change.range
        return Change(change.text, _position(where.start), _position(where.end))
    return Change(change.text)


def _cell(cell: lsp.NotebookCell) -> Cell:
    return Cell(cell.document, cell.kind == lsp.NotebookCellKind.Code)
