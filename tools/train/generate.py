#!/usr/bin/env python3
"""Lets the target write dialogues, both sides: the text that its draft heads are trained on.

    generate.py --out FOLDER [--seed 1] [--count N] [--device cpu|cuda] [--dtype bf16|fp32]

Continuous batching: a finished dialogue's row goes to the next one. One line a dialogue in FOLDER/dialogues-SEED-PART.jsonl:
{"n", "task", "ids", "spans": [[from, to, "greedy" | "sampled" | "user"], ...]}: the spans are what the target wrote, its end tokens included; the
rest was given. A line is written when its dialogue ends, so that a kill loses only what is under way; the same command goes on where it
stopped. Dialogue n of a seed has its own task and its own random numbers. Rounding may differ with the rows beside it.
Hidden states are not kept: a teacher's pass over finished text costs a quarter of writing it, and the text is a thousandth of the size.
"""

import argparse
import json
import pathlib
import random
import signal
import sys
import time

import torch

from target import RowCache, default_model, load_gguf
from tasks import Tasks
from text import Text

PART = 1024  # dialogues a file
TOP = 50     # sampled tokens are among the TOP best


class Dialogue:
    """One row's state. `ids` is all so far; `given` waits to be fed, one a step."""

    def __init__(self, n, job, text, seed, answer_limit, user_limit):
        self.n, self.job, self.text = n, job, text
        self.rng = random.Random(f"{seed}/{n}/draws")
        self.answer_limit, self.user_limit = answer_limit, user_limit
        self.follow, self.spans, self.given, self.finished = list(job.follow), [], [], False
        self.ids = text.prefix() + text.encode(job.user)
        if job.more:
            self.writes, self.start = "user", len(self.ids)
        else:
            self.ids += [text.end] + text.newline + text.head("assistant")
            self._answer()

    def _answer(self):
        self.writes = "greedy" if self.job.greedy else "sampled"
        self.start = len(self.ids) + len(self.given)

    @property
    def temperature(self):
        return {"user": self.job.user_temperature, "greedy": 0.0, "sampled": self.job.temperature}[self.writes]

    def take(self, token):
        """The next token: the target's choice, unless a given one waits."""
        if self.given:
            self.ids.append(self.given.pop(0))
            return
        length = len(self.ids) - self.start
        user = self.writes == "user"
        if token in self.text.special.values() or length >= (self.user_limit if user else self.answer_limit):
            ended = token == self.text.end
            self.ids.append(self.text.end)
            if length or ended:
                self.spans.append([self.start, len(self.ids) - (not ended), self.writes])
            self._next(user, empty=not length and not self.job.user)
            return
        self.ids.append(token)

    def _next(self, user, empty):
        text = self.text
        if user and not empty:
            self.given = text.newline + text.head("assistant")
            self._answer()
        elif not user and self.follow:
            words = self.follow.pop(0)
            self.given = text.newline + text.head("user")
            if words is None:
                self.writes, self.start = "user", len(self.ids) + len(self.given)
            else:
                self.given += text.encode(words) + [text.end] + text.newline + text.head("assistant")
                self._answer()
        else:
            self.finished = True

    def line(self):
        return json.dumps({"n": self.n, "task": self.job.task, "ids": self.ids, "spans": self.spans}, separators=(",", ":")) + "\n"


def read_done(out, seed):
    """Numbers of the dialogues that are there. A line that a kill cut off is taken away."""
    done = set()
    for path in sorted(out.glob(f"dialogues-{seed}-*.jsonl")):
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            with open(path, "r+b") as file:
                file.truncate(len(whole))
        done.update(json.loads(line)["n"] for line in whole.splitlines())
    return done


def choose(logits, dialogues):
    """logits [B, V] -> a token a row: the best, or a draw from the TOP best at the row's temperature."""
    tokens = logits.argmax(-1).tolist()
    rows = [i for i, d in enumerate(dialogues) if d and not d.given and d.temperature > 0]
    if rows:
        values, ids = logits[rows].topk(min(TOP, logits.shape[-1]))
        temperature = torch.tensor([dialogues[i].temperature for i in rows], device=logits.device)[:, None]
        sums = (values.float() / temperature).softmax(-1).cumsum(-1)
        draws = torch.tensor([dialogues[i].rng.random() for i in rows], device=logits.device)[:, None]
        picks = ids.gather(1, (sums < draws).sum(-1, keepdim=True).clamp_(max=ids.shape[1] - 1))[:, 0].tolist()
        for i, token in zip(rows, picks):
            tokens[i] = token
    return tokens


def fill(cache, target, new, budget):
    """new: [(row, Dialogue)], into the cache in batches of like lengths, at most `budget` padded tokens each."""
    batch = []
    for row, d in sorted(new, key=lambda x: len(x[1].ids)):
        if batch and len(d.ids) * (len(batch) + 1) > budget:
            cache.fill(target, [r for r, _ in batch], [x.ids for _, x in batch])
            batch = []
        batch.append((row, d))
    if batch:
        cache.fill(target, [r for r, _ in batch], [x.ids for _, x in batch])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=default_model(), type=pathlib.Path, help="GGUF of the target")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", nargs="*", default=[], help="text files that passages are taken from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10**9, help="dialogues in all")
    parser.add_argument("--answer-limit", type=int, default=224)
    parser.add_argument("--user-limit", type=int, default=72)
    parser.add_argument("--rows", default="72x360,60x640,24x1400", help="rows x tokens of each, shortest first")
    parser.add_argument("--refill", type=int, default=1, help="rows of a kind that must be free before new dialogues enter (a GPU: 16)")
    parser.add_argument("--prefill", type=int, default=512, help="padded tokens of a prompts' batch (a GPU: 32768)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=("bf16", "fp32"), default="bf16")
    parser.add_argument("--minutes", type=float, default=0, help="stop after that long (0: when done)")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    if not args.corpus:
        sys.exit("--corpus: expected text files with passages; the tasks about a text need them")
    text, tasks = Text(args.model), Tasks(args.corpus, args.seed)
    done = read_done(args.out, args.seed)
    target = load_gguf(args.model, args.device, {"bf16": torch.bfloat16, "fp32": torch.float32}[args.dtype])
    shapes = [tuple(map(int, part.split("x"))) for part in args.rows.split(",")]
    caches = [RowCache(target, rows, length) for rows, length in shapes]
    rows = [[None] * r for r, _ in shapes]
    numbers = (n for n in range(args.count) if n not in done)
    waiting = [[] for _ in shapes]

    def needed(d):
        turns = 1 + len(d.follow)
        return len(d.ids) + turns * (args.answer_limit + 8) + (d.writes == "user") * args.user_limit + \
            sum(args.user_limit if f is None else 24 for f in d.follow)

    def next_for(c):
        """A dialogue that fits rows of kind c: one that waits, else new ones, until one fits. Longer kinds also take shorter dialogues."""
        if waiting[c]:
            return waiting[c].pop(0)
        while True:
            n = next(numbers, None)
            if n is None:
                return waiting[c - 1].pop(0) if c and waiting[c - 1] else None
            d = Dialogue(n, tasks.job(n), text, args.seed, args.answer_limit, args.user_limit)
            fit = next((i for i, (_, length) in enumerate(shapes) if needed(d) <= length), None)
            if fit is None:
                d.follow = []
                fit = next((i for i, (_, length) in enumerate(shapes) if needed(d) <= length), None)
                if fit is None:
                    continue
            if fit == c:
                return d
            waiting[fit].append(d)
            # Enough long ones wait: their rows would fall ever further behind; a row of the next kind takes one.
            if fit == c - 1 and len(waiting[fit]) > 64:
                return waiting[fit].pop(0)

    stop = []
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.append(1))
    begin = last = time.time()
    written = fed = ended = 0
    while not stop:
        for c, cache in enumerate(caches):
            empty = [r for r, d in enumerate(rows[c]) if d is None]
            if len(empty) < min(args.refill, len(rows[c])):
                continue
            new = [(r, d) for r in empty if (d := next_for(c))]
            for r, d in new:
                rows[c][r] = d
            fill(cache, target, new, args.prefill)
        flat = [d for kind in rows for d in kind]
        if not any(flat):
            break
        with torch.no_grad():
            tokens = torch.tensor([[d.ids[-1] if d else 0] for d in flat], device=target.device)
            lengths = torch.cat([cache.lengths for cache in caches])[:, None]
            for cache in caches:
                cache.prepare()
            sizes = [r for r, _ in shapes]

            def attend(layer, q, k, v):
                parts = zip(caches, q.split(sizes), k.split(sizes), v.split(sizes))
                return torch.cat([cache.attend(layer, *qkv) for cache, *qkv in parts])

            hidden, _ = target.run(tokens, lengths, attend)
            chosen = choose(target.logits(hidden[:, 0]), flat)
            for cache in caches:
                cache.lengths += 1
        position = 0
        for c, kind in enumerate(rows):
            for r, d in enumerate(kind):
                token, position = chosen[position], position + 1
                if d is None:
                    caches[c].lengths[r] = 0
                    continue
                written += not d.given
                fed += 1
                d.take(token)
                if d.finished:
                    if any(kind != "user" for _, _, kind in d.spans):
                        with open(args.out / f"dialogues-{args.seed}-{d.n // PART:05d}.jsonl", "a", encoding="utf-8") as file:
                            file.write(d.line())
                    ended += 1
                    kind[r] = None
                    caches[c].lengths[r] = 0
        now = time.time()
        if now - last > 30:
            print(f"{time.strftime('%H:%M:%S')} dialogues {len(done) + ended}  tokens written {written}  "
                  f"tokens/s {written / (now - begin):.0f}  rows {sum(d is not None for d in flat)}/{len(flat)}", flush=True)
            last = now
        if args.minutes and now - begin > 60 * args.minutes:
            break
    print(f"stopped: {ended} dialogues, {written} tokens written, {fed} fed, {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
