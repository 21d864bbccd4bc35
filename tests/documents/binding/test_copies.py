"""Copies of an article's results are as right or wrong as these, and as exact."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.auditing.audit import Audit, audit
from symattn.auditing.fixing import fixed
from symattn.cases.article import case_of
from symattn.documents.binding.binder import read
from symattn.documents.binding.copies import Copies, Exact, Result, Source
from symattn.documents.files import article
from symattn.documents.reading import ArticleNumber
from symattn.documents.text import Span
from symattn.verdicts import Verdict


def judged(text: str) -> Audit:
    return audit(case_of(read(article(Path("post.md"), text.encode()))))


def refuted(text: str) -> list[tuple[int, str, str]]:
    """The refuted figures by their lines, with what is correct."""
    found = [
        (figure.line or 0, figure.text, str(figure.correct))
        for figure in judged(text).figures
        if figure.verdict is Verdict.REFUTED
    ]
    return sorted(found)


SCORES = """# How hens look

```
0.4 * 0.6 + 0.7 * 0.1 = 0.31
0.4 * 0.2 + 0.7 * 0.8 = {second}
0.4 * 0.9 + 0.7 * 0.3 = {third}
```

| hen   | score |
|-------|-------|
| Ada   | 0.31  |
| Berta | {second}  |
| Cilly | {third}  |

Exponentials:

```
exp(0.31) = 1.363
exp({second}) = {power}
exp({third}) = 1.768
```

So Berta has {second} of these.
"""
RIGHT = {"second": "0.64", "third": "0.57", "power": "1.896"}


def test_a_wrong_result_makes_wrong_what_repeats_it_and_what_follows() -> None:
    """In a table, as an operand, in a sentence, and as its exponential; right ones stay so."""
    assert refuted(SCORES.format(**RIGHT)) == []
    wrong = {**RIGHT, "second": "0.54", "power": "1.716"}
    assert refuted(SCORES.format(**wrong)) == [
        (5, "0.54", "0.64"), (12, "0.54", "0.64"), (19, "0.54", "0.64"), (19, "1.716", "1.896"),
        (23, "0.54", "0.64"),
    ]  # fmt: skip
    roots = [one.line for one in judged(SCORES.format(**wrong)).roots]
    assert roots == [5]


def test_what_has_the_sign_that_a_result_lost_is_right() -> None:
    text = "# Signs\n\n$$0.2 \\cdot 0.4 - 0.3 \\cdot 0.9 = {}$$\n\nSo it is -0.19.\n"
    assert refuted(text.format("-0.19")) == []
    assert refuted(text.format("0.19")) == [(3, "0.19", "-0.19")]
    assert refuted(text.format("-0.17")) == [(3, "-0.17", "-0.19")]


def test_nothing_is_corrected_where_not_all_that_follows_can_be() -> None:
    text = SCORES.format(**{**RIGHT, "second": "0.54", "power": "1.716"})
    made = fixed(judged(text), judged)
    assert made.text == text
    assert "what follows from it can't be corrected with it" in {one.why for one in made.left}


def test_what_comes_of_exact_numbers_is_exact() -> None:
    """Of 0.64, which is all of its score, 1.901 is no exponential, as it is of what rounds to
    0.64."""
    assert refuted(SCORES.format(**{**RIGHT, "power": "1.901"})) == [(19, "1.901", "1.896")]
    assert refuted("# Hens\n\nThe score is 0.64.\n\n$$\\exp(0.64) = 1.901$$\n") == []


SHARES = """# Shares

```
softmax([2.0, 1.1, 0.3]) = {shares}
```

- Ada: {first}% of her attention
- Cilly: {third}%
- Berta: {second}%
"""


def test_percentages_are_copies_in_any_order() -> None:
    right = SHARES.format(shares="[0.63, 0.26, 0.11]", first=63, second=26, third=11)
    assert refuted(right) == []
    wrong = SHARES.format(shares="[0.73, 0.21, 0.06]", first=73, second=21, third=6)
    found = refuted(wrong)
    assert [one for one in found if one[0] > 4] == [
        (7, "73%", "63%"), (8, "6%", "11%"), (9, "21%", "26%"),
    ]  # fmt: skip


def numbers(texts: list[str], start: int) -> list[ArticleNumber]:
    return [ArticleNumber(x, Span(start + k, start + k), "unread") for k, x in enumerate(texts)]


#: Without zeros, which tell nothing.
decimals = st.from_regex(r"0\.[2-9]{3}", fullmatch=True)


@given(st.lists(decimals, min_size=2, max_size=6, unique=True), st.data())
def test_a_run_of_three_digits_is_found_and_others_are_not(texts, data) -> None:
    """All of it, also negated, and whole numbers in between say nothing."""
    results = [Result(k, text, 0) for k, text in enumerate(texts)]
    signs = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    said = [f"-{x}" if is_negative else x for x, is_negative in zip(texts, signs, strict=True)]
    mixed = [one for text in said for one in ("3", text)]
    found = Copies(numbers(mixed, 100), results).sources
    assert found == {
        100 + 2 * k + 1: Source(k, is_negative, is_rounded=False)
        for k, is_negative in enumerate(signs)
    }
    others = data.draw(st.lists(decimals.filter(lambda x: x not in texts), max_size=4))
    assert Copies(numbers(others, 100), results).sources == {}


def test_a_digit_that_stands_everywhere_is_no_copy() -> None:
    """Nor is it for what follows it: 1.0 before 2.5, which is one."""
    results = [Result(0, "1.0", 0), Result(50, "2.57", 50)]
    found = Copies(numbers(["1.0", "2.57"], 100), results).sources
    assert found == {101: Source(50, is_negated=False, is_rounded=False)}


def test_what_is_rounded_again_is_not_exact() -> None:
    results = [Result(0, "0.742", 0)]
    sources = Copies(numbers(["0.742", "0.74"], 100), results).sources
    assert {start: one.is_rounded for start, one in sources.items()} == {100: False, 101: True}
    exact = Exact(sources, [0])
    assert [start in exact for start in (100, 101)] == [True, False]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("$(50 + 50) \\times 1024 \\times 4 = 400$ KB", []),
        ("$50 \\times 512 \\times 4 = 102 \\text{ KB}$", []),
        ("$2 \\times 50 \\times 50 \\times 256 \\times 1027 \\approx 1.3 \\text{ billion}$", []),
        ("12 × 41.8 = 501.6 GFLOP", []),
        ("2 × 1000 × 500 × 2000 = 2,000,000,000 = 2 GFLOP", []),
        ("3 x 4  4 x 5 = 3 x 5", []),
        ("1024 × 1024 = 1.0M pixels", []),
        ("1024 × 1024 = 3.1M pixels", ["3.1"]),
        ("50 × 512 × 4 = 112 KB", ["112"]),
    ],
)
def test_results_are_in_their_units(said, wrong) -> None:
    """Of thousands, or of 1024 where they are bytes."""
    found = refuted(f"# Sizes\n\nIt is {said}.\n\nAnd $2 \\times 3 = 6$, $12 + 7.5 = 19.5$.\n")
    assert [text for _, text, _ in found] == wrong


def test_work_grows_with_the_numbers(monkeypatch) -> None:
    """Also where each goes on with all behind it, and none tells enough."""
    asked, before = [0], Copies._before

    def counted(self, text, last):
        asked[0] += 1
        return before(self, text, last)

    monkeypatch.setattr(Copies, "_before", counted)
    results = [Result(k, text, k) for k, text in enumerate(("0.5", "2", "3", "4", "6"))]
    counts = []
    for size in (500, 2_000):
        asked[0] = 0
        assert not Copies(numbers(["0.5"] * size, 10_000), results).sources
        counts.append(asked[0])
    assert counts[1] < 6 * counts[0]


def test_a_copy_of_a_number_that_stands_twice_may_be_of_both() -> None:
    """Of one block, where the order doesn't tell them apart: what is wrong may be the other."""
    texts = ("1.5875", "0.8250", "1.3396", "1.3396")
    results = [Result(k, text, 0) for k, text in enumerate(texts)]
    sources = Copies(numbers(["1.59", "0.83", "1.34"], 10), results).sources
    assert {sources[12].start, *sources[12].others} == {2, 3}
    assert not sources[10].others
