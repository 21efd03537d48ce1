#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets: tests/fuzz/corpus/<target>/. Standard library only; every file is made here, none is a real
model's. Run from anywhere: python3 tests/fuzz/make_corpus.py"""
import base64
import json
import pathlib
import re
import sqlite3
import struct
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def put(target, name, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)).encode()
    (folder / name).write_bytes(content)


def safetensors(tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, dtype, shape, content in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def make_safetensors():
    put("safetensors", "plain", safetensors([("a", "F32", [2, 2], bytes(16)), ("b", "BF16", [3], b"\x80\x3f" * 3)]))
    put("safetensors", "kinds", safetensors(
        [("h", "F16", [1], b"\0\x3c"), ("e", "F8_E4M3", [2], b"\x7f\x01"), ("f", "F8_E5M2", [2], b"\x7c\x80"),
         ("i", "I64", [1], bytes(8)), ("none", "F32", [0, 7], b"")], {"format": "pt"}))
    put("safetensors", "empty", safetensors([]))
    for folder in sorted((HERE.parent / "fixtures" / "quantised").iterdir()):
        if folder.is_dir():
            put("safetensors", folder.name, one_layer(folder / "model.safetensors"))


def one_layer(path):
    """The tensors of a quantised fixture's smallest weight."""
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    tensors = []
    for name, entry in json.loads(content[8:8 + size]).items():
        if ".k_proj." in name:
            begin, end = entry["data_offsets"]
            tensors.append((name, entry["dtype"], entry["shape"], content[8 + size + begin:8 + size + end]))
    return safetensors(tensors)


TYPES = {"u8": (0, "<B"), "i8": (1, "<b"), "u16": (2, "<H"), "i16": (3, "<h"), "u32": (4, "<I"), "i32": (5, "<i"),
         "f32": (6, "<f"), "bool": (7, "<B"), "u64": (10, "<Q"), "i64": (11, "<q"), "f64": (12, "<d")}


def gguf_text(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_value(kind, value):
    if kind == "str":
        return struct.pack("<I", 8) + gguf_text(value)
    if kind.startswith("["):
        inner = kind[1:]
        number = 8 if inner == "str" else TYPES[inner][0]
        body = b"".join(gguf_text(v) if inner == "str" else struct.pack(TYPES[inner][1], v) for v in value)
        return struct.pack("<IIQ", 9, number, len(value)) + body
    number, form = TYPES[kind]
    return struct.pack("<I", number) + struct.pack(form, value)


def gguf(keys, tensors):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for key, kind, value in keys:
        out += gguf_text(key) + gguf_value(kind, value)
    data = b""
    for name, shape, number, content in tensors:
        data += bytes(-len(data) % 32)
        out += gguf_text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape)
        out += struct.pack("<IQ", number, len(data))
        data += content
    return out + bytes(-len(out) % 32) + data


def model_keys(name, **more):
    keys = [("general.architecture", "str", name), (name + ".block_count", "u32", 1),
            (name + ".context_length", "u32", 64), (name + ".embedding_length", "u32", 8),
            (name + ".feed_forward_length", "u32", 16), (name + ".attention.head_count", "u32", 2),
            (name + ".attention.head_count_kv", "u32", 1),
            (name + ".attention.layer_norm_rms_epsilon", "f32", 1e-5), (name + ".vocab_size", "u32", 6)]
    return keys + [(name + "." + key.replace("__", "."), kind, value) for key, (kind, value) in more.items()]


BPE_KEYS = [("tokenizer.ggml.model", "str", "gpt2"), ("tokenizer.ggml.pre", "str", "smollm"),
            ("tokenizer.ggml.tokens", "[str", ["<s>", "a", "b", "ab", "\u0120", "1"]),
            ("tokenizer.ggml.token_type", "[i32", [3, 1, 1, 1, 1, 1]), ("tokenizer.ggml.merges", "[str", ["a b"]),
            ("tokenizer.ggml.bos_token_id", "u32", 0), ("tokenizer.ggml.eos_token_id", "u32", 0),
            ("tokenizer.ggml.add_bos_token", "bool", 1), ("tokenizer.chat_template", "str", "{{ messages[0].content }}")]
SPM_KEYS = [("tokenizer.ggml.model", "str", "llama"),
            ("tokenizer.ggml.tokens", "[str", ["<unk>", "<0x61>", "\u2581", "a", "b", "ab", "\u2581ab"]),
            ("tokenizer.ggml.scores", "[f32", [0, 0, -1, -2, -3, -4, -5]),
            ("tokenizer.ggml.token_type", "[i32", [2, 6, 1, 1, 1, 1, 1]),
            ("tokenizer.ggml.unknown_token_id", "u32", 0), ("tokenizer.ggml.add_space_prefix", "bool", 1)]


def make_gguf():
    put("gguf", "llama", gguf(model_keys("llama") + BPE_KEYS,
                              [("token_embd.weight", [8, 6], 0, bytes(192)), ("rope_freqs.weight", [2], 0, bytes(8))]))
    put("gguf", "spm", gguf(model_keys("llama") + SPM_KEYS, [("output_norm.weight", [8], 0, bytes(32))]))
    for pre in ("gpt-2", "llama-bpe", "qwen2"):
        keys = [(k, t, pre if k.endswith(".pre") else v) for k, t, v in BPE_KEYS]
        put("gguf", "pre_" + pre, gguf(keys, []))
    put("gguf", "phi3", gguf(model_keys("phi3", rope__scaling__original_context_length=("u32", 32),
                                        attention__sliding_window=("u32", 16)),
                             [("rope_factors_long.weight", [2], 0, bytes(8)),
                              ("rope_factors_short.weight", [2], 0, bytes(8))]))
    put("gguf", "gemma3", gguf(model_keys("gemma3", attention__sliding_window=("u32", 16),
                                          attention__key_length=("u32", 4), attention__value_length=("u32", 4)), []))
    put("gguf", "yarn", gguf(model_keys("qwen2", rope__scaling__type=("str", "yarn"), rope__scaling__factor=("f32", 4.0),
                                        rope__freq_base=("f32", 1e6)), []))
    put("gguf", "gpt2", gguf(model_keys("gpt2", attention__layer_norm_epsilon=("f32", 1e-5)), []))
    # One block of every type, and every type of value.
    blocks = {2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 10: (256, 84), 11: (256, 110),
              12: (256, 144), 13: (256, 176), 14: (256, 210), 20: (32, 18), 1: (1, 2), 30: (1, 2)}
    put("gguf", "blocks", gguf([("k" + kind, kind, 1) for kind in TYPES] + [("l", "[i16", [1, -2]), ("e", "[f64", [])],
                               [("t%d" % number, [n], number, bytes(range(size))) for number, (n, size) in blocks.items()]))
    put("gguf", "split", gguf([("split.count", "u16", 2), ("split.no", "u16", 0), ("general.alignment", "u32", 32)], []))


PLAIN = {"hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 16,
         "vocab_size": 300, "num_hidden_layers": 2, "max_position_embeddings": 64, "rms_norm_eps": 1e-5}


def make_config():
    def config(name, **more):
        put("config", name, {"model_type": re.sub("-.*", "", name), **PLAIN, **more})
    config("llama", rope_theta=1e4, tie_word_embeddings=True, eos_token_id=[1, 2], bos_token_id=0, attention_bias=True)
    config("llama-llama3", rope_scaling={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                         "high_freq_factor": 4.0, "original_max_position_embeddings": 32})
    config("llama-yarn", rope_parameters={"rope_type": "yarn", "factor": 4.0, "beta_fast": 32, "mscale": 1.0,
                                          "mscale_all_dim": 0.5, "rope_theta": 1e4})
    config("llama-linear", rope_scaling={"type": "linear", "factor": 2.0})
    config("llama-dynamic", rope_scaling={"type": "dynamic", "factor": 2.0}, head_dim=4, hidden_act="silu")
    config("mistral", sliding_window=16)
    config("phi3", sliding_window=16, partial_rotary_factor=0.5, original_max_position_embeddings=32, pad_token_id=3,
           rope_scaling={"type": "longrope", "short_factor": [1.0], "long_factor": [2.0]})
    config("qwen2", use_sliding_window=True, sliding_window=16, max_window_layers=1)
    config("qwen3", head_dim=4, layer_types=["full_attention", "sliding_attention"], sliding_window=8)
    config("gemma2", head_dim=4, sliding_window=8, query_pre_attn_scalar=4, attn_logit_softcapping=50.0,
           final_logit_softcapping=30.0, hidden_activation="gelu_pytorch_tanh")
    config("gemma3_text", head_dim=4, sliding_window=8, rope_local_base_freq=1e4, sliding_window_pattern=2,
           query_pre_attn_scalar=4, rope_scaling={"factor": 8.0, "rope_type": "linear"})
    config("smollm3", no_rope_layers=[1, 0], no_rope_layer_interval=2)
    put("config", "gpt2", {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 32, "vocab_size": 300,
                           "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "n_inner": None})


def make_generation_config():
    put("generation_config", "list", {"eos_token_id": [1, 2], "bos_token_id": 0, "do_sample": True, "top_p": 0.9})
    put("generation_config", "one", {"eos_token_id": 299, "_from_model_config": True})
    put("generation_config", "null", {"eos_token_id": None})
    put("generation_config", "asks", {"temperature": 0.6, "top_k": 20, "repetition_penalty": 1.05, "early_stopping": "never",
                                      "bad_words_ids": [[1, 2], [3]], "guidance_scale": 1.5, "suppress_tokens": [7]})


def tokenizer(**more):
    vocab = {"<s>": 0, "a": 1, "b": 2, "ab": 3, "\u0120": 4, "1": 5, "\u0120ab": 6, "\u00c3": 7, "\u00a9": 8}
    return {"version": "1.0", "added_tokens": [{"id": 0, "content": "<s>", "special": True, "lstrip": True, "rstrip": True,
                                                "single_word": False, "normalized": False}],
            "model": {"type": "BPE", "vocab": vocab, "merges": ["a b", "\u0120 ab"], "unk_token": None}, **more}


def make_tokenizer_json():
    put("tokenizer_json", "byte_level", tokenizer(
        pre_tokenizer={"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "\\p{L}+|\\s+(?!\\S)|\\d{1,3}"}, "behavior": "Isolated", "invert": False},
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}]},
        post_processor={"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                                 {"Sequence": {"id": "A", "type_id": 0}}],
                        "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
        decoder={"type": "ByteLevel"}))
    spm = tokenizer(
        normalizer={"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
                                                        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
                                                        {"type": "NFKC"}]},
        decoder={"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                                                  {"type": "ByteFallback"}, {"type": "Fuse"},
                                                  {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})
    spm["model"].update({"byte_fallback": True, "fuse_unk": True, "unk_token": "<s>", "ignore_merges": False,
                         "vocab": {"<s>": 0, "<0xC3>": 1, "<0xA9>": 2, "\u2581": 3, "a": 4, "b": 5, "ab": 6, "\u2581ab": 7},
                         "merges": [["a", "b"], ["\u2581", "ab"]]})
    put("tokenizer_json", "spm", spm)
    put("tokenizer_json", "metaspace", tokenizer(
        pre_tokenizer={"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True},
        decoder={"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"}, normalizer={"type": "NFC"}))
    put("tokenizer_json", "strip", json.dumps(tokenizer(
        normalizer={"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": True}, {"type": "Lowercase"},
                                                        {"type": "Replace", "pattern": {"Regex": " +"}, "content": " "}]},
        pre_tokenizer={"type": "Whitespace"})).encode() + b"\0 A  bAb <s> \xc3\xa91")
    put("tokenizer_json", "split_behaviors", json.dumps(tokenizer(pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"String": " "}, "behavior": how, "invert": how == "Removed"}
        for how in ("Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")]})).encode() + b"\0a b  ab 1")
    unigram = tokenizer(normalizer={"type": "Sequence", "normalizers": [
        {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap()).decode()}, {"type": "NFD"}, {"type": "StripAccents"}]},
                        pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Metaspace", "prepend_scheme": "always"}, {"type": "Punctuation"}]},
                        decoder={"type": "Metaspace"})
    unigram["model"] = {"type": "Unigram", "unk_id": 0, "byte_fallback": True,
                        "vocab": [["<s>", 0], ["\u2581", -2], ["a", -3.5], ["b", -3], ["ab", -4], ["<0xC3>", -9], ["<0xA9>", -9]]}
    put("tokenizer_json", "unigram", unigram)
    pieces = tokenizer(normalizer={"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
                       pre_tokenizer={"type": "BertPreTokenizer"}, decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
                       post_processor={"type": "BertProcessing", "sep": ["<s>", 0], "cls": ["<s>", 0]})
    pieces["model"] = {"type": "WordPiece", "unk_token": "<s>", "continuing_subword_prefix": "##", "max_input_chars_per_word": 10,
                       "vocab": {"<s>": 0, "a": 1, "##b": 2, "##": 3, "1": 4}}
    put("tokenizer_json", "word_piece", json.dumps(pieces).encode() + b"\0AB, b a\xc3\xa9 \xe4\xbd\xa0 abbbbbbbbbbbbb")


def charsmap():
    """One entry: A becomes a. A double array of three units: the root, what A leads to, and the leaf."""
    units = [0] * 256
    units[0] = 1 << 10  # the root's children stand at 1 ^ byte
    units[1 ^ 65] = 65 | 1 << 8 | 128 << 10
    units[1 ^ 65 ^ 128] = 1 << 31
    return struct.pack("<I256I", 1024, *units) + b"a\0"


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def sentencepiece(kind, fallback=0, **spaces):
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("<x>", 0.0, 4), ("\u2581", -1.0, 1), ("a", -2.0, 1), ("b", -3.0, 1),
              ("ab", -4.0, 1), ("\u2581ab", -5.0, 1), ("<0xC3>", 0.0, 6), ("<0xA9>", 0.0, 6)]
    model = b"".join(field(1, field(1, text) + field(2, score) + field(3, what)) for text, score, what in pieces)
    model += field(2, field(3, kind) + field(35, fallback) + field(24, spaces.get("suffix", 0)))
    return model + field(3, (field(2, charsmap()) if spaces.get("map") else b"") + field(3, spaces.get("dummy", 1)) +
                         field(4, spaces.get("extra", 1)) + field(5, 1))


def make_sentencepiece():
    put("sentencepiece", "bpe", sentencepiece(2, 1, extra=0))
    put("sentencepiece", "unigram", sentencepiece(1, 0, map=1) + b"\0\0  Ab<x>a \xc3\xa9 b ")
    put("sentencepiece", "suffix", sentencepiece(1, 1, suffix=1, dummy=0) + b"\0\0a<s>ab </s>")
    put("sentencepiece", "bare", sentencepiece(2, 0, dummy=0, extra=0, map=1) + b"\0\0A<x>\xe2\x96\x81ab")


TEMPLATES = {
    "chatml": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
              "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "guards": "{%- if messages[0].role == 'system' -%}{%- set system = messages[0]['content']|trim %}{% set messages = messages[1:] -%}"
              "{%- else %}{{ raise_exception('no system') }}{% endif %}{{ bos_token }}{% for m in messages if m.role != 'x' %}"
              "{{ loop.index0 ~ loop.last }}{% if loop.first %}{% continue %}{% endif %}{% break %}{% else %}none{% endfor %}",
    "macros": "{% macro f(a, b=2) %}{{ a|upper }}{{ b }}{% endmacro %}{{ f('x', b=[1, 2]|length) }}{% set ns = namespace(n=0) %}"
              "{% for i in range(3) %}{% set ns.n = ns.n + i * 2 // 1 %}{% endfor %}{{ ns.n }}",
    "filters": "{{ messages|map(attribute='role')|join(', ') }}{{ messages|selectattr('role', 'equalto', 'user')|list|length }}"
               "{{ {'a': [1, none, true], 'b': 1.5}|tojson(indent=2) }}{{ 'a,b'.split(',')|reverse|list }}{{ x is defined }}"
               "{{ 'Ab'.lower().strip().startswith('a') }}{{ messages[-1].content[::-1] }}{{ 7 % 3 ** 2 }}",
    "blocks": "{% set text %}a{{ 1 }}{% endset %}{% filter upper %}b{{ text }}{% endfilter %}{# note #}{% generation %}c{% endgeneration %}"
              "{{ 'x' if not (1 in [1] and 2 > 1) else \"y\" }}{{ dict(a=1).items()|list }}{{ (1, 2)[0] }}",
}


def make_chat_template():
    for name, text in TEMPLATES.items():
        put("chat_template", name, text)


# Pickles and zip archives as torch.save writes them; no PyTorch is needed here.
def pickled_tensor(shape, kind="FloatStorage", key="0", count=None, first=0, strides=None):
    if strides is None:
        strides = [1] * len(shape)
        for i in range(len(shape) - 2, -1, -1):
            strides[i] = strides[i + 1] * shape[i + 1]
    number = lambda n: b"J" + struct.pack("<i", n)
    numbers = lambda values: b"(" + b"".join(map(number, values)) + b"t"
    text = lambda t: b"X" + struct.pack("<I", len(t)) + t.encode()
    values = 1
    for extent in shape:
        values *= extent
    return (b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu")
            + number(values if count is None else count) + b"tQ" + number(first) + numbers(shape) + numbers(strides)
            + b"\x89ccollections\nOrderedDict\n)RtR")


def pickle(tensors):
    items = b"".join(b"X" + struct.pack("<I", len(name)) + name.encode() + tensor for name, tensor in tensors)
    return b"\x80\x02}(" + items + b"u."


def zip64(files):
    data, directory = b"", b""
    for name, content in files:
        sizes = struct.pack("<IIIH", 0, len(content), len(content), len(name))
        directory += b"PK\1\2" + bytes(12) + sizes + bytes(12) + struct.pack("<I", len(data)) + name.encode()
        data += b"PK\3\4" + bytes(10) + sizes + struct.pack("<H", 5) + name.encode() + b"FB\1\0Z" + content
    end = struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, len(files), len(files), len(directory), len(data))
    return (data + directory + b"PK\6\6" + end + b"PK\6\7" + struct.pack("<IQI", 0, len(data + directory), 1)
            + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0))


def make_pickle():
    put("pickle", "tensors", pickle([("w", pickled_tensor([2, 3])), ("h", pickled_tensor([2], "HalfStorage", "1")),
                                     ("d2t", pickled_tensor([1], "LongStorage", "2")), ("t2d", pickled_tensor([4], "BoolStorage", "3"))]))
    put("pickle", "shared", pickle([("a", pickled_tensor([2], count=8, first=2)), ("b", pickled_tensor([2, 2], count=8, first=4))]))
    state_dict = (b"\x80\x02ccollections\nOrderedDict\nq\0)Rq\1X\1\0\0\0wq\2" + pickled_tensor([1]) + b"s}q\3X\x09\0\0\0_metadataq\4h\0)R"
                  b"X\0\0\0\0}X\7\0\0\0versionK\1sssb.")
    put("pickle", "state_dict", state_dict)
    put("pickle", "protocol4", b"\x80\x04\x95" + bytes(8) + b"}\x94\x8c\1w\x94\x8c\x0ctorch._utils\x8c\x12_rebuild_tensor_v2\x93((\x8c\7storage"
        b"\x8c\5torch\x8c\x0cFloatStorage\x93\x8c\x010\x8c\3cpu\x8a\2\x2c\1tQK\0K\1\x85K\1\x85\x88NtRs.")
    put("pickle", "calls", b"\x80\x02cos\nsystem\n(X\4\0\0\0truetR.")


def make_torch_file():
    content = pickle([("w", pickled_tensor([2, 3])), ("v", pickled_tensor([2], count=6, first=4))])
    files = [("a/data.pkl", content), ("a/byteorder", b"little"), ("a/data/0", bytes(24)), ("a/version", b"3\n")]
    put("torch_file", "zip64", zip64(files))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plain.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files:
                archive.writestr(zipfile.ZipInfo(name), data)
        put("torch_file", "plain", path.read_bytes())
    put("torch_file", "legacy", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")


def make_draft_head():
    def layer(first, width):
        shapes = {"self_attn.q_proj": [4, width], "self_attn.k_proj": [2, width], "self_attn.v_proj": [2, width], "self_attn.o_proj": [4, 4],
                  "post_attention_layernorm": [4], "mlp.gate_proj": [3, 4], "mlp.up_proj": [3, 4], "mlp.down_proj": [4, 3]}
        return {first + name + ".weight": shape for name, shape in shapes.items()}

    def head(name, config, shapes):
        tensors = []
        for key, shape in shapes.items():
            kind, width = {"d2t": ("I64", 8), "token_map": ("I64", 8), "t2d": ("BOOL", 1)}.get(key, ("F16", 2))
            count = 1
            for extent in shape:
                count *= extent
            content = bytes(count * width)
            if key == "t2d":
                content = b"\1" * count
            if key == "token_map":
                content = struct.pack("<%dq" % count, *range(count))
            tensors.append((key, kind, shape, content))
        put("draft_head", name, json.dumps(config).encode() + b"\0" + safetensors(tensors))

    base = {"hidden_size": 4, "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 6, "rms_norm_eps": 1e-5}
    head("eagle", {**base, "bias": True}, {"embed_tokens.weight": [6, 4], "fc.weight": [4, 8], "fc.bias": [4], **layer("layers.0.", 4)})
    eagle3 = {"fc.weight": [4, 12], "midlayer.input_layernorm.weight": [4], "midlayer.hidden_norm.weight": [4], **layer("midlayer.", 8),
              "norm.weight": [4], "lm_head.weight": [3, 4], "d2t": [3], "t2d": [6]}
    head("eagle3", {**base, "draft_vocab_size": 3, "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 3, 4]}}, eagle3)
    head("eagle3_speculators", {"speculators_model_type": "eagle3", "norm_before_residual": True, "fc_norm": True, "norm_output": True,
                                "transformer_layer_config": base, "speculators_config": {"verifier": {"name_or_path": "t"}}},
         {**{key.replace("midlayer.", "layers.0."): shape for key, shape in eagle3.items()}, "fc_norm.0.weight": [4], "fc_norm.1.weight": [4],
          "fc_norm.2.weight": [4]})
    head("medusa", {"medusa_num_heads": 2}, {"0.0.linear.weight": [4, 4], "0.0.linear.bias": [4], "0.1.weight": [6, 4],
                                             "1.0.linear.weight": [4, 4], "1.0.linear.bias": [4], "1.1.weight": [6, 4]})
    head("medusa_vllm", {"vocab_size": 6, "num_heads": 1}, {"blocks.0.layers.0.weight": [4, 4], "lm_heads.0.weight": [3, 4], "token_map": [3]})
    head("hydra", {"hydra_num_layers": 2, "hidden_state_offset": 1},
         {"hydra_mlp.0.1.linear.weight": [4, 8], "hydra_mlp.0.1.linear.bias": [4], "hydra_mlp.0.1.res_connection.weight": [4, 8],
          "hydra_mlp.0.1.res_connection.bias": [4], "hydra_mlp.0.3.linear.weight": [4, 4], "hydra_mlp.0.3.linear.bias": [4],
          "prefix_embeding_layer.norm.weight": [4], "prefix_embeding_layer.layers.0.input_layernorm.weight": [4],
          **layer("prefix_embeding_layer.layers.0.", 4)})
    head("space", {"space_num_masks": 2, "space_prefix_length": 3, "vocab_size": 6},
         {"mask_embeddings": [2, 4], "prefix_keys": [8, 1, 3, 2], "prefix_values": [8, 1, 3, 2]})
    head("space_model", {"space_mask_ids": 5, "space_num_masks": 2},
         {"model.embed_tokens.weight": [6, 4], **layer("model.layers.0.", 4), **layer("model.layers.1.", 4)})
    head("p_eagle", {}, {"mask_hidden": [1, 1, 4]})


# The tables as they are in a capture that is kept.
def capture_tables():
    schema = sqlite3.connect(":memory:")
    schema.executescript((ROOT / "python/triescope/schema.sql").read_text())
    tables = {name: (sql, [column[1] for column in schema.execute("PRAGMA table_info(%s)" % name)])
              for name, sql in schema.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()}
    schema.close()
    return tables


def make_capture():
    with tempfile.TemporaryDirectory() as folder:
        for seed in ("empty", "run", "foreign"):
            path = pathlib.Path(folder) / seed
            db = sqlite3.connect(path)
            db.execute("PRAGMA page_size=512")
            db.execute("PRAGMA application_id=%d" % 0x54534350)
            db.execute("PRAGMA user_version=1")
            for name, (statement, columns) in capture_tables().items():
                # Another program's: fewer tables, columns without types, things that are not read.
                if seed == "foreign" and name not in ("run", "node", "verdict", "phase", "input", "stage", "candidate"):
                    continue
                if seed == "foreign":
                    statement = "CREATE TABLE %s (%s, mine)" % (name, ", ".join(column for column in columns if column != "id"))
                db.execute(statement)
            if seed == "foreign":
                db.execute("CREATE TABLE mine (x)")
                db.execute("CREATE INDEX mine_too ON node (tick)")
                db.execute("CREATE VIEW seen_by_nobody AS SELECT * FROM node")

            def add(table, **row):
                if seed != "foreign" or db.execute("SELECT 1 FROM sqlite_schema WHERE name=?", (table,)).fetchone():
                    db.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, ",".join(row), ",".join("?" * len(row))), tuple(row.values()))

            if seed != "empty":
                add("run", created_utc="2026-01-01T00:00:00Z", model_json='{"name": "m"}', method="beam", method_title="Beam search", kind="beams",
                    width=2, settings_json='{"beams": 2}', setting_titles_json='{"beams": "Beams"}', setting_words_json='{"beams": "a pair"}', seed=7, versions_json="{}", prompt_text="ab",
                    prompt_tokens="[1, 2]", max_new_tokens=8, kv_bytes_per_token=64, sliding_window=4, kv_policy="recycle",
                    timed_while_drawing=1, status="done", message="", recorder="")
                add("program", name="p", version="1", command="p run")
                add("drafter", drafter=0, name="d", title="D", kind="model")
                add("piece", token=1, bytes=b"a")
                add("piece", token=2, bytes=b"\xc3")
                add("step", step=0, forward_rows=2, frontier=1)
                add("step", step=1, forward_rows=2, drafted=1, accepted=1, emitted=2, frontier=2)
                for tick in range(10):
                    add("phase", tick=tick, start_us=tick * 10, duration_us=5)
                add("node", node=0, parent=-1, token=-1, depth=0, logprob=0.0, score=0.0, source="prompt", tick=0)
                add("node", node=1, parent=0, token=1, depth=1, logprob=-0.5, score=-0.5, source="beam", tick=2)
                add("node", node=2, parent=0, token=2, depth=1, logprob=-0.9, score=-0.9, q=0.5, source="draft", drafter=-1 if seed == "foreign" else 0, tick=2)
                add("node", node=3, parent=1, token=2, depth=2, logprob=-0.7, score=-1.2, source="beam", role="probe", tick=7)
                add("node_score", node=1, logprob=-0.5, score=-0.6, tick=6)
                add("input", step=0, row=0, node=-2, position=0, slot=0, naive_position=0)
                add("input", step=1, row=0, node=1, position=2, slot=2, naive_position=3)
                add("candidate", tick=1, node=0, rank=0, token=1, logprob=-0.5, chosen=1)
                add("candidate", tick=1, node=0, rank=1, token=2, logprob=-0.9)
                add("verdict", tick=2, node=1, verdict="kept", rank=0, score=-0.5, gap=0.1, reason="beam_kept_of_all", threshold=-1.5, count=2)
                add("verdict", tick=7, node=2, verdict="rejected", p=0.1, q=0.2, u=0.3, rank=3, score=-2.0, gap=0.4, reason="not_argmax", value=0.5)
                add("verdict", tick=7, node=3, verdict="kept", rank=0, score=-1.2, why="ends")
                add("frontier", step=0, rank=0, node=1, score=-0.5)
                add("frontier", step=0, rank=1, node=2, score=-0.9)
                add("frontier", step=1, rank=0, node=3, score=-1.2)
                for tick, action, slot, node, moved in ((1, "alloc", 0, -2, -1), (1, "alloc", 1, -3, -1), (6, "alloc", 2, 1, -1),
                                                        (8, "free", 2, 1, -1), (8, "reuse", 2, 3, -1), (8, "move", 3, 3, 2)):
                    add("slot", tick=tick, action=action, slot=slot, node=node, from_slot=moved)
                add("memory", step=0, live=2, reserved=4, greedy=2, batch_beam=4)
                # A draft model's.
                add("input", step=1, row=0, node=0, position=2, slot=5, naive_position=3, whose="draft", forward=0)
                add("input", step=1, row=0, node=1, position=2, slot=6, naive_position=3, whose="draft", forward=1)
                add("candidate", tick=5, node=1, rank=0, token=2, logprob=-0.4, chosen=1, whose="draft")
                add("slot", tick=5, action="alloc", slot=5, node=-2, whose="draft")
                add("memory", step=0, live=1, reserved=8, greedy=2, batch_beam=4, whose="draft")
                add("stage", tick=6, node=1, stage="temperature", token=2, p=0.4)
                add("stage", tick=7, node=1, stage="drawn", token=2, p=0.5, at=0.25)
                add("sequence", tick=7, node=3, rank=0, score=-1.2, finish="eos", tokens="[1,2]")
                add("log", tick=3, level="info", text="hello")
                add("bookmark", tick=4, note="here")
            db.commit()
            db.execute("VACUUM")
            db.close()
            put("capture", seed, path.read_bytes())


def make_lesson():
    head = "---\ntitle: T\nsummary: S\nminutes: 5\ncapture: a.tscap\nmodel: m\nmethod: beam\nset: num_beams=3\nprompt: \"a\\n\"\n---\n"
    put("lesson", "text", head + "## One *two*\nText **strong** `code` `= kv_live(3) / 2`.\n\n1. a\n   - b\n\n| a | b |\n|---|---|\n"
        "| 1 | [x](ts:node/{node(best, 3)}) |\n\n> notes: say\n\n> quote\n\n---\n[s](ts:step/3/accept) [o](other.md) &amp;\n")
    put("lesson", "blocks", head + "## S\n```do\ncursor 3 accept\nlock {parent(beam 2, 3)}\npanels trie kv\n```\n```predict\nWhat?\n"
        "- 1\n- b := p(best) > 0.5 and not (1 = 2)\nanswer: -accepted(2) * 3\nexpect: 'x'\nwithin: 0.5\n```\n"
        "```check\nDo.\nwhen: cursor >= 2 or shown(\"kv\")\nshow: cursor 2\n```\n")
    put("lesson", "experiment", head.replace("model: m", "model: m\ndraft: d") + "## S\n![a *b*](c.png) x\n```do\ncursor 1\nrun kv=keep seed=2\n```\n"
        "```experiment\nMany\n- {token(best, 1)} := p(best, 1) | 0.2\n- b := 1 - noisy(0, 1) | 0.8\nrule: chain\ndrafts: 2\n"
        "draws: 500\nseed: 3\nexpect: agrees\n```\n")
    put("lesson", "no_front_matter", "## S\ntext\n")


def make_narration():
    put("narration", "choice", "# c\n[observe.drafts]\nStep {step} has added {emitted} {emitted:token|tokens};\n{accepted} of {drafted} came true.\n")
    put("narration", "two", "[begin.prompt]\nThe prompt {prompt} ends in {last}.\n\n[gap.here]\nStep {step}!\n[gap.empty]\nWhy?\n")
    put("narration", "no_value", "[begin.next]\nNow {step} comes.\n")
    put("narration", "open", "[gap.here]\nTwo. Sentences {step\n")
    put("narration", "unknown", "[gap.her]\n{step:a|b|c}\n")


def datastore_hash(data):
    """core/base/hash.h, of data in words of four bytes."""
    value = 0xCBF29CE484222325
    for (word,) in struct.iter_unpack("<I", data):
        value = (value ^ word) * 0x100000001B3 % 2**64
        value = (value << 29 | value >> 35) % 2**64
    return value


def datastore(tokens, vocab_size, order=None):
    """core/lookup/datastore.h"""
    if order is None:
        order = sorted(range(len(tokens)), key=lambda i: tokens[i:])
    payload = struct.pack(f"<{len(tokens)}i", *tokens) + struct.pack(f"<{len(order)}i", *order)
    header = struct.pack("<8sIIQQIIQ", b"TRIESTOR", 1, len(order), len(tokens), 7, vocab_size, tokens.count(-2), datastore_hash(payload))
    return header + struct.pack("<QQ", datastore_hash(header), 0) + payload


def make_datastore():
    put("datastore", "two_documents", datastore([1, 2, 3, 1, 2, 4, -2, 2, 3, 1, 2, -2], 5))
    put("datastore", "repeats", datastore([1] * 40 + [-2], 2))
    put("datastore", "empty", datastore([], 1))
    put("datastore", "no_order", datastore([3, 1, 2, -2], 4, [7, -1, 3, 3]))


def stream_number(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def stream_text(text):
    data = text if isinstance(text, bytes) else text.encode()
    return stream_number(len(data)) + data


def stream_value(value):
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return b"\1" + stream_number(value * 2 if value >= 0 else -value * 2 - 1)
    if isinstance(value, float):
        return b"\2" + struct.pack("<d", value)
    return (b"\4" if isinstance(value, bytes) else b"\3") + stream_text(value)


def stream_table(name, columns, rows):
    out = stream_text(name) + stream_number(len(columns)) + b"".join(map(stream_text, columns))
    for number, row in enumerate(rows, 1):
        out += stream_number(number) + b"".join(map(stream_value, row))
    return out + b"\0"


def make_row_copy():
    run = stream_table("run", ["method", "status", "recorder", "seed"], [("greedy", "running", "boot=1", -7)])
    nodes = stream_table("node", ["node", "parent", "token", "logprob", "tick"], [(0, -1, -1, 0.0, 0), (1, 0, 300, -0.5, 3)])
    pieces = stream_table("piece", ["token", "bytes"], [(7, b"\xc3"), (300, b" word")])
    put("row_copy", "run", run)
    put("row_copy", "three_tables", run + pieces + nodes)
    put("row_copy", "unknown", stream_table("later", ["a"], [("x",), (None,)]) + stream_table("log", ["text", "later"], [("x", 1)]))


def cbor_head(major, value):
    for size, code in ((1, 24), (2, 25), (4, 26), (8, 27)):
        if value < 24:
            return bytes([major << 5 | value])
        if value < 1 << 8 * size:
            return bytes([major << 5 | code]) + value.to_bytes(size, "big")


def cbor(value):
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        return cbor_head(0, value) if value >= 0 else cbor_head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        return cbor_head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return cbor_head(4, len(value)) + b"".join(map(cbor, value))
    return cbor_head(5, len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value.items())


def frame(kind, payload):
    payload = payload if isinstance(payload, bytes) else cbor(payload)
    return struct.pack("<IB", len(payload), kind) + payload


def make_remote():
    opening = b"triescope remote\n"
    client = opening + frame(1, {"protocol": 1, "version": "0.1.0", "client": "ab", "session": "", "run": 2, "marks": {"node": 7}, "notice": 1})
    request = {"model": "m", "kv_dtype": None, "dtype": 1, "method": "beam", "settings": {"num_beams": 3}, "prompt": "once",
               "prompt_ids": [1, 2], "chat": True, "turns": [{"role": "user", "content": "a"}], "max_new_tokens": 9, "seed": 1 << 63}
    put("remote_server", "greeting", client)
    put("remote_server", "start", client + frame(2, {"serial": 1, "kind": 2, "request": request, "run_at_once": True}))
    put("remote_server", "verbs", client + b"".join(frame(2, {"serial": 2 + kind, "kind": kind, "tick": 40, "node": 1, "token": 2})
                                                    for kind in range(15)))
    put("remote_server", "breakpoints", client + frame(2, {"serial": 1, "kind": 10, "breakpoints": [
        {"kind": 1, "threshold": 2.5, "enabled": True, "text": ""}, {"kind": 9, "threshold": 0.0, "enabled": False, "text": "a+"}]}))
    put("remote_server", "question", client + frame(2, {"serial": 1, "kind": 0, "question": "encode", "about": {"text": "x"}}))
    server = opening + frame(1, {"protocol": 1, "version": "0.1.0", "session": "s", "watch": False, "taken": 0, "refused": "", "gone": False})
    status = {"state": 3, "model": {"name": "m", "layers": 2, "rope_theta": 1e4, "eos_token_ids": [2], "generation": {
        "settings": [["temperature", "0.5"]], "not_done": []}}, "run_serial": 1, "next_tick": 5, "notices": [
            {"serial": 1, "level": 2, "text": "careful"}]}
    tokenizer = {"encodes_text": True, "vocab_size": 9, "special_ids": [1], "eos_token_ids": [2], "description": "d"}
    put("remote_client", "status", server + frame(2, {"kind": 0, "status": status, "same_model": False, "tokenizer": tokenizer,
                                                      "commands_sent": 1, "taken": 1}))
    put("remote_client", "rows", server + frame(2, {"kind": 1, "run": 1, "asked_by": "ab", "asked_serial": 1})
        + frame(3, struct.pack("<QB", 1, 1) + stream_table("log", ["text"], [("x",)])))
    put("remote_client", "answers", server + frame(2, {"kind": 2, "serial": 1, "answer": {"ids": [1]}, "code": 0})
        + frame(2, {"kind": 2, "serial": 2, "answer": None, "code": 3, "text": "no"}) + frame(2, {"kind": 3, "text": "refused"}))


if __name__ == "__main__":
    make_safetensors()
    make_gguf()
    make_config()
    make_generation_config()
    make_tokenizer_json()
    make_sentencepiece()
    make_chat_template()
    make_pickle()
    make_torch_file()
    make_draft_head()
    make_capture()
    make_lesson()
    make_narration()
    make_datastore()
    make_row_copy()
    make_remote()
