# acceptance of a kept run and of a study's folder: text, JSON, CSV, steps, and names that do not exist.
source "$(dirname "$0")/lib.sh"
cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap" "$work/run.tscap" && chmod u+w "$work/run.tscap"
[[ -e $TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap-wal ]] && cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap-wal" "$work/run.tscap-wal"
expect 0 'share of places accepted, by depth' "$TRIESCOPE" acceptance "$work/run.tscap"
expect 2 'did you mean depth' "$TRIESCOPE" acceptance "$work/run.tscap" --by depht
expect 2 'expected FIRST:LAST' "$TRIESCOPE" acceptance "$work/run.tscap" --steps 9:1
expect 3 'no such file' "$TRIESCOPE" acceptance "$work/none.tscap"
for by in depth position kind entropy cause rank tree source q refused; do
  "$TRIESCOPE" acceptance "$work/run.tscap" --by $by --json >"$work/$by.json" || failures=$((failures + 1))
  "$TRIESCOPE" acceptance "$work/run.tscap" --by $by --csv >"$work/$by.csv" || failures=$((failures + 1))
done
# Every accepted draft is accepted at one place, whatever the places are grouped by.
python3 - "$work" <<'PY' || { echo "FAILED: the groups"; failures=$((failures + 1)); }
import csv, json, pathlib, sqlite3, sys
work = pathlib.Path(sys.argv[1])
accepted = sqlite3.connect(work / "run.tscap").execute("select sum(accepted) from step").fetchone()[0]
for by in "depth position kind rank tree source".split():
    d = json.load(open(work / f"{by}.json"))
    assert d["by"] == by and d["unknown"] == 0 and sum(g["accepted"] for g in d["groups"]) == accepted, (by, d)
    for group in d["groups"]:
        assert len(group["cases"]) == group["n"] and sum(c["accepted"] for c in group["cases"]) == group["accepted"]
        assert group["low"] <= group["share"] <= group["high"]
    rows = list(csv.DictReader(open(work / f"{by}.csv")))
    assert [(r["group"], int(r["n"]), int(r["accepted"])) for r in rows] == [(g["group"], g["n"], g["accepted"]) for g in d["groups"]]
PY
# Every refused draft has one cause, and so has every place where none was accepted.
python3 - "$work" <<'PY' || { echo "FAILED: the causes"; failures=$((failures + 1)); }
import json, pathlib, sqlite3, sys
work = pathlib.Path(sys.argv[1])
run = sqlite3.connect(work / "run.tscap")
refused = run.execute("select count(distinct node) from named_verdict where verdict = 'rejected'").fetchone()[0]
d = json.load(open(work / "refused.json"))
assert {g["n"] for g in d["groups"]} == {refused} == {sum(g["accepted"] for g in d["groups"])}, d
places = json.load(open(work / "depth.json"))["groups"]
failed = sum(g["n"] - g["accepted"] for g in places)
d = json.load(open(work / "cause.json"))
assert {g["n"] for g in d["groups"]} == {failed} == {sum(g["accepted"] for g in d["groups"])}, d
PY
expect 0 '^step,node,parent,token,text,cause,p,drafter_rank,drafter_q,drafter_score$' "$TRIESCOPE" acceptance "$work/run.tscap" --by cause --failures
expect 2 'expected --by cause or --by refused; found --by depth' "$TRIESCOPE" acceptance "$work/run.tscap" --failures
expect 0 '^best tree of [0-9]+: [0-9.]+ tokens a forward$' "$TRIESCOPE" acceptance "$work/run.tscap" --best-tree 4
"$TRIESCOPE" acceptance "$work/run.tscap" --best-tree 4 --json >"$work/tree.json" || failures=$((failures + 1))
check_json "$work/tree.json" 'len(d["best_tree"]) <= 4 and d["tree"].startswith("0") and abs(1 + sum(n["comes_true"] for n in d["best_tree"]) - d["best_tree"][-1]["tokens_per_forward"]) < 1e-9'
# With its own settings a run is what it was; with others, as far as it is known.
"$TRIESCOPE" rejudge "$work/run.tscap" --json >"$work/same.json" || failures=$((failures + 1))
check_json "$work/same.json" 'd["recorded"] == d["each_step"] and d["followed"]["tokens"] == d["recorded"]["tokens"] and d["followed"]["end"] == "text_ends" and all(s["followed"] for s in d["steps"])'
expect 0 '^each step by itself: .* tokens a forward' "$TRIESCOPE" rejudge "$work/run.tscap" --set depth=1
expect 0 '^step,position,recorded_sent,' "$TRIESCOPE" rejudge "$work/run.tscap" --set rank=1 --csv
expect 2 'which go with drafts drawn at random; found .greedy' "$TRIESCOPE" rejudge "$work/run.tscap" --set verify=greedy
expect 2 'expected name=value; found .depth' "$TRIESCOPE" rejudge "$work/run.tscap" --set depth
expect 3 'study.sqlite: no such file' "$TRIESCOPE" acceptance "$work"
finish
