"""The report of a corpus and its tables: they count what the lines say."""

from __future__ import annotations

import re
from collections import Counter

import pyarrow.parquet as parquet
import pytest

from symattn.corpus.audit import audit_corpus
from symattn.corpus.page import Bar, bars, sheet
from symattn.corpus.tally import TOLD, Tally
from symattn.errors import Malformed
from symattn.printers import html, latex
from tests.corpus import made

from .test_runs import PLAIN, RIGHT, WRONG, contents, here, lines, posts

__all__ = ["here", "posts"]


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The results of some articles of every kind."""
    folder = tmp_path_factory.mktemp("audited")
    made.written(folder / "posts", 4)
    for name, data in [("a.md", WRONG), ("b.md", RIGHT), ("c.txt", PLAIN), ("d.md", b"\xff")]:
        (folder / "posts" / name).write_bytes(data)
    audit_corpus(folder / "posts", folder / "r", jobs=2)
    return folder / "r"


@pytest.mark.heavy
def test_the_tables_say_what_the_lines_say(audited) -> None:
    """Every article is a row, and every figure that doesn't hold or is coarse."""
    rows = parquet.read_table(audited / "articles.parquet").to_pylist()
    found = lines(audited)
    assert len(rows) == len(found) == 8
    for row, line in zip(rows, found, strict=True):
        audit = line["audit"]
        assert [row[name] for name in ("file", "sha256", "ending", "failure")] == [
            line[name] for name in ("file", "sha256", "ending", "failure")
        ]
        assert row["refuted"] == (audit["summary"]["refuted"] if audit else None)
        assert row["open"] == (len(audit["open"]) if audit else None)
    findings = parquet.read_table(audited / "findings.parquet").to_pylist()
    expected = [
        (claim["file"], claim["line"], claim["printed"], claim["correct"], claim["verdict"])
        for line in found
        if line["audit"]
        for claim in line["audit"]["claims"]
        if claim["verdict"] != "holds" or claim["coarse"]
    ]
    assert expected
    names = ("file", "line", "printed", "correct", "verdict")
    assert [tuple(row[name] for name in names) for row in findings] == expected


@pytest.mark.heavy
def test_the_page_counts_what_the_lines_say(audited) -> None:
    found = lines(audited)
    audits = [line["audit"] for line in found if line["audit"]]
    page = (audited / "index.html").read_text("utf-8")
    wrong = [audit for audit in audits if audit["summary"]["refuted"]]
    assert f"8 articles: 7 judged, {len(wrong)} with refuted figures, 1 failed." in page
    refuted = sum(audit["summary"]["refuted"] for audit in audits)
    assert re.search(rf"\b{refuted} are refuted", page)
    causes = Counter(claim["cause"] for audit in audits for claim in audit["claims"])
    assert f"incorrect on its own: {causes['root']}" in page
    for line in found:
        is_told = not line["audit"] or line["audit"]["summary"]["refuted"]
        assert (line["file"] in page) == bool(is_told)


@pytest.mark.heavy
def test_the_page_is_one_file(audited) -> None:
    """It loads nothing and runs nothing that was read."""
    page = (audited / "index.html").read_text("utf-8")
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']+""", page)
    assert "@import" not in page


def counted() -> Tally:
    """A corpus of hundreds of articles of every outcome."""
    tally = Tally()
    for number in range(TOLD + 3):
        summary = dict.fromkeys(("figures", "statements", "holds", "undecided", "unchecked"), 1)
        audit = {
            "summary": {**summary, "refuted": number, "roots": 1},
            "claims": [{"cause": "root"}, {"cause": None}],
            "causes": [{"kind": "scale-dropped", "sentence": "a <b> mistake"}],
            "open": [{"why": "it may not be K[0, 0]: only its value suggests what it is"}],
        }
        tally.take({"file": f"{number}.md", "ending": "judged", "audit": audit})
        why = "no \\input{x} & <script>\x1b"
        tally.take({"file": f"{number}\x1b.md", "ending": "error", "failure": why, "audit": None})
    return tally


def test_the_worst_come_first() -> None:
    """As many as are told; of equal ones that which comes first."""
    tally = counted()
    assert [one.file for one in tally.worst] == [f"{k}.md" for k in range(TOLD + 2, 2, -1)]
    assert len(tally.failed) == TOLD
    assert tally.failures == tally.articles // 2 == TOLD + 3
    equal = Tally()
    for name in "abc":
        audit = {"summary": {"refuted": 1, "roots": 1, "figures": 1}, "claims": [], "causes": []}
        equal.take({"file": name, "ending": "judged", "audit": {**audit, "open": []}})
    assert [one.file for one in equal.worst] == ["a", "b", "c"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_was_read_is_harmless(language) -> None:
    """On the page and in LaTeX; and all that the page says has words in every language."""
    page = html.document(sheet(counted(), "posts<i>", language=language))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page
    assert "\\input{x}" not in latex.document(sheet(counted(), "posts", language=language))
    assert ("Nur der Wert" in page or "nur der Wert legt nahe" in page) == (language == "de")


def test_an_empty_corpus_has_a_page() -> None:
    assert "0 articles: 0 judged" in html.document(sheet(Tally(), "posts"))


def test_bars_are_as_long_as_their_counts() -> None:
    drawn = bars([Bar("a", 4), Bar("b", 1, "pen"), Bar("none", 0)], "t", "en")
    lengths = [float(x) for x in re.findall(r'<rect[^>]* width="([\d.]+)" height="15"', drawn)]
    assert lengths[0] == 4 * lengths[1]
    assert lengths[2] == 1
    assert bars([], "t", "en").startswith("<svg")


def test_without_pyarrow_there_are_no_tables(posts, tmp_path, here, monkeypatch) -> None:
    """Older ones go: they would speak of other results. Who asks for them is told."""
    audit_corpus(posts, tmp_path / "r")
    assert {"articles.parquet", "findings.parquet"} <= contents(tmp_path / "r").keys()
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(Malformed, match="pyarrow is not installed"):
        audit_corpus(posts, tmp_path / "r", parquet=True)
    audit_corpus(posts, tmp_path / "r", parquet=False)
    assert not {"articles.parquet", "findings.parquet"} & contents(tmp_path / "r").keys()
