"""Expressions: trees, the one grammar that they are read by, and how they are written and set."""
