"""What the tests share: the program, captures made by it, panels as CSV."""

import functools
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "python"))

MODEL = os.path.join(SOURCE, ".deps/models/SmolLM2-135M-Instruct.Q4_1.gguf")
PROGRAM = os.environ.get("TRIESCOPE") or os.path.join(SOURCE, "build/triescope")


def run_program(*arguments, check=True):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if check and done.returncode != 0:
        raise AssertionError(f"triescope {' '.join(arguments)}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


@functools.cache
def panel_names():
    """Every panel and chart that can be exported."""
    return [line.split()[0] for line in run_program("export", "--list").stdout.splitlines()]


def csvs_of(capture, *more):
    """panel → its CSV, of every panel and chart."""
    with tempfile.TemporaryDirectory() as folder:
        run_program("export", capture, "--panel", "all", "--format", "csv", "-o", os.path.join(folder, "x.csv"), "--quiet", *more)
        found = {}
        for name in panel_names():
            with open(os.path.join(folder, f"x-{name}.csv"), encoding="utf-8") as file:
                found[name] = file.read()
        return found


def empty_panels(capture):
    return [name for name, text in csvs_of(capture).items() if not text]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name="run.tscap"):
        return os.path.join(self.folder, name)

    def need_program(self):
        if not os.access(PROGRAM, os.X_OK):
            self.skipTest("the program is not built")
