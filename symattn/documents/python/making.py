"""Arrays that libraries make: zeros, ones, identities, triangles, counts.

Their figures are printed nowhere. A triangle of ones whose size is not known stands as
a call of :data:`~symattn.documents.python.values.BEYOND`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symattn import syntax
from symattn.documents.python.values import Arguments, Items, UnreadCode, Value, call, number
from symattn.documents.trees import Labelled


def _sizes(given: Arguments) -> tuple[int, int | None]:
    """Rows and columns; no columns of a vector."""
    shape = given.option(("shape", "size"))
    sizes = given.rest() if shape is None else shape.items if isinstance(shape, Items) else [shape]
    if not 1 <= len(sizes) <= 2:
        raise UnreadCode
    counts = [given.scope.whole(size) for size in sizes]
    return counts[0], counts[1] if len(counts) == 2 else None


def _filled(text: str) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        try:
            return given.scope.make(*_sizes(given), lambda i, j: text)
        except UnreadCode:
            if text == "1" and given.values:
                return call("triangle", number("1"))
            raise

    return meaning


def _filled_like(text: str) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        shape = given.scope.shape(given.tree(0))
        if shape is None and text == "1":
            return call("triangle", number("1"))
        if not shape:
            raise UnreadCode
        rows, columns = shape[0], shape[1] if len(shape) == 2 else None
        return given.scope.make(rows, columns, lambda i, j: text)

    return meaning


def _full(given: Arguments) -> Value:
    entry = given.option(("fill_value", "value"), 1)
    if not isinstance(entry, syntax.Literal):
        raise UnreadCode
    sizes = Arguments(given.scope, given.values[:1], given.options, given.path, given.asked)
    return given.scope.make(*_sizes(sizes), lambda i, j: entry.text)


def _identity(given: Arguments) -> Value:
    rows = given.scope.whole(given.option(("N", "n", "num_rows"), 0))
    return given.scope.make(rows, rows, lambda i, j: "1" if i == j else "0")


def _diagonal(given: Arguments) -> Value:
    x = given.tree(0)
    if not isinstance(x, syntax.Array) or isinstance(x.items[0], syntax.Array):
        raise UnreadCode
    texts = [syntax.text(item) for item in x.items]
    return given.scope.make(len(texts), len(texts), lambda i, j: texts[i] if i == j else "0")


def _counted(given: Arguments) -> Value:
    bounds = [given.scope.whole(value) for value in given.rest()]
    if not 1 <= len(bounds) <= 3 or bounds[2:] == [0]:
        raise UnreadCode
    counted = range(*bounds)
    return given.scope.make(len(counted), None, lambda i, j: str(counted[j]))


def _triangle(keeps: Callable[[int, int], bool]) -> Callable[[Arguments], Value]:
    def meaning(given: Arguments) -> Value:
        x = given.tree(0)
        offset = given.scope.whole(given.option(("k", "diagonal"), 1, number("0")))
        if x == call("triangle", number("1")):
            return _unsized(keeps, offset)
        if not isinstance(x, syntax.Array) or not isinstance(x.items[0], syntax.Array):
            raise UnreadCode
        zero = number("0")
        rows = [row.items for row in x.items if isinstance(row, syntax.Array)]
        kept = tuple(
            Labelled(tuple(e if keeps(j - i, offset) else zero for j, e in enumerate(row)))
            for i, row in enumerate(rows)
        )
        return Labelled(kept)

    return meaning


def _unsized(keeps: Callable[[int, int], bool], offset: int) -> syntax.Tree:
    """A triangle of ones of some size: the lower one, or what it leaves."""
    if keeps(-1, 0) and offset == 0:
        return call("triangle")
    if not keeps(-1, 0) and offset == 1:
        return call("not", call("triangle"))
    raise UnreadCode


def _indices(keeps: Callable[[int, int], bool]) -> Callable[[Arguments], Value]:
    """``triu_indices``: as a mask of where they are, whatever its size."""

    def meaning(given: Arguments) -> Value:
        given.rest()
        offset = given.option(("k", "offset"), 1, number("0"))
        return _unsized(keeps, given.scope.whole(offset))

    return meaning


def _is_below(distance: int, offset: int) -> bool:
    return distance <= offset


def _is_above(distance: int, offset: int) -> bool:
    return distance >= offset


#: By its last name, the function that makes an array.
MAKERS: Mapping[str, Callable[[Arguments], Value]] = {
    **dict.fromkeys(("zeros", "empty"), _filled("0")),
    "ones": _filled("1"),
    **dict.fromkeys(("zeros_like", "empty_like"), _filled_like("0")),
    "ones_like": _filled_like("1"),
    **dict.fromkeys(("full", "fill"), _full),
    **dict.fromkeys(("eye", "identity"), _identity),
    "diag": _diagonal,
    **dict.fromkeys(("arange", "range"), _counted),
    "tril": _triangle(_is_below),
    "triu": _triangle(_is_above),
    **dict.fromkeys(("tril_indices", "tril_indices_from"), _indices(_is_below)),
    **dict.fromkeys(("triu_indices", "triu_indices_from"), _indices(_is_above)),
}
