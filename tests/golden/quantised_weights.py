#!/usr/bin/env python3
"""Writes tests/fixtures/quantised: one tiny Llama with random weights a folder, quantised in every safetensors format that is read, and
expected.json, the hash of the bits of every weight as the format's own library dequantises it.

  pip install torch transformers==5.17.0 bitsandbytes==0.50.2 compressed-tensors==0.20.0
  python tests/golden/quantised_weights.py
fp8: transformers' Fp8Dequantize. nf4, fp4, int8: bitsandbytes. Formats of compressed-tensors: its compressors. GPTQ and AWQ: the formulas of
GPTQModel 7.7 (nn_modules/qlinear, dequantize_weight; utils/model.py, convert_gptq_v1_to_v2_format) and AutoAWQ 0.2.9
(utils/packing_utils.py, dequantize_gemm), because neither library installs without a GPU's compiler.
The hash: sum over i of bits[i] * (2 i + 1), modulo 2^64.
"""
import json
import pathlib

import bitsandbytes.functional as bnb
import numpy as np
import torch
from bitsandbytes.backends.default.ops import _dequantize_4bit_compute
from bitsandbytes.backends.utils import _get_4bit_code
from compressed_tensors.compressors.naive_quantized.base import NaiveQuantizationCompressor
from compressed_tensors.compressors.pack_quantized.base import PackedQuantizationCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import Fp8Dequantize

OUT = pathlib.Path(__file__).parent.parent / "fixtures" / "quantised"
HIDDEN, HEADS, KV, INTER, VOCAB, GROUP = 32, 2, 1, 64, 32, 16
SHAPES = {"self_attn.q_proj": (32, 32), "self_attn.k_proj": (16, 32), "self_attn.v_proj": (16, 32), "self_attn.o_proj": (32, 32),
          "mlp.gate_proj": (64, 32), "mlp.up_proj": (64, 32), "mlp.down_proj": (32, 64)}
CONFIG = {"model_type": "llama", "hidden_size": HIDDEN, "num_attention_heads": HEADS, "num_key_value_heads": KV, "intermediate_size": INTER,
          "vocab_size": VOCAB, "num_hidden_layers": 1, "tie_word_embeddings": True}


def hash_of(values):
    bits = values.float().contiguous().reshape(-1).numpy().view(np.uint32).astype(np.uint64)
    with np.errstate(over="ignore"):
        return str(int((bits * (2 * np.arange(bits.size, dtype=np.uint64) + 1)).sum(dtype=np.uint64)))


def fp8(weight, block):
    rows, cols = block or weight.shape
    blocks = weight.reshape(weight.shape[0] // rows, rows, weight.shape[1] // cols, cols)
    scale = blocks.abs().amax(dim=(1, 3)) / 448
    codes = (blocks / scale[:, None, :, None]).reshape(weight.shape).to(torch.float8_e4m3fn)
    values = Fp8Dequantize(None)._dequantize_one(codes, scale, output_dtype=torch.float32)
    if block is None:
        return {"weight": codes, "weight_scale_inv": scale.reshape(()), "activation_scale": torch.tensor(0.5)}, values
    return {"weight": codes, "weight_scale_inv": scale}, values


def packed(codes, bits, order):
    """Codes [n, m] into words [n, m * bits / 32]; order[i]: which of a word's codes lies at place i."""
    per = 32 // bits
    groups = codes.reshape(codes.shape[0], -1, per).numpy().astype(np.uint32)
    words = np.zeros(groups.shape[:2], dtype=np.uint32)
    for place, of in enumerate(order):
        words |= groups[:, :, of] << np.uint32(place * bits)
    return torch.from_numpy(words.view(np.int32))


def gptq(weight, generator, bits, less_one, act_order):
    rows, cols = weight.shape
    codes = torch.randint(0, 1 << bits, (cols, rows), generator=generator)
    zeros = torch.randint(1 if less_one else 0, 1 << bits, (cols // GROUP, rows), generator=generator)
    scales = (torch.rand(cols // GROUP, rows, generator=generator) * 0.02 + 0.001).half()
    g_idx = torch.arange(cols) // GROUP
    if act_order:
        g_idx = g_idx[torch.randperm(cols, generator=generator)]
    values = scales[g_idx] * (codes.half() - zeros.half()[g_idx])
    order = range(32 // bits)
    parts = {"qweight": packed(codes.T.contiguous(), bits, order).T.contiguous(),
             "qzeros": packed(zeros - (1 if less_one else 0), bits, order), "scales": scales, "g_idx": g_idx.int()}
    return parts, values.T


def awq(weight, generator):
    rows, cols = weight.shape
    codes = torch.randint(0, 16, (cols, rows), generator=generator)
    zeros = torch.randint(0, 16, (cols // GROUP, rows), generator=generator)
    scales = (torch.rand(cols // GROUP, rows, generator=generator) * 0.02 + 0.001).half()
    values = (codes - zeros.repeat_interleave(GROUP, dim=0)) * scales.repeat_interleave(GROUP, dim=0)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    return {"qweight": packed(codes, 4, order), "qzeros": packed(zeros, 4, order), "scales": scales}, values.T


def bnb4(weight, kind, dtype, nested):
    codes, state = bnb.quantize_4bit(weight.to(dtype), quant_type=kind, compress_statistics=nested, blocksize=64)
    parts = {"weight": codes}
    for name, tensor in state.as_dict(packed=True).items():
        parts["weight." + name] = tensor
    # The CPU kernel of 0.50 is wrong for rows shorter than a block.
    magnitudes = state.absmax
    if state.nested:
        magnitudes = bnb.dequantize_blockwise(state.absmax, state.state2) + state.offset
    return parts, _dequantize_4bit_compute(codes.reshape(-1), magnitudes, _get_4bit_code(kind, "cpu"), 64, weight.shape, dtype)


def int8(weight):
    codes, scb, _ = bnb.int8_vectorwise_quant(weight.half())
    return {"weight": codes, "SCB": scb, "weight_format": torch.tensor(0, dtype=torch.uint8)}, bnb.int8_vectorwise_dequant(codes, scb)


def compressed(weight, compressor, dtype, **args):
    arguments = QuantizationArgs(**args)
    scheme = QuantizationScheme(targets=["Linear"], weights=arguments)
    size = args.get("group_size") or weight.shape[1]
    groups = weight.reshape(weight.shape[0], -1, size)
    least, most = groups.amin(dim=-1), groups.amax(dim=-1)
    levels = 448 if args["type"] == "float" else (1 << args["num_bits"] - 1) - 1
    state = {"weight": weight.to(dtype)}
    if args.get("symmetric", True):
        state["weight_scale"] = (torch.maximum(-least, most) / levels).to(dtype)
    else:
        state["weight_scale"] = ((most - least) / (2 * levels + 1)).to(dtype)
        state["weight_zero_point"] = (-(levels + 1) - least / state["weight_scale"].float()).round().clamp(-levels - 1, levels).to(torch.int8)
    parts = compressor.compress(state, scheme)
    return parts, compressor.decompress(parts, scheme)["weight"]


def compressed_blocks(weight, size, generator):
    """A scale a block of `size` by `size` values, of which the last ones may be a part."""
    arguments = QuantizationArgs(num_bits=8, type="float", strategy="block", block_structure=[size, size])
    scheme = QuantizationScheme(targets=["Linear"], weights=arguments)
    scale = torch.rand([-(-extent // size) for extent in weight.shape], generator=generator) * 0.001 + 0.0002
    parts = NAIVE.compress({"weight": weight.bfloat16(), "weight_scale": scale.bfloat16()}, scheme)
    return parts, NAIVE.decompress(parts, scheme)["weight"]


def compressed_config(fmt, **args):
    return {"quant_method": "compressed-tensors", "format": fmt, "ignore": ["lm_head"], "quantization_status": "compressed",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": args}}}


INT4 = dict(num_bits=4, type="int", strategy="group", group_size=GROUP)
PACK, NAIVE = PackedQuantizationCompressor, NaiveQuantizationCompressor
FOLDERS = {
    "fp8_blocks": ({"quant_method": "fp8", "weight_block_size": [16, 16]}, lambda w, g: fp8(w, (16, 16))),
    "fp8_tensor": ({"quant_method": "fp8", "weight_block_size": None, "activation_scheme": "static"}, lambda w, g: fp8(w, None)),
    "gptq": ({"quant_method": "gptq", "bits": 4, "group_size": GROUP, "desc_act": True}, lambda w, g: gptq(w, g, 4, True, True)),
    "gptq_8_bit": ({"quant_method": "gptq", "bits": 8, "group_size": GROUP, "checkpoint_format": "gptq_v2"},
                   lambda w, g: gptq(w, g, 8, False, False)),
    "awq": ({"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "gemm", "zero_point": True}, awq),
    "nf4": ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True},
            lambda w, g: bnb4(w, "nf4", torch.bfloat16, True)),
    "fp4": ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "fp4"},
            lambda w, g: bnb4(w, "fp4", torch.float16, False)),
    "llm_int8": ({"quant_method": "bitsandbytes", "load_in_8bit": True}, lambda w, g: int8(w)),
    "packed_int4": (compressed_config("pack-quantized", symmetric=True, **INT4),
                    lambda w, g: compressed(w, PACK, torch.bfloat16, symmetric=True, **INT4)),
    "packed_int4_zero_points": (compressed_config("pack-quantized", symmetric=False, **INT4),
                                lambda w, g: compressed(w, PACK, torch.float16, symmetric=False, **INT4)),
    "packed_int8_by_row": (compressed_config("pack-quantized", num_bits=8, type="int", strategy="channel"),
                           lambda w, g: compressed(w, PACK, torch.bfloat16, num_bits=8, type="int", strategy="channel")),
    "fp8_by_row": (compressed_config("float-quantized", num_bits=8, type="float", strategy="channel"),
                   lambda w, g: compressed(w, NAIVE, torch.bfloat16, num_bits=8, type="float", strategy="channel")),
    "int8_zero_points": (compressed_config("int-quantized", num_bits=8, type="int", strategy="channel", symmetric=False),
                         lambda w, g: compressed(w, NAIVE, torch.bfloat16, num_bits=8, type="int", strategy="channel", symmetric=False)),
    "fp8_part_blocks": (compressed_config("float-quantized", num_bits=8, type="float", strategy="block", block_structure=[24, 24]),
                        lambda w, g: compressed_blocks(w, 24, g)),
}

expected = {}
for number, (folder, (config, quantise)) in enumerate(FOLDERS.items()):
    generator = torch.Generator().manual_seed(number + 1)
    tensors = {"model.embed_tokens.weight": torch.randn(VOCAB, HIDDEN, generator=generator).half(), "model.norm.weight": torch.ones(HIDDEN).half()}
    for norm in ("input_layernorm", "post_attention_layernorm"):
        tensors[f"model.layers.0.{norm}.weight"] = torch.ones(HIDDEN).half()
    expected[folder] = {}
    for name, shape in SHAPES.items():
        parts, values = quantise(torch.randn(shape, generator=generator) * 0.1, generator)
        assert values.shape == shape and torch.isfinite(values).all(), (folder, name)
        for part, tensor in parts.items():
            tensors[f"model.layers.0.{name}.{part}"] = tensor.contiguous()
        expected[folder][name] = hash_of(values)
    (OUT / folder).mkdir(parents=True, exist_ok=True)
    (OUT / folder / "config.json").write_text(json.dumps({**CONFIG, "quantization_config": config}, indent=1) + "\n")
    save_file(tensors, OUT / folder / "model.safetensors")
(OUT / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
