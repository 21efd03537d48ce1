import os
import signal
import subprocess
import sys
import textwrap
import threading
import unittest
import warnings

from tests.support import SOURCE, Case

import triescope
from triescope import RecordError, Recorder, RecordWarning

T, F = True, False
TREE = [[T, F, F, F], [T, T, F, F], [T, F, T, F], [T, T, F, T]]


def word(token):
    return f" w{token}"


def tree_round(cap, mask=None, accepted=(0, 2), **more):
    """Drafts 4 and 5 below the end, 6 below 4; 4 and 6 are accepted, 7 is the target's own."""
    with cap.round() as r:
        r.draft([4, 5, 6], [-1, -1, 0], drafter=triescope.Drafter("my head", "head"))
        r.rows([-1, 0, 1, 2], mask=mask, **more)
        r.target([[(4, -0.1), (5, -2.0)], [(6, -0.2), (5, -2.0)], [(1, -0.2)], [(7, -0.3), (1, -3.0)]])
        r.commit(list(accepted), token=7)


class Recording(Case):
    def recorder(self, **more):
        more.setdefault("settings", {"verify": "greedy"})
        cap = Recorder(self.path(), tokenizer=word, method="mine", title="My tree decoder", **more)
        self.addCleanup(cap.finish)
        return cap

    def rows(self, table):
        with triescope.open(self.path()) as run:
            return run.rows(table)

    def remarks(self):
        return [row["text"] for row in self.rows("log") if row["level"] == "warning"]

    def test_rounds_that_say_what_became_of_their_kv_and_rounds_that_do_not_go_together(self):
        with self.recorder() as cap:
            cap.prompt([1, 2, 3])
            with cap.round() as r:
                r.commit(token=9)
            with cap.round() as r:
                r.draft([4, 5], [-1, -1])
                r.rows([-1, 0, 1], mask=[[T] * 3 + line for line in ([T, F, F], [T, T, F], [T, F, T])])
                r.commit([1], token=6)
                r.kv(moved=[(5, 4)], freed=[5])
            with cap.round() as r:
                r.draft([7])
                r.rows([-1, 0], mask=[[T] * 5 + line for line in ([T, F], [T, T])])
                r.commit([0], token=8)
                r.kv(moved=[], freed=range(7, 7))  # all were accepted
            with cap.round() as r:
                r.draft([10, 11], [-1, -1])
                r.rows([-1, 0, 1], mask=[[T] * 7 + line for line in ([T, F, F], [T, T, F], [T, F, T])])
                r.commit([0], token=12)
        self.assertEqual(self.remarks(), [])
        slots = [(row["tick"] // 5, row["action"], row["slot"]) for row in self.rows("slot") if row["tick"] // 5 > 1]
        self.assertEqual(slots, [(2, "reuse", 5), (2, "alloc", 6), (3, "alloc", 7), (3, "alloc", 8), (3, "alloc", 9), (3, "free", 9)])
        self.assertEqual([row["live"] for row in self.rows("memory")], [3, 5, 7, 9])

    def test_the_longest_text_is_that_of_the_settings_where_it_is_not_said(self):
        for more, wanted in (({"settings": {"max_new_tokens": 47}}, 47), ({"settings": {"max_new_tokens": 47}, "max_new_tokens": 5}, 5),
                             ({"settings": {"max_new_tokens": "many"}}, 0), ({"settings": {"max_new_tokens": -1}}, 0), ({}, 0)):
            self.recorder(**more).finish()
            with triescope.open(self.path()) as run:
                self.assertEqual(run.run["max_new_tokens"], wanted, more)

    def test_a_tree_is_recorded_with_its_rows_and_decisions(self):
        with self.recorder() as cap:
            cap.prompt([1, 2, 3], logits=[0.0] * 8 + [5.0])
            with cap.round() as r:
                r.commit([], token=8)
            tree_round(cap, TREE)
        with triescope.open(self.path()) as run:
            self.assertEqual(run.run["status"], "done")
            self.assertEqual(run.run["prompt_text"], " w1 w2 w3")
            self.assertEqual(run.text, " w8 w4 w6 w7")
            self.assertEqual([(s.step, s.forward_rows, s.drafted, s.accepted, s.emitted) for s in run.steps],
                             [(0, 3, 0, 0, 1), (1, 4, 3, 2, 3)])
            self.assertEqual([(d.depth, d.drafted, d.reached, d.accepted) for d in run.acceptance_by_depth()],
                             [(1, 2, 2, 1), (2, 1, 1, 1)])
            decided = {row["node"]: (row["verdict"], row["reason"]) for row in run.rows("verdict")}
        self.assertEqual(decided, {1: ("emitted", "argmax"), 2: ("accepted", "is_argmax"), 3: ("rejected", "not_argmax"),
                                   4: ("accepted", "is_argmax"), 5: ("bonus", "argmax")})
        self.assertEqual([row["slots"] for row in self.rows("seen")], ["0-3", "0-4", "0-3,5", "0-4,6"])
        self.assertEqual([row["position"] for row in self.rows("input")], [0, 1, 2, 3, 4, 4, 5])
        self.assertEqual([(row["action"], row["slot"], row["from_slot"]) for row in self.rows("slot")][-2:],
                         [("move", 5, 6), ("free", 6, -1)])
        self.assertEqual(self.remarks(), [])

    def test_a_chain_and_a_first_round_that_computes_the_prompt(self):
        with self.recorder() as cap:
            cap.prompt([1, 2])
            with cap.round() as r:
                r.draft([5, 6])
                r.rows([-2, -3, 0, 1])
                r.commit([0], token=9)
        self.assertEqual([(row["step"], row["node"]) for row in self.rows("input")], [(1, -2), (1, -3), (1, 1), (1, 2)])
        self.assertEqual([row["parent"] for row in self.rows("node")], [-1, 0, 1, 1])
        self.assertEqual([row["verdict"] for row in self.rows("verdict")], ["accepted", "rejected", "corrected"])

    def test_a_right_draft_behind_the_end_of_the_text(self):
        with self.recorder() as cap:
            cap.prompt([1])
            with cap.round() as r:
                r.draft([4, 5, 6])
                r.rows([-1, 0, 1, 2])
                r.target([[(4, -0.1)], [(5, -0.2)], [(6, -0.1)], [(7, -0.1)]])
                r.commit([0, 1], ends="length")
        self.assertEqual([(row["verdict"], row["reason"]) for row in self.rows("verdict")],
                         [("accepted", "is_argmax"), ("accepted", "is_argmax"), ("rejected", "after_end"), ("finished", "max_tokens")])

    def test_values_that_a_capture_cannot_hold_are_refused_or_remarked(self):
        with self.recorder() as cap:
            cap.prompt([1])
            for call, text in [(lambda r: r.draft([1 << 29]), "token ids from -1 to"), (lambda r: r.rows([-1], slots=[-2]), "slots from -1"),
                               (lambda r: r.kv(freed=[-1]), "slots from 0"), (lambda r: r.kv(live=-1), "a count from 0"),
                               (lambda r: r.commit([], token=2, why={"reason": "mine"}), "Words of your own stand under why"),
                               (lambda r: r.commit([], token=2, why={"rank": -7}), "a rank from"),
                               (lambda r: r.commit([], token=2, source="me"), "expected one of")]:
                with self.assertRaisesRegex((TypeError, ValueError), text):
                    with cap.round() as r:
                        call(r)
            with warnings.catch_warnings(record=True):
                warnings.simplefilter("always")
                with cap.round() as r:
                    r.rows([-1], positions=[-1])
                    r.commit([], token=2)
        self.assertEqual([row["position"] for row in self.rows("input")], [0])
        self.assertEqual(len(self.remarks()), 2)

    def test_levels_of_drafts_may_come_one_by_one(self):
        with self.recorder() as cap:
            cap.prompt([1])
            with cap.round() as r:
                first = r.draft([4, 5], [-1, -1])
                self.assertEqual(r.draft([6, 7], [first[1], first[0]], sent=[True, False]), [2, 3])
                r.commit([1, 2], token=8)
        self.assertEqual([row["parent"] for row in self.rows("node")], [-1, 0, 0, 2, 1, 3])
        self.assertIn((4, "withdrawn"), [(row["node"], row["verdict"]) for row in self.rows("verdict")])
        self.assertEqual(self.rows("step")[1]["drafted"], 3)

    def test_beams_are_kept_pruned_and_finished(self):
        cap = self.recorder(kind="beams", width=2, model={"eos_token_ids": [9]}, settings={"num_beams": 2})
        cap.prompt([1], logits=None)
        with cap.round() as r:
            r.level([3, 4, 5], [-1, -1, -1], [-0.2, -1.9, -4.0], kept=[0, 1])
        with cap.round() as r:
            r.rows([0, 1])
            r.level([5, 6, 7, 9], [0, 0, 1, 0], [-0.5, -1.7, -2.3, -0.6], kept=[0, 1], finished=[(3, -0.3)])
        cap.finish(sequences=[{"tokens": [3, 9], "score": -0.3}, [3, 5]])
        self.assertEqual([(row["step"], row["rank"], row["node"]) for row in self.rows("frontier")],
                         [(0, 0, 1), (0, 1, 2), (1, 0, 5), (1, 1, 6)])
        decided = [(row["node"], row["verdict"], row["reason"]) for row in self.rows("verdict")]
        self.assertIn((4, "finished", "beam_eos"), decided)
        self.assertIn((7, "pruned", None), decided)
        self.assertIn((2, "pruned", "beam_outdone"), decided)
        self.assertEqual([(row["rank"], row["node"], row["finish"]) for row in self.rows("sequence")],
                         [(-1, 4, "eos"), (0, 4, "eos"), (1, 5, "stopped")])

    def test_slots_that_are_told_are_recorded(self):
        with self.recorder() as cap:
            cap.prompt([1, 2])
            with cap.round() as r:
                r.commit([], token=8)
            with cap.round() as r:
                r.draft([4, 5], [-1, -1])
                r.rows([-1, 0, 1], slots=[2, 7, 9])
                r.commit([1], token=6)
                r.kv(moved=[(9, 3)], freed=[7, 9], live=4, reserved=16)
        self.assertEqual([(row["tick"], row["action"], row["slot"], row["node"]) for row in self.rows("slot")],
                         [(1, "alloc", 0, -2), (1, "alloc", 1, -3), (6, "alloc", 2, 1), (6, "alloc", 7, 2),
                          (6, "alloc", 9, 3), (8, "move", 3, 3), (8, "free", 7, 2), (8, "free", 9, 3)])
        self.assertEqual([(row["step"], row["live"], row["reserved"]) for row in self.rows("memory")], [(0, 2, 0), (1, 4, 16)])

    def test_slots_between_the_forwards_of_a_head_are_told_there(self):
        cap = self.recorder()
        cap.prompt([1, 2, 3])
        with cap.round() as r:
            r.draft([4, 5], drafter=triescope.Drafter("my head", "head"))
            r.rows([0], slots=[7], owner="head")
            r.kv(freed=[7], owner="head", phase="forward")
            r.rows([1], slots=[7], owner="head")
            r.kv(live=1, reserved=8, owner="head")
            r.rows([-1, 0, 1], slots=[2, 3, 4])
            r.kv(garbage=[4])
            r.kv(live=4)
            r.commit([0], token=6)
        cap.finish()
        head = [row for row in self.rows("slot") if row["whose"] == "head"]
        self.assertEqual([(row["action"], row["slot"], row["tick"] % 5) for row in head],
                         [("alloc", 7, 0), ("free", 7, 0), ("reuse", 7, 0)])
        # Several calls of an owner are one row of its figures.
        memory = [(row["whose"], row["live"]) for row in self.rows("memory") if row["step"] == 1]
        self.assertEqual(memory, [("target", 4), ("head", 1)])
        with self.assertRaises(ValueError), cap.__class__(self.path("other.tscap")) as other:
            other.prompt([1])
            with other.round() as r:
                r.kv(freed=[1], phase="accept")

    def test_a_mask_of_rows_whose_slots_are_not_told(self):
        with self.recorder() as cap:
            cap.prompt([1, 2, 3])
            with cap.round() as r:
                r.draft([4, 5], [-1, 0])
                r.rows([0, 1], mask=[[0], [0, 1]], owner="draft")
                r.commit([0], token=6)
        self.assertEqual([(row["node"], row["slot"]) for row in self.rows("input") if row["whose"] == "draft"], [(1, -1), (2, -1)])

    def test_what_is_not_told_is_not_made_up(self):
        with self.recorder() as cap:
            cap.prompt([1, 2])
            for token in (5, 6):
                with cap.round() as r:
                    r.commit([], token=token)
        for table in ("slot", "memory", "seen", "candidate", "metric", "log", "drafter"):
            self.assertEqual(self.rows(table), [], table)
        self.assertEqual([row["slot"] for row in self.rows("input")], [-1, -1])
        self.assertEqual([row["p"] for row in self.rows("verdict")], [None, None])

    def test_times_metrics_and_messages(self):
        with self.recorder() as cap:
            cap.prompt([1])
            with cap.round() as r:
                r.draft([4])
                r.commit([0], token=5)
                r.time(draft=0.8, forward=12.1, accept=0.2)
                r.metric("entropy", 2.3)
                r.metric("margin", 0.5, node=0)
                r.log("a message")
        self.assertEqual([row["duration_us"] for row in self.rows("phase")][5:], [800, 12100, 200, 0, 0])
        self.assertEqual([(row["name"], row["value"], row["node"]) for row in self.rows("metric")],
                         [("entropy", 2.3, -1), ("margin", 0.5, 1)])

    def test_experts_of_a_mixture(self):
        with self.recorder() as cap:
            cap.prompt([1, 2])
            with cap.round() as r:
                r.draft([4, 5])
                r.experts(0, [3, 1], weights=[0.25, 0.75])
                r.experts(0, [2], node=1)
                r.commit([0], token=6)
                with self.assertRaisesRegex(TypeError, "expected 0 to 65536"):
                    r.experts(1 << 20, [1])
        self.assertEqual([(row["tick"], row["node"], row["layer"], row["experts"], row["weights"]) for row in self.rows("expert")],
                         [(6, 0, 0, "[1, 3]", "[0.75, 0.25]"), (6, 2, 0, "[2]", "[]")])

    def test_levels_record_less(self):
        for level, tables in (("steps", ["step", "phase"]), ("tree", ["step", "phase", "node", "verdict", "piece"])):
            cap = Recorder(self.path(), tokenizer=word, level=level)
            cap.prompt([1, 2])
            tree_round(cap, TREE)
            cap.finish()
            for table in ("step", "phase", "node", "verdict", "piece", "input", "seen", "candidate"):
                self.assertEqual(bool(self.rows(table)), table in tables, (level, table))

    # Remarks.

    def check_remark(self, text, tell, **more):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with self.recorder(**more) as cap:
                cap.prompt([1, 2, 3])
                with cap.round() as r:
                    r.commit([], token=8)
                for _ in range(2):
                    tell(cap)
        self.assertEqual(len([one for one in caught if issubclass(one.category, RecordWarning)]), 1,
                         [str(one.message) for one in caught])
        self.assertTrue(any(text in one for one in self.remarks()), self.remarks())
        self.assertEqual(len(self.remarks()), 2)
        with Recorder(self.path("strict.tscap"), method="mine", strict=True) as cap:
            cap.prompt([1, 2, 3])
            with cap.round() as r:
                r.commit([], token=8)
            with self.assertRaisesRegex(RecordError, ""):
                tell(cap)

    def test_a_sibling_that_is_seen(self):
        mask = [list(line) for line in TREE]
        mask[2][1] = True
        self.check_remark("not its own text", lambda cap: tree_round(cap, mask))
        self.assertEqual(self.rows("seen")[2]["slots"], "0-5")

    def test_lists_of_slots_without_slots_are_those_of_a_cache_without_gaps(self):
        def tell(cap):
            end = 3 + len(cap.tokens())
            tree_round(cap, [range(end + row) for row in range(4)])

        self.check_remark("not its own text", tell)
        self.assertEqual([row["slot"] for row in self.rows("input")][3:7], [3, 4, 5, 6])

    def test_a_finished_capture_is_one_file_and_stays_one_when_it_is_read(self):
        with self.recorder() as cap:
            cap.prompt([1, 2, 3])
            tree_round(cap)
        with triescope.open(self.path()) as run:
            self.assertEqual(len(run.steps), 2)
        self.assertEqual(os.listdir(self.folder), ["run.tscap"])

    def test_a_warning_names_the_line_of_the_program_that_is_recorded(self):
        mask = [list(line) for line in TREE]
        mask[2][1] = True
        with self.assertWarns(RecordWarning) as caught, self.recorder() as cap:
            cap.prompt([1, 2, 3])
            with cap.round() as r:
                r.commit([], token=8)
            tree_round(cap, mask)
        self.assertEqual(caught.filename, __file__)

    def test_an_ancestor_that_is_hidden(self):
        mask = [list(line) for line in TREE]
        mask[3][1] = False
        self.check_remark("does not see slot", lambda cap: tree_round(cap, mask))

    def test_a_position_that_counts_rows(self):
        def tell(cap):
            end = 2 + len(cap.tokens())
            tree_round(cap, positions=[end, end + 1, end + 2, end + 3])

        self.check_remark("prompt + depth - 1", tell)

    def test_a_slot_taken_twice(self):
        at = iter(range(100, 1000, 10))
        self.check_remark("both write slot", lambda cap: tree_round(cap, slots=[next(at), 7, 7, next(at)]))

    def test_a_slot_of_the_text_that_is_written(self):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            with self.recorder() as cap:
                cap.prompt([1, 2, 3], slots=[0, 1, 2])
                with cap.round() as r:
                    r.commit([], token=8)
                tree_round(cap, slots=[3, 4, 5, 6])
                tree_round(cap, slots=[7, 8, 3, 9])
        self.assertTrue(any("part of the text" in one for one in self.remarks()), self.remarks())

    def test_accepted_that_is_no_path(self):
        self.check_remark("not a path", lambda cap: tree_round(cap, accepted=[0, 1]))
        self.assertIn("not a path", "".join(row["why"] or "" for row in self.rows("verdict")))

    def test_probabilities_of_siblings_above_one(self):
        def tell(cap):
            with cap.round() as r:
                r.draft([4, 5], [-1, -1], q=[0.7, 0.6])
                r.commit([], token=6)

        self.check_remark("Σ q", tell)

    def test_a_parent_that_is_not_there(self):
        def tell(cap):
            with cap.round() as r:
                r.draft([4, 5], [-1, 7])
                r.commit([], token=6)

        self.check_remark("which is not there", tell)

    def test_a_path_drafted_twice_is_two_nodes(self):
        def tell(cap):
            with cap.round() as r:
                r.draft([4, 4], [-1, -1])
                r.commit([], token=6)

        self.check_remark("drafted twice", tell)
        self.assertEqual(len([row for row in self.rows("node") if row["token"] == 4]), 4)

    def test_a_round_without_commit(self):
        def tell(cap):
            with cap.round() as r:
                r.draft([4])

        self.check_remark("no commit()", tell)

    # Wrong types.

    def test_wrong_types_raise_and_say_what_to_do(self):
        cap = self.recorder()
        with self.assertRaisesRegex(TypeError, "prompt.ids.: expected token ids, found a str; pass"):
            cap.prompt("Once")
        with self.assertRaisesRegex(RuntimeError, "expected prompt"):
            cap.round()
        cap.prompt([1, 2])
        with self.assertRaisesRegex(RuntimeError, "one prompt a run"):
            cap.prompt([1])
        cases = [
            (lambda r: r.draft([1, 2], [-1]), "expected 2 indices, one for each token, found 1"),
            (lambda r: r.draft(["a"]), "found 'a' among them"),
            (lambda r: r.draft([1], q=[0.1, 0.2]), "expected 1 numbers"),
            (lambda r: r.draft([1], drafter=3), "a name or a Drafter"),
            (lambda r: r.rows([5]), "expected indices from -1"),
            (lambda r: r.rows([-1], owner="me"), "expected one of target, draft, head; found 'me'"),
            (lambda r: r.rows([-1], slots=[1, 2]), "expected 1, one for each row, found 2"),
            (lambda r: r.rows([-1], mask=[[True], [True]]), "expected a mask of 1 rows"),
            (lambda r: r.target("logits"), "expected logits, found a str"),
            (lambda r: r.target([[0.1, 0.2], [0.1, 0.2]]), "expected 1 rows"),
            (lambda r: r.commit("x"), "expected indices of drafts"),
            (lambda r: r.commit([], token="x"), "expected one token id"),
            (lambda r: r.commit([], token=[1, 2]), "expected one token id, found 2"),
            (lambda r: r.level([1], [0], [0.0]), "call commit"),
            (lambda r: r.metric("x", "y"), "expected a number"),
            (lambda r: r.kv(moved=[3]), "expected pairs"),
        ]
        for call, text in cases:
            with self.assertRaisesRegex((TypeError, ValueError, RuntimeError), text):
                with cap.round() as r:
                    call(r)
        with self.assertRaisesRegex(ValueError, "expected one of text, drafts, beams; found 'trees'"):
            Recorder(self.path("b.tscap"), kind="trees")
        # A round that failed left nothing behind.
        tree_round(cap)
        cap.finish()
        self.assertEqual([row["token"] for row in self.rows("node")], [-1, 4, 5, 6, 7])

    def test_only_captures_are_replaced(self):
        with open(self.path("notes.txt"), "w") as file:
            file.write("mine")
        with self.assertRaisesRegex(ValueError, "found another kind of file"):
            Recorder(self.path("notes.txt"))
        self.recorder().finish()
        self.recorder().finish()

    # How runs end.

    def test_an_exception_is_how_the_run_ended(self):
        with self.assertRaises(KeyError):
            with self.recorder() as cap:
                cap.prompt([1])
                raise KeyError("layer 3")
        with triescope.open(self.path()) as run:
            self.assertEqual((run.run["status"], run.run["message"]), ("failed", "KeyError: 'layer 3'"))

    def test_a_killed_process_leaves_its_rounds(self):
        code = """
            import os, signal, sys
            sys.path.insert(0, sys.argv[2])
            import triescope
            cap = triescope.Recorder(sys.argv[1], method="mine")
            cap.prompt([1, 2])
            for token in range(5):
                with cap.round() as r:
                    r.draft([token + 10])
                    r.commit([0], token=token + 20)
            os.kill(os.getpid(), signal.SIGKILL)
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), self.path(), os.path.join(SOURCE, "python")])
        self.assertEqual(done.returncode, -signal.SIGKILL)
        with triescope.open(self.path()) as run:
            self.assertEqual(len(run.steps), 6)
            self.assertEqual(run.run["status"], "running")

    def test_a_process_that_ends_without_finish_is_stopped(self):
        code = "import sys; sys.path.insert(0, sys.argv[2]); import triescope; cap = triescope.Recorder(sys.argv[1]); cap.prompt([1])"
        subprocess.run([sys.executable, "-c", code, self.path(), os.path.join(SOURCE, "python")], check=True)
        with triescope.open(self.path()) as run:
            self.assertEqual(run.run["status"], "stopped")

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_a_forked_child_records_nothing(self):
        cap = self.recorder()
        cap.prompt([1, 2])
        child = os.fork()
        if child == 0:
            try:
                tree_round(cap)
                cap.finish()
                os._exit(0)
            except BaseException:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        tree_round(cap)
        cap.finish()
        self.assertEqual(len(self.rows("step")), 2)

    def test_several_recorders_in_threads(self):
        def work(name):
            with Recorder(self.path(name), method=name) as cap:
                cap.prompt([1, 2])
                for _ in range(20):
                    tree_round(cap)

        threads = [threading.Thread(target=work, args=(f"{i}.tscap",)) for i in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        for i in range(4):
            with triescope.open(self.path(f"{i}.tscap")) as run:
                self.assertEqual(len(run.steps), 21)

    def test_off_does_nothing(self):
        with Recorder.off() as cap:
            cap.prompt("anything")
            with cap.round() as r:
                r.draft(object())
                r.commit(None)
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_schema_is_the_programs(self):
        from tests.support import run_program

        self.need_program()
        with open(os.path.join(SOURCE, "python/triescope/schema.sql")) as file:
            self.assertEqual(file.read(), run_program("capture", "schema", "--sql").stdout)


if __name__ == "__main__":
    unittest.main()
