"""A llama layer for draft heads, and the attention of unrolled drafting.

Parameter names are Hugging Face's, so that a head's state_dict is its published file.
"""

import torch
import torch.nn.functional as F
from torch import nn

from target import rope_tables, rotate


class RmsNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return F.rms_norm(x.float(), (x.shape[-1],), self.weight, self.eps)


class Attention(nn.Module):
    """inputs: width of what q, k and v read (2d in EAGLE-3)."""

    def __init__(self, c, inputs):
        super().__init__()
        self.nh, self.nkv, self.hd, self.theta = c["heads"], c["kv_heads"], c["head_dim"], c["theta"]
        self.q_proj = nn.Linear(inputs, self.nh * self.hd, bias=False)
        self.k_proj = nn.Linear(inputs, self.nkv * self.hd, bias=False)
        self.v_proj = nn.Linear(inputs, self.nkv * self.hd, bias=False)
        self.o_proj = nn.Linear(self.nh * self.hd, c["d"], bias=False)

    def forward(self, x, positions, cache):
        """x [B, M, inputs], positions [B, M]; cache.attend as in Unrolled."""
        B, M, _ = x.shape
        part = lambda y, n: y.view(B, M, n, self.hd).transpose(1, 2)
        cos, sin = rope_tables(positions, self.hd, self.theta)
        cos, sin = cos[:, None], sin[:, None]
        q = rotate(part(self.q_proj(x), self.nh).float(), cos, sin)
        k = rotate(part(self.k_proj(x), self.nkv).float(), cos, sin)
        v = part(self.v_proj(x), self.nkv).float()
        group = self.nh // self.nkv
        y = cache.attend(q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1))
        return self.o_proj(y.transpose(1, 2).reshape(B, M, -1)).float()


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c["d"], c["ff"], bias=False)
        self.up_proj = nn.Linear(c["d"], c["ff"], bias=False)
        self.down_proj = nn.Linear(c["ff"], c["d"], bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x)).float()


class Layer(nn.Module):
    """The usual llama layer."""

    def __init__(self, c):
        super().__init__()
        self.input_layernorm = RmsNorm(c["d"], c["eps"])
        self.self_attn = Attention(c, c["d"])
        self.post_attention_layernorm = RmsNorm(c["d"], c["eps"])
        self.mlp = Mlp(c)

    def forward(self, x, positions, cache):
        x = x + self.self_attn(self.input_layernorm(x), positions, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Unrolled:
    """Keys of all positions' drafts at once (training-time test, EAGLE-3 section 3; SpecForge's cache_hidden).

    Step 0 runs over all T positions, causally. From then on a query belongs to a position sel[m] and sees the keys of step 0 up to it, and those
    of its own position from steps 1 … j: the drafted path."""

    def __init__(self, sel):
        self.sel, self.steps = sel, []

    def attend(self, q, k, v):
        """q, k, v fp32 [B, n, M, hd] -> [B, n, M, hd]."""
        self.steps.append((k, v))
        if len(self.steps) == 1:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        (k0, v0), own = self.steps[0], self.steps[1:]
        scale = q.shape[-1] ** -0.5
        first = (q @ k0.transpose(-1, -2)) * scale
        seen = torch.arange(k0.shape[2], device=q.device) <= self.sel[:, :, None]
        first = first.masked_fill(~seen[:, None], float("-inf"))
        later = torch.stack([(q * key).sum(-1) for key, _ in own], -1) * scale
        weights = torch.cat((first, later), -1).softmax(-1)
        y = weights[..., : k0.shape[2]] @ v0
        for s, (_, value) in enumerate(own):
            y = y + weights[..., k0.shape[2] + s, None] * value
        return y


class Path:
    """Keys of one text and of a tree below it: what a decoder keeps. `mask` bool [M, columns so far + M] or None for causal."""

    def __init__(self):
        self.k = self.v = None
        self.mask = None

    def attend(self, q, k, v):
        self.k = k if self.k is None else torch.cat((self.k, k), 2)
        self.v = v if self.v is None else torch.cat((self.v, v), 2)
        mask = self.mask
        if mask is None:
            columns, M = self.k.shape[2], q.shape[2]
            mask = torch.arange(columns, device=q.device) <= torch.arange(columns - M, columns, device=q.device)[:, None]
        return F.scaled_dot_product_attention(q, self.k, self.v, attn_mask=mask)

    def cut(self, columns):
        self.k, self.v = self.k[:, :, :columns], self.v[:, :, :columns]
