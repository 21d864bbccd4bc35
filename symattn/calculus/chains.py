"""Chains ``a == b == c``: each member judged against the first and against the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from symattn.calculus.draft import Said
from symattn.calculus.judged_lines import HOLDS, JudgedLine, JudgedMember, sides_of


@dataclass(frozen=True)
class ChainJudge:
    """Judges the members of chains, given what judges a line as a whole, and hints."""

    verdict: Callable[[int, Said], JudgedLine]
    hint: Callable[[str], str]

    def continued(self, number: int, statement: Said, done: Sequence[JudgedLine]) -> JudgedLine:
        """A line that goes on with a chain is judged against its first member as well, unless
        all before are equal to that: what is said of it then is what it is to the first."""
        line = self.verdict(number, statement)
        before, *rest = sides_of(statement.line) or [""]
        earlier = takewhile(lambda each: each.said.first, reversed(done))
        follows = all(each.proved for each in earlier) and (not done or done[-1].proved)
        if not statement.first or (follows and line.proved):
            return line
        text = " == ".join((statement.first, *rest))
        whole = self.verdict(number, replace(statement, line=text))
        if whole.status == line.status == "proved":
            return line
        also = f"it is {'' if line.status in HOLDS else 'not '}the {before} before"
        return replace(whole, why="; ".join(filter(None, (whole.why, also))))

    def chained(self, line: JudgedLine) -> JudgedLine:
        """A chain with each member judged, against the first and against the one before."""
        texts = sides_of(line.text)
        if line.read is None or len(texts) < 3:
            return line
        first, *others = texts
        if line.proved:
            members = tuple(JudgedMember(text, "proved", "proved") for text in others)
            return replace(line, members=members)
        firsts = [self.verdict(line.number, Said(f"{first} == {text}")) for text in others]
        befores = [
            firsts[0],
            *(self.verdict(line.number, Said(" == ".join(pair))) for pair in pairwise(others)),
        ]
        wrong = [judged for judged in firsts if judged.status == "refuted"]
        alone = len(wrong) == len(firsts) and all(x.status in HOLDS for x in befores[1:])
        # Where the others agree it is the first that is wrong.
        hints = [
            self.hint(judged.text if not alone else " == ".join(sides_of(judged.text)[::-1]))
            if judged.status == "refuted" and not (alone and place)
            else ""
            for place, judged in enumerate(firsts)
        ]
        members = tuple(
            JudgedMember(text, x.status, y.status, x.counterexample, words)
            for text, x, y, words in zip(others, firsts, befores, hints, strict=True)
        )
        if not wrong:
            return replace(line, members=members)
        right = [member.text for member in members if member.status in HOLDS]
        names = [member.text for member in members if member.status == "refuted"]
        why = f"of the members {_are(names)} not {first}"
        why += f", but {_are(right)}" if right else ""
        if alone:
            why = f"of the members the first, {first}, is not what the others are, which are equal"
        place = wrong[0].counterexample
        words = next(filter(None, hints), "")
        return replace(
            line, status="refuted", members=members, counterexample=place, why=why, hint=words
        )


def _are(texts: Sequence[str]) -> str:
    """Members listed, with their verb."""
    return f"{' and '.join(texts)} {'is' if len(texts) == 1 else 'are'}"
