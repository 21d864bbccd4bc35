"""What builds and tests the package is named to the version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
_EXACT = re.compile(r"[A-Za-z0-9._-]+==[0-9][^\s,*]*")


def test_what_builds_is_pinned() -> None:
    """No later build takes another program than this one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = project["build-system"]["requires"]
    constraints = (ROOT / ".ci" / "constraints.txt").read_text("utf-8").split()
    assert [one for one in (*wanted, *constraints) if not _EXACT.fullmatch(one)] == []
