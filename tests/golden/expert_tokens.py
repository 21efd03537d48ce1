#!/usr/bin/env python3
"""Writes expert_tokens.json beside it: what transformers' generate() makes of the mixtures of experts of model_families.py; fp32, CPU, no
end token. 25 prompts each greedily, of 3 to 51 tokens, and four of them with three beams.

  python tests/golden/expert_tokens.py
"""
import json
import pathlib

import torch
import transformers

import model_families

NEW, PROMPTS, BEAMS = 24, 25, 3

cases = []
for name, given in model_families.CASES.items():
    if not model_families.is_mixture(given):
        continue
    _, model, _ = model_families.make_model(name)
    model.generation_config.eos_token_id = None
    runs, gap = [], float("inf")
    for number in range(PROMPTS):
        length = 3 + 2 * number
        prompt = [(i * 29 + 7 + 11 * number) % model_families.VOCAB for i in range(length)]
        for beams in (1, BEAMS) if number % 7 == 0 else (1,):
            out = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, length, dtype=torch.long), do_sample=False,
                                 max_new_tokens=NEW, num_beams=beams, num_return_sequences=beams, pad_token_id=0,
                                 return_dict_in_generate=True, output_scores=True)
            runs.append({"prompt": prompt, "num_beams": beams, "sequences": out.sequences[:, length:].tolist()})
            if beams == 1:
                top = [torch.topk(step[0], 2).values for step in out.scores]
                gap = min(gap, *(float(t[0] - t[1]) for t in top))
    print(f"{name}: {len(runs)} runs, smallest gap of greedy {gap:.5f}", flush=True)
    cases.append({"model": name, "runs": runs})

out = {"transformers": transformers.__version__, "torch": torch.__version__, "max_new_tokens": NEW, "cases": cases}
pathlib.Path(__file__).with_name("expert_tokens.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
