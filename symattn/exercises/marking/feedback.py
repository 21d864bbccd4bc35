"""Feedback: what a student is told, as a page and as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from symattn.errors import short
from symattn.escaping import visible
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.marking.collecting import (
    DEFAULT,
    JudgedScript,
    Mark,
    MarkedSlip,
    Scheme,
    most,
    points_text,
)
from symattn.expressions import formulas as f
from symattn.expressions import typesetting as t
from symattn.languages.language import ENGLISH, Language
from symattn.printers import blocks as b
from symattn.programs.display import symbol

#: Letters of an answer that are shown.
_LETTERS = 24

_PEN = {
    "the sign is wrong": "Only its sign is wrong.",
    "the decimal point is misplaced": "Only its decimal point is misplaced.",
    "two neighbouring digits are swapped": "Two of its digits are swapped.",
    "one digit is another": "All digits but one are right.",
}


@dataclass(frozen=True)
class Feedback:
    """The feedback on one script."""

    judged: JudgedScript
    exercise: Exercise
    scheme: Scheme = DEFAULT
    say: Language = ENGLISH

    # -- as a page, and as text --------------------------------------------------------

    def sheet(self, name: str) -> b.Sheet:
        """The page of a student; ``name`` is what its file is called."""
        blocks: list[b.Block] = [b.Paragraph(line) for line in self._summary()]
        blocks.append(self._table())
        for part, marks in self.judged.parts:
            if all(mark.outcome == "right" for mark in marks):
                continue
            quantity = f.typeset(symbol(part.quantity))
            blocks.append(b.Heading(self._head(part, marks, b.Math(quantity))))
            cells = tuple(tuple(map(self._struck, row)) for row in _rows(marks))
            blocks.append(b.Matrices((b.Matrix(quantity + t.EQUALS, cells),)))
            blocks += map(b.Paragraph, self._notes(part, marks))
        return b.Sheet(name, self.exercise.title, (self._who(),), tuple(blocks), say=self.say)

    def text(self) -> str:
        """The same as plain text."""
        lines = [self.exercise.title, self._who(), ""]
        lines += map(_plain, self._summary())
        for part, marks in self.judged.parts:
            lines += ["", _plain(self._head(part, marks, b.Code(part.quantity)))]
            cells = [[*map(self._beside, row)] for row in _rows(marks)]
            widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
            lines += [
                "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
                for row in cells
            ]
            lines += ["  " + _plain(note) for note in self._notes(part, marks)]
        return "".join(f"{visible(line)}\n" for line in lines)

    # -- what is said ------------------------------------------------------------------

    @property
    def points(self) -> Fraction:
        """The points of the script."""
        return self.scheme.of(self.judged)

    def _who(self) -> str:
        script = self.judged.script
        points = {"points": points_text(self.points), "most": most(self.judged)}
        pieces = {"student": script.student, **points}
        if not script.version:
            return self.say.text("{student}: {points} of {most} points", **pieces)
        pieces["version"] = script.version
        return self.say.text("{student}, version {version}: {points} of {most} points", **pieces)

    def _head(self, part: Part, marks: Sequence[Mark], name: b.Math | b.Code) -> b.Line:
        return self.say(
            "{quantity}: {points} of {most} points",
            quantity=name,
            points=points_text(self.scheme.of_part(part, tuple(marks))),
            most=str(part.points),
        )

    def _summary(self) -> Iterator[b.Line]:
        say, judged = self.say, self.judged
        marks = [*judged.marks]
        right = judged.count("right")
        if right == len(marks):
            yield say("All {count} answers are right: well done!", count=str(right))
            return
        pieces = {"right": str(right), "count": str(len(marks))}
        if more := judged.count("follows"):
            yield say(
                "{right} of {count} answers are right, and {more} more agree with your "
                "earlier results.",
                more=str(more),
                **pieces,
            )
        else:
            yield say("{right} of {count} answers are right.", **pieces)
        if blank := judged.count("blank"):
            yield say("Left blank: {count}.", count=str(blank))
        yield from self._slips()
        following = dict.fromkeys(
            mark.blank.quantity for mark in marks if mark.outcome == "follows"
        )
        if following:
            yield say(
                "In {quantities}, answers that agree with your earlier results get credit for "
                "the method.",
                quantities=", ".join(following),
            )
        if {mark.outcome for mark in marks} == {"right", "early"}:
            yield say("Only the rounding is wrong: keep more places in your calculation.")

    def _slips(self) -> Iterator[b.Line]:
        """The first answer that is wrong in itself, and every slip that has a name."""
        wrong = [mark for mark in self.judged.marks if mark.outcome in ("slip", "wrong")]
        seen: set[MarkedSlip] = set()
        for place, mark in enumerate(wrong):
            if mark.slip is None and place == 0:
                yield self.say(
                    "The first mistake is in {label}: {answer} should be {correct}.",
                    label=b.Code(mark.label),
                    answer=short(mark.text, _LETTERS),
                    correct=self._right(mark),
                )
            elif mark.slip is not None and mark.slip not in seen:
                seen.add(mark.slip)
                what = self.say.again(mark.slip.phrase)
                if place == 0:
                    yield self.say("First mistake: {slip}.", slip=what)
                else:
                    yield self.say("Another mistake: {slip}.", slip=what)

    def _table(self) -> b.Table:
        say = self.say
        rows: list[tuple[b.Line, ...]] = []
        for part, marks in self.judged.parts:
            right = sum(mark.outcome == "right" for mark in marks)
            points = self.scheme.of_part(part, marks)
            of = say("{right} of {count}", right=str(right), count=str(len(marks)))
            full = say("{points} of {most}", points=points_text(points), most=str(part.points))
            rows.append(((b.Math(f.typeset(symbol(part.quantity))),), of, full))
        header = (say("question"), say("right answers"), say("points"))
        return b.Table(header, tuple(rows), "lrr")

    def _notes(self, part: Part, marks: Sequence[Mark]) -> Iterator[b.Line]:
        yield from dict.fromkeys(note for mark in marks for note in self._note(part, mark))
        wrong = [mark.label for mark in marks if mark.outcome == "wrong" and not mark.but]
        if wrong:
            yield self.say(
                "Incorrect, and not explained by earlier answers: {labels}.",
                labels=b.Code(", ".join(wrong)),
            )

    def _note(self, part: Part, mark: Mark) -> Iterator[b.Line]:
        say = self.say
        match mark.outcome:
            case "early" if mark.fewer:
                yield say(
                    "Right so far, but {places} places were asked for.", places=str(part.places)
                )
            case "early" if mark.slip is not None:
                yield say("Rounded too early: {slip}.", slip=say.again(mark.slip.phrase))
            case "early":
                yield say("Rounded too early: keep more places until the end.")
            case "follows" if mark.because:
                names = dict.fromkeys(blank.quantity for blank in mark.because)
                yield say(
                    "Agrees with your {quantities}: the method is right.",
                    quantities=", ".join(names),
                )
            case "follows":
                yield say("Comes of the same mistake, which counts once.")
            case "slip":
                assert mark.slip is not None
                yield say("Mistake: {slip}.", slip=say.again(mark.slip.phrase))
                if mark.slip.rivals:
                    yield say("Equally likely: {slip}.", slip=say.again(mark.slip.rivals[0]))
            case "wrong" if mark.but:
                label = b.Code(mark.label)
                yield (label, ": ", *say(_PEN[mark.but]))
            case "unread":
                yield say("{label}: this is not a number.", label=b.Code(mark.label))

    # -- figures -----------------------------------------------------------------------

    def _right(self, mark: Mark) -> str:
        """The right answer, as the student would write it: perhaps with a comma."""
        comma = any("," in answer.text for answer in self.judged.script.answers.values())
        return mark.correct.replace(".", ",") if comma else mark.correct

    def _beside(self, mark: Mark) -> str:
        """An answer in plain text, with the right one in brackets where it is another."""
        written = short(mark.text, _LETTERS) or "_"
        return written if mark.outcome == "right" else f"{written} [{self._right(mark)}]"

    def _struck(self, mark: Mark) -> t.Row:
        """An answer, with the right one beside it where it is another; what is wrong
        in itself is struck through."""
        right = t.row(t.Marking("correct", t.figure(self._right(mark))))
        answer = t.figure(mark.text)
        if t.plain_figure(answer) is None:
            answer = t.figure(short(mark.text, _LETTERS))
        match mark.outcome:
            case "right":
                return answer
            case "blank":
                return right
            case "early" | "follows":
                return answer + t.THICK + right
        return t.row(t.Marking("struck", answer), t.THICK, right)


def _rows(marks: Sequence[Mark]) -> Iterator[Iterator[Mark]]:
    return (row for _, row in groupby(marks, key=lambda mark: mark.blank.i))


def _plain(line: b.Line) -> str:
    return "".join(
        x if isinstance(x, str) else t.latex(x.formula) if isinstance(x, b.Math) else x.text
        for x in line
    )
