"""The definition of an operation, in the letters of a case.

What is typeset is the source of the functions that the cross-check runs
(:mod:`symattn.crosscheck.definitions`), with the quantities' names for their letters and
numbers for their sizes: a reader of a sheet sees the code that was checked.

The definitions behind a function of steps, in the letters of a case.

The cross-check writes a step on its tape as operations that each have a definition; what is
shown are these, in their order, with the letters of what comes in between as they stand there.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from symattn import formulas as f
from symattn import typesetting as t
from symattn.crosscheck import definitions
from symattn.crosscheck.lines import TapeLine
from symattn.crosscheck.tape import Tape, tape
from symattn.errors import Malformed
from symattn.programs.display import formula
from symattn.programs.nodes import Node, ancestors
from symattn.programs.program import Program
from symattn.shapes import Shape
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
    """One more."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return ast.Constant(tree.value + 1)
    return ast.BinOp(tree, ast.Add(), _FIRST_PLACE)


# -- definitions -------------------------------------------------------------------------

Named = Mapping[int, f.Formula]

#: What the functions of the definitions are called in formulas.
_CALLED = {"greatest": "max", "least": "min", "sign_of": "sign", "ln": "log"}
#: Functions whose argument needs no brackets.
_UNARY = frozenset({"exp", "log", "sin", "cos", "tanh"})
#: How tightly operators bind; a call takes its argument more tightly than a minus.
_LEVELS: Mapping[type[ast.AST], int] = {
    ast.Compare: 1, ast.Add: 2, ast.Sub: 2, ast.Mult: 3, ast.Div: 3, ast.FloorDiv: 3, ast.Mod: 3,
    ast.USub: 4, ast.Call: 5, ast.Pow: 6,
}  # fmt: skip
_ATOM = 7
_RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_ZERO, _ONE = t.number("0"), t.number("1")


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
    writer = _Writer(letters, sizes, entries or {})
    return writer.defined(name) + t.EQUALS + writer.row(_source(name, first))


@cache
def _source(name: str, first: int) -> ast.expr:
    """Return what a definition returns, its indices counted from ``first``."""
    (function,) = ast.parse(inspect.getsource(definitions.definition(name))).body
    assert isinstance(function, ast.FunctionDef)
    returned = function.body[-1]
    assert isinstance(returned, ast.Return)
    assert returned.value is not None
    return counted_from_1(returned.value, definitions.indices(name)) if first else returned.value


def parameter(name: str) -> t.Row:
    """Return what a parameter of a definition is called in formulas.

    >>> parameter("mu").nodes
    (Letter(text='μ'),)
    """
    return t.row(t.Letter({**t.GREEK, "inf": "∞"}.get(name, name)))


class _Writer:
    """One walk over the source of a definition."""

    def __init__(
        self, letters: Mapping[str, t.Row], sizes: Mapping[str, int], entries: Mapping[str, t.Row]
    ) -> None:
        self.letters, self.sizes, self.entries = letters, sizes, entries

    def defined(self, name: str) -> t.Row:
        """The entry that a definition gives, or the derivative by one."""
        if name == definitions.JACOBIAN:
            rows = self.entry("A", t.letters("i,j")), self.entry("S", t.letters("i,k"))
            return t.fraction(*(t.PARTIAL + entry for entry in rows))
        at = t.letters(",".join(definitions.indices(name)))
        if name in definitions.RULES:
            return self.entry(definitions.RULES[name][0], at)
        operand = definitions.differentiated(name)
        if f"d{operand}" in self.letters:
            return self.entry(f"d{operand}", at)
        return t.fraction(t.PARTIAL + t.letters("L"), t.PARTIAL + self.entry(operand, at))

    def entry(self, name: str, at: t.Row) -> t.Row:
        """A name with indices; a number has none."""
        if name in self.entries:
            return self.entries[name]
        called = self.called(name)
        return called if not at or _is_number(called) else t.index(grouped(called), at)

    def called(self, name: str) -> t.Row:
        """A letter, or what is put in for it."""
        if name in self.letters:
            return self.letters[name]
        return t.number(str(self.sizes[name])) if name in self.sizes else parameter(name)

    def row(self, tree: ast.expr) -> t.Row:
        """An expression as it is set."""
        match tree:
            case ast.Constant(value):
                return t.number(str(value))
            case ast.Name(name):
                return self.entry(name, t.Row())
            case ast.Subscript():
                return self.subscript(tree)
            case ast.UnaryOp(ast.USub(), operand):
                return t.sign("−", True) + self.operand(operand, _LEVELS[ast.USub])
            case ast.BinOp():
                return self.binary(tree)
            case ast.Compare(left, relations, others):
                chain = self.row(left)
                for relation, other in zip(relations, others, strict=True):
                    chain += t.sign(_RELATIONS[type(relation)]) + self.row(other)
                return chain
            case ast.IfExp():
                return t.row(t.Fenced("{", t.row(t.CellGrid("cases", tuple(self.cases(tree)))), ""))
            case ast.Call(ast.Name(name), arguments):
                return self.call(_CALLED.get(name, name), arguments)
        raise AssertionError(ast.dump(tree))

    def operand(self, tree: ast.expr, level: int, force: bool = False) -> t.Row:
        """An operand, in brackets where it binds less tightly, or by ``force`` no more so."""
        row, own = self.row(tree), _level(tree)
        return t.fenced(row, tight=True) if own < level or (force and own == level) else row

    def subscript(self, tree: ast.expr) -> t.Row:
        """``A[i][j]`` as a name with its indices."""
        at: list[t.Row] = []
        while isinstance(tree, ast.Subscript):
            at.insert(0, self.row(tree.slice))
            tree = tree.value
        assert isinstance(tree, ast.Name)
        return self.entry(tree.id, t.joined(at, t.COMMA))

    def binary(self, tree: ast.BinOp) -> t.Row:
        level = _level(tree)
        match tree.op:
            case ast.Div():
                return t.fraction(self.row(tree.left), self.row(tree.right))
            case ast.FloorDiv():
                below = t.fraction(self.row(tree.left), self.row(tree.right))
                return t.fenced(below, "⌊⌋")
            case ast.Pow():
                return t.index(self.operand(tree.left, level, True), above=self.row(tree.right))
        is_sum = isinstance(tree.op, ast.Add)
        left = self.operand(tree.left, level)
        right = self.operand(tree.right, level, not is_sum and not isinstance(tree.op, ast.Mult))
        match tree.op:
            case ast.Mod():
                return left + t.sign("%") + right
            case ast.Mult():
                # What a left-out option multiplies by, or adds, is nothing to read.
                return left if right == _ONE else left + _between(tree, left, right) + right
        return left if right == _ZERO else left + t.sign("+" if is_sum else "−") + right

    def cases(self, tree: ast.expr) -> list[tuple[t.Row, t.Row]]:
        """The values of a choice, each with its condition."""
        if not isinstance(tree, ast.IfExp):
            return [(self.row(tree) + t.COMMA, t.row(t.UprightName("otherwise")))]
        condition = t.row(t.UprightName("if"), t.Space(4), self.row(tree.test))
        return [(self.row(tree.body) + t.COMMA, condition), *self.cases(tree.orelse)]

    def call(self, name: str, arguments: list[ast.expr]) -> t.Row:
        match name, arguments:
            case "sum", [ast.GeneratorExp(body, generators)]:
                # A sum or a choice inside of a sum needs brackets.
                is_loose = (
                    isinstance(body, ast.IfExp | ast.UnaryOp) or _level(body) == _LEVELS[ast.Add]
                )
                inside = self.row(body)
                summed = t.fenced(inside, tight=True) if is_loose else inside
                return t.row(*map(self.total, generators), summed)
            case "sqrt", [argument]:
                return t.row(t.Radical(self.row(argument)))
            case "abs" | "magnitude", [argument]:
                return t.fenced(self.row(argument), "||", tight=True)
        if name in _UNARY:
            (argument,) = arguments
            is_power = isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Pow)
            if _level(argument) >= _LEVELS[ast.Call] and not is_power:
                return t.row(t.UprightName(name, True), t.THIN, self.row(argument))
        inside = t.joined(map(self.row, arguments), t.COMMA)
        return t.row(t.UprightName(name, True), t.fenced(inside, tight=True))

    def total(self, generator: ast.comprehension) -> t.Row:
        """The sign of a sum with its limits."""
        assert isinstance(generator.iter, ast.Call)
        *starts, stop = generator.iter.args
        first = self.row(starts[0]) if starts else _ZERO
        match stop:
            case ast.BinOp(left, ast.Add(), ast.Constant(1)):
                last = self.row(left)
            case ast.Name(name) if name in self.sizes:
                last = t.number(str(self.sizes[name] - 1))
            case _:
                last = self.row(stop) + t.sign("−") + _ONE
        below = self.row(generator.target) + t.EQUALS + first
        return t.row(t.Indexed(t.Limits("∑"), below, last))


def _level(tree: ast.expr) -> int:
    """Return how tightly an expression binds."""
    operator = tree.op if isinstance(tree, ast.BinOp | ast.UnaryOp) else tree
    return _LEVELS.get(type(operator), _ATOM)


def _is_number(row: t.Row) -> bool:
    return t.begins(row, t.Digits, t.Sign)


def _between(tree: ast.BinOp, left: t.Row, right: t.Row) -> t.Row:
    """Return what stands between two factors: a dot where they could be read as something else."""
    last, first = left.nodes[-1], right.nodes[0]
    if isinstance(first, t.Digits) or first == t.MINUS_INFINITY.nodes[0]:
        return t.DOT
    if isinstance(last, t.Digits) or (isinstance(last, t.Fenced) and last.tight):
        return t.DOT if isinstance(tree.left, ast.Call) else t.Row()
    is_tight = isinstance(first, t.Fenced) and first.tight
    is_call = isinstance(tree.left, ast.Call) or isinstance(tree.right, ast.Call)
    return t.DOT if is_call or is_tight else t.Row()


def of_step(node: Node, named: Named, row_sum: t.Row, first: int = 0) -> list[t.Row]:
    """The definitions that a step uses, as equations; none for a step that
    is put together from several operations. ``row_sum`` is what the sum over
    row i of a softmax is called."""
    operation, operands = _operation(node, named)
    if not operation or len(node.shape) != 2 or not _are_named(operands, named):
        return []
    letters = _letters(operation, operands, named)
    letters[definitions.RULES[operation][0]] = _letter_of(node, named)
    names = ("normaliser", operation) if operation in _NORMALISED else (operation,)
    sizes = _sizes(operands[0].grid, node.grid)
    return [equation(name, letters, sizes, {"Z": row_sum}, first) for name in names]


def _operation(node: Node, named: Named, by: Node | None = None) -> tuple[str, tuple[Node, ...]]:
    """The operation with a definition that a step is, and what it is of; nothing for another
    step. An operand that it is differentiated ``by`` is taken as it is."""
    match node.op, node.operands:
        case "matmul", (x, y) if _turned(y, named) and y is not by:
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
    # What is hidden by data stands in the step itself.
    if operation in ("", "mask") or user.serial not in gradients:
        return []
    if place >= len(operands) or operands[place] is not node:
        return []
    others = [operand for operand in operands if operand is not node]
    gradient = definitions.RULES[operation][1][place]
    if not gradient or not _are_named(others, named):
        return []
    letters = _letters(operation, operands, named) | {
        f"d{definitions.differentiated(gradient)}": _short(named, program.gradients[name]),
        definitions.RULES[operation][0]: _letter_of(user, named),
        "G": _short(named, gradients[user.serial]),
    }
    return [equation(gradient, letters, _sizes(operands[0].grid, user.grid), first=first)]


def jacobian(node: Node, named: Named) -> t.Row:
    """The definition of an entry of the softmax Jacobian."""
    letters = {"A": _letter_of(node, named), "S": _letter_of(node.operands[0], named)}
    return equation(definitions.JACOBIAN, letters, {})


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


def _turned(node: Node, named: Named) -> bool:
    return node.op == "transpose" and _is_named(node.operands[0], named)


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
    given = {quantity: _filled(shape) for quantity, shape in shapes.items() if quantity in used}
    try:
        laid = tape(given, {name: text}, functions=functions)
    except Malformed:
        return []
    known = {place: f.typeset_name(quantity) for quantity, place in laid.places.items()}
    last = laid.places[name]
    own = [
        place
        for place, line in enumerate(laid.lines)
        if line.where == f"steps.{name}" and line.operation in definitions.RULES
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
    letter = definitions.RULES[laid.lines[place].operation][0]
    return parameter(next((x for x in (letter, *_FREE) if x not in taken), letter))


def _filled(shape: Shape) -> object:
    """Ones: whole numbers for whatever the step takes them to be."""
    if not shape:
        return 1
    return [_filled(shape[1:]) for _ in range(shape[0])]


def _equations(
    laid: Tape, place: int, known: Mapping[int, t.Row], counted_from: int
) -> Iterator[t.Row]:
    """The definition of a line with its letters and sizes replaced, and before it that of the
    normalisers that it takes; nothing where something has no name."""
    line = laid.lines[place]
    letters = {definitions.RULES[line.operation][0]: known[place]}
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
