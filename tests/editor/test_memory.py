"""What is told after any edits is what a process would tell that has seen nothing before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from symattn.documents.text import Memory
from symattn.editor import judging
from symattn.editor.judging import AnswerMemory
from symattn.workers import Asker
from tests.documents import marks

from .editors import POST, RIGHT, WRONG
from .test_sessions import PIECES, edited

FOLDER = Path(__file__).parents[1] / "documents" / "corpus"
LONG = marks.load(FOLDER / "rain-falls-softly.md.marked").text


def judged(text, memories):
    """What is told of a text by a process with these memories."""
    judging._ANSWERS, judging._BLOCKS = memories
    return judging.judge(Asker(lambda what: None), "post.md", text)


@pytest.fixture
def audits(monkeypatch):
    """The texts that were judged, as nothing that was known of others was known of them."""
    monkeypatch.setattr(judging, "_ANSWERS", None)
    monkeypatch.setattr(judging, "_BLOCKS", None)
    texts, really = [], judging._judged

    def counted(asker, name, source):
        texts.append(source)
        return really(asker, name, source)

    monkeypatch.setattr(judging, "_judged", counted)
    return texts


@pytest.mark.parametrize(
    ("text", "edits", "seed"),
    [
        (POST, 40, 0),
        pytest.param(POST, 200, 1, marks=pytest.mark.heavy),
        pytest.param(LONG, 12, 2, marks=pytest.mark.heavy),
    ],
)
def test_a_session_is_told_what_a_fresh_process_tells(text, edits, seed, audits):
    draw = random.Random(seed)
    lasting, now = (AnswerMemory(), Memory(1000)), text
    again = 0
    for _ in range(edits):
        if draw.random() < 0.15:
            now = text if draw.random() < 0.5 else text.replace(RIGHT, WRONG, 1)
        elif draw.random() < 0.5:
            start, end, new = edited(now, draw)
            now = now[:start] + new + now[end:]
        else:
            # Words at the end of a line: most of what is typed.
            at = draw.choice([k for k, sign in enumerate(now) if sign == "\n"] or [0])
            now = f"{now[:at]} {draw.choice(('so', 'it', 'well', draw.choice(PIECES)))}{now[at:]}"
        audits.clear()
        told = judged(now, lasting)
        again += not audits
        assert told == judged(now, (AnswerMemory(), Memory(1000))), now
    assert again > edits / 10


def test_what_has_only_moved_is_not_judged_again(audits):
    memories = AnswerMemory(), Memory(1000)
    before = judged(POST, memories)
    at = POST.index("The queries")
    after = judged(f"{POST[:at]}So: {POST[at:]}", memories)
    assert audits == [POST]
    (one,), (other,) = before.findings, after.findings
    assert other.span.start == one.span.start + len("So: ")
    assert other.message == one.message


@pytest.mark.parametrize(
    ("old", "new"),
    [(WRONG, "0.6690"), ("0.5000 \\end", "0.5001 \\end"), ("{2}", "{3}"), ("The", "\nThe")],
    ids=["figure", "other figure", "step", "line"],
)
def test_what_is_judged_by_something_else_is_judged_again(old, new, audits):
    """A figure, the recipe, or the line by which a place is told."""
    memories = AnswerMemory(), Memory(1000)
    changed = POST.replace(old, new, 1)
    assert changed != POST
    judged(POST, memories)
    judged(changed, memories)
    assert audits == [POST, changed]
