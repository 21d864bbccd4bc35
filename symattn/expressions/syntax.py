"""The one grammar of symattn: numbers, steps and statements as trees.

Text is split into tokens and parsed by precedence climbing; nothing that was read is ever executed.
Meaning (shapes, names, values) is given to the trees by the floors above.

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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce
from typing import NoReturn, Self, TypeVar

from symattn.advice import of_attribute, of_neighbours, of_sign
from symattn.errors import Malformed
from symattn.expressions import trees
from symattn.expressions.trees import ATOM, CHOICE, COMPARISON, POSTFIX, PRODUCT, SIGN, SUM, Walk
from symattn.limits import CHARACTERS, DIGITS, EXPONENT, NESTING, TOKENS
from symattn.spelling import MINUSES, NUMBER, POWER_OF_TEN

# -- trees -------------------------------------------------------------------------------
# What the grammar makes of text, and text made of that again.

#: Words without quotes.
WORDS = ("True", "False", "None")


@dataclass(frozen=True)
class Literal:
    """A number as written; its digits are kept."""

    text: str


@dataclass(frozen=True)
class Name:
    """A quantity or a symbol."""

    name: str


@dataclass(frozen=True)
class Gradient:
    """``dL/dQ`` or ``grad(Q)``: the gradient with respect to a quantity."""

    of: str


@dataclass(frozen=True)
class Negative:
    """``-operand``."""

    operand: Tree


@dataclass(frozen=True)
class Binary:
    """``left op right`` with op one of ``+ - * / @``."""

    op: str
    left: Tree
    right: Tree


@dataclass(frozen=True)
class Sum:
    """Terms added, however many: closed forms have hundreds, of which a chain of twos would be too
    deep for Python's recursion. A :class:`Negative` term is subtracted."""

    terms: tuple[Tree, ...]


@dataclass(frozen=True)
class Product:
    """Factors multiplied, however many: numbers (``*``), matrices (``@``), or entry by entry
    (``o``)."""

    factors: tuple[Tree, ...]
    sign: str = "*"


@dataclass(frozen=True)
class Word:
    """A word that is no name, the value of an option: ``"tanh"``, True, False, None."""

    text: str


@dataclass(frozen=True)
class Call:
    """``function(arguments, option=value)``."""

    function: str
    arguments: tuple[Tree, ...]
    options: tuple[tuple[str, Tree], ...] = ()


@dataclass(frozen=True)
class Transposed:
    """``operand.T``."""

    operand: Tree


@dataclass(frozen=True)
class Slice:
    """A slice ``start:stop:step`` inside an index."""

    start: int | None
    stop: int | None
    step: int | None


Key = int | Slice


@dataclass(frozen=True)
class Indexed:
    """``operand[keys]``."""

    operand: Tree
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class Cell:
    """``operand[places]``, the places being expressions or slices; only where letters are
    indices."""

    operand: Tree
    places: tuple[Tree, ...]


@dataclass(frozen=True)
class Power:
    """``base ** exponent``."""

    base: Tree
    exponent: Tree


@dataclass(frozen=True)
class Array:
    """``[1, 2]`` or ``[[1, 2], [3, 4]]``: numbers, or rows of them."""

    items: tuple[Tree, ...]


@dataclass(frozen=True)
class Comparison:
    """``a < b <= c``: operands with the relations between them."""

    operands: tuple[Tree, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True)
class Conjunction:
    """``a and b and ...``."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Sequence:
    """``(a, b, ...)``, only on one side of a comparison."""

    items: tuple[Tree, ...]


Tree = (
    Literal | Name | Gradient | Negative | Binary | Sum | Product | Word | Call | Transposed
    | Indexed | Slice | Cell | Power | Array | Comparison | Conjunction | Sequence
)  # fmt: skip


_walk: Walk[Tree] = Walk()
inside, walk, mapped, replaced = _walk.parts, _walk.walk, _walk.mapped, _walk.replaced


def renamed(tree: Tree, called: Callable[[str], Tree]) -> Tree:
    """A tree with every name replaced by the tree that ``called`` gives for it; the letters
    that cells count by are no names of quantities.

    >>> text(renamed(parse("Q @ K.T"), lambda name: Name(name.lower())))
    'q @ k.T'
    """
    match tree:
        case Name(name):
            return called(name)
        case Cell(operand, places):
            return Cell(renamed(operand, called), places)
    return mapped(tree, lambda part: renamed(part, called))


def names(tree: Tree) -> Iterator[str]:
    """The quantities that a tree names, gradients as ``dL/dQ``.

    >>> list(names(parse("max(A @ V.T) == grad(Q)[0, 1] + 2 * d_k")))
    ['A', 'V', 'dL/dQ', 'd_k']
    """
    for part in walk(tree):
        match part:
            case Name(name):
                yield name
            case Gradient(of):
                yield gradient_name(of)


# -- trees of sums and products -------------------------------------------------------------


def added(terms: Iterable[Tree]) -> Tree:
    """Return the sum of one term or more; what has a minus before it is subtracted.

    >>> text(added([Name("x"), negated(parse("2 * y")), Literal("2")]))
    'x - 2 * y + 2'
    """
    total, *others = terms
    for term in others:
        less = _without_minus(term)
        total = Binary("-", total, less) if less else Binary("+", total, term)
    return total


def _without_minus(tree: Tree) -> Tree | None:
    """A tree without the minus that it begins with; None where there is none."""
    match tree:
        case Negative(operand):
            return operand
        case Binary("*" | "/" as op, left, right) if less := _without_minus(left):
            return Binary(op, less, right)
    return None


def multiplied(factors: Iterable[Tree]) -> Tree:
    """Return the product of one factor or more."""
    return reduce(partial(Binary, "*"), factors)


def paired(tree: Tree) -> Tree:
    """Return a tree with sums and products of two alone, as the grammar reads them.

    >>> paired(Sum((Name("x"), Name("y"), Name("z")))) == parse("x + y + z")
    True
    """
    match tree:
        case Sum(terms):
            return added(map(paired, terms))
        case Product(factors, sign):
            return reduce(partial(Binary, "@" if sign == "@" else "*"), map(paired, factors))
    return mapped(tree, paired)


def negated(tree: Tree) -> Tree:
    """Return minus a tree, as one writes it: before the first factor of a product.

    >>> text(negated(parse("2 * x / y")))
    '-2 * x / y'
    """
    match tree:
        case Binary("*" | "/" as op, left, right):
            return Binary(op, negated(left), right)
    return Negative(tree)


def rational(number: Fraction | int) -> Tree:
    """Return a rational number as it is written.

    >>> [text(rational(number)) for number in (2, Fraction(-1, 3))]
    ['2', '-1 / 3']
    """
    size: Tree = Literal(str(abs(number.numerator)))
    if number.denominator != 1:
        size = Binary("/", size, Literal(str(number.denominator)))
    return negated(size) if number < 0 else size


def indicator(left: Tree, relation: str, right: Tree) -> Tree:
    """Return Iverson's bracket: 1 where a comparison holds, else 0.

    >>> shown(indicator(Name("x"), ">", Literal("0")))
    '[x > 0]'
    """
    return Call("step", (Comparison((left, right), (relation,)),))


def powered(base: Tree, exponent: Fraction | int) -> Tree:
    """Return a power of a tree: itself, a root, or with its exponent.

    >>> [text(powered(Name("x"), exponent)) for exponent in (1, 2, Fraction(1, 2), -1)]
    ['x', 'x**2', 'sqrt(x)', 'x**-1']
    """
    if exponent == 1:
        return base
    if exponent == Fraction(1, 2):
        return Call("sqrt", (base,))
    return Power(base, rational(exponent))


def shifted(tree: Tree, offset: int) -> Tree:
    """Return a place so many further on, or back.

    >>> [text(shifted(Name("i"), by)) for by in (0, 2, -1)]
    ['i', 'i + 2', 'i - 1']
    """
    if not offset:
        return tree
    return Binary("+" if offset > 0 else "-", tree, Literal(str(abs(offset))))


def gradient_name(name: str) -> str:
    """Return what the gradient with respect to a quantity is called, wherever it has
    a name: in messages, tables, JSON and on sheets.

    >>> gradient_name("W_Q")
    'dL/dW_Q'
    """
    return f"dL/d{name}"


@dataclass(frozen=True)
class TextStyle:
    """A way to write trees as text: signs with their spaces, and how tightly a minus, a power and
    a call bind, and what stands beside them."""

    signs: Mapping[str, str]
    power: str
    minus: int
    below_minus: int
    raised: int
    base: int
    exponent: int
    call: int
    is_code: bool


#: As it is read, and as it is shown: ``x**2 * -y``, ``x^2*(-y)``.
CODE = TextStyle(
    {"+": " + ", "-": " - ", "*": " * ", "/": " / ", "@": " @ ", "o": " * "},
    "**", SIGN, POSTFIX, SIGN, POSTFIX, SIGN, POSTFIX, is_code=True,
)  # fmt: skip
SHOWN = TextStyle(
    {"+": " + ", "-": " - ", "*": "*", "/": "/", "@": " @ ", "o": " * "},
    "^", SUM, PRODUCT, POSTFIX, ATOM, ATOM, ATOM, is_code=False,
)  # fmt: skip


def text(tree: Tree) -> str:
    """A tree written down, so that it reads back as the same tree.

    >>> text(parse("(A - -2*x) @ V.T / sqrt(d_k)"))
    '(A - -2 * x) @ V.T / sqrt(d_k)'
    >>> text(parse("softmax([[1, 0.50], [2, -1]])[0, 1:] <= 1"))
    'softmax([[1, 0.50], [2, -1]])[0, 1:] <= 1'
    >>> text(parse("gelu(X**2, approximate='tanh')"))
    'gelu(X**2, approximate="tanh")'
    """
    return _Writer(CODE).text(tree)


def shown(tree: Tree) -> str:
    """A tree on one line, as it is shown to readers.

    >>> shown(parse("-(x**2 * e / (1 + sqrt(e)))")), shown(parse("step(x > 0) * dL/dx"))
    ('-x^2*e/(1 + sqrt(e))', '[x > 0]*dL/dx')
    """
    return _Writer(SHOWN).text(tree)


class _Writer:
    def __init__(self, style: TextStyle) -> None:
        self.style = style

    def text(self, tree: Tree) -> str:
        return self.bound(tree)[0]

    def held(self, tree: Tree, level: int) -> str:
        return trees.bracketed(self.bound(tree), level, "({})".format)

    def bound(self, tree: Tree) -> tuple[str, int]:
        """The text and how tightly it binds. What is shown is kept with the tree: it may stand in
        many others."""
        if self.style.is_code:
            return self._written(tree)
        written: tuple[str, int] | None = tree.__dict__.get("_shown")
        if written is None:
            written = tree.__dict__["_shown"] = self._written(tree)
        return written

    def _written(self, tree: Tree) -> tuple[str, int]:
        style, signs = self.style, self.style.signs
        match tree:
            case Literal(digits):
                return digits, SIGN if digits.startswith("-") else ATOM
            case Name(name):
                return name, ATOM
            case Gradient(of):
                return (f"grad({of})", POSTFIX) if style.is_code else (gradient_name(of), ATOM)
            case Negative(operand):
                return f"-{self.held(operand, style.below_minus)}", style.minus
            case Binary(op, left, right):
                level = trees.OPERATORS[op]
                return f"{self.held(left, level)}{signs[op]}{self.held(right, level + 1)}", level
            case Sum(terms):
                first, *others = (self.held(term, SUM) for term in terms)
                rest = (f" - {x[1:]}" if x.startswith("-") else f" + {x}" for x in others)
                return "".join((first, *rest)), SUM
            case Product((first, *others), sign):
                written = (self.held(first, PRODUCT), *(self.held(x, POSTFIX) for x in others))
                return signs[sign].join(written), PRODUCT
            case Power(base, exponent):
                raised = self.held(exponent, style.exponent)
                return f"{self.held(base, style.base)}{style.power}{raised}", style.raised
            case Word(word):
                return (word if word in WORDS or not style.is_code else f'"{word}"'), ATOM
            case Call("step", (Comparison() as compared,), ()) if not style.is_code:
                return f"[{self.text(compared)}]", ATOM
            case Call(function, arguments, options):
                named = (f"{name}={self.text(value)}" for name, value in options)
                return f"{function}({', '.join((*map(self.text, arguments), *named))})", style.call
            case Transposed(operand):
                return f"{self.held(operand, POSTFIX)}.T", POSTFIX
            case Indexed(operand, keys):
                return f"{self.held(operand, POSTFIX)}[{', '.join(map(key_text, keys))}]", POSTFIX
            case Cell(operand, places):
                return f"{self.held(operand, POSTFIX)}[{self._listed(places)}]", POSTFIX
            case Slice():
                return key_text(tree), COMPARISON
            case Array(items):
                return f"[{self._listed(items)}]", ATOM
            case Sequence(items):
                return f"({self._listed(items)})", ATOM
            case Comparison(operands, relations):
                sides = [self.held(operand, SUM) for operand in operands]
                more = (f" {sign} {side}" for sign, side in zip(relations, sides[1:], strict=True))
                return sides[0] + "".join(more), COMPARISON
            case Conjunction(parts):
                return " and ".join(self.held(part, COMPARISON) for part in parts), CHOICE
        raise AssertionError(type(tree).__name__)

    def _listed(self, items: Iterable[Tree]) -> str:
        return ", ".join(map(self.text, items))


def key_text(key: int | Tree) -> str:
    """Return how a number, a slice or a place is written in an index.

    >>> key_text(2), key_text(Slice(None, 3, None))
    ('2', ':3')
    """
    match key:
        case int():
            return str(key)
        case Slice(start, stop, step):
            ends = f"{'' if start is None else start}:{'' if stop is None else stop}"
            return ends if step is None else f"{ends}:{step}"
    return text(key)


def entry_text(text: str, tree: Tree, keys: Iterable[int]) -> str:
    """An entry of an expression, as text: ``A[0, 2]``, ``(A @ V)[0, 2]``.

    >>> entry_text("dL/dQ", parse("dL/dQ"), (0, 2)), entry_text("x + y", parse("x + y"), (1,))
    ('dL/dQ[0, 2]', '(x + y)[1]')
    """
    keys = tuple(keys)
    if not keys:
        return text
    plain = isinstance(tree, Name | Gradient | Indexed | Transposed | Call)
    return f"{text if plain else f'({text})'}[{', '.join(map(str, keys))}]"


# -- reading -----------------------------------------------------------------------------

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

    With ``letters``, as derivations are written, indices are expressions (``S[i, n - 1]``).

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


class Written(str):
    """A formula as it is written in the grammar of derivations, with its tree, which is read once:
    what takes part in judging and printing a line gets this, and parses nothing again.

    >>> Written("A+B"), Written("A+B").tree == parse("A + B", letters=True)
    ('A+B', True)
    """

    @cached_property
    def tree(self) -> Tree:
        """The tree; :class:`~symattn.errors.Malformed` where it is none."""
        return parse(self, letters=True)

    @classmethod
    def of(cls, tree: Tree, as_text: str = "") -> Self:
        """Return a tree as it is written, by itself or ``as_text``."""
        made = cls(as_text or text(tree))
        made.__dict__["tree"] = tree
        return made


def written(formula: str) -> Written:
    """Return a formula with its tree, by which it may be known already."""
    return formula if isinstance(formula, Written) else Written(formula)


def related(sides: Iterable[str], relations: Iterable[str]) -> Written:
    """Return sides with relations between them as one formula.

    >>> related(["A", "B", "C"], ["==", "=="])
    'A == B == C'
    """
    (first, *others), signs = map(written, sides), tuple(relations)
    behind = (f"{sign} {side}" for sign, side in zip(signs, others, strict=True))
    whole = " ".join((first, *behind))
    with suppress(Malformed):
        return Written.of(Comparison((first.tree, *(side.tree for side in others)), signs), whole)
    # What can't be read is said where the whole is.
    return Written(whole)


def equated(*sides: str) -> Written:
    """Return sides that are equal as one formula.

    >>> equated("A", "B")
    'A == B'
    """
    return related(sides, ["=="] * (len(sides) - 1))


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
        operands = [self.binary(SUM)]
        relations = []
        while self.sign in _RELATIONS:
            relations.append(self.advance())
            operands.append(self.binary(SUM))
        return Comparison(tuple(operands), tuple(relations)) if relations else operands[0]

    def binary(self, level: int) -> Tree:
        operand = partial(self.binary, PRODUCT) if level == SUM else self.unary
        left = operand()
        while trees.OPERATORS.get(self.sign) == level:
            op = self.advance()
            left = Binary(op, left, operand())
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
            return Literal(_bounded(token))
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
        items = self.listed(lambda: self.binary(SUM))
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
            return self.binary(SUM)
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


def _bounded(token: str) -> str:
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
