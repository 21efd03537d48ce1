# Large type in a small window: an open capture is visible at once; the run bar closes, and F2 opens it again beside the panes.
source "$(dirname "$0")/lib.sh"
need_model
"$TRIESCOPE" decode --quiet --model "$model" --method beam --prompt "Once upon a time" --max-new-tokens 6 --capture "$work/run.tscap" >/dev/null || failures=$((failures + 1))
cat >"$work/narrow.script" <<SCRIPT
set-scale 2
screenshot $work/empty.png
open-file $work/run.tscap
screenshot $work/open.png
write-state $work/open.json
run-bar
screenshot $work/bar.png
write-state $work/bar.json
run-bar
screenshot $work/closed.png
set-scale 1
screenshot $work/wide.png
write-state $work/wide.json
SCRIPT
window --script "$work/narrow.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
for state in open bar wide; do check_json "$work/$state.json" 'len(d["panels"]) > 0 and d["problems"] == []'; done
cmp -s "$work/open.png" "$work/closed.png" || { echo "FAILED: the run bar covers the panes of a capture that was just opened"; failures=$((failures + 1)); }
cmp -s "$work/open.png" "$work/bar.png" && { echo "FAILED: the run bar cannot be opened in a narrow window"; failures=$((failures + 1)); }
finish
