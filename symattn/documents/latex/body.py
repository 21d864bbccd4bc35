"""The body of a LaTeX source: its tokens put into blocks, without recursion."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from symattn.documents.article import (
    Block,
    BlockKind,
    BlockPart,
    Contents,
    ParagraphBuilder,
    PartKind,
    TableBuilder,
    TableCell,
)
from symattn.documents.latex import macros as commands
from symattn.documents.latex.macros import Stream, formula, inside, is_paragraph, shown
from symattn.documents.text import DISPLAYS, INNER, WITH_ARGUMENT, Text
from symattn.limits import MACROS
from symattn.spelling import is_figure


class _LatexTable(TableBuilder):
    """``depth`` is that of the groups around the cells; ``nested`` counts tables inside of
    the cell that comes, ``columns`` those that it takes."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.depth = depth
        self.nested = 0
        self.columns = 1
        self._head = 0

    def end(self, parts: tuple[BlockPart, ...]) -> None:
        """A cell ends."""
        self.cell(parts, columns=self.columns)
        self.columns = 1

    def rule(self) -> None:
        """A rule: rows above the first between rows are the head."""
        self._head = self._head or self.line()

    def rows(self) -> tuple[tuple[TableCell, ...], ...]:
        """All rows. A row of nothing but numbers is no head, whatever is ruled."""
        rows = super().rows()
        head = self._head if self._head < len(rows) else 0
        return tuple(
            tuple(TableCell(cell.parts, at < head and not _is_numbers(row)) for cell in row)
            for at, row in enumerate(rows)
        )


def _is_numbers(row: tuple[TableCell, ...]) -> bool:
    return all(is_figure("".join(part.text.string for part in cell.parts)) for cell in row)


_ENVIRONMENT = re.compile(r"\\(begin|end)\{([^{}]*)\}")
_MARKS = re.compile("|".join(sorted(map(re.escape, commands.MARKS), key=len, reverse=True)))
_INTERTEXT = ("\\intertext", "\\shortintertext")


class LatexReader:
    """Reads a source; :meth:`contents` is what it found."""

    def __init__(self, source: Text) -> None:
        self._source = source
        self._stream = Stream(source, commands.KEPT)
        self._blocks: list[Block] = []
        #: What stands apart from the paragraph that is gathered, and follows it.
        self._after: list[Block] = []
        self._here = ParagraphBuilder()
        #: What is done where each open group ends.
        self._groups: list[Callable[[], None] | None] = []
        self._table: _LatexTable | None = None
        self._title = ""
        self._notes: list[str] = []
        #: Whether white space that follows belongs to a command.
        self._swallows = False

    def contents(self) -> Contents:
        """Read all of it."""
        while (token := self._stream.next()) is not None:
            if token.string == "\\end{document}":
                break
            self._read(token)
        self._end_groups(0)
        self._end_table()
        self._flush()
        if self._stream.stopped is not None:
            line = self._source.string.count("\n", 0, self._stream.stopped.start) + 1
            self._notes.append(MACROS.said(line))
        return Contents(tuple(self._blocks), self._title, tuple(self._notes))

    def _read(self, token: Text) -> None:
        string = token.string
        match string[0]:
            case "\\":
                self._command(token)
            case "{":
                self._groups.append(None)
            case "}":
                self._end_groups(len(self._groups) - 1)
            case "$":
                self._dollar()
            case "%":
                self._note(token)
            case "&" if self._table is not None:
                self._end_cell(token)
            case "~":
                self._say(" ", token)
            case "\r" | "\n" if is_paragraph(token):
                self._break(token)
            case _:
                self._words(token)

    # -- words ------------------------------------------------------------------------

    def _words(self, token: Text) -> None:
        if self._swallows:
            token = token.lstripped()
        self._swallows = False
        if self._here.kind == "text":
            token = token.sub(_MARKS, lambda mark: commands.MARKS[mark[0]])
        self._here.add(token)

    def _say(self, string: str, token: Text) -> None:
        self._here.add(Text.at(string, token.span()))

    def _break(self, token: Text) -> None:
        """End the paragraph; in a table that is only white space."""
        if self._table is None:
            self._flush()
        else:
            self._say(" ", token)

    def _flush(self, kind: BlockKind = "prose", level: int = 0) -> None:
        if self._table is not None:
            return
        parts = self._here.end()
        if parts:
            self._blocks.append(Block(kind, parts, level=level))
        self._blocks += self._after
        self._after = []

    def _note(self, token: Text) -> None:
        """A note stands before the block that it stands in."""
        text = token[token.string.index(":") + 1 :].stripped()
        self._blocks.append(Block.of("note", text))

    # -- groups -----------------------------------------------------------------------

    def _end_groups(self, depth: int) -> None:
        while len(self._groups) > max(depth, 0):
            if (action := self._groups.pop()) is not None:
                action()

    def _argument(self, action: Callable[[], None]) -> bool:
        """Return whether an argument in braces begins; ``action`` is done where it ends."""
        self._stream.star()
        self._stream.group("[", "]")
        if not self._stream.opens():
            return False
        self._groups.append(action)
        return True

    def _aside(self, end: Callable[[tuple[BlockPart, ...]], None]) -> None:
        """Gather an argument by itself and hand on its parts."""
        outer, self._here = self._here, ParagraphBuilder()

        def restore() -> None:
            parts, self._here = self._here.end(), outer
            end(parts)

        if not self._argument(restore):
            self._here = outer

    def _say_apart(self, parts: tuple[BlockPart, ...]) -> None:
        if parts:
            self._after.append(Block("prose", parts))

    def _say_title(self, parts: tuple[BlockPart, ...]) -> None:
        self._title = " ".join("".join(part.text.string for part in parts).split())

    def _kind(self, kind: PartKind) -> None:
        old = self._here.kind
        if self._argument(lambda: setattr(self._here, "kind", old)):
            self._here.kind = kind

    # -- commands ---------------------------------------------------------------------

    def _command(self, token: Text) -> None:
        string = token.string
        if (match := _ENVIRONMENT.match(string)) and match.end() < len(string):
            self._verbatim(token)
        elif match:
            self._environment(token, match[2], begins=match[1] == "begin")
        elif string in ("\\(", "\\["):
            end = "\\)" if string == "\\(" else "\\]"
            self._formula(end, is_display=string == "\\[")
        elif string in commands.HEADINGS:
            self._end_table()
            self._flush()
            level = commands.HEADINGS[string]
            self._argument(lambda: self._flush("heading", level))
        elif string in ("\\\\", "\\tabularnewline", "\\newline"):
            self._end_line(token)
        elif string == "\\par":
            self._break(token)
        elif string == "\\item":
            self._break(token)
            label = self._stream.group("[", "]")
            self._stream.push([*inside(label), Text.at(" ", token.span())] if label else [])
        elif string in commands.CODE:
            self._kind("code")
        elif string in commands.APART:
            self._aside(self._say_apart)
        elif string == "\\title":
            self._aside(self._say_title)
        elif string == "\\ensuremath":
            mark = Text.at("$", token.span())
            self._stream.push([mark, *inside(self._stream.argument()), mark])
        elif string == "\\multicolumn":
            self._span()
        elif string in commands.RULES:
            if self._table is not None:
                self._table.rule()
        elif string in commands.FILES:
            name = "".join(map(str, inside(self._stream.argument())))
            self._notes.append(f"{string}{{{name[:60]}}} is not followed")
        elif string in commands.ACCENTS:
            self._accent(token)
        elif string.startswith(("\\verb", "\\lstinline", "\\mintinline")):
            self._here.add(shown(token)[0], "code")
        elif string in commands.SYMBOLS:
            self._say(commands.SYMBOLS[string], token)
            self._swallows = string[1].isalpha()
        else:
            self._swallows = string[-1:].isalpha()
            self._drop_options()

    def _drop_options(self) -> None:
        token = self._stream.raw()
        self._stream.push([token] if token else [])
        if token is not None and token.string == "[":
            self._stream.group("[", "]")
            self._swallows = False

    def _accent(self, token: Text) -> None:
        letters = inside(self._stream.argument())
        letter = letters[0].string if letters else ""
        letter = {"\\i": "i", "\\j": "j"}.get(letter, commands.SYMBOLS.get(letter, letter))
        if not letter or letter[0] == "\\":
            self._stream.push(letters)
            return
        span = token.span().to(letters[0].span())
        self._here.add(
            Text.at(unicodedata.normalize("NFC", letter[0] + commands.ACCENTS[token.string]), span)
        )
        self._swallows = len(letters[0]) > 1 and letters[0].string[0] == "\\"
        rest = letters[1:] if self._swallows else (letters[0][1:], *letters[1:])
        self._stream.push([piece for piece in rest if piece.string])

    # -- environments -----------------------------------------------------------------

    def _environment(self, token: Text, name: str, *, begins: bool) -> None:
        base = name.rstrip("*")
        if base in commands.TABLES:
            self._tabular(base, token, begins=begins)
        elif not begins:
            self._break(token)
        elif base in DISPLAYS:
            if base in WITH_ARGUMENT:
                self._stream.argument()
            self._formula(f"\\end{{{name}}}", is_display=base != "math")
        elif base in INNER:
            text, _ = formula(self._stream, f"\\end{{{name}}}", self._note, opening=token)
            self._add_formula(text, is_display=True)
        elif base in commands.SKIPPED:
            self._skip(name)
        elif name == "document":
            self._begin()
        elif base in commands.TITLED:
            self._break(token)
            level = commands.TITLED[base]
            self._argument(lambda: self._flush("heading", level))
        else:
            self._break(token)
            self._drop_options()

    def _begin(self) -> None:
        """The body begins: of what was before, what was said to symattn is kept."""
        self._blocks = [block for block in self._blocks if block.kind == "note"]
        self._after, self._here, self._groups = [], ParagraphBuilder(), []
        self._table = None

    def _skip(self, name: str) -> None:
        end = f"\\end{{{name}}}"
        while (token := self._stream.raw()) is not None and token.string != end:
            if token.string == "\\end{document}":
                self._stream.push([token])
                return

    def _verbatim(self, token: Text) -> None:
        text, language = shown(token)
        if not token.string.startswith(("\\begin{comment", "\\begin{filecontents")):
            self._flush()
            self._blocks.append(Block.of("code", text, language=language))

    # -- formulas ---------------------------------------------------------------------

    def _dollar(self) -> None:
        token = self._stream.raw()
        if token is not None and token.string == "$":
            self._formula("$", is_display=True)
            token = self._stream.raw()
            if token is not None and token.string != "$":
                self._stream.push([token])
        else:
            self._stream.push([token] if token else [])
            self._formula("$", is_display=False)

    def _formula(self, end: str, *, is_display: bool) -> None:
        """Read a formula up to its end; words between its lines cut it in two."""
        text, last = formula(self._stream, end, self._note, _INTERTEXT)
        if last in _INTERTEXT:
            words = inside(self._stream.argument())
            name = end[len("\\end{") : -1]
            again = [Text.whole(f"\\begin{{{name}}}")]
            if name.rstrip("*") in WITH_ARGUMENT:
                again += [Text.whole("{"), Text.whole("}")]
            self._stream.push([*words, Text.whole("\n\n"), *(again if name else ())])
        self._add_formula(text, is_display=is_display)

    def _add_formula(self, text: Text, *, is_display: bool) -> None:
        if not text.string:
            return
        if is_display and self._table is None:
            self._flush()
            self._blocks.append(Block.of("formula", text))
        else:
            self._here.add(text, "math")

    # -- tables -----------------------------------------------------------------------

    def _tabular(self, name: str, token: Text, *, begins: bool) -> None:
        if begins:
            self._stream.group("[", "]")
            for _ in range(commands.TABLES[name]):
                self._stream.argument()
            if self._table is not None:
                self._table.nested += 1
            else:
                self._flush()
                self._table = _LatexTable(len(self._groups))
        elif self._table is not None and self._table.nested:
            self._table.nested -= 1
            self._say(" ", token)
        else:
            self._end_table()

    def _end_cell(self, token: Text) -> None:
        """A mark between cells; inside of a group it is none."""
        table = self._table
        if table is None or table.nested or len(self._groups) != table.depth:
            self._say(" ", token)
        else:
            table.end(self._here.end())

    def _end_line(self, token: Text) -> None:
        self._stream.star()
        self._drop_options()
        table = self._table
        if table is None:
            self._say("\n", token)
        elif table.nested or len(self._groups) != table.depth:
            self._say(" ", token)
        else:
            table.end(self._here.end())
            table.line()

    def _end_table(self) -> None:
        if self._table is None:
            return
        self._end_groups(self._table.depth)
        self._table.end(self._here.end())
        self._table.line()
        rows, self._table = self._table.rows(), None
        if rows:
            self._blocks.append(Block("table", rows=rows))
        self._flush()

    def _span(self) -> None:
        count = "".join(map(str, inside(self._stream.argument()))).strip()
        self._stream.argument()
        self._stream.push(inside(self._stream.argument()))
        if self._table is not None and count.isdecimal():
            self._table.columns += int(count[:4]) - 1
