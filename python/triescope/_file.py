"""The file below a recorder: made, written in one transaction a step, never in the way of the run."""

from __future__ import annotations

import ctypes
import os
import sqlite3
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._block import Block
from ._inserts import Inserts
from ._masks import all_runs
from ._schema import APPLICATION_ID, COLUMNS, schema_sql


def identity() -> str:
    """Who records, so that a window knows whether the recorder still lives (Linux; elsewhere by the file's age)."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.readline().strip()
        with open("/proc/self/stat") as file:
            start = file.read().rpartition(")")[2].split()[19]
        return f"boot={boot} pidns={os.readlink('/proc/self/ns/pid')} pid={os.getpid()} start={start}"
    except (OSError, IndexError):
        return ""


def is_capture(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(72)
    return head[:16] == b"SQLite format 3\0" and int.from_bytes(head[68:72], "big") == APPLICATION_ID


class CaptureFile:
    """One connection, one process. Rows are handed over a table at a time and committed together."""

    def __init__(self, path: str, run: Dict[str, Any], program: Tuple[str, str, str]):
        if os.path.exists(path) and os.path.getsize(path) > 0 and not is_capture(path):
            raise ValueError(f"{path}: expected a new file or a capture to replace, found another kind of file; "
                             "choose another name or remove it")
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{path}: expected a folder that exists, found none at {folder}; make it first")
        for suffix in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        self.pid = os.getpid()
        self.db: Optional[sqlite3.Connection] = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=512)
        self.db.execute("PRAGMA page_size=4096")
        self.db.execute("BEGIN")
        for statement in schema_sql().split(";\n"):
            if statement.strip():
                self.db.execute(statement)
        self.db.execute(f"INSERT INTO run ({', '.join(run)}) VALUES ({', '.join('?' * len(run))})", list(run.values()))
        self.db.execute("INSERT INTO program (name, version, command) VALUES (?, ?, ?)", program)
        self.db.execute("COMMIT")
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=NORMAL")
        # A checkpoint waits for the disk, so there are few: every 16 MB.
        self.db.execute("PRAGMA wal_autocheckpoint=4000")
        self.db.execute("PRAGMA ignore_check_constraints=ON")  # _schema.LIMITS holds them
        self._inserts = Inserts()

    def write(self, rows: Dict[str, List[Sequence[Any]]], run: Optional[Dict[str, Any]] = None) -> None:
        db = self.db
        assert db is not None
        db.execute("BEGIN")
        try:
            if run:
                db.execute("UPDATE run SET " + ", ".join(f"{name}=?" for name in run), list(run.values()))
            for table in COLUMNS:  # phases last
                of_table = rows.get(table)
                if table == "seen" and of_table:  # their bits as text, here because it takes long
                    of_table = [Block(block.count, [*block.columns[:-1], all_runs(block.columns[-1])]) for block in of_table]
                if of_table:
                    self._inserts.write(db, table, of_table)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def wait(self) -> None:
        """Returns when all is written: write() does that itself."""

    def close(self) -> None:
        db, self.db = self.db, None
        if db is None:
            return
        if os.getpid() != self.pid:
            # Closing the parent's file here would take its log away under it.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(db))
            return
        try:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            # One file, which readers leave as it is. SQLite refuses this while somebody reads; then it stays as it was.
            db.execute("PRAGMA busy_timeout=0")
            db.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error:
            pass
        db.close()
