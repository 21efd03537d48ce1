# What a script waits for: refused where it cannot come; and a window that waits does not redraw.
source "$(dirname "$0")/lib.sh"
need_model
printf 'prompt hi\nwait model\n' >"$work/none.script"
expect 2 'none.script:2: wait model: no model is loaded and none is being loaded; put .model MODEL. before this line' window --script "$work/none.script"
# The model named on the command line is loaded.
cat >"$work/named.script" <<SCRIPT
wait model
write-state $work/named.json
wait ms 1500
write-state $work/later.json
SCRIPT
window --model "$model" --script "$work/named.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/named.json" 'd["model"] is not None and d["state"] == "idle"'
# A few frames for each line of the script; at full speed it would be hundreds.
check_json "$work/later.json" "d['frames'] - json.load(open('$work/named.json'))['frames'] <= 12"
printf 'model /no/such/model.gguf\nwait model\n' >"$work/missing.script"
expect 2 'missing.script:2: while waiting: .*/no/such/model.gguf' window --script "$work/missing.script"
# Names in a script are refused with the nearest one.
printf 'wiat idle\n' >"$work/verb.script"
expect 2 "verb.script:1: there is no command 'wiat'; .*did you mean wait" window --script "$work/verb.script"
printf 'maximise-panel tree\n' >"$work/panel.script"
expect 2 "panel.script:1: panel 'tree' is not one of: .*did you mean trie" window --script "$work/panel.script"
finish
