# A model folder without a tokenizer: prompts are ids, tokens are shown as ids, a text is refused.
source "$(dirname "$0")/lib.sh"
fixture=$TRIESCOPE_SOURCE/tests/fixtures/tiny_llama
mkdir "$work/model"
cp "$fixture"/{config.json,*.safetensors} "$work/model/"
run() { "$TRIESCOPE" decode --quiet --model "$1" --max-new-tokens 12 --set eos_token_id=-1 "${@:2}"; }
run "$fixture" --method greedy --prompt-ids 1,20,30 --json >"$work/with.json" || failures=$((failures + 1))
run "$work/model" --method greedy --prompt-ids 1,20,30 --json --capture "$work/run.tscap" >"$work/without.json" || failures=$((failures + 1))
python3 - "$work" <<'PY' || failures=$((failures + 1))
import json, sys
a, b = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("with", "without"))
tokens = a["sequences"][0]["tokens"]
assert b["sequences"][0]["tokens"] == tokens and len(tokens) == 12, b
assert b["prompt_tokens"] == [1, 20, 30]
# BOS and EOS are left out of the text, as with any tokenizer.
shown = b["sequences"][0]["text"]
assert shown and shown in "".join(f"<{t}>" for t in tokens), shown
assert a["sequences"][0]["text"] != shown
PY
expect 0 '^(<[0-9]+>)+$' run "$work/model" --method greedy --prompt-ids 1,20,30
"$TRIESCOPE" export --quiet "$work/run.tscap" --panel text --format csv -o "$work/text.csv" || failures=$((failures + 1))
grep -qE ',(<[0-9]+>)+$' "$work/text.csv" || { echo "FAILED: the exported text does not show ids"; failures=$((failures + 1)); }
missing="model: no tokenizer was found \(looked for tokenizer.json, vocab.json with merges.txt, and tokenizer.model\).*--prompt-ids 1,2,3"
expect 3 "$missing" run "$work/model" --prompt "Once upon a time"
expect 3 "$missing" run "$work/model" --prompt "1,2,3"
expect 3 "$missing" run "$work/model" --prompt "Once" --chat
expect 2 'a chat template works on text' run "$work/model" --prompt-ids 1,2 --chat
expect 2 'outside the vocabulary' run "$work/model" --prompt-ids 1,99999999
expect 2 "found 'x' as entry 2" run "$work/model" --prompt-ids 1,x
expect 0 '^tokenizer +no tokenizer$' "$TRIESCOPE" info "$work/model"
"$TRIESCOPE" info --json "$work/model" >"$work/info.json" || failures=$((failures + 1))
check_json "$work/info.json" 'd["tokenizer"] == "no tokenizer"'
expect 3 'no tokenizer in this folder' "$TRIESCOPE" tokenize --model "$work/model" hello

# A draft model: with its tokenizer or without, as long as the vocabularies are of one size.
for draft in "$fixture" "$work/model"; do
  run "$work/model" --method draft_model --draft "$draft" --prompt-ids 1,20,30 --json >"$work/draft.json" || failures=$((failures + 1))
  check_json "$work/draft.json" "d['sequences'][0]['tokens'] == json.load(open('$work/without.json'))['sequences'][0]['tokens'] and d['draft']['forwards'] > 0"
done
# What is there and broken is refused, not passed over.
echo '{' >"$work/model/tokenizer.json"
expect 3 'tokenizer.json' run "$work/model" --prompt-ids 1,20,30
finish
