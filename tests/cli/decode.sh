# decode, tokenize, info and export on the real model: the JSON contract, agreement between methods, a capture and its pictures.
source "$(dirname "$0")/lib.sh"
need_model
prompt="The three primary colours are red, green and blue. The three primary colours are"
run() { "$TRIESCOPE" decode --quiet --json --model "$model" --prompt "$prompt" --max-new-tokens 16 "$@"; }
run --method greedy >"$work/greedy.json" || failures=$((failures + 1))
check_json "$work/greedy.json" '{"model","method","settings","seed","prompt_tokens","sequences","steps","target_forwards","emitted_tokens","tokens_per_forward","accepted_histogram","kv","time_ms"} <= d.keys()'
check_json "$work/greedy.json" '{"path","family","parameters","dtype","device"} <= d["model"].keys()'
check_json "$work/greedy.json" '{"bytes_per_token","policy","peak_live_tokens","peak_garbage_tokens","peak_held_tokens","peak_reserved_bytes","moved_tokens","greedy_tokens","batch_beam_tokens"} <= d["kv"].keys()'
check_json "$work/greedy.json" '{"load","prefill","decode","draft","forward","accept","commit","observe"} <= d["time_ms"].keys()'
check_json "$work/greedy.json" 'len(d["sequences"]) == 1 and d["sequences"][0]["score"] is None and d["sequences"][0]["finish"] in ("eos", "length")'
check_json "$work/greedy.json" 'd["emitted_tokens"] == len(d["sequences"][0]["tokens"]) <= 16'
run --method beam --set num_beams=3 --set num_return_sequences=3 --capture "$work/beam.tscap" >"$work/beam.json" || failures=$((failures + 1))
check_json "$work/beam.json" 'len(d["sequences"]) == 3 and [s["score"] for s in d["sequences"]] == sorted((s["score"] for s in d["sequences"]), reverse=True)'
check_json "$work/beam.json" 'd["kv"]["policy"] == "recycle" and d["kv"]["peak_garbage_tokens"] == 0 and d["kv"]["peak_live_tokens"] < d["kv"]["batch_beam_tokens"]'
for policy in keep compact; do
  run --method beam --set num_beams=3 --set num_return_sequences=3 --set kv=$policy >"$work/$policy.json" || failures=$((failures + 1))
done
run --method batch_beam --set num_beams=3 --set num_return_sequences=3 >"$work/batch.json" || failures=$((failures + 1))
run --method ngram_trie >"$work/ngram.json" || failures=$((failures + 1))
run --method prompt_lookup >"$work/lookup.json" || failures=$((failures + 1))
run --method draft_model --draft "$model" --capture "$work/draft.tscap" >"$work/draft.json" || failures=$((failures + 1))
check_json "$work/draft.json" 'd["draft"]["device"] == "cpu"'
# The model's own file, named for the same device, is not loaded twice.
run --method draft_model --draft "$model" --draft-device cpu >"$work/draft_cpu.json" || failures=$((failures + 1))
check_json "$work/draft_cpu.json" 'd["draft"]["device"] == "cpu" and d["sequences"] == json.load(open(sys.argv[1].replace("_cpu", "")))["sequences"]'
check_json "$work/greedy.json" 'd["draft"] is None'
check_json "$work/draft.json" 'd["tokens_per_forward"] > 3 and d["draft"]["forwards"] > d["target_forwards"] and d["draft"]["kv_bytes_per_token"] == d["kv"]["bytes_per_token"]'
python3 - "$work" <<'PY' || failures=$((failures + 1))
import json, sys
tokens = lambda name: [s["tokens"] for s in json.load(open(f"{sys.argv[1]}/{name}.json"))["sequences"]]
for a, b in [("beam", "keep"), ("beam", "compact"), ("beam", "batch"), ("greedy", "ngram"), ("greedy", "lookup"), ("greedy", "draft")]:
    if tokens(a) != tokens(b):
        print("FAILED:", a, "and", b, "differ"); sys.exit(1)
PY
# --set kv=batch is the beam method's baseline by its policy name.
run --method greedy --seed 7 --prompt-ids 1,2 >/dev/null 2>&1 && { echo "FAILED: --prompt and --prompt-ids together were taken"; failures=$((failures + 1)); }

# A chat: with the template's own system prompt, with another one, and of several turns.
chat() { "$TRIESCOPE" decode --quiet --json --model "$model" --method greedy --max-new-tokens 4 "$@"; }
chat --chat --prompt "And of Spain?" --capture "$work/own.tscap" >"$work/own.json" || failures=$((failures + 1))
chat --chat --system "You answer in one word." --prompt "And of Spain?" --capture "$work/system.tscap" >"$work/system.json" || failures=$((failures + 1))
printf 'You answer in one word.' >"$work/system.txt"
chat --chat --system-file "$work/system.txt" --prompt "And of Spain?" >"$work/system_file.json" || failures=$((failures + 1))
cat >"$work/talk.json" <<'JSON'
{"messages": [{"role": "system", "content": "You answer in one word."}, {"role": "user", "content": "The capital of France?"},
              {"role": "assistant", "content": "Paris."}, {"role": "user", "content": "And of Spain?"}]}
JSON
python3 -c 'import json, sys; json.dump(json.load(open(sys.argv[1]))["messages"], open(sys.argv[2], "w"))' "$work/talk.json" "$work/list.json"
chat --messages "$work/talk.json" --capture "$work/talk.tscap" >"$work/talk_run.json" || failures=$((failures + 1))
chat --messages "$work/list.json" >"$work/list_run.json" || failures=$((failures + 1))
python3 - "$work" <<'PY' || { echo "FAILED: chats"; failures=$((failures + 1)); }
import json, pathlib, sqlite3, sys
work = pathlib.Path(sys.argv[1])
ids = lambda name: json.loads((work / f"{name}.json").read_text())["prompt_tokens"]
assert ids("system") == ids("system_file") and ids("talk_run") == ids("list_run")
assert len(ids("talk_run")) > len(ids("system")) and ids("own") != ids("system")
def run(name):
    return sqlite3.connect(work / f"{name}.tscap").execute("select prompt_text, conversation_json from run").fetchone()
turn = lambda role, content: f"<|im_start|>{role}\n{content}<|im_end|>\n"
asked, brief = turn("user", "And of Spain?") + "<|im_start|>assistant\n", turn("system", "You answer in one word.")
assert run("system")[0] == brief + asked, run("system")
assert run("talk")[0] == brief + turn("user", "The capital of France?") + turn("assistant", "Paris.") + asked, run("talk")
assert json.loads(run("talk")[1]) == json.loads((work / "talk.json").read_text())["messages"]
assert json.loads(run("own")[1]) == [{"role": "user", "content": "And of Spain?"}] and run("own")[0] != asked
assert sqlite3.connect(work / "beam.tscap").execute("select conversation_json from run").fetchone()[0] in (None, "")
PY
expect 2 '^triescope: --system: .*expected --chat beside it' "$TRIESCOPE" decode --model "$model" --system "Be brief." --prompt hi
expect 2 '^triescope: --system-file: .*expected --chat beside it' "$TRIESCOPE" decode --model "$model" --system-file "$work/system.txt" --prompt hi
expect 3 'missing.json' "$TRIESCOPE" decode --model "$model" --messages "$work/missing.json"
expect 2 'messages.*excludes.*prompt|prompt.*excludes.*messages' "$TRIESCOPE" decode --model "$model" --messages "$work/talk.json" --prompt hi
echo '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]' >"$work/last.json"
expect 2 'last.json: expected the last message to be the user.s or a tool.s, .*found role assistant' "$TRIESCOPE" decode --model "$model" --messages "$work/last.json"
echo '[{"role": "bot", "content": "a"}]' >"$work/role.json"
expect 2 'role.json: message 1: role: expected system, user, assistant or tool, found "bot"' "$TRIESCOPE" decode --model "$model" --messages "$work/role.json"
# Tools and a template from files, and what the model would read of them.
printf '{%% for m in messages %%}{{ m.role }}={{ m.content }};{%% endfor %%}{{ tools | tojson }}' >"$work/own.jinja"
echo '{"tools": [{"name": "add", "a": 1}]}' >"$work/tools.json"
expect_text() { [ "$2" = "$3" ] || { echo "FAILED: $1: expected '$2', found '$3'"; failures=$((failures + 1)); }; }
expect_text "--print-prompt" 'user=hi;[{"name": "add", "a": 1}]' \
  "$("$TRIESCOPE" decode --model "$model" --chat --prompt hi --chat-template "$work/own.jinja" --tools "$work/tools.json" --print-prompt)"
expect_text "--print-prompt without a chat" 'hi' "$("$TRIESCOPE" decode --model "$model" --prompt hi --print-prompt)"
chat --chat --prompt hi --chat-template "$work/own.jinja" --tools "$work/tools.json" --capture "$work/tools.tscap" >/dev/null || failures=$((failures + 1))
python3 - "$work" <<'PY' || { echo "FAILED: tools in a capture"; failures=$((failures + 1)); }
import json, pathlib, sqlite3, sys
found = json.loads(sqlite3.connect(pathlib.Path(sys.argv[1]) / "tools.tscap").execute("select conversation_json from run").fetchone()[0])
assert found["tools"] == [{"name": "add", "a": 1}] and found["messages"] == [{"role": "user", "content": "hi"}] and "messages" in found["chat_template"], found
PY
expect 2 '^triescope: --tools: .*expected --chat or --messages beside it' "$TRIESCOPE" decode --model "$model" --prompt hi --tools "$work/tools.json"
expect 2 '^triescope: --chat-template: .*expected --chat or --messages' "$TRIESCOPE" decode --model "$model" --prompt hi --chat-template "$work/own.jinja"
expect 3 'missing.jinja' "$TRIESCOPE" decode --model "$model" --chat --prompt hi --chat-template "$work/missing.jinja"
expect 2 'talk.json: expected a list of tools' "$TRIESCOPE" decode --model "$model" --chat --prompt hi --tools "$work/talk.json"
echo '[{"role": "user"' >"$work/half.json"
expect 3 'half.json' "$TRIESCOPE" decode --model "$model" --messages "$work/half.json"

# What the inspector says of the recorded run is what --json says, number by number.
for one in beam draft; do
  "$TRIESCOPE" export --quiet "$work/$one.tscap" --panel inspector --format csv -o "$work/$one.inspector.csv" || failures=$((failures + 1))
  "$TRIESCOPE" export --quiet "$work/$one.tscap" --panel summary --format csv -o "$work/$one.summary.csv" || failures=$((failures + 1))
  "$TRIESCOPE" export --quiet "$work/$one.tscap" --panel memory --format csv -o "$work/$one.memory.csv" || failures=$((failures + 1))
done
python3 - "$work" <<'PY' || { echo "FAILED: the inspector and --json say different figures"; failures=$((failures + 1)); }
import csv, json, pathlib, sqlite3, sys
work = pathlib.Path(sys.argv[1])
def table(name):
    return list(csv.DictReader(line for line in (work / name).read_text().splitlines() if not line.startswith("#")))
for name in ("beam", "draft"):
    result = json.loads((work / f"{name}.json").read_text())
    said = {row["field"]: row["value"] for row in table(f"{name}.inspector.csv")}
    db = sqlite3.connect(work / f"{name}.tscap")
    emitted = db.execute("select sum(emitted) from step where step > 0").fetchone()[0]
    assert result["emitted_tokens"] - result["prefill_tokens"] == emitted
    rate = 1000 * emitted / result["time_ms"]["decode"]
    assert abs(result["tokens_per_second"] - rate) < 1e-6 * rate
    assert abs(float(said["tokens per second"]) - rate) < 0.06 + 0.001 * rate, (said["tokens per second"], rate)
    assert int(said["steps"]) == result["steps"]
    assert int(said["tokens"]) == len(result["sequences"][0]["tokens"])
    assert abs(float(said["tokens per forward"]) - result["tokens_per_forward"]) < 0.00501
    assert said["KV at most"] == f"{result['kv']['peak_held_tokens']} slots"
    figures = {row["figure"]: row["value"] for row in table(f"{name}.summary.csv")}
    for figure in ("steps", "target_forwards", "emitted_tokens", "prefill_tokens", "seed"):
        assert int(figures[figure]) == result[figure], (figure, figures[figure])
    assert int(figures["prompt_tokens"]) == len(result["prompt_tokens"])
    for figure in ("peak_live_tokens", "peak_garbage_tokens", "peak_held_tokens", "peak_reserved_bytes", "moved_tokens"):
        assert int(figures["kv_" + figure]) == result["kv"][figure], (figure, figures["kv_" + figure])
    assert abs(float(figures["tokens_per_forward"]) - result["tokens_per_forward"]) < 1e-6
    assert figures["finish"] == result["sequences"][0]["finish"]
    assert max(int(row["peak_held_tokens"]) for row in table(f"{name}.memory.csv")) == result["kv"]["peak_held_tokens"]
    assert result["kv"]["peak_live_tokens"] <= result["kv"]["peak_held_tokens"] <= result["kv"]["peak_live_tokens"] + result["kv"]["peak_garbage_tokens"]
PY

"$TRIESCOPE" tokenize --model "$model" --json "Hello  world" >"$work/ids.json" || failures=$((failures + 1))
check_json "$work/ids.json" 'len(d["ids"]) == len(d["pieces"]) > 1 and "".join(d["pieces"]) == "Hello  world"'
ids=$(python3 -c 'import json,sys; print(",".join(map(str, json.load(open(sys.argv[1]))["ids"])))' "$work/ids.json")
expect 0 '^Hello  world$' "$TRIESCOPE" tokenize --model "$model" --decode "$ids"
"$TRIESCOPE" info --json "$model" >"$work/info.json" || failures=$((failures + 1))
check_json "$work/info.json" 'd["family"] == "llama" and d["layers"] == 30 and d["vocab_size"] == 49152'
check_json "$work/info.json" '0 < d["memory"]["gpu_kv_per_token"] == d["memory"]["kv_per_token"] / 2'
# Quantised matrices stay in their blocks; where the kernels for that are not built, all takes bf16.
check_json "$work/info.json" 'd["memory"]["gpu_weights"] in (d["block_bytes"] + 2 * (d["parameters"] - d["block_parameters"]), 2 * d["parameters"])'
# With a stand-in for a GPU that has little free.
stand_in=$(dirname "$TRIESCOPE")/tests/bin/libtriescope_cuda_stand_in.so
if [[ -e $stand_in ]]; then
  TRIESCOPE_CUDA_MODULE=$stand_in TRIESCOPE_CUDA_STAND_IN_FREE=50000000 "$TRIESCOPE" info --json "$model" >"$work/info.json" || failures=$((failures + 1))
  check_json "$work/info.json" 'd["memory"]["gpu_free"] == 50000000 and d["memory"]["gpu_weights"] == d["block_bytes"] + 2 * (d["parameters"] - d["block_parameters"])'
  check_json "$work/info.json" 'd["memory"]["gpu_does_not_fit"].endswith(" are free on cuda:0; close other programs, or take a smaller model") and "does_not_fit" not in d["memory"]'
fi
"$TRIESCOPE" info --json "$work/beam.tscap" >"$work/capture.json" || failures=$((failures + 1))
check_json "$work/capture.json" 'd["method"] == "beam" and d["status"] == "done" and d["counts"]["nodes"] > 30'

panels=$(panel_names)
[[ $(wc -w <<<"$panels") -ge 11 ]] || { echo "FAILED: the panels are not listed, only '$panels'"; failures=$((failures + 1)); }
for panel in $panels; do
  for format in svg pdf png csv; do
    "$TRIESCOPE" export --quiet "$work/beam.tscap" --panel $panel --format $format -o "$work/$panel.$format" ||
      { echo "FAILED: export $panel $format"; failures=$((failures + 1)); }
  done
done
# Two runs in one picture, and in one table whose first column names them.
for format in svg csv; do
  "$TRIESCOPE" export --quiet "$work/beam.tscap" "$work/beam.tscap" --panel verdict --format $format --step 4 -o "$work/pair.$format" ||
    { echo "FAILED: export of two runs as $format"; failures=$((failures + 1)); }
done
grep -q '^run,step,' "$work/pair.csv" && grep -q 'beam.tscap), left",4,' "$work/pair.csv" && grep -q 'beam.tscap), right",4,' "$work/pair.csv" ||
  { echo "FAILED: the table does not name both runs"; failures=$((failures + 1)); }
expect 3 'no.tscap' "$TRIESCOPE" export "$work/beam.tscap" "$work/no.tscap" --panel trie --format svg -o "$work/x.svg"
python3 - "$work" <<'PY' || failures=$((failures + 1))
import csv, pathlib, sys, xml.dom.minidom
for path in pathlib.Path(sys.argv[1]).iterdir():
    data = path.read_bytes()
    if path.suffix == ".svg":
        xml.dom.minidom.parseString(data)
        assert b"smollm2" in data.lower(), f"{path.name}: the model is not named"
    elif path.suffix == ".pdf":
        assert data.startswith(b"%PDF"), path.name
    elif path.suffix == ".png":
        assert data.startswith(b"\x89PNG"), path.name
    elif path.suffix == ".csv":
        rows = [r for r in csv.reader(data.decode().splitlines()) if r and not r[0].startswith("#")]
        assert rows and all(len(r) == len(rows[0]) for r in rows), path.name
PY
"$TRIESCOPE" export --quiet "$work/beam.tscap" --format jsonl -o "$work/run.jsonl" && "$TRIESCOPE" export --quiet "$work/beam.tscap" --format jsonl --steps 2:3 -o /dev/stdout >"$work/part.jsonl" ||
  { echo "FAILED: export as data"; failures=$((failures + 1)); }
python3 - "$work/run.jsonl" "$work/part.jsonl" <<'EOF' || { echo "FAILED: the run as data"; failures=$((failures + 1)); }
import json, sys
run, part = ([json.loads(line) for line in open(path)] for path in sys.argv[1:])
assert [line["step"] for line in run] == list(range(len(run))) and len(run) > 4
assert run[0]["run"]["method"] == "beam" and not any("run" in line for line in run[1:])
assert [line["step"] for line in part] == [2, 3] and part[1] == run[3]
assert all(len(line["frontier"]) > 1 and line["emitted"] == [line["frontier"][0]["token"]] for line in run[1:-2])
assert [s["rank"] for s in run[-1]["sequences"] if s["rank"] >= 0] == [0, 1, 2] and sum(run[1]["time_us"].values()) > 0
EOF
expect 2 '^triescope: --panel: expected with the picture of a panel; found --format jsonl' "$TRIESCOPE" export "$work/beam.tscap" --panel trie --format jsonl -o "$work/x.jsonl"
expect 2 '^triescope: --step: expected with the picture' "$TRIESCOPE" export "$work/beam.tscap" --step 2 --format jsonl -o "$work/x.jsonl"
expect 2 '^triescope: --panel: expected one of trie, .*; found none' "$TRIESCOPE" export "$work/beam.tscap" --format svg -o "$work/x.svg"
expect 2 "format 'json' is not one of: .* jsonl" "$TRIESCOPE" export "$work/beam.tscap" --panel trie --format json -o "$work/x.json"
expect 2 'step' "$TRIESCOPE" export "$work/beam.tscap" --panel trie --format svg --step 9999 -o "$work/x.svg"
expect 2 'trie' "$TRIESCOPE" export "$work/beam.tscap" --panel no-such-panel --format svg -o "$work/x.svg"
# A range of steps: figures are limited to it, in one run and in both.
"$TRIESCOPE" export --quiet "$work/beam.tscap" --panel memory --format svg --steps 2:5 -o "$work/range.svg" || failures=$((failures + 1))
grep -q 'steps 2 to 5' "$work/range.svg" || { echo "FAILED: the picture does not name the range"; failures=$((failures + 1)); }
"$TRIESCOPE" export --quiet "$work/beam.tscap" "$work/beam.tscap" --panel memory --format svg --steps 2:5 -o "$work/pair_range.svg" || failures=$((failures + 1))
[[ $(grep -o 'steps 2 to 5' "$work/pair_range.svg" | wc -l) -ge 2 ]] || { echo "FAILED: the range does not hold for both runs"; failures=$((failures + 1)); }
last=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["counts"]["steps"] - 1)' "$work/capture.json")
expect 0 'written' "$TRIESCOPE" export "$work/beam.tscap" --panel memory --format svg --steps "0:$last" -o "$work/x.svg"
for range in 5:2 -1:3 3 3: :3 a:b 2:5x 2-5 "0:$((last + 1))"; do
  expect 2 "--steps: expected FIRST:LAST, two steps from 0 to $last .*found '$range'" \
    "$TRIESCOPE" export "$work/beam.tscap" --panel memory --format svg "--steps=$range" -o "$work/x.svg"
done
# A draft model's rows; the target's without --whose.
for panel in mask positions kv memory candidates; do
  export_draft() { "$TRIESCOPE" export --quiet "$work/draft.tscap" --panel $panel --step 2 --format csv "$@"; }
  export_draft -o "$work/plain.csv" && export_draft --whose target -o "$work/target.csv" && export_draft --whose draft -o "$work/of_draft.csv" ||
    { echo "FAILED: export of $panel by owner"; failures=$((failures + 1)); }
  cmp -s "$work/plain.csv" "$work/target.csv" && grep -q '^# Rows of: the target$' "$work/target.csv" && grep -q '^# Rows of: the draft model$' "$work/of_draft.csv" &&
    ! diff -q <(grep -v '^#' "$work/target.csv") <(grep -v '^#' "$work/of_draft.csv") >/dev/null ||
    { echo "FAILED: $panel does not show whose rows were asked for"; failures=$((failures + 1)); }
done
expect 2 "--whose: .*beam.tscap has rows of target; found 'draft'" "$TRIESCOPE" export "$work/draft.tscap" "$work/beam.tscap" --panel kv --whose draft --format svg -o "$work/x.svg"
expect 0 'written' "$TRIESCOPE" export "$work/draft.tscap" "$work/draft.tscap" --panel kv --whose draft --format svg -o "$work/pair_draft.svg"
[[ $(grep -o 'Rows of: the draft model' "$work/pair_draft.svg" | wc -l) -ge 2 ]] || { echo "FAILED: two runs do not both show the draft model's rows"; failures=$((failures + 1)); }
expect 2 'context' "$TRIESCOPE" decode --quiet --model "$model" --prompt hi --max-new-tokens 1000000
head -c 3000 "$work/beam.tscap" >"$work/cut.tscap"
expect 3 'cut.tscap' "$TRIESCOPE" info "$work/cut.tscap"

# Out of memory: 64 caches of the prompt do not fit into 2.5 GB; the capture says so and opens. A build with AddressSanitizer
# cannot start in so little.
limited() (ulimit -v 2500000; exec "$@")
if limited "$TRIESCOPE" --version >/dev/null 2>&1; then
  long_prompt=$(printf 'Once upon a time there was a small harbour. %.0s' {1..60})
  expect 4 'out of memory: KV of [0-9]+ slots needs [0-9.]+ GB, .*fewer beams' limited "$TRIESCOPE" decode --quiet --threads 2 --model "$model" \
    --method batch_beam --set num_beams=64 --prompt "$long_prompt" --max-new-tokens 8 --capture "$work/memory.tscap"
  "$TRIESCOPE" info --json "$work/memory.tscap" >"$work/memory.json" || failures=$((failures + 1))
  check_json "$work/memory.json" 'd["status"] == "failed" and "out of memory" in d["message"]'
fi

# Ctrl+C: the capture is closed properly, what was decoded is printed, 130.
"$TRIESCOPE" decode --model "$model" --method greedy --prompt "Once upon a time" --max-new-tokens 2000 --capture "$work/stopped.tscap" >"$work/stopped.txt" 2>/dev/null &
pid=$!
printed() { [[ $(stat -c %s "$work/stopped.txt") -gt 200 ]]; }
await $pid printed
kill -INT $pid
wait $pid
[[ $? == 130 ]] || { echo "FAILED: Ctrl+C does not end with 130"; failures=$((failures + 1)); }
[[ -s $work/stopped.txt ]] || { echo "FAILED: nothing printed before Ctrl+C"; failures=$((failures + 1)); }
"$TRIESCOPE" info --json "$work/stopped.tscap" >"$work/stopped.json" || failures=$((failures + 1))
check_json "$work/stopped.json" 'd["status"] == "stopped" and d["counts"]["steps"] > 1'
"$TRIESCOPE" bench --quiet --json --only drafts --model "$model" --methods prompt_lookup:prompt_lookup_num_tokens=3,ngram_trie --max-new-tokens 3 --max-prompt-tokens 20 >"$work/drafts.json" || failures=$((failures + 1))
check_json "$work/drafts.json" '[m["method"] for m in d["drafts"][:3]] == ["greedy", "prompt_lookup:prompt_lookup_num_tokens=3", "ngram_trie"] and all(m["equal_to_greedy"] == m["prompts"] and m["draft"] == "" for m in d["drafts"])'
"$TRIESCOPE" bench --quiet --json --only models --model "$model" --model "$model" --max-new-tokens 2 >"$work/bench.json" || failures=$((failures + 1))
check_json "$work/bench.json" '[m["emitted"] for m in d["models"]] == [2, 2] and all(0 < m["logits_difference"] <= 2e-4 and m["load_ms"] > 0 and 0 < m["read_mb"] <= m["weights_mb"] for m in d["models"])'
finish
