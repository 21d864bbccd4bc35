"""Certificates are the same in every run, wherever things lie in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CORPUS = Path(__file__).parent / "corpus"
SCRIPT = """
import json, sys
from symattn.calculus.language import Index
before = [Index("q") for _ in range(int(sys.argv[2]))]
from symattn.calculus.certificates import certificate
from symattn.calculus.library import find
from symattn.case_derivation import derive_case
of = derive_case if sys.argv[1] == "training-step" else find
print(json.dumps(certificate(of(sys.argv[1])), default=str))
"""


def certified(name: str, before: int) -> str:
    """The certificate that a process of its own writes, which made so many indices before."""
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, name, str(before)],
        env={**os.environ, "PYTHONHASHSEED": str(before)},
        capture_output=True,
        check=True,
        text=True,
    ).stdout


@pytest.mark.parametrize(
    "name",
    [
        *("rotary-positions", "online-softmax", "rms-norm-backward"),
        # Conditions for all values of an index came in an order that changed from run to run.
        pytest.param(str(CORPUS / "cosine-similarity.toml"), id="cosine-similarity"),
        # A line of it was proved in some runs only.
        pytest.param("training-step", marks=pytest.mark.heavy),
    ],
)
def test_proofs_are_the_same_in_every_run(name: str) -> None:
    assert certified(name, 0) == certified(name, 5)
