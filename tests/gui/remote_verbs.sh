# What a window can do with a run, over a decoder in another process that has another models folder: the prompt is counted there before the
# model is loaded, a head drafts, phases, a condition stops the run, what if, find, compare, a stop, and the settings of a run taken over.
source "$(dirname "$0")/lib.sh"
need_model
mkdir "$work/there"
ln -s "$model" "$work/there/only-there.gguf"
cat >"$work/verbs.script" <<SCRIPT
prompt The capital of France is
max-new-tokens 24
wait drawn
wait idle
write-state $work/counted.json
method eagle3
wait model
wait idle
start
wait idle
step-phase
wait idle
write-state $work/phase.json
step
wait idle
write-state $work/step.json
breakpoint where accepted >= 1
run
wait idle
write-state $work/stopped.json
find-text Paris
wait drawn
write-state $work/found.json
find-where accepted >= 1
wait drawn
write-state $work/where.json
what-if
wait ms 400
screenshot $work/what_if.png
what-if
branch-with 0  is
wait idle
write-state $work/branch.json
compare-origin
wait drawn
write-state $work/compare.json
screenshot $work/compare.png
layout-debug
document 1
step
wait idle
stop
wait idle
write-state $work/ended.json
method greedy
seed 5
document 0
take-run
write-state $work/taken.json
SCRIPT
window --remote-command "env TRIESCOPE_MODELS=$work/there" --remote-program "$TRIESCOPE" --model only-there --script "$work/verbs.script" || say "the window ended with $?"
tokens=$("$TRIESCOPE" tokenize --model "$model" --json "The capital of France is" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["ids"]))')
check_json "$work/counted.json" "d['model'] is None and d['run']['prompt_tokens'] == $tokens and d['problems'] == []"
check_json "$work/phase.json" 'd["end"]["tick"] == 1 and d["state"] == "paused"'
check_json "$work/step.json" 'd["end"]["step"] == 1'
check_json "$work/stopped.json" 'd["state"] == "paused" and d["pause_reason"].startswith("a step where") and "accepted >= 1" in d["pause_reason"]'
check_json "$work/found.json" 'd["find"]["by"] == "text" and d["find"]["matches"] >= 1'
check_json "$work/where.json" 'd["find"]["by"] == "where" and d["find"]["matches"] >= 1'
check_json "$work/branch.json" 'd["documents"] == 2 and "with ·is" in d["title"]'
check_json "$work/compare.json" '"compare" in d'
check_json "$work/ended.json" 'd["state"] == "done"'
check_json "$work/taken.json" 'd["run"]["method"] == "eagle3" and d["run"]["seed"] == 0 and d["run"]["prompt"] == "The capital of France is"'
for n in counted phase step stopped found where branch compare ended taken; do check_json "$work/$n.json" 'd["host"].startswith("env ") and d["lost"] == "" and d["problems"] == []'; done
[[ -z ${TRIESCOPE_KEEP_PICTURES:-} ]] || cp "$work"/*.png "$TRIESCOPE_KEEP_PICTURES"
finish
