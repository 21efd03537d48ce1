"""A forward's rows: where they lie, what they see, what they say."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from . import _checks, _kv_step, _prompt, _values as values
from ._block import Block
from ._masks import each_bit
from ._words import DRAFT, FORWARD, OWNERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .round import Round


def place(r: "Round", batch: Dict[str, Any]) -> None:
    """Slots, and the mask in slots."""
    book, owner, nodes = r.book, batch["owner"], batch["nodes"]
    count = len(nodes)
    mask, columns = batch.get("mask"), batch.get("columns")
    slots = batch.get("slots")
    if slots is None and mask is not None and owner == "target" and book.kind != "beams":
        slots = batch["slots"] = _dense_slots(r, count, columns, batch["tick"])
    if book.is_late and owner == "target":
        batch["prompt"] = _prompt.places(book, r)
    if slots is not None:
        _checks.check_slots(r, batch)
    if mask is None:
        return
    if columns is not None and slots is None:
        book.remark("mask", f"step {r.step}: a mask of columns needs slots=… here; it is not recorded", batch["tick"])
        return
    if columns == count and slots is not None and slots != list(range(count)):
        batch["seen"] = _in_slots(mask, slots, _text_before(r, batch))
    else:
        batch["seen"] = mask
    _checks.check_mask(r, batch)


def _dense_slots(r: "Round", count: int, columns: Optional[int], tick: int) -> List[int]:
    """Where rows lie in a cache without gaps: behind the text."""
    book = r.book
    if not book.is_dense:
        book.is_dense = True
        book.dense_length = len(book.prompt or ()) - len(r.prompt_rows) + max(0, book.tree.depth[r.tip] - 1)
    base = book.dense_length if columns is None or columns == count else columns - count
    if base != book.dense_length:
        book.remark("columns", f"step {r.step}: the mask has {columns} columns; the text and {count} rows have "
                               f"{book.dense_length + count}, the rows alone {count}", tick)
        base = max(base, 0)
    return list(range(base, base + count))


def _in_slots(mask: List[int], slots: List[int], before: int) -> List[int]:
    """Columns of the rows alone as slots, and all of the text."""
    base = slots[0]
    if base >= 0 and slots == list(range(base, base + len(slots))):
        return [before | line << base for line in mask]
    found = []
    for line in mask:
        bits = before
        for column in each_bit(line):
            if slots[column] >= 0:
                bits |= 1 << slots[column]
        found.append(bits)
    return found


def _text_before(r: "Round", batch: Dict[str, Any]) -> int:
    """The slots, as bits, of the text that is not among the batch's rows."""
    book = r.book
    cache = book.caches[batch["owner"]]
    tree = book.tree
    bits = cache.text_bits(tree, len(book.prompt or ()), tree.parent[r.tip] if r.tip > 0 else 0)
    if book.is_dense and batch["owner"] == "target":
        bits |= (1 << book.dense_length) - 1
    else:
        for slot in batch.get("prompt") or ():
            bits |= 1 << slot
    if r.tip > 0 and r.tip not in batch["nodes"]:
        at = cache.slot_of.get(r.tip)
        if at is not None:
            bits |= 1 << at
    return bits


def write(r: "Round", step: int) -> Dict[int, values.Row]:
    """The rows of all forwards; returns what the target says behind each node."""
    book = r.book
    draft, forward = 5 * step + DRAFT, 5 * step + FORWARD
    if not all(r.sent):
        for index, node in enumerate(r.drafts):
            if not r.sent[index] and not r.is_probe[index]:
                book.add("verdict", (draft, node, "withdrawn", None, None, None, None, r.scores.get(index), None, None, None,
                                     None, None, None, None))
    said: Dict[int, values.Row] = {}
    for is_target, tick in ((False, draft), (True, forward)):
        for batch in r.batches:
            if (batch["owner"] == "target") == is_target:
                _kv_step.between(r, batch["owner"], batch["forward"], tick)
                _write_batch(r, step, batch, tick)
        for owner in OWNERS:
            if (owner == "target") == is_target:
                _kv_step.between(r, owner, None, tick)
        for owner, nodes, rows in r.outputs if not is_target else ():
            if owner != "target":
                _write_said(r, owner, nodes, rows, tick)
        for kv in r.told_kv:
            if (kv["owner"] == "target") == is_target:
                for slot, node in kv["taken"]:
                    book.caches[kv["owner"]].take(slot, node, tick)
    for owner, nodes, rows in r.outputs:
        if owner == "target":
            said.update(_write_said(r, owner, nodes, rows, forward))
    if book.prompt_row is not None:
        said.setdefault(0, book.prompt_row)
    return said


def _write_batch(r: "Round", step: int, batch: Dict[str, Any], tick: int) -> None:
    book, owner, forward, nodes = r.book, batch["owner"], batch["forward"], batch["nodes"]
    inputs = book.rows.get("input")
    slots = batch.get("slots")
    if inputs is not None:
        positions = batch.get("positions")
        if positions is None:
            depth, above = book.tree.depth, len(book.prompt or ()) - 1
            positions = [above + depth[node] if node > -2 else -2 - node for node in nodes]
        at = slots
        if at is None:
            taken = {node: slot for kv in r.told_kv if kv["owner"] == owner for slot, node in kv["taken"]}
            at = [taken.get(node, -1) for node in nodes]
        naive = batch.get("naive")
        if naive is None and owner == "target":
            before = book.position(r.tip) if r.tip > 0 else len(book.prompt or ()) - len(r.prompt_rows)
            naive = range(before, before + len(nodes))
        inputs.append(Block(len(nodes), (step, range(len(nodes)), nodes, positions, at, positions if naive is None else naive, owner, forward)))
    if slots is not None:
        book.caches[owner].take_all(slots, nodes, tick)
    seen = book.rows.get("seen")
    if seen is not None and "seen" in batch:
        seen.append(Block(len(nodes), (step, range(len(nodes)), owner, forward, batch["seen"])))


def _write_said(r: "Round", owner: str, nodes: List[int], rows: List[values.Row], tick: int) -> Dict[int, values.Row]:
    book, tree = r.book, r.book.tree
    said: Dict[int, values.Row] = {}
    drafted: Dict[int, List[int]] = {}
    if owner != "target":
        for node in r.drafts:
            drafted.setdefault(tree.parent[node], []).append(tree.token[node])
    for node, row in zip(nodes, rows):
        about = r.row_node(node)
        if about is None:
            continue
        said[about] = row
        book.add_candidates(about, row, tick, owner, drafted.get(about, ()))
    return said
