#!/usr/bin/env python3
"""A greedy step of a mixture of experts on the CPU, over reading the bytes that it reads, and beside llama.cpp.

    python tests/bench/mixture_step.py --triescope build/triescope [--llama VENV/bin/python]     (the venv of compare.py)
    python tests/bench/mixture_step.py --beside MXFP4     the same model in another type, in turn with Q4_K

The model is generated: eight experts a layer of which a token goes through two, random weights in Q4_K, 1.04 billion of 3.46 billion weights read by a step.
The rate of reading is that of `triescope check`. The programs run in turn; a figure is a program's best round, with the median of all
rounds beside it. --record "Zen 4" keeps the figures (docs/measurements.md).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

from compare import Child, LLAMA
from random_models import BLOCKS, SHAPES, write_gguf
from record import record

SHAPE, KIND = SHAPES["1B of 3B"], "Q4_K"
IDS = [72, 101, 108, 108, 111]


def bytes_of_a_step(kind):
    _, values, block_bytes, _, _ = BLOCKS[kind]
    router = SHAPE.layers * SHAPE.experts * SHAPE.hidden  # fp32
    return (SHAPE.read_by_a_step() - router) // values * block_bytes + 4 * router


def step_ms(program, model, threads, new):
    output = subprocess.run([program, "--quiet", "decode", "--model", model, "--method", "greedy", "--prompt-ids", ",".join(map(str, IDS)), "--set",
                             "eos_token_id=-1", "--threads", str(threads), "--max-new-tokens", str(new + 1), "--json"], check=True, capture_output=True)
    return json.loads(output.stdout)["time_ms"]["decode"] / new


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triescope", default="build/triescope")
    parser.add_argument("--llama", help="Python with llama-cpp-python")
    parser.add_argument("--beside", choices=sorted(BLOCKS), help="time this type too")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--new", type=int, default=64)
    parser.add_argument("--model", type=pathlib.Path, help="where the generated file lies already, or is to stay")
    parser.add_argument("--record", metavar="MACHINE", help="append the figures to docs/measurements.csv, measured on this machine of its page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.model or pathlib.Path(folder, "mixture.gguf")
        if not path.exists():
            write_gguf(path, SHAPE, KIND, vocabulary=True)
        llama = Child(options.llama, LLAMA, str(path), options.threads, 2048) if options.llama else None
        other = pathlib.Path(folder, "beside.gguf")
        if options.beside:
            write_gguf(other, SHAPE, options.beside, vocabulary=True)
        ours, theirs, beside, rates = [], [], [], []
        for round_ in range(options.rounds + 1):
            checked = subprocess.run([options.triescope, "--quiet", "check", "--json"], check=False, capture_output=True).stdout
            rates.append(json.loads(checked)["read_bytes_per_second"])
            ours.append(step_ms(options.triescope, str(path), options.threads, options.new))
            if options.beside:
                beside.append(step_ms(options.triescope, str(other), options.threads, options.new))
            if llama:
                theirs.append(1000 * llama.run({"task": "greedy", "ids": IDS, "new": options.new})["decode"] / options.new)
        ours, theirs, beside = ours[1:], theirs[1:], beside[1:]  # the first warms up
    reading = 1000 * bytes_of_a_step(KIND) / max(rates)
    over = min(ours) / reading
    print(f"{bytes_of_a_step(KIND) / 1e6:.0f} MB a step, read in {reading:.1f} ms at {max(rates) / 1e9:.1f} GB/s; a step {min(ours):.1f} ms "
          f"(median {statistics.median(ours):.1f}), {over:.2f}x of reading")
    figures = [("a step of 1B of 3B in Q4_K", min(ours), "ms"), ("a step, over reading its bytes once", over, "×")]
    if theirs:
        print(f"llama.cpp: a step {min(theirs):.1f} ms (median {statistics.median(theirs):.1f}); {min(theirs) / min(ours):.2f}x ours")
        figures.append(("a step, llama.cpp's over ours", min(theirs) / min(ours), "×"))
    if beside:
        print(f"{options.beside}: {bytes_of_a_step(options.beside) / 1e6:.0f} MB, a step {min(beside):.1f} ms (median {statistics.median(beside):.1f}), "
              f"{min(beside) / min(ours):.2f}x that of {KIND}")
        figures = [(f"a step of 1B of 3B in {options.beside}", min(beside), "ms"), (f"a step in {options.beside}, over one in {KIND}", min(beside) / min(ours), "×")]
    if options.record:
        record(options.record, "mixture", "tests/bench/mixture_step.py", figures)


if __name__ == "__main__":
    main()
