"""A reader of sealed lines that shares nothing with who writes them: it evaluates what a file of
theorems says, in floats, at sizes and numbers of its own. Derivatives are differences."""

from __future__ import annotations

import itertools
import math
import re
from random import Random
from typing import Any

_TOKEN = re.compile(r"\s*(%nat|[A-Za-z_][\w']*|\d+|=>|->|<=|>=|<>|/\\|[-+*/^()=<>:,])")
_SIZE = 3
_STEP = 1e-4
RELATIONS = {
    "=": lambda x, y: abs(x - y) <= 2e-3 * (1 + abs(x) + abs(y)),
    "<>": lambda x, y: abs(x - y) > 1e-9,
    "<": lambda x, y: x < y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "<=": lambda x, y: x <= y,
}


def tokens(text):
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        assert match, text[at : at + 30]
        found.append(match[1])
        at = match.end()
    return found


class Reader:
    """Reads terms and statements as functions of what names stand for."""

    def __init__(self, text):
        self.words, self.at = [*tokens(text), ""], 0

    @property
    def next(self):
        return self.words[self.at]

    def take(self, *expected):
        word = self.next
        assert not expected or word in expected, (expected, self.words[self.at : self.at + 9])
        self.at += 1
        return word

    def names(self):
        names = []
        while self.next not in (":", "=>", ","):
            names.append(self.take())
        if self.next == ":":
            self.take()
            self.take("nat", "R")
        return names

    def statement(self):
        if self.next == "forall":
            self.take()
            names = self.names()
            self.take(",")
            inner = self.statement()
            return lambda env: all(
                inner({**env, **dict(zip(names, at, strict=True))})
                for at in itertools.product(range(_SIZE), repeat=len(names))
            )
        first = self.simple()
        if self.next == "->":
            self.take()
            then = self.statement()
            return lambda env: not first(env) or then(env)
        if self.next == "/\\":
            self.take()
            also = self.statement()
            return lambda env: first(env) and also(env)
        return first

    def simple(self):
        start = self.at
        if self.next == "(":
            # A statement in brackets, or a term that begins with one.
            try:
                self.take()
                inner = self.statement()
                self.take(")")
                if self.next == "%nat":
                    self.take()
                    naturals = inner
                    inner = lambda env: naturals({**env, "%nat": True})  # noqa: E731
                assert self.next in ("->", "", ")", "/\\")
                return inner
            except AssertionError:
                self.at = start
        if self.next == "forall":
            return self.statement()
        if self.next == "is_derive":
            self.take()
            of, at, value = self.atom(), self.atom(), self.atom()
            return lambda env: RELATIONS["="](slope(of(env), at(env)), value(env))
        left = self.term()
        holds = RELATIONS[self.take(*RELATIONS)]
        right = self.term()
        return lambda env: holds(left(env), right(env))

    def term(self):
        value = self.product()
        while self.next in ("+", "-"):
            value = _two(self.take(), value, self.product())
        return value

    def product(self):
        value = self.factor()
        while self.next in ("*", "/"):
            value = _two(self.take(), value, self.factor())
        return value

    def factor(self):
        if self.next in ("-", "/"):
            sign, inner = self.take(), self.factor()
            return (lambda env: -inner(env)) if sign == "-" else (lambda env: 1 / inner(env))
        base = self.applied()
        if self.next != "^":
            return base
        self.take()
        power = int(self.take())
        return lambda env: base(env) ** power

    def applied(self):
        value = self.atom()
        while self.next == "(" or re.match(r"\w", self.next):
            value = _apply(value, self.atom())
        return value

    def atom(self):
        word = self.take()
        if word.isdigit():
            if self.next == "%nat":
                self.take()
            return lambda _: int(word)
        if word != "(":
            return lambda env: env[word]
        if self.next == "fun":
            self.take()
            names = self.names()
            self.take("=>")
            body = self.term()
            self.take(")")
            return lambda env: curried(
                lambda *at: body({**env, **dict(zip(names, at, strict=True))}), len(names)
            )
        inner = self.term()
        self.take(")")
        if self.next != "%nat":
            return inner
        self.take()
        return lambda env: inner({**env, "%nat": True})


def _two(sign, x, y):
    return {
        "+": lambda env: x(env) + y(env),
        # Subtraction of naturals stops at 0.
        "-": lambda env: max(0, x(env) - y(env)) if "%nat" in env else x(env) - y(env),
        "*": lambda env: x(env) * y(env),
        "/": lambda env: x(env) / y(env),
    }[sign]


def _apply(of, to):
    return lambda env: of(env)(to(env))


def curried(of, count):
    """A function of one argument after another."""
    if count == 0:
        return of()
    return lambda x: curried(lambda *more: of(x, *more), count - 1)


def slope(of, at):
    return (of(at + _STEP) - of(at - _STEP)) / (2 * _STEP)


def put(count):
    def entry(array, *more):
        *place, x = more[: count + 1]
        here = more[count + 1 :]
        if [*here] == place:
            return x
        for each in here:
            array = array(each)
        return array

    return curried(entry, 2 * count + 2)


WORDS = {
    "sum": curried(lambda n, f: math.fsum(f(i) for i in range(n)), 2),
    "INR": float,
    "exp": math.exp,
    "ln": math.log,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "erf": math.erf,
    "PI": math.pi,
    "delta": curried(lambda i, j: float(i == j), 2),
    "at_most": curried(lambda i, j: float(i <= j), 2),
    "above": curried(lambda x, y: float(x > y), 2),
    "Derive": curried(slope, 2),
    **{f"put{count}": put(count) for count in range(1, 5)},
}


def table(axes, number):
    """An array of that many axes."""
    entries = {at: number() for at in itertools.product(range(_SIZE), repeat=axes)}
    return curried(lambda *at: entries[at], axes)


def world(parts, seed, special):
    """What the names of a file stand for, at numbers by chance; ``special`` are made otherwise."""
    draw = Random(seed)
    env = dict(WORDS)
    for part in parts:
        for sentence in re.findall(r"(.*?)\.(?:\s|$)", part + "\n", re.DOTALL):
            _tell(" ".join(sentence.split()), env, draw, special)
    return env


def _tell(sentence, env, draw, special):
    def number():
        return draw.uniform(0.2, 1.3)

    match sentence.split(" ", 2):
        case ["Variable", name, kind] if name in special:
            env[name] = special[name](draw)
        case ["Variable", name, ": nat"]:
            env[name] = draw.randint(2, _SIZE)
        case ["Variable", name, kind] if "(" in kind:
            axes = kind.count("nat")
            weights = table(axes, number)
            places = [*itertools.product(range(2), repeat=axes)]

            def at(array, place):
                for each in place:
                    array = array(each)
                return array

            point: dict[Any, Any] = {}
            env["point"] = point
            env[name] = lambda array: math.fsum(
                math.sin(at(weights, place) * at(array, place)) for place in places
            )
            env["gradient"] = curried(
                lambda *place: (
                    at(weights, place)
                    * math.cos(at(weights, place) * at(point["of"], place))
                    * (max(place) < 2)
                ),
                axes,
            )
        case ["Variable", name, ": nat -> nat"]:
            raise NotImplementedError("permutations are special")
        case ["Variable", name, kind]:
            axes = kind.count("nat")
            env[name] = env.pop("gradient") if "gradient" in env else table(axes, number)
        case ["Hypothesis", name, said] if "gradient" in said.split()[1]:
            env["point"]["of"] = env[said.split()[-2]]
        case ["Definition", name, rest]:
            head, body = rest.split(":= ", 1)
            groups = re.findall(r"\(([^:()]*) : ", head)
            params = [each for group in groups for each in group.split()]
            value = Reader(body).term()
            env[name] = curried(
                lambda *at: value({**env, **dict(zip(params, at, strict=True))}), len(params)
            )
        case ["Local", _, rest]:
            name, body = rest.split(" := ", 1)
            env[name] = Reader(body).term()(env)
