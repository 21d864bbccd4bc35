"""Figures among words, claimed of what their sentence speaks of."""

from __future__ import annotations

from collections.abc import Sequence

from symattn import syntax
from symattn.documents.binding import context, prose, values, workings
from symattn.documents.binding.speech import Speech
from symattn.documents.binding.subjects import Mention, Subject, mentions
from symattn.documents.trees import Passage


class Sentences:
    """Reads the figures in the words of passages."""

    def __init__(self, speech: Speech) -> None:
        self.speech = speech
        self.claims = speech.claims
        self.standard = speech.standard
        self.recipe = speech.recipe

    def read(
        self, passage: Passage, around: Subject, before: Mention | None, now: Mention | None
    ) -> bool:
        """Figures among words, by what each sentence says of them, or what is spoken of
        around them; where they say nothing of the row that was spoken of ``before`` the
        passage, or that is spoken of ``now``, if by words that stand before its figures.
        Whether figures were read as of that row, the tokens beside them as columns."""
        text, figures = prose.joined(passage)
        begun = mentions(text[: figures[0].start], self.speech.tokens) if figures else []
        row = next((one for one in around.mentions if not one.across), now if begun else before)
        goes_on = False
        for ways in prose.told(text, figures, self.speech.tokens, row, self.standard.phrases):
            read = [(*self._told(one), one) for one in ways]
            if not read:
                continue
            share, bound, certain, told = max(read, key=lambda one: one[0])
            if share > 0 and row is not None:
                goes_on = all(one is row for _, one, _ in told.figures)
            for figure, tree in bound:
                # What one sentence says of several figures stands or falls together.
                holds = self.claims.likeness(tree, figure) == 1.0
                is_share = values.is_share(figure)
                if holds or (is_share and (share >= 0.5 if len(bound) > 1 else certain)):
                    plainly = certain or len(bound) > 1
                    self.claims.claim(tree, figure, confirmed=not plainly)

        self._sums(text, figures, row)
        self._lists(text, figures)
        return goes_on

    def _sums(self, text: str, figures: Sequence[prose.Placed], row: Mention | None) -> None:
        """Figures that are called sums, of the exponentials of the row that is spoken of."""
        for placed in prose.sums(text, figures):
            said = mentions(text[: placed.start], self.speech.tokens)[-1:] or ([row] if row else [])
            if self.claims.is_taken(placed.figure):
                continue
            target = self._worked_sum()
            if said:
                target = self.speech.meant(Subject("sums", tuple(said)), [placed.figure])
            if target is not None and (
                self.speech.is_worked(target) or self.claims.agreement(target, placed.figure) == 1.0
            ):
                self.claims.claim(target, placed.figure)

    def _worked_sum(self) -> syntax.Tree | None:
        """The sum of the exponentials that were worked out, where they are those of one row."""
        sums = [
            tree
            for tree in context.targets(self.recipe, "sums", None)
            if self.speech.is_worked(tree)
        ]
        return sums[0] if len(sums) == 1 else None

    def _lists(self, text: str, figures: Sequence[prose.Placed]) -> None:
        """All shares of a row in a list, where they are those of one row only."""
        whole = self.standard.of("weights")
        shape = None if whole is None else self.recipe.shape(whole)
        if whole is None or shape is None or len(shape) != 2:
            return
        for listed in prose.lists(text, figures, shape[1]):
            rows = [
                i
                for i in range(shape[0])
                if all(
                    self.claims.agreement(workings.indexed(whole, i, j), figure) == 1.0
                    for j, figure in enumerate(listed)
                )
            ]
            if len(rows) == 1 and not any(map(self.claims.is_taken, listed)):
                for j, figure in enumerate(listed):
                    entry = workings.indexed(whole, rows[0], j)
                    self.claims.claim(entry, figure, confirmed=True)

    def _told(self, told: prose.Told) -> tuple[float, workings.Bound, bool]:
        """The entries that a sentence may speak of, the part of them that agrees, and
        whether the words are certain."""
        whole = self.standard.of(told.role)
        shape = None if whole is None else self.recipe.shape(whole)
        if whole is None or shape is None or not shape:
            return 0.0, [], False
        rows, columns = (1, *shape)[-2:]
        if rows > 1 and any(row is None for _, row, _ in told.figures):
            return 0.0, [], False
        bound: workings.Bound = []
        for figure, row, column in told.figures:
            i = 0 if row is None else self.speech.counted(row)
            j = self.speech.counted(column)
            if 0 <= i < rows and 0 <= j < columns and not self.claims.is_taken(figure):
                keys = (i, j) if len(shape) == 2 else (j,)
                bound.append((figure, workings.indexed(whole, *keys)))
        agree = sum(self.claims.likeness(tree, figure) == 1.0 for figure, tree in bound)
        certain = all(
            column.certain and (row is None or row.certain) for _, row, column in told.figures
        )
        return (agree / len(bound) if bound else 0.0), bound, certain
