"""Rows into a table, with as few values bound as there are and as many rows a statement as may be: most of what SQLite costs a caller
is to begin a statement and to bind a row's values one by one, words above all."""

from __future__ import annotations

import sqlite3
from typing import Any, Dict, List, Sequence, Tuple, Union

from ._block import Block, varies
from ._schema import COLUMNS, LIMITS

TOGETHER = 64  # rows of one statement; at most 15 columns each, so below the 999 values that old SQLites take
FEW = 6  # fewer rows are bound as they are

# What may stand in a statement itself where a column has it in every row.
_LITERALS: Dict[Any, str] = {None: "NULL", 0: "0", -1: "-1"}
_LITERALS.update((word, f"'{word}'") for limit in LIMITS.values() if isinstance(limit, frozenset) for word in limit)
Kinds = Tuple[str, ...]  # by column what stands in the statement: "?" or a literal


def _statement(table: str, kinds: Kinds, rows: int) -> str:
    line = f"({', '.join(kinds)})"
    return f"INSERT INTO {table} ({', '.join(COLUMNS[table])}) VALUES {', '.join([line] * rows)}"


class Inserts:
    """The statements of a file's tables."""

    def __init__(self) -> None:
        self._known: Dict[Tuple[str, Kinds, int], str] = {}
        self._plain = {table: _statement(table, ("?",) * len(names), 1) for table, names in COLUMNS.items()}

    def write(self, db: sqlite3.Connection, table: str, rows: List[Union[Sequence[Any], Block]]) -> None:
        """`rows`: each with all columns of the table, in their order, or many of them in a Block."""
        if len(rows) == 1 and type(rows[0]) is tuple:  # most tables of a round of one token
            db.execute(self._plain[table], rows[0])
            return
        plain: List[Any] = []
        for row in rows:
            if type(row) is not Block:
                plain.append(row)
            elif row.count < FEW:
                plain += row.rows()
            else:
                self._write_plain(db, table, plain)
                plain = []
                self._write_block(db, table, row)
        self._write_plain(db, table, plain)

    def _write_plain(self, db: sqlite3.Connection, table: str, rows: List[Sequence[Any]]) -> None:
        if len(rows) >= FEW:
            self._write_block(db, table, Block.of(rows))
        elif rows:
            db.executemany(self._plain[table], rows)

    def _write_block(self, db: sqlite3.Connection, table: str, block: Block) -> None:
        count = block.count
        kinds: List[str] = []
        bound = []
        for column in block.columns:
            literal = None if varies(column) or type(column) is float else _LITERALS.get(column)
            kinds.append(literal or "?")
            if literal is None:
                bound.append(column if varies(column) else [column] * count)
        width = len(bound)
        values: List[Any] = [None] * (width * count)
        for i, column in enumerate(bound):
            values[i::width] = column
        key = tuple(kinds)
        at = 0
        while at < count:  # in powers of two, so that a table has few statements
            rows = min(TOGETHER, 1 << (count - at).bit_length() - 1)
            db.execute(self._of(table, key, rows), values[at * width:(at + rows) * width])
            at += rows

    def _of(self, table: str, kinds: Kinds, rows: int) -> str:
        key = (table, kinds, rows)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _statement(table, kinds, rows)
        return found
