"""How fast, beside a peer in the same run; nothing here asserts a time.

Each group puts symattn beside what one would use without it; the table's
ratios are what documents quote.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb, arb_mat, ctx, fmpq

from symattn import attention
from symattn.auditing.audit import audit
from symattn.calculus.library import THEORY
from symattn.cases import library
from symattn.cases.case import Case, make
from symattn.numbers.sympy_bridge import from_sympy
from symattn.numbers.values import Value
from symattn.printers import html
from symattn.printers.latex import document
from symattn.programs.nodes import Run
from symattn.sheets import derivation, redpen
from symattn.sheets.case_sheet import sheet
from symattn.solution.solution import Solution
from symattn.verification import verify

from ..models import layers
from .posts import post

N = 4
QUERIES = [[1, 0, 2, -1], [0, 1, 1, 1], [2, 1, 0, 1], [1, -1, 1, 0]]
KEYS = [[1, 1, 0, 1], [0, 2, 1, -1], [1, 0, 1, 2], [-1, 1, 1, 0]]
VALUES = [[1, 2, 0, 1], [0, 1, 1, 3], [2, 0, 1, 1], [1, 1, 1, 2]]
UPSTREAM = [[1, 2, 1, 0], [0, 1, -1, 1], [1, 1, 2, 1], [2, 0, 1, 1]]

STEPS = {"S": "Q @ K.T", "T": "S / sqrt(d_k)", "A": "softmax(T)", "Y": "A @ V"}


def held_forms() -> list[Value]:
    """Y, dQ, dK and dV in normal form, as polynomials over their normalisers: written down
    as terms, and held against balls, when an entry is used."""
    a = attention(QUERIES, KEYS, VALUES)
    back = a.backward(UPSTREAM)
    values = [x for q in (a.output, back.dQ, back.dK, back.dV) for x in q.values()]
    assert all(value.waits or value.number is not None for value in values)
    return values


def closed_forms() -> list[Value]:
    """The same, written down as terms."""
    values = held_forms()
    assert all(value.parts is not None for value in values)
    return values


def text_forms() -> list[str]:
    """The same as text."""
    return [str(value) for value in closed_forms()]


def sympy_forms() -> list[Any]:
    """The same as SymPy matrices."""
    a = attention(QUERIES, KEYS, VALUES)
    back = a.backward(UPSTREAM)
    return [q.exact for q in (a.output, back.dQ, back.dK, back.dV)]


def elementwise(library: Any, n: int = N, only_dq: bool = False) -> list[Any]:
    """Differentiate the expanded loss by every entry, then substitute."""

    def letters(name: str) -> list[list[Any]]:
        return [[library.Symbol(f"{name}{i}{j}") for j in range(n)] for i in range(n)]

    q, k, v = letters("q"), letters("k"), letters("v")
    outputs = []
    for i in range(n):
        scores = [sum(q[i][c] * k[j][c] for c in range(n)) / library.sqrt(n) for j in range(n)]
        powers = [library.exp(score) for score in scores]
        normaliser = sum(powers)
        outputs.append([sum(powers[j] / normaliser * v[j][c] for j in range(n)) for c in range(n)])
    loss = sum(UPSTREAM[i][j] * outputs[i][j] for i in range(n) for j in range(n))
    values = {
        letter[i][j]: library.Integer(table[i][j])
        for letter, table in ((q, QUERIES), (k, KEYS), (v, VALUES))
        for i, j in product(range(n), repeat=2)
    }
    wanted = [q] if only_dq else [q, k, v]
    results = [] if only_dq else [x.subs(values) for row in outputs for x in row]
    return results + [
        loss.diff(letter[i][j]).subs(values)
        for letter in wanted
        for i, j in product(range(n), repeat=2)
    ]


def in_stages(n: int) -> list[Any]:
    """dQ as SymPy derives it for the program, and the numbers put in."""
    given = {
        name: [row[:n] for row in table[:n]]
        for name, table in (("Q", QUERIES), ("K", KEYS), ("V", VALUES))
    }
    upstream = [row[:n] for row in UPSTREAM[:n]]
    case = make("numbers", {**given, "d_k": n}, STEPS, {"output": "Y", "upstream": upstream})
    return [*Solution(case).symbolic["dL/dQ"].substitute()]


def expanded(n: int) -> list[Any]:
    """The same by SymPy from the expanded loss."""
    import sympy

    return elementwise(sympy, n, only_dq=True)


@pytest.mark.benchmark(group="closed forms: Y, dQ, dK, dV, n = d = 4")
def test_held_forms(benchmark: Any) -> None:
    """Ours, in normal form; no terms are written down."""
    benchmark(held_forms)


@pytest.mark.benchmark(group="closed forms: Y, dQ, dK, dV, n = d = 4")
def test_closed_forms(benchmark: Any) -> None:
    """Ours, written down, and how many characters that is as text."""
    benchmark.extra_info["characters"] = sum(len(str(x)) for x in benchmark(closed_forms))


@pytest.mark.benchmark(group="closed forms: Y, dQ, dK, dV, n = d = 4")
def test_closed_forms_as_text(benchmark: Any) -> None:
    """Ours, as text."""
    benchmark(text_forms)


@pytest.mark.benchmark(group="closed forms: Y, dQ, dK, dV, n = d = 4")
def test_closed_forms_as_sympy(benchmark: Any) -> None:
    """Ours, as SymPy matrices."""
    benchmark(sympy_forms)


@pytest.mark.benchmark(group="closed forms: Y, dQ, dK, dV, n = d = 4")
def test_symengine(benchmark: Any) -> None:
    """SymEngine, differentiating and substituting elementwise."""
    symengine = pytest.importorskip("symengine", reason="SymEngine is the peer here")
    found = benchmark(elementwise, symengine)
    benchmark.extra_info["characters"] = sum(len(str(x)) for x in found)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_formulas(benchmark: Any, n: int) -> None:
    """SymPy in stages, from the numbers' reading on: ``symbolic[...].substitute()``."""
    benchmark.group = f"dQ derived by SymPy, numbers put in, n = d = {n}"
    found = benchmark.pedantic(in_stages, args=(n,), rounds=5, warmup_rounds=1)
    benchmark.extra_info["characters"] = sum(len(str(x)) for x in found)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_formulas_for_the_first_time(benchmark: Any, n: int) -> None:
    """The same where SymPy has derived nothing before, in a cache of its own or ours."""
    from sympy.core.cache import clear_cache

    from symattn.solution import stages

    def forget() -> None:
        clear_cache()
        stages._derivatives.cache_clear()

    in_stages(n)
    benchmark.group = f"dQ derived by SymPy, numbers put in, n = d = {n}"
    benchmark.pedantic(in_stages, args=(n,), setup=forget, rounds=5)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_expanded(benchmark: Any, n: int) -> None:
    """SymPy, differentiating the expanded loss and substituting, once."""
    benchmark.group = f"dQ derived by SymPy, numbers put in, n = d = {n}"
    found = benchmark.pedantic(expanded, args=(n,), rounds=1)
    benchmark.extra_info["characters"] = sum(len(str(x)) for x in found)


def test_formulas_are_those_of_the_expanded_loss() -> None:
    """What is measured side by side is the same number, exactly."""
    for ours, theirs in zip(in_stages(2), expanded(2), strict=True):
        assert from_sympy(ours) == from_sympy(theirs)


LARGE = 64


def large(seed: int) -> list[list[Fraction]]:
    """A matrix of reproducible three-digit decimals."""
    return [
        [Fraction((seed * 7919 + i * 104729 + j * 1299709) % 2003 - 1001, 1000)
         for j in range(LARGE)]
        for i in range(LARGE)
    ]  # fmt: skip


def large_case() -> Case:
    """The case of four such matrices, read."""
    given = {"Q": large(1), "K": large(2), "V": large(3), "d_k": LARGE}
    return make("large", given, STEPS, {"output": "Y", "upstream": large(4)})


def large_rationals() -> list[list[list[fmpq]]]:
    """The same four matrices for the bare kernel."""
    return [
        [[fmpq(x.numerator, x.denominator) for x in row] for row in large(seed)]
        for seed in (1, 2, 3, 4)
    ]


def rounded(case: Case) -> list[Any]:
    """Forward and backward, every entry the nearest float64."""
    solution = Solution(case)
    names = ("Y", "grad(Q)", "grad(K)", "grad(V)")
    return [solution[name].nearest("float64") for name in names]


def kernel(tables: list[list[list[fmpq]]]) -> list[Any]:
    """The bare products and exponentials in balls of 128 bits, unrounded."""
    before, ctx.prec = ctx.prec, 128
    try:
        q, k, v, g = (arb_mat(table) for table in tables)
        scale = arb(len(tables[0][0])).sqrt()
        weights = []
        for row in (q * k.transpose() / scale).tolist():
            powers = [x.exp() for x in row]
            normaliser = sum(powers, arb(0))
            weights.append([x / normaliser for x in powers])
        a = arb_mat(weights)
        da = (g * v.transpose()).tolist()
        ds = []
        for p, d in zip(weights, da, strict=True):
            centre = sum((x * y for x, y in zip(p, d, strict=True)), arb(0))
            ds.append([x * (y - centre) for x, y in zip(p, d, strict=True)])
        s = arb_mat(ds) / scale
        return [a * v, s * k, s.transpose() * q, a.transpose() * g]
    finally:
        ctx.prec = before


@pytest.mark.benchmark(group="certified float64, forward and backward, n = d = 64")
def test_rounded(benchmark: Any) -> None:
    """Ours: Y, dQ, dK and dV, correctly rounded."""
    benchmark(rounded, large_case())


@pytest.mark.benchmark(group="certified float64, forward and backward, n = d = 64")
def test_kernel(benchmark: Any) -> None:
    """The bare Arb kernel at 128 bits, which rounds nothing."""
    benchmark(kernel, large_rationals())


def floats_of(text: str) -> list[Any]:
    """A model's quantities and gradients in bare floats, its numbers read."""
    import numpy as np

    from symattn.programs.enclosures import FloatOperations

    case = make_case(text)
    inputs = {
        case.program.quantities[name].serial: np.array(
            [[float(x.ball(64)) for x in row if isinstance(x, Value)] for row in rows]
        )
        for name, rows in case.given.items()
    }
    assert case.program.upstream is not None
    inputs[case.program.upstream.serial] = np.ones(case.program.upstream.grid)
    found = Run(FloatOperations(), lambda node: inputs.get(node.serial))
    return [found[node] for node in case.program.named.values()]


def certain(text: str) -> list[Any]:
    """The same as the nearest float64, certified."""
    solution = Solution(make_case(text))
    return [solution[name].nearest("float64") for name in solution.program.named]


def checked(text: str) -> None:
    """The same held against the cross-check."""
    verify(Solution(make_case(text)))


def shown(text: str) -> None:
    """The same on a sheet."""
    document(sheet(Solution(make_case(text))))


def make_case(text: str) -> Case:
    """A case from a file's text."""
    tables = tomllib.loads(text, parse_float=Decimal)
    return make("model", tables["given"], tables["steps"], tables["loss"])


@pytest.mark.parametrize(
    "work", [floats_of, certain, checked, pytest.param(shown, marks=pytest.mark.heavy)]
)
@pytest.mark.parametrize("tokens", [4, pytest.param(8, marks=pytest.mark.heavy), 16])
def test_three_layers(benchmark: Any, tokens: int, work: Any) -> None:
    """Three layers of attention, forward and backward, from a file's text: in floats,
    as certified floats, cross-checked, and on a sheet."""
    benchmark.group = f"three layers of {tokens} tokens, forward and backward"
    benchmark.pedantic(work, args=(layers(tokens, 8, 3),), rounds=3, warmup_rounds=1)


def test_peers_compute_the_same() -> None:
    """What is measured side by side is the same work: SymEngine's numbers lie in our balls,
    and our floats are the middles of the kernel's balls."""
    symengine = pytest.importorskip("symengine", reason="SymEngine is the peer here")
    ours = closed_forms()
    theirs = elementwise(symengine)
    assert len(ours) == len(theirs) == 4 * N * N
    for value, other in zip(ours, theirs, strict=True):
        assert value.ball(200).overlaps(arb(str(other.n(150, real=True)), "1e-40"))
    floats = rounded(large_case())
    for found, balls in zip(floats, kernel(large_rationals()), strict=True):
        assert found.tolist() == [[float(x) for x in row] for row in balls.tolist()]


def run(*command: str, code: int = 0) -> None:
    """A whole process, and the code that it ends with."""
    made = subprocess.run(
        [sys.executable, *command], check=False, stdout=subprocess.DEVNULL, env=dict(os.environ)
    )
    assert made.returncode == code


@pytest.mark.heavy
@pytest.mark.benchmark(group="whole processes")
def test_sheets(benchmark: Any, tmp_path: Any) -> None:
    """All bundled sheets as LaTeX."""
    command = ("-m", "symattn", "sheet", "--format", "tex", "-o", str(tmp_path))
    benchmark.pedantic(run, args=command, rounds=3, warmup_rounds=1)


@pytest.mark.heavy
@pytest.mark.benchmark(group="whole processes")
def test_pages(benchmark: Any, tmp_path: Any) -> None:
    """All bundled sheets as pages for the browser."""
    command = ("-m", "symattn", "sheet", "--format", "html", "-o", str(tmp_path))
    benchmark.pedantic(run, args=command, rounds=3, warmup_rounds=1)


@pytest.mark.heavy
@pytest.mark.benchmark(group="whole processes")
def test_printing(benchmark: Any) -> None:
    """The pages of all bundled sheets, audits and derivations printed, for the first time."""
    names = library.names()
    sheets = [*map(sheet, names), *(redpen.sheet(audit(name)) for name in names)]
    sheets += map(derivation.sheet, THEORY.values())

    def printed() -> None:
        for one in sheets:
            html.document(one)

    benchmark(printed)


@pytest.mark.benchmark(group="whole processes")
def test_article(benchmark: Any, tmp_path: Any) -> None:
    """``symattn audit`` of an article of 500 lines, every figure worked in it."""
    path = tmp_path / "post.md"
    path.write_text(post(), "utf-8")
    assert len(post().splitlines()) > 500
    # Some figures are computed from rounded ones: they hold as printed.
    command = ("-m", "symattn", "audit", str(path))
    benchmark.pedantic(run, args=command, rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="whole processes")
def test_import_sympy(benchmark: Any) -> None:
    """Importing SymPy, the unit that the others are quoted in."""
    benchmark.pedantic(run, args=("-c", "import sympy"), rounds=5, warmup_rounds=1)


@pytest.mark.benchmark(group="whole processes")
def test_version(benchmark: Any) -> None:
    """``symattn --version``."""
    benchmark.pedantic(run, args=("-m", "symattn", "--version"), rounds=5, warmup_rounds=1)
