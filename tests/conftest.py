"""Fixtures that several packages of tests share, and the marks of what takes long.

``heavy`` tests run in CI only. Of the cases of a ``sampled(n)`` test n run always, spread
evenly, and the others are heavy; of a ``sampled(n, m)`` test m are heavy, and what is left
belongs to the campaign. A test that ``needs`` a program is skipped without it; where
``SYMATTN_ALL_PROGRAMS`` is set, as in CI, it fails.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

from tests.installed import found

# A machine that does other work beside is slow, and that is no fault of a law. CI tries the same
# examples each time, and more of them, so that what it says of a commit stays true; every other
# run tries new ones.
IN_CI = bool(os.environ.get("SYMATTN_ALL_PROGRAMS"))
settings.register_profile(
    "calm", deadline=None, max_examples=50 if IN_CI else 30, derandomize=IN_CI
)
settings.load_profile("calm")

# What no reader expected comes out, also in the processes that tests start: only tests of
# what keeps it to a piece have it kept.
os.environ["SYMATTN_TRACEBACK"] = "1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as heavy, or as the campaign's, what is not in the sample of a test."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            cases[item.path, item.nodeid.partition("[")[0]].append(item)
    for group in cases.values():
        mark = group[0].get_closest_marker("sampled")
        assert mark is not None
        always, *in_ci = mark.args
        others = [item for k, item in enumerate(group) if k not in spread(always, len(group))]
        heavy = spread(in_ci[0] if in_ci else len(others), len(others))
        for k, item in enumerate(others):
            item.add_marker("heavy" if k in heavy else "campaign")


def spread(count: int, total: int) -> set[int]:
    """So many places out of a total, as far from each other as can be."""
    return {k * total // count for k in range(min(count, total))}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a program that is not here; where all must be, fail."""
    programs = [program for mark in item.iter_markers("needs") for program in mark.args]
    if missing := [program for program in programs if found(program) is None]:
        message = f"needs {', '.join(missing)}"
        if os.environ.get("SYMATTN_ALL_PROGRAMS"):
            pytest.fail(message, pytrace=False)
        pytest.skip(message)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which programs are missing, and how many tests were skipped without them."""
    counts: dict[str, int] = defaultdict(int)
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if reason.startswith("Skipped: needs "):
            counts[reason.removeprefix("Skipped: needs ")] += 1
    for programs, count in sorted(counts.items()):
        tests = f"{count} test{'s' if count > 1 else ''}"
        terminalreporter.write_line(f"{tests} skipped: {programs} not installed")


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
