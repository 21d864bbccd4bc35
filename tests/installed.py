"""Where the programs are that tests run: on the path, beside Python, or inside a package."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path


def path() -> str:
    """The path on which programs are looked for."""
    folders = [os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)]
    # A package that brings pandoc keeps it to itself.
    if (spec := find_spec("pypandoc")) is not None and spec.origin:
        folders.append(str(Path(spec.origin).parent / "files"))
    return os.pathsep.join(folders)


def found(program: str) -> str | None:
    """The file of a program; None where it isn't installed."""
    return shutil.which(program, path=path())
