"""KV slots at the end of a round: what was told of them, or else what follows from what became text."""

from __future__ import annotations

from typing import Any, Dict, Optional, Set

from . import _memory as memory
from ._words import OWNERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .round import Round


def between(r: "Round", owner: str, forward: Optional[int], tick: int) -> None:
    """What happened to an owner's slots between its forwards, up to this one (None: all that is left)."""
    for kv in r.told_kv:
        if kv["owner"] == owner and kv["phase"] == "forward" and not kv.get("is_done") and (
                forward is None or kv["forward"] <= forward):
            kv["is_done"] = True
            _change_slots(r, kv, tick)


def _change_slots(r: "Round", kv: Dict[str, Any], tick: int) -> None:
    book = r.book
    cache = book.caches[kv["owner"]]
    before = {slot: cache.holder.get(slot) for slot in [source for source, _ in kv["moved"]] + kv["freed"]}
    for source, to in kv["moved"]:
        node = before.get(source)
        if node is None:
            book.remark("moved", f"step {r.step}: slot {source} is moved to {to}, but nothing is known to lie there", tick)
            continue
        cache.move(source, to, node, tick)
    for slot in kv["garbage"]:
        if slot in cache.holder:
            cache.waste(slot, tick)
    for slot in kv["freed"]:
        cache.free(slot, tick, before.get(slot))


def settle(r: "Round", step: int, tick: int, on_path: Set[int]) -> None:
    """`on_path`: the nodes that became text (beams: that live texts go through)."""
    book = r.book
    told = [kv for kv in r.told_kv if kv["is_told"]]
    for kv in told:
        if kv["phase"] == "commit":
            _change_slots(r, kv, tick)
    is_target_told = any(kv["owner"] == "target" for kv in told)
    if book.caches["target"].holder and not is_target_told:
        if book.kind == "beams":
            _waste_dead_beams(r, tick, on_path)
        else:
            _settle_text(r, tick, on_path)
    elif book.is_dense and is_target_told:  # what was said of it decides how long it is now
        book.dense_length = 1 + max(book.caches["target"].holder, default=-1)
    for owner in OWNERS:
        mine = [kv for kv in r.told_kv if kv["owner"] == owner]
        figures = [kv for kv in mine if kv["live"] is not None or kv["reserved"] is not None]
        if figures or any(kv in told or kv["taken"] for kv in mine):
            memory.add(book, step, {**(figures or mine)[-1], "moved_bytes": sum(kv["moved_bytes"] for kv in mine)})
    if not r.told_kv and book.caches["target"].holder:
        memory.add(book, step, memory.NOTHING_TOLD)


def _waste_dead_beams(r: "Round", tick: int, live: Set[int]) -> None:
    cache = r.book.caches["target"]
    for slot, node in cache.holder.items():
        if node > 0 and node not in live and slot not in cache.garbage:
            cache.waste(slot, tick)


def _settle_text(r: "Round", tick: int, on_path: Set[int]) -> None:
    """KV of refused drafts is garbage; in a cache without gaps the accepted ones move next to the text and the rest
    is freed."""
    book = r.book
    cache = book.caches["target"]
    written = [(slot, node) for batch in r.batches if batch["owner"] == "target"
               for node, slot in zip(batch["nodes"], batch.get("slots") or ()) if slot >= 0]
    stays = [(slot, node) for slot, node in written if node in on_path or node == r.tip or node <= -2]
    if not book.is_dense:
        if len(stays) < len(written):
            kept = set(stays)
            for slot, node in written:
                if (slot, node) not in kept and cache.holder.get(slot) == node:
                    cache.waste(slot, tick)
        return
    stays.sort(key=lambda one: book.position(one[1]))
    at = book.dense_length
    for slot, node in stays:
        if slot != at:
            cache.move(slot, at, node, tick)
        at += 1
    cache.free_all([slot for slot, _ in written if slot >= at], tick)
    book.dense_length = at
