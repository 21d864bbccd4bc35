"""Numbers as they are written: short decimals, fractions, powers of ten."""

from __future__ import annotations

from decimal import Decimal

from flint import fmpq

from symattn import formulas as f


def rational_formula(number: fmpq, places: int) -> f.Formula:
    """A rational number: as a decimal where that is exact and short, else as
    a fraction.

    >>> f.text(rational_formula(fmpq(-3, 8), 4)), f.text(rational_formula(fmpq(1, 3), 4))
    ('-0.375', '1/3')
    """
    size = abs(number)
    needed = decimal_places(size, places)
    if needed is None:
        form: f.Formula = f.Quotient(f.Number(str(size.p)), f.Number(str(size.q)))
    else:
        digits = str((size * 10**needed).p).rjust(needed + 1, "0")
        point = len(digits) - needed
        form = f.Number(digits if not needed else f"{digits[:point]}.{digits[point:]}")
    return f.Negated(form) if number < 0 else form


def decimal_places(number: fmpq, most: int) -> int | None:
    """How many decimal places show the number exactly, if at most ``most``."""
    for places in range(most + 1):
        if (number * 10**places).q == 1:
            return places
    return None


def scientific(number: Decimal) -> f.Formula:
    """A decimal as digits times a power of ten.

    >>> f.text(scientific(Decimal("0.0000123")))
    '1.23*10^(-5)'
    """
    sign, digits, _ = number.as_tuple()
    exponent = number.adjusted()
    lead = "".join(map(str, digits))
    mantissa = f.Number(lead[0] + (f".{lead[1:]}" if lead[1:] else ""))
    power = f.Number(str(abs(exponent)))
    raised = f.Power(f.Number("10"), f.Negated(power) if exponent < 0 else power)
    product = f.Product((mantissa, raised))
    return f.Negated(product) if sign else product
