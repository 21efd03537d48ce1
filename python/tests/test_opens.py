"""What the package writes opens in the program: info, explain, every panel, compare."""

import json
import math
import random
import subprocess
import sys

from tests.support import PROGRAM, SOURCE, Case, empty_panels, run_program

import triescope
from triescope import Drafter, Recorder
from triescope.importer import import_file


def word(token):
    return f" w{token}"


def text_run(path, seed=0):
    with Recorder(path, tokenizer=word, method="my_greedy", kind="text", settings={"do_sample": False}) as cap:
        cap.prompt([1, 2, 3], logits=[float(i == 7) for i in range(20)])
        with cap.round() as r:
            r.commit([], token=7)
        for step in range(6):
            with cap.round() as r:
                r.rows([-1], slots=[3 + step])
                r.target([[float(i == (step + seed * (step > 3)) % 20) for i in range(20)]])
                r.commit([], token=(step + seed * (step > 3)) % 20)


def drafts_run(path, seed=0):
    draw = random.Random(seed)
    with Recorder(path, tokenizer=word, method="my_tree", title="My tree", kind="drafts", settings={"temperature": 1.0},
                  model={"name": "m", "layers": 2, "kv_heads": 2, "head_dim": 8, "dtype": "f32", "vocab_size": 50}) as cap:
        cap.prompt([1, 2, 3])
        for _ in range(8):
            with cap.round() as r:
                tokens, parents = [], []
                for i in range(draw.randrange(1, 9)):
                    parent = draw.randrange(-1, i)
                    taken = {t for t, p in zip(tokens, parents) if p == parent}
                    tokens.append(draw.choice([t for t in range(50) if t not in taken]))
                    parents.append(parent)
                r.draft(tokens, parents, q=[0.1] * len(tokens), drafter=Drafter("small", "model"))
                lines = []
                for i in range(-1, len(tokens)):
                    above = {i}
                    while i >= 0:
                        i = parents[i]
                        above.add(i)
                    lines.append([one in above for one in range(-1, len(tokens))])
                r.rows(list(range(-1, len(tokens))), mask=lines)
                r.target([[draw.gauss(0, 1) for _ in range(50)] for _ in range(len(tokens) + 1)])
                path_of, at = [], -1
                while draw.random() < 0.6:
                    below = [i for i, p in enumerate(parents) if p == at]
                    if not below:
                        break
                    at = draw.choice(below)
                    path_of.append(at)
                taken = {t for t, p in zip(tokens, parents) if p == at}
                r.commit(path_of, token=draw.choice([t for t in range(50) if t not in taken]), u={"token": 0.4, 0: 0.2})
                r.time(draft=1, forward=5, accept=0.1)
                r.metric("entropy", draw.random())


def beams_run(path, seed=0):
    draw = random.Random(seed)
    with Recorder(path, tokenizer=word, method="my_beams", kind="beams", settings={"num_beams": 3}, width=3,
                  model={"eos_token_ids": [0]}) as cap:
        cap.prompt([1, 2])
        sums = [0.0]
        for step in range(6):
            with cap.round() as r:
                found = []
                rows = [sorted(((t, math.log(draw.uniform(0.01, 0.2))) for t in draw.sample(range(1, 40), 6)),
                               key=lambda one: -one[1]) for _ in sums]
                if step:
                    r.rows(list(range(len(sums))))
                    r.target(rows)
                for beam, row in enumerate(rows):
                    found += [(sums[beam] + logprob, beam if step else -1, token) for token, logprob in row]
                found.sort(reverse=True)
                found = found[:6]
                r.level([t for _, _, t in found], [b for _, b, _ in found], [s for s, _, _ in found], kept=[0, 1, 2])
                sums = [s for s, _, _ in found[:3]]


class Opens(Case):
    def test_every_panel_info_explain_and_compare(self):
        self.need_program()
        for make in (text_run, drafts_run, beams_run):
            path, other = self.path(), self.path("other.tscap")
            make(path)
            make(other, seed=1)
            info = run_program("info", path).stdout
            self.assertIn("done", info)
            explained = run_program("explain", path).stdout
            self.assertEqual(explained.count(", accept\n"), len(triescope.open(path).steps))
            self.assertEqual(empty_panels(path), [], make.__name__)
            run_program("export", path, other, "--panel", "text", "--format", "svg", "-o", self.path("x.svg"), "--quiet")
            run_program("export", path, "--format", "html", "-o", self.path("x.html"), "--quiet")
            run_program("export", path, "--format", "jsonl", "-o", self.path("x.jsonl"), "--quiet")
            with open(self.path("x.jsonl")) as file:
                steps = [json.loads(line) for line in file]
            with triescope.open(path) as run:
                emitted = [t for step in steps for t in step["emitted"]]
                if make is not beams_run:
                    self.assertEqual(emitted, run.tokens)

    def test_a_capture_that_only_counts(self):
        self.need_program()
        with open(self.path("v.json"), "w") as file:
            file.write('{"per_step_accepted": [2, 0, 3], "per_step_drafted": [3, 3, 3]}')
        (name,) = import_file(self.path("v.json"))
        self.assertEqual([(s.drafted, s.accepted, s.emitted) for s in triescope.open(name).steps],
                         [(0, 0, 0), (3, 2, 3), (3, 0, 1), (3, 3, 4)])
        self.assertEqual(empty_panels(name), [])


class Commands(Case):
    def call(self, *arguments, **more):
        return subprocess.run([sys.executable, "-m", "triescope", *arguments], cwd=SOURCE + "/python", stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, **more)

    def test_a_step_as_text(self):
        drafts_run(self.path())
        done = self.call("text", self.path(), "--step", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word_of in ("step 3", "tree\n", "accepted", "rejected", "rows of the target's forward 0", "entropy = "):
            self.assertIn(word_of, done.stdout)
        self.assertEqual(self.call("text", self.path(), "--step", "99").returncode, 3)
        self.assertIn("expected a step from 0 to 8", self.call("text", self.path(), "--step", "99").stderr)

    def test_lines_of_another_program(self):
        with open(self.path("lines.jsonl"), "w") as file:
            file.write('{"step": 0, "n_draft": 2, "n_accepted": 1, "pos": [{"tok": " a", "p": 0.9, "acc": true, "top": " a"},'
                       ' {"tok": " b", "p": 0.1, "acc": false, "top": [[" c", 0.8], [" b", 0.1]]}]}\n'
                       '{"step": 1, "n_draft": 1, "n_accepted": 1, "pos": [{"tok": " d", "p": 0.7, "acc": true}]}\n')
        done = self.call("import", self.path("lines.jsonl"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with triescope.open(self.path("lines.tscap")) as run:
            self.assertEqual(run.text, " a c d\u2026")
            self.assertEqual([(s.drafted, s.accepted) for s in run.steps], [(0, 0), (2, 1), (1, 1)])
            self.assertEqual([row["p"] for row in run.rows("verdict") if row["verdict"] == "rejected"], [0.1])
        with open(self.path("bad.jsonl"), "w") as file:
            file.write('{"step": 0, "n_draft": "two"}\n')
        done = self.call("import", self.path("bad.jsonl"))
        self.assertEqual((done.returncode, "expected n_draft to be a count" in done.stderr), (3, True), done.stderr)

    def test_view_without_a_display_writes_the_page(self):
        self.need_program()
        text_run(self.path())
        import os

        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        environment["TRIESCOPE"] = PROGRAM
        done = self.call("view", self.path(), env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.path("run.html")))
        environment["TRIESCOPE"] = self.path("none")
        self.assertEqual(self.call("view", self.path(), env=environment).returncode, 4)
