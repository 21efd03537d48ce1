#!/usr/bin/env python3
"""The sizes in docs/class_models.md: parameters that transformers counts in a model of each shape, without weights, and what follows from them.

    python tests/bench/class_models.py     compares the page's tables; exit code 1 where a figure differs (needs torch and transformers)

The shapes are written down here; no model is opened. What a shape leaves out is the default of its configuration in transformers.
"""
import pathlib
import re
import sys

import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

PAGE = pathlib.Path(__file__).parents[2] / "docs/class_models.md"
KEYS = {"hidden": "hidden_size", "layers": "num_hidden_layers", "heads": "num_attention_heads", "kv": "num_key_value_heads", "inner": "intermediate_size",
        "vocab": "vocab_size", "tied": "tie_word_embeddings", "experts": "num_local_experts", "used": "num_experts_per_tok", "head": "head_dim"}
SHAPES = {
    "Pythia-70M": ("gpt_neox", dict(hidden=512, layers=6, heads=8, inner=2048, vocab=50304)),
    "GPT-2": ("gpt2", {}),
    "SmolLM2-135M-Instruct": ("llama", dict(hidden=576, layers=30, heads=9, kv=3, head=64, inner=1536, vocab=49152, tied=True)),
    "Pythia-160M": ("gpt_neox", dict(hidden=768, layers=12, heads=12, inner=3072, vocab=50304)),
    "Gemma 3 270M": ("gemma3_text", dict(hidden=640, layers=18, heads=4, kv=1, head=256, inner=2048, vocab=262144)),
    "SmolLM2-360M-Instruct": ("llama", dict(hidden=960, layers=32, heads=15, kv=5, head=64, inner=2560, vocab=49152, tied=True)),
    "Pythia-410M": ("gpt_neox", dict(hidden=1024, layers=24, heads=16, inner=4096, vocab=50304)),
    "Qwen2.5-0.5B-Instruct": ("qwen2", dict(hidden=896, layers=24, heads=14, kv=2, inner=4864, vocab=151936, tied=True)),
    "Qwen3-0.6B": ("qwen3", dict(hidden=1024, layers=28, heads=16, kv=8, head=128, inner=3072, vocab=151936, tied=True)),
    "Llama-3.2-1B-Instruct": ("llama", dict(hidden=2048, layers=16, heads=32, kv=8, head=64, inner=8192, vocab=128256, tied=True)),
    "OLMo-2-1B-Instruct": ("olmo2", dict(hidden=2048, layers=16, heads=16, kv=16, inner=8192, vocab=100352)),
    "Qwen2.5-1.5B-Instruct": ("qwen2", dict(hidden=1536, layers=28, heads=12, kv=2, inner=8960, vocab=151936, tied=True)),
    "SmolLM2-1.7B-Instruct": ("llama", dict(hidden=2048, layers=24, heads=32, kv=32, head=64, inner=8192, vocab=49152, tied=True)),
    "Granite-3.1-1B-A400M-Instruct": ("granitemoe", dict(hidden=1024, layers=24, heads=16, kv=8, inner=512, vocab=49155, tied=True, experts=32, used=8)),
    "Granite-3.1-3B-A800M-Instruct": ("granitemoe", dict(hidden=1536, layers=32, heads=24, kv=8, inner=512, vocab=49155, tied=True, experts=40, used=8)),
    "OLMoE-1B-7B-Instruct": ("olmoe", dict(inner=1024)),
    "gpt-oss-20b": ("gpt_oss", dict(layers=24, experts=32)),
    "Gemma 4 26B-A4B, text part": ("gemma4_text", dict(hidden=2816, layers=30, heads=16, kv=8, inner=2112, num_experts=128, top_k_experts=8, moe_intermediate_size=704,
                                                       enable_moe_block=True, hidden_size_per_layer_input=0, attention_k_eq_v=True, num_global_key_value_heads=2)),
    "Qwen3-30B-A3B": ("qwen3_moe", dict(layers=48, head=128)),
}
BITS = (16, 8.5, 4.5)


def counted(family, shape):
    """(parameters, of these active, KiB of K and V a token or None of a mixture)"""
    config = CONFIG_MAPPING[family](**{KEYS.get(key, key): value for key, value in shape.items()})
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    named = dict(model.named_parameters())  # tied ones once
    total = sum(p.numel() for p in named.values())
    experts = getattr(config, "num_local_experts", None) or getattr(config, "num_experts", None) or 1
    # Tensors of all experts are stacked: their first extent is the number of experts.
    routed = sum(p.numel() for name, p in named.items() if experts > 1 and p.shape[0] == experts and "router" not in name and ".gate." not in name)
    used = getattr(config, "num_experts_per_tok", None) or getattr(config, "top_k_experts", 0)
    active = total - routed + routed * used // experts if experts > 1 else total
    if experts > 1:
        return total, active, None
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    kv = 8 * config.num_hidden_layers * head * (getattr(config, "num_key_value_heads", None) or config.num_attention_heads) / 1024
    return total, active, kv


def main():
    wrong = 0
    rows = {cells[0]: cells for cells in ([c.strip() for c in line.strip("|\n").split("|")] for line in PAGE.read_text().splitlines() if line.startswith("| "))}
    for name, (family, shape) in SHAPES.items():
        total, active, kv = counted(family, shape)
        number = lambda text: float(re.sub(r"[^0-9.]", "", text))
        cells = rows[name]
        mixture = len(cells) == 9
        expected = [round(total / 1e6)] + ([round(active / 1e6)] if mixture else [])
        found = [number(cells[3 if mixture else 2])] + ([number(cells[4])] if mixture else [])
        sizes = cells[5:8] if mixture else cells[3:6]
        for bits, text in zip(BITS, sizes):
            if text != "–":
                expected.append(total * bits / 8e9)
                found.append(number(text))
        if not mixture:
            expected.append(kv)
            found.append(number(cells[6]))
        for a, b in zip(expected, found):
            if abs(a - b) > (0.006 if a < 10 else 0.06):
                wrong += 1
                print(f"{name}: expected {a:.3f}, found {b}", file=sys.stderr)
    print(f"{len(SHAPES)} models, {wrong} figures that differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
