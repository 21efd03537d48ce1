#!/usr/bin/env python3
"""`triescope bench --only spec` beside transformers' assisted generation, on the same prompts, token by token.

Needs a Python with torch, transformers==5.17.0 and gguf (development only); the model is opened from the same GGUF, in fp32.

    python tests/bench/assisted.py --model SmolLM2.gguf --assistant assets/draft/draft --prompts question.jsonl --prompts HumanEval.jsonl

First triescope makes its runs (greedy, prompt lookup with 10 drafts of the first match, the draft model with 4), then transformers
decodes each of these prompts plainly, with prompt_lookup_num_tokens=10, and with assistant_model (4 tokens, constant, no confidence
threshold). Each program's speed is over its own plain decoding, prefill and drafting counted. Tokens a forward: generated tokens over
forwards of the target, that of the prompt included. Runs of both are kept in the folder (-o): Ctrl+C prints what is there, and the same
command goes on.
"""

import argparse
import collections
import json
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

STOPPED = []  # filled by Ctrl+C: the run at hand ends, and what is there is printed
METHODS = {"greedy": "greedy", "prompt lookup": "prompt_lookup:match=first:prompt_lookup_num_tokens=10",
           "assistant": "draft_model:num_assistant_tokens=4"}


def ours(args, folder):
    """{(task, prompt): {what: run}} of triescope, with the prompts' ids."""
    command = [args.program, "bench", "--only", "spec", "--model", args.model, "--draft", args.assistant, "-o", str(folder), "--csv",
               "--methods", ",".join(name for name in METHODS.values() if name != "greedy"),
               "--per-category", str(args.per_category), "--max-new-tokens", str(args.max_new_tokens), "--threads", str(args.threads)]
    for file in args.prompts:
        command += ["--prompts", file]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = collections.defaultdict(dict)
    rows = sqlite3.connect(folder / "study.sqlite").execute(
        "select name, category, prompt, result from run where status = 'done' and max_new_tokens = ? order by place", [args.max_new_tokens])
    names = {name: what for what, name in METHODS.items()}
    for name, task, prompt, result in rows:
        if name in names:
            result = json.loads(result)
            found[task, prompt][names[name]] = {
                "ids": result["prompt_tokens"], "tokens": result["sequences"][0]["tokens"], "forwards": result["target_forwards"],
                "seconds": (result["time_ms"]["prefill"] + result["time_ms"]["decode"]) / 1000, "eos": result["eos_token_ids"]}
    return {place: runs for place, runs in found.items() if len(runs) == len(METHODS)}


class Transformers:
    def __init__(self, args):
        import torch
        from transformers import AutoModelForCausalLM

        self.torch, self.forwards = torch, 0
        torch.set_num_threads(args.threads or torch.get_num_threads())
        path = pathlib.Path(args.model)
        self.model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
        self.assistant = AutoModelForCausalLM.from_pretrained(args.assistant, dtype=torch.float32).eval()
        config = self.assistant.generation_config
        config.num_assistant_tokens, config.num_assistant_tokens_schedule, config.assistant_confidence_threshold = 4, "constant", 0
        self.model.register_forward_hook(lambda *_: setattr(self, "forwards", self.forwards + 1))

    def run(self, what, ids, eos, new):
        given = self.torch.tensor([ids])
        drafts = {"greedy": {}, "prompt lookup": {"prompt_lookup_num_tokens": 10, "max_matching_ngram_size": 3},
                  "assistant": {"assistant_model": self.assistant}}[what]
        self.forwards, start = 0, time.perf_counter()
        with self.torch.no_grad():
            out = self.model.generate(given, attention_mask=self.torch.ones_like(given), do_sample=False, max_new_tokens=new,
                                      eos_token_id=eos, pad_token_id=eos[0], **drafts)
        return {"tokens": out[0, len(ids):].tolist(), "forwards": self.forwards, "seconds": time.perf_counter() - start}


def theirs(args, folder, prompts):
    """The same of transformers. A run is a line of the folder's transformers.jsonl."""
    kept = folder / "transformers.jsonl"
    found = collections.defaultdict(dict)
    for line in kept.read_text().splitlines() if kept.exists() else []:
        run = json.loads(line)
        if run["new"] == args.max_new_tokens:
            found[run["task"], run["prompt"]][run["what"]] = run
    missing = [(place, what) for place in prompts for what in METHODS if what not in found[place]]
    if missing:
        model = Transformers(args)
    for done, (place, what) in enumerate(missing):
        if STOPPED:
            break
        print(f"\rtransformers {done + 1}/{len(missing)}: {what}, {place[0]} {place[1]}\033[K", end="", flush=True)
        plain = prompts[place]["greedy"]
        run = model.run(what, plain["ids"], plain["eos"], args.max_new_tokens)
        found[place][what] = run
        with kept.open("a") as file:
            file.write(json.dumps({"task": place[0], "prompt": place[1], "what": what, "new": args.max_new_tokens, **run}) + "\n")
    if missing:
        print("\r\033[K", end="")
    return found


def figures(runs):
    """Tokens a forward and tokens a second of several runs."""
    tokens = sum(len(run["tokens"]) for run in runs)
    return tokens / sum(run["forwards"] for run in runs), tokens / sum(run["seconds"] for run in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).parents[2]
    parser.add_argument("--model", required=True, help=".gguf file")
    parser.add_argument("--assistant", default=str(root / "assets/draft/draft"), help="Hugging Face folder of a draft model")
    parser.add_argument("--prompts", action="append", default=[], help="question.jsonl or HumanEval.jsonl; several times for more")
    parser.add_argument("--per-category", type=int, default=2, help="prompts of each task")
    parser.add_argument("--max-new-tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("-o", dest="folder", default="bench-assisted", help="keeps the runs of both")
    parser.add_argument("--program", default=str(root / "build/triescope"))
    parser.add_argument("--json", help="write the rows here")
    args = parser.parse_args()

    folder = pathlib.Path(args.folder)
    prompts = ours(args, folder)
    signal.signal(signal.SIGINT, lambda *_: STOPPED.append(True))
    beside = theirs(args, folder, prompts)
    prompts = {place: runs for place, runs in prompts.items() if len(beside[place]) == len(METHODS)}
    if not prompts:
        sys.exit("stopped before a prompt had all its runs: the same command goes on")
    tasks = list(dict.fromkeys(task for task, _ in prompts))
    rows = []
    print(f"{'':36s}   tokens a forward            speed over plain decoding")
    print(f"{'task':16s}{'drafts':14s}{'prompts':>7s}  triescope  transformers   triescope  transformers   equal texts")
    for task in tasks + (["all"] if len(tasks) > 1 else []):
        places = [place for place in prompts if task in ("all", place[0])]
        for what in METHODS:
            row = {"task": task, "drafts": what, "prompts": len(places)}
            for program, found in (("triescope", prompts), ("transformers", beside)):
                plain = figures([found[place]["greedy"] for place in places])[1]
                row[program + "_tokens_per_forward"], rate = figures([found[place][what] for place in places])
                row[program + "_speed"], row[program + "_tokens_per_second"] = rate / plain, rate
            row["equal"] = sum(prompts[place][what]["tokens"] == beside[place][what]["tokens"] for place in places)
            rows.append(row)
            print("{task:16s}{drafts:14s}{prompts:7d}  {triescope_tokens_per_forward:9.2f}  {transformers_tokens_per_forward:12.2f}   "
                  "{triescope_speed:9.2f}  {transformers_speed:12.2f}   {equal} of {prompts}".format(**row))
    plain = [row for row in rows if row["drafts"] == "greedy"][-1]
    print("plain decoding, tokens a second: triescope {triescope_tokens_per_second:.1f}, transformers "
          "{transformers_tokens_per_second:.1f}".format(**plain))
    if args.json:
        json.dump(rows, open(args.json, "w"), indent=1)


if __name__ == "__main__":
    main()
