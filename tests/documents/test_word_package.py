"""The file of a Word document: what is written of it, and what is refused."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.documents import word
from symattn.documents.files import article
from symattn.documents.passages import passages
from symattn.documents.word import elements, package
from symattn.errors import Malformed
from symattn.limits import COPIED, ELEMENTS, LETTERS, UNPACKED
from tests.documents.word_files import (
    MAIN,
    NAMESPACES,
    line,
    m,
    made,
    math,
    packed,
    parts,
    relations,
    run,
    table,
)

BODY = line(run("a = 0.18"), run("64 and 1,2"), run("34")) + line(math(m("b=0.5", "0")))
WRONG = "a = 0.1864 and 1,234\n$$b=0.50$$\n"


def told(data):
    """All that a file says of its parts, and their bytes."""
    with ZipFile(BytesIO(data)) as file:
        assert file.testzip() is None
        return {
            entry.filename: (
                file.read(entry),
                entry.date_time,
                entry.compress_type,
                entry.external_attr,
                entry.extra,
                entry.comment,
                entry.create_system,
            )
            for entry in file.infolist()
        }


def streamed(contents):
    """A file as it is written to what can't be gone back in: sizes stand behind the parts."""

    class Pipe(BytesIO):
        def tell(self):
            raise OSError

        def seek(self, *_):
            raise OSError

    pipe = Pipe()
    with ZipFile(pipe, "w", ZIP_DEFLATED) as file:
        for name, text in contents.items():
            file.writestr(name, text)
    return pipe.getvalue()


def peculiar(contents):
    """A file with comments, extra fields, a picture, and its parts in another order."""
    file = BytesIO()
    with ZipFile(file, "w") as whole:
        for k, (name, text) in enumerate(reversed(contents.items())):
            entry = ZipInfo(name, (1999, 12, 31, 23, 59, 58))
            entry.compress_type = ZIP_STORED if k % 2 else ZIP_DEFLATED
            entry.comment, entry.extra = f"part {k}".encode(), b"\x99\x99\x04\x00abcd"
            entry.external_attr = 0o640 << 16
            whole.writestr(entry, text)
        whole.writestr("word/media/image1.png", bytes(range(256)) * 40)
        whole.mkdir("word/embeddings")
        whole.comment = b"made by hand"
    return file.getvalue()


def saved_by_word(contents):
    """A file whose parts have no rights, as Word writes them."""
    file = BytesIO()
    with ZipFile(file, "w") as whole:
        for name, text in contents.items():
            entry = ZipInfo(name)
            entry.compress_type, entry.create_system = ZIP_DEFLATED, 0
            whole.writestr(entry, text)
            entry.external_attr = 0
    return file.getvalue()


FILES = {
    "saved by Word": saved_by_word,
    "packed": packed,
    "stored": lambda contents: packed(contents, ZIP_STORED),
    "streamed": streamed,
    "peculiar": peculiar,
}


@pytest.mark.parametrize("how", FILES)
def test_only_digits_are_written(how):
    """All other parts keep their bytes, order, times and compression, and all else of this
    one."""
    data = FILES[how](parts(BODY, styles=""))
    found = article(Path("x.docx"), data)
    assert found.source == WRONG
    new = found.encoded("a = 0.1921 and 1,235\n$$b=0.49$$\n")
    old_parts, new_parts = told(data), told(new)
    assert list(old_parts) == list(new_parts)
    document = old_parts["word/document.xml"]
    expected = document[0].replace(b">a = 0.18<", b">a = 0.19<").replace(b">64 and", b">21 and")
    expected = expected.replace(b">34<", b">35<").replace(b"b=0.5<", b"b=0.4<")
    expected = expected.replace(b">0<", b">9<")
    assert new_parts == old_parts | {"word/document.xml": (expected, *document[1:])}
    with ZipFile(BytesIO(data)) as a, ZipFile(BytesIO(new)) as b:
        assert a.comment == b.comment
        for entry in b.infolist():
            # What stands before a part says the same as the directory.
            assert struct.unpack_from("<H", new, entry.header_offset + 6)[0] == entry.flag_bits
    again = article(Path("x.docx"), new)
    assert again.source == "a = 0.1921 and 1,235\n$$b=0.49$$\n"
    assert told(again.encoded(WRONG)) == old_parts


def test_nothing_changes_where_nothing_is_corrected():
    """The bytes are those of the file, not such as say the same."""
    data = streamed(parts(BODY))
    assert article(Path("x.docx"), data).encoded(WRONG) is data


@pytest.mark.parametrize(
    ("old", "new"), [("9", "10"), ("10", "9"), ("0.5", "-0.5"), ("999", "1001"), ("-3", "3")]
)
@pytest.mark.parametrize("is_math", [False, True])
def test_longer_and_shorter_numbers(old, new, is_math):
    """Digits that are more or fewer than before."""
    for cut in range(len(old)):
        texts = [part for part in (old[:cut], old[cut:]) if part]
        content = math(m("x=", *texts)) if is_math else run("x=") + "".join(map(run, texts))
        found = article(Path("x.docx"), made(line(content, run(" so"))))
        assert old in found.source
        changed = found.source.replace(old, new)
        assert article(Path("x.docx"), found.encoded(changed)).source == changed


def test_a_sign_stands_with_its_number():
    """What is put in is part of the formula that it belongs to."""
    found = article(Path("x.docx"), made(line(run("so "), math(m("0.5")), run(" then"))))
    changed = found.source.replace("0.5", "-0.5")
    assert article(Path("x.docx"), found.encoded(changed)).source == changed


def test_plain_sections():
    """What stands in a section without markup is written there."""
    found = article(Path("x.docx"), made(line("<w:r><w:t><![CDATA[&3;]]></w:t></w:r>")))
    assert found.source == "&3;\n"
    document = told(found.encoded("&4;\n"))["word/document.xml"][0]
    assert b"<![CDATA[&4;]]>" in document


def test_notes_are_written_too():
    """Each part in its own text."""
    data = made(line(run("α 0.1")), footnotes=f"<w:footnote>{line(run('β 0.2'))}</w:footnote>")
    found = article(Path("x.docx"), data)
    new = told(found.encoded("α 0.3\nβ 0.4\n"))
    assert "β 0.4" in new["word/footnotes.xml"][0].decode()
    assert "α 0.3" in new["word/document.xml"][0].decode()


def test_two_bytes_a_letter():
    """A part in UTF-16 stays in it."""
    contents = parts(line(run("α 0.1")))
    text = contents["word/document.xml"].replace("UTF-8", "UTF-16")
    data = packed(contents | {"word/document.xml": text.encode("utf-16")})
    found = article(Path("x.docx"), data)
    new = told(found.encoded("α 0.2\n"))["word/document.xml"][0]
    assert new == text.replace("0.1", "0.2").encode("utf-16")


@pytest.mark.parametrize("new", ["a\n\n", "b\n", "a\nb\n"])
def test_what_stands_nowhere_is_not_written(new):
    """A line more, or what the reader put in."""
    found = article(Path("x.docx"), made(line("<w:r><w:tab/></w:r>") + line(math(m("a")))))
    assert found.source == "$$a$$\n"
    with pytest.raises(Malformed):
        found.encoded(new)


@given(st.data())
def test_runs_may_end_anywhere(data):
    """However Word cuts a text into runs, it is read and written alike."""
    text = "softmax([1, 0]) = [0.7311, 0.2698] so 0.5 * 3 = 1.5"
    ends = sorted(data.draw(st.sets(st.integers(1, len(text) - 1), max_size=20)))
    cuts = [text[i:j] for i, j in zip([0, *ends], [*ends, len(text)], strict=True)]
    found = article(Path("x.docx"), made(line(*map(run, cuts))))
    assert found.source == f"{text}\n"
    changed = found.source.replace("0.2698", "0.2689")
    again = article(Path("x.docx"), found.encoded(changed))
    assert again.source == changed
    assert [part.text.string for block in again.blocks for part in block.all_parts] == [
        changed.strip()
    ]


# What is refused


def lying(data, size):
    """A file that says of its document that it has another size."""
    with ZipFile(BytesIO(data)) as file:
        entry = file.getinfo("word/document.xml")
    place = data.rindex(b"word/document.xml") - 46
    assert entry.compress_type == ZIP_DEFLATED
    return data[: place + 24] + struct.pack("<L", size) + data[place + 28 :]


def twice():
    """A file with two parts of one name, but for the case of its letters."""
    contents = parts(line(run("a")))
    return packed(contents | {"word/DOCUMENT.xml": contents["word/document.xml"]})


def main_part(text):
    return packed(parts("") | {"word/document.xml": text})


def doctype(declared, content):
    return main_part(
        f"<!DOCTYPE x [{declared}]><w:document {NAMESPACES}><w:body>{line(run(content))}"
        "</w:body></w:document>"
    )


LAUGHS = "".join(
    f'<!ENTITY l{k} "{f"&l{k - 1};" * 10 if k else "ha"}">' for k in range(12)
)  # fmt: skip

REFUSED = {
    "empty": (lambda: b"", "can't be read as a Word document"),
    "text": (lambda: b"# So it is", "can't be read as a Word document"),
    "old": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old or encrypted"),
    "another_archive": (lambda: packed({"a.txt": "a"}), r"\[Content_Types\]"),
    "cut": (lambda: made(BODY)[:-30], "can't be read as a Word document"),
    "spreadsheet": (
        lambda: packed(
            parts("")
            | {
                "[Content_Types].xml": parts("")["[Content_Types].xml"].replace(
                    MAIN, MAIN.replace("wordprocessingml.document", "spreadsheetml.sheet")
                )
            }
        ),
        "not a Word document",
    ),
    "no_document": (
        lambda: packed(parts("") | {"_rels/.rels": relations(officeDocument="word/none.xml")}),
        "doesn't say which",
    ),
    "outside": (
        lambda: packed(
            parts("") | {"_rels/.rels": relations(officeDocument="../../../etc/passwd")}
        ),
        "doesn't say which",
    ),
    "external": (
        lambda: packed(
            parts("")
            | {
                "_rels/.rels": relations(officeDocument="word/document.xml").replace(
                    "/>", ' TargetMode="External"/>'
                )
            }
        ),
        "doesn't say which",
    ),
    "two_of_a_name": (twice, "one name"),
    "squeezed_otherwise": (lambda: packed(parts(BODY), ZIP_BZIP2), "compressed in a way"),
    "not_well_formed": (lambda: main_part("<a><b></a>"), "word/document.xml, line 1: not well"),
    "no_xml": (lambda: main_part("\0\1"), "not well-formed"),
    "not_utf8": (lambda: main_part(b"\xff<a/>"), "not valid UTF-8"),
    "entities": (lambda: doctype(LAUGHS, "&l11;"), "document type"),
    "outer_entity": (
        lambda: doctype('<!ENTITY x SYSTEM "file:///etc/passwd">', "&x;"),
        "document type",
    ),
    "deep": (lambda: made("<w:p>" * 5000 + "</w:p>" * 5000), "nested deeper"),
    "lying": (lambda: lying(made(BODY), 40), "can't be read as a Word document"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """With one line that says what it is."""
    make, message = REFUSED[name]
    with pytest.raises(Malformed, match=message) as caught:
        article(Path("x.docx"), make())
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_encrypted():
    """A part with a password, as archives have it."""
    data = bytearray(made(BODY))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + at] |= 1
            place = data.find(mark, place + 4)
    with pytest.raises(Malformed, match="encrypted"):
        article(Path("x.docx"), bytes(data))


def test_a_bomb(monkeypatch):
    """Some kilobytes that unpack to more than is read: no more of it is unpacked."""
    monkeypatch.setattr(package, "UNPACKED", replace(UNPACKED, most=100_000))
    bomb = made(line(run("0" * 5_000_000)))
    assert len(bomb) < 10_000
    with pytest.raises(Malformed, match="unpacks to more than 100000 bytes"):
        article(Path("x.docx"), bomb)


def test_many_elements(monkeypatch):
    """Elements without end."""
    monkeypatch.setattr(elements, "ELEMENTS", replace(ELEMENTS, most=1000))
    with pytest.raises(Malformed, match="more than 1000 elements"):
        article(Path("x.docx"), made("<w:p/>" * 1000))


def test_much_text(monkeypatch):
    """Text without end, in one piece or in many."""
    monkeypatch.setattr(elements, "LETTERS", replace(LETTERS, most=1000))
    for body in (line(run("a" * 1001)), line(run("a" * 100)) * 11):
        with pytest.raises(Malformed, match="more than 1000 characters of text"):
            article(Path("x.docx"), made(body))


def test_nothing_is_unpacked(tmp_path, monkeypatch):
    """Names that lead out of a folder name nothing but parts; other parts are not looked at."""
    monkeypatch.chdir(tmp_path)
    more = {"../../outside.txt": "x", "/root.txt": "x", "word/embeddings/a.bin": "x"}
    found = article(Path("x.docx"), packed(parts(BODY) | more))
    assert found.source == WRONG
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_another_layout_is_written_in_the_plain_one():
    """With something before its parts."""
    data = b"MZ something" + made(BODY)
    found = article(Path("x.docx"), data)
    assert found.source == WRONG
    new = found.encoded(WRONG.replace("0.50", "0.51"))
    assert article(Path("x.docx"), new).source == WRONG.replace("0.50", "0.51")
    assert list(told(new)) == list(told(data))


def test_what_is_not_written_again(monkeypatch):
    """Parts that are too large together, or damaged: nothing is read of these before."""
    data = packed(parts(BODY) | {"word/media/image1.png": "picture"}, ZIP_STORED)
    damaged = article(Path("x.docx"), data.replace(b"picture", b"another"))
    with pytest.raises(Malformed, match="can't be written again"):
        damaged.encoded(WRONG.replace("0.50", "0.51"))
    monkeypatch.setattr(package, "COPIED", replace(COPIED, most=100))
    with pytest.raises(Malformed, match="more than 100 bytes"):
        article(Path("x.docx"), data).encoded(WRONG.replace("0.50", "0.51"))


NESTED = math("<m:f><m:num>" * 60 + m("1") + "</m:num><m:den/></m:f>" * 60)


@pytest.mark.parametrize(
    "body",
    [
        line(NESTED),
        line(math("<m:rad><m:deg>" * 90 + m("1") + "</m:deg><m:e/></m:rad>" * 90)),
        line(math("<m:nary><m:sub>" * 90 + m("1") + "</m:sub></m:nary>" * 90)),
        "<w:tbl><w:tr><w:tc>" * 60 + line(run("1")) + "</w:tc></w:tr></w:tbl>" * 60,
        ("<w:tbl><w:tr><w:tc/><w:tc>" * 60) + line(math(m("=1"))) + "</w:tc></w:tr></w:tbl>" * 60,
        table(*[["0.5"] * 20] * 20),
        line(*[run("0.5", MONO) for MONO in ('<w:rFonts w:ascii="Courier"/>', "") * 300]),
        line(run("■(" * 3000)) + line(math(m("■(" * 3000))),
        '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr></w:tc></w:tr></w:tbl>',
    ],
    ids=range(9),
)
def test_awkward_documents_are_read(body):
    """In time that grows with their size, without recursion that ends in a traceback."""
    found = article(Path("x.docx"), made(body))
    assert all(one.pieces for one in passages(found))


# Fuzz


@pytest.mark.sampled(1, 7)
@pytest.mark.parametrize("seed", range(8))
def test_mutants(seed):
    """Bytes of the file and of its document changed, left out or doubled: read, or refused with a
    message."""
    chance = random.Random(seed)
    whole = made(BODY + table(["a", "0.5"], ["b", "=1"]) + line(NESTED), styles="")
    contents = parts(BODY + table(["a", "0.5"], ["b", "=1"]) + line(NESTED), styles="")
    outcomes = {True: 0, False: 0}
    for k in range(60):
        if k % 2:
            data = mutated(chance, whole)
        else:
            name = chance.choice([*contents])
            data = packed(contents | {name: mutated(chance, contents[name].encode())})
        try:
            found, _ = word.read(data)
            assert found.with_text(found.text.string) is data
        except Malformed:
            outcomes[False] += 1
        else:
            outcomes[True] += 1
    assert min(outcomes.values()) > 1


def mutated(chance, data):
    """A few of its bytes changed, a piece left out, or put in again elsewhere."""
    made = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        i = chance.randrange(len(made))
        j = min(len(made), i + chance.randint(1, 40))
        match chance.randrange(4):
            case 0:
                made[i] = chance.randrange(256)
            case 1:
                del made[i:j]
            case 2:
                made[i:i] = made[chance.randrange(len(made)) :][: j - i]
            case _:
                made[i:j] = made[i:j].swapcase()
    return bytes(made)


def test_the_checksum_counts():
    """A part that is not what it was packed as."""
    data = bytearray(packed(parts(BODY), ZIP_STORED))
    data[data.index(b"0.18") + 3] ^= 1
    with pytest.raises(Malformed, match="CRC"):
        article(Path("x.docx"), bytes(data))
