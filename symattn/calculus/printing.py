r"""Lines of a derivation as LaTeX (standard amsmath) and as Unicode text.

One walk over what stands in the file, two tables of notation. The order of
terms and factors is the author's; sums run over the whole range of their index.

>>> names = {"S": 1}
>>> text("exp(S[i]) / sum(j, exp(S[j])) == A[i]", names)
'exp(S_i) / Σ_j exp(S_j) = A_i'
>>> print(latex("diff(A[i], S[k]) == A[i] * (delta(i, k) - A[k])", names))
\frac{\partial A_{i}}{\partial S_{k}} = A_{i}\, (\delta_{ik} - A_{k})
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from symattn import syntax
from symattn.errors import Malformed
from symattn.spelling import GREEK, SUPERSCRIPTS
from symattn.syntax import Tree

_SUM, _ENTRYWISE, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4, 5

_GREEK = {**GREEK, "eps": GREEK["epsilon"], "lam": GREEK["lambda"]}
_COMMANDS = {"eps": r"\varepsilon", "epsilon": r"\varepsilon", "lam": r"\lambda", "omicron": "o"}
_RAISED = str.maketrans({sign: raised for raised, sign in SUPERSCRIPTS.items()})
#: A word or a number in prose, or several with signs between them: ``j < l``.
_TOKEN = r"(?:[A-Za-z]\w*|\d+)"
_CHAIN = re.compile(rf"(?<![\w.'’]){_TOKEN}(?: (?:<=|[=<>+-]) {_TOKEN})*(?!\w|\.\w)")
#: One letter that is a word of English, if a word follows.
_ARTICLE = re.compile(r"[AaI]\s+[a-z]")
#: What makes brackets grow.
_TALL = (r"\frac", r"\sum", r"\lim", r"\left", r"\operatorname*")
#: A short exponent is raised, a long one follows exp.
_RAISED_MOST = 24

Shapes = Mapping[str, int]
"""How many axes each array has; a permutation has none, and is written like a function."""


@dataclass(frozen=True)
class Notation:
    """The words of one output language, LaTeX unless said; ``{}`` marks where the parts go."""

    minus: str = "-"
    times: str = r"\, "
    divide: str | None = None
    parentheses: str = "({})"
    root: str = r"\sqrt{{{}}}"
    exponential: str = "e^{{{}}}"
    function: str = r"\operatorname{{{}}}({})"
    total: str = r"\sum_{{{}}} {}"
    mean: str = r"\operatorname*{{mean}}_{{{}}} {}"
    delta: str = r"\delta_{{{}}}"
    at_most: str = r"[{} \le {}]"
    before: str = r"[{} < {}]"
    partial: str = r"\frac{{\partial {}}}{{\partial {}}}"
    operator: str = r"\frac{{\partial}}{{\partial {1}}} {0}"
    limit: str = r"\lim_{{{} \to {}}} {}"
    expected: str = r"\operatorname{{E}}[{}]"
    operations: str = r"\operatorname{{ops}}({})"
    transpose: str = r"{}^\top"
    hadamard: str = r" \circ "
    ones: str = r"\mathbf{{{}}}_{{{}}}"
    unit: str = r"I_{{{}}}"
    infinity: str = r"\infty"


LATEX = Notation()

#: Inside a line of text nothing is taller than the line.
INLINE = replace(LATEX, divide="{} / {}", partial=r"\partial {} / \partial {}")

TEXT = Notation(
    minus="−",
    times=" ",
    divide="{} / {}",
    parentheses="({})",
    root="√{}",
    exponential="exp({})",
    function="{}({})",
    total="Σ_{} {}",
    mean="mean_{} {}",
    delta="δ_{}",
    at_most="[{} ≤ {}]",
    before="[{} < {}]",
    partial="∂{}/∂{}",
    operator="∂/∂{1} {0}",
    limit="lim({} → {}) {}",
    expected="E[{}]",
    operations="ops({})",
    transpose="{}ᵀ",
    hadamard=" ∘ ",
    ones="{}_{}",
    unit="I_{}",
    infinity="∞",
)


def latex(line: str, shapes: Shapes) -> str:
    """A line, a definition's side or a part of either in LaTeX, for any amsmath display."""
    return _Printer(LATEX, shapes).whole(line)


def text(line: str, shapes: Shapes) -> str:
    """The same in Unicode, on one line."""
    return _Printer(TEXT, shapes).whole(line)


def sides(line: str, shapes: Shapes) -> list[str]:
    """The sides of a line in LaTeX."""
    tree = syntax.parse(line, letters=True)
    printer = _Printer(LATEX, shapes)
    if not isinstance(tree, syntax.Comparison):
        return [printer.tree(tree)]
    different = _off_diagonal(tree)
    *first, last = different.operands if different else tree.operands
    return [*map(printer.tree, first), printer.tree(last) + printer.unless(tree)]


def condition(words: str, shapes: Shapes) -> str:
    r"""A condition of a line in LaTeX.

    >>> condition("sum(l, E[l]) != 0", {"E": 1})
    '\\sum_{l} E_{l} \\ne 0'
    """
    left, differs, right = words.partition(" != ")
    if not differs:
        return latex(words, shapes)
    return rf"{latex(left, shapes)} \ne {latex(right, shapes)}"


def pieces(words: str, shapes: Shapes) -> Iterator[tuple[str, str]]:
    r"""Plain words and formulas in turn: (words, "") or ("", the formula in LaTeX).

    Formulas stand between backquotes; names such as ``d_k`` and ``dA``, single
    letters, and such with signs between them, by themselves.

    >>> list(pieces("A delta leaves `A[i]`.", {"A": 1}))
    [('A delta leaves ', ''), ('', 'A_{i}'), ('.', '')]
    >>> list(pieces("the pairs with j < l", {}))
    [('the pairs with ', ''), ('', 'j < l')]
    """
    for part, formula in _quoted(words, INLINE, shapes):
        if formula:
            yield "", formula
            continue
        end = 0
        for chain in _CHAIN.finditer(part):
            if rendered := _letters(chain[0], part[chain.start() :], shapes):
                if part[end : chain.start()]:
                    yield part[end : chain.start()], ""
                yield "", rendered
                end = chain.end()
        if part[end:]:
            yield part[end:], ""


def _letters(chain: str, rest: str, shapes: Shapes) -> str:
    """Names and numbers with signs between them in LaTeX; nothing where they are words."""
    tokens = chain.split(" ")
    names = [token for token in tokens[::2] if not token.isdigit()]
    if not names or not all(_is_name(token, shapes) for token in names) or _ARTICLE.match(rest):
        return ""
    rendered = [token if k % 2 else latex(token, shapes) for k, token in enumerate(tokens)]
    return " ".join(r"\le" if token == "<=" else token for token in rendered)


def _is_name(word: str, shapes: Shapes) -> bool:
    return (
        len(word) == 1 or word in shapes or re.fullmatch(r"[A-Za-z]+_[A-Za-z]+", word) is not None
    )


def prose(words: str, shapes: Shapes) -> str:
    """Words with the formulas in them in Unicode."""
    return "".join(formula or plain for plain, formula in _quoted(words, TEXT, shapes))


def _quoted(words: str, to: Notation, shapes: Shapes) -> Iterator[tuple[str, str]]:
    """Words and the formulas between backquotes in turn; what can't be read stays as it stands."""
    plain, *parts = words.split("`")
    for place, part in enumerate(parts):
        if place % 2:
            plain += part
        elif place == len(parts) - 1:
            # No backquote ends it.
            plain += f"`{part}"
        else:
            try:
                formula = _Printer(to, shapes).whole(part)
            except Malformed:
                plain += f"`{part}`"
                continue
            yield plain, ""
            yield "", formula
            plain = ""
    yield plain, ""


class _Printer:
    def __init__(self, to: Notation, shapes: Shapes) -> None:
        self.to, self.shapes = to, shapes

    def whole(self, line: str) -> str:
        return self.tree(syntax.parse(line, letters=True))

    def tree(self, tree: Tree) -> str:
        return self._written(tree)[0]

    def _bracketed(self, tree: Tree, tightness: int) -> str:
        written, tight = self._written(tree)
        return written if tight >= tightness else self._around(self.to.parentheses, written)

    def _around(self, template: str, *parts: str) -> str:
        """Parts, the last in brackets that are as tall as it is."""
        rendered, inside = template.format(*parts), parts[-1]
        if self.to is TEXT or not any(sign in inside for sign in _TALL):
            return rendered
        head, opened, closed = (
            rendered[: -len(inside) - 2],
            rendered[-len(inside) - 2],
            rendered[-1],
        )
        return rf"{head}\left{opened} {inside} \right{closed}"

    def _written(self, tree: Tree) -> tuple[str, int]:
        to = self.to
        match tree:
            case syntax.Literal(number):
                return number, _ATOM
            case syntax.Name(name):
                return self._name(name), _ATOM
            case syntax.Gradient(name):
                return to.partial.format("L", self._name(name)), _PRODUCT
            case syntax.Comparison(operands, relations):
                if different := _off_diagonal(tree):
                    return f"{self.tree(different)}{self.unless(tree)}", 0
                chain = self.tree(operands[0])
                for relation, part in zip(relations, operands[1:], strict=True):
                    sign = {"==": "=", "<=": r"\le" if to is not TEXT else "≤"}.get(
                        relation, relation
                    )
                    chain += f" {sign} {self.tree(part)}"
                return chain, 0
            case syntax.Binary("*" | "/" | "@" as op, syntax.Negative(operand), right):
                # A minus before a product is a minus before all of it.
                return self._written(syntax.Negative(syntax.Binary(op, operand, right)))
            case syntax.Negative(operand):
                return to.minus + self._bracketed(operand, _PRODUCT), _SUM
            case syntax.Binary("+" | "-" as op, left, right):
                sign = "+" if op == "+" else to.minus
                first = self._written(left)[0]
                return f"{first} {sign} {self._bracketed(right, _ENTRYWISE)}", _SUM
            case syntax.Binary("/", above, below):
                return self._quotient(above, below)
            case syntax.Binary("@", left, right):
                parts = self._bracketed(left, _PRODUCT), self._factor(right)
                return to.times.join(parts), _PRODUCT
            case syntax.Binary("*", left, right):
                if self._is_matrix(left) and self._is_matrix(right):
                    parts = self._bracketed(left, _ENTRYWISE), self._bracketed(right, _PRODUCT)
                    return to.hadamard.join(parts), _ENTRYWISE
                open_ended = isinstance(left, syntax.Call) and left.function in ("sum", "limit")
                first = self._bracketed(left, _ATOM if open_ended else _PRODUCT)
                return to.times.join((first, self._factor(right))), _PRODUCT
            case syntax.Power(base, exponent):
                return self._power(base, exponent), _POWER
            case syntax.Transposed(operand):
                inner = self._bracketed(operand, _ATOM)
                raised = to is not TEXT and "^" in inner
                return to.transpose.format(f"{{{inner}}}" if raised else inner), _POWER
            case syntax.Cell(syntax.Name(name), (inside,)) if self.shapes.get(name) == 0:
                return f"{self._name(name)}({self._place(inside)})", _ATOM
            case syntax.Cell(operand, places):
                name = self._bracketed(operand, _ATOM)
                return self._marked(name, self._places(places)), _ATOM
            case syntax.Call(function, arguments):
                return self._call(function, arguments)
        raise AssertionError(type(tree).__name__)

    def _factor(self, tree: Tree) -> str:
        slashed = isinstance(tree, syntax.Binary) and tree.op == "/" and self.to.divide
        return self._bracketed(tree, _POWER if slashed else _PRODUCT)

    def _quotient(self, above: Tree, below: Tree) -> tuple[str, int]:
        if self.to.divide is None:
            # A fraction inside a fraction is as large as one by itself.
            parts = [
                rf"\displaystyle {part} \vphantom{{\Bigg|}}" if r"\frac" in part else part
                for part in (self.tree(above), self.tree(below))
            ]
            return r"\frac{{{}}}{{{}}}".format(*parts), _PRODUCT
        summed = isinstance(below, syntax.Call) and below.function == "sum"
        under = self._bracketed(below, _PRODUCT if summed else _POWER)
        return self.to.divide.format(self._bracketed(above, _PRODUCT), under), _PRODUCT

    def _power(self, base: Tree, exponent: Tree) -> str:
        raised = self.tree(exponent)
        written = self._bracketed(base, _ATOM)
        if self.to is not TEXT:
            # A name with an index already is no base for another exponent to stand by.
            return f"{written}^{{{raised}}}"
        plain = raised.replace("−", "-")
        if set(plain) <= set("-0123456789"):
            return written + plain.translate(_RAISED)
        return f"{written}^({raised})"

    def _call(self, function: str, arguments: tuple[Tree, ...]) -> tuple[str, int]:
        to = self.to
        match function, arguments:
            case "sum" | "mean", (*letters, body) if letters:
                template = to.total if function == "sum" else to.mean
                inside = self._bracketed(body, _PRODUCT)
                if to is not TEXT and inside[0] in "[(":
                    inside = to.times + inside
                for letter in reversed(letters):
                    inside = template.format(self.tree(letter), inside)
                return inside, _PRODUCT
            case "delta", places:
                return to.delta.format(self._places(places)), _ATOM
            case "step", (syntax.Comparison((first, second), (relation,)),):
                if relation in (">", ">="):
                    first, second, relation = second, first, relation.replace(">", "<")
                template = to.at_most if relation == "<=" else to.before
                return template.format(self.tree(first), self.tree(second)), _ATOM
            case "diff", (of, by):
                below = self.tree(by)
                if isinstance(of, syntax.Name | syntax.Cell):
                    return to.partial.format(self.tree(of), below), _PRODUCT
                return to.operator.format(self._bracketed(of, _ATOM), below), _PRODUCT
            case "limit", (variable, target, body):
                goal = self.tree(target)
                for word in ("oo", "inf"):
                    goal = re.sub(rf"\b{word}\b", lambda _: to.infinity, goal)
                return to.limit.format(
                    self.tree(variable), goal, self._bracketed(body, _PRODUCT)
                ), (_PRODUCT)
            case "expect", (body,):
                return self._around(to.expected, self.tree(body)), _ATOM
            case "operations", _:
                return to.operations.format(", ".join(map(self.tree, arguments))), _ATOM
            case "sqrt", (body,):
                inside = self.tree(body) if to is not TEXT else self._bracketed(body, _ATOM)
                return to.root.format(inside), _ATOM
            case "exp", (body,):
                inside = self.tree(body)
                if to is TEXT or len(inside) <= _RAISED_MOST:
                    return to.exponential.format(inside), _POWER
                return self._around(r"\exp({})", inside), _ATOM
            case "log" | "sin" | "cos", (body,) if to is not TEXT:
                return self._around(rf"\{function}({{}})", self.tree(body)), _ATOM
            case "ones" | "zeros", sizes:
                number = "1" if function == "ones" else "0"
                separator = r" \times " if to is not TEXT else "×"
                return to.ones.format(number, separator.join(map(self.tree, sizes))), _ATOM
            case "eye", (size,):
                return to.unit.format(self.tree(size)), _ATOM
        inside = ", ".join(map(self.tree, arguments))
        return self._around(to.function, function, inside), _ATOM

    def _places(self, places: tuple[Tree, ...]) -> str:
        """Indices side by side; commas only where one of them is more than a letter."""
        written = [self._place(place) for place in places]
        if all(isinstance(place, syntax.Name) and len(place.name) == 1 for place in places):
            return "".join(written)
        joined = ",".join(written)
        return joined if self.to is not TEXT or len(written) == 1 else f"({joined})"

    def _place(self, tree: Tree) -> str:
        match tree:
            case syntax.Cell(operand, (inside,)):
                return f"{self.tree(operand)}({self._place(inside)})"
            case syntax.Binary(op, left, right):
                return (
                    f"{self._place(left)}{self.to.minus if op == '-' else op}{self._place(right)}"
                )
        return self.tree(tree)

    def _name(self, name: str) -> str:
        """A quantity's name: ``d_k``, ``W_Q``, Greek letters by their English names."""
        stem, _, below = name.partition("_")
        lead = "d" if stem[1:] in _GREEK and stem[0] == "d" else ""
        letter = stem.removeprefix(lead)
        if letter in _GREEK:
            greek = _COMMANDS.get(letter, rf"\{letter}") if self.to is not TEXT else _GREEK[letter]
            stem = f"{lead}{greek}"
        elif self.to is not TEXT and len(stem) > 2:
            stem = rf"\mathit{{{stem}}}"
        if not below:
            return stem
        mark = self._name(below) if below in _GREEK else below.replace("_", ",")
        # Indices go below: the mark of an array stands above, as in W^Q.
        if self.shapes.get(name):
            return f"{stem}^{{{mark}}}" if self.to is not TEXT else f"{stem}^{mark}"
        return self._marked(stem, mark)

    def unless(self, line: syntax.Comparison) -> str:
        """Behind a line off the diagonal: the places that differ there."""
        if _off_diagonal(line) is None:
            return ""
        sign, apart = ("≠", "   ") if self.to is TEXT else (r"\ne", r" \quad ")
        first, second = next(iter(_different(line.operands)))
        return f"{apart}({self._place(first)} {sign} {self._place(second)})"

    def _marked(self, name: str, below: str) -> str:
        return f"{name}_{below}" if self.to is TEXT else f"{name}_{{{below}}}"

    def _is_matrix(self, tree: Tree) -> bool:
        """Whether a tree stands for more than one number."""
        match tree:
            case syntax.Name(name):
                return bool(self.shapes.get(name))
            case syntax.Negative(operand) | syntax.Power(operand, _):
                return self._is_matrix(operand)
            case syntax.Transposed():
                return True
            case syntax.Binary(_, left, right):
                return self._is_matrix(left) or self._is_matrix(right)
            case syntax.Call("rowsum" | "colsum" | "diag" | "ones" | "zeros" | "eye", _):
                return True
            case syntax.Call("sum" | "mean", (_, *_, body)) | syntax.Call("limit", (_, _, body)):
                return self._is_matrix(body)
            case syntax.Call("diff", (of, by)):
                return self._is_matrix(of) or self._is_matrix(by)
            case syntax.Call("total" | "trace" | "delta" | "step" | "operations", _):
                return False
            case syntax.Call(_, (operand,)):
                return self._is_matrix(operand)
        return False


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
