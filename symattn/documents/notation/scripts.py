"""Values as they are written: names, indices, powers, and products of them.

Subscripts and brackets as indices, where they are no part of a name. Products by their sign, of
matrices or of numbers and entry by entry; without one, what may stand side by side, and what
only happens to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from symattn.documents.notation.tokens import NotationToken, UnreadNotation
from symattn.documents.notation.vocabulary import (
    ACCENTS,
    BARE,
    FUNCTIONS,
    JOINING,
    MATRICES,
    TRANSPOSES,
    plain_name,
)
from symattn.documents.text import Span
from symattn.documents.trees import Labelled, Named, PrintedFigure
from symattn.expressions import syntax
from symattn.expressions.syntax import Tree
from symattn.spelling import GREEK

if TYPE_CHECKING:
    from symattn.documents.notation.grammar import Grammar

#: One index: a whole number, all or a part of an axis, or letters.
Index = syntax.Key | Tree

#: Letters that are indices: alone, and together.
_ALONE = frozenset("ij")
_INDICES = frozenset("ijklmnrst")
#: Letters that could all be indices, and rather are a word.
_WORDS = frozenset(("in", "is", "it", "tr", "kl", "st", "ln", "min", "lin", "nil", "mlm", "sim"))
#: Letters that count, and have no entries.
_COUNTS = frozenset("dnNTLHhmB")
_WHOLE = re.compile(r"-?[0-9]{1,5}")
_SLICE = re.compile(r"(-?[0-9]{1,5})?:(-?[0-9]{1,5})?")


def subscript(base: str, tokens: Sequence[NotationToken]) -> tuple[Index, ...] | None:
    r"""A subscript as indices; nothing where it is part of the name.

    ``base`` is the name before it, in plain letters: ``A_{12}`` and ``S_{ij}`` are
    entries, ``q_1``, ``d_{64}``, ``d_k`` and ``S_{\text{scaled}}`` are names.
    """
    if not tokens or len(tokens) > 12 or any(token.kind == "words" for token in tokens):
        return None
    pieces = _parted(tokens)
    if len(pieces) > 1:
        return _known(pieces)
    texts = [token.text for token in tokens]
    together = "".join(texts)
    if together.isdigit() and together.isascii():
        is_letter = len(base) == 1 or "_" in base or base.lower() in GREEK
        if len(together) != 2 or not is_letter or base in _COUNTS:
            return None
        return int(together[0]), int(together[1])
    if re.fullmatch("[a-z0-9]{1,3}", together):
        if together in _WORDS or not all(s in _INDICES or s.isdigit() for s in together):
            return None
        if len(together) == 1:
            return (syntax.Name(together),) if together in _ALONE else None
        return tuple(
            syntax.Literal(sign) if sign.isdigit() else syntax.Name(sign) for sign in together
        )
    key = index(tokens)
    return (key,) if isinstance(key, syntax.Binary) else None


def brackets(tokens: Sequence[NotationToken]) -> tuple[Index, ...] | None:
    """Return what stands in brackets right behind a name as indices: ``[0, 1]``, ``[:, j]``."""
    return _known(_parted(tokens)) if _are_indices(tokens) else None


def _known(pieces: Sequence[Sequence[NotationToken]]) -> tuple[Index, ...] | None:
    """Return what pieces are as indices; nothing where one is none."""
    known = tuple(key for piece in pieces if (key := index(piece)) is not None)
    return known if len(known) == len(pieces) else None


def _are_indices(tokens: Sequence[NotationToken]) -> bool:
    """Return whether there are only whole numbers, letters and slices."""
    return 0 < len(tokens) <= 9 and all(
        (token.kind == "number" and token.text.isdigit() and len(token.text) < 6)
        or token.text in (",", ":", "-", "+")
        or (token.kind == "name" and len(token.text) == 1)
        for token in tokens
    )


def _parted(tokens: Sequence[NotationToken]) -> list[list[NotationToken]]:
    """Tokens between commas."""
    pieces: list[list[NotationToken]] = [[]]
    for token in tokens:
        if token.text == ",":
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def index(tokens: Sequence[NotationToken]) -> Index | None:
    """One index: a whole number, a letter, a letter and a step, a slice, all of an axis."""
    texts = [token.text for token in tokens]
    match texts:
        case [":"] | ["·"] | ["*"]:
            return syntax.Slice(None, None, None)
        case [text] if len(text) == 1 and text.islower() and text.isascii():
            return syntax.Name(text)
        case [text, ("+" | "-") as sign, step] if len(text) == 1 and text.islower():
            moved = syntax.Binary(sign, syntax.Name(text), syntax.Literal(step))
            return moved if step.isdigit() else None
    together = "".join(texts)
    if _WHOLE.fullmatch(together):
        return int(together)
    if match := _SLICE.fullmatch(together):
        start, stop = (None if part is None else int(part) for part in match.groups())
        return syntax.Slice(start, stop, None)
    return None


def entry(tree: Tree, indices: Sequence[Index]) -> Tree:
    """A quantity at its indices: numbers and slices, or expressions in letters.

    >>> A, j = syntax.Name("A"), syntax.Name("j")
    >>> syntax.text(entry(A, (1, 2))), syntax.text(entry(A, (1, j)))
    ('A[1, 2]', 'A[1, j]')
    """
    keys = tuple(index for index in indices if isinstance(index, int | syntax.Slice))
    if len(keys) == len(indices):
        match tree:
            case syntax.Indexed(operand, (int() as line,)) if len(keys) == 1:
                return syntax.Indexed(operand, (line, *keys))
        return syntax.Indexed(tree, keys)
    if isinstance(indices[0], syntax.Slice):
        tree = syntax.Transposed(tree)
    places = tuple(
        syntax.Literal(str(index)) if isinstance(index, int) else index
        for index in indices
        if not isinstance(index, syntax.Slice)
    )
    match tree:
        case syntax.Cell(operand, (row,)) if len(places) == 1:
            return syntax.Cell(operand, (row, *places))
    return syntax.Cell(tree, places)


#: Arguments that say along which axis.
AXES = frozenset(("axis", "dim"))
#: Characters of a name at most.
_LONGEST = 200
_LARGE = frozenset((r"\sum", r"\prod"))


def silent(tokens: Sequence[NotationToken], partners: Sequence[int]) -> tuple[set[int], set[int]]:
    """The numbers that belong to names and indices: in subscripts, in the limits of
    sums, in brackets above a name or right behind it, and where an axis is said; and
    the brackets of indices."""
    places: list[int] = []
    indices: set[int] = set()
    large = False
    at = 0
    while at < len(tokens):
        token, following = tokens[at], at + 1
        if token.kind == "script" and following < len(tokens):
            end = following + 1
            opening = ("{", "(") if token.text == "^" else ("{",)
            if tokens[following].text in opening and partners[following] > 0:
                end = partners[following] + 1
            if token.text == "_" or large or _is_bracketed(tokens, at, end):
                places.extend(range(following, end))
                at = end
                continue
        elif token.text in AXES and tokens[following : following + 1]:
            if tokens[following].text == "=":
                places.extend(range(following, min(following + 3, len(tokens))))
        elif token.text == "[" and _is_index(tokens, partners, indices, at):
            places.extend(range(at, partners[at]))
            indices.add(at)
        large = token.text in _LARGE or (large and token.kind == "script")
        at += 1
    return {i for i in places if tokens[i].kind == "number"}, indices


def _is_bracketed(tokens: Sequence[NotationToken], at: int, end: int) -> bool:
    """Return whether a number in brackets stands above a name: ``W^{(1)}``, not ``e^{(1)}``."""
    if tokens[at - 1].text == "e":
        return False
    inner = [token.text for token in tokens[at + 1 : min(end, at + 6)] if token.text not in "{}"]
    return tokens[at - 1].kind in ("name", "close") and (
        len(inner) == 3 and inner[0] == "(" and inner[1].isdigit() and inner[2] == ")"
    )


def _is_index(
    tokens: Sequence[NotationToken], partners: Sequence[int], known: Set[int], opening: int
) -> bool:
    """Return whether a bracket holds indices: ``A[0, 1]``, ``scores[0][1]``."""
    end = partners[opening]
    if opening == 0 or end < 0 or tokens[opening].spaced:
        return False
    before = tokens[opening - 1]
    if before.text == "]" and partners[opening - 1] not in known:
        return False
    if before.kind != "name" and before.text not in ("]", ")", "}"):
        return False
    return _are_indices(tokens[opening + 1 : min(end, opening + 11)])


def argument(grammar: Grammar) -> tuple[int, int]:
    """The range of what follows a script or a command, which is passed over."""
    token, start = grammar.peek(), grammar.at
    if token.text == "{":
        return grammar.group(start)
    if token.text == "(" and not grammar.latex:
        grammar.group(start)
        return start, grammar.at
    if token.kind == "operator" and token.text in "+-" and grammar.peek(1).kind:
        grammar.at += 1
    if grammar.peek().kind in ("", "close", "relation", "separator"):
        raise UnreadNotation
    if grammar.peek().kind == "command":
        grammar.postfix()
        return start, grammar.at
    grammar.at += 1
    while not grammar.latex and grammar.peek().kind == "script":
        # The index of e^xᵢ in plain text is part of what stands above.
        if grammar.peek().start != grammar.peek(1).start:
            break
        grammar.at = grammar.partners[grammar.at + 1] + 1
    return start, grammar.at


def named(grammar: Grammar, start: int, written: str) -> Tree:
    """A name with what stands below and above it, as long as that is part of it."""
    indices: tuple[Index, ...] | None = None
    transposed = False
    last = grammar.at
    while not transposed:
        if len(written) > _LONGEST:
            raise UnreadNotation
        token, mark = grammar.peek(), grammar.at
        if token.kind not in ("prime", "accent", "script"):
            break
        grammar.at += 1
        if token.kind == "prime":
            written += "'"
        elif token.kind == "accent":
            written += token.text
        else:
            piece = argument(grammar)
            inner = grammar.few(*piece)
            if token.text == "_":
                if _is_size(inner):
                    continue
                if indices is None and (keys := subscript(plain_name(written), inner)):
                    indices = keys
                    continue
            elif _is_transpose(inner):
                transposed = True
                continue
            elif not _is_part(written, inner):
                grammar.at = mark
                break
            written += f"{token.text}{{{grammar.written(*piece)}}}"
        last = grammar.at
    name = plain_name(written)
    if not name:
        raise UnreadNotation
    if transposed and not indices:
        return _transposed(name, grammar.span(start, last))
    tree: Tree = Named(name, grammar.span(start, last))
    if indices:
        tree = entry(tree, indices)
    return syntax.Transposed(tree) if transposed else tree


def _transposed(name: str, span: Span) -> Tree:
    """The transpose of a name; of several capitals, a product, it is that of the last."""
    if not (name.isupper() and name.isalpha() and 1 < len(name) <= 3):
        return syntax.Transposed(Named(name, span))
    letters = [
        Named(letter, Span(span.start + i, span.start + i + 1)) for i, letter in enumerate(name)
    ]
    tree: Tree = letters[0]
    for factor in letters[1:-1]:
        tree = syntax.Binary("@", tree, factor)
    return syntax.Binary("@", tree, syntax.Transposed(letters[-1]))


def _is_size(tokens: Sequence[NotationToken]) -> bool:
    r"""Return whether a subscript only says how large an array is: ``Q_{3 \times 4}``."""
    return len(tokens) == 3 and tokens[1].text == "×"


def _is_transpose(tokens: Sequence[NotationToken]) -> bool:
    """Return whether what stands above takes the transpose."""
    return len(tokens) == 1 and tokens[0].text in TRANSPOSES


def _is_part(written: str, tokens: Sequence[NotationToken]) -> bool:
    """Return whether what stands above is part of the name: ``W^Q``, ``W^{(1)}``, ``x^*``."""
    if not tokens or len(tokens) > 5:
        return False
    if tokens[0].text == "(" and tokens[-1].text == ")":
        return all(token.kind in ("name", "number") for token in tokens[1:-1])
    if len(tokens) > 1:
        return False
    text = tokens[0].text
    if tokens[0].kind == "name":
        return text.isupper() or len(text) > 1 or plain_name(written)[:1].isupper()
    return text in ("*", "⋆", r"\star")


def scripted(grammar: Grammar, tree: Tree, sign: str) -> Tree:
    """A value that is no name with what stands below or above it."""
    grammar.at += 1
    start, end = argument(grammar)
    inner = grammar.few(start, end)
    if sign == "_":
        if isinstance(tree, PrintedFigure):
            raise UnreadNotation
        if _is_size(inner):
            return tree
        indices = subscript("A", inner)
        if indices is None and len(inner) == 1 and re.fullmatch("[0-9]{1,9}", inner[0].text):
            indices = (int(inner[0].text),)
        if indices is None:
            raise UnreadNotation
        return entry(tree, indices)
    if _is_transpose(inner) and not isinstance(tree, PrintedFigure):
        return syntax.Transposed(tree)
    return syntax.Power(tree, grammar.inside(start, end))


def over(grammar: Grammar, start: int, end: int) -> tuple[Tree, ...]:
    """The index of a sum or of a function: ``j``, ``j = 1``; nothing where words say it."""
    tokens = grammar.few(start, end)
    if len(tokens) == 1 and tokens[0].kind == "number":
        return (syntax.Literal(tokens[0].text),)
    if tokens and tokens[0].kind == "name" and len(tokens[0].text) == 1:
        return (syntax.Name(plain_name(tokens[0].text)),)
    return ()


def bracketed(grammar: Grammar, tree: Tree) -> Tree | None:
    """``A[0, 1]``, ``V[:, 1]``, ``S[i, j]``; nothing where the brackets are no index."""
    opening = grammar.at
    end = grammar.partners[opening]
    if opening not in grammar.indices or end >= grammar.end or isinstance(tree, syntax.Array):
        return None
    indices = brackets(grammar.tokens[opening + 1 : end])
    if indices is None:
        return None
    grammar.at = end + 1
    return entry(tree, indices)


# -- values that letters and commands write ----------------------------------------------
# Names, calls, quotients, roots, gradients, sums.

#: What gradients are those of.
_LOSSES = frozenset(("L", "ell", "Loss", "loss", "J", "E", "Cost", "cost"))
#: Letters that are functions where brackets follow.
_CALLED = frozenset(("f", "g", r"\sigma", "σ", r"\phi", r"\varphi", "φ", r"\psi", "ψ"))


def name(grammar: Grammar) -> Tree:
    """A name with its scripts, a call, or a power of Euler's number."""
    token, start = grammar.peek(), grammar.at
    if (token.text in JOINING and len(token.text) > 1) or token.text in ("inf", "nan", "⊤"):
        raise UnreadNotation
    if token.text == "e" and grammar.peek(1).text == "^":
        grammar.at += 2
        return syntax.Call("exp", (grammar.inside(*argument(grammar)),))
    if token.text in FUNCTIONS and (call := _function(grammar, token)) is not None:
        return call
    written = token.text
    grammar.at += 1
    if written in (r"\Delta", "Δ") and grammar.peek().kind == "name":
        written += f" {grammar.peek().text}"
        grammar.at += 1
    elif written == "d" and grammar.latex and grammar.peek().text[:1].isupper():
        # An upright d before a quantity is that of its gradient: \mathrm{d}V.
        written += grammar.peek().text
        grammar.at += 1
    tree = named(grammar, start, written)
    opening = grammar.peek()
    if opening.text != "(" or (opening.spaced and not grammar.latex):
        return tree
    is_word = len(token.text) > 1 and token.text.isascii() and token.text[0] != "\\"
    if isinstance(tree, Named) and (is_word or token.text in _CALLED):
        return syntax.Call(tree.name, _arguments(grammar))
    return tree


def _arguments(grammar: Grammar) -> tuple[Tree, ...]:
    """Return what stands in the brackets of a call, without what only says an axis."""
    opening = grammar.at
    start, end = grammar.group(opening)
    try:
        return tuple(
            grammar.inside(*piece)
            for piece in grammar.pieces(start, end)
            if not (piece[1] - piece[0] >= 3 and grammar.tokens[piece[0]].text in AXES)
        )
    except UnreadNotation:
        grammar.failed.add(opening)
        raise


def _function(grammar: Grammar, token: NotationToken) -> Tree | None:
    """A call of a known function; nothing where it is only named."""
    mark = grammar.at
    grammar.at += 1
    function = FUNCTIONS[token.text]
    below: tuple[Tree, ...] = ()
    if grammar.peek().text == "_":
        grammar.at += 1
        below = over(grammar, *argument(grammar))
    opening = grammar.peek()
    is_array = opening.text == "[" or (opening.kind == "open" and opening.text[1:] in MATRICES)
    if opening.text in ("(", r"\{") and (grammar.latex or not opening.spaced):
        arguments = _arguments(grammar)
    elif is_array and (grammar.latex or not opening.spaced):
        arguments = (_ungrouped(function, grammar.bracket(opening)),)
    elif opening.text == "{" and grammar.latex:
        arguments = (grammar.inside(*grammar.group(grammar.at)),)
    elif (token.text in BARE and _is_operand(grammar, opening)) or (
        below and function in ("sum", "max", "min") and opening.kind in ("name", "command")
    ):
        arguments = (grammar.unary(),)
    elif below:
        raise UnreadNotation
    else:
        grammar.at = mark
        return None
    if function == "log" and below and isinstance(below[0], syntax.Literal):
        return syntax.Binary("/", syntax.Call("log", arguments), syntax.Call("log", below))
    return syntax.Call(function, (*arguments, *below))


def _is_operand(grammar: Grammar, token: NotationToken) -> bool:
    """Return whether a function may take what follows without brackets."""
    return token.kind == "number" or (grammar.latex and token.kind in ("name", "command"))


def _ungrouped(function: str, tree: Tree) -> Tree:
    """Return what square brackets hold that only group: ``exp[x]``."""
    match tree:
        case Labelled((item,)) if function in ("exp", "log") and not isinstance(item, Labelled):
            return item
    return tree


def command(grammar: Grammar, token: NotationToken) -> Tree:
    """A command with what belongs to it."""
    start = grammar.at
    grammar.at += 1
    match token.text:
        case r"\frac":
            return _fraction(grammar)
        case r"\sqrt":
            return syntax.Call("sqrt", (_radicand(grammar),))
        case "∂":
            return _gradient(grammar)
        case "∇":
            return _nabla(grammar)
        case r"\sum" | r"\prod" if grammar.peek().kind in ("relation", ""):
            return Named(token.text[1:], grammar.span(start, start + 1))
        case r"\sum" | r"\prod":
            return _large(grammar, token.text[1:])
    if token.text in ACCENTS:
        inner = grammar.written(*argument(grammar))
        return named(grammar, start, f"{token.text}{{{inner}}}")
    raise UnreadNotation


def _radicand(grammar: Grammar) -> Tree:
    """Return what stands under a root: braces, brackets, or one value."""
    if grammar.peek().text == "[":
        raise UnreadNotation
    if grammar.latex or grammar.peek().text == "{":
        return grammar.inside(*argument(grammar))
    return grammar.postfix()


def _fraction(grammar: Grammar) -> Tree:
    """A quotient, or a gradient."""
    above, below = argument(grammar), argument(grammar)
    if above[0] == above[1] or below[0] == below[1]:
        raise UnreadNotation
    first, second = grammar.tokens[above[0]], grammar.tokens[below[0]]
    if first.text == "∂":
        if not _is_loss(grammar.written(above[0] + 1, above[1])) or second.text != "∂":
            raise UnreadNotation
        return _with_respect_to(grammar.inside(below[0] + 1, below[1]))
    if first.text[0] == "d" and _is_loss(grammar.written(*above)[1:]) and second.text[0] == "d":
        return _with_respect_to(_differential(grammar, *below))
    return syntax.Binary("/", grammar.inside(*above), grammar.inside(*below))


def _is_loss(written: str) -> bool:
    return plain_name(written) in _LOSSES


def _differential(grammar: Grammar, start: int, end: int) -> Tree:
    """The quantity of ``dV``."""
    token = grammar.tokens[start]
    if token.text == "d":
        return grammar.inside(start + 1, end)
    grammar.tokens[start] = token._replace(text=token.text[1:], start=token.start + 1)
    try:
        return grammar.inside(start, end)
    finally:
        grammar.tokens[start] = token


def _gradient(grammar: Grammar) -> Tree:
    """``L/∂V`` behind the first sign of a gradient."""
    if not _is_loss(grammar.peek().text) or grammar.peek(1).text != "/":
        raise UnreadNotation
    grammar.at += 2
    token = grammar.peek()
    if token.text == "∂":
        grammar.at += 1
        return _with_respect_to(name(grammar))
    if token.text[:1] != "d" or token.kind != "name":
        raise UnreadNotation
    at, written = grammar.at, token.text[1:] or grammar.peek(1).text
    grammar.at += 1 if token.text[1:] else 2
    return _with_respect_to(named(grammar, at, written))


def _nabla(grammar: Grammar) -> Tree:
    """The gradient with respect to what stands below its sign, of a loss or of nothing said."""
    if grammar.peek().text != "_":
        raise UnreadNotation
    grammar.at += 1
    of = grammar.inside(*argument(grammar))
    if grammar.peek().kind == "name" and _is_loss(grammar.peek().text):
        grammar.at += 1
    return _with_respect_to(of)


def _with_respect_to(of: Tree) -> Tree:
    """The gradient with respect to a quantity, or to entries of it."""
    match of:
        case Named(quantity):
            return syntax.Gradient(quantity)
        case syntax.Indexed(Named(quantity), keys):
            return syntax.Indexed(syntax.Gradient(quantity), keys)
        case syntax.Cell(Named(quantity), places):
            return syntax.Cell(syntax.Gradient(quantity), places)
    raise UnreadNotation


def _large(grammar: Grammar, function: str) -> Tree:
    """A sum below an index: ``sum(term, j)``; its limits are no figures."""
    below: tuple[Tree, ...] = ()
    while grammar.peek().kind == "script":
        is_below = grammar.peek().text == "_"
        grammar.at += 1
        limits = argument(grammar)
        if is_below:
            below = over(grammar, *limits)
    term = grammar.unary()
    while stands_beside(grammar, term) or grammar.peek().text in ("·", "×", "*", "⊙"):
        sign = grammar.peek().text if grammar.peek().kind == "operator" else ""
        grammar.at += bool(sign)
        term = product(sign, term, grammar.postfix())
    return syntax.Call(function, (term, *below))


# -- products ----------------------------------------------------------------------------

_SCALAR_CALLS = frozenset(("sqrt", "exp", "log", "max", "min", "sum", "abs"))


def product(sign: str, left: Tree, right: Tree) -> Tree:
    """A product as its sign and its operands say.

    Where neither tells, side by side and ``·`` are matrix products, ``×`` and ``*``
    are not: whoever knows the shapes decides again.

    >>> A, B, two = Named("A"), Named("B"), PrintedFigure("2")
    >>> [syntax.text(product(sign, A, B)) for sign in ("", "·", "×", "*", "⊙")]
    ['A @ B', 'A @ B', 'A @ B', 'A * B', 'A * B']
    >>> syntax.text(product("·", two, A))
    '2 * A'
    """
    if sign in ("@", "/"):
        return syntax.Binary(sign, left, right)
    if sign in ("*", "⊙") or is_number(left) or is_number(right):
        return syntax.Binary("*", left, right)
    if isinstance(left, syntax.Array) and isinstance(right, syntax.Array):
        return syntax.Binary("@" if _fit(left, right, sign) else "*", left, right)
    if sign == "×":
        both = is_matrix(left) or is_matrix(right)
        return syntax.Binary("@" if both else "*", left, right)
    return syntax.Binary("@", left, right)


def is_number(tree: Tree) -> bool:
    """Return whether a tree is surely no array."""
    match tree:
        case PrintedFigure():
            return True
        case syntax.Negative(operand):
            return is_number(operand)
        case syntax.Binary("@", _, _):
            return False
        case syntax.Binary("/", left, right):
            return is_number(left) and not isinstance(right, syntax.Array)
        case syntax.Binary(_, left, right) | syntax.Power(left, right):
            return is_number(right) and is_number(left)
        case syntax.Call(function, arguments):
            plain = function in ("sqrt", "max", "min") and not any(
                isinstance(item, syntax.Array) for item in arguments
            )
            return plain or (function in _SCALAR_CALLS and all(map(is_number, arguments)))
        case syntax.Indexed(_, keys):
            return len(keys) == 2 and all(isinstance(key, int) for key in keys)
        case syntax.Cell(_, places):
            return len(places) == 2
    return False


def is_matrix(tree: Tree) -> bool:
    """Return whether a tree is written as matrices are."""
    match tree:
        case Named(name):
            return name[:1].isupper() and (len(name) <= 2 or name[1] == "_")
        case syntax.Transposed() | syntax.Binary("@", _, _):
            return True
        case syntax.Array(items):
            return bool(items) and isinstance(items[0], syntax.Array)
    return False


def _shape(array: syntax.Array) -> tuple[int, ...]:
    first = array.items[0] if array.items else None
    inner = (len(first.items),) if isinstance(first, syntax.Array) else ()
    return len(array.items), *inner


def _fit(left: syntax.Array, right: syntax.Array, sign: str) -> bool:
    """Return whether two arrays have a matrix product."""
    if sign == "×" and len(_shape(left)) == len(_shape(right)) == 1:
        return False
    return _shape(left)[-1] == _shape(right)[0]


#: Names of matrices that are no letter: ``W1``, ``dS``, ``Wq``.
_LETTERS = re.compile("[A-Za-z][0-9]++|d[A-Z]|W[qkvo]")
#: What is counted has so many digits at most.
_COUNT = 2


def stands_beside(grammar: Grammar, left: Tree) -> bool:
    """Return whether a product goes on without a sign."""
    token = grammar.peek()
    before = grammar.tokens[grammar.at - 1]
    if not grammar.latex and "\n" in grammar.text.string[before.end : max(token.start, before.end)]:
        return False
    if token.kind == "name" and token.text != "inf":
        if grammar.latex:
            return token.text not in JOINING
        if before.text == "]" and token.spaced and grammar.peek(1).kind == "relation":
            # "Q = [1, 0] K = [0, 1]": another name gets its value.
            return False
        return _is_letter(grammar, grammar.at) and (
            isinstance(left, PrintedFigure)
            or before.text in (")", "}", "]", "⊤")
            or _ends_with_letter(left)
        )
    if token.kind == "command":
        return grammar.latex or token.text == r"\sqrt" or _ends_with_letter(left)
    if token.kind == "open":
        if token.text == "(":
            return grammar.latex or not token.spaced or _ends_with_letter(left)
        if token.text == "[":
            is_glued = isinstance(left, PrintedFigure) and not token.spaced
            return is_glued or (grammar.latex and not isinstance(left, Named))
        return token.text == "{" or token.text[1:] in MATRICES
    return False


def _is_letter(grammar: Grammar, at: int) -> bool:
    """Return whether a name in plain text is one letter, perhaps with an index."""
    text = grammar.tokens[at].text
    if len(text) == 1:
        if not grammar.tokens[at].spaced and grammar.tokens[at - 1].kind == "number":
            # "268M" is a size, no product.
            return text not in "kMBG"
        scripted = at + 1 < grammar.end and grammar.tokens[at + 1].kind == "script"
        glued = not grammar.tokens[at].spaced
        return text.isupper() or glued or scripted or not text.isascii()
    return _LETTERS.fullmatch(text) is not None


def is_factor(grammar: Grammar, at: int, right: Tree) -> bool:
    """Return whether what stands in brackets behind a blank is a factor, and no remark."""
    token = grammar.tokens[at]
    if grammar.latex or token.text != "(" or not token.spaced:
        return True
    return not (isinstance(right, Named | syntax.Array | syntax.Sequence) or is_number(right))


def looked_up(grammar: Grammar, at: int, left: Tree, right: Tree) -> Tree | None:
    """The entry that words, or a count, in brackets name: ``A(cat, sat)``, ``P(2)``; nothing where
    they are factors."""
    if grammar.tokens[at].text != "(" or grammar.tokens[at].spaced or not isinstance(left, Named):
        return None
    match right:
        case syntax.Sequence(items):
            return syntax.Call(left.name, items)
        case Named(name) if len(name) > 2 and name.isalpha():
            return syntax.Call(left.name, (right,))
        case PrintedFigure(text) if text.isdigit() and len(text) <= _COUNT:
            return syntax.Indexed(left, (int(text),))
    return None


def _ends_with_letter(left: Tree) -> bool:
    while isinstance(left, syntax.Binary):
        left = left.right
    match left:
        case Named(name):
            return len(name) == 1 or name[1:2] == "_" or bool(_LETTERS.fullmatch(name))
        case syntax.Transposed() | syntax.Cell() | syntax.Indexed() | syntax.Gradient():
            return True
        case syntax.Power(base, _):
            return _ends_with_letter(base)
    return False
