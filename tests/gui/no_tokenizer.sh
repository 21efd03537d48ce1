# A model without a tokenizer in the window: the prompt field takes ids and says so, tokens are shown as ids.
source "$(dirname "$0")/lib.sh"
fixture=$TRIESCOPE_SOURCE/tests/fixtures/tiny_llama
mkdir "$work/model"
cp "$fixture"/{config.json,*.safetensors} "$work/model/"
cat >"$work/ids.script" <<SCRIPT
method greedy
set eos_token_id=-1
max-new-tokens 6
prompt 1, 20, 30
write-state $work/before.json
screenshot $work/before.png
model $work/model
wait model
wait idle
write-state $work/loaded.json
screenshot $work/loaded.png
start-run
wait done
save-file $work/run.tscap
write-state $work/done.json
prompt Once upon a time
wait idle
write-state $work/text.json
start
wait idle
SCRIPT
expect 2 "ids.script:20: while waiting: the model has no tokenizer, so its prompt is a list of token ids; .*found 'Once upon a time'" \
  window --script "$work/ids.script"
check_json "$work/before.json" 'not d["run"]["prompt_is_ids"]'
check_json "$work/loaded.json" 'd["run"]["prompt_is_ids"] and d["run"]["prompt_tokens"] == 3 and d["problems"] == []'
check_json "$work/done.json" 'd["state"] == "done" and d["counts"]["nodes"] == 7'
check_json "$work/text.json" 'd["run"]["prompt_tokens"] == -1 and d["problems"] == []'
cmp -s "$work/before.png" "$work/loaded.png" && { echo "FAILED: the window does not say that the prompt is ids"; failures=$((failures + 1)); }
"$TRIESCOPE" export --quiet "$work/run.tscap" --panel text --format csv -o "$work/text.csv" || failures=$((failures + 1))
grep -qE ',(<[0-9]+>)+$' "$work/text.csv" || { echo "FAILED: the exported text does not show ids"; failures=$((failures + 1)); }
# Ids from the command line go into the prompt field, also for a model with a tokenizer, and can be edited there.
cat >"$work/given.script" <<SCRIPT
wait model
wait idle
write-state $work/given.json
prompt 1, 20
wait idle
write-state $work/edited.json
prompt-is-ids off
wait idle
write-state $work/words.json
SCRIPT
window --model "$fixture" --prompt-ids 1,20,30 --script "$work/given.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/given.json" 'd["run"]["prompt_is_ids"] and d["run"]["prompt_tokens"] == 3'
check_json "$work/edited.json" 'd["run"]["prompt_is_ids"] and d["run"]["prompt_tokens"] == 2'
check_json "$work/words.json" 'not d["run"]["prompt_is_ids"] and d["run"]["prompt_tokens"] > 2'
finish
