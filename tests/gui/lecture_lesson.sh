# A lesson in lecture mode, with real keys and clicks. The audience reads title, text and question beside the panels, in letters for the
# last row and without the lecturer's buttons. Pieces behind a question are hidden until it is answered, and nothing moves from step to
# step.
source "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "[SKIPPED] xdotool is not installed"; exit 77; }
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }
{
  echo "lesson 06-why-a-beam-falls-out"
  echo "lesson-notes"
  echo "lecture"
  by_hand $(seq 0 8)
} >"$work/lesson.script"
timeout 300 "$TRIESCOPE" --no-animation --size 1920x1080 --script "$work/lesson.script" &
pid=$!
at 0 key alt+2                  # a show of hands
at 1 key ctrl+Next              # the lesson's next step
at 2 press 2 "choice 1"         # a click does it too; it is wrong, and counts
at 3 key space                  # the clicker's, although a choice was clicked last
at 4 key ctrl+Prior             # back: the answer is still there
at 5 key ctrl+Next ctrl+Next alt+s
at 6 key Tab
at 7 key F8
at 8 true
wait $pid || fail "the window ended with $?"
for n in $(seq 0 7); do
  check_json "$work/$n.json" 'd["lecture"] and d["smallest_text"] >= 24 and d["theme"] == "projector" and d["problems"] == []'
  check_json "$work/$n.json" '"show answer" not in d["targets"] and "leave" not in d["targets"] and "next" not in d["targets"]'
  check_json "$work/$n.json" 'all(d["lecture"]["areas"][k] == json.load(open(sys.argv[1].replace("'$n'.json", "0.json")))["lecture"]["areas"][k] for k in ("lesson", "narration"))'
  # Text and panels are side by side and do not overlap.
  check_json "$work/$n.json" 'all(a[0] + a[2] < d["lecture"]["areas"]["lesson"][0] for k, a in d["lecture"]["areas"].items() if k != "lesson")'
done
check_json "$work/0.json" 'd["lesson"]["question_open"] and "choice 1" in d["targets"] and "choice 2" in d["targets"] and d["lesson"]["shown_pieces"] < d["lesson"]["pieces"]'
check_json "$work/1.json" 'd["lesson"]["step"] == 0 and not d["lesson"]["question_open"] and d["lesson"]["shown_pieces"] == d["lesson"]["pieces"]'
# An answer does not move the pieces before it.
check_json "$work/1.json" 'all(d["targets"][k] == json.load(open(sys.argv[1].replace("1.json", "0.json")))["targets"][k] for k in ("choice 1", "choice 2"))'
check_json "$work/2.json" 'd["lesson"]["step"] == 1 and d["lesson"]["question_open"]'
check_json "$work/3.json" 'd["lesson"]["step"] == 1 and not d["lesson"]["question_open"] and d["lesson"]["answered"] == 2'
check_json "$work/4.json" 'd["lesson"]["step"] == 1 and d["cursor"]["tick"] == json.load(open(sys.argv[1].replace("4.json", "3.json")))["cursor"]["tick"] + 1'
check_json "$work/5.json" 'd["lesson"]["step"] == 0 and not d["lesson"]["question_open"] and "choice 1" in d["targets"]'
check_json "$work/6.json" 'd["lesson"]["step"] == 2 and not d["lesson"]["question_open"]'
check_json "$work/8.json" 'd["lecture"] is None and d["theme"] == "dark" and "leave" in d["targets"]'

# Every step of every lesson keeps its letters, at both sizes that a projector has.
{
  for lesson in "$TRIESCOPE_SOURCE"/assets/lessons/[0-9]*.md; do
    name=$(basename "$lesson" .md)
    echo "lesson $name"
    echo "lecture"
    for step in $(seq "$(grep -c '^## ' "$lesson")"); do
      printf 'lesson-step %s\nwait drawn\nwrite-state %s\n' "$step" "$work/$name-$step.json"
    done
    echo "lecture"
  done
} >"$work/all.script"
for size in 1920x1080 1280x720; do
  timeout 500 "$TRIESCOPE" --no-animation --size $size --script "$work/all.script" || fail "the window ended with $?"
  python3 - "$size" "$work"/[01][0-9]-*.json <<'PY' || fail "$size: letters are too small, or a column moved"
import json, sys
least, paths = int(sys.argv[1].split("x")[1]) / 45, sys.argv[2:]
assert len(paths) > 60, len(paths)
places = {tuple(json.load(open(path))["lecture"]["areas"]["lesson"]) for path in paths}
assert len(places) == 1, places
for path in paths:
    d = json.load(open(path))
    assert d["smallest_text"] >= least and not d["problems"], (path, d["smallest_text"], d["problems"])
PY
  rm "$work"/[01][0-9]-*.json
done
finish
