# A script's waits are refused where the event cannot come, and a window that waits does not redraw.
source "$(dirname "$0")/lib.sh"
need_model
printf 'prompt hi\nwait model\n' >"$work/none.script"
expect 2 'none.script:2: wait model: no model is loaded and none is being loaded; put .model MODEL. before this line' window --script "$work/none.script"
# The wait loads the model named on the command line.
cat >"$work/named.script" <<SCRIPT
wait model
write-state $work/named.json
wait ms 1500
write-state $work/later.json
SCRIPT
window --model "$model" --script "$work/named.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/named.json" 'd["model"] is not None and d["state"] == "idle"'
# Each line of the script draws a few frames; at full speed it would be hundreds.
check_json "$work/later.json" "d['frames'] - json.load(open('$work/named.json'))['frames'] <= 12"
printf 'model /no/such/model.gguf\nwait model\n' >"$work/missing.script"
expect 2 'missing.script:2: while waiting: .*/no/such/model.gguf' window --script "$work/missing.script"
# The wait for a step is refused once the run can no longer reach it.
printf 'wait done\n' >"$work/no_run.script"
expect 2 "no_run.script:1: wait done: no run was started; put 'start-run' before this line" window --script "$work/no_run.script"
printf 'wait step 1\n' >"$work/no_capture.script"
expect 2 "no_capture.script:1: wait step 1: no run was started" window --script "$work/no_capture.script"
file="$TRIESCOPE_SOURCE/tests/fixtures/captures/beam.tscap"
printf 'wait step 0\nwait step 9999\n' >"$work/file.script"
expect 2 'file.script:2: wait step 9999: the capture ends with step [0-9]+' window "$file" --script "$work/file.script"
run="model $model\nmethod greedy\nprompt Once upon a time\nmax-new-tokens 5"
printf "$run\nstart\nwait idle\nstep\nstep\nstep\nwait step 2\nwait done\n" >"$work/paused.script"
expect 2 "paused.script:11: wait done: the run is paused at step 3; put 'run' before this line" window --script "$work/paused.script"
printf "$run\nbreakpoint step 2\nstart-run\nwait step 3\n" >"$work/broken.script"
expect 2 "broken.script:7: wait step 3: the run is paused at step [23] \(.*\); put 'run'" window --script "$work/broken.script"
printf "$run\nstart-run\nwait done\nwait step 4\nwait step 9\n" >"$work/over.script"
expect 2 'over.script:8: wait step 9: the run has ended' window --script "$work/over.script"
# A wrong name in a script is refused with the nearest one.
printf 'wiat idle\n' >"$work/verb.script"
expect 2 "verb.script:1: there is no command 'wiat'; .*did you mean wait" window --script "$work/verb.script"
printf 'maximise-panel tree\n' >"$work/panel.script"
expect 2 "panel.script:1: panel 'tree' is not one of: .*did you mean trie" window --script "$work/panel.script"
finish
