"""A number and a claim walk through the house without being read twice, and nothing that was
computed is computed again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import symattn
from symattn.auditing.audit import audit
from symattn.expressions import syntax
from symattn.numbers import rationals, rows
from symattn.numbers.reading import read_entry
from symattn.printers.latex import document
from symattn.programs import double_double
from symattn.sheets import case_sheet, redpen
from symattn.solution.solution import solve
from symattn.verification import verify


@pytest.fixture
def counts(monkeypatch):
    """How often each number is read, each text is parsed, each node is computed."""
    found: dict[str, Counter[object]] = {
        "read": Counter(), "parsed": Counter(), "nodes": Counter()
    }  # fmt: skip
    read, parse = read_entry, syntax.parse

    def reading_one(entry, symbols=False):
        found["read"][id(entry), str(entry)] += 1
        return read(entry, symbols)

    def parsing(text):
        found["parsed"][text] += 1
        return parse(text)

    def computing(kind):
        plain = kind.apply

        def apply(self, node, operands):
            found["nodes"][kind.__name__, node.serial] += 1
            return plain(self, node, operands)

        monkeypatch.setattr(kind, "apply", apply)

    monkeypatch.setattr(rows, "read_entry", reading_one)
    monkeypatch.setattr(syntax, "parse", parsing)
    computing(double_double.DoubleDoubleMatrices)
    return found


def test_attention_reads_each_entry_once(counts):
    """Queries, keys, values, scale: what is no plain number is read once, the rest at once."""
    q, k, v = [[11, "1/2"], [13, "sqrt(2)"]], [[15, 16], [17, 18], [19, 20]], [[21], [22], [23]]
    mask = [[1, 1, 0], [1, 1, 1]]
    symattn.attention(q, k, v, mask, scale="1/3")
    assert counts["read"].total() == 4 + 1
    assert max(counts["read"].values()) == 1


def test_the_backward_pass_uses_the_forward_pass(counts):
    """Two upstream gradients: no step is run again for them, only gradients are."""
    a = symattn.attention([[1, 2], [3, 4]], [[1, 0], [0, 1]], [[1], [2]], scale=1)
    forward = {node.serial for node in a.solution.program.quantities.values()}
    assert a.output.nearest().shape
    before = counts["nodes"].copy()
    assert sum(before[kind, serial] for kind, serial in before if serial in forward) > 0
    for upstream in (None, [[1], ["1/2"]]):
        before = counts["nodes"].copy()
        gradients = a.backward(upstream)
        for name in ("dQ", "dK", "dV", "dA", "dS"):
            assert getattr(gradients, name).nearest().shape
        after = counts["nodes"] - before
        assert not [key for key in after if key[1] in forward]
        assert max(after.values()) == 1
    assert gradients.dV.decimal(4) != a.backward().dV.decimal(4)


def _raw(case):
    return [*case.raw.values(), *([case.raw_upstream] if case.raw_upstream else [])]


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["length-4-causal", "please-study-man"])
def test_a_claim_is_read_once_for_all_that_follows(name, counts, monkeypatch):
    """Solved, verified, audited, on both sheets: no given number is read twice, no claim is parsed
    twice, none of its figures is read after the file was."""
    solution = solve(name)
    given = counts["read"].total()
    # Plain numbers are read at once; of the rest, each is read once.
    assert given <= sum(np.size(np.array(table, dtype=object)) for table in _raw(solution.case))
    texts = [claim.text for claim in solution.case.claims]
    assert all(counts["parsed"][text] <= texts.count(text) for text in texts)
    before = counts["parsed"].copy()
    monkeypatch.setattr(rationals, "read_printed", None)
    verify(solution)
    found = audit(solution)
    for made in (case_sheet.sheet(solution), redpen.sheet(found)):
        assert document(made)
    assert [figure.label for figure in found.figures]
    assert counts["read"].total() == given
    # Steps are asked for by their names, and those may be claims as well.
    parsed = counts["parsed"] - before
    assert not (set(texts) - set(solution.program.named)) & parsed.keys()
