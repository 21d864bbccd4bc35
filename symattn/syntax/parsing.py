"""The one grammar of symattn: numbers, steps and statements as trees.

Text is split into tokens and parsed by precedence climbing; nothing that was
read is ever executed. Meaning (shapes, names, values) is given to the trees
by the floors above.

Grammar, loosest binding first::

    statement  = comparison ("and" comparison)*
    comparison = sum (("==" | "!=" | "<" | "<=" | ">" | ">=") sum)*
    sum        = product (("+" | "-") product)*
    product    = unary (("*" | "/" | "@") unary)*
    unary      = ("+" | "-") unary | postfix ["**" unary]
    postfix    = atom ("." "T" | "[" keys "]" | "(" arguments ")")*
    arguments  = [argument ("," argument)*]
    argument   = statement | name "=" (word | statement)
    atom       = number | name | gradient | array | "(" statement ("," statement)* ")"
    array      = "[" (sum | array) ("," (sum | array))* "]"
    gradient   = "grad" "(" name ")" | "dL/d" name
    word       = "'" letters "'" | "True" | "False" | "None"

Derivations, where letters are indices, have sums and slices for keys.

``dQ`` is the gradient as well where no quantity has that name, which only the
floor above knows (:meth:`symattn.programs.program.Program.lower_tree`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn, TypeVar

from symattn.advice import of_attribute, of_neighbours, of_sign
from symattn.errors import Malformed
from symattn.limits import CHARACTERS, DIGITS, EXPONENT, NESTING, TOKENS
from symattn.spelling import MINUSES, NUMBER, POWER_OF_TEN
from symattn.syntax.trees import (
    BINARY,
    WORDS,
    Array,
    Binary,
    Call,
    Cell,
    Comparison,
    Conjunction,
    Gradient,
    Indexed,
    Key,
    Literal,
    Name,
    Negative,
    Power,
    Sequence,
    Slice,
    Transposed,
    Tree,
    Word,
)

T = TypeVar("T")

_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{NUMBER}{POWER_OF_TEN}?+)"
    r"|dL\s*/\s*d(?P<gradient>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<word>\"[A-Za-z_-]*\"|'[A-Za-z_-]*')"
    r"|(?P<sign>\*\*|//|==|<=|>=|!=|[-+*/@()\[\],.:<>=]))"
)
_RELATIONS = ("==", "!=", "<", "<=", ">", ">=")
#: Kinds of tokens that are values.
_VALUES = ("name", "number", "gradient")
_UNKNOWN = {
    "//": "there is no whole division, write '/'",
    "=": "two sides are compared with '=='",
}
#: Typographic signs that authors paste from documents.
SIGNS = str.maketrans({**dict.fromkeys(MINUSES, "-"), "×": "*", "·": "*", "÷": "/"})


def parse(text: str, letters: bool = False) -> Tree:
    """The tree of ``text``; :class:`~symattn.errors.Malformed` says what is wrong.

    With ``letters``, as derivations are written, indices are expressions
    (``S[i, n - 1]``).

    >>> parse("Q @ K.T")
    Binary(op='@', left=Name(name='Q'), right=Transposed(operand=Name(name='K')))
    >>> parse("().__class__")
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: '().__class__': expected a value at character 2, found ')'
    """
    if len(text) > CHARACTERS.most:
        raise Malformed(CHARACTERS.said(len(text)))
    return _Parser(text, letters).whole()


#: A token: its kind, its text, its place.
_Token = tuple[str, str, int]


def _counted(tokens: Iterable[_Token]) -> list[_Token]:
    """The tokens that make a tree deeper: not the numbers of arrays, with their commas
    and signs, of which there may be many."""
    counted: list[_Token] = []
    depth, before = 0, ""
    for kind, token, place in tokens:
        depth += (token == "[") - (token == "]" and depth > 0)
        is_sign = token == "-" and before in ("[", ",")
        if not depth or not (kind == "number" or token == "," or is_sign):
            counted.append((kind, token, place))
        before = token
    return counted


class _Parser:
    def __init__(self, text: str, letters: bool) -> None:
        self.text = text
        self.letters = letters
        self.tokens = list(self._split(text.translate(SIGNS)))
        counted = _counted(self.tokens)
        if len(counted) > TOKENS.most:
            self._fail(TOKENS.said(), counted[TOKENS.most][2])
        self.position = 0
        self.depth = 0

    def _split(self, text: str) -> Iterator[_Token]:
        place = 0
        while text[place:].strip():
            match = _TOKEN.match(text, place)
            if match is None:
                start = place + len(text[place:]) - len(text[place:].lstrip())
                advice = of_sign(text, start, self.letters)
                self._fail(f"unexpected {text[start]!r}", start, f": {advice}" if advice else "")
            kind = match.lastgroup or ""
            yield kind, match[kind], match.start(kind)
            place = match.end()
        yield "end", "", len(text)

    def _fail(self, message: str, place: int, suffix: str = "") -> NoReturn:
        text = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        raise Malformed(f"{text!r}: {message} at character {place + 1}{suffix}")

    @property
    def sign(self) -> str:
        """The current token if it is a sign or a word of the grammar, else ''."""
        kind, token, _ = self.tokens[self.position]
        return token if kind == "sign" or token == "and" else ""

    def advance(self) -> str:
        token = self.tokens[self.position][1]
        self.position += 1
        return token

    def expect(self, sign: str) -> None:
        if self.sign != sign:
            self.unexpected(repr(sign))
        self.advance()

    def unexpected(self, wanted: str) -> NoReturn:
        kind, token, place = self.tokens[self.position]
        if token in _UNKNOWN:
            self._fail(f"unexpected {token!r}", place, f": {_UNKNOWN[token]}")
        actual = "the end" if kind == "end" else repr(token)
        before, left, _ = self.tokens[max(self.position - 1, 0)]
        starts = kind in _VALUES or token == "("
        if self.position and starts and (before in _VALUES or left in (")", "]")):
            actual += f": {of_neighbours(left, token)}"
        self._fail(f"expected {wanted}", place, f", found {actual}")

    def attribute(self, tree: Tree) -> NoReturn:
        """Refuse ``tree.name``."""
        place = self.position
        while self.tokens[place][0] == "name" and self.tokens[place + 1][1] == ".":
            place += 2
        dotted = "".join(token for _, token, _ in self.tokens[self.position : place + 1])
        wanted = "expected 'T' after '.', the transpose, the only attribute there is,"
        kind, token, start = self.tokens[self.position]
        actual = f", found {'the end' if kind == 'end' else repr(token)}"
        if kind == "name" and self.tokens[place][0] == "name":
            operand = tree.name if isinstance(tree, Name) else ""
            actual += f": {of_attribute(operand, dotted)}"
        self._fail(wanted, start, actual)

    def whole(self) -> Tree:
        tree = self.statement()
        if self.tokens[self.position][0] != "end":
            self.unexpected("an operator or the end")
        return tree

    def statement(self) -> Tree:
        self.deeper()
        parts = [self.comparison()]
        while self.sign == "and":
            self.advance()
            parts.append(self.comparison())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Conjunction(tuple(parts))

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > NESTING.most:
            self._fail(NESTING.said(), self.tokens[self.position][2])

    def comparison(self) -> Tree:
        operands = [self.binary(1)]
        relations = []
        while self.sign in _RELATIONS:
            relations.append(self.advance())
            operands.append(self.binary(1))
        return Comparison(tuple(operands), tuple(relations)) if relations else operands[0]

    def binary(self, level: int) -> Tree:
        if level > 2:
            return self.unary()
        left = self.binary(level + 1)
        while BINARY.get(self.sign) == level:
            op = self.advance()
            left = Binary(op, left, self.binary(level + 1))
        return left

    def unary(self) -> Tree:
        negative = False
        while self.sign in ("+", "-"):
            negative ^= self.advance() == "-"
        tree = self.powers()
        return Negative(tree) if negative else tree

    def powers(self) -> Tree:
        base = self.postfix()
        if self.sign != "**":
            return base
        self.advance()
        self.deeper()
        power = Power(base, self.unary())
        self.depth -= 1
        return power

    def postfix(self) -> Tree:
        tree = self.atom()
        while True:
            if self.sign == ".":
                self.advance()
                if self.tokens[self.position][1] != "T":
                    self.attribute(tree)
                self.advance()
                tree = Transposed(tree)
            elif self.sign == "[":
                self.advance()
                tree = self.cell(tree) if self.letters else Indexed(tree, self.keys())
            elif self.sign == "(" and isinstance(tree, Name):
                self.advance()
                tree = _called(tree.name, *self.arguments())
            else:
                return tree

    def atom(self) -> Tree:
        kind, token, _ = self.tokens[self.position]
        if kind == "number":
            self.advance()
            return Literal(_bounded(token, self.text))
        if kind == "gradient":
            self.advance()
            return Gradient(token)
        if kind == "name" and token != "and":
            self.advance()
            return Name(token)
        if self.sign == "(":
            self.advance()
            items = self.listed(self.statement)
            self.expect(")")
            return items[0] if len(items) == 1 else Sequence(items)
        if self.sign == "[" and not self.letters:
            return self.array()
        self.unexpected("a value")

    def array(self) -> Array:
        self.deeper()
        self.expect("[")
        items = self.listed(lambda: self.binary(1))
        self.expect("]")
        self.depth -= 1
        return Array(items)

    def listed(self, item: Callable[[], T]) -> tuple[T, ...]:
        items = [item()]
        while self.sign == ",":
            self.advance()
            items.append(item())
        return tuple(items)

    def arguments(self) -> tuple[tuple[Tree, ...], tuple[tuple[str, Tree], ...]]:
        """Return what stands between the brackets of a call: arguments, then options by name."""
        given: list[Tree] = []
        options: dict[str, Tree] = {}
        while self.sign != ")":
            kind, name, place = self.tokens[self.position]
            if kind == "name" and self.tokens[self.position + 1][1] == "=":
                self.position += 2
                if name in options:
                    self._fail(f"the option {name} is given twice", place)
                options[name] = self.option()
            elif options:
                self._fail("expected an option, as in axis=0, after an option", place)
            else:
                given.append(self.statement())
            if self.sign != ",":
                break
            self.advance()
        else:
            if self.tokens[self.position - 1][1] == ",":
                self.unexpected("a value")
        self.expect(")")
        return tuple(given), tuple(options.items())

    def option(self) -> Tree:
        kind, token, _ = self.tokens[self.position]
        if kind != "word" and token not in WORDS:
            return self.statement()
        self.advance()
        return Word(token.strip("\"'"))

    def cell(self, operand: Tree) -> Tree:
        places = self.listed(self.place)
        self.expect("]")
        return Cell(operand, places)

    def place(self) -> Tree:
        kind = self.tokens[self.position][0]
        if self.tokens[self.position + (kind == "number")][1] != ":":
            return self.binary(1)
        key = self.key()
        assert isinstance(key, Slice)
        return key

    def keys(self) -> tuple[Key, ...]:
        keys = self.listed(self.key)
        self.expect("]")
        return keys

    def key(self) -> Key:
        bounds = [self.whole_number()]
        while self.sign == ":" and len(bounds) < 3:
            self.advance()
            bounds.append(self.whole_number())
        if len(bounds) == 1:
            if bounds[0] is None:
                self.unexpected("a whole number or a slice")
            return bounds[0]
        if bounds[2:] == [0]:
            self._fail("a slice can't step by 0", self.tokens[self.position][2])
        return Slice(bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else None)

    def whole_number(self) -> int | None:
        negative = self.sign == "-"
        if negative:
            self.advance()
        kind, token, _ = self.tokens[self.position]
        if kind != "number":
            if negative:
                self.unexpected("a whole number")
            return None
        if not token.isdigit() or len(token) > 9:
            self.unexpected("a whole number")
        self.advance()
        return -int(token) if negative else int(token)


def _called(
    function: str, arguments: tuple[Tree, ...], options: tuple[tuple[str, Tree], ...]
) -> Tree:
    match function, arguments, options:
        case "grad", (Name(name),), ():
            return Gradient(name)
    return Call(function, arguments, options)


def _bounded(token: str, text: str) -> str:
    """``token`` itself if it is a number of a size that is read."""
    mantissa, _, exponent = token.lower().partition("e")
    short = token if len(token) <= 40 else token[:37] + "..."
    if len(mantissa) > DIGITS.most:
        raise Malformed(f"{short}: {DIGITS.said(len(mantissa))}")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > EXPONENT.most):
        raise Malformed(f"{short}: {EXPONENT.said()}")
    return token


def gradient_of(text: str) -> str | None:
    """The quantity that a gradient is with respect to, in each of its spellings; None for
    anything else.

    >>> [gradient_of(text) for text in ("dL/dW_Q", "grad(W_Q)", "dW_Q", "W_Q", "d")]
    ['W_Q', 'W_Q', 'W_Q', None, None]
    """
    try:
        tree = parse(text)
    except Malformed:
        return None
    match tree:
        case Gradient(of):
            return of
        case Name(name) if name[0] == "d" and len(name) > 1:
            return name[1:]
    return None
