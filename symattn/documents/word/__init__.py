"""Word documents to blocks: their text, tables and Office mathematics.

What is read is the text that people see; its lines are paragraphs and rows of tables.
"""

from symattn.documents.word.body import read

__all__ = ["read"]
