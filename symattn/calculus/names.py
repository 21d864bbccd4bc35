"""The names of a text, by all the ways to write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from itertools import count as counting

from symattn.documents.notation import plain_name
from symattn.documents.notation.tokens import NotationToken, latex_tokens, plain_tokens
from symattn.documents.notation.vocabulary import ACCENTS, straight
from symattn.limits import CHARACTERS

_SPELT = {"eps": "epsilon", "lam": "lambda"}
"""Names that are printed as a letter which is called otherwise."""
LETTERS = "jklabcdefghopqrsuvwxyz"
"""Those that indices without a name of their own are called."""
_HEAD = re.compile(r"([A-Za-z]\w*)(?:\[\s*(\w+(?:\s*,\s*\w+)*)\s*\])?")
#: Characters of what may be a head.
_LONGEST = 100


def free_letters(count: int, taken: Collection[str], first: str = "") -> list[str]:
    """Letters for indices that name nothing else, these first.

    >>> free_letters(2, {"j", "c"}, "ci"), free_letters(1, "abcdefghijklopqrsuvwxyz")
    (['i', 'k'], ['j1'])
    """
    names = chain(dict.fromkeys(first + LETTERS), (f"j{k}" for k in counting(1)))
    return list(islice((name for name in names if name not in taken), count))


@dataclass
class Names:
    """The meanings of names: arrays with how many axes they have, sizes, permutations."""

    axes: dict[str, int] = field(default_factory=dict)
    sizes: set[str] = field(default_factory=set)
    permutations: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.uses: dict[str, frozenset[str]] = {}
        """What defined names depend on."""
        self.shapes = {**self.axes, **dict.fromkeys(self.permutations, 0)}
        self._known: dict[str, str] = {}
        self._lower: dict[str, list[str]] = {}
        self._stems: set[str] = set()
        for name in (*self.axes, *self.sizes, *self.permutations):
            self._note(name)

    def add(self, name: str, axes: int) -> None:
        """One more array, or what is known of it now."""
        self.axes[name] = self.shapes[name] = axes
        self._note(name)

    def _note(self, name: str) -> None:
        written = spelt(name)
        self._known.setdefault(written, name)
        if name not in self._lower.setdefault(name.lower(), []):
            self._lower[name.lower()].append(name)
        parts = written.split("_")
        self._stems.update("_".join(parts[: k + 1]) for k in range(len(parts)))

    def known(self, written: str) -> str:
        """The name that is spelt so; '' if there is none."""
        if written in self.axes or written in self.sizes or written in self.permutations:
            return written
        return self._known.get(spelt(written), "")

    def known_up_to_capitals(self, written: str) -> list[str]:
        """The arrays that are spelt so, but for capital letters."""
        return [name for name in self._lower.get(written.lower(), ()) if name in self.axes]

    def begins(self, written: str) -> bool:
        """Return whether a name is that, or that with more behind ``_``."""
        return spelt(written) in self._stems


def spelt(name: str) -> str:
    """A name as it is read back from what is printed of it."""
    parts = []
    for part in name.split("_"):
        lead = "d" if part[:1] == "d" and part[1:] in _SPELT else ""
        parts.append(lead + _SPELT.get(part.removeprefix(lead), part.removeprefix(lead)))
    return "_".join(parts)


def head(text: str) -> tuple[str, tuple[str, ...]] | None:
    r"""The name that stands alone on a side, and what stands below it; None of all else.

    >>> head(r"\mathbf{p}_{i}"), head("G[i, k]"), head("W_Q"), head("A B")
    (('p', ('i',)), ('G', ('i', 'k')), ('W', ('Q',)), None)
    """
    if len(text) > _LONGEST or re.search(r"['’′]\w", text):
        return None
    if plain := _HEAD.fullmatch(text.strip()):
        below = re.findall(r"\w+", plain[2] or "")
        stem, _, last = plain[1].rpartition("_")
        return (plain[1], tuple(below)) if below or not stem else (stem, (last,))
    tokens = latex_tokens(text) if "\\" in text else plain_tokens(text)
    kinds = [token.kind for token in tokens]
    if not tokens or (tokens[0].text not in ACCENTS and kinds[0] != "name"):
        return None
    if tokens[0].text in ACCENTS:
        closing = next((at for at, token in enumerate(tokens) if token.text == "}"), 1)
        name, at = plain_name(text[: tokens[min(closing, len(tokens) - 1)].end]), closing + 1
    else:
        name, at = plain_name(tokens[0].text), 1
        while at < len(tokens) and not tokens[at].spaced and kinds[at] in ("name", "number"):
            if tokens[at].start != tokens[at - 1].end and (name != "d" or kinds[at] == "number"):
                # What has a command of its own, as a vector \mathbf{1} of ones, is no part of it.
                return None
            name, at = name + (plain_name(tokens[at].text) or tokens[at].text), at + 1
    rest = tokens[at:]
    if name.startswith("_"):
        return None
    if not rest:
        return name, ()
    if rest[0].text != "_":
        return None
    inner = rest[2:-1] if rest[1:2] and rest[1].text in ("{", "(") and len(rest) > 3 else rest[1:]
    if any(token.kind not in ("name", "number") and token.text != "," for token in inner):
        return None
    if inner[:1] == rest[1:2] and any(token.spaced for token in inner[1:]):
        return None
    texts = [plain_name(token.text) or token.text for token in inner if token.text != ","]
    is_split = len(texts) == 1 and len(texts[0]) < 4 and texts[0].islower()
    return name, tuple(texts[0]) if is_split else tuple(texts)


# -- how names are set -------------------------------------------------------------------
# Letters that look different, and are read as one.

_COMMANDS = re.compile(r"(?:\\[A-Za-z]+\s*\{?\s*){1,4}\Z")
_STYLES = {
    "bold": ("mathbf", "bm", "boldsymbol", "symbf", "pmb", "bold", "vb", "bf", "textbf"),
    "calligraphic": ("mathcal", "mathscr"),
    "blackboard": ("mathbb",),
    "fraktur": ("mathfrak",),
}
_STYLE = {f"\\{command}": style for style, commands in _STYLES.items() for command in commands}
#: Words in the names of Unicode's mathematical letters.
_ALPHABETS = {
    "BOLD": "bold",
    "SCRIPT": "calligraphic",
    "FRAKTUR": "fraktur",
    "DOUBLE": "blackboard",
}


def style_of(text: str, token: NotationToken) -> tuple[str, str]:
    """Return how a letter or number is set, and the accent above it."""
    before = _COMMANDS.search(text, max(token.start - 40, 0), token.start)
    commands = re.findall(r"\\[A-Za-z]+", before[0]) if before else []
    alphabet = unicodedata.name(text[token.start : token.start + 1], "")
    styles = [_STYLE[command] for command in commands if command in _STYLE] + [
        style
        for word, style in _ALPHABETS.items()
        if "MATHEMATICAL" in alphabet and word in alphabet.split("-")[0].split()
    ]
    accents = [command for command in commands if command in ACCENTS]
    return "".join(styles) or "plain", "".join(accents)


def spellings(text: str) -> Iterator[tuple[str, str, str]]:
    """The names of a formula that stand for all of what they name, each with a way in which it
    can be told from others, and how it looks in that way.

    >>> [*spellings(r"\\mathbf{x} + x")]
    [('x', 'style', 'bold'), ('x', 'style', 'plain')]
    """
    if len(text) > CHARACTERS.most:
        return
    tokens = latex_tokens(text) if "\\" in text else plain_tokens(text)
    signs = ["", *(token.text for token in tokens), ""]
    for token, before, behind in zip(tokens, signs, signs[2:], strict=False):
        if token.kind != "name" or "_" in (before, behind):
            continue
        style, accent = style_of(text, token)
        name = f"{accent}{plain_name(token.text) or token.text}"
        written = straight(text[token.start : token.end])
        yield name, "style", style
        if written[:1] == "\\":
            yield name, "command", written
        elif not written.isascii():
            yield name, "letter", written
