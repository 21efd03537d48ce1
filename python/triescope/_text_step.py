"""A step of a text or of drafts: what was accepted, and the target's own token."""

from __future__ import annotations

import json
import math
from typing import Any, Collection, Dict, List, Optional

from . import _kv_step, _values as values, _verdicts
from ._block import Block
from ._words import ACCEPT, COMMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .round import Round


def decide(r: "Round", step: int, said: Dict[int, values.Row]) -> None:
    book, tree = r.book, r.book.tree
    accept = 5 * step + ACCEPT
    assert r.committed is not None
    what = r.committed
    accepted, last, token = what["accepted"], what["last"], what["token"]
    drafts, parent = r.drafts, tree.parent
    on_path = {drafts[i] for i in accepted}
    sent = range(len(drafts))
    if not all(r.sent) or any(r.is_probe):
        sent = [i for i in sent if r.sent[i] and not r.is_probe[i]]  # type: ignore[assignment]
    if said:
        for i in sent:
            _learn(r, drafts[i], said, accept)
    refused = any(parent[drafts[i]] == last and drafts[i] not in on_path for i in sent)
    is_greedy = _is_greedy(book.settings)
    own = None
    if token is not None:
        if what["source"]:
            source = what["source"]
        elif refused:
            source = "corrected"
        elif accepted:
            source = "bonus"
        else:
            source = "sampled" if "token" in what["u"] or is_greedy is False else "greedy"
        row = said.get(last)
        own = book.hang(last, token, source, accept, logprob=row[1](token) if row is not None else None)
        _learn(r, own, said, accept)  # a withdrawn draft that the target chose
    _judge_drafts(r, said, accept, sent, on_path, bool(is_greedy))
    if own is not None:
        _judge_own(r, said, accept, own, refused, bool(is_greedy))
    tip = own if own is not None else last
    ends = what["ends"]
    if ends:
        _verdicts.add(book, accept, tip, "finished", score=tree.score[tip],
                      reason={"eos": "eos", "length": "max_tokens"}.get(ends))
        book.add("sequence", (accept, tip or None, -1, None, ends, json.dumps(tree.tokens(tip))))
    else:
        book.add("frontier", (step, 0, tip, tree.score[tip]))
    rows = sum(len(batch["nodes"]) for batch in r.batches if batch["owner"] == "target")
    if step == 0:
        rows = len(book.prompt or ())
    elif not rows:
        rows = 1 + len(sent)
    book.add("step", (step, rows, len(sent), len(accepted), len(accepted) + (own is not None), 0 if ends else 1))
    book.frontier = [tip]
    _kv_step.settle(r, step, 5 * step + COMMIT, on_path)


def _judge_drafts(r: "Round", said: Dict[int, values.Row], accept: int, sent: Any, on_path: "set[int]", is_greedy: bool) -> None:
    """The verdicts of the drafts: those with a u in the order in which they were told, so siblings as they were tried; then the
    rest of the accepted path, then the others."""
    book, tree = r.book, r.book.tree
    if "verdict" not in book.rows:
        return
    what = r.committed
    assert what is not None
    parent, drafts, token, last = tree.parent, r.drafts, what["token"], what["last"]
    ps, us, whys = what["p"], what["u"], what["why"]
    rejected: "set[int]" = set()
    done = set(what["accepted"])
    may = set(sent)
    tried = [i for i in us if i in may]
    order = dict.fromkeys([*tried, *what["accepted"], *sent])
    if not (said or ps or us or whys):
        _judge_plain(r, accept, order, done, rejected)
        return
    for i in order:
        node = drafts[i]
        above = parent[node]
        passed = i in done
        row = said.get(above) if said else None
        logprob = row[1](tree.token[node]) if row is not None else tree.logprob[node]
        p = ps.get(i, None if logprob is None else math.exp(logprob))
        q: Optional[float] = r.q[i]
        rank = replacement = reason = value = None
        if above in rejected:
            reason, q = "parent_refused", None
        elif is_greedy and row is not None and row[0]:
            best, best_logprob = row[0][0]
            if passed and logprob is not None and logprob >= best_logprob:
                reason, q = "is_argmax", None
            elif not passed and best != tree.token[node]:
                rank = row[2](tree.token[node])
                q, value, replacement = None, math.exp(best_logprob), best
                reason = None if rank is None else "not_argmax"
            elif not passed and above == last and what["ends"]:
                reason, q = "after_end", None  # right, but the text ended before it
        elif not passed and token is not None and above == last:
            replacement = token
        if passed:
            rejected.discard(node)
        else:
            rejected.add(node)
        _verdicts.add(book, accept, node, "accepted" if passed else "rejected", p, q, us.get(i), rank, None, None, replacement,
                      reason, value, why=whys.get(i))


def _judge_plain(r: "Round", accept: int, order: Collection[int], done: "set[int]", rejected: "set[int]") -> None:
    """The same where nothing is known of the drafts but what became of them: the many drafts of a large tree."""
    book, tree = r.book, r.book.tree
    what = r.committed
    assert what is not None
    if not order:
        return
    parent, known, token, last = tree.parent, tree.logprob, what["token"], what["last"]
    nodes = [r.drafts[i] for i in order]
    verdicts = ["accepted" if i in done else "rejected" for i in order]
    ps = [None if known[node] is None else math.exp(known[node]) for node in nodes]  # type: ignore[arg-type]
    qs = [r.q[i] for i in order]
    replacements: List[Optional[int]] = [None] * len(nodes)
    reasons: List[Optional[str]] = [None] * len(nodes)
    for row, (node, verdict) in enumerate(zip(nodes, verdicts)):
        above = parent[node]
        is_rejected = verdict == "rejected"
        if above in rejected:
            reasons[row], qs[row] = "parent_refused", None
        elif is_rejected and above == last:
            replacements[row] = token
        if is_rejected:
            rejected.add(node)
    p_column = ps if any(p is not None for p in ps) else None
    book.add("verdict", Block(len(nodes), (accept, nodes, verdicts, p_column, qs, None, None, None, None, replacements, reasons, None, None, None, None)))


def _judge_own(r: "Round", said: Dict[int, values.Row], accept: int, own: int, refused: bool, is_greedy: bool) -> None:
    """The verdict of the target's own token."""
    what = r.committed
    assert what is not None
    token, us = what["token"], what["u"]
    row = said.get(what["last"])
    rank = row[2](token) if row is not None else None
    logprob = row[1](token) if row is not None else None
    reason = None
    if is_greedy and rank == 0:
        reason = "argmax"
    elif "token" in us:
        reason = "drawn" if not refused else None
    _verdicts.add(r.book, accept, own, "corrected" if refused else "bonus" if what["accepted"] else "emitted",
                  what["p"].get("token", None if logprob is None else math.exp(logprob)), None, us.get("token"), rank,
                  r.book.tree.score[own], reason=reason, why=what["why"].get("token"))


def _learn(r: "Round", node: int, said: Dict[int, values.Row], tick: int) -> None:
    """log p of a draft, out of the row above it."""
    tree = r.book.tree
    row = said.get(tree.parent[node])
    if row is None or tree.logprob[node] is not None:
        return
    logprob = row[1](tree.token[node])
    if logprob is not None:
        above = tree.score[tree.parent[node]]
        tree.logprob[node] = logprob
        tree.score[node] = None if above is None else above + logprob
        r.book.add("node_score", (node, logprob, tree.score[node], tick))


def _is_greedy(settings: Dict[str, Any]) -> Optional[bool]:
    """What the settings say of how tokens are chosen; None: nothing."""
    verify = settings.get("verify")
    if verify is not None:
        return verify == "greedy"
    if settings.get("do_sample") is not None:
        return not settings["do_sample"]
    temperature = settings.get("temperature")
    return None if temperature is None else temperature == 0
