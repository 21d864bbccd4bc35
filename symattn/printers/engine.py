"""Engines that make PDFs, TeX's and Typst: finding one, running it safely, reading what it says.

An engine runs in an empty folder of its own, without shell escape, with a time limit, and may read
and write files below that folder only. A worker looks after it: with whatever ends the worker, or
the command that asked for it, the engine ends too, and its folder goes. Typst is a library, which
runs in the worker itself.

The engine whose fonts have the letters of a text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from symattn import workers
from symattn.errors import EngineFailure
from symattn.escaping import TYPOGRAPHY

#: Seconds that one run of an engine may take.
_TIME_LIMIT = 120.0
#: Widest overfull box, in points, that nobody sees.
_MAX_OVERFULL = 1.0

#: The engine that is a library, and how its documents begin.
TYPST, TYPST_DOCUMENT = "typst", "// Typst"

_INSTALL = (
    "on Debian or Ubuntu: apt-get install texlive-latex-recommended texlive-pictures lmodern"
    " (and texlive-luatex for letters beyond Latin); or, without TeX: pip install symattn[pdf]"
)

_OVERFULL = re.compile(r"Overfull \\[hv]box \(([0-9.]+)pt too (?:wide|high)\)[^\n]*")
_MISSING = re.compile(r"Missing character: There is no (\S+)")
_UNDEFINED = re.compile(r"LaTeX Warning: (Reference|Citation)[^\n]* undefined[^\n]*")


@dataclass(frozen=True)
class TypesetDocument:
    """A typeset document and what its log complains of."""

    pdf: bytes
    complaints: tuple[str, ...]


def wanted_engine(tex: str) -> str:
    """The engine that a document's first line asks for.

    >>> wanted_engine("% !TeX program = lualatex")
    'lualatex'
    """
    first = tex.partition("\n")[0]
    if first == TYPST_DOCUMENT:
        return TYPST
    return "lualatex" if first.endswith("lualatex") else "pdflatex"


def find_engine(tex: str) -> str | None:
    """The path of the engine for a document, or None if it isn't installed."""
    engine = wanted_engine(tex)
    if engine == TYPST:
        return engine if find_spec(engine) else None
    return shutil.which(engine)


def typeset(tex: str, limit: float = _TIME_LIMIT) -> TypesetDocument:
    """The PDF of a document in LaTeX, or in Typst's notation.

    Raises :class:`EngineFailure` when the engine is missing, fails, makes no
    whole PDF, or takes longer than ``limit`` seconds.
    """
    with closing(typeset_all([tex], limit)) as documents:
        _, document = next(documents)
    if isinstance(document, EngineFailure):
        raise document
    return document


def typeset_all(
    documents: Sequence[str],
    limit: float = _TIME_LIMIT,
    at_once: int = 1,
    watcher: workers.Watcher | None = None,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> Generator[tuple[int, TypesetDocument | EngineFailure], None, None]:
    """The index of every document with its PDF, or why there is none, as they are made.

    ``files`` are those that the documents include, by their names.
    """
    engines = [find_engine(tex) for tex in documents]
    for index, tex in enumerate(documents):
        if engines[index] is None:
            yield index, EngineFailure(f"no {wanted_engine(tex)} was found; {_INSTALL}")
    places = [index for index, engine in enumerate(engines) if engine is not None]
    jobs: list[workers.Job] = [
        (_typeset, (engines[index], documents[index], dict(files))) for index in places
    ]
    limits = workers.WorkLimits(limit)
    with closing(workers.results(jobs, limits, at_once, watcher, tidy=True)) as answers:
        for number, answer in answers:
            index = places[number]
            if isinstance(answer, workers.Ended):
                does = "was killed"
                if answer.why == "time":
                    does = f"did not finish within {limit:g} seconds"
                answer = EngineFailure(f"{wanted_engine(documents[index])} {does}")
            if not isinstance(answer, TypesetDocument | EngineFailure):
                raise answer
            yield index, answer


def _typeset(
    client: workers.Client, engine: str, tex: str, files: dict[str, bytes]
) -> TypesetDocument:
    """Return what a worker does: its engine and all that this starts are ended with it."""
    client.stage("typesetting")
    folder, name = client.folder, Path(engine).name
    # One folder for each document: nothing of the last is left in it.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    for included, data in files.items():
        (folder / included).write_bytes(data)
    if name == TYPST:
        return _compiled(folder, tex)
    (folder / "sheet.tex").write_text(tex, encoding="utf-8")
    log = _run(client, engine)
    # Tables settle their widths in a second run.
    if "Rerun" in log or "rerun" in log:
        log = _run(client, engine)
    path = folder / "sheet.pdf"
    pdf = path.read_bytes() if path.is_file() else b""
    if not pdf:
        raise EngineFailure(f"{name} made no PDF: {_first_error(log)}")
    if not pdf.startswith(b"%PDF-") or b"%%EOF" not in pdf[-1024:]:
        raise EngineFailure(f"{name} made a broken PDF: {_first_error(log)}")
    return TypesetDocument(pdf, complaints(log))


#: What Typst says, under a standard of PDFs that wants all letters shown, of those that aren't.
_UNSHOWN = re.compile(r"^error: .*the text `\"(.*)\"` could not be displayed", re.MULTILINE)


def _compiled(folder: Path, text: str) -> TypesetDocument:
    """The PDF of a Typst document. The fonts of the system, which differ, are only asked for
    letters that Typst's own lack."""
    import typst

    missing: list[str] = []
    for own_fonts, whole in ((True, True), (False, True), (False, False)):
        compiler = typst.Compiler(text.encode(), root=folder, ignore_system_fonts=own_fonts)
        try:
            pdf, warnings = compiler.compile_with_warnings(
                pdf_standards="a-2b" if whole else None, timestamp=0
            )
        except typst.TypstError as error:
            missing = _UNSHOWN.findall(error.diagnostic)
            if not (missing and whole):
                raise EngineFailure(f"{TYPST} failed: {error.message[:300]}") from None
            continue
        assert isinstance(pdf, bytes)
        messages = [f"no font has the letters {letters}" for letters in missing if not whole]
        messages += [warning.message for warning in warnings]
        return TypesetDocument(pdf, tuple(dict.fromkeys(messages)))
    raise AssertionError("the last compilation ends in a document or a failure")


def _run(client: workers.Client, engine: str) -> str:
    environment = {
        **os.environ,
        # Paranoid: no file outside the folder and TeX's own trees.
        "openin_any": "p",
        "openout_any": "p",
        # The same input gives the same bytes.
        "SOURCE_DATE_EPOCH": "0",
        "FORCE_SOURCE_DATE": "1",
        # Unwrapped log lines, so that complaints can be read.
        "max_print_line": "10000",
    }
    flags = ("-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error")
    name, log_file = Path(engine).name, client.folder / "sheet.log"
    try:
        with subprocess.Popen(  # noqa: S603 - the engine's own path and fixed arguments
            [engine, *flags, "sheet.tex"],
            cwd=client.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            assert process.stdout is not None
            output = client.read(process.stdout).decode("utf-8", "replace")
    except OSError as error:
        raise EngineFailure(f"{name} can't be run: {error.strerror or error}") from None
    log = log_file.read_text("utf-8", "replace") if log_file.is_file() else ""
    if process.returncode != 0:
        raise EngineFailure(f"{name} failed: {_first_error(log or output)}")
    return log


def _first_error(log: str) -> str:
    lines = log.splitlines()
    for place, line in enumerate(lines):
        if line.startswith("!"):
            context = " ".join(text.strip() for text in lines[place + 1 : place + 3])
            return f"{line[1:].strip()} {context}".strip()[:300]
    return "it gave no reason"


def complaints(log: str) -> tuple[str, ...]:
    r"""Return what is wrong with a typeset page according to the engine's log:
    overfull boxes, missing characters, undefined references.

    >>> complaints(r"Overfull \hbox (12.5pt too wide) in paragraph at lines 1--2")
    ('Overfull \\hbox (12.5pt too wide) in paragraph at lines 1--2',)
    """
    messages = [m[0] for m in _OVERFULL.finditer(log) if float(m[1]) > _MAX_OVERFULL]
    messages += [f"no font has the letter {m[1]}" for m in _MISSING.finditer(log)]
    messages += [m[0] for m in _UNDEFINED.finditer(log)]
    return tuple(dict.fromkeys(messages))


#: Letters of extended Latin that pdflatex's encoding of fonts leaves out.
_NOT_IN_T1 = frozenset("ĦħĸĿŀŉŦŧſ")


def engine_for(text: str) -> str:
    """``pdflatex`` where its fonts have every letter, else ``lualatex``.

    >>> engine_for("déjà vu"), engine_for("猫")
    ('pdflatex', 'lualatex')
    """
    known = all(
        (ord(c) < 0x180 and c not in _NOT_IN_T1) or c in TYPOGRAPHY or not c.isprintable()
        for c in text
    )
    return "pdflatex" if known else "lualatex"
