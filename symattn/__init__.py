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
    name: f"symattn.{home}"
    for home, its in (
        ("auditing.audit", "Audit audit"),
        ("auditing.figures", "Cause Figure Slip Statement"),
        ("calculus.derivation", "Derivation"),
        ("calculus.library", "derive theory"),
        ("case_derivation", "derive_case"),
        ("cases.case", "Case case"),
        ("cases.claims", "Claim"),
        ("cases.functions", "function"),
        ("cases.library", "load names"),
        ("drawing.picture", "draw"),
        ("errors", "Fault Malformed NoClosedForm OutOfRange SymattnError Undecided UnknownName"),
        ("numbers.arrays", "from_blocks from_floats"),
        ("numbers.reading", "read"),
        ("numbers.values", "Value"),
        ("sheets.case_sheet", "sheet"),
        ("solution.attention", "Attention attention"),
        ("solution.layouts", "from_pages"),
        ("solution.quantity", "Quantity"),
        ("solution.solution", "Solution solve"),
        ("verdicts", "Verdict"),
        ("verification", "Verification verify"),
    )
    for name in its.split()
}
#: What is called otherwise at home, where its module says what it is.
_AT_HOME = {"case": "make", "theory": "THEORY"}

__all__ = [
    "Attention", "Audit", "Case", "Cause", "Claim", "Derivation", "Fault", "Figure", "Malformed",
    "NoClosedForm", "OutOfRange", "Quantity", "Slip", "Solution", "Statement", "SymattnError",
    "Undecided", "UnknownName", "Value", "Verdict", "Verification", "__version__", "attention",
    "audit", "case", "derive", "derive_case", "draw", "from_blocks", "from_floats", "from_pages",
    "function", "load", "names", "read", "sheet", "solve", "testing", "theory", "verify",
]  # fmt: skip


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
