"""What can be told while recording: Σ q, positions, slots, masks. A remark, and never an exception."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set

from ._masks import each_bit
from ._schema import LIMITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .round import Round

LAST_POSITION = LIMITS["input", "position"][1]  # type: ignore[index]


def check_q(r: "Round", tick: int) -> None:
    parent = r.book.tree.parent
    sums: Dict[int, float] = {}
    for node, q in zip(r.drafts, r.q):
        if q is not None and q < 1:
            sums[parent[node]] = sums.get(parent[node], 0.0) + q
    for above, total in sums.items():
        if total > 1 + 1e-3:
            r.book.remark("q", f"step {r.step}: the drafts below {r.book.name(above)} have Σ q = {total:.4g}, which is "
                               "above 1", tick)


def check_positions(r: "Round", batch: Dict[str, Any]) -> None:
    book = r.book
    positions = batch["positions"]
    if batch["owner"] == "target":
        for row, (node, position) in enumerate(zip(batch["nodes"], positions)):
            right = book.position(node)
            if position != right:
                book.remark("position", f"step {r.step}, row {row}: {book.name(node)} has position {position}; prompt + "
                                        f"depth - 1 is {right}", batch["tick"])
                break
    for row, position in enumerate(positions):
        if not 0 <= position <= LAST_POSITION:
            positions[row] = min(max(position, 0), LAST_POSITION)
            book.remark("position range", f"step {r.step}, row {row}: position {position} is none that a capture holds; "
                                          f"{positions[row]} stands for it", batch["tick"])


def check_slots(r: "Round", batch: Dict[str, Any]) -> None:
    """No slot is written twice, and none that the text needs."""
    book, owner, nodes, tick = r.book, batch["owner"], batch["nodes"], batch["tick"]
    cache = book.caches[owner]
    if cache.holder.keys().isdisjoint(batch["slots"]) and len(set(batch["slots"])) == len(batch["slots"]):
        return
    rows: Dict[int, int] = {}
    text: Set[int] = set()
    for row, slot in enumerate(batch["slots"]):
        if slot < 0:
            continue
        if slot in rows:
            book.remark("slot twice", f"step {r.step}: rows {rows[slot]} and {row} both write slot {slot}", tick)
        rows.setdefault(slot, row)
        holder = cache.holder.get(slot)
        if holder is None or holder == nodes[row] or slot in cache.garbage or owner != "target":
            continue
        if holder > 0 and not text:
            text = set(book.tree.path(r.tip))
        if holder in text or holder <= -2:
            book.remark("slot live", f"step {r.step}, row {row}: slot {slot} holds {book.name(holder)}, which is "
                                     "part of the text, and is written", tick)


def check_mask(r: "Round", batch: Dict[str, Any]) -> None:
    """Every row sees the text, its ancestors and itself, as far as it is known where they lie."""
    book, owner, nodes = r.book, batch["owner"], batch["nodes"]
    expected = _Expected(r, batch)
    all_wanted = expected.of_all(nodes)
    if batch["seen"] == all_wanted:
        return
    told: Set[str] = set()
    for row, (node, found, wanted) in enumerate(zip(nodes, batch["seen"], all_wanted)):
        if found == wanted:
            continue
        where = f"step {r.step}, row {row} ({book.name(node)})"
        extra = next((slot for slot in each_bit(found & ~wanted) if expected.holder(slot) is not None), None)
        if extra is not None and "extra" not in told:
            told.add("extra")
            book.remark("mask extra", f"{where} sees slot {extra}, which holds {book.name(expected.holder(extra) or 0)}: not its "
                                      "own text", batch["tick"])
        missing = next(each_bit(wanted & ~found), None)
        if missing is not None and "missing" not in told:
            told.add("missing")
            book.remark("mask missing", f"{where} does not see slot {missing}, which holds "
                                        f"{book.name(expected.holder(missing) or 0)} of its text", batch["tick"])


class _Expected:
    """The slots, as bits, that a row of a batch is to see."""

    def __init__(self, r: "Round", batch: Dict[str, Any]):
        book = r.book
        self._tree = book.tree
        self._cache = book.caches[batch["owner"]]
        self._position = book.position
        self._prompt = len(book.prompt or ())
        self._window = book.window if batch["owner"] == "target" else 0
        self._prompt_slots = batch.get("prompt") or ()
        self._here: Dict[int, int] = dict(zip(batch["nodes"], batch.get("slots") or ()))
        self._rows_at: Optional[Dict[int, int]] = None
        self._known: Dict[int, int] = {}
        # The text above this round's rows is the same for all of them.
        base = self._tree.parent[r.tip] if r.tip > 0 else 0
        if not self._prompt_slots and all(node > base or node == -1 for node in self._here):
            self._known[base] = self._cache.text_bits(self._tree, self._prompt, base)

    def holder(self, slot: int) -> "int | None":
        if self._rows_at is None:
            self._rows_at = {place: node for node, place in self._here.items()}
        if slot in self._rows_at:
            return self._rows_at[slot]
        node = self._cache.holder.get(slot)
        if node is not None and self._cache.slot_of.get(node) == slot and node not in self._here:
            return node
        for i, place in enumerate(self._prompt_slots):
            if place == slot and -2 - i not in self._here and -2 - i not in self._cache.slot_of:
                return -2 - i
        return None

    def _bit(self, node: int) -> int:
        slot = self._here.get(node)
        if slot is None:
            slot = self._cache.slot_of.get(node)
        if slot is None and node <= -2 and -2 - node < len(self._prompt_slots):
            slot = self._prompt_slots[-2 - node]
        return 1 << slot if slot is not None and slot >= 0 else 0

    def of_all(self, nodes: List[int]) -> List[int]:
        """of() each; a row whose parent's is known sees that and itself."""
        known, here, parent = self._known, self._here, self._tree.parent
        if self._window or not here:
            return [self.of(node) for node in nodes]
        found = []
        for node in nodes:
            above = known.get(parent[node]) if node > 0 else None
            if above is None:
                found.append(self.of(node))
                continue
            slot = here[node]
            known[node] = bits = above | 1 << slot if slot >= 0 else above
            found.append(bits)
        return found

    def of(self, node: int) -> int:
        own = self._position(node)
        if self._window and own >= self._window:
            return self._of_window(node, own - self._window + 1)
        path = []
        at = node
        while at > 0 and at not in self._known:
            path.append(at)
            at = self._tree.parent[at]
        if at not in self._known:
            last = -2 - at if at <= -2 else self._prompt - 1
            bits = 0
            for i in range(last + 1):
                bits |= self._bit(-2 - i)
            self._known[at] = bits
        bits = self._known[at]
        for one in reversed(path):
            bits |= self._bit(one)
            self._known[one] = bits
        return bits

    def _of_window(self, node: int, first: int) -> int:
        """From the position `first` on."""
        bits = 0
        while node > 0 and self._position(node) >= first:
            bits |= self._bit(node)
            node = self._tree.parent[node]
        if node <= 0:
            last = -2 - node if node <= -2 else self._prompt - 1
            for i in range(first, last + 1):
                bits |= self._bit(-2 - i)
        return bits
