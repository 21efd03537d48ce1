"""One generate() of transformers, recorded: what passes by becomes rounds."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Dict, List, Optional

from ._generate_call import Call
from .recorder import Recorder


class Generation:
    """Told of forwards, drafts and decisions in the order in which they happen."""

    def __init__(self, model: Any, path: str, tokenizer: Any, call: Call, level: str, strict: bool):
        self.call = call
        self.kind = call.kind
        self.samples = call.samples
        self.ends = call.ends
        self.prompt = call.prompt
        self.most = call.most
        self.cap = Recorder(path, tokenizer=tokenizer, method=call.method, title=call.method.replace("_", " ").capitalize(), kind=call.kind,
                            model=call.model(model), settings=call.settings(), level=level, width=call.beams,
                            max_new_tokens=call.most, kv_policy="keep", strict=strict)
        self.has_prompt = False
        self.is_over = False
        self.written: List[int] = []
        self.forward: Optional[Dict[str, Any]] = None
        self.draft: Optional[Dict[str, Any]] = None
        self.level: Optional[Dict[str, Any]] = None  # of beams, until it is known whether they go on

    # What passes by.

    def before_forward(self, given: Dict[str, Any]) -> None:
        ids = given.get("input_ids")
        cache = given.get("past_key_values", given.get("cache"))
        if ids is None:
            return
        if self.kind == "text" and self.has_prompt:
            self.chosen(int(ids[0, -1]))
        self.write_level(is_last=False)
        length = 0
        with contextlib.suppress(Exception):
            length = int(cache.get_seq_length()) if cache is not None else 0
        positions = given.get("position_ids")
        self.forward = {"count": int(ids.shape[1]), "cached": length, "begun": time.perf_counter(), "scores": [],
                        "positions": None if positions is None else [int(one) for one in positions.reshape(-1, positions.shape[-1])[0].tolist()]}

    def after_forward(self, logits: Any) -> None:
        if self.forward is None:
            return
        self.forward["ms"] = (time.perf_counter() - self.forward["begun"]) * 1000
        if self.kind == "drafts" and self.draft is not None:
            logits = logits[:, -(len(self.draft["tokens"]) + 1):].clone()  # the library's processors write into its own
        self.forward["logits"] = logits
        if not self.has_prompt and self.kind != "drafts":
            self.has_prompt = True
            self.cap.prompt(self.prompt, logits=logits[0, -1])
            self.is_first = True

    def processed(self, scores: Any) -> None:
        """A row of the newest forward, after all processors and warpers."""
        if self.forward is not None and self.samples:
            self.forward["scores"].append(scores.detach())

    def p_of(self, row: int, token: int) -> Optional[float]:
        """Sampling: the probability with which `token` is drawn; None: that of the row's logits."""
        scores = self.forward["scores"] if self.forward is not None else []
        return float(scores[row][0].float().softmax(-1)[token]) if row < len(scores) else None

    def rows(self, r: Any, nodes: List[int]) -> None:
        assert self.forward is not None
        count = len(nodes)
        positions = self.forward["positions"]
        cached = self.forward["cached"]
        slots = list(range(cached, cached + count))
        r.rows(nodes, positions=None if positions is None or len(positions) < count else positions[-count:], slots=slots)
        r.time(forward=self.forward["ms"])

    def chosen(self, token: int) -> None:
        """Text: the token that the newest forward led to."""
        if self.is_over or self.forward is None:
            return
        ends = self.end_after([token])
        with self.cap.round() as r:
            if not self.is_first:
                self.rows(r, [-1])
                r.target(self.forward["logits"][0, -1:])
            r.commit([], token=token, p=self.p_of(0, token), ends=ends, source="sampled" if self.samples else "greedy")
        self.is_first = False
        self.forward = None

    def end_after(self, tokens: List[int]) -> Optional[str]:
        self.written += tokens
        if self.written and self.written[-1] in self.ends:
            self.is_over = True
            return "eos"
        if len(self.written) >= self.most:
            self.is_over = True
            return "length"
        return None

    def drafted(self, ids: Any, logits: Any, length: int, took: float) -> None:
        tokens = [int(one) for one in ids[0, length:].tolist()]
        q = None
        if logits is not None and self.samples and tokens:
            q = [float(logits[0, i].float().softmax(-1)[token]) for i, token in enumerate(tokens)]
        self.draft = {"tokens": tokens, "q": q, "length": length, "ms": took}

    def verified(self, ids: Any, matches: int) -> None:
        if self.draft is None or self.forward is None or self.is_over:
            return
        tokens = [int(one) for one in ids[0, self.draft["length"]:].tolist()]
        drafts = self.draft["tokens"]
        if not self.has_prompt:
            self.has_prompt = True
            self.cap.prompt(self.prompt)
        # Where the text ends inside the drafts the library counts the last match as the target's own token.
        accepted = 0
        while accepted < min(len(tokens), len(drafts)) and tokens[accepted] == drafts[accepted]:
            accepted += 1
        accepted = max(accepted if accepted == len(tokens) else 0, min(matches, accepted))
        with self.cap.round() as r:
            r.time(draft=self.draft["ms"])
            if drafts:
                r.draft(drafts, q=self.draft["q"], drafter=self.call.drafter)
            nodes = [-1] + list(range(len(drafts)))
            before = self.forward["count"] - len(nodes)
            if before > 0:  # the first forward reads the prompt too
                nodes = [-2 - i for i in range(before)] + nodes
            self.rows(r, nodes)
            r.target(self.forward["logits"][0, -(len(drafts) + 1):])
            ends = self.end_after(tokens)
            own = tokens[accepted] if accepted < len(tokens) else None
            p: Dict[Any, Optional[float]] = {i: self.p_of(i, draft) for i, draft in enumerate(drafts)}
            if own is not None:
                p["token"] = self.p_of(accepted, own)
            r.commit(list(range(accepted)), token=own, p={key: value for key, value in p.items() if value is not None}, ends=ends)
        self.draft = self.forward = None

    def next_beams(self, scores: Any, sequences: Any, indices: Any, hits: Any) -> None:
        assert self.forward is not None
        sums = [float(one) for one in scores[0].tolist()]
        at = len(self.written)  # levels so far
        column = len(self.prompt) + at
        tokens = [int(one) for one in sequences[0, :, column].tolist()]
        parents = [int(one) % self.call.beams for one in indices[0, :, at].tolist()]
        stops = [bool(one) for one in hits[0].tolist()]
        real = [i for i, one in enumerate(sums) if one > -1e8]  # copies of the first beam start with -1e9
        order = sorted((i for i in real if not stops[i]), key=lambda i: -sums[i])[: self.call.beams]
        # Of equal scores the library's own choice stands.
        ended = [i for i in real if stops[i] and i < self.call.beams]
        self.written.append(tokens[0])
        self.level = {"tokens": tokens, "parents": parents, "sums": sums, "real": real, "kept": order, "ended": ended, "length": at + 1}

    def write_level(self, is_last: bool) -> None:
        """The newest level. Where the search ends although beams could go on (no text can become better, by its rule), none
        does: the continuations of that level are not followed."""
        level, self.level = self.level, None
        if level is None:
            return
        tokens, sums, kept, ended = level["tokens"], level["sums"], level["kept"], level["ended"]
        is_over = is_last and bool(kept)
        real = ended if is_over else level["real"]
        place = {i: k for k, i in enumerate(real)}
        why = {("beam", rank): {"reason": "search_over", "count": self.call.beams} for rank in range(self.cap.live_beams)} if is_over else None
        with self.cap.round() as r:
            if not self.is_first:
                self.rows_of_beams(r)
            r.level([tokens[i] for i in real], [-1 if self.is_first else level["parents"][i] for i in real], [sums[i] for i in real],
                    kept=[] if is_over else [place[i] for i in kept],
                    finished=[(place[i], sums[i] / level["length"] ** self.call.penalty) for i in ended], why=why)
        self.is_first = False
        self.forward = None

    def rows_of_beams(self, r: Any) -> None:
        assert self.forward is not None
        count = self.cap.live_beams
        positions = self.forward["positions"]
        r.rows(list(range(count)), positions=[positions[-1]] * count if positions else None)
        r.target(self.forward["logits"][:count, -1])
        r.time(forward=self.forward["ms"])

    def finish(self, result: Any) -> None:
        self.write_level(is_last=True)
        sequences = getattr(result, "sequences", result)
        scores = getattr(result, "sequences_scores", None)
        texts = [[int(one) for one in row] for row in sequences[:, len(self.prompt):].tolist()]
        if self.kind == "text" and not self.is_over and len(texts[0]) > len(self.written):
            self.chosen(texts[0][len(self.written)])
        returned: List[Dict[str, Any]] = []
        for i, text in enumerate(texts):
            end = next((k + 1 for k, token in enumerate(text) if token in self.ends), len(text))
            returned.append({"tokens": text[:end], "score": None if scores is None else float(scores[i])})
        self.cap.finish(sequences=returned)
