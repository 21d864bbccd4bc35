"""The item of an exercise: one version, with a blank for every figure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symattn.exercises import questions, quiz
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.faults import At, InjectedFault
from symattn.exercises.marking.collecting import DEFAULT, Scheme
from symattn.exercises.qti.processing import Blanks, Processing
from symattn.exercises.qti.vocabulary import Vocabulary
from symattn.languages.language import ENGLISH, Language
from symattn.printers import blocks as b
from symattn.printers.web import Platform

#: Letters that fit into a blank, and lines of the box for a proof.
_BOX, _LINES = 8, 30
_ON = Platform(mathml=True)


def identifier(name: str) -> str:
    """A name as an identifier.

    >>> identifier("cat-sat-mat"), identifier("2 <cats>")
    ('item-cat-sat-mat', 'item-2--cats-')
    """
    return "item-" + re.sub(r"[^A-Za-z0-9_-]", "-", name)


def item(
    exercise: Exercise,
    vocabulary: Vocabulary,
    say: Language = ENGLISH,
    faults: Sequence[InjectedFault] | None = None,
    solution: Sequence[b.Block] = (),
    scheme: Scheme = DEFAULT,
) -> str:
    """The item of an exercise, as a file in that vocabulary.

    Answers are marked as :mod:`~symattn.exercises.qti.processing` says; proofs are left to a
    person, who sees the derivations. ``solution`` is shown after an attempt.

    Raises :class:`Malformed` for numbers that hold symbols.

    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.exercises.qti.vocabulary import QTI_3
    >>> from symattn.cases.library import load
    >>> made = item(exercise(load("cat-sat-mat")), QTI_3)
    >>> made.count("<qti-text-entry-interaction")
    39
    """
    maker = _Essay if exercise.is_proof else _Figures
    return maker(exercise, vocabulary, say, faults, solution, scheme).written()


@dataclass
class _Item:
    exercise: Exercise
    v: Vocabulary
    say: Language
    faults: Sequence[InjectedFault] | None
    solution: Sequence[b.Block]
    scheme: Scheme

    def document(self, *inside: str) -> str:
        """The file."""
        return self.v.document(
            "assessment-item",
            "\n",
            *(f"{x}\n" for x in inside),
            identifier=identifier(self.exercise.name),
            title=quiz.title(self.exercise, version=True),
            language=self.say.tag,
            adaptive="false",
            time_dependent="false",
        )


class _Figures(_Item):
    def written(self) -> str:
        """The file."""
        self.blanks = Blanks(self.exercise, self.faults)
        self.text = quiz.QuestionText(self.exercise, self.say, _ON)
        self.processing = Processing(self.blanks, self.v, self.scheme)
        rules = [*self.processing.rules()]
        if self.solution:
            rules.append(self.processing.named("DONE", "done"))
        return self.document(
            *self._responses(),
            *self.processing.declarations(),
            *([self.v.declared("outcome", "DONE", "identifier")] if self.solution else ()),
            self.v("item-body", "\n".join(self._body())),
            self.v("response-processing", "\n".join(rules)),
            *(self._solution() if self.solution else ()),
        )

    def _responses(self) -> Iterator[str]:
        for k, part in self.blanks.chain.parts.items():
            right = self.exercise.right(part)
            for i, j in self.blanks.right[k]:
                value = self.v("value", f"{right[i][j]:f}")
                correct = self.v("correct-response", value)
                name = self.processing.response(k, (i, j))
                yield self.v.declared("response", name, "float", correct)

    def _body(self) -> Iterator[str]:
        yield from self.text.opening(f"{self.text.given_numbers()}")
        yield _ON.paragraph(self.say("Write decimals with a point, such as 0.25."))
        for k, part in self.blanks.chain.parts.items():
            yield self.text.task(k, part)
            cells = {at: self._blank(k, part, at) for at in self.blanks.right[k]}
            yield self.text.of_part(part, cells, quiz.letter(part.quantity))
            yield from self._feedback(k)

    def _blank(self, k: int, part: Part, at: At) -> str:
        label = self.say.text(
            "{quantity}: row {row}, column {column}",
            quantity=part.quantity,
            row=str(at[0] + self.exercise.first),
            column=str(at[1] + self.exercise.first),
        )
        return self.v(
            "text-entry-interaction",
            response_identifier=self.processing.response(k, at),
            expected_length=_BOX,
            label=label,
        )

    def _feedback(self, k: int) -> Iterator[str]:
        for number, fault in enumerate(self.blanks.chain.faults[k], 1):
            remark: b.Line = (*fault.said(self.say), "?")
            yield self._block(self.processing.mistake(k), f"mistake_{number}", remark)
        early = self.say("Rounded too early: keep more places until the end.")
        yield self._block(self.processing.said("early", k), "early", early)
        if self.blanks.chain.sources[k]:
            follows = self.say("This agrees with your earlier answers, not all of which are right.")
            yield self._block(self.processing.said("follows", k), "follows", follows)

    def _block(self, outcome: str, name: str, line: b.Line) -> str:
        return self.v(
            "feedback-block",
            self.v.body(_ON.paragraph(line)),
            outcome_identifier=outcome,
            identifier=name,
            show_hide="show",
        )

    def _solution(self) -> Iterator[str]:
        yield self.v(
            "modal-feedback",
            self.v.body(_ON.printed(self.solution)),
            outcome_identifier="DONE",
            identifier="done",
            show_hide="show",
        )


class _Essay(_Item):
    def written(self) -> str:
        """The file."""
        working = _ON.printed(questions.proved(self.exercise))
        box = self.v(
            "extended-text-interaction", response_identifier="ANSWER", expected_lines=_LINES
        )
        marker = self.v("rubric-block", self.v.body(working), view="scorer", use="scoring")
        text = _ON.printed(questions.derivations(self.exercise, self.say))
        return self.document(
            self.v.declared("response", "ANSWER", "string"),
            self.v.declared(
                "outcome",
                "SCORE",
                "float",
                normal_maximum=self.exercise.points,
                external_scored="human",
            ),
            self.v("item-body", "\n".join([text, box, marker])),
        )
