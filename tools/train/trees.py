"""Trees of drafts, simulated on known text: static ones chosen from measured accuracies, and EAGLE-2's dynamic one.

A path is accepted only where it is the text's, so a static tree needs the ranks of the real tokens alone: the heads see what they would
see on that path. A dynamic tree keeps the best nodes of all, so it is drafted in full.
"""

import heapq

import torch

import data
import layers
import simulate


@torch.no_grad()
def ranks_of(head, batch, depth):
    """int [B, M, depth]: how many columns the head puts above the real x[i+2+j], given the real tokens before it. Far off: 1 << 20."""
    found = []
    for j, (_, logits) in enumerate(head.rollout(batch, depth, own=False)):
        real = batch.token(2 + j)
        ids = head.ids(torch.arange(logits.shape[-1], device=logits.device))
        column = torch.full((head.base.config["vocab"],), -1, dtype=torch.long, device=logits.device)
        column[ids] = torch.arange(len(ids), device=logits.device)
        at = column[real]
        value = logits.gather(-1, at.clamp(min=0)[..., None])
        found.append(torch.where(at < 0, 1 << 20, (logits > value).sum(-1)))
    return torch.stack(found, -1)


def accuracies(head, batches, depth, ranks=40):
    """[depth][ranks]: share of positions whose real token has that rank at that depth (the depths before it being right)."""
    counts, total = torch.zeros(depth, ranks), torch.zeros(depth)
    for batch, _ in batches:
        found = ranks_of(head, batch, depth)
        for j in range(min(depth, found.shape[-1])):
            here = found[..., j][batch.ahead(j)]
            total[j] += len(here)
            counts[j] += torch.bincount(here[here < ranks], minlength=ranks).cpu()
    return (counts / total[:, None].clamp(min=1)).tolist()


def static_tree(accuracy, nodes):
    """The `nodes` paths of ranks with the largest product of accuracies (Medusa, section 2.3). A parent comes before its children."""
    depth, ranks = len(accuracy), len(accuracy[0])
    # Accuracies need not fall with rank: the best child is looked for among all.
    heap = [(-accuracy[0][r], (r,)) for r in range(ranks)]
    heapq.heapify(heap)
    chosen = []
    while heap and len(chosen) < nodes:
        score, path = heapq.heappop(heap)
        if score == 0:
            break
        chosen.append(path)
        if len(path) < depth:
            for r in range(ranks):
                heapq.heappush(heap, (score * accuracy[len(path)][r], path + (r,)))
    return chosen


def static_tally(head, batches, tree, depth):
    tally, paths = simulate.Tally(depth), set(tree)
    for batch, dialogues in batches:
        ranks = ranks_of(head, batch, depth)
        for r, dialogue in enumerate(dialogues):
            at = {int(i): ranks[r, m].tolist() for m, i in enumerate(batch.sel[r]) if batch.valid[r, m]}

            def accept(i):
                path = at.get(i, [1 << 20])
                n = 0
                while n < len(path) and tuple(path[: n + 1]) in paths:
                    n += 1
                return n

            for begin, end in dialogue.spans:
                tally.add(*simulate.walk(accept, begin, end))
    return tally


class DynamicTree:
    """EAGLE-2 over one text: `draft(i)` gives the paths kept at state i with the root x[i+1]. States must come in rising order."""

    def __init__(self, head, batch, row=0, top=10, depth=6, nodes=59):
        self.head, self.top, self.depth, self.nodes = head, top, depth, nodes
        self.ids = batch.ids[row]
        one = data.Batch(batch.ids[row: row + 1], batch.final[row: row + 1], batch.raw[row: row + 1], None, None)
        self.features = head.features(one)
        self.cache, self.known = layers.Path(), 0

    @torch.no_grad()
    def draft(self, i):
        """-> {path of token ids: score} of the nodes kept, parents included."""
        head, device = self.head, self.ids.device
        if self.cache.k is not None:
            self.cache.cut(self.known)
        self.cache.mask = None
        positions = torch.arange(self.known, i + 1, device=device)[None]
        tokens = self.ids[self.known + 1: i + 2][None]
        out = head.step(self.features[:, self.known: i + 1], head.base.embed(tokens), positions, self.cache)[:, -1:]
        self.known = i + 1
        pool = {}
        parents, states = [((), 0.0)], out
        ancestors = []  # of each parent: its columns in the cache
        for level in range(self.depth + 1):
            scores = head.logits(states)[0].log_softmax(-1)
            best, columns = scores.topk(min(self.top, scores.shape[-1]))
            ids = head.ids(columns)
            children = [(path + (int(ids[p, c]),), score + float(best[p, c]), p) for p, (path, score) in enumerate(parents) for c in range(ids.shape[1])]
            for path, score, _ in children:
                pool[path] = score
            if level == self.depth:
                break
            kept = sorted(children, key=lambda x: -x[1])[: self.top]
            start = self.cache.k.shape[2]
            mask = torch.zeros(len(kept), start + len(kept), dtype=torch.bool, device=device)
            mask[:, : self.known] = True
            columns_of = []
            for n, (_, _, p) in enumerate(kept):
                columns_of.append((ancestors[p] if ancestors else []) + [start + n])
                mask[n, columns_of[-1]] = True
            self.cache.mask = mask
            tokens = torch.tensor([[path[-1] for path, _, _ in kept]], device=device)
            h = states[:, [p for _, _, p in kept]]
            states = head.step(h, head.base.embed(tokens), torch.full((1, len(kept)), i + 1 + level, device=device), self.cache)
            parents, ancestors = [(path, score) for path, score, _ in kept], columns_of
        chosen = sorted(pool.items(), key=lambda x: (-x[1], len(x[0])))[: self.nodes]
        return dict(chosen)


def dynamic_tally(head, batches, depth=6, nodes=59, top=10):
    """top: children that a node proposes, and nodes of a level that propose (EAGLE's top_k); levels: depth + 1."""
    tally = simulate.Tally(depth + 1)
    for batch, dialogues in batches:
        for r, dialogue in enumerate(dialogues):
            tree = DynamicTree(head, batch, r, top, depth, nodes)

            def accept(i):
                paths, n = tree.draft(i), 0
                while i + 2 + n < len(dialogue.ids) and tuple(dialogue.ids[i + 2: i + 3 + n]) in paths:
                    n += 1
                return n

            for begin, end in dialogue.spans:
                tally.add(*simulate.walk(accept, begin, end))
    return tally
