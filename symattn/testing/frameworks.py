"""Packages that kernels are written for: their arrays, their gradients, and what kernels give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from symattn.errors import Malformed, expected
from symattn.numbers.float_formats import FloatFormat
from symattn.testing.attention_steps import Array, Flags

#: The packages whose arrays kernels may take.
FrameworkName = Literal["numpy", "torch", "jax"]

#: A kernel: queries, keys and values to the output, to the output and the log-sum-exp, or to
#: these and gradients by name.
Kernel = Callable[[Any, Any, Any], Any]
#: A kernel's backward pass: queries, keys, values and the upstream gradient to dQ, dK, dV.
Backward = Callable[[Any, Any, Any, Any], Any]

_Inputs = tuple[Any, Any, Any]
#: What a kernel gives, and gradients of it.
_Differentiated = tuple[Any, tuple[Any, ...]]


class Framework:
    """A package, by what is asked of it: NumPy unless others say otherwise; its bfloat16 and
    float8 are those of ml_dtypes."""

    #: Whether it can differentiate kernels itself.
    differentiates = False

    def array(self, values: Array, form: FloatFormat) -> Any:
        """An array of its own; the values are numbers of the format."""
        if form in ("float16", "float32", "float64"):
            return values.astype(form)
        import ml_dtypes

        return values.astype(getattr(ml_dtypes, form))

    def flags(self, values: Flags) -> Any:
        """A mask of its own."""
        return values

    def gradients(self, function: Kernel, inputs: _Inputs, upstream: Any) -> _Differentiated:
        """Return what a kernel gives, and the gradients of ``sum(upstream * output)``."""
        raise NotImplementedError


class _Torch(Framework):
    """PyTorch; gradients are its autograd's."""

    differentiates = True

    def array(self, values: Array, form: FloatFormat) -> Any:
        import torch

        # All numbers of the format are floats of 64 bits: nothing is rounded.
        return torch.tensor(values, dtype=torch.float64).to(getattr(torch, form))

    def flags(self, values: Flags) -> Any:
        import torch

        return torch.tensor(values)

    def gradients(self, function: Kernel, inputs: _Inputs, upstream: Any) -> _Differentiated:
        import torch

        leaves = tuple(x.detach().clone().requires_grad_() for x in inputs)
        result = function(*leaves)
        return result, torch.autograd.grad(_output_of(result), leaves, upstream)


class _Jax(Framework):
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

    def gradients(self, function: Kernel, inputs: _Inputs, upstream: Any) -> _Differentiated:
        import jax

        def output(*leaves: Any) -> tuple[Any, Any]:
            result = function(*leaves)
            return _output_of(result), result

        _, back, result = jax.vjp(output, *inputs, has_aux=True)
        return result, back(upstream)


_FRAMEWORKS: Mapping[FrameworkName, Framework] = {
    "numpy": Framework(),
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


def parts_of(result: Any) -> dict[str, Any]:
    """Return what a kernel gave, by name: the output, the log-sum-exp, gradients.

    >>> parts_of((1, 2)), parts_of({"out": 1, "dq": 3})
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
    parts = parts_of(result)
    if "output" not in parts:
        raise Malformed("function: expected an output to take gradients of, found none")
    return parts["output"]
