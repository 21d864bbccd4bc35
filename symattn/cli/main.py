"""The commands, and how errors reach the user.

Everything heavy is imported inside the commands: ``symattn --version`` and
``--help`` load neither SymPy nor NumPy.
"""

from __future__ import annotations

import importlib
import io
import signal
import sys
from collections.abc import Mapping

import click

from symattn import __version__
from symattn.errors import Refuted, SymattnError

#: Exit codes: a check failed; the input or its use is wrong.
CHECK_FAILED, BAD_INPUT = 1, 2

#: Each command with the module that holds it.
_COMMANDS: Mapping[str, str] = {
    "list": "symattn.cli.listing",
    "sheet": "symattn.cli.sheet",
    "show": "symattn.cli.show",
    "verify": "symattn.cli.verify",
    "audit": "symattn.cli.audit",
    "derive": "symattn.cli.derive",
}


class _Lazy(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command = importlib.import_module(_COMMANDS[name]).command
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
    epilog="Exit codes: 0 fine, 1 a check failed, 2 bad usage or input.",
)
@click.version_option(__version__, prog_name="symattn")
def _group() -> None:
    """Compute attention exactly and show the work.

    A CASE is the name of a bundled walkthrough (symattn list) or the path of a
    .toml file; without one, commands take all bundled walkthroughs.

    \b
      symattn sheet cat-sat-mat               a worked-solution sheet
      symattn show cat-sat-mat A              closed forms and certain digits
      symattn show cat-sat-mat dL/dV --at 0,1
      symattn verify                          every figure against NumPy
      symattn audit please-study-man          which printed figures are wrong, and why
      symattn derive softmax-jacobian         a derivation for any size, line by line
    """


def main() -> None:
    """Run a command; bad input ends with one message on standard error and exit code 2."""
    if hasattr(signal, "SIGPIPE"):
        # A reader that has seen enough, such as head, ends the run without a word.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that doesn't know a letter shows its code.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        _group(prog_name="symattn")
    except SymattnError as error:
        click.echo(f"symattn: {error}", err=True)
        sys.exit(CHECK_FAILED if isinstance(error, Refuted) else BAD_INPUT)
    except OSError as error:
        click.echo(f"symattn: the output can't be written: {error.strerror or error}", err=True)
        sys.exit(BAD_INPUT)
    except RecursionError:
        click.echo("symattn: the input is nested deeper than can be computed", err=True)
        sys.exit(BAD_INPUT)
