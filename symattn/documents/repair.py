"""Text repaired before it is read: each repaired character keeps its place.

Copies of articles come mis-decoded (``Ξ£`` for ``Σ``) and with formulas whose
backslashes were doubled or halved by a converter on the way.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from symattn.documents.environments import INNER
from symattn.documents.text import Text

#: Code pages that UTF-8 is read as by mistake, the commonest first.
_CODE_PAGES = ("cp1252", "cp1253", "cp1250", "cp1251", "latin-1", "cp437")
#: A text may have gone through it twice.
_TIMES = 2
#: Runs that may be mis-decoded: letters and signs beyond ASCII, side by side.
_RUN = re.compile(r"[^\x00-\x7f]{2,}+")
#: How bytes that a code page leaves undefined are shown: as another does, or as they are.
_KEPT = {chr(byte): bytes([byte]) for byte in range(0x80, 0xA0)} | {
    bytes([byte]).decode("cp1252", "ignore"): bytes([byte]) for byte in range(0x80, 0xA0)
}


def decoded(text: Text) -> Text:
    """The text with its mis-decoded runs repaired, each character of one with the
    place of the whole run.

    Only where a document's runs all say so: proper Greek or Cyrillic does not
    decode, and one chance hit among many words changes nothing.

    >>> str(decoded(Text.whole("Ξ£ 2Γ—3")))
    'Σ 2×3'
    """
    for _ in range(_TIMES):
        repaired = _decoded(text)
        if repaired is text:
            break
        text = repaired
    return text


def _decoded(text: Text) -> Text:
    counts = Counter(_RUN.findall(text.string))

    def hits(repaired: dict[str, str]) -> int:
        return sum(counts[word] for word in repaired)

    pages = [{word: good for word in counts if (good := _back(word, page))} for page in _CODE_PAGES]
    repaired = max(pages, key=hits)
    if 2 * hits(repaired) <= counts.total():
        return text
    return text.sub(_RUN, lambda run: repaired.get(run[0]))


def _back(word: str, page: str) -> str:
    """What the bytes of a run are in UTF-8, if they were read in that code page; else ''."""
    try:
        good = _bytes(word, page).decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return ""
    is_text = all(unicodedata.category(sign) != "Cc" for sign in good)
    return good if len(good) < len(word) and is_text else ""


def _bytes(word: str, page: str) -> bytes:
    try:
        return word.encode(page)
    except UnicodeEncodeError:
        return b"".join(sign.encode(page, "ignore") or _KEPT.get(sign, b"\xff") for sign in word)


# -- formulas -----------------------------------------------------------------------

_SLASHES = re.compile(r"\\++")
#: Environments of rows.
_ROWS = re.compile(rf"\\begin\{{((?:align|{'|'.join(sorted(INNER))})\*?)\}}")
#: What is left of a row's end where one of its two backslashes was lost.
_LOST = re.compile(r"\\(?=[ \t\n\d.+&-]|\Z)")


def formula(text: Text) -> Text:
    """The LaTeX of a formula, as it was before a Markdown converter's needs or losses.

    >>> str(formula(Text.whole(r"W\\_Q = \\begin{bmatrix} 1 & 0\\ 0 & 1 \\end{bmatrix}")))
    'W_Q = \\\\begin{bmatrix} 1 & 0\\\\\\\\ 0 & 1 \\\\end{bmatrix}'
    """
    if "\\" not in text.string:
        return text
    return _rows(_single(text))


def _single(text: Text) -> Text:
    """Backslashes that were doubled for a converter, single again."""
    string = text.string
    all_doubled = all(len(run) % 2 == 0 for run in _SLASHES.findall(string)) and (
        re.search(r"\\\\(?:begin|frac|text|sqrt|mathrm|left|cdot|times|approx)\b", string)
    )

    def single(run: re.Match[str]) -> str | Text | None:
        start, count = run.start(), len(run[0])
        if count % 4 == 0 or (all_doubled and count % 2 == 0):
            return text[start : start + count // 2]
        return "" if count == 1 and string[run.end() : run.end() + 1] == "_" else None

    return text.sub(_SLASHES, single)


def _rows(text: Text) -> Text:
    """Ends of rows that lost one of their two backslashes, whole again."""
    string = text.string
    parts, last = [], 0
    for opened in _ROWS.finditer(string):
        start = opened.end()
        end = string.find(f"\\end{{{opened[1]}}}", start)
        if start < last or end < 0 or "\\\\" in string[start:end]:
            continue
        for lost in _LOST.finditer(string, start, end):
            if lost.end() < end:
                parts += [
                    text[last : lost.start()],
                    Text.at("\\\\", text.span(lost.start(), lost.end())),
                ]
                last = lost.end()
    return Text.joined([*parts, text[last:]]) if parts else text
