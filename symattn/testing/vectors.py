"""Test vectors: inputs with correctly rounded results, for those without Python.

A suite is a list of samples (:mod:`~symattn.testing.samples`). Each becomes a file in
safetensors and one in JSON with hexadecimal floats; ``manifest.json`` says of all what they
are, one line each. The bytes are the same on every machine, however many work on them. A
sample that can't be worked out is a line in the manifest, and takes nothing from the others.

Safetensors: arrays in a file that every framework reads without running anything.

A file is the length of a header (8 bytes, the lowest first), the header in JSON, which says
of each array its type, its shape and its place, and the numbers row by row, the lowest
byte first (https://github.com/huggingface/safetensors). NumPy's own format has no bfloat16.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from symattn import __version__
from symattn.errors import Fault, Faults, Malformed, SymattnError, expected
from symattn.escaping import visible
from symattn.expressions.shapes import Shape
from symattn.limits import SAMPLES
from symattn.numbers.arrays import from_floats
from symattn.ownership import Outputs
from symattn.sharing import shared
from symattn.solution.quantity import Quantity
from symattn.testing.attention_steps import Array
from symattn.testing.bounds import bounds
from symattn.testing.precision import Precision
from symattn.testing.samples import DTYPES, KINDS, STANDARD, Sample, sample

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
    widths = {name: np.dtype(_TYPES[x.dtype][1]).itemsize for name, x in tensors.items()}
    for name in sorted(tensors, key=lambda name: (-widths[name], name)):
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


#: The forms that vectors are written in.
Form = Literal["safetensors", "json"]
FORMS: tuple[Form, ...] = get_args(Form)

MANIFEST = "manifest.json"

#: What a reader of the files has to know, in the manifest.
_CONVENTIONS: Mapping[str, str] = {
    "attention": "output = softmax(scores) @ v, scores = scale * q @ k^T; then, in this order, "
    "softcap c (c * tanh(scores / c)), bias (added), keys masked; scale is 1 / sqrt(d_k)",
    "axes": "leading axes, rows (queries or keys), columns; row by row. Head h of q shares "
    "head h // (heads of q / heads of k) of k and v",
    "mask": "true: the query sees the key. It is there wherever keys are masked, and says all "
    "that causal, window and lengths say",
    "causal": "top-left: query i sees keys 0 to i; bottom-right: the last query sees all keys, "
    "the one before one less, and so on",
    "window": "[left, right]: query i sees keys i - left to i + right",
    "lengths": "keys from there on are masked",
    "sink": "one more score of each row, which takes weight and has no value",
    "on_empty_row": "zero: the output of a query that sees no key is 0",
    "lse": "natural logarithm of the sum of exp(scores) over the keys seen, sink included",
    "gradients": "dq, dk, dv are those of sum(upstream * output)",
    "rounding": "inputs are exact; a result is the number of the dtype nearest to the exact "
    "one, ties to even, underflow gradual; NAME.float64 is the float64 nearest to it",
    "condition": "NAME.condition is of each entry the sum of the magnitudes of its terms, as if "
    "nothing cancelled; NAME.bound is how far a correct kernel may be off that works in the "
    "dtype, stores every step in it, and has float32 for sums where it is narrower; inf where "
    "anything will do, as in the lse of a query that sees no key. Both are powers of two, the "
    "bound rounded up. log2_condition tells how much of a result cancels: the largest condition "
    "over its entry",
    "json": "numbers are hexadecimal as C99's %a and strtod have them; inf, -inf and nan",
    "inputs": "odd integers times powers of two; the integers are the highest bits of each 64 of "
    "SHAKE-256('KIND SEED ARRAY'), the lowest byte first",
}


@dataclass(frozen=True)
class SampleRequest:
    """One sample of a suite: the arguments of :func:`symattn.testing.samples.sample`."""

    kind: str
    dtype: str
    seed: int
    n: int = 8
    d: int = 8
    lead: Shape = ()

    @property
    def name(self) -> str:
        """Return what its files are called.

        >>> large = SampleRequest("sink", "float64", 1, n=130, d=32)
        >>> SampleRequest("ordinary", "float32", 0).name, large.name
        ('ordinary-float32-0', 'sink-float64-1-130x32')
        """
        sizes = "" if (self.n, self.d) == (8, 8) else f"-{self.n}x{self.d}"
        lead = f"-{'x'.join(map(str, self.lead))}" if self.lead else ""
        return f"{self.kind}-{self.dtype}-{self.seed}{sizes}{lead}"

    @property
    def stem(self) -> str:
        """Return where its files lie in a folder of vectors, without their endings."""
        return f"{self.dtype}/{self.name}"

    def sample(self) -> Sample:
        """The sample itself."""
        return sample(self.kind, self.dtype, self.seed, n=self.n, d=self.d, lead=self.lead)


@dataclass(frozen=True)
class Suite:
    """Samples of some kinds, in some formats, for so many seeds."""

    what: str
    kinds: Sequence[str]
    seeds: int
    n: int = 8
    d: int = 8


#: What runs over blocks of 64 or 128 keys has its own ways to go wrong.
_BLOCKS = ("ordinary", "saturated", "cancelling", "masked", "rectangular", "grouped", "causal")

SUITES: Mapping[str, Suite] = {
    "quick": Suite("the kinds for every kernel, one of each", STANDARD, 1),
    "standard": Suite("all kinds, three of each", (*KINDS,), 3),
    "blocks": Suite("130 keys of 32 columns, for kernels that work in blocks", _BLOCKS, 1, 130, 32),
}


def samples_of(
    name: str = "standard", dtypes: Sequence[str] = DTYPES, seeds: int | None = None
) -> list[SampleRequest]:
    """The samples of a suite (:data:`SUITES`), in some formats and for another number of seeds.

    Raises :class:`Malformed` for what there is not.

    >>> len(samples_of()), samples_of("quick", ["float32"])[1].name
    (276, 'saturated-float32-0')
    """
    faults = Faults()
    if name not in SUITES:
        faults.append(Fault("suite", f"unknown suite {name!r}: {expected(name, SUITES)}"))
    for dtype in dtypes:
        if dtype not in DTYPES:
            faults.append(_unknown("dtypes", dtype))
    if seeds is not None and seeds < 1:
        faults.append(Fault("seeds", f"expected how many seeds, from 1 on, found {seeds}"))
    faults.raise_all()
    of, among = SUITES[name], [*dict.fromkeys(dtypes)]
    count = of.seeds if seeds is None else seeds
    if (samples := len(among) * len(of.kinds) * count) > SAMPLES.most:
        raise Malformed(Fault("seeds", SAMPLES.said(samples)))
    return [
        SampleRequest(kind, dtype, seed, of.n, of.d)
        for dtype in among
        for kind in of.kinds
        for seed in range(count)
    ]


def _unknown(where: str, dtype: str) -> Fault:
    return Fault(where, f"unknown dtype {dtype!r}: {expected(dtype, DTYPES)}")


@dataclass(frozen=True)
class SampleFiles:
    """A sample's line in the manifest, and its files by their paths."""

    line: dict[str, Any]
    files: dict[str, bytes] = field(default_factory=dict)


def made(wanted: SampleRequest, forms: Sequence[Form] = FORMS) -> SampleFiles:
    """The vectors of a sample.

    >>> vectors = made(SampleRequest("one-key", "float16", 0))
    >>> [*vectors.files], vectors.line["shapes"]["k"]
    (['float16/one-key-float16-0.safetensors', 'float16/one-key-float16-0.json'], [1, 8])
    """
    if wanted.dtype not in DTYPES:
        raise Malformed(_unknown("dtype", wanted.dtype))
    sample = wanted.sample()
    results = _results(sample)
    tensors = _tensors(sample, results)
    about = {
        "name": wanted.name,
        "kind": wanted.kind,
        "dtype": wanted.dtype,
        "seed": wanted.seed,
        "options": _options(sample),
    }
    files: dict[str, bytes] = {}
    for form in forms:
        if form == "safetensors":
            files[f"{wanted.stem}.safetensors"] = packed(tensors, {"case": json.dumps(about)})
        else:
            files[f"{wanted.stem}.json"] = _as_json(about, tensors)
    line = {
        **about,
        "log2_condition": {
            name: _log_condition(tensors[f"{name}.condition"].array, quantity.nearest("float64"))
            for name, quantity in results.items()
        },
        "shapes": {name: list(tensor.array.shape) for name, tensor in tensors.items()},
        "sha256": {path: sha256(content).hexdigest() for path, content in files.items()},
    }
    return SampleFiles(line, files)


def _results(sample: Sample) -> dict[str, Quantity]:
    exact = sample.exact()
    back = exact.backward(from_floats(sample.upstream))
    return {"output": exact.output, "lse": exact.lse, "dq": back.dQ, "dk": back.dK, "dv": back.dV}


def _tensors(sample: Sample, results: Mapping[str, Quantity]) -> dict[str, StoredTensor]:
    names = ("q", "k", "v", "upstream")
    tensors = {name: StoredTensor(sample.dtype, getattr(sample, name)) for name in names}
    if (bias := sample.options.get("bias")) is not None:
        tensors["bias"] = StoredTensor(sample.dtype, bias)
    if (visible := sample.visible) is not None:
        tensors["mask"] = StoredTensor("bool", visible)
    for name, quantity in results.items():
        tensors[name] = StoredTensor(sample.dtype, quantity.nearest(sample.dtype))
        if sample.dtype != "float64":
            tensors[f"{name}.float64"] = StoredTensor("float64", quantity.nearest("float64"))
        bound = bounds(quantity, Precision(sample.dtype))
        tensors[f"{name}.condition"] = StoredTensor("float64", _power(bound.condition))
        tensors[f"{name}.bound"] = StoredTensor("float64", _power(bound.bound, up=1))
    return tensors


def _power(numbers: Array, up: int = 0) -> Array:
    """Powers of two near positive numbers, or beyond them: floats that differ in their last
    places, as those of two machines may, have the same.

    >>> _power(np.array([0.0, 1.0, 6.0, np.inf])), _power(np.array([1.0, 1.5]), up=1)
    (array([ 0.,  1.,  8., inf]), array([2., 4.]))
    """
    part, exponent = np.frexp(numbers)
    # No short sum of powers of two is 0.7: what is exact is never on the edge.
    near = np.ldexp(1.0, exponent - (part < 0.7) + up)
    return np.where((numbers == 0) | np.isinf(numbers), numbers, near)


def _log_condition(bound: Array, exact: Array) -> int | None:
    """The logarithm of the largest condition over its entry; None where all entries are 0."""
    known = np.isfinite(exact) & (exact != 0) & np.isfinite(bound)
    exponents = np.frexp(bound[known])[1] - np.frexp(exact[known])[1]
    return int(exponents.max()) if exponents.size else None


def _options(sample: Sample) -> dict[str, Any]:
    """The options but arrays, which are tensors; numbers as hexadecimal floats."""
    return {
        name: value.hex() if isinstance(value, float) else value
        for name, value in sample.options.items()
        if not isinstance(value, np.ndarray)
    }


def _as_json(about: Mapping[str, Any], tensors: Mapping[str, StoredTensor]) -> bytes:
    """A line for each array, its numbers row by row."""
    lines = []
    for name, tensor in tensors.items():
        flat = tensor.array.ravel()
        data = [x if isinstance(x, bool) else x.hex() for x in flat.tolist()]
        part = {"dtype": tensor.dtype, "shape": tensor.array.shape, "data": data}
        lines.append(f"  {json.dumps(name)}: {json.dumps(part)}")
    head = json.dumps(about)[:-1]
    rows = ",\n".join(lines)
    return f'{head}, "arrays": {{\n{rows}\n}}}}\n'.encode()


class VectorFolder:
    """A folder that vectors are written into as they are made, the manifest last.

    An older manifest goes first: it would speak of what is there no more.
    """

    def __init__(
        self, path: Path, wanted: Sequence[SampleRequest], forms: Sequence[Form], outputs: Outputs
    ) -> None:
        self.path = path
        self._wanted = wanted
        # As text, which takes a fifth of the room.
        self._lines: dict[int, str] = {}
        self._failed: dict[int, str] = {}
        self._outputs = outputs
        outputs.claim_in(path, [MANIFEST, *(f"{x.stem}.{form}" for x in wanted for form in forms)])
        outputs.remove(path / MANIFEST)

    @property
    def failed(self) -> list[str]:
        """The names of samples that could not be worked out."""
        return [name for _, name in sorted(self._failed.items())]

    def take(self, index: int, vectors: SampleFiles) -> None:
        """Write the files of a sample."""
        for name, content in vectors.files.items():
            self._outputs.write(self.path / name, content)
        self._lines[index] = json.dumps(vectors.line)
        if "failure" in vectors.line:
            self._failed[index] = self._wanted[index].name

    def finish(self) -> None:
        """Write the manifest, one line for each sample."""
        head = {"symattn": __version__, "conventions": _CONVENTIONS}
        lines = ",\n".join(self._lines[k] for k in range(len(self._wanted)))
        text = f'{json.dumps(head, indent=1)[:-2]},\n "cases": [\n{lines}\n]}}\n'
        self._outputs.write(self.path / MANIFEST, text.encode())


def failure(wanted: SampleRequest, why: BaseException | str) -> SampleFiles:
    """The line of a sample that could not be worked out.

    >>> failure(SampleRequest("sink", "float16", 0), "no time").line
    {'name': 'sink-float16-0', 'failure': 'no time'}
    """
    message = str(why)
    if isinstance(why, BaseException) and not isinstance(why, SymattnError):
        message = f"{type(why).__name__}: {why}"
    return SampleFiles({"name": wanted.name, "failure": visible(message)})


def _chunk_of(wanted: Sequence[SampleRequest], forms: Sequence[Form]) -> list[SampleFiles]:
    """The vectors of several samples; what can't be worked out is told in its line."""
    vectors = []
    for item in wanted:
        try:
            vectors.append(made(item, forms))
        # Whatever it is: the others are worked out all the same.
        except Exception as error:
            vectors.append(failure(item, error))
    return vectors


def write(
    directory: str | Path,
    suite: str | Sequence[SampleRequest] = "standard",
    executor: Executor | None = None,
    chunk: int = 16,
    *,
    forms: Sequence[Form] = FORMS,
    watch: Callable[[int, int], None] | None = None,
    force: bool = False,
) -> list[str]:
    """Write the vectors of a suite into a folder, and return the names of samples that failed.

    ``suite`` is the name of one, or samples (:func:`samples_of`). Any
    :class:`concurrent.futures.Executor` does the work, of this machine or of many
    (``distributed.Client().get_executor()``), ``chunk`` samples at a time; what it loses is
    done again, and the files are written, in the calling process. ``watch`` is told how many
    are done, of how many. The same bytes whoever works. Raises :class:`Malformed` for an
    unknown suite, and where nothing can be written, or what is there was not written by this;
    ``force`` replaces that.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(folder, [SampleRequest("one-key", "float32", 0)], forms=["json"])
    ...     sorted(path.name for path in Path(folder).rglob("*.json"))
    []
    ['manifest.json', 'one-key-float32-0.json']
    """
    samples = samples_of(suite) if isinstance(suite, str) else [*suite]
    outputs = Outputs("vectors", force=force)
    folder = VectorFolder(Path(directory), samples, forms, outputs)
    done, size = 0, 1 if executor is None else max(chunk, 1)
    pieces = [(samples[k : k + size], tuple(forms)) for k in range(0, len(samples), size)]
    for place, group in shared(_chunk_of, pieces, executor):
        for k, vectors in enumerate(group, place * size):
            folder.take(k, vectors)
        done += len(group)
        if watch is not None:
            watch(done, len(samples))
    folder.finish()
    return folder.failed
