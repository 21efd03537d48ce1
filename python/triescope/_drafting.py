"""Drafts, hung into the tree."""

from __future__ import annotations

from typing import Any, List, Optional, Union

from . import _values as values
from ._words import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .round import Round


def parents_of(parents: Any, count: int, first: int) -> List[Union[int, Node]]:
    """Of `count` drafts the indices above them; `first` is the first one's own. Without parents a chain."""
    if parents is None:
        return list(range(first - 1, first - 1 + count))
    if isinstance(parents, Node):
        parents = [parents]
    if isinstance(parents, (list, tuple)) and any(type(one) is Node for one in parents):
        plain = values.ids(parents, "draft(parents)", "indices")
        above: List[Union[int, Node]] = [a if isinstance(a, Node) else p for a, p in zip(parents, plain)]
    else:
        above = list(values.ids(parents, "draft(parents)", "indices"))
    if len(above) != count:
        raise TypeError(f"draft(parents): expected {count} indices, one for each token, found {len(above)}; "
                        "-1 stands for the end of the text")
    return above


def hang_all(r: "Round", tokens: List[int], above: List[Union[int, Node]], qs: List[Optional[float]], drafter: int, tick: int,
             probe: bool) -> List[int]:
    """The drafts' nodes. A parent that is not there is remarked, and the draft hangs at the end of the text."""
    if not probe:
        plain = _hang_plain(r, tokens, above, qs, drafter, tick)
        if plain is not None:
            return list(plain)
    book = r.book
    hang = book.hang
    first, total = len(r.drafts), len(r.drafts) + len(tokens)
    role = "probe" if probe else "candidate"
    nodes: List[int] = [-1] * len(tokens)
    places = list(r.drafts)  # of all drafts so far, by index

    def add(i: int, at: int) -> None:
        token = tokens[i]
        key = book.tree.keys([at], [token])[0]
        is_twice = key in r.drafted
        if is_twice:
            book.remark("twice", f"step {r.step}: draft {first + i}{book.piece_text(token)} is drafted twice "
                                 f"below {book.name(at)}", tick)
        r.drafted.add(key)
        nodes[i] = hang(at, token, "draft", tick, q=qs[i], drafter=drafter, again=not is_twice and not probe, role=role)

    def add_out_of_order(i: int, below: "frozenset[int]") -> int:
        if nodes[i] >= 0:
            return nodes[i]
        parent = above[i]
        at = r.tip
        if isinstance(parent, Node):
            if 0 <= parent < len(book.tree):
                at = int(parent)
            else:
                book.remark("parent", f"step {r.step}: draft {first + i} hangs below node {int(parent)}, which "
                                      "is not there; it is shown at the end of the text", tick)
        elif 0 <= parent < first:
            at = places[parent]
        elif first <= parent < total and parent - first not in below and parent != first + i:
            at = add_out_of_order(parent - first, below | {i})
        elif parent != -1:
            book.remark("parent", f"step {r.step}: draft {first + i} hangs below draft {parent}, which is not "
                                  "there; it is shown at the end of the text", tick)
        add(i, at)
        return nodes[i]

    for i, parent in enumerate(above):
        if nodes[i] < 0:
            if type(parent) is int and -1 <= parent < first + i:
                add(i, r.tip if parent < 0 else places[parent] if parent < first else nodes[parent - first])
            else:
                add_out_of_order(i, frozenset())
    return nodes


def _hang_plain(r: "Round", tokens: List[int], above: List[Union[int, Node]], qs: List[Optional[float]], drafter: int,
                tick: int) -> Optional[range]:
    """The same for drafts that come behind the ones they hang below, none of them twice or there already: all at once.
    None: they are not so, and nothing was hung."""
    first, places, tip = len(r.drafts), r.drafts, r.tip
    begin = len(r.book.tree) - first
    if not all(type(parent) is int and -1 <= parent < i for i, parent in enumerate(above, first)):
        return None
    parents = [tip if parent < 0 else places[parent] if parent < first else begin + parent for parent in above]
    tree = r.book.tree
    keys = tree.keys(parents, tokens)
    if len(set(keys)) < len(keys) or not tree.children.keys().isdisjoint(keys):
        return None
    r.drafted.update(keys)
    return r.book.hang_drafts(parents, tokens, keys, tick, qs, drafter)
