"""A case's steps as definitions, its gradients as lines, for any size.

What the backward pass of a program computes is judged like any derivation: the program says
``dV == A.T @ dY``, the derivation takes the derivative of any loss and proves that they are
equal whatever the sizes. Lengths that nothing needs become names: n, d, m.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from symattn.calculus import library
from symattn.calculus.derivation import Derivation
from symattn.calculus.judging import derived
from symattn.calculus.names import free_letters
from symattn.cases import library as cases
from symattn.cases.case import Case
from symattn.errors import Fault, Malformed
from symattn.expressions import syntax
from symattn.expressions.shapes import any_length
from symattn.expressions.syntax import Written
from symattn.numbers.values import Value
from symattn.programs import nodes
from symattn.programs.axes import Size, Sizes, ids
from symattn.programs.backward import flows
from symattn.programs.lines import LineWriter
from symattn.programs.nodes import Node, ancestors
from symattn.programs.program import Program, sound_part
from symattn.programs.tables import number

#: What a loss is called, and what any function of a number that is the output.
_LOSSES = ("L", "J", "loss")


def derive_case(case: str | Path | Case) -> Derivation:
    """The gradients of a case, each a line that is judged for all sizes.

    Raises :class:`Malformed` for a case with faults, and where a step can't be said in a
    derivation, with the step and the reason.

    >>> found = derive_case("cat-sat-mat")
    >>> found.summary(), found.lines[1].text
    ('8 lines: 8 proved', 'dT == A * (dA - rowsum(A * dA))')
    """
    case = case if isinstance(case, Case) else cases.load(case)
    document = tables(case)
    notes = document.pop("notes")
    document["statement"] = " ".join(["The backward pass of the case, for any size.", *notes])
    derivation = derived(case.name, document, library.draft_of)
    if derivation.faults:
        raise Malformed(map(_of_step, derivation.faults), str(case.path or case.name))
    return derivation


def _of_step(fault: Fault) -> Fault:
    """A fault of a definition is one of the step."""
    table, _, name = fault.where.partition(".")
    return Fault(f"steps.{name}" if table == "define" else fault.where, fault.message)


def tables(case: Case) -> dict[str, Any]:
    """The tables of a derivation file that states a case, and ``notes`` on what is left out.

    Raises :class:`Malformed`.
    """
    return _CaseTables(case).document()


def as_text(case: str | Path | Case) -> str:
    """A case as a derivation that is written by hand, to be edited and judged again.

    >>> print(as_text("cat-sat-mat").splitlines()[-1])
    dX = dV + dK + dQ     # X is used in Q, K, V
    """
    case = case if isinstance(case, Case) else cases.load(case)
    document = tables(case)
    lines = [f"# {document['title']}", ""]
    for name, axes in document["shapes"].items():
        lines.append(f"{name}: {' x '.join(map(str, axes)) or 'number'}")
    lines += [f"assume {line.replace('==', '=')}" for line in document["hypotheses"]]
    lines += [f"{name}: function of {of}" for name, of in document["losses"].items()]
    lines.append("")
    # What is the gradient of a loss that is given has its name by itself.
    known = {f"diff({loss}, " for loss in document["losses"]}
    stated = [*document["hypotheses"], *(entry["line"] for entry in document["lines"])]
    used = {name for line in stated for name in syntax.names(syntax.written(line).tree)}
    definitions = []
    for name, formula in reversed(document["define"].items()):
        own = any(formula == f"{start}{name[1:]})" for start in known)
        if name.partition("[")[0] in used | {*document["losses"].values()}:
            used |= {*syntax.names(syntax.written(formula).tree)}
            definitions += [] if name[0] == "d" and own else [f"{name} = {formula}"]
    lines += definitions[::-1]
    lines += ["", *(f"## {note}" for note in document["notes"]), "## Gradients", ""]
    for entry in document["lines"]:
        lines.append(f"{entry['line'].replace('==', '=')}     # {entry['because']}")
    return "\n".join(lines) + "\n"


class _CaseTables:
    """The tables of the derivation that states a case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.sizes = Sizes(case.program)
        self.shapes: dict[str, tuple[Size, ...]] = {
            name: self.sizes.of(case.program.quantities[name]) for name in case.program.given
        }
        self.is_generic = True
        self.program = self._generic()
        # Whole numbers that name places stand for rows of 0 and 1.
        self.named = self._named_places()

    def _generic(self) -> Program:
        """The program of any lengths; of the case's own where a step needs them."""
        shapes = {
            name: tuple(any_length(size) if isinstance(size, str) else size for size in axes)
            for name, axes in self.shapes.items()
        }
        steps, own = self.case.steps, self.case.program.functions
        program, faults = sound_part(shapes, steps, loss=self.case.output, functions=own)
        if faults:
            sizes = {name: self.case.program.quantities[name].shape for name in self.case.given}
            self.shapes, self.is_generic = dict(sizes), False
            program, _ = sound_part(sizes, steps, loss=self.case.output, functions=own)
        return program

    def _named_places(self) -> dict[str, Size]:
        every = ancestors(self.case.program.quantities.values(), through=nodes.built_in)
        named = [found for node in every if (found := ids(node)) is not None]
        return {
            node.extra: self.sizes.places(node)
            if self.is_generic
            else self.sizes.counts[node.extra]
            for node in named
            if node.op == "given"
        }

    def document(self) -> dict[str, Any]:
        program, case = self.program, self.case
        output = program.quantities.get(case.output)
        if output is None:
            raise Malformed("the case has no steps, and no gradients")
        loss = next(name for name in _LOSSES if name not in program.quantities)
        is_number = not output.shape
        start = number(1) if is_number else nodes.given("upstream", output.shape)
        gradients = flows(output, start)
        called = {
            name: f"d{name}" if f"d{name}" not in case.program.quantities else f"d_{name}"
            for name in reversed([*program.quantities])
            if program.quantities[name].serial in gradients
        }
        by_name = {name: gradients[program.quantities[name].serial] for name in called}
        writer = self._writer(program, called, by_name)
        of = case.output if is_number else loss
        define = {name: self._step(writer, name) for name in program.steps}
        lines, unsaid = [], []
        for name, node in by_name.items():
            if name != case.output:
                try:
                    formula = Written.of(writer.line(node, called[name]))
                except Malformed as error:
                    unsaid.append(f"{called[name]} is left out: {error}.")
                    continue
                line = syntax.equated(called[name], formula)
                lines.append({"line": line, "because": self._uses(name)})
        if not lines:
            raise Malformed("no gradient of the case can be stated. " + " ".join(unsaid))
        return {
            "title": f"Gradients of {case.title}",
            "notes": unsaid,
            "sizes": [*dict.fromkeys(self._size_names())],
            "shapes": {name: [*self._axes(name)] for name in program.given},
            "losses": {} if is_number else {loss: case.output},
            "hypotheses": [*self._hypotheses()],
            "define": define
            | {d: f"diff({of}, {name})" for name, d in called.items() if name != of},
            "lines": lines,
        }

    def _writer(
        self, program: Program, called: Mapping[str, str], gradients: Mapping[str, Node]
    ) -> LineWriter:
        names: dict[int, list[str]] = {}
        for name, node in gradients.items():
            if not (name == self.case.output and not node.shape):
                names.setdefault(node.serial, []).insert(0, called[name])
        for name, node in program.quantities.items():
            names.setdefault(node.serial, []).append(name)
        return LineWriter(names)

    def _step(self, writer: LineWriter, name: str) -> str:
        node = self.program.quantities[name]
        try:
            return Written.of(writer.line(node, name))
        except Malformed as error:
            where = f"steps.{name}"
            raise Malformed([Fault(where, fault.message) for fault in error.faults]) from None

    def _axes(self, name: str) -> Sequence[Size]:
        axes = self.shapes[name]
        return (*axes, self.named[name]) if name in self.named else axes

    def _size_names(self) -> Iterator[str]:
        for name in self.program.given:
            yield from (size for size in self._axes(name) if isinstance(size, str))

    def _hypotheses(self) -> Iterator[str]:
        """Numbers that are above 0, and rows of 0 and 1 with a single 1."""
        for name, rows in self.case.given.items():
            entry = rows[0][0] if self.program.quantities[name].shape == () else None
            if isinstance(entry, Value) and name not in self.named and entry.sign() > 0:
                yield f"{name} > 0"
        taken = {*self.case.program.quantities, *self._size_names()}
        for name in self.named:
            column, row = free_letters(2, taken, "ci")
            places = f"[{row}, {column}]" if len(self._axes(name)) == 2 else f"[{column}]"
            yield f"sum({column}, {name}{places}) == 1"

    def _uses(self, name: str) -> str:
        """Return where a quantity is used: what its gradient comes from."""
        users = [
            step
            for step, text in self.case.steps.items()
            if name in syntax.names(syntax.parse(text))
        ]
        return f"{name} is used in {', '.join(users)}" if users else "by the chain rule"
