#!/usr/bin/env python3
"""Writes warpers.json and processors.json: what transformers does to rows of random logits.

Needs torch and transformers 5.17.0. Run from anywhere: python tests/golden/make_warper_goldens.py
"""
import json
import pathlib

import torch
import transformers
from transformers.generation import logits_process as lp

HERE = pathlib.Path(__file__).resolve().parent
VOCAB = 160
EOS = [7, 150]


def versions():
    return {"transformers": transformers.__version__, "torch": torch.__version__}


def rows(generator):
    """Rows of a language model's shape: peaked, flat, with level scores, with impossible tokens."""
    peaked = torch.randn(VOCAB, generator=generator) * 3
    flat = torch.randn(VOCAB, generator=generator) * 0.2
    level = torch.round(torch.randn(VOCAB, generator=generator) * 2)
    holes = torch.randn(VOCAB, generator=generator) * 2
    holes[torch.randperm(VOCAB, generator=generator)[:100]] = -float("inf")
    return {"peaked": peaked, "flat": flat, "level": level, "holes": holes}


def warp(settings, scores):
    """The order of GenerationMixin._get_logits_processor for do_sample=True."""
    keep = settings.get("min_tokens_to_keep", 1)
    scores = scores[None]
    if settings.get("temperature", 1.0) != 1.0:
        scores = lp.TemperatureLogitsWarper(settings["temperature"])(None, scores)
    if settings.get("top_h") is not None:
        scores = lp.TopHLogitsWarper(settings["top_h"])(None, scores)
    if settings.get("top_k", 0) != 0:
        scores = lp.TopKLogitsWarper(settings["top_k"], min_tokens_to_keep=keep)(None, scores)
    if settings.get("top_p", 1.0) < 1.0:
        scores = lp.TopPLogitsWarper(settings["top_p"], min_tokens_to_keep=keep)(None, scores)
    if settings.get("min_p") is not None:
        scores = lp.MinPLogitsWarper(settings["min_p"], min_tokens_to_keep=keep)(None, scores)
    if settings.get("typical_p", 1.0) < 1.0:
        scores = lp.TypicalLogitsWarper(settings["typical_p"], min_tokens_to_keep=keep)(None, scores)
    if 0.0 < settings.get("epsilon_cutoff", 0.0) < 1.0:
        scores = lp.EpsilonLogitsWarper(settings["epsilon_cutoff"], min_tokens_to_keep=keep)(None, scores)
    if 0.0 < settings.get("eta_cutoff", 0.0) < 1.0:
        scores = lp.EtaLogitsWarper(settings["eta_cutoff"], min_tokens_to_keep=keep)(None, scores)
    return scores.softmax(-1)[0]


WARPER_SETTINGS = [
    {},
    {"temperature": 0.7},
    {"temperature": 1.9},
    {"top_k": 1},
    {"top_k": 5},
    {"top_k": 50},
    {"top_k": 1000},
    {"top_p": 0.9},
    {"top_p": 0.5},
    {"top_p": 0.0},
    {"top_p": 0.9, "min_tokens_to_keep": 3},
    {"min_p": 0.05},
    {"min_p": 0.5},
    {"min_p": 1.0},
    {"min_p": 0.9, "min_tokens_to_keep": 4},
    {"typical_p": 0.9},
    {"typical_p": 0.2},
    {"typical_p": 0.2, "min_tokens_to_keep": 5},
    {"temperature": 0.8, "top_k": 40, "top_p": 0.95},
    {"temperature": 1.3, "top_k": 20, "top_p": 0.8, "min_p": 0.02},
    {"temperature": 0.6, "top_k": 30, "top_p": 0.9, "min_p": 0.01, "typical_p": 0.7},
    # Every pair of warpers at least once, each cutting something.
    {"temperature": 1.5, "min_p": 0.1},
    {"temperature": 0.7, "typical_p": 0.5},
    {"top_k": 40, "min_p": 0.05},
    {"top_k": 12, "typical_p": 0.6},
    {"top_p": 0.85, "min_p": 0.03},
    {"top_p": 0.6, "typical_p": 0.8},
    {"min_p": 0.02, "typical_p": 0.5},
    {"top_h": 0.4},
    {"top_h": 0.9},
    {"top_h": 0.01},
    {"epsilon_cutoff": 0.01},
    {"epsilon_cutoff": 0.95},
    {"epsilon_cutoff": 0.95, "min_tokens_to_keep": 4},
    {"epsilon_cutoff": 1.0, "eta_cutoff": 1.0},
    {"eta_cutoff": 0.002},
    {"eta_cutoff": 0.3},
    {"eta_cutoff": 0.99, "min_tokens_to_keep": 5},
    {"temperature": 1.6, "top_h": 0.5},
    {"top_h": 0.8, "top_k": 6},
    {"top_h": 0.7, "top_p": 0.8},
    {"top_h": 0.95, "min_p": 0.1},
    {"top_h": 0.8, "typical_p": 0.5},
    {"top_h": 0.9, "epsilon_cutoff": 0.02},
    {"top_h": 0.9, "eta_cutoff": 0.1},
    {"temperature": 0.6, "epsilon_cutoff": 0.02},
    {"top_k": 30, "epsilon_cutoff": 0.03},
    {"top_p": 0.95, "epsilon_cutoff": 0.02},
    {"min_p": 0.02, "epsilon_cutoff": 0.05},
    {"typical_p": 0.9, "epsilon_cutoff": 0.01},
    {"temperature": 1.4, "eta_cutoff": 0.02},
    {"top_k": 30, "eta_cutoff": 0.1},
    {"top_p": 0.95, "eta_cutoff": 0.05},
    {"min_p": 0.02, "eta_cutoff": 0.1},
    {"typical_p": 0.9, "eta_cutoff": 0.03},
    {"epsilon_cutoff": 0.008, "eta_cutoff": 0.1},
    {
        "temperature": 1.2,
        "top_h": 0.95,
        "top_k": 40,
        "top_p": 0.97,
        "min_p": 0.01,
        "typical_p": 0.95,
        "epsilon_cutoff": 0.01,
        "eta_cutoff": 0.05,
    },
]


def process(settings, context, prompt_tokens, scores):
    """The order of GenerationMixin._get_logits_processor."""
    ids = torch.tensor([context])
    scores = scores[None].clone()
    if settings.get("repetition_penalty", 1.0) != 1.0:
        scores = lp.RepetitionPenaltyLogitsProcessor(settings["repetition_penalty"])(ids, scores)
    if settings.get("no_repeat_ngram_size", 0) > 0:
        scores = lp.NoRepeatNGramLogitsProcessor(settings["no_repeat_ngram_size"])(ids, scores)
    if settings.get("bad_words_ids"):
        scores = lp.NoBadWordsLogitsProcessor(settings["bad_words_ids"], EOS)(ids, scores)
    if settings.get("min_length", 0) > 0:
        scores = lp.MinLengthLogitsProcessor(settings["min_length"], EOS)(ids, scores)
    if settings.get("min_new_tokens", 0) > 0:
        scores = lp.MinNewTokensLengthLogitsProcessor(prompt_tokens, settings["min_new_tokens"], EOS)(ids, scores)
    return scores[0]


PROCESSOR_SETTINGS = [
    {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.7},
    {"no_repeat_ngram_size": 1},
    {"no_repeat_ngram_size": 2},
    {"no_repeat_ngram_size": 3},
    {"no_repeat_ngram_size": 40},
    {"bad_words_ids": [[3], [150], [9, 11], [9, 11, 12]]},
    {"bad_words_ids": [[4, 5], [5, 4], [1, 2, 3, 4, 5, 6, 7, 8, 9]]},
    {"min_new_tokens": 4},
    {"min_new_tokens": 5},
    {"min_length": 4},
    {"min_length": 8},
    {"repetition_penalty": 1.2, "bad_words_ids": [[44]], "min_length": 6},
    {
        "repetition_penalty": 1.2,
        "no_repeat_ngram_size": 2,
        "bad_words_ids": [[5, 9], [44], [7, 7]],
        "min_new_tokens": 30,
    },
]
# (prompt, generated)
CONTEXTS = [
    ([4, 5, 9, 4, 5], [9, 4, 5, 4]),
    ([12, 9], [11]),
    ([12, 9, 11], []),
    ([1], [1, 1, 1, 1]),
    ([4], []),
]


def plain(values):
    """JSON has no infinity: null is minus infinity."""
    return [None if v == -float("inf") else v for v in values.tolist()]


def main():
    generator = torch.Generator().manual_seed(20250807)
    named = rows(generator)
    cases = []
    for settings in WARPER_SETTINGS:
        for name, scores in named.items():
            p = warp(settings, scores)
            kept = torch.nonzero(p)[:, 0]
            cases.append({"settings": settings, "row": name, "tokens": kept.tolist(), "p": p[kept].tolist()})
    out = {"versions": versions(), "rows": {k: plain(v) for k, v in named.items()}, "cases": cases}
    (HERE / "warpers.json").write_text(json.dumps(out) + "\n")

    cases = []
    row = torch.randn(VOCAB, generator=generator)
    for settings in PROCESSOR_SETTINGS:
        for prompt, generated in CONTEXTS:
            result = process(settings, prompt + generated, len(prompt), row)
            # Only what changed: [token, score].
            changed = torch.nonzero(result != row)[:, 0].tolist()
            cases.append(
                {
                    "settings": settings,
                    "prompt": prompt,
                    "generated": generated,
                    "changed": [[i, plain(result[i : i + 1])[0]] for i in changed],
                }
            )
    out = {"versions": versions(), "eos": EOS, "row": plain(row), "cases": cases}
    (HERE / "processors.json").write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
