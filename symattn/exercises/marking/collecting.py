"""Collecting what students answered, wherever it stands, and what is wrong with it.

Points: what each answer is worth, exactly.

Scripts: what students hand in, answer by answer, as they wrote it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Literal, NamedTuple, get_args

from symattn.errors import Fault, Faults, Malformed, SymattnError, expected, short
from symattn.exercises.exercise import Exercise, Part
from symattn.expressions import syntax
from symattn.expressions.shapes import show
from symattn.expressions.syntax import gradient_name
from symattn.languages.sentence import Sentence
from symattn.numbers import rounding
from symattn.numbers.rationals import MAX_LENGTH, PrintedNumber, read_printed
from symattn.numbers.reading import Masked, read, read_entry
from symattn.spelling import SIGN
from symattn.tables.places import kind, table, unknown

#: What an answer may be. ``unread`` is no number, ``blank`` is none at all.
Outcome = Literal["right", "early", "follows", "slip", "wrong", "unread", "blank"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

#: What can be set: all that is neither right nor no answer at all.
_SET = ("early", "follows", "slip", "wrong")


@dataclass(frozen=True)
class Scheme:
    """The part of its points that an answer gets which is not right: rounded too
    early, following from an earlier slip, a slip that can be named, wrong.

    What is right gets all, and what is blank or no number nothing.
    """

    early: Fraction = Fraction(3, 4)
    follows: Fraction = Fraction(1)
    slip: Fraction = Fraction(1, 2)
    wrong: Fraction = Fraction(0)

    @property
    def table(self) -> dict[str, str]:
        """The table that says this.

        >>> Scheme().table["early"]
        '3/4'
        """
        return {name: str(getattr(self, name)) for name in _SET}

    def worth(self, outcome: Outcome) -> Fraction:
        """The part of its points that an answer gets.

        >>> Scheme().worth("slip"), Scheme().worth("right"), Scheme().worth("blank")
        (Fraction(1, 2), Fraction(1, 1), Fraction(0, 1))
        """
        if outcome in _SET:
            share: Fraction = getattr(self, outcome)
            return share
        return Fraction(outcome == "right")

    def of_part(self, part: Part, marks: tuple[Mark, ...]) -> Fraction:
        """The points of a part: each of its answers is worth the same."""
        return sum((self.worth(mark.outcome) for mark in marks), Fraction(0)) * Fraction(
            part.points, len(marks)
        )

    def of(self, judged: JudgedScript) -> Fraction:
        """The points of a script."""
        return sum((self.of_part(part, marks) for part, marks in judged.parts), Fraction(0))


#: The scheme where nothing else is said.
DEFAULT = Scheme()


def most(judged: JudgedScript) -> int:
    """The points that there are."""
    return sum(part.points for part, _ in judged.parts)


def read_scheme(entry: object) -> Scheme:
    """The scheme of a table; what it leaves out is as it is by default.

    Raises :class:`Malformed` with every fault.

    >>> read_scheme({"slip": "1/3", "early": Decimal("0.5")}).slip
    Fraction(1, 3)
    >>> read_scheme({"slip": 2, "erly": 0})
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      erly: unknown key 'erly': did you mean early?
      slip: expected a share from 0 to 1, found 2
    """
    stated: Mapping[str, object] = table(entry)
    faults = unknown(stated, _SET)
    parts: dict[str, Fraction] = {}
    for key in _SET:
        if key in stated:
            with faults.inside(key):
                parts[key] = _part(stated[key])
    faults.raise_all()
    return Scheme(**parts)


def _part(raw: object) -> Fraction:
    try:
        number = read(raw).rational()
    except SymattnError:
        number = None
    if number is None or isinstance(raw, bool) or not 0 <= number <= 1:
        raise Malformed(f"expected a share from 0 to 1, found {raw}")
    return Fraction(int(number.p), int(number.q))


def points_text(points: Fraction) -> str:
    """Points as people read them: to two places, without final zeros.

    >>> points_text(Fraction(15, 2)), points_text(Fraction(22, 3)), points_text(Fraction(4))
    ('7.5', '7.33', '4')
    """
    rounded = Decimal(floor(points * 100 + Fraction(1, 2))).scaleb(-2)
    return f"{rounded.normalize() if rounded % 1 else rounded.to_integral_value():f}"


#: A closed form is computed on with so many places.
_PLACES = 12

_COMMA = re.compile(rf"{SIGN}?\s*(?=,?[0-9])[0-9]*,[0-9]*\s*%?\Z")
#: What may be a number in thousands.
_THOUSANDS = re.compile(rf"{SIGN}?\s*[1-9][0-9]{{0,2}},[0-9]{{3}}\s*%?\Z")


class Blank(NamedTuple):
    """An entry that is asked for: row ``i`` and column ``j`` of the grid of a quantity."""

    quantity: str
    i: int
    j: int


@dataclass(frozen=True)
class Answer:
    """An answer: its text, and the number that it is; None is a masked score."""

    text: str
    printed: PrintedNumber | None


@dataclass(frozen=True)
class Script:
    """The answers of one student to one version; ``unread`` are the texts that are no numbers. What
    is in neither is left blank."""

    student: str
    version: int
    answers: Mapping[Blank, Answer]
    unread: Mapping[Blank, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MarkedSlip:
    """The slip behind some answers: its kind, how it is said, and others that give the same."""

    kind: str
    phrase: Sentence
    rivals: tuple[Sentence, ...] = ()


@dataclass(frozen=True)
class Mark:
    """One answer, judged; ``correct`` is the right one.

    ``fewer``: it is right, but to fewer places than asked. ``because`` are the wrong answers that
    one which ``follows`` was computed from; ``slip`` is the one that explains it; ``but`` says how
    a wrong one differs from the right one, if that may be a miswriting.
    """

    blank: Blank
    label: str
    text: str
    outcome: Outcome
    correct: str
    fewer: bool = False
    because: tuple[Blank, ...] = ()
    slip: MarkedSlip | None = None
    but: str = ""


@dataclass(frozen=True)
class JudgedScript:
    """A script with what each of its answers is, part by part and row by row."""

    script: Script
    parts: tuple[tuple[Part, tuple[Mark, ...]], ...]

    @property
    def marks(self) -> Iterator[Mark]:
        """The marks of all parts."""
        return (mark for _, marks in self.parts for mark in marks)

    @cached_property
    def slips(self) -> tuple[MarkedSlip, ...]:
        """The slips that were named, in the order of the answers."""
        return tuple(dict.fromkeys(mark.slip for mark in self.marks if mark.slip is not None))

    def count(self, outcome: Outcome) -> int:
        """Return how many answers are that."""
        return sum(mark.outcome == outcome for mark in self.marks)


def read_answer(text: str, comma: bool = False) -> Answer:
    """The answer that a text is: decimals, fractions, closed forms, ``-inf``.

    ``comma``: where its source writes decimals with a comma, ``1,234`` is less than 2;
    elsewhere a comma is one of decimals only where nothing else can be meant. Raises
    :class:`Malformed`.

    >>> [read_answer(text).printed.text for text in ("0.710", "0,71", "1/3", "1/(1 + exp(1))")]
    ['0.710', '0.71', '0.333333333333', '0.268941421370']
    >>> read_answer("1,234")
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: '1,234' may be 1.234 or 1234: write it without a comma
    """
    text = text.strip()
    plain = text
    if _COMMA.match(text):
        if _THOUSANDS.match(text) and not comma:
            point, whole = text.replace(",", "."), text.replace(",", "")
            raise Malformed(f"{text!r} may be {point} or {whole}: write it without a comma")
        plain = text.replace(",", ".")
    try:
        return Answer(text, read_printed(plain))
    except Malformed:
        pass
    try:
        value = read_entry(plain)
        if isinstance(value, Masked):
            return Answer(text, None)
        return Answer(text, read_printed(f"{rounding.decimal(value, _PLACES):f}"))
    except SymattnError as error:
        message = error.faults[0].message if isinstance(error, Malformed) else str(error)
        if len(text) > MAX_LENGTH or not any(map(str.isdigit, text)):
            message = f"expected a number, found {short(text)!r}"
        raise Malformed(message) from None


#: Longest name of a student.
_NAME = 200
#: What the last axes of a quantity are called.
_AXES = ("row", "column")


@dataclass(frozen=True)
class Answers:
    """The contents of a file of answers: the scripts, in their order; ``faults`` are all that could
    not be used, ``refused`` the students whose scripts can't be marked for them; ``scheme`` is the
    file's own, if it has one."""

    scripts: tuple[Script, ...]
    faults: Faults
    refused: tuple[str, ...] = ()
    scheme: Scheme | None = None


@dataclass
class _Draft:
    """A script while it is read; ``version`` is None until it is known, ``line`` is that
    where it begins."""

    line: int = 0
    version: int | None = None
    answers: dict[Blank, Answer] = field(default_factory=dict)
    unread: dict[Blank, str] = field(default_factory=dict)


class Collector:
    """Takes up answers, wherever they stand; what is wrong with them becomes a fault."""

    def __init__(self, exercises: Mapping[int, Exercise]) -> None:
        self._exercises = exercises
        self._drafts: dict[str, _Draft] = {}
        self._refused: dict[str, None] = {}
        self._blanks: dict[str, Blank] = {}
        self.faults = Faults()
        self.scheme: Scheme | None = None
        # All versions ask for the same.
        self.asked = next(iter(exercises.values()))
        #: The shape of each quantity that is asked for.
        self.shapes = {part.quantity: self.asked.shape(part) for part in self.asked.parts}

    def answers(self) -> Answers:
        """All that was read."""
        scripts = []
        for name, draft in self._drafts.items():
            if name in self._refused:
                continue
            if draft.version is None:
                self._refused[name] = None
                message = f"expected the version that {name} answers, one of "
                self.faults.append(Fault("", message + _listed(self._exercises), draft.line))
                continue
            scripts.append(Script(name, draft.version, draft.answers, draft.unread))
        return Answers(tuple(scripts), self.faults, tuple(self._refused), self.scheme)

    def student(self, raw: object) -> str:
        """A student's name. Raises :class:`Malformed` where it is none."""
        if not isinstance(raw, str):
            raise Malformed(f"expected a student's name, found {kind(raw)}")
        name = unicodedata.normalize("NFC", " ".join(raw.split()))
        if not name:
            raise Malformed("expected a student's name, found nothing")
        if len(name) > _NAME:
            raise Malformed(f"a name of {len(name)} characters; at most {_NAME} are allowed")
        return name

    def begin(self, student: str, version: object, line: int = 0) -> bool:
        """A student answers a version, if that is told; whether the answers are of any use.

        Raises :class:`Malformed` where that is none, or not the one of earlier answers.
        """
        if student in self._refused:
            return False
        draft = self._drafts.setdefault(student, _Draft(line=line))
        try:
            number = self._version(version)
            if draft.version not in (None, number) and number is not None:
                raise Malformed(f"{student} answers version {draft.version}, found {number}")
            draft.version = number if draft.version is None else draft.version
        except Malformed:
            self._refused[student] = None
            raise
        return True

    def _version(self, raw: object) -> int | None:
        text = str(raw if raw is not None else "").strip()
        if not text:
            return next(iter(self._exercises)) if len(self._exercises) == 1 else None
        match = re.fullmatch(r"0*([0-9]{1,9})", text)
        if match is None or int(match[1]) not in self._exercises:
            wanted = _listed(self._exercises)
            raise Malformed(f"expected a version, one of {wanted}, found {short(text)!r}")
        return int(match[1])

    def blank(self, label: str) -> Blank:
        """The blank of ``S[0, 1]``. Raises :class:`Malformed` where there is none."""
        if label not in self._blanks:
            self._blanks[label] = self._blank_of(label)
        return self._blanks[label]

    def _blank_of(self, label: str) -> Blank:
        tree: syntax.Tree | None = None
        with suppress(Malformed):
            tree = syntax.parse(label)
        indices: tuple[object, ...] = ()
        while isinstance(tree, syntax.Indexed):
            indices = (*tree.keys, *indices)
            tree = tree.operand
        match tree:
            case syntax.Name(name):
                return self.at(self.quantity(name), indices)
            case syntax.Gradient(name):
                return self.at(self.quantity(gradient_name(name)), indices)
        raise Malformed(f"expected a blank such as S[0, 1], found {short(label)!r}")

    def quantity(self, text: str) -> str:
        """Return what is asked for, by its name. Raises :class:`Malformed` for anything else."""
        text = text.strip()
        if text in self.shapes:
            return text
        if (name := self.asked.case.program.known(text)) in self.shapes:
            return name
        if name is not None:
            known = ", ".join(self.shapes)
            raise Malformed(f"{text} is not asked for: expected one of {known}")
        raise Malformed(f"unknown name {short(text)!r}: {expected(text, self.shapes)}")

    def at(self, name: str, indices: Sequence[object]) -> Blank:
        """The blank of a quantity at its indices, counted as on the exercise."""
        shape, first = self.shapes[name], self.asked.first
        if len(indices) != len(shape):
            wanted = ("no index", "one index", "a row and a column")[len(shape)]
            raise Malformed(f"{name} is {show(shape)}: expected {wanted}, found {len(indices)}")
        for word, index, length in zip(_AXES[2 - len(shape) :], indices, shape, strict=True):
            if not isinstance(index, int) or not 0 <= index - first < length:
                found = f"{length - 1 + first}, found {short(str(index))}"
                message = f"expected a {word} from {first} to {found}"
                raise Malformed(f"{name} is {show(shape)}: {message}")
        i, j = (first, first, *indices)[-2:]
        assert isinstance(i, int)
        assert isinstance(j, int)
        return Blank(name, i - first, j - first)

    def take(self, student: str, blank: Blank, text: str, comma: bool = False) -> None:
        """Take up an answer; nothing is a blank.

        Raises :class:`Malformed` for a second answer to one blank, and for what is no
        number, which is kept as it is.
        """
        text = text.strip()
        if not text:
            return
        draft = self._drafts[student]
        if blank in draft.answers or blank in draft.unread:
            raise Malformed(f"{student} has answered this already")
        try:
            draft.answers[blank] = read_answer(text, comma)
        except Malformed:
            draft.unread[blank] = text
            raise


def _listed(known: Iterable[int]) -> str:
    """Versions as a message lists them: ``1 to 30``."""
    numbers = sorted(known)
    if len(numbers) > 3 and numbers == [*range(numbers[0], numbers[-1] + 1)]:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers[:40])) + (", ..." if len(numbers) > 40 else "")
