# bench --only spec on the real model: tables, plots, going on, an interruption, options that do not go together.
source "$(dirname "$0")/lib.sh"
need_model
cat >"$work/question.jsonl" <<'JSONL'
{"question_id": 81, "category": "writing", "turns": ["Name three primary colours.", "Again."]}
{"question_id": 161, "category": "translation", "turns": ["Say this again, word for word: the cat sat on the mat, the cat sat on the mat."]}
JSONL
echo '{"task_id": "HumanEval/3", "prompt": "def add(a, b):\n"}' >"$work/HumanEval.jsonl"
spec=("$TRIESCOPE" bench --only spec --prompts "$work/question.jsonl" --prompts "$work/HumanEval.jsonl" --max-new-tokens 12
  --methods prompt_lookup:prompt_lookup_num_tokens=4,medusa --sweep ngram_trie:num_draft=2,4:prefix_length=1,2 -o "$work/spec")
"${spec[@]}" --json --plots "$work/plots" >"$work/spec.json" 2>"$work/log" || { echo "FAILED: $(cat "$work/log")"; failures=$((failures + 1)); }
grep -q '^21 runs on 3 prompts of question.jsonl, HumanEval.jsonl' "$work/log" || { echo "FAILED: $(head -1 "$work/log")"; failures=$((failures + 1)); }
check_json "$work/spec.json" '[r["task"] for r in d["spec"][:4]] == ["dialogue", "translation", "HumanEval", "all"]'
check_json "$work/spec.json" 'len(d["spec"]) == 12 and all(r["equal_to_greedy"] == r["prompts"] for r in d["spec"])'
check_json "$work/spec.json" 'all(r["tokens_per_forward"] == 1 and r["speed"] == 1 for r in d["spec"] if r["method"] == "greedy")'
check_json "$work/spec.json" '{r["by"] for r in d["spec_acceptance"]} == {"depth", "rank", "source"} and len(d["spec_sweeps"]) == 4'
check_json "$work/spec.json" 'all(r["draft_kv_mb"] == 0 for r in d["spec"]) and all(r["kv_mb"] > 0 for r in d["spec"])'
for plot in spec-speed spec-tokens spec-accepted spec-sweep-1; do
  for ending in svg pdf csv; do [[ -s $work/plots/$plot.$ending ]] || { echo "FAILED: no $plot.$ending"; failures=$((failures + 1)); }; done
done
grep -q '<svg' "$work/plots/spec-speed.svg" || { echo "FAILED: spec-speed.svg is no SVG"; failures=$((failures + 1)); }
# What is there is not made again, and a method more costs its own runs alone.
expect 0 '0 done, 21 there already' "${spec[@]}"
expect 0 'Tokens a forward, by task' "${spec[@]}" --quiet
expect 0 '^spec_sweeps,sweep "?ngram_trie|^spec_sweeps,"sweep ngram_trie' "${spec[@]}" --csv --quiet
expect 0 "5 small prompts of the program's own" "$TRIESCOPE" bench --only spec --methods prompt_lookup --max-new-tokens 2 -o "$work/own"
# Ctrl+C keeps what had ended, and says it.
"$TRIESCOPE" bench --only spec --methods prompt_lookup --max-new-tokens 400 -o "$work/cut" >"$work/cut.txt" 2>"$work/cut.log" & pid=$!
one_is_done() { (($(rows "$work/cut/study.sqlite" run) > 0)); }
await $pid one_is_done
kill -INT $pid; wait $pid
[[ $? == 130 ]] || { echo "FAILED: expected exit 130 after Ctrl+C"; failures=$((failures + 1)); }
grep -q 'interrupted: what is there follows' "$work/cut.log" || { echo "FAILED: $(cat "$work/cut.log")"; failures=$((failures + 1)); }
grep -q greedy "$work/cut.txt" || { echo "FAILED: nothing printed after Ctrl+C"; failures=$((failures + 1)); }
expect 2 'expected one or two settings with several values' "$TRIESCOPE" bench --only spec --sweep ngram_trie:num_draft=4 -o "$work/none"
expect 2 'or spec alone' "$TRIESCOPE" bench --only spec,beams
expect 2 '--sweep: goes with --only spec' "$TRIESCOPE" bench --only rows --sweep standard
expect 2 '--plots: goes with --only spec or beams' "$TRIESCOPE" bench --only rows --plots "$work/plots"
expect 2 'did you mean ngram_trie' "$TRIESCOPE" bench --only spec --methods ngram_tire -o "$work/none"
finish
