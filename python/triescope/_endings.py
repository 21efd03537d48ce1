"""Recorders that are open: they end with the program, and a forked child leaves them to its parent."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Any

_open_books: "weakref.WeakSet[Any]" = weakref.WeakSet()


def opened(book: Any) -> None:
    _open_books.add(book)


def closed(book: Any) -> None:
    _open_books.discard(book)


def _in_child() -> None:
    for book in list(_open_books):
        book.left_behind()


def _at_exit() -> None:
    for book in list(_open_books):
        book.end("stopped", "the program ended before finish()")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
atexit.register(_at_exit)
