# Panels are dragged by their tabs between panes, to an edge, and into windows of their own. Named layouts survive a restart, and a broken
# one is left out with a message.
source "$(dirname "$0")/lib.sh"
need_model
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
"$TRIESCOPE" decode --quiet --model "$model" --method beam --set num_beams=3 --prompt "Once upon a time" --max-new-tokens 6 --capture "$work/run.tscap" >/dev/null || failures=$((failures + 1))
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }
# drag FROM_X FROM_Y TO_X TO_Y: drags in small moves, as a hand does.
drag() {
  xdotool mousemove --window "$id" "$1" "$2"; sleep 0.2
  xdotool mousedown 1; sleep 0.1
  for i in 1 2 3 4 5 6 7 8; do
    xdotool mousemove --window "$id" $(($1 + ($3 - $1) * i / 8)) $(($2 + ($4 - $2) * i / 8)); sleep 0.05
  done
  sleep 0.2
  xdotool mouseup 1; sleep 0.3
}
{
  echo "layout-debug"
  by_hand 0 1 2 3
  echo "write-state $work/4.json"
  echo "screenshot $work/docked.png"
  echo "save-layout mine"
  echo "layout-lecture"
  echo "write-state $work/5.json"
  echo "layout mine"
  echo "write-state $work/6.json"
} >"$work/dock.script"
window "$work/run.tscap" --script "$work/dock.script" &
pid=$!
over() { xdotool mousemove --window "$id" "$1" "$2"; sleep 0.2; key "$3"; }
at 0 drag 392 101 1090 190       # Mask: among the tabs of the text
at 1 drag 1142 275 620 370       # Log: below the trie, both seen
at 2 drag 405 101 600 42         # Positions: out of the panes
at 3 over 430 200 ctrl+u         # beside the new window; the panel under the mouse: the trie
wait $pid || fail "the script ended with $?"
panes='lambda n: n["panels"] if "panels" in n else [panes(n["first"]), panes(n["second"]), "beside" if n["side_by_side"] else "above"]'
check_panes() { check_json "$1" "(lambda: (globals().__setitem__('panes', $panes), $2)[1])()"; }
check_panes "$work/1.json" 'panes(d["panes"]["panes"])[0][0][0] == ["trie", "positions"] and d["layout"] == ""'
check_panes "$work/1.json" 'panes(d["panes"]["panes"])[0][0][1][0] == ["text", "candidates", "verdict", "drafts", "mask"]'
check_panes "$work/2.json" 'panes(d["panes"]["panes"])[0][0][0] == [["trie", "positions"], ["log"], "above"]'
check_panes "$work/2.json" '"trie" in d["panels"] and "log" in d["panels"]'
check_panes "$work/3.json" 'len(d["panes"]["floating"]) == 1 and panes(d["panes"]["floating"][0]["panes"]) == ["positions"]'
check_panes "$work/3.json" '"positions" in d["panels"] and d["panes"]["floating"][0]["w"] > 300'
check_panes "$work/4.json" 'len(d["panes"]["floating"]) == 2 and "trie" in d["panels"] and d["problems"] == []'
check_json "$work/5.json" 'd["layout"] == "lecture" and d["own_layouts"] == ["mine"] and d["panes"]["floating"] == []'
check_json "$work/6.json" 'd["layout"] == "mine" and len(d["panes"]["floating"]) == 2'

# Floating windows stay idle too: nothing is drawn while nothing happens.
printf '%s\n' layout-debug "undock trie" "write-state $work/quiet.json" "wait ms 300" "write-state $work/before.json" "wait ms 1500" "write-state $work/after.json" >"$work/idle.script"
window "$work/run.tscap" --script "$work/idle.script" || fail "the window ended with $?"
check_json "$work/after.json" 'len(d["panes"]["floating"]) == 1 and d["frames"] - json.load(open(sys.argv[1].replace("after", "before")))["frames"] < 12'

# A restart brings back the last layout and the named ones, whose keys come after the presets'.
preferences=$XDG_CONFIG_HOME/triescope/window.json
timeout 60 "$TRIESCOPE" --size 1280x720 "$work/run.tscap" &
pid=$!
find_drawn_window
key ctrl+2; sleep 0.3
key ctrl+l; sleep 0.3
xdotool type --window "$id" --delay 30 "board"; sleep 0.3
key Return; sleep 0.3
key ctrl+1; sleep 0.3
key ctrl+5; sleep 0.3
key ctrl+q
wait $pid || fail "the window ended with $?"
python3 - "$preferences" <<'PY' || fail "the preferences do not hold the layout"
import json, sys
d = json.load(open(sys.argv[1]))
assert list(d["layouts"]) == ["board"] and d["layout_name"] == "board", (d["layouts"].keys(), d["layout_name"])
PY
echo "write-state $work/again.json" >"$work/again.script"
window "$work/run.tscap" --script "$work/again.script" || fail "the window ended with $?"
check_json "$work/again.json" 'd["layout"] == "board" and d["own_layouts"] == ["board"] and d["panels"] == ["trie", "narration", "mask", "text", "timeline"]'

# A part that is not a layout is reported and left out; the readable rest stays.
python3 - "$preferences" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["layout"] = {"panes": {"panels": 7}}
d["layouts"]["broken"] = "no"
json.dump(d, open(sys.argv[1], "w"))
PY
window "$work/run.tscap" --script "$work/again.script" || fail "with broken layouts the window ended with $?"
check_json "$work/again.json" 'd["layout"] == "debug" and d["own_layouts"] == ["board"] and "not a layout: '"'broken'"', the last one" in d["message"]'
# A small window still shows everything, as tabs.
printf 'layout-debug\nwrite-state %s\n' "$work/small.json" >"$work/small.script"
timeout 60 "$TRIESCOPE" --no-animation --size 640x400 "$work/run.tscap" --script "$work/small.script" || fail "the small window ended with $?"
check_json "$work/small.json" '1 <= len(d["panels"]) <= 3'
finish
