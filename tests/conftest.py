"""Fixtures that several packages of tests share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# What no reader expected comes out, also in the processes that tests start: only tests of
# what keeps it to a piece have it kept.
os.environ["SYMATTN_TRACEBACK"] = "1"


@pytest.fixture
def safe_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own devices stay, whatever the code under test does as superuser."""
    replace = Path.replace

    def checked(source: Path, target: Path) -> Path:
        assert Path(target).absolute().parent != Path("/dev")
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", checked)


@pytest.fixture
def eager_switching():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
