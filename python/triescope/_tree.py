"""The token tree of a run: a node is a number, node 0 the prompt's end."""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional


class Tree:
    """Columns by node; `children` finds a path's continuation by its parent and token, as keys() has them."""

    __slots__ = ("parent", "token", "depth", "score", "logprob", "children")

    def __init__(self) -> None:
        self.parent: List[int] = [-1]
        self.token: List[int] = [-1]
        self.depth: List[int] = [0]
        self.score: List[Optional[float]] = [0.0]
        self.logprob: List[Optional[float]] = [0.0]
        self.children: Dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.parent)

    def hang(self, parent: int, token: int, logprob: Optional[float], score: Optional[float]) -> int:
        """A new node, also where there is one of that token."""
        node = len(self.parent)
        self.parent.append(parent)
        self.token.append(token)
        self.depth.append(self.depth[parent] + 1)
        if score is None and logprob is not None:
            above = self.score[parent]
            score = None if above is None else above + logprob
        self.score.append(score)
        self.logprob.append(logprob)
        self.children.setdefault(parent << 29 | token + 1, node)
        return node

    @staticmethod
    def keys(parents: Iterable[int], tokens: Iterable[int]) -> List[int]:
        """A number for each parent and token (at most 2^28, so that 29 bits hold what lies above it)."""
        return [parent << 29 | token + 1 for parent, token in zip(parents, tokens)]

    def child(self, parent: int, token: int) -> int:
        """-1: there is none."""
        return self.children.get(parent << 29 | token + 1, -1)

    def hang_many(self, parents: List[int], tokens: List[int], keys: List[int]) -> range:
        """hang() of many without log p, of which none is there yet; a parent may be one of them. `keys`: keys() of them."""
        first = len(self.parent)
        nodes = range(first, first + len(parents))
        depth = self.depth
        for parent in parents:
            depth.append(depth[parent] + 1)
        self.parent += parents
        self.token += tokens
        nothing = [None] * len(parents)
        self.score += nothing
        self.logprob += nothing
        self.children.update(zip(keys, nodes))
        return nodes

    def path(self, node: int) -> List[int]:
        """The nodes from the prompt's end down to `node`."""
        path: List[int] = []
        parent = self.parent
        while node > 0:
            path.append(node)
            node = parent[node]
        return path[::-1]

    def tokens(self, node: int) -> List[int]:
        return [self.token[one] for one in self.path(node)]

    def find(self, tokens: Iterable[int]) -> int:
        """The node of a text; -1: it is not in the tree."""
        node = 0
        for token in tokens:
            node = self.child(node, token)
            if node < 0:
                return -1
        return node

    def cut(self, first: int) -> None:
        """Takes back the nodes from `first` on."""
        for node in range(first, len(self.parent)):
            key = self.parent[node] << 29 | self.token[node] + 1
            if self.children.get(key) == node:
                del self.children[key]
        del self.parent[first:], self.token[first:], self.depth[first:], self.score[first:], self.logprob[first:]
