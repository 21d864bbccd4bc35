"""The door for articles: bytes to text, text to its form."""

import codecs
from pathlib import Path

import pytest

from symattn.documents.files import FORMS, article, is_article, read_article
from symattn.errors import Malformed
from symattn.limits import BYTES, LINES, NUMBERS


def test_forms_by_suffix():
    """A file's suffix tells its form, however it is spelled."""
    for name, form in [
        ("a.md", "markdown"),
        ("a.Rmd", "markdown"),
        ("a.qmd", "markdown"),
        ("a.TXT", "text"),
        ("a.tex", "latex"),
    ]:
        assert is_article(name)
        assert article(Path(name), b"x").form == form
    assert not is_article("cat-sat-mat")
    assert not is_article("a.toml")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_encodings(mark, encoding):
    """UTF-8 and UTF-16 are read; the text gives the same bytes back, and the mark is no column."""
    held = mark + "α = 1\r\nb\n\rc = 2".encode(encoding)
    read = article(Path("a.txt"), held)
    assert read.source.encode(encoding) == held
    assert read.encoding == encoding
    text = read.blocks[0].parts[0].text
    assert str(text).startswith("α = 1\nb")
    assert read.place(text.span().start) == (1, 1)
    assert read.line(1) == "α = 1"
    assert read.place(text.span(6, 7).start) == (2, 1)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b"a\nb\xff", "not text: byte 3, in line 2, is not valid UTF-8; save the file as UTF-8"),
        (b"a\0b", "binary, not text: a null character in line 1"),
        ("x".encode("utf-16-le"), "binary, not text"),
        (codecs.BOM_UTF16_LE + b"a", "is not valid UTF-16"),
        (b"a\n" * (LINES.most + 1), f"at most {LINES.most} are read"),
        (b"0.5\n\n" + b"1, " * NUMBERS.most, f":3: column {3 * NUMBERS.most - 2}: more than"),
        (b"0.5 " * NUMBERS.most + b"\n\n| a |\n|---|\n| 1 |", ":5: column 3: more than"),
    ],
)
def test_what_is_no_text(held, said, tmp_path):
    """Binary files, other encodings and endless ones are refused with their name and why."""
    path = tmp_path / "a.md"
    path.write_bytes(held)
    with pytest.raises(Malformed) as error:
        read_article(path)
    assert said in str(error.value)
    assert str(error.value).startswith(f"{path}")


def test_files_that_are_not_read(tmp_path):
    """Missing files, folders, long files and other suffixes are refused with what to do."""
    long, folder = tmp_path / "long.md", tmp_path / "folder.md"
    long.write_bytes(b"a" * (BYTES.most + 1))
    folder.mkdir()
    for path, said in [
        (tmp_path / "none.md", "can't be read: no such file or directory"),
        (folder, "is a folder, not a file"),
        (long, f"at most {BYTES.most} are read"),
    ]:
        with pytest.raises(Malformed) as error:
            read_article(path)
        assert said in str(error.value)
    with pytest.raises(Malformed) as error:
        article(Path("a.mdd"), b"")
    assert "did you mean .md?" in str(error.value)


def test_titles():
    """The title is that of the form, or the first heading of the highest level."""
    assert article(Path("a.md"), b"---\ntitle: T\n---\n# A\n").title == "T"
    assert article(Path("a.md"), b"## B\n# *A*  $x$\n# C\n").title == "A x"
    assert article(Path("a.md"), b"b\n").title == ""


def test_suffixes_are_in_lower_case():
    """What tells articles from the names of walkthroughs is compared in lower case."""
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in FORMS)
