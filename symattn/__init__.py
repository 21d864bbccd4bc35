"""symattn computes attention exactly and shows its work.

    >>> import symattn
    >>> s = symattn.solve("cat-sat-mat")
    >>> s["A"].decimal(4)[0]
    (Decimal('0.5065'), Decimal('0.1863'), Decimal('0.3072'))

Names are loaded when they are first used, so that ``import symattn`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symattn.auditing.audit import Audit, audit
    from symattn.cases.case import Case
    from symattn.cases.library import load, names
    from symattn.errors import Fault, Malformed, SymattnError, Undecided
    from symattn.numbers.reading import from_floats
    from symattn.proofs import THEORY as theory
    from symattn.solution.attention import Attention, attention
    from symattn.solution.quantity import Quantity
    from symattn.solution.solution import Solution, solve
    from symattn.verdicts import Verdict

__version__ = "0.1.0"

_HOMES = {
    "Audit": "symattn.auditing.audit",
    "Attention": "symattn.solution.attention",
    "Case": "symattn.cases.case",
    "Fault": "symattn.errors",
    "Malformed": "symattn.errors",
    "Quantity": "symattn.solution.quantity",
    "Solution": "symattn.solution.solution",
    "SymattnError": "symattn.errors",
    "Undecided": "symattn.errors",
    "Verdict": "symattn.verdicts",
    "attention": "symattn.solution.attention",
    "audit": "symattn.auditing.audit",
    "from_floats": "symattn.numbers.reading",
    "load": "symattn.cases.library",
    "names": "symattn.cases.library",
    "solve": "symattn.solution.solution",
    "theory": "symattn.proofs",
}

__all__ = [
    "Attention",
    "Audit",
    "Case",
    "Fault",
    "Malformed",
    "Quantity",
    "Solution",
    "SymattnError",
    "Undecided",
    "Verdict",
    "__version__",
    "attention",
    "audit",
    "from_floats",
    "load",
    "names",
    "solve",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'symattn' has no attribute {name!r}")
    # The derivations are a mapping, and a constant of their package.
    value = getattr(import_module(_HOMES[name]), "THEORY" if name == "theory" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
