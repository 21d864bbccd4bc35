"""The engine whose fonts have the letters of a text."""

from __future__ import annotations

from symattn.escaping import TYPOGRAPHY

#: Letters of extended Latin that pdflatex's encoding of fonts leaves out.
_NOT_IN_T1 = frozenset("ĦħĸĿŀŉŦŧſ")


def engine_for(text: str) -> str:
    """``pdflatex`` where its fonts have every letter, else ``lualatex``.

    >>> engine_for("déjà vu"), engine_for("猫")
    ('pdflatex', 'lualatex')
    """
    known = all(
        (ord(c) < 0x180 and c not in _NOT_IN_T1) or c in TYPOGRAPHY or not c.isprintable()
        for c in text
    )
    return "pdflatex" if known else "lualatex"
