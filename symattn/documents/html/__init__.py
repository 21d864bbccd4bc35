"""HTML to blocks.

Formulas are found as KaTeX, MathJax, MathML, Pandoc, WordPress and Wikipedia write
them; where a page has a main part, only that is read.
"""

from symattn.documents.article import Contents
from symattn.documents.html.body import PageReader
from symattn.documents.text import Text

__all__ = ["read"]


def read(source: Text) -> Contents:
    """The blocks of a page, its title, and what was left out.

    >>> contents = read(Text.whole("<title>Attention</title><p>So <code>a</code> &lt; 1"))
    >>> contents.title, [str(part.text) for part in contents.blocks[0].parts]
    ('Attention', ['So ', 'a', ' < 1'])
    """
    return PageReader(source).contents()
