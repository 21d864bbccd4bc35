"""The recipe of an article, made of its definitions, what it gives and what it leaves out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from symattn.documents.binding import context, values, workings
from symattn.documents.binding import tables as row_runs
from symattn.documents.binding.bounds import coming, same
from symattn.documents.binding.definitions import Definition, Definitions
from symattn.documents.binding.discovery import Block, Found, Relation
from symattn.documents.binding.evidence import Kind
from symattn.documents.binding.ledger import Ledger, forms
from symattn.documents.binding.names import Names, usual_role
from symattn.documents.binding.recipe import Recipe
from symattn.documents.binding.roles import Role, named, spoken
from symattn.documents.binding.workings import indexed
from symattn.documents.help import Help
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Member, Opaque, walk
from symattn.expressions import syntax
from symattn.numbers.rationals import MINUS_INFINITY

# -- findings ----------------------------------------------------------------------------
# What blocks are of each other, taken into the recipe of an article.
#
# Each is defined under the name that the article gives it, or one after its role; a block that
# others are computed from, and that nothing is known of, is an input.

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
        """Return whether a program gives a value a name: then it is that, whatever else is the
        same."""
        order = self._orders.get(next(values.figures(value)).span.start)
        chain = None if order is None else self._chains[order]
        return chain is not None and chain.is_code and isinstance(chain.members[0], syntax.Name)

    def _is_said(self, block: Block, tree: syntax.Tree) -> bool:
        """Return whether a block is what its name says, or that but for a scale or a mask: then the
        name is believed, or it is told that the figures are another form's."""
        said, value = self._said(block), self.recipe.floats(tree)
        known = () if said is None else (said, *forms(self.recipe, said))
        held = (self.recipe.floats(one) for one in known)
        return value is not None and any(one is not None and same(one, value) for one in held)

    def _is_worked_otherwise(self, relation: Relation, tree: syntax.Tree) -> bool:
        """Return whether a block is printed as what numbers right before it come to, and figures
        that speak for a relation that has others against it are not what these come to: some of few
        digits agree by chance with something."""
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
        """Return whether a program makes what a block is called by another kind of operation,
        though nobody can work that out: then the figures agree by chance."""
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
        """Return what the name of a block means where it stands."""
        self.names.at(self.order(block))
        return self.names.resolved(syntax.Name(block.name)) if block.name else None

    def _is_known(self, tree: syntax.Name) -> bool:
        """Return whether it is known what a block is that is printed again."""
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
        """Return what is known that a block's figures are those of, its own name first."""
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
    """Return what kind of operation gives a quantity: a product, what works entry by entry, or a
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


# -- the gradient that a backward pass begins with ---------------------------------------
# Printed, given by the author, or of a loss.


def take(chains: Sequence[Chain], names: Names, ledger: Ledger, notes: Help) -> None:
    """Take dL/d(output) where the author or a chain gives it as a printed value, or where
    it is what an output differs from a target by; the first there is."""
    recipe = names.recipe
    stated = notes.loss or {}
    if isinstance(output := stated.get("output"), str) and "upstream" in stated:
        names.at(0)
        meaning = names.resolved(syntax.Name(output))
        above = values.of_texts(stated["upstream"])  # type: ignore[arg-type]
        if isinstance(meaning, syntax.Name) and values.is_closed(above):
            recipe.set_upstream(meaning.name, above)
    for order, chain in enumerate(chains):
        if recipe.upstream:
            return
        names.at(order)
        match _gradient_first(chain.members):
            # What is only about right is worked out, and not given.
            case (syntax.Gradient(of), *called, value) if (
                values.is_value(value)
                and "≈" not in chain.links
                and all(isinstance(name, syntax.Name) for name in called)
            ):
                meaning = names.resolved(syntax.Name(of))
                if isinstance(meaning, syntax.Name) and recipe.set_upstream(meaning.name, value):
                    ledger.take(value, f"dL/d{meaning.name}")
            case (syntax.Gradient(of), syntax.Binary("-", syntax.Name(less), target), *_) if (
                of == less
            ):
                _take_squares(of, target, chain.span, names)


def _gradient_first(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """The members of a chain, G = dL/dY = ... as dL/dY = G = ..."""
    match members:
        case (syntax.Name() as name, syntax.Gradient() as gradient, *rest):
            return gradient, name, *rest
    return members


def _take_squares(of: str, target: syntax.Tree, span: Span, names: Names) -> None:
    """Take the loss whose gradient is what a step differs from an input by: half the sum
    of the squares."""
    recipe = names.recipe
    output, held = names.resolved(syntax.Name(of)), names.resolved(target)
    if not isinstance(output, syntax.Name) or output.name not in recipe.steps or held is None:
        return
    if not set(syntax.names(held)) <= set(recipe.given):
        # A target that is computed has a gradient of its own.
        return
    row: syntax.Tree = output
    if recipe.shape(output) == (1, *(recipe.shape(held) or ())):
        row = indexed(output, 0)
    off = syntax.Binary("-", row, held)
    squares = syntax.Call("total", (syntax.Binary("*", off, off),))
    loss = recipe.define("L", syntax.Binary("/", squares, syntax.Literal("2")), span)
    if loss is not None:
        recipe.set_upstream(loss, syntax.Literal("1"))


# -- construction ------------------------------------------------------------------------

#: What is usually computed: a value that is printed of it is an input only where
#: nothing says from what it could be.
_COMPUTED: tuple[Role, ...] = (
    "query", "key", "value", "scores", "scaled", "masked", "weights", "output",
)  # fmt: skip


#: Letters that count: what is said to be equal to them is one of many.
_INDICES = frozenset("ijklmnt")
#: A column of vectors in a table: what stands above it, the labels of its rows, a matrix.
Column = tuple[str, tuple[str, ...], syntax.Tree]


class Construction:
    """Builds a recipe."""

    def __init__(
        self, recipe: Recipe, definitions: Definitions, names: Names, ledger: Ledger, notes: Help
    ) -> None:
        self.recipe = recipe
        self.definitions = definitions
        self.names = names
        self.ledger = ledger
        self.held = notes
        self.names.tokens = notes.tokens

    @property
    def tokens(self) -> tuple[str, ...]:
        """The labels of rows, once they are known."""
        return self.names.tokens

    def build(
        self,
        chains: Sequence[Chain],
        runs: Iterable[row_runs.Rows],
        columns: Iterable[Column],
        found: Found,
    ) -> None:
        """Take inputs, then the steps over them, then what is left as inputs, then what blocks
        are of others by their figures."""
        blocks, relations = found
        #: Where blocks stand that are results of others, and no inputs.
        self._results: set[int] = set()
        starts = {syntax.text(block.tree): block.span.start for block in blocks}
        for relation in relations:
            # What is printed again is a result where it was one.
            again = relation.tree.name if isinstance(relation.tree, syntax.Name) else None
            if again is None or starts[again] in self._results:
                self._results.add(relation.block.span.start)
        counted = self.held.count_from
        if counted is None:
            counted = min(self.names.first, _counted_from(chains, self.names))
        self.names.first = counted
        self._outputs = {block.span.start for block in blocks if block.is_output}
        self._needed = _used_names(chains)
        self._chains = chains
        # What the author computes from is an input, whatever its shape.
        asked = {name for step in self.held.steps.values() for name in syntax.names(step.tree)}
        left = []
        for definition in self.definitions.found.values():
            if definition.value is None:
                continue
            shape = values.shape(definition.value)
            is_matrix = len(shape) == 2 and not (
                self.names.is_row(definition.name) and min(shape) == 1
            )
            is_input = (is_matrix or definition.name in asked) and usual_role(
                definition.name
            ) not in _COMPUTED
            is_input = is_input and not (
                _are_shares(definition.value) and definition.name not in self._needed
            )
            is_input = is_input and not context.is_partly_hidden(definition.value)
            is_input = is_input and not self._is_only_shown(definition.name, definition.value)
            if (
                definition.name in self.definitions.fixed
                or is_input
                or (is_matrix and _is_mask(definition))
            ):
                self._give(definition)
            else:
                left.append(definition)
        self.names.at(0)
        for run in runs:
            self._take_rows(run)
        self._stack(left)
        for definition in left:
            self._give_operand(definition)
        for column in columns:
            self._take_column(column)
        self._take_steps(strictly=True)
        if sum(map(self._take_masked, left)):
            self._take_steps(strictly=True)
        for definition in left:
            # A number that something is computed from, and that nothing else can be.
            if usual_role(definition.name) is None and self._is_needed(definition):
                self.names.at(definition.order)
                if self.names.resolved(syntax.Name(definition.name)) is None:
                    self._give(definition)
        self._take_steps()
        for definition in left:
            if definition.key in self.names.canonical:
                continue
            self.names.at(definition.order)
            if self.names.resolved(syntax.Name(definition.name)) is not None or self._known(
                definition
            ):
                continue
            if self._is_needed(definition):
                self._give(definition)
                self._take_steps()
        take(chains, self.names, self.ledger, self.held)
        self.findings = Findings(self.recipe, self.names, self.ledger, blocks, chains)
        self.findings.take(relations)
        while self._suppose():
            self._take_steps(strictly=True)
            self.findings.take(relations)

    def _suppose(self) -> bool:
        """Take a quantity whose definition isn't understood for what is printed of it: what
        is computed from it can be held against that."""
        for block in self.findings.blocks.values():
            key = self.definitions.versions(self.findings.order(block)).get(block.name, "")
            one = self.definitions.found.get(key)
            if one is None or one.tree is None or key in self.names.canonical:
                continue
            self.names.at(self.findings.order(block))
            is_known = self.names.resolved(syntax.Name(one.name)) is not None
            is_needed = one.name in self._needed and not is_known
            known = self.findings.quantity(block, supposed=is_needed)
            # What it is like but for a figure it may be before it was changed.
            if isinstance(known, syntax.Name) and self.recipe.agreement(known, block.value) == 1:
                self.names.canonical[key] = known.name
                return True
        return False

    def _take_column(self, column: Column) -> None:
        """A column of vectors in a table: an input, where there is none of that kind."""
        said, labels, matrix = column
        role = named(said) or next(
            (phrase.role for phrase in spoken(said) if isinstance(phrase.role, str)), None
        )
        if role not in ("input", "query", "key", "value") or self.recipe.with_role(role):
            return
        if role != "input" and self.names.standard.projected(role) is not None:
            return
        letter = {"input": "X", "query": "Q", "key": "K", "value": "V"}[role]
        span = next(values.figures(matrix)).span
        if self._is_result(matrix):
            return
        if (name := self._input(letter, matrix, span)) is not None:
            self.ledger.take(matrix, name)
            if not self.tokens and row_runs.are_tokens(labels):
                self.names.tokens = labels

    def _give_operand(self, definition: Definition) -> None:
        """Take a printed query, key or value as an input, where nothing projects to it."""
        role = usual_role(definition.name)
        assert definition.value is not None
        if role not in ("query", "key", "value") or len(values.shape(definition.value)) != 2:
            return
        self.names.at(definition.order)
        if self.names.standard.projected(role) is None:
            self._give(definition)

    def _take_masked(self, definition: Definition) -> bool:
        """Take scores that are printed with minus infinities in them as a step: scores that
        are known, masked."""
        if definition.value is None or not context.is_partly_hidden(definition.value):
            return False
        masked = context.masked(self.recipe, definition.value)
        name = (
            None if masked is None else self.recipe.define(definition.name, masked, definition.span)
        )
        if name is not None:
            self.names.canonical[definition.key] = name
        return name is not None

    def _known(self, definition: Definition) -> bool:
        """Return whether a name can only be one of several quantities of its role, the one that
        most of its figures agree with; then it is."""
        assert definition.value is not None
        role = usual_role(definition.name) or ("weights" if _are_shares(definition.value) else None)
        if role == "weights" and not self.recipe.with_role(role):
            # Rows that are shares show the weights, also where no formula says so.
            self.names.standard.of(role)
        agree = {
            name
            for name in ([] if role is None else self.recipe.with_role(role))
            if self.recipe.agreement(syntax.Name(name), definition.value) > 0.5
        }
        if not agree:
            return False
        first, *others = (self.recipe.floats(syntax.Name(name)) for name in sorted(agree))
        if first is None or not all(other is not None and same(first, other) for other in others):
            return False
        self.names.canonical[definition.key] = min(agree)
        return True

    def _is_needed(self, definition: Definition) -> bool:
        """Return whether something is computed from a number or a vector; a matrix always
        counts."""
        assert definition.value is not None
        is_vector = len(values.shape(definition.value)) == 1
        if (
            is_vector
            and _are_shares(syntax.Array((definition.value,)))
            and self.recipe.with_role("weights")
        ):
            # Other weights than those that are computed: how isn't understood.
            return False
        is_matrix = len(values.shape(definition.value)) == 2 and not _are_shares(definition.value)
        return (is_matrix and not self._is_only_shown(definition.name, definition.value)) or (
            definition.name in self._needed and definition.name not in _INDICES
        )

    def _stack(self, rows: Sequence[Definition]) -> None:
        """Vectors x_1, x_2, ... that are given one by one, as the rows of one matrix."""
        first = self.names.first
        groups: list[tuple[str, list[Definition]]] = []
        latest: dict[str, list[Definition]] = {}
        for definition in sorted(rows, key=lambda definition: definition.order):
            if (base := self.names.is_row(definition.name)) and definition.value is not None:
                if self.names.row_number(definition.name) == first:
                    latest[base] = []
                    groups.append((base, latest[base]))
                if base in latest:
                    latest[base].append(definition)
        for base, members in groups:
            self._stack_rows(base, members)

    def _stack_rows(self, base: str, members: Sequence[Definition]) -> None:
        """Vectors of one letter as a matrix, where nothing says how it is computed."""
        vectors = [values.flat(member.value) for member in members if member.value is not None]
        shapes = {values.shape(vector) for vector in vectors}
        numbers = [self.names.row_number(definition.name) for definition in members]
        first = self.names.first
        follow = numbers == list(range(first, first + len(numbers)))
        role = named(base) or "input"
        if len(shapes) != 1 or len(*shapes) != 1 or not follow or len(members) < 2:
            return
        is_again = base in self.names.stacked
        if role not in ("input", "query", "key", "value") or self._is_computed(base):
            return
        if not is_again and self.recipe.with_role(role):
            return
        self.names.at(members[0].order)
        if not is_again and self.names.resolved(syntax.Name(members[0].name)) is not None:
            return
        whole = syntax.Array(tuple(vectors))
        spans = [definition.span for definition in members if definition.span is not None]
        span = spans[0].to(spans[-1]) if spans else None
        if self._is_result(whole):
            return
        if (name := self._input(base.upper(), whole, span)) is not None:
            self.names.stacked.setdefault(base, name)
            self.names.find(members[0].order, base, syntax.Name(name))
            self.ledger.take(whole, name)

    def _is_only_shown(self, name: str, value: syntax.Tree) -> bool:
        """Return whether nothing is computed from a matrix of broken numbers whose name says
        nothing: it may be computed itself, in words that aren't understood."""
        is_unknown = usual_role(name) is None and name not in self._needed
        return is_unknown and any("." in figure.text for figure in values.figures(value))

    def _is_computed(self, base: str) -> bool:
        """Return whether an expression says what the rows of a letter are together, and not only
        that these are its rows."""
        trees = (
            definition.tree
            for definition in self.definitions.found.values()
            if definition.name in (base, base.upper()) and definition.tree is not None
        )
        return any(
            all(self.names.is_row(name) != base for name in syntax.names(tree)) for tree in trees
        )

    def _is_result(self, value: syntax.Tree) -> bool:
        """Return whether a printed block is what others come to, by its figures."""
        first = next(values.figures(value), None)
        return first is not None and first.span.start in self._results

    def _give(self, definition: Definition) -> None:
        assert definition.value is not None
        if definition.name not in self.definitions.fixed and self._is_result(definition.value):
            return
        is_shown = self._is_shown(definition.name, definition.value)
        name = self._input(definition.name, definition.value, definition.span)
        if name is not None:
            self.names.canonical[definition.key] = name
            self.ledger.take(definition.value, name)
            row_runs.note_tokens(definition.value, self.names)
            if is_shown and definition.order >= 0 and self._chains[definition.order].is_code:
                # Nobody knows what a program made it of; what is printed of it may be wrong.
                self.recipe.supposed.add(name)

    def _input(self, name: str, value: syntax.Tree, span: Span | None) -> str | None:
        """Take a printed value as an input, with more digits than are shown where that may be."""
        return self.recipe.give(name, value, span, self._is_shown(name, value))

    def _is_shown(self, name: str, value: syntax.Tree) -> bool:
        """Return whether a program shows a value. What is given again may have been worked out, and
        is no more than shown either."""
        first = next(values.figures(value), None)
        is_output = first is not None and first.span.start in self._outputs
        return is_output or name in self.recipe

    def _take_rows(self, run: row_runs.Rows) -> None:
        """Rows that are printed one by one: the input, where there is none yet."""
        labels = row_runs.without_letter(run.tree.rows_said)
        if not self.tokens and row_runs.are_tokens(labels):
            self.names.tokens = labels
        if not self.tokens or labels != self.tokens:
            return
        if any(self.recipe.with_role(role) for role in ("input", "query", "key", "value")):
            return
        if self._is_result(run.tree):
            return
        if (name := self._input("X", run.tree, run.tree.span)) is not None:
            self.ledger.take(run.tree, name)

    def _take_steps(self, strictly: bool = False) -> None:
        """The definitions that make sense, in an order in which each does.

        Where one can't be understood, its name may still play a known part in others,
        if not ``strictly``.
        """
        self.names.failed.clear()
        waiting = [
            definition
            for definition in self.definitions.found.values()
            if definition.tree is not None and definition.key not in self.names.canonical
        ]
        # Rows such as q_2 come last: they may be rows of what is defined as a whole.
        waiting.sort(key=lambda one: bool(self.names.is_row(one.name)))
        while waiting:
            # What a name suggests counts only where no definition says what it means.
            left = [one for one in waiting if not self._define(one, strictly=True)]
            if len(left) == len(waiting) and strictly:
                return
            if len(left) == len(waiting):
                known = next((one for one in left if self._define(one, strictly=False)), left[0])
                if known.key not in self.names.canonical:
                    self.names.failed.add(known.key)
                left.remove(known)
            waiting = left

    def _define(self, definition: Definition, strictly: bool) -> bool:
        assert definition.tree is not None
        self.names.at(definition.order)
        self.names.strictly = strictly
        self.names.in_code = definition.order >= 0 and self._chains[definition.order].is_code
        try:
            return self._defined(definition, definition.tree)
        finally:
            self.names.strictly = False

    def _defined(self, definition: Definition, tree: syntax.Tree) -> bool:
        # Q_1 of the first head is a quantity of its own.
        is_row = definition.name[0].islower() and self.names.is_row(definition.name)
        is_fixed = definition.name in self.definitions.fixed
        row = self.names.row(definition.name) if is_row and not is_fixed else None
        canonical = self.names.canonical
        known = syntax.renamed(tree, lambda name: syntax.Name(canonical.get(name, name)))
        meaning = self.names.resolved(known)
        is_one = row is not None and not (meaning is not None and self._is_matrix(meaning))
        if is_one or (
            meaning is not None and not is_fixed and self._is_of_row(definition, meaning)
        ):
            self.names.failed.add(definition.key)
            return True
        name = None if meaning is None else self._step(definition.name, meaning, definition.span)
        if name is not None:
            canonical[definition.key] = name
        return name is not None

    def _is_matrix(self, tree: syntax.Tree) -> bool:
        return len(self.recipe.shape(tree) or ()) == 2

    def _is_of_row(self, definition: Definition, meaning: syntax.Tree) -> bool:
        """Return whether numbers are put into an expression whose value is printed as a row: what
        it says is of that row, and not of the whole."""
        printed = (
            member for member in self._chains[definition.order].members if values.is_value(member)
        )
        value = next(printed, None)
        return (
            value is not None
            and any(values.figures(meaning))
            and len(values.shape(value)) == 1
            and self._is_matrix(meaning)
            and not self.ledger.fits(meaning, value)
        )

    def _step(self, name: str, tree: syntax.Tree, span: Span | None) -> str | None:
        """A new step, or the older version of the name that has the same value."""
        tree = self._as_softmax(tree)
        match tree:
            case syntax.Call("softmax", (scores,)) as call if not self.names.in_code:
                hidden = self.names.standard.hidden(scores)
                if hidden is None:
                    return None
                tree = replace(call, arguments=(hidden,))
        if name in self.recipe:
            old, new = self.recipe.floats(syntax.Name(name)), self.recipe.floats(tree)
            if old is not None and new is not None and same(old, new):
                self.recipe.state(name, span)
                return name
        return self.recipe.define(name, tree, span)

    def _as_softmax(self, tree: syntax.Tree) -> syntax.Tree:
        """Exponentials over the sums of their rows are the softmax of what they are of."""
        match tree:
            case syntax.Binary("/", above, syntax.Call("rowsum", (below,))) if above == below:
                known = (
                    self.recipe.trees.get(above.name) if isinstance(above, syntax.Name) else above
                )
                if isinstance(known, syntax.Call) and known.function == "exp":
                    return syntax.Call("softmax", known.arguments)
        return tree


def _is_mask(definition: Definition) -> bool:
    """Return whether a printed value is what is hidden or kept: of ones and zeros, or minus
    infinity."""
    assert definition.value is not None
    texts = set(values.texts(definition.value))
    kept = texts <= {"0", "1", "0.", "1.", "0.0", "1.0", MINUS_INFINITY}
    return kept and usual_role(definition.name) == "masked"


def _are_shares(value: syntax.Tree) -> bool:
    """Return whether the rows of a printed matrix are shares that add up to one, as those of
    weights are, and of no matrix of zeros and ones."""
    rows = [[_float(part) for part in values.leaves(row)] for row in syntax.inside(value)]
    return any(0 < share < 1 for row in rows for share in row) and all(
        abs(sum(row) - 1) < 0.02 and min(row) >= 0 for row in rows
    )


def _float(part: syntax.Tree) -> float:
    try:
        return float(part.text) if isinstance(part, syntax.Literal) else np.nan
    except ValueError:
        return np.nan


def _used_names(chains: Sequence[Chain]) -> set[str]:
    """The names that stand in expressions, and not by themselves."""
    return {
        part.name
        for chain in chains
        for member in chain.members
        if not isinstance(member, syntax.Name)
        for part in walk(member)
        if isinstance(part, syntax.Name)
    }


def _counted_from(chains: Sequence[Chain], names: Names) -> int:
    """Return what subscripts count from: 0 where one is 0, else 1."""
    subscripts = (
        member.keys
        for chain in chains
        for member in chain.members
        if isinstance(member, syntax.Indexed)
        and isinstance(member.operand, syntax.Name)
        and names.is_subscript(member.operand)
    )
    return 0 if any(0 in keys for keys in subscripts) else 1
