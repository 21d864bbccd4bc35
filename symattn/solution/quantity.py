"""A quantity of a solved case: exact, rounded, and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from decimal import Decimal
from functools import cached_property
from itertools import chain
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NoReturn, SupportsIndex, cast, overload

import numpy as np
from flint import arb

from symattn.errors import Fault, Faults, Malformed, OutOfRange, Undecided, expected
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.shapes import Shape, chosen, grid, keys_of, nested, rows_at, show
from symattn.limits import PURSUED
from symattn.numbers import float_formats
from symattn.numbers import rounding as roundings
from symattn.numbers.balls import FIRST
from symattn.numbers.closed_forms import Names
from symattn.numbers.float_formats import FloatFormat
from symattn.numbers.reading import Masked
from symattn.numbers.rounding import RoundingMode
from symattn.numbers.values import Value, compare
from symattn.programs.display import symbol
from symattn.solution.entries import AttentionRole, EntryValue, Rounding, nearest, rounded
from symattn.solution.runs import EntrySource, GatheredSource
from symattn.verdicts import Verdict

if TYPE_CHECKING:
    import numpy.typing as npt

    from symattn.printers.markdown import NotebookCell

#: What stands in the brackets of ``A[0, 1:]``.
Key = SupportsIndex | slice
#: The quantity with numbers in the place of symbols, by name.
Put = Callable[[Mapping[str, object]], "Quantity"]

#: Places of the figures in notebooks; of how many entries those show the closed forms.
_PLACES, _FEW_FORMS = 4, 64


class Quantity:
    """A scalar, vector or matrix of exact entries, or matrices along leading axes.

    ``source`` gives the entries of the grid, exactly and enclosed (a vector is one row).
    ``letters`` are the symbols that its entries may have; where they are linear forms in these
    ``coefficient`` gives the quantity of what stands before one (None: alone); ``put`` gives that
    with numbers in their place. ``labels`` are those of the rows and of the columns of the grid,
    empty where they have none; the output of a softmax ``is_weights``. ``role`` tells which part of
    attention it is, if it is one.

    >>> from symattn.solution.solution import solve
    >>> A = solve("cat-sat-mat")["A"]
    >>> A.shape, A.decimal(4)[0]
    ((3, 3), (Decimal('0.5065'), Decimal('0.1863'), Decimal('0.3072')))
    >>> print(A.at(0, 0))
    e/(1 + sqrt(e) + e)
    """

    def __init__(
        self,
        name: str,
        shape: Shape,
        source: EntrySource,
        rounding: RoundingMode = "half-even",
        letters: Sequence[str] = (),
        coefficient: Callable[[str | None], Quantity] | None = None,
        labels: tuple[Sequence[str], Sequence[str]] = ((), ()),
        is_weights: bool = False,
        role: AttentionRole | None = None,
        put: Put | None = None,
        symbolic: Callable[[], Any] | None = None,
    ) -> None:
        self.name = name
        self.shape = shape
        self.source = source
        self.rounding = rounding
        self.letters = tuple(letters)
        self._coefficient = coefficient
        self._put = put
        self._symbolic = symbolic
        self.is_jacobian = False
        self.labels = labels
        self.is_weights = is_weights
        self.role = role

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the entries; a vector is one row."""
        return grid(self.shape)

    def entry(self, i: int, j: int) -> Value | Masked:
        """The exact entry (i, j) of the grid."""
        return self.source.entry(i, j)

    @cached_property
    def rows(self) -> tuple[tuple[Value | Masked, ...], ...]:
        """All exact entries, by rows of the grid; HIDDEN is a masked score."""
        rows, columns = self.grid
        return tuple(tuple(self.entry(i, j) for j in range(columns)) for i in range(rows))

    def values(self) -> Iterator[Value]:
        """The exact entries that are numbers, row by row."""
        return (value for row in self.rows for value in row if isinstance(value, Value))

    @property
    def is_lettered(self) -> bool:
        """Return whether entries may have symbols in another way than as linear forms."""
        return bool(self.letters) and self._coefficient is None

    @property
    def is_open(self) -> bool:
        """Tell whether numbers are put into symbols, its own or others of what it is of."""
        return self._put is not None

    @overload
    def at(self, *place: int) -> Value | Masked: ...
    @overload
    def at(self, **numbers: object) -> Quantity: ...
    def at(self, *place: int, **numbers: object) -> Value | Masked | Quantity:
        """The exact entry at as many indices as the shape has; negative ones
        count from the end, as in NumPy. :class:`OutOfRange` outside.

        Or, by name, the quantity with exact numbers in the place of symbols, of which it need not
        have those that its case has; see :meth:`~symattn.solution.solution.Solution.at`.
        """
        if numbers:
            if place or self._put is None:
                known = ", ".join(self.letters) or "none"
                raise Malformed(
                    f"{self.name}: numbers are put into symbols, of which it has {known}"
                )
            return self._put(numbers)
        shape, places = self._chosen(place)
        if shape:
            message = f"expected {len(self.shape)} indices, found {len(place)}"
            raise OutOfRange(Fault(self.name, f"{show(self.shape)}: {message}"))
        return self.entry(rows_at(self.shape, places)[0], places[-1][0])

    def _chosen(self, keys: Sequence[int | slice]) -> tuple[Shape, tuple[range, ...]]:
        try:
            return chosen(self.shape, keys)
        except OutOfRange as error:
            raise OutOfRange(fault.inside(self.name) for fault in error.faults) from None

    def __getitem__(self, key: Key | tuple[Key, ...]) -> Any:
        """``A[0, 1]`` is an exact entry, ``A[0]`` and ``A[:, 1:]`` are
        quantities; whole numbers and slices, as in NumPy.

        >>> from symattn.solution.solution import solve
        >>> A = solve("cat-sat-mat")["A"]
        >>> print(A[0, 0])
        e/(1 + sqrt(e) + e)
        >>> A[-1], A[:2, 1:], len(A)
        (<A[2]: a vector of 3>, <A[0:2, 1:3]: 2x2>, 3)
        """
        given = key if isinstance(key, tuple) else (key,)
        keys = [k if isinstance(k, slice) else index(k) for k in given]
        shape, places = self._chosen(keys)
        rows, columns = rows_at(self.shape, places), places[-1]
        if not shape:
            return self.entry(rows[0], columns[0])
        texts = map(syntax.text, keys_of(self.shape, places)[: len(keys)])
        name = f"{self.name}[{', '.join(texts)}]"
        inside = np.add.outer(np.array(rows) * self.grid[1], np.array(columns)).reshape(shape)
        part = self.arranged(name, inside, lambda whole: cast(Quantity, whole[key]))
        labels = tuple(
            [names[k] for k in places] if names else ()
            for names, places in zip(self.labels, (rows, columns), strict=True)
        )
        part.labels = cast("tuple[Sequence[str], Sequence[str]]", labels)
        part.role = self.role and self.role.taken(key)
        return part

    def arranged(
        self,
        name: str,
        places: npt.NDArray[np.intp],
        again: Callable[[Quantity], Quantity],
    ) -> Quantity:
        """The entries that have these places in the grid, in their shape; ``again`` does the same
        with coefficients, and with what it is once numbers are put in."""
        inside = places.reshape(grid(places.shape))
        return Quantity(
            name,
            places.shape,
            GatheredSource([self.source], self.grid, inside, self.source.undefined),
            self.rounding,
            self.letters,
            self._coefficient and (lambda symbol: again(self.coefficient(symbol or "1"))),
            is_weights=self.is_weights,
            put=self._put and (lambda numbers: again(self.at(**numbers))),
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self.name} is a scalar: it has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """The entries of a vector, the rows of a matrix."""
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Return whether shapes and all entries are equal, decided exactly;
        :class:`Undecided` where that can't be told."""
        if not isinstance(other, Quantity):
            return NotImplemented
        verdict = self.equals(other)
        if verdict is Verdict.UNDECIDED:
            raise Undecided(f"can't decide whether {self.name} and {other.name} are equal")
        return verdict is Verdict.HOLDS

    # Equal quantities may have different forms, so there is no hash.
    __hash__ = None  # type: ignore[assignment]

    # NumPy leaves comparisons and arithmetic with arrays to this class, and so refuses them.
    __array_ufunc__ = None

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(
            f"{self.name} is exact, NumPy's arrays and floats are not: call nearest('float64') for "
            "the nearest floats, decimal(4) for Decimals, exact for a SymPy matrix; to judge an "
            "array beside it, symattn.testing.assert_close(array, quantity)"
        )

    __float__ = __array__

    def playing(self, role: AttentionRole) -> Quantity:
        """The same quantity as a part of attention."""
        quantity = copy(self)
        quantity.role = role
        return quantity

    def labelled(
        self,
        name: str,
        labels: tuple[Sequence[str], Sequence[str]],
        symbolic: Callable[[], Any],
    ) -> Quantity:
        """The same quantity as a Jacobian, with the names of entries for labels, and how SymPy
        derives it."""
        quantity = copy(self)
        quantity.name, quantity.labels, quantity._symbolic = name, labels, symbolic
        quantity.is_jacobian = True
        return quantity

    @property
    def symbolic(self) -> Any:
        """The formula as SymPy derives it, in letters of what it depends on; loads SymPy.

        :class:`Malformed` for what is no step, gradient or Jacobian of a solution.

        >>> from symattn.solution.solution import solve
        >>> solve("cat-sat-mat").jacobian("S[0, 0]", "Q[0]").symbolic.matrix
        Matrix([[X[0, 0], X[0, 1], X[0, 2], X[0, 3]]])
        """
        if self._symbolic is None:
            raise Malformed(f"{self.name} is no step, gradient or Jacobian: it has no formula")
        return self._symbolic()

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that the entries have; empty for numbers."""
        if not self.letters:
            return ()
        if self.is_lettered:
            return tuple(sorted({symbol for value in self.values() for symbol in value.symbols}))
        places = [place for place in np.ndindex(self.grid) if not self.is_masked(*place)]
        entries = [EntryValue(self, *place) for place in places]
        letters = {symbol for entry in entries for symbol, _ in entry.coefficients()}
        return tuple(sorted(symbol for symbol in letters if symbol is not None))

    def coefficient(self, symbol: str) -> Quantity:
        """Return what stands before ``symbol`` in every entry; ``"1"`` for the rest."""
        key = None if symbol == "1" else symbol
        if self._coefficient is not None:
            return self._coefficient(key)

        def entry(i: int, j: int) -> Value | Masked:
            value = self.entry(i, j)
            return value if isinstance(value, Masked) else value.coefficient(key)

        return Quantity(
            f"{self.name} [{symbol}]", self.shape, EntrySource(entry), rounding=self.rounding
        )

    # -- numbers ------------------------------------------------------------

    @cached_property
    def exact(self) -> Any:
        """The closed forms: a ``sympy.ImmutableDenseMatrix``; a vector is one
        row, a masked score ``-oo``.

        >>> from symattn.solution.solution import solve
        >>> solve("cat-sat-mat")["A"].exact[0, 0]
        E/(1 + exp(1/2) + E)
        """
        import sympy

        from symattn.numbers.sympy_bridge import to_sympy

        if len(self.shape) > 2:
            return sympy.ImmutableDenseNDimArray([self[k].exact for k in range(len(self))])
        return sympy.ImmutableDenseMatrix(
            [
                [-sympy.oo if isinstance(value, Masked) else to_sympy(value) for value in row]
                for row in self.rows
            ]
        )

    # Any below: how deep Decimals are nested depends on the shape, and a union of the
    # depths could not be indexed without a cast.

    def decimal(self, places: int = 4, rounding: RoundingMode | None = None) -> Any:
        """Every entry correctly rounded to ``places`` decimals, as nested
        tuples of Decimals in the quantity's shape.

        ``rounding`` is one of half-even, half-up, half-down, down, up, floor,
        ceiling; the case's own unless given. A masked score is -Infinity.
        """
        return self._rounded(roundings.decimal, places, rounding)

    def significant(self, digits: int = 6, rounding: RoundingMode | None = None) -> Any:
        """Like :meth:`decimal`, to significant digits."""
        return self._rounded(roundings.significant, digits, rounding)

    def _rounded(self, to: Rounding, digits: int, mode: RoundingMode | None) -> Any:
        """Every entry rounded, nested in the quantity's shape."""
        rows, columns = self.grid
        if self.is_lettered:
            self._need_numbers()
        if self.source.undefined is not None and self.source.undefined.any():
            raise Malformed(f"{self.name} has entries that are not numbers: they have no digits")
        faults = Faults()

        def each(i: int, j: int) -> Decimal | str:
            entry = EntryValue(self, i, j)
            try:
                if not entry.is_masked:
                    return rounded(entry, to, digits, self.rounding if mode is None else mode)
            except Undecided as error:
                faults.extend(fault.inside(entry.place) for fault in error.faults)
                if len(faults) >= PURSUED.most:
                    raise Undecided(faults) from None
            return Decimal("-Infinity")

        table = tuple(tuple(each(i, j) for j in range(columns)) for i in range(rows))
        if faults:
            raise Undecided(faults)
        return nested(self.shape, table)

    def nearest(
        self, name: FloatFormat = "float64", undecided: Literal["error", "nan"] = "error"
    ) -> npt.NDArray[Any]:
        """Every entry as the nearest number of ``float64``, ``float32``, ``float16``,
        ``bfloat16``, ``float8_e4m3fn``, ``float8_e5m2``, ``float8_e4m3fnuz`` or
        ``float8_e5m2fnuz``: a NumPy array of that type.

        NumPy has no bfloat16 and float8: those are held, exactly, in a float32 array. What is
        beyond the largest number, minus infinity too, is NaN in formats without infinity: all of
        float8 but ``float8_e5m2``. Where the nearest number can't be decided, :class:`Undecided`
        tells every such entry with the digits that are certain; ``undecided="nan"`` puts NaN there.
        """
        form = float_formats.float_format(name)
        if undecided not in ("error", "nan"):
            raise Malformed(f"undecided={undecided!r}: {expected(undecided, ('error', 'nan'))}")
        if self.is_lettered:
            self._need_numbers()
        if self.symbols:
            raise Malformed(
                f"{self.name} is a linear form in {', '.join(self.symbols)}: ask for "
                f"coefficient({self.symbols[0]!r}), whose entries are numbers"
            )
        floats, faults = nearest(self, form)
        if faults and undecided == "error":
            raise Undecided(faults)
        with np.errstate(over="ignore"):
            kept = name if name in ("float64", "float32", "float16") else "float32"
            return floats.reshape(self.shape).astype(kept)

    def _need_numbers(self) -> None:
        """:class:`Malformed` where there are symbols."""
        if names := self.symbols:
            several, puts = ", ".join(names), ", ".join(f"{name}=..." for name in names)
            value = "a value" if len(names) == 1 else "values"
            raise Malformed(f"{self.name} needs {value} for {several}: say .at({puts})")

    def is_masked(self, i: int, j: int) -> bool:
        """Return whether entry (i, j) of the grid is a masked score."""
        near = self.near(i, j)
        return (near is None or near.is_nan()) and self.source.is_masked(i, j)

    def near(self, i: int, j: int) -> arb | None:
        """An enclosure of entry (i, j) of the grid, or None where only the exact value tells."""
        balls = self.source.balls_at(FIRST, [i * self.grid[1] + j])
        return None if balls is None else balls[0]

    def equals(self, other: Quantity) -> Verdict:
        """Return whether all entries are equal, decided exactly; shapes must agree."""
        if self.shape != other.shape:
            return Verdict.REFUTED
        pairs = zip(chain(*self.rows), chain(*other.rows), strict=True)
        return Verdict.all(same(ours, theirs) for ours, theirs in pairs)

    # -- display ------------------------------------------------------------

    def latex(self, names: Names | None = None) -> str:
        """The closed forms as a LaTeX matrix; those of a Jacobian with what its rows and
        columns are of."""
        cells = tuple(
            tuple(
                f.MINUS_INFINITY if isinstance(value, Masked) else value.formula(names)
                for value in row
            )
            for row in self.rows
        )
        if self.is_jacobian:
            return _headed(self.labels, [[*map(f.latex, row)] for row in cells])
        return f.latex(f.matrix(cells) if self.shape else cells[0][0])

    def _repr_latex_(self) -> str | None:
        rows, columns = self.grid
        if len(self.shape) > 2 or rows * columns > _FEW_FORMS:
            return None
        if not all(isinstance(x, Masked) or x.is_closed for row in self.rows for x in row):
            return None
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        from symattn.printers import markdown

        rows, columns = self.grid
        across = markdown.shown(columns)
        cells = [[self._cell(i, j) for j in across] for i in markdown.shown(rows)]
        of_rows, of_columns = (names[: markdown.MOST] for names in self.labels)
        whole = markdown.beginning(rows, columns)
        return markdown.table(self.name, show(self.shape), of_columns, cells, of_rows, whole)

    def _cell(self, i: int, j: int) -> NotebookCell:
        """An entry as notebooks show it: rounded, its closed form where that is short."""
        from symattn.printers.markdown import NotebookCell

        if self.is_masked(i, j):
            return NotebookCell("-∞")
        entry = EntryValue(self, i, j)
        try:
            decimal = rounded(entry, roundings.decimal, _PLACES, self.rounding)
        except (Malformed, Undecided):
            return NotebookCell("(no digits)")
        rows, columns = self.grid
        few = rows * columns <= _FEW_FORMS
        return NotebookCell(
            decimal if isinstance(decimal, str) else format(decimal, "f"),
            float(entry.ball(FIRST).mid()) if self.is_weights else 0.0,
            str(entry.value) if few and entry.value.is_closed else "",
        )

    def __repr__(self) -> str:
        return f"<{self.name}: {show(self.shape)}>"

    def __str__(self) -> str:
        lines = ["[" + ", ".join(map(str, row)) + "]" for row in self.rows]
        return "\n".join(lines) if self.shape else lines[0][1:-1]


def _headed(labels: tuple[Sequence[str], Sequence[str]], cells: Sequence[Sequence[str]]) -> str:
    """Cells beside and below the names of entries."""
    above, beside = ([_entry_name(label) for label in names] for names in reversed(labels))
    lines = [" & ".join(("", *above)) + r" \\ \hline"]
    lines += [" & ".join((name, *row)) + r" \\" for name, row in zip(beside, cells, strict=True)]
    columns = "c|" + "c" * len(above)
    return "\n".join((rf"\begin{{array}}{{{columns}}}", *lines, r"\end{array}"))


def _entry_name(label: str) -> str:
    """``\\partial A_{0,1}`` of ``A[0, 1]``."""
    name, _, at = label.partition("[")
    row = f.typeset(symbol(name))
    if at:
        row = t.index(
            f.bracketed(row) if t.has_index(row) else row, t.letters(at[:-1].replace(" ", ""))
        )
    return t.latex(t.PARTIAL + row)


def same(ours: Value | Masked, theirs: Value | Masked) -> Verdict:
    """Return whether two entries are equal; a masked score is so to another one."""
    if isinstance(ours, Value) and isinstance(theirs, Value):
        return compare(ours, theirs)
    return Verdict.HOLDS if ours is theirs else Verdict.REFUTED
