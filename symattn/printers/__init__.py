"""Blocks, of which documents are made, and their printers."""
