"""The report of a corpus, in blocks: what there is, what is wrong or in doubt, what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symattn.cases.settings import settings
from symattn.corpus.tally import TOLD, Tally
from symattn.drawing.lettering import Panel, drawing, element, shortened, text_width, words
from symattn.languages.language import Language
from symattn.languages.sentence import Sentence
from symattn.printers import blocks as b

#: What is said of each outcome (:attr:`Tally.outcomes`), and whether it is in red.
_OUTCOMES = {
    "refuted": "figures refuted",
    "doubtful": "nothing refuted, something in doubt",
    "clean": "every figure holds",
    "silent": "no figures to judge",
    "unreadable": "can't be read",
    "stopped": "stopped at a limit",
    "ended": "ended by a signal",
    "error": "internal error",
}
_WRONG = frozenset(("refuted", "unreadable", "stopped", "ended", "error"))
#: What is said of each cause of a refuted figure.
_CAUSES = {
    "root": "incorrect on its own",
    "carried": "propagated from other wrong figures",
    "rounded-inputs": "worked with rounded numbers",
    "truncated": "truncated, not rounded",
    "last-digit": "off in the last digit",
}
#: So many kinds of one thing are drawn or listed.
_KINDS = 12


def sheet(tally: Tally, corpus: str, **changes: Any) -> b.Sheet:
    """The report of a corpus that goes by a name, in the language and on the paper that
    ``changes`` say.

    Raises :class:`Malformed` for settings that there are not.

    >>> sheet(Tally(), "posts").name
    'index'
    """
    wanted = settings({}, changes)
    say = wanted.say
    blocks = (
        *_summary(tally, say),
        *_faults(tally, say),
        *_doubts(tally, say),
        *_worst(tally, say),
        *_failures(tally, say),
    )
    subtitle = (b.Code(corpus),)
    return b.Sheet("index", say.text("Audit of a corpus"), subtitle, blocks, say, wanted.paper)


def summary(tally: Tally) -> Sentence:
    """Return how many articles there are, and what became of them, in a sentence."""
    count = tally.articles
    return Sentence(
        "{articles}: {judged} judged, {wrong} with refuted figures, {failed} failed",
        articles=Sentence("1 article" if count == 1 else "{count} articles", count=count),
        judged=tally.articles - tally.failures,
        wrong=tally.outcomes["refuted"],
        failed=tally.failures,
    )


def _summary(tally: Tally, say: Language) -> Iterator[b.Block]:
    yield b.Paragraph((f"{say.again(summary(tally))}.",))
    names = "figures", "statements", "refuted", "undecided"
    yield b.Paragraph(
        say(
            "{figures} figures and {statements} statements were judged: {hold} hold, {refuted} are "
            "refuted, {undecided} are undecided.",
            hold=f"{tally.counts['holds']:,}",
            **{name: f"{tally.counts[name]:,}" for name in names},
        )
    )
    drawn = [
        Bar(say.text(_OUTCOMES[name]), tally.outcomes[name], "pen" if name in _WRONG else "heat")
        for name in _OUTCOMES
        if tally.outcomes[name]
    ]
    yield from _picture(drawn, say.text("Articles"), say)


def _picture(drawn: list[Bar], title: str, say: Language) -> Iterator[b.Block]:
    if drawn:
        yield b.Picture(bars(drawn, title, say.tag))


def _faults(tally: Tally, say: Language) -> Iterator[b.Block]:
    if not tally.causes:
        return
    yield b.Heading(say("Refuted figures by cause"))
    causes = {name: say.text(_CAUSES[name]) for name in tally.causes}
    drawn = [Bar(causes[name], count, "pen") for name, count in _most(tally.causes)]
    yield from _picture(drawn, say.text("Refuted figures by cause"), say)
    if tally.slips:
        yield b.Heading(say("Mistakes that explain many figures"))
        drawn = [Bar(name, count, "pen") for name, count in _most(tally.slips)]
        yield from _picture(drawn, say.text("Mistakes that explain many figures"), say)


def _doubts(tally: Tally, say: Language) -> Iterator[b.Block]:
    if not tally.doubts:
        return
    yield b.Heading(say("Doubtful readings"))
    yield b.Paragraph(
        say(
            "{count} readings were left open: these figures are neither confirmed nor refuted.",
            count=f"{tally.doubts.total():,}",
        )
    )
    rows = [((say.sentences.get(why, why),), (f"{count:,}",)) for why, count in _most(tally.doubts)]
    yield b.Table((say("reason"), say("count")), tuple(rows), "lr")


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The largest counts; equal ones by name, so that the order says nothing of the run."""
    return sorted(Counter(counts).items(), key=lambda pair: (-pair[1], pair[0]))[:_KINDS]


def _worst(tally: Tally, say: Language) -> Iterator[b.Block]:
    if not (worst := tally.worst):
        return
    yield b.Heading(say("Articles with the most refuted figures"))
    yield from _told(tally.outcomes["refuted"], say)
    rows: list[tuple[b.Line, ...]] = [
        ((b.Code(x.file),), (str(x.refuted),), (str(x.roots),), (str(x.figures),), (x.cause,))
        for x in worst
    ]
    header = (say("file"), say("refuted"), say("roots"), say("figures"), say("cause"))
    # Where no article has a mistake behind many figures, nothing is told of any.
    told = len(header) if any(one.cause for one in worst) else len(header) - 1
    yield b.Table(header[:told], tuple(row[:told] for row in rows), "lrrrl"[:told])


def _failures(tally: Tally, say: Language) -> Iterator[b.Block]:
    if not tally.failed:
        return
    yield b.Heading(say("Articles that were not judged"))
    yield from _told(tally.failures, say)
    rows = [((b.Code(file),), (why,)) for file, why in tally.failed]
    yield b.Table((say("file"), say("reason")), tuple(rows), "ll")


def _told(count: int, say: Language) -> Iterator[b.Block]:
    if count > TOLD:
        yield b.Paragraph(
            say(
                "The first {some} of {all}; {file} has all of them.",
                some=str(TOLD),
                all=f"{count:,}",
                file=b.Code("results.jsonl"),
            )
        )


# -- counts as bars ----------------------------------------------------------------------

_SIZE, _ROW, _BAR = 13.0, 24.0, 15.0
_WIDEST, _GAP = 300.0, 10.0
_LABEL = 40


@dataclass(frozen=True)
class Bar:
    """A count, what it is of, and its paint: ``heat``, or ``pen`` for what is wrong."""

    label: str
    count: int
    paint: str = "heat"


def bars(counts: Sequence[Bar], title: str, language: str) -> str:
    """Bars below each other as SVG, as long as their counts; words say the same.

    >>> drawn = bars([Bar("root", 3, "pen"), Bar("carried", 1)], "Causes", "en")
    >>> drawn.count("<rect"), "root: 3; carried: 1" in drawn
    (3, True)
    """
    labels = [shortened(bar.label, _LABEL) for bar in counts]
    side = max((text_width(label, _SIZE) for label in labels), default=0.0) + _GAP
    most = max((bar.count for bar in counts), default=0) or 1
    parts: list[str] = []
    for row, (label, bar) in enumerate(zip(labels, counts, strict=True)):
        y, length = row * _ROW, _WIDEST * bar.count / most
        line = y + _BAR - 3
        parts += [
            words(side - _GAP, line, label, "text", font_size=_SIZE, text_anchor="end"),
            element("rect", bar.paint, x=side, y=y, width=max(length, 1.0), height=_BAR),
            words(side + length + 6, line, f"{bar.count:,}", "faint", font_size=_SIZE),
        ]
    width = side + _WIDEST + 6 + text_width(f"{most:,}", _SIZE)
    panel = Panel(width, len(counts) * _ROW, tuple(parts))
    said = "; ".join(f"{bar.label}: {bar.count}" for bar in counts)
    return drawing(panel, title, said, language)
