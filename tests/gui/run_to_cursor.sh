# "Re-run to cursor" decodes the same run again into a capture of its own and stops at the cursor; at the end it is a step.
source "$(dirname "$0")/lib.sh"
need_model
cat >"$work/run.script" <<SCRIPT
model $model
method sample
set temperature=0.9
seed 7
prompt Once upon a time
max-new-tokens 8
wait idle
start-run
wait done
write-state $work/whole.json
maximise-panel text
cursor 4 accept
screenshot $work/past.png
# A changed run bar does not change the run that is decoded again.
seed 8
run-to-cursor
wait idle
write-state $work/again.json
screenshot $work/again.png
run-to-cursor
wait idle
write-state $work/step.json
document 0
write-state $work/old.json
follow
SCRIPT
window --script "$work/run.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/again.json" 'd["documents"] == 2 and d["live"] and d["state"] == "paused"'
check_json "$work/again.json" 'd["cursor"]["step"] == 4 and d["cursor"]["phase"] == "accept" and d["cursor"] == d["end"]'
check_json "$work/step.json" 'd["documents"] == 2 and d["cursor"]["step"] == 5 and d["cursor"]["phase"] == "draft"'
check_json "$work/old.json" 'd["cursor"]["step"] == 4 and not d["live"] and d["counts"]["steps"] > 4'
# A file can be viewed, but not run again.
"$TRIESCOPE" decode --quiet --model "$model" --method greedy --prompt "Once" --max-new-tokens 4 --capture "$work/file.tscap" >/dev/null || failures=$((failures + 1))
printf 'cursor 2\nrun-to-cursor\n' >"$work/file.script"
expect 2 'not possible now' window "$work/file.tscap" --script "$work/file.script"
finish
