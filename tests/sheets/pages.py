"""A page read back: every number on a sheet held against the truth.

The reader walks the blocks of a sheet as they stand, with nothing but the
mathematics on them and what is :mod:`true <.truth>` of the walkthrough.
"""

# Blocks are read here with LaTeX for their formulas.
# mypy: disable-error-code="arg-type,assignment,attr-defined,comparison-overlap,index"

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, product
from typing import Any, TypeVar

import mpmath
import numpy as np

from symattn.printers import blocks as b

from ..notation import in_latex
from .mathematics import Tree, Unreadable, decimals, is_name, read, relations, spelled, value
from .truth import DIGITS, Softmax, Truth, latex_name, shown

T = TypeVar("T")

#: Mathematics in the text that explains notation and states nothing.
NOTATION = {"=", r"\approx", r"A_{0,1}", r"\mathrm{d}X", r"\partial L/\partial X", "J_{i}"}

_CASES = re.compile(
    r"\\left\\\{ \\begin\{array\}\{ll\} (.*), & \\mathrm\{if\}\\ (.*) \\\\ "
    r"(.*), & \\mathrm\{otherwise\} \\end\{array\} \\right\."
)
_JACOBIAN = re.compile(r"\\frac\{\\partial ?(.*)_\{i,j\}\}\{\\partial ?(.*)_\{i,k\}\}")
_PART = re.compile(r"\((.*)\)_\{(\d+)\\text\{--\}(\d+),\\,\\cdot\}")
_PRODUCT = re.compile(r"(.*)_\{(\d+)\}\^\{\\top\} = (J_\{\2\})\\,(.*?)_\{\2\}\^")
_SIDE = re.compile(r"(.*)_\{\\text\{(base|here)\}\}")


def agree(found: Any, wanted: Any) -> bool:
    """Whether numbers, or arrays of them, are equal to 40 digits."""
    found, wanted = np.broadcast_arrays(*(np.asarray(x, dtype=object) for x in (found, wanted)))
    return all(map(_equal, found.flat, wanted.flat))


def _equal(a: Any, c: Any) -> bool:
    if a == c:
        return True
    size = max(abs(a), abs(c))
    return bool(size < mpmath.mpf(10) ** -200 or abs(a - c) < size * mpmath.mpf(10) ** -40)


class Page:
    """A sheet, read; ``counts`` says how many numbers were.

    ``exact`` and ``near`` hold, for everything that has a name, the entries
    that were given exactly and rounded, ``chained`` those with an equation of
    their own and ``worked`` those with their working; ``copies`` are the names
    said to be nothing new, ``numbered`` those that are worked in decimals,
    ``nothing`` the gradients said to be 0 because another is, ``unread`` the
    mathematics that could not be read, ``derived`` what is said of SymPy's formulas.
    ``labelled`` says which axes (0 rows, 1 columns) of which quantities run
    over the tokens.
    """

    def __init__(
        self, sheet: b.Sheet, truth: Truth, labelled: Callable[[str, int], bool], places: int = 4
    ) -> None:
        self.sheet = sheet
        self.truth = truth
        self.labelled = labelled
        self.places = places
        self.counts: Counter[str] = Counter()
        self.exact: dict[str, set[tuple[int, int]]] = defaultdict(set)
        self.near: dict[str, set[tuple[int, int]]] = defaultdict(set)
        self.chained: dict[str, set[tuple[int, int]]] = defaultdict(set)
        self.worked: dict[str, set[tuple[int, int]]] = defaultdict(set)
        self.copies: set[str] = set()
        self.numbered: set[str] = set()
        self.nothing: set[str] = set()
        self.unread: list[str] = []
        self.derived: list[str] = []
        self.headings: list[str] = []
        self.tables: dict[str, b.Table] = {}
        self._formula: Tree | None = None
        self._jacobians: dict[tuple[str, int], np.ndarray] = {}
        self._softmax: Softmax | None = None
        self._rows = 0
        with mpmath.workdps(DIGITS):
            for block in in_latex(sheet).blocks:
                self._block(block)

    def _block(self, block: Any) -> None:
        match block:
            case b.Heading(text):
                self.headings.append(plain(text))
                self._heading(text)
            case b.Paragraph(text):
                self._paragraph(text)
            case b.Equations(lines):
                for chain in chains(lines):
                    self._attempt(self._chain, chain)
            case b.Matrices(items):
                self._matrices(items)
            case b.HeatMaps(items):
                for item in items:
                    self._heat_map(item)
            case b.Beside(displays):
                for display in displays:
                    self._block(display)
            case b.Table(header):
                self.tables[plain(header[1])] = block

    def _attempt(self, action: Callable[[str], None], latex: str) -> None:
        try:
            action(latex)
        except Unreadable:
            self.unread.append(latex)

    # -- values of what is written -------------------------------------------------

    def _worlds(self, tree: Tree, bound: Mapping[str, int] | None = None) -> list[Any]:
        """The values of a tree, with every choice of numbers for the symbols."""
        return [
            value(tree, lambda name: self._find(name, world), bound)  # noqa: B023
            for world in self.truth.worlds()
        ]

    def _find(self, name: str, world: Mapping[str, int]) -> Any:
        """The value of a name; ``J_{2}`` is the Jacobian of a row of weights."""
        if self._softmax is not None and (found := re.fullmatch(r"J_\{(\d+)\}", name)):
            key = (self._softmax.step, int(found[1]))
            if key not in self._jacobians:
                self._jacobians[key] = self.truth.jacobian(self._softmax, key[1])
            return self._jacobians[key]
        return self.truth.find(name, world)

    def _known(self, found: Any) -> list[Any]:
        """A value that no symbol changes, in all worlds."""
        return [found for _ in self.truth.worlds()]

    def _same(self, latex: str, wanted: list[Any], what: str) -> None:
        found = self._worlds(read(latex))
        assert all(map(agree, found, wanted)), f"{what} is not {latex}"

    def _approximate(self, latex: str, wanted: list[Any], what: str) -> None:
        """A rounded number, or linear form, is the truth correctly rounded."""
        if wanted[0] == -mpmath.inf:
            assert latex == r"-\infty", what
            return
        parts = dict(zip(("", *map(latex_name, self.truth.symbols)), wanted, strict=True))
        parts = {name: x - wanted[0] if name else x for name, x in parts.items()}
        expected = {n: shown(x, self.places, self.truth.rounding) for n, x in parts.items()}
        held = {n: text for n, text in expected.items() if text != "0"} or {"": "0"}
        found = {decimal.symbol: decimal.text for decimal in decimals(read(latex))}
        assert found == held, f"{what} is not about {latex}"
        self.counts["rounded"] += len(found)

    # -- text ---------------------------------------------------------------------

    def _heading(self, text: Any) -> None:
        names = [piece.formula for piece in text if isinstance(piece, b.Math)]
        self._formula = None
        for latex in names:
            self._attempt(self._statement, latex)
            parts = relations(latex)
            if len(parts) == 2 and latex not in self.unread:
                self._formula = read(parts[1][1])
        if "softmax Jacobian" in plain(text):
            step = self.truth.names[names[0]]
            (self._softmax,) = (s for s in self.truth.softmaxes if s.step == step)
        elif names and names[0].startswith(r"\mathrm{d}"):
            # The Jacobian of the softmax whose scores the gradient is of.
            of = names[0].partition(" = ")[0].removeprefix(r"\mathrm{d}")
            scores = [s for s in self.truth.softmaxes if s.scores == self.truth.names.get(of)]
            self._softmax = next((s for s in scores if s.step), self._softmax)

    def _statement(self, latex: str) -> None:
        """Names, or equations between them: all sides are the same."""
        first, *rest = relations(latex)
        wanted = self._worlds(read(first[1]))
        for relation, text in rest:
            assert relation == "="
            if text == "0":
                # ``dM_{0,1} = dM_{0,2} = 0``
                for _, zero in (first, *rest[:-1]):
                    if not is_name(read(zero)):
                        continue
                    name, place = self._place(read(zero))
                    self.exact[name].add(place)
                    self.near[name].add(place)
            self._same(text, wanted, first[1])
            self.counts["statements"] += 1

    def _paragraph(self, text: Any) -> None:
        if "SymPy" in plain(text):
            # Names of stages, which need be no quantities.
            self.derived.append(plain(text))
            return
        for piece in text:
            if not isinstance(piece, b.Math) or piece.formula in NOTATION:
                continue
            latex = piece.formula.removeprefix(r"\displaystyle ")
            if text[0] == "Entry by entry: ":
                self._attempt(self._definition, latex)
            elif text[0] == "For any entry of any row: ":
                self._chained_definition(latex)
            elif (found := _JACOBIAN.match(latex)) is not None:
                self._jacobian_rule(latex, *found.groups())
            elif latex.startswith("J_{i}"):
                assert self._softmax is not None
                row = rf"{grouped(latex_name(self._softmax.step))}_{{i}}"
                assert latex == rf"J_{{i}} = \operatorname{{diag}}({row}) - {row}^{{\top}}{row}"
            elif latex.startswith("L ="):
                self._loss(latex)
            else:
                self._attempt(self._statement, latex)
                if self.headings == ["Given"]:
                    self.exact[latex.partition(" = ")[0]].add((0, 0))
        match text:
            case ("Every entry of ", b.Math(name), str(why), *rest):
                assert why.startswith(" is exactly 0")
                self._zero(name)
                for flow in rest[:1]:
                    assert isinstance(flow, b.Math)
                    self._level(flow.formula)
            case ("Since ", b.Math(), " is 0, so is every entry of these: ", *formulas):
                for formula in formulas:
                    if isinstance(formula, b.Math):
                        self._zero(formula.formula.partition(" = ")[0])
                        self.nothing.add(formula.formula.partition(" = ")[0])
            case ("All other entries of ", b.Math(name), " are 0."):
                wanted = self._worlds(read(name))
                for place in places_of(wanted[0]) - self.chained[name]:
                    assert all(agree(np.atleast_2d(x)[place], 0) for x in wanted), (name, place)
                    self.exact[name].add(place)
                    self.near[name].add(place)
            case ("Here ", b.Math(latex), ", entry for entry."):
                name, other = latex.split(" = ")
                self.exact[name] |= self.exact[other]
                self.near[name] |= self.near[other]
                self.numbered |= {name} if other in self.numbered else set()
            case ("Nothing to compute in ", b.Math(latex), str()):
                self.copies |= set(latex.split(" = ")[:-1])

    def _zero(self, name: str) -> None:
        """``Every entry of dS is exactly 0.``"""
        wanted = self._worlds(read(name))
        assert all(agree(x, 0) for x in wanted), name
        self.exact[name] |= places_of(wanted[0])
        self.near[name] |= places_of(wanted[0])

    def _level(self, name: str) -> None:
        """``in each row of dA all entries are equal``"""
        for world in self._worlds(read(name)):
            assert all(agree(x, row[0]) for row in np.atleast_2d(world) for x in row), name

    def _loss(self, latex: str) -> None:
        keys = ("", "i", "i,j")[np.ndim(self.truth.values[self.truth.output])]
        name = latex_name(self.truth.output)
        right = rf"\sum_{{{keys}}} {grouped(name)}_{{{keys}}}" if keys else name
        assert latex == f"L = {right}"

    # -- definitions ------------------------------------------------------------------

    def _definition(self, latex: str) -> None:
        """An equation between entries holds for all values of its indices."""
        left, right = latex.split(" = ", 1)
        target = read(left)
        assert target[0] == "entry"
        cases = _CASES.fullmatch(right)
        for bound in self._indices(target):
            chosen = right
            if cases is not None:
                kept, condition, otherwise = cases.groups()
                chosen = kept if self._holds(condition, bound) else otherwise
            wanted = self._worlds(target, bound)
            assert all(map(agree, self._worlds(read(chosen), bound), wanted)), latex
            self.counts["definitions"] += 1

    def _chained_definition(self, latex: str) -> None:
        """``dT_{i,j} = sum_k (J_i)_{j,k} dA_{i,k} = ...``: each side for all indices."""
        (_, left), *rest = relations(latex)
        target = read(left)
        for bound in self._indices(target):
            wanted = self._worlds(target, bound)
            for _, text in rest:
                assert all(map(agree, self._worlds(read(text), bound), wanted)), text
                self.counts["definitions"] += 1

    def _indices(self, target: Tree) -> Iterator[dict[str, int]]:
        """All values of the indices of what an equation defines."""
        letters = [key for key in target[2] if key.isalpha() and len(key) == 1 and key.islower()]
        try:
            shape = np.shape(self._worlds(target[1])[0])
        except Unreadable:
            # A row sum: nothing but its entries has a value.
            held = ({letters[0]: i} for i in count())
            for bound in held:
                if self.truth.find(spelled(target, bound)) is None:
                    assert bound[letters[0]], target
                    return
                yield bound
        assert len(letters) == len(shape)
        for place in np.ndindex(shape):
            yield dict(zip(letters, place, strict=True))

    def _holds(self, condition: str, bound: Mapping[str, int]) -> bool:
        if found := re.fullmatch(r"([a-z]) \\le ([a-z])", condition):
            return bound[found[1]] <= bound[found[2]]
        left, right = condition.split(" = ")
        return agree(self._worlds(read(left), bound)[0], mpmath.mpf(right))

    def _jacobian_rule(self, latex: str, weights: str, scores: str) -> None:
        assert self._softmax is not None
        assert weights == grouped(latex_name(self._softmax.step))
        assert scores == grouped(latex_name(self._softmax.scores))
        tree = read(latex.split(" = ")[1])
        for i in range(len(self.truth.scores(self._softmax))):
            table = self.truth.jacobian(self._softmax, i)
            for j, k in np.ndindex(table.shape):
                found = self._worlds(tree, {"i": i, "j": j, "k": k})[0]
                assert agree(found, table[j, k]), latex
                self.counts["definitions"] += 1

    # -- chains of equations -------------------------------------------------------------

    def _chain(self, chain: str) -> None:
        """``S_{0,0} = 1 + 1 = 2``, with a rounded number at the end."""
        (_, left), *rest = relations(chain)
        target = read(left)
        assert is_name(target), chain
        wanted = self._worlds(target)
        name, place = self._place(target)
        alike = [target]
        for relation, text in rest[:-1]:
            if relation != "=":
                # Who computes with the figures of the line gets its last one.
                assert (relation, text) == rest[-2], chain
                self._approximate(rest[-1][1], self._worlds(read(text)), left)
                self.counts["numbers"] += 1
                self.numbered.add(name)
                continue
            self._exactly(text, wanted, name, place)
            if len(alike) == 1 + rest.index((relation, text)) and _is_entry_of(text, name):
                alike.append(read(text))
        rest = rest[len(alike) - 1 :]
        relation, text = rest[-1]
        if relation == "=":
            self._exactly(text, wanted, name, place)
        else:
            self._approximate(text, wanted, left)
        places = {self._place(one)[1] for one in alike}
        if relation != "=":
            self.near[name] |= places
        elif text in self.truth.row_sums:
            # What is equal to another row sum is rounded there.
            self.near[name] |= self.near[text]
        self.chained[name] |= places
        if len(rest) > 1 + (relation != "=") or r"\cdot" in rest[0][1]:
            self.worked[name] |= places
        if any(sign == "=" for sign, _ in rest):
            self.exact[name] |= places
        self.counts["chains"] += len(places)

    def _exactly(self, text: str, wanted: list[Any], name: str, place: tuple[int, int]) -> None:
        if r"\cdots" in text:
            try:
                self._in_part(text, name, place)
            except Unreadable:
                self.unread.append(text)
            return
        self._same(text, wanted, name)
        self.counts["equal"] += 1

    def _place(self, target: Tree) -> tuple[str, tuple[int, int]]:
        """What a chain is of: the name of a quantity and the entry of its grid."""
        whole = spelled(target)
        if target[0] != "entry" or whole in (self.truth.names | self.truth.row_sums):
            return whole, (0, 0)
        row, column = (0, *map(int, target[2]))[-2:]
        return spelled(target[1]), (row, column)

    def _in_part(self, text: str, name: str, place: tuple[int, int]) -> None:
        """A long sum shows its first and last terms."""
        wanted = self._terms(name, place)
        first, last = re.split(r"\+ \\cdots\s*\+?", text)
        front, back = _terms_of(read(first)), _terms_of(read(last))
        assert len(front) + len(back) < len(wanted), text
        for (sign, term), all_worlds in [
            *zip(front, wanted, strict=False),
            *zip(back[::-1], wanted[::-1], strict=False),
        ]:
            found = [-x if sign == "-" else x for x in self._worlds(term)]
            assert all(map(agree, found, all_worlds)), f"{name}: {term}"
            self.counts["terms"] += 1

    def _terms(self, name: str, place: tuple[int, int]) -> list[list[Any]]:
        """The terms of an entry of a product, or of a row sum."""
        if name in self.truth.exponentials:
            # What is hidden adds nothing and is not written.
            return [self._known(x) for x in self.truth.exponentials[name] if x]
        if self._formula is None or self._formula[0] != "*":
            raise Unreadable(name)
        _, left, right = self._formula
        i, j = place
        rows = [x[i] for x in self._worlds(left)]
        columns = [x[:, j] for x in self._worlds(right)]
        return [
            [x[k] * y[k] for x, y in zip(rows, columns, strict=True)] for k in range(len(rows[0]))
        ]

    # -- matrices -------------------------------------------------------------------------

    def _matrices(self, items: Sequence[Any]) -> None:
        product = _PRODUCT.match(items[0].before)
        if product is not None:
            self._product(items, *product.groups())
            return
        for item in items:
            head = re.fullmatch(r"(.*?) ?(=|\\approx)(?: (.+))?", item.before)
            assert head is not None, item.before
            name, sign, factor = head.groups()
            if name:
                self._rows, wanted, key = self._matrix(name)
            assert item.cells
            assert len(item.cells) == len(wanted[0])
            tokens = self.truth.tokens if sign == "=" and self._has_tokens(key) else ()
            assert item.row_labels == tokens[: len(item.cells)], item.before
            self._cells(item, sign, factor, wanted, key)

    def _has_tokens(self, key: str) -> bool:
        if key.startswith(r"\exp"):
            # The exponentials of a softmax have the rows of its weights.
            key = self.headings[-1].partition(" = ")[0]
        return self.labelled(key, 0)

    def _cells(self, item: Any, sign: str, factor: str | None, wanted: list[Any], key: str) -> None:
        for i, row in enumerate(item.cells):
            assert len(row) == len(wanted[0][i])
            for j, cell in enumerate(row):
                entry = [x[i][j] for x in wanted]
                what = f"{item.before} [{i}, {j}]"
                if sign == "=":
                    shown_as = cell if factor is None else rf"{factor}\,\left({cell}\right)"
                    self._same(shown_as, entry, what)
                    self.exact[key].add((self._rows + i, j))
                    self.counts["cells"] += 1
                else:
                    self._approximate(cell, entry, what)
                    self.near[key].add((self._rows + i, j))

    def _product(
        self, items: Sequence[Any], target: str, row: str, jacobian: str, flow: str
    ) -> None:
        """``dT_2^T = J_2 dA_2^T = 1/Z^2 [...] [...] = [...]``, row 2 of each as a column."""
        i = int(row)
        self._rows = 0
        of = [np.atleast_2d(x)[i][:, None] for x in self._worlds(read(flow.strip("{}")))]
        out = [np.atleast_2d(x)[i][:, None] for x in self._worlds(read(target.strip("{}")))]
        first, second, last = items
        assert second.before == ""
        behind = re.fullmatch(
            r".*?\^\{\\top\} (=|\\approx)(?: (.+))?", first.before.partition(" = ")[2]
        )
        assert behind is not None
        sign, factor = behind.groups()
        assert last.before == sign
        for item, wanted, inner in (
            (first, self._known(self._find(jacobian, {})), factor),
            (second, of, None),
            (last, out, None),
        ):
            assert not item.row_labels
            assert len(item.cells) == len(wanted[0])
            self._cells(item, sign, inner, wanted, "product")
        self.counts["products"] += 1

    def _matrix(self, name: str) -> tuple[int, list[Any], str]:
        """First row, entries in all worlds and name of what a matrix shows."""
        if found := re.fullmatch(r"J_\{(\d+)\}", name):
            assert self._softmax is not None
            i = int(found[1])
            return (
                0,
                self._known(self.truth.jacobian(self._softmax, i)),
                f"J {self._softmax.step} {i}",
            )
        if found := _SIDE.fullmatch(name):
            source = self.truth if found[2] == "here" else self.truth.base
            assert source is not None
            return 0, self._known(np.atleast_2d(source.find(found[1]))), name
        if found := _PART.fullmatch(name):
            first, last = int(found[2]), int(found[3])
            whole = [np.atleast_2d(x) for x in self._worlds(read(found[1]))]
            assert len(whole[0]) > last - first + 1
            return first, [x[first : last + 1] for x in whole], found[1]
        return 0, [np.atleast_2d(x) for x in self._worlds(read(name))], name

    def _heat_map(self, item: Any) -> None:
        """Shades are the weights, figures the rounded weights."""
        source, name = self.truth, self.headings[-1].partition(" =")[0]
        if item.title:
            shown, whose = item.title
            assert isinstance(shown, b.Math)
            name = shown.formula
            assert whose in (", base case", ", here")
            if whose == ", base case":
                assert source.base is not None
                source = source.base
        wanted = np.atleast_2d(source.find(name))
        assert np.allclose(np.array(item.shades), wanted[:24].astype(float), rtol=1e-14, atol=0)
        for i, row in enumerate(item.figures):
            assert len(row) == wanted.shape[1]
            for j, figure in enumerate(row):
                if wanted.shape[1] > 8:
                    assert figure == ""
                    continue
                self._approximate(figure, self._known(wanted[i, j]), name)
                if source is self.truth:
                    self.near[name].add((i, j))
        for axis, (labels, length) in enumerate(
            zip((item.rows, item.columns), wanted.shape, strict=True)
        ):
            numbers = tuple(map(str, range(length)))
            expected = self.truth.tokens if self.labelled(name, axis) else ()
            expected = expected or numbers
            assert labels == (expected[:24] if axis == 0 else expected), name
        self.counts["shades"] += len(item.shades) * len(item.shades[0])


def grouped(name: str) -> str:
    """A name that takes an index."""
    return name if len(name) == 1 else f"({name})" if "_" in name else f"{{{name}}}"


def places_of(array: Any) -> set[tuple[int, int]]:
    """The places of a grid."""
    rows, columns = np.atleast_2d(array).shape
    return set(product(range(rows), range(columns)))


def of(sheet: b.Sheet, kind: type[T]) -> list[Any]:
    """The blocks of one kind, those that stand beside others too."""
    return [in_latex(block) for block in flat(sheet) if isinstance(block, kind)]


def flat(sheet: b.Sheet) -> Iterator[b.Block]:
    """The blocks of a sheet one by one."""
    for block in sheet.blocks:
        yield from block.items if isinstance(block, b.Beside) else (block,)


def paragraphs(sheet: b.Sheet) -> list[str]:
    """The text of the paragraphs of a sheet."""
    return [plain(block.text) for block in of(sheet, b.Paragraph)]


def listing(sheet: b.Sheet) -> tuple[str, ...]:
    """The lines of the listing that ends a sheet."""
    last = sheet.blocks[-1]
    assert isinstance(last, b.Listing)
    return last.lines


def _is_entry_of(text: str, name: str) -> bool:
    """Whether a side of a chain is only another entry of the same quantity."""
    try:
        tree = read(text)
        return is_name(tree) and tree[0] == "entry" and spelled(tree[1]) == name
    except Unreadable:
        return False


def _terms_of(tree: Tree) -> list[tuple[str, Tree]]:
    return list(tree[1]) if tree[0] == "sum" else [("+", tree)]


def chains(lines: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """The equations of a display, each on one line."""
    held = ""
    for left, relation, right in lines:
        if left:
            if held:
                yield held
            held = left
            assert relation in ("=", r"\approx")
        assert held
        held += f" {relation} {right}"
    yield held


def plain(line: Any) -> str:
    """A line of text without markup."""
    return "".join(
        piece
        if isinstance(piece, str)
        else in_latex(piece.formula)
        if isinstance(piece, b.Math)
        else piece.text
        for piece in line
    )
