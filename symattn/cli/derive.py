"""``symattn derive``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import cases as case_arguments
from symattn.cli import options
from symattn.cli.main import CHECK_FAILED
from symattn.cli.pages import FORMS, printed, write, write_theorems
from symattn.errors import Malformed
from symattn.escaping import json_text, visible
from symattn.limits import BYTES
from symattn.outputs import STANDARD_OUTPUT
from symattn.ownership import Outputs
from symattn.workers import Asker

#: The name of what is not in a file.
_STANDARD_INPUT = "-"

if TYPE_CHECKING:
    from symattn.calculus.derivation import Derivation
    from symattn.seal.seals import Seal


@dataclass(frozen=True)
class _JudgedDerivation:
    """A derivation as a format has it, and whether all of it is proved."""

    name: str
    proved: bool
    content: Any
    seal: Seal | None = None


@click.command("derive")
@click.argument("names", metavar="[NAME|FILE]...", nargs=-1)
@click.option(
    "--from",
    "cases",
    metavar="CASE",
    multiple=True,
    help="State the gradients of a walkthrough as lines, for any size.",
)
@click.option(
    "--text",
    "by_hand",
    is_flag=True,
    help="With --from: the derivation as text, to be edited and judged again.",
)
@options.form(
    "text",
    *FORMS,
    "json",
    "certificate",
    default=None,
    what="Text by default; with -o DIR web pages and LaTeX, and PDF where TeX or Typst is "
    "installed.",
)
@options.writes(
    "DIR",
    "Output folder; by default 'derivations-out' for web pages and PDFs. - is standard output.",
)
@click.option(
    "--replay",
    "certificate",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Replay the proofs in a certificate of the NAME, and look for none.",
)
@click.option(
    "--words", is_flag=True, help="List what of a text was taken for words, with its lines."
)
@options.sealed("derivation")
@options.strict_pdf
@options.paced("derivation", outside=False)
def command(
    names: tuple[str, ...],
    cases: tuple[str, ...],
    by_hand: bool,
    form: str | None,
    output: Path | None,
    outputs: Outputs,
    certificate: Path | None,
    words: bool,
    seals: Path | None,
    strict: bool,
    pace: options.Pace,
) -> int:
    """Show derivations for any size, proved line by line.

    Without a NAME, list the bundled derivations and how each was checked. A FILE is a
    derivation of your own: text with a definition or a claim on each line, or TOML; - is
    standard input. Each line is reported as proved, checked (it holds at concrete sizes),
    refuted (with a counterexample) or undecided (with what is missing). Exits with 1 if a
    line is not proved, with 2 if something can't be read: in a text every line is a claim,
    a definition, an assumption, or words, which are counted.

    \b
      symattn derive
      symattn derive softmax-jacobian
      symattn derive homework.txt
      symattn derive --from cat-sat-mat       the gradients of a walkthrough
      symattn derive -o out                   all of them as web pages
      symattn derive attention-gradients --format pdf -o out
      symattn derive homework.txt --format certificate -o out
      symattn derive homework.txt --replay out/homework.certificate.json
      symattn derive softmax-jacobian --sealed seals    with what Coq said of it
    """
    if certificate is not None:
        return _replay(names, certificate)
    if cases and names:
        raise click.UsageError("a NAME and --from don't go together")
    if by_hand and (not cases or form not in (None, "text")):
        raise click.UsageError("--text goes with --from, and is a format of its own")
    if by_hand or (form is None and output in (None, STANDARD_OUTPUT)):
        form = "text"
    if form is None or form in FORMS:
        options.one_document(output, len(names or cases), form)
    elif output == STANDARD_OUTPUT:
        output = None
    listing = not names and not cases and form == "text" and output is None
    if not names and not cases:
        from symattn.calculus import library

        names = library.names()
    if output not in (None, STANDARD_OUTPUT):
        outputs.claim_in(output)
    data = b""
    if _STANDARD_INPUT in names:
        if sys.stdin is None:
            raise Malformed("standard input is closed: pipe a derivation into it, or name a file")
        data = sys.stdin.buffer.read(BYTES.most + 1)
    asked = "list" if listing else form
    stated = ("text" if by_hand else "lines") if cases else ""
    wanted = asked, data, stated, words, seals
    judged = case_arguments.of_each(cases or names, pace, _judged, *wanted)
    if not (derivations := judged.done):
        judged.tell()
    contents = [derivation.content for derivation in derivations]
    if listing:
        _list(derivations)
    elif form == "json":
        text = json_text(contents[0] if len(contents) == 1 else contents)
        _emit({"derivations.json": text}, output, outputs)
    elif form == "certificate":
        texts = {f"{each.name}.certificate.json": json_text(each.content) for each in derivations}
        _emit(texts, output, outputs)
    elif form == "text":
        _emit({f"{each.name}.txt": each.content + "\n" for each in derivations}, output, outputs)
    else:
        folder = output or Path("derivations-out")
        code = write(contents, folder, outputs, form, strict)
        write_theorems(seals, [each.seal for each in derivations], folder, outputs)
        if code:
            judged.tell()
            return code
    judged.tell()
    return 0 if all(derivation.proved for derivation in derivations) else CHECK_FAILED


def _replay(names: tuple[str, ...], certificate: Path) -> int:
    """Tell what a certificate proves of one derivation; the exit code."""
    from symattn.calculus import library

    if len(names) != 1:
        raise click.UsageError("--replay goes with one NAME")
    text = library.replayed(names[0], certificate)
    click.echo("\n".join(map(visible, text.split("\n"))))
    return CHECK_FAILED if "NO PROOF" in text else 0


def _judged(
    asker: Asker,
    wanted: case_arguments.CaseArgument,
    form: str | None,
    data: bytes,
    stated: str,
    words: bool,
    seals: Path | None,
) -> _JudgedDerivation:
    """A derivation as a format has it, with its seal where one is told; ``data`` came in at
    standard input. The gradients of a case are ``stated`` as lines, or as a text that is not
    judged yet."""
    from symattn.calculus import library

    asker.stage("checking")
    if stated:
        from symattn import case_derivation

        case = wanted.load()
        if stated == "text":
            return _JudgedDerivation(case.name, True, case_derivation.as_text(case).rstrip("\n"))
        derivation = case_derivation.derive_case(case)
    elif wanted.name != _STANDARD_INPUT:
        derivation = library.find(wanted.name)
    elif len(data) > BYTES.most:
        raise Malformed(f"standard input has {BYTES.said(len(data))}")
    else:
        derivation = library.judged(Path(_STANDARD_INPUT), data)
    seal = None
    if seals:
        from symattn.seal.derivations import sealed
        from symattn.seal.seals import found

        seal = found(seals, sealed(derivation))
    content = _content(derivation, form, words, seal)
    return _JudgedDerivation(derivation.name, derivation.proved, content, seal)


def _content(derivation: Derivation, form: str | None, words: bool, seal: Seal | None) -> Any:
    if form == "list":
        from symattn.calculus.printing import prose

        return prose(derivation.draft.statement, derivation.draft.shapes), derivation.summary()
    if form == "json":
        return derivation.to_dict()
    if form == "certificate":
        from symattn.calculus.certificates import certificate

        return certificate(derivation)
    if form == "text":
        text = derivation.to_text(words)
        if seal:
            text += f"\n{seal.said()[:1].upper()}{seal.said()[1:]}"
        return "\n".join(map(visible, text.split("\n")))
    from symattn.sheets.derivation import sheet

    return printed(sheet(derivation, seal), form)


def _emit(texts: Mapping[str, str], output: Path | None, outputs: Outputs) -> None:
    if output is not None:
        outputs.claim_in(output, texts)
    for name, text in texts.items():
        if output is None:
            click.echo(text)
        else:
            outputs.write(output / name, (text.rstrip("\n") + "\n").encode())


def _list(derivations: list[_JudgedDerivation]) -> None:
    from rich.text import Text

    rows = []
    for derivation in derivations:
        statement, summary = derivation.content
        name = Text(derivation.name, style="cyan")
        style = "green" if derivation.proved else "red"
        rows.append((name, Text(statement), Text(summary, style=style)))
    case_arguments.print_table(("name", "statement", "checked"), rows)
