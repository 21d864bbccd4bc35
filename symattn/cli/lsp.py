"""``symattn lsp``."""

from __future__ import annotations

import click

from symattn.cli import options
from symattn.errors import Malformed


@click.command("lsp")
@options.paced(each="version of a text", outside=False, seconds=30)
def command(pace: options.Pace) -> None:
    """Judge articles and walkthroughs while they are written, in an editor.

    A language server on standard input and output: editors start it. It marks wrong figures
    as you type, tells what each figure is and why, and corrects what is certain. It needs
    pip install 'symattn[lsp]'.

    \b
      symattn lsp                               how to set up editors: docs/editors.md
    """
    try:
        from symattn.editor.server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise Malformed("a language server takes pygls: pip install 'symattn[lsp]'") from None
    serve(pace.limits)
