"""Packages for Canvas: questions with blanks that take what is spelt right."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import Decimal
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.cases import library
from symattn.exercises.exercise import exercise
from symattn.exercises.qti import canvas
from symattn.exercises.qti.canvas import spellings

from ..hostile import TEXT, steering
from ..strategies import many
from .test_qti import NAMES, backward

_SPACE = {"q": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"}


def question(text: str) -> ET.Element:
    """A question by itself."""
    return ET.fromstring(text)


@many
@given(st.decimals(-1000, 1000, allow_nan=False, allow_infinity=False, places=7), st.integers(0, 5))
def test_spellings(number: Decimal, places: int) -> None:
    """What is spelt is within a unit of the last place, whatever is to that many places and
    within it is spelt, and nothing is spelt twice."""
    texts = spellings(number, places)
    assert len({*texts}) == len(texts)
    unit = Decimal(1).scaleb(-places)
    for text in texts:
        plain = text.replace(",", ".").replace("−", "-")
        assert abs(Decimal(plain) - number) <= unit
    for step in range(-2, 3):
        near = round(number, places) + step * unit
        assert (f"{near:.{places}f}" in texts) == (abs(near - number) <= unit) or near == 0


def test_common_spellings() -> None:
    """Zeros at the end, a zero before the point, the sign and the point itself are as people
    write them."""
    assert {"0.5", "0.50", ".5", "0,5", "0.5000", "0.5001"} <= {*spellings(Decimal("0.5"), 4)}
    assert {"2", "2.0", "2,00"} <= {*spellings(Decimal(2), 2)}
    assert {"-0.25", "−0.25", "-,25"} <= {*spellings(Decimal("-0.25"), 2)}
    assert "0.51" not in spellings(Decimal("0.5065"), 4)


@pytest.mark.sampled(2, 6)
@pytest.mark.parametrize("case", NAMES)
def test_blanks(case: str) -> None:
    """Each blank in the text has answers, the first of which scores; together they score all;
    and the right digits of each figure are among them."""
    made = backward(case)
    root = question(canvas.question(made))
    (text, *_) = (x.text or "" for x in root.iterfind("presentation/material/mattext"))
    named = re.findall(r"\[(\w+)\]", text)
    responses = root.findall("presentation/response_lid")
    assert [x.findtext("material/mattext") for x in responses] == named
    assert [x.get("ident") for x in responses] == [f"response_{x}" for x in named]
    labels = [x.get("ident") for x in root.iter("response_label")]
    assert len({*labels}) == len(labels)
    scored = [x.text for x in root.iter("varequal")]
    assert scored == [f"{x}_1" for x in named]
    total = sum(float(x.text or 0) for x in root.iter("setvar"))
    assert total == pytest.approx(100, abs=0.005 * len(named))
    right = [
        f"{x:f}"
        for part in made.parts
        for row in made.right(part)
        for x in row
        if not x.is_infinite()
    ]
    for response, digits in zip(responses, right, strict=True):
        accepted = {x.findtext("material/mattext") for x in response.iter("response_label")}
        assert digits.replace("-0.0000", "0.0000") in accepted


def test_a_package() -> None:
    """A quiz that draws one of the versions; titles are text."""
    evil = f"<b>&amp;\"']]>{TEXT}"
    case = replace(library.load("cat-sat-mat"), title=evil, tokens=(evil,) * 3)
    made = [replace(exercise(case), version=k) for k in (1, 2)]
    whole = canvas.package("cat-sat-mat", evil, [*map(canvas.question, made)])
    archive = ZipFile(io.BytesIO(whole))
    manifest = archive.read("imsmanifest.xml").decode()
    assert 'type="imsqti_xmlv1p2"' in manifest
    (path,) = re.findall(r'file href="(.*?)"', manifest)
    text = archive.read(path).decode()
    assert not steering(text)
    section = ET.fromstring(text).find("q:assessment/q:section/q:section", _SPACE)
    assert section is not None
    assert section.findtext("q:selection_ordering/q:selection/q:selection_number",
                            namespaces=_SPACE) == "1"  # fmt: skip
    assert len(section.findall("q:item", _SPACE)) == 2


def test_proofs_are_essays() -> None:
    """Who marks them sees the derivations."""
    root = question(canvas.question(exercise(library.load("cat-sat-mat"), "proof")))
    assert "essay_question" in [x.text for x in root.iter("fieldentry")]
    asked, working = (
        root.findtext(f"{path}/material/mattext", "")
        for path in ("presentation", "itemfeedback/flow_mat")
    )
    assert len(working) > 2 * len(asked) > 0
