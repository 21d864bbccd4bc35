"""Jobs of workers: the server names it, and only they load what it takes."""

from __future__ import annotations

from typing import Any, Literal

from symattn.editor.answers import FunctionHelp
from symattn.workers import Asker

Asked = Literal["judge", "explain", "corrections", "note_place"]


def load(asker: Asker) -> None:
    """Load all that judging takes, so that the first answer comes early."""
    ask(asker, "judge", "first.md", "$x = 2$, $y = x^2 = 4$")


def ask(asker: Asker, what: Asked, *arguments: Any) -> Any:
    """Return what :mod:`~symattn.editor.judging` says of a text, by the function of that name."""
    from symattn.editor import judging

    return getattr(judging, what)(asker, *arguments)


def functions(asker: Asker) -> dict[str, FunctionHelp]:
    """The functions of steps, by name."""
    from symattn.programs.functions import ALIASES, FUNCTIONS

    asker.stage("reading")
    known = {**FUNCTIONS, **{alias: FUNCTIONS[name] for alias, name in ALIASES.items()}}
    return {
        name: FunctionHelp(
            function.signature,
            f"{function.summary} Gradient at a kink: {function.kink}."
            if function.kink
            else function.summary,
        )
        for name, function in known.items()
    }
