"""Walkthroughs of few bytes that are meant to take for ever: deep nesting, many factors, towers of
exponentials, near-equal values, large sizes, every function of steps."""

from __future__ import annotations

from typing import get_args

from symattn.programs.functions import FUNCTIONS
from symattn.programs.functions.calls import Axis, Count, Size
from symattn.programs.nodes import Node

#: Given quantities by the shapes that operands have.
GIVEN = {
    "X": [[1, 2], [3, 4]],
    "S": [[2, 0, 1], [0, 2, 1], [1, 1, 2]],
    "N": [["1/3", "0.333333333333333333333"], ["sqrt(2)", "1.41421356237309504880"]],
    "v": [1, 2, 3],
    "ids": [1, 0],
    "c": "7/5",
}
NUMBERS = ("1e9", "-1e9", "1e30", "1e-30", "1e400", "999", "log(2)", "sqrt(2)", "pi", "1/3")
SIZES = ("2", "3", "40", "256", "9999", "65536")
POWERS = ("2", "3", "64", "999")
_CALLED = sorted(set(FUNCTIONS) - {"rows", "cols"})


class Steep:
    """Draws expressions by the numbers of a :class:`random.Random`; most are refused, and
    that is right too."""

    def __init__(self, source):
        self.source = source

    def leaf(self):
        """A quantity, seldom a number."""
        choice = self.source.choice
        return choice([*GIVEN, *"XXXXXXXX"]) if self.source.random() < 0.9 else choice(NUMBERS)

    def call(self, name, inner):
        """A call with an argument for everything that a function needs."""
        words, is_first = [], True
        for parameter in FUNCTIONS[name].parameters.values():
            kinds = get_args(parameter.annotation) or (parameter.annotation,)
            if parameter.kind is parameter.KEYWORD_ONLY:
                continue
            if Size in kinds or Count in kinds:
                words.append(self.source.choice(SIZES))
            elif Node in kinds:
                words.append(inner if is_first else self.leaf())
                is_first = False
            elif Axis not in kinds:
                break
        keep = self.source.randint(1, len(words)) if words else 0
        return f"{name}({', '.join(words[:keep] if self.source.random() < 0.3 else words)})"

    def wrapped(self, inner):
        """An expression in one more operation."""
        source = self.source
        forms = (
            lambda: f"exp({inner})",
            lambda: f"exp(-({inner}))",
            lambda: f"softmax({source.choice(NUMBERS)} * ({inner}))",
            lambda: f"log({inner})",
            lambda: f"sqrt({inner})",
            lambda: f"({inner}) ** {source.choice(POWERS)}",
            lambda: f"({inner}) @ ({inner})",
            lambda: f"({inner}) @ ({inner}).T",
            lambda: f"({inner}) * ({inner})",
            lambda: f"({inner}) {source.choice('+-*/')} {source.choice(NUMBERS)}",
            lambda: f"({inner}) {source.choice('+-*/@')} {self.leaf()}",
            lambda: f"({inner}) {source.choice('+-*/@')} softmax({self.leaf()})",
            lambda: self.call(source.choice(_CALLED), inner),
            lambda: self.call(source.choice(_CALLED), inner),
        )
        return source.choice(forms)()

    def expression(self):
        """One operation around another, or one operation many times."""
        source = self.source
        if source.random() < 0.2:
            factor = source.choice(["softmax(X)", "(X + sqrt(2) * X)", "exp(X)", "log(1 + exp(X))"])
            return source.choice([" @ ", " * ", " + ", " / "]).join(
                ["X", *[factor] * source.randint(3, 40)]
            )
        name = source.choice(_CALLED) if source.random() < 0.2 else ""
        text = self.leaf()
        for _ in range(source.choice([1, 2, 3, 5, 8, 12])):
            wider = self.call(name, text) if name else self.wrapped(text)
            if len(wider) > 3000:
                break
            text = wider
        return text

    def content(self):
        """The tables of a walkthrough under 5 kB."""
        source = self.source
        steps: dict[str, str] = {}
        names: list[str] = []
        for name in "ABC"[: source.choice([1, 1, 1, 2, 3])]:
            text = self.expression()
            if names and source.random() < 0.7:
                text = text.replace(source.choice(["X", "S"]), source.choice(names))
            steps[name] = text[:3900]
            names.append(name)
        made: dict[str, object] = {"title": "Steep", "given": GIVEN, "steps": steps}
        last = names[-1]
        relations = source.sample(["<", "==", "<=", "!="], k=source.randint(0, 2))
        claims = [
            {"where": sign, "holds": f"{self.expression()[:800]} {sign} {last}"}
            for sign in relations
        ]
        if claims:
            made["claims"] = claims
        if source.random() < 0.3:
            made["loss"] = {"output": last}
        return made
