# Real keys and clicks through the X server do what the commands do.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
"$TRIESCOPE" decode --quiet --model "$model" --method beam --set num_beams=3 --prompt "Once upon a time" --max-new-tokens 8 --capture "$work/run.tscap" >/dev/null || failures=$((failures + 1))
# The script only waits while keys come, and writes down their effect.
cat >"$work/keys.script" <<SCRIPT
wait idle
go-start
$(by_hand before)
write-state $work/after.json
screenshot $work/after.png
SCRIPT
window "$work/run.tscap" --script "$work/keys.script" &
pid=$!
at before key F10 F10 Right F11 alt+F11 alt+F10 F2 ctrl+2
wait $pid || { echo "FAILED: the window ended with $?"; failures=$((failures + 1)); }
check_json "$work/before.json" 'd["cursor"]["tick"] == 0'
check_json "$work/after.json" 'd["cursor"]["step"] == 2 and d["cursor"]["phase"] == "draft"'
check_json "$work/after.json" 'd["layout"] == "lecture"'
finish
