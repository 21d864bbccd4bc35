"""The tokens of HTML: tags, comments and characters, each with its place.

The standard library's parser tells where a tag begins, not where its attributes do,
and formulas stand in those too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape

from symattn.documents.text import Text

_TOKEN = re.compile(
    r"""
    (?P<comment> <!-- )
    # As browsers have it: a tag goes on to its end, whatever is in it.
    | < (?P<closes> / )?+ (?P<name> [A-Za-z][\w:-]*+ ) (?= [\s/>] | \Z )
      (?P<attributes> (?: [^>"'=]++ | = \s*+ " [^"]*+ " | = \s*+ ' [^']*+ ' | ["'=] )*+ ) >?+
    | <[!?/] [^>]*+ >?+
    | (?: [^<]++ | < (?![A-Za-z!?/]) )++
    | <
    """,
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(
    r"""(?P<name> [^\s=>"'/]++ )
    (?: \s*+ = \s*+ (?: "(?P<double>[^"]*+)" | '(?P<single>[^']*+)' | (?P<bare>[^\s>"']++) ) )?+""",
    re.VERBOSE,
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,40});?")
#: Elements whose text has no tags.
_RAW = {"script", "style", "textarea", "title", "xmp"}


@dataclass(frozen=True)
class Tag:
    """A tag, as a whole and what stands behind its name."""

    name: str
    closes: bool
    whole: Text
    rest: Text

    @cached_property
    def attributes(self) -> Mapping[str, Text]:
        """The values of its attributes by their names in lower case."""
        values: dict[str, Text] = {}
        for match in _ATTRIBUTE.finditer(self.rest.string):
            group = match.lastgroup if match.lastgroup != "name" else None
            value = self.rest.group(match, group) if group else self.rest[:0]
            values.setdefault(match["name"].lower(), value)
        return values

    def value(self, name: str) -> str:
        """The value of an attribute; '' where it has none."""
        text = self.attributes.get(name)
        return unescape(text.string) if text is not None else ""

    @cached_property
    def classes(self) -> frozenset[str]:
        """Its classes."""
        return frozenset(self.value("class").split())


@dataclass(frozen=True)
class Comment:
    """What a comment says."""

    text: Text


@dataclass(frozen=True)
class Characters:
    """Characters between tags; entities stand as they are written."""

    text: Text


Token = Tag | Comment | Characters


def tokens(source: Text) -> Iterator[Token]:
    """The tokens of a source; the text of scripts, styles and the title is one.

    >>> [type(token).__name__ for token in tokens(Text.whole("<p>a<!-- b --></p>"))]
    ['Tag', 'Characters', 'Comment', 'Tag']
    """
    string, at = source.string, 0
    while match := _TOKEN.match(string, at):
        start, at = at, match.end()
        if match["comment"]:
            end = string.find("-->", at)
            yield Comment(source[at : len(string) if end < 0 else end])
            at = len(string) if end < 0 else end + 3
        elif name := match["name"]:
            name = name.lower()
            rest = source.group(match, "attributes")
            yield Tag(name, bool(match["closes"]), source[start:at], rest)
            if name in _RAW and not match["closes"]:
                ending = re.compile(f"</{name}", re.IGNORECASE).search(string, at)
                start, at = at, ending.start() if ending else len(string)
                yield Characters(source[start:at])
        elif string[start : start + 2] not in ("<!", "<?", "</"):
            yield Characters(source[start:at])


def decoded(text: Text) -> Text:
    """Text with its entities as the characters that they stand for.

    >>> decoded(Text.whole("1 &lt; 2")).span(2, 3)
    Span(start=2, end=6)
    """
    return text.sub(_ENTITY, lambda entity: unescape(entity[0]))
