"""The symbols of a case: which are declared, which occur, and numbers put in their place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from symattn.errors import Fault, Faults, Malformed, expected, short
from symattn.numbers import quotients
from symattn.numbers.exponential_sums import Symbol
from symattn.numbers.letters import DOMAINS, Letters
from symattn.numbers.reading import Masked, read, written
from symattn.numbers.rows import Rows
from symattn.numbers.substitution import put
from symattn.numbers.tables import NumberTable
from symattn.numbers.values import Value
from symattn.programs.program import symbol_fault
from symattn.shapes import Shape, nested
from symattn.tables.places import kind

#: What is called so is a size, which everything is made for: always a number.
_SIZE = re.compile(r"(?:n|d|h)(?:_\w+)?")


def declared(table: object) -> Letters:
    """The symbols that a ``[symbols]`` table declares, or a list of real ones.

    Raises :class:`Malformed` with every fault."""
    if isinstance(table, str):
        table = re.split(r"[\s,]+", table.strip())
    if isinstance(table, list | tuple):
        Faults(
            Fault(f"[{k}]", f"expected a name, found {kind(name)}")
            for k, name in enumerate(table)
            if not isinstance(name, str)
        ).raise_all()
        table = dict.fromkeys(table, "real")
    if not isinstance(table, Mapping):
        raise Malformed(f"expected a table of symbols, or a list, found {kind(table)}")
    faults = Faults()
    for name, domain in table.items():
        if bad := symbol_fault(name):
            faults.append(Fault(name, bad))
        if domain not in DOMAINS:
            message = f"unknown domain {short(str(domain))!r}: {expected(str(domain), DOMAINS)}"
            faults.append(Fault(name, message))
    faults.raise_all()
    return Letters(table)


def registered(table: object, faults: Faults) -> Letters:
    """The symbols that are declared, or that are known already; where that has faults any, so
    that these are all that is said of them."""
    if isinstance(table, Letters):
        return table
    with faults.inside("symbols"):
        return declared(table)
    names = table if isinstance(table, list | tuple | Mapping) else ()
    return Letters(dict.fromkeys(map(str, names), "positive"), is_open=True)


def occurring(rows: Rows) -> dict[str, Symbol]:
    """The symbols in some rows, by name."""
    if isinstance(rows, NumberTable):
        return {}
    found: dict[str, Symbol] = {}
    for value in (x for row in rows for x in row if isinstance(x, Value) and x.letters):
        found |= quotients.letters(value.parts)
    return found


def register(
    registry: Letters, given: Mapping[str, Rows], quantities: Collection[str]
) -> Iterator[Fault]:
    """Makes the symbols in given numbers known; gives what is wrong with where they stand, and
    with what they are called."""
    for quantity, rows in given.items():
        for name, symbol in occurring(rows).items():
            bad = symbol_fault(name)
            if name in quantities:
                bad = f"the symbol {name!r} is a quantity's name: call it otherwise"
            elif _SIZE.fullmatch(quantity):
                bad = f"a size is a number, found {name}: call what is no size by another name"
            try:
                registry.taken(symbol)
            except Malformed as error:
                bad = str(error)
            if bad:
                yield Fault(f"given.{quantity}", bad)


def read_numbers(letters: Mapping[str, Symbol], numbers: Mapping[str, object]) -> dict[str, Value]:
    """Exact numbers for some of the letters, by name.

    Raises :class:`Malformed` with every fault.
    """
    faults = Faults()
    read_as: dict[str, Value] = {}
    for name, number in numbers.items():
        with faults.inside(name):
            if name not in letters:
                known = expected(name, sorted(letters))
                raise Malformed(f"unknown symbol {short(name)!r}: {known}")
            value = read(number)
            if letters[name].is_positive and value.sign() <= 0:
                raise Malformed(f"{name} is positive, found {value}")
            read_as[name] = value
    faults.raise_all()
    return read_as


def put_in(rows: Rows, numbers: Mapping[str, Value]) -> Rows:
    """The rows with numbers in the place of letters."""
    if isinstance(rows, NumberTable):
        return rows
    return tuple(
        tuple(x if isinstance(x, Masked) else put(x, numbers) for x in row) for row in rows
    )


def texts(shape: Shape, rows: Rows) -> object:
    """Rows as they are written in files, nested in their shape."""
    return nested(
        shape, [[str(x) if isinstance(x, Masked) else written(x) for x in row] for row in rows]
    )
