"""Expressions are read as Python reads them, and only expressions are read."""

from __future__ import annotations

import ast
import dataclasses
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.errors import Malformed
from symattn.expressions.syntax import (
    Array,
    Binary,
    Call,
    Comparison,
    Conjunction,
    Indexed,
    Literal,
    Name,
    Negative,
    Power,
    Sequence,
    Slice,
    Transposed,
    Word,
    mapped,
    parse,
    renamed,
    replaced,
)

from ..strategies import many

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
_RELATIONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def pythons(text):
    """The tree that Python's own parser gives the text."""

    def whole(node):
        return None if node is None else ast.literal_eval(node)

    def key(node):
        if isinstance(node, ast.Slice):
            return Slice(whole(node.lower), whole(node.upper), whole(node.step))
        return whole(node)

    def tree(node):
        match node:
            case ast.Constant(bool() | str() as word):
                return Word(str(word))
            case ast.Constant():
                return Literal(ast.get_source_segment(text, node) or "")
            case ast.Name(name):
                return Name(name)
            case ast.UnaryOp(ast.UAdd(), operand):
                return tree(operand)
            case ast.UnaryOp(ast.USub(), operand):
                return Negative(tree(operand))
            case ast.BinOp(left, ast.Pow(), right):
                return Power(tree(left), tree(right))
            case ast.BinOp(left, op, right):
                return Binary(_OPERATORS[type(op)], tree(left), tree(right))
            case ast.Attribute(operand, "T"):
                return Transposed(tree(operand))
            case ast.Call(ast.Name(name), arguments, keywords):
                options = tuple((word.arg or "", tree(word.value)) for word in keywords)
                return Call(name, tuple(map(tree, arguments)), options)
            case ast.Subscript(operand, ast.Tuple(keys)):
                return Indexed(tree(operand), tuple(map(key, keys)))
            case ast.Subscript(operand, only):
                return Indexed(tree(operand), (key(only),))
            case ast.Compare(first, relations, rest):
                signs = tuple(_RELATIONS[type(relation)] for relation in relations)
                return Comparison(tuple(map(tree, (first, *rest))), signs)
            case ast.BoolOp(ast.And(), parts):
                return Conjunction(tuple(map(tree, parts)))
            case ast.List(items):
                return Array(tuple(map(tree, items)))
            case ast.Tuple(items):
                return Sequence(tuple(map(tree, items)))
        raise AssertionError(ast.dump(node))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "1and x" is legal, if odd
        return tree(ast.parse(text, mode="eval").body)


def plain(tree):
    """The tree without double signs: '--x' is x, bracketed or not."""
    if isinstance(tree, Negative) and isinstance(tree.operand, Negative):
        return plain(tree.operand.operand)
    if isinstance(tree, tuple):
        return tuple(map(plain, tree))
    if not dataclasses.is_dataclass(tree) or isinstance(tree, type):
        return tree
    kept = {field.name: plain(getattr(tree, field.name)) for field in dataclasses.fields(tree)}
    made = type(tree)(**kept)
    return plain(made) if made != tree else made


_keys = st.lists(
    st.one_of(
        st.integers(-3, 3).map(str), st.sampled_from([":", "1:", ":2", "0:2", "::2", "2::-1"])
    ),
    min_size=1,
    max_size=2,
).map(", ".join)


_signs = st.sampled_from([" + ", "-", " * ", "/", " @ ", "**"])


def _grow(inner):
    return st.one_of(
        st.builds(
            "{}{}{}".format, inner, st.sampled_from([" + ", "-", " * ", "/", " @ ", "**"]), inner
        ),
        st.builds("{}{}".format, st.sampled_from(["-", "+", "- "]), inner),
        inner.map("({})".format),
        inner.map("({}).T".format),
        inner.map("f({})".format),
        st.builds("g({}, at={}, by='tanh', whole=True)".format, inner, inner),
        st.builds("concat({}, {})".format, inner, inner),
        st.builds("({})[{}]".format, inner, _keys),
    )


_leaves = st.one_of(
    st.sampled_from(["X", "W_Q", "d_k", "x1", "X.T", "K[0]", "_"]),
    st.sampled_from(["2", "0.5", ".5", "1e-3", "12.25E2", "3."]),
)
_sums = st.recursive(_leaves, _grow, max_leaves=12)
_comparisons = st.builds(
    "{}{}{}".format, _sums, st.sampled_from([" == ", " != ", "<", " <= ", ">", ">="]), _sums
)


@many
@given(_sums)
def test_precedence_is_pythons(text):
    """Any expression has the tree that Python's parser gives it."""
    assert plain(parse(text)) == plain(pythons(text))


@many
@given(st.lists(_comparisons, min_size=1, max_size=2).map(" and ".join))
def test_a_walk_that_replaces_nothing_gives_the_same_tree(text):
    """Nothing of a tree is lost where parts of it are looked at, options of calls least."""
    tree = parse(text)
    assert mapped(tree, lambda part: part) == tree
    assert replaced(tree, lambda part: None) == tree
    assert renamed(tree, Name) == tree


@many
@given(st.lists(_comparisons, min_size=1, max_size=3).map(" and ".join))
def test_statements_are_pythons(text):
    """Comparisons and 'and' bind as in Python."""
    assert plain(parse(text)) == plain(pythons(text))


@pytest.mark.parametrize(
    "text",
    [
        "a < b <= c",
        "a - b - c",
        "a / b / c",
        "a @ b @ c",
        "-a.T",
        "-a[0]",
        "- -a",
        "+a",
        "a @ b * c / d",
        "-a * b",
        "-a ** 2",
        "a ** -b ** c",
        "-a.T ** 2 @ b",
        "a * -b",
        "shape(X) == (3, 4)",
        "a == b and c == d and e1 > f",
    ],
)
def test_chains_bind_to_the_left(text):
    """Chains and signs group as Python groups them."""
    assert plain(parse(text)) == plain(pythons(text))


def test_signs_of_documents_are_read():
    """Typographic minus, times and division signs mean what they look like."""
    assert parse("2 × a − b ÷ 3") == parse("2 * a - b / 3")


@many
@given(
    st.lists(
        st.sampled_from(
            [
                " ",
                *[
                    "X",
                    "f",
                    "1",
                    "0.5",
                    "1e5",
                    "(",
                    ")",
                    "[",
                    "]",
                    ",",
                    ":",
                    ".",
                    ".T",
                    "+",
                    "-",
                    "*",
                    "/",
                    "@",
                    "**",
                    "//",
                    "==",
                    "!=",
                    "<",
                    ">=",
                    "and",
                    "e",
                    "'",
                    "{",
                    "_x",
                ],
            ]
        ),
        max_size=60,
    ).map("".join)
)
def test_any_tokens_are_read_or_refused(text):
    """So does any jumble of the grammar's own signs; what is read, Python reads too."""
    try:
        tree = parse(text)
    except Malformed:
        return
    assert plain(tree) == plain(pythons(text.strip()))
