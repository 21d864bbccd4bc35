"""The worked-solution sheet of a walkthrough, as blocks.

Given matrices; every step as general formula, substitution, closed form and
rounded value; the Jacobian and the gradients by stages; what the cross-check
and SymPy found; how to make the sheet again.
"""

from __future__ import annotations

from collections.abc import Iterator

from symattn import formulas as f
from symattn.auditing.audit import audit
from symattn.errors import Malformed, Refuted
from symattn.printers import blocks as b
from symattn.programs.display import formula as step_formula
from symattn.programs.display import symbol
from symattn.programs.nodes import Node
from symattn.sheets import definitions
from symattn.sheets.backward import backward
from symattn.sheets.comparison import comparison
from symattn.sheets.redpen import differences
from symattn.sheets.steps import Steps
from symattn.sheets.substitution import listed, substitution
from symattn.solution.solution import Solution
from symattn.verdicts import Verdict
from symattn.verification import Verification, verify

DETAILS = ("brief", "full")


def sheet(solution: Solution, detail: str = "brief", places: int = 4) -> b.Sheet:
    """The worked-solution sheet of a solved case.

    ``detail`` is ``brief`` (the first row of every product is worked) or
    ``full`` (all rows); ``places`` the decimal places. Raises
    :class:`Malformed` for other values, and :class:`Refuted` if the
    cross-check refutes a figure: a sheet carries checked lines only.

    >>> from symattn.solution.solution import solve
    >>> made = sheet(solve("cat-sat-mat"))
    >>> made.title
    'Three tiny vectors, no projections'
    """
    if detail not in DETAILS:
        raise Malformed(f"unknown detail {detail!r}: expected one of {', '.join(DETAILS)}")
    if not 1 <= places <= 30:
        raise Malformed(f"expected 1 to 30 places on a sheet, found {places}")
    verification = verify(solution)
    if verification.verdict is Verdict.REFUTED:
        wrong = [
            check.quantity
            for check in verification.checks
            if Verdict.REFUTED in (check.verdict, check.symbolic)
        ]
        raise Refuted(
            f"{solution.case.name}: the cross-check refutes {', '.join(wrong)}; "
            "no sheet is written from figures that don't hold"
        )
    steps = Steps(solution, detail == "full", places)
    case = solution.case
    blocks = [
        *_opening(steps),
        *_given(steps),
        *_forward(steps),
        *comparison(steps),
        *backward(steps),
        *_differences(steps),
        *_check(verification),
        *substitution(solution, verification),
        *_reproduction(steps),
    ]
    subtitle = ", ".join(case.tokens) if case.tokens else case.name
    return b.Sheet(case.name, case.title or case.name, (subtitle,), tuple(blocks))


def _opening(steps: Steps) -> Iterator[b.Block]:
    case = steps.case
    if case.note:
        yield b.Paragraph((case.note,))
    if case.source:
        yield b.Paragraph((b.Strong("After: "), case.source, "."))
    yield b.Paragraph(
        (
            "Every value after ", b.Math("="), " is exact. What follows ", b.Math(r"\approx"),
            f" is correctly rounded to {steps.places} decimal places "
            f"({case.rounding.replace('-', ' ')}); what those can't show, to significant digits. "
            "Rows and columns are counted from 0. "
            "A factor whose closed form is long stands by its name, such as ",
            b.Math(r"A_{0,1}"), "; its value is given where that name is worked out.", _size(steps),
        )
    )  # fmt: skip


def _size(steps: Steps) -> str:
    if not steps.large:
        return ""
    return " This case is large: of each step a few entries are worked out and the rest is rounded."


def _given(steps: Steps) -> Iterator[b.Block]:
    yield b.Heading(("Given",))
    scalars = [n for n in steps.program.given if not steps.program.quantities[n].shape]
    matrices = [n for n in steps.program.given if n not in scalars]
    items: list[b.Matrix] = []
    for name in matrices:
        node = steps.program.quantities[name]
        items += steps.whole(node, f.name_latex(name), exact=True)
    if items:
        yield b.Matrices(tuple(items))
    if scalars:
        text: list[str | b.Math] = []
        for name in scalars:
            node = steps.program.quantities[name]
            exact = steps.shown.exact(node, 0, 0)
            relation = r"\approx" if exact is None else "="
            value = f.latex(exact or steps.shown.decimal(node, 0, 0))
            text += [b.Math(f"{f.name_latex(name)} {relation} {value}"), ", "]
        yield b.Paragraph((*text[:-1], "."))


def _forward(steps: Steps) -> Iterator[b.Block]:
    yield b.Heading(("Forward",))
    copies: list[str] = []
    for name in steps.program.steps:
        node = steps.program.quantities[name]
        if node.op == "copy":
            copies.append(name)
            continue
        yield from _copies(steps, copies)
        copies = []
        role = _role(node)
        formula = steps.formula(f.name_latex(name), node)
        yield b.Heading((b.Math(formula), f" \N{EN DASH} {role}" if role else ""), 2)
        if formula == f.name_latex(name):
            yield b.Paragraph(("Computed as ", b.Code(steps.case.steps[name]), "."))
        row_sum = f.latex(steps.shown.row_label(node, "i")) if node.op == "softmax" else ""
        yield from steps.definitions(definitions.of_step(node, steps.named, row_sum))
        yield from steps.work(node)
    yield from _copies(steps, copies)


def _copies(steps: Steps, names: list[str]) -> Iterator[b.Block]:
    """``Q = K = V = X``: steps that only rename."""
    sources: dict[str, list[str]] = {}
    for name in names:
        source = f.latex(step_formula(steps.program.quantities[name], steps.named))
        sources.setdefault(source, []).append(f.name_latex(name))
    for source, aliases in sources.items():
        chain = " = ".join([*aliases, source])
        yield b.Paragraph(
            ("Nothing to compute in ", b.Math(chain), ": the same matrix under another name.")
        )


def _differences(steps: Steps) -> Iterator[b.Block]:
    """Where the document's figures differ, if it prints any."""
    if steps.case.claims:
        yield from differences(audit(steps.solution))


def _check(verification: Verification) -> Iterator[b.Block]:
    yield b.Heading(("Cross-check",))
    yield b.Paragraph(
        (
            "NumPy computed every quantity a second time in 64-bit floats, from the steps' "
            "text, with the definitions printed above as its code, and the gradients also by "
            "complex steps. ", b.Strong("ulp"),
            ": largest distance from the exact value in units of the last place. ",
            b.Strong("scaled"), ": that distance over the bound that follows from the "
            "magnitudes of all terms; up to 1 is rounding, more would be an error.",
        )
    )  # fmt: skip
    half = (len(verification.checks) + 1) // 2
    cells: list[tuple[b.Line, ...]] = [
        (
            (b.Math(f.latex(symbol(check.quantity))),),
            *((text,) for text in check.texts),
            (str(check.verdict),),
        )
        for check in verification.checks
    ]
    empty: tuple[b.Line, ...] = ((), (), (), ())
    right = cells[half:] + [empty] * (2 * half - len(cells))
    header: tuple[b.Line, ...] = (("quantity",), ("ulp",), ("scaled",), ("verdict",))
    yield b.Table(
        (*header, *header),
        tuple((*a, *c) for a, c in zip(cells[:half], right, strict=True)),
        "lrrl@{\\hspace{12mm}}lrrl",
    )
    for doubt, quantities in verification.doubts.items():
        yield b.Paragraph((b.Strong("Left open by floats: "), *listed(quantities), f": {doubt}."))


def _reproduction(steps: Steps) -> Iterator[b.Block]:
    name = steps.case.name
    detail = " --detail full" if steps.full else ""
    places = "" if steps.places == 4 else f" --places {steps.places}"
    yield b.Heading(("Make it again",))
    yield b.Listing(
        (
            f"symattn sheet {name}{detail}{places}",
            f"symattn show {name} {steps.case.output} --places 12",
            f"symattn verify {name}",
        )
    )


def _role(node: Node) -> str:
    """What a step is called in the field, where its form tells."""
    match node.op, node.operands:
        case "softmax", _:
            return "attention weights"
        case "hide", _:
            return "masked scores"
        case "matmul", (_, y) if y.op == "transpose":
            return "scores"
        case "matmul", (x, _) if x.op == "softmax":
            return "output"
        case "divide" | "multiply", (x, _) if x.op == "matmul" and x.operands[1].op == "transpose":
            return "scaled scores"
        case "matmul", (x, y) if y.op == "given":
            return "projection"
    return ""
