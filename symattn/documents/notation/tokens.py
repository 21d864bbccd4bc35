r"""Text as tokens: one scanner for LaTeX and for mathematics in plain text.

In LaTeX letters stand for themselves and commands have meaning; in plain text
words do. What only says how a formula looks is passed over here, and so are environments
that only lay equations out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from symattn.documents.notation.vocabulary import (
    ABOUT,
    ARROWS,
    BRACES,
    DEGREES,
    FUNCTIONS,
    IGNORED,
    LAYOUTS,
    LOWERED,
    MATRICES,
    PAIRS,
    RAISED,
    SCALES,
    SIGNS,
    STACKED,
    STYLES,
    UNSHOWN,
    UPRIGHT,
    WITH_ARGUMENT,
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
#: Versions, and dates.
_DOTTED = (
    r"[0-9]++(?:\.[0-9]++){2,}+|(?<![\w.])(?:19|20)[0-9]{2}-[01]?[0-9]-[0-3]?[0-9](?![\w-]|\.[0-9])"
)
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


# -- LaTeX without what only says how it looks ---------------------------------------------

_UPRIGHT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*+")
#: Tokens of the label of a brace, at most.
_LABEL = 60
_SPACING = re.compile(r"\[\s*+-?[0-9.]++\s*+(?:pt|em|ex|mm|cm|in|px|mu)\s*+\]")


def latex_tokens(string: str) -> list[NotationToken]:
    r"""The tokens of a formula, without what says only how it looks.

    >>> [token.text for token in latex_tokens(r"\mathbf{Q}K^\top \approx \left[0.50\right]")]
    ['Q', 'K', '^', '⊤', '≈', '[', '0.50', ']']
    """
    return list(as_numbers(_shown(list(scanned(straight(string), latex=True)), string)))


def _shown(tokens: list[NotationToken], string: str) -> list[NotationToken]:
    """The tokens of LaTeX without those that only say how it looks."""
    partners = matched(tokens)
    gone = bytearray(len(tokens))
    kept: list[NotationToken] = []
    #: Labels of braces, which are read behind the formula.
    labels: list[NotationToken] = []
    braced: set[int] = set()
    spaced = False
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if gone[at - 1]:
            continue
        text = token.text
        if token.kind != "command":
            if text == "{" and _is_bare(tokens, gone, at - 1, partners[at - 1]):
                # "{=}" and "{W}_Q" group nothing.
                gone[partners[at - 1]] = 1
                continue
            if at - 1 in braced and at + 1 < len(tokens) and tokens[at].kind == "script":
                label = partners[at + 1]
                kept.append(token)
                if 0 < label - at <= _LABEL:
                    labels.append(NotationToken("separator", "quad", token.end, token.end))
                    labels.extend(_shown(tokens[at + 2 : label], string))
                    at = label + 1
                continue
            if token.kind == "row" and (spacing := _SPACING.match(string, token.end)):
                while at < len(tokens) and tokens[at].start < spacing.end():
                    at += 1
            if token.kind == "open" and text[1:] in WITH_ARGUMENT:
                at = _after_arguments(tokens, partners, at, 1)
            kept.append(token._replace(spaced=token.spaced or spaced))
            spaced = False
        elif text in IGNORED:
            spaced = True
            if text in (r"\left", r"\right") and at < len(tokens) and tokens[at].text == ".":
                at += 1
        elif text in UNSHOWN:
            at = _after_arguments(tokens, partners, at, UNSHOWN[text])
        elif text in STACKED:
            at = _after_arguments(tokens, partners, at, 1)
            _flatten(tokens, partners, gone, at)
        elif text in ARROWS:
            end = _after_arguments(tokens, partners, at, 1)
            shown = _shown(tokens[_after_arguments(tokens, partners, at, 0) + 1 : end - 1], string)
            at = end
            link = token._replace(kind="relation", text=ARROWS[text])
            if shown and shown[0].kind == "operator":
                # What is done to it: the arrow leads from what comes of that.
                kept += [*shown, link]
            elif shown and link.text != "=":
                first, last = shown[0].start, shown[-1].end
                kept.append(NotationToken("words", string[first:last], first, last))
            else:
                kept.append(link)
        elif text in BRACES:
            if at < len(tokens):
                braced.add(partners[at])
        elif text in STYLES:
            _flatten(tokens, partners, gone, at)
        elif text in UPRIGHT:
            if end := _closing(tokens, partners, at):
                inner = string[tokens[at].end : tokens[end].start]
                behind = tokens[end + 1].kind if end + 1 < len(tokens) else "row"
                is_unit = inner[:1].isspace() and bool(kept) and kept[-1].kind == "number"
                if is_unit and behind in ("relation", "separator", "row", "other"):
                    # "0.63 bits" is no product.
                    kept.append(NotationToken("words", inner, tokens[at].end, tokens[end].start))
                else:
                    kept.extend(_upright(inner, tokens, at, end, token))
                at = end + 1
        elif text in (r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"):
            kept.append(token._replace(text=r"\frac", spaced=token.spaced or spaced))
            spaced = False
            while at < len(tokens) and tokens[at].kind == "number":
                # \frac12 is a half.
                number = tokens[at]
                kept.extend(
                    NotationToken("number", digit, number.start + i, number.start + i + 1)
                    for i, digit in enumerate(string[number.start : number.end])
                )
                at += 1
        else:
            kept.append(token._replace(spaced=token.spaced or spaced))
            spaced = False
    return kept + labels


def _is_bare(tokens: Sequence[NotationToken], gone: bytearray, opening: int, closing: int) -> bool:
    """Return whether braces hold one sign or less, and are no argument."""
    before = tokens[opening - 1].kind if opening and not gone[opening - 1] else ""
    if before in ("script", "command", "close"):
        return False
    if closing == opening + 1:
        return True
    return closing == opening + 2 and tokens[opening + 1].kind in ("name", "relation", "operator")


def _flatten(
    tokens: Sequence[NotationToken], partners: Sequence[int], gone: bytearray, at: int
) -> None:
    """Pass over the braces of a style's argument."""
    if end := _closing(tokens, partners, at):
        gone[at] = gone[end] = 1


def _after_arguments(
    tokens: Sequence[NotationToken], partners: Sequence[int], at: int, count: int
) -> int:
    """The place behind some arguments, and an option before them."""
    for bracket in ("[", *"{" * count):
        if end := _closing(tokens, partners, at, bracket):
            at = end + 1
    return at


def _closing(
    tokens: Sequence[NotationToken], partners: Sequence[int], at: int, bracket: str = "{"
) -> int:
    """The partner of a bracket that opens at a place; 0 where none does."""
    return max(partners[at], 0) if at < len(tokens) and tokens[at].text == bracket else 0


def _upright(
    inner: str, tokens: Sequence[NotationToken], opening: int, closing: int, command: NotationToken
) -> Iterator[NotationToken]:
    """Upright letters: a name, a number, or words."""
    start, end = tokens[opening].end, tokens[closing].start
    left = len(inner) - len(inner.lstrip())
    stripped = inner.strip().replace(r"\_", "_")
    spaced = command.spaced
    # " e " and " y " between blanks are words, of other languages.
    is_word = len(stripped) <= 2 and inner[:1].isspace() and inner[-1:].isspace()
    if _UPRIGHT_NAME.fullmatch(stripped) and not is_word:
        yield NotationToken("name", stripped, start + left, start + len(inner.rstrip()), spaced)
    elif re.search("[A-Za-z]", stripped) and not re.search(r"[\\^_]|[0-9]\s*+[-+*/=]", stripped):
        yield NotationToken("words", inner, start, end, spaced)
    else:
        yield from tokens[opening + 1 : closing]


# -- environments that lay equations out ---------------------------------------------------
# Rows that go on, equations side by side.


def laid_flat(tokens: list[NotationToken]) -> list[NotationToken]:
    r"""Tokens without the environments that lay equations out: rows that begin an
    equation are kept apart, those that go on are not.
    """
    tokens = _by_columns(tokens)
    partners = matched(tokens)
    flat: list[NotationToken] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if _has_cases(tokens, partners, at, flat):
            end = partners[at]
            if flat[-1].text == r"\{":
                flat.pop()
            flat.append(token._replace(text=r"\cases"))
            flat.extend(tokens[at + 1 : end])
            flat.append(tokens[end]._replace(text=r"\cases"))
            at = end + 1
            continue
        if (
            token.kind in ("open", "close")
            and partners[at] >= 0
            and _lays_out(tokens, partners, at)
        ):
            if token.kind == "open" and flat and flat[-1].text == r"\{":
                flat.pop()
        elif token.kind == "row":
            following = at + 1
            aligned = False
            while following < len(tokens) and (
                tokens[following].kind == "cell" or tokens[following].text == "quad"
            ):
                aligned = True
                following += 1
            if not _continues(flat, tokens[following : following + 1], aligned):
                flat.append(token)
            at = following
            continue
        elif token.kind == "cell":
            beside = [flat[-1:], tokens[at + 1 : at + 2]]
            kinds = {neighbour[0].kind for neighbour in beside if neighbour}
            if flat and not kinds & {"relation", "separator", "row", "cell", "operator"}:
                flat.append(token._replace(kind="separator", text="quad"))
        elif partners[at] > at:
            flat.extend(tokens[at : partners[at] + 1])
            at = partners[at]
        elif token.text == "quad" and (
            (flat and flat[-1].kind == "operator")
            or [one.kind for one in tokens[at + 1 : at + 3]] == ["operator", "separator"]
            or [one.text for one in tokens[at + 1 : at + 2]] in (["×"], ["*"], ["·"], ["/"])
        ):
            # Beside an operator a wide space parts no formulas; one before a sign may.
            pass
        else:
            flat.append(token)
        at += 1
    return flat


def _has_cases(
    tokens: Sequence[NotationToken],
    partners: Sequence[int],
    at: int,
    before: Sequence[NotationToken],
) -> bool:
    r"""Return whether an environment that begins there tells cases of what stands before it: by its
    name, or as a brace opens before it that nothing closes, ``m = \left\{\begin{aligned}``."""
    name, end = tokens[at].text[1:], partners[at]
    if tokens[at].kind != "open" or end < at or all(one.text == r"\{" for one in before):
        return False
    is_closed = any(one.text == r"\}" for one in tokens[end + 1 : end + 2])
    is_braced = before[-1].text == r"\{" and not is_closed
    return name.endswith("cases") or (is_braced and (name in LAYOUTS or name in MATRICES))


def _lays_out(tokens: Sequence[NotationToken], partners: Sequence[int], at: int) -> bool:
    """Return whether an environment that begins or ends there holds equations: also an array that
    has signs of equality in its cells."""
    name = tokens[at].text[1:]
    if name in LAYOUTS or name != "array":
        return name in LAYOUTS
    inside = outside(partners, min(at, partners[at]) + 1, max(at, partners[at]))
    return any(tokens[place].kind == "relation" for place in inside)


def _continues(before: list[NotationToken], following: list[NotationToken], aligned: bool) -> bool:
    """Return whether a row goes on with the equation of the row before."""
    if before and before[-1].kind in ("relation", "operator"):
        return True
    if not following or not before:
        return False
    token = following[0]
    if token.kind == "relation":
        return token.text != "⇒"
    return token.kind == "operator" and (aligned or token.text not in "+-")


def _by_columns(tokens: list[NotationToken]) -> list[NotationToken]:
    """Tokens with the equations that stand side by side one after the other: those of
    the first two cells of each row, then those of the next."""
    partners = matched(tokens)
    ordered: list[NotationToken] = []
    copied = 0
    for opening, token in enumerate(tokens):
        closing = partners[opening]
        if opening < copied or closing < opening or token.text[1:] not in LAYOUTS:
            continue
        ranges = cut(tokens, partners, opening + 1, closing, "row")
        rows = [cut(tokens, partners, *row, "cell") for row in ranges]
        if token.text[1:].endswith("cases") or max(map(len, rows)) < 3:
            continue
        ordered += tokens[copied : opening + 1]
        for column in range(0, max(map(len, rows)), 2):
            for row in rows:
                for start, end in row[column : column + 2]:
                    ordered += [_CELL, *tokens[start:end]]
                ordered.append(_ROW)
        copied = closing
    return ordered + tokens[copied:]


_CELL, _ROW = NotationToken("cell", "&", -1, -1), NotationToken("row", "", -1, -1)
