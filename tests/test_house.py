"""One idea in one place: what stands in how many modules.

``python -m tests.test_house`` prints the figures. A figure may fall, and is then written down
here; it doesn't rise.
"""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path

import pytest

import symattn

PACKAGE = Path(symattn.__file__).parent
MODULES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")
}
#: Modules that name an operation, or a composite function, in code.
NAMED = {"rmsnorm": 5, "sin": 29, "erf": 23}
#: Modules, and lines of all.
MOST, LINES = 356, 109_883
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


def test_the_house_does_not_grow() -> None:
    assert len(MODULES) <= MOST
    assert sum(text.count("\n") for text in MODULES.values()) <= LINES


if __name__ == "__main__":
    print(f"{len(MODULES)} modules, {sum(text.count(chr(10)) for text in MODULES.values())} lines")
    print(f"tables of precedence outside of expressions/: {with_levels() or 0}")
    for each in NAMED:
        print(f"{each}: {len(naming(each))} modules")
