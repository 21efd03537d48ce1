# Bad input in the window: a readable problem, and the window and what was recorded stay.
source "$(dirname "$0")/lib.sh"
echo "no capture" >"$work/bad.tscap"
cat >"$work/bad.script" <<SCRIPT
open-file $work/bad.tscap
write-state $work/1.json
open-file $work/missing.tscap
write-state $work/2.json
screenshot $work/problem.png
SCRIPT
window --script "$work/bad.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/1.json" 'len(d["problems"]) == 1 and "bad.tscap" in d["problems"][0]'
check_json "$work/2.json" 'len(d["problems"]) == 2 and "missing.tscap" in d["problems"][1] and d["documents"] == 0'
echo "no-such-command" >"$work/wrong.script"
expect 2 'wrong.script:1' "$TRIESCOPE" --script "$work/wrong.script"
DISPLAY= expect 4 'no display' "$TRIESCOPE"
finish
