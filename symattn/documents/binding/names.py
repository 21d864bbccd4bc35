"""The meanings of an article's names in its recipe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from symattn.documents.binding import standard, values
from symattn.documents.binding.definitions import Definition, Definitions
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import Role, named
from symattn.documents.binding.standard import Standard
from symattn.documents.binding.workings import indexed
from symattn.documents.trees import Named, Opaque
from symattn.errors import expected
from symattn.expressions import syntax

#: A name with the number of a row behind it: q_1, k2.
_FAMILY = re.compile(r"([A-Za-z]+?)_?([0-9]{1,3})\Z")
#: What the lower-case letters of rows stand for, besides what names tell.
_ROWS: Mapping[str, Role] = {
    "s": "scores", "a": "weights", "alpha": "weights", "z": "output", "o": "output",
    "y": "output", "c": "output", "e": "scores", "w": "weights", "p": "weights",
    "P": "weights", "O": "output", "Z": "output",
}  # fmt: skip
#: Letters for the size of keys, when nothing says what they are.
_SIZES = ("d_k", "d", "d_q", "d_head", "d_h", "d_K", "dk", "dim", "d_key")


_COUNTS = re.compile(r"(?:d|n|num|dim)_\w+|\w+_(?:size|dim|len(?:gth)?|heads|layers)", re.I)
_NUMBER = re.compile(r"[0-9]+")
#: Floats are whole numbers where they are no farther from one.
_WHOLE = 1e-9


class Unknown(Exception):
    """A name that means nothing that is known."""


class Names:
    """Names of the article as names of the recipe; ``source`` is its text, where
    subscripts are told from brackets, ``first`` what subscripts count from.
    ``strictly``: what isn't defined means nothing, whatever its name suggests.
    """

    def __init__(
        self, recipe: Recipe, definitions: Definitions, standard: Standard, source: str
    ) -> None:
        self.recipe = recipe
        self.definitions = definitions
        self.standard = standard
        self.source = source
        self.first = 1
        self.canonical: dict[str, str] = {}
        self.failed: set[str] = set()
        self.strictly = False
        #: Whether a program is read, where powers are those of entries.
        self.in_code = False
        self.tokens: tuple[str, ...] = ()
        #: The inputs that rows such as s_1, s_2 were put together to, by their letters.
        self.stacked: dict[str, str] = {}
        self._order = 0
        self._versions: Mapping[str, str] = {}
        self._folded: dict[str, set[str]] = {}
        #: What blocks with a name were found to be, from which chain on.
        self._found: list[tuple[int, str, syntax.Tree]] = []
        self._meant: dict[str, syntax.Tree] = {}

    def find(self, order: int, name: str, tree: syntax.Tree) -> None:
        """A name means from that chain on what a block behind it was found to be."""
        self._found.append((order, name, tree))

    def at(self, order: int) -> None:
        """Names mean from here on what they mean in the chain of that number."""
        self._order, self._versions = order, self.definitions.versions(order)
        self._folded = {}
        self._meant = {name: tree for place, name, tree in self._found if place <= order}
        for name, key in self._versions.items():
            if key in self.canonical:
                self._folded.setdefault(_folded(name), set()).add(key)

    def definition(self, name: str) -> Definition | None:
        """Return what the article says of a name here."""
        return self.definitions.found.get(self._versions.get(name, ""))

    def is_defined(self, name: str) -> bool:
        """Return whether the article says what a name means."""
        return self._versions.get(name, "") in self.canonical or name in self.recipe

    def resolved(self, tree: syntax.Tree) -> syntax.Tree | None:
        """The tree over the recipe's names; None where one is unknown or it makes no sense."""
        try:
            meaning = self._over(tree)
        except Unknown:
            return None
        return meaning if self.recipe.node(meaning) is not None else None

    def why_not(self, tree: syntax.Tree) -> str:
        """Return why there is no such tree over the recipe's names."""
        try:
            return self.recipe.why_not(self._over(tree)) or "it can't be computed"
        except Unknown as error:
            known = dict.fromkeys([*self._versions, *self.recipe.given, *self.recipe.steps])
            # Of q[1] it may be q_1 that is not known.
            said = (one for one in syntax.names(tree) if str(error).startswith(one))
            name = next(said, str(error))
            return f"unknown name {name!r}: {expected(name, known)}"

    def _over(self, tree: syntax.Tree) -> syntax.Tree:
        match tree:
            case syntax.Indexed(syntax.Name() as operand, keys):
                return self._entry(operand, keys)
            case syntax.Indexed(syntax.Gradient() as operand, keys):
                return indexed_all(self._over(operand), self._counted(keys, self.first))
            case syntax.Indexed(operand, keys):
                return indexed_all(self._over(operand), keys)
            case syntax.Negative(syntax.Name("inf")):
                return tree
            case syntax.Name(name):
                return self.name(name)
            case syntax.Gradient(of):
                meaning = self.name(of)
                if not isinstance(meaning, syntax.Name):
                    raise Unknown(of)
                return syntax.Gradient(meaning.name)
            case syntax.Binary("+", left, syntax.Name(name)) if self._hides(name):
                return self._masked(self._over(left), name)
            case syntax.Binary("+" | "-" as op, left, right):
                return self._sum(op, self._over(left), self._over(right))
            case syntax.Array(items) if all(isinstance(item, syntax.Name) for item in items):
                # [head_1, head_2] are matrices side by side.
                return syntax.Call("concat", tuple(map(self._over, items)))
            case syntax.Cell() | Opaque():
                raise Unknown(type(tree).__name__)
        parts = syntax.mapped(tree, self._over)
        match parts:
            case syntax.Power(base, exponent) if not self.in_code and values.is_square(
                self.recipe.shape(base)
            ):
                try:
                    return values.multiplied(base, exponent)
                except values.UnreadPower:
                    raise Unknown("power") from None
        match parts:
            case syntax.Call("softmax", (scores, *_)) if self.standard.leaves_open(scores):
                raise Unknown("mask")
        return parts

    def _sum(self, op: str, left: syntax.Tree, right: syntax.Tree) -> syntax.Tree:
        """A sum; beside a matrix ``x.T @ y`` of two vectors is a matrix too, of rows."""
        shapes = [self.recipe.shape(side) or () for side in (left, right)]
        if len(shapes[0]) == 2 and not shapes[1]:
            right = self._outer(right)
        if len(shapes[1]) == 2 and not shapes[0]:
            left = self._outer(left)
        return syntax.Binary(op, left, right)

    def _outer(self, tree: syntax.Tree) -> syntax.Tree:
        """Every entry of one vector times every one of another, where that can be meant."""
        match tree:
            case syntax.Binary("@", syntax.Transposed(x), y) | syntax.Binary(
                "@", x, syntax.Transposed(y)
            ):
                if all(len(self.recipe.shape(vector) or ()) == 1 for vector in (x, y)):
                    return syntax.Call("outer", (x, y))
        return tree

    def _hides(self, name: str) -> bool:
        """Return whether a name is that of a mask of which no numbers are printed."""
        step = self.recipe.steps.get(name)
        is_assumed = step is not None and step.assumed and name not in self._versions
        return standard.is_name(name) and (is_assumed or not self.is_defined(name))

    def _masked(self, scores: syntax.Tree, name: str) -> syntax.Tree:
        """Scores that a mask of that name is added to."""
        known = self.definition(name)
        match known and known.tree:
            case syntax.Call("causal", (syntax.Literal("0"),)):
                masked = standard.CAUSAL.over(scores, self.recipe.shape(scores))
            case _:
                masked = self.standard.under_mask(scores)
        if masked is None:
            raise Unknown(name)
        return self.standard.masked(masked)

    def _entry(self, operand: syntax.Name, keys: tuple[syntax.Key, ...]) -> syntax.Tree:
        """An entry, its numbers from 0; of a family of rows the row."""
        first = self.first if self.is_subscript(operand) else 0
        counted = self._counted(keys, first)
        try:
            meaning = self.name(operand.name)
        except Unknown:
            numbers = "".join(str(key) for key in keys if isinstance(key, int))
            return self.name(f"{operand.name}_{numbers}")
        return indexed_all(meaning, counted)

    @staticmethod
    def _counted(keys: tuple[syntax.Key, ...], first: int) -> tuple[syntax.Key, ...]:
        """Keys that count from ``first``, from 0."""
        if any(key == 0 for key in keys):
            return keys
        return tuple(key - first if isinstance(key, int) and key > 0 else key for key in keys)

    def is_subscript(self, operand: syntax.Name) -> bool:
        """Return whether the keys of an entry stand below its name, and not in brackets."""
        if not isinstance(operand, Named):
            return False
        return self.source[operand.span.end : operand.span.end + 1] != "["

    def name(self, name: str) -> syntax.Tree:
        """Return what a name means; raises :class:`Unknown`."""
        if is_size(name) and (size := self.standard.size()) is not None:
            return size
        if name in self._meant:
            return self._meant[name]
        key = self._versions.get(name)
        known = self.definitions.found.get(key or "")
        if key is not None and key in self.canonical:
            return syntax.Name(self.canonical[key])
        if self.is_lost(name):
            raise Unknown(name)
        similar = self._folded.get(_folded(name), set())
        if len(similar) == 1 and len(name) > 1:
            return syntax.Name(self.canonical[next(iter(similar))])
        if name in self.recipe and name not in self.stacked:
            value = known.value if known is not None and key != name else None
            if value is not None and len(values.shape(value)) != 1:
                # It is given anew, and what it was before is meant no longer; a vector may be
                # a row with its label, of one matrix and of another.
                raise Unknown(name)
            return syntax.Name(name)
        quantity = self._of_rows(name) if len(name) == 1 else None
        if quantity is None and not self.strictly:
            quantity = self.row(name) or self._by_role(name)
        if quantity is None:
            raise Unknown(name)
        return quantity

    def is_lost(self, name: str) -> bool:
        """Return whether a program stored to a name without being followed, or to what it is
        computed from: it means nothing then, whatever it meant before."""
        waiting, seen = [self._versions.get(name, "")], set[str]()
        while waiting:
            key = waiting.pop()
            known = self.definitions.found.get(key)
            if known is None or key in seen or key in self.canonical:
                continue
            if known.is_lost or known.is_opaque:
                return True
            seen.add(key)
            waiting += () if known.tree is None else syntax.names(known.tree)
        return False

    def _by_role(self, name: str) -> syntax.Tree | None:
        key = self._versions.get(name, "")
        known = self.definitions.found.get(key)
        if known is not None and known.tree is not None and key not in self.failed:
            # It has a meaning of its own, which is to be understood first.
            return None
        role = usual_role(name)
        if role is None:
            return None
        if (number := _NUMBER.search(name)) is not None and named(name) is not None:
            return self.standard.of_head(role, name, number[0])
        quantity = self.standard.of(role)
        if (
            known is not None
            and known.value is not None
            and self._is_coarser(known.value, quantity)
        ):
            # The target y = (1, 0) is no output of attention.
            return None
        return quantity

    def _is_coarser(self, value: syntax.Tree, tree: syntax.Tree | None) -> bool:
        """Return whether a value is printed in whole numbers, and a quantity isn't of such."""
        numbers = None if tree is None else self.recipe.floats(tree)
        figures = list(values.figures(value))
        if numbers is None or not figures or any("." in figure.text for figure in figures):
            return False
        finite = numbers[np.isfinite(numbers)]
        return bool((np.abs(finite - np.round(finite)) > _WHOLE).any())

    def _of_rows(self, base: str) -> syntax.Tree | None:
        """The matrix that the rows of a letter make, or that its capital names."""
        if base in self._meant:
            return self._meant[base]
        if base in self.stacked:
            return syntax.Name(self.stacked[base])
        for other in (base, base.upper()):
            key = self._versions.get(other, "")
            name = self.canonical.get(key, other if other in self.recipe else "")
            if name and len(self.recipe.shape(syntax.Name(name)) or ()) == 2:
                return syntax.Name(name)
        return None

    def _family(self, base: str) -> syntax.Tree | None:
        """The quantity that the rows of a letter are of: of that name, of its capital, or
        of the role that the letter suggests."""
        if (quantity := self._of_rows(base)) is not None:
            return quantity
        role = usual_role(base)
        return None if role is None else self.standard.of(role)

    def _has_heads(self, base: str) -> bool:
        """Return whether numbers behind a letter tell matrices apart: Q_1 and Q_2 of two heads."""
        return any(
            (other := _FAMILY.match(name))
            and other[1] == base
            and len(self.recipe.shape(syntax.Name(name)) or ()) == 2
            for name in (*self.recipe.given, *self.recipe.steps)
        )

    def is_row(self, name: str) -> str:
        """The letters of a name such as q_1, which may be that of a row; '' of others."""
        match = _FAMILY.match(name)
        return match[1] if match and (match[1].islower() or len(match[1]) == 1) else ""

    def row_number(self, name: str) -> int:
        """The number in the name of a row."""
        match = _FAMILY.match(name)
        return int(match[2]) if match else -1

    def row(self, name: str) -> syntax.Tree | None:
        """The row of a quantity that a name such as q_1 or q_cat means, or None."""
        match = _FAMILY.match(name)
        base, _, label = name.partition("_")
        if match is None and label not in self.tokens:
            return None
        base = base if match is None else match[1]
        if base.isupper() and self._has_heads(base):
            return None
        whole = self._family(base)
        if whole is None:
            return None
        if match is None:
            return indexed(whole, self.tokens.index(label))
        number = int(match[2])
        shape = self.recipe.shape(whole)
        if not shape:
            return None
        # s_11 is an entry where there are no eleven rows, s_2 of a single row its entry.
        places = [number - self.first]
        if len(shape) == 2 and shape[0] == 1:
            places = [0, places[0]]
        elif len(shape) == 2 and places[0] >= shape[0] and len(match[2]) == 2:
            places = [int(digit) - self.first for digit in match[2]]
        if any(not 0 <= one < size for one, size in zip(places, shape, strict=False)):
            return None
        return indexed(whole, *places)


def usual_role(name: str) -> Role | None:
    """The role that a name tells, also that of a lower-case letter.

    >>> usual_role("z"), usual_role("attention_weights"), usual_role("foo")
    ('output', 'weights', None)
    """
    return named(name) or _ROWS.get(name)


def is_size(name: str) -> bool:
    """Return whether a name usually stands for the size of a key."""
    return name in _SIZES


def is_count(name: str) -> bool:
    """Return whether a name usually stands for a size of a model, which each example gives anew.

    >>> [name for name in ("d_ff", "n_heads", "batch_size", "dot") if is_count(name)]
    ['d_ff', 'n_heads', 'batch_size']
    """
    return is_size(name) or _COUNTS.fullmatch(name) is not None


def indexed_all(tree: syntax.Tree, keys: tuple[syntax.Key, ...]) -> syntax.Tree:
    """The entry, row or column of a tree that keys choose."""
    whole = [key for key in keys if isinstance(key, int)]
    if len(whole) == len(keys):
        return indexed(tree, *whole)
    return syntax.Indexed(tree, keys)


@lru_cache(maxsize=1 << 12)
def _folded(name: str) -> str:
    """A name as others may write it: W_q for W_Q, Wq."""
    short = name.replace("_", "").lower()
    # W1 is W_1, but q_1 is a row of Q and no Q1.
    return name.replace("_", "") if short[-1:].isdigit() or len(short) < 2 else short
