"""What a file may say to harm whoever reads the output: characters, and a walkthrough of them."""

from __future__ import annotations

import unicodedata

#: Characters that steer a terminal, turn the direction of text, hide it or end a line.
FORBIDDEN = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *"\u00ad\u034f\u115f\u1160\u17b4\u180b\u180e\u200b\u200c\u200d\u2060\u2064\u3164\ufe00\ufeff\uffa0",
    *"\u2028\u2029\ufff9\U000e0001\U000e0041\U000e0100\ud800\udcff",
]


def steering(text: str) -> set[str]:
    """The characters of an output that no output may have, besides ends of lines."""
    unseen = {c for c in FORBIDDEN if c != "\n"}
    return {
        c for c in text if c in unseen or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    } - {"\n"}


#: One text with everything that could be live somewhere.
TEXT = (
    "\x1b]0;owned\x07\x1b[31mred \x9b2J\r\nALL FIGURES HOLD\n::error file=x::forged\n"
    "\u202egnp.\u2066 \u200b\u2028# heading | cell | [link](http://evil.example) "
    "![image](http://evil.example/i.png) @everyone #1 <script>alert(1)</script> **b** _i_ `c` "
    "www.evil.example a@evil.example &lt; 100% a,b:c \\input{x} $x^2$ {0} \U000e0041"
)


_CODE = "\\U"


def quoted(text: str) -> str:
    """Text as TOML has it."""
    plain = {c for c in text if " " <= c <= "~"} - set('"\\')
    return f'"{"".join(c if c in plain else f"{_CODE}{ord(c):08x}" for c in text)}"'


#: A walkthrough in which every text is that, some figures wrong, some statements.
CASE = f"""\
title = {quoted(TEXT)}
source = {quoted(TEXT)}
note = {quoted(TEXT)}
tokens = [{quoted(TEXT)}, {quoted("[1]" + TEXT)}]

[given]
X_ = [[1, 0.5], [0, 2]]
_ = 2
_x = 3
W__ = [[1, 0], [1, 1]]

[steps]
Q_ = "X_ @ W__ * _"
A_ = {quoted("softmax(Q_" + chr(0x2028) + "/ _x)")}

[[claims]]
where = {quoted(TEXT)}
of = {quoted("Q_" + chr(0x2029) + " + 0")}
printed = [[3.1, 1], [4, 4]]

[[claims]]
where = {quoted("[-20mm]" + TEXT)}
of = "A_"
printed = [[0.70, 0.30], ["0.9", 0.5]]

[[claims]]
where = {quoted("* " + TEXT)}
holds = {quoted("A_[0, 0]" + chr(0x85) + "== 1")}

[[unchecked]]
where = {quoted("[2cm] " + TEXT)}
what = {quoted(TEXT)}
reason = {quoted(TEXT)}
"""
