"""``symattn list`` and the words that every command knows."""

from __future__ import annotations

import json
import tomllib

import pytest

import symattn as package
from symattn.tables.file import folder

FOLDER = folder()


def files():
    """Every bundled file as TOML reads it, on top of the one that it extends."""
    own = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.toml")}

    def whole(document):
        base = own.get(document.get("extends"))
        if base is None:
            return document
        base = whole(base)
        kept = {} if document.get("replace_steps") else base["steps"]
        return {**base, **document, "steps": {**kept, **document.get("steps", {})}}

    return {
        name: {
            "case": name,
            "title": whole(own[name])["title"],
            "tokens": whole(own[name])["tokens"],
            "steps": whole(own[name])["steps"],
            "claims": len(own[name].get("claims", [])),
            "extends": own[name].get("extends"),
        }
        for name in sorted(own)
    }


@pytest.mark.heavy
def test_json_against_the_files(symattn) -> None:
    """Every bundled file is listed, with what it says of itself."""
    done = symattn("list", "--format", "json")
    assert done.code == 0
    found = json.loads(done.out)
    by_heads = ("multi-head", "grouped-query")
    assert [one for one in found if one["case"] not in by_heads] == [
        document for name, document in files().items() if name not in by_heads
    ]
    # Their steps are one for each head.
    (steps,) = (one["steps"] for one in found if one["case"] == "multi-head")
    assert steps["S_1"] == "Q_1 @ K_1.T"
    assert steps["C"] == "concat(Y_0, Y_1)"
    assert '\n  {\n    "case": "cat-sat-mat",\n' in done.out


@pytest.mark.sampled(1)
@pytest.mark.parametrize("words", [["list"], ["list", "--format", "text"]])
def test_text_against_the_files(words, symattn) -> None:
    """A line for every case, under a heading: name, title, tokens, steps."""
    done = symattn(*words)
    assert done.code == 0
    assert done.table == [
        ["case", "title", "tokens", "steps"],
        *(
            [name, document["title"], " ".join(document["tokens"]), ", ".join(document["steps"])]
            for name, document in files().items()
        ),
    ]
    assert all(line[0] != " " for line in done.out.splitlines())


def test_on_a_narrow_terminal(symattn, terminal) -> None:
    """A terminal gets colours; names are not broken, whatever else is."""
    done = symattn("list")
    assert "\x1b[36mcat-sat-mat-d16-unscaled\x1b[0m" in done.out
    assert done.out.startswith("\x1b[1mcase")


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help(word, symattn) -> None:
    """The help says what there is and what exit codes mean."""
    done = symattn(word)
    assert done.code == 0
    commands = done.out.partition("Commands:\n")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in commands.splitlines()]
    assert names == [
        "list", "sheet", "draw", "show", "verify", "audit", "read", "derive", "seal", "exercise",
        "mark", "lsp", "new", "vectors", "live", "myst", "pandoc",
    ]  # fmt: skip
    assert "Exit codes: 0 success, 1 a check failed, 2 wrong usage or input." in done.out
    for command in names:
        shown = symattn(command, word)
        assert shown.code == 0
        assert shown.out.startswith(f"Usage: symattn {command} ")
        assert max(map(len, shown.out.splitlines())) <= 96


def test_version(symattn) -> None:
    """The version is the package's."""
    done = symattn("--version")
    assert (done.code, done.out) == (0, f"symattn, version {package.__version__}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lst"], "No such command 'lst'"),
        (["list", "cat-sat-mat"], "unexpected extra argument"),
        (["list", "--format", "toml"], "'toml' is not one of 'text', 'json'"),
        (["show", "cat-sat-mat"], "Missing argument 'QUANTITY'"),
        (["audit", "--places", "3"], "No such option"),
    ],
)
def test_bad_usage(words, said, symattn) -> None:
    """What no command knows ends with exit code 2 and says so."""
    done = symattn(*words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
