r"""Formulas as people write them, in the grammar of derivations.

The tokens, tables and precedences are those by which articles are read. Here names have a
meaning already, so that nothing has to be guessed: ``A_ij`` is an entry where A is a
matrix, ``W_Q`` a name where that is known, ``Q K^T`` a matrix product, ``c x_i`` a product
of numbers.

>>> names = Names({"A": 2, "x": 1, "z": 1})
>>> formula(r"\sum_{j} A_{ij}\,x_j", names).text
'sum(j, A[i, j] * x[j])'
>>> formula("A x + ∂x_i/∂z_k", names).text
'A @ x + diff(x[i], z[k])'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from symattn import syntax
from symattn.calculus import tensors
from symattn.calculus.printing import is_array
from symattn.documents.notation.grammar import Grammar
from symattn.documents.notation.latex import latex_tokens
from symattn.documents.notation.tokens import NotationToken, UnreadNotation, plain_tokens
from symattn.documents.notation.vocabulary import (
    ACCENTS,
    FUNCTIONS,
    JOINING,
    TRANSPOSES,
    plain_name,
)
from symattn.documents.text import Text
from symattn.errors import Malformed, short
from symattn.limits import CHARACTERS
from symattn.spelling import GREEK
from symattn.syntax import Tree

_SPELT = {"eps": "epsilon", "lam": "lambda"}
"""Names that are printed as a letter which is called otherwise."""
_INFINITE = ("oo", "inf")
_LETTERS = ("pi", *_INFINITE, *"ijkl")
#: Letters side by side that are one name, at most.
_RUN = 24
#: A quotient of differentials, as in dp/dz.
_HEAD = re.compile(r"([A-Za-z]\w*)(?:\[\s*(\w+(?:\s*,\s*\w+)*)\s*\])?")
#: Characters of what may be a head.
_LONGEST = 100
_QUOTIENT = re.compile(r"\bd\w+/d[A-Za-z]")


@dataclass
class Names:
    """What names mean: arrays with how many axes they have, sizes, permutations."""

    axes: dict[str, int] = field(default_factory=dict)
    sizes: set[str] = field(default_factory=set)
    permutations: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.shapes = {**self.axes, **dict.fromkeys(self.permutations, 0)}
        self._known: dict[str, str] = {}
        self._stems: set[str] = set()
        for name in (*self.axes, *self.sizes, *self.permutations):
            self._note(name)

    def add(self, name: str, axes: int) -> None:
        """One more array, or what is known of it now."""
        self.axes[name] = self.shapes[name] = axes
        self._note(name)

    def _note(self, name: str) -> None:
        spelt = _spelt(name)
        self._known.setdefault(spelt, name)
        parts = spelt.split("_")
        self._stems.update("_".join(parts[: k + 1]) for k in range(len(parts)))

    def known(self, written: str) -> str:
        """The name that is spelt so; '' if there is none."""
        if written in self.axes or written in self.sizes or written in self.permutations:
            return written
        return self._known.get(_spelt(written), "")

    def begins(self, written: str) -> bool:
        """Whether a name is that, or that with more behind ``_``."""
        return _spelt(written) in self._stems


def _spelt(name: str) -> str:
    parts = []
    for part in name.split("_"):
        lead = "d" if part[:1] == "d" and part[1:] in _SPELT else ""
        parts.append(lead + _SPELT.get(part.removeprefix(lead), part.removeprefix(lead)))
    return "_".join(parts)


@dataclass(frozen=True)
class Formula:
    """One side of a line: its text in the grammar of derivations; the letters that stand as
    indices in it; with the limits that its sums name, where they do, as ``bounded``."""

    text: str
    tree: Tree
    bounded: str = ""

    @property
    def letters(self) -> frozenset[str]:
        """The letters that stand as places."""
        return frozenset(tensors.letters_of(self.tree))

    @property
    def names(self) -> frozenset[str]:
        """All names of quantities in it."""
        return frozenset(syntax.names(self.tree)) - self.letters


def head(text: str) -> tuple[str, tuple[str, ...]] | None:
    r"""The name that stands alone on a side, and what stands below it; None of all else.

    >>> head(r"\mathbf{p}_{i}"), head("G[i, k]"), head("W_Q"), head("A B")
    (('p', ('i',)), ('G', ('i', 'k')), ('W', ('Q',)), None)
    """
    if len(text) > _LONGEST:
        return None
    if plain := _HEAD.fullmatch(text.strip()):
        below = re.findall(r"\w+", plain[2] or "")
        stem, _, last = plain[1].rpartition("_")
        return (plain[1], tuple(below)) if below or not stem else (stem, (last,))
    tokens = latex_tokens(text) if "\\" in text else plain_tokens(text)
    kinds = [token.kind for token in tokens]
    if not tokens or (tokens[0].text not in ACCENTS and kinds[0] != "name"):
        return None
    if tokens[0].text in ACCENTS:
        closing = next((at for at, token in enumerate(tokens) if token.text == "}"), 1)
        name, at = plain_name(text[: tokens[min(closing, len(tokens) - 1)].end]), closing + 1
    else:
        name, at = plain_name(tokens[0].text), 1
        while at < len(tokens) and not tokens[at].spaced and kinds[at] in ("name", "number"):
            name, at = name + (plain_name(tokens[at].text) or tokens[at].text), at + 1
    rest = tokens[at:]
    if not rest:
        return name, ()
    if rest[0].text != "_":
        return None
    inner = rest[2:-1] if rest[1:2] and rest[1].text in ("{", "(") and len(rest) > 3 else rest[1:]
    if any(token.kind not in ("name", "number") and token.text != "," for token in inner):
        return None
    texts = [plain_name(token.text) or token.text for token in inner if token.text != ","]
    is_split = len(texts) == 1 and len(texts[0]) < 4 and texts[0].islower()
    return name, tuple(texts[0]) if is_split else tuple(texts)


def formula(text: str, names: Names) -> Formula:
    """One side of a line. Raises :class:`Malformed` with what can't be read.

    What is in the grammar of derivations already stays as it stands.
    """
    text = text.strip()
    plain, refused = None, None
    if text.isascii() and "\\" not in text:
        try:
            plain = syntax.parse(text, letters=True)
        except Malformed as error:
            refused = error
        if plain is not None and _is_known(plain, names) and not _QUOTIENT.search(text):
            return Formula(text, plain)
    try:
        tree, bounded = _read(text, names)
        if plain is None or _is_known(tree, names):
            written = syntax.text(tree)
            if plain is not None and syntax.parse(written, letters=True) == plain:
                written = text
            return Formula(written, tree, bounded)
    except Malformed as error:
        if plain is None:
            # What the grammar of derivations says of its own signs is more to the point.
            raise (
                refused if refused and not re.search(r"[_^{}$]|\w \w", text) else error
            ) from None
    assert plain is not None
    return Formula(text, plain)


def _read(text: str, names: Names) -> tuple[Tree, str]:
    if len(text) > CHARACTERS.most:
        raise Malformed(CHARACTERS.said(len(text)))
    reader = _Notation(text, names)
    tree = reader.whole()
    if not reader.limits:
        return tree, ""
    bounded = syntax.replaced(tree, reader.within)
    return tree, syntax.text(bounded)


@cache
def functions() -> frozenset[str]:
    """The functions that derivations know."""
    return frozenset((*tensors.FUNCTIONS, *tensors.ROWWISE, *tensors.OTHERS))


def _is_known(tree: Tree, names: Names) -> bool:
    """Whether each name in a tree means something."""
    letters = frozenset(tensors.letters_of(tree))
    calls = functions()
    for part in syntax.walk(tree):
        match part:
            case syntax.Gradient():
                return False
            case syntax.Name(name) if name not in letters and name not in _LETTERS:
                if not (name in names.axes or name in names.sizes or name in names.permutations):
                    return False
            case syntax.Call(function, _) if function not in calls:
                return False
    return True


class _Notation(Grammar):
    """One side of a line as a tree of derivations."""

    def __init__(self, text: str, names: Names) -> None:
        latex = "\\" in text
        tokens = latex_tokens(text) if latex else plain_tokens(text)
        super().__init__(Text.whole(text), list(tokens if latex else _unjoined(tokens)), latex)
        self.names = names
        self.limits: dict[str, str] = {}
        self.farthest = 0

    def whole(self) -> Tree:
        """The tree of all of it."""
        try:
            if not self.tokens:
                raise UnreadNotation
            return self.inside(0, len(self.tokens))
        except UnreadNotation:
            at = min(self.farthest, len(self.tokens) - 1)
            rest = short(self.source(at, len(self.tokens)), 40) if self.tokens else ""
            where = f" from {rest!r} on" if at > 0 else ""
            message = (
                f"{short(self.text.string)!r} can't be read as a formula{where}; words stand"
                " behind '#', or on a line without a sign such as '='"
            )
            raise Malformed(message) from None

    def within(self, tree: Tree) -> Tree | None:
        """A sum with its index bound to the range that is named."""
        match tree:
            case syntax.Call("sum", (syntax.Name(letter), body)) if letter in self.limits:
                size = _number_or_name(self.limits[letter])
                factor = syntax.Cell(syntax.Call("ones", (size,)), (syntax.Name(letter),))
                inner = syntax.replaced(body, self.within)
                return syntax.Call("sum", (syntax.Name(letter), syntax.Binary("*", factor, inner)))
        return None

    # -- products -----------------------------------------------------------------------

    def product(self) -> Tree:
        """Products, with signs of products entry by entry between them."""
        left = self.factors()
        while self.peek().kind == "operator" and self.peek().text == "⊙":
            self.at += 1
            left = syntax.Binary("*", left, self.factors())
        return left

    def factors(self) -> Tree:
        """Values with signs between them, or side by side."""
        left = self.unary()
        count = 0
        while True:
            count = self._bound(count)
            token = self.peek()
            if token.kind == "operator" and token.text in "*/@·×":
                self.at += 1
                left = self._multiplied(token.text, left, self.unary())
            elif self._is_beside():
                right = self.postfix()
                for factor in (left, right):
                    self._refuse_words(factor)
                left = self._multiplied("", left, right)
            else:
                return left

    def _multiplied(self, sign: str, left: Tree, right: Tree) -> Tree:
        if sign in ("*", "/", "@"):
            return syntax.Binary(sign, left, right)
        both = is_array(left, self.names.shapes) and is_array(right, self.names.shapes)
        if both and sign == "×":
            raise Malformed("'×' between arrays: write '@' for the matrix product, or '⊙'")
        return syntax.Binary("@" if both else "*", left, right)

    def _is_beside(self) -> bool:
        token = self.peek()
        if token.kind in ("name", "command", "open"):
            return True
        return token.kind == "number" and token.spaced

    def _refuse_words(self, factor: Tree) -> None:
        """A product without a sign has factors that are known: others are words."""
        match factor:
            case syntax.Name(name) if len(name) > 1 and not self.names.known(name):
                if name not in _LETTERS:
                    raise Malformed(
                        f"{name!r} beside a formula: it has no meaning here; if it is a word, "
                        "write the formula on a line of its own or between backquotes"
                    )

    # -- values -------------------------------------------------------------------------

    def unary(self) -> Tree:
        """A value with its sign."""
        token = self.peek()
        if token.kind != "operator" or token.text not in ("+", "-"):
            return self.postfix()
        self.at += 1
        self.depth += 1
        try:
            self._deep()
            return self.unary() if token.text == "+" else syntax.Negative(self.unary())
        finally:
            self.depth -= 1

    def _deep(self) -> None:
        if self.depth > 60:
            raise UnreadNotation

    def after(self, tree: Tree) -> Tree:
        """A value with what stands behind, below and above it."""
        count = 0
        while True:
            count = self._bound(count)
            token = self.peek()
            if token.kind == "script" and token.text == "_":
                self.at += 1
                tree = self._cell(tree, self._places(*self._below()))
            elif token.kind == "script":
                self.at += 1
                tree = self._raised(tree, *self._above())
            elif token.text == "." and self.peek(1).text == "T" and not token.spaced:
                self.at += 2
                tree = syntax.Transposed(tree)
            elif token.text == "*" and self.peek(1).text == "*" and not self.peek(1).spaced:
                self.at += 2
                tree = syntax.Power(tree, self.unary())
            elif token.text == "[" and not token.spaced and not isinstance(tree, syntax.Literal):
                start, end = self.group(self.at)
                places = tuple(self._place(*piece) for piece in self.pieces(start, end))
                tree = syntax.Cell(tree, places)
            else:
                return tree

    def _cell(self, tree: Tree, places: tuple[Tree, ...]) -> Tree:
        match tree:
            case syntax.Literal("0" | "1" as digit):
                return syntax.Call("ones" if digit == "1" else "zeros", places)
            case syntax.Literal():
                raise UnreadNotation
        return syntax.Cell(tree, places)

    def _raised(self, tree: Tree, start: int, end: int) -> Tree:
        inner = self.few(start, end)
        if len(inner) == 1 and inner[0].text in TRANSPOSES:
            if isinstance(tree, syntax.Literal):
                raise Malformed("a row of ones is written ones(n).T, with the size n it has")
            return syntax.Transposed(tree)
        exponent = self.inside(start, end)
        if isinstance(exponent, syntax.Negative) and self._is_matrix(tree):
            raise Malformed(
                "the inverse of a matrix is not known here: give it a name, and assume"
                " B @ A = eye(n)"
            )
        return syntax.Power(tree, exponent)

    def _is_matrix(self, tree: Tree) -> bool:
        match tree:
            case syntax.Name(name):
                return self.names.axes.get(name, 0) > 1
            case syntax.Transposed(operand) | syntax.Negative(operand):
                return self._is_matrix(operand)
            case syntax.Binary(_, left, right):
                return self._is_matrix(left) or self._is_matrix(right)
        return False

    def atom(self) -> Tree:
        """A number, a name, or what stands in brackets or behind a command."""
        token = self.peek()
        self.farthest = max(self.farthest, self.at)
        match token.kind:
            case "number":
                self._bounded(token)
                self.at += 1
                return syntax.Literal(token.text)
            case "name":
                return self._name()
            case "open" if token.text == "[":
                return self._square(*self.group(self.at))
            case "open" if token.text in ("(", "{", r"\{"):
                return self.inside(*self.group(self.at))
            case "command":
                return self._command(token)
        raise UnreadNotation

    def _square(self, start: int, end: int) -> Tree:
        """A group, or 1 where a comparison of places holds."""
        for at in range(start, end):
            if self.tokens[at].kind == "relation" and self.tokens[at].text == "=":
                sides = self._place(start, at), self._place(at + 1, end)
                return syntax.Call("delta", sides)
        tree = self.inside(start, end)
        return syntax.Call("step", (tree,)) if isinstance(tree, syntax.Comparison) else tree

    # -- names --------------------------------------------------------------------------

    def _run(self) -> tuple[str, int]:
        """The name that begins here, of letters side by side, and where it ends."""
        first = self.peek()
        written, best, end = "", "", self.at
        for at in range(self.at, min(self.end, self.at + _RUN)):
            token = self.tokens[at]
            is_part = token.kind == "name" or (token.kind == "number" and token.text.isdigit())
            if not is_part or (
                at > self.at and (token.spaced or token.start != self.tokens[at - 1].end)
            ):
                break
            written += plain_name(token.text) or token.text
            if self._means(written):
                best, end = written, at + 1
        return (best, end) if best else (plain_name(first.text) or first.text, self.at + 1)

    def _means(self, written: str) -> bool:
        """Whether letters are the beginning of what has a meaning."""
        return (
            self.names.begins(written)
            or written in functions()
            or (len(written) > 1 and written[0] == "d" and self.names.begins(written[1:]))
        )

    def _name(self) -> Tree:
        token, start = self.peek(), self.at
        if token.text in JOINING and len(token.text) > 1 and not self.names.known(token.text):
            raise UnreadNotation
        written, end = self._run()
        following = self.tokens[end] if end < self.end else NotationToken("", "", -1, -1)
        known = self.names.known(written)
        is_exponential = written == "e" and following.text == "^" and "e" not in self.names.axes
        if not known or is_exponential:
            if (special := self._special(written, end, following)) is not None:
                return special
            if (quotient := self._quotient(written, end)) is not None:
                return quotient
            self.at = start
            if split := self._letters(token.text):
                self.at = end
                return self.after(split) if following.kind != "script" else self._ended(split)
        elif written[0] == "d" and following.text == "/" and not following.spaced:
            quotient = self._quotient(written, end)
            if quotient is not None:
                return quotient
        self.at = end
        return self._scripted(written)

    def _ended(self, product: Tree) -> Tree:
        """A product of letters whose last has something above it: ``QK^T``."""
        assert isinstance(product, syntax.Binary)
        last = self.after(product.right)
        return self._multiplied("", product.left, last)

    def _letters(self, word: str) -> Tree | None:
        """A word that is known names side by side, as their product: ``QK``, ``XW_Q``."""
        for cut in range(1, min(len(word), _RUN)):
            name, rest = self.names.known(word[:cut]), word[cut:]
            other: Tree | None = syntax.Name(self.names.known(rest))
            if name and not self.names.known(rest):
                other = self._letters(rest)
            if name and other is not None:
                return self._multiplied("", syntax.Name(name), other)
        return None

    def _special(self, written: str, end: int, following: NotationToken) -> Tree | None:
        """What letters mean that are no name here; None where it is nothing else."""
        function = FUNCTIONS.get(written, written)
        start = self.at
        if written in _INFINITE:
            self.at = end
            return syntax.Name("oo")
        if written == "e" and following.text == "^":
            self.at = end + 1
            if self.peek().text in ("{", "("):
                return syntax.Call("exp", (self.inside(*self.group(self.at)),))
            is_negative = self.peek().text == "-"
            self.at += is_negative
            inner = self.atom()
            return syntax.Call("exp", (syntax.Negative(inner) if is_negative else inner,))
        if written == "E" and following.text == "[":
            self.at = end
            return syntax.Call("expect", (self.inside(*self.group(end)),))
        if written == "d" and following.text == "/" and self._is_differential(2):
            self.at = end + 1
            by = self._differential()
            return syntax.Call("diff", (self.postfix(), by))
        if written == "lim":
            self.at = end
            return self._limit()
        if function in ("sum", "mean") and following.text == "_":
            self.at = end
            return self._large(function)
        if written in ("delta", "I") and following.text == "_":
            self.at = end + 1
            places = self._places(*self._below())
            if written == "delta" and len(places) == 2:
                return syntax.Call("delta", places)
            if written == "I" and len(places) == 1:
                return syntax.Call("eye", places)
            self.at = start
            return None
        function = "operations" if written == "ops" else function
        stem, _, below = written.partition("_")
        if below and stem in ("sum", "mean", "delta", "I"):
            return self._joined(stem, below, end)
        is_call = following.text == "(" and (
            function in functions()
            or (len(written) > 1 and not following.spaced and not self._means(stem))
        )
        if is_call:
            self.at = end
            return syntax.Call(function, self._arguments(function, *self.group(end)))
        if function in functions() and following.kind in ("name", "number", "command", "open"):
            self.at = end
            return syntax.Call(function, (self.postfix(),))
        return None

    def _joined(self, stem: str, below: str, end: int) -> Tree | None:
        """``sum_j``, ``delta_ij`` and such, which plain text has as one word."""
        self.at = end
        letters = tuple(map(syntax.Name, below))
        if stem in ("sum", "mean"):
            return self._over(stem, [letter.name for letter in letters])
        if stem == "delta" and len(letters) == 2:
            return syntax.Call("delta", letters)
        return syntax.Call("eye", (syntax.Name(below),)) if stem == "I" else None

    def _arguments(self, function: str, start: int, end: int) -> tuple[Tree, ...]:
        pieces = self.pieces(start, end)
        if function == "delta":
            return tuple(self._place(*piece) for piece in pieces)
        return tuple(self.inside(*piece) for piece in pieces)

    def _scripted(self, written: str) -> Tree:
        """A name with what stands below and above it, as far as that is part of it."""
        names, mark = self.names, self.at
        below: tuple[int, int] | None = None
        above: tuple[int, int] | None = None
        ends = {"": mark}
        while self.peek().kind == "script":
            is_below = self.peek().text == "_"
            if (below if is_below else above) is not None:
                break
            self.at += 1
            piece = self._below() if is_below else self._above()
            below, above = (piece, above) if is_below else (below, piece)
            ends["both" if below and above else "_" if is_below else "^"] = self.at
        low, high = (self._mark(piece) if piece else "" for piece in (below, above))
        known = names.known(written)
        if low and high and (full := names.known(f"{written}_{low}_{high}")):
            self.at = ends["both"]
            return syntax.Name(full)
        if low and "_" in ends and (lowered := names.known(f"{written}_{low}")):
            self.at = ends["_"]
            return syntax.Name(lowered)
        if high and above and (raised := names.known(f"{written}_{high}")):
            if known and high.isdigit() and names.axes.get(raised, 0) == names.axes.get(known, 0):
                raise Malformed(
                    f"{written}^{high} may be {raised} or a power of {known}: "
                    f"write {raised} or {known}**{high}"
                )
            self.at = ends["both"] if below else ends["^"]
            tree: Tree = syntax.Name(raised)
            return (
                self._cell(tree, self._places(*below, axes=names.axes[raised])) if below else tree
            )
        self.at = mark
        stem, _, rest = written.rpartition("_")
        if not known and stem and (whole := names.known(stem)):
            # Plain text has "dp_j" as one word.
            axes = names.axes.get(whole, 0)
            if len(places := self._split(rest, axes)) == axes:
                return syntax.Cell(syntax.Name(whole), places)
        if known in names.permutations and self.peek().text == "(":
            return syntax.Cell(syntax.Name(known), (self._place(*self.group(self.at)),))
        if not known and low and "_" in ends:
            # A name that nothing is known of yet.
            self.at = ends["_"]
            return syntax.Name(f"{written}_{low}")
        if known and below and "_" in ends:
            self.at = ends["_"]
            axes = names.axes.get(known, 0)
            places = self._places(*below, axes=axes)
            if known == "I" and len(places) == 1 != axes:
                return syntax.Call("eye", places)
            return syntax.Cell(syntax.Name(known), places)
        return syntax.Name(known or written)

    def _mark(self, piece: tuple[int, int]) -> str:
        """What stands below or above as a part of a name."""
        texts = [plain_name(token.text) or token.text for token in self.few(*piece)]
        if texts[:1] == ["("] and texts[-1:] == [")"]:
            texts = texts[1:-1]
        joined = "".join("_" if text == "," else text for text in texts)
        return joined if re.fullmatch(r"\w+", joined) else ""

    def _quotient(self, written: str, end: int) -> Tree | None:
        """``dp_j/dz_k`` where a differential begins; None where none does."""
        mark, stem = self.at, written[1:].rpartition("_")[0]
        if not ((written[:1] == "d" and self._means(written)) or self.names.known(stem)):
            return None
        self.at = end
        above = self._scripted(written[1:])
        if self.peek().text == "/" and self._is_differential(1):
            self.at += 1
            return syntax.Call("diff", (above, self._differential()))
        self.at = mark
        return None

    def _is_differential(self, ahead: int) -> bool:
        token = self.peek(ahead)
        return token.text == "∂" or (token.kind == "name" and token.text[:1] == "d")

    def _differential(self) -> Tree:
        """What is differentiated by: ``dz_k``, ``∂z_k``."""
        if self.peek().text == "∂":
            self.at += 1
            written, self.at = self._run()
            return self._entry_or_name(self._scripted(written))
        written, end = self._run()
        if written[:1] != "d":
            raise UnreadNotation
        if written == "d":
            # LaTeX has the letters apart.
            self.at += 1
            written, end = self._run()
            written = f"d{written}"
        self.at = end
        return self._entry_or_name(self._scripted(written[1:]))

    def _entry_or_name(self, tree: Tree) -> Tree:
        if isinstance(tree, syntax.Name | syntax.Cell):
            return tree
        raise UnreadNotation

    # -- places -------------------------------------------------------------------------

    def _below(self) -> tuple[int, int]:
        """The range of what stands below, its brackets passed over."""
        token = self.peek()
        if token.text in ("{", "("):
            return self.group(self.at)
        start = self.at
        if token.kind not in ("name", "number"):
            raise UnreadNotation
        self.at += 1
        if not self.latex:
            name = plain_name(token.text)
            if name in self.names.permutations and self.peek().text == "(":
                self.group(self.at)
            elif (self.peek().text == "_" and self.names.begins(name)) or (
                self.peek().text == "×" and not self.peek().spaced
            ):
                self.at += 2
        return start, self.at

    def _above(self) -> tuple[int, int]:
        """The range of what stands above, or of an argument; its brackets passed over."""
        token, start = self.peek(), self.at
        if token.text in ("{", "("):
            return self.group(start)
        self.at += token.kind == "operator" and token.text in "+-"
        if self.peek().kind in ("", "close", "relation", "separator", "script"):
            raise UnreadNotation
        if self.peek().kind == "command":
            self.postfix()
        else:
            self.at += 1
        return start, self.at

    def _places(self, start: int, end: int, axes: int = 0) -> tuple[Tree, ...]:
        """Places, with commas between them or side by side."""
        pieces = self.pieces(start, end)
        if len(pieces) == 1 and any(self.tokens[at].text == "×" for at in range(start, end)):
            at = next(at for at in range(start, end) if self.tokens[at].text == "×")
            pieces = [(start, at), (at + 1, end)]
        if len(pieces) > 1:
            return tuple(self._place(*piece) for piece in pieces)
        places: list[Tree] = []
        at = start
        while at < end:
            token = self.tokens[at]
            if token.kind == "operator":
                return (self._place(start, end),)
            if token.kind == "open" or (at + 1 < end and self.tokens[at + 1].kind == "script"):
                return (*places, self._place(at, end))
            if token.kind == "name" and plain_name(token.text) in self.names.permutations:
                stop = self.partners[at + 1] + 1 if at + 1 < end else end
                places.append(self._place(at, max(stop, at + 1)))
                at = max(stop, at + 1)
                continue
            if token.kind not in ("name", "number"):
                raise UnreadNotation
            places += self._split(plain_name(token.text) or token.text, axes)
            at += 1
        return tuple(places)

    def _split(self, letters: str, axes: int) -> tuple[Tree, ...]:
        """Letters and digits as a place each, where they are no name and no number."""
        if len(letters) == axes > 1 and letters.isalpha():
            return tuple(map(syntax.Name, letters))
        if letters.isdigit():
            digits = letters if axes == len(letters) > 1 else [letters]
            return tuple(map(syntax.Literal, digits))
        if self.names.known(letters) in self.names.sizes or letters in GREEK.values():
            return (syntax.Name(self.names.known(letters) or letters),)
        if letters in GREEK:
            return (syntax.Name(letters),)
        return tuple(
            syntax.Literal(sign) if sign.isdigit() else syntax.Name(sign)
            for sign in letters.replace("_", "")
        )

    def _place(self, start: int, end: int) -> Tree:
        return self.inside(start, end)

    # -- commands -----------------------------------------------------------------------

    def _command(self, token: NotationToken) -> Tree:
        self.at += 1
        match token.text:
            case r"\frac":
                return self._fraction()
            case r"\sqrt":
                if self.peek().text == "{" or self.latex:
                    return syntax.Call("sqrt", (self.inside(*self._above()),))
                return syntax.Call("sqrt", (self._under_root(),))
            case "∂":
                return self._derivative()
            case "∇":
                return self._nabla()
            case r"\sum":
                return self._large("sum")
            case r"\lim":
                return self._limit()
        if token.text in ACCENTS:
            start, end = self._above()
            return self._scripted(plain_name(f"{token.text}{{{self.written(start, end)}}}"))
        raise UnreadNotation

    def _under_root(self) -> Tree:
        """What stands behind a root in plain text: an exponent is one of the root."""
        token = self.peek()
        if token.text == "(":
            return self.inside(*self.group(self.at))
        if token.kind == "number":
            self.at += 1
            return syntax.Literal(token.text)
        return self.atom()

    def _fraction(self) -> Tree:
        above, below = self._above(), self._above()
        first, second = self.tokens[above[0]], self.tokens[below[0]]
        is_derivative = (first.text == "∂" or self._begins_differential(*above)) and (
            second.text == "∂" or self._begins_differential(*below)
        )
        if is_derivative:
            by = self._ranged(below, self._differential)
            if above[1] - above[0] == 1 and first.text in ("∂", "d"):
                return syntax.Call("diff", (self.postfix(), by))
            return syntax.Call("diff", (self._ranged(above, self._of), by))
        return syntax.Binary("/", self.inside(*above), self.inside(*below))

    def _begins_differential(self, start: int, end: int) -> bool:
        """Whether a range is a differential, ``dp_j``, or its sign alone."""
        first = self.tokens[start]
        if first.kind != "name" or first.text[:1] != "d":
            return False
        if end - start == 1 and first.text == "d":
            return True
        state = self.at, self.end
        try:
            tree = self._ranged((start, end), self._differential)
        except (UnreadNotation, Malformed):
            return False
        finally:
            self.at, self.end = state
        name = tree.operand if isinstance(tree, syntax.Cell) else tree
        return isinstance(name, syntax.Name) and bool(self.names.known(name.name))

    def _ranged(self, piece: tuple[int, int], read: Callable[[], Tree]) -> Tree:
        """What is read of a whole range."""
        state = self.at, self.end
        self.at, self.end = piece
        try:
            tree = read()
            if self.at != self.end:
                raise UnreadNotation
        finally:
            self.at, self.end = state
        return tree

    def _of(self) -> Tree:
        """What is differentiated, behind the sign of it."""
        if self.peek().text == "∂":
            self.at += 1
            return self.postfix()
        return self._differential()

    def _derivative(self) -> Tree:
        r"""``∂y_i/∂x_k``, or ``∂/∂x_k`` of what follows."""
        of = None if self.peek().text == "/" else self.postfix()
        if self.peek().text != "/" or not self._is_differential(1):
            raise UnreadNotation
        self.at += 1
        by = self._differential()
        return syntax.Call("diff", (self.postfix() if of is None else of, by))

    def _nabla(self) -> Tree:
        if self.peek().text != "_":
            raise UnreadNotation
        self.at += 1
        by = self.inside(*self._above())
        return syntax.Call("diff", (self.postfix(), self._entry_or_name(by)))

    def _large(self, function: str) -> Tree:
        """A sum or a mean over the indices below its sign."""
        letters: list[str] = []
        upper = ""
        while self.peek().kind == "script":
            is_below = self.peek().text == "_"
            self.at += 1
            start, end = self._below() if is_below else self._above()
            if is_below:
                letters, is_from_one = self._counted(start, end)
                upper = upper or ("?" if is_from_one else "")
            else:
                upper = self._mark((start, end)) or "?"
        if not letters:
            raise Malformed("a sum without an index: write over which it runs, as in sum(j, x[j])")
        if upper not in ("", "?"):
            size = self.names.known(upper) or upper
            self.limits |= dict.fromkeys(letters, size)
        elif upper == "?":
            raise Malformed("a sum runs over all of a range: name no other limits")
        return self._over(function, letters)

    def _counted(self, start: int, end: int) -> tuple[list[str], bool]:
        """The indices below a sum, and whether it says that they count from 1."""
        tokens = self.few(start, end)
        texts = [plain_name(token.text) or token.text for token in tokens]
        is_from_one = texts[-2:] == ["=", "1"]
        texts = texts[:-2] if is_from_one else texts
        letters = [letter for text in texts if text != "," for letter in text]
        if not all(text == "," or text.isalpha() for text in texts) or not letters:
            raise Malformed(
                "a sum runs over all of a range: for a part of it write step(...) or"
                " 1 - delta(...) as a factor"
            )
        return letters, is_from_one

    def _over(self, function: str, letters: Iterable[str]) -> Tree:
        body = self.factors()
        for letter in reversed([*letters]):
            body = syntax.Call(function, (syntax.Name(letter), body))
        return body

    def _limit(self) -> Tree:
        """``lim(x → 0) ...``, ``\\lim_{x \\to 0} ...``."""
        if self.peek().text == "_":
            self.at += 1
        start, end = self.group(self.at)
        arrow = next((at for at in range(start, end) if self.tokens[at].text == "→"), end)
        if arrow == end:
            raise UnreadNotation
        variable, goal = self.inside(start, arrow), self.inside(arrow + 1, end)
        return syntax.Call("limit", (variable, goal, self.factors()))


def _unjoined(tokens: Iterable[NotationToken]) -> Iterator[NotationToken]:
    """Tokens of plain text with the index apart that stands behind a mark: ``W^Q_ij``."""
    before = ""
    for token in tokens:
        mark, _, index = token.text.partition("_")
        if before == "^" and token.kind == "name" and mark and index:
            at = token.start + len(mark)
            yield token._replace(text=mark, end=at)
            yield NotationToken("script", "_", at, at + 1)
            yield NotationToken("name", index, at + 1, token.end)
        elif before == "^" and token.kind == "name" and re.match("T[A-Z]", token.text):
            # "X^TX" is the transpose times X.
            yield token._replace(text="T", end=token.start + 1)
            yield token._replace(text=token.text[1:], start=token.start + 1)
        else:
            yield token
        before = token.text


def _number_or_name(text: str) -> Tree:
    return syntax.Literal(text) if text.isdigit() else syntax.Name(text)
