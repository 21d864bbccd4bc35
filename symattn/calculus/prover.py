"""The lines of one derivation, proved by the kernel with rules that are chosen for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction

from symattn.calculus.choices import Choices
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Step
from symattn.calculus.kernel.kinds import Mono, Place
from symattn.calculus.kernel.proof import Given, Kernel, Last, Shown
from symattn.calculus.kernel.rules import identity
from symattn.calculus.kernel.signs import Condition, Exists, Known, Source
from symattn.calculus.kernel.terms import Poly, Unproved
from symattn.calculus.language import Array, Index
from symattn.calculus.rewriting import ProductKey, Record, Rewriting
from symattn.calculus.tensors import ParsedLine

_CASES = 24


@dataclass(frozen=True)
class Proof:
    """The outcome of proving a line: why it was not, nothing if it was; and where it holds."""

    why: str
    conditions: tuple[Condition, ...] = ()
    record: Record = field(default_factory=Record, repr=False)
    sources: Mapping[Condition, Source] = field(default_factory=dict, repr=False)
    """The expressions that have no meaning without some of them."""


class _Recorder:
    """Asks for rules, and keeps the answers."""

    def __init__(self, kernel: Kernel, choose: Callable[[Mono], Step | None]) -> None:
        self._kernel, self._choose = kernel, choose
        self.record = Record()
        self._start = kernel.epoch

    def begin(self, _: Record | None = None) -> None:
        """Keep what comes now in a record of its own."""
        self.record, self._start = Record(), self._kernel.epoch

    def _key(self, mono: Mono) -> ProductKey:
        return self._kernel.epoch - self._start, self._kernel.moving, mono

    def __call__(self, mono: Mono) -> Step | None:
        """The rule for a product, if any."""
        step = self._choose(mono)
        if step is not None:
            self.record.steps[self._key(mono)] = step
        return step


class _Replayer(_Recorder):
    """Answers from records that were kept."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel, lambda _: None)

    def begin(self, record: Record | None = None) -> None:
        """Answer from this record from now on."""
        super().begin()
        self._answers = (record or Record()).steps

    def __call__(self, mono: Mono) -> Step | None:
        """The rule for a product, as the record has it."""
        return self._answers.get(self._key(mono))


class Prover:
    """Proves lines from definitions and equations.

    ``assumed`` are hypotheses, ``cited`` lines that were proved before, each with the conditions
    under which it holds; what is ``folded`` may not be unfolded. Several provers share a kernel.
    """

    def __init__(
        self,
        kernel: Kernel,
        assumed: Sequence[ParsedLine] = (),
        cited: Sequence[tuple[ParsedLine, Shown]] = (),
        folded: frozenset[Array] = frozenset(),
        ready: Record | None = None,
    ) -> None:
        self.kernel = kernel
        self._folded = folded
        self._choices = Choices(kernel)
        self._choose = _Recorder(kernel, self._choices) if ready is None else _Replayer(kernel)
        self._known = Known()
        self._sources: dict[Condition, Source] = {}
        self._supposed: set[Array] = set()
        self._equations: list[Given] = []
        self._given: list[Last] | None = None
        with self.entered(ready):
            rewriting = Rewriting(kernel, self._choose.record)
            for line in assumed:
                if line.relation != "==":
                    with suppress(Unproved, RecursionError):
                        kernel.suppose(line)
            equations = [(line, None) for line in assumed if line.relation == "=="]
            given = [*equations, *cited]
            if ready is not None:
                rewriting.again(ready, given)
            for place, (line, shown) in enumerate(given if ready is None else ()):
                # What has no normal form gives no rule.
                with suppress(Unproved, RecursionError):
                    self._choices.equations = rewriting.step
                    rewriting.learn(place, line, shown)
            self._choices.symmetric.clear()
            self._known = kernel.known.copy()
            self._sources = dict(kernel.sources)
            self.ready = self._choose.record

    @contextmanager
    def entered(self, record: Record | None = None) -> Iterator[None]:
        """While this lasts the kernel knows what this prover does; with a record for answers."""
        kernel = self.kernel
        kernel.folded, kernel.choose = self._folded, self._choose
        kernel.given = self._equations
        kernel.recall(self._known)
        kernel.sources, kernel.supposed = dict(self._sources), self._supposed
        kernel.forms = set()
        kernel.forget()
        self._choose.begin(record)
        try:
            yield
        finally:
            kernel.forget()

    def shown(self, proof: Proof) -> Shown:
        """Return what a line that was proved may be cited with."""
        bound = (each.bound for each in self._equations)
        bound_by = frozenset(self._supposed).union(*bound)
        defined = frozenset[Array]().union(*(each.defined for each in self._equations))
        conditions = frozenset(proof.conditions)
        return Shown(conditions, bound_by, self._folded, defined, proof.sources)

    def proof(self, line: ParsedLine, record: Record | None = None) -> Proof:
        """Return what can be shown of a line, or what a record shows of it."""
        kernel = self.kernel
        self._given = list(record.lasts) if record else None
        with self.entered(record):
            try:
                kernel.differences(line.sides)
                # What a line has no meaning without is known to whoever reads it.
                meaning = {each for each in kernel.conditions if each in kernel.sources}
                forms = set(kernel.forms)
                kernel.forget()
                kernel.know(meaning)
                ways = kernel.differences(line.sides)
                shown = all(self._vanishes(way, 0) for way in ways)
                why = "" if shown else self._choices.unseen or _DIFFERENT
                where = self._least(kernel.conditions | meaning, forms)
                kernel.refuse_excluded(where)
                sources = {each: x for each, x in kernel.sources.items() if each in where}
                return Proof(why, where, self._choose.record, sources)
            except Unproved as reason:
                return Proof(str(reason), self._least(kernel.conditions, set()))
            except (RecursionError, OverflowError, ZeroDivisionError):
                return Proof("its normal form is too large")

    def _least(
        self, conditions: Collection[Condition], forms: Collection[Condition]
    ) -> tuple[Condition, ...]:
        """The conditions that do not follow from others, nor hold anyway or by their form."""
        kernel = self.kernel
        kernel.recall(self._known)
        kernel.know(forms)
        order = sorted(conditions, key=lambda each: (each in kernel.sources, *_order(each)))
        return tuple(kernel.least(order))

    def _vanishes(self, poly: Poly, depth: int) -> bool:
        if not poly:
            return True
        if depth > _CASES:
            raise Unproved("too many cases")
        step = self._last(poly)
        if step is None:
            return False
        self._choose.record.lasts.append(step)
        return all(self._vanishes(part, depth + 1) for part in self.kernel.last(poly, step))

    def _last(self, poly: Poly) -> Last | None:
        """Return what to do with a difference that has not vanished."""
        if self._given is not None:
            return self._given.pop(0) if self._given else None
        below = self._choices.below(poly)
        if below is not None:
            return Last("clear", below)
        rank = self.kernel.rank
        atoms = [atom for mono in poly for atom, _ in mono]
        for atom in atoms:
            if isinstance(atom, kinds.AtMost) and rank(atom.second) < rank(atom.first):
                return Last("reversal", atom)
        for atom in atoms:
            if isinstance(atom, kinds.Positive):
                return Last("signs", atom)
        for atom in atoms:
            if isinstance(atom, kinds.Delta) and identity(atom):
                return Last("cases", atom)
        return None


def _order(condition: Condition) -> tuple[int, str]:
    """The order of conditions, the longest first, whenever they were noted."""
    if isinstance(condition, Exists):
        return 0, f"{condition.axis}{_written_place(condition.at)}"
    written = _written(condition.of)
    return -len(written), written + condition.relation


def _written(of: Iterable[tuple[Mono, Fraction]]) -> str:
    """A term as text that does not depend on when its atoms were made."""
    products = []
    for mono, c in of:
        factors = []
        for atom, e in mono:
            names = sorted(array.name for array in atom.arrays)
            places = [_written_place(at) for at in atom.places]
            first, *_ = kinds.inside(atom)
            kind = f"{atom.letter}{first if isinstance(first, str) else ''}"
            factors.append(f"{kind}{names}{places}{_written(atom.parts)}^{e}")
        products.append(f"{c}{sorted(factors)}")
    return "+".join(sorted(products))


def _written_place(at: Place) -> str:
    base, offset, images = at
    return f"{base.name if isinstance(base, Index) else base}{offset:+}{images}"


_DIFFERENT = "its sides have different normal forms"
