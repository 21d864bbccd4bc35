"""Certificates: the steps of proofs, written out, and replayed without looking for any.

A certificate says which rule is applied to which product, and with what; atoms are written in a
table, each made of those before it. Whoever replays it reads the derivation itself again, lets
the kernel compute its lines, and answers from the certificate where a rule has to be chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, assert_never

from symattn.calculus import language as term
from symattn.calculus.derivation import Derivation
from symattn.calculus.draft import DerivationDraft
from symattn.calculus.judged_lines import in_unicode
from symattn.calculus.judging import Judge, Library, Proofs, Where, replayed
from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Step
from symattn.calculus.kernel.kinds import KINDS, Atom, Kind, Place, inside
from symattn.calculus.kernel.proof import Instance, Kernel, Last
from symattn.calculus.kernel.terms import Unproved, numbered, plain
from symattn.calculus.language import Array, Axis, Expr, Index
from symattn.calculus.rewriting import Record
from symattn.calculus.tensors import ParsedLine
from symattn.errors import Malformed

FORMAT = "symattn certificate 2"
_MISSHAPEN = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What data raise that are of another shape than a certificate has."""

# -- written out -------------------------------------------------------------------------------

_PLAIN = (str, int, type(None))
_MADE: Mapping[str, type] = {each.__name__: each for each in (Step, Instance, Last)}


def certificate(derivation: Derivation) -> dict[str, Any]:
    """The proofs of all lines that are proved, as plain data."""
    evidence = {line.number: line.evidence for line in derivation.lines if line.proved}
    records = {
        number: (each.prover.ready, each.proof.record) for number, each in evidence.items() if each
    }
    lines = [(line.number, line.read) for line in derivation.lines if line.read]
    conclusions = next((each.conclusions for each in evidence.values() if each), {})
    indices, arrays = _known(derivation.draft, lines, conclusions)
    kernels = [each.prover.kernel for each in evidence.values() if each]
    writer = _Writer(indices, arrays, kernels[0] if kernels else Kernel())
    writer.gather(*(record for pair in records.values() for record in pair))
    proofs = [
        {
            "line": line.number,
            "by": line.evidence.is_by,
            "ready": writer.record(records[line.number][0]),
            "proof": writer.record(records[line.number][1]),
            "where": list(line.where),
        }
        for line in derivation.lines
        if line.evidence and line.number in records
    ]
    title = derivation.draft.title
    return {"format": FORMAT, "title": title, "atoms": writer.table, "proofs": proofs}


def replay(
    draft: DerivationDraft, data: Mapping[str, Any], library: Library = lambda _: None
) -> Where:
    """The lines of a derivation that a certificate proves, and where each holds.

    Raises :class:`Malformed` where a step is missing or does not apply.
    """
    if data.get("format") != FORMAT:
        raise Malformed(f"expected the format {FORMAT!r}, found {data.get('format')!r}")
    try:
        return replayed(draft, library, lambda judge, lines: _proofs(draft, data, judge, lines))
    except Malformed:
        raise
    except Unproved as reason:
        raise Malformed(f"a step does not apply: {reason}") from None
    except _MISSHAPEN as error:
        raise Malformed(f"expected a certificate of this derivation: {error!r}") from None


def report(draft: DerivationDraft, where: Where) -> str:
    """Return what a certificate proves of a derivation, line by line."""
    lines = []
    for number, statement in enumerate(draft.lines, 1):
        proved = number in where
        flag = "" if proved else "  NO PROOF"
        lines.append(f"  {number:>3}. {in_unicode(statement.line, draft.shapes)}{flag}")
        if proved and where[number]:
            lines.append(f"       where {', '.join(where[number])}")
    count = len(draft.lines)
    lines += ["", f"Replayed: {len(where)} of {count} line{'s' if count != 1 else ''} proved"]
    return "\n".join(lines)


def _proofs(
    draft: DerivationDraft,
    data: Mapping[str, Any],
    judge: Judge,
    lines: Sequence[tuple[int, ParsedLine]],
) -> Proofs:
    """The records in a certificate."""
    indices, arrays = _known(draft, lines, judge.conclusions)
    reader = _Reader(
        judge.kernel,
        {name: index for index, name in indices.items()},
        {name: array for array, name in arrays.items()},
        data["atoms"],
    )
    return {
        proof["line"]: (
            reader.record(proof["ready"]),
            reader.record(proof["proof"]),
            proof["by"],
        )
        for proof in data["proofs"]
    }


def _known(
    draft: DerivationDraft,
    lines: Iterable[tuple[int, ParsedLine]],
    conclusions: Mapping[str, Sequence[ParsedLine]],
) -> tuple[dict[Index, str], dict[Array, str]]:
    """Names for the indices and arrays of all that is written in a derivation. Parts without a
    name of their own are numbered where they stand."""
    indices: dict[Index, str] = {}
    arrays: dict[Array, str] = {}

    def walk(where: str, *sides: Expr) -> None:
        todo, parts = [*sides], 0
        while todo:
            for part in term.walk(todo.pop(0)):
                for array in term.named(part):
                    if array in arrays:
                        continue
                    arrays[array] = f"{where}, part {parts}" if "." in array.name else array.name
                    parts += 1
                    todo += [array.body] if array.body is not None else []

    arrays |= {array: name for name, array in draft.scope.arrays.items()}
    for name, array in draft.scope.arrays.items():
        if array.body is not None:
            walk(name, array.body)
    hypotheses = [(f"hypothesis {k}", line) for k, line in enumerate(draft.ground.hypotheses)]
    concluded = [
        (f"{name}, conclusion {k}", line)
        for name in sorted(conclusions)
        for k, line in enumerate(conclusions[name])
    ]
    own = [(f"line {k}", line) for k, line in lines]
    for name, line in [*hypotheses, *concluded, *own]:
        indices |= {index: f"{name}, index {k}" for k, index in enumerate(line.free)}
        walk(name, *line.sides)
    for array, name in arrays.items():
        indices |= {index: f"{name}, index {k}" for k, index in enumerate(array.params)}
    return indices, arrays


class _Writer:
    """Writes records as plain data, with one table of arrays, indices and atoms for all: in the
    order in which the kernel met them, as that orders the factors of products."""

    def __init__(
        self, named: Mapping[Index, str], arrays: Mapping[Array, str], kernel: Kernel
    ) -> None:
        self._named, self._arrays, self._kernel = named, arrays, kernel
        self._places: dict[Any, int] = {}
        self.table: list[Any] = []

    def gather(self, *records: Record) -> None:
        """Make the table of all that stands in records."""
        seen: set[Any] = set()
        todo: list[Any] = [(record.steps, record.lasts) for record in records]
        while todo:
            value = todo.pop()
            match value:
                case Kind() | Index() | Array():
                    if value not in seen:
                        seen.add(value)
                        todo += inside(value)
                case Mapping():
                    todo += [*value.keys(), *value.values()]
                case list():
                    todo += value
                case _:
                    todo += inside(value)
        arrays = sorted(
            (each for each in seen if isinstance(each, Array)), key=lambda a: self._arrays[a]
        )
        indices = [each for each in seen if isinstance(each, Index)]
        indices.sort(key=lambda index: self._kernel.rank((index, 0, ())))
        atoms = sorted((each for each in seen if isinstance(each, Kind)), key=lambda a: a.number)
        rows: list[Kind | Index | Array] = [*arrays, *indices, *atoms]
        for each in rows:
            self._places[each] = len(self.table)
            self.table.append(self._row(each))

    def _row(self, value: Kind | Index | Array) -> list[Any]:
        match value:
            case Array():
                return ["array", self._arrays[value]]
            case Index(name=name, size=size) if name.startswith("%"):
                return ["variable", int(name[1:]), size]
            case Index():
                return ["index", self._named[value]]
        made = self.write(tuple(inside(value)))
        return [value.letter, made if len(made) > 1 else made[0]]

    def record(self, record: Record) -> dict[str, Any]:
        """A record as plain data."""
        steps = [
            [epoch, sorted(self._arrays[array] for array in moving), self.write(step)]
            for (epoch, moving, _), step in record.steps.items()
        ]
        return {
            "steps": steps,
            "equations": [list(each) for each in record.equations],
            "last": [self.write(each) for each in record.lasts],
        }

    def write(self, value: Any) -> Any:
        """A value as plain data."""
        match value:
            case bool() | str() | int() | None:
                return value
            case Fraction():
                return {"number": str(value)}
            case tuple():
                return [self.write(each) for each in value]
            case frozenset():
                terms = sorted(value, key=lambda pair: numbered(pair[0]))
                return {"sum": [self.write(each) for each in terms]}
            case Kind() | Index() | Array():
                return {"at": self._places[value]}
        made = zip(value.__match_args__, inside(value), strict=True)
        return {type(value).__name__: {name: self.write(part) for name, part in made}}


def _typed(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Powers as the kernel has them, which tells roots by their exponents; and places."""
    match items:
        case (Kind() as atom, (int() | Fraction()) as e):
            return atom, plain(Fraction(e))
        case (_, Fraction(), tuple()):
            raise Malformed("expected a whole number added to a place")
    return items


class _Reader:
    """Reads records back; raises :class:`Malformed` for what is none."""

    def __init__(
        self, kernel: Kernel, named: Mapping[str, Index], arrays: Mapping[str, Array], table: Any
    ) -> None:
        self._kernel, self._named, self._arrays = kernel, named, arrays
        self._values: list[Any] = []
        for row in table:
            value = self._made(*row)
            if isinstance(value, Index):
                kernel.rank((value, 0, ()))
            self._values.append(value)

    def _made(self, kind: str, data: Any, *more: Any) -> Any:
        match kind:
            case "array":
                return self._arrays[data]
            case "variable":
                _refuse_no_axis(*more)
                return self._kernel.variable_at(data, *more)
            case "index":
                return self._named[data]
        made, kind_of = self.read(data), KINDS[kind]
        if kind == "L" and not isinstance(made[1], Fraction) and made[1] not in ("oo", "-oo"):
            raise Malformed("expected a number, oo or -oo as the end of a limit")
        atom = self._kernel.atom(kind_of, *(made if len(kind_of.__match_args__) > 1 else (made,)))
        _refuse_misplaced(atom, self._kernel.permutations)
        return atom

    def record(self, data: Mapping[str, Any]) -> Record:
        """A record from plain data."""
        steps = {}
        for epoch, moving, written in data["steps"]:
            step = self.read(written)
            if not isinstance(step, Step):
                raise Malformed("expected a step")
            steps[epoch, frozenset(self._arrays[name] for name in moving), step.to] = step
        equations = [(str(how), int(number)) for how, number in data["equations"]]
        return Record(steps, equations, [self.read(each) for each in data["last"]])

    def read(self, value: Any) -> Any:
        """A value from plain data."""
        match value:
            case {"number": text}:
                return Fraction(text)
            case {"sum": terms}:
                return frozenset((mono, Fraction(c)) for mono, c in map(self.read, terms))
            case {"at": place}:
                return self._values[place]
            case list():
                return _typed(tuple(map(self.read, value)))
            case dict():
                ((name, parts),) = value.items()
                return _MADE[name](**{key: self.read(part) for key, part in parts.items()})
        if not isinstance(value, _PLAIN):
            raise Malformed("expected a step of a certificate")
        return value


# -- axes along which the places of an atom are ---------------------------------------------
# What is read from a derivation compares places of one axis, sends them through permutations of
# their axis and sums over axes that have places; the rules rely on it. Atoms that come from
# elsewhere have to be made so, too.


def _refuse_no_axis(axis: object) -> None:
    """Refuse what is no axis: a name, or a length from 1."""
    if not (isinstance(axis, str) or (isinstance(axis, int) and axis > 0)):
        raise Unproved("an axis without places")


def _refuse_misplaced(
    atom: Atom, permutations: Mapping[str, Axis], around: tuple[Axis, ...] = ()
) -> None:
    """Refuse an atom with places that are not along the axes that they have to be along; so many
    indices are bound ``around`` it, the innermost last."""
    match atom:
        case kinds.Sum(axes):
            for axis in axes:
                _refuse_no_axis(axis)
            around = (*around, *axes)
        case kinds.Entry(array, at):
            _refuse_beside(array, at, around)
        case kinds.Derivative(of, by):
            _refuse_beside(*of, around)
            _refuse_beside(*by, around)
        case kinds.Limit(variable):
            if variable.axes:
                raise Unproved("a limit in what is no number")
        case kinds.Delta() | kinds.AtMost():
            own = [_axis(place, around) for place in atom.places if not isinstance(place[0], str)]
            if len({axis for axis in own if axis is not None}) > 1:
                raise Unproved("places of two axes are compared")
        case kinds.Size() | kinds.Constant() | kinds.Position() | kinds.Operations():
            pass
        case kinds.Positive() | kinds.Function() | kinds.Bracket() | kinds.Mean():
            pass
        case _:
            assert_never(atom)
    for place in atom.places:
        along = _axis(place, around)
        if any(permutations[name] != (along or permutations[name]) for name, _ in place[2]):
            raise Unproved("a place goes through a permutation of another axis")
    if around:
        # What binds no index was looked at when it was made.
        for mono, _ in atom.parts:
            for inner, _ in mono:
                if inner.loose:
                    _refuse_misplaced(inner, permutations, around)


def _refuse_beside(array: Array, at: tuple[Place, ...], around: tuple[Axis, ...]) -> None:
    """Refuse an entry that has not its places along the axes of its array."""
    for axis, place in zip(array.axes, at, strict=True):
        if _axis(place, around) not in (axis, None):
            raise Unproved("a place along another axis than that of its array")


def _axis(place: Place, around: tuple[Axis, ...]) -> Axis | None:
    """The axis that a place is along, as far as it is known."""
    base = place[0]
    if isinstance(base, int):
        return around[-1 - base] if base < len(around) else None
    return base.size if isinstance(base, Index) else base
