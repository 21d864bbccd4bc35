r"""Names in plain letters: one for each way to write a quantity."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from symattn.documents.notation.vocabulary import (
    ACCENTS,
    COMBINING,
    LETTER_COMMANDS,
    LETTERS,
    LOWERED,
    RAISED,
)

_PIECE = re.compile(r"\\[A-Za-z]++\*?|[A-Za-z0-9]++|.", re.DOTALL)
_MARKS = {**ACCENTS, **COMBINING}
_PRIMES = frozenset(("'", "′", "’", r"\prime"))
_STARS = frozenset(("*", "∗", "⋆", r"\star", r"\ast"))


@lru_cache(maxsize=1 << 12)
def plain_name(written: str) -> str:
    r"""The plain name of a written one: ASCII letters, digits and ``_``.

    What stands below comes before what stands above. '' of what has no letter. Names
    that programs reserve are kept: who binds them renames.

    >>> [plain_name(name) for name in (r"W^{(Q)}", r"W_{\text{Q}}", r"\tilde{S}", r"\mathbf Q")]
    ['W_Q', 'W_Q', 'S_tilde', 'Q']
    >>> [plain_name(name) for name in (r"S_{\text{scaled}}", "Ŝ", "αᵢ", "Q'", r"\hat{W}_i^Q")]
    ['S_scaled', 'S_hat', 'alpha_i', 'Q_prime', 'W_hat_i_Q']
    """
    base: list[str] = []
    marks: list[str] = []
    scripts: dict[str, list[str]] = {"_": [], "^": []}
    into, depth = base, 0
    for piece in _PIECE.findall(unicodedata.normalize("NFD", written)):
        if piece in _MARKS:
            marks.append(_MARKS[piece])
        elif piece in scripts:
            if not depth:
                into = scripts[piece]
            into.append("_")
        elif piece in "{}":
            depth += 1 if piece == "{" else -1
        elif piece in _PRIMES:
            scripts["^"].append("_prime")
        elif piece in LOWERED:
            scripts["_"].append(LOWERED[piece])
        elif piece in RAISED:
            scripts["^"].append(RAISED[piece])
        else:
            into.append(_letters(piece))
    parts = ("".join(letters) for letters in (base, marks, scripts["_"], scripts["^"]))
    plain = [re.sub(r"[^A-Za-z0-9]++", "_", part).strip("_") for part in parts]
    name = "_".join(part for part in plain if part)
    if re.match("_[A-Za-z]", written):
        name = f"_{name}"
    return "" if name[:1].isdigit() else name


@lru_cache(maxsize=1 << 10)
def identifier(name: str) -> str:
    """The plain name of a name in a program: that of notation, and where this would lose a
    letter or a mark, one that names them, as other names keep apart.

    >>> [identifier(name) for name in ("W_Q", "σ", "Ŝ", "größe", "名")]
    ['W_Q', 'sigma', 'S_hat', 'grosze_diaeresis', 'u540d']
    """
    if name.isascii():
        return name
    letters, marks = [], []
    for piece in unicodedata.normalize("NFD", name):
        if unicodedata.combining(piece) and piece not in _MARKS:
            words = unicodedata.name(piece, f"u{ord(piece):x}").split()
            marks.append(f"_{words[words[0] == 'COMBINING' and len(words) > 1].lower()}")
        elif piece in _MARKS or _letters(piece).strip("_") or piece == "_":
            letters.append(piece)
        else:
            letters.append("sz" if piece == "ß" else f"u{ord(piece):x}")
    plain = plain_name("".join(letters))
    return "".join((plain or "x", *marks)).replace("-", "_")


def _letters(piece: str) -> str:
    """What one piece of a written name adds to the plain one."""
    if piece in _STARS:
        return "_star"
    if piece[0] == "\\":
        return LETTER_COMMANDS.get(piece, "")
    if piece in LETTERS:
        return LETTERS[piece]
    plain = unicodedata.normalize("NFKD", piece)
    return plain if plain.isascii() else "_"
