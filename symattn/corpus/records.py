"""Records of articles: its audit as plain data, or why there is none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, get_args

from symattn import __version__, workers
from symattn.escaping import without_secrets
from symattn.tables.places import check
from symattn.workers import Asker, Crashed, Ended, WorkLimits, told

#: How the audit of an article may end: it is judged; or it can't be read, was stopped at a
#: limit, was ended by a signal, or met an internal error.
Ending = Literal["judged", "unreadable", "stopped", "ended", "error"]

#: The level of compression: more takes longer than it saves.
_LEVEL = 6
#: A longer result is none.
_MOST_BYTES = 1 << 28

_COUNT = range(1 << 31)
#: What is counted in the summary of an audit.
COUNTS = (
    "figures", "statements", "holds", "refuted", "undecided", "roots", "coarse",
    "within_rounding", "as_printed", "unchecked",
)  # fmt: skip
#: What is told of each claim, in places and in words.
PLACES = ("line", "column")
WORDS = (
    "where", "of", "printed", "correct", "exact", "verdict", "cause", "slip", "reason",
)  # fmt: skip
CAUSES = ("root", "carried", "rounded-inputs", "truncated", "last-digit")
#: The form of what is kept, as far as anybody looks at it.
_KEPT = {
    **dict.fromkeys(("article", "sha256", "digest"), str),
    "ending": frozenset(get_args(Ending)),
    "failure": str | None,
    "audit?": {
        "summary": dict.fromkeys(COUNTS, _COUNT),
        "claims": [{
            "file": str, **{f"{name}?": _COUNT for name in PLACES},
            **dict.fromkeys(WORDS, str | None), "cause?": frozenset(CAUSES), "coarse": bool,
        }],
        "causes": [{"kind": str, "sentence": str}],
        "open": [{"why": str}], "unread": [{"count": _COUNT}],
    },
}  # fmt: skip


@dataclass(frozen=True)
class HeldArticle:
    """An article by its name and its bytes, with those of the side file beside it."""

    name: str
    data: bytes
    side: bytes | None = None

    @property
    def digest(self) -> str:
        """Return what tells its content from any other."""
        return sha256(self.data).hexdigest()

    @property
    def key(self) -> str:
        """Return what its result goes by: the same name and bytes have the same result, wherever
        they lie, from one version of symattn.

        >>> HeldArticle("a.md", b"1").key == HeldArticle("a.md", b"1", b"").key
        False
        """
        side = "" if self.side is None else sha256(self.side).hexdigest()
        parts = [__version__, self.name, self.digest, side]
        return sha256(json.dumps(parts).encode()).hexdigest()


class Record(NamedTuple):
    """The result of an article: how it ended, and all of it as compressed JSON; by a worker of
    which version."""

    key: str
    ending: Ending
    content: bytes
    version: str = __version__

    def name(self, limits: WorkLimits) -> str | None:
        """The file that it is kept in; None where it says nothing of the article, but of the
        moment: that is done again by the next run."""
        if self.ending == "ended":
            return None
        return kept_name(self.key, limits if self.ending == "stopped" else None)


def kept_name(key: str, limits: WorkLimits | None = None) -> str:
    """The file of a result; what was stopped at limits is a result only for these.

    >>> kept_name("ab01"), kept_name("ab01", WorkLimits(300, 2048))
    ('kept/ab/ab01.json.gz', 'kept/ab/ab01-300s-2048mb.json.gz')
    """
    under = "" if limits is None else f"-{limits.seconds:g}s-{limits.memory}mb"
    return f"kept/{key[:2]}/{key}{under}.json.gz"


def audited(asker: Asker, article: HeldArticle) -> bytes:
    """The audit of an article as compressed JSON. Raises :class:`Malformed` for its faults."""
    from symattn.auditing.audit import audit
    from symattn.auditing.reports import as_dict
    from symattn.cases.article import held_article_case
    from symattn.solution.solution import solve

    asker.stage("reading")
    case = held_article_case(article.name, article.data, article.side)
    asker.stage("computing")
    solution = solve(case)
    asker.stage("checking")
    return _content(article, "judged", "", as_dict(audit(solution)))


def record(article: HeldArticle, answer: object, limits: WorkLimits) -> Record:
    """The result of an article from what its worker gave, or ended with."""
    if isinstance(answer, bytes):
        return Record(article.key, "judged", answer)
    assert isinstance(answer, Exception)
    ending = _ending(answer, limits)
    why = answer.why if isinstance(answer, Crashed) else told(answer, limits)
    return Record(article.key, ending, _content(article, ending, why, None))


def _ending(end: Exception, limits: WorkLimits) -> Ending:
    match end:
        case Crashed():
            return "error"
        case Ended(why=why) if why == "time" or (why == "memory" and limits.memory):
            return "stopped"
        case Ended() | OSError():
            return "ended"
    return "unreadable"


def _content(article: HeldArticle, ending: Ending, failure: str, audit: Any) -> bytes:
    about = {
        "article": article.name,
        "sha256": article.digest,
        "ending": ending,
        "failure": failure or None,
        "audit": audit,
    }
    return packed(about, article.key)


def packed(about: dict[str, Any], key: str) -> bytes:
    """The result that goes by a key as compressed JSON: the same bytes whenever that is."""
    return gzip.compress(json_bytes({"digest": _digest(about, key), **about}), _LEVEL, mtime=0)


def _digest(about: dict[str, Any], key: str) -> str:
    """Return what tells the result that goes by a key from any other, and from itself when
    damaged."""
    return sha256(key.encode() + json_bytes(about)).hexdigest()


def json_bytes(data: Any) -> bytes:
    """Plain data as JSON in UTF-8; halves of letters, which have no place there, by their codes.

    >>> json_bytes("é\\ud800")
    b'"\\xc3\\xa9\\\\ud800"'
    """
    return json.dumps(data, ensure_ascii=False).encode(errors="backslashreplace")


def unpacked(content: bytes, path: str, key: str) -> dict[str, Any]:
    """Return the result that goes by a key, as that of the article at ``path``; the name of its
    file is as good. Raises ``ValueError``, or as gzip does, where it is damaged or something
    else."""
    with gzip.open(BytesIO(content)) as file:
        about: dict[str, Any] = json.loads(file.read(_MOST_BYTES))
    check(about, _KEPT)
    if about.pop("digest") != _digest(about, PurePath(key).name[:64]):
        raise ValueError("another digest")
    name, path = about.pop("article"), spelled(path)
    about.setdefault("audit")
    return {"file": path, **_moved(about, name, path)}


def _moved(data: Any, name: str, path: str) -> Any:
    """Plain data with the path of the article where it names its file."""
    if isinstance(data, dict):
        return {
            key: path if key == "file" and value == name else _moved(value, name, path)
            for key, value in data.items()
        }
    return [_moved(item, name, path) for item in data] if isinstance(data, list) else data


def failed(path: str, why: str) -> dict[str, Any]:
    """The line of an article that could not be had at all."""
    about = {"sha256": None, "ending": "unreadable", "failure": why, "audit": None}
    return {"file": spelled(path), **about}


def spelled(path: str) -> str:
    """A path or an address as text: bytes that are no letters by their codes, and no passwords.

    >>> spelled("\\udcff.md")
    '\\\\udcff.md'
    """
    return without_secrets(path.encode(errors="backslashreplace").decode())


def held(path: str, data: bytes, side: bytes | None) -> HeldArticle:
    """An article that lies somewhere.

    >>> held("s3://bucket/posts/first.md", b"", None).name
    'first.md'
    """
    return HeldArticle(PurePath(spelled(path)).name, data, side)


def records_of(articles: Sequence[HeldArticle], limits: WorkLimits) -> list[Record]:
    """The results of some articles, worked out by a process of their own with these limits:
    what an executor does anywhere."""
    answers = workers.answers([(audited, (article,)) for article in articles], limits)
    return [record(*pair, limits) for pair in zip(articles, answers, strict=True)]
