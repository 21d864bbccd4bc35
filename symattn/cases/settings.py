"""What a sheet has in it: by whom it is for, by its case's ``[sheet]`` table, by flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Literal, TypedDict, get_args

from symattn.errors import Fault, Malformed, expected, short
from symattn.languages.language import ENGLISH, Language, language
from symattn.tables.entries import kind, unknown

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
    """What may be said of :class:`SheetSettings`."""

    audience: Audience
    detail: Detail
    places: int
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
    """What a sheet has in it. Made by :func:`settings`, which checks it.

    ``audience`` is whom it is for. The parts: ``drawing`` the flow
    of the steps, on pages for the browser; ``backward`` the gradients and, in
    these, ``jacobian`` the softmax Jacobians; ``crosscheck`` how NumPy and SymPy
    confirm every quantity; ``audit`` where the document differs; ``commands``
    how the sheet is made again, and where a rule is proved. ``places`` are the
    decimal places, ``detail`` is ``brief`` or ``full``, ``paper`` ``a4`` or
    ``letter``, and ``language`` the code of one or the path of a language file.
    """

    audience: Audience = "student"
    detail: Detail = "brief"
    places: int = 4
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
        """What says the sentences of the sheet in its language."""
        return language(self.language)

    def beyond(self, table: Mapping[str, object]) -> dict[str, object]:
        """What must be said on top of a ``[sheet]`` table to come to these settings.

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
    """What is wrong with the value of a setting."""
    if name in PARTS:
        if not isinstance(value, bool):
            yield f"expected true or false, found {kind(value)}"
    elif name == "places":
        if not isinstance(value, int) or isinstance(value, bool):
            yield f"expected a whole number, found {kind(value)}"
        elif not 1 <= value <= MOST_PLACES:
            yield f"expected 1 to {MOST_PLACES} places on a sheet, found {short(str(value))}"
    elif not isinstance(value, str):
        yield f"expected text, found {kind(value)}"
    elif name == "language":
        try:
            language(value)
        except Malformed as error:
            yield from (fault.at(error.source) for fault in error.faults)
    elif value not in CHOICES[name]:
        yield f"unknown {name} {short(value)!r}: {expected(value, CHOICES[name])}"
