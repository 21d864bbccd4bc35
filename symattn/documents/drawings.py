"""Images whose address is a formula, which a service draws."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from symattn.documents import commonmark
from symattn.documents.text import Text

#: Addresses of images that draw a formula.
_DRAWING = re.compile(r"latex|math|tex|codecogs|zhihu", re.IGNORECASE)
_QUERY = re.compile(r"(?:[a-z]++=[^&=\\]*+&)*?(?:math|tex|latex|eq|from)=", re.IGNORECASE)
_FOLLOWING = re.compile(r"&[a-z]++=", re.IGNORECASE)
_DRESSING = re.compile(
    r"\\(?:inline|large|Large|small|huge|fn_[a-z]++|bg_[a-z]++|dpi\{[0-9]*+\}"
    r"|bg\{[a-z]*+\}|color\{[A-Za-z]*+\})(?![A-Za-z])"
)
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})++|\+|&(?:space|plus|amp);")


def drawn(address: Text) -> Text | None:
    """The formula that an image's address draws, if it does.

    >>> url = "https://latex.codecogs.com/svg.latex?\\\\frac%7B1%7D%7B2%7D"
    >>> str(drawn(Text.whole(url)))
    '\\\\frac{1}{2}'
    """
    at, _, query = address.string.partition("?")
    if not at.startswith("http") or _DRAWING.search(at) is None:
        return None
    named = _QUERY.match(query)
    start = named.end() if named else 0
    # What else is asked for by name; without a name, all of it is the formula.
    following = _FOLLOWING.search(query, start) if named else None
    end = following.start() if following else len(query)
    rest = address[len(at) + 1 + start : len(at) + 1 + end]
    tex = rest.sub(_ENCODED, _character).sub(_DRESSING, "").stripped()
    if re.search(r"[\\=^_]", tex.string) is None:
        return None
    return commonmark.formula(tex)


def _character(code: re.Match[str]) -> str:
    named = {"+": " ", "&space;": " ", "&plus;": "+", "&amp;": "&"}.get(code[0])
    return unquote_to_bytes(code[0]).decode(errors="replace") if named is None else named
