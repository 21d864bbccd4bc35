"""LaTeX to blocks.

The preamble is read for its macros and its title; macros are expanded, comments and
marks of text taken off. Files that a source asks for are not followed, pictures and
the list of references not read.
"""

from symattn.documents.article import Contents
from symattn.documents.latex.body import LatexReader
from symattn.documents.text import Text

__all__ = ["read"]


def read(source: Text) -> Contents:
    """The blocks of a LaTeX source, its title, and what was left out.

    >>> contents = read(Text.whole(r"\\title{Attention} So $\\alpha = 1$."))
    >>> contents.title, [str(part.text) for part in contents.blocks[0].parts]
    ('Attention', ['So ', '\\\\alpha = 1', '.'])
    """
    return LatexReader(source).contents()
