"""Tokens per forward that a head would reach under greedy decoding, from text that is known.

Greedy decoding is deterministic, so the text that the target wrote greedily is what verification would give: a forward over the root x[i+1]
and its drafts accepts the longest drafted path that the text goes on with, and adds one token. No tree has to be run through the target.
"""

import torch


@torch.no_grad()
def chain_drafts(head, batch, depth):
    """Drafted ids [B, M, depth] of a chain from every position of batch.sel."""
    return torch.stack([head.ids(logits.argmax(-1)) for _, logits in head.rollout(batch, depth, own=True)], -1)


def accepted(drafts, batch):
    """int [B, M]: how many of the chain's first tokens the text goes on with."""
    real = torch.stack([batch.token(2 + j) for j in range(drafts.shape[-1])], -1)
    return (drafts == real).long().cumprod(-1).sum(-1)


def walk(accept, begin, end):
    """Decodes x[begin … end) greedily: x[begin] comes from the prompt's forward, the rest from drafting steps. accept(i): drafts accepted at
    state i, root x[i+1]. -> (tokens, forwards, [accepted of each forward, not cut at the end])"""
    i, counts = begin - 1, []
    while i + 2 < end:
        counts.append(int(accept(i)))
        i += counts[-1] + 1
    return max(0, end - begin - 1), len(counts), counts


class Tally:
    """Sums over texts; by depth: of the forwards whose first k drafts were accepted, the share that accepted one more."""

    def __init__(self, depth):
        self.tokens = self.forwards = 0
        self.reached, self.passed = [0] * depth, [0] * depth

    def add(self, tokens, forwards, counts):
        self.tokens, self.forwards = self.tokens + tokens, self.forwards + forwards
        for count in counts:
            for k in range(len(self.reached)):
                self.reached[k] += count >= k
                self.passed[k] += count > k

    @property
    def per_forward(self):
        return self.tokens / self.forwards if self.forwards else 1.0

    @property
    def by_depth(self):
        return [p / r if r else 0.0 for p, r in zip(self.passed, self.reached)]


@torch.no_grad()
def chain_tally(head, batches, depth):
    """batches: (Batch, dialogues). Walks every greedy span."""
    tally = Tally(depth)
    for batch, dialogues in batches:
        counts = accepted(chain_drafts(head, batch, depth), batch)
        for r, dialogue in enumerate(dialogues):
            at = {int(i): int(n) for i, n, ok in zip(batch.sel[r], counts[r], batch.valid[r]) if ok}
            for begin, end in dialogue.spans:
                if begin >= 1:
                    tally.add(*walk(lambda i: at.get(i, 0), begin, end))
    return tally
