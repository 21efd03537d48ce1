"""The adapter against the real library. Needs torch, transformers and gguf, and is skipped without them.
TRIESCOPE_ADAPTER_PROMPTS says how many prompts (2)."""

import json
import os
import unittest

from tests.support import MODEL, SOURCE, Case, panel_names, csv_of

try:
    import torch
    import transformers
except ImportError:
    transformers = None

import triescope

COUNT = int(os.environ.get("TRIESCOPE_ADAPTER_PROMPTS", "2"))
_loaded = []


def load():
    if not _loaded:
        torch.manual_seed(0)
        folder, file = os.path.split(MODEL)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file)
        model.generation_config.pad_token_id = model.generation_config.eos_token_id or 2
        model.generation_config.eos_token_id = 2
        _loaded.append((model, tokenizer))
    return _loaded[0]


def prompts():
    with open(os.path.join(SOURCE, "tests/fixtures/prompts.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line)["turns"][0] for line in file]
    return [lines[i % len(lines)][:400 + 40 * (i // len(lines))] for i in range(COUNT)]


@unittest.skipIf(transformers is None, "transformers is not installed")
@unittest.skipUnless(os.path.exists(MODEL), "the model is not installed")
class Generates(Case):
    def both(self, check, **options):
        """Each prompt with and without recording; check(run, result, prompt length)."""
        model, tokenizer = load()
        same = 0
        for text in prompts():
            inputs = tokenizer(text, return_tensors="pt")
            options = {"max_new_tokens": 24, "do_sample": False, **options}
            torch.manual_seed(7)
            plain = model.generate(**inputs, **options)
            torch.manual_seed(7)
            with triescope.transformers.record(model, self.path(), tokenizer=tokenizer) as made:
                recorded = model.generate(**inputs, **options)
            self.assertEqual(made, [self.path()])
            self.assertNotIn("generate", model.__dict__)
            sequences = [getattr(one, "sequences", one) for one in (plain, recorded)]
            self.assertTrue(torch.equal(*sequences), text)
            same += 1
            with triescope.open(self.path()) as run:
                self.assertEqual([row["text"] for row in run.rows("log") if row["level"] == "warning"], [])
                self.assertEqual(run.run["status"], "done")
                self.assertEqual(run.run["prompt_tokens"], inputs["input_ids"][0].tolist())
                check(run, recorded, inputs["input_ids"].shape[1])
        print(f"{self.id().rsplit('.', 1)[1]}: {same} of {COUNT} texts the same")
        if os.environ.get("TRIESCOPE"):
            for panel in panel_names():
                self.assertEqual(csv_of(self.path(), panel)[0], 0, panel)

    def text_of(self, result, prompt):
        row = getattr(result, "sequences", result)[0, prompt:].tolist()
        return row[: row.index(2) + 1] if 2 in row else row

    def check_text(self, run, result, prompt):
        self.assertEqual(run.tokens, self.text_of(result, prompt))
        path = [row for row in run.rows("verdict") if row["verdict"] in ("accepted", "emitted", "bonus", "corrected")]
        self.assertEqual(len(path), len(run.tokens))
        self.assertEqual(sum(step.emitted for step in run.steps), len(run.tokens))

    def test_greedy(self):
        def check(run, result, prompt):
            self.check_text(run, result, prompt)
            self.assertEqual({row["reason"] for row in run.rows("verdict") if row["verdict"] == "emitted"}, {"argmax"})

        self.both(check)

    def test_sampling(self):
        self.both(self.check_text, do_sample=True, temperature=0.8, top_k=20)

    def test_prompt_lookup(self):
        def check(run, result, prompt):
            self.check_text(run, result, prompt)
            # Greedy verification: accepted if and only if it is its row's best.
            for row in run.rows("verdict"):
                if row["verdict"] == "accepted":
                    self.assertEqual(row["reason"], "is_argmax")
                if row["verdict"] == "rejected":
                    self.assertIn(row["reason"], ("not_argmax", "parent_refused", "after_end"))

        self.both(check, prompt_lookup_num_tokens=5)

    def test_an_assistant(self):
        import copy

        model, _ = load()
        assistant = copy.deepcopy(model)
        with torch.no_grad():
            assistant.model.layers[20].self_attn.o_proj.weight.zero_()
        self.both(self.check_text, assistant_model=assistant)
        self.both(self.check_text, assistant_model=assistant, do_sample=True, temperature=0.9)

    def test_beams(self):
        def check(run, result, prompt):
            found = {tuple(json.loads(row["tokens"])) for row in run.rows("sequence") if row["rank"] == -1}
            for i, row in enumerate(result.sequences[:, prompt:].tolist()):
                text = tuple(row[: row.index(2) + 1] if 2 in row else row)
                self.assertIn(text, found)
            returned = [row for row in run.rows("sequence") if row["rank"] >= 0]
            for row, score in zip(returned, result.sequences_scores.tolist()):
                ended = next(one for one in run.rows("sequence") if one["rank"] == -1 and one["tokens"] == row["tokens"])
                self.assertAlmostEqual(ended["score"], score, places=4)

        self.both(check, num_beams=3, num_return_sequences=2, return_dict_in_generate=True, output_scores=True)

    def test_what_it_cannot_see_is_refused_by_name(self):
        model, tokenizer = load()
        inputs = tokenizer(["one two", "one two"], return_tensors="pt")
        with triescope.transformers.record(model, self.path(), tokenizer=tokenizer):
            with self.assertRaisesRegex(NotImplementedError, "a batch of 2 prompts is not recorded"):
                model.generate(**inputs, max_new_tokens=2)
            with self.assertRaisesRegex(NotImplementedError, "num_return_sequences"):
                model.generate(inputs["input_ids"][:1], max_new_tokens=2, do_sample=True, num_return_sequences=2)


if __name__ == "__main__":
    unittest.main()
