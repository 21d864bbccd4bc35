"""The definitions: all of them."""

from __future__ import annotations

import inspect
from types import ModuleType

from symattn.crosscheck import definitions


def functions(module: ModuleType) -> set[str]:
    return {
        name
        for name, item in vars(module).items()
        if inspect.isfunction(item) and "int" in inspect.get_annotations(item).values()
    }


def test_every_definition_has_a_name():
    """A function that takes an index is a definition, and nothing else is."""
    assert functions(definitions) == set(definitions.names())
