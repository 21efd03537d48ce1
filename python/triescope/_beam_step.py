"""A step of a beam search: which continuations go on, which end a text, which are cut."""

from __future__ import annotations

import json
import math
from typing import Any, Dict, List, Optional, Set

from . import _kv_step, _values as values, _verdicts
from ._words import ACCEPT, COMMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .round import Round


def decide(r: "Round", step: int, said: Dict[int, values.Row]) -> None:
    book, tree = r.book, r.book.tree
    accept, commit = 5 * step + ACCEPT, 5 * step + COMMIT
    frontier = list(r.frontier)
    dead: List[int] = []
    emitted = 0
    for level in r.levels:
        emitted += bool(level["kept"] or level["finished"])
        frontier = _decide_level(r, step, level, frontier, said, dead)
    for rank, node in enumerate(frontier):
        book.add("frontier", (step, rank, node, tree.score[node]))
    rows = sum(len(batch["nodes"]) for batch in r.batches if batch["owner"] == "target")
    if step == 0:
        rows = len(book.prompt or ())
    elif not rows:
        rows = len(r.frontier)
    book.add("step", (step, rows, 0, 0, emitted, len(frontier)))
    live = _live_nodes(r, frontier)
    _prune_unreached(r, commit, live, dead)
    if r.levels:
        book.frontier = frontier
    _kv_step.settle(r, step, commit, live | {0})


def _decide_level(r: "Round", step: int, level: Dict[str, Any], frontier: List[int], said: Dict[int, values.Row],
                  dead: List[int]) -> List[int]:
    """Verdicts of a level's continuations and of the beams above them; returns the beams that go on."""
    book, tree = r.book, r.book.tree
    accept = 5 * step + ACCEPT
    tokens, scores, kept = level["tokens"], level["scores"], level["kept"]
    ended = dict(level["finished"])
    above = _beams_above(r, step, level["parents"], frontier)
    rest = [i for i in range(len(tokens)) if i not in kept and i not in ended]
    cut = max((scores[i] for i in rest if scores[i] is not None), default=None)
    worst = min((scores[i] for i in kept if scores[i] is not None), default=None)
    nodes: Dict[int, int] = {}
    order = list(ended) + kept + rest
    for i in order:
        score, before = scores[i], tree.score[above[i]]
        logprob = score - before if score is not None and before is not None else None
        nodes[i] = book.hang(above[i], tokens[i], "beam", accept, logprob=logprob, score=score)
    for i in order:
        node, score, why = nodes[i], scores[i], level["why"].get(i)
        logprob = tree.logprob[node]
        p = None if logprob is None else math.exp(logprob)
        gap = level["gaps"][i] if level["gaps"] is not None else None
        if i in ended:
            _finish(r, accept, node, p, score, ended[i], why)
        elif i in kept:
            if gap is None and cut is not None and score is not None:
                gap = max(0.0, score - cut)
            _verdicts.add(book, accept, node, "kept", p, rank=kept.index(i), score=score, gap=gap,
                          reason="beam_kept" if cut is not None else "beam_kept_of_all", threshold=cut, count=book.width, why=why)
        else:
            if gap is None and worst is not None and score is not None:
                gap = max(0.0, worst - score)
            _verdicts.add(book, accept, node, "pruned", p, score=score, gap=gap, why=why)
            dead.append(node)
    goes_on = {above[i] for i in kept} | {above[i] for i in ended}
    for place, beam in enumerate(frontier):
        if beam in goes_on or beam == 0:
            continue
        best = max((scores[i] for i in rest if above[i] == beam and scores[i] is not None), default=None)
        row, score = said.get(beam), tree.score[beam]
        if row is not None and row[0] and score is not None:
            best = score + row[0][0][1]
        why = level["why"].get(("beam", place))
        if best is not None and worst is not None:
            _verdicts.add(book, accept, beam, "pruned", score=score, gap=max(0.0, worst - best), reason="beam_outdone", value=best,
                          threshold=worst, count=len(kept), why=why)
        else:
            _verdicts.add(book, accept, beam, "pruned", score=score, why=why)
        dead.append(beam)
    return [nodes[i] for i in kept]


def _beams_above(r: "Round", step: int, parents: List[int], frontier: List[int]) -> List[int]:
    above = []
    for i, parent in enumerate(parents):
        if parent == -1 and frontier == [0]:
            parent = 0
        if not 0 <= parent < len(frontier):
            r.book.remark("parent", f"step {step}: continuation {i} goes on from beam {parent}, which is not there; "
                                    "it is shown below the best", 5 * step + ACCEPT)
            parent = 0
        above.append(frontier[parent])
    return above


def _finish(r: "Round", accept: int, node: int, p: Optional[float], score: Optional[float], value: Optional[float],
            why: Any) -> None:
    """A continuation that ends a text; `value`: its score after the length penalty."""
    book = r.book
    path = book.tree.path(node)
    tokens = [book.tree.token[one] for one in path]
    end = book.end_of(tokens)
    value = score if value is None else value
    _verdicts.add(book, accept, node, "finished", p, score=value, value=score, count=len(tokens),
                  reason={"length": "beam_max_tokens", "eos": "beam_eos"}.get(end), why=why)
    book.add("sequence", (accept, node, -1, value, end, json.dumps(tokens)))
    book.ended.update(path)


def _live_nodes(r: "Round", frontier: List[int]) -> Set[int]:
    """The nodes that a live text goes through."""
    parent = r.book.tree.parent
    live: Set[int] = set()
    for node in frontier:
        while node > 0 and node not in live:
            live.add(node)
            node = parent[node]
    return live


def _prune_unreached(r: "Round", commit: int, live: Set[int], dead: List[int]) -> None:
    """Nodes above dead ends that no live text goes through any more."""
    book, tree = r.book, r.book.tree
    gone = set(dead)
    for node in dead + (r.frontier if r.levels else []):
        node = tree.parent[node] if node in gone else node
        while node > 0 and node not in live and node not in book.ended and node not in gone:
            gone.add(node)
            _verdicts.add(book, commit, node, "pruned", score=tree.score[node], reason="no_live_text")
            node = tree.parent[node]
