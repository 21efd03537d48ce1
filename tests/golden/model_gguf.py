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
    "gpt2": ("gpt2", "gpt2", {}, 0),
}
PERMUTED = ("llama", "smollm3")  # LlamaModel.modify_tensors


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
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if arch == "gemma2":  # writes no rope base
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    else:
        writer.add_rope_freq_base(rope["rope_theta"])
    if arch in ("gemma2", "gemma3"):
        writer.add_sliding_window(config.sliding_window)
    if arch in PERMUTED:
        writer.add_vocab_size(config.vocab_size)
        writer.add_rope_dimension_count(head_dim)
    if arch == "phi3":
        writer.add_rope_scaling_orig_ctx_len(rope.get("original_max_position_embeddings", config.original_max_position_embeddings))
        writer.add_rope_dimension_count(int(rope.get("partial_rotary_factor", 1.0) * config.hidden_size) // config.num_attention_heads)
        writer.add_sliding_window(config.sliding_window or 0)
    elif getattr(config, "head_dim", None) is not None:
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


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
    if arch.startswith("gemma") and name.endswith("norm.weight"):
        return "plus 1", values + np.float32(1)
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
    config = model.config
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
        else:
            writer.add_uint32(f"{arch}.{key}", value)
    layers = config.num_hidden_layers
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[arch.upper()], layers)
    parameters = dict(model.named_parameters())
    made_of = {}
    for index, (key, shape, is_norm) in enumerate(tensors):
        how, values = converted(arch, key, parameters[key].detach().numpy(), config.num_attention_heads,
                                getattr(config, "num_key_value_heads", 0))
        new = names.get_name(key, try_suffixes=(".weight", ".bias"))
        assert new is not None, key
        made_of[new] = {"index": index, "how": how}
        writer.add_tensor(new, np.ascontiguousarray(values))
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
