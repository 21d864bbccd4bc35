"""The functions of steps, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from symattn.programs.functions import arranging, attention, entries, rows
from symattn.programs.functions.calls import DomainOf, StepFunction
from symattn.programs.functions.entries import COMPARISONS

__all__ = ["ALIASES", "COMPARISONS", "FUNCTIONS", "OF_ROWS", "StepFunction", "domains_of"]


def _of(module: ModuleType) -> dict[str, StepFunction]:
    """The functions that a module defines."""
    functions = (
        function for function in vars(module).values() if isinstance(function, StepFunction)
    )
    return {function.name: function for function in functions if function.name.isidentifier()}


#: Every function, by name: of entries, of rows and columns, of shapes, of attention, losses.
FUNCTIONS: Mapping[str, StepFunction] = {
    **entries.ELEMENTARY_STEPS,
    **_of(entries),
    **_of(rows),
    **_of(arranging),
    **_of(attention),
}
#: Functions of rows and columns, which a number has none of.
OF_ROWS = frozenset(_of(rows))
#: Other names of functions.
ALIASES: Mapping[str, str] = {"clamp": "clip"}


def domains_of(name: str) -> Mapping[str, DomainOf]:
    """Return of which numbers the parameters of a function are, those that are not of all."""
    return FUNCTIONS[name].domains if name in FUNCTIONS else {}
