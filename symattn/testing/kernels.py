"""Kernels judged: a function is called, and all that it gives is held against the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from symattn.errors import Faults, Malformed
from symattn.ieee import need_ieee
from symattn.numbers.arrays import from_floats
from symattn.numbers.formats import FloatFormat
from symattn.numbers.kinds import Mask, Number, Numbers
from symattn.solution.arguments import Empty
from symattn.solution.attention import attention
from symattn.solution.visibility import Alignment
from symattn.testing.bounds import Level, Precision, floats_of, format_of, named
from symattn.testing.causes import causes_of
from symattn.testing.frameworks import (
    Backward,
    Framework,
    FrameworkName,
    Kernel,
    framework_of,
    parts_of,
)
from symattn.testing.judged import JudgedArray, KernelCause, Report
from symattn.testing.model import Array, rounded_to
from symattn.testing.reports import cause_lines
from symattn.verdicts import Verdict


@dataclass(frozen=True)
class KernelReport:
    """What is said of a kernel: a report of each array that it gave, by name (``output``,
    ``lse``, ``dQ``, ``dK``, ``dV``), why it is wrong where that can be told, and all of it in
    words."""

    reports: Mapping[str, Report]
    causes: tuple[KernelCause, ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """``holds`` if all arrays do, else ``refuted``."""
        return Verdict.all(report.verdict for report in self.reports.values())

    def raise_if_wrong(self) -> None:
        """Raise :class:`AssertionError` that says what is wrong, if anything is."""
        if self.verdict is not Verdict.HOLDS:
            raise AssertionError("\n".join([*self.messages, *cause_lines(self.causes)]))

    def as_dict(self) -> dict[str, object]:
        """The report for JSON."""
        parts = {name: report.as_dict() for name, report in self.reports.items()}
        causes = [asdict(cause) for cause in self.causes]
        return {"verdict": str(self.verdict), "parts": parts, "causes": causes}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.reports.values()), *cause_lines(self.causes)])


def check_attention(
    function: Kernel,
    *,
    q: Numbers,
    k: Numbers,
    v: Numbers,
    upstream: Numbers | None = None,
    backward: Backward | None = None,
    framework: FrameworkName = "numpy",
    dtype: object = "float32",
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    raises: bool = True,
    mask: Mask | None = None,
    scale: Number | float | None = None,
    bias: Numbers | None = None,
    causal: Alignment | bool | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    lengths: Number | Numbers | None = None,
    softcap: Number | float | None = None,
    sink: Number | float | Numbers | None = None,
    on_empty_row: Empty = "error",
) -> KernelReport:
    """Call a kernel with arrays, and judge all that it gives by the exact attention of them.

    Queries, keys and values, floats or exact numbers, are rounded to ``dtype`` and handed over
    as arrays of the ``framework``; ``function(q, k, v)`` returns the output, or the output and
    the log-sum-exp, or a mapping with some of output, lse, dQ, dK, dV. Gradients of
    ``sum(upstream * output)`` are asked of ``backward(q, k, v, upstream)``, which returns dQ,
    dK and dV, else, with an ``upstream``, of PyTorch or JAX; without an upstream those of
    ``backward`` are with all ones.
    The last arguments are those of :func:`symattn.attention`: what the kernel should compute.
    Floats among them are taken for their binary values.

    Each array is judged as by :func:`~symattn.testing.reports.report`. Raises
    :class:`AssertionError` that says what is wrong, unless ``raises`` is false, and
    :class:`~symattn.errors.Unsound` where the kernel leaves floats changed for the whole process.

    >>> def kernel(q, k, v):
    ...     weights = np.exp(q @ k.T / np.sqrt(np.float32(q.shape[1])))
    ...     return weights / weights.sum(axis=1, keepdims=True) @ v
    >>> report = check_attention(kernel, q=[[1, 2]], k=[[1, 0], [0, 1]], v=[[1], [0]])
    >>> report.verdict, report.reports["output"].max_over_bound < 0.1
    (<Verdict.HOLDS: 'holds'>, True)
    """
    form = named(dtype)
    made_by = framework_of(framework)
    faults = Faults()
    tables: list[Array] = []
    for name, data in (("Q", q), ("K", k), ("V", v), ("upstream", upstream)):
        with faults.inside(name):
            tables += [] if data is None else [rounded_to(floats_of(data), form)]
    faults.raise_all()
    above = tables.pop() if upstream is not None else None
    exact = attention(
        from_floats(tables[0]),
        from_floats(tables[1]),
        from_floats(tables[2]),
        mask,
        _exact(scale),
        bias=_exact(bias),
        causal=causal,
        window=window,
        lengths=lengths,
        softcap=_exact(softcap),
        sink=_exact(sink),
        on_empty_row=on_empty_row,
    )
    if above is None and backward is not None:
        above = np.ones(exact.output.shape)
    truth: dict[str, Any] = {"output": exact.output, "lse": exact.lse}
    if above is not None:
        back = exact.backward(from_floats(above))
        truth |= {"dQ": back.dQ, "dK": back.dK, "dV": back.dV}
    arrays = _called(function, backward, made_by, form, tables, above)
    need_ieee("the kernel was called")
    judged = {}
    precision = Precision(form, accumulate, level)
    for name, array in arrays.items():
        if name not in truth:
            raise Malformed(f"upstream: expected one, the kernel gave {name}")
        judged[name] = JudgedArray(array, truth[name], precision)
    messages = tuple(
        judgement.message()
        for judgement in judged.values()
        if judgement.report.verdict is not Verdict.HOLDS
    )
    reports = {name: judgement.report for name, judgement in judged.items()}
    result = KernelReport(reports, causes_of(judged, precision), messages)
    if raises:
        result.raise_if_wrong()
    return result


def _exact(number: Any) -> Any:
    """Floats as their exact values, everything else as it is."""
    floats = isinstance(number, float) or format_of(number) is not None
    return from_floats(number) if floats else number


def _called(
    function: Kernel,
    backward: Backward | None,
    made_by: Framework,
    form: FloatFormat,
    tables: list[Array],
    upstream: Array | None,
) -> dict[str, Any]:
    """What a kernel gives, by name, its gradients too."""
    q, k, v = (made_by.array(x, form) for x in tables)
    inputs = q, k, v
    if upstream is None:
        return parts_of(function(*inputs))
    above = made_by.array(upstream, form)
    if backward is None and not made_by.differentiates:
        return parts_of(function(*inputs))
    if backward is None:
        result, gradients = made_by.gradients(function, inputs, above)
    else:
        result, gradients = function(*inputs), backward(*inputs, above)
    parts = parts_of(result)
    if isinstance(gradients, Mapping):
        return parts | parts_of(gradients)
    if len(gradients) != 3:
        raise Malformed(f"backward: expected dQ, dK, dV, found {len(gradients)} results")
    return parts | dict(zip(("dQ", "dK", "dV"), gradients, strict=True))
