"""Word documents put together by hand: a body, and what lies beside it."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:m="{M}" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def relations(**targets):
    """The relations of a part: what each is, and where."""
    rows = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets.items())
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def part(name, content):
    """The XML of a part."""
    return f"{_HEAD}<w:{name} {NAMESPACES}>{content}</w:{name}>"


def parts(body, **beside):
    """The parts of a document by their names; ``beside`` are styles and notes."""
    return {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{MAIN}"/></Types>'
        ),
        "_rels/.rels": relations(officeDocument="word/document.xml"),
        "word/_rels/document.xml.rels": relations(**{kind: f"{kind}.xml" for kind in beside}),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        **{f"word/{kind}.xml": part(kind, content) for kind, content in beside.items()},
    }


def packed(contents, compression=ZIP_DEFLATED):
    """Parts in a file."""
    file = BytesIO()
    with ZipFile(file, "w") as package:
        for name, data in contents.items():
            info = ZipInfo(name, (2024, 5, 17, 12, 30, 8))
            info.compress_type = compression
            package.writestr(info, data)
    return file.getvalue()


def made(body, **beside):
    """A document with that body."""
    return packed(parts(body, **beside))


def run(text, look=""):
    """A run of text."""
    told = f"<w:rPr>{look}</w:rPr>" if look else ""
    return f'<w:r>{told}<w:t xml:space="preserve">{text}</w:t></w:r>'


def line(*runs, style=""):
    """A paragraph."""
    told = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{told}{''.join(runs)}</w:p>"


def m(*texts, look=""):
    """Runs of mathematics."""
    told = f"<m:rPr>{look}</m:rPr>" if look else ""
    return "".join(f"<m:r>{told}<m:t>{text}</m:t></m:r>" for text in texts)


def math(content):
    """A formula."""
    return f"<m:oMath>{content}</m:oMath>"


def matrix(*rows, opening="[", closing="]"):
    """A matrix in brackets."""
    body = "".join(
        f"<m:mr>{''.join(f'<m:e>{m(cell)}</m:e>' for cell in row)}</m:mr>" for row in rows
    )
    signs = f'<m:begChr m:val="{opening}"/><m:endChr m:val="{closing}"/>'
    return f"<m:d><m:dPr>{signs}</m:dPr><m:e><m:m>{body}</m:m></m:e></m:d>"


def table(*rows, cell=lambda text: line(run(text))):
    """A table of texts."""
    return f"""<w:tbl>{
        "".join(
            f"<w:tr>{''.join(f'<w:tc>{cell(text)}</w:tc>' for text in row)}</w:tr>" for row in rows
        )
    }</w:tbl>"""
