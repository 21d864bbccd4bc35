"""The derivation files that are tried: true lines, false ones, and those between."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LINES = ROOT / "tests" / "calculus"
#: The shapes of what lines made up for tests speak of.
GIVEN = {"x": ["n"], "z": ["m"], "S": ["n", "m"], "Q": ["n", "n"], "t": []}


def names(folder: str) -> list[str]:
    """The files of one kind: ``corpus``, ``falsehoods`` or ``conditional``."""
    return sorted(path.stem for path in (LINES / folder).glob("*.toml"))


def document(folder: str, name: str) -> dict[str, Any]:
    """One file as tables."""
    return tomllib.loads((LINES / folder / f"{name}.toml").read_text("utf-8"))


def theory() -> list[str]:
    """The derivations that symattn brings along."""
    return sorted(path.stem for path in (ROOT / "derivations" / "theory").glob("*.toml"))


def theory_document(name: str) -> dict[str, Any]:
    """One of them as tables."""
    path = ROOT / "derivations" / "theory" / f"{name}.toml"
    return tomllib.loads(path.read_text("utf-8"))
