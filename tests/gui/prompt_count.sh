# The run bar says how many tokens the prompt has, as the loaded model's tokenizer splits it, while a run is open.
source "$(dirname "$0")/lib.sh"
need_model
cat >"$work/count.script" <<SCRIPT
prompt Once upon a time, a small robot found a key
max-new-tokens 4
write-state $work/none.json
model $model
wait model
wait idle
write-state $work/loaded.json
prompt Once upon a time, a small robot found a key under the old oak tree
wait idle
write-state $work/longer.json
chat on
wait idle
write-state $work/chat.json
screenshot $work/fits.png
max-new-tokens 100000
wait idle
screenshot $work/over.png
write-state $work/over.json
SCRIPT
window --script "$work/count.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
count() { "$TRIESCOPE" tokenize --model "$model" --json "$1" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["ids"]))'; }
short=$(count "Once upon a time, a small robot found a key")
long=$(count "Once upon a time, a small robot found a key under the old oak tree")
check_json "$work/none.json" 'd["model"] is None and d["run"]["prompt_tokens"] == -1'
check_json "$work/loaded.json" "d['run']['prompt_tokens'] == $short"
check_json "$work/longer.json" "d['run']['prompt_tokens'] == $long > $short"
check_json "$work/chat.json" "d['run']['prompt_tokens'] > $long"
cmp -s "$work/fits.png" "$work/over.png" && { echo "FAILED: too long a prompt looks like one that fits"; failures=$((failures + 1)); }
check_json "$work/over.json" 'd["problems"] == []'
finish
