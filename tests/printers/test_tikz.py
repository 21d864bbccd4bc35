"""Drawings in LaTeX."""

from __future__ import annotations

import re

import pytest

from symattn.drawing.picture import What, draw
from symattn.printers import blocks as b
from symattn.printers import latex, typst
from symattn.printers.latex import picture
from symattn.sheets.case_sheet import sheet


@pytest.mark.sampled(1, 4)
@pytest.mark.parametrize("what", ["flow", "gradients", "pattern", "all"])
@pytest.mark.parametrize("case", ["cat-sat-mat-causal", "training-step"])
def test_every_element_is_drawn(case: str, what: What) -> None:
    """Each shape is a path and each text a node, which says what the text says."""
    svg = draw(case, what)
    drawn = picture(svg)
    shapes = len(re.findall(r"<(?:rect|path|polygon)\b", svg))
    assert len(re.findall(r"^\\path\[", drawn, re.M)) == shapes
    nodes = re.findall(r"^\\node.*$", drawn, re.M)
    texts = re.findall(r"<text\b.*?</text>", svg, re.S)
    assert len(nodes) == len(texts) > 20
    for node, text in zip(nodes, texts, strict=True):
        letters = re.sub(r"<[^>]*>|&[^;]*;|\W", "", text)
        assert [x for x in re.sub(r"\\[a-z]+|\{[\d.]+\}", "", node) if x in letters] or not letters


def test_places_are_those_of_the_drawing() -> None:
    """Groups are moved, outlines are absolute or go on from where they are."""
    svg = (
        '<svg width="40" height="20"><g transform="translate(10 5)"><path fill="none" '
        'stroke="#0000ff" d="M1 2V4C5 6 7 8 9 10H3h-1v2z"/></g></svg>'
    )
    wanted = (
        "(11,7) -- (11,9) .. controls (15,11) and (17,13) .. (19,15) -- (13,15) -- (12,15) -- "
        "(12,17) -- cycle"
    )
    assert wanted in picture(svg)


@pytest.mark.parametrize("printed", [latex.document, typst.document])
def test_paper_has_a_drawing_where_it_is_asked_for(printed) -> None:
    """On the last page; pages for the browser have one unless it is refused."""
    plain, drawn = sheet("flash-attention"), sheet("flash-attention", drawing=True)
    assert any(isinstance(block, b.Picture) for block in plain.blocks)
    mark = re.compile(r"tikzpicture\}\[x=0.75bp|#drawing\(")
    assert not mark.search(printed(plain))
    text = printed(drawn)
    assert mark.search(text)
    body = printed(plain).removesuffix("\\end{document}\n").rstrip()
    assert text.partition("{document}")[2].startswith(body.partition("{document}")[2])
