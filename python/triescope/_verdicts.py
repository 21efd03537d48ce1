"""Verdicts: what a decision was, and the numbers it compared."""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import _values as values
from ._book import Book
from ._schema import LIMITS

COLUMNS = ("p", "q", "u", "rank", "score", "gap", "replacement", "reason", "value", "threshold", "count", "why")


def told_of(value: Any, where: str) -> Dict[Any, Any]:
    """What a caller says of the token, or of each draft, as {draft: …, "token": …}."""
    if value is None:
        return {}
    if isinstance(value, dict):
        if any(key in COLUMNS for key in value):
            value = {"token": value}
        for one in value.values():
            if isinstance(one, dict):
                _check(one, where)
        return dict(value)
    if isinstance(value, (list, tuple)):
        raise values.wrong(where, "a value of the token, or {draft: value}", value, 'pass {0: …, "token": …}')
    return {"token": value}


def _check(columns: Dict[str, Any], where: str) -> None:
    for name, value in columns.items():
        limit = LIMITS.get(("verdict", name))
        if name not in COLUMNS:
            raise ValueError(f"{where}: expected a verdict's columns ({', '.join(COLUMNS)}), found {name!r}")
        if value is None or name == "why":
            continue
        if isinstance(limit, frozenset):
            if value not in limit:
                raise ValueError(f"{where}: expected a {name} among {', '.join(sorted(limit))}; found {value!r}. "
                                 "Words of your own stand under why")
        elif not isinstance(value, (int, float)):
            raise values.wrong(where, f"a number for {name}", value, "pass a float")
        elif limit is not None and not limit[0] <= value <= limit[1]:
            raise ValueError(f"{where}: expected a {name} from {limit[0]} to {limit[1]}, found {value}")


def add(book: Book, tick: int, node: int, verdict: str, p: Optional[float] = None, q: Optional[float] = None,
        u: Optional[float] = None, rank: Optional[int] = None, score: Optional[float] = None, gap: Optional[float] = None,
        replacement: Optional[int] = None, reason: Optional[str] = None, value: Optional[float] = None,
        threshold: Optional[float] = None, count: Optional[int] = None, why: Any = None) -> None:
    """NULL is what a column is without a value. `why`: words, or columns that the caller knows better."""
    rows = book.rows.get("verdict")
    row = (p, q, u, rank, score, gap, replacement, reason, value, threshold, count, None)
    if why is not None:
        if isinstance(why, dict):
            of = dict(zip(COLUMNS, row))
            of.update(why)
            row = tuple(of[name] for name in COLUMNS)  # type: ignore[assignment]
            replacement = of["replacement"]
        else:
            row = row[:-1] + (str(why),)  # type: ignore[assignment]
    if rows is not None:
        rows.append((tick, node, verdict) + row)
    if replacement is not None:
        book.know(replacement)
