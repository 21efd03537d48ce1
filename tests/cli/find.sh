# find in a kept run: a condition on the step, on its nodes, a text, JSON; conditions that are none; and the same steps by SQL.
source "$(dirname "$0")/lib.sh"
cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap" "$work/run.tscap" && chmod u+w "$work/run.tscap"
[[ -e $TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap-wal ]] && cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap-wal" "$work/run.tscap-wal"
find() { "$TRIESCOPE" find "$work/run.tscap" "$@"; }
expect 0 'step 1 ' find 'accepted >= 0'
expect 0 'rejected' find 'verdict = "rejected" and depth >= 2'
expect 0 '0 of ' find 'accepted > 999'
expect 2 'column 1: .acepted. is not a name .* did you mean accepted' find 'acepted > 1'
expect 2 'did you mean rejected' find 'verdict = "rejcted"'
expect 2 'column 7: cannot compare a text with a number' find 'token > 3'
expect 2 'expected a condition.*or --text TEXT; found neither' find
expect 2 'found both' find 'accepted > 1' --text x
expect 2 'the run has no metric' find 'metric("x") > 1'
expect 2 'expected FIRST:LAST' find 'accepted > 1' --steps 9:1
expect 3 'study.sqlite: no such file' "$TRIESCOPE" find "$work" 'accepted > 1'
find 'accepted >= 1 and refused > 0' --json >"$work/steps.json" || failures=$((failures + 1))
find 'verdict = "rejected"' --json >"$work/nodes.json" || failures=$((failures + 1))
python3 - "$work" <<'PY' || { echo "FAILED: what is found"; failures=$((failures + 1)); }
import json, pathlib, sqlite3, sys
work = pathlib.Path(sys.argv[1])
db = sqlite3.connect(work / "run.tscap")
steps = [r[0] for r in db.execute("select step from step where accepted >= 1 and drafted > accepted order by step")]
assert steps and [d["step"] for d in json.load(open(work / "steps.json"))] == steps
nodes = sorted(r[0] for r in db.execute("select distinct node from verdict where verdict = 'rejected' or verdict = 2"))
found = json.load(open(work / "nodes.json"))
assert nodes and sorted(n["node"] for d in found for n in d["nodes"]) == nodes
assert all("rejected" in d["why"] for d in found)
PY
finish
