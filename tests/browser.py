"""A headless Chromium that tests drive by its DevTools protocol, over a pair of pipes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

#: The browser, where one is installed.
CHROMIUM = shutil.which("chromium")
_WORDS = (
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
    "--disable-background-networking --disable-component-update --remote-debugging-pipe"
)


#: The browser's ends of the pipes are its descriptors 3 and 4.
_START = """
import os, sys
from fcntl import F_DUPFD, fcntl
pipes = [fcntl(int(one), F_DUPFD, 10) for one in sys.argv[1:3]]
for place, pipe in enumerate(pipes, 3):
    os.dup2(pipe, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One tab: commands are answered in turn, what happens meanwhile is kept."""

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        self._commands, self._answers = commands, answers
        self._number, self._session, self._rest = 0, "", b""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "DOM", "CSS"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a command."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._answers.fileno(), 1 << 16)
            assert more, "the browser is gone"
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found

    def open(self, path: Path) -> None:
        """Load a page, with its fonts."""
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())
        self.run("document.fonts.ready.then(() => 0)")

    def resize(self, width: int, height: int = 900) -> None:
        """Make the window so large."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)

    def run(self, script: str) -> Any:
        """The value of an expression on the page."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def point(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def loaded(self) -> list[str]:
        """The addresses that the page asked for."""
        asked = (e for e in self.events if e.get("method") == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in asked]

    def fonts(self, selector: str) -> list[set[str]]:
        """Of each element with text the fonts of its letters, those of the page as ``page``."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        nodes = self.ask("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]
        found = [self.ask("CSS.getPlatformFontsForNode", nodeId=node)["fonts"] for node in nodes]
        return [
            {"page" if font["isCustomFont"] else font["familyName"] for font in fonts}
            for fonts in found
        ]


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that ends with the block."""
    assert CHROMIUM is not None
    there, commands = os.pipe()
    answers, back = os.pipe()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = [CHROMIUM, *_WORDS.split(), f"--user-data-dir={folder}"]
        with subprocess.Popen(
            [sys.executable, "-c", _START, str(there), str(back), *words],
            pass_fds=(there, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            os.close(there)
            os.close(back)
            with os.fdopen(commands, "wb", 0) as asking, os.fdopen(answers, "rb", 0) as answering:
                try:
                    made = Browser(asking, answering)
                    yield made
                    made._session = ""
                    made.ask("Browser.close")
                finally:
                    process.terminate()
