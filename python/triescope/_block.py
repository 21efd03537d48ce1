"""Rows of a table, held by column: a round of many drafts makes a list a column and no tuple a row."""

from __future__ import annotations

from itertools import repeat
from typing import Any, Iterable, List, Sequence, Tuple


class Block:
    """`columns`: in the order of the table's, a list or a range with a value for each row, or one value for all."""

    __slots__ = ("count", "columns")

    def __init__(self, count: int, columns: Sequence[Any]):
        self.count = count
        self.columns = columns

    @staticmethod
    def of(rows: Iterable[Sequence[Any]]) -> "Block":
        """A column that has one value in all rows is kept as it."""
        columns: List[Any] = []
        for column in zip(*rows):
            first, count = column[0], len(column)
            is_one = (first is None or type(first) is str or type(first) is int) and column.count(first) == count
            columns.append(first if is_one else list(column))
        return Block(count, columns)

    def rows(self) -> List[Tuple[Any, ...]]:
        count = self.count
        return list(zip(*[column if type(column) is list or type(column) is range else repeat(column, count) for column in self.columns]))


def varies(column: Any) -> bool:
    return type(column) is list or type(column) is range
