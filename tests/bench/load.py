#!/usr/bin/env python3
"""Loading: time and resident memory of `triescope` on a generated model, beside reading its bytes; with --families tokens per second too.

    python tests/bench/load.py --triescope build/triescope --gigabytes 1
    python tests/bench/load.py --triescope build/triescope --model SmolLM2-135M-Instruct.Q4_1.gguf
    python tests/bench/load.py --triescope build/triescope --families     (needs transformers)

The model is a Llama of random BF16 (or F32) weights with a vocabulary of 256 bytes. Reading: `cat FILE > /dev/null` with the file in
the page cache, the best of --rounds, so that both sides are measured without the disk; then both once more with the file dropped from
the cache ("from disk"). Loading is measured alone and up to the end of prefill. Resident: the largest of the process, less
that of a process that loads a model of no size. --record "Zen 4" keeps the figures (docs/measurements.md).
"""
import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import time

from record import record
from random_models import BLOCKS, SHAPES, Shape, write_gguf, write_safetensors, write_tokenizer


def shape_of(gigabytes, dtype):
    """As many layers as give about that size; 0: hardly anything."""
    if gigabytes == 0:
        return Shape(16, 16, 1, 1, 256, 1, context=4096)
    shape = Shape(2048, 5632, 16, 4, 256, 1, context=4096)
    layer = {"BF16": 2, "F32": 4}[dtype] * sum(outputs * inputs for _, _, outputs, inputs in shape.matrices())
    return dataclasses.replace(shape, layers=max(1, round(gigabytes * 1e9 / layer)))


def write_model(folder, dtype, gigabytes):
    write_safetensors(folder, shape_of(gigabytes, dtype), dtype)
    write_tokenizer(folder)


def run(command):
    """Output and largest resident bytes of the process."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command} failed")
    return output, usage.ru_maxrss * 1024


def decode(program, folder, dtype, tokens):
    output, resident = run([program, "--quiet", "decode", "--model", str(folder), "--method", "greedy", "--prompt-ids", "72,101,108,108,111",
                            "--set", "eos_token_id=-1", "--dtype", dtype, "--max-new-tokens", str(tokens), "--json"])
    return json.loads(output), resident


def forget(path):
    """Drops the file from the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_seconds(path):
    start = time.monotonic()
    subprocess.run(f"cat {path} > /dev/null", shell=True, check=True)
    return time.monotonic() - start


def measure(program, name, model, file, dtype, base, rounds):
    data = file.stat().st_size
    reading = [read_seconds(file) for _ in range(rounds)]
    results = [decode(program, model, dtype, 1) for _ in range(rounds)]
    load = min(result["time_ms"]["load"] for result, _ in results) / 1000
    prefilled = min(result["time_ms"]["load"] + result["time_ms"]["prefill"] for result, _ in results) / 1000
    resident = results[0][1] - base
    cold_reading, cold = [], []
    for _ in range(3):
        forget(file)
        cold_reading.append(read_seconds(file))
        forget(file)
        times = decode(program, model, dtype, 1)[0]["time_ms"]
        cold.append((times["load"] + times["prefill"]) / 1000)
    _, info = run([program, "--quiet", "info", str(model)])
    print(f"{name} -> {dtype}: {data / 1e9:.2f} GB, read {min(reading):.2f} s, load {load:.2f} s ({load / min(reading):.2f}x), "
          f"load and prefill {prefilled:.2f} s ({prefilled / min(reading):.2f}x), "
          f"from disk: read {min(cold_reading):.2f} s, load and prefill {min(cold):.2f} s ({min(cold) / min(cold_reading):.2f}x), "
          f"resident {resident / 1e9:.3f} GB ({resident / data:.2f}x the file), info {info / 1e6:.0f} MB resident", flush=True)
    return {"load": load / min(reading), "prefilled": prefilled / min(reading), "resident": resident / data}


def keep_big(machine, big, ratios, step, reading):
    command = "tests/bench/load.py --big" + (f" {big}" if big != "Q4_K" else "")
    case = f"{big}, 8B"
    record(machine, "loading", command, [(case, ratios["load"], "×"), (case + ", and prefill", ratios["prefilled"], "×")])
    record(machine, "resident", command, [(big, ratios["resident"], "×")])
    if big == "Q4_K":  # the question is about one type
        record(machine, "big", command, [("a step", step, "ms"), ("a step, over reading its bytes once", step / reading, "×")])


def size(program, gigabytes, given, big, rounds, machine):
    with tempfile.TemporaryDirectory() as temporary:
        empty, folder = pathlib.Path(temporary, "empty"), pathlib.Path(temporary, "model")
        empty.mkdir()
        folder.mkdir()
        write_model(empty, "BF16", 0)
        _, base = decode(program, empty, "bf16", 1)
        if big:
            path = folder / "big.gguf"
            write_gguf(path, SHAPES["8B"], big)
            ratios = measure(program, f"8B in {big}", path, path, "f32", base, rounds)
            result, _ = decode(program, path, "f32", 17)
            step = result["time_ms"]["decode"] / 16
            output, _ = run([program, "--quiet", "check", "--json"])
            rate = json.loads(output)["read_bytes_per_second"]
            reading = path.stat().st_size / rate * 1000
            print(f"a step {step:.0f} ms, {path.stat().st_size / 1e6 / step:.1f} GB/s of the file; reading its bytes once at "
                  f"{rate / 1e9:.1f} GB/s takes {reading:.0f} ms ({step / reading:.2f}x)")
            if machine:
                keep_big(machine, big, ratios, step, reading)
            return
        if given:
            measure(program, given.name, given, given, "f32", base, rounds)
            return
        for stored, dtype in (("BF16", "f32"), ("F32", "f32"), ("F32", "bf16")):
            write_model(folder, stored, gigabytes)
            ratios = measure(program, stored, folder, folder / "model.safetensors", dtype, base, rounds)
            if machine:
                case = stored + (" as bf16" if dtype == "bf16" else "")
                record(machine, "loading", "tests/bench/load.py", [(f"{case}, {gigabytes:g} GB", ratios["load"], "×")])
                record(machine, "resident", "tests/bench/load.py", [(case, ratios["resident"], "×")])


def families(program):
    import torch
    import transformers
    shape = {"hidden_size": 512, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 1536,
             "head_dim": 64, "vocab_size": 256, "max_position_embeddings": 1024}
    for family in ("llama", "mistral", "qwen2", "qwen3", "smollm3", "phi3", "gemma2", "gemma3_text", "gpt2"):
        fields = {"n_embd": 512, "n_layer": 8, "n_head": 8, "vocab_size": 256} if family == "gpt2" else dict(shape)
        config = transformers.AutoConfig.for_model(family, **fields, bos_token_id=1, eos_token_id=2, pad_token_id=0)
        torch.manual_seed(1)
        with tempfile.TemporaryDirectory() as temporary:
            transformers.AutoModelForCausalLM.from_config(config).save_pretrained(temporary)
            write_tokenizer(pathlib.Path(temporary))
            result, _ = decode(program, temporary, "f32", 128)
        times = result["time_ms"]
        print(f"{family}: load {times['load']:.0f} ms, {result['tokens_per_second']:.0f} tokens/s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triescope", default="build/triescope")
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--model", type=pathlib.Path, help="a .gguf file to measure instead of generated models")
    parser.add_argument("--big", nargs="?", const="Q4_K", choices=list(BLOCKS), metavar="TYPE",
                        help="a GGUF of Llama-3.1-8B's shape in a type of blocks (Q4_K, or one of %(choices)s) instead: loading, memory, a step")
    parser.add_argument("--rounds", type=int, default=3, help="readings and loads, one kind after the other; the best counts")
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--record", metavar="MACHINE", help="append the figures to docs/measurements.csv, measured on this machine of its page")
    options = parser.parse_args()
    if options.families:
        families(options.triescope)
    else:
        size(options.triescope, options.gigabytes, options.model, options.big, options.rounds, options.record)


if __name__ == "__main__":
    main()
