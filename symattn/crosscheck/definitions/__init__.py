r"""The definitions of the operations and of their gradients, entry by entry.

Each function gives one entry of a result, the way a textbook writes it. The
recomputation runs these very functions, and sheets typeset their source, so a
reader of a sheet sees the code that was checked. Whence the style: one ``return``
with nothing but scalar arithmetic, :mod:`symattn.crosscheck.lines`, choices
and ``sum``.

What flows into an operand is mostly what the chain rule makes of the definition itself
(:mod:`symattn.crosscheck.chain`). Where a sheet shows it, or a kink has a convention, a
gradient gives one entry of ``dL/dX`` for an operand ``X`` of an operation with the result
``C``; ``G`` is the gradient that arrives, ``dL/dC``.

Names, the same everywhere: ``n`` and ``d`` are the numbers of rows and columns
of the first operand, ``m`` is the number of columns of the result. Indices
come last and count from 0. How operands are taken is said by :mod:`.kinds`.
Tests hold each against NumPy, each gradient against differences too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType

from symattn.crosscheck.definitions import elementary, norms, shapes, sums, weights
from symattn.crosscheck.definitions.weights import Rules, Scalar

#: The families of operations, in the order in which :func:`names` lists them.
FAMILIES: tuple[ModuleType, ...] = (sums, elementary, weights, weights, shapes, norms)
RULES: Rules = {name: rule for family in FAMILIES for name, rule in family.RULES.items()}

#: What indices are called.
INDICES = ("i", "j", "k", "c")
JACOBIAN = "softmax_jacobian"


@cache
def parameters(name: str) -> Mapping[str, str]:
    """The parameters of a definition, with their kinds.

    >>> parameters("transpose")
    {'A': 'Matrix', 'i': 'int', 'j': 'int'}
    """
    signature = inspect.signature(definition(name))
    return {key: parameter.annotation for key, parameter in signature.parameters.items()}


@cache
def operands(operation: str) -> tuple[str, ...]:
    """What a definition calls the operands of its operation.

    >>> operands("score"), operands("softmax")
    (('Q', 'K'), ('S',))
    """
    taken = [key for key, kind in parameters(operation).items() if kind != "int"]
    return tuple(taken[: len(RULES[operation][1])])


@cache
def _gradients() -> Mapping[str, tuple[str, str]]:
    """Each gradient with the operation and the operand that it is for."""
    gradients: dict[str, tuple[str, str]] = {}
    for operation, (_, flows) in RULES.items():
        for name, operand in zip(flows, operands(operation), strict=True):
            if name:
                gradients.setdefault(name, (operation, operand))
    return gradients


@cache
def names() -> tuple[str, ...]:
    """The names of all definitions, results first, then gradients.

    >>> names()[0], names()[-1]
    ('product', 'cross_entropy_target_gradient')
    """
    return (*RULES, JACOBIAN, *_gradients())


def gradients() -> tuple[str, ...]:
    """The names of the gradients.

    >>> gradients()[0]
    'product_left_gradient'
    """
    return tuple(_gradients())


def definition(name: str) -> Callable[..., Scalar]:
    """The function that defines ``name``, one of :func:`names`.

    >>> definition("rowsum")([[1, 2]], 2, 0)
    3
    """
    function: Callable[..., Scalar]
    function = getattr(next(family for family in FAMILIES if hasattr(family, name)), name)
    return function


def indices(name: str) -> tuple[str, ...]:
    """The indices at which a definition gives an entry.

    >>> indices("softmax"), indices("product_left_gradient")
    (('i', 'j'), ('i', 'k'))
    """
    kinds = parameters(name).items()
    return tuple(key for key, kind in kinds if kind == "int" and key in INDICES)


def differentiated(gradient: str) -> str:
    """The operand that a gradient is by.

    >>> differentiated("product_left_gradient")
    'A'
    """
    return _gradients()[gradient][1]
