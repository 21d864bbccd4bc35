#!/usr/bin/env python3
"""Makes the fonts of the HTML pages: chosen glyphs of STIX Two, as WOFF2.

    pip install fonttools brotli
    pip download --no-deps ziamath && unzip -o ziamath-*.whl 'ziamath/fonts/*'
    npm pack @fontsource-variable/stix-two-text && tar xzf fontsource-variable-stix-two-text-*.tgz
    .ci/fonts.py .

The two packages bring the fonts as their authors published them (SIL Open Font
License 1.1, no reserved font name); the licence lies beside what is made of them.
"""

from __future__ import annotations

import string
import sys
from copy import deepcopy
from pathlib import Path

from fontTools.subset import Options, Subsetter, load_font, save_font
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables.otTables import MathGlyphVariantRecord
from fontTools.varLib.instancer import instantiateVariableFont

OUTPUT = Path(__file__).parent.parent / "symattn" / "printers" / "fonts"
GREEK = "αβγδεζηθικλμνξπρστυφχψωϕϑϵϱΓΔΘΛΞΠΣΦΨΩ∂∇"
#: Upright text, relations, operators, arrows, brackets that stretch, big operators.
SIGNS = "±×÷¬·′″⋅∗∘⊙⊗⊕∓−√∑∏∫∞⊤⊥≈≠≤≥≡≪≫∼≃∝∈∉∀∃⊂⊆∪∩→←↔⇒⇔↦⋯…⋮⋱‖⌈⌉⌊⌋⟨⟩–—‘’“”\u00a0"
#: The letters that browsers put for single ones inside ``mi``: italic, and its Greek.
ITALIC = "".join(map(chr, [*range(0x1D434, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C)]))
SCRIPT = "".join(map(chr, range(0x1D49C, 0x1D4B6))) + "ℬℰℱℋℐℒℳℛ"
MATH = string.printable[:95] + GREEK + SIGNS + ITALIC + SCRIPT
LATIN = "".join(map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x100)])) + "ıŒœ–—‘’‚“”„†•…‹›€−"


#: How much wider than the smallest the larger sizes of a sign get: browsers keep room
#: for the widest beside every one.
WIDENING = 1.1
#: The smallest root gets a lower one before it, for letters without height.
LOWER = 0.75


def scaled(font: TTFont, glyph: str, x: float, y: float = 1.0) -> None:
    """Make a glyph narrower or lower."""
    outline = font["glyf"][glyph]
    outline.coordinates.scale((x, y))
    outline.coordinates.toInt()
    outline.recalcBounds(font["glyf"])
    advance, _ = font["hmtx"][glyph]
    font["hmtx"][glyph] = round(advance * x), outline.xMin


def copied(font: TTFont, size: MathGlyphVariantRecord) -> MathGlyphVariantRecord:
    """A size of a sign with a glyph of its own."""
    other, glyph = deepcopy(size), f"{size.VariantGlyph}.copy"
    font["glyf"][glyph] = deepcopy(font["glyf"][size.VariantGlyph])
    font["hmtx"][glyph] = font["hmtx"][size.VariantGlyph]
    other.VariantGlyph = glyph
    return other


def narrowed(font: TTFont) -> None:
    """Fit the signs that grow to how browsers set them."""
    math = font["MATH"].table
    math.MathConstants.RadicalVerticalGap.Value = 120
    variants = math.MathVariants
    done = set()
    for base, sizes in zip(
        variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True
    ):
        if base == "radical":
            sizes.MathGlyphVariantRecord.insert(1, copied(font, sizes.MathGlyphVariantRecord[0]))
            scaled(font, base, 1.0, LOWER)
            smallest = sizes.MathGlyphVariantRecord[0]
            smallest.AdvanceMeasurement = round(smallest.AdvanceMeasurement * LOWER)
        parts = sizes.GlyphAssembly.PartRecords if sizes.GlyphAssembly else []
        glyphs = [one.VariantGlyph for one in sizes.MathGlyphVariantRecord]
        most = font["hmtx"][base][0] * (1.0 if base == "radical" else WIDENING)
        for glyph in {*glyphs, *(part.glyph for part in parts)} - {base} - done:
            scaled(font, glyph, min(1.0, most / font["hmtx"][glyph][0]))
            done.add(glyph)


def made(source: Path, name: str, glyphs: str, features: list[str], **axes: float) -> None:
    """Write the glyphs of a font, without instructions for coarse screens."""
    options = Options()
    options.flavor, options.hinting, options.desubroutinize = "woff2", False, True
    options.layout_features, options.name_IDs = features, [0, 1, 2, 5, 13, 14]
    options.drop_tables += ["DSIG"]
    font = load_font(str(source), options)
    if axes:
        instantiateVariableFont(font, axes, inplace=True)
    subsetter = Subsetter(options)
    subsetter.populate(text=glyphs)
    subsetter.subset(font)
    if "MATH" in font:
        narrowed(font)
    target = OUTPUT / f"{name}.woff2"
    save_font(font, str(target), options)
    print(target.name, target.stat().st_size)


def main(folder: Path) -> None:
    """Make the three fonts of what lies in ``folder``."""
    text = folder / "package" / "files" / "stix-two-text-latin-wght-{}.woff2"
    made(folder / "ziamath/fonts/STIXTwoMath-Regular.ttf", "math", MATH, [])
    made(Path(str(text).format("normal")), "text", LATIN, ["kern", "liga", "mark"])
    made(Path(str(text).format("italic")), "italic", LATIN, ["kern", "liga", "mark"], wght=400)
    (OUTPUT / "OFL.txt").write_text((folder / "package" / "LICENSE").read_text("utf-8"), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
