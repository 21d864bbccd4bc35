"""Ready cases for tests of kernels: which samples, handed over how, and what was found."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import groupby
from typing import Any, Literal

import numpy as np
import pytest

from symattn import __version__
from symattn.errors import Fault, Faults, Malformed, expected
from symattn.escaping import json_text, visible
from symattn.expressions.shapes import Shape
from symattn.numbers.float_formats import FloatFormat
from symattn.solution.layouts import laid_out
from symattn.testing.frameworks import Backward, Framework, FrameworkName, Kernel, framework_of
from symattn.testing.kernels import KernelReport, check_attention
from symattn.testing.precision import Level
from symattn.testing.samples import DTYPES, KINDS, STANDARD
from symattn.testing.vectors import SampleRequest

#: Options that say which keys a query sees: a mask says all of them.
_SIGHT = ("mask", "causal", "window", "lengths")
#: Options that say what is right; a kernel need not be told.
_UNTOLD = ("on_empty_row",)
#: The columns of the table, and its rows at most.
_PARTS = ("output", "lse", "dQ", "dK", "dV")
_ROWS = 60


@dataclass(frozen=True)
class Choice:
    """A sample that a test is run for; whether its kind was named, or is one of all."""

    wanted: SampleRequest
    is_named: bool


@dataclass(frozen=True)
class _Marked:
    """What ``@pytest.mark.attention`` can say."""

    kinds: Sequence[str] = STANDARD
    dtypes: Sequence[str] = ("float32",)
    seeds: int | Sequence[int] = 1
    n: int = 8
    d: int = 8
    lead: Shape = ()


def choices(marks: Sequence[tuple[Sequence[object], Mapping[str, Any]]]) -> list[Choice]:
    """The samples that markers choose, given by their arguments; what a later one says counts.

    ``kinds`` is one or several of :data:`~symattn.testing.samples.KINDS` or ``"all"``, those for
    every kernel unless given; ``dtypes`` likewise of the formats, float32 (``"all"`` are those
    without float8); ``seeds`` is how many or which. Raises :class:`Malformed` with every fault.

    >>> [choice.wanted.name for choice in choices([((), {"kinds": "sink", "seeds": 2})])]
    ['sink-float32-0', 'sink-float32-1']
    """
    faults = Faults()
    values: dict[str, Any] = {}
    known = [part.name for part in fields(_Marked)]
    for words, named in marks:
        if words:
            faults.append(Fault("", f"expected words such as kinds=..., found {words[0]!r}"))
        for name in named:
            if name not in known:
                faults.append(Fault(name, f"unknown word: {expected(name, known)}"))
        values |= named
    faults.raise_all()
    marked = _Marked(**values)
    kinds = (*KINDS,) if marked.kinds == "all" else _several(marked.kinds)
    dtypes = DTYPES if marked.dtypes == "all" else _several(marked.dtypes)
    seeds = range(marked.seeds) if isinstance(marked.seeds, int) else marked.seeds
    chosen = [
        Choice(
            SampleRequest(kind, dtype, seed, marked.n, marked.d, (*marked.lead,)), "kinds" in values
        )
        for kind in kinds
        for dtype in dtypes
        for seed in seeds
    ]
    # What there is not is told before any test is run.
    messages: dict[str, Fault] = {}
    for choice in chosen:
        try:
            choice.wanted.sample()
        except Malformed as error:
            messages |= {str(fault): fault for fault in error.faults}
    Faults(messages.values()).raise_all()
    return chosen


def _several(names: str | Sequence[str]) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names


class AttentionCase:
    """A sample that a kernel is tried on: the fixture ``attention_case``.

    ``q``, ``k``, ``v``, ``upstream`` and ``options`` are the sample's, in NumPy (bfloat16 and
    float8 are held in float32).
    """

    def __init__(self, choice: Choice, test: str, record: Callable[[dict[str, Any]], None]) -> None:
        self.sample = choice.wanted.sample()
        self.name = choice.wanted.name
        self.q, self.k, self.v = self.sample.q, self.sample.k, self.sample.v
        self.upstream = self.sample.upstream
        self.options = self.sample.options
        self._choice = choice
        self._test = test
        self._record = record

    def __repr__(self) -> str:
        return f"<{self.name}: {KINDS[self.sample.kind].what}>"

    def check(
        self,
        function: Kernel,
        backward: Backward | None = None,
        *,
        framework: FrameworkName = "numpy",
        level: Level = "unfused",
        accumulate: FloatFormat | None = None,
        dtype: object = None,
        formats: Mapping[str, object] | None = None,
        rows: Literal["sample"] | int | Sequence[int] | None = None,
        layout: str | None = None,
    ) -> KernelReport:
        """Judge ``function(q, k, v)`` and ``backward(q, k, v, upstream)`` on this sample, see
        :func:`symattn.testing.check_attention`.

        The sample's options (mask, causal, window, lengths, bias, softcap, sink) are handed over by
        their names to a function that takes them; one that takes a ``mask`` alone gets what causal,
        window and lengths say as a mask. Where a function lacks what a sample needs the test is
        skipped, or fails if its marker named the kind. The inputs are always of the sample's
        format, as is what is stored on the way unless ``dtype`` says another. ``rows`` judges some
        queries only, for large samples. ``layout`` names the axes that the kernel has, as many as
        the sample, whose ``lead`` the marker says.
        """
        __tracebackhide__ = True
        made_by = framework_of(framework)
        arranged = partial(laid_out, layout=layout)
        handed = self._handed(function, made_by)
        bound = None if backward is None else partial(backward, **self._handed(backward, made_by))
        report = check_attention(
            partial(function, **handed),
            q=arranged(self.q),
            k=arranged(self.k),
            v=arranged(self.v),
            upstream=arranged(self.upstream),
            backward=bound,
            framework=framework,
            dtype=self.sample.dtype if dtype is None else dtype,
            formats={**(formats or {}), "inputs": self.sample.dtype},
            level=level,
            accumulate=accumulate,
            raises=False,
            rows=rows,
            seed=self.sample.seed,
            layout=layout,
            **self.options,
        )
        about = {name: getattr(self.sample, name) for name in ("kind", "dtype", "seed")}
        self._record({"test": self._test, "case": self.name, **about, **report.as_dict()})
        try:
            report.raise_if_wrong()
        except AssertionError as error:
            raise AssertionError(f"{self!r}{error}") from None
        return report

    def _handed(self, function: Callable[..., Any], made_by: Framework) -> dict[str, Any]:
        """The options for a function, as arrays of its package; skips or fails the test
        where it lacks one."""
        __tracebackhide__ = True
        takes = _taken(function)
        sight = [name for name in _SIGHT if name in self.options]
        wanted = {name: x for name, x in self.options.items() if name not in _UNTOLD}
        if not all(map(takes, sight)) and takes("mask"):
            wanted = {name: x for name, x in wanted.items() if name not in sight}
            wanted["mask"] = self.sample.visible
        lacking = [name for name in wanted if not takes(name)]
        if lacking:
            message = " and no ".join("mask" if name in _SIGHT else name for name in lacking)
            message = f"the kernel takes no {message}, which {self.name} needs"
            if self._choice.is_named:
                pytest.fail(
                    f"{message}: leave the kind out of the marker, or let the kernel take it",
                    pytrace=False,
                )
            pytest.skip(message)
        return {name: self._array(x, made_by) for name, x in wanted.items()}

    def _array(self, option: Any, made_by: Framework) -> Any:
        if not isinstance(option, np.ndarray):
            return option
        if option.dtype == bool:
            return made_by.flags(option)
        return made_by.array(option.astype(np.float64), self.sample.dtype)


def _taken(function: Callable[..., Any]) -> Callable[[str], bool]:
    """Return whether a function takes an argument by that name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        # A function in C that doesn't say.
        return lambda name: False
    takes_any = any(x.kind is inspect.Parameter.VAR_KEYWORD for x in parameters)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = {x.name for x in parameters if x.kind in kinds}
    return lambda name: takes_any or name in named


def report(checks: Sequence[Mapping[str, Any]]) -> bytes:
    """Return what checks found as JSON, in whatever order they ended."""
    ordered = sorted(checks, key=lambda check: (check["test"], check["case"]))
    return f"{json_text({'symattn': __version__, 'checks': ordered})}\n".encode()


def table(checks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool]]:
    """The lines of a table of what checks found, each with whether it tells of a fault: for
    every test, kind and format the largest error of each part over its bound.

    >>> check = {"test": "t.py::test[sink-float32-0]", "kind": "sink", "dtype": "float32",
    ...     "verdict": "holds", "parts": {"output": {"max_over_bound": 0.25, "mismatch": ""}}}
    >>> for line, _ in table([check]):
    ...     print(line)
    test        kind  dtype    samples  output
    t.py::test  sink  float32        1    0.25
    """

    def key(check: Mapping[str, Any]) -> tuple[str, str, str]:
        return check["test"].partition("[")[0], check["kind"], check["dtype"]

    parts = [name for name in _PARTS if any(name in check["parts"] for check in checks)]
    rows: list[tuple[list[str], bool]] = []
    for names, group in groupby(sorted(checks, key=key), key):
        checked = [*group]
        cells = [_cell([check["parts"].get(part) for check in checked]) for part in parts]
        is_wrong = any(check["verdict"] != "holds" for check in checked)
        rows.append(([*map(visible, names), str(len(checked)), *cells], is_wrong))
    # Faults first where not all can be shown.
    listed = sorted(rows, key=lambda row: not row[1])[:_ROWS] if len(rows) > _ROWS else rows
    head = ["test", "kind", "dtype", "samples", *parts]
    widths = [
        max(map(len, column)) for column in zip(head, *(row for row, _ in listed), strict=True)
    ]
    for cells, is_wrong in [(head, False), *listed]:
        left = [cell.ljust(width) for cell, width in zip(cells[:3], widths[:3], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(cells[3:], widths[3:], strict=True)]
        yield "  ".join([*left, *right]), is_wrong
    if len(rows) > len(listed):
        yield f"and {len(rows) - len(listed)} more", any(wrong for _, wrong in rows[_ROWS:])


def _cell(parts: Sequence[Mapping[str, Any] | None]) -> str:
    """The largest error over its bound among the reports of a part."""
    known = [part for part in parts if part is not None]
    if not known:
        return ""
    if any(part["mismatch"] for part in known):
        return "other"
    ratios = [part["max_over_bound"] for part in known]
    # JSON has no infinity.
    return "inf" if None in ratios else f"{max(ratios):.2g}"
