"""What the tests draw from: exact numbers as text, matrices, shapes."""

from __future__ import annotations

import os
from fractions import Fraction

from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

from symattn.numbers.reading import read
from symattn.verdicts import Verdict

_calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
brief = settings(_calm, max_examples=6)
few = settings(_calm, max_examples=15)
# CI tries more.
some = settings(_calm, max_examples=40 if os.environ.get("SYMATTN_ALL_PROGRAMS") else 20)
many = settings(_calm, max_examples=100)

fractions = st.builds(Fraction, st.integers(-40, 40), st.integers(1, 12))
small = st.builds(Fraction, st.integers(-6, 6), st.integers(3, 5))
wide_fractions = st.builds(
    lambda p, q, k: Fraction(p, q) * Fraction(10) ** k,
    st.integers(-(10**30), 10**30),
    st.integers(1, 10**12),
    st.integers(-40, 40),
)

_rationals = st.one_of(
    st.integers(1, 9).map(str),
    st.builds("{}/{}".format, st.integers(1, 9), st.integers(2, 9)),
    st.sampled_from(["0.5", "0.25", "1e-1", ".75"]),
)
_surds = st.sampled_from(["2", "3", "5", "6", "8", "12", "1/2", "9/4"]).map("sqrt({})".format)
_exponents = st.one_of(
    _rationals,
    _rationals.map("-{}".format),
    _surds,
    st.builds("{} - {}".format, _rationals, _surds),
    st.builds("-{}*{}".format, _rationals, _surds),
)
_exponentials = _exponents.map("exp({})".format)
_products = st.builds(
    "{}*{}".format, _rationals, st.one_of(_surds, _exponentials, st.just("1"))
) | st.builds("{}*{}*{}".format, _rationals, _surds, _exponentials)

_waves = st.builds("{}({})".format, st.sampled_from(["cos", "sin"]), _exponents)
#: Exponential sums with waves, as text.
waves = st.lists(
    st.builds("{}{}*{}".format, st.sampled_from("+-"), _products, _waves | st.just("1")),
    min_size=1,
    max_size=3,
).map(" ".join)

#: Algebraic numbers: sums of rational multiples of square roots.
algebraic = st.lists(st.builds("{}*{}".format, _rationals, _surds), min_size=1, max_size=3).map(
    " - ".join
)
#: Exponential sums, as text.
sums = st.lists(
    st.tuples(st.sampled_from("+-"), _products).map("".join), min_size=1, max_size=4
).map(" ".join)


@st.composite
def non_zero_sums(draw):
    """Exponential sums that are not zero."""
    text = draw(sums)
    assume(read(text).is_zero() is Verdict.REFUTED)
    return text


#: Quotients of exponential sums, and their sums.
quotients = st.builds("({})/({})".format, sums, non_zero_sums())
field_texts = st.one_of(sums, quotients, st.builds("{} + {}".format, quotients, quotients))
field = field_texts.map(read)
non_zero = st.one_of(
    non_zero_sums(), st.builds("({})/({})".format, non_zero_sums(), non_zero_sums())
).map(read)


def matrices(rows, columns, entries=fractions):
    """Nested lists of numbers of that shape."""
    return st.lists(
        st.lists(entries, min_size=columns, max_size=columns), min_size=rows, max_size=rows
    )


def small_matrices(rows, columns, entries=small):
    """The same with entries of at most 2, whose exponentials stay small too."""
    return matrices(rows, columns, entries)
