# A run that is refused memory waits. The window goes on working in the rest; once there is memory, the run goes on, and its text equals
# that of a run that never waited.
source "$(dirname "$0")/lib.sh"
need_model
command -v prlimit >/dev/null || { echo "[SKIPPED] prlimit is not installed"; exit 77; }
is_sanitized "$TRIESCOPE" && { echo "[SKIPPED] sanitizers reserve their own address space"; exit 77; }
settings=(num_beams=24 kv=keep eos_token_id=-1)
{
  printf '%s\n' "model $model" "wait model" "method beam" "prompt Once upon a time there was a harbour." "max-new-tokens 48"
  printf 'set %s\n' "${settings[@]}"
  printf '%s\n' start "wait idle" step step "wait idle" "write-state $work/0.json" "wait file $work/0.done" \
    run "wait idle" "panel trie" "wait ms 300" "screenshot $work/waits.png" "write-state $work/1.json" "wait file $work/1.done" \
    run "wait done" "write-state $work/2.json" "save-file $work/waited.tscap"
} >"$work/short.script"
"$TRIESCOPE" --no-animation --size 1280x720 --script "$work/short.script" 2>"$work/window.log" &
pid=$!
give_up() { echo "FAILED: $*"; cat "$work/window.log"; kill $pid 2>/dev/null; failures=$((failures + 1)); finish; }
appears "$work/0.json" 2400 || give_up "the window did not come to the first steps"
# The limit is 48 MB more than the process has; the run wants about 1.1 MB a step.
pages=$(cut -d' ' -f1 "/proc/$pid/statm")
prlimit --pid $pid --as=$((pages * $(getconf PAGESIZE) + (48 << 20))):
touch "$work/0.done"
appears "$work/1.json" 2400 || give_up "the window did not wait for memory"
check_json "$work/1.json" 'd["state"] == "paused" and d["pause_reason"] == "out of memory"'
check_json "$work/1.json" 'd["memory_refused"].startswith("KV of ")'
prlimit --pid $pid --as=unlimited:
touch "$work/1.done"
wait $pid || give_up "the window ended with $?"
check_json "$work/2.json" 'd["state"] == "done" and d["memory_refused"] == ""'
"$TRIESCOPE" --quiet decode --model "$model" --method beam --prompt "Once upon a time there was a harbour." --max-new-tokens 48 \
  $(printf -- '--set %s ' "${settings[@]}") --capture "$work/whole.tscap" >/dev/null || say "the run without a limit ended with $?"
python3 - "$work/waited.tscap" "$work/whole.tscap" <<'PY' || failures=$((failures + 1))
import sqlite3, sys
waited, whole = (sqlite3.connect(file).execute("select rank, score, finish, tokens from sequence order by id").fetchall() for file in sys.argv[1:])
assert len(waited) > 0 and waited == whole, "the text is another one"
PY
finish
