"""A case: the inputs, steps, loss and claims of one case, checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from flint import fmpq

from symattn.cases.claims import Claim, Unchecked, read_claims, read_unchecked
from symattn.cases.functions import OwnFunctions, read_functions
from symattn.cases.settings import ExerciseTable, read_asked, settings
from symattn.cases.statements import LoweredSteps, by_head
from symattn.errors import Fault, Faults, Malformed, alike, expected, short
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape, keys, nested, show
from symattn.expressions.syntax import gradient_name, gradient_of
from symattn.numbers import quotients
from symattn.numbers.exponential_sums import Symbol
from symattn.numbers.letters import DOMAINS, Letters, put
from symattn.numbers.rationals import read_printed
from symattn.numbers.reading import Masked, read, written
from symattn.numbers.rounding import MODES, RoundingMode, rounding_mode
from symattn.numbers.rows import Numbers, Rows, read_rows, shape_of
from symattn.numbers.tables import NumberTable
from symattn.numbers.values import Value
from symattn.programs.functions.own import OwnFunction
from symattn.programs.program import (
    Program,
    Step,
    differentiate,
    name_fault,
    sound_part,
    symbol_fault,
)
from symattn.tables.places import kind, unknown

if TYPE_CHECKING:
    from symattn.documents.reading import Reading

__all__ = ["Case", "Claim", "Rows", "Unchecked", "make", "read_rows", "shape_of"]


# -- the symbols of a case ---------------------------------------------------------------
# Which are declared, which occur, and numbers put in their place.

#: What is called so is a size, which everything is made for: always a number.
_SIZE = re.compile(r"(?:n|d|h)(?:_\w+)?")


def declared(table: object) -> Letters:
    """The symbols that a ``[symbols]`` table declares, or a list of real ones.

    Raises :class:`Malformed` with every fault.

    >>> declared({"t": "positive"}).named("t").log()
    log(t)
    >>> declared({"e": "complex"})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      e: 'e' is reserved for Euler's number: call it E or e1
      e: unknown domain 'complex': expected one of real, positive
    """
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


# -- case --------------------------------------------------------------------------------


_LOSS_KEYS = ("output", "upstream", "wrt")


@dataclass(frozen=True, repr=False)
class Case:
    """One case. Made by :func:`make`, which checks it.

    ``raw`` holds the given numbers and the upstream gradient as they were written: the independent
    cross-check reads those itself. ``tolerance`` is the largest distance that a printed figure may
    have, where the document declares one; ``origins`` are the steps as which those of single heads
    were written; ``asked`` is what it says of an exercise, ``sheet`` what its sheets have on them
    (:mod:`symattn.cases.settings`); ``functions`` are its own, heads and bodies as they were
    written. ``lines`` are those of the steps in the file of the case, ``path``, and ``base`` is the
    file of the case it extends. ``reading`` is what an article was understood to say, where the
    case was read from one.
    """

    name: str
    given: Mapping[str, Rows]
    steps: Mapping[str, str]
    program: Program
    output: str
    upstream: Rows
    wrt: tuple[str, ...]
    raw: Mapping[str, object]
    raw_upstream: object = None
    states_loss: bool = False
    title: str = ""
    source: str = ""
    note: str = ""
    tokens: tuple[str, ...] = ()
    extends: str = ""
    claims: tuple[Claim, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    rounding: RoundingMode = "half-even"
    tolerance: fmpq | None = None
    asked: ExerciseTable = field(default_factory=ExerciseTable)
    sheet: Mapping[str, object] = field(default_factory=dict)
    registry: Letters = field(default_factory=Letters, compare=False)
    functions: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    path: Path | None = field(default=None, compare=False)
    base: Path | None = field(default=None, compare=False)
    reading: Reading | None = field(default=None, compare=False)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of the upstream gradient, sorted."""
        return tuple(sorted(occurring(self.upstream)))

    @cached_property
    def letters(self) -> Mapping[str, Symbol]:
        """All symbols, by name: those of what is given, and of the upstream gradient."""
        rows = (*self.given.values(), self.upstream)
        return dict(sorted(item for each in rows for item in occurring(each).items()))

    @cached_property
    def lettered(self) -> frozenset[str]:
        """Return what is given in letters; the output where its upstream gradient is no linear form
        in symbols of its own."""
        known = {name: occurring(rows) for name, rows in self.given.items()}
        names = {name for name, found in known.items() if found}
        above = {} if isinstance(self.upstream, NumberTable) else dict.fromkeys(self.symbols)
        forms = [x for row in self.upstream for x in row] if above else []
        is_linear = all(x.is_linear_form for x in forms if isinstance(x, Value) and x.letters)
        if not is_linear or any(above.keys() & found for found in known.values()):
            names.add(gradient_name(self.output))
        return frozenset(names)

    def __repr__(self) -> str:
        steps = ", ".join(list(self.steps)[:8]) + (", ..." if len(self.steps) > 8 else "")
        return f"<Case {self.name[:60]!r}: {steps}; {len(self.claims)} claims>"


def make(
    name: str,
    given: Mapping[str, object],
    steps: Mapping[str, Step],
    loss: Mapping[str, object] | None = None,
    *,
    claims: Sequence[Mapping[str, object]] = (),
    unchecked: Sequence[Mapping[str, object]] = (),
    tokens: Sequence[str] = (),
    title: str = "",
    source: str = "",
    note: str = "",
    rounding: RoundingMode = "half-even",
    tolerance: str | int | Decimal | None = None,
    exercise: Mapping[str, object] | None = None,
    sheet: Mapping[str, object] | None = None,
    symbols: object = (),
    functions: Mapping[str, str] | Iterable[OwnFunction] = (),
    reading: Reading | None = None,
) -> Case:
    """A checked case, from what a case file says in its tables.

    ``given`` maps names to numbers, or to nested lists or arrays of them, n or n x m; ``steps``
    maps names to expressions, or to trees of such. ``loss`` may have ``output``, a step, the last
    one unless named; ``upstream``, dL/d(output) in its shape, all ones unless given, its entries
    exact numbers or symbols; and ``wrt``, the names to differentiate by. A claim has ``of``, an
    expression, and ``printed``, its figures in its shape; or ``holds``, a statement; and may have
    ``where``. ``tolerance`` is positive, as text or an exact number. ``exercise`` may have
    ``title``, ``level``, ``ask``, ``points`` and ``places``. ``sheet`` has keys of
    :class:`~symattn.cases.settings.SheetSettings`. ``symbols`` declares the letters that numbers
    may be written with, a list, or a table that says ``"real"`` or ``"positive"`` of each; SymPy's
    need none. ``functions`` are what :func:`symattn.function` makes, or maps heads such as
    ``"mish(x)"`` to bodies. ``reading`` is that of an article.

    There may be no steps where there are claims, or an article: then there is no
    output (it is ''), and nothing to differentiate.

    Raises :class:`Malformed` with every fault.

    >>> found = make(
    ...     "two", {"X": [[1, 0], [0, 1]]}, {"A": "softmax(X @ X.T)", "Y": "A @ X"},
    ...     claims=[{"where": "3.1", "of": "A[0]", "printed": ["0.73", "0.27"]},
    ...             {"holds": "A[0, 0] > A[0, 1]"}],
    ... )
    >>> found, found.output, found.wrt
    (<Case 'two': A, Y; 2 claims>, 'Y', ('X', 'A', 'Y'))
    >>> make("two", {"X": [[1], [0, 1]], "W": 1}, {"A": "softmax(Z)"},
    ...      claims=[{"of": "A[0, 0]", "printed": "half"}])
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 3 faults
      given.X[1]: expected 1 numbers as in the other rows, found 2
      steps.A: unknown name 'Z': expected one of W
      claims[0].printed: expected a printed number, found 'half'
    """
    faults = Faults()
    if not steps and (loss or not (claims or reading)):
        faults.append(Fault("steps", "expected at least one step"))
    recipe = by_head(steps, given, faults)
    registry = registered(symbols, faults)
    own = read_functions(functions, {*given, *steps, *recipe.steps}, faults)
    forward, rows = _forward(given, recipe, own, (loss or {}).get("output"), registry, faults)
    texts = {
        name: syntax.text(step) if isinstance(step, syntax.Tree) else str(step)
        for name, step in recipe.steps.items()
    }
    # What names a faulty quantity can't be judged, and is no fault of its own.
    unsound = (given.keys() | texts.keys() | recipe.unsound) - forward.quantities.keys()
    unsound |= own.unsound
    stated = dict(loss or {})
    if texts:
        stated.setdefault("output", [*texts][-1])
    full = _differentiated(forward, unsound, stated, faults)
    upstream = _upstream(stated.get("upstream"), full, registry, faults)
    wrt = _wrt(stated, full, unsound, faults)
    with faults.inside("claims"):
        read = read_claims(full, claims, _unjudged(full, unsound))
    with faults.inside("unchecked"):
        noted = read_unchecked(unchecked)
    with faults.inside("tokens"):
        labels = _tokens(tokens, None if unsound else full)
    with faults.inside("exercise"):
        asked = read_asked(full, exercise or {}, _unjudged(full, unsound))
    with faults.inside("tolerance"):
        distance = None if tolerance is None else _distance(tolerance)
    with faults.inside("sheet"):
        settings(sheet or {})
    if rounding not in MODES:
        message = f"expected one of {', '.join(MODES)}, found {_shown(rounding)}"
        faults.append(Fault("rounding", message + _hint(rounding, MODES)))
    faults.raise_all()
    return Case(
        name=name,
        given=rows,
        steps=texts,
        program=full,
        output=str(stated.get("output", "")),
        upstream=upstream,
        wrt=wrt,
        raw={
            name: data.written if isinstance(data, Numbers) else data
            for name, data in given.items()
        },
        raw_upstream=stated.get("upstream"),
        states_loss=loss is not None,
        origins=recipe.origins,
        title=title or name,
        source=source,
        note=note,
        tokens=labels,
        claims=read,
        unchecked=noted,
        rounding=rounding_mode(rounding),
        tolerance=distance,
        asked=asked,
        sheet=dict(sheet or {}),
        registry=registry,
        functions={function.key: function.text for function in own.sound.values()},
        path=reading.article.path if reading else None,
        reading=reading,
    )


def with_upstream(case: Case, upstream: object) -> Case:
    """The case with another upstream gradient, in the output's shape; None for
    all ones. Its forward program is the same, node for node.

    Raises :class:`Malformed` with every fault.

    >>> ones = make("two", {"X": [1, 2]}, {"Y": "X * X"})
    >>> with_upstream(ones, ["g1", 0]).symbols
    ('g1',)
    """
    full = differentiate(case.program, case.output)
    faults = Faults()
    rows = _upstream(upstream, full, case.registry, faults)
    faults.raise_all()
    return replace(case, program=full, upstream=rows, raw_upstream=upstream)


def with_numbers(case: Case, given: Mapping[str, object], upstream: object = None) -> Case:
    """The case with the numbers of ``given`` in the place of its own, and this upstream
    gradient, None for all ones; what it says of a document is left out.

    The program is the same, node for node. Raises :class:`Malformed` with every
    fault: a name that is not given, numbers of another shape.

    >>> made = make("two", {"X": [1, 2]}, {"Y": "X * X"})
    >>> with_numbers(made, {"X": [3, 4]}).raw
    {'X': [3, 4]}
    >>> with_numbers(made, {"X": [3], "Z": 1})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      given.X: expected a vector of 2, found a vector of 1
      given.Z: unknown name 'Z': expected one of X
    """
    faults = Faults()
    rows: dict[str, Rows] = {}
    for name, data in given.items():
        with faults.inside(f"given.{name}"):
            if name not in case.given:
                raise Malformed(f"unknown name {short(name)!r}: {expected(name, case.given)}")
            shape, rows[name] = read_rows(data, case.registry)
            wanted = case.program.quantities[name].shape
            if shape != wanted:
                raise Malformed(f"expected {show(wanted)}, found {show(shape)}")
    above = _upstream(upstream, case.program, case.registry, faults)
    faults.raise_all()
    return replace(
        case,
        given={**case.given, **rows},
        raw={**case.raw, **given},
        upstream=above,
        raw_upstream=upstream,
        source="",
        note="",
        extends="",
        claims=(),
        unchecked=(),
        tolerance=None,
        lines={},
        path=None,
        base=None,
        reading=None,
    )


def with_letters(case: Case, numbers: Mapping[str, object]) -> Case:
    """The case with exact numbers in the place of some of its symbols, by name.

    The program is the same, node for node. Raises :class:`Malformed` with every fault: a name
    that is no symbol of the case, what is no number, a number that is not in its domain.

    >>> made = make("two", {"X": ["a", 2]}, {"Y": "X * X"}, symbols=["a"])
    >>> with_letters(made, {"a": "1/2"}).given["X"]
    ((1/2, 2),)
    """
    known = read_numbers(case.registry.known, numbers)
    changed = {
        name: put_in(rows, known)
        for name, rows in case.given.items()
        if occurring(rows).keys() & known
    }
    raw = {name: texts(case.program.quantities[name].shape, x) for name, x in changed.items()}
    upstream, raw_upstream = case.upstream, case.raw_upstream
    if known.keys() & case.symbols and case.program.upstream is not None:
        upstream = put_in(case.upstream, known)
        raw_upstream = texts(case.program.upstream.shape, upstream)
    return replace(
        case,
        given={**case.given, **changed},
        raw={**case.raw, **raw},
        upstream=upstream,
        raw_upstream=raw_upstream,
        registry=case.registry.without(known),
    )


def _forward(
    given: Mapping[str, object],
    recipe: LoweredSteps,
    own: OwnFunctions,
    loss: object,
    registry: Letters,
    faults: Faults,
) -> tuple[Program, dict[str, Rows]]:
    """The program of the steps that have no fault, and the given numbers; ``grad(W)`` in a
    step is that of ``loss``."""
    shapes: dict[str, Shape] = {}
    rows: dict[str, Rows] = {}
    for key, data in given.items():
        with faults.inside(f"given.{key}"):
            shapes[key], rows[key] = read_rows(data, registry)
        if key not in rows and (bad := name_fault(key)):
            faults.append(Fault(f"given.{key}", bad))
    faults += register(registry, rows, {*given, *recipe.steps})
    steps = recipe.steps
    known = {key: step for key, step in steps.items() if isinstance(step, Step)}
    faults += [
        Fault(f"steps.{key}", f"expected an expression as text, found {kind(step)}")
        for key, step in steps.items()
        if key not in known
    ]
    unreadable = (given.keys() - shapes.keys()) | (steps.keys() - known.keys())
    unreadable |= recipe.unsound | own.unsound
    of = loss if isinstance(loss, str) else ""
    forward, step_faults = sound_part(shapes, known, unreadable, of, own.sound)
    faults += map(recipe.placed, step_faults)
    return forward, rows


def _differentiated(
    forward: Program, unsound: Set[str], loss: Mapping[str, object], faults: Faults
) -> Program:
    """The program with its gradients; without them where the output has a fault."""
    with faults.inside("loss"):
        unknown(loss, _LOSS_KEYS).raise_all()
    output = loss.get("output")
    if isinstance(output, str) and output in forward.steps:
        return differentiate(forward, output)
    if "output" in loss and not (isinstance(output, str) and output in unsound):
        known = ", ".join(forward.steps)
        message = f"expected a step ({known}), found {_shown(output)}{_hint(output, forward.steps)}"
        faults.append(Fault("loss.output", message))
    return forward


def _unjudged(full: Program, unsound: Set[str]) -> set[str]:
    """Return what claims may name without a fault of their own: what has one itself,
    and gradients of that; all gradients where the output has one."""
    without = unsound if full.upstream else full.quantities.keys() | unsound
    return {*unsound, *(f"d{name}" for name in without), *map(gradient_name, without)}


def _upstream(raw: object, full: Program, registry: Letters, faults: Faults) -> Rows:
    """The upstream gradient in the output's shape: all ones unless given."""
    target = full.upstream
    rows: Rows = ()
    if raw is None and target is not None:
        count, width = target.grid
        rows = NumberTable(width, [1] * (count * width), [1] * (count * width))
    elif raw is not None:
        with faults.inside("loss.upstream"):
            shape, rows = read_rows(raw, registry.opened())
            if target is not None and shape != target.shape:
                wanted = show(target.shape)
                raise Malformed(f"expected the output's shape, {wanted}, found {show(shape)}")
            if not isinstance(rows, NumberTable) or rows.has_masked:
                Faults(
                    Fault("".join(f"[{k}]" for k in keys(shape, i, j)), bad)
                    for i, row in enumerate(rows)
                    for j, entry in enumerate(row)
                    for bad in _entry_faults(entry, full)
                ).raise_all()
    return rows


def _entry_faults(entry: Value | Masked, full: Program) -> Iterator[str]:
    """Yield what keeps an entry from being one of an upstream gradient."""
    if isinstance(entry, Masked):
        yield "expected a finite number, found -inf"
        return
    for symbol in sorted(entry.letters):  # Those that cancel, too.
        if bad := symbol_fault(symbol):
            yield bad
        elif symbol in full.quantities:
            yield f"the symbol {symbol!r} is a quantity's name"


def _wrt(
    loss: Mapping[str, object], full: Program, unsound: Set[str], faults: Faults
) -> tuple[str, ...]:
    """The names to differentiate by: all that are no scalars, unless they are told."""
    wanted = loss.get("wrt")
    if wanted is None:
        return tuple(name for name, gradient in full.gradients.items() if gradient.shape)
    if not isinstance(wanted, list | tuple) or not wanted:
        faults.append(Fault("loss.wrt", f"expected a list of names, found {_shown(wanted)}"))
        return ()
    known = full.quantities.keys() | unsound
    wanted = [
        of if isinstance(name, str) and name not in known and (of := gradient_of(name)) else name
        for name in wanted[: len(known) + 1]
    ]
    # With more names than there are, one of these is unknown or named twice.
    for place, name in enumerate(wanted):
        bad = ""
        if not isinstance(name, str) or name not in known:
            bad = f"unknown name {_shown(name)}: {expected(name, full.quantities)}"
        elif wanted.index(name) < place:
            bad = f"{name} is named twice"
        elif full.upstream and name not in full.gradients.keys() | unsound:
            bad = f"{loss['output']} does not depend on {name}"
        if bad:
            faults.append(Fault(f"loss.wrt[{place}]", bad))
    return tuple(wanted)


def _shown(value: object) -> str:
    """A value as messages quote it."""
    return repr(short(value)) if isinstance(value, str) else short(repr(value))


def _hint(name: object, known: Iterable[str]) -> str:
    question = alike(name, known)
    return f"; {question}" if question else ""


def _tokens(tokens: Sequence[str], program: Program | None) -> tuple[str, ...]:
    """The tokens, which must be the labels of something in the program."""
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
        raise Malformed("expected a list of texts")
    count = len(tokens)
    if count and program and not any(count in x.shape for x in program.quantities.values()):
        raise Malformed(f"{count} tokens, but no quantity has {count} rows or columns")
    return tuple(tokens)


def _distance(tolerance: str | int | Decimal) -> fmpq:
    """A tolerance as documents print it: text such as 0.001, 1e-3 or 0.1%."""
    try:
        printed = read_printed(tolerance)
    except Malformed:
        printed = None
    if printed is None or printed.value <= 0:
        raise Malformed(f"expected a positive number, found {short(repr(tolerance))}")
    return printed.value
