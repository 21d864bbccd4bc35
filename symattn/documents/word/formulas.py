r"""Office mathematics to the source that LaTeX would have, each character with its place.

An element becomes a form of LaTeX, in which its arguments stand. What is typed in a line,
``Q K^T`` or ``■(1&2@3&4)``, is LaTeX already but for its matrices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from symattn.documents.text import Span, Text
from symattn.documents.word.elements import Element
from symattn.spelling import pairs

#: What elements become: a name in angles is the argument of that name.
_FORMS = pairs(
    r"f \frac{<num>}{<den>} sSup <e>^{<sup>} sSub <e>_{<sub>} sSubSup <e>_{<sub>}^{<sup>}"
    r" sPre {}_{<sub>}^{<sup>}<e> limLow <e>_{<lim>} limUpp <e>^{<lim>} box <e>"
    r" borderBox <e> func <fName><e> rad \sqrt[<deg>]{<e>}"
)
_ARGUMENT = re.compile("<([a-zA-Z]+)>")
#: Bases of indices that take braces.
_HIGH = frozenset(("m:f", "m:nary", "m:func"))
#: What is no part of what is said.
_SKIPPED = frozenset(("w:del", "w:moveFrom", "w:rPr", "w:pPr", "m:rPr", "m:ctrlPr", "m:argPr"))
_ACCENTS = {
    "\u0302": r"\hat", "^": r"\hat", "\u0303": r"\tilde", "~": r"\tilde", "\u0304": r"\bar",
    "\u0305": r"\bar", "\u20d7": r"\vec", "\u0307": r"\dot", "\u0308": r"\ddot",
}  # fmt: skip
_BRACES = {"⏟": r"\underbrace", "⏞": r"\overbrace"}
_LARGE = pairs(r"∑ \sum ∏ \prod ∫ \int")
_FENCES = {"{": r"\{", "}": r"\}", "": ".", "‖": r"\|"}
#: What LaTeX writes otherwise, and what isn't seen.
_SIGNS = re.compile(r"[%#$&{}]|[\s\u00a0]++|[\u200b\u2060-\u2062\u2064〖〗]|\u2063")
_COMMAND = re.compile(r"\\[A-Za-z]")
_LETTERS = re.compile(r"[A-Za-z]{2,}")
#: Matrices, and lines one below the other, as they are typed.
_TYPED = re.compile(r"(?:■|█|\\matrix|\\eqarray)\(([^()]*)\)")
_ROW_END = re.compile("@")
_EQUATES = re.compile("[=≈]")


def formula(element: Element) -> Text:
    r"""The source of what an element of mathematics holds.

    >>> from symattn.documents.word.elements import parsed
    >>> space = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    >>> fraction = "<f><num><r><t>x</t></r></num><den><r><t>2</t></r></den></f>"
    >>> str(formula(parsed(f'<oMath xmlns="{space}">{fraction}</oMath>')))
    '\\frac{x}{2}'
    """
    return _with_matrices(Text.joined([element.mark(""), *_row(element)])).stripped()


def _row(element: Element | None) -> Iterator[Text]:
    """What stands in an element, one after the other; runs that look alike are one."""
    if element is None:
        return
    inside = [*_inside(element)]
    labels = {id(one) for one, after in pairwise(inside) if _labels(one, after)}
    for look, group in groupby(inside, key=_look):
        if look is None:
            for child in group:
                if id(child) not in labels:
                    yield from _made(child)
        else:
            yield from _run(list(group), *look)


def _labels(matrix: Element, after: Element) -> bool:
    """Whether a matrix without brackets is a column of words, the labels of the rows of the
    one after it."""
    if (matrix.name, after.name) != ("m:m", "m:d"):
        return False
    rows = [[*row.all("m:e")] for row in matrix.all("m:mr")]
    return all(len(row) == 1 and all(map(_is_word, row[0].elements)) for row in rows)


def _is_word(element: Element) -> bool:
    return element.name in ("m:ctrlPr", "m:argPr", "m:phant") or element.is_on("m:rPr", "m:nor")


def _inside(element: Element) -> Iterator[Element]:
    for child in element.elements:
        if child.name in _SKIPPED:
            continue
        if child.name.startswith("m:"):
            yield child
        else:
            # What was put in, and such as a link.
            yield from _inside(child)


def _look(element: Element) -> tuple[bool, bool] | None:
    """Whether a run is set as words, and whether upright; None of what is none."""
    if element.name != "m:r":
        return None
    return element.is_on("m:rPr", "m:nor"), element.value("m:rPr", "m:sty") == "p"


def _run(runs: Iterable[Element], is_words: bool, is_upright: bool) -> Iterator[Text]:
    texts = [text for run in runs for text in _typed(run)]
    if not texts:
        return
    text = Text.joined(texts)
    if is_words and not _LETTERS.fullmatch(text.string.strip()):
        words = _LETTERS.search(text.string)
        yield text.enclosed(r"\text{", "}") if words else _as_latex(text)
    elif is_words or (is_upright and _LETTERS.fullmatch(text.string)):
        yield text.stripped().enclosed(r"\operatorname{", "}")
    else:
        yield _as_latex(text)


def _typed(run: Element) -> Iterator[Text]:
    for child in run.elements:
        if child.name in ("m:t", "w:t"):
            yield child.text
            if child.text.string in (",", ";"):
                # A comma of its own parts what is beside it, and belongs to no number.
                yield child.behind(" ")
        elif child.name == "w:br":
            yield child.mark(r" \\ ")


def _as_latex(text: Text) -> Text:
    """What is typed as LaTeX has it; who types commands means these."""
    if _COMMAND.search(text.string) or _TYPED.search(text.string):
        return text
    return text.sub(_SIGNS, _sign)


def _sign(sign: re.Match[str]) -> str:
    """How LaTeX writes a sign; what only says where lines align is left out."""
    match sign[0]:
        case "\u2063":
            return ","
        case "%" | "#" | "$" | "{" | "}":
            return f"\\{sign[0]}"
        case other if other.isspace():
            return r"\quad " if len(other) > 1 or other == "\u2003" else " "
    return ""


def _with_matrices(text: Text) -> Text:
    """A formula with the matrices that are typed in a line as those of LaTeX."""
    parts, last = [], 0
    for typed in _TYPED.finditer(text.string):
        rows = text.group(typed, 1).sub(_ROW_END, r" \\ ")
        parts += [text[last : typed.start()], rows.enclosed(r"\begin{matrix} ", r" \end{matrix}")]
        last = typed.end()
    return Text.joined([*parts, text[last:]]) if parts else text


def _typed_in(element: Element | None) -> str:
    """What is typed right in an argument."""
    runs = element.all("m:r") if element is not None else ()
    return "".join(text.string for run in runs for text in _typed(run)).strip()


def _equates(element: Element) -> bool:
    """Whether a cell has a sign of equality of its own: then it is no entry of a matrix."""
    return _EQUATES.search(_typed_in(element)) is not None


def _says(element: Element | None) -> bool:
    """Whether an argument has anything in it."""
    waiting = [element] if element is not None else []
    while waiting:
        here = waiting.pop()
        if any(text.string.strip() for text in here.texts):
            return True
        waiting.extend(child for child in here.elements if child.name not in _SKIPPED)
    return False


def _made(element: Element) -> Iterator[Text]:
    kind = element.name.removeprefix("m:")
    match kind:
        case "d":
            yield from _fenced(element)
        case "m":
            rows = [[*row.all("m:e")] for row in element.all("m:mr")]
            are_equations = any(_equates(cell) for row in rows for cell in row)
            yield from (_equations if are_equations else _matrix)(element, rows)
        case "eqArr":
            yield from _equations(element, [[line] for line in element.all("m:e")])
        case "nary":
            yield from _nary(element)
        case "acc":
            mark = _ACCENTS.get(element.value("m:accPr", "m:chr") or "\u0302", "")
            yield from _filled(element, f"{mark}{{<e>}}")
        case "bar":
            is_below = element.value("m:barPr", "m:pos") != "top"
            yield from _filled(element, rf"\{'under' if is_below else 'over'}line{{<e>}}")
        case "groupChr":
            sign = element.value("m:groupChrPr", "m:chr") or "⏟"
            yield from _filled(element, f"{_BRACES.get(sign, '')}{{<e>}}")
        case "limLow" | "limUpp" if brace := _BRACES.get(_typed_in(element.child("m:lim"))):
            yield from _filled(element, f"{brace}{{<e>}}")
        case "phant" if element.find("m:phantPr", "m:show") and not element.is_on(
            "m:phantPr", "m:show"
        ):
            return
        case "rad" if not _says(element.child("m:deg")):
            yield from _filled(element, r"\sqrt{<e>}")
        case "f" if element.value("m:fPr", "m:type") == "noBar":
            yield from _filled(element, r"\binom{<num>}{<den>}")
        case "sSup" | "sSub" | "sSubSup":
            base = element.child("m:e")
            is_high = base is not None and any(x.name in _HIGH for x in base.elements)
            form = _FORMS[kind]
            yield from _filled(element, form.replace("<e>", "{<e>}") if is_high else form)
        case _ if kind in _FORMS:
            yield from _filled(element, _FORMS[kind])
        case _:
            yield from _row(element)


def _filled(element: Element, form: str) -> Iterator[Text]:
    """A form with its arguments, where these stand in the element."""
    behind = element.start
    for place, piece in enumerate(_ARGUMENT.split(form)):
        argument = element.child(f"m:{piece}") if place % 2 else None
        if argument is not None:
            yield from _row(argument)
            behind = argument.end
        elif not place % 2:
            yield Text.at(piece, Span(behind, behind))


def _fenced(element: Element) -> Iterator[Text]:
    """What stands in brackets; without a word these are round ones, and a bar is between."""
    told = element.child("m:dPr")

    def sign(name: str, usual: str) -> str:
        found = told.child(name) if told is not None else None
        return usual if found is None else found.attributes.get("val", "")

    opening, closing = sign("m:begChr", "("), sign("m:endChr", ")")
    if (opening, closing) == ("[", ")") and any(held.child("m:m") for held in element.all("m:e")):
        # As LibreOffice saves what it read from Word.
        closing = "]"
    yield element.mark(rf"\left{_FENCES.get(opening, opening)} ")
    for place, argument in enumerate(element.all("m:e")):
        if place:
            yield argument.mark(f"{sign('m:sepChr', '|')} ")
        yield from _row(argument)
    yield element.behind(rf" \right{_FENCES.get(closing, closing)} ")


def _matrix(element: Element, rows: Sequence[Sequence[Element]]) -> Iterator[Text]:
    yield element.mark(r"\begin{matrix} ")
    for number, row in enumerate(rows):
        for place, cell in enumerate(row):
            if place or number:
                yield cell.mark(" & " if place else r" \\ ")
            yield from _row(cell)
    yield element.behind(r" \end{matrix}")


def _equations(element: Element, rows: Sequence[Sequence[Element]]) -> Iterator[Text]:
    """Lines of equations; a cell that begins with a sign of equality, or stands behind one,
    goes on with the equation before it."""
    yield element.mark(r"\begin{aligned} ")
    for number, row in enumerate(rows):
        ended = True
        for place, cell in enumerate(row):
            typed = _typed_in(cell)
            starts = ended and not _EQUATES.match(typed)
            if place or number:
                beside = r" \quad " if starts else " & " if place == 1 else " "
                yield cell.mark(beside if place else r" \\ ")
            yield from _row(cell)
            ended = _says(cell) and not _EQUATES.fullmatch(typed)
    yield element.behind(r" \end{aligned}")


def _nary(element: Element) -> Iterator[Text]:
    sign = element.child("m:naryPr")
    char = sign.child("m:chr") if sign is not None else None
    said = "∫" if char is None else char.attributes.get("val", "")
    form = f"{_LARGE.get(said, said)} "
    for name, mark in (("sub", "_"), ("sup", "^")):
        if _says(element.child(f"m:{name}")):
            form = f"{form.rstrip()}{mark}{{<{name}>}} "
    yield from _filled(element, form + "<e>")
