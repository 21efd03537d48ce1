"""What the adapter of transformers makes of a beam search that ends before its limit, without the library."""

import json
import types
import unittest

from tests.support import Case

import triescope
from triescope._generation import Generation


class Grid:
    """As much of a tensor as is asked for: [0].tolist(), [0, :, column].tolist()."""

    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, at):
        return Values(self.rows if at == 0 else [row[at[2]] for row in self.rows])


class Values(list):
    def tolist(self):
        return list(self)


class Logits:
    """A row a beam."""

    def __getitem__(self, at):
        return [[(4, -0.1), (5, -1.0)]] * at[0].stop


class BeamsThatEnd(Case):
    def search(self):
        """Two levels of two beams. In the second a text ends with 9, and the library may go on or not."""
        call = types.SimpleNamespace(kind="beams", samples=False, ends=[9], prompt=[1, 2], most=8, method="beam", beams=2, penalty=1.0,
                                     model=lambda model: {"eos_token_ids": [9]}, settings=lambda: {"num_beams": 2})
        one = Generation(None, self.path(), None, call, "full", True)
        one.cap.prompt([1, 2])
        one.has_prompt = one.is_first = True
        one.forward = {"ms": 1.0, "positions": None, "logits": Logits()}
        one.next_beams(Grid([-0.5, -0.7, -3.0, -4.0]), Grid([[1, 2, 4], [1, 2, 5], [1, 2, 6], [1, 2, 7]]), Grid([[0], [0], [0], [0]]),
                       Grid([False] * 4))
        one.write_level(is_last=False)
        one.forward = {"ms": 1.0, "positions": None, "logits": Logits()}
        one.next_beams(Grid([-0.6, -1.5, -1.6, -4.0]), Grid([[1, 2, 4, 9], [1, 2, 4, 5], [1, 2, 5, 6], [1, 2, 5, 7]]),
                       Grid([[0, 0], [0, 0], [1, 1], [1, 1]]), Grid([True] + [False] * 3))
        return one

    def end(self, one):
        one.write_level(is_last=True)
        one.cap.finish(sequences=[{"tokens": [4, 9], "score": -0.3}])
        with triescope.open(self.path()) as run:
            frontier = [row["step"] for row in run.rows("frontier")]
            nodes = {row["node"]: row["token"] for row in run.rows("node")}
            decided = [(nodes[row["node"]], row["verdict"], row["reason"]) for row in run.rows("verdict") if row["tick"] // 5 == 1]
            texts = [json.loads(row["tokens"]) for row in run.rows("sequence") if row["rank"] == -1]
        return frontier, decided, texts

    def test_beams_do_not_go_on_where_the_search_is_over(self):
        frontier, decided, texts = self.end(self.search())
        self.assertEqual(frontier, [0, 0])
        self.assertEqual(decided, [(9, "finished", "beam_eos"), (5, "pruned", "search_over")])
        self.assertEqual(texts, [[4, 9]])

    def test_beams_that_go_on_are_kept(self):
        one = self.search()
        one.write_level(is_last=False)
        frontier, decided, _ = self.end(one)
        self.assertEqual(frontier, [0, 0, 1, 1])
        self.assertIn((6, "kept", "beam_kept"), decided)


if __name__ == "__main__":
    unittest.main()
