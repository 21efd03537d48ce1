"""What tests of adapters share: the model, prompts, and what our own run of the same method records.

TRIESCOPE_ADAPTER_PROMPTS says how many prompts (2), TRIESCOPE_ADAPTER_PROMPT_FILE where they stand, TRIESCOPE_ADAPTER_TOKENS
how many tokens each (24), TRIESCOPE_ADAPTER_MODEL another model than SmolLM2: a GGUF file or a folder."""

import copy
import json
import os
import shutil

from tests.support import MODEL as INSTALLED
from tests.support import PROGRAM, SOURCE, run_program

COUNT = int(os.environ.get("TRIESCOPE_ADAPTER_PROMPTS", "2"))
TOKENS = int(os.environ.get("TRIESCOPE_ADAPTER_TOKENS", "24"))
FILE = os.environ.get("TRIESCOPE_ADAPTER_PROMPT_FILE") or os.path.join(SOURCE, "tests/fixtures/prompts.jsonl")
MODEL = os.environ.get("TRIESCOPE_ADAPTER_MODEL") or INSTALLED
ASSISTANT = os.path.join(SOURCE, ".deps/draft/smollm2-22-layers.gguf")
END = 2  # <|im_end|>, <|end_story|>
HAS_PROGRAM = os.access(PROGRAM, os.X_OK)
_loaded = {}


def load(path=MODEL):
    """(model, tokenizer) of a GGUF file or a folder, in fp32 on the CPU."""
    import torch
    import transformers

    if path not in _loaded:
        torch.manual_seed(0)
        folder, file = (path, None) if os.path.isdir(path) else os.path.split(path)
        where = {"gguf_file": file} if file else {}
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **where).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **where)
        model.generation_config.pad_token_id = model.generation_config.eos_token_id or END
        model.generation_config.eos_token_id = END
        _loaded[path] = (model, tokenizer)
    return _loaded[path]


def assistant_of(folder):
    """What drafts for MODEL: beside SmolLM2 the model of fewer layers; for a folder a copy with noise, written into `folder`."""
    if not os.path.isdir(MODEL):
        return ASSISTANT
    import torch

    model, _ = load()
    shutil.copytree(MODEL, folder, ignore=shutil.ignore_patterns("*.safetensors"), dirs_exist_ok=True)
    noisy = copy.deepcopy(model)
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in noisy.parameters():
            weight += torch.randn_like(weight) * weight.std() * 0.1
    noisy.save_pretrained(folder)
    return folder


def prompts(count=COUNT):
    """At most 400 characters each; where the file has fewer, the same ones a little longer."""
    with open(FILE, encoding="utf-8") as file:
        lines = [json.loads(line)["turns"][0] for line in file]
    step = max(1, len(lines) // count)
    return [lines[i * step % len(lines)][:400 + 40 * (i * step // len(lines))] for i in range(count)]


def own_run(path, method, prompt, tokens, settings, draft=None):
    """Our own run from the prompt's ids, in fp32, recorded into `path`."""
    more = [word for name, value in {**settings, "eos_token_id": END}.items() for word in ("--set", f"{name}={value}")]
    run_program("decode", "--model", MODEL, "--method", method, "--prompt-ids", ",".join(map(str, prompt)), "--dtype", "f32",
                "--max-new-tokens", str(tokens), "--capture", path, "--quiet", *more, *(["--draft", draft] if draft else []))


def decided(run):
    """By step what was decided: {(prompt and path, verdict): (reason, p)}."""
    nodes = run.rows("node")
    prompt = tuple(run.run["prompt_tokens"])
    paths = [prompt]
    for row in nodes[1:]:
        paths.append(paths[row["parent"]] + (row["token"],))
    found = {}
    for row in run.rows("verdict"):
        p = row["p"] if row["p"] is not None and row["p"] >= 0 else None
        found.setdefault(row["tick"] // 5, {})[paths[row["node"]], row["verdict"]] = (row["reason"] or None, p)
    return found


def live_beams(run):
    """By step the beams that go on: [(path, sum of log p), …], best first."""
    nodes = run.rows("node")
    paths = [()]
    for row in nodes[1:]:
        paths.append(paths[row["parent"]] + (row["token"],))
    found = {}
    for row in run.rows("frontier"):
        found.setdefault(row["step"], []).append((paths[row["node"]], row["score"]))
    return found
