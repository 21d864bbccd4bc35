"""What functions of libraries are called with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from symattn import syntax
from symattn.documents.python.values import CodeScope, Items, UnreadCode, Value

#: What libraries call the axis of a sum, and that it keeps its place.
AXES = ("axis", "dim", "axes")
KEPT = ("keepdims", "keepdim", "keep_dims")


@dataclass(frozen=True)
class Arguments:
    """What a function is called with; of a method the first is what it is a method of.

    What is asked for is remembered: a function is not understood where it is called with
    something that nobody asked for (``weights=``, ``where=``).
    """

    scope: CodeScope
    values: Sequence[Value]
    options: Mapping[str, Value]
    path: str
    asked: set[str | int] = field(default_factory=set, compare=False)

    def tree(self, place: int) -> syntax.Tree:
        """An argument as a tree."""
        return self.scope.tree(self.value(place))

    def value(self, place: int) -> Value:
        """An argument by its place."""
        if place >= len(self.values):
            raise UnreadCode
        self.asked.add(place)
        return self.values[place]

    def rest(self, place: int = 0) -> Sequence[Value]:
        """All arguments from a place on; those of a list, where it is the only one."""
        self.asked.update(range(place, len(self.values)))
        values = self.values[place:]
        if len(values) == 1 and isinstance(values[0], Items):
            return values[0].items
        return values

    @property
    def is_spent(self) -> bool:
        """Whether all of it has been asked for."""
        return self.asked >= {*range(len(self.values)), *self.options}

    def option(
        self, names: Sequence[str], place: int | None = None, default: Value = None
    ) -> Value:
        """An argument by one of its names, or its place."""
        for name in names:
            if name in self.options:
                self.asked.add(name)
                return self.options[name]
        if place is not None and place < len(self.values):
            return self.value(place)
        return default

    def axis(self, place: int = 1) -> int | None:
        """Along which axis: 0 down the columns, -1 along the rows; None along all."""
        value = self.option(AXES, place)
        if value is None:
            return None
        if isinstance(value, Items) and len(value.items) == 1:
            value = value.items[0]
        axis = self.scope.whole(value)
        rank = self.scope.rank(self.tree(0))
        if axis in (-1, (rank or 2) - 1):
            return -1
        if axis in (0, -2) and rank != 1:
            return 0
        raise UnreadCode
