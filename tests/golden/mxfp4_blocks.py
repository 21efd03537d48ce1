#!/usr/bin/env python3
"""Writes mxfp4_blocks.json beside it: MXFP4 blocks and scales as gpt-oss's safetensors have them, and what transformers dequantises them to.

  python tests/golden/mxfp4_blocks.py
"""
import json
import pathlib

import torch
import transformers
from transformers.integrations import mxfp4

EXPERTS, ROWS, GROUPS = 2, 4, 2

blocks = torch.tensor([(i * 37 + 11) % 256 for i in range(EXPERTS * ROWS * GROUPS * 16)], dtype=torch.uint8)
blocks = blocks.reshape(EXPERTS, ROWS, GROUPS, 16)
scales = torch.tensor([100 + (i * 7) % 40 for i in range(EXPERTS * ROWS * GROUPS)], dtype=torch.uint8).reshape(EXPERTS, ROWS, GROUPS)
values = mxfp4.convert_moe_packed_tensors(blocks, scales, dtype=torch.float32)  # [experts, in, rows]
assert values.shape == (EXPERTS, GROUPS * 32, ROWS), values.shape

out = {"transformers": transformers.__version__, "blocks": blocks.tolist(), "scales": scales.tolist(),
       "values": values.transpose(1, 2).tolist()}
pathlib.Path(__file__).with_name("mxfp4_blocks.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
