#!/usr/bin/env python3
"""Small tokenizers of the kinds beside BPE, trained on a text of our own: Unigram and WordPiece of `tokenizers`, and
SentencePiece's own models (unigram and BPE).

  tokenizer_models.py                                   writes tokenizer_models.json, which test_tokenizer_models.cpp reads
  tokenizer_models.py --dump build/tests/bin/tokenizer_dump [--count 100000] [--corpus FILE]
                                                        compares random strings, with models trained on FILE

Development only. Made with tokenizers 0.23.3, sentencepiece 0.2.3."""
import argparse
import base64
import itertools
import json
import pathlib
import random
import sys
import tempfile

import sentencepiece
import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from make_tokenizer_goldens import TEXTS, TRAINING
from tokenizer_compare import compare, dump, texts_of_fuzz

SPECIAL = ["<unk>", "<s>", "</s>"]
BYTES = [f"<0x{i:02X}>" for i in range(256)]
MORE = ["ABC \uff21\uff22\uff23 \ufb01x \u3231 \u2460 \u212b\u0301 a\u0301\u0323 \u1100\u1161\u11a8 \r\n\t x  y   z", "\u4f60\u597dworld\u4e16\u754c", "\u2581x \u2581\u2581 y\u2581",
        "don't do not it's we've they're I'm a ' b . c ! d ? e , f", "x" * 101 + " " + "ab" * 60, "<tool>a<tool> <X> \u2581<X>", "the<tool>the", " <tool>",
        "\u00c9t\u00e9 na\u00efve \u0130 \u1e9e \u00df", "\u200bzero\u00ad\u200d \ufeffwidth \x01\x7f", "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea"]


# A normalisation rule of our own, as SentencePiece reads it (hexadecimal, from and to): its map takes a kilobyte, where that of
# nmt_nfkc takes 240.
RULES = """9\t20
A\t20
D\t20
D A\t20
A0\t20
3000\t20
200B\t
AD\t
1\t
FF21\t41
FF22\t42
FF23\t43
FB01\t66 69
3231\t28 682A 29
2460\t31
212B\tC5
41 30A\tC5
61 301\tE1
65 301\tE9
61 301 323\t1EA1 301
1100 1161\tAC00
1100 1161 11A8\tAC01
1E9E\t53 53
"""


def charsmap(corpus, rule):
    """The map of a rule, out of a model trained with it."""
    return precompiled(trained(corpus, "unigram", rule, 380))


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = (varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at))
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def precompiled(model):
    return next(v for f, v in fields(next(v for f, v in fields(model) if f == 3)) if f == 2)


def trained(corpus, kind, rule, size, **more):
    with tempfile.TemporaryDirectory() as folder:
        text, prefix, rules = (pathlib.Path(folder) / name for name in ("text", "m", "rules"))
        rules.write_text(RULES, "utf-8")
        rule = {"normalization_rule_tsv": str(rules)} if rule == "own" else {"normalization_rule_name": rule}
        text.write_text("\n".join(line for part in corpus for line in part.split("\n") if line.strip()), "utf-8")
        sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=str(prefix), model_type=kind, vocab_size=size, minloglevel=2,
                                                 hard_vocab_limit=False, **rule, **more)
        return prefix.with_suffix(".model").read_bytes()


def own(corpus, size, small):
    """name -> bytes of a tokenizer.model."""
    more = {"user_defined_symbols": ["<tool>", "<X>"], "control_symbols": ["<ctl>"]}
    llama = {"byte_fallback": True, "remove_extra_whitespaces": False, "split_digits": True}
    return {
        "sp-bpe-llama": trained(corpus, "bpe", "identity", size, **llama, **more),
        "sp-unigram-llama": trained(corpus, "unigram", "identity", size, **llama, **more),
        "sp-unigram-nfkc": trained(corpus, "unigram", "own" if small else "nmt_nfkc", size, **more),
        "sp-bpe-nfkc": trained(corpus, "bpe", "own" if small else "nmt_nfkc_cf", size, **more),
        "sp-unigram-bare": trained(corpus, "unigram", "identity", size, add_dummy_prefix=False, byte_fallback=True),
        "sp-bpe-suffix": trained(corpus, "bpe", "own" if small else "nfkc", size, treat_whitespace_as_suffix=True),
    }


def unigram(corpus, size, normalizer=None, **more):
    tokenizer = Tokenizer(models.Unigram())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(**more)
    tokenizer.decoder = decoders.Metaspace(**more)
    trainer = trainers.UnigramTrainer(vocab_size=size, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def with_bytes(tokenizer):
    """Byte fallback, as llm-jp's tokenizers have it."""
    content = json.loads(tokenizer.to_str())
    content["model"]["vocab"] += [[b, 0.0] for b in BYTES]
    content["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(), decoders.Fuse()])
    return tokenizer


def word_piece(corpus, size, lowercase=True, strip_accents=None, clean_text=True, chinese=True, cleanup=True):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(clean_text=clean_text, handle_chinese_chars=chinese, strip_accents=strip_accents,
                                                      lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(cleanup=cleanup)
    special = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(corpus, trainers.WordPieceTrainer(vocab_size=size, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer


def of_tokenizers(corpus, size, small):
    """name -> Tokenizer, saved as a tokenizer.json."""
    t5 = unigram(corpus, size, normalizers.Sequence([normalizers.Precompiled(charsmap(corpus, "own" if small else "nmt_nfkc")), normalizers.Replace(tokenizers.Regex(" {2,}"), " ")]))
    t5.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    accents = unigram(corpus, size, normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]), prepend_scheme="first")
    accents.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(prepend_scheme="first"), pre_tokenizers.Punctuation("merged_with_previous")])
    plain = word_piece(corpus, size, lowercase=False, cleanup=False, chinese=False)
    plain.post_processor = processors.RobertaProcessing(("[SEP]", 2), ("[CLS]", 1))
    return {"unigram": unigram(corpus, size), "unigram-precompiled": t5, "unigram-bytes": with_bytes(unigram(corpus, size, split=False)),
            "unigram-accents": accents, "word-piece": word_piece(corpus, size), "word-piece-cased": plain,
            "word-piece-accents": word_piece(corpus, size, lowercase=False, strip_accents=True, clean_text=False)}


def answers(tokenizer, texts):
    ids = [tokenizer.encode(t).ids for t in texts]
    return {"ids": ids, "plain": [tokenizer.encode(t, add_special_tokens=False).ids for t in texts], "decoded": [tokenizer.decode(i, skip_special_tokens=False) for i in ids]}


def write(path):
    texts = TEXTS + MORE
    found = {"versions": {"tokenizers": tokenizers.__version__, "sentencepiece": sentencepiece.__version__}, "texts": texts, "tokenizers": [], "sentencepiece": []}
    for name, tokenizer in of_tokenizers(TRAINING, 300, True).items():
        found["tokenizers"].append({"name": name, "tokenizer": json.loads(tokenizer.to_str()), **answers(tokenizer, texts)})
    for name, model in own(TRAINING, 380, True).items():
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        plain = [t for t in texts if not controls_in(t)]
        found["sentencepiece"].append({"name": name, "model": base64.b64encode(model).decode(), "texts": plain, "ids": processor.encode(plain),
                                       "decoded": [processor.decode(i) for i in processor.encode(plain)]})
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n", "utf-8")
    print(f"{path}: {path.stat().st_size} bytes")


def controls_in(text):
    """SentencePiece takes the names of control symbols for text; transformers, and triescope with it, for the symbols."""
    return any(c in text for c in SPECIAL + ["<ctl>", "<pad>"])


def compare_own(name, program, model, texts):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokenizer.model"
        path.write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        expected, failures = processor.encode(texts), 0
        for text, ids, found in zip(texts, expected, dump(program, "encode", path, [json.dumps(t) for t in texts])):
            if found != " ".join(map(str, ids)):
                failures += 1
                if failures <= 5:
                    print(f"  {name}: {text!a:.200}\n    expected {[(processor.id_to_piece(i), i) for i in ids]!a:.400}\n    found    {found:.300}")
        known = [i for i in expected if processor.unk_id() not in i]
        for ids, found in zip(known, dump(program, "decode", path, [" ".join(map(str, i)) for i in known])):
            if json.loads(found) != processor.decode(ids):
                failures += 1
                if failures <= 10:
                    print(f"  {name}: decode {ids}\n    expected {processor.decode(ids)!a:.300}\n    found    {json.loads(found)!a:.300}")
    print(f"{name}: {len(texts)} texts: {failures} differ", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", help="a text file; trains models of 4,000 tokens on its first 2 MB")
    parser.add_argument("--only", action="append")
    arguments = parser.parse_args()
    if not arguments.dump:
        return write(pathlib.Path(__file__).resolve().parent / "tokenizer_models.json")
    corpus, size = (TRAINING, 380) if not arguments.corpus else (open(arguments.corpus, encoding="utf-8").read(2_000_000).split("\n\n"), 4000)
    texts = list(texts_of_fuzz(arguments.count, arguments.seed, ["<tool>", "<X>", "[UNK]", "[CLS]", "\u2581"]))
    failures = 0
    for name, tokenizer in of_tokenizers(corpus, size, False).items():
        if arguments.only and name not in arguments.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tokenizer.json"
            tokenizer.save(str(path))
            rng = random.Random(arguments.seed)
            ids = [[rng.randrange(tokenizer.get_vocab_size()) for _ in range(rng.randrange(1, 40))] for _ in range(arguments.count // 10)]
            failures += compare(name, arguments.dump, path, tokenizer, texts, ids)
    more = texts_of_fuzz(2 * arguments.count, arguments.seed, ["<tool>", "<X>", "[UNK]", "[CLS]", "\u2581"])
    plain = list(itertools.islice((t for t in more if not controls_in(t)), arguments.count))
    for name, model in own(corpus, size, False).items():
        if not arguments.only or name in arguments.only:
            failures += compare_own(name, arguments.dump, model, plain)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
