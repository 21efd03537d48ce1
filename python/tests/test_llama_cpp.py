"""The adapter against llama-cpp-python (tools/adapters/setup); skipped without it."""

import json
import os
import unittest

from tests.generating import COUNT, HAS_PROGRAM, TOKENS, prompts
from tests.support import MODEL, Case, empty_panels, run_program

try:
    import llama_cpp
except ImportError:
    llama_cpp = None

import triescope

_loaded = []


def load():
    if not _loaded:
        _loaded.append(llama_cpp.Llama(MODEL, n_ctx=1024, n_threads=1, n_threads_batch=1, verbose=False, seed=7))
    return _loaded[0]


@unittest.skipIf(llama_cpp is None, "llama-cpp-python is not installed")
@unittest.skipUnless(os.path.exists(MODEL), "the model is not installed")
class Generates(Case):
    def both(self, check, **options):
        """Each prompt with and without recording; check(run, tokens)."""
        llama = load()
        same = 0
        for text in prompts():
            ids = llama.tokenize(text.encode())

            def tokens():
                llama.reset()
                found = []
                for token in llama.generate(ids, **options):  # goes on behind an end, if its caller does
                    found.append(token)
                    if len(found) == TOKENS or llama_cpp.llama_vocab_is_eog(llama._model.vocab, token):
                        return found

            plain = tokens()
            with triescope.llama_cpp.record(llama, self.path()) as made:
                recorded = tokens()
            self.assertEqual(made, [self.path()])
            self.assertNotIn("eval", llama.__dict__)
            self.assertEqual(plain, recorded, text)
            same += 1
            with triescope.open(self.path()) as run:
                self.assertEqual([row["text"] for row in run.rows("log") if row["level"] == "warning"], [])
                self.assertEqual((run.run["status"], run.run["prompt_tokens"]), ("done", ids))
                self.assertEqual(run.tokens, recorded)
                self.assertEqual(len([row for row in run.rows("verdict") if row["verdict"] == "emitted"]), len(run.tokens))
                check(run, recorded)
            if HAS_PROGRAM:
                self.assertEqual(json.loads(run_program("doctor", self.path(), "--json", check=False).stdout)["findings"], [])
        print(f"{self.id().rsplit('.', 1)[1]}: {same} of {COUNT} texts the same")
        if HAS_PROGRAM:
            self.assertEqual(empty_panels(self.path()), [])

    def test_greedy(self):
        def check(run, tokens):
            self.assertEqual({row["reason"] for row in run.rows("verdict") if row["verdict"] == "emitted"}, {"argmax"})
            positions = [row["position"] for row in run.rows("input")]
            self.assertEqual(positions, list(range(len(positions))))

        self.both(check, temp=0.0)

    def test_sampling(self):
        def check(run, tokens):
            self.assertEqual({row["p"] for row in run.rows("verdict") if row["verdict"] == "emitted"}, {None})
            self.assertTrue(run.run["settings"]["do_sample"])

        self.both(check, temp=0.9, top_k=30)

    def test_completions_are_recorded_too(self):
        llama = load()
        said = {}
        for name in ("plain", "recorded"):
            llama.reset()
            with triescope.llama_cpp.record(llama, self.path()) if name == "recorded" else open(os.devnull) as made:
                said[name] = [llama(text, max_tokens=8, temperature=0.0)["choices"][0]["text"]
                              for text in ("The capital of France is", "One, two, three,")]
        self.assertEqual(said["plain"], said["recorded"])
        self.assertEqual(made, [self.path(), self.path("run-2.tscap")])
        for name, text in zip(made, said["recorded"]):
            with triescope.open(name) as run:
                self.assertTrue(run.text.startswith(text), (run.text, text))

    def test_a_generator_that_nobody_iterates_leaves_no_capture(self):
        llama = load()
        ids = llama.tokenize(b"One, two, three,")
        llama.reset()
        plain = [token for token, _ in zip(llama.generate(ids, temp=0.0), range(6))]
        llama.reset()
        with triescope.llama_cpp.record(llama, self.path()) as made:
            idle = llama.generate(ids, temp=0.0)
            late = llama.generate(ids, temp=0.0)
            self.assertEqual(made, [])
        del idle
        self.assertEqual([token for token, _ in zip(late, range(6))], plain)  # iterated when the recording is over
        self.assertFalse(os.path.exists(self.path()))

    def test_what_it_cannot_see_is_refused_by_name(self):
        llama = load()
        ids = llama.tokenize(b"One, two")
        with triescope.llama_cpp.record(llama, self.path()) as made:
            for words, options in (("mirostat", {"mirostat_mode": 1}), ("reset=False", {"reset": False}),
                                   ("a logits processor", {"logits_processor": [lambda ids, scores: scores]})):
                with self.assertRaisesRegex(NotImplementedError, words):
                    llama.generate(ids, **options)
            self.assertEqual(made, [])
            tokens = llama.generate(ids)
            next(tokens)
            with self.assertRaisesRegex(NotImplementedError, "a token that is sent"):
                tokens.send([1])
        with self.assertRaisesRegex(TypeError, "expected a llama_cpp.Llama"):
            with triescope.llama_cpp.record(object(), self.path()):
                pass


if __name__ == "__main__":
    unittest.main()
