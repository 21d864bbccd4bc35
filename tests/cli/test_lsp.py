"""``symattn lsp``: how it starts, its limits, and how it ends."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

URI = "file:///nowhere/post.md"
#: Seconds that a conversation may take.
_PATIENCE = 60
TEXT = "So $x = 2$ and $y = x + 1 = 4$.\n"
_ROWS = " \\\\ ".join(" & ".join(str(i * j % 9) for j in range(140)) for i in range(140))
#: A product of large matrices.
LARGE = (
    f"$$X = \\begin{{bmatrix}} {_ROWS} \\end{{bmatrix}}$$\n\nSo $Y = X X X$, $Y_{{1,1}} = 0.5$.\n"
)


def conversation(*words, text=TEXT, polite=True, asked=()):
    """What a server tells of a post, its exit code, and the processes that outlive it; with
    messages in between that ask for something, what it answers."""
    command = [sys.executable, "-m", "symattn", *words]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    # What is never answered is not waited for.
    timer = threading.Timer(_PATIENCE, server.kill)
    timer.start()
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
    for message in asked:
        data = json.dumps(message).encode()
        stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        stdin.flush()
        while (answer := hear()).get("id") is None:
            pass
        told.append(answer)
    helpers = children(server.pid)
    if polite:
        say("shutdown", 2)
        hear()
        say("exit")
    stdin.close()
    code = server.wait(20)
    timer.cancel()
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
            ("lsp", "--max-memory", "100"),
            LARGE,
            "needs more than 100 MB (--max-memory)",
            marks=pytest.mark.heavy,
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


PLACE = {"line": 0, "character": 0}


@pytest.mark.parametrize(
    ("method", "params", "code", "why"),
    [
        ("textDocument/hover", {}, -32602, "text_document"),
        ("textDocument/hover", 3, -32602, "HoverParams"),
        ("textDocument/hover", [], -32602, ""),
        ("textDocument/hover", {"textDocument": {"uri": URI}}, -32602, "position"),
        (
            "textDocument/hover",
            {"textDocument": {"uri": URI}, "position": PLACE | {"line": "x"}},
            -32602,
            "position.line",
        ),
        (
            "textDocument/completion",
            {"textDocument": {}, "position": {"line": -1, "character": 0}},
            -32602,
            "",
        ),
        ("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": 5}, -32602, "range"),
        ("textDocument/codeLens", None, -32602, ""),
        ("no/such", None, -32601, "no/such"),
        ("no/such", {"a": 1}, -32601, "no/such"),
    ],
)
def test_an_invalid_request_is_answered(method, params, code, why):
    """It says what was wrong and where; the server goes on, and a good request is answered."""
    bad = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    if params is None:
        del bad["params"]
    right = {"textDocument": {"uri": URI}, "position": PLACE}
    good = {"jsonrpc": "2.0", "id": "8", "method": "textDocument/hover", "params": right}
    told, ended, left = conversation("lsp", asked=[bad, good])
    *_, refused, answered = told
    assert (refused["id"], refused["error"]["code"]) == (7, code)
    assert why in refused["error"]["message"]
    assert "Traceback" not in json.dumps(refused)
    assert (answered["id"], "result" in answered) == ("8", True)
    assert (ended, left) == (0, [])


@pytest.mark.parametrize("more", [pytest.param(0, marks=pytest.mark.heavy), 1])
def test_texts_longer_than_files_may_be(more):
    """They are not judged, which is told; asked of them the server answers that it knows
    nothing."""
    right = {"textDocument": {"uri": URI}, "position": PLACE}
    hover = {"jsonrpc": "2.0", "id": 8, "method": "textDocument/hover", "params": right}
    text = TEXT
    text += "\n" * (4_000_000 - len(text) + more)
    told, code, left = conversation("lsp", text=text, asked=[hover])
    message = told[0]["message"]
    if more:
        assert message == "not judged: the text has 4000001 bytes; at most 4000000 are read"
        assert len(told) == 2
        assert told[1]["result"] is None
    else:
        assert "not judged" not in message
    assert (code, left) == (0, [])


def test_without_the_extra(symattn, monkeypatch):
    """What is missing is said in one line."""
    monkeypatch.setitem(sys.modules, "pygls", None)
    for name in ("symattn.editor.server", "pygls.lsp.server", "pygls.protocol"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    ended = symattn("lsp")
    assert ended.code == 2
    assert ended.err == "symattn: a language server takes pygls: pip install 'symattn[lsp]'\n"
