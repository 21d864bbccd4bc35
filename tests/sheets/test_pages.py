"""What stands on a sheet is true, and all that should stands on it.

Every page is read back by :mod:`pages <.pages>`: a reader that shares nothing
with the printers holds each number against an independent recomputation.
"""

# Blocks are read here with LaTeX for their formulas.
# mypy: disable-error-code="comparison-overlap"

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from symattn.cases.case import make
from symattn.cases.settings import Detail
from symattn.errors import Malformed
from symattn.printers import blocks as b
from symattn.printers import layout
from symattn.sheets import case_sheet, steps
from symattn.solution.solution import Solution, solve
from symattn.verification import verify

from ..notation import matrix
from . import walkthroughs
from .pages import Page, agree, listing, of, paragraphs, places_of, plain
from .truth import BUNDLED, DIGITS, PUBLISHED, Truth, exactly, latex_name

Reads = Callable[..., Page]

NAMES = PUBLISHED
OWN = sorted(walkthroughs.ALL)
DETAILS = ("brief", "full")

#: Quantities whose rows are no tokens; all others' rows are, where there are tokens.
OTHER_ROWS = {
    **dict.fromkeys(NAMES, ("W_Q", "W_K", "W_V", "W_O", "V_other")),
    "parts": ("v", "c"),
    "heads": ("W_out", "bias", "mean"),
    "keys": ("K",),
    "many": ("K",),
    "large": ("W",),
    "base": ("W",),
    "variant": ("W",),
    "turned": ("X", "K", "Kt", "A", "D"),
}
#: Weights whose columns are no tokens.
OTHER_COLUMNS = {"heads": ("mean",), "keys": ("A",), "many": ("A",)}

#: Mathematics that the reader can't judge, and why.
UNREADABLE = {
    r"\operatorname{scatter}": "the formula doesn't say where the entries go",
    r"\operatorname{spread}": "nor to which shape",
    r"+ \cdots": "a long closed form shows its beginning and its end",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the walkthroughs of our own."""
    place = tmp_path_factory.mktemp("walkthroughs")
    for name, text in walkthroughs.ALL.items():
        (place / f"{name}.toml").write_text(text, "utf-8")
    return place


@pytest.fixture(scope="module")
def page(folder: Path) -> Reads:
    """Reads the page of a walkthrough, once."""

    @cache
    def read(name: str, detail: Detail = "brief", places: int = 4) -> Page:
        path = (BUNDLED if name in NAMES else folder) / f"{name}.toml"
        rows = {latex_name(x) for x in OTHER_ROWS.get(name, ())}
        columns = {latex_name(x) for x in OTHER_COLUMNS.get(name, ())}

        def labelled(quantity: str, axis: int) -> bool:
            other = columns if axis else rows
            return quantity.removeprefix(r"\mathrm{d}") not in other and quantity[:2] != "J "

        sheet = case_sheet.sheet(solve(path), detail=detail, places=places, audience="author")
        return Page(sheet, truth(path), labelled, places)

    return read


truth = cache(Truth)


def is_large(page: Page) -> bool:
    """Whether only a few entries are worked."""
    return max(x.size for x in page.truth.values.values()) > 60


def shown(array: np.ndarray) -> set[tuple[int, int]]:
    """The places of which a page has the entries: of more than 256 the first four rows."""
    return {(i, j) for i, j in places_of(array) if array.size <= 256 or i < 4}


def gradient(name: str) -> str:
    return rf"\mathrm{{d}}{latex_name(name)}"


def has_symbols(page: Page, quantity: str) -> bool:
    """Whether a quantity changes with the symbols of the upstream gradient."""
    held = [page.truth.find(quantity, world) for world in page.truth.worlds()]
    return not all(agree(x, held[0]) for x in held)


def is_short(page: Page, quantity: str, place: tuple[int, int]) -> bool:
    """Whether an entry is a decimal with so few places that no rounding is shown."""
    for world in page.truth.worlds():
        grid = np.atleast_2d(np.asarray(page.truth.find(quantity, world), dtype=object))
        number = grid[place]
        if number != -mpmath.inf and exactly(number) * 10 ** max(page.places, 6) % 1:
            return False
    return True


@pytest.mark.sampled(0, 2)
@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("name", NAMES + OWN)
def test_all_on_a_page_is_true(page: Reads, name: str, detail: str) -> None:
    """Every equation, entry, definition and shade holds; hardly anything can't be read."""
    made = page(name, detail)
    assert all(any(mark in latex for mark in UNREADABLE) for latex in made.unread)
    assert len(made.unread) <= (0 if name in NAMES else 9)
    counted = sum(made.counts[kind] for kind in ("equal", "cells", "rounded"))
    assert counted > (250 if name in NAMES else 20)


@pytest.mark.heavy
def test_how_much_is_read(page: Reads) -> None:
    """The reader reads thousands of numbers of every kind."""
    made = [page(name, detail) for name in NAMES for detail in DETAILS]
    total = sum((p.counts for p in made), start=type(made[0].counts)())
    floors = {"equal": 2800, "numbers": 300, "cells": 3800, "rounded": 4200, "definitions": 3900}
    floors |= {"chains": 1800, "statements": 450, "shades": 480, "products": 15}
    assert all(total[kind] >= least for kind, least in floors.items()), total
    assert page("large").counts["terms"] >= 90


@pytest.mark.sampled(0, 9)
@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("name", NAMES + OWN)
def test_all_entries_are_on_the_page(page: Reads, name: str, detail: str) -> None:
    """Every entry of what is given stands there in closed form; every entry of every step and
    every gradient rounded, where it is no short decimal; on a full page that of a small case
    in closed form too, unless it is worked in decimals."""
    made = page(name, detail)
    truth = made.truth
    listed = [name for name in truth.steps if name not in truth.copies]
    assert made.copies == {latex_name(name) for name in truth.copies}
    for quantity in truth.given:
        array = truth.values[quantity]
        assert made.exact[latex_name(quantity)] == shown(array), quantity
    written = {latex_name(n): truth.values[n] for n in listed}
    written |= {gradient(n): truth.values[n] for n in truth.wrt}
    for quantity, array in written.items():
        if quantity == gradient(truth.output):
            assert made.exact[quantity] >= shown(array), quantity
            continue
        closed = detail == "full" and not is_large(made) and quantity not in made.numbered
        if closed and not has_symbols(made, quantity):
            assert made.exact[quantity] >= shown(array), quantity
        for place in shown(array) - made.near[quantity]:
            assert place in made.exact[quantity], quantity
            assert is_short(made, quantity, place), (quantity, place)


@pytest.mark.sampled(1, 9)
@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("name", NAMES + OWN)
def test_row_sums_and_jacobians(page: Reads, name: str, detail: str) -> None:
    """Every row of exponentials has its sum, every softmax with up to six keys its Jacobians."""
    made = page(name, detail)
    for softmax in made.truth.softmaxes:
        scores = made.truth.scores(softmax)
        rows = len({i for i, _ in shown(scores)})
        for i in range(rows):
            row_sum = f"{made.truth.letter}_{{{softmax.mark}{i}}}"
            assert made.exact[row_sum] == {(0, 0)}
            short = is_short(made, row_sum, (0, 0))
            assert made.near[row_sum] == {(0, 0)} or short
        named = softmax.step in made.truth.reached and softmax.scores in made.truth.values
        for i in range(rows):
            key = f"J {softmax.step} {i}"
            few = named and scores.shape[1] <= 6
            every = places_of(np.empty((scores.shape[1],) * 2)) if few else set()
            assert made.exact[key] | made.near[key] == every
            assert detail == "brief" or made.exact[key] in (every, set())


def zeros(held: list[Any], i: int) -> int:
    """How many entries of a row are 0 or masked, whatever the symbols are."""
    rows = [np.atleast_2d(x)[i] for x in held]
    return sum(all(not x or x == -mpmath.inf for x in entry) for entry in zip(*rows, strict=True))


def main_row(made: Page) -> int:
    """The row of the first softmax with the most keys, and then the fewest scores of 0."""
    if not made.truth.softmaxes:
        return 0
    scores = made.truth.scores(made.truth.softmaxes[0])
    return min(
        range(len(scores)),
        key=lambda i: (sum(x == -mpmath.inf for x in scores[i]), zeros([scores], i)),
    )


def telling_row(made: Page, quantity: str) -> int:
    """The row with the fewest entries that are 0, of several the main row or else the first."""
    held = [made.truth.find(quantity, world) for world in made.truth.worlds()]
    rows = range(len(np.atleast_2d(held[0])))
    return min(rows, key=lambda i: (zeros(held, i), i != main_row(made)))


def expected_work(made: Page, quantity: str) -> set[tuple[int, int]]:
    """The entries of a step, or of a gradient, that are worked."""
    rows, columns = np.atleast_2d(made.truth.find(quantity, next(made.truth.worlds()))).shape
    if "full" in listing(made.sheet)[0] and not is_large(made):
        return {(i, j) for i in range(rows) for j in range(columns)}
    most = 2 if is_large(made) else 8
    return {(telling_row(made, quantity), j) for j in range(min(columns, most))}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize("name", NAMES + OWN)
def test_entries_are_worked(page: Reads, name: str, detail: str) -> None:
    """A brief page works the most telling row of every step and gradient, weights among them,
    a full one all rows, and a page of a large case two entries; masks are shown as a whole."""
    made = page(name, detail)
    truth = made.truth
    for step, text in truth.steps.items():
        masks = text.startswith(("causal(", "mask(")) and text.endswith(")")
        weights = text.startswith("softmax(") and text.count("softmax(") == 1
        if step not in truth.copies and not masks and not (weights and is_large(made)):
            wanted = expected_work(made, latex_name(step))
            assert made.chained[latex_name(step)] >= wanted, step
        if step in PRODUCTS.get(name, ()):
            assert made.worked[latex_name(step)] == expected_work(made, latex_name(step)), step
    for other in truth.wrt:
        held = made.truth.find(gradient(other), next(truth.worlds()))
        same = made.chained[gradient(other)] == set()
        if other == truth.output or has_symbols(made, gradient(other)):
            continue
        if agree(held, 0):
            assert gradient(other) in made.nothing or made.chained[gradient(other)] or same
        elif not same:
            assert made.chained[gradient(other)] >= expected_work(made, gradient(other)), other


@pytest.mark.heavy
def test_the_row_that_is_worked(page: Reads) -> None:
    """Not the first, of which a causal mask leaves one key, nor one with zeros in it."""
    assert {i for i, _ in page("length-4-causal").chained["A"]} == {3}
    assert {i for i, _ in page("cat-sat-mat").chained["S"]} == {2}
    assert {i for i, _ in page("cat-sat-mat-padding").chained["A"]} == {2}


#: Steps whose entries are sums or quotients of others', with nothing to leave out.
PRODUCTS = {
    "cat-sat-mat": ("S", "T", "Y"),
    "length-4-causal": ("Q", "K", "V", "S", "T", "Y"),
    "the-fox-jumps": ("Q", "K", "V", "S", "T", "Y", "O"),
    "the-cat-sleeps": ("Q", "K", "V", "S", "T", "Y"),
    "large": ("Q", "S", "Y"),
    "many": ("S", "Y"),
}


# -- what else stands on a page ----------------------------------------------------


def text_of(made: Page) -> list[str]:
    """The paragraphs of a page, without markup."""
    return [plain(block.text) for block in made.sheet.blocks if isinstance(block, b.Paragraph)]


@pytest.mark.sampled(0, 6)
@pytest.mark.parametrize("name", NAMES + OWN)
def test_sections(page: Reads, name: str) -> None:
    """Steps in their order, gradients from the output back, each under its own heading."""
    made = page(name)
    truth = made.truth
    listed = [latex_name(step) for step in truth.steps if step not in truth.copies]
    names = [text.partition(" = ")[0].partition(" \N{EN DASH}")[0] for text in made.headings]
    backward = names.index("Backward")
    assert names[:2] == ["Given", "Forward"]
    assert names[2 : 2 + len(listed)] == listed
    compared = names[2 + len(listed) : backward]
    assert compared == (["Compared with " + truth.document["extends"]] if truth.base else [])
    jacobians = [text for text in names[backward:] if text.startswith("The softmax Jacobian of ")]
    assert names[backward + 1 :][: len(jacobians)] == jacobians
    gradients = [text for text in names[backward:] if text[:10] == r"\mathrm{d}"]
    order = [gradient(quantity) for quantity in reversed(truth.values) if quantity in truth.reached]
    assert gradients == [text for text in order if text in gradients]
    asked = {gradient(quantity) for quantity in truth.wrt} - {gradient(truth.output)}
    assert asked <= set(gradients) | made.nothing
    differs = ["Where the document differs"] if truth.document.get("claims") else []
    assert names[backward + 1 + len(jacobians) + len(gradients) :] == [
        *differs,
        "Cross-check",
        "Reproduce this sheet",
    ]


def roles(*made: Page) -> dict[str, str]:
    """What steps are called in the headings."""
    texts = [text for one in made for text in one.headings if " \N{EN DASH} " in text]
    return {text.partition(" = ")[0]: text.partition(" \N{EN DASH} ")[2] for text in texts}


@pytest.mark.heavy
def test_what_steps_are_called(page: Reads) -> None:
    """Steps of attention have their names of the field, others have none."""
    assert roles(page("the-fox-jumps"), page("cat-sat-mat-padding")) == {
        **dict.fromkeys("QKVO", "projection"),
        "S": "scores",
        "T": "scaled scores",
        "M": "masked scores",
        "A": "attention weights",
        "Y": "output",
    }
    assert roles(page("parts")) == {"A": "attention weights"}
    assert roles(page("large")) == {
        "Q": "projection",
        "S": "scaled scores",
        "A": "attention weights",
        "Y": "output",
    }


@pytest.mark.heavy
def test_the_opening(page: Reads, folder: Path) -> None:
    """Title, tokens, note and source as the file has them; a bare case says what it can."""
    made = page("cat-sat-mat-causal")
    document = made.truth.document
    assert (made.sheet.name, made.sheet.title) == ("cat-sat-mat-causal", (document["title"],))
    assert made.sheet.subtitle == ("cat, sat, mat",)
    note, source, promise, *_ = text_of(made)
    assert note == document["note"]
    assert source == f"After: {document['source']}."
    assert "rounded to 4 decimal places (ties to the even digit)" in promise
    assert "This case is large" not in promise
    assert "This case is large" in text_of(page("large"))[0]
    assert "rounded to 4 decimal places (towards zero)" in text_of(page("names"))[0]
    assert page("names").sheet.subtitle == ("names",)
    path = folder / "bare.toml"
    path.write_text("[given]\nx = 1\n[steps]\ny = '2 * x'\n", "utf-8")
    assert case_sheet.sheet(solve(path)).title == ("bare",)


@pytest.mark.heavy
def test_where_the_gradient_comes_from(page: Reads) -> None:
    """A given upstream gradient, a loss that is a sum of all outputs, or no loss at all."""
    given, asked, made, none = (
        next(text for text in text_of(page(name)) if text.startswith("Write"))
        for name in ("symbols", "wide", "parts", "please-study-man")
    )
    assert "is given:" in given
    # Without a source and without claims there is no document.
    assert "no loss" not in given + asked + made
    assert "every entry of the upstream gradient is 1" in asked
    assert "The document has no loss." in none


@pytest.mark.sampled(1, 4)
@pytest.mark.parametrize("name", NAMES + OWN)
def test_the_cross_check_names_every_quantity(page: Reads, name: str) -> None:
    """Each quantity and each gradient asked for, with what the comparison found."""
    made = page(name)
    truth = made.truth
    found = [
        tuple(plain(cell) for cell in row[start : start + 4])
        for start in (0, 4)
        for row in made.tables["ulp"].rows
    ]
    held = [row for row in found if row != ("",) * 4]
    assert found[: len(held)] == held
    assert len(found) - len(held) == len(held) % 2
    names = [latex_name(x) for x in truth.values] + [gradient(x) for x in truth.wrt]
    checks = verify(solve(truth.path)).checks
    assert held == [(x, *c.texts, "holds") for x, c in zip(names, checks, strict=True)]
    header = [plain(cell) for cell in made.tables["ulp"].header]
    assert header == ["quantity", "ulp", "scaled", "verdict"] * 2


@pytest.mark.heavy
def test_what_is_too_large_for_sympy(page: Reads) -> None:
    """The reason stands there, and nothing else of SymPy."""
    (text,) = page("large").derived
    assert text.startswith("Not decided by SymPy: every quantity: entries are used ")


@pytest.mark.sampled(1, 14)
@pytest.mark.parametrize("name", [name for name in NAMES + OWN if name != "large"])
def test_which_formula_was_put_to_use_where(page: Reads, name: str) -> None:
    """Every gradient that is asked for has SymPy's formula with its stages, what was put in,
    and the number of entries that came out equal; or the reason why it is left open."""
    made = page(name)
    truth = made.truth
    whole, *rest = made.derived
    count = re.search(r"in every entry of (?:all|(\d+) of) (\d+) quantities\.", whole)
    assert count is not None
    assert int(count[2]) == len(truth.values) + len(truth.wrt)
    told = [text for text in rest if text.startswith("Not decided by SymPy: ")]
    assert bool(told) == (count[1] is not None)
    put_in = {latex_name(given) for given in truth.given} | {gradient(truth.output)}
    formulas = {text.partition(": ")[0]: text for text in rest if text not in told}
    for wanted in truth.wrt:
        text = formulas.get(gradient(wanted))
        if text is None:
            assert any(gradient(wanted) in reason.rpartition(": ")[0] for reason in told)
            continue
        found = re.fullmatch(
            r"SymPy's formula(?:, in (?:the stages (.+)|\d+ stages))?, "
            r"(?:with the values of (.+) substituted|without symbols); "
            r"it equals the closed form in (?:all (\d+) entries|its entry)\.",
            text.partition(": ")[2],
        )
        assert found is not None, text
        assert int(found[3] or 1) == truth.values[wanted].size
        # What has no symbols is 0.
        assert found[2] or not any(map(abs, truth.gradient(wanted, {}).flat))
        assert set((found[2] or gradient(truth.output)).split(", ")) <= put_in
        assert not found[1] or not set(found[1].split(", ")) & put_in
    assert name not in NAMES or not told


@pytest.mark.heavy
@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("cat-sat-mat-")] + ["variant"])
def test_comparisons_count_what_differs(page: Reads, name: str) -> None:
    """Each step of both with one shape, and in how many entries it differs exactly."""
    made = page(name)
    assert made.truth.base is not None
    ours, was = made.truth.values, made.truth.base.values
    rows, changed = [], []
    for step in made.truth.steps:
        if step in made.truth.copies or step not in was or was[step].shape != ours[step].shape:
            continue
        with mpmath.workdps(DIGITS):
            count = sum(
                not agree(x, y) for x, y in zip(ours[step].flat, was[step].flat, strict=True)
            )
        text = f"{count} of {ours[step].size} entries differ" if count else "equal, exactly"
        rows.append((latex_name(step), text))
        changed += [step] if count else []
    table = made.tables["compared with the base case"]
    assert [tuple(map(plain, row)) for row in table.rows] == rows
    maps = [block.items for block in of(made.sheet, b.HeatMaps)]
    pairs = [[plain(item.title) for item in items] for items in maps if len(items) == 2]
    assert pairs == [["A, base case", "A, here"]] * ("A" in changed)
    grid = places_of(ours["Y"])
    for side in ("base", "here"):
        seen = made.near[rf"Y_{{\text{{{side}}}}}"]
        assert seen == (grid if "Y" in changed else set())


def test_nothing_is_compared_without_common_steps(folder: Path) -> None:
    """A variant that has no step in common with its base is compared in nothing."""
    path = folder / "other.toml"
    text = 'extends = "base.toml"\nreplace_steps = true\n[steps]\nY = "X @ X @ X[:, 0:1]"\n'
    path.write_text(text, "utf-8")
    blocks = case_sheet.sheet(solve(path)).blocks
    assert not any(isinstance(x, b.Heading) and "Compared" in plain(x.text) for x in blocks)


@pytest.mark.heavy
def test_commands(page: Reads) -> None:
    """The page says how it was made."""
    brief, full, short = (
        listing(page("cat-sat-mat", *options).sheet) for options in ((), ("full",), ("full", 2))
    )
    assert brief == (
        "symattn sheet cat-sat-mat --for author",
        "symattn show cat-sat-mat Y --places 12",
        "symattn verify cat-sat-mat",
        "symattn audit cat-sat-mat",
    )
    assert full[0] == "symattn sheet cat-sat-mat --for author --detail full"
    assert short[0] == "symattn sheet cat-sat-mat --for author --detail full --places 2"


@pytest.mark.sampled(0, 5)
@pytest.mark.parametrize("places", [1, 2, 7, 30])
@pytest.mark.parametrize("name", ["the-fox-jumps", "scalars", "sizes", "symbols", "names"])
def test_other_places(page: Reads, name: str, places: int) -> None:
    """Figures are rounded correctly to as many places as are asked for."""
    made = page(name, "brief", places)
    assert made.counts["rounded"] >= 30
    assert f"to {places} decimal places" in "".join(text_of(made)[:3])


@pytest.mark.heavy
def test_what_a_page_leaves_out_is_said(page: Reads) -> None:
    """Rows that are not shown, Jacobians of many keys, formulas too wide for a heading."""
    said = text_of(page("many"))
    assert said.count("Likewise for rows 4 to 25.") == 1  # Of the row sums; matrices have names.
    assert "The matrices are omitted here, since there are 10 keys." in said
    assert f"Computed as {walkthroughs.COMPUTED}." in text_of(page("long"))


# -- where the size of things decides --------------------------------------------------


def sheet_of(given: dict[str, object], computed: dict[str, str], **details: Any) -> b.Sheet:
    """A brief sheet of a case made here."""
    return case_sheet.sheet(Solution(make("made", given, computed, **details)))


def matrices(made: b.Sheet) -> dict[str, b.Matrix]:
    """The matrices of a sheet by what stands before them."""
    return {item.before: item for block in of(made, b.Matrices) for item in block.items}


@pytest.mark.parametrize(("entries", "large"), [(60, False), (61, True)])
def test_when_a_case_is_large(entries: int, large: bool) -> None:
    """With more than sixty entries in a quantity two entries are worked instead of eight, and
    steps are rounded only."""
    made = sheet_of({"x": [f"1/{k + 3}" for k in range(entries)]}, {"y": "x / 7", "z": "total(y)"})
    assert ("This case is large" in paragraphs(made)[0]) == large
    chained = of(made, b.Equations)[0]
    assert len({left for left, _, _ in chained.lines if left}) == (2 if large else 8)
    assert any(r"\frac" in right for _, _, right in chained.lines)


@pytest.mark.parametrize(("rows", "shown"), [(256, 256), (257, 4)])
def test_how_many_rows_are_shown(rows: int, shown: int) -> None:
    """All rows of up to 256 entries, of more the first four."""
    made = matrices(sheet_of({"X": [[k] for k in range(rows)]}, {"y": "total(X)"}))
    whole = rows == shown
    name = "X =" if whole else r"(X)_{0\text{--}3,\,\cdot} ="
    assert [row[0] for row in made[name].cells] == list(map(str, range(shown)))


@pytest.mark.parametrize(("keys", "figures"), [(8, True), (9, False)])
def test_figures_in_shades(keys: int, figures: bool) -> None:
    """Up to eight columns have room for their figures."""
    made = sheet_of({"x": list(range(keys))}, {"a": "softmax(x)"})
    (block,) = of(made, b.HeatMaps)
    assert all(bool(figure) == figures for row in block.items[0].figures for figure in row)


@pytest.mark.parametrize(("keys", "shown"), [(6, True), (7, False)])
def test_jacobians_of_few_keys(keys: int, shown: bool) -> None:
    """Up to six keys have their Jacobians."""
    made = sheet_of({"x": list(range(keys))}, {"a": "softmax(x)"})
    assert any(name.startswith("J_{0}") for name in matrices(made)) == shown
    left_out = f"The matrices are omitted here, since there are {keys} keys."
    texts = [plain(block.text) for block in made.blocks if isinstance(block, b.Paragraph)]
    assert (left_out in texts) == (not shown)


@pytest.mark.heavy
def test_no_jacobian_where_none_is_needed() -> None:
    """Of weights that the output doesn't depend on, and of scores without a name."""
    computed = {"a": "softmax(x)", "c": "softmax(2 * x)", "y": "c + 1"}
    made = sheet_of({"x": [1, 2]}, computed)
    assert not any(name.startswith("J_") for name in matrices(made))


@pytest.mark.parametrize(
    ("entry", "places", "exact", "near"),
    [
        ("0.123456", 4, "0.123456", "0.1235"),
        ("0.1234567", 4, r"\frac{1234567}{10000000}", "0.1235"),
        ("0.12345678", 8, "0.12345678", None),
        ("0.123456789", 8, r"\frac{123456789}{1000000000}", "0.12345679"),
        ("1000000000000.5", 1, "1000000000000.5", None),
        ("0.25", 2, "0.25", None),
    ],
)
def test_decimals_in_closed_form(entry: str, places: int, exact: str, near: str | None) -> None:
    """A rational number with at most six places, or as many as asked for, is a decimal."""
    case = make("made", {"x": [[1]]}, {"y": f"x * {entry}"})
    made = matrices(case_sheet.sheet(Solution(case), places=places))
    assert made["y ="].cells == ((exact,),)
    assert (r"y \approx" in made) == (near is not None)
    assert [made[name].cells for name in made if name == r"y \approx"] == [((near,),)] * bool(near)


@pytest.mark.parametrize(
    ("entry", "near"),
    [
        ("1e12 - 1/3", "999999999999.6667"),
        ("1e12 + 1/3", r"1.00 \cdot 10^{12}"),
        ("-1e13 - 1/3", r"-1.00 \cdot 10^{13}"),
        ("1/20000", r"5.00 \cdot 10^{-5}"),
        ("1/19999", "0.0001"),
        ("-1/30000", r"-3.33 \cdot 10^{-5}"),
    ],
)
def test_when_significant_digits_are_shown(entry: str, near: str) -> None:
    """Where the places show nothing, or the number is beyond a million millions."""
    made = matrices(sheet_of({"x": [["1/7", 0]]}, {"y": f"0 * x + {entry}"}))
    assert set(made[r"y \approx"].cells[0]) == {near}


def test_rows_that_no_page_holds() -> None:
    """A sheet refuses rows of very many entries, at their places, and says where they are shown."""
    wide = solve(make("wide", {"x": [1, 2]}, {"Y": "onehot(x, 2000)", "Z": "Y + 1"}))
    with pytest.raises(Malformed) as caught:
        case_sheet.sheet(wide)
    assert [fault.where for fault in caught.value.faults] == ["steps.Y", "steps.Z"]
    assert "rows of 2000 entries; a sheet shows at most 1000" in str(caught.value)


def test_a_hint_sets_what_fits_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long sum no more terms are set than a line could show."""
    longest: list[int] = []
    broken = layout.broken

    def counting(formula, room):
        if room == steps._HINT_ROOM:
            longest.append(len(getattr(formula, "terms", ())))
        return broken(formula, room)

    monkeypatch.setattr(steps, "broken", counting)
    row = [f"0.{k + 1:02}" for k in range(60)]
    solved = solve(make("long", {"x": [row], "y": [row]}, {"S": "x @ y.T", "A": "softmax(S)"}))
    case_sheet.sheet(solved, backward=False, drawing=False)
    assert 10 < max(longest) <= 24


def test_wide_matrices_are_cut_in_steps_of_one_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the pieces of a wide matrix cost does not grow with the square of its columns."""
    measured: list[int] = []
    width = layout.matrix_width

    def counting(matrix):
        measured.append(len(matrix.cells[0]))
        return width(matrix)

    monkeypatch.setattr(layout, "matrix_width", counting)
    wide = matrix("X =", (tuple(f"{k}.5" for k in range(500)),))
    pieces = layout.cut(wide)
    assert [cell for piece in pieces for cell in piece.cells[0]] == [*wide.cells[0]]
    assert all(width(piece) <= layout.TEXT for piece in pieces)
    assert sum(measured) < 40 * 500
