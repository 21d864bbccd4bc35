"""The functions of steps: what each writes on the tape.

Their names, orders and defaults are those of the steps. A function takes the lines
and its arguments, each read as its type says (:mod:`.arguments`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symattn.crosscheck.calls import scores, shapes
from symattn.crosscheck.lines import Place

#: The functions of steps, by name.
FUNCTIONS: Mapping[str, Callable[..., Place]] = {
    **scores._ENTRIES, **shapes._ROWS, **shapes._SHAPES, **scores._SCORES,
    **shapes._LOSSES,
}  # fmt: skip
#: Other names of options.
ALIASES: Mapping[str, str] = {"dim": "axis", "correction": "ddof", "keepdim": "keepdims"}
