"""The tokenizer of a GGUF model of the GPT-2 kind, as Hugging Face's `tokenizers` has it, and its chat turns in ChatML."""

import re

import gguf
import tokenizers
from tokenizers import decoders, models, pre_tokenizers


class Text:
    """encode(text) -> ids, with the special tokens' names read as such only in `turns`; decode(ids) -> text."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        field = lambda name: reader.fields[name].contents() if name in reader.fields else None
        pre = field("tokenizer.ggml.pre")
        if field("tokenizer.ggml.model") != "gpt2" or pre != "smollm":
            raise SystemExit(f"{path}: expected the pre-tokenizer 'smollm', found '{pre}'; add it to text.py")
        tokens, kinds = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
        merges = [tuple(m.split(" ")) for m in field("tokenizer.ggml.merges")]
        self.special = {t: i for i, (t, k) in enumerate(zip(tokens, kinds)) if k == 3}
        tok = tokenizers.Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
        tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                     pre_tokenizers.ByteLevel(add_prefix_space=False)])
        tok.decoder = decoders.ByteLevel()
        self._tok = tok
        self.start, self.end = self.special["<|im_start|>"], self.special["<|im_end|>"]
        self.newline = self.encode("\n")
        self._eos = field("tokenizer.ggml.eos_token_id")
        template = field("tokenizer.chat_template") or ""
        if "<|im_start|>" not in template:
            raise SystemExit(f"{path}: expected a ChatML template; write its turns in text.py")
        # The template's own default system turn, as it writes it before a first turn that is not a system's.
        default = re.search(r"<\|im_start\|>system(?:\n|\\n)(.*?)<\|im_end\|>", template, re.S)
        self.system = default[1] if default else ""

    def encode(self, text):
        return self._tok.encode(text, add_special_tokens=False).ids

    def decode(self, ids):
        return self._tok.decode(ids, skip_special_tokens=False)

    def head(self, role):
        """<|im_start|>role\\n"""
        return [self.start] + self.encode(role + "\n")

    def turn(self, role, text):
        return self.head(role) + self.encode(text) + [self.end] + self.newline

    def prefix(self):
        """What comes before the first user's words."""
        return (self.turn("system", self.system) if self.system else []) + self.head("user")

    def prompt(self, user):
        """The ids of one user's turn, ready for the answer: what `triescope decode --chat` feeds."""
        return self.prefix() + self.encode(user) + [self.end] + self.newline + self.head("assistant")
