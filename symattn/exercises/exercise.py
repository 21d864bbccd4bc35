"""An exercise: a case as questions.

What stands at the head of a course's exercises: lines of text, and a logo.

Masks of exercises: a case with one put before its softmax.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import count
from pathlib import Path
from xml.parsers import expat

from symattn.cases.case import Case, make
from symattn.cases.settings import LEVELS, ExerciseTable
from symattn.errors import Fault, Faults, Malformed, blamed_on, expected, short
from symattn.expressions import syntax
from symattn.expressions.shapes import Shape, grid, keys, rows_of
from symattn.expressions.syntax import gradient_name
from symattn.printers.blocks import Logo
from symattn.programs.nodes import MOVING, SOURCES, Node, ancestors, arguments
from symattn.programs.program import Program
from symattn.solution.solution import Solution, solve
from symattn.tables.file import content, decoded


def masked(case: Case) -> Case:
    """The case with a mask before each softmax that is a step: ``P`` is given, and
    keeps for each query the keys up to its own.

    Raises :class:`Malformed` where no step is a softmax of a matrix, or where
    their scores have several shapes.

    >>> from symattn.cases.library import load
    >>> made = masked(load("cat-sat-mat"))
    >>> made.steps["M"], made.steps["A"], made.raw["P"]
    ('mask(T, P)', 'softmax(M)', [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    """
    program = case.program
    softmaxes = [name for name in program.steps if _scores(case.steps[name])]
    shapes = {program.quantities[name].shape for name in softmaxes}
    if len(shapes) != 1 or len(*shapes) != 2:
        raise Malformed(
            f"{case.name} has no mask, and one can only be added where steps such as "
            'A = "softmax(T)" have scores of one shape: write a mask into its steps'
        )
    ((rows, columns),) = shapes
    taken = {*program.quantities, *case.symbols}
    mask = _free("P", taken)
    steps: dict[str, str] = {}
    for name, step in case.steps.items():
        if name in softmaxes:
            hidden = _free("M" if len(softmaxes) == 1 else f"M_{name}", taken | steps.keys())
            steps[hidden] = f"mask({_scores(step)}, {mask})"
            step = f"softmax({hidden})"
        steps[name] = step
    loss = {"output": case.output, "upstream": case.raw_upstream, "wrt": case.wrt}
    return make(
        case.name,
        {**case.raw, mask: triangle(rows, columns)},
        steps,
        {key: value for key, value in loss.items() if value is not None}
        if case.states_loss
        else None,
        tokens=case.tokens,
        title=case.title,
        rounding=case.rounding,
        exercise=case.asked.table,
        functions=case.functions,
    )


def triangle(rows: int, columns: int) -> list[list[int]]:
    """Return what keeps for each query the keys up to its own; of more keys than queries
    the last ones are the queries' own.

    >>> triangle(2, 3)
    [[1, 1, 0], [1, 1, 1]]
    """
    before = max(columns - rows, 0)
    return [[int(j <= i + before) for j in range(columns)] for i in range(rows)]


def _scores(step: str) -> str:
    """Return what a step takes the softmax of, as text; '' where it is no softmax."""
    match syntax.parse(step):
        case syntax.Call("softmax", _) if step.lstrip().startswith("softmax"):
            return step[step.index("(") + 1 : step.rindex(")")].strip()
    return ""


def _free(name: str, taken: set[str]) -> str:
    return next(x for k in count() if (x := f"{name}{k or ''}") not in taken)


#: Decimal places of an answer unless the file says otherwise.
PLACES = 4

#: Points of an operation where it is not one: what only moves numbers is nothing to compute.
_POINTS = {"matmul": 2, "softmax": 3, **dict.fromkeys((*SOURCES, *MOVING), 0)}
#: Points of a function that is put together from operations.
_FUNCTION = 3


@dataclass(frozen=True)
class Part:
    """One question: every entry of ``quantity``, a step or ``dL/d(name)``,
    rounded to ``places``; ``points`` for all of it.

    At level proof ``quantity`` is the name of a bundled derivation, and there are no places.
    """

    quantity: str
    points: int
    places: int = PLACES

    @property
    def tolerance(self) -> Fraction:
        """Return how far an answer may be from the exact value: a unit of its last place.

        >>> Part("S", points=2, places=3).tolerance
        Fraction(1, 1000)
        """
        return Fraction(1, 10**self.places)


@dataclass(frozen=True)
class Exercise:
    """A case to be solved by hand; ``version`` counts the variants of one
    ``seed``, and 0 is the case as it is. Made by :func:`exercise`."""

    case: Case
    level: str
    parts: tuple[Part, ...]
    seed: int = 0
    version: int = 0

    @property
    def name(self) -> str:
        """Return what its files are called: the case's name, and the version's number."""
        return f"{self.case.name}-{self.version:02}" if self.version else self.case.name

    @property
    def title(self) -> str:
        """Return what stands above it."""
        return self.case.asked.title or self.case.title

    @property
    def first(self) -> int:
        """Return what rows and columns are counted from: 0, or 1 where the case's sheets say so."""
        return 1 if self.case.sheet.get("count_from") == 1 else 0

    @property
    def points(self) -> int:
        """The points of all parts."""
        return sum(part.points for part in self.parts)

    @property
    def is_proof(self) -> bool:
        """Return whether its parts are derivations, which have no figures."""
        return self.level == "proof"

    @cached_property
    def solution(self) -> Solution:
        """The exact answers."""
        return solve(self.case)

    def shape(self, part: Part) -> Shape:
        """The shape of what a part asks for."""
        return self.case.program.named[part.quantity].shape

    def labels(self, part: Part) -> list[list[str]]:
        """Return what the entries of a part are called where students see them, by rows of the
        grid.

        >>> made = exercise(solve("cat-sat-mat").case)
        >>> made.labels(made.parts[0])[0]
        ['S[0, 0]', 'S[0, 1]', 'S[0, 2]']
        """
        of, tree, shape = part.quantity, syntax.parse(part.quantity), self.shape(part)
        rows, columns = map(range, grid(shape))
        return [
            [syntax.entry_text(of, tree, keys(shape, i, j, self.first)) for j in columns]
            for i in rows
        ]

    def right(self, part: Part) -> tuple[tuple[Decimal, ...], ...]:
        """The right answers of a part, by rows of the grid: correctly rounded
        decimals, minus infinity for a masked score.

        >>> made = exercise(solve("cat-sat-mat").case)
        >>> [str(answer) for answer in made.right(made.parts[2])[0]]
        ['0.5065', '0.1863', '0.3072']
        """
        return rows_of(self.solution[part.quantity].decimal(part.places))


def exercise(case: Case, level: str = "", places: int | None = None) -> Exercise:
    """The exercise that a case is at a level: its own, or ``forward``.

    Without ``ask`` in its file it asks for each step that computes something, at level backward for
    the gradients on the way to those that are asked for as well. At level masked a case without a
    mask gets one: ``P`` keeps for each query the keys up to its own.

    Raises :class:`Malformed` for a level that there is none of, and where the case
    has nothing to ask for there.

    >>> made = exercise(solve("cat-sat-mat").case)
    >>> [(part.quantity, part.points) for part in made.parts], made.points
    ([('S', 2), ('T', 1), ('A', 3), ('Y', 2)], 8)
    """
    asked = case.asked
    level = level or asked.level or LEVELS[0]
    if level not in LEVELS:
        raise Malformed(f"unknown level {short(level)!r}: {expected(level, LEVELS)}")
    if level == "masked":
        nodes = ancestors(case.program.quantities.values())
        case = case if any(node.op == "hide" for node in nodes) else masked(case)
    # What a file asks for at level proof are derivations, and quantities at others.
    fits = (asked.level == "proof") == (level == "proof")
    own = asked if fits else replace(asked, ask=(), points={})
    if level == "proof":
        proofs = tuple(_proofs(case, own))
        if not proofs:
            raise Malformed(f"{case.name} rests on no bundled derivation: ask for one by name")
        return Exercise(case, level, proofs)
    digits = places if places is not None else PLACES if asked.places is None else asked.places
    parts = tuple(_parts(case, level, own, digits))
    if not parts:
        raise Malformed(f"{case.name} has no step that computes anything: nothing to ask for")
    return Exercise(case, level, parts)


def _parts(case: Case, level: str, asked: ExerciseTable, places: int) -> Iterator[Part]:
    program = case.program
    if given := sorted(case.lettered - {gradient_name(case.output)}):
        raise Malformed(
            f"{', '.join(given)} has symbols, but answers must be numbers: put numbers in their "
            "place under [given]"
        )
    names = asked.ask or [*_forward(program), *(_backward(case) if level == "backward" else ())]
    gradients = {node.serial for node in program.gradients.values()}
    named = {node.serial for node in program.named.values()}
    for name in names:
        node = program.named[name]
        if case.symbols and node.serial in gradients:
            raise Malformed(
                f"{name} contains {', '.join(case.symbols)}, but answers must be numbers: "
                "give numbers in [loss] upstream, or draw them with --versions"
            )
        yield Part(name, asked.points.get(name, max(_points(node, named), 1)), places)


def _forward(program: Program) -> Iterator[str]:
    named = {node.serial for node in program.quantities.values()}
    return (name for name in program.steps if _points(program.quantities[name], named))


def _backward(case: Case) -> Iterator[str]:
    """The gradients to work out, from the output back: those that are asked for, and those
    on the way to them; one that flows on as it came is the later step's."""
    program = case.program
    named = {node.serial for node in program.named.values()}
    needed = {x.serial for x in ancestors(program.gradients[name] for name in case.wrt)}
    seen: set[int] = set()
    for name in reversed([*program.quantities]):
        node = program.gradients.get(name)
        if node is None or node.serial in seen or node.serial not in needed:
            continue
        seen.add(node.serial)
        if _points(node, named):
            yield gradient_name(name)


def _points(node: Node, named: set[int]) -> int:
    """One for each operation on a matrix between a quantity and those that it is made of."""
    nodes = ancestors([node], stop=lambda x: x is not node and x.serial in named, through=arguments)
    counted = (x for x in nodes if x is node or x.grid != (1, 1))
    return sum(_FUNCTION if x.written else _POINTS.get(x.op, 1) for x in counted)


def _proofs(case: Case, asked: ExerciseTable) -> Iterator[Part]:
    """The derivations that a case rests on; each has a point for every formula it shows."""
    from symattn.calculus import library

    known = library.names()
    faults = Faults()
    for place, name in enumerate(asked.ask):
        if name not in known:
            message = f"unknown derivation {short(name)!r}: {expected(name, known)}"
            faults.append(Fault(f"exercise.ask[{place}]", message))
    faults.raise_all(str(case.path or ""))
    for name in asked.ask or _rests_on(case.program):
        draft = library.draft_of(name)
        assert draft is not None
        yield Part(name, asked.points.get(name, len(draft.concluded)), 0)


def _rests_on(program: Program) -> Iterator[str]:
    needed = ancestors(program.quantities.values())
    ops = {node.op for node in needed} | {x.written.function for x in needed if x.written}
    if "softmax" in ops:
        yield from ("softmax-jacobian", "softmax-backward")
    if "hide" in ops:
        yield "masking"
    if any(x.op == "matmul" and x.operands[1].op == "given" for x in program.quantities.values()):
        yield "projection-gradients"
    yield from dict.fromkeys(_ABOUT[name] for name in _ABOUT if name in ops)


#: What derivations are about, by operations and functions.
_ABOUT = {
    "rowmax": "online-softmax",
    "logsumexp": "log-sum-exp",
    "cross_entropy": "cross-entropy",
    "layernorm": "layer-norm-backward",
    "rmsnorm": "rms-norm-backward",
    "rope": "rotary-positions",
    **dict.fromkeys(("gelu", "silu", "sigmoid", "softplus", "tanh"), "activation-derivatives"),
}


#: Lines of a header, their letters, and the bytes of a logo, at most.
LINES, LETTERS, BYTES = 6, 200, 500_000

_HEADER = ("text file", "or give the text itself")
_LOGO = ("image", "expected a png or svg file, for LaTeX png or pdf, for Word png")
_FORMS = {"html": ("png", "svg"), "tex": ("png", "pdf"), "pdf": ("png", "pdf"), "docx": ("png",)}


def read_header(header: str) -> tuple[str, ...]:
    """The lines of a header: the text itself, or that of a file whose name ends in ``.txt``.

    Raises :class:`Malformed` where the file can't be read, or it is too long.

    >>> read_header("Deep Learning, sheet 3")
    ('Deep Learning, sheet 3',)
    """
    text = header
    if header.endswith(".txt"):
        with blamed_on(header):
            text = decoded(content(Path(header), "the header", *_HEADER))
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    if len(lines) > LINES or any(len(line) > LETTERS for line in lines):
        raise Malformed(f"a header has at most {LINES} lines of {LETTERS} letters")
    return lines


def read_logo(path: Path, form: str) -> Logo:
    """The logo in a file, for documents of that form.

    Raises :class:`Malformed` for what is no image that they can show, and for one
    that is too large.
    """
    kind = path.suffix.lower().removeprefix(".")
    if not (kinds := _FORMS.get(form)):
        raise Malformed(f"{path}: a logo is for {', '.join(_FORMS)}, not for {form}")
    if kind not in kinds:
        wanted = " or ".join(kinds)
        raise Malformed(f"{path}: a logo for {form} is {wanted}, found {short(kind) or 'nothing'}")
    with blamed_on(path):
        data = content(path, "the logo", *_LOGO)
    if len(data) > BYTES:
        raise Malformed(f"{path}: a logo of {len(data)} bytes; at most {BYTES} are allowed")
    if not _KINDS[kind](data):
        raise Malformed(f"{path}: the file's content is not {kind.upper()}")
    return Logo(data, kind)


def _is_png(data: bytes) -> bool:
    begins = data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR"
    return begins and b"IEND" in data[-12:]


def _is_pdf(data: bytes) -> bool:
    return data.startswith(b"%PDF-") and b"%%EOF" in data[-1024:]


def _is_svg(data: bytes) -> bool:
    """Return whether it is well-formed, an ``svg``, and defines nothing of its own."""
    names: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: names.append(name)
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError:
        return False
    return names[0].rpartition(":")[2] == "svg"


def _refuse(*declaration: object) -> None:
    """What a document declares could be as long as it likes."""
    raise expat.ExpatError


_KINDS = {"png": _is_png, "pdf": _is_pdf, "svg": _is_svg}
