"""What recording costs, in ms a round: python bench/bench_recorder.py. The aim is 0.2 at most without logits. With 60
drafts and a mask SQLite alone takes longer to write and commit the rows; a thread takes that off the caller."""

import os
import platform
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import triescope  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None


def tree_of(drafts):
    """Parents of a tree four wide, and its mask."""
    parents = [i // 4 - 1 for i in range(drafts)]
    lines = [[True] + [False] * drafts]
    for i in range(drafts):
        line = list(lines[parents[i] + 1])
        line[i + 1] = True
        lines.append(line)
    return parents, lines


def greedy(cap, i):
    with cap.round() as r:
        r.rows([-1])
        r.commit([], token=i % 1000)
        r.time(forward=2)


def drafts_of(count, told, as_array=False):
    """A round of `count` drafts; `told`: their rows' slots and mask too, as lists or as an array of numpy."""
    parents, mask = tree_of(count)
    if as_array:
        mask = numpy.array(mask)

    def work(cap, i):
        with cap.round() as r:
            r.draft(list(range(count)), parents)
            r.rows(list(range(-1, count)), mask=mask if told else None)
            r.commit([0, 4] if count > 4 else [0], token=2000 + i % 1000)
            r.time(draft=1, forward=2, accept=3)

    return work


def measure(work, level, rounds, background=False):
    with tempfile.TemporaryDirectory() as folder:
        if level == "off":
            cap = triescope.Recorder.off()
        else:
            cap = triescope.Recorder(os.path.join(folder, "run.tscap"), method="bench", level=level, background=background)
        times, cpu = [], 0.0
        with cap:
            cap.prompt(list(range(100)))
            for i in range(rounds):
                begun, before = time.perf_counter(), time.thread_time()
                work(cap, i)
                times.append(time.perf_counter() - begun)
                cpu += time.thread_time() - before
                if background:
                    time.sleep(0.002)  # a forward, in which the thread writes
    times.sort()
    return 1000 * times[len(times) // 2], 1000 * times[int(len(times) * 0.99)], 1000 * cpu / len(times)


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def main():
    print(f"{processor()}, Python {platform.python_version()}")
    cases = (("greedy", greedy), ("4 drafts", drafts_of(4, False)), ("4 drafts, mask", drafts_of(4, True)),
             ("60 drafts", drafts_of(60, False)), ("60 drafts, mask", drafts_of(60, True)))
    if numpy is not None:
        cases += (("60 drafts, array", drafts_of(60, True, as_array=True)),)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name, work in cases:
        for level in ("off", "steps", "tree", "full"):
            print("%-16s level %-5s median %.3f, 99 %% below %.3f, of the processor %.3f" % (name, level, *measure(work, level, rounds)))
        print("%-16s in background median %.3f, 99 %% below %.3f, of the processor %.3f" % (name, *measure(work, "full", rounds, True)))


if __name__ == "__main__":
    main()
