"""How lines that are known to be true or false are judged, and how long that takes.

    python -m tests.calculus.measure true --each 7       # some 1,400 true lines
    python -m tests.calculus.measure mutants --count 10000
    python -m tests.calculus.measure vanishing --count 10000

Prints the share of each status and the times; then the lines that matter. Whether
a line is true or false says the tests' own oracle (:mod:`tests.calculus.oracle`).
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from symattn.calculus import draft, line_reading
from symattn.calculus.judged_lines import JudgedLine
from symattn.calculus.judging import derived
from symattn.errors import Malformed

from .files import document, names, theory, theory_document
from .grids import Unreadable
from .mutants import Changes
from .oracle import Judge
from .truths import tables, truths

FACTORS = (
    *("step({x} < 0) * step(0 < {x})", "(n - n)", "relu({x}) * relu(-{x})", "delta(n, n + 1)"),
    *("(1 - step({x} < 0) - step(0 < {x}))", "(sqrt({x}**2) - {x})", "delta(n, 7)"),
    *("limit({t}, oo, exp(-{t} * {x}**2))", "limit({t}, oo, 1 / (1 + (n - 9)**2 * {t}))"),
    *(
        "(1 - step({x} < {y}) - step({y} < {x}))",
        "step(n < 2)",
        "(diff(relu({x}), {x}) - step(0 < {x}))",
    ),
    *("delta(1, n)", "(1 - step(0 < {x}**2))"),
)
"""What is 0 at random points: everywhere, or but for some."""


@dataclass(frozen=True)
class Case:
    """A line of a document; ``key`` tells documents apart."""

    key: str
    line: str
    family: str = ""
    false: bool = False


@cache
def documents() -> dict[str, dict[str, Any]]:
    """All documents that lines are tried in."""
    every = {f"theory/{name}": theory_document(name) for name in theory()}
    every |= {f"corpus/{name}": document("corpus", name) for name in names("corpus")}
    made = {f"truths/{name}": dict(entry) for name, entry in tables()["documents"].items()}
    return every | made


@cache
def judge(key: str) -> Judge:
    """The oracle of a document."""
    return Judge(documents()[key])


def falsehood(key: str, line: str) -> bool | None:
    """Whether a line is false in a document; None where nothing can be said."""
    with suppress(Malformed, Unreadable, OverflowError):
        line_reading.line(line, _scope(key))
        return judge(key).is_false(line)
    return None


@cache
def _scope(key: str) -> Any:
    held = {**documents()[key]}
    return draft.read({**held, "lines": held.get("lines") or [{"line": "1 == 1"}]}).scope


def true_lines(each: int, seed: int) -> Iterator[Case]:
    """Generated true lines, by family."""
    for truth in truths(each, seed):
        name = tables()["families"][truth.family]["document"]
        yield Case(f"truths/{name}", truth.line, truth.family)


def sources(seed: int) -> list[Case]:
    """True lines of all files, and generated ones."""
    cases = [
        Case(key, entry["line"], key)
        for key, held in documents().items()
        for entry in held.get("lines", ())
    ]
    return cases + list(true_lines(3, seed))


def mutants(count: int, seed: int) -> Iterator[Case]:
    """So many false lines: true ones changed in one place, as many of each line as of any."""
    every = sources(seed)
    random.Random(seed).shuffle(every)
    changes: list[tuple[Case, Iterator[str]]] = [(case, _changed(case)) for case in every]
    while changes and count > 0:
        left = []
        for case, lines in changes:
            # Of some lines nearly all changes are true.
            some = islice(lines, 8)
            line = next((line for line in some if falsehood(case.key, line)), None)
            if line is not None:
                yield Case(case.key, line, case.family, True)
                left.append((case, lines))
                count -= 1
            if not count:
                return
        changes = left


def _changed(case: Case) -> Iterator[str]:
    """A line changed in one place, in each way; worked out when the first is asked for."""
    yield from Changes(case.line, documents()[case.key].get("sizes", [])).all()


def vanishing(count: int, seed: int) -> Iterator[Case]:
    """False lines times what is 0 at random points: most are true then, or false at the edge."""
    rng = random.Random(seed)
    for case in mutants(4 * count, seed):
        held = documents()[case.key]
        numbers = [name for name, shape in held.get("shapes", {}).items() if not shape]
        vectors = [
            f"{name}[1]" for name, shape in held.get("shapes", {}).items() if len(shape) == 1
        ]
        if not numbers or "n" not in held.get("sizes", ()):
            continue
        x, y = rng.sample([*numbers, *vectors, "n"], 2)
        kind = rng.choice(FACTORS)
        factor = kind.format(x=x, y=y, t=numbers[-1])
        left, _, right = case.line.partition(" == ")
        line = f"({left}) * {factor} == ({right}) * {factor}"
        false = falsehood(case.key, line)
        if false is not None:
            yield Case(case.key, line, kind, false)
            count -= 1
            if not count:
                return


def judged(cases: Sequence[Case]) -> Iterator[tuple[Case, JudgedLine, float]]:
    """Each line judged, alone in its document, and the seconds that took."""
    for case in cases:
        held = {**documents()[case.key], "lines": [{"line": case.line}], "conclusions": []}
        start = time.process_time()
        derivation = derived(case.key, held)
        taken = time.process_time() - start
        if derivation.faults:
            raise SystemExit(f"{case.key}: {derivation.faults[0]}: {case.line}")
        yield case, derivation.lines[0], taken


def report(cases: Sequence[Case], wrong: Callable[[Case, JudgedLine], bool]) -> int:
    """Judge lines and print the figures; how many are judged wrongly."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    seconds, bad, open_ = [], [], []
    for case, line, taken in judged(cases):
        counts["false" if case.false else "true"][line.status] += 1
        counts[f"  {case.family}"][line.status] += 1
        seconds.append(taken)
        if taken > 2:
            print(f"{taken:.1f} s: {case.key}: {case.line}", flush=True)
        if wrong(case, line):
            bad.append(case)
            print(
                f"WRONG {line.status} {case.key}: {case.line}  {line.counterexample or ''}",
                flush=True,
            )
        elif line.status not in ("proved", "refuted"):
            open_.append((case, line))
    for case, line in open_:
        print(f"open {line.status} {case.key} ({case.family}): {case.line}  # {line.why}")
    for family, statuses in counts.items():
        total = statuses.total()
        shares = ", ".join(
            f"{n} {status} ({n / total:.1%})" for status, n in statuses.most_common()
        )
        print(f"{family}: {total} lines: {shares}")
    print(
        f"times: median {statistics.median(seconds) * 1000:.0f} ms, worst {max(seconds):.2f} s, "
        f"total {sum(seconds):.1f} s"
    )
    print(f"judged wrongly: {len(bad)}")
    return len(bad)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one kind of lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("true", "mutants", "vanishing"))
    parser.add_argument("--each", type=int, default=7, help="so many true lines of each rule")
    parser.add_argument("--count", type=int, default=10_000, help="so many false lines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--oracle", action="store_true", help="let the oracle judge true lines too")
    options = parser.parse_args(arguments)
    if options.kind == "true":
        cases = list(true_lines(options.each, options.seed))
        if options.oracle:
            for case in cases:
                verdict = falsehood(case.key, case.line)
                if verdict is not False:
                    print(f"oracle says {verdict}: {case.key} ({case.family}): {case.line}")
        return bool(report(cases, lambda case, line: line.status == "refuted"))
    make = mutants if options.kind == "mutants" else vanishing
    every = list(make(options.count, options.seed))

    def wrong(case: Case, line: JudgedLine) -> bool:
        if case.false or line.counterexample is None:
            return case.false and line.status in ("proved", "checked")
        # What the oracle did not see to be false may be so at these numbers.
        return judge(case.key).is_false_at(case.line, line.counterexample) is False

    return bool(report(every, wrong))


if __name__ == "__main__":
    sys.exit(main())
