r"""The words of notation: what LaTeX and Unicode write, and what it means.

Tables only. A command that is in none of them makes its member opaque.
"""

from __future__ import annotations

from collections.abc import Mapping

from symattn.documents import environments
from symattn.spelling import GREEK, SUPERSCRIPTS, words


def _spelt(meanings: Mapping[str, str]) -> dict[str, str]:
    """By each of the ways to write them what signs mean."""
    return {sign: meaning for meaning, signs in meanings.items() for sign in signs.split()}


#: Greek letters of Unicode, and what they are called; capitals begin with one.
LETTERS: dict[str, str] = {
    **{sign: name for name, sign in GREEK.items()},
    **{sign.upper(): name.capitalize() for name, sign in GREEK.items() if sign not in "σο"},
    "ϵ": "epsilon",
    "ϕ": "phi",
    "ϑ": "theta",
    "ς": "sigma",
    "ℓ": "ell",
}
#: Commands that are letters, and how they are written in plain ones.
LETTER_COMMANDS: dict[str, str] = {
    **{rf"\{name}": name for name in GREEK},
    **{rf"\{name.capitalize()}": name.capitalize() for name in GREEK},
    **{rf"\var{name}": name for name in ("epsilon", "theta", "phi", "rho", "sigma", "kappa", "pi")},
    r"\ell": "ell",
    r"\hbar": "hbar",
    r"\imath": "i",
    r"\jmath": "j",
}

#: Accents, and what they add to a name; '' where they only dress it.
ACCENTS = _spelt(
    {
        "hat": r"\hat \widehat",
        "tilde": r"\tilde \widetilde",
        "bar": r"\bar \overline",
        "dot": r"\dot",
        "ddot": r"\ddot",
        "check": r"\check",
        "breve": r"\breve",
        "": r"\vec \overrightarrow",
    }
)
#: The same as characters that combine with the letter before them.
COMBINING = {
    "\u0302": "hat",
    "\u0303": "tilde",
    "\u0304": "bar",
    "\u0305": "bar",
    "\u0307": "dot",
    "\u20d7": "",
}

#: Commands that say only how what follows looks.
STYLES = words(
    r"\mathbf \bm \boldsymbol \mathcal \mathbb \mathsf \mathit \mathfrak \mathscr \mathnormal"
    r" \symbf \symbfit \pmb \bold \mathbfit \mathbfsf \vb \vb* \bf \rm \it"
)
#: Commands whose argument is upright letters: a name, or words.
UPRIGHT = words(
    r"\text \mathrm \operatorname \operatorname* \mbox \textrm \textbf \textit \texttt \textsf"
    r" \textnormal \mathtt \mathop \mathord \textsc \emph \symrm \hbox \DeclareMathOperator"
)
#: Commands that mean nothing to mathematics.
IGNORED = words(
    r"\displaystyle \textstyle \scriptstyle \scriptscriptstyle \limits \nolimits \hfill \hline"
    r" \hdashline \toprule \midrule \bottomrule \nonumber \notag \allowbreak \middle \strut"
    r" \underline \mathstrut \relax \normalsize \small \footnotesize \scriptsize \large \Large"
    r" \centering \noindent \protect \ensuremath \smash \rlap \llap \mathclap \mathrlap \mathllap"
    r" \left \right \big \Big \bigg \Bigg \bigl \Bigl \biggl \Biggl \bigr \Bigr \biggr \Biggr"
    r" \bigm \Bigm \biggm \Biggm \boxed \fbox"
    r" \cancel \bcancel \xcancel \sout \mathbin \mathrel \mathopen \mathclose \mathpunct"
    r" \mathinner \mathring \vcenter \, \; \: \! \> \/ \  \thinspace \medspace \thickspace"
    r" \negthinspace \enspace \enskip \nobreakspace"
) | {"\\ ", "\\\n", "\\\t"}
#: Commands with arguments that aren't shown, and how many of those come first.
UNSHOWN = {
    **dict.fromkeys(
        words(
            r"\label \tag \tag* \hspace \hspace* \vspace \phantom \hphantom \vphantom \color"
            r" \textcolor \colorbox \class \cssId \style \href \htmlClass \htmlId \htmlStyle"
            r" \htmlData \cline \cellcolor \rowcolor"
        ),
        1,
    ),
    r"\fcolorbox": 2,
    r"\rule": 2,
    r"\mskip": 0,
}
#: Braces with a label, which stands below or above.
BRACES = words(r"\underbrace \overbrace \underbracket \overbracket")
#: Commands whose first argument stands above or below what they show.
STACKED = frozenset((r"\overset", r"\underset", r"\stackrel"))

#: Relations as links of a chain have them; a chain ends at an arrow of logic if another
#: relation follows.
_RELATIONS = _spelt(
    {
        "=": r"= ≡ ≔ := == \coloneqq \triangleq ≜ \equiv",
        "≈": r"≈ ≃ ≅ ≐ ~= \approx \simeq \cong \doteq \approxeq",
        "→": r"→ ⟶ -> ➜ ➡ ↦ --> \to \rightarrow \longrightarrow \mapsto \longmapsto \leadsto",
        "⇒": r"⇒ ⟹ => ==> ⟺ ⇔ \Rightarrow \Longrightarrow \implies \iff \Leftrightarrow"
        r" ∴ \therefore",
    }
)
#: Inequalities, as the grammar writes them.
_INEQUALITIES = _spelt(
    {
        "<": r"< \lt",
        ">": r"> \gt",
        "<=": r"<= ≤ \le \leq \leqslant",
        ">=": r">= ≥ \ge \geq \geqslant",
    }
)
#: Signs behind which a condition stands, which claims no value.
_CONDITIONS = words(
    r"\in \notin \forall \exists \sim \propto \ne \neq \subset \subseteq \ll \gg \mid \colon"
    " ∈ ∉ ∀ ∃ ∝ ≠ ⊂ ⊆ ≪ ≫"
)
#: Signs between operands: sums, quotients, and kinds of products: of anything (``·``),
#: crosses (``×``), matrix products (``@``), entry by entry (``⊙``).
_OPERATORS = _spelt(
    {
        "+": "+",
        "-": "- − – ‐ ‑",
        "/": r"/ ÷ ∕ ⁄ \div",
        "*": r"* ∗ \ast",
        "@": "@",
        "·": r"· ⋅ • ∙ \cdot \bullet",
        "×": r"× \times",
        "⊙": r"⊙ ∘ \odot \circ",
    }
)

_ELLIPSES = words(
    "⋯ … ⋮ ⋱ ..."
    r" \cdots \dots \ldots \vdots \ddots \dotsc \dotsb \dotsm \hdots"
)
#: Brackets, and those that close them.
PAIRS = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", r"\{": r"\}", "⌊": "⌋", "⌈": "⌉"}
#: Other ways to write brackets.
BRACKETS = _spelt(
    {
        "[": r"\lbrack",
        "]": r"\rbrack",
        "(": r"\lparen",
        ")": r"\rparen",
        r"\{": r"\lbrace",
        r"\}": r"\rbrace",
        "⟨": r"\langle 〈",
        "⟩": r"\rangle 〉",
        "⌊": r"\lfloor",
        "⌋": r"\rfloor",
        "⌈": r"\lceil",
        "⌉": r"\rceil",
    }
)

#: Environments that are arrays, and those that only lay equations out.
MATRICES = environments.MATRICES | {"tabular"}
LAYOUTS = (environments.FORMULAS - MATRICES) | {"subequations"}
#: Environments that have an argument before their contents.
WITH_ARGUMENT = environments.WITH_ARGUMENT | {"tabular"}

_FUNCTIONS = "exp tanh sqrt max min argmax sum diag sin cos rowsum abs sigmoid"
#: Functions by the names that documents use, and what the grammar calls them.
FUNCTIONS = _spelt(
    {
        "log": "log ln",
        "softmax": "softmax Softmax SoftMax smax",
        "concat": "concat Concat Concatenate",
        "relu": "relu ReLU",
        **{name: name for name in _FUNCTIONS.split()},
    }
)
#: Functions that take an operand without brackets.
BARE = words("exp log ln tanh sin cos")
#: Large signs that add or multiply what follows, over an index.
LARGE = {
    **dict.fromkeys((r"\sum", "Σ", "∑"), r"\sum"),
    **dict.fromkeys((r"\prod", "∏", "Π"), r"\prod"),
}

#: What is written above or behind to transpose.
TRANSPOSES = frozenset(("T", "⊤", r"\top", r"\intercal", r"\mathsf{T}", "⊺"))
#: Subscripts and superscripts of Unicode.
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-aehijklmnoprstuvx", strict=True))
RAISED = SUPERSCRIPTS | dict(
    zip("ᵀᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴷᴼᑫⱽꟴ", "TabcdefghijklmnoprstuvwxyzKOqVQ", strict=True)
)

#: Words that join formulas, and are no names in them.
JOINING = words(
    "and or where so if then with for thus hence since when otherwise because gives therefore"
    " is are the of in to as by at on it we be an no not but let have has from that this which"
    " each all i.e. e.g."
)
#: Words that a number behind them names.
COUNTED = words(
    "step row rows column columns col token tokens head heads layer layers section figure fig"
    " table example part chapter phase dim dims dimension position case equation eq block page"
    " line word index epoch iteration"
)

#: What a command or a character is, and how it is spelt where there are several ways:
#: kinds of tokens (:class:`~symattn.documents.notation.tokens.Token`).
SIGNS = {
    **{name: ("name", name) for name in (*LETTER_COMMANDS, *LETTERS)},
    **{rf"\{name}": ("name", name) for name in FUNCTIONS},
    **{sign: ("accent", sign) for sign in COMBINING},
    **{sign: ("command", name) for sign, name in LARGE.items()},
    **{sign: ("operator", meaning) for sign, meaning in _OPERATORS.items()},
    **{sign: ("relation", meaning) for sign, meaning in _RELATIONS.items()},
    **{sign: ("inequality", meaning) for sign, meaning in _INEQUALITIES.items()},
    **{sign: ("dots", sign) for sign in _ELLIPSES},
    **{sign: ("open", sign) for sign in PAIRS},
    **{sign: ("close", sign) for sign in PAIRS.values()},
    **{
        sign: ("open" if bracket in PAIRS else "close", bracket)
        for sign, bracket in BRACKETS.items()
    },
    **{sign: ("script", sign[-1]) for sign in ("_", "^", r"\_")},
    **dict.fromkeys(("'", "′", "’", r"\prime"), ("prime", "'")),
    **{sign: ("separator", sign) for sign in (",", ";")},
    **dict.fromkeys((r"\quad", r"\qquad"), ("separator", "quad")),
    **dict.fromkeys((r"\\", r"\cr", r"\newline", r"\tabularnewline"), ("row", r"\\")),
    **dict.fromkeys(("%", r"\%"), ("percent", "%")),
    **dict.fromkeys((r"\infty", "∞"), ("name", "inf")),
    **dict.fromkeys((r"\top", r"\intercal", "⊤", "⊺"), ("name", "⊤")),
    **dict.fromkeys(("√", r"\sqrt"), ("command", r"\sqrt")),
    **dict.fromkeys(("∂", r"\partial"), ("command", "∂")),
    **dict.fromkeys(("∇", r"\nabla"), ("command", "∇")),
    **{sign: ("condition", sign) for sign in _CONDITIONS},
    "&": ("cell", "&"),
    "~": ("blank", "~"),
}
