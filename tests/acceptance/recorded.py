"""The recorded tables of facts."""

from __future__ import annotations

import json
from pathlib import Path


def table(kind: str) -> Path:
    """Return the file with the facts of a kind."""
    return Path(__file__).parent / "recorded" / f"{kind}.json"


def recorded(kind: str) -> dict[str, dict[str, str]]:
    """Return the recorded facts of a kind, by subject."""
    found: dict[str, dict[str, str]] = json.loads(table(kind).read_text("utf-8"))
    return found
