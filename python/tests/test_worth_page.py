"""docs/is_it_worth_it.md: its files are used as they stand, every command runs, and what does not depend on the machine is what the page shows.

TRIESCOPE_UPDATE_PAGE=1 writes that into the page."""

import os
import re
import subprocess
import unittest

from tests.support import MODEL, PROGRAM, SOURCE, Case

PAGE = os.path.join(SOURCE, "docs/is_it_worth_it.md")
BLOCK = re.compile(r"```(\w+)\n(.*?)```\n", re.S)
FILES = {"jsonl": "prompts.jsonl", "toml": "worth.toml"}  # by kind of block


class WorthPage(Case):
    maxDiff = None

    def run_line(self, line):
        """What a command says, on both streams; it must end with 0."""
        where = {**os.environ, "PATH": os.path.join(self.folder, "bin") + os.pathsep + os.environ["PATH"]}
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=os.path.join(self.folder, "work"), env=where,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, (line, done.stdout))
        return done.stdout

    def shown(self, kind, block):
        """The block with what really comes out."""
        if kind in FILES:
            with open(os.path.join(self.folder, "work", FILES[kind]), "w", encoding="utf-8") as file:
                file.write(block)
        elif kind == "console":
            return "".join(f"{line}\n{self.run_line(line[2:])}" for line in block.splitlines() if line.startswith("$ "))
        elif kind == "sh":
            for line in block.splitlines():
                self.run_line(line)
        return block

    def test_every_command_runs_and_counts_are_as_shown(self):
        self.need_program()
        if not os.path.exists(MODEL):
            raise unittest.SkipTest("the model is not installed")
        os.makedirs(os.path.join(self.folder, "bin"))
        os.makedirs(os.path.join(self.folder, "work"))
        os.symlink(PROGRAM, os.path.join(self.folder, "bin", "triescope"))
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        shown = BLOCK.sub(lambda found: f"```{found[1]}\n{self.shown(found[1], found[2])}```\n", page)
        if os.environ.get("TRIESCOPE_UPDATE_PAGE"):
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(shown)
        self.assertEqual(page, shown)
        for name in ("lengths.pdf", "worth.pdf", "elsewhere.svg", "table.tex", "runs.csv", "curves.csv"):
            self.assertGreater(os.path.getsize(os.path.join(self.folder, "work", name)), 200, name)
