"""Attention without a file: exact scores, weights, output and gradients.

Quantities of one shape along leading axes: one quantity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import call
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from symattn.cases.case import make, with_upstream
from symattn.errors import Faults, Malformed, UnknownName, expected, short
from symattn.expressions.shapes import Shape, grid, show
from symattn.expressions.syntax import gradient_name, gradient_of
from symattn.numbers import arrays
from symattn.numbers.double_double import DoubleDouble
from symattn.numbers.rows import ArrayLike, Mask, Number
from symattn.sharing import Watch, shared
from symattn.solution.arguments import AttentionOptions, Empty, grouped, heads_of, scores_of
from symattn.solution.blocks import (
    BlockedSolution,
    HeadSolution,
    certified,
    log_sums_of,
    needs_blocks,
)
from symattn.solution.entries import AttentionPart, AttentionRole
from symattn.solution.layouts import Alignment, HeadLayout
from symattn.solution.quantity import Quantity
from symattn.solution.runs import GatheredSource
from symattn.solution.solution import Solution

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from symattn.solution.symbolic import Symbolic


# -- the heads of attention --------------------------------------------------------------


def certify(
    heads: Sequence[tuple[HeadSolution, HeadSolution]],
    executor: Executor | None,
    watch: Watch | None,
) -> None:
    """Work out the pairs of floats around all that has a row for each query or key, of heads
    that were not yet, each with the one of its forward pass, and keep them there."""
    todo = [pair for pair in heads if not _is_known(*pair)]
    groups = [_tasks(*pair) for pair in todo]
    places = [k for k, group in enumerate(groups) for _ in group]
    pieces = [piece for group in groups for piece in group]
    found: list[dict[int, dict[str, DoubleDouble]]] = [{} for _ in groups]
    firsts = [places.index(k) for k in range(len(groups))]
    for done, (place, result) in enumerate(shared(call, pieces, executor), 1):
        k = places[place]
        found[k][place - firsts[k]] = result
        if len(found[k]) == len(groups[k]):
            _keep(*todo[k], [found[k].pop(n) for n in range(len(groups[k]))])
        if watch is not None:
            watch(done, len(pieces))


def _is_known(head: HeadSolution, forward: HeadSolution) -> bool:
    if isinstance(head, BlockedSolution):
        return head.is_known
    # What has letters is no float.
    return "done" in head.kept or bool(head.case.letters)


def _tasks(head: HeadSolution, forward: HeadSolution) -> list[tuple[Any, ...]]:
    """Return what is called for a head and with what, piece by piece."""
    if isinstance(head, BlockedSolution):
        return [(certified, *task) for task in head.tasks()]
    case, names = head.case, ["Y", "lse"]
    loss = {"output": "Y", "upstream": case.raw_upstream, "wrt": case.wrt}
    if head is not forward:
        names += [gradient_name(name) for name in ("Q", "K", "V")]
    return [(_solved, case.raw, case.steps, loss, names)]


def _solved(
    given: Mapping[str, object],
    steps: Mapping[str, str],
    loss: Mapping[str, object],
    names: Sequence[str],
) -> dict[str, DoubleDouble]:
    """Pairs around quantities of a head that is solved whole."""
    solution = Solution(make("attention", given, steps, loss), is_sound=True)
    quantities = {
        name: log_sums_of(solution) if name == "lse" else solution[name] for name in names
    }
    pairs = {name: quantity.source.pairs() for name, quantity in quantities.items()}
    return {name: known for name, known in pairs.items() if known is not None}


def _keep(
    head: HeadSolution, forward: HeadSolution, results: Sequence[dict[str, DoubleDouble]]
) -> None:
    if isinstance(head, BlockedSolution):
        head.take(results)
        return
    assert isinstance(forward, Solution)
    for name, pairs in results[0].items():
        (forward if name in ("Y", "lse") else head).keep(name, pairs)
    head.kept["done"] = results[0]["Y"]


# -- attention ---------------------------------------------------------------------------


def stacked(
    name: str,
    lead: Shape,
    parts: Sequence[Quantity],
    undefined: npt.NDArray[np.bool_] | None = None,
) -> Quantity:
    """The parts along leading axes; ``undefined``, in the shape of all, tells which entries
    are not numbers.

    >>> from symattn import attention
    >>> two = attention([[[1]], [[2]]], [[[0], [1]]] * 2, [[[1], [0]]] * 2, scale=1)
    >>> two.output, two.output[1], two.output.decimal(2)[1][0][0], print(two.output[1, 0, 0])
    1/(1 + e^2)
    (<output: 2x1x1>, <output[1]: 1x1>, Decimal('0.12'), None)
    """
    first = parts[0]
    shape = (*lead, *first.shape)
    letters = tuple(sorted({letter for part in parts for letter in part.letters}))

    def coefficient(symbol: str | None) -> Quantity:
        title = f"{name} [{symbol or 1}]"
        return stacked(title, lead, [part.coefficient(symbol or "1") for part in parts], undefined)

    def put(numbers: Mapping[str, object]) -> Quantity:
        return stacked(name, lead, [part.at(**numbers) for part in parts], undefined)

    is_lettered = any(part.is_lettered for part in parts)
    return Quantity(
        name,
        shape,
        GatheredSource(
            [part.source for part in parts],
            first.grid,
            undefined=None if undefined is None else undefined.reshape(grid(shape)),
        ),
        first.rounding,
        letters,
        coefficient if letters and not is_lettered else None,
        is_weights=first.is_weights,
        put=put if first.is_open else None,
    )


def arranged(whole: Quantity, places: npt.NDArray[np.intp]) -> Quantity:
    """The entries of a quantity that have these places in its grid, in their shape.

    >>> from symattn import attention
    >>> one = attention([[1], [1]], [[0]], [[1, 2]])
    >>> arranged(one.output, np.array([[0, 2], [1, 3]])).decimal(0)
    ((Decimal('1'), Decimal('1')), (Decimal('2'), Decimal('2')))
    """
    return whole.arranged(whole.name, places, lambda x: arranged(x, places))


def _with_upstream(head: HeadSolution, upstream: Any) -> HeadSolution:
    if isinstance(head, BlockedSolution):
        return BlockedSolution(head.head, upstream, head)
    return Solution(with_upstream(head.case, upstream), forward=head)


class Attention:
    """Exact attention; made by :func:`attention`.

    Each part is a :class:`~symattn.solution.quantity.Quantity`, along the leading axes of
    the inputs.
    """

    def __init__(
        self, heads: Sequence[HeadSolution], layout: HeadLayout, undefined: bool = False
    ) -> None:
        self.heads = tuple(heads)
        self.layout = layout
        self._undefined = undefined

    def __repr__(self) -> str:
        return f"<Attention: {show(self.weights.shape)} weights, {show(self.output.shape)} output>"

    @property
    def solution(self) -> Solution:
        """The solution of the only head; :class:`Malformed` where there are more."""
        if len(self.heads) > 1 or self.layout.lead:
            raise Malformed(f"there are {len(self.heads)} heads: their solutions are in heads")
        (head,) = self.heads
        if isinstance(head, BlockedSolution):
            raise Malformed(f"{show(self.weights.shape)} weights: too large for one solution")
        return head

    @property
    def symbolic(self) -> Symbolic:
        """The formulas of the only head as SymPy derives them; see
        :attr:`~symattn.solution.solution.Solution.symbolic`.

        >>> from symattn import attention
        >>> attention([[1, 2]], [[1, 0]], [[3]], scale=1).symbolic["S"].matrix
        Matrix([[K[0, 0]*Q[0, 0] + K[0, 1]*Q[0, 1]]])
        """
        return self.solution.symbolic

    @cached_property
    def scores(self) -> Quantity:
        """Return what softmax sees: scaled, masked scores, ... x n_q x n_k."""
        return self.part("scores", lambda head: head["M"])

    @cached_property
    def weights(self) -> Quantity:
        """The softmax of each row of scores, ... x n_q x n_k."""
        return self.part("weights", lambda head: head["Z" if "Z" in head else "A"])

    @cached_property
    def output(self) -> Quantity:
        """Weights times values, ... x n_q x d_v."""
        return self.part("output", lambda head: head["Y"])

    @cached_property
    def lse(self) -> Quantity:
        """The logarithm of the sum of the exponentials of each row of scores, sink included:
        ... x n_q. For a row that sees no key that is minus infinity, of which there is no
        exact value, or with ``on_empty_row="nan"`` not a number either."""
        return self.part("lse", log_sums_of)

    def backward(self, upstream: ArrayLike | None = None) -> Gradients:
        """Gradients of the loss ``sum(upstream * output)``.

        ``upstream`` is dL/dY, ... x n_q x d_v, exact numbers or symbol names such
        as ``"g1"``; all ones unless given. The forward pass is not run again.
        Raises :class:`Malformed` for another shape.
        """
        parts = self._upstream(upstream)
        pairs = zip(self.heads, parts, strict=True)
        return Gradients(self, [_with_upstream(head, part) for head, part in pairs])

    def _upstream(self, upstream: ArrayLike | None) -> Sequence[object]:
        lay = self.layout
        axes = lay.axes.of("dY") if lay.axes else None
        wanted = self.output.shape
        if upstream is None:
            if axes is None:
                return [None] * len(self.heads)
            upstream = np.ones(wanted, dtype=int)
        faults = Faults()
        first = self.heads[0]
        letters = isinstance(first, Solution) and first.case.registry.opened()
        with faults.inside("upstream"):
            stack = arrays.read_stack(axes.read(upstream) if axes else upstream, letters)
            found = axes.places(stack.shape).shape if axes else stack.shape
            if found != wanted:
                raise Malformed(f"expected the output's shape, {show(wanted)}, found {show(found)}")
        faults.raise_all()
        return grouped(stack.matrices, lay.group)

    def compute(self, executor: Executor | None = None, watch: Watch | None = None) -> Attention:
        """Work out output and lse of all heads now, and return this; see
        :meth:`Gradients.compute`."""
        certify([(head, head) for head in self.heads], executor, watch)
        return self

    def part(
        self,
        name: AttentionPart,
        get: Callable[[HeadSolution], Quantity],
        backward: Gradients | None = None,
        by_key: bool = False,
    ) -> Quantity:
        """Return what every head has a row of for each query or, ``by_key``, for each key.

        Queries of a group lie below each other in their head. Where a query that sees no key
        makes what is not a number, its own row is, and all rows of keys that it flows into.
        """
        lay, lead = self.layout, self.layout.lead_k if by_key else self.layout.lead
        parts, undefined = [get(head) for head in self.heads], None
        if lay.group > 1 and not by_key:
            starts = range(0, lay.group * lay.n_q, lay.n_q)
            parts = [whole[k : k + lay.n_q] for whole in parts for k in starts]
        if self._undefined:
            shape = (*lead, *parts[0].shape)
            dead = lay.empty
            if by_key:
                dead = np.asarray(dead.reshape(*lead, -1).any(axis=-1))
            dead = dead.reshape(dead.shape + (1,) * (len(shape) - dead.ndim))
            undefined = np.broadcast_to(dead, shape)
        whole = stacked(name, lead, parts, undefined) if lead or self._undefined else parts[0]
        places = lay.places(name, whole.shape)
        role = AttentionRole(name, self, backward)
        return (whole if places is None else arranged(whole, places)).playing(role)

    def _repr_latex_(self) -> str | None:
        return self.output._repr_latex_()

    def _repr_html_(self) -> str:
        return self.output._repr_html_()


#: What :class:`Gradients` are with respect to.
_GRADIENTS = ("Q", "K", "V", "A", "S", "Bias", "Sink")


class Gradients:
    """Gradients of one loss; made by :meth:`Attention.backward`."""

    def __init__(self, forward: Attention, heads: Sequence[HeadSolution]) -> None:
        self._forward = forward
        self.heads = tuple(heads)

    def __repr__(self) -> str:
        return f"<Gradients: {', '.join(f'd{name}' for name in _GRADIENTS)}>"

    def __getitem__(self, name: str) -> Quantity:
        """The gradient by its name: ``dQ``, ``dL/dQ`` and ``grad(Q)`` are the same.
        :class:`UnknownName` for another."""
        of = gradient_of(name)
        if of not in _GRADIENTS:
            known = [f"d{letter}" for letter in _GRADIENTS]
            raise UnknownName(f"unknown gradient {short(name)!r}: {expected(name, known)}")
        gradient: Quantity = getattr(self, f"d{of}")
        return gradient

    @property
    def solution(self) -> Solution:
        """The solution of the only head; :class:`Malformed` where there are more."""
        return Attention(self.heads, self._forward.layout).solution

    @property
    def symbolic(self) -> Symbolic:
        """The formulas of the only head, with those of its gradients."""
        return self.solution.symbolic

    def compute(self, executor: Executor | None = None, watch: Watch | None = None) -> Gradients:
        """Work out dQ, dK, dV, output and lse of all heads now, and return this; otherwise each
        is worked out when it is first asked for.

        Any :class:`concurrent.futures.Executor` does the work, a head at a time, or some queries of
        one that is large; what it loses is done again in the calling process. ``watch`` is told how
        many pieces are done, of how many. What is kept is certified pairs of floats, the same
        whoever works; entries that they leave in doubt are decided when they are asked for.

        >>> from concurrent.futures import ThreadPoolExecutor
        >>> from symattn import attention
        >>> two = attention([[[1]], [[2]]], [[[0], [1]]] * 2, [[[1], [0]]] * 2, scale=1)
        >>> with ThreadPoolExecutor(1) as executor:
        ...     back = two.backward().compute(executor, watch=print)
        1 2
        2 2
        >>> back.dV.decimal(2)[0]
        ((Decimal('0.27'),), (Decimal('0.73'),))
        """
        certify([*zip(self.heads, self._forward.heads, strict=True)], executor, watch)
        return self

    @cached_property
    def dQ(self) -> Quantity:
        """dL/dQ, ... x n_q x d_k."""
        return self._with("dQ", "Q")

    @cached_property
    def dK(self) -> Quantity:
        """dL/dK, ... x n_k x d_k, summed over the queries that share a key."""
        return self._with("dK", "K", by_key=True)

    @cached_property
    def dV(self) -> Quantity:
        """dL/dV, ... x n_k x d_v, summed over the queries that share a value."""
        return self._with("dV", "V", by_key=True)

    @cached_property
    def dA(self) -> Quantity:
        """dL/dA, ... x n_q x n_k."""
        return self._with("dA", "A")

    @cached_property
    def dS(self) -> Quantity:
        """The gradient into the scaled, masked scores, ... x n_q x n_k."""
        return self._with("dS", "M")

    @cached_property
    def dBias(self) -> Quantity:
        """The gradient into the bias of every score, ... x n_q x n_k: a bias that is broadcast gets
        the sum over what it is broadcast to. :class:`Malformed` without a bias."""
        return self._with("dBias", "bias")

    @cached_property
    def dSink(self) -> Quantity:
        """The gradient into the sink's score in every row, ... x n_q x 1; that of a head's
        sink is the sum of its column. :class:`Malformed` without a sink."""
        return self._with("dSink", "sink")

    def _with(self, name: AttentionPart, of: str, by_key: bool = False) -> Quantity:
        gradients = dict(zip(self._forward.heads, self.heads, strict=True))
        if of not in self.heads[0]:
            raise Malformed(f"{name}: there is no {of}")

        def gradient(head: HeadSolution) -> Quantity:
            step = scores_of(head) if of == "M" else of
            return gradients[head].gradient(step)

        return self._forward.part(name, gradient, self, by_key)


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    mask: Mask | None = None,
    scale: Number | float | None = None,
    *,
    bias: ArrayLike | None = None,
    causal: Alignment | bool | None = None,
    window: int | tuple[int | None, int | None] | None = None,
    lengths: Number | ArrayLike | None = None,
    softcap: Number | float | None = None,
    sink: Number | ArrayLike | None = None,
    on_empty_row: Empty = "error",
    symbols: object = (),
    queries: Sequence[int] | npt.NDArray[np.intp] | None = None,
    layout: str | None = None,
    cu_seqlens_q: ArrayLike | None = None,
    cu_seqlens_k: ArrayLike | None = None,
) -> Attention:
    """Exact attention of queries q (... x n_q x d_k), keys k (... x n_k x d_k) and values
    v (... x n_k x d_v): ``softmax(scale * q k^T) v`` (Vaswani et al., 2017, eq. 1).

    Entries are integers, Fractions, Decimals, exact text (``"1/3"``, ``"sqrt(2)"``) or
    SymPy's numbers and symbols, in nested lists or arrays; floats are refused, see
    :func:`symattn.from_floats`. ``symbols`` declares letters that text may have (``"a b"``, a
    list, or a table that says ``"real"`` or ``"positive"`` of each). Axes before the last two
    are batches and heads, the same for all; keys may have fewer heads (the last of these axes),
    each for a group of as many queries' heads, in order (Ainslie et al., *GQA*, 2023; one is
    multi-query attention).

    In this order: ``scale`` is an exact number, ``1/sqrt(d_k)`` unless given; ``softcap`` c makes
    scores ``c * tanh(scores / c)``; ``bias`` is added, n_q x n_k, with or without leading axes,
    -inf hiding keys; then scores are masked, ``mask`` being ... x n_q x n_k of booleans or 1 (keep)
    and 0 (hide), or of floats 0 and -inf, or ``"causal"``; ``causal`` hides keys after the query,
    whose position is its own (``"top-left"``) or counted from the last key (``"bottom-right"``: a
    decoder step), True where both are the same; ``window=(l, r)`` keeps l keys to the left and r to
    the right of the query, whose position is that of ``causal``, without it counted from the last
    key (bottom-right); ``lengths`` hides keys from there on, one for all or for each sequence of a
    batch, whose last key is then the one that is counted from; ``sink`` is a score, one or one a
    head, that takes weight and gives no value. A query that sees no key is an error, unless
    ``on_empty_row`` says that its output is 0, not a number, or the mean of all values of its
    sequence, as if all its scores were equal: of padded arrays those that ``lengths`` hides too, of
    packed ones its own, and 0 where it has none. Nothing flows into its scores.

    ``queries`` takes some of the queries only, by their numbers in rising order, each seeing
    what it sees in its place; dK and dV are then what flows into keys and values from these.

    ``layout`` names the axes of q, k and v in another order: ``"bshd"`` for batch, sequence,
    heads, features; also ``"sbhd"``, ``"shd"``, ``"hsd"``, ``"bhsd"`` and so on. With
    ``cu_seqlens_q`` (0, and where each sequence ends) sequences of several lengths are packed
    one after the other, ``"thd"``: tokens of all, heads, features. Keys are packed by
    ``cu_seqlens_k``, as queries unless given, or padded, ``"bshd"``, with ``lengths``; see
    :func:`symattn.from_pages`. The output, the upstream gradient, dQ, dK and dV have these
    axes too; ``lse`` is batch x heads x sequence, packed heads x tokens, whatever the order.
    What has a number for each query and key, ``mask`` and ``bias`` included, is
    batch x heads x n_q x n_k, of the longest sequence.

    ========  ==================  =====================  ===================  ================
    here      PyTorch             JAX                    FlashAttention       ONNX Attention
    ========  ==================  =====================  ===================  ================
    scale     scale               scale                  softmax_scale        scale
    mask      attn_mask (bool)    mask                   --                   attn_mask (bool)
    bias      attn_mask (float)   bias                   alibi_slopes         attn_mask
    causal    is_causal: is       is_causal: is          causal: is           is_causal: is
              top-left            top-left               bottom-right         top-left
    window    --                  local_window_size: is  window_size: is      --
                                  top-left               bottom-right
    lengths   --                  key_value_seq_lengths  cache_seqlens,       nonpad_kv_seqlen
                                                         seqused_k
    softcap   --                  --                     softcap              softcap
    empty     zero                mean                   zero                 --
    layout    bhsd                bshd                   bshd; thd packed     bhsd
    ========  ==================  =====================  ===================  ================

    Raises :class:`Malformed` with every fault.

    >>> a = attention([[1, 0]], [[1, 0], [0, 1]], [[1], ["1/2"]], scale=1)
    >>> print(a.weights.at(0, 0), a.output.decimal(4), sep=", ")
    e/(1 + e), ((Decimal('0.8655'),),)
    >>> print(a.backward([["g"]]).dV.at(1, 0))
    1/(1 + e)*g
    >>> step = attention([[1]], [[0], [1]], [[1], [2]], causal="bottom-right")
    >>> step.weights.decimal(2), step.lse.decimal(2)
    (((Decimal('0.27'), Decimal('0.73')),), (Decimal('1.31'),))
    >>> x = [[0], [1], [2]]
    >>> attention(x, x, x, causal=True, queries=[1]).weights.decimal(2)
    ((Decimal('0.27'), Decimal('0.73'), Decimal('0.00')),)
    >>> packed = attention([[[1]]] * 3, [[[1]]] * 3, [[[1]], [[2]], [[3]]], cu_seqlens_q=[0, 1, 3])
    >>> packed.output.decimal(1), packed.lse.shape
    ((((Decimal('1.0'),),), ((Decimal('2.5'),),), ((Decimal('2.5'),),)), (1, 3))
    """
    heads, rows = heads_of(
        q,
        k,
        v,
        AttentionOptions(
            mask,
            scale,
            bias,
            causal,
            window,
            lengths,
            softcap,
            sink,
            on_empty_row,
            symbols,
            queries,
            layout,
            cu_seqlens_q,
            cu_seqlens_k,
        ),
    )
    solved = [
        BlockedSolution(head)
        if needs_blocks(head)
        else Solution(head.case(), is_sound=head.is_floats)
        for head in heads
    ]
    return Attention(solved, rows, on_empty_row == "nan" and bool(rows.empty.any()))
