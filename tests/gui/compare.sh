# Two captures side by side: one cursor, one focus, differences marked; forward and back gives the identical picture.
source "$(dirname "$0")/lib.sh"
need_model
record() { "$TRIESCOPE" decode --quiet --model "$model" --prompt "one two three four one two three four one two" --max-new-tokens 16 --method "$@" >/dev/null || failures=$((failures + 1)); }
record greedy --capture "$work/greedy.tscap"
record ngram_trie --set num_draft=4 --capture "$work/drafts.tscap"
record beam --set num_beams=4 --capture "$work/beam.tscap"
# The run bar is closed: the free memory that it shows changes by itself, and its prompt is counted while the script goes on.
cat >"$work/pair.script" <<SCRIPT
run-bar
write-state $work/end.json
cursor 4
screenshot $work/a.png
write-state $work/four.json
lock 3
write-state $work/locked.json
lock -1
step
step
back
back
screenshot $work/b.png
compare-by-steps
cursor 2
write-state $work/steps.json
open-file $work/beam.tscap
compare 0
compare-by-tokens
cursor 4
screenshot $work/beams.png
write-state $work/beams.json
export-panel verdict csv $work/pair.csv
wait idle
export-panel trie svg $work/pair.svg
wait idle
layout-debug
write-state $work/debug.json
layout-compare
write-state $work/again.json
document 0
write-state $work/swapped.json
close
close
screenshot $work/one.png
write-state $work/one.json
SCRIPT
window "$work/greedy.tscap" "$work/drafts.tscap" --script "$work/pair.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/end.json" 'd["documents"] == 2 and d["layout"] == "compare" and d["compare"]["capture"].endswith("drafts.tscap") and d["compare"]["by"] == "tokens"'
# The same text comes from fewer steps: the method is lossless, so nothing differs.
check_json "$work/end.json" 'd["compare"]["parting_step"] == -1 and d["compare"]["differing_nodes"] == 0 and d["compare"]["other_differing_nodes"] == 0'
check_json "$work/four.json" 'd["cursor"]["step"] == 4 and 0 < d["compare"]["cursor"]["step"] <= 4'
check_json "$work/locked.json" 'd["focus"]["node"] == 3 and d["compare"]["focus"] != 0'
check_json "$work/steps.json" 'd["compare"]["by"] == "steps" and d["compare"]["cursor"]["step"] == 2'
check_json "$work/beams.json" 'd["documents"] == 3 and d["method"] == "beam" and d["compare"]["capture"].endswith("greedy.tscap") and d["compare"]["differing_nodes"] > 0'
# An export holds both runs while two are compared.
grep -q '^run,step,node' "$work/pair.csv" && grep -q '(beam.tscap),3,' "$work/pair.csv" && grep -q '(greedy.tscap),' "$work/pair.csv" ||
  { echo "FAILED: the exported table does not hold both runs"; failures=$((failures + 1)); }
grep -q 'Left, Method: beam' "$work/pair.svg" && grep -q 'Right, Method: greedy' "$work/pair.svg" ||
  { echo "FAILED: the exported picture does not name both runs"; failures=$((failures + 1)); }
check_json "$work/debug.json" '"compare" not in d and d["layout"] == "debug"'
check_json "$work/again.json" 'd["compare"]["capture"].endswith("greedy.tscap")'
check_json "$work/swapped.json" 'd["method"] == "greedy" and d["compare"]["capture"].endswith("beam.tscap")'
check_json "$work/one.json" 'd["documents"] == 1 and "compare" not in d and d["problems"] == []'
# A range of steps holds for both runs: a script can set it, or a Shift-drag on the timeline of either.
cat >"$work/range.script" <<SCRIPT
range 2 3
write-state $work/set.json
range all
screenshot $work/no_range.png
$(by_hand all left)
screenshot $work/range.png
write-state $work/right.json
SCRIPT
window "$work/greedy.tscap" "$work/drafts.tscap" --script "$work/range.script" &
pid=$!
if command -v xdotool >/dev/null; then
  # drag FROM_X TO_X: drags over the strip at the bottom in small moves, as a hand does.
  drag() {
    xdotool mousemove --window "$id" "$1" 655
    sleep 0.2
    xdotool keydown shift mousedown 1
    for i in 1 2 3 4 5 6; do xdotool mousemove --window "$id" $(($1 + ($2 - $1) * i / 6)) 655; sleep 0.05; done
    sleep 0.2
    xdotool mouseup 1 keyup shift
  }
  at all drag 450 700
  at left drag 930 1060
  wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
  check_json "$work/left.json" 'len(d["range"]) == 2 and 0 < d["range"][0] < d["range"][1] < 15 and d["compare"]["range"] == d["range"]'
  # The shorter run shares the longer one's axis.
  check_json "$work/right.json" 'd["range"] == [2, 3] and d["compare"]["range"] == [2, 3]'
  cmp -s "$work/no_range.png" "$work/range.png" && { echo "FAILED: a dragged range is not shown"; failures=$((failures + 1)); }
else
  touch "$work/all.done" "$work/left.done"
  wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
fi
check_json "$work/set.json" 'd["range"] == [2, 3] and d["compare"]["range"] == [2, 3]'
check_json "$work/all.json" '"range" not in d and d["compare"]["range"] is None'
# A run of the window is marked as timed while drawing. Measured again it is not marked, and stands beside the first with the same text.
cat >"$work/measure.script" <<SCRIPT
model $model
method ngram_trie
prompt one two three four one two three four one two
max-new-tokens 12
wait model
start-run
wait idle
write-state $work/drawn.json
measure-again
wait idle
write-state $work/measured.json
compare-own-scales
write-state $work/scales.json
compare-own-scales
layout-debug
open-file $work/beam.tscap
compare-with
$(by_hand choice)
write-state $work/taken.json
SCRIPT
window --script "$work/measure.script" &
pid=$!
id=
if command -v xdotool >/dev/null; then
  take() { key Up; sleep 0.2; key Return; sleep 0.4; }
  at choice take
else
  touch "$work/choice.done"
fi
wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/drawn.json" 'd["timed_while_drawing"] and d["documents"] == 1'
check_json "$work/measured.json" 'd["timed_while_drawing"] and d["documents"] == 2 and d["compare"]["differing_nodes"] == 0 and not d["compare"]["own_scales"] and d["cursor"] == d["end"]'
check_json "$work/scales.json" 'd["compare"]["own_scales"]'
if command -v xdotool >/dev/null; then
  # Enter takes the selected run: up from the last of the three.
  check_json "$work/taken.json" 'not d["dialog"] and d["compare"]["capture"] != "" and d["method"] == "beam"'
fi
cmp -s "$work/a.png" "$work/b.png" || { echo "FAILED: stepping forward and back does not show the identical pair"; failures=$((failures + 1)); }
finish
