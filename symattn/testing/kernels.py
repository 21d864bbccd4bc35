"""Kernels judged: a function is called, and all that it gives is held against the truth.

One array judged: as data, or as an assertion.

Packages that kernels are written for: their arrays, and their gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol, get_args

import numpy as np

from symattn.errors import Faults, Malformed, expected
from symattn.ieee import need_ieee
from symattn.numbers.arrays import from_floats
from symattn.numbers.float_formats import FORMATS, FloatFormat
from symattn.numbers.rows import ArrayLike, Mask, Number
from symattn.solution.arguments import Empty
from symattn.solution.attention import attention
from symattn.solution.masks import Alignment
from symattn.solution.quantity import Quantity
from symattn.testing.attention_steps import Array, Flags, rounded_to
from symattn.testing.bounds import Level, Precision, floats_of, format_of, named
from symattn.testing.causes import causes_of
from symattn.testing.judged import JudgedArray, KernelCause, Report, failure, likely
from symattn.verdicts import Verdict


def report(
    actual: object,
    quantity: Quantity,
    *,
    dtype: object = None,
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    tolerance: float | None = None,
) -> Report:
    """An array judged against an exact quantity: a part of :func:`symattn.attention`, as
    ``exact.output`` or ``exact.backward(do).dQ``.

    ``actual`` is an array of NumPy, PyTorch, JAX or any other package, or nested lists.
    ``dtype`` is the format that it was computed in, its own unless given; ``accumulate`` that
    of sums, float32 for narrower ones unless given. The verdict is by the bound for correct
    kernels of that working precision, see :mod:`symattn.testing.bounds`, or, with a
    ``tolerance``, by that many unit roundoffs of each entry's condition, the sum of the
    magnitudes of its terms. Of a quantity that is no part of attention the magnitude of the
    entry itself is taken, and :class:`Malformed` asks for a tolerance.

    >>> import numpy as np
    >>> from symattn import attention
    >>> exact = attention([[1]], [[0], [1]], [[1], [2]])
    >>> judged = report(np.array([[1.7310586]], "float32"), exact.output)
    >>> print(judged)
    output, 1x1, float32: right; worst 0.0053 of the bound, 0.16 ulp; 100.0% correctly rounded
    >>> report([[1.7311]], exact.output, dtype="float32").verdict
    <Verdict.REFUTED: 'refuted'>
    """
    return _judged(actual, quantity, _precision(actual, dtype, level, accumulate), tolerance)[1]


def assert_close(
    actual: object,
    quantity: Quantity,
    *,
    dtype: object = None,
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    tolerance: float | None = None,
) -> None:
    """Raise :class:`AssertionError` unless an array is what a correct kernel may give; the
    arguments are those of :func:`report`.

    >>> import numpy as np
    >>> from symattn import attention
    >>> exact = attention([[1]], [[0], [1]], [[1], [2]])
    >>> assert_close(np.array([[1.7310586]], "float32"), exact.output)
    >>> try:
    ...     assert_close(np.array([1.7310586], "float32"), exact.output)
    ... except AssertionError as error:
    ...     print(str(error).strip())
    Not what a correct float32 kernel may give (bound: unfused)
    output: shapes differ: (1,) (ACTUAL), (1, 1) (EXACT)
    """
    precision = _precision(actual, dtype, level, accumulate)
    judged, report = _judged(actual, quantity, precision, tolerance)
    if report.verdict is not Verdict.HOLDS:
        raise AssertionError(failure([judged], report.causes))


def _judged(
    actual: object, quantity: Quantity, precision: Precision, tolerance: float | None
) -> tuple[JudgedArray, Report]:
    judged = JudgedArray(actual, quantity, precision, tolerance)
    causes = causes_of({judged.name: judged}, precision)
    return judged, replace(judged.report, causes=causes)


def _precision(
    actual: object, dtype: object, level: Level, accumulate: FloatFormat | None
) -> Precision:
    form = format_of(actual) if dtype is None else named(dtype)
    if form is None:
        own = getattr(actual, "dtype", None)
        if own is not None:
            raise Malformed(f"dtype: expected the format of {own}: one of {', '.join(FORMATS)}")
        form = "float64"
    return Precision(form, accumulate, level)


#: The packages whose arrays kernels may take.
FrameworkName = Literal["numpy", "torch", "jax"]

#: A kernel: queries, keys and values to the output, to the output and the log-sum-exp, or to
#: these and gradients by name.
Kernel = Callable[[Any, Any, Any], Any]
#: A kernel's backward pass: queries, keys, values and the upstream gradient to dQ, dK, dV.
Backward = Callable[[Any, Any, Any, Any], Any]


class Framework(Protocol):
    """What is asked of a package."""

    #: Whether it can differentiate kernels itself.
    differentiates: bool

    def array(self, values: Array, form: FloatFormat) -> Any:
        """An array of its own; the values are numbers of the format."""

    def flags(self, values: Flags) -> Any:
        """A mask of its own."""

    def gradients(
        self, function: Kernel, inputs: tuple[Any, Any, Any], upstream: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        """What a kernel gives, and the gradients of ``sum(upstream * output)``."""


class _NumPy:
    """NumPy; bfloat16 and float8 are those of ml_dtypes."""

    differentiates = False

    def array(self, values: Array, form: FloatFormat) -> Any:
        if form in ("float16", "float32", "float64"):
            return values.astype(form)
        import ml_dtypes

        return values.astype(getattr(ml_dtypes, form))

    def flags(self, values: Flags) -> Any:
        return values

    def gradients(
        self, function: Kernel, inputs: tuple[Any, Any, Any], upstream: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        """NumPy has none: :class:`Malformed`."""
        raise Malformed("backward: NumPy has no automatic differentiation, expected a function")


class _Torch:
    """PyTorch; gradients are its autograd's."""

    differentiates = True

    def array(self, values: Array, form: FloatFormat) -> Any:
        import torch

        # All numbers of the format are floats of 64 bits: nothing is rounded.
        return torch.tensor(values, dtype=torch.float64).to(getattr(torch, form))

    def flags(self, values: Flags) -> Any:
        import torch

        return torch.tensor(values)

    def gradients(
        self, function: Kernel, inputs: tuple[Any, Any, Any], upstream: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        import torch

        leaves = tuple(x.detach().clone().requires_grad_() for x in inputs)
        result = function(*leaves)
        return result, torch.autograd.grad(_output_of(result), leaves, upstream)


class _Jax:
    """JAX; gradients are those of ``jax.vjp``."""

    differentiates = True

    def array(self, values: Array, form: FloatFormat) -> Any:
        """See :class:`Framework`; :class:`Malformed` where JAX makes float32 of float64."""
        import jax
        import jax.numpy as jnp

        if form == "float64" and not jax.config.jax_enable_x64:
            raise Malformed(
                "dtype: JAX turns float64 into float32 unless configured otherwise: "
                'jax.config.update("jax_enable_x64", True)'
            )
        return jnp.asarray(values, dtype=getattr(jnp, form))

    def flags(self, values: Flags) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(values)

    def gradients(
        self, function: Kernel, inputs: tuple[Any, Any, Any], upstream: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        import jax

        def output(*leaves: Any) -> tuple[Any, Any]:
            result = function(*leaves)
            return _output_of(result), result

        _, back, result = jax.vjp(output, *inputs, has_aux=True)
        return result, back(upstream)


_FRAMEWORKS: Mapping[FrameworkName, Framework] = {
    "numpy": _NumPy(),
    "torch": _Torch(),
    "jax": _Jax(),
}


def framework_of(name: str) -> Framework:
    """The package of that name; :class:`Malformed` names those there are.

    >>> import numpy as np
    >>> framework_of("numpy").array(np.ones(2), "float16")
    array([1., 1.], dtype=float16)
    """
    for known, framework in _FRAMEWORKS.items():
        if known == name:
            return framework
    raise Malformed(f"framework: unknown {name!r}: {expected(name, get_args(FrameworkName))}")


#: What kernels call what they give, in small letters.
_NAMES = {
    "output": ("output", "out", "o", "y"),
    "lse": ("lse", "logsumexp", "softmax_lse"),
    "dQ": ("dq",),
    "dK": ("dk",),
    "dV": ("dv",),
}


def _parts_of(result: Any) -> dict[str, Any]:
    """What a kernel gave, by name: the output, the log-sum-exp, gradients.

    >>> _parts_of((1, 2)), _parts_of({"out": 1, "dq": 3})
    ({'output': 1, 'lse': 2}, {'output': 1, 'dQ': 3})
    """
    if isinstance(result, Mapping):
        known = {name: part for part, names in _NAMES.items() for name in names}
        parts = {
            known[str(key).lower()]: x for key, x in result.items() if str(key).lower() in known
        }
        if not parts:
            wanted = ", ".join(_NAMES)
            raise Malformed(
                f"function: expected some of {wanted}, found {', '.join(map(str, result))}"
            )
        return parts
    if isinstance(result, tuple):
        if not 1 <= len(result) <= 2:
            raise Malformed(
                f"function: expected the output, or it and the log-sum-exp, found {len(result)} "
                "results: return a mapping from names"
            )
        return dict(zip(("output", "lse"), result, strict=False))
    return {"output": result}


def _output_of(result: Any) -> Any:
    """The output among what a kernel gave; :class:`Malformed` without one."""
    parts = _parts_of(result)
    if "output" not in parts:
        raise Malformed("function: expected an output to take gradients of, found none")
    return parts["output"]


@dataclass(frozen=True)
class KernelReport:
    """What is said of a kernel: a report of each array that it gave, by name (``output``,
    ``lse``, ``dQ``, ``dK``, ``dV``), why it is wrong where that can be told, and what a failing
    test says."""

    reports: Mapping[str, Report]
    causes: tuple[KernelCause, ...] = ()
    message: str = ""

    @property
    def verdict(self) -> Verdict:
        """``holds`` if all arrays do, else ``refuted``."""
        return Verdict.all(report.verdict for report in self.reports.values())

    def raise_if_wrong(self) -> None:
        """Raise :class:`AssertionError` that says what is wrong, if anything is."""
        if self.verdict is not Verdict.HOLDS:
            raise AssertionError(self.message)

    def as_dict(self) -> dict[str, object]:
        """The report for JSON."""
        parts = {name: report.as_dict() for name, report in self.reports.items()}
        causes = [asdict(cause) for cause in self.causes]
        return {"verdict": str(self.verdict), "parts": parts, "causes": causes}

    def __str__(self) -> str:
        return "\n".join([*map(likely, self.causes), *map(str, self.reports.values())])


def check_attention(
    function: Kernel,
    *,
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    upstream: ArrayLike | None = None,
    backward: Backward | None = None,
    framework: FrameworkName = "numpy",
    dtype: object = "float32",
    level: Level = "unfused",
    accumulate: FloatFormat | None = None,
    raises: bool = True,
    mask: Mask | None = None,
    scale: Number | float | None = None,
    bias: ArrayLike | None = None,
    causal: Alignment | bool | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    lengths: Number | ArrayLike | None = None,
    softcap: Number | float | None = None,
    sink: Number | float | ArrayLike | None = None,
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

    Each array is judged as by :func:`~symattn.testing.kernels.report`. Raises
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
    reports = {name: judgement.report for name, judgement in judged.items()}
    wrong = [one for one in judged.values() if one.report.verdict is not Verdict.HOLDS]
    causes = causes_of(judged, precision)
    result = KernelReport(reports, causes, failure(wrong, causes) if wrong else "")
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
        return _parts_of(function(*inputs))
    above = made_by.array(upstream, form)
    if backward is None and not made_by.differentiates:
        return _parts_of(function(*inputs))
    if backward is None:
        result, gradients = made_by.gradients(function, inputs, above)
    else:
        result, gradients = function(*inputs), backward(*inputs, above)
    parts = _parts_of(result)
    if isinstance(gradients, Mapping):
        return parts | _parts_of(gradients)
    if len(gradients) != 3:
        raise Malformed(f"backward: expected dQ, dK, dV, found {len(gradients)} results")
    return parts | dict(zip(("dQ", "dK", "dV"), gradients, strict=True))
