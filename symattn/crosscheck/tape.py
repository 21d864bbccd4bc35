"""The steps laid out as a tape: one line for each operation, shapes inferred.

Every quantity is held as rows and columns: a number is 1 by 1, a vector one
row. A line also remembers the shape that NumPy would give it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symattn.crosscheck import reader
from symattn.crosscheck.reader import Expression
from symattn.crosscheck.scalars import Tracked
from symattn.errors import Fault, Malformed

Shape = tuple[int, ...]
#: Where each entry of a selection comes from: (row, column) in the operand.
Picks = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True)
class Line:
    """One operation on earlier lines.

    ``operation`` names a definition, or ``entries`` (numbers that are known),
    ``copy``, ``spread`` (broadcasting) and ``selection``.
    """

    operation: str
    operands: tuple[int, ...]
    shape: Shape
    where: str
    entries: tuple[tuple[Tracked, ...], ...] = ()
    picks: Picks = ()

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns that the entries are held in.

        >>> Line("copy", (0,), (3,), "steps.v").grid
        (1, 3)
        """
        return _grid(self.shape)


@dataclass(frozen=True)
class Tape:
    """The lines in order, and the line of each named quantity."""

    lines: tuple[Line, ...]
    places: Mapping[str, int]

    @property
    def named(self) -> frozenset[int]:
        """The lines of the named quantities."""
        return frozenset(self.places.values())

    def uses(self, line: int) -> set[int]:
        """The lines that ``line`` is computed from, itself included."""
        found = {line}
        for place in range(line, -1, -1):
            if place in found:
                found.update(self.lines[place].operands)
        return found


def tape(given: Mapping[str, object], steps: Mapping[str, str]) -> Tape:
    """The tape of a walkthrough; :class:`~symattn.errors.Malformed` lists all faults.

    A step that uses a faulty quantity is passed over: it is no fault of its own.

    >>> laid = tape({"Q": [[1, 2]]}, {"S": "Q @ Q.T"})
    >>> [line.operation for line in laid.lines], laid.lines[1].shape
    (['entries', 'score'], (1, 1))
    """
    writer = _Writer()
    faults: list[Fault] = []
    broken: set[str] = set()
    for name, raw in given.items():
        try:
            _check_name(name)
            shape, rows = reader.nested(raw, reader.number)
            entries = tuple(map(tuple, rows))
            writer.places[name] = writer.add("entries", (), shape, f"given.{name}", entries)
        except Malformed as malformed:
            faults.extend(fault.inside(f"given.{name}") for fault in malformed.faults)
            broken.add(name)
    for name, text in steps.items():
        writer.where = f"steps.{name}"
        try:
            _check_name(name)
            if name in writer.places:
                raise Malformed(f"the name {name!r} is taken")
            tree = reader.expression(text)
            if broken.isdisjoint(_names(tree)):
                writer.places[name] = writer.quantity(tree)
            else:
                broken.add(name)
        except Malformed as malformed:
            faults.extend(fault.inside(writer.where) for fault in malformed.faults)
            broken.add(name)
    if faults:
        raise Malformed(faults)
    return Tape(tuple(writer.lines), writer.places)


def _check_name(name: str) -> None:
    if name in reader.RESERVED:
        raise Malformed(f"{name!r} is reserved for the grammar: choose another name")
    if not (name.isidentifier() and name.isascii()):
        raise Malformed(f"{name!r} is no name: expected a letter, then letters, digits and _")


def _names(tree: Expression) -> set[str]:
    found = {tree.text} if tree.operation == "name" else set()
    return found.union(*map(_names, tree.operands))


def _grid(shape: Shape) -> tuple[int, int]:
    rows, columns = (1, 1, *shape)[-2:]
    return rows, columns


def _shown(shape: Shape) -> str:
    return {0: "a number", 1: f"a vector of {shape[0] if shape else 0}"}.get(
        len(shape), "x".join(map(str, shape))
    )


class _Writer:
    """Writes lines; ``where`` is the step that is being written."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.places: dict[str, int] = {}
        self.where = ""

    def add(
        self,
        operation: str,
        operands: tuple[int, ...],
        shape: Shape,
        where: str = "",
        entries: tuple[tuple[Tracked, ...], ...] = (),
        picks: Picks = (),
    ) -> int:
        self.lines.append(Line(operation, operands, shape, where or self.where, entries, picks))
        return len(self.lines) - 1

    def shape(self, line: int) -> Shape:
        return self.lines[line].shape

    def quantity(self, tree: Expression) -> int:
        """The line of a named quantity, which is never that of another one."""
        line = self.write(tree)
        if line in self.places.values():
            return self.add("copy", (line,), self.shape(line))
        return line

    def write(self, tree: Expression) -> int:
        match tree.operation:
            case "number":
                return self.number(reader.number(tree.text))
            case "entries":
                shape, rows = reader.nested(tree.rows, lambda entry: entry)
                return self.add("entries", (), shape, entries=tuple(map(tuple, rows)))
            case "name":
                if tree.text not in self.places:
                    known = ", ".join(self.places) or "none yet"
                    raise Malformed(f"unknown name {tree.text!r}: expected one of {known}")
                return self.places[tree.text]
            case "product":
                return self.product(tree)
            case "quotient" if tree.operands[1].operation == "square_root":
                scores, width = self.write(tree.operands[0]), tree.operands[1].operands[0]
                divisor = self.write(width)
                if not self.shape(divisor):
                    return self.add("scaled_score", (scores, divisor), self.shape(scores))
                root = self.add("square_root", (divisor,), self.shape(divisor))
                return self.entrywise("quotient", scores, root)
        operands = [self.write(operand) for operand in tree.operands]
        shapes = [self.shape(line) for line in operands]
        match tree.operation:
            case "addition" | "subtraction" | "times" | "quotient":
                return self.entrywise(tree.operation, *operands)
            case "selection":
                return self.selection(operands[0], tree.keys)
            case "rows" | "cols":
                if not shapes[0]:
                    raise Malformed("a number has no rows and columns")
                return self.number(Tracked(float(shapes[0][0 if tree.operation == "rows" else -1])))
            case "transpose":
                if len(shapes[0]) < 2:
                    return operands[0]
                return self.add("transpose", (operands[0],), shapes[0][::-1])
            case "mask":
                scores, kept = operands
                if _broadcast(*shapes) != shapes[0]:
                    raise Malformed(
                        f"a mask of {_shown(shapes[1])} doesn't fit scores of {_shown(shapes[0])}"
                    )
                return self.add("mask", (scores, self.spread(kept, shapes[0])), shapes[0])
            case "concat":
                return self.concat(operands[0], operands[1])
        return self.add(tree.operation, (operands[0],), _result(tree.operation, shapes[0]))

    def number(self, value: Tracked) -> int:
        return self.add("entries", (), (), entries=((value,),))

    def spread(self, line: int, shape: Shape) -> int:
        if _grid(self.shape(line)) == _grid(shape):
            return line
        return self.add("spread", (line,), shape)

    def entrywise(self, operation: str, left: int, right: int) -> int:
        shape = _broadcast(self.shape(left), self.shape(right))
        return self.add(operation, (self.spread(left, shape), self.spread(right, shape)), shape)

    def product(self, tree: Expression) -> int:
        """``A @ B``; as scores, row against row, where ``B`` is transposed or a vector."""
        left, right = tree.operands
        a = self.write(left)
        turned = right.operation == "transpose"
        b = self.write(right.operands[0] if turned else right)
        shape_a, shape_b = self.shape(a), self.shape(b)
        if not shape_a or not shape_b:
            raise Malformed("'@' multiplies matrices and vectors, found a number")
        seen_b = shape_b[::-1] if turned else shape_b
        if shape_a[-1] != seen_b[0]:
            raise Malformed(
                f"expected {shape_a[-1]} rows on the right of '@', found {seen_b[0]}: "
                f"{_shown(shape_a)} @ {_shown(seen_b)}"
            )
        shape = shape_a[:-1] + seen_b[1:]
        if len(shape_b) == 1:
            # The vector is held as a row, and so is the result: v against each row of A.
            return self.add("score", (b, a), shape)
        return self.add("score" if turned else "product", (a, b), shape)

    def concat(self, left: int, right: int) -> int:
        a, b = self.shape(left), self.shape(right)
        if not a or not b or a[:-1] != b[:-1]:
            raise Malformed(f"concat can't join {_shown(a)} and {_shown(b)}")
        return self.add("concat", (left, right), (*a[:-1], a[-1] + b[-1]))

    def selection(self, line: int, keys: tuple[int | slice, ...]) -> int:
        shape = self.shape(line)
        if len(keys) > len(shape):
            raise Malformed(f"expected at most {len(shape)} indices, found {len(keys)}")
        axes: list[range] = []
        left: list[int] = []
        for length, key in zip(shape, (*keys, *(slice(None),) * 2), strict=False):
            if isinstance(key, int):
                if not -length <= key < length:
                    raise Malformed(f"index {key} is outside {-length} to {length - 1}")
                axes.append(range(key % length, key % length + 1))
            else:
                axes.append(range(length)[key])
                left.append(len(axes[-1]))
        if not all(axes):
            raise Malformed(f"nothing is selected from {_shown(shape)}")
        rows = axes[0] if len(axes) == 2 else range(1)
        flat = [(i, j) for i in rows for j in axes[-1]]
        # Row-major order is kept when a column becomes a vector, which is held as a row.
        height, width = _grid(tuple(left))
        picks = tuple(tuple(flat[i * width : (i + 1) * width]) for i in range(height))
        return self.add("selection", (line,), tuple(left), picks=picks)


def _broadcast(left: Shape, right: Shape) -> Shape:
    """NumPy's rule: lengths agree or are 1, from the last axis on."""
    longest = max(len(left), len(right))
    padded = [(1,) * (longest - len(shape)) + shape for shape in (left, right)]
    lengths = list(zip(*padded, strict=True))
    if any(a != b and 1 not in (a, b) for a, b in lengths):
        raise Malformed(f"shapes don't fit: {_shown(left)} and {_shown(right)}")
    return tuple(max(pair) for pair in lengths)


def _result(operation: str, shape: Shape) -> Shape:
    """The shape of a function of one operand."""
    if operation == "total":
        return ()
    if operation in ("rowsum", "colsum", "causal") and len(shape) != 2:
        raise Malformed(f"{operation} expects a matrix, found {_shown(shape)}")
    if operation == "softmax" and not shape:
        raise Malformed("softmax expects a row or a matrix of scores, found a number")
    return {"rowsum": (*shape[:1], 1), "colsum": (1, *shape[1:])}.get(operation, shape)
