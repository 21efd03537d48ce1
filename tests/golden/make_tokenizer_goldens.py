#!/usr/bin/env python3
"""Makes tokenizer_goldens.json: what Hugging Face's `tokenizers` does with some texts, by tokenizer.

  make_tokenizer_goldens.py [--data ../shared/data] [--models .deps/models]

`small`: tokenizers of a few hundred tokens, trained here and held in the file, so that the test needs nothing else.
`real`: ids only; the test skips what is not there. tests/unit/tokenizer/test_goldens.cpp reads it."""
import argparse
import json
import pathlib

import tokenizers
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tokenizer_variants import LLAMA3, QWEN2, real

TRAINING = [
    "Once upon a time there was a little girl named Lily. She loved to play outside in the sunshine with her friends.",
    "The theory of the thing is that the other there, then these and those, though through thorough thought.",
    "It's what we've said, they'll see; I'd say don't, can't, won't. 1234567890 2024-01-02 3.14159 100,000",
    "Caf\u00e9 na\u00efve \u00fcber stra\u00dfe \u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440 \u4f60\u597d\u4e16\u754c \u3053\u3093\u306b\u3061\u306f \U0001f600 \U0001f469\u200d\U0001f680",
    "def add(a, b):\n    return a + b\n\n\nfor i in range(10):\n\tprint(i)  # twice\n",
] * 3

TEXTS = [
    "", " ", "  ", "\n", "\t\t", "a", "Hello, world!", "  leading and trailing  ", "It's we'll THEY'LL don't I'D",
    "1 12 123 1234 12345 1\u00b2\u00bd\u0664", "caf\u00e9 cafe\u0301 \u00c5ngstr\u00f6m A\u030a \ufb01ne \u1e9e \u0130stanbul",
    "\u4f60\u597d\u4e16\u754c \u3053\u3093\u306b\u3061\u306f \u041f\u0440\u0438\u0432\u0435\u0442 \u0645\u0631\u062d\u0628\u0627 \ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
    "\U0001f600\U0001f469\u200d\U0001f680\U0001f3fd\u20e3 \ufe0f", "x\u00a0y\u2003z\u200bw\u3000v\u180eu\x85t\x1cs",
    "line\r\nline\n\n\n  indented\n\ttab \n", "<s>text</s> <|end|>  next<|im_start|>user\n", "[L]  a  [L] b [R]  c [R]d  [LR]  e",
    "[R] spaced [LR] spaced  spaced x", "X\u0315\U0001183a \U0001fbf7 \U000107af \u0eba\u0301 \u32ff", "wordy \u200dword\u24b6",
    "word wordy word. sword word", "\u2581under\u2581 \u2581 score \u0120gpt", "<0x41> <0x0A> <unk>", "\x00\x01\x7f",
    "def f(x):\n    return x*2  # !!!???...\n\n", "ALL CAPS MixedCase snake_case kebab-case", "the the the " * 12,
    "'\u017f 'S 'rE \u212a \u017ft", "a" * 300, " \u0301 combining first", "\U0010ffff\ue000\ufffd",
]


def train(tokenizer, size, alphabet=None, special=("<unk>", "<s>", "</s>")):
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), show_progress=False,
                                  initial_alphabet=alphabet or [])
    tokenizer.train_from_iterator(TRAINING, trainer)
    return tokenizer


def byte_level(pre_tokenizer, size=420):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    return train(tokenizer, size, pre_tokenizers.ByteLevel.alphabet(), ("<|endoftext|>", "<|im_start|>", "<|im_end|>"))


def sentencepiece(size=420, byte_fallback=True):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=byte_fallback))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=True)
    special = ["<unk>", "<s>", "</s>"] + ([f"<0x{i:02X}>" for i in range(256)] if byte_fallback else [])
    train(tokenizer, size, special=special)
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = content["added_tokens"][:3]  # byte tokens are the model's own
    content["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    return tokenizer


def small():
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    found = {"gpt2": byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))}

    smollm = byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False)]))
    found["smollm"] = smollm

    llama3 = byte_level(pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), plain]))
    content = json.loads(llama3.to_str())
    content["model"]["ignore_merges"] = True
    llama3 = Tokenizer.from_str(json.dumps(content))
    llama3.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|im_start|> $A <|im_end|>",
                                      special_tokens=[("<|im_start|>", 1), ("<|im_end|>", 2)])])
    found["llama3"] = llama3

    qwen2 = byte_level(pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN2), "isolated"), plain]))
    qwen2.normalizer = normalizers.NFC()
    found["qwen2"] = qwen2

    flags = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True))
    flags.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    flags.add_tokens([AddedToken("[L]", lstrip=True, normalized=False), AddedToken("[R]", rstrip=True, normalized=False),
                      AddedToken("[LR]", lstrip=True, rstrip=True, special=True), AddedToken("word", single_word=True),
                      AddedToken("\u00c5ngstr\u00f6m", normalized=True), AddedToken(" spaced ", normalized=False)])
    found["added-token-flags"] = flags

    llama2 = sentencepiece()
    llama2.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    llama2.add_tokens([AddedToken("<|end|>", rstrip=True, special=True, normalized=False)])
    found["llama2"] = llama2

    gemma = sentencepiece()
    gemma.normalizer = normalizers.Replace(" ", "\u2581")
    gemma.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    gemma.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    found["gemma"] = gemma

    unknown = sentencepiece(200, byte_fallback=False)
    unknown.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFD(), normalizers.Replace(Regex(r"\s+"), " ")])
    unknown.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    unknown.decoder = decoders.Metaspace(prepend_scheme="first")
    found["unknown-tokens"] = unknown

    for behavior in ("removed", "merged_with_previous", "merged_with_next", "contiguous"):
        found["split-" + behavior] = byte_level(pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(r"\s+|[aeiou]"), behavior, behavior == "contiguous"), plain]), 300)
    return found


def answers(tokenizer):
    encoded = [tokenizer.encode(t).ids for t in TEXTS]
    return {"ids": encoded, "plain": [tokenizer.encode(t, add_special_tokens=False).ids for t in TEXTS],
            "decoded": [tokenizer.decode(i, skip_special_tokens=False) for i in encoded]}


def main():
    here = pathlib.Path(__file__).resolve().parent
    root = here.parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=root.parent / "shared/data")
    parser.add_argument("--models", default=root / ".deps/models")
    arguments = parser.parse_args()
    golden = {"versions": {"tokenizers": tokenizers.__version__, "transformers": transformers.__version__},
              "texts": TEXTS, "small": [], "real": []}
    for name, tokenizer in small().items():
        golden["small"].append({"name": name, "tokenizer": json.loads(tokenizer.to_str()), **answers(tokenizer)})
    for name, (_, tokenizer) in real(arguments.data, arguments.models).items():
        golden["real"].append({"name": name, **answers(tokenizer)})
    with open(here / "tokenizer_goldens.json", "w", encoding="utf-8") as file:
        json.dump(golden, file, separators=(",", ":"), sort_keys=False)
        file.write("\n")


if __name__ == "__main__":
    main()
