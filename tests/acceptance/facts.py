"""Facts that users of symattn rely on, of every bundled case, derivation, article and kernel.

A fact is a figure, a verdict, a cause, a status or a count: no sentence. This imports the public
face of symattn and nothing behind it, so that the house can be rebuilt while the facts stay.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import symattn
from tests.testing.museum import MUSEUM

#: What is said of a subject, by the name of the fact.
Facts = dict[str, str]
#: Names of facts, and the facts.
Found = Iterator[tuple[str, str]]

ROOT = Path(__file__).parents[2]
ARTICLES = [ROOT / "tests" / "documents" / name for name in ("corpus", "further", "unseen")]
TEXTS = Path(__file__).parent / "texts"
_NUMERAL = re.compile(r"\d+(?:\.\d+)?")
_MARK = re.compile(r"⟦(given )?([^|⟦⟧]*+)\|([^|⟦⟧]++)(?:\|([^|⟦⟧]++))?+⟧")


def digest(parts: Iterable[str]) -> str:
    """Return some digits that tell one sequence of texts from another.

    >>> digest(["1", "2"]) == digest(["12"])
    False
    """
    return sha256("\0".join(parts).encode()).hexdigest()[:16]


def numerals(text: str) -> str:
    """Return how many numerals a page has, and a digest of them in order.

    >>> numerals("A is 0.50").split()[0]
    '1'
    """
    found = _NUMERAL.findall(text)
    return f"{len(found)} {digest(found)}"


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of symattn in a folder."""
    command = [sys.executable, "-m", "symattn", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def _entries(quantity: symattn.Quantity) -> str:
    """The first entries of a quantity to 25 digits, and a digest of all closed forms and floats;
    closed forms alone where there are letters."""
    forms = str(quantity)
    if quantity.symbols:
        return (
            f"{quantity.shape} {digest([forms])} in {','.join(sorted(map(str, quantity.symbols)))}"
        )
    digits = np.array(quantity.significant(25), dtype=object).ravel()
    floats = np.asarray(quantity.nearest("float64")).tobytes().hex()
    head = ",".join(str(digit) for digit in digits[:2])
    return (
        f"{quantity.shape} {head} {digest(map(str, digits))} {digest([floats])} {digest([forms])}"
    )


def of_case(name: str) -> Found:
    """Yield values, gradients, formulas, checks, figures and pages of a bundled case."""
    solution = symattn.solve(name)
    for step in solution:
        yield step, _entries(solution[step])
    for step in solution.case.wrt if solution.case.output else ():
        yield f"dL/d{step}", _entries(solution.gradient(step))
        yield f"stages of dL/d{step}", " ".join(solution.symbolic[f"dL/d{step}"].stages)
    for check in symattn.verify(solution).checks:
        said = check.as_dict()
        yield f"check of {check.quantity}", f"{said['verdict']} {said['sympy']}"
    if solution.case.claims:
        yield from _audited(symattn.audit(name))
    for kind in ("pattern", "flow", "gradients"):
        with suppress(symattn.Malformed):
            yield f"drawing, {kind}", numerals(re.sub("<[^>]*>", " ", symattn.draw(name, kind)))
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for style in ("tex", "md"):
            made = run("sheet", name, "--format", style, "-o", "out", folder=folder)
            page = (folder / "out" / f"{name}.{style}").read_text("utf-8")
            yield f"sheet, {style}", f"exit {made.returncode}, numerals {numerals(page)}"


def _audited(audit: symattn.Audit) -> Found:
    """Yield counts, and what is said of each figure that does not hold."""
    yield "summary", json.dumps(audit.summary, sort_keys=True)
    for cause in audit.causes:
        explained = f"{len(cause.reproduces)} reproduced, {len(cause.follows)} follow"
        yield f"cause {cause.kind}", explained
    for figure in audit.figures:
        if figure.verdict is not symattn.Verdict.HOLDS:
            at = ":".join(map(str, figure.place))
            key = f"figure {figure.order} {at} {figure.label}"
            yield (
                key,
                f"{figure.text} {figure.verdict} {figure.correct} {figure.cause} {figure.slip}",
            )
    verdicts = Counter(str(statement.verdict) for statement in audit.statements)
    yield "statements", json.dumps(verdicts, sort_keys=True)


def of_article(path: str) -> Found:
    """Yield what is said of an article, and of each figure that is marked in it: a right one, or
    a slip."""
    marked = (ROOT / path).read_bytes().decode()
    plain = _MARK.sub(lambda mark: mark[3], marked)
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / Path(path).stem
        file.write_bytes(plain.encode())
        try:
            audit = symattn.audit(file)
        except symattn.Malformed as error:
            yield "malformed", f"{len(error.faults)} faults"
            return
    said: dict[int, str] = {}
    for figure in audit.figures:
        if figure.span is not None:
            words = f"{figure.verdict} {figure.correct} {figure.cause} {figure.slip}"
            said.setdefault(figure.span.start, words)
    yield from _audited(audit)
    counts: Counter[str] = Counter()
    taken = 0
    for mark in _MARK.finditer(marked):
        at, taken = mark.start() - taken, taken + len(mark[0]) - len(mark[3])
        if mark[4] is None:
            counts["right, " + said.get(at, "unjudged").split()[0]] += 1
        else:
            yield f"slip {mark[2]} at {at}", f"{mark[3]} for {mark[4]}: {said.get(at, 'unjudged')}"
    yield from sorted((key, str(count)) for key, count in counts.items())


def _judged(derivation: symattn.Derivation) -> Found:
    """Yield what is said of each line of a derivation."""
    yield "lines", f"{len(derivation.lines)}, {len(derivation.faults)} faults"
    for line in derivation.lines:
        said = line.to_dict()
        place = said["counterexample"]
        members = "".join(member["status"][0] for member in said["members"])
        rest = f"{members} {'refuted by numbers' if place else ''} {' and '.join(said['where'])}"
        yield f"line {line.number} {line.text}", f"{line.status} {rest}".strip()


def of_derivation(name: str) -> Found:
    """Yield what is said of the lines of a bundled derivation."""
    yield from _judged(symattn.theory[name])


def _derived() -> list[str]:
    """The cases whose gradients are decided in a few seconds: what a limit of time leaves open
    is no fact."""
    slow = {"grouped-query", "kv-cache", "multi-head", "pre-norm-block", "rope"}
    return [name for name in symattn.names() if name not in slow]


def of_gradients(name: str) -> Found:
    """Yield what is said of the gradients of a case, for any size."""
    yield from _judged(symattn.derive_case(name))


def of_text(name: str) -> Found:
    """Yield what is said of a text as students write it, and how the command ends."""
    yield from _judged(symattn.derive((TEXTS / name).read_text("utf-8")))
    yield "exit code", str(run("derive", name, folder=TEXTS).returncode)


def of_kernel(thread: str) -> Found:
    """Yield what is said of a kernel with a public bug, and of the same without it."""
    exhibit = next(exhibit for exhibit in MUSEUM if exhibit.thread == thread)
    for is_right in (True, False):
        report = exhibit.judged(is_right)
        kind = "right" if is_right else "wrong"
        for part, judged in report.reports.items():
            yield f"{kind}, {part}", f"{judged.verdict} {judged.wrong} wrong"
        for cause in report.causes:
            yield f"{kind}, cause", f"{cause.phrase} in {', '.join(cause.parts)}"


def _turned(value: Any, change: Callable[[Decimal], Decimal]) -> Any:
    if isinstance(value, list):
        return [_turned(item, change) for item in value]
    return str(change(Decimal(str(value)))) if not isinstance(value, str) else value


_STUDENTS: Mapping[str, Callable[[Decimal], Decimal]] = {
    "right": lambda number: number,
    "negated": lambda number: -number,
    "nought": lambda number: Decimal(0),
    "a digit more": lambda number: number + Decimal("0.1"),
    "a point moved": lambda number: number * 10,
    "doubled": lambda number: number * 2,
}
"""What students make of right answers: each of them of one quantity after the other."""


def of_exercise(name: str) -> Found:
    """Yield the questions of a version, and the marks of a small class."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        flags = ("--versions", "1", "--seed", "7", "--solutions", "--format", "md", "-o", "out")
        made = run("exercise", name, *flags, folder=folder)
        yield "exit code", str(made.returncode)
        if made.returncode:
            return
        for page in sorted((folder / "out").glob("*.md")):
            yield page.name, numerals(page.read_text("utf-8"))
        key = tomllib.loads((folder / "out" / "key.toml").read_text("utf-8"), parse_float=Decimal)
        answers: dict[str, Any] = {}
        for version in key["versions"]:
            for part in version["answers"]:
                for student, change in _STUDENTS.items():
                    given = {
                        name: _turned(value, change if name == part else _STUDENTS["right"])
                        for name, value in version["answers"].items()
                    }
                    who = f"{version['version']} {part} {student}"
                    answers[who] = {"version": version["version"], **given}
        (folder / "answers.json").write_text(json.dumps({"answers": answers}), "utf-8")
        marking = ("--key", "out/key.toml", "--format", "json")
        told = run("mark", "answers.json", *marking, folder=folder)
        yield "mark, exit code", str(told.returncode)
        for student in json.loads(told.stdout)["students"]:
            counts = {name: count for name, count in student["counts"].items() if count}
            slips = digest(str(answer["slip"]) for answer in student["answers"])
            fact = f"{student['points']} of {student['of']} {json.dumps(counts)} {slips}"
            yield f"marks of {student['student']}", fact


COMMANDS = {
    "list": ["list"],
    "show": ["show", "cat-sat-mat", "A", "--places", "10", "--format", "json"],
    "show letters": ["show", "length-4-causal", "dL/dQ", "--at", "3,0"],
    "show put": ["show", "length-4-causal", "dL/dQ", "--put", "g1=1/2", "--format", "json"],
    "show nothing": ["show", "cat-sat-mat", "B"],
    "verify": ["verify", "cat-sat-mat", "multi-head", "pre-norm-block"],
    "audit": ["audit", "please-study-man", "--format", "json"],
    "audit in German": ["audit", "the-fox-jumps", "--language", "de"],
    "derive": ["derive"],
    "seal": ["seal", "cat-sat-mat", "softmax-jacobian", "-o", "seals"],
    "vectors": ["vectors", "--suite", "quick", "-o", "vectors"],
    "no such case": ["sheet", "cat-sat-met"],
}


def of_command(name: str) -> Found:
    """Yield how a command ends, and the numerals that it prints."""
    with TemporaryDirectory() as temporary:
        done = run(*COMMANDS[name], folder=Path(temporary))
        timed = re.sub(r"\d+(\.\d+)? m?s\b", "", done.stdout)
        yield "exit code", str(done.returncode)
        yield "output", numerals(timed)
        yield "errors", f"{len(done.stderr.splitlines())} lines"
        for file in sorted(path for path in Path(temporary).rglob("*") if path.is_file()):
            name = file.relative_to(temporary).as_posix()
            yield name, numerals(file.read_text("utf-8")) if file.suffix == ".v" else "made"


def _articles() -> list[str]:
    paths = (path for folder in ARTICLES for path in folder.glob("*.marked"))
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


#: Each kind of subject: its subjects, and what yields the facts of one.
KINDS: Mapping[
    str, tuple[Callable[[], Iterable[str]], Callable[[str], Iterator[tuple[str, str]]]]
] = {
    "cases": (symattn.names, of_case),
    "derivations": (lambda: symattn.theory, of_derivation),
    "gradients": (_derived, of_gradients),
    "texts": (lambda: sorted(path.name for path in TEXTS.glob("*.txt")), of_text),
    "articles": (_articles, of_article),
    "kernels": (lambda: [exhibit.thread for exhibit in MUSEUM], of_kernel),
    "exercises": (symattn.names, of_exercise),
    "commands": (lambda: COMMANDS, of_command),
}


def facts(kind: str, subject: str) -> Facts:
    """Return the facts of a subject by name; a name that comes again is counted."""
    found: Facts = {}
    for name, fact in KINDS[kind][1](subject):
        many = sum(1 for known in found if known.partition(" #")[0] == name)
        found[f"{name} #{many + 1}" if many else name] = fact
    return found
