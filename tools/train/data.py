"""Generated dialogues, their batches, and what the target's teacher-forced pass says about them.

A batch holds rows of similar length. Of each row, `sel` lists the positions i whose drafts count: x[i+2] was written by the target, so that
f[i] with the root x[i+1] drafts x[i+2], x[i+3], … (heads.md's pairing: feature t with the embedding of t+1).
"""

import dataclasses
import json
import lzma
import pathlib
import random

import numpy as np
import torch

HELD_OUT_EVERY = 40  # dialogue n with n % 40 == 7 is never trained on
KINDS = {"greedy": 1, "sampled": 2, "user": 3}


@dataclasses.dataclass
class Dialogue:
    part: str
    line: int
    n: int
    ids: list
    kinds: np.ndarray  # uint8 [T]: 0 given, else who wrote the token
    spans: list        # of kind greedy: [from, to)

    @property
    def held_out(self):
        return self.n % HELD_OUT_EVERY == 7


def read(folder, max_tokens):
    """All dialogues of a folder's dialogues-*.jsonl and .jsonl.xz, in the order of their files. Longer ones are cut."""
    found = []
    for path in sorted(p for p in pathlib.Path(folder).glob("dialogues-*") if p.name.endswith((".jsonl", ".jsonl.xz"))):
        content = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        part = path.name.split(".")[0]
        if any(d.part == part for d in found[-1:]):
            raise SystemExit(f"{path}: expected each part once, found it packed and plain; take one of the two away")
        for line, text in enumerate(content.split(b"\n")[:-1]):
            row = json.loads(text)
            ids = row["ids"][:max_tokens]
            kinds = np.zeros(len(ids), np.uint8)
            for begin, end, kind in row["spans"]:
                kinds[begin:end] = KINDS[kind]
            spans = [[b, min(e, len(ids))] for b, e, kind in row["spans"] if kind == "greedy" and b < len(ids)]
            found.append(Dialogue(part, line, row["n"], ids, kinds, spans))
    return found


@dataclasses.dataclass
class Batch:
    ids: torch.Tensor     # [B, T]
    final: torch.Tensor   # [B, T, d] after the final norm
    raw: torch.Tensor     # [B, T, k, d] entering the layers taken
    sel: torch.Tensor     # [B, M] positions i, ascending, padded with 0
    valid: torch.Tensor   # bool [B, M]
    keys: list = None     # where asked for: of each layer (keys, values) [B, key heads, T, head size]

    def token(self, shift):
        """x[i + shift] for i in sel: [B, M]; beyond the end 0."""
        at = self.sel + shift
        return torch.where(at < self.ids.shape[1], self.ids.gather(1, at.clamp(max=self.ids.shape[1] - 1)), 0)

    def ahead(self, j):
        """bool [B, M]: slot m + j is the position sel[m] + j, so that j more drafts still count."""
        if j == 0:
            return self.valid
        ok = torch.zeros_like(self.valid)
        ok[:, :-j] = self.valid[:, :-j] & self.valid[:, j:] & (self.sel[:, j:] == self.sel[:, :-j] + j)
        return ok


def shifted(x, j):
    """x [B, M, …] -> x[:, m + j], the end filled with zeros."""
    if j == 0:
        return x
    return torch.cat((x[:, j:], torch.zeros_like(x[:, :j])), 1)


def plan(dialogues, budget, seed, epoch):
    """Lists of dialogues, each of at most `budget` padded tokens, in an order that seed and epoch fix."""
    rng = random.Random(f"{seed}/{epoch}")
    order = sorted(dialogues, key=lambda d: (len(d.ids) + rng.randrange(48), d.n))
    batches, batch, longest = [], [], 0
    for d in order:
        if batch and max(longest, len(d.ids)) * (len(batch) + 1) > budget:
            batches.append(batch)
            batch, longest = [], 0
        batch.append(d)
        longest = max(longest, len(d.ids))
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


class Features:
    """States of the target for batches: kept in files where a folder is given (a CPU), computed when asked (a GPU). With `keys` a batch also
    has each layer's keys and values, which no file keeps: they are ten times the size.

    PART.f16 holds fp16 [tokens, 1 + k, d]: final-normed, then the k raw states; it grows with its part. The folder's name says what made it:
    the layers, the dtype of the products, where long dialogues are cut."""

    def __init__(self, target, take, folder=None, max_tokens=1024, keys=False):
        self.target, self.take, self.max_tokens, self.keys = target, tuple(take), max_tokens, keys
        self.width = (1 + len(self.take)) * target.config["d"]
        kind = "-".join(["layers", *map(str, self.take), str(target.dtype).removeprefix("torch."), str(max_tokens)])
        self.folder = pathlib.Path(folder) / kind if folder else None
        self.maps, self.offsets = {}, {}

    def padded(self, rows):
        """lists of ids -> [B, T]"""
        longest = max(map(len, rows))
        return torch.tensor([r + [0] * (longest - len(r)) for r in rows], device=self.target.device)

    def run(self, ids, keys=None):
        """ids [B, T] -> fp32 [B, T, 1 + k, d]"""
        final, taken = self.target.teacher(ids, self.take, keys)
        return torch.stack([final] + [taken[i] for i in self.take], 2)

    def compute(self, rows):
        """rows: lists of ids -> list of fp32 [T, 1 + k, d]."""
        states = self.run(self.padded(rows))
        return [states[i, : len(r)] for i, r in enumerate(rows)]

    def keep(self, dialogues, progress=print):
        """Brings the files up to date with the dialogues (all of every part, in order)."""
        if not self.folder:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        parts = {}
        for d in dialogues:
            parts.setdefault(d.part, []).append(d)
        for part, lines in parts.items():
            path = self.folder / f"{part}.f16"
            self.offsets[part] = np.concatenate(([0], np.cumsum([len(d.ids) for d in lines])))
            have = path.stat().st_size // (2 * self.width) if path.exists() else 0
            first = int(np.searchsorted(self.offsets[part], have, side="right")) - 1
            if first < len(lines):
                with open(path, "ab") as file:
                    file.truncate(int(self.offsets[part][first]) * 2 * self.width)
                    for window in range(first, len(lines), 64):
                        chunk = lines[window: window + 64]
                        order = sorted(range(len(chunk)), key=lambda i: len(chunk[i].ids))
                        done = [None] * len(chunk)
                        for at in range(0, len(order), 4):
                            some = order[at: at + 4]
                            for i, state in zip(some, self.compute([chunk[i].ids for i in some])):
                                done[i] = state.clamp(-65000, 65000).half().cpu().numpy()
                        file.write(b"".join(x.tobytes() for x in done))
                        file.flush()
                        progress(f"features of {part}: {min(window + 64, len(lines))} of {len(lines)} dialogues")
            self.maps[part] = np.memmap(path, np.float16, "r").reshape(-1, 1 + len(self.take), self.target.config["d"])

    def states(self, dialogues):
        if not self.folder:
            return self.compute([d.ids for d in dialogues])
        out = []
        for d in dialogues:
            begin = self.offsets[d.part][d.line]
            out.append(torch.from_numpy(np.array(self.maps[d.part][begin: begin + len(d.ids)])).float())
        return out

    def batch(self, dialogues, kinds=(1, 2)):
        """The batch of these dialogues; drafts count where the token is of one of `kinds`."""
        device, d = self.target.device, self.target.config["d"]
        ids, keys = self.padded([x.ids for x in dialogues]), None
        if self.keys:
            keys = []
            states = self.run(ids, keys)
        else:
            states = torch.zeros(*ids.shape, 1 + len(self.take), d, device=device)
            for r, state in enumerate(self.states(dialogues)):
                states[r, : state.shape[0]] = state
        # i counts where x[i+2] was written by the target; its distribution is the state i+1's.
        chosen = [np.flatnonzero(np.isin(x.kinds[2:], kinds)) for x in dialogues]
        most = max(1, max(map(len, chosen)))
        sel = torch.zeros(len(dialogues), most, dtype=torch.long)
        valid = torch.zeros(len(dialogues), most, dtype=torch.bool)
        for r, at in enumerate(chosen):
            sel[r, : len(at)], valid[r, : len(at)] = torch.from_numpy(at), True
        return Batch(ids, states[:, :, 0], states[:, :, 1:], sel.to(device), valid.to(device), keys)
