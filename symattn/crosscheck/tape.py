"""The steps laid out as a tape: trees become lines, names and heads their places."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from symattn.crosscheck import reader
from symattn.crosscheck.calls import ALIASES, FUNCTIONS
from symattn.crosscheck.lines import Place, TapeLine, TapeLines
from symattn.crosscheck.reader import Expression, expression
from symattn.crosscheck.scalars import PI, UNKNOWN, Tracked
from symattn.errors import Faults, Malformed, expected
from symattn.limits import RECOMPUTED

# -- the functions that a case defines ---------------------------------------------------
# Heads and bodies, read anew.

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
                named = (x.text for x in _walk(body) if x.operation == "name")
                parameters = dict.fromkeys(name for name in named if name not in _MEANT)
            elif tree.operation == "call" and all(x.operation == "name" for x in tree.operands):
                told = dict.fromkeys(operand.text for operand in tree.operands)
                parameters = {**told, **dict(tree.options)}
            else:
                raise Malformed("expected a name with its parameters")
            functions[tree.text] = OwnFunction(parameters, body)
    faults.raise_all()
    return functions


def arguments(call: Expression, function: OwnFunction) -> dict[str, Expression]:
    """Return what a call gives for each parameter."""
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


def _walk(tree: Expression) -> Iterator[Expression]:
    yield tree
    for part in _inside(tree):
        yield from _walk(part)


def _inside(tree: Expression) -> Iterator[Expression]:
    yield from tree.operands
    yield from (argument for _, argument in tree.options)


# -- tape --------------------------------------------------------------------------------

#: The functions of heads, which the tape itself follows.
_HEADS = ("heads", "merge")


@dataclass(frozen=True)
class Tape:
    """The lines in order, and the line of each named quantity."""

    lines: tuple[TapeLine, ...]
    places: Mapping[str, Place]

    @property
    def named(self) -> frozenset[Place]:
        """The lines of the named quantities."""
        return frozenset(self.places.values())

    def uses(self, line: Place) -> set[Place]:
        """The lines that ``line`` is computed from, itself included."""
        used = {line}
        for place in range(line, -1, -1):
            if place in used:
                used.update(self.lines[place].operands)
        return used

    def beyond(self) -> dict[Place, int]:
        """The products of matrices that are not recomputed, as with them there would be too
        many products of numbers: how many."""
        beyond: dict[Place, int] = {}
        total = 0
        for place, line in enumerate(self.lines):
            if line.operation in ("product", "score", "scaled_score", "additive"):
                rows, columns = line.grid
                formed = rows * columns * self.lines[line.operands[0]].grid[1]
                if total + formed > RECOMPUTED.most:
                    beyond[place] = total + formed
                else:
                    total += formed
        return beyond


def tape(
    given: Mapping[str, object],
    steps: Mapping[str, str],
    output: str = "",
    upstream: object | None = None,
    functions: Mapping[str, str] | None = None,
) -> Tape:
    """The tape of a case; :class:`~symattn.errors.Malformed` lists all faults.

    A step that uses a faulty quantity is passed over: it is no fault of its own.
    ``output`` and ``upstream`` are those of the loss, which steps may differentiate;
    ``functions`` are those of the case, heads and bodies.

    >>> laid = tape({"Q": [[1, 2]]}, {"S": "Q @ Q.T"})
    >>> [line.operation for line in laid.lines], laid.lines[1].shape
    (['entries', 'score'], (1, 1))
    """
    writer, faults = _Writer(output, upstream, own_functions(functions or {})), Faults()
    known: set[str] = set()
    sound: set[str] = set()
    for name, raw in given.items():
        writer.where = f"given.{name}"
        with faults.inside(writer.where):
            writer.check_name(name)
            shape, rows = reader.nested(raw, reader.number)
            entries = tuple(map(tuple, rows))
            writer.places[name] = writer.add("entries", (), shape, entries=entries)
            sound.add(name)
        known.add(name)
    for name, text in steps.items():
        writer.where = f"steps.{name}"
        with faults.inside(writer.where):
            writer.check_name(name)
            tree = reader.expression(text)
            used = {x.text for x in _walk(tree) if x.operation in ("name", "gradient")}
            if used.isdisjoint(known - sound):
                writer.quantity(name, tree)
                sound.add(name)
        known.add(name)
    faults.raise_all()
    return Tape(tuple(writer.lines), writer.places)


#: Factors of a power that is written as one.
_PRODUCTS = 50


class _Writer(TapeLines):
    """Writes steps as lines; quantities of several heads have a line for each."""

    def __init__(
        self, output: str, upstream: object | None, functions: Mapping[str, OwnFunction]
    ) -> None:
        super().__init__()
        self.functions = functions
        self.places: dict[str, Place] = {}
        self.output, self.upstream = output, upstream
        #: How many heads a quantity has, and which head of how many is being written.
        self.heads: dict[str, int] = {}
        self.head = 0, 1

    def check_name(self, name: str) -> None:
        if not (name.isidentifier() and name.isascii()):
            raise Malformed(f"{name!r} is no name: expected a letter, then letters, digits and _")
        if name in self.places or name in self.heads:
            raise Malformed(f"the name {name!r} is taken")

    def quantity(self, name: str, tree: Expression) -> None:
        """The line of a named quantity, which is never that of another one."""
        count = self.count(tree)
        for head in range(max(count, 1)):
            self.head = head, max(count, 1)
            line = self.write(tree)
            if line in self.places.values():
                line = self.add("copy", (line,), self.shape(line))
            numbered = f"{name}_{head}" if count else name
            self.check_name(numbered)
            self.places[numbered] = line
        if count:
            self.heads[name] = count
        self.head = 0, 1

    def count(self, tree: Expression) -> int:
        """Return how many heads a step has; 0 where it is of none."""
        if tree.operation == "name":
            return self.heads.get(tree.text, 0)
        if tree.operation == "call" and tree.text == "merge":
            return 0
        if tree.operation == "call" and tree.text == "heads":
            return self.divided(tree)[1]
        counts = [self.count(part) for part in _inside(tree)]
        most = max(counts, default=0)
        if any(count and most % count for count in counts):
            raise Malformed(f"{most} heads don't fit {min(filter(None, counts))}")
        return most

    def write(self, tree: Expression) -> Place:
        match tree.operation:
            case "number":
                return self.number(reader.number(tree.text))
            case "entries":
                shape, rows = reader.nested(tree.rows, lambda entry: entry)
                return self.add("entries", (), shape, entries=tuple(map(tuple, rows)))
            case "name":
                return self.name(tree.text)
            case "line":
                (line,) = tree.keys
                assert isinstance(line, int)
                return line
            case "negation" if self.is_infinity(tree.operands[0]):
                return self.number(-float("inf"))
            case "product":
                left, right = tree.operands
                turned = right.operation == "transpose"
                a = self.write(left)
                return self.product(a, self.write(right.operands[0] if turned else right), turned)
            case "quotient" if (width := _rooted(tree.operands[1])) is not None:
                return self.scaled(self.write(tree.operands[0]), self.write(width))
            case "power":
                return self.power(tree)
            case "selection":
                return self.selection(self.write(tree.operands[0]), tree.keys)
            case "transpose":
                return self.turned(self.write(tree.operands[0]))
            case "gradient":
                return self.gradient(tree)
            case "call":
                return self.call(tree)
            case "word":
                raise Malformed(f"a word has no meaning here: {tree.text!r}")
        return self.entrywise(tree.operation, *map(self.write, tree.operands))

    def name(self, name: str) -> Place:
        if name in self.heads:
            head, count = self.head
            name = f"{name}_{head // (count // self.heads[name])}"
        if name not in self.places:
            if name == "pi":
                return self.number(PI)
            known = ", ".join(self.places) or "none yet"
            raise Malformed(f"unknown name {name!r}: expected one of {known}")
        return self.places[name]

    def is_infinity(self, tree: Expression) -> bool:
        return tree.operation == "name" and tree.text == "inf" and "inf" not in self.places

    def scaled(self, scores: Place, width: Place) -> Place:
        """A quotient by a square root."""
        if not self.shape(width):
            return self.add("scaled_score", (scores, width), self.shape(scores))
        return self.entrywise(
            "quotient", scores, self.add("square_root", (width,), self.shape(width))
        )

    def power(self, tree: Expression) -> Place:
        base, exponent = tree.operands
        line = self.write(base)
        if _is_half(exponent):
            return self.add("square_root", (line,), self.shape(line))
        power = self.whole(exponent)
        if abs(power) > reader.MAX_POWER:
            raise Malformed(f"the power {power} is beyond {reader.MAX_POWER}")
        return self.raised(line, power)

    def raised(self, line: Place, power: int) -> Place:
        """A whole power, a large one as a power of powers: NumPy takes those of complex numbers
        from 100 on by their angles, and a multiple of that of a negative number is off."""
        if abs(power) <= _PRODUCTS:
            return self.add("power", (line,), self.shape(line), sizes={"p": power})
        many, few = divmod(abs(power), _PRODUCTS)
        whole = self.raised(self.raised(line, _PRODUCTS), many)
        if few:
            whole = self.entrywise("times", whole, self.raised(line, few))
        return whole if power > 0 else self.raised(whole, -1)

    def whole(self, tree: Expression) -> int:
        """A whole number that is known: written out, given, a size, or a sum of such."""
        parts = tree.operands
        match tree.operation:
            case "negation":
                return -self.whole(parts[0])
            case "addition" | "subtraction" | "times":
                left, right = map(self.whole, parts)
                sign = {"addition": left + right, "subtraction": left - right}
                return sign.get(tree.operation, left * right)
        line = self.lines[self.write(tree)]
        while line.operation == "copy":
            line = self.lines[line.operands[0]]
        if line.operation == "entries" and not line.shape:
            ((entry,),) = line.entries
            if not entry.error and entry.value.is_integer():
                return int(entry.value)
        raise Malformed("expected a whole number that is written out or given")

    def call(self, tree: Expression) -> Place:
        """Return what a function of steps writes, with its arguments read as it takes them."""
        if tree.text == "heads":
            return self.part(*self.divided(tree))
        if tree.text == "merge":
            return self.merged(tree)
        if tree.text in self.functions:
            return self.own(tree)
        if tree.text not in FUNCTIONS:
            known = (*FUNCTIONS, *self.functions, *_HEADS, "grad")
            raise Malformed(f"no function {tree.text!r}: {expected(tree.text, known)}")
        function = FUNCTIONS[tree.text]
        signature = inspect.signature(function)
        options = {ALIASES.get(name, name): argument for name, argument in tree.options}
        try:
            bound = signature.bind(self, *tree.operands, **options)
        except TypeError as error:
            taken = ", ".join(list(signature.parameters)[1:])
            raise Malformed(f"{tree.text} takes {taken}: {error}") from None
        for name, operand in list(bound.arguments.items())[1:]:
            kind = signature.parameters[name].annotation
            bound.arguments[name] = (
                tuple(self.argument(kind, item, name) for item in operand)
                if isinstance(operand, tuple)
                else self.argument(kind, operand, name)
            )
        return function(*bound.args, **bound.kwargs)

    def own(self, tree: Expression) -> Place:
        """Return what the body of a function of the case writes: numbers and words as they stand in
        the call, for other arguments their lines."""
        given = {
            parameter: part if _stands(part) else Expression("line", keys=(self.write(part),))
            for parameter, part in arguments(tree, self.functions[tree.text]).items()
        }
        # A body knows no quantities of the case, and isn't made of itself.
        outer = self.places, self.functions
        body = self.functions[tree.text].body
        others = {name: own for name, own in self.functions.items() if name != tree.text}
        self.places, self.functions = {}, others
        try:
            return self.write(put_in(body, given))
        finally:
            self.places, self.functions = outer

    def argument(self, kind: str, tree: Expression, name: str) -> Any:
        """An argument as the function's type says that it is taken."""
        words = {"None": None, "True": True, "False": False}
        match kind.split(" | "):
            case ["Place", *_]:
                return self.write(tree)
            case ["Whole"]:
                return self.whole(tree)
            case ["Word"] if tree.operation in ("word", "name"):
                return tree.text
            case ["Flag"] if tree.operation == "name" and tree.text in ("True", "False"):
                return words[tree.text]
            case ["Axis", *rest] if rest and tree == Expression("name", text="None"):
                return None
            case ["Axis", *_]:
                axis = self.whole(tree)
                if axis in (-1, 0, 1):
                    return abs(axis)
                raise Malformed(f"axis expects 0, 1 or -1, found {axis}")
        wanted = "a quoted word" if kind == "Word" else "True or False"
        raise Malformed(f"{name} expects {wanted}")

    def divided(self, tree: Expression) -> tuple[Expression, int]:
        """Return what ``heads`` divides, and into how many."""
        if len(tree.operands) != 2 or tree.options:
            raise Malformed("heads expects a matrix and the number of heads")
        matrix, count = tree.operands[0], self.whole(tree.operands[1])
        if count < 1:
            raise Malformed(f"heads expects at least 1, found {count}")
        return matrix, count

    def part(self, tree: Expression, fewer: int) -> Place:
        """The columns of the head that is being written."""
        line = self.write(tree)
        width = self.matrix(line, "heads")[1]
        if width % fewer:
            raise Malformed(f"{width} columns can't be divided into {fewer} heads of equal width")
        head, count = self.head
        own, each = head // (count // fewer), width // fewer
        return self.selection(line, (slice(None), slice(own * each, (own + 1) * each)))

    def merged(self, tree: Expression) -> Place:
        """The heads side by side."""
        if len(tree.operands) != 1 or tree.options:
            raise Malformed("merge expects one quantity")
        (inner,) = tree.operands
        count, outer = self.count(inner), self.head
        if not count:
            raise Malformed("merge expects a quantity of several heads")
        parts = []
        for head in range(count):
            self.head = head, count
            parts.append(self.write(inner))
        self.head = outer
        return reduce(lambda left, right: self.joined(left, right, 1), parts)

    def gradient(self, tree: Expression) -> Place:
        """The gradient of the loss, or of a number, with respect to a quantity."""
        wanted = self.name(tree.text)
        output = tree.operands[0].text if tree.operands else self.output
        if not output:
            raise Malformed(f"grad({tree.text}) needs a loss: the case has none")
        if output not in self.places:
            raise Malformed(f"grad({tree.text}): {output!r} is not computed yet")
        place = self.places[output]
        shape, rows = self.shape(place), [[Tracked(1.0)]]
        if tree.operands:
            self.scalar(place, f"grad({output}, {tree.text})")
        elif self.upstream is not None:
            upstream_shape, terms = reader.nested(self.upstream, reader.linear)
            if upstream_shape != shape:
                raise Malformed(f"expected the upstream's shape {shape}, found {upstream_shape}")
            rows = [[_plain(entry) for entry in row] for row in terms]
        else:
            height, width = self.grid(place)
            rows = [[Tracked(1.0)] * width] * height
        above = self.add("entries", (), shape, entries=tuple(map(tuple, rows)))
        return self.add("gradient", (place, above, wanted), self.shape(wanted))


def _plain(terms: Mapping[str, Tracked]) -> Tracked:
    """A number of the upstream; what holds symbols is not known."""
    return UNKNOWN if terms.keys() - {"1"} else terms.get("1", Tracked(0.0))


def _stands(tree: Expression) -> bool:
    """Return whether an argument is a number, a fraction or a word that is written out."""
    if tree.operation in ("negation", "quotient"):
        return all(part.operation == "number" for part in tree.operands)
    is_word = tree.operation == "name" and tree.text in ("True", "False", "None")
    return is_word or tree.operation in ("number", "word")


def _rooted(tree: Expression) -> Expression | None:
    """Return what a square root is taken of."""
    match tree:
        case Expression(operation="call", text="sqrt", operands=(width,), options=()):
            return width
        case Expression(operation="power", operands=(width, exponent)) if _is_half(exponent):
            return width
    return None


def _is_half(tree: Expression) -> bool:
    match tree:
        case Expression(operation="number"):
            return Fraction(tree.text) == Fraction(1, 2)
        case Expression(operation="quotient", operands=(above, below)):
            return above.operation == below.operation == "number" and Fraction(
                above.text
            ) * 2 == Fraction(below.text)
    return False
