"""STACK questions: matrices to fill in, marked by Maxima with follow-through.

The versions of an exercise are the variants of one question: its code holds the
given numbers of all, and the seed chooses. Each part has a tree of its own: an
answer is right, or follows from the student's own earlier answers. The code that
computes a part is one function of those it is computed from, so the truth, what
follows from an answer and the question's tests are all made by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from symattn.cases.case import Rows
from symattn.errors import Malformed
from symattn.escaping import html_text
from symattn.exercises import maxima, quiz
from symattn.exercises.exercise import Exercise, Part
from symattn.languages.language import ENGLISH, Language
from symattn.numbers.reading import read_entry
from symattn.programs.floats import Floats, Matrix
from symattn.programs.nodes import Node
from symattn.programs.program import ancestors
from symattn.programs.running import Run

#: The score of an answer that follows from wrong ones.
METHOD = 0.5
#: What is taken off for each wrong try, where a quiz allows several.
_PENALTY = 0.1
_BOX = 8

#: The STACK that has what the questions use, by the number of its version.
_STACK = "2023010400"


def stack(exercises: Sequence[Exercise], say: Language = ENGLISH) -> str:
    """The question of an exercise, its versions as variants, as an element of
    Moodle's XML (see :func:`~symattn.exercises.quiz.quiz`).

    Raises :class:`Malformed` for proofs, for operations that have no Maxima code
    and where the versions are no variants of each other.

    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.cases.library import load
    >>> made = stack([exercise(load("cat-sat-mat"))])
    >>> "f_3(s_2) := sa_softmax(s_2)" in made
    True
    """
    return quiz.question("stack", _Question(exercises, say).elements())


class _Question:
    def __init__(self, exercises: Sequence[Exercise], say: Language) -> None:
        self.exercises = exercises
        self.first = first = exercises[0]
        self.say = say
        _check(exercises)
        self.text = quiz.Text(first, say)
        self.nodes = {k: first.case.program.named[x.quantity] for k, x in self.parts}
        self.givens = {maxima.GIVEN.format(_plain(name)): name for name, _ in self.text.given()}
        # Each part after those that it may be computed from.
        self.order = sorted(self.nodes, key=lambda k: self.nodes[k].serial)

    @property
    def parts(self) -> list[tuple[int, Part]]:
        """The parts, counted from 1."""
        return list(enumerate(self.first.parts, 1))

    @cached_property
    def sources(self) -> dict[int, list[int]]:
        """The parts that each is computed from, with none in between."""
        asked = {node.serial: k for k, node in self.nodes.items()}
        found: dict[int, list[int]] = {}
        for k, node in self.nodes.items():

            def stop(x: Node, own: Node = node) -> bool:
                return x is not own and x.serial in asked

            # What stops the walk is not among what it gives.
            inside = ancestors([node], stop)
            found[k] = sorted({asked[x.serial] for y in inside for x in y.operands if stop(x)})
        return found

    # -- code ----------------------------------------------------------------------

    def variables(self) -> str:
        """The code of the question: given numbers, functions, right answers."""
        given = [*self._given()]
        functions = [self._function(k) for k in self.order]
        answers = [*self._answers()]
        tests = [*self._tests()]
        called = maxima.helpers([*functions, *answers, *tests, *self._checks()])
        lines = [*given, *called, *functions, *answers, *tests]
        return ";\n".join(lines) + ";"

    def _given(self) -> Iterator[str]:
        count = len(self.exercises)
        yield f"sa_variant: mod(stack_seed - 1, {count}) + 1"
        for variable, name in self.givens.items():
            said = (maxima.matrix(_rows(one, name)) for one in self.exercises)
            yield f"{variable}: {_of_variant(said)}"

    def _function(self, k: int) -> str:
        known = {
            node.serial: variable
            for variable, node in zip(
                self.givens, (node for _, node in self.text.given()), strict=True
            )
        }
        known |= {self.nodes[j].serial: f"s_{j}" for j in self.sources[k]}
        parameters = [f"s_{j}" for j in self.sources[k]]
        try:
            return maxima.function(f"f_{k}", self.nodes[k], known, parameters)
        except Malformed as error:
            where = self.first.parts[k - 1].quantity
            raise Malformed(fault.inside(where) for fault in error.faults) from None

    def _call(self, k: int, argument: Callable[[int], str]) -> str:
        return f"f_{k}({', '.join(map(argument, self.sources[k]))})"

    def _answers(self) -> Iterator[str]:
        """The truth (``r``), and what a student writes of it (``ta``)."""
        for k in self.order:
            yield f"r_{k}: {self._call(k, 'r_{}'.format)}"
        for k, part in self.parts:
            yield f"ta_{k}: sa_rounded(r_{k}, {part.places})"

    def _tests(self) -> Iterator[str]:
        """A slip in the first part that others are computed from (``e``), carried
        on; and nonsense (``g``)."""
        for k in self.order:
            places = self.first.parts[k - 1].places
            if k == self.slipped:
                yield f"e_{k}: sa_moved(r_{k}, 1, {places})"
            else:
                yield f"e_{k}: sa_rounded({self._call(k, 'e_{}'.format)}, {places})"
        for k, part in self.parts:
            yield f"g_{k}: sa_moved(r_{k}, {_nonsense(k)}, {part.places})"

    @cached_property
    def slipped(self) -> int:
        """The part that the slip of the tests is in."""
        used = {j for sources in self.sources.values() for j in sources}
        return next((k for k in self.order if k in used), self.order[0])

    def _checks(self) -> Iterator[str]:
        for k, _ in self.parts:
            yield from self.following(k)
            yield self.test(k, f"r_{k}")

    def following(self, k: int) -> list[str]:
        """The code of what follows for a part (``c``) from the student's answers."""
        needed = {k}
        for j in reversed(self.order):
            if j in needed:
                needed |= set(self.sources[j])
        used = {i for j in needed for i in self.sources[j]}

        def answered(j: int) -> str:
            return f"sa_filled(ans{j}, c_{j})"

        return [f"c_{j}: {self._call(j, answered)}" for j in self.order if j in used | {k}]

    def test(self, k: int, truth: str) -> str:
        """The code of whether an answer is that."""
        tolerance = self.first.parts[k - 1].tolerance
        return f"sa_close(ans{k}, {truth}, {tolerance})"

    # -- elements ------------------------------------------------------------------

    def elements(self) -> Iterator[str]:
        """The elements of the question, as STACK's importer reads them."""
        yield quiz.plain("name", quiz.title(self.first, version=False))
        yield quiz.rich("questiontext", self._questiontext())
        yield quiz.rich("generalfeedback", self._generalfeedback())
        yield quiz.element("defaultgrade", self.first.points)
        yield quiz.element("penalty", _PENALTY)
        yield from ("<hidden>0</hidden>", "<idnumber></idnumber>")
        yield quiz.plain("stackversion", _STACK)
        yield quiz.code("questionvariables", self.variables())
        yield quiz.rich("specificfeedback", "")
        # Variants are told apart by their notes.
        yield quiz.rich("questionnote", "{@sa_variant@}")
        yield quiz.rich("questiondescription", "")
        for name in ("prtcorrect", "prtpartiallycorrect", "prtincorrect"):
            yield quiz.rich(name, f"<p>{quiz.words(self._verdict(name))}</p>")
        for name, value in _SETTINGS.items():
            yield quiz.element(name, value)
        for k, _ in self.parts:
            yield self._input(k)
        for k, part in self.parts:
            yield self._tree(k, part)
        for seed in range(1, len(self.exercises) + 1):
            yield quiz.element("deployedseed", seed)
        yield from self._questiontests()

    def _verdict(self, name: str) -> str:
        return {
            "prtcorrect": self.say.text("Right."),
            "prtpartiallycorrect": self.say.text("Partly right."),
            "prtincorrect": self.say.text("Not right."),
        }[name]

    def _questiontext(self) -> str:
        program = self.first.case.program
        tables = (
            rf"\({html_text(quiz.letter(name))} = {{@sa_shown({variable})@}}\)"
            for variable, name in self.givens.items()
        )
        shown = self.text.opening(" &ensp; ".join(tables))
        for k, part in self.parts:
            shown.append(self.text.task(k, part))
            if program.named[part.quantity].grid != (1, 1) and self._is_masked(part):
                shown.append(quiz.paragraph(self.say("A masked score is -inf.")))
            shown.append(f"<p>[[input:ans{k}]]</p><div>[[validation:ans{k}]]</div>")
            shown.append(f"<div>[[feedback:prt{k}]]</div>")
        return "\n".join(shown)

    def _is_masked(self, part: Part) -> bool:
        quantity = self.first.solution[part.quantity]
        rows, columns = quantity.grid
        return any(quantity.is_hidden(i, j) for i in range(rows) for j in range(columns))

    def _generalfeedback(self) -> str:
        shown = (
            rf"<p>\({html_text(quiz.letter(part.quantity))} \approx {{@ta_{k}@}}\)</p>"
            for k, part in self.parts
        )
        return "\n".join([quiz.paragraph(self.say("The right answers:")), *shown])

    def _input(self, k: int) -> str:
        matrix = self.nodes[k].grid != (1, 1)
        fields: Mapping[str, object] = {
            "name": f"ans{k}",
            "type": "matrix" if matrix else "numerical",
            "tans": f"ta_{k}",
            "boxsize": _BOX,
            "strictsyntax": 1,
            "insertstars": 0,
            "syntaxhint": "",
            "syntaxattribute": 0,
            "forbidwords": "",
            "allowwords": "",
            "forbidfloat": 0,
            "requirelowestterms": 0,
            "checkanswertype": 0,
            "mustverify": 1,
            "showvalidation": 1,
            # A part that is left empty keeps no other from being marked.
            "options": "allowempty",
        }
        inside = "\n".join(quiz.element(name, value) for name, value in fields.items())
        return f"<input>\n{inside}\n</input>"

    def _tree(self, k: int, part: Part) -> str:
        """The tree of a part: right, else following, else wrong."""
        follows = bool(self.sources[k])
        inside = [
            quiz.element("name", f"prt{k}"),
            quiz.element("value", part.points),
            quiz.element("autosimplify", 1),
            quiz.element("feedbackstyle", 1),
            quiz.code("feedbackvariables", ";\n".join([*self.following(k), ""]) if follows else ""),
            self._node(k, 0, f"r_{k}", 1, 1 if follows else -1, ""),
        ]
        if follows:
            said = self.say(
                "It follows from your earlier answers, which are not all right: points for "
                "the method."
            )
            inside.append(self._node(k, 1, f"c_{k}", METHOD, -1, quiz.paragraph(said)))
        return "\n".join(["<prt>", *inside, "</prt>"])

    def _node(self, k: int, place: int, truth: str, score: float, otherwise: int, said: str) -> str:
        """A node that compares the answer: with its score if it fits, else on to another."""
        fields: Mapping[str, object] = {
            "name": place,
            "description": "",
            "answertest": "AlgEquiv",
            "sans": self.test(k, truth),
            "tans": "true",
            "testoptions": "",
            "quiet": 1,
        }
        inside = [quiz.element(name, value) for name, value in fields.items()]
        for branch, points, penalty, then, feedback in (
            ("true", score, 0 if score == 1 else _PENALTY, -1, said),
            ("false", 0, _PENALTY, otherwise, ""),
        ):
            inside += [
                quiz.element(f"{branch}scoremode", "="),
                quiz.element(f"{branch}score", points),
                quiz.element(f"{branch}penalty", penalty),
                quiz.element(f"{branch}nextnode", then),
                quiz.element(f"{branch}answernote", _note(k, place, branch == "true")),
                quiz.rich(f"{branch}feedback", feedback),
            ]
        return "\n".join(["<node>", *inside, "</node>"])

    # -- question tests --------------------------------------------------------------

    def _questiontests(self) -> Iterator[str]:
        told = {
            "ta": "The right answers.",
            "e": "A slip, carried on.",
            "g": "Nonsense.",
        }
        for case, (letter, description) in enumerate(told.items(), 1):
            inside = [quiz.element("testcase", case), quiz.element("description", description)]
            for k, _ in self.parts:
                value = quiz.element("value", f"{letter}_{k}")
                if letter == "ta":
                    # The digits are symattn's own: Maxima's are held against them.
                    value = quiz.element("value", self._right(k))
                inside.append(f"<testinput><name>ans{k}</name>{value}</testinput>")
            outcomes = [_Trial(self, one).outcomes(letter) for one in self.exercises]
            for k, _ in self.parts:
                found = {outcome[k] for outcome in outcomes}
                if len(found) == 1:
                    inside.append(self._expected(k, *found))
            yield "\n".join(["<qtest>", *inside, "</qtest>"])

    def _right(self, k: int) -> str:
        part = self.first.parts[k - 1]
        rows = (
            [[read_entry(answer) for answer in row] for row in one.right(part)]
            for one in self.exercises
        )
        return _of_variant(map(maxima.matrix, rows))

    def _expected(self, k: int, outcome: str) -> str:
        score = {"right": 1, "follows": METHOD, "wrong": 0}[outcome]
        place = 0 if outcome == "right" or not self.sources[k] else 1
        fields: Mapping[str, object] = {
            "name": f"prt{k}",
            "expectedscore": score,
            "expectedpenalty": 0 if score == 1 else _PENALTY,
            "expectedanswernote": _note(k, place, outcome != "wrong"),
        }
        inside = "".join(quiz.element(name, value) for name, value in fields.items())
        return f"<expected>{inside}</expected>"


class _Trial:
    """The answers of the question's tests to one version, in floats, and what the trees
    make of them."""

    def __init__(self, question: _Question, exercise: Exercise) -> None:
        self.question = question
        self.exercise = exercise
        program = exercise.case.program
        self.nodes = {k: program.named[part.quantity] for k, part in question.parts}
        self.given = {
            node.serial: _floats(_rows(exercise, name))
            for name, node in quiz.Text(exercise, question.say).given()
        }
        self.right = self._chain(lambda k, made: made)

    def _chain(self, change: Callable[[int, Matrix], Matrix]) -> dict[int, Matrix]:
        """The parts one after the other, each from those before as they were changed."""
        found: dict[int, Matrix] = {}
        for k in self.question.order:
            found[k] = change(k, self.made(k, found))
        return found

    def made(self, k: int, known: Mapping[int, Matrix]) -> Matrix:
        """What a part is when it is computed from these."""
        held = self.given | {self.nodes[j].serial: known[j] for j in self.question.sources[k]}
        node = self.nodes[k]
        run = Run(Floats(), lambda x: held.get(x.serial))
        return run[node] if node.op == "given" else run.work(node)

    def outcomes(self, letter: str) -> dict[int, str]:
        """What the tree of each part says of the answers of a test."""
        answers = {"ta": self._truth, "e": self._slip, "g": self._nonsense}[letter]()
        return {k: self._outcome(k, answers) for k, _ in self.question.parts}

    def _truth(self) -> dict[int, Matrix]:
        return {k: self._rounded(k, value) for k, value in self.right.items()}

    def _slip(self) -> dict[int, Matrix]:
        slipped = self.question.slipped

        def change(k: int, made: Matrix) -> Matrix:
            return self._rounded(k, _moved(made, 1) if k == slipped else made)

        return self._chain(change)

    def _nonsense(self) -> dict[int, Matrix]:
        return {k: self._rounded(k, _moved(value, _nonsense(k))) for k, value in self.right.items()}

    def _rounded(self, k: int, value: Matrix) -> Matrix:
        made: Matrix = np.round(value, self.exercise.parts[k - 1].places)
        return made

    def _outcome(self, k: int, answers: Mapping[int, Matrix]) -> str:
        tolerance = float(self.exercise.parts[k - 1].tolerance)
        if _is_close(answers[k], self.right[k], tolerance):
            return "right"
        follows = self.question.sources[k] and _is_close(
            answers[k], self.made(k, answers), tolerance
        )
        return "follows" if follows else "wrong"


def _of_variant(code: Iterable[str]) -> str:
    """The code of a variant, by that of all."""
    said = [*code]
    return said[0] if len(set(said)) == 1 else f"[{', '.join(said)}][sa_variant]"


def _nonsense(k: int) -> int:
    return 50 + 13 * k


def _moved(value: Matrix, by: int) -> Matrix:
    rows, columns = value.shape
    made: Matrix = value + by * (np.arange(1, rows + 1)[:, None] + 2 * np.arange(1, columns + 1))
    return made


def _is_close(answer: Matrix, truth: Matrix, tolerance: float) -> bool:
    with np.errstate(invalid="ignore"):
        near = (answer == truth) | (np.abs(answer - truth) <= tolerance)
    return bool(near.all())


def _floats(rows: Rows) -> Matrix:
    return np.array([[float(x.ball(64)) if hasattr(x, "ball") else -np.inf for x in row]
                     for row in rows])  # fmt: skip


def _rows(exercise: Exercise, name: str) -> Rows:
    given = exercise.case.given
    return given.get(name, exercise.case.upstream)


def _plain(name: str) -> str:
    """A name of what is given: that of a gradient is none in Maxima."""
    return name.replace("dL/d", "upstream_")


def _note(k: int, place: int, is_true: bool) -> str:
    return f"prt{k}-{place + 1}-{'T' if is_true else 'F'}"


def _check(exercises: Sequence[Exercise]) -> None:
    first = exercises[0]
    if first.is_proof:
        raise Malformed("a proof has no figures: STACK questions are made of the other levels")
    for one in exercises[1:]:
        same = one.case.steps == first.case.steps and one.parts == first.parts
        if not same or one.case.program.shapes() != first.case.program.shapes():
            raise Malformed(
                f"version {one.version} has other steps, parts or shapes than version "
                f"{first.version}: the variants of a question differ in their numbers only"
            )


_SETTINGS: Mapping[str, object] = {
    "questionsimplify": 1,
    "assumepositive": 0,
    "assumereal": 0,
    "decimals": ".",
    "scientificnotation": "*10",
    "multiplicationsign": "dot",
    "sqrtsign": 1,
    "complexno": "i",
    "inversetrig": "cos-1",
    "logicsymbol": "lang",
    "matrixparens": "[",
    "variantsselectionseed": "",
}
