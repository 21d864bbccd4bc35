"""Kernels of a working precision in NumPy: each operation rounded, sums in a chosen order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Kernel:
    """Attention and its gradients with inputs and results of ``dtype``, sums of ``wide``.

    ``unfused`` stores every intermediate; ``order`` is how sums are made: ``forwards``,
    ``backwards``, ``pairwise`` or ``blocks``; ``online`` takes keys in blocks of so many.
    ``from_output`` takes D from the output, ``recomputes`` weights from the log-sum-exp.
    ``result``, ``lse`` and ``narrow`` are the types of the output and gradients, of the
    log-sum-exp, and of what is multiplied (P and dS), where these are others.
    """

    dtype: type = np.float32
    wide: type = np.float32
    unfused: bool = True
    order: str = "forwards"
    online: int = 0
    from_output: bool = False
    recomputes: bool = False
    causal: bool = False
    result: type | None = None
    lse: type | None = None
    narrow: type | None = None

    def stored(self, x):
        """Rounded to the format, and back for sums."""
        return x.astype(self.dtype).astype(self.wide)

    def narrowed(self, x):
        """Rounded to the format of what is multiplied, and back for sums."""
        return x.astype(self.narrow or self.dtype).astype(self.wide)

    def maybe(self, x):
        """Stored if everything is."""
        return self.stored(x) if self.unfused else x

    def sums(self, terms):
        """Sums along the last axis in that order, one rounding an addition."""
        if self.order == "backwards":
            terms = terms[..., ::-1]
        if self.order in ("forwards", "backwards"):
            total = np.zeros(terms.shape[:-1], dtype=self.wide)
            for k in range(terms.shape[-1]):
                total = total + terms[..., k]
            return total
        if terms.shape[-1] == 1:
            return terms[..., 0]
        half = terms.shape[-1] // 2 if self.order == "pairwise" else min(3, terms.shape[-1] - 1)
        return self.sums(terms[..., :half]) + self.sums(terms[..., half:])

    def product(self, x, y):
        """A matrix product."""
        return self.sums(x[..., :, None, :] * np.swapaxes(y, -1, -2)[..., None, :, :])

    def scores(self, q, k):
        scale = self.wide(1) / np.sqrt(self.wide(q.shape[-1]))
        found = self.maybe(self.maybe(self.product(q, k.T)) * scale)
        n_q, n_k = found.shape
        return np.where(np.tri(n_q, n_k, dtype=bool), found, -np.inf) if self.causal else found

    def __call__(self, q, k, v):
        """The output and the log-sum-exp."""
        q, k, v = (x.astype(self.wide) for x in (q, k, v))
        scores = self.scores(q, k)
        if self.online:
            return self._online(scores, v)
        top = scores.max(axis=-1, keepdims=True)
        powers = self.maybe(np.exp(self.maybe(scores - top)))
        total = self.maybe(self.sums(powers))
        weights = self.narrowed(powers / total[:, None])
        lse = top[:, 0] + self.maybe(np.log(total))
        return self._given(self.product(weights, v), lse)

    def _given(self, output, lse):
        return output.astype(self.result or self.dtype), lse.astype(self.lse or self.dtype)

    def _online(self, scores, v):
        """Keys block by block: what was summed before is scaled to the new maximum."""
        rows = len(scores)
        top: Any = np.full((rows, 1), -np.inf).astype(self.wide)
        total: Any = np.zeros((rows, 1)).astype(self.wide)
        output: Any = np.zeros((rows, v.shape[1])).astype(self.wide)
        for start in range(0, len(v), self.online):
            part = scores[:, start : start + self.online]
            new = np.maximum(top, part.max(axis=-1, keepdims=True))
            powers, again = np.exp(part - new), np.exp(top - new)
            total = total * again + self.sums(powers)[:, None]
            output = output * again + self.product(
                self.narrowed(powers), v[start : start + self.online]
            )
            top = new
        lse = (top + np.log(total))[:, 0]
        return self._given(output / total, lse)

    def backward(self, q, k, v, do):
        """dQ, dK, dV."""
        output, lse = (x.astype(self.wide) for x in self(q, k, v))
        q, k, v, do = (x.astype(self.wide) for x in (q, k, v, do))
        scale = self.wide(1) / np.sqrt(self.wide(q.shape[-1]))
        scores = self.scores(q, k)
        if self.recomputes:
            weights = self.narrowed(np.exp(scores - lse[:, None]))
        else:
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights = self.narrowed(powers / self.sums(powers)[:, None])
        da = self.maybe(self.product(do, v.T))
        rest = self.sums(do * output) if self.from_output else self.sums(weights * da)
        ds = self.narrowed(weights * self.maybe(da - self.maybe(rest)[:, None]))
        dq = self.maybe(self.product(ds, k)) * scale
        dk = self.maybe(self.product(ds.T, q)) * scale
        given = dq, dk, self.product(weights.T, do)
        return tuple(x.astype(self.result or self.dtype) for x in given)
