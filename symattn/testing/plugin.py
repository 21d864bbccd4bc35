"""The plugin for pytest: samples as a fixture, a report, and a table in the end.

It is loaded wherever symattn is installed, so it loads nothing itself until a test asks
for ``attention_case``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from symattn.testing.cases import AttentionCase, Choice

#: What the checks of a test, and of all tests, found: plain data.
_OF_TEST = pytest.StashKey[list[dict[str, Any]]]()
_OF_ALL = pytest.StashKey[list[dict[str, Any]]]()
#: What the report is written through.
_OUTPUTS = pytest.StashKey[Any]()

_FIXTURE = "attention_case"
_MARKER = (
    "attention(kinds=..., dtypes=..., seeds=..., n=8, d=8, lead=()): which samples "
    "attention_case is (symattn.testing.samples.KINDS)"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option for the report."""
    group = parser.getgroup("symattn", "attention held against the exact truth (symattn)")
    group.addoption(
        "--symattn-report",
        type=Path,
        metavar="FILE",
        help="write what every check of an attention_case found, as JSON",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker; a report that can't be written is told before the tests."""
    config.addinivalue_line("markers", _MARKER)
    config.stash[_OF_ALL] = []
    if (path := config.getoption("--symattn-report")) is not None:
        from symattn.ownership import Outputs

        instead = "choose another file, or remove it"
        config.stash[_OUTPUTS] = Outputs("pytest --symattn-report", instead=instead)
        with _told():
            config.stash[_OUTPUTS].claim(path)


@contextmanager
def _told() -> Iterator[None]:
    """A context in which what can't be written is told as wrong usage."""
    from symattn.errors import SymattnError

    try:
        yield
    except SymattnError as error:
        raise pytest.UsageError(f"--symattn-report: {error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes an ``attention_case`` is run for each sample that it chooses."""
    if _FIXTURE not in metafunc.fixturenames:
        return
    from symattn.errors import SymattnError
    from symattn.testing.cases import choices

    # The nearest marker has the last word.
    marks = [*metafunc.definition.iter_markers("attention")][::-1]
    try:
        chosen = choices([(mark.args, mark.kwargs) for mark in marks])
    except SymattnError as error:
        pytest.fail(f"attention: {error}", pytrace=False)
    ids = [choice.wanted.name for choice in chosen]
    metafunc.parametrize(_FIXTURE, chosen, ids=ids, indirect=True)


@pytest.fixture
def attention_case(request: pytest.FixtureRequest) -> AttentionCase:
    """Inputs of attention that find faults; its ``check`` judges a kernel on them.

    ``@pytest.mark.attention(kinds=..., dtypes=..., seeds=...)`` chooses which.
    """
    from symattn.testing.cases import AttentionCase

    choice: Choice = request.param
    checks = request.node.stash.setdefault(_OF_TEST, [])
    return AttentionCase(choice, request.node.nodeid, checks.append)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Return what the checks of a test found goes with its report, from one process to another."""
    report = yield
    if report.when == "call" and (checks := item.stash.get(_OF_TEST, None)):
        vars(report)["symattn"] = checks
    return report


class _Reader:
    """Reads what comes with the reports of tests, in the process that runs them all."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._config.stash[_OF_ALL] += getattr(report, "symattn", ())


def pytest_sessionstart(session: pytest.Session) -> None:
    """One process gathers: that which is no worker of xdist's."""
    config = session.config
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reader(config), "symattn-reader")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, whole or not at all."""
    path = session.config.getoption("--symattn-report")
    if path is None or hasattr(session.config, "workerinput"):
        return
    from symattn.testing.cases import report

    checks = session.config.stash[_OF_ALL]
    with _told():
        session.config.stash[_OUTPUTS].write(path, report(checks))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """A table of what was checked: the largest errors over their bounds."""
    checks = config.stash[_OF_ALL]
    if not checks:
        return
    from symattn.testing.cases import table

    terminalreporter.write_sep("=", "attention: largest error over the bound, above 1 is wrong")
    for line, is_wrong in table(checks):
        terminalreporter.write_line(line, red=is_wrong)
    if (path := config.getoption("--symattn-report")) is not None:
        terminalreporter.write_line(f"all of it in {path}")
