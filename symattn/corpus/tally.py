"""A corpus as a whole: counts, and the articles that most is to be said of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, NamedTuple

#: So many articles are told one by one.
TOLD = 50


class Worst(NamedTuple):
    """An article with refuted figures; of several that have as many the first is the worse."""

    refuted: int
    order: int
    file: str
    figures: int
    roots: int
    cause: str


@dataclass
class Tally:
    """Counts over the results of articles, taken one after the other."""

    articles: int = 0
    #: How articles ended (:data:`symattn.corpus.records.Ending`), the judged ones by their
    #: outcome: ``refuted``, ``doubtful``, ``clean`` or ``silent``, of no figure.
    outcomes: Counter[str] = field(default_factory=Counter)
    #: The summaries of all audits, added up.
    counts: Counter[str] = field(default_factory=Counter)
    #: Refuted figures by their cause, and the mistakes behind many at once by their kind.
    causes: Counter[str] = field(default_factory=Counter)
    slips: Counter[str] = field(default_factory=Counter)
    #: What was left open in articles, by its reason.
    doubts: Counter[str] = field(default_factory=Counter)
    #: Articles without an audit, the first of them with the reason.
    failures: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    #: Kept results that were damaged, and were made again.
    remade: list[str] = field(default_factory=list)
    #: The articles with the most refuted figures, the worst first.
    worst: list[Worst] = field(default_factory=list)

    def take(self, line: Mapping[str, Any]) -> None:
        """Count the result of an article.

        >>> tally = Tally()
        >>> tally.take({"file": "a.md", "ending": "stopped", "failure": "late", "audit": None})
        >>> tally.outcomes, tally.failed
        (Counter({'stopped': 1}), [('a.md', 'late')])
        """
        self.articles += 1
        audit = line["audit"]
        if audit is None:
            self.outcomes[line["ending"]] += 1
            self.failures += 1
            if len(self.failed) < TOLD:
                self.failed.append((line["file"], line["failure"] or ""))
            return
        summary = audit["summary"]
        self.counts.update(summary)
        self.outcomes[_outcome(audit)] += 1
        self.causes.update(cause for claim in audit["claims"] if (cause := claim.get("cause")))
        self.slips.update(cause["kind"] for cause in audit["causes"])
        # What is said of one place stands before what is said of many.
        self.doubts.update(item["why"].rpartition(": ")[2] for item in audit["open"])
        if refuted := summary["refuted"]:
            why = audit["causes"][0]["sentence"] if audit["causes"] else ""
            one = Worst(
                refuted, -self.articles, line["file"], summary["figures"], summary["roots"], why
            )
            self.worst = nlargest(TOLD, (*self.worst, one))


def _outcome(audit: Mapping[str, Any]) -> str:
    summary = audit["summary"]
    if summary["refuted"]:
        return "refuted"
    if audit["open"] or summary["undecided"] or summary["unchecked"]:
        return "doubtful"
    return "clean" if summary["figures"] or summary["statements"] else "silent"
