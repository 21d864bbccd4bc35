"""Claims that are nearly true: figures from the values, some of their digits changed."""

from __future__ import annotations

import mpmath

from ..oracle import DIGITS

_RELATIONS = ("==", "<", "<=", ">", ">=")


def add_claims(random, made):
    """Claims about the quantities of a drawn walkthrough, and statements."""
    for _ in range(random.choice([0, 1, 1, 2, 3, 5])):
        name = random.choice(list(made.values))
        value = made.values[name]
        claim = {"where": random.choice(["1.1", "the table", "§2 – weights", "a [1] b"])}
        if random.random() < 0.2 and all(x > -mpmath.inf for x in value.reshape(-1)):
            claim["holds"] = _statement(random, name, value)
        else:
            claim["of"], shown = _part(random, name, value)
            claim["printed"] = _nested(shown, lambda x: figure(random, x))
        made.claims.append(claim)


def _part(random, name, value):
    """A quantity, an entry or a row of it, or a multiple."""
    kind = random.random()
    if value.shape and kind < 0.2:
        place = tuple(random.randrange(length) for length in value.shape)
        return f"{name}[{', '.join(map(str, place))}]", value[place]
    if value.shape and kind < 0.3:
        return f"{name}[-1]", value[-1]
    if kind < 0.35 and all(x > -mpmath.inf for x in value.reshape(-1)):
        return f"100 * {name}", value * 100
    return name, value


def _nested(value, figure):
    if not getattr(value, "shape", ()):
        return figure(value.item() if hasattr(value, "item") else value)
    return [_nested(item, figure) for item in value]


def figure(random, value):
    """A number to a few places, as a document prints it, or nearly so."""
    if value == -mpmath.inf:
        return random.choice(["-inf", "-inf", "0"])
    with mpmath.workdps(DIGITS):
        places = random.choice([0, 1, 2, 3, 4, 4, 6])
        scaled = mpmath.nint(mpmath.mpf(value) * 10**places)
        if abs(scaled) > 10**15:
            return mpmath.nstr(value, 4)
        number = int(scaled)
    kind = random.random()
    if kind < 0.1:
        number += random.choice([-1, 1])
    elif kind < 0.15:
        number += random.choice([-1, 1]) * 10 ** random.randint(0, places + 1)
    elif kind < 0.18:
        number = -number
    digits = str(abs(number)).rjust(places + 1, "0")
    shown = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{shown}" if number < 0 else shown


def _statement(random, name, value):
    relation = random.choice(_RELATIONS)
    options = [
        f"{name} {relation} {name}",
        f"shape({name}) == ({', '.join(map(str, value.shape))})",
    ]
    if value.shape:
        first = ", ".join("0" for _ in value.shape)
        options += [
            f"{name}[{first}] {relation} 0.5",
            f"max({name}) {relation} min({name})",
            f"abs({name}) {relation} {name}",
            f"argmax({name}{'[0]' if len(value.shape) == 2 else ''}) == 0",
        ]
    if len(value.shape) != 2:
        options.pop(1)
    return random.choice(options)
