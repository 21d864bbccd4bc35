"""No article is an accident: each is refused with a message, or read and judged.

Much of a hostile document is more of the same. Here the beginning of each is read,
``SYMATTN_HOSTILE`` bytes of it (0: all): what grows without bound shows at that
size too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.cases.article import case_of
from symattn.documents import latex
from symattn.documents.binding import binder
from symattn.documents.files import article
from symattn.documents.passages import passages
from symattn.errors import Malformed
from symattn.limits import MACROS
from symattn.verdicts import Verdict
from tests.documents.hostile import DOCUMENTS, READ, REFUSED
from tests.documents.promises import holds_its_promises
from tests.hostile import steering

SIZE = int(os.environ.get("SYMATTN_HOSTILE", "2000")) or None
AWKWARD = [one for one in DOCUMENTS if one.slips]
#: Documents that are told at the command line: what steers terminals, acts, or is no text.
_REFUSED = ("binary", "nulls_between", "lone_surrogates", "directive")
_WORDS = ("steering", "markup", "acts", "mixed_newlines", *_REFUSED)
TOLD = [one for one in DOCUMENTS if any(word in one.name for word in _WORDS)]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """What an article may write by mistake shows in a folder of its own; few macros are
    enough to be too many."""
    monkeypatch.chdir(tmp_path)
    if SIZE:
        monkeypatch.setattr(latex, "MACROS", replace(MACROS, most=20 * SIZE))


@pytest.mark.sampled(10, 96)
@pytest.mark.parametrize("hostile", DOCUMENTS, ids=lambda one: one.name)
def test_hostile_articles_are_refused_or_read(hostile):
    """Malformed with few lines, or a reading that keeps its promises and can be judged; nothing
    that an article says is done."""
    held = hostile.make()
    is_whole = SIZE is None or len(held) <= SIZE
    message, judged, numbers = "", 0, 0
    try:
        read = article(Path(f"x{hostile.suffix}"), held[:SIZE])
        assert all(one.pieces for one in passages(read))
        reading = binder.read(read)
        holds_its_promises(reading)
        judged, numbers = len(audit(case_of(reading)).figures), len(reading.numbers)
    except Malformed as error:
        message = str(error)
    assert not (message and is_whole and hostile.expected == READ)
    assert message or hostile.expected != REFUSED
    assert len(message.splitlines()) < 60
    assert judged <= numbers * 4
    assert not [*Path().iterdir()]


@pytest.mark.parametrize("awkward", AWKWARD, ids=lambda one: one.name)
def test_awkward_articles_are_read_all_the_same(awkward):
    """Their wrong figures are refuted at their lines and columns."""
    read = article(Path(f"x{awkward.suffix}"), awkward.make())
    judged = audit(case_of(binder.read(read)))
    refuted = [one for one in judged.figures if one.verdict is Verdict.REFUTED]
    found = [(*read.place(one.span.start), one.text) for one in refuted if one.span]
    assert sorted(found) == sorted(awkward.slips)


@pytest.mark.sampled(0, 1)
@pytest.mark.parametrize(
    ("form", "code"), [("text", 2), ("text", 1), ("json", 1), ("github", 1), ("sarif", 1)]
)
def test_commands_say_what_hostile_articles_are(form, code, tmp_path):
    """2 where one is refused, else 1; no traceback, no character that steers a terminal,
    nothing written, and what is said to be JSON is."""
    for hostile in TOLD:
        if code == 2 or not any(word in hostile.name for word in _REFUSED):
            hostile.write(tmp_path)
    before = sorted(map(str, Path().iterdir()))
    words = [sys.executable, "-m", "symattn", "audit", *before, "--format", form]
    ended = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode == code
    assert "Traceback" not in said
    assert steering(said) == set()
    assert form not in ("json", "sarif") or json.loads(ended.stdout)
    assert sorted(map(str, Path().iterdir())) == before


#: Statements that stand where Python allows none of them, as listings cut from programs do.
STRAY = (
    "return",
    "return S",
    "return f(S)",
    "return lambda: S",
    "return *S, S",
    "return (yield)",
    "yield S",
    "await S",
    "break",
    "continue",
    "nonlocal S",
    "global S",
    "S := 3",
    "raise",
    "del S",
    "import *",
)
AROUND = {
    "alone": "%s",
    "behind a function": "def f(x):\n    return x\n%s",
    "in a function that lost its indentation": "def f(x):\n%s",
    "in a loop": "for i in range(2):\n    %s\n    %s",
    "in a branch": "if True:\n    %s\nelse:\n    %s",
    "in a class": "class A:\n    %s",
    "in a session": ">>> %s\n0.5",
}
LISTINGS = {
    ".tex": "\\begin{document}\\begin{lstlisting}[language=Python]\n%s\n\\end{lstlisting}\n%s\n",
    ".md": "```python\n%s\n```\n\n%s\n",
    ".html": '<pre class="language-python">%s</pre><p>%s</p>',
    ".txt": "1import numpy as np\n2%s\n\n%s\n",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("suffix", LISTINGS)
@pytest.mark.parametrize("around", AROUND)
def test_statements_out_of_place_are_no_accident(around, suffix):
    """What a listing shows without what it stood in is read without a fault of the reader's,
    and what stands behind it is read and judged."""
    code, wrong = AROUND[around], "0.5 + 0.25 = 0.8765"
    for stray in STRAY:
        program = "S = [[1, 2], [3, 4]]\n" + code.replace("%s", stray)
        read = article(Path(f"x{suffix}"), (LISTINGS[suffix] % (program, wrong)).encode())
        reading = binder.read(read)
        assert not [one.why for one in reading.open if "internal error" in one.why], stray
        judged = audit(case_of(reading))
        refuted = [one.text for one in judged.figures if one.verdict is Verdict.REFUTED]
        assert refuted == ["0.8765"], stray
