# The run bar's list beside the dtype: keys and values in bf16, by real clicks; the run that starts has them.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
{
  printf '%s\n' "model smollm2" "wait model" "method greedy" "max-new-tokens 3"
  by_hand 0 1
  printf '%s\n' "write-state $work/chosen.json" start-run "wait model" "wait idle" "save-file $work/run.tscap"
} >"$work/kv.script"
window --script "$work/kv.script" &
pid=$!
at 0 click 253 163  # opens the list
at 1 click 253 228  # its third entry
wait $pid || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/0.json" 'd["run"]["kv_dtype"] is None and d["run"]["dtype"] == "f32"'
check_json "$work/chosen.json" 'd["run"]["kv_dtype"] == "bf16" and d["run"]["dtype"] == "f32"'
python3 - "$work/run.tscap" <<'PY' || failures=$((failures + 1))
import sqlite3, sys
bytes_per_token = sqlite3.connect(sys.argv[1]).execute("select kv_bytes_per_token from run").fetchone()[0]
assert bytes_per_token == 23040, bytes_per_token  # 46080 in f32
PY
finish
