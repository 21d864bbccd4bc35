"""The command line, run inside the tests' own process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from symattn.cli import main
from symattn.printers import engine as printers_engine

#: What an engine's file begins and ends with.
SHORTEST = "%%PDF-1.5\\n%%%%EOF\\n"


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code, and what it wrote."""

    code: object
    out: str
    err: str

    @property
    def table(self) -> list[list[str]]:
        """The lines that it printed, as cells that two blanks or more part."""
        return [
            [cell.strip() for cell in line.split("  ") if cell.strip()]
            for line in self.out.splitlines()
        ]


@pytest.fixture(autouse=True)
def no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """How wide the tests' own terminal is changes nothing."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def symattn(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    safe_devices: None,
) -> Callable[..., Ended]:
    """Runs ``symattn`` with these words in an empty folder, without a process of its own."""
    monkeypatch.chdir(tmp_path)
    # No process for each case either: what tests replace in this one counts.
    monkeypatch.setenv("SYMATTN_MAX_SECONDS", "0")
    monkeypatch.setenv("SYMATTN_MAX_MEMORY", "0")

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["symattn", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        return Ended(leaving.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed goes to a terminal with colours, 60 letters wide."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "")
    monkeypatch.setenv("COLUMNS", "60")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Puts an engine on the path that writes the shortest PDF, this log, and ends so."""

    def put(log: str = "", code: int = 0, *, pdf: bool = True, name: str = "pdflatex") -> None:
        folder = tmp_path / "engines"
        folder.mkdir(exist_ok=True)
        (folder / "log").write_text(log, "utf-8")
        lines = ["#!/bin/sh", f"cat '{folder}/log' > sheet.log", f"printf '{SHORTEST}' > sheet.pdf"]
        fake = folder / name
        fake.write_text("\n".join([*lines[: 3 if pdf else 2], f"exit {code}", ""]), "utf-8")
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", os.pathsep.join([str(folder), "/bin", "/usr/bin"]))

    return put


@pytest.fixture
def without_tex(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No TeX engine is on the path."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


@pytest.fixture
def without_typst(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typst is not installed, as far as the command line sees."""
    monkeypatch.setattr(printers_engine, "find_spec", lambda name: None)
