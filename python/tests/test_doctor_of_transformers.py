"""The doctor finds nothing in runs of transformers: greedy, sampling, beams, prompt lookup, an assistant. The drawn ones are computed
again with the model. TRIESCOPE_ADAPTER_PROMPTS says how many of each (2)."""

import json
import os
import unittest

from tests.generating import COUNT, HAS_PROGRAM, MODEL, TOKENS, assistant_of, load, prompts
from tests.support import Case, run_program

try:
    import torch
    import transformers
except ImportError:
    transformers = None

import triescope


@unittest.skipIf(transformers is None, "transformers is not installed")
@unittest.skipUnless(os.path.exists(MODEL), "the model is not installed")
@unittest.skipUnless(HAS_PROGRAM, "the program is not built")
class Clean(Case):
    def test_nothing_is_found(self):
        model, tokenizer = load()
        path = assistant_of(self.path("assistant"))
        if not os.path.exists(path):
            self.skipTest("the draft model is not installed")
        methods = {"greedy": {}, "sampling": {"do_sample": True, "temperature": 0.8, "top_k": 40, "top_p": 0.95},
                   "beams": {"num_beams": 4, "num_return_sequences": 3}, "prompt lookup": {"prompt_lookup_num_tokens": 6},
                   "assistant": {"assistant_model": load(path)[0]},
                   "drawn assistant": {"assistant_model": load(path)[0], "do_sample": True}}
        texts = prompts()
        for name, options in methods.items():
            clean = 0
            for i, text in enumerate(texts):
                # The drawn half of an assistant's runs.
                if (name == "assistant" and i % 2) or (name == "drawn assistant" and not i % 2):
                    continue
                torch.manual_seed(i)
                with triescope.transformers.record(model, self.path(), tokenizer=tokenizer):
                    model.generate(tokenizer(text, return_tensors="pt")["input_ids"], **{"max_new_tokens": TOKENS, "do_sample": False, **options})
                more = ["--model", MODEL] if name in ("sampling", "drawn assistant") else []
                done = run_program("doctor", self.path(), "--json", *more, check=False)
                self.assertEqual((done.returncode, json.loads(done.stdout or "{}").get("findings")), (0, []), (name, text, done.stderr))
                clean += 1
            print(f"{name}: nothing found in {clean} runs")
        self.assertGreater(COUNT, 0)


if __name__ == "__main__":
    unittest.main()
