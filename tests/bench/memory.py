#!/usr/bin/env python3
"""What the memory of a process consists of: libtorch, tokenizer, weights, and what a run adds.

    python tests/bench/memory.py --model SmolLM2-135M-Instruct.Q4_1.gguf

Runs triescope three times and looks at each until it ends: `methods` opens nothing, so that all it has is the program's and libtorch's;
`tokenize` opens the tokenizer; `decode` opens the model too and decodes. Each line is a run's peak (VmHWM), what of it lies in libtorch's
files (its code, which all processes share), and what is anonymous (heap and mapped), in MB of 2^20 bytes. The last lines are the
differences. Weights that were held twice while they load would show as a peak above the sum.
--record "Zen 4" keeps the figures (docs/measurements.md).
"""

import argparse
import pathlib
import re
import subprocess
import time

from record import record


def watch(command):
    """{"peak", "libtorch", "anonymous"} in MB; the last two are the most that was seen."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = {"peak": 0.0, "libtorch": 0.0, "anonymous": 0.0}
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            maps = pathlib.Path(f"/proc/{process.pid}/smaps").read_text()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        found = {name: int(kb) for name, kb in re.findall(r"^(VmHWM|RssAnon):\s+(\d+) kB", status, re.MULTILINE)}
        in_libtorch = re.findall(r"lib(?:torch|c10)\S*\n(?:(?!Rss).*\n)*?Rss:\s+(\d+) kB", maps)
        now = {"peak": found.get("VmHWM", 0), "anonymous": found.get("RssAnon", 0), "libtorch": sum(map(int, in_libtorch))}
        seen = {name: max(seen[name], now[name] / 1024) for name in seen}
        time.sleep(0.005)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: run it by hand to see why")
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help=".gguf file")
    parser.add_argument("--triescope", default=str(pathlib.Path(__file__).parents[2] / "build/triescope"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--record", metavar="MACHINE", help="append the figures to docs/measurements.csv, measured on this machine of its page")
    args = parser.parse_args()
    runs = {"nothing opened": ["methods"], "tokenizer": ["tokenize", "--model", args.model, "Once upon a time"],
            "model, 32 tokens decoded": ["decode", "--model", args.model, "--threads", str(args.threads), "--method", "greedy",
                                         "--prompt", "Once upon a time", "--max-new-tokens", "32", "--quiet"]}
    found = {name: watch([args.triescope, *command]) for name, command in runs.items()}
    for name, run in found.items():
        print(f"{name:26s} peak {run['peak']:6.0f}   libtorch's files {run['libtorch']:5.0f}   anonymous {run['anonymous']:6.0f}")
    size = pathlib.Path(args.model).stat().st_size / 2**20
    bare, tokenizer, decode = found.values()
    figures = [("peak of a run of 32 tokens", decode["peak"]), ("of it libtorch's files", decode["libtorch"]),
               ("of it what the program and libtorch set up", bare["anonymous"]),
               ("of it the tokenizer", tokenizer["anonymous"] - bare["anonymous"]), ("of it weights, the size of the file", size),
               ("of it all else: KV, scratch, code", decode["peak"] - decode["libtorch"] - tokenizer["anonymous"] - size)]
    for name, figure in figures:
        print(f"  {name:45s} {figure:6.0f} MB")
    print(f"  peak over the file's size{'':21s} {decode['peak'] / size:6.2f} x")
    if args.record:
        record(args.record, "memory", "tests/bench/memory.py", [(name, figure, "MB") for name, figure in figures])


if __name__ == "__main__":
    main()
