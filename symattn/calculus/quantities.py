"""Names, entries and derivatives as people write them, in the grammar of derivations."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache

from symattn import syntax
from symattn.calculus import tensors
from symattn.calculus.double_meanings import DoubleMeanings
from symattn.documents.notation import plain_name
from symattn.documents.notation.tokens import NotationToken, UnreadNotation
from symattn.documents.notation.vocabulary import FUNCTIONS, JOINING
from symattn.errors import Malformed
from symattn.programs import functions as steps
from symattn.spelling import GREEK
from symattn.syntax import Tree

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
    """How to write what can't be read, where that is known."""
    return next((advice for sign, advice in _OTHERWISE if re.search(sign, text)), "")


@cache
def functions() -> frozenset[str]:
    """The functions that derivations know."""
    return frozenset((*tensors.FUNCTIONS, *steps.FUNCTIONS, *tensors.OTHERS))


class Quantities(DoubleMeanings):
    """Reads names with what stands below and above them, by what they mean."""

    @abstractmethod
    def factors(self) -> Tree:
        """Values with signs between them, or side by side."""

    @abstractmethod
    def multiplied(self, sign: str, left: Tree, right: Tree) -> Tree:
        """The product that is meant."""

    @abstractmethod
    def cell(self, tree: Tree, places: tuple[Tree, ...]) -> Tree:
        """A value at places."""

    @abstractmethod
    def large(self, function: str) -> Tree:
        """A sum or a mean over the indices below its sign."""

    @abstractmethod
    def over(self, function: str, letters: Iterable[str], size: str = "") -> Tree:
        """A sum or a mean over these indices of what follows."""

    @abstractmethod
    def limit(self) -> Tree:
        """A limit of what follows."""

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
        """Whether letters are the beginning of what has a meaning."""
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
        """What letters mean that are no name here; None where it is nothing else."""
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
            return syntax.Call(function, self._arguments(function, *self.group(end)))
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

    def _arguments(self, function: str, start: int, end: int) -> tuple[Tree, ...]:
        pieces = self.pieces(start, end)
        if function == "delta":
            return tuple(self.place(*piece) for piece in pieces)
        return tuple(self.inside(*piece) for piece in pieces)

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
            return syntax.Cell(syntax.Name(known), (self.place(*self.group(self.at)),))
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
        above = self.scripted(written[1:])
        if self.peek().text == "/" and self.is_differential(1):
            self.at += 1
            return syntax.Call("diff", (above, self.differential()))
        self.at = mark
        return None

    def is_differential(self, ahead: int) -> bool:
        """Whether a differential begins there: ``dz``, ``∂z``."""
        token = self.peek(ahead)
        return token.text == "∂" or (token.kind == "name" and token.text[:1] == "d")

    def differential(self) -> Tree:
        """What is differentiated by: ``dz_k``, ``∂z_k``."""
        if self.peek().text == "∂":
            self.at += 1
            written, self.at = self.run()
            return self._unraised(self.entry_or_name(self.scripted(written)))
        written, end = self.run()
        if written[:1] != "d":
            raise UnreadNotation
        if written == "d":
            # LaTeX has the letters apart.
            self.at += 1
            written, end = self.run()
            written = f"d{written}"
        self.at = end
        return self._unraised(self.entry_or_name(self.scripted(written[1:])))

    def _unraised(self, by: Tree) -> Tree:
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
            return tuple(self.place(*piece) for piece in pieces)
        places: list[Tree] = []
        at = start
        while at < end:
            token = self.tokens[at]
            if token.kind == "operator":
                return (self.place(start, end),)
            if token.kind == "open" or (at + 1 < end and self.tokens[at + 1].kind == "script"):
                return (*places, self.place(at, end))
            if token.kind == "name" and plain_name(token.text) in self.names.permutations:
                stop = self.partners[at + 1] + 1 if at + 1 < end else end
                places.append(self.place(at, max(stop, at + 1)))
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

    def place(self, start: int, end: int) -> Tree:
        """One place."""
        return self.inside(start, end)


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
