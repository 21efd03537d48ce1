"""The five heads, as modules whose state_dict is their published file (names and shapes: Medusa "2", Hydra prefix-mlp, EAGLE-1/2, EAGLE-3, llama).

All draft by rollout(batch, depth, own): at every position i of batch.sel at once, step j gives (out, logits) for x[i+2+j]; the token fed to
step j + 1 is the real one (training) or the head's own best (own=True: what a chain drafts). logits' column c is target id columns[c].
`base` is the frozen target's embedding and output head; a head's file does not hold it.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from layers import Attention, Layer, Mlp, RmsNorm, Unrolled


class Base:
    """The target's embedding and output rows, in the dtype that training multiplies in. rows: ids of the output's columns (None: all)."""

    def __init__(self, target, dtype=torch.float32):
        self.target, self.config = target, target.config
        self.embedding = target.embedding.to(torch.float32)
        self.final_norm = target.final_norm
        self.full = target.output.weight.to(dtype)
        self.take_rows(None)

    def take_rows(self, rows):
        self.rows = rows
        self.output = self.full if rows is None else self.full[rows]

    def embed(self, ids):
        return F.embedding(ids, self.embedding)

    def logits(self, x):
        return F.linear(x.to(self.output.dtype), self.output).float()

    def ids(self, columns):
        return columns if self.rows is None else self.rows[columns]

    def scale_of_embedding(self):
        return float(self.embedding.square().mean().sqrt())


def at(x, sel):
    """x [B, T, d], sel [B, M] -> [B, M, d]."""
    return x.gather(1, sel[..., None].expand(-1, -1, x.shape[-1]))


def positions_of(ids):
    return torch.arange(ids.shape[1], device=ids.device).expand_as(ids)


def next_ids(ids):
    """x[t + 1] at t; 0 at the end."""
    return F.pad(ids[:, 1:], (0, 1))


class Head(nn.Module):
    kind, shared_output = "", True

    def __init__(self, base):
        super().__init__()
        self._base = [base]  # a list: no submodule, not in the state_dict

    @property
    def base(self):
        return self._base[0]

    def ids(self, columns):
        """Target ids of logits' columns."""
        return self.base.ids(columns)

    def next_token(self, batch, j, logits, own):
        return self.ids(logits.argmax(-1)) if own else batch.token(1 + j)


class ResBlock(nn.Module):
    def __init__(self, inputs, d, residual=False):
        super().__init__()
        self.linear = nn.Linear(inputs, d)
        self.res_connection = nn.Linear(inputs, d) if residual else None

    def forward(self, x):
        return (x if self.res_connection is None else self.res_connection(x)) + F.silu(self.linear(x))


class Medusa(Head):
    """heads.md A5, version "2": {h}.0.linear.{weight, bias}; zeros at the start, so that head h begins as the target's own."""

    kind = "medusa"

    def __init__(self, base, heads=5):
        super().__init__(base)
        d = base.config["d"]
        for h in range(heads):
            block = nn.Sequential(ResBlock(d, d))
            nn.init.zeros_(block[0].linear.weight)
            nn.init.zeros_(block[0].linear.bias)
            self.add_module(str(h), block)
        self.heads = self.depth = heads

    def rollout(self, batch, depth, own):
        x = at(batch.final, batch.sel)
        for h in range(min(depth, self.heads)):
            out = getattr(self, str(h))(x).float()
            yield out, self.base.logits(out)


class Prefix(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.layers = nn.ModuleList([Layer(c)])
        self.norm = RmsNorm(c["d"], c["eps"])

    def forward(self, x, positions, cache):
        return self.norm(self.layers[0](x, positions, cache))


class Hydra(Head):
    """heads.md A6, prefix-mlp; hydra_lm_head and the embeddings are the target's and not in the file. `layers` - 1 times one shared block."""

    kind = "hydra"

    def __init__(self, base, heads=3, layers=1):
        super().__init__(base)
        d = base.config["d"]
        self.heads = self.depth = heads
        self.blocks = layers - 1
        self.prefix_embeding_layer = Prefix(base.config)
        self.hydra_mlp = nn.ModuleList()
        for i in range(heads):
            parts = nn.ModuleDict({"1": ResBlock((i + 2) * d, d, residual=True)})
            # The start: what the prefix says, and a little of the rest.
            nn.init.zeros_(parts["1"].linear.weight)
            nn.init.zeros_(parts["1"].res_connection.bias)
            with torch.no_grad():
                parts["1"].res_connection.weight.normal_(0, 0.3 / math.sqrt(d) / base.scale_of_embedding())[:, :d].copy_(torch.eye(d))
            if layers > 1:
                shared = ResBlock(d, d)
                nn.init.zeros_(shared.linear.weight)
                for n in range(1, layers):
                    parts[str(2 * n + 1)] = shared
            self.hydra_mlp.append(parts)

    def start(self, final, positions, cache):
        return self.prefix_embeding_layer(final, positions, cache)

    def propose(self, i, prefix, embeddings):
        """Head i: prefix [.., d], embeddings of x[t+1] … x[t+1+i] -> out [.., d]."""
        parts = self.hydra_mlp[i]
        out = parts["1"](torch.cat([prefix] + embeddings, -1))
        for n in range(1, self.blocks + 1):
            out = parts[str(2 * n + 1)](out)
        return out.float()

    def rollout(self, batch, depth, own):
        prefix = at(self.start(batch.final, positions_of(batch.ids), Unrolled(batch.sel)), batch.sel)
        embeddings = [self.base.embed(batch.token(1))]
        for i in range(min(depth, self.heads)):
            out = self.propose(i, prefix, embeddings)
            logits = self.base.logits(out)
            yield out, logits
            if i + 1 < depth:
                embeddings.append(self.base.embed(self.next_token(batch, i + 1, logits, own)))


class EagleLayer(nn.Module):
    """EAGLE-1's layer 0: no input norm."""

    def __init__(self, c):
        super().__init__()
        self.self_attn = Attention(c, c["d"])
        self.post_attention_layernorm = RmsNorm(c["d"], c["eps"])
        self.mlp = Mlp(c)

    def forward(self, x, positions, cache):
        x = x + self.self_attn(x, positions, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Eagle(Head):
    """What EAGLE-1, -2 and -3 share: f[t] goes with the embedding of x[t+1], at rope position t; `out` is the next feature."""

    def rollout(self, batch, depth, own, noise=None):
        cache = Unrolled(batch.sel)
        h = self.features(batch)
        if noise is not None:
            h = h + noise(h)
        out = self.step(h, self.base.embed(next_ids(batch.ids)), positions_of(batch.ids), cache)
        out = at(out, batch.sel)
        for j in range(depth):
            logits = self.logits(out)
            yield out, logits
            if j + 1 < depth:
                token = self.next_token(batch, j + 1, logits, own)
                out = self.step(out, self.base.embed(token), batch.sel + j + 1, cache)


class Eagle1(Eagle):
    """heads.md A1: fc (with bias), layers.0 without input_layernorm, the target's output head on the un-normed output."""

    kind, depth = "eagle1", 5

    def __init__(self, base, bias=True):
        super().__init__(base)
        d = base.config["d"]
        self.fc = nn.Linear(2 * d, d, bias=bias)
        self.layers = nn.ModuleList([EagleLayer(base.config)])
        with torch.no_grad():  # the start: the next state is this one
            self.fc.weight.normal_(0, 0.3 / math.sqrt(d) / base.scale_of_embedding())
            self.fc.weight[:, d:].copy_(torch.eye(d))
            if bias:
                self.fc.bias.zero_()

    def features(self, batch):
        return batch.final

    def step(self, f, e, positions, cache):
        return self.layers[0](self.fc(torch.cat((e, f), -1)).float(), positions, cache)

    def logits(self, out):
        return self.base.logits(out)


class Midlayer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = RmsNorm(c["d"], c["eps"])
        self.hidden_norm = RmsNorm(c["d"], c["eps"])
        self.self_attn = Attention(c, 2 * c["d"])
        self.post_attention_layernorm = RmsNorm(c["d"], c["eps"])
        self.mlp = Mlp(c)

    def forward(self, h, e, positions, cache):
        h = h + self.self_attn(torch.cat((self.input_layernorm(e), self.hidden_norm(h)), -1), positions, cache)
        return h + self.mlp(self.post_attention_layernorm(h))


class Eagle3(Eagle):
    """heads.md A3. d2t holds offsets: target id = column + d2t[column]."""

    kind, depth, shared_output = "eagle3", 7, False

    def __init__(self, base, vocabulary, scales=(1.0, 1.0, 1.0)):
        """scales: the usual root mean square of the three states, so that they enter alike (SmolLM2: 3, 6 and 23)."""
        super().__init__(base)
        c = base.config
        self.fc = nn.Linear(3 * c["d"], c["d"], bias=False)
        self.midlayer = Midlayer(c)
        self.norm = RmsNorm(c["d"], c["eps"])
        self.lm_head = nn.Linear(c["d"], len(vocabulary), bias=False)
        ids = torch.as_tensor(sorted(vocabulary), dtype=torch.long)
        self.register_buffer("d2t", ids - torch.arange(len(ids)))
        self.register_buffer("t2d", torch.zeros(c["vocab"], dtype=torch.bool).index_fill_(0, ids, True))
        with torch.no_grad():  # the start: the last state, and the target's own norm and output rows
            for k, scale in enumerate(scales):
                block = self.fc.weight[:, k * c["d"]: (k + 1) * c["d"]]
                if k < 2:
                    block.normal_(0, 0.3 / math.sqrt(c["d"]) / scale)
                else:
                    block.copy_(torch.eye(c["d"]) / scale)
            self.norm.weight.copy_(base.final_norm)
            self.lm_head.weight.copy_(base.full[ids.to(base.full.device)].float())

    def ids(self, columns):
        return columns + self.d2t[columns]

    def features(self, batch):
        return self.fc(batch.raw.flatten(2)).float()

    def step(self, h, e, positions, cache):
        return self.midlayer(h, e, positions, cache)

    def logits(self, out):
        return self.lm_head(self.norm(out)).float()


class DraftModel(Head):
    """A plain llama of Hugging Face form with the target's vocabulary, tied. Its embedding starts as the target's, on its main axes."""

    kind, depth, shared_output = "draft", 4, False

    def __init__(self, base, width=128, layers=2, ff=384, head_dim=32):
        super().__init__(base)
        heads = width // head_dim
        self.c = dict(base.config, d=width, ff=ff, layers=layers, heads=heads, kv_heads=heads, head_dim=head_dim)
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(base.config["vocab"], width)
        self.model.layers = nn.ModuleList(Layer(self.c) for _ in range(layers))
        self.model.norm = RmsNorm(width, self.c["eps"])
        full = base.full.float()
        _, vectors = torch.linalg.eigh(full.T @ full)
        with torch.no_grad():
            start = full @ vectors.flip(1)[:, :width]
            self.model.embed_tokens.weight.copy_(start * (0.02 / start.std()) * 2)

    def step(self, tokens, positions, caches):
        x = self.model.embed_tokens(tokens)
        for layer, cache in zip(self.model.layers, caches):
            x = layer(x, positions, cache)
        return self.model.norm(x)

    def logits(self, out):
        weight = self.model.embed_tokens.weight
        return F.linear(out, weight if self.base.rows is None else weight[self.base.rows]).float()

    def rollout(self, batch, depth, own):
        # A position later than the others: the root x[i+1] is its first input that counts.
        sel = batch.sel + 1
        caches = [Unrolled(sel) for _ in self.model.layers]
        out = at(self.step(batch.ids, positions_of(batch.ids), caches), sel)
        for j in range(depth):
            logits = self.logits(out)
            yield out, logits
            if j + 1 < depth:
                token = self.next_token(batch, j + 1, logits, own)
                out = self.step(token, sel + j + 1, caches)


def make(kind, base, options):
    """options: dict of the recipe (recipes in train.py)."""
    if kind == "medusa":
        return Medusa(base, options["heads"])
    if kind == "hydra":
        return Hydra(base, options["heads"], options["layers"])
    if kind == "eagle1":
        return Eagle1(base)
    if kind == "eagle3":
        return Eagle3(base, options["vocabulary"], options.get("scales", (1.0, 1.0, 1.0)))
    if kind == "draft":
        return DraftModel(base, options["width"], options["layers"], options["ff"], options["head_dim"])
    if kind == "space":
        from space import Space  # which is a Head
        return Space(base, options["masks"], options["prefix"])
    raise ValueError(kind)
