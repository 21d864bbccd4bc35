"""Libraries that not everybody needs: they come with an extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from symattn.errors import Malformed


def library(name: str) -> Any:
    """A module that the extra ``corpus`` brings; raises :class:`Malformed` without it."""
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        hint = "pip install 'symattn[corpus]'"
        raise Malformed(f"{package} is not installed: {hint}") from None
