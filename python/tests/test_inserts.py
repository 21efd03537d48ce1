"""Rows are the same whichever statement writes them."""

import random
import sqlite3
import unittest

import tests.support  # noqa: F401
from triescope._inserts import FEW, TOGETHER, Inserts
from triescope._schema import COLUMNS, schema_sql


def written(table, batches, write):
    with sqlite3.connect(":memory:") as db:
        db.executescript(schema_sql())
        db.execute("PRAGMA ignore_check_constraints=ON")
        for rows in batches:
            write(db, rows)
        return db.execute(f"SELECT *, {', '.join(f'typeof({name})' for name in COLUMNS[table])} FROM {table} ORDER BY id").fetchall()


class Statements(unittest.TestCase):
    def check(self, table, batches):
        names = COLUMNS[table]
        one = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        inserts = Inserts()
        wanted = written(table, batches, lambda db, rows: [db.execute(one, row) for row in rows])
        self.assertEqual(written(table, batches, lambda db, rows: inserts.write(db, table, rows)), wanted)
        self.assertEqual(len(wanted), sum(map(len, batches)))

    def test_rows_of_any_count_are_those_bound_one_by_one(self):
        random.seed(1)
        words = ["accepted", "rejected"]
        for count in (0, 1, FEW - 1, FEW, TOGETHER, TOGETHER + 1, 3 * TOGETHER, 61):
            rows = [(5, i, random.choice(words), None, random.choice([None, 0.5]), None, 3, 1.5, None, i % 2 or None, random.choice([None, "argmax"]),
                     None, None, None, None) for i in range(count)]
            self.check("verdict", [rows, rows[:FEW]])

    def test_a_column_of_one_word_or_of_nothing_is_not_bound_and_the_same(self):
        self.check("verdict", [[(5, i, "rejected") + (None,) * 11 + ("why",) for i in range(20)], [(6, i, "accepted") + (None,) * 12 for i in range(20)]])
        self.check("input", [[(1, i, i, i, i, i, "target", 0) for i in range(40)], [(1, i, i, i, -1, i, "head", 1) for i in range(7)]])

    def test_texts_of_a_caller_are_bound(self):
        self.check("log", [[(1, "warning", "it's '); DROP TABLE log; --")] * 10, [(1, "info", "draft")] * 10])
        self.check("metric", [[(1, -1, "target", float(i)) for i in range(10)]])
        self.check("piece", [[(i, b"draft") for i in range(10)]])


if __name__ == "__main__":
    unittest.main()
