"""Decoders over a small network in torch, each with one mistake that shows in its numbers alone: nothing is recorded but tokens and
logits. `doctor --model` names the mistake. Needs torch and transformers (tools/adapters/setup), and is skipped without them.
TRIESCOPE_WRONG_MODELS says over how many random models each mistake is made (2)."""

import json
import os
import shutil
import tempfile
import unittest
import warnings

from tests.support import PROGRAM, Case, run_program
from tests.toy import PROMPT, TreeDecoder, best

try:
    import torch
    import transformers
except ImportError:
    transformers = None

BOS = PROMPT[0]
MODELS = int(os.environ.get("TRIESCOPE_WRONG_MODELS", "2"))


def make_model(folder, seed=1, factor=None):
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(vocab_size=64, hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, max_position_embeddings=512, bos_token_id=BOS, eos_token_id=63,
                                      initializer_range=0.25, tie_word_embeddings=False,
                                      rope_scaling=None if factor is None else {"rope_type": "linear", "factor": factor})
    model = transformers.LlamaForCausalLM(config).eval()
    model.save_pretrained(folder)
    return model


class TorchNetwork:
    """A transformer over slots. All that was ever written is computed again in each forward, each row over what it saw."""

    def __init__(self, model):
        self.model = model
        self.written = []  # (token, position, the places in this list that it sees)
        self.at = {}  # slot -> place

    def forward(self, tokens, positions, slots, seen):
        for place, slot in enumerate(slots, len(self.written)):
            self.at[slot] = place
        self.written += [(token, at, [self.at[slot] for slot in line]) for token, at, line in zip(tokens, positions, seen)]
        return self.rows_of(self.written)[-len(slots):]

    def after(self, text):
        return self.rows_of([(token, i, list(range(i + 1))) for i, token in enumerate(text)])[-1]

    def rows_of(self, written):
        count = len(written)
        mask = torch.full((1, 1, count, count), torch.finfo(torch.float32).min)
        for row, (_, _, line) in enumerate(written):
            mask[0, 0, row, line] = 0
        with torch.no_grad():
            logits = self.model(input_ids=torch.tensor([[token for token, _, _ in written]]), attention_mask=mask,
                                position_ids=torch.tensor([[at for _, at, _ in written]])).logits[0]
        return logits.log_softmax(-1).tolist()


class Recorded(TreeDecoder):
    """Right, and says nothing of masks and positions."""

    shows = ("logits",)
    length = 16
    about = {"vocab_size": 64, "dtype": "float32"}


class SeesItsSibling(Recorded):
    mistake = "a sibling is seen"

    def sees(self, row, parents, slots):
        line = super().sees(row, parents, slots)
        return line + [slots[1]] if row == 2 else line


class MissesAnAncestor(Recorded):
    mistake = "an ancestor is missing"

    def sees(self, row, parents, slots):
        line = super().sees(row, parents, slots)
        return [slot for slot in line if slot != slots[0]] if row >= 3 else line


class StandsOneTooFar(Recorded):
    mistake = "the position is one too high"

    def positions(self, parents):
        first, *drafts = super().positions(parents)
        return [first] + [at + 1 for at in drafts]


class PositionsCountRows(Recorded):
    mistake = "positions are sequential"

    def positions(self, parents):
        at = super().positions(parents)
        return at[:3] + [at[0] + 3, at[4]]


class SeesRefusedDrafts(Recorded):
    mistake = "stale KV is seen"
    stale = []

    def sees(self, row, parents, slots):
        return super().sees(row, parents, slots) + (self.stale if row == 0 else [])

    def settle(self, r, slots, accepted):
        super().settle(r, slots, accepted)
        self.stale = [slots[2]]  # is never right


class ReadsAnotherPrompt(Recorded):
    """The recorded prompt is not what the network read."""

    def begin(self, slots):
        prompt = self.prompt()
        places = slots[:len(prompt)] + self.take(max(0, len(prompt) - len(slots)))
        rows = self.network.forward(prompt, range(len(prompt)), places, [places[:i + 1] for i in range(len(prompt))])
        self.cap.prompt(PROMPT, logits=rows[-1])
        with self.cap.round() as r:
            r.commit([], token=best(rows[-1]))
        self.slots = places
        self.text.append(best(rows[-1]))
        self.more = len(prompt) - len(PROMPT)

    def positions(self, parents):
        return [at + self.more for at in super().positions(parents)]


class LacksBos(ReadsAnotherPrompt):
    mistake = "the BOS token is missing"

    def prompt(self):
        return PROMPT[1:]


class DoublesBos(ReadsAnotherPrompt):
    mistake = "the BOS token is doubled"

    def prompt(self):
        return [BOS] + PROMPT


class DropsTheLastToken(ReadsAnotherPrompt):
    mistake = "the prompt's last token is dropped"

    def prompt(self):
        return PROMPT[:-1]


class Colder(Recorded):
    """A temperature before recording."""

    mistake = "a temperature is applied"

    def begin(self, slots):
        forward = self.network.forward

        def warped(*batch):
            return [torch.tensor(row).div(0.7).log_softmax(-1).tolist() for row in forward(*batch)]

        self.network.forward = warped
        super().begin(slots)


PLANTED = [SeesItsSibling, MissesAnAncestor, StandsOneTooFar, PositionsCountRows, SeesRefusedDrafts, LacksBos, DoublesBos,
           DropsTheLastToken, Colder]


class TakesTheSecondBest(Recorded):
    """Once, in its fifth token, and shows no logits."""

    shows = ()

    def verify(self, tokens, parents, q, logits):
        if len(self.text) > len(PROMPT) + 4 and not hasattr(self, "is_done"):
            self.is_done = True
            return [], sorted(range(64), key=lambda token: -logits[0][token])[1], {}
        return super().verify(tokens, parents, q, logits)


@unittest.skipIf(transformers is None, "transformers is not installed")
@unittest.skipUnless(os.access(PROGRAM, os.X_OK), "the program is not built")
class Numbers(Case):
    @classmethod
    def setUpClass(cls):
        cls.models = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.models)
        cls.model = make_model(os.path.join(cls.models, "plain"))
        cls.other = make_model(os.path.join(cls.models, "other"), seed=2)
        cls.scaled = make_model(os.path.join(cls.models, "scaled"), factor=4.0)

    def findings(self, decoder, model=None, name="plain"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            decoder(self.path(), TorchNetwork(model or self.model)).run()
        done = run_program("doctor", self.path(), "--model", os.path.join(self.models, name), "--json", check=False)
        found = json.loads(done.stdout)["findings"]
        self.assertEqual(done.returncode, 6 if found else 0, done.stderr)
        return found

    def test_a_right_decoder_has_no_findings(self):
        self.assertEqual(self.findings(Recorded), [])
        self.assertEqual(self.findings(Recorded, self.scaled, "scaled"), [])

    def test_the_planted_mistake_is_named_first(self):
        named = 0
        for decoder in PLANTED:
            with self.subTest(decoder.__name__):
                found = self.findings(decoder)
                self.assertEqual(found[0]["code"], "logits.cause")
                self.assertIn(decoder.mistake, found[0]["kind"])
                self.assertEqual({one["code"] for one in found} - {"text.greedy"}, {"logits.cause", "logits.row"})  # what follows
                named += 1
        print(f"{named} of {len(PLANTED)} mistakes named")

    def test_nine_of_ten_mistakes_of_each_kind_are_named_first_whatever_the_weights(self):
        kinds = {decoder.mistake: decoder for decoder in PLANTED}
        named = dict.fromkeys([*kinds, "rope scaling is off"], 0)
        for seed in range(11, 11 + MODELS):
            model = make_model(os.path.join(self.models, "one"), seed)
            for mistake, decoder in kinds.items():
                found = self.findings(decoder, model, "one")
                named[mistake] += bool(found) and found[0]["code"] == "logits.cause" and mistake in found[0]["kind"]
            scaled = make_model(os.path.join(self.models, "one"), seed, factor=4.0)
            scaled.load_state_dict(model.state_dict())
            scaled.save_pretrained(os.path.join(self.models, "one"))
            found = self.findings(Recorded, model, "one")
            named["rope scaling is off"] += bool(found) and found[0]["kind"] == "rope scaling is off"
        for mistake, count in named.items():
            print(f"{mistake}: named in {count} of {MODELS}")
            self.assertGreaterEqual(count, 0.9 * MODELS, mistake)

    def test_rope_scaling_that_is_off_is_named(self):
        # Trained with a factor of 4, run without: the same weights in both.
        self.scaled.load_state_dict(self.model.state_dict())
        self.scaled.save_pretrained(os.path.join(self.models, "scaled"))
        found = self.findings(Recorded, name="scaled")
        self.assertEqual((found[0]["code"], found[0]["kind"]), ("logits.cause", "rope scaling is off"))

    def test_other_weights_have_differing_rows_and_no_cause(self):
        found = self.findings(Recorded, self.other)
        self.assertEqual(found[0]["code"], "logits.row")
        self.assertLessEqual({one["code"] for one in found}, {"logits.row", "text.greedy"})

    def test_a_text_that_leaves_the_greedy_one_is_found_without_logits(self):
        found = self.findings(TakesTheSecondBest)
        self.assertEqual([one["code"] for one in found], ["text.greedy"])


if __name__ == "__main__":
    unittest.main()
