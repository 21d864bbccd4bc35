"""The functions of steps, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from symattn.programs.functions import arranging, attention, entries, rows
from symattn.programs.functions.calls import StepFunction
from symattn.programs.functions.entries import COMPARISONS

__all__ = ["ALIASES", "COMPARISONS", "DOMAINS", "FUNCTIONS", "OF_ROWS", "StepFunction"]


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
#: Of which numbers parameters are, of functions that are not of all.
DOMAINS = {name: made.domains for name, made in FUNCTIONS.items() if made.domains}
