"""``symattn mark``: a table for the marker, a page and a text for each student."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from symattn.cases import library
from symattn.cli import mark
from symattn.exercises.exercise import exercise
from symattn.exercises.key import key
from tests.folders import written

CASE = exercise(library.load("cat-sat-mat"))
#: The weights that come of scores without the scale, and the output that comes of these.
UNSCALED = {
    "T": [["2", "0", "1"], ["0", "2", "1"], ["1", "1", "2"]],
    "A": [["0.6652", "0.0900", "0.2447"], ["0.0900", "0.6652", "0.2447"],
          ["0.2119", "0.2119", "0.5761"]],
    "Y": [["0.9100", "0.3348", "0.6652", "0.0900"], ["0.3348", "0.9100", "0.0900", "0.6652"],
          ["0.7881", "0.7881", "0.2119", "0.2119"]],
}  # fmt: skip


def answers(**instead: list[list[str]]) -> dict[str, list[list[str]]]:
    right = {
        part.quantity: [[f"{x:f}" for x in row] for row in CASE.right(part)] for part in CASE.parts
    }
    return right | instead


def table(*students: tuple[str, dict[str, list[list[str]]]]) -> str:
    rows = [
        f'{student},{name},{i},{j},"{answer}"'
        for student, held in students
        for name, found in held.items()
        for i, row in enumerate(found)
        for j, answer in enumerate(row)
    ]
    return "\n".join(["student,quantity,row,column,answer", *rows]) + "\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with the key and with the answers of two students."""
    (tmp_path / "key.toml").write_text(key([CASE]))
    text = table(("Ada Lovelace", answers()), ("Bob", answers(**UNSCALED)))
    (tmp_path / "answers.csv").write_text(text)
    return tmp_path


def test_text(symattn, files) -> None:
    """Points for each student, the slips, how many made each; the key lies beside the answers."""
    ended = symattn("mark", "answers.csv")
    assert ended == symattn("mark", "answers.csv", "--format", "text")
    assert (ended.code, ended.err) == (0, "")
    head, ada, bob, *_ = ended.table
    assert head == ["student", "points", "of", "S", "T", "A", "Y", "slips"]
    assert ada == ["Ada Lovelace", "8", "8", "2", "1", "3", "2"]
    # Two of the nine scaled scores are 0 and right all the same; the other seven are half.
    assert bob[:7] == ["Bob", "7.61", "8", "2", "0.61", "3", "2"]
    assert bob[7] == "T without the division by sqrt(d_k)"
    assert "2 students, 7.81 of 8 points on average" in ended.out
    assert "   1  T without the division by sqrt(d_k)" in ended.out
    assert not (files / "feedback").exists()


def test_output(symattn, files) -> None:
    """A page and a text for each student and the table are written, and told."""
    for flag in ("-o", "--output"):
        ended = symattn("mark", "answers.csv", "--key", "key.toml", flag, f"out{flag}")
        assert ended.code == 0
        assert f"feedback and marks.csv in out{flag}" in ended.out
        folder = files / f"out{flag}"
        assert [path.name for path in written(folder)] == [
            "Ada_Lovelace.html", "Ada_Lovelace.txt", "Bob.html", "Bob.txt", "marks.csv"
        ]  # fmt: skip
        assert "well done" in (folder / "Ada_Lovelace.txt").read_text()
        assert "without the division" in (folder / "Bob.html").read_text()
        rows = [*csv.DictReader(io.StringIO((folder / "marks.csv").read_text()))]
        assert [row["feedback"] for row in rows] == ["Ada_Lovelace.html", "Bob.html"]


def test_csv(symattn, files) -> None:
    """On standard output the table that is written otherwise."""
    ended = symattn("mark", "answers.csv", "--format", "csv")
    rows = [*csv.DictReader(io.StringIO(ended.out))]
    assert [(row["student"], row["points"]) for row in rows] == [
        ("Ada Lovelace", "8"),
        ("Bob", "7.61"),
    ]


@pytest.fixture
def class_of_many(files: Path) -> Path:
    """A folder with the key, and the same answers of twelve students."""
    names = [f"Student {number}" for number in range(12)]
    (files / "answers.csv").write_text(table(*((name, answers()) for name in names)))
    return files


class Ending(BaseException):
    """What ends a command in the midst of its work."""


def test_what_is_marked_is_there_at_once(symattn, class_of_many, monkeypatch, capsys) -> None:
    """Feedback is written as it comes, whole and in order, the table not far behind, and rows
    on standard output; what ends the command takes nothing back."""
    worked = mark._marked
    folder = class_of_many / "out"
    seen: list[tuple[int, int]] = []

    def marked(*arguments):
        pages = len([*folder.glob("*.html")])
        held = folder / "marks.csv"
        seen.append((pages, max(held.read_text().count("\n") - 1, 0) if held.exists() else 0))
        if pages == 11:
            raise Ending
        return worked(*arguments)

    monkeypatch.setattr(mark, "_marked", marked)
    with pytest.raises(Ending):
        symattn("mark", "answers.csv", "-o", "out", "--format", "csv")
    assert [pages for pages, _ in seen] == [*range(12)]
    assert all(5 * rows >= 4 * pages - 4 for pages, rows in seen)
    names = [f"Student {number}" for number in range(11)]
    for text in ((folder / "marks.csv").read_text(), capsys.readouterr().out):
        assert [row["student"] for row in csv.DictReader(io.StringIO(text))] == names
    for number in range(11):
        assert (folder / f"Student_{number}.html").read_text().rstrip().endswith("</html>")
        assert (folder / f"Student_{number}.txt").read_text()


@pytest.mark.heavy
def test_a_signal_leaves_a_table_of_all_that_is_marked(class_of_many) -> None:
    """A marking that is interrupted has all in its table whose feedback is written."""
    folder = class_of_many / "out"
    with subprocess.Popen(
        [sys.executable, "-m", "symattn", "mark", "answers.csv", "-o", "out"],
        cwd=class_of_many, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        until = time.monotonic() + 100
        while len([*folder.glob("*.txt")]) < 3 and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    rows = [*csv.DictReader(io.StringIO((folder / "marks.csv").read_text()))]
    assert len([*folder.glob("*.txt")]) - len(rows) in (0, 1)
    assert all((folder / row["feedback"]).is_file() for row in rows)


@pytest.mark.parametrize("length", [131_073, 1_000_000])
def test_a_cell_of_any_length_is_a_fault_of_its_own(length, symattn, files) -> None:
    """It is told at its place, and the others are marked."""
    path = files / "answers.csv"
    before = csv.field_size_limit()
    path.write_text(path.read_text() + f'Cyd,S,0,0,"{"1" * length}"\nCyd,S,1,1,2\n')
    ended = symattn("mark", "answers.csv")
    assert ended.code == 2
    assert "3 students" in ended.out
    assert "answers.csv:80: column 5 (answer)" in ended.err
    assert len(ended.err) < 1000
    path.write_text(table(("Ada", answers())) + f'"{"x" * length}",S,0,0,1\n')
    ended = symattn("mark", "answers.csv")
    assert f"answers.csv:41: column 1 (student): a name of {length} characters" in ended.err
    assert "1 student, " in ended.out
    assert csv.field_size_limit() == before


@pytest.mark.heavy
def test_a_key_or_answers_that_nobody_types(symattn, files) -> None:
    """Closed standard input is no file of answers, and no traceback."""
    done = subprocess.run(
        f"'{sys.executable}' -m symattn mark - --key key.toml <&-",
        shell=True, cwd=files, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("symattn: -: ")
    assert len(done.stderr.splitlines()) == 1


def test_json(symattn, files) -> None:
    """Every answer with what it is, points as exact fractions."""
    ended = symattn("mark", "answers.csv", "--format", "json")
    found = json.loads(ended.out)
    assert [one["points"] for one in found["students"]] == ["8", "137/18"]
    bob = found["students"][1]
    assert {answer["outcome"] for answer in bob["answers"] if answer["of"][0] in "AY"} <= {
        "follows", "right"
    }  # fmt: skip
    assert found["slips"] == {"T without the division by sqrt(d_k)": 1}


def test_language(symattn, files) -> None:
    """Feedback in the language of a file; one that there is none of is refused."""
    (files / "mine.toml").write_text(
        '"{a} without the {b} {c}" = "{a} ohne {b} {c}"\n"division by" = "Division durch"\n'
    )
    ended = symattn("mark", "answers.csv", "--language", "mine.toml", "-o", "out")
    assert "T ohne Division durch sqrt(d_k)" in ended.out
    assert "T ohne Division durch" in (files / "out/Bob.txt").read_text()
    assert symattn("mark", "answers.csv", "--language", "xx").code == 2


def test_the_scheme_of_the_key(symattn, files) -> None:
    """What the key's [scheme] says an answer gets, it gets."""
    path = files / "key.toml"
    path.write_text(path.read_text().replace('slip = "1/2"', "slip = 0"))
    (_, _, bob, *_) = symattn("mark", "answers.csv").table
    assert bob[:5] == ["Bob", "7.22", "8", "2", "0.22"]
    path.write_text(path.read_text().replace("slip = 0", "slip = 7"))
    ended = symattn("mark", "answers.csv")
    assert ended.code == 2
    assert "scheme.slip: expected a share from 0 to 1, found 7" in ended.err


def test_a_table_to_be_filled(symattn, files) -> None:
    """It has a column for each blank, is read once it is filled, and overwrites nothing."""
    ended = symattn("mark", "new.csv", "--begin")
    assert ended.code == 0
    assert "new.csv: fill in a row for each student" in ended.out
    path = files / "new.csv"
    (head,) = csv.reader(path.read_text().splitlines())
    right = [answer for rows in answers().values() for row in rows for answer in row]
    assert len(head) == 2 + len(right)
    before = path.read_text()
    assert symattn("mark", "new.csv", "--begin").code == 2
    assert path.read_text() == before
    path.write_text(before + ",".join(["Ada", "", *right]) + "\n")
    assert symattn("mark", "new.csv").table[1][:3] == ["Ada", "8", "8"]
    assert symattn("mark", "new.toml", "--begin").code == 2
    assert not (files / "new.toml").exists()


def test_bad_input(symattn, files) -> None:
    """Faults are told together with their places; who can be marked is, and written."""
    path = files / "answers.csv"
    path.write_text(path.read_text() + "Cyd,S,0,0,two\nCyd,S,0,9,1\nCyd,S,1,1,2\n,S,1,1,2\n")
    ended = symattn("mark", "answers.csv", "-o", "out")
    assert ended.code == 2
    assert "3 students" in ended.out
    assert (files / "out/Cyd.html").is_file()
    assert "answers.csv: 3 faults" in ended.err
    for line, column in ((80, "answer"), (81, "quantity"), (83, "student")):
        assert f"answers.csv:{line}: column " in ended.err
        assert f"({column})" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.csv"], "none.csv: the file can't be read"),
        (["answers.csv", "--key", "none.toml"], "none.toml: the file can't be read"),
        (["answers.csv", "--key", "answers.csv"], "answers.csv"),
        (["answers.csv", "-o", "-"], "-o takes a folder here"),
        (["answers.csv", "-o", "key.toml"], "can't be written to"),
        (["empty.csv"], "it contains no answers"),
        (["answers.csv", "--format", "pdf"], "Invalid value"),
        ([], "Missing argument"),
    ],
)
def test_bad_use(words, said, symattn, files) -> None:
    """One message, exit code 2, and nothing written."""
    (files / "empty.csv").write_text("student,quantity,row,column,answer\n")
    before = sorted(files.iterdir())
    ended = symattn("mark", *words)
    assert ended.code == 2
    assert said in ended.err
    assert ended.out == ""
    assert sorted(files.iterdir()) == before


def test_proofs_have_no_marks(symattn, files) -> None:
    """An exercise whose parts are proofs says so."""
    (files / "key.toml").write_text(key([exercise(library.load("cat-sat-mat"), "proof")]))
    ended = symattn("mark", "answers.csv")
    assert ended.code == 2
    assert "proofs" in ended.err


@pytest.mark.heavy
def test_limits(symattn, files, monkeypatch) -> None:
    """In processes of their own the same comes out; who is stopped is not marked, and told."""
    monkeypatch.delenv("SYMATTN_MAX_SECONDS")
    monkeypatch.delenv("SYMATTN_MAX_MEMORY")
    here = symattn("mark", "answers.csv", "--max-seconds", "0", "--max-memory", "0")
    there = symattn(
        "mark", "answers.csv", "--max-seconds", "100", "--max-memory", "4000", "--jobs", "2"
    )
    assert there == here
    stopped = symattn("mark", "answers.csv", "--max-seconds", "0.01")
    assert stopped.code == 2
    assert "not marked: Ada Lovelace" in stopped.out
    assert "Ada Lovelace: stopped after 0.01 seconds (--max-seconds)" in stopped.err
