"""Step 0: the prompt, its rows and what was made of its last one. It is written when the first round says where the
prompt's KV lies, and whether that round's forward computes the prompt itself."""

from __future__ import annotations

import json
from typing import List, Optional

from . import _values as values
from . import _memory as memory
from ._book import Book
from ._words import FORWARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .round import Round


def begin(book: Book, ids: List[int], text: Optional[str], row: Optional[values.Row], slots: Optional[List[int]]) -> None:
    book.prompt = ids
    book.prompt_row = row
    book.prompt_slots = slots
    book.prompt_begun = book.now()
    book.add("node", (0, -1, -1, 0, 0.0, 0.0, 1.0, "prompt", 0, "candidate", -1))
    for token in ids:
        book.know(token)
    if text is None:
        text = b"".join(book.piece(token) or b"" for token in ids).decode("utf-8", "replace")
    book.write({"prompt_text": text, "prompt_tokens": json.dumps(ids)})


def close(book: Book, first: "Optional[Round]" = None) -> None:
    """Step 0 but for its rows. `first`: the first round, which may be what was made of the prompt's logits."""
    if book.step > 0 or book.prompt is None:
        return
    if book.prompt_row is not None:
        book.add_candidates(0, book.prompt_row, FORWARD, "target")
    if first is not None and first.is_choice:
        first.decide(0)
        book.add_phases(0, book.prompt_begun, first.times)
    else:
        alone = len(book.prompt) - (len(first.prompt_rows) if first is not None else 0)
        book.add("frontier", (0, 0, 0, 0.0))
        book.add("step", (0, alone, 0, 0, 0, 1))
        book.add_phases(0, book.prompt_begun, {})
    book.step = 1


def places(book: Book, of: "Optional[Round]") -> Optional[List[int]]:
    """Slots of the prompt's tokens, as far as they are told or follow from a round's rows; None: not known."""
    if book.prompt_slots is not None:
        return book.prompt_slots
    count = len(book.prompt or ())
    return list(range(count)) if book.is_dense or (of is not None and of.begins_behind(count)) else None


def inputs(book: Book, of: "Optional[Round]" = None) -> None:
    """The prompt's rows of step 0, all but those that the first forward of the rounds computed itself."""
    if not book.is_late or book.prompt is None:
        return
    book.is_late = False
    slots = places(book, of)
    later = of.prompt_rows if of is not None else set()
    row = 0
    for i in range(len(book.prompt)):
        if -2 - i in later:
            continue
        slot = -1 if slots is None else slots[i]
        book.add("input", (0, row, -2 - i, i, slot, i, "target", 0))
        book.caches["target"].take(slot, -2 - i, FORWARD)
        row += 1
    if slots is not None and not book.has_memory:
        memory.add_late(book, row)
