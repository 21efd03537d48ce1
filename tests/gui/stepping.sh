# A run in the window: start, step, phase, back, run, replay; breakpoints and a search in the recording; forward and back gives the
# identical picture.
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
breakpoint step 3
go-start
play-speed 8
run
wait idle
write-state $work/9.json
previous-match
write-state $work/10.json
follow
previous-match
write-state $work/11.json
find-text upon no time
write-state $work/12.json
go-start
find-text e
find-next
write-state $work/13.json
find-previous
find-previous
write-state $work/14.json
breakpoint where verdict = "kept" and step >= 5
go-start
run
wait idle
write-state $work/15.json
find-where kv_live > 0 and step >= 2
find-next
write-state $work/16.json
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
stopped='d["cursor"]["step"] == 4 and d["cursor"]["phase"] == "draft" and d["stop_reason"] == "step = 3: done"'
check_json "$work/9.json" "$stopped"' and d["play_speed"] == 8'
check_json "$work/10.json" "$stopped"' and d["message"] == "no breakpoint is hit before this place"'
check_json "$work/11.json" "$stopped"' and d["message"] == "step 3, observe: step = 3: done"'
check_json "$work/12.json" 'd["find"]["matches"] == 0 and d["find"]["count"] == "not found"'
check_json "$work/13.json" 'd["find"]["matches"] > 2 and d["find"]["count"] == "2 of %d" % d["find"]["matches"] and d["focus"]["locked"] > 0'
check_json "$work/14.json" 'd["find"]["count"] == "%d of %d" % (d["find"]["matches"], d["find"]["matches"])'
check_json "$work/15.json" 'd["stop_reason"].startswith("step = 3")'
check_json "$work/16.json" 'd["find"]["by"] == "where" and d["find"]["problem"] == "" and d["find"]["matches"] > 3'
python3 - "$work" <<'PY' || failures=$((failures + 1))
import pathlib, sys
work = pathlib.Path(sys.argv[1])
b, c = ((work / f"{n}.png").read_bytes() for n in "bc")
if b != c:
    print("FAILED: stepping back and forward does not show the identical picture"); sys.exit(1)
PY
finish
