#!/usr/bin/env python3
"""Golden outputs of greedy decoding and beam search: transformers' generate() on tiny models of ten families, fp32, CPU.

    python3 tests/golden/make_parity_goldens.py                        writes parity_goldens.json beside it
    python3 tests/golden/make_parity_goldens.py --whole -o FILE.json   the whole product for every model; with TRIESCOPE_PARITY=FILE.json
                                                                       the tests "parity: ..." compare with it
    python3 tests/golden/make_parity_goldens.py --select FILE.json     parity_goldens.json out of such a file

Models: those of model_families.py, with room for 200 tokens of prompt and some weights larger, so that the distributions are
as peaked as a language model's and depend on the text. num_beams x early_stopping x length_penalty x EOS tokens x prompts: the whole product for WHOLE,
for the others a selection in which every pair of values meets at least once. PROCESSORS besides, with one beam and with several, and SAMPLING: the
distributions that sampling draws from.
num_return_sequences = num_beams; a sequence ends with its EOS. EOS tokens and forbidden words are chosen among the tokens that
the model writes, so that texts end early and words are hit. A sequence is a text of one letter of ALPHABET a token.
Needs transformers==5.17.0, torch==2.11.0; takes about 3 minutes (--whole 15) on one core.
"""
import argparse
import collections
import itertools
import json
import pathlib
import random
import time

import torch
import transformers
from model_families import CASES, VOCAB, make_model

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
MAX_NEW_TOKENS = 16
# Factors of weights, powers of two: a head as peaked as a language model's, attention that looks at some tokens more than others,
# and where head and embedding are one, layers that outweigh the embedding.
SCALES = {"lm_head": 4, "embed_tokens": 2, "wte": 4, "q_proj": 2, "k_proj": 2, "qkv_proj": 2, "c_attn": 2}
SCALES_TIED = {"o_proj": 4, "down_proj": 4, "c_proj": 8}
WHOLE = ("llama", "mistral", "gemma3")
# Compared with all settings. The other families of model_families.py are compared by their logits and in model_tokens.py.
FAMILIES = ("llama", "mistral", "ministral", "qwen2", "qwen3", "smollm3", "phi3", "gemma2", "gemma3_text", "gpt2")
BEAMS = (1, 2, 3, 4, 5, 9, 16)
STOPPING = ("true", "false", "never")
LENGTH_PENALTIES = (-0.5, 0.0, 0.6, 1.0, 2.0)
PROMPT_LENGTHS = (1, 9, 40, 200)
FACTORS = (range(len(PROMPT_LENGTHS)), range(2), BEAMS, STOPPING, LENGTH_PENALTIES)
# word, pair, triple: taken from what the model writes without them.
PROCESSORS = (
    {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.8},
    {"no_repeat_ngram_size": 2},
    {"no_repeat_ngram_size": 3},
    {"min_new_tokens": 6},
    {"min_new_tokens": 16},
    {"min_length": 46},
    {"min_length": 15, "min_new_tokens": 3},
    {"bad_words_ids": ["word", "pair", "triple"]},
    {"repetition_penalty": 1.2, "no_repeat_ngram_size": 2, "bad_words_ids": ["pair"], "min_length": 47, "min_new_tokens": 4},
)

SAMPLING = (
    {"temperature": 0.7, "top_k": 12},
    {"temperature": 1.6, "top_p": 0.8},
    {"top_k": 20, "min_p": 0.03},
    {"typical_p": 0.6, "temperature": 1.2},
    {"temperature": 0.8, "top_k": 30, "top_p": 0.9, "min_p": 0.01, "typical_p": 0.8},
    {"repetition_penalty": 1.5, "top_p": 0.7},
    {"no_repeat_ngram_size": 2, "bad_words_ids": [], "temperature": 1.5, "top_k": 10},
    {"repetition_penalty": 0.7, "no_repeat_ngram_size": 2, "min_new_tokens": 3, "temperature": 0.9, "top_k": 25, "top_p": 0.95},
    {"repetition_penalty": 1.2, "bad_words_ids": [], "min_length": 300, "temperature": 2.0, "min_p": 0.05, "typical_p": 0.9},
    {"top_h": 0.6, "temperature": 1.4},
    {"epsilon_cutoff": 0.02, "top_k": 40},
    {"eta_cutoff": 0.1, "temperature": 0.8},
    {"repetition_penalty": 1.3, "temperature": 1.2, "top_h": 0.9, "top_k": 30, "top_p": 0.95, "min_p": 0.01, "typical_p": 0.95,
     "epsilon_cutoff": 0.01, "eta_cutoff": 0.05},
)


def pairwise(factors, seed):
    """Rows in which every pair of values of two factors meets: greedily the best of some random rows."""
    chance = random.Random(seed)
    wanted = {(i, a, j, b) for (i, x), (j, y) in itertools.combinations(enumerate(factors), 2) for a in x for b in y}
    rows = []
    while wanted:
        best, best_pairs = None, set()
        for _ in range(60):
            i, a, j, b = chance.choice(sorted(wanted, key=str))
            row = [chance.choice(list(factor)) for factor in factors]
            row[i], row[j] = a, b
            pairs = {(i, row[i], j, row[j]) for i, j in itertools.combinations(range(len(row)), 2)} & wanted
            if len(pairs) > len(best_pairs):
                best, best_pairs = row, pairs
        rows.append(tuple(best))
        wanted -= best_pairs
    return rows


def selection(name, whole):
    return list(itertools.product(*FACTORS)) if whole else pairwise(FACTORS, name)


def processor_runs(whole):
    """(prompt, which EOS tokens, beams, stopping, length penalty, processors); not whole: some of the whole."""
    rows = []
    for number, processors in enumerate(PROCESSORS):
        for beams, prompt in itertools.product((1, 2, 4, 9, 16), (1, 2, 3)):
            turn = number + beams + prompt
            if whole or beams in (1, 4, 9) and turn % 3 == 0:
                rows.append((prompt, turn % 2, beams, STOPPING[(turn // 3) % 3], LENGTH_PENALTIES[turn % 5], processors))
    return rows


def forget_length(model):
    """Dynamic rope keeps the frequencies of the longest text so far, unless a shorter one than the original context comes."""
    rope = getattr(model.base_model, "rotary_emb", None)
    if getattr(rope, "rope_type", None) == "dynamic":
        rope.max_seq_len_cached = rope.original_max_seq_len
        rope.register_buffer("inv_freq", rope.original_inv_freq, persistent=False)


def generate(model, prompt, eos, beams, stopping="false", length_penalty=1.0, max_new_tokens=MAX_NEW_TOKENS, **processors):
    """(sequences, scores or None), best first."""
    options = dict(processors)
    forget_length(model)
    if "phi3" in model.config.model_type and model.config.rope_parameters["rope_type"] == "longrope":
        # With a cache, 5.17.0 goes on from the last token alone where its rope switches.
        options["use_cache"] = len(prompt) > model.config.original_max_position_embeddings
    if beams > 1:
        options |= {"early_stopping": {"true": True, "false": False}.get(stopping, stopping), "length_penalty": length_penalty}
    model.generation_config.eos_token_id = eos or None
    with torch.no_grad():
        out = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), num_beams=beams,
                             num_return_sequences=beams, do_sample=False, max_new_tokens=max_new_tokens, pad_token_id=0,
                             return_dict_in_generate=True, output_scores=True, **options)
    sequences = []
    for row in out.sequences[:, len(prompt):].tolist():
        ends = [i for i, token in enumerate(row) if token in eos]
        sequences.append(row[:ends[0] + 1] if ends else row)
    return sequences, out.sequences_scores.tolist() if beams > 1 else None


def letters(tokens):
    return "".join(ALPHABET[token] for token in tokens)


def prompts_of(name):
    chance = random.Random(name)
    return [[chance.randrange(3, VOCAB) for _ in range(length)] for length in PROMPT_LENGTHS]


def stop_tokens(model, prompts):
    """One EOS token, then three: such that the model writes often enough."""
    counts = collections.Counter()
    for prompt in prompts:
        for tokens in generate(model, prompt, [], 9)[0]:
            counts.update(set(tokens[2:12]))
    ranked = [token for token, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if token > 0]
    return [[ranked[0]], sorted(ranked[1:4])]


def words(model, prompt, eos, kinds):
    text = generate(model, prompt, eos, 1)[0][0]
    text = [token for token in text if token not in eos] + prompt[-3:]
    return [{"word": text[1:2], "pair": text[2:4], "triple": text[:3]}[kind] if len(text) > 3 else text[:1] for kind in kinds]


def tiny(name):
    """config.json, the model, its tensors with their factors."""
    room = "n_positions" if name == "gpt2" else "max_position_embeddings"
    if "outgrown" not in name or room not in CASES[name]:
        CASES[name][room] = 512
    if "gemma" in name:  # its norms after each layer hold the layers down, and a tied head repeats the last token without end
        CASES[name]["tie_word_embeddings"] = False
    config_json, model, tensors = make_model(name)
    tied = not any(tensor[0] == "lm_head.weight" for tensor in tensors)
    scales = SCALES | (SCALES_TIED if tied else {})
    for tensor in tensors:
        factor = next((factor for part, factor in scales.items() if part in tensor[0]), 1)
        if factor != 1 and tensor[0].endswith("weight") and "norm" not in tensor[0]:
            tensor.append(factor)
            model.get_parameter(tensor[0]).data.mul_(factor)
    model.generation_config = transformers.GenerationConfig()
    return config_json, model, tensors


def distributions(name, prompts, eos):
    """What generate(do_sample=True) draws the first token from: [which prompt, settings, tokens, probabilities]."""
    model = tiny(name)[1]
    model.generation_config.eos_token_id = eos[1]
    rows = []
    for number, settings in enumerate(SAMPLING):
        prompt = prompts[1 + number % 3]
        if "bad_words_ids" in settings:
            settings = settings | {"bad_words_ids": [prompt[-1:], [prompt[-1], prompt[0]], eos[1]]}
        out = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), do_sample=True,
                             max_new_tokens=1, pad_token_id=0, return_dict_in_generate=True, output_scores=True,
                             **({"top_k": 0} | settings))
        p = out.scores[0][0].softmax(-1)
        kept = p.nonzero()[:, 0].tolist()
        rows.append([1 + number % 3, settings, kept, [round(float(p[token]), 7) for token in kept]])
    return rows


def run_of(model, prompts, eos, row, greedy, **options):
    """What a row of selection() or processor_runs() gives: a run but for its texts, and the texts. `greedy` remembers the texts of
    one beam, for which stopping and length penalty mean nothing."""
    prompt, which, beams, stopping, length_penalty, processors = row
    settings = dict(processors)
    if "bad_words_ids" in settings:
        settings["bad_words_ids"] = words(model, prompts[prompt], eos[which], settings["bad_words_ids"])
    key = (prompt, which, str(settings))
    if beams > 1 or key not in greedy:
        sequences, scores = generate(model, prompts[prompt], eos[which], beams, stopping, length_penalty, **options, **settings)
        if beams == 1:
            greedy[key] = sequences, scores
    if beams == 1:
        sequences, scores = greedy[key]
    run = {"prompt": prompt, "eos": which, "beams": beams, "stop": stopping, "lp": length_penalty, "tokens": sequences}
    if scores:
        run["scores"] = [round(score, 6) for score in scores]
    if settings:
        run["processors"] = settings
    return run, sequences


def make(name, whole):
    config_json, model, tensors = tiny(name)
    prompts = prompts_of(name)
    eos = stop_tokens(model, prompts)
    runs, greedy, ended, all_sequences = [], {}, 0, 0

    def add(*row):
        nonlocal ended, all_sequences
        run, sequences = run_of(model, prompts, eos, row, greedy)
        run["tokens"] = " ".join(map(letters, sequences))
        runs.append(run)
        ended += sum(tokens[-1] in eos[run["eos"]] for tokens in sequences)
        all_sequences += len(sequences)

    for row in selection(name, whole or name in WHOLE):
        add(*row, {})
    plain = len(runs)
    for row in processor_runs(whole):
        add(*row)
    forget_length(model)
    first = model(torch.tensor([prompts[2]])).logits[0, -1]
    print(f"{name}: {plain} runs, {len(runs) - plain} with processors, eos {eos}, "
          f"{ended / all_sequences:.0%} of the sequences end early", flush=True)
    return {"config": config_json, "tensors": tensors, "prompts": prompts, "eos": eos, "runs": runs,
            "logits": [round(float(v), 6) for v in first.detach()]}


def key_of(row):
    """Of a run; the forbidden words in it, which depend on the model, left out."""
    return str(row[:-1]), str({k: v for k, v in row[-1].items() if k != "bad_words_ids"}), "bad_words_ids" in row[-1]


def by_key(runs):
    return {key_of((*(run[k] for k in ("prompt", "eos", "beams", "stop", "lp")), run.get("processors", {}))): run for run in runs}


def write(path, models):
    out = {"made_by": "tests/golden/make_parity_goldens.py",
           "versions": {"transformers": transformers.__version__, "torch": torch.__version__},
           "alphabet": ALPHABET, "max_new_tokens": MAX_NEW_TOKENS, "models": models}
    pathlib.Path(path).write_text(json.dumps(out, separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--select", metavar="FILE", help="take the runs from a file that --whole wrote")
    parser.add_argument("--models", help="names separated by ';'")
    parser.add_argument("-o", "--output", default=str(pathlib.Path(__file__).with_name("parity_goldens.json")))
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    start = time.time()
    names = arguments.models.split(";") if arguments.models else [name for name in CASES if CASES[name]["model_type"] in FAMILIES]
    if arguments.select:
        models = json.loads(pathlib.Path(arguments.select).read_text())["models"]
        for name, entry in models.items():
            rows = [row + ({},) for row in selection(name, name in WHOLE)] + processor_runs(False)
            made = by_key(entry["runs"])
            entry["runs"] = [made[key_of(row)] for row in rows]
    else:
        models = {}
        for name in names:
            models[name] = make(name, arguments.whole)
            write(arguments.output, models)
    for name, entry in models.items():
        entry["distributions"] = distributions(name, entry["prompts"], entry["eos"])
    write(arguments.output, models)
    print(f"{sum(len(m['runs']) for m in models.values())} runs, {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
