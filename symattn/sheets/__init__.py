"""Sheets: content as blocks, and their printers."""
