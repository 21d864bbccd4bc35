"""PDF to text: the lines of its pages, which are then read as plain text.

The library that reads the file is an extra, ``symattn[pdf-articles]``; the signs of a page,
each with its place on it, are put into lines of text here.

A matrix is a grid of words between two high brackets; it becomes ``[[1, 2], [3, 4]]``
in the line that it belongs to. What is set lower or higher becomes ``_{..}`` or ``^{..}``,
a fraction ``a/b``, and what stands under a root ``√(x)``.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from symattn.errors import Malformed, short
from symattn.limits import BRACKETS, DRAWN, PAGES, SET, SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pdfplumber.page import Page

#: Brackets, as characters or as pieces that fonts of mathematics build high ones from.
_FENCE = re.compile(r"[()\[\]\u239b-\u23ad\uf8e0-\uf8ff]|\(cid:[0-9]++\)")
#: Brackets with a character of their own are text where nothing high stands between them.
_PLAIN = frozenset("()[]")


@dataclass(frozen=True)
class PlacedText:
    """A piece of text of one size on one base line; ``down`` grows down the page."""

    text: str
    left: float
    right: float
    down: float
    size: float
    is_script: bool = False


@dataclass(frozen=True)
class DrawnRule:
    """A line that is drawn across: of a fraction, of a root, or of a table."""

    left: float
    right: float
    down: float


@dataclass(frozen=True)
class _Fence:
    pieces: tuple[PlacedText, ...]

    @property
    def left(self) -> float:
        return self.pieces[0].left

    @property
    def right(self) -> float:
        return self.pieces[0].right

    @property
    def reach(self) -> tuple[float, float]:
        return self.pieces[0].down, self.pieces[-1].down


def lines(signs: Iterable[PlacedText], rules: Iterable[DrawnRule] = ()) -> list[str]:
    """The lines of a page; an empty one stands where the page leaves room.

    >>> x, i = PlacedText("x", 0, 5, 10, 10), PlacedText("i", 5, 8, 11, 7)
    >>> lines([x, i, PlacedText("=", 11, 15, 10, 10)])
    ['x_{i} =']

    Raises :class:`Malformed` for a page of too many signs or brackets.
    """
    visible = [sign for sign in signs if sign.text.strip()]
    if len(visible) > SIGNS.most:
        raise Malformed(SIGNS.said(len(visible)))
    fences = _fences([sign for sign in visible if _FENCE.fullmatch(sign.text)])
    drawn = sorted(rules, key=lambda rule: rule.right - rule.left)
    if max(len(fences), len(drawn)) > BRACKETS.most:
        raise Malformed(BRACKETS.said(max(len(fences), len(drawn))))
    words = _words([sign for sign in visible if not _FENCE.fullmatch(sign.text)])
    words, left = _matrices(words, fences)
    plain = [piece for fence in left for piece in fence.pieces if piece.text in _PLAIN]
    words = _scripted(_words([*words, *plain]))
    for rule in drawn:
        words = _rooted(words, rule) or _divided(words, rule) or words
    return _set(words)


def _rows(signs: Iterable[PlacedText], apart: float) -> list[list[PlacedText]]:
    """Signs on one base line, from the top of the page, each row from the left."""
    rows: list[list[PlacedText]] = []
    for sign in sorted(signs, key=lambda sign: sign.down):
        if rows and sign.down - rows[-1][0].down <= apart:
            rows[-1].append(sign)
        else:
            rows.append([sign])
    return [sorted(row, key=lambda sign: sign.left) for row in rows]


def _words(signs: Iterable[PlacedText]) -> list[PlacedText]:
    """Signs that stand close together on one line as one."""

    def are_close(last: PlacedText, sign: PlacedText) -> bool:
        return (
            not last.text.endswith("√")
            and abs(last.size - sign.size) < 0.1 * sign.size
            and sign.left - last.right < 0.15 * sign.size
        )

    return _joined(signs, are_close)


def _joined(
    signs: Iterable[PlacedText], goes_on: Callable[[PlacedText, PlacedText], bool]
) -> list[PlacedText]:
    """Signs as they follow on their lines, those that go on with the one before as one."""
    words: list[PlacedText] = []
    for row in _rows(signs, 0.7):
        begin = len(words)
        for sign in row:
            if len(words) > begin and goes_on(last := words[-1], sign):
                text, right = last.text + sign.text, max(last.right, sign.right)
                words[-1] = replace(last, text=text, right=right)
            else:
                words.append(sign)
    return words


def _fences(pieces: Sequence[PlacedText]) -> list[_Fence]:
    """Pieces above each other as one bracket, from the left."""
    columns: dict[tuple[int, int], list[list[PlacedText]]] = {}
    for piece in sorted(pieces, key=lambda piece: piece.down):
        column = columns.setdefault((round(piece.left), round(piece.right)), [])
        if column and piece.down - column[-1][-1].down < 2 * piece.size:
            column[-1].append(piece)
        else:
            column.append([piece])
    fences = [_Fence(tuple(run)) for column in columns.values() for run in column]
    return sorted(fences, key=lambda fence: (fence.left, fence.reach))


def _matrices(
    words: list[PlacedText], fences: list[_Fence]
) -> tuple[list[PlacedText], list[_Fence]]:
    """Words, with each grid between two brackets as one; and the brackets that are left."""
    left: list[_Fence] = []
    pairs: list[tuple[_Fence, _Fence]] = []
    for fence in fences:
        at = next((i for i in range(len(left) - 1, -1, -1) if _match(left[i], fence)), None)
        if at is None:
            left.append(fence)
        else:
            pairs.append((left.pop(at), fence))
    grids = []
    for opening, closing in pairs:
        grid = _grid(words, opening, closing, pairs)
        if grid is None:
            left += [opening, closing]
            continue
        inner = {id(word) for row in grid for word in row}
        words = [word for word in words if id(word) not in inner]
        rows = [f"[{', '.join(word.text for word in row)}]" for row in grid]
        text = rows[0] if len(rows) == 1 else f"[{', '.join(rows)}]"
        down = (grid[0][0].down + grid[-1][0].down) / 2
        grids.append(PlacedText(text, opening.left, closing.right, down, grid[0][0].size))
    return words + grids, left


def _match(opening: _Fence, closing: _Fence) -> bool:
    (top, bottom), (other_top, other_bottom) = opening.reach, closing.reach
    alike = abs(top - other_top) < 1 and abs(bottom - other_bottom) < 1
    return alike and opening.right <= closing.left and opening.pieces[0].text not in (")", "]")


def _grid(
    words: list[PlacedText],
    opening: _Fence,
    closing: _Fence,
    pairs: Sequence[tuple[_Fence, _Fence]],
) -> list[list[PlacedText]] | None:
    """The rows between two brackets, all of the same columns; or none.

    The words of a row but one in the middle have no neighbours outside of brackets.
    """
    (top, bottom), size = opening.reach, opening.pieces[0].size
    near = [word for word in words if top - 2 * size < word.down < bottom + 3 * size]
    inside = [w for w in near if w.left > opening.left and w.right < closing.right]
    outside = [
        word
        for word in near
        if min(abs(word.right - opening.left), abs(word.left - closing.right)) < 1.2 * size
        and not any(a.left < word.left and word.right < b.right for a, b in pairs)
    ]
    rows = _rows(inside, 1.5)
    is_free = [all(abs(row[0].down - word.down) > 1 for word in outside) for row in rows]
    runs: list[list[int]] = []
    for at, free in enumerate(is_free):
        before = runs[-1][-1] if runs else None
        gap = rows[at][0].down - rows[before][0].down if before is not None else 0
        if not free:
            continue
        if before is not None and gap < 1.9 * size * (at - before) and at - before <= 2:
            runs[-1] += range(before + 1, at + 1)
        else:
            runs.append([at])
    is_high = len(opening.pieces) > 1 or opening.pieces[0].text not in _PLAIN
    if not runs and is_high and len(rows) == 1:
        runs = [[0]]
    middle = (top + bottom) / 2
    runs.sort(key=lambda run: abs((rows[run[0]][0].down + rows[run[-1]][0].down) / 2 - middle))
    if not runs or (len(runs[0]) == 1 and not is_high):
        return None
    grid = [rows[at] for at in runs[0]]
    return grid if _are_aligned(grid) else None


def _are_aligned(rows: list[list[PlacedText]]) -> bool:
    """Return whether the words of all rows fill the same columns."""
    spans = sorted((word.left, word.right) for row in rows for word in row)
    columns = [spans[0]]
    for left, right in spans[1:]:
        if left <= columns[-1][1] + 1:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return all(len(row) == len(columns) for row in rows)


def _scripted(words: list[PlacedText]) -> list[PlacedText]:
    """Small words right behind a larger one, and lower or higher, belong to it."""
    rows = _rows(words, 0.7)
    scripted: list[PlacedText] = []
    for at, row in enumerate(rows):
        near = [word for other in rows[max(at - 4, 0) : at + 5] for word in other]
        for word in row:
            base = next((larger for larger in near if _carries(larger, word)), None)
            if base is None:
                scripted.append(word)
            else:
                mark = "_" if word.down > base.down else "^"
                text = f"{mark}{{{word.text}}}"
                scripted.append(replace(word, text=text, down=base.down, is_script=True))
    return _joined(scripted, lambda _, word: word.is_script)


def _carries(base: PlacedText, script: PlacedText) -> bool:
    return (
        script.size < 0.85 * base.size
        and 0.5 < abs(script.down - base.down) < 0.6 * base.size
        and -0.2 * base.size < script.left - base.right < 0.2 * base.size
    )


def _beside(
    words: Iterable[PlacedText], rule: DrawnRule, above: float, below: float
) -> list[PlacedText]:
    """Words no wider than a rule, whose base lines are not too far above or below it."""
    return [
        word
        for word in words
        if rule.left - 1.5 <= word.left
        and word.right <= rule.right + 1.5
        and rule.down - above * word.size < word.down < rule.down + below * word.size
    ]


def _rooted(words: list[PlacedText], rule: DrawnRule) -> list[PlacedText] | None:
    """Words with a root whose line this is as one; none where it is no such line."""
    under = _beside(words, rule, 0, 1.6)
    roots = [
        word
        for word in words
        if word.text.endswith("√")
        and abs(word.right - rule.left) < 1.5
        and abs(word.down - rule.down) < 2 * word.size
    ]
    if not under or not roots:
        return None
    text = f"{roots[0].text}({_line(under)})"
    root = replace(under[0], text=text, left=roots[0].left, right=rule.right)
    return _without(words, [*under, roots[0]], root)


def _divided(words: list[PlacedText], rule: DrawnRule) -> list[PlacedText] | None:
    """Words with the fraction of this line as one; none where it is a line of a table,
    which is wider than what it parts, or parts what stands in columns."""
    over, under = _beside(words, rule, 1.4, 0), _beside(words, rule, 0, 1.8)
    if not over or not under or any(len(_rows(signs, 1.5)) > 1 for signs in (over, under)):
        return None
    signs = [*over, *under]
    width = max(word.right for word in signs) - min(word.left for word in signs)
    parts = [_line(over), _line(under)]
    if rule.right - rule.left - width > 6 or any("  " in part for part in parts):
        return None
    text = "/".join(part if part.isalnum() else f"({part})" for part in parts)
    # The line of a fraction runs through the middle of the signs beside it.
    down = rule.down + 0.25 * over[0].size
    fraction = PlacedText(text, rule.left, rule.right, down, over[0].size)
    return _without(words, signs, fraction)


def _without(
    words: list[PlacedText], parts: Sequence[PlacedText], whole: PlacedText
) -> list[PlacedText]:
    gone = {id(part) for part in parts}
    return [*(word for word in words if id(word) not in gone), whole]


def _set(words: list[PlacedText]) -> list[str]:
    """Words as lines, with room between them where the page has it."""
    lines: list[str] = []
    rows = _rows(words, 1.5)
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None:
            size, other = row[0].size, before[0].size
            if row[0].down - before[0].down > 1.7 * size or abs(size - other) > 0.15 * size:
                lines.append("")
        lines.append(_line(row))
    return lines


def _line(row: Iterable[PlacedText]) -> str:
    text, right = "", None
    for word in sorted(row, key=lambda word: word.left):
        gap = 0.0 if right is None else word.left - right
        # Columns stand further apart than words.
        text += (
            "" if gap < 0.12 * word.size else " " if gap < 0.9 * word.size else "  "
        ) + word.text
        right = word.right
    return text


def plain(text: str) -> str:
    """A sign in plain letters, where fonts of mathematics have letters of their own.

    >>> plain("𝑄"), plain("½")
    ('Q', '½')
    """
    is_letter = "\U0001d400" <= text[:1] <= "\U0001d7ff" or "\ufb00" <= text[:1] <= "\ufb06"
    return unicodedata.normalize("NFKC", text) if is_letter else text


#: What drawing a form counts for at least, in bytes.
_CALL = 200
#: What is said where the library is missing.
MISSING = "reading PDF takes pdfplumber: pip install 'symattn[pdf-articles]', or save it as text"


def text(data: bytes) -> str:
    """The text of a PDF file, a line for each line of its pages.

    Raises :class:`Malformed` where the library is missing, or can't read the file.
    """
    try:
        import pdfplumber
    except ImportError:
        raise Malformed(MISSING) from None
    try:
        with pdfplumber.open(io.BytesIO(data)) as document:
            if len(document.pages) > PAGES.most:
                raise Malformed(PAGES.said(len(document.pages)))
            budget = _Budget()
            pages = ["\n".join(_lines(page, budget)) for page in document.pages]
    except Malformed:
        raise
    except Exception as error:  # the library has no one error of its own
        message = short(str(error) or type(error).__name__)
        raise Malformed(f"can't be read as PDF: {message}; save it as text") from None
    return "\n\n".join(pages) + "\n"


class _Budget:
    """What the pages of a file may still take; a form may be drawn again and again, by forms
    that are themselves."""

    def __init__(self) -> None:
        self.drawn = self.set = self.on_page = 0

    def draw(self, size: int) -> None:
        self.drawn += size
        if self.drawn > DRAWN.most:
            raise Malformed(DRAWN.said(self.drawn))

    def sign(self) -> None:
        self.set, self.on_page = self.set + 1, self.on_page + 1
        if self.on_page > SIGNS.most:
            raise Malformed(SIGNS.said(f"{self.on_page} or more"))
        if self.set > SET.most:
            raise Malformed(SET.said(self.set))


def _lines(page: Page, budget: _Budget) -> list[str]:
    """The lines of a page, which is let go of then."""
    from pdfminer.pdfinterp import PDFPageInterpreter
    from pdfminer.pdftypes import list_value, stream_value
    from pdfplumber.page import PDFPageAggregatorWithMarkedContent

    class Device(PDFPageAggregatorWithMarkedContent):  # type: ignore[misc]
        def render_char(self, *arguments: Any, **named: Any) -> Any:
            budget.sign()
            return super().render_char(*arguments, **named)

    class Interpreter(PDFPageInterpreter):
        def render_contents(self, resources: Any, streams: Any, ctm: Any = None) -> None:
            # Every call costs something, also of a form that has nothing in it.
            sizes = (len(stream_value(one).get_data()) for one in list_value(streams))
            budget.draw(_CALL + sum(sizes))
            super().render_contents(resources, streams, ctm)

    budget.on_page = 0
    manager = page.pdf.rsrcmgr
    device = Device(manager, pageno=page.page_number, laparams=page.pdf.laparams)
    Interpreter(manager, device).process_page(page.page_obj)
    # The page would go over all of it once more, and count nothing.
    page._layout = device.get_result()
    try:
        return lines(_signs(page), _rules(page))
    finally:
        page.close()


def _signs(page: Page) -> Iterator[PlacedText]:
    """The upright characters of a page."""
    for char in page.chars:
        if char["upright"]:
            down = page.height - char["matrix"][5]
            yield PlacedText(plain(char["text"]), char["x0"], char["x1"], down, char["size"])


def _rules(page: Page) -> Iterator[DrawnRule]:
    """The lines that are drawn across a page, thin boxes among them."""
    for drawn in (*page.lines, *page.rects):
        if drawn["x1"] - drawn["x0"] > 3 and drawn["bottom"] - drawn["top"] < 1.5:
            yield DrawnRule(drawn["x0"], drawn["x1"], (drawn["top"] + drawn["bottom"]) / 2)
