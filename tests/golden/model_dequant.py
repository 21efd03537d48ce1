#!/usr/bin/env python3
"""Writes model_dequant.json beside it: what the gguf package makes of pseudo-random blocks of every ggml type, as a hash of its bits,
and of the tensors of SmolLM2's GGUF where its path is given.

  python tests/golden/model_dequant.py [.deps/models/SmolLM2-135M-Instruct.Q4_1.gguf]
The hash: sum over i of bits[i] * (2 i + 1), modulo 2^64. Blocks: splitmix64 from 1, little endian; the top exponent bit of every fp16
(fp32, bf16) scale is cleared, so that none is infinite or NaN.
"""
import importlib.metadata
import json
import pathlib
import sys

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as T

BLOCKS = 512
# Bytes of a block with a sign and the upper bits of an exponent.
EXPONENTS = {"F64": [7], "F32": [3], "F16": [1], "BF16": [1], "Q4_0": [1], "Q4_1": [1, 3], "Q5_0": [1], "Q5_1": [1, 3], "Q8_0": [1],
             "Q2_K": [81, 83], "Q3_K": [109], "Q4_K": [1, 3], "Q5_K": [1, 3], "Q6_K": [209], "IQ4_NL": [1], "IQ4_XS": [1],
             "IQ3_S": [1], "IQ3_XXS": [1], "IQ2_S": [1], "IQ2_XS": [1], "IQ2_XXS": [1], "IQ1_M": [55], "IQ1_S": [1], "TQ1_0": [53],
             "TQ2_0": [65], "MXFP4": [0], "NVFP4": []}
MASK = (1 << 64) - 1


def splitmix(count):
    state, out = 1, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        out.append(z ^ (z >> 31))
    return out


def hash_of(values):
    bits = np.ascontiguousarray(values, dtype=np.float32).reshape(-1).view(np.uint32).astype(np.uint64)
    with np.errstate(over="ignore"):
        return str(int((bits * (2 * np.arange(bits.size, dtype=np.uint64) + 1)).sum(dtype=np.uint64)))


types = {}
for name, exponents in EXPONENTS.items():
    kind = T[name]
    size = GGML_QUANT_SIZES[kind][1]
    words = splitmix((BLOCKS * size + 7) // 8)
    blocks = np.array(words, dtype="<u8").view(np.uint8)[:BLOCKS * size].reshape(BLOCKS, size).copy()
    for offset in exponents:
        blocks[:, offset] &= 0xBF
    if name == "F64":  # the package has numpy read it
        values = blocks.view("<f8").astype(np.float32)
    else:
        values = gguf.quants.dequantize(blocks.reshape(1, -1), kind)
    assert np.isfinite(values).all(), name
    types[name] = {"exponents": exponents, "values": int(values.size), "hash": hash_of(values)}

tensors = {}
if len(sys.argv) > 1:
    for tensor in gguf.GGUFReader(sys.argv[1]).tensors:
        tensors[tensor.name] = hash_of(gguf.quants.dequantize(tensor.data, tensor.tensor_type))

out = {"gguf": importlib.metadata.version("gguf"), "numpy": np.__version__, "blocks": BLOCKS, "types": types,
       "tensors": tensors}
pathlib.Path(__file__).with_name("model_dequant.json").write_text(json.dumps(out, indent=1) + "\n")
