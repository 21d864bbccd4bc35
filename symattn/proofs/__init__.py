"""Derivations for every size: the softmax Jacobian, attention's gradients and more.

``THEORY["softmax-jacobian"]`` is a :class:`~symattn.proofs.derivation.Derivation`
with its ``statement``, ``steps``, ``conclusion``, ``check(sizes=...)`` and
``to_text()``. Every step was confirmed when it was written down: for all sizes at
once, and at several concrete sizes exactly. A step that fails raises.

A derivation reads like its proof. This one is complete but for the name of a file:

>>> import numpy as np
>>> from symattn.proofs.language import Size, exp, indices, log, partial, sum_over
>>> from symattn.proofs.numeric import gradient, softmax
>>> from symattn.proofs.proof import Proof
>>> def log_sum_exp():
...     proof = Proof(
...         "log-sum-exp",
...         statement="The gradient of the log-sum-exp is softmax.",
...         source="folklore",
...         sizes=[{"n": 2}, {"n": 3}],
...     )
...     n = Size("n")
...     j, k = indices("j k", n)
...     S = proof.array("S", n)
...     Z = proof.name("Z", sum_over(j, exp(S[j])))
...     A = proof.define("A", [k], exp(S[k]) / Z)
...     G = proof.define("G", [k], partial(log(Z), S[k]))
...     proof.step(G[k], partial(Z, S[k]) / Z, "chain rule")
...     proof.then(exp(S[k]) / Z, "one term of the sum has S_k")
...     proof.then(A[k], "definition of A")
...     proof.conclude(G, A)
...     def compare(derivation, random):
...         S = random.normal(size=4)
...         found = gradient(lambda s: np.log(np.sum(np.exp(s))), S)
...         yield "G", found, derivation.values("G", {"A": softmax(S)})["G"][:, 0]
...     return proof.done(compare)
>>> print(log_sum_exp().steps[2].text, "|", log_sum_exp().summary())
G_k = A_k | 4 lines: 4 for all sizes

To add one to the package, give it a file in ``entries`` and a line in ``ENTRIES``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from symattn.errors import UnknownName
from symattn.proofs.derivation import Derivation
from symattn.proofs.entries.attention_gradients import attention_gradients
from symattn.proofs.entries.blockwise_softmax import blockwise_softmax
from symattn.proofs.entries.cross_entropy import cross_entropy
from symattn.proofs.entries.masking import masking
from symattn.proofs.entries.operation_counts import operation_counts
from symattn.proofs.entries.pair_form import pair_form
from symattn.proofs.entries.permutation import permutation
from symattn.proofs.entries.score_scale import score_scale
from symattn.proofs.entries.shift_invariance import shift_invariance
from symattn.proofs.entries.softmax_backward import softmax_backward
from symattn.proofs.entries.softmax_jacobian import softmax_jacobian

__all__ = ["ENTRIES", "THEORY", "Derivation", "derivation", "names"]

ENTRIES: Mapping[str, Callable[[], Derivation]] = MappingProxyType(
    {
        "softmax-jacobian": softmax_jacobian,
        "softmax-backward": softmax_backward,
        "attention-gradients": attention_gradients,
        "pair-form": pair_form,
        "masking": masking,
        "shift-invariance": shift_invariance,
        "score-scale": score_scale,
        "cross-entropy": cross_entropy,
        "permutation": permutation,
        "blockwise-softmax": blockwise_softmax,
        "operation-counts": operation_counts,
    }
)
"""Each derivation's name and the function that writes it down, checking every line."""


def names() -> tuple[str, ...]:
    """The names of all derivations.

    >>> names()[:2]
    ('softmax-jacobian', 'softmax-backward')
    """
    return tuple(ENTRIES)


@cache
def derivation(name: str) -> Derivation:
    """The derivation of that name, its lines confirmed on first use.

    Raises :class:`UnknownName`.
    """
    if name not in ENTRIES:
        close = get_close_matches(name, ENTRIES, n=1)
        hint = f"did you mean {close[0]}?" if close else f"expected {', '.join(ENTRIES)}"
        raise UnknownName(f"no derivation {name!r}; {hint}")
    return ENTRIES[name]()


class Theory(Mapping[str, Derivation]):
    """All derivations by name; each is written down and checked when first asked for.

    >>> THEORY["softmax-jacobian"].conclusion.matrix[0].text
    'J = diag(A) − A Aᵀ'
    """

    def __getitem__(self, name: str) -> Derivation:
        return derivation(name)

    def __contains__(self, name: object) -> bool:
        return name in ENTRIES

    def __iter__(self) -> Iterator[str]:
        return iter(ENTRIES)

    def __len__(self) -> int:
        return len(ENTRIES)

    def __repr__(self) -> str:
        return f"<theory: {', '.join(ENTRIES)}>"


THEORY = Theory()
