"""One idea in one place: what stands in how many modules.

``python -m tests.test_house`` prints the figures. A figure may fall, and is then written down
here; it doesn't rise.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

import symattn
from symattn.calculus import library
from symattn.expressions import syntax
from symattn.slips import catalogue

PACKAGE = Path(symattn.__file__).parent
MODULES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")
}
#: Modules that name an operation, or a composite function, in code.
NAMED = {"rmsnorm": 4, "sin": 23, "erf": 12}
#: Modules, and lines of all.
MOST, LINES = 346, 113_608
#: Trees of mathematics, each with why it is not the one grammar's.
TREES = {
    "expressions/syntax.py Tree": "the one grammar's",
    "calculus/language.py Expr": "indices are told apart there, which letters are not",
    "crosscheck/reader.py Expression": "it shares nothing with what it checks",
    "exercises/qti/processing.py Expression": "operators of a format's own, over answers",
    "programs/nodes.py Node": "a graph: what is computed once is used often",
    "seal/terms.py Term": "terms of Coq, with places that are moved and local names",
}
#: Other classes that hold some of their own kind: numbers, causes, elements, rows as they are set.
OTHERS = {
    *("numbers/values.py Value", "auditing/search.py Candidate", "seal/terms.py Entry"),
    *("documents/word/elements.py Element", "expressions/typesetting.py Node"),
}
#: Formulas of the README's homework that are read: nine sides, and names and gradients of theirs.
READ = 14
_README = PACKAGE.parent / "README.md"
README = _README.read_text("utf-8") if _README.is_file() else ""
#: What levels of precedence are called.
LEVELS = {"SUM", "PRODUCT", "POWER", "POSTFIX", "ATOM", "LEVELS", "PRECEDENCE", "PRECEDENCES"}


def naming(word: str) -> list[str]:
    """The modules that have a word as a name or as a text of its own, not in prose."""
    found = []
    for name, text in MODULES.items():
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        if any(
            token.string.strip("\"'") == word
            for token in tokens
            if token.type in (tokenize.NAME, tokenize.STRING)
        ):
            found.append(name)
    return found


def has_levels(text: str) -> bool:
    """Tell whether a module says itself how tightly operators bind, by numbers of its own."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) != "range":
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {part.id.strip("_") for x in targets for part in ast.walk(x)
                     if isinstance(part, ast.Name)}  # fmt: skip
            held = ast.walk(node.value)
            if names & LEVELS and any(
                isinstance(x, ast.Constant) and type(x.value) is int for x in held
            ):
                return True
    return False


def with_levels() -> list[str]:
    """The modules outside of the expressions with a table of precedence."""
    return [name for name, text in MODULES.items()
            if not name.startswith("expressions/") and has_levels(text)]  # fmt: skip


def test_a_table_of_precedence_is_found() -> None:
    assert has_levels("_SUM, _PRODUCT = 1, 2")
    assert has_levels("SUM, ATOM = range(2)")
    assert has_levels("_LEVELS = {'+': 3}")
    assert not has_levels("_SUM = get_precedence(tree)")


def test_how_tightly_things_bind_is_said_once() -> None:
    assert with_levels() == []


@pytest.mark.parametrize("word", NAMED)
def test_an_operation_stands_in_no_more_modules(word: str) -> None:
    assert len(naming(word)) <= NAMED[word]


def trees(module: str, text: str) -> list[str]:
    """The unions and base classes of a module that some of their own kinds are made of."""
    body = ast.parse(text).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    kinds: dict[str, set[str]] = {}
    for node in body:
        match node:
            case ast.Assign([ast.Name(name)], ast.BinOp() as union):
                kinds[name] = {*re.findall(r"\w+", ast.unparse(union))} & classes.keys()
            case ast.AnnAssign(ast.Name(name), _, ast.BinOp() as union):
                kinds[name] = {*re.findall(r"\w+", ast.unparse(union))} & classes.keys()
            case ast.ClassDef(name):
                below = [k for k, x in classes.items() if name in map(ast.unparse, x.bases)]
                is_nested = re.search(rf"tuple\[{name}, \.\.\.\]", _fields(node))
                kinds[name] = {*below, *([name, *below] if is_nested else [])}
    return [
        f"{module} {name}"
        for name, own in kinds.items()
        if len(own) > 2 or own == {name}
        if any(re.search(rf": .*\b{name}\b", _fields(classes[kind])) for kind in own)
    ]


def _fields(node: ast.ClassDef) -> str:
    return "\n".join(ast.unparse(part) for part in node.body if isinstance(part, ast.AnnAssign))


def test_a_tree_is_found() -> None:
    union = "class A:\n x: T\nclass B:\n y: int\nclass C:\n z: int\nT = A | B | C"
    assert trees("m.py", union) == ["m.py T"]
    nested = "class A:\n parts: tuple[A, ...]"
    assert trees("m.py", nested) == ["m.py A"]
    assert trees("m.py", "class A:\n x: int\nclass B(A):\n x: int") == []


def test_mathematics_has_few_trees() -> None:
    found = {each for name, text in MODULES.items() for each in trees(name, text)}
    assert found - OTHERS == {*TREES}


def readings() -> Counter[str]:
    """The formulas that the README's homework has read, its judging and printing included, each
    with how often."""
    (text,) = re.findall(r"```text\n(# Softmax backward.*?)```", README, re.DOTALL)
    read: Counter[str] = Counter()
    # Rules of slips are read once for all derivations.
    for kind in (*catalogue.KINDS.values(), *catalogue.OF_LINES.values()):
        for rule in kind.rules:
            catalogue.formula(rule.step), catalogue.formula(rule.instead)

    def parse(text: str, letters: bool = False) -> syntax.Tree:
        read[str(text)] += 1
        return original(text, letters)

    original, syntax.parse = syntax.parse, parse
    try:
        assert "REFUTED" in library.derive(text).to_text()
    finally:
        syntax.parse = original
    return read


@pytest.mark.skipif(not README, reason="the README is beside a checkout only")
def test_a_formula_is_read_once() -> None:
    """From the text to the prover, the refuter, the hint and the page go trees."""
    read = readings()
    assert "softmax(S)" in read
    assert {formula for formula, often in read.items() if often > 1 and "(" in formula} == set()
    assert sum(read.values()) <= READ


def test_the_house_does_not_grow() -> None:
    assert len(MODULES) <= MOST
    assert sum(text.count("\n") for text in MODULES.values()) <= LINES


if __name__ == "__main__":
    print(f"{len(MODULES)} modules, {sum(text.count(chr(10)) for text in MODULES.values())} lines")
    print(f"tables of precedence outside of expressions/: {with_levels() or 0}")
    print(f"trees of mathematics: {len(TREES)}")
    print(f"the README's homework: {sum(readings().values())} formulas read")
    for each in NAMED:
        print(f"{each}: {len(naming(each))} modules")
