"""The settings of sheets: whom they are for, tables over that, flags over tables."""

from __future__ import annotations

from dataclasses import asdict, fields
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.cases.case import make
from symattn.cases.library import load
from symattn.cases.settings import CHOICES, MOST_PLACES, NAMES, PARTS, SheetSettings, settings
from symattn.errors import Malformed

FILE = "[given]\nX = [[1, 2], [3, 4]]\n[steps]\nA = 'softmax(X)'\n"

VALUES = {
    **{name: st.sampled_from(choices) for name, choices in CHOICES.items()},
    **{name: st.booleans() for name in PARTS},
    "places": st.integers(1, MOST_PLACES),
    "count_from": st.sampled_from([0, 1]),
    "language": st.sampled_from(["en", "de"]),
}
TABLES = st.fixed_dictionaries({}, optional=VALUES)


def test_every_setting_is_tried() -> None:
    """The strategy has a value for every field."""
    assert set(VALUES) == set(NAMES) == {field.name for field in fields(SheetSettings)}


@given(TABLES, TABLES)
def test_what_is_said_last_counts(table, flags) -> None:
    """Flags over the table over what the audience has."""
    found = asdict(settings(table, flags))
    audience = flags.get("audience", table.get("audience", "student"))
    parts = {part: audience in whom for part, whom in PARTS.items()}
    assert found == {**asdict(SheetSettings()), **parts, "audience": audience, **table, **flags}


@given(TABLES, TABLES)
def test_what_is_beyond_a_table(table, flags) -> None:
    """What must be said on top of a table gives the same settings, and nothing of it is idle."""
    wanted = settings(table, flags)
    said = wanted.beyond(table)
    assert settings(table, said) == wanted
    for name in said:
        rest = {key: value for key, value in said.items() if key != name}
        assert settings(table, rest) != wanted


def test_whom_the_parts_are_for() -> None:
    """Students get the mathematics; teachers also the document and commands; authors all."""
    of_students = [part for part, whom in PARTS.items() if "student" in whom]
    assert of_students == ["drawing", "backward", "jacobian"]
    assert [part for part, whom in PARTS.items() if "teacher" not in whom] == ["crosscheck"]
    assert all("author" in whom for whom in PARTS.values())


WRONG: dict[str, list[object]] = {
    "audience": ["", "pupil", 3, None, ["student"]],
    "detail": ["long", True],
    "places": [0, 31, -1, True, 4.0, "4", 10**400],
    "paper": ["a5", "A4", 4],
    "language": ["", "fq", 7, "../de", "de\x00", "nothing.toml", "\ud800.toml"],
    **{part: ["yes", 1, 0, None] for part in PARTS},
    "colour": [True],
    "\x1b[31m": [1],
    "for": ["student"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_values_that_are_none(name, value) -> None:
    """Each is one fault at its name, told on one line without what steers a terminal."""
    with pytest.raises(Malformed) as told:
        settings({name: value})
    assert [fault.where for fault in told.value.faults] == [name]
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 400


def test_a_close_word_is_offered() -> None:
    """A word that is nearly one of those there are."""
    with pytest.raises(Malformed, match="did you mean teacher"):
        settings({"audience": "techer"})


def test_a_case_of_ones_own() -> None:
    """``make`` takes the same table, and tells its faults beside all others."""
    kept = make("mine", {"X": [1]}, {"Y": "2 * X"}, sheet={"places": 7})
    assert settings(kept.sheet).places == 7
    with pytest.raises(Malformed) as told:
        make("mine", {"X": ["x"]}, {"Y": "2 * X"}, sheet={"places": 0, "paper": "a5"})
    assert [fault.where for fault in told.value.faults] == [
        "given.X[0]",
        "sheet.places",
        "sheet.paper",
    ]


def test_faults_of_a_table_have_their_lines(tmp_path) -> None:
    """All that is wrong with a [sheet] table is told at once with everything else."""
    path = tmp_path / "x.toml"
    table = '[sheet]\naudience = "pupil"\nplaces = true\nlanguage = "fq"\nbackwards = true\n'
    path.write_text(FILE.replace("X)", "Z)") + table, "utf-8")
    with pytest.raises(Malformed) as told:
        load(path)
    assert [(fault.line, fault.where) for fault in told.value.faults] == [
        (4, "steps.A"),
        (6, "sheet.audience"),
        (7, "sheet.places"),
        (8, "sheet.language"),
        (9, "sheet.backwards"),
    ]
    path.write_text(f"sheet = 3\n{FILE}", "utf-8")
    with pytest.raises(Malformed, match=r"x\.toml:1: sheet: expected a table, found a number"):
        load(path)


def test_a_table_over_another(tmp_path) -> None:
    """A file that extends another changes what it names of its table."""
    base, path = tmp_path / "base.toml", tmp_path / "x.toml"
    base.write_text(FILE + '[sheet]\naudience = "author"\nplaces = 6\n', "utf-8")
    path.write_text('extends = "base.toml"\n[sheet]\nplaces = 2\n', "utf-8")
    found = settings(load(path).sheet)
    assert (found.audience, found.places, found.crosscheck) == ("author", 2, True)
    path.write_text('extends = "base.toml"\n', "utf-8")
    assert load(path).sheet == load(base).sheet


class TestLanguageFiles:
    """A language file stands beside the case file that names it, or below."""

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        """A folder of walkthroughs with a language file, and one with another outside of it."""
        (tmp_path / "in" / "words").mkdir(parents=True)
        (tmp_path / "in" / "words" / "fr.toml").write_text('"Given" = "Données"\n', "utf-8")
        (tmp_path / "secret.toml").write_text('"password" = "{hunter2}"\n', "utf-8")
        monkeypatch.chdir(tmp_path)
        return tmp_path / "in"

    @staticmethod
    def written(folder, name, table):
        path = folder / name
        path.write_text(f"{FILE}[sheet]\nlanguage = '{table}'\n", "utf-8")
        return path

    def test_beside(self, folder) -> None:
        """The path counts from the file, wherever one stands; also from one that is extended."""
        found = load(self.written(folder, "x.toml", "words/fr.toml"))
        assert settings(found.sheet).say.text("Given") == "Données"
        variant = folder / "words" / "y.toml"
        variant.write_text('extends = "../x.toml"\n', "utf-8")
        assert settings(load(variant, allow_outside=True).sheet).say.name == "fr"

    def test_outside(self, folder) -> None:
        """One outside of the folder is read only where that is allowed."""
        path = self.written(folder, "x.toml", "../secret.toml")
        with pytest.raises(Malformed, match="only with --allow-outside") as told:
            load(path)
        assert [(fault.line, fault.where) for fault in told.value.faults] == [(6, "sheet.language")]
        with pytest.raises(Malformed, match="is not a language file: see its line 1"):
            load(path, allow_outside=True)

    @pytest.mark.parametrize("text", ['"hunter2" = "{hunter2}"', '"hunter2" = [1]', '"hunter2" 1'])
    def test_nothing_of_it_is_told(self, folder, text) -> None:
        """A message about a faulty one says its line, and nothing of what is in it."""
        (folder / "words" / "fr.toml").write_text(text, "utf-8")
        path = self.written(folder, "x.toml", "words/fr.toml")
        with pytest.raises(Malformed) as told:
            load(path)
        assert "see its line 1" in str(told.value)
        assert "hunter2" not in str(told.value)

    def test_none_there(self, folder) -> None:
        """A missing one is told at its line, together with all else."""
        path = self.written(folder, "x.toml", "de.toml")
        path.write_text(path.read_text("utf-8") + "places = 0\n", "utf-8")
        with pytest.raises(Malformed) as told:
            load(path)
        assert [fault.line for fault in told.value.faults] == [6, 7]
        assert "can't be read: no such file" in str(told.value)


def test_all_combinations_of_parts_are_settings() -> None:
    """Every part can be switched whatever the others are."""
    for switches in product([True, False], repeat=len(PARTS)):
        wanted = dict(zip(PARTS, switches, strict=True))
        found = asdict(settings(wanted))
        assert {part: found[part] for part in PARTS} == wanted
