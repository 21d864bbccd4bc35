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
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from symattn import syntax
from symattn.calculus import tensors
from symattn.calculus.double_meanings import LETTERS
from symattn.calculus.names import Names
from symattn.calculus.printing import is_array
from symattn.calculus.quantities import Quantities, functions, otherwise, unjoined
from symattn.documents.notation.latex import latex_tokens
from symattn.documents.notation.tokens import NotationToken, UnreadNotation, plain_tokens
from symattn.documents.notation.vocabulary import (
    ACCENTS,
    TRANSPOSES,
    plain_name,
)
from symattn.errors import Malformed, short
from symattn.limits import CHARACTERS, NESTING
from symattn.syntax import Tree

#: Sums run over fewer indices.
_INDICES = 9
_BELOW = "what stands right behind a quotient may be below or beside it: write brackets"
#: A quotient of differentials, as in dp/dz.
_QUOTIENT = re.compile(r"\bd\w+/d[A-Za-z]")


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
        if plain is None and (advice := otherwise(text)):
            raise Malformed(f"{short(text)!r}: {advice}") from None
        if plain is None or _calls_a_quantity(plain, names):
            raise (
                refused if refused and not re.search(r"[_^{}$]|\w \w", text) else error
            ) from None
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


def _calls_a_quantity(tree: Tree, names: Names) -> bool:
    """Whether a quantity stands before brackets as if it were a function."""
    return any(
        isinstance(part, syntax.Call) and names.known(part.function) for part in syntax.walk(tree)
    )


def _is_known(tree: Tree, names: Names) -> bool:
    """Whether each name in a tree means something."""
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


class _Notation(Quantities):
    """One side of a line as a tree of derivations."""

    def __init__(self, text: str, names: Names) -> None:
        latex = "\\" in text
        tokens = latex_tokens(text) if latex else plain_tokens(text)
        super().__init__(text, [*(tokens if latex else unjoined(tokens))], latex, names)
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
                size = _number_or_name(self.limits[tree])
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
                places = tuple(self.place(*piece) for piece in self.pieces(start, end))
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
                sides = self.place(start, at), self.place(at + 1, end)
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
        """What stands behind a root in plain text: an exponent is one of the root."""
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
        """Whether a range is a differential, ``dp_j``, or its sign alone."""
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


def _number_or_name(text: str) -> Tree:
    return syntax.Literal(text) if text.isdigit() else syntax.Name(text)
