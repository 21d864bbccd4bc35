"""What code showed, and what its outputs show of that."""

from __future__ import annotations

from symattn import syntax
from symattn.documents.binding import prose, values
from symattn.documents.binding.claims import Claims
from symattn.documents.trees import Chain, Labelled, Words

#: So many of the things that code showed are looked through for the one that is printed.
_AHEAD = 256


class Outputs:
    """Follows what code shows, passage by passage, to the outputs behind it."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self._kind = ""
        #: What code showed that its output has not shown yet, each behind words.
        self._shown: list[tuple[str, syntax.Tree | None]] = []
        #: What code shows behind words of its own.
        self._labelled: dict[str, syntax.Tree] = {}

    def enter(self, kind: str) -> None:
        """A passage of a kind begins: an output shows what the code right before it shows."""
        if kind == "code" and self._kind != "code":
            self._shown.clear()
        self._kind = kind

    def target(self, chain: Chain, said: str, target: syntax.Tree | None) -> syntax.Tree | None:
        """What a chain behind words names, or where it is a value by itself what code showed
        there."""
        members = list(chain.members)
        match members:
            case [syntax.Name(label), value] if self._kind == "output":
                # A label is no name: "Paris: [0.2 0.8]", and "scores" that code showed first.
                said, members = label, [value]
                if any(words == _folded(label) for words, _ in self._shown[:_AHEAD]):
                    target = None
        said = _folded(said)
        if chain.is_code and len(chain.members) == 1:
            self._shown.append((said, target))
            if target is not None and said:
                self._labelled[said] = target
        elif target is not None:
            for k, (_, shown) in enumerate(self._shown[:_AHEAD] if self._kind == "output" else ()):
                if shown == target:
                    del self._shown[: k + 1]
                    break
        elif len(members) == 1 and values.is_value(member := members[0]):
            if isinstance(member, Labelled) and self._rows_shown(member):
                return None
            found = self._printed(said, member) or self._labelled.get(said)
            return found if found is not None and self.claims.fits(found, member) else None
        return target

    def told(self, words: Words) -> None:
        """The figures in the words of an output, each of what code showed behind the same
        words: "un 0.310 petit 0.272"."""
        at = 0
        for one in prose.placed(words) if self._kind == "output" else ():
            said = _folded(words.text[at : one.start])
            at = one.end
            if any(map(str.isalpha, said)) and self._is_behind(said):
                _, tree = self._shown.pop(0)
                if tree is not None and self.claims.fits(tree, one.figure):
                    self.claims.claim(tree, one.figure)

    def _printed(self, said: str, value: syntax.Tree) -> syntax.Tree | None:
        """What the code before an output showed there: what it showed behind the words that
        are ``said``, or the next thing, if it has that shape; None where it showed something
        that isn't understood."""
        if self._kind != "output":
            return None
        self._is_behind(said)
        while self._shown:
            _, tree = self._shown.pop(0)
            if tree is None or self.claims.fits(tree, value):
                return tree
        return None

    def _is_behind(self, said: str) -> bool:
        """Whether code showed something behind these words; then that is the next thing."""
        for k, (label, _) in enumerate(self._shown[:_AHEAD]):
            if said and label == said:
                del self._shown[:k]
                return True
        return False

    def _rows_shown(self, value: Labelled) -> bool:
        """Whether code showed the rows of an output one by one, each behind its label."""
        found: list[tuple[syntax.Tree, syntax.Tree]] = []
        for label, row in zip(value.rows_said, value.items, strict=False):
            if self._kind == "output" and self._is_behind(_folded(label)):
                _, tree = self._shown.pop(0)
                if tree is not None and self.claims.fits(tree, row):
                    found.append((row, tree))
        self.claims.claim_all(found)
        return bool(found)


def _folded(said: str) -> str:
    """Words before a value, to be compared: without spaces, which prints fill up."""
    return "".join(said.lower().split()).rstrip(":")
