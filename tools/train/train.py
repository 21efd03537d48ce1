#!/usr/bin/env python3
"""Trains one head on the dialogues of generate.py. One command a recipe:

    train.py medusa|hydra|eagle1|eagle3|draft|space --data FOLDER --out FOLDER [--device cpu|cuda]

The same command goes on where OUT/checkpoint.pt stopped, to the same weights as without the stop (on one device, one thread count). The text
is the one that was there at the first start; --more-data takes what has come since. OUT/curve.csv has the losses and, on held-out
dialogues, the simulated tokens per forward of a chain and the acceptance by depth.
"""

import argparse
import csv
import math
import os
import pathlib
import random
import signal
import sys
import time

import torch
import torch.nn.functional as F

import data
import exported
import heads
import simulate
from target import default_model, load_gguf

# depth: unrolled steps that are trained. hard: share of the real token in the wanted distribution of greedy text. kinds: data.KINDS.
COMMON = {"lr": 5e-4, "warmup": 0.05, "clip": 0.5, "decay": 0.8, "weight_decay": 0.01, "epochs": 4, "budget": 2048, "hard": 0.5,
          "kinds": (1, 2), "vocabulary": 8000, "negatives": 1000, "smooth": 0.0, "lk": 0.0, "noise": 0.0, "soft": 1.0, "held_out": 24}
RECIPES = {
    "medusa": {"heads": 5, "depth": 5, "lr": 1e-3},
    "hydra": {"heads": 3, "layers": 1, "depth": 3},
    "eagle1": {"depth": 3, "smooth": 1.0, "soft": 0.5, "noise": 0.1},
    "eagle3": {"depth": 7},
    "draft": {"depth": 1, "lr": 1.5e-3, "kinds": (0, 1, 2, 3), "width": 128, "layers": 2, "ff": 384, "head_dim": 32, "epochs": 8},
    "space": {"masks": 3, "prefix": 16, "depth": 3, "lr": 3e-2, "weight_decay": 0.0, "budget": 512, "vocabulary": 4000, "held_out": 12},
}


def frequent(dialogues, size, vocab, always=()):
    """The `size` tokens that the target wrote most often (ties: lower id; then given text's), ascending."""
    written, given = torch.zeros(vocab, dtype=torch.long), torch.zeros(vocab, dtype=torch.long)
    for d in dialogues:
        ids, by = torch.tensor(d.ids), torch.from_numpy(d.kinds) > 0
        written += torch.bincount(ids[by], minlength=vocab)
        given += torch.bincount(ids[~by], minlength=vocab)
    score = written * 10**6 + given
    score[list(always)] = 2**60
    return torch.sort(torch.argsort(score, descending=True, stable=True)[:size])[0].tolist()


def columns_of_step(base, batch, options):
    """Output rows that a step multiplies with where the whole vocabulary would cost too much: frequent ones, the batch's own, some at random."""
    if not options["vocabulary"]:
        return None
    wanted = [options["frequent"].to(batch.ids.device), batch.ids.unique()]
    if options["negatives"]:
        wanted.append(torch.randint(base.config["vocab"], (options["negatives"],)).to(batch.ids.device))
    return torch.cat(wanted).unique()


def loss_of(head, batch, options, autocast):
    """-> loss, {name: number}. Step j's logits at slot m are compared with the target's distribution at position sel + 1 + j."""
    base = head.base
    vocab = base.config["vocab"]
    ids = base.rows if head.kind != "eagle3" else head.ids(torch.arange(len(head.d2t), device=batch.ids.device))
    column = None
    if ids is not None:
        column = torch.full((vocab,), -1, dtype=torch.long, device=batch.ids.device)
        column[ids] = torch.arange(len(ids), device=batch.ids.device)
    noise = None
    if options["noise"]:
        noise = lambda h: (torch.rand_like(h) - 0.5) * options["noise"] * h.std()
    rollout = head.rollout(batch, options["depth"], own=False, **({"noise": noise} if noise else {}))
    M = batch.sel.shape[1]
    flat = torch.arange(batch.sel.numel(), device=batch.sel.device).view(batch.sel.shape)
    with torch.no_grad():
        ahead = batch.final.gather(1, (batch.sel + 1).clamp(max=batch.final.shape[1] - 1)[..., None].expand(-1, -1, batch.final.shape[-1]))
        slots = flat[batch.valid]
        place = torch.full((batch.sel.numel(),), 0, device=flat.device)
        place[slots] = torch.arange(len(slots), device=flat.device)
        rows = base.full if ids is None else base.full[ids]
        teacher = F.linear(ahead.reshape(-1, ahead.shape[-1])[slots].to(rows.dtype), rows).float().softmax(-1)
    total, named = torch.zeros((), device=flat.device), {}
    with autocast():
        for j, (out, logits) in enumerate(rollout):
            ok = batch.ahead(j)
            real = batch.token(2 + j)[ok]
            wanted = teacher[place[(flat + j).clamp(max=flat.numel() - 1)[ok]]]
            index = real if column is None else column[real]
            known = index >= 0
            if not known.any():
                continue
            log_q = logits[ok][known].float().log_softmax(-1)
            p, index = wanted[known], index[known]
            soft = -(p * log_q).sum(-1)
            hard = -log_q.gather(1, index[:, None])[:, 0]
            loss = options["soft"] * ((1 - options["hard"]) * soft + options["hard"] * hard).sum() / len(real)
            if options["lk"]:
                loss = loss - options["lk"] * torch.minimum(p, log_q.exp()).sum(-1).clamp_min(1e-6).log().sum() / len(real)
            if options["smooth"]:
                feature = ahead.reshape(-1, ahead.shape[-1])[(flat + j).clamp(max=flat.numel() - 1)[ok]]
                loss = loss + options["smooth"] * F.smooth_l1_loss(out[ok], feature)
            total = total + options["decay"] ** j * loss
            named[f"top1_{j + 1}"] = float((log_q.argmax(-1) == index).sum()) / len(real)
    return total, named


def save(path, content):
    """Whole or not at all."""
    part = path.with_suffix(".part")
    torch.save(content, part)
    with open(part, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(part, path)


class Trainer:
    """head, optimiser and where the run is. Deterministic: batches by (seed, epoch), random numbers by (seed, step)."""

    def __init__(self, head, features, dialogues, held_out, options, out, bf16):
        self.head, self.features, self.dialogues, self.held_out = head, features, dialogues, held_out
        self.options, self.out, self.step = options, out, 0
        self.bf16 = bf16
        decayed = [p for p in head.parameters() if p.dim() > 1]
        rest = [p for p in head.parameters() if p.dim() <= 1]
        self.optimiser = torch.optim.AdamW([{"params": decayed, "weight_decay": options["weight_decay"]}, {"params": rest, "weight_decay": 0.0}],
                                           lr=options["lr"], betas=(0.9, 0.95))
        self.total = options.get("steps") or sum(len(data.plan(dialogues, options["budget"], options["seed"], e)) for e in range(options["epochs"]))
        self.best, self.started = 0.0, time.time()

    def autocast(self):
        return torch.autocast(self.features.target.device.type, torch.bfloat16, enabled=self.bf16)

    def rate(self):
        warm = max(1, int(self.options["warmup"] * self.total))
        if self.step < warm:
            return self.options["lr"] * (self.step + 1) / warm
        return self.options["lr"] * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (self.step - warm) / max(1, self.total - warm))))

    def batches(self):
        """From the current step on: batches of dialogues, epoch by epoch."""
        seen, epoch = 0, 0
        while True:
            plan = data.plan(self.dialogues, self.options["budget"], self.options["seed"], epoch)
            for batch in plan[max(0, self.step - seen):] if seen + len(plan) > self.step else []:
                yield epoch, batch
            seen, epoch = seen + len(plan), epoch + 1

    def train_step(self, dialogues):
        o = self.options
        torch.manual_seed(o["seed"] * 1_000_003 + self.step)
        batch = self.features.batch(dialogues, o["kinds"])
        if not batch.valid.any():
            self.step += 1
            return None
        if self.head.kind != "eagle3":
            self.head.base.take_rows(columns_of_step(self.head.base, batch, o))
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        loss, named = loss_of(self.head, batch, o, self.autocast)
        if not loss.requires_grad:  # no token of this batch is in the draft vocabulary
            self.step += 1
            return None
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        named["norm"] = float(torch.nn.utils.clip_grad_norm_(self.head.parameters(), o["clip"]))
        self.optimiser.step()
        self.step += 1
        return {"loss": float(loss.detach()), **named}

    def evaluate(self):
        """Simulated tokens per forward of a chain on held-out greedy answers."""
        self.head.eval()
        self.head.base.take_rows(None)
        chosen = [d for d in self.held_out if d.spans][: self.options.get("held_out", COMMON["held_out"])]
        batches = ((self.features.batch(group, (1, 2)), group) for group in data.plan(chosen, 2048, 0, 0))
        with self.autocast():
            tally = simulate.chain_tally(self.head, batches, self.head.depth)
        self.head.train()
        return tally

    def checkpoint(self):
        return {"kind": self.head.kind, "options": self.options, "step": self.step, "total": self.total, "best": self.best,
                "head": self.head.state_dict(), "optimiser": self.optimiser.state_dict()}

    def load(self, found):
        self.head.load_state_dict(found["head"])
        self.optimiser.load_state_dict(found["optimiser"])
        self.step, self.best, self.total = found["step"], found["best"], found["total"]

    def record(self, row):
        names = ["step", "epoch", "seconds", "lr", "loss", "tokens_per_forward"] + [f"accepted_{k + 1}" for k in range(self.head.depth)]
        path = self.out / "curve.csv"
        new = not path.exists()
        with open(path, "a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore")
            if new:
                writer.writeheader()
            writer.writerow({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()})

    def run(self, minutes=0, every=100, keep_every=200, keep_minutes=3, stop=()):
        losses, last = [], time.time()
        kept = last
        for epoch, dialogues in self.batches():
            if self.step >= self.total or stop or (minutes and time.time() - self.started > 60 * minutes):
                break
            got = self.train_step(dialogues)
            if got:
                losses.append(got)
            if self.step % every == 0 or self.step == self.total:
                tally = self.evaluate()
                mean = {k: sum(x[k] for x in losses if k in x) / max(1, sum(k in x for x in losses)) for k in (losses[0] if losses else {})}
                print(f"step {self.step}/{self.total} epoch {epoch} loss {mean.get('loss', 0):.3f} lr {self.rate():.1e} norm {mean.get('norm', 0):.2f} "
                      f"train top-1 {' '.join(f'{mean[k]:.2f}' for k in sorted(mean) if k.startswith('top1'))} | held out: "
                      f"tokens/forward {tally.per_forward:.3f}, accepted {' '.join(f'{x:.2f}' for x in tally.by_depth)} | "
                      f"{(time.time() - last) / max(1, len(losses)):.2f} s/step", flush=True)
                self.record({"step": self.step, "epoch": epoch, "seconds": time.time() - self.started, "lr": self.rate(), "loss": mean.get("loss", 0.0),
                             "tokens_per_forward": tally.per_forward, **{f"accepted_{k + 1}": x for k, x in enumerate(tally.by_depth)}})
                if tally.per_forward > self.best:
                    self.best = tally.per_forward
                    save(self.out / "best.pt", {k: v for k, v in self.checkpoint().items() if k != "optimiser"})
                losses, last = [], time.time()
            if self.step % keep_every == 0 or time.time() - kept > 60 * keep_minutes:
                save(self.out / "checkpoint.pt", self.checkpoint())
                kept = time.time()
        save(self.out / "checkpoint.pt", self.checkpoint())


def layers_of(target):
    """What EAGLE-3 reads: the states entering these layers."""
    L = target.config["layers"]
    return (2, L // 2, L - 3)


def features_of(kind, target, folder=None, max_tokens=1024):
    """What a recipe's batches hold of the target: states for a head, keys and values for masks."""
    if kind == "space":
        return data.Features(target, (), None, max_tokens, keys=True)
    return data.Features(target, layers_of(target), folder, max_tokens)


def prepare(args, kind, overrides):
    """Target, features, dialogues, options and a head at its start (or as the checkpoint has it)."""
    dtype = torch.bfloat16 if args.bf16 else torch.float32
    target = load_gguf(args.model, args.device, dtype)
    found = None
    if (args.out / "checkpoint.pt").exists():
        found = torch.load(args.out / "checkpoint.pt", map_location=args.device, weights_only=False)
        if found["kind"] != kind:
            sys.exit(f"{args.out}/checkpoint.pt: expected a {kind} head, found {found['kind']}; take another --out")
    options = dict(found["options"]) if found else {**COMMON, **RECIPES[kind], **overrides, "seed": args.seed, "max_tokens": args.max_tokens}
    everything = data.read(args.data, options["max_tokens"])
    if not found or args.more_data:
        options["lines"] = {}
        for d in everything:
            options["lines"][d.part] = options["lines"].get(d.part, 0) + 1
    everything = [d for d in everything if d.line < options["lines"].get(d.part, 0)]
    training = [d for d in everything if not d.held_out]
    if not training:
        sys.exit(f"{args.data}: expected dialogues-*.jsonl with text, found none; run generate.py first")
    begin = exported.begin_with(args.begin, kind) if args.begin and not found else None
    if begin:
        options["begin"] = args.begin.name
    if begin and "d2t" in begin:
        options["frequent"] = begin["d2t"] + torch.arange(len(begin["d2t"]))
    elif not found:
        options["frequent"] = torch.tensor(frequent(training, options["vocabulary"], target.config["vocab"], [target.config["eos"]]))
    features = features_of(kind, target, None if args.device != "cpu" else args.features or args.data / "features", options["max_tokens"])
    features.keep(everything, lambda s: print(s, flush=True))
    if not found and features.take:
        some = torch.cat([s[:, 1:] for s in features.states(training[:32])])
        options["scales"] = [float(x) for x in some.square().mean(-1).sqrt().median(0).values]
    torch.manual_seed(args.seed)
    base = heads.Base(target, dtype)
    head = heads.make(kind, base, {**options, "vocabulary": options["frequent"].tolist()}).to(args.device)
    if begin:
        exported.fill(head, begin)
    trainer = Trainer(head, features, training, [d for d in everything if d.held_out], options, args.out, args.bf16)
    if found:
        trainer.load(found)
        if args.more_data:
            trainer.total += sum(len(data.plan(training, options["budget"], args.seed, e)) for e in range(options["epochs"]))
    return trainer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=RECIPES)
    parser.add_argument("--model", default=default_model(), type=pathlib.Path, help="GGUF of the target")
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--from", dest="begin", type=pathlib.Path, metavar="FOLDER", help="begin with the weights of an exported head of this kind")
    parser.add_argument("--features", type=pathlib.Path, help="where the target's states are kept (CPU; default DATA/features)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--fp32", dest="bf16", action="store_false", help="products in fp32; default bf16, weights fp32")
    parser.add_argument("--threads", type=int, help="of the CPU; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-tokens", type=int, default=1024, help="longer dialogues are cut")
    parser.add_argument("--minutes", type=float, default=0, help="stop after that long; the same command goes on")
    parser.add_argument("--more-data", action="store_true", help="take text that came since, and train as many epochs again")
    parser.add_argument("--evaluate-every", type=int, default=100)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=f"options of the recipe: {', '.join(COMMON)}, steps, …")
    args = parser.parse_args()
    overrides = {}
    for text in args.set:
        name, _, value = text.partition("=")
        if name not in {**COMMON, **RECIPES[args.kind], "steps": 0}:
            sys.exit(f"--set {name}: expected one of {', '.join({**COMMON, **RECIPES[args.kind], 'steps': 0})}")
        overrides[name] = tuple(map(int, value.split(","))) if name == "kinds" else float(value) if "." in value or "e" in value else int(value)
    if args.threads:
        torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    trainer = prepare(args, args.kind, overrides)
    size = sum(p.numel() for p in trainer.head.parameters())
    print(f"{args.kind}: {size / 1e6:.2f} M parameters, {2 * size / 2**20:.1f} MiB in fp16; {len(trainer.dialogues)} dialogues, "
          f"{sum(len(d.ids) for d in trainer.dialogues)} tokens, {len(trainer.held_out)} dialogues held out; step {trainer.step} of {trainer.total}", flush=True)
    stop = []
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.append(1))
    trainer.run(args.minutes, args.evaluate_every, stop=stop)


if __name__ == "__main__":
    main()
