r"""Text that came from a file, made harmless for each kind of output.

What a file says is text: it steers no terminal, hides nothing, forges no line, and is no mark-up.
Each output has one function here; everything that is printed goes through the one of its output.
"""

from __future__ import annotations

import json
import re
from typing import Any
from unicodedata import category, normalize

#: Letters that Unicode counts as printable, and that nobody sees: joiners,
#: fillers, selectors. Those that choose between the faces of an emoji stay.
_unseen = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)


def is_hidden(c: str) -> bool:
    r"""Return whether a character steers or hides text instead of showing itself:
    controls, marks of direction, zero widths, separators of lines, half of a
    pair of surrogates, and what no standard knows.

    >>> [is_hidden(c) for c in "a\u00e9\u732b \u00a0"], [is_hidden(c) for c in "\x1b\n\u202e\u200b"]
    ([False, False, False, False, False], [True, True, True, True])
    """
    # To Python no blank is printable but that of the keyboard.
    return _unseen.match(c) is not None if c.isprintable() else category(c) != "Zs"


def visible(text: str) -> str:
    r"""Text as one line that can't steer a terminal: what is hidden, by its code.

    >>> print(visible("red \x1b[31m\n\u202e"))
    red \x1b[31m\n\u202e
    """
    return "".join(c.encode("unicode_escape").decode() if is_hidden(c) else c for c in text)


#: Where an address begins; one slash is left of a path's, and elsewhere may be in a password.
_SCHEME, _AS_PATH = re.compile(r"(?<=\w\w)(://+)"), re.compile(r"(?<=\w\w)(:/)")
#: What it says of whoever asks: up to the last @ before a path, or, where there may be a
#: password with a slash in it, up to the last of all; and what it asks for.
_WHO = re.compile(r"\A(?:[^/?#:\s]*|[^/?#\s]*:\S*)@")
_ASKED = re.compile(r"(?<=[?#])\S+")


def without_secrets(text: str) -> str:
    """Text without what addresses in it say beside hosts and paths: names, passwords and tokens
    of whoever asks, and what stands behind a question mark.

    >>> without_secrets("s3://me:secret@host/posts/a.md?token=abc can't be read")
    "s3://***@host/posts/a.md?*** can't be read"
    """
    return re.sub(r"\S+", _without_secrets, text)


def _without_secrets(run: re.Match[str]) -> str:
    """Return a run without blanks, which end an address."""
    first, *pieces = _SCHEME.split(run[0])
    pieces = [*_AS_PATH.split(first), *pieces]
    pieces[2::2] = (_ASKED.sub("***", _WHO.sub("***@", piece)) for piece in pieces[2::2])
    return "".join(pieces)


def json_text(data: Any) -> str:
    r"""Plain data as JSON, what is hidden by its code.

    Half of a pair of surrogates, which is no text, is told as text that names it.

    >>> print(json_text(["caf\u00e9", "\x9b\u202e\U000e0041", "\udcff"]))
    [
      "café",
      "\u009b\u202e\udb40\udc41",
      "\\udcff"
    ]
    """
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    return "".join(_json_code(c) if c != "\n" and is_hidden(c) else c for c in text)


def _json_code(c: str) -> str:
    if 0xD800 <= ord(c) <= 0xDFFF:
        return rf"\\u{ord(c):04x}"
    return json.dumps(c)[1:-1] if ord(c) != 0x7F else r"\u007f"


#: What makes a formula of a cell; nothing makes none.
_FORMULA = ("=", "+", "-", "@", "\N{MINUS SIGN}")


def spreadsheet(text: str) -> str:
    """Text as a cell of a table in CSV: no spreadsheet takes it for a formula.

    >>> spreadsheet("=1+1"), spreadsheet("\uff1d1"), spreadsheet("Ada")
    ("'=1+1", "'＝1", 'Ada')
    """
    # What is hidden is a code by now; signs of full width are read like those of the keyboard.
    plain = visible(text)
    return f"'{plain}" if normalize("NFKC", plain).lstrip()[:1] in _FORMULA else plain


def annotation(text: str) -> str:
    r"""The message of a GitHub annotation.

    >>> print(annotation("50%\n::error::"))
    50%25%0A::error::
    """
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" else visible(c) for c in text)


def annotation_property(text: str) -> str:
    """A property of a GitHub annotation, such as its file.

    >>> annotation_property("a,b:c")
    'a%2Cb%3Ac'
    """
    return annotation(text).replace(":", "%3A").replace(",", "%2C")


def log_message(text: str) -> str:
    """The message of a SARIF log, where ``[text](address)`` would be a link.

    >>> log_message("[x](http://y)")
    '[x] (http://y)'
    """
    return visible(text).replace("](", "] (")


#: Words that Markdown's readers make links of, wherever they stand: addresses,
#: people, numbers of issues. No escape keeps them from that, but code does.
_LIVE = re.compile(r"[^\s|`]*(?:[@#]|://|www\.|gh-[0-9])[^\s|`]*", re.IGNORECASE)
#: What is mark-up: neither a low line between letters, as in d_k, nor a star
#: between blanks, nor brackets that no address or name follows, and that name no address.
_MARKS = re.compile(r"[\\`<|~$&]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])|(?<!\s)\*|\*(?!\s)")
#: What would make the beginning of a line a heading, a list or a quotation.
_BEGINNING = re.compile(r"\A([0-9]+(?=[.)](\s|\Z))|(?=[-+=*>\[]))")


def markdown(text: str) -> str:
    r"""Text as Markdown that shows it as it is, inside a line or a table.

    >>> print(markdown("*3.4*, ask @author"))
    \*3.4\*, ask `@author`
    """
    pieces, done = [], 0
    plain = visible(text).strip()
    for live in _LIVE.finditer(plain):
        pieces += [_marked(plain[done : live.start()]), f"`{live[0]}`"]
        done = live.end()
    pieces.append(_marked(plain[done:]))
    return "".join(pieces)


def markdown_start(text: str) -> str:
    r"""Like :func:`markdown`, for the beginning of a line or of an item of a list.

    >>> print(markdown_start("- 3.4"), markdown_start("1. x"), markdown_start("3.4"))
    \- 3.4 1\. x 3.4
    """
    return _BEGINNING.sub(r"\1\\", markdown(text))


def _marked(text: str) -> str:
    return _MARKS.sub(r"\\\g<0>", text)


def markdown_code(text: str) -> str:
    """Text as code in a line or a table of Markdown.

    >>> print(markdown_code("A[0, 1]"), markdown_code("a`b"))
    `A[0, 1]` ``a`b``
    """
    plain = visible(text).replace("|", r"\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", plain)), default=0))
    blank = " " if plain.startswith("`") or plain.endswith("`") or not plain.strip() else ""
    return f"{fence}{blank}{plain}{blank}{fence}"


_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_QUOTES = str.maketrans({'"': "&quot;", "'": "&#39;"})


def html_text(text: str) -> str:
    """Text inside an element of HTML, on one line.

    >>> html_text("a < b\\n& c"), html_text("\\u202e")
    ('a &lt; b &amp; c', '\\\\u202e')
    """
    return visible("".join(" " if c.isspace() else c for c in text)).translate(_HTML)


def html_attribute(text: str) -> str:
    """Text inside the quotes of an attribute of HTML.

    >>> html_attribute('x" onclick="y')
    'x&quot; onclick=&quot;y'
    """
    return html_text(text).translate(_QUOTES)


def html_json(data: Any) -> str:
    """Plain data as JSON inside a script element of HTML, which no text in it can end.

    >>> html_json({"a": ["</script>&"]})
    '{"a":["\\\\u003c/script\\\\u003e\\\\u0026"]}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return "".join(rf"\u{ord(c):04x}" if c in "<>&" else c for c in text)


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "%": r"\%", "#": r"\#",
    "_": r"\_", "&": r"\&", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
}  # fmt: skip
#: Typography that LaTeX's fonts have under other names.
TYPOGRAPHY = {"–": "--", "—": "---", "…": r"\dots{}", "’": "'", "“": "``", "”": "''"}


def latex(text: str) -> str:
    r"""Text made safe for LaTeX: it prints as it is, on one line, and what steers
    or hides text is left out.

    >>> latex(r"50% of \input{x}"), latex("a\u202eb\nc")
    ('50\\% of \\textbackslash{}input\\{x\\}', 'ab c')
    """
    plain = "".join(" " if c.isspace() else "" if is_hidden(c) else c for c in text)
    return "".join(_escape_word(word) for word in re.split(r"(\s+)", plain))


#: Words with more letters, such as addresses, may break after every so many.
_LONG_WORD, _BREAK = 16, 4


def _escape_word(word: str) -> str:
    escaped = ""
    for place, c in enumerate(word):
        sign = TYPOGRAPHY.get(c) or _LATEX.get(c, c)
        if place and len(word) > _LONG_WORD and place % _BREAK == 0:
            escaped += r"\allowbreak{}"
        elif sign[0] in "-,'`" and escaped.endswith(sign[0]):
            # Two of these would be drawn as one sign.
            escaped += "{}"
        escaped += sign
    return escaped
