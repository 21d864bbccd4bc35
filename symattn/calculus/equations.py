"""Formulas of a text by what they define, assume and claim, read in order.

A name is defined once, and means from then on what it means. Where there is a loss, the
names of gradients (``dA``) are what they are, so that what is equated to them is a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from symattn.calculus import line_reading, notation, tensors
from symattn.calculus.gradients import Equation, Given, Gradients
from symattn.calculus.names import head, spellings
from symattn.calculus.new_names import readings
from symattn.calculus.notation import Formula, functions, unseen
from symattn.calculus.wording import EQUALITY, concluded
from symattn.errors import Fault, Malformed, short
from symattn.expressions import syntax
from symattn.expressions.syntax import Written, written

_SIGNS = {"≤": "<=", "≥": ">=", "\\le": "<=", "\\leq": "<=", "\\ge": ">=", "\\geq": ">=", "=": "==",
          "≡": "==", "===": "=="}  # fmt: skip
_BETWEEN = re.compile(r"(===?|<=|>=|[=<>≤≥≡]|\\[lg]eq?(?![a-z]))")
#: Functions that are no part of a name, and letters that are numbers or places.
_ELEMENTARY = frozenset(("log", "ln", "lg", "exp", "sin", "cos", "tan", "tanh"))
#: What has indices below it and a meaning: entries of the unit matrix, sums.
_TAKEN = frozenset({"delta", "δ", "I", "sum", "mean"})
_LETTERS = ("e", "i", "j", "k", "l", "pi", "I")
_PLAIN = re.compile(rf"\b[{''.join(line_reading.PLAIN)}]\b")
#: A name with what it depends on, as in f(x).
_CALLED = re.compile(r"\s*([A-Za-z]\w*)\s*\(\s*[A-Za-z]\w*(?:\s*[,;]\s*[A-Za-z]\w*)*\s*\)\s*")
_QUOTED = re.compile("`[^`]+`")


class Equations(Gradients):
    """The tables of a derivation file, made of the equations of a text."""

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self.hypotheses: list[str] = []
        self.lines: list[dict[str, str]] = []
        self._spelt: dict[tuple[str, str], tuple[str, int]] = {}
        self._used: dict[str, int] = {}
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

    def unused(self) -> tuple[tuple[int, str], ...]:
        """The definitions that nothing claimed or assumed speaks of, with their lines."""
        texts = [*self.hypotheses, *(line["line"] for line in self.lines)]
        spoken = {name for text in texts for name in syntax.names(written(text).tree)}
        arrays = self._scope.arrays
        used = {each.name for name in spoken if name in arrays for each in arrays[name].uses}
        return tuple(
            (at, name)
            for name, at in self._defined.items()
            if not {name} & (spoken | used | self._gradients) and at not in self.given.at.values()
        )

    def read(self, equations: Sequence[Equation]) -> None:
        """All equations of a text."""
        self._find_losses(equations)
        for at, text in self.given.written:
            with self._faults_at(at):
                self._spell(at, text)
        for equation in equations:
            with self._faults_at(equation.at):
                for loss in self._scope.learn_losses(self.given.losses):
                    self._names.add(loss, 0)
                self._equation(replace(equation, sides=tuple(map(written, equation.sides))))
        self._doubt_gradients()

    @contextmanager
    def _faults_at(self, at: int) -> Iterator[None]:
        """While this lasts, what is wrong is so on a line."""
        try:
            yield
        except Malformed as error:
            self.faults += [Fault("", fault.message, at) for fault in error.faults]

    def _spell(self, at: int, text: str) -> None:
        """Names that look different, and would be read as one; signs that are not seen."""
        if sign := unseen(text):
            raise Malformed(
                f"{short(text)!r}: {sign} says nothing, and may be overlooked: take it out"
            )
        for name, way, spelling in spellings(text):
            before, line = self._spelt.setdefault((name, way), (spelling, at))
            if before != spelling:
                raise Malformed(
                    f"{name} is {before} on line {line}, {spelling} here, and would be read as one"
                    " name: write it in one way, or call one of them otherwise"
                )

    def _equation(self, equation: Equation) -> None:
        for side in equation.sides:
            self._spell(equation.at, side)
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

    # -- equations -------------------------------------------------------------------------

    def _hypothesis(self, equation: Equation) -> None:
        pieces = _BETWEEN.split(equation.sides[0])
        sides: Sequence[str] = [self._side(equation.at, side).text for side in pieces[::2]]
        signs = [_SIGNS.get(sign, sign) for sign in pieces[1::2]]
        if not signs:
            raise Malformed(
                f"{short(equation.sides[0])!r} can't be assumed: write an equation, 'x > 0' or"
                " 'x >= 0'"
            )
        self._within_ranges(equation, sides)
        if equation.apart:
            if signs[0] != "==":
                raise Malformed("of what is above or below something say it of all indices")
            sides = self._off_diagonal(equation.apart, sides)
        self.at[f"hypotheses[{len(self.hypotheses)}]"] = equation.at
        self._assumed[len(self.hypotheses)] = self._level
        self.hypotheses.append(syntax.related(sides, signs))
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

    def _is_line(self, text: str) -> bool:
        with suppress(Malformed):
            line_reading.line(text, self._scope)
            return True
        return False

    def _within_limits(self, side: Formula) -> None:
        """The limits that sums name have to be those of their range."""
        # What is wrong with the line itself is told where it is judged.
        assert side.bounded is not None
        whole, bounded = (syntax.equated(text, text) for text in (side.text, side.bounded))
        if self._is_line(whole) and not self._is_line(bounded):
            raise Malformed(
                f"{short(side.text)!r} has a sum with other limits than those of its index: sums"
                " run over all of a range, from 1 to the size that it has"
            )

    def _within_ranges(self, equation: Equation, sides: Sequence[str]) -> None:
        """What indices are said to run to has to be the end of their axes."""
        whole = syntax.equated(*sides)
        for letter, last in equation.ranges:
            if any(letter in tensors.letters_of(written(x).tree) for x in sides):
                ones = syntax.equated(*sides, f"ones({last})[{letter}]")
                if self._is_line(whole) and not self._is_line(ones):
                    why = f"{letter} is said to run to {last}, which is not the end of its axis"
                    raise Malformed(f"{short(whole)!r}: {why}")

    def _claim(self, equation: Equation) -> None:
        at, sides, is_told = equation.at, equation.sides, False
        if not sides[0]:
            if not self._last:
                raise Malformed(
                    "it begins with '=', and no formula stands right before it that it goes on with"
                )
            claimed = [self._last]
        elif equation.kind != "claims" and (key := self._defines(equation)):
            is_told = bool(equation.quantity)
            if equation.apart:
                raise Malformed(
                    "a definition is one for all its indices: write what stands where"
                    f" {equation.apart[0]} is {equation.apart[1]} with delta(...)"
                )
            claimed = [key]
            self._first, self._words = [*self._first, *self._words], []
            sides = sides[1:]
        else:
            claimed = [self._side(at, sides[0]).text]
        self._chain = claimed[0] if equation.sides[0] else self._chain
        claimed += [self._side(at, side).text for side in sides[1:]]
        claimed += [equation.quantity] if is_told else []
        self._last = claimed[-1] if len(claimed) > 1 else self._last
        if len(claimed) < 2:
            self._first += [equation.because] if equation.because else []
            return
        self._refuse_free(claimed)
        self._within_ranges(equation, claimed)
        if equation.apart:
            claimed = [*self._off_diagonal(equation.apart, claimed)]
        self.at[f"lines[{len(self.lines)}]"] = at
        because = _QUOTED.sub(
            lambda words: EQUALITY.sub("==", words[0]), " ".join((*self._words, equation.because))
        ).strip()
        self._words = []
        entry = {"line": syntax.equated(*claimed), "because": because, "part": equation.part}
        if not equation.sides[0] and self._chain != claimed[0]:
            # What it goes on with may begin further up.
            entry["first"] = self._chain
        self.lines.append(entry)
        self._under.append({*self._assumed})

    def _refuse_free(self, sides: Iterable[str]) -> None:
        """Letters that stand as numbers and run along no axis: i is no imaginary unit."""
        trees = [written(side).tree for side in sides if _PLAIN.search(side)]
        places = {letter for tree in trees for letter in tensors.letters_of(tree)}
        names = {name for tree in trees for name in syntax.names(tree)} - places
        for letter in sorted(names.intersection(line_reading.PLAIN)):
            if not self._names.known(letter):
                raise Malformed(
                    f"{letter} stands as a number, and runs along no axis: say what it is, as in"
                    f" '{letter}: number'; there is no imaginary unit here"
                )

    def _off_diagonal(self, places: tuple[str, str], sides: Iterable[str]) -> Sequence[str]:
        """Sides that are only equal where two places differ."""
        first, second = (syntax.Name(place) for place in places)
        trees = [written(side).tree for side in sides]
        letters = {letter for tree in trees for letter in tensors.letters_of(tree)}
        if first == second or not letters >= {*places}:
            raise Malformed(
                f"{places[0]} ≠ {places[1]}: expected two different indices of the line"
            )
        apart = syntax.Binary("-", syntax.Literal("1"), syntax.Call("delta", (first, second)))
        return [
            Written.of(tree if tree == syntax.Literal("0") else syntax.Binary("*", apart, tree))
            for tree in trees
        ]

    # -- definitions -----------------------------------------------------------------------

    def _defines(self, equation: Equation) -> str:
        """The name that an equation defines, with its indices; '' where it is a claim."""
        at, (left, right, *_) = equation.at, equation.sides
        surely = equation.kind == "defines"
        names = head(left)
        if names is None:
            called = _CALLED.fullmatch(left)
            is_new = called and called[1] not in functions() and not self._names.known(called[1])
            if called and is_new and re.search("[A-Za-z]", right):
                raise Malformed(
                    f"{short(left)!r}: a name is defined without what it depends on, write"
                    f" '{called[1]} = ...'"
                )
            if surely:
                raise Malformed(f"':=' defines a name, found {short(left)!r} before it")
            return ""
        self._with_gradients(at, f"{left} {right}")
        name, places, side = self._named(names, right, "[" in left)
        known = self._names.known(name)
        if not known and not surely:
            self._refuse_meaning(left, name, side)
        if why := self._means(known or name, side):
            if surely and self.define.get(written(known)) != side.text:
                raise Malformed(
                    f"{why}: a name is defined once; write '=' for what is claimed of it"
                )
            return known if surely else ""
        if not known and name in self._used:
            raise Malformed(
                f"{name} is used on line {self._used[name]}, before it is defined: define it first"
            )
        if known and equation.word:
            raise Malformed(
                f"{short(left)!r} is given, and the words say that this is concluded or claimed:"
                f" write '{left} := ...' to define it, 'assume {left} = ...' to take it for"
                " granted, or 'show' behind '#'"
            )
        side = self._side(at, right)
        if not equation.quantity:
            self._refuse_concluded(equation, left, name, side)
        key = f"{name}[{', '.join(places)}]" if places else name
        if surely:
            self._surely.add(name)
        self._define(at, key, side.text)
        self._last = side.text
        if not (known or surely or places):
            self._refuse_entry(name, names[1], side)
        return key

    def _refuse_concluded(self, equation: Equation, left: str, name: str, side: Formula) -> None:
        """A definition that words take for a claim, where they do not say of what."""
        match side.tree:
            case syntax.Call("diff"):
                return
            case syntax.Name(of) if of in self._gradients:
                return
        if word := equation.word or concluded(f"{name} \0", "\0", (), True):
            raise Malformed(
                f"{word!r} beside {short(left)!r} says that it is claimed, and {left} is not known"
                f" before: write 'Let {left} = ...' on a line without such a word to define it,"
                " and what is claimed as an equation of what is known, as in 'diff(L, x) ="
                f" {left}'"
            )

    def _refuse_entry(self, name: str, below: tuple[str, ...], side: Formula) -> None:
        """A new name that may be an entry, or a multiple, of what is known."""
        for reading in readings(name, self._names):
            of, axes = reading.of, self._names.axes.get(reading.of, 0)
            is_number = not self._names.axes[name] and (axes or of in side.names or not side.names)
            if reading.kind == "an entry of" and (below or is_number):
                places = ", ".join(below if len(below) == axes else ("i", "j", "k")[:axes])
                instead = f"{of}[{places}]"
            elif reading.kind == "a multiple or a power of" and is_number:
                instead = f"'{of}*{name[len(of) :]}', '{of}^{name[len(of) :]}'"
            elif reading.kind == "the transpose of" and side.text != f"{of}.T":
                instead = f"{of}.T"
            elif reading.kind == "a form of" and not side.names:
                instead = f"a formula of {of}, as in 'sum({of})' or '{of}.T @ {of}'"
            else:
                continue
            raise Malformed(
                f"{name} may be {reading}, or a name of its own: write {instead}, or"
                f" '{name} := ...'"
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
            or name in ("oo", "inf", "nan", "NaN", "True", "False", "None")
            or re.fullmatch(r"e_\w", name)
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
        """Return what a name means already that can't be defined again; '' if nothing."""
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
