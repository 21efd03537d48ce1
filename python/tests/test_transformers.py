"""The adapter against the real library: texts are the same with and without it, and what it records is what our own run of
the same method records. Needs torch, transformers, gguf and accelerate (tools/adapters/setup), and is skipped without them."""

import json
import os
import unittest

from tests.generating import COUNT, END, HAS_PROGRAM, MODEL, TOKENS, assistant_of, decided, live_beams, load, own_run, prompts
from tests.support import Case, empty_panels

try:
    import torch
    import transformers
except ImportError:
    transformers = None

import triescope


@unittest.skipIf(transformers is None, "transformers is not installed")
@unittest.skipUnless(os.path.exists(MODEL), "the model is not installed")
class Generates(Case):
    def both(self, check, first=None, **options):
        """Each prompt with and without recording; check(run, result, prompt's ids). `first`: one more token of each prompt,
        and none of those whose text ends with it, because nothing is drafted behind an end."""
        model, tokenizer = load()
        same = ended = 0
        for text in prompts():
            ids = tokenizer(text, return_tensors="pt")["input_ids"]
            if first is not None:
                token = first(ids[0].tolist())
                if token == END:
                    ended += 1
                    continue
                ids = torch.cat([ids, torch.tensor([[token]])], 1)
            options = {"max_new_tokens": TOKENS, "do_sample": False, **options}
            torch.manual_seed(7)
            plain = model.generate(ids, **options)
            torch.manual_seed(7)
            with triescope.transformers.record(model, self.path(), tokenizer=tokenizer) as made:
                recorded = model.generate(ids, **options)
            self.assertEqual(made, [self.path()])
            self.assertNotIn("generate", model.__dict__)
            self.assertTrue(torch.equal(*(getattr(one, "sequences", one) for one in (plain, recorded))), text)
            same += 1
            with triescope.open(self.path()) as run:
                self.assertEqual([row["text"] for row in run.rows("log") if row["level"] == "warning"], [])
                self.assertEqual(run.run["status"], "done")
                self.assertEqual(run.run["prompt_tokens"], ids[0].tolist())
                check(run, recorded, ids[0].tolist())
        self.assertGreater(same, 0, "every text ends at once")
        print(f"{self.id().rsplit('.', 1)[1]}: {same} of {COUNT} texts the same, {ended} end at once")
        if HAS_PROGRAM:
            self.assertEqual(empty_panels(self.path()), [])

    def text_of(self, result, prompt):
        row = getattr(result, "sequences", result)[0, len(prompt):].tolist()
        return row[: row.index(END) + 1] if END in row else row

    def check_text(self, run, result, prompt):
        self.assertEqual(run.tokens, self.text_of(result, prompt))
        path = [row for row in run.rows("verdict") if row["verdict"] in ("accepted", "emitted", "bonus", "corrected")]
        self.assertEqual(len(path), len(run.tokens))
        self.assertEqual(sum(step.emitted for step in run.steps), len(run.tokens))

    def check_as_own(self, run, prompt, method, settings, draft=None, begins_later=False, skips_reason=False,
                     ends_later=False):
        """Every step's verdicts, with their reasons and probabilities, are those of our own run. `begins_later`: its prompt
        is one token shorter, which its prefill writes; so both draft from the same text on. `ends_later`: the library drafts
        beyond the length, so our own run is longer and the last step is left out."""
        if not HAS_PROGRAM:
            return
        own_run(self.path("own.tscap"), method, prompt[:-1] if begins_later else prompt, TOKENS + begins_later + 16 * ends_later, settings, draft)
        with triescope.open(self.path("own.tscap")) as own:
            ours, theirs = decided(own), decided(run)
        if begins_later:
            self.assertEqual({path for path, _ in ours.pop(0)}, {tuple(prompt)})
        if ends_later:
            theirs.pop(max(theirs))
            ours = {step: rows for step, rows in ours.items() if step in theirs}
        self.assertEqual(set(ours), set(theirs))
        for step in ours:
            self.assertEqual(set(ours[step]), set(theirs[step]), step)
            for key, (reason, p) in ours[step].items():
                their_reason, their_p = theirs[step][key]
                if not skips_reason:
                    self.assertEqual(reason, their_reason, (step, key))
                if p is not None:
                    self.assertAlmostEqual(p, their_p, delta=2e-3, msg=(step, key))

    def first_of_own(self, ids):
        """What greedy decoding writes first."""
        model, _ = load()
        return model.generate(torch.tensor([ids]), max_new_tokens=1, do_sample=False)[0, -1].item()

    def test_greedy(self):
        def check(run, result, prompt):
            self.check_text(run, result, prompt)
            self.check_as_own(run, prompt, "greedy", {})

        self.both(check)

    def test_sampling(self):
        self.both(self.check_text, do_sample=True, temperature=0.8, top_k=20)

    def test_sampling_that_has_no_choice_is_our_own(self):
        def check(run, result, prompt):
            self.check_text(run, result, prompt)
            self.check_as_own(run, prompt, "sample", {"top_k": 1}, skips_reason=True)  # its draws are not seen

        self.both(check, do_sample=True, top_k=1)

    def test_sampled_probabilities_are_those_after_the_warpers(self):
        model, tokenizer = load()
        ids = tokenizer(prompts(1)[0], return_tensors="pt")["input_ids"]
        torch.manual_seed(7)
        with triescope.transformers.record(model, self.path(), tokenizer=tokenizer):
            given = model.generate(ids, do_sample=True, top_k=2, temperature=2.0, max_new_tokens=8, output_scores=True,
                                   return_dict_in_generate=True)
        wanted = [scores[0].softmax(-1)[token].item() for scores, token in zip(given.scores, given.sequences[0, ids.shape[1]:])]
        with triescope.open(self.path()) as run:
            found = [row["p"] for row in run.rows("verdict") if row["verdict"] == "emitted"]
        self.assertEqual(len(found), len(wanted))
        for one, other in zip(found, wanted):
            self.assertAlmostEqual(one, other, places=6)

    def test_prompt_lookup(self):
        def check(run, result, prompt):
            self.check_text(run, result, prompt)
            self.check_as_own(run, prompt, "prompt_lookup", {"match": "first", "max_matching_ngram_size": 2, "prompt_lookup_num_tokens": 5},
                              begins_later=True, ends_later=True)

        self.both(check, first=self.first_of_own, prompt_lookup_num_tokens=5)

    def test_an_assistant(self):
        path = assistant_of(self.path("assistant"))
        if not os.path.exists(path):
            self.skipTest("the draft model is not installed")
        assistant, _ = load(path)
        assistant.generation_config.update(num_assistant_tokens=4, num_assistant_tokens_schedule="constant", assistant_confidence_threshold=0.0)

        def check(run, result, prompt):
            self.check_text(run, result, prompt)
            self.check_as_own(run, prompt, "draft_model", {"num_assistant_tokens": 4}, draft=path, begins_later=True)

        self.both(check, first=self.first_of_own, assistant_model=assistant)
        self.both(self.check_text, assistant_model=assistant, do_sample=True, temperature=0.9)

    def test_a_model_that_assists_itself_is_one_run(self):
        model, _ = load()
        self.both(self.check_text, assistant_model=model)

    def test_beams(self):
        def check(run, result, prompt):
            found = {tuple(json.loads(row["tokens"])) for row in run.rows("sequence") if row["rank"] == -1}
            texts = [tuple(row[: row.index(END) + 1] if END in row else row) for row in result.sequences[:, len(prompt):].tolist()]
            for text in texts:
                self.assertIn(text, found)
            returned = [row for row in run.rows("sequence") if row["rank"] >= 0]
            for row, score in zip(returned, result.sequences_scores.tolist()):
                ended = next(one for one in run.rows("sequence") if one["rank"] == -1 and one["tokens"] == row["tokens"])
                self.assertAlmostEqual(ended["score"], score, places=4)
            if not HAS_PROGRAM:
                return
            own_run(self.path("own.tscap"), "beam", prompt, TOKENS, {"num_beams": 3, "num_return_sequences": 2})
            with triescope.open(self.path("own.tscap")) as own:
                ours, theirs = live_beams(own), live_beams(run)
                self.assertEqual(set(ours), set(theirs))
                for step in ours:
                    self.assertEqual([path for path, _ in ours[step]], [path for path, _ in theirs[step]], step)
                    for (_, score), (_, other) in zip(ours[step], theirs[step]):
                        self.assertAlmostEqual(score, other, delta=1e-3)
                kept, others = ({key for rows in decided(one).values() for key in rows if key[1] in ("kept", "finished")} for one in (own, run))
                self.assertEqual(kept, others)
                sequences = [row for row in own.rows("sequence") if row["rank"] >= 0]
                self.assertEqual([tuple(json.loads(row["tokens"])) for row in sequences], texts)
                for row, score in zip(sequences, result.sequences_scores.tolist()):
                    self.assertAlmostEqual(row["score"], score, delta=1e-3)

        self.both(check, num_beams=3, num_return_sequences=2, return_dict_in_generate=True, output_scores=True)

    def test_what_it_cannot_see_is_refused_by_name(self):
        model, tokenizer = load()
        inputs = tokenizer(["one two", "one two"], return_tensors="pt")
        one = inputs["input_ids"][:1]
        with triescope.transformers.record(model, self.path(), tokenizer=tokenizer) as made:
            with self.assertRaisesRegex(NotImplementedError, "a batch of 2 prompts is not recorded"):
                model.generate(**inputs, max_new_tokens=2)
            for name, options in (("num_return_sequences", {"do_sample": True, "num_return_sequences": 2}),
                                  ("beam search with do_sample", {"do_sample": True, "num_beams": 2}),
                                  ("assistant_ensemble_weight", {"assistant_model": model, "assistant_ensemble_weight": 0.5}),
                                  ("penalty_alpha", {"penalty_alpha": 0.6, "top_k": 4})):
                with self.assertRaisesRegex(NotImplementedError, name):
                    model.generate(one, max_new_tokens=2, **options)
        self.assertEqual((made, os.path.exists(self.path())), ([], False))


if __name__ == "__main__":
    unittest.main()
