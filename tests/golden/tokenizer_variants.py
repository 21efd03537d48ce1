"""The tokenizers that tokenizer_compare.py and make_tokenizer_goldens.py look at.

Real ones from the test data, and the pre-tokenizers, normalizers and decoders of other families put on those
vocabularies, since what they do to a text does not depend on the vocabulary."""
import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
          r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")

SEED = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+")
_UPPER, _LOWER, _SHORT = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
GPT4O = (rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SHORT}|\p{{N}}{{1,3}}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# What tokenizer.ggml.pre means: steps of transformers' tokenizers of the families that carry the name
# (normalizer NFC, digits one by one, a split; ignore_merges). None: GPT-2's own split.
PRE_TYPES = {
    "gpt-2": (False, False, None, False), "phi-2": (False, False, None, False), "exaone4": (False, False, None, False),
    "olmo": (True, False, None, False), "smollm": (False, True, None, False), "starcoder": (False, True, None, False),
    "refact": (False, True, None, False), "command-r": (True, True, None, False), "llama-bpe": (False, False, LLAMA3, True),
    "lfm2": (False, False, LLAMA3, True),
    "smaug-bpe": (False, False, LLAMA3, False), "dbrx": (False, False, LLAMA3, False), "chatglm-bpe": (False, False, LLAMA3, False),
    "glm4": (False, False, LLAMA3, True), "tekken": (False, False, TEKKEN, True), "qwen2": (True, False, QWEN2, False),
    "deepseek-r1-qwen": (True, False, QWEN2, False), "stablelm2": (False, False, QWEN2, False),
    "seed-coder": (False, False, SEED, False), "gpt-4o": (False, False, GPT4O, True)}


def gpt2(data):
    folder = pathlib.Path(data) / "tokenizers" / "gpt2"
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", normalized=True, special=True)])
    return tokenizer


def without_spaced_merges(path):
    """Llama-2's file of the test data has merges of tokens that hold real spaces; `tokenizers` refuses to read them.
    They can never apply (the normalizer leaves no space)."""
    content = json.loads(pathlib.Path(path).read_text("utf-8"))
    content["model"]["merges"] = [m for m in content["model"]["merges"] if m.count(" ") == 1]
    return Tokenizer.from_str(json.dumps(content))


def sentencepiece(data, name):
    return without_spaced_merges(pathlib.Path(data) / "tokenizers" / name / "tokenizer.json")


def real(data, models_folder):
    """name -> (path that triescope opens, Tokenizer)."""
    data = pathlib.Path(data)
    found = {
        "gpt2": (data / "tokenizers/gpt2", gpt2(data)),
        "llama2": (data / "tokenizers/llama2", sentencepiece(data, "llama2")),
        "phi3": (data / "tokenizers/phi3", sentencepiece(data, "phi3")),
        "tinystories": (data / "models/TinyStories-656K",
                        Tokenizer.from_file(str(data / "models/TinyStories-656K/tokenizer.json"))),
    }
    gguf = pathlib.Path(models_folder) / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if gguf.exists():
        from transformers import AutoTokenizer
        smollm2 = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name).backend_tokenizer
        # transformers 5.17.0 drops what tokenizer.ggml.pre = "smollm" says; the model's own tokenizer.json has this.
        smollm2.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
        found["smollm2"] = (gguf, smollm2)
    return found


def pre_type(data, name):
    """GPT-2's vocabulary with the steps of a tokenizer.ggml.pre."""
    nfc, digits, pattern, ignore_merges = PRE_TYPES[name]
    tokenizer = gpt2(data)
    steps = [pre_tokenizers.Digits(individual_digits=True)] if digits else []
    if pattern:
        steps.append(pre_tokenizers.Split(Regex(pattern), "isolated"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)])
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    content = json.loads(tokenizer.to_str())
    content["model"]["ignore_merges"] = ignore_merges
    return Tokenizer.from_str(json.dumps(content))


def variants(data):
    """name -> Tokenizer, to be saved as a tokenizer.json."""
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

    def with_split(pattern):
        tokenizer = gpt2(data)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(pattern), "isolated"), byte_level])
        return tokenizer

    found = {"split-llama3": with_split(LLAMA3), "split-qwen2": with_split(QWEN2), "split-tekken": with_split(TEKKEN)}
    found["split-qwen2"].normalizer = normalizers.NFC()

    llama3 = json.loads(found["split-llama3"].to_str())
    llama3["model"]["ignore_merges"] = True
    found["ignore-merges"] = Tokenizer.from_str(json.dumps(llama3))
    found["ignore-merges"].post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single="<|endoftext|> $A <|endoftext|>", special_tokens=[("<|endoftext|>", 50256)])])

    smollm = gpt2(data)
    smollm.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    found["digits"] = smollm

    digits = gpt2(data)
    digits.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.ByteLevel(add_prefix_space=True)])
    found["digit-runs-prefix-space"] = digits

    for name, normalizer in {"nfc": normalizers.NFC(), "nfd": normalizers.NFD(), "nfkc": normalizers.NFKC(),
                             "nfkd": normalizers.NFKD(), "lowercase": normalizers.Lowercase(),
                             "strip": normalizers.Strip(), "replace-regex": normalizers.Replace(Regex(r"\s{2,}"), " "),
                             }.items():
        found["normalizer-" + name] = gpt2(data)
        found["normalizer-" + name].normalizer = normalizer

    for behavior in ("isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"):
        for invert in (False, True):
            tokenizer = gpt2(data)
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
                [pre_tokenizers.Split(Regex(r"\p{N}|[aeiou]"), behavior, invert), byte_level])
            found[f"behavior-{behavior}{'-inverted' if invert else ''}"] = tokenizer

    # Gemma: spaces replaced, nothing prepended, cut after each space.
    gemma = sentencepiece(data, "llama2")
    gemma.normalizer = normalizers.Replace(" ", "\u2581")
    gemma.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    gemma.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    found["gemma-like"] = gemma

    for scheme in ("always", "first", "never"):
        for split in (True, False):
            tokenizer = sentencepiece(data, "phi3")
            tokenizer.normalizer = None
            tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
            tokenizer.decoder = decoders.Sequence([decoders.Metaspace(prepend_scheme=scheme, split=split)])
            found[f"metaspace-{scheme}{'' if split else '-whole'}"] = tokenizer

    flags = gpt2(data)
    flags.add_tokens([AddedToken("[L]", lstrip=True, normalized=False), AddedToken("[R]", rstrip=True, normalized=False),
                      AddedToken("[LR]", lstrip=True, rstrip=True, special=True), AddedToken("word", single_word=True),
                      AddedToken("wordy", single_word=True, normalized=False), AddedToken("\u00c5B", normalized=True),
                      AddedToken("[", normalized=False), AddedToken("the cat", normalized=True),
                      AddedToken(" spaced ", normalized=False)])
    flags.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    found["added-flags"] = flags
    return found
