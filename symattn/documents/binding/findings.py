"""Findings: what blocks are of each other, taken into the recipe of an article.

Each is defined under the name that the article gives it, or one after its role; a block
that others are computed from, and that nothing is known of, is an input.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from symattn import syntax
from symattn.documents.binding import rows as row_runs
from symattn.documents.binding import values, workings
from symattn.documents.binding.bounds import coming, same
from symattn.documents.binding.discovery import Block, Relation
from symattn.documents.binding.evidence import Kind
from symattn.documents.binding.ledger import Ledger, forms
from symattn.documents.binding.names import Names
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import Role
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Opaque

#: A block is a quantity that so many bits of its figures speak for.
_LIKELY = 6.0
#: And where nothing else says so, so many.
_SURE = 16.0
#: What a quantity is called that the article gives no name.
_CALLED: dict[Role, str] = {
    "query": "Q", "key": "K", "value": "V", "scores": "S", "scaled": "T", "masked": "M",
    "weights": "A", "output": "Y", "input": "X",
}  # fmt: skip


class Findings:
    """Takes what blocks are of others, by their figures, into a recipe."""

    def __init__(
        self,
        recipe: Recipe,
        names: Names,
        ledger: Ledger,
        blocks: Sequence[Block],
        chains: Sequence[Chain],
    ) -> None:
        self.recipe = recipe
        self.names = names
        self.ledger = ledger
        self.blocks = {one.number: one for one in blocks}
        self._chains = chains
        self._starts = [chain.span.start for chain in chains]
        #: In notebooks what code prints may stand before it: the chains by their figures.
        self._orders = {
            figure.span.start: order
            for order, chain in enumerate(chains)
            for member in chain.members
            if not isinstance(member, Opaque)
            for figure in values.figures(member)
        }
        self._known: dict[int, syntax.Tree | None] = {}

    def take(self, relations: Iterable[Relation]) -> None:
        """Define what isn't known yet, and claim the blocks of it."""
        for relation in relations:
            block = relation.block
            if self.ledger.is_taken(block.value) or self._explained(block) is not None:
                continue
            if isinstance(relation.tree, syntax.Name) and (
                self._is_assigned(block.value) or not self._is_known(relation.tree)
            ):
                # What is printed again is no input for that: it may be wrong both times.
                continue
            tree = syntax.replaced(relation.tree, self._operand)
            if any(name.startswith("block_") for name in syntax.names(tree)):
                continue
            if self._is_said(block, tree) or self._is_otherwise(block, relation.tree):
                continue
            if self._is_worked_otherwise(relation, tree):
                continue
            if isinstance(tree, syntax.Name | syntax.Indexed):
                self._claim(relation, tree)
                continue
            is_guessed = self._is_made_otherwise(block)
            name = self._same(tree) if is_guessed else None
            if name is None:
                name = self._step(self._in_steps(tree), block.name, block.value_span)
                if name is not None and is_guessed:
                    self.recipe.guess(name)
            if name is not None:
                self._claim(relation, syntax.Name(name))

    def sweep(self) -> None:
        """Claim the blocks that nothing says what they are of what is known, where all of
        their figures are those of it."""
        for block in self.blocks.values():
            is_stated = block.span.start in self.ledger.stated
            if block.information > _SURE and not is_stated:
                tree = self._explained(block, least=_SURE)
                if tree is not None:
                    self._claim_all_of(tree, block.value)
        for value, tree in self.ledger.others:
            self._claim_all_of(tree, value)

    def _claim_all_of(self, tree: syntax.Tree, value: syntax.Tree) -> None:
        found = self.ledger.said(tree, value)
        if found.share == 1 and found.bits >= _SURE and not self._is_assigned(value):
            self.ledger.claim(tree, value, "figures", "value")

    def _is_assigned(self, value: syntax.Tree) -> bool:
        """Whether a program gives a value a name: then it is that, whatever else is the same."""
        order = self._orders.get(next(values.figures(value)).span.start)
        chain = None if order is None else self._chains[order]
        return chain is not None and chain.is_code and isinstance(chain.members[0], syntax.Name)

    def _is_said(self, block: Block, tree: syntax.Tree) -> bool:
        """Whether a block is what its name says, or that but for a scale or a mask: then the
        name is believed, or it is told that the figures are another form's."""
        said, value = self._said(block), self.recipe.floats(tree)
        known = () if said is None else (said, *forms(self.recipe, said))
        held = (self.recipe.floats(one) for one in known)
        return value is not None and any(one is not None and same(one, value) for one in held)

    def _is_worked_otherwise(self, relation: Relation, tree: syntax.Tree) -> bool:
        """Whether a block is printed as what numbers right before it come to, and figures that
        speak for a relation that has others against it are not what these come to: some of
        few digits agree by chance with something."""
        block, held = relation.block, self.recipe.floats(tree)
        order = self._orders.get(block.span.start)
        if order is None or held is None or relation.agreeing == block.half.size:
            return False
        for work, value in pairwise(self._chains[order].members):
            if not (values.is_numeric(work) and values.is_value(value)):
                continue
            if next(values.figures(value)).span.start == block.span.start:
                comes = coming(work, value)
                agrees = abs(block.measured.middle - held.reshape(block.half.shape)) <= block.half
                return comes is not None and bool(
                    (agrees.reshape(-1)[: comes.size] & ~comes.reshape(-1)).any()
                )
        return False

    def _is_otherwise(self, block: Block, tree: syntax.Tree) -> bool:
        """Whether a program makes what a block is called by another kind of operation, though
        nobody can work that out: then the figures agree by chance."""
        self.names.at(self.order(block))
        meant = self.names.definition(block.name)
        if meant is None or meant.tree is None or meant.order < 0:
            return False
        if not self._chains[meant.order].is_code:
            return False
        return len({_operation(tree), _operation(meant.tree)} - {""}) > 1

    def _is_made_otherwise(self, block: Block) -> bool:
        """Tell whether it is what a program made of something that isn't understood."""
        order, name = self.order(block), block.name
        if not name and block.is_output and order > 0:
            match self._chains[order - 1]:
                case Chain((syntax.Name(shown),), is_code=True):
                    name = shown
        self.names.at(order)
        return self.names.is_lost(name)

    def _said(self, block: Block) -> syntax.Tree | None:
        """What the name of a block means where it stands."""
        self.names.at(self.order(block))
        return self.names.resolved(syntax.Name(block.name)) if block.name else None

    def _is_known(self, tree: syntax.Name) -> bool:
        """Whether it is known what a block is that is printed again."""
        block = self.blocks[int(tree.name.removeprefix("block_"))]
        known = self._known.get(block.number) or self._given(block) or self._explained(block)
        return known is not None

    def _step(self, tree: syntax.Tree, said: str, span: Span | None) -> str | None:
        """A step, under the name that is said or one after its role; one that stands nowhere
        is assumed."""
        name = self.recipe.define(said or "found_1", tree, span, assumed=span is None)
        if name is None or said:
            return name
        role = self.recipe.role(name)
        self.recipe.rename(name, _CALLED.get(role, "B") if role else "B")
        return next(reversed(self.recipe.steps))

    def _in_steps(self, tree: syntax.Tree) -> syntax.Tree:
        """An expression over what it is made of step by step: the article may show that too."""
        match tree:
            case syntax.Call(("softmax" | "causal"), (inner,)) | syntax.Binary("/", inner, _) if (
                not isinstance(inner, syntax.Name | syntax.Transposed)
            ):
                known = self._same(inner) or self._step(self._in_steps(inner), "", None)
                if known is None:
                    return tree
                whole = syntax.Name(known)
                if isinstance(tree, syntax.Binary):
                    return replace(tree, left=whole)
                return replace(tree, arguments=(whole,))
        return tree

    def _same(self, tree: syntax.Tree) -> str | None:
        """The quantity that has the value of an expression."""
        value = self.recipe.floats(tree)
        for name in (*self.recipe.given, *self.recipe.steps):
            held = self.recipe.floats(syntax.Name(name))
            if value is not None and held is not None and same(value, held):
                return name
        return None

    def _claim(self, relation: Relation, tree: syntax.Tree) -> None:
        block = relation.block
        self._known[block.number] = tree
        kinds: tuple[Kind, ...] = ("figures",) if relation.is_certain else ("figures", "value")
        if self.ledger.claim(tree, block.value, *kinds):
            if block.name:
                self.names.find(self.order(block), block.name, tree)
            row_runs.note_tokens(block.value, self.names)

    def order(self, block: Block) -> int:
        """The chain that a block stands in."""
        start = block.span.start
        return self._orders.get(start, bisect_right(self._starts, start) - 1)

    def _operand(self, part: syntax.Tree) -> syntax.Tree | None:
        match part:
            case syntax.Name(name) if name.startswith("block_"):
                return self.quantity(self.blocks[int(name.removeprefix("block_"))])
        return None

    def quantity(self, block: Block, supposed: bool = True) -> syntax.Tree | None:
        """The quantity that a block is; one that is nothing known is an input, if that is to
        be ``supposed``."""
        if block.number not in self._known:
            if not supposed:
                return None
            known = self._given(block) or self._explained(block)
            if known is None and not self.ledger.is_taken(block.value):
                letter = block.name or ("X" if len(values.shape(block.value)) == 2 else "b")
                name = self.recipe.give(letter, block.value, block.value_span, block.is_rounded)
                if name is not None:
                    self.recipe.supposed.add(name)
                    self.ledger.take(block.value, name)
                    row_runs.note_tokens(block.value, self.names)
                    known = syntax.Name(name)
            self._known[block.number] = known
        return self._known[block.number]

    def _given(self, block: Block) -> syntax.Tree | None:
        """The input that a block is, or the row of one."""
        for name, quantity in self.recipe.given.items():
            span = quantity.span
            if span is None or not span.start <= block.span.start < span.end:
                continue
            shape, own = quantity.numbers.shape, values.shape(block.value)
            whole = syntax.Name(name)
            rows: list[syntax.Tree] = [whole] if shape == own else []
            if shape[1:] == own:
                rows = [workings.indexed(whole, i) for i in range(shape[0])]
            for row in rows:
                if self.recipe.agreement(row, block.value) == 1:
                    return row
        return None

    def _explained(self, block: Block, least: float = _LIKELY) -> syntax.Tree | None:
        """What is known that a block's figures are those of, its own name first."""
        own = values.shape(block.value)
        said = self._said(block)
        found = [said] if said is not None else []
        for name in reversed([*self.recipe.given, *self.recipe.steps]):
            whole: syntax.Tree = syntax.Name(name)
            shape = self.recipe.shape(whole) or ()
            if shape == own:
                found.append(whole)
            elif len(shape) == 2 and shape[1:] == own and shape[0] <= _ROWS:
                found += [workings.indexed(whole, i) for i in range(shape[0])]
        for tree in found:
            if self.recipe.shape(tree) == own:
                held = self.ledger.said(tree, block.value)
                if held.share > 0.6 and held.bits >= least:
                    return tree
        return None


def _operation(tree: syntax.Tree) -> str:
    """What kind of operation gives a quantity: a product, what works entry by entry, or a
    function; nothing of what may be several."""
    match tree:
        case syntax.Transposed(operand):
            return _operation(operand)
        case syntax.Binary("@"):
            return "@"
        case syntax.Binary("/", syntax.Call("exp")):
            return "softmax"
        case syntax.Binary():
            return "entries"
        case syntax.Call("softmax"):
            return "softmax"
    return ""


#: Rows of larger quantities are not compared with a printed row.
_ROWS = 64
