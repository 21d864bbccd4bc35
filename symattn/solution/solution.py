"""A case solved: every quantity forward and backward, exact and rounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symattn.cases.case import Case, with_letters
from symattn.errors import Fault, Malformed, SymattnError, short
from symattn.expressions import syntax
from symattn.expressions.shapes import show
from symattn.expressions.syntax import gradient_name, gradient_of
from symattn.ieee import need_ieee
from symattn.numbers.reading import Masked
from symattn.programs.axes import Axes
from symattn.programs.jacobians import Jacobian
from symattn.programs.nodes import Node, ancestors
from symattn.solution import entries
from symattn.solution.quantity import Quantity
from symattn.solution.runs import ComputedSource, EntrySource, Runs

if TYPE_CHECKING:
    from symattn.numbers.double_double import DoubleDouble
    from symattn.solution.symbolic import Symbolic

#: Most quantities that a notebook lists.
_MOST_NAMED = 60


class Solution:
    """The exact solution of a case; quantities are computed when asked for.

    ``forward`` is a solution of the same forward program with the same
    numbers: what it has computed is taken over. Of one that ``is_sound`` every step is
    known to be defined, and nothing is computed yet.

    >>> s = solve("cat-sat-mat")
    >>> s["A[0, 0]"].decimal(4), s.gradient("V").decimal(3)[0][0]
    (Decimal('0.5065'), Decimal('0.967'))
    """

    def __init__(
        self, case: Case, forward: Solution | None = None, *, is_sound: bool = False
    ) -> None:
        self.case = case
        self.program = case.program
        upstream = self.program.upstream
        self._runs: Runs = Runs(forward._runs if forward else None, upstream)
        for name, rows in case.given.items():
            self._runs.inputs[self.program.quantities[name].serial] = rows
        if upstream is not None:
            self._runs.inputs[upstream.serial] = case.upstream
        self._parts: dict[str | None, Runs] = {}
        self._quantities: dict[str, Quantity] = {}
        self._by_node: dict[tuple[int, str], Quantity] = {}
        self._asked: set[int] = set()
        known = self.program.named
        self._lettered = {known[name].serial for name in case.lettered}
        #: Pairs of floats around what is no step of the program, by name.
        self.kept: dict[str, DoubleDouble] = {}
        if forward is None and not is_sound:
            self._validate()

    def __getitem__(self, expression: str) -> Quantity:
        """The quantity of an expression: a step (``"A"``), an entry
        (``"A[0, 1]"``), a gradient (``"dL/dQ"``, ``"grad(Q)"``, ``"dQ"``) or any
        expression over them. :class:`Malformed` if it is none."""
        if expression not in self._quantities:
            tree = syntax.parse(expression)
            found = self.program.jacobian(tree)
            node = self.program.lower_tree(tree) if found is None else found.node
            if outside := self._outside(node):
                raise Malformed(outside)
            name = self._name(expression, node)
            quantity = self.quantity(node, name)
            self._quantities[expression] = quantity if found is None else self._by(found, quantity)
        return self._quantities[expression]

    def __iter__(self) -> Iterator[str]:
        """The names of the given quantities and the steps."""
        return iter(self.program.quantities)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.program.known(name) is not None

    def __repr__(self) -> str:
        steps = short(", ".join(self.program.steps), 100)
        return f"<Solution of {self.case.name[:60]!r}: {steps}>"

    def _repr_html_(self) -> str:
        from symattn.printers import markdown

        texts = {name: self.case.steps.get(name, "given") for name in self}
        texts |= {name: "gradient" for name in self.program.named if name not in texts}
        rows = [
            (name, text, show(self[name].shape)) for name, text in list(texts.items())[:_MOST_NAMED]
        ]
        note = f"The first {_MOST_NAMED} of {len(texts)}." if len(texts) > _MOST_NAMED else ""
        title = self.case.title or self.case.name
        return markdown.summary(title, "", ("quantity", "what it is", "shape"), rows, note)

    def _name(self, expression: str, node: Node) -> str:
        """Return what a quantity is called: ``dL/dQ``, however the gradient was asked for."""
        named = self.program.named
        if expression in named:
            return expression
        return next((name for name, known in named.items() if known is node), expression)

    @cached_property
    def symbolic(self) -> Symbolic:
        """Every step and gradient as a formula in letters, derived by SymPy, into
        which SymPy puts the case's numbers; loads SymPy.

        :class:`~symattn.errors.NoClosedForm` for a program beyond
        :data:`~symattn.limits.DERIVED`.

        >>> solve("cat-sat-mat").symbolic["dL/dA"].matrix[0, 1]
        X[1, 0]*dL/dY[0, 0] + X[1, 1]*dL/dY[0, 1] + X[1, 2]*dL/dY[0, 2] + X[1, 3]*dL/dY[0, 3]
        """
        from symattn.solution.symbolic import Symbolic

        return Symbolic(self.case, self.keeps)

    def gradient(self, name: str) -> Quantity:
        """dL/d(name), where L is the sum of upstream times output; ``dQ``, ``grad(Q)`` and
        ``dL/dQ`` are those of Q."""
        if name not in self.program.quantities:
            name = gradient_of(name) or name
        return self[gradient_name(name)]

    def jacobian(self, of: str, by: str) -> Quantity:
        """Return how each entry of a quantity, a row, changes with each entry of another, a column.

        ``of`` and ``by`` name quantities or some of their entries (``"A"``, ``"A[0]"``), in
        any steps between which there are; labels name the entries. In expressions and claims
        it is ``"dA[0]/dT[0]"``. Raises :class:`Malformed` for other expressions and beyond
        :data:`~symattn.limits.JACOBIAN`; :class:`~symattn.errors.UnknownName` where ``of``
        does not depend on ``by``.

        >>> J = solve("cat-sat-mat").jacobian("A[0]", "T[0]")
        >>> print(J[0]); print(J.labels[0])
        [(e + e^(3/2))/(1 + sqrt(e) + e)^2, -e/(1 + sqrt(e) + e)^2, -e^(3/2)/(1 + sqrt(e) + e)^2]
        ('A[0, 0]', 'A[0, 1]', 'A[0, 2]')
        """
        return self[f"jacobian({of}, {by})"]

    def hessian(self, of: str, by: str, and_by: str = "") -> Quantity:
        """The second derivatives of a loss by the entries of a quantity, or of two.

        ``of`` is ``"L"``, the loss of the case, or a step that is a number; the rows are the
        entries of the gradient by ``by``, the columns those of ``and_by``, or of ``by`` again.
        Raises what :meth:`jacobian` raises.

        >>> H = solve("cat-sat-mat").hessian("L", "V")
        >>> H.shape, float(H.nearest().max())
        ((12, 12), 0.0)
        """
        slope = f"grad({by})"
        if of != "L" or of in self.program.quantities:
            slope = f"grad({of}, {by})"
        return self[f"jacobian({slope}, {and_by or by})"]

    def _by(self, found: Jacobian, quantity: Quantity) -> Quantity:
        """The quantity of a Jacobian, which says what its rows and columns are."""
        return quantity.labelled(
            found.name, (found.of.labels, found.by.labels), lambda: self.symbolic.jacobian(found)
        )

    def quantity(self, node: Node, name: str = "") -> Quantity:
        """The quantity of a node of the program."""
        key = node.serial, name
        if key not in self._by_node:
            self._by_node[key] = self._made(node, name)
        return self._by_node[key]

    def keep(self, name: str, pairs: DoubleDouble) -> None:
        """Take pairs of floats around a step or a gradient that were computed elsewhere, from
        the same case."""
        if name in self.program.named:
            self._runs.pairs.keep(self.program.named[name], pairs)
        else:
            self.kept[name] = pairs

    def at(self, **numbers: object) -> Solution:
        """The solution with exact numbers in the place of symbols, by name: the one that is
        had by solving with these numbers. Other symbols stay; one that is declared and occurs
        nowhere may be named too.

        Raises :class:`Malformed` for a name that is no symbol, what is no exact number, and
        where a step is not defined at these numbers.

        >>> from symattn import case
        >>> made = case("two", {"x": ["a", "b"]}, {"y": "softmax(x)"}, symbols=["a", "b"])
        >>> s = solve(made)
        >>> print(s["y"]); print(s.at(a=1, b="1/2")["y"])
        [1/(1 + e^(b - a)), e^(b - a)/(1 + e^(b - a))]
        [sqrt(e)/(1 + sqrt(e)), 1/(1 + sqrt(e))]
        """
        return Solution(with_letters(self.case, numbers))

    def keeps(self, node: Node, i: int, j: int, mask: object) -> bool:
        """Return whether the mask of a masking step keeps entry (i, j); see
        :data:`~symattn.programs.entrywise.Keeps`."""
        return not self.quantity(node).is_masked(i, j)

    def _made(self, node: Node, name: str) -> Quantity:
        is_lettered = self._runs.has_letters(node, self._lettered)
        degree = self._runs.degree(node) if self.case.symbols else 0

        def put(numbers: Mapping[str, object]) -> Quantity:
            solution = self.at(**numbers)
            # Another upstream gradient has nodes of its own.
            return solution[name] if name else solution.quantity(node)

        if not degree and not is_lettered:
            puts = put if self.case.registry.known else None
            return self._of(node, name, ComputedSource(self._runs, node), put=puts)

        # One of each, as it holds all its entries' balls.
        @cache
        def coefficient(symbol: str | None) -> Quantity:
            source = ComputedSource(self._part(symbol), node)
            return self._of(node, f"{name} [{symbol or 1}]", source)

        letters: dict[str, Any] = {"letters": tuple(self.case.letters), "put": put}
        if degree == 1 and not is_lettered:
            letters["coefficient"] = coefficient
        return self._of(node, name, EntrySource(self._runs.entries(node)), **letters)

    def _of(self, node: Node, name: str, source: EntrySource, **letters: Any) -> Quantity:
        """The quantity of a node; ``letters`` are those that it has, and what is done to them."""
        return Quantity(
            name,
            node.shape,
            source,
            self.case.rounding,
            labels=(self.tokens(node, 0), self.tokens(node, 1)),
            is_weights=node.op == "softmax",
            symbolic=(lambda: self.symbolic[name]) if name in self.program.named else None,
            **letters,
        )

    def tokens(self, node: Node, axis: int) -> tuple[str, ...]:
        """The tokens, if that axis of a node (0 rows, 1 columns) runs over them as the
        output's rows do, or where that is no row for each those of weights; else none."""
        tokens, rows = self.case.tokens, self._rows_of_tokens
        if rows is None or node.grid[axis] != len(tokens):
            return ()
        return tokens if self._axes.same(node, axis, rows, 0) else ()

    @cached_property
    def _rows_of_tokens(self) -> Node | None:
        """Return what has a row for each token."""
        output = self.program.quantities.get(self.case.output)
        if output is None or output.shape:
            return output
        # A loss has no rows: there is a query for each token.
        weights = (node for node in ancestors([output]) if node.op == "softmax")
        return next(
            (softmax for softmax in weights if softmax.grid[0] == len(self.case.tokens)), output
        )

    @cached_property
    def _axes(self) -> Axes:
        return Axes(self.program)

    def _part(self, symbol: str | None) -> Runs:
        """The runs with the coefficients of a symbol as upstream gradient: the
        loss is linear in it, and so are the gradients."""
        if symbol not in self._parts:
            upstream = self.program.upstream
            assert upstream is not None
            runs = self._parts[symbol] = Runs(self._runs, upstream)
            runs.inputs[upstream.serial] = tuple(
                tuple(x if isinstance(x, Masked) else x.coefficient(symbol) for x in row)
                for row in self.case.upstream
            )
        return self._parts[symbol]

    def _outside(self, node: Node) -> list[Fault]:
        """The numbers that a function on the way to a node is not of, but for what was asked
        before."""
        new = ancestors([node], stop=lambda x: x.serial in self._asked)
        self._asked |= {x.serial for x in new}
        known = self._runs.pairs.__getitem__, lambda x, i, j: self._runs.entries(x)(i, j)
        return list(entries.faults(new, known))

    def _validate(self) -> None:
        """Raise for every step that is not defined at these numbers: a row
        masked whole, a division by zero, the root of a negative number."""
        # Asked here too: what is wrong with all floats is no fault of one step.
        need_ieee()
        faults: list[Fault] = []
        broken: set[int] = set()
        for name in self.program.steps:
            node = self.program.quantities[name]
            if broken & {x.serial for x in ancestors([node])}:
                continue
            try:
                if outside := self._outside(node):
                    raise Malformed(outside)
                is_lettered = self._runs.has_letters(node, self._lettered)
                if not is_lettered and self._runs.is_finite(node):
                    continue
                self.quantity(node, name).rows  # noqa: B018
            except SymattnError as error:
                broken.add(node.serial)
                inner = error.faults if isinstance(error, Malformed) else (Fault("", str(error)),)
                line = self.case.lines.get(name, 0)
                faults += [replace(fault.inside(f"steps.{name}"), line=line) for fault in inner]
        if faults:
            raise Malformed(faults, source=str(self.case.path or ""))


def solve(case: str | Path | Case, allow_outside: bool = False) -> Solution:
    """The solution of a bundled case (by name), a file (by path) or a case.

    ``allow_outside`` is that of :func:`~symattn.cases.library.load`. Raises
    :class:`Malformed` with every fault. Steps of an article that have no value are none of
    its solution, and are left open in its reading: nobody wrote them as steps.

    >>> solve("cat-sat-mat")["S"].exact
    Matrix([
    [2, 0, 1],
    [0, 2, 1],
    [1, 1, 2]])
    """
    if not isinstance(case, Case):
        # Loads all that reads files.
        from symattn.cases import library

        case = library.load(case, allow_outside)
    while True:
        try:
            return Solution(case)
        except Malformed as error:
            if case.reading is None:
                raise
            # Loads all that reads articles.
            from symattn.cases.article import case_of, without

            case = case_of(without(case.reading, error))
