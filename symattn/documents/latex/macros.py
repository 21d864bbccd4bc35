"""Macros of LaTeX: read where they are defined, expanded where they are called.

Every character of an expansion keeps its place: those of an argument their own,
those of the body that of the whole call.

The sources of formulas, gathered from a stream of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from symattn.documents.latex.tokens import HEADINGS, KEPT, is_paragraph, tokens
from symattn.documents.text import Span, Text
from symattn.limits import MACROS

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
    """What a command stands for. ``default`` is that of its first argument;
    a ``meant`` macro is a command that was given another name."""

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
        """Whether a group is next; its brace is taken then."""
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
        """What ``[2][x]`` says: the signature, and the default of the first argument."""
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
        """Where macros were no longer expanded, because they wrote too much."""
        return self._stream.stopped

    def expanded(self, source: Text) -> Text:
        """The source of a formula without macros, labels and comments."""
        if "\\" not in source.string and "%" not in source.string:
            return source.stripped()
        self._stream.follow(source)
        tokens = [token for token in iter(self._stream.next, None) if token.string[0] != "%"]
        return joined(tokens).stripped()
