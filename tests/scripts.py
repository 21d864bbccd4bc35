"""Pages without their scripts, which are ours alone, and which the policy of the page names."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path

import symattn

_HOME = Path(symattn.__file__).parent
_EXERCISES = ("balls.js", "judging.js", "page.js")
#: What a page may run: what copies matrices, and what checks answers.
OURS = {
    (_HOME / "printers" / "copy.js").read_text("utf-8"),
    "".join((_HOME / "exercises" / "scripts" / name).read_text("utf-8") for name in _EXERCISES),
}
_RUNS = re.compile(r"<script>(.*?)</script>\n", re.DOTALL)
_DATA = re.compile(r'<script type="application/json" id="[a-z]+">(.*?)</script>\n', re.DOTALL)
_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


def unscripted(page: str) -> str:
    """A page without its scripts and their data."""
    runs = _RUNS.findall(page)
    assert set(runs) <= OURS
    policy = _POLICY.search(page)
    assert policy is not None
    allowed = re.search("script-src ([^;]*);", unescape(policy[1]))
    assert allowed is not None
    digests = [f"'sha256-{b64encode(sha256(x.encode()).digest()).decode()}'" for x in runs]
    assert allowed[1].split() == (digests or ["'none'"])
    for data in _DATA.findall(page):
        assert "<" not in data
        json.loads(data)
    return _DATA.sub("", _RUNS.sub("", page))
