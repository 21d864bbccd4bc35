"""Fixtures that several packages of tests share."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture
def eager_switching():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
