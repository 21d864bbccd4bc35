"""Losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symattn.crosscheck.calls.arguments import row
from symattn.crosscheck.calls.shapes import onehot
from symattn.crosscheck.lines import Place, TapeLines, worded
from symattn.errors import Malformed


def _cross_entropy(
    w: TapeLines, logits: Place, targets: Place, label_smoothing: Place | None = None
) -> Place:
    shape, aim = w.shape(row(w, logits, "cross_entropy")), w.shape(targets)
    P = w.add("log_softmax", (logits,), shape)
    if aim == shape[:-1]:
        if label_smoothing is None:
            return _nll(w, P, targets)
        targets = onehot(w, targets, shape[-1])
    elif aim != shape:
        raise Malformed(
            f"targets of {worded(aim)} don't fit logits of {worded(shape)}: expected a class or "
            "the probabilities of all for each row"
        )
    if label_smoothing is not None:
        part = w.scalar(label_smoothing, "label_smoothing")
        targets = w.add("smoothed", (targets, part), shape)
    return w.add("cross_entropy", (P, targets), ())


def _nll(w: TapeLines, logp: Place, ids: Place) -> Place:
    shape = w.shape(row(w, logp, "nll"))
    if w.shape(ids) == shape:
        return w.add("cross_entropy", (logp, ids), ())
    if w.shape(ids) != shape[:-1]:
        raise Malformed(f"classes of {worded(w.shape(ids))} don't fit rows of {worded(shape)}")
    return w.add("nll", (logp, ids), (), sizes={"m": shape[-1]})


def _mean_of(operation: str) -> Callable[..., Place]:
    """A mean over the entries of two quantities."""

    def call(w: TapeLines, X: Place, Y: Place) -> Place:
        if w.shape(X) != w.shape(Y):
            shapes = " and ".join(worded(w.shape(line)) for line in (X, Y))
            raise Malformed(f"expected the same shape twice, found {shapes}")
        return w.add(operation, (X, Y), ())

    return call


#: The functions of steps that this module writes, by name.
FUNCTIONS: Mapping[str, Callable[..., Place]] = {
    "cross_entropy": _cross_entropy, "nll": _nll,
    "binary_cross_entropy": _mean_of("binary_cross_entropy"), "mse": _mean_of("squared_error"),
}  # fmt: skip
