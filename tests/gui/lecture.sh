# Lecture mode with real keys, wheel and clicks, from captures and without a model. Every key acts as docs/lecture.md says, the presenter
# view works like the window, leaving restores the panes, and nothing moves from step to step.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }
cp "$TRIESCOPE_SOURCE"/assets/lessons/{beam,tree,sample}.tscap "$work"

states=31
{
  echo "layout memory"
  by_hand $(seq 0 $states)
} >"$work/keys.script"
# Presses keys in the presenter view, whose window has the focus.
in_presenter() {
  local window
  window=$(window_named "presenter view")
  xdotool windowfocus "$window" 2>/dev/null
  for k in "$@"; do xdotool key --window "$window" "$k"; sleep 0.15; done
}
# The window with the focus is gone; a desktop would pass the focus on.
in_main() { xdotool windowfocus "$id"; sleep 0.2; key "$@"; }
# Clicks the right end of the presenter view's title, or the item NAME; places are in screen coordinates.
close_presenter() { click_at "$1" "presenter view" 'x + w - 12, y + 12'; }
click_at() {
  local place
  place=$(python3 -c 'import json, sys
x, y, w, h = json.load(open(sys.argv[1]))["targets"][sys.argv[2]]
print(*map(round, eval(sys.argv[3])))' "$work/$1.json" "$2" "${3:-x + w / 2, y + h / 2}") || fail "there is no '$2' in state $1"
  xdotool mousemove $place; sleep 0.2; xdotool click 1; sleep 0.2
}
wheel() { xdotool click "$1"; sleep 0.2; }
spotlight() { xdotool mousemove --window "$id" 900 300; sleep 0.2; key s; }
timeout 300 "$TRIESCOPE" --no-animation --size 1920x1080 "$work/beam.tscap" --script "$work/keys.script" &
pid=$!
at 0 key F8
at 1 key Home
at 2 key space
at 3 key Next               # Page Down
at 4 key Right
at 5 key Prior              # Page Up
at 6 key Left
at 7 key b
at 8 key space              # brings the picture back, no more
at 9 key period
at 10 key period
at 11 spotlight
at 12 wheel 4
at 13 wheel 5
at 14 wheel 5
at 15 key Escape            # the spotlight
at 16 key 3
at 17 key 1
at 18 key Tab
at 19 key Tab
at 20 key n
at 21 in_presenter space Next
at 22 in_presenter b
at 23 in_presenter Prior
at 24 click_at 24 "reset time"
at 25 close_presenter 25
at 26 in_main F5              # clickers send it: it starts nothing
at 27 in_main F8
at 28 in_main F8 b Escape Escape
at 29 in_main F8 alt+Return
at 30 in_main F8               # leaves the full screen too
at 31 true
wait $pid || fail "the window ended with $?"
cursor() { check_json "$work/$1.json" "d['cursor']['tick'] == $2"; }
check_json "$work/0.json" 'd["lecture"] is None and d["theme"] == "dark" and d["model"] is None and d["layout"] == "memory"'
check_json "$work/1.json" 'd["lecture"]["panels"] == ["trie", "text"] and d["panels"] == ["trie", "text", "narration"]'
check_json "$work/1.json" 'd["theme"] == "projector" and d["size"] == [1920, 1080] and d["smallest_text"] >= 24 and not d["fullscreen"]'
cursor 2 0; cursor 3 1; cursor 4 2; cursor 5 3; cursor 6 2; cursor 7 1
check_json "$work/8.json" 'd["lecture"]["blank"] and d["panels"] == [] and d["cursor"]["tick"] == 1'
check_json "$work/9.json" 'not d["lecture"]["blank"] and d["cursor"]["tick"] == 1 and len(d["panels"]) == 3'
check_json "$work/10.json" 'd["lecture"]["blank"]'
check_json "$work/11.json" 'not d["lecture"]["blank"] and d["cursor"]["tick"] == 1'
check_json "$work/12.json" 'd["lecture"]["spotlight"] and abs(d["lecture"]["spotlight_radius"] - 0.2) < 0.001'
check_json "$work/13.json" 'd["lecture"]["spotlight_radius"] > 0.22'
check_json "$work/14.json" 'abs(d["lecture"]["spotlight_radius"] - 0.2) < 0.001'
check_json "$work/15.json" 'd["lecture"]["spotlight_radius"] < 0.18'
check_json "$work/16.json" 'd["lecture"] and not d["lecture"]["spotlight"]'
check_json "$work/17.json" 'd["lecture"]["panels"] == ["trie", "mask"]'
check_json "$work/18.json" 'd["lecture"]["panels"] == ["mask"] and d["panels"] == ["mask", "narration"]'
check_json "$work/19.json" 'd["lecture"]["panels"] == ["trie", "text"]'
check_json "$work/20.json" 'd["lecture"]["panels"] == ["trie", "verdict"]'
check_json "$work/21.json" 'd["lecture"]["presenter_view"] and d["presenter"]["heading"] == "Step 0, draft" and d["presenter"]["next"] == "Next: Step 0, forward" and d["cursor"]["tick"] == 1'
check_json "$work/21.json" 'd["lecture"]["presenter_em"] > 15 and d["targets"]["next picture"][3] > 100'
check_json "$work/22.json" 'd["cursor"]["tick"] == 3 and d["presenter"]["heading"] == "Step 0, accept" and d["presenter"]["next_sentence"] != ""'
check_json "$work/23.json" 'd["lecture"]["blank"] and d["lecture"]["presenter_view"]'
check_json "$work/24.json" 'not d["lecture"]["blank"] and d["cursor"]["tick"] == 3'
check_json "$work/25.json" 'd["lecture"]["elapsed"] < json.load(open(sys.argv[1].replace("25.json", "24.json")))["lecture"]["elapsed"]'
check_json "$work/26.json" 'd["lecture"] and not d["lecture"]["presenter_view"] and d["cursor"]["tick"] == 3'
check_json "$work/27.json" 'd["lecture"] and d["cursor"]["tick"] == 3'
check_json "$work/28.json" 'd["lecture"] is None and d["theme"] == "dark"'
check_json "$work/28.json" 'all(d[k] == json.load(open(sys.argv[1].replace("28.json", "0.json")))[k] for k in ("panes", "layout", "panels", "areas", "views", "maximised", "scale"))'
check_json "$work/29.json" 'd["lecture"] is None and d["panes"] == json.load(open(sys.argv[1].replace("29.json", "0.json")))["panes"] and d["problems"] == []'

check_json "$work/30.json" 'd["lecture"] and d["fullscreen"]'
check_json "$work/31.json" 'd["lecture"] is None and not d["fullscreen"]'

# No panel moves through whole runs, and no letter is too small, whatever is shown.
walk() {  # NAME STATES COMMAND...: a state after each of so many positions
  local name=$1 count=$2
  shift 2
  {
    printf '%s\n' lecture go-start "$@"
    for i in $(seq 0 "$count"); do
      echo "write-state $work/$name-$i.json"
      echo "lecture-next"
    done
  } >"$work/$name.script"
  timeout 300 "$TRIESCOPE" --no-animation --size 960x540 "$work/$name.tscap" --script "$work/$name.script" || fail "$name ended with $?"
  python3 - "$work/$name" "$count" <<'PY' || fail "$name: a panel moved, or letters are too small"
import json, sys
states = [json.load(open(f"{sys.argv[1]}-{i}.json")) for i in range(int(sys.argv[2]) + 1)]
for i, d in enumerate(states):
    assert d["cursor"]["tick"] == i, (i, d["cursor"])
    assert d["smallest_text"] >= 12, (i, d["smallest_text"])
    assert len(d["lecture"]["areas"]) == 3 and d["lecture"]["areas"] == states[0]["lecture"]["areas"], (i, d["lecture"])
PY
}
ticks() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("select max(tick) + 1 from phase").fetchone()[0])' "$work/$1.tscap"; }
walk beam "$(ticks beam)"
walk tree "$(ticks tree)"
{
  echo "lecture"
  for step in 1 3 6; do
    for i in 1 2 3 4 5 6 7 8 9; do
      echo "cursor $step commit"
      echo "lecture-panels log"; echo "lecture-panel-$i";
      echo "write-state $work/size-$step-$i.json"
    done
  done
} >"$work/sizes.script"
for name in beam sample; do
  timeout 300 "$TRIESCOPE" --no-animation --size 1920x1080 "$work/$name.tscap" --script "$work/sizes.script" || fail "$name ended with $?"
  python3 - "$work"/size-?-?.json <<'PY' || fail "$name: letters are too small"
import json, sys
assert len(sys.argv) == 28
for path in sys.argv[1:]:
    d = json.load(open(path))
    assert d["smallest_text"] >= 24 and 1 <= len(d["lecture"]["panels"]) <= 2, (path, d["smallest_text"], d["lecture"])
PY
  rm "$work"/size-?-?.json
done

# F shows the step in letters of full size, also after the wheel, and however many drafts the step accepts; the mask names its tokens.
cp "$TRIESCOPE_SOURCE"/assets/lessons/{lookup,heads}.tscap "$work"
{
  echo "lecture"
  for step in 1 3 5; do
    echo "cursor $step commit"
    for n in 1 2; do printf 'zoom-out\nzoom-out\nfit\nwait drawn\nwrite-state %s\n' "$work/fit-$step-$n.json"; done
    printf 'lecture-panels trie mask\nwrite-state %s\nlecture-panels trie text\n' "$work/fit-$step-3.json"
  done
} >"$work/fit.script"
for name in tree lookup heads beam; do
  timeout 300 "$TRIESCOPE" --no-animation --size 1920x1080 "$work/$name.tscap" --script "$work/fit.script" || fail "$name ended with $?"
  for state in "$work"/fit-*.json; do check_json "$state" 'd["smallest_text"] >= 24'; done
  rm "$work"/fit-*.json
done

# Two compared runs have a column each and step together. Leaving lecture mode restores the comparison.
{
  printf 'compare-by-tokens\nlecture\ngo-start\n'
  for n in $(seq 0 24); do printf 'write-state %s\nlecture-next\n' "$work/pair-$n.json"; done
  printf 'go-start\nlecture\nwrite-state %s\n' "$work/pair-left.json"
} >"$work/pair.script"
timeout 300 "$TRIESCOPE" --no-animation --size 1920x1080 "$work/beam.tscap" "$work/lookup.tscap" --script "$work/pair.script" || fail "two runs ended with $?"
python3 - "$work" <<'PY' || fail "two runs in lecture mode"
import json, sys
states = [json.load(open(f"{sys.argv[1]}/pair-{i}.json")) for i in range(25)]
for i, d in enumerate(states):
    a = d["lecture"]["areas"]
    assert d["cursor"]["tick"] == i and d["lecture"]["compared_with"] and d["lecture"]["panels"] == ["trie"], (i, d["lecture"])
    assert set(a) == {"trie", "narration", "other trie", "other narration"} and a == states[0]["lecture"]["areas"], (i, a)
    assert a["trie"][0] + a["trie"][2] < a["other trie"][0] and a["trie"][1] == a["other trie"][1], a
    assert d["smallest_text"] >= 24, (i, d["smallest_text"])
others = [d["compare"]["cursor"]["tick"] for d in states]
assert others[0] == 0 and 0 < others[-1] < 24, others  # it emits more a step, and waits
left = json.load(open(f"{sys.argv[1]}/pair-left.json"))
assert left["lecture"] is None and left["compare"]["by"] == "tokens" and left["layout"] == "compare", left["layout"]
PY

# The command line starts lecture mode at the capture's start; without a capture it says what is missing.
timeout 60 "$TRIESCOPE" --size 1280x720 --lecture "$work/beam.tscap" --state "$work/cli.json" || fail "--lecture ended with $?"
check_json "$work/cli.json" 'd["lecture"] and d["cursor"]["tick"] == 0 and d["smallest_text"] >= 16'
printf 'write-state %s\n' "$work/none.json" >"$work/none.script"
timeout 60 "$TRIESCOPE" --size 1280x720 --lecture --script "$work/none.script" || fail "--lecture without a capture ended with $?"
check_json "$work/none.json" 'd["lecture"] is None and "expected a capture" in d["problems"][0]'

# The choices are remembered: lecture mode's own theme, and full screen or not.
timeout 120 "$TRIESCOPE" --size 1280x720 --lecture "$work/beam.tscap" &
pid=$!
preferences=$XDG_CONFIG_HOME/triescope/window.json
find_drawn_window
key ctrl+t ctrl+q
wait $pid || fail "the window ended with $?"
check_json "$preferences" 'd["theme"] == "dark" and d["lecture_theme"] in ("dark", "light") and d["lecture_full_screen"] is False and d["layout_name"] == "debug"'
finish
