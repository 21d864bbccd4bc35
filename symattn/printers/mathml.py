r"""The mathematics of blocks as MathML Core.

Blocks carry LaTeX, of few words: those that :mod:`symattn.formulas`, the
printer of derivations, the definitions of the cross-check and the red pen
write. Here each of them has its element; a word that has none is a fault of
the program (:class:`Unknown`), so that no LaTeX ever stands on a page. What
browsers leave out of MathML Core (strokes, bold, alignment, rules) are
classes, which the style of :mod:`symattn.printers.html` draws.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, NoReturn

from symattn.escaping import html_text
from symattn.printers.letters import unescape


class Unknown(ValueError):
    """LaTeX that no block is meant to carry."""


_TOKEN = re.compile(r"\\operatorname\*|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "lambda": "λ",
    "mu": "μ", "pi": "π", "sigma": "σ", "tau": "τ", "theta": "θ", "omega": "ω", "phi": "ϕ",
    "rho": "ρ",
}  # fmt: skip
_IDENTIFIERS = {
    **{rf"\{name}": letter for name, letter in _GREEK.items()},
    r"\partial": "∂", r"\infty": "∞", r"\top": "⊤",
}  # fmt: skip
_OPERATORS = {
    "-": "−", "+": "+", "*": "∗", r"\cdot": "⋅", r"\odot": "⊙", r"\circ": "∘", r"\times": "×",
}  # fmt: skip
_RELATIONS = {
    "=": "=", "<": "<", ">": ">", r"\approx": "≈", r"\le": "≤", r"\leq": "≤", r"\ge": "≥",
    r"\geq": "≥", r"\ne": "≠", r"\neq": "≠", r"\to": "→",
}  # fmt: skip
_SPACES = {
    r"\,": 3, r"\;": 5, r"\ ": 4, r"\!": -3, r"\quad": 18, r"\qquad": 36,
}  # fmt: skip
_NAMES = {r"\exp", r"\log", r"\sin", r"\cos"}
_OPENING, _CLOSING = "([", ")]"
#: Signs that stand as close as letters do.
_CLOSE = "/:|!"
#: Letters that are words of LaTeX by themselves.
_MARKS = "\\{}$&#%~"
#: Signs with limits: below and above them in a display, else beside them.
_LIMITS = {
    r"\sum": "<mo>∑</mo>",
    r"\lim": '<mo movablelimits="true" lspace="0" rspace="0.17em">lim</mo>',
}
#: What only a stroke, a weight or a colour tells apart.
_CLASSES = {r"\struck": "struck", r"\correct": "correct", r"\mathbf": "bold"}


class _Item(NamedTuple):
    """An element; ``kind`` says what a sign after it, or an index, makes of it."""

    xml: str
    kind: str = "atom"


def mathml(latex: str, display: bool = False) -> str:
    r"""A formula as a ``math`` element, in a line or as a display.

    >>> mathml(r"\frac{1}{2}")
    '<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>'
    """
    block = ' display="block"' if display else ""
    return f"<math{block}>{elements(latex)}</math>"


@lru_cache(maxsize=1 << 14)
def elements(latex: str) -> str:
    r"""The elements of a formula, side by side. Raises :class:`Unknown`.

    >>> elements("-x_{0}")
    '<mo form="prefix">−</mo><msub><mi>x</mi><mn>0</mn></msub>'
    """
    reader = _Reader(latex)
    found = reader.row()
    if reader.peek():
        reader.fail()
    return "".join(item.xml for item in found)


def table(rows: list[list[str]], kind: str) -> str:
    r"""Rows of elements under one another; ``kind`` is the class that aligns them.

    >>> table([["<mi>a</mi>", "<mi>b</mi>"]], "cases")
    '<mtable class="cases"><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>'
    """
    shown = "".join(
        "<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows
    )
    style = "" if kind == "cases" else ' displaystyle="true"'
    return f'<mtable class="{kind}"{style}>{shown}</mtable>'


def _grouped(items: list[_Item]) -> str:
    """Elements as one."""
    return items[0].xml if len(items) == 1 else f"<mrow>{''.join(x.xml for x in items)}</mrow>"


class _Reader:
    """One walk over the tokens of a formula."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = _TOKEN.findall(latex)
        self.place = 0

    def fail(self) -> NoReturn:
        raise Unknown(f"no MathML for {self.peek()!r} in {self.latex!r}")

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            self.fail()
        self.place += 1
        return token

    def skip(self) -> None:
        while self.peek().isspace():
            self.place += 1

    def row(self, ends: tuple[str, ...] = ()) -> list[_Item]:
        """What stands side by side, up to one of the tokens that end it."""
        items: list[_Item] = []
        while (token := self.peek()) and token not in ends:
            if token.isspace():
                self.place += 1
            elif token in (r"\displaystyle", r"\textstyle"):
                self.place += 1
                style = str(token == r"\displaystyle").lower()
                rest = "".join(x.xml for x in self.row(ends))
                items.append(_Item(f'<mstyle displaystyle="{style}">{rest}</mstyle>'))
            elif token in "_^":
                base = items.pop() if items else _Item("<mrow></mrow>")
                items.append(self.indexed(base))
            elif token == r"\vphantom":
                # Brackets and bars grow by themselves.
                self.place += 1
                self.raw()
            elif (item := self.item(items[-1].kind if items else "")) is not None:
                items.append(item)
        return items

    def indexed(self, base: _Item) -> _Item:
        """A base with what stands below and above it."""
        below = above = ""
        while self.peek() in ("_", "^"):
            if self.take() == "_":
                below = _grouped(self.argument())
            else:
                above = _grouped(self.argument())
        name = "munderover" if base.kind == "limits" else "msubsup"
        if not above:
            name = name.removesuffix("over").removesuffix("sup")
        elif not below:
            name = {"munderover": "mover", "msubsup": "msup"}[name]
        return _Item(f"<{name}>{base.xml}{below}{above}</{name}>")

    def argument(self) -> list[_Item]:
        """What stands in braces, or a single sign."""
        self.skip()
        if self.peek() != "{":
            if (item := self.item("")) is None:
                self.fail()
            return [item]
        self.place += 1
        found = self.row(("}",))
        self.take("}")
        return found

    def raw(self) -> str:
        """What stands in braces, as it is written."""
        self.skip()
        self.take("{")
        start, depth = self.place, 1
        while depth:
            token = self.take()
            depth += (token == "{") - (token == "}")
        return "".join(self.tokens[start : self.place - 1])

    def item(self, before: str) -> _Item | None:
        """The next element, nothing where the token has none."""
        if not (token := self.peek()):
            self.fail()
        if token == "{":
            inner = self.argument()
            return _Item(_grouped(inner), inner[-1].kind if inner else "") if inner else None
        self.place += 1
        if token[0].isdigit():
            return _Item(f"<mn>{token}</mn>")
        if token in _IDENTIFIERS:
            return _Item(f"<mi>{_IDENTIFIERS[token]}</mi>")
        if token in _OPERATORS:
            first = before in ("", "sign", "open", "limits")
            form = ' form="prefix"' if first and token in "+-" else ""
            return _Item(f"<mo{form}>{_OPERATORS[token]}</mo>", "sign")
        if token in _RELATIONS:
            return _Item(f"<mo>{html_text(_RELATIONS[token])}</mo>", "sign")
        if token in _SPACES:
            return _Item(f'<mspace width="{_SPACES[token] / 18:.2g}em"></mspace>', before)
        if token in _LIMITS:
            return _Item(_LIMITS[token], "limits")
        if token in _OPENING:
            return _Item(f'<mo stretchy="false">{token}</mo>', "open")
        if token in _CLOSING:
            return _Item(f'<mo stretchy="false">{token}</mo>')
        if token in _CLOSE:
            return _Item(f'<mo stretchy="false" lspace="0" rspace="0">{token}</mo>', "sign")
        if token == ",":
            return _Item("<mo>,</mo>", "sign")
        if token == ".":
            return _Item("<mo>.</mo>")
        if token in (r"\cdots", r"\dots"):
            return _Item("<mo>⋯</mo>")
        if token in (r"\mathopen", r"\mathclose"):
            self.raw()
            return None
        if token in _NAMES:
            return _Item(f"<mi>{token[1:]}</mi>", "name")
        if token.isalpha():
            return _Item(f"<mi>{token}</mi>")
        if len(token) == 1 and token not in _MARKS:
            return _Item(f"<mtext>{html_text(token)}</mtext>")
        return self.command(token)

    def command(self, token: str) -> _Item:
        """A word of LaTeX with what belongs to it."""
        match token:
            case r"\frac":
                above, below = self.argument(), self.argument()
                return _Item(f"<mfrac>{_grouped(above)}{_grouped(below)}</mfrac>")
            case r"\sqrt":
                return _Item(f"<msqrt>{_grouped(self.argument())}</msqrt>")
            case r"\left":
                return self.fenced()
            case r"\Bigl" | r"\Bigr":
                kind = "open" if token == r"\Bigl" else "atom"
                return _Item(f'<mo minsize="1.8em">{html_text(self.take())}</mo>', kind)
            case r"\mathrm" | r"\operatorname":
                return _Item(_upright(unescape(self.raw())), "name")
            case r"\operatorname*":
                shown = html_text(unescape(self.raw()))
                return _Item(f'<mo movablelimits="true" rspace="0.17em">{shown}</mo>', "limits")
            case r"\mathit":
                return _Item(f'<mi class="word">{html_text(unescape(self.raw()))}</mi>')
            case r"\mathcal":
                # The script letters of Unicode that have no older place: Z is one.
                return _Item(f"<mi>{chr(0x1D49C + ord(self.raw()) - ord('A'))}</mi>")
            case r"\text":
                return _Item(f"<mtext>{html_text(unescape(self.raw()))}</mtext>")
            case r"\cause":
                return _Item(f'<mtext class="cause">{html_text(self.raw())}</mtext>')
            case r"\begin":
                return self.environment()
        if token not in _CLASSES:
            self.place -= 1
            self.fail()
        inner = "".join(item.xml for item in self.argument())
        return _Item(f'<mrow class="{_CLASSES[token]}">{inner}</mrow>')

    def fenced(self) -> _Item:
        """Brackets that grow with what they hold; a dot is none."""
        opening = self.take()
        inside = "".join(item.xml for item in self.row((r"\right",)))
        self.take(r"\right")
        fences = [
            "" if fence == "." else f'<mo form="{form}">{html_text(fence.lstrip(chr(92)))}</mo>'
            for fence, form in ((opening, "prefix"), (self.take(), "postfix"))
        ]
        return _Item(f"<mrow>{fences[0]}{inside}{fences[1]}</mrow>")

    def environment(self) -> _Item:
        """Rows under one another: ``aligned``, or the cases of an ``array``."""
        name = self.raw()
        if name == "aligned":
            for mark in "[t]":
                self.take(mark)
        elif name == "array":
            self.raw()
        else:
            self.fail()
        rows: list[list[str]] = [[]]
        while True:
            cell = self.row(("&", r"\\", r"\end"))
            rows[-1].append("".join(item.xml for item in cell))
            if (end := self.take()) == r"\end":
                break
            if end == r"\\":
                rows.append([])
        self.raw()
        return _Item(table(rows, "cases" if name == "array" else "aligned"))


def _upright(name: str) -> str:
    """A name in upright letters, which one letter alone would not have."""
    variant = ' mathvariant="normal"' if len(name) == 1 else ""
    return f"<mi{variant}>{html_text(name)}</mi>"
