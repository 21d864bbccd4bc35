"""Text from files: in every output it is only text, and all of it."""

from __future__ import annotations

import json
import unicodedata
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from symattn import escaping
from symattn.corpus.records import spelled
from symattn.errors import Fault, Malformed, SymattnError, short
from symattn.escaping import latex as escape

from .hostile import FORBIDDEN, steering
from .notation import unescape
from .strategies import many

letters = st.one_of(
    st.characters(),
    st.sampled_from(FORBIDDEN),
    st.sampled_from("\\`*_{}[]()<>#+-.!|~@:/&$=\"' 1a"),
)
texts = st.text(letters, max_size=20)
MARKS = ["[x](y)", "![x](y)", "@me", "#1", "GH-7", "org/repo#1", "http://x.y", "www.x.y", "a@b.c",
    "<b>", "<!--", "&amp;", "`x`", "``", "**x**", "_x_", "~~x~~", "|", "$x$", "\\", "d_k",
    "1.", "1)", "-", "+", "*", "# x", "> x", "---", "===", "[x]: y", "[^1]",
    "\n", " ", "x"]  # fmt: skip
words = st.lists(st.sampled_from(MARKS), max_size=6)
marked = st.one_of(texts, words.map("".join), words.map(" ".join))


@pytest.mark.parametrize("c", FORBIDDEN)
def test_what_steers_or_hides_is_hidden(c: str) -> None:
    """Each such character is shown by its code, on terminals and in annotations."""
    assert escaping.is_hidden(c)
    for output in (escaping.visible, escaping.annotation, escaping.annotation_property):
        assert steering(output(f"a{c}b")) == set()


@pytest.mark.parametrize("text", ["café 猫 ½", "3\u00a0500", "a\u3000b", "❤\ufe0f", "שלום", "\\n"])
def test_letters_stay(text: str) -> None:
    """What can be seen is shown as it is: letters of any script, blanks of any width."""
    assert escaping.visible(text) == text
    assert escaping.json_text(text) == json.dumps(text, ensure_ascii=False)


@many
@given(texts)
def test_no_output_is_steered(text: str) -> None:
    """Nothing hidden gets through, whatever it stands beside; every output is one line."""
    for output in (
        escaping.visible, escaping.annotation, escaping.annotation_property,
        escaping.log_message, escaping.markdown, escaping.markdown_start,
        escaping.markdown_code, escaping.json_text, escaping.html_text, escaping.html_attribute,
        escape,
    ):  # fmt: skip
        assert steering(output(text)) == set()


class Texts(HTMLParser):
    """The texts of a page, and the values of attributes; nothing else may be there."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.values: list[str | None] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@many
@given(marked)
def test_html_shows_text_as_it_is(text: str) -> None:
    """A page has neither elements nor attributes by a text, and shows all of it."""
    line = "".join(" " if c.isspace() else c for c in text)
    page = Texts(
        f"<p title=\"{escaping.html_attribute(text)}\" class='{escaping.html_attribute(text)}'>"
        f"{escaping.html_text(text)}</p>"
    )
    assert page.tags == ["p"]
    assert page.values == [escaping.visible(line)] * 2
    assert page.text == escaping.visible(line)


@many
@given(texts | st.text("-–—'’“”,,", max_size=6))
@example("'’")
def test_latex_can_be_read_back(text: str) -> None:
    """What LaTeX shows is the text, without what is hidden."""
    line = "".join(" " if c.isspace() else "" if escaping.is_hidden(c) else c for c in text)
    assert unescape(escape(text)) == line.replace("\u2019", "'")


@many
@given(st.dictionaries(texts, texts | st.lists(texts), max_size=3))
def test_json_says_the_same(data: dict[str, object]) -> None:
    """Escaped, and equal when it is read; where there is half a pair of surrogates, readable."""
    shown = escaping.json_text(data)
    shown.encode()
    assert json.loads(shown) == named(data)


def named(data):
    """The same data, with halves of pairs of surrogates named, as no text can hold them."""
    match data:
        case str():
            return "".join(
                f"\\u{ord(c):04x}" if unicodedata.category(c) == "Cs" else c for c in data
            )
        case list():
            return [named(item) for item in data]
    return {named(key): named(value) for key, value in data.items()}


@many
@given(texts)
def test_an_annotation_ends_nowhere_else(text: str) -> None:
    """Its properties end at a comma or at two colons, its message with the line."""
    shown = escaping.annotation_property(text)
    assert not {",", ":", "\n", "\r"} & set(shown)
    shown = escaping.annotation(text)
    assert not {"\n", "\r"} & set(shown)
    assert escaping.visible(unquote(shown)) == escaping.visible(text)


PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def pieces(markdown: str) -> list[tuple[str, str]]:
    """Kind and content of what a document of one paragraph, or one item, has in it."""
    found = []
    for token in PARSER.parse(markdown):
        if token.type == "inline":
            found += [(child.type, child.content) for child in token.children or []]
        else:
            found.append((token.type.removesuffix("_open").removesuffix("_close"), ""))
    return found


def live(text: str) -> bool:
    """Whether GitHub would make a link of something in this text."""
    lowered = text.lower()
    return any(mark in lowered for mark in ("@", "#", "://", "www.", "gh-1", "gh-7"))


@pytest.mark.parametrize("mark", MARKS)
def test_each_mark_is_text(mark: str) -> None:
    """Alone, and at the start of a line."""
    shows_the_text(mark)
    starts_nothing(mark)
    starts_nothing(f"{mark} x")


@many
@given(marked)
@example("a\\`b`c")
@example("`` @x ` @y")
def test_markdown_shows_the_text(text: str) -> None:
    """A reader of Markdown sees what was written: text and code, and nothing live."""
    shows_the_text(text)


def shows_the_text(text: str) -> None:
    for before, after in [("p ", ""), ("# ", ""), ("| a | b |\n|---|---|\n| p ", " | q |")]:
        found = pieces(f"{before}{escaping.markdown(text)}{after}")
        inline = [(kind, content) for kind, content in found if content]
        assert {kind for kind, _ in inline} <= {"text", "code_inline", "text_special"}
        seen = "".join(content for _, content in inline)
        assert escaping.visible(text).strip() in seen
        assert not any(live(content) for kind, content in inline if kind == "text")


@pytest.mark.parametrize(
    ("definition", "use"),
    [
        ("[ref]: //evil", "see [ref]"),
        ("[^1]: //evil", "see[^1]"),
        ("[a b]: <//evil> 'title'", "[A  B][a b]"),
        ("[ref]:", "see [ref][] and ![ref]"),
    ],
)
def test_no_text_names_an_address_for_another(definition: str, use: str) -> None:
    """What defines a link or a footnote elsewhere is text, wherever a line begins with it."""
    for shown in (escaping.markdown(definition), escaping.markdown_start(definition)):
        found = pieces(f"{shown}\n//evil\n\n{escaping.markdown(use)}\n")
        assert {kind for kind, content in found if not content} <= {
            "paragraph",
            "text",
            "softbreak",
        }
        assert definition.split("]")[0] in "".join(content for _, content in found)


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@SUM(1)", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff201", "\u22121",
             "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u3000\uff1d1", "\ufe631", "\ufe6b1"],
)  # fmt: skip
def test_no_cell_is_a_formula(name: str) -> None:
    """A spreadsheet takes no name for a formula, also in signs of full width or behind blanks."""
    cell = escaping.spreadsheet(name)
    first = unicodedata.normalize("NFKC", cell).lstrip()[0]
    assert first in "'\\", cell


@many
@given(marked)
def test_markdown_at_the_start_of_a_line(text: str) -> None:
    """No heading, list, quotation, rule or table begins there."""
    starts_nothing(text)


def starts_nothing(text: str) -> None:
    found = pieces(f"- {escaping.markdown_start(text)}: x\n")
    kinds = {kind for kind, content in found if not content}
    assert kinds <= {"bullet_list", "list_item", "paragraph", "text"}
    inline = "".join(content for _, content in found)
    assert inline == f"{escaping.visible(text).strip()}: x".lstrip()
    # GitHub makes a box to tick of one.
    assert not escaping.markdown_start(text).startswith("[")


@many
@given(marked)
def test_code_in_markdown(text: str) -> None:
    """Code shows its text, in a line and in a table."""
    shown = escaping.visible(text)
    table = f"| a | b |\n|---|---|\n| {escaping.markdown_code(text)} | q |"
    codes = [content for kind, content in pieces(table) if kind == "code_inline"]
    assert [code.strip() for code in codes] == [shown.strip()]


#: Letters of passwords and tokens: any that an address may have.
secrets = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1).filter(
    lambda text: "://" not in text
)
KEY = "\N{KEY}"


@given(
    secrets,
    st.sampled_from(["me:{}@", "{}@", ":{}@"]),
    st.sampled_from(["", "?token={}", "?a=b&sig={}#{}", "#{}"]),
    st.sampled_from(["", "zip://a.zip::", "see 's3://bucket/x@y.md', ", "\n" * 990]),
    st.sampled_from(["", " can't be read", "\nhttps://docs/a?{}", " " * 40, "x" * 2000]),
)
@example("00:/", "me:{}@", "", "", "")
def test_addresses_keep_no_secrets(secret, who, asked, before, after) -> None:
    """Hosts and paths stay; who asks, and what is asked for, is told nowhere, wherever the
    address stands: in no message, however it is cut off, and in no label of a corpus."""
    secret = f"{KEY}{secret.replace('@', '').replace('?', '').replace('#', '')}{KEY}"
    # Where nothing parts a name from a password, a slash is where the path begins.
    secret = secret.replace("/", "") if who == "{}@" else secret
    asked, after = asked.format(secret, secret), after.format(secret)
    text = f"{before}s3://{who.format(secret)}host/posts/a.md{asked}{after}"
    whole = (escaping.without_secrets(text), spelled(text))
    cut = (
        *(short(text, length) for length in range(4, 60)),
        str(Malformed(text)),
        str(Malformed("gone", text)),
        str(Malformed([Fault(text, "a"), Fault("b", text)], text)),
        str(SymattnError(text)),
    )
    assert all("@host/posts/a.md" in one for one in whole)
    assert not any(KEY in one or "U0001f511" in one for one in (*whole, *cut))
    assert escaping.without_secrets(whole[0]) == whole[0]


@given(marked)
def test_what_is_no_address_stays(text) -> None:
    """Only what stands behind :// is looked at."""
    text = text.replace("://", "")
    assert escaping.without_secrets(text) == text
