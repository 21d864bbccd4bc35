"""Jobs of workers: the server names it, and only they load what it takes."""

from __future__ import annotations

from symattn.editor.answers import Answer, Correction, Explanation, FunctionHelp
from symattn.workers import Asker


def load(asker: Asker) -> None:
    """Load all that judging takes, so that the first answer comes early."""
    from symattn.editor import judging

    judging.judge(asker, "first.md", "$x = 2$, $y = x^2 = 4$")


def judge(asker: Asker, name: str, source: str) -> Answer:
    """Return what is told of a text; its faults, where it can't be read."""
    from symattn.editor import judging

    return judging.judge(asker, name, source)


def explain(asker: Asker, name: str, source: str, offset: int) -> Explanation | None:
    """Return what stands at a character of the source."""
    from symattn.editor import judging

    return judging.explain(asker, name, source, offset)


def corrections(asker: Asker, name: str, source: str) -> tuple[Correction, ...]:
    """Return what is certain to be wrong, with the right digits."""
    from symattn.editor import judging

    return judging.corrections(asker, name, source)


def note_place(asker: Asker, name: str, source: str, offset: int, note: str) -> int | None:
    """Return where a note on what stands at a character of the source can be put."""
    from symattn.editor import judging

    return judging.note_place(asker, name, source, offset, note)


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
