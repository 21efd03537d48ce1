#!/usr/bin/env python3
"""Expected tokens per forward of a head on chat prompts, greedy: `measure.py best.pt --prompts spec_bench_question.jsonl --text FOLDER`.

The target first writes its greedy answers (fp32; kept in FOLDER for the next checkpoint). Then the head drafts along them: as a chain, as a
static tree chosen from its accuracies on held-out dialogues (--data), and, for EAGLE heads, as EAGLE-2's dynamic tree. Simulated: what
verification accepts is what the greedy text goes on with. The first token comes from the prompt's forward and counts for neither side.
SPACE's masks draft a chain alone, and --run decodes with them row by row and compares the text with the target's own.
"""

import argparse
import json
import pathlib
import time

import torch

import data
import decode
import heads
import simulate
import trees
from exported import open_exported
from target import RowCache, default_model, load_gguf
from text import Text
from train import features_of


def read_prompts(path, count):
    """[(category, prompt)]: first turns, categories in turn, so that any count is a fair share of all."""
    by = {}
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        by.setdefault(row.get("category", "all"), []).append(row["turns"][0] if "turns" in row else row["prompt"])
    lists, out = [[(c, p) for p in prompts] for c, prompts in by.items()], []
    for i in range(max(map(len, lists))):
        out += [x[i] for x in lists if i < len(x)]
    return out[:count]


@torch.no_grad()
def write_answers(target, text, prompts, tokens, path, rows=16, longest=1536):
    """The target's greedy answers as dialogues, written to path."""
    lines = []
    for begin in range(0, len(prompts), rows):
        some = [(c, text.prompt(p)) for c, p in prompts[begin: begin + rows]]
        some = [(c, ids) for c, ids in some if len(ids) + tokens <= longest]
        if not some:
            continue
        texts, starts = [list(ids) for _, ids in some], [len(ids) for _, ids in some]
        cache = RowCache(target, len(texts), max(starts) + tokens + 1)
        for r, ids in enumerate(texts):
            cache.fill(target, [r], [ids])
        live = [True] * len(texts)
        for _ in range(tokens):
            cache.prepare()
            hidden, _ = target.run(torch.tensor([[t[-1]] for t in texts], device=target.device), cache.lengths[:, None], cache.attend)
            cache.lengths += 1
            for r, token in enumerate(target.logits(hidden[:, 0]).argmax(-1).tolist()):
                if live[r]:
                    texts[r].append(token)
                    live[r] = token != target.config["eos"]
            # A row that ended goes on over its own last token; nothing of it is kept.
            if not any(live):
                break
        for n, ((category, _), ids, start) in enumerate(zip(some, texts, starts)):
            lines.append(json.dumps({"n": begin + n, "task": category, "ids": ids, "spans": [[start, len(ids), "greedy"]]}))
        print(f"answers: {len(lines)} of {len(prompts)}", flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_space(head, texts):
    """Decodes every greedy span with SPACE's rows; refuses a text that is not the target's own."""
    tally = simulate.Tally(head.depth)
    for d in texts:
        for begin, end in d.spans:
            answer, counts = decode.space(head, d.ids[:begin], end - begin)
            if answer != d.ids[begin:end]:
                at = next((i for i, (a, b) in enumerate(zip(answer, d.ids[begin:end])) if a != b), len(answer))
                raise SystemExit(f"prompt {d.n}: expected the target's own greedy text, found another token {at} of the answer; two logits may tie in rounding")
            tally.add(len(answer) - 1, len(counts), counts)
    return tally


def open_head(path, target):
    """A checkpoint of train.py or a folder of export.py. -> head, {"kind", "options", "step"}"""
    if path.is_dir():
        head, kind = open_exported(path, target)
        return head.eval(), {"kind": kind, "options": {"max_tokens": 1024}, "step": None}
    found = torch.load(path, map_location=target.device, weights_only=False)
    base = heads.Base(target)
    options = found["options"]
    head = heads.make(found["kind"], base, {**options, "vocabulary": options["frequent"].tolist()}).to(target.device)
    head.load_state_dict(found["head"])
    return head.eval(), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=pathlib.Path, help="best.pt, or the folder of a head that export.py wrote")
    parser.add_argument("--model", default=default_model(), type=pathlib.Path)
    parser.add_argument("--prompts", required=True, type=pathlib.Path)
    parser.add_argument("--text", required=True, type=pathlib.Path, help="folder of the target's answers")
    parser.add_argument("--data", type=pathlib.Path, help="dialogues; the held-out ones choose the static tree")
    parser.add_argument("--count", type=int, default=60, help="prompts")
    parser.add_argument("--tokens", type=int, default=128, help="of an answer at most")
    parser.add_argument("--nodes", type=int, default=63, help="of the static tree")
    parser.add_argument("--dynamic-nodes", type=int, default=59)
    parser.add_argument("--dynamic-depth", type=int, default=6)
    parser.add_argument("--dynamic-top", type=int, default=10, help="children of a node, and nodes of a level that have some")
    parser.add_argument("--no-dynamic", action="store_true")
    parser.add_argument("--run", action="store_true", help="SPACE: decode the answers with every row run")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures here")
    args = parser.parse_args()

    target = load_gguf(args.model, args.device)
    path = args.text / f"dialogues-{args.prompts.stem}-{args.count}x{args.tokens}.jsonl"
    if not path.exists():
        write_answers(target, Text(args.model), read_prompts(args.prompts, args.count), args.tokens, path)
    texts = [d for d in data.read(args.text, 1 << 20) if d.part == path.stem]
    head, found = open_head(args.checkpoint, target)
    features = features_of(head.kind, target)
    batches = lambda some: ((features.batch(group, (1,)), group) for group in data.plan(some, 4096, 0, 0))
    rows, begin = [], time.time()

    def report(shape, tally):
        rows.append({"shape": shape, "tokens_per_forward": tally.per_forward, "by_depth": tally.by_depth, "tokens": tally.tokens, "forwards": tally.forwards})
        print(f"{shape}: {tally.per_forward:.3f} tokens per forward, accepted by depth {' '.join(f'{x:.2f}' for x in tally.by_depth)} "
              f"({time.time() - begin:.0f} s)", flush=True)

    with torch.no_grad():
        report(f"chain of {head.depth}", simulate.chain_tally(head, batches(texts), head.depth))
        tree = None
        if head.kind == "space" and args.run:
            report("SPACE's rows, all run", run_space(head, texts))
        if args.data and head.kind != "space":
            held_out = [d for d in data.read(args.data, found["options"]["max_tokens"]) if d.held_out and d.spans][:60]
            accuracy = trees.accuracies(head, batches(held_out), head.depth)
            tree = trees.static_tree(accuracy, args.nodes)
            report(f"static tree of {len(tree)}", trees.static_tally(head, batches(texts), tree, head.depth))
        if isinstance(head, heads.Eagle) and not args.no_dynamic:
            report(f"dynamic tree of {args.dynamic_nodes}, depth {args.dynamic_depth + 1}, {args.dynamic_top} children",
                   trees.dynamic_tally(head, batches(texts), args.dynamic_depth, args.dynamic_nodes, args.dynamic_top))
    if args.json:
        args.json.write_text(json.dumps({
            "kind": found["kind"], "step": found["step"], "prompts_file": args.prompts.name, "prompts": len(texts), "tokens": args.tokens,
            "categories": sorted({json.loads(line)["task"] for line in path.read_text(encoding="utf-8").splitlines()}), "rows": rows, "static_tree": tree},
            indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
