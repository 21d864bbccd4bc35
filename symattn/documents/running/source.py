"""The text of a program: its statements and its comments, each with its place."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from symattn.documents.notation.vocabulary import identifier
from symattn.documents.text import Span, Text
from symattn.limits import PROGRAM

#: What decides where statements end: strings, comments, brackets, ends of lines.
_MARKS = re.compile(
    r"(?P<string>\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*+(?:\"\"\"|\\?\Z)"
    r"|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\\?\Z)"
    r"|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')"
    r"|(?P<comment>#[^\n\r]*+)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>\r\n|\r|\n)",
    re.DOTALL,
)
#: A line that goes on with the one before: indented, or with a closing bracket, a
#: sign of equality, or a word that can't begin a statement.
_GOES_ON = re.compile(r"[ \t)\]}=≈\r\n]|(?:else|elif|except|finally)\b")
#: What notebooks add to Python: magic and shell commands.
_COMMAND = re.compile(r"^[ \t]*+(?P<sign>[%!])", re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class ProgramSource:
    """A piece of a program, parsed."""

    text: Text
    body: tuple[ast.stmt, ...]
    #: By line that is not ASCII alone: where in bytes its characters begin.
    _columns: dict[int, list[int]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _starts(self) -> list[int]:
        """Return where the lines begin."""
        return [0, *(end.end() for end in _LINE_END.finditer(self.text.string))]

    def at(self, line: int, column: int) -> int:
        """The character at a line, from 1, and a column in bytes, from 0."""
        start = self._starts[line - 1]
        if line not in self._columns:
            end = self._starts[line] if line < len(self._starts) else len(self.text)
            places: list[int] = []
            if not (string := self.text.string[start:end]).isascii():
                reached = 0
                for character in string:
                    places.append(reached)
                    reached += len(character.encode("utf-8", "surrogatepass"))
            self._columns[line] = places
        places = self._columns[line]
        return start + (bisect_right(places, column) - 1 if places else column)

    def bounds(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        """The characters of ``text`` that a node takes."""
        start = self.at(node.lineno, node.col_offset)
        ends = node.end_lineno, node.end_col_offset
        assert ends[0] is not None
        assert ends[1] is not None
        last = self.at(ends[0], ends[1] - 1) + 1 if ends[1] else self.at(ends[0], 0)
        return start, last

    def span(self, node: ast.stmt | ast.expr) -> Span:
        """The place of a node in the file."""
        return self.text.span(*self.bounds(node))

    def string(self, node: ast.stmt | ast.expr) -> str:
        """Return what is written there."""
        start, end = self.bounds(node)
        return self.text.string[start:end]

    @cached_property
    def comments(self) -> dict[int, Text]:
        """By the number of its line, from 1: the comment there, without its mark."""
        comments: dict[int, Text] = {}
        for mark in _MARKS.finditer(self.text.string):
            if mark["comment"]:
                line = bisect_right(self._starts, mark.start())
                hashes = len(mark["comment"]) - len(mark["comment"].lstrip("#"))
                comments[line] = self.text[mark.start() + hashes : mark.end()]
        return comments


def pieces(text: Text) -> Iterator[Text]:
    """Text cut before every line that begins a statement; comments on neighbouring lines
    stay together.

    >>> [str(piece) for piece in pieces(Text.whole("x = [1,\\n2]\\ndef f(y):\\n    return y\\n"))]
    ['x = [1,\\n2]\\n', 'def f(y):\\n    return y\\n']
    """
    string = text.string
    start, line, depth, decorated = 0, 0, 0, string.startswith("@")
    for mark in _MARKS.finditer(string):
        if mark["open"]:
            depth += 1
        elif mark["close"]:
            depth = max(depth - 1, 0)
        elif mark["end"]:
            end, begun, line = mark.end(), line, mark.end()
            if depth or (string.startswith("#", begun) and string.startswith("#", end)):
                continue
            if end == len(string) or _GOES_ON.match(string, end) or decorated:
                decorated = decorated and string.startswith("@", end)
                continue
            yield text[start:end]
            start, decorated = end, string.startswith("@", end)
    if start < len(string):
        yield text[start:]


def parsed(text: Text) -> ProgramSource | None:
    """The program that a text is; None where it is none, or beyond what is read.

    >>> source = parsed(Text.whole("q = 'é' @ K"))
    >>> source.span(source.body[0].value.right)
    Span(start=10, end=11)
    >>> parsed(Text.whole("Q = X  [3, 4]")) is parsed(Text.whole("Shape: [3, 4]")) is None
    True
    """
    if len(text) > PROGRAM.most:
        return None
    # A magic command is none of Python's; as a comment it keeps the places of the rest.
    string = _COMMAND.sub(lambda match: match[0][:-1] + "#", text.string)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(string)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        _spell(node)
    source = ProgramSource(text, tuple(tree.body))
    return source if _is_meant(source) else None


def _spell(node: ast.AST) -> None:
    """Have the names that a node has in plain letters."""
    for where in ("id", "arg", "attr", "name", "asname"):
        if isinstance(name := getattr(node, where, None), str):
            setattr(node, where, identifier(name))


def _is_meant(source: ProgramSource) -> bool:
    """Return whether it is not by chance that Python can read it: nobody leaves a space before
    the brackets of an index, nor annotates names with numbers."""
    nodes = chain.from_iterable(map(ast.walk, source.body))
    return not any(_is_chance(source, node) for node in nodes)


def _is_chance(source: ProgramSource, node: ast.AST) -> bool:
    match node:
        case ast.AnnAssign(annotation=annotation):
            return isinstance(annotation, ast.List | ast.Tuple) or not any(
                isinstance(one, ast.Name)
                or (isinstance(one, ast.Constant) and isinstance(one.value, str))
                for one in ast.walk(annotation)
            )
        case ast.Subscript(value=value):
            end = source.bounds(value)[1]
            return source.text.string[end : end + 1].isspace()
    return False


def statement_head(node: ast.stmt) -> ast.expr | ast.stmt:
    """Return where a statement says what it does, without those inside it."""
    match node:
        case ast.If(test=head) | ast.While(test=head) | ast.For(iter=head):
            return head
        case ast.Match(subject=head) | ast.With(items=[ast.withitem(context_expr=head), *_]):
            return head
        case ast.Try(body=[head, *_]):
            return statement_head(head)
    return node
