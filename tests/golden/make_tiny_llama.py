#!/usr/bin/env python3
"""Makes tests/fixtures/tiny_llama: a Llama of random weights with a tokenizer trained here, and golden.json, what it computes in fp64.

  make_tiny_llama.py          needs numpy and Hugging Face's tokenizers

golden.json: "runs" are greedy continuations (prompt_ids, ids with the prompt, top5 [[id, logit], ...] a new token), "logits" all rows of one
text, "vectors" texts with their ids, without and with special tokens."""
import json
import pathlib
import struct

import numpy as np
import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, processors, trainers

from make_tokenizer_goldens import TEXTS, TRAINING

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "tiny_llama"
VOCAB, DIM, LAYERS, HEADS, KV_HEADS, HIDDEN, EPS, THETA = 384, 64, 2, 4, 2, 96, 1e-6, 10000.0
HEAD = DIM // HEADS
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "attention_bias": False, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
    "hidden_size": DIM, "intermediate_size": HIDDEN, "max_position_embeddings": 512, "mlp_bias": False, "model_type": "llama",
    "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "num_key_value_heads": KV_HEADS, "rms_norm_eps": EPS,
    "rope_scaling": None, "rope_theta": THETA, "tie_word_embeddings": True, "torch_dtype": "bfloat16", "vocab_size": VOCAB,
}


def train_tokenizer():
    """As Llama-2's: BPE with byte fallback, spaces as U+2581, BOS in front."""
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(split=True)
    tokenizer.train_from_iterator(TRAINING, trainers.BpeTrainer(vocab_size=VOCAB, special_tokens=special, show_progress=False))
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = content["added_tokens"][:3]  # byte tokens are the model's own
    content["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    assert tokenizer.get_vocab_size() == VOCAB, tokenizer.get_vocab_size()
    return tokenizer


def bf16(values):
    """Rounded to bfloat16, to nearest even: (fp64 values, their 16 bits)."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    bits = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64), bits


def make_weights():
    random = np.random.default_rng(9)
    shapes = {"model.embed_tokens.weight": (VOCAB, DIM), "model.norm.weight": (DIM,)}
    for i in range(LAYERS):
        at = f"model.layers.{i}."
        shapes |= {at + "input_layernorm.weight": (DIM,), at + "post_attention_layernorm.weight": (DIM,),
                   at + "self_attn.q_proj.weight": (DIM, DIM), at + "self_attn.k_proj.weight": (KV_HEADS * HEAD, DIM),
                   at + "self_attn.v_proj.weight": (KV_HEADS * HEAD, DIM), at + "self_attn.o_proj.weight": (DIM, DIM),
                   at + "mlp.gate_proj.weight": (HIDDEN, DIM), at + "mlp.up_proj.weight": (HIDDEN, DIM),
                   at + "mlp.down_proj.weight": (DIM, HIDDEN)}
    weights, header, data = {}, {}, b""
    for name, shape in shapes.items():
        # Attention is sharp enough for rows to matter to each other; norms lie near 1.
        values = random.normal(1, 0.1, shape) if len(shape) == 1 else random.normal(0, 1.6 / np.sqrt(shape[1]), shape)
        weights[name], bits = bf16(values)
        raw = bits.tobytes()
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (FOLDER / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    return weights


def norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * weight


def rotate(x, positions):
    """Rotary embedding of [rows, heads, head]: the two halves of a head are the pairs."""
    angles = positions[:, None] * THETA ** (-np.arange(0, HEAD, 2) / HEAD)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    low, high = x[..., :HEAD // 2], x[..., HEAD // 2:]
    return np.concatenate([low * cos - high * sin, high * cos + low * sin], -1)


def logits_of(weights, ids):
    """fp64 logits [rows, vocabulary] of a text."""
    rows = len(ids)
    positions = np.arange(rows, dtype=np.float64)
    x = weights["model.embed_tokens.weight"][ids]
    for i in range(LAYERS):
        w = lambda name: weights[f"model.layers.{i}.{name}.weight"]
        h = norm(x, w("input_layernorm"))
        q = rotate((h @ w("self_attn.q_proj").T).reshape(rows, HEADS, HEAD), positions)
        k = rotate((h @ w("self_attn.k_proj").T).reshape(rows, KV_HEADS, HEAD), positions)
        v = (h @ w("self_attn.v_proj").T).reshape(rows, KV_HEADS, HEAD)
        k, v = (np.repeat(a, HEADS // KV_HEADS, axis=1) for a in (k, v))
        scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(HEAD)
        scores = np.where(np.tril(np.ones((rows, rows), bool)), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        x = x + np.einsum("hij,jhd->ihd", p, v).reshape(rows, DIM) @ w("self_attn.o_proj").T
        h = norm(x, w("post_attention_layernorm"))
        gate = h @ w("mlp.gate_proj").T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w("mlp.up_proj").T)) @ w("mlp.down_proj").T
    return norm(x, weights["model.norm.weight"]) @ weights["model.embed_tokens.weight"].T


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer()
    tokenizer.save(str(FOLDER / "tokenizer.json"), pretty=False)
    (FOLDER / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")
    (FOLDER / "tokenizer_config.json").write_text(json.dumps(
        {"add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
         "tokenizer_class": "LlamaTokenizer"}, indent=1) + "\n")
    weights = make_weights()
    runs = []
    for text in ("Once upon a time", "The theory of the", "def add(a, b):"):
        prompt = tokenizer.encode(text).ids
        ids, top5 = list(prompt), []
        for _ in range(24):
            row = logits_of(weights, ids)[-1]
            best = np.argsort(-row)[:5]
            assert row[best[0]] - row[best[1]] > 1e-3, "a near tie: choose another prompt or seed"
            top5.append([[int(token), round(float(row[token]), 6)] for token in best])
            ids.append(int(best[0]))
        runs.append({"prompt_ids": prompt, "ids": ids, "top5": top5})
    text = np.random.default_rng(11).integers(3, VOCAB, 40).tolist()
    golden = {"versions": {"numpy": np.__version__, "tokenizers": tokenizers.__version__}, "runs": runs,
              "logits": {"ids": text, "rows": [[round(float(v), 6) for v in row] for row in logits_of(weights, text)[::8]]},
              "vectors": [{"text": one, "plain": tokenizer.encode(one, add_special_tokens=False).ids, "ids": tokenizer.encode(one).ids,
                           "decoded": tokenizer.decode(tokenizer.encode(one).ids, skip_special_tokens=False)} for one in TEXTS]}
    (FOLDER / "golden.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
