# A run in the window: start, step, phase, back, run, replay; the picture is identical after forward and back.
source "$(dirname "$0")/lib.sh"
need_model
cat >"$work/run.script" <<SCRIPT
model $model
method beam
set num_beams=3
prompt Once upon a time
max-new-tokens 10
wait idle
start
wait idle
write-state $work/0.json
step
wait idle
step
wait idle
step
wait idle
write-state $work/1.json
screenshot $work/a.png
step-phase
wait idle
write-state $work/2.json
back-phase
screenshot $work/b.png
back
back
write-state $work/3.json
step
step
screenshot $work/c.png
follow
run
wait done
write-state $work/4.json
go-start
write-state $work/5.json
layout-memory
write-state $work/6.json
start
wait idle
write-state $work/7.json
document 0
write-state $work/8.json
SCRIPT
window --script "$work/run.script" || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/0.json" 'd["state"] == "paused" and d["cursor"]["tick"] == 0 and d["live"]'
check_json "$work/1.json" 'd["cursor"]["step"] == 3 and d["cursor"]["phase"] == "draft"'
check_json "$work/2.json" 'd["cursor"]["step"] == 3 and d["cursor"]["phase"] == "forward"'
check_json "$work/3.json" 'd["cursor"]["step"] == 1 and not d["follow"] and d["end"]["tick"] == 16'
check_json "$work/4.json" 'd["state"] == "done" and d["counts"]["sequences"] > 0 and d["follow"]'
check_json "$work/5.json" 'd["cursor"]["tick"] == 0 and d["counts"]["nodes_at_cursor"] <= 1'
check_json "$work/6.json" '"memory" in d["panels"] and d["layout"] == "memory"'
check_json "$work/7.json" 'd["documents"] == 2 and d["live"]'
check_json "$work/8.json" 'not d["live"] and d["counts"]["steps"] > 3'
check_json "$work/8.json" 'd["problems"] == []'
python3 - "$work" <<'PY' || failures=$((failures + 1))
import pathlib, sys
work = pathlib.Path(sys.argv[1])
b, c = ((work / f"{n}.png").read_bytes() for n in "bc")
if b != c:
    print("FAILED: stepping back and forward does not show the identical picture"); sys.exit(1)
PY
finish
