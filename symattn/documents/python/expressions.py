"""Expressions of a program as trees of the grammar, by what library functions mean."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice

from symattn.documents.python import library
from symattn.documents.python.code_values import (
    INFINITE,
    MASKED,
    UNKNOWN,
    Applied,
    Arguments,
    CodeScope,
    FollowedFunction,
    Items,
    UnknownValue,
    UnreadCode,
    Value,
    call,
    number,
    size,
)
from symattn.documents.python.source import ProgramSource
from symattn.documents.python.stores import dotted, is_library, last_name
from symattn.documents.text import Span
from symattn.documents.trees import Member, Named, Opaque, PrintedFigure
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape
from symattn.limits import FOLLOWED, NESTING, TOKENS

_NUMBER = re.compile(r"(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][+-]?[0-9]+)?")
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@",
}  # fmt: skip
#: Names of types of numbers.
_DTYPE = re.compile(r"(?:float|double|half|int|uint|long|bool|bfloat)[0-9_]*")
#: Names of those that keep no fractions.
_WHOLE = re.compile(r"(?:int|uint|long|bool)[0-9_]*")
#: Attributes that are the value itself, or its transpose.
_ITSELF = frozenset({"values", "data", "real", "A"})
_TRANSPOSED = frozenset({"T", "mT", "H", "mH"})

#: No expression with so many parts is an operand.
_LARGE = 5000
#: Functions whose numbers are each drawn by itself.
_DRAWS = re.compile(r"\b(?:rand|randn|random|normal|uniform)\Z")

#: What calls a function that the program defines with its arguments.
_Caller = Callable[[FollowedFunction, list[Value], dict[str, Value]], Value]


class ExpressionReader:
    """Reads expressions of one piece of a program; raises :class:`UnreadCode`.

    ``called`` follows functions that the program itself defines.
    """

    def __init__(self, source: ProgramSource, scope: CodeScope, called: _Caller) -> None:
        self.source = source
        self.scope = scope
        self.called = called
        self.parts = 0
        self.inside: Span | None = None

    @contextmanager
    def within(self, node: ast.JoinedStr | None) -> Iterator[None]:
        """Inside a formatted string, whose parts have no certain places of their own."""
        before = self.inside
        self.inside = self.span(node) if node else before
        try:
            yield
        finally:
            self.inside = before

    def span(self, node: ast.expr) -> Span:
        """The place of an expression."""
        return self.inside or self.source.span(node)

    def written(self, node: ast.expr) -> str:
        """An expression as it is written."""
        return ast.unparse(node) if self.inside else self.source.string(node)

    def value(self, node: ast.expr, depth: int = 0) -> Value:
        """Return what an expression stands for."""
        if depth > 2 * NESTING.most:
            raise UnreadCode
        depth += 1
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name(id=name):
                return self._name(name, node)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return self._items(items, node, depth)
            case ast.Dict(keys=keys, values=values):
                return self._dictionary(keys, values, node, depth)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._negative(node, operand, depth)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand, depth)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return library.negated(self.tree(operand, depth))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.truth(operand, depth)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return library.power(self.scope, self.tree(left, depth), self.value(right, depth))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self._binary(_OPERATORS[type(op)], left, right, depth)
            case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
                whole = self.scope.whole
                over, under = whole(self.value(left, depth)), whole(self.value(right, depth))
                if not under:
                    raise UnreadCode
                return number(str(over // under))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(left, op, right, depth)
            case ast.Attribute(value=value, attr=attribute):
                return self._attribute(node, value, attribute, depth)
            case ast.Subscript(value=value, slice=key):
                return subscripted(self, value, key, depth)
            case ast.Call():
                return self._call(node, depth)
            case (
                ast.ListComp(elt=element, generators=[loop])
                | ast.GeneratorExp(elt=element, generators=[loop])
            ) if not loop.ifs:
                return comprehended(self, element, loop, depth)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.value(body if self.truth(test, depth) else other, depth)
        raise UnreadCode

    def tried(self, node: ast.expr) -> Value:
        """Return what an expression stands for, known or not."""
        try:
            return self.value(node)
        except UnreadCode:
            return UNKNOWN

    def tree(self, node: ast.expr, depth: int = 0) -> syntax.Tree:
        """Return what an expression stands for, as a tree."""
        return self.scope.tree(self.value(node, depth))

    def truth(self, node: ast.expr, depth: int = 0) -> bool:
        """Return whether a condition holds, where that is plain."""
        match node:
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[right]):
                same = self.value(left, depth) is self.value(right, depth)
                return same is isinstance(op, ast.Is)
            case ast.Compare(left=ast.Name(id="__name__")):
                return True
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self.truth(part, depth) for part in parts)
            case ast.BoolOp(op=ast.Or(), values=parts):
                return any(self.truth(part, depth) for part in parts)
        value = self.value(node, depth)
        if value is None or isinstance(value, bool):
            return bool(value)
        return self.scope.whole(value) != 0

    def drawn_shape(self, node: ast.expr) -> Shape | None:
        """The shape of numbers that are drawn, where it is said."""
        if not isinstance(node, ast.Call):
            return None
        name = dotted(node.func)
        if not library.RANDOM.search(name) or not _DRAWS.search(name):
            return None
        sizes = [word.value for word in node.keywords if word.arg in ("size", "shape")]
        sizes = sizes or [part for part in node.args if isinstance(part, ast.Tuple)]
        if not sizes and not name.endswith(("rand", "randn")):
            return None
        listed = (
            sizes[-1].elts if sizes and isinstance(sizes[-1], ast.Tuple) else sizes or node.args
        )
        with suppress(UnreadCode):
            shape = tuple(self.scope.whole(self.value(size)) for size in listed)
            if 1 <= len(shape) <= 2 and min(shape) > 0:
                return shape
        return None

    def opaque(self, node: ast.expr, figures: tuple[PrintedFigure, ...] | None = None) -> Opaque:
        """An expression that is not understood, with its numbers, or those given."""
        numbers = self.figures(node) if figures is None else figures
        return Opaque(self.written(node)[:400], self.span(node), numbers)

    def figures(self, node: ast.AST) -> tuple[PrintedFigure, ...]:
        """The numbers that an expression prints: not those of sizes, axes and indices."""
        figures: list[PrintedFigure] = []
        waiting: list[ast.AST] = [node]
        while waiting:
            part = waiting.pop()
            match part:
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as operand):
                    figures += self._figure(operand, self.span(part), "-")
                case ast.Constant():
                    figures += self._figure(part, self.span(part))
                case ast.Subscript(value=value):
                    waiting.append(value)
                case ast.Call(func=function, args=arguments):
                    drawn = library.RANDOM.search(dotted(function))
                    waiting += [function, *([] if drawn else arguments)]
                case _:
                    waiting.extend(ast.iter_child_nodes(part))
        return tuple(sorted(figures, key=lambda figure: figure.span))

    def _figure(self, node: ast.Constant, span: Span, sign: str = "") -> list[PrintedFigure]:
        text = self.written(node)
        is_number = _NUMBER.fullmatch(text)
        return [PrintedFigure(sign + text.replace("_", ""), span)] if is_number else []

    # -- kinds of expressions ---------------------------------------------------------

    def _constant(self, node: ast.Constant) -> Value:
        if node.value is None or isinstance(node.value, bool | str):
            return node.value
        if figures := self._figure(node, self.span(node)):
            return figures[0]
        raise UnreadCode

    def _name(self, name: str, node: ast.expr) -> Value:
        if name in self.scope.stands_for:
            value = self.scope.stands_for[name]
            if value is UNKNOWN:
                raise UnreadCode
            if isinstance(value, Named):
                return replace(value, span=self.span(node))
            self._count(value)
            return value
        if name in ("inf", "Infinity"):
            return INFINITE
        return Named(name, self.span(node))

    def _count(self, value: Value) -> None:
        """Keep trees that stand for names from doubling without end."""
        if not isinstance(
            value, Items | Applied | FollowedFunction | UnknownValue | str | bool | None
        ):
            self.parts += size(value, TOKENS.most)
        if self.parts >= TOKENS.most:
            raise UnreadCode

    def _items(self, nodes: list[ast.expr], whole: ast.expr, depth: int) -> Value:
        values: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                starred = self.value(node.value, depth)
                if not isinstance(starred, Items):
                    raise UnreadCode
                values += starred.items
            else:
                values.append(self.value(node, depth))
        labels = tuple(self._labels(nodes, whole)) if len(values) == len(nodes) else ()
        return Items(tuple(values), self.span(whole), labels=labels if any(labels) else ())

    def _labels(self, nodes: list[ast.expr], whole: ast.expr) -> Iterator[str]:
        """The comments behind items, where each has a line of its own."""
        comments = self.source.comments
        lines = [node.end_lineno or 0 for node in nodes]
        alone = len(set(lines)) == len(lines) > 1 and all(
            isinstance(n, ast.List | ast.Tuple) for n in nodes
        )
        for line in lines:
            yield comments[line].string.strip() if alone and line in comments else ""

    def _dictionary(
        self, keys: list[ast.expr | None], values: list[ast.expr], node: ast.expr, depth: int
    ) -> Value:
        names: list[str] = []
        for key in keys:
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise UnreadCode
            names.append(key.value)
        items = tuple(self.value(value, depth) for value in values)
        return Items(items, self.span(node), keys=tuple(names))

    def _negative(self, node: ast.expr, operand: ast.expr, depth: int) -> Value:
        value = self.value(operand, depth)
        if value == INFINITE:
            return MASKED
        if isinstance(value, PrintedFigure) and isinstance(operand, ast.Constant):
            return PrintedFigure(f"-{value.text}", self.span(node))
        return syntax.Negative(_numeric(self.scope.tree(value)))

    def _binary(self, op: str, left: ast.expr, right: ast.expr, depth: int) -> Value:
        first, other = self.value(left, depth), self.value(right, depth)
        if op in "+*" and (
            (isinstance(first, Items) and isinstance(other, Items)) or _repeats(first, other)
        ):
            # Lists of Python are joined and repeated, not added.
            raise UnreadCode
        x, y = _numeric(self.scope.tree(first)), _numeric(self.scope.tree(other))
        if any(sum(1 for _ in islice(syntax.walk(side), _LARGE)) == _LARGE for side in (x, y)):
            # Each turn of a loop may double what an entry is.
            raise UnreadCode
        scaled = library.scaled_array(op, x, y, self.scope)
        if scaled is None and op == "*":
            scaled = library.scaled_array(op, y, x, self.scope)
        if scaled is not None:
            return scaled
        if op == "/":
            return library.simplified(syntax.Binary(op, x, y), self.scope)
        return library.added(x, y, self.scope) if op == "+" else syntax.Binary(op, x, y)

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr, depth: int) -> Value:
        """A mask held against 0 or 1, or numbers that are known against one."""
        keep, limit = self.tree(left, depth), self.tree(right, depth)
        with suppress(UnreadCode):
            x, y = (number(str(self.scope.whole(side))) for side in (keep, limit))
            return library.compared(x, op, y, self.scope)
        text = limit.text if isinstance(limit, syntax.Literal) else None
        certain = library.is_mask(keep, self.scope)
        if certain or (certain is None and isinstance(op, ast.Eq | ast.NotEq)):
            match op, text:
                case (ast.Eq(), "1" | "1.0") | (ast.NotEq() | ast.Gt(), "0" | "0.0"):
                    return keep
                case (ast.Eq(), "0" | "0.0") | (ast.NotEq() | ast.Lt(), "1" | "1.0"):
                    return library.negated(keep)
        return library.compared(keep, op, limit, self.scope)

    def _attribute(self, node: ast.expr, value: ast.expr, attribute: str, depth: int) -> Value:
        if self._is_library(value):
            constants = {
                "inf": INFINITE, "Inf": INFINITE, "infty": INFINITE, "newaxis": None,
                "e": call("exp", number("1")),
            }  # fmt: skip
            if attribute in constants:
                return constants[attribute]
            raise UnreadCode
        match value, attribute:
            case ast.Call(func=ast.Attribute(attr="finfo") | ast.Name(id="finfo")), "min":
                return MASKED
        if attribute in _TRANSPOSED:
            return library.flipped(self.tree(value, depth))
        if attribute == "shape":
            return library.sizes(self.scope, self.tree(value, depth))
        if attribute in _ITSELF:
            return self.value(value, depth)
        raise UnreadCode

    def _call(self, node: ast.Call, depth: int) -> Value:
        options = {word.arg: word.value for word in node.keywords if word.arg is not None}
        if len(options) != len(node.keywords):
            raise UnreadCode
        path = dotted(node.func)
        if library.RANDOM.search(path):
            raise UnreadCode
        name = path.rpartition(".")[2]
        values: list[Value] = []
        if isinstance(node.func, ast.Attribute) and not self._is_library(node.func.value):
            match name:
                case "items" | "values" | "keys" if not node.args:
                    return _part(self.value(node.func.value, depth), name)
            values.append(self.value(node.func.value, depth))
        elif isinstance(node.func, ast.Call):
            applied = self.value(node.func, depth)
            if not isinstance(applied, Applied):
                raise UnreadCode
            return self._apply(applied, node, depth)
        types = [
            operand for operand in (*node.args, options.get("dtype")) if operand and _type(operand)
        ]
        values.extend(self.value(operand, depth) for operand in node.args if operand not in types)
        named = {}
        for word, argument in options.items():
            if word not in ("dtype", "device", "requires_grad", "index", "columns", "copy"):
                named[word] = self.value(argument, depth)
        if isinstance(node.func, ast.Name):
            match self.scope.stands_for.get(name):
                case Applied() as applied:
                    return self._apply(applied, node, depth)
                case FollowedFunction() as function:
                    return self._defined(function, values, named)
            if name in self.scope.stands_for or name in self.scope.names:
                raise UnreadCode
        result = self._library(name, values, named, path)
        if any(_WHOLE.fullmatch(_type(operand)) for operand in types):
            result = self.scope.tree(result)
            if not library.is_whole(result, self.scope):
                raise UnreadCode
        return result

    def _apply(self, applied: Applied, node: ast.Call, depth: int) -> Value:
        values = [self.value(argument, depth) for argument in node.args]
        return self._library(applied.name, values, dict(applied.options), applied.name)

    def _defined(
        self, function: FollowedFunction, values: list[Value], named: dict[str, Value]
    ) -> Value:
        try:
            return self.called(function, values, named)
        except UnreadCode:
            # What it is called says it.
            name = function.node.name
            if not re.fullmatch(r"_?(?:stable_|row_|numpy_|np_|my_)?softmax(?:_\w+)?", name):
                raise
            return self._library("softmax", values, named, name)

    def _library(self, name: str, values: list[Value], named: dict[str, Value], path: str) -> Value:
        function = library.FUNCTIONS.get(name)
        if function is None:
            raise UnreadCode
        given = Arguments(self.scope, values, named, path)
        result = function(given)
        if not given.is_spent:
            raise UnreadCode
        return result

    def _is_library(self, node: ast.expr) -> bool:
        """Return whether an expression is a library, or a part of one."""
        return is_library(node) and dotted(node).partition(".")[0] not in self.scope.shapes


def _numeric(tree: syntax.Tree) -> syntax.Tree:
    """Return what can be computed with: infinite numbers can't."""
    if tree in (MASKED, INFINITE):
        raise UnreadCode
    return tree


def _part(dictionary: Value, part: str) -> Items:
    """The keys of a dictionary, its values, or both in pairs."""
    if not isinstance(dictionary, Items) or not dictionary.keys:
        raise UnreadCode
    if part == "keys":
        return Items(dictionary.keys)
    if part == "values":
        return Items(dictionary.items, dictionary.span, labels=dictionary.keys)
    return Items(tuple(map(Items, zip(dictionary.keys, dictionary.items, strict=True))))


def _repeats(first: Value, other: Value) -> bool:
    """Return whether one of the two is a list, and the other a number."""
    for values, times in ((first, other), (other, first)):
        if isinstance(values, Items) and isinstance(times, syntax.Literal):
            return True
    return False


def _type(node: ast.expr) -> str:
    """The type of numbers that an expression names, or nothing."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name if _DTYPE.fullmatch(name) else ""
    return ""


# -- loops, comprehensions, entries ------------------------------------------------------
# What loops run over, and those that fill an array as the one expression that they are; entries,
# rows and parts of arrays and lists, as programs write them.

#: Functions of an entry are those of a row, with one more.
_ROWWISE = (*library.ENTRYWISE, "softmax")
#: Stands for each entry of an array.
_EACH = Named("each entry")


def take(target: ast.expr, value: Value, scope: CodeScope) -> None:
    """Let the names that a loop assigns stand for one of its values."""
    match target:
        case ast.Name(id=name):
            scope.stands_for[name] = value
        case ast.Tuple(elts=targets) if isinstance(value, Items) and len(targets) == len(
            value.items
        ):
            for part, item in zip(targets, value.items, strict=True):
                take(part, item, scope)
        case _:
            raise UnreadCode


def rounds(reader: ExpressionReader, node: ast.expr) -> Iterator[Value]:
    """Yield what a loop runs over, one value after the other."""
    match node:
        case ast.Call(func=ast.Name(id="enumerate"), args=[of, *start], keywords=named):
            start += [word.value for word in named]
            first = reader.scope.whole(reader.value(start[0])) if start else 0
            for place, value in enumerate(rounds(reader, of), first):
                yield Items((number(str(place)), value))
            return
        case ast.Call(func=ast.Name(id="zip"), args=parts):
            for values in zip(*(list(rounds(reader, part)) for part in parts), strict=False):
                yield Items(values)
            return
    sequence = reader.value(node)
    if isinstance(sequence, Items):
        yield from sequence.keys or sequence.items
        return
    tree = reader.scope.tree(sequence)
    shape = reader.scope.shape(tree)
    if not shape:
        raise UnreadCode
    for i in range(min(shape[0], FOLLOWED.most)):
        yield tree.items[i] if isinstance(tree, syntax.Array) else syntax.Indexed(tree, (i,))


def comprehended(
    reader: ExpressionReader, element: ast.expr, loop: ast.comprehension, depth: int
) -> Value:
    """``[element for target in iter]``: what is done to all entries of an array at once,
    or one after the other."""
    scope = reader.scope
    with scope.restored():
        with suppress(UnreadCode):
            whole = reader.tree(loop.iter, depth)
            take(loop.target, _EACH, scope)
            return _for_each(reader.tree(element, depth), whole, scope)
        values: list[Value] = []
        for turn in rounds(reader, loop.iter):
            scope.follow()
            take(loop.target, turn, scope)
            values.append(reader.value(element, depth))
        return Items(tuple(values))


def _for_each(tree: syntax.Tree, whole: syntax.Tree, scope: CodeScope) -> syntax.Tree:
    """Return what is done to each entry of an array, done to the array."""

    def leaf(part: syntax.Tree) -> syntax.Tree | None:
        if part == _EACH:
            return whole
        if part == syntax.Call("softmax", (_EACH,)):
            return syntax.Call("softmax", (whole,))
        if _EACH.name in syntax.names(part):
            return None
        if scope.shape(part) != ():
            raise UnreadCode
        return part

    return _throughout(tree, leaf, library.ENTRYWISE, scope)


def _throughout(
    tree: syntax.Tree,
    leaf: Callable[[syntax.Tree], syntax.Tree | None],
    functions: Collection[str],
    scope: CodeScope,
) -> syntax.Tree:
    """A tree of what works on each entry by itself, and of certain functions, with other
    leaves."""
    if (whole := leaf(tree)) is not None:
        return whole
    match tree:
        case syntax.Call(function, (_,), ()) if function in functions:
            pass
        case syntax.Binary(op) if op != "@":
            pass
        case syntax.Negative():
            pass
        case _:
            raise UnreadCode
    inner = syntax.mapped(tree, lambda part: _throughout(part, leaf, functions, scope))
    return library.simplified(inner, scope)


def filled(entries: Mapping[tuple[syntax.Key, ...], Member]) -> syntax.Tree | None:
    """The one tree whose rows, or entries, are those; None where there is none.

    >>> from symattn.expressions.syntax import parse, text
    >>> scores = {(i, j): parse(f"Q[{i}] @ K[{j}] / 2") for i in range(2) for j in range(2)}
    >>> text(filled(scores))
    'Q @ K.T / 2'
    """
    common: syntax.Tree | None = None
    for keys, tree in entries.items():
        whole = None
        with suppress(UnreadCode):
            whole = None if isinstance(tree, Opaque) else _lifted(tree, keys)
        if whole is None or (common is not None and whole != common):
            return None
        common = whole
    return common


def _lifted(tree: syntax.Tree, keys: tuple[syntax.Key, ...]) -> syntax.Tree:
    """Return what gives a row, or an entry, by itself, as what gives all of them."""
    functions = _ROWWISE if len(keys) == 1 else library.ENTRYWISE

    def leaf(part: syntax.Tree) -> syntax.Tree | None:
        match part:
            case syntax.Indexed(operand, at) if at == keys:
                return operand
            case syntax.Binary("@", syntax.Indexed(left, (i,)), syntax.Indexed(right, (j,))) if (
                keys == (i, j)
            ):
                return syntax.Binary("@", left, syntax.Transposed(right))
            case syntax.Binary("@", left, syntax.Name() as right) if len(keys) == 1:
                return syntax.Binary("@", _lifted(left, keys), right)
            case syntax.Literal() | syntax.Name() | syntax.Call("rows" | "cols"):
                return part
        return None

    return _throughout(tree, leaf, functions, CodeScope())


def subscripted(reader: ExpressionReader, value: ast.expr, key: ast.expr, depth: int) -> Value:
    """Return what ``value[key]`` stands for."""
    scope = reader.scope
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        tree = reader.tree(value.value, depth)
        axis = scope.whole(reader.value(key, depth))
        return library.size(tree, -1 if scope.rank(tree) == 1 else axis)
    operand = reader.value(value, depth)
    if isinstance(operand, Items) and not isinstance(key, ast.Slice | ast.Tuple):
        return _item(operand, reader.value(key, depth), scope)
    tree = scope.tree(operand)
    keys = key.elts if isinstance(key, ast.Tuple) else [key]
    match tree, keys:
        case syntax.Indexed(syntax.Call("rowsum" | "rowmax") as column, (syntax.Slice(), 0)), [
            ast.Slice(),
            ast.Constant(value=None) | ast.Attribute(attr="newaxis"),
        ]:
            return column
        case syntax.Call("rowmax"), [ast.Constant(value=0)]:
            # PyTorch gives the largest beside their places.
            return tree
    match [ast.unparse(part).rpartition(".")[2] for part in keys]:
        case ["None" | "newaxis"] | ["None" | "newaxis", ":"]:
            return library.expanded(scope, tree, 0)
        case [":", "None" | "newaxis"]:
            return library.expanded(scope, tree, 1)
    indices = tuple(_key(reader, part, depth) for part in _full(keys, scope.rank(tree) or 2))
    if (
        isinstance(tree, syntax.Indexed)
        and len(tree.keys) == len(indices) == 1
        and isinstance(tree.keys[0], int)
    ):
        return syntax.Indexed(tree.operand, (*tree.keys, *indices))
    return syntax.Indexed(tree, indices)


def _full(keys: list[ast.expr], rank: int) -> list[ast.expr]:
    """Keys without an ellipsis: it stands for all entries along the axes left out."""
    dots = (k for k, key in enumerate(keys) if isinstance(key, ast.Constant) and key.value is ...)
    at = next(dots, None)
    if at is None:
        return keys
    whole: list[ast.expr] = [ast.Slice()] * (rank - len(keys) + 1)
    return [*keys[:at], *whole, *keys[at + 1 :]]


def _item(items: Items, key: Value, scope: CodeScope) -> Value:
    if isinstance(key, str) and key in items.keys:
        return items.items[items.keys.index(key)]
    place = scope.whole(key)
    if not -len(items.items) <= place < len(items.items):
        raise UnreadCode
    return items.items[place]


def _key(reader: ExpressionReader, node: ast.expr, depth: int) -> syntax.Key:
    def whole(bound: ast.expr) -> int:
        return reader.scope.whole(reader.value(bound, depth))

    if not isinstance(node, ast.Slice):
        return whole(node)
    bounds = (node.lower, node.upper, node.step)
    limits = [None if bound is None else whole(bound) for bound in bounds]
    if limits[2] == 0:
        raise UnreadCode
    return syntax.Slice(*limits)


def is_entry(key: ast.expr, meaning: Value) -> bool:
    """Return whether a key is that of an entry or a row, not of all that a mask names."""
    if isinstance(key, ast.Tuple):
        return not any(isinstance(part, ast.Slice) for part in key.elts)
    if isinstance(key, ast.Name):
        return meaning != MASKED
    return isinstance(key, ast.Constant | ast.BinOp) or (
        isinstance(key, ast.UnaryOp) and not isinstance(key.op, ast.Invert | ast.Not)
    )


def is_of_integers(reader: ExpressionReader, value: ast.expr) -> bool:
    """Return whether fractions are lost where an empty array is filled with them."""
    match value:
        case ast.Call(func=function, args=[like, *_], keywords=[]) if "_like" in last_name(
            function
        ):
            return library.are_integers(reader.tree(like), reader.scope)
    return "int" in reader.written(value)
