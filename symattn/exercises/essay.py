"""Essay questions: proofs, which a person marks."""

from __future__ import annotations

from symattn.errors import Malformed
from symattn.exercises import questions, quiz
from symattn.exercises.exercise import Exercise
from symattn.languages.language import ENGLISH, Language
from symattn.printers import mathjax

#: Lines of the box to write in.
_LINES = 30


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
    text = mathjax.printed(questions.derivations(exercise, say))
    working = mathjax.printed(questions.proved(exercise))
    return quiz.question(
        "essay",
        [
            quiz.plain("name", quiz.title(exercise, version=True)),
            quiz.rich("questiontext", text),
            quiz.rich("generalfeedback", working),
            quiz.element("defaultgrade", exercise.points),
            "<penalty>0</penalty>",
            "<hidden>0</hidden>",
            "<idnumber></idnumber>",
            "<responseformat>editorfilepicker</responseformat>",
            "<responserequired>0</responserequired>",
            quiz.element("responsefieldlines", _LINES),
            "<attachments>1</attachments>",
            "<attachmentsrequired>0</attachmentsrequired>",
            quiz.rich("graderinfo", working),
            quiz.rich("responsetemplate", ""),
        ],
    )
