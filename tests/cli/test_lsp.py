"""``symattn lsp``: how it starts, its limits, and how it ends."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

URI = "file:///nowhere/post.md"
TEXT = "So $x = 2$ and $y = x + 1 = 4$.\n"
_ROWS = " \\\\ ".join(" & ".join(str(i * j % 9) for j in range(140)) for i in range(140))
#: A product of large matrices.
LARGE = (
    f"$$X = \\begin{{bmatrix}} {_ROWS} \\end{{bmatrix}}$$\n\nSo $Y = X X X$, $Y_{{1,1}} = 0.5$.\n"
)


def conversation(*words, text=TEXT, polite=True):
    """What a server tells of a post, its exit code, and the processes that outlive it."""
    command = [sys.executable, "-m", "symattn", *words]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdin, stdout = server.stdin, server.stdout
    assert stdin is not None
    assert stdout is not None

    def say(method, number=None, **params):
        request = {"jsonrpc": "2.0", "method": method, "params": params}
        data = json.dumps(request if number is None else request | {"id": number}).encode()
        stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        stdin.flush()

    def hear():
        length = 0
        while line := stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split()[1])
        return json.loads(stdout.read(length))

    say("initialize", 1, capabilities={}, processId=None, rootUri=None)
    hear()
    say("initialized")
    document = {"uri": URI, "languageId": "markdown", "version": 1, "text": text}
    say("textDocument/didOpen", textDocument=document)
    told = hear()["params"]["diagnostics"]
    helpers = children(server.pid)
    if polite:
        say("shutdown", 2)
        hear()
        say("exit")
    stdin.close()
    code = server.wait(20)
    stdout.close()
    return told, code, [process for process in helpers if Path(f"/proc/{process}").exists()]


def children(process):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found.append(int(status.parent.name))
    return found


@pytest.mark.parametrize("polite", [pytest.param(True, marks=pytest.mark.heavy), False])
def test_nothing_is_left_behind(polite):
    """However an editor ends it, it ends, and its workers too."""
    told, code, left = conversation("lsp", polite=polite)
    assert ["4" in one["message"] for one in told] == [True]
    assert (code, left) == (0, [])


@pytest.mark.parametrize(
    ("words", "text", "why"),
    [
        (("lsp", "--max-seconds", "0.01"), TEXT, "stopped after 0.01 seconds (--max-seconds)"),
        pytest.param(
            ("lsp", "--max-memory", "100"), LARGE, "needs more than 100 MB", marks=pytest.mark.heavy
        ),
    ],
)
def test_limits(words, text, why):
    """What can't be judged within the limits is told, as no error of the text; and the server
    goes on."""
    told, code, left = conversation(*words, text=text)
    ((message, severity),) = [(one["message"], one["severity"]) for one in told]
    assert re.fullmatch(f"not judged: .*{re.escape(why)}", message)
    assert severity == 3
    assert (code, left) == (0, [])


def test_without_the_extra(symattn, monkeypatch):
    """What is missing is said in one line."""
    monkeypatch.setitem(sys.modules, "pygls", None)
    for name in ("symattn.editor.server", "pygls.lsp.server", "pygls.protocol"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    ended = symattn("lsp")
    assert ended.code == 2
    assert ended.err == "symattn: a language server takes pygls: pip install 'symattn[lsp]'\n"
