"""Milliseconds a round without logits: python bench/bench_recorder.py. The aim is at most 0.2."""
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import triescope  # noqa: E402


def measure(level, drafts, rounds=2000):
    with tempfile.TemporaryDirectory() as folder:
        with triescope.Recorder(os.path.join(folder, "run.tscap"), method="bench", level=level) as cap:
            cap.prompt(list(range(100)))
            times = []
            for i in range(rounds):
                begun = time.perf_counter()
                with cap.round() as r:
                    r.draft(list(range(drafts)))
                    r.rows(list(range(-1, drafts)))
                    r.commit([0, 1], token=i % 1000)
                    r.time(draft=1, forward=2, accept=3)
                times.append(time.perf_counter() - begun)
        times.sort()
        return 1000 * times[len(times) // 2], 1000 * times[int(len(times) * 0.99)]


for level in ("steps", "tree", "full"):
    for drafts in (4, 16):
        print("level %-5s %2d drafts: median %.3f ms, 99 %% below %.3f ms" % (level, drafts, *measure(level, drafts)))
