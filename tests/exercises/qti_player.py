"""A player of QTI 3.0 in a browser: items of a package are shown, answered and marked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..browser import Browser, browser

#: What ``npm ci`` puts into ``players``.
_SCRIPT = Path(__file__).parent / "players/node_modules/@citolab/qti-components/cdn/index.global.js"
_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>QTI</title>
<body>
<script>console.debug = console.warn = () => {};</script>
<script src="%s"></script>
"""
#: Shows an item, and waits until it can be answered.
_SHOW = """
window.show = async (text) => {
  document.querySelector("qti-item")?.remove();
  const frame = document.createElement("qti-item");
  const place = document.createElement("item-container");
  place.itemXML = text;
  frame.append(place);
  document.body.append(frame);
  const shown = () => place.shadowRoot.querySelector("qti-assessment-item");
  while (!shown()) await new Promise(done => setTimeout(done, 5));
  window.item = shown();
  await window.item.updateComplete;
  await new Promise(done => setTimeout(done, 50));
};
window.enter = (answers) => {
  const entries = window.item.querySelectorAll("qti-text-entry-interaction");
  for (const entry of entries) {
    const input = entry.shadowRoot.querySelector("input");
    input.value = answers[entry.getAttribute("response-identifier")] ?? "";
    input.dispatchEvent(new Event("change"));
  }
};
window.put = (answers) => {
  window.item.variables = window.item.variables.filter(x => x.type === "response")
    .map(x => ({...x, value: answers[x.identifier] ?? null}));
};
window.outcomes = () => {
  window.item.processResponse(true, false);
  return Object.fromEntries(window.item.variables.map(x => [x.identifier, x.value]));
};
"""


class Player:
    """A page on which an item is shown."""

    def __init__(self, tab: Browser) -> None:
        self.tab = tab

    def show(self, item: str) -> None:
        """Show the item of a file."""
        self.tab.run(f"show({json.dumps(item)})")

    def marked(self, scripts: Sequence[Mapping[str, str]], typed: bool = False) -> list[Any]:
        """The variables after each of some scripts is handed in: answers by their names, which
        are ``typed`` into the page or else handed over."""
        way = "enter" if typed else "put"
        return [self.tab.run(f"{way}({json.dumps(script)}); outcomes()") for script in scripts]

    def feedback(self) -> list[str]:
        """What is shown of the feedback."""
        found: list[str] = self.tab.run(
            "Promise.resolve(item.updateComplete).then(() => [...item.querySelectorAll("
            "'qti-feedback-block')].filter(x => x.showStatus === 'on').map(x => x.textContent))"
        )
        return found


@contextmanager
def player(folder: Path) -> Iterator[Player]:
    """A player, its page in a folder."""
    if not _SCRIPT.exists():
        message = "needs @citolab/qti-components: npm ci in tests/exercises/players"
        if os.environ.get("SYMATTN_ALL_PROGRAMS") and not os.environ.get("SYMATTN_NO_PLAYER"):
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    page = folder / "player.html"
    page.write_text(_PAGE % _SCRIPT.as_uri(), "utf-8")
    with browser() as tab:
        tab.open(page)
        tab.run(_SHOW + "0")
        yield Player(tab)
