#!/usr/bin/env python3
"""Golden outputs of beam search: what transformers' generate() returns on SmolLM2-135M-Instruct from its GGUF, fp32, CPU.

    python3 tests/golden/make_beam_goldens.py MODEL.gguf spec_bench_question.jsonl [-o tests/golden/beam_goldens.json]

20 prompts (10 as they are, 10 through the chat template and asked for a short answer, so that EOS comes before the cap) x
num_beams 1, 3, 9 x early_stopping true, false, never, num_return_sequences = num_beams. Token ids only: the prompts' texts are
not part of the file. Needs transformers==5.17.0, gguf==0.19.0, torch==2.11.0; takes about 20 minutes on two cores.
"""
import argparse
import json
import os
import platform
import time

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

# (line of the question file, form, max_new_tokens)
PROMPTS = [
    (0, "plain", 32), (20, "plain", 40), (30, "plain", 32), (40, "plain", 32), (60, "plain", 24),
    (82, "plain", 32), (100, "plain", 40), (242, "plain", 24), (250, "plain", 40), (330, "plain", 32),
    (240, "chat", 40), (241, "chat", 40), (243, "chat", 32), (245, "chat", 40), (247, "chat", 24),
    (251, "chat", 40), (255, "chat", 32), (85, "chat", 40), (322, "chat", 40), (325, "chat", 32),
]
SHORT = " Answer in one or two words."


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("questions")
    parser.add_argument("-o", "--output", default=os.path.join(os.path.dirname(__file__), "beam_goldens.json"))
    arguments = parser.parse_args()

    folder, file = os.path.split(os.path.abspath(arguments.model))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()
    eos = model.generation_config.eos_token_id or model.config.eos_token_id
    eos = [eos] if isinstance(eos, int) else list(eos)
    with open(arguments.questions, encoding="utf-8") as lines:
        questions = [json.loads(line)["turns"][0] for line in lines]

    cases = []
    for line, form, max_new_tokens in PROMPTS:
        text = questions[line]
        if form == "chat":
            text = tokenizer.apply_chat_template([{"role": "user", "content": text + SHORT}],
                                                 add_generation_prompt=True, tokenize=False)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert len(ids) <= 200, (line, len(ids))
        case = {"question": line, "form": form, "prompt": ids, "max_new_tokens": max_new_tokens, "runs": []}
        for beams in (1, 3, 9):
            for stopping in ((True, False, "never") if beams > 1 else (None,)):
                start = time.time()
                options = {} if stopping is None else {"early_stopping": stopping}
                out = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                                     num_beams=beams, num_return_sequences=beams, do_sample=False,
                                     max_new_tokens=max_new_tokens, eos_token_id=eos, pad_token_id=eos[0],
                                     return_dict_in_generate=True, output_scores=True, **options)
                sequences = []
                for row in out.sequences[:, len(ids):].tolist():
                    ends = [i for i, token in enumerate(row) if token in eos]
                    sequences.append(row[:ends[0] + 1] if ends else row)
                run = {"num_beams": beams, "sequences": sequences}
                if stopping is not None:
                    run["early_stopping"] = str(stopping).lower()
                    run["scores"] = out.sequences_scores.tolist()
                case["runs"].append(run)
                print(line, form, len(ids), beams, stopping, [len(s) for s in sequences],
                      f"{time.time() - start:.1f} s", flush=True)
        cases.append(case)

    result = {
        "made_by": "tests/golden/make_beam_goldens.py",
        "model": file,
        "dtype": "float32",
        "device": "cpu",
        "eos_token_id": eos,
        "versions": {"transformers": transformers.__version__, "torch": torch.__version__,
                     "python": platform.python_version()},
        "cases": cases,
    }
    with open(arguments.output, "w", encoding="utf-8") as out:
        json.dump(result, out, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
