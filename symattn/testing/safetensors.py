"""Safetensors: arrays in a file that every framework reads without running anything.

A file is the length of a header (8 bytes, the lowest first), the header in JSON, which says
of each array its type, its shape and its place, and the numbers row by row, the lowest
byte first (https://github.com/huggingface/safetensors). NumPy's own format has no bfloat16.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.errors import Malformed

#: What the format calls each type, and how NumPy holds its bits.
_TYPES = {
    "float64": ("F64", "<f8"),
    "float32": ("F32", "<f4"),
    "float16": ("F16", "<f2"),
    "bfloat16": ("BF16", "<u2"),
    "bool": ("BOOL", "<u1"),
}


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """An array whose numbers are all of a type: ``float64``, ``float32``, ``float16``,
    ``bfloat16`` (held by NumPy as wider floats) or ``bool``."""

    dtype: str
    array: npt.NDArray[Any]

    def bits(self) -> bytes:
        """The numbers as they are stored; :class:`Malformed` where one is none of the type.

        >>> StoredTensor("bfloat16", np.array([1.0, -2.0])).bits().hex()
        '803f00c0'
        """
        form = _TYPES[self.dtype][1]
        if self.dtype != "bfloat16":
            stored = self.array.astype(form)
            back = stored
        else:
            # The higher half of a float32.
            whole = self.array.astype("<f4").view("<u4")
            stored = (whole >> 16).astype(form)
            back = (whole & 0xFFFF0000).view("<f4")
        if not np.array_equal(back, self.array, equal_nan=self.dtype != "bool"):
            raise Malformed(f"a number that is no {self.dtype} can't be stored as one")
        return stored.tobytes()


def packed(tensors: Mapping[str, StoredTensor], about: Mapping[str, str]) -> bytes:
    """The bytes of a file that holds these arrays, and texts about them.

    The same for the same arrays in whatever order: the widest types first, so that all
    are aligned, and then by name.

    >>> whole = packed({"x": StoredTensor("float16", np.array([1.0]))}, {"by": "hand"})
    >>> whole[8:-2].decode().rstrip()
    '{"__metadata__":{"by":"hand"},"x":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}'
    """
    header: dict[str, object] = {"__metadata__": dict(sorted(about.items()))}
    parts: list[bytes] = []
    end = 0
    for name in sorted(tensors, key=lambda name: (-_width(tensors[name]), name)):
        tensor = tensors[name]
        parts.append(tensor.bits())
        start, end = end, end + len(parts[-1])
        header[name] = {
            "dtype": _TYPES[tensor.dtype][0],
            "shape": list(tensor.array.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    # Numbers begin at a multiple of eight.
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def _width(tensor: StoredTensor) -> int:
    return np.dtype(_TYPES[tensor.dtype][1]).itemsize
