"""A derivation as a sheet: statement, proof line by line, conclusion."""

from __future__ import annotations

from collections.abc import Iterator

from symattn.proofs.derivation import HOW, Derivation, Equation, Step
from symattn.proofs.printing import latex, pieces
from symattn.sheets import blocks as b
from symattn.sheets.layout import TEXT, broken_text, width
from symattn.verdicts import Verdict


def sheet(derivation: Derivation) -> b.Sheet:
    """The sheet of a derivation, its lines and NumPy's check of it.

    >>> from symattn.proofs import THEORY
    >>> sheet(THEORY["softmax-jacobian"]).title
    'Softmax Jacobian'
    """
    title = derivation.name.replace("-", " ").title()
    return b.Sheet(derivation.name, title, _prose(derivation.statement), tuple(_blocks(derivation)))


def _blocks(derivation: Derivation) -> Iterator[b.Block]:
    yield b.Heading(("Given",))
    for assumption in derivation.assumptions:
        yield b.Paragraph(_prose(assumption))
    yield from _definitions(derivation, "")
    yield b.Paragraph((b.Strong("Source: "), *_prose(derivation.source), "."))
    for part in derivation.parts:
        yield b.Heading(_prose(part) if part else ("Proof",))
        if part:
            yield from _definitions(derivation, part)
        rows = [_row(step) for step in derivation.steps if step.part == part]
        yield b.Table(((), ("line",), ("because",)), tuple(rows), "rP{94mm}P{48mm}")
    yield b.Heading(("Conclusion",))
    for result in derivation.conclusion.results:
        lines = _lines(result.index)
        if result.matrix is not None:
            lines += _lines(result.matrix)
        yield b.Equations(tuple(lines))
    yield from _checks(derivation)


def _definitions(derivation: Derivation, part: str) -> Iterator[b.Block]:
    held = [line for line in derivation.definitions if line.part == part]
    if held:
        yield b.Equations(tuple(piece for line in held for piece in _lines(line)))


def _lines(equation: Equation) -> list[tuple[str, str, str]]:
    """An equation on as many lines as it needs."""
    left, right = latex(equation.lhs), latex(equation.rhs)
    if width(left) > TEXT / 2:
        # A long left side gets lines of its own, the right side the last one.
        *above, last = broken_text(left, TEXT - 4)
        return [("", "", piece) for piece in (*above, last)] + [("", "=", right)]
    first, *rest = broken_text(right, TEXT - width(left) - 4)
    return [(left, "=", first), *(("", "", piece) for piece in rest)]


def _row(step: Step) -> tuple[b.Line, ...]:
    left = r"\qquad" if step.continues else latex(step.lhs)
    flag = "" if step.how == "symbolic" else f" ({HOW[step.how]})"
    equation = b.Math(rf"\displaystyle {left} = {latex(step.rhs)}")
    return (str(step.number),), (equation,), (*_prose(step.rule), flag)


def _checks(derivation: Derivation) -> Iterator[b.Block]:
    report = derivation.check()
    sizes = "; ".join(
        ", ".join(f"{name} = {size}" for name, size in dict(held).items())
        for held in derivation.sizes
    )
    held = [label for label, verdict in report.numeric if verdict is Verdict.HOLDS]
    yield b.Heading(("How it was checked",))
    yield b.Paragraph(
        (
            f"Lines confirmed: {derivation.summary()}. Every line also holds exactly at the sizes ",
            *_prose(sizes),
            ". NumPy, at random points and with derivatives by complex steps, agrees on: ",
            ", ".join(held),
            ".",
        )
    )
    yield b.Listing((f"symattn derive {derivation.name}",))


def _prose(words: str) -> b.Line:
    """Words with the names in them as mathematics."""
    return tuple(b.Math(name) if name else plain for plain, name in pieces(words))
