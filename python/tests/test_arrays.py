"""What a caller hands over is recorded alike, whether it is lists, numpy arrays or torch tensors. Needs numpy, and for the tensors torch."""

import random
import unittest

from tests.support import Case

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

import triescope
from triescope._masks import mask_rows


def lines_of(rows, columns):
    chance = random.Random(rows * 1000 + columns)
    return [[chance.random() < 0.5 for _ in range(columns)] for _ in range(rows)]


@unittest.skipIf(numpy is None, "numpy is not installed")
class Arrays(Case):
    def forms(self, lines):
        """(name, the mask) in each form that a decoder has."""
        lowest = float(numpy.finfo(numpy.float32).min)
        additive = [[0.0 if one else lowest for one in line] for line in lines]
        yield "lists", lines
        yield "numbers", [[float(one) - 1e4 * (not one) for one in line] for line in lines]
        yield "additive lists", additive
        yield "numpy bools", numpy.array(lines, dtype=bool).reshape(len(lines), -1)
        yield "numpy 0 and 1", numpy.array(lines, dtype=numpy.uint8).reshape(len(lines), -1)
        yield "numpy floats", numpy.array(additive, dtype=numpy.float32).reshape(1, 1, len(lines), -1)
        yield "numpy, every other column of a wider one", numpy.repeat(numpy.array(lines, dtype=bool), 2, axis=1)[:, ::2]
        if torch is not None:
            wide = torch.tensor(additive).reshape(1, 1, len(lines), -1)
            yield "torch bools", torch.tensor(lines)
            yield "torch floats", wide
            yield "torch bf16", wide.bfloat16()
            yield "torch -inf", torch.zeros(wide.shape).masked_fill(wide < 0, float("-inf"))
            yield "torch, transposed", torch.tensor(lines).T.contiguous().T
            yield "torch with a gradient", wide.clone().requires_grad_()

    def test_a_mask_is_the_same_in_all_forms(self):
        for rows, columns in ((1, 1), (1, 9), (3, 3), (5, 8), (7, 64), (61, 561)):
            lines = lines_of(rows, columns)
            wanted = [sum(1 << i for i, one in enumerate(line) if one) for line in lines]
            for name, mask in self.forms(lines):
                self.assertEqual(mask_rows(mask, rows, "mask"), (wanted, columns), (name, rows, columns))

    def test_a_mask_of_other_rows_is_refused_in_all_forms(self):
        for name, mask in self.forms(lines_of(3, 5)):
            with self.assertRaisesRegex(TypeError, "expected a mask of 4 rows", msg=name):
                mask_rows(mask, 4, "mask")

    def recorded_dtype(self, logits, **model):
        with triescope.Recorder(self.path(), model=model) as cap:
            cap.prompt([1, 2])
            with cap.round() as r:
                r.commit(token=3)
            with cap.round() as r:
                r.rows([-1])
                r.target(logits)
                r.commit(token=1)
        with triescope.open(self.path()) as run:
            return run.run["model"]

    def test_a_coarse_dtype_of_logits_is_the_models_where_none_is_said(self):
        row = numpy.array([[0.0, 2.0, 1.0, 0.5]], dtype=numpy.float16)
        self.assertEqual(self.recorded_dtype(row, name="m"), {"name": "m", "dtype": "float16"})
        self.assertEqual(self.recorded_dtype(row, dtype="bf16"), {"dtype": "bf16"})
        self.assertEqual(self.recorded_dtype(row.astype(numpy.float32), name="m"), {"name": "m"})  # logits are often widened
        if torch is not None:
            self.assertEqual(self.recorded_dtype(torch.tensor(row.tolist()).bfloat16(), name="m"), {"name": "m", "dtype": "bfloat16"})


if __name__ == "__main__":
    unittest.main()
