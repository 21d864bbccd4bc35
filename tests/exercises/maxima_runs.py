"""Maxima as it is installed, for tests that ask it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable

import pytest

MAXIMA = shutil.which("maxima")
needs_maxima = pytest.mark.needs("maxima")

#: What marks the lines of answers: Maxima says more than it is asked.
_MARK = "symattn> "


def ask(expression: str) -> str:
    """A statement that answers with the value of an expression."""
    return f'printf(true, "~%{_MARK}~a~%", string({expression}))'


def answers(statements: Iterable[str]) -> list[str]:
    """Maxima's answers to what some statements ask, in their order."""
    code = ";\n".join(["display2d: false", "linel: 1000000", *statements, ask("done"), ""])
    with tempfile.NamedTemporaryFile("w", suffix=".mac", encoding="utf-8") as file:
        file.write(code)
        file.flush()
        done = subprocess.run(
            [str(MAXIMA), "--very-quiet", f"--batch={file.name}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    found = [x.removeprefix(_MARK) for x in done.stdout.splitlines() if x.startswith(_MARK)]
    assert found[-1:] == ["done"], done.stdout[-3000:] + done.stderr
    return found[:-1]
