"""Answers as the Language Server Protocol has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types as lsp

from symattn.documents.text import Span
from symattn.editor.answers import Answer, Correction, Explanation, Finding, FunctionHelp
from symattn.editor.held import Held, Piece
from symattn.escaping import markdown, markdown_code

# -- walkthroughs as one types them ------------------------------------------------------
# The names in a TOML text that need not be whole yet.

_HEADER = re.compile(r"[ \t]*\[\[?[ \t]*([A-Za-z0-9_.-]+)")
_ENTRY = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|"([^"\n]*)"|'([^'\n]*)')[ \t]*=[ \t]*(.*)""")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Tables whose text is expressions, and what stands in those that define names.
_EXPRESSIONS = ("steps", "functions", "claims", "loss", "exercise")
_DEFINING: Mapping[str, str] = {"given": "given", "symbols": "a symbol", "steps": ""}


@dataclass(frozen=True)
class Walkthrough:
    """The text of a walkthrough.

    >>> text = '[given]\\nX = [1, 2]\\n[steps]\\nA = "softmax(X)"\\nB = "A @ '
    >>> draft = Walkthrough(text)
    >>> draft.names, draft.functions
    ({'X': 'given', 'A': 'softmax(X)', 'B': 'A @'}, {})
    >>> draft.takes_names(len(text)), draft.word(text.index("softmax") + 3)
    (True, Span(start=32, end=39))
    """

    text: str

    @cached_property
    def _entries(self) -> list[tuple[str, str, str]]:
        """Table, key and value of each line that has them."""
        table, entries = "", list[tuple[str, str, str]]()
        for line in self.text.splitlines():
            if header := _HEADER.match(line):
                table = header[1]
            elif entry := _ENTRY.match(line):
                entries.append((table, entry[1] or entry[2] or entry[3] or "", entry[4]))
        return entries

    @cached_property
    def names(self) -> dict[str, str]:
        """The names of quantities, each with what it is."""
        return {
            key: _DEFINING[table] or value.strip().strip("\"'").strip()
            for table, key, value in self._entries
            if table in _DEFINING and _WORD.fullmatch(key)
        }

    @cached_property
    def functions(self) -> dict[str, tuple[str, str]]:
        """The functions that it defines by name: how each is called, and its body."""
        return {
            name[0]: (key, value.strip().strip("\"'"))
            for table, key, value in self._entries
            if table == "functions" and (name := _WORD.match(key))
        }

    def takes_names(self, offset: int) -> bool:
        """Return whether at a character stands an expression: in the quotes of a value."""
        before = self.text[:offset]
        start = before.rfind("\n") + 1
        headers = [header for line in before.splitlines() if (header := _HEADER.match(line))]
        table = headers[-1][1] if headers else ""
        line = before[start:]
        entry = _ENTRY.match(line)
        value = entry[4] if entry else line
        return table in _EXPRESSIONS and (value.count('"') % 2 == 1 or value.count("'") % 2 == 1)

    def word(self, offset: int) -> Span | None:
        """The name that stands at a character; None where none does."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        line = self.text[start : len(self.text) if end < 0 else end]
        for word in _WORD.finditer(line):
            if start + word.start() <= offset <= start + word.end():
                return Span(start + word.start(), start + word.end())
        return None


# -- replies -----------------------------------------------------------------------------

#: Corrects everything that is certain, as editors do when a file is saved.
FIX_ALL = "source.fixAll.symattn"
#: Corrects a figure, or adds a note.
FIX = "quickfix"


def range_of(piece: Piece, span: Span) -> lsp.Range:
    """Characters of a piece as a range."""
    start, end = (lsp.Position(*piece.lines.position(offset)) for offset in span)
    return lsp.Range(start, end)


def diagnostics(held: Held, answer: Answer) -> Iterator[tuple[Piece, list[lsp.Diagnostic]]]:
    """Yield what is told of each piece of a text."""
    told: dict[str, list[lsp.Diagnostic]] = {piece.uri: [] for piece in held.pieces}
    for finding in answer.findings:
        if (place := held.locate(finding.span)) is not None:
            piece, span = place
            told[piece.uri].append(_diagnostic(held, finding, range_of(piece, span)))
    yield from ((piece, told[piece.uri]) for piece in held.pieces)


def _diagnostic(held: Held, finding: Finding, where: lsp.Range) -> lsp.Diagnostic:
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(piece.uri, range_of(piece, span)), said)
        for other, said in finding.related
        if (place := held.locate(other)) is not None
        for piece, span in [place]
    ]
    return lsp.Diagnostic(
        where,
        finding.message,
        severity=lsp.DiagnosticSeverity[finding.severity.title()],
        code=finding.code,
        source="symattn",
        related_information=related or None,
    )


def hover(held: Held, found: Explanation) -> lsp.Hover | None:
    """Return what stands at a place."""
    if (place := held.locate(found.span)) is None:
        return None
    return lsp.Hover(_marked(found.text), range_of(*place))


def _marked(text: str) -> lsp.MarkupContent:
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, text)


def lens(piece: Piece, coverage: str) -> lsp.CodeLens:
    """Return what became of the numbers of a text, above its first line."""
    at = range_of(piece, Span(0, 0))
    return lsp.CodeLens(at, lsp.Command(f"symattn: {coverage}", ""))


# -- code actions ------------------------------------------------------------------------


def is_wanted(kind: str, only: Iterable[str | lsp.CodeActionKind] | None) -> bool:
    """Return whether an editor asks for actions of a kind: it names kinds, or what they begin with.

    >>> is_wanted("source.fixAll.symattn", ["source.fixAll"]), is_wanted("quickfix", ["refactor"])
    (True, False)
    """
    names = [getattr(one, "value", one) for one in only or ()]
    return only is None or any(f"{kind}.".startswith(f"{name}.") for name in names)


def fixes(
    held: Held, corrections: Iterable[Correction], asked: tuple[Piece, Span], whole: bool
) -> Iterator[lsp.CodeAction]:
    """The corrections of what is asked for, one by one, or as a whole those of everything."""
    placed = [
        (piece, lsp.TextEdit(range_of(piece, span), held.shown(one.text)), one, span)
        for one in corrections
        if (place := held.locate(one.span)) is not None
        for piece, span in [place]
    ]
    if whole:
        if placed:
            edits = _edits((piece, edit) for piece, edit, *_ in placed)
            figures = "1 figure" if len(placed) == 1 else f"{len(placed)} figures"
            title = f"symattn: correct {figures}"
            yield lsp.CodeAction(title, kind=FIX_ALL, edit=edits)
        return
    for piece, edit, one, span in placed:
        if piece.uri == asked[0].uri and _touch(span, asked[1]):
            of = f"{one.label} = " if one.label else ""
            title = f"Correct to {of}{edit.new_text}"
            yield lsp.CodeAction(title, kind=FIX, edit=_edits([(piece, edit)]), is_preferred=True)


def noted(piece: Piece, note: str, offset: int) -> lsp.CodeAction:
    """A note put on a line of its own before that of a character."""
    end = "\r\n" if "\r\n" in piece.text else "\n"
    edit = lsp.TextEdit(range_of(piece, Span(offset, offset)), note + end)
    ends = " and fill it in" if "..." in note else ""
    return lsp.CodeAction(f"Add the note {note}{ends}", kind=FIX, edit=_edits([(piece, edit)]))


def _touch(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def notes(held: Held, answer: Answer, asked: tuple[Piece, Span]) -> dict[str, int]:
    """The notes that what is asked for may get, each with the first place in the piece that it
    is good for."""
    found: dict[str, int] = {}
    for finding in answer.findings:
        if finding.note and (place := held.locate(finding.span)) is not None:
            piece, span = place
            if piece.uri == asked[0].uri and _touch(span, asked[1]):
                found[finding.note] = min(span.start, found.get(finding.note, span.start))
    return found


def _edits(changes: Iterable[tuple[Piece, lsp.TextEdit]]) -> lsp.WorkspaceEdit:
    """Changes of texts in the versions that they are made for."""
    gathered: dict[str, tuple[Piece, list[lsp.TextEdit]]] = {}
    for piece, edit in changes:
        gathered.setdefault(piece.uri, (piece, []))[1].append(edit)
    return lsp.WorkspaceEdit(
        document_changes=[
            lsp.TextDocumentEdit(
                lsp.OptionalVersionedTextDocumentIdentifier(piece.uri, piece.version), edits
            )
            for piece, edits in gathered.values()
        ]
    )


# -- walkthroughs ------------------------------------------------------------------------


def completions(
    draft: Walkthrough, names: Mapping[str, str], functions: Mapping[str, FunctionHelp]
) -> list[lsp.CompletionItem]:
    """The names that may stand in an expression: quantities, functions of its own, and those
    that there are."""
    own = {name: FunctionHelp(head, body) for name, (head, body) in draft.functions.items()}
    quantities = {**names, **draft.names}
    return [
        *(
            lsp.CompletionItem(name, kind=lsp.CompletionItemKind.Variable, detail=said)
            for name, said in quantities.items()
        ),
        *(
            lsp.CompletionItem(
                name,
                kind=lsp.CompletionItemKind.Function,
                detail=one.signature,
                documentation=one.summary,
            )
            for name, one in {**functions, **own}.items()
        ),
    ]


def name_help(
    piece: Piece,
    draft: Walkthrough,
    offset: int,
    names: Mapping[str, str],
    functions: Mapping[str, FunctionHelp],
) -> lsp.Hover | None:
    """Return what a name in an expression means; None where none stands, or one that is not
    known."""
    word = draft.word(offset)
    if word is None or not draft.takes_names(word.start):
        return None
    name = draft.text[word.start : word.end]
    quantities = {**draft.names, **names}
    if name in draft.functions:
        head, body = draft.functions[name]
        text = f"{markdown_code(head)} = {markdown_code(body)}"
    elif name in quantities:
        text = f"{markdown_code(name)}: {markdown_code(quantities[name])}"
    elif name in functions:
        text = f"{markdown_code(functions[name].signature)}\n\n{markdown(functions[name].summary)}"
    else:
        return None
    return lsp.Hover(_marked(text), range_of(piece, word))
