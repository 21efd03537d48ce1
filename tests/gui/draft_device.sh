# The device of a draft model: a script names it, and the run that starts has its draft there.
source "$(dirname "$0")/lib.sh"
need_model
{
  printf '%s\n' "model smollm2" "wait model" "method draft_model" "max-new-tokens 3" "write-state $work/unset.json" \
    "draft-device cpu" "write-state $work/cpu.json" start-run "wait idle" "save-file $work/cpu.tscap" \
    "draft-device same" "write-state $work/same.json"
} >"$work/device.script"
window --script "$work/device.script" || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/unset.json" 'd["run"]["draft_device"] == ""'
check_json "$work/cpu.json" 'd["run"]["draft_device"] == "cpu"'
check_json "$work/same.json" 'd["run"]["draft_device"] == ""'
python3 - "$work/cpu.tscap" <<'PY' || failures=$((failures + 1))
import json, sqlite3, sys
model = json.loads(sqlite3.connect(sys.argv[1]).execute("select model_json from run").fetchone()[0])
assert model["draft"]["device"] == "cpu", model["draft"]
PY
finish
