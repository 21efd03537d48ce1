#!/usr/bin/env python3
"""Writes model_gguf.json beside it: the models of model_families.py as GGUF files, written by the gguf package with the names, keys
and changes of values of llama.cpp's convert_hf_to_gguf.

  python tests/golden/model_gguf.py [FOLDER]     the files themselves go to FOLDER
The JSON holds no weights: of each file the bytes before its data, and of each tensor where it lies, which tensor of the model it is
made of (or its values), and how. The test puts the file together again and compares the hash of all its bytes.
The hash: sum over the file's 32-bit words of word[i] * (2 i + 1), modulo 2^64.
"""
import importlib.metadata
import json
import math
import pathlib
import re
import sys
import tempfile

import gguf
import numpy as np

import model_families

# name: (case of model_families.py, architecture, further keys, the most tensors a file)
CASES = {
    "llama": ("llama", "llama", {}, 0),
    "llama in parts": ("llama", "llama", {}, 15),
    "llama tied, biases, head_dim": ("llama tied, biases, head_dim", "llama", {}, 0),
    "llama rope llama3": ("llama rope llama3", "llama", {}, 0),
    "llama rope linear": ("llama rope linear", "llama", {}, 0),
    "llama rope yarn": ("llama rope yarn", "llama", {}, 0),
    # The converter leaves Mistral's window out; a file that has the key means it.
    "mistral": ("mistral", "llama", {"attention.sliding_window": 16}, 0),
    "smollm3": ("smollm3", "smollm3", {}, 0),
    "qwen2": ("qwen2 no window", "qwen2", {}, 0),
    "qwen3": ("qwen3", "qwen3", {}, 0),
    "phi3": ("phi3", "phi3", {}, 0),
    "phi3 longrope": ("phi3 longrope", "phi3", {}, 0),
    "gemma2": ("gemma2", "gemma2", {}, 0),
    "gemma3": ("gemma3 six layers a round", "gemma3", {}, 0),
    "gemma3, a pattern of 2": ("gemma3", "gemma3", {"attention.sliding_window_pattern": 2}, 0),
    "gemma3, a list of layers": ("gemma3", "gemma3", {"attention.sliding_window_pattern": [True, False, True, False]}, 0),
    "gemma4": ("gemma4", "gemma4", {}, 0),
    "gemma4 keys are values": ("gemma4 keys are values", "gemma4", {}, 0),
    "gemma4 of pictures": ("gemma4 of pictures", "gemma4", {}, 0),
    "gemma4 experts": ("gemma4 experts", "gemma4", {}, 0),
    "gemma4 experts, wide layers": ("gemma4 experts, wide layers, an embedding of every layer", "gemma4", {}, 0),
    "lfm2": ("lfm2", "lfm2", {}, 0),
    "lfm2_moe": ("lfm2_moe", "lfm2moe", {}, 0),
    "gpt2": ("gpt2", "gpt2", {}, 0),
    "granite": ("granite", "granite", {}, 0),
    "granite tied, biases, rope yarn": ("granite tied, biases, rope yarn", "granite", {}, 0),
    "gpt_neox": ("gpt_neox", "gptneox", {}, 0),
    "olmo2": ("olmo2", "olmo2", {}, 0),
    "olmo3": ("olmo3", "olmo2", {}, 0),
    "olmo3 rope yarn": ("olmo3 rope yarn", "olmo2", {}, 0),
    "glm4": ("glm4", "glm4", {}, 0),
    "cohere2": ("cohere2", "cohere2", {}, 0),
    # The converter leaves StarCoder2's window out too.
    "starcoder2": ("starcoder2", "starcoder2", {"attention.sliding_window": 16}, 0),
    "exaone4": ("exaone4", "exaone4", {}, 0),
    "exaone4 no window, rope llama3": ("exaone4 no window, rope llama3", "exaone4", {}, 0),
    "stablelm": ("stablelm", "stablelm", {}, 0),
    "stablelm side by side, norms on q and k": ("stablelm side by side, norms on q and k", "stablelm", {}, 0),
    "phi": ("phi", "phi2", {}, 0),
    "seed_oss": ("seed_oss", "seed_oss", {}, 0),
    "seed_oss biases": ("seed_oss biases", "seed_oss", {}, 0),
    "ministral3": ("ministral3", "mistral3", {}, 0),
    "mixtral": ("mixtral", "llama", {}, 0),
    "qwen2_moe": ("qwen2_moe", "qwen2moe", {}, 0),
    "qwen3_moe": ("qwen3_moe", "qwen3moe", {}, 0),
    "olmoe": ("olmoe", "olmoe", {}, 0),
    "olmoe clipped, normalised": ("olmoe clipped, normalised", "olmoe",
                                  {"attention.clamp_kqv": 0.5, "expert_weights_norm": True}, 0),
    "granitemoe": ("granitemoe", "granitemoe", {}, 0),
    "granitemoeshared": ("granitemoeshared", "granitemoe", {}, 0),
    "gpt_oss": ("gpt_oss", "gpt-oss", {}, 0),
    "mistral3 of ministral3": ("mistral3 of ministral3", "mistral3", {}, 0),
}
PERMUTED = ("llama", "smollm3", "granite", "granitemoe", "mistral3")  # LlamaModel.modify_tensors
LFM2 = ("lfm2", "lfm2moe")
# Architectures whose converter writes no base of rope.
NO_ROPE_BASE = ("gemma2", "gptneox", "stablelm", "phi2")
# An expert's matrices in safetensors, one tensor each; in GGUF all experts' are one.
EXPERT = re.compile(r"model\.layers\.(\d+)\.\w+\.experts\.\d+\.(\w+)\.weight")
EXPERT_NAMES = {"gate_proj": "gate", "w1": "gate", "up_proj": "up", "w3": "up", "down_proj": "down", "w2": "down"}
# Granite's gate and up in one tensor, of the experts or of the MLP that rows share.
FUSED = re.compile(r"model\.layers\.(\d+)\.(block_sparse_moe|shared_mlp)\.input_linear\.weight")

# gpt-oss's experts in one tensor, transposed, gate and up alternating.
ALTERNATING = re.compile(r"model\.layers\.(\d+)\.mlp\.experts\.(gate_up|down)_proj(_bias)?")

# Gemma 4's scales of what its router reads, and of each expert's weight.
ROUTER_SCALE = re.compile(r"model\.layers\.(\d+)\.router\.(scale|per_expert_scale)")


def gemma4_heads(config):
    """Of full layers: a head's size, and the number of key/value heads."""
    full = config.per_layer_config["full_attention"]
    return full.head_dim, full.num_key_value_heads


def set_gemma4_keys(writer, config):
    """What Gemma4Model.set_gguf_parameters adds."""
    head_dim, _ = gemma4_heads(config)
    sliding = [kind == "sliding_attention" for kind in config.layer_types]
    if config.final_logit_softcapping is not None:
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_rope_freq_base_swa(config.rope_parameters["sliding_attention"]["rope_theta"])
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    writer.add_sliding_window_pattern(sliding)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_key_length_swa(config.head_dim)
    writer.add_value_length_swa(config.head_dim)
    writer.add_rope_dimension_count(head_dim)
    writer.add_rope_dimension_count_swa(config.head_dim)


def by_layer(arch, config):
    """head_count_kv and feed_forward_length: a number, or a list where layers differ."""
    kv_heads, inner = config.num_key_value_heads, config.intermediate_size
    if arch in LFM2:  # LFM2Model.set_gguf_parameters; the MLP's size is that of its class
        if arch == "lfm2":
            inner = config.block_multiple_of * -(-int(2 * inner / 3) // config.block_multiple_of)
        return [0 if kind == "conv" else kv_heads for kind in config.layer_types], inner
    if arch != "gemma4":
        return kv_heads, inner
    full_kv_heads = gemma4_heads(config)[1]
    if full_kv_heads != kv_heads:
        kv_heads = [kv_heads if kind == "sliding_attention" else full_kv_heads for kind in config.layer_types]
    if config.use_double_wide_mlp:
        shared = config.num_kv_shared_layers
        inner = [inner] * (config.num_hidden_layers - shared) + [2 * inner] * shared
    return kv_heads, inner


def set_keys(writer, arch, config, rope):
    """set_gguf_parameters of the converter's classes."""
    if arch == "gpt2":
        writer.add_block_count(config.n_layer)
        writer.add_context_length(config.n_positions)
        writer.add_embedding_length(config.n_embd)
        writer.add_feed_forward_length(4 * config.n_embd)
        writer.add_head_count(config.n_head)
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
        return
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    kv_heads, inner = by_layer(arch, config)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(config.num_attention_heads)
    if arch != "gptneox":
        writer.add_head_count_kv(kv_heads)
    layer_eps = getattr(config, "layer_norm_eps", getattr(config, "norm_epsilon", None))
    if layer_eps is None:
        writer.add_layer_norm_rms_eps(config.norm_eps if arch in LFM2 else config.rms_norm_eps)
    else:
        writer.add_layer_norm_eps(layer_eps)
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rotated = int(head_dim * rope.get("partial_rotary_factor", 1.0))
    if arch == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if arch not in NO_ROPE_BASE:
        writer.add_rope_freq_base(rope["rope_theta"])
    if arch in ("gptneox", "stablelm"):
        writer.add_parallel_residual(config.use_parallel_residual)
    if arch in ("gptneox", "stablelm", "phi2", "glm4", "cohere2"):
        writer.add_rope_dimension_count(rotated)
    if (experts := getattr(config, "num_local_experts", None) or getattr(config, "num_experts", None)) is not None:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(config.top_k_experts if arch == "gemma4" else config.num_experts_per_tok)
    if getattr(config, "moe_intermediate_size", None) is not None:
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    if (shared := getattr(config, "shared_expert_intermediate_size", getattr(config, "shared_intermediate_size", 0))) > 0:
        writer.add_expert_shared_feed_forward_length(shared)
    if arch in ("granite", "granitemoe"):
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if arch == "cohere2":
        writer.add_logit_scale(config.logit_scale)
        writer.add_sliding_window(config.sliding_window)
        writer.add_vocab_size(config.vocab_size)
        writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    if arch in ("olmo2", "exaone4") and getattr(config, "sliding_window", None) is not None:
        writer.add_sliding_window(config.sliding_window)
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
    if arch == "mistral3":
        writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
        writer.add_attn_temperature_scale(rope["llama_4_scaling_beta"])
    if arch == "gpt-oss":
        writer.add_expert_feed_forward_length(config.intermediate_size)
    if arch == "gemma4":
        set_gemma4_keys(writer, config)
    if arch in ("gemma2", "gemma3", "gemma4", "gpt-oss"):
        writer.add_sliding_window(config.sliding_window)
    if arch in LFM2:
        writer.add_vocab_size(config.vocab_size)
        writer.add_shortconv_l_cache(config.conv_L_cache)
    if arch == "lfm2moe":
        writer.add_leading_dense_block_count(config.num_dense_layers)
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    if arch in PERMUTED:
        writer.add_vocab_size(config.vocab_size)
        writer.add_rope_dimension_count(head_dim)
    if arch == "phi3":
        writer.add_rope_scaling_orig_ctx_len(rope.get("original_max_position_embeddings", config.original_max_position_embeddings))
        writer.add_rope_dimension_count(int(rope.get("partial_rotary_factor", 1.0) * config.hidden_size) // config.num_attention_heads)
        writer.add_sliding_window(config.sliding_window or 0)
    elif getattr(config, "head_dim", None) is not None and arch != "gemma4":
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        if arch == "olmo2":
            writer.add_rope_scaling_attn_factors(rope["attention_factor"])


def extra_tensors(writer, arch, config, rope):
    """generate_extra_tensors of the converter's classes: name and values."""
    if rope.get("rope_type") == "llama3":
        dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
        high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
        factors = []
        for i in range(0, dim, 2):
            wavelength = 2 * math.pi * rope["rope_theta"] ** (i / dim)
            smooth = (rope["original_max_position_embeddings"] / wavelength - rope["low_freq_factor"]) / (
                rope["high_freq_factor"] - rope["low_freq_factor"])
            factors.append(1.0 if wavelength < high else rope["factor"] if wavelength > low
                           else 1 / ((1 - smooth) / rope["factor"] + smooth))
        yield "rope_freqs.weight", factors
    if rope.get("rope_type") == "proportional":
        head_dim, _ = gemma4_heads(config)
        rotated = int(head_dim * rope["partial_rotary_factor"] / 2)
        yield "rope_freqs.weight", [1.0] * rotated + [1e30] * (head_dim // 2 - rotated)
    if rope.get("rope_type") == "longrope":
        scale = config.max_position_embeddings / rope["original_max_position_embeddings"]
        writer.add_rope_scaling_attn_factors(
            math.sqrt(1 + math.log(scale) / math.log(rope["original_max_position_embeddings"])) if scale > 1 else 1.0)
        yield "rope_factors_long.weight", rope["long_factor"]
        yield "rope_factors_short.weight", rope["short_factor"]


def converted(arch, name, values, heads, kv_heads):
    """modify_tensors of the converter's classes: how, and the values."""
    if arch in PERMUTED and ("q_proj." in name or "k_proj." in name):
        n = heads if "q_proj." in name else kv_heads
        permuted = values.reshape(n, 2, values.shape[0] // n // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)
        return f"permuted {n}", permuted
    if arch in ("gemma2", "gemma3") and name.endswith("norm.weight"):
        return "plus 1", values + np.float32(1)
    if "query_key_value." in name:  # a head's q, k and v become all q, all k, all v
        parts = values.reshape(heads, 3, -1, *values.shape[1:])
        return f"parts {heads}", parts.swapaxes(0, 1).reshape(values.shape)
    if arch in LFM2 and values.ndim == 3:  # the converter's two dimensions
        return "as it is", values.squeeze(1)
    if arch == "gpt2" and name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight")):
        return "transposed", values.transpose(1, 0)
    return "as it is", values


def hash_of(data):
    words = np.frombuffer(data, dtype="<u4").astype(np.uint64)
    with np.errstate(over="ignore"):
        return str(int((words * (2 * np.arange(words.size, dtype=np.uint64) + 1)).sum(dtype=np.uint64)))


def write(folder, name):
    case, arch, keys, most_tensors = CASES[name]
    _, model, tensors = model_families.make_model(case)
    config = model.config.get_text_config()
    config.allow_global_per_layer_attribute_access = True  # of Gemma 4: what the file's own keys say
    path = folder / (name.replace(",", "").replace(" ", "_") + ".gguf")
    writer = gguf.GGUFWriter(str(path), arch, split_max_tensors=most_tensors)
    writer.add_name(name)
    rope = getattr(config, "rope_parameters", None) or {}
    rope = rope.get("full_attention", rope)
    set_keys(writer, arch, config, rope)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    for key, value in keys.items():
        if isinstance(value, list):
            writer.add_array(f"{arch}.{key}", value)
        elif isinstance(value, bool):
            writer.add_bool(f"{arch}.{key}", value)
        elif isinstance(value, float):
            writer.add_float32(f"{arch}.{key}", value)
        else:
            writer.add_uint32(f"{arch}.{key}", value)
    layers = config.num_hidden_layers
    names = gguf.get_tensor_name_map(next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == arch), layers)
    made_of = {}
    joined = {}  # a norm of every head, or a matrix of every expert, as one tensor: by its name, the tensors and their values
    for index, (key, shape, is_norm) in enumerate(tensors):
        if key.startswith(("vision_tower.", "multi_modal_projector.", "model.vision_tower.", "model.embed_vision.")):
            continue
        stored = model_families.values_of(index, tuple(shape), is_norm)
        if (found := re.fullmatch(r"(.*_layernorm)\.norms\.\d+(\.weight)", key)) is not None:
            joined.setdefault(names.get_name(found[1] + found[2], try_suffixes=(".weight",)), []).append((index, stored))
            continue
        if (found := EXPERT.fullmatch(key)) is not None:
            joined.setdefault(f"blk.{found[1]}.ffn_{EXPERT_NAMES[found[2]]}_exps.weight", []).append((index, stored))
            continue
        if (found := FUSED.fullmatch(key)) is not None:
            inner = shape[-2] // 2
            for part, first in (("gate", 0), ("up", inner)):
                new = f"blk.{found[1]}.ffn_{part}_{'exps' if found[2] == 'block_sparse_moe' else 'shexp'}.weight"
                made_of[new] = {"index": index, "how": f"rows {first} {inner} {2 * inner}"}
                writer.add_tensor(new, np.ascontiguousarray(stored[..., first:first + inner, :]))
            continue
        if (found := ALTERNATING.fullmatch(key)) is not None:
            bias = found[3] is not None
            for part, first, step in (("gate", 0, 2), ("up", 1, 2)) if found[2] == "gate_up" else (("down", 0, 1),):
                new = f"blk.{found[1]}.ffn_{part}_exps.{'bias' if bias else 'weight'}"
                made_of[new] = {"index": index, "how": f"experts {first} {step} {0 if bias else 1}"}
                values = stored[..., first::step]
                writer.add_tensor(new, np.ascontiguousarray(values if bias else values.swapaxes(1, 2)))
            continue
        key = key.removeprefix("language_model.").replace("model.language_model.", "model.")
        key += ".weight" if key.endswith(("sinks", "layer_scalar", "experts.gate_up_proj", "experts.down_proj")) else ""
        key += ".bias" if key.endswith("expert_bias") else ""
        how, values = converted(arch, key, stored, config.num_attention_heads, getattr(config, "num_key_value_heads", 0))
        if (found := ROUTER_SCALE.fullmatch(key)) is not None:
            new = f"blk.{found[1]}.{'ffn_gate_inp' if found[2] == 'scale' else 'ffn_down_exps'}.scale"
        else:
            new = names.get_name(key, try_suffixes=(".weight", ".bias"))
        assert new is not None, key
        made_of[new] = {"index": index, "how": how}
        writer.add_tensor(new, np.ascontiguousarray(values))
    for new, parts in joined.items():
        made_of[new] = {"indices": [index for index, _ in parts]}
        writer.add_tensor(new, np.stack([values for _, values in parts]))
    for new, values in extra_tensors(writer, arch, config, rope):
        made_of[new] = {"values": [float(np.float32(v)) for v in values]}
        writer.add_tensor(new, np.array(values, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    files = []
    for file in sorted(folder.glob(path.stem + "-0*.gguf")) if most_tensors else [path]:
        data = file.read_bytes()
        read = gguf.GGUFReader(str(file))
        start = min((int(t.data_offset) for t in read.tensors), default=len(data))
        files.append({"name": file.name, "bytes": len(data), "hash": hash_of(data), "header": data[:start].hex(),
                      "tensors": [{"at": int(t.data_offset), **made_of[t.name]} for t in read.tensors]})
    print(name, arch, [file["bytes"] for file in files])
    return {"case": case, "files": files}


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        cases = {name: write(folder, name) for name in CASES}
    out = {"gguf": importlib.metadata.version("gguf"), "cases": cases}
    pathlib.Path(__file__).with_name("model_gguf.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
