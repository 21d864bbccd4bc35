"""Floats that aren't those of IEEE 754 are refused, not computed with."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Writes the control register of SSE: the two instructions are LDMXCSR [RDI] and RET.
CHANGED = """
import ctypes, mmap, sys
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("0fae17c3"))
at = ctypes.addressof(ctypes.c_char.from_buffer(code))
import numpy as np
from symattn import attention, from_floats
from symattn.errors import Unsound
before = attention([[1]], [[2]], [[3]])
register = ctypes.c_uint32(int(sys.argv[1], 16))
ctypes.CFUNCTYPE(None, ctypes.c_void_p)(at)(ctypes.addressof(register))
for work in (
    lambda: attention([[1]], [[2]], [[3]]).output.nearest("float64"),
    lambda: from_floats(np.array([5e-324])),
):
    try:
        print(work())
    except Unsound as error:
        print(error)
"""


@pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux",
    reason="the register that is written is that of x86-64, called as Linux does",
)
@pytest.mark.parametrize(
    ("register", "said"),
    [
        ("1f80", None),
        ("9f80", "this process flushes subnormal numbers to 0"),
        ("1fc0", "this process flushes subnormal numbers to 0"),
        ("3f80", "this process doesn't round floats to nearest"),
        ("5f80", "this process doesn't round floats to nearest"),
        ("7f80", "this process doesn't round floats to nearest"),
    ],
)
def test_a_process_without_ieee_floats_is_told(register, said):
    """Flushing results, flushing operands, rounding down, up and to zero."""
    done = subprocess.run(
        [sys.executable, "-c", CHANGED, register], capture_output=True, text=True, timeout=60
    )
    assert not done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    if said:
        assert all(line.startswith(said) for line in lines)
    else:
        assert lines == ["[[3.]]", "<exact values of a vector of 1 floats>"]
