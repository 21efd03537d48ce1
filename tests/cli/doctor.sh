# What is wrong in a capture: exit codes, text and JSON, and two runs compared.
source "$(dirname "$0")/lib.sh"
for name in beam ngram_trie; do cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/$name.tscap" "$work/$name.tscap"; done
chmod u+w "$work"/*.tscap
run=$work/ngram_trie.tscap
expect 0 'doctor' "$TRIESCOPE" --help
expect 0 'ngram_trie.tscap: nothing found$' "$TRIESCOPE" doctor "$run"
expect 0 'not checked: masks: no rows in seen' "$TRIESCOPE" doctor "$run"
expect 2 'CAPTURE is required' "$TRIESCOPE" doctor
expect 3 'no.tscap' "$TRIESCOPE" doctor "$work/no.tscap"
echo 'not a capture' >"$work/text.tscap"
expect 3 'text.tscap' "$TRIESCOPE" doctor "$work/text.tscap"
"$TRIESCOPE" doctor "$run" --json >"$work/none.json"
check_json "$work/none.json" 'd["findings"] == []'
# All positions behind the prompt one too high.
cp "$run" "$work/off.tscap"
python3 - "$work/off.tscap" <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE input SET position = position + 1 WHERE step > 0")
db.commit()
P
expect 6 '^position.depth: all rows behind the prompt are off by the same amount \(certain\)$' "$TRIESCOPE" doctor "$work/off.tscap"
"$TRIESCOPE" doctor "$work/off.tscap" --json >"$work/off.json"
[[ $? == 6 ]] || { echo "FAILED: exit code of --json"; failures=$((failures + 1)); }
check_json "$work/off.json" '[f["code"] for f in d["findings"]] == ["position.depth"]'
check_json "$work/off.json" 'd["findings"][0]["first"]["step"] == 1 and d["findings"][0]["count"] > 5 and d["findings"][0]["text"]'
# A place that is not there is told without a window.
expect 3 'has no step 999; its steps are 0 to' env -u DISPLAY -u WAYLAND_DISPLAY "$TRIESCOPE" "$run" --open step/999
expect 3 'has no node 99999; its nodes are 0 to' env -u DISPLAY -u WAYLAND_DISPLAY "$TRIESCOPE" "$run" --open step/1/node/99999
expect 2 'expected step/12, node/57 or step/12/node/57' env -u DISPLAY -u WAYLAND_DISPLAY "$TRIESCOPE" "$run" --open here
expect 3 'text.tscap' env -u DISPLAY -u WAYLAND_DISPLAY "$TRIESCOPE" "$work/text.tscap" --open step/1
# Two runs.
expect 0 'nothing found' "$TRIESCOPE" doctor "$run" "$work/off.tscap"
expect 6 '^text.greedy: two texts of one prompt part: chosen' "$TRIESCOPE" doctor "$run" "$work/beam.tscap"
python3 - "$work/off.tscap" <<'P'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
tokens = json.loads(db.execute("SELECT prompt_tokens FROM run").fetchone()[0])
db.execute("UPDATE run SET prompt_tokens = ?", [json.dumps([tokens[0] + 1] + tokens[1:])])
db.commit()
P
expect 2 'expected two runs of one prompt' "$TRIESCOPE" doctor "$run" "$work/off.tscap"
# With the weights: rows are computed again. A short-lived run of the installed model.
expect 2 'head: expected --model' "$TRIESCOPE" doctor "$run" --head x
expect 2 'expected one capture' "$TRIESCOPE" doctor "$run" "$run" --model x
expect 3 'x' "$TRIESCOPE" doctor "$run" --model "$work/x.gguf"
if "$TRIESCOPE" decode --method ngram_trie --prompt "The capital of France is" --max-new-tokens 8 --capture "$work/real.tscap" --quiet >/dev/null 2>&1; then
  expect 0 'nothing found' "$TRIESCOPE" doctor "$work/real.tscap" --model SmolLM2-135M-Instruct
  # A head whose file names its layers one up: the weights were trained for one down.
  cp -r "$TRIESCOPE_SOURCE/assets/draft/eagle3" "$work/head"
  chmod -R u+w "$work/head"
  cp "$work/real.tscap" "$work/right.tscap"
  expect 0 'as the file says: 0' "$TRIESCOPE" doctor "$work/right.tscap" --model SmolLM2-135M-Instruct --head "$work/head"
  python3 - "$work/head/config.json" <<'P'
import json, sys
config = json.load(open(sys.argv[1]))
layers = config["eagle_config"]["eagle_aux_hidden_state_layer_ids"]
config["eagle_config"]["eagle_aux_hidden_state_layer_ids"] = [layer + 1 for layer in layers]
json.dump(config, open(sys.argv[1], "w"))
P
  expect 6 'Read with auxiliary layers one down the head makes' "$TRIESCOPE" doctor "$work/right.tscap" --model SmolLM2-135M-Instruct --head "$work/head"
  expect 3 'whose file has one reading' "$TRIESCOPE" doctor "$work/right.tscap" --model SmolLM2-135M-Instruct --head "$TRIESCOPE_SOURCE/assets/draft/space"
  # A run that used the head with its layers one up: the file is right, the program is not.
  "$TRIESCOPE" decode --method eagle3 --set layers=3,16,28 --prompt "The three primary colours are red, yellow and blue. Mixing" --max-new-tokens 24 --capture "$work/used.tscap" --quiet >/dev/null
  "$TRIESCOPE" doctor "$work/used.tscap" --model SmolLM2-135M-Instruct --head "$TRIESCOPE_SOURCE/assets/draft/eagle3" --json >"$work/used.json"
  check_json "$work/used.json" '[f["kind"] for f in d["findings"]] == ["the recorded program used the head in another way than it was trained for"]'
  check_json "$work/used.json" '[r["reading"] for r in d["head_readings"] if r["used"]] == ["auxiliary layers one up"] and [r["reading"] for r in d["head_readings"] if r["trained"]] == ["as the file says"]'
  python3 - "$work/real.tscap" <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE candidate SET logprob = logprob - 0.5 WHERE node = 2")
db.commit()
P
  expect 6 '^logits.row: ' "$TRIESCOPE" doctor "$work/real.tscap" --model SmolLM2-135M-Instruct
  # Probes read masks, which are no tokens of the model.
  "$TRIESCOPE" decode --method space --chat --prompt "Tell me a short story about a fox." --max-new-tokens 12 --capture "$work/space.tscap" --quiet >/dev/null
  expect 0 'nothing found' "$TRIESCOPE" doctor "$work/space.tscap" --model SmolLM2-135M-Instruct
fi
finish
