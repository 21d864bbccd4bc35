"""Inside a block of Markdown: words, formulas and code, told apart on the raw text.

Parsers of Markdown give no places inside a block; here every character keeps
its own. One pass over the marks that mean something; what closes a mark is
looked up, never searched twice, so that time is linear.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal
from urllib.parse import unquote_to_bytes

from symattn.documents import commonmark
from symattn.documents.article import PartKind
from symattn.documents.commonmark import Closers, note
from symattn.documents.text import DISPLAYS, Text, is_formula

# -- images whose address is a formula ---------------------------------------------------

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


#: Beside the kinds of parts: a formula on lines of its own, and what the author
#: says to symattn in a comment.
Display = Literal["display"]
_PieceKind = PartKind | Display | Literal["note"]


@dataclass(frozen=True)
class Piece:
    """A piece of a block."""

    kind: _PieceKind
    text: Text


#: A bracket whose backslash was lost, if what is in it is a formula.
_LOST = r"(?<![^\s(])\((?=[^()\n\\]*+\\[A-Za-z])|\["
_FORMULAS = re.compile(rf"\\|`|\$++|{_LOST}")
_MARK = re.compile(rf"\\|`|\$++|\*++|_++|~~|!\[|{_LOST}|\]|<|&|\{{")
#: Marks of formulas in pages, whose displays may stand in a line.
_DOLLARS, _DISPLAYS = re.compile(r"\\|\$++"), re.compile(r"\\|\$\$")
_CODE = re.compile(r"(\\*+)(`++)")
_DOLLAR = re.compile(r"\\[\s\S]|\$")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
#: Words that are no letters of a formula, and how long a formula among words is.
_PHRASE = re.compile(r"(?<![\\{A-Za-z])[A-Za-z]{3,}+ [A-Za-z]{2}")
_LONGEST = 400
_COMMAND = re.compile(r"\\[A-Za-z]")
_BEGIN = re.compile(r"\\begin\{([a-zA-Z]{1,12}\*?)\}")
_TEX = re.compile(r"\\[A-Za-z]|(?<!\\)[\^_&{]")
_TARGET = re.compile(
    r"""\([ \t\n]*+(<[^<>\n]*+>|(?:[^\s()<]|\([^\s()]*+\))*+)"""
    r"""(?:[ \t\n]++(?:"[^"\n]*+"|'[^'\n]*+'))?+[ \t\n]*+\)"""
)
_LABEL = re.compile(r"\[([^\[\]\n]{0,200}+)\]")
_VANISHING = re.compile(r"\[(?:\^[^\[\]\s]++|-?+@[^\[\]\n]++)\]")
_TAG = re.compile(r"</?+[A-Za-z][A-Za-z0-9-]*+(?:[\s/][^<>]*+)?+>|<https?+:[^<>\s]*+>")
_RAISED = re.compile(r"<(sub|sup)>([^<>\n]*+)</\1>", re.IGNORECASE)
_SOURCE = re.compile(r"""\ssrc[ ]*+=[ ]*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++))""", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
#: Attributes of Pandoc and kramdown, and what Liquid and Hugo put in their place.
_ATTRIBUTES = re.compile(
    r"\{(?:=|:?+[ ]*+[#.])[A-Za-z][^{}\n]*+\}|\{%[^{}%\n]*+%\}|\{\{[<%][^{}\n]*+\}\}"
)
_TEX_ATTRIBUTE = re.compile(r"\{=(?:la)?tex\}")
_ROLE = re.compile(r"\{([a-z][a-z:-]*+)\}(?=`)")


def pieces(text: Text, labels: Container[str] = frozenset()) -> list[Piece]:
    """Return what a block of Markdown consists of; ``labels`` are those of its links, in lower
    case.

    Marks of emphasis and escapes are gone, addresses of links too; line breaks stay.

    >>> [(piece.kind, str(piece.text)) for piece in pieces(Text.whole("**So** $x$ costs $5."))]
    [('text', 'So '), ('math', 'x'), ('text', ' costs $5.')]
    """
    return _Scan(text, labels, _MARK).pieces()


def formulas(text: Text) -> list[Piece]:
    """The same of plain text, in which only formulas and code have marks.

    >>> [(piece.kind, str(piece.text)) for piece in formulas(Text.whole("2 * $W_q$ * 3"))]
    [('text', '2 * '), ('math', 'W_q'), ('text', ' * 3')]
    """
    return _Scan(text, frozenset(), _FORMULAS).pieces()


def page_formulas(text: Text, dollars: bool) -> Iterator[tuple[PartKind | Display, Text]]:
    """The words and the formulas of a page that MathJax or KaTeX render where it is read;
    ``dollars`` where a single one is a mark too.

    >>> [(kind, str(piece)) for kind, piece in page_formulas(Text.whole(r"so \\(x\\): $5"), False)]
    [('text', 'so '), ('math', 'x'), ('text', ': $5')]
    """
    pieces = _Scan(text, frozenset(), _DOLLARS if dollars else _DISPLAYS).pieces()
    return ((piece.kind, piece.text) for piece in pieces if piece.kind != "note")


class _Scan:
    def __init__(self, text: Text, labels: Container[str], marks: re.Pattern[str]) -> None:
        self.text = text
        self.marks = marks
        self.is_page = marks in (_DOLLARS, _DISPLAYS)
        self.string = text.string
        self.labels = labels
        #: Pieces; of words only where they begin and end.
        self.out: list[Piece | tuple[int, int] | None] = []
        #: Marks of emphasis that are open: where in ``out``.
        self.emphasis: dict[str, list[int]] = {"*": [], "_": [], "~": []}
        #: Brackets that are open: where in ``out``, where in the text, of an image?
        self.brackets: list[tuple[int, int, bool]] = []
        self.closers = Closers(self.string)

    def pieces(self) -> list[Piece]:
        string, at, last = self.string, 0, 0
        read = {
            "\\": self._backslash,
            "`": self._code,
            "$": self._dollar,
            "*": self._emphasis,
            "_": self._emphasis,
            "~": self._emphasis,
            "!": self._bracket,
            "[": self._bracket,
            "(": self._round,
            "]": self._closed,
            "<": self._html,
            "&": self._entity,
            "{": self._attributes,
        }
        out, search = self.out, self.marks.search
        if search(string) is None:
            return [Piece("text", self.text)] if string else []
        while mark := search(string, at):
            start = mark.start()
            if last < start:
                out.append((last, start))
            last = at = read[string[start]](mark)
        if last < len(string):
            out.append((last, len(string)))
        return self._joined()

    def _joined(self) -> list[Piece]:
        """The pieces, words that stand side by side as one."""
        joined: list[Piece] = []
        words: list[Text] = []
        first = last = 0
        for piece in [*self.out, Piece("code", self.text[:0])]:
            if piece is None:
                continue
            if isinstance(piece, tuple):
                if piece[0] != last:
                    words.append(self.text[first:last])
                    first = piece[0]
                last = piece[1]
                continue
            words.append(self.text[first:last])
            first = last
            if piece.kind == "text":
                words.append(piece.text)
                continue
            text = Text.joined([word for word in words if word.string])
            if text:
                joined.append(Piece("text", text))
            words = []
            joined.append(piece)
        return joined[:-1]

    def _plain(self, mark: re.Match[str]) -> int:
        """The mark is a word like others."""
        self.out.append(mark.span())
        return mark.end()

    # -- code --------------------------------------------------------------------

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        """Return where spans of code begin: the length of their marks, and their end."""
        runs = [
            (run.start(2), len(run[2]), len(run[1]) % 2 == 1) for run in _CODE.finditer(self.string)
        ]
        later: dict[int, deque[int]] = defaultdict(deque)
        for start, length, _ in runs:
            later[length].append(start)
        spans: dict[int, tuple[int, int]] = {}
        at = 0
        for start, length, is_escaped in runs:
            if start < at or is_escaped:
                continue
            same = later[length]
            while same and same[0] <= start:
                same.popleft()
            if same:
                spans[start] = length, (at := same[0] + length)
        return spans

    def _code(self, mark: re.Match[str]) -> int:
        start = mark.start()
        if start not in self._spans:
            end = start + 1
            while self.string[end : end + 1] == "`":
                end += 1
            self.out.append((start, end))
            return end
        length, end = self._spans[start]
        first, last = start + length, end - length
        inside = self.string[first:last]
        if inside.strip() and inside[0] == inside[-1] == " ":
            first, last = first + 1, last - 1
        if tex := _TEX_ATTRIBUTE.match(self.string, end):
            # Pandoc's own mark of what is raw TeX.
            self.out.append(Piece("math", commonmark.formula(self.text[first:last])))
            return tex.end()
        self.out.append(Piece("code", self.text[first:last]))
        return end

    # -- formulas ----------------------------------------------------------------

    def _formula(self, start: int, end: int, opened: int, closed: int) -> None:
        text = commonmark.formula(self.text[start:end].stripped())
        is_display = self.is_page or self._is_alone(opened, closed)
        self.out.append(Piece("display" if is_display else "math", text))

    def _is_alone(self, opened: int, closed: int) -> bool:
        """Return whether nothing but a stop stands beside it, on one side of its lines."""
        string = self.string
        while opened and string[opened - 1] in " \t":
            opened -= 1
        while closed < len(string) and string[closed] in " \t.,;:":
            closed += 1
        return (
            opened == 0 or string[opened - 1] == "\n" or string[closed : closed + 1] in ("", "\n")
        )

    @cached_property
    def _dollars(self) -> list[int]:
        """Return where dollars stand that no backslash and no code hides."""
        dollars = [m.start() for m in _DOLLAR.finditer(self.string) if m[0] == "$"]
        spans = [(start, end) for start, (_, end) in self._spans.items()]
        kept, k = [], 0
        for at in dollars:
            while k < len(spans) and spans[k][1] <= at:
                k += 1
            if k == len(spans) or at < spans[k][0]:
                kept.append(at)
        return kept

    def _dollar(self, mark: re.Match[str]) -> int:
        start, end, string = mark.start(), mark.end(), self.string
        if end - start == 1 and end in self._spans:
            # GitHub's $`...`$
            length, closed = self._spans[end]
            if string[closed : closed + 1] == "$":
                text = self.text[end + length : closed - length].stripped()
                self.out.append(Piece("math", commonmark.formula(text)))
                return closed + 1
        if end - start == 2:
            closed = self.closers.after("$$", end)
            if closed > end and string[end:closed].strip():
                self._formula(end, closed, start, closed + 2)
                return closed + 2
        if end - start != 1:
            return self._plain(mark)
        k = bisect_right(self._dollars, start)
        closed = self._dollars[k] if k < len(self._dollars) else -1
        # A sum of money is followed by blanks or digits where a formula would end.
        if (
            closed <= end
            or string[end].isspace()
            or string[closed - 1].isspace()
            or string[closed + 1 : closed + 2].isdigit()
        ):
            return self._plain(mark)
        self.out.append(Piece("math", commonmark.formula(self.text[end:closed])))
        return closed + 1

    def _backslash(self, mark: re.Match[str]) -> int:
        start, string = mark.start(), self.string
        opened = start + 2 if string.startswith("\\\\", start) else start + 1
        sign = string[opened : opened + 1]
        if sign and sign in "([":
            closer = string[start:opened] + {"(": ")", "[": "]"}[sign]
            closed = self.closers.after(closer, opened + 1)
            if closed > opened + 1 and (
                sign == "(" or self.is_page or self._is_tex(opened + 1, closed)
            ):
                end = closed + len(closer)
                if sign == "[":
                    self._formula(opened + 1, closed, start, end)
                else:
                    text = self.text[opened + 1 : closed].stripped()
                    self.out.append(Piece("math", commonmark.formula(text)))
                return end
        if (begun := _BEGIN.match(string, start)) and is_formula(begun[1]):
            closer = f"\\end{{{begun[1]}}}"
            closed = self.closers.after(closer, begun.end())
            if closed >= 0:
                end = closed + len(closer)
                # In a page only what lays matrices out has a meaning in a formula.
                is_bare = self.is_page and begun[1].rstrip("*") in DISPLAYS
                first, last = (begun.end(), closed) if is_bare else (start, end)
                self._formula(first, last, start, end)
                return end
        after = string[start + 1 : start + 2] if self.marks is _MARK else ""
        if after == "\n":
            return start + 1
        if self.marks is not _MARK and string[start + 1 : start + 2] in ("\\", "$"):
            self.out.append((start, start + 2))
            return start + 2
        if after and after in _PUNCTUATION:
            self.out.append((start + 1, start + 2))
            return start + 2
        return self._plain(mark)

    def _is_tex(self, start: int, end: int) -> bool:
        """Return whether brackets hold a formula: else they are escaped ones, of words."""
        place = self._tex_from(start)
        if 0 <= place < end:
            return True
        alone = self._is_alone(start - 2, end + 2)
        return alone and 0 <= self.closers.after("=", start) < end

    def _tex_from(self, at: int) -> int:
        k = bisect_right(self._tex, at - 1)
        return self._tex[k] if k < len(self._tex) else -1

    @cached_property
    def _tex(self) -> list[int]:
        return [match.start() for match in _TEX.finditer(self.string)]

    # -- formulas whose backslashes were lost ------------------------------------

    def _round(self, mark: re.Match[str]) -> int:
        """``(x)`` that was ``\\(x\\)``, if it has commands, and no words but in these."""
        depth, end = 0, mark.start()
        for sign in self.string[mark.start() : mark.start() + _LONGEST]:
            depth += (sign == "(") - (sign == ")")
            end += 1
            if not depth or sign == "\n":
                break
        inside = self.text[mark.end() : end - 1].stripped()
        if depth or _PHRASE.search(inside.string):
            return self._plain(mark)
        formula = Piece("math", commonmark.formula(inside))
        self.out += [mark.span(), formula, (end - 1, end)]
        return end

    def _square(self, start: int) -> int:
        """The end of a ``[x]`` that was ``\\[x\\]``: its brackets stand on lines of their own,
        or it has commands and is all of its line; 0 where it is none."""
        string, at = self.string, start + 1
        if string[string.rfind("\n", 0, start) + 1 : start].strip():
            return 0
        line = string.find("\n", at) if "\n" in string[at:] else len(string)
        if string[at:line].strip():
            closed = at + len(string[at:line].rstrip(" \t.,;:")) - 1
            is_lost = string[at] == " " and string[closed] == "]"
            is_lost = is_lost and _COMMAND.search(string, at, closed) is not None
        else:
            closed = self.closers.after("\n]", at) + 1
            end = self.closers.after("=", at)
            is_lost = closed > 0 and (0 <= self._tex_from(at) < closed or 0 <= end < closed)
        if not is_lost:
            return 0
        self._formula(at, closed, start, closed + 1)
        return closed + 1

    # -- emphasis ----------------------------------------------------------------

    def _emphasis(self, mark: re.Match[str]) -> int:
        start, end, string = mark.start(), mark.end(), self.string
        sign = string[start]
        before, after = string[start - 1 : start], string[end : end + 1]
        is_inside = bool(before) and (before.isalnum() or before in ")]}")
        opens = bool(after) and not after.isspace() and not is_inside
        closes = bool(before) and not before.isspace() and not (sign == "_" and after.isalnum())
        count = end - start
        opened = self.emphasis[sign]
        if closes:
            while count and opened:
                place = opened[-1]
                run = self.out[place]
                assert isinstance(run, tuple)
                first, last = run
                taken = min(2, count, last - first)
                count -= taken
                self.out[place] = (first, last - taken) if taken < last - first else None
                if taken == last - first:
                    opened.pop()
        if count:
            if opens:
                opened.append(len(self.out))
            self.out.append((end - count, end))
        return end

    # -- links, images, tags -----------------------------------------------------

    def _bracket(self, mark: re.Match[str]) -> int:
        if mark[0] == "[" and (end := self._square(mark.start())):
            return end
        if self.marks is _FORMULAS:
            return self._plain(mark)
        if gone := _VANISHING.match(self.string, mark.start()):
            return gone.end()
        self.brackets.append((len(self.out), mark.end(), mark[0] == "!["))
        return self._plain(mark)

    def _closed(self, mark: re.Match[str]) -> int:
        end = mark.end()
        if not self.brackets:
            return self._plain(mark)
        place, start, is_image = self.brackets.pop()
        following = self.string[end : end + 1]
        target = _TARGET.match(self.string, end) if following == "(" else None
        if target is None:
            label = _LABEL.match(self.string, end) if following == "[" else None
            key = (label[1] if label else "") or self.string[start : min(mark.start(), start + 200)]
            if key.lower() not in self.labels:
                return self._plain(mark)
            end = label.end() if label else end
        if is_image:
            del self.out[place:]
            for opened in self.emphasis.values():
                while opened and opened[-1] >= place:
                    opened.pop()
            if target and (tex := drawn(self.text.group(target, 1))):
                self.out.append(Piece("math", tex))
        else:
            self.out[place] = None
        return target.end() if target else end

    def _html(self, mark: re.Match[str]) -> int:
        start, string = mark.start(), self.string
        if string.startswith("<!--", start):
            closed = self.closers.after("-->", start + 4)
            if closed < 0:
                return self._plain(mark)
            if (message := note(self.text[start + 4 : closed])) is not None:
                self.out.append(Piece("note", message))
            return closed + 3
        if raised := _RAISED.match(string, start):
            self._raised(raised)
            return raised.end()
        tag = _TAG.match(string, start)
        if tag is None:
            return self._plain(mark)
        name = tag[0][1:4].lower()
        if name.startswith("br"):
            self.out.append(Piece("text", Text.at("\n", self.text.span(start, tag.end()))))
        elif name == "img" and (source := _SOURCE.search(tag[0])):
            first, last = source.span(source.lastindex or 0)
            if tex := drawn(self.text[start + first : start + last]):
                self.out.append(Piece("math", tex))
        return tag.end()

    def _raised(self, raised: re.Match[str]) -> None:
        sign = "_" if raised[1].lower() == "sub" else "^"
        opening = self.text.span(raised.start(), raised.start(2))
        closing = self.text.span(raised.end(2), raised.end())
        inside = self.text.group(raised, 2)
        if len(inside) == 1:
            parts = [Text.at(sign, opening), inside]
        else:
            parts = [Text.at(f"{sign}{{", opening), inside, Text.at("}", closing)]
        self.out += [Piece("text", part) for part in parts]

    def _entity(self, mark: re.Match[str]) -> int:
        entity = _ENTITY.match(self.string, mark.start())
        if entity is None:
            return self._plain(mark)
        sign = html.unescape(entity[0])
        self.out.append(Piece("text", Text.at(sign, self.text.span(*entity.span()))))
        return entity.end()

    def _attributes(self, mark: re.Match[str]) -> int:
        start = mark.start()
        if gone := _ATTRIBUTES.match(self.string, start):
            return gone.end()
        role = _ROLE.match(self.string, start)
        if role is None or role.end() not in self._spans:
            return self._plain(mark)
        length, end = self._spans[role.end()]
        inside = self.text[role.end() + length : end - length]
        is_math = role[1] in ("math", "eq:math")
        self.out.append(
            Piece("math", commonmark.formula(inside)) if is_math else Piece("text", inside)
        )
        return end
