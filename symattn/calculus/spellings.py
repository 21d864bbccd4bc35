r"""How names are set: letters that look different, and are read as one.

>>> [*spellings(r"\mathbf{x} + x")]
[('x', 'style', 'bold'), ('x', 'style', 'plain')]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from symattn.documents.notation import plain_name
from symattn.documents.notation.latex import latex_tokens
from symattn.documents.notation.tokens import NotationToken, plain_tokens
from symattn.documents.notation.vocabulary import ACCENTS, straight
from symattn.limits import CHARACTERS

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
    """How a letter or number is set, and the accent above it."""
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
    can be told from others, and how it looks in that way."""
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
