"""The command line: ``symattn --help``."""

from __future__ import annotations

from symattn.cli.main import main

__all__ = ["main"]
