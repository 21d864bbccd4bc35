"""Trees as they are set: closed forms, and steps of programs.

Precedence and layout are decided in one place, :class:`Setter`, which makes of a tree the row
that printers walk.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from symattn.expressions import syntax, trees
from symattn.expressions import typesetting as t
from symattn.expressions.syntax import Negative, Tree
from symattn.expressions.trees import ATOM, COMPARISON, ENTRYWISE, POSTFIX, PRODUCT, SUM


@dataclass(frozen=True)
class Symbol(syntax.Name):
    """A name that is set otherwise than by its letters."""

    row: t.Row


E, PI = syntax.Name("e"), syntax.Name("pi")
MINUS_INFINITY = Negative(Symbol("inf", t.Row((t.Letter("∞"),))))


def decimal(number: Decimal) -> Tree:
    """A decimal with the places it has.

    >>> syntax.shown(decimal(Decimal("-0.50")))
    '-0.50'
    """
    # Not abs(): that rounds to the context's 28 digits.
    size = syntax.Literal(format(number.copy_abs(), "f"))
    return Negative(size) if number < 0 else size


def with_exp(tree: Tree) -> Tree:
    """A closed form with the function ``exp`` in the place of powers of e.

    >>> syntax.shown(with_exp(syntax.parse("2 * e**x + e")))
    '2*exp(x) + exp(1)'
    """
    match tree:
        case syntax.Name("e"):
            return syntax.Call("exp", (syntax.Literal("1"),))
        case syntax.Power(syntax.Name("e"), exponent):
            return syntax.Call("exp", (with_exp(exponent),))
    return syntax.mapped(tree, with_exp)


def matrix(rows: Iterable[Iterable[Tree]]) -> Tree:
    """Rows of entries in brackets."""
    return syntax.Array(tuple(syntax.Array(tuple(row)) for row in rows))


def latex(tree: Tree) -> str:
    r"""A tree in LaTeX's mathematics.

    >>> latex(syntax.parse("e / (1 + sqrt(e) + e)"))
    '\\frac{e}{1 + \\sqrt{e} + e}'
    """
    return t.latex(typeset(tree))


def typeset(tree: Tree) -> t.Row:
    """A tree as it is set.

    >>> typeset(Negative(PI)).nodes
    (Sign(text='−', role='operator', prefix=True), Letter(text='π'))
    """
    return _SETTER.row(tree)


def slashed(tree: Tree) -> t.Row:
    """A superscript as it is set: a fraction there is written with a slash.

    >>> t.latex(slashed(syntax.parse("17 / 400")))
    '17/400'
    """
    return _SETTER.slashed(tree)


TOP = t.row(t.Letter("⊤"))


class Setter:
    """Sets trees: each kind has its row, and how tightly that binds."""

    def row(self, tree: Tree) -> t.Row:
        """A tree as it is set."""
        return self.bound(tree)[0]

    def held(self, tree: Tree, level: int) -> t.Row:
        """The same, in brackets where it binds less tightly."""
        return trees.bracketed(self.bound(tree), level, self.around)

    def around(self, row: t.Row) -> t.Row:
        """A row in brackets: a fraction, a root or a superscript brackets by its shape."""
        return t.fenced(row)

    def bound(self, tree: Tree) -> tuple[t.Row, int]:
        """A row, and how tightly it binds."""
        match tree:
            case Symbol(row=row):
                return row, ATOM
            case syntax.Literal(text):
                digits, _, power = text.lower().partition("e")
                if not power:
                    return t.number(digits), ATOM
                ten = t.index(t.number("10"), above=t.number(power.removeprefix("+")))
                return t.number(digits) + t.DOT + ten, PRODUCT
            case syntax.Name(name):
                return self.name(name), ATOM
            case syntax.Gradient(of):
                return differential(self.name(of)), ATOM
            case Negative(operand):
                return t.sign("−", True) + self.held(operand, PRODUCT), SUM
            case syntax.Sum(terms):
                return added(self.held(term, SUM) for term in terms), SUM
            case syntax.Binary("+" | "-" as op, left, right):
                return self.row(left) + t.sign(op) + self.held(right, ENTRYWISE), SUM
            case syntax.Product(factors, sign):
                return self.product(factors, sign), PRODUCT
            case syntax.Binary("*" | "@" as op, left, right):
                return self.product((left, right), op), PRODUCT
            case syntax.Binary(_, above, below):
                return t.fraction(self.row(above), self.row(below)), POSTFIX
            case syntax.Power(base, exponent):
                return t.index(self.held(base, ATOM), above=self.slashed(exponent)), POSTFIX
            case syntax.Call("sqrt", (operand,), ()):
                return t.row(t.Radical(self.row(operand))), ATOM
            case syntax.Call("step", (syntax.Comparison() as compared,), ()):
                return t.fenced(self.row(compared), "[]"), ATOM
            case syntax.Call(function, arguments, options):
                inner = t.joined((*map(self.row, arguments), *self.named(options)), t.COMMA)
                return t.row(t.UprightName(function, True), t.fenced(inner)), ATOM
            case syntax.Transposed(operand):
                return t.index(self.held(operand, ATOM), above=TOP), POSTFIX
            case syntax.Cell(operand, keys) | syntax.Indexed(operand, keys):
                inner, binding = self.bound(operand)
                if binding < ATOM:
                    inner = t.fenced(inner)
                # TeX refuses a second subscript on W_{Q}.
                elif t.has_index(inner):
                    inner = bracketed(inner)
                return t.index(inner, t.letters(",".join(map(syntax.key_text, keys)))), POSTFIX
            case syntax.Array(items):
                rows = items if isinstance(items[0], syntax.Array) else (tree,)
                return t.matrix(map(self.row, syntax.inside(row)) for row in rows), ATOM
            case syntax.Comparison(operands, relations):
                chain = self.row(operands[0])
                for relation, part in zip(relations, operands[1:], strict=True):
                    chain += t.sign(relation) + self.row(part)
                return chain, COMPARISON
        return t.row(t.UprightName(syntax.text(tree).strip('"'))), ATOM

    def name(self, name: str) -> t.Row:
        """A quantity's name."""
        return typeset_name(name)

    def named(self, options: Iterable[tuple[str, Tree]]) -> Iterable[t.Row]:
        """Arguments by their names."""
        return (t.row(t.UprightName(name)) + t.EQUALS + self.row(value) for name, value in options)

    def product(self, factors: tuple[Tree, ...], sign: str) -> t.Row:
        """Factors side by side, with a dot where they would read as one."""
        pieces = [self.held(factors[0], PRODUCT)]
        pieces += [self.held(factor, POSTFIX) for factor in factors[1:]]
        if sign == "o":
            return t.joined(pieces, t.sign("⊙"))
        product = pieces[0]
        for left, right, factor in zip(pieces, pieces[1:], factors[1:], strict=False):
            # Two numbers side by side would read as one.
            touching = isinstance(left.nodes[-1], t.Digits) and t.begins(right, t.Digits)
            number = factor.operand if isinstance(factor, Negative) else factor
            apart = touching or isinstance(number, syntax.Literal) or t.begins(right, t.Fraction)
            product += (t.DOT if apart else t.THIN) + right
        return product

    def slashed(self, tree: Tree) -> t.Row:
        """A superscript, in which a fraction is written with a slash."""
        match tree:
            case syntax.Binary("/", above, below):
                return self.held(above, PRODUCT) + t.sign("/") + self.held(below, POSTFIX)
            case Negative(operand) if not isinstance(operand, syntax.Sum | Negative):
                return t.sign("−", True) + self.slashed(operand)
        return self.row(tree)


_SETTER = Setter()


def added(terms: Iterable[t.Row]) -> t.Row:
    """Terms joined by their signs: ``a - b + c``."""
    total, *others = terms
    for term in others:
        is_negated = term.nodes[0] == t.Sign("−", "operator", True)
        total += t.sign("−") + t.Row(term.nodes[1:]) if is_negated else t.sign("+") + term
    return total


def bracketed(row: t.Row) -> t.Row:
    """A row in round brackets that don't grow."""
    return t.sign("(") + row + t.sign(")")


def differential(of: t.Row) -> t.Row:
    r"""A name with an upright d before it.

    >>> t.latex(differential(typeset_name("Q")))
    '\\mathrm{d}Q'
    """
    return t.row(t.UprightName("d"), of)


def name_parts(name: str) -> tuple[str, str]:
    """The letters of a quantity's name, and its subscript.

    >>> name_parts("W_Q"), name_parts("g1"), name_parts("scores"), name_parts("A_")
    (('W', 'Q'), ('g', '1'), ('scores', ''), ('A_', ''))
    """
    base, _, below = name.partition("_")
    if not base or not below.strip("_"):
        base, below = name, ""
    if not below and base.rstrip("0123456789") != base and base[0].isalpha():
        letters = base.rstrip("0123456789")
        base, below = letters, base[len(letters) :]
    return base, below


def typeset_name(name: str) -> t.Row:
    r"""Return how a quantity's name is set: what follows ``_`` is a subscript,
    where there are letters before and after it.

    >>> names = "W_Q", "d_k", "g1", "scores", "A_"
    >>> [t.latex(typeset_name(name)) for name in names]
    ['W_{Q}', 'd_{k}', 'g_{1}', '\\mathit{scores}', '\\mathit{A\\_}']
    """
    if name == "pi":
        return t.row(t.Letter("π"))
    base, below = name_parts(name)
    letter = t.Letter(base) if len(base) == 1 and base != "_" else t.SlantedName(base)
    if not below:
        return t.row(letter)
    is_short = len(below) == 1 or below.isdigit()
    return t.index(t.row(letter), t.letters(below) if is_short else t.row(t.UprightName(below)))
