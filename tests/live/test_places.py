"""Where live figures are found in a text, and where not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.live.places import ending, file_named, found, without, without_ending, written

SHOWN = [
    "``{symattn}`A` ``",
    "```md\n{symattn}`A`\n```\n",
    "~~~\n```{symattn:matrix} A\n```\n~~~\n",
    "`\\symattn{A}`",
    "{other}`A`",
    "{symattn:unknown}`A`",
    "`A`{.other}",
]
MEANT = [
    ("{symattn}`A`", ("symattn", "A", "line")),
    ("`A`{.symattn}", ("symattn", "A", "line")),
    ("{symattn:matrix}`A:.2f`", ("symattn:matrix", "A:.2f", "line")),
    ("`A`{.symattn-matrix}", ("symattn:matrix", "A", "line")),
    ("$\\symattn{A}$", ("symattn", "A", "mathematics")),
    ("```{symattn:step} A\n```\n", ("symattn:step", "A", "block")),
    (":::{symattn:step} A\n:::\n", ("symattn:step", "A", "block")),
    ("```{.symattn-step}\nA\n```\n", ("symattn:step", "A", "block")),
    (":::{note}\n{symattn}`A`\n:::\n", ("symattn", "A", "line")),
]


@pytest.mark.parametrize("text", SHOWN)
def test_what_is_shown_is_not_meant(text: str) -> None:
    """Code, and names that there are not, are left alone."""
    assert [*found(f"\n{text}")] == []
    assert without(text) == text


@pytest.mark.parametrize(("text", "what"), MEANT)
def test_what_is_meant(text: str, what: tuple[str, str, str]) -> None:
    """Both spellings of every kind are found, at their places."""
    source = f"before\n\n{text}\nbehind {{symattn}}`B`\n"
    first, last = found(source)
    assert (first.name, first.text, first.how) == what
    assert last.text == "B"
    assert source[slice(*first.span)].strip() in source
    assert without(source).split() == [
        *["before"], *without(text).split(), "behind"
    ]  # fmt: skip


@given(st.text("`{}symatn:. \\\n~A[]0-$", max_size=60))
def test_blanks_change_no_line(text: str) -> None:
    """Without its live figures a text has the same lines and columns; and none are left."""
    bare = without(text)
    assert [len(line) for line in bare.split("\n")] == [len(line) for line in text.split("\n")]
    assert [*found(bare)] == []


@given(st.text("ab`\n\r$", max_size=20), st.sampled_from(["myst", "pandoc"]))
def test_an_ending_goes_as_it_came(text, spelling) -> None:
    """What is added at the end of a text is taken away again, to the last character."""
    with_ending = ending(text, "post.md", spelling)
    if file_named(with_ending) == "post.md":
        assert without_ending(with_ending) == text


@pytest.mark.parametrize("spelling", ["myst", "pandoc"])
def test_what_is_written_is_found(spelling) -> None:
    """A figure that is written is found as what it is."""
    for how in ("line", "mathematics"):
        (one,) = found(written("A[0, 1]:.2f", how, spelling))
        assert (one.name, one.text, one.how) == ("symattn", "A[0, 1]:.2f", how)


def test_the_file_of_a_page() -> None:
    """A block names it, or the front matter."""
    assert file_named("---\ntitle: x\nsymattn: 'a b.toml'\n---\n") == "a b.toml"
    assert file_named("---\nsymattn: a.toml  # as printed\n---\n") == "a.toml"
    assert file_named("text\nsymattn: a.toml\n") is None
    assert file_named("---\nsymattn: a.toml\n---\n```{symattn:case} b.toml\n```\n") == "b.toml"
    assert file_named("---\nsymattn: a.toml\n---\n```{symattn:case}\n```\n") == "a.toml"
