# cost on the real model: a run and a study, costs that are typed in, the chart in its formats, JSON and CSV, and mistakes.
source "$(dirname "$0")/lib.sh"
need_model
prompt="The three primary colours are red, green and blue. The three primary colours are"
"$TRIESCOPE" decode --model "$model" --prompt "$prompt" --max-new-tokens 24 --method prompt_lookup --set prompt_lookup_num_tokens=4 --capture "$work/run.tscap" --json --quiet >"$work/run.json" || failures=1
check_json "$work/run.json" 'd["memory"]["whole"] == sum(v for k, v in d["memory"].items() if k != "whole") and d["memory"]["weights"] > 5e7 and d["memory"]["kv"] == d["kv"]["peak_held_tokens"] * d["kv"]["bytes_per_token"]'
"$TRIESCOPE" cost "$work/run.tscap" --row 0.1 --drafter 0.2 --json >"$work/cost.json" || failures=1
check_json "$work/cost.json" 'd["costs"]["from"] == "typed" and abs(d["costs"]["by_rows"][4] - 1.4) < 1e-9'
# The same from the run itself: tokens after prefill by steps, and rows at a tenth each.
check_json "$work/cost.json" 'd["methods"][0]["steps"] == json.load(open("'"$work"'/run.json"))["steps"] - 1'
check_json "$work/cost.json" 'abs(d["methods"][0]["step_cost"] - (1.2 + 0.1 * (d["methods"][0]["rows_per_step"] - 1))) < 1e-9'
check_json "$work/cost.json" 'abs(d["methods"][0]["speedup"] - d["methods"][0]["tokens_per_step"] / d["methods"][0]["step_cost"]) < 1e-9'
"$TRIESCOPE" cost "$work/run.tscap" --costs model --json >"$work/model.json" || failures=1
check_json "$work/model.json" 'd["costs"]["from"] == "model" and [round(c, 2) for c in d["costs"]["by_rows"][:3]] == [1, 1.2, 1.53]'
for format in svg pdf png csv; do
  expect 0 '' "$TRIESCOPE" cost "$work/run.tscap" --costs gpu -o "$work/x.$format" --quiet
  [[ -s $work/x.$format ]] || { echo "FAILED: no $format"; failures=$((failures + 1)); }
done
expect 0 '^Prompt lookup,curve,0,1,1,1,,$' "$TRIESCOPE" cost "$work/run.tscap" --csv
expect 0 'as assumed for a mixture of experts' "$TRIESCOPE" cost "$work/run.tscap" --costs experts
expect 2 'as 8/64; found .64.8' "$TRIESCOPE" cost "$work/run.tscap" --experts 64/8
expect 2 'did you mean model' "$TRIESCOPE" cost "$work/run.tscap" --costs modell
expect 2 'format' "$TRIESCOPE" cost "$work/run.tscap" -o "$work/x"
"$TRIESCOPE" decode --model "$model" --prompt "$prompt" --max-new-tokens 4 --method greedy --capture "$work/greedy.tscap" --quiet >/dev/null
expect 2 'expected a run of a drafting method' "$TRIESCOPE" cost "$work/greedy.tscap"
cat >"$work/small.toml" <<TOML
[study]
models = "$model"
max_new_tokens = 16
[[method]]
method = "greedy"
[[method]]
method = "prompt_lookup"
set = { prompt_lookup_num_tokens = 4 }
[[prompts]]
text = "$prompt"
TOML
"$TRIESCOPE" study "$work/small.toml" --quiet >/dev/null || failures=1
"$TRIESCOPE" cost "$work/small" --json >"$work/study.json" || failures=1
check_json "$work/study.json" 'len(d["methods"]) == 1 and d["methods"][0]["name"] == "prompt_lookup" and d["methods"][0]["measured"]["speedup"] > 0'
expect 0 '' "$TRIESCOPE" study "$work/small" --group-by category,name --chart "$work/bars.csv" --of tokens_per_forward --quiet
grep -q '^own,greedy,1,1,,$' "$work/bars.csv" || { echo "FAILED: the bars"; failures=$((failures + 1)); }
expect 2 'expected --of COLUMN' "$TRIESCOPE" study "$work/small" --chart "$work/bars.svg"
expect 0 'worst of ' "$TRIESCOPE" acceptance "$work/small" --by kind
expect 2 'expected one of' "$TRIESCOPE" acceptance "$work/small" --by kind --group nonsense
expect 2 'holds for some run; found none' "$TRIESCOPE" acceptance "$work/small" --filter 'category = "none"'
expect 0 '^prompt_lookup, 1 runs: ' "$TRIESCOPE" acceptance "$work/small" --filter 'name = "prompt_lookup"'
expect 0 '^name,capture,step,node,' "$TRIESCOPE" acceptance "$work/small" --by cause --failures
for format in svg pdf png csv; do
  expect 0 '' "$TRIESCOPE" acceptance "$work/small" --by depth -o "$work/depth.$format" --quiet
  [[ -s $work/depth.$format ]] || { echo "FAILED: no depth.$format"; failures=$((failures + 1)); }
done
grep -q '^1,prompt_lookup,' "$work/depth.csv" || { echo "FAILED: the bars by depth"; failures=$((failures + 1)); }
"$TRIESCOPE" acceptance "$work/small" --best-tree 4 --json >"$work/trees.json" || failures=1
check_json "$work/trees.json" '[t["name"] for t in d if t["steps"]] == ["prompt_lookup"]'
# Beams with drafts are weighed against plain beam search.
"$TRIESCOPE" decode --model "$model" --prompt "$prompt" --max-new-tokens 12 --method speculative_beam --set num_beams=2 --capture "$work/beams.tscap" --quiet >/dev/null || failures=1
"$TRIESCOPE" cost "$work/beams.tscap" --row 0.1 --drafter 0 --json >"$work/beams.json" || failures=1
check_json "$work/beams.json" 'd["methods"][0]["beams"] == 2 and d["methods"][0]["best"] is None and abs(d["methods"][0]["step_cost"] * 1.1 - (1 + 0.1 * (d["methods"][0]["rows_per_step"] - 1))) < 1e-9'
expect 0 'levels: .* plain beam search' "$TRIESCOPE" cost "$work/beams.tscap"
# A bookmark in a figure.
python3 -c "import sqlite3; db = sqlite3.connect('$work/run.tscap'); db.execute('insert into bookmark (tick, note) values (15, \'here\')'); db.commit()" || failures=1
expect 0 '' "$TRIESCOPE" export "$work/run.tscap" --panel memory --format svg -o "$work/plain.svg" --quiet
expect 0 '' "$TRIESCOPE" export "$work/run.tscap" --panel memory --format svg -o "$work/noted.svg" --notes --quiet
cmp -s "$work/plain.svg" "$work/noted.svg" && { echo "FAILED: the bookmark is not in the figure"; failures=$((failures + 1)); }
finish
