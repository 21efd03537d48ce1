# A window over a decoder in another process: it steps, branches, and takes up a line that was cut; the dialog says what is wrong.
source "$(dirname "$0")/lib.sh"
need_model
export TRIESCOPE_MODELS=$TRIESCOPE_SOURCE/.deps/models
cat >"$work/remote.script" <<SCRIPT
model smollm2-135m-instruct
method beam
set num_beams=3
prompt The capital of France is
max-new-tokens 16
wait model
start
wait idle
step
wait idle
step
wait idle
write-state $work/stepped.json
screenshot $work/stepped.png
write-state $work/cut.json
wait file $work/cut.done
wait ms 700
write-state $work/lost.json
screenshot $work/lost.png
reconnect
wait ms 6000
write-state $work/back.json
step
wait idle
write-state $work/again.json
branch-with 0  is
wait idle
write-state $work/branch.json
lecture
wait ms 300
screenshot $work/lecture.png
lecture
connect
wait ms 300
screenshot $work/dialog.png
SCRIPT
window --remote-command "env FAR=1" --remote-program "$TRIESCOPE" --script "$work/remote.script" &
pid=$!
appears "$work/cut.json" 2400
for process in $(family $pid); do grep -qz -- "--stdio" "/proc/$process/cmdline" 2>/dev/null && kill -9 "$process"; done
touch "$work/cut.done"
wait $pid || { echo "FAILED: the window ended with an error"; failures=$((failures + 1)); }
check_json "$work/stepped.json" 'd["host"] == "env FAR=1" and d["lost"] == "" and d["problems"] == [] and d["end"]["step"] == 2 and d["state"] == "paused"'
check_json "$work/stepped.json" 'd["run"]["prompt_tokens"] > 3'
check_json "$work/lost.json" 'd["lost"] != "" and d["end"]["step"] == 2'
check_json "$work/back.json" 'd["lost"] == "" and d["problems"] == []'
check_json "$work/again.json" 'd["end"]["step"] == 3 and d["documents"] == 1'
check_json "$work/branch.json" 'd["documents"] == 2 and "with ·is" in d["title"] and d["problems"] == []'
expect 0 "no session runs here" "$TRIESCOPE" serve --list  # the window that ended took its session with it
expect 4 "there is no program '/nowhere'" "$TRIESCOPE" --remote-command env --remote-program /nowhere
[[ -z ${TRIESCOPE_KEEP_PICTURES:-} ]] || cp "$work"/*.png "$TRIESCOPE_KEEP_PICTURES"
finish
