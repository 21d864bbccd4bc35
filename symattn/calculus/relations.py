"""Signs and words that relate two sides of a formula.

>>> related("A equals B"), related("A of B")
(True, False)
"""

from __future__ import annotations

import re

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
    """Return whether words or a formula relate something to something."""
    return RELATION.search(text) is not None


def begins(text: str) -> bool:
    """Return whether a text begins with a relation."""
    return RELATION.match(text.lstrip()) is not None
