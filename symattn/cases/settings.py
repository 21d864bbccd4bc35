"""Settings of a sheet: by whom it is for, by its case's ``[sheet]`` table, by flags.

What a case file says of the exercise that is made of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from symattn.errors import Fault, Malformed, expected, short
from symattn.expressions import syntax
from symattn.languages.language import ENGLISH, Language, language
from symattn.tables.places import kind, misfits, unknown

if TYPE_CHECKING:
    from symattn.programs.program import Program

Audience = Literal["student", "teacher", "author"]
Detail = Literal["brief", "full"]
Paper = Literal["a4", "letter"]

#: What can be chosen where a setting is one of a few words; the first is the default.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "audience": get_args(Audience),
    "detail": get_args(Detail),
    "paper": get_args(Paper),
}

#: The parts that can be left out, each with those whom it is for unless they are asked.
PARTS: Mapping[str, tuple[str, ...]] = {
    "drawing": ("student", "teacher", "author"),
    "backward": ("student", "teacher", "author"),
    "jacobian": ("student", "teacher", "author"),
    "crosscheck": ("author",),
    "audit": ("teacher", "author"),
    "commands": ("teacher", "author"),
}

#: The most decimal places of a sheet.
MOST_PLACES = 30


class Changes(TypedDict, total=False):
    """Changes to :class:`SheetSettings`."""

    audience: Audience
    detail: Detail
    places: int
    count_from: int
    drawing: bool
    backward: bool
    jacobian: bool
    crosscheck: bool
    audit: bool
    commands: bool
    paper: Paper
    language: str


@dataclass(frozen=True)
class SheetSettings:
    """The contents of a sheet. Made by :func:`settings`, which checks it.

    ``audience`` is whom it is for. The parts: ``drawing`` the flow of the steps, on pages for the
    browser; ``backward`` the gradients and, in these, ``jacobian`` the softmax Jacobians;
    ``crosscheck`` how NumPy and SymPy confirm every quantity; ``audit`` where the document differs;
    ``commands`` how the sheet is made again, and where a rule is proved. ``places`` are the decimal
    places, ``count_from`` is 0 or 1, for rows and columns, ``detail`` is ``brief`` or ``full``,
    ``paper`` ``a4`` or ``letter``, and ``language`` the code of one or the path of a language file.
    """

    audience: Audience = "student"
    detail: Detail = "brief"
    places: int = 4
    count_from: int = 0
    drawing: bool = True
    backward: bool = True
    jacobian: bool = True
    crosscheck: bool = False
    audit: bool = False
    commands: bool = False
    paper: Paper = "a4"
    language: str = ENGLISH.name

    @property
    def say(self) -> Language:
        """Return what says the sentences of the sheet in its language."""
        return language(self.language)

    def beyond(self, table: Mapping[str, object]) -> dict[str, object]:
        """Return what must be said on top of a ``[sheet]`` table to come to these settings.

        >>> author = settings({"audience": "author", "places": 6})
        >>> author.beyond({}), author.beyond({"audience": "author", "audit": False})
        ({'audience': 'author', 'places': 6}, {'places': 6, 'audit': True})
        """
        extra: dict[str, object] = {}
        # Whom it is for comes first, and decides about what is not said.
        for name, value in asdict(self).items():
            if getattr(settings(table, extra), name) != value:
                extra[name] = value
        return extra


#: The names of all settings.
NAMES = tuple(field.name for field in fields(SheetSettings))


def settings(*tables: Mapping[str, object]) -> SheetSettings:
    """The settings that tables come to, later ones over earlier ones; what none
    names is as the audience wants it.

    Raises :class:`Malformed` with every fault.

    >>> settings({"audience": "author", "audit": False}).crosscheck
    True
    >>> settings({"places": 5}, {"places": 6}).places
    6
    >>> settings({"paper": "a5", "commands": "no"})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      paper: unknown paper 'a5': expected one of a4, letter
      commands: expected true or false, found text
    """
    asked: dict[str, object] = {}
    for table in tables:
        asked |= table
    faults = unknown(asked, NAMES)
    faults += [
        Fault(name, wrong)
        for name, value in asked.items()
        if name in NAMES
        for wrong in _wrong(name, value)
    ]
    faults.raise_all()
    audience = str(asked.get("audience", SheetSettings.audience))
    wanted = {part: audience in audiences for part, audiences in PARTS.items()}
    return SheetSettings(**{**wanted, **asked})  # type: ignore[arg-type]


def _wrong(name: str, value: object) -> Iterator[str]:
    """Yield what is wrong with the value of a setting."""
    if name in PARTS:
        if not isinstance(value, bool):
            yield f"expected true or false, found {kind(value)}"
    elif name == "places":
        if not isinstance(value, int) or isinstance(value, bool):
            yield f"expected a whole number, found {kind(value)}"
        elif not 1 <= value <= MOST_PLACES:
            yield f"expected 1 to {MOST_PLACES} places on a sheet, found {short(str(value))}"
    elif name == "count_from":
        if value not in (0, 1) or isinstance(value, bool):
            yield f"rows are counted from 0 or 1, found {short(str(value))}"
    elif not isinstance(value, str):
        yield f"expected text, found {kind(value)}"
    elif name == "language":
        try:
            language(value)
        except Malformed as error:
            yield from (fault.at(error.source) for fault in error.faults)
    elif value not in CHOICES[name]:
        yield f"unknown {name} {short(value)!r}: {expected(value, CHOICES[name])}"


#: What an exercise can ask for: the forward pass, the same under a mask, the
#: gradients too, or why a formula holds.
LEVELS = ("forward", "masked", "backward", "proof")

#: Decimal places of an answer, and points of a part, at most.
MOST_ANSWER_PLACES, MOST_POINTS = 12, 1000

_KEYS: Mapping[str, type] = {
    **dict.fromkeys(("title", "level"), str),
    "ask": list,
    "points": dict,
    "places": int,
}


@dataclass(frozen=True)
class ExerciseTable:
    """The ``[exercise]`` of a file; what it leaves out is empty, or None.

    ``ask`` names steps and gradients, at level proof derivations; ``points`` are by the same names.
    """

    title: str = ""
    level: str = ""
    ask: tuple[str, ...] = ()
    points: Mapping[str, int] = field(default_factory=dict)
    places: int | None = None

    @property
    def table(self) -> dict[str, object]:
        """The table that says this.

        >>> ExerciseTable(title="Sheet 3", points={"A": 3}).table
        {'title': 'Sheet 3', 'points': {'A': 3}}
        """
        rest = {"ask": list(self.ask), "points": dict(self.points), "places": self.places}
        every: dict[str, object] = {"title": self.title, "level": self.level, **rest}
        return {key: value for key, value in every.items() if value or value == 0}


def read_asked(
    program: Program, entry: Mapping[str, object], passed_over: Collection[str] = ()
) -> ExerciseTable:
    """Return what an ``[exercise]`` table says about a program.

    Names that are ``passed_over`` are not held against it, nor are those of
    derivations. Raises :class:`Malformed` with every fault.

    >>> from symattn.programs.program import program
    >>> made = program({"X": (2, 2)}, {"S": "X @ X.T", "A": "softmax(S)"})
    >>> read_asked(made, {"ask": ["A"], "points": {"A": 3}}).points
    {'A': 3}
    >>> read_asked(made, {"ask": ["X", "B"], "places": "2", "points": {"A": 0}})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 4 faults
      places: expected a number, found text
      ask[0]: X is given: expected one of S, A
      ask[1]: unknown name 'B': expected one of S, A
      points.A: expected 1 to 1000 points, found 0
    """
    faults = unknown(entry, _KEYS)
    faults += misfits(entry, _KEYS)
    sound: dict[str, Any] = {
        key: entry[key] for key, of in _KEYS.items() if isinstance(entry.get(key), of)
    }
    level = str(sound.get("level", ""))
    if level and level not in LEVELS:
        faults.append(Fault("level", f"unknown level {short(level)!r}: {expected(level, LEVELS)}"))
    names = _AskedNames(program, passed_over, level == "proof")
    ask: dict[str, None] = {}
    for place, name in enumerate(sound.get("ask", [])):
        with faults.inside(f"ask[{place}]"):
            quantity = names.of(name)
            if quantity in ask:
                raise Malformed(f"{quantity} is asked twice")
            ask[quantity] = None
    points: dict[str, int] = {}
    for name, count in sound.get("points", {}).items():
        with faults.inside(f"points.{name}"):
            quantity = names.of(name)
            if ask and quantity not in ask:
                raise Malformed(f"{quantity} is not among what is asked: {', '.join(ask)}")
            points[quantity] = _whole(count, "points", 1, MOST_POINTS)
    places = sound.get("places")
    if places is not None:
        with faults.inside("places"):
            _whole(places, "places", 0, MOST_ANSWER_PLACES)
    faults.raise_all()
    return ExerciseTable(
        str(sound.get("title", "")),
        level,
        tuple(ask),
        points,
        places if isinstance(places, int) else None,
    )


class _AskedNames:
    """What the names of an exercise mean."""

    def __init__(self, program: Program, passed_over: Collection[str], proofs: bool) -> None:
        self._program = program
        self._passed_over = passed_over
        self._proofs = proofs
        self._known = [name for name in program.named if name not in program.given]

    def of(self, name: object) -> str:
        """A step or a gradient by the name that results have: ``dL/dQ`` for ``dQ``."""
        if not isinstance(name, str):
            raise Malformed(f"expected a name, found {kind(name)}")
        if self._proofs or name in self._passed_over or name in self._known:
            return name
        if name in self._program.given:
            raise Malformed(f"{name} is given: expected one of {', '.join(self._known)}")
        known = self._program.known(name)
        if known is None and (quantity := syntax.gradient_of(name)) is not None:
            known = syntax.gradient_name(quantity)
        if known is None or (known not in self._known and known not in self._passed_over):
            raise Malformed(f"unknown name {short(name)!r}: {expected(name, self._known)}")
        return known


def _whole(value: object, what: str, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed(f"expected a whole number, found {kind(value)}")
    if not least <= value <= most:
        raise Malformed(f"expected {least} to {most} {what}, found {value}")
    return value
