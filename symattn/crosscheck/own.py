"""The functions that a case defines: heads and bodies, read anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from symattn.crosscheck.reader import Expression, expression
from symattn.errors import Faults, Malformed

#: Names that have a meaning of their own, and are no parameters.
_MEANT = ("pi", "inf", "True", "False", "None")


@dataclass(frozen=True)
class OwnFunction:
    """A function: its parameters, each with its default or None, and what it gives."""

    parameters: Mapping[str, Expression | None]
    body: Expression


def own_functions(definitions: Mapping[str, str]) -> dict[str, OwnFunction]:
    """The functions by name, of heads such as ``f(x, a=1)`` and bodies; to a head that is a
    name alone the names in the body are the parameters, in their order.

    >>> own_functions({"f": "x * tanh(a / x)"})["f"].parameters
    {'x': None, 'a': None}
    """
    functions: dict[str, OwnFunction] = {}
    faults = Faults()
    for head, text in definitions.items():
        with faults.inside(f"functions.{head}"):
            tree, body = expression(head), expression(text)
            if tree.operation == "name":
                parameters = dict.fromkeys(_names(body))
            elif tree.operation == "call" and all(x.operation == "name" for x in tree.operands):
                told = dict.fromkeys(operand.text for operand in tree.operands)
                parameters = {**told, **dict(tree.options)}
            else:
                raise Malformed("expected a name with its parameters")
            functions[tree.text] = OwnFunction(parameters, body)
    faults.raise_all()
    return functions


def arguments(call: Expression, function: OwnFunction) -> dict[str, Expression]:
    """What a call gives for each parameter."""
    name, known = call.text, function.parameters
    if len(call.operands) > len(known):
        raise Malformed(f"{name} takes {len(known)} arguments, found {len(call.operands)}")
    given = dict(zip(known, call.operands, strict=False))
    for option, tree in call.options:
        if option in given or option not in known:
            raise Malformed(f"{name} takes no {option!r}, or has it already")
        given[option] = tree
    for parameter, default in known.items():
        if parameter not in given:
            if default is None:
                raise Malformed(f"{name} needs {parameter}")
            given[parameter] = default
    return given


def put_in(tree: Expression, given: Mapping[str, Expression]) -> Expression:
    """A tree with others in the places of names."""
    if tree.operation == "name":
        return given.get(tree.text, tree)
    return replace(
        tree,
        operands=tuple(put_in(part, given) for part in tree.operands),
        options=tuple((name, put_in(part, given)) for name, part in tree.options),
    )


def _names(tree: Expression) -> Iterator[str]:
    if tree.operation == "name" and tree.text not in _MEANT:
        yield tree.text
    for part in (*tree.operands, *(part for _, part in tree.options)):
        yield from _names(part)
