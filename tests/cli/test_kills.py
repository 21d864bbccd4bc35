"""A command ended at any moment: files are whole, and nothing is left running or lying about.

``SYMATTN_KILLS=200`` runs as many rounds.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.folders import written

from .processes import Run, heeds_signals

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc"),
    pytest.mark.heavy,
]

ROUNDS = int(os.environ.get("SYMATTN_KILLS", "12"))
#: What is ended, and how.
ENDS = [
    ("command", signal.SIGINT),
    ("command", signal.SIGTERM),
    ("command", signal.SIGKILL),
    ("child", signal.SIGKILL),
]
CASES = ("cat-sat-mat", "the-fox-jumps")
#: Seconds that a whole run takes, about; moments are drawn from somewhat more.
LONG = 3.0

#: An engine for machines without one: slow, with a child, and not whole for a while.
ENGINE = """\
#!/bin/sh
printf '%%PDF-1.5\\n' > sheet.pdf
for part in 1 2 3 4; do sleep 0.1; echo $part >> sheet.pdf; done
printf '%%%%EOF\\n' >> sheet.pdf
"""


#: Has the command interrupted when it looks for a module.
LOADING = """\
import os, signal, sys

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Run(tmp_path)
    if shutil.which("pdflatex") is None:
        engine(made, ENGINE)
    return made


def engine(run: Run, script: str) -> None:
    """Put an engine into the way of the real one."""
    folder = run.folder / "engines"
    folder.mkdir()
    (folder / "pdflatex").write_text(script, "utf-8")
    (folder / "pdflatex").chmod(0o755)
    run.environment["PATH"] = os.pathsep.join([str(folder), os.environ["PATH"]])


#: How files begin and end.
WHOLE = {
    ".pdf": (b"%PDF-", b"%%EOF"),
    ".tex": (b"% !TeX", b"\\end{document}"),
    ".html": (b"<!DOCTYPE html>", b"</html>"),
}


def assert_whole(folder: Path) -> None:
    """Every file is a sheet from its beginning to its end."""
    for path in written(folder):
        content = path.read_bytes()
        head, end = WHOLE[path.suffix]
        assert path.stem in CASES or path.name == "index.html"
        assert content.startswith(head), path
        assert content.rstrip().endswith(end), path


@pytest.mark.parametrize("number", range(ROUNDS))
def test_ended_at_any_moment(number: int, run: Run) -> None:
    """The command or one of its processes is ended, by a signal that it can answer or by one
    that it can't: what is there is whole, what ran is gone, what was temporary too."""
    drawn = random.Random(number)
    whom, how = ENDS[number % len(ENDS)]
    out = run.work / "out"
    # Half of the files replace older ones.
    out.mkdir()
    (out / f"{CASES[0]}.tex").write_bytes(b"% !TeX old \\end{document}")
    (out / f"{CASES[0]}.pdf").write_bytes(b"%PDF-old %%EOF")
    with run.start("sheet", *CASES, "-o", "out", "--jobs", "2", "--force") as process:
        heeds_signals(process)
        time.sleep(drawn.uniform(0, LONG))
        children = sorted(set(run.processes()) - {process.pid})
        if whom == "command":
            process.send_signal(how)
        elif children:
            try:
                os.kill(drawn.choice(children), how)
            except ProcessLookupError:
                # It was quicker.
                children = []
        said, complained = process.communicate(timeout=60)
    left = run.left()
    assert left == {}
    assert run.temporary() == []
    assert_whole(out)
    code = process.returncode
    if code == 0:
        assert (said, complained) == (
            b"2 sheets in out: HTML, LaTeX and PDF; open out/index.html\n",
            b"",
        )
    elif whom == "command":
        assert code == (-how if how is signal.SIGKILL else 128 + how)
        assert complained == b""
    else:
        assert children
        assert code == 2
        assert complained.count(b"\n") == 1
        assert complained.startswith(b"symattn: ")


# -- by themselves, at the worst moment ----------------------------------------------------------

STUCK = """\
#!/bin/sh
touch '{folder}/begun'
sleep 1000 &
while :; do number=$((number + 1)); : > $number; done
"""


@pytest.fixture
def stuck(run: Run) -> Run:
    """The engine never ends, makes ever more files, and has a child that doesn't end either."""
    shutil.rmtree(run.folder / "engines", ignore_errors=True)
    engine(run, STUCK.format(folder=run.folder))
    return run


def until(path: Path) -> None:
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.02)
    raise AssertionError(f"no {path}")


@pytest.mark.parametrize(("whom", "how"), ENDS)
def test_ended_while_an_engine_runs(whom: str, how: signal.Signals, stuck: Run) -> None:
    """With the command ends the engine and all that it has started; its folder goes."""
    with stuck.start("sheet", "cat-sat-mat") as process:
        until(stuck.folder / "begun")
        assert stuck.temporary()
        if whom == "command":
            process.send_signal(how)
        else:
            (keeper,) = (
                place for place, words in stuck.processes().items() if "workers.serve" in words
            )
            os.kill(keeper, how)
        out, err = process.communicate(timeout=20)
    assert stuck.left() == {}
    assert stuck.temporary() == []
    if whom == "command":
        expected = (-how if how is signal.SIGKILL else 128 + how, b"", b"")
    else:
        told = b"symattn: sheets/cat-sat-mat.pdf: pdflatex was killed\n"
        said = b"1 sheet in sheets: HTML and LaTeX; open sheets/cat-sat-mat.html\n"
        expected = (2, said, told)
    assert (process.returncode, out, err) == expected


@pytest.mark.parametrize(("whom", "how"), ENDS[:3])
def test_ended_in_native_code(whom: str, how: signal.Signals, run: Run) -> None:
    """Work that answers to no signal ends with the command that asked for it."""
    with run.start("verify", "slow.toml") as process:
        # The arithmetic is loaded just before it is put to work.
        while not any("/flint" in maps(place) for place in run.processes()):
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(how)
        out, err = process.communicate(timeout=20)
    assert run.left() == {}
    assert process.returncode == (-how if how is signal.SIGKILL else 128 + how)
    assert (out, err) == (b"", b"")


def maps(place: int) -> str:
    """The libraries that a process has loaded."""
    try:
        return Path(f"/proc/{place}/maps").read_text("utf-8")
    except OSError:
        return ""


def test_a_signal_while_a_file_is_written(run: Run) -> None:
    """The old file stays, and no other is left beside it."""
    (run.work / "out.json").write_text("mine", "utf-8")
    site = run.folder / "site" / "sitecustomize.py"
    site.write_text(
        "import os, signal\nfrom symattn import outputs\n"
        "outputs._nameless = lambda *_: None\n"
        "os.fchmod = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n",
        "utf-8",
    )
    code, out, err = run.ended(
        "audit", "cat-sat-mat", "--format", "json", "-o", "out.json", "--force"
    )
    assert (code, out, err) == (128 + signal.SIGTERM, "", "")
    assert [path.name for path in written(run.work)] == ["out.json"]
    assert (run.work / "out.json").read_text("utf-8") == "mine"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_when_all_is_done(how: signal.Signals, run: Run) -> None:
    """What is done stays done: the exit code says so."""
    site = run.folder / "site" / "sitecustomize.py"
    site.write_text(
        f"import atexit, os\natexit.register(os.kill, os.getpid(), {int(how)})\n", "utf-8"
    )
    code, out, err = run.ended("sheet", "cat-sat-mat", "--format", "tex")
    assert (code, out, err) == (0, "1 sheet in sheets: LaTeX\n", "")


def test_what_is_ignored_stays_ignored(run: Run) -> None:
    """Who asked for no hang-ups (nohup) has none."""
    process = subprocess.Popen(
        ["nohup", *run.command("sheet", "cat-sat-mat", "--format", "tex")],
        cwd=run.work,
        env=run.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        heeds_signals(process)
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"1 sheet in sheets: LaTeX\n")


@pytest.mark.parametrize("module", ["symattn.signals", "symattn.cli", "symattn.cli.main"])
def test_a_signal_while_modules_are_loaded(module: str, run: Run) -> None:
    """The command ends without a word and with 130 from its first own line on."""
    (run.folder / "hook").mkdir()
    (run.folder / "hook" / "sitecustomize.py").write_text(LOADING.format(module=module), "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(run.folder / "hook")}
    done = subprocess.run(
        [sys.executable, "-m", "symattn", "list"],
        env=environment, capture_output=True, timeout=100, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
