"""SPACE's greedy decoding, with every row run: shows that its text is the target's own, which simulate.py takes for granted.

A step's rows: the root, the candidates c_1 … c_k after it, and k masks behind each of these k + 1. The root's row judges c_1, that of c_i
judges c_{i+1}; with a accepted, the row of c_a gives the next root, and the masks behind c_a the next candidates. The prompt's step has the
prompt for candidates that need no verdict, and masks behind its last token alone.
"""

import torch
import torch.nn.functional as F


class Rows:
    """Keys and values of the prefix and of the text so far, and a step's rows over them."""

    def __init__(self, head):
        self.head, self.target = head, head.base.target
        self.prefix = head.prefix_keys.shape[2]
        self.kept = [(k[None].to(self.target.dtype), v[None].to(self.target.dtype)) for k, v in zip(head.prefix_keys, head.prefix_values)]

    def step(self, tokens, first, position):
        """tokens follow the text, from `position` on; masks stand behind those from `first` on. -> best ids of the tokens' rows [r], of the masks'
        rows [r - first, k]. All rows' keys are kept until keep()."""
        k, r, device = self.head.depth, len(tokens), self.target.device
        groups = r - first
        R = r + groups * k
        behind = torch.arange(first, r, device=device).repeat_interleave(k)
        nth = torch.arange(k, device=device).repeat(groups)
        x = torch.cat((self.target.embed(torch.tensor(tokens, device=device)), self.head.mask_embeddings.repeat(groups, 1)))
        positions = position + torch.cat((torch.arange(r, device=device), behind + 1 + nth))
        columns = self.kept[0][0].shape[2]
        seen = torch.zeros(R, columns + R, dtype=torch.bool, device=device)
        seen[:, self.prefix: columns] = True
        seen[r:, : self.prefix] = True
        seen[:r, columns: columns + r] = torch.ones(r, r, device=device).tril() > 0
        seen[r:, columns: columns + r] = torch.arange(r, device=device) <= behind[:, None]
        seen[r:, columns + r:] = (behind[:, None] == behind) & (nth[:, None] >= nth)

        def attend(layer, q, k, v):
            self.kept[layer] = tuple(torch.cat((old, new), 2) for old, new in zip(self.kept[layer], (k, v)))
            return F.scaled_dot_product_attention(q, *self.kept[layer], attn_mask=seen, enable_gqa=True)

        hidden, _ = self.target.run_embedded(x[None], positions[None], attend)
        best = self.target.logits(hidden[0]).argmax(-1)
        return best[:r].tolist(), best[r:].view(groups, k).tolist()

    def keep(self, length):
        """The text now has `length` tokens whose rows were computed."""
        self.kept = [(k[:, :, : self.prefix + length], v[:, :, : self.prefix + length]) for k, v in self.kept]


@torch.no_grad()
def space(head, prompt, tokens):
    """-> (the answer's ids: at most `tokens`, or up to the end token; [accepted candidates of each forward after the prompt's])."""
    rows, text, drafts, counts = Rows(head), list(prompt), [], []
    end, eos = len(prompt) + tokens, head.base.config["eos"]
    pending = list(prompt)  # tokens of the text whose rows are not computed; the last is the root
    while True:
        root = len(pending) - 1
        best, masks = rows.step(pending + drafts, root, len(text) - len(pending))
        accepted = 0
        while accepted < len(drafts) and drafts[accepted] == best[root + accepted]:
            accepted += 1
        counts += [accepted] if drafts else []
        for token in drafts[:accepted] + [best[root + accepted]]:
            text.append(token)
            if len(text) == end or token == eos:
                return text[len(prompt):], counts
        rows.keep(len(text) - 1)
        pending, drafts = [text[-1]], masks[accepted]
