# Real keys: Escape ends one thing at a time, the innermost first, and discards no text; an open dialog gets all keys.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
"$TRIESCOPE" decode --quiet --model "$model" --method beam --set num_beams=3 --prompt "Once upon a time" --max-new-tokens 8 --capture "$work/run.tscap" >/dev/null || failures=$((failures + 1))
# The script waits while keys and clicks come, and writes down their effect.
{
  echo "prompt first"
  echo "go-start"
  echo "step"
  echo "lock 1"
  echo "range 1 3"
  by_hand 0 1 2 3 4 5 6 7 8 9
  echo "write-state $work/10.json"
} >"$work/escape.script"
window "$work/run.tscap" --script "$work/escape.script" &
pid=$!
typed() { click 150 "$prompt_y"; key ctrl+End; xdotool type --window "$id" --delay 20 " second"; sleep 0.2; }
prompt_y=275
at 0 click 185 12          # the Help menu
at 1 key Escape
at 2 key Escape            # the lock and the range
at 3 typed
at 4 key Escape
at 5 key ctrl+b F10 F9     # the bookmark dialog; nothing behind it moves
at 6 xdotool type --window "$id" --delay 20 "note"
at 7 key Escape
at 8 click 120 164         # the list of models
at 9 key Escape
wait $pid || { echo "FAILED: the script ended with $?"; failures=$((failures + 1)); }
check_json "$work/0.json" 'd["focus"]["locked"] == 1 and d["range"] == [1, 3] and d["popups"] == 0'
check_json "$work/1.json" 'd["popups"] == 1'
check_json "$work/2.json" 'd["popups"] == 0 and d["focus"]["locked"] == 1 and d["range"] == [1, 3]'
check_json "$work/3.json" 'd["focus"]["locked"] == -1 and "range" not in d'
check_json "$work/4.json" 'd["run"]["prompt"] == "first second"'
check_json "$work/5.json" 'd["run"]["prompt"] == "first second"'
check_json "$work/6.json" 'd["dialog"] and d["cursor"] == json.load(open(sys.argv[1].replace("6.json", "5.json")))["cursor"]'
check_json "$work/7.json" 'd["dialog"] and d["counts"]["bookmarks"] == 0'
check_json "$work/8.json" 'not d["dialog"] and d["popups"] == 0'
check_json "$work/9.json" 'd["popups"] == 1'
check_json "$work/10.json" 'd["popups"] == 0'
finish
