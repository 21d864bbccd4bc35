"""How long an editor waits: until the first answer on a post, and after an edit.

    python -m tests.editor.measure [FILE]...

Without a file, the articles of the corpus, each with prose between its paragraphs until it has
500 lines. What stands there is typed into at the end of a line, a letter at a time.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from statistics import median

from tests.documents import marks

from .editors import CONFIG, Editor

LINES, EDITS = 500, 10
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


async def main(texts: dict[str, str]) -> None:
    """Print a line for each text, each with a server of its own."""
    print(f"{'':40}{'lines':>6}{'numbers':>9}{'first':>8}{'edit':>8}{'worst':>8}")
    for name, text in texts.items():
        editor = await CONFIG.start()
        assert isinstance(editor, Editor)
        await editor.start()
        uri = f"file:///nowhere/{name}"
        editor.open(uri, text)
        first = await waited(editor, uri)
        numbers = (await editor.lens(uri)).split()[1]
        end = text.index("\n", len(text) // 2)
        after = []
        for letter in "of a token"[:EDITS]:
            editor.edit(uri, end, end, letter)
            after.append(await waited(editor, uri))
            # Nobody types faster than this after having waited.
            await asyncio.sleep(0.1)
        lines = text.count("\n")
        figures = f"{first:8.2f}{median(after):8.2f}{max(after):8.2f}"
        print(f"{name:40}{lines:6}{numbers:>9}{figures}", flush=True)
        await editor.shutdown_session()
        await editor.stop()


if __name__ == "__main__":
    given = {Path(name).name: Path(name).read_text("utf-8") for name in sys.argv[1:]}
    asyncio.run(main(given or posts()))
