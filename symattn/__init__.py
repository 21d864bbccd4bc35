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
    from symattn.cases.case import make as case
    from symattn.cases.claims import Claim
    from symattn.cases.library import load, names
    from symattn.errors import Fault, Malformed, SymattnError, Undecided, UnknownName
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
    "Claim": "symattn.cases.claims",
    "Fault": "symattn.errors",
    "Malformed": "symattn.errors",
    "Quantity": "symattn.solution.quantity",
    "Solution": "symattn.solution.solution",
    "SymattnError": "symattn.errors",
    "Undecided": "symattn.errors",
    "UnknownName": "symattn.errors",
    "Verdict": "symattn.verdicts",
    "attention": "symattn.solution.attention",
    "audit": "symattn.auditing.audit",
    "case": "symattn.cases.case",
    "from_floats": "symattn.numbers.reading",
    "load": "symattn.cases.library",
    "names": "symattn.cases.library",
    "solve": "symattn.solution.solution",
    "theory": "symattn.proofs",
}
#: What is called otherwise at home, where its module says what it is.
_AT_HOME = {"case": "make", "theory": "THEORY"}

__all__ = [
    "Attention",
    "Audit",
    "Case",
    "Claim",
    "Fault",
    "Malformed",
    "Quantity",
    "Solution",
    "SymattnError",
    "Undecided",
    "UnknownName",
    "Verdict",
    "__version__",
    "attention",
    "audit",
    "case",
    "from_floats",
    "load",
    "names",
    "solve",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'symattn' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), _AT_HOME.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
