"""Macros of LaTeX: read where they are defined, expanded where they are called.

Every character of an expansion keeps its place: those of an argument their own,
those of the body that of the whole call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from symattn.documents.text import FORMULAS, Span, Text
from symattn.limits import MACROS
from symattn.spelling import pairs, words

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

    def follow(self, source: Text) -> None:
        """Go on with another source, and the macros that are known."""
        self._source = tokens(source)

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
        token = self.raw()
        if token is not None and token.string == "{":
            return True
        self.push([*space, token] if token else space)
        return False

    def star(self) -> list[Text]:
        """A star, if it is next."""
        token = self.raw()
        if token is not None and token.string == "*":
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
                    argument = self.star()
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
        self.star()
        name = self._name()
        signature, default = self._parameters()
        self.define(name, Macro(signature, inside(self.argument()), default))

    def _newenvironment(self) -> None:
        self.star()
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
        self.star()
        name, text = self._name(), self.argument()
        self.define(name, Macro("", (Text.whole("\\operatorname"), *_braced(text))))

    def _delimiters(self) -> None:
        name, left, right = self._name(), inside(self.argument()), inside(self.argument())
        self.define(name, Macro("som", (*left, Text.whole("#2"), *right)))


def inside(group: list[Text]) -> tuple[Text, ...]:
    """A group without its braces or brackets; a token alone as it is."""
    return tuple(group[1:-1] if len(group) > 1 else group)


def _braced(group: list[Text]) -> tuple[Text, ...]:
    return (Text.whole("{"), *inside(group), Text.whole("}"))


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


def formula(
    stream: Stream,
    end: str,
    note: Callable[[Text], None],
    others: Sequence[str] = (),
    opening: Text | None = None,
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
    while (token := stream.next()) is not None:
        string = token.string
        if string in HEADINGS or string == "\\end{document}":
            stream.push([token])
            break
        if not begin and is_paragraph(token):
            stream.push([token])
            break
        if string == end and depth <= 0:
            last = string
            tokens += [token] if opening else []
            break
        if string in others:
            last = string
            break
        if string[0] == "%":
            note(token)
            continue
        if string == "\\ensuremath":
            stream.push(inside(stream.argument()))
            continue
        if begin:
            depth += (string == begin) - (string == end)
        elif end == "$":
            depth += (string == "{") - (string == "}")
        tokens.append(token)
    return joined(tokens).stripped(), last


def joined(tokens: Iterable[Text]) -> Text:
    """Tokens as one text; a command doesn't run into the letter after it."""
    pieces: list[Text] = []
    for token in tokens:
        if pieces and token.string[:1].isalpha() and _WORD.match(pieces[-1].string):
            pieces.append(token.before(" "))
        pieces.append(token)
    return Text.joined(pieces)


class Macros:
    """The macros that the formulas of a page define for those behind them.

    >>> macros = Macros()
    >>> str(macros.expanded(Text.whole(r"\\newcommand{\\W}{W^Q}")))
    ''
    >>> str(macros.expanded(Text.whole(r"\\W x \\label{eq:1}")))
    'W^Q x'
    """

    def __init__(self) -> None:
        self._stream = Stream(Text.whole(""), KEPT)

    @property
    def stopped(self) -> Span | None:
        """Return where macros were no longer expanded, because they wrote too much."""
        return self._stream.stopped

    def expanded(self, source: Text) -> Text:
        """The source of a formula without macros, labels and comments."""
        if "\\" not in source.string and "%" not in source.string:
            return source.stripped()
        self._stream.follow(source)
        tokens = [token for token in iter(self._stream.next, None) if token.string[0] != "%"]
        return joined(tokens).stripped()
