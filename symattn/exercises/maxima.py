"""Programs as Maxima code: what a question computes from its numbers.

A quantity is a matrix of its grid, and one of a single entry a plain number.
Numbers stay exact up to the first exponential, logarithm or tanh, which are
floats. A masked score is ``-inf``; whatever holds ``inf`` is one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate

from symattn.errors import Malformed
from symattn.formulas import text
from symattn.numbers.reading import Masked
from symattn.numbers.values import Value
from symattn.programs.nodes import FLOW, Node, ancestors


def _entrywise(name: str, entry: str, more: str = "") -> str:
    return f"{name}(x{more}) := sa_plain(matrixmap(lambda([s], {entry}), sa_matrix(x)))"


#: The functions that the code of operations calls, by name. To STACK e, i and j are numbers.
_HELPERS: Mapping[str, str] = {
    "sa_matrix": "sa_matrix(x) := if matrixp(x) then x else matrix([x])",
    "sa_plain": "sa_plain(x) := if is(length(x) = 1) and is(length(x[1]) = 1) then x[1, 1] else x",
    "sa_at": "sa_at(x, u, w) := x[min(u, length(x)), min(w, length(x[1]))]",
    "sa_spread": "sa_spread(x, n, m) := block([y], y: sa_matrix(x), "
    "sa_plain(genmatrix(lambda([u, w], sa_at(y, u, w)), n, m)))",
    "sa_root": _entrywise("sa_root", "sqrt(s)"),
    "sa_exp": _entrywise("sa_exp", "if freeof(inf, s) then float(exp(s)) else 0"),
    **{
        f"sa_{name}": _entrywise(f"sa_{name}", f"float({name}(s))")
        for name in ("log", "tanh", "sin", "cos", "erf")
    },
    # A masked score is less than every number.
    "sa_less": "sa_less(s, t) := if freeof(inf, t) then "
    "(if freeof(inf, s) then is(float(s) < float(t)) else true) else false",
    "sa_larger": "sa_larger(s, t) := if sa_less(s, t) then t else s",
    "sa_maximum": "sa_maximum(x, y, n, m) := block([a, b], a: sa_matrix(x), b: sa_matrix(y), "
    "sa_plain(genmatrix(lambda([u, w], sa_larger(sa_at(a, u, w), sa_at(b, u, w))), n, m)))",
    "sa_above": "sa_above(x, y, n, m) := block([a, b], a: sa_matrix(x), b: sa_matrix(y), "
    "sa_plain(genmatrix(lambda([u, w], "
    "if sa_less(sa_at(b, u, w), sa_at(a, u, w)) then 1 else 0), n, m)))",
    "sa_rowmax": "sa_rowmax(x) := sa_plain(apply(matrix, "
    "map(lambda([r], [lreduce(sa_larger, r)]), args(sa_matrix(x)))))",
    "sa_open": _entrywise("sa_open", "if freeof(inf, s) then s else 0"),
    "sa_hide": "sa_hide(x, k, n, m) := block([y, z], y: sa_matrix(x), z: sa_matrix(k), "
    "sa_plain(genmatrix(lambda([u, w], "
    "if is(sa_at(z, u, w) = 0) then -inf else y[u, w]), n, m)))",
    # The largest score is taken away first, so that no power is too large for a float.
    "sa_weights": "sa_weights(r) := block([s, q], "
    "s: sublist(r, lambda([t], freeof(inf, t))), "
    "if emptyp(s) then r else (s: apply(max, s), "
    "q: map(lambda([t], if freeof(inf, t) then float(exp(t - s)) else 0), r), "
    'q/apply("+", q)))',
    "sa_softmax": "sa_softmax(x) := sa_plain(apply(matrix, "
    "map(lambda([r], sa_weights(r)), args(sa_matrix(x)))))",
    "sa_pick": "sa_pick(x, r, c) := block([y], y: sa_matrix(x), "
    "sa_plain(genmatrix(lambda([u, w], y[r[u], c[w]]), length(r), length(c))))",
    "sa_scatter": "sa_scatter(x, r, c, n, m) := block([y], y: sa_matrix(x), "
    "sa_plain(genmatrix(lambda([u, w], if member(u, r) and member(w, c) then "
    "y[sa_place(u, r), sa_place(w, c)] else 0), n, m)))",
    "sa_place": "sa_place(u, r) := first(sublist(makelist(k, k, 1, length(r)), "
    "lambda([k], is(r[k] = u))))",
    "sa_close": "sa_close(x, y, t) := block([a, b], a: sa_matrix(x), b: sa_matrix(y), "
    "is(length(a) = length(b)) and is(length(a[1]) = length(b[1])) and "
    "not member(false, flatten(args(genmatrix(lambda([u, w], sa_near(a[u, w], b[u, w], t)), "
    "length(b), length(b[1]))))))",
    "sa_near": "sa_near(x, y, t) := if freeof(inf, y) then "
    "numberp(float(x)) and is(abs(float(x) - float(y)) <= t + 1.0e-9) "
    "else is(x = -inf) or is(x = minf)",
    "sa_rounded": _entrywise(
        "sa_rounded",
        "if not freeof(inf, s) then -inf else if integerp(s) then s "
        "else round(float(s)*10^p)/10.0^p",
        ", p",
    ),
    # What is left empty is null, or EMPTYANSWER.
    "sa_filled": "sa_filled(x, y) := if freeof(null, x) and freeof(EMPTYANSWER, x) then x else y",
    "sa_moved": "sa_moved(x, k, p) := block([y], y: sa_matrix(x), "
    "sa_rounded(genmatrix(lambda([u, w], y[u, w] + k*(u + 2*w)), length(y), length(y[1])), p))",
    "sa_shown": _entrywise(
        "sa_shown", "if not integerp(s) and integerp(10^6*s) then float(s) else s"
    ),
}
_HELPER = re.compile(r"\bsa_\w+")
_ATOM = re.compile(r"\w+")
_CALL = re.compile(r"\w+\(.*\)")


def helpers(code: Iterable[str]) -> list[str]:
    """The definitions of the functions that statements call, and of those that these call.

    >>> helpers(["T: sa_root(S)"])[-1]
    'sa_root(x) := sa_plain(matrixmap(lambda([s], sqrt(s)), sa_matrix(x)))'
    """
    needed: set[str] = set()
    waiting = [*code]
    while waiting:
        for name in set(_HELPER.findall(waiting.pop())) & _HELPERS.keys() - needed:
            needed.add(name)
            waiting.append(_HELPERS[name])
    return [definition for name, definition in _HELPERS.items() if name in needed]


def number(value: Value | Masked) -> str:
    """An exact number.

    >>> from symattn.numbers.reading import read
    >>> number(read("0.3")), number(read("sqrt(2)/2")), number(read("-exp(1)"))
    ('3/10', 'sqrt(2)/2', '-%e')
    """
    if isinstance(value, Masked):
        return str(value)
    if value.has_symbols:
        raise Malformed(f"{value} has symbols: expected numbers")
    return re.sub(r"\b(e|pi)\b", r"%\1", text(value.formula()))


def matrix(rows: Sequence[Sequence[Value | Masked]]) -> str:
    """Exact numbers by rows of the grid.

    >>> from symattn.numbers.arrays import read_rows
    >>> matrix(read_rows([[1, "1/2"], [0, "-inf"]])[1])
    'matrix([1, 1/2], [0, -inf])'
    """
    if [len(row) for row in rows] == [1]:
        return number(rows[0][0])
    return _matrix([[*map(number, row)] for row in rows])


def _matrix(rows: Iterable[Iterable[str]]) -> str:
    lines = (f"[{', '.join(row)}]" for row in rows)
    return f"matrix({', '.join(lines)})"


def function(name: str, target: Node, known: Mapping[int, str], parameters: Sequence[str]) -> str:
    """A function that computes ``target`` from what is ``known``: variables, by
    the serial numbers of their nodes. Raises :class:`Malformed` for an
    operation that has no Maxima code.

    >>> from symattn.programs.program import program
    >>> p = program({"Q": (2, 3), "K": (4, 3)}, {"S": "Q @ K.T", "T": "S / sqrt(3)"})
    >>> known = {node.serial: name for name, node in p.quantities.items()}
    >>> function("f", p.quantities["T"], known, ["S"])
    'f(S) := S/sqrt(3)'
    """
    # What is computed is not taken as known, what is given is.
    written = {
        k: variable for k, variable in known.items() if k != target.serial or target.op == "given"
    }
    needed = ancestors([target], stop=lambda node: node.serial in written)
    uses = Counter(x.serial for node in needed for x in node.operands)
    names: list[str] = []
    statements: list[str] = []
    for node in needed:
        if node.serial in written:
            continue
        if node.op not in _OPERATIONS:
            raise Malformed(f"the operation {node.op!r} can't be exported: it has no Maxima code")
        code = _OPERATIONS[node.op](node, [written[x.serial] for x in node.operands])
        if uses[node.serial] > 1 and not _ATOM.fullmatch(code):
            names.append(f"t_{len(names) + 1}")
            statements.append(f"{names[-1]}: {code}")
            code = names[-1]
        written[node.serial] = code
    body = written[target.serial]
    if names:
        body = f"block([{', '.join(names)}], {', '.join([*statements, body])})"
    return f"{name}({', '.join(parameters)}) := {body}"


def _bracketed(code: str) -> str:
    return code if _ATOM.fullmatch(code) or _is_call(code) else f"({code})"


def _is_call(code: str) -> bool:
    """Whether code is one call: its first bracket is closed at the end."""
    depths = accumulate((c == "(") - (c == ")") for c in code[code.find("(") :])
    return _CALL.fullmatch(code) is not None and 0 not in [*depths][:-1]


def _arithmetic(sign: str) -> Callable[[Node, list[str]], str]:
    def operation(node: Node, x: list[str]) -> str:
        if node.extra == FLOW:
            x = [f"sa_open({code})" for code in x]
        sides = [
            code
            if operand.grid in (node.grid, (1, 1))
            else f"sa_spread({code}, {node.grid[0]}, {node.grid[1]})"
            for operand, code in zip(node.operands, x, strict=True)
        ]
        return sign.join(map(_bracketed, sides))

    return operation


def _matmul(node: Node, x: list[str]) -> str:
    plain = any(operand.grid == (1, 1) for operand in node.operands)
    return ("*" if plain else " . ").join(map(_bracketed, x))


def _call(name: str) -> Callable[[Node, list[str]], str]:
    return lambda node, x: f"{name}({', '.join(x)})"


def _ones(rows: int, columns: int) -> str:
    return _matrix([["1"] * columns] * rows)


def _rowsum(node: Node, x: list[str]) -> str:
    columns = node.operands[0].grid[1]
    return x[0] if columns == 1 else f"{_bracketed(x[0])} . {_ones(columns, 1)}"


def _colsum(node: Node, x: list[str]) -> str:
    rows = node.operands[0].grid[0]
    return x[0] if rows == 1 else f"{_ones(1, rows)} . {_bracketed(x[0])}"


def _concat(node: Node, x: list[str]) -> str:
    parts = [
        f"matrix([{code}])" if operand.grid == (1, 1) else code
        for operand, code in zip(node.operands, x, strict=True)
    ]
    return f"addcol({', '.join(parts)})" if len(parts) > 1 else x[0]


def _places(axis: range) -> str:
    """Indices, which Maxima counts from 1."""
    return f"[{', '.join(str(k + 1) for k in axis)}]"


def _pick(node: Node, x: list[str]) -> str:
    rows, columns = node.extra
    return f"sa_pick({x[0]}, {_places(rows)}, {_places(columns)})"


def _scatter(node: Node, x: list[str]) -> str:
    rows, columns = map(_places, node.extra)
    return f"sa_scatter({x[0]}, {rows}, {columns}, {node.grid[0]}, {node.grid[1]})"


def _triangle(node: Node, x: list[str]) -> str:
    rows, columns = node.grid
    if node.grid == (1, 1):
        return "1"
    return _matrix([str(int(j <= i)) for j in range(columns)] for i in range(rows))


def _sized(name: str) -> Callable[[Node, list[str]], str]:
    return lambda node, x: f"{name}({', '.join([*x, *map(str, node.grid)])})"


_OPERATIONS: Mapping[str, Callable[[Node, list[str]], str]] = {
    "constant": lambda node, x: number(node.extra),
    "table": lambda node, x: matrix(node.extra),
    "triangle": _triangle,
    "copy": lambda node, x: x[0],
    "reshape": lambda node, x: x[0],
    "transpose": lambda node, x: x[0] if node.grid == (1, 1) else f"transpose({x[0]})",
    "negate": lambda node, x: f"-{_bracketed(x[0])}",
    "add": _arithmetic(" + "),
    "subtract": _arithmetic(" - "),
    "multiply": _arithmetic("*"),
    "divide": _arithmetic("/"),
    "matmul": _matmul,
    "sqrt": lambda node, x: _call("sqrt" if node.grid == (1, 1) else "sa_root")(node, x),
    **{
        op: _call(f"sa_{op}")
        for op in ("exp", "log", "tanh", "sin", "cos", "erf", "rowmax", "softmax")
    },
    **{op: _sized(f"sa_{op}") for op in ("maximum", "above", "hide", "spread")},
    "concat": _concat,
    "rowsum": _rowsum,
    "colsum": _colsum,
    "total": lambda node, x: _colsum(node, [_rowsum(node, x)]),
    "pick": _pick,
    "scatter": _scatter,
}
