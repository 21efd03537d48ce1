#!/usr/bin/env python3
"""triescope, llama.cpp and transformers in turn on one GGUF: greedy decoding, a prompt of 512 tokens, beams of 9 and 15.

    python tests/bench/compare.py --model SmolLM2-135M-Instruct.Q4_1.gguf --llama VENV/bin/python --transformers VENV/bin/python

Both Pythons are virtual environments of their own (development only). llama.cpp is built from the package's source for this machine,
which takes a C++ compiler, CMake and some minutes:

    python -m venv llama && CMAKE_ARGS=-DGGML_NATIVE=ON llama/bin/pip install --no-binary llama-cpp-python llama-cpp-python==0.3.36
    (where it crashes in AMX's instructions: -DGGML_NATIVE=OFF and those the machine has, -DGGML_AVX512=ON -DGGML_AVX512_VNNI=ON, …;
    beside TRIESCOPE_CPU=avx2: -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON)
    python -m venv hf && hf/bin/pip install torch==2.11.0 transformers==5.17.0 gguf==0.19.0 accelerate==1.15.0

Each program gets --threads threads and the same token ids. Rounds go A, B, C, A, B, C, … so that what else the machine does meets all;
the figure is each program's best round, and the rounds' medians stand beside it. Greedy: tokens a second after the prompt. Prompt:
tokens a second of a prompt alone. Beams: the best text's tokens a second, prompt included, beside generate(); llama.cpp has none.
llama.cpp and transformers load the model once; triescope is started for each run, and reports its times without loading.
llama.cpp multiplies activations rounded to 8 bits, so its texts may differ; transformers' and ours are compared token by token.
--record "Zen 4" keeps the figures (docs/measurements.md).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

from record import record

# Children: answer one JSON line per request, {"task", "ids", "new", "beams"} -> {"seconds", "tokens"}.
LLAMA = r"""
import json, sys, time
import numpy as np
from llama_cpp import Llama
path, threads, context = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = Llama(path, n_ctx=context, n_batch=2048, n_ubatch=512, n_threads=threads, n_threads_batch=threads, verbose=False)
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    model.reset()
    start = time.perf_counter()
    model.eval(job["ids"])
    tokens, prefill = [], time.perf_counter() - start
    start = time.perf_counter()
    if job["task"] == "greedy":
        for _ in range(job["new"]):
            token = model.sample(temp=0.0, top_k=1, repeat_penalty=1.0)
            tokens.append(int(token))
            model.eval([token])
    print(json.dumps({"prefill": prefill, "decode": time.perf_counter() - start, "tokens": tokens}), flush=True)
"""

TRANSFORMERS = r"""
import json, pathlib, sys, time
import torch
from transformers import AutoModelForCausalLM
path, threads = pathlib.Path(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(threads)
model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    ids = torch.tensor([job["ids"]])
    settings = dict(attention_mask=torch.ones_like(ids), do_sample=False, pad_token_id=0)
    with torch.no_grad():
        start = time.perf_counter()
        if job["task"] != "beams":
            model(ids, logits_to_keep=1)
        prefill = time.perf_counter() - start
        start = time.perf_counter()
        tokens = []
        if job["task"] == "greedy":
            tokens = model.generate(ids, max_new_tokens=job["new"], **settings)[0, ids.shape[1]:].tolist()
        elif job["task"] == "beams":
            tokens = model.generate(ids, num_beams=job["beams"], max_new_tokens=job["new"], **settings)[0, ids.shape[1]:].tolist()
        seconds = time.perf_counter() - start
    if job["task"] == "greedy":
        seconds -= prefill  # generate() reads the prompt once more
    print(json.dumps({"prefill": prefill, "decode": seconds, "tokens": tokens}), flush=True)
"""


class Child:
    def __init__(self, python, code, model, threads, context):
        self.process = subprocess.Popen([python, "-c", code, model, str(threads), str(context)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        self.answer()

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        sys.exit(f"{self.process.args[0]} ended: run it by hand with the same arguments to see why")

    def run(self, job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return self.answer()


class Triescope:
    def __init__(self, program, model, threads):
        self.command = [program, "decode", "--model", model, "--threads", str(threads), "--json", "--quiet"]

    def run(self, job):
        command = self.command + ["--prompt-ids", ",".join(map(str, job["ids"]))]
        if job["task"] == "beams":
            command += ["--method", "beam", "--set", f"num_beams={job['beams']}", "--max-new-tokens", str(job["new"])]
        else:
            command += ["--method", "greedy", "--max-new-tokens", str(job["new"] if job["task"] == "greedy" else 1)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        times = result["time_ms"]
        return {"prefill": times["prefill"] / 1e3, "decode": times["decode"] / 1e3, "tokens": result["sequences"][0]["tokens"]}


def figures_to_keep(rows):
    """(case, figure, unit): triescope's rate and what it is over each rival's; of beam search only the latter."""
    for row in rows:
        beams = row["what"].startswith("b = ")
        case = {"greedy": "greedy, after the prompt"}.get(row["what"], row["what"] + (", prompt of 380 included" if beams else " tokens"))
        if not beams:
            yield case, row["triescope"]["best"], "tokens/s"
        for key, value in row.items():
            if key.startswith("over "):
                yield f"{case}, {key}", value, "×"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help=".gguf file")
    parser.add_argument("--llama", help="Python with llama-cpp-python 0.3.36")
    parser.add_argument("--transformers", help="Python with transformers 5.17.0")
    parser.add_argument("--triescope", default=str(pathlib.Path(__file__).parents[2] / "build/triescope"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--new", type=int, default=96, help="tokens of greedy decoding")
    parser.add_argument("--lengths", default="", help="also greedy decoding after prompts of these lengths, in tokens: 32,512,3500")
    parser.add_argument("--beam-new", type=int, default=48)
    parser.add_argument("--beams", default="9,15")
    parser.add_argument("--json", help="write the rows here")
    parser.add_argument("--record", metavar="MACHINE", help="append the figures to docs/measurements.csv, measured on this machine of its page")
    args = parser.parse_args()

    text = "The lighthouse keeper climbed the stairs every evening and counted the ships that passed below. " * 300
    out = subprocess.run([args.triescope, "tokenize", "--model", args.model, "--json", "--", text], check=True, capture_output=True)
    long_ids = json.loads(out.stdout)["ids"]
    short = subprocess.run([args.triescope, "tokenize", "--model", args.model, "--json", "--", "Once upon a time there was a fox who"],
                           check=True, capture_output=True)
    short_ids = json.loads(short.stdout)["ids"]

    lengths = [int(n) for n in args.lengths.split(",") if n]
    if lengths and max(lengths) > len(long_ids):
        sys.exit(f"--lengths: expected at most {len(long_ids)} tokens, found {max(lengths)}")
    context = max(2048, max(lengths, default=0) + args.new)
    programs = {"triescope": Triescope(args.triescope, args.model, args.threads)}
    if args.llama:
        programs["llama.cpp"] = Child(args.llama, LLAMA, args.model, args.threads, context)
    if args.transformers:
        programs["transformers"] = Child(args.transformers, TRANSFORMERS, args.model, args.threads, context)

    jobs = [("greedy", {"task": "greedy", "ids": short_ids, "new": args.new}), ("prompt of 512", {"task": "prompt", "ids": long_ids[:512], "new": 1})]
    jobs += [(f"greedy after {n}", {"task": "greedy", "ids": long_ids[:n], "new": args.new}) for n in lengths]
    jobs += [(f"b = {b}", {"task": "beams", "ids": long_ids[:380], "beams": int(b), "new": args.beam_new}) for b in args.beams.split(",") if b]
    rows = []
    print(f"load average {os.getloadavg()[0]:.1f} at the start, {args.threads} threads; tokens a second: best round (median)")
    for name, job in jobs:
        rates, texts = {}, {}
        for round_ in range(args.rounds + 1):
            for program, child in programs.items():
                if job["task"] == "beams" and program == "llama.cpp":
                    continue
                result = child.run(job)
                if round_ == 0:
                    continue  # warms up
                # The first token comes out of the prompt's forward, except where the program counts it to decoding.
                if job["task"] == "prompt":
                    rate = len(job["ids"]) / result["prefill"]
                elif job["task"] == "greedy":
                    rate = (len(result["tokens"]) - (program != "llama.cpp")) / result["decode"]
                else:
                    rate = len(result["tokens"]) / (result["decode"] + (result["prefill"] if program == "triescope" else 0))
                rates.setdefault(program, []).append(rate)
                texts[program] = result["tokens"]
        row = {"what": name, **{p: {"best": max(r), "median": statistics.median(r)} for p, r in rates.items()}}
        for other in rates:
            if other != "triescope":
                row[f"over {other}"] = max(rates["triescope"]) / max(rates[other])
        if "transformers" in texts and texts["triescope"]:
            ours, theirs = texts["triescope"], texts["transformers"]
            row["equal tokens"] = job["task"] == "prompt" or theirs[: len(ours)] == ours
        rows.append(row)
        figures = "   ".join(f"{p} {max(r):7.1f} ({statistics.median(r):.1f})" for p, r in rates.items())
        ratios = "   ".join(f"{value:.2f} x {key[5:]}" for key, value in row.items() if key.startswith("over "))
        print(f"{name:17s} {figures}   {ratios}" + ("   texts equal" if row.get("equal tokens") and job["task"] != "prompt" else ""), flush=True)
    print(f"load average {os.getloadavg()[0]:.1f} at the end")
    if args.json:
        json.dump(rows, open(args.json, "w"), indent=1)
    if args.record:
        record(args.record, "rivals", "tests/bench/compare.py", figures_to_keep(rows))


if __name__ == "__main__":
    main()
