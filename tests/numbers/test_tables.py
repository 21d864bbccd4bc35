"""Tables of plain numbers read at once are what entries read one by one are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.numbers import tables
from symattn.numbers.reading import MASKED, read, read_entry
from symattn.numbers.rows import read_rows
from symattn.numbers.tables import NumberTable

from ..strategies import some

plain = st.one_of(
    st.integers(-(10**30), 10**30),
    st.fractions(),
    st.decimals(allow_nan=False, allow_infinity=False, places=5),
    st.builds("{}/{}".format, st.integers(-99, 99), st.integers(1, 999)),
    st.builds("{}.{}".format, st.integers(-99, 99), st.integers(0, 10**12)),
    st.sampled_from(["-0.5", "-0", "007", "0.50", "-1/3", 0]),
)
anything = st.one_of(
    plain,
    st.sampled_from(
        ["sqrt(2)", "1e3", " 1", "1 ", "+1", "1_0", "1/0", "--1", ".5", "1.", "", "1,2"]
    ),
    st.sampled_from(["exp(1)", "٣", "1/-2", "1/2/3", "0x1", "-inf", "nan", Decimal("1e3")]),
    st.sampled_from([True, np.int8(3), Decimal("NaN"), "1/2.5", "9" * 401]),
)


def fractions(matrix):
    """Rows of exact numbers as Fractions."""
    return [[Fraction(int(x.number.p), int(x.number.q)) for x in row] for row in matrix]


@some
@given(st.lists(st.lists(plain, min_size=3, max_size=3), min_size=1, max_size=4))
def test_plain_tables_are_read_at_once(rows):
    """Whole numbers, fractions and decimals, in text or not, are the values that are read
    one by one; so are their pairs of floats."""
    found = tables.read(rows)
    assert found is not None
    shape, table = found
    assert shape == (len(rows), 3)
    single = [tuple(read(entry) for entry in row) for row in rows]
    assert list(table) == single
    values = fractions(single)
    assert table.tolist() == values
    pairs = table.pairs()
    for place, value in np.ndenumerate(np.array(values, dtype=object)):
        high, low, error = (float(part[place]) for part in (pairs.high, pairs.low, pairs.error))
        assert abs(value - Fraction(high) - Fraction(low)) <= Fraction(error)


@some
@given(st.lists(anything, min_size=1, max_size=5))
def test_what_is_no_plain_table_is_left_to_the_reader(row):
    """Read at once or one by one, a row means the same, and is refused alike."""

    def one_by_one():
        return tuple(read_entry(entry) for entry in row)

    found = tables.read([row])
    if found is not None:
        assert found[1][0] == one_by_one()
        return
    try:
        wanted = one_by_one()
    except Malformed:
        with pytest.raises(Malformed):
            read_rows([row])
        return
    assert tuple(read_rows([row])[1][0]) == wanted


@pytest.mark.parametrize(
    "data",
    [
        [],
        [[]],
        [["1,2"]],
        [["1", "0.5,2"]],
        [[1], [2, 3]],
        [[1], 2],
        "12",
        3,
        None,
        [["sqrt(2)"]],
        [[1.5]],
        [[None]],
    ],
)
def test_what_is_no_table_is_none(data):
    """Ragged, empty, of other things, or no list."""
    assert tables.read(data) is None


def test_a_table_is_a_sequence_of_rows():
    """By index, from the end, and by slices; joined with others; a vector is one row."""
    shape, table = tables.read([[1, "1/2"], ["0.25", -3]]) or ((), NumberTable(1))
    assert shape == (2, 2)
    assert table[-1] == (read("1/4"), read(-3))
    assert table[::-1] == [table[1], table[0]]
    assert NumberTable.joined([table, table])[3] == table[1]
    with pytest.raises(IndexError):
        table[2]
    assert tables.read([1, 2]) is not None
    floats = NumberTable(2, floats=np.array([[0.5, -np.inf]]))
    assert floats[0] == (read("1/2"), MASKED)
    assert floats.pairs().masked.tolist() == [[False, True]]
    mixed = NumberTable.joined([table, NumberTable(2, floats=np.array([[0.5, 0.1]]))])
    assert mixed[2] == (read("1/2"), read(Fraction(0.1)))
