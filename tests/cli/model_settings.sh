# What a model's generation_config.json asks for: shown by info, noted by decode, taken with --model-settings; notes on a model's files.
source "$(dirname "$0")/lib.sh"
fixture=$TRIESCOPE_SOURCE/tests/fixtures/tiny_llama
cp -r "$fixture" "$work/model"
chmod -R u+w "$work/model"
asks() { printf '%s' "$1" >"$work/model/generation_config.json"; }
run() { "$TRIESCOPE" decode --model "$work/model" --prompt "Once upon a time" --max-new-tokens 24 "$@"; }

asks '{"eos_token_id": 1, "do_sample": true, "temperature": 0.7, "top_k": 3, "repetition_penalty": 1.3}'
"$TRIESCOPE" info --json "$work/model" >"$work/info.json" || failures=$((failures + 1))
check_json "$work/info.json" 'd["generation_settings"] == {"temperature": 0.7, "top_k": 3, "repetition_penalty": 1.3} and d["generation_not_done"] == []'
expect 0 'note: .*generation_config.json asks for repetition_penalty = 1.3; --model-settings' run --method greedy
runs=0
for settings in "" "--model-settings" "--set repetition_penalty=1.3" "--model-settings --set repetition_penalty=1"; do
  # shellcheck disable=SC2086
  run --quiet --json --method greedy $settings >"$work/run$((++runs)).json" || failures=$((failures + 1))
done
python3 - "$work" <<'PY' || failures=$((failures + 1))
import json, sys
plain, taken, said, undone = (json.load(open(f"{sys.argv[1]}/run{i}.json"))["sequences"][0]["tokens"] for i in (1, 2, 3, 4))
assert taken == said and plain == undone and plain != taken, (plain, taken, said, undone)
PY
run --quiet --json --method sample --model-settings --set top_k=5 >"$work/sample.json" || failures=$((failures + 1))
check_json "$work/sample.json" '[d["settings"][n] for n in ("temperature", "top_k", "repetition_penalty")] == [0.7, 5, 1.3]'

# What the files contradict themselves in is a note, and what ends the text is listed.
asks '{"eos_token_id": [1, 99999], "ignored": Infinity}'
beyond='generation_config.json: eos_token_id 99999 is outside the vocabulary'
expect 0 "^note: $beyond" run --method greedy
run --quiet --json --method greedy --capture "$work/run.tscap" >"$work/notes.json" || failures=$((failures + 1))
"$TRIESCOPE" info --json "$work/model/config.json" >"$work/info.json" || failures=$((failures + 1))
"$TRIESCOPE" info --json "$work/run.tscap" >"$work/capture.json" || failures=$((failures + 1))
check_json "$work/notes.json" "d['eos_token_ids'] == [1] and d['model']['notes'][0].startswith('$beyond')"
check_json "$work/info.json" "d['eos_token_ids'] == [1] and d['notes'][0].startswith('$beyond')"
check_json "$work/capture.json" "d['model']['eos_token_ids'] == [1] and d['model']['notes'][0].startswith('$beyond')"

asks '{"guidance_scale": 1.5}'
expect 3 'generation_config.json asks for guidance_scale, which triescope does not support' run --method greedy --model-settings
asks '{"temperature": 0.0}'
expect 2 'generation_config.json asks for temperature = 0.0: .*0.01' run --method sample --model-settings
asks '{"top_p": [1]}'
expect 3 'generation_config.json.*top_p' "$TRIESCOPE" info "$work/model"
finish
