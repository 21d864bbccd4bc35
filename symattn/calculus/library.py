"""The bundled derivations, and derivations from a reader's own file or text.

A derivation as it is written by hand: a text with a definition or a claim on each line.

.. code-block:: text

    # Softmax backward
    S: n x m
    L: function of A
    A = softmax(S)
    The weights of a row add up to 1:
    rowsum(A) = ones(n)
    dS = A * (dA - rowsum(A * dA))     # by the chain rule

The first ``NAME = ...`` defines that name, what is equated later is claimed. It
becomes the tables of a derivation file, in which every line has its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from symattn.calculus import draft as drafts
from symattn.calculus.derivation import Derivation
from symattn.calculus.draft import DerivationDraft
from symattn.calculus.judging import derived
from symattn.errors import Fault, Faults, Malformed, UnknownName, alike, short
from symattn.limits import CHARACTERS, LINE_SECONDS
from symattn.spelling import whole
from symattn.tables.file import File, content, decoded, folder, parsed

SHAPE = "define it on a line before, or give its shape there, as in 'S: n x m' or 't: number'"
"""What to do about a name of which nothing is known."""
_NOTHING = (
    "nothing is claimed: the first 'A = ...' defines A, and what is equated after it is judged,"
    " as in 'rowsum(A) = ones(n)'"
)

_NAME = r"[A-Za-z_]\w*"
#: A table of a derivation file has its name in brackets on a line of its own.
_TABLE = re.compile(r"^\s*\[\[?\w+\]\]?\s*(?:#.*)?$", re.MULTILINE)
_HEADING = re.compile(r"#+\s+(\S.*?)[\s#]*")
_FENCE = re.compile(r"(?:```|~~~).*|-{3,}|\*{3,}|={3,}")
#: What may stand before a formula.
_LEAD = re.compile(
    r"(?:[-*+•>]|\(?\d+[.)]|(?:let|define|then|so|hence|thus|therefore|now|and)\b[,:]?|=>|⇒|∴"
    r"|[A-Za-z][\w ]*:(?=.*=))\s+",
    re.IGNORECASE,
)
_REASON = re.compile(r"(?:,?\s+(?:#|//|because\b:?)|,?\s+(?=(?:since|by)\b))\s*")
_GIVEN = re.compile(rf"({_NAME}(?:\s*,\s*{_NAME})*)\s*(?::|∈|\bin\b|\bis\b|(?=\())\s*(.+)")
_LOSS = re.compile(rf"(?:any |an? |differentiable |scalar )*(?:function|loss) of ({_NAME})")
_PERMUTATION = re.compile(rf"(?:any |an? )?permutation of ({_NAME})")
_ASSUMED = re.compile(r"(?:assume|suppose|where|with)\b[,:]?\s+(?:that\s+)?", re.IGNORECASE)
_NUMBER = re.compile(r"(?:an? |any |real )*(?:number|scalar)|R|ℝ|\(\s*\)", re.IGNORECASE)
#: Words and signs about a shape that say nothing of it.
_FILLER = re.compile(r"\b(?:an?|real|matrix|vector|array|of|with|entries)\b|[Rℝ]\s*\^|[(){}]")
_SIZES = re.compile(r"\w+(?:\s*(?:\bx\b|×|,|\*|\bby\b)\s*\w+)*")
_HEAD = re.compile(rf"({_NAME})(?:\[\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\])?")
_EQUALS = re.compile(r"(?<![<>=!:]):?={1,2}(?!=)")
_BETWEEN = re.compile(r"[,;]\s+(?:and\s+)?|\s+and\s+")
#: Other ways to write signs of the language.
_SIGNS = (
    *((re.compile("[⊙∘]"), "*"), (re.compile(r"\^\{?(?:T|⊤|top)\}?(?!\w)|ᵀ"), ".T")),
    *((re.compile("²"), "**2"), (re.compile("³"), "**3"), (re.compile(r"\^(?=\d)"), "**")),
)
_GRADIENT = re.compile(r"\bd([A-Za-z]\w*)\b")
_TICKED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Manuscript(File):
    """A text, the tables that it stands for, and the line of each place in them."""

    at: Mapping[str, int] = field(default_factory=dict)

    def line(self, where: str) -> int:
        """The line of the nearest that is known about a place in the tables."""
        if where in self.at:
            return self.at[where]
        known = [key for key in self.at if where.startswith(key)]
        return self.at[max(known, key=len)] if known else 0


def _is_by_hand(text: str) -> bool:
    """Whether a derivation is written by hand, not in the tables of a TOML file.

    >>> _is_by_hand("A = softmax(S)"), _is_by_hand("[shapes]")
    (True, False)
    """
    return _TABLE.search(text) is None


def read_text(path: Path, content: bytes) -> Manuscript:
    """The text of these bytes, as tables. Raises :class:`Malformed` with its faults.

    >>> read_text(Path("-"), b"t: number\\nu = t * t\\nu = t**2").document["lines"]
    [{'line': 'u == t**2', 'because': '', 'part': ''}]
    """
    text = decoded(content)
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        reader.line(number, line)
    if not reader.lines and not reader.faults:
        reader.faults.append(Fault("", _NOTHING))
    if reader.faults:
        raise Malformed(reader.faults, str(path))
    return Manuscript(path, text, reader.document(), reader.at)


class _Reader:
    """Reads a text line by line."""

    def __init__(self) -> None:
        self.title = self.part = ""
        self.sizes: dict[str, None] = {}
        self.shapes: dict[str, list[str | int]] = {}
        self.losses: dict[str, str] = {}
        self.permutations: dict[str, str] = {}
        self.define: dict[str, str] = {}
        self.hypotheses: list[str] = []
        self.lines: list[dict[str, str]] = []
        self.at: dict[str, int] = {}
        self.faults = Faults()
        self._defined: set[str] = set()
        self._words: list[str] = []
        self._first: list[str] = []
        self._last = self._chain = ""

    def document(self) -> dict[str, Any]:
        """The tables of a derivation file that says the same."""
        tables = ("shapes", "losses", "permutations", "define", "hypotheses", "lines")
        return {
            "title": self.title,
            "statement": " ".join(self._first),
            "sizes": [*self.sizes],
            **{table: getattr(self, table) for table in tables},
        }

    def line(self, number: int, line: str) -> None:
        """Take in one line: a heading, what is given or assumed, equations, or words."""
        line = " ".join(line.split())
        if len(line) > CHARACTERS.most:
            self.faults.append(Fault("", CHARACTERS.said(len(line)), number))
        elif not line or _FENCE.fullmatch(line):
            return
        elif heading := _HEADING.fullmatch(line):
            self._heading(heading[1])
        elif ticked := [formula for formula in _TICKED.findall(line) if _EQUALS.search(formula)]:
            self._words.append(_EQUALS.sub("==", _LEAD.sub("", line, count=1)))
            for formula in ticked:
                self._formula(number, formula)
        else:
            self._formula(number, line)

    def _heading(self, words: str) -> None:
        if self.title or self.lines:
            self.part = words
        else:
            self.title = words

    def _formula(self, number: int, line: str) -> None:
        plain = line
        for pattern, written in _SIGNS:
            plain = pattern.sub(written, plain)
        while lead := _LEAD.match(plain):
            plain = plain[lead.end() :]
        formula, *reason = _REASON.split(plain, maxsplit=1)
        formula = formula.rstrip(" .,;:")
        if any(self._given(number, part) for part in (plain.rstrip(" .,;"), formula)):
            return
        assumed = _ASSUMED.match(formula)
        body = formula[assumed.end() :] if assumed else formula
        parts, sides = _apart(body, _BETWEEN), _apart(body, _EQUALS)
        if len(parts) > 1 and all(re.search("[<>=]", part) for part in parts):
            for part in parts:
                statement = f"{assumed[0] if assumed else ''}{part}"
                self._formula(number, " # ".join([statement, *reason]))
        elif assumed or (len(sides) == 1 and re.search("[<>]", body)):
            self._note("hypotheses", number, len(self.hypotheses))
            self.hypotheses.append(" == ".join(sides))
        elif len(sides) > 1:
            sign = next(_outside(body, _EQUALS))[0]
            self._equation(number, sides, " ".join(reason), sign)
        else:
            self._words.append(line)

    def _note(self, table: str, number: int, place: int) -> None:
        self.at[f"{table}[{place}]"] = number

    # -- what is given -----------------------------------------------------------

    def _given(self, number: int, line: str) -> bool:
        """Whether a line says what something is: a shape, a loss, a permutation."""
        given = _GIVEN.fullmatch(line)
        if given is None or _EQUALS.search(line):
            return False
        names, meaning = re.split(r"\s*,\s*", given[1]), given[2].strip()
        if loss := _LOSS.fullmatch(meaning):
            self._put("losses", dict.fromkeys(names, loss[1]), number)
        elif permutation := _PERMUTATION.fullmatch(meaning):
            self._put("permutations", dict.fromkeys(names, permutation[1]), number)
        elif names == ["sizes"] or (shape := _shape(meaning)) is None:
            return False
        else:
            self.sizes |= dict.fromkeys(size for size in shape if isinstance(size, str))
            self._put("shapes", dict.fromkeys(names, shape), number)
        return True

    def _put(self, table: str, entries: Mapping[str, Any], number: int) -> None:
        getattr(self, table).update(entries)
        self.at |= {f"{table}.{name}": number for name in entries}

    # -- equations ---------------------------------------------------------------

    def _equation(self, number: int, sides: list[str], reason: str, sign: str) -> None:
        head = _HEAD.fullmatch(sides[0])
        # Without a left side it goes on from the line before, and with its chain.
        self._chain = sides[0] or self._chain
        sides[0] = sides[0] or self._last
        self._last = sides[-1]
        if head and (sign == ":=" or (sign == "=" and not self._knows(head[1], sides[1]))):
            self._gradients(number, sides[1])
            self._put("define", {sides[0]: sides[1]}, number)
            self._defined.add(head[1])
            self._first, self._words = [*self._first, *self._words], []
            sides = [sides[0], *sides[2:]]
        if len(sides) > 1:
            self._gradients(number, *sides)
            self._note("lines", number, len(self.lines))
            because = " ".join([*self._words, reason]).strip()
            self._words = []
            entry = {"line": " == ".join(sides), "because": because, "part": self.part}
            if self._chain != sides[0]:
                entry["first"] = self._chain
            self.lines.append(entry)

    def _knows(self, name: str, formula: str) -> bool:
        """Whether a name has a meaning already; one that has only a shape may be defined yet,
        but not by itself."""
        by_itself = name in self.shapes and name in re.findall(r"\w+", formula)
        return name in self._defined or self._is_gradient(name) or by_itself

    def _is_gradient(self, name: str) -> bool:
        """Whether a name is that of a gradient, as ``dA`` where there is one loss."""
        known = {*self.shapes, *self._defined}
        return len(self.losses) == 1 and name not in known and name[:1] == "d" and name[1:] in known

    def _gradients(self, number: int, *formulas: str) -> None:
        """Define the gradients that are named, where nothing else has their names."""
        for name in (f"d{array}" for formula in formulas for array in _GRADIENT.findall(formula)):
            if self._is_gradient(name):
                (loss,) = self.losses
                self._put("define", {name: f"diff({loss}, {name[1:]})"}, number)
                self._defined.add(name)


def _shape(phrase: str) -> list[str | int] | None:
    """The sizes that a shape is made of; None where the words are no shape."""
    if _NUMBER.fullmatch(phrase):
        return []
    plain = _FILLER.sub(" ", phrase).strip()
    if not _SIZES.fullmatch(plain):
        return None
    words = re.findall(r"\w+", plain)
    return [
        word if (size := whole(word)) is None else size for word in words if word not in ("x", "by")
    ]


def _outside(formula: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Where a pattern is found outside of brackets; what is within is for who reads formulas."""
    depths = [0, *accumulate((piece in "([") - (piece in ")]") for piece in formula)]
    return (piece for piece in pattern.finditer(formula) if depths[piece.start()] == 0)


def _apart(formula: str, pattern: re.Pattern[str]) -> list[str]:
    """What stands between the places where a pattern is found."""
    parts, start = [], 0
    for separator in _outside(formula, pattern):
        parts.append(formula[start : separator.start()].strip())
        start = separator.end()
    return [*parts, formula[start:].strip()]


_KIND = ("derivation file", "docs/derivations.md shows one")

ORDER = (
    *("softmax-jacobian", "softmax-backward", "attention-gradients", "projection-gradients"),
    *("multi-head-gradients", "grouped-query-gradients", "pair-form", "masking"),
    *("shift-invariance", "log-sum-exp", "softmax-lipschitz", "score-scale"),
    *("cross-entropy", "linear-cross-entropy", "permutation", "rotary-positions"),
    *("blockwise-softmax", "online-softmax", "layer-norm-backward", "rms-norm-backward"),
    *("activation-derivatives", "feed-forward-gradients", "operation-counts"),
)
"""The order in which they build on one another; others follow by name."""


def names() -> tuple[str, ...]:
    """The names of the bundled derivations.

    >>> names()[:2]
    ('softmax-jacobian', 'softmax-backward')
    """
    stems = {path.stem for path in _folder().glob("*.toml")}
    return (*(name for name in ORDER if name in stems), *sorted(stems - {*ORDER}))


def _folder() -> Path:
    return folder() / "theory"


@cache
def derivation(name: str) -> Derivation:
    """The bundled derivation of that name, judged when it is first asked for.

    Raises :class:`UnknownName`.
    """
    if name not in names():
        wanted = f"expected the path of a file or one of {', '.join(names())}"
        raise UnknownName(f"no derivation {short(name)!r}: {alike(name, names()) or wanted}")
    return read(_folder() / f"{name}.toml")


def find(name: str) -> Derivation:
    """The bundled derivation of that name, or the one in the file at that path.

    Raises :class:`UnknownName`, or :class:`Malformed` with the faults of the file.
    """
    own = bool(Path(name).suffix) and name not in names()
    return read(Path(name)) if own else derivation(name)


def read(path: Path) -> Derivation:
    """The derivation in a file, judged: TOML, or a text as it is written by hand.

    Raises :class:`Malformed` with the faults of the file, each with its line.
    Lines that can't be read are undecided, and say why.
    """
    return judged(path, content(path, "the file", *_KIND))


def judged(path: Path, content: bytes) -> Derivation:
    """The derivation in these bytes of a file, as :func:`read` gives it."""
    try:
        file = _tables(path, content)
    except Malformed as error:
        raise Malformed(error.faults, str(path), error.more) from None
    derivation = _derived(file)
    if derivation.faults:
        raise Malformed(derivation.faults, str(path))
    return derivation


def _tables(path: Path, content: bytes) -> File:
    """The tables of a file; those that a text stands for which is written by hand."""
    by_hand = path.suffix != ".toml" and _is_by_hand(decoded(content))
    return read_text(path, content) if by_hand else parsed(path, content)


def _derived(file: File, seconds: float = LINE_SECONDS) -> Derivation:
    by_hand = isinstance(file, Manuscript)
    advice = SHAPE if by_hand else drafts.SHAPE
    name = file.path.stem if file.path.stem != "-" else "text"
    derivation = derived(name, file.document, draft_of, file.line, advice, seconds)
    faults = file.malformed(Faults(derivation.faults)).faults
    return replace(derivation, faults=faults, file="" if name in names() else file.path.name)


def derive(text: str, *, seconds: float = LINE_SECONDS) -> Derivation:
    """The derivation that a text writes down, judged line by line: TOML, or as by hand,
    with a definition or a claim on each line.

    It does not raise: ``faults`` say what could not be read, and each line has a
    ``status``: ``proved``, ``checked`` (at concrete sizes only), ``refuted`` with a
    ``counterexample``, or ``undecided`` with what is missing (``why``); so are lines that
    take more than ``seconds`` (0 for no limit).

    >>> found = derive('''
    ... x: n
    ... p = softmax(x)
    ... diff(p[i], x[k]) = p[i] * (delta(i, k) - p[k])
    ... diff(p[i], x[k]) = p[i] * (1 - p[k])
    ... ''')
    >>> [line.status for line in found.lines]
    ['proved', 'refuted']
    """
    try:
        file = _tables(Path("-"), text.encode())
    except Malformed as error:
        return Derivation("text", DerivationDraft(), (), error.faults)
    return _derived(file, seconds)


@cache
def draft_of(name: str) -> DerivationDraft | None:
    """What a bundled derivation says; None if there is none of that name."""
    if name not in names():
        return None
    path = _folder() / f"{name}.toml"
    return drafts.read(parsed(path, path.read_bytes()).document)


class Theory(Mapping[str, Derivation]):
    """All bundled derivations by name; each is judged when first asked for.

    >>> THEORY["softmax-jacobian"].proved
    True
    """

    def __getitem__(self, name: str) -> Derivation:
        return derivation(name)

    def __contains__(self, name: object) -> bool:
        return name in names()

    def __iter__(self) -> Iterator[str]:
        return iter(names())

    def __len__(self) -> int:
        return len(names())

    def __repr__(self) -> str:
        first, *_, last = names()
        return f"<theory: {len(self)} derivations, {first} to {last}>"


THEORY = Theory()
