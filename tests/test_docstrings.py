"""Docstrings are found by what they begin with: a verb or a noun."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import symattn

PACKAGE = Path(symattn.__file__).parent
#: Words that say of nothing what it is, or does.
EMPTY = {"What", "Whether", "Those", "That", "How", "Where", "Who", "Which", "When", "Why", "So"}


def beginnings(path: Path) -> Iterator[tuple[str, str]]:
    """The first word of each public docstring of a module, by what it is of."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            name = getattr(node, "name", path.stem)
            if (said := ast.get_docstring(node)) and not name.startswith("_"):
                yield name, said.split()[0].strip(",")


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    begun = [(path.stem, *found) for path in PACKAGE.rglob("*.py") for found in beginnings(path)]
    assert len(begun) > 3000
    assert [found for found in begun if found[2] in EMPTY] == []
