"""Every sentence that the code says, collected from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import symattn

SOURCE = Path(symattn.__file__).parent


@dataclass(frozen=True)
class Said:
    """A sentence where it is said; None where it is no text of the source."""

    sentence: str | None
    file: str
    line: int


def said(source: Path = SOURCE) -> Iterator[Said]:
    """All that is handed to ``say``, ``say.text`` and ``Sentence``."""
    for path in sorted(source.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        tables = {
            target.id: statement.value
            for statement in tree.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for target in getattr(statement, "targets", [getattr(statement, "target", None)])
            if isinstance(target, ast.Name) and statement.value is not None
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and call.args and _is_saying(call.func):
                for sentence in _texts(call.args[0], tables):
                    yield Said(sentence, path.relative_to(source).as_posix(), call.lineno)


def _is_saying(called: ast.expr) -> bool:
    match called:
        case ast.Name(id="say" | "Sentence") | ast.Attribute(attr="say"):
            return True
        case ast.Attribute(value=ast.Name(id="say") | ast.Attribute(attr="say"), attr="text"):
            return True
    return False


def _texts(argument: ast.expr, tables: dict[str, ast.expr]) -> Iterator[str | None]:
    """The texts that an argument may be: one, one of two, or one of a table of the module."""
    match argument:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=one, orelse=other):
            yield from _texts(one, tables)
            yield from _texts(other, tables)
        case ast.Subscript(value=ast.Name(id=name)) if isinstance(tables.get(name), ast.Dict):
            table = tables[name]
            assert isinstance(table, ast.Dict)
            for value in table.values:
                yield from _texts(value, tables)
        case _:
            yield None
