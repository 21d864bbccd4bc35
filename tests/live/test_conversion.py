"""Articles made live and plain again: the same bytes, and never another digit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from symattn.auditing.audit import audit
from symattn.cases import library
from symattn.documents.files import article
from symattn.errors import Malformed
from symattn.live.conversion import LiveArticle, live, plain
from symattn.live.figures import Text
from symattn.live.origins import origin
from symattn.live.places import found
from tests.documents.skeletons import skeleton

from .posts import FIGURES, POST

CORPUS = Path(__file__).parent.parent / "documents" / "corpus"
ARTICLES = sorted(path for path in CORPUS.glob("*.marked") if path.stem.endswith((".md", ".qmd")))


def made_live(
    path: Path, text: str, spelling: str = "myst", case: str | None = None
) -> LiveArticle:
    path.write_bytes(text.encode())
    audited = audit(library.load(path))
    return live(audited, "pandoc" if spelling == "pandoc" else "myst", path.name, case)


@pytest.mark.parametrize("spelling", ["myst", "pandoc"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_there_and_back(tmp_path: Path, spelling: str, end: str) -> None:
    """All figures become live, in text, tables and formulas; plain they are the same bytes."""
    path = tmp_path / "post.md"
    text = POST.rstrip("\n").replace("\n", "\r\n" if end == "\r\n" else "\n") + end
    made = made_live(path, text, spelling)
    assert (made.count, made.staying) == (len(FIGURES), ())
    assert not any(figure in made.text for figure in FIGURES)
    again, count, staying = plain(article(path, made.text.encode()))
    assert (again, count, staying) == (text, len(FIGURES), ())


@pytest.mark.sampled(0, 2)
@pytest.mark.parametrize("marked", ARTICLES, ids=lambda path: path.stem)
def test_there_and_back_of_a_corpus(tmp_path: Path, marked: Path) -> None:
    """Articles of every style, without their mistakes, come back the same; each live figure
    is the figure that the truth about the article knows there."""
    made = skeleton(marked.read_text("utf-8"), CORPUS / f"{Path(marked.stem).stem}.toml",
                    Path(marked.stem))  # fmt: skip
    path = tmp_path / marked.stem
    result = made_live(path, made.correct)
    assert result.count
    again, count, _ = plain(article(path, result.text.encode()))
    assert (again, count) == (made.correct, result.count)
    unsure = [item for item in result.staying if item.why.startswith("too little says")]
    assert bool(unsure) == (marked.stem == "what-a-dog-attends-to.md")


def test_figures_follow_their_inputs(tmp_path: Path) -> None:
    """Where an input changes, all live figures do."""
    path = tmp_path / "post.md"
    changed = made_live(path, POST).text.replace("{bmatrix} 1 &", "{bmatrix} 2 &")
    again, _, _ = plain(article(path, changed.encode()))
    assert r"\begin{bmatrix} 0.8808 & 0.1192 \\ 0.2689 & 0.7311 \end{bmatrix}" in again
    assert "The weight A[0, 1] = 0.1192 is small." in again


def test_from_a_case_file(tmp_path: Path) -> None:
    """A case file gives the figures of an article that could not give them itself."""
    (tmp_path / "post.toml").write_text(
        '[given]\nX = [[1, 0], [0, 1]]\n[steps]\nA = "softmax(X)"\n'
    )
    path = tmp_path / "post.md"
    made = made_live(path, POST, case="post.toml")
    assert "```{symattn:case} post.toml\n```" in made.text
    bare = made.text.replace(r"\mathrm{softmax}(X)", "B")
    again, count, _ = plain(article(path, bare.encode()))
    assert (count, "= 0.2689 is small" in again) == (len(FIGURES), True)


def test_a_case_file_that_gives_others(tmp_path: Path) -> None:
    """Only what the case file gives as it is printed becomes live."""
    (tmp_path / "post.toml").write_text(
        '[given]\nX = [[2, 0], [0, 1]]\n[steps]\nA = "softmax(X)"\n'
    )
    path = tmp_path / "post.md"
    made = made_live(path, POST, case="post.toml")
    assert "A[0, 1] = 0.2689 is" in made.text
    assert "| 1 | {symattn}`A[1, 0]:.3f` | {symattn}`A[1, 1]:.3f` |" in made.text
    assert {item.why for item in made.staying} == {
        "what it would be computed from gives another one"
    }
    assert made.count + len(made.staying) == len(FIGURES)


def test_live_figures_say_nothing_themselves(tmp_path: Path) -> None:
    """What stands in a live figure is no step of the article."""
    path = tmp_path / "post.md"
    path.write_text(POST + "\nY = {symattn}`2 * A`\n")
    figures = origin(path).figures
    assert figures.number("A[0, 1]") == Text("0.2689")
    with pytest.raises(Malformed, match="unknown name 'Y'"):
        figures.number("Y[0, 1]")


def test_what_is_two_things_at_once(tmp_path: Path) -> None:
    """A figure that is said to be of two entries would follow one of them only: it stays."""
    path = tmp_path / "post.md"
    path.write_text(POST)
    audited = audit(library.load(path))
    first, second = (
        next(figure for figure in audited.figures if figure.label.startswith(name))
        for name in ("A[0, 1]", "A[1, 0]")
    )
    assert first.span is not None
    claim = replace(second.claim, spans=((first.span,),) * 2)
    doubled = replace(audited, figures=(*audited.figures, replace(second, claim=claim)))
    made = live(doubled, "myst", "post.md")
    assert [item.why for item in made.staying] == ["it is A[0, 1] and A[1, 0]"]
    assert made.count == len(FIGURES) - 1


def test_names_that_formulas_of_myst_cannot_have(tmp_path: Path) -> None:
    """mystmd would not set them: they stay there, and become live in text, and for pandoc."""
    path = tmp_path / "post.md"
    text = POST.replace("A[0, 1]", "W_1[0, 1]").replace("A_{0,1}", "A").replace("$A", "$W_1")
    made = made_live(path, text)
    assert "The weight W_1[0, 1] = {symattn}`W_1[0, 1]:.4f`" in made.text
    whys = {item.why for item in made.staying}
    assert "MyST can't set W_1[0, 0]:.4f in a formula" in whys
    assert r"\symattn{W_1[0, 0]:.4f}" in made_live(path, text, "pandoc").text


def test_what_stays(tmp_path: Path) -> None:
    """Inputs and code stay; so does what is written in another style, and says why."""
    path = tmp_path / "post.md"
    text = POST + "\nAlso A[0, 1] = .269 and\n\n```\nA[0, 1] = 0.27\n```\n"
    made = made_live(path, text)
    assert "A[0, 1] = .269" in made.text
    assert "A[0, 1] = 0.27\n" in made.text
    whys = [item.why for item in made.staying]
    assert whys == ["it is written otherwise than the computed digits", "it stands in code"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("0.2689 is", "0.2698 is"), "1 figure is refuted, the first in line 7: correct it"),
        (("0.2689 is", "{symattn}`A[0, 1]` is"), "it has live figures already"),
    ],
)
def test_what_is_not_made_live(tmp_path: Path, change: tuple[str, str], why: str) -> None:
    """An article with a wrong figure, or a live one, is left alone."""
    with pytest.raises(Malformed, match=why):
        made_live(tmp_path / "post.md", POST.replace(*change))


def test_what_can_not_be_plain(tmp_path: Path) -> None:
    """All figures that can't be computed are told with their lines, and nothing is given."""
    path = tmp_path / "post.md"
    broken = made_live(path, POST).text.replace("A[0, 1]:.4f` is", "B[0]:.4f` is")
    with pytest.raises(Malformed, match=r"line 7: B\[0\]:.4f: unknown name 'B'"):
        plain(article(path, broken.encode()))


def test_what_is_no_number_stays_live(tmp_path: Path) -> None:
    """Matrices, steps and pictures stay, and what names their file."""
    path = tmp_path / "post.md"
    text = made_live(path, POST).text + "\n```{symattn:step} A\n```\n"
    again, count, staying = plain(article(path, text.encode()))
    assert count == len(FIGURES)
    assert [one.name for one in staying] == ["symattn:step"]
    assert [one.name for one in found(again)] == ["symattn:case", "symattn:step"]
