"""SPACE's masks for a frozen target, trained BiTA's way: mask embeddings, and keys and values of a prefix that the masks alone see.

Masks follow a root, the last token whose row is computed. The root's own row gives the next token; mask j = 1 … k, at the root's position + j,
guesses the token after that position. A mask sees the prefix, the text up to its root, the masks before it and itself. No row of the text
sees a mask or the prefix, so the target's own distribution stays what it was.
"""

import torch
import torch.nn.functional as F
from torch import nn

from heads import Head

SLOTS = 48  # roots whose masks attend in one call: each has a column for every mask of its call


class Probes:
    """Attention of the masks: rows [B, M * n], the n masks of a root side by side. text: per layer the keys and values of the text."""

    def __init__(self, sel, n, text, keys, values):
        self.text, self.keys, self.values, self.chunks = text, keys, values, []
        (B, M), P = sel.shape, keys.shape[2]
        own = torch.arange(SLOTS * n, device=sel.device)
        chain = (own[:, None] // n == own // n) & (own[:, None] >= own)
        for begin in range(0, M, SLOTS):
            roots = sel[:, begin: begin + SLOTS]
            rows, columns = roots.shape[1] * n, int(roots.max()) + 1
            seen = torch.arange(columns, device=sel.device) <= roots.repeat_interleave(n, 1)[:, :, None]
            mask = torch.cat((seen.new_ones(B, rows, P), seen, chain[:rows, :rows].expand(B, -1, -1)), 2)
            self.chunks.append((slice(begin * n, begin * n + rows), columns, mask[:, None]))

    def attend(self, layer, q, k, v):
        group = q.shape[1] // k.shape[1]
        prefix = lambda x: x[layer].to(q.dtype).expand(len(q), -1, -1, -1)
        joined = lambda x, text, own: torch.cat((prefix(x), text, own), 2).repeat_interleave(group, 1)
        text_k, text_v = self.text[layer]
        return torch.cat([F.scaled_dot_product_attention(
            q[:, :, rows], joined(self.keys, text_k[:, :, :columns], k[:, :, rows]), joined(self.values, text_v[:, :, :columns], v[:, :, rows]), attn_mask=mask)
            for rows, columns, mask in self.chunks], 2)


class Space(Head):
    """mask_embeddings [k, d]; prefix_keys (as they are after rope, halves apart) and prefix_values [layers, key heads, prefix, head size]."""

    kind = "space"

    def __init__(self, base, masks=3, prefix=16):
        super().__init__(base)
        c = base.config
        shape = (c["layers"], c["kv_heads"], prefix, c["head_dim"])
        # The start: a token like all others, and a prefix that says nothing yet.
        mean = base.embedding.mean(0)
        self.mask_embeddings = nn.Parameter(mean + 0.1 * mean.square().mean().sqrt() * torch.randn(masks, c["d"]).to(mean))
        self.prefix_keys = nn.Parameter(0.2 * torch.randn(shape))
        self.prefix_values = nn.Parameter(torch.zeros(shape))
        self.depth = masks

    def rollout(self, batch, depth, own):
        """Masks see no drafted token, so `own` makes no difference."""
        (B, M), n, d = batch.sel.shape, min(depth, self.depth), self.base.config["d"]
        positions = (batch.sel[..., None] + 1 + torch.arange(n, device=batch.sel.device)).flatten(1)
        probes = Probes(batch.sel, n, batch.keys, self.prefix_keys, self.prefix_values)
        out, _ = self.base.target.run_embedded(self.mask_embeddings[:n].repeat(B, M, 1), positions, probes.attend)
        out = out.view(B, M, n, d)
        for j in range(n):
            yield out[:, :, j], self.base.logits(out[:, :, j])
