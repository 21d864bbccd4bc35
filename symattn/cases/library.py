"""The bundled cases, and how a case is found by name or path, in a case file or in an article."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from symattn.advice import MAKE_ONE
from symattn.documents.files import (
    OF_WORD,
    SUFFIXES,
    articles_in,
    is_article,
    is_side_file,
    is_there,
)
from symattn.errors import Malformed, UnknownName, alike, short
from symattn.tables.file import folder

if TYPE_CHECKING:
    from symattn.cases.case import Case
    from symattn.documents.reading import Reading
    from symattn.documents.text import Memory


def names() -> tuple[str, ...]:
    """The names of the bundled cases, sorted.

    >>> "cat-sat-mat" in names()
    True
    """
    return tuple(sorted(path.stem for path in folder().glob("*.toml")))


def find(name: str, articles: bool = False) -> Path:
    """The file of a bundled case, or ``name`` itself if it is the path of a
    case file or, with ``articles``, of an article.

    Raises :class:`UnknownName` for what is neither.

    >>> find("cat-sat-mat").name
    'cat-sat-mat.toml'
    """
    if name in names():
        return folder() / f"{name}.toml"
    if name.endswith(".toml") or (articles and is_article(name)):
        return Path(name)
    label = repr(short(name))
    is_known = is_there(Path(name))
    if is_known and articles and Path(name).is_dir():
        raise UnknownName(f"unknown case {label}: a folder; name the articles in it")
    if articles and Path(name).suffix.lower() in OF_WORD:
        reason = "save it as a Word document (.docx) to have it read"
        raise UnknownName(f"unknown case {label}: {reason}")
    kinds = f" and no article ({', '.join(SUFFIXES)})" if articles else ""
    if "/" in name or Path(name).suffix or is_known:
        reason = f"no case file ending in .toml{kinds}; {MAKE_ONE}"
        raise UnknownName(f"unknown case {label}: {reason}")
    paths = "the path of an article, of a .toml file" if articles else "the path of a .toml file"
    known = (*names(), *(articles_in(Path()) if articles else ()))
    wanted = f"expected {paths} or one of {', '.join(names())}; {MAKE_ONE}"
    raise UnknownName(f"unknown case {label}: {alike(name, known) or wanted}")


def load(name: str | Path, allow_outside: bool = False, data: bytes | None = None) -> Case:
    """The case of that name or path: a case file, or an article (Markdown, a
    notebook, LaTeX, HTML, Word, text) with its side file.

    A path that ends as articles do (``.md``, ``.ipynb``, ``.tex``, ``.html``, ...) is
    that of one. A case file may extend bundled ones and files in its own folder
    and below; ``allow_outside`` lets it extend any. A file may be read as if it had
    ``data`` as its bytes. Raises :class:`Malformed` with every fault of the file.

    >>> load("cat-sat-mat").tokens
    ('cat', 'sat', 'mat')
    """
    path = find(str(name), articles=True)
    if (found := reading(path, allow_outside, data)) is not None:
        from symattn.cases.article import case_of

        return case_of(found)
    from symattn.cases.file import read_case

    return read_case(path, partial(_beside, allow_outside), data)


def reading(
    path: Path,
    allow_outside: bool = False,
    data: bytes | None = None,
    memory: Memory | None = None,
) -> Reading | None:
    """Return what the article at ``path`` is understood to say, or one of that name with these
    bytes, with its side file; None where the path is that of no article. A ``memory`` keeps what
    blocks are read as.

    Raises :class:`Malformed` with every fault of the article, its notes and its side file.
    """
    if not is_article(path) and not is_side_file(path):
        return None
    # Who only asks for names loads no arithmetic.
    from symattn.cases.article import article_reading

    return article_reading(path, partial(_about, allow_outside), data, memory)


def _about(allow_outside: bool, name: str, path: Path) -> Path:
    """The article that the side file at ``path`` is about: beside it or below."""
    wanted = path.parent / name
    if not is_article(wanted):
        raise Malformed(f"{short(name)!r} is no article: expected one of {', '.join(SUFFIXES)}")
    check_inside(name, wanted, path.parent, allow_outside)
    return wanted


def _beside(allow_outside: bool, name: str, path: Path) -> Path:
    """Return what the file at ``path`` extends: a bundled case or a file beside itself."""
    if name in names():
        return find(name)
    wanted = path.parent / find(name)
    check_inside(name, wanted, path.parent, allow_outside)
    return wanted


def check_inside(
    name: str,
    wanted: Path,
    folder: Path,
    allow_outside: bool,
    of: str = "the file's folder",
    leave: str = "in Python allow_outside=True",
) -> None:
    """Raise :class:`Malformed` for a file that a text names outside of a folder, links followed,
    unless that is allowed; ``of`` and ``leave`` are what messages call the folder, and what
    allows it beside the option of the commands."""
    if not allow_outside and not is_below(wanted, folder):
        raise Malformed(
            f"{short(name)!r} is not in {of} or below: it is read only with "
            f"--allow-outside, {leave}"
        )


def is_below(path: Path, folder: Path) -> bool:
    """Tell whether a path is in a folder or below, links followed."""
    return _resolved(path).is_relative_to(_resolved(folder))


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise Malformed(f"the path can't be followed: {error}") from None
