"""Chains that go on behind a colon or a verb: 'S = Q K^T is', and then the matrix.

Printed blocks that are not what they seem: most of their figures are another quantity's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from symattn import syntax
from symattn.documents.binding import values, workings
from symattn.documents.binding.recipe import Recipe, interval
from symattn.documents.grids import of_table
from symattn.documents.text import Span
from symattn.documents.trees import Chain, Named, Passage, Piece, ReadTable, Words

#: Words between a name and its value.
_SAME = re.compile(
    r"(?:(?:is|are|be|equals?|becomes?|gives?|as|then|now|follows|the (?:matrix|vector|row)"
    r"|therefore|thus|matrix)\b|[:,≈=\s])*+",
    re.I,
)
#: Words that go on to announce the value of what they speak of.
_ANNOUNCES = re.compile(r"[^.!?;:]{0,60}[:：]\s*")
#: A name at the end of words that announce something.
_NAME = re.compile(
    r"(?<![\w'’])(?P<name>[A-Z](?:_?[A-Za-z0-9]{1,3})?)\s*+(?:=|:|：|is|are)?+\s*+\Z"
)


def joined(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages, a value that stands by itself joined to the chain that it belongs to.

    That is the chain before it, when only words such as "is" or a colon stand between
    them, also in the next passage; or a single name that the words before end with. A
    table that is a matrix is such a value as well.
    """
    before: Chain | None = None
    captioned: Chain | None = None
    for passage in passages:
        above, captioned = captioned, _only_name(passage)
        if passage.kind in ("heading", "note") or _is_program(passage):
            before = None
            yield passage
            continue
        pieces: list[Piece] = []
        for piece in passage.pieces:
            match piece:
                case Words(text):
                    name = _NAME.search(text)
                    if name is not None and text.rstrip().endswith((":", "：")):
                        before = _mention(piece, name)
                    elif not _SAME.fullmatch(text) and not (pieces and _ANNOUNCES.fullmatch(text)):
                        # Words that begin a paragraph announce something of their own.
                        before = None
                    pieces.append(piece)
                case Chain((value,)) if before is not None and values.is_value(value):
                    piece = _continued(before, value, piece.span)
                    before = None
                    pieces.append(piece)
                case Chain():
                    before = None if values.is_value(piece.members[-1]) else piece
                    pieces.append(piece)
                case ReadTable():
                    matrix = of_table(piece)
                    before = before or above
                    if before is not None and matrix is not None and values.is_value(matrix):
                        pieces.append(_continued(before, matrix, piece.span))
                    else:
                        pieces.append(piece)
                    before = None
        if passage.kind == "prose" and passage.pieces:
            last = passage.pieces[-1]
            if isinstance(last, Words) and last.text.strip().endswith((".", "!", "?")):
                before = None
        yield replace(passage, pieces=tuple(pieces))


def _only_name(passage: Passage) -> Chain | None:
    """The only formula of a caption, if that is a name."""
    chains = [piece for piece in passage.pieces if isinstance(piece, Chain)]
    match chains:
        case [Chain((syntax.Name(),)) as chain] if passage.kind == "prose":
            return chain
    return None


def _is_program(passage: Passage) -> bool:
    return any(isinstance(piece, Chain) and piece.is_code for piece in passage.pieces)


def _continued(chain: Chain, value: syntax.Tree, span: Span) -> Chain:
    return Chain((*chain.members, value), (*chain.links, "="), (*chain.spans, span))


def _mention(words: Words, name: re.Match[str]) -> Chain:
    """A chain of the name that words end with."""
    start = words.span.end - (len(words.text) - name.start("name"))
    span = Span(start, start + len(name["name"]))
    return Chain((Named(name["name"], span),), (), (span,))


#: Fewer figures, or digits, may agree with another quantity by chance.
_FIGURES, _DIGITS = 3, 8
#: Rows of larger quantities are not compared with a printed row.
_ROWS = 64


def other(recipe: Recipe, target: syntax.Tree, value: syntax.Tree) -> syntax.Tree | None:
    """What else a printed row or matrix is: nearly all of its figures are those of another
    quantity, or of another form of this one (without scale, mask or softmax), and most are
    not near those of ``target``. None where there is nothing of the kind."""
    figures = list(values.figures(value))
    digits = sum(len(one.text.strip("-0.").replace(".", "")) for one in figures)
    if len(figures) < _FIGURES or digits < _DIGITS or 2 * _near(recipe, target, value) >= 1:
        return None
    found = (*_forms(recipe, target), *_quantities(recipe, value))
    return next((one for one in found if recipe.agreement(one, value) >= 0.8), None)


def _near(recipe: Recipe, target: syntax.Tree, value: syntax.Tree) -> float:
    """The part of the figures that are off by no more than roundings on the way make."""
    near = []
    for figure, keys in values.entries(value):
        held = recipe.floats(workings.indexed(target, *keys))
        ends = interval(figure.text)
        if held is None or ends is None:
            return 1.0
        off, slack = float(held.reshape(-1)[0]), 2 * (ends[1] - ends[0])
        with np.errstate(invalid="ignore"):
            near.append(ends == (off, off) or ends[0] - slack <= off <= ends[1] + slack)
    return sum(near) / len(near)


def _quantities(recipe: Recipe, value: syntax.Tree) -> Iterator[syntax.Tree]:
    """The quantities, or rows of some, that have the shape of a value."""
    for name in (*recipe.given, *recipe.steps):
        whole = syntax.Name(name)
        shape = recipe.shape(whole) or ()
        if shape == values.shape(value):
            yield whole
        elif shape[1:] == values.shape(value) and shape[0] <= _ROWS:
            yield from (workings.indexed(whole, i) for i in range(shape[0]))


def _forms(recipe: Recipe, target: syntax.Tree) -> Iterator[syntax.Tree]:
    """A quantity as it is with a softmax in place of exponentials, or without a scale or
    a mask: of a row its rows."""
    match target:
        case syntax.Indexed(operand, keys):
            yield from (syntax.Indexed(one, keys) for one in _forms(recipe, operand))
        case syntax.Name(name) if name in recipe.trees:
            yield from _forms(recipe, recipe.trees[name])
        case syntax.Call("exp", (of,)):
            yield syntax.Call("softmax", (of,))
        case syntax.Call("softmax", (of,), ()):
            yield from (syntax.Call("softmax", (one,)) for one in _forms(recipe, of))
        case syntax.Call("causal" | "mask", (of, *_)):
            yield of
            yield from _forms(recipe, of)
        case syntax.Binary("/", of, _):
            yield of
