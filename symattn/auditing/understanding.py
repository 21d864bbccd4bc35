"""An article as it was understood, in a few sentences: what a report begins with, what is left open
and why, and the notes that would change it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from symattn.auditing.audit import Audit
from symattn.auditing.figures import reached
from symattn.cases.claims import Claim
from symattn.documents.article import Article
from symattn.documents.binding.evidence import EVIDENCE
from symattn.documents.files import SIDE_FILE
from symattn.documents.reading import UNDEFINED, OpenQuestion, Reading, chains
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Named, walk
from symattn.errors import short
from symattn.expressions import syntax
from symattn.expressions.shapes import show
from symattn.languages.sentence import Sentence, joined
from symattn.verdicts import Verdict

#: So many names are told, and so many letters of a definition.
_NAMES, _LETTERS = 8, 60
#: A name that hides less than this part of what was not read is not worth a note.
_PART = 10
_OTHER = "its figures are those of"
#: Why something is open, without what it is about.
_REASONS: Mapping[str, str] = {
    "too little around it agrees to be sure what it is": (
        "too little around it agrees to be sure what it is"
    ),
    "only its value suggests so": "only its value suggests what it is",
    "what stands around it says so, but its figures do not agree": (
        "what stands around it says what it is, but its figures do not agree"
    ),
    "its figures are those of": "its figures are those of another quantity",
}


def basis(claim: Claim) -> str:
    """Return what a claim's binding rests on, in a sentence; '' where nothing is known of it.

    >>> from symattn.expressions.syntax import parse
    >>> found = Claim("", "A", parse("A"), basis="its name, its labels; 11 of 12 figures agree")
    >>> basis(found)
    'bound by: its name, its labels; 11 of 12 figures agree'
    """
    return Sentence("bound by: {basis}", basis=claim.basis) if claim.basis else ""


def _in_short(basis: str) -> str:
    """Return what a claim's binding rests on first of all, in a word."""
    first = (one.short for one in EVIDENCE.values() if basis.startswith(one.called))
    return next(first, basis)


@dataclass(frozen=True)
class Note:
    """A note that an author may add: the text to paste, and the line to put it before, 0 for
    anywhere above what it is about; ``when`` says what it is good for, and where it goes."""

    text: str
    line: int
    when: str


#: Forms without comments, in which notes could stand.
_SILENT = ("pdf", "word")


def _step_note(article: Article, name: str, expression: str, when: str) -> Note:
    """The note that defines a name."""
    if article.form in _SILENT:
        return Note(f'steps.{name} = "{expression}"', 0, _advice(article, None, when))
    return _note(article, f"{name} = {expression}", None, when)


def _note(article: Article, text: str, start: int | None, when: str) -> Note:
    """Return what has that effect before the line of a place; in what has no comments the line of a
    side file."""
    line = 0 if start is None else article.place(start).line
    if article.form in _SILENT:
        text = f"ignore = [{line}]" if text == "ignore" else f'lines.{line} = "{text}"'
    elif article.form == "latex":
        text = f"% symattn: {text}"
    else:
        text = f"<!-- symattn: {text} -->"
    return Note(text, line, _advice(article, start, when))


def _advice(article: Article, start: int | None, when: str) -> str:
    """Return what to do, in a sentence that the note follows."""
    if article.form in _SILENT:
        file = article.path.with_suffix(SIDE_FILE).name
        return Sentence("{when}, write into {file} beside it:", when=when, file=file)
    if start is not None:
        place = article.said(start)
        return Sentence("{when}, add this note before {place}:", when=when, place=place)
    return Sentence("{when}, add this note:", when=when)


# -- what was understood ----------------------------------------------------------------


def summary(audit: Audit) -> Iterator[str]:
    """The inputs with their shapes, the steps, how many figures are bound and by what."""
    reading = audit.case.reading
    if reading is None:
        return
    if reading.given:
        shapes = {name: audit.case.program.quantities[name].shape for name in reading.given}
        inputs = [f"{name} ({show(shape)})" if shape else name for name, shape in shapes.items()]
        yield Sentence("inputs: {names}", names=_listed(inputs))
    if reading.steps:
        steps = [
            Sentence("{name} (assumed)", name=name) if step.assumed else name
            for name, step in reading.steps.items()
        ]
        yield Sentence("steps: {names}", names=_listed(steps))
    if bound := _bound(audit):
        yield bound


def _listed(names: Sequence[str]) -> str:
    """Names one after the other, of many the first."""
    if len(names) <= _NAMES:
        return joined(names)
    first = joined(names[:_NAMES])
    return Sentence("{names} and {count} more", names=first, count=len(names) - _NAMES)


def _bound(audit: Audit) -> str:
    """Return how many figures are judged, and by what they were bound."""
    counts: Counter[str] = Counter()
    for figure in audit.figures:
        if figure.claim.basis and not figure.claim.is_arithmetic:
            counts[_in_short(figure.claim.basis)] += 1
    parts: list[str] = [
        Sentence("{count} by {evidence}", count=count, evidence=evidence)
        for evidence, count in counts.most_common()
    ]
    if sums := sum(figure.claim.is_arithmetic for figure in audit.figures):
        parts.append(Sentence("{count} as arithmetic", count=sums))
    return Sentence("figures bound: {parts}", parts=joined(parts)) if parts else ""


def remedy(audit: Audit) -> Note | None:
    """The note to add if that is misread: what an assumed step is instead, or that what is
    refuted most is something else. None where nothing was assumed or refuted."""
    reading = audit.case.reading
    if reading is None:
        return None
    misread = Sentence("if this is misread")
    for name, step in reading.steps.items():
        if step.assumed:
            return _step_note(reading.article, name, step.expression, misread)
    places = [
        figure.claim.span.start
        for figure in audit.figures
        if figure.verdict is Verdict.REFUTED
        and not figure.claim.is_arithmetic
        and figure.claim.span
    ]
    if not places:
        return None
    lines = Counter(reading.article.place(start).line for start in places)
    worst = max(places, key=lambda start: lines[reading.article.place(start).line])
    return _note(reading.article, "ignore", worst, misread)


def unsettled(reading: Reading) -> Note | None:
    """The note that settles what code makes that isn't followed, where only figures say so."""
    for name, step in reading.steps.items():
        if step.guessed:
            when = Sentence(
                "{name} is made by code that is not followed, only its figures say that it is"
                " {expression}: if it is",
                name=name,
                expression=step.expression,
            )
            return _step_note(reading.article, name, step.expression, when)
    return None


# -- what is open ------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Places that share a reason: what is said of each, and the note that would help most."""

    reason: str
    items: tuple[OpenQuestion, ...]
    note: Note | None = None

    @property
    def spans(self) -> list[Span]:
        """Return where they are."""
        return [item.span for item in self.items]


def open_groups(audit: Audit) -> list[Group]:
    """Return what is open by its reasons, the largest group first; without names that nothing
    defines, which are why numbers were not read."""
    groups: dict[str, list[OpenQuestion]] = defaultdict(list)
    for item in audit.open:
        if item.why != UNDEFINED:
            groups[_reason(item.why)].append(item)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [Group(why, tuple(items), _confirming(audit, items[0])) for why, items in ordered]


def _reason(why: str) -> str:
    """A reason without what it is about."""
    doubt = why.pieces.get("doubt") if isinstance(why, Sentence) else None
    reason = doubt if isinstance(doubt, str) else _OTHER if _OTHER in why else why
    return Sentence(_REASONS[reason]) if reason in _REASONS else reason


def _confirming(audit: Audit, item: OpenQuestion) -> Note | None:
    """The note that says of something in doubt that it is what it seems."""
    reading = audit.case.reading
    if reading is None or not isinstance(item.why, Sentence):
        return None
    for claim in audit.case.claims:
        if claim.doubt and any(item.span in row for row in claim.spans):
            start = item.span.start if claim.span is None else claim.span.start
            return _note(reading.article, claim.text, start, Sentence("if it is that"))
    return None


def unread_groups(audit: Audit) -> list[Group]:
    """The numbers that were not read by what would have to be known, the largest group
    first; those that are open for another reason are not among them."""
    reading = audit.case.reading
    if reading is None:
        return []
    told = {item.span for item in audit.open}
    names = _Unknown(reading)
    unread = [one for one in audit.numbers if one.status == "unread" and one.span not in told]
    behind = {one.span: names.behind(one.span) for one in unread if not one.why}
    often = Counter(name for hiding in behind.values() for name in hiding)
    groups: dict[str, list[OpenQuestion]] = defaultdict(list)
    for number in unread:
        why = number.why or max(
            behind[number.span], key=lambda name: (often[name], name), default=""
        )
        groups[why].append(OpenQuestion(number.text, why, number.span))
    hidden, rest = [], groups.pop("", [])
    for why, items in sorted(groups.items(), key=lambda group: -len(group[1])):
        if why in names.known and len(items) * _PART < len(unread):
            rest += items
        else:
            hidden.append(_unread(reading, names, why, items))
    if not rest:
        return hidden
    rest = sorted(rest, key=lambda item: item.span)
    start = rest[0].span.start
    note = _note(reading.article, "ignore", start, Sentence("if they claim nothing"))
    return [*hidden, _group(Sentence("nothing says what they are"), rest, note)]


def _unread(reading: Reading, names: _Unknown, why: str, items: Sequence[OpenQuestion]) -> Group:
    if why not in names.known:
        return _group(why, items)
    reason = Sentence("{name} is not defined", name=short(why, _LETTERS))
    when = Sentence("to have them read")
    return _group(reason, items, _step_note(reading.article, why, "...", when))


def _group(reason: str, items: Sequence[OpenQuestion], note: Note | None = None) -> Group:
    """Numbers that were not read for that reason."""
    return Group(reason, tuple(replace(item, why=reason) for item in items), note)


class _Unknown:
    """Names that formulas need and nothing defines, with the numbers that they hide.

    A name that a formula begins with is defined by it only if that was understood: what
    hides its figures is what the formula itself needs, ``M`` of ``A = softmax(M)``.
    """

    def __init__(self, reading: Reading) -> None:
        self._defined = {*reading.given, *reading.steps}
        self._chains = [chain for chain in chains(reading) if len(chain.members) > 1]
        self._starts = [chain.span.start for chain in self._chains]

    @cached_property
    def _needs(self) -> dict[str, set[str]]:
        """By each name that a formula begins with: the unknown names in the rest of it."""
        needs: dict[str, set[str]] = defaultdict(set)
        for chain in self._chains:
            if (
                isinstance(first := chain.members[0], syntax.Name)
                and first.name not in self._defined
            ):
                needs[first.name] |= self._names(chain, 1) - {first.name}
        return needs

    @cached_property
    def known(self) -> frozenset[str]:
        """All names that are unknown."""
        return frozenset(name for chain in self._chains for name in self._names(chain))

    def _names(self, chain: Chain, first: int = 0) -> set[str]:
        return {
            part.name
            for member in chain.members[first:]
            # What stands in an array tells its shape, as "[n, d_k]" does.
            for part in (() if isinstance(member, syntax.Array) else walk(member))
            if isinstance(part, Named) and part.name not in self._defined
        }

    def behind(self, span: Span) -> set[str]:
        """The names that hide a number: those that nothing unknown is behind in turn, but
        where each needs another."""
        at = bisect_left(self._starts, span.end) - 1
        if at < 0 or self._chains[at].span.end < span.end:
            return set()
        names = self._names(self._chains[at])
        every = reached(names, lambda name: self._needs.get(name, ()))
        return {name for name in every if not self._needs.get(name)} or names
