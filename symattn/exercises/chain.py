"""The parts of an exercise as a chain: which are computed from which, and which faults show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from symattn.errors import Malformed, SymattnError
from symattn.exercises.exercise import Exercise, Part
from symattn.exercises.slips import InjectedFault, catalogue, mistake
from symattn.programs.nodes import Node, ancestors

#: So many common faults of a part are known at most.
_FAULTS = 5


class VersionChain:
    """The parts of the versions of one exercise, each by its number, counted from 1.

    ``faults`` are those of the catalogue unless given. Raises :class:`Malformed`
    where the versions differ in more than their numbers.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> chain = VersionChain([exercise(load("cat-sat-mat"))])
    >>> [part.quantity for part in chain.parts.values()], chain.sources
    (['S', 'T', 'A', 'Y'], {1: [], 2: [1], 3: [2], 4: [3]})
    """

    def __init__(
        self, exercises: Sequence[Exercise], faults: Sequence[InjectedFault] | None = None
    ) -> None:
        self.exercises = exercises
        self.first = first = exercises[0]
        _check(exercises)
        program = first.case.program
        self.parts = dict(enumerate(first.parts, 1))
        self.nodes = {k: program.named[part.quantity] for k, part in self.parts.items()}
        #: Each part after those that it may be computed from.
        self.order = sorted(self.parts, key=lambda k: self.nodes[k].serial)
        known = catalogue(first) if faults is None else faults
        #: The faults in each part that show in every version.
        self.faults = {
            k: [*islice((x for x in known if self._shows(x, part)), _FAULTS)]
            for k, part in self.parts.items()
        }

    @cached_property
    def sources(self) -> dict[int, list[int]]:
        """The parts that each is computed from, with none in between."""
        asked = {node.serial: k for k, node in self.nodes.items()}
        sources: dict[int, list[int]] = {}
        for k, node in self.nodes.items():

            def stop(x: Node, own: Node = node) -> bool:
                return x is not own and x.serial in asked

            # What stops the walk is not among what it gives.
            inside = ancestors([node], stop)
            sources[k] = sorted({asked[x.serial] for y in inside for x in y.operands if stop(x)})
        return sources

    @cached_property
    def head(self) -> int:
        """The first part that others are computed from, or else the first."""
        used = {j for sources in self.sources.values() for j in sources}
        return next((k for k in self.order if k in used), self.order[0])

    def _shows(self, fault: InjectedFault, part: Part) -> bool:
        return fault.part == part.quantity and all(
            _shows(exercise, fault, part) for exercise in self.exercises
        )


def _shows(exercise: Exercise, fault: InjectedFault, part: Part) -> bool:
    """Whether a fault makes a part visibly another, and each of its entries a number."""
    try:
        # With a fault a step may not be defined: a row of scores is masked whole.
        exercise.solution.quantity(fault.nodes[part.quantity]).decimal(part.places)
    except SymattnError:
        return False
    return mistake(exercise, fault, part) is not None


def _check(exercises: Sequence[Exercise]) -> None:
    first = exercises[0]
    if first.is_proof:
        raise Malformed("a proof has no figures: STACK questions need another level")
    for exercise in exercises[1:]:
        same = exercise.case.steps == first.case.steps and exercise.parts == first.parts
        if not same or exercise.case.program.shapes() != first.case.program.shapes():
            raise Malformed(
                f"version {exercise.version} has other steps, parts or shapes than version "
                f"{first.version}: variants of a question may only differ in their numbers"
            )
