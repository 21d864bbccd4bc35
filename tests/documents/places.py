"""The law of readers: what they read is the file's own, at its place."""


def texts(blocks):
    """All the texts in blocks, in their order."""
    for block in blocks:
        yield from (part.text for part in block.parts)
        yield from (part.text for row in block.rows for cell in row for part in cell.parts)


def untrue(source, blocks):
    """Characters that stand for one of the file, but not for the one at their place."""
    return [
        (text, i)
        for text in texts(blocks)
        for i, sign in enumerate(text.string)
        if text.ends[i] - text.starts[i] == 1 and source[text.starts[i]] != sign
    ]
