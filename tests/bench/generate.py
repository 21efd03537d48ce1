#!/usr/bin/env python3
"""triescope beside transformers' generate(), the two in turn on the same prompts: tokens per second, prefill included, and the ratio.

Needs a Python with torch, transformers==5.17.0 and gguf (development only); the model is opened from the same GGUF, in fp32.

    python tests/bench/generate.py --model SmolLM2.gguf --prompts spec_bench.jsonl --categories summarization,rag --per-category 2

Time of generate(): wall time of the call. Time of triescope: prefill + decode as `decode --json` reports them (loading is left out on
both sides). Tokens: generated length of the best sequence. A mark says whether the tokens of all returned beams are equal.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time


def read_prompts(path, categories, per_category):
    taken, prompts = {}, []
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        category = row.get("category", "all")
        if categories and category not in categories:
            continue
        taken[category] = taken.get(category, 0) + 1
        if taken[category] <= per_category:
            prompts.append(row["turns"][0] if "turns" in row else row["prompt"])
    return prompts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help=".gguf file")
    parser.add_argument("--prompts", required=True, help=".jsonl with turns or prompt")
    parser.add_argument("--categories", default="")
    parser.add_argument("--per-category", type=int, default=2)
    parser.add_argument("--beams", default="1,3,9,15")
    parser.add_argument("--max-new-tokens", type=int, default=48)
    parser.add_argument("--max-prompt-tokens", type=int, default=512)
    parser.add_argument("--program", default=str(pathlib.Path(__file__).parents[2] / "build/triescope"))
    parser.add_argument("--json", help="write the rows here")
    args = parser.parse_args()

    import torch
    import transformers
    from transformers import AutoModelForCausalLM

    path = pathlib.Path(args.model)
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    model.eval()
    # The model's own generation config may carry sampling parameters; greedy and beam search only here.
    eos = model.generation_config.eos_token_id
    prompts = read_prompts(args.prompts, [c for c in args.categories.split(",") if c], args.per_category)
    encoded = []
    for prompt in prompts:
        out = subprocess.run([args.program, "tokenize", "--model", args.model, "--json", "--", prompt], check=True, capture_output=True)
        encoded.append(json.loads(out.stdout)["ids"][: args.max_prompt_tokens])

    rows = []
    for beams in [int(b) for b in args.beams.split(",")]:
        ours, theirs, equal = [], [], 0
        for ids in encoded:
            command = [args.program, "decode", "--model", args.model, "--json", "--quiet", "--max-new-tokens", str(args.max_new_tokens),
                       "--prompt-ids", ",".join(map(str, ids))]
            if beams == 1:
                command += ["--method", "greedy"]
            else:
                command += ["--method", "beam", "--set", f"num_beams={beams}", "--set", f"num_return_sequences={beams}"]
            result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            best = result["sequences"][0]["tokens"]
            ours.append((len(best), (result["time_ms"]["prefill"] + result["time_ms"]["decode"]) / 1000))

            start = time.perf_counter()
            with torch.no_grad():
                output = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), num_beams=beams,
                                        num_return_sequences=beams, do_sample=False, max_new_tokens=args.max_new_tokens,
                                        pad_token_id=eos if isinstance(eos, int) else eos[0])
            seconds = time.perf_counter() - start
            generated = output[:, len(ids):].tolist()
            theirs.append((len(best), seconds))
            # generate() pads finished beams; what comes after our end is padding.
            wanted = [sequence["tokens"] for sequence in result["sequences"]]
            equal += all(tokens[: len(want)] == want for tokens, want in zip(generated, wanted))
        rate = lambda runs: sum(n for n, _ in runs) / sum(s for _, s in runs)
        row = {"num_beams": beams, "prompts": len(encoded), "triescope_tokens_per_second": rate(ours),
               "generate_tokens_per_second": rate(theirs), "ratio": rate(ours) / rate(theirs), "equal": equal,
               "median_ratio": statistics.median(t[1] / o[1] for o, t in zip(ours, theirs))}
        rows.append(row)
        print("b = {num_beams:2d}   triescope {triescope_tokens_per_second:6.1f}   generate() {generate_tokens_per_second:6.1f} tokens/s   "
              "ratio {ratio:4.2f} (median of prompts {median_ratio:4.2f})   equal {equal} of {prompts}".format(**row), flush=True)
    if args.json:
        json.dump({"transformers": transformers.__version__, "torch": torch.__version__, "rows": rows}, open(args.json, "w"), indent=1)


if __name__ == "__main__":
    main()
