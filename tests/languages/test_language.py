"""Language files: what they must say, and what is said of faulty ones."""

from __future__ import annotations

import pytest

from symattn.errors import Malformed
from symattn.languages.language import language


def test_a_language_of_a_file(tmp_path):
    """A file's sentences are said, and what it lacks is said in English."""
    path = tmp_path / "fr.toml"
    path.write_text('"Row {i}" = "Ligne {i}"\n', encoding="utf-8")
    french = language(str(path))
    assert french.name == "fr"
    assert french.text("Row {i}", i=1) == "Ligne 1"
    assert french.text("Column {j}", j=1) == "Column 1"


def test_faults_of_a_language_file(tmp_path):
    """All sentences that can't be filled in are told at once."""
    path = tmp_path / "fr.toml"
    path.write_text('"Row {i}" = "Ligne {j}"\n"a" = 1\n"b" = "{"\n', encoding="utf-8")
    with pytest.raises(Malformed) as told:
        language(str(path))
    assert len(told.value.faults) == 3
    assert "expected {i}, found {j}" in str(told.value)


def test_an_unknown_language():
    """The message says which there are."""
    with pytest.raises(Malformed, match=r"unknown language 'fq': expected one of de, en"):
        language("fq")
