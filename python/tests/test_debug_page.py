"""docs/debug_your_decoder.md: its code runs as it stands, and everything that it shows is what the program and the doctor say.

TRIESCOPE_UPDATE_PAGE=1 writes what they say into the page."""

import importlib.util
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys

from tests.support import PROGRAM, SOURCE, Case

import triescope

PAGE = os.path.join(SOURCE, "docs/debug_your_decoder.md")
HAS_TORCH = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
BLOCK = re.compile(r"```(\w+)\n(.*?)```\n", re.S)


class Reader:
    """Does what the page says, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.program = self.mended = None

    def shown(self, kind, block):
        """The block with what really comes out."""
        if kind == "python" and self.program is None:
            self.save(block)
        elif kind == "python":
            with open(os.path.join(self.folder, "my_torch_decoder.py"), "w", encoding="utf-8") as file:
                file.write(block)
        elif kind == "diff":
            self.change(block)
        elif kind == "console" and (HAS_TORCH or "my_torch_decoder" not in block):
            return "".join(self.said(line[2:]) for line in block.splitlines() if line.startswith("$ "))
        return block

    def save(self, code):
        self.program = code
        with open(os.path.join(self.folder, "my_decoder.py"), "w", encoding="utf-8") as file:
            file.write(code)

    def change(self, block):
        """The first change mends the program; each of the others is one of the mended program."""
        before, after = ("".join(line[1:] + "\n" for line in block.splitlines() if line[0] == sign) for sign in "-+")
        base = self.mended or self.program
        assert base.count(before) == 1, before
        self.save(base.replace(before, after))
        self.mended = self.mended or self.program

    def said(self, command):
        words = shlex.split(command)
        if words[0] == "triescope" and not os.access(PROGRAM, os.X_OK):
            raise FileNotFoundError("the program is not built")
        words[:1] = [sys.executable] if words[0] == "python" else [PROGRAM]
        done = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "python"), "PYTHONUNBUFFERED": "1"})
        return f"$ {command}\n{done.stdout.replace(os.path.realpath(self.folder) + os.sep, '')}"


def make_small(made, kept):
    """A copy with pages of 1 KiB, and nothing of the machine or the moment."""
    shutil.copyfile(made, kept)
    db = sqlite3.connect(kept)
    db.execute("pragma journal_mode=delete")
    db.execute("update run set recorder = '', created_utc = '2026-01-01T00:00:00Z', versions_json = '{}'")
    db.execute("update program set command = 'my_decoder.py run.tscap'")
    db.execute("update phase set start_us = 0, duration_us = 0")
    db.commit()
    db.execute("pragma page_size=1024")
    db.execute("vacuum")
    db.close()


class DebugPage(Case):
    maxDiff = None

    def test_the_page_shows_what_comes_out(self):
        self.need_program()
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        reader = Reader(os.path.realpath(self.folder))
        shown = BLOCK.sub(lambda found: f"```{found[1]}\n{reader.shown(found[1], found[2])}```\n", page)
        if os.environ.get("TRIESCOPE_UPDATE_PAGE"):
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(shown)
        self.assertEqual(page, shown)

    def test_the_lesson_is_about_the_runs_of_the_page(self):
        with open(PAGE, encoding="utf-8") as file:
            blocks = BLOCK.findall(file.read())
        reader = Reader(os.path.realpath(self.folder))
        for name, kind in (("wrong-mask", "python"), ("mended-mask", "diff")):
            reader.shown(kind, next(block for is_kind, block in blocks if is_kind == kind))
            reader.said("python my_decoder.py run.tscap")
            kept = os.path.join(SOURCE, "assets/lessons", name + ".tscap")
            if os.environ.get("TRIESCOPE_UPDATE_PAGE"):
                make_small(self.path(), kept)
            with triescope.open(self.path()) as made, triescope.open(kept) as stays:
                for table in ("node", "verdict", "frontier", "input", "seen", "candidate", "slot", "sequence", "log", "drafter"):
                    self.assertEqual(made.table(table), stays.table(table), (name, table))

    def test_the_mended_text_is_the_greedy_one_and_the_faulty_one_is_not(self):
        with open(PAGE, encoding="utf-8") as file:
            blocks = BLOCK.findall(file.read())
        reader = Reader(os.path.realpath(self.folder))
        reader.save(next(block for kind, block in blocks if kind == "python"))
        text = {}

        def run(name, levels):
            text[name] = reader.said(f"python my_decoder.py {name}.tscap {levels}").splitlines()[-1].split()

        run("greedy", 0)
        run("faulty", 3)
        reader.change(next(block for kind, block in blocks if kind == "diff"))
        run("mended", 3)
        self.assertGreaterEqual(len(text["greedy"]), 20)
        self.assertEqual(text["mended"][: len(text["greedy"])], text["greedy"])
        self.assertNotEqual(text["faulty"][: len(text["greedy"])], text["greedy"])
