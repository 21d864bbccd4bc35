"""Sheets by what they say: cases worked, red pens, derivations."""
