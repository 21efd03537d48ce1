#!/usr/bin/env python3
"""Golden outputs of beam search: what transformers' generate() returns on SmolLM2-135M-Instruct from its GGUF, fp32, CPU.

    python3 tests/golden/make_beam_goldens.py MODEL.gguf [spec_bench_question.jsonl]      writes beam_goldens.json beside it
    python3 tests/golden/make_beam_goldens.py MODEL.gguf --whole -o FILE.json             the whole product; with TRIESCOPE_PRODUCT=FILE.json
                                                                                          the tests "golden: SmolLM2 ..." compare with it

"cases": 20 prompts of the question file (10 as they are, 10 through the chat template and asked for a short answer, so that EOS comes
before the cap) x num_beams 1, 3, 9 x early_stopping true, false, never, num_return_sequences = num_beams. Token ids only: the prompts'
texts are not part of the file. Takes about 20 minutes on two cores; left as they are where no question file is given.

"product": num_beams x early_stopping x length_penalty x EOS tokens x the prompts of TEXTS, and the logits processors, chosen as
make_parity_goldens.py chooses them for a tiny model. EOS tokens are such that the model often writes them. Takes 5 minutes, --whole
about an hour; --resume goes on from the runs that the file has.
Needs transformers==5.17.0, gguf==0.19.0, torch==2.11.0.
"""
import argparse
import functools
import json
import os
import pathlib
import platform
import random
import time

import torch
import transformers
from make_parity_goldens import PROMPT_LENGTHS, by_key, key_of, processor_runs, run_of, selection
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.modeling_outputs import CausalLMOutputWithPast

# (line of the question file, form, max_new_tokens)
PROMPTS = [
    (0, "plain", 32), (20, "plain", 40), (30, "plain", 32), (40, "plain", 32), (60, "plain", 24),
    (82, "plain", 32), (100, "plain", 40), (242, "plain", 24), (250, "plain", 40), (330, "plain", 32),
    (240, "chat", 40), (241, "chat", 40), (243, "chat", 32), (245, "chat", 40), (247, "chat", 24),
    (251, "chat", 40), (255, "chat", 32), (85, "chat", 40), (322, "chat", 40), (325, "chat", 32),
]
SHORT = " Answer in one or two words."

# Cut to PROMPT_LENGTHS tokens.
TEXTS = (
    "Once",
    "The king had three sons, and the eldest of them",
    "Anna asked the old keeper how long he had lived by the sea. \"Forty years,\" he said, \"and every one of them was different from "
    "the one before.\" Then she asked him about the storms, and",
    "The harbour of Greyling Bay is small, and everybody in it knows everybody else. In the morning the boats go out, in the evening "
    "the boats come back, and in between the women and men of the market wait, mend nets, drink tea and talk about the weather. There "
    "are three rules that every child learns: never turn your back to the sea, never whistle on a boat, and never count the fish before "
    "the boat is home.\n\nOne winter a stranger came to the bay with a wooden box under his arm. He asked for a room, he asked for a "
    "candle, and he asked for the name of the oldest boat in the harbour. \"The oldest boat is the Morning Star,\" said the woman of the "
    "inn, \"and nobody has taken the Morning Star out to sea for twenty years.\" The stranger thanked her, put the box on the table and "
    "opened it. In the box there was a clock, a map and a letter. The letter was addressed to the captain of the Morning Star, and the "
    "letter said that the captain should take the clock and the map and sail to the north.",
)
EOS_TEXTS = ([","], ["<|im_end|>", ".", "\n", " and"])
MAX_NEW_TOKENS = 24


class Unknown(Exception):
    """A row that the model has not computed yet."""


class Remembered:
    """generate() over a model that computes no forward twice.

    Which beams live on depends neither on early_stopping nor on length_penalty: runs that differ in these alone ask for the same rows
    until they stop. A run is first tried on the rows of those before it, keyed by the texts of the whole batch; where one is missing
    it is done again, by the model. Rows are taken as the model gave them, so the outcome is the same to the bit."""

    def __init__(self, model):
        self.model, self.rows, self.texts, self.computing = model, {}, None, True
        forward, prepare = model.forward, model.prepare_inputs_for_generation

        @functools.wraps(prepare)
        def prepare_inputs(input_ids, *args, **options):
            self.texts = tuple(map(tuple, input_ids.tolist()))
            return prepare(input_ids, *args, **options)

        @functools.wraps(forward)
        def remembered_forward(*args, **options):
            if not self.computing:
                if self.texts not in self.rows:
                    raise Unknown
                return CausalLMOutputWithPast(logits=self.rows[self.texts], past_key_values=options["past_key_values"])
            out = forward(*args, **options)
            self.rows[self.texts] = out.logits[:, -1:]
            return out

        model.prepare_inputs_for_generation, model.forward = prepare_inputs, remembered_forward

    def __call__(self, run):
        for self.computing in (False, True):
            try:
                return run()
            except Unknown:
                pass

    def forget(self):
        self.rows = {}


def product(model, tokenizer, whole, done, write):
    """The entry "product"; `done` is one that a run before this left unfinished. write(entry) after each few runs."""
    prompts = []
    for text, length in zip(TEXTS, PROMPT_LENGTHS):
        prompts.append(tokenizer(text, add_special_tokens=False)["input_ids"][:length])
        assert len(prompts[-1]) == length
    eos = [[token for text in texts for token in tokenizer(text, add_special_tokens=False)["input_ids"]] for texts in EOS_TEXTS]
    assert [len(ids) for ids in eos] == [len(texts) for texts in EOS_TEXTS]
    model.generation_config = transformers.GenerationConfig()
    entry = {"prompts": prompts, "eos": eos, "max_new_tokens": MAX_NEW_TOKENS, "runs": []}
    made = {}
    if done:
        assert all(done[key] == entry[key] for key in entry if key != "runs"), "made with other settings"
        made = by_key(done["runs"])

    rows = [row + ({},) for row in selection("SmolLM2", whole)] + processor_runs(whole)
    # Together what asks for the same rows; in any order otherwise, so that a part of the whole is a fair part. Processors come last.
    groups = {}
    for row in rows:
        groups.setdefault((*row[:3], str(row[5])), []).append(row)
    order = list(groups)
    random.Random(0).shuffle(order)
    order.sort(key=lambda group: group[3] != "{}")
    remembered, greedy, ended, sequences_made = Remembered(model), {}, 0, 0
    for number, group in enumerate(order):
        start = time.time()
        remembered.forget()
        # Those that stop last come first: the others stop on their way.
        for row in sorted(groups[group], key=lambda row: (("never", "false", "true").index(row[3]), -row[4])):
            if key_of(row) in made:
                continue
            run, sequences = remembered(
                lambda row=row: run_of(model, prompts, eos, row, greedy, max_new_tokens=MAX_NEW_TOKENS))
            made[key_of(row)] = run
            ended += sum(tokens[-1] in eos[row[1]] for tokens in sequences)
            sequences_made += len(sequences)
        entry["runs"] = [made[key_of(row)] for row in rows if key_of(row) in made]
        write(entry)
        print(f"{number + 1}/{len(order)} {group}: {len(groups[group])} runs, {time.time() - start:.1f} s; {len(entry['runs'])} of "
              f"{len(rows)}, {ended / max(1, sequences_made):.0%} of the sequences end early", flush=True)


def cases_of(model, tokenizer, questions, eos):
    """The entry "cases"."""
    cases = []
    for line, form, max_new_tokens in PROMPTS:
        text = questions[line]
        if form == "chat":
            text = tokenizer.apply_chat_template([{"role": "user", "content": text + SHORT}],
                                                 add_generation_prompt=True, tokenize=False)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert len(ids) <= 200, (line, len(ids))
        case = {"question": line, "form": form, "prompt": ids, "max_new_tokens": max_new_tokens, "runs": []}
        for beams in (1, 3, 9):
            for stopping in ((True, False, "never") if beams > 1 else (None,)):
                start = time.time()
                options = {} if stopping is None else {"early_stopping": stopping}
                out = model.generate(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                                     num_beams=beams, num_return_sequences=beams, do_sample=False,
                                     max_new_tokens=max_new_tokens, eos_token_id=eos, pad_token_id=eos[0],
                                     return_dict_in_generate=True, output_scores=True, **options)
                sequences = []
                for row in out.sequences[:, len(ids):].tolist():
                    ends = [i for i, token in enumerate(row) if token in eos]
                    sequences.append(row[:ends[0] + 1] if ends else row)
                run = {"num_beams": beams, "sequences": sequences}
                if stopping is not None:
                    run["early_stopping"] = str(stopping).lower()
                    run["scores"] = out.sequences_scores.tolist()
                case["runs"].append(run)
                print(line, form, len(ids), beams, stopping, [len(s) for s in sequences],
                      f"{time.time() - start:.1f} s", flush=True)
        cases.append(case)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("questions", nargs="?")
    parser.add_argument("--whole", action="store_true", help="every combination")
    parser.add_argument("--resume", action="store_true", help="keep the runs of the product that the output has")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).with_name("beam_goldens.json"))
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()

    folder, file = os.path.split(os.path.abspath(arguments.model))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()
    eos = model.generation_config.eos_token_id or model.config.eos_token_id
    eos = [eos] if isinstance(eos, int) else list(eos)
    before = json.loads(arguments.output.read_text()) if arguments.output.exists() else {}
    result = {
        "made_by": "tests/golden/make_beam_goldens.py",
        "model": file,
        "dtype": "float32",
        "device": "cpu",
        "eos_token_id": eos,
        "versions": {"transformers": transformers.__version__, "torch": torch.__version__,
                     "python": platform.python_version()},
        "cases": before.get("cases", []),
    }

    def write(entry=None):
        if entry:
            result["product"] = entry
        unfinished = arguments.output.with_suffix(".part")
        unfinished.write_text(json.dumps(result, separators=(",", ":")) + "\n")
        unfinished.replace(arguments.output)

    if arguments.questions:
        with open(arguments.questions, encoding="utf-8") as lines:
            questions = [json.loads(line)["turns"][0] for line in lines]
        result["cases"] = cases_of(model, tokenizer, questions, eos)
        write()
    product(model, tokenizer, arguments.whole, before.get("product") if arguments.resume else None, write)


if __name__ == "__main__":
    main()
