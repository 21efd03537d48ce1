# Ctrl+Shift+F with real keys: a condition is typed, Enter and Shift+Enter go from step to step; a wrong one says where; Break stops playback.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap" "$work/run.tscap" && chmod u+w "$work/run.tscap"
[[ -e $TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap-wal ]] && cp "$TRIESCOPE_SOURCE/tests/fixtures/captures/draft_tree.tscap-wal" "$work/run.tscap-wal"
cat >"$work/keys.script" <<SCRIPT
wait idle
run-bar
go-start
$(by_hand open found next back wrong mended break)
go-start
play-speed 8
run
wait idle
write-state $work/stopped.json
SCRIPT
window "$work/run.tscap" --script "$work/keys.script" &
pid=$!
type_text() { xdotool type --window "$id" --delay 60 "$1"; sleep 0.4; }
at open key ctrl+shift+f
find_and_go() { type_text 'refused > 0'; key Return; }
at found find_and_go
at next key Return
at back key shift+Return
spoil() { key End; type_text 'x'; }
at wrong spoil
at mended key BackSpace
at break press break "find break"
wait $pid || say "the window ended with $?"
check_json "$work/found.json" 'd["find"]["by"] == "where" and d["find"]["query"] == ""'
check_json "$work/next.json" 'd["find"]["query"] == "refused > 0" and d["find"]["matches"] > 1 and d["find"]["count"].startswith("1 of ")'
check_json "$work/back.json" 'd["find"]["count"].startswith("2 of ")'
check_json "$work/wrong.json" 'd["find"]["count"].startswith("1 of ")'
check_json "$work/mended.json" 'd["find"]["problem"].startswith("column ")'
check_json "$work/break.json" 'd["find"]["problem"] == ""'
check_json "$work/stopped.json" 'd["stop_reason"].startswith("a step where")'
python3 - "$work" <<'PY' || say "playback does not stop where the search goes"
import json, pathlib, sys
work = pathlib.Path(sys.argv[1])
first, stopped = (json.load(open(work / f"{n}.json")) for n in ("next", "stopped"))
assert first["cursor"]["tick"] == stopped["cursor"]["tick"] > 0, (first["cursor"], stopped["cursor"])
PY
finish
