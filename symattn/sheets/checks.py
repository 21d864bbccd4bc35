"""What the cross-check by NumPy and SymPy's formulas say of the figures on a sheet."""

from __future__ import annotations

from collections.abc import Iterator

from symattn import formulas as f
from symattn.languages.language import Language
from symattn.printers import blocks as b
from symattn.programs.display import symbol
from symattn.sheets.steps import Steps
from symattn.sheets.substitution import listed, substitution
from symattn.verdicts import Verdict
from symattn.verification import Verification


def checks(steps: Steps, verification: Verification) -> Iterator[b.Block]:
    """The table of the cross-check, and which of SymPy's formulas came to the figures."""
    say = steps.say
    yield b.Heading(say("Cross-check"))
    yield b.Paragraph(
        say(
            "NumPy recomputed every quantity in 64-bit floats from the text of the steps, "
            "using the definitions printed above as code, and the gradients also by complex "
            "steps. {ulp}: largest distance from the exact value in units in the last place. "
            "{scaled}: that distance divided by the bound given by the magnitudes of all "
            "terms; up to 1 is rounding, more would be an error.",
            ulp=b.Strong("ulp"),
            scaled=b.Strong(say.text("scaled")),
        )
    )
    yield _table(verification, say)
    for doubt, quantities in verification.doubts.items():
        yield b.Paragraph(
            (
                b.Strong(say.text("Not decided by floats:")),
                " ",
                *listed(quantities),
                f": {say.again(doubt)}.",
            )
        )
    yield from substitution(steps, verification)


def _table(verification: Verification, say: Language) -> b.Table:
    """Every quantity with its figures, in two columns."""
    half = (len(verification.checks) + 1) // 2
    cells: list[tuple[b.Line, ...]] = [
        (
            (b.Math(f.typeset(symbol(check.quantity))),),
            *((text,) for text in check.texts),
            (verdict(check.verdict, say),),
        )
        for check in verification.checks
    ]
    empty: tuple[b.Line, ...] = ((), (), (), ())
    right = cells[half:] + [empty] * (2 * half - len(cells))
    header: tuple[b.Line, ...] = (say("quantity"), ("ulp",), say("scaled"), say("verdict"))
    return b.Table(
        (*header, *header),
        tuple((*a, *c) for a, c in zip(cells[:half], right, strict=True)),
        "lrrl@{\\hspace{12mm}}lrrl",
    )


def verdict(outcome: Verdict, say: Language) -> str:
    """A verdict in a word.

    >>> from symattn.languages.language import ENGLISH
    >>> verdict(Verdict.HOLDS, ENGLISH)
    'holds'
    """
    words = {
        Verdict.HOLDS: say.text("holds"),
        Verdict.REFUTED: say.text("refuted"),
        Verdict.UNDECIDED: say.text("undecided"),
    }
    return words[outcome]
