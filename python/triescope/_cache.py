"""A KV cache: who lies in a slot, where an occupant lies. Occupants are nodes, prompt token i is -2 - i."""

from __future__ import annotations

from collections import deque
from typing import Any, Dict, List, Optional, Set, Tuple, Union

from ._block import Block
from ._tree import Tree


class Cache:
    """The slots of one owner. Every change is also a row of the capture's slot events."""

    __slots__ = ("owner", "events", "holder", "slot_of", "used", "garbage", "_known")

    def __init__(self, owner: str, events: Optional[List[Any]]):
        self.owner = owner
        self.events: Union[List[Any], "deque[Any]"] = deque(maxlen=0) if events is None else events  # not recorded: dropped
        self.holder: Dict[int, int] = {}
        self.slot_of: Dict[int, int] = {}
        self.used: Set[int] = set()  # slots that were ever taken
        self.garbage: Set[int] = set()
        # A node, and the slots of the prompt and of its path as bits: kept until one of them changes.
        self._known: Optional[Tuple[int, int]] = None

    def take(self, slot: int, node: int, tick: int) -> None:
        if slot < 0 or self.holder.get(slot) == node:
            return
        if slot in self.used:
            self.events.append((tick, "reuse", slot, node, -1, self.owner))
        else:
            self.used.add(slot)
            self.events.append((tick, "alloc", slot, node, -1, self.owner))
        self.put(slot, node)

    def take_all(self, slots: List[int], nodes: List[int], tick: int) -> None:
        """take() of each; where all slots are free, as a tree's are, at once."""
        holder, used = self.holder, self.used
        if len(slots) == 1 or not holder.keys().isdisjoint(slots) or min(slots, default=0) < 0 or len(set(slots)) < len(slots):
            for slot, node in zip(slots, nodes):
                self.take(slot, node, tick)
            return
        fresh = len(slots) - len(used.intersection(slots))
        action: Any = "alloc" if fresh == len(slots) else "reuse"
        if 0 < fresh < len(slots):
            action = ["reuse" if slot in used else "alloc" for slot in slots]
        self.events.append(Block(len(slots), (tick, action, slots, nodes, -1, self.owner)))
        used.update(slots)
        holder.update(zip(slots, nodes))
        self._touch(min(nodes, default=0))
        self.slot_of.update(zip(nodes, slots))
        self.garbage.difference_update(slots)

    def put(self, slot: int, node: int) -> None:
        before = self.holder.get(slot)
        if before is not None and self.slot_of.get(before) == slot:
            self._forget(before)
        self.holder[slot] = node
        self._touch(node)
        self.slot_of[node] = slot
        self.garbage.discard(slot)

    def move(self, source: int, to: int, node: int, tick: int) -> None:
        self.used.add(to)
        self.put(to, node)
        self.events.append((tick, "move", to, node, source, self.owner))

    def free(self, slot: int, tick: int, node: Optional[int] = None) -> None:
        """`node`: who is freed, where the slot holds another one by now."""
        holder = self.holder.pop(slot, None)
        self.garbage.discard(slot)
        if holder is not None and self.slot_of.get(holder) == slot:
            self._forget(holder)
        node = holder if node is None else node
        self.events.append((tick, "free", slot, 0 if node is None else node, -1, self.owner))

    def free_all(self, slots: List[int], tick: int) -> None:
        """free() of each that is held."""
        holder, slot_of = self.holder, self.slot_of
        held = [slot for slot in dict.fromkeys(slots) if slot in holder]
        self.garbage.difference_update(slots)
        if not held:
            return
        nodes = [holder.pop(slot) for slot in held]
        self._touch(min(nodes))
        for slot, node in zip(held, nodes):
            if slot_of.get(node) == slot:
                del slot_of[node]
        self.events.append(Block(len(held), (tick, "free", held, nodes, -1, self.owner)))

    def waste(self, slot: int, tick: int) -> None:
        """What lies there is not needed any more."""
        self.garbage.add(slot)
        self.events.append((tick, "garbage", slot, self.holder[slot], -1, self.owner))

    def _forget(self, node: int) -> None:
        self._touch(node)
        del self.slot_of[node]

    def _touch(self, node: int) -> None:
        if self._known is not None and node <= self._known[0]:
            self._known = None

    def text_bits(self, tree: Tree, prompt: int, node: int) -> int:
        """The slots of `prompt` tokens and of the path to `node` as bits, as far as they are known."""
        slot_of, parent = self.slot_of, tree.parent
        stop, bits = (0, 0) if self._known is None else self._known
        at, more = node, 0
        while at > stop:
            slot = slot_of.get(at)
            if slot is not None:
                more |= 1 << slot
            at = parent[at]
        if at != stop:  # another branch
            self._known = None
            return self.text_bits(tree, prompt, node)
        if stop == 0 and self._known is None:
            for i in range(prompt):
                slot = slot_of.get(-2 - i)
                if slot is not None:
                    bits |= 1 << slot
        self._known = (node, bits | more)
        return bits | more
