"""Random text over the grammar of steps and statements: mostly wrong, sometimes not."""

from __future__ import annotations

from typing import Any

from .programs import NAMES, NUMBERS

_FUNCTIONS = (
    *("sqrt", "exp", "log", "tanh", "softmax", "causal", "mask", "concat", "rowsum", "colsum"),
    *("total", "rows", "cols", "grad", "argmax", "shape", "max", "min", "abs", "relu", "A"),
)
_OPERATORS = ("+", "-", "*", "/", "@", "@", "**", "//", "^", "==", "<", "−", "×", "·")
_ODD = ("1e400", "1e-400", "0x10", "1_000", ".5", "5.", "1e5", "007", "inf", "nan", "9" * 60, "e")
_SCRAPS = ("", " ", "(", ")", "[", "]", ",", ".T", "'", "π", "\u202e", "\x1b[31m", "#", "\n", "and")


class Scribe:
    """Writes expressions over names that may be known."""

    def __init__(self, random, names):
        self.random = random
        self.names = names

    def name(self):
        if self.random.random() < 0.93:
            return self.random.choice(self.names)
        return self.random.choice(["dX", "dL/dX", "upstream", "lambda", "None", "Z", "e", "x_"])

    def number(self):
        odd = self.random.random() < 0.08
        return self.random.choice(_ODD if odd else ("2", "0", "1", "0.5", "3", "1e-2", "12"))

    def expression(self, depth):
        """Text by the productions of the grammar."""
        kind = self.random.random()
        if depth <= 0 or kind < 0.2:
            return self.number() if self.random.random() < 0.25 else self.name()
        inner = self.expression(depth - 1)
        if kind < 0.5:
            operator = self.random.choice(_OPERATORS[:6] if kind < 0.47 else _OPERATORS)
            right = self.expression(depth - 1)
            return f"{inner} {operator} {self.random.choice([right, f'({right})'])}"
        if kind < 0.6:
            return f"({inner}){self.random.choice(['.T', '', '.T.T', '[0]', '[0, 0]'])}"
        if kind < 0.9:
            function = self.random.choice(_FUNCTIONS[:13] if kind < 0.86 else _FUNCTIONS)
            count = {"mask": 2, "concat": 2}.get(function, 1)
            if self.random.random() < 0.05:
                count += 1
            rest = [self.expression(depth - 1) for _ in range(count - 1)]
            return f"{function}({', '.join([inner, *rest])})"
        if kind < 0.95:
            return f"{self.random.choice(['-', '+', '--', '-+-'])}{inner}"
        keys = ", ".join(
            self.random.choice(["0", "1", "-1", ":", "1:", "::-1", "::0", "9", "0:1"])
            for _ in range(self.random.choice([1, 2, 2, 3]))
        )
        return f"{inner}[{keys}]"

    def step(self):
        """A step: an expression, now and then with something out of place."""
        text = self.expression(self.random.choice([0, 1, 2, 2, 3]))
        if self.random.random() < 0.08:
            place = self.random.randrange(len(text) + 1)
            text = text[:place] + self.random.choice(_SCRAPS) + text[place:]
        return text

    def statement(self):
        """A comparison, or several."""
        parts = []
        for _ in range(self.random.choice([1, 1, 1, 2])):
            relation = self.random.choice(["==", "<", "<=", ">", ">=", "!=", "="])
            parts.append(f"{self.expression(1)} {relation} {self.expression(1)}")
        return " and ".join(parts)


def content(random):
    """The tables of a walkthrough whose steps and claims are random text."""
    names = random.sample(NAMES, k=7)
    n = random.randint(1, 3)

    def rows(width):
        return [[random.choice(NUMBERS) for _ in range(width)] for _ in range(n)]

    shapes = [
        lambda: rows(n),
        lambda: rows(2),
        lambda: rows(1)[0] * n,
        lambda: random.choice("123"),
    ]
    given = {names[k]: shapes[k % 4]() for k in range(random.randint(1, 4))}
    given[names[5]] = [[random.choice([0, 1, 1]) for _ in range(n)] for _ in range(n)]
    scribe = Scribe(random, list(given))
    steps = {}
    for name in names[4:][: random.randint(1, 3)]:
        if name not in given:
            steps[name] = scribe.step()
            scribe.names.append(name)
    steps = steps or {"out": scribe.step()}
    made: dict[str, Any] = {"title": "Random text", "given": given, "steps": steps}
    if random.random() < 0.3:
        made["loss"] = {"output": random.choice([*steps, scribe.name()])}
        if random.random() < 0.5:
            made["loss"]["upstream"] = [[scribe.expression(1) for _ in range(n)] for _ in range(n)]
        if random.random() < 0.3:
            made["loss"]["wrt"] = [scribe.name()]
    claims = []
    for _ in range(random.choice([0, 0, 1, 2])):
        if random.random() < 0.4:
            claims.append({"holds": scribe.statement()})
        else:
            printed = random.choice(["0.5", "-inf", "1/2", "12%", ["0.5"], [["1", "0"]] * n, "x"])
            claims.append({"of": scribe.expression(1), "printed": printed})
    if claims:
        made["claims"] = claims
    return made
