r"""The definition of an operation, in the letters of a walkthrough.

The formulas are latexify's reading of the functions that the cross-check runs
(:mod:`symattn.crosscheck.definitions`); here their letters are replaced by the
quantities' names and their sizes by numbers, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from symattn import formulas as f
from symattn.crosscheck.definitions import formula as definition_formula
from symattn.programs.nodes import Node, ancestors
from symattn.programs.program import Program
from symattn.sheets.presentation import grouped

Named = Mapping[int, f.Formula]

_LETTER = re.compile(r"(?<![A-Za-z\\])([A-Z])_\{")
_SIZE = re.compile(r"\^\{([a-z]) - 1\}")
_DERIVATIVE = re.compile(r"\\frac\{\\partial L\}\{\\partial ([A-Z])_\{([^}]*)\}\}")
_SUMMAND = re.compile(
    r"\\mathopen\{\}\\left\(\{((?:[^+\-]|\{[^{}]*\})*?)\}\\mathclose\{\}\\right\)"
)


def in_sizes(formula: str, sizes: Mapping[str, int]) -> str:
    r"""A definition with the ends of its sums as numbers, and these without needless brackets.

    >>> in_sizes(r"\sum_{k = 0}^{m - 1} A_{k}", {"m": 3})
    '\\sum_{k = 0}^{2} A_{k}'
    """
    text = _SIZE.sub(lambda m: f"^{{{sizes[m[1]] - 1}}}" if m[1] in sizes else m[0], formula)
    return _SUMMAND.sub(r"\1", text)


def in_letters(name: str, letters: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    r"""The definition ``name`` with its letters and sizes replaced.

    >>> in_letters("score", {"S": "S", "Q": "X", "K": "X"}, {"d": 4})
    'S_{i, j} = \\sum_{c = 0}^{3} X_{i, c} X_{j, c}'
    """
    text = in_sizes(definition_formula(name), sizes)
    text = _DERIVATIVE.sub(lambda m: f"D_{m[1]}_{{{m[2]}}}", text)
    # Two passes, so that a new name is not taken for a letter.
    text = re.sub(r"D_([A-Z])_\{", lambda m: f"\x00d{m[1]}\x01_{{", text)
    text = _LETTER.sub(lambda m: f"\x00{m[1]}\x01_{{", text)
    text = text.replace(r"\sqrt{ d }", "\\sqrt{\x00w\x01}")
    text = re.sub("\x00(d?[A-Z])\x01", lambda m: grouped(letters.get(m[1], m[1])), text)
    text = text.replace("\x00w\x01", letters.get("d", "d"))
    return text.replace(r"\exp ", r"\exp\, ")


def of_step(node: Node, named: Named, row_sum: str = "Z_{i}") -> list[str]:
    """The definitions that a step uses, as equations; none for a step that
    is put together from several operations. ``row_sum`` is what the sum over
    row i of a softmax is called."""
    result = _name(node, named)
    match node.op, node.operands:
        case "matmul", (x, y) if _is_named(x, named) and _turned(y, named):
            (key,) = y.operands
            letters = {"S": result, "Q": _name(x, named), "K": _name(key, named)}
            return [in_letters("score", letters, {"d": x.grid[1]})]
        case "matmul", (x, y) if _is_named(x, named) and _is_named(y, named):
            letters = {"C": result, "A": _name(x, named), "B": _name(y, named)}
            return [in_letters("product", letters, {"d": x.grid[1]})]
        case "divide", (x, y) if _is_named(x, named) and y.op == "sqrt" and not y.shape:
            width = _name(y.operands[0], named)
            return [in_letters("scaled_score", {"T": result, "S": _name(x, named), "d": width}, {})]
        case "softmax", (x,) if _is_named(x, named):
            letters = {"S": _name(x, named), "A": result}
            sizes = {"m": x.grid[1]}
            equations = [in_letters(name, letters, sizes) for name in ("normaliser", "softmax")]
            return [equation.replace("Z_{i}", row_sum) for equation in equations]
        case "hide", (x, keep) if _is_named(x, named):
            letters = {"T": result, "S": _name(x, named)}
            if keep.op == "triangle":
                return [in_letters("causal", letters, {})]
            if _is_named(keep, named):
                return [in_letters("mask", {**letters, "M": _name(keep, named)}, {})]
        case "add" | "subtract" | "multiply" | "divide", (x, y) if (
            x.shape == y.shape == node.shape and _is_named(x, named) and _is_named(y, named)
        ):
            kind = {"add": "addition", "subtract": "subtraction", "multiply": "times"}
            letters = {"C": result, "A": _name(x, named), "B": _name(y, named)}
            return [in_letters(kind.get(node.op, "quotient"), letters, {})]
    return []


def use(program: Program, name: str, named: Named) -> tuple[Node, int] | None:
    """The one step that a quantity is used by, itself or turned, and as which operand."""
    node = program.quantities[name]
    users = [
        (user, place)
        for user in ancestors(program.quantities.values())
        for place, operand in enumerate(user.operands)
        if (operand is node and not _is_turn(user, named))
        or (_is_turn(operand, named) and operand.operands[0] is node)
    ]
    return users[0] if len(users) == 1 else None


def of_gradient(program: Program, name: str, named: Named) -> list[str]:
    """The definitions of the flow into a quantity that is used once, by a step itself."""
    node = program.quantities[name]
    if (used := use(program, name, named)) is None:
        return []
    user, place = used
    turned = user.operands[place] is not node
    if turned and (user.op, place) != ("matmul", 1):
        return []
    gradients = {program.quantities[n].serial: g for n, g in program.gradients.items()}
    if user.serial not in gradients:
        return []
    flow = _short(named, gradients[user.serial])
    target = _short(named, program.gradients[name])
    match user.op, user.operands:
        case "softmax", _:
            letters = {"dS": target, "A": _name(user, named), "G": flow}
            return [in_letters("softmax_gradient", letters, {"m": user.grid[1]})]
        case "divide", (_, y) if place == 0 and y.op == "sqrt" and not y.shape:
            width = _name(y.operands[0], named)
            return [in_letters("scaled_score_gradient", {"dS": target, "G": flow, "d": width}, {})]
        case "hide", (_, keep) if place == 0 and keep.op == "triangle":
            return [in_letters("causal_gradient", {"dS": target, "G": flow}, {})]
        case "matmul", (x, y) if (
            place == 0 and y.op == "transpose" and _is_named(y.operands[0], named)
        ):
            letters = {"dQ": target, "G": flow, "K": _name(y.operands[0], named)}
            return [in_letters("score_query_gradient", letters, {"m": user.grid[1]})]
        case "matmul", (x, _) if turned and _is_named(x, named):
            letters = {"dK": target, "G": flow, "Q": _name(x, named)}
            return [in_letters("score_key_gradient", letters, {"n": user.grid[0]})]
        case "matmul", (x, y) if place == 0 and _is_named(y, named):
            letters = {"dA": target, "G": flow, "B": _name(y, named)}
            return [in_letters("product_left_gradient", letters, {"m": user.grid[1]})]
        case "matmul", (x, _) if place == 1 and _is_named(x, named):
            letters = {"dB": target, "G": flow, "A": _name(x, named)}
            return [in_letters("product_right_gradient", letters, {"n": user.grid[0]})]
    return []


def jacobian(node: Node, named: Named) -> str:
    """The definition of an entry of the softmax Jacobian."""
    weights, scores = _name(node, named), _name(node.operands[0], named)
    text = definition_formula("softmax_jacobian")
    text = text.replace("S_{i, k}", f"{grouped(scores)}_{{i, k}}")
    text = re.sub(r"A_\{", lambda _: f"{grouped(weights)}_{{", text)
    return _SUMMAND.sub(r"\1", text)


def by_jacobian(target: str, flow: str, weights: str, keys: int) -> str:
    """How the row formula of a softmax comes from its Jacobian ``J_i``."""
    target, flow, weights = map(grouped, (target, flow, weights))
    over = rf"\sum_{{k = 0}}^{{{keys - 1}}}"
    return (
        rf"{target}_{{i, j}} = {over} (J_{{i}})_{{j, k}}\,{flow}_{{i, k}}"
        rf" = {weights}_{{i, j}}\,{flow}_{{i, j}}"
        rf" - {weights}_{{i, j}} {over} {weights}_{{i, k}}\,{flow}_{{i, k}}"
    )


def _is_named(node: Node, named: Named) -> bool:
    return node.serial in named and len(node.shape) == 2


def _is_turn(node: Node, named: Named) -> bool:
    """Whether a node only turns its operand for the step that uses it."""
    return node.op == "transpose" and node.serial not in named


def _turned(node: Node, named: Named) -> bool:
    return node.op == "transpose" and _is_named(node.operands[0], named)


def _name(node: Node, named: Named) -> str:
    return f.latex(named[node.serial]) if node.serial in named else r"\cdot"


def _short(named: Named, gradient: Node) -> str:
    return f.latex(named[gradient.serial])
