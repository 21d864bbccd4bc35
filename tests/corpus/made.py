"""Corpora for tests: the articles that there are for tests, and any number with random edits."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from symattn.documents.files import is_article
from tests.documents import marks

_TESTS = Path(__file__).parent.parent
_ROOT = _TESTS.parent
_DIGITS = re.compile(r"(?<=[0-9]\.)[0-9]+")


@cache
def originals() -> tuple[tuple[str, bytes], ...]:
    """Names and bytes of the articles for tests, of the documentation, and of all that a case
    or derivation has as a page of Markdown."""
    found: dict[str, bytes] = {}
    for folder in ("corpus", "further", "unseen"):
        for path in marks.documents(_TESTS / "documents" / folder):
            document = marks.load(path)
            found[document.name] = document.text.encode()
    others = sorted(path for path in _ROOT.glob("docs/*") if is_article(path))
    found |= {path.name: path.read_bytes() for path in others}
    found |= {f"{path.stem}.txt": path.read_bytes() for path in _ROOT.glob("derivations/*.toml")}
    return tuple(sorted(found.items()))


def variants(count: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """So many articles: the originals, then those with a digit changed, a line lost, twice or
    moved, or cut off anywhere."""
    drawn = random.Random(seed)
    every = originals()
    for number in range(count):
        name, data = every[number % len(every)]
        round_ = number // len(every)
        if round_:
            data = _edited(data, drawn)
            name = f"{round_}-{name}"
        yield name, data


def _edited(data: bytes, drawn: random.Random) -> bytes:
    text = data.decode()
    lines = text.splitlines(keepends=True)
    at = drawn.randrange(len(lines))
    match drawn.randrange(5):
        case 0 | 1 if found := [*_DIGITS.finditer(text)]:
            figure = drawn.choice(found)
            digits = str(drawn.randrange(10 ** len(figure[0]))).zfill(len(figure[0]))
            return (text[: figure.start()] + digits + text[figure.end() :]).encode()
        case 2:
            lines.insert(at, lines[at])
        case 3:
            lines.insert(drawn.randrange(len(lines)), lines.pop(at))
        case _:
            # In the middle of a letter, too.
            return data[: drawn.randrange(len(data))]
    return "".join(lines).encode()


def written(folder: Path, count: int, seed: int = 0, start: int = 0) -> Path:
    """A folder with articles, from one of the originals on."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in [*variants(start + count, seed)][start:]:
        (folder / name).write_bytes(data)
    return folder
