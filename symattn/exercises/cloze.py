"""Cloze questions: a numerical blank for every entry, marked by Moodle alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm

from symattn.errors import Malformed, SymattnError
from symattn.exercises import quiz
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.faults import At, InjectedFault, catalogue, figures, is_visible
from symattn.exercises.marking.collecting import DEFAULT, Scheme
from symattn.languages.language import ENGLISH, Language
from symattn.printers import blocks as b
from symattn.printers import web

#: Digits of the exact value beyond the places that are asked for: what is near enough
#: to it is then near enough to what is in the question.
_MORE = 3

#: So many common mistakes a blank knows at most.
_MISTAKES = 5

#: A number of fewer digits may be anything: that it comes of a fault is not certain.
_TELLING = 3

#: What would end an answer's feedback, or be read as something else in it.
_SPECIAL = {c: f"&#{ord(c)};" for c in '}#~/"\\{'}


@dataclass(frozen=True)
class _Mistake:
    """A wrong number, the part of its points that it gives, and what is said of it."""

    number: Decimal
    share: Fraction
    feedback: str


def cloze(
    exercise: Exercise,
    say: Language = ENGLISH,
    faults: Sequence[InjectedFault] | None = None,
    solution: Sequence[b.Block] = (),
    scheme: Scheme = DEFAULT,
) -> str:
    """The question of an exercise, as an element of Moodle's XML (see
    :func:`~symattn.exercises.quiz.quiz`).

    Blanks take what is within the tolerance of their part, and weigh what its points are; a
    masked score is no blank. ``faults`` are those of the catalogue unless given; ``scheme``
    says what is given for one, and for what it propagates to. ``solution`` is shown behind the
    right answers.

    Raises :class:`Malformed` for proofs, and for numbers that hold symbols.

    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.cases.library import load
    >>> made = cloze(exercise(load("cat-sat-mat")))
    >>> "{6:NUMERICAL:=0.50648" in made
    True
    """
    return quiz.question("cloze", _ClozeQuestion(exercise, say, faults, scheme).elements(solution))


def escaped(html: str) -> str:
    r"""HTML as feedback inside of a blank, from which Moodle decodes it once.

    >>> escaped('a &lt; b}~c#"/')
    'a &amp;lt; b&#125;&#126;c&#35;&#34;&#47;'
    """
    return "".join(_SPECIAL.get(c, c) for c in html.replace("&", "&amp;"))


def weights(blanks: Mapping[str, int], points: Mapping[str, int]) -> dict[str, int]:
    """The weight of each blank of a part, by the numbers of blanks and the points: the
    smallest whole numbers with which parts weigh what their points say.

    >>> weights({"S": 9, "A": 6}, {"S": 2, "A": 1})
    {'S': 4, 'A': 3}
    """
    asked = [name for name, count in blanks.items() if count]
    common = lcm(*(blanks[name] // gcd(blanks[name], points[name]) for name in asked))
    scaled = {name: common * points[name] // blanks[name] for name in asked}
    shared = gcd(*scaled.values())
    return {name: weight // shared for name, weight in scaled.items()}


class _ClozeQuestion:
    def __init__(
        self,
        exercise: Exercise,
        say: Language,
        faults: Sequence[InjectedFault] | None,
        scheme: Scheme,
    ) -> None:
        if exercise.is_proof:
            raise Malformed("a proof has no figures: cloze questions need another level")
        self.exercise = exercise
        self.say = say
        self.scheme = scheme
        self.text = quiz.QuestionText(exercise, say)
        #: The exact values of all blanks, to a few digits more than are asked for, by part.
        self._near = {x.quantity: self._figures(x) for x in exercise.parts}
        points = {part.quantity: part.points for part in exercise.parts}
        self.weights = weights({name: len(near) for name, near in self._near.items()}, points)
        known = catalogue(exercise) if faults is None else faults
        self._wrong = {part.quantity: self._faulty(part, known) for part in exercise.parts}
        #: The part whose blanks show a fault first.
        self._made_in: dict[InjectedFault, str] = {}
        for part in exercise.parts:
            near = self._near[part.quantity]
            for fault, wrong in self._wrong[part.quantity].items():
                if any(is_visible(near[at], x, part.places) for at, x in wrong.items()):
                    self._made_in.setdefault(fault, part.quantity)

    def elements(self, solution: Sequence[b.Block]) -> Iterator[str]:
        """The elements of the question."""
        yield quiz.plain("name", quiz.title(self.exercise, version=True))
        yield quiz.rich("questiontext", self._questiontext())
        feedback = [*self.text.right_answers(self._near), web.printed(solution)]
        yield quiz.rich("generalfeedback", "\n".join(feedback))
        yield quiz.element("penalty", "0.3333333")
        yield from ("<hidden>0</hidden>", "<idnumber></idnumber>")

    def _questiontext(self) -> str:
        blocks = self.text.opening(self.text.given_numbers())
        for place, part in enumerate(self.exercise.parts, 1):
            blanks = {at: self._blank(part, at) for at in self._near[part.quantity]}
            table = self.text.of_part(part, blanks, quiz.letter(part.quantity))
            blocks += [self.text.task(place, part), table]
        return "\n".join(blocks)

    def _blank(self, part: Part, at: At) -> str:
        weight = self.weights[part.quantity]
        near = self._near[part.quantity][at]
        tolerance = _digits(Decimal(1).scaleb(-part.places))
        wrong = (
            f"~%{float(100 * mistake.share):g}%{_digits(mistake.number)}:{tolerance}"
            f"#{escaped(mistake.feedback)}"
            for mistake in self._mistakes(part, at, near)
        )
        return f"{{{weight}:NUMERICAL:={_digits(near)}:{tolerance}{''.join(wrong)}}}"

    def _mistakes(self, part: Part, at: At, right: Decimal) -> Iterator[_Mistake]:
        """The common mistakes in an entry that are told apart from what is right and from
        each other."""
        taken = [right]
        known = self._wrong[part.quantity].items()
        for fault, wrong in sorted(known, key=lambda item: self._is_propagated(item[0], part)):
            number = wrong.get(at)
            if number is None or not all(is_visible(x, number, part.places) for x in taken):
                continue
            sentences = [fault.text(self.say) + "?"]
            share = self.scheme.slip
            if self._is_propagated(fault, part):
                share = self.scheme.follows
                sentences.append(self.say.text("This follows from that mistake."))
                if len(f"{number:.{part.places}f}".replace(".", "").strip("-0")) < _TELLING:
                    continue
            taken.append(number)
            yield _Mistake(number, share, web.words(" ".join(sentences)))
            if len(taken) > _MISTAKES:
                return

    def _is_propagated(self, fault: InjectedFault, part: Part) -> bool:
        return self._made_in.get(fault) != part.quantity

    def _faulty(
        self, part: Part, faults: Sequence[InjectedFault]
    ) -> dict[InjectedFault, dict[At, Decimal]]:
        wrong = {}
        for fault in faults:
            if part.quantity in fault.nodes:
                # With a fault a step may not be defined: a row of scores is masked whole.
                with suppress(SymattnError):
                    wrong[fault] = self._figures(part, fault)
        return wrong

    def _figures(self, part: Part, fault: InjectedFault | None = None) -> dict[At, Decimal]:
        """The blanks of a part, or with a fault those of them that are not masked by it."""
        nodes = self.exercise.case.program.named if fault is None else fault.nodes
        mode = self.exercise.case.rounding
        return figures(self.exercise, part, nodes[part.quantity], part.places + _MORE, mode)


def _digits(number: Decimal) -> str:
    """A number without the zeros at its end, and without the sign of a zero.

    >>> _digits(Decimal("0.50000")), _digits(Decimal("-0.0")), _digits(Decimal("100"))
    ('0.5', '0', '100')
    """
    digits = format(number, "f")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits in ("-0", "") else digits
