"""Answers about a text, as plain data: what workers give the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from symattn.documents.text import Span

Severity = Literal["error", "warning", "information", "hint"]


@dataclass(frozen=True)
class Finding:
    """A finding on characters of the source.

    ``code`` is the rule, as SARIF logs name it; ``related`` are other places with what is said
    of them; ``note`` is what an author may add there, '' for nothing.
    """

    span: Span
    severity: Severity
    code: str
    message: str
    related: tuple[tuple[Span, str], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Answer:
    """All that is told of a text, and what became of its numbers, in a sentence; ``names`` are
    the quantities of a walkthrough, each with what it is."""

    findings: tuple[Finding, ...]
    coverage: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


class Correction(NamedTuple):
    """A figure, and what belongs in its place in the source."""

    span: Span
    text: str
    label: str


class Explanation(NamedTuple):
    """The explanation of a place, as Markdown."""

    span: Span
    text: str


class FunctionHelp(NamedTuple):
    """A function of steps: how it is called, and what it is."""

    signature: str
    summary: str
