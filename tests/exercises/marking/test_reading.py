"""Answers are read from tables and trees alike; what is wrong with them is told with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.cases import library
from symattn.errors import Malformed
from symattn.exercises.exercise import Exercise, exercise
from symattn.exercises.marking.answer_files import read_answers, scheme_of
from symattn.exercises.marking.collecting import read_answer

from ...hostile import FORBIDDEN, TEXT

CASE = exercise(library.load("cat-sat-mat"), "backward")
VERSIONS = [Exercise(CASE.case, CASE.level, CASE.parts, 1, version) for version in (1, 2, 3, 4)]
S = [["2", "0.10", ""], ["1/3", "-inf", "0,5"], ["", "", "1/(1 + exp(1))"]]


@pytest.fixture
def reads(tmp_path):
    """Reads a file of that name and text."""

    def read(name, text, exercises=VERSIONS):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_answers(path, exercises)

    return read


def long(delimiter=","):
    head = delimiter.join(["student", "version", "quantity", "row", "column", "answer"])
    rows = [
        delimiter.join(["Ada", "3", "S", str(i), str(j), f'"{answer}"'])
        for i, row in enumerate(S)
        for j, answer in enumerate(row)
    ]
    return "\n".join([head, *rows])


def wide(delimiter=",", mark='"'):
    labels = [f'"S[{i}, {j}]"' for i in range(3) for j in range(3)]
    cells = [f"{mark}{answer}{mark}" for row in S for answer in row]
    return f"{delimiter.join(['student', 'version', *labels])}\n" + delimiter.join(
        ["Ada", "3", *cells]
    )


FORMS = {
    "long.csv": long(),
    "long.tsv": long("\t"),
    "semicolons.csv": long(";"),
    "bom.csv": b"\xef\xbb\xbf" + long().encode(),
    "windows.csv": long().replace("\n", "\r\n"),
    "excel.csv": "sep=;\n" + long(";"),
    "wide.csv": wide(),
    "wide-semicolons.csv": wide(";", ""),
    "a.toml": f"[answers.Ada]\nversion = 3\nS = {json.dumps(S)}\n",
    "a.json": json.dumps({"answers": {"Ada": {"version": 3, "S": S}}}),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_the_same(name, reads) -> None:
    """Tables with an answer or a student in a row, TOML and JSON give the same script."""
    found = reads(name, FORMS[name])
    assert not found.faults
    (script,) = found.scripts
    assert (script.student, script.version, script.unread) == ("Ada", 3, {})
    assert {tuple(blank): answer for blank, answer in script.answers.items()} == {
        ("S", i, j): read_answer(answer)
        for i, row in enumerate(S)
        for j, answer in enumerate(row)
        if answer
    }


def test_numbers_of_toml_and_json_keep_their_zeros(reads) -> None:
    """0.10 is not 0.1: the places of an answer are what it claims."""
    rows = "[[2, 0.10, 1e-2], [0.0, -0.500, 3], [1, 1, 1]]"
    for name, text in (
        ("a.toml", f"[answers.Ada]\nversion = 1\nS = {rows}"),
        ("a.json", f'{{"answers": {{"Ada": {{"version": 1, "S": {rows}}}}}}}'),
    ):
        (script,) = reads(name, text).scripts
        texts = [answer.text for answer in script.answers.values()]
        assert texts[:2] == ["2", "0.10"]
        assert texts[3:5] == ["0.0", "-0.500"]


def test_faults_are_told_with_their_places_and_cost_nobody_else_anything(reads) -> None:
    """All of a table at once, by line and column; the other answers are there."""
    text = (
        "student,version,quantity,row,column,answer\n"
        "Ada,1,S,0,0,2\n"
        "Ada,1,S,0,1,two\n"
        "Bob,9,S,0,0,2\n"
        "Bob,9,S,0,1,2\n"
        "Cyd,2,B,0,0,2\n"
        "Cyd,2,S,0,3,2\n"
        "Cyd,2,S,0,,2\n"
        ",2,S,0,0,2\n"
        "Ada,1,S,0,0,3\n"
        "Ada,2,S,0,2,3\n"
        "Dot,4,X,0,0,3\n"
        'Dot,4,S,0,0,"1,234"\n'
        "Dot,4,S,2,2,1\n"
        "Eve,,S,0,0,1\n"
    )
    found = reads("a.csv", text)
    columns = {"student": 1, "version": 2, "quantity": 3, "answer": 6}
    assert [(fault.line, fault.where) for fault in found.faults] == [
        *((line, f"column {columns[name]} ({name})") for line, name in (
            (3, "answer"), (4, "version"), (6, "quantity"), (7, "quantity"), (8, "quantity"),
            (9, "student"), (10, "answer"), (11, "version"), (12, "quantity"), (13, "answer"),
        )),
        (15, ""),
    ]  # fmt: skip
    assert [script.student for script in found.scripts] == ["Cyd", "Dot"]
    assert found.refused == ("Bob", "Ada", "Eve")
    (dot,) = (script for script in found.scripts if script.student == "Dot")
    assert [answer.text for answer in dot.answers.values()] == ["1"]
    assert [*dot.unread.values()] == ["1,234"]


@pytest.mark.parametrize(
    ("name", "text", "line", "column", "where"),
    [
        ("a.toml", 'S = [["1", "1", "1"],\n  ["x", "1", "1"], ["", "", ""]]', 4, 4, "S[1][0]"),
        ("a.toml", 'S = [["1"]]', 3, 5, "S"),
        ("a.toml", "B = 3", 3, 5, "B"),
        ("a.toml", "S = true", 3, 5, "S"),
        ("a.toml", '"S[0, 7]" = 1', 3, 13, "S[0, 7]"),
        ("a.json", '"S":\n[["1", "1", "1"],\n  ["", "x", ""], ["", "", ""]]', 4, 8, "S[1][1]"),
        ("a.json", '"S": [["1", "1", {}], ["", "", ""], ["", "", ""]]', 2, 18, "S[0][2]"),
    ],
)  # fmt: skip
def test_faults_of_trees_have_lines_and_columns(name, text, line, column, where, reads) -> None:
    """The place of the value itself, in TOML as in JSON."""
    head = (
        "[answers.Ada]\nversion = 1\n" if name == "a.toml" else '{"answers": {"Ada":{"version":1,\n'
    )
    (fault,) = reads(name, head + text + "}}}" * (name == "a.json")).faults
    assert (fault.line, fault.where) == (line, f"column {column}, answers.Ada.{where}")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "", "expected a row of headings"),
        ("a.csv", "name,mark\nAda,1\n", "expected the headings student"),
        ("a.csv", "student,answer\nAda,1\n", "expected a column 'quantity'"),
        ("a.csv", "student,version\nAda,1\n", "expected a column for each blank"),
        ("a.csv", 'student,version,quantity,row,column,answer\n"Ada"x,1\n', "not valid CSV"),
        ("a.csv", b"student;version\n\xff", "CSV UTF-8"),
        ("a.json", "{", "not valid JSON"),
        ("a.json", "[1]", "found a list"),
        ("a.json", '{"answers": {"Ada": {}, "Ada": {}}}', "twice"),
        ("a.json", "[" * 100_000, "nested too deep"),
        ("a.json", "{}", "[answers.NAME]"),
        ("a.toml", "answers = 3", "found a number"),
        ("a.toml", "[answers.Ada]\nversion = 1\n[scheme]\nslip = 3", "from 0 to 1"),
        ("a.xlsx", "", ".csv, .toml or .json"),
        ("answers", "", "without an ending"),
    ],
)
def test_what_is_no_file_of_answers(name, text, said, reads) -> None:
    """It is refused as a whole, with what was expected."""
    with pytest.raises(Malformed, match=r".") as told:
        reads(name, text)
    assert said in str(told.value)
    assert told.value.source.endswith(name)


def test_a_single_version_needs_no_number(reads) -> None:
    """Where there is only one version, nobody has to name it."""
    found = reads("a.csv", "student,quantity,row,column,answer\nAda,S,0,0,2\n", [CASE])
    assert [script.version for script in found.scripts] == [0]


def test_gradients_by_any_of_their_names(reads) -> None:
    """dQ is dL/dQ, in a cell, in a heading and as a key."""
    texts = {
        "a.csv": "student,version,quantity,row,column,answer\nAda,1,dQ,0,1,2\n",
        "b.csv": 'student,version,"dL/dQ[0, 1]"\nAda,1,2\n',
        "c.csv": 'student,version,"dQ[0][1]"\nAda,1,2\n',
        "a.toml": '[answers.Ada]\nversion = 1\n"dQ[0, 1]" = 2\n',
    }
    for name, text in texts.items():
        found = reads(name, text)
        assert not found.faults, name
        assert [tuple(blank) for blank in found.scripts[0].answers] == [("dL/dQ", 0, 1)]


def test_the_schemes_of_files(reads, tmp_path) -> None:
    """A file of answers may bring its own; a key's is read with the lines of its faults."""
    assert reads("a.csv", long()).scheme is None
    text = f"[answers.Ada]\nversion = 3\nS = {json.dumps(S)}\n[scheme]\nslip = 0.25\n"
    scheme = reads("a.toml", text).scheme
    assert scheme is not None
    assert scheme.table["slip"] == "1/4"
    key = tmp_path / "key.toml"
    key.write_text("[scheme]\nslip = 1\nearly = 3\n")
    with pytest.raises(Malformed) as told:
        scheme_of(key)
    assert [(fault.where, fault.line) for fault in told.value.faults] == [("scheme.early", 3)]


@given(
    st.text(max_size=60) | st.sampled_from(["1,5", "1,234", "9" * 500, "1/0", "exp(exp(9))", TEXT])
)
def test_any_text_is_an_answer_or_a_fault(text) -> None:
    """Nothing else than a number comes of it, and nothing else is raised."""
    for comma in (False, True):
        try:
            found = read_answer(text, comma)
        except Malformed:
            continue
        assert found.text == text.strip()
        assert found.printed is None or found.printed.unit > 0


@pytest.mark.parametrize("character", FORBIDDEN)
def test_names_may_hold_anything(character, reads) -> None:
    """What steers or hides in a name breaks no file of answers."""
    text = json.dumps({"answers": {f"A{character}b": {"version": 1}}})
    found = reads("a.json", text)
    assert len(found.scripts) == 1
