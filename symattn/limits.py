"""Limits of what is read, worked out and shown: every one, with what is said beyond it.

Limits count what there is or the work that it makes, never time: the same file
gives the same answer on every machine. Time and memory are limited by the
command line, as a last resort (:mod:`symattn.workers`), and for the lines of a derivation.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """The most that is taken, what is said of more, and the least of what is asked for.

    >>> STEPS.said(120)
    '120 steps; at most 100 are read'
    >>> MEGABYTES.said(10)
    '10: expected 0 (no limit), or 100 to 1048576 megabytes'
    """

    most: int
    beyond: str
    least: float = 0

    def said(self, actual: object = "") -> str:
        """The message for ``actual``, which is beyond the limit."""
        return self.beyond.format(found=actual, most=self.most, least=self.least)


# -- the work on one case -----------------------------------------------------------

#: Beyond a year a clock that ends the work can't be set everywhere.
SECONDS = Limit(
    31_536_000, "{found}: expected 0 (no limit), or {least:f} to {most} seconds", least=1e-6
)
#: With less not even the libraries can be loaded.
MEGABYTES = Limit(
    1 << 20, "{found}: expected 0 (no limit), or {least} to {most} megabytes", least=100
)

#: Products that the proof of one line of a derivation may form or rename.
LINE_WORK = Limit(2_000_000, "not decided with {most} products of terms, which a line may take")
#: Seconds of the processor that it may take, more than so many products were seen to.
LINE_SECONDS = 60.0

# -- files and expressions ----------------------------------------------------------

#: Size of a file, in bytes.
BYTES = Limit(4_000_000, "{found} bytes; at most {most} are read")
#: Lines of an article that are not blank.
LINES = Limit(100_000, "{found} lines; at most {most} are read")
#: Parts of a dotted key: reading one takes the square of them.
KEY_PARTS = Limit(32, "a key of {found} parts; at most {most} are read")
#: Files that extend each other.
CHAIN = Limit(10, "more than {most} files that extend each other")
CLAIMS = Limit(10_000, "{found} claims; at most {most} are read")
#: Parts of expressions that are put together to close what an article states.
CLOSED = Limit(400_000, "more than {most} parts of what is stated: the rest is read by evidence")
#: Steps of the programs of an article, and products in them.
RUN = Limit(200_000, "programs of more than {most} steps: the rest is not run")
#: Numbers that an article prints, in words, formulas, code, outputs and tables.
NUMBERS = Limit(
    50_000, "more than {most} numbers up to here; split the article, or omit long lists"
)
#: What an author says to symattn of an article, in notes and in each table of a side file.
NOTES = Limit(1000, "{found} notes; at most {most} are read")
#: Phrases of the author: each is looked for in all words of the article.
PHRASES = Limit(100, "{found} phrases; at most {most} are read")
STEPS = Limit(100, "{found} steps; at most {most} are read")
#: Entries of one quantity.
ENTRIES = Limit(1 << 16, "{found} is beyond {most} entries")
#: Entries of an array of many matrices.
STACKED = Limit(1 << 24, "{found} is beyond {most} entries")
#: Rows of queries that attention of large arrays of floats is worked out for at a time.
BLOCK = 64
#: So many of these are one piece of the work that an executor is given.
SHARED = 4
#: So many pieces are with an executor at a time: enough for all that it has, few enough to be held.
AHEAD = 256
#: Characters, tokens and nesting of one expression: trees stay shallow enough
#: to be walked by recursion.
CHARACTERS = Limit(4000, "expression of {found} characters; at most {most} are read")
TOKENS = Limit(400, "more than {most} symbols")
NESTING = Limit(60, "nested deeper than {most}")
#: Digits of a number, and the power of ten that it may be multiplied by.
DIGITS = Limit(400, "a number of {found} digits; at most {most} are read")
EXPONENT = Limit(400, "power of ten beyond {most}")
#: Functions of one's own; parts, and their nesting, of an expression in which they are
#: written out, which may double with every one.
FUNCTIONS = Limit(100, "{found} functions; at most {most} are read")
WRITTEN_OUT = Limit(2_000, "{found} parts with its functions written out; at most {most} are read")
NESTED_CALLS = Limit(150, "with its functions written out nested deeper than {most}")

#: Pages of an article in PDF, and signs and brackets or rules on one of them.
PAGES = Limit(100, "{found} pages; at most {most} are read")
SIGNS = Limit(20_000, "{found} characters on a page; at most {most} are read")
#: Bytes of drawing, forms as often as they are drawn, and characters of a whole file in PDF.
DRAWN = Limit(4_000_000, "{found} bytes or more of drawing on its pages; at most {most} are read")
SET = Limit(400_000, "{found} characters or more; at most {most} are read")
BRACKETS = Limit(1000, "{found} brackets or rules on a page; at most {most} are read")
#: Of a Word document the parts, what is unpacked of those that are read, in bytes, and of all
#: where it is written again; and in one of them the characters of text, the elements and their
#: nesting.
PARTS = Limit(10_000, "a file of {found} parts; at most {most} are read")
UNPACKED = Limit(
    24_000_000, "the text of the document unpacks to more than {most} bytes, which are read at most"
)
COPIED = Limit(200_000_000, "its parts are more than {most} bytes, which are written at most")
LETTERS = Limit(4_000_000, "more than {most} characters of text; split the document")
ELEMENTS = Limit(500_000, "more than {most} elements; split the document")
XML_NESTING = Limit(200, "elements nested deeper than {most}")
#: Characters that the macros of an article write.
MACROS = Limit(
    500_000,
    "macros expand to more than {most} characters: from line {found} on they are not expanded",
)

#: Characters of one statement of a program in an article.
PROGRAM = Limit(100_000, "a statement of {found} characters; at most {most} are read")

#: Faults that are kept, and that are printed; the rest is counted.
FAULTS_KEPT = Limit(1000, "{found} faults; {most} are kept")
FAULTS_PRINTED = Limit(50, "and {found} more")

#: How often an article is corrected and read again: what is computed from a corrected
#: figure may have to be corrected in its turn.
ROUNDS = Limit(16, "after {most} rounds figures would still change")

#: Samples of test vectors that are made at once.
SAMPLES = Limit(
    100_000, "{found} samples; at most {most} are made at once: ask for fewer seeds or formats"
)

# -- numbers --------------------------------------------------------------------------

PLACES = Limit(1000, "expected 0 to {most} places, found {found}")
SIGNIFICANT = Limit(1000, "expected 1 to {most} significant digits, found {found}")
#: Power of ten, either way, of a number given in significant digits.
MAGNITUDE = Limit(100_000, "a number of size 10^{found}: beyond 10^{most}")
POWER = Limit(1000, "the power {found} is beyond {most}")
#: Operations times bits that one enclosure may cost: some seconds.
ENCLOSURE = Limit(1 << 24, "{found}: beyond what is computed")

#: Products of two numbers that the steps of a case are recomputed with, all together.
RECOMPUTED = Limit(
    12_000_000, "the steps up to it form {found} products; at most {most} are recomputed in floats"
)
#: Columns of a quantity on a sheet.
COLUMNS = Limit(
    1_000,
    "rows of {found} entries; a sheet shows at most {most}: 'symattn show' prints any, and a "
    "step may take some of them, as in X[:, 0:8]",
)

#: Numbers, names and operations in one entry that is worked out on a sheet, and in all of them.
WORKED = Limit(2_000, "an entry of {found} parts; at most {most} are written out")
WORKED_ALL = 200_000
#: Products that the numbers in all these may cost.
WORKED_PRODUCTS = 500_000

# -- closed forms: beyond these there is none -----------------------------------------

#: What is said of a number that has digits, but no form that anybody would read.
NO_CLOSED_FORM = "{found} has no short closed form"


@dataclass(frozen=True)
class Budget:
    """Limits of one closed form.

    ``size`` counts its terms; ``products`` the products of two terms that one
    operation forms on the way; ``bits`` the digits of a coefficient.
    """

    size: int
    products: int
    bits: int


#: Closed forms that are shown, with what stands under roots and inside
#: functions: longer ones nobody reads.
SHOWN = Budget(size=200, products=5_000, bits=2_048)
#: Closed forms that only decide a question (is it zero?) and are not shown;
#: in them, a number whose own is beyond the budget stands for itself. The
#: first is for questions that every entry of a large quantity may ask.
QUICK = Budget(size=100, products=1_000, bits=1 << 18)
DECIDING = Budget(size=20_000, products=400_000, bits=1 << 18)

#: Products that all questions of one statement may cost, and more for each of its entries, up
#: to so many of them, and that all statements of a case may. What else is done for them counts
#: as so many: two operands that are looked at, 512 bits of an operation, an entry that is compared.
STATEMENT = Limit(
    400_000,
    "deciding it takes more than {most} products of terms: compare fewer entries, lower powers",
)
STATEMENTS = Limit(
    2_000_000,
    "deciding the statements up to it takes more than {most} products of terms: split the file",
)
STATEMENT_ENTRY, STATEMENT_ENTRIES = 100, 10_000
#: Products, and entries and functions that theorems are made of, for all theorems of a file.
SEALED = Limit(
    400_000,
    "the theorems up to it are made of more than {most} entries and products: take some of them, "
    "as in X[:, 0:8]",
)

#: Bits up to which a quick question is pursued.
QUICK_BITS = 512
#: Entries of an array that stay undecided at the largest precision; after so many the
#: others are not followed up.
PURSUED = Limit(100, "not followed up after {most} undecided entries; {found}")
#: Products that are formed to bring a sum over one denominator, to decide whether it is zero.
EXPANSION = 400_000
#: Numbers in a recipe that is evaluated at a point to learn whether it is zero, and
#: bits of its value there, times the terms in it.
EVALUATED = 100_000
EVALUATION = 1 << 25
#: Products of denominators that are formed to learn how many bits that would be.
BOUNDED = 100_000
#: Products of digits of packed polynomials that one operation on matrices may cost (some
#: tenths of a second), digits of all entries where parts are added (eight bytes each), their
#: degree in a row of weights, and entries of what is read for them.
PACKED = 1 << 26
PACKED_DIGITS = 1 << 23
PACKED_DEGREE = 1 << 10
PACKED_ENTRIES = 1 << 12
#: So few entries are looked at as polynomials before floats: in those they take longer.
PACKED_FEW = 64
#: Largest number under a root whose square factors are looked for, beside
#: small ones: FLINT finds those of 40 digits in some 30 ms.
RADICAND = 10**40
#: Bits of rational numbers that are worked out; longer ones are kept as recipes.
RATIONAL = 1 << 18

#: Entries of a Jacobian.
JACOBIAN = Limit(
    1 << 12,
    "a Jacobian of {found} entries, beyond {most}: take some of them, as in dA[0]/dT[0]",
)

# -- formulas that SymPy derives ------------------------------------------------------

#: Uses of entries in a program (:mod:`symattn.programs.program`): a second or two.
DERIVED = Limit(
    12_000, "entries are used {found} times; SymPy derives programs of at most {most} uses"
)
#: Operations in one entry of a formula with numbers put in, and in letters of what is given alone.
FORMULA = Limit(40_000, "a formula of {found} operations; SymPy puts numbers into at most {most}")
EXPANDED = Limit(200_000, "a formula of {found} operations; SymPy writes out at most {most}")
#: The same under a root or inside a function: SymPy evaluates such numbers roughly to
#: learn their signs, again for each that they are nested in.
ARGUMENT = Limit(
    300, "a function of a formula of {found} operations; SymPy puts numbers into at most {most}"
)
