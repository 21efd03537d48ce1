"""The adapter for EAGLE's published layout, over a small model in that layout. Needs torch and transformers (tools/adapters/setup), and
is skipped without them."""

import json
import os
import types
import unittest
import warnings

from tests.generating import HAS_PROGRAM
from tests.support import Case, empty_panels, run_program

try:
    import torch
    import transformers  # noqa: F401
except ImportError:
    torch = None
else:
    from tests import eagle_layout

import triescope

PROMPT = [1, 7, 12, 30, 5]


@unittest.skipIf(torch is None, "torch is not installed")
class Eagle(Case):
    def both(self, model, **options):
        """The text with and without recording, and the run."""
        ids, text = torch.tensor([PROMPT]), []
        for records in (False, True):
            torch.manual_seed(3)
            if records:
                with triescope.eagle.record(model, self.path(), tokenizer=lambda token: f" w{token}") as made:
                    text.append(model.eagenerate(ids, **options)[0].tolist())
                self.assertEqual(made, [self.path()])
            else:
                text.append(model.eagenerate(ids, **options)[0].tolist())
        self.assertEqual(*text)
        self.assertNotIn("eagenerate", model.__dict__)
        run = triescope.open(self.path())
        self.addCleanup(run.close)
        self.assertEqual((run.run["status"], run.run["prompt_tokens"]), ("done", PROMPT))
        self.assertEqual(run.tokens, text[0][len(PROMPT):])
        return run

    def check_nothing_is_found(self):
        if HAS_PROGRAM:
            self.assertEqual(json.loads(run_program("doctor", self.path(), "--json", check=False).stdout)["findings"], [])
            self.assertEqual(empty_panels(self.path()), [])

    def test_greedy(self):
        llama = eagle_layout.small_llama()
        run = self.both(eagle_layout.EaModel(llama))
        self.assertEqual([row["text"] for row in run.rows("log") if row["level"] == "warning"], [])
        greedy, text = list(PROMPT), run.tokens
        for _ in text:
            with torch.no_grad():
                greedy.append(int(llama(torch.tensor([greedy])).logits[0, -1].argmax()))
        self.assertEqual(text, greedy[len(PROMPT):])
        steps = run.steps[1:]
        self.assertEqual({(step.forward_rows, step.drafted) for step in steps}, {(6, 5)})
        self.assertGreater(sum(step.accepted for step in steps), 3)
        self.assertEqual({row["reason"] for row in run.rows("verdict") if row["verdict"] == "accepted"}, {"is_argmax"})
        self.assertEqual([(row["name"], row["kind"]) for row in run.rows("drafter")], [("eagle", "head")])
        first = [row for row in run.rows("input") if row["step"] == 1]
        self.assertEqual([row["position"] for row in first], [5, 6, 6, 7, 7, 8])
        self.assertEqual([row["slot"] for row in first], [5, 6, 7, 8, 9, 10])
        self.assertEqual([row["slots"] for row in run.rows("seen") if row["step"] == 1], ["0-5", "0-6", "0-5,7", "0-6,8", "0-6,9", "0-6,8,10"])
        self.check_nothing_is_found()

    def test_sampling(self):
        run = self.both(eagle_layout.EaModel(eagle_layout.small_llama()), temperature=0.8)
        self.assertEqual([row["text"] for row in run.rows("log") if row["level"] == "warning"], [])
        self.assertTrue(run.run["settings"]["do_sample"])
        self.check_nothing_is_found()

    def test_ea_generate_is_recorded_step_by_step(self):
        model, ids = eagle_layout.EaModel(eagle_layout.small_llama()), torch.tensor([PROMPT])
        plain = [text[0].tolist() for text in model.ea_generate(ids)]
        with triescope.eagle.record(model, self.path()) as made:
            recorded = [text[0].tolist() for text in model.ea_generate(ids)]
            stream = model.ea_generate(ids)
            self.assertEqual([next(stream)[0].tolist() for _ in range(3)], plain[:3])
            stream.close()  # the caller has what it wanted
            model.eagenerate(ids)
        self.assertEqual(recorded, plain)
        self.assertNotIn("ea_generate", model.__dict__)
        texts = []
        for path in made:
            with triescope.open(path) as run:
                self.assertEqual((run.run["status"], run.run["prompt_tokens"]), ("done", PROMPT))
                self.assertEqual([row["text"] for row in run.rows("log") if row["level"] == "warning"], [])
                texts.append(PROMPT + run.tokens)
        self.assertEqual([text[:-1] if text != whole else text for text, whole in zip(texts, (plain[-1], plain[2], plain[-1]))],
                         [plain[-1], plain[2], plain[-1]])
        self.check_nothing_is_found()

    def test_a_generator_that_nobody_iterates_leaves_no_capture(self):
        model, ids = eagle_layout.EaModel(eagle_layout.small_llama()), torch.tensor([PROMPT])
        plain = [text[0].tolist() for text in model.ea_generate(ids)]
        with triescope.eagle.record(model, self.path()) as made:
            idle = model.ea_generate(ids)
            late = model.ea_generate(ids)
            self.assertEqual(made, [])
            list(model.ea_generate(ids))
            self.assertEqual(made, [self.path()])
        del idle
        self.assertEqual([text[0].tolist() for text in late], plain)  # iterated when the recording is over
        self.assertEqual([name for name in os.listdir(os.path.dirname(self.path())) if name.endswith(".tscap")], ["run.tscap"])

    def test_a_wrong_mask_is_recorded_as_it_was_and_found(self):
        class Leaks(eagle_layout.Target):
            def rows(self, text, tree, positions):
                if tree:
                    self.model.tree_mask[0, 0, 2, 1] = 1
                return super().rows(text, tree, positions)

        model = eagle_layout.EaModel(eagle_layout.small_llama())
        model.base_model = Leaks(model.base_model.llama)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = self.both(model)
        self.assertIn(triescope.RecordWarning, [one.category for one in caught])
        self.assertEqual([row["slots"] for row in run.rows("seen") if row["step"] == 1][2], "0-7")
        if HAS_PROGRAM:
            found = json.loads(run_program("doctor", self.path(), "--json", check=False).stdout)["findings"]
            self.assertEqual([one["code"] for one in found], ["mask.extra"])

    def test_what_it_cannot_see_is_refused_by_name(self):
        model = eagle_layout.EaModel(eagle_layout.small_llama())
        with triescope.eagle.record(model, self.path()) as made:
            with self.assertRaisesRegex(NotImplementedError, "a batch of 2 prompts"):
                model.eagenerate(torch.tensor([PROMPT, PROMPT]))
            with self.assertRaisesRegex(NotImplementedError, "naivegenerate"):
                model.naivegenerate(torch.tensor([PROMPT]))
            self.assertEqual(made, [])
        self.assertEqual(model.naivegenerate(1), 1)
        with self.assertRaisesRegex(TypeError, "in the layout of EAGLE's published code"):
            with triescope.eagle.record(types.SimpleNamespace(), self.path()):
                pass


if __name__ == "__main__":
    unittest.main()
