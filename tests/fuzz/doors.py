# ruff: noqa: E501 - samples stand on one line
"""Hostile inputs by their seeds, at the doors that files of others come in by.

``python -m tests.fuzz.doors KIND FIRST COUNT`` prints a line of JSON for every promise that an
input breaks, and in the end how many there were; KIND is one of :data:`KINDS`. What is beside
the input is the user's, and must be as it was.
"""

from __future__ import annotations

import copy
import io
import json
import os
import random
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from symattn.cases import library
from symattn.exercises.exercise import exercise
from symattn.exercises.key import key
from symattn.exercises.marking.answer_files import empty_table

from .batch import Ended

#: No input of a few thousand bytes takes longer: seconds.
PATIENCE = 20
POST = (
    "$X = [[1.25, 2.5], [3.75, 4]]$\n\n$Y = X + X = [[2.5, 5], [7.5, 9]]$\n\n"
    "$Z = 3 X = [[3.75, 7.5], [11.25, 12]]$\n"
)
CASE = '[given]\nX = [[1, 0], [0, 1]]\n[steps]\nA = "softmax(X)"\n'
#: Words that something may be done with.
WORDS = [
    "", "symattn", "symattn:case", "symattn-step", "A[0, 1]:.3f", "A:exact", "A", "B", "../../x", "/etc/passwd",
    "\\symattn{A[0,1]}", "\\symattn{", "<script>", "=cmd|' /C calc'!A0", "\x00", "\x1b[31m", "\u202e", "\ud800",
    "9" * 5000, "1e999999999", "-inf", "nan", "1/0", "0,5", "sqrt(" * 70, "exp(exp(exp(9)))", "2^10^10",
    "__import__('os')", "https://u:p@h/x?t=1", "A" * 3000, "٣", "½", "case.toml", "post.md",
]  # fmt: skip
THINGS: list[Any] = [
    None, True, False, 0, -1, 3.5, 10**400, 1e308, [], {}, [[]], [{}], {"t": 3}, {"t": "Code"},
    {"t": "Math", "c": []}, {"type": "math"}, {"type": "symattn"}, {"children": 3}, *WORDS,
]  # fmt: skip


def places(tree: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a tree of JSON."""
    yield before
    if isinstance(tree, dict | list):
        for at, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(inner, (*before, at))


def mutated(tree: Any, source: random.Random, count: int) -> Any:
    """A tree with other things at some places: something else, nothing, twice, or deep inside."""
    tree = json.loads(json.dumps(tree))
    for _ in range(count):
        *above, last = source.choice([path for path in places(tree) if path] or [("",)])
        parent = tree
        for at in above:
            parent = parent[at]
        if last == "":
            return source.choice(THINGS)
        match source.randrange(6):
            case 0:
                del parent[last]
            case 1 if isinstance(parent, list):
                parent.insert(last, copy.deepcopy(parent[last]))
            case 2:
                for _ in range(source.choice([1, 3, 60])):
                    parent[last] = source.choice([[parent[last]], {"c": parent[last]}])
            case _:
                parent[last] = copy.deepcopy(source.choice(THINGS))
    return tree


def _code(text: str, name: str, kind: str = "Code") -> dict[str, Any]:
    return {"t": kind, "c": [["", [name], []], text]}


_META = {"symattn": {"t": "MetaInlines", "c": [{"t": "Str", "c": "case.toml"}]}}
_PLACE = {"start": {"line": 3, "column": 1}, "end": {"line": 3, "column": 9}}
_NODE = {"type": "symattn", "inline": True, "position": _PLACE}
TREES: Mapping[str, tuple[list[str], Any]] = {
    "pandoc": (["pandoc"], {"pandoc-api-version": [1, 22], "meta": _META, "blocks": [
        {"t": "Para", "c": [_code("A[0, 1]:.3f", "symattn"), {"t": "Str", "c": "x"}]},
        {"t": "Para", "c": [{"t": "Math", "c": [{"t": "InlineMath"}, "\\symattn{A}"]}]},
        _code("A", "symattn-step", "CodeBlock"), _code("case.toml", "symattn-case", "CodeBlock"),
    ]}),
    "myst": (["myst", "--transform", "x"], {"type": "root", "children": [
        {"type": "paragraph", "children": [{**_NODE, "name": "symattn", "value": "A[0, 1]"}]},
        {**_NODE, "name": "symattn:heatmap", "value": "A", "inline": False},
        {**_NODE, "name": "symattn:case", "value": "case.toml", "inline": False},
        {"type": "math", "value": "\\symattn{A}", "html": "<mtext>A</mtext>", "position": _PLACE},
    ]}),
    "role": (["myst", "--role", "symattn"], {"name": "symattn", "body": "A", "node": {"position": _PLACE}}),
}  # fmt: skip

_CELL = {"cell_type": "markdown", "metadata": {}, "source": [POST], "attachments": {"a.png": {"image/png": "A"}}}  # fmt: skip
_OUTPUT = {"output_type": "execute_result", "data": {"text/plain": ["[[2.5]]"]}, "execution_count": 1}  # fmt: skip
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3"}}, "cells": [
    _CELL, {"cell_type": "code", "source": "X = [[1.25]]\n2 * X", "metadata": {"tags": ["x"]}, "outputs": [_OUTPUT]},
]}  # fmt: skip

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_PART = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
WORD = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_PART}"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="r1" Type="{_RELATIONS}" Target="word/document.xml"/></Relationships>',
    "word/document.xml": f"<w:document {_W}><w:body><w:p><w:r><w:t>So 0.25 * 3 = 0.85.</w:t></w:r></w:p>"
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    "<w:p><m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>4</m:t></m:r></m:den></m:f>"
    "<m:r><m:t>=0.25</m:t></m:r></m:oMath></w:p></w:body></w:document>",
}  # fmt: skip
ENTITIES = [
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>',
    '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">', '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:1/">%p;]>',
]  # fmt: skip


def docx(source: random.Random) -> bytes:
    """A Word document that does something it should not."""
    parts = {name: text.encode() for name, text in WORD.items()}
    name = source.choice([*parts, "word/document.xml", "word/document.xml"])
    text = parts[name].decode()
    at = source.randrange(len(text))
    kind = source.randrange(12)
    match kind:
        case 0:
            text = source.choice(ENTITIES) + text.replace("0.25", "&c;&a;")
        case 1:
            depth = source.choice([50, 199, 201, 5000, 100_000])
            tag = source.choice(["w:p", "w:tbl", "m:f", "m:e", "w:sdt", "x"])
            text = text.replace("<w:body>", f"<w:body>{f'<{tag}>' * depth}").replace(
                "</w:body>", f"{f'</{tag}>' * depth}</w:body>"
            )
        case 2:
            text = text.replace("So 0.25", "0 " * source.choice([10_000, 3_000_000, 30_000_000]))
        case 3:
            text = text.replace("<w:p>", "<w:p>" + "<w:r/>" * source.choice([1000, 600_000]), 1)
        case 4:
            text = text.replace("0.25", source.choice(WORDS).replace("\x00", "").replace("<", ""))
        case 5:
            text = text[:at] + source.choice(["<", ">", "&", '"', "\x01", "<![CDATA["]) + text[at:]
        case 6:
            text = text[:at]
        case 7:
            text = text.replace("word/document.xml", source.choice(
                ["../../etc/passwd", "/etc/passwd", "http://127.0.0.1:1/", "word/", "", "_rels/.rels"]
            ))  # fmt: skip
        case 8:
            tags = ["w:tc", "w:tr", "m:num", "m:den", "w:body", "w:t"]
            text = text.replace(source.choice(tags), source.choice(tags))
    parts[name] = text.encode("utf-16" if kind == 9 else "utf-8", "replace")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for part, data in parts.items():
            package.writestr(part, data)
        if kind == 10:
            for number in range(source.choice([10, 11_000])):
                package.writestr(f"x/{number}", b"")
    whole = bytearray(file.getvalue())
    if kind == 11:
        for _ in range(source.randrange(1, 9)):
            whole[source.randrange(len(whole))] = source.randrange(256)
    return bytes(whole)


def answers(source: random.Random, table: str) -> tuple[str, bytes]:
    """Students' answers: the name of a file, and what is in it."""
    columns = table.strip().split(",")
    if source.random() < 0.5:
        rows = [columns]
        for _ in range(source.randrange(1, 5)):
            named = source.choice(
                [*WORDS, "Ada", "ADA", "README", "index", "CON", "a/b", "..", "."]
            )
            row = [
                named,
                "1",
                *(source.choice([*WORDS, "0.25", "1", "1/(1 + exp(1))"]) for _ in columns[2:]),
            ]
            rows.append(row[: source.choice([len(row), len(row), 1, 3])])
        quoted = [",".join('"' + x.replace('"', '""') + '"' for x in row) for row in rows]
        return "answers.csv", "\n".join(quoted).encode("utf-8", "replace")
    tree = {"answers": {"Ada": {"version": 1, "S": [["1", "0.7071"], [2, 3]], "A": [[0.5]]}}}
    text = json.dumps(mutated(tree, source, source.randrange(1, 4)))
    return "answers.json", text.encode()


def held(folder: Path) -> dict[str, bytes]:
    """What the user's files hold."""
    return {str(x): x.read_bytes() for x in sorted(folder.rglob("*")) if x.is_file()}


def inputs(kind: str, seed: int, table: str) -> tuple[list[str], bytes, str]:
    """The words of a command, what it gets on standard input, and the file that was written."""
    source = random.Random(f"{kind} {seed}")
    free = ["--max-seconds", "0", "--max-memory", "0"]
    if kind in TREES:
        words, tree = TREES[kind]
        text = json.dumps(mutated(tree, source, source.randrange(1, 5)))
        if not source.randrange(40):
            text = text.replace(
                '"c"', '"c": ' + source.choice("[{") * source.choice([900, 200_000])
            )
        return [*words, *free], text.encode(), ""
    if kind == "word":
        Path("in.docx").write_bytes(docx(source))
        return ["audit", "in.docx", *free], b"", "in.docx"
    if kind == "notebook":
        text = json.dumps(mutated(NOTEBOOK, source, source.randrange(1, 4)))
        Path("in.ipynb").write_text(text[: source.choice([len(text), len(text), 500])])
        return [source.choice(["audit", "read"]), "in.ipynb", *free], b"", "in.ipynb"
    name, data = answers(source, table)
    Path(name).write_bytes(data)
    return ["mark", name, "-o", "feedback", "--force", *free], b"", name


KINDS = (*TREES, "word", "notebook", "mark")


def broken(kind: str, seed: int, table: str) -> Iterator[str]:
    """The promises that an input breaks."""
    words, typed, name = inputs(kind, seed, table)
    before = held(Path())
    sys.stdin = io.TextIOWrapper(io.BytesIO(typed))
    began = time.monotonic()
    ended = Ended(words)
    took = time.monotonic() - began
    if ended.code not in (0, 1, 2):
        yield f"it ended with {ended.code}\n{ended.trace[-2500:]}"
    if "internal error" in ended.err + ended.out or "Traceback" in ended.err:
        yield f"an internal error: {ended.err[-3000:]}"
    if took > PATIENCE:
        yield f"it took {took:.0f} s"
    if any(c in ended.out + ended.err for c in "\x1b\u202e\x00"):
        yield "what was read steers the terminal"
    after = held(Path())
    if {path: after.get(path) for path in before} != before:
        yield "a file of the user's is not as it was"
    if any(not path.startswith("feedback/") for path in after.keys() - before.keys()):
        yield f"files elsewhere: {sorted(after.keys() - before.keys())}"
    if name:
        Path(name).unlink()
    for path in sorted(Path("feedback").rglob("*"), reverse=True):
        path.unlink()


def run(kind: str, first: int, count: int, tell: Callable[[str], object]) -> int:
    """Try so many inputs from a seed on; how many promises were broken."""
    case = exercise(library.load("cat-sat-mat"))
    table, wrong, here = empty_table(case), 0, Path.cwd()
    os.environ["SYMATTN_TRACEBACK"] = "1"
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer, "inner")
        folder.mkdir()
        os.chdir(folder)
        for name, text in {"case.toml": CASE, "post.md": POST, "key.toml": key([case])}.items():
            Path(name).write_text(text, "utf-8")
        Path(outer, "x").write_text("mine", "utf-8")
        try:
            for seed in range(first, first + count):
                for problem in broken(kind, seed, table):
                    wrong += 1
                    tell(json.dumps({"kind": kind, "seed": seed, "problem": problem}))
                if Path(outer, "x").read_text("utf-8") != "mine":
                    tell(json.dumps({"kind": kind, "seed": seed, "problem": "written outside"}))
        finally:
            os.chdir(here)
    return wrong


if __name__ == "__main__":
    _, wanted, begin, number = sys.argv
    out = sys.__stdout__
    assert out is not None
    found = run(wanted, int(begin), int(number), lambda line: print(line, file=out, flush=True))
    print(json.dumps({"kind": wanted, "inputs": int(number), "broken": found}), file=out)
