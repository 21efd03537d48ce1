"""A capture's file that a thread of its own writes, so that a round costs its caller no SQLite."""

from __future__ import annotations

import os
import queue
import threading
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._file import CaptureFile

WAITING = 64  # rounds that may wait; a caller that is faster than the disk waits in turn

Rows = Dict[str, List[Sequence[Any]]]


class BackgroundFile:
    """What a CaptureFile is to its Book. An error is raised by the call that follows it."""

    def __init__(self, file: CaptureFile):
        self._file = file
        # Rounds, and events that are set when all before them is written. None: no more comes.
        self._queue: "queue.SimpleQueue[Union[None, threading.Event, Tuple[Rows, Optional[Dict[str, Any]]]]]" = queue.SimpleQueue()
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._work, name="triescope recorder", daemon=True)
        self._thread.start()

    def write(self, rows: Rows, run: Optional[Dict[str, Any]] = None) -> None:
        self._raise()
        while self._queue.qsize() >= WAITING:
            time.sleep(0.001)
        self._queue.put(({table: list(of_table) for table, of_table in rows.items() if of_table}, run))

    def wait(self) -> None:
        """Returns when all is written."""
        written = threading.Event()
        self._queue.put(written)
        written.wait()
        self._raise()

    def close(self) -> None:
        if os.getpid() == self._file.pid and self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()
        self._file.close()

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _work(self) -> None:
        is_broken = False
        while True:
            item = self._queue.get()
            if item is None:
                return
            if isinstance(item, threading.Event):
                item.set()
                continue
            try:
                if not is_broken:
                    self._file.write(*item)
            except BaseException as error:  # noqa: BLE001  (the caller's thread raises it)
                self._error, is_broken = error, True
