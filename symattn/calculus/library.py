"""The bundled derivations, and derivations from a reader's own file or text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from symattn.calculus import derivation as derivations
from symattn.calculus import draft as drafts
from symattn.calculus.derivation import Derivation
from symattn.calculus.draft import Draft
from symattn.errors import Faults, Malformed, UnknownName, alike, short
from symattn.tables.bundled import folder
from symattn.tables.file import content, parsed

_KIND = ("derivation file", "the README shows one")

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
    found = {path.stem for path in _folder().glob("*.toml")}
    return (*(name for name in ORDER if name in found), *sorted(found - {*ORDER}))


def _folder() -> Path:
    return folder() / "theory"


@cache
def derivation(name: str) -> Derivation:
    """The bundled derivation of that name, judged when it is first asked for.

    Raises :class:`UnknownName`.
    """
    if name not in names():
        wanted = f"expected the path of a .toml file or one of {', '.join(names())}"
        raise UnknownName(f"no derivation {short(name)!r}: {alike(name, names()) or wanted}")
    return read(_folder() / f"{name}.toml")


def find(name: str) -> Derivation:
    """The bundled derivation of that name, or the one in the file at that path.

    Raises :class:`UnknownName`, or :class:`Malformed` with the faults of the file.
    """
    own = name.endswith(".toml") and name not in names()
    return read(Path(name)) if own else derivation(name)


def read(path: Path) -> Derivation:
    """The derivation in a file, judged.

    Raises :class:`Malformed` with the faults of the file, each with its line.
    Lines that can't be read are undecided, and say why.
    """
    try:
        file = parsed(path, content(path, "the file", *_KIND))
    except Malformed as error:
        raise Malformed(error.faults, str(path), error.more) from None
    found = derivations.derived(path.stem, file.document, draft_of, file.line)
    if found.faults:
        raise file.malformed(Faults(found.faults))
    return found


def derive(text: str) -> Derivation:
    """The derivation that a TOML text writes down, judged line by line.

    It does not raise: ``faults`` say what could not be read, and each line has a
    ``status``: ``proved``, ``checked`` (at concrete sizes only), ``refuted`` with a
    ``counterexample``, or ``undecided`` with what is missing (``why``).

    >>> found = derive('''
    ... sizes = ["n"]
    ... [shapes]
    ... x = ["n"]
    ... [define]
    ... p = "softmax(x)"
    ... [[lines]]
    ... line = "diff(p[i], x[k]) == p[i] * (delta(i, k) - p[k])"
    ... [[lines]]
    ... line = "diff(p[i], x[k]) == p[i] * (1 - p[k])"
    ... ''')
    >>> [line.status for line in found.lines]
    ['proved', 'refuted']
    """
    try:
        file = parsed(Path("text"), text.encode())
    except Malformed as error:
        return Derivation("text", Draft(), (), error.faults)
    return derivations.derived("text", file.document, draft_of, file.line)


@cache
def draft_of(name: str) -> Draft | None:
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
        return f"<theory: {', '.join(names())}>"


THEORY = Theory()
