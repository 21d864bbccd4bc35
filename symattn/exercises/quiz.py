r"""Moodle's XML: a category of questions, and the HTML that they are made of.

Formulas are LaTeX between ``\(`` and ``\)``, which Moodle's MathJax filter sets;
numbers are tables of HTML, which need no filter.

Essay questions: proofs, which a person marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm

from symattn.errors import Malformed, SymattnError
from symattn.escaping import html_text, visible
from symattn.exercises import questions
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.faults import At, InjectedFault, catalogue, figures, is_visible
from symattn.exercises.marking.collecting import DEFAULT
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.languages.language import ENGLISH, Language
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.printers import blocks as b
from symattn.printers import web
from symattn.printers.web import MATHJAX, Platform
from symattn.programs.axes import Axes
from symattn.programs.display import formula, names, symbol
from symattn.programs.nodes import Node
from symattn.sheets.presentation import SHORT, rational_formula

#: What a masked score is shown as.
MASKED = "\N{MINUS SIGN}\N{INFINITY}"

_LONGEST_NAME = 200
#: A table as a matrix between brackets.
_MATRIX = (
    "display: inline-table; margin: .5em 1.5em .5em 0; border-left: 2px solid; "
    "border-right: 2px solid; border-radius: 4px"
)


# -- XML ---------------------------------------------------------------------------


def quiz(category: str, questions: Iterable[str]) -> str:
    """The file: questions in a category of the course's question bank.

    >>> print(quiz("a/b", []))
    <?xml version="1.0" encoding="UTF-8"?>
    <quiz>
    <question type="category">
    <category><text>$course$/top/a//b</text></category>
    </question>
    </quiz>
    <BLANKLINE>
    """
    path = plain("category", f"$course$/top/{category.replace('/', '//')}")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<quiz>"]
    lines += [question("category", [path]), *questions, "</quiz>", ""]
    return "\n".join(lines)


def question(kind: str, elements: Iterable[str]) -> str:
    """A question of a type."""
    return "\n".join([f'<question type="{kind}">', *elements, "</question>"])


def element(name: str, content: object) -> str:
    """An element with a number, a name or code.

    >>> element("sans", "a < b & c")
    '<sans>a &lt; b &amp; c</sans>'
    """
    return f"<{name}>{html_text(str(content))}</{name}>"


def elements(fields: Mapping[str, object]) -> Iterator[str]:
    """An element for each field, by its name."""
    return (element(name, value) for name, value in fields.items())


def plain(name: str, text: str) -> str:
    """An element with plain text."""
    return f"<{name}><text>{html_text(text)}</text></{name}>"


def code(name: str, statements: str) -> str:
    """An element with lines of code."""
    whole = statements.replace("]]>", "]]]]><![CDATA[>")
    return f"<{name}><text><![CDATA[{whole}]]></text></{name}>"


def rich(name: str, html: str) -> str:
    """An element with HTML, in sections of CDATA as Moodle itself writes it.

    >>> rich("questiontext", "<p>]]></p>")
    '<questiontext format="html"><text><![CDATA[<p>]]]]><![CDATA[></p>]]></text></questiontext>'
    """
    return code(name, html).replace(f"<{name}>", f'<{name} format="html">', 1)


def title(exercise: Exercise, version: bool) -> str:
    """The name of a question, short enough for Moodle; of a ``version`` with its number."""
    name = visible(exercise.title)
    short = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
    return f"{short} ({exercise.version:02})" if version and exercise.version else short


# -- HTML --------------------------------------------------------------------------


def letter(quantity: str) -> t.Row:
    r"""A quantity or gradient as it is set.

    >>> t.latex(letter("W_Q")), t.latex(letter("dL/dQ"))
    ('W_{Q}', '\\mathrm{d}Q')
    """
    return f.typeset(symbol(quantity))


def matrix(
    name: t.Row, cells: Sequence[Sequence[str]], labels: Sequence[str] = (), on: Platform = MATHJAX
) -> str:
    """A matrix of cells of HTML between brackets, its name above it; each
    row may have a label. A single cell is a line."""
    if [len(row) for row in cells] == [1]:
        return f"<p>{on.math(name + t.EQUALS)} {cells[0][0]}</p>"
    return on.table(cells, labels, on.math(name), _MATRIX)


def exact(value: Value | Masked, on: Platform = MATHJAX) -> str:
    """A given number: a short decimal, or its closed form."""
    if isinstance(value, Masked):
        return MASKED
    number = value.rational()
    formula = value.formula() if number is None else rational_formula(number, SHORT)
    if isinstance(formula, syntax.Literal) or (
        isinstance(formula, syntax.Negative) and isinstance(formula.operand, syntax.Literal)
    ):
        return signed(syntax.shown(formula))
    return on.math(f.typeset(formula))


def signed(number: str) -> str:
    """A number with the sign that is printed."""
    return number.replace("-", "\N{MINUS SIGN}")


class QuestionText:
    """The sentences of an exercise, in one language, on one kind of platform."""

    def __init__(self, exercise: Exercise, say: Language, on: Platform = MATHJAX) -> None:
        self.exercise = exercise
        self.say = say
        self.on = on
        self.case = exercise.case
        self._named = names(self.case.program)
        self._axes = Axes(self.case.program)

    def given(self) -> Iterator[tuple[str, Node]]:
        """Yield what is given, by its name, and last the gradient that flows in, if it is
        needed."""
        program = self.case.program
        for name in program.given:
            yield name, program.quantities[name]
        if program.upstream is not None and self.is_backward:
            yield f"dL/d{self.case.output}", program.upstream

    @property
    def is_backward(self) -> bool:
        """Return whether a gradient is asked for."""
        own = self.case.program.quantities
        return any(part.quantity not in own for part in self.exercise.parts)

    def opening(self, given: str) -> list[str]:
        """Return what stands before the parts: title, given numbers as they are shown, steps."""
        heading = f"<h5>{self.on.line(self.say('Given'))}</h5>"
        blocks = [self.on.paragraph((b.Strong(self.exercise.title),)), heading]
        blocks += [f"<div>{given}</div>", self._steps()]
        if self.is_backward:
            blocks.append(self._loss())
        return [*blocks, self.on.paragraph(questions.figures(self.exercise, self.say))]

    def _steps(self) -> str:
        program = self.case.program
        steps = (
            letter(name) + t.EQUALS + self.formula(program.quantities[name])
            for name in program.steps
        )
        items = "".join(f"<li>{self.on.math(step)}</li>" for step in steps)
        return f"{self.on.paragraph(self.say('The steps:'))}<ul>{items}</ul>"

    def _loss(self) -> str:
        output = self.case.output
        return self.on.paragraph(
            self.say(
                "The loss is the sum of the entries of {output}, each multiplied by the entry "
                "of {upstream}.",
                output=b.Math(letter(output)),
                upstream=b.Math(letter(f"dL/d{output}")),
            )
        )

    def formula(self, node: Node) -> t.Row:
        """Return what a node computes."""
        return f.slashed(formula(node, self._named))

    def task(self, place: int, part: Part) -> str:
        """Return what a part asks for; places are counted from 1."""
        name = letter(part.quantity)
        node = self.case.program.named[part.quantity]
        is_step = part.quantity in self.case.program.quantities
        asked = b.Math(name + t.EQUALS + self.formula(node) if is_step else name)
        description = questions.part_role(self.exercise, part, self.say)
        points = questions.worth(part, self.say)
        start = b.Strong(f"({questions.letter(place - 1)}) ")
        return self.on.paragraph((start, asked, f"{description} ({points})"))

    def given_numbers(self) -> str:
        """Return what is given, a matrix of numbers after the other."""
        rows = self.case.given
        return "".join(
            matrix(
                letter(name),
                [[exact(x, self.on) for x in row] for row in rows.get(name, self.case.upstream)],
                self.labels(node),
                self.on,
            )
            for name, node in self.given()
        )

    def of_part(self, part: Part, cells: Mapping[tuple[int, int], str], before: t.Row) -> str:
        """The matrix of a part with cells at its places; what has none is a masked score."""
        node = self.case.program.named[part.quantity]
        rows, columns = node.grid
        table = [[cells.get((i, j), MASKED) for j in range(columns)] for i in range(rows)]
        return matrix(before, table, self.labels(node), self.on)

    def right_answers(self, places: Mapping[str, Iterable[tuple[int, int]]]) -> list[str]:
        """The right answers at some places of each part, by quantity."""
        blocks = [self.on.paragraph(self.say("The correct answers:"))]
        for part in self.exercise.parts:
            right = self.exercise.right(part)
            cells = {(i, j): signed(f"{right[i][j]:f}") for i, j in places[part.quantity]}
            blocks.append(self.of_part(part, cells, self.result(part)))
        return blocks

    def result(self, part: Part) -> t.Row:
        """Return what stands before the right answers of a part."""
        formula = self.formula(self.case.program.named[part.quantity])
        return letter(part.quantity) + t.EQUALS + formula + t.ABOUT

    def labels(self, node: Node) -> tuple[str, ...]:
        """The tokens, if the rows of a node run over them as the output's rows do."""
        tokens = self.case.tokens
        output = self.case.program.quantities[self.case.output]
        if node.grid[0] != len(tokens) or not self._axes.same(node, 0, output, 0):
            return ()
        return tokens


#: How an essay is written: lines of the box, files beside it.
_ESSAY: Mapping[str, object] = {
    "penalty": 0, "hidden": 0, "idnumber": "", "responseformat": "editorfilepicker",
    "responserequired": 0, "responsefieldlines": 30, "attachments": 1, "attachmentsrequired": 0,
}  # fmt: skip


def essay(exercise: Exercise, say: Language = ENGLISH) -> str:
    """The question of an exercise at level proof, as an element of Moodle's XML; who
    marks it sees the derivations. Raises :class:`Malformed` at other levels.

    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.cases.library import load
    >>> made = essay(exercise(load("cat-sat-mat"), "proof"))
    >>> made.startswith('<question type="essay">')
    True
    """
    if not exercise.is_proof:
        raise Malformed("essay questions are for proofs: other types ask for figures")
    text = web.printed(questions.derivations(exercise, say))
    working = web.printed(questions.proved(exercise))
    return question(
        "essay",
        [
            plain("name", title(exercise, version=True)),
            rich("questiontext", text),
            rich("generalfeedback", working),
            element("defaultgrade", exercise.points),
            *elements(_ESSAY),
            rich("graderinfo", working),
            rich("responsetemplate", ""),
        ],
    )


# -- cloze questions ---------------------------------------------------------------------
# A numerical blank for every entry, marked by Moodle alone.

#: Digits of the exact value beyond the places that are asked for: what is near enough
#: to it is then near enough to what is in the question.
_MORE = 3

#: So many common mistakes a blank knows at most.
_MISTAKES = 5

#: A number of fewer digits may be anything: that it comes of a fault is not certain.
_TELLING = 3

#: What would end an answer's feedback, or be read as something else in it.
_SPECIAL = {c: f"&#{ord(c)};" for c in '}#~/"\\{'}


def cloze(exercise: Exercise, say: Language = ENGLISH, solution: Sequence[b.Block] = ()) -> str:
    """The question of an exercise, as an element of Moodle's XML (see
    :func:`~symattn.exercises.quiz.quiz`).

    Blanks take what is within the tolerance of their part, and weigh what its points are; a
    masked score is no blank. Common mistakes, and what they propagate to, give what they give by
    default. ``solution`` is shown behind the right answers.

    Raises :class:`Malformed` for proofs, and for numbers that hold symbols.

    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.cases.library import load
    >>> made = cloze(exercise(load("cat-sat-mat")))
    >>> "{6:NUMERICAL:=0.50648" in made
    True
    """
    return question("cloze", _ClozeQuestion(exercise, say).elements(solution))


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
    def __init__(self, exercise: Exercise, say: Language) -> None:
        if exercise.is_proof:
            raise Malformed("a proof has no figures: cloze questions need another level")
        self.exercise = exercise
        self.say = say
        self.text = QuestionText(exercise, say)
        #: The exact values of all blanks, to a few digits more than are asked for, by part.
        self._near = {x.quantity: self._figures(x) for x in exercise.parts}
        points = {part.quantity: part.points for part in exercise.parts}
        self.weights = weights({name: len(near) for name, near in self._near.items()}, points)
        self._wrong = {part.quantity: self._faulty(part) for part in exercise.parts}
        #: The part whose blanks show a fault first.
        self._made_in: dict[InjectedFault, str] = {}
        for part in exercise.parts:
            near = self._near[part.quantity]
            for fault, wrong in self._wrong[part.quantity].items():
                if any(is_visible(near[at], x, part.places) for at, x in wrong.items()):
                    self._made_in.setdefault(fault, part.quantity)

    def elements(self, solution: Sequence[b.Block]) -> Iterator[str]:
        yield plain("name", title(self.exercise, version=True))
        yield rich("questiontext", self._questiontext())
        feedback = [*self.text.right_answers(self._near), web.printed(solution)]
        yield rich("generalfeedback", "\n".join(feedback))
        yield from elements({"penalty": "0.3333333", "hidden": 0, "idnumber": ""})

    def _questiontext(self) -> str:
        blocks = self.text.opening(self.text.given_numbers())
        for place, part in enumerate(self.exercise.parts, 1):
            blanks = {at: self._blank(part, at) for at in self._near[part.quantity]}
            table = self.text.of_part(part, blanks, letter(part.quantity))
            blocks += [self.text.task(place, part), table]
        return "\n".join(blocks)

    def _blank(self, part: Part, at: At) -> str:
        weight = self.weights[part.quantity]
        near = self._near[part.quantity][at]
        tolerance = _digits(Decimal(1).scaleb(-part.places))
        wrong = (
            f"~%{float(100 * share):g}%{_digits(number)}:{tolerance}#{escaped(feedback)}"
            for number, share, feedback in self._mistakes(part, at, near)
        )
        return f"{{{weight}:NUMERICAL:={_digits(near)}:{tolerance}{''.join(wrong)}}}"

    def _mistakes(
        self, part: Part, at: At, right: Decimal
    ) -> Iterator[tuple[Decimal, Fraction, str]]:
        """The common mistakes in an entry that are told apart from what is right and from
        each other: wrong numbers, the part of the points that each gives, and what is said of it.
        """
        taken = [right]
        known = self._wrong[part.quantity].items()
        for fault, wrong in sorted(known, key=lambda item: self._is_propagated(item[0], part)):
            number = wrong.get(at)
            if number is None or not all(is_visible(x, number, part.places) for x in taken):
                continue
            sentences = [fault.text(self.say) + "?"]
            share = DEFAULT.slip
            if self._is_propagated(fault, part):
                share = DEFAULT.follows
                sentences.append(self.say.text("This follows from that mistake."))
                if len(f"{number:.{part.places}f}".replace(".", "").strip("-0")) < _TELLING:
                    continue
            taken.append(number)
            yield number, share, web.words(" ".join(sentences))
            if len(taken) > _MISTAKES:
                return

    def _is_propagated(self, fault: InjectedFault, part: Part) -> bool:
        return self._made_in.get(fault) != part.quantity

    def _faulty(self, part: Part) -> dict[InjectedFault, dict[At, Decimal]]:
        wrong = {}
        for fault in catalogue(self.exercise):
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
