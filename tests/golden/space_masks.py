#!/usr/bin/env python3
"""Writes space_masks.json beside it: the logits of SPACE's mask rows for SmolLM2-135M-Instruct with the masks of assets/draft/space, in
fp32 by numpy, one row after the other over explicit keys and values: masks as tools/train/space.py defines them.

  python tests/golden/space_masks.py        half a minute; needs gguf==0.19.0, numpy, safetensors==0.8.0
"""
import json
import pathlib

import gguf
import numpy as np
import safetensors.numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / ".deps/models/SmolLM2-135M-Instruct.Q4_1.gguf"
HEAD = ROOT / "assets/draft/space/model.safetensors"
# "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n" and the beginning of an answer.
TEXT = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198, 504, 3575, 282, 4649, 314, 7042, 30]
ROOTS = [len(TEXT) - 1, len(TEXT) - 4, 9]
BEST, EVERY = 8, 4001

reader = gguf.GGUFReader(MODEL)
field = lambda name: reader.fields["llama." + name].contents()
D, L, NH, NKV = field("embedding_length"), field("block_count"), field("attention.head_count"), field("attention.head_count_kv")
HD, THETA, EPS = D // NH, field("rope.freq_base"), field("attention.layer_norm_rms_epsilon")
W = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32) for t in reader.tensors}


def halves(w, heads):
    """GGUF interleaves the halves of q and k; here they lie as in Hugging Face's files."""
    return w.reshape(heads, HD // 2, 2, -1).swapaxes(1, 2).reshape(w.shape)


def norm(x, weight):
    return x / np.sqrt((x * x).mean() + np.float32(EPS)) * weight


def rotate(x, position):
    """x [heads, HD]"""
    angle = position * THETA ** (-np.arange(0, HD, 2, dtype=np.float32) / HD)
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    a, b = x[:, : HD // 2], x[:, HD // 2:]
    return np.concatenate((a * cos - b * sin, b * cos + a * sin), 1)


for i in range(L):
    for name, heads in (("attn_q", NH), ("attn_k", NKV)):
        W[f"blk.{i}.{name}.weight"] = halves(W[f"blk.{i}.{name}.weight"], heads)


def run(x, position, seen):
    """A row: x [D]; seen[layer]: the (k, v) [NKV, HD] it sees before its own. -> logits, its own (k, v) by layer."""
    own = []
    for i in range(L):
        w = lambda name: W[f"blk.{i}.{name}.weight"]
        h = norm(x, w("attn_norm"))
        q = rotate((w("attn_q") @ h).reshape(NH, HD), position)
        own.append((rotate((w("attn_k") @ h).reshape(NKV, HD), position), (w("attn_v") @ h).reshape(NKV, HD)))
        keys = np.stack([k for k, _ in seen[i] + own[-1:]])
        values = np.stack([v for _, v in seen[i] + own[-1:]])
        out = []
        for head in range(NH):
            score = keys[:, head // (NH // NKV)] @ q[head] / np.float32(HD) ** 0.5
            weight = np.exp(score - score.max())
            out.append((weight / weight.sum()) @ values[:, head // (NH // NKV)])
        x = x + w("attn_output") @ np.concatenate(out)
        h = norm(x, w("ffn_norm"))
        gate = w("ffn_gate") @ h
        x = x + w("ffn_down") @ (gate / (1 + np.exp(-gate)) * (w("ffn_up") @ h))
    return W.get("output.weight", W["token_embd.weight"]) @ norm(x, W["output_norm.weight"]), own


head = {name: x.astype(np.float32) for name, x in safetensors.numpy.load_file(HEAD).items()}
masks, prefix = head["mask_embeddings"], head["prefix_keys"].shape[2]
text = [[] for _ in range(L)]  # by layer, then by position
for position, token in enumerate(TEXT):
    _, own = run(W["token_embd.weight"][token], position, text)
    for i in range(L):
        text[i].append(own[i])

rows = []
for root in ROOTS:
    seen = [[(head["prefix_keys"][i][:, p], head["prefix_values"][i][:, p]) for p in range(prefix)] + text[i][: root + 1] for i in range(L)]
    for j in range(len(masks)):
        logits, own = run(masks[j], root + 1 + j, seen)
        for i in range(L):
            seen[i].append(own[i])
        best = np.argsort(-logits, kind="stable")[:BEST]
        ids = sorted({*best.tolist(), *range(0, len(logits), EVERY)})
        rows.append({"root": root, "mask": j, "best": int(best[0]), "ids": ids, "logits": [round(float(logits[i]), 4) for i in ids]})

out = pathlib.Path(__file__).with_name("space_masks.json")
out.write_text(json.dumps({"text": TEXT, "rows": rows}, separators=(",", ":")).replace('{"root"', '\n{"root"') + "\n", encoding="utf-8")
print(f"{out}: {len(rows)} rows")
