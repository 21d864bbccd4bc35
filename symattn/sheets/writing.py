"""Writing files whole: a reader sees the old file or the new one, never half."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from symattn.errors import Malformed


def prepare_folder(folder: Path) -> None:
    """Make ``folder`` if it isn't there; :class:`Malformed` if that can't be
    done or nothing can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Malformed(f"the folder {folder} can't be written to: {reason}") from None


def write_whole(path: Path, content: bytes) -> None:
    """Replace the file at ``path``; :class:`Malformed` if that can't be done."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            # mkstemp's files are private; give what any new file would get.
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Malformed(f"{path} can't be written: {reason}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
