r"""QTI 1.2 as Canvas imports it: a question for each version, with blanks for all figures.

Such a blank knows no tolerance: it takes what is spelt in one of some ways. These are the
decimals within the tolerance, to the places that are asked for, as people write them.
Formulas are LaTeX between ``\(`` and ``\)``, which Canvas sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import product

from symattn.escaping import html_text
from symattn.exercises import questions, quiz
from symattn.exercises.exercise import Exercise
from symattn.exercises.faults import At
from symattn.exercises.qti.package import archive, identifier
from symattn.exercises.qti.processing import Blanks
from symattn.exercises.qti.vocabulary import document, written
from symattn.languages.language import ENGLISH, Language
from symattn.printers import blocks as b
from symattn.printers import web

_NAMESPACE = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
_PACKAGING = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
_ALL = "100"


def question(exercise: Exercise, say: Language = ENGLISH, solution: Sequence[b.Block] = ()) -> str:
    """The question of an exercise, as an item of QTI 1.2; proofs are essays.

    ``solution`` is shown behind the right answers.

    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.cases.library import load
    >>> made = question(exercise(load("cat-sat-mat")))
    >>> made.count("<response_lid ")
    39
    """
    if exercise.is_proof:
        return _essay(exercise, say)
    return _figures(Blanks(exercise), say, solution)


def spellings(number: Decimal, places: int) -> list[str]:
    """Return how people write what is within a unit of the last of so many places of a number.

    >>> spellings(Decimal("0.50648"), 4)[:4]
    ['0.5065', '.5065', '0,5065', ',5065']
    >>> "2" in spellings(Decimal(2), 4), "-.25" in spellings(Decimal("-0.25"), 2)
    (True, True)
    """
    unit = Decimal(1).scaleb(-places)
    least = (number - unit).quantize(unit, ROUND_CEILING)
    most = (number + unit).quantize(unit, ROUND_FLOOR)
    within = [least + k * unit for k in range(int((most - least) / unit) + 1)]
    within.sort(key=lambda x: (abs(x - number), x))
    return [*dict.fromkeys(text for x in within for text in _written_as(x))]


def _written_as(number: Decimal) -> Iterator[str]:
    whole, _, places = f"{abs(number):f}".partition(".")
    least = len(places.rstrip("0"))
    signs = ("-", "\N{MINUS SIGN}") if number < 0 else ("",)
    for count, point, sign in product(range(len(places), least - 1, -1), ".,", signs):
        rest = f"{point}{places[:count]}" if count else ""
        yield f"{sign}{whole}{rest}"
        if rest and whole == "0":
            yield f"{sign}{rest}"


def package(name: str, title: str, items: Sequence[str]) -> bytes:
    """The package of questions: a quiz that draws one of them.

    >>> package("x", "An exercise", []) == package("x", "An exercise", [])
    True
    """
    path = f"{identifier(name)}/{identifier(name)}.xml"
    metadata = written(
        "metadata", written("schema", "IMS Content"), written("schemaversion", "1.1.3")
    )
    file = written("file", href=path)
    resource = written("resource", file, identifier=identifier(name), type="imsqti_xmlv1p2")
    manifest = written(
        "manifest",
        metadata,
        "<organizations/>",
        written("resources", resource),
        identifier=f"package-{identifier(name)}",
        xmlns=_PACKAGING,
    )
    selection = written("selection", written("selection_number", "1"))
    drawn = written("selection_ordering", selection)
    group = written("section", drawn, *items, ident="versions", title=title)
    root = written("section", group, ident="root_section")
    attempts = _fields(cc_maxattempts=1)
    assessment = written("assessment", attempts, root, ident=identifier(name), title=title)
    quiz_file = written("questestinterop", assessment, xmlns=_NAMESPACE)
    return archive({"imsmanifest.xml": document(manifest), path: document(quiz_file)})


def _fields(**values: object) -> str:
    listed = (
        written("qtimetadatafield", written("fieldlabel", label), written("fieldentry", str(value)))
        for label, value in values.items()
    )
    return written("qtimetadata", *listed)


def _item(exercise: Exercise, kind: str, *inside: str) -> str:
    fields = _fields(question_type=kind, points_possible=exercise.points)
    return written(
        "item",
        "\n",
        written("itemmetadata", fields),
        "\n",
        *(f"{x}\n" for x in inside),
        ident=identifier(exercise.name),
        title=quiz.title(exercise, version=True),
    )


def _material(html: str) -> str:
    return written("material", _text(html, "text/html"))


def _text(text: str, kind: str) -> str:
    return written("mattext", html_text(text), texttype=kind)


def _processing(conditions: Iterable[str]) -> str:
    score = written("decvar", maxvalue=_ALL, minvalue=0, varname="SCORE", vartype="Decimal")
    always = written("conditionvar", "<other/>")
    general = written("displayfeedback", feedbacktype="Response", linkrefid="general_fb")
    shown = written("respcondition", always, general, **{"continue": "Yes"})
    return written("resprocessing", written("outcomes", score), shown, *conditions)


def _feedback(html: str) -> str:
    return written("itemfeedback", written("flow_mat", _material(html)), ident="general_fb")


def _figures(blanks: Blanks, say: Language, solution: Sequence[b.Block]) -> str:
    exercise = blanks.exercise
    text = quiz.QuestionText(exercise, say)
    body = text.opening(text.given_numbers())
    responses: list[str] = []
    conditions: list[str] = []
    count = sum(map(len, blanks.right.values()))
    for k, part in blanks.chain.parts.items():
        numbers = blanks.right[k]
        cells = {at: f"[{_name(k, at)}]" for at in numbers}
        body += [text.task(k, part), text.of_part(part, cells, quiz.letter(part.quantity))]
        for at, number in numbers.items():
            responses.append(_response(k, at, spellings(number, part.places)))
            conditions.append(_condition(k, at, 100 / count))
    places = {part.quantity: blanks.right[k] for k, part in blanks.chain.parts.items()}
    feedback = "\n".join([*text.right_answers(places), web.printed(solution)])
    return _item(
        exercise,
        "fill_in_multiple_blanks_question",
        written("presentation", _material("\n".join(body)), "\n", *responses),
        _processing(conditions),
        _feedback(feedback),
    )


def _name(k: int, at: At) -> str:
    """Return what a blank is called: the letter of its part, its row and its column."""
    return f"{questions.letter(k - 1)}_{at[0] + 1}_{at[1] + 1}"


def _response(k: int, at: At, texts: Sequence[str]) -> str:
    labels = (
        written(
            "response_label",
            written("material", _text(text, "text/plain")),
            ident=f"{_name(k, at)}_{number}",
        )
        for number, text in enumerate(texts, 1)
    )
    named = written("material", written("mattext", _name(k, at)))
    choices = written("render_choice", *labels)
    return written("response_lid", named, choices, ident=f"response_{_name(k, at)}") + "\n"


def _condition(k: int, at: At, share: float) -> str:
    equal = written("varequal", f"{_name(k, at)}_1", respident=f"response_{_name(k, at)}")
    score = written("setvar", f"{share:.2f}", varname="SCORE", action="Add")
    return written("respcondition", written("conditionvar", equal), score) + "\n"


def _essay(exercise: Exercise, say: Language) -> str:
    label = written("response_label", ident="answer1", rshuffle="No")
    box = written("render_fib", label)
    response = written("response_str", box, ident="response1", rcardinality="Single")
    always = written("conditionvar", "<other/>")
    asked = web.printed(questions.derivations(exercise, say))
    return _item(
        exercise,
        "essay_question",
        written("presentation", _material(asked), response),
        _processing([written("respcondition", always, **{"continue": "No"})]),
        _feedback(web.printed(questions.proved(exercise))),
    )
