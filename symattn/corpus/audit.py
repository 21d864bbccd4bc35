"""A corpus audited, its results and its report written, with tables for other programs."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symattn.cases.settings import settings
from symattn.corpus import stores
from symattn.corpus.page import sheet
from symattn.corpus.records import COUNTS, PLACES, WORDS, json_bytes, spelled
from symattn.corpus.runs import CorpusRun
from symattn.corpus.tally import Tally
from symattn.printers import html
from symattn.sharing import Watch
from symattn.workers import WorkLimits

if TYPE_CHECKING:
    from concurrent.futures import Executor

#: What is written beside the results of single articles.
LINES, PAGE = "results.jsonl", "index.html"
#: What an article may take unless told: seconds and megabytes.
USUAL = WorkLimits(300, 2048)


def audit_corpus(
    corpus: str | Path,
    output: str | Path,
    executor: Executor | None = None,
    *,
    limits: WorkLimits = USUAL,
    jobs: int | None = None,
    watch: Watch | None = None,
    force: bool = False,
    allow_outside: bool = False,
    parquet: bool | None = None,
    language: str = "en",
    paper: str = "a4",
) -> Tally:
    """Audit the articles of a folder, a list or a pattern, and write what is found of each and
    of all of them into the folder ``output``; both may be addresses as fsspec reads them.

    The result of each article is kept there by its content and the version of symattn, so that
    a run that was ended goes on where it was, and only what is new is worked out. Each article
    is audited in a process with these ``limits``, and costs only itself however it ends. Any
    :class:`concurrent.futures.Executor` does the work, or, without one, ``jobs`` processes of
    this machine (by default one a core); the results are the same, byte for byte, and what an
    executor loses is done here, as is what was kept and is damaged (:attr:`Tally.remade`).
    ``watch`` is told how many articles are done, of how many. Links, and the lines of a list,
    may lead out of its folder only with ``allow_outside``.

    ``parquet`` says whether the tables are written, too; unless told, where pyarrow is there,
    which the extra ``corpus`` brings. Raises
    :class:`Malformed` where there are no articles, where ``output`` holds something else and
    not ``force``, and where a worker has another version.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "post.md").write_text("So 0.25 * 3 = 0.85.")
    ...     audit_corpus(folder, f"{folder}/results").counts["refuted"]
    1
    """
    # What can't be is said before hours of work.
    settings({}, {"language": language, "paper": paper})
    wanted = find_spec("pyarrow") is not None if parquet is None else parquet
    tables = {name: _ParquetTable(*form) for name, form in PARQUET.items()} if wanted else {}
    paths = stores.articles(str(corpus), allow_outside)
    stores.check_apart(str(output), (LINES, PAGE, *PARQUET), paths)
    with stores.opened(str(output), force) as store:
        run = CorpusRun(paths, store, limits, watch)
        run.work(executor, jobs or os.cpu_count() or 1)
        # Until all is written there is no report: an older one would speak of other results.
        store.remove(PAGE)
        tally = Tally()

        def taken() -> Iterator[bytes]:
            for line in run.lines():
                tally.take(line)
                for table in tables.values():
                    table.take(line)
                yield json_bytes(line) + b"\n"

        store.write(LINES, taken())
        tally.remade = run.remade
        for name in PARQUET:
            if name in tables:
                store.write(name, [tables[name].finished()])
            else:
                store.remove(name)
        page = sheet(tally, spelled(str(corpus)), language=language, paper=paper)
        store.write(PAGE, [html.document(page).encode()])
        return tally


# -- Parquet: a row for each article, and one for each finding ---------------------------

Row = dict[str, Any]

#: Rows of a table that are packed together.
_TOGETHER = 10_000
_ARTICLE = {
    **dict.fromkeys(("file", "sha256", "ending", "failure", "cause"), "string"),
    **dict.fromkeys((*COUNTS, "open"), "int32"),
    "unread": "int64",
}
_FINDING = {"file": "string", **dict.fromkeys(PLACES, "int32"), **dict.fromkeys(WORDS, "string")}


class _ParquetTable:
    """A Parquet file of results that are taken one after the other, and give ``rows`` each.

    Raises :class:`Malformed` where pyarrow is not installed.
    """

    def __init__(
        self, columns: Mapping[str, str], rows: Callable[[Mapping[str, Any]], Iterable[Row]]
    ) -> None:
        self._rows_of = rows
        self._arrow = stores.library("pyarrow")
        self._schema = self._arrow.schema(
            [(name, getattr(self._arrow, kind)()) for name, kind in columns.items()]
        )
        self._file = io.BytesIO()
        write = stores.library("pyarrow.parquet").ParquetWriter
        self._writer = write(self._file, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def take(self, line: Mapping[str, Any]) -> None:
        # Arrow takes no halves of letters.
        self._rows += (
            {name: spelled(x) if isinstance(x, str) else x for name, x in row.items()}
            for row in self._rows_of(line)
        )
        if len(self._rows) >= _TOGETHER:
            self._pack()

    def finished(self) -> bytes:
        self._pack()
        self._writer.close()
        return self._file.getvalue()

    def _pack(self) -> None:
        self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


def _article_rows(line: Mapping[str, Any]) -> Iterator[Row]:
    row = {name: line[name] for name in ("file", "sha256", "ending", "failure")}
    if audit := line["audit"]:
        row |= {name: audit["summary"][name] for name in COUNTS}
        row["open"] = len(audit["open"])
        row["unread"] = sum(group["count"] for group in audit["unread"])
        row["cause"] = audit["causes"][0]["sentence"] if audit["causes"] else None
    yield row


def _finding_rows(line: Mapping[str, Any]) -> Iterator[Row]:
    """Yield what does not hold, and what is coarse."""
    for claim in line["audit"]["claims"] if line["audit"] else ():
        if claim["verdict"] != "holds" or claim["coarse"]:
            yield {name: claim.get(name) for name in _FINDING}


#: The tables: of each its columns, and the rows of a result.
PARQUET = {
    "articles.parquet": (_ARTICLE, _article_rows),
    "findings.parquet": (_FINDING, _finding_rows),
}
