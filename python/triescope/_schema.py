"""The capture's tables, as schema.sql has them: columns, levels, and what a column may hold."""

from __future__ import annotations

import os
import re
from typing import Dict, FrozenSet, Tuple, Union

APPLICATION_ID = 1414742864
FORMAT = 1

# Columns of each table in the order in which a recorder writes them.
COLUMNS: Dict[str, Tuple[str, ...]] = {
    "drafter": ("name", "title", "kind"),
    "piece": ("token", "bytes"),
    "step": ("step", "forward_rows", "drafted", "accepted", "emitted", "frontier"),
    "node": ("node", "parent", "token", "depth", "logprob", "score", "q", "source", "tick", "role", "drafter"),
    "node_score": ("node", "logprob", "score", "tick"),
    "input": ("step", "row", "node", "position", "slot", "naive_position", "whose", "forward"),
    "candidate": ("tick", "node", "rank", "token", "logprob", "chosen", "whose"),
    "stage": ("tick", "node", "stage", "token", "p", "at"),
    "verdict": ("tick", "node", "verdict", "p", "q", "u", "rank", "score", "gap", "replacement", "reason", "value",
                "threshold", "count", "why"),
    "frontier": ("step", "rank", "node", "score"),
    "slot": ("tick", "action", "slot", "node", "from_slot", "whose"),
    "memory": ("step", "live", "garbage", "reserved", "greedy", "batch_beam", "moved_bytes", "device_allocated_bytes",
               "device_reserved_bytes", "whose"),
    "sequence": ("tick", "node", "rank", "score", "finish", "tokens"),
    "seen": ("step", "row", "whose", "forward", "slots"),
    "expert": ("tick", "node", "layer", "experts", "weights"),
    "metric": ("tick", "node", "name", "value"),
    "log": ("tick", "level", "text"),
    "phase": ("tick", "start_us", "duration_us"),
}
# A level records its tables and those of the levels before it.
LEVELS = {
    "steps": {"drafter", "step", "memory", "sequence", "metric", "log", "phase"},
    "tree": {"piece", "node", "node_score", "verdict", "frontier"},
    "full": {"input", "candidate", "stage", "slot", "seen", "expert"},
}


def tables_of(level: str) -> FrozenSet[str]:
    names = list(LEVELS)
    return frozenset(t for name in names[: names.index(level) + 1] for t in LEVELS[name])


def schema_sql() -> str:
    with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
        return file.read()


def _limits() -> Dict[Tuple[str, str], Union[FrozenSet[str], Tuple[int, int]]]:
    found: Dict[Tuple[str, str], Union[FrozenSet[str], Tuple[int, int]]] = {}
    table = ""
    for line in schema_sql().splitlines():
        if line.startswith("CREATE TABLE"):
            table = line.split()[2]
        words = re.search(r"CHECK \((\w+) IN \((.*?)\)\)", line)
        if words:
            found[table, words[1]] = frozenset(re.findall(r"'(\w+)'", words[2]))
        range_ = re.search(r"CHECK \((\w+) BETWEEN (-?\d+) AND (\d+)\)", line)
        if range_:
            found[table, range_[1]] = (int(range_[2]), int(range_[3]))
    return found


# (table, column) → its words, or its least and greatest value. Values are checked where callers pass them:
# SQLite would do it again for each row, which takes longer than writing the row.
LIMITS = _limits()
