"""Functions of one's own: a head with its parameters, and what they make.

A call is lowered with its body's parameters standing for its arguments, so that all
arithmetics, gradients and slips come from the definition; the node remembers the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from symattn.errors import Malformed, expected, short
from symattn.expressions import syntax
from symattn.limits import NESTED_CALLS, WRITTEN_OUT
from symattn.programs import nodes
from symattn.programs.nodes import Node, WrittenCall


@dataclass(frozen=True, repr=False)
class OwnFunction:
    """A function of one's own; made by :func:`symattn.function`.

    ``parameters`` are in order, each with its default or None; ``text`` is the
    ``body`` as it was written, ``key`` the head.
    """

    name: str
    parameters: Mapping[str, syntax.Tree | None]
    body: syntax.Tree
    key: str
    text: str

    @property
    def head(self) -> str:
        """Return how it is called: ``lrelu(x, slope=0.01)``."""
        shown = (
            name if default is None else f"{name}={syntax.text(default)}"
            for name, default in self.parameters.items()
        )
        return f"{self.name}({', '.join(shown)})"

    def __repr__(self) -> str:
        return f"<OwnFunction: {short(f'{self.head} = {self.text}', 100)}>"

    def called(
        self,
        call: syntax.Call,
        lower: Callable[[syntax.Tree], Node],
        within: Callable[[Mapping[str, Node], syntax.Tree], Node],
    ) -> Node:
        """The node of a call: that of the body ``within`` the nodes of its operands, in which
        numbers and words stand as they are written, as exponents and options must.

        Raises :class:`Malformed` for arguments that don't fit.
        """
        given = self.given(call)
        words = {name: tree for name, tree in given.items() if isinstance(tree, syntax.Word)}
        # Operands have smaller serial numbers than what is made of them.
        operands = {name: lower(tree) for name, tree in given.items() if name not in words}
        plain = {
            name: tree
            for name, default in self.parameters.items()
            if (tree := given.get(name, default)) is not None and is_plain(tree)
        }
        body = syntax.renamed(self.body, lambda name: plain.get(name, syntax.Name(name)))
        try:
            node = within({name: operands[name] for name in operands.keys() - plain}, body)
        except Malformed as error:
            raise Malformed(f"{self.name}: {error}") from None
        if node.written is not None or any(node is operand for operand in operands.values()):
            node = nodes.copy(node)
        labels = {name: name if name in dict(call.options) else "" for name in given}
        written = WrittenCall(
            self.name,
            tuple(operands.values()),
            tuple(labels[name] for name in operands),
            tuple((labels[name], word) for name, word in words.items()),
            is_own=True,
        )
        return replace(node, written=written)

    def in_letters(
        self, call: WrittenCall, within: Callable[[Mapping[str, Node], syntax.Tree], Node]
    ) -> Node:
        """The body in letters of its parameters, in the shapes of a call's operands.

        Raises :class:`Malformed` where a parameter stands for a word, or an exponent.
        """
        if call.options or any(isinstance(tree, syntax.Word) for tree in self.parameters.values()):
            raise Malformed(f"{self.name} takes words")
        in_order = iter(self.parameters)
        shapes = {
            label or next(in_order): operand.shape
            for label, operand in zip(call.labels, call.operands, strict=True)
        }
        letters = {name: nodes.given(name, shapes.get(name, ())) for name in self.parameters}
        return within(letters, self.body)

    def given(self, call: syntax.Call) -> dict[str, syntax.Tree]:
        """The arguments of a call by parameter; raises :class:`Malformed` where they don't fit.

        >>> same = OwnFunction("f", {"x": None, "a": syntax.Word("b")}, syntax.Name("x"), "f", "x")
        >>> same.given(syntax.Call("f", (syntax.Name("S"),)))
        {'x': Name(name='S')}
        """
        if len(call.arguments) > len(self.parameters):
            most, found = len(self.parameters), len(call.arguments)
            raise Malformed(f"{self.head} takes at most {most}, found {found}")
        given = dict(zip(self.parameters, call.arguments, strict=False))
        for name, tree in call.options:
            if name not in self.parameters:
                message = f"{self.name} has no parameter {short(name)!r}"
                raise Malformed(f"{message}: {expected(name, self.parameters)}")
            if name in given:
                raise Malformed(f"{self.name}: {name} is given twice")
            given[name] = tree
        if missing := [
            name
            for name, default in self.parameters.items()
            if default is None and name not in given
        ]:
            count = f"{len(call.arguments)} argument" + "s" * (len(call.arguments) != 1)
            raise Malformed(f"{self.head} needs {' and '.join(missing)}, found {count}")
        return given


def is_plain(tree: syntax.Tree) -> bool:
    """Return whether an argument is a word, a number or a fraction, written out.

    >>> [is_plain(syntax.parse(text)) for text in ("-2", "1/2", "x", "1 + 1")]
    [True, True, False, False]
    """
    match tree:
        case syntax.Negative(number) | syntax.Binary("/", number, syntax.Literal()):
            return isinstance(number, syntax.Literal)
    return isinstance(tree, syntax.Literal | syntax.Word)


def calls(tree: syntax.Tree) -> Iterator[str]:
    """The functions that a tree calls.

    >>> list(calls(syntax.parse("softmax(S) @ mish(V)")))
    ['softmax', 'mish']
    """
    return (part.function for part in syntax.walk(tree) if isinstance(part, syntax.Call))


#: How many parts a tree has, and how deep it is.
Size = tuple[int, int]


def need_short(tree: syntax.Tree, functions: Mapping[str, OwnFunction]) -> None:
    """Raises :class:`Malformed` where a tree is too long with its functions written out, which
    may double with every one: they must not be made of themselves.

    >>> twice = OwnFunction("f", {"x": None}, syntax.parse("x + x"), "f", "x + x")
    >>> need_short(syntax.parse("f(" * 30 + "x" + ")" * 30), {"f": twice})
    """
    if functions.keys().isdisjoint(calls(tree)):
        return
    count, depth = _size(tree, functions, {})
    if count > WRITTEN_OUT.most:
        raise Malformed(WRITTEN_OUT.said(count))
    if depth > NESTED_CALLS.most:
        raise Malformed(NESTED_CALLS.said())


def _size(tree: syntax.Tree, functions: Mapping[str, OwnFunction], known: dict[str, Size]) -> Size:
    own = functions.get(tree.function) if isinstance(tree, syntax.Call) else None
    if own is not None and own.name not in known:
        known[own.name] = _size(own.body, functions, known)
    count, depth = known[own.name] if own is not None else (0, 0)
    # The numbers of an array make no tree deeper, and there may be many.
    inside = () if isinstance(tree, syntax.Array) else syntax.inside(tree)
    parts = [_size(part, functions, known) for part in inside]
    return (
        1 + count + sum(part for part, _ in parts),
        1 + depth + max((part for _, part in parts), default=0),
    )
