# The start screen lists earlier captures with method and date; a click opens one. A breakpoint of each kind has a command, which opens the
# list at its field. A maximised panel uses its room.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
"$TRIESCOPE" decode --quiet --model "$model" --method beam --set num_beams=3 --prompt "Once upon a time" --max-new-tokens 4 --capture "$work/first run.tscap" >/dev/null || failures=$((failures + 1))
"$TRIESCOPE" decode --quiet --model "$model" --method greedy --prompt "Once upon a time" --max-new-tokens 4 --capture "$work/second.tscap" >/dev/null || failures=$((failures + 1))
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }
cd "$work" || exit 1
for run in second "first run"; do
  timeout 60 "$TRIESCOPE" --size 1280x720 "$run.tscap" &
  pid=$!
  find_drawn_window
  key ctrl+q
  wait $pid || fail "the window ended with $?"
done
python3 - "$XDG_CONFIG_HOME/triescope/window.json" "$work" <<'PY' || fail "the preferences do not hold the captures"
import json, re, sys
recent = json.load(open(sys.argv[1]))["recent_captures"]
assert [(r["path"], r["method"]) for r in recent] == [(sys.argv[2] + "/first run.tscap", "Trie beam search"), (sys.argv[2] + "/second.tscap", "Greedy decoding")], recent
assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", r["recorded"]) for r in recent), recent
PY
{
  by_hand 0
  echo "write-state $work/1.json"
  echo "break-text"
  by_hand 2
  echo "write-state $work/3.json"
  echo "break-entropy-above"
  echo "write-state $work/4.json"
  for panel in kv mask inspector; do echo "maximise-panel $panel"; echo "write-state $work/$panel.json"; done
} >"$work/recent.script"
id=
window --script "$work/recent.script" &
pid=$!
second() {  # of the list
  click $(python3 -c 'import json, sys; x, y, w, h = json.load(open(sys.argv[1]))["targets"]["recent 2"]; print(round(x + w / 4), round(y + h / 2))' "$work/0.json")
}
typed() { xdotool type --window "$id" --delay 30 "Paris"; sleep 0.2; key Escape Escape; }  # leaves the field, then the dialog
at 0 second
at 2 typed
wait $pid || fail "the script ended with $?"
check_json "$work/0.json" 'd["documents"] == 0'
check_json "$work/1.json" 'd["documents"] == 1 and d["capture"].endswith("/second.tscap") and d["problems"] == []'
check_json "$work/2.json" 'd["dialog"] and d["breakpoint_texts"] == ["a token'"'"'s text holds '"'"'the'"'"'"]'
check_json "$work/3.json" 'not d["dialog"] and len(d["breakpoint_texts"]) == 1'
check_json "$work/4.json" 'd["dialog"] and len(d["breakpoint_texts"]) == 2 and d["breakpoint_texts"][1].startswith("entropy > ")'
check_json "$work/kv.json" '1 < d["enlarged"] <= 2'
check_json "$work/mask.json" '1 < d["enlarged"] <= 2'
check_json "$work/4.json" 'd["enlarged"] == 1'
# A run of the window is listed by its prompt, and the window opens where it was left. A good start ends the error of the start before.
timeout 120 "$TRIESCOPE" --size 1000x640 --model "$model" --method greedy --prompt "Once upon a time there was" --max-new-tokens 1000000 &
pid=$!
id=
for _ in $(seq 600); do find_window; [[ -n $id ]] && break; done
sleep 1
key ctrl+Return
sleep 2
key ctrl+q
wait $pid || fail "the window ended with $?"
cat >"$work/good.script" <<SCRIPT
max-new-tokens 999999999
start
wait ms 1500
write-state $work/refused.json
max-new-tokens 3
start-run
wait done
write-state $work/started.json
SCRIPT
window --model "$model" --method greedy --prompt "Once upon a time there was" --script "$work/good.script" || fail "the window ended with $?"
check_json "$work/refused.json" 'len(d["problems"]) == 1 and "999999999" in d["problems"][0]'
check_json "$work/started.json" 'd["problems"] == []'
timeout 120 "$TRIESCOPE" --model "$model" --method greedy --prompt "Once upon a time there was" --max-new-tokens 3 &
pid=$!
id=
for _ in $(seq 600); do find_window; [[ -n $id ]] && break; done
sleep 1
key ctrl+shift+Return
for _ in $(seq 600); do [[ -n $(window_named "Greedy decoding · Once upon a time there was - triescope\$") ]] && break; sleep 0.1; done
[[ -n $(window_named "Greedy decoding · Once upon a time there was - triescope\$") ]] || fail "the title does not name the run"
[[ $(xdotool getwindowgeometry --shell "$id" | grep -E "WIDTH|HEIGHT" | tr '\n' ' ') == "WIDTH=1000 HEIGHT=640 " ]] || fail "the window does not open as it was left"
key ctrl+q
wait $pid || fail "the window ended with $?"
python3 - "$XDG_CONFIG_HOME/triescope/window.json" <<'PY' || fail "the preferences do not hold the run"
import json, sys
saved = json.load(open(sys.argv[1]))
assert [(r["prompt"], r["method"]) for r in saved["recent_runs"]] == [("Once upon a time there was", "Greedy decoding")], saved["recent_runs"]
assert (saved["window"]["width"], saved["window"]["height"]) == (1000, 640), saved["window"]
PY
finish
