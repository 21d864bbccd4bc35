"""Record the facts anew: ``python -m tests.acceptance.record [KIND ...]``.

What changed is then read as a diff of the tables, fact by fact, before it is committed.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor

from tests.acceptance.facts import KINDS, facts
from tests.acceptance.recorded import table


def main(kinds: list[str]) -> None:
    """Record these kinds, or all."""
    with ProcessPoolExecutor(2) as pool:
        for kind in kinds or KINDS:
            subjects = list(KINDS[kind][0]())
            each = pool.map(facts, [kind] * len(subjects), subjects)
            found = dict(zip(subjects, each, strict=True))
            text = json.dumps(found, indent=1, ensure_ascii=False)
            table(kind).write_text(text + "\n", "utf-8")
            print(f"{kind}: {len(found)} subjects, {sum(map(len, found.values()))} facts")


if __name__ == "__main__":
    main(sys.argv[1:])
