"""The token tree of a run: a node is a number, node 0 the prompt's end."""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional, Tuple


class Tree:
    """Columns by node; `children` finds a path's continuation by its token."""

    __slots__ = ("parent", "token", "depth", "score", "logprob", "children")

    def __init__(self) -> None:
        self.parent: List[int] = [-1]
        self.token: List[int] = [-1]
        self.depth: List[int] = [0]
        self.score: List[Optional[float]] = [0.0]
        self.logprob: List[Optional[float]] = [0.0]
        self.children: Dict[Tuple[int, int], int] = {}

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
        self.children.setdefault((parent, token), node)
        return node

    def hang_many(self, parents: List[int], tokens: List[int]) -> range:
        """hang() of many without log p, of which none is there yet; a parent may be one of them."""
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
        self.children.update(zip(zip(parents, tokens), nodes))
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
            node = self.children.get((node, token), -1)
            if node < 0:
                return -1
        return node

    def cut(self, first: int) -> None:
        """Takes back the nodes from `first` on."""
        for node in range(first, len(self.parent)):
            key = (self.parent[node], self.token[node])
            if self.children.get(key) == node:
                del self.children[key]
        del self.parent[first:], self.token[first:], self.depth[first:], self.score[first:], self.logprob[first:]
