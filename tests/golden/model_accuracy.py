#!/usr/bin/env python3
"""How far log p are from those in fp64: triescope's and transformers', both fp32 on the CPU.

  model_accuracy.py --dump BUILD/tests/bin/logits_dump                  the tiny models of make_parity_goldens.py
  model_accuracy.py --dump ... --model FOLDER [--gguf FILE] [--length 1000]   a model on disk

Texts are random tokens (tiny models; six of 150) or a repeated paragraph. Prints root mean squares over the 20 likeliest
tokens at each position, and their ratio. Development only. Made with transformers 5.17.0."""
import argparse
import copy
import pathlib
import subprocess
import tempfile

import numpy
import torch
import transformers

PARAGRAPH = ("Once upon a time there was a little girl named Lily. She loved to play outside in the sunshine. The capital of "
             "France is Paris, and its river is the Seine. def add(a, b):\n    return a + b\n\nfor i in range(10):\n")


def ours(program, path, ids, folder):
    given, made = pathlib.Path(folder, "ids"), pathlib.Path(folder, "logits")
    given.write_text(" ".join(map(str, ids)))
    subprocess.run([program, path, given, made], check=True)
    return torch.from_numpy(numpy.fromfile(made, dtype=numpy.float32)).reshape(len(ids), -1)


def theirs(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids]), use_cache=False).logits[0]


def log_p(logits):
    return torch.log_softmax(logits.double(), -1)


def report(name, program, path, model, texts):
    wide = copy.deepcopy(model).double()
    squares = []
    with tempfile.TemporaryDirectory() as folder:
        for ids in texts:
            exact = log_p(theirs(wide, ids))
            likeliest = exact.topk(min(20, exact.shape[-1]), -1).indices
            squares.append([(log_p(found) - exact).gather(1, likeliest).square().mean().item()
                            for found in (ours(program, path, ids, folder), theirs(model, ids))])
    a, b = numpy.sqrt(numpy.mean(squares, axis=0))
    print(f"{name:36} triescope {a:.2e}  transformers {b:.2e}  ratio {a / b:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("--model")
    parser.add_argument("--gguf")
    parser.add_argument("--length", type=int, default=160)
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    if arguments.model:
        kind = {"gguf_file": arguments.gguf} if arguments.gguf else {}
        model = transformers.AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32, **kind).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model, **kind)
        ids = tokenizer(PARAGRAPH * (arguments.length // 40 + 1))["input_ids"][:arguments.length]
        path = pathlib.Path(arguments.model, arguments.gguf or "")
        report(path.name, arguments.dump, path, model, [ids])
        return
    import make_parity_goldens as parity
    generator = torch.Generator().manual_seed(1)
    for name in parity.CASES:
        model = parity.tiny(name)[1].eval()
        texts = [torch.randint(0, model.config.vocab_size, (150,), generator=generator).tolist() for _ in range(6)]
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            report(name, arguments.dump, folder, model, texts)


if __name__ == "__main__":
    main()
