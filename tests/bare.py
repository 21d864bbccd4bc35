"""Attention as it is written down, in balls of Arb: an oracle that shares nothing with
symattn, and the peer that it is timed beside."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, arb_mat


def attention(tables: Sequence[arb_mat]) -> list[arb_mat]:
    """Output, dQ, dK and dV of queries, keys, values and an upstream gradient, at the
    precision that is set; scores are shifted by the largest."""
    q, k, v, g = tables
    scale = arb(q.ncols()).sqrt()
    weights = []
    for row in (q * k.transpose() / scale).tolist():
        largest = max(row, key=lambda x: float(x.mid()))
        powers = [(x - largest).exp() for x in row]
        normaliser = sum(powers, arb(0))
        weights.append([x / normaliser for x in powers])
    a = arb_mat(weights)
    flows = []
    for p, d in zip(weights, (g * v.transpose()).tolist(), strict=True):
        mean = sum((x * y for x, y in zip(p, d, strict=True)), arb(0))
        flows.append([x * (y - mean) for x, y in zip(p, d, strict=True)])
    s = arb_mat(flows) / scale
    return [a * v, s * k, s.transpose() * q, a.transpose() * g]
