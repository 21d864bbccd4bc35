r"""TeX engines: finding one, running it safely, reading what it says.

An engine runs in an empty folder of its own, without shell escape, with a
time limit, and may read and write files below that folder only. What it
leaves is moved into place when it is whole.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from symattn.errors import EngineFailure

#: Seconds that one run of an engine may take.
TIME_LIMIT = 120.0
#: Widest overfull box, in points, that nobody sees.
MAX_OVERFULL = 1.0

INSTALL = (
    "on Debian or Ubuntu: apt-get install texlive-latex-recommended texlive-pictures lmodern"
    " (and texlive-luatex for letters beyond Latin)"
)

_OVERFULL = re.compile(r"Overfull \\[hv]box \(([0-9.]+)pt too (?:wide|high)\)[^\n]*")
_MISSING = re.compile(r"Missing character: There is no (\S+)")
_UNDEFINED = re.compile(r"LaTeX Warning: (Reference|Citation)[^\n]* undefined[^\n]*")


@dataclass(frozen=True)
class Document:
    """A typeset document and what its log complains of."""

    pdf: bytes
    complaints: tuple[str, ...]


def wanted_engine(tex: str) -> str:
    """The engine that a document's first line asks for.

    >>> wanted_engine("% !TeX program = lualatex")
    'lualatex'
    """
    first = tex.partition("\n")[0]
    return "lualatex" if first.endswith("lualatex") else "pdflatex"


def find_engine(tex: str) -> str | None:
    """The path of the engine for a document, or None if it isn't installed."""
    return shutil.which(wanted_engine(tex))


def typeset(tex: str, limit: float = TIME_LIMIT) -> Document:
    """The PDF of a LaTeX document.

    Raises :class:`EngineFailure` when the engine is missing, fails, or takes
    longer than ``limit`` seconds.
    """
    name = wanted_engine(tex)
    engine = find_engine(tex)
    if engine is None:
        raise EngineFailure(f"no {name} was found; {INSTALL}")
    with tempfile.TemporaryDirectory(prefix="symattn-") as folder:
        (Path(folder) / "sheet.tex").write_text(tex, encoding="utf-8")
        log = _run(engine, Path(folder), limit)
        # Tables settle their widths in a second run.
        if "Rerun" in log or "rerun" in log:
            log = _run(engine, Path(folder), limit)
        pdf = Path(folder) / "sheet.pdf"
        if not pdf.is_file():
            raise EngineFailure(f"{name} made no PDF: {_first_error(log)}")
        return Document(pdf.read_bytes(), complaints(log))


def _run(engine: str, folder: Path, limit: float) -> str:
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
    command = [
        engine,
        "-no-shell-escape",
        "-interaction=nonstopmode",
        "-halt-on-error",
        "sheet.tex",
    ]
    name = Path(engine).name
    try:
        done = subprocess.run(  # noqa: S603 - the engine's own path and fixed arguments
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EngineFailure(f"{name} did not finish within {limit:g} seconds") from None
    except OSError as error:
        raise EngineFailure(f"{name} can't be run: {error.strerror or error}") from None
    log_file = folder / "sheet.log"
    log = log_file.read_text("utf-8", "replace") if log_file.is_file() else ""
    if done.returncode != 0:
        said = log or done.stdout.decode("utf-8", "replace")
        raise EngineFailure(f"{name} failed: {_first_error(said)}")
    return log


def _first_error(log: str) -> str:
    lines = log.splitlines()
    for place, line in enumerate(lines):
        if line.startswith("!"):
            context = " ".join(text.strip() for text in lines[place + 1 : place + 3])
            return f"{line[1:].strip()} {context}".strip()[:300]
    return "it gave no reason"


def complaints(log: str) -> tuple[str, ...]:
    r"""What is wrong with a typeset page according to the engine's log:
    overfull boxes, missing characters, undefined references.

    >>> complaints(r"Overfull \hbox (12.5pt too wide) in paragraph at lines 1--2")
    ('Overfull \\hbox (12.5pt too wide) in paragraph at lines 1--2',)
    """
    found = [m[0] for m in _OVERFULL.finditer(log) if float(m[1]) > MAX_OVERFULL]
    found += [f"no font has the letter {m[1]}" for m in _MISSING.finditer(log)]
    found += [m[0] for m in _UNDEFINED.finditer(log)]
    return tuple(dict.fromkeys(found))
