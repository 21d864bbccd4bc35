"""``symattn audit --corpus``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from symattn.cli.options import Pace, counted, output_as_said
from symattn.errors import Malformed
from symattn.escaping import visible
from symattn.outputs import STANDARD_OUTPUT

_FOLDER = "results"


def audit(
    corpus: str,
    output: Path | None,
    force: bool,
    strict: bool,
    settings: dict[str, Any],
    pace: Pace,
) -> bool:
    """Audit a corpus into a folder; whether all is fine: nothing refuted, nothing failed and,
    if it is to be ``strict``, nothing in doubt."""
    from symattn.corpus.audit import PAGE, audit_corpus
    from symattn.corpus.page import summary
    from symattn.corpus.records import spelled

    if output == STANDARD_OUTPUT:
        raise Malformed("--corpus writes a folder: give its name with -o")
    folder = output_as_said() or _FOLDER
    is_said = click.get_current_context().get_parameter_source("jobs") != ParameterSource.DEFAULT
    with counted() as advance:
        tally = audit_corpus(
            corpus,
            folder,
            pace.executor,
            limits=pace.limits,
            jobs=pace.jobs if is_said else None,
            watch=advance,
            force=force,
            allow_outside=pace.allow_outside,
            **settings,
        )
    if tally.remade:
        damaged = f"kept results were damaged and are made again, the first {tally.remade[0]}"
        click.echo(visible(f"symattn: {len(tally.remade)} {damaged}"), err=True)
    click.echo(visible(f"{summary(tally)}; open {spelled(folder)}/{PAGE}"))
    outcomes = tally.outcomes
    doubt = strict and (outcomes["doubtful"] or tally.counts["coarse"])
    return not (outcomes["refuted"] or tally.failures or doubt)
