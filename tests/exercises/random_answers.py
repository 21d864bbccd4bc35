"""Students who answer at random: right, rounded, mistaken, consistent with what they wrote, or
nonsense, each answer in some way of writing numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

from flint import arb

from symattn.errors import Malformed
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.faults import catalogue, suspects
from symattn.exercises.marking.collecting import Blank, Script, read_answer
from symattn.exercises.marking.follow_through import FollowThrough
from symattn.numbers.balls import FIRST
from symattn.solution.entries import EntryValue

Texts = dict[Blank, str]
_NONSENSE = (
    "x", "1,2,3", "1/0", "sqrt(-1)", "2 3", "--", "e", "0x10", "1e", "exp(", "(1,2)", "inf", "nan",
)  # fmt: skip
_FORMS = (
    "1/3", "-2/7", "exp(1)", "1/(1 + exp(1))", "sqrt(2)/2", "−sqrt(8)", "pi/4", "tanh(1/2)",
    "2*log(3) - 1", "1/2 + 1/4", "erf(0.3)", "cos(1)", "3 × 2", "1/8192", "-(1/3)", "sin(2)*5",
)  # fmt: skip


class Student:
    """Writes scripts for one exercise."""

    def __init__(self, exercise: Exercise, seed: int) -> None:
        self.exercise = exercise
        self.random = Random(seed)
        #: What people often get wrong, and as many others.
        common, every = catalogue(exercise), suspects(exercise)
        self.faults = [*common, *self.random.sample(every, min(len(common), len(every)))]
        named = exercise.case.program.named
        self.in_order = sorted(exercise.parts, key=lambda part: named[part.quantity].serial)

    def texts(self) -> Texts:
        """One script."""
        draw, solution = self.random, self.exercise.solution
        own = FollowThrough(solution)
        truth = FollowThrough(solution)
        early = draw.random() < 0.3
        texts: Texts = {}
        for part in self.in_order:
            rows = own.computed(part.quantity)
            faults = [fault for fault in self.faults if fault.part == part.quantity]
            if faults and draw.random() < 0.25:
                rows = self._faulty(part, draw.choice(faults)) or rows
            elif draw.random() < 0.2:
                rows = truth.computed(part.quantity)
            coarse = draw.randint(0, part.places) if early or draw.random() < 0.2 else part.places
            is_sloppy = draw.random() < 0.5
            written: dict[tuple[int, int], arb | None] = {}
            for i, row in enumerate(rows):
                for j, near in enumerate(row):
                    text = self._written(near, part.places, coarse, is_sloppy)
                    if text.strip():
                        texts[Blank(part.quantity, i, j)] = text
                        try:
                            printed = read_answer(text.strip(), comma=True).printed
                        except Malformed:
                            continue
                        written[i, j] = None if printed is None else arb(printed.value)
            own.put(part.quantity, written)
        return texts

    def _faulty(self, part: Part, fault: object) -> list[list[arb | None]] | None:
        quantity = self.exercise.solution.quantity(fault.nodes[part.quantity])  # type: ignore[attr-defined]
        rows, columns = quantity.grid
        try:
            return [
                [
                    None if quantity.is_masked(i, j) else EntryValue(quantity, i, j).ball(FIRST)
                    for j in range(columns)
                ]
                for i in range(rows)
            ]
        except Exception:
            return None

    def _written(self, near: arb | None, places: int, coarse: int, is_sloppy: bool) -> str:
        draw = self.random
        if is_sloppy:
            match draw.randrange(14):
                case 0:
                    return ""
                case 1:
                    return draw.choice(_NONSENSE)
                case 2:
                    return draw.choice(_FORMS)
                case 3:
                    return draw.choice(("-inf", "−inf", " - inf", "-∞"))
                case 4:
                    return f"{draw.uniform(-3, 3):.{draw.randint(0, places)}f}"
                case 5 if near is not None:
                    near = -near
        if near is None or not near.is_finite():
            return "-inf"
        mantissa, power = map(int, near.mid().man_exp())
        exact = mantissa * Fraction(2) ** power
        if is_sloppy and draw.random() < 0.2:
            exact += Fraction(draw.choice((-2, -1, 1, 2, 10, -10)), 10**places)
        at = max(0, coarse + draw.choice((0, 0, 0, 0, 1, -1, 2)))
        scaled = exact * 10**at
        count = int(scaled) if draw.random() < 0.15 else round(scaled)
        digits = f"{abs(count):0{at + 1}d}"
        text = digits[:-at] + "." + digits[-at:] if at else digits
        text = ("-" if count < 0 else "") + text
        return self._styled(text, exact, count, at)

    def _styled(self, text: str, exact: Fraction, count: int, at: int) -> str:
        match self.random.randrange(16):
            case 0:
                return text.replace(".", ",")
            case 1:
                return text.replace("-", "−")
            case 2 if "." in text:
                return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
            case 3:
                return f"{count}e-{at}"
            case 4:
                return f"{count}/{10**at}"
            case 5 if exact.denominator < 50:
                return str(exact)
            case 6:
                return f"≈ {text}..."
            case 7 if at >= 2:
                shifted = f"{abs(count):0{at + 1}d}"
                return (
                    "-" if count < 0 else ""
                ) + f"{shifted[: 2 - at or None]}.{shifted[2 - at :] if at > 2 else ''}%"
            case 8:
                return f" {text}0 "
            case 9:
                return f"({text} + 0)"
        return text


def scripts(exercise: Exercise, count: int, seed: int) -> Iterator[tuple[Texts, Script]]:
    """So many scripts, as texts and as they are read."""
    student = Student(exercise, seed)
    for _ in range(count):
        texts = student.texts()
        answers, unread = {}, {}
        for blank, text in texts.items():
            try:
                answers[blank] = read_answer(text, comma=True)
            except Malformed:
                unread[blank] = text
        yield texts, Script("Ada", exercise.version, answers, unread)
