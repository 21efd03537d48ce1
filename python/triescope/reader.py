"""A capture, read: tables as columns, the text, what was accepted. Never writes."""

from __future__ import annotations

import json
import os
import sqlite3
import urllib.parse
from typing import Any, Dict, List, NamedTuple, Optional, Union

from ._schema import APPLICATION_ID, FORMAT


class Step(NamedTuple):
    """A step's figures; 0 is prefill."""

    step: int
    forward_rows: int
    drafted: int
    accepted: int
    emitted: int
    frontier: int


class Level(NamedTuple):
    """The drafts at one distance from the end of the text: how many were sent, reached (all above them were
    accepted) and accepted."""

    depth: int
    drafted: int
    reached: int
    accepted: int

    @property
    def rate(self) -> float:
        return self.accepted / self.reached if self.reached else float("nan")


class Run:
    """An open capture. Tables are read when asked for."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]):
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"open(path): expected a file name, found a {type(path).__name__}; pass \"run.tscap\"")
        self.path = os.fspath(path)
        if not os.path.exists(self.path):
            raise FileNotFoundError(f"{self.path}: expected a capture, found no file")
        uri = "file:" + urllib.parse.quote(os.path.abspath(self.path)) + "?mode=ro"
        self._db = sqlite3.connect(uri, uri=True, isolation_level=None)
        try:
            found = self._db.execute("PRAGMA application_id").fetchone()[0]
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise ValueError(f"{self.path}: expected a capture, found another file ({error})") from None
        if found != APPLICATION_ID or not 1 <= version <= FORMAT:
            self._db.close()
            raise ValueError(f"{self.path}: expected a capture of format 1, found application id {found}, format {version}")
        self._columns = {
            name: [one[1] for one in self._db.execute(f'PRAGMA table_info("{name}")')]
            for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @property
    def tables(self) -> List[str]:
        return list(self._columns)

    def table(self, name: str) -> Dict[str, List[Any]]:
        """A table's columns, in the order of its rows. docs/capture.md says what they mean."""
        if name not in self._columns:
            raise KeyError(f"table({name!r}): expected one of {', '.join(self._columns)}")
        columns = self._columns[name]
        is_table = self._db.execute("SELECT type FROM sqlite_master WHERE name=?", (name,)).fetchone()[0] == "table"
        rows = self._db.execute(f'SELECT * FROM "{name}"' + (" ORDER BY rowid" if is_table else "")).fetchall()
        return {column: [row[i] for row in rows] for i, column in enumerate(columns)}

    def rows(self, name: str) -> List[Dict[str, Any]]:
        """The same, a dict a row; empty where the capture has no such table."""
        if name not in self._columns:
            return []
        columns = self.table(name)
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def pandas(self, name: str) -> Any:
        """The same as a DataFrame."""
        import pandas

        return pandas.DataFrame(self.table(name))

    @property
    def run(self) -> Dict[str, Any]:
        """The run's row, JSON columns as values."""
        found = self.rows("run")
        row = found[0] if found else {}
        for name in ("model_json", "settings_json", "setting_titles_json", "setting_words_json", "versions_json", "prompt_tokens", "conversation_json"):
            try:
                row[name.replace("_json", "")] = json.loads(row.get(name) or "null")
            except ValueError:
                row[name.replace("_json", "")] = None
        return row

    @property
    def pieces(self) -> Dict[int, bytes]:
        found: Dict[int, bytes] = {}
        for row in self.rows("piece"):
            piece = row["bytes"]
            found.setdefault(row["token"], piece if isinstance(piece, bytes) else str(piece).encode())
        return found

    def _nodes(self) -> Dict[int, Dict[str, Any]]:
        rows = self.rows("node")
        return {i: row for i, row in enumerate(rows)}

    @property
    def tokens(self) -> List[int]:
        """The text's tokens: of the best returned sequence, or so far."""
        returned = [row for row in self.rows("sequence") if (row.get("rank") if row.get("rank") is not None else -1) == 0]
        if returned:
            return list(json.loads(returned[-1]["tokens"] or "[]"))
        frontier = self.rows("frontier")
        if not frontier:
            ended = self.rows("sequence")
            return list(json.loads(ended[-1]["tokens"] or "[]")) if ended else []
        last = max(row["step"] for row in frontier)
        node = next(row["node"] for row in frontier if row["step"] == last)
        nodes = self._nodes()
        found: List[int] = []
        while node > 0:
            found.insert(0, nodes[node]["token"])
            node = nodes[node]["parent"]
        return found

    @property
    def text(self) -> str:
        """What was written. Tokens whose text is not recorded stand as <17>."""
        pieces = self.pieces
        return b"".join(pieces.get(token, f"<{token}>".encode()) for token in self.tokens).decode("utf-8", "replace")

    @property
    def steps(self) -> List[Step]:
        return [Step(*(row.get(name) or 0 for name in Step._fields)) for row in self.rows("step")]

    def acceptance_by_depth(self) -> List[Level]:
        """Of the drafts sent, by their distance from the end of the text (1 = the first)."""
        nodes = self._nodes()
        ends = {0: 0}
        for row in self.rows("frontier"):
            ends[row["step"]] = row["node"]
        counts: Dict[int, List[int]] = {}
        by_step: Dict[int, Dict[int, str]] = {}
        for row in self.rows("verdict"):
            if row["verdict"] in ("accepted", "rejected"):
                by_step.setdefault(row["tick"] // 5, {})[row["node"]] = row["verdict"]
        for decided in by_step.values():
            for node, verdict in decided.items():
                depth, above = 1, nodes[node]["parent"]
                reached = decided.get(above) != "rejected"
                while above in decided:
                    depth += 1
                    above = nodes[above]["parent"]
                count = counts.setdefault(depth, [0, 0, 0])
                count[0] += 1
                count[1] += reached
                count[2] += verdict == "accepted"
        return [Level(depth, *counts[depth]) for depth in sorted(counts)]


def open(path: Union[str, "os.PathLike[str]"]) -> Run:  # noqa: A001
    """Opens a capture: `triescope.open("run.tscap").table("verdict")`."""
    return Run(path)


def text_of(piece: Optional[bytes], token: int) -> str:
    return repr(piece.decode("utf-8", "replace")) if piece is not None else f"<{token}>"
