"""A decoder with one fault for every code of the doctor that needs no model. The doctor names that code, and nothing else."""

import json
import re
import unittest
import warnings

from tests.support import SOURCE, Case, run_program
from tests.toy import PAD, PROMPT, VOCABULARY, BeamSearch, ChainSampler, RoundsSampler, TreeDecoder, best, greedy_text

from triescope import Drafter

RIGHT = [TreeDecoder, ChainSampler, RoundsSampler, BeamSearch]
WRONG = {}


def wrong(code):
    def add(decoder):
        WRONG.setdefault(code, []).append(decoder)
        return decoder

    return add


@wrong("mask.extra")
class SeesItsSibling(TreeDecoder):
    """A causal mask over the flattened tree."""

    def sees(self, row, parents, slots):
        return self.slots + slots[:row + 1]


@wrong("mask.extra")
class SeesRefusedDrafts(TreeDecoder):
    """The cache is not cut back after a refusal."""

    stale = []

    def sees(self, row, parents, slots):
        return super().sees(row, parents, slots) + [slot for slot in self.stale if slot not in slots]

    def settle(self, r, slots, accepted):
        before = len(self.free)
        super().settle(r, slots, accepted)
        self.stale = self.free[before:]


@wrong("mask.missing")
class SeesItsParentAlone(TreeDecoder):
    """The line above the parent is left out."""

    def sees(self, row, parents, slots):
        if row == 0:
            return super().sees(row, parents, slots)
        return self.slots + [slots[parents[row - 1] + 1], slots[row]]


@wrong("mask.missing")
class MasksAPromptTokenTooMany(TreeDecoder):
    """Left padding masked one token too far."""

    def sees(self, row, parents, slots):
        return super().sees(row, parents, slots)[1:]


@wrong("mask.missing")
class DoesNotSeeItself(TreeDecoder):
    def sees(self, row, parents, slots):
        line = super().sees(row, parents, slots)
        return line[:-1] if row > 0 else line


@wrong("slot.clobbered")
class TakesTheSlotsOfTheText(TreeDecoder):
    """The free list gets a slot of the accepted path."""

    shows = ("positions", "logits")

    def settle(self, r, slots, accepted):
        super().settle(r, slots, accepted)
        self.free.insert(0, self.slots[-1])


@wrong("slot.lost")
class FreesAcceptedDrafts(TreeDecoder):
    """Accepted drafts are freed with the refused ones."""

    shows = ("positions", "logits")

    def settle(self, r, slots, accepted):
        super().settle(r, slots, accepted)
        if accepted:
            r.kv(freed=[slots[1 + accepted[0]]])


@wrong("slot.lost")
class MovesTheWrongDraft(TreeDecoder):
    """Accepted KV is gathered by the index in the batch, which counts from the root, not from the first draft."""

    shows = ("positions", "logits")

    def settle(self, r, slots, accepted):
        to = self.take(len(accepted))
        r.kv(moved=[(slots[i], place) for i, place in zip(accepted, to)], freed=slots[1:])
        self.slots = self.slots + [slots[0]] + to
        self.free += slots[1:]


@wrong("slot.double")
class SlotsAreDepths(TreeDecoder):
    """Slots are computed from positions, which siblings share."""

    shows = ("positions", "logits")

    def places(self, slots, parents):
        depths = [0]
        for parent in parents:
            depths.append(depths[parent + 1] + 1)
        return [slots[depth] for depth in depths]


@wrong("position.depth")
class PositionsCountRows(TreeDecoder):
    def positions(self, parents):
        return [len(self.text) - 1 + row for row in range(1 + len(parents))]


@wrong("position.depth")
class DraftsStandOneTooFar(TreeDecoder):
    def positions(self, parents):
        first, *drafts = super().positions(parents)
        return [first] + [position + 1 for position in drafts]


@wrong("position.offset")
class CountsAPaddedPrompt(TreeDecoder):
    """The prompt stands behind three tokens of padding, which no row sees."""

    def begin(self, slots):
        positions = range(3, 3 + len(PROMPT))
        seen = [slots[:i + 1] for i in range(len(PROMPT))]
        rows = self.network.forward(PROMPT, positions, slots, seen)
        self.cap.prompt(PROMPT)
        with self.cap.round() as r:
            r.rows([-2 - i for i in range(len(PROMPT) - 1)] + [-1], positions=positions, slots=slots, mask=seen)
            r.target(rows[-1:])
            r.commit([], token=best(rows[-1]))
        self.slots = slots
        self.text.append(best(rows[-1]))

    def positions(self, parents):
        return [position + 3 for position in super().positions(parents)]


@wrong("accept.greedy")
class AcceptsTheBestTwo(TreeDecoder):
    def verify(self, tokens, parents, q, logits):
        accepted, at = [], -1
        while True:
            order = sorted(range(VOCABULARY), key=lambda token: -logits[at + 1][token])
            found = next((i for i, parent in enumerate(parents) if parent == at and tokens[i] in order[:2]), None)
            if found is None:
                return accepted, order[0], {}
            accepted.append(found)
            at = found

    def drafts(self):
        tokens, parents, q = super().drafts()
        tokens[0] = sorted(range(VOCABULARY), key=lambda token: -self.network.after(self.text)[token])[1]
        return tokens, parents, q


@wrong("accept.greedy")
class ComparesWithItsOwnRow(TreeDecoder):
    """Rows are shifted by one: a draft is compared with the row that follows it."""

    def verify(self, tokens, parents, q, logits):
        return super().verify(tokens, parents, q, logits[1:] + logits[:1])


@wrong("accept.chain")
class ForgetsToDivideByQ(ChainSampler):
    def passes(self, u, p, q):
        return u < p


@wrong("accept.chain")
class TurnsTheRatioRound(ChainSampler):
    def passes(self, u, p, q):
        return u < min(1, q / p)


@wrong("accept.chain")
class DrawsTheRefusedTokenAgain(ChainSampler):
    """The token in a refused draft's place is drawn from p, not from what it leaves."""

    length = 200

    def rest(self, p, q):
        return p


@wrong("accept.tree")
class TriesTheLikeliestFirst(RoundsSampler):
    def order(self, q):
        return sorted(range(len(q)), key=lambda i: -q[i])


@wrong("accept.tree")
class TossesACoin(RoundsSampler):
    """Siblings are accepted by a chance that is not theirs."""

    def passes(self, u, p, q):
        return u < 0.5


@wrong("accept.q")
class VerifiesChosenDraftsAsIfDrawn(ChainSampler):
    """The head's best tokens, with its softmax as q."""

    def pick(self, q):
        return max(range(VOCABULARY), key=lambda token: q[token])

    def drafts(self):
        tokens, parents, _ = super().drafts()
        return tokens, parents, None

    def verify(self, tokens, parents, q, logits):
        accepted, own, numbers = super().verify(tokens, parents, q, logits)
        return accepted, own, {**numbers, "why": {i: {"q": self.rows_of_q[i][tokens[i]]} for i in numbers["p"]}}


@wrong("text.lost")
class ReturnsATokenTooFew(TreeDecoder):
    """The last accepted draft of a step is lost on the way to the caller."""

    def returned(self):
        return super().returned()[:3] + super().returned()[4:]


@wrong("text.twice")
class WritesTheBonusTwice(TreeDecoder):
    ends = (greedy_text(24)[16],)

    def returned(self):
        text = super().returned()
        return text[:3] + text[2:]


@wrong("text.eos")
class ComparesTheLastTokenAlone(TreeDecoder):
    """The end inside an accepted run is not noticed."""

    ends = (greedy_text(24)[1],)

    def is_right(self, depth):
        return True

    def cut(self, tokens, accepted, own):
        return accepted, own


@wrong("text.length")
class LooksAtTheLengthOnceAStep(TreeDecoder):
    length = 6

    def is_right(self, depth):
        return True

    def cut(self, tokens, accepted, own):
        return accepted, own


@wrong("beam.cut")
class TakesTheBestOfEachBeam(BeamSearch):
    def going_on(self, found):
        if len({beam for _, beam, _ in found}) == 1:
            return super().going_on(found)
        first = {}
        for i, (_, beam, token) in enumerate(found):
            if token != self.end:
                first.setdefault(beam, i)
        return sorted(first.values())

    def continuations(self, beams, rows):
        found = super().continuations(beams, rows)
        have = {beam for _, beam, _ in found}
        for beam, ((score, _), row) in enumerate(zip(beams, rows)):
            if beam not in have:
                token = max((one for one in range(VOCABULARY) if one != self.end), key=lambda one: row[one])
                found.append((score + row[token], beam, token))
        return found


@wrong("beam.order")
class KeepsTheOrderOfParents(BeamSearch):
    def going_on(self, found):
        return sorted(super().going_on(found), key=lambda i: found[i][1])


@wrong("beam.eos")
class FinishesEveryEnd(BeamSearch):
    """Every end token among the 2 b candidates is finished."""

    def ending(self, found):
        return [i for i, (_, _, token) in enumerate(found) if token == self.end]


@wrong("beam.eos")
class GoesOnBehindTheEnd(BeamSearch):
    def ending(self, found):
        return []

    def going_on(self, found):
        return list(range(self.width))


@wrong("beam.score")
class CountsThePromptToo(BeamSearch):
    def normalised(self, score, length):
        return score / (length + len(PROMPT))


@wrong("padding")
class AcceptsPadding(TreeDecoder):
    """Drafts are padded to the tree's size, and padding counts as right."""

    shows = ("mask", "positions")

    def drafts(self):
        tokens, parents, q = super().drafts()
        return [tokens[0], PAD, *tokens[2:]], parents, q

    def verify(self, tokens, parents, q, logits):
        accepted, own, numbers = super().verify(tokens, parents, q, logits)
        if not accepted and PAD in tokens:
            at = tokens.index(PAD)
            return [at], best(logits[at + 1]), numbers
        return accepted, own, numbers


@wrong("padding")
class DraftsAPathTwice(TreeDecoder):
    def drafts(self):
        tokens, parents, q = super().drafts()
        return tokens + [tokens[1]], parents + [-1], q


@wrong("acceptance.shape")
class SecondInputIsWrong(TreeDecoder):
    """A head whose second input is not what it was trained on."""

    drafter = Drafter("toy head", "head")
    length = 70

    def is_right(self, depth):
        return depth == 0


@wrong("acceptance.shape")
class DraftsAreACopyOfTheTarget(TreeDecoder):
    drafter = Drafter("toy model", "model")
    length = 150

    def is_right(self, depth):
        return True

    def drafts(self):
        tokens, _, q = super().drafts()
        return [tokens[0], tokens[2]], [-1, 0], q


NEED_A_MODEL = {"logits.row", "logits.cause", "text.greedy"}  # test_wrong_numbers.py


class Doctor(Case):
    def findings(self, decoder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            decoder(self.path()).run()
        done = run_program("doctor", self.path(), "--json", check=False)
        found = json.loads(done.stdout)["findings"]
        self.assertEqual(done.returncode, 6 if found else 0, done.stderr)
        return found

    def test_right_decoders_have_no_findings(self):
        self.need_program()
        for decoder in RIGHT:
            with self.subTest(decoder.__name__):
                self.assertEqual(self.findings(decoder), [])

    def test_a_wrong_decoder_has_its_code_and_no_other(self):
        self.need_program()
        for code, decoders in WRONG.items():
            for decoder in decoders:
                with self.subTest(decoder.__name__):
                    self.assertEqual({one["code"] for one in self.findings(decoder)}, {code})

    def test_every_code_has_a_wrong_decoder(self):
        with open(f"{SOURCE}/docs/doctor.md", encoding="utf-8") as file:
            codes = set(re.findall(r"^### ([a-z]+(?:\.[a-z]+)?)$", file.read(), re.M))
        self.assertGreater(len(codes), 20)
        self.assertEqual(codes, set(WRONG) | NEED_A_MODEL)


if __name__ == "__main__":
    unittest.main()
