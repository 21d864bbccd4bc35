"""What lies in a folder that commands wrote into."""

from __future__ import annotations

from pathlib import Path

from symattn.ownership import RECORD


def written(folder: Path, pattern: str = "*") -> list[Path]:
    """All that lies in a folder in order, but the record of what was written there."""
    return sorted(path for path in folder.glob(pattern) if path.name != RECORD)
