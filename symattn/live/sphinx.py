"""Live figures in Sphinx and Jupyter Book: an extension, ``symattn.live.sphinx``.

A page is computed from the file that it names, by a directive or in its front matter, else
from the page itself. What can't be computed is a warning of Sphinx, with file and line,
which ``sphinx-build -W`` fails on, and an error at its place on the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from symattn import workers
from symattn.errors import Fault
from symattn.live.figures import IN_MATHEMATICS, Mathematics, Paragraph, Piece, Text
from symattn.live.myst import data_address
from symattn.live.names import CASE, NAMES
from symattn.live.origins import Answer, Asked, named_origin, origin, worked
from symattn.live.places import file_named
from symattn.workers import WorkLimits

_log = logging.getLogger(__name__)
#: The directive that names its file, in reStructuredText.
_DIRECTIVE = re.compile(rf"^[ \t]*\.\.[ \t]+{CASE}::[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the roles, the directives, what computes the figures of a page, and what it may take
    and read."""
    app.add_role(_Domain.name, _Role(_Domain.name))
    app.add_directive(_Domain.name, _Figure)
    app.add_domain(_Domain)
    app.add_transform(_Computed)
    app.add_config_value("symattn_allow_outside", False, "env", bool)
    app.add_config_value("symattn_max_seconds", 300, "env", (int, float))
    app.add_config_value("symattn_max_memory", 2048, "env", int)
    app.connect("env-get-outdated", _outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _outdated(app: Sphinx, env: BuildEnvironment, *changes: object) -> list[str]:
    """Pages with live figures are read in every build: what they are computed from may have
    changed, and what that extends."""
    domain = env.get_domain(_Domain.name)
    return sorted(domain.data["pages"])


def _found(env: BuildEnvironment, asked: Sequence[Asked]) -> Sequence[Answer]:
    """Return what the live figures of the page that is read come to, worked out by a process with
    limits; where none does, why."""
    page, config = Path(env.doc2path(env.docname)), env.config
    text = page.read_text("utf-8", "replace")
    directive = _DIRECTIVE.search(text)
    if named := directive[1] if directive else file_named(text):
        root = Path(env.srcdir)
        path = (root if named.startswith("/") else page.parent) / named.lstrip("/")
        find = partial(named_origin, named, path, root, config.symattn_allow_outside)
    else:
        find = partial(origin, page, config.symattn_allow_outside)
    limits = WorkLimits(config.symattn_max_seconds, config.symattn_max_memory)
    (answer,) = workers.answers([(worked, (find, asked))], limits)
    if isinstance(answer, Exception):
        return [Fault("", workers.told(answer, limits))] * len(asked)
    found: list[Answer] = answer
    return found


def _fault(text: str, error: Fault, place: Any) -> nodes.Node:
    """Return what a reader sees where a figure can't be computed; Sphinx warns of it."""
    message = f"{text}: {error.message}"
    _log.warning(message, location=place, type="symattn")
    return nodes.strong("", f"[symattn: {message}]", classes=["error"])


class _Live(nodes.Inline, nodes.General, nodes.Element):  # type: ignore[misc]
    """What stands for a live figure until its page is computed."""


def _standing_for(asked: Asked) -> _Live:
    return _Live("", nodes.Text(asked.text), asked=asked)


class _Role(SphinxRole):
    """A figure inside a line."""

    def __init__(self, called: str) -> None:
        super().__init__()
        self._called = called

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        node = _standing_for(Asked("line", self._called, self.text))
        self.set_source_info(node)
        return [node], []


class _Figure(SphinxDirective):
    """Figures on lines of their own."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        # As an author spells it, unless it is inside the domain.
        node = _standing_for(Asked("block", self.name.lower(), self.arguments[0]))
        self.set_source_info(node)
        return [node]


def _inside(name: str) -> str:
    """A name inside its domain."""
    return name.partition(":")[2]


class _Case(SphinxDirective):
    """Names the file that the figures of a page are computed from; nothing stands there."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return []


class _Domain(Domain):
    """What is called ``symattn:`` something, and the pages that have live figures."""

    name = "symattn"
    label = "symattn"
    roles = {_inside(name): _Role(name) for name in NAMES}  # noqa: RUF012
    directives = {  # noqa: RUF012
        _inside(CASE): _Case,
        **{_inside(name): _Figure for name in NAMES},
    }

    initial_data = {"pages": set()}  # noqa: RUF012

    def clear_doc(self, docname: str) -> None:
        """Forget a page that is read anew."""
        self.data["pages"].discard(docname)

    def merge_domaindata(self, docnames: object, otherdata: Any) -> None:
        """Take over the pages that another process has read."""
        self.data["pages"] |= otherdata["pages"]


class _Computed(SphinxTransform):
    r"""Computes the live figures of a page, ``\symattn{A[0, 1]}`` in formulas too, all at once."""

    default_priority = 500

    def apply(self, **named: Any) -> None:
        live: list[tuple[nodes.Element, Asked]] = [
            (node, node["asked"]) for node in self.document.findall(_Live)
        ]
        for kind in (nodes.math, nodes.math_block):
            live += (
                (formula, Asked("mathematics", "symattn", formula.astext()))
                for formula in self.document.findall(kind)
                if IN_MATHEMATICS.search(formula.astext())
            )
        if not live:
            return
        self.env.get_domain(_Domain.name).data["pages"].add(self.env.docname)
        found = _found(self.env, [asked for _, asked in live])
        for (node, asked), answer in zip(live, found, strict=True):
            if isinstance(answer, Fault):
                fault = _fault(asked.text, answer, node)
                is_block = asked.how == "block" or isinstance(node, nodes.math_block)
                node.replace_self(nodes.paragraph("", "", fault) if is_block else fault)
            elif isinstance(answer, str):
                node.clear()
                node.append(nodes.Text(answer))
                node.rawsource = answer
            elif asked.how == "line":
                node.replace_self([_node(piece) for pieces in answer for piece in pieces])
            else:
                node.replace_self([*map(_paragraph, answer)])


def _paragraph(pieces: Paragraph) -> nodes.Node:
    made = [*map(_node, pieces)]
    if len(made) == 1 and isinstance(made[0], nodes.math_block | nodes.image):
        return made[0]
    return nodes.paragraph("", "", *made)


def _node(piece: Piece) -> nodes.Node:
    match piece:
        case Text(text):
            return nodes.Text(text)
        case Mathematics(_, display):
            latex = piece.latex
            if display:
                return nodes.math_block(latex, latex, number=None, nowrap=False, label=None)
            return nodes.math(latex, latex)
        case _:
            return nodes.image("", uri=data_address(piece), alt=piece.words)
