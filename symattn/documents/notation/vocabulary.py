"""The words of notation: what LaTeX and Unicode write, and what it means.

Tables only. A command that is in none of them makes its member opaque.

Names in plain letters: one for each way to write a quantity.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from symattn.documents import text
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
_LETTER_COMMANDS: dict[str, str] = {
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
_COMBINING = {
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
    r" \symbf \symbfit \pmb \bold \mathbfit \mathbfsf \vb \vb* \bf \rm \it \boxed \fbox"
    r" \underline \smash \ensuremath \mathclap \mathrlap \mathllap"
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
    r" \mathstrut \relax \normalsize \small \footnotesize \scriptsize \large \Large"
    r" \centering \noindent \protect \rlap \llap"
    r" \left \right \big \Big \bigg \Bigg \bigl \Bigl \biggl \Biggl \bigr \Bigr \biggr \Biggr"
    r" \bigm \Bigm \biggm \Biggm \cancel \bcancel \xcancel \sout \mathbin \mathrel \mathopen"
    r" \mathclose \mathpunct \mathinner \mathring \vcenter \, \; \: \! \> \/ \  \thinspace"
    r" \medspace \thickspace \negthinspace \enspace \enskip \nobreakspace"
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

#: Relations with their argument above them.
ARROWS = {r"\xrightarrow": "→", r"\xRightarrow": "⇒", r"\xlongequal": "="}

#: Relations as links of a chain have them; a chain ends at an arrow of logic if another
#: relation follows.
_RELATIONS = _spelt(
    {
        "=": r"= ≡ ≔ := == \coloneqq \triangleq ≜ \equiv \leftarrow \gets",
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
MATRICES = text.MATRICES | {"tabular"}
LAYOUTS = (text.FORMULAS - MATRICES) | {"subequations"}
#: Environments that have an argument before their contents.
WITH_ARGUMENT = text.WITH_ARGUMENT | {"tabular"}

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
#: Words before a number that is only about right.
ABOUT = words("about approximately approx roughly around circa ca nearly etwa rund environ")
#: Letters behind a number that multiply it by thousands, with their powers of these.
THOUSANDS = {"k": 1, "K": 1, "M": 2, "G": 3, "B": 3, "T": 4}
#: Words behind a number that multiply it, with their powers of ten.
SCALES = {
    word: power
    for power, named in {
        "3": "thousand tausend mille mil",
        "4": "万 萬",
        "6": "million millions millionen millón millones milhão milhões milioni milione",
        "8": "億 亿",
        "9": "billion billions milliarde milliarden milliard milliards miliardi",
        "12": "trillion trillions billionen",
    }.items()
    for word in words(named)
}
#: Signs of degrees before a bracket that closes.
DEGREES = {f"{sign})" for sign in words("° deg degrees ^⊙ ^{⊙}")}
#: Words that a number behind them names.
COUNTED = words(
    "step row rows column columns col token tokens head heads layer layers section figure fig"
    " table example part chapter phase dim dims dimension position case equation eq block page"
    " line word index epoch iteration"
)

#: What a command or a character is, and how it is spelt where there are several ways:
#: kinds of tokens (:class:`~symattn.documents.notation.tokens.NotationToken`).
SIGNS = {
    **{name: ("name", name) for name in (*_LETTER_COMMANDS, *LETTERS)},
    **{rf"\{name}": ("name", name) for name in FUNCTIONS},
    **{sign: ("accent", sign) for sign in _COMBINING},
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


_PIECE = re.compile(r"\\[A-Za-z]++\*?|[A-Za-z0-9]++|.", re.DOTALL)
MARKS = {**ACCENTS, **_COMBINING}
_PRIMES = frozenset(("'", "′", "’", r"\prime"))
_STARS = frozenset(("*", "∗", "⋆", r"\star", r"\ast"))


@lru_cache(maxsize=1 << 12)
def plain_name(written: str) -> str:
    r"""The plain name of a written one: ASCII letters, digits and ``_``.

    What stands below comes before what stands above. '' of what has no letter. Names
    that programs reserve are kept: who binds them renames.

    >>> [plain_name(name) for name in (r"W^{(Q)}", r"W_{\text{Q}}", r"\tilde{S}", r"\mathbf Q")]
    ['W_Q', 'W_Q', 'S_tilde', 'Q']
    >>> [plain_name(name) for name in (r"S_{\text{scaled}}", "Ŝ", "αᵢ", "Q'", r"\hat{W}_i^Q")]
    ['S_scaled', 'S_hat', 'alpha_i', 'Q_prime', 'W_hat_i_Q']
    """
    base: list[str] = []
    marks: list[str] = []
    scripts: dict[str, list[str]] = {"_": [], "^": []}
    into, depth = base, 0
    for piece in _PIECE.findall(unicodedata.normalize("NFD", written)):
        if piece in MARKS:
            marks.append(MARKS[piece])
        elif piece in scripts:
            if not depth:
                into = scripts[piece]
            into.append("_")
        elif piece in "{}":
            depth += 1 if piece == "{" else -1
        elif piece in _PRIMES:
            scripts["^"].append("_prime")
        elif piece in LOWERED:
            scripts["_"].append(LOWERED[piece])
        elif piece in RAISED:
            scripts["^"].append(RAISED[piece])
        else:
            into.append(_letters(piece))
    parts = ("".join(letters) for letters in (base, marks, scripts["_"], scripts["^"]))
    plain = [re.sub(r"[^A-Za-z0-9]++", "_", part).strip("_") for part in parts]
    name = "_".join(part for part in plain if part)
    if re.match("_[A-Za-z]", written):
        name = f"_{name}"
    return "" if name[:1].isdigit() else name


@lru_cache(maxsize=1 << 10)
def identifier(name: str) -> str:
    """The plain name of a name in a program: that of notation, and where this would lose a
    letter or a mark, one that names them, as other names keep apart.

    >>> [identifier(name) for name in ("W_Q", "σ", "Ŝ", "größe", "名")]
    ['W_Q', 'sigma', 'S_hat', 'grosze_diaeresis', 'u540d']
    """
    if name.isascii():
        return name
    letters, marks = [], []
    for piece in unicodedata.normalize("NFD", name):
        if unicodedata.combining(piece) and piece not in MARKS:
            words = unicodedata.name(piece, f"u{ord(piece):x}").split()
            marks.append(f"_{words[words[0] == 'COMBINING' and len(words) > 1].lower()}")
        elif piece in MARKS or _letters(piece).strip("_") or piece == "_":
            letters.append(piece)
        else:
            letters.append("sz" if piece == "ß" else f"u{ord(piece):x}")
    plain = plain_name("".join(letters))
    return "".join((plain or "x", *marks)).replace("-", "_")


def _letters(piece: str) -> str:
    """Return what one piece of a written name adds to the plain one."""
    if piece in _STARS:
        return "_star"
    if piece[0] == "\\":
        return _LETTER_COMMANDS.get(piece, "")
    if piece in LETTERS:
        return LETTERS[piece]
    plain = unicodedata.normalize("NFKD", piece)
    return plain if plain.isascii() else "_"


def straight(text: str) -> str:
    """A text with the letters and digits of mathematical alphabets as plain ones; as
    long as it was.

    >>> straight("𝐐 = 𝟎.𝟓")
    'Q = 0.5'
    """
    if text.isascii():
        return text
    return "".join(
        unicodedata.normalize("NFKC", sign) if "\U0001d400" <= sign <= "\U0001d7ff" else sign
        for sign in text
    )


def may_be_word(text: str) -> bool:
    """Return whether letters may be an ordinary word: not ``QK``, ``Wq``, ``d_k``."""
    return len(text) > 1 and text.isalpha() and (len(text) > 2 or text.islower())


def is_prime(string: str, at: int) -> bool:
    """Return whether an apostrophe in plain text stands on a name of one letter."""
    before = string[at - 1 : at] if at else ""
    further = string[at - 2 : at - 1] if at > 1 else " "
    after = string[at + 1 : at + 2]
    return (
        before.isupper()
        and not further.isalnum()
        and further not in "'’\""
        and (not after.isalpha() or after.isupper())
    )
