"""The tokens of LaTeX: commands, marks and runs of characters, each with its place.

TeX libraries either lose places or walk by recursion; a scanner of one pattern
keeps both promises, and is what expanding macros needs: a stream to push back to.

What commands and environments of LaTeX mean to a reader of formulas and figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.documents.text import FORMULAS, Text
from symattn.spelling import pairs, words

#: Environments whose text is taken as it stands.
_VERBATIM = words(
    "verbatim verbatim* Verbatim Verbatim* BVerbatim alltt lstlisting minted pycode pyblock"
    " comment filecontents filecontents*"
)
#: Commands that define others of the kind.
_DEFINING = re.compile(
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
    verbatim = _VERBATIM.union(_DEFINING.findall(string))
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
    """Whether a token is an empty line, which ends a paragraph."""
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
    """Where code in a line ends, of which all but its marks and what is between ends at ``at``."""
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
