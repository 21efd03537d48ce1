#!/usr/bin/env python3
"""Makes tokenizer_folders.json: what transformers makes of tokenizer folders whose files say things about added and special tokens.

  tokenizer_folders.py [--random N] [--seed S] [--out FILE]

Folders are small, and held in the file: a vocabulary by name, and the files beside it. Those made by hand show one thing each, random
ones mix them; what transformers refuses is left out. tests/unit/tokenizer/test_tokenizer_folders.cpp reads it. Needs transformers."""
import argparse
import json
import pathlib
import random
import tempfile

import tokenizers
import transformers
from tokenizers import pre_tokenizers
from transformers import AutoTokenizer
from transformers.utils.chat_template_utils import render_jinja_template

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<|user|>", "<|end|>"]
MERGES = ["t h", "th e", "\u0120 a", "\u0120 the", "i n", "e r", "o n", "in g", "w o", "r d", "wo rd"]
TEXTS = ["", "a<|tool|>b", "a <|tool|>  b", "<|user|>\n x <|end|> y", "<s>the</s> <pad><unk>", "x[X] y  [X]z [x]", "Word word aWord wordy", " the thing",
         "a<|im_end|> <|im_start|>\n", "NEW new 12 123", "<|endoftext|> <image> b", "caf\u00e9 Cafe\u0301"]
NAMES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token", "image_token", "turn_token"]
TEMPLATE = ("".join("{% if " + n + " is defined %}" + n + "={{ " + n + " }};{% endif %}" for n in NAMES)
            + "{{ messages[0].content }}")


def added(content, **flags):
    return {**FLAGS, **flags, "content": content}


def token(content, **flags):
    """As a value in tokenizer_config.json."""
    return {"__type": "AddedToken", **added(content, **flags)}


def texts(files):
    """As the files' texts: the order of their keys matters."""
    return {name: json.dumps(content) for name, content in files.items()}


def vocabulary():
    names = SPECIAL + sorted(pre_tokenizers.ByteLevel.alphabet()) + [m.replace(" ", "") for m in MERGES]
    return {name: i for i, name in enumerate(names)}


def base(normalizer=None, post=True, added_tokens=None, padding=None, vocab=None):
    return {"version": "1.0", "truncation": None, "padding": padding,
            "added_tokens": added_tokens if added_tokens is not None else [{"id": i, **added(n)} for i, n in enumerate(SPECIAL)],
            "normalizer": normalizer,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                               "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                               "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}} if post else None,
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab or vocabulary(), "merges": MERGES}}


def bases():
    size = len(vocabulary())
    mixed = [{"id": i, **added(n, rstrip=n == "<|user|>", lstrip=n == "<|end|>")} for i, n in enumerate(SPECIAL)]
    mixed += [{"id": vocabulary()["word"], **added("word", special=False, normalized=True, single_word=True)},
              {"id": size, **added("[X]", special=False, normalized=True)}, {"id": size + 1, **added("NEW", special=False)}]
    return {"bytes": base(), "mixed": base(added_tokens=mixed), "lower": base(normalizer={"type": "Lowercase"}, added_tokens=mixed),
            "bare": base(post=False, added_tokens=[]),
            "padded": base(padding={"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 3, "pad_type_id": 0, "pad_token": "<pad>"})}


def by_hand():
    size = len(vocabulary())
    two = {"bos_token": "<s>", "eos_token": "</s>"}

    def folder(name, files, of="bytes", model_type="llama"):
        return {"name": name, "base": of, "files": texts({"config.json": {"model_type": model_type}, **files})}

    def config(name, values, of="bytes", model_type="llama", **files):
        return folder(name, {"tokenizer_config.json": {**two, **values}, **{f.replace("__", "."): v for f, v in files.items()}}, of, model_type)

    def decoder(*tokens):
        return {"added_tokens_decoder": {str(i): t for i, t in tokens}}

    yield folder("no other file", {})
    yield config("added_tokens_decoder", decoder((size, added("<|tool|>"))))
    yield config("added_tokens_decoder: ids are given in its order, whatever it says", decoder((size + 9, added("<|tool|>")), (size + 4, added("[X]"))))
    yield config("added_tokens_decoder: an id that the vocabulary has for another token", decoder((9, added("<|tool|>"))))
    for flag in ("lstrip", "rstrip", "single_word", "normalized"):
        yield config(f"added_tokens_decoder: {flag} said there alone", decoder((4, added("<|user|>", **{flag: True})), (vocabulary()["word"], added("word", **{flag: True}))))
        yield config(f"added_tokens_decoder: not {flag}", decoder((4, added("<|user|>")), (5, added("<|end|>")), (size, added("[X]"))), "mixed")
        yield config(f"added_tokens_decoder: {flag}, lower case", decoder((size, added("[X]", **{flag: True})), (size + 1, added("Caf\u00e9", special=False, **{flag: True}))), "lower")
    yield config("added_tokens_decoder: special no longer", decoder((4, added("<|user|>", special=False)), (size, added("[X]", special=True))), "mixed")
    yield config("added_tokens_decoder: flags left out", {"added_tokens_decoder": {str(size): {"content": "<|tool|>"}, str(size + 1): {"content": "[X]", "special": True}}})
    yield config("added_tokens_decoder: empty, hides the older files", {"added_tokens_decoder": {}}, added_tokens__json={"<|tool|>": size}, special_tokens_map__json={"bos_token": "<|user|>"})
    yield config("added_tokens.json", {}, added_tokens__json={"<|tool|>": size, "[X]": size + 1})
    yield config("added_tokens.json: special by name", {"additional_special_tokens": ["[X]"], "pad_token": "<|tool|>"}, added_tokens__json={"<|tool|>": size, "[X]": size + 1, "NEW": size + 2})
    yield config("added_tokens.json: tokenizer.json knows it", {}, "mixed", added_tokens__json={"[X]": size, "<|user|>": 4, "NEW": size + 1})
    yield folder("special_tokens_map.json alone", {"special_tokens_map.json": {"bos_token": "<s>", "eos_token": {**added("<|im_end|>"), "special": False}}})
    yield config("special_tokens_map.json wins", {"pad_token": "<pad>"}, special_tokens_map__json={"bos_token": {"content": "<|tool|>", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}, "pad_token": "<|end|>", "image_token": "<image>"})
    yield config("special_tokens_map.json: extra_special_tokens", {"extra_special_tokens": ["[X]"]}, special_tokens_map__json={"extra_special_tokens": ["<image>", {"content": "<|tool|>", "lstrip": True}]})
    yield config("special_tokens_map.json: additional_special_tokens", {}, special_tokens_map__json={"additional_special_tokens": ["<image>", "<|tool|>"]})
    yield config("extra_special_tokens: a list", {"extra_special_tokens": ["<|tool|>", "<|user|>", token("[X]", rstrip=True)]})
    yield config("extra_special_tokens: by name", {"extra_special_tokens": {"turn_token": "<|end|>", "image_token": "<image>"}})
    yield config("additional_special_tokens", {"additional_special_tokens": ["<|tool|>", "<image>"]})
    yield config("additional_special_tokens beside extra_special_tokens", {"additional_special_tokens": ["<|tool|>"], "extra_special_tokens": ["<image>"]})
    yield config("names of their own", {"image_token": "<image>", "turn_token": token("<|tool|>", lstrip=True)})
    yield config("every name", {"unk_token": "<unk>", "sep_token": "<|end|>", "pad_token": "<pad>", "cls_token": "<|user|>", "mask_token": token("[X]", lstrip=True)})
    yield config("a name is null, or no text", {"bos_token": None, "pad_token": "", "unk_token": None})
    yield config("a name with flags of its own for a token of tokenizer.json", {"bos_token": token("<s>", rstrip=True), "pad_token": token("word", lstrip=True)}, "mixed")
    yield config("a name whose flags stand in added_tokens_decoder", {"eos_token": "<|im_end|>", **decoder((size, added("<|im_end|>", rstrip=True, special=False)))})
    yield config("add_bos_token and add_eos_token beside tokenizer.json", {"add_bos_token": False, "add_eos_token": True})
    yield config("add_prefix_space beside tokenizer.json", {"add_prefix_space": True})
    yield config("split_special_tokens", {"split_special_tokens": True, **decoder((size, added("<|tool|>", special=False)))}, "mixed")
    yield config("padding names the pad token", {}, "padded")
    yield config("padding names it, null does not", {"pad_token": None}, "padded")
    yield config("no post-processor", {"add_bos_token": True}, "bare")
    yield config("tokens that no tokenizer.json adds", {"pad_token": "<pad>", **decoder((4, added("<|user|>")))}, "bare")
    yield config("two new names, in the order of the file", {"video_token": "<|tool|>", "audio_token": "NEW", "extra_special_tokens": {"z_token": "<image>", "a_token": "[X]"}})
    yield config("special_tokens_map.json has one more name", {"video_token": "<|tool|>"}, special_tokens_map__json={"audio_token": "NEW", "mask_token": "[X]", "bos_token": None})
    # The class builds its own steps and drops tokens of tokenizer.json. Only what both have is compared.
    yield folder("gpt2 with tokenizer.json", {}, model_type="gpt2")
    yield config("gpt2 with tokenizer.json, a space in front", {"add_prefix_space": True}, model_type="gpt2")
    for kind in ("gpt2", "qwen2", "qwen3"):
        yield folder(f"vocab.json, {kind}", {}, "vocab.json", kind)
        yield config(f"vocab.json, {kind}: added_tokens_decoder", decoder((size + 3, added("[X]")), (4, added("<|user|>", rstrip=True))), "vocab.json", kind)
        yield config(f"vocab.json, {kind}: added_tokens.json", {}, "vocab.json", kind, added_tokens__json={"<|tool|>": size, "<s>": 1})
        yield config(f"vocab.json, {kind}: both ends", {"add_bos_token": True, "add_eos_token": True}, "vocab.json", kind)
        yield config(f"vocab.json, {kind}: no end", {"add_bos_token": False, "add_eos_token": False}, "vocab.json", kind)
        yield config(f"vocab.json, {kind}: bos null", {"add_bos_token": True, "bos_token": None}, "vocab.json", kind)
        yield config(f"vocab.json, {kind}: a space in front", {"add_prefix_space": True, "add_bos_token": True}, "vocab.json", kind)
        yield config(f"vocab.json, {kind}: special_tokens_map.json", {}, "vocab.json", kind, special_tokens_map__json={"bos_token": {**added("<|tool|>", lstrip=True), "special": True}, "pad_token": "<pad>"})
    yield config("vocab.json, class named", {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}, "vocab.json")
    yield config("vocab.json, class of another family named", {"tokenizer_class": "Qwen2TokenizerFast"}, "vocab.json")


def at_random(rng):
    size = len(vocabulary())
    pool = SPECIAL + ["<|tool|>", "[X]", "NEW", "word", "Sword", "the", "<|im_end|>", "<|im_start|>", "<image>", "<|endoftext|>", "Caf\u00e9", " sp "]

    def some():
        text = rng.choice(pool)
        if rng.random() < 0.6:
            return text
        return token(text, **{f: rng.random() < 0.4 for f in FLAGS})

    of = rng.choice(["bytes", "mixed", "lower", "bare", "padded", "vocab.json", "vocab.json"])
    config, files = {}, {}
    for name in NAMES:
        if rng.random() < (0.7 if name in ("bos_token", "eos_token") else 0.2):
            config[name] = None if rng.random() < 0.1 else some()
    if rng.random() < 0.5:
        chosen = rng.sample(pool, rng.randint(0, 5))
        config["added_tokens_decoder"] = {str(rng.choice([vocabulary().get(t, size + rng.randint(0, 9))] * 4 + [size + rng.randint(0, 20)])):
                                          added(t, **{f: rng.random() < 0.5 for f in FLAGS}) for t in chosen}
    if rng.random() < 0.3:
        config["additional_special_tokens"] = [some() for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.3:
        config["extra_special_tokens"] = ({"turn_token": rng.choice(pool), "image_token": rng.choice(pool)} if rng.random() < 0.5 else
                                          [some() for _ in range(rng.randint(0, 3))])
    for name in ("add_bos_token", "add_eos_token", "add_prefix_space"):
        if rng.random() < 0.3:
            config[name] = rng.random() < 0.5
    if rng.random() < 0.1:
        config["split_special_tokens"] = True
    if rng.random() < 0.3:
        files["added_tokens.json"] = {t: size + i for i, t in enumerate(rng.sample(pool, rng.randint(0, 4)))}
    if rng.random() < 0.3:
        files["special_tokens_map.json"] = {n: rng.choice([rng.choice(pool), added(rng.choice(pool), lstrip=rng.random() < 0.5)])
                                            for n in rng.sample(NAMES, rng.randint(0, 4))}
        if rng.random() < 0.3:
            files["special_tokens_map.json"]["additional_special_tokens"] = rng.sample(pool, 2)
    model_type = rng.choice(["gpt2", "qwen2"]) if of == "vocab.json" else rng.choice(["llama", "mistral"])
    return {"base": of, "files": texts({"config.json": {"model_type": model_type}, "tokenizer_config.json": config, **files})}


def answers(case, found):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, content in case["files"].items():
            (folder / file).write_text(content)
        if case["base"] == "vocab.json":
            (folder / "vocab.json").write_text(json.dumps(vocabulary()))
            (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(m + "\n" for m in MERGES))
        else:
            (folder / "tokenizer.json").write_text(json.dumps(found[case["base"]]))
        made = AutoTokenizer.from_pretrained(folder)
    ids = [made(t)["input_ids"] for t in TEXTS]
    rendered = render_jinja_template([[{"role": "user", "content": "hi"}]], chat_template=TEMPLATE, **made.special_tokens_map)[0][0]
    return {**case, "class": type(made).__name__, "size": max(made.get_vocab().values()) + 1, "bos": -1 if made.bos_token_id is None else made.bos_token_id,
            "eos": [] if made.eos_token_id is None else [made.eos_token_id], "ids": ids, "plain": [made(t, add_special_tokens=False)["input_ids"] for t in TEXTS],
            "decoded": [made.decode(i) for i in ids], "skipped": [made.decode(i, skip_special_tokens=True) for i in ids], "rendered": rendered}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=str(pathlib.Path(__file__).parent / "tokenizer_folders.json"))
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    found, cases = bases(), []
    for case in by_hand():
        cases.append(answers(case, found))
    rng, refused = random.Random(arguments.seed), 0
    for i in range(arguments.random):
        try:
            cases.append(answers({"name": f"random {i}", **at_random(rng)}, found))
        except Exception as error:  # what transformers refuses
            refused += 1
            print(f"random {i}: {type(error).__name__}: {str(error)[:100]}")
    golden = {"versions": {"tokenizers": tokenizers.__version__, "transformers": transformers.__version__},
              "bases": found, "vocab.json": vocabulary(), "merges.txt": "#version: 0.2\n" + "".join(m + "\n" for m in MERGES),
              "texts": TEXTS, "template": TEMPLATE, "cases": cases}
    pathlib.Path(arguments.out).write_text(json.dumps(golden, separators=(",", ":"), ensure_ascii=True) + "\n")
    print(f"{len(cases)} folders, {refused} refused; {pathlib.Path(arguments.out).stat().st_size} bytes")


if __name__ == "__main__":
    main()
