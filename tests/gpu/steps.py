#!/usr/bin/env python3
"""Times forwards of core on models with random weights against the device's own memory-copy rate, and beam search beside generate().

    python tests/gpu/steps.py --library BUILD/tests/bin/libtriescope_gpu_steps.so --device cuda --shapes 135M,1B,8B --json steps.json

Needs a Python with torch (the one whose libtorch the library was linked with); generate() needs transformers too and is left out without.

The limit of a step: the bytes of the weights it reads, as the file holds them, and of the prompt's keys and values, over the rate at which
the device copies memory (bytes read and written). A step's time is the best and the median of --repeats, until its logits are on the
host. Kernels are counted by torch's profiler in a step of its own. Beams: wall time of the whole search, prefill included, on both sides
the best of two.
"""
import argparse
import ctypes
import json
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from random_models import SHAPES, write_gguf, write_safetensors  # noqa: E402


class Library:
    """tests/gpu/steps.cpp."""

    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        for name, result, arguments in (("ts_error", ctypes.c_char_p, []), ("ts_open", ctypes.c_void_p, [ctypes.c_char_p] * 3),
                                        ("ts_close", None, [ctypes.c_void_p]), ("ts_allocated", ctypes.c_int64, [ctypes.c_void_p]),
                                        ("ts_warning", ctypes.c_char_p, [ctypes.c_void_p]),
                                        ("ts_prefill", ctypes.c_double, [ctypes.c_void_p, ctypes.c_int]),
                                        ("ts_step", ctypes.c_double, [ctypes.c_void_p, ctypes.c_int]),
                                        ("ts_beams", ctypes.c_double, [ctypes.c_void_p] + [ctypes.c_int] * 3)):
            function = getattr(self.c, name)
            function.restype, function.argtypes = result, arguments

    def open(self, path, device, dtype):
        model = self.c.ts_open(str(path).encode(), device.encode(), dtype.encode())
        if not model:
            raise RuntimeError(self.c.ts_error().decode())
        return model

    def seconds(self, name, model, *arguments):
        took = getattr(self.c, name)(model, *arguments)
        if took < 0:
            raise RuntimeError(self.c.ts_error().decode())
        return took


def copy_rate(torch, device):
    """Bytes read and written a second by a copy of 1 GiB on the device (256 MiB on a CPU), the best of ten."""
    size = 1 << (28 if device == "cpu" else 30)
    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    wait = torch.cuda.synchronize if device != "cpu" else lambda: None
    best = 0.0
    for _ in range(10):
        wait()
        start = time.perf_counter()
        target.copy_(source)
        wait()
        best = max(best, 2 * size / (time.perf_counter() - start))
    return best


def kernels_of(torch, work):
    """Kernels and copies that `work` starts on the GPU, and the milliseconds they take together."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        work()
        torch.cuda.synchronize()
    on_device = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    return {"launches": len(on_device), "device_ms": sum(e.device_time for e in on_device) / 1000}


def generate_seconds(torch, folder, device, dtype, beams, prompt, tokens):
    """transformers' generate() on the same weights; None and why where it cannot be had."""
    try:
        import transformers
    except ImportError as error:
        return None, str(error)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).to(device).eval()
    ids = torch.tensor([[(i * 7919 + 13) % model.config.vocab_size for i in range(prompt)]], device=device)
    model.generation_config.eos_token_id = None
    best = None
    for _ in range(2):
        start = time.perf_counter()
        with torch.no_grad():
            model.generate(ids, attention_mask=torch.ones_like(ids), num_beams=beams, num_return_sequences=beams, do_sample=False,
                           early_stopping="never", min_new_tokens=tokens, max_new_tokens=tokens, pad_token_id=0).cpu()
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    return best, f"transformers {transformers.__version__}"


def measure(torch, library, options, row, rate, folder):
    """Fills row["steps"] and row["beams"] of one model, made in `folder`."""
    name, weights = row["shape"], row["weights"]
    shape = SHAPES[name]
    if weights == "bf16":
        path = folder
        write_safetensors(folder, shape, "BF16")
        bytes_a_weight = 2.0
    else:
        # Blocks of 256 do not fit every width.
        kind, bytes_a_weight = ("Q4_K", 144 / 256) if shape.hidden % 256 == 0 else ("Q4_1", 20 / 32)
        path = folder / "model.gguf"
        write_gguf(path, shape, kind)
        row["weights"] = weights = kind
    start = time.perf_counter()
    model = library.open(path, options.device, "bf16")
    row["load_seconds"] = time.perf_counter() - start
    row["warning"] = library.c.ts_warning(model).decode()
    if row["warning"]:
        print(f"{name} {weights}: {row['warning']}", flush=True)
    try:
        for prompt in options.prompts:
            prefill = [library.seconds("ts_prefill", model, prompt) for _ in range(2)]
            kv_bytes = 2 * 2 * shape.layers * shape.kv * prompt
            limit = (shape.read_by_a_step() * bytes_a_weight + kv_bytes) / rate
            for rows in options.rows:
                step = lambda: library.seconds("ts_step", model, rows)
                for _ in range(3):
                    step()
                times = [step() for _ in range(options.repeats)]
                found = {"prompt": prompt, "rows": rows, "prefill_seconds": min(prefill), "ms": 1000 * min(times),
                         "median_ms": 1000 * statistics.median(times), "limit_ms": 1000 * limit, "share": limit / min(times)}
                if options.device != "cpu":
                    found |= kernels_of(torch, step)
                row["steps"].append(found)
                print(f"{name} {weights} prompt {prompt} rows {rows}: {found['ms']:.3f} ms, limit {found['limit_ms']:.3f} ms "
                      f"({100 * found['share']:.0f} %)" + (f", {found['launches']} launches" if "launches" in found else ""), flush=True)
        row["allocated_bytes"] = library.c.ts_allocated(model)
        if weights == "bf16" and options.beams:
            beams, prompt, tokens = options.beams, options.beam_prompt, options.beam_tokens
            ours = min(library.seconds("ts_beams", model, beams, prompt, tokens) for _ in range(2))
            row["beams"] = {"beams": beams, "prompt": prompt, "tokens": tokens, "seconds": ours}
    finally:
        library.c.ts_close(model)
    if "beams" in row:
        if options.device != "cpu":
            torch.cuda.empty_cache()
        theirs, what = generate_seconds(torch, folder, options.device, "bfloat16", beams, prompt, tokens)
        row["beams"] |= {"generate_seconds": theirs, "generate": what, "ratio": theirs / ours if theirs else None}
        print(f"{name} b = {beams}: {ours:.2f} s, generate() {'-' if theirs is None else f'{theirs:.2f} s, {theirs / ours:.2f} times'} "
              f"({what})", flush=True)


def main():
    numbers = lambda text: [int(x) for x in text.split(",") if x]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shapes", default="135M,1B,8B", help="of " + ", ".join(SHAPES))
    parser.add_argument("--weights", default="bf16,q4", help="bf16: safetensors; q4: GGUF blocks")
    parser.add_argument("--rows", type=numbers, default=[1, 9, 32])
    parser.add_argument("--prompts", type=numbers, default=[2048, 32768])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--beams", type=int, default=9, help="0: no comparison with generate()")
    parser.add_argument("--beam-prompt", type=int, default=512)
    parser.add_argument("--beam-tokens", type=int, default=64)
    parser.add_argument("--json", help="write the figures here, after each model")
    options = parser.parse_args()
    import torch

    library = Library(options.library)
    report = {"device": options.device, "torch": torch.__version__, "copy_bytes_per_second": copy_rate(torch, options.device), "models": []}
    print(f"copies {report['copy_bytes_per_second'] / 1e9:.0f} GB/s, read and written", flush=True)
    failed = False
    for name in options.shapes.split(","):
        for weights in options.weights.split(","):
            row = {"shape": name, "weights": weights, "dtype": "bf16", "steps": []}
            report["models"].append(row)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    measure(torch, library, options, row, report["copy_bytes_per_second"], pathlib.Path(folder))
                except Exception as error:  # the other models still run; the report says what happened
                    failed = True
                    row["error"] = str(error)
                    print(f"{name} {weights}: {error}", flush=True)
            if options.json:
                whole = pathlib.Path(options.json + ".part")
                whole.write_text(json.dumps(report, indent=1))
                whole.rename(options.json)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
