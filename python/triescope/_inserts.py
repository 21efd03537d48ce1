"""Rows into a table, with as few values bound as there are: most of what SQLite costs a caller is binding a row's values one by one, words above all."""

from __future__ import annotations

import sqlite3
from itertools import chain
from typing import Any, Dict, List, Sequence, Tuple

from ._schema import COLUMNS, LIMITS

TOGETHER = 16  # rows of one statement; at most 15 columns each, so below the 999 values that old SQLites take
FEW = 6  # fewer rows are bound as they are

# What may stand in a statement itself: None, and the words that a column may hold.
_WORDS = frozenset(word for limit in LIMITS.values() if isinstance(limit, frozenset) for word in limit)
Constants = Tuple[Any, ...]  # by column its None or its word in every row; _VARIES: it is bound
_VARIES = 0


def _statement(table: str, constants: Constants, rows: int) -> str:
    values = ", ".join("?" if one is _VARIES else "NULL" if one is None else f"'{one}'" for one in constants)
    return f"INSERT INTO {table} ({', '.join(COLUMNS[table])}) VALUES {', '.join([f'({values})'] * rows)}"


class Inserts:
    """The statements of a file's tables."""

    def __init__(self) -> None:
        self._known: Dict[Tuple[str, Constants], Tuple[str, str]] = {}
        self._plain = {table: _statement(table, (_VARIES,) * len(names), 1) for table, names in COLUMNS.items()}

    def _of(self, table: str, constants: Constants) -> Tuple[str, str]:
        """Those of one row, and of TOGETHER rows."""
        found = self._known.get((table, constants))
        if found is None:
            found = self._known[table, constants] = (_statement(table, constants, 1), _statement(table, constants, TOGETHER))
        return found

    def write(self, db: sqlite3.Connection, table: str, rows: List[Sequence[Any]]) -> None:
        """`rows`: each with all columns of the table, in their order."""
        count = len(rows)
        if count < FEW:
            db.executemany(self._plain[table], rows)
            return
        constants: List[Any] = []
        bound = []
        for column in zip(*rows):
            first = column[0]
            if (first is None or type(first) is str and first in _WORDS) and column.count(first) == count:
                constants.append(first)
            else:
                constants.append(_VARIES)
                bound.append(column)
        one, many = self._of(table, tuple(constants))
        left: List[Sequence[Any]] = list(zip(*bound))
        whole = count - count % TOGETHER
        if whole:
            db.executemany(many, [list(chain.from_iterable(left[i:i + TOGETHER])) for i in range(0, whole, TOGETHER)])
        if whole < count:
            db.executemany(one, left[whole:])
