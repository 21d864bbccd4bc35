"""The bundled derivations, and derivations from a reader's own file or text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from symattn.calculus import certificates
from symattn.calculus import draft as drafts
from symattn.calculus.derivation import Derivation
from symattn.calculus.draft import DerivationDraft
from symattn.calculus.gradients import SHAPE
from symattn.calculus.judging import derived
from symattn.calculus.manuscript import Manuscript, is_by_hand, read_text
from symattn.errors import Faults, Malformed, UnknownName, alike, short
from symattn.limits import LINE_SECONDS
from symattn.tables.file import File, content, decoded, folder, parsed
from symattn.tables.places import kind

_CERTIFICATE = ("certificate", "symattn derive NAME --format certificate makes one")
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
    by_hand = path.suffix != ".toml" and is_by_hand(decoded(content))
    return read_text(path, content) if by_hand else parsed(path, content)


def _derived(file: File, seconds: float = LINE_SECONDS) -> Derivation:
    words, unused = (file.words, file.unused) if isinstance(file, Manuscript) else (None, ())
    advice = drafts.SHAPE if words is None else SHAPE
    name = file.path.stem if file.path.stem != "-" else "text"
    derivation = derived(name, file.document, draft_of, file.line, advice, seconds)
    faults = file.malformed(Faults(derivation.faults)).faults
    own = "" if name in names() else file.path.name
    return replace(derivation, faults=faults, file=own, words=words, unused=unused)


def replayed(name: str, certificate: Path) -> str:
    """Return what a certificate proves of the bundled derivation of that name, or of the one in the
    file at that path, as text: no proof is looked for, and no numbers are tried.

    Raises :class:`UnknownName`, or :class:`Malformed` with the faults of either file.
    """
    data = content(certificate, "the certificate", *_CERTIFICATE)
    own = bool(Path(name).suffix) and name not in names()
    if not own and name not in names():
        raise UnknownName(f"no derivation {short(name)!r}")
    path = Path(name) if own else _folder() / f"{name}.toml"
    file = _tables(path, content(path, "the file", *_KIND))
    draft = drafts.read(file.document, file.line)
    try:
        held = json.loads(decoded(data))
        if not isinstance(held, dict):
            raise Malformed(f"expected an object, found {kind(held)}")
        where = certificates.replay(draft, held, draft_of)
    except (Malformed, ValueError) as error:
        raise Malformed(str(error), str(certificate)) from None
    return certificates.report(draft, where)


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
    """Return what a bundled derivation says; None if there is none of that name."""
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
