"""A recorder whose file another thread writes: the same capture, and errors that are still told."""

import os
import random
import sqlite3
import subprocess
import sys
import textwrap
import unittest
from unittest import mock

from tests.support import SOURCE, Case

import triescope
from triescope import Recorder, RecordError, RecordWarning
from triescope._file import CaptureFile
from triescope._masks import all_runs, runs

TIMES = {"created_utc", "recorder", "start_us", "duration_us", "command"}


def record(path, **more):
    with Recorder(path, method="mine", **more) as cap:
        cap.prompt([1, 2, 3])
        for i in range(200):
            with cap.round() as r:
                r.draft([4, 5, 6 + i], [-1, -1, 0])
                r.rows([-1, 0, 1, 2])
                r.commit([0, 2], token=7)
            if i == 100:
                cap.log("half way")


class Background(Case):
    def tables(self, path):
        with sqlite3.connect(path) as db:
            names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            found = {}
            for name in names:
                columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})") if row[1] not in TIMES]
                found[name] = db.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY id").fetchall()
        return found

    def test_the_capture_is_the_same(self):
        record(self.path("plain.tscap"))
        record(self.path(), background=True)
        plain, other = self.tables(self.path("plain.tscap")), self.tables(self.path())
        self.assertGreater(len(plain["node"]), 300)
        self.assertEqual(plain, other)

    def test_a_file_that_cannot_be_written_ends_the_recording_and_not_the_run(self):
        write = CaptureFile.write

        def fails(file, rows, run=None):
            if rows.get("log"):
                raise sqlite3.OperationalError("database or disk is full")
            write(file, rows, run)

        with mock.patch.object(CaptureFile, "write", fails):
            with self.assertWarnsRegex(RecordWarning, "disk is full; the run goes on unrecorded"):
                record(self.path(), background=True)
            with self.assertRaisesRegex(RecordError, "disk is full"):
                record(self.path("strict.tscap"), background=True, strict=True)
        with triescope.open(self.path()) as run:
            self.assertTrue(100 <= len(run.steps) <= 202)

    def test_the_last_round_is_told_too(self):
        def fails(file, rows, run=None):
            raise sqlite3.OperationalError("no space")

        cap = Recorder(self.path(), background=True)
        cap.prompt([1])
        with mock.patch.object(CaptureFile, "write", fails), self.assertWarnsRegex(RecordWarning, "no space"):
            with cap.round() as r:
                r.commit([], token=2)
            cap.finish()

    def test_a_program_that_ends_without_finish_leaves_its_rounds(self):
        code = """
            import sys
            sys.path.insert(0, sys.argv[2])
            import triescope
            cap = triescope.Recorder(sys.argv[1], background=True)
            cap.prompt([1, 2])
            for token in range(50):
                with cap.round() as r:
                    r.commit([], token=token)
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code), self.path(), os.path.join(SOURCE, "python")], check=True)
        with triescope.open(self.path()) as run:
            self.assertEqual(run.run["status"], "stopped")
            self.assertEqual(run.tokens, list(range(50)))

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_a_forked_child_records_nothing_and_ends(self):
        cap = Recorder(self.path(), background=True)
        cap.prompt([1])
        child = os.fork()
        if child == 0:
            try:
                cap.finish()
                os._exit(0)
            except BaseException:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        with cap.round() as r:
            r.commit([], token=2)
        cap.finish()
        with triescope.open(self.path()) as run:
            self.assertEqual((run.run["status"], run.tokens), ("done", [2]))


class Masks(unittest.TestCase):
    def test_the_runs_of_many_lines_are_those_of_each(self):
        draw = random.Random(5)
        for _ in range(200):
            lines = [draw.getrandbits(draw.choice([3, 20, 90])) for _ in range(10)]
            lines += [line | 1 << (line.bit_length() + draw.randrange(3)) for line in lines]
            self.assertEqual(all_runs(lines), [runs(line) for line in lines])
        self.assertEqual(all_runs([0, 1, 3, 5, 0b100111]), ["", "0", "0-1", "0,2", "0-2,5"])


if __name__ == "__main__":
    unittest.main()
