"""Parquet for other programs: a row for each article, and one for each finding."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from symattn.corpus.records import COUNTS, PLACES, WORDS, spelled
from symattn.libraries import library

Row = dict[str, Any]

#: Rows of a table that are packed together.
_TOGETHER = 10_000
_ARTICLE = {
    **dict.fromkeys(("file", "sha256", "ending", "failure", "cause"), "string"),
    **dict.fromkeys((*COUNTS, "open"), "int32"),
    "unread": "int64",
}
_FINDING = {"file": "string", **dict.fromkeys(PLACES, "int32"), **dict.fromkeys(WORDS, "string")}


class ParquetTables:
    """Parquet files of results that are taken one after the other.

    Raises :class:`Malformed` where pyarrow is not installed.
    """

    def __init__(self) -> None:
        self._tables = {
            "articles.parquet": (_ParquetTable(_ARTICLE), _article_rows),
            "findings.parquet": (_ParquetTable(_FINDING), _finding_rows),
        }

    def take(self, line: Mapping[str, Any]) -> None:
        """Add the rows of a result."""
        for table, rows in self._tables.values():
            table.add(rows(line))

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The names of the files with what they hold, when all is taken."""
        for name, (table, _) in self._tables.items():
            yield name, table.finished()


class _ParquetTable:
    def __init__(self, columns: Mapping[str, str]) -> None:
        self._arrow = library("pyarrow")
        self._schema = self._arrow.schema(
            [(name, getattr(self._arrow, kind)()) for name, kind in columns.items()]
        )
        self._file = io.BytesIO()
        write = library("pyarrow.parquet").ParquetWriter
        self._writer = write(self._file, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def add(self, rows: Iterable[Row]) -> None:
        self._rows += ({name: _text(value) for name, value in row.items()} for row in rows)
        if len(self._rows) >= _TOGETHER:
            self._pack()

    def finished(self) -> bytes:
        self._pack()
        self._writer.close()
        return self._file.getvalue()

    def _pack(self) -> None:
        self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


def _text(value: Any) -> Any:
    """Text without halves of letters, which Arrow takes none of."""
    return spelled(value) if isinstance(value, str) else value


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
