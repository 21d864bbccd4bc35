"""Where the values of a TOML text stand: every one that tomllib reads, at its line and column."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from hypothesis import given

from symattn.tables.places import TomlPlaces

from ..strategies import many
from .documents import documents


def paths(value, path=()):
    """Every path of a document, as tomllib reads it."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(inner, (*path, key))


@pytest.mark.heavy
@many
@given(documents)
def test_every_value_has_its_place(document):
    """Each path that tomllib reads has a place, and no other has."""
    places = TomlPlaces(document.text)
    found = list(paths(tomllib.loads(document.text)))
    assert set(found) == document.starts.keys()
    for path in found:
        assert places.at(*path) == document.place(path)
        with pytest.raises(KeyError):
            places.at(*path, "nothing")


@pytest.mark.heavy
@many
@given(documents)
def test_at_a_values_place_stands_that_value(document):
    """The text from there on begins with it: read alone, it is the same."""
    places = TomlPlaces(document.text)
    read = tomllib.loads(document.text)
    lines = document.text.split("\n")
    for path, spelled in document.values.items():
        place = places.at(*path)
        rest = "\n".join([lines[place.line - 1][place.column - 1 :], *lines[place.line :]])
        assert rest.startswith(spelled)
        assert repr(tomllib.loads(f"v = {spelled}")["v"]) == repr(at(read, path))


def at(document, path):
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


TEXT = """\
title = "x"   # claims[0]

[given]
X = [[1, 2],
     [3, "[["]]
"a.b" = 1
y.z = { w = 2, v = [
  5] }

[[claims]]  # a comment
of = "X"
printed = [
  1,
]

[steps]
S = "X"

[[claims]]
holds = "X == 1"
[claims.more]
k = 1
[[claims.each]]
k = 2
"""


@pytest.mark.parametrize(
    ("where", "line"),
    [
        ("title", 1), ("given", 3), ("given.X", 4), ("given.X[0]", 4), ("given.X[0][1]", 4),
        ("given.X[1]", 5), ("given.X[1][1]", 5), ("given.X[2]", 4), ("given.X[1][1][7]", 5),
        ("given.a.b", 6), ("given.a.b[0]", 6), ("given.a", 3), ("given.y", 7), ("given.y.z.w", 7),
        ("given.y.z.v[0]", 8), ("claims", 10), ("claims[0]", 10), ("claims[0].of", 11),
        ("claims[0].holds", 10), ("claims[0].printed[0][3]", 13), ("claims[1]", 19),
        ("claims[1].holds", 20), ("claims[1].more.k", 22), ("claims[1].each[0].k", 24),
        ("claims[2]", 10), ("steps.S", 17), ("steps.T", 16), ("rounding", 0), ("", 0), ("[0]", 0),
        ("titl", 0), ("title.x", 1), ("x" * 10**6, 0), ("given." * 10**5, 3),
    ],
)  # fmt: skip
def test_a_faults_path_has_the_line_of_what_is_known_of_it(where, line):
    """The longest part of the path that stands in the text; 0 where none does."""
    assert TomlPlaces(TEXT).line(where) == line


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        ("[a.b]\nc = 1\n[a]\nd = 2\n", ("a", "d"), (4, 1 + 4)),
        ("[a.b]\nc = 1\n[a]\nd = 2\n", ("a",), (1, 1)),
        ("[[a.b]]\n[a.c]\nd = 1\n", ("a", "c", "d"), (3, 5)),
        ("[[a.b]]\n[[a.c]]\n[[a.c]]\nd = 1", ("a", "c", 1, "d"), (4, 5)),
        ("[a]\nb.c = 1\n[a.b.d]\ne = 2", ("a", "b"), (2, 1)),
        ("[a]\nb.c = 1\n[a.b.d]\ne = 2", ("a", "b", "d", "e"), (4, 5)),
        ("'é' = '🦊'\n'ü' . x = '\u2028' # é\n", ("ü", "x"), (2, 11)),
        ("[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nx=1\n[[a.b]]\n", ("a", 1, "b", 1), (6, 1)),
        ("a = 1\r\nb = [\r\n2]", ("b", 0), (3, 1)),
    ],
)
def test_places_in_odd_orders(text, path, place):
    """Tables opened late, dotted keys continued by headers, letters of several bytes."""
    assert tomllib.loads(text)
    assert TomlPlaces(text).at(*path) == place


def test_the_parser_is_loaded_for_files_only():
    """Asking for the version, or for attention without a file, loads no TOML parser."""
    code = (
        "import sys, symattn\nfrom symattn.cli import main\n"
        "symattn.attention([[1]], [[1]], [[1]])\nsys.argv = ['symattn', '--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('tree_sitter' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
