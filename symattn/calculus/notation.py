r"""Formulas as people write them, in the grammar of derivations.

The tokens, tables and precedences are those by which articles are read. Here names have a meaning
already, so that nothing has to be guessed: ``A_ij`` is an entry where A is a matrix, ``W_Q`` a name
where that is known, ``Q K^T`` a matrix product, ``c x_i`` a product of numbers.

>>> names = Names({"A": 2, "x": 1, "z": 1})
>>> formula(r"\sum_{j} A_{ij}\,x_j", names).text
'sum(j, A[i, j] * x[j])'
>>> formula("A x + ∂x_i/∂z_k", names).text
'A @ x + diff(x[i], z[k])'
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from symattn.calculus import tensors
from symattn.calculus.names import Names, style_of
from symattn.calculus.printing import is_array
from symattn.documents.notation.grammar import Grammar
from symattn.documents.notation.tokens import (
    NotationToken,
    UnreadNotation,
    latex_tokens,
    plain_tokens,
)
from symattn.documents.notation.vocabulary import (
    ACCENTS,
    FUNCTIONS,
    JOINING,
    MARKS,
    TRANSPOSES,
    plain_name,
)
from symattn.documents.text import Text
from symattn.errors import Malformed, short
from symattn.escaping import is_hidden
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree, Written
from symattn.limits import CHARACTERS, NESTING
from symattn.programs import functions as steps
from symattn.spelling import GREEK

# -- what formulas may mean in two ways --------------------------------------------------
# Refused, with what to write.

#: What counts a formula in brackets behind it.
_MARK = re.compile(r"\s*\d{1,3}(?:\.\d{1,3})*[a-z]?\s*")
_EXPONENT = "write exponents in brackets, as in x^(2n)"
LETTERS = ("pi", "oo", "inf", *"ijkl")
"""Names that mean something without being known."""


def _free(tree: Tree) -> set[str]:
    """The letters in a tree that no sum or limit in it binds."""
    bound = {
        letter.name
        for part in syntax.walk(tree)
        if isinstance(part, syntax.Call) and part.function in ("sum", "mean", "limit")
        for letter in part.arguments[:1]
        if isinstance(letter, syntax.Name) and len(part.arguments) > 1
    }
    return {*tensors.letters_of(tree), *syntax.names(tree)} - bound


def unseen(text: str) -> str:
    """The first sign of a formula that is not seen, or a mark of a letter that means nothing;
    '' where there is none.

    >>> unseen("y\u200b2 = y"), unseen("caf\u00e9 = 1"), unseen("\u0177 = 1")
    ('the invisible U+200B', "the mark of 'é'", '')
    """
    before = ""
    for sign in unicodedata.normalize("NFD", text):
        if is_hidden(sign):
            return f"the invisible U+{ord(sign):04X}"
        if unicodedata.combining(sign) and sign not in MARKS:
            return f"the mark of {unicodedata.normalize('NFC', before + sign)!r}"
        before = sign
    return ""


# -- names -------------------------------------------------------------------------------

_INFINITE = ("oo", "inf")
#: Letters side by side that are one name, at most.
_RUN = 24


#: What is written otherwise here, and how.
_OTHERWISE = (
    (r"\|", "unexpected '|': write abs(t), and sqrt(x @ x) for the norm of a vector"),
    (r"(?:d|∂|\\partial)\s*(?:\^\s*\{?\s*[2-9]|[²³]).*/", "write diff(diff(f, t), t)"),
    (r"[A-Za-z]['′]\s*\(", "write diff(f, t), and the transpose as X.T"),
)


def otherwise(text: str) -> str:
    """Return how to write what can't be read, where that is known."""
    return next((advice for sign, advice in _OTHERWISE if re.search(sign, text)), "")


@cache
def functions() -> frozenset[str]:
    """The functions that derivations know."""
    return frozenset((*tensors.FUNCTIONS, *steps.FUNCTIONS, *tensors.OTHERS))


def unjoined(tokens: Iterable[NotationToken]) -> Iterator[NotationToken]:
    """Tokens of plain text as formulas have them, ``W^Q_ij`` with its index apart."""
    before = ""
    for token in tokens:
        mark, _, index = token.text.partition("_")
        if before == "^" and token.kind == "name" and mark and index:
            at = token.start + len(mark)
            yield token._replace(text=mark, end=at)
            yield NotationToken("script", "_", at, at + 1)
            yield NotationToken("name", index, at + 1, token.end)
        elif token.kind == "other" and token.text in "-‐‑":
            # No hyphen joins words here.
            yield token._replace(kind="operator", text="-")
        elif before == "^" and token.kind == "name" and re.match("T[A-Z]", token.text):
            # "X^TX" is the transpose times X.
            yield token._replace(text="T", end=token.start + 1)
            yield token._replace(text=token.text[1:], start=token.start + 1)
        else:
            yield token
        before = token.text


# -- notation ----------------------------------------------------------------------------

#: Sums run over fewer indices.
_INDICES = 9
_BELOW = "what stands right behind a quotient may be below or beside it: write brackets"
#: A quotient of differentials, as in dp/dz.
_QUOTIENT = re.compile(r"\bd\w+/d[A-Za-z]")


@dataclass(frozen=True)
class Formula:
    """One side of a line in the grammar of derivations; with the limits that its sums name, where
    they do, as ``bounded``."""

    text: Written
    bounded: Written | None = None

    @property
    def tree(self) -> Tree:
        """The tree of it."""
        return self.text.tree

    @property
    def letters(self) -> frozenset[str]:
        """The letters that stand as places."""
        return frozenset(tensors.letters_of(self.tree))

    @property
    def names(self) -> frozenset[str]:
        """All names of quantities in it."""
        return frozenset(syntax.names(self.tree)) - self.letters


def formula(text: str, names: Names) -> Formula:
    """One side of a line. Raises :class:`Malformed` with what can't be read.

    What is in the grammar of derivations already stays as it stands.
    """
    own = syntax.written(text if text == text.strip() else text.strip())
    plain, refused = None, None
    if own.isascii() and "\\" not in own:
        try:
            plain = own.tree
        except Malformed as error:
            refused = error
        if plain is not None and _is_known(plain, names) and not _QUOTIENT.search(own):
            return Formula(own)
    try:
        tree, bounded = _read(own, names)
        if plain is None or _is_known(tree, names):
            return Formula(own if tree == plain else Written.of(tree), bounded)
    except Malformed as error:
        if plain is None and (advice := otherwise(own)):
            raise Malformed(f"{short(own)!r}: {advice}") from None
        # A quantity may stand before brackets as if it were a function.
        if plain is None or any(
            names.known(part.function)
            for part in syntax.walk(plain)
            if isinstance(part, syntax.Call)
        ):
            raise (refused if refused and not re.search(r"[_^{}$]|\w \w", own) else error) from None
    return Formula(own)


def _read(text: str, names: Names) -> tuple[Tree, Written | None]:
    if len(text) > CHARACTERS.most:
        raise Malformed(CHARACTERS.said(len(text)))
    reader = _Notation(text, names)
    tree = reader.whole()
    if not reader.limits:
        return tree, None
    return tree, Written.of(syntax.replaced(tree, reader.within))


def _is_known(tree: Tree, names: Names) -> bool:
    """Return whether each name in a tree means something."""
    # An entry, x_i, is no index.
    letters = frozenset(letter for letter in tensors.letters_of(tree) if "_" not in letter)
    calls = functions()
    for part in syntax.walk(tree):
        match part:
            case syntax.Gradient():
                return False
            case syntax.Name(name) if name not in letters and name not in LETTERS:
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
        super().__init__(Text.whole(text), [*(tokens if latex else unjoined(tokens))], latex)
        self.names = names
        self.bound_up_to: dict[int, frozenset[str]] = {}
        """The letters of the sums and limits that end at a token."""
        self.limits: dict[Tree, str] = {}
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
            case syntax.Call(function, (syntax.Name() as letter, body)) if tree in self.limits:
                text = self.limits[tree]
                size = syntax.Literal(text) if text.isdigit() else syntax.Name(text)
                factor = syntax.Cell(syntax.Call("ones", (size,)), (letter,))
                inner = syntax.replaced(body, self.within)
                return syntax.Call(function, (letter, syntax.Binary("*", factor, inner)))
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
        left, count, sign = self.unary(), 0, ""
        while True:
            count = self._bound(count)
            token = self.peek()
            if token.kind == "operator" and token.text in "*/@·×":
                self.at += 1
                start, right = self.at, self.unary()
                if token.text == "/":
                    self.refuse_joined(start, right, _BELOW)
                left, sign = self.multiplied(token.text, left, right), token.text
            elif self.is_beside():
                self.refuse_number(left)
                if sign == "/" and self.may_be_below(token):
                    raise Malformed(f"{short(self.text.string)!r}: {_BELOW}")
                right = self.postfix()
                if token.text == "(" and (self.latex or not token.spaced):
                    self.refuse_place(left, right)
                for factor in (left, right):
                    self.refuse_words(factor)
                if sign in ("*", "/") and isinstance(left, syntax.Binary):
                    self.refuse_product(left, right)
                left, sign = self.multiplied("", left, right), ""
            else:
                return left

    def multiplied(self, sign: str, left: Tree, right: Tree) -> Tree:
        if sign in ("*", "/", "@"):
            return syntax.Binary(sign, left, right)
        both = is_array(left, self.names.shapes) and is_array(right, self.names.shapes)
        if both and sign == "×":
            raise Malformed("'×' between arrays: write '@' for the matrix product, or '⊙'")
        return syntax.Binary("@" if both else "*", left, right)

    # -- values -------------------------------------------------------------------------

    def unary(self) -> Tree:
        """A value with its sign."""
        token = self.peek()
        if token.kind != "operator" or token.text not in ("+", "-"):
            return self.postfix()
        self.at += 1
        self.depth += 1
        try:
            if self.depth > NESTING.most:
                raise UnreadNotation
            return self.unary() if token.text == "+" else syntax.Negative(self.unary())
        finally:
            self.depth -= 1

    def after(self, tree: Tree) -> Tree:
        """A value with what stands behind, below and above it."""
        count, is_raised = 0, False
        while True:
            count = self._bound(count)
            token = self.peek()
            if is_raised:
                self.refuse_exponent(self.at)
            is_raised = False
            if token.kind == "script" and token.text == "_":
                self.at += 1
                tree = self.cell(tree, self.places(*self.below()))
            elif token.kind == "script":
                self.at += 1
                start, end = self.above()
                self.refuse_bare_exponent(start)
                tree = self._raised(tree, start, end)
                is_raised = isinstance(tree, syntax.Power)
            elif token.text == "." and self.peek(1).text == "T" and not token.spaced:
                self.at += 2
                tree = syntax.Transposed(tree)
            elif token.text == "*" and self.peek(1).text == "*" and not self.peek(1).spaced:
                self.at += 2
                start = self.at
                tree = syntax.Power(tree, self.unary())
                self.refuse_exponent(start)
            elif token.text == "[" and not token.spaced and not isinstance(tree, syntax.Literal):
                start, end = self.group(self.at)
                places = tuple(self.inside(*piece) for piece in self.pieces(start, end))
                tree = syntax.Cell(tree, places)
            else:
                return tree

    def cell(self, tree: Tree, places: tuple[Tree, ...]) -> Tree:
        match tree:
            case syntax.Literal("0" | "1" as digit):
                return syntax.Call("ones" if digit == "1" else "zeros", places)
            case syntax.Literal():
                raise UnreadNotation
        return syntax.Cell(tree, places)

    def _raised(self, tree: Tree, start: int, end: int) -> Tree:
        inner = self.few(start, end)
        is_transpose = len(inner) == 1 and inner[0].text in TRANSPOSES
        if is_transpose and inner[0].text == "T" and self.names.known("T"):
            is_transpose = is_array(tree, self.names.shapes)
        if is_transpose:
            if isinstance(tree, syntax.Literal):
                raise Malformed("a row of ones is written ones(n).T, with the size n it has")
            return syntax.Transposed(tree)
        if len(inner) > 2 and inner[0].text in "([" and self.partners[start] == end - 1:
            raise Malformed(
                "a mark in brackets above may number a sample or a layer: write x_1, or x^2 for a"
                " power"
            )
        exponent = self.inside(start, end)
        if self.at == end:
            self.refuse_joined(start, exponent)
        is_inverse = (tensors.rational(exponent) or 0) < 0 or inner[-1].text in TRANSPOSES
        if is_inverse and self.is_matrix(tree):
            raise Malformed(
                "the inverse of a matrix is not known here: give it a name, and assume"
                " B @ A = eye(n)"
            )
        return syntax.Power(tree, exponent)

    def atom(self) -> Tree:
        """A number, a name, or what stands in brackets or behind a command."""
        self.depth += 1
        if self.depth > NESTING.most:
            raise UnreadNotation
        try:
            return self._atom(self.peek())
        finally:
            self.depth -= 1

    def _atom(self, token: NotationToken) -> Tree:
        self.farthest = max(self.farthest, self.at)
        match token.kind:
            case "number":
                self._bounded(token)
                self.refuse_bold(token)
                self.at += 1
                return syntax.Literal(token.text)
            case "name":
                return self.read_name()
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
                sides = self.inside(start, at), self.inside(at + 1, end)
                return syntax.Call("delta", sides)
        tree = self.inside(start, end)
        return syntax.Call("step", (tree,)) if isinstance(tree, syntax.Comparison) else tree

    # -- commands -----------------------------------------------------------------------

    def _command(self, token: NotationToken) -> Tree:
        self.at += 1
        match token.text:
            case r"\frac":
                return self._fraction()
            case r"\sqrt":
                if self.peek().text == "{" or self.latex:
                    return syntax.Call("sqrt", (self.inside(*self.above()),))
                return syntax.Call("sqrt", (self._under_root(),))
            case "∂":
                return self._derivative()
            case "∇":
                return self._nabla()
            case r"\sum":
                return self.large("sum")
            case r"\lim":
                return self.limit()
        if token.text in ACCENTS:
            start, end = self.above()
            return self.scripted(plain_name(f"{token.text}{{{self.written(start, end)}}}"))
        raise UnreadNotation

    def _under_root(self) -> Tree:
        """Return what stands behind a root in plain text: an exponent is one of the root."""
        token = self.peek()
        if token.text == "(":
            return self.inside(*self.group(self.at))
        start = self.at
        self.at += token.kind == "number"
        tree = syntax.Literal(token.text) if token.kind == "number" else self.atom()
        self.refuse_bare_root(start, tree)
        return tree

    def _fraction(self) -> Tree:
        above, below = self.above(), self.above()
        first, second = self.tokens[above[0]], self.tokens[below[0]]
        is_derivative = (first.text == "∂" or self._begins_differential(*above)) and (
            second.text == "∂" or self._begins_differential(*below)
        )
        if is_derivative:
            by = self._ranged(below, self.differential)
            if above[1] - above[0] == 1 and first.text in ("∂", "d"):
                return syntax.Call("diff", (self.factors(), by))
            return syntax.Call("diff", (self._ranged(above, self._of), by))
        return syntax.Binary("/", self.inside(*above), self.inside(*below))

    def _begins_differential(self, start: int, end: int) -> bool:
        """Return whether a range is a differential, ``dp_j``, or its sign alone."""
        first = self.tokens[start]
        if first.kind != "name" or first.text[:1] != "d":
            return False
        if end - start == 1 and first.text == "d":
            return True
        state = self.at, self.end
        try:
            tree = self._ranged((start, end), self.differential)
        except (UnreadNotation, Malformed):
            return False
        finally:
            self.at, self.end = state
        name = tree.operand if isinstance(tree, syntax.Cell) else tree
        return isinstance(name, syntax.Name) and bool(self.names.known(name.name))

    def _ranged(self, piece: tuple[int, int], read: Callable[[], Tree]) -> Tree:
        """Return what is read of a whole range."""
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
        """Return what is differentiated, behind the sign of it."""
        if self.peek().text == "∂":
            self.at += 1
            return self.postfix()
        return self.differential()

    def _derivative(self) -> Tree:
        r"""``∂y_i/∂x_k``, or ``∂/∂x_k`` of what follows."""
        of = None if self.peek().text == "/" else self.postfix()
        if self.peek().text != "/" or not self.is_differential(1):
            raise UnreadNotation
        self.at += 1
        by = self.differential()
        return syntax.Call("diff", (self.factors() if of is None else of, by))

    def _nabla(self) -> Tree:
        if self.peek().text != "_":
            raise UnreadNotation
        self.at += 1
        by = self.inside(*self.above())
        return syntax.Call("diff", (self.factors(), self.entry_or_name(by)))

    def large(self, function: str) -> Tree:
        """A sum or a mean over the indices below its sign."""
        letters: list[str] = []
        upper = ""
        while self.peek().kind == "script":
            is_below = self.peek().text == "_"
            self.at += 1
            start, end = self.below() if is_below else self.above()
            if is_below:
                letters, is_from_one = self._counted(start, end)
                upper = upper or ("?" if is_from_one else "")
            else:
                upper = self.mark((start, end)) or "?"
        if not letters:
            raise Malformed("a sum without an index: write over which it runs, as in sum(j, x[j])")
        if upper == "?":
            raise Malformed("a sum runs over all of a range: name no other limits")
        return self.over(function, letters, self.names.known(upper) or upper)

    def _counted(self, start: int, end: int) -> tuple[list[str], bool]:
        """The indices below a sum, and whether it says that they count from 1."""
        tokens = self.few(start, end)
        texts = [plain_name(token.text) or token.text for token in tokens]
        is_from_one = texts[-2:] == ["=", "1"]
        texts = texts[:-2] if is_from_one else texts
        letters = [letter for text in texts if text != "," for letter in text]
        is_list = all(text == "," or text.isalpha() for text in texts)
        if not is_list or not 0 < len(letters) < _INDICES:
            raise Malformed(
                "a sum runs over all of a range: for a part of it write step(...) or"
                " 1 - delta(...) as a factor"
            )
        return letters, is_from_one

    def over(self, function: str, letters: Iterable[str], size: str = "") -> Tree:
        letters, body = [*letters], self.factors()
        self.bound_up_to[self.at] = frozenset(letters)
        for letter in reversed(letters):
            body = syntax.Call(function, (syntax.Name(letter), body))
            if size and self.limits.setdefault(body, size) != size:
                raise Malformed(
                    f"a sum over {letter} to {size}, and to {self.limits[body]}: sums run over all"
                    " of a range"
                )
        return body

    def limit(self) -> Tree:
        """``lim(x → 0) ...``, ``\\lim_{x \\to 0} ...``."""
        if self.peek().text == "_":
            self.at += 1
        if self.peek().kind != "open":
            raise UnreadNotation
        start, end = self.group(self.at)
        arrow = next((at for at in range(start, end) if self.tokens[at].text == "→"), end)
        if arrow == end:
            raise UnreadNotation
        variable, goal = self.inside(start, arrow), self.inside(arrow + 1, end)
        body = self.factors()
        self.bound_up_to[self.at] = frozenset(syntax.names(variable))
        return syntax.Call("limit", (variable, goal, body))

    # -- what may be meant in two ways -------------------------------------------------

    def refuse_exponent(self, start: int) -> None:
        """Refuse what is raised again behind an exponent that begins there: all of it, or that."""
        at = start
        while at <= self.at and at < self.end:
            token, ahead = self.tokens[at], at + 1 - self.at
            is_power = token.text == "*" and ahead > 0 and self.peek(ahead).text == "*"
            if token.text == "^" or is_power:
                raise Malformed(
                    f"{short(self.text.string)!r} has an exponent right behind an exponent: write"
                    " brackets, as in a^(b^c) or (a^b)^c"
                )
            at = max(at, self.partners[at] if token.kind == "open" else at) + 1

    def refuse_bare_exponent(self, start: int) -> None:
        """Letters right behind an exponent without brackets may be part of it."""
        is_bare = not self.latex and self.tokens[self.at - 1].end == self.peek().start
        if is_bare and self.peek().kind == "name" and self.tokens[start].text != "T":
            raise Malformed(f"{short(self.text.string)!r}: {_EXPONENT}")

    def refuse_joined(self, start: int, tree: Tree, why: str = _EXPONENT) -> None:
        """Names side by side, without brackets: all of them may be meant, or only the first."""
        while isinstance(tree, syntax.Negative):
            tree, start = tree.operand, start + 1
        if self.tokens[start].kind == "name" and isinstance(tree, syntax.Binary):
            raise Malformed(f"{short(self.text.string)!r}: {why}")

    def refuse_bare_root(self, start: int, tree: Tree) -> None:
        """Refuse what stands right behind a root, below it or beside."""
        why = "write what the root is taken of in brackets, as in √(2n)"
        self.refuse_joined(start, tree, why)
        is_apart = self.peek().spaced and self.tokens[self.at - 1].kind in ("number", "close")
        if self.is_beside() and not is_apart:
            raise Malformed(f"{short(self.text.string)!r}: {why}")

    def is_beside(self) -> bool:
        """Return whether a factor stands here without a sign before it."""
        token = self.peek()
        if token.kind in ("name", "command", "open"):
            return True
        is_apart = token.spaced or token.start != self.tokens[self.at - 1].end
        return token.kind == "number" and is_apart

    def refuse_number(self, left: Tree) -> None:
        """A number without a sign before it multiplies, counts the line, or is one with it."""
        token, whole = self.peek(), short(self.text.string)
        is_fraction = token.text == "\\frac" and self.peek(2).kind == "number"
        if isinstance(left, syntax.Literal) and (token.kind == "number" or is_fraction):
            raise Malformed(
                f"{whole!r} has a number right behind a number: write '*' or '+' between them"
            )
        if token.kind == "open" and token.spaced and self.partners[self.at] == self.end - 1:
            mark = self.source(self.at + 1, self.end - 1)
            if _MARK.fullmatch(mark):
                raise Malformed(
                    f"'{self.source(self.at, self.end)}' may count, or multiply: write '* {mark}',"
                    " or what counts a line behind '#'"
                )

    def refuse_words(self, factor: Tree) -> None:
        """A product without a sign has factors that are known: others are words."""
        match factor:
            case syntax.Name(name) if len(name) > 1 and not self.names.known(name):
                if name not in LETTERS:
                    raise Malformed(
                        f"{name!r} beside a formula: it has no meaning here; if it is a word, "
                        "write the formula on a line of its own or between backquotes"
                    )

    def refuse_bold(self, token: NotationToken) -> None:
        """A number that is set as a vector or matrix is one, of a size that has to be named."""
        style, _ = style_of(self.text.string, token)
        if style != "plain" and len(self.tokens) > 1 and self.peek(1).text != "_":
            raise Malformed(
                f"{short(self.text.string)!r}: what is bold may be a number, or a vector or matrix"
                f" of them: write it with its size, {token.text}_n or {token.text}_(n×m)"
            )

    def refuse_product(self, left: syntax.Binary, right: Tree) -> None:
        """A matrix product without a sign, behind a product entry by entry."""
        if all(is_array(x, self.names.shapes) for x in (left.left, left.right, right)):
            raise Malformed(
                f"{short(self.text.string)!r}: a matrix product behind '{left.op}' may be meant"
                " before it: write brackets"
            )

    def refuse_place(self, left: Tree, inner: Tree) -> None:
        """Refuse a defined name before brackets, which may mean another place: ``f(0)``."""
        last = left.right if isinstance(left, syntax.Binary) else left
        if not isinstance(last, syntax.Name):
            return
        used = self.names.uses.get(last.name, frozenset())
        within = {*syntax.names(inner)}
        is_single = isinstance(inner, syntax.Literal | syntax.Name | syntax.Negative)
        if is_single or (used & within and last.name not in within):
            raise Malformed(
                f"{last.name}(...) may be {last.name} at a place, or a product: write"
                f" {last.name} * (...)"
            )

    def may_be_below(self, token: NotationToken) -> bool:
        """Return whether a reader may take a factor behind a quotient to be below: not a large sum,
        nor what is apart; in LaTeX blanks set nothing apart."""
        word = plain_name(token.text) or token.text
        stem = word.removeprefix("\\").partition("_")[0]
        last = self.tokens[self.at - 1]
        is_apart = token.spaced and not self.latex and "{" not in self.text.string
        is_apart &= last.kind in ("number", "close")
        return FUNCTIONS.get(stem, stem) != "sum" and not is_apart

    def tried(self, read: Callable[[], Tree], mark: int) -> Tree | None:
        """Return what stands behind a sum, or a limit, must not have the letter that it is over."""
        bound = self.bound_up_to.get(mark, frozenset())
        right = super().tried(read, mark)
        if right is not None and bound & _free(right):
            raise Malformed(
                f"{short(self.text.string)!r}: what is added may belong to the sum or limit before"
                " it: write brackets"
            )
        return right

    def is_matrix(self, tree: Tree) -> bool:
        """Return whether a value is seen to be a matrix."""
        match tree:
            case syntax.Name(name):
                return self.names.axes.get(name, 0) > 1
            case syntax.Transposed(operand) | syntax.Negative(operand) | syntax.Power(operand, _):
                return self.is_matrix(operand)
            case syntax.Call("diag" | "eye", _):
                return True
            case syntax.Call(name, (operand, *_)) if is_array(tree, self.names.shapes):
                return self.is_matrix(operand) and not name.startswith(("row", "col"))
            case syntax.Binary(_, left, right):
                return self.is_matrix(left) or self.is_matrix(right)
        return False

    # -- names --------------------------------------------------------------------------

    def run(self) -> tuple[str, int]:
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
        """Return whether letters are the beginning of what has a meaning."""
        return (
            self.names.begins(written)
            or written in functions()
            or (len(written) > 1 and written[0] == "d" and self.names.begins(written[1:]))
        )

    def read_name(self) -> Tree:
        """A name with its scripts, a call, or what else letters mean."""
        token, start = self.peek(), self.at
        if token.text in JOINING and len(token.text) > 1 and not self.names.known(token.text):
            raise UnreadNotation
        written, end = self.run()
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
        return self.scripted(written)

    def _ended(self, product: Tree) -> Tree:
        """A product of letters whose last has something above it: ``QK^T``."""
        assert isinstance(product, syntax.Binary)
        last = self.after(product.right)
        return self.multiplied("", product.left, last)

    def _letters(self, word: str) -> Tree | None:
        """A word that is known names side by side, as their product: ``QK``, ``XW_Q``."""
        for cut in range(1, len(word) if len(word) < _RUN else 0):
            name, rest = self.names.known(word[:cut]), word[cut:]
            other: Tree | None = syntax.Name(self.names.known(rest))
            if name and not self.names.known(rest):
                other = self._letters(rest)
            if name and other is not None:
                return self.multiplied("", syntax.Name(name), other)
        return None

    def _special(self, written: str, end: int, following: NotationToken) -> Tree | None:
        """Return what letters mean that are no name here; None where it is nothing else."""
        function = FUNCTIONS.get(written, written)
        start = self.at
        if written in _INFINITE:
            self.at = end
            return syntax.Name("oo")
        if written == "e" and following.text == "^":
            self.at = end + 1
            if self.peek().text in ("{", "("):
                exponent = self.inside(*self.group(self.at))
                self.refuse_exponent(self.at)
                return syntax.Call("exp", (exponent,))
            is_negative = self.peek().text == "-"
            self.at += is_negative
            start = self.at
            inner = self.atom()
            self.refuse_joined(start, inner)
            self.refuse_bare_exponent(start)
            self.refuse_exponent(self.at)
            return syntax.Call("exp", (syntax.Negative(inner) if is_negative else inner,))
        if written == "E" and following.text == "[":
            self.at = end
            return syntax.Call("expect", (self.inside(*self.group(end)),))
        if written == "d" and following.text == "/" and self.is_differential(2):
            self.at = end + 1
            by = self.differential()
            return syntax.Call("diff", (self.factors(), by))
        if written == "lim":
            self.at = end
            return self.limit()
        if function in ("sum", "mean") and following.text == "_":
            self.at = end
            return self.large(function)
        if written in ("delta", "I") and following.text == "_":
            self.at = end + 1
            places = self.places(*self.below())
            if written == "delta" and len(places) == 2:
                return syntax.Call("delta", places)
            if written == "I" and len(places) == 1:
                return syntax.Call("eye", places)
            self.at = start
            return None
        if function in functions() and following.text == "^":
            raise Malformed(f"write powers of {function} behind brackets: {function}(t)^2")
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
            pieces = self.pieces(*self.group(end))
            return syntax.Call(function, tuple(self.inside(*piece) for piece in pieces))
        if function in functions() and following.kind in ("name", "number", "command", "open"):
            self.at = end
            argument = self.postfix()
            behind = self.peek()
            is_sign = behind.kind == "operator" and behind.text in "*/·×@"
            if is_sign:
                behind = self.peek(1)
            is_factor = behind.kind in ("name", "number", "open")
            if is_factor and FUNCTIONS.get(behind.text, behind.text) not in functions():
                raise Malformed(f"write what {function} is taken of in brackets: {function}(...)")
            return syntax.Call(function, (argument,))
        return None

    def _joined(self, stem: str, below: str, end: int) -> Tree | None:
        """``sum_j``, ``delta_ij`` and such, which plain text has as one word."""
        self.at = end
        letters = tuple(map(syntax.Name, below))
        if stem in ("sum", "mean"):
            return self.over(stem, [letter.name for letter in letters[:_RUN]])
        if stem == "delta" and len(letters) == 2:
            return syntax.Call("delta", letters)
        return syntax.Call("eye", (syntax.Name(below),)) if stem == "I" else None

    def scripted(self, written: str) -> Tree:
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
            piece = self.below() if is_below else self.above()
            below, above = (piece, above) if is_below else (below, piece)
            ends["both" if below and above else "_" if is_below else "^"] = self.at
        low, high = (self.mark(piece) if piece else "" for piece in (below, above))
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
            return self.cell(tree, self.places(*below, axes=names.axes[raised])) if below else tree
        self.at = mark
        stem, _, rest = written.rpartition("_")
        if not known and stem and (whole := names.known(stem)):
            # Plain text has "dp_j" as one word.
            axes = names.axes.get(whole, 0)
            if len(places := self._split(rest, axes)) == axes:
                return syntax.Cell(syntax.Name(whole), places)
        if known in names.permutations and self.peek().text == "(":
            return syntax.Cell(syntax.Name(known), (self.inside(*self.group(self.at)),))
        if not known and low and "_" in ends:
            # A name that nothing is known of yet.
            self.at = ends["_"]
            return syntax.Name(f"{written}_{low}")
        if known and below and "_" in ends:
            self.at = ends["_"]
            axes = names.axes.get(known, 0)
            places = self.places(*below, axes=axes)
            if known == "I" and len(places) == 1 != axes:
                return syntax.Call("eye", places)
            return syntax.Cell(syntax.Name(known), places)
        return syntax.Name(known or written)

    def mark(self, piece: tuple[int, int]) -> str:
        """Return what stands below or above as a part of a name."""
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
        above = self.scripted(written[1:])
        if self.peek().text == "/" and self.is_differential(1):
            self.at += 1
            return syntax.Call("diff", (above, self.differential()))
        self.at = mark
        return None

    def is_differential(self, ahead: int) -> bool:
        """Return whether a differential begins there: ``dz``, ``∂z``."""
        token = self.peek(ahead)
        return token.text == "∂" or (token.kind == "name" and token.text[:1] == "d")

    def differential(self) -> Tree:
        """Return what is differentiated by: ``dz_k``, ``∂z_k``."""
        if self.peek().text == "∂":
            self.at += 1
            written, end = self.run()
        else:
            written, end = self.run()
            if written[:1] != "d":
                raise UnreadNotation
            written = written[1:]
            if not written:
                # LaTeX has the letters apart.
                self.at += 1
                written, end = self.run()
        self.at = end
        by = self.entry_or_name(self.scripted(written))
        if self.peek().text == "^":
            raise Malformed("a power behind a quotient of differentials: write (dy/dx)^2")
        return by

    def entry_or_name(self, tree: Tree) -> Tree:
        """A tree that is the name of an array, or an entry of it."""
        if isinstance(tree, syntax.Name | syntax.Cell):
            return tree
        raise UnreadNotation

    # -- places -------------------------------------------------------------------------

    def below(self) -> tuple[int, int]:
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

    def above(self) -> tuple[int, int]:
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

    def places(self, start: int, end: int, axes: int = 0) -> tuple[Tree, ...]:
        """Places, with commas between them or side by side."""
        pieces = self.pieces(start, end)
        if len(pieces) == 1 and any(self.tokens[at].text == "×" for at in range(start, end)):
            at = next(at for at in range(start, end) if self.tokens[at].text == "×")
            pieces = [(start, at), (at + 1, end)]
        if len(pieces) > 1:
            return tuple(self.inside(*piece) for piece in pieces)
        places: list[Tree] = []
        at = start
        while at < end:
            token = self.tokens[at]
            if token.kind == "operator":
                return (self.inside(start, end),)
            if token.kind == "open" or (at + 1 < end and self.tokens[at + 1].kind == "script"):
                return (*places, self.inside(at, end))
            if token.kind == "name" and plain_name(token.text) in self.names.permutations:
                stop = self.partners[at + 1] + 1 if at + 1 < end else end
                places.append(self.inside(at, max(stop, at + 1)))
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
