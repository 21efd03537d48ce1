#!/usr/bin/env python3
"""Writes model_families.json beside it: logits and hidden states of tiny models of every family and rope kind by transformers, fp32, CPU.

  python tests/golden/model_families.py
Weights are made of a hash of (tensor's index, element's index), so that the test writes the same safetensors file; the JSON holds
config.json, the tensors' names and shapes, a prompt longer than the sliding windows, and of some positions the logits and every
fifth value of the hidden states: "0" to "L" the residual stream before each layer and after the last, "-1" the final norm's output.
"""
import json
import pathlib
import re
import tempfile

import numpy as np
import safetensors
import safetensors.numpy
import torch
import transformers

MASK = np.uint64((1 << 64) - 1)
VOCAB, LENGTH = 64, 45
ROWS = [0, 20, LENGTH - 1]  # positions kept
COLUMNS = 5                 # of a hidden state every fifth value
SIZES = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48,
         "vocab_size": VOCAB, "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2,
         "pad_token_id": 0}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
GRANITE = {"embedding_multiplier": 3.0, "attention_multiplier": 0.25, "residual_multiplier": 0.3, "logits_scaling": 2.0}
VISION = {"model_type": "pixtral", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
          "head_dim": 8, "image_size": 28, "patch_size": 14}
GEMMA4 = {"num_hidden_layers": 7, "num_key_value_heads": 2, "head_dim": 8, "global_head_dim": 16, "sliding_window": 16,
          "vocab_size_per_layer_input": VOCAB, "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2 +
          ["full_attention"]}
GEMMA4_VISION = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8,
                 "intermediate_size": 24, "patch_size": 4, "position_embedding_size": 64}
CASES = {
    "llama": {"model_type": "llama"},
    "llama tied, biases, head_dim": {"model_type": "llama", "tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True,
                                     "head_dim": 16},
    "llama multi-query": {"model_type": "llama", "num_key_value_heads": 1},
    "llama multi-head": {"model_type": "llama", "num_key_value_heads": 4},
    "llama rope llama3": {"model_type": "llama", "rope_theta": 500000.0, "rope_scaling": LLAMA3},
    "llama rope linear": {"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2.0}},
    "llama rope dynamic": {"model_type": "llama", "rope_scaling": {"type": "dynamic", "factor": 2.0}},
    "llama rope dynamic, outgrown": {"model_type": "llama", "max_position_embeddings": 40,
                                     "rope_scaling": {"type": "dynamic", "factor": 4.0}},
    "llama rope longrope, outgrown": {"model_type": "llama", "rope_scaling": {
        "rope_type": "longrope", "original_max_position_embeddings": 40, "short_factor": [1.0, 1.1, 1.2, 1.3],
        "long_factor": [2.0, 3.0, 4.0, 5.0]}},
    "llama rope yarn": {"model_type": "llama", "head_dim": 16,
                        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}},
    "mistral": {"model_type": "mistral", "sliding_window": 16},
    "ministral": {"model_type": "ministral", "head_dim": 8, "sliding_window": 16,
                  "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]},
    "qwen2": {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 16, "max_window_layers": 2},
    "qwen2 no window": {"model_type": "qwen2"},
    "qwen3": {"model_type": "qwen3", "head_dim": 16},
    "smollm3": {"model_type": "smollm3"},
    "phi3": {"model_type": "phi3", "sliding_window": 16, "partial_rotary_factor": 0.5, "original_max_position_embeddings": 128},
    "phi3 longrope": {"model_type": "phi3", "original_max_position_embeddings": 64,
                      "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.1, 1.2, 1.3],
                                       "long_factor": [2.0, 3.0, 4.0, 5.0]}},
    "phi3 longrope, outgrown": {"model_type": "phi3", "original_max_position_embeddings": 40,
                                "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.1, 1.2, 1.3],
                                                 "long_factor": [2.0, 3.0, 4.0, 5.0]}},
    "phi3 longrope, outgrown, window": {"model_type": "phi3", "original_max_position_embeddings": 40, "sliding_window": 16,
                                        "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.1, 1.2, 1.3],
                                                         "long_factor": [2.0, 3.0, 4.0, 5.0]}},
    "gemma2": {"model_type": "gemma2", "head_dim": 16, "sliding_window": 16, "query_pre_attn_scalar": 16},
    "gemma3": {"model_type": "gemma3_text", "head_dim": 16, "sliding_window": 16, "query_pre_attn_scalar": 16,
               "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "sliding_window_pattern": 2},
    "gemma3 six layers a round": {"model_type": "gemma3_text", "head_dim": 16, "sliding_window": 16, "query_pre_attn_scalar": 16,
                                  "num_hidden_layers": 7},
    "gemma4": {"model_type": "gemma4_text", **GEMMA4, "hidden_size_per_layer_input": 8, "num_kv_shared_layers": 3,
               "use_double_wide_mlp": True, "final_logit_softcapping": 30.0},
    "gemma4 keys are values": {"model_type": "gemma4_text", **GEMMA4, "hidden_size_per_layer_input": 0, "attention_k_eq_v": True,
                               "num_global_key_value_heads": 1, "final_logit_softcapping": 30.0,
                               "use_bidirectional_attention": "vision"},
    "gemma4 untied, biases, whole heads": {
        "model_type": "gemma4_text", **GEMMA4, "hidden_size_per_layer_input": 4, "num_kv_shared_layers": 2, "attention_bias": True,
        "tie_word_embeddings": False, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size_per_layer_input": 80,
        "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 50000.0},
                            "sliding_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}}},
    "gemma4 of pictures": {"model_type": "gemma4", "text_config": {
        **SIZES, "model_type": "gemma4_text", **GEMMA4, "hidden_size_per_layer_input": 8, "num_kv_shared_layers": 2},
        "vision_config": GEMMA4_VISION, "audio_config": None},
    "gemma4 experts": {"model_type": "gemma4_text", **GEMMA4, "hidden_size_per_layer_input": 0, "attention_k_eq_v": True,
                       "num_global_key_value_heads": 1, "final_logit_softcapping": 30.0, "use_bidirectional_attention": "vision",
                       "enable_moe_block": True, "num_experts": 6, "top_k_experts": 2, "moe_intermediate_size": 24},
    "gemma4 experts, wide layers, an embedding of every layer": {
        "model_type": "gemma4_text", **GEMMA4, "hidden_size_per_layer_input": 8, "num_kv_shared_layers": 3, "use_double_wide_mlp": True,
        "enable_moe_block": True, "num_experts": 5, "top_k_experts": 3, "moe_intermediate_size": 40, "tie_word_embeddings": False},
    "granite": {"model_type": "granite", "embedding_multiplier": 3.0, "attention_multiplier": 0.25, "residual_multiplier": 0.3,
                "logits_scaling": 2.0},
    "granite tied, biases, rope yarn": {"model_type": "granite", "embedding_multiplier": 12.0, "attention_multiplier": 0.015625,
                                        "residual_multiplier": 0.22, "logits_scaling": 8.0, "tie_word_embeddings": True,
                                        "attention_bias": True, "mlp_bias": True, "rope_parameters": {
                                            "rope_type": "yarn", "rope_theta": 10000000.0, "factor": 4.0,
                                            "original_max_position_embeddings": 32}},
    "gpt_neox": {"model_type": "gpt_neox", "rotary_pct": 0.5},
    "gpt_neox one after the other, no biases": {"model_type": "gpt_neox", "use_parallel_residual": False, "attention_bias": False,
                                                "hidden_act": "gelu_new", "rope_parameters": {
                                                    "rope_type": "linear", "factor": 2.0, "rope_theta": 5000.0,
                                                    "partial_rotary_factor": 1.0}},
    "olmo2": {"model_type": "olmo2"},
    "olmo2 multi-head, tied": {"model_type": "olmo2", "num_key_value_heads": 4, "tie_word_embeddings": True, "rope_theta": 500000.0},
    "olmo3": {"model_type": "olmo3", "sliding_window": 16},
    # The older form: rope_theta and rope_scaling are those of the full layers alone.
    "olmo3 rope_theta": {"model_type": "olmo3", "sliding_window": 16, "rope_theta": 10000.0},
    "olmo3 rope yarn": {"model_type": "olmo3", "sliding_window": 16, "rope_theta": 500000.0, "rope_scaling": {
        "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 32, "attention_factor": 1.2079441541679836},
        "layer_types": ["full_attention", "sliding_attention", "full_attention", "sliding_attention"]},
    "glm4": {"model_type": "glm4", "head_dim": 16},
    "glm4 no biases, all of a head": {"model_type": "glm4", "head_dim": 8, "attention_bias": False, "partial_rotary_factor": 1.0},
    "cohere2": {"model_type": "cohere2", "sliding_window": 16, "logit_scale": 0.25, "layer_norm_eps": 1e-3},
    "cohere2 untied, biases": {"model_type": "cohere2", "sliding_window": 16, "tie_word_embeddings": False, "attention_bias": True,
                               "rope_theta": 50000.0, "sliding_window_pattern": 2},
    "starcoder2": {"model_type": "starcoder2", "sliding_window": 16},
    "starcoder2 untied, no biases, no window": {"model_type": "starcoder2", "tie_word_embeddings": False, "use_bias": False,
                                                "hidden_act": "gelu", "norm_epsilon": 1e-3},
    "exaone4": {"model_type": "exaone4", "sliding_window": 16},
    "exaone4 no window, rope llama3": {"model_type": "exaone4", "sliding_window": None, "tie_word_embeddings": True,
                                       "layer_types": ["full_attention"] * 4, "rope_theta": 1000000.0, "rope_scaling": LLAMA3},
    "stablelm": {"model_type": "stablelm", "use_qkv_bias": True, "partial_rotary_factor": 0.5},
    "stablelm side by side, norms on q and k": {"model_type": "stablelm", "use_parallel_residual": True, "qk_layernorm": True,
                                         "tie_word_embeddings": True, "layer_norm_eps": 1e-3},
    "phi": {"model_type": "phi", "num_key_value_heads": 4, "intermediate_size": 128},
    "phi grouped, all of a head": {"model_type": "phi", "partial_rotary_factor": 1.0, "layer_norm_eps": 1e-3},
    "seed_oss": {"model_type": "seed_oss", "head_dim": 16},
    "seed_oss biases": {"model_type": "seed_oss", "head_dim": 8, "attention_bias": False, "attention_out_bias": True,
                        "mlp_bias": True, "tie_word_embeddings": True},
    "ministral3": {"model_type": "ministral3", "head_dim": 8, "rope_parameters": {
        "rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0, "original_max_position_embeddings": 12, "beta_fast": 32.0,
        "beta_slow": 1.0, "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.3}},
    "ministral3 window, tied": {"model_type": "ministral3", "head_dim": 16, "sliding_window": 16, "tie_word_embeddings": True,
                                "rope_parameters": {"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 4.0,
                                                    "original_max_position_embeddings": 16, "llama_4_scaling_beta": 0.1}},
    "mistral3": {"model_type": "mistral3", "tie_word_embeddings": False, "text_config": {
        **SIZES, "model_type": "mistral", "head_dim": 8, "sliding_window": None, "rope_theta": 1000000.0},
        "vision_config": VISION},
    "mistral3 of ministral3": {"model_type": "mistral3", "text_config": {
        **SIZES, "model_type": "ministral3", "head_dim": 8, "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0, "original_max_position_embeddings": 12,
            "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.3}}, "vision_config": VISION},
    "mixtral": {"model_type": "mixtral", "num_local_experts": 4},
    "mixtral window, three of six": {"model_type": "mixtral", "num_local_experts": 6, "num_experts_per_tok": 3, "sliding_window": 16,
                                     "head_dim": 16},
    "qwen2_moe": {"model_type": "qwen2_moe", "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 24,
                  "shared_expert_intermediate_size": 40},
    "qwen2_moe layers without experts, windows": {
        "model_type": "qwen2_moe", "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "norm_topk_prob": True,
        "shared_expert_intermediate_size": 40, "mlp_only_layers": [1], "qkv_bias": False, "use_sliding_window": True,
        "sliding_window": 16, "max_window_layers": 2},
    "qwen3_moe": {"model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "head_dim": 16,
                  "norm_topk_prob": True},
    "qwen3_moe every second layer, window": {
        "model_type": "qwen3_moe", "num_experts": 4, "num_experts_per_tok": 3, "moe_intermediate_size": 40, "decoder_sparse_step": 2,
        "attention_bias": True, "use_sliding_window": True, "sliding_window": 16, "tie_word_embeddings": True},
    "olmoe": {"model_type": "olmoe", "num_experts": 6, "num_experts_per_tok": 2},
    "olmoe clipped, normalised": {"model_type": "olmoe", "num_experts": 4, "num_experts_per_tok": 3, "clip_qkv": 0.5,
                                  "norm_topk_prob": True, "num_key_value_heads": 4},
    "granitemoe": {"model_type": "granitemoe", "num_local_experts": 4, **GRANITE},
    "granitemoeshared": {"model_type": "granitemoeshared", "num_local_experts": 5, "num_experts_per_tok": 3,
                         "shared_intermediate_size": 40, "tie_word_embeddings": True, **GRANITE},
    "gpt_oss": {"model_type": "gpt_oss", "num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 16, "sliding_window": 16,
                "rope_parameters": {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0,
                                    "truncate": False, "original_max_position_embeddings": 32}},
    "gpt_oss plain rope, no biases on q": {"model_type": "gpt_oss", "num_local_experts": 6, "num_experts_per_tok": 3, "head_dim": 8,
                                           "sliding_window": 12, "attention_bias": False, "tie_word_embeddings": True,
                                           "layer_types": ["full_attention", "sliding_attention"] * 2,
                                           "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
    "lfm2": {"model_type": "lfm2", "intermediate_size": 70, "block_multiple_of": 8, "norm_eps": 1e-5, "rope_theta": 1000000.0,
             "layer_types": ["conv", "conv", "full_attention", "conv"]},
    "lfm2 biases, four taps": {"model_type": "lfm2", "conv_bias": True, "conv_L_cache": 4, "block_auto_adjust_ff_dim": False,
                               "tie_word_embeddings": False, "layer_types": ["full_attention", "conv", "full_attention", "conv"]},
    "lfm2_moe": {"model_type": "lfm2_moe", "num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "num_dense_layers": 1,
                 "norm_eps": 1e-5, "layer_types": ["conv", "full_attention", "conv", "conv"]},
    "lfm2_moe not normalised, no bias": {"model_type": "lfm2_moe", "num_experts": 4, "num_experts_per_tok": 3, "moe_intermediate_size": 24,
                                         "num_dense_layers": 0, "norm_topk_prob": False, "use_expert_bias": False,
                                         "routed_scaling_factor": 1.5, "tie_word_embeddings": False,
                                         "layer_types": ["full_attention", "conv", "conv", "full_attention"]},
    "gpt2": {"model_type": "gpt2", "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 128, "vocab_size": VOCAB,
             "bos_token_id": 1, "eos_token_id": 2},
}


def values_of(index, shape, is_norm):
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        z = (np.uint64(index + 1) << np.uint64(32)) + np.arange(count, dtype=np.uint64)
        z = z * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    unit = (z >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24) - np.float32(0.5)
    return (unit * np.float32(0.5) + np.float32(1.0 if is_norm else 0.0)).reshape(shape)


def name_in_file(key, model_type):
    """The name that save_pretrained writes for a parameter."""
    if model_type == "gpt_neox":
        return key.replace("lm_head.", "embed_out.")
    if model_type == "mistral3":
        for inside, written in (("model.language_model.", "language_model.model."), ("lm_head.", "language_model.lm_head."),
                                ("model.", "")):
            if key.startswith(inside):
                return written + key.removeprefix(inside)
    return key


def is_mixture(given):
    return any(key in given for key in ("num_local_experts", "num_experts"))


AROUND_ONE = re.compile(r"norm(_\d)?\.weight$|layer_scalar$|router\.scale$|per_expert_scale$")  # in a mixture


def make_mixture(config_json, config):
    """The same as make_model(). save_pretrained splits and renames experts' weights, so the names and shapes are those of its file."""
    empty = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with tempfile.TemporaryDirectory() as folder:
        empty.save_pretrained(folder)
        path = pathlib.Path(folder) / "model.safetensors"
        with safetensors.safe_open(path, "np") as file:
            shapes = {key: tuple(file.get_slice(key).get_shape()) for key in sorted(file.keys())}
        tensors = [[key, list(shape), len(shape) == 1 and AROUND_ONE.search(key) is not None] for key, shape in shapes.items()]
        values = {key: values_of(index, shape, tensors[index][2]) for index, (key, shape) in enumerate(shapes.items())}
        safetensors.numpy.save_file(values, path, metadata={"format": "pt"})
        (pathlib.Path(folder) / "config.json").write_text(json.dumps(config_json))
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32,
                                                                  experts_implementation="eager").eval()
    return config_json, model, tensors


def make_model(name):
    """config.json of a case, transformers' model with its weights, and the tensors as [name, shape, is a norm around 1]."""
    given = CASES[name]
    config_json = given if given["model_type"] in ("gpt2", "mistral3", "gemma4") else {**SIZES, **given}
    fields = {key: value for key, value in json.loads(json.dumps(config_json)).items() if key != "model_type"}
    config = transformers.AutoConfig.for_model(given["model_type"], **fields)
    if is_mixture(given):
        return make_mixture(config_json, config)
    auto = transformers.AutoModelForImageTextToText if "text_config" in given else transformers.AutoModelForCausalLM
    model = auto.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    state = {name_in_file(key, given["model_type"]): value for key, value in model.named_parameters()}  # a tied head appears once
    state.update({key: value for key, value in model.named_buffers() if key.endswith("layer_scalar")})
    tensors = []
    with torch.no_grad():
        for index, key in enumerate(sorted(state)):
            # Gemma up to 3 stores w - 1, so its norms are centred on 0.
            is_norm = (state[key].ndim == 1 and "norm" in key and key.endswith("weight") and not re.match("gemma[23]", name)
                       or ".ln_" in key and key.endswith("weight") or key.endswith("layer_scalar"))
            state[key].copy_(torch.from_numpy(values_of(index, tuple(state[key].shape), is_norm)))
            tensors.append([key, list(state[key].shape), is_norm])
    return config_json, model, tensors


def hidden_states(model, ids):
    """By name, [positions, hidden] each. transformers' last entry is normed, so the last layer's own output is taken from it."""
    inner = getattr(model.base_model, "language_model", model.base_model)
    last = (inner.h if hasattr(inner, "h") else inner.layers)[-1]
    raw = []
    hook = last.register_forward_hook(lambda _, __, out: raw.append(out[0] if isinstance(out, tuple) else out))
    with torch.no_grad():
        states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    hook.remove()
    named = {str(i): state[0] for i, state in enumerate(states[:-1])}
    return {**named, str(len(named)): raw[0][0], "-1": states[-1][0]}


def main():
    cases = {}
    ids = [(i * 29 + 7) % VOCAB for i in range(LENGTH)]
    for name in CASES:
        config_json, model, tensors = make_model(name)
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        rows = {str(at): [round(float(v), 6) for v in logits[at]] for at in ROWS}
        features = {layer: [[round(float(v), 6) for v in state[at][::COLUMNS]] for at in ROWS]
                    for layer, state in hidden_states(model, ids).items()}
        cases[name] = {"config": config_json, "tensors": tensors, "logits": rows, "features": features}
        print(name, float(logits.abs().max()))
    out = {"transformers": transformers.__version__, "torch": torch.__version__, "ids": ids, "feature_rows": ROWS,
           "feature_columns": COLUMNS, "cases": cases}
    pathlib.Path(__file__).with_name("model_families.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
