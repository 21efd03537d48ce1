"""Models of a given shape with random weights: llamas as safetensors or GGUF, for timing loading and steps."""
import dataclasses
import json
import math
import pathlib
import random
import struct


@dataclasses.dataclass
class Shape:
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    vocab: int
    layers: int
    tied: bool = True
    context: int = 65536
    experts: int = 0  # > 0: this many MLPs in every layer, of which a token goes through `used` (GGUF alone)
    used: int = 0

    @property
    def kv(self):
        return self.hidden // self.heads * self.kv_heads

    def matrices(self):
        """Of one layer: (name in safetensors, name in GGUF, outputs, inputs)."""
        return [("self_attn.q_proj", "attn_q", self.hidden, self.hidden), ("self_attn.k_proj", "attn_k", self.kv, self.hidden),
                ("self_attn.v_proj", "attn_v", self.kv, self.hidden), ("self_attn.o_proj", "attn_output", self.hidden, self.hidden),
                ("mlp.gate_proj", "ffn_gate", self.inner, self.hidden), ("mlp.up_proj", "ffn_up", self.inner, self.hidden),
                ("mlp.down_proj", "ffn_down", self.hidden, self.inner)]

    def read_by_a_step(self):
        """Weights that a step of one token reads: every matrix that it goes through and the output head, not the rows of an embedding of
        its own."""
        times = {"mlp": self.used} if self.experts else {}
        layer = sum(times.get(name.split(".")[0], 1) * a * b for name, _, a, b in self.matrices()) + self.experts * self.hidden
        return self.layers * layer + self.vocab * self.hidden


# SmolLM2-135M's, Llama-3.2-1B's and Llama-3.1-8B's; "tiny" is for trying a script, "1B of 3B" has eight experts, as Mixtral.
SHAPES = {"tiny": Shape(256, 512, 4, 2, 512, 2), "135M": Shape(576, 1536, 9, 3, 49152, 30), "1B": Shape(2048, 8192, 32, 8, 128256, 16),
          "8B": Shape(4096, 14336, 32, 8, 128256, 32, tied=False), "1B of 3B": Shape(2048, 4096, 32, 8, 32000, 16, experts=8, used=2)}


def byte_letters():
    """The letter of each byte in a byte-level vocabulary."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b if b in printable else next(others)) for b in range(256)]


def write_tokenizer(folder):
    """Byte-level BPE without merges: a token a byte."""
    vocab = {letter: b for b, letter in enumerate(byte_letters())}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": level, "post_processor": None, "decoder": level,
        "model": {"type": "BPE", "vocab": vocab, "merges": []}}))


def fill(file, block, size):
    """`size` bytes of `block` again and again."""
    while size > 0:
        size -= file.write(block[:min(size, len(block))])


def write_safetensors(folder, shape, dtype):
    """A folder with config.json and model.safetensors in BF16 or F32; returns the bytes of its tensors."""
    folder = pathlib.Path(folder)
    width = {"BF16": 2, "F32": 4}[dtype]
    tensors = {"model.embed_tokens.weight": (shape.vocab, shape.hidden), "model.norm.weight": (shape.hidden,)}
    if not shape.tied:
        tensors["lm_head.weight"] = (shape.vocab, shape.hidden)
    for i in range(shape.layers):
        tensors |= {f"model.layers.{i}.{name}.weight": (outputs, inputs) for name, _, outputs, inputs in shape.matrices()}
        tensors |= {f"model.layers.{i}.{name}.weight": (shape.hidden,) for name in ("input_layernorm", "post_attention_layernorm")}
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": shape.hidden, "intermediate_size": shape.inner,
        "num_attention_heads": shape.heads, "vocab_size": shape.vocab, "num_key_value_heads": shape.kv_heads,
        "num_hidden_layers": shape.layers, "max_position_embeddings": shape.context, "rope_theta": 500000.0, "rms_norm_eps": 1e-5,
        "tie_word_embeddings": shape.tied}))
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, sizes in tensors.items():
        size = width * sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
        header[name] = {"dtype": dtype, "shape": list(sizes), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    # Small numbers: random low bits, an exponent that makes them about 0.01.
    source = random.Random(1)
    block = b"".join(source.randbytes(width - 1) + b"\x3c" for _ in range((1 << 20) // width))
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        fill(file, block, at)
    return at


# GGUF's number of a type, values a block, bytes a block, how a block with small scales begins, and how it ends.
BLOCKS = {"Q4_K": (12, 256, 144, b"\x00\x06\x00\x06", b""), "Q4_1": (3, 32, 20, b"\x00\x0e\x00\x9a", b""),
          "Q5_K": (13, 256, 176, b"\x00\x06\x00\x06", b""), "Q6_K": (14, 256, 210, b"", b"\x00\x02"), "MXFP4": (39, 32, 17, b"\x78", b""),
          "NVFP4": (40, 64, 36, b"\x08\x09\x0a\x0b", b"")}


def vocabulary_fields(size, text):
    """A byte-level vocabulary with one merge, filled up with names: llama.cpp opens no file without one."""
    names = byte_letters() + ["th"] + [f"<{i}>" for i in range(257, size)]
    array = lambda kind, count, data: struct.pack("<IIQ", 9, kind, count) + data
    return [text("tokenizer.ggml.model") + struct.pack("<I", 8) + text("gpt2"), text("tokenizer.ggml.pre") + struct.pack("<I", 8) + text("gpt-2"),
            text("tokenizer.ggml.tokens") + array(8, size, b"".join(map(text, names))),
            text("tokenizer.ggml.token_type") + array(5, size, struct.pack("<i", 1) * size), text("tokenizer.ggml.merges") + array(8, 1, text("t h"))]


def write_gguf(path, shape, kind, vocabulary=False):
    """Matrices of random blocks of `kind` with small scales, norms of ones; returns the file's bytes."""
    number, values, block_bytes, head, tail = BLOCKS[kind]
    f32 = 0

    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    settings = {"block_count": shape.layers, "context_length": shape.context, "embedding_length": shape.hidden, "feed_forward_length": shape.inner,
                "attention.head_count": shape.heads, "attention.head_count_kv": shape.kv_heads, "vocab_size": shape.vocab}
    if shape.experts:
        settings |= {"expert_count": shape.experts, "expert_used_count": shape.used}
    fields = [text("general.architecture") + struct.pack("<I", 8) + text("llama")]
    fields += [text("llama." + key) + struct.pack("<II", 4, value) for key, value in settings.items()]
    fields += [text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", 6, 1e-5),
               text("llama.rope.freq_base") + struct.pack("<If", 6, 500000.0)]
    if vocabulary:
        fields += vocabulary_fields(shape.vocab, text)
    tensors = {"token_embd.weight": (shape.hidden, shape.vocab), "output_norm.weight": (shape.hidden,)}
    if not shape.tied:
        tensors["output.weight"] = (shape.hidden, shape.vocab)
    for i in range(shape.layers):
        tensors |= {f"blk.{i}.{name}.weight": (shape.hidden,) for name in ("attn_norm", "ffn_norm")}
        for of, name, outputs, inputs in shape.matrices():
            stacked = shape.experts > 0 and of.startswith("mlp.")
            tensors[f"blk.{i}.{name}{'_exps' if stacked else ''}.weight"] = (inputs, outputs, shape.experts) if stacked else (inputs, outputs)
        if shape.experts:
            tensors[f"blk.{i}.ffn_gate_inp.weight"] = (shape.hidden, shape.experts)
    entries, sizes, at = [], [], 0
    for name, dims in tensors.items():
        router = "ffn_gate_inp" in name
        matrix = len(dims) > 1 and not router
        size = math.prod(dims) // values * block_bytes if matrix else 4 * math.prod(dims)
        entries.append(text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims) +
                       struct.pack("<IQ", number if matrix else f32, at))
        sizes.append((size, "matrix" if matrix else "router" if router else "norm"))
        at += (size + 31) // 32 * 32
    source = random.Random(1)
    blocks = b"".join(head + source.randbytes(block_bytes - len(head) - len(tail)) + tail for _ in range(1 << 13))
    of = {"matrix": blocks, "norm": struct.pack("<f", 1) * 4096,
          "router": b"".join(struct.pack("<f", source.uniform(-1, 1)) for _ in range(1 << 13))}
    with open(path, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields)) + b"".join(fields) + b"".join(entries))
        file.write(bytes(-file.tell() % 32))
        for size, kind_of in sizes:
            fill(file, of[kind_of], size)
            file.write(bytes(-size % 32))
        return file.tell()
