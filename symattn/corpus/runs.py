"""A corpus audited: nothing twice, whatever ends the program, by processes or by a cluster."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any

from symattn import __version__, workers
from symattn.corpus import stores
from symattn.corpus.records import (
    HeldArticle,
    Record,
    audited,
    failed,
    held,
    kept_name,
    record,
    records_of,
    unpacked,
)
from symattn.errors import Malformed
from symattn.sharing import Watch, shared
from symattn.workers import Job, WorkLimits

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from symattn.corpus.stores import Store

#: Articles that an executor is given at a time: starting a process for them takes as long as
#: one of them does.
CHUNK = 16
#: Articles that are read at once from elsewhere: each is waited for long, and does little.
_READERS = 16


class CorpusRun:
    """The results of a corpus in a store: those that are there, and those that are made."""

    def __init__(
        self, paths: list[str], store: Store, limits: WorkLimits, watch: Watch | None = None
    ) -> None:
        self.paths = paths
        self._store = store
        self._limits = limits
        self._watch = watch
        self._kept = store.names("kept")
        #: The files of kept results that could not be read.
        self.remade: list[str] = []
        #: For each article the file of its result, or its line where none is kept.
        self._results: dict[str, str | dict[str, Any]] = {}
        self._wanted: dict[str, list[str]] = {}
        self._done = 0

    def work(self, executor: Executor | None = None, jobs: int = 1) -> None:
        """Audit all that is not kept: by an executor, or by so many processes of this machine.

        What was ended by a signal is tried once more, since that may have come from anywhere.
        """
        again = self._worked(self.paths, executor, jobs, is_last=False)
        if again:
            self._worked(again, executor, jobs, is_last=True)

    def lines(self) -> Iterator[dict[str, Any]]:
        """The result of each article, in their order, as plain data; what is kept of one and
        is damaged, or something else, is made again."""
        for path in self.paths:
            result = self._results[path]
            if isinstance(result, str):
                try:
                    yield unpacked(self._store.read(result), path, result)
                except (OSError, ValueError, EOFError, RecursionError, zlib.error):
                    self.remade.append(result)
                    yield self._made_again(path)
            else:
                yield result

    def _made_again(self, path: str) -> dict[str, Any]:
        found = _content_of(path)
        if isinstance(found, Malformed):
            return failed(path, str(found))
        (made,) = records_of([found], self._limits)
        self._keep(made)
        return unpacked(made.content, path, made.key)

    def _worked(
        self, paths: list[str], executor: Executor | None, jobs: int, is_last: bool
    ) -> list[str]:
        """Audit these; gives those that were ended by a signal, unless it is their last try."""
        again: list[str] = []
        articles = self._missing(paths)
        if executor is None:
            made = _by_processes(articles, self._limits, jobs)
        else:
            made = _by_executor(articles, self._limits, executor)
        for result in made:
            if result.version != __version__:
                raise Malformed(
                    f"a worker has symattn {result.version}, and this is {__version__}: "
                    "install the same everywhere"
                )
            among = self._wanted.pop(result.key)
            if result.ending == "ended" and not is_last:
                again += among
            else:
                name = self._keep(result)
                for path in among:
                    self._settle(path, name or unpacked(result.content, path, result.key))
        return again

    def _keep(self, result: Record) -> str | None:
        name = result.name(self._limits)
        if name is not None:
            self._store.write(name, [result.content])
            self._kept.add(name.rpartition("/")[2])
        return name

    def _settle(self, path: str, result: str | dict[str, Any]) -> None:
        self._results[path] = result
        self._done += 1
        if self._watch is not None:
            self._watch(self._done, len(self.paths))

    def _missing(self, paths: list[str]) -> Iterator[HeldArticle]:
        """The articles that have no result yet, each content once."""
        for path, found in _read(paths):
            if isinstance(found, Malformed):
                self._settle(path, failed(path, str(found)))
                continue
            key = found.key
            names = (kept_name(key), kept_name(key, self._limits))
            known = next((name for name in names if name.rpartition("/")[2] in self._kept), None)
            if known is not None:
                self._settle(path, known)
            elif key in self._wanted:
                self._wanted[key].append(path)
            else:
                self._wanted[key] = [path]
                yield found


def _read(paths: list[str]) -> Iterator[tuple[str, HeldArticle | Malformed]]:
    """Every article with its path, or why it can't be read; those from elsewhere in any order."""
    here = [path for path in paths if not stores.is_remote(path)]
    elsewhere = [path for path in paths if stores.is_remote(path)]
    for path in here:
        yield path, _content_of(path)
    if elsewhere:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(_READERS) as readers:
            for place, found in shared(_content_of, ((path,) for path in elsewhere), readers):
                yield elsewhere[place], found


def _content_of(path: str) -> HeldArticle | Malformed:
    try:
        return held(path, *stores.content(path))
    except Malformed as error:
        return error


def _by_processes(
    articles: Iterator[HeldArticle], limits: WorkLimits, at_once: int
) -> Iterator[Record]:
    given: dict[int, HeldArticle] = {}

    def jobs() -> Iterator[Job]:
        for index, article in enumerate(articles):
            given[index] = article
            yield audited, (article,)

    with closing(workers.results(jobs(), limits, at_once)) as answers:
        for index, answer in answers:
            yield record(given.pop(index), answer, limits)


def _by_executor(
    articles: Iterator[HeldArticle], limits: WorkLimits, executor: Executor
) -> Iterator[Record]:
    def pieces() -> Iterator[tuple[list[HeldArticle], WorkLimits]]:
        while group := [*islice(articles, CHUNK)]:
            yield group, limits

    for _, records in shared(records_of, pieces(), executor):
        yield from records
