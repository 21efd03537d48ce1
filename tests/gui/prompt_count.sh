# The run bar counts the prompt's tokens as the model's tokenizer splits it, even before the model is loaded.
source "$(dirname "$0")/lib.sh"
need_model
cat >"$work/count.script" <<SCRIPT
prompt Once upon a time, a small robot found a key
max-new-tokens 4
wait drawn
wait idle
write-state $work/none.json
screenshot $work/none.png
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
system You answer in one word.
wait idle
write-state $work/system.json
messages $work/messages.json
wait idle
write-state $work/talk.json
screenshot $work/fits.png
max-new-tokens 100000
wait idle
screenshot $work/over.png
write-state $work/over.json
SCRIPT
echo '[{"role": "system", "content": "You answer in one word."}, {"role": "user", "content": "The capital of France?"},
  {"role": "assistant", "content": "Paris."}, {"role": "user", "content": "And of Spain? Once upon a time, a small robot found a key"}]' >"$work/messages.json"
window --model "$model" --script "$work/count.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
count() { "$TRIESCOPE" tokenize --model "$model" --json "$1" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["ids"]))'; }
short=$(count "Once upon a time, a small robot found a key")
long=$(count "Once upon a time, a small robot found a key under the old oak tree")
check_json "$work/none.json" "d['model'] is None and d['run']['prompt_tokens'] == $short"
# The system prompt differs from the template's own.
check_json "$work/system.json" "$short < d['run']['prompt_tokens'] != json.load(open('$work/chat.json'))['run']['prompt_tokens']"
check_json "$work/talk.json" "d['run']['prompt_tokens'] > json.load(open('$work/system.json'))['run']['prompt_tokens'] and [t['role'] for t in d['run']['turns']] == ['user', 'assistant']"
check_json "$work/loaded.json" "d['run']['prompt_tokens'] == $short"
check_json "$work/longer.json" "d['run']['prompt_tokens'] == $long > $short"
check_json "$work/chat.json" "d['run']['prompt_tokens'] > $long"
cmp -s "$work/fits.png" "$work/over.png" && { echo "FAILED: too long a prompt looks like one that fits"; failures=$((failures + 1)); }
check_json "$work/over.json" 'd["problems"] == []'
finish
