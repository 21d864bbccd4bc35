"""Patches: what becomes of files, as ``git apply`` takes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path


def patch(path: Path, old: str, new: str) -> Iterator[str]:
    r"""The lines of a unified diff of one file, none where nothing changes.

    >>> print(*patch(Path("a.md"), "A = 0.51\n", "A = 0.52\n"), sep="", end="")
    --- a/a.md
    +++ b/a.md
    @@ -1 +1 @@
    -A = 0.51
    +A = 0.52
    """
    for line in unified_diff(_lines(old), _lines(new), _named("a", path), _named("b", path)):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines as git counts them: nothing but a line feed ends one."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *filter(None, [last])]


def _named(side: str, path: Path) -> str:
    """A file as a patch names it, below the folder that one is in; another from the root on."""
    near = os.path.relpath(path)
    name = Path(near if not near.startswith(os.pardir) else path.absolute()).as_posix()
    encoded = os.fsencode(f"{side}/{name.lstrip('/')}")
    plain = all(32 <= byte != 127 and byte not in b'"\\' for byte in encoded)
    if plain:
        # A name with blanks ends at a tab.
        return os.fsdecode(encoded) + "\t" * (b" " in encoded)
    codes = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in encoded)
    return f'"{"".join(codes)}"'
