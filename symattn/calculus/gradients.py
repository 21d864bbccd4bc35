"""Names of a text that are gradients, or may be, and the losses that they are of.

Where there is a loss, ``dA`` is its gradient in A. A name of the writer's own that may as well
be a gradient is a fault, once all of the text is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from symattn.calculus import line_reading
from symattn.calculus.language import Array
from symattn.calculus.names import Names, head
from symattn.calculus.new_names import LOSSES, Reading, readings
from symattn.calculus.notation import functions
from symattn.calculus.tensors import LineScope
from symattn.calculus.wording import quoted, related, unquoted
from symattn.errors import Fault, Faults, Malformed
from symattn.expressions.syntax import Written, written
from symattn.spelling import whole
from symattn.spelling import words as vocabulary

# -- what a text says its names are ------------------------------------------------------
# Shapes, losses, permutations.
#
# What is said of a shape is known in full, or it is none: a word passed over could be the one
# that makes another shape of it.

_NAME = r"[A-Za-z_]\w*"
_GIVEN = re.compile(
    rf"(?:(?:let|given|where|with|and|for|assume|suppose)\s+)*"
    rf"({_NAME}(?:\s*,\s*(?:and\s+)?{_NAME}|\s+and\s+{_NAME})*)"
    r"(?:\s*(:|∈|\bin\b|\bis\b|\bare\b|\bbe\b)|\s+(?=\())\s*(.+)",
    re.IGNORECASE,
)
_LOSS = re.compile(
    rf"(?:the |any |an? |differentiable |scalar )*(?:function|loss)(?: of ({_NAME}))?"
)
_PERMUTATION = re.compile(rf"(?:any |an? )?permutation of ({_NAME})")
_SIZES = r"\w+(?:\s*(?:\bx\b|×|,|\bby\b)\s*\w+)*"
_BOX = rf"(?:\(\s*{_SIZES}\s*\)|\[\s*{_SIZES}\s*\]|\{{\s*{_SIZES}\s*\}}|{_SIZES})"
# Braces without R^ are those of a set.
_BARE_BOX = rf"(?:\(\s*{_SIZES}\s*\)|\[\s*{_SIZES}\s*\]|{_SIZES})"
_KIND = r"(?P<kind>matrix|matrices|vectors?|arrays?)"
#: The whole of what is said of a shape; anything else is none.
_SHAPES = tuple(
    re.compile(rf"(?:(?:an?|the|any|all|be)\s+)*(?:real\s+)?(?:{said})", re.IGNORECASE)
    for said in (
        r"(?:number|scalar)s?|(?P<set>(?-i:[Rℝ]))|\(\s*\)",
        rf"(?:{_KIND}\s+(?:in\s+|∈\s*))?(?P<set>(?-i:[Rℝ]))\s*\^\s*(?P<sizes>{_BOX})",
        rf"{_KIND}\s+(?:(?:of|with)\s+)?(?:(?:size|shape|length)\s+)?(?P<sizes>{_BOX})"
        r"(?:\s+entries)?",
        rf"(?P<sizes>{_BOX})\s+(?:real\s+)?{_KIND}",
        rf"(?:(?:of\s+)?(?:size|shape)\s+)?(?P<sizes>{_BARE_BOX})(?:\s+entries)?",
    )
)
#: Words that are taken for no size.
_NO_SIZES = vocabulary(
    "a an the real matrix matrices vector vectors array arrays of with entries size length shape"
    " number numbers scalar scalars function loss any in positive negative nonnegative symmetric"
    " diagonal random orthogonal orthonormal unit invertible integer even odd binary constant"
    " stochastic causal square nonzero"
)
#: What has one of these is a shape, also where it only "is": "x is 7" claims something.
_SHAPE_WORDS = re.compile(
    r"(?i)number|scalar|matri|vector|array|entries|\bx\b|×|\bby\b|\bR\b|ℝ|function|loss|permutation"
)
#: Signs of shapes as LaTeX has them, and what dresses them.
_SHAPED = (
    *((re.compile(r"\\in(?![A-Za-z])"), "∈"), (re.compile(r"\\mathbb\s*\{?\s*R\s*\}?"), "ℝ")),
    (re.compile(r"\\mathbb\s*\{?\s*N\s*\}?"), "ℕ"),
    *((re.compile(r"\\times(?![A-Za-z])"), "×"), (re.compile(r"[$`]|\*\*|\\[()]|\\(?=[a-z])"), "")),
    (re.compile(r"\s+(?:#|//)\s.*"), ""),
)
_SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z$`\\])")


@dataclass
class Given:
    """The names that a text gives, and on which lines.

    >>> given = Given()
    >>> given.read("S: n x m", 1), given.read("S is large", 2), given.shapes
    (True, False, {'S': ['n', 'm']})
    """

    shapes: dict[str, list[str | int]] = field(default_factory=dict)
    losses: dict[str, str] = field(default_factory=dict)
    permutations: dict[str, str] = field(default_factory=dict)
    at: dict[str, int] = field(default_factory=dict)
    written: list[tuple[int, str]] = field(default_factory=list)
    """The names as they are set where they are given."""

    def of(self, name: str) -> tuple[str, object]:
        """Return what a name is said to be."""
        for table in ("shapes", "losses", "permutations"):
            if name in getattr(self, table):
                return table, getattr(self, table)[name]
        return "", None

    def read(self, text: str, at: int) -> bool:
        """Return whether a line says what something is, which is kept; :class:`Malformed` where it
        says something else of it than a line before."""
        sentences = _SENTENCE.split(text)
        if len(sentences) > 1:
            return min([self.read(sentence, at) for sentence in sentences])
        quotes = [quote for quote, _, _ in quoted(text) if re.search(r"∈|\\in|:", quote)]
        if quotes and quotes != [text] and len(quotes[0]) < len(text.strip("`$ .,")) - 2:
            are_given = [self.read(quote, at) for quote in quotes]
            if all(are_given) and not related(unquoted(text)):
                return True
        plain = text
        for pattern, instead in _SHAPED:
            plain = pattern.sub(instead, plain)
        plain = re.sub(r"^(?:[-*+•]|\(?\w{1,3}[.)])\s+", "", plain).strip(" .,;")
        given = _GIVEN.fullmatch(plain)
        if given is None or related(plain):
            return False
        names = [name for name in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", given[1]) if name]
        meaning, is_within = given[3].strip(), given[2] in ("∈", "in")
        if is_within and meaning == "ℕ":
            # So are sizes; another name is not known by that.
            return True
        if re.search(r"\b(?:is|are|be)\b", plain) and not _SHAPE_WORDS.search(meaning):
            return False
        if not text.isascii() or "\\" in text:
            self.written.append((at, re.split(r":|∈|\\in(?![A-Za-z])", text, maxsplit=1)[0]))
        if loss := _LOSS.fullmatch(meaning):
            self._put("losses", dict.fromkeys(names, loss[1] or ""), at)
        elif permutation := _PERMUTATION.fullmatch(meaning):
            self._put("permutations", dict.fromkeys(names, permutation[1]), at)
        elif {"sizes", *functions()} & {*names} or (shape := _shape(meaning, is_within)) is None:
            return False
        else:
            self._put("shapes", dict.fromkeys(names, shape), at)
        return True

    def _put(self, table: str, entries: Mapping[str, Any], number: int) -> None:
        for name, entry in entries.items():
            before = self.at.get(name, number)
            if before != number and self.of(name) != (table, entry):
                raise Malformed(f"{name} is given on line {before} already, as something else")
            getattr(self, table)[name] = entry
            self.at[name] = number


def _shape(phrase: str, is_within: bool) -> list[str | int] | None:
    """The sizes that a shape is made of; None where the words are no shape."""
    said = next(filter(None, (shape.fullmatch(phrase) for shape in _SHAPES)), None)
    if said is None or (is_within and not said.groupdict().get("set")):
        return None
    parts = said.groupdict()
    words = [
        word for word in re.findall(r"\w+", parts.get("sizes") or "") if word not in ("x", "by")
    ]
    sizes = [word if (size := whole(word)) is None else size for word in words]
    kind = (parts.get("kind") or "")[:3].lower()
    # "A vector of length 1" is one of norm 1, and "a matrix of size n" can't be told.
    is_told = kind not in ("mat", "vec") or len(sizes) == (2 if kind == "mat" else 1)
    is_told = is_told and _NO_SIZES.isdisjoint(words)
    return sizes if is_told and not (kind == "vec" and sizes == [1]) else None


# -- gradients ---------------------------------------------------------------------------

SHAPE = "define it on a line before, or give its shape there, as in 'S: n x m' or 't: number'"
"""What to do about a name of which nothing is known."""
_GRADIENT = re.compile(r"(?<![A-Za-z0-9\\])d\\?[A-Za-z]\w*")


Kind = Literal["", "assumed", "defines", "claims"]


@dataclass(frozen=True)
class Equation:
    """A formula of a text: its line and sides; whether it is assumed, or surely defines or
    claims; the places that differ where it is meant, and to what its indices are said to run;
    the word beside it by which it is no definition, and what the words say that it is. Words
    without a formula have no sides."""

    at: int
    sides: tuple[str, ...] = ()
    kind: Kind = ""
    apart: tuple[str, str] | None = None
    ranges: tuple[tuple[str, str], ...] = ()
    because: str = ""
    part: str = ""
    word: str = ""
    quantity: str = ""
    level: int = 0
    """That of a heading, with which what is assumed under one of its level ends."""


class Gradients:
    """Definitions of a text in order, the gradients among them."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.define: dict[Written, Written] = {}
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
        self._heads: set[str] = set()
        self._losses: list[str] = []
        self._upstream = ""
        self._surely: set[str] = set()

    def _define(self, at: int, key: str, formula: str) -> None:
        """Put a definition into its table, and learn the shape of what it defines."""
        name = key.partition("[")[0]
        key, formula = written(key), written(formula)
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
        self._names.uses[name] = frozenset(each.name for each in array.uses)
        if self._upstream == f"d{name}":
            product = f"d{name} * {name}"
            self._define(
                self.given.at[self._upstream], "L", f"total({product})" if array.axes else product
            )

    # -- losses and their gradients --------------------------------------------------------

    def _find_losses(self, equations: Sequence[Equation]) -> None:
        """The losses whose gradients ``dA`` may be: declared, called so, or one of which only
        the gradient in a quantity that is defined is given."""
        heads = self._heads
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

    def _is_gradient(self, name: str) -> bool:
        """Return whether a name is that of a gradient, as ``dA`` where there is a loss."""
        if name in self._gradients:
            return True
        return (
            bool(self._losses)
            and self._may_vary(self._scope.arrays.get(self._of_gradient(name)))
            and name not in self._defined
            and name not in self._upstream.split()
        )

    def _may_vary(self, array: Array | None) -> bool:
        """Return whether there is a gradient in an array, given or one that a loss is built of."""
        if array is None:
            return False
        arrays = self._scope.arrays
        losses = [arrays.get(loss) for loss in self._losses]
        # What a loss is a function of may have been defined since, in a way not read here.
        built = [x and arrays.get(x.of.name if x.of else x.name) for x in losses]
        return array.body is None or any(
            x is None or x.body is None or array in {x, *x.uses} for x in built
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
        if name in self.given.shapes and name not in self._heads:
            raise Malformed(
                f"{name} is given on line {self.given.at[name]}, and would be the gradient of"
                f" {loss} in {array}: leave out that it is given, or call it otherwise"
            )
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
        for reading in readings(name, self._names):
            if reading.of not in arrays or not self._may_be(reading, arrays[name]):
                continue
            behind = [*self._derivatives(reading.of, arrays[name], name)]
            if behind:
                message = (
                    f"{name} may be {reading}, or a name of its own: write {behind[-1]}"
                    f" if it is the gradient, else '{name} := ...'"
                )
                self.faults.append(Fault("", message, at))
                return

    def _may_be(self, reading: Reading, own: Array) -> bool:
        """Return whether what is defined has the shape of a gradient, or is put as one number."""
        axes, count = len(self._scope.arrays[reading.of].axes), len(own.axes)
        if reading.kind != "the gradient in" or self._scope.arrays[reading.of] is own:
            return False
        if count == axes or reading.surely:
            return True
        return count in (0, 2 * axes) if reading.exactly else not (own.uses or count)

    def _derivatives(self, of: str, own: Array, name: str) -> Iterator[str]:
        """Yield what to write for the gradient in an array, or of it, where there is one."""
        arrays = self._scope.arrays
        array = arrays[of]
        if array.of or (array.uses and own not in array.uses):
            # What is defined, or a loss, is what is differentiated.
            others = [x.name for x in array.uses if x.name in self.given.shapes] or ["..."]
            if not array.axes or name[:1] == "J" or name.endswith("dot"):
                yield f"'diff({of}, {others[0]})'"
        elif name.endswith("dot"):
            yield f"'diff({of}, ...)'"
        for other in (*self.given.losses, *self._defined):
            number = arrays.get(other)
            if (
                number and array in number.uses and not number.axes
                and own not in (number, *number.uses)
            ):  # fmt: skip
                yield f"'d{of}' or 'diff({other}, {of})', and '{other}: loss',"
        for given in self.given.shapes:
            for above in readings(given, self._names):
                is_defined = above.kind == "the gradient in" and above.of in self._defined
                if is_defined and array in arrays[above.of].uses:
                    yield f"'d{of}', and 'd{above.of}' for {given}"
