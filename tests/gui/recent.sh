# The start screen lists the captures that were open before, with method and date; a click opens one. A breakpoint of each kind has a
# command, which opens the list at its field. A maximised panel uses its room.
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
finish
