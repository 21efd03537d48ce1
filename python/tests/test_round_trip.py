"""Runs of the program, exported as JSON lines and written again through the package, give the same panels. What the
lines do not hold (rows, slots, candidates, what a decision compared) is read from the capture's tables."""

import json
import os
import unittest

from tests.support import MODEL, SOURCE, Case, csvs_of, run_program

import triescope
from triescope import Drafter, Node, Recorder

PROMPT = "The quick brown fox jumps over the lazy dog. The quick brown"
DETAILS = ("p", "q", "u", "rank", "score", "gap", "replacement", "reason", "value", "threshold", "count", "why")
OWN = ("bonus", "corrected", "emitted")


def by_step(rows):
    found = {}
    for row in rows:
        found.setdefault(row["step"] if "step" in row else row["tick"] // 5, []).append(row)
    return found


def by_action(events):
    """Slot events as kv() takes them."""
    return {"moved": [(row["from_slot"], row["slot"]) for row in events if row["action"] == "move"],
            "freed": [row["slot"] for row in events if row["action"] == "free"],
            "garbage": [row["slot"] for row in events if row["action"] == "garbage"]}


def write_again(original, lines, path):
    run = triescope.open(original)
    about, pieces, nodes = run.run, run.pieces, run.rows("node")
    names = ("input", "candidate", "verdict", "slot", "memory", "sequence", "node_score", "log")
    of = {name: by_step(run.rows(name)) for name in names}
    drafters = run.rows("drafter")
    learned = {row["node"]: row["logprob"] for row in run.rows("node_score")}
    logprob = lambda node: learned.get(node, nodes[node]["logprob"])  # noqa: E731
    with open(lines, encoding="utf-8") as file:
        steps = [json.loads(line) for line in file]
    head = steps[0]["run"]
    beams = about["kind"] == "beams"
    cap = Recorder(path, tokenizer=pieces.get, method=head["method"], title=about["method_title"], kind=about["kind"],
                   model=head["model"], settings=head["settings"], seed=head["seed"], kv_policy=head["kv_policy"],
                   max_new_tokens=head["max_new_tokens"], setting_titles=about["setting_titles"],
                   setting_words=about["setting_words"], width=about["width"],
                   versions=head["versions"], candidates=head["settings"]["candidates"], program=("triescope", run.rows("program")[0]["version"]))

    def details(row):
        return {name: row[name] for name in DETAILS}

    def known_of(step, owner):
        """node → its row's (token, log p)."""
        found = {}
        for row in of["candidate"].get(step, []):
            if (row["whose"] or "target") == owner:
                found.setdefault(row["node"], {}).setdefault(row["token"], row["logprob"])
        for node, row in enumerate(nodes):
            if owner == "target" and row["parent"] in found and row["tick"] // 5 == step and logprob(node) is not None:
                found[row["parent"]].setdefault(row["token"], logprob(node))
        return {node: sorted(row.items(), key=lambda one: -one[1]) for node, row in found.items()}

    prompt = len(head["prompt_ids"])
    places = {row["node"]: row["slot"] for row in of["input"][0] if row["node"] <= -2}
    cap.prompt(head["prompt_ids"], text=head["prompt"], logits=[known_of(0, "target")[0]],
               slots=[places[-2 - i] for i in range(prompt)])
    frontier = [0]
    for line in steps:
        step = line["step"]
        verdicts = of["verdict"].get(step, [])
        events = of["slot"].get(step, [])
        with cap.round() as r:
            drafts = line["drafts"]
            index = {draft["node"]: i for i, draft in enumerate(drafts)}
            for draft in drafts:
                node = nodes[draft["node"]]
                by = drafters[node["drafter"]]
                r.draft([draft["path"][-1]], [index.get(node["parent"], -1)], q=None if node["q"] == 1 else [node["q"]],
                        drafter=Drafter(by["name"], by["kind"], by["title"]), sent=draft["verdict"] != "withdrawn")
            if step:
                forwards, knows, done = {}, {}, {}
                for row in of["input"].get(step, []):
                    forwards.setdefault((row["whose"] or "target", row["forward"] or 0), []).append(row)
                for (owner, forward), rows in forwards.items():
                    # A drafter's slots are freed, and taken again, between its forwards.
                    changes = [row for row in events if (row["whose"] or "target") == owner and row["tick"] < 5 * step + 3]
                    taken = {(row["slot"], row["node"]) for row in rows}
                    ends = [i for i, row in enumerate(changes) if row["action"] in ("alloc", "reuse")
                            and (row["slot"], row["node"]) in taken]
                    told = done.get(owner, 0)
                    done[owner] = max(ends, default=told - 1) + 1
                    kv = by_action(changes[told:done[owner]])
                    if any(kv.values()):
                        r.kv(**kv, owner=owner, phase="forward")
                    r.rows([row["node"] if row["node"] <= -2 else Node(row["node"]) for row in rows],
                           positions=[row["position"] for row in rows], slots=[row["slot"] for row in rows],
                           naive_positions=[row["naive_position"] for row in rows], owner=owner)
                    known = knows.setdefault(owner, known_of(step, owner))
                    r.target([known.pop(row["node"], []) for row in rows], owner=owner)
            for owner in ("target", "draft", "head"):
                mine = [row for row in events if (row["whose"] or "target") == owner]
                memory = [row for row in of["memory"].get(step, []) if (row["whose"] or "target") == owner]
                if not mine and not memory:
                    continue
                figures = memory[0] if memory else {}
                late = [row for row in mine if row["tick"] >= 5 * step + 3]
                r.kv(**by_action(late), live=figures.get("live"),
                     reserved=figures.get("reserved"), moved_bytes=figures.get("moved_bytes", 0),
                     greedy=figures.get("greedy"), batch_beam=figures.get("batch_beam"), owner=owner,
                     bytes_per_token=head["kv_bytes_per_token"])
            r.time(**{name: us / 1000 for name, us in line["time_us"].items()})
            if beams:
                new = [row for row in verdicts if nodes[row["node"]]["tick"] == 5 * step + 2 and row["tick"] == 5 * step + 2]
                new.sort(key=lambda row: row["node"])
                at = {row["node"]: i for i, row in enumerate(new)}
                why = {at[row["node"]]: details(row) for row in new}
                for row in verdicts:
                    if row["node"] in frontier and row["node"] not in at and row["tick"] == 5 * step + 2:
                        why[("beam", frontier.index(row["node"]))] = details(row)
                ended = {row["node"]: row["score"] for row in of["sequence"].get(step, []) if row["rank"] == -1}
                r.level([nodes[row["node"]]["token"] for row in new],
                        [frontier.index(nodes[row["node"]]["parent"]) if step else -1 for row in new],
                        [nodes[row["node"]]["score"] for row in new],
                        kept=[at[row["node"]] for row in sorted(new, key=lambda row: row["rank"]) if row["verdict"] == "kept"],
                        finished=[(at[node], score) for node, score in ended.items()], why=why)
                frontier = [row["node"] for row in line["frontier"]]
                continue
            accepted = [index[row["node"]] for row in verdicts if row["verdict"] == "accepted"]
            own = [row for row in verdicts if row["verdict"] in OWN]
            why = {index[row["node"]]: details(row) for row in verdicts if row["verdict"] in ("accepted", "rejected")}
            if own:
                why["token"] = details(own[0])
            ended = [row["finish"] for row in of["sequence"].get(step, []) if row["rank"] == -1]
            r.commit(accepted, token=nodes[own[0]["node"]]["token"] if own else None, why=why, ends=ended[0] if ended else None)
    returned = [row for row in run.rows("sequence") if row["rank"] is not None and row["rank"] >= 0]
    cap.finish(sequences=[{"tokens": json.loads(row["tokens"]), "score": row["score"], "finish": row["finish"]} for row in returned])
    run.close()


def without_clock(text, panel):
    """When and by which program it was recorded, and when phases began, are each run's own."""
    lines = [line for line in text.splitlines() if not line.startswith(("# Recorded:", "recorded,", "program,"))]
    if panel == "timeline":
        head = next(i for i, line in enumerate(lines) if not line.startswith("#"))
        begun = lines[head].split(",").index("start_us")
        lines = lines[: head + 1] + [",".join(c for i, c in enumerate(line.split(",")) if i != begun) for line in lines[head + 1:]]
    return lines


class RoundTrip(Case):
    def check(self, *arguments):
        self.need_program()
        if not os.path.exists(MODEL):
            self.skipTest("the model is not installed")
        original, again, lines = self.path("original.tscap"), self.path("again.tscap"), self.path("run.jsonl")
        run_program("decode", "--model", MODEL, "--prompt", PROMPT, "--max-new-tokens", "12", "--capture", original, "--quiet",
                    *arguments)
        run_program("export", original, "--format", "jsonl", "-o", lines, "--quiet")
        write_again(original, lines, again)
        with open(lines) as file, triescope.open(again) as run:
            emitted = [token for line in file for token in json.loads(line)["emitted"]]
            if run.run["kind"] != "beams":
                self.assertEqual(run.tokens, emitted)
            self.assertEqual([row["text"] for row in run.rows("log") if row["level"] == "warning"], [])
        keep = os.environ.get("TRIESCOPE_KEEP")
        if keep:
            import shutil

            for name in (original, again):
                shutil.copy(name, keep)
        for step in ([], ["--step", "2"]):
            ours, theirs = csvs_of(original, *step), csvs_of(again, *step)
            for panel in ours:
                with self.subTest(panel=panel, step=step):
                    self.assertEqual(without_clock(theirs[panel], panel), without_clock(ours[panel], panel))

    def test_greedy(self):
        self.check("--method", "greedy")

    def test_beam_search(self):
        self.check("--method", "beam", "--set", "num_beams=3")

    def test_eagle3(self):
        self.check("--method", "eagle3", "--draft", os.path.join(SOURCE, "assets/draft/eagle3"))


if __name__ == "__main__":
    unittest.main()
