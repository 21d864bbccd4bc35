"""Workers of a command: processes of this machine, or a cluster."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from symattn.errors import Malformed, expected
from symattn.libraries import library

if TYPE_CHECKING:
    from concurrent.futures import Executor

#: The processes that a command starts itself.
PROCESSES = "processes"
_DASK = "dask="
#: Seconds that a scheduler has to answer.
_PATIENCE = 10


def check(name: str) -> None:
    """:class:`Malformed` for what names no executor.

    >>> check("processes"), check("dask=tcp://10.0.0.1:8786")
    (None, None)
    """
    if name != PROCESSES and not (name.startswith(_DASK) and name != _DASK):
        known = (PROCESSES, f"{_DASK}ADDRESS")
        # Before an @ may stand a password.
        shown = name.rpartition("@")[2]
        raise Malformed(f"unknown executor {shown!r}: {expected(name, known)}")


async def _met(distributed: Any, address: str) -> None:
    """Shake hands with a scheduler, and leave."""
    await (await distributed.comm.connect(address, timeout=_PATIENCE)).close()


@contextmanager
def opened(name: str) -> Iterator[Executor | None]:
    """The executor of that name for as long as the work takes; None stands for the processes.

    Raises :class:`Malformed` where Dask is not installed, or no scheduler of it answers.
    """
    if name == PROCESSES:
        yield None
        return
    # Loaded for a cluster only: it takes as long as a page.
    import asyncio

    distributed = library("distributed")
    address = name.removeprefix(_DASK)
    address = address if "://" in address else f"tcp://{address}"
    try:
        # A client that comes to nothing waits for long, and complains when it is left.
        asyncio.run(asyncio.wait_for(_met(distributed, address), _PATIENCE))
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (MemoryError, OSError, ValueError, struct.error) as error:
        reason = str(error).partition("\n")[0] or f"it says nothing for {_PATIENCE} seconds"
        if isinstance(error, MemoryError | struct.error):
            # Dask takes the letters of a stranger for lengths.
            reason = "a server of another kind does"
        elif isinstance(error, ValueError):
            # What is wrong with it the library says with all of it.
            reason = "expected an address such as tcp://10.0.0.1:8786"
        raise Malformed(f"no Dask scheduler answers at {address}: {reason}") from None
    with client, client.get_executor() as executor:
        yield executor
