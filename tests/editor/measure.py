"""How long an editor waits: until the first answer on a post, and after edits.

    python -m tests.editor.measure [FILE]...

Without a file, the articles of the corpus, each with prose between its paragraphs until it has
500 lines. Words are typed into what stands there at the end of a line, a letter at a time: each
when the last one is answered (median and worst), then without waiting, until the last letter of
a word is answered; then the last digit of a figure is changed.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path
from statistics import median

from tests.documents import marks

from .editors import CONFIG, Editor

LINES, EDITS, WORDS = 500, 10, 5
#: Seconds between the letters of who types fast.
LETTER = 0.12
FOLDER = Path(__file__).parents[1] / "documents" / "corpus"
PROSE = """What a token attends to is decided by the scores that its query has with all keys, and
nothing else: whoever follows the numbers sees where each of them comes from.
It helps to stop after every step, and to ask what would change if a key were longer.
"""


def posts() -> dict[str, str]:
    """The articles of the corpus in Markdown, of 500 lines each."""
    texts = {}
    for path in marks.documents(FOLDER):
        name = path.name.removesuffix(".marked")
        if name.endswith(".md"):
            paragraphs = marks.load(path).text.split("\n\n")
            plain = [k for k, one in enumerate(paragraphs) if _is_plain(one)]
            missing = LINES - sum(paragraph.count("\n") + 2 for paragraph in paragraphs)
            for k in range(missing // (PROSE.count("\n") + 1)):
                paragraphs[plain[k % len(plain)]] += f"\n\n{PROSE.strip()}"
            texts[name] = "\n\n".join(paragraphs)
    return texts


def _is_plain(paragraph: str) -> bool:
    """Whether prose can follow a paragraph without being part of something else."""
    return not any(mark in paragraph for mark in ("```", "$$", "|")) and paragraph[0].isalpha()


async def waited(editor: Editor, uri: str) -> float:
    """Seconds until everything is told of a text as it is now."""
    start = time.monotonic()
    await editor.findings(uri)
    return time.monotonic() - start


async def typed(editor: Editor, uri: str, at: int, word: str) -> float:
    """Seconds from the last letter of a word until everything is told of the text with it."""
    for letter in word:
        await asyncio.sleep(LETTER)
        editor.edit(uri, at, at, letter)
    return await waited(editor, uri)


async def edited(editor: Editor, uri: str, start: int, end: int, new: str) -> float:
    """Seconds after one edit, by who types no faster than this after having waited."""
    editor.edit(uri, start, end, new)
    seconds = await waited(editor, uri)
    await asyncio.sleep(0.1)
    return seconds


async def main(texts: dict[str, str]) -> None:
    """Print a line for each text, each with a server of its own."""
    heads = ("lines", "numbers", "first", "edit", "worst", "typed", "figure")
    print(f"{'':30}" + "".join(f"{head:>8}" for head in heads))
    for name, text in texts.items():
        editor = await CONFIG.start()
        assert isinstance(editor, Editor)
        await editor.start()
        uri = f"file:///nowhere/{name}"
        editor.open(uri, text)
        first = await waited(editor, uri)
        numbers = (await editor.lens(uri)).split()[1]
        end = text.index("\n", len(text) // 2)
        after = [await edited(editor, uri, end, end, letter) for letter in "of a token"[:EDITS]]
        words = [await typed(editor, uri, end, " attends") for _ in range(WORDS)]
        figures = list(re.finditer(r"0\.[0-9]+", editor.texts[uri]))
        last = figures[len(figures) // 2].end() - 1 if figures else end
        digits = [await edited(editor, uri, last, last + 1, digit) for digit in "3456789"]
        told = (first, median(after), max(after), median(words), median(digits))
        seconds = "".join(f"{one:8.2f}" for one in told)
        print(f"{name:30}{text.count(chr(10)):8}{numbers:>8}{seconds}", flush=True)
        await editor.shutdown_session()
        await editor.stop()


if __name__ == "__main__":
    given = {Path(name).name: Path(name).read_text("utf-8") for name in sys.argv[1:]}
    asyncio.run(main(given or posts()))
