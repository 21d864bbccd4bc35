"""Values that letters and commands write: names, calls, quotients, roots, gradients, sums."""

from __future__ import annotations

from symattn import syntax
from symattn.documents.notation import scripts
from symattn.documents.notation.products import product, stands_beside
from symattn.documents.notation.tokens import NotationToken, TokenRanges, UnreadNotation
from symattn.documents.notation.vocabulary import (
    ACCENTS,
    BARE,
    FUNCTIONS,
    JOINING,
    MATRICES,
    plain_name,
)
from symattn.documents.trees import Labelled, Named
from symattn.syntax import Tree

#: What gradients are those of.
_LOSSES = frozenset(("L", "ell", "Loss", "loss", "J", "E", "Cost", "cost"))
#: Letters that are functions where brackets follow.
_CALLED = frozenset(("f", "g", r"\sigma", "σ", r"\phi", r"\varphi", "φ", r"\psi", "ψ"))


def name(grammar: TokenRanges) -> Tree:
    """A name with its scripts, a call, or a power of Euler's number."""
    token, start = grammar.peek(), grammar.at
    if (token.text in JOINING and len(token.text) > 1) or token.text in ("inf", "nan", "⊤"):
        raise UnreadNotation
    if token.text == "e" and grammar.peek(1).text == "^":
        grammar.at += 2
        return syntax.Call("exp", (grammar.inside(*scripts.argument(grammar)),))
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
    tree = scripts.named(grammar, start, written)
    opening = grammar.peek()
    if opening.text != "(" or (opening.spaced and not grammar.latex):
        return tree
    is_word = len(token.text) > 1 and token.text.isascii() and token.text[0] != "\\"
    if isinstance(tree, Named) and (is_word or token.text in _CALLED):
        return syntax.Call(tree.name, _arguments(grammar))
    return tree


def _arguments(grammar: TokenRanges) -> tuple[Tree, ...]:
    """What stands in the brackets of a call, without what only says an axis."""
    opening = grammar.at
    start, end = grammar.group(opening)
    try:
        return tuple(
            grammar.inside(*piece)
            for piece in grammar.pieces(start, end)
            if not (piece[1] - piece[0] >= 3 and grammar.tokens[piece[0]].text in scripts.AXES)
        )
    except UnreadNotation:
        grammar.failed.add(opening)
        raise


def _function(grammar: TokenRanges, token: NotationToken) -> Tree | None:
    """A call of a known function; nothing where it is only named."""
    mark = grammar.at
    grammar.at += 1
    function = FUNCTIONS[token.text]
    over: tuple[Tree, ...] = ()
    if grammar.peek().text == "_":
        grammar.at += 1
        over = scripts.over(grammar, *scripts.argument(grammar))
    opening = grammar.peek()
    is_array = opening.text == "[" or (opening.kind == "open" and opening.text[1:] in MATRICES)
    if opening.text in ("(", r"\{") and (grammar.latex or not opening.spaced):
        arguments = _arguments(grammar)
    elif is_array and (grammar.latex or not opening.spaced):
        arguments = (_ungrouped(function, grammar.bracket(opening)),)
    elif opening.text == "{" and grammar.latex:
        arguments = (grammar.inside(*grammar.group(grammar.at)),)
    elif (token.text in BARE and _is_operand(grammar, opening)) or (
        over and function in ("sum", "max", "min") and opening.kind in ("name", "command")
    ):
        arguments = (grammar.unary(),)
    elif over:
        raise UnreadNotation
    else:
        grammar.at = mark
        return None
    if function == "log" and over and isinstance(over[0], syntax.Literal):
        return syntax.Binary("/", syntax.Call("log", arguments), syntax.Call("log", over))
    return syntax.Call(function, (*arguments, *over))


def _is_operand(grammar: TokenRanges, token: NotationToken) -> bool:
    """Whether a function may take what follows without brackets."""
    return token.kind == "number" or (grammar.latex and token.kind in ("name", "command"))


def _ungrouped(function: str, tree: Tree) -> Tree:
    """What square brackets hold that only group: ``exp[x]``."""
    match tree:
        case Labelled((item,)) if function in ("exp", "log") and not isinstance(item, Labelled):
            return item
    return tree


def command(grammar: TokenRanges, token: NotationToken) -> Tree:
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
        inner = grammar.written(*scripts.argument(grammar))
        return scripts.named(grammar, start, f"{token.text}{{{inner}}}")
    raise UnreadNotation


def _radicand(grammar: TokenRanges) -> Tree:
    """What stands under a root: braces, brackets, or one value."""
    if grammar.peek().text == "[":
        raise UnreadNotation
    if grammar.latex or grammar.peek().text == "{":
        return grammar.inside(*scripts.argument(grammar))
    return grammar.postfix()


def _fraction(grammar: TokenRanges) -> Tree:
    """A quotient, or a gradient."""
    above, below = scripts.argument(grammar), scripts.argument(grammar)
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


def _differential(grammar: TokenRanges, start: int, end: int) -> Tree:
    """The quantity of ``dV``."""
    token = grammar.tokens[start]
    if token.text == "d":
        return grammar.inside(start + 1, end)
    grammar.tokens[start] = token._replace(text=token.text[1:], start=token.start + 1)
    try:
        return grammar.inside(start, end)
    finally:
        grammar.tokens[start] = token


def _gradient(grammar: TokenRanges) -> Tree:
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
    return _with_respect_to(scripts.named(grammar, at, written))


def _nabla(grammar: TokenRanges) -> Tree:
    """The gradient with respect to what stands below its sign, of a loss or of nothing said."""
    if grammar.peek().text != "_":
        raise UnreadNotation
    grammar.at += 1
    of = grammar.inside(*scripts.argument(grammar))
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


def _large(grammar: TokenRanges, function: str) -> Tree:
    """A sum over an index: ``sum(term, j)``; its limits are no figures."""
    over: tuple[Tree, ...] = ()
    while grammar.peek().kind == "script":
        is_below = grammar.peek().text == "_"
        grammar.at += 1
        limits = scripts.argument(grammar)
        if is_below:
            over = scripts.over(grammar, *limits)
    term = grammar.unary()
    while stands_beside(grammar, term) or grammar.peek().text in ("·", "×", "*", "⊙"):
        sign = grammar.peek().text if grammar.peek().kind == "operator" else ""
        grammar.at += bool(sign)
        term = product(sign, term, grammar.postfix())
    return syntax.Call(function, (term, *over))
