#!/usr/bin/env python3
"""Writes tests/fixtures/draft_heads: small draft heads with the names, shapes and files of the published ones, a small target, and
what the heads answer, by PyTorch, fp32, CPU. The forward passes here are written from the papers and the published code alone.

    python tests/golden/make_heads.py          a minute; the same bytes every time
Needs torch==2.11.0, transformers==5.17.0 (the target, rotary angles), safetensors==0.8.0. README.md beside the fixtures says what is
in them.
"""
import collections
import json
import pathlib
import shutil
import zlib

import safetensors.torch
import torch
import torch.nn.functional as F
import transformers

OUT = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "draft_heads"
V, DT, L = 64, 16, 8  # the target's vocabulary, hidden size, layers
TARGET = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": DT, "num_hidden_layers": L,
          "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 24, "vocab_size": V,
          "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "bos_token_id": 1, "eos_token_id": 2,
          "tie_word_embeddings": False, "torch_dtype": "bfloat16"}
TOKENS = [1, 17, 42, 5, 33, 60, 8, 21, 50, 13, 29, 3]  # the last one is sampled and not yet computed by the target
# A tree of drafts below the last token: (parent, token); parent -1 is the last token itself.
TREE = [(-1, 11), (-1, 40), (0, 7), (0, 52), (1, 7), (2, 19), (5, 36)]
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}


def tensor(name, shape, dtype=torch.float16, seed=0):
    """Values that depend on the name alone: norms around 1, matrices scaled by their inputs, all exact in `dtype`."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()) + seed)
    values = torch.randn(shape, generator=generator)
    if len(shape) == 1:
        values = values * 0.2 + (1.0 if "norm" in name and name.endswith("weight") else 0.0)
    else:
        values = values * (1.6 / shape[-1] ** 0.5)
    return values.to(dtype)


def norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight.float()


def linear(x, weights, name):
    bias = weights.get(name + ".bias")
    return F.linear(x, weights[name + ".weight"].float(), None if bias is None else bias.float())


def rotary(config, positions, head_dim):
    """cos, sin [rows, head_dim] of transformers' rotary embedding."""
    rope = {"rope_theta": config.get("rope_theta", 10000.0), **(config.get("rope_scaling") or {"rope_type": "default"})}
    made = transformers.LlamaConfig(hidden_size=head_dim, num_attention_heads=1, head_dim=head_dim,
                                    max_position_embeddings=config.get("max_position_embeddings", 2048), rope_parameters=rope)
    embedding = transformers.models.llama.modeling_llama.LlamaRotaryEmbedding(made)
    cos, sin = embedding(torch.zeros(1), torch.tensor([positions]))
    return cos[0], sin[0]


class Layers:
    """Transformer layers run row by row: a row sees the rows it names and itself."""

    def __init__(self, config, weights, prefixes, eps):
        self.config, self.w, self.prefixes, self.eps = config, weights, prefixes, eps
        self.heads = config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads", self.heads)
        self.hd = config.get("head_dim") or config["hidden_size"] // self.heads
        self.keys = [[] for _ in prefixes]
        self.values = [[] for _ in prefixes]

    def attention(self, index, x, position, visible):
        """x [in] -> [d]. Writes the row's key and value; `visible`: numbers of the rows before it that it sees."""
        p = self.prefixes[index] + "self_attn."
        q = linear(x, self.w, p + "q_proj").view(self.heads, self.hd)
        k = linear(x, self.w, p + "k_proj").view(self.kv_heads, self.hd)
        v = linear(x, self.w, p + "v_proj").view(self.kv_heads, self.hd)
        if p + "q_norm.weight" in self.w:
            q = norm(q, self.w[p + "q_norm.weight"], self.eps)
            k = norm(k, self.w[p + "k_norm.weight"], self.eps)
        cos, sin = rotary(self.config, [position], self.hd)

        def turn(y):
            half = self.hd // 2
            return y * cos + torch.cat([-y[:, half:], y[:, :half]], -1) * sin

        q, k = turn(q), turn(k)
        self.keys[index].append(k)
        self.values[index].append(v)
        rows = list(visible) + [len(self.keys[index]) - 1]
        keys = torch.stack([self.keys[index][r] for r in rows], 1).repeat_interleave(self.heads // self.kv_heads, 0)
        values = torch.stack([self.values[index][r] for r in rows], 1).repeat_interleave(self.heads // self.kv_heads, 0)
        weights = torch.softmax((q[:, None] * keys).sum(-1) / self.hd ** 0.5, -1)
        return linear((weights[..., None] * values).sum(1).reshape(-1), self.w, p + "o_proj")

    def mlp(self, index, x):
        p = self.prefixes[index] + "mlp."
        return linear(F.silu(linear(x, self.w, p + "gate_proj")) * linear(x, self.w, p + "up_proj"), self.w, p + "down_proj")

    def norm(self, index, name, x):
        return norm(x, self.w[self.prefixes[index] + name + ".weight"], self.eps)

    def rows(self):
        return len(self.keys[0])


class Eagle1(Layers):
    def __init__(self, config, weights, embedding, head):
        super().__init__(config, weights, ["layers.0."], config.get("rms_norm_eps", 1e-6))
        self.embedding, self.head = embedding, head

    def row(self, token, state, is_feature, position, visible):
        """The state fed back, and the logits."""
        x = linear(torch.cat([self.embedding[token], state]), self.w, "fc")
        h = x + self.attention(0, x, position, visible)
        out = h + self.mlp(0, self.norm(0, "post_attention_layernorm", h))
        return out, F.linear(out, self.head)


class Eagle3(Layers):
    def __init__(self, config, weights, embedding, head, flags):
        count = config["num_hidden_layers"]
        super().__init__(config, weights, ["midlayer."] + ["layers.%d." % i for i in range(1, count)],
                         config.get("rms_norm_eps", 1e-6))
        self.embedding, self.head, self.flags = embedding, head, flags

    def fuse(self, states):
        """states [k * dt] of the target -> [d]."""
        if "fc.weight" not in self.w:
            return states
        if "fc_norm.0.weight" in self.w:
            parts = states.split(DT)
            states = torch.cat([norm(part, self.w["fc_norm.%d.weight" % i], self.eps) for i, part in enumerate(parts)])
        if "input_norm.weight" in self.w:
            states = norm(states, self.w["input_norm.weight"], self.eps)
        return linear(states, self.w, "fc")

    def row(self, token, state, is_feature, position, visible):
        h = self.fuse(state) if is_feature else state
        e = self.norm(0, "input_layernorm", self.embedding[token])
        normed = self.norm(0, "hidden_norm", h)
        if self.flags.get("norm_before_residual"):
            h = normed
        h = h + self.attention(0, torch.cat([e, normed]), position, visible)
        h = h + self.mlp(0, self.norm(0, "post_attention_layernorm", h))
        for i in range(1, len(self.prefixes)):
            h = h + self.attention(i, self.norm(i, "input_layernorm", h), position, visible)
            h = h + self.mlp(i, self.norm(i, "post_attention_layernorm", h))
        last = norm(h, self.w["norm.weight"], self.eps)
        logits = F.linear(last, self.head) * self.flags.get("logit_scale", 1.0)
        return (last if self.flags.get("norm_output") else h), logits


def rounded(x):
    return [float("%.7g" % float(v)) for v in x.reshape(-1)]


def drafting_answers(head, features, offsets):
    """Every pair of the text, then a chain of the best tokens, then TREE, each after the text's rows."""
    n = len(TOKENS)
    text = [head.row(TOKENS[t + 1], features[t], True, t, range(t)) for t in range(n - 1)]
    rows = list(range(n - 1))

    def entry(state, logits):
        return {"state": rounded(state), "logits": rounded(logits)}

    chain, seen, (state, logits) = [], list(rows), text[-1]
    for step in range(4):
        best = int(logits.argmax())
        token = best + (int(offsets[best]) if offsets is not None else 0)
        state, logits = head.row(token, state, False, n - 1 + step, seen)
        seen = seen + [head.rows() - 1]
        chain.append({"token": token, "position": n - 1 + step, **entry(state, logits)})
    tree, made, paths = [], [], []
    for parent, token in TREE:
        before = text[-1][0] if parent < 0 else made[parent][0]
        path = rows if parent < 0 else paths[parent]
        position = n - 1 + len(path) - len(rows)
        made.append(head.row(token, before, False, position, path))
        paths.append(list(path) + [head.rows() - 1])
        tree.append({"parent": parent, "token": token, "position": position, **entry(*made[-1])})
    return {"text": [entry(*row) for row in text], "chain": chain, "tree": tree}


def text_embedding(target):
    return target["model.embed_tokens.weight"].float()


# --- files -------------------------------------------------------------------------------------------------------------------------

def write_json(path, value):
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n")


def save(name, config, weights, file, shards=None):
    """`file`: .safetensors, or .bin/.pt by torch.save; `shards` of it with an index."""
    folder = OUT / name
    folder.mkdir(parents=True)
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    if shards:
        keys, index = list(weights), {}
        for part in range(shards):
            named = file.replace(".", "-%05d-of-%05d." % (part + 1, shards))
            torch.save({k: weights[k] for k in keys[part::shards]}, folder / named)
            index.update({k: named for k in keys[part::shards]})
        write_json(folder / (file + ".index.json"), {"metadata": {"total_size": 0}, "weight_map": index})
    elif file.endswith(".safetensors"):
        safetensors.torch.save_file({k: v.contiguous() for k, v in weights.items()}, folder / file, metadata={"format": "pt"})
    else:
        # As a module's state_dict(), which carries its modules' versions.
        weights = collections.OrderedDict(weights)
        weights._metadata = collections.OrderedDict({"": {"version": 1}, "fc": {"version": 1}})
        torch.save(weights, folder / file)
    return folder


def renamed(weights, pairs):
    result = collections.OrderedDict()
    for key, value in weights.items():
        for old, new in pairs:
            if key.startswith(old):
                key = new + key[len(old):]
                break
        result[key] = value
    return result


def layer(prefix, config, width, dtype, bias=(), qk_norm=False, norms=("post_attention_layernorm",), seed=0):
    d, heads = config["hidden_size"], config["num_attention_heads"]
    kv, hd = config.get("num_key_value_heads", heads), config.get("head_dim") or d // heads
    ff = config["intermediate_size"]
    shapes = {"self_attn.q_proj.weight": (heads * hd, width), "self_attn.k_proj.weight": (kv * hd, width),
              "self_attn.v_proj.weight": (kv * hd, width), "self_attn.o_proj.weight": (d, heads * hd),
              "mlp.gate_proj.weight": (ff, d), "mlp.up_proj.weight": (ff, d), "mlp.down_proj.weight": (d, ff)}
    for which in bias:
        shapes["self_attn.%s_proj.bias" % which] = shapes["self_attn.%s_proj.weight" % which][:1]
    if qk_norm:
        shapes.update({"self_attn.q_norm.weight": (hd,), "self_attn.k_norm.weight": (hd,)})
    shapes.update({n + ".weight": (d,) for n in norms})
    return {prefix + k: tensor(prefix + k, s, dtype, seed) for k, s in shapes.items()}


# --- EAGLE-1 and -2 ----------------------------------------------------------------------------------------------------------------

def eagle1(name, target, features, config, file, dtype, seed, bias=True, embedding=True, qkv_bias=(), rename=(), extra=None,
           stored_config=None):
    weights = collections.OrderedDict()
    if embedding:
        weights["embed_tokens.weight"] = target["model.embed_tokens.weight"].to(dtype)
    weights["fc.weight"] = tensor("fc.weight", (DT, 2 * DT), dtype, seed)
    if bias:
        weights["fc.bias"] = tensor("fc.bias", (DT,), dtype, seed)
    weights.update(layer("layers.0.", config, DT, dtype, qkv_bias, seed=seed))
    own = (extra or {}).get("lm_head.weight")
    head = Eagle1(config, weights, weights.get("embed_tokens.weight", text_embedding(target)).float(),
                  (target["lm_head.weight"] if own is None else own).float())
    answers = drafting_answers(head, features["-1"], None)
    folder = save(name, stored_config or config, renamed({**weights, **(extra or {})}, rename), file)
    write_json(folder / "answers.json", {"kind": "eagle", "layers": [-1], **answers})


def make_eagle1(target, features):
    vicuna = {"architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": DT, "intermediate_size": 40,
              "max_position_embeddings": 2048, "model_type": "llama", "num_attention_heads": 2, "num_hidden_layers": 1,
              "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "use_cache": True, "vocab_size": V}
    eagle1("eagle", target, features, vicuna, "pytorch_model.bin", torch.float32, 1)
    llama3 = {**vicuna, "num_key_value_heads": 1, "rope_theta": 500000.0, "bias": False, "rms_norm_eps": 1e-5}
    eagle1("eagle-no-bias", target, features, llama3, "model.safetensors", torch.bfloat16, 2, bias=False, embedding=False)
    eagle1("eagle-qwen2", target, features, {**llama3, "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "rope_theta": 1e6},
           "pytorch_model.bin", torch.float16, 3, bias=False, qkv_bias="qkv")
    ones = {"layers.0.input_layernorm.weight": torch.ones(DT, dtype=torch.float16), "norm.weight": torch.ones(DT, dtype=torch.float16),
            "lm_head.weight": target["lm_head.weight"].half()}
    eagle1("eagle-vllm", target, features, vicuna, "model.safetensors", torch.float16, 4, extra=ones,
           rename=(("layers.", "model.layers."), ("norm.", "model.norm."), ("embed_tokens.", "model.embed_tokens.")),
           stored_config={"architectures": ["EAGLEModel"], "model_type": "eagle", "eagle_fc_bias": True, "model": vicuna,
                          "truncated_vocab_size": V, "vocab_size": V, "hidden_size": DT})
    eagle1("eagle-speculators", target, features, llama3, "model.safetensors", torch.float32, 5, bias=False,
           rename=(("fc.", "fusion_fc."), ("layers.0.", "transformer.")),
           stored_config={"architectures": ["EagleSpeculator"], "speculators_model_type": "eagle", "speculators_version": "0.1.0",
                          "fusion_bias": False, "layernorms": False, "transformer_layer_architecture": "LlamaDecoderLayer",
                          "transformer_layer_config": llama3, "speculators_config": {
                              "algorithm": "eagle", "default_proposal_method": "greedy",
                              "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 5}],
                              "verifier": {"name_or_path": "tiny/target", "architectures": ["LlamaForCausalLM"]}}})


# --- EAGLE-3 -----------------------------------------------------------------------------------------------------------------------

def draft_ids(count, seed):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.sort(torch.randperm(V, generator=generator)[:count]).values
    allowed = torch.zeros(V, dtype=torch.bool)
    allowed[ids] = True
    return ids - torch.arange(count), allowed


def eagle3(name, target, features, config, file, dtype, seed, layers, flags=None, draft_vocab=None, t2d=True, embedding=False,
           own_head=True, has_fc=True, fc_norm=False, qk_norm=False, bias=(), rename=(), stored_config=None, identity_map=False):
    flags = flags or {}
    d, count = config["hidden_size"], config["num_hidden_layers"]
    w = collections.OrderedDict()
    if embedding:
        w["embed_tokens.weight"] = (target["model.embed_tokens.weight"].to(dtype) if d == DT
                                    else tensor("embed_tokens.weight", (V, d), dtype, seed))
    if has_fc:
        w["fc.weight"] = tensor("fc.weight", (d, len(layers) * DT), dtype, seed)
    if flags.get("norm_before_fc"):
        w["input_norm.weight"] = tensor("input_norm.weight", (len(layers) * DT,), dtype, seed)
    if fc_norm:
        for i in range(len(layers)):
            key = "fc_norm.%d.weight" % i
            w[key] = tensor(key, (DT,), dtype, seed)
    w.update(layer("midlayer.", config, 2 * d, dtype, bias, qk_norm, ("input_layernorm", "hidden_norm", "post_attention_layernorm"), seed))
    for i in range(1, count):
        w.update(layer("layers.%d." % i, config, d, dtype, bias, qk_norm, ("input_layernorm", "post_attention_layernorm"), seed))
    w["norm.weight"] = tensor("norm.weight", (d,), dtype, seed)
    rows = draft_vocab or V
    if own_head:
        w["lm_head.weight"] = tensor("lm_head.weight", (rows, d), dtype, seed)
    offsets = None
    if draft_vocab or identity_map:
        offsets, allowed = draft_ids(rows, seed)
        w["d2t"] = offsets
        if t2d:
            w["t2d"] = allowed
    head = Eagle3(config, w, w.get("embed_tokens.weight", text_embedding(target)).float(),
                  w.get("lm_head.weight", target["lm_head.weight"]).float(), flags)
    states = torch.cat([features[str(i)] for i in layers], -1)
    answers = drafting_answers(head, states, offsets)
    folder = save(name, stored_config or config, renamed(w, rename), file)
    write_json(folder / "answers.json", {"kind": "eagle3", "layers": layers, **answers})


def make_eagle3(target, features):
    base = {"architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": DT, "intermediate_size": 24,
            "max_position_embeddings": 2048, "model_type": "llama", "num_attention_heads": 2, "num_key_value_heads": 1,
            "num_hidden_layers": 1, "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "vocab_size": V}
    default = [2, L // 2, L - 3]
    # As SafeAILab publishes them: Half, Bool, Long, no embedding, no layer ids.
    eagle3("eagle3", target, features, {**base, "draft_vocab_size": 24}, "pytorch_model.bin", torch.float16, 11, default, draft_vocab=24)
    # Vicuna's: no map, the whole vocabulary.
    eagle3("eagle3-full-vocabulary", target, features, base, "pytorch_model.bin", torch.float16, 12, default)
    # SpecForge: output convention, an old norm_output that means nothing, a map that changes nothing.
    eagle3("eagle3-specforge", target, features, base, "model.safetensors", torch.bfloat16, 13, [2, 4, 5], identity_map=True, embedding=True,
           stored_config={**base, "architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": V, "norm_output": True,
                          "eagle_config": {"use_aux_hidden_state": True, "eagle_aux_hidden_state_layer_ids": [1, 3, 4]}})

    def speculators(config, **more):
        return {"architectures": ["Eagle3Speculator"], "speculators_model_type": "eagle3", "speculators_version": "0.2.0",
                "draft_vocab_size": 24, "target_hidden_size": None, "eagle_aux_hidden_state_layer_ids": None,
                "transformer_layer_config": config, "speculators_config": {
                    "algorithm": "eagle3", "default_proposal_method": "greedy",
                    "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3}],
                    "verifier": {"name_or_path": "tiny/target", "architectures": ["LlamaForCausalLM"]}}, **more}

    to_layers = (("midlayer.", "layers.0."),)
    scaled = {**base, "rope_theta": 500000.0, "rope_scaling": LLAMA3}
    eagle3("eagle3-norm-before-residual", target, features, scaled, "model.safetensors", torch.bfloat16, 14, default,
           {"norm_before_residual": True}, draft_vocab=24, embedding=True, rename=to_layers,
           stored_config=speculators(scaled, norm_before_residual=True))
    eagle3("eagle3-norm-before-fc", target, features, base, "model.safetensors", torch.bfloat16, 15, [3, 4, 8],
           {"norm_before_fc": True, "norm_before_residual": True}, draft_vocab=24, rename=to_layers,
           stored_config=speculators(base, norm_before_fc=True, norm_before_residual=True, eagle_aux_hidden_state_layer_ids=[3, 4, 8]))
    # EAGLE-3.1
    eagle3("eagle3-fc-norm", target, features, base, "model.safetensors", torch.bfloat16, 16, default, {"norm_output": True}, draft_vocab=24,
           fc_norm=True, rename=to_layers, stored_config=speculators(base, fc_norm=True, norm_output=True))
    eagle3("eagle3-two-layers", target, features, {**base, "num_hidden_layers": 2, "draft_vocab_size": 24}, "model.safetensors", torch.float32,
           17, default, draft_vocab=24)
    # Qwen3: heads wider than d / nh, norms of q and k, biases, the target's output head.
    eagle3("eagle3-qwen3", target, features, {**base, "head_dim": 12, "attention_bias": True, "draft_vocab_size": None, "logit_scale": 0.5},
           "model.safetensors", torch.bfloat16, 18, default, {"logit_scale": 0.5}, own_head=False, qk_norm=True, bias="qkvo")
    # Narrower target: LLaMA3.3-70B's layout. NeMo's names.
    eagle3("eagle3-wide", target, features, {**base, "hidden_size": 24, "target_hidden_size": DT, "draft_vocab_size": 24}, "model.safetensors",
           torch.bfloat16, 19, default, draft_vocab=24, embedding=True, t2d=False,
           rename=(("midlayer.", "model.layers.0."), ("fc.", "model.fc."), ("norm.", "model.norm."), ("embed_tokens.", "model.embed_tokens.")))
    # One state, no fc.
    eagle3("eagle3-no-fc", target, features, {**base, "draft_vocab_size": 24, "eagle_config": {"use_aux_hidden_state": False}},
           "model.safetensors", torch.bfloat16, 20, [-1], draft_vocab=24, has_fc=False, t2d=False)


# --- Medusa ------------------------------------------------------------------------------------------------------------------------

def medusa_answers(name, features, blocks, heads):
    """blocks[h]: [(weight, bias or None)], heads[h] [V, d]. Logits of every head at every position of the text."""
    logits = []
    for state in features["-1"]:
        row = []
        for own, head in zip(blocks, heads):
            x = state
            for weight, bias in own:
                x = x + F.silu(F.linear(x, weight.float(), None if bias is None else bias.float()))
            row.append(rounded(F.linear(x, head.float())))
        logits.append(row)
    write_json(OUT / name / "answers.json", {"kind": "medusa", "layers": [-1], "logits": logits})


def medusa_block(h, seed, dtype, bias=True):
    weight = tensor("%d.linear.weight" % h, (DT, DT), dtype, seed)
    return weight, tensor("%d.linear.bias" % h, (DT,), dtype, seed) if bias else None


def make_medusa(target, features):
    bf16 = torch.bfloat16
    # Medusa-1: the config is wrong about the number of heads.
    count, w, blocks, heads = 5, collections.OrderedDict(), [], []
    for h in range(count):
        weight, bias = medusa_block(h, 31, bf16)
        head = tensor("%d.head" % h, (V, DT), bf16, 31)
        w.update({"%d.0.linear.weight" % h: weight, "%d.0.linear.bias" % h: bias, "%d.1.weight" % h: head})
        blocks.append([(weight, bias)])
        heads.append(head)
    save("medusa", {"base_model_name_or_path": "tiny/target", "medusa_num_heads": 2, "medusa_num_layers": 1}, w, "medusa_lm_head.pt")
    medusa_answers("medusa", features, blocks, heads)
    # Two layers are one block under two names.
    w, blocks, heads = collections.OrderedDict(), [], []
    for h in range(3):
        weight, bias = medusa_block(h, 32, bf16)
        head = tensor("%d.head" % h, (V, DT), bf16, 32)
        for l in range(2):
            w.update({"%d.%d.linear.weight" % (h, l): weight, "%d.%d.linear.bias" % (h, l): bias})
        w["%d.2.weight" % h] = head
        blocks.append([(weight, bias)] * 2)
        heads.append(head)
    save("medusa-two-layers", {"base_model_name_or_path": "tiny/target", "medusa_num_heads": 3, "medusa_num_layers": 2}, w,
         "medusa_lm_head.pt")
    medusa_answers("medusa-two-layers", features, blocks, heads)
    # Version 2: the target's output head.
    w, blocks = {}, []
    for h in range(4):
        weight, bias = medusa_block(h, 33, torch.float16)
        w.update({"%d.0.linear.weight" % h: weight, "%d.0.linear.bias" % h: bias})
        blocks.append([(weight, bias)])
    save("medusa-v2", {"base_model_name_or_path": "tiny/target", "medusa_num_heads": 4, "medusa_num_layers": 1, "version": "2"}, w,
         "medusa_lm_head.safetensors")
    medusa_answers("medusa-v2", features, blocks, [target["lm_head.weight"]] * 4)
    # Medusa-2: a whole model in shards; the number of heads is missing.
    w, blocks, heads = collections.OrderedDict(target), [], []
    for h in range(3):
        weight, bias = medusa_block(h, 34, bf16)
        head = tensor("%d.head" % h, (V, DT), bf16, 34)
        w.update({"medusa_head.%d.0.linear.weight" % h: weight, "medusa_head.%d.0.linear.bias" % h: bias, "medusa_head.%d.1.weight" % h: head})
        blocks.append([(weight, bias)])
        heads.append(head)
    save("medusa-2", {**TARGET, "base_model_name_or_path": "tiny/target", "medusa_num_layers": 1}, w, "pytorch_model.bin", shards=2)
    medusa_answers("medusa-2", features, blocks, heads)
    # vLLM: two layers of their own, no bias, a map of tokens (absolute ids).
    offsets, _ = draft_ids(24, 35)
    w, blocks, heads = {}, [], []
    for h in range(3):
        head = tensor("%d.head" % h, (24, DT), torch.float16, 35)
        own = [medusa_block(h, 35 + 100 * l, torch.float16, bias=False) for l in range(2)]
        w.update({"blocks.%d.layers.%d.weight" % (h, l): block[0] for l, block in enumerate(own)})
        w["lm_heads.%d.weight" % h] = head
        blocks.append(own)
        heads.append(head)
    w["token_map"] = offsets + torch.arange(24)
    save("medusa-vllm", {"architectures": ["MedusaModel"], "model_type": "medusa", "hidden_size": DT, "vocab_size": V, "num_heads": 3,
                         "num_hidden_layers": 2, "max_paths": 64, "topk": 10, "truncated_vocab_size": 24}, w, "model.safetensors")
    medusa_answers("medusa-vllm", features, blocks, heads)
    # vLLM with original_lm_head: one output head for all.
    w, blocks = {}, []
    for h in range(2):
        block = medusa_block(h, 36, torch.float16)
        w.update({"blocks.%d.layers.0.weight" % h: block[0], "blocks.%d.layers.0.bias" % h: block[1]})
        blocks.append([block])
    w["lm_heads.0.weight"] = tensor("head", (V, DT), torch.float16, 36)
    save("medusa-vllm-one-head", {"architectures": ["MedusaModel"], "model_type": "medusa", "hidden_size": DT, "vocab_size": V, "num_heads": 2,
                                  "num_hidden_layers": 1, "medusa_fc_bias": True, "original_lm_head": True, "truncated_vocab_size": V},
         {"medusa_heads." + k: v for k, v in w.items()}, "model.safetensors")
    medusa_answers("medusa-vllm-one-head", features, blocks, [w["lm_heads.0.weight"]] * 2)


# --- Hydra -------------------------------------------------------------------------------------------------------------------------

def hydra(name, target, features, prefix_layer, heads, layers, seed, file, own_heads=True, embedding=True, offset=0):
    dtype, w = torch.bfloat16, collections.OrderedDict()
    first, head_name = (1, "hydra_lm_head.%d.1") if prefix_layer else (0, "hydra_lm_head.%d")
    step = 2 if prefix_layer else 1
    if embedding:
        w["input_embed_fn.weight"] = target["model.embed_tokens.weight"].to(dtype)
    if prefix_layer:
        p = "prefix_embeding_layer."
        w[p + "embed_tokens.weight"] = tensor("unused", (V, DT), dtype, seed)
        w.update({p + k: v for k, v in layer("layers.0.", TARGET, DT, dtype, norms=("input_layernorm", "post_attention_layernorm"),
                                             seed=seed).items()})
        w[p + "norm.weight"] = tensor("norm.weight", (DT,), dtype, seed)
    for i in range(heads):
        base = "hydra_mlp.%d." % i
        for part in ("linear", "res_connection"):
            key = base + "%d.%s" % (first, part)
            w[key + ".weight"] = tensor(key + ".weight", (DT, (i + 2) * DT), dtype, seed)
            w[key + ".bias"] = tensor(key + ".bias", (DT,), dtype, seed)
        shared = tensor(base + "shared.weight", (DT, DT), dtype, seed), tensor(base + "shared.bias", (DT,), dtype, seed)
        for l in range(1, layers):
            w[base + "%d.linear.weight" % (first + step * l)], w[base + "%d.linear.bias" % (first + step * l)] = shared
        if own_heads:
            w[head_name % i + ".weight"] = tensor(head_name % i + ".weight", (V, DT), dtype, seed)
            w[head_name % i + ".bias"] = tensor(head_name % i + ".bias", (V,), dtype, seed)
    stored = w
    if file.endswith(".safetensors"):  # shared tensors are not written twice
        stored = {k: v for k, v in w.items() if not any(".%d.linear" % (first + step * l) in k for l in range(2, layers) if "hydra_mlp" in k)}
    save(name, {"base_model_name_or_path": "tiny/target", "grounded_heads": True, "hidden_state_offset": offset,
                "hydra_head_arch": "prefix-mlp" if prefix_layer else "mlp", "hydra_num_heads": heads, "hydra_num_layers": layers},
         stored, file)

    layer_id = L - offset if offset else -1
    states = features[str(layer_id)]
    n = len(TOKENS)
    prefix = [states[t] for t in range(n - 1)]
    if prefix_layer:
        run = Layers(TARGET, w, ["prefix_embeding_layer.layers.0."], TARGET["rms_norm_eps"])
        for t in range(n - 1):
            x = states[t]
            h = x + run.attention(0, run.norm(0, "input_layernorm", x), t, range(t))
            h = h + run.mlp(0, run.norm(0, "post_attention_layernorm", h))
            prefix[t] = norm(h, w["prefix_embeding_layer.norm.weight"], run.eps)
    embed = w.get("input_embed_fn.weight", target["model.embed_tokens.weight"]).float()

    def head(i, t, tokens):
        """Head i at position t: tokens x_{t+1} ... x_{t+1+i}."""
        x = torch.cat([prefix[t]] + [embed[token] for token in tokens])
        base = "hydra_mlp.%d." % i
        key = base + "%d." % first
        x = linear(x, w, key + "res_connection") + F.silu(linear(x, w, key + "linear"))
        for l in range(1, layers):
            x = x + F.silu(linear(x, w, base + "%d.linear" % (first + step * l)))
        return linear(x, w, head_name % i) if own_heads else F.linear(x, target["lm_head.weight"].float())

    last = n - 2  # the last position the target computed; TOKENS[-1] follows it
    chain, tokens = [], [TOKENS[-1]]
    for i in range(heads):
        logits = head(i, last, tokens)
        chain.append({"tokens": list(tokens), "logits": rounded(logits)})
        tokens.append(int(logits.argmax()))
    tree, paths = [], []
    for parent, token in TREE:
        paths.append((paths[parent] if parent >= 0 else [TOKENS[-1]]) + [token])
        if len(paths[-1]) <= heads:
            tree.append({"parent": parent, "token": token, "tokens": paths[-1], "logits": rounded(head(len(paths[-1]) - 1, last, paths[-1]))})
    write_json(OUT / name / "answers.json", {"kind": "hydra", "layers": [layer_id], "prefix": [rounded(p) for p in prefix], "chain": chain,
                                             "tree": tree})


def make_hydra(target, features):
    hydra("hydra", target, features, True, 4, 4, 41, "hydra_lm_head.pt")
    hydra("hydra-mlp", target, features, False, 3, 2, 42, "hydra_lm_head.pt", offset=2)
    hydra("hydra-shared-head", target, features, True, 3, 3, 43, "model.safetensors", own_heads=False, embedding=False)


# --- the target --------------------------------------------------------------------------------------------------------------------

def make_target():
    config = transformers.LlamaConfig(**{k: v for k, v in TARGET.items() if k not in ("architectures", "model_type", "torch_dtype")})
    model = transformers.LlamaForCausalLM(config).float().eval()
    weights = {}
    with torch.no_grad():
        for key, parameter in sorted(model.named_parameters()):
            weights[key] = tensor(key, tuple(parameter.shape), torch.bfloat16)
            parameter.copy_(weights[key].float())
        save("target", TARGET, weights, "model.safetensors")
        raw = []
        hook = model.model.layers[-1].register_forward_hook(lambda _, __, out: raw.append(out[0] if isinstance(out, tuple) else out))
        made = model(torch.tensor([TOKENS]), output_hidden_states=True)
        hook.remove()
    states = {str(i): state[0] for i, state in enumerate(made.hidden_states[:-1])}
    states[str(L)] = raw[0].reshape(len(TOKENS), DT)
    states["-1"] = made.hidden_states[-1][0]
    # The layers of this script, which the heads run on, are those of transformers.
    run = Layers(TARGET, weights, ["model.layers.%d." % i for i in range(L)], TARGET["rms_norm_eps"])
    for t in range(len(TOKENS)):
        h = states["0"][t]
        for i in range(L):
            h = h + run.attention(i, run.norm(i, "input_layernorm", h), t, range(t))
            h = h + run.mlp(i, run.norm(i, "post_attention_layernorm", h))
        assert torch.allclose(h, states[str(L)][t], atol=1e-5), "the layer differs from transformers"
    write_json(OUT / "target" / "features.json", {
        "tokens": TOKENS, "features": {k: [rounded(row) for row in v] for k, v in states.items()},
        "logits": [rounded(row) for row in made.logits[0]]})
    return weights, states


def main():
    readme = (OUT / "README.md").read_text() if (OUT / "README.md").exists() else ""
    if OUT.exists():
        shutil.rmtree(OUT)
    OUT.mkdir(parents=True)
    if readme:
        (OUT / "README.md").write_text(readme)
    torch.set_grad_enabled(False)
    target, features = make_target()
    make_eagle1(target, features)
    make_eagle3(target, features)
    make_medusa(target, features)
    make_hydra(target, features)


if __name__ == "__main__":
    main()
