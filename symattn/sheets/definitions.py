"""The definition of an operation, in the letters of a case.

What is typeset is the source of the functions that the cross-check runs
(:mod:`symattn.crosscheck.definitions`), with the quantities' names for their letters and
numbers for their sizes: a reader of a sheet sees the code that was checked. What flows into an
operand that a definition is linear in is derived from that same source.

The definitions behind a function of steps, in the letters of a case.

The cross-check writes a step on its tape as operations that each have a definition; what is
shown are these, in their order, with the letters of what comes in between as they stand there.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from types import MappingProxyType

import numpy as np

from symattn.crosscheck import definitions
from symattn.crosscheck.lines import TapeLine
from symattn.crosscheck.tape import Tape, tape
from symattn.errors import Malformed
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.shapes import Shape
from symattn.programs.display import formula
from symattn.programs.nodes import Node, ancestors
from symattn.programs.program import Program
from symattn.sheets.latexified import typeset
from symattn.sheets.presentation import grouped

_FIRST_PLACE = ast.Constant(1)


# -- definitions whose indices are counted from 1 ----------------------------------------
# Their source counts from 0, as Python does.
#
# Of what moves with an index as the index does, ``j`` or ``i - a``, nothing changes as an index
# or beside its like; as a number it is one more, and what is no index is one less than it.


def counted_from_1(tree: ast.expr, indices: Collection[str]) -> ast.expr:
    """The same entries as ``tree`` has, by ``indices`` and those of its sums counted from 1.

    >>> source = "sum(A[i][k] * B[t[k]][j] for k in range(d)) if j < i + 1 or j < a else j"
    >>> ast.unparse(counted_from_1(ast.parse(source, mode="eval").body, "ij"))
    'sum((A[i][k] * B[t[k] + 1][j] for k in range(1, d + 1))) if j < i + 1 or j <= a else j - 1'
    """
    bound = {x.target.id for x in ast.walk(tree)
             if isinstance(x, ast.comprehension) and isinstance(x.target, ast.Name)}  # fmt: skip
    counted: ast.expr = _CountedFrom1({*indices, *bound}).visit(tree)
    return counted


class _CountedFrom1(ast.NodeTransformer):
    def __init__(self, indices: Collection[str]) -> None:
        self._indices = indices

    def _degree(self, tree: ast.expr) -> int | None:
        """Return how many times an expression moves with the indices; None where it does
        otherwise."""
        match tree:
            case ast.Name(name):
                return int(name in self._indices)
            case ast.Subscript():
                return 0
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                ours, theirs = self._degree(left), self._degree(right)
                if ours is None or theirs is None:
                    return None
                return ours + theirs if isinstance(tree.op, ast.Add) else ours - theirs
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return 0 if names.isdisjoint(self._indices) else None

    def _kept(self, tree: ast.expr) -> ast.expr:
        """As it is, but for what it is indexed by."""
        match tree:
            case ast.Name() | ast.Constant():
                return tree
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                return ast.BinOp(self._kept(left), tree.op, self._kept(right))
        kept: ast.expr = self.visit(tree)
        return kept

    def _index(self, tree: ast.expr) -> ast.expr:
        return self._kept(tree) if self._degree(tree) == 1 else _more(self.visit(tree))

    def visit_Name(self, tree: ast.Name) -> ast.expr:
        return ast.BinOp(tree, ast.Sub(), _FIRST_PLACE) if self._degree(tree) else tree

    def visit_BinOp(self, tree: ast.BinOp) -> ast.AST:
        degree = self._degree(tree) if isinstance(tree.op, ast.Add | ast.Sub) else None
        if degree is None:
            return self.generic_visit(tree)
        kept = self._kept(tree)
        return ast.BinOp(kept, ast.Sub(), ast.Constant(degree)) if degree else kept

    def visit_Subscript(self, tree: ast.Subscript) -> ast.expr:
        return ast.Subscript(self.visit(tree.value), self._index(tree.slice), tree.ctx)

    def visit_Compare(self, tree: ast.Compare) -> ast.AST:
        sides = tree.left, *tree.comparators
        degrees = [self._degree(side) for side in sides]
        if not {0, 1}.issuperset(degrees) or 1 not in degrees:
            return self.generic_visit(tree)
        operators = list(tree.ops)
        if degrees == [1, 0] and isinstance(operators[0], ast.Lt):
            operators, degrees = [ast.LtE()], [1, 1]
        left, *others = (
            self._kept(side) if degree else _more(self.visit(side))
            for side, degree in zip(sides, degrees, strict=True)
        )
        return ast.Compare(left, operators, others)

    def visit_comprehension(self, tree: ast.comprehension) -> ast.comprehension:
        assert isinstance(tree.iter, ast.Call)
        *starts, stop = tree.iter.args
        ends = [self._index(start) for start in starts] or [_FIRST_PLACE]
        ends.append(self._index(stop))
        return ast.comprehension(tree.target, ast.Call(tree.iter.func, ends, []), [], 0)


def _more(tree: ast.expr) -> ast.expr:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return ast.Constant(tree.value + 1)
    return ast.BinOp(tree, ast.Add(), _FIRST_PLACE)


# -- definitions -------------------------------------------------------------------------

Named = Mapping[int, syntax.Tree]


def equation(
    name: str,
    letters: Mapping[str, t.Row],
    sizes: Mapping[str, int],
    entries: Mapping[str, t.Row] | None = None,
    first: int = 0,
) -> t.Row:
    r"""The definition ``name`` as an equation: its letters replaced by others, its sizes by
    numbers, and what is in ``entries`` with its indices by a name. Rows and columns are
    counted from ``first``, 0 or 1.

    >>> names = {letter: f.typeset_name(name) for letter, name in ("SS", "QX", "KX")}
    >>> t.latex(equation("score", names, {"d": 4}))
    'S_{i,j} = \\sum_{c = 0}^{3} X_{i,c}X_{j,c}'
    """
    writer, indices = _Writer(letters, sizes, entries or {}), definitions.indices(name)
    defined = writer.entry(definitions.letter(name), t.letters(",".join(indices)))
    return writer.equation(defined, _source(name), indices, first)


@cache
def _source(name: str) -> ast.expr:
    """Return what a definition returns."""
    (function,) = ast.parse(inspect.getsource(definitions.definition(name))).body
    assert isinstance(function, ast.FunctionDef)
    returned = function.body[-1]
    assert isinstance(returned, ast.Return)
    assert returned.value is not None
    return returned.value


# -- gradients, derived from definitions --------------------------------------------------

#: The derivative of a weight by a score of its row, where ``delta`` is 1 or 0.
_JACOBIAN = "A[i][j] * (delta[j][k] - A[i][k])"
#: What flows into the scores because of it.
_THROUGH_SOFTMAX = "A[i][j] * (G[i][j] - sum(A[i][k] * G[i][k] for k in range(m)))"
#: How many there are of each index of a result.
_COUNTS = {"i": "n", "j": "m"}


@cache
def flow(name: str, operand: str) -> tuple[tuple[str, ...], ast.expr] | None:
    """Return at which indices something flows into an operand of an operation, and what: ``G`` is
    the gradient that arrives at the result.

    Where a definition is linear in the operand, it is the same expression with ``G`` in the
    operand's place, added up over the entries of the result that it is part of. Softmax has its
    own; of others nothing is derived here.

    >>> indices, entry = flow("score", "K")
    >>> indices, ast.unparse(entry)
    (('j', 'c'), 'sum((G[i][j] * Q[i][c] for i in range(n)))')
    """
    if name == "softmax":
        return ("i", "j"), _expression(_THROUGH_SOFTMAX)
    tree, result, added = _source(name), definitions.indices(name), ""
    match tree:
        case ast.Call(ast.Name("sum"), [ast.GeneratorExp(inner, [one])]):
            tree, added = inner, ast.unparse(one.target)
    if [x.id for x in ast.walk(tree) if isinstance(x, ast.Name)].count(operand) != 1:
        return None
    indices = max((_indices(x, operand) for x in ast.walk(tree)), key=len)
    if not all(map(str.isidentifier, indices)):
        return None
    entry = _linear(tree, operand, indices, _expression("G" + "".join(f"[{k}]" for k in result)))
    if entry is None or added not in ("", *indices):
        return None
    for k in result:
        if k not in indices:
            entry = _expression(f"sum({ast.unparse(entry)} for {k} in range({_COUNTS[k]}))")
    return indices, entry


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _indices(tree: ast.AST, operand: str) -> tuple[str, ...]:
    """The indices of an entry of an operand; none where the expression is none."""
    match tree:
        case ast.Subscript(ast.Name(name), at) if name == operand:
            return (ast.unparse(at),)
        case ast.Subscript(ast.Subscript(ast.Name(name), row), column) if name == operand:
            return ast.unparse(row), ast.unparse(column)
    return ()


def _linear(
    tree: ast.expr, operand: str, indices: tuple[str, ...], arriving: ast.expr
) -> ast.expr | None:
    """An expression with what arrives in the place of an operand's entry; None where it isn't
    linear in that."""
    if _indices(tree, operand):
        return arriving
    match tree:
        case ast.BinOp(left, ast.Mult(), right):
            sides = [_linear(side, operand, indices, arriving) for side in (left, right)]
            if sides.count(None) != 1:
                return None
            first, second = sides[0] or left, sides[1] or right
            # Factors stand as in a product of matrices, that of the result's rows first.
            if indices[0] not in {x.id for x in ast.walk(first) if isinstance(x, ast.Name)}:
                first, second = second, first
            return ast.BinOp(first, ast.Mult(), second)
        case ast.BinOp(left, ast.Div(), right):
            above = _linear(left, operand, indices, arriving)
            return above and ast.BinOp(above, ast.Div(), right)
        case ast.IfExp(test, kept, hidden):
            passed = [_linear(part, operand, indices, arriving) for part in (kept, hidden)]
            if passed != [None, None]:
                return ast.IfExp(test, *(part or ast.Constant(0) for part in passed))
    return None


def parameter(name: str) -> t.Row:
    """Return what a parameter of a definition is called in formulas.

    >>> parameter("mu").nodes
    (Letter(text='μ'),)
    """
    return t.row(t.Letter({**t.GREEK, "inf": "∞"}.get(name, name)))


class _Writer:
    """The names in the source of a definition, as they are set."""

    def __init__(
        self, letters: Mapping[str, t.Row], sizes: Mapping[str, int], entries: Mapping[str, t.Row]
    ) -> None:
        self.letters, self.sizes, self.entries = letters, sizes, entries

    def equation(
        self, left: t.Row, right: ast.expr, indices: Collection[str], first: int = 0
    ) -> t.Row:
        """An equation whose right side has the sizes as numbers, counted from ``first``."""
        tree = deepcopy(right)
        if first:
            tree = counted_from_1(tree, indices)
        numbers = {size: count for size, count in self.sizes.items() if size not in self.letters}
        return left + t.EQUALS + typeset(_Sized(numbers).visit(tree), self.entry)

    def entry(self, name: str, at: t.Row) -> t.Row:
        """A name with indices; a number has none."""
        if name in self.entries:
            return self.entries[name]
        called = self.called(name)
        is_number = t.begins(called, t.Digits, t.Sign)
        return called if not at or is_number else t.index(grouped(called), at)

    def called(self, name: str) -> t.Row:
        """A letter, or what is put in for it."""
        if name in self.letters:
            return self.letters[name]
        return t.number(str(self.sizes[name])) if name in self.sizes else parameter(name)


class _Sized(ast.NodeTransformer):
    """Puts numbers in for sizes."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes

    def visit_Name(self, tree: ast.Name) -> ast.expr:
        return ast.Constant(self._sizes[tree.id]) if tree.id in self._sizes else tree


def of_step(node: Node, named: Named, row_sum: t.Row, first: int = 0) -> list[t.Row]:
    """The definitions that a step uses, as equations; none for a step that is put together from
    several operations. ``row_sum`` is what the sum over row i of a softmax is called."""
    operation, operands = _operation(node, named)
    if not operation or len(node.shape) != 2 or not _are_named(operands, named):
        return []
    letters = _letters(operation, operands, named)
    letters[definitions.letter(operation)] = _letter_of(node, named)
    names = ("normaliser", operation) if operation in _NORMALISED else (operation,)
    sizes = _sizes(operands[0].grid, node.grid)
    return [equation(name, letters, sizes, {"Z": row_sum}, first) for name in names]


def _operation(node: Node, named: Named, by: Node | None = None) -> tuple[str, tuple[Node, ...]]:
    """The operation with a definition that a step is, and what it is of; nothing for another
    step. An operand that it is differentiated ``by`` is taken as it is."""
    match node.op, node.operands:
        case "matmul", (x, y) if (
            y.op == "transpose" and y is not by and _is_named(y.operands[0], named)
        ):
            return "score", (x, *y.operands)
        case "matmul", _:
            return "product", node.operands
        case "divide", (x, y) if y.op == "sqrt" and not y.shape:
            return "scaled_score", (x, *y.operands)
        case "softmax", _:
            return "softmax", node.operands
        case "hide", (x, keep):
            return ("causal", (x,)) if keep.op == "triangle" else ("mask", (x, keep))
        case "add" | "subtract" | "multiply" | "divide", (x, y) if x.shape == y.shape == node.shape:
            kind = {"add": "addition", "subtract": "subtraction", "multiply": "times"}
            return kind.get(node.op, "quotient"), (x, y)
    return "", ()


def _are_named(nodes: Iterable[Node], named: Named) -> bool:
    """Tell whether all matrices among some nodes have names; numbers need none."""
    return all(_is_named(node, named) for node in nodes if node.shape)


def _letters(operation: str, operands: Sequence[Node], named: Named) -> dict[str, t.Row]:
    """Return what the operands of a definition are called, by its letters."""
    called = (_letter_of(node, named) for node in operands)
    return dict(zip(definitions.operands(operation), called, strict=True))


def _sizes(first: tuple[int, int], result: tuple[int, int]) -> dict[str, int]:
    """The sizes that are taken from the first operand and the result."""
    return {"n": first[0], "d": first[1], "m": result[1]}


def use(program: Program, name: str, named: Named) -> tuple[Node, int] | None:
    """The one step that a quantity is used by, itself or turned, and as which operand."""
    node = program.quantities[name]
    users = [
        (user, place)
        for user in ancestors(program.quantities.values())
        for place, operand in enumerate(user.operands)
        if (operand is node and not _is_turn(user, named))
        or (_is_turn(operand, named) and operand.operands[0] is node)
    ]
    return users[0] if len(users) == 1 else None


def of_gradient(program: Program, name: str, named: Named, first: int = 0) -> list[t.Row]:
    """The definitions of the flow into a quantity that is used once, by a step itself."""
    node = program.quantities[name]
    if (used := use(program, name, named)) is None:
        return []
    user, place = used
    operation, operands = _operation(user, named, node)
    gradients = {program.quantities[n].serial: g for n, g in program.gradients.items()}
    # What is hidden by data, or is done entry by entry, stands in the step itself.
    if (
        operation not in ("product", "score", "scaled_score", "softmax", "causal")
        or user.serial not in gradients
    ):
        return []
    if place >= len(operands) or operands[place] is not node:
        return []
    others = [operand for operand in operands if operand is not node]
    derived = flow(operation, definitions.operands(operation)[place])
    if not derived or not _are_named(others, named):
        return []
    letters = _letters(operation, operands, named) | {
        definitions.letter(operation): _letter_of(user, named),
        "G": _short(named, gradients[user.serial]),
    }
    indices, entry = derived
    at = t.letters(",".join(indices))
    left = t.index(grouped(_short(named, program.gradients[name])), at)
    writer = _Writer(letters, _sizes(operands[0].grid, user.grid), {})
    return [writer.equation(left, entry, indices, first)]


def jacobian(node: Node, named: Named) -> t.Row:
    """The definition of an entry of the softmax Jacobian."""
    letters = {"A": _letter_of(node, named), "S": _letter_of(node.operands[0], named)}
    writer = _Writer(letters, {}, {})
    rows = writer.entry("A", t.letters("i,j")), writer.entry("S", t.letters("i,k"))
    left = t.fraction(*(t.PARTIAL + entry for entry in rows))
    return writer.equation(left, _expression(_JACOBIAN), "ijk")


def by_jacobian(target: t.Row, flow: t.Row, weights: t.Row, keys: int, first: int = 0) -> t.Row:
    """Return how the row formula of a softmax comes from its Jacobian ``J_i``."""

    def entry(name: t.Row, at: str) -> t.Row:
        return t.index(grouped(name), t.letters(at))

    over = t.row(t.Indexed(t.Limits("∑"), t.letters(f"k={first}"), t.number(str(keys - 1 + first))))
    own, other = entry(weights, "i,j"), entry(weights, "i,k")
    return t.row(
        entry(target, "i,j"), t.EQUALS,
        over, entry(t.index(t.letters("J"), t.letters("i")), "j,k"), t.THIN, entry(flow, "i,k"),
        t.EQUALS, own, t.THIN, entry(flow, "i,j"),
        t.sign("−"), own, over, other, t.THIN, entry(flow, "i,k"),
    )  # fmt: skip


def _is_named(node: Node, named: Named) -> bool:
    return node.serial in named and len(node.shape) == 2


def _is_turn(node: Node, named: Named) -> bool:
    """Return whether a node only turns its operand for the step that uses it."""
    return node.op == "transpose" and node.serial not in named


def _letter_of(node: Node, named: Named) -> t.Row:
    if node.op == "constant":
        return f.typeset(formula(node, named))
    return f.typeset(named[node.serial]) if node.serial in named else t.letters("⋅")


def _short(named: Named, gradient: Node) -> t.Row:
    return f.typeset(named[gradient.serial])


#: Operations that move entries, or repeat them: a letter stands for what they are of.
_MOVING = ("copy", "spread")
#: Operations that divide by the sum of a row of exponentials, or take its logarithm.
_NORMALISED = ("softmax", "log_softmax")
#: What a line in between may be called.
_FREE = "RUHDNCEFG"
#: More definitions say less than the step itself.
_MOST = 4


def of_call(
    name: str,
    text: str,
    shapes: Mapping[str, Shape],
    functions: Mapping[str, str] | None = None,
    weights: Mapping[str, str] = MappingProxyType({}),
    first: int = 0,
) -> list[t.Row]:
    r"""The definitions that a step uses, which may call ``functions`` of the case; none where
    they would say little. ``weights`` are the steps that are the softmax of others.

    >>> t.latex(of_call("N", "rmsnorm(X, g, eps=0)", {"X": (2, 3), "g": (3,)})[1])
    'N_{i,j} = \\frac{X_{i,j}}{\\sqrt{v_{i}}}g_{j}'
    """
    used = set(re.findall(r"\w+", text)) - {name}
    # Ones: whole numbers for whatever the step takes them to be.
    given = {x: np.ones(shape, dtype=int).tolist() for x, shape in shapes.items() if x in used}
    try:
        laid = tape(given, {name: text}, functions=functions)
    except Malformed:
        return []
    known = {place: f.typeset_name(quantity) for quantity, place in laid.places.items()}
    last = laid.places[name]
    own = [
        place
        for place, line in enumerate(laid.lines)
        if line.where == f"steps.{name}" and line.operation in definitions.names()
    ]
    if not 0 < len(own) <= _MOST or own[-1] != last:
        return []
    logarithms = {laid.places[x]: softmax for x, softmax in weights.items() if x in laid.places}
    for place in list(own[:-1]):
        line = laid.lines[place]
        if line.operation == "log_softmax" and line.operands[0] in logarithms:
            called = f.typeset_name(logarithms[line.operands[0]])
            known[place] = t.row(t.UprightName("log", True), t.THIN, called)
            own.remove(place)
        else:
            known[place] = _letter(laid, place, own, shapes)
    equations = [equation for place in own for equation in _equations(laid, place, known, first)]
    return equations if all(equations) and len(set(known.values())) == len(known) else []


def _letter(laid: Tape, place: int, own: Sequence[int], taken: Container[str]) -> t.Row:
    """Return what a line in between is called: as the definition calls it that uses it first,
    unless a quantity is called so."""
    for user in own:
        line = laid.lines[user]
        for letter, operand in zip(
            definitions.operands(line.operation), line.operands, strict=True
        ):
            if operand == place and letter not in taken:
                return parameter(letter)
    letter = definitions.letter(laid.lines[place].operation)
    return parameter(next((x for x in (letter, *_FREE) if x not in taken), letter))


def _equations(
    laid: Tape, place: int, known: Mapping[int, t.Row], counted_from: int
) -> Iterator[t.Row]:
    """The definition of a line with its letters and sizes replaced, and before it that of the
    normalisers that it takes; nothing where something has no name."""
    line = laid.lines[place]
    letters = {definitions.letter(line.operation): known[place]}
    for letter, operand in zip(definitions.operands(line.operation), line.operands, strict=True):
        letters[letter] = _name(laid, operand, known, letter)
    if not all(letters.values()):
        yield t.Row()
        return
    first = laid.lines[line.operands[0]].grid if line.operands else line.grid
    sizes = {**_sizes(first, line.grid), **line.sizes}
    if line.operation in _NORMALISED:
        letters["Z"] = parameter("Sigma" if parameter("Z") in known.values() else "Z")
        yield equation("normaliser", letters, sizes, first=counted_from)
    yield equation(line.operation, letters, sizes, first=counted_from)


def _name(laid: Tape, place: int, known: Mapping[int, t.Row], letter: str) -> t.Row:
    """Return what stands for an operand: a name, a number written in the step, or of several its
    letter."""
    line: TapeLine = laid.lines[place]
    while place not in known and line.operation in _MOVING:
        (place,) = line.operands
        line = laid.lines[place]
    if place in known:
        return known[place]
    if line.operation != "entries":
        return t.Row()
    if line.grid != (1, 1):
        return parameter(letter)
    mantissa, _, power = f"{line.entries[0][0].value:g}".partition("e")
    if not power:
        return t.number(mantissa)
    ten = t.index(t.number("10"), above=t.number(str(int(power))))
    return t.row(t.number(mantissa), t.DOT, ten) if mantissa != "1" else ten
