"""A capture's file that a thread of its own writes, so that a round costs its caller no SQLite."""

from __future__ import annotations

import os
import queue
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._file import CaptureFile

WAITING = 64  # rounds that may wait; a caller that is faster than the disk waits in turn

Rows = Dict[str, List[Sequence[Any]]]


class BackgroundFile:
    """What a CaptureFile is to its Book. An error is raised by the call that follows it."""

    def __init__(self, file: CaptureFile):
        self._file = file
        self._queue: "queue.Queue[Optional[Tuple[Rows, Optional[Dict[str, Any]]]]]" = queue.Queue(WAITING)
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._work, name="triescope recorder", daemon=True)
        self._thread.start()

    def write(self, rows: Rows, run: Optional[Dict[str, Any]] = None) -> None:
        self._raise()
        self._queue.put(({table: list(of_table) for table, of_table in rows.items() if of_table}, run))

    def wait(self) -> None:
        """Returns when all is written."""
        self._queue.join()
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
            try:
                if item is None:
                    return
                if not is_broken:
                    self._file.write(*item)
            except BaseException as error:  # noqa: BLE001  (the caller's thread raises it)
                self._error, is_broken = error, True
            finally:
                self._queue.task_done()
