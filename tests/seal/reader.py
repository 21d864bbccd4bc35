"""A reader of the files of theorems that shares nothing with who writes them.

It knows the few words of Coq that statements are made of, and says what they mean in floats: a
definition is a function of its indices, a statement is true or false.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

_TOKEN = re.compile(
    r"\s+|[A-Za-z_][A-Za-z0-9_']*(?:\.[a-z]+)?|\d+|<=\?|=>|:=|->|/\\|<=|<>|[()\[\];:,~=<+*/-]"
)
_COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_SENTENCE = re.compile(r"(.*?)\.(?:\s+|\Z)", re.DOTALL)
#: Room for what floats round.
_SLACK = 1e-12
_STEP = 1e-5

Scope = dict[str, Any]


def tokens(text: str) -> list[str]:
    """The words of a sentence; raises for what is none."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match, text[at : at + 40]
        if match[0].strip():
            found.append(match[0])
        at = match.end()
    return found


class Reader:
    """Reads one term or statement."""

    def __init__(self, words: list[str]) -> None:
        self.words, self.at = words, 0

    def peek(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, expected: str = "") -> str:
        word = self.peek()
        assert not expected or word == expected, (expected, self.words[self.at : self.at + 12])
        self.at += 1
        return word

    # -- statements: functions of a scope to true or false --

    def statement(self) -> Callable[[Scope], bool]:
        if self.peek() == "exists":
            return self.existing()
        left = self.simple()
        if self.peek() == "/\\":
            self.take()
            right = self.statement()
            return lambda scope: left(scope) and right(scope)
        return left

    def simple(self) -> Callable[[Scope], bool]:
        if self.peek() == "~":
            self.take()
            inner = self.simple()
            return lambda scope: not inner(scope)
        left = self.term()
        sign = self.take()
        right = self.term()
        if self.peek() == "<=":
            self.take()
            most = self.term()
            return lambda scope: left(scope) - _SLACK <= right(scope) <= most(scope) + _SLACK
        match sign:
            case "<=":
                return lambda scope: left(scope) <= right(scope) + _SLACK
            case "=":
                return lambda scope: _same(left(scope), right(scope))
            case "<>":
                return lambda scope: not _same(left(scope), right(scope))
        raise AssertionError(sign)

    def existing(self) -> Callable[[Scope], bool]:
        """``exists d : R, is_derive f x d /\\ ...``: d is a difference quotient."""
        self.take("exists")
        name = self.take()
        for word in (":", "R", ",", "is_derive"):
            self.take(word)
        function, place = self.atom(), self.atom()
        self.take(name)
        self.take("/\\")
        inner = self.statement()

        def holds(scope: Scope) -> bool:
            f, x = function(scope), place(scope)
            slope = (8 * (f(x + _STEP) - f(x - _STEP)) - (f(x + 2 * _STEP) - f(x - 2 * _STEP))) / (
                12 * _STEP
            )
            # What a quotient of floats is off by is added to what a figure may be.
            return any(inner({**scope, name: slope + off}) for off in (0, 1e-7, -1e-7, -slope)) or (
                inner({**scope, name: round(slope, 7)})
            )

        return holds

    # -- terms --

    def term(self) -> Callable[[Scope], Any]:
        if self.peek() == "if":
            self.take()
            asked = self.term()
            self.take("then")
            yes = self.term()
            self.take("else")
            no = self.term()
            return lambda scope: yes(scope) if asked(scope) else no(scope)
        if self.peek() == "let":
            return self.let()
        return self.sum()

    def let(self) -> Callable[[Scope], Any]:
        self.take("let")
        name, body = self.definition("in")
        self.take("in")
        rest = self.term()
        return lambda scope: rest({**scope, name: body(scope)})

    def definition(self, end: str) -> tuple[str, Callable[[Scope], Any]]:
        """``name (i j : nat) : R := body``."""
        name, parameters = self.take(), []
        while self.peek() == "(":
            self.take()
            while self.peek() != ":":
                parameters.append(self.take())
            while self.take() != ")":
                pass
        while self.peek() != ":=":
            self.take()
        self.take(":=")
        body = self.term()
        assert self.peek() == end, self.words[self.at :]
        return name, lambda scope: _function(parameters, body, scope)

    def sum(self) -> Callable[[Scope], Any]:
        if self.peek() == "-":
            self.take()
            first = self.product()
            left: Callable[[Scope], Any] = lambda scope: -first(scope)  # noqa: E731
        else:
            left = self.product()
        while self.peek() in ("+", "-"):
            sign, right = self.take(), self.product()
            left = _operated(sign, left, right)
        return left

    def product(self) -> Callable[[Scope], Any]:
        left = self.applied()
        while self.peek() in ("*", "/"):
            sign, right = self.take(), self.applied()
            left = _operated(sign, left, right)
        return left

    def applied(self) -> Callable[[Scope], Any]:
        head = self.atom()
        arguments = []
        while re.match(r"\w|\(|\[", self.peek()) and self.peek() not in ("then", "else", "in"):
            arguments.append(self.atom())
        if not arguments:
            return head
        return lambda scope: head(scope)(*(x(scope) for x in arguments))

    def atom(self) -> Callable[[Scope], Any]:
        word = self.take()
        if word == "(":
            if self.peek() == "fun":
                return self.function()
            inner = self.term()
            self.take(")")
            return inner
        if word == "[":
            items = []
            while self.peek() != "]":
                items.append(self.term())
                if self.peek() == ";":
                    self.take()
            self.take("]")
            return lambda scope: [item(scope) for item in items]
        if word.isdigit():
            return lambda scope: int(word)
        return lambda scope: scope[word]

    def function(self) -> Callable[[Scope], Any]:
        self.take("fun")
        names = []
        while self.peek() != "=>":
            names.append(self.take())
        self.take("=>")
        body = self.term()
        self.take(")")
        return lambda scope: _function(names, body, scope)


def _function(names: list[str], body: Callable[[Scope], Any], scope: Scope) -> Any:
    if not names:
        return body(scope)
    return lambda *values: body({**scope, **dict(zip(names, values, strict=True))})


def _operated(sign: str, left: Any, right: Any) -> Callable[[Scope], Any]:
    match sign:
        case "+":
            return lambda scope: left(scope) + right(scope)
        case "-":
            return lambda scope: left(scope) - right(scope)
        case "*":
            return lambda scope: left(scope) * right(scope)
    return lambda scope: left(scope) / right(scope)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(abs(left - right) <= _SLACK * max(1, abs(left)))


def _put(matrix: Any, i: int, j: int, x: float) -> Any:
    return lambda a, b: x if (a, b) == (i, j) else matrix(a, b)


#: What the library's words mean.
LIBRARY: Scope = {
    "sum": lambda n, f: sum(f(k) for k in range(n)),
    "by_rows": lambda rows, i, j: rows[i][j],
    "choices": lambda rows, i, j: rows[i][j],
    "causal": lambda i, j: j <= i,
    "delta": lambda i, j: 1 if i == j else 0,
    "put2": lambda matrix, i, j, x: _put(matrix, i, j, x),
    "Rabs": abs,
    "Rmax": max,
    "above": lambda x, y: 1 if x > y else 0,
    "within": lambda first, n, i: first <= i < first + n,
    "Nat.ltb": lambda i, j: i < j,
    "exp": math.exp,
    "ln": math.log,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "true": True,
    "false": False,
}


def read(text: str) -> Iterator[tuple[str, str, Callable[[], bool] | Any]]:
    """The definitions and theorems of a file in order: its kind, its name, and what it means: of
    a definition a number or a function, of a theorem a function that says whether it is true."""
    scope = dict(LIBRARY)
    body = text[text.index("Open Scope R_scope.") + 20 :]
    for found in _SENTENCE.finditer(_COMMENT.sub("", body)):
        sentence = found[1].strip().replace("%nat", "")
        if not sentence.startswith(("Definition ", "Theorem ", "Lemma ")):
            continue
        words = tokens(sentence) if "all_of_it" not in sentence else [""]
        if words[0] == "Definition":
            reader = Reader(words[1:])
            name, made = reader.definition("")
            # Entries are asked for again and again.
            scope[name] = _kept(made(scope))
            yield "definition", name, scope[name]
        elif words[0] in ("Theorem", "Lemma") and "forall" not in words:
            reader = Reader(words[3:])
            holds = reader.statement()
            assert not reader.peek(), reader.words[reader.at :]
            yield words[0].lower(), words[1], partial(holds, scope)


def _kept(made: Any) -> Any:
    if not callable(made):
        return made
    known: dict[Any, Any] = {}

    def entry(*places: Any) -> Any:
        if any(callable(place) for place in places):
            return made(*places)
        if places not in known:
            known[places] = made(*places)
        return known[places]

    return entry
