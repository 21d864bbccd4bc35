r"""Words beside formulas, and what they say: nothing, if all of them are known to.

A formula is read where all that stands around it is accounted for: words of one table, numbers of
what is referred to, names behind "of" and the like. Who meets anything else does not know what it
makes of the formula, and says so. Words alone are words as long as they state no formula.

>>> wording = Wording({"A", "S"})
>>> wording.strange("so by the definition of A, \0 holds"), wording.strange("never \0")
('', 'never')
>>> wording.states("A is the output"), wording.states("A is the softmax of S")
(False, True)
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

from symattn.calculus.names import head
from symattn.calculus.new_names import LOSSES
from symattn.calculus.notation import functions
from symattn.spelling import GREEK
from symattn.spelling import words as vocabulary

# -- signs and words that relate two sides of a formula ------------------------------------

#: Signs of mathematics that relate nothing; all others of their kind do.
_NO_RELATIONS = "∀∂∃∅∆∇∈∉∎∏∑−∓∕∖∗∘∙√∛∜∞∧∨∩∪∫⊕⊖⊗⊘⊙⊤⋅⋆⋮⋯⋱∴⟨⟩"
_RELATIONS = "".join(
    chr(code)
    for first, last in ((0x2190, 0x2300), (0x27F0, 0x2800), (0x2900, 0x2980), (0x2A66, 0x2B00))
    for code in range(first, last)
    if chr(code) not in _NO_RELATIONS
)
#: Signs and words that relate two sides; whatever has one is no mere prose.
RELATION = re.compile(
    rf"===|:=|=:|[<>!=~]=|(?<=\s)~(?=\s)|<?=>|<?->|[=<>＝﹦꞊＜＞{re.escape(_RELATIONS)}]"
    r"|\\(?:approx|equiv|leq?|geq?|lt|gt|neq?|to|sim|simeq|cong|doteq|propto|coloneqq|triangleq"
    r"|Rightarrow|implies|iff|rightarrow|longrightarrow|mapsto|leqslant|geqslant)(?![A-Za-z])"
    r"|\b(?:equals?|equal to|equalling|identical (?:to|with)|(?:the )?same as|coincides with"
    r"|(?:less|greater|smaller|larger|more) than|at (?:most|least)|exceeds|vanish(?:es)?)\b",
    re.IGNORECASE,
)
#: Ways to say that two sides are equal, and that a name is defined; other relations are none.
EQUALITY = re.compile(
    r"===?|=|≡|\\equiv(?![A-Za-z])"
    r"|\b(?:is |are )?(?:equals?(?: to)?|identical (?:to|with)|the same as)(?!\w)"
)
DEFINITION = re.compile(r":=|≔|≜|\\(?:coloneqq|triangleq)(?![A-Za-z])")


def related(text: str) -> bool:
    """Return whether words or a formula relate something to something.

    >>> related("A equals B"), related("A of B")
    (True, False)
    """
    return RELATION.search(text) is not None


def begins(text: str) -> bool:
    """Return whether a text begins with a relation."""
    return RELATION.match(text.lstrip()) is not None


# -- words beside formulas ---------------------------------------------------------------

_LISTED = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
_WORDS = {kind: vocabulary(listed) for kind, listed in _LISTED.items()}
"""Long lists of words, by what the words say beside a formula; the file says what each holds."""
_DESCRIBING, _MEASURES = _WORDS["describing"], _WORDS["measures"]
_KINDS, _ROLES, _TELLING = _WORDS["kinds"], _WORDS["roles"], _WORDS["telling"]
_JOINING = _WORDS["joining"]
_VERBS = _JOINING | _WORDS["verbs"]
#: What takes for granted what stands behind it.
_ASSUMING = vocabulary("assume assuming suppose supposing where")
_ASSUMED = re.compile(
    r"\b(assume|assuming|suppose|supposing|where)[,:]?"
    r"(?:\s+(?:that|further|also|now|moreover|furthermore|in|addition)\b,?)*\s*\Z",
    re.IGNORECASE,
)
#: What stands beside a formula that is concluded, or claimed, and beside one that defines.
_CONCLUDING = re.compile(
    r"\b(?:so(?! (?:is|are|that|far)\b)|hence|then|thus|therefore|consequently|accordingly|follows?"
    r"|conclude\w*|claim\w*|theorem|lemma|proposition|corollary|prove\w*|proof|show\w*|verif\w+"
    r"|impl(?:y|ies)|get|obtain\w*|gives?|yields?|finds?|since|because|(?<!given )by|using|from"
    r"|rule|qed|arrives?|remains|collecting|applying|finally|total|results?|resulting|answer"
    r"|solution|daher|damit|somit|folglich|folgt|gilt|behauptung|beweis|zeig\w*|ergibt|wegen|nach"
    r"|lösung|antwort|erhalten|donc|alors|ainsi|obtient|preuve|car|réponse)\b|\bq\.\s*e\.\s*d\b"
    r"|=>|[⇒⟹∴]|\\(?:Rightarrow|implies|therefore)\b",
    re.IGNORECASE,
)
_DEFINING = re.compile(
    r"\b(?:let|define\w*|definition|set|put|denote\w*|write|call|sei\w*|setze"
    r"|definier\w*|soit|posons)\b",
    re.IGNORECASE,
)
#: Where another sentence begins.
_SENTENCES = re.compile(r"(?<!\.\w)[.!?]\W*\s(?=\W*(?:[A-Z]|\0))")


def concluded(
    around: str, formula: str, formulas: Sequence[str] = (), defines: bool = False
) -> str:
    """The word that makes a claim of an equation among others on a line; '' where there is none.
    What only follows may be defined, a quantity such as a gradient is none to be defined.

    >>> concluded("The gradient is g = y", "g = y"), concluded("Hence let x = y", "x = y")
    ('gradient', '')
    """
    text = around.replace(formula, "\0")
    for other in formulas:
        text = text.replace(other, " ")
    follows = None if defines or _DEFINING.search(text) else _CONCLUDING.search(text)
    beside = " ".join(part for part in _SENTENCES.split(text) if "\0" in part)
    words = (word for word in re.findall(r"[^\W\d_]+", beside) if word.lower() in _MEASURES)
    return next(words, follows[0] if follows else "")


#: Behind these a formula is taken for something else than a line of its own.
_BINDING = vocabulary("of for at in on to into a an any each every all such pour für")
#: Words behind which a name stands that says nothing of a formula.
_TAKING = vocabulary(
    "of nach all each every any row column index indices entry von aller jede de tout"
)
_ARTICLES = vocabulary("the a an our its")
_BETWEEN = _ARTICLES | _WORDS["between"]
#: Of what something is said besides names, and what names the place of what is said.
_SUBJECTS = _MEASURES | {"loss", "answer", "result", "solution"}
_LINKS = (_TAKING | _BINDING) - {"a", "an", "of"}
#: Words that leave a formula what it is, wherever they stand beside it.
_NEUTRAL = (_TAKING | _KINDS | _BINDING | _BETWEEN | _ROLES | _VERBS) - _TELLING
_NEUTRAL |= _WORDS["leading"] | _WORDS["working"] | _WORDS["spoken"]
_NEUTRAL |= _WORDS["german"] | _WORDS["french"]
_SYMMETRIC = vocabulary("symmetric cyclic linear")
_NAME = r"[$`]?(?P<name>\w+(?:\(\w+\))?)[$`]?"
_SUMMED = re.compile(
    r"\b(?:the |all |each |every |a )*"
    rf"(?P<of>entries|elements|components|rows?|columns?) of {_NAME}"
    r"(?: all| each| always)? (?:sums?|adds?)(?: up)? to \$?(?P<end>one|zero|\d+)\$?(?!\.?\w)",
    re.IGNORECASE,
)
_TURNED = re.compile(rf"{_NAME} is symmetric\b")
_SUMS = {"r": "rowsum", "c": "colsum"}
#: Of what, and in what, there is a gradient by these words; and what is a function of what.
_SLOPE = re.compile(
    rf"\b(?:gradient|derivative) of (?:(?P<loss>the loss)|{_NAME}),?"
    r" (?:with respect to|w\.?r\.?t\.?) [$`]?(?P<by>\w+)[$`]?[ ,]*(?:is|are|reads|equals)?[ :,]*\Z",
    re.IGNORECASE,
)
_VALUE = re.compile(rf"\b(?P<function>[a-z]+) of {_NAME} (?:is|equals|reads)[ :]*\Z", re.IGNORECASE)
_CALLED = {"variance": "var", "deviation": "std", "average": "mean"}
#: Functions that are called so in words, too.
_NOUNS = vocabulary("mean norm entropy")
#: Words behind which it is told what a name is: "where A is the output".
_OPENING = vocabulary("where and let here")
_NUMERALS = vocabulary(
    "one zero two three four five six seven eight nine ten null zwei drei vier fünf deux trois"
)
_MARK = r"(?:\d{1,3}(?:\.\d{1,3})*[a-z]?|[A-Za-z]|[ivx]{1,5})"
_PIECE = re.compile(
    rf"""\s*(?:(?P<formula>\0)|\x01(?P<quote>[^\x01]*)\x01
    |(?P<reference>(?:(?:line|step|part|claim|lemma|theorem|proposition|corollary|exercise|problem
      |question|task|section|chapter|page|figure|table|rule|remark|equation|identity)s?|eqs?\.?
      |Aufgabe|Zeile|Gleichung|Schritt)\s*(?:\d{{1,3}}(?:\.\d{{1,3}})*[a-z]?|\({_MARK}\)
      |[A-Za-z](?=[.:)]))(?:\s?\([a-z]\))?(?!\w)|(?:by|from|using|in|see)\s\(\d{{1,3}}[a-z]?\))
    |(?P<phrase>(?:chain|product|quotient|power|sum)\s+rule|least\s+squares
      |matrix\s+product|(?:definition|proof|because|view|means|use)\s+of|in\s+all|after\s+all
      |(?:due|according|thanks|leads?|back|equivalent|respect)\s+to|(?:sum(?:ming)?|sums)\s+over
      |(?:add|sum)s?(?:\s+up)?\s+to\s+(?:one|1)|at\s+once|of\s+course|as\s+expected|arrives?\s+at)\b
    |\((?P<aside>[^()\[\]]*)\)(?!\w)|\[(?P<square>[^()\[\]]*)\](?!\w)
    |(?P<call>[a-z_]+\([A-Za-z]\w*\))(?!\w)|(?P<word>(?:[^\W\d_]\.)+[^\W\d_]\b\.?|[^\W\d_]+(?:['’-][^\W\d_]+)*)(?![\w(\[^_'’{{}}*+/=@-])
    |(?P<mark>[.,;:…]+)|(?P<strange>[^\s\0\x01]+))""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(r"`+([^`]+)`+|\$\$?([^$]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]")
#: A sign that prose does not have; a dash or a slash between two names is one too.
_SIGN = re.compile(r"[^\w\s\x01.,;:!?'\"()\[\]“”„‘’«»…%#•/–—-]")
_DASHED = re.compile(r"(\S+?)\s*([-–—/])\s*(?=(\S+))")
_OPERATORS = re.compile(
    r"\b(?:plus|minus|times|over|divided by|multiplied by|added to|squared|cubed|transposed?)\b"
)


class _Token(NamedTuple):
    """A piece of what stands around formulas, and where."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def plain(self) -> str:
        """The text as it is looked up."""
        return self.text.lower()


#: What ends what is said of something; what stands where there is nothing.
_ENDS = ("mark", "formula")
_NONE = _Token("", "", 0, 0)


def _clause(behind: Sequence[_Token]) -> Iterator[_Token]:
    """The words up to a mark or a formula."""
    return takewhile(lambda token: token.kind not in _ENDS, behind)


def is_quoted(text: str) -> bool:
    """Return whether formulas stand between quotes in a line."""
    return _QUOTED.search(text) is not None


def quoted(text: str) -> list[tuple[str, int, int]]:
    """The formulas that stand between quotes in a line, and where."""
    return [(_formula(part), *part.span()) for part in _QUOTED.finditer(text)]


def _formula(quote: re.Match[str]) -> str:
    return next(group for group in quote.groups() if group is not None).strip()


def unquoted(text: str) -> str:
    """A line without quotes around its formulas."""
    return _replaced(text, lambda formula: f" {formula} ")


def framed(text: str) -> str:
    r"""A line with ``\0`` for each quoted formula that relates sides, ``\1`` around others."""
    return _replaced(text, lambda formula: "\0" if related(formula) else f"\1{formula}\1")


def _replaced(text: str, put: Callable[[str], str]) -> str:
    return _QUOTED.sub(lambda quote: put(_formula(quote)), text)


def assumed(before: str) -> str:
    """The word by which what stands behind these words is assumed; '' if it is not."""
    match = _ASSUMED.search(before)
    return match[1].lower() if match else ""


#: Words that right before a formula may be an operation on what it begins with.
_OPERATIONS = vocabulary("variance derivative deviation partial average")
#: So many letters side by side may be a product of names.
_SHORT = 4


@dataclass
class Wording:
    """Tells words from formulas by the names of a text."""

    names: set[str] = field(default_factory=set)
    sizes: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    """What is quoted and was read as what something is: ``z \\in R^n``."""

    # -- what stands beside formulas -------------------------------------------------------

    def strange(self, around: str) -> str:
        r"""Return what of the words around formulas, each ``\0``, is not known to say nothing."""
        tokens = self._tokens(around)
        for place, token in enumerate(tokens):
            if not self._fits(tokens, place):
                beside = tokens[place - 1] if token.kind == "formula" else token
                return beside.text.strip("\1")
        return self.stated(around)

    def lead(self, text: str) -> int:
        """Return how far what stands before a formula goes, that says nothing of it."""
        relation = RELATION.search(text)
        end = relation.start() if relation else len(text)
        tokens = self._tokens(text[:end])
        length = 0
        for place, token in enumerate(tokens):
            if self._leads(tokens[:place][-2:]) and not begins(text[token.start :]):
                length = token.start
            if not self._fits(tokens, place):
                break
        return length

    def reason(self, text: str) -> int:
        """Return where what stands behind a formula begins that says nothing of it."""
        start = max((match.end() for match in RELATION.finditer(text)), default=0)
        tokens = self._tokens(text[start:])
        place = len(tokens)
        while place and self._fits(tokens, place - 1) and tokens[place - 1].kind != "formula":
            place -= 1
        while place < len(tokens) and not self._may_end(tokens[place]):
            place += 1
        return start + tokens[place].start if place < len(tokens) else len(text)

    def _tokens(self, text: str) -> list[_Token]:
        tokens, at = [], 0
        while match := _PIECE.match(text, at):
            kind = str(match.lastgroup)
            piece = match[kind]
            if kind == "word":
                kind = self._kind(piece)
            elif kind in ("aside", "square"):
                is_worded = "\0" in piece or re.search(r"[^\W\d_]{2}", piece)
                kind = "aside" if is_worded and not self.strange(piece) else "strange"
            elif kind == "call":
                function, _, named = piece[:-1].partition("(")
                is_name = function in functions() and self.is_known(named)
                kind = "name" if is_name else "strange"
            elif kind == "quote":
                kind = "name" if self._is_bare(piece) else "strange"
                kind = "mark" if piece in self.given else kind
                piece = f"\1{piece}\1"
            start = match.end() - len(match[0].lstrip())
            tokens.append(_Token(kind, piece, start, match.end()))
            at = match.end()
        return tokens

    def _kind(self, word: str) -> str:
        plain = word.lower()
        if plain in _ASSUMING:
            return "word"
        if self.is_known(word):
            return "name"
        if word in functions():
            return "function"
        if self._is_product(word):
            return "strange"
        if plain in _NEUTRAL or all(part in _NEUTRAL for part in re.split("[-’']", plain)):
            return "word"
        if plain in _DESCRIBING:
            return "describing"
        return "letter" if len(word) == 1 and word.islower() else "strange"

    def _is_bare(self, quote: str) -> bool:
        """Return whether what is quoted is but a name of the text, or an index."""
        names = head(quote)
        return names is not None and (
            self.is_known(names[0])
            or self.is_known("_".join((names[0], *names[1])))
            or (len(names[0]) == 1 and names[0] in "ijkl" and not names[1])
        )

    def _is_product(self, word: str) -> bool:
        """Return whether a short word is made of names of the text: ``AB`` may be a product."""
        if len(word) > _SHORT:
            return False
        cuts = range(1, len(word))
        return any(
            word[:cut] in self.names and (word[cut:] in self.names or self._is_product(word[cut:]))
            for cut in cuts
        )

    def is_known(self, word: str) -> bool:
        """Return whether a word is a name of the text, or the gradient in one."""
        return not self.names.isdisjoint({word, word.removeprefix("d")}) or word in self.sizes

    def _fits(self, tokens: Sequence[_Token], place: int) -> bool:
        """Return whether a piece is accounted for by what it is, and by what stands beside it."""
        kind, text, _, _ = tokens[place]
        before = tokens[place - 1] if place else _NONE
        behind = tokens[place + 1] if place + 1 < len(tokens) else _NONE
        match kind:
            case "word" | "mark" | "phrase" | "aside" | "reference":
                return True
            case "formula":
                if place > 1 and before.kind == "function":
                    # "the mean $m = ...$"
                    return before.text in _NOUNS and tokens[place - 2].plain == "the"
                return place == 0 or self._leads(tokens[max(0, place - 2) : place])
            case "describing":
                return {before.kind, behind.kind} <= {"word", "phrase", "describing", "function"}
            case "function":
                if before.kind in ("", "formula"):
                    return place == 0 and behind.kind == "word"
                return behind.kind in ("", "word", "mark", "phrase", "describing", "formula")
            case "name" | "letter":
                if behind.kind in ("formula", "strange", "name", "function"):
                    return False
                if before.kind in ("", "mark") or before.plain in _OPENING:
                    # "where A is the output"
                    is_told = [other.kind for other in tokens[place + 2 : place + 3]] == ["word"]
                    if is_told and behind.plain in {*_JOINING, "the"}:
                        return True
                if place == 0 or (place > 1 and tokens[place - 2].kind == "formula"):
                    return False
                first = place
                while first > 1 and tokens[first - 1].plain == "and":
                    first -= 2
                if first < place:
                    return tokens[first].kind == kind and self._fits(tokens, first)
                takes = _TAKING | _KINDS if text[0] == "\1" else _TAKING
                return before.kind == "phrase" or before.plain in takes
        return False

    def _leads(self, before: Sequence[_Token]) -> bool:
        """Return whether what stands right before a formula leaves it a line of its own."""
        if not before:
            return True
        kind, text, _, _ = before[-1]
        if kind == "word":
            return len(text) > 1 and text.lower() not in _BINDING | _OPERATIONS
        return kind in ("mark", "formula", "phrase")

    def _may_end(self, token: _Token) -> bool:
        """Return whether a piece may begin what stands behind a formula."""
        is_word = token.kind == "word" and len(token.text) > 1
        is_word = is_word and token.plain not in ("of", "to", "into")
        return is_word or token.kind in ("aside", "phrase")

    # -- words alone -----------------------------------------------------------------------

    def states(self, text: str) -> bool:
        """Return whether words say something of formulas: ``rowsum(A) turns out to be 1``."""
        if re.fullmatch(r"\|\s.*\s\|", text):
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            return any(self.is_quantity(cell) or self.states(cell) for cell in cells)
        plain = re.sub(r"(?<!\w)(\*|_)(?=\w)(.+?)\1(?!\w)", r"\2", text).rstrip(" .")
        if not all(map(self._is_nameable, (formula for formula, _, _ in quoted(plain)))):
            return True
        plain = _replaced(plain, lambda quote: "" if quote in self.given else f"\1{quote}\1")
        if _SIGN.search(plain) or any(map(_is_sign, {*plain})):
            return True
        dashed = _DASHED.finditer(plain)
        if any(
            self._names(part[1]) and self._names(part[3])
            and (self._is_of(part[1]) or self._is_of(part[3]))
            for part in dashed
        ):  # fmt: skip
            return True
        if any(
            factor and self.is_known(factor[1])
            for factor in map(re.compile(r"\d+([^\W\d]\w*)\W*").fullmatch, plain.split())
        ):
            return True
        return bool(self.stated(plain))

    def stated(self, around: str) -> str:
        r"""The word by which words say something of names that are known, but for formulas, each
        ``\0``; '' where they say nothing.

        >>> wording = Wording({"p", "L"})
        >>> wording.stated("so p decreases"), wording.stated("p is \0"), wording.stated("of p, so")
        ('decreases', '', '')
        """
        tokens = self._tokens(around)
        for place, token in enumerate(tokens):
            inner = token.text if token.kind == "aside" else ""
            if said := (inner and self.stated(inner)) or self._said(tokens, place):
                return said
        return ""

    def _said(self, tokens: Sequence[_Token], place: int) -> str:
        """The word by which something is said of what stands at a place, or what it leads to."""
        token, rest = tokens[place], tokens[place + 1 :]
        name, is_name = token.text.strip("\1"), token.kind == "name"
        if token.kind == "word" and token.plain in _JOINING and self._is_told(tokens, place):
            return token.text
        if not is_name and name.lower() not in _SUBJECTS:
            return ""
        if rest and rest[0].text == ":":
            return ":" if rest[1:] and rest[1].kind in ("name", "strange", "function") else ""
        is_loose = token.text not in self.sizes and name.lower() not in _NEUTRAL
        if rest and rest[0].text == ",":
            # "A, the output, decreases"
            commas = [at for at, other in enumerate(rest) if other.text == ","]
            is_loose, rest = False, rest[commas[:2][-1] + 1 :]
        # An unknown word is a verb behind a name; behind a noun it ends as one.
        endings = ("s",) if not is_name else ("",) if is_loose else ()
        verb, *behind = [*dropwhile(lambda other: other.plain in _BETWEEN, rest)] or [_NONE]
        is_unknown = verb.kind == "strange" and verb.text.isalpha()
        is_sum = verb.kind == "phrase" and re.match("add|sum", verb.text)
        if not (verb.plain in _VERBS or is_sum or (is_unknown and verb.text.endswith(endings))):
            return ""
        behind = [*dropwhile(lambda other: other.plain in _BETWEEN - _ARTICLES, behind)]
        if verb.plain in _JOINING and (not behind or behind[0].kind in _ENDS):
            return ""
        is_call = name in self.names and self._is_role(behind)
        return verb.text if (not is_call if is_name else self._tells(behind)) else ""

    def _is_role(self, behind: Sequence[_Token]) -> bool:
        """Tell whether words only call a name something: ``the output of A``."""
        before = ""
        for token in _clause(behind):
            is_of = before in _ROLES and 0 < len(before) < 5
            if token.plain not in _ROLES if token.kind != "name" else not is_of:
                return False
            before = token.plain
        return bool(behind) and behind[0].plain in _ARTICLES

    def _is_told(self, tokens: Sequence[_Token], place: int) -> bool:
        """Tell whether what stands behind a verb is a name, or a number, and no formula."""
        rest = tokens[place + 1 :]
        if place and tokens[place - 1].kind == "name" and self._is_role(rest):
            return False
        behind = [*takewhile(lambda x: x.kind != "phrase" and x.plain not in _LINKS, _clause(rest))]
        last = behind[-1].plain if behind else ""
        is_named = any(
            token.kind == "name" and (token is behind[-1] or token.plain not in _NEUTRAL)
            for token in behind
        )
        return is_named or last[:1].isdigit() or last in _NUMERALS

    def _tells(self, behind: Sequence[_Token]) -> bool:
        """Tell whether words say something: of names, numbers, or in words that are not known."""
        return any(
            token.kind in ("name", "strange", "function") or token.plain in _SYMMETRIC | _NUMERALS
            for token in _clause(behind)
        )

    # -- words that are formulas -----------------------------------------------------------

    def spelled_out(self, text: str) -> str:
        """A line with formulas for the sentences in it that say one: of sums, and symmetry.

        >>> Wording({"A"}).spelled_out("Each row of A sums to one:")
        '$rowsum(A) = 1$:'
        """

        def summed(match: re.Match[str]) -> str:
            end = {"one": "1", "zero": "0"}.get(match["end"].lower(), match["end"])
            total = f"{_SUMS.get(match['of'][0].lower(), 'sum')}({match['name']})"
            return f"${total} = {end}$" if self._is_of(match["name"]) else match[0]

        def turned(match: re.Match[str]) -> str:
            name = match["name"]
            return f"${name}.T = {name}$" if self._is_of(name) else match[0]

        return _TURNED.sub(turned, _SUMMED.sub(summed, text))

    def quantity(self, before: str) -> str:
        """The formula of what words before an equation say that it is of: a gradient, or a
        function; '' where that can't be told.

        >>> Wording({"L", "z"}).quantity("The gradient of the loss with respect to z is")
        'diff(L, z)'
        """
        if match := _SLOPE.search(before):
            losses = [name for name in LOSSES if name in self.names]
            of = match["name"] or (losses[0] if len(losses) == 1 else "")
            return f"diff({of}, {match['by']})" if {of, match["by"]} <= self.names else ""
        if match := _VALUE.search(before):
            function = _CALLED.get(match["function"].lower(), match["function"].lower())
            if function in functions() and match["name"] in self.names:
                return f"{function}({match['name']})"
        return ""

    def _is_nameable(self, quote: str) -> bool:
        """Return whether what is quoted among words is a name, known or not, or a form of one."""
        if quote in self.given:
            return True
        return self._is_bare(quote) or quote.removeprefix("\\") in GREEK or bool(
            re.fullmatch(
                r"[A-Za-z]+(?:_\w+)?|\\math\w+\{\w+\}|[Α-ωℝℕ]|[a-z]+\([A-Za-z, ]*\)", quote
            )
        )  # fmt: skip

    def _is_of(self, chunk: str) -> bool:
        """Return whether a name of the text or a function of one stands in a piece of a line."""
        words = re.findall(r"[^\W\d_]+", chunk)
        is_call = "(" in chunk and not functions().isdisjoint(words)
        return is_call or any(map(self.is_known, words)) or "∇" in chunk

    def _names(self, chunk: str) -> bool:
        return self._is_of(chunk) or chunk.strip(".,;:").isdigit()

    def is_formula(self, text: str) -> bool:
        """Return whether a text without a relation is a formula, and no words."""
        plain = unquoted(text).strip(" .,;:")
        plain = re.sub(r"_(?:\{[^{}]*\}|\([^()]*\)|[A-Za-z]{1,3}\b)", "_", plain)
        if not re.search(r"[-+*/@^_()\[\]\\⊙∘·×√Σ∑∂−²³ᵀ0-9]", plain):
            return False
        return all(
            word in self.names
            or word in functions()
            or word.partition("_")[0] in self.names
            or all(letter in self.names for letter in word.removeprefix("d").rstrip("_"))
            for word in re.findall(r"(?<![\\\w])[A-Za-z][\w’'-]+", plain)
        ) and bool(re.search(r"\w", plain))

    def is_quantity(self, text: str) -> bool:
        """Return whether nothing but names and numbers stands in a text, and signs between them."""
        plain = _OPERATORS.sub(" ", unquoted(text))
        words = re.findall(r"[^\W_]\w*", plain)
        return bool(words) and all(
            self.is_known(word) or word.partition("_")[0] in self.names or word.isdigit()
            for word in words
        )

    def is_name(self, text: str) -> bool:
        """Return whether a text is a name that means something, or a number."""
        plain = unquoted(text).strip(" .,;:")
        names = head(plain)
        return plain.isdigit() or (names is not None and self.is_known(names[0]))


def _is_sign(character: str) -> bool:
    """Return whether a letter looks like a sign."""
    if character.isascii():
        return False
    return any(sign in unicodedata.name(character, "") for sign in ("PLUS", "MINUS", "EQUAL"))
