"""Letters: text made safe for LaTeX, and the engine whose fonts have them."""

from __future__ import annotations

import re

from symattn.escaping import is_hidden

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "%": r"\%", "#": r"\#",
    "_": r"\_", "&": r"\&", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
}  # fmt: skip
#: Typography that LaTeX's fonts have under other names.
_TYPOGRAPHY = {"–": "--", "—": "---", "…": r"\dots{}", "’": "'", "“": "``", "”": "''"}


def escape(text: str) -> str:
    r"""Text made safe for LaTeX: it prints as it is, on one line, and what steers
    or hides text is left out.

    >>> escape(r"50% of \input{x}"), escape("a\u202eb\nc")
    ('50\\% of \\textbackslash{}input\\{x\\}', 'ab c')
    """
    plain = "".join(" " if c.isspace() else "" if is_hidden(c) else c for c in text)
    return "".join(_escape_word(word) for word in re.split(r"(\s+)", plain))


#: Words with more letters, such as addresses, may break after every so many.
_LONG_WORD, _BREAK = 16, 4


def _escape_word(word: str) -> str:
    escaped = ""
    for place, c in enumerate(word):
        if place and len(word) > _LONG_WORD and place % _BREAK == 0:
            escaped += r"\allowbreak{}"
        elif place and c in "-,'" and c == word[place - 1]:
            # Two of these would be drawn as one sign.
            escaped += "{}"
        escaped += _TYPOGRAPHY.get(c) or _ESCAPES.get(c, c)
    return escaped


_WRITTEN = {
    **{shown.removesuffix("{}"): c for c, shown in (_ESCAPES | _TYPOGRAPHY).items()},
    r"\allowbreak": "", "{}": "", "'": "'",
}  # fmt: skip
_PIECE = re.compile(r"---|--|``|''|(?:\\[A-Za-z]+|\\.)|\{\}|.", re.DOTALL)


def unescape(latex: str) -> str:
    r"""The text that :func:`escape` wrote, curly apostrophes as straight ones.

    >>> unescape(escape(r"50% of \input{x}"))
    '50% of \\input{x}'
    """
    return "".join(_WRITTEN.get(piece, piece) for piece in _PIECE.findall(latex))


#: Letters of extended Latin that pdflatex's encoding of fonts leaves out.
_NOT_IN_T1 = frozenset("ĦħĸĿŀŉŦŧſ")


def engine_for(text: str) -> str:
    """``pdflatex`` where its fonts have every letter, else ``lualatex``.

    >>> engine_for("déjà vu"), engine_for("猫")
    ('pdflatex', 'lualatex')
    """
    known = all(
        (ord(c) < 0x180 and c not in _NOT_IN_T1) or c in _TYPOGRAPHY or not c.isprintable()
        for c in text
    )
    return "pdflatex" if known else "lualatex"
