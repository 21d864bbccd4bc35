"""Cloze questions: a numerical blank for every entry, marked by Moodle alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm

from symattn import typesetting as t
from symattn.errors import Malformed, SymattnError
from symattn.exercises import quiz
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.marking.points import DEFAULT, Scheme
from symattn.exercises.slips import Slip, catalogue, is_visible
from symattn.languages.language import ENGLISH, Language
from symattn.numbers import rounding
from symattn.printers import blocks as b
from symattn.printers import mathjax
from symattn.solution.entries import Entry
from symattn.solution.quantity import Quantity

#: Digits of the exact value beyond the places that are asked for: what is near enough
#: to it is then near enough to what is in the question.
_MORE = 3

#: So many usual mistakes a blank knows at most.
_MISTAKES = 5

#: A number of fewer digits may be anything: that it comes of a slip is not certain.
_TELLING = 3

#: What would end an answer's feedback, or be read as something else in it.
_SPECIAL = {c: f"&#{ord(c)};" for c in '}#~/"\\{'}


@dataclass(frozen=True)
class _Mistake:
    """A wrong number, the part of its points that it gives, and what is said of it."""

    number: Decimal
    share: Fraction
    said: str


def cloze(
    exercise: Exercise,
    say: Language = ENGLISH,
    slips: Sequence[Slip] | None = None,
    solution: Sequence[b.Block] = (),
    scheme: Scheme = DEFAULT,
) -> str:
    """The question of an exercise, as an element of Moodle's XML (see
    :func:`~symattn.exercises.quiz.quiz`).

    A blank takes what is within the tolerance of its part; the blanks of a part
    together weigh what its points are among those of all. A masked score is no blank.
    ``slips`` are the usual ones that blanks know: those of the catalogue, which all
    versions have in common, unless given. ``solution`` is shown behind the right
    answers. ``scheme`` says what a blank gives for a slip that is made there, and for what
    follows from one that was made before.

    Raises :class:`Malformed` for proofs, and for numbers that hold symbols.

    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.cases.library import load
    >>> made = cloze(exercise(load("cat-sat-mat")))
    >>> "{6:NUMERICAL:=0.50648" in made
    True
    """
    return quiz.question("cloze", _Question(exercise, say, slips, scheme).elements(solution))


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


class _Question:
    def __init__(
        self, exercise: Exercise, say: Language, slips: Sequence[Slip] | None, scheme: Scheme
    ) -> None:
        if exercise.is_proof:
            raise Malformed("a proof has no figures: Moodle's questions are of the other levels")
        self.exercise = exercise
        self.say = say
        self.scheme = scheme
        self.text = quiz.Text(exercise, say)
        self.quantities = {x.quantity: exercise.solution[x.quantity] for x in exercise.parts}
        blanks = {part.quantity: len([*self._blanks(part)]) for part in exercise.parts}
        points = {part.quantity: part.points for part in exercise.parts}
        self.weights = weights(blanks, points)
        self._slips = catalogue(exercise) if slips is None else slips
        self._figures = {part.quantity: self._wrong(part) for part in exercise.parts}
        #: The part whose blanks show a slip first.
        self._made_in: dict[Slip, str] = {}
        for part in exercise.parts:
            for slip, figures in self._figures[part.quantity].items():
                if any(self._is_wrong(part, *place, figures[place]) for place in figures):
                    self._made_in.setdefault(slip, part.quantity)

    def elements(self, solution: Sequence[b.Block]) -> Iterator[str]:
        """The elements of the question."""
        yield quiz.plain("name", quiz.title(self.exercise, version=True))
        yield quiz.rich("questiontext", self._questiontext())
        feedback = [self._generalfeedback(), mathjax.printed(solution)]
        yield quiz.rich("generalfeedback", "\n".join(feedback))
        yield quiz.element("penalty", "0.3333333")
        yield from ("<hidden>0</hidden>", "<idnumber></idnumber>")

    def _questiontext(self) -> str:
        blocks = self.text.opening(self._given())
        for place, part in enumerate(self.exercise.parts, 1):
            blanks = self._table(part, self._blank, quiz.letter(part.quantity))
            blocks += [self.text.task(place, part), blanks]
        return "\n".join(blocks)

    def _given(self) -> str:
        rows = self.exercise.case.given
        return "".join(
            quiz.matrix(
                quiz.letter(name),
                [[*map(quiz.exact, row)] for row in rows.get(name, self.exercise.case.upstream)],
                self.text.labels(node),
            )
            for name, node in self.text.given()
        )

    def _generalfeedback(self) -> str:
        blocks = [mathjax.paragraph(self.say("The correct answers:"))]
        blocks += [
            self._table(part, self._right, self.text.result(part)) for part in self.exercise.parts
        ]
        return "\n".join(blocks)

    def _table(self, part: Part, cell: Callable[[Part, int, int], str], before: t.Row) -> str:
        quantity = self.quantities[part.quantity]
        rows, columns = quantity.grid
        cells = [
            [quiz.MASKED if quantity.is_hidden(i, j) else cell(part, i, j) for j in range(columns)]
            for i in range(rows)
        ]
        node = self.exercise.case.program.named[part.quantity]
        return quiz.matrix(before, cells, self.text.labels(node))

    def _blanks(self, part: Part) -> Iterator[tuple[int, int]]:
        quantity = self.quantities[part.quantity]
        rows, columns = quantity.grid
        places = ((i, j) for i in range(rows) for j in range(columns))
        return (place for place in places if not quantity.is_hidden(*place))

    def _blank(self, part: Part, i: int, j: int) -> str:
        weight = self.weights[part.quantity]
        near = self._decimal(part, i, j, part.places + _MORE)
        tolerance = _digits(Decimal(1).scaleb(-part.places))
        wrong = (
            f"~%{float(100 * mistake.share):g}%{_digits(mistake.number)}:{tolerance}"
            f"#{escaped(mistake.said)}"
            for mistake in self._at(part, i, j, near)
        )
        return f"{{{weight}:NUMERICAL:={_digits(near)}:{tolerance}{''.join(wrong)}}}"

    def _at(self, part: Part, i: int, j: int, right: Decimal) -> Iterator[_Mistake]:
        """The usual mistakes in an entry that are told apart from what is right and from
        each other."""
        taken = [right]
        known = self._figures[part.quantity].items()
        for slip, figures in sorted(known, key=lambda item: self._is_carried(item[0], part)):
            number = figures.get((i, j))
            if number is None or not all(is_visible(x, number, part.places) for x in taken):
                continue
            sentences = [self.say.text(slip.sentence, term=slip.word) + "?"]
            share = self.scheme.slip
            if self._is_carried(slip, part):
                share = self.scheme.follows
                sentences.append(self.say.text("This follows from it."))
                if len(f"{number:.{part.places}f}".replace(".", "").strip("-0")) < _TELLING:
                    continue
            taken.append(number)
            yield _Mistake(number, share, mathjax.words(" ".join(sentences)))
            if len(taken) > _MISTAKES:
                return

    def _is_carried(self, slip: Slip, part: Part) -> bool:
        return self._made_in.get(slip) != part.quantity

    def _is_wrong(self, part: Part, i: int, j: int, number: Decimal) -> bool:
        return is_visible(self._decimal(part, i, j, part.places + _MORE), number, part.places)

    def _wrong(self, part: Part) -> dict[Slip, dict[tuple[int, int], Decimal]]:
        """What each slip makes of the blanks of a part."""
        wrong = {}
        for slip in self._slips:
            if part.quantity not in slip.nodes:
                continue
            quantity = self.exercise.solution.quantity(slip.nodes[part.quantity])
            # With a slip a step may not be defined: a row of scores is masked whole.
            with suppress(SymattnError):
                wrong[slip] = {
                    (i, j): self._decimal(part, i, j, part.places + _MORE, quantity)
                    for i, j in self._blanks(part)
                    if not quantity.is_hidden(i, j)
                }
        return wrong

    def _right(self, part: Part, i: int, j: int) -> str:
        right = self._decimal(part, i, j, part.places)
        return format(right, "f").replace("-", "&minus;")

    def _decimal(
        self, part: Part, i: int, j: int, places: int, quantity: Quantity | None = None
    ) -> Decimal:
        """An entry of a part rounded, or of what stands for it."""
        entry = Entry(quantity or self.quantities[part.quantity], i, j)
        return rounding.decimal(entry, places, self.exercise.case.rounding)


def _digits(number: Decimal) -> str:
    """A number without the zeros at its end, and without the sign of a zero.

    >>> _digits(Decimal("0.50000")), _digits(Decimal("-0.0")), _digits(Decimal("100"))
    ('0.5', '0', '100')
    """
    digits = format(number, "f")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits in ("-0", "") else digits
