# triescope check: the report as text and as JSON, refusals, and the time of a model.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

expect 2 'expected one of cpu.*found cuda:99' "$TRIESCOPE" check --device cuda:99
expect 0 '^processor .*threads: memory is read at [0-9.]+ GB/s' "$TRIESCOPE" check --device cpu
expect 2 'TRIESCOPE_CPU: expected one of portable, avx2.*found sse' env TRIESCOPE_CPU=sse "$TRIESCOPE" check --device cpu
expect 0 '^processor  *portable, ' env TRIESCOPE_CPU=portable "$TRIESCOPE" check --device cpu
need_model
expect 0 '"instruction_set": "portable"' env TRIESCOPE_CPU=portable "$TRIESCOPE" decode --model "$model" --prompt Hi --max-new-tokens 1 --json
"$TRIESCOPE" check --device cpu --threads 2 --model "$model" --json >"$work/check.json" 2>"$work/err" || {
  echo "FAILED: check --json"; cat "$work/err"; failures=$((failures + 1)); }
check_json "$work/check.json" 'd["holds"] and d["verdict"].startswith("All ")'
check_json "$work/check.json" 'd["device"] == "cpu" and d["threads"] == 2 and d["devices"][0]["id"] == "cpu" and d["devices"][0]["bytes"] > 0'
check_json "$work/check.json" 'd["versions"]["libtorch"] and d["driver"] and d["cuda_module"]'
check_json "$work/check.json" 'd["read_bytes_per_second"] > 1e8 and d["multiply_adds_per_second"] > 1e8'
check_json "$work/check.json" 'len(d["comparisons"]) > 50 and all(c["holds"] and c["difference"] <= c["allowed"] for c in d["comparisons"])'
check_json "$work/check.json" '{c["where"] for c in d["comparisons"]} >= {"portable", "cpu, f32"}'
check_json "$work/check.json" 'd["devices"][0]["free_bytes"] > 0'
check_json "$work/check.json" '{"CUDA, f32", "CUDA, bf16"} <= {c["where"] for c in d["comparisons"]} or d["skipped"][0].startswith("the CUDA kernels were not compared: ")'
check_json "$work/check.json" 'd["model"]["tokens_per_second"] > 0 and 0 < d["model"]["share_of_limit"] < 2'
expect 0 '^model .*tokens a second' "$TRIESCOPE" check --device cpu --model smollm2-135m-instruct.q4_1
expect 3 'none.gguf' "$TRIESCOPE" check --device cpu --model none.gguf
finish
