"""The examples of docs/python.md stand there as they are in python/examples, and run."""

import os
import re
import shutil
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

    def test_a_wheel_is_built_and_installed(self):
        # Set-up's venv has a setuptools that builds wheels by itself; so may have the Python that runs this.
        pythons = [one for one in (os.path.join(SOURCE, ".deps/venv/bin/python"), sys.executable) if os.access(one, os.X_OK)]
        code = "import setuptools, sys; sys.exit(int(setuptools.__version__.split('.')[0]) < 71)"
        builder = next((one for one in pythons if subprocess.run([one, "-c", code], stderr=subprocess.DEVNULL).returncode == 0), None)
        if builder is None:
            self.skipTest("no setuptools 71 or later; scripts/setup --tests brings one")
        source = self.path("source")
        shutil.copytree(os.path.join(SOURCE, "python"), source)
        pip = [builder, "-m", "pip", "--disable-pip-version-check"]
        offline = ["--no-deps", "--no-index"]
        self.run_quietly(*pip, "wheel", "--no-build-isolation", *offline, "-w", self.folder, source)
        wheel = next(one for one in os.listdir(self.folder) if one.endswith(".whl"))
        self.assertIn("py3-none-any", wheel)
        place = self.path("place")
        self.run_quietly(*pip, "install", *offline, "--target", place, self.path(wheel))
        self.assertTrue(os.path.exists(os.path.join(place, "triescope/py.typed")))
        with open(os.path.join(SOURCE, "python/examples/tree.py"), encoding="utf-8") as file:
            example = file.read()
        said = self.run_quietly(sys.executable, "-c", example + "\nprint(triescope.__file__)", env={**os.environ, "PYTHONPATH": place})
        self.assertIn(place, said)
        self.assertIn("1 ", said)
        self.assertTrue(os.path.exists(self.path("tree.tscap")))

    def run_quietly(self, *command, **more):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        return done.stdout
