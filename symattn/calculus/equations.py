"""What the formulas of a text define, assume and claim, read in order.

A name is defined once, and means from then on what it means. Where there is a loss, the
names of gradients (``dA``) are what they are, so that what is equated to them is a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from symattn import syntax
from symattn.calculus import line_reading, notation, tensors
from symattn.calculus.given import Given
from symattn.calculus.gradient_names import LOSSES, differentiated
from symattn.calculus.language import Array
from symattn.calculus.names import Names, head
from symattn.calculus.notation import Formula
from symattn.calculus.relations import EQUALITY
from symattn.calculus.tensors import LineScope
from symattn.errors import Fault, Faults, Malformed, short

SHAPE = "define it on a line before, or give its shape there, as in 'S: n x m' or 't: number'"
"""What to do about a name of which nothing is known."""
_SIGNS = {"≤": "<=", "≥": ">=", "\\le": "<=", "\\leq": "<=", "\\ge": ">=", "\\geq": ">=", "=": "=="}
_BETWEEN = re.compile(r"(===?|<=|>=|[=<>≤≥≡]|\\[lg]eq?(?![a-z]))")
#: Functions that are no part of a name, and letters that are numbers or places.
_ELEMENTARY = frozenset(("log", "ln", "lg", "exp", "sin", "cos", "tan", "tanh"))
#: What has indices below it and a meaning: entries of the unit matrix, sums.
_TAKEN = frozenset({"delta", "δ", "I", "sum", "mean"})
_LETTERS = ("e", "i", "j", "k", "l", "pi")
_QUOTED = re.compile("`[^`]+`")
_GRADIENT = re.compile(r"(?<![A-Za-z0-9\\])d\\?[A-Za-z]\w*")


Kind = Literal["", "assumed", "defines", "claims"]


@dataclass(frozen=True)
class Equation:
    """A formula of a text: its line and sides; whether it is assumed, or surely defines or
    claims; the places that differ where it is meant. Words without a formula have no sides."""

    at: int
    sides: tuple[str, ...] = ()
    kind: Kind = ""
    apart: tuple[str, str] | None = None
    because: str = ""
    part: str = ""
    level: int = 0
    """That of a heading, with which what is assumed under one of its level ends."""


class Equations:
    """The tables of a derivation file, made of the equations of a text."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.define: dict[str, str] = {}
        self.hypotheses: list[str] = []
        self.lines: list[dict[str, str]] = []
        self.at: dict[str, int] = {}
        self.faults = Faults()
        shapes = given.shapes
        self.sizes = [
            *dict.fromkeys(
                size for shape in shapes.values() for size in shape if isinstance(size, str)
            )
        ]
        self._scope = LineScope(self.sizes, advice=SHAPE, permutations=dict(given.permutations))
        self._scope.arrays = {name: Array(name, tuple(shape)) for name, shape in shapes.items()}
        axes = {name: len(shape) for name, shape in shapes.items()}
        self._names = Names(axes, {*self.sizes}, {*given.permutations})
        self._defined: dict[str, int] = {}
        self._gradients: set[str] = set()
        self._used: dict[str, int] = {}
        self._losses: list[str] = []
        self._upstream = ""
        self._surely: set[str] = set()
        self._last = self._chain = ""
        self._level = 0
        self._assumed: dict[int, int] = {}
        self._under: list[set[int]] = []
        self._words: list[str] = []
        self._first: list[str] = []
        for table in ("shapes", "losses", "permutations"):
            for name in getattr(given, table):
                self.at[f"{table}.{name}"] = given.at[name]

    def document(self) -> dict[str, Any]:
        """The tables."""
        return {
            "statement": " ".join(self._first),
            "sizes": self.sizes,
            "shapes": self.given.shapes,
            "losses": {name: of for name, of in self.given.losses.items() if of},
            "permutations": self.given.permutations,
            "define": self.define,
            "hypotheses": self.hypotheses,
            "lines": [
                {**line, "without": others}
                if (others := [k for k in range(len(self.hypotheses)) if k not in under])
                else line
                for line, under in zip(self.lines, self._under, strict=True)
            ],
        }

    def read(self, equations: Sequence[Equation]) -> None:
        """All equations of a text."""
        self._find_losses(equations)
        for equation in equations:
            try:
                self._learn_losses()
                self._equation(equation)
            except Malformed as error:
                self.faults += [Fault("", fault.message, equation.at) for fault in error.faults]
        self._doubt_gradients()

    def _equation(self, equation: Equation) -> None:
        if equation.level:
            self._level = equation.level
            self._assumed = {k: at for k, at in self._assumed.items() if at < equation.level}
        if not equation.sides:
            self._words += filter(None, [equation.because])
            self._last = self._chain = ""
        elif equation.kind == "assumed":
            self._hypothesis(equation)
        else:
            self._claim(equation)

    # -- losses and their gradients --------------------------------------------------------

    def _find_losses(self, equations: Sequence[Equation]) -> None:
        """The losses whose gradients ``dA`` may be: declared, called so, or one of which only
        the gradient in a quantity that is defined is given."""
        heads: set[str] = set()
        for equation in equations:
            may_define = len(equation.sides) > 1 and equation.kind in ("", "defines")
            if may_define and (left := head(equation.sides[0])):
                heads |= {left[0], "_".join((left[0], *left[1]))}
        called = [name for name in LOSSES if name in heads and name not in self.given.shapes]
        self._losses = [*self.given.losses] or called
        if self._losses:
            return
        upstream = [
            name
            for name in self.given.shapes
            if name[0] == "d" and name[1:] in heads and name[1:] not in self.given.shapes
            and name not in heads
        ]  # fmt: skip
        if len(upstream) == 1 and "L" not in self._names.axes and "L" not in self.sizes:
            self._losses, self._upstream = ["L"], upstream[0]
        elif len(upstream) > 1:
            self._losses = [f"the one behind {name}" for name in upstream]
            self._upstream = " ".join(upstream)

    def _learn_losses(self) -> None:
        """A loss is known as soon as what it is a function of is."""
        for loss, of in self.given.losses.items():
            if of in self._scope.arrays and loss not in self._scope.arrays:
                array = self._scope.arrays[of]
                uses = frozenset({array, *array.uses})
                self._scope.arrays[loss] = Array(loss, (), of=array, uses=uses)
                self._names.add(loss, 0)

    def _is_gradient(self, name: str) -> bool:
        """Whether a name is that of a gradient, as ``dA`` where there is a loss."""
        if name in self._gradients:
            return True
        return (
            bool(self._losses)
            and self._of_gradient(name) in self._scope.arrays
            and name not in self._defined
            and name not in self._upstream.split()
        )

    def _of_gradient(self, name: str) -> str:
        """The array of a gradient by its name: ``dA``, or ``dL_dA`` in full."""
        for loss in self._losses:
            for lead in (f"d{loss}_d", f"d{loss}d"):
                if name.startswith(lead):
                    return name.removeprefix(lead)
        return name[1:] if name[:1] == "d" else ""

    def _with_gradients(self, at: int, text: str) -> None:
        """Define the gradients that a formula names."""
        for word in dict.fromkeys(_GRADIENT.findall(text)):
            plain = word.replace("\\", "")
            for name in (plain, plain.rpartition("_")[0], plain.partition("_")[0]):
                if name and self._is_gradient(name):
                    self._gradient(at, name)
                    break

    def _gradient(self, at: int, name: str) -> None:
        if name in self._gradients:
            return
        array, (loss, *others) = self._of_gradient(name), self._losses
        if others:
            raise Malformed(
                f"{name} may be the gradient of several losses, {', '.join(self._losses)}: write"
                f" diff(L, {array}) with the L that is meant, or say of one 'L: loss'"
            )
        if loss not in self._scope.arrays:
            raise Malformed(
                f"{name} is the gradient of {loss}, which is not known yet: define {loss} before it"
            )
        self._gradients.add(name)
        self._define(at, name, f"diff({loss}, {array})")

    def _doubt_gradients(self) -> None:
        """Names such as dz that were defined although they are gradients, or may be."""
        for name, at in self._defined.items():
            array = self._scope.arrays.get(self._of_gradient(name))
            if name in self._gradients or name in self._surely:
                continue
            if array is None:
                self._doubt_name(at, name)
                continue
            if self._losses and name not in self._upstream.split():
                message = (
                    f"{name} is the gradient in {array.name}, which is known only further down"
                )
                self.faults.append(Fault("", f"{message}: define {array.name} before", at))
                continue
            of = [
                other
                for other in self._defined
                if (defined := self._scope.arrays.get(other))
                and array in defined.uses
                and self._of_gradient(other) not in self._scope.arrays
                and self._scope.arrays[name] not in (defined, *defined.uses)
            ]
            if of:
                message = (
                    f"{name} may be the gradient of {of[-1]} in {array.name}, or a name of its own:"
                    f" say '{of[-1]}: loss' if it is the gradient, else write '{name} := ...'"
                )
                self.faults.append(Fault("", message, at))

    def _doubt_name(self, at: int, name: str) -> None:
        """A name that was defined, although it calls a gradient as others do: ``grad_z``."""
        arrays = self._scope.arrays
        own = arrays[name]
        for of, surely in differentiated(name, arrays):
            array = arrays[of]
            if array is own or not (surely or len(array.axes) == len(own.axes)):
                continue
            behind = [
                f"'d{of}' or 'diff({other}, {of})', and '{other}: loss',"
                for other in (*self.given.losses, *self._defined)
                if (number := arrays.get(other)) and array in number.uses and not number.axes
                and own not in (number, *number.uses)
            ] + [
                f"'d{of}', and 'd{above}' for {given}"
                for given in self.given.shapes
                for above, _ in differentiated(given, self._defined)
                if array in arrays[above].uses
            ]  # fmt: skip
            if behind:
                message = (
                    f"{name} may be the gradient in {of}, or a name of its own: write {behind[-1]}"
                    f" if it is the gradient, else '{name} := ...'"
                )
                self.faults.append(Fault("", message, at))
                return

    # -- equations -------------------------------------------------------------------------

    def _hypothesis(self, equation: Equation) -> None:
        pieces = _BETWEEN.split(equation.sides[0])
        for place, piece in enumerate(pieces):
            if place % 2:
                pieces[place] = {"≡": "==", "===": "=="}.get(piece, _SIGNS.get(piece, piece))
            else:
                pieces[place] = self._side(equation.at, piece).text
        if len(pieces) < 3:
            raise Malformed(
                f"{short(equation.sides[0])!r} can't be assumed: write an equation, 'x > 0' or"
                " 'x >= 0'"
            )
        self.at[f"hypotheses[{len(self.hypotheses)}]"] = equation.at
        self._assumed[len(self.hypotheses)] = self._level
        self.hypotheses.append(" ".join(pieces))
        self._last = self._chain = ""

    def _side(self, at: int, text: str) -> Formula:
        """One side of a formula, in the grammar of derivations."""
        self._with_gradients(at, text)
        side = notation.formula(text, self._names)
        for name in side.names:
            self._used.setdefault(name, at)
        if side.bounded:
            self._within_limits(side)
        return side

    def _within_limits(self, side: Formula) -> None:
        """The limits that sums name have to be those of their range."""
        try:
            line_reading.line(f"{side.text} == {side.text}", self._scope)
        except Malformed:
            # What is wrong with the line itself is told where it is judged.
            return
        try:
            line_reading.line(f"{side.bounded} == {side.bounded}", self._scope)
        except Malformed:
            raise Malformed(
                f"{short(side.text)!r} has a sum with other limits than those of its index: sums"
                " run over all of a range, from 1 to the size that it has"
            ) from None

    def _claim(self, equation: Equation) -> None:
        at, sides = equation.at, equation.sides
        if not sides[0]:
            if not self._last:
                raise Malformed(
                    "it begins with '=', and no formula stands right before it that it goes on with"
                )
            claimed = [self._last]
        elif equation.kind != "claims" and (key := self._defines(equation)):
            claimed = [key]
            self._first, self._words = [*self._first, *self._words], []
            sides = sides[1:]
        else:
            claimed = [self._side(at, sides[0]).text]
        self._chain = claimed[0] if equation.sides[0] else self._chain
        claimed += [self._side(at, side).text for side in sides[1:]]
        self._last = claimed[-1] if len(claimed) > 1 else self._last
        if len(claimed) < 2:
            self._first += [equation.because] if equation.because else []
            return
        if equation.apart:
            claimed = self._off_diagonal(equation.apart, claimed)
        self.at[f"lines[{len(self.lines)}]"] = at
        because = _QUOTED.sub(
            lambda words: EQUALITY.sub("==", words[0]), " ".join((*self._words, equation.because))
        ).strip()
        self._words = []
        entry = {"line": " == ".join(claimed), "because": because, "part": equation.part}
        if not equation.sides[0] and self._chain != claimed[0]:
            # What it goes on with may begin further up.
            entry["first"] = self._chain
        self.lines.append(entry)
        self._under.append({*self._assumed})

    def _off_diagonal(self, places: tuple[str, str], sides: Iterable[str]) -> list[str]:
        """Sides that are only equal where two places differ."""
        first, second = (syntax.Name(place) for place in places)
        trees = [syntax.parse(side, letters=True) for side in sides]
        letters = {letter for tree in trees for letter in tensors.letters_of(tree)}
        if first == second or not letters >= {*places}:
            raise Malformed(
                f"{places[0]} ≠ {places[1]}: expected two different indices of the line"
            )
        apart = syntax.Binary("-", syntax.Literal("1"), syntax.Call("delta", (first, second)))
        return [
            syntax.text(tree if tree == syntax.Literal("0") else syntax.Binary("*", apart, tree))
            for tree in trees
        ]

    # -- definitions -----------------------------------------------------------------------

    def _defines(self, equation: Equation) -> str:
        """The name that an equation defines, with its indices; '' where it is a claim."""
        at, (left, right, *_) = equation.at, equation.sides
        surely = equation.kind == "defines"
        names = head(left)
        if names is None:
            if surely:
                raise Malformed(f"':=' defines a name, found {short(left)!r} before it")
            return ""
        self._with_gradients(at, f"{left} {right}")
        name, places, side = self._named(names, right, "[" in left)
        known = self._names.known(name)
        if not known and not surely:
            if not places:
                self._refuse_entry(name, *names)
            self._refuse_meaning(left, name, side)
        if why := self._means(known or name, side):
            if surely and self.define.get(known) != side.text:
                raise Malformed(
                    f"{why}: a name is defined once; write '=' for what is claimed of it"
                )
            return known if surely else ""
        if not known and name in self._used:
            raise Malformed(
                f"{name} is used on line {self._used[name]}, before it is defined: define it first"
            )
        side = self._side(at, right)
        key = f"{name}[{', '.join(places)}]" if places else name
        if surely:
            self._surely.add(name)
        self._define(at, key, side.text)
        self._last = side.text
        return key

    def _refuse_entry(self, name: str, base: str, below: tuple[str, ...]) -> None:
        """A new name that may be an entry of an array that is known."""
        array = self._names.known(base)
        axes = self._names.axes.get(array, 0)
        letters = "".join(below).removesuffix("_prime")
        if axes and below and (
            all(len(part) == 1 or part.isdigit() or part in self.sizes for part in below)
            or len(letters) == axes or not letters.isalnum()
        ):  # fmt: skip
            places = ", ".join(below if len(below) == axes else ("i", "j", "k")[:axes])
            raise Malformed(
                f"{name} may be an entry of {array}, or a name of its own: write"
                f" {array}[{places}], or '{name} := ...'"
            )

    def _refuse_meaning(self, left: str, name: str, side: Formula) -> None:
        """A name of which nothing is known, but that means something all the same."""
        function = re.fullmatch(r"([a-z]+)_?\d+", name)
        if function and function[1] in _ELEMENTARY:
            raise Malformed(
                f"{short(left)!r} may be the function {function[1]}, or a name of its own: write"
                f" {function[1]}(...) without a base, or '{name} := ...'"
            )
        is_taken = name.partition("_")[0] in _TAKEN and "_" in name
        if (
            is_taken
            or name in ("oo", "inf")
            or (name in _LETTERS and not side.names and not side.letters)
        ):
            raise Malformed(f"{short(left)!r} has a meaning already: give what is defined a name")
        product = self._product(left)
        if product:
            raise Malformed(
                f"{short(left)!r} may be {product}, or a name of its own: write"
                f" '{product} = ...', or '{name} := ...'"
            )

    def _product(self, left: str) -> str:
        """The product of known names that a text may be; '' if none."""
        try:
            side = notation.formula(left, self._names)
        except Malformed:
            return ""
        return side.text if isinstance(side.tree, syntax.Binary) else ""

    def _named(
        self, written: tuple[str, tuple[str, ...]], right: str, is_indexed: bool
    ) -> tuple[str, tuple[str, ...], Formula]:
        """The name on the left of an equation, with its indices, and the right side."""
        names, (base, below) = self._names, written
        side = notation.formula(right, names)
        if is_indexed:
            return names.known(base) or base, below, side
        full = "_".join((base, *below))
        if not below or names.known(full):
            return names.known(full) or full, (), side
        if len(below) == 1 and len(below[0]) > 1 and below[0].isalpha():
            below = tuple(below[0])
        if all(letter in side.letters for letter in below):
            return names.known(base) or base, below, side
        is_entry = len(below) == names.axes.get(names.known(base), 0)
        if is_entry and all(len(x) == 1 and (x.islower() or x.isdigit()) for x in below):
            return names.known(base), below, side
        return full, (), side

    def _means(self, name: str, side: Formula) -> str:
        """What a name means already that can't be defined again; '' if nothing."""
        if name in self._gradients or self._is_gradient(name):
            return f"{name} is the gradient of {self._losses[0]}"
        if name in self._defined:
            return f"{name} is defined on line {self._defined[name]}"
        if name in self.sizes:
            return f"{name} is a size"
        if name in self.given.permutations or self.given.losses.get(name):
            return f"{name} is given on line {self.given.at[name]}"
        if name in self.given.shapes and name in side.names:
            return f"{name} stands on both sides"
        if name in self.given.shapes and name in self._used:
            return f"{name} is given, and used on line {self._used[name]} already"
        return ""

    def _define(self, at: int, key: str, formula: str) -> None:
        """Put a definition into its table, and learn the shape of what it defines."""
        name = key.partition("[")[0]
        self.define[key] = formula
        self.at[f"define.{key}"] = at
        self._defined[name] = at
        before = self._scope.arrays.pop(name, None)
        try:
            array = line_reading.definition(key, formula, self._scope)
        except Malformed:
            # The tables are read again, and say what is wrong with them.
            array = before or Array(name, ("",) * (key.count(",") + 1 if "[" in key else 0))
        self._scope.arrays[name] = array
        self._names.add(name, len(array.axes))
        if self._upstream == f"d{name}":
            product = f"d{name} * {name}"
            self._define(
                self.given.at[self._upstream], "L", f"total({product})" if array.axes else product
            )
