#!/usr/bin/env python3
"""Writes model_tokens.json beside it: what transformers' generate() makes of the tiny models of model_families.py where windows slide,
where a text outgrows the context its rope was trained for, and of the families that make_parity_goldens.py leaves out; fp32, CPU, no end
token.

  python tests/golden/model_tokens.py
Phi-3 runs without a cache: with one, transformers 5.17 throws it away where the text outgrows the original context and goes on with
the last token alone (prepare_inputs_for_generation of modeling_phi3.py after generate() has sliced the ids).
"""
import json
import pathlib

import torch
import transformers

import model_families

NEW = 40
CASES = ["mistral", "ministral", "qwen2", "phi3", "gemma2", "gemma3", "llama rope dynamic, outgrown", "llama rope longrope, outgrown",
         "phi3 longrope, outgrown", "phi3 longrope, outgrown, window", "granite", "gpt_neox", "olmo3", "glm4", "cohere2", "starcoder2",
         "exaone4", "stablelm side by side, norms on q and k", "phi", "seed_oss", "ministral3", "gemma4", "gemma4 keys are values",
         "gemma4 untied, biases, whole heads", "gemma4 of pictures", "lfm2",
         "lfm2 biases, four taps", "olmo2", "olmo2 multi-head, tied", "mistral3", "mistral3 of ministral3"]

cases = []
for name in CASES:
    for length in (9, 32, 45):
        prompt = [(i * 29 + 7 + length) % model_families.VOCAB for i in range(length)]
        case = {"model": name, "prompt": prompt, "runs": []}
        for beams in (1, 3):
            _, model, _ = model_families.make_model(name)  # afresh: rope's state outlives a call
            model.generation_config.eos_token_id = None
            out = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, length, dtype=torch.long), do_sample=False,
                                 max_new_tokens=NEW, num_beams=beams, num_return_sequences=beams, pad_token_id=0,
                                 use_cache=not name.startswith("phi3 longrope"), return_dict_in_generate=True, output_scores=True)
            case["runs"].append({"num_beams": beams, "sequences": out.sequences[:, length:].tolist()})
            if beams == 1:
                top = [torch.topk(step[0], 2).values for step in out.scores]
                gap = min(float(t[0] - t[1]) for t in top)
            else:
                case["runs"][-1]["scores"] = out.sequences_scores.tolist()
        print(f"{name}, {length}: smallest gap of greedy {gap:.4f}", flush=True)
        cases.append(case)

out = {"transformers": transformers.__version__, "torch": torch.__version__, "max_new_tokens": NEW, "cases": cases}
pathlib.Path(__file__).with_name("model_tokens.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
