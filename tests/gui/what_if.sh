# What if: a typed token branches off, the new run shows the shared past at once and names its origin, and one command compares the two. A
# breakpoint on a text stops there and selects the node. The run bar takes over a run that is shown.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
cat >"$work/branch.script" <<SCRIPT
model $model
method beam
set num_beams=2
prompt The capital of France is
max-new-tokens 8
wait model
start
wait idle
breakpoint text Paris
breakpoint pattern ^never\$
run
wait idle
write-state $work/hit.json
branch-with 0  is
wait idle
write-state $work/branch.json
compare-origin
write-state $work/compare.json
layout-debug
document 1
what-if
$(by_hand typing)
wait idle
write-state $work/second.json
go-start
document 0
method greedy
seed 5
take-run
write-state $work/taken.json
SCRIPT
window --script "$work/branch.script" &
pid=$!
was() { xdotool type --window "$id" --delay 40 " was"; sleep 0.4; key Return; }
at typing was
wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/hit.json" 'd["state"] == "paused" and "Paris" in d["pause_reason"] and d["focus"]["locked"] > 0 and d["breaks"] == 1'
check_json "$work/branch.json" 'd["documents"] == 2 and d["end"]["tick"] == 3 and d["counts"]["nodes_at_cursor"] == 4'
check_json "$work/branch.json" 'd["title"] == "#2, branch of #1 after the prompt with ·is"'
check_json "$work/compare.json" '"compare" in d and d["title"].endswith("#1") and d["layout"] == "compare"'
check_json "$work/typing.json" 'd["dialog"]'
check_json "$work/second.json" 'not d["dialog"] and d["problems"] == [] and d["documents"] == 3'
check_json "$work/second.json" 'd["title"].startswith("#3, branch of #2 after ") and d["title"].endswith(" with ·was")'
check_json "$work/taken.json" 'd["run"]["method"] == "beam" and d["run"]["seed"] == 0 and d["run"]["prompt"] == "The capital of France is"'

# An impossible breakpoint and an unknown panel are reported with the line of the script.
printf 'theme\nbreakpoint pattern (\n' >"$work/pattern.script"
expect 2 "pattern.script:2: pattern '\('" window --script "$work/pattern.script"
printf 'theme\ntheme\npanel tire\n' >"$work/panel.script"
expect 2 'panel.script:3: .*trie' window --script "$work/panel.script"
finish
