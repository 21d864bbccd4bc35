"""One head of attention as a case: its steps, and the numbers of a group of queries.

Queries that share keys and values (grouped and multi-query attention) are one head with
more rows: what flows into a key is then summed over the group, exactly.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from symattn.cases.case import Case, make
from symattn.numbers.rows import Rows
from symattn.numbers.tables import NumberTable
from symattn.solution.visibility import Seen


@dataclass(frozen=True)
class Head:
    """The inputs of one head: rows of queries, keys and values, and what changes scores.

    ``seen`` tells which keys a row sees, ``bias`` is added to the scores; ``sink`` is a score
    that takes weight and gives no value, in each row. Rows of ``empty`` see no key:
    their weights are all 0, or with ``uniform`` all ``1 / n_k``, and nothing flows into
    their scores.
    """

    q: Rows
    k: Rows
    v: Rows
    scale: object = None
    softcap: object = None
    bias: Rows | None = None
    seen: Seen | None = None
    sink: Rows | None = None
    is_causal: bool = False
    uniform: bool = False
    empty: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def case(self) -> Case:
        """The case; its steps are those that are needed, ``M`` is what softmax sees, ``A``
        the weights, ``Y`` the output.

        >>> from symattn.numbers.rows import read_rows
        >>> one = read_rows([[1]])[1]
        >>> dict(Head(one, one, one, scale=2).case().steps)
        {'S': 'Q @ K.T', 'T': 'S * scale', 'M': 'T', 'A': 'softmax(M)', 'Y': 'A @ V'}
        """
        given: dict[str, object] = {"Q": self.q, "K": self.k, "V": self.v}
        steps = {"S": "Q @ K.T", "T": "S / sqrt(cols(K))"}
        if self.scale is not None:
            given["scale"] = self.scale
            steps["T"] = "S * scale"
        scores, keep, weights = "T", self.seen, "A"
        if self.softcap is not None:
            given["cap"] = self.softcap
            steps["C"] = f"cap * tanh({scores} / cap)"
            scores = "C"
        if self.bias is not None:
            given["bias"] = self.bias
            steps["B"] = f"{scores} + bias"
            scores = "B"
        if self.empty.any():
            given["live"] = _rows(~self.empty[:, None])
            steps["L"] = f"{scores} * live"
            scores, keep = "L", keep if keep is None else keep | self.empty[:, None]
        if self.is_causal:
            steps["M"] = f"causal({scores})"
        elif keep is not None and not keep.all():
            given["keep"] = _rows(keep)
            steps["M"] = f"mask({scores}, keep)"
        else:
            steps["M"] = scores
        if self.sink is not None:
            given["sink"] = self.sink
            steps["W"] = "softmax(concat(M, sink))"
            steps["A"] = f"W[:, :{len(self.k)}]"
        else:
            steps["A"] = "softmax(M)"
        if self.empty.any() and not self.uniform:
            steps["Z"] = "A * live"
            weights = "Z"
        steps["Y"] = f"{weights} @ V"
        # Into the scores of a row that sees no key nothing flows, whatever stands in their place.
        targets = ("Q", "K", "V", "A", scores_of(steps), "bias", "sink")
        wrt = [name for name in targets if name in {**given, **steps}]
        return make("attention", given, steps, {"output": "Y", "wrt": wrt})


def scores_of(steps: Container[str]) -> str:
    """The step that dS is the gradient into: scores, before those of rows that see no key are
    put in place.

    >>> scores_of(["S", "T", "B", "L", "M"]), scores_of(["S", "T", "M"])
    ('B', 'M')
    """
    return next(name for name in "BCT" if name in steps) if "L" in steps else "M"


def _rows(kept: npt.NDArray[np.bool_]) -> NumberTable:
    return NumberTable(kept.shape[1], floats=kept.astype(float))


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows of several matrices, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, NumberTable) for part in parts):
        return NumberTable.joined(parts)  # type: ignore[arg-type]
    return tuple(tuple(row) for part in parts for row in part)
