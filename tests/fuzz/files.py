"""Case files as text: tables written as TOML."""

from __future__ import annotations

import json
import re
from decimal import Decimal

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def toml(content):
    """Tables as TOML; values inside tables on one line."""
    plain = {key: value for key, value in content.items() if not isinstance(value, dict)}
    lists = {key for key, value in plain.items() if _is_tables(value)}
    lines = [f"{_key(key)} = {_value(plain[key])}" for key in plain if key not in lists]
    for key, value in content.items():
        if isinstance(value, dict):
            lines += ["", f"[{_key(key)}]", *_table(value)]
        elif key in lists:
            for item in value:
                lines += ["", f"[[{_key(key)}]]", *_table(item)]
    return "\n".join([*lines, ""])


def _is_tables(value):
    return isinstance(value, list) and bool(value) and all(isinstance(x, dict) for x in value)


def _table(table):
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key):
    return key if _BARE.match(key) else _value(key)


def _value(value):
    match value:
        case bool():
            return str(value).lower()
        case str():
            # Strings of JSON are strings of TOML, but for these.
            shown = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
            return re.sub("[\ud800-\udfff]", "?", shown)
        case int() | Decimal():
            return str(value)
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())}}}"
    return str(value)
