r"""Lines of a derivation as they are set, and as Unicode text.

One walk over what stands in the file. The order of terms and factors is the
author's; sums run over the whole range of their index.

>>> names = {"S": 1}
>>> text("exp(S[i]) / sum(j, exp(S[j])) == A[i]", names)
'exp(S_i) / Σ_j exp(S_j) = A_i'
>>> print(t.latex(typeset("diff(A[i], S[k]) == A[i] * (delta(i, k) - A[k])", names)))
\frac{\partial A_{i}}{\partial S_{k}} = A_{i}\,(\delta_{ik} - A_{k})
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from symattn.calculus.writing import SideCondition
from symattn.errors import Malformed
from symattn.expressions import formulas as f
from symattn.expressions import syntax
from symattn.expressions import typesetting as t
from symattn.expressions.syntax import Tree
from symattn.expressions.trees import ATOM, COMPARISON, ENTRYWISE, POSTFIX, PRODUCT
from symattn.spelling import GREEK

_GREEK = {name: t.GREEK[name] for name in GREEK} | {
    "eps": GREEK["epsilon"],
    "epsilon": GREEK["epsilon"],
    "lam": GREEK["lambda"],
}
_RAISED = str.maketrans("−0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: A word or a number in prose, or several with signs between them: ``j < l``.
_TOKEN = r"(?:[A-Za-z]\w*|\d+)"
_CHAIN = re.compile(rf"(?<![\w.'’]){_TOKEN}(?: (?:<=|[=<>+-]) {_TOKEN})*(?!\w|\.\w)")
_QUOTED = re.compile("`([^`]*)`")
#: One letter that is a word of English, if a word follows.
_ARTICLE = re.compile(r"[AaI]\s+[a-z]")
#: A short exponent is raised, a long one follows exp.
_RAISED_MOST = 23

Shapes = Mapping[str, int]
"""How many axes each array has; a permutation has none, and is written like a function."""

#: Inside a line of text nothing is taller than the line; what is plain text has no height.
Style = Literal["display", "inline", "text"]


def typeset(line: str, shapes: Shapes, style: Style = "display") -> t.Row:
    """A line, a definition's side or a part of either as it is set."""
    return _Printer(style, shapes).row(syntax.written(line).tree)


def text(line: str, shapes: Shapes) -> str:
    """The same in Unicode, on one line."""
    return _text(typeset(line, shapes, "text"))


def sides(line: str, shapes: Shapes) -> list[t.Row]:
    """The sides of a line as they are set."""
    tree = syntax.written(line).tree
    printer = _Printer("display", shapes)
    if not isinstance(tree, syntax.Comparison):
        return [printer.row(tree)]
    different = _off_diagonal(tree)
    *first, last = different.operands if different else tree.operands
    return [*map(printer.row, first), printer.row(last) + printer.unless(tree)]


def condition(side: SideCondition, shapes: Shapes) -> t.Row:
    r"""A condition of a line as it is set.

    >>> weights = syntax.parse("sum(l, E[l, k])", letters=True)
    >>> above = SideCondition.that(weights, ">", syntax.Literal("0"), ("k",))
    >>> t.latex(condition(above, {"E": 2}))
    '\\sum_{l} E_{lk} > 0\\text{ for all }k'
    """
    row = typeset(side, shapes)
    if side.letters:
        row += t.row(t.Text(" for all ")) + t.letters(",".join(side.letters))
    return row


def pieces(words: str, shapes: Shapes) -> Iterator[str | t.Row]:
    r"""Plain words, and formulas as they are set.

    Formulas stand between backquotes; names such as ``d_k`` and ``dA``, single
    letters, and such with signs between them, by themselves.

    >>> [x if isinstance(x, str) else t.latex(x) for x in pieces("the pairs with `j < l`", {})]
    ['the pairs with ', 'j < l']
    """
    for part in _quoted(words, "inline", shapes):
        if isinstance(part, t.Row):
            yield part
            continue
        end = 0
        for chain in _CHAIN.finditer(part):
            if rendered := _letters(chain[0], part[chain.start() :], shapes):
                if part[end : chain.start()]:
                    yield part[end : chain.start()]
                yield rendered
                end = chain.end()
        if part[end:]:
            yield part[end:]


def _letters(chain: str, rest: str, shapes: Shapes) -> t.Row:
    """Names and numbers with signs between them; nothing where they are words."""
    tokens = chain.split(" ")
    names = [token for token in tokens[::2] if not token.isdigit()]
    if not names or not all(_is_name(token, shapes) for token in names) or _ARTICLE.match(rest):
        return t.Row()
    return t.row(*(
        t.sign(token) if k % 2 else typeset(token, shapes)
        for k, token in enumerate(tokens)
    ))  # fmt: skip


def _is_name(word: str, shapes: Shapes) -> bool:
    return (
        len(word) == 1 or word in shapes or re.fullmatch(r"[A-Za-z]+_[A-Za-z]+", word) is not None
    )


def prose(words: str, shapes: Shapes) -> str:
    """Words with the formulas in them in Unicode."""
    parts = _quoted(words, "text", shapes)
    return "".join(part if isinstance(part, str) else _text(part) for part in parts)


def _quoted(words: str, style: Style, shapes: Shapes) -> Iterator[str | t.Row]:
    """Words and the formulas between backquotes in turn; what can't be read stays as it stands."""
    plain = ""
    for place, part in enumerate(_QUOTED.split(words)):
        if place % 2 == 0:
            plain += part
            continue
        try:
            formula = typeset(part, shapes, style)
        except Malformed:
            plain += f"`{part}`"
            continue
        yield plain
        yield formula
        plain = ""
    yield plain


def _text(row: t.Row, tight: bool = False) -> str:
    """A row on one line; ``tight`` in an index."""
    written = ""
    for node in row.nodes:
        match node:
            case t.Sign(sign, role, prefix):
                is_apart = role in ("operator", "relation") and not prefix and not tight
                before, after = " " * is_apart, " " * (is_apart or (sign == "," and not tight))
                written += before + sign.translate(_PLAIN) + after
            case t.Space(width):
                written += "   " if width > 5 else " "
            case t.Limits(sign):
                written += sign.translate(_PLAIN)
            case t.Fraction(above, below):
                written += f"{_text(above)}/{_text(below)}"
            case t.Fenced(opening, inner, closing):
                written += f"{opening}{_text(inner)}{closing}"
            case t.Marking(_, inner) | t.Group(inner):
                written += _text(inner)
            case t.Indexed(base, below, above):
                # The mark of an array stands before its indices, an exponent behind.
                parts = [_index(below), _power(above)]
                is_mark = bool(above) and isinstance(above.nodes[0], t.Group)
                written += _text(t.row(base)) + "".join(parts[::-1] if is_mark else parts)
                written += " " if base in _SUMS else ""
            case (
                t.Digits(string) | t.Letter(string) | t.UprightName(string) | t.SlantedName(string)
            ):
                written += string.translate(_PLAIN)
    return written


#: Letters and signs that plain text has others for.
_PLAIN = str.maketrans("ϕ⊤∗∑", "φᵀ*Σ")
_SUMS = (t.Limits("∑"), t.Limits("mean"))


def _index(below: t.Row) -> str:
    if not below:
        return ""
    is_list = t.has(below, *t.COMMA.nodes, *t.sign("+").nodes, *t.sign("−").nodes)
    return f"_({_text(below, True)})" if is_list else f"_{_text(below, True)}"


def _power(above: t.Row) -> str:
    written = _text(above, True)
    if above == f.TOP:
        return written
    if t.plain_figure(above) is not None and set(written) <= set("−0123456789"):
        return written.translate(_RAISED)
    return f"^{written}"


def is_array(tree: Tree, shapes: Shapes) -> bool:
    """Return whether a tree stands for more than one number."""
    match tree:
        case syntax.Name(name):
            return bool(shapes.get(name))
        case syntax.Negative(operand) | syntax.Power(operand, _):
            return is_array(operand, shapes)
        case syntax.Transposed():
            return True
        case syntax.Binary(_, left, right):
            return is_array(left, shapes) or is_array(right, shapes)
        case syntax.Call("rowsum" | "colsum" | "diag" | "ones" | "zeros" | "eye", _):
            return True
        case syntax.Call("sum" | "mean", (_, *_, body)) | syntax.Call("limit", (_, _, body)):
            return is_array(body, shapes)
        case syntax.Call("diff", (of, by)):
            return is_array(of, shapes) or is_array(by, shapes)
        case syntax.Call("total" | "trace" | "delta" | "step" | "operations", _):
            return False
        case syntax.Call(_, (operand, *_)):
            return is_array(operand, shapes)
        case syntax.Cell(_, places):
            return any(isinstance(place, syntax.Slice) for place in places)
    return False


class _Printer(f.Setter):
    """Sets lines: with Greek letters, indices, sums over letters, slashes where a line is short."""

    def __init__(self, style: Style, shapes: Shapes) -> None:
        self.is_text, self.is_slashed = style == "text", style != "display"
        self.shapes = shapes

    def around(self, row: t.Row, fences: str = "()") -> t.Row:
        """A row in brackets that are as tall as it is."""
        is_tall = t.has(row, t.Fraction, t.Limits, t.Fenced)
        return t.fenced(row, fences) if is_tall else _bracketed(row, fences)

    def bound(self, tree: Tree) -> tuple[t.Row, int]:
        """A row, and how tightly it binds."""
        match tree:
            case syntax.Gradient(name):
                return self._partial(t.letters("L"), self.name(name)), PRODUCT
            case syntax.Comparison() if different := _off_diagonal(tree):
                return self.row(different) + self.unless(tree), COMPARISON
            case syntax.Binary("*" | "/" | "@" as op, syntax.Negative(operand), right):
                # A minus before a product is a minus before all of it.
                return self.bound(syntax.Negative(syntax.Binary(op, operand, right)))
            case syntax.Binary("/", above, below):
                return self._quotient(above, below), PRODUCT
            case syntax.Binary("@", left, right):
                return self._first(left) + t.THIN + self._factor(right), PRODUCT
            case syntax.Binary("*", left, right):
                if is_array(left, self.shapes) and is_array(right, self.shapes):
                    first, second = self.held(left, ENTRYWISE), self.held(right, PRODUCT)
                    return first + t.sign("∘") + second, ENTRYWISE
                second = self._factor(right)
                # Digits side by side would be those of a number.
                between = t.DOT if isinstance(second.nodes[0], t.Digits) else t.THIN
                return self._first(left) + between + second, PRODUCT
            case syntax.Power(base, exponent):
                raised = self.row(exponent)
                if self.is_text and t.plain_figure(raised) is None:
                    raised = t.fenced(raised)
                return t.index(self.held(base, ATOM), above=raised), POSTFIX
            case syntax.Transposed(operand):
                inner = self.held(operand, ATOM)
                # An index above has no other beside it.
                is_raised = any(isinstance(x, t.Indexed) and x.above for x in t.nodes(inner))
                return t.index(t.row(t.Group(inner)) if is_raised else inner, above=f.TOP), POSTFIX
            case syntax.Cell(syntax.Name(name), (inside,)) if self.shapes.get(name) == 0:
                return self.name(name) + _bracketed(self._place(inside)), ATOM
            case syntax.Cell(operand, places):
                return t.index(self.held(operand, ATOM), self._places(places)), ATOM
            case syntax.Call(function, arguments, options):
                return self._call(function, arguments, *self.named(options))
            case syntax.Sequence(items) | syntax.Array(items):
                fences = "()" if isinstance(tree, syntax.Sequence) else "[]"
                return _bracketed(t.joined(map(self.row, items), t.COMMA), fences), ATOM
        return super().bound(tree)

    def _first(self, tree: Tree) -> t.Row:
        """Return what stands before a factor, which must not go on with a sum that ends it."""
        return self.around(self.row(tree)) if self._is_open(tree) else self.held(tree, PRODUCT)

    def _is_open(self, tree: Tree) -> bool:
        """Return whether a product goes on with a tree's last factor: a sum, a divisor, a root."""
        match tree:
            case syntax.Call("limit", _) | syntax.Call("sum" | "mean", (_, _, *_)):
                return True
            case syntax.Negative(last) | syntax.Binary("*" | "@", _, last):
                return self._is_open(last)
            case syntax.Binary("/", _, below):
                return self.is_slashed and not isinstance(below, syntax.Literal)
            case syntax.Call("sqrt", (body,)) if self.is_text:
                # What stands behind a root without brackets may be below it.
                return not isinstance(body, syntax.Literal) and self.bound(body)[1] == ATOM
        return False

    def _factor(self, tree: Tree) -> t.Row:
        slashed = isinstance(tree, syntax.Binary) and tree.op == "/" and self.is_slashed
        return self.held(tree, POSTFIX if slashed else PRODUCT)

    def _quotient(self, above: Tree, below: Tree) -> t.Row:
        if not self.is_slashed:
            # A fraction inside a fraction is as large as one by itself.
            parts = [
                t.row(t.Styled(True, part + t.row(t.Strut("bar"))))
                if t.has(part, t.Fraction)
                else part
                for part in (self.row(above), self.row(below))
            ]
            return t.fraction(*parts)
        summed = isinstance(below, syntax.Call) and below.function == "sum"
        under = self.held(below, PRODUCT if summed else POSTFIX)
        slash = t.row(t.Sign("/", "operator")) if self.is_text else t.sign("/")
        return self._first(above) + slash + under

    def _partial(self, of: t.Row, by: t.Row) -> t.Row:
        above, below = t.PARTIAL + of, t.PARTIAL + by
        return above + t.sign("/") + below if self.is_slashed else t.fraction(above, below)

    def _call(
        self, function: str, arguments: tuple[Tree, ...], *options: t.Row
    ) -> tuple[t.Row, int]:
        match function, arguments:
            case _ if options:
                pass
            case "sum" | "mean", (*letters, body) if letters:
                inside = self.held(body, PRODUCT)
                # Before a bracket that doesn't grow there is no air.
                if not self.is_text and inside.nodes[0] in (t.sign("(") + t.sign("[")).nodes:
                    inside = t.THIN + inside
                sign = t.Limits("∑" if function == "sum" else "mean")
                for letter in reversed(letters):
                    inside = t.row(t.Indexed(sign, self.row(letter), t.Row()), inside)
                return inside, PRODUCT
            case "delta", places:
                return t.index(t.row(t.Letter("δ")), self._places(places)), ATOM
            case "step", (syntax.Comparison((first, second), (relation,)),):
                if relation in (">", ">="):
                    first, second, relation = second, first, relation.replace(">", "<")
                inside = self.row(first) + t.sign(relation) + self.row(second)
                return _bracketed(inside, "[]"), ATOM
            case "diff", (of, by):
                below = self.row(by)
                if isinstance(of, syntax.Name | syntax.Cell):
                    return self._partial(self.row(of), below), PRODUCT
                after = self.held(of, ATOM)
                space = t.THIN if self.is_text else t.Row()
                return t.fraction(t.PARTIAL, t.PARTIAL + below) + space + after, PRODUCT
            case "limit", (variable, target, body):
                goal = self._goal(target)
                to = self.row(variable) + t.sign("→") + goal
                inside = self.held(body, PRODUCT)
                if self.is_text:
                    return t.row(t.UprightName("lim"), _bracketed(to), t.THIN, inside), PRODUCT
                return t.row(t.Indexed(t.Limits("lim"), to, t.Row()), inside), PRODUCT
            case "expect", (body,):
                return t.row(t.UprightName("E", True), self.around(self.row(body), "[]")), ATOM
            case "operations", _:
                inside = t.joined(map(self.row, arguments), t.COMMA)
                return t.row(t.UprightName("ops", True), _bracketed(inside)), ATOM
            case "sqrt", (body,):
                if self.is_text:
                    return t.row(t.UprightName("√"), self.held(body, ATOM)), ATOM
                return t.row(t.Radical(self.row(body))), ATOM
            case "exp", (body,):
                inside = self.row(body)
                is_raised = not self.is_text and "e" not in self.shapes
                if is_raised and len(t.latex(inside)) <= _RAISED_MOST:
                    return t.index(t.letters("e"), above=inside), POSTFIX
                function_of = t.row(t.UprightName("exp", True), self.around(inside))
                return function_of, POSTFIX if self.is_text else ATOM
            case "ones" | "zeros", sizes:
                number = t.number("1" if function == "ones" else "0")
                below = t.joined(map(self.row, sizes), t.TIMES)
                return t.index(t.row(t.Marking("bold", number)), below), ATOM
            case "eye", (size,):
                return t.index(t.letters("I"), self.row(size)), ATOM
        inside = t.joined([*map(self.row, arguments), *options], t.COMMA)
        return t.row(t.UprightName(function, True), self.around(inside)), ATOM

    def _goal(self, target: Tree) -> t.Row:
        """Return what a variable tends to."""
        match target:
            case syntax.Name("oo" | "inf"):
                return t.row(t.Letter("∞"))
            case syntax.Negative(operand):
                return t.sign("−", True) + self._goal(operand)
        return self.row(target)

    def _places(self, places: tuple[Tree, ...]) -> t.Row:
        """Indices side by side; commas only where one of them is more than a letter."""
        written = list(map(self._place, places))
        if all(isinstance(place, syntax.Name) and len(place.name) == 1 for place in places):
            return t.row(*written)
        return t.joined(written, t.COMMA)

    def _place(self, tree: Tree) -> t.Row:
        match tree:
            case syntax.Cell(operand, (inside,)):
                return self.row(operand) + _bracketed(self._place(inside))
            case syntax.Binary(op, left, right):
                return self._place(left) + t.sign(op) + self._place(right)
        return self.row(tree)

    def name(self, name: str) -> t.Row:
        """A quantity's name: ``d_k``, ``W_Q``, Greek letters by their English names."""
        stem, _, below = name.partition("_")
        if not stem:
            return t.row(t.SlantedName(name))
        lead = "d" if stem[1:] in _GREEK and stem[0] == "d" else ""
        letter = stem.removeprefix(lead)
        if letter in _GREEK:
            row = t.letters(lead) + t.row(t.Letter(_GREEK[letter]))
        else:
            row = t.row(t.SlantedName(stem)) if len(stem) > 2 else t.letters(stem)
        if not below:
            return row
        mark = self.name(below) if below in _GREEK else t.letters(below.replace("_", ","))
        if not self.shapes.get(name):
            return t.index(row, mark)
        # Indices go below: the mark of an array stands above, as in W^Q.
        return t.index(row, above=t.row(t.Group(mark)) if self.is_text else mark)

    def unless(self, line: syntax.Comparison) -> t.Row:
        """Behind a line off the diagonal: the places that differ there."""
        if _off_diagonal(line) is None:
            return t.Row()
        first, second = map(self._place, next(iter(_different(line.operands))))
        return t.QUAD + _bracketed(first + t.sign("≠") + second)


def _bracketed(row: t.Row, fences: str = "()") -> t.Row:
    opening, closing = map(t.sign, fences)
    return opening + row + closing


def _off_diagonal(line: syntax.Comparison) -> syntax.Comparison | None:
    """A line whose sides are 0 or have the factor ``1 - delta(i, k)``, without the factor."""
    if len(_different(line.operands)) != 1 or {*line.relations} != {"=="}:
        return None
    zero = syntax.Literal("0")
    rest = [side.right if isinstance(side, syntax.Binary) else side for side in line.operands]
    kept = all(_different((side,)) or side == zero for side in line.operands)
    return syntax.Comparison(tuple(rest), line.relations) if kept else None


def _different(operands: tuple[Tree, ...]) -> set[tuple[Tree, ...]]:
    """The places of the deltas in factors ``1 - delta(i, k)`` that stand first."""
    pairs = set()
    for operand in operands:
        match operand:
            case syntax.Binary(
                "*",
                syntax.Binary("-", syntax.Literal("1"), syntax.Call("delta", (_, _) as places)),
                _,
            ):
                pairs.add(places)
    return pairs
