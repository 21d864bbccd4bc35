"""Response processing as the specification of QTI has it, for both vocabularies.

It shares nothing with what writes the rules: expressions give a float, a text, a truth, a list
or None, which is NULL.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "exp": math.exp,
    "ln": math.log,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "abs": abs,
    "signum": lambda x: (x > 0) - (x < 0),
}


def name(element: ET.Element) -> str:
    """The name of an element without namespace and prefix, with hyphens.

    >>> name(ET.Element("{x}setOutcomeValue")), name(ET.Element("qti-set-outcome-value"))
    ('set-outcome-value', 'set-outcome-value')
    """
    return hyphened(element.tag.rpartition("}")[2]).removeprefix("qti-")


def hyphened(word: str) -> str:
    """A name in capitals with hyphens."""
    return re.sub("[A-Z]", lambda found: "-" + found[0].lower(), word)


def attributes(element: ET.Element) -> dict[str, str]:
    """The attributes of an element by the names of QTI 3.0."""
    return {hyphened(x): y for x, y in element.attrib.items()}


class Item:
    """An item that can be answered."""

    def __init__(self, text: str) -> None:
        self.root = ET.fromstring(text.encode())
        self.responses: dict[str, str] = {}
        self._defaults: dict[str, Any] = {}
        for child in self.root:
            if name(child) == "response-declaration":
                given = attributes(child)
                right = [x.text or "" for x in child.iter() if name(x) == "value"]
                self.responses[given["identifier"]] = right[0] if right else ""
            elif name(child) == "outcome-declaration":
                given = attributes(child)
                value = [x.text for x in child.iter() if name(x) == "value"]
                self._defaults[given["identifier"]] = (
                    _typed(value[0] or "", given["base-type"]) if value else None
                )

    def marked(self, script: Mapping[str, str]) -> dict[str, Any]:
        """The outcomes of a script; what is no number is NULL."""
        self._values = dict(self._defaults)
        for identifier in self.responses:
            self._values[identifier] = _typed(script.get(identifier, ""), "float")
        for child in self.root:
            if name(child) == "response-processing":
                self._rules(child)
        return self._values

    def _rules(self, rules: ET.Element | list[ET.Element]) -> None:
        for rule in rules:
            match name(rule):
                case "set-outcome-value":
                    identifier = attributes(rule)["identifier"]
                    assert identifier in self._defaults, identifier
                    self._values[identifier] = self._value(rule[0])
                case "response-condition":
                    self._condition(rule)
                case other:
                    raise ValueError(other)

    def _condition(self, condition: ET.Element) -> None:
        for branch in condition:
            if name(branch) == "response-else":
                return self._rules(branch)
            test, *rules = branch
            if self._value(test) is True:
                return self._rules(rules)
        return None

    def _value(self, element: ET.Element) -> Any:
        given = attributes(element)
        match name(element):
            case "base-value":
                return _typed(element.text or "", given["base-type"])
            case "variable":
                return self._values[given["identifier"]]
            case "index":
                (container,) = map(self._value, element)
                place = int(given["n"]) - 1
                return container[place] if container and place < len(container) else None
            case "ordered":
                return [x for x in map(self._value, element) if x is not None]
            case "is-null":
                return self._value(element[0]) is None
            case "and" | "or" as connective:
                values = {self._value(x) for x in element}
                decisive = connective == "or"
                return decisive if decisive in values else None if None in values else not decisive
            case operator:
                operands = [*self._operands(element)]
                if any(x is None for x in operands):
                    return None
                return _computed(operator, given, operands)

    def _operands(self, element: ET.Element) -> Iterator[Any]:
        return map(self._value, element)


def _computed(operator: str, given: Mapping[str, str], operands: list[Any]) -> Any:
    try:
        match operator, *operands:
            case "sum", *items:
                return math.fsum(items)
            case "product", *items:
                return math.prod(items)
            case "max", *items:
                return max(items)
            case "subtract", x, y:
                return x - y
            case "divide", x, y:
                return x / y
            case "power", x, y:
                found = x**y
                return found if isinstance(found, float) else None
            case "math-operator", x:
                return float(_FUNCTIONS[given["name"]](x))
            case "match", x, y:
                return x == y
            case "not", x:
                return not x
            case "lt", x, y:
                return x < y
            case "lte", x, y:
                return x <= y
            case "gte", x, y:
                return x >= y
    except (ArithmeticError, ValueError):
        return None
    raise ValueError(operator)


def _typed(text: str, kind: str) -> Any:
    if kind == "float":
        return float(text) if re.fullmatch(r"[-+]?[0-9]*\.?[0-9]+(e[-+]?[0-9]+)?", text) else None
    return text == "true" if kind == "boolean" else text
