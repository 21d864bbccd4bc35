"""Documents printed, typeset and written."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from html import unescape
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from symattn.cli.main import BAD_INPUT, CHECK_FAILED
from symattn.cli.options import Progress
from symattn.errors import EngineFailure
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.printers.engine import TYPST, TypesetDocument, find_engine, typeset_all, wanted_engine

if TYPE_CHECKING:
    from symattn.languages.language import Language
    from symattn.printers.blocks import Sheet
    from symattn.seal.seals import Seal

#: The forms that a printer makes: what they are called, and the printer that has the
#: ``document`` of a sheet.
_PRINTERS: Mapping[str, tuple[str, str]] = {
    "html": ("HTML", "symattn.printers.html"),
    "tex": ("LaTeX", "symattn.printers.latex"),
    "md": ("Markdown", "symattn.printers.markdown"),
    "docx": ("Word", "symattn.printers.docx"),
}
_CALLED = {form: name for form, (name, _) in _PRINTERS.items()} | {"pdf": "PDF"}
#: The forms of documents that can be asked for.
FORMS = tuple(_CALLED)
#: What is written where no form is asked for, beside PDFs where there is an engine.
_USUAL = ("html", "tex")

#: The page that lists all others.
_INDEX = "index"
#: How pages of ours begin, within so many bytes.
_TITLE = re.compile(r'<meta name="generator" content="symattn">\s*<title>(.*?)</title>')
_HEAD = 4096

#: Engines that run at once, where no more cases are worked on at once.
_ENGINES = 2


@dataclass(frozen=True)
class PrintedSheet:
    """A sheet in each form that a printer makes, what its PDF is made of (see :func:`papers`),
    what a list of sheets shows of it, and the files that it includes on paper."""

    name: str
    documents: Mapping[str, bytes]
    papers: Sequence[str]
    card: str
    say: Language
    files: Mapping[str, bytes] = field(default_factory=dict)


def page(sheet: Sheet, form: str) -> bytes:
    """A sheet in a form that a printer makes."""
    _, printer = _PRINTERS[form]
    made: str | bytes = import_module(printer).document(sheet)
    return made.encode() if isinstance(made, str) else made


def printed(sheet: Sheet, form: str | None) -> PrintedSheet:
    """A sheet in the form that is asked for, or in the usual ones."""
    forms = _USUAL if form is None else ("tex",) if form == "pdf" else (form,)
    card = ""
    if "html" in forms:
        from symattn.printers import html

        card = html.card(sheet)
    files = {sheet.logo.file: sheet.logo.data} if sheet.logo and "tex" in forms else {}
    documents = {suffix: page(sheet, suffix) for suffix in forms}
    engines = papers(sheet, documents["tex"].decode()) if form in (None, "pdf") else ()
    return PrintedSheet(sheet.name, documents, engines, card, sheet.say, files)


def bound(name: str, sheets: Sequence[PrintedSheet]) -> PrintedSheet:
    """Sheets for paper as one, which begins each on a right-hand page."""
    from symattn.printers import docx, latex, typst

    if "docx" in sheets[0].documents:
        whole = docx.bound([sheet.documents["docx"] for sheet in sheets])
        return PrintedSheet(name, {"docx": whole}, (), "", sheets[0].say)
    tex = latex.bound([sheet.documents["tex"].decode() for sheet in sheets])
    papers = [tex] if sheets[0].papers else []
    if papers and not find_engine(tex) and all(len(sheet.papers) > 1 for sheet in sheets):
        papers.append(typst.bound([sheet.papers[1] for sheet in sheets]))
    return PrintedSheet(name, {"tex": tex.encode()}, papers, "", sheets[0].say, _included(sheets))


def papers(sheet: Sheet, tex: str = "") -> tuple[str, ...]:
    """Return what a PDF of a sheet can be made of: LaTeX, and where its engine is not there,
    Typst's notation."""
    tex = tex or page(sheet, "tex").decode()
    if find_engine(tex):
        return (tex,)
    from symattn.printers.typst import document

    return tex, document(sheet)


def made_of(papers: Sequence[str]) -> str:
    """The first of the papers whose engine is there, else the first of all."""
    return next((paper for paper in papers if find_engine(paper)), papers[0])


def typeset(
    documents: Sequence[str],
    names: Sequence[str],
    jobs: int,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> Generator[tuple[int, TypesetDocument | EngineFailure], None, None]:
    """The index of every document with its PDF, or why there is none, as they are made."""
    progress = Progress(names)
    try:
        at_once = max(jobs, _ENGINES)
        with closing(
            typeset_all(documents, at_once=at_once, watcher=progress, files=files)
        ) as results:
            yield from results
    finally:
        progress.clear()


def pdfs(
    documents: Sequence[str],
    names: Sequence[str],
    jobs: int = 1,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> list[TypesetDocument]:
    """The PDFs of all documents. Raises :class:`EngineFailure` where there is none."""
    finished: dict[int, TypesetDocument] = {}
    for place, outcome in typeset(documents, names, jobs, files):
        if isinstance(outcome, EngineFailure):
            raise outcome
        finished[place] = outcome
    return [finished[place] for place, _ in enumerate(documents)]


def write(
    sheets: Sequence[PrintedSheet],
    output: Path,
    outputs: Outputs,
    form: str | None,
    strict: bool,
    jobs: int = 1,
) -> int:
    """Write sheets by their names, with PDFs beside LaTeX and a page that lists
    those in HTML; the exit code.

    Where a PDF can't be made, none stays beside the LaTeX: it would be an older one.
    """
    if output == STANDARD_OUTPUT:
        return _print(sheets, outputs, form, strict)
    outputs.claim_in(output, _names(sheets, form))
    files = {sheet.name: [*sheet.documents] for sheet in sheets}
    for sheet in sheets:
        for suffix, document in sheet.documents.items():
            outputs.write(output / f"{sheet.name}.{suffix}", document)
    for name, data in _included(sheets).items():
        outputs.write(output / name, data)
    code = 0
    if form in (None, "pdf"):
        code = _typeset(sheets, output, outputs, files, form == "pdf", strict, jobs)
    whole = [item for item in _CALLED if all(item in written for written in files.values())]
    *most, last = (_CALLED[item] for item in whole)
    kinds = f"{', '.join(most)} and {last}" if most else last
    if "pdf" in whole and any(wanted_engine(made_of(item.papers)) == TYPST for item in sheets):
        kinds += " by Typst"
    count = f"{len(sheets)} sheet{'s' if len(sheets) != 1 else ''}"
    start = _index(sheets, files, output, outputs) if "html" in whole else None
    click.echo(visible(f"{count} in {output}: {kinds}" + (f"; open {start}" if start else "")))
    return code


def _names(sheets: Sequence[PrintedSheet], form: str | None) -> Iterator[str]:
    """Yield what the files of sheets will be called, as far as that is certain."""
    for sheet in sheets:
        yield from (f"{sheet.name}.{suffix}" for suffix in sheet.documents)
        if form == "pdf" or (sheet.papers and find_engine(made_of(sheet.papers))):
            yield f"{sheet.name}.pdf"
    yield from _included(sheets)


def _included(sheets: Sequence[PrintedSheet]) -> dict[str, bytes]:
    return {name: data for sheet in sheets for name, data in sheet.files.items()}


def _typeset(
    sheets: Sequence[PrintedSheet],
    output: Path,
    outputs: Outputs,
    files: Mapping[str, list[str]],
    explicit: bool,
    strict: bool,
    jobs: int,
) -> int:
    """Write the PDFs and note them among the files; the exit code. An engine that is
    not there is told once, and no fault unless PDFs are all that was asked for."""
    names = [sheet.name for sheet in sheets]
    documents = [made_of(sheet.papers) for sheet in sheets]
    missing: dict[str, list[str]] = {}
    messages: list[str] = []
    failed = complained = False
    for place, outcome in typeset(documents, names, jobs, _included(sheets)):
        name, path = names[place], output / f"{names[place]}.pdf"
        if not isinstance(outcome, EngineFailure):
            outputs.write(path, outcome.pdf)
            files[name].append("pdf")
            messages += [f"{path}: {complaint}" for complaint in outcome.complaints]
            complained |= bool(outcome.complaints)
            continue
        absent = find_engine(documents[place]) is None
        if absent:
            missing.setdefault(str(outcome), []).append(name)
        else:
            messages.append(f"{path}: {outcome}")
        if explicit or not absent:
            outputs.remove(path)
            failed = True
    for message, without in missing.items():
        of = "" if len(without) == len(names) else f" of {', '.join(sorted(without))}"
        messages.append(f"no PDF{of}: {message}")
    for message in sorted(messages):
        click.echo(visible(f"symattn: {message}"), err=True)
    return BAD_INPUT if failed else CHECK_FAILED if complained and strict else 0


def _index(
    sheets: Sequence[PrintedSheet], files: Mapping[str, list[str]], output: Path, outputs: Outputs
) -> Path:
    """Write the page that lists the sheets and what else of ours lies in the folder;
    the page to open."""
    from symattn.printers.html import index_page

    path = output / f"{_INDEX}.html"
    pages = {item: title for item in output.glob("*.html") if (title := _title(item)) is not None}
    first = output / f"{sheets[0].name}.html"
    if _INDEX in files or not outputs.may_write(path, _INDEX):
        # It is a sheet, or somebody else's.
        return first
    cards = [
        (sheet.card, [(f"{sheet.name}.{item}", _CALLED[item]) for item in files[sheet.name]])
        for sheet in sheets
    ]
    others = [
        (item.name, pages[item])
        for item in sorted(pages)
        if item != path and item.stem not in files
    ]
    outputs.write(path, index_page(cards, others, sheets[0].say).encode(), _INDEX)
    return path if len(sheets) > 1 else first


def _title(path: Path) -> str | None:
    """The title of a page that a printer of ours made, nothing of other files."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return None
    match = _TITLE.search(head)
    return unescape(match[1]) if match else None


def _print(sheets: Sequence[PrintedSheet], outputs: Outputs, form: str | None, strict: bool) -> int:
    (sheet,) = sheets
    if form is not None and form in _PRINTERS:
        outputs.write(STANDARD_OUTPUT, sheet.documents[form])
        return 0
    (document,) = pdfs([made_of(sheet.papers)], [sheet.name], files=sheet.files)
    outputs.write(STANDARD_OUTPUT, document.pdf)
    for complaint in document.complaints:
        click.echo(visible(f"symattn: {sheet.name}: {complaint}"), err=True)
    return CHECK_FAILED if document.complaints and strict else 0


def write_theorems(
    seals: Path | None, told: Iterable[Seal | None], output: Path, outputs: Outputs
) -> None:
    """Put beside documents the files of theorems that they tell of, and their library, as they
    are stated: nothing is copied from the folder of seals."""
    from symattn.seal.theorems import LIBRARY, library

    if seals is None or output == STANDARD_OUTPUT or seals.resolve() == output.resolve():
        return
    texts = {LIBRARY: library(), **{seal.file: seal.text for seal in told if seal}}
    for name, text in texts.items():
        outputs.write(output / name, text.encode())
