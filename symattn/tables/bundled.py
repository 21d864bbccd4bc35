"""Where the bundled files are."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from symattn.errors import Malformed

_PACKAGE = Path(__file__).resolve().parent.parent


@lru_cache(maxsize=1)
def folder() -> Path:
    """Where the bundled walkthroughs and derivations are: inside an installed
    package, or beside it in a checkout."""
    for place in (_PACKAGE / "derivations", _PACKAGE.parent / "derivations"):
        if place.is_dir():
            return place
    raise Malformed("the bundled walkthroughs are missing: install symattn again")
