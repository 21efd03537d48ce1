# scripts/gpu_check where there is no GPU: the kit, refusals, the report; and what tests/gpu/steps.py times, on the CPU.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
check=$TRIESCOPE_SOURCE/scripts/gpu_check

expect 0 'kit: [0-9.]+ MB. Take it' "$check" pack "$work/kit"
for file in include/nlohmann/json.hpp include/doctest/doctest.h include/sqlite3.h include/pcre2.h include/utf8proc.h lib/libsqlite3.a \
  lib/libpcre2-8.a lib/libutf8proc.a; do
  [[ -s $work/kit/$file ]] || { echo "FAILED: the kit lacks $file"; failures=$((failures + 1)); }
done

expect 2 'expected some of build, sanitize, tests, steps, found walk' "$check" --stages walk --out "$work/out"
expect 2 'expected a file SmolLM2-135M-Instruct.Q4_1.gguf, found .*none.gguf' "$check" --model "$work/none.gguf" --out "$work/out"

# No driver answers (a machine that has one is asked elsewhere): said before anything is run, and what was found before stays.
mkdir -p "$work/bin" "$work/out"
printf '#!/bin/sh\nexit 9\n' >"$work/bin/nvidia-smi"
chmod +x "$work/bin/nvidia-smi"
cat >"$work/out/report.json" <<'JSON'
{"stages": {"tests": [{"what": "kernels", "seconds": 12.4, "failed": true, "skipped": false, "log": "kernels.log", "note": "3 of 4 cases",
"tail": "one is wrong"}], "steps": [{"what": "kernels' times", "seconds": 1.0, "failed": false, "shown": true, "log": "k.log", "tail": "add_norm 1 3.5"},
{"what": "steps", "seconds": 9.9, "failed": true, "log": "steps.log", "tail": "no more", "note": "ended after 10 s",
"copy_bytes_per_second": 3e12, "models": [{"shape": "8B", "weights": "bf16", "warning": "attention gave way",
"steps": [{"prompt": 2048, "rows": 1, "ms": 6.25, "limit_ms": 5.0, "share": 0.8, "launches": 300, "device_ms": 5.5}],
"beams": {"beams": 9, "prompt": 512, "tokens": 64, "seconds": 2.0, "generate_seconds": 10.0, "ratio": 5.0, "generate": "transformers"}}]}]}}
JSON
PATH=$work/bin:$PATH expect 3 'sanitize: expected an NVIDIA GPU whose driver answers \(nvidia-smi\), found none' "$check" --stages sanitize,tests --out "$work/out"
check_json "$work/out/report.json" 'd["stages"]["tests"][0]["note"] == "3 of 4 cases"'

# A driver that answers, and programs that pass, skip or do not end: a kernel test that is skipped is a failure, what does not end is ended
# with all that it started, and the rest is run and reported.
fakes=$work/fakes
mkdir -p "$fakes/bin" "$fakes/build/tests/bin"
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$fakes/$1"; chmod +x "$fakes/$1"; }
fake bin/nvidia-smi 'echo a GPU'
fake build/tests/bin/test_kernels 'echo "[SKIPPED] no CUDA device answers"; exit 77'
fake build/tests/bin/test_cuda_path "sh -c 'echo \$\$ >$fakes/child; exec sleep 1000' & wait"
fake build/tests/bin/test_model 'echo "[SKIPPED] SmolLM2 is not installed"; exit 77'
fake build/tests/bin/test_heads 'echo "[doctest] test cases: 3 | 3 passed | 0 failed | 1 skipped"'
fake build/tests/bin/test_golden 'echo "[doctest] test cases: 3 | 2 passed | 1 failed | 1 skipped"; exit 1'
PATH=$fakes/bin:$PATH expect 1 'something failed' "$check" --stages tests --build "$fakes/build" --out "$fakes/out" --seconds 2
check_json "$fakes/out/report.json" '[(r["failed"], r["skipped"]) for r in d["stages"]["tests"]] == [(True, True), (True, False), (False, True), (False, False),
    (True, False)]'
check_json "$fakes/out/report.json" '[r["note"].split(" (")[0] for r in d["stages"]["tests"]] == ["1 skipped", "ended after 2 s", "1 skipped",
    "3 of 3 cases", "2 of 3 cases"]'
state=$(cut -d' ' -f3 "/proc/$(cat "$fakes/child")/stat" 2>/dev/null || true)
if [[ -n $state && $state != Z ]]; then echo "FAILED: what a command started outlives it"; failures=$((failures + 1)); fi

# The report's tables, from such figures.
render() {
  python3 - "$check" "$work/out/report.json" <<'PY'
import importlib.machinery, importlib.util, json, sys
loader = importlib.machinery.SourceFileLoader("gpu_check", sys.argv[1])
sys.dont_write_bytecode = True
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
loader.exec_module(module)
data = json.load(open(sys.argv[2]))
data |= {"commit": "", "machine": {"gpu": "a GPU", "torch": "2.11.0", "nvcc": "", "compiler": "c++", "cmake": "cmake", "cores": 2}}
print(module.markdown(data))
PY
}
expect 0 '^\| kernels \| failed: 3 of 4 cases \| 12 \|$' render
expect 0 '^one is wrong$' render
expect 0 '^Copies: 3000 GB/s' render
expect 0 '^add_norm 1 3.5$' render
expect 0 '^\| steps \| failed: ended after 10 s \| 10 \|$' render
expect 0 '^8B bf16: attention gave way$' render
expect 0 '^\| 8B \| bf16 \| 2048 \| 1 \| 6.250 \| 5.000 \| 80 % \| 300 \| 5.500 \|$' render
expect 0 '^8B b = 9, prompt 512, 64 tokens: 2.00 s, generate\(\) 10.00 s, 5.00 times' render

# The timed forwards, on the CPU and on a model that takes no time.
library=$(dirname "$TRIESCOPE")/tests/bin/libtriescope_gpu_steps.so
steps() {
  python3 - "$TRIESCOPE_SOURCE/tests" "$library" "$work/$1" "$2" <<'PY'
import pathlib, sys
sys.dont_write_bytecode = True
tests, library, folder, weights = sys.argv[1:]
sys.path[:0] = [tests + "/bench", tests + "/gpu"]
from random_models import SHAPES, write_gguf, write_safetensors
import steps
path = pathlib.Path(folder)
path.mkdir()
shape = SHAPES["tiny"]
if weights == "BF16":
    write_safetensors(path, shape, weights)
else:
    path = path / "model.gguf"
    write_gguf(path, shape, weights)
ours = steps.Library(library)
model = ours.open(path, "cpu", "bf16")
assert ours.c.ts_step(model, 1) == -1 and b"expected ts_prefill() first" in ours.c.ts_error(), ours.c.ts_error()
assert ours.seconds("ts_prefill", model, 600) > 0
for rows in (1, 9, 64):
    assert ours.seconds("ts_step", model, rows) > 0
assert ours.c.ts_step(model, 65) == -1 and b"found 65" in ours.c.ts_error()
assert ours.seconds("ts_beams", model, 9, 40, 8) > 0
assert ours.c.ts_allocated(model) == -1
assert ours.c.ts_warning(model) == b""
ours.c.ts_close(model)
try:
    ours.open(path / "none", "cpu", "bf16")
except RuntimeError as error:
    assert "none" in str(error), error
else:
    raise AssertionError("a model that is not there was opened")
print("timed")
PY
}
if is_sanitized "$library"; then
  echo "the timed forwards are left out: Python cannot open a library that a sanitizer was built into"
elif [[ -e $library ]]; then
  for weights in BF16 Q4_K Q4_1; do expect 0 '^timed$' steps "$weights" "$weights"; done
else
  echo "FAILED: $library is not built"; failures=$((failures + 1))
fi
finish
