"""``symattn seal``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.cases import CaseArgument
from symattn.cli.main import CHECK_FAILED
from symattn.cli.options import counted
from symattn.errors import EngineFailure, Malformed
from symattn.escaping import json_text, visible
from symattn.ownership import Outputs
from symattn.workers import Asker

if TYPE_CHECKING:
    from symattn.seal.seals import Checked, Sealing

#: The most places that bounds are close enough for.
_MOST_PLACES = 12
#: How many of the things without a theorem a summary tells.
_TOLD = 5


@dataclass(frozen=True)
class _Result:
    """A file of theorems, and what Coq said of it, if it was asked."""

    sealing: Sealing
    checked: Checked | None = None
    failure: str = ""


@click.command("seal")
@click.argument("names", metavar="[CASE|ARTICLE|DERIVATION]...", nargs=-1)
@click.option(
    "--lines",
    "texts",
    metavar="FILE",
    multiple=True,
    help="Seal the lines of a derivation of your own, as symattn derive FILE reads it.",
)
@options.writes("DIR", "Output folder.", default="seals")
@click.option(
    "--places",
    type=click.IntRange(1, _MOST_PLACES),
    help="Decimal places of what a sheet prints; by default those of the case, else 4.",
)
@click.option("--check", is_flag=True, help="Have the files checked by coqc, and say what it said.")
@options.form("text", "json")
@options.paced("file", several=True, seconds=900)
def command(
    names: tuple[str, ...],
    texts: tuple[str, ...],
    output: Path,
    outputs: Outputs,
    places: int | None,
    check: bool,
    form: str,
    pace: options.Pace,
) -> int:
    """State figures and lines as theorems, for Coq to check.

    Of a CASE every figure that it claims and every entry that its sheet prints, of an ARTICLE
    every figure that was judged, of a DERIVATION every line becomes a theorem in DIR/NAME.v:
    that what the walkthrough defines rounds to the figure (or does not, and to which it does),
    that a gradient is the derivative of the loss, that a line holds for all sizes. The files
    rest on DIR/Symattn.v, a small library, and on nothing else of symattn.

    With --check Coq's kernel has the last word: what does not go through is stated without a
    proof, and counted. Debian's packages coq, libcoq-interval and libcoq-coquelicot have all
    that is needed. DIR/NAME.seal.json keeps what was said; sheets show it by --sealed DIR.

    \b
      symattn seal cat-sat-mat --check            a bundled walkthrough
      symattn seal article.md -o seals            an article, to be checked elsewhere
      symattn seal softmax-jacobian --check       lines for all sizes
      symattn seal --lines homework.txt --check   lines of your own

    Without names all bundled walkthroughs and derivations. Exits with 1 if a theorem that has
    a proof is refused.
    """
    wanted = [*names, *texts]
    if not wanted:
        from symattn.calculus import library as derivations
        from symattn.cases import library as cases

        wanted = [*cases.names(), *derivations.names()]
    outputs.claim_in(output)
    asked = [(CaseArgument(x, pace.allow_outside), x in texts, places) for x in wanted]
    jobs = [(_stated, arguments) for arguments in asked]
    answers = case_arguments.of_jobs(wanted, jobs, pace)
    answers.tell()
    sealings: list[Sealing] = answers.done
    results = _checked(sealings, pace) if check else [_Result(each) for each in sealings]
    _write(results, output, outputs)
    if form == "json":
        click.echo(json_text([_as_dict(each, output) for each in results]))
    else:
        for each in results:
            for line in _said(each, output):
                click.echo(visible(line))
    refused = any(each.failure or (each.checked and each.checked.refused) for each in results)
    return CHECK_FAILED if refused else 0


def _stated(asker: Asker, wanted: CaseArgument, is_text: bool, places: int | None) -> Sealing:
    """The theorems of a case, an article or a derivation."""
    from symattn.calculus import library as derivations

    asker.stage("stating")
    if is_text or wanted.name in derivations.names():
        from symattn.seal.derivations import sealed as of_derivation

        return of_derivation(derivations.find(wanted.name))
    from symattn.seal.walkthroughs import sealed

    try:
        case = wanted.load()
    except Malformed as error:
        if any(fault.where == "lines" for fault in error.faults):
            hint = f"it is a derivation: symattn seal --lines {wanted.name}"
            raise Malformed(hint, wanted.name) from None
        raise
    return sealed(case, places)


def _checked(sealings: Sequence[Sealing], pace: options.Pace) -> list[_Result]:
    """Return what Coq says of each file."""
    from symattn.seal.seals import Kernel

    try:
        with Kernel(pace.limits.seconds or None) as kernel, counted() as advance:

            def result(sealing: Sealing) -> _Result:
                try:
                    return _Result(sealing, kernel.check(sealing.file))
                except EngineFailure as failure:
                    return _Result(sealing, failure=str(failure))

            results = []
            with ThreadPoolExecutor(pace.jobs) as pool:
                for each in pool.map(result, sealings):
                    results.append(each)
                    advance(len(results), len(sealings))
            return results
    except EngineFailure as failure:
        raise Malformed(str(failure)) from None


def _write(results: Sequence[_Result], output: Path, outputs: Outputs) -> None:
    from symattn.outputs import prepare_folder
    from symattn.seal import seals

    modules = Counter(each.sealing.file.module for each in results)
    if twice := sorted(module for module, count in modules.items() if count > 1):
        raise Malformed(f"two files would be called {', '.join(twice)}: seal them one at a time")
    contents: dict[str, str] = {}
    for each in results:
        contents |= seals.files(each.sealing, each.checked)
    outputs.claim_in(output, contents)
    prepare_folder(output)
    for name, text in contents.items():
        outputs.write(output / name, text.encode())


def _as_dict(each: _Result, output: Path) -> dict[str, Any]:
    from symattn.seal import seals

    if each.checked:
        return seals.written(each.sealing, each.checked)
    return {
        "name": each.sealing.file.name,
        "kind": each.sealing.kind,
        "file": str(output / f"{each.sealing.file.module}.v"),
        "stated": len(each.sealing.file.sealing()),
        "count": each.sealing.count,
        "unsealed": [{"said": x.said, "why": x.why} for x in each.sealing.unsealed],
        **({"failure": each.failure} if each.failure else {}),
    }


def _said(each: _Result, output: Path) -> list[str]:
    from symattn.seal import seals

    sealing = each.sealing
    path = output / f"{sealing.file.module}.v"
    named = {theorem.name: theorem for theorem in sealing.file.theorems()}
    missing = [(named[name].seals, why) for name, why in sealing.missing.items()]
    missing += [(x.said, x.why) for x in sealing.unsealed]
    missing += [(named[name].seals, note) for name, note in sealing.notes.items()]
    if each.failure:
        lines = [f"{sealing.file.name}: {each.failure}"]
    elif each.checked:
        made = seals.seal(sealing, each.checked)
        lines = [f"{sealing.file.name}: {made.said()}, in {each.checked.seconds:.0f} s ({path})"]
        if not each.checked.is_sound:
            lines.append(f"  rests on more than the real numbers: {', '.join(each.checked.axioms)}")
        missing += [
            (named[name].seals or f"the lemma {name}", f"not proved: {why}")
            for name, why in each.checked.refused.items()
        ]
    elif not sealing.count:
        how = "symattn audit says what is read of it, --lines reads it as a derivation"
        lines = [f"{sealing.file.name}: there is no figure in it: {how}"]
    else:
        lines = [f"{sealing.file.name}: {_stated_of(sealing)} ({path})"]
    lines += [f"  {said}: {why}" for said, why in missing[:_TOLD]]
    if len(missing) > _TOLD:
        lines.append(f"  and {len(missing) - _TOLD} more: --format json has all")
    return lines


def _stated_of(sealing: Sealing) -> str:
    """Return how many figures or lines are stated, and how many of them without a proof."""
    theorems = sealing.file.sealing()
    said = f"{len(theorems)} of {sealing.count} {sealing.kind} stated"
    unproved = sum(theorem.proof is None for theorem in theorems)
    return f"{said}, {unproved} without a proof" if unproved else said
