# Helpers of the command line tests. $TRIESCOPE is the program.
set -uo pipefail
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

model=$TRIESCOPE_SOURCE/.deps/models/SmolLM2-135M-Instruct.Q4_1.gguf
need_model() { [[ -e $model ]] || { echo "[SKIPPED] the model is not installed"; exit 77; }; }

# expect CODE PATTERN COMMAND...: exit code, and a pattern that stdout and stderr together must hold.
expect() {
  local code=$1 pattern=$2 output status
  shift 2
  output=$("$@" 2>&1 </dev/null)
  status=$?
  if [[ $status != "$code" ]]; then
    echo "FAILED: expected exit $code, found $status: $*"; echo "$output" | head -5; failures=$((failures + 1))
  elif ! grep -qE -- "$pattern" <<<"$output"; then
    echo "FAILED: no '$pattern' in the output of: $*"; echo "$output" | head -5; failures=$((failures + 1))
  fi
}

# await PROCESS CONDITION...: waits until the command CONDITION succeeds, for as long as the process runs.
await() {
  local process=$1
  shift
  until "$@"; do
    kill -0 "$process" 2>/dev/null || return 0
    sleep 0.1
  done
}

# rows FILE TABLE: how many rows a table of an SQLite file has ("run WHERE status = 'done'": those); 0 where it is not there yet.
rows() {
  python3 - "$1" "$2" 2>/dev/null <<'PY' || echo 0
import sqlite3, sys
print(sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute("SELECT count(*) FROM " + sys.argv[2]).fetchone()[0])
PY
}

# check_json FILE EXPRESSION: a Python expression over `d`, the parsed file.
check_json() {
  python3 - "$1" "$2" <<'PY' || failures=$((failures + 1))
import json, sys
d = json.load(open(sys.argv[1]))
if not eval(sys.argv[2]):
    print("FAILED:", sys.argv[2], "on", sys.argv[1]); sys.exit(1)
PY
}

# small_study TOKENS SETTINGS [TEXT CATEGORY]...: $work/small.toml, greedy decoding beside prompt lookup with these settings ("" = its own).
small_study() {
  local tokens=$1 settings=$2
  shift 2
  {
    printf '[study]\nmodels = "%s"\nmax_new_tokens = %s\n[[method]]\nmethod = "greedy"\n[[method]]\nmethod = "prompt_lookup"\n' "$model" "$tokens"
    [[ -z $settings ]] || echo "set = { $settings }"
    while (($#)); do
      printf '[[prompts]]\ntext = "%s"\ncategory = "%s"\n' "$1" "$2"
      shift 2
    done
  } >"$work/small.toml"
}

# Every panel's name (charts are none), as the program lists them.
panel_names() { "$TRIESCOPE" export none.tscap --panel none --format html -o none.html 2>&1 | sed -n 's/.* is not one of: //p' | sed 's/;.*//; s/,//g'; }

finish() { [[ $failures == 0 ]] && echo "all as expected" ; exit $((failures != 0)); }
is_sanitized() { grep -qaE '__(asan|tsan)_init' "$1" 2>/dev/null; }  # FILE: a program or library that a sanitizer was built into
