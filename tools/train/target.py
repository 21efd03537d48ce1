"""The target: a llama read from GGUF, dequantised once, as a batched PyTorch forward. Frozen; heads are trained against it.

Shapes: B rows, T tokens, d width, nh heads, nkv key heads, hd head size, V vocabulary, L layers. Q and K come out of GGUF interleaved and
are put back in halves, so that rope is the one of Hugging Face. Residual stream, norms, softmax and logits of the training pass are fp32;
with bf16 only the products are bf16. That this forward equals transformers' is shown by `test.py --model`.
"""

import math
import pathlib

import torch
import torch.nn.functional as F


def default_model():
    """The GGUF that scripts/setup brings."""
    return pathlib.Path(__file__).resolve().parents[2] / ".deps/models/SmolLM2-135M-Instruct.Q4_1.gguf"


def rms_norm(x, weight, eps):
    """x fp32 [..., d] -> fp32 [..., d]."""
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


def rope_tables(positions, head_dim, theta, dtype=torch.float32):
    """positions int [...] -> cos, sin [..., hd], the halves alike."""
    inverse = theta ** (-torch.arange(0, head_dim, 2, device=positions.device).float() / head_dim)
    angle = positions[..., None].float() * inverse
    angle = torch.cat((angle, angle), -1)
    return angle.cos().to(dtype), angle.sin().to(dtype)


def rotate(x, cos, sin):
    """x [B, n, T, hd] with cos, sin [B, 1, T, hd] (or broadcastable)."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Linear:
    """y = x W^T. Packs W for oneDNN once where it is bf16 on a CPU: plain F.linear packs it at every call."""

    def __init__(self, weight):
        self.weight, self.packed = weight, None
        if weight.device.type == "cpu" and weight.dtype == torch.bfloat16:
            self.packed = torch.ops.mkldnn._reorder_linear_weight(weight, None)

    def __call__(self, x):
        x = x.to(self.weight.dtype)
        if self.packed is None or x.requires_grad:  # the packed product has no derivative
            return F.linear(x, self.weight)
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, None, "none", [], "")


class Target:
    """config: dict with d, layers, heads, kv_heads, head_dim, ff, vocab, theta, eps, context. weights: HF-shaped fp32 tensors by short name."""

    def __init__(self, config, weights, device="cpu", dtype=torch.float32):
        self.config, self.device, self.dtype = config, torch.device(device), dtype
        put = lambda x: x.to(self.device, dtype)
        self.embedding = put(weights["embed"])
        self.output = Linear(put(weights.get("output", weights["embed"])))
        self.final_norm = weights["norm"].to(self.device).float()
        self.layers = []
        for i in range(config["layers"]):
            w = {name.split(".", 1)[1]: x for name, x in weights.items() if name.startswith(f"{i}.")}
            self.layers.append({
                "attn_norm": w["attn_norm"].to(self.device).float(), "ffn_norm": w["ffn_norm"].to(self.device).float(),
                "qkv": Linear(put(torch.cat((w["q"], w["k"], w["v"])))), "o": Linear(put(w["o"])),
                "gate_up": Linear(put(torch.cat((w["gate"], w["up"])))), "down": Linear(put(w["down"]))})

    def embed(self, ids):
        return F.embedding(ids, self.embedding).float()

    def logits(self, normed):
        """final-normed states [..., d] -> fp32 [..., V]."""
        return self.output(normed).float()

    def run(self, ids, positions, attend, take=()):
        """ids, positions [B, T]. attend(layer, q [B, nh, T, hd], k, v [B, nkv, T, hd]) -> [B, nh, T, hd] keeps the cache.
        Returns the final-normed states fp32 [B, T, d] and {i: state entering layer i, fp32 [B, T, d]} for i in take (L: after the last)."""
        return self.run_embedded(self.embed(ids), positions, attend, take)

    def run_embedded(self, x, positions, attend, take=()):
        """run() over embeddings x fp32 [B, T, d], which need not be a token's."""
        c, taken = self.config, {}
        nh, nkv, hd = c["heads"], c["kv_heads"], c["head_dim"]
        B, T, _ = x.shape
        cos, sin = rope_tables(positions, hd, c["theta"], self.dtype)
        cos, sin = cos[:, None], sin[:, None]
        for i, w in enumerate(self.layers):
            if i in take:
                taken[i] = x
            qkv = w["qkv"](rms_norm(x, w["attn_norm"], c["eps"])).view(B, T, nh + 2 * nkv, hd).transpose(1, 2)
            qk = rotate(qkv[:, : nh + nkv], cos, sin)
            y = attend(i, qk[:, :nh], qk[:, nh:], qkv[:, nh + nkv:])
            x = x + w["o"](y.transpose(1, 2).reshape(B, T, nh * hd)).float()
            gate, up = w["gate_up"](rms_norm(x, w["ffn_norm"], c["eps"])).chunk(2, -1)
            x = x + w["down"](F.silu(gate) * up).float()
        if c["layers"] in take:
            taken[c["layers"]] = x
        return rms_norm(x, self.final_norm, c["eps"]), taken

    @torch.no_grad()
    def teacher(self, ids, take=(), keys=None):
        """A causal pass over whole rows (padding at the end does no harm): ids [B, T] -> as run(). keys: a list that gets each layer's (k, v)."""
        positions = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)

        def attend(i, q, k, v):
            if keys is not None:
                keys.append((k, v))
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

        return self.run(ids, positions, attend, take)


class RowCache:
    """KV of `rows` texts of different lengths, at most `length` tokens each. lengths[r] is what row r holds."""

    def __init__(self, target, rows, length):
        c = target.config
        shape = (c["layers"], 2, rows, c["kv_heads"], length, c["head_dim"])
        self.kv = torch.zeros(shape, dtype=target.dtype, device=target.device)
        self.lengths = torch.zeros(rows, dtype=torch.long, device=target.device)
        self.group = c["heads"] // c["kv_heads"]

    def prepare(self):
        """Before a step: where the new keys go, and which columns each row may see."""
        self.rows = torch.arange(len(self.lengths), device=self.lengths.device)
        self.width = min(self.kv.shape[4], -(-(int(self.lengths.max()) + 1) // 32) * 32)
        seen = torch.arange(self.width, device=self.lengths.device) <= self.lengths[:, None]
        self.bias = torch.zeros_like(seen, dtype=self.kv.dtype).masked_fill_(~seen, -math.inf)[:, None, None]

    def attend(self, layer, q, k, v):
        """One token a row: q [B, nh, 1, hd]. The heads that share a key head are its queries, so that keys are read once."""
        keys, values = self.kv[layer, 0], self.kv[layer, 1]
        keys[self.rows, :, self.lengths] = k[:, :, 0]
        values[self.rows, :, self.lengths] = v[:, :, 0]
        B, nh, _, hd = q.shape
        y = F.scaled_dot_product_attention(q.reshape(B, nh // self.group, self.group, hd), keys[:, :, : self.width],
                                           values[:, :, : self.width], attn_mask=self.bias)
        return y.reshape(B, nh, 1, hd)

    @torch.no_grad()
    def fill(self, target, rows, texts):
        """Puts texts into rows: each all but its last token, which the next step feeds. One padded batch; what padding writes, later tokens
        overwrite before any query may see it."""
        lengths = [len(ids) - 1 for ids in texts]
        self.lengths[rows] = torch.tensor(lengths, device=target.device)
        longest = max(lengths)
        if not longest:
            return
        at = torch.tensor(rows, device=target.device)

        def attend(i, q, k, v):
            self.kv[i, 0, at, :, :longest], self.kv[i, 1, at, :, :longest] = k, v
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

        ids = torch.tensor([text[:-1] + [0] * (longest - n) for text, n in zip(texts, lengths)], device=target.device)
        target.run(ids, torch.arange(longest, device=target.device).expand_as(ids), attend)


def load_gguf(path, device="cpu", dtype=torch.float32):
    """A llama in GGUF -> Target. Refuses other architectures and rope scaling, which this forward does not have."""
    import gguf

    reader = gguf.GGUFReader(path)
    field = lambda name, default=None: reader.fields[name].contents() if name in reader.fields else default
    arch = field("general.architecture")
    if arch != "llama" or field("llama.rope.scaling.type", "none") != "none" or any(t.name == "rope_freqs.weight" for t in reader.tensors):
        raise SystemExit(f"{path}: expected a llama without rope scaling, found '{arch}'; add its forward to target.py")
    d, nh = field("llama.embedding_length"), field("llama.attention.head_count")
    config = {"d": d, "layers": field("llama.block_count"), "heads": nh, "kv_heads": field("llama.attention.head_count_kv", nh),
              "head_dim": field("llama.attention.key_length", d // nh), "ff": field("llama.feed_forward_length"),
              "theta": float(field("llama.rope.freq_base", 10000.0)), "eps": float(field("llama.attention.layer_norm_rms_epsilon")),
              "context": field("llama.context_length"), "eos": field("tokenizer.ggml.eos_token_id"), "name": field("general.name", "")}

    def unpermute(w, heads):
        return w.view(heads, w.shape[0] // heads // 2, 2, w.shape[1]).transpose(1, 2).reshape(w.shape)

    short = {"attn_norm": "attn_norm", "ffn_norm": "ffn_norm", "attn_q": "q", "attn_k": "k", "attn_v": "v", "attn_output": "o",
             "ffn_gate": "gate", "ffn_up": "up", "ffn_down": "down"}
    weights = {}
    for t in reader.tensors:
        w = torch.from_numpy(gguf.quants.dequantize(t.data, t.tensor_type).copy()).float()
        parts = t.name.split(".")
        if parts[0] == "blk":
            if parts[2] == "attn_q":
                w = unpermute(w, config["heads"])
            elif parts[2] == "attn_k":
                w = unpermute(w, config["kv_heads"])
            weights[f"{parts[1]}.{short[parts[2]]}"] = w
        else:
            weights[{"token_embd": "embed", "output_norm": "norm", "output": "output"}[parts[0]]] = w
    config["vocab"] = weights["embed"].shape[0]
    return Target(config, weights, device, dtype)
