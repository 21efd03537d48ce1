"""A network of a few lines and right decoders over it, from which tests of the doctor make wrong ones.

A row's logits are random numbers drawn from what the row sees: the token of each slot and how far its position lies before the
row's own (as rotary positions do). So whatever a decoder does wrong with masks, positions and slots changes what it writes."""

import math
import random

from triescope import Drafter, Recorder

VOCABULARY = 24
PAD = VOCABULARY  # no row gives it a chance
PROMPT = [1, 5, 9, 3]


def word(token):
    return f" w{token}"


def logprobs(seen):
    """Of the next token. `seen`: (distance, token) of every slot, the row's own at 0."""
    draw = random.Random(repr(sorted(seen)))
    logits = [draw.gauss(0, 2) for _ in range(VOCABULARY)]
    total = math.log(sum(map(math.exp, logits)))
    return [logit - total for logit in logits]


def after(text):
    """What the network says behind a text that it reads as it should."""
    return logprobs([(len(text) - 1 - i, token) for i, token in enumerate(text)])


def best(row):
    return max(range(len(row)), key=lambda token: row[token])


def greedy_text(count, prompt=PROMPT):
    text = list(prompt)
    for _ in range(count):
        text.append(best(after(text)))
    return text[len(prompt):]


class Network:
    """Slots hold tokens with their positions."""

    def __init__(self):
        self.kv = {}

    def after(self, text):
        return after(text)

    def forward(self, tokens, positions, slots, seen):
        """A row of log-probabilities each. `seen`: the slots that each row attends to."""
        self.kv.update(zip(slots, zip(tokens, positions)))
        return [logprobs([(at - self.kv[slot][1], self.kv[slot][0]) for slot in line if slot in self.kv])
                for at, line in zip(positions, seen)]


class TreeDecoder:
    """Greedy decoding with drafted trees: two tokens behind the text, one behind each of them. `shows`: what it records of its
    rows. `about`: more of the model for the capture."""

    settings = {"verify": "greedy"}
    drafter = Drafter("toy drafter", "other")
    length = 24
    ends = ()
    shows = ("mask", "positions", "logits")
    about = {}

    def __init__(self, path, network=None):
        self.path = path
        self.network = network or Network()
        self.text = list(PROMPT)
        self.slots = []  # of the text, but for its last token
        self.free = list(range(40 + 2 * self.length))
        self.draw = random.Random(3)

    def run(self):
        with Recorder(self.path, tokenizer=word, method="toy", kind="drafts", settings=self.settings, max_new_tokens=self.length,
                      model={"eos_token_ids": list(self.ends), "pad_token_id": PAD, "vocab_size": VOCABULARY + 1, **self.about}) as cap:
            self.cap = cap
            self.begin(self.take(len(PROMPT)))
            while not self.is_over():
                self.step()
            cap.finish(sequences=[self.returned()])

    def begin(self, slots):
        """The prompt, and the token behind it."""
        rows = self.network.forward(PROMPT, range(len(PROMPT)), slots, [slots[:i + 1] for i in range(len(PROMPT))])
        self.cap.prompt(PROMPT, logits=rows[-1] if "logits" in self.shows else None, slots=slots)
        self.slots = slots
        with self.cap.round() as r:
            token, u = self.choose(rows[-1])
            r.commit([], token=token, u=u)
        self.text.append(token)

    def step(self):
        with self.cap.round() as r:
            tokens, parents, q = self.drafts()
            r.draft(tokens, parents, q=q, drafter=self.drafter)
            slots = self.places(self.take(1 + len(tokens)), parents)
            positions = self.positions(parents)
            seen = [self.sees(row, parents, slots) for row in range(1 + len(tokens))]
            logits = self.network.forward([self.text[-1], *tokens], positions, slots, seen)
            r.rows(list(range(-1, len(tokens))), positions=positions if "positions" in self.shows else None, slots=slots,
                   mask=seen if "mask" in self.shows else None)
            if "logits" in self.shows:
                r.target(logits)
            accepted, own, numbers = self.verify(tokens, parents, q, logits)
            accepted, own = self.cut(tokens, accepted, own)
            self.text += [tokens[i] for i in accepted] + ([own] if own is not None else [])
            r.commit(accepted, token=own, ends=self.end(), **numbers)
            self.settle(r, slots, accepted)

    # What the wrong ones change.

    def choose(self, row):
        """A token and its u."""
        return best(row), None

    def is_right(self, depth):
        return self.draw.random() < 0.7

    def drafts(self):
        right = best(self.network.after(self.text))
        first = right if self.is_right(0) else (right + 1) % VOCABULARY
        second = best(self.network.after(self.text + [first]))
        second = second if self.is_right(1) else (second + 3) % VOCABULARY
        return [first, (right + 2) % VOCABULARY, second, 4], [-1, -1, 0, 1], None

    def positions(self, parents):
        depths = [0]
        for parent in parents:
            depths.append(depths[parent + 1] + 1)
        return [len(self.text) - 1 + depth for depth in depths]

    def take(self, count):
        taken, self.free = self.free[:count], self.free[count:]
        return taken

    def places(self, slots, parents):
        return slots

    def sees(self, row, parents, slots):
        line = []
        while row > 0:
            line.append(slots[row])
            row = parents[row - 1] + 1
        return self.slots + [slots[0]] + line[::-1]

    def verify(self, tokens, parents, q, logits):
        """The accepted path, the target's own token, and the numbers of commit()."""
        accepted, at = [], -1
        while True:
            wanted = best(logits[at + 1])
            found = next((i for i, parent in enumerate(parents) if parent == at and tokens[i] == wanted), None)
            if found is None:
                return accepted, wanted, {}
            accepted.append(found)
            at = found

    def cut(self, tokens, accepted, own):
        """Nothing behind the end of the text."""
        left = self.length - (len(self.text) - len(PROMPT))
        for count, i in enumerate(accepted, 1):
            if tokens[i] in self.ends or count == left:
                return accepted[:count], None
        return accepted, own

    def settle(self, r, slots, accepted):
        kept = [slots[0]] + [slots[1 + i] for i in accepted]
        self.slots = self.slots + kept
        if len(self.slots) == len(self.text):  # the last token of a text that ended has a slot too
            self.slots = self.slots[:-1]
        freed = [slot for slot in dict.fromkeys(slots) if slot not in kept]
        r.kv(freed=freed)
        self.free += freed

    def end(self):
        if self.text[-1] in self.ends:
            return "eos"
        return "length" if len(self.text) - len(PROMPT) >= self.length else None

    def is_over(self):
        return self.end() is not None

    def returned(self):
        return self.text[len(PROMPT):]


class ChainSampler(TreeDecoder):
    """Speculative sampling: three drafts drawn from q, accepted with min(1, p/q), else the rest of p."""

    settings = {"verify": "chain", "do_sample": True}
    length = 60

    def choose(self, row):
        u = self.draw.random()
        return self.drawn([math.exp(one) for one in row], u), u

    def drawn(self, p, u):
        u *= sum(p)
        for token, one in enumerate(p):
            u -= one
            if u < 0:
                return token
        return max(range(VOCABULARY), key=lambda token: p[token])

    def q_of(self, text):
        """The drafter knows half of what the network knows."""
        weights = [math.exp(one / 2) for one in self.network.after(text)]
        return [one / sum(weights) for one in weights]

    def pick(self, q):
        return self.drawn(q, self.draw.random())

    def drafts(self):
        text, q = list(self.text), []
        self.rows_of_q = []
        for _ in range(3):
            self.rows_of_q.append(self.q_of(text))
            text.append(self.pick(self.rows_of_q[-1]))
            q.append(self.rows_of_q[-1][text[-1]])
        return text[-3:], [-1, 0, 1], q

    def passes(self, u, p, q):
        return u < min(1, p / q)

    def rest(self, p, q):
        return [max(0.0, one - other) for one, other in zip(p, q)]

    def verify(self, tokens, parents, q, logits):
        ps, us, accepted = {}, {}, []
        for i, token in enumerate(tokens):
            p = [math.exp(one) for one in logits[i]]
            ps[i], us[i] = p[token], self.draw.random()
            if not self.passes(us[i], p[token], self.rows_of_q[i][token]):
                us["token"] = self.draw.random()
                return accepted, self.drawn(self.rest(p, self.rows_of_q[i]), us["token"]), {"p": ps, "u": us}
            accepted.append(i)
        us["token"] = self.draw.random()
        return accepted, self.drawn([math.exp(one) for one in logits[-1]], us["token"]), {"p": ps, "u": us}


class RoundsSampler(ChainSampler):
    """Three different tokens drawn from q behind the text; each is tried against what the refused ones left of p."""

    settings = {"verify": "multi_round", "do_sample": True}

    def drafts(self):
        first, tokens, q = self.q_of(self.text), [], []
        left = first
        self.rows_of_q = []
        for _ in range(3):
            total = sum(left)
            left = [one / total for one in left]
            self.rows_of_q.append(left)
            tokens.append(self.pick(left))
            q.append(first[tokens[-1]])
            left = [0.0 if token == tokens[-1] else one for token, one in enumerate(left)]
        return tokens, [-1, -1, -1], q

    def order(self, q):
        return range(len(q))

    def verify(self, tokens, parents, q, logits):
        p, ps, us, whys = [math.exp(one) for one in logits[0]], {}, {}, {}
        for i in self.order(q):
            token, q_row = tokens[i], self.rows_of_q[i]
            ps[i], us[i], whys[i] = p[token], self.draw.random(), {"q": q_row[token]}
            if self.passes(us[i], p[token], q_row[token]):
                us["token"] = self.draw.random()
                return [i], self.drawn([math.exp(one) for one in logits[i + 1]], us["token"]), {"p": ps, "u": us, "why": whys}
            p = self.rest(p, q_row)
            p = [one / sum(p) for one in p]
        us["token"] = self.draw.random()
        return [], self.drawn(p, us["token"]), {"p": ps, "u": us, "why": whys}


class BeamSearch:
    """The best three of all continuations go on; those that end a text among them are finished."""

    width = 3
    levels = 8
    end = 11

    def __init__(self, path):
        self.path = path

    def run(self):
        with Recorder(self.path, tokenizer=word, method="toy_beams", kind="beams", width=self.width, candidates=VOCABULARY,
                      settings={"num_beams": self.width, "length_penalty": 1.0}, max_new_tokens=self.levels,
                      model={"eos_token_ids": [self.end], "vocab_size": VOCABULARY}) as cap:
            cap.prompt(PROMPT, logits=after(PROMPT))
            beams, done = [(0.0, [])], []
            for level in range(self.levels):
                rows = [after(PROMPT + tokens) for _, tokens in beams]
                with cap.round() as r:
                    if level > 0:
                        r.rows(list(range(len(beams))))
                        r.target(rows)
                    found = self.continuations(beams, rows)
                    ended = [i for i in self.ending(found)]
                    kept = [] if level + 1 == self.levels else self.going_on(found)
                    if level + 1 == self.levels:  # the longest texts end here
                        ended += [i for i in self.going_on(found)]
                    finished = [(i, self.normalised(found[i][0], level + 1)) for i in ended]
                    r.level([token for _, _, token in found], [beam if level else -1 for _, beam, _ in found],
                            [score for score, _, _ in found], kept=kept, finished=finished)
                done += [(score, beams[found[i][1]][1] + [found[i][2]]) for i, score in finished]
                beams = [(found[i][0], beams[found[i][1]][1] + [found[i][2]]) for i in kept]
            done.sort(key=lambda one: -one[0])
            cap.finish(sequences=[{"tokens": tokens, "score": score} for score, tokens in done[:self.width]])

    def continuations(self, beams, rows):
        """The best 2 b of all: (Σ log p, beam, token)."""
        return sorted(((score + logprob, beam, token) for beam, ((score, _), row) in enumerate(zip(beams, rows))
                       for token, logprob in enumerate(row)), reverse=True)[:2 * self.width]

    def ending(self, found):
        return [i for i, (_, _, token) in enumerate(found[:self.width]) if token == self.end]

    def going_on(self, found):
        return [i for i, (_, _, token) in enumerate(found) if token != self.end][:self.width]

    def normalised(self, score, length):
        return score / length
