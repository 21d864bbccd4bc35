"""The commands, and how errors reach the user.

Everything heavy is imported inside the commands: ``symattn --version`` and
``--help`` load neither SymPy nor NumPy.
"""

from __future__ import annotations

import importlib
import io
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from symattn import __version__
from symattn.errors import Refuted, SymattnError, expected, lacks_memory, reported, unforeseen
from symattn.escaping import visible, without_secrets

#: Exit codes: a check failed; the input or its use is wrong.
CHECK_FAILED, BAD_INPUT = 1, 2

#: Each command with its function, in a module of this package.
_COMMANDS: Mapping[str, str] = {
    "list": "authoring.listing", "sheet": "sheet.sheet_command", "draw": "sheet.draw_command",
    "show": "show.command", "verify": "verify.command", "audit": "audit.command",
    "read": "read.command", "derive": "derive.command", "seal": "seal.command",
    "exercise": "exercise.command", "mark": "mark.command", "lsp": "authoring.lsp",
    "new": "authoring.new", "vectors": "vectors.command", "live": "live.live",
    "myst": "live.myst", "pandoc": "live.pandoc",
}  # fmt: skip


class _NoReader(Exception):
    """Nobody reads what is printed any more: click would end as if a check had failed."""


@contextmanager
def _read() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise _NoReader from None


class _Lazy(click.Group):
    """A group whose commands are imported when they are used."""

    def make_context(self, *arguments: Any, **named: Any) -> click.Context:
        with _read():
            return super().make_context(*arguments, **named)

    def invoke(self, context: click.Context) -> Any:
        with _read():
            return super().invoke(context)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, _, function = _COMMANDS[name].partition(".")
        command = getattr(importlib.import_module(f"symattn.cli.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if words[0] not in _COMMANDS and not words[0].startswith("-"):
            context.fail(f"No such command {visible(words[0])!r}: {expected(words[0], _COMMANDS)}")
        return super().resolve_command(context, words)


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
    epilog="Exit codes: 0 success, 1 a check failed, 2 wrong usage or input.",
)
@click.version_option(__version__, prog_name="symattn")
def _group() -> None:
    """Compute attention exactly and show the work.

    A CASE is an article (.md, .ipynb, .tex, .html, .docx, .pdf, .txt), a case file (.toml)
    or the name of a bundled case (symattn list). Commands that take several cases
    take all bundled cases if none is given.

    \b
      symattn audit post.md                   which figures of an article are wrong, and why
      symattn read post.md                    how an article is understood, line by line
      symattn sheet cat-sat-mat               a worked-solution sheet
      symattn draw cat-sat-mat                its attention pattern and data flow as a picture
      symattn show cat-sat-mat A              closed forms and correctly rounded decimals
      symattn show cat-sat-mat dL/dV --at 0,1
      symattn verify                          every figure checked against NumPy and SymPy
      symattn audit please-study-man          which printed figures are wrong, and why
      symattn derive softmax-jacobian         a derivation for any size, line by line
      symattn exercise cat-sat-mat --versions 9    questions and an answer key
      symattn mark answers.csv --key key.toml      students' answers marked, with points
      symattn lsp                             figures judged as you write, in an editor
      symattn new post.toml                   a case file to start from
      symattn live post.md                    figures that are computed where it is built
      symattn vectors --suite quick -o DIR    inputs and correct results, to test kernels
    """


def main() -> None:
    """Run a command and exit; bad input ends with one message on standard error and exit code 2."""
    sys.exit(_run())


def _run() -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that doesn't know a letter shows its code.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _command()
        with _read():
            sys.stdout.flush()
    except _NoReader:
        # A reader that has seen enough, such as head, ends the run without a word.
        return 128 + signal.SIGPIPE
    except OSError as error:
        reason = visible(str(error.strerror or error))
        return _fail(f"the output can't be written: {reason}")
    return code


def _command() -> int:
    try:
        return int(_group.main(prog_name="symattn", standalone_mode=False) or 0)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(without_secrets(shown.getvalue()), nl=False, err=True)
        return error.exit_code
    except SymattnError as error:
        return _fail(str(error), CHECK_FAILED if isinstance(error, Refuted) else BAD_INPUT)
    except RecursionError:
        return _fail("the input is nested too deeply to be computed")
    except (_NoReader, OSError):
        raise
    except Exception as error:
        if lacks_memory(error):
            return _fail("the input needs more memory than is available")
        message, trace = reported(unforeseen(error), traceback.format_exc())
        click.echo(trace, nl=False, err=True)
        return _fail(message)


def _fail(message: str, code: int = BAD_INPUT) -> int:
    with _read():
        click.echo(f"symattn: {message}", err=True)
    return code
