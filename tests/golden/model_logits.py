#!/usr/bin/env python3
"""Writes model_logits.json beside it: logits of SmolLM2-135M-Instruct (the GGUF that scripts/setup installs) by transformers, fp32, CPU.

  python tests/golden/model_logits.py .deps/models/SmolLM2-135M-Instruct.Q4_1.gguf
Kept of each position: the 20 largest logits and every 97th.
"""
import json
import pathlib
import sys

import gguf
import torch
import transformers

TEXTS = [
    "The quick brown fox jumps over the lazy dog. Then it",
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n",
    "def fibonacci(n):\n    if n < 2:\n        return n\n    return fibonacci(n - 1) +",
]

path = pathlib.Path(sys.argv[1])
model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
model.eval()
runs = []
with torch.no_grad():
    for text in TEXTS:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        logits = model(torch.tensor([ids])).logits[0]
        for position in (len(ids) // 2, len(ids) - 1):
            row = logits[position]
            top = torch.topk(row, 20)
            runs.append({"ids": ids[:position + 1],
                         "top": [[int(i), round(float(v), 6)] for v, i in zip(top.values, top.indices)],
                         "every_97th": [round(float(v), 6) for v in row[::97]]})
    # A long one: position by position a fixed pseudo-random token, so that rope is checked far out.
    ids = [(i * 7919 + 11) % 49152 for i in range(700)]
    row = model(torch.tensor([ids])).logits[0, -1]
    top = torch.topk(row, 20)
    runs.append({"ids": ids, "top": [[int(i), round(float(v), 6)] for v, i in zip(top.values, top.indices)],
                 "every_97th": [round(float(v), 6) for v in row[::97]]})

out = {"model": path.name, "transformers": transformers.__version__, "torch": torch.__version__,
       "gguf": __import__("importlib.metadata").metadata.version("gguf"), "runs": runs}
pathlib.Path(__file__).with_name("model_logits.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
