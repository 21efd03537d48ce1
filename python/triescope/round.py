"""A round: one draft, verify, commit, as its caller says it."""

from __future__ import annotations

import json
import math
from typing import Any, Dict, List, Optional, Set, Tuple

from . import _beam_step, _checks, _drafting, _placing, _prompt, _text_step, _values as values
from ._book import Book
from ._masks import mask_rows
from ._verdicts import told_of
from ._words import ACCEPT, DRAFT, FORWARD, KV_PHASES, LOG_LEVELS, OWNERS, PHASES, Node, NodeIndex, choice
from ._schema import LIMITS


class Round:
    """One draft, verify, commit. Made by Recorder.round(), used in a `with`."""

    def __init__(self, book: Book):
        self.book = book
        self.step = max(1, book.step)
        self.tip = book.frontier[0] if book.frontier else 0
        self.frontier = list(book.frontier)
        self.begun = book.now()
        self.first_node = len(book.tree)
        self.drafts: List[int] = []  # nodes, by index
        self.q: List[Optional[float]] = []
        self.sent: List[bool] = []
        self.is_probe: List[bool] = []
        self.scores: Dict[int, float] = {}  # by index
        self.drafted: Set[int] = set()  # the tree's keys
        self.batches: List[Dict[str, Any]] = []  # rows() calls
        self.prompt_rows: Set[int] = set()  # prompt tokens that the target's rows compute
        self.outputs: List[Tuple[str, List[int], List[values.Row]]] = []  # target() calls
        self.committed: Optional[Dict[str, Any]] = None
        self.levels: List[Dict[str, Any]] = []
        self.told_kv: List[Dict[str, Any]] = []
        self.times: Dict[str, float] = {}
        self.counted: Optional[Tuple[int, int, int, int]] = None
        self._more: List[Tuple[str, Tuple[Any, ...]]] = []

    def __enter__(self) -> "Round":
        book = self.book
        book.lock.acquire()
        book.is_in_round = True
        self._mark = {table: len(rows) for table, rows in book.rows.items() if rows}
        book.new_pieces.clear()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        book = self.book
        try:
            book.is_in_round = False
            if error is not None:
                self._undo()
                return
            self._close()
        finally:
            book.lock.release()

    # What a caller says.

    def draft(self, tokens: Any, parents: Any = None, q: Any = None, scores: Any = None, drafter: Any = None,
              sent: Any = True, *, probe: bool = False) -> List[int]:
        """Drafted tokens; may be called level by level. parents: of each the index among this round's drafts, -1 the
        end of the text; None: a chain. q: the probability each was drawn with (None: chosen, not drawn). scores: the
        drafter's cumulative log-probabilities. sent: whether the target gets them (one for all, or one each).
        Returns their indices."""
        found = values.tokens(tokens, "draft(tokens)", least=-1)
        count, first = len(found), len(self.drafts)
        above = _drafting.parents_of(parents, count, first)
        qs = values.numbers(q, count, "draft(q=…)")
        known = values.numbers(scores, count, "draft(scores=…)")
        if isinstance(sent, bool):
            sents = [sent] * count
        else:
            sents = [bool(one) for one in values.plain(sent)]
            if len(sents) != count:
                raise TypeError(f"draft(sent=…): expected {count} truth values, found {len(sents)}")
        by = self.book.drafter(drafter)
        tick = 5 * self.step + DRAFT
        self.drafts += _drafting.hang_all(self, found, above, qs, by, tick, probe)
        self.q += qs
        self.sent += sents
        self.is_probe += [probe] * count
        if scores is not None:
            self.scores.update((first + i, score) for i, score in enumerate(known) if score is not None)
        if q is not None:
            _checks.check_q(self, tick)
        return list(range(first, first + count))

    def rows(self, nodes: Any, positions: Any = None, slots: Any = None, mask: Any = None, owner: str = "target", *,
             naive_positions: Any = None) -> None:
        """A forward's rows, in the order of the batch. nodes: an index among this round's drafts, -1 the end of the
        text, -2 - i prompt token i (beams: the beam's rank). mask: bool [rows, slots or rows], additive float, or
        a list of slots for each row."""
        choice("rows(owner=…)", owner, OWNERS)
        found = self._resolve_all(nodes, "rows(nodes)")
        count = len(found)
        batch: Dict[str, Any] = {"owner": owner, "nodes": found,
                                 "forward": sum(one["owner"] == owner for one in self.batches)}
        tick = 5 * self.step + (FORWARD if owner == "target" else DRAFT)
        batch["tick"] = tick
        if positions is not None:
            batch["positions"] = values.ids(positions, "rows(positions=…)", "positions")
        if naive_positions is not None:
            batch["naive"] = values.ids(naive_positions, "rows(naive_positions=…)", "positions")
        if slots is not None:
            batch["slots"] = values.slots(slots, "rows(slots=…)", -1)
        for name in ("positions", "slots", "naive"):
            if name in batch and len(batch[name]) != count:
                raise TypeError(f"rows({name}=…): expected {count}, one for each row, found {len(batch[name])}")
        if mask is not None:
            batch["mask"], batch["columns"] = mask_rows(mask, count, "rows(mask=…)")
        self.batches.append(batch)
        if owner == "target":
            self.prompt_rows.update(node for node in found if node <= -2)
        _placing.place(self, batch)
        if "positions" in batch:
            _checks.check_positions(self, batch)

    def target(self, logits: Any, owner: str = "target") -> None:
        """What the rows of the newest rows() say: logits [rows, vocabulary] (or log-probabilities), or
        [(token, log p), …] a row; fewer than rows() has are those of the last rows. Without rows(): the end of the
        text, then the drafts that were sent."""
        found = values.rows_of(logits, self.book.best, "target(logits)")
        if owner == "target":
            self.book.learn_dtype(logits)
        expected = self._output_nodes(owner)
        if len(found) > len(expected):
            raise TypeError(f"target(logits): expected {len(expected)} rows, as many as rows() has (without it: the end "
                            f"of the text and the drafts sent), found {len(found)}; pass logits[0, -{len(expected)}:]")
        # Fewer: those of the last rows, as engines compute them.
        nothing: values.Row = ([], lambda token: None, lambda token: None)
        found = [nothing] * (len(expected) - len(found)) + found
        self.outputs.append((owner, list(expected), found))

    def commit(self, accepted: Any = (), token: Any = None, p: Any = None, u: Any = None, why: Any = None, *,
               ends: Optional[str] = None, source: Optional[str] = None) -> None:
        """What became text: `accepted`, a path of drafts, then `token`, the target's own (None at the end of the text).
        p, u and why are of the token, or a dict {draft: value, "token": value}; the drafts of u stand in the order in which
        they were tried. why: words of your own, or a dict of a verdict's columns (reason, threshold, …). ends: "eos" or "length" where the text ends here."""
        book = self.book
        if book.kind == "beams":
            raise RuntimeError('commit(): expected level() in a recorder of kind "beams"')
        if self.committed is not None:
            raise RuntimeError("commit(): expected one commit a round, found a second; begin another round")
        path = values.ids(accepted, "commit(accepted)", "indices of drafts") if accepted != () else []
        own = None
        if token is not None:
            own = values.an_id(token, "commit(token)")
            if not 0 <= own <= values.LAST_TOKEN:
                raise TypeError(f"commit(token): expected a token id, found {own}; None stands for no token")
        if source is not None:
            choice("commit(source=…)", source, sorted(LIMITS["node", "source"]))  # type: ignore[arg-type]
        tick = 5 * self.step + ACCEPT
        known: List[int] = []
        whys = told_of(why, "commit(why=…)")
        at = self.tip
        parent = book.tree.parent
        for index in path:
            if not 0 <= index < len(self.drafts):
                book.remark("accepted", f"step {self.step}: accepted names draft {index}, which is not there", tick)
                continue
            node = self.drafts[index]
            if parent[node] != at:
                text = (f"step {self.step}: accepted is not a path: draft {index} hangs below "
                        f"{book.name(parent[node])}, not below {book.name(at)}")
                book.remark("path", text, tick)
                whys.setdefault(index, text)
            known.append(index)
            at = node
        self.committed = {"accepted": known, "token": own, "p": told_of(p, "commit(p=…)"), "u": told_of(u, "commit(u=…)"),
                          "why": whys, "ends": ends, "source": source, "last": at}

    def level(self, tokens: Any, parents: Any, scores: Any, kept: Any = (), finished: Any = (), gaps: Any = None, *,
              why: Any = None) -> None:
        """A level of a beam search: its continuations. parents: the rank of the beam each goes on from (-1: the
        prompt). scores: Σ log p. kept: the indices that go on, best first. finished: those that ended a text, or
        (index, score after the length penalty). gaps: the distance of each to the cut. why: {index: …} as in
        commit(), and {("beam", rank): …} of beams that nothing goes on from."""
        book = self.book
        if book.kind != "beams":
            raise RuntimeError(f'level(): expected a recorder of kind "beams", found "{book.kind}"; call commit()')
        found = values.tokens(tokens, "level(tokens)")
        above = values.ids(parents, "level(parents)", "ranks of beams")
        if len(above) != len(found):
            raise TypeError(f"level(parents): expected {len(found)}, one for each token, found {len(above)}")
        if scores is None:
            raise values.wrong("level(scores)", "Σ log p of each", scores, "pass a list of numbers")
        ends: List[Tuple[int, Optional[float]]] = []
        for one in (finished if isinstance(finished, (list, tuple)) else values.plain(finished)):
            if isinstance(one, (list, tuple)):
                ends.append((int(one[0]), values.number(one[1], "level(finished)")))
            else:
                ends.append((values.an_id(one, "level(finished)"), None))
        goes_on = values.ids(kept, "level(kept)", "indices")
        for index in goes_on + [one for one, _ in ends]:
            if not 0 <= index < len(found):
                raise TypeError(f"level(): expected indices from 0 to {len(found) - 1}, found {index} in kept or finished")
        self.levels.append({"tokens": found, "parents": above, "kept": goes_on, "finished": ends,
                            "scores": values.numbers(scores, len(found), "level(scores)"),
                            "gaps": values.numbers(gaps, len(found), "level(gaps)") if gaps is not None else None,
                            "why": told_of(why, "level(why=…)")})

    def kv(self, taken: Any = (), moved: Any = None, freed: Any = None, garbage: Any = None, live: Optional[int] = None,
           reserved: Optional[int] = None, bytes_per_token: Optional[int] = None, *, owner: str = "target",
           moved_bytes: int = 0, greedy: Optional[int] = None, batch_beam: Optional[int] = None,
           device: Tuple[int, int] = (-1, -1), phase: str = "commit") -> None:
        """What happened to KV slots: taken [(slot, node)], moved [(from, to)], freed and garbage [slot]; live and
        reserved: tokens at the end of the step. An empty list says that nothing was; without a list what follows from the
        commit is assumed. phase: when slots were moved, freed or marked as garbage: at the "commit", or with the owner's
        "forward"s, between the calls of rows() where this call stands."""
        choice("kv(owner=…)", owner, OWNERS)
        choice("kv(phase=…)", phase, KV_PHASES)
        is_told = any(one is not None for one in (moved, freed, garbage))
        moved, freed, garbage = (() if one is None else one for one in (moved, freed, garbage))

        def pairs(value: Any, name: str) -> List[Tuple[Any, Any]]:
            result = []
            for one in value if isinstance(value, (list, tuple)) else values.plain(value):
                if not isinstance(one, (list, tuple)) or len(one) != 2:
                    raise TypeError(f"kv({name}=…): expected pairs, found {one!r}; pass [(slot, …), …]")
                result.append((one[0], one[1]))
            return result

        def slot(value: Any, name: str) -> int:
            return values.slots([values.an_id(value, f"kv({name}=…)")], f"kv({name}=…)")[0]

        self.told_kv.append({"owner": owner, "is_told": is_told, "taken": [(slot(at, "taken"), self._resolve(node, "kv(taken=…)"))
                                                       for at, node in pairs(taken, "taken")],
                             "moved": [(slot(a, "moved"), slot(b, "moved")) for a, b in pairs(moved, "moved")],
                             "freed": values.slots(freed, "kv(freed=…)"),
                             "garbage": values.slots(garbage, "kv(garbage=…)"),
                             "live": values.count(live, "kv(live=…)"), "reserved": values.count(reserved, "kv(reserved=…)"),
                             "bytes": bytes_per_token, "moved_bytes": moved_bytes,
                             "greedy": values.count(greedy, "kv(greedy=…)"),
                             "batch_beam": values.count(batch_beam, "kv(batch_beam=…)"), "device": device, "phase": phase,
                             "forward": sum(one["owner"] == owner for one in self.batches)})

    def time(self, draft: float = 0.0, forward: float = 0.0, accept: float = 0.0, commit: float = 0.0,
             observe: float = 0.0) -> None:
        """Milliseconds of each phase."""
        for name, value in zip(PHASES, (draft, forward, accept, commit, observe)):
            if value:
                self.times[name] = self.times.get(name, 0.0) + values.number(value, f"time({name}=…)")

    def experts(self, layer: int, experts: Any, weights: Any = None, node: NodeIndex = -1) -> None:
        """The experts of a mixture that a row of the target's forward went through in one layer, and what each counts for. `node`: an
        index as in rows()."""
        layer = values.an_id(layer, "experts(layer)")
        low, high = LIMITS["expert", "layer"]
        if not low <= layer <= high:
            raise TypeError(f"experts(layer): expected {low} to {high}, found {layer}")
        chosen = values.tokens(experts, "experts(experts)", "pass the experts' numbers, from 0")
        shares = [] if weights is None else values.numbers(weights, len(chosen), "experts(weights=…)")
        row = self.row_node(self._resolve(node, "experts(node=…)"))
        if row is None:
            return  # a prompt token before the last: its row is not kept
        if any(share is None or not math.isfinite(share) for share in shares):
            shares = []
        order = sorted(range(len(chosen)), key=chosen.__getitem__)
        self._more.append(("expert", (row, layer, json.dumps([chosen[i] for i in order]),
                                      json.dumps([shares[i] for i in order] if shares else []))))

    def metric(self, name: str, value: Any, node: Optional[NodeIndex] = None) -> None:
        """A number of your own, about the step or a node (an index as in rows())."""
        if not isinstance(name, str):
            raise values.wrong("metric(name)", "a str", name, 'pass metric("entropy", 2.3)')
        at = None if node is None else self._resolve(node, "metric(node=…)")
        self._more.append(("metric", (-1 if at is None or at < 0 else at, name, values.number(value, "metric(value)"))))

    def log(self, text: str, level: str = "info") -> None:
        self._more.append(("log", (choice("log(level=…)", level, LOG_LEVELS), str(text))))

    def counts(self, drafted: int = 0, accepted: int = 0, emitted: int = 1, rows: int = 0) -> None:
        """The step's figures alone, where no tokens are known (level "steps")."""
        self.counted = (int(rows), int(drafted), int(accepted), int(emitted))

    # What it means.

    @property
    def is_choice(self) -> bool:
        """Nothing but a decision: what the prompt's logits were good for, which belongs to step 0."""
        return not self.drafts and not self.batches and not self.outputs and self.counted is None

    def begins_behind(self, count: int) -> bool:
        slots = [slot for batch in self.batches if batch["owner"] == "target" for slot in batch.get("slots", ())]
        return bool(slots) and min(slots) == count

    def row_node(self, node: int) -> Optional[int]:
        """Whose next token a row is about; None: a prompt token before the last."""
        if node > 0:
            return node
        return 0 if node in (0, -1 - len(self.book.prompt or ())) else None

    def _resolve(self, node: Any, where: str) -> int:
        """The capture's number of what a caller means."""
        book = self.book
        if isinstance(node, Node):
            return int(node)
        index = values.an_id(node, where)
        prompt = len(book.prompt or ())
        if index <= -2:
            if -2 - index >= prompt:
                raise TypeError(f"{where}: expected prompt tokens as -2 to {-1 - prompt}, found {index}")
            return index
        of = self.frontier if book.kind == "beams" else self.drafts
        if index == -1 or (index == 0 and book.kind == "beams" and of == [0]):
            return self.tip if self.tip > 0 else -1 - prompt  # the prompt's end is its last token's row
        if index >= len(of):
            raise TypeError(f"{where}: expected indices from -1 to {len(of) - 1}, found {index}; drafts come before rows")
        return of[index]

    def _resolve_all(self, nodes: Any, where: str) -> List[int]:
        if not isinstance(nodes, (list, tuple)):
            nodes = values.ids(nodes, where, "indices")
        drafts = self.drafts
        if self.book.kind == "beams":
            return [self._resolve(one, where) for one in nodes]
        last = len(drafts)
        return [drafts[one] if type(one) is int and 0 <= one < last else self._resolve(one, where) for one in nodes]

    def _output_nodes(self, owner: str) -> List[int]:
        for batch in reversed(self.batches):
            if batch["owner"] == owner:
                return batch["nodes"]
        if self.book.kind == "beams":
            return list(self.frontier)
        return [self.tip] + [node for node, sent in zip(self.drafts, self.sent) if sent]

    # How it ends.

    def _undo(self) -> None:
        """The round failed in the caller's code: nothing of it is recorded."""
        book = self.book
        book.tree.cut(self.first_node)
        for table, rows in book.rows.items():
            if table != "drafter":
                del rows[self._mark.get(table, 0):]
        book.pieces.difference_update(book.new_pieces)

    def _close(self) -> None:
        book = self.book
        tick = 5 * self.step + ACCEPT
        if book.kind == "beams":
            if not self.levels and self.counted is None:
                book.remark("level", f"step {self.step}: the round has no level(); its beams stay", tick)
        elif self.committed is None and self.counted is None:
            book.remark("commit", f"step {self.step}: the round has no commit(); nothing became text", tick)
            self.commit([], None)
        if book.step == 0:
            is_choice = self.is_choice
            _prompt.close(book, self)
            if is_choice:
                self._write_more(0)
                book.write()
                return
        _prompt.inputs(book, self)
        self.decide(self.step)
        self._write_more(self.step)
        book.add_phases(self.step, self.begun, self.times)
        book.step = self.step + 1
        book.write()

    def _write_more(self, step: int) -> None:
        for table, row in self._more:
            self.book.add(table, (5 * step + (FORWARD if table == "expert" else ACCEPT), *row))

    def decide(self, step: int) -> None:
        """The rows of the step."""
        book = self.book
        if self.counted is not None:
            rows, drafted, accepted, emitted = self.counted
            book.add("step", (step, rows, drafted, accepted, emitted, 1))
            return
        said = _placing.write(self, step)
        if book.kind == "beams":
            _beam_step.decide(self, step, said)
        else:
            _text_step.decide(self, step, said)
        book.prompt_row = None
