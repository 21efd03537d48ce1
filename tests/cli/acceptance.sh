# acceptance of a kept run and of a study's folder: text, JSON, CSV, steps, and names that do not exist.
source "$(dirname "$0")/lib.sh"
cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap" "$work/run.tscap" && chmod u+w "$work/run.tscap"
[[ -e $TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap-wal ]] && cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap-wal" "$work/run.tscap-wal"
expect 0 'share of places accepted, by depth' "$TRIESCOPE" acceptance "$work/run.tscap"
expect 2 'did you mean depth' "$TRIESCOPE" acceptance "$work/run.tscap" --by depht
expect 2 'expected FIRST:LAST' "$TRIESCOPE" acceptance "$work/run.tscap" --steps 9:1
expect 3 'no such file' "$TRIESCOPE" acceptance "$work/none.tscap"
for by in depth position kind entropy rank tree source q; do
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
expect 3 'study.sqlite: no such file' "$TRIESCOPE" acceptance "$work"
finish
