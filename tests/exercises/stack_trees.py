"""STACK's part in a question, played by Maxima: seeds, answers, trees."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .maxima_runs import answers, ask

#: A student's answers, by the names of inputs, as they are typed.
Script = Mapping[str, str]


class Result(NamedTuple):
    """What a tree says: its score and its last note."""

    score: float
    note: str


def text(element: ET.Element, path: str) -> str:
    """The text of what is at a path, which must be there."""
    found = element.find(path)
    assert found is not None, path
    return found.text or ""


def statements(code: str) -> list[str]:
    """The statements of some code."""
    return [line for line in code.rstrip("\n").removesuffix(";").split(";\n") if line]


@dataclass(frozen=True)
class Question:
    """A question of type stack, by its element."""

    element: ET.Element

    def variant(self, seed: int) -> list[str]:
        """The statements of the question's variables in the variant of a seed."""
        return [f"stack_seed: {seed}", *statements(text(self.element, "questionvariables/text"))]

    @property
    def seeds(self) -> list[int]:
        """The deployed seeds."""
        return [int(found.text or "") for found in self.element.iterfind("deployedseed")]

    def nodes(self) -> Iterator[tuple[ET.Element, ET.Element]]:
        """All nodes with their trees."""
        return ((tree, x) for tree in self.element.iterfind("prt") for x in tree.iterfind("node"))

    def marking(self, script: Script) -> Iterator[str]:
        """The statements that ask for what each node says of the answers of a student."""
        yield from (f"{name}: {value}" for name, value in script.items())
        for tree in self.element.iterfind("prt"):
            yield from statements(text(tree, "feedbackvariables/text"))
            for node in tree.iterfind("node"):
                assert text(node, "answertest") == "AlgEquiv"
                yield ask(f"is({text(node, 'sans')} = {text(node, 'tans')})")

    def results(self, said: Iterator[str]) -> dict[str, Result]:
        """What the trees say by the answers to :meth:`marking`."""
        held = {(text(tree, "name"), text(node, "name")): next(said) for tree, node in self.nodes()}
        return {text(tree, "name"): _walked(tree, held) for tree in self.element.iterfind("prt")}

    def tests(self) -> list[tuple[Script, dict[str, Result]]]:
        """The question's own tests: the answers, and what is expected."""
        return [
            (
                {text(x, "name"): text(x, "value") for x in test.iterfind("testinput")},
                {
                    text(x, "name"): Result(
                        float(text(x, "expectedscore")), text(x, "expectedanswernote")
                    )
                    for x in test.iterfind("expected")
                },
            )
            for test in self.element.iterfind("qtest")
        ]


def _walked(tree: ET.Element, held: Mapping[tuple[str, str], str]) -> Result:
    nodes = {text(node, "name"): node for node in tree.iterfind("node")}
    place, score, note = "0", 0.0, ""
    while place != "-1":
        node = nodes[place]
        said = held[text(tree, "name"), place]
        assert said in ("true", "false")
        assert text(node, f"{said}scoremode") == "="
        score, note = float(text(node, f"{said}score")), text(node, f"{said}answernote")
        place = text(node, f"{said}nextnode")
    return Result(score, note)


def marked(
    asked: Iterable[tuple[Question, int, Iterable[Script]]],
) -> list[list[dict[str, Result]]]:
    """What the trees of questions, each in the variant of a seed, make of students' answers."""
    code: list[str] = []
    held = [(question, seed, list(scripts)) for question, seed, scripts in asked]
    for question, seed, scripts in held:
        code += question.variant(seed)
        for script in scripts:
            code += question.marking(script)
    said = iter(answers(code))
    return [[question.results(said) for _ in scripts] for question, _, scripts in held]
