#!/usr/bin/env python3
"""Tests of the training, on a tiny random target: `test.py`. With `--model FILE.gguf`: also that target.py equals transformers."""

import json
import lzma
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import torch

import data
import decode
import export
import exported
import generate
import heads
import layers
import mixture
import simulate
import space
import target
import tasks
import text
import train
import trees

torch.set_num_threads(1)
C = {"d": 32, "layers": 8, "heads": 4, "kv_heads": 2, "head_dim": 8, "ff": 48, "vocab": 61, "theta": 10000.0, "eps": 1e-5, "context": 256,
     "eos": 2, "name": "tiny"}
MODEL = None


def tiny(dtype=torch.float32):
    g = torch.Generator().manual_seed(5)
    r = lambda *shape: torch.randn(*shape, generator=g) * 0.15
    weights = {"embed": r(C["vocab"], C["d"]) * 4, "norm": 1 + r(C["d"])}
    for i in range(C["layers"]):
        weights |= {f"{i}.attn_norm": 1 + r(32), f"{i}.ffn_norm": 1 + r(32), f"{i}.q": r(32, 32), f"{i}.k": r(16, 32), f"{i}.v": r(16, 32), f"{i}.o": r(32, 32),
                    f"{i}.gate": r(48, 32), f"{i}.up": r(48, 32), f"{i}.down": r(32, 48)}
    return target.Target(C, weights, "cpu", dtype)


def dialogues(count=12, seed=3, model=None):
    """Texts that the tiny target writes greedily after random given tokens."""
    model = model or tiny()
    rng = np.random.default_rng(seed)
    out = []
    for n in range(count):
        ids = rng.integers(3, C["vocab"], rng.integers(3, 9)).tolist()
        begin, end = len(ids), len(ids) + int(rng.integers(6, 20))
        while len(ids) < end:
            hidden, _ = model.teacher(torch.tensor([ids]))
            ids.append(int(model.logits(hidden[0, -1]).argmax()))
        kinds = np.zeros(len(ids), np.uint8)
        kinds[begin:] = 1
        out.append(data.Dialogue("part", n, n, ids, kinds, [[begin, len(ids)]]))
    return out


def make(kind, base, seed=1):
    torch.manual_seed(seed)
    options = {**train.COMMON, **train.RECIPES[kind], "vocabulary": list(range(0, 61, 2)) + [3, 5], "width": 16, "head_dim": 8, "ff": 24}
    head = heads.make(kind, base, options)
    with torch.no_grad():  # away from their starts at zero
        for p in head.parameters():
            p.add_(torch.randn(p.shape) * 0.1)
    return head, options


def setting(kind, count=5):
    model = tiny()
    base = heads.Base(model)
    texts = dialogues(count, model=model)
    features = train.features_of(kind, model)
    head, options = make(kind, base)
    return model, base, texts, features, head, options


class TargetForward(unittest.TestCase):
    def test_rows_of_different_lengths_decode_as_each_text_alone(self):
        model = tiny()
        texts = [[5, 9, 11, 40], [7], [3, 3, 8, 1, 30, 22, 9]]
        cache = target.RowCache(model, 3, 32)
        cache.fill(model, [2, 0], [texts[2], texts[0]])
        cache.fill(model, [1], [texts[1]])
        for _ in range(4):
            cache.prepare()
            hidden, _ = model.run(torch.tensor([[t[-1]] for t in texts]), cache.lengths[:, None], cache.attend)
            cache.lengths += 1
            for r, ids in enumerate(texts):
                alone, _ = model.teacher(torch.tensor([ids]))
                torch.testing.assert_close(hidden[r, 0], alone[0, -1], atol=1e-5, rtol=1e-5)
                ids.append(int(model.logits(hidden[r, 0]).argmax()))

    def test_states_entering_layers(self):
        model = tiny()
        ids = torch.tensor([[5, 9, 11]])
        final, taken = model.teacher(ids, (0, 2, 8))
        torch.testing.assert_close(taken[0], model.embed(ids))
        torch.testing.assert_close(target.rms_norm(taken[8], model.final_norm, 1e-5), final)

    def test_equals_transformers(self):
        if not MODEL:
            self.skipTest("give --model FILE.gguf")
        from transformers import AutoModelForCausalLM
        theirs = AutoModelForCausalLM.from_pretrained(MODEL.parent, gguf_file=MODEL.name, dtype=torch.float32).eval()
        ours = target.load_gguf(MODEL)
        ids = torch.tensor([text.Text(MODEL).prompt(
            "Summarize: A fox saw some grapes that hung from a vine, and did his best to reach them by jumping as high as he could. It was all in vain, "
            "for they were just out of reach: he gave up trying and walked away, remarking, \"I thought those grapes were ripe, but I see now they are sour.\"")])
        L = ours.config["layers"]
        take = train.layers_of(ours)
        with torch.no_grad():
            want = theirs(ids, output_hidden_states=True)
        final, taken = ours.teacher(ids, take)
        print(f"\nlargest difference: logits {(ours.logits(final) - want.logits).abs().max():.2e}", end="")
        torch.testing.assert_close(ours.logits(final), want.logits, atol=2e-4, rtol=2e-4)
        torch.testing.assert_close(final, want.hidden_states[L], atol=2e-4, rtol=2e-4)
        for i in take:
            difference = (taken[i] - want.hidden_states[i]).abs().max()
            print(f", state entering {i} {difference:.2e} of {taken[i].abs().max():.0f}", end="")
            torch.testing.assert_close(taken[i], want.hidden_states[i], atol=2e-4, rtol=2e-4)


class Words:
    """A tokenizer of one id a character, with the turns of text.py."""

    special, start, end, newline = {"<s>": 1, "</s>": 2}, 1, 2, [3]

    def encode(self, words):
        return [10 + ord(c) - ord("a") for c in words]

    def head(self, role):
        return [1, {"user": 4, "assistant": 5}[role], 3]

    def prefix(self):
        return self.head("user")


class Generation(unittest.TestCase):
    def run_dialogue(self, job, tokens, answer_limit=4, user_limit=3):
        """Feeds what the target would choose, whenever it is asked."""
        d, tokens = generate.Dialogue(7, job, Words(), 1, answer_limit, user_limit), list(tokens)
        while not d.finished:
            d.take(None if d.given else tokens.pop(0))
        self.assertEqual(tokens, [])
        return d

    def test_given_question_greedy_answer(self):
        d = self.run_dialogue(tasks.Job("x", "ab", False, True, 0.9, [], 0.9), [20, 21, 2])
        self.assertEqual(d.ids, [1, 4, 3, 10, 11, 2, 3, 1, 5, 3, 20, 21, 2])
        self.assertEqual(d.spans, [[10, 13, "greedy"]])

    def test_question_that_the_target_goes_on_with(self):
        d = self.run_dialogue(tasks.Job("x", "a", True, False, 0.9, [], 0.8), [30, 2, 20, 2])
        self.assertEqual(d.ids, [1, 4, 3, 10, 30, 2, 3, 1, 5, 3, 20, 2])
        self.assertEqual(d.spans, [[4, 6, "user"], [10, 12, "sampled"]])

    def test_answer_at_its_limit_is_closed_by_an_end_that_does_not_count_as_written(self):
        d = self.run_dialogue(tasks.Job("x", "a", False, True, 0.9, [], 0.9), [20, 21, 22, 23, 24])
        self.assertEqual(d.ids[-5:], [20, 21, 22, 23, 2])
        self.assertEqual(d.spans, [[9, 13, "greedy"]])

    def test_later_turns_given_and_written(self):
        d = self.run_dialogue(tasks.Job("x", "a", False, True, 0.9, ["b", None], 0.7), [20, 2, 21, 2, 31, 2, 22, 2])
        self.assertEqual(d.ids, [1, 4, 3, 10, 2, 3, 1, 5, 3, 20, 2, 3, 1, 4, 3, 11, 2, 3, 1, 5, 3, 21, 2, 3, 1, 4, 3, 31, 2, 3, 1, 5, 3, 22, 2])
        for begin, end, kind in d.spans:
            self.assertEqual((d.ids[end - 1], kind), (2, "user" if d.ids[begin] == 31 else "greedy"))
        self.assertEqual([d.ids[b] for b, _, _ in d.spans], [20, 21, 31, 22])

    def test_dialogue_without_a_question_is_dropped(self):
        d = self.run_dialogue(tasks.Job("x", "", True, True, 0.9, [], 0.8), [2])
        self.assertEqual([s for s in d.spans if s[2] != "user"], [])

    def test_a_line_that_a_kill_cut_off_is_written_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "dialogues-1-00000.jsonl"
            path.write_text('{"n":0,"ids":[1]}\n{"n":3,"ids":[1]}\n{"n":2,"i')
            self.assertEqual(generate.read_done(pathlib.Path(folder), 1), {0, 3})
            self.assertEqual(path.read_text(), '{"n":0,"ids":[1]}\n{"n":3,"ids":[1]}\n')
            self.assertEqual(generate.read_done(pathlib.Path(folder), 2), set())

    def test_a_dialogue_has_the_same_task_whatever_came_before(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "stories.txt"
            path.write_text("\n<|endoftext|>\n".join(f"Story {i} begins here, and it is long. " * 9 for i in range(5)))
            some = tasks.Tasks([path], 1)
            first = [some.job(n) for n in range(40)]
            self.assertEqual(some.job(17), first[17])
            self.assertEqual(tasks.Tasks([path], 1).job(30), first[30])
            self.assertNotEqual([tasks.Tasks([path], 2).job(n) for n in range(40)], first)


class Data(unittest.TestCase):
    def test_what_counts_is_written_by_the_target_and_two_ahead(self):
        _, _, texts, features, _, _ = setting("medusa")
        batch = features.batch(texts)
        for r, d in enumerate(texts):
            begin, end = d.spans[0]
            self.assertEqual(batch.sel[r][batch.valid[r]].tolist(), list(range(begin - 2, end - 2)))
            self.assertEqual([int(x) for x in batch.token(2)[r][batch.valid[r]]], d.ids[begin:end])
            for j in range(4):
                ok = batch.ahead(j)[r]
                self.assertEqual(batch.sel[r][ok].tolist(), list(range(begin - 2, end - 2 - j)))
                self.assertEqual(batch.token(2 + j)[r][ok].tolist(), d.ids[begin + j: end])

    def test_gap_between_two_answers_ends_a_path(self):
        features = data.Features(tiny(), ())
        d = data.Dialogue("p", 0, 0, list(range(3, 15)), np.array([0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0], np.uint8), [])
        batch = features.batch([d])
        self.assertEqual(batch.sel[0].tolist(), [1, 2, 6, 7, 8])
        self.assertEqual(batch.ahead(1)[0].tolist(), [True, False, True, True, False])
        self.assertEqual(batch.ahead(2)[0].tolist(), [False, False, True, False, False])

    def test_kept_features_are_the_computed_ones_and_grow_with_their_part(self):
        model = tiny()
        texts = dialogues(9, model=model)
        plain = data.Features(model, (2, 4, 5))
        with tempfile.TemporaryDirectory() as folder:
            for known in (4, 9):
                kept = data.Features(model, (2, 4, 5), folder)
                kept.keep(texts[:known], lambda s: None)
            path = next(pathlib.Path(folder).rglob("*.f16"))
            with open(path, "r+b") as file:  # a kill in the middle of a dialogue
                file.truncate(path.stat().st_size - 777)
            kept = data.Features(model, (2, 4, 5), folder)
            kept.keep(texts, lambda s: None)
            for have, want in zip(kept.states(texts), plain.states(texts)):
                torch.testing.assert_close(have, want, atol=2e-3, rtol=2e-3)

    def test_packed_files_are_read_like_plain_ones(self):
        line = '{"n": 47, "task": "free", "ids": [1, 4, 9, 2], "spans": [[2, 4, "greedy"]]}\n'
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "dialogues-1-00000.jsonl").write_text(line)
            (pathlib.Path(folder) / "dialogues-2-00000.jsonl.xz").write_bytes(lzma.compress(line.replace("47", "48").encode()))
            (pathlib.Path(folder) / "dialogues-3-00000.f16").write_text("not text")
            plain, packed = data.read(folder, 64)
            (pathlib.Path(folder) / "dialogues-1-00000.jsonl.xz").write_bytes(lzma.compress(line.encode()))
            with self.assertRaisesRegex(SystemExit, "packed and plain"):
                data.read(folder, 64)
        self.assertEqual([(d.part, d.n, d.ids, d.spans) for d in (plain, packed)],
                         [("dialogues-1-00000", 47, [1, 4, 9, 2], [[2, 4]]), ("dialogues-2-00000", 48, [1, 4, 9, 2], [[2, 4]])])

    def test_batches_hold_every_dialogue_once_and_depend_on_seed_and_epoch(self):
        texts = dialogues(20)
        flat = lambda plan: [d.n for b in plan for d in b]
        self.assertEqual(sorted(flat(data.plan(texts, 60, 1, 0))), list(range(20)))
        self.assertEqual(flat(data.plan(texts, 60, 1, 0)), flat(data.plan(texts, 60, 1, 0)))
        self.assertNotEqual(flat(data.plan(texts, 60, 1, 0)), flat(data.plan(texts, 60, 1, 1)))
        for batch in data.plan(texts, 60, 1, 0):
            self.assertTrue(len(batch) == 1 or max(len(d.ids) for d in batch) * len(batch) <= 60)


def mask_rows(head, model, text, n):
    """Logits of the n masks whose root ends the text, by a plain loop: a row at a time, a head at a time."""
    c = model.config
    kept = [[] for _ in range(c["layers"])]

    def row(x, position, of_mask):
        def attend(layer, q, k, v):
            kept[layer].append((k[0, :, 0], v[0, :, 0]))
            out = []
            for h in range(c["heads"]):
                g = h // (c["heads"] // c["kv_heads"])
                columns = [(k[g], v[g]) for k, v in kept[layer]]
                if of_mask:
                    columns += [(head.prefix_keys[layer, g, p], head.prefix_values[layer, g, p]) for p in range(head.prefix_keys.shape[2])]
                weight = torch.stack([q[0, h, 0] @ k / c["head_dim"] ** 0.5 for k, _ in columns]).softmax(0)
                out.append(weight @ torch.stack([v for _, v in columns]))
            return torch.stack(out)[None, :, None]

        return model.run_embedded(x[None, None], torch.tensor([[position]]), attend)[0][0, 0]

    for position, token in enumerate(text):
        row(model.embedding[token], position, False)
    return [model.logits(row(head.mask_embeddings[j], len(text) + j, True)) for j in range(n)]


def one_by_one(head, model, ids, i, depth):
    """Drafts of a chain at state i, root ids[i+1], by a plain loop over one text: Path caches, one token at a time."""
    if head.kind == "space":
        return [int(x.argmax()) for x in mask_rows(head, model, ids[: i + 1], min(depth, head.depth))]
    final, taken = model.teacher(torch.tensor([ids[: i + 1]]), train.layers_of(model))
    batch = data.Batch(torch.tensor([ids[: i + 2]]), final, torch.stack([taken[k] for k in train.layers_of(model)], 2), None, None)
    positions = torch.arange(i + 1)[None]
    tokens = torch.tensor([ids[1: i + 2]])
    drafts = []
    if head.kind == "medusa":
        for h in range(depth):
            x = final[0, i]
            block = getattr(head, str(h))[0].linear
            out = x + torch.nn.functional.silu(block.weight @ x + block.bias)
            drafts.append(int((model.embedding @ out).argmax()))
        return drafts
    if head.kind == "hydra":
        prefix = head.start(final, positions, layers.Path())[0, -1]
        for h in range(depth):
            path = [ids[i + 1]] + drafts
            out = head.propose(h, prefix, [model.embedding[t] for t in path])
            drafts.append(int((model.embedding @ out).argmax()))
        return drafts
    if head.kind == "draft":
        caches = [layers.Path() for _ in head.model.layers]
        out = head.step(batch.ids, torch.arange(i + 2)[None], caches)[:, -1:]
        for j in range(depth):
            drafts.append(int(head.logits(out)[0, -1].argmax()))
            out = head.step(torch.tensor([[drafts[-1]]]), torch.tensor([[i + 2 + j]]), caches)
        return drafts
    cache = layers.Path()
    out = head.step(head.features(batch), head.base.embed(tokens), positions, cache)[:, -1:]
    for j in range(depth):
        drafts.append(int(head.ids(head.logits(out)[0, -1].argmax())))
        out = head.step(out, head.base.embed(torch.tensor([[drafts[-1]]])), torch.tensor([[i + 1 + j]]), cache)
    return drafts


class Rollouts(unittest.TestCase):
    @torch.no_grad()
    def test_drafts_of_all_positions_at_once_equal_a_plain_loop(self):
        for kind in train.RECIPES:
            with self.subTest(kind):
                model, _, texts, features, head, _ = setting(kind, 3)
                batch = features.batch(texts)
                depth = min(4, head.depth)
                drafts = simulate.chain_drafts(head, batch, depth)
                for r, d in enumerate(texts):
                    for m in range(int(batch.valid[r].sum())):
                        self.assertEqual(drafts[r, m].tolist(), one_by_one(head, model, d.ids, int(batch.sel[r, m]), depth))

    @torch.no_grad()
    def test_masks_of_all_roots_at_once_equal_a_row_at_a_time(self):
        model, _, texts, features, head, _ = setting("space", 3)
        old, space.SLOTS = space.SLOTS, 4
        try:
            batch = features.batch(texts)
            got = torch.stack([x for _, x in head.rollout(batch, 3, own=True)], 2)
        finally:
            space.SLOTS = old
        torch.testing.assert_close(batch.final, model.teacher(batch.ids)[0])  # the text's own rows see neither masks nor prefix
        for r, d in enumerate(texts):
            for m in range(int(batch.valid[r].sum())):
                torch.testing.assert_close(got[r, m], torch.stack(mask_rows(head, model, d.ids[: int(batch.sel[r, m]) + 1], 3)), atol=1e-4, rtol=1e-4)

    def test_unrolled_attention_equals_a_loop_over_queries(self):
        g = torch.Generator().manual_seed(2)
        r = lambda m: torch.randn(2, 3, m, 4, generator=g)
        sel = torch.tensor([[0, 2, 4], [1, 1, 3]])
        cache = layers.Unrolled(sel)
        k, v = r(5), r(5)
        cache.attend(r(5), k, v)
        own = []
        for step in range(3):
            q, ks, vs = r(3), r(3), r(3)
            own.append((ks, vs))
            got = cache.attend(q, ks, vs)
            for b in range(2):
                for n in range(3):
                    for m in range(3):
                        keys = [k[b, n, t] for t in range(int(sel[b, m]) + 1)] + [x[b, n, m] for x, _ in own]
                        values = [v[b, n, t] for t in range(int(sel[b, m]) + 1)] + [x[b, n, m] for _, x in own]
                        weight = torch.softmax(torch.stack(keys) @ q[b, n, m] / 2.0, 0)
                        torch.testing.assert_close(got[b, n, m], weight @ torch.stack(values))

    @torch.no_grad()
    def test_training_feeds_the_real_tokens(self):
        for kind in ("hydra", "eagle1", "eagle3", "draft"):
            with self.subTest(kind):
                _, _, texts, features, head, _ = setting(kind, 1)
                depth = min(3, head.depth)
                batch = features.batch(texts)
                before = [x for _, x in head.rollout(batch, depth, own=False)]
                changed = features.batch(texts)
                m = 2
                changed.ids[0, int(batch.sel[0, m]) + 2] += 1  # the first drafted token of slot m: steps from the second on see it
                after = [x for _, x in head.rollout(changed, depth, own=False)]
                self.assertTrue(torch.equal(before[0][0, m], after[0][0, m]))
                self.assertFalse(torch.equal(before[1][0, m], after[1][0, m]))

    def test_loss_sees_the_distribution_of_the_token_that_is_drafted(self):
        # A head that says what the target says: its loss at step 0 is the target's entropy, and no other shift reaches that.
        model, base, texts, features, _, _ = setting("medusa", 4)
        batch = features.batch(texts)

        class Oracle(heads.Head):
            kind = "medusa"

            def __init__(self, base, shift):
                super().__init__(base)
                self.shift = shift

            def rollout(self, batch, depth, own):
                for j in range(depth):
                    x = heads.at(batch.final, (batch.sel + j + self.shift).clamp(max=batch.ids.shape[1] - 1))
                    yield x, self.base.logits(x)

        options = {**train.COMMON, "depth": 3, "hard": 0.0, "decay": 1.0}
        loss = {s: float(train.loss_of(Oracle(base, s), batch, options, lambda: torch.autocast("cpu", enabled=False))[0]) for s in (0, 1, 2)}
        entropy = 0.0
        for j in range(3):
            ok = batch.ahead(j)
            p = model.logits(heads.at(batch.final, batch.sel + 1 + j if j == 0 else (batch.sel + 1 + j).clamp(max=batch.ids.shape[1] - 1))[ok]).softmax(-1)
            entropy += float(-(p * p.log()).sum(-1).mean())
        self.assertAlmostEqual(loss[1], entropy, places=4)
        self.assertGreater(loss[0], entropy + 0.1)
        self.assertGreater(loss[2], entropy + 0.1)
        _, named = train.loss_of(Oracle(base, 1), batch, options, lambda: torch.autocast("cpu", enabled=False))
        self.assertEqual(named["top1_1"], 1.0)
        self.assertEqual(named["top1_3"], 1.0)


class Simulation(unittest.TestCase):
    @torch.no_grad()
    def test_walk_equals_speculative_decoding_by_brute_force(self):
        for kind in ("eagle3", "medusa", "space"):
            model, _, texts, features, head, _ = setting(kind, 4)
            tally = simulate.chain_tally(head, [(features.batch(texts), texts)], 3)
            tokens = forwards = 0
            for d in texts:
                begin, end = d.spans[0]
                text = d.ids[: begin + 1]  # the prompt's forward gave one token
                while len(text) < end:
                    drafts = one_by_one(head, model, text, len(text) - 2, 3)
                    hidden, _ = model.teacher(torch.tensor([text + drafts]))
                    best = model.logits(hidden[0]).argmax(-1).tolist()
                    forwards += 1
                    for draft in drafts + [None]:
                        text.append(best[len(text) - 1])
                        tokens += 1
                        if len(text) == end or text[-1] != draft:
                            break
                self.assertEqual(text, d.ids[:end])
            self.assertEqual((tally.tokens, tally.forwards), (tokens, forwards))

    def test_space_run_row_by_row_writes_the_greedy_text_in_the_simulated_forwards(self):
        total = 0
        for own_tokens in (False, True):
            model, _, texts, features, head, _ = setting("space", 4)
            if own_tokens:  # masks that are right now and then: the tiny target repeats itself
                with torch.no_grad():
                    head.mask_embeddings.copy_(model.embedding[[d.ids[-1] for d in texts[:3]]])
            for d in texts:
                begin, end = d.spans[0]
                answer, counts = decode.space(head, d.ids[:begin], end - begin)
                total += sum(counts)
                self.assertEqual(answer, d.ids[begin: begin + len(answer)])
                self.assertTrue(len(answer) == end - begin or answer[-1] == C["eos"])
                d.spans = [[begin, begin + len(answer)]]
                tally = simulate.chain_tally(head, [(features.batch([d]), [d])], 3)
                self.assertEqual((tally.tokens, tally.forwards), (len(answer) - 1, len(counts)))
        self.assertGreater(total, 0)

    def test_walk_stops_at_the_end(self):
        self.assertEqual(simulate.walk(lambda i: 2, 4, 12), (7, 3, [2, 2, 2]))
        self.assertEqual(simulate.walk(lambda i: 0, 4, 6), (1, 1, [0]))
        self.assertEqual(simulate.walk(lambda i: 0, 4, 5), (0, 0, []))


class Trees(unittest.TestCase):
    def test_static_tree_takes_the_likeliest_paths_parents_first(self):
        tree = trees.static_tree([[0.5, 0.31, 0.1], [0.6, 0.1, 0.05]], 5)
        self.assertEqual(tree, [(0,), (1,), (0, 0), (1, 0), (2,)])

    @torch.no_grad()
    def test_chain_is_the_static_tree_of_best_ranks(self):
        for kind in train.RECIPES:
            with self.subTest(kind):
                _, _, texts, features, head, _ = setting(kind, 4)
                depth = min(3, head.depth)
                batches = [(features.batch(texts), texts)]
                chain = simulate.chain_tally(head, batches, depth)
                tree = trees.static_tally(head, batches, [(0,) * n for n in range(1, depth + 1)], depth)
                self.assertEqual((chain.tokens, chain.forwards, chain.passed), (tree.tokens, tree.forwards, tree.passed))

    @torch.no_grad()
    def test_dynamic_tree_holds_each_path_with_the_score_that_it_has_alone(self):
        for kind in ("eagle1", "eagle3"):
            with self.subTest(kind):
                model, _, texts, features, head, _ = setting(kind, 2)
                batch = features.batch(texts)
                tree = trees.DynamicTree(head, batch, 1, top=3, depth=2, nodes=8)
                for i in (2, 3, 6):  # states rise by accepted runs
                    got = tree.draft(i)
                    self.assertEqual(len(got), 8)
                    for path, score in got.items():
                        self.assertTrue(len(path) == 1 or path[:-1] in got)
                        ids = torch.cat((batch.ids[1, : i + 2], torch.tensor(path)))[None]
                        alone = data.Batch(torch.nn.functional.pad(ids, (0, 8)), torch.nn.functional.pad(batch.final[1:2, : i + 1], (0, 0, 0, ids.shape[1] + 8 - i - 1)),
                                           torch.nn.functional.pad(batch.raw[1:2, : i + 1], (0, 0, 0, 0, 0, ids.shape[1] + 8 - i - 1)),
                                           torch.tensor([[i]]), torch.tensor([[True]]))
                        want, column = 0.0, {int(v): c for c, v in enumerate(head.ids(torch.arange(61 if kind == "eagle1" else 33)))}
                        for (_, logits), token in zip(head.rollout(alone, len(path), own=False), path):
                            want += float(logits[0, 0].log_softmax(-1)[column[token]])
                        self.assertAlmostEqual(score, want, places=4)


class Training(unittest.TestCase):
    def trainer(self, kind, folder, texts, **more):
        model = tiny()
        base = heads.Base(model)
        options = {**train.COMMON, **train.RECIPES[kind], "seed": 4, "epochs": 6, "budget": 60, "width": 16, "head_dim": 8, "ff": 24, "max_tokens": 64,
                   "frequent": torch.tensor(train.frequent(texts, 31, 61)), "negatives": 3, "vocabulary": 31, "lr": 3e-3, **more}
        torch.manual_seed(4)
        head = heads.make(kind, base, {**options, "vocabulary": options["frequent"].tolist()})
        return train.Trainer(head, train.features_of(kind, model), texts, texts[:3], options, folder, False)

    def test_stopped_and_resumed_run_has_the_same_weights_to_the_bit(self):
        texts = dialogues(10)
        for kind in train.RECIPES:
            with self.subTest(kind), tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
                whole = self.trainer(kind, pathlib.Path(a), texts, noise=0.1 if kind == "eagle1" else 0.0)
                whole.total = 9
                whole.run(every=10**6, stop=[])
                first = self.trainer(kind, pathlib.Path(b), texts, noise=0.1 if kind == "eagle1" else 0.0)
                first.total = 9
                for (_, batch), _ in zip(first.batches(), range(4)):
                    first.train_step(batch)
                train.save(pathlib.Path(b) / "checkpoint.pt", first.checkpoint())
                second = self.trainer(kind, pathlib.Path(b), texts, noise=0.1 if kind == "eagle1" else 0.0)
                second.load(torch.load(pathlib.Path(b) / "checkpoint.pt", weights_only=False))
                self.assertEqual(second.step, 4)
                second.run(every=10**6, stop=[])
                for name, value in whole.head.state_dict().items():
                    self.assertTrue(torch.equal(value, second.head.state_dict()[name]), name)

    def test_loss_falls(self):
        texts = dialogues(10)
        for kind in train.RECIPES:
            with self.subTest(kind), tempfile.TemporaryDirectory() as a:
                trainer = self.trainer(kind, pathlib.Path(a), texts, epochs=20)
                got = [trainer.train_step(batch) for (_, batch), _ in zip(trainer.batches(), range(60))]
                got = [x["loss"] for x in got if x]
                self.assertLess(sum(got[-8:]), 0.9 * sum(got[:8]))

    def test_held_out_dialogues_are_never_trained_on(self):
        texts = dialogues(2)
        for n, d in zip((7, 8), texts):
            d.n = n
        self.assertEqual([d.held_out for d in texts], [True, False])

    def test_draft_vocabulary_is_what_was_written_most_often(self):
        d = data.Dialogue("p", 0, 0, [5, 5, 5, 9, 9, 7, 8], np.array([0, 0, 0, 1, 1, 1, 0], np.uint8), [])
        self.assertEqual(train.frequent([d], 3, 12, [2]), [2, 7, 9])
        self.assertEqual(train.frequent([d], 4, 12, [2]), [2, 5, 7, 9])


class Export(unittest.TestCase):
    WANT = {  # heads.md, A1, A3, A5, A6; "space" is this project's own
        "space": {"mask_embeddings": (3, 32), "prefix_keys": (8, 2, 16, 8), "prefix_values": (8, 2, 16, 8)},
        "eagle1": {"fc.weight": (32, 64), "fc.bias": (32,), "layers.0.self_attn.q_proj.weight": (32, 32), "layers.0.self_attn.k_proj.weight": (16, 32),
                   "layers.0.self_attn.v_proj.weight": (16, 32), "layers.0.self_attn.o_proj.weight": (32, 32), "layers.0.mlp.gate_proj.weight": (48, 32),
                   "layers.0.mlp.up_proj.weight": (48, 32), "layers.0.mlp.down_proj.weight": (32, 48), "layers.0.post_attention_layernorm.weight": (32,)},
        "eagle3": {"fc.weight": (32, 96), "midlayer.input_layernorm.weight": (32,), "midlayer.hidden_norm.weight": (32,),
                   "midlayer.self_attn.q_proj.weight": (32, 64), "midlayer.self_attn.k_proj.weight": (16, 64), "midlayer.self_attn.v_proj.weight": (16, 64),
                   "midlayer.self_attn.o_proj.weight": (32, 32), "midlayer.post_attention_layernorm.weight": (32,), "midlayer.mlp.gate_proj.weight": (48, 32),
                   "midlayer.mlp.up_proj.weight": (48, 32), "midlayer.mlp.down_proj.weight": (32, 48), "norm.weight": (32,), "lm_head.weight": (33, 32),
                   "d2t": (33,), "t2d": (61,)},
        "medusa": {f"{h}.0.linear.{n}": s for h in range(5) for n, s in (("weight", (32, 32)), ("bias", (32,)))},
        "hydra": {f"hydra_mlp.{i}.1.{part}.{n}": s for i in range(3) for part in ("linear", "res_connection")
                  for n, s in (("weight", (32, (i + 2) * 32)), ("bias", (32,)))} | {
            "prefix_embeding_layer.layers.0.input_layernorm.weight": (32,), "prefix_embeding_layer.layers.0.post_attention_layernorm.weight": (32,),
            "prefix_embeding_layer.norm.weight": (32,), "prefix_embeding_layer.layers.0.self_attn.q_proj.weight": (32, 32),
            "prefix_embeding_layer.layers.0.self_attn.k_proj.weight": (16, 32), "prefix_embeding_layer.layers.0.self_attn.v_proj.weight": (16, 32),
            "prefix_embeding_layer.layers.0.self_attn.o_proj.weight": (32, 32), "prefix_embeding_layer.layers.0.mlp.gate_proj.weight": (48, 32),
            "prefix_embeding_layer.layers.0.mlp.up_proj.weight": (48, 32), "prefix_embeding_layer.layers.0.mlp.down_proj.weight": (32, 48)},
        "draft": {"model.embed_tokens.weight": (61, 16), "model.norm.weight": (16,)} | {
            f"model.layers.{i}.{n}.weight": s for i in range(2) for n, s in (
                ("input_layernorm", (16,)), ("post_attention_layernorm", (16,)), ("self_attn.q_proj", (16, 16)), ("self_attn.k_proj", (16, 16)),
                ("self_attn.v_proj", (16, 16)), ("self_attn.o_proj", (16, 16)), ("mlp.gate_proj", (24, 16)), ("mlp.up_proj", (24, 16)), ("mlp.down_proj", (16, 24)))},
    }

    def test_names_and_shapes_are_the_published_ones(self):
        base = heads.Base(tiny())
        for kind, want in self.WANT.items():
            with self.subTest(kind):
                head, options = make(kind, base)
                _, tensors, config = export.content(kind, head.state_dict(), C, options, "target", (2, 4, 5))
                self.assertEqual({k: tuple(v.shape) for k, v in tensors.items()}, want)
                for name, tensor in tensors.items():
                    self.assertEqual(tensor.dtype, {"d2t": torch.int64, "t2d": torch.bool}.get(name, torch.float16))

    def test_an_exported_head_is_what_training_begins_with(self):
        import safetensors.torch

        base = heads.Base(tiny())
        with tempfile.TemporaryDirectory() as folder:
            for kind in train.RECIPES:
                head, options = make(kind, base, seed=5)
                name, tensors, config = export.content(kind, head.state_dict(), C, options, "target", (2, 4, 5))
                (pathlib.Path(folder) / kind).mkdir()
                safetensors.torch.save_file(tensors, str(pathlib.Path(folder) / kind / name))
                (pathlib.Path(folder) / kind / "config.json").write_text(json.dumps(config))
                opened, found = exported.open_exported(pathlib.Path(folder) / kind, tiny())
                self.assertEqual(found, kind)
                for name, value in head.state_dict().items():
                    torch.testing.assert_close(opened.state_dict()[name].float(), value.float(), atol=1e-3, rtol=1e-3)
            for kind in train.RECIPES:
                with self.subTest(kind):
                    head, _ = make(kind, base, seed=6)
                    exported.fill(head, exported.begin_with(pathlib.Path(folder) / kind, kind))
                    for name, value in make(kind, base, seed=5)[0].state_dict().items():
                        torch.testing.assert_close(head.state_dict()[name].float(), value.float(), atol=1e-3, rtol=1e-3)
                    for other in set(train.RECIPES) - {kind}:
                        with self.assertRaisesRegex(SystemExit, f"expected a {kind} head"):
                            exported.begin_with(pathlib.Path(folder) / other, kind)
            with self.assertRaisesRegex(SystemExit, "found 0"):
                exported.begin_with(pathlib.Path(folder), "medusa")

    def test_d2t_holds_offsets(self):
        head, _ = make("eagle3", heads.Base(tiny()))
        ids = sorted(list(range(0, 61, 2)) + [3, 5])
        self.assertEqual((torch.arange(33) + head.d2t).tolist(), ids)
        self.assertEqual(torch.nonzero(head.t2d)[:, 0].tolist(), ids)

    def test_draft_model_equals_transformers(self):
        try:
            from transformers import LlamaConfig, LlamaForCausalLM
        except ImportError:
            self.skipTest("transformers is not installed")
        head, options = make("draft", heads.Base(tiny()))
        _, tensors, config = export.content("draft", head.state_dict(), C, options, "target")
        model = LlamaForCausalLM(LlamaConfig(**{k: v for k, v in config.items() if k not in ("architectures", "torch_dtype")})).eval()
        model.load_state_dict({k: v.float() for k, v in tensors.items()}, strict=False)
        model.tie_weights()
        head.load_state_dict({k: v.float() for k, v in tensors.items()})
        ids = torch.tensor([[4, 9, 30, 21, 60, 8]])
        with torch.no_grad():
            ours = head.logits(head.step(ids, torch.arange(6)[None], [layers.Path() for _ in range(2)]))
            torch.testing.assert_close(ours, model(ids).logits, atol=1e-4, rtol=1e-4)


class MixtureOfExperts(unittest.TestCase):
    SIZES = {**mixture.SIZES, "d": 32, "layers": 2, "heads": 2, "kv_heads": 2, "head_dim": 16, "ff": 24, "experts": 4, "vocab": 300}
    RECIPE = {**mixture.RECIPE, "rows": 4, "length": 16, "warmup": 2}
    TEXT = ["the cat sat on the mat", "the dog sat on the log"] * 20

    def training(self):
        tok = mixture.make_tokenizer(self.TEXT, self.SIZES["vocab"])
        return tok, mixture.Training(mixture.stream(tok, self.TEXT), self.SIZES, self.RECIPE, steps=40)

    def test_learns_and_a_stop_changes_nothing(self):
        _, whole = self.training()
        losses = [whole.train_step()[0] for _ in range(40)]
        self.assertLess(losses[-1], 0.6 * losses[0])
        _, part = self.training()
        for _ in range(7):
            part.train_step()
        _, rest = self.training()
        rest.load(part.state())
        while rest.step < 40:
            rest.train_step()
        for ours, theirs in zip(rest.model.parameters(), whole.model.parameters()):
            torch.testing.assert_close(ours, theirs, atol=0, rtol=0)

    def test_experts_are_mixed_row_by_row(self):
        torch.manual_seed(3)
        block = mixture.Experts(self.SIZES)
        x = torch.randn(9, 32)
        mixed, balance = block(x)
        for row in range(9):
            p = block.gate(x[row]).softmax(-1)
            best = p.topk(2).indices
            by_hand = sum(p[e] / p[best].sum() * block.experts[e](x[row]) for e in best)
            torch.testing.assert_close(mixed[row], by_hand, atol=1e-6, rtol=1e-5)
        self.assertGreaterEqual(balance.item(), 0.5)

    def test_written_folder_equals_transformers(self):
        try:
            from transformers import AutoModelForCausalLM
        except ImportError:
            self.skipTest("transformers is not installed")
        tok, training = self.training()
        with tempfile.TemporaryDirectory() as folder:
            mixture.write(pathlib.Path(folder), training.model.half().float(), tok)
            model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        ids = torch.tensor([tok.encode("the cat sat on the log").ids])
        with torch.no_grad():
            torch.testing.assert_close(training.model(ids)[0], model(ids).logits, atol=1e-4, rtol=1e-4)


if __name__ == "__main__":
    if "--model" in sys.argv:
        at = sys.argv.index("--model")
        MODEL = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at: at + 2]
    unittest.main()
