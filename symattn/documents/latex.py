"""LaTeX to blocks, without recursion.

The preamble is read for its macros and its title; macros are expanded, comments and
marks of text taken off. Files that a source asks for are not followed, pictures and
the list of references not read.

Macros are read where they are defined, and expanded where they are called. Every character
of an expansion keeps its place: those of an argument their own, those of the body that of
the whole call.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

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
from symattn.documents.text import DISPLAYS, FORMULAS, INNER, WITH_ARGUMENT, Span, Text
from symattn.limits import MACROS
from symattn.spelling import is_figure, pairs, words

# -- the tokens of LaTeX -----------------------------------------------------------------
# TeX libraries either lose places or walk by recursion; a scanner of one pattern keeps both
# promises, and is what expanding macros needs: a stream to push back to.

#: Environments whose text is taken as it stands.
_VERBATIM = words(
    "verbatim verbatim* Verbatim Verbatim* BVerbatim alltt lstlisting minted pycode pyblock"
    " comment filecontents filecontents*"
)
#: Commands that define others of the kind.
_VERBATIM_BY_NAME = re.compile(
    r"\\(?:lstnewenvironment|DefineVerbatimEnvironment|newtcblisting)\{([A-Za-z]{1,40}\*?)\}"
)

_END = r"(?:\r\n|\r|\n)"
_TOKEN = re.compile(
    rf"""
    (?P<inline> \\(?: verb\*?+ | lstinline (?:\[[^]\r\n]*+\])?+
                     | mintinline (?:\[[^]\r\n]*+\])?+ \{{[^}}\r\n]*+\}} ) (?![A-Za-z@]) )
    | \\begin\{{ (?P<begun> [^{{}}\\\#\s]{{0,60}} ) \}}
    | \\end\{{ [^{{}}\\\#\s]{{0,60}} \}}
    | \\[A-Za-z@]++
    | \\(?:\r\n|.)
    # A comment takes the end of its line with it, unless an empty line follows.
    | (?P<comment> % [^\r\n]*+ (?: {_END} [ \t]*+ (?![\r\n]) )? )
    | {_END} [ \t]*+ {_END} \s*+
    | {_END} [ \t]*+
    | \#[1-9]
    | [{{}}$&~\[\]*\#]
    | [^\\%{{}}$&~\[\]*\#\r\n]++
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_PARAGRAPH = re.compile(rf"{_END}[ \t]*+{_END}")
#: What stands before the text of verbatim environments and of code in a line.
_HEAD = re.compile(
    r"""
    \\begin\{(?: minted\} (?:\[[^]]*+\])?+ \{(?P<minted>[^}\r\n]*+)\}
           | (?!verbatim|alltt)[^}]*+\} (?:\[(?P<options>[^]]*+)\])?+
           | [^}]*+\} ) (?:[ \t]*+(?:\r\n|\r|\n))?+
    | \\mintinline (?:\[[^]]*+\])?+ \{(?P<inline>[^}]*+)\}
    | \\lstinline (?:\[(?P<inlined>[^]]*+)\])?+
    | \\verb\*?+
    """,
    re.VERBOSE,
)
_LANGUAGE = re.compile(r"language\s*+=\s*+\{?([A-Za-z]++)")
#: Longest code in a line: its end isn't looked for beyond.
_INLINE = 1000
_NOTE = re.compile(r"%++[ \t]*+symattn:")


def tokens(source: Text) -> Iterator[Text]:
    """The tokens of a source. Comments are left out but for what they say to
    symattn; a verbatim environment is one token, from its beginning to its end.

    >>> [str(token) for token in tokens(Text.whole(r"$\\alpha x$ % so"))]
    ['$', '\\\\alpha', ' x', '$', ' ']
    """
    string, at = source.string, 0
    verbatim = _VERBATIM.union(_VERBATIM_BY_NAME.findall(string))
    while match := _TOKEN.match(string, at):
        start, at = at, match.end()
        if match["begun"] in verbatim:
            ending = f"\\end{{{match['begun']}}}"
            end = string.find(ending, at)
            at = len(string) if end < 0 else end + len(ending)
        elif match["inline"]:
            at = _inline(string, at)
        elif match["comment"] and not _NOTE.match(string, start):
            continue
        yield source[start:at]


def is_paragraph(token: Text) -> bool:
    """Return whether a token is an empty line, which ends a paragraph."""
    return token.string[0] in "\r\n" and _PARAGRAPH.match(token.string) is not None


def shown(token: Text) -> tuple[Text, str]:
    """The text of a verbatim token, and its language.

    >>> text, language = shown(Text.whole(r"\\mintinline{python}|x * 2|"))
    >>> str(text), language
    ('x * 2', 'python')
    """
    head = _HEAD.match(token.string)
    if head is None:
        return token, ""
    language = head["minted"] or head["inline"] or ""
    if match := _LANGUAGE.search(head["options"] or head["inlined"] or ""):
        language = match[1]
    if not token.string.startswith("\\begin"):
        return token[head.end() + 1 : len(token) - 1], language.lower()
    end = token.string.rfind("\\end{")
    text = token[head.end() : len(token) if end < head.end() else end]
    return text.rstripped(), language.lower()


def _inline(string: str, at: int) -> int:
    """Return where code in a line ends, of which all but its marks and what is between ends at
    ``at``."""
    mark = string[at : at + 1]
    rest = string[at + 1 : at + 1 + _INLINE]
    length = rest.find({"{": "}"}.get(mark, mark)) if mark.strip() else -1
    return at if length < 0 or len(rest[:length].splitlines()) > 1 else at + length + 2


def _levels(text: str, before: str = "") -> dict[str, int]:
    """The numbers that stand behind names."""
    return {before + name: int(number) for name, number in pairs(text).items()}


#: Headings and their levels.
HEADINGS = _levels(
    r"part 1 chapter 1 section 2 subsection 3 subsubsection 4 paragraph 5 subparagraph 6"
    r" frametitle 2 framesubtitle 3",
    "\\",
)
#: Environments that begin with a heading.
TITLED = _levels("frame 2 block 5 exampleblock 5 alertblock 5")
#: Tables, and how many arguments stand before their cells.
TABLES = _levels(
    "tabular 1 tabular* 2 tabularx 2 tabulary 2 longtable 1 supertabular 1 tabu 1 tblr 1"
)
RULES = words(r"\hline \midrule \toprule \bottomrule")
#: Environments that hold no claims.
SKIPPED = words("tikzpicture tikzcd pgfpicture picture axis thebibliography asy CCSXML")
#: Commands whose argument is set as code.
CODE = words(r"\texttt \code \path \inlinecode")
#: Commands whose argument stands apart from its paragraph.
APART = words(r"\footnote \caption \captionof \footnotetext \marginpar \sidenote")
#: Files that a source asks for.
FILES = words(r"\input \include \subfile \lstinputlisting \verbatiminput")

#: Commands that stand for a character in text.
SYMBOLS = {
    **dict.fromkeys(("\\ ", "\\\n", "\\\r", "\\\r\n", "\\\t", "\\quad", "\\qquad"), " "),
    **dict.fromkeys(("\\space", "~"), " "),
    **dict.fromkeys(("\\,", "\\;", "\\:", "\\thinspace"), "\u2009"),
    **{f"\\{sign}": sign for sign in ("%", "&", "$", "#", "_", "{", "}", "LaTeX", "TeX")},
    **pairs(
        r"\dots … \ldots … \textellipsis … \textendash – \textemdash — \textbackslash \ "
        r" \textasciitilde ~ \textasciicircum ^ \textunderscore _ \textless < \textgreater >"
        r" \textbar | \textrightarrow → \textbullet • \textdegree ° \texttimes × \textminus −"
        r" \S § \ss ß \o ø \O Ø \ae æ \AE Æ \aa å \AA Å \l ł \L Ł \i ı \j ȷ"
    ),
}
#: Accents, and the characters that combine with the letter before them.
ACCENTS = dict(
    zip(
        (f"\\{sign}" for sign in "`'^~=u.\"rHvdck"),
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328",
        strict=True,
    )
)
#: What several marks stand for in text; code has them as they are.
MARKS = {"---": "—", "--": "–", "``": "“", "''": "”", "`": "‘"}

#: Commands whose meaning is what this reader makes of them.
KEPT = frozenset(
    {
        *HEADINGS,
        *APART,
        *FILES,
        *(f"\\begin{{{name}}}" for name in (*FORMULAS, *TABLES, *SKIPPED, "document")),
        *(f"\\end{{{name}}}" for name in (*FORMULAS, *TABLES, *SKIPPED, "document")),
        *("\\begin", "\\end", "\\item", "\\par", "\\title", "\\\\", "\\intertext", "\\ensuremath"),
        *("\\multicolumn", "\\[", "\\]", "\\(", "\\)"),
    }
)


# -- macros ------------------------------------------------------------------------------

#: Macros that every document knows: signature and body. A letter of a signature is an
#: argument: ``m`` in braces, ``o`` in brackets or left out, ``p`` in parentheses or left
#: out, ``s`` a star or nothing; ``m`` and ``o`` are counted. What has no body prints nothing.
_KNOWN = r"""
addbibresource om; addcontentsline mmm; addtocounter mm; addtolength mm; author om; bibliography m
bibliographystyle m; captionsetup om; cite soom; citep soom; citet soom; citeauthor som
citeyear som; cline m; cmidrule opm; color om; colorlet mm; date om; definecolor ommm
documentclass om; eqref m; fontsize mm; geometry m; graphicspath m; hphantom m; hspace sm
hypersetup m; includegraphics som; index m; institute om; label m; linespread m; lstset om
multirowsetup; newcounter mo; newlength m; newtheorem smomo; nocite m; pagenumbering m
pagestyle m; pageref sm; phantom m; ref sm; autoref sm; cref sm; Cref sm; renewbibmacro mm
rule omm; setcounter mm; setlength mm; tag sm; thanks m; thispagestyle m; tikzset m
titleformat smmmmm; url m; usecolortheme om; usepackage omo; usetheme om; usetikzlibrary m
lstnewenvironment moomm; DefineVerbatimEnvironment mmm
vphantom m; vspace sm; nonumber; notag; long; global; protect; hhline m; specialrule mmm
addlinespace o; cellcolor om; rowcolor om; allowdisplaybreaks o
emph m #1; textcolor omm #3; colorbox omm #3; fcolorbox mmm #3; href omm #3; hyperref om #2
texorpdfstring mm #1; resizebox smmm #3; scalebox mm #2; rotatebox omm #3; raisebox moom #4
parbox ooomm #5; makebox oom #3; framebox oom #3; makecell som #2; multirow omomom #6
num om #2; SI omom #2\,\mathrm{#4}; qty omm #2\,\mathrm{#3}; mbox m \text{#1}
textsubscript m \_\{#1\}; textsuperscript m \textasciicircum\{#1\}
DeclareMathSymbol mmmm; PassOptionsToPackage mm; RequirePackage omo; numberwithin mm
begin{minipage} ooom \par; begin{multicols} m \par; begin{wrapfigure} omom \par
begin{wraptable} omom \par; begin{subfigure} oom \par; begin{subtable} oom \par
begin{column} om \par; begin{adjustbox} m \par; begin{spacing} m \par; begin{list} mm \par
"""


#: Tokens of an option: its end isn't looked for beyond.
_OPTION = 1000


@dataclass(frozen=True)
class Macro:
    """The meaning of a command. ``default`` is that of its first argument; a ``meant`` macro is a
    command that was given another name."""

    signature: str = ""
    body: tuple[Text, ...] = ()
    default: tuple[Text, ...] = ()
    meant: bool = False


@cache
def _known() -> Mapping[str, Macro]:
    known = {}
    for entry in _KNOWN.replace("\n", ";").split(";"):
        name, signature, body = [*entry.split(maxsplit=2), "", "", ""][:3]
        if name:
            known[f"\\{name}"] = Macro(signature, tuple(tokens(Text.whole(body))))
    return known


class Stream:
    """The tokens of a source, with macros expanded as they come.

    ``kept`` are commands that keep their meaning, whatever a document says.

    >>> stream = Stream(Text.whole(r"\\newcommand{\\half}[1]{\\frac{#1}{2}}$\\half3$"))
    >>> "".join(map(str, iter(stream.next, None)))
    '$\\\\frac{3}{2}$'
    """

    def __init__(self, source: Text, kept: Iterable[str] = ()) -> None:
        self.macros: dict[str, Macro] = dict(_known())
        self.kept = frozenset(kept)
        #: Where macros were no longer expanded, because they wrote too much.
        self.stopped: Span | None = None
        self._source = tokens(source)
        self._pushed: list[Text] = []
        self._moved = 0

    def next(self) -> Text | None:
        """The next token that is no macro and defines none; none at the end."""
        while (token := self.raw()) is not None:
            string = token.string
            if string[0] != "\\":
                return token
            macro = self.macros.get(string)
            if macro is not None and macro.meant:
                token, macro = Text.at(macro.body[0].string, token.span()), None
            if self.stopped:
                return token
            if define := _DEFINING.get(token.string):
                define(self)
            elif token.string == "\\iffalse":
                self._skip()
            elif macro is None:
                return token
            else:
                self._expand(token, macro)
        return None

    def raw(self) -> Text | None:
        """The next token as it stands; none at the end."""
        return self._pushed.pop() if self._pushed else next(self._source, None)

    def push(self, tokens: Iterable[Text]) -> None:
        """Put tokens back, or before those that come."""
        self._pushed.extend(reversed(list(tokens)))

    def group(self, opening: str = "{", closing: str = "}") -> list[Text]:
        """The next group with its braces, or none and nothing read where no group
        is next. One that isn't closed ends with its paragraph."""
        if self.stopped:
            return []
        tokens = self._space()
        start, paragraph, depth = len(tokens), 0, 0
        while (token := self.raw()) is not None:
            tokens.append(token)
            string = token.string
            if len(tokens) == start + 1 and string != opening:
                self.push(tokens)
                return []
            if string == closing and depth == (opening == "{"):
                self._count(tokens)
                return tokens[start:]
            depth += (string == "{") - (string == "}")
            if not paragraph and is_paragraph(token):
                paragraph = len(tokens) - 1
            if opening == "[" and (paragraph or depth < 0 or len(tokens) > _OPTION):
                break
        self._count(tokens)
        kept = paragraph if opening == "{" else 0
        self.push(tokens[kept:])
        return [*tokens[start:kept], Text.at(closing, tokens[kept - 1].span())] if kept else []

    def argument(self) -> list[Text]:
        """The next group, or the next token or character alone."""
        if group := self.group():
            return group
        space = self._space()
        token = self.raw()
        if token is None or token.string == "}" or is_paragraph(token):
            self.push([*space, token] if token else space)
            return []
        if token.string[0] == "\\":
            return [token]
        self.push([token[1:]] if len(token) > 1 else [])
        return [token[:1]]

    def opens(self) -> bool:
        """Return whether a group is next; its brace is taken then."""
        space = self._space()
        if self.take("{"):
            return True
        self.push(space)
        return False

    def take(self, string: str) -> list[Text]:
        """The next token, if it is that one; nothing is read where it is another."""
        token = self.raw()
        if token is not None and token.string == string:
            return [token]
        self.push([token] if token else [])
        return []

    def _space(self) -> list[Text]:
        """White space that is next, but for an empty line; what follows it in the
        same token is put back."""
        tokens: list[Text] = []
        while (token := self.raw()) is not None:
            rest = len(token.string.lstrip())
            if rest or is_paragraph(token):
                space = len(token) - rest if rest else 0
                self.push([token[space:] if space else token])
                return [*tokens, token[:space]] if space else tokens
            tokens.append(token)
        return tokens

    def _expand(self, call: Text, macro: Macro) -> None:
        """Put what a macro stands for before what comes."""
        span, arguments = call.span(), []
        for number, letter in enumerate(macro.signature):
            match letter:
                case "m":
                    argument = self.argument()
                case "o":
                    argument = self.group("[", "]")
                case "p":
                    argument = self._parenthesis()
                case _:
                    argument = self.take("*")
            if argument:
                span = span.to(argument[-1].span())
            inner = argument[1:-1] if len(argument) > 1 else argument
            if letter in "mo":
                arguments.append(inner if argument or number else list(macro.default))
        written: list[Text] = []
        for token in macro.body:
            string = token.string
            if len(string) == 2 and string[0] == "#" and int(string[1]) <= len(arguments):
                written += arguments[int(string[1]) - 1]
            else:
                written.append(Text.at(string, span))
        self._count(written)
        self.push(written)

    def _parenthesis(self) -> list[Text]:
        token = self.raw()
        if token is not None and token.string[0] == "(":
            end = token.string.find(")") + 1
            self.push([token[end:]] if end < len(token) else [])
            return [token[:end]] if end else []
        self.push([token] if token else [])
        return []

    def _count(self, tokens: list[Text]) -> None:
        """Tokens were moved; beyond what is bearable, no more will be."""
        self._moved += len(tokens) + sum(map(len, tokens)) + 1
        if self._moved > MACROS.most and self.stopped is None:
            self.stopped = tokens[0].span() if tokens else Span(0, 0)

    def _skip(self) -> None:
        depth = 1
        while depth and (token := self.raw()) is not None:
            string = token.string
            if string == "\\fi" or (string == "\\else" and depth == 1):
                depth -= 1
            elif string.startswith("\\if") and string not in ("\\iff", "\\ifthenelse"):
                depth += 1

    # -- definitions ------------------------------------------------------------------

    def define(self, name: str, macro: Macro) -> None:
        """Remember what a command stands for."""
        if name.startswith("\\") and name not in self.kept:
            self.macros[name] = macro

    def _name(self) -> str:
        return "".join(map(str, inside(self.argument()))).strip()

    def _newcommand(self) -> None:
        self.take("*")
        name = self._name()
        signature, default = self._parameters()
        self.define(name, Macro(signature, inside(self.argument()), default))

    def _newenvironment(self) -> None:
        self.take("*")
        name = self._name()
        signature, default = self._parameters()
        self.define(f"\\begin{{{name}}}", Macro(signature, inside(self.argument()), default))
        self.define(f"\\end{{{name}}}", Macro("", inside(self.argument())))

    def _parameters(self) -> tuple[str, tuple[Text, ...]]:
        """Return what ``[2][x]`` says: the signature, and the default of the first argument."""
        count = "".join(map(str, self.group("[", "]")[1:-1])).strip()
        number = int(count) if count in tuple("123456789") else 0
        default = self.group("[", "]") if number else []
        return ("o" if default else "m" * bool(number)) + "m" * (number - 1), inside(default)

    def _newdocumentcommand(self) -> None:
        name, signature = self._name(), self._name().replace(" ", "")
        body = inside(self.argument())
        if signature.strip("m") == "":
            self.define(name, Macro(signature, body))

    def _def(self) -> None:
        """``\\def\\name#1#2{body}``; one whose arguments have other marks is left as it is."""
        name, count, simple = self._name(), 0, True
        while (token := self.raw()) is not None and token.string != "{" and not is_paragraph(token):
            count += 1
            simple = simple and token.string == f"#{count}"
        self.push([token] if token else [])
        body = inside(self.group())
        if simple:
            self.define(name, Macro("m" * count, body))

    def _let(self) -> None:
        name, meaning = self._name(), self.argument()
        if meaning and meaning[0].string == "=":
            meaning = self.argument()
        if meaning and meaning[0].string[0] == "\\":
            known = self.macros.get(meaning[0].string, Macro("", (meaning[0],), meant=True))
            self.define(name, known)

    def _operator(self) -> None:
        self.take("*")
        name, text = self._name(), inside(self.argument())
        body = (Text.whole("\\operatorname"), Text.whole("{"), *text, Text.whole("}"))
        self.define(name, Macro("", body))

    def _delimiters(self) -> None:
        name, left, right = self._name(), inside(self.argument()), inside(self.argument())
        self.define(name, Macro("som", (*left, Text.whole("#2"), *right)))


def inside(group: list[Text]) -> tuple[Text, ...]:
    """A group without its braces or brackets; a token alone as it is."""
    return tuple(group[1:-1] if len(group) > 1 else group)


_DEFINING: Mapping[str, Callable[[Stream], None]] = {
    **dict.fromkeys(
        ("\\newcommand", "\\renewcommand", "\\providecommand", "\\DeclareRobustCommand"),
        Stream._newcommand,
    ),
    **dict.fromkeys(("\\def", "\\gdef", "\\edef", "\\xdef"), Stream._def),
    **dict.fromkeys(("\\newenvironment", "\\renewenvironment"), Stream._newenvironment),
    **dict.fromkeys(
        ("\\NewDocumentCommand", "\\RenewDocumentCommand", "\\DeclareDocumentCommand"),
        Stream._newdocumentcommand,
    ),
    "\\let": Stream._let,
    "\\DeclareMathOperator": Stream._operator,
    "\\DeclarePairedDelimiter": Stream._delimiters,
}


_WORD = re.compile(r"\\[A-Za-z@]++\Z")


def joined(tokens: Iterable[Text]) -> Text:
    """Tokens as one text; a command doesn't run into the letter after it."""
    pieces: list[Text] = []
    for token in tokens:
        if pieces and token.string[:1].isalpha() and _WORD.match(pieces[-1].string):
            pieces.append(token.before(" "))
        pieces.append(token)
    return Text.joined(pieces)


class Macros(Stream):
    """The macros that the formulas of a page define for those behind them.

    >>> macros = Macros()
    >>> str(macros.expanded(Text.whole(r"\\newcommand{\\W}{W^Q}")))
    ''
    >>> str(macros.expanded(Text.whole(r"\\W x \\label{eq:1}")))
    'W^Q x'
    """

    def __init__(self) -> None:
        super().__init__(Text.whole(""), KEPT)

    def expanded(self, source: Text) -> Text:
        """The source of a formula without macros, labels and comments."""
        if "\\" not in source.string and "%" not in source.string:
            return source.stripped()
        self._source = tokens(source)
        said = (token for token in iter(self.next, None) if token.string[0] != "%")
        return joined(said).stripped()


# -- blocks ------------------------------------------------------------------------------


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
_MARKS = re.compile("|".join(sorted(map(re.escape, MARKS), key=len, reverse=True)))
_INTERTEXT = ("\\intertext", "\\shortintertext")


class LatexReader:
    """Reads a source; :meth:`contents` is what it found."""

    def __init__(self, source: Text) -> None:
        self._source = source
        self._stream = Stream(source, KEPT)
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
            token = token.sub(_MARKS, lambda mark: MARKS[mark[0]])
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
        self._stream.take("*")
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
        elif string in HEADINGS:
            self._end_table()
            level = HEADINGS[string]
            self._argument(lambda: self._flush("heading", level))
        elif string in ("\\\\", "\\tabularnewline", "\\newline"):
            self._end_line(token)
        elif string == "\\par":
            self._break(token)
        elif string == "\\item":
            self._break(token)
            label = self._stream.group("[", "]")
            self._stream.push([*inside(label), Text.at(" ", token.span())] if label else [])
        elif string in CODE:
            self._kind("code")
        elif string in APART:
            self._aside(self._say_apart)
        elif string == "\\title":
            self._aside(self._say_title)
        elif string == "\\ensuremath":
            mark = Text.at("$", token.span())
            self._stream.push([mark, *inside(self._stream.argument()), mark])
        elif string == "\\multicolumn":
            self._span()
        elif string in RULES:
            if self._table is not None:
                self._table.rule()
        elif string in FILES:
            name = "".join(map(str, inside(self._stream.argument())))
            self._notes.append(f"{string}{{{name[:60]}}} is not followed")
        elif string in ACCENTS:
            self._accent(token)
        elif string.startswith(("\\verb", "\\lstinline", "\\mintinline")):
            self._here.add(shown(token)[0], "code")
        elif string in SYMBOLS:
            self._say(SYMBOLS[string], token)
            self._swallows = string[1].isalpha()
        else:
            self._swallows = string[-1:].isalpha()
            self._drop_options()

    def _drop_options(self) -> None:
        if bracket := self._stream.take("["):
            self._stream.push(bracket)
            self._stream.group("[", "]")
            self._swallows = False

    def _accent(self, token: Text) -> None:
        letters = inside(self._stream.argument())
        letter = letters[0].string if letters else ""
        letter = {"\\i": "i", "\\j": "j"}.get(letter, SYMBOLS.get(letter, letter))
        if not letter or letter[0] == "\\":
            self._stream.push(letters)
            return
        span = token.span().to(letters[0].span())
        self._here.add(
            Text.at(unicodedata.normalize("NFC", letter[0] + ACCENTS[token.string]), span)
        )
        self._swallows = len(letters[0]) > 1 and letters[0].string[0] == "\\"
        rest = letters[1:] if self._swallows else (letters[0][1:], *letters[1:])
        self._stream.push([piece for piece in rest if piece.string])

    # -- environments -----------------------------------------------------------------

    def _environment(self, token: Text, name: str, *, begins: bool) -> None:
        base = name.rstrip("*")
        if base in TABLES:
            self._tabular(base, token, begins=begins)
        elif not begins:
            self._break(token)
        elif base in DISPLAYS:
            if base in WITH_ARGUMENT:
                self._stream.argument()
            self._formula(f"\\end{{{name}}}", is_display=base != "math")
        elif base in INNER:
            text, _ = self._formula_to(f"\\end{{{name}}}", opening=token)
            self._add_formula(text, is_display=True)
        elif base in SKIPPED:
            self._skip(name)
        elif name == "document":
            self._begin()
        elif base in TITLED:
            self._break(token)
            level = TITLED[base]
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
        is_display = bool(self._stream.take("$"))
        self._formula("$", is_display=is_display)
        if is_display:
            self._stream.take("$")

    def _formula_to(
        self, end: str, others: Sequence[str] = (), opening: Text | None = None
    ) -> tuple[Text, str]:
        """The source of a formula up to its end, and what ended it: ``end`` or one of
        ``others``, which are taken from the stream; or '' for one that isn't closed.

        ``opening``, if there is one, is part of the formula, and so is its end then.
        ``$`` and ``\\)`` may be missing in what is broken: their formula ends with its
        paragraph. An environment ends before the next heading, if not sooner.
        """
        tokens: list[Text] = [opening] if opening else []
        last, depth = "", 0
        begin = end.replace("\\end", "\\begin") if end.startswith("\\end") else ""
        while (token := self._stream.next()) is not None:
            string = token.string
            if string in HEADINGS or string == "\\end{document}":
                self._stream.push([token])
                break
            if not begin and is_paragraph(token):
                self._stream.push([token])
                break
            if string == end and depth <= 0:
                last = string
                tokens += [token] if opening else []
                break
            if string in others:
                last = string
                break
            if string[0] == "%":
                self._note(token)
                continue
            if string == "\\ensuremath":
                self._stream.push(inside(self._stream.argument()))
                continue
            if begin:
                depth += (string == begin) - (string == end)
            elif end == "$":
                depth += (string == "{") - (string == "}")
            tokens.append(token)
        return joined(tokens).stripped(), last

    def _formula(self, end: str, *, is_display: bool) -> None:
        """Read a formula up to its end; words between its lines cut it in two."""
        text, last = self._formula_to(end, _INTERTEXT)
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
            for _ in range(TABLES[name]):
                self._stream.argument()
            if self._table is not None:
                self._table.nested += 1
            else:
                self._flush()
                self._table = _LatexTable(len(self._groups))
        elif self._table is not None and self._table.nested:
            self._table.nested -= 1
            self._say(" ", token)
        elif self._table is not None:
            self._end_table()

    def _end_cell(self, token: Text) -> bool:
        """A mark between cells; inside of a group it is none. Return whether it is one."""
        table = self._table
        if table is None or table.nested or len(self._groups) != table.depth:
            self._say(" ", token)
            return False
        table.end(self._here.end())
        return True

    def _end_line(self, token: Text) -> None:
        self._stream.take("*")
        self._drop_options()
        if self._table is None:
            self._say("\n", token)
        elif self._end_cell(token):
            self._table.line()

    def _end_table(self) -> None:
        """The table ends, if there is one, and so does what stands beside it."""
        if self._table is not None:
            self._end_groups(self._table.depth)
            self._table.end(self._here.end())
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


def read(source: Text) -> Contents:
    """The blocks of a LaTeX source, its title, and what was left out.

    >>> contents = read(Text.whole(r"\\title{Attention} So $\\alpha = 1$."))
    >>> contents.title, [str(part.text) for part in contents.blocks[0].parts]
    ('Attention', ['So ', '\\\\alpha = 1', '.'])
    """
    return LatexReader(source).contents()
