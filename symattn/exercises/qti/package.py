"""Packages: the versions of an exercise as a bank, of which a test draws one.

A package of the same exercise has the same bytes: nothing in it tells when it was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from symattn.exercises import questions, quiz
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.faults import At
from symattn.exercises.qti.processing import Blanks, Processing
from symattn.exercises.qti.vocabulary import Vocabulary, written
from symattn.languages.language import ENGLISH, Language
from symattn.printers import blocks as b
from symattn.printers.docx import packed
from symattn.printers.web import Platform

# -- the item of an exercise -------------------------------------------------------------
# One version, with a blank for every figure.

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
    solution: Sequence[b.Block] = (),
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
    return maker(exercise, vocabulary, say, solution).written()


@dataclass
class _Item:
    exercise: Exercise
    v: Vocabulary
    say: Language
    solution: Sequence[b.Block]

    def document(self, *inside: str) -> str:
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
        self.blanks = Blanks(self.exercise)
        self.text = quiz.QuestionText(self.exercise, self.say, _ON)
        self.processing = Processing(self.blanks, self.v)
        rules = [*self.processing.rules()]
        shown = _ON.printed(self.solution)
        if self.solution:
            rules.append(self.processing.named("DONE", "done"))
        return self.document(
            *self._responses(),
            *self.processing.declarations(),
            *([self.v.declared("outcome", "DONE", "identifier")] if self.solution else ()),
            self.v("item-body", "\n".join(self._body())),
            self.v("response-processing", "\n".join(rules)),
            *([self._told("modal-feedback", "DONE", "done", shown)] if self.solution else ()),
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
        yield from self.text.opening(self.text.given_numbers())
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
            yield self._remark(self.processing.mistake(k), f"mistake_{number}", remark)
        early = self.say("Rounded too early: keep more places until the end.")
        yield self._remark(self.processing.said("early", k), "early", early)
        if self.blanks.chain.sources[k]:
            follows = self.say("This agrees with your earlier answers, not all of which are right.")
            yield self._remark(self.processing.said("follows", k), "follows", follows)

    def _remark(self, outcome: str, name: str, line: b.Line) -> str:
        return self._told("feedback-block", outcome, name, _ON.paragraph(line))

    def _told(self, kind: str, outcome: str, name: str, html: str) -> str:
        known = {"outcome_identifier": outcome, "identifier": name, "show_hide": "show"}
        return self.v(kind, self.v.body(html), **known)


class _Essay(_Item):
    def written(self) -> str:
        working = _ON.printed(questions.proved(self.exercise))
        box = self.v(
            "extended-text-interaction", response_identifier="ANSWER", expected_lines=_LINES
        )
        marker = self.v("rubric-block", self.v.body(working), view="scorer", use="scoring")
        text = _ON.printed(questions.derivations(self.exercise, self.say))
        worth = {"normal_maximum": self.exercise.points, "external_scored": "human"}
        return self.document(
            self.v.declared("response", "ANSWER", "string"),
            self.v.declared("outcome", "SCORE", "float", **worth),
            self.v("item-body", "\n".join([text, box, marker])),
        )


# -- package -----------------------------------------------------------------------------

#: Files are read by their owner and everybody else.
_RIGHTS = 0o100644 << 16


def archive(files: Mapping[str, str]) -> bytes:
    """Files by their names as an archive.

    >>> archive({"a": "b"}) == archive({"a": "b"})
    True
    """
    return packed({name: text.encode() for name, text in files.items()}, _RIGHTS)


def package(name: str, title: str, items: Mapping[str, str], vocabulary: Vocabulary) -> bytes:
    """The package of an exercise: its versions by their names, as files in a vocabulary, and
    a test that draws one of them.

    >>> from symattn.exercises.qti.vocabulary import QTI_3
    >>> from symattn.printers.docx import unpacked
    >>> [*unpacked(package("x", "An exercise", {"x-01": "<qti-assessment-item/>"}, QTI_3))]
    ['imsmanifest.xml', 'test.xml', 'items/item-x-01.xml']
    """
    paths = {identifier(item): f"items/{identifier(item)}.xml" for item in items}
    files = {
        "imsmanifest.xml": _manifest(name, paths, vocabulary),
        "test.xml": _test(name, title, paths, vocabulary),
    }
    files |= dict(zip(paths.values(), items.values(), strict=True))
    return archive(files)


def _manifest(name: str, paths: Mapping[str, str], v: Vocabulary) -> str:
    schema, version = v.schema
    metadata = written("metadata", written("schema", schema), written("schemaversion", version))
    depends = (written("dependency", identifierref=item) for item in paths)
    resources = [_resource("test", f"imsqti_test_{v.kind}", "test.xml", *depends)]
    resources += [_resource(x, f"imsqti_item_{v.kind}", path) for x, path in paths.items()]
    listed = written("resources", "\n", *(f"{x}\n" for x in resources))
    return v.manifest(
        "\n", f"{metadata}\n", "<organizations/>\n", f"{listed}\n",
        identifier=f"package-{identifier(name)}",
    )  # fmt: skip


def _resource(name: str, kind: str, path: str, *depends: str) -> str:
    file = written("file", href=path)
    return written("resource", file, *depends, identifier=name, type=kind, href=path)


def _test(name: str, title: str, paths: Mapping[str, str], v: Vocabulary) -> str:
    one = v("selection", select=1) if len(paths) > 1 else ""
    refs = (v("assessment-item-ref", identifier=x, href=path) for x, path in paths.items())
    control = v("item-session-control", max_attempts=0, show_feedback="true")
    named = {"identifier": "section", "title": title, "visible": "false"}
    section = v("assessment-section", control, one, *refs, **named)
    modes = {"navigation_mode": "linear", "submission_mode": "individual"}
    part = v("test-part", section, identifier="part", **modes)
    total = v("sum", v("test-variables", variable_identifier="SCORE"))
    score = v.declared("outcome", "SCORE", "float")
    summed = v("outcome-processing", v("set-outcome-value", total, identifier="SCORE"))
    return v.document(
        "assessment-test",
        "\n",
        *(f"{x}\n" for x in (score, part, summed)),
        identifier=f"test-{identifier(name)}",
        title=title,
    )
