r"""Text as tokens: one scanner for LaTeX and for mathematics in plain text.

In LaTeX letters stand for themselves and commands have meaning; in plain text
words do. What only says how a formula looks is passed over here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from symattn.documents.notation.vocabulary import (
    ABOUT,
    DEGREES,
    FUNCTIONS,
    LOWERED,
    PAIRS,
    RAISED,
    SCALES,
    SIGNS,
    is_prime,
    may_be_word,
    straight,
)
from symattn.spelling import DECIMAL, EITHER, GREEK, MINUSES, POWER_OF_TEN


class UnreadNotation(Exception):
    """Tokens that make no tree of the grammar."""


class NotationTooLong(UnreadNotation):
    """An expression that is longer than one is read."""


class NotationToken(NamedTuple):
    """A token: its kind, its text in one spelling, its characters, and whether blanks
    stand before it.

    Kinds: ``number``, ``name`` (letters that are one name), ``words`` (several, or one
    that joins), ``operator``, ``relation`` (links), ``inequality``, ``open``, ``close``
    (brackets, braces and environments), ``separator``, ``script`` (``_ ^``), ``prime``,
    ``condition``, ``cell`` (``&``), ``row``, ``dots``, ``command``, ``other``.
    """

    kind: str
    text: str
    start: int
    end: int
    spaced: bool = False


#: Stands where there is no token.
END = NotationToken("", "", -1, -1)

_NUMBER = rf"(?:[0-9]++{EITHER}[0-9]++|{DECIMAL}(?:{POWER_OF_TEN}(?![A-Za-z0-9]))?+)"
#: Numbers with groups of three digits, or with more dots than a number has.
_GROUPS = (
    r"(?<![0-9],)[1-9][0-9]{0,2}(?:(?:,[0-9]{3})++(?:\.[0-9]++)?+(?![0-9,])"
    r"|(?:['’\u2009\u202f\xa0_][0-9]{3})++(?![0-9])(?:[.,][0-9]++)?+)"
)
_DOTTED = r"[0-9]++(?:\.[0-9]++){2,}+"
_SIGNS = r"==>|-->|\.\.\.|:=|==|~=|->|=>|<=|>="
#: The size of what is named before it, ``Q (3 × 2) = ...``: not the argument of a function.
_NO_CALL = "".join(rf"(?<!\b{name})" for name in FUNCTIONS)
_SHAPE = r"\([0-9]{1,4}[ ]?+[×x][ ]?+[0-9]{1,4}\)(?=[ ]*+(?::|=(?!=)|≈))"
_SIZE = rf"(?<=\w)(?:[ ]|{_NO_CALL}){_SHAPE}"
_FUNCTION = rf"(?:{'|'.join(FUNCTIONS)})\b"
_PLAIN = re.compile(
    rf"""(?P<space>{_SIZE}|\s++)
    |(?P<address>(?:https?://|www\.)[^\s)\]}}>]++)
    |(?P<groups>{_GROUPS})
    |(?P<dotted>{_DOTTED})
    |(?P<number>{_NUMBER})
    |(?P<gradient>d[Ll]oss(?=\s*+/\s*+d)|dL(?=\s*+/\s*+d))
    |(?P<short>(?:[A-Za-z]|{"|".join(GREEK)})(?=_[A-Za-z0-9]++(?![A-Za-z0-9_\[]))|(?:softmax|sum|max|min|log|exp)(?=_[a-z0-9](?![A-Za-z0-9_])))
    |(?P<word>[A-Za-z]*+[À-ÖØ-öø-ɏ][A-Za-zÀ-ÖØ-öø-ɏ]++|[A-Za-z]++[À-ÖØ-öø-ɏ])
    |(?P<name>(?:[A-Za-z]|(?<![^\s(\[{{,=:])_++(?=[A-Za-z]))[A-Za-z0-9]*+(?:_++[A-Za-z0-9]++)*+(?:['’][A-Za-z]++)?+)
    |(?P<hyphen>(?<=[A-Za-z0-9])[-‐‑](?=[A-Za-z]{{2}})(?!{_FUNCTION}))
    |(?P<lowered>[{"".join(LOWERED)}]++)
    |(?P<raised>[{"".join(RAISED)}]++)
    |(?P<command>\\[A-Za-z]++\*?|\\.)
    |(?P<signs>{_SIGNS})
    |(?P<char>.)""",
    re.VERBOSE | re.DOTALL,
)
_LATEX = re.compile(
    rf"""(?P<space>\s++)
    |(?P<comment>(?<![0-9])%[^\n]*+\n?+)
    |(?P<groups>[0-9]{{1,3}}(?:(?:\{{,\}}|\\[,;:\ ]|~)[0-9]{{3}}(?![0-9]))++(?:\.[0-9]++)?+
        |(?<![\w{{(\[,.])[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})++(?:\.[0-9]++)?+(?![0-9,}})\]]))
    |(?P<comma>[0-9]++\{{,\}}[0-9]++)
    |(?P<dotted>{_DOTTED})
    |(?P<number>{_NUMBER})
    |(?P<environment>\\(?:begin|end)\s*+\{{[A-Za-z]++\*?+\}})
    |(?P<lowered>[{"".join(LOWERED)}]++)
    |(?P<raised>[{"".join(RAISED)}]++)
    |(?P<command>\\[A-Za-z]++\*?|\\.)
    |(?P<name>[A-Za-z]++)
    |(?P<signs>{_SIGNS})
    |(?P<char>.)""",
    re.VERBOSE | re.DOTALL,
)
#: A run of letters in LaTeX that is one name: a word, a gradient's.
_WORD = re.compile(r"[A-Za-z][a-z]{2,}|d[A-Z]|[A-Z][a-z]+[A-Z][a-zA-Z]+")
_AMONG = re.compile(rf"(?<![A-Za-z0-9_.]){_NUMBER}")
_MINUS = re.compile(f"[{MINUSES}]")
#: Commas that may be those of a list, and no marks of thousands.
_LISTED = re.compile("[0-9]++,")
#: The ends of a range in prose, and words before what is a change instead.
_RANGE = re.compile(
    rf"(?P<least>{DECIMAL})%?+"
    r"(?:(?P<dash>-|[ ]?–[ ]?)|[ ]++(?:to|bis|through|(?P<and>and|und))[ ]++)"
    rf"(?P<most>{DECIMAL})%?+(?![\w.]*[0-9])"
)
_CHANGES = re.compile(r"(?i)(?<!\w)(?!rang|var)\w*+[ ]from[ ]++\Z|\bround\w*+\b[^.]*+\Z")
#: A number whose power of ten is part of it, whatever stands before it.
_SCIENTIFIC = re.compile(r"[1-9]\.[0-9]++")
#: What stands beside a range: words or signs of equality, not what would compute with it.
_BEFORE = re.compile(r"(?:\A|[=≈:~,]|[^\W\d_][ ])[ ]*+\(?\Z")
_BEHIND = re.compile(r"\)?+[ ]*+(?:[.,;:!?]|[^\W\d_]|\Z)")
_BETWEEN = re.compile(r"(?i)\b(?:between|zwischen)[ ]++\Z")
#: A letter between numbers that multiplies, where something comes of it: "7 x 4/3 = 9.33".
_TIMES = re.compile(r"(?<=[\d)] )x(?= [-−]?[\d(.][^\n]{0,80}[=≈])")
#: A slash between settings: "k=10/p=0.9".
_PARTS = re.compile(r"(?<=[0-9])/(?=[^\W\d]\w{0,20}=[0-9.])")
_EXPONENT = re.compile("-?[0-9]{1,4}")
_POINT = re.compile(r"\.(?=[\s,\]]|\Z)")


def numbers_in(words: NotationToken) -> Iterator[tuple[int, str]]:
    """The numbers among the words of a token, and where they begin."""
    for match in _AMONG.finditer(words.text):
        yield words.start + match.start(), match[0].replace(EITHER, ",")


def plain_tokens(string: str, prose: bool = False) -> list[NotationToken]:
    """The tokens of a line of plain text; in ``prose`` 0.2-0.4 is a range, which
    claims neither number.

    >>> [token.text for token in plain_tokens("S = Q·Kᵀ/√d_k")]
    ['S', '=', 'Q', '·', 'K', '^', '{', 'T', '}', '/', '\\\\sqrt', 'd', '_', 'k']
    """
    return list(as_numbers(list(scanned(straight(string), latex=False, prose=prose))))


def scanned(string: str, latex: bool, prose: bool = False) -> Iterator[NotationToken]:
    """Tokens as they stand, those that only say how a formula looks among them."""
    pattern = _LATEX if latex else _PLAIN
    spaced, depth = False, 0
    at, end = 0, len(string)
    while at < end:
        match = pattern.match(string, at)
        assert match is not None  # any character is one
        kind, text, start = match.lastgroup or "", match[0], at
        at = match.end()
        if kind in ("space", "comment"):
            spaced = True
            continue
        if kind == "char" and text in "[]":
            depth += 1 if text == "[" else -1
        if depth > 0 and not latex and _LISTED.match(text) and ",0" not in text:
            # Between brackets commas separate.
            kind, text = "number", text.partition(",")[0]
            at = start + len(text)
        if kind == "number" and prose and (between := _RANGE.match(string, start)):
            if _is_range(between):
                kind, text, at = "dotted", between[0], between.end()
        elif kind == "number" and depth > 0 and text.isdigit() and _POINT.match(string, at):
            # As programs print arrays: "[1. 0.]".
            text, at = text + ".", at + 1
        yield from _tokens(NotationToken(kind, text, start, at, spaced), latex, string)
        spaced = False


def _tokens(found: NotationToken, latex: bool, string: str) -> Iterator[NotationToken]:
    """Yield what one match becomes."""
    kind, text, start, end, spaced = found
    match kind:
        case "number":
            yield found._replace(text=_MINUS.sub("-", text).replace(EITHER, ","))
        case "groups":
            if text.count("{,}") == 1 and re.fullmatch("[0-9{},]++", text):
                # A decimal comma, or one between thousands: both are in use.
                text = text.replace("{,}", ",")
            else:
                whole, comma, part = text.rpartition(",")
                is_decimal = comma and re.search("['’\u2009\u202f\xa0]", whole)
                text = f"{whole}.{part}" if is_decimal else text
                text = re.sub("[^0-9.]", "", text)
            yield found._replace(kind="number", text=text)
        case "comma":
            yield found._replace(kind="number", text=text.replace("{,}", "."))
        case "dotted" | "address" | "hyphen":
            yield found._replace(kind="other")
        case "gradient":
            yield NotationToken("command", "∂", start, start + 1, spaced)
            yield NotationToken("name", text[1:], start + 1, end)
        case "name" if latex:
            yield from _letters(found)
        case "name" | "short" | "word" if not latex and _TIMES.match(string, start):
            yield from _sign(found._replace(kind="char", text="×"), latex, string)
        case "name" | "short" | "word":
            yield found._replace(kind="name")
        case "environment":
            name, opens = text[text.index("{") + 1 : -1].rstrip("*"), text.startswith(r"\b")
            yield NotationToken("open" if opens else "close", rf"\{name}", start, end)
        case "lowered" | "raised":
            # A script, whose sign and braces have no width.
            letters = LOWERED if kind == "lowered" else RAISED
            yield NotationToken("script", "_" if kind == "lowered" else "^", start, start, spaced)
            yield NotationToken("open", "{", start, start)
            for sign in re.finditer("[0-9]+|.", "".join(map(letters.__getitem__, text))):
                yield _script(sign[0], start + sign.start(), start + sign.end())
            yield NotationToken("close", "}", end, end)
        case _:
            yield from _sign(found, latex, string)


def _letters(run: NotationToken) -> Iterator[NotationToken]:
    """A run of letters in LaTeX: one name, or each a name of its own."""
    if run.text in FUNCTIONS or run.text == "Attention" or _WORD.fullmatch(run.text):
        yield run
        return
    for at, letter in enumerate(run.text, run.start):
        yield NotationToken("name", letter, at, at + 1, run.spaced and at == run.start)


def _sign(found: NotationToken, latex: bool, string: str) -> Iterator[NotationToken]:
    """A command, an operator or any other character."""
    text = found.text
    over, slash, under = unicodedata.normalize("NFKC", text).partition("\u2044")
    if slash and under:
        # "½" is a number by another two.
        start, end = found.start, found.end
        yield NotationToken("open", "(", start, start, found.spaced)
        yield NotationToken("number", over, start, start)
        yield NotationToken("operator", "/", start, start)
        yield NotationToken("number", under, start, end)
        yield NotationToken("close", ")", end, end)
        return
    kind, spelt = SIGNS.get(text, ("", text))
    if _PARTS.match(string, found.start) and not latex:
        kind, spelt = "separator", ","
    elif kind == "prime" and not (latex or len(text) > 1 or is_prime(string, found.start)):
        kind = "other"
    elif kind == "blank" and latex:
        return
    elif not kind and text[0] == "\\":
        kind = "command" if len(text) > 1 else "other"
    elif not kind:
        # A letter with an accent is a name, one of another alphabet is not.
        is_letter = text.isalpha() and unicodedata.normalize("NFD", text)[0].isascii()
        kind = "name" if is_letter else "other"
    yield found._replace(kind=kind, text=spelt)


def _script(text: str, start: int, end: int) -> NotationToken:
    """A raised or lowered number, sign or letter."""
    kind = "number" if text.isdigit() else "operator" if text in "+-" else "name"
    return NotationToken(kind, text, start, end)


def _is_range(match: re.Match[str]) -> bool:
    """Return whether two numbers are the ends of a range, and not a difference or a change."""
    if float(match["least"]) >= float(match["most"]):
        return False
    (start, end), string = match.span(), match.string
    before, after = string[max(start - 40, 0) : start], string[end : end + 40]
    if match["dash"]:
        return bool(_BEFORE.search(before) and _BEHIND.match(after))
    return (match["and"] is None or _BETWEEN.search(before) is not None) and not (
        _CHANGES.search(before)
    )


def as_numbers(tokens: Sequence[NotationToken]) -> Iterator[NotationToken]:
    """Tokens with ``3.07×10²³`` as the one number that it is, and words that say "about"
    as the sign."""
    at, before = 0, END
    while at < len(tokens):
        token, end = tokens[at], at + 1
        if token.kind == "number" and before.kind != "script":
            is_whole = before.text != "/" or _SCIENTIFIC.fullmatch(token.text)
            power = _power_of_ten(tokens, end) if is_whole else None
            if power:
                end, exponent = power
                # "720 million" may well be rounded to its zeros.
                is_round = end == at + 2 and "." not in token.text
                digits = (is_round and token.text.rstrip("0")) or token.text
                written = f"{digits}e{int(exponent) + len(token.text) - len(digits)}"
                token = token._replace(text=written, end=tokens[end - 1].end)
            end += _degrees(tokens, end)
        elif is_about := _is_about(tokens, at, before):
            end += is_about - 1
            token = token._replace(kind="relation", text="≈")
        yield token
        at, before = end, token


def _power_of_ten(tokens: Sequence[NotationToken], at: int) -> tuple[int, str] | None:
    """Return where a power of ten behind a number ends, "million" as well, and its exponent."""
    texts = [token.text for token in tokens[at : at + 7]]
    if texts and (power := SCALES.get(texts[0].strip().lower())):
        return at + 1, power
    if texts[:1] not in (["×"], ["·"], ["*"]) or texts[1:3] != ["10", "^"]:
        return None
    is_braced = texts[3:4] in (["{"], ["("])
    first = 3 + is_braced
    end = first + (texts[first : first + 1] == ["-"]) + 1
    exponent = "".join(texts[first:end])
    is_closed = not is_braced or texts[end : end + 1] in (["}"], [")"])
    return (at + end + is_braced, exponent) if is_closed and _EXPONENT.fullmatch(exponent) else None


def _degrees(tokens: Sequence[NotationToken], at: int) -> int:
    """Return how many tokens are a sign of degrees, before a bracket that closes."""
    texts = [token.text.strip() for token in tokens[at : at + 5]]
    return next((k for k in range(len(texts)) if "".join(texts[: k + 1]) in DEGREES), 0)


def _is_about(tokens: Sequence[NotationToken], at: int, before: NotationToken) -> int:
    """Return how many tokens say that the number behind them is only about right; 0 for none."""
    token = tokens[at]
    is_sign = token.text in ("~", r"\sim")
    if not is_sign and token.text.strip().lower() not in ABOUT:
        return 0
    following = tokens[at + 1 : at + 4]
    # "approx." has a point of its own.
    count = 1 + bool(following and following[0].text == "." and not following[0].spaced)
    number = [one.kind for one in following[count - 1 :] if one.text != "-"][:1]
    is_letter = before.kind in ("close", "number") or (
        before.kind == "name" and not may_be_word(before.text)
    )
    is_beside = before.kind == "relation" or before.text == ":" or (is_sign and is_letter)
    return count if is_beside and number == ["number"] else 0


def matched(tokens: Sequence[NotationToken]) -> list[int]:
    """For each bracket the place of its partner, -1 where it has none, and for the rest."""
    partners = [-1] * len(tokens)
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(at)
        elif token.kind == "close":
            hard = token.text == "}" or (token.text[0] == "\\" and token.text != r"\}")
            while opened and hard and not _is_pair(tokens[opened[-1]].text, token.text):
                opened.pop()
            if opened and _is_pair(tokens[opened[-1]].text, token.text):
                partners[at] = opened[-1]
                partners[opened.pop()] = at
            elif opened and not hard and tokens[opened[-1]].text in ("(", "["):
                opened.pop()
    return partners


def _is_pair(opening: str, closing: str) -> bool:
    return PAIRS.get(opening, opening) == closing


def outside(partners: Sequence[int], start: int, end: int) -> Iterator[int]:
    """The places of a range that stand in no brackets, nor are one."""
    while start < end:
        if partners[start] > start:
            start = partners[start]
        else:
            yield start
        start += 1


def cut(
    tokens: Sequence[NotationToken],
    partners: Sequence[int],
    start: int,
    end: int,
    kind: str,
    signs: str | None = None,
) -> list[tuple[int, int]]:
    """A range cut at the tokens of a kind, of certain ``signs``, that stand in no brackets."""
    places = [
        at
        for at in outside(partners, start, end)
        if tokens[at].kind == kind and (signs is None or tokens[at].text in signs)
    ]
    return list(zip([start, *(place + 1 for place in places)], [*places, end], strict=True))
