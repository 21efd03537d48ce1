#!/usr/bin/env python3
"""Writes candidates.json beside it: what transformers' candidate generators draft, state by state, over tests/fixtures/tiny_llama.

  python tests/golden/candidates.py        a minute; needs torch==2.11.0, transformers==5.17.0, tokenizers

A state is a beginning of a text; every state has a new generator. "drafts" of a text: for each state from `from` tokens on what is drafted.
Texts that the model wrote itself have drafts that come true. "other_tokenizer" is the target's in the universal states: byte-level BPE, trained
here."""
import json
import pathlib
import random

import tokenizers
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.generation import candidate_generator as cg

from make_tokenizer_goldens import TRAINING

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent / "fixtures" / "tiny_llama"
LONG = 1000

torch.manual_seed(0)
torch.set_num_threads(1)
model = LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32).eval()
own = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizer.json"), bos_token="<s>", eos_token="</s>")


def drafts(generator, ids):
    found, _ = generator.get_candidates(torch.tensor([ids]))
    return found[0, len(ids):].tolist()


def states(text, first, make):
    return [drafts(make(text[:n]), text[:n]) for n in range(first, len(text))]


def greedy(ids, tokens):
    return model.generate(torch.tensor([ids]), max_new_tokens=tokens, do_sample=False, eos_token_id=None, pad_token_id=0)[0].tolist()


def assistant_config(**settings):
    config = GenerationConfig(min_length=0, max_length=LONG, do_sample=False, pad_token_id=0, eos_token_id=None)
    for name, value in settings.items():
        setattr(config, name, value)
    return config


def generator(kind, ids, tokens, threshold, **settings):
    model.generation_config.num_assistant_tokens = tokens
    model.generation_config.num_assistant_tokens_schedule = "constant"
    model.generation_config.assistant_confidence_threshold = threshold
    config = assistant_config(**settings)
    return kind(torch.tensor([ids]), assistant_model=model, generation_config=config, model_kwargs={}, logits_processor=None)


def draft_model_cases(texts):
    for tokens, threshold in ((4, 0.0), (6, 0.3)):
        yield {"method": "draft_model", "settings": {"num_assistant_tokens": tokens, "assistant_confidence_threshold": threshold}, "from": 3,
               "texts": [{"ids": text, "drafts": states(text, 3, lambda ids: generator(cg.AssistedCandidateGenerator, ids, tokens, threshold))}
                         for text in texts]}


def early_exit_cases(texts):
    make = lambda ids: generator(cg.EarlyExitCandidateGenerator, ids, 4, 0.0, assistant_early_exit=1)
    yield {"method": "layer_skip", "settings": {"num_assistant_tokens": 4, "assistant_early_exit": 1}, "from": 3,
           "texts": [{"ids": text, "drafts": states(text, 3, make)} for text in texts]}


def lookup_cases(rng):
    for ngram, tokens, vocabulary in ((3, 10, 6), (2, 4, 12), (4, 7, 3)):
        texts = [[rng.randrange(vocabulary) for _ in range(60)] for _ in range(2)]
        block = [rng.randrange(300) for _ in range(14)]
        texts.append(block + [301] + block[3:] + [302] + block[:9] + block[2:11])  # a text that copies itself: drafts come true
        make = lambda ids: cg.PromptLookupCandidateGenerator(num_output_tokens=tokens, max_matching_ngram_size=ngram, max_length=LONG)
        yield {"method": "prompt_lookup", "settings": {"max_matching_ngram_size": ngram, "prompt_lookup_num_tokens": tokens, "match": "first"},
               "from": 2, "texts": [{"ids": text, "drafts": states(text, 2, make)} for text in texts]}


def other_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TRAINING, trainers.BpeTrainer(vocab_size=420, special_tokens=["<|end|>"], show_progress=False,
                                                                initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def universal_cases(rng, other):
    target = PreTrainedTokenizerFast(tokenizer_object=other)
    def make(ids):
        model.generation_config.num_assistant_tokens = 5
        model.generation_config.num_assistant_tokens_schedule = "constant"
        model.generation_config.assistant_confidence_threshold = 0.0
        model.generation_config.assistant_lookbehind = 10
        return cg.AssistedCandidateGeneratorDifferentTokenizers(
            torch.tensor([ids]), assistant_model=model, target_tokenizer=target, assistant_tokenizer=own,
            generation_config=assistant_config(), model_kwargs={}, logits_processor=None)
    words = sorted({word for line in TRAINING for word in line.split() if word.isascii() and word.isalpha()})
    texts = []
    for _ in range(3):
        begin = " ".join(rng.choice(words) for _ in range(12))
        # The model goes on in its own tokens, so some drafts come true in the other tokenizer's.
        text = own.decode(greedy(own(begin)["input_ids"], 40), skip_special_tokens=True)
        texts.append(other.encode(text).ids)
    first = 24
    cases = []
    for text in texts:
        cases.append({"ids": text, "drafts": states(text, first, make)})
    yield {"method": "universal_draft", "settings": {"num_assistant_tokens": 5, "assistant_lookbehind": 10}, "from": first, "texts": cases}


def main():
    rng = random.Random(4)
    beginnings = [[1, *(rng.randrange(3, 384) for _ in range(9))] for _ in range(4)]
    texts = [greedy(begin, 22) if i % 2 else begin + [rng.randrange(3, 384) for _ in range(22)] for i, begin in enumerate(beginnings)]
    longer = [greedy(begin, 50) if i % 2 else begin + [rng.randrange(3, 384) for _ in range(50)] for i, begin in enumerate(beginnings)]
    other = other_tokenizer()
    cases = [*lookup_cases(rng), *draft_model_cases(texts), *early_exit_cases(longer), *universal_cases(rng, other)]
    for case in cases:
        counted = [(draft, text["ids"][case["from"] + i:]) for text in case["texts"] for i, draft in enumerate(text["drafts"])]
        true = sum(bool(draft) and draft[0] == rest[0] for draft, rest in counted)
        print(case["method"], case["settings"], len(counted), "states,", sum(bool(d) for d, _ in counted), "with drafts,", true, "true")
    out = {"versions": {"transformers": transformers.__version__, "torch": torch.__version__, "tokenizers": tokenizers.__version__},
           "other_tokenizer": json.loads(other.to_str()), "cases": cases}
    (HERE / "candidates.json").write_text(json.dumps(out, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
