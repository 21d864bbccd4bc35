"""What commands and environments of LaTeX mean to a reader of formulas and figures."""

from __future__ import annotations

from symattn.documents.environments import FORMULAS

#: Headings and their levels.
HEADINGS = {
    "\\part": 1,
    "\\chapter": 1,
    "\\section": 2,
    "\\subsection": 3,
    "\\subsubsection": 4,
    "\\paragraph": 5,
    "\\subparagraph": 6,
    "\\frametitle": 2,
    "\\framesubtitle": 3,
}

#: Environments that begin with a heading.
TITLED = {"frame": 2, "block": 5, "exampleblock": 5, "alertblock": 5}

#: Tables, and how many arguments stand before their cells.
TABLES = {
    "tabular": 1,
    "tabular*": 2,
    "tabularx": 2,
    "tabulary": 2,
    "longtable": 1,
    "supertabular": 1,
    "tabu": 1,
    "tblr": 1,
}
RULES = {"\\hline", "\\midrule", "\\toprule", "\\bottomrule"}

#: Environments that hold no claims.
SKIPPED = {
    "tikzpicture",
    "tikzcd",
    "pgfpicture",
    "picture",
    "axis",
    "thebibliography",
    "asy",
    "CCSXML",
}

#: Commands whose argument is set as code.
CODE = {"\\texttt", "\\code", "\\path", "\\inlinecode"}
#: Commands whose argument stands apart from its paragraph.
APART = {"\\footnote", "\\caption", "\\captionof", "\\footnotetext", "\\marginpar", "\\sidenote"}
#: Files that a source asks for.
FILES = {"\\input", "\\include", "\\subfile", "\\lstinputlisting", "\\verbatiminput"}

#: Commands that stand for a character in text.
SYMBOLS = {
    "\\%": "%",
    "\\&": "&",
    "\\$": "$",
    "\\#": "#",
    "\\_": "_",
    "\\{": "{",
    "\\}": "}",
    "\\ ": " ",
    "\\\n": " ",
    "\\\r": " ",
    "\\\r\n": " ",
    "\\\t": " ",
    "\\,": "\u2009",
    "\\;": "\u2009",
    "\\:": "\u2009",
    "\\thinspace": "\u2009",
    "\\quad": " ",
    "\\qquad": " ",
    "\\space": " ",
    "\\dots": "…",
    "\\ldots": "…",
    "\\textellipsis": "…",
    "\\textendash": "–",
    "\\textemdash": "—",
    "\\textbackslash": "\\",
    "\\textasciitilde": "~",
    "\\textasciicircum": "^",
    "\\textunderscore": "_",
    "\\textless": "<",
    "\\textgreater": ">",
    "\\textbar": "|",
    "\\textrightarrow": "→",
    "\\textbullet": "•",
    "\\textdegree": "°",
    "\\texttimes": "×",
    "\\textminus": "−",
    "\\S": "§",
    "\\ss": "ß",
    "\\o": "ø",
    "\\O": "Ø",
    "\\ae": "æ",
    "\\AE": "Æ",
    "\\aa": "å",
    "\\AA": "Å",
    "\\l": "ł",
    "\\L": "Ł",
    "\\i": "ı",
    "\\j": "ȷ",
    "\\LaTeX": "LaTeX",
    "\\TeX": "TeX",
    "~": " ",
}
#: Accents, and the characters that combine with the letter before them.
ACCENTS = {
    "\\`": "\u0300",
    "\\'": "\u0301",
    "\\^": "\u0302",
    "\\~": "\u0303",
    "\\=": "\u0304",
    "\\u": "\u0306",
    "\\.": "\u0307",
    '\\"': "\u0308",
    "\\r": "\u030a",
    "\\H": "\u030b",
    "\\v": "\u030c",
    "\\d": "\u0323",
    "\\c": "\u0327",
    "\\k": "\u0328",
}
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
