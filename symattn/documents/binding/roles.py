"""The parts that quantities play in attention, and what authors call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from symattn.expressions import syntax

#: What a quantity is in attention; ``scaled`` are scores after the division, ``masked``
#: those after the mask, ``shifted`` a row of them less its largest, ``sums`` the sums of
#: a row's exponentials.
Role = Literal[
    "input", "query", "key", "value", "query weights", "key weights", "value weights",
    "scores", "scaled", "masked", "shifted", "weights", "output", "exponentials", "sums",
]  # fmt: skip

#: Phrases of each role, the longest that fits wins; plain words, in any case.
_PHRASES: tuple[tuple[Role, str], ...] = (
    ("query weights", r"(?:query|w_?q) (?:weight|projection)s?(?: matrix)?"),
    ("query weights", r"(?:weight|projection)(?: matrix|s)? for (?:the )?quer(?:y|ies)"),
    ("key weights", r"(?:key|w_?k) (?:weight|projection)s?(?: matrix)?"),
    ("key weights", r"(?:weight|projection)(?: matrix|s)? for (?:the )?keys?"),
    ("value weights", r"(?:value|w_?v) (?:weight|projection)s?(?: matrix)?"),
    ("value weights", r"(?:weight|projection)(?: matrix|s)? for (?:the )?values?"),
    ("query", r"quer(?:y|ies)(?: (?:vectors?|matrix|matrices))?"),
    ("key", r"keys?(?: (?:vectors?|matrix|matrices))?"),
    ("value", r"values? (?:vectors?|matrix|matrices)"),
    ("value", r"values"),
    # The head of a column, or a label.
    ("value", r"\A\W*+value\W*+\Z"),
    ("input", r"(?:(?:input|token|word|original) ){0,3}+embeddings?(?: (?:vectors?|matrix))?"),
    ("input", r"(?:input|token|word) (?:vectors?|matrix|data|representations?)"),
    ("input", r"inputs?"),
    ("masked", r"masked (?:(?:attention )?scores?|logits)"),
    ("masked", r"(?:scores?|logits) (?:after|with)(?: the| causal)* mask(?:ing)?"),
    ("masked", r"causal mask(?:ing)?|after masking|apply(?:ing)?(?: the)? mask"),
    ("scaled", r"scaled (?:(?:attention |similarity )?scores?|dot products|logits)"),
    ("scaled", r"(?:scores?|logits) (?:after|with) scaling|after scaling|scal(?:e|ed) by"),
    ("scaled", r"(?:scores?|logits),?(?: already| then)? (?:divided|scaled)(?: by)?"),
    ("scores", r"(?:(?:raw|unscaled|attention|similarity|alignment|dot[- ]product) ){0,3}+scores?"),
    ("scores", r"dot products?(?: of(?: \w++){1,8} (?:with|and)(?: \w++){0,3} keys?)?"),
    ("scores", r"(?:raw |pre-softmax ){0,3}+logits"),
    ("weights", r"(?:attention )?(?:weights?|probabilit(?:y|ies))(?: (?:matrix|vectors?|rows?))?"),
    ("weights", r"attention (?:matrix|distributions?|patterns?|maps?)|softmax(?:ed)? weights"),
    ("weights", r"attention score probabilities|attention(?: \w++){0,3} probabilities"),
    ("weights", r"(?:after|row-wise|apply(?:ing)?)(?: the)? softmax|softmax(?: outputs?)?"),
    ("weights", r"softmax of(?: the| all| these)? (?:scaled |masked )?(?:scores|logits)"),
    ("weights", r"pays?(?: \w+)? attention|attends?|gewichte?|poids|pesos?"),
    ("output", r"(?:(?:final|attention|layer|head) ){0,3}+outputs?(?: (?:matrix|vectors?|rows?))?"),
    ("output", r"context(?:ual(?:ized)?)?(?: output)? ?(?:vectors?|matrix|representations?)"),
    ("output", r"weighted (?:sums?|averages?|combinations?)|after attention"),
    ("output", r"mix(?:es|ed|ing|tures?)?(?: of)?(?: the)? values?"),
    ("shifted", r"shifted(?: (?:scores?|logits))?"),
    ("shifted", r"subtract\w*(?:(?: the)?(?: row)? max(?:imum)?)?"),
    ("exponentials", r"exponentials?|exponentiat\w+|exps?"),
    ("sums", r"(?:row )?sums?(?: of (?:the )?exponentials)?|normali[sz]ers?|denominators?"),
)


def _pattern(text: str) -> re.Pattern[str]:
    """A phrase as whole words."""
    return re.compile(rf"(?=[a-z])(?<![\w-])(?:{text})(?![\w-])", re.I)


_FOUND = [(role, _pattern(text)) for role, text in _PHRASES]
_ANY = _pattern("|".join(text for _, text in _PHRASES))

#: Words in the names of quantities, from the most telling.
_IN_NAMES: tuple[tuple[Role, str], ...] = (
    ("masked", r"mask(?:ed)?"),
    ("scaled", r"scaled"),
    ("weights", r"weights?|probs?|probabilities|attn|attention|alpha|softmax"),
    ("scores", r"scores?|logits|dots|qkt|sim(?:ilarity)?"),
    ("output", r"outputs?|out|context|ctx"),
    ("query", r"quer(?:y|ies)"),
    ("key", r"keys?"),
    ("value", r"values?"),
    ("input", r"embeddings?|emb|inputs?|tokens"),
)
#: Words in the names of the matrices that project.
_OF_WEIGHTS: tuple[tuple[Role, str], ...] = (
    ("query weights", r"q|quer(?:y|ies)"),
    ("key weights", r"k|keys?"),
    ("value weights", r"v|values?"),
)
_LETTERS: dict[str, Role] = {
    "Q": "query", "K": "key", "V": "value", "X": "input", "A": "weights",
    "W_Q": "query weights", "W_K": "key weights", "W_V": "value weights",
    "alpha": "weights", "q": "query", "k": "key", "v": "value", "x": "input",
}  # fmt: skip


#: What words can speak of: a role, or a quantity that the author gave a phrase.
About = Role | syntax.Tree


class Phrase(NamedTuple):
    """A phrase of the author, and what it speaks of."""

    about: About
    pattern: re.Pattern[str]


def phrase(words: str, about: About) -> Phrase:
    """A phrase that stands for something, in any case.

    >>> bool(phrase("blended values", "output").pattern.search("The Blended  values of X"))
    True
    """
    text = r"\s+".join(map(re.escape, words.split()))
    return Phrase(about, re.compile(rf"(?<![\w-]){text}(?![\w-])", re.IGNORECASE))


_NUMBERED = re.compile(r"_?[0-9]+(?=_|\Z)")


class Spoken(NamedTuple):
    """A phrase that names a role: where in the words it begins and ends."""

    role: About
    start: int
    end: int


def spoken(words: str, phrases: Iterable[Phrase] = ()) -> list[Spoken]:
    """The roles that words name, in their order; of phrases that overlap the longest, and
    of such as long that of the author.

    >>> [one.role for one in spoken("Scaled scores, then the attention weights for 'study'")]
    ['scaled', 'weights']
    """
    kept: list[Spoken] = []
    is_taken = bytearray(len(words))
    for phrase in sorted(
        _all(words, phrases), key=lambda phrase: (phrase.start - phrase.end, phrase.start)
    ):
        if not any(is_taken[phrase.start : phrase.end]):
            is_taken[phrase.start : phrase.end] = b"\1" * (phrase.end - phrase.start)
            kept.append(phrase)
    return sorted(kept, key=lambda phrase: phrase.start)


def _all(words: str, phrases: Iterable[Phrase]) -> Iterator[Spoken]:
    for about, pattern in phrases:
        for match in pattern.finditer(words):
            yield Spoken(about, match.start(), match.end())
    yield from _usual(words)


@lru_cache(maxsize=1024)
def _usual(words: str) -> tuple[Spoken, ...]:
    """All that the usual phrases name, overlapping or not; most words name nothing."""
    if not _ANY.search(words):
        return ()
    return tuple(
        Spoken(role, *match.span()) for role, pattern in _FOUND for match in pattern.finditer(words)
    )


@lru_cache(maxsize=1024)
def named(name: str) -> Role | None:
    """The role that the name of a quantity tells, or None.

    >>> named("scaled_scores"), named("W_q"), named("attention_weights"), named("T")
    ('scaled', 'query weights', 'weights', None)
    >>> named("Q_1"), named("W_2_K"), named("q_1"), named("W_query")
    ('query', 'key weights', None, 'query weights')
    """
    if name in _LETTERS:
        return _LETTERS[name]
    # Q_1 and W_1_K are those of the first head.
    whole = _NUMBERED.sub("", name)
    if whole != name and whole in _LETTERS and whole[0].isupper():
        return _LETTERS[whole]
    short = name.replace("_", "").lower()
    if len(short) == 2 and short[0] == "w" and short[1] in "qkv":
        return _LETTERS[f"W_{short[1].upper()}"]
    parts = [part.lower() for part in re.split(r"_+|(?<=[a-z])(?=[A-Z])", name)]
    if len(parts) == 1 and len(name) < 3:
        return None
    if parts[0] == "w":
        # W_query makes queries, and is none.
        return next(
            (role for role, words in _OF_WEIGHTS if any(re.fullmatch(words, one) for one in parts)),
            None,
        )
    for role, words in _IN_NAMES:
        if any(re.fullmatch(words, part) for part in parts):
            if role == "weights" and any(part in ("scores", "score", "logits") for part in parts):
                return "scores"
            return role
    return None
