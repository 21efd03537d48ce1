#!/usr/bin/env python3
"""Compares triescope's tokenizers with Hugging Face's `tokenizers`: ids of texts, texts of ids, one id at a time.

  tokenizer_compare.py corpus --dump build/tests/bin/tokenizer_dump   every prompt and every document of the test data
  tokenizer_compare.py characters --dump ...                          every character, alone and among marks
  tokenizer_compare.py fuzz   --dump ... [--count 100000]             random Unicode strings and random ids
  tokenizer_compare.py pre    --dump ... [--count 100000]             the same of GGUF files, by each name of tokenizer.ggml.pre
  tokenizer_compare.py vectors --dump ... --folder FOLDER             llama.cpp's vectors, by its GGUF vocabularies

--folder FOLDER: the tokenizers that real_tokenizers.py made there, in place of those of the test data.
Development only. Made with tokenizers 0.23.3, transformers 5.17.0. Exit code 1 where anything differs."""
import argparse
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unicodedata

from tokenizers import Tokenizer

from tokenizer_variants import PRE_TYPES, pre_type, real, variants


def dump(program, mode, path, lines):
    run = subprocess.run([program, mode, str(path)], input=("\n".join(lines) + "\n").encode(), capture_output=True)
    if run.returncode:
        sys.exit(f"{mode} {path}: {run.stderr.decode()}")
    return run.stdout.decode().split("\n")[:len(lines)]


def texts_of_corpus(data):
    data = pathlib.Path(data)
    for line in open(data / "prompts/spec_bench_question.jsonl", encoding="utf-8"):
        yield from json.loads(line)["turns"]
    for line in gzip.open(data / "prompts/HumanEval.jsonl.gz", "rt", encoding="utf-8"):
        row = json.loads(line)
        yield from (row["prompt"], row["canonical_solution"], row["test"])
    for path in sorted((data / "corpus").glob("*.txt")):
        yield from open(path, encoding="utf-8", newline="").read().split("\n<|endoftext|>\n")


def assigned(code):
    # Characters newer than this Python's Unicode are left out: libraries disagree about them by their age.
    return unicodedata.category(chr(code)) not in ("Cn", "Cs")


def alphabet(rng):
    everything = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000 and assigned(c)]
    spaces = list(" \t\n\r\f\v\x00\x1c\x1f\x85\xa0\u1680\u180e\u2000\u2003\u200b\u2028\u2029\u202f\u205f\u3000\ufeff")
    digits = list("0123456789\u0660\u0967\u00b2\u00bd\u2167\u2460\uff11\u3007")
    marks = list("\u0300\u0301\u0308\u0323\u0327\u20dd\u0903\ufe0f\u200d\u20e3")
    odd = list("\u0130\u0131\u017f\u212a\u00df\u1e9e\ufb01\u03c2\u03a3\u01c5\u02b0\u2019'\u2581\u0120\uac00\u1100\u1161\u11a8\U0001f468\U0001f3fd")
    return everything, spaces, digits, marks, odd


def texts_of_characters():
    characters = [chr(c) for c in range(1, 0xF0000) if not 0xD800 <= c < 0xF900 and assigned(c)]
    for form in ("X{}\u0300\u0334 ", "X\u0315{}", "{0}s '{0}1", "{}"):
        for at in range(0, len(characters), 64):
            yield "".join(form.format(c) for c in characters[at:at + 64])


def texts_of_fuzz(count, seed, specials):
    rng = random.Random(seed)
    everything, spaces, digits, marks, odd = alphabet(rng)
    words = ("the cat Hello world don't I'LL we've 'S 'T it's x2 e\u0301 3.14159 20000 foo_bar word wordy the\u00a0cat "
             "\u4f60\u597d \u0645\u0631\u062d\u0628\u0627 \u041f\u0440\u0438\u0432\u0435\u0442 \U0001f469\u200d\U0001f680 "
             "== != // ... <|x|> <s> </s> <0x41> [L] [R] [LR] \u00c5B A\u030aB").split(" ") + specials
    for _ in range(count):
        parts = []
        for _ in range(rng.choice((1, 2, 3, 5, 8, 13, 21))):
            kind = rng.random()
            if kind < 0.25:
                parts.append(rng.choice(words))
            elif kind < 0.45:
                parts.append(rng.choice((" ", " ", "  ", "\n", rng.choice(spaces))) * rng.choice((1, 1, 1, 2, 3)))
            elif kind < 0.55:
                parts.append("".join(rng.choice(digits[:10] if rng.random() < .8 else digits)
                                     for _ in range(rng.choice((1, 2, 3, 4, 7)))))
            elif kind < 0.65:
                parts.append(rng.choice("abcXYZ e") + rng.choice(marks) * rng.choice((1, 1, 2)))
            elif kind < 0.75:
                parts.append(rng.choice(odd))
            elif kind < 0.9:
                parts.append("".join(chr(rng.randrange(32, 127)) for _ in range(rng.randrange(1, 8))))
            else:
                parts.append("".join(rng.choice(everything) for _ in range(rng.randrange(1, 4))))
        yield "".join(parts)


def compare(name, program, path, tokenizer, texts, ids_of_decode):
    failures = 0

    def fail(kind, given, expected, found):
        nonlocal failures
        failures += 1
        if failures <= 5:
            print(f"  {name}: {kind} of {given!a:.200}\n    expected {expected!a:.300}\n    found    {found!a:.300}")

    start = time.time()
    mine = dump(program, "encode", path, [json.dumps(t) for t in texts])
    mine_s = time.time() - start
    start = time.time()
    theirs = [e.ids for e in tokenizer.encode_batch_fast(texts)]
    theirs_s = time.time() - start
    for text, found, expected in zip(texts, mine, theirs):
        if found != " ".join(map(str, expected)):
            fail("encode", text, [(tokenizer.id_to_token(i), i) for i in expected] if len(expected) < 40 else expected, found)
    sequences = ids_of_decode if ids_of_decode is not None else theirs
    lines = [" ".join(map(str, s)) for s in sequences]
    # tokenizers 0.23 leaves special tokens in where they are "normalized" by a normalizer that changes their spelling:
    # skipping skips them here.
    kept = {i for i, t in tokenizer.get_added_tokens_decoder().items() if t.special and tokenizer.id_to_token(i) != t.content}
    for mode, skip in (("decode", False), ("skip", True)):
        if skip and kept:
            sequences = [[i for i in s if i not in kept] for s in sequences]
            lines = [" ".join(map(str, s)) for s in sequences]
        for s, found, expected in zip(sequences, dump(program, mode, path, lines),
                                      tokenizer.decode_batch(sequences, skip_special_tokens=skip)):
            if json.loads(found) != expected:
                fail(mode, s, expected, json.loads(found))
    # Byte-fallback tokens in a random order are mostly not UTF-8, where a stream may differ, and WordPiece's decoder takes back
    # spaces (see tokenizer.h).
    content = json.loads(tokenizer.to_str())
    rewrites = ids_of_decode is not None and (content["model"].get("byte_fallback") or "WordPiece" in str(content["decoder"]))
    for s, found, whole in zip(sequences, dump(program, "stream", path, lines), dump(program, "decode", path, lines)):
        if json.loads(found) != json.loads(whole) and not rewrites:
            fail("stream", s, json.loads(whole), json.loads(found))
    size = sum(len(t.encode()) for t in texts) / 1e6
    print(f"{name}: {len(texts)} texts, {size:.1f} MB: {failures} differ  (triescope {mine_s:.1f} s with loading and "
          f"JSON, tokenizers {theirs_s:.1f} s)", flush=True)
    return failures


def of_folder(folder):
    """name -> (path, Tokenizer) of every tokenizer.json that real_tokenizers.py made."""
    return {path.stem: (path, Tokenizer.from_file(str(path))) for path in sorted(pathlib.Path(folder).glob("*.json"))}


def write_gguf(path, tokenizer, pre):
    """A GGUF file with nothing but this tokenizer, as llama.cpp's converter writes one."""
    import gguf
    content = json.loads(tokenizer.to_str())
    vocab = sorted(content["model"]["vocab"], key=content["model"]["vocab"].get)
    special = {t["content"] for t in content["added_tokens"]}
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(vocab)
    writer.add_token_types([3 if t in special else 1 for t in vocab])
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in content["model"]["merges"]])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def vectors(folder, program):
    """Ids of the .inp texts, without BOS, are those of .out."""
    failures = 0
    for path in sorted(pathlib.Path(folder).glob("*.gguf")):
        if not path.with_suffix(".inp").exists():
            continue
        texts = path.with_suffix(".inp").read_text("utf-8").split("\n__ggml_vocab_test__\n")
        expected = path.with_suffix(".out").read_text("utf-8").split("\n")[:len(texts)]
        found = dump(program, "plain", path, [json.dumps(t) for t in texts])
        wrong = [(t, e, f) for t, e, f in zip(texts, expected, found) if e.split() != f.split()]
        for text, ids, ours in wrong[:5]:
            print(f"  {path.stem}: {text!a:.200}\n    expected {ids}\n    found    {ours}")
        print(f"{path.stem}: {len(texts)} texts, {len(wrong)} differ", flush=True)
        failures += len(wrong)
    return failures


def main():
    here = pathlib.Path(__file__).resolve().parent.parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("corpus", "characters", "fuzz", "pre", "vectors"))
    parser.add_argument("--dump", required=True)
    parser.add_argument("--data", default=here.parent / "shared/data")
    parser.add_argument("--models", default=here / ".deps/models")
    parser.add_argument("--folder")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append")
    arguments = parser.parse_args()
    if arguments.what == "vectors":
        sys.exit(1 if vectors(arguments.folder, arguments.dump) else 0)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        entries = ({} if arguments.what == "pre" else of_folder(arguments.folder) if arguments.folder else
                   dict(real(arguments.data, arguments.models)))
        if arguments.what == "pre":
            for name in PRE_TYPES:
                path = pathlib.Path(folder) / f"{name}.gguf"
                entries[name] = (path, pre_type(arguments.data, name))
                write_gguf(str(path), entries[name][1], name)
        elif arguments.what != "corpus" and not arguments.folder:
            for name, tokenizer in variants(arguments.data).items():
                path = pathlib.Path(folder) / f"{name}.json"
                tokenizer.save(str(path))
                entries[name] = (path, tokenizer)
        corpus = list(texts_of_corpus(arguments.data)) if arguments.what == "corpus" else None
        for name, (path, tokenizer) in entries.items():
            if arguments.only and name not in arguments.only:
                continue
            tokenizer.no_truncation()
            if corpus:
                failures += compare(name, arguments.dump, path, tokenizer, corpus, None)
                continue
            specials = [t.content for t in tokenizer.get_added_tokens_decoder().values()][:20]
            rng = random.Random(arguments.seed)
            size = tokenizer.get_vocab_size()
            sequences = [[i for i in (rng.randrange(size) if rng.random() < .7 else rng.randrange(300)
                                      for _ in range(rng.randrange(1, 40))) if tokenizer.id_to_token(i) is not None]
                         for _ in range(arguments.count // 10)]
            if arguments.what == "characters":
                texts = list(texts_of_characters())
            else:
                texts = list(texts_of_fuzz(arguments.count, arguments.seed, specials))
            failures += compare(name, arguments.dump, path, tokenizer, texts, sequences)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
