# study on the real model: a dry run, an interruption, going on, the table in its formats, a mistake in the file.
source "$(dirname "$0")/lib.sh"
need_model
cat >"$work/small.toml" <<TOML
[study]
models = "$model"
max_new_tokens = 16
repeats = 2
[[method]]
method = "greedy"
[[method]]
method = "prompt_lookup"
set = { prompt_lookup_num_tokens = [3, 6] }
[[prompts]]
text = "The three primary colours are red, green and blue. The three primary colours are"
TOML
expect 0 '^6 runs, 0 done, into ' "$TRIESCOPE" study "$work/small.toml" --dry-run
[[ -e $work/small ]] && { echo "FAILED: a dry run made a folder"; failures=$((failures + 1)); }
# A kill in the middle: what had ended is there, and the same command makes the rest.
"$TRIESCOPE" study "$work/small.toml" >/dev/null 2>"$work/log" & pid=$!
await $pid grep -q '^3/6' "$work/log"
kill -9 $pid; wait $pid 2>/dev/null
count=$(rows "$work/small/study.sqlite" "run WHERE status = 'done'")
[[ $count == [2345] ]] || { echo "FAILED: $count rows after a kill in run 3 of 6"; failures=$((failures + 1)); }
expect 0 "^name +prompt_lookup_num_tokens +runs +tokens_per_forward" "$TRIESCOPE" study "$work/small.toml" --quiet
expect 0 '^6 runs, 6 done, into ' "$TRIESCOPE" study "$work/small.toml" --dry-run
"$TRIESCOPE" study "$work/small" --table jsonl >"$work/table.jsonl" || failures=$((failures + 1))
python3 - "$work" <<'PY' || { echo "FAILED: the table"; failures=$((failures + 1)); }
import json, pathlib, sqlite3, statistics, sys
work = pathlib.Path(sys.argv[1])
rows = [json.loads(line) for line in open(work / "table.jsonl")]
assert len(rows) == 3 and all(r["repeats"] == 2 and r["same_text"] for r in rows), rows
greedy, lookup = rows[0], rows[1]
assert greedy["name"] == "greedy" and greedy["speedup"] == 1 and greedy["accepted_drafts"] == 0
assert lookup["tokens_per_forward"] > 1 and lookup["accept_1"] > 0 and lookup["prompt_lookup_num_tokens"] == 3
runs = sqlite3.connect(work / "small" / "study.sqlite").execute("select name, tokens_per_second, capture, result from run").fetchall()
rates = [rate for name, rate, *_ in runs if name == "greedy"]
assert abs(greedy["tokens_per_second"] - statistics.median(rates)) < 1e-9
for name, rate, capture, result in runs:
    assert (work / "small" / "captures" / capture).exists()
    assert json.loads(result)["tokens_per_second"] == rate
PY
expect 0 'prompt_lookup' "$TRIESCOPE" study "$work/small" --filter 'tokens_per_forward > 1' --sort -tokens_per_forward
expect 0 'begin.tabular' "$TRIESCOPE" study "$work/small" --table latex --group-by name
expect 2 'did you mean speedup' "$TRIESCOPE" study "$work/small" --sort speedupp
expect 3 "column 1: 'speed_up' is not a column of the table; did you mean speedup" "$TRIESCOPE" study "$work/small" --filter 'speed_up > 1'
expect 2 'go with a study.s folder' "$TRIESCOPE" study "$work/small.toml" --sort name
expect 3 'No such file' "$TRIESCOPE" study "$work/none.toml"
expect 3 'study.sqlite: no such file' "$TRIESCOPE" study "$work"
sed -i 's/prompt_lookup"/prompt_lokup"/' "$work/small.toml"
expect 3 'small.toml:8:10: method: .*did you mean prompt_lookup' "$TRIESCOPE" study "$work/small.toml"
finish
