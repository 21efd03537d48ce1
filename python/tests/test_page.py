"""The examples of docs/python.md stand there as they are in python/examples, and run."""

import os
import re
import subprocess
import sys

from tests.support import PROGRAM, SOURCE, Case, run_program

import triescope

EXAMPLES = ("greedy", "tree", "beams")


class Page(Case):
    def test_the_examples_of_the_page_run_as_they_stand(self):
        with open(os.path.join(SOURCE, "docs/python.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        self.assertEqual(len(blocks), len(EXAMPLES))
        for name, block in zip(EXAMPLES, blocks):
            with open(os.path.join(SOURCE, "python/examples", name + ".py"), encoding="utf-8") as file:
                self.assertEqual(file.read().split('"""\n', 1)[1].strip(), block.strip(), name)
            done = subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCE + "/python"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout)
            with triescope.open(self.path(name + ".tscap")) as run:
                self.assertGreater(len(run.steps), 5)
            if os.access(PROGRAM, os.X_OK):
                self.assertIn("done", run_program("info", self.path(name + ".tscap")).stdout)
                self.assertIn("accept", run_program("explain", self.path(name + ".tscap")).stdout)

    def test_a_wheel_is_built_and_imported(self):
        try:
            import setuptools  # noqa: F401
        except ImportError:
            self.skipTest("setuptools is not installed")
        source = self.path("source")
        subprocess.run(["cp", "-r", os.path.join(SOURCE, "python"), source], check=True)
        built = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w",
                                self.folder, source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for missing in ("No module named pip", "invalid command 'bdist_wheel'"):
            if missing in built.stdout:
                self.skipTest(missing)
        self.assertEqual(built.returncode, 0, built.stdout[-2000:])
        wheel = next(one for one in os.listdir(self.folder) if one.endswith(".whl"))
        self.assertIn("py3-none-any", wheel)
        # A wheel without compiled parts imports as it is.
        code = "import triescope, sys; r = triescope.Recorder('x.tscap'); r.prompt([1]); r.finish(); print(triescope.__file__)"
        unpacked = self.path("unpacked")
        subprocess.run([sys.executable, "-m", "zipfile", "-e", self.path(wheel), unpacked], check=True)
        self.assertTrue(os.path.exists(os.path.join(unpacked, "triescope/py.typed")))
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder, env={**os.environ, "PYTHONPATH": unpacked},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertIn(unpacked, done.stdout)
