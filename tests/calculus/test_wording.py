"""Words beside formulas: read only where all of them are known to leave a formula what it is."""

from __future__ import annotations

import pytest

from symattn.calculus.certificates import certificate, replay
from symattn.calculus.library import derive
from symattn.calculus.wording import Wording

from .said_beside import CHANGED, RIGHT


@pytest.mark.sampled(59)
@pytest.mark.parametrize(
    ("given", "odd"), [(given, odd) for given, texts in CHANGED.items() for odd in texts]
)
def test_what_changes_a_formula_is_not_passed_over(given, odd) -> None:
    """It is a fault, or what it says is judged, and does not hold."""
    judged = derive(given + odd)
    assert judged.faults or not judged.proved


@pytest.mark.sampled(15)
@pytest.mark.parametrize("text", RIGHT)
def test_right_texts_are_read(text) -> None:
    """With the words that people have for what they do."""
    judged = derive(text)
    assert judged.faults == ()
    assert judged.proved


@pytest.mark.parametrize(
    "word",
    [
        *(
            "not",
            "no",
            "never",
            "nor",
            "neither",
            "except",
            "without",
            "unless",
            "if",
            "only",
            "or",
        ),
        *("minus", "plus", "times", "twice", "half", "double", "wrong", "false", "fails", "mod"),
        *("approximately", "almost", "negative", "opposite", "instead", "less", "more", "than"),
        *("replaced", "changed", "over", "up"),
    ],
)
def test_words_that_turn_a_claim_are_not_known(word) -> None:
    """Wherever they stand."""
    wording = Wording({"u", "t"})
    for around in (f"{word} \0", f"\0 {word}", f"so {word} we get \0", f"\0, {word} by definition"):
        assert wording.strange(around) == word


def test_what_is_not_known_is_told() -> None:
    """Which words, and what to do about them."""
    (fault,) = derive("t: number\nu = t**2\nAllegedly $u = t*t$ holds.").faults
    assert fault.line == 3
    assert fault.message.startswith("'Allegedly' beside a formula is not known to leave it what")
    assert fault.message.endswith("write each formula on a line of its own, words behind '#'")


ASSUMED = "z, y: n\np = softmax(z)\nL = -\\sum_i y_i log p_i\n"
CLAIM = "dz = p - y\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        (f"assume sum(y) = 1\n{CLAIM}", "proved"),
        (f"{CLAIM}assume sum(y) = 1\n{CLAIM}", "refuted proved"),
        (f"# A\nassume sum(y) = 1\n## B\n{CLAIM}# C\n{CLAIM}", "proved refuted"),
        (f"## A\nassume sum(y) = 1\n{CLAIM}## B\n{CLAIM}", "proved refuted"),
        (f"assume sum(y) = 1\n## A\n{CLAIM}\\section{{B}}\n{CLAIM}", "proved proved"),
        (f"Exercise 1.\nassume sum(y) = 1\n{CLAIM}Exercise 2.\n{CLAIM}", "proved refuted"),
    ],
)
def test_an_assumption_holds_from_where_it_stands_in_its_exercise(text, statuses) -> None:
    """Not before it, and not under the next heading of its level; its proofs can be replayed."""
    judged = derive(ASSUMED + text)
    assert judged.faults == ()
    assert " ".join(line.status for line in judged.lines) == statuses
    proved = [line.number for line in judged.lines if line.proved]
    assert [*replay(judged.draft, certificate(judged))] == proved


def test_a_condition_behind_a_display_is_said_of_all_its_rows() -> None:
    """The last row has it for all of them."""
    rows = r"\frac{\partial p_i}{\partial z_j} &= p_i (0 - p_j) \\ &= -p_i p_j"
    rows += r" \quad \text{for } i \neq j"
    text = f"z: n\np = softmax(z)\n\\begin{{align}}\n{rows}\n\\end{{align}}"
    assert [line.status for line in derive(text).lines] == ["proved", "proved"]
