"""The bundled walkthroughs, and how a case is found by name or path."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from symattn.errors import Malformed, UnknownName

if TYPE_CHECKING:
    from symattn.cases.case import Case

_PACKAGE = Path(__file__).resolve().parent.parent


@lru_cache(maxsize=1)
def folder() -> Path:
    """Where the bundled walkthroughs are: inside an installed package, or
    beside it in a checkout."""
    for place in (_PACKAGE / "derivations", _PACKAGE.parent / "derivations"):
        if place.is_dir():
            return place
    raise Malformed("the bundled walkthroughs are missing: install symattn again")


def names() -> tuple[str, ...]:
    """The names of the bundled walkthroughs, sorted.

    >>> "cat-sat-mat" in names()
    True
    """
    return tuple(sorted(path.stem for path in folder().glob("*.toml")))


def find(name: str) -> Path:
    """The file of a bundled walkthrough, or ``name`` itself if it is a path.

    Raises :class:`UnknownName` for what is neither.

    >>> find("cat-sat-mat").name
    'cat-sat-mat.toml'
    """
    if name in names():
        return folder() / f"{name}.toml"
    if name.endswith(".toml"):
        return Path(name)
    shown = name if len(name) < 60 else f"{name[:57]}..."
    close = get_close_matches(name[:60], names(), n=1)
    wanted = f"the path of a .toml file or one of {', '.join(names())}"
    hint = f"did you mean {close[0]}?" if close else f"expected {wanted}"
    raise UnknownName(f"unknown case {shown!r}: {hint}")


def load(name: str | Path) -> Case:
    """The case of that name or path.

    Raises :class:`Malformed` with every fault of the file.

    >>> load("cat-sat-mat").tokens
    ('cat', 'sat', 'mat')
    """
    # Who only asks for names loads no arithmetic.
    from symattn.cases.file import read_case

    return read_case(find(str(name)), _beside)


def _beside(name: str, path: Path) -> Path:
    """What the file at ``path`` extends: a bundled walkthrough or a file beside itself."""
    return find(name) if name in names() else path.parent / find(name)
