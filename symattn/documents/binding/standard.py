"""The standard recipe, scaled dot-product attention, where an article leaves steps out.

Vaswani et al. 2017, section 3.2.1: softmax(Q K^T / sqrt(d_k)) V. What is assumed of it
is told in every report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from symattn.documents.binding import values
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import About, Phrase, Role, named
from symattn.documents.trees import Chain, walk
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape
from symattn.limits import TOKENS
from symattn.numbers.rationals import MINUS_INFINITY

# -- what an article hides from its queries ----------------------------------------------
# Later positions, or columns that are padding.

#: What an article that masks something speaks of.
SPOKEN = re.compile(r"causal|mask|padding|<pad>|\[PAD\]|look(?:ing)? ahead|future", re.I)
_NUMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_PADDED = re.compile(
    rf"\b(?:the\s+)?(?P<place>last|final|{'|'.join(_NUMBERS)})(?:\s+(?:token|position|word|one"
    r"|entry|key|column))?\s+(?:is|being|only|just|=)\s+(?:only\s+|just\s+)?(?:a\s+)?padding\b"
    r"|\b(?:token|position|word|column|key)\s+(?P<number>[0-9]{1,2})\s+(?:is|being)\s+(?:only\s+"
    r"|just\s+)?(?:a\s+)?padding\b",
    re.I,
)
#: Names that masks are added by.
_MASK_LETTERS = ("M", "mask", "Mask")
#: Masks of larger scores are not written out.
_ENTRIES = 1024


@dataclass(frozen=True)
class Mask:
    """A mask of scores: what comes later, or the columns ``hidden``, from 0, or from the end where
    they are negative. ``is_known`` is False where an article masks something, and it isn't
    understood what.

    >>> syntax.text(Mask((-1,)).over(syntax.Name("S"), (2, 3)))
    'mask(S, [[1, 1, 0], [1, 1, 0]])'
    """

    hidden: tuple[int, ...] = ()
    is_known: bool = True

    def over(self, scores: syntax.Tree, shape: Shape | None) -> syntax.Tree | None:
        """Scores of a shape under the mask; None where it doesn't fit them."""
        if not self.is_known or shape is None or len(shape) != 2:
            return None
        rows, columns = shape
        if not self.hidden:
            return syntax.Call("causal", (scores,)) if rows == columns else None
        places = {place % columns for place in self.hidden if -columns <= place < columns}
        if len(places) < len(self.hidden) or len(places) == columns or rows * columns > _ENTRIES:
            return None
        row = syntax.Array(
            tuple(syntax.Literal("0" if k in places else "1") for k in range(columns))
        )
        return syntax.Call("mask", (scores, syntax.Array((row,) * rows)))


CAUSAL = Mask()
UNKNOWN = Mask(is_known=False)


def told(words: str, chains: Iterable[Chain]) -> Iterator[Mask]:
    """The columns that an article says are padding, or that it prints as minus infinity.

    >>> list(told("Of four positions the last is padding.", []))
    [Mask(hidden=(-1,), is_known=True)]
    """
    for match in _PADDED.finditer(words):
        if match["number"]:
            yield Mask((int(match["number"]) - 1,))
        else:
            place = match["place"].lower()
            yield Mask((_NUMBERS.index(place) if place in _NUMBERS else -1,))
    for chain in chains:
        for member in chain.members:
            if values.is_value(member) and (columns := _hidden(member)):
                yield Mask(columns)


def _hidden(value: syntax.Tree) -> tuple[int, ...]:
    """The columns of a printed matrix that are minus infinity, where nothing else is."""
    if len(values.shape(value)) != 2:
        return ()
    rows = [
        tuple(k for k, text in enumerate(row) if text == MINUS_INFINITY)
        for row in values.printed(value)
        if not isinstance(row, str)
    ]
    return rows[0] if len(set(rows)) == 1 and len(rows) > 1 else ()


def is_name(name: str) -> bool:
    """Return whether something of that name, added to scores, hides some of them."""
    return name in _MASK_LETTERS or named(name) == "masked"


# -- standard ----------------------------------------------------------------------------

#: The usual letters of the steps.
_LETTERS: dict[Role, str] = {
    "query": "Q", "key": "K", "value": "V", "scores": "S", "scaled": "T", "masked": "M",
    "weights": "A", "output": "Y",
}  # fmt: skip


#: The matrices that project the input to queries, keys and values.
_WEIGHTS: dict[Role, Role] = {
    "query": "query weights",
    "key": "key weights",
    "value": "value weights",
}


#: In what the usual forms differ.
Form = Literal["scaled", "mask"]


@dataclass(frozen=True)
class Variant:
    """The one of the usual forms that an article has in mind, where it doesn't say so."""

    scaled: bool = True
    mask: Mask | None = None

    def differs(self, other: Variant, asked: Collection[Form]) -> bool:
        """Return whether it is another form, as far as was asked."""
        return any(getattr(self, form) != getattr(other, form) for form in asked)


@dataclass
class Standard:
    """The quantities of an article by their roles; what isn't there is assumed.

    ``phrases`` are the author's own, ``resolved`` gives the meaning of names in them;
    ``asked`` is what of the variant mattered so far.
    """

    recipe: Recipe
    variant: Variant = field(default_factory=Variant)
    latest: dict[Role, str] = field(default_factory=dict)
    phrases: list[Phrase] = field(default_factory=list)
    resolved: Callable[[syntax.Tree], syntax.Tree | None] = lambda tree: tree
    asked: set[Form] = field(default_factory=set)

    def of(self, role: About) -> syntax.Tree | None:
        """The quantity of a role: the only one there is; of several the one that figures
        were claimed of last, or else the first; or the standard one over what there is.
        None where there is nothing of that kind."""
        if not isinstance(role, str):
            return self.resolved(role)
        known = self.recipe.with_role(role)
        if not known:
            return self._assumed(role)
        latest = self.latest.get(role)
        return syntax.Name(latest if latest in known else known[0])

    def of_head(self, role: Role, name: str, number: str) -> syntax.Tree | None:
        """The queries, keys or values of a head by its number, as projections with the
        matrix of that number; None where there is none."""
        weights = _WEIGHTS.get(role)
        given = self.of("input")
        for matrix in [] if weights is None else self.recipe.with_role(weights):
            if given is not None and number in re.findall("[0-9]+", matrix):
                tree = syntax.Binary("@", given, syntax.Name(matrix))
                taken = self.recipe.define(name, tree, assumed=True)
                return None if taken is None else syntax.Name(taken)
        return None

    def note(self, tree: syntax.Tree) -> None:
        """Something is claimed of an expression: what is said next may be of the same."""
        for name in syntax.names(tree):
            if name in self.recipe and (role := self.recipe.role(name)) is not None:
                self.latest[role] = name

    def size(self) -> syntax.Tree | None:
        """The size of a key."""
        key = self.of("key")
        return None if key is None else syntax.Call("cols", (key,))

    def _assumed(self, role: Role) -> syntax.Tree | None:
        match role:
            case "query" | "key" | "value":
                tree = self.projected(role)
            case "scores":
                tree = self._joined("@", self.of("query"), _turned(self.of("key")))
            case "scaled":
                size = self.size() if self._scaled() else None
                root = None if size is None else syntax.Call("sqrt", (size,))
                tree = self._joined("/", self.of("scores"), root)
            case "masked":
                scores = self._scores() if self._mask() else None
                tree = None if scores is None else self.under_mask(scores)
            case "weights":
                masked = self.of("masked")
                scores = masked if masked is not None else self._scores()
                if scores is not None and masked is None:
                    scores = self.hidden(scores)
                tree = None if scores is None else syntax.Call("softmax", (scores,))
            case "output":
                tree = self._joined("@", self.of("weights"), self.of("value"))
            case _:
                tree = None
        return None if tree is None else self._take(role, tree)

    def under_mask(self, scores: syntax.Tree) -> syntax.Tree | None:
        """Scores under the mask that the article has in mind; None where it has none that
        is known and fits."""
        mask = self._mask()
        return None if mask is None else mask.over(scores, self.recipe.shape(scores))

    def hidden(self, scores: syntax.Tree) -> syntax.Tree | None:
        """Return what a softmax is taken of where an article speaks of a mask beside it: scores
        with what is hidden; these themselves where they are masked already, or are of
        another shape. None where it isn't known what is hidden."""
        if self.leaves_open(scores):
            return None
        masked = None if self._is_masked(scores) else self.under_mask(scores)
        return scores if masked is None else self.masked(masked)

    def leaves_open(self, scores: syntax.Tree) -> bool:
        """Return whether something is hidden of scores, and it isn't known what."""
        mask = None if self._is_masked(scores) else self._mask()
        return mask is not None and not mask.is_known

    def _is_masked(self, scores: syntax.Tree) -> bool:
        match scores:
            case syntax.Name(name):
                return self.recipe.role(name) == "masked"
            case syntax.Call("causal" | "mask"):
                return True
        return False

    def masked(self, hidden: syntax.Tree) -> syntax.Tree:
        """Masked scores as a step: the one that has this value, or a new one."""
        value = self.recipe.floats(hidden)
        for name in self.recipe.with_role("masked"):
            known = self.recipe.floats(syntax.Name(name))
            if value is not None and known is not None and np.array_equal(known, value):
                return syntax.Name(name)
        return self._take("masked", hidden) or hidden

    def unmasked(self, tree: syntax.Tree) -> syntax.Tree:
        """An expression without the masks that are assumed in what it is computed from."""
        plain: dict[str, syntax.Tree] = {}

        def without(name: str) -> syntax.Tree:
            step = self.recipe.steps.get(name)
            if step is not None and name not in plain:
                match self.recipe.trees[name]:
                    case syntax.Call("causal" | "mask", (scores, *_)) if step.assumed:
                        plain[name] = scores
                    case whole:
                        other = syntax.renamed(whole, without)
                        if other != whole and sum(1 for _ in walk(other)) <= TOKENS.most:
                            plain[name] = other
            return plain.setdefault(name, syntax.Name(name))

        return syntax.renamed(tree, without)

    def _scaled(self) -> bool:
        self.asked.add("scaled")
        return self.variant.scaled

    def _mask(self) -> Mask | None:
        self.asked.add("mask")
        return self.variant.mask

    def _scores(self) -> syntax.Tree | None:
        scaled = self.of("scaled")
        return scaled if scaled is not None else self.of("scores")

    def projected(self, role: Role) -> syntax.Tree | None:
        """The projection of the input that queries, keys or values are; None where the
        article has none."""
        matrix = self.of(_WEIGHTS[role])
        return None if matrix is None else self._joined("@", self.of("input"), matrix)

    def _joined(
        self, op: str, left: syntax.Tree | None, right: syntax.Tree | None
    ) -> syntax.Tree | None:
        if left is None or right is None:
            return None
        tree = syntax.Binary(op, left, right)
        return tree if self.recipe.node(tree) is not None else None

    def _take(self, role: Role, tree: syntax.Tree) -> syntax.Tree | None:
        name = self.recipe.define(_LETTERS[role], tree, assumed=True)
        if name is None:
            return None
        return syntax.Name(name)


def _turned(tree: syntax.Tree | None) -> syntax.Tree | None:
    return None if tree is None else syntax.Transposed(tree)
