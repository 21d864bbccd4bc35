"""symattn computes attention exactly and shows its work.

    >>> import symattn
    >>> s = symattn.solve("cat-sat-mat")
    >>> s["A"].decimal(4)[0]
    (Decimal('0.5065'), Decimal('0.1863'), Decimal('0.3072'))

Names are loaded when they are first used, so that ``import symattn`` is quick.
"""

from __future__ import annotations

# What runs this package as a command can't be ended quietly before all of this is loaded.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from symattn import testing
    from symattn.auditing.audit import Audit, audit
    from symattn.auditing.figures import Cause, Figure, Slip, Statement
    from symattn.calculus.derivation import Derivation
    from symattn.calculus.library import THEORY as theory
    from symattn.calculus.library import derive
    from symattn.case_derivation import derive_case
    from symattn.cases.case import Case
    from symattn.cases.case import make as case
    from symattn.cases.claims import Claim
    from symattn.cases.functions import function
    from symattn.cases.library import load, names
    from symattn.drawing.picture import draw
    from symattn.errors import (
        Fault,
        Malformed,
        NoClosedForm,
        OutOfRange,
        SymattnError,
        Undecided,
        UnknownName,
    )
    from symattn.numbers.arrays import from_blocks, from_floats
    from symattn.numbers.reading import read
    from symattn.numbers.values import Value
    from symattn.sheets.case_sheet import sheet
    from symattn.solution.attention import Attention, attention
    from symattn.solution.layouts import from_pages
    from symattn.solution.quantity import Quantity
    from symattn.solution.solution import Solution, solve
    from symattn.verdicts import Verdict
    from symattn.verification import Verification, verify

__version__ = "0.2.0"

#: The module that each public name is from; what has none is a module itself.
_HOMES = {
    "Attention": "symattn.solution.attention",
    "Audit": "symattn.auditing.audit",
    "Case": "symattn.cases.case",
    "Cause": "symattn.auditing.figures",
    "Claim": "symattn.cases.claims",
    "Derivation": "symattn.calculus.derivation",
    "Fault": "symattn.errors",
    "Figure": "symattn.auditing.figures",
    "Malformed": "symattn.errors",
    "NoClosedForm": "symattn.errors",
    "OutOfRange": "symattn.errors",
    "Quantity": "symattn.solution.quantity",
    "Slip": "symattn.auditing.figures",
    "Solution": "symattn.solution.solution",
    "Statement": "symattn.auditing.figures",
    "SymattnError": "symattn.errors",
    "Undecided": "symattn.errors",
    "UnknownName": "symattn.errors",
    "Value": "symattn.numbers.values",
    "Verdict": "symattn.verdicts",
    "Verification": "symattn.verification",
    "attention": "symattn.solution.attention",
    "audit": "symattn.auditing.audit",
    "case": "symattn.cases.case",
    "derive": "symattn.calculus.library",
    "derive_case": "symattn.case_derivation",
    "draw": "symattn.drawing.picture",
    "from_blocks": "symattn.numbers.arrays",
    "from_floats": "symattn.numbers.arrays",
    "from_pages": "symattn.solution.layouts",
    "function": "symattn.cases.functions",
    "load": "symattn.cases.library",
    "names": "symattn.cases.library",
    "read": "symattn.numbers.reading",
    "sheet": "symattn.sheets.case_sheet",
    "solve": "symattn.solution.solution",
    "theory": "symattn.calculus.library",
    "verify": "symattn.verification",
}
#: What is called otherwise at home, where its module says what it is.
_AT_HOME = {"case": "make", "theory": "THEORY"}

__all__ = [
    "Attention",
    "Audit",
    "Case",
    "Cause",
    "Claim",
    "Derivation",
    "Fault",
    "Figure",
    "Malformed",
    "NoClosedForm",
    "OutOfRange",
    "Quantity",
    "Slip",
    "Solution",
    "Statement",
    "SymattnError",
    "Undecided",
    "UnknownName",
    "Value",
    "Verdict",
    "Verification",
    "__version__",
    "attention",
    "audit",
    "case",
    "derive",
    "derive_case",
    "draw",
    "from_blocks",
    "from_floats",
    "from_pages",
    "function",
    "load",
    "names",
    "read",
    "sheet",
    "solve",
    "testing",
    "theory",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'symattn' has no attribute {name!r}")
    from importlib import import_module

    if name not in _HOMES:
        return import_module(f"symattn.{name}")
    value = getattr(import_module(_HOMES[name]), _AT_HOME.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
