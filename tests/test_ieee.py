"""Floats that aren't those of IEEE 754 are refused wherever a bound relies on them, whenever they
were changed: before, between two questions, or by the code that is judged."""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from symattn import attention, from_floats, solve, verify
from symattn.crosscheck.recomputation import recompute
from symattn.errors import Unsound
from symattn.testing import check_attention, report

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux",
    reason="the register that is written is that of x86-64, called as Linux does",
)

PLAIN = 0x1F80
FLUSHING = 0x9F80
#: Values of the control register of SSE, and what each is called.
CHANGES = {
    FLUSHING: "flushes subnormal numbers to 0",
    0x1FC0: "flushes subnormal numbers to 0",
    0x3F80: "doesn't round floats to nearest",
    0x5F80: "doesn't round floats to nearest",
    0x7F80: "doesn't round floats to nearest",
}


def set_register(value):
    """Writes the control register of SSE: the two instructions are LDMXCSR [RDI] and RET."""
    with mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as code:
        code.write(bytes.fromhex("0fae17c3"))
        start = ctypes.c_char.from_buffer(code)
        register = ctypes.c_uint32(value)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.addressof(start))(ctypes.addressof(register))
        del start


@contextmanager
def floats(register):
    set_register(register)
    try:
        yield
    finally:
        set_register(PLAIN)


#: A weight of e^-740 is a subnormal number of 64 bits.
SMALL: dict[str, Any] = {"q": [[1]], "k": [[0], [-740]], "v": [[0], [1]]}


def small():
    return attention(**SMALL, scale=1)


WORK = {
    "attention": lambda made: attention([[1]], [[2]], [[3]]).output.nearest("float64"),
    "from_floats": lambda made: from_floats(np.array([5e-324])),
    "a new question": lambda made: made.backward().dQ.nearest("float64"),
    "computed before": lambda made: made.output.nearest("float64"),
    "a part": lambda made: made.weights[0].nearest("float32"),
    "the log-sum-exp": lambda made: made.lse.nearest("float64"),
    "judged": lambda made: report(np.zeros((1, 1)), made.output),
    "recomputed": lambda made: recompute({"x": [1, 2]}, {"A": "softmax(x)"}),
    "verified": lambda made: verify(made.solution, symbolic=False),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("register", CHANGES)
def test_what_is_changed_between_two_questions_is_told(register, work):
    """Flushing results, flushing operands, rounding down, up and to zero."""
    made = small()
    made.output.nearest("float64")
    with floats(register), pytest.raises(Unsound, match=f"^this process {CHANGES[register]}"):
        WORK[work](made)
    WORK[work](made)


def test_what_was_made_before_is_still_right():
    """Without a change the subnormal numbers are those that are nearest."""
    assert small().output.nearest("float64").item() == np.exp(-740.0) > 0


@pytest.mark.parametrize("backward", [False, True])
def test_a_kernel_that_changes_floats_is_told_not_judged(backward):
    """Its zeros would be held against zeros."""

    def kernel(q, k, v):
        set_register(FLUSHING)
        return np.zeros((1, 1))

    def gradients(*arrays):
        set_register(FLUSHING)
        return [np.zeros_like(x) for x in arrays[:3]]

    def right(q, k, v):
        return np.exp(-740.0).reshape(1, 1)

    function, back = (right, gradients) if backward else (kernel, None)
    try:
        with pytest.raises(Unsound, match="to 0 since the kernel was called"):
            check_attention(function, **SMALL, scale=1, backward=back, dtype="float64")
    finally:
        set_register(PLAIN)


def test_ordinary_floats_are_no_fault():
    assert recompute({"x": [1, 2]}, {"A": "softmax(x)"}).quantities["A"].value.sum() == 1
    assert solve("cat-sat-mat")["A"].nearest().shape == (3, 3)
