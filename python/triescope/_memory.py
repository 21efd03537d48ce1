"""KV memory at the end of a step, in tokens."""

from __future__ import annotations

from typing import Any, Dict

from ._book import Book

NOTHING_TOLD: Dict[str, Any] = {"owner": "target", "live": None, "reserved": None, "bytes": None, "moved_bytes": 0,
                                "greedy": None, "batch_beam": None, "device": (-1, -1)}


def add(book: Book, step: int, told: Dict[str, Any]) -> None:
    cache = book.caches[told["owner"]]
    garbage = len(cache.garbage)
    live = told["live"] if told["live"] is not None else len(cache.holder) - garbage
    depth = max([book.tree.depth[node] for node in book.frontier], default=0)
    _add(book, step, told, live, garbage, depth)


def add_late(book: Book, live: int) -> None:
    """Step 0's, when later ones are known already."""
    _add(book, 0, NOTHING_TOLD, live, 0, 0)


def _add(book: Book, step: int, told: Dict[str, Any], live: int, garbage: int, depth: int) -> None:
    book.has_memory = True
    greedy = told["greedy"] if told["greedy"] is not None else len(book.prompt or ()) + max(0, depth - 1)
    batch_beam = told["batch_beam"] if told["batch_beam"] is not None else greedy * (book.width if book.kind == "beams" else 1)
    book.add("memory", (step, live, garbage, told["reserved"] or 0, greedy, batch_beam, told["moved_bytes"], *told["device"],
                        told["owner"]))
    if told["bytes"] and told["bytes"] != book.run["kv_bytes_per_token"]:
        book.run["kv_bytes_per_token"] = int(told["bytes"])
        book.changes["kv_bytes_per_token"] = int(told["bytes"])
