"""A case: the inputs, steps, loss and claims of one walkthrough, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from symattn.errors import Fault, Malformed, SymattnError
from symattn.numbers.reading import Hidden, read, read_entry
from symattn.numbers.values import Value
from symattn.programs.gradient import differentiate
from symattn.programs.nodes import MAX_ENTRIES
from symattn.programs.program import Program, name_fault, program
from symattn.shapes import Shape, show

#: Rows of exact entries; a scalar is one row of one, a vector one row.
Rows = tuple[tuple[Value | Hidden, ...], ...]


@dataclass(frozen=True)
class Claim:
    """What a document prints: a figure (``of``, ``printed``) or a statement (``holds``)."""

    where: str
    of: str = ""
    printed: Any = None
    holds: str = ""
    line: int = 0


@dataclass(frozen=True)
class Unchecked:
    """Something a document says that can't be put as a claim, and why."""

    where: str
    what: str
    reason: str


@dataclass(frozen=True)
class Case:
    """One walkthrough. Made by :func:`make`, which checks it.

    ``base`` is the file of the case that this one extends.
    ``raw`` holds the given numbers and the upstream gradient as they were
    written: the independent cross-check reads those itself.
    """

    name: str
    given: Mapping[str, Rows]
    steps: Mapping[str, str]
    program: Program
    output: str
    upstream: Rows
    wrt: tuple[str, ...]
    raw: Mapping[str, Any]
    raw_upstream: Any = None
    states_loss: bool = False
    title: str = ""
    source: str = ""
    note: str = ""
    tokens: tuple[str, ...] = ()
    extends: str = ""
    claims: tuple[Claim, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    rounding: str = "half-even"
    tolerance: str = ""
    path: Path | None = field(default=None, compare=False)
    #: The file of the case that this one extends.
    base: Path | None = field(default=None, compare=False)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of the upstream gradient, sorted."""
        found = {
            name
            for row in self.upstream
            for entry in row
            if isinstance(entry, Value)
            for name in entry.symbols
        }
        return tuple(sorted(found))


def shape_of(data: Any) -> Shape:
    """The shape of nested lists: (), (n,) or (n, m); lists that are ragged,
    empty or deeper raise :class:`Malformed` with every place.

    >>> shape_of([[1, 2, 3], [4, 5, 6]])
    (2, 3)
    """
    if not _is_list(data):
        return ()
    if not len(data):
        raise Malformed("expected numbers, found an empty list")
    if not any(_is_list(row) for row in data):
        return (len(data),)
    faults = []
    widths = [len(row) for row in data if _is_list(row)]
    usual = max(widths, key=lambda width: (widths.count(width), -widths.index(width)))
    for i, row in enumerate(data):
        if not _is_list(row):
            faults.append(Fault(f"[{i}]", "expected a row of numbers, found a single value"))
        elif len(row) != usual:
            faults.append(
                Fault(f"[{i}]", f"expected {usual} numbers as in the other rows, found {len(row)}")
            )
        else:
            faults += [
                Fault(f"[{i}][{j}]", "expected a number, found a list")
                for j, entry in enumerate(row)
                if _is_list(entry)
            ]
    if not faults and usual == 0:
        faults.append(Fault("", "expected numbers, found empty rows"))
    if faults:
        raise Malformed(faults)
    return (len(data), usual)


def _is_list(data: Any) -> bool:
    if isinstance(data, str | bytes):
        return False
    return isinstance(data, Sequence) or getattr(data, "ndim", 0) > 0


def read_rows(data: Any, symbols: bool = False) -> tuple[Shape, Rows]:
    """Shape and exact entries of nested lists of numbers, text or arrays.

    >>> read_rows([["1/2", 3]])
    ((1, 2), ((1/2, 3),))
    """
    if hasattr(data, "tolist") and not isinstance(data, str):
        data = data.tolist()
    shape = shape_of(data)
    size = 1
    for length in shape:
        size *= length
    if size > MAX_ENTRIES:
        raise Malformed(f"{show(shape)} is beyond {MAX_ENTRIES} entries")
    rows = [[data]] if not shape else [data] if len(shape) == 1 else data
    faults: list[Fault] = []
    table = []
    for i, row in enumerate(rows):
        entries: list[Value | Hidden] = []
        for j, entry in enumerate(row):
            place = {0: "", 1: f"[{j}]", 2: f"[{i}][{j}]"}[len(shape)]
            try:
                entries.append(read_entry(entry, symbols))
            except Malformed as error:
                faults += [Fault(place, fault.message) for fault in error.faults]
            except SymattnError as error:
                faults.append(Fault(place, str(error)))
        table.append(tuple(entries))
    if faults:
        raise Malformed(faults)
    return shape, tuple(table)


def make(
    name: str,
    given: Mapping[str, Any],
    steps: Mapping[str, str],
    loss: Mapping[str, Any] | None = None,
    **details: Any,
) -> Case:
    """A checked case; :class:`Malformed` lists every fault.

    ``given`` maps names to numbers or nested lists of them, ``steps`` names to
    expressions; ``loss`` may have ``output``, ``upstream`` and ``wrt``.

    >>> case = make("two", {"X": [[1, 0], [0, 1]]}, {"A": "softmax(X @ X.T)", "Y": "A @ X"})
    >>> case.output, case.wrt
    ('Y', ('X', 'A', 'Y'))
    """
    faults: list[Fault] = []
    shapes: dict[str, Shape] = {}
    held: dict[str, Rows] = {}
    for key, data in given.items():
        try:
            shapes[key], held[key] = read_rows(data)
        except Malformed as error:
            faults += [fault.inside(f"given.{key}") for fault in error.faults]
            if bad := name_fault(key):
                faults.append(Fault(f"given.{key}", bad))
    if not steps:
        faults.append(Fault("steps", "expected at least one step"))
    texts = {key: step for key, step in steps.items() if isinstance(step, str)}
    faults += [
        Fault(f"steps.{key}", f"expected an expression as text, found {type(step).__name__}")
        for key, step in steps.items()
        if key not in texts
    ]
    try:
        unreadable = (given.keys() - shapes.keys()) | (steps.keys() - texts.keys())
        forward = program(shapes, texts, unreadable)
    except Malformed as error:
        faults += error.faults
    if faults:
        raise Malformed(faults)
    return Case(
        name=name,
        given=held,
        steps=dict(steps),
        raw=dict(given),
        states_loss=loss is not None,
        **_loss(forward, dict(loss or {})),
        **details,
    )


def _loss(forward: Program, loss: dict[str, Any]) -> dict[str, Any]:
    """The checked loss: program with gradients, output, upstream and wrt."""
    output = loss.get("output", forward.steps[-1])
    if not isinstance(output, str) or output not in forward.steps:
        known = ", ".join(forward.steps)
        raise Malformed(Fault("loss.output", f"expected a step ({known}), found {output!r}"))
    full = differentiate(forward, output)
    faults: list[Fault] = []
    raw = loss.get("upstream")
    shape = forward.quantities[output].shape
    upstream: Rows = ()
    try:
        upstream = _upstream(raw, shape, full)
    except Malformed as error:
        faults += [fault.inside("loss.upstream") for fault in error.faults]
    wrt = loss.get("wrt")
    if wrt is None:
        wrt = [n for n, g in full.gradients.items() if g.shape]
    elif not isinstance(wrt, list) or not wrt:
        faults.append(Fault("loss.wrt", f"expected a list of names, found {wrt!r}"))
        wrt = []
    for place, name in enumerate(wrt):
        if not isinstance(name, str) or name not in forward.quantities:
            known = ", ".join(forward.quantities)
            faults.append(
                Fault(f"loss.wrt[{place}]", f"unknown name {name!r}: expected one of {known}")
            )
        elif name in wrt[:place]:
            faults.append(Fault(f"loss.wrt[{place}]", f"{name} is named twice"))
        elif name not in full.gradients:
            faults.append(Fault(f"loss.wrt[{place}]", f"{output} does not depend on {name}"))
    if faults:
        raise Malformed(faults)
    return {
        "program": full,
        "output": output,
        "upstream": upstream,
        "wrt": tuple(wrt),
        "raw_upstream": raw,
    }


def _upstream(raw: Any, shape: Shape, full: Program) -> Rows:
    if raw is None:
        assert full.upstream is not None
        rows, columns = full.upstream.grid
        return ((read(1),) * columns,) * rows
    found, upstream = read_rows(raw, symbols=True)
    if found != shape:
        raise Malformed(f"expected the output's shape, {show(shape)}, found {show(found)}")
    faults = []
    for i, row in enumerate(upstream):
        for j, entry in enumerate(row):
            if isinstance(entry, Hidden):
                faults.append(Fault(f"[{i}][{j}]", "expected a finite number, found -inf"))
                continue
            if entry.has_symbols and not entry.is_linear_form:
                faults.append(Fault(f"[{i}][{j}]", f"{entry} is not linear in its symbols"))
            for symbol in entry.symbols:
                bad = name_fault(symbol) or (
                    f"the symbol {symbol!r} is a quantity's name"
                    if symbol in full.quantities
                    else ""
                )
                if bad:
                    faults.append(Fault(f"[{i}][{j}]", bad))
    if faults:
        raise Malformed(faults)
    return upstream
