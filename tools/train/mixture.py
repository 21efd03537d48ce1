#!/usr/bin/env python3
"""Trains a small mixture of experts from nothing on files of text, and writes it as a folder that opens (Mixtral's names and shapes).

    mixture.py --out FOLDER --corpus FILE.txt … [--minutes 25] [--steps 4000] [--threads 1]

Documents are separated by a line <|endoftext|>. The same command goes on where OUT/checkpoint.pt stopped, to the same weights as without the
stop. OUT/model is written when it stops: config.json, model.safetensors (fp16) and tokenizer.json, a byte-level BPE of the corpus.
Balance: the auxiliary loss of Switch Transformers (Fedus et al., 2021, eq. 4 to 6), so that every expert gets its share of rows.
"""

import argparse
import json
import math
import pathlib
import time

import safetensors.torch
import tokenizers
import torch
import torch.nn.functional as F
from tokenizers import decoders, models, pre_tokenizers, trainers
from torch import nn

from layers import Attention, RmsNorm, Unrolled
from train import save

END = "<|endoftext|>"
SIZES = {"d": 128, "layers": 4, "heads": 4, "kv_heads": 4, "head_dim": 32, "ff": 160, "experts": 8, "used": 2, "vocab": 1024, "theta": 10000.0,
         "eps": 1e-5, "context": 512}
RECIPE = {"lr": 3e-3, "warmup": 100, "weight_decay": 0.05, "clip": 1.0, "balance": 0.02, "rows": 16, "length": 128}


class Expert(nn.Module):
    """w2(silu(w1 x) · w3 x): Mixtral's names."""

    def __init__(self, c):
        super().__init__()
        self.w1 = nn.Linear(c["d"], c["ff"], bias=False)
        self.w3 = nn.Linear(c["d"], c["ff"], bias=False)
        self.w2 = nn.Linear(c["ff"], c["d"], bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Experts(nn.Module):
    """A row goes through the `used` experts of largest probability, their results weighted by these probabilities over their sum."""

    def __init__(self, c):
        super().__init__()
        self.gate = nn.Linear(c["d"], c["experts"], bias=False)
        self.experts = nn.ModuleList(Expert(c) for _ in range(c["experts"]))
        self.used = c["used"]

    def forward(self, x):
        """x [rows, d] -> [rows, d], the balance loss (1 where all experts are alike)."""
        p = self.gate(x).softmax(-1)
        weights, chosen = p.topk(self.used, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            row, place = torch.nonzero(chosen == e, as_tuple=True)
            if len(row):
                out = out.index_add(0, row, expert(x[row]) * weights[row, place, None])
        share = torch.bincount(chosen.flatten(), minlength=len(self.experts)) / chosen.numel()
        return out, len(self.experts) * (share * p.mean(0)).sum()


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = RmsNorm(c["d"], c["eps"])
        self.self_attn = Attention(c, c["d"])
        self.post_attention_layernorm = RmsNorm(c["d"], c["eps"])
        self.block_sparse_moe = Experts(c)

    def forward(self, x, positions):
        x = x + self.self_attn(self.input_layernorm(x), positions, Unrolled(None))
        mixed, balance = self.block_sparse_moe(self.post_attention_layernorm(x).flatten(0, 1))
        return x + mixed.view_as(x), balance


class Mixture(nn.Module):
    """The output head is the embedding."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Embedding(c["vocab"], c["d"])
        self.layers = nn.ModuleList(Layer(c) for _ in range(c["layers"]))
        self.norm = RmsNorm(c["d"], c["eps"])
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 if name.startswith("embed") else p.shape[1] ** -0.5)

    def forward(self, ids):
        """ids [B, T] -> logits [B, T, vocab], the mean balance loss of the layers."""
        x, balance = self.embed_tokens(ids), 0.0
        positions = torch.arange(ids.shape[1], device=ids.device)[None].expand_as(ids)
        for layer in self.layers:
            x, more = layer(x, positions)
            balance = balance + more / len(self.layers)
        return F.linear(self.norm(x), self.embed_tokens.weight), balance


def documents(files):
    return [d.strip() for f in files for d in f.read_text().split(END) if d.strip()]


def make_tokenizer(texts, size):
    tok = tokenizers.Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=[END], show_progress=False,
                                                       initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tok


def stream(tok, texts):
    """All documents in a row of ids, an end token before each."""
    end = tok.token_to_id(END)
    return torch.tensor([i for e in tok.encode_batch(texts) for i in [end, *e.ids]])


def hugging_face(model, tok):
    """-> tensors in fp16 by their published names, config.json."""
    c, end = model.c, tok.token_to_id(END)
    tensors = {f"model.{k}": v.half().contiguous() for k, v in model.state_dict().items()}
    return tensors, {
        "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "hidden_act": "silu", "hidden_size": c["d"], "intermediate_size": c["ff"],
        "num_attention_heads": c["heads"], "num_key_value_heads": c["kv_heads"], "head_dim": c["head_dim"], "num_hidden_layers": c["layers"],
        "num_local_experts": c["experts"], "num_experts_per_tok": c["used"], "max_position_embeddings": c["context"], "rms_norm_eps": c["eps"],
        "rope_theta": c["theta"], "vocab_size": c["vocab"], "tie_word_embeddings": True, "sliding_window": None, "bos_token_id": None,
        "eos_token_id": end, "torch_dtype": "float16"}


def write(folder, model, tok):
    folder.mkdir(parents=True, exist_ok=True)
    tensors, config = hugging_face(model, tok)
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tok.save(str(folder / "tokenizer.json"))


class Training:
    """Step n reads the same text and has the same rate however often it was stopped before."""

    def __init__(self, ids, sizes, recipe, steps, seed=1):
        torch.manual_seed(seed)
        self.ids, self.recipe, self.steps, self.seed, self.step = ids, recipe, steps, seed, 0
        self.model = Mixture(sizes)
        groups = [[p for p in self.model.parameters() if p.dim() == 2], [p for p in self.model.parameters() if p.dim() < 2]]
        self.optimiser = torch.optim.AdamW([{"params": groups[0]}, {"params": groups[1], "weight_decay": 0.0}], weight_decay=recipe["weight_decay"],
                                           betas=(0.9, 0.95))

    def state(self):
        return {"step": self.step, "model": self.model.state_dict(), "optimiser": self.optimiser.state_dict()}

    def load(self, state):
        self.step = state["step"]
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])

    def rate(self):
        warm = min(1.0, (self.step + 1) / self.recipe["warmup"])
        return self.recipe["lr"] * warm * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * self.step / self.steps)))

    def train_step(self):
        """-> cross entropy in nats a token, balance loss."""
        r = self.recipe
        draw = torch.Generator().manual_seed(self.seed * 1_000_003 + self.step)
        at = torch.randint(len(self.ids) - r["length"] - 1, (r["rows"], 1), generator=draw)
        text = self.ids[at + torch.arange(r["length"] + 1)]
        logits, balance = self.model(text[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        self.optimiser.zero_grad()
        (loss + r["balance"] * balance).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), r["clip"])
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        self.optimiser.step()
        self.step += 1
        return loss.item(), balance.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", required=True, nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--minutes", type=float, default=0, help="stop after that long; the same command goes on")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    texts, kept = documents(args.corpus), args.out / "tokenizer.json"
    tok = tokenizers.Tokenizer.from_file(str(kept)) if kept.exists() else make_tokenizer(texts, SIZES["vocab"])
    tok.save(str(kept))
    training = Training(stream(tok, texts), SIZES, RECIPE, args.steps, args.seed)
    checkpoint = args.out / "checkpoint.pt"
    if checkpoint.exists():
        training.load(torch.load(checkpoint))
    size = sum(p.numel() for p in training.model.parameters())
    print(f"{size / 1e6:.2f} M parameters, {len(training.ids)} tokens of {len(texts)} documents; step {training.step} of {args.steps}", flush=True)
    began, got = time.time(), []
    while training.step < args.steps and not (args.minutes and time.time() - began > 60 * args.minutes):
        got.append(training.train_step())
        if training.step % 50 == 0 or training.step == args.steps:
            loss, balance = (sum(x) / len(got) for x in zip(*got))
            print(f"step {training.step}: loss {loss:.3f}, balance {balance:.3f}, {time.time() - began:.0f} s", flush=True)
            got = []
            save(checkpoint, training.state())
    save(checkpoint, training.state())
    write(args.out / "model", training.model, tok)


if __name__ == "__main__":
    main()
