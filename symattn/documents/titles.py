"""Lines of plain text that are headings: by their number, their words, how they end."""

from __future__ import annotations

import re

UNDERLINE = re.compile(r"[ \t]*+(?:={3,}+|-{3,}+|~{3,}+)[ \t]*+")
NUMBERED = re.compile(r"(?:§[ ]*+)?([0-9]{1,2}(?:\.[0-9]{1,2})+)\.?+[ \t]++(?=[^\W\d])")
STEP = re.compile(r"(?:Step|Part|Section|Chapter|Phase|Stage|Exercise|Example)[ ]++[0-9IVX]{1,4}\b")
VALUE = re.compile(r":[ \t]*+[-+.0-9\[(]")
LINK = re.compile(r"[ \t]++[#¶🔗][ \t]*+\Z")
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,3}\Z")
_WORD = re.compile(r"[^\W\d_]{2,}+")
LONGEST_HEADING = 90
_LONGEST_NAME = 14
#: Words that a sentence goes on after.
_CUT = re.compile(
    r"\b(?:a|an|and|are|as|at|be|becomes|by|for|from|gets?|gives?|has|have|in|is|it|of|on|or"
    r"|so|that|the|then|to|was|we|with|yields?)\Z",
    re.IGNORECASE,
)
#: Blanks that set what stands in columns apart.
GAP = re.compile(r"[^\s.?!](?: {2,}+|\t)\S|\S {3,}+\S|\|[ \t]++[-+]?[0-9]")


def titled(string: str) -> str:
    """What a line says, without the link that pages set behind headings; '' where it is
    too long for a heading, or ends as none does.

    >>> titled("Motivation #"), titled("The sum:")
    ('Motivation', '')
    """
    title = string.strip()
    if len(title) > LONGEST_HEADING:
        return ""
    title = LINK.sub("", title)
    return title if len(title) > 1 and title[-1] not in ".,;:!-–—" and "$" not in title else ""


def is_name(title: str) -> bool:
    """Whether it is words that name something, rather than numbers or a sentence cut off.

    >>> is_name("Attention scores"), is_name("1.0 0.5"), is_name("The sum is")
    (True, False, False)
    """
    letters = sum(len(word) for word in _WORD.findall(title))
    return (
        2 * letters >= len(title.replace(" ", ""))
        and len(title.split()) <= _LONGEST_NAME
        and not any(sign in title for sign in "=≈→|")
        and not (_FILE.search(title) or GAP.search(title) or _CUT.search(title))
    )


def is_title(title: str) -> bool:
    """Whether its words are written as those of a title.

    >>> is_title("The Final Output Matrix"), is_title("The final output")
    (True, False)
    """
    words = [word for word in _WORD.findall(title) if len(word) > 3]
    return (
        2 <= len(title.split()) <= 10
        and len(words) > 1
        and all(word[0].isupper() for word in words)
    )
