"""Slips of the pen: what a single figure may have been written down as."""

from __future__ import annotations

from collections.abc import Iterator

from symattn.auditing.figures import Figure
from symattn.languages.sentence import Sentence


def pen_slips(figure: Figure) -> Iterator[Sentence]:
    """Ways to write a wrong figure in place of the right one, in words.

    One of them is never a cause that can be named: too many figures could have
    come out like this by chance.
    """
    if figure.printed is None or figure.off is None:
        return
    printed = figure.printed.count
    correct = printed - figure.off
    if not correct:
        return
    if printed == -correct:
        yield Sentence("the sign is wrong")
    if any(_is_shifted(printed, correct, shift) for shift in (10, 100, 1000)):
        yield Sentence("the decimal point is misplaced")
    if (printed < 0) == (correct < 0):
        a, b = str(abs(printed)), str(abs(correct))
        width = max(len(a), len(b))
        a, b = a.zfill(width), b.zfill(width)
        swapped = (b[:k] + b[k + 1] + b[k] + b[k + 2 :] for k in range(width - 1))
        if a != b and a in swapped:
            yield Sentence("two neighbouring digits are swapped")
        elif sum(x != y for x, y in zip(a, b, strict=True)) == 1:
            yield Sentence("one digit is another")


def _is_shifted(printed: int, correct: int, shift: int) -> bool:
    """Whether the right figure stands ``shift`` times too large or too small,
    as far as its places show."""
    return printed == correct * shift or abs(printed * shift - correct) * 2 <= shift
