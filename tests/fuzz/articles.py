"""Hostile articles by their seeds, each read, held to its promises, audited and written again.

``python -m tests.fuzz.articles FIRST COUNT`` prints one line of JSON for every article that
breaks a promise, and how many were read and refused. What readers fail with comes out: nothing
is kept to its piece.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import traceback
from collections import Counter
from pathlib import Path

from symattn.cases import library
from symattn.cases.article import case_of
from symattn.documents.binding import binder
from symattn.documents.files import article
from symattn.documents.reading import case_text, undefined
from symattn.errors import Faulty, Malformed, SymattnError
from symattn.solution.solution import solve
from tests.documents import marks
from tests.documents.promises import holds_its_promises

FOLDERS = [Path(__file__).parents[1] / "documents" / name for name in ("corpus", "further")]
#: Seconds of the processor after which an article hangs.
PATIENCE = 20
SUFFIXES = (".md", ".tex", ".html", ".txt", ".ipynb")

#: What is put in: signs of every form, and what once was too much for a reader.
PIECES = (
    *("$", "$$", "```\n", "```python\n", "[[", "]]", "\\\\", "&", "|", "\n|", "\n\n", "\t", "\r"),
    *("\\begin{bmatrix}", "\\end{bmatrix}", "\\begin{pmatrix}1 & \\cdots\\end{pmatrix}", "\\frac"),
    *("\\begin{tabular}{cc}", "\\end{tabular}", "\\begin{lstlisting}\n", "\\left(", "\\right]"),
    *("<td>", "<table>", "<tr>", "</td>", "<p>Row 1 is</p>", "<pre>", "<math><mi>", "&#178;"),
    *("\0", "\u202e", "\u0301", "²", "_²", "٣", "é", "größe", "σ", "−", "½", "∞", "𝐐", "名"),
    *("1e999", "0.5", "-", "%", "=", "≈", "→", "0.", ".5", "00", "1" * 400, "1" * 4400, "-inf"),
    *(
        "return x\n",
        "x = [x, x]\n",
        "np.eye(-1)",
        "é = [[1, 0], [0, 1]]\n",
        "x = x @ x\n",
        "lambda ",
    ),
    *("for i in range(3):\n    ", "def f(x):\n    return f(x)\n", "print(", "X[-1]", "X[9]", ".T"),
    *("if x:\n    ", "x += 1\n", "np.zeros((0, 3))", "range(10**9)", "reshape(-1, 2)", "[::-1]"),
    *("softmax(", "log(0)", "sqrt(-1)", "/ 0", "** 99", "_{ij}", "^T", "^{-1}", "\\sum_{j}"),
    *(
        "<!-- symattn: X = [[1, 2]] -->",
        "<!-- symattn: ignore -->",
        "row 2",
        "Row 0:",
        "cat",
        "tokens",
    ),
    *("\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "A = softmax(S)", "[[1, 2], [3]]", "[[[1]]]", "[]"),
)


def sources() -> dict[str, list[str]]:
    """The worked examples by the forms of their files."""
    found: dict[str, list[str]] = {suffix: [] for suffix in SUFFIXES}
    for folder in FOLDERS:
        for path in marks.documents(folder):
            suffix = Path(path.stem).suffix
            text = marks.load(path).text
            found[suffix if suffix in found else ".md"].append(text)
    return found


def mangled(drawn: random.Random, text: str) -> str:
    """A text with some pieces cut, doubled, moved or put in."""
    for _ in range(drawn.randrange(1, 9)):
        i = drawn.randrange(len(text) + 1)
        j = min(len(text), i + drawn.choice([1, 1, 2, 5, 20, 80, 300]))
        at = drawn.randrange(len(text) + 1)
        piece, rest = text[i:j], text[:i] + text[j:]
        match drawn.randrange(7):
            case 0:
                text = rest
            case 1:
                text = text[:at] + piece + text[at:]
            case 2:
                text = rest[:at] + piece + rest[at:]
            case 3 if numbers := list(re.finditer(r"\d+(?:\.\d+)?", text)):
                one = drawn.choice(numbers)
                text = text[: one.start()] + drawn.choice(PIECES) + text[one.end() :]
            case _:
                text = text[:i] + drawn.choice(PIECES) + text[i:]
        if drawn.random() < 0.2:
            sign = drawn.choice("[](){}$&\\=<>|`,. \n")
            text = text.replace(sign, drawn.choice(["", sign * 2]), drawn.choice([1, 1, 1000]))
    return text


def hostile(examples: dict[str, list[str]], seed: int) -> tuple[str, bytes]:
    """The name and the bytes of an article; some are of another form than they say."""
    drawn = random.Random(f"article {seed}")
    suffix = drawn.choice(SUFFIXES)
    text = drawn.choice(examples[suffix])
    if suffix == ".ipynb":
        notebook = json.loads(text)
        cells = drawn.sample(notebook["cells"], min(len(notebook["cells"]), drawn.randrange(1, 5)))
        for cell in cells:
            said = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            cell["source"] = mangled(drawn, said)
            for one in cell.get("outputs", []):
                if "text" in one and drawn.random() < 0.5:
                    one["text"] = mangled(drawn, "".join(one["text"]))
        notebook["cells"] = cells
        return "x.ipynb", json.dumps(notebook).encode("utf-8", "replace")
    start = drawn.randrange(len(text))
    text = text[start : start + drawn.choice([60, 300, 800, 1500])]
    if drawn.random() < 0.2:
        suffix = drawn.choice(SUFFIXES[:-1])
    return f"x{suffix}", mangled(drawn, text).encode("utf-8", "replace")


def broken(name: str, held: bytes, whole: bool) -> str:
    """How an article ends: ``read`` or ``refused``; raises where it breaks a promise."""
    try:
        reading = binder.read(article(Path(name), held))
        holds_its_promises(reading)
        case = case_of(reading)
        undefined(reading)
    except Malformed:
        return "refused"
    if whole:
        from symattn.auditing.audit import audit

        try:
            audit(case)
        except Faulty:
            return "refused later"
        # What can be worked out can be written, and worked out again.
        text = case_text(reading).encode()
        if case.steps:
            solve(library.load("walkthrough.toml", data=text))
    return "read"


def main(first: int, count: int) -> None:
    """Read so many articles; what is found is printed."""

    def hangs(*_: object) -> None:
        raise TimeoutError("it hangs")

    os.environ["SYMATTN_TRACEBACK"] = "1"
    signal.signal(signal.SIGVTALRM, hangs)
    examples, ends = sources(), Counter[str]()
    for seed in range(first, first + count):
        name, held = hostile(examples, seed)
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
        try:
            end = broken(name, held, whole=seed % 4 == 0)
        except (Exception, SymattnError):
            end = "broken"
            trace = traceback.format_exc()[-1800:]
            said = {
                "seed": seed,
                "name": name,
                "trace": trace,
                "file": held.decode("utf-8", "replace"),
            }
            print(json.dumps(said), flush=True)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        ends[end] += 1
        if seed % 500 == 499:
            print(json.dumps({"done": seed + 1 - first, **ends}), flush=True)
    print(json.dumps({"done": count, **ends}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
