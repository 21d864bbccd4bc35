"""What is true of a walkthrough, from its file: a recomputation of its own.

The file is read with ``tomllib``, the steps with the oracle; gradients are
complex steps of the whole computation, so no backward rule is used. Nothing
of symattn takes part.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from .. import oracle

#: Digits that are worked with, and those behind which only noise is left.
DIGITS = 250
_NOISE = 200
_STEP = mpmath.mpf(10) ** -300

BUNDLED = Path(__file__).parents[2] / "derivations"
#: Published walkthroughs and their variants, whose steps are worked out here once more.
PUBLISHED = sorted(
    path.stem
    for path in BUNDLED.glob("*.toml")
    if tomllib.loads(path.read_text("utf-8")).keys() & {"source", "extends"}
)


def document(path: Path) -> dict[str, Any]:
    """The file at ``path`` on top of those that it extends."""
    held = tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
    if "extends" not in held:
        return held
    beside = path.parent / f"{held['extends'].removesuffix('.toml')}.toml"
    base = document(beside if beside.exists() else BUNDLED / f"{held['extends']}.toml")
    merged = {**base, "claims": [], "unchecked": [], **held}
    merged["given"] = {**base["given"], **held.get("given", {})}
    if not held.get("replace_steps"):
        merged["steps"] = {**base["steps"], **held.get("steps", {})}
    return merged


def latex_name(name: str) -> str:
    """How a quantity is written: what follows ``_``, or digits at the end,
    is a subscript; words are in italics, below upright."""
    if name == "pi":
        return r"\pi"
    parts = re.fullmatch(r"([A-Za-z]+)(?:_(\w+)|(\d*))", name)
    assert parts
    base, below = parts.expand(r"\1 \2\3").split(" ")
    shown = base if len(base) == 1 else rf"\mathit{{{base}}}"
    if not below:
        return shown
    below = below.replace("_", r"\_")
    plain = len(below) == 1 or below.isdigit()
    return f"{shown}_{{{below}}}" if plain else rf"{shown}_{{\mathrm{{{below}}}}}"


@dataclass(frozen=True)
class Softmax:
    """One softmax of the steps: what marks its row sums where there are
    several, the step that it is (if it is one) and the text of its scores."""

    mark: str
    step: str
    scores: str


class Truth:
    """All quantities of a walkthrough, forward and backward."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.document = document(path)
        self.given: Mapping[str, Any] = self.document["given"]
        self.steps: Mapping[str, str] = self.document["steps"]
        self.tokens = tuple(self.document.get("tokens", ()))
        self.rounding: str = self.document.get("rounding", "half-even")
        loss = self.document.get("loss", {})
        self.output: str = loss.get("output", list(self.steps)[-1])
        self._upstream = loss.get("upstream")
        with mpmath.workdps(DIGITS):
            self.values: dict[str, np.ndarray] = self._forward({}, {})
        self._derivatives: dict[str, np.ndarray] = {}
        self._found: dict[tuple[Any, ...], Any] = {}
        self._gradients: dict[tuple[Any, ...], np.ndarray] = {}

    def _forward(self, fixed: dict[str, Any], start: dict[str, Any]) -> dict[str, Any]:
        """All quantities, those in ``fixed`` instead of what they would be."""
        found = {**start}
        for name, raw in self.given.items():
            found[name] = fixed.get(name, found.get(name))
            if found[name] is None:
                found[name] = np.array(oracle.matrix(raw), dtype=object)
        reached = not fixed or bool(fixed.keys() & self.given.keys())
        for name, text in self.steps.items():
            if name in fixed:
                found[name], reached = fixed[name], True
            elif reached:
                found[name] = np.array(oracle.evaluate(text, found), dtype=object)
        return found

    @property
    def base(self) -> Truth | None:
        """The walkthrough that this one extends."""
        name = self.document.get("extends")
        if name is None:
            return None
        beside = self.path.parent / f"{name.removesuffix('.toml')}.toml"
        return Truth(beside if beside.exists() else BUNDLED / f"{name}.toml")

    # -- names -----------------------------------------------------------------

    @cached_property
    def names(self) -> dict[str, str]:
        """Quantities by the way they are written."""
        return {latex_name(name): name for name in self.values}

    @cached_property
    def copies(self) -> frozenset[str]:
        """Steps that only give another step or input a name."""
        return frozenset(n for n, text in self.steps.items() if text.strip() in self.values)

    @cached_property
    def reached(self) -> frozenset[str]:
        """What the output depends on, itself included."""
        found = {self.output}
        for name, text in reversed(list(self.steps.items())):
            if name in found:
                found |= set(_variables(ast.parse(text, mode="eval").body))
        return frozenset(found)

    @cached_property
    def wrt(self) -> tuple[str, ...]:
        """What gradients are asked for: those named, or all but those of numbers."""
        every = [name for name, x in self.values.items() if name in self.reached and x.shape]
        return tuple(self.document.get("loss", {}).get("wrt", every))

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols in the upstream gradient."""
        texts = np.ravel(np.array(self._upstream or [], dtype=object))
        words = [re.findall(r"[A-Za-z_]\w*", text) for text in texts if isinstance(text, str)]
        return tuple(sorted({word for found in words for word in found} - oracle.FUNCTIONS.keys()))

    def worlds(self) -> Iterator[dict[str, int]]:
        """Numbers for the symbols: all 0, then each in turn 1. Two linear
        forms that agree in all of them are the same."""
        yield dict.fromkeys(self.symbols, 0)
        for symbol in self.symbols:
            yield {**dict.fromkeys(self.symbols, 0), symbol: 1}

    def find(self, spelled: str, world: Mapping[str, int] | None = None) -> Any:
        """The value of what is written; None if it is nothing known here."""
        key = (spelled, *(world or {}).values())
        if key not in self._found:
            with mpmath.workdps(DIGITS):
                self._found[key] = self._find(spelled, world or {})
        return self._found[key]

    def _find(self, spelled: str, world: Mapping[str, int]) -> Any:
        if spelled == "e":
            return mpmath.exp(1)
        if spelled in self.names:
            return _plain(self.values[self.names[spelled]])
        if spelled.startswith(r"\mathrm{d}") and spelled[10:] in self.names:
            return _plain(self.gradient(self.names[spelled[10:]], world))
        by_latex = {latex_name(symbol): symbol for symbol in self.symbols}
        if spelled in by_latex:
            return world[by_latex[spelled]]
        return self.row_sums.get(spelled)

    # -- row sums -----------------------------------------------------------------

    @cached_property
    def softmaxes(self) -> tuple[Softmax, ...]:
        """Every softmax of the steps, in the order in which they are computed."""
        found: list[tuple[str, str]] = []
        for name, text in self.steps.items():
            tree = ast.parse(text, mode="eval").body
            calls = [
                (node, node is tree)
                for node in _bottom_up(tree)
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "softmax"
            ]
            found += [(name if whole else "", ast.unparse(call.args[0])) for call, whole in calls]
        return tuple(
            Softmax(
                "" if len(found) == 1 else f"{latex_name(step) if step else f'({place})'},",
                step,
                scores,
            )
            for place, (step, scores) in enumerate(found, 1)
        )

    def scores(self, softmax: Softmax) -> np.ndarray:
        """The scores that a softmax is taken of, as a matrix."""
        with mpmath.workdps(DIGITS):
            return np.atleast_2d(np.array(oracle.evaluate(softmax.scores, self.values)))

    @cached_property
    def letter(self) -> str:
        """What row sums are called: Z where no quantity and no symbol is."""
        taken = {latex_name(n).partition("_")[0] for n in (*self.values, *self.symbols)}
        return next(x for x in ("Z", "N", "R", r"\mathcal{Z}") if x not in taken)

    @cached_property
    def exponentials(self) -> dict[str, list[Any]]:
        """The rows of exponentials, by the way their sums are written."""
        with mpmath.workdps(DIGITS):
            return {
                f"{self.letter}_{{{softmax.mark}{i}}}": [mpmath.exp(score) for score in row]
                for softmax in self.softmaxes
                for i, row in enumerate(self.scores(softmax))
            }

    @cached_property
    def row_sums(self) -> dict[str, Any]:
        """The sums of the rows of exponentials, by the way they are written."""
        with mpmath.workdps(DIGITS):
            return {name: sum(row) for name, row in self.exponentials.items()}

    def jacobian(self, softmax: Softmax, i: int) -> np.ndarray:
        """How row i of the weights changes with its scores, by complex steps."""
        row = self.scores(softmax)[i]
        with mpmath.workdps(DIGITS):
            columns = []
            for k in range(len(row)):
                moved = row.copy()
                moved[k] = moved[k] + mpmath.mpc(0, _STEP)
                columns.append(_imaginary(oracle.FUNCTIONS["softmax"](moved)))
            return np.array(columns).T

    # -- gradients ------------------------------------------------------------------

    def gradient(self, name: str, world: Mapping[str, int]) -> np.ndarray:
        """dL/d(name), with numbers for the symbols of the upstream gradient."""
        key = (name, *world.values())
        if key not in self._gradients:
            with mpmath.workdps(DIGITS):
                if name not in self._derivatives:
                    self._derivatives[name] = self._differentiated(name)
                flow = np.array(self._derivatives[name] * self.upstream(world))
                axes = tuple(range(self.values[name].ndim, flow.ndim))
                self._gradients[key] = np.array(flow.sum(axis=axes), dtype=object)
        return self._gradients[key]

    def upstream(self, world: Mapping[str, int]) -> np.ndarray:
        """dL/d(output)."""
        shape = self.values[self.output].shape
        if self._upstream is None:
            return np.full(shape, mpmath.mpf(1), dtype=object)
        raw = np.array(self._upstream, dtype=object)
        held = {name: mpmath.mpf(number) for name, number in world.items()}
        found = oracle.each(lambda x: oracle.evaluate(str(x), held))(raw)
        return np.reshape(found, shape)

    def _differentiated(self, name: str) -> np.ndarray:
        """The derivative of the whole output by every entry of a quantity."""
        at = self.values[name]
        found = np.empty((*at.shape, *self.values[self.output].shape), dtype=object)
        for place in np.ndindex(at.shape):
            moved = at.copy()
            moved[place] = moved[place] + mpmath.mpc(0, _STEP)
            found[place] = _imaginary(self._forward({name: moved}, self.values)[self.output])
        return found

    # -- statements -----------------------------------------------------------------

    def evaluated(self, text: str) -> np.ndarray:
        """An expression over the quantities, ``grad(Q)`` among them."""
        with mpmath.workdps(DIGITS):
            return np.array(oracle.evaluate(*self._named(text)), dtype=object)

    def _named(self, text: str) -> tuple[str, dict[str, Any]]:
        """A text with names for gradients in it, and what the names stand for."""
        names = {
            f"grad_{x}": self.gradient(x, next(self.worlds()))
            for x in re.findall(r"grad\((\w+)\)", text)
        }
        return re.sub(r"grad\((\w+)\)", r"grad_\1", text), {**self.values, **names}

    def holds(self, text: str) -> bool:
        """Whether a statement such as ``max(A[0]) < 1 and argmax(A[1]) == 1`` is true."""
        with mpmath.workdps(DIGITS):
            plain, names = self._named(text)
            tree = _Folded(names).visit(ast.parse(plain, mode="eval")).body
            parts = tree.values if isinstance(tree, ast.BoolOp) else [tree]
            return all(_compared(part, names) for part in parts)


#: What statements know besides the functions of steps.
_STATED = {
    "shape": np.shape,
    "argmax": lambda x: max(range(x.size), key=lambda k: x.flat[k]),
    "max": lambda x: max(x.flat),
    "min": lambda x: min(x.flat),
    "abs": oracle.each(abs),
}


class _Folded(ast.NodeTransformer):
    """Puts a name in place of every call that only statements know."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        if node.func.id not in _STATED:
            return node
        found = oracle.evaluate(ast.unparse(node.args[0]), self.names)
        name = f"folded_{len(self.names)}"
        self.names[name] = _STATED[node.func.id](found)
        return ast.Name(name)


_ORDERS: dict[type[ast.cmpop], Callable[[Any], bool]] = {
    ast.Eq: lambda order: order == 0,
    ast.Lt: lambda order: order < 0,
    ast.LtE: lambda order: order <= 0,
    ast.Gt: lambda order: order > 0,
    ast.GtE: lambda order: order >= 0,
}


def _compared(node: ast.expr, names: dict[str, Any]) -> bool:
    assert isinstance(node, ast.Compare)
    sides = [
        ast.literal_eval(side)
        if isinstance(side, ast.Tuple)
        else oracle.evaluate(ast.unparse(side), names)
        for side in (node.left, *node.comparators)
    ]
    (operator,) = node.ops
    left, right = sides
    if isinstance(left, tuple):
        return bool(left == right)
    return bool(_ORDERS[type(operator)](exactly(left - right)))


def _bottom_up(tree: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression in the order in which they are computed."""
    for child in ast.iter_child_nodes(tree):
        yield from _bottom_up(child)
    yield tree


def _variables(tree: ast.AST) -> Iterator[str]:
    """The names that an expression depends on; sizes and masks don't count."""
    match tree:
        case ast.Call(ast.Name("rows" | "cols")):
            return
        case ast.Call(ast.Name("mask"), [scores, _]):
            yield from _variables(scores)
        case ast.Call(_, arguments):
            for argument in arguments:
                yield from _variables(argument)
        case ast.Name(name):
            yield name
        case _:
            for child in ast.iter_child_nodes(tree):
                yield from _variables(child)


def _plain(array: np.ndarray) -> Any:
    return array.item() if array.shape == () else array


def _imaginary(array: Any) -> np.ndarray:
    found: np.ndarray
    found = oracle.each(lambda x: mpmath.im(x) / _STEP)(np.array(array, dtype=object))
    return found


# -- rounding -----------------------------------------------------------------------


def exactly(number: Any) -> Fraction:
    """The number that is held; a zero that rounding left traces of is 0, and
    what is within them of a short decimal is that decimal."""
    with mpmath.workdps(DIGITS):
        sign, mantissa, exponent, _ = mpmath.mpf(number)._mpf_
    held = Fraction(int(mantissa)) * Fraction(2) ** int(exponent) * (-1) ** sign
    short = Fraction(round(held * 10**40), 10**40)
    return short if abs(held - short) * 10**_NOISE <= max(abs(held), 1) else held


def rounded(number: Fraction, mode: str = "half-even") -> int:
    """A number rounded to a whole one."""
    low = number.numerator // number.denominator
    beyond = number - low
    if not beyond:
        return low
    up = {
        "floor": False,
        "ceiling": True,
        "down": number < 0,
        "up": number > 0,
        "half-up": 2 * beyond > 1 or (2 * beyond == 1 and number > 0),
        "half-down": 2 * beyond > 1 or (2 * beyond == 1 and number < 0),
        "half-even": 2 * beyond > 1 or (2 * beyond == 1 and low % 2 == 1),
    }[mode]
    return low + up


def shown(number: Any, places: int, mode: str = "half-even") -> str:
    """A number as a page shows it: to its places, or where those would show
    nothing (or very much) to three significant digits; 0 itself is ``0``."""
    exact = exactly(number)
    if not exact:
        return "0"
    count = rounded(exact * 10**places, mode)
    if count and abs(exact) <= 10**12:
        return format(Decimal(count).scaleb(-places, Context(prec=1000)), "f")
    power = mpmath.floor(mpmath.log10(abs(number)))
    power = int(power) + (abs(exact) >= Fraction(10) ** (int(power) + 1))
    count = rounded(exact / Fraction(10) ** (power - 2), mode)
    if abs(count) == 1000:
        count, power = count // 10, power + 1
    return f"{Decimal(count).scaleb(-2):.2f}e{power}"
