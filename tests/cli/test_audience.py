"""``--for``, the switches of every part, paper and language: flags over the file's table."""

from __future__ import annotations

import shlex

import pytest

from symattn.cases.settings import PARTS

FORMULA = """
tokens = ["left", "right"]
[given]
X = [[1, 2], [3, 4]]
[steps]
S = "X @ X.T"
T = "S / 4"
A = "softmax(T)"
Y = "A @ X"
[[claims]]
of = "A[0, 0]"
printed = 0.9
"""
#: What a page has where it has a part, and only there.
SIGNS = {
    "drawing": '<svg xmlns="http://www.w3.org/2000/svg" class="drawing',
    "backward": ">Backward<",
    "jacobian": ">The softmax Jacobian of ",
    "crosscheck": ">Cross-check<",
    "audit": ">Where the document differs<",
    "commands": ">Reproduce this sheet<",
}


@pytest.fixture
def parts(symattn, tmp_path):
    """Which parts the page of a walkthrough has."""
    (tmp_path / "x.toml").write_text(FORMULA, "utf-8")

    def found(*words):
        done = symattn("sheet", "x.toml", "--format", "html", "-o", "-", *words)
        assert (done.code, done.err) == (0, "")
        return {part for part, sign in SIGNS.items() if sign in done.out}

    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("audience", ["student", "teacher", "author"])
def test_whom_a_sheet_is_for(audience, parts, symattn) -> None:
    """Students get no table of ulps, no errors of the document and no commands, also unasked."""
    wanted = {
        "student": {"drawing", "backward", "jacobian"},
        "teacher": {"drawing", "backward", "jacobian", "audit", "commands"},
        "author": set(PARTS),
    }
    assert parts("--for", audience) == wanted[audience]
    assert parts() == wanted["student"]
    assert symattn("sheet", "x.toml", "--for", "pupil").code == 2


@pytest.mark.parametrize(
    ("flag", "part"),
    [
        ("--drawing", "drawing"), ("--no-drawing", "drawing"),
        ("--backward", "backward"), ("--no-backward", "backward"),
        ("--jacobian", "jacobian"), ("--no-jacobian", "jacobian"),
        ("--crosscheck", "crosscheck"), ("--no-crosscheck", "crosscheck"),
        ("--audit", "audit"), ("--no-audit", "audit"),
        ("--commands", "commands"), ("--no-commands", "commands"),
    ],
)  # fmt: skip
@pytest.mark.sampled(1, 6)
def test_each_part_is_switched(flag, part, parts, symattn) -> None:
    """A flag adds one part, or takes one away, for whomever the sheet is."""
    assert symattn("sheet", "--help").code == 0
    for audience in ("student", "author"):
        plain = parts("--for", audience)
        # Jacobians are a part of the backward pass.
        gone = {"backward", "jacobian"} if part == "backward" else {part}
        wanted = plain - gone if flag.startswith("--no-") else plain | {part}
        assert parts("--for", audience, flag) == wanted


@pytest.mark.heavy
def test_flags_over_the_table(tmp_path, parts, symattn) -> None:
    """What is said on the command line counts for more than the file, part by part."""
    path = tmp_path / "x.toml"
    table = '[sheet]\naudience = "author"\njacobian = false\ncommands = false\nplaces = 3\n'
    parts()
    path.write_text(FORMULA + table, "utf-8")
    assert parts() == {"drawing", "backward", "crosscheck", "audit"}
    assert parts("--for", "teacher") == {"drawing", "backward", "audit"}
    assert parts("--commands", "--no-audit") == {"drawing", "backward", "crosscheck", "commands"}
    page = symattn("sheet", "x.toml", "--format", "html", "-o", "-", "--places", "7").out
    assert "rounded to 7 decimal places" in page


def test_what_makes_a_sheet_again(symattn, tmp_path) -> None:
    """The commands on a sheet, typed where it was made, make it again, and the others run too."""
    path = tmp_path / "my notes" / "it's $1.toml"
    path.parent.mkdir()
    (tmp_path / "base.toml").write_text(FORMULA, "utf-8")
    path.write_text(
        'extends = "../base.toml"\n[sheet]\nplaces = 6\n[[claims]]\nholds = "A[0, 0] < 1"\n'
    )
    asked = [
        "sheet",
        "my notes/it's $1.toml",
        "--for",
        "author",
        "--no-jacobian",
        "--allow-outside",
    ]
    assert symattn(*asked, "--format", "tex").code == 0
    tex = (tmp_path / "sheets" / "it's $1.tex").read_text("utf-8")
    page = symattn(*asked, "--format", "html", "-o", "-").out
    (listing,) = page.split("<pre>")[1:]
    lines = listing.partition("</pre>")[0].replace("&#39;", "'").replace("&quot;", '"').split("\n")
    commands = [shlex.split(line) for line in lines]
    assert [words[:2] for words in commands] == [
        ["symattn", name] for name in ("sheet", "show", "verify", "audit")
    ]
    assert commands[0][2:] == [asked[1], "--for", "author", "--no-jacobian", "--allow-outside"]
    for _, *words in commands[1:]:
        assert symattn(*words).code == 0
    assert symattn(*commands[0][1:], "--format", "tex", "-o", "again").code == 0
    assert (tmp_path / "again" / "it's $1.tex").read_text("utf-8") == tex


def test_paper(symattn, tmp_path) -> None:
    """Both kinds of sheet are set for the paper that is asked for; without a word for A4."""
    (tmp_path / "x.toml").write_text(FORMULA, "utf-8")

    def head(*words):
        tex = symattn(*words, "x.toml", "--format", "tex", "-o", "-").out
        return tex.partition("\\usepackage")[0]

    assert "paper=a4]" in head("sheet") == head("sheet", "--paper", "a4")
    assert "paper=a4]" in head("audit") == head("audit", "--paper", "a4")
    assert "paper=letter]" in head("sheet", "--paper", "letter")
    assert "paper=letter]" in head("audit", "--paper", "letter")


def test_language(symattn, tmp_path) -> None:
    """Both kinds of sheet speak the language that is asked for, or one of a file of one's own."""
    (tmp_path / "x.toml").write_text(FORMULA, "utf-8")
    (tmp_path / "fr.toml").write_text('"Given" = "Données"\n"Roots" = "Racines"\n', "utf-8")

    def page(*words):
        return symattn(*words, "x.toml", "--format", "html", "-o", "-").out

    german = page("sheet", "--language", "de")
    assert '<html lang="de">' in german
    assert ">Gegeben<" in german
    assert '<html lang="en">' in page("sheet")
    assert ">Données<" in page("sheet", "--language", "fr.toml")
    red = page("audit", "--language", "fr.toml")
    assert '<html lang="fr">' in red
    assert ">Racines<" in red
    unknown = symattn("sheet", "x.toml", "--language", "fq")
    assert unknown.code == 2
    assert "unknown language 'fq': expected one of de, en" in unknown.err
